//! The mechanisms of floodway: one protocol's state machine per file, sans-IO.
//!
//! Each file reads like its paper: symbols and differences at its head, parameters with their
//! sources, the machine with one handler per event, and the paper's worked examples as tests.
//! [`slots`] has the traits that they implement, [`registry`] the one list that names them.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

// First, since the registry uses its macros.
#[macro_use]
pub mod slots;

pub mod bfc;
pub mod bifrost;
pub mod casl;
pub mod cbfc;
mod cnp_limiter;
pub mod crossbar;
pub mod dcqcn;
pub mod dcqcn_np;
pub mod dctcp;
pub mod deficit_round_robin;
pub mod ecmp;
pub mod expresspass;
pub mod expresspass_cp;
pub mod expresspass_np;
pub mod go_back_n;
pub mod hpcc;
pub mod ioq;
pub mod irn;
pub mod line_rate;
pub mod llr;
pub mod lossy;
mod marks;
pub mod mercury;
pub mod mercury_window;
pub mod no_link_retry;
pub mod no_notification;
pub mod no_reliability;
pub mod nscc;
pub mod output_queue;
pub mod pacc;
pub mod pfc;
pub mod powertcp;
pub mod proxy_cnp;
pub mod rccc;
pub mod rcm;
pub mod red;
pub mod registry;
pub mod round_robin;
pub mod sar;
pub mod shared_buffer;
pub mod spray;
pub mod static_buffer;
pub mod static_window;
pub mod strict;
pub mod swift;
pub mod swing;
pub mod tcd;
pub mod tcd_np;
pub mod testing;
pub mod themis_pnp;
pub mod themis_trp;
pub mod timely;
pub mod uet;

//! The data that a run keeps, and the tables made from them.
//!
//! A run keeps the tables `flows`, `latency`, `series`, `counters` (columns in `docs/results.md`) and the
//! outcome: the reason for its end, invariants, the lossless verdict, deadlocks, totals. A scenario may
//! request further ones, each with a maximum number of rows: `pauses`, a row for each pause and resume on
//! arrival; `signals`, for each mark, CNP, CN and state change of a congestion point; `allowances`, for each
//! change of a sender's rate or window; `shares`, each flow's bytes on chosen links in buckets of time.
//! `queue_histogram` has the bytes that waited at switches at regular instants.
//!
//! No event depends on what is kept here, and nothing here reads a running network: who calls passes plain
//! values. Tables that are made from the state of the network at the end of a run are in the fabric
//! (`tables/`).

#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

pub mod allowances;
pub mod capture;
pub mod counters;
pub mod delays;
pub mod histogram;
pub mod kept;
mod log;
pub mod operations;
pub mod outcome;
pub mod pauses;
pub mod pcap;
pub mod port_columns;
pub mod series;
pub mod shares;
pub mod signals;
pub mod standstill;
pub mod strays;
pub mod table;
pub mod tally;
pub mod transmission;
pub mod work;

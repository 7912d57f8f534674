//! Programs of training jobs: for each rank (GPU) a directed acyclic graph of sends, receives, computations
//! and collectives (GOAL schedules and execution traces of Chakra are of this form).
//!
//! ```text
//!   Program ── ranks ──► Graph ── operations: Send, Recv, Compute, Collective ──► Plan: steps by formula
//!   Walker: one per rank, sans-IO ── in: start, sent, received, time ── out: messages to send, what ended
//! ```
//!
//! A collective is not unrolled: its [`Plan`](collective::Plan) computes the transfers of a step when a rank
//! begins it. The walker knows neither events nor links; its caller states what happened at its rank, at
//! what time. So a rank knows of another one only what a message brings.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

mod build;
mod check;
pub mod collective;
pub mod critical_path;
pub mod message;
pub mod program;
pub mod read;
mod rounds;
pub mod training;
pub mod walker;
pub mod write;

pub use build::Seated;
pub use check::ProgramError;
pub use message::Message;
pub use program::{Arrival, Graph, Kind, Operation, Order, Program, Rank, SendCompletes, Traffic};
pub use rounds::{Course, Rounds};
pub use walker::{Output, Posting, Walker};

//! Tests of this crate's public interface, in one program: one is built in a fraction of the time of fifty,
//! and its tests run side by side.
#![allow(missing_docs, reason = "tests")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

mod bifrost;
mod cascade;
mod cbfc;
mod check;
mod columns;
mod combinations;
mod conweave;
mod deadlocks;
mod errors;
mod fuzz;
mod gpu_nodes;
mod held;
mod hpcc_files;
mod import;
mod import_job;
mod ioq;
mod irn;
mod limits;
mod long_haul;
mod mercury;
mod multi_homed;
mod pacc;
mod pairs;
mod patterns;
mod recurrence;
mod reference;
mod refused;
mod sites;
mod slow_receivers;
mod suite;
mod swing;
mod tcd;
mod theory;
mod threads;
mod topology_files;
mod uet;
mod waiting;
mod warnings;
mod worked_example;

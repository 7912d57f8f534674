//! Records of a run, and the tables made from them.
//!
//! A run keeps the tables `flows`, `latency`, `series`, `counters` (columns in `docs/results.md`) and the
//! outcome: the reason for its end, invariants, the lossless verdict, deadlocks, totals. A scenario may
//! request further ones, each with a maximum number of rows: `pauses`, a row for each pause and resume on
//! arrival; `signals`, for each mark, CNP, CN and state change of a congestion point; `allowances`, for each
//! change of a sender's rate or window; `shares`, each flow's bytes on chosen links in buckets of time.
//! `queue_histogram` has the bytes that waited at switches at regular instants.

pub(crate) mod allowances;
pub(crate) mod capture;
pub(crate) mod counter_table;
pub(crate) mod counters;
pub(crate) mod delays;
pub(crate) mod finish;
pub(crate) mod flows;
pub(crate) mod histogram;
pub(crate) mod in_network;
pub(crate) mod kept;
pub(crate) mod log;
pub(crate) mod lossless;
pub(crate) mod operations;
pub mod outcome;
pub(crate) mod pauses;
pub(crate) mod pcap;
pub(crate) mod port_columns;
pub(crate) mod series;
pub(crate) mod series_table;
pub(crate) mod shares;
pub(crate) mod signals;
pub(crate) mod strays;
pub mod table;
pub(crate) mod tally;
pub(crate) mod transmission;
pub(crate) mod work;

//! Whole runs against closed forms. `docs/theory.md` lists the laws, with those that other tests hold.
//!
//! Every tolerance is derived where it stands: from the size of a packet, the length of a run, what is
//! rounded, or the confidence interval of a mean.

mod dctcp;
mod hpcc;
mod queueing;
mod sharing;
mod support;
mod timely;

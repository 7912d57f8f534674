//! The end of a run: what of its tables and verdicts is made from the state of the network.
//!
//! The data that a run keeps, and the tables of these alone, are in `floodway-records`. What is here reads
//! nodes, packets and programs: counters of ports, series and histograms of queues, packets that are still in
//! the network, losses of lossless classes, ranks that wait.

pub(crate) mod counter_table;
pub(crate) mod finish;
pub(crate) mod in_network;
pub(crate) mod jobs;
pub(crate) mod lossless;
pub(crate) mod queue_histograms;
pub(crate) mod series_table;

//! Records of a run, and the tables made from them.

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

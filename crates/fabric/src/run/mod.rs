//! A running network: its events, their order, and the inspection between epochs.

pub(crate) mod arrivals;
pub(crate) mod at_node;
pub(crate) mod by_node;
pub(crate) mod ctx;
pub(crate) mod departures;
pub(crate) mod device;
pub(crate) mod epoch;
pub(crate) mod events;
pub(crate) mod fabric;
pub(crate) mod faults;
pub(crate) mod groups;
pub(crate) mod network;
pub(crate) mod node;
pub(crate) mod own;
pub(crate) mod pauses;
pub(crate) mod prefetch;
pub(crate) mod ranks;
pub(crate) mod recurrence;
pub(crate) mod runs;
pub(crate) mod starts;
pub(crate) mod state;
pub(crate) mod threads;
pub(crate) mod windows;
pub(crate) mod worker;
pub(crate) mod worker_pool;
pub(crate) mod world;

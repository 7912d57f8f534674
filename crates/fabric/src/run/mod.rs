//! A running network: its events, in which order they happen, and what is looked at between epochs.

pub(crate) mod agenda;
pub(crate) mod ahead;
pub(crate) mod at_node;
pub(crate) mod border;
pub(crate) mod by_node;
pub(crate) mod cut;
pub(crate) mod fabric;
pub(crate) mod faults;
pub(crate) mod merge;
pub(crate) mod node;
pub mod partition;
pub(crate) mod state;
pub(crate) mod whole;
pub(crate) mod windows;
pub(crate) mod world;

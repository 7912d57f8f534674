//! Links and their ends: packets, what a port sends next, what the link then does with it.

pub(crate) mod arena;
pub(crate) mod flow_control;
pub(crate) mod packet;
pub(crate) mod port;
pub(crate) mod serial;
pub(crate) mod transmitter;
pub(crate) mod wire;
pub(crate) mod wires;

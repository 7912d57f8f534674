//! Links and their ends: packets, transmitters, wires, flow control.

pub(crate) mod arena;
pub(crate) mod flow_control;
pub(crate) mod links;
pub(crate) mod packet;
pub(crate) mod port;
pub(crate) mod serial;
pub(crate) mod transmitter;
pub(crate) mod wire;
pub(crate) mod wires;

//! Links and their ends: packets, ports and what they send, wires.

pub(crate) mod arena;
pub(crate) mod extra;
pub(crate) mod links;
pub(crate) mod packet;
pub(crate) mod port;
pub(crate) mod retry;
pub(crate) mod wires;

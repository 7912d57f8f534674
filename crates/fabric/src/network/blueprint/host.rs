//! Hosts: how they take in what their NICs receive.

use floodway_mechanisms::registry::BufferParams;
use floodway_units::{Bytes, Rate};

/// The receive buffer of a NIC, and how fast its host drains it (PCIe, memory).
#[derive(Clone, Debug)]
pub struct ReceiveSpec {
    /// Rate at which frames are written to the host's memory, one after another.
    pub drain: Rate,
    /// Each class has one. Where its size is automatic, it is [`ReceiveSpec::SIZE`], or what the flow control
    /// needs if that is more.
    pub buffer: BufferParams,
}

impl ReceiveSpec {
    /// The receive buffer of a ConnectX adapter's port (Mellanox, "HowTo Tune Receive Buffers on Mellanox
    /// Adapter Cards", DOC-2933).
    pub const SIZE: Bytes = Bytes(262_016);
}

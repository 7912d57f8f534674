//! Hosts: how they take in what their NICs receive, and which of these sends.

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

/// Which of a host's NICs sends what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NicPolicy {
    /// A hash of the queue pair selects it.
    #[default]
    PerQp,
    /// The first, in the order of links, that is up.
    ActiveBackup,
    /// For each packet the one that can start it first.
    Spray,
}

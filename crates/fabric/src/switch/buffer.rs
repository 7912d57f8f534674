//! Ingress accounts of a buffer: a switch's, or the receive buffer of a NIC.

mod charge;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_mechanisms::registry::{AnyAdmission, AnyFcReceiver};

use crate::network::layout::Local;
use crate::records::counters::{RareCounters, Traffic};
use crate::run::events::Armed;

/// The ingress side of a (port, class): its account of the switch's buffer, what every packet needs first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Ingress {
    /// What has come in.
    pub received: Traffic,
    /// Bytes held below headroom: the reserve first, the rest shared.
    pub held: u64,
    /// Bytes held in headroom.
    pub headroom: u64,
    pub reserve: u64,
    /// Until then the series and `peak` have recorded `recorded` bytes held: fewer need no call.
    pub recorded_until: u64,
    pub recorded: u32,
    /// While `shared` stays below this and the pool is half empty, no callback runs.
    pub fast_path_below: u32,
    /// Its number among the port classes of the network.
    pub id: u32,
    pub at_host: bool,
    /// Of a NIC whose host drains slower than its link: what comes in waits in the receive buffer.
    pub drains: bool,
    /// Losses on the link that leads here.
    pub impaired: bool,
    /// Takes of the switch's pool; else it has a buffer of its own.
    pub pooled: bool,
    /// The receiver half waits for releases.
    pub awaits: bool,
    /// Has a flow control: must not lose.
    pub lossless: bool,
    /// Has a buffer for each output rather than one.
    pub by_output: bool,
    pub sizes: Sizes,
    pub peaks: Peaks,
    /// Bytes on the wire of the packets held, where the buffer counts cells; else 0.
    pub wire: u64,
    pub admission: AnyAdmission,
    pub timer: Armed,
    pub receiver: AnyFcReceiver,
    pub rare: RareCounters,
}

/// Sizes of an account's buffer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Sizes {
    pub headroom: u64,
    /// A buffer of its own; `NEVER` with the switch's pool.
    pub own: u64,
}

/// Most bytes that an account has held.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
#[repr(C)]
pub(crate) struct Peaks {
    pub held: u64,
    pub headroom: u64,
}

impl Ingress {
    #[inline]
    pub fn shared(&self) -> u64 {
        self.held.saturating_sub(self.reserve)
    }
}

/// A packet that is uncharged when its last bit has gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncharge {
    pub at: u64,
    /// The egress port.
    pub port: Local,
    /// The ingress port and its account.
    pub ingress: Local,
    pub port_class: u32,
    pub frame: u16,
}

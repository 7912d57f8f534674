//! The state of a port: one end of a link, and its queues.

use floodway_blueprint::network::blueprint::ErrorRates;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::serial::Serial;
use floodway_mechanisms::registry::AnyFcSender;
use floodway_records::counters::{EgressCounters, RareEgressCounters};
use floodway_units::{PortId, Rng};

use crate::link::arena::{Arena, Fifo, PacketRef};
use crate::link::retry::Retry;
use crate::link::wires::Wire;
use crate::run::events::{Armed, NEVER};

/// One end of a link: its egress and what it needs of the link. The first cache line holds what every
/// packet needs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// When the transmitter is free.
    pub free_at: u64,
    /// Bytes waiting in all queues.
    pub waiting: u64,
    pub link: Link,
    /// What the network calls it.
    pub id: PortId,
    /// Its congestion points are not called for a packet that joins with no more bytes than this in its
    /// queue, itself included.
    pub joins_up_to: u32,
    /// Nor for one that leaves with no more.
    pub leaves_up_to: u32,
    pub up: bool,
    /// Link control frames wait.
    pub controls: bool,
    /// A departure event is pending at `free_at`.
    pub armed: bool,
    /// The next packet is being chosen: a callback that wants the port to try again leaves that to it.
    pub choosing: bool,
    /// Its transmissions need more than the time: it has a capture, jitter, or a link that changes.
    pub observed: bool,
    pub gates: Gates,
    /// A discipline decides how packets queue; else there is a FIFO per class, and nothing is asked.
    pub has_discipline: bool,
    /// Has congestion points.
    pub has_cp: bool,
    /// What it sends is captured, or counted by flow.
    pub noted: bool,
    /// Is the node a host?
    pub at_host: bool,
    /// Link control frames that wait to be sent, where they go before all else.
    pub control: Fifo,
    /// Where ties go by scheduling order: the number of the event at `free_at`.
    pub free_order: u64,
    pub serial: Serial,
    /// Where packets have records of telemetry: bytes sent so far.
    pub sent: u64,
    pub impairment: Impairment,
}

/// What flow controls let each class do, as bits by the index of the class.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Gates {
    /// Its frames may start until the next call of the sender half.
    pub free: u16,
    /// A watchdog drops its queues.
    pub discards: u16,
    /// It was paused at some time.
    pub paused: u16,
}

/// What every packet that starts needs to know of the link.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Link {
    pub delay: u64,
    /// Keys ties among arrivals at the far end.
    pub tie_key: u64,
    /// The group of the node at the far end, and its port there.
    pub far_group: u32,
    pub far_end: Local,
    /// Picoseconds per byte, if serialisation is that simple; else 0.
    pub ps_per_byte: u16,
}

/// Jitter, losses and failures of a link.
#[derive(Debug)]
pub(crate) struct Impairment {
    /// The largest jitter of a packet sent from here, and the stream that draws it.
    pub jitter: u64,
    pub rng: Rng,
    /// With jitter, or a delay that changes: when the last packet sent from here arrives.
    pub latest: u64,
    /// The link fails at some time, or its delay changes.
    pub changes: bool,
    /// If so, what is on the wire.
    pub wire: Option<Box<Wire>>,
    /// Loss rates of packets that arrive here, and the stream that decides.
    pub errors: ErrorRates,
    pub losses: Rng,
    /// Where the link has one.
    pub retry: Option<Box<Retry>>,
}

impl Impairment {
    /// May a packet that arrives here not come in?
    pub fn is_in_the_way(&self) -> bool {
        self.errors.any() || self.retry.is_some()
    }
}

impl Port {
    /// Do link control frames wait that go before all else, or must the link retry be called before a frame
    /// starts?
    pub fn has_controls(&self) -> bool {
        !self.control.is_empty() || self.impairment.retry.is_some()
    }

    /// The link control frame that is sent before all else.
    #[inline]
    pub fn take_control(&mut self, packets: &Arena) -> Option<PacketRef> {
        if !self.controls {
            return None;
        }
        let packet_ref = self.control.pop(packets)?;
        self.controls = self.has_controls();
        Some(packet_ref)
    }

    /// Picoseconds that `wire` bytes take.
    #[inline]
    pub fn serial_time(&self, wire: u64) -> u64 {
        if self.link.ps_per_byte != 0 {
            wire * u64::from(self.link.ps_per_byte)
        } else {
            self.serial.time(wire)
        }
    }
}

/// A queue of an egress port.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub fifo: Fifo,
    pub bytes: u64,
    /// What waits here may be lost: no pause applies to it, and it is charged to no account. Its discipline
    /// bounds it.
    pub may_lose: bool,
}

/// The egress side of a (port, class), what every packet needs first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Egress {
    /// When the pause in force began, else never.
    pub paused_since: u64,
    /// Its number among the port classes of the network.
    pub id: u32,
    /// Paused time of pauses that have ended.
    pub paused_total: u64,
    pub counters: EgressCounters,
    /// The sender half is called for each frame.
    pub counts_sent: bool,
    pub sender: AnyFcSender,
    pub timer: Armed,
    pub rare: RareEgressCounters,
}

impl Egress {
    /// All paused time until `now`.
    #[inline]
    pub fn paused(&self, now: u64) -> u64 {
        if self.paused_since == NEVER {
            self.paused_total
        } else {
            self.paused_total + (now - self.paused_since)
        }
    }
}

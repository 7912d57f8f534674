//! Ingress accounts of a buffer: a switch's, or the receive buffer of a NIC.
//!
//! The bytes that all egress queues hold beyond a part of their own (`buffer.shared.egress-pool`) are summed
//! only where an admission requests them. The control class is charged to no account; with
//! `semantics.acks = "data-class"` replies are of a class of data, and are charged and paused in switches.

mod charge;

use std::collections::VecDeque;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::column::Part;
use floodway_blueprint::network::layout::{Layout, Local, LocalPortClass, PackedPortClass};
use floodway_mechanisms::registry::{AnyAdmission, AnyFcReceiver};
use floodway_mechanisms::slots::{DropReason, FcFrame, FcReceiver as _, IngressView};
use floodway_records::counters::{RareCounters, Traffic};
use floodway_units::{Bytes, Time};

use crate::link::packet::Packet;
use crate::run::events::{Armed, NEVER};
use crate::switch::crossbar::Inputs;

/// The buffer of a node: a switch's, or the receive buffers of a host's NICs, where they have some.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Buffer {
    /// Port classes of each port in a row.
    pub accounts: Part<Ingress, LocalPortClass>,
    /// The packets on its ports' wires that are still charged, by time, then by port: at most one a port.
    pub releases: VecDeque<Uncharge>,
    /// When the first of them is due, else never.
    pub next_release: u64,
    pub pool_size: u64,
    pub pool_used: u64,
    /// Bytes in the headroom of ports that take of the pool, and how many there may be.
    pub headroom_used: u64,
    pub headroom_size: u64,
    /// Its buffer's cell; at most 1 where it counts bytes.
    pub cell: u64,
    /// Up to here the pool counts as half empty.
    pub pool_fast_path_up_to: u64,
    /// Bytes up to which each queue of data has room meanwhile, where an account has no threshold.
    pub lossy_room: Option<u64>,
    pub occupied: u64,
    pub peak: u64,
}

impl Buffer {
    /// Counts a link control frame of flow control that is sent from `port`.
    pub fn count_link_control(&mut self, layout: &Layout, port: Local, packet: &Packet) {
        for frame in packet.frames() {
            if let FcFrame::Pause { class, .. }
            | FcFrame::Credit { class, .. }
            | FcFrame::CreditSet { class, .. } = frame
            {
                let class = layout.dense(class);
                if class != u8::MAX {
                    self.accounts.of_mut(layout.port_class(port, class)).rare.pfc_tx += 1;
                }
            }
        }
    }

    /// At a host, whose buffer nothing bounds; no account is in it yet.
    pub fn unbounded() -> Self {
        Buffer {
            accounts: Part::default(),
            releases: VecDeque::new(),
            next_release: NEVER,
            pool_size: NEVER,
            pool_used: 0,
            headroom_used: 0,
            headroom_size: NEVER,
            cell: 1,
            pool_fast_path_up_to: NEVER,
            lossy_room: None,
            occupied: 0,
            peak: 0,
        }
    }

    /// Does its buffer count whole cells?
    #[inline]
    pub fn has_cells(&self) -> bool {
        self.cell > 1
    }

    /// What a frame of so many bytes occupies of its buffer.
    #[inline]
    pub fn occupied_by(&self, frame: u16) -> u64 {
        let frame = u64::from(frame);
        if self.has_cells() { frame.next_multiple_of(self.cell) } else { frame }
    }

    /// It holds `frame` bytes more, `of_pool` of them in its pool.
    #[inline]
    pub fn holds(&mut self, frame: u64, of_pool: u64) {
        self.pool_used += of_pool;
        self.occupied += frame;
        self.peak = self.peak.max(self.occupied);
    }

    /// What a receiver half may know of its account.
    pub fn account_view(
        &self,
        layout: &Layout,
        inputs: Option<&Inputs>,
        port_class: LocalPortClass,
    ) -> IngressView {
        let account = self.accounts.of(port_class);
        let shared = match inputs {
            Some(inputs) if account.by_output => inputs.longest_of(layout, port_class),
            _ => account.shared(),
        };
        let free = if account.pooled {
            // Nothing bounds that of a host.
            self.pool_size.saturating_sub(self.pool_used)
        } else {
            account.sizes.own.saturating_sub(account.sizes.headroom).saturating_sub(shared)
        };
        let queued = account.held + account.headroom;
        IngressView {
            queued: Bytes(queued),
            wire: Bytes(if self.has_cells() { account.wire } else { queued }),
            reserved: Bytes(account.held - account.shared()),
            shared: Bytes(shared),
            headroom: Bytes(account.headroom),
            received: Bytes(account.received.bytes + layout.gap * account.received.packets),
            received_frames: Bytes(account.received.bytes),
            pool_free: Bytes(free),
            total: Bytes(self.occupied),
        }
    }

    /// Would a packet that has just come in be charged to headroom, or be one too many for a paused account?
    pub fn is_pressed(
        &self,
        (layout, inputs): (&Layout, Option<&Inputs>),
        now: Time,
        packet: &Packet,
    ) -> bool {
        let port_class = layout.port_class(packet.ingress, packet.class);
        let account = self.accounts.of(port_class);
        if !account.lossless {
            return false;
        }
        let view = self.account_view(layout, inputs, port_class);
        let threshold = account.receiver.threshold(view.pool_free);
        let frame = Bytes(u64::from(packet.frame));
        account.headroom > 0
            || account.receiver.is_pausing(now)
            || view.shared.saturating_add(frame) > threshold
            || frame > view.pool_free
    }
}

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

/// What becomes of packets where one has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is dropped.
    Drop(DropReason),
    /// It loses its payload.
    Cut,
    /// It was charged, and the last packet of its queue loses its payload.
    CutLast,
}

/// A packet of data that an account is asked to take: by which port it has come, where it leaves, its class
/// and its frame.
#[derive(Clone, Copy)]
pub(crate) struct Charged {
    pub port_class: LocalPortClass,
    pub ingress: Local,
    pub out: Local,
    pub class: u8,
    pub frame: u16,
}

/// A packet that is uncharged when its last bit has gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uncharge {
    pub at: u64,
    /// The egress port.
    pub port: Local,
    /// The ingress port and its account.
    pub ingress: Local,
    pub port_class: PackedPortClass,
    pub frame: u16,
}

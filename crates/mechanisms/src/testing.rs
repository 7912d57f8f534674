//! What the unit tests of all machines need.

use floodway_units::{Bytes, Class, FlowId, PortId, QueueId, Rate, Rng, Span, Time, stream};

use crate::slots::{
    Cx, Gate, IngressView, LinkInfo, Mark, Outbox, PacketView, PauseMode, PortInfo, QpInfo, QueueView,
    ReadyView,
};

/// The surroundings of a machine: a random stream and an outbox.
pub(crate) struct Bench<A> {
    pub(crate) rng: Rng,
    out: Outbox<A>,
}

impl<A> Bench<A> {
    pub(crate) fn new() -> Self {
        Bench { rng: stream(1, 1, "test"), out: Outbox::default() }
    }

    /// What `call` sends at `now`.
    pub(crate) fn sent(&mut self, now: Time, call: impl FnOnce(&mut Cx<'_, A>)) -> Vec<A> {
        call(&mut Cx { now, rng: &mut self.rng, out: &mut self.out });
        std::mem::take(&mut self.out.0)
    }
}

pub(crate) fn us(n: u64) -> Time {
    Time::ZERO + Span::us(n)
}

/// 100 Gbit/s, 1 us each way, 1500-byte frames, no buffer of its own, pauses that run out.
pub(crate) fn link() -> LinkInfo {
    LinkInfo {
        rate: Rate::gbps(100),
        reverse_rate: Rate::gbps(100),
        delay: Span::us(1),
        reverse_delay: Span::us(1),
        reverse_jitter: Span::ZERO,
        nic_rate: Rate::gbps(100),
        mtu: Bytes(1500),
        overhead: Bytes(20),
        has_errors: false,
        to_host: false,
        class: Class::DATA,
        buffer: Bytes::MAX,
        pause: PauseMode::Timer,
    }
}

/// 100 Gbit/s, 10 us of round trip, 1000-byte payloads, losses possible.
pub(crate) fn qp() -> QpInfo {
    QpInfo {
        flow: FlowId(0),
        line_rate: Rate::gbps(100),
        path_rate: Rate::gbps(100),
        base_rtt: Span::us(10),
        products: crate::slots::Products::Up,
        largest_rtt: Span::us(20),
        largest_bdp: Bytes(250_000),
        full_rtt: Span::us(30),
        largest_full_rtt: Span::us(60),
        mtu: Bytes(1000),
        wire: Bytes(1052),
        steps_below: false,
        lossless: false,
    }
}

pub(crate) fn packet(frame: u64) -> PacketView {
    PacketView {
        flow: FlowId(0),
        class: Class::DATA,
        frame: Bytes(frame),
        wire: Bytes(frame),
        ecn_capable: false,
        is_reply: false,
        isolated: false,
        mark: Mark::None,
        flow_hash: 0,
        source: 1,
        destination: 2,
        ingress: PortId(0),
    }
}

/// A port of so many Gbit/s with a link of 1 us and 1500-byte frames.
pub(crate) fn port(gbps: u64) -> PortInfo {
    PortInfo {
        port: PortId(1),
        rate: Rate::gbps(gbps),
        delay: Span::us(1),
        mtu: Bytes(1500),
        wire: Bytes(1520),
        largest_rtt: Span::us(20),
    }
}

/// An ingress that holds so much inside the reserve, in the shared part, and in headroom.
pub(crate) fn ingress(reserved: u64, shared: u64, headroom: u64) -> IngressView {
    IngressView {
        queued: Bytes(reserved + shared + headroom),
        reserved: Bytes(reserved),
        shared: Bytes(shared),
        headroom: Bytes(headroom),
        ..IngressView::default()
    }
}

/// An egress queue of `len` bytes.
pub(crate) fn egress(len: u64) -> QueueView {
    QueueView {
        port: PortId(1),
        class: Class::DATA,
        sub: 0,
        len: Bytes(len),
        first: Bytes(len),
        voq: Bytes(len),
        rate: Rate::gbps(100),
        paused: false,
        base_rtt: Span::us(10),
    }
}

/// A queue whose first frame has `head` wire bytes.
pub(crate) fn ready(class: u8, sub: u8, head: u64, gate: Gate) -> ReadyView {
    ReadyView { queue: QueueId { class: Class(class), sub }, len: Bytes(head), head: Bytes(head), gate }
}

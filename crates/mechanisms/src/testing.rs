//! Support for unit tests of mechanisms, also those of other crates: example views, and the context of a
//! machine.

use floodway_units::{Bytes, Class, QueueId, Rate, Rng, Span, Time, Turns, stream};

use crate::slots::{
    CongestionPoint, CpAction, Cx, Gate, IngressView, LinkInfo, Outbox, PacketView, PortEvent, PortInfo,
    QpInfo, QueueView, ReadyView, TransportSender,
};

/// The context of a machine: a random stream and an outbox.
pub struct Bench<A> {
    /// The machine's random stream.
    pub rng: Rng,
    out: Outbox<A>,
}

impl<A> Default for Bench<A> {
    fn default() -> Self {
        Bench::new()
    }
}

impl<A> Bench<A> {
    /// A bench with nothing sent yet.
    pub fn new() -> Self {
        Bench { rng: stream(1, 1, "test"), out: Outbox::default() }
    }

    /// The messages that `call` sends at `now`.
    pub fn sent(&mut self, now: Time, call: impl FnOnce(&mut Cx<'_, A>)) -> Vec<A> {
        call(&mut Cx { now, rng: &mut self.rng, out: &mut self.out });
        std::mem::take(&mut self.out.0)
    }
}

impl Bench<CpAction> {
    /// The messages that `cp` sends when this event happens at its port.
    pub fn event(&mut self, now: Time, cp: &mut impl CongestionPoint, event: PortEvent<'_>) -> Vec<CpAction> {
        self.sent(now, |cx| cp.on_event(cx, event))
    }
}

/// What `next` returns until it returns nothing, which fails after `most` values.
pub fn until_none<T>(most: u32, mut next: impl FnMut() -> Option<T>) -> Vec<T> {
    let mut turns = Turns::at_most(most + 1);
    std::iter::from_fn(|| if turns.go() { next() } else { None }).collect()
}

/// All packets that a sender may send at `now`: their numbers, and whether each is a retransmission.
pub fn segments(sender: &mut impl TransportSender, now: Time) -> Vec<(u64, bool)> {
    until_none(10_000, || sender.next_segment(now).map(|segment| (segment.psn, segment.retransmission)))
}

/// `n` microseconds after the start.
pub fn us(n: u64) -> Time {
    Time::ZERO + Span::us(n)
}

/// [`LinkInfo::example`].
pub fn link() -> LinkInfo {
    LinkInfo::example()
}

/// [`QpInfo::example`].
pub fn qp() -> QpInfo {
    QpInfo::example()
}

/// [`PacketView::example`] with a frame of this size.
pub fn packet(frame: u64) -> PacketView {
    PacketView { frame: Bytes(frame), wire: Bytes(frame), ..PacketView::example() }
}

/// [`PortInfo::example`] with this rate in Gbit/s.
pub fn port(gbps: u64) -> PortInfo {
    PortInfo { rate: Rate::gbps(gbps), rate_in: Rate::gbps(gbps), ..PortInfo::example() }
}

/// An ingress with these bytes inside the reserve, in the shared part, and in headroom.
pub fn ingress(reserved: u64, shared: u64, headroom: u64) -> IngressView {
    IngressView {
        queued: Bytes(reserved + shared + headroom),
        wire: Bytes(reserved + shared + headroom),
        reserved: Bytes(reserved),
        shared: Bytes(shared),
        headroom: Bytes(headroom),
        ..IngressView::default()
    }
}

/// [`QueueView::example`] with `len` bytes.
pub fn egress(len: u64) -> QueueView {
    QueueView { len: Bytes(len), first: Bytes(len), voq: Bytes(len), ..QueueView::example() }
}

/// A queue whose first frame has `head` wire bytes.
pub fn ready(class: u8, sub: u8, head: u64, gate: Gate) -> ReadyView {
    ReadyView { queue: QueueId { class: Class(class), sub }, len: Bytes(head), head: Bytes(head), gate }
}

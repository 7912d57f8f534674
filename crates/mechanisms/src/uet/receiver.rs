//! The receiver's end: what has arrived, and when that is reported.

use floodway_units::Bytes;

use crate::marks::Marks;
use crate::slots::{Cx, Header, QpInfo, Query, Reply, Report, Segment, TransportReceiver};

/// Packets of a report's bitmap.
const BITS: u64 = 64;

/// The receiver's end. It is boxed, so that flows with another reliability stay small.
#[derive(Clone, Debug)]
pub struct Receiver(Box<State>);

#[derive(Clone, Debug)]
struct State {
    /// Bytes of a packet beside its payload.
    overhead: u64,
    ack_every: u64,
    /// The packets that have arrived.
    arrived: Marks,
    /// Bytes that have arrived, each once, headers included.
    received: u64,
    /// The same since the last report.
    accepted: u64,
    /// A packet has asked for a report, and since then something was missing.
    asked: bool,
}

impl Receiver {
    pub(super) fn new(qp: &QpInfo, ack_every: Bytes) -> Self {
        Receiver(Box::new(State {
            overhead: qp.wire.0.saturating_sub(qp.mtu.0),
            ack_every: ack_every.0,
            arrived: Marks::default(),
            received: 0,
            accepted: 0,
            asked: false,
        }))
    }
}

impl State {
    /// The report that a packet causes.
    fn report(&self, repeated: bool, h: &Header, is_marked: bool, exact: bool) -> Report {
        let behind = h.number.saturating_sub(BITS - 1).max(self.arrived.base() + 1);
        let base = if exact { h.number } else { behind };
        Report {
            number: h.number,
            entropy: h.entropy,
            repeated,
            marked: is_marked,
            trimmed: false,
            next: self.arrived.base(),
            base,
            bits: self.arrived.bits_above(base),
            received: self.received,
            out_of_order: self.arrived.above(),
            last_hop: false,
            query: h.query,
        }
    }

    /// A new packet has arrived: is everything before the last one there again that a packet asked about?
    fn add(&mut self, number: u64) -> bool {
        let is_next = number == self.arrived.base();
        self.arrived.add(number);
        is_next && self.arrived.above() == 0 && std::mem::take(&mut self.asked)
    }
}

impl TransportReceiver for Receiver {
    fn on_segment(&mut self, _cx: &mut Cx<'_, Reply>, _s: &Segment) -> Bytes {
        Bytes::ZERO
    }

    fn on_packet(&mut self, cx: &mut Cx<'_, Report>, s: &Segment, h: &Header, is_marked: bool) -> Bytes {
        let state = &mut *self.0;
        if state.arrived.has(h.number) {
            // The sender does not know of it: the report is due at once.
            cx.push(state.report(s.retransmission, h, is_marked, is_marked));
            state.accepted = 0;
            return Bytes::ZERO;
        }
        let is_first = state.received == 0;
        let size = s.payload.0 + state.overhead;
        state.received += size;
        state.accepted += size;
        state.asked |= h.asks;
        let is_whole = state.add(h.number);
        let due = state.accepted >= state.ack_every || is_whole || is_first;
        if is_marked || h.asks || due {
            cx.push(state.report(s.retransmission, h, is_marked, is_marked || h.asks));
            state.accepted = 0;
        }
        s.payload
    }

    fn on_trimmed(
        &mut self,
        cx: &mut Cx<'_, Report>,
        s: &Segment,
        h: &Header,
        is_marked: bool,
        last_hop: bool,
    ) {
        let state = &mut *self.0;
        let report = state.report(s.retransmission, h, is_marked, is_marked);
        if state.arrived.has(h.number) {
            cx.push(report);
            state.accepted = 0;
        } else {
            cx.push(Report { trimmed: true, last_hop, ..report });
        }
    }

    fn on_query(&mut self, cx: &mut Cx<'_, Report>, h: &Header, is_marked: bool) {
        let state = &mut *self.0;
        if h.query == Some(Query::Probe) {
            cx.push(state.report(false, h, is_marked, false));
            return;
        }
        let is_known = state.arrived.has(h.number);
        if is_known {
            state.accepted = 0;
        } else {
            // It counts as a packet of no bytes, and is reported in any case.
            state.add(h.number);
        }
        cx.push(state.report(false, h, is_marked, !is_known));
    }
}

//! What the sender of a flow does, or waits for, at each instant.

use std::collections::VecDeque;

use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::{FlowId, PortId, Time};

use super::{Cause, Interval, Label, Message, Sums, Trace};
use crate::link::packet::{Packet, RETRANSMISSION};
use crate::network::layout::Local;
use crate::run::agenda::NEVER;
use crate::run::at_node::AtNode;
use crate::run::world::World;

/// So many intervals are kept before those that can change no more are summed up.
const MANY: usize = 4096;

/// The sender of the flow that is followed.
#[derive(Debug)]
pub(super) struct Sender {
    slot: u32,
    /// The port by which its queue pair sends, and its class there.
    pub nic: PortId,
    lane: usize,
    /// Each instant up to `known` is in `sums` or in `log`.
    pub known: u64,
    /// What no packet that may still complete the flow left before.
    sums: Sums,
    log: VecDeque<Interval>,
    /// When a packet of its queue pair started last.
    started: u64,
    /// One has started in the event at work; whether it is sent again.
    starts: Option<bool>,
    wire: Wire,
    /// From when on no message before it has packets that were never sent; never, where that is not known yet.
    turn: u64,
    /// All its packets have been sent at least once.
    sent: bool,
    standing: Standing,
}

/// What of its queue pair is on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wire {
    label: Label,
    until: u64,
}

/// What the sender stands at between two events, while only the clock moves on: the first that applies counts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Standing {
    /// 1. A packet of its queue pair is on the wire.
    wire: Wire,
    /// 2. Messages before it have packets that were never sent.
    turn: u64,
    /// 3. It may send nothing before it hears an ACK, or a timer; what that goes to.
    waits: Option<Cause>,
    /// 4. Its pacing time.
    pacing: u64,
    /// 5. The link is up.
    up: bool,
    /// 6. Its class is stopped, from when on.
    paused: Option<u64>,
    /// 7. A congestion point of the NIC's port holds its class back.
    held: bool,
    nic: PortId,
}

impl Standing {
    /// What it is at an instant, and until when that lasts at most.
    fn at(&self, now: u64) -> (Label, u64) {
        let port = self.nic;
        let starts = self.paused.unwrap_or(NEVER);
        if now < self.wire.until {
            (self.wire.label, self.wire.until)
        } else if now < self.turn {
            (Label::of(Cause::Predecessors), self.turn)
        } else if let Some(cause) = self.waits {
            (Label::of(cause), NEVER)
        } else if now < self.pacing {
            (Label::of(Cause::Pacing), self.pacing)
        } else if !self.up {
            (Label::at(Cause::LinkDown, port), NEVER)
        } else if starts <= now {
            (Label::at(Cause::Paused, port), NEVER)
        } else if self.held {
            (Label::at(Cause::HeldBack, port), starts)
        } else {
            (Label::at(Cause::Queueing, port), starts)
        }
    }
}

impl Sender {
    /// A packet starts on the wire of the NIC.
    pub fn starts(&mut self, packet: &Packet, until: u64, message: Option<&Message>) {
        let Some(message) = message.filter(|_| packet.is_data() && packet.flow == FlowId(self.slot)) else {
            return;
        };
        let again = packet.flags & RETRANSMISSION != 0;
        // What follows it on the queue pair is sent while it waits for what is to be sent again.
        let cause = if packet.psn < message.first {
            Cause::Predecessors
        } else if again || packet.psn >= message.end {
            Cause::Retransmission
        } else {
            Cause::Serialisation
        };
        let label = if cause == Cause::Serialisation { Label::at(cause, self.nic) } else { Label::of(cause) };
        (self.wire, self.starts) = (Wire { label, until }, Some(again));
        if packet.psn + 1 >= message.first {
            self.turn = self.turn.min(until);
        }
        self.sent |= packet.psn + 1 >= message.end;
    }

    /// Takes note of what went by since it stands at what it stands at.
    pub fn account(&mut self, now: u64, trace: &Trace) {
        while self.known < now {
            let (label, until) = self.standing.at(self.known);
            let (from, to) = (self.known, until.min(now));
            if label.cause == Cause::Paused {
                self.account_pauses((from, to), label, trace);
            } else {
                self.push(Interval { from, to, label });
            }
            self.known = to;
        }
        if let Some(again) = self.starts.take() {
            if again {
                self.waited_for_loss();
            }
            self.started = now;
        }
    }

    fn account_pauses(&mut self, time: (u64, u64), label: Label, trace: &Trace) {
        let (stops, left) = trace.paused[self.lane].take_out_of(&[time]);
        debug_assert!(left.is_empty(), "the NIC is stopped all this time");
        for pause in trace.pauses(self.lane, self.nic, &stops) {
            self.push(pause);
        }
        for (from, to) in left {
            self.push(Interval { from, to, label });
        }
    }

    fn push(&mut self, interval: Interval) {
        match self.log.back_mut() {
            Some(last) if last.label == interval.label && last.from >= self.started => last.to = interval.to,
            _ => self.log.push_back(interval),
        }
    }

    /// What is sent is sent again: what was taken for a wait for ACKs since the last packet was one for word of a loss.
    fn waited_for_loss(&mut self) {
        let started = self.started;
        for interval in self.log.iter_mut().rev().take_while(|interval| interval.from >= started) {
            if interval.label.cause == Cause::Window {
                interval.label = Label::of(Cause::Retransmission);
            }
        }
    }

    /// Sums up what went by before `oldest`, the start of the first packet that may complete the flow.
    fn sum_up(&mut self, oldest: u64) {
        if self.log.len() < MANY {
            return;
        }
        let settled = oldest.min(self.started);
        while let Some(first) = self.log.front().copied().filter(|first| first.to <= settled) {
            self.sums.add(&first, (0, NEVER));
            self.log.pop_front();
        }
    }

    /// What went by until the packet left that completed the flow.
    pub fn until(&self, left: u64) -> Sums {
        let mut sums = self.sums.clone();
        self.log.iter().for_each(|interval| sums.add(interval, (0, left)));
        sums
    }
}

impl World<'_> {
    /// An event is over.
    pub(super) fn trace_sender(&mut self) {
        let Some(mut trace) = self.run.trace.take() else { return };
        if trace.found.is_none()
            && let Some(mut sender) = trace.sender.take()
        {
            let standing = self.standing(&trace, &sender);
            // Most events of a network change nothing for one sender.
            if sender.starts.is_some() || standing != sender.standing {
                sender.account(self.now, &trace);
                sender.sum_up(trace.oldest(self.now));
                sender.standing = standing;
            }
            trace.sender = Some(sender);
        }
        self.run.trace = Some(trace);
    }

    /// What a sender stands at from now on.
    fn standing(&self, trace: &Trace, sender: &Sender) -> Standing {
        let &Sender { nic, lane, wire, turn, sent, .. } = sender;
        let half = &self.run.pairs.senders[sender.slot as usize];
        let end = trace.message.map_or(NEVER, |message| message.end);
        // What is to go before all new data asks neither window nor rate.
        let repeats = half.is_repeating;
        let nothing_due = sent && !repeats && half.transport.next_psn() >= end;
        let may_send = repeats || half.may_send(self.facts.blueprint.semantics.window);
        let waits = match (sent, may_send && !nothing_due) {
            (_, true) => None,
            (false, false) => Some(Cause::Window),
            (true, false) => Some(Cause::Retransmission),
        };
        let port = self.port(nic);
        let node = self.nodes[self.facts.node_of(nic).index()].seen();
        let q = self.facts.layout.queue_id(self.facts.layout.first_queue(half.class));
        Standing {
            wire,
            turn,
            waits,
            pacing: if repeats { 0 } else { half.next_send },
            up: port.up,
            paused: trace.paused[lane].in_force().map(|stop| stop.from),
            held: port.has_cp && node.holds_back(self.facts.local(nic), q, self.time()),
            nic,
        }
    }
}

impl AtNode<'_, '_> {
    /// The sender of a flow that starts now, whose packets are numbered from `first` on. The packets before are off the NIC's
    /// transmitter at `off`.
    pub(super) fn begin_sender(&self, slot: u32, first: u64, off: u64) -> Sender {
        let half = &self.run.pairs.senders[slot as usize];
        let nic = self.id(half.nic);
        let turn = if half.transport.next_psn() >= first { self.now.max(off) } else { NEVER };
        let wire = Wire { label: Label::of(Cause::Predecessors), until: self.now };
        // What it stands at is known when this event is over; until then no time goes by.
        let (waits, paused) = (None, None);
        Sender {
            slot,
            nic,
            lane: self.facts.layout.lane_id(nic, half.class),
            known: self.now,
            sums: Sums::default(),
            log: VecDeque::new(),
            started: self.now,
            starts: None,
            wire,
            turn,
            sent: false,
            standing: Standing { wire, turn, waits, pacing: 0, up: true, paused, held: false, nic },
        }
    }

    /// Congestion points of a port have been called: does one hold the flow back that is followed?
    #[cold]
    pub fn trace_held(&mut self, port: Local) {
        let Some(mut trace) = self.run.trace.take() else { return };
        if let Some(message) = trace.message.filter(|_| trace.found.is_none()) {
            let several = self.facts.layout.subs > 1 || self.facts.layout.queues_per_port > 2;
            let q = if several {
                // None of its packets is there.
                self.node.machines[port.index()].placed.get(&message.slot).map(|&(q, _)| q)
            } else {
                Some(self.facts.layout.first_queue(self.run.pairs.ways[message.slot as usize].class))
            };
            let now = self.now;
            let id = |q| self.facts.layout.queue_id(q);
            let held = q.is_some_and(|q| self.node.seen().holds_back(port, id(q), Time(now)));
            let oldest = trace.oldest(now);
            let stops = &mut trace.held[self.id(port).index()];
            match (held, stops.in_force().is_some()) {
                (true, false) => stops.stop(now, None),
                (false, true) => stops.go(now, oldest),
                _ => {}
            }
        }
        self.run.trace = Some(trace);
    }
}

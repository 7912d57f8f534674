//! States of a sender: what it does, or waits for, at each instant.

mod standing;

use std::collections::VecDeque;

use floodway_units::{FlowId, PortId};

use super::parts::{Cause, Interval, Label, Message, Sums};
use super::trace::Trace;
use crate::link::packet::{Packet, RETRANSMISSION};
use crate::run::events::NEVER;

/// Number of intervals that are kept before those that can no longer change are summed up.
const MANY: usize = 4096;

/// The sender of the flow that is followed.
#[derive(Debug)]
pub(super) struct Sender {
    slot: u32,
    /// The port by which its queue pair sends, and its class there.
    pub nic: PortId,
    port_class: usize,
    /// What was before does not count.
    since: u64,
    /// Each instant up to `known` is in `sums` or in `log`.
    pub known: u64,
    /// What no packet that may still complete the flow left before.
    sums: Sums,
    log: VecDeque<Interval>,
    /// When a packet of its queue pair started last.
    started: u64,
    /// Whether one has started in the current event, and whether it is a retransmission.
    starts: Option<bool>,
    wire: Wire,
    /// From when on no message before it has packets that were never sent; never, where that is not known
    /// yet.
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

/// The state of the sender between two events, while only time passes: the first that applies counts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Standing {
    /// 1. A packet of its queue pair is on the wire.
    wire: Wire,
    /// 2. Messages before it have packets that were never sent.
    turn: u64,
    /// 3. It may send nothing before an ACK arrives, or a timer fires; the reason for that.
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
            (Label::at(Cause::Predecessors, port), self.turn)
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
        // What follows it on the queue pair is sent while it waits for what is to be retransmitted.
        let cause = if packet.psn() < message.first {
            Cause::Predecessors
        } else if again || packet.psn() >= message.end {
            Cause::Retransmission
        } else {
            Cause::Serialisation
        };
        let at_nic = matches!(cause, Cause::Serialisation | Cause::Predecessors);
        let label = if at_nic { Label::at(cause, self.nic) } else { Label::of(cause) };
        (self.wire, self.starts) = (Wire { label, until }, Some(again));
        if packet.psn() + 1 >= message.first {
            self.turn = self.turn.min(until);
        }
        self.sent |= packet.psn() + 1 >= message.end;
    }

    /// Adds the time since the last event to the cause that the sender's state gives.
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
        let (stops, left) = trace.paused[self.port_class].take_out_of(&[time]);
        debug_assert!(left.is_empty(), "the NIC is stopped all this time");
        for pause in trace.pauses(self.port_class, self.nic, &stops) {
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

    /// The packet is a retransmission: the time since the last packet, counted as waiting for ACKs, was
    /// waiting for the report of a loss.
    fn waited_for_loss(&mut self) {
        let started = self.started;
        for interval in self.log.iter_mut().rev().take_while(|interval| interval.from >= started) {
            if interval.label.cause == Cause::Window {
                interval.label = Label::of(Cause::Retransmission);
            }
        }
    }

    /// Sums up the time before `oldest`, the start of the first packet that may complete the flow.
    fn sum_up(&mut self, oldest: u64) {
        if self.log.len() < MANY {
            return;
        }
        let oldest_kept = oldest.min(self.started);
        while let Some(first) = self.log.front().copied().filter(|first| first.to <= oldest_kept) {
            self.sums.add(&first, (self.since, NEVER));
            self.log.pop_front();
        }
    }

    /// The time until the packet that completed the flow left.
    pub fn until(&self, left: u64) -> Sums {
        let mut sums = self.sums.clone();
        self.log.iter().for_each(|interval| sums.add(interval, (self.since, left)));
        sums
    }
}

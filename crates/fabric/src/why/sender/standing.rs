//! States of the sender of the flow that is traced.

use std::collections::VecDeque;

use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::{FlowId, Time};

use super::super::parts::{Cause, Label, Sums};
use super::super::seen::Seen;
use super::super::trace::Trace;
use super::{Sender, Standing, Wire};
use crate::host::queue_pairs::QueuePairs;
use crate::run::events::NEVER;
use crate::run::network::Network;

impl Trace {
    /// An event has been executed.
    pub fn pass_event(&mut self, network: Network<'_, '_>, pairs: &QueuePairs, now: u64) {
        self.pass(now);
        if self.found.is_none()
            && let Some(mut sender) = self.sender.take()
        {
            let standing = self.standing(&sender, network, pairs, Time(now));
            // Most events of a network change nothing for one sender.
            if sender.starts.is_some() || standing != sender.standing {
                sender.account(now, self);
                sender.sum_up(self.oldest(now));
                sender.standing = standing;
            }
            self.sender = Some(sender);
        }
    }

    /// The state of a sender from now on.
    fn standing(&self, sender: &Sender, network: Network<'_, '_>, pairs: &QueuePairs, now: Time) -> Standing {
        let &Sender { nic, port_class, wire, turn, sent, .. } = sender;
        let (facts, half) = (network.facts, &pairs.senders[sender.slot as usize]);
        let end = self.message.map_or(NEVER, |message| message.end);
        // What is to go before all new data asks neither window nor rate.
        let repeats = half.turn.is_repeating;
        let nothing_due = sent && !repeats && half.transport.next_psn() >= end;
        let may_send = repeats || half.may_send(facts.blueprint.semantics.window);
        let waits = match (sent, may_send && !nothing_due) {
            (_, true) => None,
            (false, false) => Some(Cause::Window),
            (true, false) => Some(Cause::Retransmission),
        };
        let (port, node) = (network.port(nic), network.node_at(nic));
        let q = facts.layout.queue_id(facts.layout.first_queue(half.class));
        let (local, hash) = (facts.local(nic), pairs.paths[sender.slot as usize].hash);
        Standing {
            wire,
            turn,
            waits,
            pacing: if repeats { 0 } else { half.pacing.next_send },
            up: port.up,
            paused: self.paused[port_class].in_force().map(|stop| stop.from),
            held: port.has_discipline
                && (node.holds_back(local, q, now) || node.holds_flow(local, q.class, hash, now)),
            nic,
        }
    }

    /// A queue pair moves to another NIC of its host.
    pub fn moved(&mut self, seen: &Seen<'_, '_>, slot: u32, to: Local) {
        if let Some(mut sender) = self.sender.take() {
            if sender.slot == slot {
                sender.account(seen.now, self);
                sender.sum_up(self.oldest(seen.now));
                sender.nic = seen.node.links.id(to);
                let class = seen.run.pairs.senders[slot as usize].class;
                sender.port_class = seen.facts.layout.port_class_id(sender.nic, class);
            }
            self.sender = Some(sender);
        }
    }

    /// Congestion points of a port have been called: does one hold the flow back that is followed?
    pub fn asks_held(&mut self, seen: &Seen<'_, '_>, port: Local) {
        if let Some(message) = self.message.filter(|_| self.found.is_none()) {
            let queueing = &seen.node.machines[port.index()].queueing;
            let q = if queueing.sorts_each() {
                seen.queue_of_oldest(port, message.slot)
            } else if queueing.sorts() {
                // If it has packets here.
                queueing.queue_of(FlowId(message.slot))
            } else {
                Some(seen.facts.layout.first_queue(seen.run.pairs.paths[message.slot as usize].class))
            };
            let now = seen.now;
            let id = |q| seen.facts.layout.queue_id(q);
            let held = q.is_some_and(|q| seen.node.holds_back(port, id(q), Time(now)));
            let oldest = self.oldest(now);
            let stops = &mut self.held[seen.node.links.id(port).index()];
            match (held, stops.in_force().is_some()) {
                (true, false) => stops.stop(now, None),
                (false, true) => stops.go(now, oldest),
                _ => {}
            }
        }
    }
}

impl Sender {
    /// The sender of a flow that starts now, whose packets are numbered from `first` on. The packets before
    /// are off the NIC's transmitter at `off`, and what is before `since` does not count.
    pub fn new(seen: &Seen<'_, '_>, slot: u32, first: u64, (off, since): (u64, u64)) -> Self {
        let half = &seen.run.pairs.senders[slot as usize];
        let nic = seen.node.links.id(half.nic);
        let turn = if half.transport.next_psn() >= first { seen.now.max(off) } else { NEVER };
        let wire = Wire { label: Label::at(Cause::Predecessors, nic), until: seen.now };
        // The state is known after this event; no time passes until then.
        let (waits, paused) = (None, None);
        Sender {
            slot,
            nic,
            port_class: seen.facts.layout.port_class_id(nic, half.class),
            since,
            known: seen.now,
            sums: Sums::default(),
            log: VecDeque::new(),
            started: seen.now,
            starts: None,
            wire,
            turn,
            sent: false,
            standing: Standing { wire, turn, waits, pacing: 0, up: true, paused, held: false, nic },
        }
    }
}

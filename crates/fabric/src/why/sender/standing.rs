//! States of the sender of the flow that is traced.

use std::collections::VecDeque;

use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::{FlowId, Time};

use super::super::parts::{Cause, Label, Sums};
use super::super::trace::Trace;
use super::{Sender, Standing, Wire};
use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::events::NEVER;
use crate::run::world::World;

impl World<'_> {
    /// An event has been executed.
    pub(in crate::why) fn trace_sender(&mut self) {
        let Some(mut trace) = self.run.trace.take() else { return };
        trace.pass(self.now);
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

    /// The state of a sender from now on.
    fn standing(&self, trace: &Trace, sender: &Sender) -> Standing {
        let &Sender { nic, port_class, wire, turn, sent, .. } = sender;
        let half = &self.run.pairs.senders[sender.slot as usize];
        let end = trace.message.map_or(NEVER, |message| message.end);
        // What is to go before all new data asks neither window nor rate.
        let repeats = half.turn.is_repeating;
        let nothing_due = sent && !repeats && half.transport.next_psn() >= end;
        let may_send = repeats || half.may_send(self.facts.blueprint.semantics.window);
        let waits = match (sent, may_send && !nothing_due) {
            (_, true) => None,
            (false, false) => Some(Cause::Window),
            (true, false) => Some(Cause::Retransmission),
        };
        let port = self.network().port(nic);
        let node = self.network().node_at(nic);
        let q = self.facts.layout.queue_id(self.facts.layout.first_queue(half.class));
        let (local, hash) = (self.facts.local(nic), self.run.pairs.paths[sender.slot as usize].hash);
        Standing {
            wire,
            turn,
            waits,
            pacing: if repeats { 0 } else { half.pacing.next_send },
            up: port.up,
            paused: trace.paused[port_class].in_force().map(|stop| stop.from),
            held: port.has_discipline
                && (node.holds_back(local, q, self.time())
                    || node.holds_flow(local, q.class, hash, self.time())),
            nic,
        }
    }
}

impl AtNode<'_, '_> {
    /// The sender of a flow that starts now, whose packets are numbered from `first` on. The packets before
    /// are off the NIC's transmitter at `off`, and what is before `since` does not count.
    pub(in crate::why) fn begin_sender(&self, slot: u32, first: u64, (off, since): (u64, u64)) -> Sender {
        let half = &self.ctx.run.pairs.senders[slot as usize];
        let nic = self.node.links.id(half.nic);
        let turn = if half.transport.next_psn() >= first { self.ctx.now.max(off) } else { NEVER };
        let wire = Wire { label: Label::at(Cause::Predecessors, nic), until: self.ctx.now };
        // The state is known after this event; no time passes until then.
        let (waits, paused) = (None, None);
        Sender {
            slot,
            nic,
            port_class: self.ctx.facts.layout.port_class_id(nic, half.class),
            since,
            known: self.ctx.now,
            sums: Sums::default(),
            log: VecDeque::new(),
            started: self.ctx.now,
            starts: None,
            wire,
            turn,
            sent: false,
            standing: Standing { wire, turn, waits, pacing: 0, up: true, paused, held: false, nic },
        }
    }

    /// A queue pair moves to another NIC of its host.
    #[cold]
    pub fn trace_moved(&mut self, slot: u32, to: Local) {
        let Some(mut trace) = self.ctx.run.trace.take() else { return };
        if let Some(mut sender) = trace.sender.take() {
            if sender.slot == slot {
                sender.account(self.ctx.now, &trace);
                sender.sum_up(trace.oldest(self.ctx.now));
                sender.nic = self.node.links.id(to);
                let class = self.ctx.run.pairs.senders[slot as usize].class;
                sender.port_class = self.ctx.facts.layout.port_class_id(sender.nic, class);
            }
            trace.sender = Some(sender);
        }
        self.ctx.run.trace = Some(trace);
    }

    /// The queue of data at a port in which a flow's oldest packet waits.
    #[cold]
    fn queue_of_oldest(&self, port: Local, slot: u32) -> Option<usize> {
        let first = self.ctx.facts.layout.queue(port);
        let waiting = (1..self.ctx.facts.layout.queues_per_port).flat_map(|q| {
            let packets = self.node.links.queues[first + q].fifo.iter(&self.ctx.run.packets);
            packets.filter(|packet| packet.flow.0 == slot).map(move |packet| (packet.psn, q))
        });
        waiting.min().map(|(_, q)| q)
    }

    /// Congestion points of a port have been called: does one hold the flow back that is followed?
    #[cold]
    pub fn trace_held(&mut self, port: Local) {
        let Some(mut trace) = self.ctx.run.trace.take() else { return };
        if let Some(message) = trace.message.filter(|_| trace.found.is_none()) {
            let queueing = &self.node.machines[port.index()].queueing;
            let q = if queueing.sorts_each() {
                self.queue_of_oldest(port, message.slot)
            } else if queueing.sorts() {
                // If it has packets here.
                queueing.queue_of(FlowId(message.slot))
            } else {
                Some(self.ctx.facts.layout.first_queue(self.ctx.run.pairs.paths[message.slot as usize].class))
            };
            let now = self.ctx.now;
            let id = |q| self.ctx.facts.layout.queue_id(q);
            let held = q.is_some_and(|q| self.node.holds_back(port, id(q), Time(now)));
            let oldest = trace.oldest(now);
            let stops = &mut trace.held[self.node.links.id(port).index()];
            match (held, stops.in_force().is_some()) {
                (true, false) => stops.stop(now, None),
                (false, true) => stops.go(now, oldest),
                _ => {}
            }
        }
        self.ctx.run.trace = Some(trace);
    }
}

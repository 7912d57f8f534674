//! Start and completion of messages at either end of a queue pair.

use floodway_blueprint::network::blueprint::Turns;
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::{Segment, TransportSender as _};
use floodway_records::tally::Records;
use floodway_units::{Bytes, FlowId};

use super::{Incoming, Outgoing};
use crate::host::messages::halves::{push_received, push_sent};
use crate::host::nics::Host;
use crate::host::queue_pairs::{Done, Posted, QueuePairs};
use crate::host::receive::ReceiveHalf;
use crate::run::at_node::AtHost;
use crate::run::ctx::Ctx;
use crate::run::events::{Events, NEVER};
use crate::traffic::flows::Traffic;
use crate::traffic::triggers::{Completion, End};

impl AtHost<'_, '_> {
    /// Adds a message to a queue pair that goes on; its NIC's port, if that is to look.
    pub fn post(&mut self, slot: u32, mut message: Outgoing) -> Option<Local> {
        let run = &mut *self.ctx.run;
        let records = &mut run.kept.records;
        let first = run.pairs.post(self.ctx.facts, &run.events, records, (slot, &mut message));
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.posted(seen, slot, &message, first));
        }
        self.allowance_changed(slot);
        self.ctx.run.pairs.senders.of(FlowId(slot)).nic_to_look(self.ctx.facts.blueprint.semantics.turns)
    }

    /// A receiver has accepted `bytes` by the packet `psn`.
    #[inline]
    pub fn accept(&mut self, id: u32, psn: u64, bytes: u64) {
        let half = &mut self.ctx.run.pairs.receivers[id as usize];
        if half.rest.is_empty() {
            if half.head.accept(bytes) {
                self.received(id, 0, psn);
            }
            return;
        }
        let mut left = Left { index: half.index_of(psn), bytes };
        while let Some(index) = self.ctx.run.pairs.receivers[id as usize].accept_among(&mut left) {
            let before = self.ctx.run.pairs.receivers[id as usize].rest.len();
            self.received(id, index, psn);
            // If it was taken out, the next one has its index.
            left.index -= before - self.ctx.run.pairs.receivers[id as usize].rest.len();
        }
    }

    /// A message is complete at the receiver, by the packet `psn`: nothing of it changes there any more.
    fn received(&mut self, id: u32, index: usize, psn: u64) {
        let (now, run) = (self.ctx.now, &mut *self.ctx.run);
        let Incoming { hook, number, .. } = run.pairs.received(&mut run.kept.records, (id, index), now);
        let (traffic, mut ctx) = Traffic::at(&mut self.ctx);
        traffic.completed(&mut ctx, Completion { hook, number, end: End::Receiver, at: now });
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.received(seen, id, number, psn));
        }
    }
}

/// What a packet that was accepted still has for messages from the one at `index` on.
struct Left {
    index: usize,
    bytes: u64,
}

impl Incoming {
    /// So much of it was accepted: is it complete now?
    #[inline]
    fn accept(&mut self, bytes: u64) -> bool {
        self.delivered += bytes;
        self.delivered >= self.size && !self.is_received()
    }
}

impl ReceiveHalf {
    /// Accepts what is left, where several messages are there, up to the next one that is complete by it. A
    /// packet that fills a gap may release those behind it.
    fn accept_among(&mut self, left: &mut Left) -> Option<usize> {
        while left.bytes > 0 && left.index <= self.rest.len() {
            let index = left.index;
            let message = self.message(index);
            let taken = left.bytes.min(message.size - message.delivered);
            message.delivered += taken;
            left.bytes -= taken;
            left.index += 1;
            if taken > 0 && message.delivered == message.size {
                return Some(index);
            }
        }
        None
    }
}

impl QueuePairs {
    /// Adds a message to a queue pair that goes on; the number of its first packet.
    fn post(
        &mut self,
        facts: &Facts<'_>,
        events: &Events,
        records: &mut Records,
        (slot, message): (u32, &mut Outgoing),
    ) -> u64 {
        let (half, path) = (&mut self.senders[slot as usize], &self.paths[slot as usize]);
        let packets = Outgoing::packets_of(message.size, u64::from(half.full_payload));
        half.transport.push(Bytes(message.size));
        let first = half.end;
        message.end = first.saturating_add(packets);
        if message.position() != half.newest().position() {
            half.turns_from = first;
        }
        half.post(*message, path, records);
        records.started(path.workload, (message.measured, message.size), events.run_time(message.start));
        self.posted(facts, events, Posted { slot, message: Incoming::of(message, first) });
        first
    }

    /// A message of a queue pair is complete at the receiver: it gets its row, and its place is free.
    fn received(&mut self, records: &mut Records, (id, index): (u32, usize), now: u64) -> Incoming {
        let (half, path) = (&mut self.receivers[id as usize], &self.paths[id as usize]);
        let message = half.message(index);
        message.finish = now;
        let message = *message;
        push_received(records, &message, path);
        half.take_out(index);
        records.received(path.workload, message.measured);
        message
    }
}

impl Host {
    /// A reply says that all before `next` has arrived.
    #[inline]
    pub fn acknowledged(&mut self, ctx: &mut Ctx<'_, '_>, id: u32, next: u64) {
        while let head = &ctx.run.pairs.senders[id as usize].head
            && next >= head.end
            && !head.sent
        {
            self.sent_whole(ctx, id, ctx.now, ctx.now);
        }
    }

    /// The last packet of a message is on the wire until `until`. Where nothing is acknowledged it is the
    /// oldest message, which is complete then.
    pub fn last_sent(&mut self, ctx: &mut Ctx<'_, '_>, id: u32, segment: &Segment, until: u64) {
        let half = &mut ctx.run.pairs.senders[id as usize];
        let has_acks = half.has_acks;
        let Outgoing { hook, number, .. } = *half.message_of(segment.psn);
        if !has_acks {
            self.sent_whole(ctx, id, NEVER, until);
        }
        if !segment.retransmission {
            let (traffic, mut ctx) = Traffic::at(ctx);
            traffic.completed(&mut ctx, Completion { hook, number, end: End::Nic, at: until });
        }
    }

    /// The oldest message is complete at the sender: `finish` is for its row, and flows that wait for it
    /// start at `notified_at`. It gets its row only when another one follows: CNPs of the last one may still
    /// arrive.
    fn sent_whole(&mut self, ctx: &mut Ctx<'_, '_>, id: u32, finish: u64, notified_at: u64) {
        let run = &mut *ctx.run;
        let (half, path) = (&mut run.pairs.senders[id as usize], &run.pairs.paths[id as usize]);
        half.state.done = !half.state.shared;
        if half.state.done {
            run.pairs.done.push(Done { slot: id, gone: None });
            let nic = &mut self.nics[half.nic.index()];
            match ctx.facts.blueprint.semantics.turns {
                Turns::Ring => {}
                Turns::Listed => nic.unfinished -= 1,
                Turns::List => nic.list.finish(id),
                Turns::StandingList => nic.list.leave(id),
            }
        }
        (half.head.sent, half.head.finish) = (true, finish);
        let Outgoing { hook, measured, number, .. } = half.head;
        run.kept.records.sent(path.workload, measured);
        if let Some(next) = half.rest.pop_front() {
            let over = std::mem::replace(&mut half.head, next);
            push_sent(&mut run.kept.records, &over, path);
        }
        let (traffic, mut ctx) = Traffic::at(ctx);
        traffic.completed(&mut ctx, Completion { hook, number, end: End::Sender, at: notified_at });
    }
}

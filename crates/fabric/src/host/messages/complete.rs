//! Start and completion of messages at either end of a queue pair.

use floodway_mechanisms::slots::{Segment, TransportSender as _};
use floodway_units::Bytes;

use super::{Incoming, Outgoing};
use crate::host::queue_pairs::Done;
use crate::host::queue_pairs::Posted;
use crate::network::blueprint::Turns;
use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::events::NEVER;
use crate::traffic::flows::Traffic;
use crate::traffic::triggers::{Completion, End};

impl AtNode<'_, '_> {
    /// Adds a message to a queue pair that goes on; its NIC's port, if that is to look.
    pub fn post(&mut self, slot: u32, mut message: Outgoing) -> Option<Local> {
        let payload = u64::from(self.ctx.run.pairs.senders[slot as usize].full_payload);
        let packets = Outgoing::packets_of(message.size, payload);
        let (half, path) =
            (&mut self.ctx.run.pairs.senders[slot as usize], &self.ctx.run.pairs.paths[slot as usize]);
        half.transport.push(Bytes(message.size));
        let first = half.end;
        message.end = first.saturating_add(packets);
        half.post(message, path, &mut self.ctx.run.kept.records);
        self.ctx.run.kept.records.started(path.workload, &message);
        self.posted(Posted { slot, message: Incoming::of(&message, first) });
        if self.ctx.run.trace.is_some() {
            self.each_trace(|at| at.trace_posted(slot, &message, first));
        }
        self.allowance_changed(slot);
        self.nic_to_look(slot)
    }

    /// A receiver has accepted `bytes` by the packet `psn`.
    #[inline]
    pub fn accept(&mut self, id: u32, psn: u64, bytes: u64) {
        let half = &mut self.ctx.run.pairs.receivers[id as usize];
        if !half.rest.is_empty() {
            self.accept_among(id, psn, bytes);
            return;
        }
        half.head.delivered += bytes;
        if half.head.delivered >= half.head.size && !half.head.is_received() {
            self.received(id, 0, psn);
        }
    }

    /// As `accept`, where several messages are there. A packet that fills a gap may release those behind it.
    fn accept_among(&mut self, id: u32, psn: u64, mut bytes: u64) {
        let mut index = self.ctx.run.pairs.receivers[id as usize].index_of(psn);
        while bytes > 0 && index <= self.ctx.run.pairs.receivers[id as usize].rest.len() {
            let half = &mut self.ctx.run.pairs.receivers[id as usize];
            let message = half.message(index);
            let taken = bytes.min(message.size - message.delivered);
            message.delivered += taken;
            bytes -= taken;
            let whole = taken > 0 && message.delivered == message.size;
            let before = half.rest.len();
            if whole {
                self.received(id, index, psn);
            }
            // If it was taken out, the next one has its index.
            index += 1 + self.ctx.run.pairs.receivers[id as usize].rest.len() - before;
        }
    }

    /// A message is complete at the receiver, by the packet `psn`: nothing of it changes there any more.
    fn received(&mut self, id: u32, index: usize, psn: u64) {
        let now = self.ctx.now;
        let (half, path) =
            (&mut self.ctx.run.pairs.receivers[id as usize], &self.ctx.run.pairs.paths[id as usize]);
        let message = half.message(index);
        message.finish = now;
        let Incoming { hook, measured, number, .. } = *message;
        self.ctx.run.kept.records.push_received(message, path);
        half.take_out(index);
        self.ctx.run.kept.records.received(path.workload, measured);
        let (traffic, mut ctx) = Traffic::at(&mut self.ctx);
        traffic.completed(&mut ctx, Completion { hook, number, end: End::Receiver, at: now });
        if self.ctx.run.trace.is_some() {
            self.each_trace(|at| at.trace_received(id, number, psn));
        }
    }

    /// A reply says that all before `next` has arrived.
    #[inline]
    pub fn acknowledged(&mut self, id: u32, next: u64) {
        while let head = &self.ctx.run.pairs.senders[id as usize].head
            && next >= head.end
            && !head.sent
        {
            self.sent_whole(id, self.ctx.now, self.ctx.now);
        }
    }

    /// The last packet of a message is on the wire until `until`. Where nothing is acknowledged it is the
    /// oldest message, which is complete then.
    pub fn last_sent(&mut self, id: u32, segment: &Segment, has_acks: bool, until: u64) {
        let Outgoing { hook, number, .. } = *self.ctx.run.pairs.senders[id as usize].message_of(segment.psn);
        if !has_acks {
            self.sent_whole(id, NEVER, until);
        }
        if !segment.retransmission {
            let (traffic, mut ctx) = Traffic::at(&mut self.ctx);
            traffic.completed(&mut ctx, Completion { hook, number, end: End::Nic, at: until });
        }
    }

    /// The oldest message is complete at the sender: `finish` is for its row, and flows that wait for it
    /// start at `notified_at`. It gets its row only when another one follows: CNPs of the last one may still
    /// arrive.
    fn sent_whole(&mut self, id: u32, finish: u64, notified_at: u64) {
        let (half, path) =
            (&mut self.ctx.run.pairs.senders[id as usize], &self.ctx.run.pairs.paths[id as usize]);
        half.state.done = !half.state.shared;
        if half.state.done {
            self.ctx.run.pairs.done.push(Done { slot: id, gone: None });
            let nic = &mut self.node.host.nics[half.nic.index()];
            match self.ctx.facts.blueprint.semantics.turns {
                Turns::Ring => {}
                Turns::Listed => nic.unfinished -= 1,
                Turns::List => nic.list.finish(id),
                Turns::StandingList => nic.list.leave(id),
            }
        }
        (half.head.sent, half.head.finish) = (true, finish);
        let Outgoing { hook, measured, number, .. } = half.head;
        self.ctx.run.kept.records.sent(path.workload, measured);
        if let Some(next) = half.rest.pop_front() {
            let over = std::mem::replace(&mut half.head, next);
            self.ctx.run.kept.records.push_sent(&over, path);
        }
        let (traffic, mut ctx) = Traffic::at(&mut self.ctx);
        traffic.completed(&mut ctx, Completion { hook, number, end: End::Sender, at: notified_at });
    }
}

//! Messages of queue pairs: what is left of each at either end.
//!
//! A queue pair of one flow has one message and never looks at `rest`; on a shared one messages queue there
//! behind the oldest, in the order in which they were posted, which is that of their packets' numbers. Each end
//! writes its part of a message's row when the message is complete there; the parts are put together at the end
//! of the run.

use floodway_engine::memory;
use floodway_mechanisms::slots::{Segment, TransportSender as _};
use floodway_units::Bytes;

use crate::host::queue_pairs::Posted;
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::network::blueprint::Turns;
use crate::network::layout::Local;
use crate::network::ways::Way;
use crate::records::tally::{FlowKey, ReceivedRow, Records, SentRow};
use crate::run::agenda::NEVER;
use crate::run::at_node::AtNode;
use crate::run::world::Done;
use crate::traffic::triggers::End;

/// No flow waits for the message.
pub(crate) const NO_HOOK: u32 = u32::MAX;

/// A flow, as a message of its queue pair's sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    /// Which flow of its workload's source it is, from 0.
    pub number: u64,
    pub start: u64,
    pub size: u64,
    /// Sequence number after its last packet.
    pub end: u64,
    pub ideal: u64,
    /// When it was complete here, else never; never where nothing is acknowledged.
    pub finish: u64,
    pub retransmitted: u64,
    pub timeouts: u32,
    pub cnps: u32,
    /// Who waits for it, else `NO_HOOK`.
    pub hook: u32,
    pub measured: bool,
    /// Complete here.
    pub sent: bool,
}

/// A flow, as a message of its queue pair's receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub delivered: u64,
    pub size: u64,
    /// When it was complete here, else never.
    pub finish: u64,
    /// Sequence numbers of its first packet, and after its last one.
    pub first: u64,
    pub end: u64,
    pub number: u64,
    pub start: u64,
    /// Its packets that came until it was complete, and of these the ones that came after one of the queue pair that was
    /// sent later.
    pub packets: u32,
    pub overtaken: u32,
    pub hook: u32,
    pub measured: bool,
}

impl Outgoing {
    fn row(&self, way: &Way) -> SentRow {
        SentRow {
            key: key(way, self.start, self.number),
            destination: way.destination.0,
            ports: (way.tuple.source_port, way.tuple.destination_port),
            class: way.class,
            size: self.size,
            finish: self.finish,
            ideal: self.ideal,
            retransmitted: self.retransmitted,
            timeouts: self.timeouts,
            cnps: self.cnps,
            measured: self.measured,
        }
    }
}

impl Outgoing {
    /// No message.
    pub const NONE: Outgoing = Outgoing {
        number: 0,
        start: 0,
        size: 0,
        end: 0,
        ideal: 0,
        finish: NEVER,
        retransmitted: 0,
        timeouts: 0,
        cnps: 0,
        hook: NO_HOOK,
        measured: false,
        sent: false,
    };
}

impl Incoming {
    /// No message.
    pub const NONE: Incoming = Incoming {
        delivered: 0,
        size: 0,
        finish: NEVER,
        first: 0,
        end: 0,
        number: 0,
        start: 0,
        packets: 0,
        overtaken: 0,
        hook: NO_HOOK,
        measured: false,
    };

    /// What the receiver is told of a message whose first packet is `first`.
    pub fn of(message: &Outgoing, first: u64) -> Self {
        let &Outgoing { number, start, size, end, hook, measured, .. } = message;
        Incoming { size, first, end, number, start, hook, measured, ..Self::NONE }
    }

    #[inline]
    fn is_received(&self) -> bool {
        self.finish != NEVER
    }

    fn row(&self, way: &Way) -> ReceivedRow {
        ReceivedRow {
            key: key(way, self.start, self.number),
            finish: self.finish,
            delivered: self.delivered,
            packets: self.packets,
            overtaken: self.overtaken,
        }
    }
}

fn key(way: &Way, start: u64, number: u64) -> FlowKey {
    FlowKey { start, workload: way.workload, source: way.source.0, number }
}

impl SendHalf {
    /// Number, end and size of its messages, the oldest first.
    pub fn messages(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let all = std::iter::once(&self.head).chain(&self.rest);
        all.map(|message| (message.number, message.end, message.size))
    }

    /// The message of packet `psn`, which is one that is not complete.
    #[inline]
    pub fn message_of(&mut self, psn: u64) -> &mut Outgoing {
        if psn < self.head.end || self.rest.is_empty() {
            return &mut self.head;
        }
        let at = self.rest.partition_point(|message| message.end <= psn);
        let last = self.rest.len() - 1;
        &mut self.rest[at.min(last)]
    }

    /// Adds a message.
    fn post(&mut self, message: Outgoing, way: &Way, records: &mut Records) {
        self.end = message.end;
        if !self.head.sent {
            self.rest.push_back(message);
            return;
        }
        memory::push(&mut records.sent_rows, self.head.row(way));
        self.head = message;
    }

    /// Gives the messages that have no row theirs.
    pub fn close(&mut self, way: &Way, records: &mut Records) {
        self.alive = false;
        self.stack = Vec::new();
        memory::push(&mut records.sent_rows, self.head.row(way));
        memory::extend(&mut records.sent_rows, self.rest.drain(..).map(|message| message.row(way)));
    }
}

impl ReceiveHalf {
    /// Number, end and size of its messages, the oldest first.
    pub fn messages(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let all = std::iter::once(&self.head).chain(&self.rest);
        all.map(|message| (message.number, message.end, message.size))
    }

    fn message(&mut self, index: usize) -> &mut Incoming {
        if index == 0 { &mut self.head } else { &mut self.rest[index - 1] }
    }

    /// Index of the message of packet `psn`, which is one that is there.
    fn index_of(&self, psn: u64) -> usize {
        if psn < self.head.end { 0 } else { 1 + self.rest.partition_point(|message| message.end <= psn) }
    }

    /// The message of packet `psn`, unless it is complete: when another one takes its place owes something to partitions.
    #[inline]
    pub fn open_message(&mut self, psn: u64) -> Option<&mut Incoming> {
        let message = if psn < self.head.end || self.rest.is_empty() {
            &mut self.head
        } else {
            let at = self.rest.partition_point(|message| message.end <= psn);
            self.rest.get_mut(at)?
        };
        (message.first <= psn && !message.is_received()).then_some(message)
    }

    /// Adds a message. One that is complete has its row.
    pub fn post(&mut self, message: Incoming) {
        if self.head.is_received() {
            self.head = message;
        } else {
            self.rest.push_back(message);
        }
    }

    /// Takes out the message at `index`, if another one is there.
    fn take_out(&mut self, index: usize) {
        if index > 0 {
            self.rest.remove(index - 1);
        } else if let Some(next) = self.rest.pop_front() {
            self.head = next;
        }
    }

    /// Gives the messages that have no row theirs.
    pub fn close(&mut self, way: &Way, records: &mut Records) {
        self.alive = false;
        let head = Some(self.head).filter(|head| !head.is_received());
        memory::extend(&mut records.received_rows, head.map(|message| message.row(way)));
        memory::extend(&mut records.received_rows, self.rest.drain(..).map(|message| message.row(way)));
    }
}

impl AtNode<'_, '_> {
    /// Packets that a message takes.
    pub fn packets_of(&self, size: Bytes) -> u64 {
        size.0.div_ceil(self.facts.blueprint.mtu.0).max(1)
    }

    /// Adds a message to a queue pair that goes on; its NIC's port, if that is to look.
    pub fn post(&mut self, slot: u32, mut message: Outgoing) -> Option<Local> {
        let packets = self.packets_of(Bytes(message.size));
        let (half, way) = (&mut self.run.pairs.senders[slot as usize], &self.run.pairs.ways[slot as usize]);
        half.transport.push(Bytes(message.size));
        let first = half.end;
        message.end = first.saturating_add(packets);
        half.post(message, way, &mut self.run.kept.records);
        self.run.kept.records.started(way.workload, &message);
        self.posted(Posted { slot, message: Incoming::of(&message, first) });
        if self.run.trace.is_some() {
            self.trace_posted(slot, &message, first);
        }
        self.allowance_changed(slot);
        self.nic_to_look(slot)
    }

    /// A receiver has accepted `bytes` by the packet `psn`.
    #[inline]
    pub fn accept(&mut self, id: u32, psn: u64, bytes: u64) {
        let half = &mut self.run.pairs.receivers[id as usize];
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
        let mut index = self.run.pairs.receivers[id as usize].index_of(psn);
        while bytes > 0 && index <= self.run.pairs.receivers[id as usize].rest.len() {
            let half = &mut self.run.pairs.receivers[id as usize];
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
            index += 1 + self.run.pairs.receivers[id as usize].rest.len() - before;
        }
    }

    /// A message is complete at the receiver, by the packet `psn`: nothing of it changes there any more.
    fn received(&mut self, id: u32, index: usize, psn: u64) {
        let now = self.now;
        let (half, way) = (&mut self.run.pairs.receivers[id as usize], &self.run.pairs.ways[id as usize]);
        let message = half.message(index);
        message.finish = now;
        let Incoming { hook, measured, number, .. } = *message;
        memory::push(&mut self.run.kept.records.received_rows, message.row(way));
        half.take_out(index);
        self.run.kept.records.received(way.workload, measured);
        self.completed(hook, End::Receiver, now);
        if self.run.trace.is_some() {
            self.trace_received(id, number, psn);
        }
    }

    /// A reply says that all before `next` has arrived.
    #[inline]
    pub fn acknowledged(&mut self, id: u32, next: u64) {
        while let head = &self.run.pairs.senders[id as usize].head
            && next >= head.end
            && !head.sent
        {
            self.sent_whole(id, self.now, self.now);
        }
    }

    /// The last packet of a message is on the wire until `until`. Where nothing is acknowledged it is the oldest
    /// message, which is complete then.
    pub fn last_sent(&mut self, id: u32, segment: &Segment, has_acks: bool, until: u64) {
        let hook = self.run.pairs.senders[id as usize].message_of(segment.psn).hook;
        if !has_acks {
            self.sent_whole(id, NEVER, until);
        }
        if !segment.retransmission {
            self.completed(hook, End::Nic, until);
        }
    }

    /// The oldest message is complete at the sender: what its row says, and when who waits for it hears of it. It
    /// gets its row only when another one follows: the last one may still hear of marks.
    fn sent_whole(&mut self, id: u32, finish: u64, heard: u64) {
        let (half, way) = (&mut self.run.pairs.senders[id as usize], &self.run.pairs.ways[id as usize]);
        half.done = !half.shared;
        if half.done {
            self.run.pairs.done.push(Done { slot: id, gone: None });
            let nic = &mut self.node.nics[half.nic.index()];
            match self.facts.blueprint.semantics.turns {
                Turns::Ring => {}
                Turns::Listed => nic.unfinished -= 1,
                Turns::List => nic.list.finish(id),
                Turns::StandingList => nic.list.leave(id),
            }
        }
        (half.head.sent, half.head.finish) = (true, finish);
        let Outgoing { hook, measured, .. } = half.head;
        self.run.kept.records.sent(way.workload, measured);
        if let Some(next) = half.rest.pop_front() {
            let over = std::mem::replace(&mut half.head, next);
            memory::push(&mut self.run.kept.records.sent_rows, over.row(way));
        }
        self.completed(hook, End::Sender, heard);
    }
}

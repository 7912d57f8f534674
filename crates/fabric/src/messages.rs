//! Messages of queue pairs: what is left of each at both ends.
//!
//! A queue pair of one flow has one message and never looks at `rest`; on a shared one messages queue there
//! behind the oldest, in the order in which they were posted, which is that of their packets' numbers.

use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::Bytes;

use crate::blueprint::Turns;
use crate::flows::Flow;
use crate::triggers::End;
use crate::world::{NEVER, World};

/// No flow waits for the message.
pub(crate) const NO_HOOK: u32 = u32::MAX;

/// A flow, as a message of its queue pair. What each packet touches comes last, beside the receiver.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Message {
    /// Which flow of its workload's source it is, from 0.
    pub number: u64,
    pub start: u64,
    pub ideal: u64,
    pub finish_sender: u64,
    pub retransmitted: u64,
    pub timeouts: u32,
    pub cnps: u32,
    /// Who waits for it, else `NO_HOOK`.
    pub hook: u32,
    pub measured: bool,
    /// Has no row yet.
    pub open: bool,
    /// Complete at the sender.
    pub sent: bool,
    /// Sequence number after its last packet.
    pub end: u64,
    pub size: u64,
    pub delivered: u64,
    pub finish_receiver: u64,
}

impl Message {
    #[inline]
    fn is_received(&self) -> bool {
        self.finish_receiver != NEVER
    }

    fn is_over(&self) -> bool {
        self.sent && self.is_received()
    }
}

impl Flow {
    /// Its messages, the oldest first.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        std::iter::once(&self.head).chain(&self.rest)
    }

    fn message(&mut self, index: usize) -> &mut Message {
        if index == 0 { &mut self.head } else { &mut self.rest[index - 1] }
    }

    /// Index of the message of packet `psn`, which is one that is there.
    fn index_of(&self, psn: u64) -> usize {
        if psn < self.head.end { 0 } else { 1 + self.rest.partition_point(|message| message.end <= psn) }
    }

    /// The message of packet `psn`, which is one that is there.
    #[inline]
    pub fn message_of(&mut self, psn: u64) -> &mut Message {
        if self.rest.is_empty() { &mut self.head } else { self.message(self.index_of(psn)) }
    }

    /// The oldest message that is not complete at the sender, to which notices and timeouts are attributed,
    /// which name no packet; the newest, if all are.
    #[inline]
    pub fn at_work(&mut self) -> &mut Message {
        if !self.head.sent || self.rest.is_empty() {
            return &mut self.head;
        }
        let sent = self.rest.partition_point(|message| message.sent);
        let last = self.rest.len() - 1;
        &mut self.rest[sent.min(last)]
    }

    /// Takes out the message at `index` if it is over and another one follows it.
    fn take_over(&mut self, index: usize) -> Option<Message> {
        if !self.message(index).is_over() || index == self.rest.len() {
            return None;
        }
        match index {
            0 => self.rest.pop_front().map(|next| std::mem::replace(&mut self.head, next)),
            index => self.rest.remove(index - 1),
        }
    }
}

impl World<'_> {
    /// Packets that a message takes.
    pub fn packets_of(&self, size: Bytes) -> u64 {
        size.0.div_ceil(self.blueprint.mtu.0).max(1)
    }

    /// Adds a message to a queue pair that goes on.
    pub fn post(&mut self, slot: u32, mut message: Message) {
        let packets = self.packets_of(Bytes(message.size));
        let flow = &mut self.flows[slot as usize];
        flow.sender.push(Bytes(message.size));
        flow.end = flow.end.saturating_add(packets);
        message.end = flow.end;
        self.records.started(flow.workload, &message);
        if flow.head.open {
            let last = flow.rest.len();
            flow.rest.push_back(message);
            self.close(slot, last);
        } else {
            flow.head = message;
        }
        self.allowance_changed(slot);
        self.kick_nic(slot);
    }

    /// A receiver has accepted `bytes` by the packet `psn`.
    #[inline]
    pub fn accept(&mut self, id: u32, psn: u64, bytes: u64) {
        let flow = &mut self.flows[id as usize];
        if !flow.rest.is_empty() {
            self.accept_among(id, psn, bytes);
            return;
        }
        flow.head.delivered += bytes;
        if flow.head.delivered >= flow.head.size && !flow.head.is_received() {
            self.received(id, 0);
        }
    }

    /// As `accept`, where several messages are there. A packet that fills a gap may release those behind it.
    fn accept_among(&mut self, id: u32, psn: u64, mut bytes: u64) {
        let mut index = self.flows[id as usize].index_of(psn);
        while bytes > 0 && index <= self.flows[id as usize].rest.len() {
            let message = self.flows[id as usize].message(index);
            let taken = bytes.min(message.size - message.delivered);
            message.delivered += taken;
            bytes -= taken;
            let whole = taken > 0 && message.delivered == message.size;
            let before = self.flows[id as usize].rest.len();
            if whole {
                self.received(id, index);
            }
            // If it was taken out, the next one has its index.
            index += 1 + self.flows[id as usize].rest.len() - before;
        }
    }

    fn received(&mut self, id: u32, index: usize) {
        let now = self.now;
        let flow = &mut self.flows[id as usize];
        let workload = flow.workload;
        let message = flow.message(index);
        message.finish_receiver = now;
        let (hook, measured) = (message.hook, message.measured);
        self.records.received(workload, measured);
        self.close(id, index);
        self.completed(hook, End::Receiver, now);
    }

    /// A reply says that all before `next` has arrived.
    #[inline]
    pub fn acknowledged(&mut self, id: u32, next: u64) {
        while let head = &self.flows[id as usize].head
            && next >= head.end
            && !head.sent
        {
            self.sent_whole(id, 0, self.now, self.now);
        }
    }

    /// Where nothing is acknowledged: the last packet of a message, `psn`, is on the wire until `until`.
    pub fn left_nic(&mut self, id: u32, psn: u64, until: u64) {
        let index = self.flows[id as usize].index_of(psn);
        self.sent_whole(id, index, NEVER, until);
    }

    /// A message is complete at the sender: what its row says, and when who waits for it hears of it.
    fn sent_whole(&mut self, id: u32, index: usize, finish: u64, heard: u64) {
        let flow = &mut self.flows[id as usize];
        flow.sender_done = !flow.shared;
        if flow.sender_done {
            let list = &mut self.nics[flow.nic as usize].list;
            match self.blueprint.semantics.turns {
                Turns::Ring => {}
                Turns::List => list.finish(id),
                Turns::StandingList => list.leave(id),
            }
        }
        let message = flow.message(index);
        (message.sent, message.finish_sender) = (true, finish);
        let (hook, measured) = (message.hook, message.measured);
        self.records.sent(flow.workload, measured);
        self.close(id, index);
        self.completed(hook, End::Sender, heard);
    }

    /// Gives a message that is over its row, unless it is the last: that one may still hear of marks.
    fn close(&mut self, id: u32, index: usize) {
        let flow = &mut self.flows[id as usize];
        if let Some(over) = flow.take_over(index) {
            self.records.ended(flow, &over);
        }
    }

    /// Gives the last message its row if it is over; nothing of the queue pair is in the network.
    pub fn close_last(&mut self, id: u32) {
        let flow = &mut self.flows[id as usize];
        if flow.rest.is_empty() && flow.head.open && flow.head.is_over() {
            flow.head.open = false;
            self.records.ended(flow, &flow.head);
        }
    }
}

//! The queues of a class at an egress port: the queue of each flow, and the queues that the downstream holds
//! back.

use std::collections::VecDeque;

use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, Rng, Time};

use super::Params;
use super::filter::Hashes;
use super::turns::Turns;
use crate::slots::{FlowFilter, ReadyView};

/// The queue of first packets.
pub(super) const FIRST: usize = 0;

/// Entry of a VFID in the flow table.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Packets that wait here.
    packets: u32,
    /// The queue in which they wait, if there are any.
    queue: u8,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) vfid: u32,
    /// Whether it is counted: it made its queue longer than Th.
    pub(super) counts: bool,
}

/// State of a queue in this machine.
#[derive(Clone, Debug, Default)]
struct Queue {
    packets: VecDeque<Waiting>,
    /// Flows that are assigned to it.
    flows: u32,
}

/// The queues of a class, and the flows in them.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    flows: u32,
    first_packets: bool,
    hashes: Hashes,
    /// By VFID; empty until the first packet.
    table: Vec<Flow>,
    lists: Vec<Queue>,
    /// One bit per queue: queues with packets; queues whose first packet's flow is paused; queues without a
    /// flow.
    filled: u64,
    held: u64,
    free: u64,
    /// The queue of the next flow that finds no queue free.
    drawn: u8,
    /// Flows that the downstream has paused.
    filter: FlowFilter,
    turns: Turns,
}

impl Queues {
    pub(super) fn new(params: &Params, hashes: Hashes, class: Class, largest: Bytes) -> Self {
        let count = usize::from(params.queues) + 1;
        Queues {
            flows: params.flows,
            first_packets: params.first_packets,
            hashes,
            table: Vec::new(),
            lists: vec![Queue::default(); count],
            filled: 0,
            held: 0,
            free: u64::MAX >> (64 - count) & !1,
            drawn: 1,
            filter: FlowFilter::empty(class, 1),
            turns: Turns::new(count, largest),
        }
    }

    fn flow(&self, vfid: u32) -> Flow {
        self.table.get(vfid as usize).copied().unwrap_or_default()
    }

    /// The queue for a new flow: one without a flow, if there is one.
    #[expect(clippy::cast_possible_truncation, reason = "a position in a word of 64 bits")]
    fn chosen(&self) -> u8 {
        if self.free != 0 { self.free.trailing_zeros() as u8 } else { self.drawn }
    }

    /// The queue for the next packet of a flow.
    pub(super) fn place(&self, vfid: u32) -> u8 {
        let flow = self.flow(vfid);
        if flow.packets > 0 {
            flow.queue
        } else if self.first_packets && !self.is_paused(vfid) {
            narrow(FIRST)
        } else {
            self.chosen()
        }
    }

    /// N: queues of flows that hold packets and are not held back, including that of a packet that is to be
    /// enqueued.
    pub(super) fn active_with(&self, vfid: u32, queue: usize) -> u32 {
        let mut active = self.filled & !self.held & !1;
        if self.filled >> queue & 1 == 0 && !self.is_paused(vfid) {
            active |= 1 << queue & !1;
        }
        active.count_ones()
    }

    /// A packet is enqueued.
    pub(super) fn join(&mut self, rng: &mut Rng, queue: usize, vfid: u32, counts: bool) {
        if self.table.is_empty() {
            self.table = vec![Flow::default(); self.flows as usize];
        }
        if self.flow(vfid).packets == 0 {
            let own = if queue == FIRST { usize::from(self.chosen()) } else { queue };
            self.begin(rng, vfid, own);
        }
        self.table[vfid as usize].packets += 1;
        self.lists[queue].packets.push_back(Waiting { vfid, counts });
        self.filled |= 1 << queue;
        self.look_at_head(queue);
    }

    /// A flow has its first packet here.
    #[expect(clippy::cast_possible_truncation, reason = "a class has at most 63 queues for flows")]
    fn begin(&mut self, rng: &mut Rng, vfid: u32, queue: usize) {
        if self.free == 0 {
            let queues = self.lists.len() as u64 - 1;
            self.drawn = 1 + (rng.next_u64() % queues) as u8;
        }
        self.table[vfid as usize].queue = queue as u8;
        self.lists[queue].flows += 1;
        self.free &= !(1 << queue);
    }

    /// Removes the first packet of a queue, if there is one, which takes `wire` bytes on the link.
    pub(super) fn leave(&mut self, queue: usize, wire: Bytes) -> Option<Waiting> {
        let packets = &mut self.lists.get_mut(queue)?.packets;
        let left = packets.pop_front()?;
        let ends = packets.is_empty();
        if ends {
            self.filled &= !(1 << queue);
        }
        if queue != FIRST {
            self.turns.sent(queue, wire, ends);
        }
        self.look_at_head(queue);
        let flow = &mut self.table[left.vfid as usize];
        flow.packets -= 1;
        if flow.packets == 0 {
            let own = usize::from(flow.queue);
            self.lists[own].flows -= 1;
            if self.lists[own].flows == 0 {
                self.free |= 1 << own;
            }
        }
        Some(left)
    }

    /// The first queue whose first packet is of this flow.
    pub(super) fn headed_by(&self, vfid: u32) -> Option<usize> {
        self.lists.iter().position(|queue| queue.packets.front().is_some_and(|first| first.vfid == vfid))
    }

    /// Replaces the set of paused flows by `filter`.
    pub(super) fn obey(&mut self, filter: &FlowFilter) {
        self.filter = *filter;
        for queue in 0..self.lists.len() {
            self.look_at_head(queue);
        }
    }

    /// Whether the downstream has paused a flow.
    pub(super) fn is_paused(&self, vfid: u32) -> bool {
        !self.filter.is_empty() && self.hashes.holds(&self.filter, vfid)
    }

    /// Whether a queue is held back by its first packet. The queue of first packets never is.
    pub(super) fn is_held(&self, queue: usize) -> bool {
        queue < 64 && self.held >> queue & 1 != 0
    }

    fn look_at_head(&mut self, queue: usize) {
        let head = self.lists[queue].packets.front();
        let held = queue != FIRST && head.is_some_and(|first| self.is_paused(first.vfid));
        self.held = self.held & !(1 << queue) | u64::from(held) << queue;
    }

    /// The queue that is served next. While first packets wait, whatever blocks them blocks the class.
    #[expect(clippy::cast_possible_truncation, reason = "a class has at most 63 queues for flows")]
    pub(super) fn next(&self, now: Time, ready: &[ReadyView]) -> Option<u8> {
        let first = ready.first()?;
        if usize::from(first.queue.sub) == FIRST {
            return first.gate.is_open(now).then_some(narrow(FIRST));
        }
        let open = ready.iter().filter(|view| view.gate.is_open(now) && view.queue.sub < 64);
        let open = open.fold(0u64, |open, view| open | 1 << view.queue.sub);
        let head = |queue: usize| {
            let view = ready.iter().find(|view| usize::from(view.queue.sub) == queue);
            view.map_or(Bytes::ZERO, |view| view.head)
        };
        self.turns.next(open, head).map(|queue| queue as u8)
    }
}

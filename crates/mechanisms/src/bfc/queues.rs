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

#[cfg(test)]
mod tests {
    use floodway_units::stream;

    use super::super::filter::Counting;
    use super::*;
    use crate::slots::Gate;
    use crate::testing::{ready, us};

    const HASHES: u8 = 4;
    const FRAME: Bytes = Bytes(1_500);

    /// The queues of a class, and the random stream of their port.
    struct Bench {
        queues: Queues,
        rng: Rng,
    }

    impl Bench {
        fn new(params: Params) -> Self {
            let hashes = Hashes::new(HASHES, 128);
            Bench { queues: Queues::new(&params, hashes, Class::DATA, FRAME), rng: stream(1, 1, "test") }
        }

        /// With this many queues of flows, where first packets wait like others.
        fn plain(queues: u8) -> Self {
            Bench::new(Params { queues, first_packets: false, ..Params::default() })
        }

        /// A packet of a flow comes in: returns its queue.
        fn join(&mut self, vfid: u32) -> usize {
            let queue = usize::from(self.queues.place(vfid));
            self.queues.join(&mut self.rng, queue, vfid, false);
            queue
        }

        fn join_each(&mut self, flows: impl IntoIterator<Item = u32>) {
            for flow in flows {
                self.join(flow);
            }
        }

        fn leave(&mut self, queue: usize) -> u32 {
            self.queues.leave(queue, FRAME).expect("a packet waits").vfid
        }

        fn pause(&mut self, flows: impl IntoIterator<Item = u32>) {
            let mut counting = Counting::new(Hashes::new(HASHES, 128), Class::DATA);
            flows.into_iter().for_each(|flow| counting.count(flow.into(), 1));
            self.queues.obey(&counting.sent());
        }
    }

    /// Sixty-three queues of flows and that of first packets fill a word of 64 bits.
    #[test]
    fn each_flow_has_a_queue_of_its_own_until_all_are_taken() {
        for count in [1, 2, 31, 32, 62, 63] {
            let mut bench = Bench::plain(count);
            for flow in 1..=u32::from(count) {
                assert_eq!(bench.join(flow), flow as usize, "of {count}");
            }
            assert_eq!(bench.queues.free, 0);
            let shared = bench.join(1_000);
            assert!((1..=usize::from(count)).contains(&shared), "{shared} of {count}");
            // What leaves gives its queue back, but not while another flow has packets there.
            assert_eq!(bench.leave(shared), shared as u32);
            assert_eq!(bench.queues.free, 0);
            assert_eq!(bench.leave(shared), 1_000);
            assert_eq!(bench.queues.free, 1 << shared);
            assert_eq!(bench.join(2_000), shared);
        }
    }

    #[test]
    fn a_flow_stays_in_its_queue_until_its_last_packet_has_left() {
        let mut bench = Bench::plain(3);
        assert_eq!([7, 8, 7].map(|flow| bench.join(flow)), [1, 2, 1]);
        assert_eq!(bench.leave(1), 7);
        assert_eq!((bench.queues.free, bench.join(7)), (0b1000, 1));
        assert_eq!([bench.leave(1), bench.leave(1)], [7, 7]);
        assert_eq!(bench.queues.free, 0b1010);
        assert_eq!([9, 10].map(|flow| bench.join(flow)), [1, 3]);
        assert!(bench.queues.leave(4, FRAME).is_none(), "there is no such queue");
    }

    #[test]
    fn a_first_packet_reserves_the_queue_of_those_that_follow() {
        let mut bench = Bench::new(Params { queues: 63, ..Params::default() });
        for flow in 1..=63 {
            assert_eq!([bench.join(flow), bench.join(flow)], [FIRST, flow as usize]);
        }
        // The sixty-fourth has a first packet, too, and then shares.
        assert_eq!(bench.join(64), FIRST);
        let shared = bench.join(64);
        assert!((1..64).contains(&shared));
        assert_eq!((1..=64).map(|_| bench.leave(FIRST)).collect::<Vec<_>>(), (1..=64).collect::<Vec<_>>());
        assert!(bench.queues.leave(FIRST, FRAME).is_none());
        assert_eq!(bench.leave(shared), shared as u32);
        assert_eq!(bench.queues.free, 0, "the other flow has a packet there");
    }

    #[test]
    fn flows_that_share_are_spread_evenly() {
        let mut bench = Bench::plain(63);
        bench.join_each(1..=63);
        let mut drawn = [0u32; 64];
        for flow in 64..64 + 12_600 {
            drawn[bench.join(flow)] += 1;
        }
        // 200 of each, with a standard deviation of 14.
        assert!(drawn[0] == 0 && drawn[1..].iter().all(|n| (130..270).contains(n)), "{drawn:?}");
    }

    #[test]
    fn a_queue_is_held_while_its_first_packet_is_of_a_paused_flow() {
        let mut bench = Bench::plain(63);
        bench.join_each((1..=63).chain([63, 64]));
        bench.pause([1, 63]);
        assert_eq!((0..=255).filter(|queue| bench.queues.is_held(*queue)).collect::<Vec<_>>(), [1, 63]);
        // Its second packet is of the same flow, and then it is empty.
        for held in [true, false] {
            assert_eq!(bench.leave(63), 63);
            assert_eq!(bench.queues.is_held(63), held);
        }
        bench.pause([]);
        assert!((0..=255).all(|queue| !bench.queues.is_held(queue)));
        // What waits ahead of all others is not held.
        let mut bench = Bench::new(Params::default());
        bench.join(1);
        bench.pause([1]);
        assert!(!bench.queues.is_held(FIRST));
    }

    #[test]
    fn active_queues_hold_packets_and_are_not_held() {
        let mut bench = Bench::new(Params::default());
        assert_eq!(bench.queues.active_with(1, FIRST), 0, "first packets are not included");
        assert_eq!(bench.queues.active_with(1, 1), 1, "that of the packet is");
        bench.join_each([1, 1, 1, 2, 2, 3]);
        // Flow 3 has its first packet alone.
        assert_eq!((bench.queues.active_with(1, 1), bench.queues.active_with(2, 2)), (2, 2));
        assert_eq!((bench.queues.active_with(3, 3), bench.queues.active_with(4, FIRST)), (3, 2));
        bench.pause([2, 3]);
        assert_eq!((bench.queues.active_with(1, 1), bench.queues.active_with(2, 2)), (1, 1));
        assert_eq!(bench.queues.active_with(3, 3), 1, "its queue would be held");
        bench.leave(1);
        assert_eq!(bench.queues.active_with(4, 4), 2);
        bench.leave(1);
        assert_eq!(bench.queues.active_with(4, 4), 1);
    }

    #[test]
    fn every_vfid_has_an_entry_and_the_first_queue_with_its_packet_ahead_is_found() {
        let mut bench = Bench::plain(3);
        let last = Params::default().flows - 1;
        assert_eq!([0, last, 0].map(|flow| bench.join(flow)), [1, 2, 1]);
        let heads = [0, last, 5].map(|flow| bench.queues.headed_by(flow));
        assert_eq!(heads, [Some(1), Some(2), None]);
    }

    #[test]
    fn a_queue_goes_on_while_its_quantum_covers_the_head() {
        let mut bench = Bench::plain(63);
        bench.join_each(1..=63);
        bench.join(1);
        // 500 of 1500 bytes are used.
        bench.queues.leave(1, Bytes(500)).expect("a packet waits");
        let view = |sub, head| ready(Class::DATA.0, sub, head, Gate::Open);
        let next = |ready: &[ReadyView]| bench.queues.next(us(1), ready);
        assert_eq!(next(&[view(1, 1_000), view(2, 1_500)]), Some(1));
        assert_eq!(next(&[view(1, 1_001), view(2, 100)]), Some(2));
        assert_eq!(next(&[view(1, 1_001), view(63, 100)]), Some(63));
        // Not a queue that is none of this class, nor one that may not send.
        assert_eq!(next(&[view(64, 100)]), None);
        let closed = |sub| ready(Class::DATA.0, sub, 100, Gate::Closed);
        assert_eq!(next(&[closed(1), view(2, 100)]), Some(2));
        assert_eq!(next(&[]), None);
        // First packets go before them, and whatever closes their gate closes it for all.
        assert_eq!(next(&[view(0, 100), view(1, 100)]), Some(0));
        assert_eq!(next(&[closed(0), view(1, 100)]), None);
    }
}

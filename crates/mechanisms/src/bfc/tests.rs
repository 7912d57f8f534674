use std::collections::VecDeque;

use floodway_units::{FlowId, Rate};

use super::turns::Turns;
use super::*;
use crate::testing::{Bench, packet, port, us};

/// The paper's links: 100 Gbit/s, 2 us, packets of 1 KB.
fn paper_port(id: u32) -> PortInfo {
    let (delay, delay_in) = (Span::us(2), Span::us(2));
    PortInfo { port: PortId(id), delay, delay_in, mtu: Bytes(1_000), wire: Bytes(1_000), ..port(100) }
}

/// With HRTT of two delays alone, as the paper counts it.
fn paper() -> Params {
    Params { hop_rtt: Some(Span::us(4)), ..Params::default() }
}

const INGRESS: PortId = PortId(7);

/// An egress port of the paper, and the messages that it sends.
struct Port {
    cp: Cp,
    bench: Bench<CpAction>,
    /// Bytes of each queue.
    lens: Vec<u64>,
    waiting: Vec<VecDeque<PacketView>>,
}

impl Port {
    fn new(params: Params) -> Self {
        let mut cp = params.build(&paper_port(1)).expect("the parameters are valid");
        cp.on_ports(&[1, 7, 8].map(paper_port));
        let queues = usize::from(params.queues) + 1;
        Port { cp, bench: Bench::new(), lens: vec![0; queues], waiting: vec![VecDeque::new(); queues] }
    }

    fn view(&self, sub: u8) -> QueueView {
        let len = Bytes(self.lens[usize::from(sub)]);
        QueueView { sub, len, ..QueueView::example() }
    }

    /// A packet of 1 KB of a flow arrives at `ingress`: returns its queue and the messages sent.
    fn comes_by(&mut self, ingress: PortId, now: Time, flow: u64) -> (u8, Vec<CpAction>) {
        let p = PacketView { flow_hash: flow, flow: FlowId(0), ingress, ..packet(1_000) };
        let sub = self.cp.classify(now, &p);
        self.lens[usize::from(sub)] += 1_000;
        self.waiting[usize::from(sub)].push_back(p);
        let view = self.view(sub);
        let cp = &mut self.cp;
        let said = self.bench.sent(now, |cx| {
            cp.on_enqueue(cx, &p, &view);
        });
        (sub, said)
    }

    fn comes(&mut self, now: Time, flow: u64) -> (u8, Vec<CpAction>) {
        self.comes_by(INGRESS, now, flow)
    }

    /// The first packet of a queue leaves: returns the messages sent.
    fn leaves(&mut self, now: Time, sub: u8) -> Vec<CpAction> {
        let p = self.waiting[usize::from(sub)].pop_front().expect("a packet waits");
        self.lens[usize::from(sub)] -= 1_000;
        let view = self.view(sub);
        let cp = &mut self.cp;
        self.bench.sent(now, |cx| {
            cp.on_dequeue(cx, &p, &view);
        })
    }

    /// The queue that is served next, if any may be.
    fn next(&mut self, now: Time) -> Option<u8> {
        let ready: Vec<ReadyView> = (0..self.lens.len() as u8)
            .filter(|sub| self.lens[usize::from(*sub)] > 0)
            .map(|sub| {
                let queue = QueueId { class: Class::DATA, sub };
                let (len, head) = (Bytes(self.lens[usize::from(sub)]), Bytes(1_000));
                ReadyView { queue, len, head, gate: self.cp.gate(now, queue) }
            })
            .collect();
        if let Turn::Queue(sub) = self.cp.serve(now, &ready) { Some(sub) } else { None }
    }

    /// A filter of flows arrives from the downstream.
    fn receives(&mut self, now: Time, flows: &[u64]) {
        let mut counting = Counting::new(Hashes::new(4, 128), Class::DATA);
        for flow in flows {
            counting.count(*flow, 1);
        }
        let filter = counting.sent();
        let cp = &mut self.cp;
        self.bench.sent(now, |cx| cp.on_event(cx, PortEvent::Filter(&filter)));
    }
}

fn pauses(flow: u32, number: i64) -> CpAction {
    pause_message(INGRESS, Class::DATA, flow, number)
}

#[test]
fn the_threshold_is_six_microseconds_of_the_port_shared_by_active_queues() {
    // (4 us + 2 us) · 100 Gbit/s = 75 KB.
    let port = Port::new(paper());
    let threshold = |active| port.cp.threshold(INGRESS, active).0;
    assert_eq!([0, 1, 2, 3, 32].map(threshold), [75_000, 75_000, 37_500, 25_000, 2_343]);
}

#[test]
fn a_hop_is_both_delays_the_largest_frame_and_the_filter() {
    // 4 us, 80 ns of 1000 bytes, and 17 ns of 84 + 128 bytes.
    let hop = Params::default().hop(&paper_port(1));
    assert_eq!(hop, Hop { rtt: Span(4_000_000 + 80_000 + 16_960), interval: Span(2_048_480) });
    // Into a port of 100 Gbit/s what comes by 25 takes four times as long, and so does the way back.
    let (rate, rate_in) = (Rate::gbps(25), Rate::gbps(25));
    let slow = Params::default().hop(&PortInfo { rate, rate_in, ..paper_port(1) });
    assert_eq!(slow.rtt, Span(4_000_000 + 4 * (80_000 + 16_960)));
    assert_eq!(paper().hop(&paper_port(1)), Hop { rtt: Span::us(4), interval: Span::us(2) });
}

#[test]
fn a_flow_is_in_four_of_1024_bits_and_leaves_them_as_it_came() {
    let hashes = Hashes::new(4, 128);
    let mut counting = Counting::new(hashes, Class::DATA);
    counting.count(77, 1);
    counting.count(4_711, 1);
    let both = counting.sent();
    assert!((5..=8).contains(&both.bits.iter().map(|word| word.count_ones()).sum::<u32>()));
    assert!(hashes.holds(&both, 77) && hashes.holds(&both, 4_711) && counting.is_due());
    counting.count(77, -1);
    let one = counting.sent();
    assert!(!hashes.holds(&one, 77) && hashes.holds(&one, 4_711));
    counting.count(4_711, -1);
    assert!(counting.is_due(), "the upstream has to hear that it is empty");
    assert!(counting.sent().is_empty() && !counting.is_due());
    // A hundred paused flows fill a third of it: of the other flows 1 in 90 is taken for one of them.
    (0..100).for_each(|flow| counting.count(flow, 1));
    let filter = counting.sent();
    assert!((0..100).all(|flow| hashes.holds(&filter, flow)));
    let wrong = (100..16_384).filter(|flow| hashes.holds(&filter, *flow)).count();
    // (1 - (1 - 1/1024)^400)^4 = 1.1 %.
    assert!((100..300).contains(&wrong), "{wrong}");
}

#[test]
fn a_first_packet_goes_ahead_and_the_others_into_a_queue_of_their_flow() {
    let mut port = Port::new(paper());
    let subs: Vec<u8> = [5, 5, 6, 5, 6].map(|flow| port.comes(us(1), flow).0).to_vec();
    assert_eq!(subs, [0, 1, 0, 1, 2]);
    assert_eq!(port.next(us(1)), Some(0));
    port.leaves(us(1), 0);
    // Flow 5 has packets still, and so has no first packet; its queue goes on.
    assert_eq!(port.comes(us(1), 5).0, 1);
    // Once all have left it has.
    (0..3).for_each(|_| drop(port.leaves(us(2), 1)));
    assert_eq!(port.comes(us(2), 5).0, 0);
    let mut plain = Port::new(Params { first_packets: false, ..paper() });
    assert_eq!([5, 5, 6].map(|flow| plain.comes(us(1), flow).0), [1, 1, 2]);
}

#[test]
fn flows_share_a_queue_only_when_all_are_taken() {
    let mut port = Port::new(Params { queues: 4, first_packets: false, ..paper() });
    let mut subs: Vec<u8> = (0..4).map(|flow| port.comes(us(1), flow).0).collect();
    subs.sort_unstable();
    assert_eq!(subs, [1, 2, 3, 4]);
    // Thirty-two more find none: they are spread over all four.
    let drawn: Vec<u8> = (4..36).map(|flow| port.comes(us(1), flow).0).collect();
    assert!((1..=4).all(|sub| drawn.contains(&sub)) && drawn.iter().all(|sub| (1..=4).contains(sub)));
    // A flow without packets gives its queue back.
    let mut one = Port::new(Params { queues: 4, first_packets: false, ..paper() });
    (0..3).for_each(|flow| drop(one.comes(us(1), flow)));
    one.leaves(us(2), 2);
    assert_eq!((one.comes(us(2), 9).0, one.comes(us(2), 10).0), (2, 4));
}

#[test]
fn queues_take_turns_by_their_bytes() {
    let mut turns = Turns::new(4, Bytes(1_500));
    let heads = [0, 1_500, 500, 1_500];
    let mut sent = [0u64; 4];
    for _ in 0..300 {
        let next = turns.next(0b1110, |queue| Bytes(heads[queue])).expect("they are open");
        turns.sent(next, Bytes(heads[next]), false);
        sent[next] += heads[next];
    }
    let (most, least) = (sent[1..].iter().max().expect("three"), sent[1..].iter().min().expect("three"));
    assert!(most - least <= 1_500, "{sent:?}");
    // One that is held back is passed over, and none is next where all are.
    assert_eq!(turns.next(0, |_| Bytes(1)), None);
    assert_eq!(turns.next(0b0100, |_| Bytes(500)), Some(2));
}

#[test]
fn a_flow_is_paused_with_the_first_packet_above_the_threshold_and_resumed_with_the_last() {
    let mut port = Port::new(paper());
    // The first goes ahead; 75 fill the queue up to Th.
    assert!((0..76).all(|_| port.comes(us(1), 5).1.is_empty()));
    assert_eq!(port.comes(us(1), 5).1, [pauses(5, 1)]);
    assert!(port.comes(us(1), 5).1.is_empty(), "it is paused already");
    port.leaves(us(2), 0);
    // 75 that do not count, and the first that does.
    assert!((0..76).all(|_| port.leaves(us(3), 1).is_empty()));
    assert_eq!(port.leaves(us(3), 1), [pauses(5, -1)]);
}

#[test]
fn two_active_queues_have_half_the_threshold() {
    let mut port = Port::new(paper());
    (0..2).for_each(|_| drop(port.comes(us(1), 6)));
    // The first goes ahead; 37 lie below 37,500 bytes.
    assert!((0..38).all(|_| port.comes(us(1), 5).1.is_empty()));
    assert_eq!(port.comes(us(1), 5).1, [pauses(5, 1)]);
    // A queue that the downstream holds back is not active.
    let mut other = Port::new(paper());
    (0..2).for_each(|_| drop(other.comes(us(1), 6)));
    other.receives(us(1), &[6]);
    assert!((0..76).all(|_| other.comes(us(1), 5).1.is_empty()));
    assert_eq!(other.comes(us(1), 5).1, [pauses(5, 1)]);
}

#[test]
fn two_flows_of_a_queue_are_resumed_in_a_round_trip_of_the_hop() {
    let mut port = Port::new(Params { queues: 1, first_packets: false, ..paper() });
    (0..75).for_each(|_| drop(port.comes(us(1), 0)));
    // Five more flows, each with a packet above the threshold.
    for flow in 1..6 {
        assert_eq!(port.comes(us(1), flow).1, [pauses(flow as u32, 1)]);
    }
    (0..75).for_each(|_| assert!(port.leaves(us(5), 1).is_empty()));
    let said: Vec<usize> = (0..5).map(|_| port.leaves(us(5), 1).len()).collect();
    assert_eq!(said, [1, 1, 0, 0, 0]);
    // The next two at 8 us, the last at 12 us.
    for (at, resumed) in [(8, vec![3, 4]), (12, vec![5])] {
        assert_eq!(port.cp.next_timeout(), Some(us(at)));
        let cp = &mut port.cp;
        let said = port.bench.sent(us(at), |cx| cp.on_timeout(cx));
        assert_eq!(said, resumed.into_iter().map(|flow| pauses(flow, -1)).collect::<Vec<_>>());
    }
    assert_eq!(port.cp.next_timeout(), None);
}

#[test]
fn a_flow_that_is_paused_again_while_it_waits_in_the_list_stays_paused() {
    let mut port = Port::new(Params { queues: 1, first_packets: false, resumes: 1, ..paper() });
    (0..75).for_each(|_| drop(port.comes(us(1), 0)));
    (1..3).for_each(|flow| drop(port.comes(us(1), flow)));
    (0..76).for_each(|_| drop(port.leaves(us(5), 1)));
    // Flow 1 was resumed, flow 2 has to wait; meanwhile it counts again.
    assert!(port.leaves(us(5), 1).is_empty());
    (0..75).for_each(|_| drop(port.comes(us(6), 0)));
    assert!(port.comes(us(6), 2).1.is_empty(), "it is paused still");
    let cp = &mut port.cp;
    assert!(port.bench.sent(us(8), |cx| cp.on_timeout(cx)).is_empty());
    (0..75).for_each(|_| drop(port.leaves(us(9), 1)));
    assert_eq!(port.leaves(us(9), 1), [pauses(2, -1)]);
}

#[test]
fn an_ingress_sends_its_filter_each_interval_while_a_flow_is_paused_and_once_more() {
    let mut port = Port::new(paper());
    let tell = |port: &mut Port, now, number| {
        let message = PortMessage { class: Class::DATA, flow: 5, number };
        let cp = &mut port.cp;
        assert!(port.bench.event(now, cp, PortEvent::Message(&message)).is_empty());
    };
    tell(&mut port, us(5), 1);
    let mut sent = Vec::new();
    let mut limit = floodway_units::Turns::at_most(100);
    while limit.go()
        && let Some(at) = port.cp.next_timeout()
    {
        let cp = &mut port.cp;
        for action in port.bench.sent(at, |cx| cp.on_timeout(cx)) {
            let CpAction::FilterUpstream(PortId(1), filter) = action else { panic!("{action:?}") };
            assert_eq!(u64::from(filter.bytes), 128);
            sent.push((at, filter.is_empty()));
        }
        if at == us(10) {
            tell(&mut port, at, -1);
        }
    }
    assert_eq!(sent, [(us(6), false), (us(8), false), (us(10), false), (us(12), true)]);
}

#[test]
fn a_queue_stops_while_its_first_packet_is_of_a_paused_flow() {
    let mut port = Port::new(Params { queues: 1, first_packets: false, ..paper() });
    for flow in [5, 6, 6] {
        port.comes(us(1), flow);
    }
    port.receives(us(2), &[6]);
    // Flow 5 is ahead in the same queue.
    assert_eq!(port.next(us(2)), Some(1));
    port.leaves(us(2), 1);
    assert_eq!(port.next(us(2)), None);
    assert!(port.cp.holds(us(2), Class::DATA, 6) && !port.cp.holds(us(2), Class::DATA, 5));
    port.receives(us(4), &[]);
    assert_eq!(port.next(us(4)), Some(1));
    assert!(!port.cp.holds(us(4), Class::DATA, 6));
}

#[test]
fn another_queue_goes_on_and_a_paused_flow_has_no_first_packet() {
    let mut port = Port::new(paper());
    for flow in [5, 5, 6, 6] {
        port.comes(us(1), flow);
    }
    (0..2).for_each(|_| drop(port.leaves(us(1), 0)));
    port.receives(us(2), &[5, 7]);
    assert_eq!(port.next(us(2)), Some(2));
    assert_eq!(port.comes(us(2), 7).0, 3, "not ahead of the others");
    assert_eq!(port.next(us(2)), Some(2));
    port.leaves(us(2), 2);
    assert_eq!(port.next(us(2)), None, "all that is left is paused");
    // What waits ahead is not held back by a pause that comes later.
    assert_eq!(port.comes(us(2), 8).0, 0);
    port.receives(us(2), &[5, 7, 8]);
    assert_eq!(port.next(us(2)), Some(0));
}

#[test]
fn a_filter_that_is_not_repeated_is_void_after_eight_intervals() {
    let mut port = Port::new(paper());
    port.receives(us(3), &[5]);
    port.receives(us(5), &[5]);
    assert_eq!(port.cp.next_timeout(), Some(us(5 + 8 * 2)));
    let cp = &mut port.cp;
    port.bench.sent(us(21), |cx| cp.on_timeout(cx));
    assert!(!port.cp.holds(us(21), Class::DATA, 5) && port.cp.next_timeout().is_none());
}

#[test]
fn packets_that_are_removed_count_no_longer() {
    let mut port = Port::new(paper());
    (0..77).for_each(|_| drop(port.comes(us(1), 5)));
    let mut said = Vec::new();
    let waiting: Vec<PacketView> = port.waiting.iter().flatten().copied().collect();
    for p in &waiting {
        let cp = &mut port.cp;
        said.extend(port.bench.event(us(2), cp, PortEvent::Removed(p)));
    }
    assert_eq!(said, [pauses(5, -1)]);
    // The table is empty: the next packet is a first one.
    assert_eq!(port.comes(us(3), 5).0, 0);
}

#[test]
fn flows_of_one_vfid_that_come_by_two_ports_are_paused_one_by_one() {
    let mut port = Port::new(Params { first_packets: false, ..paper() });
    (0..75).for_each(|_| drop(port.comes(us(1), 5)));
    assert_eq!(port.comes(us(1), 5).1, [pauses(5, 1)]);
    let other = PortId(8);
    assert_eq!(port.comes_by(other, us(1), 5 + 16_384).1, [pause_message(other, Class::DATA, 5, 1)]);
    (0..75).for_each(|_| drop(port.leaves(us(2), 1)));
    assert_eq!(port.leaves(us(2), 1), [pauses(5, -1)]);
    assert_eq!(port.leaves(us(2), 1), [pause_message(other, Class::DATA, 5, -1)]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |params: Params| params.build(&port(100)).expect_err("it is refused").key;
    let default = Params::default();
    for queues in [0, 64] {
        assert_eq!(refused(Params { queues, ..default }), "queues");
    }
    for flows in [0, 65_537] {
        assert_eq!(refused(Params { flows, ..default }), "flows");
    }
    for filter in [0, 129] {
        assert_eq!(refused(Params { filter: Bytes(filter), ..default }), "filter");
    }
    assert_eq!(refused(Params { hashes: 9, ..default }), "hashes");
    assert_eq!(refused(Params { resumes: 0, ..default }), "resumes");
    assert_eq!(refused(Params { hop_rtt: Some(Span::ZERO), ..default }), "hop-rtt");
    assert_eq!(refused(Params { interval: Some(Span::ZERO), ..default }), "interval");
    // 84 and 128 bytes at 100 Gbit/s.
    assert_eq!(refused(Params { interval: Some(Span(16_960)), ..default }), "interval");
    assert!(Params { interval: Some(Span(16_961)), ..default }.build(&port(100)).is_ok());
    let error = Params { queues: 64, ..default }.build(&port(100)).expect_err("it is refused");
    assert_eq!(error.message, "64 is not allowed; the range is 1 to 63");
}

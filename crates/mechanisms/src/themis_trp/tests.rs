use floodway_units::{Class, FlowId, PortId, Turns};

use super::*;
use crate::slots::Cnp;
use crate::testing::{Bench, egress, packet, port, us};

fn built(json: &str) -> Cp {
    let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
    params.build(&port(400)).expect("the parameters are valid")
}

/// A machine, and what happens at its port. Flow n has the hash n.
struct Port {
    cp: Cp,
    bench: Bench<CpAction>,
    /// Packets that wait, by queue.
    waiting: BTreeMap<u8, Vec<u64>>,
}

impl Port {
    fn new(json: &str) -> Self {
        Port { cp: built(json), bench: Bench::new(), waiting: BTreeMap::new() }
    }

    /// Timers that run out before `now`.
    fn wait(&mut self, now: Time) {
        let mut turns = Turns::at_most(100_000);
        while turns.go()
            && let Some(at) = self.cp.next_timeout().filter(|&at| at <= now)
        {
            assert_eq!(self.bench.sent(at, |cx| self.cp.on_timeout(cx)), []);
        }
    }

    fn cnp(&mut self, now: Time, flow: u64) {
        self.wait(now);
        let cnp = Cnp::of(FlowId(0), Mark::Ce);
        let event = PortEvent::CnpPasses {
            cnp: &cnp,
            flow_hash: flow,
            source: 1,
            destination: 2,
            ingress: PortId(9),
        };
        assert_eq!(self.bench.event(now, &mut self.cp, event), []);
    }

    fn view(flow: u64) -> PacketView {
        PacketView { flow_hash: flow, ..packet(1_000) }
    }

    fn queue(sub: u8) -> QueueView {
        QueueView { sub, ..egress(1_000) }
    }

    /// A packet comes: the queue that it joins.
    fn comes(&mut self, now: Time, flow: u64) -> u8 {
        self.wait(now);
        let view = Port::view(flow);
        let still = self.waiting.iter().find(|(_, flows)| flows.contains(&flow)).map(|(&sub, _)| sub);
        let sub = still.unwrap_or_else(|| self.cp.classify(now, &view));
        self.waiting.entry(sub).or_default().push(flow);
        self.bench.sent(now, |cx| {
            assert_eq!(self.cp.on_enqueue(cx, &view, &Port::queue(sub)), Mark::None);
        });
        sub
    }

    /// The first packet of a queue leaves as soon as it may: when.
    fn leaves(&mut self, mut now: Time, sub: u8) -> Time {
        let mut turns = Turns::at_most(10_000);
        while turns.go() {
            self.wait(now);
            match self.cp.gate(now, QueueId { class: Class::DATA, sub }) {
                Gate::Open => break,
                Gate::Until(at) => {
                    assert!(at > now);
                    // What happens at the port until then may open it earlier.
                    now = self.cp.next_timeout().map_or(at, |next| next.min(at));
                }
                Gate::Closed => panic!("a loop ends"),
            }
        }
        let flow = self.waiting.get_mut(&sub).expect("something waits").remove(0);
        let view = Port::view(flow);
        self.bench.sent(now, |cx| {
            assert_eq!(self.cp.on_dequeue(cx, &view, &Port::queue(sub)), Mark::None);
        });
        now
    }
}

fn ns(n: u64) -> Time {
    Time::ZERO + Span::ns(n)
}

#[test]
fn passes_grow_by_one_a_cnp_and_then_by_one_in_20() {
    let published = Params::default();
    let of = |cnps| published.passes(cnps);
    assert_eq!([1, 2, 10, 11, 12, 20].map(of), [1, 2, 10, 11, 11, 11]);
    assert_eq!([21, 40, 41, 61].map(of), [12, 12, 13, 14]);
    assert_eq!([7_800, 7_801, 100_000].map(of), [400, 401, 401]);
}

#[test]
fn a_flow_of_which_no_cnp_came_does_not_wait() {
    let mut port = Port::new("{}");
    assert_eq!(port.comes(us(1), 7), 0);
    assert_eq!(port.leaves(us(1), 0), us(1));
    port.cnp(us(2), 8);
    assert_eq!(port.comes(us(3), 7), 0);
    assert_eq!(port.leaves(us(3), 0), us(3));
}

#[test]
fn a_packet_alone_takes_100_ns_a_pass() {
    let mut port = Port::new("{}");
    for cnps in 1..=3 {
        port.cnp(us(10 * cnps), 7);
        let now = us(10 * cnps + 1);
        let sub = port.comes(now, 7);
        assert!(sub > 0);
        assert_eq!(port.leaves(now, sub), now + Span::ns(100 * cnps));
    }
}

#[test]
fn cnps_within_5_ns_count_as_one() {
    let mut port = Port::new("{}");
    for at in [1_000, 1_004, 1_005, 1_009, 1_010] {
        port.cnp(ns(at), 7);
    }
    // Those at 1000, 1005 and 1010 ns.
    let sub = port.comes(us(2), 7);
    assert_eq!(port.leaves(us(2), sub), us(2) + Span::ns(300));
}

#[test]
fn a_full_loop_takes_as_long_as_its_rate_takes_for_all_that_is_in_it() {
    // At 400 Gbit/s 50,000 bytes take 1 us.
    let mut port = Port::new("{}");
    for n in 0..4 {
        port.cnp(us(n), 7);
    }
    let sub = (0..50).map(|_| port.comes(us(5), 7)).max().expect("there are some");
    // All have made their four passes after four rounds of 1 us.
    assert_eq!(port.leaves(us(5), sub), us(9));
    assert_eq!(port.leaves(us(9), sub), us(9));
}

#[test]
fn what_comes_meanwhile_makes_rounds_longer_and_what_leaves_shorter() {
    let mut port = Port::new("{}");
    port.cnp(us(1), 7);
    port.cnp(us(2), 7);
    port.cnp(us(3), 8);
    // 20,000 bytes: a round of 400 ns. Of its two rounds one half has passed when as much comes: then 800 ns
    // a round.
    let sub = (0..20).map(|_| port.comes(us(5), 7)).max().expect("there are some");
    let other = (0..20).map(|_| port.comes(us(5) + Span::ns(200), 8)).max().expect("there are some");
    assert_ne!(sub, other);
    // Flow 8 makes one round, until 1,000 ns; flow 7 has made one and a half, and the other half takes 200
    // ns.
    assert_eq!(port.leaves(us(5), other), us(6));
    assert_eq!(port.leaves(us(6), sub), us(6) + Span::ns(200));
}

#[test]
fn the_machine_asks_to_be_called_when_the_first_packet_has_made_its_passes() {
    let mut port = Port::new("{}");
    port.cnp(us(1), 7);
    // Until then its flow's recovery, 1 ms after the CNP, is what comes next.
    assert_eq!(port.cp.next_timeout(), Some(us(1_001)));
    port.comes(us(5), 7);
    assert_eq!(port.cp.next_timeout(), Some(us(5) + Span::ns(100)));
    port.wait(us(6));
    assert_eq!(port.cp.next_timeout(), Some(us(1_001)));
}

#[test]
fn a_loop_that_is_slower_than_the_port_takes_longer() {
    let mut port = Port::new(r#"{ "rate": "40G" }"#);
    port.cnp(us(1), 7);
    let sub = (0..50).map(|_| port.comes(us(5), 7)).max().expect("there are some");
    assert_eq!(port.leaves(us(5), sub), us(15));
}

#[test]
fn a_flow_recovers_1_ms_after_its_last_cnp() {
    let mut port = Port::new("{}");
    port.cnp(us(1), 7);
    port.cnp(us(400), 7);
    let last = us(400) + Span::ms(1);
    let before = Time(last.0 - 1);
    assert!(port.comes(before, 7) > 0);
    let sub = *port.waiting.iter().find(|(_, flows)| !flows.is_empty()).expect("one waits").0;
    // It leaves after the round at work.
    assert!(port.leaves(before, sub) <= last + Span::ns(100));
    assert_eq!(port.comes(last + Span::us(1), 7), 0);
    port.leaves(last + Span::us(1), 0);
    // The number of its CNPs is not forgotten.
    port.cnp(last + Span::us(2), 7);
    let now = last + Span::us(3);
    let sub = port.comes(now, 7);
    assert_eq!(port.leaves(now, sub), now + Span::ns(300));
}

#[test]
fn packets_of_a_flow_that_recovers_leave_after_the_round_at_work() {
    let mut port = Port::new(r#"{ "recovery": "10us" }"#);
    for n in 0..11 {
        port.cnp(us(n), 7);
    }
    // 500,000 bytes: eleven rounds of 10 us each, of which one is half over at the recovery, at 20 us.
    let sub = (0..500).map(|_| port.comes(us(15), 7)).max().expect("there are some");
    assert_eq!(port.leaves(us(15), sub), us(30));
    assert_eq!(port.leaves(us(30), sub), us(30));
}

#[test]
fn what_is_removed_is_in_the_loop_no_more() {
    let mut port = Port::new("{}");
    port.cnp(us(1), 7);
    let sub = (0..50).map(|_| port.comes(us(5), 7)).max().expect("there are some");
    for _ in 0..40 {
        let event = PortEvent::Removed(&Port::view(7));
        assert_eq!(port.bench.event(us(5), &mut port.cp, event), []);
        port.waiting.get_mut(&sub).expect("they wait").remove(0);
    }
    // 10,000 bytes at 400 Gbit/s.
    assert_eq!(port.leaves(us(5), sub), us(5) + Span::ns(200));
}

#[test]
fn other_cnps_and_replies_slow_no_flow() {
    let mut port = Port::new("{}");
    let cnp = Cnp::of(FlowId(0), Mark::Ue);
    let event =
        PortEvent::CnpPasses { cnp: &cnp, flow_hash: 7, source: 1, destination: 2, ingress: PortId(9) };
    port.bench.event(us(1), &mut port.cp, event);
    assert_eq!(port.comes(us(2), 7), 0);
    port.cnp(us(3), 8);
    let reply = PacketView { is_reply: true, ..Port::view(8) };
    assert_eq!(port.cp.classify(us(4), &reply), 0);
}

#[test]
fn as_many_flows_as_can_be_remembered_are_slowed_and_those_that_recovered_make_room() {
    let mut port = Port::new("{}");
    for flow in 0..=MOST_FLOWS as u64 {
        port.cnp(us(1), flow);
    }
    assert!(port.comes(us(2), 0) > 0);
    assert_eq!(port.comes(us(2), MOST_FLOWS as u64), 0);
    assert_eq!(port.leaves(us(2), 0), us(2));
    let later = us(2) + Span::ms(1);
    port.cnp(later, MOST_FLOWS as u64);
    assert!(port.comes(later + Span::us(1), MOST_FLOWS as u64) > 0);
    assert_eq!(port.cp.flows.len(), 1);
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let refused = |json: &str| {
        let params: Params = serde_json::from_str(json).expect("it is well formed");
        params.build(&port(400)).unwrap_err().key
    };
    assert_eq!(refused(r#"{ "recovery": "0us" }"#), "recovery");
    assert_eq!(refused(r#"{ "latency": "0us" }"#), "latency");
    assert_eq!(refused(r#"{ "rate": "0G" }"#), "rate");
    assert_eq!(refused(r#"{ "fast": 0 }"#), "fast");
    assert_eq!(refused(r#"{ "slow": 0 }"#), "slow");
    assert_eq!(refused(r#"{ "most": 0 }"#), "most");
    assert_eq!(refused(r#"{ "queues": 1 }"#), "queues");
    assert_eq!(built("{}").queueing(), Queueing::Flows { queues: 32, inputs: false });
}

/// How many of 1000 packets of 1000 bytes, which wait in the loop at once, leave it marked after so many
/// passes.
fn marked(json: &str, cnps: u64) -> usize {
    let mut port = Port::new(json);
    (0..cnps).for_each(|n| port.cnp(us(n), 7));
    let (now, mut marks) = (us(100), 0);
    let sub = (0..1_000).map(|_| port.comes(now, 7)).max().expect("there are some");
    let mut at = now;
    let mut turns = Turns::at_most(100_000);
    while turns.go() {
        port.wait(at);
        match port.cp.gate(at, QueueId { class: Class::DATA, sub }) {
            Gate::Until(next) => at = port.cp.next_timeout().map_or(next, |timer| timer.min(next)),
            _ => break,
        }
    }
    let data = PacketView { ecn_capable: true, ..Port::view(7) };
    for _ in 0..1_000 {
        port.bench.sent(at, |cx| {
            marks += usize::from(port.cp.on_dequeue(cx, &data, &Port::queue(sub)) == Mark::Ce);
        });
    }
    marks
}

#[test]
fn each_pass_marks_with_reds_probability_for_all_that_is_in_the_loop() {
    // At 400 Gbit/s 8 us are 400 KB and 128 us 6.4 MB: of 1 MB a pass marks 0.2 · 600 / 6000 = 2 %, ten 18.3
    // %, 22 35.9 %.
    let within_five_deviations = |marks: usize, p: f64| {
        let deviation = (1_000.0 * p * (1.0 - p)).sqrt();
        assert!((marks as f64 - 1_000.0 * p).abs() < 5.0 * deviation, "{marks}, not {p} of 1000");
    };
    within_five_deviations(marked("{}", 1), 0.02);
    within_five_deviations(marked("{}", 10), 1.0 - 0.98f64.powi(10));
    within_five_deviations(marked(r#"{ "fast": 40 }"#, 21), 1.0 - 0.98f64.powi(22));
    assert_eq!(marked(r#"{ "kmin": "1MB" }"#, 10), 0);
    assert_eq!(marked(r#"{ "pmax": 0 }"#, 10), 0);
    assert_eq!(marked(r#"{ "kmin": "10KB", "kmax": "500KB" }"#, 1), 1_000);
}

#[test]
fn thresholds_out_of_order_are_refused() {
    let refused = |json: &str| {
        let params: Params = serde_json::from_str(json).expect("it is well formed");
        params.build(&port(400)).unwrap_err().key
    };
    assert_eq!(refused(r#"{ "kmin": "7MB" }"#), "kmin");
    assert_eq!(refused(r#"{ "pmax": 1.5 }"#), "pmax");
}

#[test]
fn by_pairs_of_hosts_a_flow_waits_for_the_cnps_of_another_one() {
    for (json, waits) in [(r#"{ "by": "hosts" }"#, true), ("{}", false)] {
        let mut port = Port::new(json);
        port.cnp(us(1), 8);
        assert_eq!(port.comes(us(2), 7) > 0, waits);
        let other_pair = PacketView { destination: 3, ..Port::view(9) };
        assert_eq!(port.cp.classify(us(3), &other_pair), 0);
    }
    let mut port = Port::new(r#"{ "by": "hosts" }"#);
    port.cnp(us(1), 8);
    port.cnp(us(2), 9);
    let sub = port.comes(us(3), 7);
    assert_eq!(port.leaves(us(3), sub), us(3) + Span::ns(200));
}

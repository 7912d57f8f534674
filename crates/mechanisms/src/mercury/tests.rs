//! A port of 40 Gbit/s, as the paper's small topologies have: 5,000 bytes a microsecond; threshold 160 KB.

use std::collections::BTreeMap;

use floodway_units::FlowId;
use proptest::prelude::*;

use super::*;
use crate::testing::{Bench, packet, port, us};

const KB: u64 = 1_000;

/// A congestion point with a queue of packets before it, driven as a switch drives it.
struct Port {
    cp: Cp,
    bench: Bench<CpAction>,
    /// Flow and frame of each packet that waits, in order.
    waiting: Vec<(u32, u64)>,
    paused: bool,
    /// No callback runs for packets within the bound.
    fast_path: bool,
}

impl Port {
    fn new(json: &str) -> Self {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        // The longest path is as long as that of the packets.
        let port = PortInfo { largest_rtt: QueueView::example().base_rtt, ..port(40) };
        let cp = params.build(&port).expect("the parameters are valid");
        Port { cp, bench: Bench::new(), waiting: Vec::new(), paused: false, fast_path: true }
    }

    fn len(&self) -> u64 {
        self.waiting.iter().map(|packet| packet.1).sum()
    }

    fn view(&self) -> QueueView {
        QueueView { rate: Rate::gbps(40), paused: self.paused, ..crate::testing::egress(self.len()) }
    }

    /// As the fabric does: reports what waits when the machine leaves the fast path.
    fn report_waiting(&mut self, beyond: bool) {
        if self.cp.fast_path().is_some() && beyond {
            for &(flow, frame) in &self.waiting {
                let waiting = PortEvent::Waiting(&of(flow, frame));
                self.bench.event(Time::ZERO, &mut self.cp, waiting);
            }
        }
    }

    fn joins(&mut self, at: Time, flow: u32, frame: u64) {
        let below_threshold = self.cp.fast_path().is_some_and(|path| self.len() + frame <= path.joining.0);
        if below_threshold && self.fast_path {
            self.waiting.push((flow, frame));
            return;
        }
        self.report_waiting(!below_threshold);
        self.waiting.push((flow, frame));
        let q = self.view();
        let sent = self.bench.sent(at, |cx| {
            assert_eq!(self.cp.on_enqueue(cx, &of(flow, frame), &q), Mark::None);
        });
        assert!(sent.is_empty());
    }

    /// The first packet leaves; the flow that gets a CNP, and its window.
    fn leaves(&mut self, at: Time) -> Option<(u32, u64)> {
        let before = self.len();
        let (flow, frame) = self.waiting.remove(0);
        if self.fast_path && self.cp.fast_path().is_some_and(|path| before <= path.leaving.0) {
            return None;
        }
        let q = self.view();
        let sent = self.bench.sent(at, |cx| {
            assert_eq!(self.cp.on_dequeue(cx, &of(flow, frame), &q), Mark::None);
        });
        sent.first().map(|action| match action {
            CpAction::ToSource(Cnp { flow, mark: Mark::Ce, window: Some(window), .. }) => (flow.0, window.0),
            other => panic!("{other:?}"),
        })
    }

    /// So many packets of 1000 bytes of a flow.
    fn fill(&mut self, at: Time, flow: u32, packets: u64) {
        (0..packets).for_each(|_| self.joins(at, flow, KB));
    }

    fn pause(&mut self, at: Time) {
        self.report_waiting(true);
        self.paused = true;
        let q = self.view();
        self.bench.event(at, &mut self.cp, PortEvent::Paused(&q));
    }

    fn resume(&mut self, at: Time) {
        self.paused = false;
        let q = self.view();
        self.bench.event(at, &mut self.cp, PortEvent::Resumed(&q));
    }

    fn state(&self) -> &'static str {
        self.cp.state(Time::ZERO, Class::DATA)
    }
}

/// A packet of a flow that has addresses of its own, with 24 bytes more on the wire.
fn of(flow: u32, frame: u64) -> PacketView {
    let wire = Bytes(frame + 24);
    PacketView {
        flow: FlowId(flow),
        flow_hash: u64::from(flow),
        source: flow,
        wire,
        ecn_capable: true,
        ..packet(frame)
    }
}

#[test]
fn a_queue_that_was_never_paused_is_determined_and_sends_cnps_beyond_the_threshold() {
    let mut port = Port::new("{}");
    assert_eq!(port.state(), "determined");
    port.fill(us(1), 7, 161);
    // What is left behind is 160 KB: not more than the threshold.
    assert_eq!(port.leaves(us(2)), None);
    port.fill(us(2), 7, 2);
    // 40 Gbit/s over 10 us, all of it flow 7's.
    assert_eq!(port.leaves(us(3)), Some((7, 50_000)));
    assert_eq!(port.state(), "determined");
}

#[test]
fn a_pause_makes_it_undetermined_and_then_no_cnp_is_sent() {
    let mut port = Port::new("{}");
    port.fill(us(1), 7, 200);
    port.pause(us(2));
    assert_eq!(port.state(), "undetermined");
    // 10 us at 40 Gbit/s are 50,000 bytes; 40 packets are 40,960 on the wire.
    port.fill(us(5), 8, 40);
    port.resume(us(12));
    assert_eq!(port.state(), "undetermined", "what came in drains as fast");
    assert_eq!(port.leaves(us(12)), None);
}

#[test]
fn with_detection_by_the_threshold_a_pause_changes_nothing() {
    let mut port = Port::new(r#"{ "detection": "threshold" }"#);
    port.fill(us(1), 7, 200);
    port.pause(us(2));
    assert_eq!(port.state(), "determined");
    port.fill(us(5), 8, 40);
    port.resume(us(12));
    // 50,000 bytes over 10 us, of which flow 7 has five sixths.
    assert_eq!((port.leaves(us(12)), port.state()), (Some((7, 41_666)), "determined"));
}

#[test]
fn what_came_in_during_the_pause_decides_at_the_resume() {
    // C · Tpause = 50,000 bytes and the tolerance of two frames of 1520: 53,040, or 51 packets of 1024 bytes
    // (52,224).
    for (json, packets, state) in [
        ("{}", 51, "undetermined"),
        ("{}", 52, "determined"),
        (r#"{ "tolerance": 0 }"#, 48, "undetermined"),
        (r#"{ "tolerance": 0 }"#, 49, "determined"),
        (r#"{ "tolerance": 1 }"#, 50, "undetermined"),
        (r#"{ "tolerance": 1 }"#, 51, "determined"),
    ] {
        let mut port = Port::new(json);
        port.fill(us(1), 7, 200);
        port.pause(us(2));
        port.fill(us(5), 8, packets);
        port.resume(us(12));
        assert_eq!(port.state(), state, "{packets} packets under {json}");
    }
}

#[test]
fn a_queue_below_the_threshold_is_determined_at_the_resume_whatever_came_in() {
    for (before, state) in [(0, "determined"), (154, "determined"), (155, "undetermined")] {
        let mut port = Port::new("{}");
        port.fill(us(1), 7, before);
        port.pause(us(2));
        port.fill(us(5), 8, 5);
        port.resume(us(12));
        assert_eq!(port.state(), state, "{before} packets before the pause");
    }
}

#[test]
fn a_pause_that_is_repeated_counts_on_from_its_first_instant() {
    let mut port = Port::new(r#"{ "tolerance": 0 }"#);
    port.fill(us(1), 7, 200);
    port.pause(us(2));
    port.fill(us(3), 8, 30);
    port.pause(us(7));
    port.fill(us(8), 8, 18);
    port.resume(us(12));
    // 48 packets in 10 us; in the last 5 us alone 18 would be too few to decide, 30 forgotten ones would be
    // missed.
    assert_eq!(port.state(), "undetermined");
    port.pause(us(12));
    port.fill(us(13), 8, 25);
    port.resume(us(17));
    assert_eq!(port.state(), "determined", "25,600 bytes in a pause of 5 us: the count begins anew");
}

/// A port with 200 KB that a pause has left undetermined at 12 us.
fn undetermined() -> Port {
    let mut port = Port::new("{}");
    port.fill(us(1), 7, 200);
    port.pause(us(2));
    port.resume(us(12));
    assert_eq!(port.state(), "undetermined");
    port
}

#[test]
fn an_undetermined_queue_looks_again_after_t_and_not_before() {
    let mut port = undetermined();
    assert_eq!(port.leaves(us(21)), None);
    port.fill(us(21), 7, 60);
    assert_eq!((port.leaves(us(21)), port.state()), (None, "undetermined"));
    // 10 us after the resume it is longer than then.
    let notified = port.leaves(us(22));
    assert_eq!((notified.is_some(), port.state()), (true, "determined"));
}

#[test]
fn it_stays_undetermined_while_it_falls_and_is_determined_below_the_threshold() {
    let mut port = undetermined();
    (0..10).for_each(|_| assert_eq!(port.leaves(us(15)), None));
    assert_eq!((port.leaves(us(22)), port.state()), (None, "undetermined"), "it has fallen to 189 KB");
    assert_eq!((port.leaves(us(31)), port.state()), (None, "undetermined"), "T began anew at 22 us");
    (0..28).for_each(|_| assert_eq!(port.leaves(us(31)), None));
    assert_eq!((port.leaves(us(32)), port.state()), (None, "determined"), "159 KB: no congestion");
}

#[test]
fn a_queue_that_has_not_fallen_in_t_is_congested() {
    let mut port = undetermined();
    assert_eq!(port.leaves(us(13)), None);
    port.fill(us(14), 7, 2);
    // The packet that leaves it at 200 KB, as long as at the resume.
    let notified = port.leaves(us(22));
    assert_eq!((notified.is_some(), port.state()), (true, "determined"));
}

#[test]
fn a_window_is_the_flows_share_of_the_queue_with_the_leaving_packet() {
    let mut port = Port::new(r#"{ "threshold": "3KB", "base-rtt": "12us" }"#);
    port.joins(us(1), 1, KB);
    port.fill(us(1), 2, 3);
    port.joins(us(1), 3, KB);
    // 60,000 bytes over 12 us, of which flow 1 has a fifth: its only packet is the one that leaves.
    assert_eq!(port.leaves(us(2)), Some((1, 12_000)));
    port.fill(us(2), 4, 4);
    assert_eq!(port.leaves(us(3)), Some((2, 22_500)));
}

#[test]
fn a_flow_gets_one_cnp_in_an_interval_and_is_a_pair_of_addresses() {
    let notified = |json: &str, times: &[u64]| {
        let mut port = Port::new(json);
        port.fill(us(1), 7, 400);
        times.iter().filter(|&&at| port.leaves(us(at)).is_some()).count()
    };
    assert_eq!(notified("{}", &[2, 3, 51, 52, 53, 101, 102]), 3);
    assert_eq!(notified(r#"{ "cnp-interval": "0us" }"#, &[2, 3, 3, 4]), 4);
    for (json, flows) in [("{}", 1), (r#"{ "flows": "queue-pairs" }"#, 2)] {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        let cp = params.build(&crate::testing::port(40)).expect("the parameters are valid");
        let pairs = [PacketView { source: 9, ..of(1, KB) }, PacketView { source: 9, ..of(2, KB) }];
        let keys: std::collections::BTreeSet<_> = pairs.iter().map(|p| cp.key(p)).collect();
        assert_eq!(keys.len(), flows, "{json}");
    }
}

#[test]
fn replies_among_data_have_their_share_and_get_no_cnp() {
    let mut port = Port::new(r#"{ "threshold": "1KB" }"#);
    let reply = PacketView { is_reply: true, ecn_capable: false, ..of(5, KB) };
    let q = crate::testing::egress(3 * KB);
    let sent = port.bench.sent(us(1), |cx| {
        port.cp.on_enqueue(cx, &reply, &q);
        port.cp.on_enqueue(cx, &of(1, KB), &q);
        port.cp.on_dequeue(cx, &reply, &q);
        port.cp.on_dequeue(cx, &of(1, KB), &q);
    });
    assert!(matches!(sent[..], [CpAction::ToSource(Cnp { flow: FlowId(1), .. })]), "{sent:?}");
}

#[test]
fn while_the_table_is_full_others_count_in_the_sum_and_get_no_cnp() {
    let mut port = Port::new(r#"{ "threshold": "1KB", "most-flows": 2, "base-rtt": "12us" }"#);
    for flow in [1, 2, 3, 3] {
        port.joins(us(1), flow, KB);
    }
    assert_eq!(port.leaves(us(2)), Some((1, 15_000)));
    port.fill(us(2), 4, 6);
    assert_eq!(port.leaves(us(3)), Some((2, 6_666)), "a ninth of 60,000");
    assert_eq!(port.leaves(us(4)), None, "flow 3 came when the table was full");
}

#[test]
fn what_is_removed_leaves_the_table() {
    let mut port = Port::new(r#"{ "threshold": "1KB" }"#);
    port.fill(us(1), 1, 3);
    for (flow, frame) in std::mem::take(&mut port.waiting) {
        port.bench.event(us(2), &mut port.cp, PortEvent::Removed(&of(flow, frame)));
    }
    assert!(port.cp.queues.iter().all(|queue| queue.table.is_empty()));
}

#[test]
fn a_short_queue_of_another_class_takes_no_table_away() {
    let mut port = Port::new(r#"{ "threshold": "5KB" }"#);
    port.fill(us(1), 7, 12);
    let other = PacketView { class: Class(4), ..of(9, KB) };
    let queue = |len| QueueView { class: Class(4), ..crate::testing::egress(len) };
    let sent = port.bench.sent(us(2), |cx| {
        port.cp.on_enqueue(cx, &other, &queue(KB));
        port.cp.on_dequeue(cx, &other, &queue(0));
    });
    assert!(sent.is_empty());
    assert!(port.cp.fast_path().is_none(), "the other class is beyond the threshold");
    assert_eq!(port.leaves(us(3)), Some((7, 50_000)));
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    for (json, key) in [
        (r#"{ "period": "0us" }"#, "period"),
        (r#"{ "base-rtt": "0us" }"#, "base-rtt"),
        (r#"{ "most-flows": 0 }"#, "most-flows"),
    ] {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        assert_eq!(params.build(&crate::testing::port(40)).unwrap_err().key, key);
    }
}

#[test]
fn thresholds_are_hpccs_kmin_unless_given_and_the_base_rtt_is_the_largest() {
    let built = |json: &str, gbps| {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        let cp = params.build(&crate::testing::port(gbps)).expect("the parameters are valid");
        (cp.threshold, cp.base_rtt)
    };
    assert_eq!(built("{}", 100), (Bytes::kb(400), Some(Span::us(20))));
    assert_eq!(built(r#"{ "threshold": "5KB", "base-rtt": "auto" }"#, 100), (Bytes::kb(5), None));
    let own = Params { base_rtt: OfPath::Auto, ..Params::default() };
    assert_eq!((own.needs(), Params::default().needs()), (&[][..], &[Need::Largest][..]));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Joins(u32, u64),
    Leaves,
    Pause,
    Resume,
}

fn steps(pauses: bool) -> impl Strategy<Value = Vec<(u64, Step)>> {
    let rare = u32::from(pauses);
    let step = prop_oneof![
        8 => (0u32..12, 64u64..1_500).prop_map(|(flow, frame)| Step::Joins(flow, frame)),
        6 => Just(Step::Leaves),
        rare => Just(Step::Pause),
        rare => Just(Step::Resume),
    ];
    proptest::collection::vec((0u64..3_000, step), 1..600)
}

/// Drives a port; gives what it said, with the instants in nanoseconds, and its last state.
fn drive(port: &mut Port, steps: &[(u64, Step)], mut check: impl FnMut(&Port)) -> Vec<(u64, u32, u64)> {
    let mut now = 0;
    let mut said = Vec::new();
    for &(wait, step) in steps {
        now += wait;
        let at = Time::ZERO + Span::ns(now);
        match step {
            Step::Joins(flow, frame) => port.joins(at, flow, frame),
            Step::Leaves if !port.paused && !port.waiting.is_empty() => {
                said.extend(port.leaves(at).map(|(flow, window)| (now, flow, window)));
            }
            Step::Pause if !port.paused => port.pause(at),
            Step::Resume if port.paused => port.resume(at),
            _ => {}
        }
        check(port);
    }
    said
}

/// A low threshold, so that short queues cross it often; every departure may send a CNP.
const OFTEN: &str = r#"{ "threshold": "6KB", "period": "2us", "cnp-interval": "0us", "tolerance": 0 }"#;

/// Algorithms 1 and 2 with plain lists and nanoseconds, for the parameters of [`OFTEN`].
#[derive(Default)]
struct Model {
    waiting: Vec<(u32, u64)>,
    /// Since when, and what has come in.
    pause: Option<(u64, u64)>,
    /// When it looks again, and how long it was.
    undetermined: Option<(u64, u64)>,
}

impl Model {
    fn len(&self) -> u64 {
        self.waiting.iter().map(|packet| packet.1).sum()
    }

    fn joins(&mut self, flow: u32, frame: u64) {
        self.waiting.push((flow, frame));
        if let Some((_, received)) = &mut self.pause {
            *received += frame + 24;
        }
    }

    fn resume(&mut self, now: u64) {
        let (since, received) = self.pause.take().expect("it was paused");
        // 5 bytes a nanosecond.
        let undetermined = self.len() >= 6_000 && received <= 5 * (now - since);
        self.undetermined = undetermined.then(|| (now + 2_000, self.len()));
    }

    fn leaves(&mut self, now: u64) -> Option<(u32, u64)> {
        let of_flow = |flow: u32| move |packet: &&(u32, u64)| packet.0 == flow;
        let (flow, _) = self.waiting[0];
        let data: u64 = self.waiting.iter().filter(of_flow(flow)).map(|packet| packet.1).sum();
        let sum = self.len();
        self.waiting.remove(0);
        let left = self.len();
        if let Some((until, before)) = self.undetermined
            && now >= until
        {
            self.undetermined = (left >= 6_000 && left < before).then_some((now + 2_000, left));
        }
        let sends_cnp = self.undetermined.is_none() && left > 6_000;
        sends_cnp.then(|| (flow, (50_000 * data / sum).max(1)))
    }
}

proptest! {
    #[test]
    fn a_port_that_is_never_paused_is_always_determined(steps in steps(false)) {
        let mut port = Port::new(OFTEN);
        drive(&mut port, &steps, |port| assert_eq!(port.state(), "determined"));
    }

    #[test]
    fn windows_of_a_queue_add_up_to_c_times_base_rtt_at_most(steps in steps(true)) {
        let mut port = Port::new(OFTEN);
        drive(&mut port, &steps, |port| {
            for queue in &port.cp.queues {
                let flows = queue.table.flows();
                let windows = flows.iter().filter_map(|flow| {
                    let packet = of((flow >> 32) as u32, KB);
                    port.cp.window(&queue.table, &packet, &port.view())
                });
                let sum: u64 = windows.map(|window| window.0).sum();
                // A window is a byte at least.
                assert!(sum <= 50_000 + flows.len() as u64, "{sum}");
            }
        });
    }

    #[test]
    fn a_table_holds_what_waits_and_is_empty_when_the_queue_is(steps in steps(true)) {
        let mut port = Port::new(OFTEN);
        drive(&mut port, &steps, |port| {
            if port.cp.keeps_tables {
                let mut model: BTreeMap<u64, u64> = BTreeMap::new();
                port.waiting.iter().for_each(|&(flow, frame)| {
                    *model.entry(u64::from(flow) << 32 | 2).or_default() += frame;
                });
                let table = &port.cp.queues[0].table;
                assert_eq!(table.flows(), model.keys().copied().collect::<Vec<_>>());
                let sum: u64 = model.values().sum();
                assert_eq!(table.sum(), Bytes(sum));
                for (&flow, &data) in &model {
                    let whole = Bytes(1_000_000);
                    assert_eq!(table.share(flow).map(|share| share.of(whole).0), Some(whole.0 * data / sum));
                }
            }
            assert!(!port.waiting.is_empty() || port.cp.queues.iter().all(|queue| queue.table.is_empty()));
        });
    }

    /// Against tables and states as the paper has them, of all packets at all times.
    #[test]
    fn its_cnps_are_those_of_the_paper(steps in steps(true)) {
        let mut port = Port::new(OFTEN);
        let mut model = Model::default();
        let mut now = 0;
        for &(wait, step) in &steps {
            now += wait;
            let at = Time::ZERO + Span::ns(now);
            match step {
                Step::Joins(flow, frame) => {
                    port.joins(at, flow, frame);
                    model.joins(flow, frame);
                }
                Step::Leaves if !port.paused && !port.waiting.is_empty() => {
                    prop_assert_eq!(port.leaves(at), model.leaves(now));
                }
                Step::Pause if !port.paused => {
                    port.pause(at);
                    model.pause = Some((now, 0));
                    model.undetermined = Some((u64::MAX, 0));
                }
                Step::Resume if port.paused => {
                    port.resume(at);
                    model.resume(now);
                }
                _ => {}
            }
            prop_assert_eq!(port.state() == "undetermined", model.undetermined.is_some());
        }
    }

    #[test]
    fn the_fast_path_changes_nothing(steps in steps(true)) {
        let (mut hinted, mut unhinted) = (Port::new(OFTEN), Port::new(OFTEN));
        unhinted.fast_path = false;
        let said = [&mut hinted, &mut unhinted].map(|port| {
            let mut states = Vec::new();
            (drive(port, &steps, |port| states.push(port.state())), states)
        });
        prop_assert_eq!(&said[0], &said[1]);
    }
}

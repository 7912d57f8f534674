//! Links that fail, and runs that are cut short: bytes stay accounted for, flows recover.

use std::sync::atomic::Ordering;

use crate::support;
use crate::support::{
    Net, POINTS, assert_invariants, counter, drops, drops_by, fct_ps, finished, may_stand, params, real,
    whole,
};
use floodway_fabric::blueprint::{EndSpec, ErrorRates, UNBOUNDED};
use floodway_fabric::outcome::Stopped;
use floodway_fabric::{Control, Fabric, Records};
use floodway_mechanisms::registry::NotificationParams;
use floodway_units::{Bytes, NodeId, Rate, Span, Time, Turns};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "30KB"}}"#;

fn at(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

/// `a` - `s` - `t` - `b` with one or two paths from `s` to `t`; the first is cut at the given times.
fn cut(paths: usize, down: &[(u64, u64)], reliability: &str) -> (Net, NodeId, NodeId) {
    let mut net = Net::new(Format::Ethernet).reliability(reliability).limit(Span::ms(60));
    let (a, s, t, b) = (net.host("a"), net.switch("s"), net.switch("t"), net.host("b"));
    net.link(a, s, G100, Span::us(1), PFC);
    let first = net.link(s, t, G100, Span::us(10), PFC);
    for path in 1..paths {
        let link = net.link(s, t, G100, Span::us(10), PFC);
        net.blueprint.links[link].name = format!("s-t {path}");
    }
    net.link(t, b, G100, Span::us(1), PFC);
    net.blueprint.links[first].down = down.iter().map(|&(from, to)| (at(from), at(to))).collect();
    (net, a, b)
}

#[test]
fn a_flow_survives_a_link_that_fails_and_comes_back() {
    let (mut net, a, b) = cut(1, &[(20, 500)], r#""go-back-n""#);
    net.flow(a, b, Bytes::mb(2), Span::ZERO);
    let records = net.run();
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert!(drops_by(&records, "link_down") > 50, "what was on ten microseconds of fibre");
    assert_eq!(whole(records.flows.column("delivered_bytes")), [2_000_000]);
    assert!(whole(records.flows.column("retransmitted_bytes"))[0] > 0);
}

#[test]
fn without_recovery_what_a_failed_link_swallows_stays_missing() {
    let (mut net, a, b) = cut(1, &[(20, 500)], r#""none""#);
    net.flow(a, b, Bytes::mb(2), Span::ZERO);
    let records = net.run();
    assert_eq!((records.outcome.stopped, finished(&records)), (Stopped::Limit, vec![false]));
    let lost = drops_by(&records, "link_down") + drops_by(&records, "no_route");
    assert_eq!(whole(records.flows.column("delivered_bytes")), [2_000_000 - lost * 1_000]);
    // What was on the wire had been sent: a packet of 1,082 bytes each 86.56 ns from 1,087.84 ns on until 20
    // us, of which those never arrived that began after 9,913.28 ns.
    let packets = |node: &str, link: &str, of: &str| counter(&records, node, link, of);
    assert_eq!(packets("a", "a-s", "tx_packets"), 2_000);
    let (sent, arrived) = (packets("s", "s-t", "tx_packets"), packets("t", "s-t", "rx_packets"));
    assert_eq!((sent, sent - arrived), (219, 219 - 102));
}

#[test]
fn a_fixed_path_may_turn_back() {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#);
    let (a, s, t, b) = (net.host("a"), net.switch("s"), net.switch("t"), net.host("b"));
    for (one, other) in [(a, s), (s, t), (s, b)] {
        net.link(one, other, G100, Span::us(1), PFC);
    }
    let path = net.path(&[a, s, t, s, b]);
    net.flow(a, b, Bytes::kb(10), Span::ZERO).path = Some(path);
    let records = net.run();
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    let sent = ["s", "t"].map(|node| counter(&records, node, "s-t", "tx_packets"));
    assert_eq!(sent, [10, 10], "out and back again, and the replies straight");
}

#[test]
fn flows_take_the_other_path_while_a_link_is_down() {
    let (mut net, a, b) = cut(2, &[(20, 50_000)], r#""go-back-n""#);
    for _ in 0..8 {
        net.flow(a, b, Bytes::mb(1), Span::ZERO);
    }
    let records = net.run();
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert!(records.outcome.simulated_us < 20_000.0, "nobody waits for the link");
    assert_eq!(drops_by(&records, "no_route"), 0);
    assert!(counter(&records, "s", "s-t 1", "tx_packets") > 4_000);
}

/// `s` spreads packets over three paths of unlike lengths, on which nothing is lost.
fn spread(seed: u64, reliability: &str) -> Net {
    let mut net = Net::new(Format::Ethernet).reliability(reliability).limit(Span::ms(200));
    net.blueprint.seed = seed;
    let (s, t, b) = (net.switch("s"), net.switch("t"), net.host("b"));
    let senders = ["a1", "a2", "a3"].map(|name| net.host(name));
    for &a in &senders {
        net.link(a, s, G100, Span::us(1), PFC);
    }
    for (i, us) in [1, 3, 7].into_iter().enumerate() {
        let link = net.link(s, t, G100, Span::us(us), PFC);
        net.blueprint.links[link].name = format!("s-t {i}");
    }
    net.link(t, b, G100, Span::us(1), PFC);
    for switch in [s, t] {
        net.routing(switch, r#""spray""#);
    }
    for i in 0..30 {
        net.flow(senders[i % 3], b, Bytes(20_000 + 1_000 * i as u64), Span::us(3 * i as u64));
    }
    net
}

#[test]
fn packets_that_overtake_others_on_lossless_paths_keep_no_flow_from_its_end() {
    let stuck = |reliability: &str| {
        let runs = (1..=20).map(|seed| spread(seed, reliability).run());
        runs.filter(|records| {
            assert_eq!(drops(records), 0);
            finished(records).contains(&false)
        })
        .count()
    };
    assert_eq!(stuck(r#""go-back-n""#), 0);
    assert!(stuck(r#"{"go-back-n": {"timeout": "off"}}"#) > 0, "without a timer some do not end");
}

#[test]
fn a_flow_that_starts_while_its_only_path_is_cut_is_sent_when_the_path_is_back() {
    for reliability in [r#""none""#, r#""go-back-n""#] {
        let mut net = Net::new(Format::Ethernet).reliability(reliability).limit(Span::ms(30));
        let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
        let first = net.link(a, s, G100, Span::us(1), PFC);
        net.link(s, b, G100, Span::us(1), PFC);
        net.blueprint.links[first].down = vec![(at(5), at(100))];
        net.flow(a, b, Bytes(500), Span::us(50));
        assert_eq!(fct_ps(&net.run()), [Some(50_000_000 + 2 * (598 * 80 + 1_000_000))], "{reliability}");
    }
}

#[test]
fn a_flow_that_starts_while_a_link_further_on_is_cut_recovers_too() {
    let (mut net, a, b) = cut(1, &[(5, 100)], r#""go-back-n""#);
    net.flow(a, b, Bytes::kb(50), Span::us(50));
    let records = net.run();
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert!(drops_by(&records, "no_route") > 0);
}

#[test]
fn a_flow_over_one_of_several_paths_counts_with_the_loss_of_each() {
    // The second way is the one that loses; which one a flow takes is decided by hash, or packet by packet.
    for routing in [r#""ecmp""#, r#""spray""#] {
        let (mut net, a, b) = cut(2, &[], r#""go-back-n""#);
        net.routing(NodeId(1), routing);
        net.blueprint.links[2].directions[0].errors.data = 0.5;
        for _ in 0..20 {
            net.flow(a, b, Bytes(3_000), Span::ZERO);
        }
        let records = net.limit(Span::ms(500)).run();
        assert!(drops_by(&records, "link_error") > 5);
        assert_eq!(records.outcome.stopped, Stopped::Finished, "{routing}");
    }
}

#[test]
fn a_flow_over_a_path_that_fails_detects_its_loss_at_any_position_among_equals() {
    for second in [false, true] {
        let (mut net, a, b) = cut(2, &[], r#""go-back-n""#);
        net.blueprint.links[1 + usize::from(second)].down = vec![(at(13), at(14))];
        for _ in 0..20 {
            net.flow(a, b, Bytes(3_000), Span::ZERO);
        }
        let records = net.run();
        assert!(drops_by(&records, "link_down") > 0);
        assert_eq!(records.outcome.stopped, Stopped::Finished);
    }
}

#[test]
fn a_pause_does_not_outlive_its_link() {
    // `b` pauses `t` for ever without refresh; a new link knows nothing of it.
    let on_off = r#"{"pfc": {"xoff": "30KB", "pause": "on-off"}}"#;
    let mut net = Net::new(Format::HpccNs3).limit(Span::ms(5));
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, G100, Span::us(1), on_off);
    let last = net.link(s, b, G100, Span::us(1), on_off);
    net.pauses(last, b, Span::us(1), Time::NEVER);
    net.blueprint.links[last].down = vec![(at(50), at(60))];
    net.flow(a, b, Bytes(500), Span::us(70));
    assert_eq!(fct_ps(&net.run()), [Some(2 * (548 * 80 + 1_000_000))]);
}

#[test]
fn packets_in_a_pipeline_toward_a_link_that_fails_are_lost_with_it() {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(5)).until_limit();
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, G100, Span::us(1), PFC);
    let last = net.link(s, b, G100, Span::us(1), PFC);
    net.pipeline(s, Span::us(10));
    net.blueprint.links[last].down = vec![(at(5), at(100))];
    net.flow(a, b, Bytes(500), Span::us(1));
    let records = net.run();
    assert_eq!((finished(&records), drops_by(&records, "link_down")), (vec![false], 1));
}

#[test]
fn acks_in_a_pipeline_toward_a_link_that_fails_are_lost_with_it() {
    let mut net = Net::new(Format::Ethernet)
        .reliability(r#"{"go-back-n": {"timeout": "off"}}"#)
        .limit(Span::ms(1))
        .until_limit();
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    let first = net.link(a, s, G100, Span::us(1), PFC);
    net.link(s, b, G100, Span::us(1), PFC);
    net.pipeline(s, Span::us(10));
    // The packet is at b after some 12 us, its ACK leaves the pipeline after some 23.
    net.blueprint.links[first].down = vec![(at(20), at(100))];
    net.flow(a, b, Bytes(500), Span::ZERO);
    let records = net.run();
    assert_eq!((finished(&records), drops_by(&records, "link_down")), (vec![true], 1));
    assert_eq!(counter(&records, "s", "s-b", "drops_link_down"), 1, "it came in by b's link");
}

fn interrupted(net: &Net, stop: impl FnOnce(&Control) + Send) -> Records {
    let control = Control::default();
    let fabric = Fabric::build(&net.blueprint, &control).unwrap();
    let records = std::thread::scope(|scope| {
        scope.spawn(|| stop(&control));
        fabric.run()
    });
    assert_invariants(&records);
    assert_eq!(records.outcome.stopped, Stopped::Interrupted);
    records
}

#[test]
fn a_run_stopped_by_another_thread_keeps_its_books() {
    let (mut net, a, b) = cut(2, &[(100, 200), (300, 400)], r#""go-back-n""#);
    net.flow(a, b, UNBOUNDED, Span::ZERO);
    net.flow(b, a, UNBOUNDED, Span::ZERO);
    let records = interrupted(&net.limit(Span::ms(1_000_000)), |control| {
        let mut turns = Turns::at_most(u32::MAX);
        while turns.go() && control.packet_hops.load(Ordering::Relaxed) < 100_000 {
            std::thread::yield_now();
        }
        control.stop.store(true, Ordering::Relaxed);
    });
    assert!(records.outcome.packet_hops >= 100_000);
    assert!(records.outcome.bytes.in_flight > 0);
    assert_eq!(whole(records.flows.column("size_bytes")), whole(records.flows.column("delivered_bytes")));
}

#[test]
fn a_run_that_is_stopped_before_it_begins_has_empty_books() {
    let (mut net, a, b) = cut(1, &[], r#""none""#);
    net.flow(a, b, Bytes::mb(50), Span::us(500));
    let control = Control::default();
    control.stop.store(true, Ordering::Relaxed);
    let records = Fabric::build(&net.blueprint, &control).unwrap().run();
    assert_invariants(&records);
    assert_eq!(records.outcome.stopped, Stopped::Interrupted);
    assert_eq!(records.outcome.bytes.injected, 0);
}

/// What may go wrong on the ring of four switches, with spray or not.
#[derive(Clone, Debug)]
struct Trouble {
    seed: u64,
    spray: bool,
    control: &'static str,
    reliability: &'static str,
    point: Option<&'static str>,
    buffer: &'static str,
    rates: Vec<u64>,
    errors: f64,
    jitter: u64,
    pipeline: u64,
    down: Vec<(usize, u64, u64)>,
    /// How long until the ends of a link and until routes know.
    reaction: (u64, u64),
    /// Of a link, both ways: from when on it has which delay.
    switchover: Option<(usize, u64, u64)>,
    flows: Vec<(usize, usize, u64, u64)>,
}

const POOLED: &str = r#"{"shared": {"pool": "100KB"}}"#;
/// Virtual output queues that have room for PFC's headroom.
const CROSSED: &str = r#"{"ioq": {"voq": "1MB", "output": "5KB", "speed-up": 1.2}}"#;

fn troubles() -> impl Strategy<Value = Trouble> {
    let controls = vec![PFC, r#""lossy""#, r#"{"pfc": {"xoff": {"alpha": 0.5}, "pause": "on-off"}}"#];
    let reliabilities = vec![r#""none""#, r#""go-back-n""#, r#"{"go-back-n": {"ack-interval": 4}}"#];
    let rates = prop::collection::vec(prop::sample::select(vec![10u64, 30, 100, 400]), 8);
    let line = (prop_oneof![Just(0.0), 0.0..0.05], prop_oneof![Just(0u64), 0..5_000u64], 0u64..2_000);
    let down = prop::collection::vec((0usize..8, 1u64..300, 1u64..300), 0..4);
    let flows = prop::collection::vec((0usize..4, 1usize..4, 1u64..200_000, 0u64..100), 1..12);
    let points = prop::sample::select(POINTS.to_vec());
    let machines = (prop::sample::select(controls), prop::sample::select(reliabilities), points);
    let buffer = prop_oneof![2 => Just(POOLED), 1 => Just(CROSSED)];
    let choice = (any::<u64>(), any::<bool>(), machines, buffer);
    let reaction = prop_oneof![Just((0, 0)), (0u64..50, 0u64..50)];
    let switchover = prop::option::of((0usize..8, 1u64..200, 1u64..40));
    let changes = (down, reaction, switchover);
    (choice, rates, line, changes, flows).prop_map(|(choice, rates, line, changes, flows)| Trouble {
        seed: choice.0,
        spray: choice.1,
        control: choice.2.0,
        reliability: choice.2.1,
        point: choice.2.2,
        buffer: choice.3,
        rates,
        errors: line.0,
        jitter: line.1,
        pipeline: line.2,
        down: changes.0,
        reaction: changes.1,
        switchover: changes.2,
        flows,
    })
}

fn ring(trouble: &Trouble) -> Net {
    let mut net = Net::new(Format::Ethernet).reliability(trouble.reliability).limit(Span::ms(100));
    net.blueprint.seed = trouble.seed;
    let switches: Vec<_> = (0..4).map(|i| net.switch_with(&format!("s{i}"), trouble.buffer)).collect();
    let hosts: Vec<_> = (0..4).map(|i| net.host(&format!("h{i}"))).collect();
    for i in 0..4 {
        net.link(
            switches[i],
            switches[(i + 1) % 4],
            Rate::gbps(trouble.rates[i]),
            Span::us(2),
            trouble.control,
        );
    }
    for i in 0..4 {
        net.link(hosts[i], switches[i], Rate::gbps(trouble.rates[4 + i]), Span::us(1), trouble.control);
        net.pipeline(switches[i], Span::ns(trouble.pipeline));
        if trouble.spray {
            net.routing(switches[i], r#""spray""#);
        }
    }
    let fitting = trouble.point.filter(|point| may_stand(point, trouble.control, trouble.buffer));
    if let Some(point) = fitting {
        // A window needs acknowledgements.
        let layers = if trouble.reliability == r#""none""# { 1 } else { 2 };
        net = net.rate_control(&[r#""dcqcn""#, r#""mercury""#][..layers]);
        let settings = &mut net.blueprint.settings[0];
        settings.notification = NotificationParams::asked_by(&settings.rate_control).with_undetermined();
        let is_switch = |end: &&mut EndSpec| switches.contains(&end.node);
        for end in net.blueprint.links.iter_mut().flat_map(|link| &mut link.ends).filter(is_switch) {
            end.congestion_points.push(params(point));
        }
    }
    let errors = trouble.errors;
    for direction in net.blueprint.links.iter_mut().flat_map(|link| &mut link.directions) {
        direction.jitter = Span::ns(trouble.jitter);
        direction.errors = ErrorRates { data: errors, control: errors, link_control: 0.0 };
    }
    for &(link, from, length) in &trouble.down {
        let link = &mut net.blueprint.links[link];
        link.down = vec![(at(from), at(from + length))];
        (link.detection, link.convergence) = (Span::us(trouble.reaction.0), Span::us(trouble.reaction.1));
    }
    if let Some((link, from, delay)) = trouble.switchover {
        for direction in &mut net.blueprint.links[link].directions {
            direction.switchovers = vec![(at(from), Span::us(delay))];
        }
    }
    let mut flows = trouble.flows.clone();
    flows.sort_by_key(|&(.., start)| start);
    for (from, to, size, start) in flows {
        net.flow(hosts[from], hosts[(from + to) % 4], Bytes(size), Span::us(start));
    }
    net
}

proptest! {
    #![proptest_config(support::long_property(300))]

    /// `run` checks that bytes are conserved, accounts are right and no flow beats its ideal.
    #[test]
    fn books_balance_and_no_flow_beats_its_ideal_whatever_fails(trouble in troubles()) {
        let records = ring(&trouble).run();
        let (sizes, delivered) =
            (whole(records.flows.column("size_bytes")), whole(records.flows.column("delivered_bytes")));
        for ((size, delivered), finished) in sizes.iter().zip(&delivered).zip(finished(&records)) {
            prop_assert!(delivered <= size && (delivered == size) == finished);
        }
        let slowdowns = real(records.flows.column("slowdown"));
        prop_assert!(slowdowns.iter().all(|slowdown| slowdown.is_nan() || *slowdown >= 1.0));
    }

    /// Not so where a link comes back while its buffer is full: the upstream then starts afresh.
    #[test]
    fn losses_jitter_and_spray_never_make_a_lossless_buffer_overflow(trouble in troubles()) {
        let trouble = Trouble { control: PFC, down: Vec::new(), ..trouble };
        let records = ring(&trouble).run();
        prop_assert!(records.outcome.lossless.is_held());
    }

    #[test]
    fn an_interrupted_run_keeps_its_books(trouble in troubles(), hops in 1u64..2_000) {
        let mut net = ring(&trouble);
        // The end of a run at any instant is as good as an interruption there.
        net.blueprint.end.limit = Time(hops * 123_457);
        net.run();
    }
}

/// The first packets go the long way around the ring, the others straight on from 27 us on: those do not wait
/// behind the first one, which is larger by its RETH.
#[test]
fn a_flow_whose_packets_on_two_paths_are_faster_than_all_on_one_has_its_own_time_as_ideal() {
    let trouble = Trouble {
        seed: 165_232_737_257_515_411,
        spray: false,
        control: r#"{"pfc": {"xoff": {"alpha": 0.5}, "pause": "on-off"}}"#,
        reliability: r#""none""#,
        point: None,
        buffer: POOLED,
        rates: vec![30, 30, 30, 30, 10, 100, 30, 10],
        errors: 0.0,
        jitter: 0,
        pipeline: 0,
        down: vec![(1, 5, 22)],
        reaction: (0, 0),
        switchover: None,
        flows: vec![(2, 3, 19_452, 25)],
    };
    let mut net = ring(&trouble);
    net.blueprint.end.limit = Time(284 * 123_457);
    let records = net.run();
    assert_eq!(real(records.flows.column("slowdown")), [1.0]);
    // The straight way alone takes 224 ps longer.
    net.blueprint.links[1].down = Vec::new();
    assert_eq!(fct_ps(&net.run())[0].zip(fct_ps(&records)[0]).map(|(one, two)| one - two), Some(224));
}

/// Two paths, of which one is left when the other comes back: what waits on the slow one and what takes the
/// fast one arrive together.
#[test]
fn two_paths_in_turn_may_be_much_faster_than_one() {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(10));
    let (a, s, t, b) = (net.host("a"), net.switch("s"), net.switch("t"), net.host("b"));
    let middle = net.switch("m");
    let fat = r#"{"pfc": {"xoff": "2MB"}}"#;
    net.link(a, s, G100, Span::us(1), fat);
    let short = net.link(s, t, Rate::gbps(10), Span::us(1), fat);
    net.link(s, middle, Rate::gbps(10), Span::us(1), fat);
    net.link(middle, t, Rate::gbps(10), Span::us(1), fat);
    net.link(t, b, G100, Span::us(1), fat);
    // Half of the flow has left its host by 45 us.
    net.blueprint.links[short].down = vec![(Time::ZERO, at(45))];
    net.flow(a, b, Bytes::mb(1), Span::ZERO);
    let two = net.run();
    assert_eq!(real(two.flows.column("slowdown")), [1.0]);
    net.blueprint.links[short].down = Vec::new();
    let [one, two] = [net.run(), two].map(|records| fct_ps(&records)[0].expect("it is complete") as f64);
    assert!((0.5..0.6).contains(&(two / one)), "{two} of {one}");
}

#[test]
fn the_ideal_of_sprayed_packets_knows_how_many_links_share_the_work() {
    // Four paths of two hops, each a quarter of the hosts' rate, with nothing that makes them unequal.
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(10));
    let (a, s, t, b) = (net.host("a"), net.switch("s"), net.switch("t"), net.host("b"));
    net.link(a, s, Rate::gbps(400), Span::us(1), PFC);
    for i in 0..4 {
        let middle = net.switch(&format!("m{i}"));
        net.link(s, middle, G100, Span::us(1), PFC);
        net.link(middle, t, G100, Span::us(1), PFC);
    }
    net.link(t, b, Rate::gbps(400), Span::us(1), PFC);
    net.routing(s, r#""spray""#);
    net.flow(a, b, Bytes::mb(1), Span::ZERO);
    let records = net.run();
    let slowdown = real(records.flows.column("slowdown"))[0];
    assert!((1.0..1.3).contains(&slowdown), "{slowdown}");
}

#[test]
fn pauses_that_a_failed_link_cannot_carry_are_not_sent_later() {
    let (down, up) = (Time::ZERO + Span::ms(1), Time::ZERO + Span::ms(6));
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#);
    let pfc = r#"{"pfc": {"xoff": "30KB"}}"#;
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    let first = net.link(a, s, Rate::gbps(100), Span::us(1), pfc);
    let last = net.link(s, b, Rate::gbps(100), Span::us(1), pfc);
    net.flow(a, b, Bytes::mb(200), Span::ZERO);
    net.pauses(last, b, Span::us(500), Time::NEVER);
    net.blueprint.links[first].down = vec![(down, up)];
    let received = |limit: Span| {
        let mut net = Net { blueprint: net.blueprint.clone() };
        net = net.limit(limit).until_limit();
        counter(&net.run(), "a", "a-s", "pfc_rx")
    };
    let (before, after) = (received(Span::ms(6)), received(Span::us(6_002)));
    // One again: the queue is as full as it was.
    assert!(after - before <= 1, "{before} and {after}");
}

/// `b` pauses `s` from 200 us on at 10 Gbit/s, until it resumes; the watchdog acts after 600 us, at 801 us,
/// and needs 600 us without a frame of PFC. Packets that `s` dropped, and whether all is sent in the end.
fn dropped_in_a_storm(pause: &str, action: &str, until: u64) -> u64 {
    let mut net = Net::new(Format::Ethernet).limit(Span::us(3_000)).until_limit();
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    let watchdog = format!(
        r#"{{"pfc": {{"xoff": "20KB", "pause": "{pause}", "quanta": 200, "watchdog": {{"after": "600us",
            "restore": "600us", "action": "{action}"}}}}}}"#
    );
    let pfc = format!(r#"{{"pfc": {{"xoff": "20KB", "pause": "{pause}"}}}}"#);
    net.link(a, s, Rate::gbps(10), Span::us(1), &pfc);
    let last = net.link(s, b, Rate::gbps(10), Span::us(1), &watchdog);
    net.pauses(last, b, Span::us(200), Time::ZERO + Span::us(until));
    net.flow(a, b, UNBOUNDED, Span::ZERO);
    drops_by(&net.run(), "watchdog")
}

/// SONiC restores after a time without frames of PFC, of which a RESUME is one: from 801 to 1,601 us packets
/// of 1,082 bytes on the wire are dropped at line rate, 924 of them, and those that waited for the pause.
#[test]
fn a_watchdog_drops_until_no_frame_of_pfc_has_come_for_its_time() {
    for pause in ["timer", "on-off"] {
        // What waits: XOFF, and what was on the way when it was reached.
        let waited = 20_000 / 1_062 + 4;
        let dropped = dropped_in_a_storm(pause, "drop", 1_000);
        assert!((924..=924 + waited).contains(&dropped), "{pause}: {dropped}");
        assert_eq!(dropped_in_a_storm(pause, "drop", 700), 0, "{pause}: a pause of 500 us");
        assert_eq!(dropped_in_a_storm(pause, "forward", 1_000), 0, "{pause}");
    }
}

#[test]
fn a_watchdog_drops_what_comes_out_of_the_pipeline_too() {
    for pipeline in [Span::ZERO, Span::us(10)] {
        let mut net = Net::new(Format::Ethernet).limit(Span::us(900)).until_limit();
        let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
        net.link(a, s, Rate::gbps(100), Span::us(1), r#"{"pfc": {"xoff": "2MB"}}"#);
        let watchdog = r#"{"after": "50us", "restore": "5ms", "action": "drop"}"#;
        let last = net.link(
            s,
            b,
            Rate::gbps(100),
            Span::us(1),
            &format!(r#"{{"pfc": {{"xoff": "2MB", "watchdog": {watchdog}}}}}"#),
        );
        net.pipeline(s, pipeline);
        net.pauses(last, b, Span::ZERO, Time::NEVER);
        net.flow(a, b, Bytes::mb(2), Span::us(10));
        let records = net.run();
        assert_eq!(whole(records.flows.column("delivered_bytes")), [0], "{pipeline}");
        assert!(drops_by(&records, "watchdog") > 0);
    }
}

/// Harmful flows are found, what waits of them is moved, and nothing passes the port for a whole period: the
/// end of that period is waited for from when they are moved.
#[test]
fn a_period_of_harmful_flows_that_wait_ends_while_nothing_passes() {
    let trouble = Trouble {
        seed: 17_549_225_765_527_270_073,
        spray: true,
        control: r#"{"pfc": {"xoff": {"alpha": 0.5}, "pause": "on-off"}}"#,
        reliability: r#"{"go-back-n": {"ack-interval": 4}}"#,
        point: Some(r#"{"rcm": {"equilibrium": "3KB", "cam-depth": 8, "expire": "20us"}}"#),
        buffer: r#"{"ioq": {"voq": "1MB", "output": "5KB", "speed-up": 1.2}}"#,
        rates: vec![30, 10, 400, 100, 100, 10, 10, 30],
        errors: 0.005_760_123_675_775_251,
        jitter: 0,
        pipeline: 405,
        down: vec![(4, 255, 150), (0, 204, 17)],
        reaction: (39, 18),
        switchover: None,
        flows: vec![
            (0, 2, 28_834, 34),
            (0, 2, 194_541, 3),
            (1, 3, 50_257, 67),
            (1, 1, 41_124, 29),
            (1, 1, 51_053, 11),
            (3, 2, 152_087, 71),
            (1, 2, 123_537, 51),
            (0, 2, 60_654, 24),
            (2, 1, 27_357, 77),
            (2, 1, 20_738, 49),
            (0, 1, 181, 47),
        ],
    };
    ring(&trouble).run();
}

//! Networks that change during a run: ideals, losses, order and flow control.

use crate::support;
use crate::support::{
    Net, assert_invariants, counter, drops, drops_by, everything, fct_ps, finished, real, run, whole,
};
use floodway_fabric::blueprint::UNBOUNDED;
use floodway_fabric::outcome::{LosslessVerdict, Stopped};
use floodway_fabric::{Control, Fabric, Records, ThreadPlan};
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "30KB"}}"#;
/// Picoseconds of a full packet on a link, and those more of a flow's first one.
const PACKET: u64 = 1082 * 80;
const RETH: u64 = 16 * 80;

fn at(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

fn periods(down: &[(u64, u64)]) -> Vec<(Time, Time)> {
    down.iter().map(|&(from, to)| (at(from), at(to))).collect()
}

fn slowdowns(records: &Records) -> Vec<f64> {
    real(records.flows.column("slowdown"))
}

fn ideals_us(records: &Records) -> Vec<f64> {
    real(records.flows.column("ideal_fct_us"))
}

/// Two hosts, and between their switches a way of one long link or of two short ones.
///
/// ```text
///          ┌─── 2 ms ───────────┐
///  h1 ── a ┤                    ├ c ── h2
///          └─ 400 us ─ b 400 us ┘
/// ```
fn triangle(down: &[(u64, u64)]) -> (Net, NodeId, NodeId) {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#);
    let (h1, h2) = (net.host("h1"), net.host("h2"));
    let [a, b, c] = ["a", "b", "c"].map(|name| net.switch(name));
    net.link(h1, a, G100, Span::us(1), PFC);
    let long = net.link(a, c, G100, Span::ms(2), PFC);
    net.link(a, b, G100, Span::us(400), PFC);
    net.link(b, c, G100, Span::us(400), PFC);
    net.link(c, h2, G100, Span::us(1), PFC);
    net.blueprint.links[long].down = periods(down);
    (net, h1, h2)
}

fn lone(down: &[(u64, u64)], start: Span) -> Records {
    let (mut net, h1, h2) = triangle(down);
    net.flow(h1, h2, Bytes::kb(10), start);
    net.until_limit().run()
}

#[test]
fn what_fails_before_a_flow_or_after_it_is_no_matter_to_its_ideal() {
    let (usual, long) = (lone(&[], Span::ms(5)), 2_002.0..2_004.0);
    assert!(long.contains(&ideals_us(&usual)[0]));
    for down in [vec![(20_000, 30_000)], vec![(1_000, 4_999)], vec![(1_000, 2_000), (9_000, 90_000)]] {
        let records = lone(&down, Span::ms(5));
        assert_eq!(slowdowns(&records), [1.0], "{down:?}");
        assert_eq!(ideals_us(&records), ideals_us(&usual), "{down:?}");
    }
}

#[test]
fn the_ideal_of_a_flow_that_starts_while_its_short_path_is_cut_is_that_of_the_others() {
    for down in [(0, 60_000), (1_000, 60_000), (5_000, 60_000)] {
        let records = lone(&[down], Span::ms(5));
        assert_eq!(slowdowns(&records), [1.0], "{down:?}");
        assert!((802.0..805.0).contains(&ideals_us(&records)[0]), "{down:?}");
    }
}

#[test]
fn a_path_that_comes_back_while_a_flow_is_sent_counts_for_its_ideal() {
    // 100 MB take 8.5 ms: the long way is back when a tenth is sent.
    let ideal = |down: &[(u64, u64)]| {
        let (mut net, h1, h2) = triangle(down);
        net.flow(h2, h1, Bytes::mb(100), Span::ms(5));
        ideals_us(&net.run())[0]
    };
    let (cut, back) = (ideal(&[(1_000, 90_000)]), ideal(&[(1_000, 6_000)]));
    assert!((cut - back).abs() < 1e-9, "the way over b is the faster one: {cut} and {back}");
    let (whole, fails) = (ideal(&[]), ideal(&[(6_000, 90_000)]));
    assert!(whole > back + 1_000.0 && (fails - back).abs() < 1e-9, "{whole} and {fails}");
}

#[test]
fn a_link_that_fails_beside_an_equal_one_is_no_matter_to_a_flow_on_the_other() {
    let mut net = Net::new(Format::Ethernet);
    let (a, s, t, b) = (net.host("a"), net.switch("s"), net.switch("t"), net.host("b"));
    net.link(a, s, G100, Span::us(1), PFC);
    for path in 0..2 {
        let link = net.link(s, t, G100, Span::us(10), PFC);
        net.blueprint.links[link].name = format!("way {path}");
    }
    net.link(t, b, G100, Span::us(1), PFC);
    net.flow(a, b, Bytes::mb(1), Span::ZERO);
    let used =
        |records: &Records, path: usize| counter(records, "s", &format!("way {path}"), "tx_packets") > 0;
    let other = if used(&net.run(), 0) { 2 } else { 1 };
    net.blueprint.links[other].down = (1..20).map(|i| (at(4 * i), at(4 * i + 2))).collect();
    // Its hash chooses among two paths and among one: only where the first port is its own it stays there.
    let records = net.run();
    assert_eq!((drops(&records), used(&records, other - 1)), (0, false));
    assert_eq!(slowdowns(&records), [1.0]);
}

#[test]
fn a_flow_without_a_path_at_any_time_has_no_ideal() {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(3));
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, G100, Span::us(1), PFC);
    let last = net.link(s, b, G100, Span::us(1), PFC);
    net.blueprint.links[last].down = vec![(at(1), at(5_000))];
    net.flow(a, b, Bytes(500), Span::us(2));
    let records = net.run();
    assert_eq!(finished(&records), [false]);
    assert!(ideals_us(&records)[0].is_nan());
}

/// Four switches that are all joined, a host at each, and one flow; links fail before it, for all its time,
/// or after it.
#[derive(Clone, Debug)]
struct Lone {
    links: Vec<(u64, u64)>,
    spray: bool,
    before: Vec<(usize, u64, u64)>,
    lasting: Vec<(usize, u64)>,
    after: Vec<(usize, u64)>,
    switchovers: Vec<(usize, u64)>,
    reaction: (u64, u64),
    ends: (usize, usize),
    size: u64,
}

fn lones() -> impl Strategy<Value = Lone> {
    let links = prop::collection::vec((prop::sample::select(vec![10u64, 40, 100]), 1u64..400), 10);
    let before = prop::collection::vec((0usize..10, 1u64..2_000, 1u64..1_000), 0..4);
    let lasting = prop::collection::vec((0usize..6, 0u64..4_000), 0..4);
    let after = prop::collection::vec((0usize..10, 30_000u64..40_000), 0..4);
    let switchovers = prop::collection::vec((0usize..6, 1u64..400), 0..3);
    let reaction = prop_oneof![Just((0, 0)), (0u64..500, 0u64..500)];
    let ends = (0usize..4, 1usize..4);
    let faults = (before, lasting, after, switchovers);
    (links, any::<bool>(), faults, reaction, ends, 1u64..100_000).prop_map(
        |(links, spray, (before, lasting, after, switchovers), reaction, ends, size)| Lone {
            links,
            spray,
            before,
            lasting,
            after,
            switchovers,
            reaction,
            ends,
            size,
        },
    )
}

/// When the flow starts, and from when on nothing of before it goes on.
const START: Span = Span::ms(5);

impl Lone {
    /// The network without faults, of links that are `up`, with the delays of while the flow is sent.
    fn network(&self, up: impl Fn(usize) -> bool) -> Net {
        let mut net = Net::new(Format::Ethernet).limit(Span::ms(60)).until_limit();
        let switches: Vec<_> = (0..4).map(|i| net.switch(&format!("s{i}"))).collect();
        let hosts: Vec<_> = (0..4).map(|i| net.host(&format!("h{i}"))).collect();
        let pairs = (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
        let mut ends: Vec<_> = pairs.map(|(i, j)| (switches[i], switches[j])).collect();
        ends.extend((0..4).map(|i| (hosts[i], switches[i])));
        for (link, (&(a, b), &(gbps, us))) in ends.iter().zip(&self.links).enumerate() {
            let changed = self.switchovers.iter().rfind(|(other, _)| *other == link);
            if up(link) {
                net.link(a, b, Rate::gbps(gbps), Span::us(changed.map_or(us, |(_, us)| *us)), PFC);
            }
        }
        if self.spray {
            for &switch in &switches {
                net.routing(switch, r#""spray""#);
            }
        }
        net.flow(hosts[self.ends.0], hosts[(self.ends.0 + self.ends.1) % 4], Bytes(self.size), START);
        net
    }

    /// The same with all links, which fail, and whose delays change 1 ms before the flow starts.
    fn changing(&self) -> Net {
        let mut net = self.network(|_| true);
        for (link, spec) in net.blueprint.links.iter_mut().enumerate() {
            let lasts = self.lasting.iter().find(|(other, _)| *other == link);
            let mut down = match lasts {
                Some(&(_, from)) => vec![(from, 25_000)],
                None => self
                    .before
                    .iter()
                    .filter(|of| of.0 == link)
                    .map(|of| (of.1, of.1 + of.2))
                    .take(1)
                    .collect(),
            };
            down.extend(self.after.iter().filter(|of| of.0 == link).map(|of| (of.1, of.1 + 500)).take(1));
            spec.down = periods(&down);
            (spec.detection, spec.convergence) = (Span::us(self.reaction.0), Span::us(self.reaction.1));
            for direction in &mut spec.directions {
                if direction.delay != Span::us(self.links[link].1) {
                    direction.switchovers = vec![(at(4_000), direction.delay)];
                    direction.delay = Span::us(self.links[link].1);
                }
            }
        }
        net
    }

    fn lasts(&self, link: usize) -> bool {
        self.lasting.iter().any(|(other, _)| *other == link)
    }
}

/// Two paths of 40G and of 40 and 10G, the slower with less delay: sprayed over both, packets beat each way
/// alone.
#[test]
fn a_flow_that_is_sprayed_over_unlike_paths_may_beat_each_and_has_slowdown_1_then() {
    let links =
        [(40, 292), (10, 1), (40, 30), (40, 118), (10, 1), (10, 196), (100, 1), (10, 1), (40, 1), (10, 1)];
    let lone = Lone {
        links: links.to_vec(),
        spray: true,
        before: Vec::new(),
        lasting: vec![(1, 0)],
        after: Vec::new(),
        switchovers: Vec::new(),
        reaction: (0, 0),
        ends: (0, 2),
        size: 31_001,
    };
    for records in [lone.network(|link| link != 1).run(), lone.changing().run()] {
        assert_eq!(slowdowns(&records), [1.0]);
    }
}

proptest! {
    #![proptest_config(support::property(250))]

    /// As if the links that are down for all its time had never been there, and the others had never failed.
    #[test]
    fn a_lone_flow_whose_time_no_fault_touches_has_the_ideal_of_the_network_that_it_meets(lone in lones()) {
        let control = Control::default();
        let unchanging = lone.network(|link| !lone.lasts(link));
        prop_assume!(Fabric::build(&unchanging.blueprint, &control).is_ok());
        let (still, records) = (unchanging.run(), lone.changing().run());
        prop_assert_eq!(fct_ps(&records), fct_ps(&still));
        prop_assert_eq!(ideals_us(&records), ideals_us(&still));
        prop_assert_eq!(slowdowns(&records), slowdowns(&still));
    }

    /// On the ring of switches of one rate that packets go round one way, then the other: where the ideal of
    /// one way was once beaten.
    #[test]
    fn no_flow_beats_its_ideal_whose_path_changes_while_it_is_sent(
        rates in prop::collection::vec(prop::sample::select(vec![10u64, 30, 100]), 8),
        sends in (0usize..4, 1usize..4, 1u64..60_000, 1u64..60),
        cut in (0usize..4, 0u64..60, 1u64..60),
        reaction in prop_oneof![3 => Just((0, 0)), 1 => (0u64..20, 0u64..20)],
        spray in any::<bool>(),
    ) {
        let (from, step, size, start) = sends;
        let mut net = Net::new(Format::Ethernet).limit(Span::ms(5));
        let switches: Vec<_> = (0..4).map(|i| net.switch(&format!("s{i}"))).collect();
        let hosts: Vec<_> = (0..4).map(|i| net.host(&format!("h{i}"))).collect();
        for i in 0..4 {
            net.link(switches[i], switches[(i + 1) % 4], Rate::gbps(rates[i]), Span::us(2), PFC);
        }
        for i in 0..4 {
            net.link(hosts[i], switches[i], Rate::gbps(rates[4 + i]), Span::us(1), PFC);
            if spray {
                net.routing(switches[i], r#""spray""#);
            }
        }
        let link = &mut net.blueprint.links[cut.0];
        link.down = periods(&[(start + cut.1, start + cut.1 + cut.2)]);
        (link.detection, link.convergence) = (Span::us(reaction.0), Span::us(reaction.1));
        net.flow(hosts[from], hosts[(from + step) % 4], Bytes(size), Span::us(start));
        let records = net.run();
        prop_assert!(slowdowns(&records).iter().all(|slowdown| slowdown.is_nan() || *slowdown >= 1.0));
    }
}

/// `a` - `s` - `t` - `b`, all at 100G, over 10 us between the switches; with `paths` links there, of which
/// the first fails at 20 us, for good.
fn dead(paths: usize, detection: u64, convergence: u64) -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(5)).until_limit();
    let (a, s, t, b) = (net.host("a"), net.switch("s"), net.switch("t"), net.host("b"));
    net.link(a, s, G100, Span::us(1), PFC);
    let first = net.link(s, t, G100, Span::us(10), PFC);
    for path in 1..paths {
        let link = net.link(s, t, G100, Span::us(10), PFC);
        net.blueprint.links[link].name = format!("s-t {path}");
    }
    net.link(t, b, G100, Span::us(1), PFC);
    let link = &mut net.blueprint.links[first];
    link.down = vec![(at(20), Time::NEVER)];
    (link.detection, link.convergence) = (Span::us(detection), Span::us(convergence));
    net.flow(a, b, Bytes::mb(2), Span::ZERO);
    net
}

/// Packets of the flow whose first bit is at s, and so on the way to t, before this time.
fn begun(us: u64) -> u64 {
    // The first one is in s whole a microsecond after it was sent, the others one after another.
    let first = PACKET + RETH + 1_000_000;
    (us * 1_000_000 - first).div_ceil(PACKET)
}

#[test]
fn until_its_ends_know_a_link_that_is_down_swallows_what_is_sent() {
    for detection in [0, 30, 60] {
        let records = dead(1, detection, 0).run();
        let sent = counter(&records, "s", "s-t", "tx_packets");
        assert_eq!(sent, begun(20 + detection));
        // What began by 10 us less its own time is at t by 20 us.
        let arrived = counter(&records, "t", "s-t", "rx_packets");
        assert_eq!(arrived, 102);
        let lost = drops_by(&records, "link_down");
        assert!((sent - arrived..=sent - arrived + 1).contains(&lost), "and perhaps one that waited: {lost}");
        assert_eq!(lost + drops_by(&records, "no_route"), 2_000 - arrived);
        assert_eq!(drops(&records), 2_000 - arrived, "by no other cause");
    }
}

#[test]
fn until_routes_are_recomputed_packets_go_to_the_dead_link() {
    // A flow for which the first way is the chosen one.
    let on_first = |net: &Net| {
        let mut still = Net { blueprint: net.blueprint.clone() };
        still.blueprint.links[1].down = Vec::new();
        counter(&still.run(), "s", "s-t", "tx_packets") > 0
    };
    for (detection, convergence) in [(0, 0), (30, 0), (0, 80), (30, 50)] {
        let mut net = dead(2, detection, convergence);
        while !on_first(&net) {
            net.blueprint.seed += 1;
            assert!(net.blueprint.seed < 50, "one of many hashes chooses it");
        }
        let records = net.run();
        let lost = drops_by(&records, "link_down");
        let until = begun(20 + detection + convergence);
        assert!((until - 102..=until - 101).contains(&lost), "{detection} {convergence}: {lost} of {until}");
        assert_eq!((drops(&records), drops_by(&records, "no_route")), (lost, 0));
        assert_eq!(counter(&records, "s", "s-t 1", "tx_packets"), 2_000 - 102 - lost);
    }
}

#[test]
fn a_link_that_comes_back_carries_frames_before_its_ends_and_routes_know() {
    let (mut net, h1, h2) = triangle(&[(0, 1_000)]);
    let link = &mut net.blueprint.links[1];
    (link.detection, link.convergence) = (Span::us(500), Span::us(300));
    net.flow(h1, h2, Bytes(500), Span::us(1_700));
    net.flow(h1, h2, Bytes(500), Span::us(1_900));
    let records = net.run();
    let fct = fct_ps(&records).into_iter().map(|fct| fct.expect("both arrive") / 1_000_000);
    assert_eq!(fct.collect::<Vec<_>>(), [802, 2_002]);
    assert_eq!(slowdowns(&records), [1.0, 1.0], "each has the ideal of its way");
}

#[test]
fn a_link_whose_delay_changes_keeps_the_order_of_its_packets_and_their_spacing() {
    for (before, after) in [(100, 10), (10, 100)] {
        let mut net = Net::new(Format::Ethernet).limit(Span::ms(5));
        let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
        let long = net.link(a, s, G100, Span::us(before), PFC);
        net.link(s, b, G100, Span::us(1), PFC);
        net.blueprint.links[long].directions[0].switchovers = vec![(at(50), Span::us(after))];
        net.flow(a, b, Bytes::mb(1), Span::ZERO);
        net.flow(a, b, Bytes(500), Span::us(2_000));
        let records = net.run();
        assert_eq!(whole(records.flows.column("out_of_order_packets")), [0, 0]);
        assert_eq!(whole(records.flows.column("packets")), [1_000, 1]);
        // What was sent on the long fibre is awaited; on a longer one the rest is so much later.
        let sent = 1_000 * PACKET + RETH;
        let slowest = before.max(after) * 1_000_000;
        // Without a gap between them, each waits for the first one's RETH on the last link.
        let behind = if before > after { RETH } else { 0 };
        assert_eq!(fct_ps(&records)[0], Some(sent + PACKET + behind + slowest + 1_000_000));
        let alone = 2 * 598 * 80 + (after + 1) * 1_000_000;
        assert_eq!((fct_ps(&records)[1], slowdowns(&records)[1]), (Some(alone), 1.0));
        assert!(slowdowns(&records)[0] >= 1.0);
    }
}

#[test]
fn flow_control_is_sized_for_the_longest_delay_of_a_link() {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(20)).until_limit();
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    let long = net.link(a, s, G100, Span::us(5), r#"{"pfc": {"xoff": "100KB"}}"#);
    net.link(s, b, Rate::gbps(10), Span::us(1), PFC);
    for direction in &mut net.blueprint.links[long].directions {
        direction.switchovers =
            vec![(at(300), Span::us(400)), (at(5_000), Span::us(20)), (at(9_000), Span::us(400))];
    }
    net.flow(a, b, UNBOUNDED, Span::ZERO);
    let lossless = net.run().outcome.lossless;
    assert_eq!(lossless.verdict, LosslessVerdict::HeldBySizing, "{lossless:?}");
}

#[test]
fn threads_keep_the_same_bytes_over_a_link_whose_delay_changes() {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#).limit(Span::ms(20));
    let mut hosts = Vec::new();
    let switches = [0, 1].map(|i| net.switch(&format!("s{i}")));
    for (i, &switch) in switches.iter().enumerate() {
        for n in 0..2 {
            hosts.push(net.host(&format!("h{i}{n}")));
            net.link(hosts[2 * i + n], switch, G100, Span::us(1), PFC);
        }
    }
    let long = net.link(switches[0], switches[1], G100, Span::us(40), PFC);
    let changes = [(100, 3), (150, 60), (400, 7), (700, 1)].map(|(us, delay)| (at(us), Span::us(delay)));
    net.blueprint.links[long].directions.iter_mut().for_each(|of| of.switchovers = changes.to_vec());
    for i in 0..8u64 {
        let (from, to) = (hosts[i as usize % 4], hosts[(i as usize + 2) % 4]);
        net.flow(from, to, Bytes::kb(500), Span::us(80 * i));
    }
    let one = net.run();
    let owners: Vec<u8> = net.blueprint.nodes.iter().map(|node| u8::from(node.name.contains('1'))).collect();
    let thread_plan = ThreadPlan::with_owners(&net.blueprint, &owners, true);
    let control = Control::default();
    let two = Fabric::build(&net.blueprint, &control).expect("it is sound").on(&thread_plan).run();
    assert_invariants(&two);
    assert_eq!(one.outcome.stopped, Stopped::Finished);
    assert_eq!(everything(&one), everything(&two));
}

/// A table is made where a packet asks for it, so that flaps cost no more than themselves; beforehand they
/// would be made for each of 200,000 states.
#[test]
fn links_may_flap_a_hundred_thousand_times() {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#).limit(Span::ms(200)).until_limit();
    let switches: Vec<_> = (0..6).map(|i| net.switch(&format!("s{i}"))).collect();
    let hosts: Vec<_> = (0..6).map(|i| net.host(&format!("h{i}"))).collect();
    for i in 0..6 {
        net.link(hosts[i], switches[i], G100, Span::us(1), PFC);
        for j in 0..i {
            let link = net.link(switches[i], switches[j], G100, Span::us(1), PFC);
            let phase = (i * i + j) as u64;
            // 6,667 flaps of each of 15 links.
            net.blueprint.links[link].down =
                (0..6_667).map(|n| (at(30 * n + phase), at(30 * n + phase + 9))).collect();
        }
    }
    for i in 0..6 {
        net.flow(hosts[i], hosts[(i + 1) % 6], Bytes::kb(100), Span::ms(30 * i as u64));
    }
    let records = run(&net.blueprint);
    assert!(finished(&records).iter().all(|done| *done));
    assert!(slowdowns(&records).iter().all(|slowdown| *slowdown >= 1.0));
}

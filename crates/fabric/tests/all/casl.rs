//! CASL in networks: which flows are labelled, what may be lost and what may not, and that nothing is
//! reordered.

use crate::support;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::support::{
    CASL, Net, assert_invariants, counter, drops, drops_by, everything, finished, names, params, real, sum,
    texts, whole,
};
use floodway_fabric::{Control, Fabric, Records, ThreadPlan, Threads};
use floodway_mechanisms::casl;
use floodway_mechanisms::is_discipline;
use floodway_mechanisms::registry::{AnyCongestionPoint, NotificationParams};
use floodway_mechanisms::slots::{
    CongestionPoint, CpAction, Cx, Demands, Detection, Discipline, DropReason, Gate, Mark, PacketView,
    PortEvent, QueueView, Queueing,
};
use floodway_units::{Bytes, NodeId, QueueId, Rate, Rng, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "60KB"}}"#;

/// Addresses of a flow's ends.
type Pair = (u32, u32);

/// Flows that were labelled congested at a port.
type Labelled = Arc<Mutex<BTreeSet<Pair>>>;

/// CASL, watched.
struct Watched {
    cp: casl::Cp,
    labelled: Labelled,
}

impl Watched {
    fn look(&self, now: Time, p: &PacketView) {
        if self.cp.is_harmful(now, p.flow) {
            self.labelled.lock().expect("nobody panics").insert((p.source, p.destination));
        }
    }
}

impl CongestionPoint for Watched {
    fn demands(&self) -> Demands {
        self.cp.demands()
    }

    is_discipline!();

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        self.cp.on_enqueue(cx, p, q)
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        let mark = self.cp.on_dequeue(cx, p, q);
        self.look(cx.now, p);
        mark
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        self.cp.on_event(cx, event);
    }

    fn next_timeout(&self) -> Option<Time> {
        self.cp.next_timeout()
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        self.cp.on_timeout(cx);
    }
}

impl Discipline for Watched {
    fn queueing(&self) -> Queueing {
        self.cp.queueing()
    }

    fn classify(&mut self, now: Time, p: &PacketView) -> u8 {
        self.cp.classify(now, p)
    }

    fn admit(&mut self, now: Time, rng: &mut Rng, p: &PacketView, q: &QueueView) -> Option<DropReason> {
        self.cp.admit(now, rng, p, q)
    }

    fn gate(&self, now: Time, q: QueueId) -> Gate {
        self.cp.gate(now, q)
    }
}

/// Runs with watched machines in the places of those that the blueprint has; the flows that they have
/// labelled, by port.
fn watched(net: &Net) -> (Records, Vec<(String, BTreeSet<Pair>)>) {
    let mut blueprint = net.blueprint.clone();
    let mut places = Vec::new();
    for (i, link) in blueprint.links.iter_mut().enumerate() {
        for (end, spec) in link.ends.iter_mut().enumerate() {
            for point in std::mem::take(&mut spec.congestion_points) {
                let floodway_mechanisms::registry::CongestionPointParams::Casl(params) = point else {
                    panic!("all of them are CASL's")
                };
                places.push((support::port(i, end), params));
            }
        }
    }
    // The last stays, so that classes have two queues.
    let (last, params_of_last) = places.pop().expect("there are some");
    blueprint.links[last.index() / 2].ends[last.index() % 2].congestion_points =
        vec![floodway_mechanisms::registry::CongestionPointParams::Casl(params_of_last)];
    let control = Control::default();
    let mut fabric = Fabric::build(&blueprint, &control).expect("it is sound");
    let mut found = Vec::new();
    for (port, params) in places {
        let labelled = Labelled::default();
        let cp = params.build(&blueprint.port_info(port)).expect("the parameters are valid");
        let point = AnyCongestionPoint::Custom(Box::new(Watched { cp, labelled: Arc::clone(&labelled) }));
        fabric.add_congestion_point(port, point).expect("it stands alone");
        found.push((blueprint.port_name(port), labelled));
    }
    let records = fabric.run();
    assert_invariants(&records);
    let of = |labelled: &Labelled| labelled.lock().expect("nobody panics").clone();
    (records, found.iter().map(|(name, labelled)| (name.clone(), of(labelled))).collect())
}

/// CASL at all ports of these switches.
fn everywhere(net: &mut Net, switches: &[NodeId], point: &str) {
    for end in net.blueprint.links.iter_mut().flat_map(|link| &mut link.ends) {
        if switches.contains(&end.node) {
            end.congestion_points.push(params(point));
        }
    }
}

/// DCQCN that counts losses, and selective repeat.
fn transport(net: &mut Net, rate_control: &str) {
    let settings = &mut net.blueprint.settings[0];
    settings.reliability = params(r#""irn""#);
    settings.rate_control = vec![params(rate_control)];
    settings.notification = NotificationParams::asked_by(&settings.rate_control);
}

const DCQCN: &str = r#"{"dcqcn": {"losses-as-cnps": "50us"}}"#;

/// Eight hosts send a burst each to one, and a victim's flow goes beside them to another host of the same
/// switch.
///
/// ```text
///  h1..h8 ──┐            ┌── to
///           s1 ════════ s2
///  victim ──┘  trunk     └── other
/// ```
fn incast(trunk: Rate, pfc: &str, point: Option<&str>, burst: Bytes) -> Net {
    let mut net = Net::new(Format::Ethernet);
    transport(&mut net, DCQCN);
    let buffer = r#"{"shared": {"pool": "12MB"}}"#;
    let switches = ["s1", "s2"].map(|name| net.switch_with(name, buffer));
    let hosts: Vec<NodeId> = (1..=8).map(|i| net.host(&format!("h{i}"))).collect();
    let [victim, to, other] = ["victim", "to", "other"].map(|name| net.host(name));
    net.link(switches[0], switches[1], trunk, Span::us(1), pfc);
    net.link(switches[1], to, G100, Span::us(1), pfc);
    for &host in hosts.iter().chain([&victim]) {
        net.link(host, switches[0], G100, Span::us(1), pfc);
    }
    net.link(switches[1], other, G100, Span::us(1), pfc);
    if let Some(point) = point {
        everywhere(&mut net, &switches, point);
    }
    for host in hosts {
        net.flow(host, to, burst, Span::ZERO);
    }
    net.flow(victim, other, Bytes::mb(2), Span::ZERO);
    net.limit(Span::ms(50))
}

#[test]
fn in_an_incast_bursts_are_labelled_where_they_meet_and_the_victim_nowhere() {
    let net = incast(Rate::gbps(1_000), r#"{"pfc": {"xoff": "6MB"}}"#, Some(r#""casl""#), Bytes::kb(500));
    let (records, labels) = watched(&net);
    assert!(finished(&records).iter().all(|done| *done));
    for (port, labelled) in labels {
        // Once most of them are labelled, the others no longer have a long queue of their own.
        if port == "s2 (s2-to)" {
            let is_burst = |pair: &Pair| (3..=10).contains(&pair.0) && pair.1 == 12;
            assert!(labelled.len() >= 4 && labelled.iter().all(is_burst), "{labelled:?}");
        } else {
            assert!(labelled.is_empty(), "{port}: {labelled:?}");
        }
    }
    assert!(records.outcome.lossless.is_held());
}

/// ```text
///  a ─────┐
///  b ──── s ── to      which pauses s from 20 us on
///  late ──┘
/// ```
#[test]
fn a_pause_holds_the_lossless_queue_alone() {
    let mut net = Net::new(Format::Ethernet).limit(Span::us(130)).until_limit();
    let switch = net.switch_with("s", r#"{"shared": {"pool": "12MB"}}"#);
    let [a, b, late, to] = ["a", "b", "late", "to"].map(|name| net.host(name));
    let pfc = r#"{"pfc": {"xoff": "6MB"}}"#;
    for host in [a, b, late] {
        net.link(host, switch, G100, Span::us(1), pfc);
    }
    let last = net.link(switch, to, G100, Span::us(1), pfc);
    // Two flows are labelled within 4 us, and have nothing in the lossless queue from then on.
    net.congestion_point(
        last,
        switch,
        r#"{"casl": {"kmin": "10KB", "kmax": "20KB", "threshold": "1B", "gain": 0.0625}}"#,
    );
    net.pauses(last, to, Span::us(20), Time::NEVER);
    net.flow(a, to, Bytes::kb(500), Span::ZERO);
    net.flow(b, to, Bytes::kb(500), Span::ZERO);
    // This one comes when s is paused.
    net.flow(late, to, Bytes::kb(10), Span::us(25));
    let records = net.run();
    assert_eq!(finished(&records), [true, true, false]);
    assert_eq!(whole(records.flows.column("delivered_bytes"))[2], 0);
    assert_eq!(drops(&records), 0);
    // 1 MB at 100 Gbit/s, as if there were no pause.
    let fct = real(records.flows.column("fct_us"));
    assert!(fct[0].max(fct[1]) < 92.0, "{fct:?}");
}

/// Parameters of the property tests.
#[derive(Clone, Debug)]
struct Plan {
    seed: u64,
    shared: bool,
    pipeline: bool,
    capacity: u64,
    /// The spines and the first of the leaves have none, or all switches have it.
    partly: bool,
    classes: bool,
    spines: usize,
    /// Sender, receiver, kilobytes, start in us.
    flows: Vec<(usize, usize, u64, u64)>,
}

const LEAVES: usize = 3;
const HOSTS: usize = 4;

fn plans() -> impl Strategy<Value = Plan> {
    let flow = (0..LEAVES * HOSTS, 0..LEAVES * HOSTS, 1u64..400, 0u64..60);
    let incast = (0..HOSTS, 2..2 * HOSTS + 1)
        .prop_map(|(to, senders)| (0..senders).map(|i| (HOSTS + i, to, 200, i as u64)).collect::<Vec<_>>());
    let flows = (incast, prop::collection::vec(flow, 1..14)).prop_map(|(mut all, more)| {
        all.extend(more);
        all.sort_by_key(|flow| flow.3);
        // A pair of addresses names a flow.
        let mut seen = BTreeSet::new();
        all.retain(|&(from, to, ..)| from != to && seen.insert((from, to)));
        all
    });
    let switches = (any::<bool>(), any::<bool>(), 2u64..60, any::<bool>());
    (any::<u64>(), switches, any::<bool>(), 1usize..4, flows).prop_map(
        |(seed, (shared, pipeline, capacity, partly), classes, spines, flows)| Plan {
            seed,
            shared,
            pipeline,
            capacity,
            partly,
            classes,
            spines,
            flows,
        },
    )
}

impl Plan {
    /// Leaves and spines; each packet is sent once, by hosts that know of no congestion.
    fn net(&self) -> Net {
        let mut net = Net::new(Format::Ethernet).reliability(r#""none""#).limit(Span::ms(20));
        net.blueprint.seed = self.seed;
        let (pfc, buffer) = if self.shared {
            (r#"{"pfc": {"xoff": {"alpha": 0.5}}}"#, r#"{"shared": {"pool": "150KB", "reserve": "2KB"}}"#)
        } else {
            (r#"{"pfc": {"xoff": "20KB"}}"#, r#"{"static": {"size": "auto"}}"#)
        };
        let mut switch = |name: String| net.switch_with(&name, buffer);
        let spines: Vec<NodeId> = (0..self.spines).map(|i| switch(format!("c{i}"))).collect();
        let leaves: Vec<NodeId> = (0..LEAVES).map(|i| switch(format!("t{i}"))).collect();
        let mut hosts = Vec::new();
        for &leaf in &leaves {
            for &spine in &spines {
                net.link(leaf, spine, G100, Span::us(1), pfc);
            }
            for _ in 0..HOSTS {
                let host = net.host(&format!("h{}", hosts.len()));
                net.link(host, leaf, G100, Span::us(1), pfc);
                hosts.push(host);
            }
        }
        let all: Vec<NodeId> = leaves.iter().chain(&spines).copied().collect();
        for &switch in all.iter().filter(|_| self.pipeline) {
            net.pipeline(switch, Span::ns(700));
        }
        if self.classes {
            net.second_class();
        }
        let point = CASL.replace("30KB", &format!("{}KB", self.capacity));
        everywhere(&mut net, if self.partly { &leaves[1..] } else { &all }, &point);
        for (i, &(from, to, kilobytes, start)) in self.flows.iter().enumerate() {
            let flow = net.flow(hosts[from], hosts[to], Bytes::kb(kilobytes), Span::us(start));
            flow.settings = (self.classes && i % 3 == 0).then_some(1);
        }
        net
    }
}

/// Packets of each flow that were lost, by the addresses of its ends.
fn lost(net: &Net, records: &Records) -> Vec<(Pair, u64)> {
    let address = |name: &String| {
        let node = net.blueprint.nodes.iter().position(|node| node.name == *name).expect("it is there");
        node as u32 + 1
    };
    let (from, to) = (names(records.flows.column("source")), names(records.flows.column("destination")));
    let (sizes, packets) =
        (whole(records.flows.column("size_bytes")), whole(records.flows.column("packets")));
    let pairs = from.iter().zip(&to).map(|(from, to)| (address(from), address(to)));
    pairs.zip(sizes.iter().zip(packets).map(|(size, got)| size / 1_000 - got)).collect()
}

proptest! {
    #![proptest_config(support::property(64))]

    #[test]
    fn only_labelled_flows_lose_packets_and_nothing_is_reordered(plan in plans()) {
        prop_assume!(!plan.flows.is_empty());
        let net = plan.net();
        let (records, labels) = watched(&net);
        let late: u64 = whole(records.flows.column("out_of_order_packets")).iter().sum();
        prop_assert_eq!(late, 0);
        prop_assert!(records.outcome.lossless.is_held());
        let chosen = drops_by(&records, "selective") + drops_by(&records, "isolated_full");
        prop_assert_eq!(drops(&records), chosen, "{:?}", records.outcome.drops);
        // One port is not watched; it leads to the last host.
        let last = net.blueprint.nodes.len() as u32;
        let labelled: BTreeSet<Pair> = labels.into_iter().flat_map(|(_, labelled)| labelled).collect();
        let lost = lost(&net, &records);
        for (pair, packets) in &lost {
            prop_assert!(*packets == 0 || labelled.contains(pair) || pair.1 == last, "{pair:?} lost {packets}");
        }
        prop_assert_eq!(lost.iter().map(|(_, packets)| packets).sum::<u64>(), chosen);
        let expected: Vec<bool> = lost.iter().map(|(_, packets)| *packets == 0).collect();
        prop_assert_eq!(finished(&records), expected);
    }
}

/// The properties mean something: there are labels, losses of both kinds, and pauses.
#[test]
fn random_traffic_has_labels_losses_and_pauses() {
    let plan = |seed, partly| Plan {
        seed,
        shared: seed % 2 == 0,
        pipeline: seed % 3 == 0,
        capacity: 30,
        partly,
        classes: false,
        spines: 2,
        flows: [(4, 1, 300, 0), (8, 2, 300, 0)]
            .into_iter()
            .chain((0..8).map(|i| (HOSTS + i, 0, 400, 10 * i as u64)))
            .collect(),
    };
    let (mut selective, mut full, mut pauses) = (0, 0, 0);
    for seed in 0..6 {
        let (records, labels) = watched(&plan(seed, seed == 5).net());
        selective += drops_by(&records, "selective");
        full += drops_by(&records, "isolated_full");
        pauses += sum(&records, "pfc_rx");
        assert!(labels.iter().any(|(_, labelled)| !labelled.is_empty()));
    }
    assert!(selective > 0 && full > 0 && pauses > 0, "{selective} {full} {pauses}");
}

#[test]
fn any_number_of_threads_keeps_the_same_bytes() {
    let point = r#"{"casl": {"capacity": "100KB"}}"#;
    let mut net = incast(Rate::gbps(1_000), r#"{"pfc": {"xoff": "60KB"}}"#, Some(point), Bytes::kb(300));
    net.blueprint.records.signals = Some(10_000);
    let control = Control::default();
    let one = net.run();
    assert!(drops(&one) > 0 && sum(&one, "pfc_rx") > 0);
    let one = everything(&one);
    for threads in [2, 3] {
        let thread_plan = ThreadPlan::of_run(&net.blueprint, Threads::Forced(threads), threads);
        let fabric = Fabric::build(&net.blueprint, &control).expect("it is sound").on(&thread_plan);
        assert!(everything(&fabric.run()) == one, "{threads} threads");
    }
}

/// A flow that was labelled before arrives at a port whose ingress is paused, and has no label there.
///
/// ```text
///  a ──┐                    ┌── slow      s1 labels all that it sends on the trunk
///      s1 ── trunk ── s2 ───┤             s2 has CASL or not; slow takes a tenth
///  b ──┘                    └── fast
/// ```
#[test]
fn packets_that_no_pause_held_fit_behind_a_pause_in_a_lossy_queue_only() {
    let run = |at_second: Option<&str>| {
        let mut net = Net::new(Format::Ethernet).limit(Span::ms(1)).until_limit();
        let [s1, s2] = ["s1", "s2"].map(|name| net.switch_with(name, r#"{"static": {"size": "auto"}}"#));
        let [a, b, slow, fast] = ["a", "b", "slow", "fast"].map(|name| net.host(name));
        let pfc = r#"{"pfc": {"xoff": "20KB"}}"#;
        let trunk = net.link(s1, s2, G100, Span::us(1), pfc);
        net.link(a, s1, G100, Span::us(1), pfc);
        net.link(b, s1, G100, Span::us(1), pfc);
        let last = net.link(s2, slow, Rate::gbps(10), Span::us(1), pfc);
        let next = net.link(s2, fast, G100, Span::us(1), pfc);
        let labels =
            r#"{"casl": {"kmin": "0B", "kmax": "1B", "threshold": "1B", "gain": 1, "capacity": "5MB"}}"#;
        net.congestion_point(trunk, s1, labels);
        for link in [last, next] {
            if let Some(point) = at_second {
                net.congestion_point(link, s2, point);
            }
        }
        net.flow(a, slow, Bytes::mb(1), Span::ZERO);
        net.flow(b, fast, Bytes::mb(1), Span::ZERO);
        let records = net.run();
        assert!(records.outcome.lossless.is_held());
        assert_eq!(drops(&records), drops_by(&records, "isolated_full"));
        let delivered = whole(records.flows.column("delivered_bytes"));
        (drops(&records), delivered[0], delivered[1], counter(&records, "s2", "s1-s2", "peak_bytes"))
    };
    // Without a lossy queue at s2 what the slow link does not take is dropped: 1 MB less what it had time
    // for.
    let (lost, slow, _, peak) = run(None);
    assert!(lost > 500 && slow < 500_000, "{lost} {slow}");
    assert!(peak < 40_000, "{peak}: xoff and some, though 100 Gbit/s came for 160 us");
    // With one that is large enough, nothing is, and the account holds no more for it.
    let inactive = r#"{"casl": {"kmin": "9MB", "kmax": "9MB", "capacity": "5MB"}}"#;
    let (lost, slow, fast, peak) = run(Some(inactive));
    assert_eq!((lost, slow, fast), (0, 1_000_000, 1_000_000));
    assert!(peak < 40_000, "{peak}");
}

fn refused(net: &Net) -> String {
    let control = Control::default();
    match Fabric::build(&net.blueprint, &control) {
        Ok(_) => panic!("it is refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn incompatible_mechanisms_are_refused_by_name() {
    let net = |buffer: &str, control: &str, points: &[&str]| {
        let mut net = Net::new(Format::Ethernet);
        let (a, s, b) = (net.host("a"), net.switch_with("s", buffer), net.host("b"));
        net.link(a, s, G100, Span::us(3), control);
        let last = net.link(s, b, G100, Span::us(3), control);
        for point in points {
            net.congestion_point(last, s, point);
        }
        net.flow(a, b, Bytes::kb(1), Span::ZERO);
        net
    };
    let auto = r#"{"static": {"size": "auto"}}"#;
    let crossbar = refused(&net(r#""ioq""#, PFC, &[r#""casl""#]));
    assert!(crossbar.contains("s (s-b)") && crossbar.contains("input-output queued"), "{crossbar}");
    for control in [r#""cbfc""#, r#""bifrost""#] {
        let text = refused(&net(auto, control, &[r#""casl""#]));
        assert!(text.contains("s (s-b)") && text.contains(control) && text.contains("s-b"), "{text}");
    }
    let both = refused(&net(auto, PFC, &[r#""rcm""#, r#""casl""#]));
    assert!(both.contains("two of the list both decide how packets queue"), "{both}");
    for control in [PFC, r#""lossy""#] {
        let buffer = if control == PFC { auto } else { r#"{"shared": {"pool": "1MB"}}"# };
        assert!(finished(&net(buffer, control, &[r#""casl""#]).run())[0]);
    }
}

#[test]
fn states_and_marks_are_among_signals() {
    let mut net = incast(Rate::gbps(1_000), r#"{"pfc": {"xoff": "6MB"}}"#, Some(r#""casl""#), Bytes::kb(500));
    net.blueprint.records.signals = Some(100_000);
    let records = net.run();
    let signals = records.signals.as_ref().expect("it was asked for");
    let (nodes, links) = (names(signals.column("node")), names(signals.column("link")));
    let states = texts(signals, "state").into_iter().enumerate();
    let seen: Vec<String> = states
        .filter(|(row, _)| (nodes[*row].as_str(), links[*row].as_str()) == ("s2", "s2-to"))
        .filter_map(|(_, state)| state)
        .collect();
    assert_eq!(seen[..2], ["lossless", "isolating"], "{seen:?}");
    assert!(counter(&records, "s2", "s2-to", "ecn_marks") > 100);
}

/// Pauses of the trunk, and completion times in us: of the victim, and the mean of the bursts.
fn measured(net: &Net) -> (u64, f64, f64) {
    let records = net.run();
    assert!(records.outcome.lossless.is_held());
    assert!(finished(&records).iter().all(|done| *done), "what is lost is retransmitted");
    let fct = real(records.flows.column("fct_us"));
    (counter(&records, "s1", "s1-s2", "pfc_rx"), fct[8], fct[..8].iter().sum::<f64>() / 8.0)
}

/// The victim alone takes 176 us. The burst fills the buffer, and pauses, until its flows are isolated.
#[test]
fn the_incast_pauses_the_victims_link_until_its_flows_are_isolated() {
    let of = |point| {
        let (mut pauses, mut victim, mut bursts) = (0, 0.0, 0.0);
        for seed in 1..5 {
            let pfc = r#"{"pfc": {"xoff": "400KB"}}"#;
            let mut net = incast(Rate::gbps(1_000), pfc, Some(point), Bytes::kb(500));
            net.blueprint.seed = seed;
            let run = measured(&net);
            (pauses, victim, bursts) = (pauses + run.0, victim + run.1 / 4.0, bursts + run.2 / 4.0);
        }
        (pauses, victim, bursts)
    };
    let (pauses, victim, bursts) = of(r#"{"red": {"kmin": "100KB", "kmax": "400KB", "pmax": 0.2}}"#);
    let (with, beside, isolated) = of(r#""casl""#);
    assert!(2 * with < pauses && beside < 0.9 * victim, "{with} {pauses} {beside} {victim}");
    assert!(isolated < 0.9 * bursts, "{isolated} {bursts}: they are not paused either");
}

#[test]
fn flows_whose_packets_may_be_dropped_have_timers() {
    // All but one packet of the flow are dropped: nothing reports the last.
    let mut net = incast(Rate::gbps(1_000), PFC, None, Bytes::kb(40));
    let s2 = NodeId(1);
    net.congestion_point(
        1,
        s2,
        r#"{"casl": {"kmin": "1KB", "kmax": "2KB", "gain": 1, "capacity": "1600B", "threshold": "1B"}}"#,
    );
    let records = net.run();
    assert!(drops_by(&records, "isolated_full") > 50, "{:?}", records.outcome.drops);
    assert!(finished(&records).iter().all(|done| *done));
    assert!(whole(records.flows.column("timeouts")).iter().sum::<u64>() > 0);
}

//! Patterns of traffic: generated flows, draws by the seed, and errors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use floodway_fabric::blueprint::{Arrivals, FlowSpec, PoissonSpec, UNBOUNDED};
use floodway_fabric::destinations::DestinationPattern;
use floodway_fabric::{Control, Fabric, Records, Values};
use floodway_scenario::{Scenario, check};
use floodway_units::{Bytes, NodeId, Span, Time};
use proptest::prelude::*;

const TREE: &str = "topology.fat-tree = { k = 4, rate = \"100G\", delay = \"1us\" }\n";
const TWO: &str = "topology.two-dc = { fabric.fat-tree = { k = 4 }, rate = \"100G\", delay = \"1us\", \
                   long-link = { rate = \"400G\", length = \"80km\" } }\n";

/// Every pattern that the seed draws, and some that it does not.
const PATTERNS: &[&str] = &[
    "permutation = { size = \"1KB\" }",
    "permutation = { size = \"1KB\", every = \"100us\" }",
    "incast = { to = \"*\", fan-in = 5, size = \"1KB\", every = \"50us\" }",
    "incast = { to = \"*\", fan-in = 5, size = \"1KB\", every = \"50us\", spacing = \"exponential\" }",
    "incast = { to = { tag = \"pod-1\" }, from = { tag = \"pod-2\" }, size = \"10KB\", load = 0.1 }",
    "all-to-all = { of = \"h?\", size = \"1KB\", every = \"300us\" }",
    "micro-bursts = { to = \"h16\", length = \"2us\", every = \"100us\" }",
    "micro-bursts = { to = \"h16\", length = \"2us\", every = \"100us\", spacing = \"exponential\" }",
    "micro-bursts = { to = \"*\", length = \"2us\", every = \"100us\", spacing = \"exponential\", synchronised = true }",
    "poisson = { sizes = \"websearch\", load = 0.1, hot-spot = {} }",
    "poisson = { sizes = \"websearch\", load = 0.1, hot-spot = { hosts = [\"h1\", \"h9\"] } }",
    "burst = { to = \"h16\", size = \"1KB\", every = \"100us\" }",
];

fn text(network: &str, pattern: &str) -> String {
    format!("{network}[[workload]]\nname = \"w\"\nuntil = \"1ms\"\n{pattern}\n")
}

fn read(text: &str, sets: &[(String, String)]) -> Scenario {
    Scenario::from_text("a.toml", text, sets).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// The flows of a pattern in a fat tree of 16 hosts.
fn flows(pattern: &str, seed: u64) -> Vec<FlowSpec> {
    let scenario = read(&text(TREE, pattern), &[]).with_seed(seed);
    match &scenario.blueprint().workloads[0].arrivals {
        Arrivals::List(flows) => flows.clone(),
        other => panic!("it is a list: {other:?}"),
    }
}

fn poisson(network: &str, keys: &str, seed: u64) -> PoissonSpec {
    let pattern = format!("poisson = {{ sizes = \"websearch\", load = 0.1, {keys} }}");
    let scenario = read(&text(network, &pattern), &[]).with_seed(seed);
    match &scenario.blueprint().workloads[0].arrivals {
        Arrivals::Poisson(poisson) => poisson.clone(),
        other => panic!("it is Poisson: {other:?}"),
    }
}

fn error_of(network: &str, pattern: &str) -> String {
    match Scenario::from_text("a.toml", &text(network, pattern), &[]) {
        Ok(_) => panic!("it was accepted: {pattern}"),
        Err(errors) => errors.to_string(),
    }
}

/// Flows by their start.
fn by_start(flows: &[FlowSpec]) -> BTreeMap<Time, Vec<&FlowSpec>> {
    let mut starts: BTreeMap<Time, Vec<&FlowSpec>> = BTreeMap::new();
    for flow in flows {
        starts.entry(flow.start).or_default().push(flow);
    }
    starts
}

fn us(n: u64) -> Time {
    Time::ZERO + Span::us(n)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn another_seed_is_the_same_as_if_the_text_had_it(seed: u64, other: u64) {
        for pattern in PATTERNS {
            let text = text(TREE, pattern);
            let said = read(&text, &[("seed".to_owned(), seed.to_string())]);
            let later = read(&text, &[("seed".to_owned(), other.to_string())]).with_seed(seed);
            prop_assert_eq!(format!("{:?}", said.blueprint()), format!("{:?}", later.blueprint()), "{}", pattern);
            prop_assert_eq!(check(&said, true), check(&later, true));
            prop_assert_eq!(said.warnings(), later.warnings());
        }
    }
}

#[test]
fn a_seed_draws_every_pattern_again() {
    let is_drawn = |pattern: &&&str| !pattern.starts_with("all-to-all") && !pattern.starts_with("burst");
    for pattern in PATTERNS.iter().filter(is_drawn).filter(|pattern| !pattern.contains("h9")) {
        let arrivals = |seed| {
            let scenario = read(&text(TREE, pattern), &[]).with_seed(seed);
            format!("{:?}", scenario.blueprint().workloads)
        };
        assert!((2..10).any(|seed| arrivals(seed) != arrivals(1)), "{pattern}");
    }
}

#[test]
fn incasts_have_different_senders_and_one_receiver_at_one_instant() {
    let drawn =
        flows("incast = { to = [\"h1\", \"h2\", \"h9\"], fan-in = 5, size = \"64KB\", every = \"10us\" }", 3);
    let starts = by_start(&drawn);
    // From 0 on, and not at 1 ms.
    assert!(starts.keys().copied().eq((0..100).map(|i| us(10 * i))));
    let mut receivers = BTreeMap::new();
    for incast in starts.values() {
        let senders: BTreeSet<NodeId> = incast.iter().map(|flow| flow.source).collect();
        let receiver = incast[0].destination;
        assert_eq!((incast.len(), senders.len()), (5, 5));
        assert!(incast.iter().all(|flow| flow.destination == receiver && flow.size == Bytes::kb(64)));
        assert!(!senders.contains(&receiver));
        *receivers.entry(receiver).or_insert(0.0) += 1.0;
    }
    // A third of the incasts each: a binomial, within five standard deviations.
    let most = 5.0 * (100.0 / 3.0 * 2.0 / 3.0_f64).sqrt();
    assert!(
        receivers.len() == 3 && receivers.values().all(|&count: &f64| (count - 100.0 / 3.0).abs() <= most)
    );
    let all = flows("incast = { to = \"h3\", size = \"1KB\" }", 1);
    assert_eq!((all.len(), by_start(&all).len()), (15, 1));
}

#[test]
fn incasts_may_be_a_share_of_the_capacity() {
    // Four times 500 KB are 16 Mbit; 2 % of 16 NICs of 100G are 32 Gbit/s: one each 500 us.
    let half = flows("incast = { to = \"*\", fan-in = 4, size = \"500KB\", load = 0.02 }", 1);
    assert!(by_start(&half).keys().copied().eq([us(0), us(500)]));
    // Of the NIC of the receiver's switch alone, 2 Gbit/s, that is one in 8 ms.
    let rare =
        flows("incast = { to = \"h1\", fan-in = 4, size = \"500KB\", load = 0.02, of = \"h1-t1\" }", 1);
    assert_eq!(by_start(&rare).len(), 1);
}

/// A thousand incasts in the mean: Poisson, within five standard deviations of their number and of the share
/// of gaps above the mean.
#[test]
fn incasts_may_be_a_poisson_process_of_a_load() {
    // Four times 5 KB are 160 kbit; 10 % of 16 NICs of 100G are 160 Gbit/s: one each microsecond.
    let incasts =
        "incast = { to = \"*\", fan-in = 4, size = \"5KB\", load = 0.1, spacing = \"exponential\" }";
    let drawn = flows(incasts, 1);
    let starts: Vec<Time> = by_start(&drawn).into_keys().collect();
    assert!((starts.len() as f64 - 1_000.0).abs() < 5.0 * 1_000_f64.sqrt(), "{}", starts.len());
    assert!(starts.iter().all(|start| *start < us(1_000)) && drawn.len() == 4 * starts.len());
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1].since(pair[0]).as_us()).collect();
    let (n, share) = (gaps.len() as f64, std::f64::consts::E.recip());
    let above = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / n;
    assert!((above - share).abs() < 5.0 * (share * (1.0 - share) / n).sqrt(), "{above}");
    // The receivers and senders are those of any spacing; `every` is a mean as well.
    let every =
        flows("incast = { to = \"*\", size = \"1KB\", every = \"10us\", spacing = \"exponential\" }", 2);
    let times = by_start(&every).len() as f64;
    assert!((times - 100.0).abs() < 50.0 && times != 100.0, "{times}");
    let once = error_of(TREE, "incast = { to = \"h1\", size = \"1KB\", spacing = \"exponential\" }");
    assert!(once.contains("workload.w.incast.spacing: an incast that comes once has no spacing"), "{once}");
}

/// A window so short that most draws have no incast still runs.
#[test]
fn a_poisson_process_without_an_incast_is_a_run_without_flows() {
    let rare =
        "incast = { to = \"h1\", fan-in = 4, size = \"500KB\", load = 0.0001, spacing = \"exponential\" }";
    let scenario = read(&text(TREE, rare), &[]).with_seed(1);
    let Arrivals::List(flows) = &scenario.blueprint().workloads[0].arrivals else { panic!("a list") };
    assert_eq!(flows.len(), 0);
    assert_eq!(run(&scenario).flows.rows(), 0);
}

#[test]
fn permutations_are_drawn_again_each_time_and_the_first_is_unchanged() {
    let once = flows("permutation = { size = \"1KB\" }", 5);
    let again = flows("permutation = { size = \"1KB\", every = \"100us\" }", 5);
    let ends =
        |flows: &[FlowSpec]| flows.iter().map(|flow| (flow.source, flow.destination)).collect::<Vec<_>>();
    assert_eq!((once.len(), again.len()), (16, 160));
    assert_eq!(ends(&once), ends(&again[..16]));
    assert_ne!(ends(&again[..16]), ends(&again[16..32]));
    for flows in by_start(&again).values() {
        assert_eq!(flows.iter().map(|flow| flow.destination).collect::<BTreeSet<_>>().len(), 16);
    }
    let endless = format!("limit = \"1ms\"\n{}", text(TREE, "permutation = { size = \"unbounded\" }"));
    let endless = read(&endless, &[]);
    let Arrivals::List(flows) = &endless.blueprint().workloads[0].arrivals else { panic!("a list") };
    assert!(flows.len() == 16 && flows.iter().all(|flow| flow.size == UNBOUNDED));
}

#[test]
fn all_to_all_is_every_pair_and_a_host_begins_with_the_next() {
    let all = flows("all-to-all = { size = \"1KB\", every = \"500us\" }", 1);
    assert_eq!(all.len(), 2 * 16 * 15);
    let pairs: BTreeSet<_> = all[..240].iter().map(|flow| (flow.source, flow.destination)).collect();
    assert_eq!(pairs.len(), 240);
    let first: BTreeSet<NodeId> = all[..16].iter().map(|flow| flow.destination).collect();
    assert_eq!(first.len(), 16);
}

#[test]
fn micro_bursts_fill_their_length_at_their_phase() {
    // 231 packets of 1000 B occupy 19.997 us at 100G.
    let bursts = "micro-bursts = { from = [\"h1\", \"h2\"], to = [\"h15\", \"h16\"], length = \"20us\", every = \"250us\"";
    let drawn = flows(&format!("{bursts} }}"), 1);
    let of = |source: NodeId| drawn.iter().filter(move |flow| flow.source == source).collect::<Vec<_>>();
    let (one, other) = (of(NodeId(0)), of(NodeId(1)));
    assert_eq!((one.len(), other.len(), drawn.len()), (4, 4, 8));
    assert_ne!(one[0].start, other[0].start);
    for (burst, to) in [(one, NodeId(14)), (other, NodeId(15))] {
        assert!(burst.iter().all(|flow| flow.size == Bytes(231_000) && flow.destination == to));
        assert!(burst[0].start < us(250));
        assert!(burst.windows(2).all(|pair| pair[1].start.since(pair[0].start) == Span::us(250)));
    }
    let together = by_start(&flows(&format!("{bursts}, synchronised = true }}"), 1))
        .into_iter()
        .map(|(start, flows)| (start, flows.len()))
        .collect::<Vec<_>>();
    assert_eq!(together, [(us(0), 2), (us(250), 2), (us(500), 2), (us(750), 2)]);
    // At 40G, 100,000 B: (100,000 - 1098) / 1082 = 91.4, so 92 packets and one of 440 B, of which 358 are
    // payload.
    let slower = flows(&format!("{bursts}, rate = \"40G\" }}"), 1);
    assert_eq!(slower[0].size, Bytes(92_358));
    let once =
        flows("micro-bursts = { from = \"h1\", to = \"h16\", length = \"20us\" }\nstart = \"150us\"", 1);
    assert_eq!((once.len(), once[0].start), (1, us(150)));
}

#[test]
fn exponential_bursts_in_step_are_at_the_same_times() {
    let keys = "length = \"1us\", every = \"20us\", spacing = \"exponential\"";
    let drawn = flows(&format!("micro-bursts = {{ to = \"*\", {keys}, synchronised = true }}"), 4);
    let starts = by_start(&drawn);
    assert!(starts.values().all(|flows| flows.len() == 16));
    assert!(starts.len() > 20 && starts.keys().all(|&start| start < us(1000)));
    let apart = by_start(&flows(&format!("micro-bursts = {{ to = \"*\", {keys} }}"), 4)).len();
    assert!(apart > 10 * starts.len(), "{apart}");
}

#[test]
fn hot_hosts_are_fixed_by_the_seed_and_named() {
    let hot = |keys: &str, seed| match poisson(TREE, keys, seed).pattern {
        DestinationPattern::HotSpot { share, hosts } => (share, hosts),
        pattern => panic!("{pattern:?}"),
    };
    let (share, hosts) = hot("hot-spot = {}", 1);
    assert_eq!((share, hosts.len()), (0.15, 2));
    assert_eq!(hosts, hot("hot-spot = {}", 1).1);
    assert!((2..10).any(|seed| hot("hot-spot = {}", seed).1 != hosts));
    // As often hot as any other: 2 of 16 over 1000 seeds, within five standard deviations.
    let mut counts = [0.0; 16];
    let drawn = read(&text(TREE, "poisson = { sizes = \"websearch\", load = 0.1, hot-spot = {} }"), &[]);
    for seed in 0..1000 {
        let scenario = drawn.clone().with_seed(seed);
        let Arrivals::Poisson(poisson) = &scenario.blueprint().workloads[0].arrivals else {
            panic!("Poisson")
        };
        let DestinationPattern::HotSpot { hosts, .. } = &poisson.pattern else { panic!("it has a hot spot") };
        for host in hosts {
            counts[host.index()] += 1.0;
        }
    }
    let most = 5.0 * (1000.0 * 0.125 * 0.875_f64).sqrt();
    assert!(counts.iter().all(|count: &f64| (count - 125.0).abs() <= most), "{counts:?}");

    let named = "hot-spot = { share = 0.4, hosts = [\"h3\", \"h12\"] }";
    assert_eq!(hot(named, 1), (0.4, vec![NodeId(2), NodeId(11)]));
    let pattern = format!("poisson = {{ sizes = \"websearch\", load = 0.1, {named} }}");
    let scenario = read(&text(TREE, &pattern), &[]);
    let report = check(&scenario, true);
    assert_eq!(report.workloads[0].hot_hosts, ["h3", "h12"]);
    assert!(report.text().contains("\nhot hosts of w: h3, h12\n"), "{}", report.text());
    let json: serde_json::Value = serde_json::from_str(&scenario.resolved_json()).expect("it is JSON");
    let settings = json["resolved"].as_array().and_then(|groups| groups.last()).expect("the workload's");
    let hot = settings["settings"].as_array().and_then(|settings| settings.last()).expect("it is the last");
    assert_eq!((&hot["key"], &hot["value"]), (&"hot-hosts".into(), &serde_json::json!(["h3", "h12"])));
}

#[test]
fn a_share_goes_to_other_datacenters() {
    let spec = poisson(TWO, "inter-dc = 0.3", 1);
    let DestinationPattern::Groups { share, groups, home } = &spec.pattern else {
        panic!("{:?}", spec.pattern)
    };
    assert_eq!(*share, 0.3);
    let hosts = |range: std::ops::Range<u32>| range.map(NodeId).collect::<Vec<_>>();
    assert_eq!(groups[..], [hosts(0..16), hosts(16..32)]);
    assert_eq!((home[0], home[15], home[16], home[31], home[32]), (0, 0, 1, 1, 2));
    assert_eq!(poisson(TWO, "to = \"*\"", 1).pattern, DestinationPattern::Uniform);
    // Where all flows leave, no host needs a neighbour.
    let all = poisson(TWO, "inter-dc = 1.0, from = { tag = \"dc-a\" }, to = { tag = \"dc-b\" }", 1);
    assert!(matches!(all.pattern, DestinationPattern::Groups { .. }));
}

#[test]
fn groups_are_hosts_that_follow_one_another() {
    let spec = poisson(TREE, "groups = 4", 1);
    let DestinationPattern::Groups { share, groups, home } = &spec.pattern else {
        panic!("{:?}", spec.pattern)
    };
    let hosts = |range: std::ops::Range<u32>| range.map(NodeId).collect::<Vec<_>>();
    assert_eq!((*share, &groups[..]), (0.0, &[hosts(0..4), hosts(4..8), hosts(8..12), hosts(12..16)][..]));
    assert_eq!((home[0], home[3], home[4], home[15], home[16]), (0, 0, 1, 3, 4));
    // Who only receives is in a group, too.
    let spec = poisson(TREE, "groups = 2, from = [\"h1\", \"h3\"], to = [\"h2\", \"h4\"]", 1);
    let DestinationPattern::Groups { groups, .. } = &spec.pattern else { panic!("{:?}", spec.pattern) };
    assert_eq!(groups[..], [hosts(1..2), hosts(3..4)]);
}

#[test]
fn groups_in_turn_reach_over_all_pods() {
    let spec = poisson(TREE, "groups = 4, grouping = \"in-turn\"", 1);
    let DestinationPattern::Groups { groups, home, .. } = &spec.pattern else { panic!("{:?}", spec.pattern) };
    let hosts = |first: u32| (first..16).step_by(4).map(NodeId).collect::<Vec<_>>();
    assert_eq!(groups[..], [hosts(0), hosts(1), hosts(2), hosts(3)]);
    assert_eq!((home[0], home[3], home[4], home[15], home[16]), (0, 3, 0, 3, 4));
    let consecutive = poisson(TREE, "groups = 4, grouping = \"consecutive\"", 1);
    assert_eq!(consecutive.pattern, poisson(TREE, "groups = 4", 1).pattern);
}

#[test]
fn patterns_that_cannot_be_are_refused() {
    for (pattern, why) in [
        (
            "incast = { to = \"h1\", from = \"h?\", fan-in = 9, size = \"1KB\" }",
            "incast.fan-in: 9 senders are required, but \"h?\" has 8 beside h1",
        ),
        (
            "incast = { to = \"h1\", fan-in = 0, size = \"1KB\" }",
            "incast.fan-in: 0 is not allowed; the minimum is 1",
        ),
        (
            "incast = { to = \"h1\", from = [\"h2\", \"h30\"], size = \"1KB\" }",
            "incast.from: \"h30\" matches no host; did you mean \"h10\"?",
        ),
        (
            "incast = { to = \"h1\", from = \"h1\", size = \"1KB\" }",
            "incast.from: h1 could send to itself only",
        ),
        ("incast = { to = \"h1\", size = \"0B\" }", "incast.size: a flow of 0B has no bytes"),
        (
            "incast = { to = \"x1\", size = \"1KB\" }",
            "incast.to: \"x1\" matches no host; did you mean \"h1\"?",
        ),
        (
            "incast = { to = \"h1\", size = \"1KB\", every = \"1us\", load = 0.1 }",
            "incast: \"load\" and \"every\" are given together: give one",
        ),
        (
            "incast = { to = \"h1\", size = \"1KB\", of = \"h1-t1\" }",
            "incast.of: it needs \"load\", which is not given",
        ),
        ("incast = { to = \"h1\", size = \"1KB\", load = -1.0 }", "incast.load: -1 is not a load above 0"),
        (
            "incast = { to = \"h1\", size = \"1KB\", load = 0.1, of = \"h1-t2\" }",
            "incast.of: \"h1-t2\" matches no link; \"hosts\" means the senders' NICs; did you mean \"h1-t1\"?",
        ),
        (
            "incast = { to = \"h1\", size = \"1KB\", every = \"1ns\" }",
            "incast.every: that makes more than 1048576 flows",
        ),
        (
            "permutation = { size = \"unbounded\", every = \"1us\" }",
            "permutation.every: flows without end start once only",
        ),
        ("permutation = { size = \"0B\" }", "permutation.size: a flow of 0B has no bytes"),
        (
            "all-to-all = { size = \"1KB\", every = \"0us\" }",
            "all-to-all.every: 0us is not allowed: an all-to-all would repeat without end; write a time above 0",
        ),
        (
            "micro-bursts = { to = \"h1\", length = \"20us\", every = \"20us\" }",
            "micro-bursts.length: a burst of 20us every 20us never pauses",
        ),
        (
            "micro-bursts = { to = \"h1\", length = \"1ns\" }",
            "micro-bursts.length: in 1ns, h2 sends no packet at 100G",
        ),
        (
            "micro-bursts = { to = \"h1\", length = \"1us\", rate = \"400G\" }",
            "micro-bursts.rate: 400G is not a rate above 0 and up to that of h2, 100G",
        ),
        (
            "micro-bursts = { to = \"h1\", length = \"1us\", spacing = \"exponential\" }",
            "micro-bursts.spacing: a burst that comes once has no spacing: \"every\" is missing",
        ),
    ] {
        assert_eq!(error_of(TREE, pattern), format!("a.toml:5: workload.w.{why}"));
    }
    let error = error_of(TREE, "micro-bursts = { to = \"h1\", lenght = \"1us\" }");
    assert!(error.ends_with("did you mean \"length\"?"), "{error}");
    let error = error_of(TREE, "microbursts = { to = \"h1\", length = \"1us\" }");
    assert!(error.ends_with("did you mean \"micro-bursts\"?"), "{error}");
    assert_eq!(
        error_of(
            TREE,
            "micro-bursts = { to = \"h1\", length = \"1us\", every = \"1ms\", spacing = \"exponental\" }"
        ),
        "a.toml:5: workload.w.micro-bursts.spacing: \"exponental\" is not a choice; allowed: fixed, exponential; \
         did you mean \"exponential\"?"
    );
    let endless = text(TREE, "incast = { to = \"h1\", size = \"1KB\", every = \"1us\" }")
        .replace("until = \"1ms\"", "");
    assert_eq!(
        Scenario::from_text("a.toml", &endless, &[]).unwrap_err().to_string(),
        "a.toml:5: workload.w.incast.every: an incast that repeats needs the workload's \"until\""
    );
    for pattern in [PATTERNS[0], PATTERNS[2], PATTERNS[4], PATTERNS[5]] {
        let late = text(TREE, &format!("start = \"1ms\"\n{pattern}"));
        let error = Scenario::from_text("a.toml", &late, &[]).unwrap_err().to_string();
        assert_eq!(error, "a.toml:2: workload.w: it has no flow");
    }
}

#[test]
fn impossible_destination_patterns_are_refused() {
    let refused = |network: &str, keys: &str| {
        let error = error_of(network, &format!("poisson = {{ sizes = \"websearch\", load = 0.1, {keys} }}"));
        error.strip_prefix("a.toml:5: workload.w.poisson").unwrap_or(&error).to_owned()
    };
    for (keys, why) in [
        ("hot-spot = { share = 1.5 }", ".hot-spot.share: 1.5 is not a share from 0 to 1"),
        ("hot-spot = { hosts = 0 }", ".hot-spot.hosts: 0 is not a fraction above 0 and up to 1"),
        ("hot-spot = { hosts = 1.1 }", ".hot-spot.hosts: 1.1 is not a fraction above 0 and up to 1"),
        ("hot-spot = { hosts = \"t1\" }", ".hot-spot.hosts: \"t1\" matches no host; did you mean \"h1\"?"),
        (
            "hot-spot = { hosts = true }",
            ".hot-spot.hosts: true where a fraction like 0.125, a name, a list of names, or { tag = \"...\" } is required",
        ),
        ("inter-dc = 0.3", ".inter-dc: h1 is in no datacenter: it has no tag \"dc-*\""),
        ("hot-spot = {}, inter-dc = 0.3", ": \"hot-spot\" and \"inter-dc\" are given together: give one"),
        ("groups = 4, hot-spot = {}", ": \"hot-spot\" and \"groups\" are given together: give one"),
        ("grouping = \"in-turn\"", ".grouping: given without \"groups\""),
        ("groups = 0", ".groups: 16 hosts are not 0 groups of as many each; allowed: 1, 2, 4, 8"),
        ("groups = 5", ".groups: 16 hosts are not 5 groups of as many each; allowed: 1, 2, 4, 8"),
        ("groups = 16", ".groups: h1 has no other host of its group to send to"),
    ] {
        assert_eq!(refused(TREE, keys), why);
    }
    let error = refused(TREE, "hot-spot = { shares = 0.1 }");
    assert!(error.ends_with("did you mean \"share\"?"), "{error}");
    assert_eq!(refused(TWO, "inter-dc = -0.1"), ".inter-dc: -0.1 is not a share from 0 to 1");
    assert_eq!(
        refused(TWO, "inter-dc = 0.3, to = { tag = \"dc-b\" }"),
        ".inter-dc: h1 of dc-a has no other host of its own datacenter to send to"
    );
    assert_eq!(
        refused(TWO, "inter-dc = 0.3, to = { tag = \"dc-a\" }"),
        ".inter-dc: h1 of dc-a has no host of another datacenter to send to"
    );
}

fn ready(name: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    Scenario::from_path(&path, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(scenario: &Scenario) -> Records {
    let control = Control::default();
    let fabric = Fabric::build(scenario.blueprint(), &control).unwrap_or_else(|error| panic!("{error}"));
    fabric.run()
}

/// A column of names, row by row.
fn names(records: &Records, column: &str) -> Vec<String> {
    match records.flows.column(column) {
        Some(Values::Text { codes, dictionary }) => {
            codes.iter().map(|&code| dictionary[code as usize].clone()).collect()
        }
        _ => panic!("{column} is a column of names"),
    }
}

#[test]
fn the_hot_hosts_of_the_ready_scenario_get_their_share() {
    let scenario = ready("hot-spot");
    let hot = &check(&scenario, false).workloads[0].hot_hosts;
    let records = run(&scenario);
    let (from, to) = (names(&records, "source"), names(&records, "destination"));
    let cold = from.iter().zip(&to).filter(|(from, _)| !hot.contains(from));
    let (n, to_hot) = cold
        .fold((0.0_f64, 0.0), |(n, hits), (_, to)| (n + 1.0, hits + f64::from(u8::from(hot.contains(to)))));
    // Of a host that is not hot: 15 % and, of the other 85 %, two of fifteen.
    let share = 0.15 + 0.85 * 2.0 / 15.0;
    let most = 5.0 * (n * share * (1.0 - share)).sqrt();
    assert!(n > 1000.0 && (to_hot - n * share).abs() <= most, "{to_hot} of {n}");
}

#[test]
fn the_bursts_of_the_ready_scenario_occupy_their_length() {
    let scenario = ready("micro-burst");
    let records = run(&scenario);
    let Some(Values::F64(ideals)) = records.flows.column("ideal_fct_us") else { panic!("a column of times") };
    let bursts = names(&records, "workload").into_iter().zip(ideals).filter(|(name, _)| name == "burst");
    let ideals: Vec<f64> = bursts.map(|(_, &ideal)| ideal).collect();
    assert!(!ideals.is_empty());
    for ideal in ideals {
        // What the NIC needs, then at most six links of 1 us with a packet of up to 1098 B in front of each
        // but one.
        assert!(ideal > 20.0 - 84.0 * 8e-5 && ideal < 20.0 + 6.0 + 5.0 * 1098.0 * 8e-5, "{ideal} us");
    }
}

use floodway_units::{Span, Turns};

use super::super::tests::network;
use super::*;

fn built(name: &str) -> Network {
    network(&format!("topology.preset = {name:?}")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// (hosts, switches, links) of each.
const COUNTS: &[(&str, (usize, usize, usize))] = &[
    ("swing-2dc", (32, 42, 105)),
    ("bifrost-2dc", (32, 42, 105)),
    ("bifrost-a", (3, 2, 5)),
    ("bifrost-b", (4, 2, 6)),
    ("bifrost-c", (6, 2, 9)),
    ("swing-line", (2, 2, 3)),
    ("swing-line-short", (2, 2, 3)),
    ("mercury-chain", (12, 3, 14)),
    ("mercury-9", (19, 3, 21)),
    ("mercury-fat", (320, 56, 480)),
    ("hpcc-fat", (320, 56, 480)),
    ("hpcc-star", (65, 1, 65)),
    ("hpcc-ali", (320, 28, 800)),
    ("rcm-k12", (432, 180, 1296)),
    ("casl-33", (96, 6, 105)),
    ("tcd-victim", (57, 6, 62)),
    ("conweave-ls", (128, 16, 192)),
    ("conweave-k8", (256, 80, 512)),
    ("superpod-h100", (1024, 32 + 16, 1024 + 1024)),
    // Eight pods of 192 ToR and 16 spines, 28 cores.
    ("meta-24k", (24_576, 8 * (192 + 16) + 28, 24_576 + 8 * 16 * (192 + 28))),
    ("hpn-pod", (15_360, 240 + 120, 2 * 15_360 + 240 * 60)),
    // A DCI switch in each site, at each of its spines.
    ("superpod-h100-two-sites", (2048, 2 * (32 + 16 + 1), 2 * (2048 + 16) + 4)),
];

#[test]
fn the_list_is_right_and_every_preset_has_the_numbers_of_its_source() {
    let (all, others) = load().unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<_> = all.iter().map(|preset| preset.name.as_str()).collect();
    assert_eq!(names, COUNTS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (preset, (name, due)) in all.iter().zip(COUNTS) {
        let network = built(name);
        let hosts = network.nodes.iter().filter(|node| node.is_host).count();
        assert_eq!((hosts, network.nodes.len() - hosts, network.links.len()), *due, "{name}");
        assert!(!preset.description.is_empty() && !preset.source.is_empty() && !preset.notes.is_empty());
    }
    let left_out: Vec<_> = others.iter().map(|other| other.name.as_str()).collect();
    assert_eq!(left_out, ["swing-model", "casl-dumbbell"]);
    assert!(others.iter().all(|other| !other.reason.is_empty()));
}

/// Number of links and propagation of a shortest path.
fn path(network: &Network, from: &str, to: &str) -> (u32, Span) {
    let [from, to] = [from, to].map(|name| network.find(name).expect("it is there"));
    let distances = network.distances(from);
    let (mut at, mut delay) = (to, Span::ZERO);
    let mut turns = Turns::at_most(1_000);
    while turns.go() && at != from {
        let nearer = |end: usize| distances[end] + 1 == distances[at];
        let step = network.links.iter().find_map(|link| match link.ends {
            [a, b] if b == at && nearer(a) => Some((a, link.delay)),
            [a, b] if a == at && nearer(b) => Some((b, link.delay)),
            _ => None,
        });
        let (next, more) = step.expect("there is a way");
        (at, delay) = (next, delay + more);
    }
    (distances[to], delay)
}

/// The base round trip of SWING's authors: propagation both ways and 119 ns a hop.
fn estimate(network: &Network, from: &str, to: &str) -> f64 {
    let (hops, delay) = path(network, from, to);
    2.0 * delay.as_us() + 0.119 * f64::from(hops)
}

#[test]
fn base_round_trips_are_those_of_the_sources() {
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    near(estimate(&built("swing-2dc"), "h1", "h16"), 12.714);
    near(estimate(&built("swing-2dc"), "h1", "h32"), 817.071);
    // Two hops, as the authors count.
    near(estimate(&built("swing-line"), "h1", "s2"), 802.238);
    near(estimate(&built("swing-line-short"), "h1", "s2"), 26.238);
    assert_eq!(path(&built("mercury-fat"), "h1", "h320"), (6, Span::us(6)));
    assert_eq!(path(&built("casl-33"), "h1", "h96"), (4, Span::ns(100)));
    assert_eq!(path(&built("mercury-chain"), "h1", "h3"), (4, Span::us(10)));
    assert_eq!(path(&built("bifrost-2dc"), "h1", "h17").1, Span::us(3008));
}

#[test]
fn the_fat_tree_of_mercury_is_wired_as_that_of_hpcc() {
    let network = built("mercury-fat");
    assert_eq!(network, built("hpcc-fat"));
    // Of 320 hosts, then ToR 320-339, aggregation 340-359, cores 360-375, as (name, first number).
    let number = |node: usize| {
        let name = network.nodes[node].name.as_str();
        let n: usize = name[1..].parse().expect("it has a number");
        let first = [("h", 0), ("t", 320), ("a", 340), ("c", 360)];
        n - 1 + first.iter().find(|(letter, _)| name.starts_with(letter)).expect("it is one of them").1
    };
    let mut links: Vec<_> =
        network.links.iter().map(|link| (link.ends.map(number), link.rate.as_gbps())).collect();
    links.sort_by_key(|(ends, _)| *ends);
    let hosts = (0..320).map(|host| ([host, 320 + host / 16], 100.0));
    let mut due: Vec<_> = hosts.collect();
    for pod in 0..5 {
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            due.push(([320 + 4 * pod + i, 340 + 4 * pod + j], 400.0));
            due.push(([340 + 4 * pod + i, 360 + 4 * i + j], 400.0));
        }
    }
    due.sort_by_key(|(ends, _)| *ends);
    assert_eq!(links, due);
    assert!(network.links.iter().all(|link| link.delay == Span::us(1)));
}

#[test]
fn equal_cost_paths_are_as_many_as_the_wiring_gives() {
    let paths = |name: &str, from: &str, to: &str| {
        let network = built(name);
        let [from, to] = [from, to].map(|node| network.find(node).expect("it is there"));
        network.shortest_paths(from, to)
    };
    assert_eq!(paths("swing-2dc", "h1", "h16"), 4);
    // Four cores on the one side, four on the other.
    assert_eq!(paths("swing-2dc", "h1", "h32"), 16);
    assert_eq!(paths("bifrost-c", "h1", "h5"), 3);
    assert_eq!(paths("mercury-fat", "h1", "h320"), 16);
    assert_eq!(paths("rcm-k12", "h1", "h432"), 36);
    assert_eq!(paths("conweave-ls", "h1", "h128"), 8);
    // Two ToR, eight spines, two ToR.
    assert_eq!(paths("hpcc-ali", "h1", "h320"), 32);
    assert_eq!(paths("tcd-victim", "h16", "h4"), 1);
}

#[test]
fn hosts_of_two_nics_and_slow_hosts_are_where_the_sources_have_them() {
    let linked = |network: &Network, name: &str| {
        let link = network.links.iter().find(|link| link.name == name);
        link.map(|link| link.rate.as_gbps())
    };
    let ali = built("hpcc-ali");
    // Host 33 (h34) is linked to ToR 322 and 323 (t3, t4), ToR 339 (t20) to 347 (c8).
    assert_eq!((linked(&ali, "h34-t3"), linked(&ali, "h34-t4")), (Some(25.0), Some(25.0)));
    assert_eq!((linked(&ali, "h34-t5"), linked(&ali, "t20-c8")), (None, Some(100.0)));
    let tcd = built("tcd-victim");
    assert_eq!((linked(&tcd, "h16-s3"), linked(&tcd, "h18-s3")), (Some(20.0), Some(40.0)));
    assert_eq!((linked(&tcd, "h57-s6"), linked(&tcd, "s6-s4")), (Some(40.0), Some(40.0)));
    let chain = built("mercury-chain");
    assert_eq!((linked(&chain, "h2-s1"), linked(&chain, "h5-s3")), (Some(20.0), Some(40.0)));
}

#[test]
fn unknown_names_get_the_nearest_and_left_out_ones_the_reason() {
    let error = network("topology.preset = 'mercury-fta'").unwrap_err();
    assert!(
        error.starts_with("a:1: topology.preset: \"mercury-fta\" is not a choice; allowed: swing-2dc, "),
        "{error}"
    );
    assert!(error.ends_with("; did you mean \"mercury-fat\"?"), "{error}");
    let error = network("topology.preset = 'casl-dumbbell'").unwrap_err();
    assert!(error.contains("\"casl-dumbbell\" is known, but not a preset: CASL's motivation"), "{error}");
    let error = network("topology.preset = 3").unwrap_err();
    assert_eq!(error, "a:1: topology.preset: the number 3 where the name of a published network is required");
}

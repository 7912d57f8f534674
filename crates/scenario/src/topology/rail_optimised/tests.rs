use super::super::tests::{network, ports, right};
use super::*;

fn rails(nodes: usize, pods: usize, spines: usize, cores: usize) -> RailOptimised {
    let (rate, delay) = (Some(Rate::gbps(400)), Some(Span::ns(500)));
    let (pods, cores) = (Some(pods), Some(cores));
    RailOptimised { nodes, gpus_per_node: Some(4), pods, spines, cores, rate, delay, ..Default::default() }
}

fn find(network: &Network, name: &str) -> usize {
    network.find(name).expect("it is there")
}

/// Rates of the links of a tier, in Gbit/s, without repetitions.
fn rates(network: &Network, tier: &str) -> Vec<f64> {
    let of_tier = network.links.iter().filter(|link| link.tags[0] == tier);
    let mut rates: Vec<f64> = of_tier.map(|link| link.rate.as_gbps()).collect();
    rates.dedup();
    rates
}

#[test]
fn each_gpu_is_linked_to_its_rail() {
    let network = rails(3, 1, 2, 0).build().expect("it is a network");
    assert_eq!(network.nodes.iter().filter(|node| node.is_host).count(), 12);
    assert_eq!(ports(&network, "t2"), ["t2-c1", "t2-c2", "h2-t2", "h6-t2", "h10-t2"]);
    assert_eq!(network.nodes[5].tags, ["host", "node-2", "rail-2", "pod-1"]);
    let of_rail = ["h1", "h5"].map(|name| find(&network, name));
    assert_eq!(network.shortest_paths(of_rail[0], of_rail[1]), 1);
    assert_eq!(network.distances(of_rail[0])[of_rail[1]], 2);
    assert_eq!(network.distances(of_rail[0])[find(&network, "h6")], 4);
}

#[test]
fn pods_meet_at_the_cores() {
    let network = rails(2, 2, 2, 3).build().expect("it is a network");
    assert_eq!(ports(&network, "c3"), ["c3-g1", "c3-g2", "c3-g3", "t5-c3", "t6-c3", "t7-c3", "t8-c3"]);
    let ends = ["h1", "h9"].map(|name| find(&network, name));
    assert_eq!(network.shortest_paths(ends[0], ends[1]), 2 * 3 * 2);
    assert_eq!(network.distances(ends[0])[ends[1]], 6);
}

#[test]
fn segments_have_rail_switches_of_their_own_below_common_spines() {
    let network = RailOptimised { segments: Some(2), ..rails(3, 1, 2, 0) }.build().expect("it is a network");
    assert_eq!(network.nodes[13].tags, ["host", "node-4", "rail-2", "segment-2", "pod-1"]);
    assert_eq!(ports(&network, "t6"), ["t6-c1", "t6-c2", "h14-t6", "h18-t6", "h22-t6"]);
    assert_eq!(ports(&network, "c1").len(), 8);
    let ends = ["h2", "h14"].map(|name| find(&network, name));
    assert_eq!(network.distances(ends[0])[ends[1]], 4);
}

#[test]
fn planes_meet_at_hosts_and_cores_only() {
    let network = RailOptimised { planes: Some(2), ..rails(2, 2, 2, 1) }.build().expect("it is a network");
    assert_eq!(ports(&network, "h2"), ["h2-t2", "h2-t6"]);
    assert_eq!(ports(&network, "t6"), ["t6-c3", "t6-c4", "h2-t6", "h6-t6"]);
    let tags = |name: &str| network.nodes[find(&network, name)].tags.clone();
    assert_eq!(tags("t6"), ["rail-switch", "plane-2"]);
    assert_eq!(tags("c3"), ["spine", "plane-2"]);
    assert_eq!(tags("g1"), ["core"]);
    let ends = ["h1", "h2"].map(|name| find(&network, name));
    // Two spines in each of two planes.
    assert_eq!(network.shortest_paths(ends[0], ends[1]), 4);
}

#[test]
fn neighbouring_gpus_share_a_switch_where_rails_are_fewer() {
    let network = RailOptimised { rails: Some(2), ..rails(2, 1, 1, 0) }.build().expect("it is a network");
    assert_eq!(ports(&network, "t2"), ["t2-c1", "h3-t2", "h4-t2", "h7-t2", "h8-t2"]);
    assert_eq!(network.nodes[3].tags, ["host", "node-1", "rail-4", "pod-1"]);
    let why = RailOptimised { rails: Some(3), ..rails(2, 1, 1, 0) }.build().expect_err("it is refused");
    assert_eq!(why.path, ["rails"]);
    assert_eq!(why.message, "4 GPUs of a node cannot be divided into groups of 3");
}

#[test]
fn oversubscription_sets_the_rates_above() {
    let of = |spine| Oversubscription { rail_switch: Some(2.0), spine };
    // Three GPUs of 400G at a rail switch, two spines; four rail switches at a spine, three cores.
    let network = RailOptimised { oversubscription: of(Some(4.0)), ..rails(3, 2, 2, 3) }.build();
    let network = network.expect("it is a network");
    assert_eq!(rates(&network, "gpu-rail"), [400.0]);
    assert_eq!(rates(&network, "rail-spine"), [300.0]);
    assert_eq!(rates(&network, "spine-core"), [100.0]);
    let network = RailOptimised { oversubscription: of(None), parallel: Some(3), ..rails(3, 1, 2, 0) };
    assert_eq!(rates(&network.build().expect("it is a network"), "rail-spine"), [100.0]);
}

#[test]
fn what_cannot_be_oversubscribed_is_refused() {
    let why = |keys: &str| {
        network(&format!(
            "topology.rail-optimised = {{ nodes = 2, spines = 2, rate = '400G', delay = '1us', {keys} }}"
        ))
        .expect_err("it is refused")
    };
    let given = "rail-spine = { rate = '1T' }, oversubscription = { rail-switch = 2 }";
    let at = "rail-optimised.oversubscription";
    assert_eq!(why(given), format!("{at}.rail-switch: give either this or rail-spine.rate, not both"));
    assert_eq!(
        why("oversubscription = { spine = 2 }"),
        format!("{at}.spine: there are no links above the spines; with cores = 1 or more there are")
    );
    for ratio in ["0", "-1.5", "nan", "inf"] {
        let why = why(&format!("oversubscription = {{ rail-switch = {ratio} }}"));
        assert!(why.ends_with("is not a number above 0"), "{why}");
    }
    let slow = why("oversubscription = { rail-switch = 1e9 }");
    assert!(slow.contains("a link of rail-spine would have 0 Mbit/s"), "{slow}");
    let unknown = why("oversubscription = { rail = 2 }");
    assert!(unknown.contains("allowed: rail-switch, spine"), "{unknown}");
}

#[test]
fn several_pods_need_spines_and_cores() {
    let why = |of: RailOptimised| of.build().expect_err("it is refused").message;
    assert!(why(rails(2, 2, 0, 0)).contains("0 is not a number from 1"));
    assert!(why(rails(2, 2, 1, 0)).contains("0 is not a number from 1"));
    let many = RailOptimised { planes: Some(1 << 20), segments: Some(1 << 20), ..rails(1, 1, 1, 0) };
    assert!(why(many).contains("is not a number from 1 to"));
    let many = RailOptimised { planes: Some(1 << 20), ..rails(1, 1, 1 << 20, 0) };
    assert_eq!(why(many), "it has more than 1048576 links");
}

#[test]
fn a_part_keeps_rates_of_gpus_and_oversubscription() {
    let part = right("topology.preset = { name = 'superpod-h100', nodes = 8 }");
    // One scalable unit; eight uplinks of each rail switch, to eight spines.
    assert_eq!(ports(&part, "t1").len(), 8 + 8);
    assert_eq!((part.nodes.len(), part.links.len()), (64 + 8 + 8, 64 + 64));
    assert_eq!(rates(&part, "rail-spine"), [400.0]);
    let two = right("topology.preset = { name = 'superpod-h100', nodes = 8, segments = 2 }");
    assert_eq!((two.nodes.len(), two.links.len()), (64 + 16 + 4, 64 + 64));
    let part = right("topology.preset = { name = 'hpn-pod', nodes = 16, segments = 2 }");
    // 8 x 200G below and 60/128 of that number of uplinks of 400G above, rounded up.
    assert_eq!(rates(&part, "gpu-rail"), [200.0]);
    assert_eq!(rates(&part, "rail-spine"), [375.0]);
    let part = right("topology.preset = { name = 'meta-24k', nodes = 16, pods = 2 }");
    assert_eq!(ports(&part, "t1").len(), 16 + 16);
    // Four racks in a pod: 1600G below a spine, a seventh of it above.
    assert_eq!(rates(&part, "rail-spine"), [400.0]);
    let above: f64 = rates(&part, "spine-core").iter().sum();
    assert!((above - 1600.0 / 7.0).abs() < 1e-3, "{above}");
}

#[test]
fn all_nodes_of_a_cluster_are_the_whole_cluster() {
    for (name, nodes) in [("superpod-h100", 128), ("meta-24k", 3072), ("hpn-pod", 1920)] {
        let whole = right(&format!("topology.preset = '{name}'"));
        let part = right(&format!("topology.preset = {{ name = '{name}', nodes = {nodes} }}"));
        assert!(whole == part, "{name}");
    }
}

#[test]
fn parts_that_cannot_be_taken_are_refused() {
    let why = |keys: &str| network(&format!("topology.preset = {{ {keys} }}")).expect_err("it is refused");
    assert_eq!(
        why("name = 'superpod-h100', nodes = 129"),
        "preset.nodes: 129 is not a number from 1 to the 128 nodes of the cluster"
    );
    assert_eq!(
        why("name = 'superpod-h100', nodes = 33"),
        "preset.nodes: 33 nodes cannot be spread evenly over 2 segments; write a multiple of 2"
    );
    assert_eq!(
        why("name = 'superpod-h100', nodes = 64, segments = 1"),
        "preset.nodes: 64 nodes are more than 1 segments of 32 have"
    );
    assert_eq!(
        why("name = 'superpod-h100', segments = 0"),
        "preset.segments: 0 is not a number from 1 to the 4 segments of a pod of the cluster"
    );
    assert_eq!(
        why("name = 'meta-24k', pods = 9"),
        "preset.pods: 9 is not a number from 1 to the 8 pods of the cluster"
    );
    let fixed = why("name = 'mercury-fat', nodes = 4");
    assert!(fixed.starts_with("preset.nodes: mercury-fat has one size; those of which parts"), "{fixed}");
    let unknown = why("name = 'superpod-h10', nodes = 4");
    assert!(unknown.ends_with("did you mean \"superpod-h100\"?"), "{unknown}");
    assert!(unknown.starts_with("a:1: topology.preset.name: "), "{unknown}");
}

#[test]
fn clusters_are_sites_of_larger_networks() {
    let two = right(
        "topology.two-dc = { fabric.preset = { name = 'superpod-h100', nodes = 2 }, rate = '400G', delay = \
         '1us', long-link = { rate = '400G', length = '80km' } }",
    );
    let tags = |name: &str| two.nodes[find(&two, name)].tags.clone();
    assert_eq!(tags("h17"), ["host", "dc-b", "node-3", "rail-1", "pod-2"]);
    assert_eq!(ports(&two, "x2"), ["x1-x2", "c3-x2", "c4-x2"]);
    let part = right("topology.preset = { name = 'superpod-h100-two-sites', nodes = 2 }");
    assert_eq!(part.nodes.iter().filter(|node| node.is_host).count(), 2 * 16);
    let of_sites =
        "topology.two-dc = { fabric.preset = 'swing-2dc', long-link = { rate = '1G', delay = '1us' } }";
    let why = network(of_sites).expect_err("it is refused");
    assert_eq!(
        why,
        "two-dc.fabric.preset: swing-2dc has sites of its own, and cannot be one site of several"
    );
}

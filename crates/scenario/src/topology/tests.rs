//! Tests of all generators.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::grammar::read::read;
use crate::grammar::tree::Node as Tree;

/// The network of a scenario's text, or the text of the first error.
pub(super) fn network(text: &str) -> Result<Network, String> {
    let tree = Tree::parse("a", text).map_err(|error| error.to_string())?;
    let topology: Topology = read(tree.get("topology").expect("there is a topology"), &["topology"])
        .map_err(|error| error.to_string())?;
    let files = Files { folder: Path::new(""), tables: None };
    topology.build(&files).map_err(|error| format!("{}: {}", error.path.join("."), error.message))
}

pub(super) fn right(text: &str) -> Network {
    network(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Names of the links at a node, in the order of its ports.
pub(super) fn ports(network: &Network, node: &str) -> Vec<String> {
    let node = network.find(node).expect("it is there");
    let links = network.links.iter().filter(|link| link.ends.contains(&node));
    links.map(|link| link.name.clone()).collect()
}

/// FNV-1a of all data of a network, except the tag of the pair of sites.
fn digest(network: &Network) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut eat = |line: String| {
        for byte in line.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for node in &network.nodes {
        eat(format!("{} {} {}\n", node.name, node.tags.join(","), node.is_host));
    }
    for link in &network.links {
        let tags: Vec<_> = link.tags.iter().filter(|tag| *tag != "long-a-b").cloned().collect();
        eat(format!("{} {} {:?} {} {}\n", link.name, tags.join(","), link.ends, link.rate.0, link.delay.0));
    }
    hash
}

#[test]
fn networks_are_the_same_as_ever() {
    let golden = [
        ("fat-tree = { k = 2, rate = '100G', delay = '1us' }", (7, 6, 0xe767_47be_b149_2a1a)),
        (
            "fat-tree = { k = 6, hosts-per-tor = 5, rate = '100G', delay = '1us', agg-core = { rate = '400G' }, host-tor = { length = '10m' } }",
            (135, 198, 0xd3f4_d315_fa54_1274),
        ),
        ("fat-tree = { k = 8, rate = '100G', delay = '1us' }", (208, 384, 0x09ea_cb06_d98b_3d68)),
        (
            "chain = { switches = 4, hosts = [1, 0, 2, 3], rate = '40G', delay = '1us', trunk = { delay = '4us' } }",
            (10, 9, 0x3f33_0dfd_a4a0_4a63),
        ),
        (
            "dumbbell = { left = 3, right = 2, rate = '40G', delay = '1us', bottleneck = { rate = '10G' } }",
            (7, 6, 0x401c_2ed1_3d8d_8576),
        ),
        (
            "explicit = { hosts = ['h1..h4'], switches = ['s1', { name = 's2', tags = ['x'] }], rate = '40G', delay = '1us', links = [{ between = ['h1..h4', 's1..s2'] }, { between = ['s1', 's2'], count = 2, tags = ['trunk'] }] }",
            (6, 10, 0xa7d2_2a40_6c56_2ce9),
        ),
        (
            "two-dc = { fabric.fat-tree.k = 4, rate = '100G', delay = '1us', long-link = { rate = '400G', length = '80km' } }",
            (74, 105, 0xde2c_ad3b_0506_4e3b),
        ),
        (
            "two-dc = { fabric.fat-tree.k = 4, fabric-b.fat-tree = { k = 6, hosts-per-tor = 2, rate = '25G' }, rate = '100G', delay = '1us', core-dci = { rate = '200G' }, long-link = { rate = '400G', delay = '3ms', count = 3 } }",
            (119, 208, 0x00da_47e5_e0ba_62d0),
        ),
    ];
    for (text, due) in golden {
        let network = right(&format!("topology.{text}"));
        let is = (network.nodes.len(), network.links.len(), digest(&network));
        assert_eq!(is, due, "{text}");
    }
}

/// The text of a fabric with rates and delays.
fn fabrics() -> impl Strategy<Value = String> {
    let fat_tree = (1usize..4, 1usize..4, 1usize..4, 1usize..4, 1usize..4, 1usize..3).prop_map(
        |(pods, tors, aggs, cores, hosts, homes)| {
            format!(
                "fat-tree = {{ pods = {pods}, tors-per-pod = {}, aggs-per-pod = {aggs}, cores-per-agg = {cores}, \
                 hosts-per-tor = {hosts}, homes = {homes}, rate = '100G', delay = '1us' }}",
                tors * homes
            )
        },
    );
    let leaf_spine = (1usize..5, 1usize..4, 1usize..4, 1usize..3, 1usize..4).prop_map(
        |(spines, leaves, hosts, parallel, homes)| {
            format!(
                "leaf-spine = {{ spines = {spines}, leaves = {}, hosts = {hosts}, parallel = {parallel}, \
                 homes = {homes}, rate = '100G', delay = '1us' }}",
                leaves * homes
            )
        },
    );
    let single = (1usize..9, 1usize..3).prop_map(|(hosts, links)| {
        format!(
            "single-switch = {{ hosts = {hosts}, links-per-host = {links}, rate = '25G', delay = '1us' }}"
        )
    });
    let chain = prop::collection::vec(0usize..3, 1..5).prop_map(|mut hosts| {
        hosts[0] += 1;
        format!("chain = {{ switches = {}, hosts = {hosts:?}, rate = '25G', delay = '1us' }}", hosts.len())
    });
    let dumbbell = (1usize..4, 1usize..4).prop_map(|(left, right)| {
        format!("dumbbell = {{ left = {left}, right = {right}, rate = '25G', delay = '1us' }}")
    });
    prop_oneof![fat_tree, leaf_spine, single, chain, dumbbell]
}

/// The text of sites and long links.
fn several_sites() -> impl Strategy<Value = String> {
    let distances = |sites: usize| {
        prop_oneof![
            Just("full-mesh = '80km'".to_owned()),
            Just("ring = '400us'".to_owned()),
            prop::collection::vec(0usize..200, sites * sites).prop_map(move |km| matrix(sites, &km)),
        ]
    };
    let dci = prop_oneof![Just("shared"), Just("per-link")];
    (prop::collection::vec(fabrics(), 2..5), dci, 1usize..3).prop_flat_map(move |(fabrics, dci, count)| {
        distances(fabrics.len()).prop_map(move |distances| {
            let sites: Vec<_> = fabrics.iter().map(|fabric| format!("{{ fabric.{fabric} }}")).collect();
            format!(
                "multi-dc = {{ sites = [{}], rate = '100G', delay = '1us', dci = '{dci}', \
                 long-links = {{ {distances}, rate = '400G', count = {count} }} }}",
                sites.join(", ")
            )
        })
    })
}

/// A matrix with at least one long link from each site to the next.
fn matrix(sites: usize, km: &[usize]) -> String {
    let cell = |a: usize, b: usize| match km[a * sites + b] {
        _ if a >= b => "''".to_owned(),
        short if b == a + 1 || short % 2 == 0 => format!("'{}km'", short + 1),
        _ => "0".to_owned(),
    };
    let row = |a: usize| format!("[{}]", (0..sites).map(|b| cell(a, b)).collect::<Vec<_>>().join(", "));
    format!("lengths = [{}]", (0..sites).map(row).collect::<Vec<_>>().join(", "))
}

fn has_unique_names_and_hangs_together(network: &Network) {
    let nodes: BTreeSet<_> = network.nodes.iter().map(|node| &node.name).collect();
    let links: BTreeSet<_> = network.links.iter().map(|link| &link.name).collect();
    assert_eq!((nodes.len(), links.len()), (network.nodes.len(), network.links.len()));
    assert!(network.distances(0).iter().all(|distance| *distance < u32::MAX));
    let hosts = network.nodes.iter().filter(|node| node.is_host).count();
    assert!(network.nodes[..hosts].iter().all(|node| node.is_host), "hosts come first");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn generators_make_connected_networks_with_unique_names(text in fabrics()) {
        has_unique_names_and_hangs_together(&right(&format!("topology.{text}")));
    }

    #[test]
    fn sites_make_connected_networks_with_unique_names(text in several_sites()) {
        has_unique_names_and_hangs_together(&right(&format!("topology.{text}")));
    }

    #[test]
    fn any_numbers_make_a_network_or_an_error(
        kind in prop_oneof![Just("fat-tree"), Just("leaf-spine"), Just("single-switch"), Just("chain"), Just("multi-dc")],
        numbers in prop::collection::vec(prop_oneof![6 => 0usize..5, 1 => 100usize..1100, 1 => Just(usize::MAX >> 1)], 7),
    ) {
        let keys: &[&str] = match kind {
            "fat-tree" => &["k", "pods", "tors-per-pod", "aggs-per-pod", "cores-per-agg", "hosts-per-tor", "homes"],
            "leaf-spine" => &["spines", "leaves", "hosts", "parallel", "homes"],
            "single-switch" => &["hosts", "links-per-host"],
            "chain" => &["switches", "hosts"],
            _ => &["sites"],
        };
        let given: Vec<_> = keys.iter().zip(&numbers).map(|(key, number)| format!("{key} = {number}")).collect();
        let more = match kind {
            "multi-dc" => format!(
                ", fabric.single-switch.hosts = {}, long-links = {{ full-mesh = '1km', rate = '1G', count = {} }}",
                numbers[1], numbers[2]
            ),
            _ => String::new(),
        };
        let text = format!("topology.{kind} = {{ {}{more}, rate = '1G', delay = '1us' }}", given.join(", "));
        if let Ok(network) = network(&text) {
            prop_assert!(network.links.len() <= 1 << 20);
        }
    }
}

#[test]
fn every_generator_is_documented() {
    let schema = schemars::schema_for!(super::Topology).to_value();
    let forms = schema["oneOf"].as_array().expect("it is a choice").iter();
    let tags = forms.map(|form| form["required"][0].as_str().expect("it has a tag").to_owned());
    let names: Vec<_> = super::heads().into_iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(tags.filter(|tag| tag != "preset").collect::<Vec<_>>(), names);
    assert!(super::heads().iter().all(|(_, head)| head.len() > 20));
}

//! GPU nodes: which hosts form a node, their tags, scale-up domains, errors; published AI clusters in
//! scenarios.

use floodway_fabric::blueprint::Arrivals;
use floodway_fabric::{Control, Fabric};
use floodway_programs::collective::CrossNic;
use floodway_scenario::Scenario;
use floodway_units::{NodeId, Rate, Span};

const LEAVES: &str =
    "topology.leaf-spine = { spines = 2, leaves = 2, hosts = 4, rate = '400G', delay = '1us' }\n";
const RAILS: &str =
    "topology.rail-optimised = { nodes = 2, gpus-per-node = 4, spines = 2, rate = '400G', delay = '1us' }\n";
const SITES: &str = "[topology.two-dc]\nfabric-a.rail-optimised = { nodes = 1, gpus-per-node = 2, spines = 1 }\n\
                     fabric-b.leaf-spine = { spines = 1, leaves = 1, hosts = 4 }\nrate = '400G'\ndelay = '1us'\n\
                     long-link = { rate = '400G', length = '80km' }\n";
const JOB: &str =
    "[[workload]]\nname = 'job'\ncollective = { op = 'all-reduce', algorithm = 'ring', size = '1MB' }\n";

fn read(parts: &[&str]) -> Result<Scenario, String> {
    Scenario::from_text("a.toml", &parts.concat(), &[]).map_err(|errors| errors.to_string())
}

fn right(parts: &[&str]) -> Scenario {
    read(parts).unwrap_or_else(|errors| panic!("{errors}\n{}", parts.concat()))
}

fn refused(parts: &[&str]) -> String {
    read(parts).expect_err("it is refused")
}

/// Tags of a node or link of a scenario.
fn tags(scenario: &Scenario, name: &str) -> Vec<String> {
    let blueprint = scenario.blueprint();
    let node = blueprint.nodes.iter().find(|node| node.name == name).map(|node| node.tags.clone());
    let link = || blueprint.links.iter().find(|link| link.name == name).map(|link| link.tags.clone());
    node.or_else(link).unwrap_or_else(|| panic!("{name} is not there"))
}

/// Number of ranks of a scenario's only job.
fn ranks(scenario: &Scenario) -> usize {
    let Arrivals::Program(job) = &scenario.blueprint().workloads[0].arrivals else { panic!("it is a job") };
    job.hosts.len()
}

#[test]
fn hosts_and_their_links_are_tagged_in_every_topology() {
    let scenario = right(&[LEAVES, "gpu-nodes.gpus-per-node = 2\n", JOB]);
    assert_eq!(tags(&scenario, "h1"), ["host", "leaf-1", "node-1", "rail-1"]);
    assert_eq!(tags(&scenario, "h8"), ["host", "leaf-2", "node-4", "rail-2"]);
    assert_eq!(tags(&scenario, "h8-t2"), ["host-leaf", "leaf-2", "node-4", "rail-2"]);
    assert!(tags(&scenario, "t1-c1").iter().all(|tag| !tag.starts_with("node-")));
    // Without GPU nodes only the generator of GPU nodes tags them.
    assert!(tags(&right(&[LEAVES, JOB]), "h8").iter().all(|tag| !tag.starts_with("node-")));
    let rails = right(&[RAILS, JOB]);
    assert_eq!(tags(&rails, "h6"), ["host", "node-2", "rail-2", "pod-1"]);
    assert_eq!(tags(&rails, "h6-t2"), ["gpu-rail", "node-2", "rail-2"]);
    assert_eq!(tags(&right(&[RAILS, "gpu-nodes = {}\n", JOB]), "h6"), tags(&rails, "h6"));
}

#[test]
fn nodes_are_counted_through_all_sites() {
    let scenario = right(&[SITES, "[gpu-nodes]\ngpus-per-node = 2\n", JOB]);
    assert_eq!(tags(&scenario, "h2"), ["host", "dc-a", "node-1", "rail-2", "pod-1"]);
    let of_b = tags(&scenario, "h3");
    assert!(["dc-b", "node-2", "rail-1"].iter().all(|tag| of_b.iter().any(|of| of == tag)), "{of_b:?}");
}

#[test]
fn tags_select_ranks_flow_control_and_records() {
    let scenario = right(&[
        LEAVES,
        "gpu-nodes.gpus-per-node = 2\nrecords.watch = { tag = 'rail-2' }\n",
        "defaults.flow-control.pfc = { xoff = 'auto' }\n",
        "[[override]]\nname = 'first'\nlinks = { tag = 'node-1' }\nrate = '100G'\n",
        "[[workload]]\nname = 'job'\n",
        "collective = { op = 'all-reduce', size = '1MB', ranks = { tag = 'rail-1' } }\n",
    ]);
    assert_eq!(ranks(&scenario), 4);
    let blueprint = scenario.blueprint();
    let slow = blueprint.links.iter().filter(|link| link.directions[0].rate == Rate::gbps(100));
    assert_eq!(slow.map(|link| link.name.as_str()).collect::<Vec<_>>(), ["h1-t1", "h2-t1"]);
    assert_eq!(blueprint.records.watch.len(), 2 * 4);
}

#[test]
fn gpus_that_share_a_nic_are_ranks_of_one_host() {
    let shared = "[gpu-nodes]\ngpus-per-node = 4\ngpus-per-nic = 2\n";
    let scenario = right(&[LEAVES, shared, "scale-up = { rate = '1T' }\n", JOB]);
    assert_eq!(ranks(&scenario), 16);
    // Two hosts form a node.
    assert_eq!(tags(&scenario, "h4")[2..], ["node-2", "rail-2"]);
    let why = refused(&[LEAVES, shared, JOB]);
    assert!(why.ends_with("both are on h1, which has no scale-up domain to carry that"), "{why}");
}

#[test]
fn scale_up_domains_are_whole_nodes() {
    let domains = |keys: &str| {
        let scale_up = format!("scale-up = {{ rate = '3600G', {keys} }}\n");
        let text = [LEAVES, "[gpu-nodes]\ngpus-per-node = 2\n", &scale_up, JOB];
        right(&text).blueprint().scale_up.clone()
    };
    let of_nodes = domains("latency = '300ns'");
    assert_eq!(of_nodes.len(), 4);
    assert_eq!(of_nodes[1].hosts, [NodeId(2), NodeId(3)]);
    assert_eq!((of_nodes[1].rate, of_nodes[1].latency), (Rate::gbps(3600), Span::ns(300)));
    let of_pairs = domains("nodes = 2");
    assert_eq!((of_pairs.len(), of_pairs[0].hosts.len(), of_pairs[0].latency), (2, 4, Span::us(1)));
}

#[test]
fn mistakes_in_gpu_nodes_are_errors_with_their_key() {
    let why = |network: &str, keys: &str| refused(&[network, "[gpu-nodes]\n", keys, "\n", JOB]);
    let at = |key: &str, line: usize| format!("a.toml:{line}: gpu-nodes.{key}: ");
    for (keys, due) in [
        ("gpus-per-node = 0", at("gpus-per-node", 3) + "0 is not a number from 1 to 1024"),
        (
            "gpus-per-node = 3",
            at("gpus-per-node", 3) + "the network has 8 hosts, which are not whole groups of 3 hosts",
        ),
        (
            "gpus-per-nic = 3",
            at("gpus-per-nic", 3) + "3 does not divide the 8 GPUs of a node, or is above 255",
        ),
        ("scale-up = { rate = '0G' }", at("scale-up.rate", 3) + "0 is not allowed; write a rate above 0"),
        (
            "scale-up = { rate = '1T', nodes = 0 }",
            at("scale-up.nodes", 3) + "0 is not allowed; the minimum is 1",
        ),
        (
            "gpus-per-node = 2\nscale-up = { rate = '1T', nodes = 3 }",
            at("scale-up.nodes", 4) + "the network has 8 hosts, which are not whole groups of 6 hosts",
        ),
    ] {
        assert_eq!(why(LEAVES, keys), due, "{keys}");
    }
    let unknown = why(LEAVES, "gpus-per-nod = 8");
    assert!(unknown.starts_with("a.toml:3: gpu-nodes: \"gpus-per-nod\" is not a key"), "{unknown}");
    assert!(unknown.ends_with("did you mean \"gpus-per-node\"?"), "{unknown}");
    let other = why(RAILS, "gpus-per-node = 8");
    assert!(other.contains("8 is not allowed: the topology has nodes of 4 GPUs"), "{other}");
}

#[test]
fn tags_that_contradict_the_nodes_are_refused() {
    let explicit = "[topology.explicit]\nrate = '1G'\ndelay = '1us'\nswitches = ['s1']\n\
                    hosts = ['h1..h2', { name = 'h3..h4', tags = ['node-7'] }]\n\
                    links = [{ between = ['h1..h4', 's1'] }]\n";
    let why = refused(&[explicit, "[gpu-nodes]\ngpus-per-node = 2\n", JOB]);
    assert!(
        why.contains("gpu-nodes: h3 is tagged \"node-7\" by the topology, but should be \"node-2\""),
        "{why}"
    );
}

/// The rings of the only job, and the levels of its hierarchical collective.
fn rings_and_levels(scenario: &Scenario) -> (Option<(u32, CrossNic)>, Vec<u32>) {
    let Arrivals::Program(job) = &scenario.blueprint().workloads[0].arrivals else { panic!("it is a job") };
    (job.program.rings(), job.program.levels())
}

#[test]
fn rings_go_through_nodes_that_have_a_scale_up_domain() {
    let job = |more: &str| {
        let domain = "[gpu-nodes]\ngpus-per-node = 2\nscale-up.rate = '900G'\n";
        let job = "[[workload]]\nname = 'job'\ncollective = { op = 'all-reduce', size = '1MB'";
        right(&[LEAVES, domain, job, more, " }\n"])
    };
    assert_eq!(rings_and_levels(&job("")).0, Some((2, CrossNic::Alternate)));
    assert_eq!(rings_and_levels(&job(", cross-nic = 'same'")).0, Some((2, CrossNic::Same)));
    // A rail has one GPU of each node, a node no way out.
    assert_eq!(rings_and_levels(&job(", groups = 'rail'")).0, None);
    assert_eq!(rings_and_levels(&job(", groups = 'node'")).0, None);
    let apart = right(&[LEAVES, "gpu-nodes.gpus-per-node = 2\n", JOB]);
    assert_eq!(rings_and_levels(&apart).0, None);
}

#[test]
fn a_training_job_s_levels_are_those_of_its_ranks() {
    let job = |algorithm: &str, placement: &str| {
        let text = "topology.rail-optimised = { nodes = 4, gpus-per-node = 4, spines = 2, rate = '400G', delay = \
                    '1us' }\n[[workload]]\nname = 'job'\ntraining = { model = { layers = 4, hidden = 64, sequence = \
                    64, parameters = 1000000 }, tensor = 4, data = 4, forward = '1us', ";
        read(&[text, "algorithm = '", algorithm, "', placement = '", placement, "' }\n"])
    };
    let levels = |placement| rings_and_levels(&job("hierarchical", placement).expect("it can be met")).1;
    // Tensor-parallel ranks are a node, data-parallel ones a rail; or the other way round.
    assert_eq!((levels("node-first"), levels("rail-first")), (vec![4], vec![4]));
    let text = "topology.rail-optimised = { nodes = 2, gpus-per-node = 4, spines = 2, rate = '400G', delay = '1us' \
                }\n[[workload]]\nname = 'job'\ntraining = { model = { layers = 4, hidden = 64, sequence = 64, \
                parameters = 1000000 }, data = 8, forward = '1us', algorithm = 'hierarchical' }\n";
    assert_eq!(rings_and_levels(&right(&[text])).1, [4, 2]);
}

#[test]
fn a_part_of_a_published_cluster_runs_a_job_over_both_planes() {
    let cluster = "topology.preset = { name = 'hpn-pod', nodes = 4, segments = 2 }\n";
    let scenario = right(&[
        cluster,
        "defaults.flow-control.pfc = { xoff = 'auto' }\n",
        "[[workload]]\nname = 'job'\n",
        "collective = { op = 'all-reduce', algorithm = 'hierarchical', size = '1MB', channels = 4 }\n",
    ]);
    assert_eq!((ranks(&scenario), scenario.blueprint().scale_up.len()), (32, 4));
    let control = Control::default();
    let fabric = Fabric::build(scenario.blueprint(), &control);
    let records = fabric.unwrap_or_else(|error| panic!("{error}")).run();
    assert!(records.outcome.lossless.is_held());
    let sent = |plane: &str| {
        let counters = &records.counters;
        let links = crate::columns::texts(counters, "link");
        let bytes = crate::columns::wholes(counters, "tx_bytes");
        let of_plane = |name: &str| tags(&scenario, name).iter().any(|tag| tag == plane);
        (0..counters.rows()).filter(|&i| of_plane(links[i])).map(|i| bytes[i]).sum::<u64>()
    };
    assert!(sent("plane-1") > 0 && sent("plane-2") > 0);
}

const SUPERPOD: &str = "topology.preset = { name = 'superpod-h100', nodes = 2 }\n";

/// What `floodway check` prints.
fn checked(scenario: &Scenario) -> String {
    floodway_scenario::check(scenario, false).text()
}

#[test]
fn a_published_cluster_has_the_scale_up_domains_of_its_nodes() {
    for (name, rate) in [("superpod-h100", 3600), ("meta-24k", 3600), ("hpn-pod", 2880)] {
        let scenario = right(&[&format!("topology.preset = {{ name = '{name}', nodes = 4 }}\n"), JOB]);
        let domains = &scenario.blueprint().scale_up;
        assert_eq!((domains.len(), domains[0].hosts.len(), ranks(&scenario)), (4, 8, 32), "{name}");
        let of_all = |of: &floodway_fabric::blueprint::ScaleUp| (of.rate, of.latency);
        assert!(domains.iter().all(|of| of_all(of) == (Rate::gbps(rate), Span::ns(500))), "{name}");
        assert!(!scenario.warnings().iter().any(|why| why.contains("scale-up")), "{:?}", scenario.warnings());
        let text = checked(&scenario);
        let row = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
        let cells: Vec<_> = row.split_whitespace().collect();
        assert_eq!(cells[1..], ["4", "8", &format!("{rate}G"), "500ns"], "{text}");
    }
    let two_sites = "topology.preset = { name = 'superpod-h100-two-sites', nodes = 2 }\n";
    assert_eq!(right(&[two_sites, JOB]).blueprint().scale_up.len(), 4);
}

#[test]
fn keys_of_gpu_nodes_take_precedence_over_the_published_ones() {
    let domain = |keys: &str| {
        let scenario = right(&[SUPERPOD, "[gpu-nodes]\n", keys, "\n", JOB]);
        let of = scenario.blueprint().scale_up[0].clone();
        (of.hosts.len(), of.rate, of.latency, scenario.blueprint().scale_up.len())
    };
    assert_eq!(domain("gpus-per-node = 8"), (8, Rate::gbps(3600), Span::ns(500), 2));
    assert_eq!(domain("scale-up = { latency = '2us' }"), (8, Rate::gbps(3600), Span::us(2), 2));
    assert_eq!(domain("scale-up.rate = '900G'"), (8, Rate::gbps(900), Span::ns(500), 2));
    assert_eq!(domain("scale-up = { nodes = 2 }"), (16, Rate::gbps(3600), Span::ns(500), 1));
    let elsewhere = refused(&[RAILS, "[gpu-nodes]\nscale-up = { latency = '2us' }\n", JOB]);
    assert!(elsewhere.contains("gpu-nodes.scale-up: the key \"rate\" is missing"), "{elsewhere}");
    let word = refused(&[RAILS, "[gpu-nodes]\nscale-up = 'off'\n", JOB]);
    assert!(word.contains("gpu-nodes.scale-up") && word.contains("or \"none\""), "{word}");
}

#[test]
fn a_site_has_the_scale_up_domains_of_its_own_cluster() {
    let sites = "[topology.two-dc]\nfabric-a.preset = { name = 'superpod-h100', nodes = 2 }\n\
                 fabric-b.preset = { name = 'hpn-pod', nodes = 1 }\nrate = '400G'\ndelay = '1us'\n\
                 long-link = { rate = '400G', length = '80km' }\n";
    let rates = |text: &[&str]| -> Vec<u64> {
        right(text).blueprint().scale_up.iter().map(|of| of.rate.0 / 1_000_000_000).collect()
    };
    assert_eq!(rates(&[sites, JOB]), [3600, 3600, 2880]);
    let many = "[topology.multi-dc]\nfabric.preset = { name = 'hpn-pod', nodes = 1 }\n\
                sites = [{}, { fabric.leaf-spine = { spines = 1, leaves = 1, hosts = 8 } }, {}]\n\
                rate = '400G'\ndelay = '1us'\nlong-links = { ring = '80km', rate = '400G' }\n";
    let text = [many, JOB];
    assert_eq!(rates(&text), [2880, 2880]);
    // The eight hosts of the site between are a node without one.
    let warnings = right(&text).warnings().to_vec();
    assert!(warnings.iter().any(|why| why.contains("no scale-up domain")), "{warnings:?}");
}

#[test]
fn without_a_scale_up_domain_messages_within_a_node_are_packets_and_it_is_said() {
    let none = right(&[SUPERPOD, "gpu-nodes.scale-up = 'none'\n", JOB]);
    assert!(none.blueprint().scale_up.is_empty());
    assert!(!none.warnings().iter().any(|why| why.contains("scale-up")), "{:?}", none.warnings());
    let text = checked(&none);
    let due =
        "note: GPU nodes have no scale-up domain (NVLink) (gpu-nodes.scale-up = \"none\"): messages within a";
    assert!(text.contains(due), "{text}");
    for network in [RAILS, &[LEAVES, "gpu-nodes.gpus-per-node = 4\n"].concat()] {
        let scenario = right(&[network, JOB]);
        let of_nodes =
            |why: &&String| why.contains("workload.job.collective") && why.contains("no scale-up domain");
        assert_eq!(scenario.warnings().iter().filter(of_nodes).count(), 1, "{:?}", scenario.warnings());
    }
    // Hosts are no nodes there, or each node has one rank.
    let one_a_node = JOB.replace("size", "ranks = { tag = 'rail-1' }, size");
    for text in [[LEAVES, JOB], [RAILS, &one_a_node]] {
        assert!(!right(&text).warnings().iter().any(|why| why.contains("scale-up")), "{text:?}");
    }
    // Flows are packets in any case: a note.
    let flows = "[[workload]]\nname = 'flows'\nflows = [{ from = 'h1', to = 'h2', size = '1MB' }]\n";
    let text = checked(&right(&[RAILS, flows]));
    assert!(text.contains("note: GPU nodes have no scale-up domain (NVLink): messages within"), "{text}");
}

//! Ternary congestion detection in scenarios: the benefit for a victim of pauses, which flows get CNPs, and
//! composition.

use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::columns::{reals, texts, wholes};
use floodway_fabric::outcome::Verdict;
use floodway_fabric::{Control, Fabric, Records};
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{CongestionPoint, CpAction, Cx, Mark, PacketView, QueueView};
use floodway_scenario::Scenario;
use floodway_units::PortId;

const RED: (&str, &str) = ("defaults.congestion-point", r#"[{ red = { preset = "dcqcn-paper" } }]"#);
/// TCD at ports that would never mark CE.
const UE_ALONE: (&str, &str) =
    ("defaults.congestion-point", r#"[{ tcd = { red = { kmin = "1GB", kmax = "1GB" } } }]"#);

fn victim(sets: &[(&str, &str)]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/tcd-victim.toml");
    let sets: Vec<_> = sets.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Scenario::from_path(&path, &sets).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The port by which `node` sends on the link of this name.
fn port_of(scenario: &Scenario, link: &str, node: &str) -> PortId {
    let blueprint = scenario.blueprint();
    let at = blueprint.links.iter().position(|of| of.name == link).expect("it is there");
    let is_node = |end: usize| blueprint.nodes[blueprint.links[at].ends[end].node.index()].name == node;
    PortId((2 * at + usize::from(is_node(1))) as u32)
}

/// How many packets of each flow came without a mark, with UE, with CE; by the receiver's address.
type Seen = Arc<Mutex<std::collections::BTreeMap<u32, [u64; 3]>>>;

/// Looks at packets that leave a port, before that marks them.
struct Spy(Seen);

impl CongestionPoint for Spy {
    fn on_dequeue(&mut self, _cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        self.0.lock().expect("nobody panics").entry(p.destination).or_default()[p.mark as usize] += 1;
        Mark::None
    }
}

fn run(scenario: &Scenario) -> Records {
    spied(scenario, &[]).0
}

/// What a run gives, and what the packets bore that left the ports `spied`.
fn spied(scenario: &Scenario, spied: &[PortId]) -> (Records, Vec<[u64; 3]>) {
    let (control, seen) = (Control::default(), Seen::default());
    let mut fabric = Fabric::build(scenario.blueprint(), &control).expect("it is sound");
    for &port in spied {
        let spy = AnyCongestionPoint::Custom(Box::new(Spy(Arc::clone(&seen))));
        fabric.add_congestion_point(port, spy).expect("it claims nothing");
    }
    let records = fabric.run();
    let invariants = &records.outcome.invariants;
    for verdict in [&invariants.conservation, &invariants.buffers, &invariants.slowdown] {
        assert_eq!(verdict, &Verdict::Holds);
    }
    assert!(records.outcome.lossless.is_held(), "{:?}", records.outcome.lossless);
    let seen = seen.lock().expect("nobody panics").values().copied().collect();
    (records, seen)
}

/// Rows of a workload's flows.
fn rows(records: &Records, workload: &str) -> Vec<usize> {
    let names = texts(&records.flows, "workload");
    (0..names.len()).filter(|&row| names[row] == workload).collect()
}

/// CNPs of the workload's only flow, and how long it took.
fn flow(records: &Records, workload: &str) -> (u64, f64) {
    let [row] = rows(records, workload)[..] else { panic!("{workload} has one flow") };
    (wholes(&records.flows, "cnps")[row], reals(&records.flows, "fct_us")[row])
}

/// Marks that a node makes at the port to this link.
fn marks(records: &Records, node: &str, link: &str) -> u64 {
    counter(records, node, link, "ecn_marks")
}

fn counter(records: &Records, node: &str, link: &str, name: &str) -> u64 {
    let table = &records.counters;
    let (nodes, links, values) = (texts(table, "node"), texts(table, "link"), wholes(table, name));
    (0..values.len()).filter(|&row| nodes[row] == node && links[row] == link).map(|row| values[row]).sum()
}

#[test]
fn a_scenario_with_tcd_has_receivers_that_pass_ue_on_by_default() {
    let named = |sets: &[(&str, &str)]| {
        let scenario = victim(sets);
        assert_eq!(scenario.warnings(), [""; 0]);
        let notification = &scenario.blueprint().settings[0].notification;
        serde_json::to_value(notification).expect("parameters are plain values")
    };
    let every = |name: &str, interval: &str| serde_json::json!({ name: { "cnp-interval": interval } });
    assert_eq!(named(&[]), every("tcd", "50us"));
    assert_eq!(named(&[("defaults.rate-control", "[\"dcqcn\"]")]), every("tcd", "4us"));
    assert_eq!(named(&[RED]), every("dcqcn", "50us"));
    assert_eq!(named(&[("defaults.notification", "dcqcn")]), every("dcqcn", "4us"));
    assert_eq!(named(&[RED, ("defaults.notification", "tcd")]), every("tcd", "50us"));
    let flag = r#"[{ dcqcn = { cnp = "ack-flag" } }]"#;
    assert_eq!(named(&[("defaults.rate-control", flag)]), serde_json::json!({ "none": {} }));
}

#[test]
fn red_blames_the_victim_of_pauses_and_slows_it() {
    let scenario = victim(&[RED]);
    let (records, seen) = spied(&scenario, &[port_of(&scenario, "h3-s5", "s5")]);
    let [[_, ue, ce]] = seen[..] else { panic!("one flow goes there") };
    assert!(ue == 0 && ce > 100, "{seen:?}");
    let (cnps, fct) = flow(&records, "victim");
    assert!(cnps > 1, "{cnps} CNPs");
    let spared = flow(&run(&victim(&[])), "victim").1;
    assert!(fct > 1.5 * spared, "{fct} us, with TCD {spared} us");
}

#[test]
fn upstream_of_the_root_ports_are_undetermined_while_pauses_come() {
    let scenario = victim(&[]);
    let (records, seen) = spied(&scenario, &[port_of(&scenario, "h3-s5", "s5")]);
    let [[none, ue, ce]] = seen[..] else { panic!("one flow goes there") };
    assert_eq!(none + ue + ce, 15_000);
    assert!(ce == 0 && ue > 100 && none > 1_000, "{seen:?}");
    // The root is never paused, and marks CE.
    assert_eq!(counter(&records, "s5", "h4-s5", "pfc_rx"), 0);
    assert!(marks(&records, "s5", "h4-s5") > 100);
    assert!(counter(&records, "s4", "s4-s5", "pfc_rx") > 1, "its pauses reach the row");
    assert!(flow(&records, "culprit").0 > 5, "the culprit is told");
}

#[test]
fn the_fast_path_of_a_port_changes_nothing() {
    let scenario = victim(&[]);
    // A spy is called for every packet, and so is the machine beside it.
    let ports: Vec<PortId> = (0..2 * scenario.blueprint().links.len() as u32).map(PortId).collect();
    let (watched, seen) = spied(&scenario, &ports);
    assert!(seen.iter().all(|[_, ue, _]| *ue > 100), "{seen:?}");
    let plain = run(&scenario);
    // As text, since "none" is no number and so unlike itself.
    let text = |records: Records| format!("{:?}", (records.flows, records.counters, records.series));
    assert!(text(watched) == text(plain));
}

#[test]
fn ports_that_mark_ue_alone_are_those_that_were_paused() {
    let records = run(&victim(&[UE_ALONE]));
    let ue = |node: &str, link: &str| counter(&records, node, link, "ue_marks");
    assert_eq!(ue("s5", "h4-s5") + ue("s5", "h3-s5"), 0);
    for (node, link) in [("s4", "s4-s5"), ("s3", "s3-s4")] {
        assert!(counter(&records, node, link, "pfc_rx") > 0 && ue(node, link) > 0, "{node}");
    }
    assert_eq!(wholes(&records.counters, "ecn_marks").iter().sum::<u64>(), 0, "no queue is so long");
}

#[test]
fn the_victim_gets_ue_alone_and_keeps_its_rate() {
    // Receivers of `dcqcn` report CE alone.
    let deaf = run(&victim(&[("defaults.notification.dcqcn.cnp-interval", "50us")]));
    assert_eq!(flow(&deaf, "victim").0, 0);
    assert!(flow(&deaf, "culprit").0 > 5);
    let notified = run(&victim(&[]));
    assert!(flow(&notified, "victim").0 > 1, "its CNPs report UE");
    // 15 MB in packets of 1082 B on the wire, at 40 Gbit/s, and less than 100 us for delays and pauses: as
    // fast as can be.
    assert!(flow(&notified, "victim").1 < 3_246.0 + 100.0, "{:?}", flow(&notified, "victim"));
    assert_eq!(flow(&deaf, "culprit").1, flow(&notified, "culprit").1, "UE has no effect");
    // The culprit holds its rate instead of climbing between bursts.
    let held = run(&victim(&[(
        "defaults.rate-control",
        r#"[{ dcqcn = { preset = "paper", initial-alpha = 0.5, ue = "hold" } }]"#,
    )]));
    assert_ne!(flow(&notified, "culprit").1, flow(&held, "culprit").1);
    assert_eq!(flow(&notified, "victim").1, flow(&held, "victim").1, "it is at line rate");
}

#[test]
fn a_port_that_is_never_paused_marks_as_red_does() {
    let incast = |point: &str| {
        let text = format!(
            r#"topology.single-switch = {{ hosts = 3, rate = "100G", delay = "1us" }}
            [defaults]
            congestion-point = [{point}]
            rate-control = "dcqcn"
            notification = "dcqcn"
            [[workload]]
            name = "w"
            burst = {{ from = ["h1", "h2"], to = "h3", size = "2MB" }}
            "#
        );
        let scenario = Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        run(&scenario)
    };
    let (red, tcd) = (incast("{ red = { pmax = 1 } }"), incast("{ tcd = { red = { pmax = 1 } } }"));
    assert!(marks(&red, "s1", "h3-s1") > 10);
    assert_eq!((red.flows, red.counters, red.series), (tcd.flows, tcd.counters, tcd.series));
}

/// Four hosts send to one, 80 km away, whose datacenter pauses the long link.
fn two_datacenters(long_haul: &str) -> Scenario {
    let text = format!(
        r#"topology.two-dc = {{ fabric.fat-tree = {{ k = 4 }}, rate = "100G", delay = "1us", long-link = {{ rate = "400G", length = "80km" }} }}
        [defaults]
        flow-control.pfc = {{ xoff = {{ alpha = 0.25 }} }}
        buffer.shared = {{ pool = "10MB", reserve = "288KB" }}
        congestion-point = [{{ tcd = {{ red = {{ kmin = "1GB", kmax = "1GB" }} }} }}]
        rate-control = "dcqcn"
        [[override]]
        name = "long-haul"
        links = {{ tag = "long-haul" }}
        {long_haul}
        [[workload]]
        name = "culprits"
        burst = {{ from = ["h1", "h3", "h5", "h7"], to = "h17", size = "4MB" }}
        [[workload]]
        name = "victim"
        flows = [{{ from = "h9", to = "h25", size = "4MB" }}]
        "#
    );
    Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn it_composes_with_bifrost_and_credits_on_the_long_link() {
    let own = "buffer.static = { size = \"42MB\" }";
    for flow_control in ["bifrost", "cbfc"] {
        let long_haul = format!("flow-control = \"{flow_control}\"\n{own}");
        let records = run(&two_datacenters(&long_haul));
        assert_eq!(rows(&records, "culprits").len(), 4);
        assert!(reals(&records.flows, "fct_us").iter().all(|fct| fct.is_finite()), "all end: {flow_control}");
        let all: u64 = wholes(&records.counters, "ue_marks").iter().sum();
        assert!(all > 0, "ports that are paused mark UE: {flow_control}");
    }
}

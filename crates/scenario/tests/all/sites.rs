//! Several sites in scenarios: the summary, and traffic that passes a site.

use floodway_fabric::outcome::{Stopped, Verdict};
use floodway_fabric::{Control, Fabric, Values};
use floodway_scenario::{Scenario, check};

/// Three sites in a row: a to c passes the DCI switch of b.
const ROW: &str = r#"
[topology.multi-dc]
sites = [
    { fabric.leaf-spine = { spines = 2, leaves = 2, hosts = 2 } },
    { fabric.single-switch = { hosts = 2 }, rate = "25G" },
    { name = "far", fabric.fat-tree = { k = 2 } },
]
rate = "100G"
delay = "1us"
long-links = [
    { between = ["a", "b"], rate = "100G", length = "20km", count = 2 },
    { between = ["b", "far"], rate = "100G", length = "40km" },
]

[defaults]
flow-control.pfc = {}

[[override]]
name = "far-away"
links = { tag = "long-b-far" }
buffer.static = { size = "20MB" }

[[workload]]
name = "row"
poisson = { sizes = "fb-hadoop", load = 0.2, of = { tag = "long-b-far" }, from = { tag = "dc-a" }, to = { tag = "dc-far" } }
until = "2ms"

[[workload]]
name = "nearby"
poisson = { sizes = "fb-hadoop", load = 0.2, of = "hosts", from = { tag = "dc-b" }, to = { tag = "dc-b" } }
until = "2ms"
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::from_text("a.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_summary_separates_paths_inside_sites_from_those_between() {
    let report = check(&scenario(ROW), false);
    let paths: Vec<_> = report.paths.iter().map(|path| (path.kind, path.hops_min, path.hops_max)).collect();
    assert_eq!(paths, [("intra-dc", 2, 6), ("inter-dc", 6, 9)]);
    let long: Vec<_> =
        report.links[..2].iter().map(|link| (link.kind.as_str(), link.count, link.delay_us)).collect();
    assert_eq!(long, [("long-haul", 2, 100.0), ("long-haul", 1, 200.0)]);
}

#[test]
fn traffic_passes_the_dci_switch_of_a_site_between() {
    let scenario = scenario(ROW);
    let control = Control::default();
    let fabric = Fabric::build(scenario.blueprint(), &control).unwrap_or_else(|error| panic!("{error}"));
    let records = fabric.run();
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert!(records.outcome.lossless.is_held());
    assert_eq!(records.outcome.invariants.slowdown, Verdict::Holds);
    let Some(Values::F64(fct)) = records.flows.column("fct_us") else { panic!("there is no such column") };
    let Some(Values::Text { codes, dictionary }) = records.flows.column("path_class") else {
        panic!("there is no such column")
    };
    let inter: Vec<f64> = fct
        .iter()
        .zip(codes)
        .filter(|(_, code)| dictionary[**code as usize] == "inter-dc")
        .map(|(fct, _)| *fct)
        .collect();
    // 100 us to b, 200 us on.
    assert!(inter.len() > 10 && inter.iter().all(|fct| *fct > 300.0), "{inter:?}");
    assert!(inter.len() < fct.len());
}

#[test]
fn a_matrix_of_long_links_makes_its_links() {
    let text = include_str!("texts/sites.toml");
    let report = check(&scenario(text), false);
    let long: Vec<_> =
        report.links[..2].iter().map(|link| (link.count, link.rate_gbps, link.delay_us)).collect();
    assert_eq!(long, [(2, 400.0, 200.0), (1, 100.0, 400.0)]);
    let apart = text.replace("\"80km\"", "\"\"").replace("rates =", "#").replace("[0, 2, 1]", "[0, 2, 0]");
    let error = Scenario::from_text("a.toml", &apart, &[]).unwrap_err().to_string();
    assert_eq!(error, "a.toml:2: topology.multi-dc: it is not connected: no links lead from h1 to h9");
    let asymmetric = text.replace("[\"80km\", \"\", \"\"]", "[\"81km\", \"\", \"\"]");
    let error = Scenario::from_text("a.toml", &asymmetric, &[]).unwrap_err().to_string();
    let due = "a.toml:13: topology.multi-dc.long-links.lengths.3.1: row \"far\", column \"paris\" is 81km, but row \
               \"paris\", column \"far\" is 80km: a long link is the same both ways";
    assert_eq!(error, due);
}

#[test]
fn published_networks_run_by_name() {
    let text = "topology.preset = \"mercury-chain\"\n[[workload]]\nname = \"w\"\n\
                burst = { from = { tag = \"burst\" }, to = \"h4\", size = \"50KB\" }\n";
    let scenario = scenario(text);
    let report = check(&scenario, false);
    let kinds: Vec<_> = report.nodes.iter().map(|kind| (kind.kind.as_str(), kind.count)).collect();
    assert_eq!(kinds, [("host", 12), ("switch", 3)]);
    let control = Control::default();
    let fabric = Fabric::build(scenario.blueprint(), &control).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(fabric.run().flows.rows(), 8);
    let error =
        Scenario::from_text("a.toml", &text.replace("mercury-chain", "mercury-chian"), &[]).unwrap_err();
    assert!(error.to_string().ends_with("did you mean \"mercury-chain\"?"), "{error}");
}

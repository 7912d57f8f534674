//! Mechanisms in combinations that nobody asked for, on small networks with losses and failures: each is
//! refused, or keeps the invariants on one thread and on two, with the same bytes, and no flow gets other
//! bytes than its own. `PROPTEST_CASES` asks for more.

use std::fmt::Write as _;

use floodway_fabric::outcome::{Invariants, Verdict};
use floodway_fabric::{Control, Fabric, Threads};
use floodway_scenario::Scenario;
use proptest::prelude::*;
use proptest::sample::select;

use crate::columns::{flags, wholes};

const TOPOLOGIES: &[&str] = &[
    r#"topology.single-switch = { hosts = 8, rate = "100G", delay = "1us" }"#,
    r#"topology.leaf-spine = { spines = 2, leaves = 2, hosts = 4, rate = "100G", delay = "1us" }"#,
    r#"topology.leaf-spine = { spines = 2, leaves = 2, hosts = 4, homes = 2, rate = "100G", delay = "1us" }"#,
    r#"topology.two-dc = { fabric.single-switch = { hosts = 4 }, rate = "100G", delay = "1us", long-link = { rate = "100G", length = "30km", count = 2 } }"#,
];
const FLOW_CONTROLS: &[&str] = &[
    r#""pfc""#,
    r#"{ pfc = { xoff = "20KB" } }"#,
    r#""lossy""#,
    r#""cbfc""#,
    r#"{ cbfc = { mode = "uec" } }"#,
    r#""swing""#,
];
const BUFFERS: &[&str] = &[
    r#"{ shared = { pool = "2MB" } }"#,
    r#"{ static = { size = "auto" } }"#,
    r#"{ static = { size = "150KB" } }"#,
    r#""ioq""#,
    r#"{ output-queue = { size = "100KB" } }"#,
    r#"{ output-queue = { size = "20KB", trim = false } }"#,
    r#"{ output-queue = { size = "50KB", victim = "either" } }"#,
];
const RELIABILITIES: &[&str] = &["go-back-n", "irn", "uet"];
/// Those of Ultra Ethernet twice.
const RATE_CONTROLS: &[&str] = &[
    "line-rate",
    "dcqcn",
    "timely",
    "hpcc",
    "dctcp",
    "swift",
    "powertcp",
    "expresspass",
    "nscc",
    "rccc",
    "nscc",
    "rccc",
];
const CONGESTION_POINTS: &[&str] =
    &["[]", r#""red""#, r#"["red", "proxy-cnp"]"#, r#""bfc""#, r#""casl""#, r#""rcm""#, r#""expresspass""#];
const EXTRAS: &[&str] = &[
    r#"qp = "per-pair""#,
    r#"link-retry = "llr""#,
    r#"routing = "spray""#,
    r#"nics = "spray""#,
    r#"nics = "active-backup""#,
    r#"cell = "254B""#,
    r#"drain = "30G""#,
    r#"pipeline = "300ns""#,
    "faults.error-rate = 0.01",
    "faults.error-rate = 0.3",
];
const FAULT: &str = r#"
[[override]]
name = "down"
links = "h1-*"
faults = { down = { from = "20us", to = "300us" }, detection = "10us", convergence = "50us" }
"#;
const TRAFFIC: &str = r#"
[[workload]]
name = "list"
flows = [
  { from = "h1", to = "h5", size = "300KB" },
  { from = "h2", to = "h5", size = "400KB" },
  { from = "h5", to = "h1", size = "1B", start = "3us" },
  { from = "h3", to = "h4", size = "100KB" },
  { from = "h3", to = "h4", size = "9KB", start = "400us" },
]
[[workload]]
name = "arrivals"
poisson = { sizes = "fb-hadoop", load = 0.3, of = "hosts" }
until = "100us"
"#;

fn text() -> impl Strategy<Value = String> {
    let network = (select(TOPOLOGIES), select(FLOW_CONTROLS), select(BUFFERS), select(RELIABILITIES));
    let rest = (
        select(RATE_CONTROLS),
        select(CONGESTION_POINTS),
        proptest::sample::subsequence(EXTRAS, 0..=4),
        any::<bool>(),
        1u64..1_000,
    );
    (network, rest).prop_map(|(network, rest)| {
        let (topology, control, buffer, reliability) = network;
        let (rate, point, extras, fails, seed) = rest;
        // A scheme that only one kind of buffer or transport has is mostly tried with it.
        let control = if buffer.contains("output-queue") { r#""lossy""# } else { control };
        let buffer = if control.contains("cbfc") { BUFFERS[1] } else { buffer };
        let reliability = if ["nscc", "rccc"].contains(&rate) { "uet" } else { reliability };
        let mut text =
            format!("limit = \"4ms\"\nseed = {seed}\non-deadlock = \"continue\"\n{topology}\n[defaults]\n");
        for (key, value) in [("flow-control", control), ("buffer", buffer), ("congestion-point", point)] {
            writeln!(text, "{key} = {value}").expect("a text takes all");
        }
        for (key, value) in [("reliability", reliability), ("rate-control", rate)] {
            writeln!(text, "{key} = \"{value}\"").expect("a text takes all");
        }
        let mut keys: Vec<&str> = Vec::new();
        for extra in extras {
            let key = extra.split(' ').next().unwrap_or_default();
            if !keys.contains(&key) {
                keys.push(key);
                writeln!(text, "{extra}").expect("a text takes all");
            }
        }
        text + if fails { FAULT } else { "" } + TRAFFIC
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn any_combination_is_refused_or_keeps_its_invariants(text in text()) {
        let Ok(scenario) = Scenario::from_text("combination.toml", &text, &[]) else { return Ok(()) };
        let run = |threads| {
            let (control, plan) = (Control::default(), scenario.thread_plan(Threads::Forced(threads), 2));
            Fabric::build(scenario.blueprint(), &control).expect("what is read can be built").on(&plan).run()
        };
        let records = run(1);
        prop_assert!(format!("{records:?}") == format!("{:?}", run(2)), "two threads keep other records");
        let Invariants { conservation, buffers, destinations, slowdown } = &records.outcome.invariants;
        prop_assert_eq!([conservation, buffers, destinations, slowdown], [&Verdict::Holds; 4]);
        let sizes = wholes(&records.flows, "size_bytes");
        let delivered = wholes(&records.flows, "delivered_bytes");
        for ((size, delivered), finished) in sizes.iter().zip(delivered).zip(flags(&records.flows, "finished")) {
            prop_assert!(delivered <= size && (*finished == 0 || delivered == size));
        }
    }
}

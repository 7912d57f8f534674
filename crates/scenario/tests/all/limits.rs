//! The default limit does not cut off a run that makes progress.

use floodway_fabric::outcome::WorkloadTotals;
use floodway_fabric::{Control, Fabric};
use floodway_scenario::Scenario;
use floodway_units::Time;

/// Fast NICs on both sides of a slow link.
const SLOW: &str = r#"topology.dumbbell = { left = 2, right = 2, rate = "100G", delay = "1us", bottleneck = { rate = "10G" } }
defaults.flow-control = "pfc"
"#;

fn read(text: &str) -> Scenario {
    Scenario::from_text("a.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// What came of the only workload under the default limit.
fn run(network: &str, workload: &str) -> WorkloadTotals {
    let scenario = read(&format!("{network}[[workload]]\nname = \"w\"\n{workload}\n"));
    let control = Control::default();
    let fabric = Fabric::build(scenario.blueprint(), &control).expect("it can be built");
    fabric.run().outcome.workloads.remove(0)
}

fn finishes(network: &str, workload: &str) {
    let totals = run(network, workload);
    assert!(totals.measured > 0, "{workload}");
    assert_eq!(totals.measured, totals.measured_finished, "{workload}");
}

#[test]
fn flows_and_loops_over_a_slow_link_finish() {
    finishes(SLOW, r#"flows = [{ from = "h1", to = "h3", size = "10MB" }]"#);
    finishes(SLOW, r#"burst = { from = ["h1", "h2"], to = ["h3", "h4"], size = "5MB" }"#);
    finishes(SLOW, r#"perftest = { test = "write-bw", from = "h1", to = "h3", iterations = 500 }"#);
    let latency =
        r#"perftest = { test = "write-lat", from = "h1", to = "h3", size = "1MB", iterations = 500 }"#;
    finishes(SLOW, latency);
}

#[test]
fn flows_that_are_paced_finish() {
    for control in
        [r#"{ line-rate = { rate = "1G" } }"#, r#"["line-rate", { static-window = { size = "2KB" } }]"#]
    {
        let network = format!("{SLOW}defaults.rate-control = {control}\n");
        finishes(&network, r#"flows = [{ from = "h1", to = "h3", size = "1MB" }]"#);
    }
}

#[test]
fn flows_of_which_frames_are_lost_finish() {
    let network = format!("{SLOW}defaults.faults = {{ error-rate = 0.001 }}\n");
    finishes(&network, r#"flows = [{ from = "h1", to = "h3", size = "1MB" }]"#);
}

#[test]
fn the_limit_is_the_same_whatever_the_seed_draws() {
    let text = |seed| {
        format!("seed = {seed}\n{SLOW}[[workload]]\nname = \"w\"\npermutation = {{ size = \"1MB\" }}\n")
    };
    let limit = |seed| read(&text(seed)).blueprint().end.limit;
    assert!((2..10).all(|seed| limit(seed) == limit(1)));
    // All may have to cross the slow link: 2 MB at 10G take 1.6 ms.
    assert!(limit(1) > Time(1_600_000_000));
}

#[test]
fn a_flow_that_waits_is_measured_if_it_may_start_in_the_window() {
    let flows = |wait: &str| {
        format!(
            r#"flows = [
    {{ id = "a", from = "h1", to = "h3", size = "10KB", start = "1us" }},
    {{ from = "h3", to = "h1", size = "1KB", after = "a", wait = "{wait}" }},
]
measure = {{ from = "10us", to = "30us" }}"#
        )
    };
    // On a slow link 10 KB take about 10 us; computed on the safe side, they take longer than the window is.
    let totals = run(SLOW, &flows("5us"));
    assert_eq!((totals.measured, totals.measured_finished), (1, 1));
    let scenario = read(&format!("{SLOW}limit = \"40us\"\n[[workload]]\nname = \"w\"\n{}\n", flows("5us")));
    assert_eq!(scenario.warnings(), [""; 0]);
    let late = format!("{SLOW}limit = \"40us\"\n[[workload]]\nname = \"w\"\n{}\n", flows("29us"));
    let warnings = read(&late).warnings().to_vec();
    assert!(warnings.iter().any(|warning| warning.contains("no flow can be measured")), "{warnings:?}");
}

//! Mercury in whole runs: a victim behind a paused port, windows from switches, threads, and the long link.

use crate::columns::{reals, texts, wholes};
use floodway_fabric::outcome::Verdict;
use floodway_fabric::{Control, Fabric, Records, Table, ThreadPlan, Threads};
use floodway_scenario::Scenario;

/// The paper's motivation: F1 and F2 share s1 to s3, where eight hosts burst into F2's receiver. Pauses at 40
/// KB, so that they spread to s1.
const MOTIVATION: &str = r#"
limit = "5ms"
defaults.flow-control.pfc = { xoff = "40KB", resume-offset = "2KB" }
defaults.buffer.shared = { pool = "20MB" }
defaults.reliability = "go-back-n"
records = { pauses = true, signals = true, allowances = true }
[topology.explicit]
hosts = ["h1", "h2", "b1..b8", "r1", "r2"]
switches = ["s1", "s2", "s3"]
rate = "40G"
delay = "1us"
links = [
    { between = ["h1", "s1"], rate = "20G" }, { between = ["h2", "s1"], rate = "20G" },
    { between = ["s1", "s2"], delay = "4us" }, { between = ["s2", "s3"], delay = "4us" },
    { between = ["r1", "s3"] }, { between = ["r2", "s3"] }, { between = ["b1..b8", "s3"] },
]
[[workload]]
name = "long"
flows = [{ from = "h1", to = "r1", size = "unbounded" }, { from = "h2", to = "r2", size = "unbounded" }]
[[workload]]
name = "burst"
start = "1ms"
until = "1500us"
burst = { from = "b*", to = "r2", size = "50KB", back-to-back = true }
"#;

const MERCURY: &str = r#"
defaults.congestion-point.mercury = { threshold = "5KB" }
defaults.rate-control = ["dcqcn", "mercury"]
"#;

const DCQCN: &str = r#"
defaults.congestion-point.red = { kmin = "5KB", kmax = "20KB", pmax = 0.2 }
defaults.rate-control = "dcqcn"
"#;

fn scenario(texts: &[&str]) -> Scenario {
    let text = texts.concat();
    Scenario::from_text("mercury.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(scenario: &Scenario, thread_plan: &ThreadPlan) -> Records {
    let control = Control::default();
    let records = Fabric::build(scenario.blueprint(), &control).expect("it is sound").on(thread_plan).run();
    assert_eq!(records.outcome.invariants.conservation, Verdict::Holds);
    records
}

/// Dotted keys stand before tables.
fn motivation(mechanisms: &str) -> Records {
    let scenario = scenario(&[mechanisms, MOTIVATION]);
    run(&scenario, &scenario.thread_plan(Threads::Forced(1), 1))
}

/// Rows of a table of signals at the egress of `link` at `node`: the time in us, the event, the state or the
/// flow.
fn signals<'a>(table: &'a Table, node: &str, link: &str) -> Vec<(f64, &'a str)> {
    let at = texts(table, "node").into_iter().zip(texts(table, "link"));
    let rows = reals(table, "time_ns").iter().zip(texts(table, "event")).zip(at);
    rows.filter(|(_, at)| *at == (node, link)).map(|((time, event), _)| (time / 1e3, event)).collect()
}

/// CNPs that the sources of F1 and F2 have got.
fn cnps(records: &Records) -> (u64, u64) {
    let sources = texts(&records.flows, "source");
    let of = |name: &str| {
        let at = sources.iter().position(|source| *source == name).expect("it ran");
        wholes(&records.flows, "cnps")[at]
    };
    (of("h1"), of("h2"))
}

/// The least rate that the sender of F1 was allowed, in Gbit/s.
fn least_allowed(records: &Records) -> f64 {
    let table = records.allowances.as_ref().expect("they are kept");
    let rows = texts(table, "flow_id").into_iter().zip(reals(table, "allowed_gbps"));
    rows.filter(|(id, _)| *id == "long:h1:0").map(|(_, rate)| *rate).fold(f64::MAX, f64::min)
}

/// Time that the egress of `link` at `node` was paused, in us.
fn paused(records: &Records, node: &str, link: &str) -> f64 {
    let at = texts(&records.counters, "node").into_iter().zip(texts(&records.counters, "link"));
    let rows = at.zip(reals(&records.counters, "paused_us"));
    rows.filter(|(at, _)| *at == (node, link)).map(|(_, time)| *time).sum()
}

#[test]
fn pauses_reach_the_first_switch_and_dcqcn_slows_the_victim() {
    let records = motivation(DCQCN);
    assert!(paused(&records, "s2", "s2-s3") > 10.0 && paused(&records, "s1", "s1-s2") > 10.0);
    let (victim, culprit) = cnps(&records);
    assert!(victim > 0 && culprit > 0, "{victim} and {culprit}");
    assert!(least_allowed(&records) < 15.0, "{}", least_allowed(&records));
}

#[test]
fn mercury_leaves_the_victim_alone_and_sends_cnps_to_the_culprits() {
    let records = motivation(MERCURY);
    let (victim, culprit) = cnps(&records);
    assert_eq!(victim, 0);
    assert!(culprit > 0);
    assert_eq!(least_allowed(&records), 20.0);
    let table = records.signals.as_ref().expect("they are kept");
    let root = signals(table, "s3", "r2-s3");
    assert!(root.iter().any(|(_, event)| *event == "cnp"), "the root tells");
    assert!(root.iter().filter(|(_, event)| *event == "state").count() == 1, "and is never paused");
    let made: u64 = wholes(&records.counters, "cnps").iter().sum();
    assert_eq!(made as usize, texts(table, "event").iter().filter(|event| **event == "cnp").count());
    let marks: u64 = wholes(&records.counters, "ecn_marks").iter().sum();
    assert_eq!(marks, 0, "the switch is the only notifier");
}

#[test]
fn windows_in_cnps_are_shares_of_what_the_port_and_its_flows_can_hold() {
    let records = motivation(MERCURY);
    let table = records.signals.as_ref().expect("they are kept");
    let windows: Vec<f64> =
        reals(table, "window_bytes").iter().copied().filter(|window| !window.is_nan()).collect();
    assert!(!windows.is_empty());
    // The longest way has a base round trip of some 21 us: 105,000 bytes at 40 Gbit/s.
    assert!(windows.iter().all(|window| (1.0..110_000.0).contains(window)), "{windows:?}");
}

#[test]
fn the_window_that_a_sender_keeps_is_the_least_of_its_cnps() {
    let records = motivation(MERCURY);
    let least = |table: &Table, flow: &str| {
        let rows = texts(table, "flow_id").into_iter().zip(reals(table, "window_bytes"));
        rows.filter(|(id, window)| *id == flow && !window.is_nan())
            .map(|(_, window)| *window)
            .fold(f64::MAX, f64::min)
    };
    let signals = records.signals.as_ref().expect("they are kept");
    let kept = records.allowances.as_ref().expect("they are kept");
    let f2 = "long:h2:0";
    assert_eq!(least(kept, f2), least(signals, f2).max(1_000.0));
    // 20 Gbit/s over the base round trip of F1's way, which nothing has shrunk.
    assert!((50_000.0..60_000.0).contains(&least(kept, "long:h1:0")), "{}", least(kept, "long:h1:0"));
}

#[test]
fn threads_change_nothing() {
    let scenario = scenario(&[MERCURY, MOTIVATION]);
    let one = format!("{:?}", run(&scenario, &scenario.thread_plan(Threads::Forced(1), 1)));
    for threads in [2, 4] {
        let thread_plan = scenario.thread_plan(Threads::Forced(threads), 4);
        assert!(thread_plan.threads() > 1);
        assert!(one == format!("{:?}", run(&scenario, &thread_plan)), "{threads}");
    }
}

/// An incast across a long link under Bifrost, inside datacenters with PFC.
const LONG: &str = r#"
topology.two-dc = { fabric.leaf-spine = { spines = 1, leaves = 1, hosts = 4 }, rate = "100G", delay = "1us", long-link = { rate = "100G", length = "80km" } }
defaults.flow-control = "pfc"
defaults.buffer.shared = { pool = "20MB" }
defaults.reliability = "go-back-n"
records.signals = true
[[override]]
name = "long-haul"
links = { tag = "long-haul" }
flow-control = "bifrost"
buffer.static = { size = "auto" }
[[override]]
name = "deaf"
flows = { workload = "within" }
rate-control = "line-rate"
[[workload]]
name = "across"
burst = { from = ["h1", "h2", "h3", "h4"], to = "h5", size = "5MB" }
[[workload]]
name = "within"
burst = { from = ["h6", "h7", "h8"], to = "h5", size = "40MB" }
"#;

#[test]
fn mercury_works_beside_bifrost_on_the_long_link() {
    let scenario = scenario(&[MERCURY, LONG]);
    let one = run(&scenario, &scenario.thread_plan(Threads::Forced(1), 1));
    assert!(one.outcome.lossless.is_held(), "{:?}", one.outcome.lossless);
    assert_eq!(wholes(&one.flows, "size_bytes").len(), 7);
    assert!(wholes(&one.flows, "cnps").iter().sum::<u64>() > 0);
    // A window of the flow's own base round trip, 800 us and more: a fixed one of 12 us would be 150 KB.
    let table = one.signals.as_ref().expect("they are kept");
    assert!(reals(table, "window_bytes").iter().any(|window| *window > 1e6));
    // Bifrost holds the long link up while the far side is congested: what waits there is not to blame.
    let (near, link) = ("x1", "x1-x2");
    assert!(paused(&one, near, link) > 10.0);
    let at = texts(table, "node").into_iter().zip(texts(table, "link")).zip(texts(table, "state"));
    assert!(at.filter(|(at, _)| *at == (near, link)).any(|(_, state)| state == "undetermined"));
    let thread_plan = scenario.thread_plan(Threads::Forced(2), 2);
    assert!(thread_plan.threads() > 1 && format!("{one:?}") == format!("{:?}", run(&scenario, &thread_plan)));
}

fn errors(rate_control: &str, point: &str) -> (Vec<String>, Option<String>) {
    let text = format!("defaults.rate-control = {rate_control}\n{point}{MOTIVATION}");
    match Scenario::from_text("mercury.toml", &text, &[]) {
        Ok(scenario) => (scenario.warnings().to_vec(), None),
        Err(errors) => (Vec::new(), Some(errors.to_string())),
    }
}

#[test]
fn a_stack_in_the_wrong_order_is_refused_and_missing_windows_get_a_warning() {
    let (_, refused) = errors(r#"["mercury", "dcqcn"]"#, "defaults.congestion-point = \"mercury\"");
    let refused = refused.expect("it is wrong");
    assert!(refused.contains(r#"write it after "dcqcn", not before"#), "{refused}");
    let (warned, _) = errors(r#"["dcqcn", "mercury"]"#, "defaults.congestion-point = \"red\"");
    assert!(warned.iter().any(|text| text.contains(r#""mercury" never acts"#)), "{warned:?}");
    let (warned, refused) = errors(r#"["timely", "mercury"]"#, "defaults.congestion-point = \"mercury\"");
    assert!(warned.is_empty() && refused.is_none(), "{warned:?} {refused:?}");
}

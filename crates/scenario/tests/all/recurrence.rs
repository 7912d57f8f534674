//! Iterations that repeat earlier ones are not simulated again: the same bytes as with all of them.

use floodway_fabric::outcome::Skipped;
use floodway_fabric::{Control, Fabric, Outcome, Records, ThreadPlan, Threads};
use floodway_scenario::Scenario;

/// Two nodes of eight GPUs on rails.
const RAILS: &str = r#"mtu = "4096B"
topology.rail-optimised = { nodes = 2, spines = 2, rate = "100G", delay = "500ns" }
gpu-nodes.scale-up = { rate = "900G", latency = "500ns" }
defaults.flow-control.pfc = { xoff = "auto" }
defaults.buffer.shared = { pool = "16MB" }
defaults.reliability.go-back-n = { ack-interval = 16 }
records = { report = true, signals = true, allowances = true }
limit = "1s"
"#;

/// Eight hosts whose paths collide, and pauses.
const LEAVES: &str = r#"mtu = "4096B"
topology.leaf-spine = { leaves = 2, spines = 2, hosts = 4, rate = "100G", delay = "500ns" }
defaults.flow-control.pfc = { xoff = "100KB" }
defaults.buffer.shared = { pool = "4MB" }
defaults.reliability.go-back-n = { ack-interval = 4 }
records = { report = true, signals = true, allowances = true }
limit = "1s"
"#;

const DCQCN: &str = r#"defaults.rate-control = "dcqcn"
defaults.congestion-point.red = { kmin = "1MB", kmax = "2MB", pmax = 0.2 }
"#;

fn job(network: &str, more: &str, collective: &str) -> Scenario {
    let text = format!("{network}{more}[[workload]]\nname = \"job\"\ncollective = {{ {collective} }}\n");
    Scenario::from_text("job.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(scenario: &Scenario, thread_plan: &ThreadPlan, skips: bool) -> Records {
    let control = Control::default();
    let fabric = Fabric::build(scenario.blueprint(), &control).expect("it is sound").on(thread_plan);
    if skips { fabric.run() } else { fabric.without_skips().run() }
}

/// Lines around the first one that differs between two runs, but for what they say of skipping.
fn difference(one: &Records, other: &Records) -> Option<String> {
    let [one, other] = [one, other].map(|records| {
        let outcome = Outcome { skipped: None, ..records.outcome.clone() };
        format!("{:#?}", Records { outcome, ..records.clone() })
    });
    let at = one.lines().zip(other.lines()).position(|(one, other)| one != other);
    let around = |text: &str, at: usize| {
        text.lines().skip(at.saturating_sub(9)).take(12).collect::<Vec<_>>().join("\n")
    };
    at.map(|at| format!("line {at}:\n{}\n---\n{}", around(&one, at), around(&other, at)))
        .or_else(|| (one.len() != other.len()).then(|| "one has more lines".to_owned()))
}

/// What is skipped, the same on any number of threads, with the bytes of a run that skips nothing.
fn skipped(scenario: &Scenario) -> Option<Skipped> {
    let plan = |threads| scenario.thread_plan(Threads::Forced(threads), 8);
    let all = run(scenario, &plan(1), false);
    assert_eq!(all.outcome.skipped, None);
    let [one, two, three] = [1, 2, 3].map(|threads| {
        let records = run(scenario, &plan(threads), true);
        if let Some(difference) = difference(&all, &records) {
            panic!("on {threads} threads, {:?}: {difference}", records.outcome.skipped);
        }
        records.outcome.skipped
    });
    assert_eq!((&one, &one), (&two, &three), "threads find the same");
    one
}

#[test]
fn repeats_of_collectives_on_rails_are_skipped_from_the_second_or_third_on() {
    for (more, collective, most) in [
        ("", r#"op = "all-reduce", size = "16MB", repeat = 12"#, 3),
        ("", r#"op = "all-reduce", algorithm = "halving-doubling", size = "16MB", repeat = 12"#, 4),
        ("", r#"op = "all-to-all", size = "8MB", repeat = 12, flows = false"#, 3),
        (DCQCN, r#"op = "all-reduce", size = "16MB", repeat = 12"#, 4),
    ] {
        let skipped = skipped(&job(RAILS, more, collective)).expect("it recurs");
        assert_eq!((skipped.period, skipped.of), (1, 12), "{collective}");
        assert!(skipped.iterations >= 12 - most, "{collective}: {skipped:?}");
    }
}

#[test]
fn what_recurs_with_pauses_or_after_two_repeats_is_skipped_too() {
    let paused = job(LEAVES, "", r#"op = "all-to-all", size = "16MB", repeat = 12"#);
    let control = Control::default();
    let records = Fabric::build(paused.blueprint(), &control).expect("it is sound").run();
    assert!(records.outcome.pauses.is_some_and(|pauses| pauses.rows > 1_000));
    assert!(skipped(&paused).expect("it recurs").iterations >= 3);
    let ring = job(LEAVES, "", r#"op = "all-reduce", size = "16MB", repeat = 12"#);
    assert!(skipped(&ring).is_some_and(|skipped| skipped.iterations >= 2));
}

#[test]
fn a_run_that_ends_at_its_limit_ends_there_with_skips() {
    for limit in ["3ms", "4150us", "5777us"] {
        let network = RAILS.replace("1s", limit);
        let scenario = job(&network, "", r#"op = "all-reduce", size = "16MB", repeat = 1000"#);
        assert!(skipped(&scenario).expect("it recurs").iterations > 2);
    }
}

#[test]
fn nothing_is_skipped_while_something_else_is_to_come() {
    let later = "[[workload]]\nname = \"late\"\nflows = [{ from = \"h1\", to = \"h9\", size = \"1MB\", start = \"3500us\" }]\n";
    let text = format!(
        "{RAILS}[[workload]]\nname = \"job\"\ncollective = {{ op = \"all-reduce\", size = \"16MB\", repeat = 12 }}\n{later}"
    );
    let scenario = Scenario::from_text("job.toml", &text, &[]);
    assert!(scenario.is_ok_and(|scenario| skipped(&scenario).is_none()));
}

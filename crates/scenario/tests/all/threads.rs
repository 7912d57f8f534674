//! Scenarios on one thread and on several: the same bytes, and what a scenario may say of it.

use std::path::Path;

use floodway_fabric::{Control, Fabric, Records, ThreadPlan, Threads};
use floodway_scenario::Scenario;

fn load(name: &str, (key, value): (&str, &str)) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let sets = [(key.to_owned(), value.to_owned())];
    Scenario::from_path(&path, &sets).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(scenario: &Scenario, thread_plan: &ThreadPlan) -> Records {
    let control = Control::default();
    Fabric::build(scenario.blueprint(), &control).expect("it is sound").on(thread_plan).run()
}

#[test]
fn scenarios_keep_the_same_bytes_on_several_threads() {
    for (name, set) in [
        ("bifrost-2dc.toml", ("workload.flows.until", "500us")),
        ("demo.toml", ("workload.hadoop.until", "500us")),
        ("three-sites.toml", ("workload.between-sites.until", "300us")),
        ("ring-allreduce.toml", ("limit", "1ms")),
        ("proxy.toml", ("limit", "3ms")),
        ("pacc-incast.toml", ("limit", "2ms")),
        ("perftest.toml", ("limit", "1ms")),
        ("tcd-victim.toml", ("limit", "2ms")),
    ] {
        let scenario = load(name, set);
        let one = run(&scenario, &scenario.thread_plan(Threads::Forced(1), 8));
        for threads in [2, 5] {
            let thread_plan = scenario.thread_plan(Threads::Forced(threads), 8);
            assert!(thread_plan.threads() > 1, "{name}: {thread_plan:?}");
            assert!(
                format!("{one:?}") == format!("{:?}", run(&scenario, &thread_plan)),
                "{name} on {threads}"
            );
        }
        assert!(one.outcome.packet_hops > 1_000, "{name}");
    }
}

#[test]
fn copies_of_another_simulator_give_the_reason_for_one_thread() {
    let scenario = read("threads = 4\n[semantics]\nties = \"scheduling-order\"").expect("it is one");
    let thread_plan = scenario.thread_plan(Threads::Paying, 4);
    let why = "ties go by the order in which events are scheduled, which is one for the whole network";
    assert_eq!((thread_plan.threads(), thread_plan.why()), (1, Some(why)));
}

const TWO: &str = r#"topology.two-dc = { fabric.fat-tree = { k = 4 }, rate = "100G", delay = "1us", long-link = { rate = "400G", length = "80km" } }
defaults.flow-control = "pfc"
defaults.buffer.shared = { pool = "10MB" }
[[workload]]
name = "w"
"#;

fn read(engine: &str) -> Result<Scenario, String> {
    let flow = |i| format!(r#"{{ from = "h{i}", to = "h{}", size = "1MB" }}"#, i + 16);
    let flows: Vec<String> = (1..=16).map(flow).collect();
    let text = format!("{TWO}flows = [{}]\n[engine]\n{engine}\n", flows.join(", "));
    Scenario::from_text("a.toml", &text, &[]).map_err(|errors| errors.to_string())
}

#[test]
fn a_scenario_names_its_threads() {
    let scenario = read("threads = 2").expect("it is one");
    assert_eq!(scenario.thread_plan(Threads::Paying, 8).threads(), 2);
    assert_eq!(scenario.thread_plan(Threads::Forced(1), 8).threads(), 1, "who calls has the last word");
    let none = read("threads = 0").expect_err("it is wrong");
    assert!(none.contains("engine.threads: 0 is not allowed; the minimum is 1"), "{none}");
}

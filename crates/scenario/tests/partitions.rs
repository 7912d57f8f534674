//! Scenarios on one thread and on several: the same bytes, and what a scenario may say of it.

use std::path::Path;

use floodway_fabric::{Control, Fabric, Partitioning, Records, Threads};
use floodway_scenario::Scenario;

fn load(name: &str, (key, value): (&str, &str)) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    let sets = [(key.to_owned(), value.to_owned())];
    Scenario::from_path(&path, &sets).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(scenario: &Scenario, parts: &Partitioning) -> Records {
    let control = Control::default();
    Fabric::build_parts(scenario.blueprint(), &control, parts).expect("it is sound").run()
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
        let one = run(&scenario, &scenario.partitioning(Threads::Forced(1), 8));
        for threads in [2, 5] {
            let parts = scenario.partitioning(Threads::Forced(threads), 8);
            assert!(parts.parts() > 1, "{name}: {parts:?}");
            assert!(format!("{one:?}") == format!("{:?}", run(&scenario, &parts)), "{name} on {threads}");
        }
        assert!(one.outcome.packet_hops > 1_000, "{name}");
    }
}

#[test]
fn what_copies_another_simulator_says_why_it_has_one_thread() {
    let scenario = read("threads = 4\n[semantics]\nties = \"scheduling-order\"").expect("it is one");
    let parts = scenario.partitioning(Threads::Paying, 4);
    let why = "ties go by the order in which events are scheduled, which is one for the whole network";
    assert_eq!((parts.threads(), parts.why()), (1, Some(why)));
}

const TWO: &str = r#"topology.two-dc = { fabric.fat-tree = { k = 4 }, rate = "100G", delay = "1us", long-link = { rate = "400G", length = "80km" } }
defaults.flow-control = "pfc"
defaults.buffer.shared = { pool = "10MB" }
[[workload]]
name = "w"
flows = [{ from = "h1", to = "h17", size = "1MB" }]
"#;

fn read(engine: &str) -> Result<Scenario, String> {
    let text = format!("{TWO}[engine]\n{engine}\n");
    Scenario::from_text("a.toml", &text, &[]).map_err(|errors| errors.to_string())
}

#[test]
fn a_scenario_names_partitions_and_threads() {
    let named = r#"partitions = [{ tag = "dc-a" }, { tag = "dc-b" }]"#;
    let scenario = read(&format!("{named}\nthreads = 2")).expect("it is one");
    let parts = scenario.partitioning(Threads::Paying, 8);
    assert_eq!((parts.parts(), parts.threads()), (2, 2));
    let dc = |tag: &str| {
        let nodes = scenario.blueprint().nodes.iter().enumerate();
        let of = nodes.filter(|(_, node)| node.tags.iter().any(|of| of == tag));
        let mut parts: Vec<usize> = of.map(|(i, _)| parts.of(floodway_units::NodeId(i as u32))).collect();
        parts.dedup();
        parts
    };
    assert_eq!((dc("dc-a"), dc("dc-b")), (vec![0], vec![1]));
    assert_eq!(scenario.partitioning(Threads::Forced(1), 8).parts(), 1, "who calls has the last word");
}

#[test]
fn what_is_wrong_with_partitions_is_named() {
    let error = |engine: &str| read(engine).expect_err("it is wrong");
    let nobody = error(r#"partitions = [{ tag = "dc-a" }, { tag = "dc-c" }]"#);
    assert!(
        nobody.contains(r#"engine.partitions: { tag = "dc-c" } matches nothing; did you mean "#),
        "{nobody}"
    );
    let twice = error(r#"partitions = [{ tag = "dc-a" }, "*"]"#);
    assert!(twice.contains("is in two partitions"), "{twice}");
    let one = error(r#"partitions = ["*"]"#);
    assert!(one.contains("two partitions or more are due"), "{one}");
    let none = error("threads = 0");
    assert!(none.contains("engine.threads: 0 is not a number of threads, 1 or more"), "{none}");
}

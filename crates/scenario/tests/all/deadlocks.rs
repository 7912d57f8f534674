//! Warning of buffers that can wait for each other in a cycle: where it is due, and nowhere else.

use std::fmt::Write as _;

use floodway_scenario::Scenario;

fn read(text: &str) -> Scenario {
    Scenario::from_text("a.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The warnings of deadlocks among all.
fn of_deadlocks(scenario: &Scenario) -> Vec<String> {
    let is_it = |warning: &&String| warning.contains("wait for each other in a cycle");
    scenario.warnings().iter().filter(is_it).cloned().collect()
}

/// A ring of switches with a host each, and a workload.
fn ring(switches: usize, flow_control: &str, workload: &str) -> String {
    let mut links = String::new();
    for i in 1..=switches {
        let next = i % switches + 1;
        let _ = write!(links, r#"{{ between = ["s{i}", "s{next}"] }}, {{ between = ["h{i}", "s{i}"] }}, "#);
    }
    format!(
        r#"
        limit = "1ms"
        [topology.explicit]
        hosts = ["h1..h{switches}"]
        switches = ["s1..s{switches}"]
        rate = "100G"
        delay = "1us"
        links = [{links}]
        [defaults]
        flow-control = {flow_control}
        buffer.shared = {{ pool = "10MB" }}
        [[workload]]
        name = "traffic"
        {workload}
        "#
    )
}

const ALL_TO_ALL: &str = r#"poisson = { sizes = "fb-hadoop", load = 0.1, of = "hosts" }"#;
const PFC: &str = r#""pfc""#;

/// Two tiers: hosts at both, and paths that go down and up again.
fn valleys(flows: &[&str]) -> String {
    format!(
        r#"
        limit = "1ms"
        [topology.explicit]
        hosts = ["h1..h8"]
        switches = ["c1", "c2", "t1", "t2"]
        rate = "100G"
        delay = "1us"
        links = [
            {{ between = ["t1", "c1"] }}, {{ between = ["t1", "c2"] }}, {{ between = ["t2", "c1"] }},
            {{ between = ["t2", "c2"] }}, {{ between = ["h1", "t1"] }}, {{ between = ["h2", "t1"] }},
            {{ between = ["h3", "t2"] }}, {{ between = ["h4", "t2"] }}, {{ between = ["h5", "c1"] }},
            {{ between = ["h6", "c1"] }}, {{ between = ["h7", "c2"] }}, {{ between = ["h8", "c2"] }},
        ]
        [defaults]
        flow-control.pfc = {{ xoff = "60KB" }}
        [[workload]]
        name = "pinned"
        flows = [{}]
        "#,
        flows.join(", ")
    )
}

const VALLEYS: [&str; 4] = [
    r#"{ from = "h1", to = "h7", size = "2MB", path = "h1,t1,c1,t2,c2,h7" }"#,
    r#"{ from = "h5", to = "h2", size = "2MB", path = "h5,c1,t2,c2,t1,h2" }"#,
    r#"{ from = "h3", to = "h6", size = "2MB", path = "h3,t2,c2,t1,c1,h6" }"#,
    r#"{ from = "h8", to = "h4", size = "2MB", path = "h8,c2,t1,c1,t2,h4" }"#,
];

#[test]
fn pinned_valleys_that_make_a_cycle_are_named_before_the_run() {
    let warnings = of_deadlocks(&read(&valleys(&VALLEYS)));
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    let cycle = "t1 (t1-c1) -> c1 (t2-c1) -> t2 (t2-c2) -> c2 (t1-c2) -> t1 (t1-c1)";
    assert!(warning.ends_with(cycle) && warning.contains("class 3"), "{warning}");
    assert!(warning.starts_with("a.toml:15: defaults.flow-control"), "{warning}");
    for taken in 0..16 {
        let flows: Vec<&str> = (0..4).filter(|i| taken >> i & 1 == 1).map(|i| VALLEYS[i]).collect();
        if !flows.is_empty() {
            let warnings = of_deadlocks(&read(&valleys(&flows)));
            assert_eq!(warnings.len(), usize::from(turns(&flows) == 4), "{flows:?}: {warnings:?}");
        }
    }
}

/// How many of the four corners flows turn at.
fn turns(flows: &[&str]) -> usize {
    let corners = ["t1,c1,t2", "c1,t2,c2", "t2,c2,t1", "c2,t1,c1"];
    corners.iter().filter(|corner| flows.iter().any(|flow| flow.contains(**corner))).count()
}

#[test]
fn shortest_paths_around_a_ring_of_four_or_more_are_a_cycle_and_of_three_are_not() {
    for (switches, cycles) in [(3, 0), (4, 1), (5, 1), (8, 1)] {
        let warnings = of_deadlocks(&read(&ring(switches, PFC, ALL_TO_ALL)));
        assert_eq!(warnings.len(), cycles, "{switches}: {warnings:?}");
    }
    let lossy = ring(4, r#""lossy""#, ALL_TO_ALL);
    assert_eq!(of_deadlocks(&read(&lossy)), [""; 0]);
}

/// What each rank of a ring sends goes over one link.
#[test]
fn a_ring_of_ranks_on_a_ring_of_switches_is_no_cycle_and_all_to_all_is_one() {
    for (operation, algorithm, cycles) in [("all-reduce", "ring", 0), ("all-to-all", "direct", 1)] {
        let workload =
            format!(r#"collective = {{ op = "{operation}", algorithm = "{algorithm}", size = "1MB" }}"#);
        let warnings = of_deadlocks(&read(&ring(5, PFC, &workload)));
        assert_eq!(warnings.len(), cycles, "{operation}: {warnings:?}");
    }
}

/// The second seed draws other pairs.
#[test]
fn another_seed_is_looked_at_anew() {
    let workload = r#"permutation = { of = "h*", size = "1MB" }"#;
    let scenario = read(&ring(6, PFC, workload));
    let found: Vec<usize> =
        (0..40).map(|seed| of_deadlocks(&scenario.clone().with_seed(seed)).len()).collect();
    let sum: usize = found.iter().sum();
    assert!(0 < sum && sum < 40, "{found:?}");
}

#[test]
fn networks_whose_shortest_paths_go_up_and_down_have_no_cycle() {
    let topologies = [
        r#"fat-tree = { k = 4, rate = "100G", delay = "1us" }"#,
        r#"leaf-spine = { leaves = 4, spines = 4, hosts = 4, rate = "100G", delay = "1us" }"#,
        r#"two-dc = { fabric.fat-tree = { k = 4 }, rate = "100G", delay = "1us", long-link = { length = "80km", rate = "400G" } }"#,
        r#"multi-dc = { sites = 3, fabric.fat-tree = { k = 4 }, rate = "100G", delay = "1us", long-links = { ring = ["80km", "80km", "80km"], rate = "400G" } }"#,
        r#"dumbbell = { left = 4, right = 4, rate = "100G", delay = "1us" }"#,
        r#"chain = { switches = 5, hosts = 2, rate = "100G", delay = "1us" }"#,
        r#"single-switch = { hosts = 8, rate = "100G", delay = "1us" }"#,
    ];
    for topology in topologies {
        let text = format!(
            r#"
            limit = "1ms"
            topology.{topology}
            [defaults]
            flow-control = "pfc"
            [[workload]]
            name = "traffic"
            {ALL_TO_ALL}
            "#
        );
        assert_eq!(of_deadlocks(&read(&text)), [""; 0], "{topology}");
    }
}

//! Iterations that repeat earlier ones are not simulated again: the same bytes as with all of them.

use floodway_fabric::outcome::Skipped;
use floodway_fabric::{Control, Fabric, Outcome, Records, ThreadPlan, Threads};
use floodway_scenario::Scenario;
use proptest::prelude::*;

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
        let outcome = Outcome { skipped: Vec::new(), not_skipped: None, ..records.outcome.clone() };
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
fn skips(scenario: &Scenario) -> Vec<Skipped> {
    let plan = |threads| scenario.thread_plan(Threads::Forced(threads), 8);
    let all = run(scenario, &plan(1), false);
    assert!(all.outcome.skipped.is_empty());
    let [one, two, three] = [1, 2, 3].map(|threads| {
        let records = run(scenario, &plan(threads), true);
        if let Some(difference) = difference(&all, &records) {
            panic!("on {threads} threads, {:?}: {difference}", records.outcome.skipped);
        }
        (records.outcome.skipped, records.outcome.not_skipped)
    });
    assert_eq!((&one, &one), (&two, &three), "threads find the same");
    one.0
}

/// The same, where no more than one is found.
fn skipped(scenario: &Scenario) -> Option<Skipped> {
    let mut skips = skips(scenario);
    assert!(skips.len() < 2, "{skips:?}");
    skips.pop()
}

/// A scenario by its text.
fn read(text: &str) -> Scenario {
    Scenario::from_text("job.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Iterations of a job that were skipped.
fn sum(skips: &[Skipped], job: &str) -> u32 {
    skips.iter().filter(|skip| skip.workload == job).map(|skip| skip.iterations).sum()
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

/// A ring of 60 repeats, of about 156 us each.
const RING: &str = r#"[[workload]]
name = "job"
collective = { op = "all-reduce", size = "8MB", repeat = 60 }
"#;

/// A job with another workload.
fn beside(later: &str) -> Scenario {
    read(&format!("{RAILS}{RING}[[workload]]\nname = \"late\"\n{later}\n"))
}

#[test]
fn what_comes_later_ends_a_skip_and_is_as_it_would_be() {
    let flow = |at: &str| format!("{{ from = \"h1\", to = \"h9\", size = \"1MB\", start = \"{at}\" }}");
    let one = format!("flows = [{}]", flow("2500us"));
    let two = format!("flows = [{}, {}]", flow("2500us"), flow("6ms"));
    let generator =
        "poisson = { load = 0.02, sizes = { fixed = \"100KB\" } }\nstart = \"3ms\"\nuntil = \"3100us\"";
    for (later, times, least) in [(one.as_str(), 2, 40), (&two, 3, 30), (generator, 1, 10)] {
        let skips = skips(&beside(later));
        assert!(skips.len() >= times && sum(&skips, "job") >= least, "{later}: {skips:?}");
    }
}

#[test]
fn jobs_one_after_another_are_each_skipped() {
    let later = "collective = { op = \"all-gather\", size = \"8MB\", repeat = 30 }\nstart = \"12ms\"";
    let skips = skips(&beside(later));
    assert!(sum(&skips, "job") >= 50 && sum(&skips, "late") >= 16, "{skips:?}");
}

#[test]
fn a_job_is_skipped_until_another_begins_and_behind_its_end() {
    let later = "collective = { op = \"all-gather\", size = \"1MB\", repeat = 5 }\nstart = \"2500us\"";
    let skips = skips(&beside(later));
    assert!(skips.len() > 1 && sum(&skips, "job") >= 40, "{skips:?}");
}

#[test]
fn a_job_is_skipped_before_and_behind_a_fault() {
    let pause = "hosts = \"h1\"\nfaults.pause = { from = \"2500us\", to = \"2600us\" }";
    let slower = "links = \"h1-*\"\nfaults.switchover = { at = \"2500us\", delay = \"700ns\" }";
    let down = "links = \"h1-*\"\nfaults.down = { from = \"2500us\", to = \"2600us\" }";
    // Where links fail, timers of retransmission are armed for longer than the run.
    for (fault, times, least) in [(pause, 2, 20), (slower, 1, 10), (down, 0, 0)] {
        let skips = skips(&read(&format!("{RAILS}[[override]]\nname = \"fault\"\n{fault}\n{RING}")));
        assert!(skips.len() >= times && sum(&skips, "job") >= least, "{fault}: {skips:?}");
    }
}

#[test]
fn flows_of_a_job_are_measured_in_their_window_with_skips() {
    let measured =
        format!("measure = {{ from = \"1200us\", to = \"3210us\" }}\n{RAILS}").replace("1s", "5ms");
    let skips_of = |more: &str| skips(&read(&format!("{more}{measured}{RING}")));
    let to_limit = skips_of("stop = \"limit\"\n");
    assert!(to_limit.len() > 2 && sum(&to_limit, "job") >= 10, "{to_limit:?}");
    // The run ends when they are complete.
    let to_end = skips_of("");
    assert!(to_end.len() > 1 && sum(&to_end, "job") >= 6, "{to_end:?}");
}

#[test]
fn rate_controls_and_reliabilities_whose_state_counts_from_a_packet_are_skipped() {
    for (reliability, more, least) in [
        ("irn", "", 37),
        ("irn = { form = \"swing\" }", "", 37),
        ("irn = { form = \"conweave\" }", "", 37),
        ("go-back-n = { ack-interval = 1 }", "swift", 35),
        ("go-back-n = { ack-interval = 1 }", "timely", 20),
        ("go-back-n = { ack-interval = 1 }", "hpcc", 34),
        ("go-back-n = { ack-interval = 1 }", "powertcp", 37),
    ] {
        let reliability = match reliability {
            "irn" => "reliability = \"irn\"".to_owned(),
            other => format!("reliability.{other}"),
        };
        let network = RAILS.replace("reliability.go-back-n = { ack-interval = 16 }", &reliability);
        let control =
            if more.is_empty() { String::new() } else { format!("defaults.rate-control = \"{more}\"\n") };
        let scenario = job(&network, &control, r#"op = "all-reduce", size = "16MB", repeat = 40"#);
        let skipped = skipped(&scenario).map_or(0, |skipped| skipped.iterations);
        assert!(skipped >= least, "{reliability} {more}: {skipped} of 40");
    }
}

/// What comes later, beside jobs.
#[derive(Clone, Debug)]
struct Later {
    /// An override, or nothing.
    fault: String,
    /// Another workload, or nothing.
    flows: String,
}

/// A list of a few flows, a generator, or neither; a link that fails or a port that pauses, or neither.
fn later() -> impl Strategy<Value = Later> {
    let flow = (1u32..5, 5u32..9, 1u64..2_000, 0u64..8_000_000).prop_map(|(from, to, kilobytes, start)| {
        format!("{{ from = \"h{from}\", to = \"h{to}\", size = \"{kilobytes}KB\", start = \"{start}ns\" }}")
    });
    let list = prop::collection::vec(flow, 1..4)
        .prop_map(|flows| format!("[[workload]]\nname = \"list\"\nflows = [{}]\n", flows.join(", ")));
    let generator = (0u64..5_000, 50u64..500).prop_map(|(start, takes)| {
        format!(
            "[[workload]]\nname = \"generator\"\npoisson = {{ load = 0.01, sizes = {{ fixed = \"50KB\" }} }}\n\
             start = \"{start}us\"\nuntil = \"{}us\"\n",
            start + takes
        )
    });
    let fault = (any::<bool>(), 1u64..6_000, 1u64..300).prop_map(|(down, from, takes)| {
        let period = format!("{{ from = \"{from}us\", to = \"{}us\" }}", from + takes);
        let what = if down {
            format!("links = \"h2-*\"\nfaults = {{ down = {period}, detection = \"3us\" }}")
        } else {
            format!("hosts = \"h2\"\nfaults.pause = {period}")
        };
        format!("[[override]]\nname = \"fault\"\n{what}\n")
    });
    let none = || Just(String::new());
    let flows = prop_oneof![1 => none(), 3 => list, 2 => generator];
    let fault = prop_oneof![2 => none(), 1 => fault];
    (fault, flows).prop_map(|(fault, flows)| Later { fault, flows })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_jobs_on_random_networks_have_the_same_bytes_with_skips(
        (rails, nodes, ack, rate) in (any::<bool>(), 2u32..4, 1u32..17, 0usize..3),
        (op, size, repeat, second) in (0usize..5, 1u64..12, 4u32..24, 0u32..9),
        (control, xoff, delay) in (0usize..4, 60u64..400, 1u64..1000),
        (later, second_start) in (later(), prop::option::of(100u64..8_000)),
    ) {
        let rate = ["100G", "200G", "400G"][rate];
        // Halving needs a power of two.
        let nodes = if op == 1 { 2 } else { nodes };
        let topology = if rails {
            format!("topology.rail-optimised = {{ nodes = {nodes}, gpus-per-node = 4, spines = 2, rate = \"{rate}\", delay = \"{delay}ns\" }}\n\
                     gpu-nodes.scale-up = {{ rate = \"900G\", latency = \"500ns\" }}\n")
        } else {
            format!("topology.leaf-spine = {{ leaves = {nodes}, spines = 2, hosts = 4, rate = \"{rate}\", delay = \"{delay}ns\" }}\n")
        };
        let op = [
            r#"op = "all-reduce""#,
            r#"op = "all-reduce", algorithm = "halving-doubling""#,
            r#"op = "all-to-all""#,
            r#"op = "all-gather""#,
            r#"op = "reduce-scatter""#,
        ][op];
        let reliability = if control == 3 {
            "defaults.reliability = \"irn\"\n".to_owned()
        } else {
            format!("defaults.reliability.go-back-n = {{ ack-interval = {ack} }}\n")
        };
        let control = ["", DCQCN, "defaults.rate-control = \"hpcc\"\n", ""][control];
        let second = if second < 3 {
            String::new()
        } else {
            format!("[[workload]]\nname = \"second\"\ncollective = {{ op = \"all-gather\", size = \"1MB\", repeat = {second} }}\n")
                + &second_start.map(|at| format!("start = \"{at}us\"\n")).unwrap_or_default()
        };
        let text = format!(
            "mtu = \"4096B\"\nlimit = \"20ms\"\nrecords = {{ report = true, signals = true, allowances = true }}\n{topology}\
             defaults.flow-control.pfc = {{ xoff = \"{xoff}KB\" }}\ndefaults.buffer.shared = {{ pool = \"16MB\" }}\n{reliability}{control}{}\
             [[workload]]\nname = \"job\"\ncollective = {{ {op}, size = \"{size}MB\", repeat = {repeat} }}\n{second}{}",
            later.fault, later.flows,
        );
        match Scenario::from_text("job.toml", &text, &[]) {
            Ok(scenario) => { let _ = skips(&scenario); }
            Err(errors) => prop_assert!(false, "{errors}"),
        }
    }
}

/// Leaves of four hosts, of which each has what is written down for it.
fn of_racks(more: &str, of_leaf: &[&str]) -> String {
    let network = LEAVES.replace("leaves = 2", &format!("leaves = {}", of_leaf.len()));
    let pfc =
        "defaults.flow-control.pfc = { xoff = \"100KB\" }\ndefaults.buffer.shared = { pool = \"4MB\" }\n";
    let network = if more.contains("flow-control") { network.replace(pfc, "") } else { network };
    let network = if more.contains("limit = ") { network.replace("limit = \"1s\"\n", "") } else { network };
    let workloads = (0..).zip(of_leaf).filter(|(_, what)| !what.is_empty()).map(|(leaf, what)| {
        let hosts: Vec<String> = (1..5).map(|host| format!("\"h{}\"", 4 * leaf + host)).collect();
        let what = what
            .replace("HOSTS", &format!("[{}]", hosts.join(", ")))
            .replace("FIRST", &hosts[0])
            .replace("SECOND", &hosts[1]);
        format!("[[workload]]\nname = \"w{leaf}\"\n{what}\n")
    });
    format!("{more}{network}{}", workloads.collect::<String>())
}

fn racks(more: &str, of_leaf: &[&str]) -> Scenario {
    read(&of_racks(more, of_leaf))
}

/// A ring of a rack.
const RACK: &str = r#"collective = { op = "all-reduce", size = "2MB", repeat = 24, ranks = HOSTS }"#;

#[test]
fn parts_of_a_network_recur_on_their_own() {
    let flow = r#"flows = [{ from = FIRST, to = SECOND, size = "10MB" }]"#;
    let longer = RACK.replace("2MB", "2250KB");
    let generator = r#"poisson = { from = HOSTS, to = HOSTS, load = 0.2, sizes = { fixed = "50KB" } }
until = "2ms""#;
    for (of_leaf, jobs) in [
        ([RACK, &longer, ""], &["w0", "w1"][..]),
        ([flow, &longer, generator], &["w1"]),
        ([RACK, "", flow], &["w0"]),
    ] {
        let skips = skips(&racks("", &of_leaf));
        for job in jobs {
            assert!(sum(&skips, job) >= 16, "{job} of {of_leaf:?}: {skips:?}");
        }
    }
}

#[test]
fn what_connects_parts_has_them_recur_together() {
    // A flow from the second rack, to the third one or within it.
    let flow = |to: &str| format!(r#"flows = [{{ from = FIRST, to = "{to}", size = "80MB" }}]"#);
    let skipped_of = |of_leaf: [&str; 3], job: &str| sum(&skips(&racks("", &of_leaf)), job);
    assert_eq!(skipped_of(["", &flow("h9"), RACK], "w2"), 0);
    assert!(skipped_of(["", &flow("h6"), RACK], "w2") >= 16);
}

#[test]
fn pauses_in_force_at_the_end_are_those_of_their_part() {
    let incast =
        r#"flows = [{ from = FIRST, to = "h8", size = "1GB" }, { from = SECOND, to = "h8", size = "1GB" }]"#;
    for limit in ["3ms", "3301us", "3407us", "3623us"] {
        let more = format!("stop = \"limit\"\nlimit = \"{limit}\"\n");
        assert!(sum(&skips(&racks(&more, &[RACK, incast])), "w0") > 2);
    }
}

/// What a rack has: a ring, flows of a list, a generator, or nothing.
fn of_rack() -> impl Strategy<Value = String> {
    let ring = (100u64..3_000, 4u32..40, prop::option::of(0u64..6_000)).prop_map(|(kilobytes, repeat, start)| {
        let start = start.map(|at| format!("start = \"{at}us\"")).unwrap_or_default();
        format!("collective = {{ op = \"all-reduce\", size = \"{kilobytes}KB\", repeat = {repeat}, ranks = HOSTS }}\n{start}")
    });
    let flow = (1u32..17, 1u64..5_000, 0u64..8_000_000).prop_map(|(to, kilobytes, start)| {
        let to = if to < 3 { format!("\"h{to}\"") } else { "SECOND".to_owned() };
        format!("flows = [{{ from = \"h3\", to = {to}, size = \"1KB\" }}, {{ from = FIRST, to = SECOND, size = \"{kilobytes}KB\", start = \"{start}ns\" }}]")
    });
    let generator = (0u64..5_000, 50u64..2_000, 1u32..4).prop_map(|(start, takes, tenths)| {
        format!(
            "poisson = {{ from = HOSTS, to = HOSTS, load = 0.{tenths}, sizes = {{ fixed = \"50KB\" }} }}\n\
                 start = \"{start}us\"\nuntil = \"{}us\"",
            start + takes
        )
    });
    prop_oneof![3 => ring, 1 => flow, 1 => generator, 1 => Just(String::new())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_parts_have_the_same_bytes_with_skips(
        of_leaf in prop::collection::vec(of_rack(), 2..5),
        (stops, limit, control) in (any::<bool>(), 2u64..15, any::<bool>()),
        window in prop::option::of((0u64..900, 100u64..8_000)),
    ) {
        let stop = if stops { "stop = \"limit\"\n" } else { "" };
        prop_assume!(of_leaf.iter().any(|what| !what.is_empty()));
        let window = window.map(|(thousandths, takes)| (limit * thousandths, takes));
        let window = window.map(|(from, takes)| format!("measure = {{ from = \"{from}us\", to = \"{}us\" }}\n", from + takes));
        let of_leaf: Vec<&str> = of_leaf.iter().map(String::as_str).collect();
        let more = format!("{stop}{}{}", window.unwrap_or_default(), if control { DCQCN } else { "" });
        let text = of_racks(&format!("{more}limit = \"{limit}ms\"\n"), &of_leaf);
        // Some begin, or are measured, behind the limit, which is an error.
        let scenario = Scenario::from_text("job.toml", &text, &[]);
        prop_assume!(scenario.is_ok());
        let _ = skips(&scenario.expect("it has been read"));
    }
}

/// A training job on rails, with a small model and other keys.
fn training(network: &str, keys: &str) -> Scenario {
    read(&format!(
        "{network}[[workload]]\nname = \"job\"\n[workload.training]\nmodel = {{ layers = 8, hidden = 1024, \
         sequence = 512, parameters = 100000000 }}\nforward = \"40us\"\nbackward = \"80us\"\n{keys}\n"
    ))
}

#[test]
fn micro_batches_of_an_iteration_are_skipped() {
    let skipped_of = |network: &str, keys: &str| {
        let skipped = skipped(&training(network, keys)).expect("it recurs");
        assert_eq!((skipped.iterations, skipped.iteration), (0, 0));
        assert!(skipped.micro_batches >= 10, "{skipped:?}");
        assert!(skipped.micro_batch.is_some_and(|first| first < 9), "{skipped:?}");
        skipped.of_micro_batches
    };
    assert_eq!(skipped_of(RAILS, "pipeline = 4\ndata = 4\nmicro-batches = 24"), 20);
    // The queue pairs of gradients, from node to node, open behind what is skipped.
    let nodes = RAILS.replace("nodes = 2", "nodes = 4, gpus-per-node = 4") + DCQCN;
    assert_eq!(skipped_of(&nodes, "pipeline = 2\ndata = 8\nmicro-batches = 24"), 22);
}

#[test]
fn iterations_are_skipped_behind_one_of_which_micro_batches_were() {
    let scenario = training(RAILS, "pipeline = 2\ndata = 8\nmicro-batches = 16\niterations = 9");
    let skips = skips(&scenario);
    assert!(skips.iter().any(|skip| skip.micro_batches > 0), "{skips:?}");
    assert!(sum(&skips, "job") >= 5, "{skips:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_training_jobs_have_the_same_bytes_with_skips(
        (tensor, pipeline, data) in (0u32..4, 0u32..3, 1u32..4),
        (micro_batches, iterations, layers) in (8u32..24, 1u32..4, 1u32..3),
        (forward, backward, hidden) in (1u32..80, 1u32..160, 1u32..8),
        (rails, control, xoff, scatters) in (any::<bool>(), 0usize..4, 60u64..400, any::<bool>()),
        (later, limit) in (prop_oneof![2 => Just(None), 1 => later().prop_map(Some)], 8u64..16),
    ) {
        let (tensor, pipeline) = (1 << tensor.min(2), 1 << pipeline);
        let nodes = (tensor * pipeline * data).div_ceil(4);
        let topology = if rails {
            format!("topology.rail-optimised = {{ nodes = {nodes}, gpus-per-node = 4, spines = 2, rate = \"100G\", delay = \"300ns\" }}\n\
                     gpu-nodes.scale-up = {{ rate = \"900G\", latency = \"500ns\" }}\n")
        } else {
            format!("topology.leaf-spine = {{ leaves = {nodes}, spines = 2, hosts = 4, rate = \"100G\", delay = \"300ns\" }}\n")
        };
        let control = [
            "defaults.reliability.go-back-n = { ack-interval = 4 }\n",
            DCQCN,
            "defaults.rate-control = \"hpcc\"\n",
            "defaults.reliability = \"irn\"\n",
        ][control];
        let later = later.filter(|_| nodes > 2).map(|later| later.fault + &later.flows).unwrap_or_default();
        let network = format!(
            "mtu = \"4096B\"\nlimit = \"{limit}ms\"\nrecords = {{ report = true, signals = true, allowances = true }}\n{topology}\
             defaults.flow-control.pfc = {{ xoff = \"{xoff}KB\" }}\ndefaults.buffer.shared = {{ pool = \"16MB\" }}\n{control}{later}"
        );
        let text = format!(
            "{network}[[workload]]\nname = \"job\"\n[workload.training]\nmodel = {{ layers = {}, hidden = {}, sequence = 256, parameters = 20000000 }}\n\
             forward = \"{forward}us\"\nbackward = \"{backward}us\"\ntensor = {tensor}\npipeline = {pipeline}\n\
             data = {data}\nmicro-batches = {micro_batches}\niterations = {iterations}\ngradients = \"{}\"\n",
            layers * pipeline, hidden * 64, if scatters { "reduce-scatter" } else { "all-reduce" },
        );
        match Scenario::from_text("job.toml", &text, &[]) {
            Ok(scenario) => { let _ = skips(&scenario); }
            Err(errors) => prop_assert!(false, "{errors}\n{text}"),
        }
    }
}

#[test]
fn what_differs_is_named_alike_on_any_number_of_threads() {
    // A link fails within the iteration, and other flows take slots of queue pairs meanwhile.
    let scenario = read(
        "mtu = \"4096B\"\nlimit = \"12ms\"\n\
         topology.leaf-spine = { leaves = 3, spines = 2, hosts = 4, rate = \"100G\", delay = \"300ns\" }\n\
         defaults.flow-control.pfc = { xoff = \"244KB\" }\ndefaults.buffer.shared = { pool = \"16MB\" }\n\
         defaults.reliability.go-back-n = { ack-interval = 4 }\n\
         [[override]]\nname = \"fault\"\nlinks = \"h2-*\"\n\
         faults = { down = { from = \"5793us\", to = \"5940us\" }, detection = \"3us\" }\n\
         [[workload]]\nname = \"list\"\nflows = [\n\
         { from = \"h4\", to = \"h6\", size = \"1946KB\", start = \"4453697ns\" },\n\
         { from = \"h1\", to = \"h7\", size = \"22KB\", start = \"7025871ns\" }]\n\
         [[workload]]\nname = \"job\"\n[workload.training]\n\
         model = { layers = 2, hidden = 128, sequence = 256, parameters = 20000000 }\n\
         forward = \"44us\"\nbackward = \"45us\"\ntensor = 4\npipeline = 1\ndata = 3\n\
         micro-batches = 16\niterations = 1\ngradients = \"all-reduce\"\n",
    );
    let not_skipped = |threads| {
        let records = run(&scenario, &scenario.thread_plan(Threads::Forced(threads), 8), true);
        records.outcome.not_skipped.expect("the fault is within the only iteration")
    };
    let one = not_skipped(1);
    assert!(one.differences.iter().any(|difference| difference.parts == "queue pairs"), "{one:?}");
    assert_eq!(one, not_skipped(2));
}

#[test]
fn a_run_says_why_nothing_was_skipped() {
    let why = |network: &str, more: &str, repeat: u32| {
        let scenario = job(network, more, &format!(r#"op = "all-reduce", size = "1MB", repeat = {repeat}"#));
        let records = run(&scenario, &scenario.thread_plan(Threads::Forced(1), 8), true);
        let outcome = records.outcome;
        (!outcome.skipped.is_empty(), outcome.not_skipped.map(|not| not.why))
    };
    assert_eq!(why(RAILS, "", 1), (false, None));
    let (skipped, few) = why(RAILS, "", 3);
    assert!(!skipped && few.is_some_and(|why| why.contains("fewer than four iterations")));
    let ties = RAILS.replace("limit", "semantics.ties = \"scheduling-order\"\nlimit");
    assert!(why(&ties, "", 12).1.is_some_and(|why| why.contains("semantics.ties")));
    let scenario = read(&format!(
        "{RAILS}[[workload]]\nname = \"job\"\ncollective = {{ op = \"all-reduce\", size = \"16MB\", repeat = 12 }}\n\
         [[workload]]\nname = \"long\"\nflows = [{{ from = \"h1\", to = \"h9\", size = \"1GB\" }}]\n"
    ));
    let records = run(&scenario, &scenario.thread_plan(Threads::Forced(1), 8), true);
    let not = records.outcome.not_skipped.expect("a flow goes on");
    assert_eq!((not.workload.as_str(), not.of), ("job", 12));
    assert!(not.differences.iter().any(|difference| difference.parts == "queue pairs"), "{not:?}");
}

//! Flows that wait for others, queue pairs that are shared, and closed loops, as scenarios say them.

use std::path::Path;

use floodway_fabric::blueprint::{Arrivals, FlowSpec, Next, Sharing};
use floodway_scenario::{Scenario, Source, check};
use floodway_units::{Bytes, Span, Time};

const HEAD: &str = "topology.dumbbell = { left = 2, right = 2, rate = \"100G\", delay = \"1us\" }\n[[workload]]\n\
                    name = \"w\"\n";

fn read(text: &str) -> Result<Scenario, String> {
    Scenario::from_text("a.toml", text, &[]).map_err(|errors| errors.to_string())
}

/// A scenario whose only workload has this text.
fn with(workload: &str) -> Result<Scenario, String> {
    read(&format!("{HEAD}{workload}\n"))
}

fn refused(workload: &str) -> String {
    with(workload).err().unwrap_or_else(|| panic!("it was accepted:\n{workload}"))
}

/// A list with one flow a line, the first of them line 5.
fn list(flows: &str) -> String {
    format!("flows = [\n{flows}\n]")
}

fn flows(scenario: &Scenario) -> &[FlowSpec] {
    match &scenario.blueprint().workloads[0].arrivals {
        Arrivals::List(flows) => flows,
        other => panic!("it is a list: {other:?}"),
    }
}

#[test]
fn flows_wait_for_those_that_they_name_at_any_position() {
    let text = list(
        r#"{ from = "h2", to = "h3", size = "1KB", after = ["b", "a"], wait = "5us" },
        { id = "a", from = "h1", to = "h2", size = "1KB", start = "20us" },
        { id = "b", from = "h4", to = "h2", size = "1KB", start = "10us", after = "c" },
        { id = "c", from = "h1", to = "h4", size = "1KB" },"#,
    );
    let scenario = with(&text).expect("it is right");
    let flows = flows(&scenario);
    // In order of the earliest starts: the first and the last at 0, then b, then a.
    let after: Vec<&[usize]> = flows.iter().map(|flow| flow.after.as_slice()).collect();
    assert_eq!(after, [&[2, 3][..], &[], &[1], &[]]);
    assert_eq!(flows[0].wait, Span::us(5));
    assert_eq!(flows.iter().map(|flow| flow.start.0 / 1_000_000).collect::<Vec<_>>(), [0, 0, 10, 20]);
    // The last one's start, waits and what flows take alone are in the default limit.
    assert!(scenario.blueprint().end.limit > Time(4 * 25_000_000));
    assert_eq!(scenario.warnings(), [""; 0]);
}

#[test]
fn what_would_start_after_the_end_of_starts_is_left_out_with_those_that_wait_for_it() {
    let text = list(
        r#"{ id = "a", from = "h1", to = "h2", size = "1KB", start = "20us" },
        { id = "b", from = "h2", to = "h3", size = "1KB", after = "a" },
        { from = "h3", to = "h1", size = "1KB", after = "b" },
        { from = "h4", to = "h1", size = "1KB" },"#,
    );
    let scenario = with(&format!("until = \"20us\"\n{text}")).expect("it is right");
    assert_eq!(flows(&scenario).len(), 1);
    assert_eq!(scenario.blueprint().workloads[0].until, Time(20_000_000));
}

#[test]
fn ids_that_are_not_there_or_twice_and_cycles_are_refused() {
    let a = r#"{ id = "step-a", from = "h1", to = "h2", size = "1KB" },"#;
    let unknown = format!("{a}\n{{ from = \"h2\", to = \"h3\", size = \"1KB\", after = \"stpe-a\" }},");
    assert_eq!(
        refused(&list(&unknown)),
        r#"a.toml:6: workload.w.flows.2.after: no flow of the list has the id "stpe-a"; did you mean "step-a"?"#
    );
    assert_eq!(
        refused(&list(r#"{ from = "h2", to = "h3", size = "1KB", after = "x" }"#)),
        r#"a.toml:5: workload.w.flows.1.after: no flow of the list has the id "x": none has an id"#
    );
    assert_eq!(
        refused(&list(&format!("{a}\n{a}"))),
        r#"a.toml:6: workload.w.flows.2.id: "step-a" is the id of another flow (a.toml:5)"#
    );
    let cycle = r#"{ id = "a", from = "h1", to = "h2", size = "1KB", after = "b" },
        { id = "b", from = "h2", to = "h1", size = "1KB", after = "a" }"#;
    assert_eq!(
        refused(&list(cycle)),
        r#"a.toml:5: workload.w.flows.1.after: flows wait for each other: "a" after "b" after "a""#
    );
}

#[test]
fn a_flow_waits_only_for_what_its_sender_can_know() {
    let text = r#"{ id = "a", from = "h1", to = "h2", size = "1KB" },
        { from = "h3", to = "h4", size = "1KB", after = "a" }"#;
    assert_eq!(
        refused(&list(text)),
        "a.toml:6: workload.w.flows.2.after: flow 2 starts at h3, where it is not known when \"a\" from h1 to h2 is \
         complete: it would have to end there or begin there"
    );
    let text = r#"{ id = "a", from = "h1", to = "h2", size = "unbounded" },
        { from = "h2", to = "h4", size = "1KB", after = "a" }"#;
    assert_eq!(
        refused(&list(text)),
        r#"a.toml:6: workload.w.flows.2.after: flow 2 waits for "a", which never ends"#
    );
    assert_eq!(
        refused(&list(r#"{ from = "h2", to = "h4", size = "1KB", wait = "5us" }"#)),
        "a.toml:5: workload.w.flows.1.wait: the flow waits for no other: name those in \"after\", or say when it \
         starts"
    );
}

fn from_file(csv: &str) -> Result<Scenario, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("waiting-{}.csv", csv.len());
    std::fs::write(folder.join(&name), csv).expect("the folder of temporary files can be written");
    let text = format!("{HEAD}flow-list = {{ file = \"{name}\" }}\n");
    let source = Source { name: "a.toml", text: &text, folder, sets: &[], tables: None };
    Scenario::from_source(source).map_err(|errors| errors.to_string().replace(&name, "list.csv"))
}

#[test]
fn lists_in_files_have_columns_for_it() {
    let head = "id,source,destination,size_bytes,start_us,after,wait_us\n";
    let csv = format!("{head}a,h1,h2,1000,0,,\nb,h3,h2,1000,0,,\n,h2,h4,1000,1,a b,2.5\n");
    let scenario = from_file(&csv).unwrap_or_else(|error| panic!("{error}"));
    let last = &flows(&scenario)[2];
    assert_eq!(
        (last.after.as_slice(), last.wait, last.start),
        (&[0, 1][..], Span::ns(2_500), Time(1_000_000))
    );
    let error = from_file(&format!("{head}a,h1,h2,1000,0,,\n,h2,h4,1000,1,aa,0\n")).unwrap_err();
    assert!(
        error.starts_with("list.csv:3: workload.w.after: no flow of the list has the id \"aa\""),
        "{error}"
    );
}

#[test]
fn queue_pairs_are_chosen_like_other_settings_of_flows() {
    let flow = "flows = [{ from = \"h1\", to = \"h3\", size = \"1KB\" }, { from = \"h1\", to = \"h3\", size = \
                \"1KB\", class = 4 }]";
    let sharing = |before: &str| {
        let text = HEAD.replace("[[workload]]", &format!("{before}\n[[workload]]"));
        let scenario = read(&format!("{text}{flow}\n")).unwrap_or_else(|error| panic!("{error}"));
        let all: Vec<Sharing> = scenario.blueprint().settings.iter().map(|of| of.qp).collect();
        (all, check(&scenario, true).text())
    };
    let (all, text) = sharing("");
    assert_eq!(all, [Sharing::PerFlow; 2]);
    assert!(text.contains(r#"qp                "per-flow"  (built-in default)"#), "{text}");
    let (all, text) = sharing("[defaults]\nqp = \"per-pair\"");
    assert_eq!(all, [Sharing::PerPair; 2]);
    assert!(text.contains(r#"qp                "per-pair"  (defaults, a.toml:3)"#), "{text}");
    let of_one = "[[override]]\nname = \"shared\"\nflows = \"w\"\nqp = \"per-pair\"";
    let (all, text) = sharing(of_one);
    assert_eq!(all, [Sharing::PerPair; 2]);
    assert!(text.contains("(override shared, a.toml:5)"), "{text}");
    assert_eq!(
        read(&format!("{HEAD}{flow}\n[defaults]\nqp = \"per-host\"\n")).err().unwrap_or_default(),
        r#"a.toml:6: defaults.qp: "per-host" is not a choice; allowed: per-flow, per-pair"#
    );
}

#[test]
fn bursts_back_to_back_are_loops_of_as_many_flows_as_their_time_allows() {
    let burst = |keys: &str, times: &str| {
        format!(
            "burst = {{ from = [\"h1\", \"h2\"], to = \"h3\", size = \"50KB\", back-to-back = true{keys} }}\n{times}"
        )
    };
    let scenario = with(&burst("", "start = \"1ms\"\nuntil = \"1.1ms\"")).expect("it is right");
    let Arrivals::ClosedLoop(loops) = &scenario.blueprint().workloads[0].arrivals else {
        panic!("they are loops");
    };
    let found: Vec<_> = loops.iter().map(|of| (of.source.0, of.destination.0, of.depth, of.next)).collect();
    assert_eq!(found, [(0, 2, 1, Next::Left), (1, 2, 1, Next::Left)]);
    // 100 us at 100G are 1.25 MB, 25 flows of 50 KB, and one more for what rounding may add.
    assert!(loops.iter().all(|of| (of.messages, of.start) == (26, Time(1_000_000_000))));
    let said = |keys: &str, times: &str| refused(&burst(keys, times));
    assert_eq!(
        said(", every = \"1us\"", "until = \"1ms\""),
        r#"a.toml:4: workload.w.burst: "every" and "back-to-back" are given together: give one"#
    );
    assert_eq!(
        said("", ""),
        r#"a.toml:4: workload.w.burst.back-to-back: a burst that repeats needs the workload's "until""#
    );
    assert_eq!(
        said("", "start = \"2ms\"\nuntil = \"1ms\""),
        "a.toml:4: workload.w.burst: it starts at 2ms, but no flow may start at 1ms or later"
    );
    assert_eq!(
        said("", "until = \"1000s\""),
        "a.toml:4: workload.w.burst.back-to-back: that may make more than 1048576 flows"
    );
}

#[test]
fn perftest_has_its_own_defaults() {
    let loops = |text: &str| match with(text).expect("it is right").blueprint().workloads[0].arrivals.clone()
    {
        Arrivals::ClosedLoop(loops) => loops,
        other => panic!("it is a closed loop: {other:?}"),
    };
    let bw = loops(r#"perftest = { test = "write-bw", from = "h1", to = "h3" }"#);
    assert_eq!((bw.len(), bw[0].size, bw[0].messages, bw[0].depth), (1, Bytes(65_536), 5000, 128));
    let lat = loops("start = \"3us\"\nperftest = { test = \"write-lat\", from = \"h1\", to = \"h3\" }");
    let found: Vec<_> = lat.iter().map(|of| (of.size, of.messages, of.depth, of.start, of.next)).collect();
    let start = Time(3_000_000);
    assert_eq!(
        found,
        [(Bytes(2), 1000, 1, start, Next::Arrived(1)), (Bytes(2), 1000, 0, start, Next::Arrived(0))]
    );
    // Requests there and responses back, in turns, on two queue pairs.
    let read = loops(r#"perftest = { test = "read-bw", from = "h1", to = "h3", qps = 2 }"#);
    let found: Vec<_> = read.iter().map(|of| (of.source.0, of.size, of.depth, of.next)).collect();
    let pair = |first| {
        let there = (0, Bytes(1), 16, Next::Arrived(first + 1));
        [there, (2, Bytes(65_536), 0, Next::Arrived(first))]
    };
    assert_eq!((found, read[0].messages), ([pair(0), pair(2)].concat(), 1000));
    let depths = [
        ("queue-depth = 4", 4),
        ("outstanding-reads = 32", 32),
        ("queue-depth = 8, outstanding-reads = 4", 4),
    ];
    for (keys, depth) in depths {
        let read = loops(&format!("perftest = {{ test = \"read-bw\", from = \"h1\", to = \"h3\", {keys} }}"));
        assert_eq!(read[0].depth, depth, "{keys}");
    }
    let both = loops(
        r#"perftest = { test = "write-bw", from = { tag = "left" }, to = { tag = "right" }, qps = 3, bidirectional = true }"#,
    );
    let ends: Vec<_> = both.iter().map(|of| (of.source.0, of.destination.0)).collect();
    let pair = |a, b| [(a, b), (a, b), (a, b), (b, a), (b, a), (b, a)];
    assert_eq!(ends, [pair(0, 2), pair(1, 3)].concat());
}

#[test]
fn perftest_refuses_what_it_cannot_do() {
    let refused = |keys: &str| refused(&format!("perftest = {{ from = \"h1\", to = \"h3\", {keys} }}"));
    let belongs = "\"write-lat\" has no such key: it belongs to \"write-bw\" and \"read-bw\"";
    assert_eq!(
        refused(r#"test = "write-lat", queue-depth = 4"#),
        format!("a.toml:4: workload.w.perftest.queue-depth: {belongs}")
    );
    assert_eq!(
        refused(r#"test = "write-lat", qps = 4"#),
        format!("a.toml:4: workload.w.perftest.qps: {belongs}")
    );
    assert_eq!(
        refused(r#"test = "write-lat", iterations = 3"#),
        "a.toml:4: workload.w.perftest.iterations: 3 is not allowed; the minimum is 4"
    );
    assert_eq!(
        refused(r#"test = "write-bw", queue-depth = 0"#),
        "a.toml:4: workload.w.perftest.queue-depth: 0 is not allowed; the minimum is 1"
    );
    assert_eq!(
        refused(r#"test = "write-bw", qps = 0"#),
        "a.toml:4: workload.w.perftest.qps: 0 is not allowed; the minimum is 1"
    );
    assert_eq!(
        refused(r#"test = "write-bw", iterations = 100000000"#),
        "a.toml:4: workload.w.perftest.iterations: that makes more than 67108864 messages"
    );
    assert_eq!(
        refused(r#"test = "write-bw", size = "0B""#),
        "a.toml:4: workload.w.perftest.size: 0B is not a size from 1B to 1000TB"
    );
    assert_eq!(
        refused(r#"test = "read-bw", bidirectional = true"#),
        "a.toml:4: workload.w.perftest.bidirectional: \"read-bw\" has no such key: it belongs to \"write-bw\""
    );
    assert_eq!(
        refused(r#"test = "write-bw", outstanding-reads = 8"#),
        "a.toml:4: workload.w.perftest.outstanding-reads: \"write-bw\" has no such key: it belongs to \"read-bw\""
    );
    assert_eq!(
        refused(r#"test = "read-bw", outstanding-reads = 0"#),
        "a.toml:4: workload.w.perftest.outstanding-reads: 0 is not allowed; the minimum is 1"
    );
    let unknown = refused(r#"test = "read-lat""#);
    assert!(unknown.contains("is not a choice; allowed: write-bw, read-bw, write-lat"), "{unknown}");
}

#[test]
fn hosts_are_not_each_others_clients_where_answers_would_be_taken_for_questions() {
    let mutual = |test: &str| {
        format!("perftest = {{ test = \"{test}\", from = [\"h1\", \"h2\"], to = [\"h2\", \"h1\"] }}")
    };
    let expected =
        "a.toml:4: workload.w.perftest: h1 and h2 would each be the other's client: name each pair once";
    assert_eq!(refused(&mutual("write-lat")), expected);
    assert_eq!(refused(&mutual("read-bw")), expected);
    assert!(with(&mutual("write-bw")).is_ok());
}

#[test]
fn the_record_of_a_run_names_pairs_of_client_and_server() {
    let scenario = with(
        "perftest = { test = \"write-bw\", from = [\"h3\", \"h4\"], to = \"h1\", qps = 2, bidirectional = true }",
    );
    let json = scenario.expect("it is right").resolved_json();
    let expected =
        r#""perftest":{"w":{"test":"write-bw","bidirectional":true,"pairs":[["h3","h1"],["h4","h1"]]}}"#;
    assert!(json.contains(expected), "{json}");
}

#[test]
fn the_ready_scenarios_match_their_description() {
    let ready = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
        Scenario::from_path(&path, &[]).unwrap_or_else(|errors| panic!("{errors}"))
    };
    let ring = ready("ring-allreduce");
    assert_eq!((flows(&ring).len(), ring.warnings().len()), (14 * 8, 0));
    let perftest = ready("perftest");
    assert_eq!((perftest.blueprint().workloads.len(), perftest.warnings().len()), (5, 0));
}

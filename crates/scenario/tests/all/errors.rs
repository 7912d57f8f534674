//! Bad input: one line each, with the place, and never a panic.

use std::path::Path;

use floodway_mechanisms::registry::FlowControlParams;
use floodway_scenario::{Scenario, Source};

/// Every choice, as messages list them.
fn flow_controls() -> String {
    FlowControlParams::names().join(", ")
}

/// A scenario that is right; tests change one thing.
const RIGHT: &str = r#"topology.dumbbell = { left = 2, right = 2, rate = "100G", delay = "1us" }
[defaults]
flow-control.pfc = { xoff = "320KB" }
[[override]]
name = "middle"
links = { tag = "bottleneck" }
buffer.static = { size = "1MB" }
[[workload]]
name = "web"
poisson = { sizes = "websearch", load = 0.5, from = { tag = "left" }, to = { tag = "right" } }
until = "10ms"
"#;

fn errors_of(text: &str) -> String {
    match Scenario::from_text("a.toml", text, &[]) {
        Ok(_) => panic!("it was accepted:\n{text}"),
        Err(errors) => errors.to_string(),
    }
}

/// The errors of the right scenario with `from` replaced by `to`.
fn changed(from: &str, to: &str) -> String {
    assert!(RIGHT.contains(from), "{from}");
    errors_of(&RIGHT.replacen(from, to, 1))
}

/// The errors of a scenario of explicit nodes and links, with this list of hosts and keys of its first link.
fn explicit(hosts: &str, link: &str) -> String {
    errors_of(&format!(
        r#"topology.explicit = {{ rate = "1G", delay = "1us", hosts = [{hosts}], switches = ["s1"], links = [
{{ between = ["h1", "s1"]{link} }}, {{ between = ["h2", "s1"] }}] }}
[[workload]]
name = "web"
burst = {{ to = "h1", size = "1KB" }}
"#
    ))
}

/// The errors of the right scenario with another list of workloads, each flow being a line.
fn with_flows(flows: &str) -> String {
    let at = RIGHT.find("poisson").expect("it is there");
    errors_of(&format!("{}flows = [\n{flows}\n]\n", &RIGHT[..at]))
}

/// The errors of the right scenario with the flows of a file.
fn with_file(name: &str, text: Option<&str>) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    if let Some(text) = text {
        std::fs::write(folder.join(name), text).expect("the folder of temporary files can be written");
    }
    let at = RIGHT.find("poisson").expect("it is there");
    let scenario = format!("{}flow-list = {{ file = \"{name}\" }}\n", &RIGHT[..at]);
    let source = Source { name: "a.toml", text: &scenario, folder, sets: &[], tables: None };
    Scenario::from_source(source).expect_err("it is wrong").to_string()
}

#[test]
fn the_right_one_is_accepted() {
    let scenario = Scenario::from_text("a.toml", RIGHT, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(scenario.name(), "a");
    assert_eq!(scenario.warnings(), [""; 0]);
}

#[test]
fn an_empty_name_is_not_a_missing_one() {
    let due = "the name is empty; a name has letters, digits, -, _ and +";
    assert_eq!(changed("\"web\"", "\"\""), format!("a.toml:9: workload.1: {due}"));
    assert_eq!(changed("\"middle\"", "\"\""), format!("a.toml:5: override.1: {due}"));
    assert_eq!(changed("name = \"web\"\n", ""), "a.toml:8: workload.1: the key \"name\" is missing");
    assert_eq!(changed("name = \"middle\"\n", ""), "a.toml:4: override.1: the key \"name\" is missing");
}

#[test]
fn empty_names_of_links_tags_and_flows_are_refused() {
    let due = "it is empty, and so names nothing; write at least one character, or leave it out";
    let hosts = r#""h1", "h2""#;
    for (link, key) in [("name = \"\"", "name"), ("tags = [\"edge\", \"\"]", "tags.2")] {
        let error = explicit(hosts, &format!(", {link}"));
        assert_eq!(error, format!("a.toml:2: topology.explicit.links.1.{key}: {due}"));
    }
    let error = explicit(r#""h1", { name = "h2", tags = [""] }"#, "");
    assert_eq!(error, format!("a.toml:1: topology.explicit.hosts: a tag of \"h2\": {due}"));
    let error = changed("name = \"web\"\n", "name = \"web\"\ntags = [\"\"]\n");
    assert_eq!(error, format!("a.toml:10: workload.web.tags.1: {due}"));
    let error = with_flows(r#"{ from = "h1", to = "h2", size = "1KB", id = "" },"#);
    assert_eq!(error, format!("a.toml:11: workload.web.flows.1.id: {due}"));
    for (links, key) in [
        (r#"[{ between = ["a", "b"], length = "4km", tags = [""] }]"#, "1.tags.1"),
        (r#"{ full-mesh = "4km", tags = [""] }"#, "tags.1"),
    ] {
        let text = format!(
            "topology.multi-dc = {{ sites = 2, fabric.fat-tree = {{ k = 2 }}, rate = \"1G\", delay = \"1us\", \
             long-links = {links} }}\n"
        );
        let error = errors_of(&text);
        assert_eq!(error, format!("a.toml:1: topology.multi-dc.long-links.{key}: {due}"));
    }
}

#[test]
fn unknown_mechanisms_and_keys_get_the_allowed_and_the_nearest() {
    assert_eq!(
        changed("pfc", "pcf"),
        format!(
            r#"a.toml:3: defaults.flow-control: "pcf" is not a choice; allowed: {}; did you mean "pfc"?"#,
            flow_controls()
        )
    );
    let error = changed("buffer.static", "bufer.static");
    assert!(
        error.starts_with(r#"a.toml:7: middle: "bufer" is not a key; allowed: name, links, "#),
        "{error}"
    );
    assert!(error.ends_with(r#"did you mean "buffer"?"#), "{error}");
    let error = changed("until", "untill");
    assert!(error.starts_with(r#"a.toml:11: workload.web: "untill" is not a key; allowed: "#), "{error}");
    assert!(changed("topology.dumbbell", "topology.dumbell").contains(r#"did you mean "dumbbell"?"#));
    let error = changed(r#""websearch""#, r#""websaerch""#);
    assert!(error.starts_with(r#"a.toml:10: workload.web.poisson.sizes: "websaerch" is not a distribution"#));
    assert!(error.ends_with(r#"did you mean "websearch"?"#), "{error}");
}

#[test]
fn quantities_need_units_and_no_sign() {
    assert_eq!(
        changed(r#"xoff = "320KB""#, "xoff = 320000"),
        r#"a.toml:3: defaults.flow-control.pfc.xoff: "320000" is not a size: its unit is missing; write it like "288KB", "auto", { fixed, alpha }, or { total }"#
    );
    assert_eq!(
        changed(r#"until = "10ms""#, r#"until = "-10ms""#),
        r#"a.toml:11: workload.web.until: "-10ms" is not a time: it is negative; write it like "10us""#
    );
    assert_eq!(
        changed(r#"delay = "1us""#, r#"delay = "1km""#),
        r#"a.toml:1: topology.dumbbell.delay: "1km" is not a time: the unit "km" is not one of ps, ns, us, ms, s; write it like "10us""#
    );
    assert_eq!(
        changed(r#"until = "10ms""#, r#"until = "1000000s""#),
        r#"a.toml:11: workload.web.until: "1000000s" is too large: the maximum is 100000s"#
    );
}

/// PFC frames of HPCC's simulator have 43 bytes: 860 ps at 400 Gbit/s, which it cuts to 0 ns.
#[test]
fn frames_that_take_no_time_need_the_order_of_their_simulator() {
    let text = |ties: &str| {
        format!(
            r#"
            wire = "hpcc-ns3"
            semantics = {{ rounding = "hpcc-ns3"{ties} }}
            topology.single-switch = {{ hosts = 2, rate = "400G", delay = "1us" }}
            workload = [{{ name = "flow", flows = [{{ from = "h1", to = "h2", size = "1MB" }}] }}]
            "#
        )
    };
    let refused = errors_of(&text(""));
    assert!(refused.contains("its smallest frames take 0 ns"), "{refused}");
    let copied = Scenario::from_text("a.toml", &text(r#", ties = "scheduling-order""#), &[]);
    assert!(copied.is_ok(), "{copied:?}");
    let slower = text("").replace("400G", "100G");
    assert!(Scenario::from_text("a.toml", &slower, &[]).is_ok());
}

/// A packet whose pacing time has moved into the past would wait for ever if nothing made its NIC look.
#[test]
fn a_nic_that_no_timer_of_a_rate_wakes_needs_pacing_times_that_stay() {
    let text = |semantics: &str| {
        format!(
            r#"
            semantics = {{ {semantics} }}
            topology.single-switch = {{ hosts = 2, rate = "100G", delay = "1us" }}
            workload = [{{ name = "flow", flows = [{{ from = "h1", to = "h2", size = "1MB" }}] }}]
            "#
        )
    };
    let refused = errors_of(&text(r#"rate-timers = "silent""#));
    assert!(
        refused.starts_with("a.toml:2: semantics.rate-timers: \"silent\" leaves a packet waiting"),
        "{refused}"
    );
    for kept in ["kept", "hpcc-ns3"] {
        let fits = text(&format!(r#"rate-timers = "silent", repacing = "{kept}""#));
        assert!(Scenario::from_text("a.toml", &fits, &[]).is_ok(), "{kept}");
    }
}

#[test]
fn links_need_a_rate_and_a_delay() {
    assert_eq!(
        changed(r#"delay = "1us""#, r#"delay = "0us""#),
        "a.toml:1: topology.dumbbell.delay: a link needs a delay above 0"
    );
    assert_eq!(
        changed(r#"rate = "100G""#, r#"rate = "0G""#),
        "a.toml:1: topology.dumbbell.rate: a link needs a rate above 0"
    );
    assert_eq!(
        changed("buffer.static", "rate = \"0G\"\nbuffer.static"),
        "a.toml:7: middle.rate: a link needs a rate above 0"
    );
}

#[test]
fn topologies_are_connected_and_flows_find_a_path() {
    let explicit = |links: &str| {
        errors_of(&format!(
            "[topology.explicit]\nhosts = [\"h1..h3\"]\nswitches = [\"s1\", \"s2\"]\nrate = \"1G\"\n\
             delay = \"1us\"\nlinks = [\n{links}\n]\n[[workload]]\nname = \"w\"\n\
             flows = [{{ from = \"h1\", to = \"h3\", size = \"1KB\" }}]\n"
        ))
    };
    assert_eq!(
        explicit(r#"{ between = ["h1..h2", "s1"] }, { between = ["h3", "s2"] }"#),
        "a.toml:1: topology.explicit: it is not connected: no links lead from h1 to h3"
    );
    assert_eq!(
        explicit(
            "{ between = [\"h1\", \"s1\"] },\n{ between = [\"s1\", \"h2\"] },\n\
             { between = [\"h2\", \"s2\"] },\n{ between = [\"s2\", \"h3\"] }"
        ),
        "a.toml:14: workload.w.flows.1: no path leads from h1 to h3"
    );
    let error = explicit("{ between = [\"h1\", \"s3\"] }");
    assert_eq!(
        error,
        "a.toml:7: topology.explicit.links.1.between: no node is named \"s3\"; did you mean \"s1\"?"
    );
    for (ends, count) in [(r#""h1", "s1", "h2""#, 3), (r#""h1""#, 1)] {
        assert_eq!(
            explicit(&format!("{{ between = [{ends}] }}")),
            format!(
                "a.toml:7: topology.explicit.links.1.between: a link joins exactly two nodes, and {count} are given"
            )
        );
    }
    let error =
        explicit("{ between = [\"h1..h3\", \"s1\"] }, { between = [\"h1\", \"s2\"], name = \"h1-s1\" }");
    assert_eq!(error, "a.toml:1: topology.explicit: two links are named \"h1-s1\"");
    let error = errors_of(&RIGHT.replacen("left = 2", "left = 0", 1));
    assert_eq!(error, "a.toml:1: topology.dumbbell.left: 0 is not a number from 1 to 1048576");
}

#[test]
fn distributions_do_not_fall() {
    assert_eq!(
        changed(r#"sizes = "websearch""#, r#"sizes = [["1KB", 50], ["500B", 100]]"#),
        "a.toml:10: workload.web.poisson.sizes: point 2 (500 B, 100 %) lies below the one before it: both columns must not decrease"
    );
    let error = changed(r#"sizes = "websearch""#, r#"sizes = { file = "nothing.cdf" }"#);
    assert!(
        error.starts_with("a.toml:10: workload.web.poisson.sizes: cannot read \"nothing.cdf\": "),
        "{error}"
    );
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("falls.cdf");
    std::fs::write(&file, "0 0\n100 60\n200 50\n300 100\n").expect("it can be written");
    let file = file.display();
    let error = changed(r#"sizes = "websearch""#, &format!("sizes = {{ file = '{file}' }}"));
    assert!(error.starts_with(&format!("{file}:3: workload.web.poisson.sizes: point 3 ")), "{error}");
}

#[test]
fn workloads_have_flows() {
    let at = RIGHT.find("[[workload]]").expect("it is there");
    assert_eq!(errors_of(&RIGHT[..at]), "a.toml:1: workload: no workload is given: a run needs traffic");
    assert_eq!(with_flows(""), "a.toml:8: workload.web: it has no flow");
    let at = RIGHT.find("poisson").expect("it is there");
    assert_eq!(
        errors_of(&RIGHT[..at]),
        "a.toml:8: workload.web: it has no flows; name one of: flows, flow-list, poisson, burst, permutation, long-lived, incast, all-to-all, micro-bursts, perftest, collective, training, trace"
    );
    assert_eq!(
        changed("until", "burst = { to = \"h1\", size = \"1KB\" }\nuntil"),
        "a.toml:8: workload.web: \"poisson\" and \"burst\" are given together: give one"
    );
    assert_eq!(
        changed("load = 0.5", "load = 0.0"),
        "a.toml:10: workload.web.poisson.load: 0 is not a load above 0"
    );
    let error = changed("load = 0.5", "load = 1e9");
    assert!(
        error.starts_with("a.toml:10: workload.web.poisson.load: 1e9 is too high a load: at 1."),
        "{error}"
    );
    assert!(error.ends_with("e8, flows start 1 ps apart"), "{error}");
    assert!(changed("load = 0.5", "load = 1e-30").contains("load: 1e-30 is too low a load"));
    assert_eq!(
        changed("until = \"10ms\"\n", ""),
        "a.toml:8: workload.web: it needs \"until\", or the scenario \"measure\" or \"limit\": nothing says which flows are measured"
    );
}

#[test]
fn flows_run_between_hosts_along_links() {
    let flow = |rest: &str| with_flows(&format!("{{ from = \"h1\", {rest} }}"));
    assert_eq!(
        flow("to = \"h1\", size = \"1KB\""),
        "a.toml:11: workload.web.flows.1: it goes from h1 to itself"
    );
    assert_eq!(
        flow("to = \"h3\", size = \"0B\""),
        "a.toml:11: workload.web.flows.1: size: 0B is not allowed; the minimum is 1B"
    );
    assert_eq!(
        flow("to = \"s1\", size = \"1B\""),
        "a.toml:11: workload.web.flows.1: s1 is a switch; flows run between hosts"
    );
    assert_eq!(
        flow("to = \"h33\", size = \"1B\""),
        "a.toml:11: workload.web.flows.1: no node is named \"h33\"; did you mean \"h3\"?"
    );
    assert_eq!(
        flow("to = \"h3\", size = \"1B\", path = \"h1,s2,h3\""),
        "a.toml:11: workload.web.flows.1: its path \"h1,s2,h3\" has no link from h1 to s2"
    );
    assert_eq!(
        flow("to = \"h3\", size = \"1B\", path = \"h1,s1,s2\""),
        "a.toml:11: workload.web.flows.1: its path \"h1,s1,s2\" does not end at h3"
    );
    assert_eq!(
        flow("to = \"h3\", size = \"1B\", ack-path = \"h1,s1,s2,h3\""),
        "a.toml:11: workload.web.flows.1: its path \"h1,s1,s2,h3\" does not begin at h3"
    );
    assert_eq!(
        flow("to = \"h3\", size = \"1B\", class = 6"),
        "a.toml:11: workload.web.flows.1: class 6 is not for data; allowed: 0 to 5, 7"
    );
}

#[test]
fn lists_name_their_file_and_line() {
    let head = "source,destination,size_bytes,start_us";
    assert_eq!(
        with_file("short.csv", Some(&format!("{head}\nh1,h3,1000,0\nh1,h3,1000\n"))),
        "short.csv:3: workload.web: 3 values for 4 columns"
    );
    let error = with_file("columns.csv", Some("source,destination,bytes,start_us\n"));
    assert!(
        error.starts_with("columns.csv:1: workload.web: \"bytes\" is not a column; allowed: source, "),
        "{error}"
    );
    assert_eq!(
        with_file("self.csv", Some(&format!("{head}\nh1,h3,1000,0\nh1,h1,1000,5\n"))),
        "self.csv:3: workload.web: it goes from h1 to itself"
    );
    assert_eq!(with_file("empty.csv", Some(&format!("{head}\n"))), "a.toml:8: workload.web: it has no flow");
    let error = with_file("missing.csv", None);
    assert!(error.starts_with("a.toml:10: workload.web.flow-list.file: cannot read "), "{error}");
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn selectors_match_something() {
    assert_eq!(
        changed(r#"{ tag = "bottleneck" }"#, r#"{ tag = "long-haul" }"#),
        r#"a.toml:6: middle.links: { tag = "long-haul" } matches nothing"#
    );
    assert_eq!(
        changed("load = 0.5", "load = 0.5, of = \"x*\""),
        r#"a.toml:10: workload.web.poisson.of: "x*" matches no link; "hosts" means the senders' NICs"#
    );
    assert_eq!(
        changed(r#"to = { tag = "right" }"#, r#"to = "s1""#),
        r#"a.toml:10: workload.web.poisson.to: "s1" matches no host; did you mean "h1"?"#
    );
    assert_eq!(
        changed("buffer.static", "direction = \"s1>s3\"\nbuffer.static"),
        r#"a.toml:7: middle.direction: no selected link leads "s1>s3"; did you mean "s1>s2"?"#
    );
    assert_eq!(
        changed("[[workload]]", "[records]\nwatch = \"y\"\n[[workload]]"),
        r#"a.toml:9: records.watch: "y" matches nothing"#
    );
}

#[test]
fn selectors_that_match_nothing_get_a_suggestion() {
    let links = |selector: &str| changed(r#"{ tag = "bottleneck" }"#, selector);
    assert_eq!(
        links(r#"{ tag = "botleneck" }"#),
        r#"a.toml:6: middle.links: { tag = "botleneck" } matches nothing; did you mean "bottleneck"?"#
    );
    assert_eq!(
        links(r#""bottleneck""#),
        r#"a.toml:6: middle.links: "bottleneck" matches nothing; did you mean { tag = "bottleneck" }?"#
    );
    assert!(links(r#""s1-t2""#).ends_with(r#"matches nothing; did you mean "s1-s2"?"#));
    assert!(links(r#"["x", "s1-t*"]"#).ends_with(r#"matches nothing; did you mean "s1-s2"?"#));
    let error = changed(r#"to = { tag = "right" }"#, r#"to = { tag = "rigth" }"#);
    assert!(error.ends_with(r#"{ tag = "rigth" } matches no host; did you mean "right"?"#), "{error}");
    let error = changed("load = 0.5", "load = 0.5, of = { tag = \"bottlenecks\" }");
    assert!(error.ends_with(r#"the senders' NICs; did you mean "bottleneck"?"#), "{error}");
    let error = changed("buffer.static", "direction = \"s1>s22\"\nbuffer.static");
    assert!(error.ends_with(r#"no selected link leads "s1>s22"; did you mean "s1>s2"?"#), "{error}");
    let error = changed("[[workload]]", "[records]\nwatch = { tag = \"bottelneck\" }\n[[workload]]");
    assert!(error.ends_with(r#"matches nothing; did you mean "bottleneck"?"#), "{error}");
    let error = changed("[[workload]]", "[records]\ncapture = { links = \"s1-t2\" }\n[[workload]]");
    assert_eq!(error, r#"a.toml:9: records.capture.links: "s1-t2" matches nothing; did you mean "s1-s2"?"#);
    let error = changed("[[workload]]", "[records]\nallowances = \"wbe\"\n[[workload]]");
    assert_eq!(error, r#"a.toml:9: records.allowances: "wbe" matches nothing; did you mean "web"?"#);
    let error = changed("[[workload]]", "[records]\nallowances = 3\n[[workload]]");
    assert!(error.contains("true, false, a workload, a list of workloads"), "{error}");
    let error = changed("[[workload]]", "[[override]]\nname = \"o\"\nflows = \"wbe\"\n[[workload]]");
    assert_eq!(error, r#"a.toml:10: o.flows: "wbe" matches nothing; did you mean "web"?"#);
}

#[test]
fn captures_have_bounds() {
    let capture = |keys: &str| changed("[[workload]]", &format!("[records]\ncapture = {keys}\n[[workload]]"));
    assert_eq!(
        capture(r#"{ links = "*", packets = 0 }"#),
        "a.toml:9: records.capture.packets: 0 is not a number from 1 to 1000000"
    );
    assert_eq!(
        capture(r#"{ links = "*", bytes = "63B" }"#),
        "a.toml:9: records.capture.bytes: 63B is not from 64B to 16KB"
    );
    for (dscp, message) in [
        ("{ class-3 = 64 }", "64 is not a DSCP from 0 to 63"),
        ("{ class-3 = -1 }", "-1 is not a DSCP from 0 to 63"),
        ("{ class-6 = 26 }", "\"class-6\" is not a class of data; allowed: class-0 to class-5, class-7"),
        ("{ 3 = 26 }", "\"3\" is not a class like class-3"),
    ] {
        let error = capture(&format!(r#"{{ links = "*", dscp = {dscp} }}"#));
        assert!(error.starts_with("a.toml:9: ") && error.contains(message), "{error}");
    }
    assert!(capture("{ packets = 7 }").contains("links"), "{}", capture("{ packets = 7 }"));
}

#[test]
fn overrides_set_what_their_objects_have() {
    assert_eq!(
        changed("buffer.static = { size = \"1MB\" }", "routing = \"spray\""),
        "a.toml:7: middle.routing: it is a key of switches, not of links"
    );
    assert_eq!(
        changed("links = { tag = \"bottleneck\" }\n", ""),
        "a.toml:4: middle: it needs exactly one of: links, switches, hosts, flows"
    );
    assert_eq!(
        changed(r#"name = "middle""#, r#"name = "defaults""#),
        r#"a.toml:5: override.1: "defaults" is reserved: it is a key of the top level"#
    );
    assert_eq!(
        changed("[[workload]]", "[[override]]\nname = \"middle\"\nhosts = \"*\"\n[[workload]]"),
        r#"a.toml:9: override.2: the name "middle" is already in use (a.toml:5)"#
    );
    assert_eq!(
        changed("buffer.static = { size = \"1MB\" }", "faults.pause = { from = \"1ms\" }"),
        "a.toml:7: middle.faults.pause: it needs a node, or of links a direction: the receiving end sends the pause"
    );
}

#[test]
fn links_change_to_delays_in_order_and_are_noticed_to_fail_only_if_they_do() {
    let faults =
        |faults: &str| changed("buffer.static = { size = \"1MB\" }", &format!("faults = {{ {faults} }}"));
    for (given, key, why) in [
        ("detection = \"1us\"", "detection", "it needs `down`, that is when the link fails"),
        (
            "down = { from = \"2ms\", to = \"1ms\" }",
            "down",
            "it ends at 1ms, which is not after its start at 2ms",
        ),
        (
            "down = [{ from = \"1ms\", to = \"3ms\" }, { from = \"2ms\", to = \"4ms\" }]",
            "down",
            "one begins at 2ms, before the one before it has ended at 3ms",
        ),
        ("convergence = \"1us\"", "convergence", "it needs `down`, that is when the link fails"),
        ("switchover = { at = \"1us\" }", "switchover", "it needs the new delay or the new length"),
        (
            "switchover = { at = \"1us\", delay = \"1us\", length = \"1km\" }",
            "switchover.length",
            "give either the delay or the length, not both",
        ),
        (
            "switchover = { at = \"1us\", delay = \"0us\" }",
            "switchover.delay",
            "a link needs a delay above 0",
        ),
        (
            "switchover = [{ at = \"2us\", delay = \"1us\" }, { at = \"2us\", delay = \"3us\" }]",
            "switchover",
            "2us does not come after 2us: the instants must ascend",
        ),
    ] {
        assert_eq!(faults(given), format!("a.toml:7: middle.faults.{key}: {why}"), "{given}");
    }
}

#[test]
fn buffers_hold_what_flow_control_asks() {
    let auto = RIGHT.replacen(r#"xoff = "320KB""#, r#"xoff = "auto""#, 1).replacen("1MB", "20KB", 1);
    assert_eq!(
        errors_of(&auto),
        "a.toml:3: defaults.flow-control.pfc.xoff: s1 (s1-s2) and 1 more: \"auto\" does not fit: the buffer has 20KB, \
         9.375KB less than the 29.375KB that headroom (27.22KB), the least XOFF (1.078KB) and a frame less a byte need"
    );
    let shared =
        changed("[[override]]", "buffer.shared = { total = \"100KB\", reserve = \"40KB\" }\n[[override]]");
    assert_eq!(
        shared,
        "a.toml:4: defaults.buffer.shared.total: s1 and 1 more: reserves, headroom and ports' own buffers take 1136.596KB, \
         1036.596KB more than the total of 100KB"
    );
    assert_eq!(
        changed("buffer.static = { size = \"1MB\" }", "buffer.static = { size = \"0B\" }"),
        "a.toml:7: middle.buffer.static.size: s1 (s1-s2) and 1 more: a buffer of 0B holds no packet"
    );
    assert_eq!(
        changed("buffer.static = { size = \"1MB\" }", "buffer.shared = { pool = \"1MB\" }"),
        "a.toml:7: middle.buffer.shared.pool: a port shares its switch's pool, whose size is a key of switches"
    );
    assert_eq!(
        changed("buffer.static = { size = \"1MB\" }", "buffer.shared = { reserve = \"1MB\" }"),
        "a.toml:7: middle.buffer: s1 and 1 more: a port shares its switch's pool, but this switch has none"
    );
    assert_eq!(
        changed("buffer.static = { size = \"1MB\" }", "buffer.ioq = {}"),
        "a.toml:7: middle.buffer.ioq: its crossbar belongs to switches: choose it in `defaults` or by `switches`"
    );
    assert_eq!(
        changed("buffer.static = { size = \"1MB\" }", "buffer.output-queue = { size = \"1MB\" }"),
        "a.toml:7: middle.buffer.output-queue: choose it in `defaults` or by `switches`; for links, `output-queue` is \
         the room of a queue"
    );
    assert_eq!(
        changed("buffer.static = { size = \"1MB\" }", "output-queue = \"1MB\""),
        "a.toml:7: middle.output-queue: s1 (s1-s2) and 1 more: its switch has none: choose `buffer.output-queue` for it"
    );
}

#[test]
fn starving_a_buffer_is_a_warning() {
    let text = RIGHT.replacen("1MB", "300KB", 1);
    let scenario = Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(
        scenario.warnings(),
        [
            "a.toml:7: middle.buffer: s1 (s1-s2) and 1 more: the buffer of 300KB is 48.297KB short of the 348.297KB that flow \
         control \"pfc\" asks for: XOFF + MTU - 1 + headroom"
        ]
    );
    let text = RIGHT.replacen(r#""320KB""#, r#""320KB", headroom = "20KB""#, 1);
    let scenario = Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(scenario.warnings().len(), 1, "{:?}", scenario.warnings());
    let warning = &scenario.warnings()[0];
    assert!(
        warning.starts_with("a.toml:3: defaults.flow-control.pfc.headroom: s1 (h1-s1) and 3 more: "),
        "{warning}"
    );
    assert!(warning.ends_with("headroom of 20KB is 7.22KB below the 27.22KB of its formula"), "{warning}");
}

#[test]
fn classes_that_lose_on_a_part_of_the_path_get_a_warning() {
    let text = RIGHT.replacen("buffer.static", "flow-control = \"lossy\"\nbuffer.static", 1);
    let scenario = Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(
        scenario.warnings(),
        ["class 3 is lossless on only some of the links: at s1 (h1-s1), but not at s1 (s1-s2)"]
    );
    let text = RIGHT.replacen("flow-control.pfc = { xoff = \"320KB\" }", "flow-control.class-4.pfc = {}", 1);
    let scenario = Scenario::from_text("a.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(scenario.warnings().len(), 1, "{:?}", scenario.warnings());
    assert!(scenario.warnings()[0].starts_with("s1 (h1-s1) has no limit for class 3: "));
}

#[test]
fn a_seed_that_the_generator_of_ns3_lacks_is_named_by_its_key() {
    let text = "name = \"a\"\nseed = 0\nsemantics.draws = \"hpcc-ns3\"\n\
                topology.single-switch = { hosts = 2, rate = \"100G\", delay = \"1us\" }\n\
                [[workload]]\nname = \"w\"\nflows = [{ from = \"h1\", to = \"h2\", size = \"1KB\" }]\n";
    let errors = Scenario::from_text("a.toml", text, &[]).expect_err("0 is no seed there");
    assert_eq!(errors.to_string(), "a.toml:2: seed: 0 is not a seed of ns-3's generator, 1 to 4294944442");
}

fn warnings_of(text: &str) -> Vec<String> {
    let scenario = Scenario::from_text("a.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    scenario.warnings().to_vec()
}

#[test]
fn runs_that_measure_nothing_are_a_warning() {
    let at = RIGHT.find("[[override]]").expect("it is there");
    let run = |top: &str, starts: &[&str]| {
        let flow =
            |start: &&str| format!("{{ from = \"h1\", to = \"h3\", size = \"1KB\", start = \"{start}\" }}");
        let flows: Vec<_> = starts.iter().map(flow).collect();
        let flows = flows.join(", ");
        warnings_of(&format!("{top}\n{}[[workload]]\nname = \"w\"\nflows = [{flows}]\n", &RIGHT[..at]))
    };
    let nothing = "a.toml:5: workload: no flow can be measured: none starts in its measuring window before the run ends";
    let late = |count: &str| {
        format!("a.toml:5: workload.w: {count} would start at 5ms, when the run ends, or later")
    };
    assert_eq!(run("limit = \"5ms\"", &["20ms"]), [late("1 of 1 flow"), nothing.to_owned()]);
    assert_eq!(run("limit = \"5ms\"", &["0us", "5ms", "20ms"]), [late("2 of 3 flows")]);
    assert_eq!(run("limit = \"5ms\"", &["4999us"]), [""; 0]);
    let window = "limit = \"5ms\"\nmeasure = { from = \"1ms\", to = \"3ms\" }";
    assert_eq!(run(window, &["0us"]), [nothing.replace(":5:", ":6:")]);
    assert_eq!(run(window, &["0us", "1ms"]), [""; 0]);
}

#[test]
fn go_back_n_that_stalls_or_goes_back_without_loss_is_a_warning() {
    let with =
        |lines: &str| warnings_of(&RIGHT.replacen("[[override]]", &format!("{lines}\n[[override]]"), 1));
    let window = |interval: u32| {
        with(&format!(
            "rate-control.static-window.size = \"4KB\"\nreliability.go-back-n.ack-interval = {interval}"
        ))
    };
    assert_eq!(window(4), [""; 0]);
    assert_eq!(
        window(5),
        ["a.toml:4: defaults.rate-control: flows of web: a window of 4KB is full before the first ACK, \
          which go-back-n sends after 5KB (ack-interval = 5): longer flows stall"]
    );
    assert_eq!(
        with("routing = \"spray\""),
        ["a.toml:4: defaults.routing: flows of web: \"spray\" reorders packets, which reliability \
          \"go-back-n\" takes for losses and retransmits"]
    );
    assert_eq!(with("routing = \"spray\"\nreliability = \"none\""), [""; 0]);
}

#[test]
fn needs_are_met() {
    assert_eq!(
        changed("[[override]]", "rate-control = \"static-window\"\nreliability = \"none\"\n[[override]]"),
        "a.toml:4: defaults.rate-control: \"static-window\" needs acknowledgements, and reliability is \"none\" (defaults, a.toml:5)"
    );
}

#[test]
fn parameters_are_ones_that_mechanisms_can_work_with() {
    assert_eq!(
        changed("[[override]]", "reliability.go-back-n = { ack-interval = 0 }\n[[override]]"),
        "a.toml:4: defaults.reliability.go-back-n.ack-interval: flows of web: 0 is not allowed; the minimum is 1"
    );
    let error = changed("[[override]]", "routing.ecmp = { hash = \"swing-ns3\" }\n[[override]]");
    assert_eq!(
        error,
        "a.toml:4: defaults.routing.ecmp.hash: s1 and 1 more: no seed of \"swing-ns3\" is known for this switch"
    );
    let error = changed(r#"xoff = "320KB""#, "refresh = 2.0");
    assert!(error.starts_with("a.toml:3: defaults.flow-control.pfc.refresh: s1 (s1-s2) and "), "{error}");
}

#[test]
fn a_parameter_at_fault_is_named_by_its_path_and_its_own_line() {
    let faulty = |slot: &str| {
        let error = changed("[[override]]", &format!("{slot}\n[[override]]"));
        error.split(": ").take(2).collect::<Vec<_>>().join(" ")
    };
    let pfc = |control: &str| changed("flow-control.pfc = { xoff = \"320KB\" }", control);
    let error = pfc("[defaults.flow-control.pfc]\nxoff = \"320KB\"\nreact = \"0us\"\nrefresh = 2.0");
    assert!(error.starts_with("a.toml:6: defaults.flow-control.pfc.refresh: "), "{error}");
    let error = pfc("flow-control.class-3.pfc = {\n  xoff = \"320KB\",\n  refresh = 2.0,\n}");
    assert!(error.starts_with("a.toml:5: defaults.flow-control.class-3.pfc.refresh: "), "{error}");
    assert_eq!(
        faulty("buffer.shared = {\n  pool = \"1MB\",\n  egress-alpha = 0.0,\n}"),
        "a.toml:6 defaults.buffer.shared.egress-alpha"
    );
    assert_eq!(
        faulty("[defaults.routing.ecmp]\nseed = 1\nhash = \"swing-ns3\""),
        "a.toml:6 defaults.routing.ecmp.hash"
    );
    assert_eq!(
        faulty("scheduler.deficit-round-robin = {\n  quantum = \"0B\" }"),
        "a.toml:5 defaults.scheduler.deficit-round-robin.quantum"
    );
    let window = "{ static-window = {\n  size = \"0B\" } }";
    assert_eq!(
        faulty(&format!("rate-control = [\n\"line-rate\",\n{window}]")),
        "a.toml:7 defaults.rate-control.2.static-window.size"
    );
    assert_eq!(
        faulty(&format!("rate-control = {window}")),
        "a.toml:5 defaults.rate-control.static-window.size"
    );
    assert_eq!(
        changed(
            "buffer.static = { size = \"1MB\" }",
            "[override.buffer.static]\ncrossing = \"shared\"\nsize = \"0B\""
        ),
        "a.toml:9: middle.buffer.static.size: s1 (s1-s2) and 1 more: a buffer of 0B holds no packet"
    );
}

#[test]
fn a_value_that_is_set_is_at_fault_where_it_was_set() {
    let sets = [("defaults.flow-control.pfc.refresh".to_owned(), "2.0".to_owned())];
    let error = Scenario::from_text("a.toml", RIGHT, &sets).expect_err("it is wrong").to_string();
    let place = "--set defaults.flow-control.pfc.refresh=2.0: defaults.flow-control.pfc.refresh: ";
    assert!(error.starts_with(place), "{error}");
    // Also where the error is of the table that it was set in.
    let sets = [("defaults.flow-control.pfc.xoff.alpha".to_owned(), "-1".to_owned())];
    let table = RIGHT.replacen(r#"xoff = "320KB""#, "xoff = { alpha = 0.5 }", 1);
    let error = Scenario::from_text("a.toml", &table, &sets).expect_err("it is wrong").to_string();
    assert!(error.starts_with("--set defaults.flow-control.pfc.xoff.alpha=-1: "), "{error}");
}

#[test]
fn a_list_may_begin_with_a_byte_order_mark() {
    let head = "\u{feff}source,destination,size_bytes,start_us\n";
    let error = with_file("marked.csv", Some(&format!("{head}h1,h3,1000,0\nh1,h1,1000,5\n")));
    assert_eq!(error, "marked.csv:3: workload.web: it goes from h1 to itself");
}

#[test]
fn hosts_that_only_another_host_joins_are_apart() {
    let text = "[topology.explicit]\nhosts = [\"h1\", \"h2\", \"h3\"]\nrate = \"1G\"\ndelay = \"1us\"\n\
                links = [{ between = [\"h1\", \"h2\"] }, { between = [\"h2\", \"h3\"] }]\n\
                [[workload]]\nname = \"w\"\npermutation = { size = \"1KB\" }\n";
    assert_eq!(errors_of(text), "a.toml:8: workload.w.permutation.of: no path leads from h1 to h3");
    let poisson = text
        .replace("permutation = {", "until = \"1ms\"\npoisson = { load = 0.1, sizes =")
        .replace("sizes = size = \"1KB\" }", "sizes = \"websearch\" }");
    assert_eq!(errors_of(&poisson), "a.toml:9: workload.w.poisson: no path leads from h1 to h3");
}

#[test]
fn files_that_cannot_be_read_and_texts_that_are_not_toml() {
    let error = Scenario::from_path(Path::new("no/such.toml"), &[]).expect_err("it is not there").to_string();
    assert!(error.starts_with("no/such.toml: cannot read it: "), "{error}");
    assert!(errors_of("topology = {").starts_with("a.toml:1: not TOML: "));
    assert_eq!(errors_of(""), "a.toml:1: the key \"topology\" is missing");
}

#[test]
fn sets_are_named_in_errors() {
    let sets = [("defaults.flow-control".to_owned(), "pcf".to_owned())];
    let error = Scenario::from_text("a.toml", RIGHT, &sets).expect_err("it is wrong").to_string();
    assert_eq!(
        error,
        format!(
            r#"--set defaults.flow-control=pcf: defaults.flow-control: "pcf" is not a choice; allowed: {}; did you mean "pfc"?"#,
            flow_controls()
        )
    );
}

#[test]
fn all_faults_are_reported_at_once() {
    let text = RIGHT.replacen("bottleneck", "nothing", 1).replacen("name = \"web\"", "name = \"8\"", 1);
    assert_eq!(errors_of(&text).lines().count(), 2);
}

#[test]
fn a_payload_is_from_1_byte_to_the_run_s_mtu() {
    let with = |payload: &str| changed("[[override]]", &format!("payload = \"{payload}\"\n[[override]]"));
    assert_eq!(with("0B"), "a.toml:4: defaults.payload: 0B is not a payload from 1B to the run's mtu, 1KB");
    assert_eq!(
        with("1001B"),
        "a.toml:4: defaults.payload: 1.001KB is not a payload from 1B to the run's mtu, 1KB"
    );
}

#[test]
fn a_cell_is_one_that_the_buffers_can_count_in() {
    let with = |more: &str| changed("[[override]]", &format!("{more}\n[[override]]"));
    let refused = |cell: &str| {
        format!("a.toml:4: defaults.cell: s1 and 1 more: {cell} is not a cell from 1B to 8.192KB")
    };
    for (given, shown) in [("0B", "0B"), ("9KB", "9KB")] {
        let error = with(&format!("cell = \"{given}\""));
        assert!(error.starts_with(&refused(shown)), "{error}");
    }
    let error = with("cell = \"254B\"\nbuffer = \"ioq\"");
    assert!(error.contains("count bytes, not cells"), "{error}");
}

#[test]
fn more_ports_than_a_node_can_have_are_refused_with_their_number() {
    let text = |hosts| {
        format!(
            "topology.single-switch = {{ hosts = {hosts}, rate = \"100G\", delay = \"1us\" }}\n\
             [[workload]]\nname = \"w\"\nflows = [{{ from = \"h1\", to = \"h{hosts}\", size = \"1KB\" }}]\n"
        )
    };
    assert!(Scenario::from_text("a.toml", &text(65_535), &[]).is_ok());
    let error = errors_of(&text(65_536));
    assert_eq!(
        error,
        "a.toml:1: topology: switch s1: it has 65536 ports, but the maximum of a node is 65535"
    );
}

/// The errors of a training job with these keys.
fn with_training(keys: &str) -> String {
    let network = "topology.single-switch = { hosts = 8, rate = \"100G\", delay = \"1us\" }";
    errors_of(&format!("{network}\n[[workload]]\nname = \"job\"\ntraining = {{ flops = 4e14, {keys} }}\n"))
}

#[test]
fn keys_of_training_say_what_is_allowed() {
    let of_layers = |given: &str| with_training(&format!("model = \"mixtral-8x7b\", layers = {given}"));
    let due = "where a whole number from 1 to the model's layers is required";
    for given in ["-1", "4.5", "5000000000"] {
        assert_eq!(
            of_layers(given),
            format!("a.toml:4: workload.job.training.layers: the number {given} {due}")
        );
    }
    let text = of_layers("\"4\"");
    assert!(text.ends_with(&format!("the string \"4\" {due}: write 4, without quotation marks")), "{text}");
    let tensor = with_training("model = \"mixtral-8x7b\", tensor = -1");
    assert!(
        tensor.ends_with("training.tensor: the number -1 where a whole number of at least 1 is required")
    );
    let expert = with_training("model = \"mixtral-8x7b\", expert = 3");
    assert!(expert.contains("training.expert: 3 does not divide the model's 8 experts"), "{expert}");
    let table = "model = { layers = 2, hidden = 64, sequence = 64, parameters = 1000, experts = 8 }";
    let alone = with_training(table);
    assert!(
        alone.ends_with("training.model.experts: it belongs to experts-per-token, which is missing"),
        "{alone}"
    );
    let few = with_training(&table.replace("experts = 8", "experts = 1, experts-per-token = 2"));
    assert!(few.ends_with("training.model.experts: 1 is not a number from 2 to 65536"), "{few}");
}

#[test]
fn overrides_of_a_profile_are_not_set() {
    let text = format!("profile = \"swing-ns3\"\n{RIGHT}");
    let error = |path: &str| {
        Scenario::from_text("a.toml", &text, &[(String::from(path), "1MB".into())])
            .expect_err("it is refused")
            .to_string()
    };
    let due = "--set dci-from-afar.flow-control.pfc.xoff=1MB: \"dci-from-afar\" is an override of profile swing-ns3, which \
               a scenario does not change: write an [[override]] of its own, by links = { tag = \"long-haul\" } too; it \
               comes after the profile's";
    assert_eq!(error("dci-from-afar.flow-control.pfc.xoff"), due);
    assert!(error("dci-from-near.delay").contains("is not a key or the name of an override"));
}

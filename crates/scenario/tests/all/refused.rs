//! Short texts that would need more than a machine has, or of which a part would have no effect: errors.

use floodway_scenario::Scenario;

const HEAD: &str = "topology.single-switch = { hosts = 4, rate = \"100G\", delay = \"1us\" }\n";

/// The errors of a scenario of one workload, which has this key in line 4.
fn refused(key: &str) -> String {
    let text = format!("{HEAD}[[workload]]\nname = \"w\"\n{key}\nuntil = \"100000s\"\n");
    match Scenario::from_text("a.toml", &text, &[]) {
        Ok(_) => panic!("it was accepted: {key}"),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn patterns_without_senders_are_refused_before_their_starts_are_counted() {
    for (pattern, key) in [
        (r#"micro-bursts = { from = "h1", to = "h1", length = "1us", every = "2us" }"#, "micro-bursts.to"),
        (r#"all-to-all = { of = "h1", size = "1KB", every = "1ps" }"#, "all-to-all.of"),
        (r#"all-to-all = { of = "h1", size = "1KB", every = "0s" }"#, "all-to-all.of"),
        (r#"permutation = { of = "h1", size = "1KB", every = "1ps" }"#, "permutation.of"),
        (r#"burst = { from = "h1", to = "h1", size = "1KB", every = "1ps" }"#, "burst.to"),
        (r#"long-lived = { from = "h1", to = "h1" }"#, "long-lived.to"),
    ] {
        let due = format!("a.toml:4: workload.w.{key}: no host has another one to send to");
        assert_eq!(refused(pattern), due);
    }
}

#[test]
fn patterns_that_come_again_after_no_time_are_refused() {
    for (pattern, key, what) in [
        (r#"all-to-all = { size = "1KB", every = "0s" }"#, "all-to-all", "an all-to-all"),
        (r#"burst = { to = "h1", size = "1KB", every = "0us" }"#, "burst", "a burst"),
        (r#"permutation = { size = "1KB", every = "0ns" }"#, "permutation", "a permutation"),
        (r#"incast = { to = "h1", size = "1KB", every = "0s" }"#, "incast", "an incast"),
        (r#"micro-bursts = { to = "h1", length = "1us", every = "0s" }"#, "micro-bursts", "a micro-burst"),
    ] {
        let due = format!(
            "a.toml:4: workload.w.{key}.every: 0us is not allowed: {what} would repeat without end; write a time above 0"
        );
        assert_eq!(refused(pattern), due);
    }
    let many = refused(r#"burst = { from = "h1", to = "h2", size = "1KB", every = "1ps" }"#);
    assert_eq!(many, "a.toml:4: workload.w.burst.every: that makes more than 1048576 flows");
}

#[test]
fn a_burst_of_no_bytes_is_refused_once() {
    let error = refused(r#"burst = { to = "h1", size = "0B" }"#);
    assert_eq!(error, "a.toml:4: workload.w.burst.size: a flow of 0B has no bytes");
}

/// The error of a scenario with this line, the second, at its top level.
fn line(line: &str) -> String {
    let flow = "workload = [{ name = \"w\", burst = { to = \"h1\", size = \"1KB\" } }]\n";
    let head = if line.starts_with("topology") { "" } else { HEAD };
    let text = format!("{head}\n{flow}{line}\n");
    match Scenario::from_text("a.toml", &text, &[]) {
        Ok(_) => panic!("it was accepted: {line}"),
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn tables_are_not_written_as_lists() {
    for (text, begin) in [
        (
            "topology.single-switch = [4, \"100G\", \"1us\"]",
            "a.toml:3: topology.single-switch: a list where a table is required, with these keys: hosts, ",
        ),
        (
            "defaults.flow-control.pfc = [\"320KB\"]",
            "a.toml:4: defaults.flow-control.pfc: a list where a table is required, with these keys: ",
        ),
        (
            "measure = [\"0us\", \"1us\"]",
            "a.toml:4: measure: a list where a table is required, with these keys: from, to",
        ),
        ("records = []", "a.toml:4: records: a list where a table is required, with these keys: "),
    ] {
        let error = line(text);
        assert!(error.starts_with(begin), "{error}");
    }
}

#[test]
fn sizes_of_two_keys_are_refused_by_the_second() {
    let sizes = |sizes: &str| refused(&format!("poisson = {{ load = 0.1, sizes = {sizes} }}"));
    let begin = "a.toml:4: workload.w.poisson.sizes: ";
    for (table, why) in [
        (r#"{ fixed = "1KB", mean = 3 }"#, r#""mean" is given with "fixed", which takes no other key"#),
        (r#"{ file = "a", fixed = "1KB" }"#, r#""fixed" is given with "file", which takes no other key"#),
        ("{}", "nothing is chosen: name one of file, fixed"),
    ] {
        assert_eq!(sizes(table), format!("{begin}{why}"));
    }
    assert!(sizes("{ fixd = \"1KB\" }").ends_with("did you mean \"fixed\"?"));
}

/// The error of a scenario whose only workload reads this file.
fn listed(file: &str) -> String {
    let text = format!("{HEAD}[[workload]]\nname = \"l\"\nflow-list.file = {file:?}\n");
    Scenario::from_text("a.toml", &text, &[]).expect_err("it is none").to_string()
}

#[test]
fn files_that_may_never_end_are_refused() {
    if cfg!(target_os = "linux") {
        for (file, why) in [
            ("/dev/zero", "it is a device; only regular files are allowed"),
            ("/", "it is a folder; only regular files are allowed"),
            ("/proc/self/status", "it is empty, or has no size, as those of /proc: copy it to a file"),
        ] {
            let error = listed(file);
            assert!(error.ends_with(&format!("cannot read {file:?}: {why}")), "{error}");
        }
        let error = Scenario::from_path(std::path::Path::new("/dev/zero"), &[]).expect_err("it is none");
        assert_eq!(
            error.to_string(),
            "/dev/zero: cannot read it: it is a device; only regular files are allowed"
        );
    }
}

#[test]
fn names_that_cannot_be_shown_are_refused_everywhere() {
    for (text, what) in [
        (r#"name = "a\u001b]0;b\u0007""#, r#"name: "a\u{1b}]0;b\u{7}": it has the character U+001B"#),
        (r#"name = "a\nb""#, r#"name: "a\nb": it has the character U+000A"#),
        (
            r#"override = [{ name = "o", links = "\u202eh1" }]"#,
            r#""\u{202e}h1": it has the character U+202E"#,
        ),
        (r#"defaults = { "\u0000" = 1 }"#, r#""\0": it has the character U+0000"#),
        (r#"topology.explicit = { hosts = ["\u009b31m"] }"#, r#""\u{9b}31m": it has the character U+009B"#),
    ] {
        let error = line(text);
        assert!(error.contains(what) && error.ends_with(", which cannot be shown"), "{error}");
        assert!(!error.contains(char::is_control), "{error:?}");
    }
}

#[test]
fn names_that_spreadsheets_take_for_formulas_are_refused() {
    for text in [
        r#"name = "=1+1""#,
        r#"topology.explicit = { hosts = ["@h1", "h2"], rate = "1G", delay = "1us", links = [{ between = ["@h1", "h2"] }] }"#,
        r#"override = [{ name = "-o", links = "*" }]"#,
    ] {
        let error = line(text);
        assert!(
            error.contains("is not a name: spreadsheets read a name that begins like this as a formula"),
            "{error}"
        );
    }
}

#[test]
fn long_values_are_cut_with_how_long_they_were() {
    let long = "x".repeat(100_000);
    for text in
        [format!("limit = \"{long}\""), format!("\"{long}\" = 1"), format!("topology.preset = \"{long}\"")]
    {
        let error = line(&text);
        assert!(error.len() < 1_500, "{}", error.len());
        assert!(error.contains("(100000 characters)"), "{error}");
    }
}

#[test]
fn wrong_parameters_of_every_layer_of_flows_are_refused_at_their_line() {
    for (layers, key, due) in [
        (r"rate-control.swift = { max-mdf = 3.5 }", "rate-control.swift.max-mdf", "3.5 is"),
        (
            r"reliability.go-back-n = { ack-interval = 0 }",
            "reliability.go-back-n.ack-interval",
            "0 is not allowed",
        ),
        (
            r"rate-control.expresspass = {}, notification.expresspass = { initial-rate = 3.5 }",
            "notification.expresspass.initial-rate",
            "3.5 is not above 0 and up to 1",
        ),
    ] {
        let error = line(&format!("defaults = {{ {layers} }}"));
        let due = format!("a.toml:4: defaults.{key}: flows of w: {due}");
        assert!(error.starts_with(&due), "{layers}: {error}");
    }
}

/// Is a parameter of this schema a time, or one among others?
fn is_time(schema: &serde_json::Value, of: &serde_json::Value) -> bool {
    let name = of["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    let among = |of: &serde_json::Value| {
        of["anyOf"].as_array().is_some_and(|variants| variants.iter().any(|one| is_time(schema, one)))
    };
    name.map_or_else(|| among(of), |name| name == "Time" || among(&schema["$defs"][name]))
}

/// The parameters of all mechanisms that are times: slot and mechanism, and key.
fn times(schema: &serde_json::Value) -> Vec<(String, String)> {
    let of_mechanism = |entry: floodway_mechanisms::registry::Entry| {
        let params = schema["$defs"][&*entry.definition]["properties"].clone();
        let params = params.as_object().cloned().unwrap_or_default().into_iter();
        let times: Vec<_> = params.filter(|(_, param)| is_time(schema, param)).collect();
        times.into_iter().map(move |(key, _)| (format!("{}.{}", entry.slot, entry.name), key))
    };
    floodway_mechanisms::registry::entries().into_iter().flat_map(of_mechanism).collect()
}

#[test]
fn times_of_mechanisms_that_are_shorter_than_a_bit_are_refused() {
    let times = times(&floodway_scenario::schema());
    assert!(times.len() > 30, "{times:?}");
    for (mechanism, key) in times {
        let error = |time: &str| {
            let line = format!("defaults.{mechanism} = {{ {key} = \"{time}\" }}\n");
            let flow = "workload = [{ name = \"w\", burst = { to = \"h1\", size = \"1KB\" } }]\n";
            let scenario = Scenario::from_text("a.toml", &format!("{HEAD}{flow}{line}"), &[]);
            scenario.map_or_else(|errors| errors.to_string(), |_| String::new())
        };
        let due = format!(
            "a.toml:3: defaults.{mechanism}.{key}: 9ps is shorter than a bit on the fastest link, which has 100G; \
             allowed: 10ps or more, or 0us where the parameter allows it"
        );
        assert!(error("9ps").lines().any(|line| line == due), "{due}\n{}", error("9ps"));
        assert!(!error("10ps").contains("shorter than a bit"), "{mechanism} {key}");
    }
}

#[test]
fn the_fastest_link_is_that_of_the_run() {
    let text = "limit = \"1ms\"\n\
        topology.single-switch = { hosts = 4, rate = \"100G\", delay = \"1us\" }\n\
        workload = [{ name = \"w\", burst = { to = \"h1\", size = \"1KB\" } }]\n\
        [[override]]\nname = \"fast\"\nlinks = \"h1-*\"\nrate = \"400G\"\n\
        [[override]]\nname = \"quick\"\nflows = \"w\"\nrate-control = [\"dcqcn\", { expresspass = { request-timeout = \"3ps\" } }]\n";
    let read = |text: &str| {
        Scenario::from_text("a.toml", text, &[]).map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert!(!read(text).contains("shorter than a bit"), "{}", read(text));
    let error = read(&text.replace("3ps", "2ps"));
    assert!(
        error.contains(
            "a.toml:11: quick.rate-control.2.expresspass.request-timeout: 2ps is shorter than a bit"
        ),
        "{error}"
    );
}

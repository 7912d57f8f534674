//! Summaries of the ready scenarios.

use std::path::Path;

use floodway_scenario::{Scenario, check};

fn ready(name: &str) -> Scenario {
    ready_with(name, &[])
}

fn ready_with(name: &str, sets: &[(String, String)]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    Scenario::from_path(&path, sets).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn ready_scenarios_are_right_and_have_no_warning() {
    let names = ["control-loss", "hot-spot", "micro-burst", "perftest", "ring-allreduce"];
    for name in names {
        let scenario = ready(name);
        assert_eq!(scenario.name(), name);
        assert_eq!(scenario.warnings(), [""; 0], "{name}");
    }
    // What this one is about is told before it runs.
    let warnings = ready("ring-deadlock").warnings().to_vec();
    assert!(
        matches!(&warnings[..], [cycle] if cycle.contains("wait for each other in a cycle")),
        "{warnings:?}"
    );
}

#[test]
fn ready_scenarios_that_show_a_mistake_get_its_warning_alone() {
    let warned = [("demo", "SWING, Eq. 4"), ("long-flow", "SWING, Eq. 4"), ("incast", "starts to mark")];
    for (name, of) in warned {
        let warnings = ready(name).warnings().to_vec();
        assert!(matches!(&warnings[..], [one] if one.contains(of)), "{name}: {warnings:#?}");
    }
}

/// Nor leaves out a scale-up domain without saying so. Lists of flows that are read from elsewhere are
/// skipped.
#[test]
fn no_ready_scenario_pauses_at_a_few_packets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files =
        std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it is there").path());
    let mut found = Vec::new();
    let mut count = 0;
    for path in files.filter(|path| path.extension().is_some_and(|of| of == "toml")) {
        let scenario = match Scenario::from_path(&path, &[]) {
            Ok(scenario) => scenario,
            Err(errors) if errors.to_string().contains("FLOODWAY_REFERENCE") => continue,
            Err(errors) => panic!("{errors}"),
        };
        let told = |why: &&String| why.contains("by chance pause it") || why.contains("no scale-up domain");
        found
            .extend(scenario.warnings().iter().filter(told).map(|why| format!("{}: {why}", scenario.name())));
        count += 1;
    }
    assert!(count > 40 && found.is_empty(), "{count} {found:#?}");
}

#[test]
fn no_more_series_cost_memory_than_there_are_ports() {
    let cost = |busiest: u64| {
        let sets = [("records.busiest".to_owned(), busiest.to_string())];
        check(&ready_with("incast", &sets), false).cost.memory_bytes
    };
    let ports = 2 * ready("incast").blueprint().links.len() as u64;
    assert!(cost(ports - 1) < cost(ports));
    assert_eq!(cost(u64::MAX), cost(ports));
}

#[test]
fn the_summary_of_the_demo_has_its_network_and_its_buffers() {
    let report = check(&ready("demo"), false);
    let nodes: Vec<_> = report.nodes.iter().map(|kind| (kind.kind.as_str(), kind.count)).collect();
    assert_eq!(nodes, [("host", 32), ("core", 8), ("agg", 16), ("tor", 16), ("dci", 2)]);
    let long = &report.links[0];
    assert_eq!(
        (long.kind.as_str(), long.count, long.rate_gbps, long.delay_us),
        ("long-haul", 1, 400.0, 400.0)
    );
    assert_eq!(long.bdp_bytes, 40_000_000);

    let inter = report.paths.iter().find(|path| path.kind == "inter-dc").expect("there are two datacenters");
    // Eight links of 100G, 1 us and one of 400G, 400 us, with 1098 and 86 bytes there and back.
    let rtt = 2.0 * 408.0 + 8.0 * (0.08 * 1.184) + 0.02 * 1.184;
    assert_eq!((inter.hops_min, inter.hops_max), (9, 9));
    assert!((inter.base_rtt_us_max - rtt).abs() < 1e-9, "{} {rtt}", inter.base_rtt_us_max);

    let port = &report.ports[0];
    assert_eq!(
        (port.kind.as_str(), port.count, port.buffer_bytes),
        ("dci from long-haul", 2, Some(42_000_000))
    );
    // Both directions' propagation, two frames of 1078 bytes and a PFC frame; XOFF "auto" is the rest.
    assert_eq!(port.headroom_formula_bytes, Some(40_002_220));
    assert_eq!(port.headroom_bytes, 40_002_220);
    assert_eq!(port.threshold_bytes, Some(42_000_000 - 40_002_220 - 1077));
    let tor = report.ports.iter().find(|port| port.kind == "tor from host-tor").expect("there are ToR");
    // A quarter of the empty pool.
    assert_eq!((tor.threshold_bytes, tor.reserve_bytes, tor.buffer_bytes), (Some(2_500_000), 288_000, None));

    let hadoop = &report.workloads[0];
    assert!((hadoop.offered_gbps.expect("it is Poisson") - 280.0).abs() < 1e-4);
    assert_eq!((hadoop.measure_from_us, hadoop.measure_to_us), (5_000.0, Some(50_000.0)));
}

#[test]
fn the_summary_has_the_thresholds_of_ports_of_each_rate() {
    let with = |point: &str| {
        check(&ready_with("demo", &[("defaults.congestion-point".into(), point.into())]), false)
    };
    let report = with("\"mercury\"");
    let of = |kind: &str| {
        let group = report.egress.iter().find(|group| group.kind == kind).expect("it is there");
        (
            group.count,
            serde_json::to_value(&group.congestion_points[0]).unwrap()["mercury"]["threshold"].clone(),
        )
    };
    // 100 KB per 25G.
    assert_eq!(of("dci to long-haul"), (2, "1.6MB".into()));
    assert_eq!(of("tor to host-tor"), (32, "400KB".into()));
    let text = with("\"tcd\"").text();
    assert!(text.contains("\negress ports "), "{text}");
    assert!(text.contains("max-ton = "), "{text}");
    assert_eq!(with("[]").egress, []);
}

#[test]
fn texts_are_tables_and_json_has_the_same() {
    let report = check(&ready("demo"), false);
    let text = report.text();
    assert!(text.starts_with("demo: seed 1, mtu 1KB, ends at 400ms at the latest\n"), "{text}");
    assert!(text.contains("\nlong-haul  1       400G  400us  40MB\n"), "{text}");
    assert!(!text.contains("built-in default"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&report.json()).expect("it is JSON");
    assert_eq!(json["nodes"][0]["kind"], "host");
    assert_eq!(json.get("resolved"), None);
}

#[test]
fn every_choice_names_the_line_that_made_it() {
    let report = check(&ready("demo"), true);
    let of = |object: &str, key: &str| {
        let has = |group: &&floodway_scenario::Group| group.objects.iter().any(|name| name == object);
        let group = report.resolved.iter().find(has).expect("it is there");
        let setting = group.settings.iter().find(|setting| setting.key == key).expect("it has it");
        let place = setting.origin.split("demo.toml").collect::<Vec<_>>();
        let who = place[0].split(", ").next().unwrap_or_default().to_owned();
        (who, place.get(1).unwrap_or(&"").to_string())
    };
    let line = |begin: &str| {
        let at =
            include_str!("../../../../scenarios/demo.toml").lines().position(|line| line.starts_with(begin));
        format!(":{}", at.expect("it is there") + 1)
    };
    let long_haul = || "override long-haul".to_owned();
    assert_eq!(of("x1>x2", "flow-control"), (long_haul(), line("flow-control.pfc = { xoff = \"auto\"")));
    assert_eq!(of("x1>x2", "buffer"), (long_haul(), line("buffer.static")));
    assert_eq!(of("x1>x2", "rate"), ("topology".into(), line("topology")));
    assert_eq!(of("h1>t1", "flow-control"), ("defaults".into(), line("flow-control.pfc = { xoff = { alpha")));
    assert_eq!(of("hadoop", "reliability"), ("built-in default".into(), String::new()));
    assert!(report.text().contains("(override long-haul, "));
}

#[test]
fn the_record_of_a_run_has_the_whole_scenario() {
    let scenario = ready("demo");
    let json: serde_json::Value = serde_json::from_str(&scenario.resolved_json()).expect("it is JSON");
    assert_eq!(json["scenario"]["workload"][0]["name"], "hadoop");
    assert_eq!(json["semantics"]["ties"], "hashed");
    assert_eq!(json["limit"], "400ms");
    assert!(json["resolved"].as_array().is_some_and(|groups| groups.len() > 3));
}

#[test]
fn the_schema_knows_the_mechanisms() {
    let schema = floodway_scenario::schema().to_string();
    for word in ["flow-control", "pfc", "two-dc", "fb-hadoop", "rate-control", "origin"] {
        assert!(schema.contains(&format!("\"{word}\"")), "{word}");
    }
}

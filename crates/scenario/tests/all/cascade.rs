//! Defaults, overrides, profiles and workloads in a blueprint.

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{Arrivals, LinkSpec, Role, Rounding, UNBOUNDED};
use floodway_scenario::Scenario;
use floodway_units::{Bytes, Class, PortId, Rate, Span, Time};

const NETWORK: &str = r#"topology.chain = { switches = 3, hosts = [2, 0, 1], rate = "100G", delay = "1us" }
"#;

const FLOW: &str = r#"
[[workload]]
name = "one"
tags = ["storage"]
flows = [{ from = "h1", to = "h3", size = "1MB" }]
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::from_text("a.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// The chain with these tables and one flow.
fn built(tables: &str) -> Blueprint {
    scenario(&format!("{NETWORK}{tables}{FLOW}")).blueprint().clone()
}

fn link<'a>(blueprint: &'a Blueprint, name: &str) -> &'a LinkSpec {
    blueprint.links.iter().find(|link| link.name == name).expect("it is there")
}

fn control(link: &LinkSpec, from: usize, class: u8) -> Option<&'static str> {
    let all = &link.directions[from].flow_control;
    all.iter().find(|(of, _)| *of == Class(class)).map(|(_, params)| params.name())
}

#[test]
fn by_default_links_are_lossless_and_flows_go_back_n() {
    let blueprint = built("");
    let trunk = link(&blueprint, "s1-s2");
    assert_eq!([0, 1].map(|from| control(trunk, from, 3)), [Some("pfc"); 2]);
    assert_eq!(blueprint.mtu, Bytes(1000));
    let settings = &blueprint.settings[0];
    assert_eq!((settings.class, settings.reliability.name()), (Class(3), "go-back-n"));
    assert_eq!(settings.rate_control[0].name(), "line-rate");
    let Role::Switch(switch) = &blueprint.nodes[3].role else { panic!("s1 is a switch") };
    assert_eq!((switch.buffer.name(), switch.routing.name()), ("static", "ecmp"));
}

/// Thresholds beyond those of congestion points, which are odd else.
const PAUSES_LATE: &str = r#"
[[override]]
name = "late"
links = "*"
flow-control.pfc = { xoff = "400KB" }
"#;

/// The name of the flow's notification, and the warnings, with these tables.
fn notified(tables: &str) -> (&'static str, Vec<String>) {
    let scenario = scenario(&format!("{NETWORK}{tables}{FLOW}{PAUSES_LATE}"));
    (scenario.blueprint().settings[0].notification.name(), scenario.warnings().to_vec())
}

#[test]
fn receivers_do_what_the_rate_control_asks_by_default() {
    let dcqcn = "[defaults]\ncongestion-point = \"red\"\nrate-control = \"dcqcn\"\n";
    assert_eq!(notified(dcqcn), ("dcqcn", vec![]));
    let flag = "[defaults]\ncongestion-point = \"red\"\nrate-control.dcqcn = { cnp = \"ack-flag\" }\n";
    assert_eq!(notified(flag), ("none", vec![]));
    assert_eq!(notified("[defaults]\nrate-control = \"line-rate\"\n"), ("none", vec![]));
    let (name, warnings) = notified(&format!("{dcqcn}notification = \"none\"\n"));
    assert_eq!(name, "none");
    assert_eq!(
        warnings,
        [
            "a.toml:4: defaults.rate-control: \"dcqcn\" waits for CNPs, and notification is \"none\" (defaults, a.toml:5)"
        ]
    );
}

#[test]
fn a_rate_control_that_no_mark_can_reach_gets_a_warning() {
    let (_, warnings) = notified("[defaults]\nrate-control = \"dcqcn\"\n");
    assert_eq!(
        warnings,
        [
            "a.toml:3: defaults.rate-control: \"dcqcn\" never acts: no port has a congestion-point, such as \"red\", that marks packets"
        ]
    );
}

#[test]
fn cnps_of_switches_need_no_receivers_that_send_them() {
    let tables = |point: &str| {
        notified(&format!(
            "[defaults]\ncongestion-point = \"{point}\"\nrate-control = \"dcqcn\"\nnotification = \"none\"\n"
        ))
    };
    for point in ["pacc", "proxy-cnp"] {
        assert_eq!(tables(point), ("none", vec![]), "{point}");
    }
    for point in ["red", "tcd"] {
        assert_eq!(tables(point).1.len(), 1, "{point}");
    }
}

/// The warnings with one congestion point and one stack, in TOML.
fn warned(points: &str, stack: &str) -> Vec<String> {
    notified(&format!("[defaults]\ncongestion-point = {points}\nrate-control = {stack}\n")).1
}

fn warnings_of_points(message: &str) -> Vec<String> {
    vec![format!("a.toml:3: defaults.congestion-point: {message}")]
}

#[test]
fn a_congestion_point_that_no_rate_control_reads_gets_a_warning() {
    let no_effect = |point: &str, what: &str| {
        warnings_of_points(&format!(
            "{point} has no effect: no rate-control of the run, such as \"dcqcn\", reacts to {what}"
        ))
    };
    for layer in ["\"line-rate\"", "\"timely\"", "\"hpcc\""] {
        for point in ["\"mercury\"", "\"pacc\"", "\"proxy-cnp\""] {
            assert_eq!(warned(point, layer), no_effect(point, "CNPs"), "{layer}");
        }
        assert_eq!(warned("\"tcd\"", layer), no_effect("\"tcd\"", "marks"), "{layer}");
        assert_eq!(warned("\"red\"", layer), [""; 0], "{layer}");
    }
    // It reads marks from ACKs, and no CNPs.
    assert_eq!(warned("\"pacc\"", "\"dctcp\""), no_effect("\"pacc\"", "CNPs"));
    assert_eq!(warned("\"tcd\"", "\"dctcp\""), [""; 0]);
    assert_eq!(warned("\"mercury\"", "[\"timely\", \"mercury\"]"), [""; 0]);
    assert_eq!(
        warned("\"mercury\"", "\"dcqcn\""),
        warnings_of_points(
            "the windows in CNPs of \"mercury\" have no effect: no rate-control of the run has the layer \"mercury\", as in [\"dcqcn\", \"mercury\"]"
        )
    );
}

#[test]
fn congestion_points_that_signal_one_queue_get_a_warning() {
    let both =
        |names: &str| warnings_of_points(&format!("{names} signal the same queues: usually one is enough"));
    assert_eq!(warned("[\"red\"]", "\"dcqcn\""), [""; 0]);
    assert_eq!(warned("[\"red\", \"tcd\"]", "\"dcqcn\""), both("\"red\" and \"tcd\""));
    // It reports what the other has marked.
    assert_eq!(warned("[\"red\", \"themis-pnp\"]", "\"dcqcn\""), [""; 0]);
    assert_eq!(
        warned("[{ pacc = { } }, \"red\", \"proxy-cnp\"]", "\"dcqcn\""),
        both("\"pacc\", \"red\" and \"proxy-cnp\"")
    );
}

#[test]
fn a_congestion_point_is_listed_once_at_a_port() {
    let tables = "[defaults]\ncongestion-point = [\"rcm\", \"red\", \"rcm\"]\n";
    let Err(errors) = Scenario::from_text("a.toml", &format!("{NETWORK}{tables}{FLOW}"), &[]) else {
        panic!("it is refused")
    };
    let expected = "a.toml:3: defaults.congestion-point: \"rcm\" is listed twice; once is enough";
    assert_eq!(errors.to_string(), expected);
}

#[test]
fn what_cannot_be_built_is_shown_where_its_key_is_written_if_that_is_one_place() {
    let queues = "buffer = \"output-queue\"\nflow-control = \"pfc\"";
    let text = format!("{NETWORK}[defaults]\n{queues}\n{FLOW}");
    let error = |text: &str| Scenario::from_text("a.toml", text, &[]).map(|_| ()).expect_err("it is refused");
    let one = error(&text).to_string();
    assert!(
        one.starts_with("a.toml:4: defaults.flow-control: ") && one.contains("never pauses where"),
        "{one}"
    );
    let more = "[[override]]\nname = \"x\"\nlinks = \"*\"\nflow-control = \"pfc\"\n";
    let two = error(&format!("{text}\n{more}")).to_string();
    assert!(two.starts_with("a.toml:1: ") && two.contains("never pauses where"), "{two}");
}

#[test]
fn mechanisms_that_lose_packets_are_refused_where_they_cannot_work() {
    let refused = |tables: &str, expected: &str| {
        let text = format!("{NETWORK}[defaults]\n{tables}\n{FLOW}");
        let errors = Scenario::from_text("a.toml", &text, &[]).map(|_| ()).expect_err("it is refused");
        let text = errors.to_string();
        assert!(text.starts_with("a.toml:3: defaults.congestion-point") && text.contains(expected), "{text}");
    };
    refused("congestion-point = [\"rcm\", \"casl\"]", "two of the list both decide how packets queue");
    refused("congestion-point = \"casl\"\nbuffer = \"ioq\"", "it has queues for lossy packets");
    let output_queue = "congestion-point = \"casl\"\nflow-control = \"lossy\"\nbuffer = \"output-queue\"";
    refused(output_queue, "`buffer.output-queue` bounds each queue by itself");
    let credits = "it sends packets that no pause stops, which flow-control = \"cbfc\" of";
    refused("congestion-point = \"casl\"\nflow-control = \"cbfc\"", credits);
    refused("congestion-point.casl = { floor = 0.7 }", ".casl.floor: ");
}

#[test]
fn a_transport_without_retransmission_beside_casl_gets_a_warning() {
    let warnings = |reliability: &str| {
        let tables = format!("[defaults]\ncongestion-point = \"casl\"\nreliability = {reliability}\n");
        scenario(&format!("{NETWORK}{tables}{FLOW}")).warnings().to_vec()
    };
    let expected = "\"casl\" drops packets of congested flows, which reliability \"none\" never retransmits: choose \"irn\"";
    assert!(
        warnings("\"none\"").iter().any(|warning| warning.contains(expected)),
        "{:?}",
        warnings("\"none\"")
    );
    for sound in ["\"irn\"", "\"go-back-n\""] {
        assert!(!warnings(sound).iter().any(|warning| warning.contains("never retransmits")));
    }
}

#[test]
fn a_layer_is_listed_once_in_a_stack() {
    let tables = "[defaults]\nrate-control = [\"dcqcn\", \"static-window\", \"dcqcn\"]\n";
    let Err(errors) = Scenario::from_text("a.toml", &format!("{NETWORK}{tables}{FLOW}"), &[]) else {
        panic!("it is refused")
    };
    let expected = "a.toml:3: defaults.rate-control: \"dcqcn\" is listed twice in the stack; once is enough";
    assert_eq!(errors.to_string(), expected);
}

#[test]
fn a_fault_of_the_defaults_is_reported_once_for_all_workloads() {
    let other = FLOW.replace("\"one\"", "\"other\"");
    let tables = "[defaults]\nreliability = \"none\"\nrate-control = \"timely\"\n";
    let Err(errors) = Scenario::from_text("a.toml", &format!("{NETWORK}{tables}{FLOW}{other}"), &[]) else {
        panic!("TIMELY needs acknowledgements")
    };
    assert_eq!(errors.0.len(), 1, "{errors}");
}

#[test]
fn a_profile_gives_mechanisms_its_parameters_but_for_those_that_are_given() {
    let tables = "profile = \"swing-ns3\"\n[defaults]\nreliability = \"go-back-n\"\n\
                  congestion-point.red = { kmax = \"900KB\" }\nrate-control = [\"dcqcn\"]\n";
    let text = format!("{tables}{FLOW}").replacen("[defaults]", &format!("{NETWORK}[defaults]"), 1);
    let blueprint = scenario(&text).blueprint().clone();
    let settings = &blueprint.settings[0];
    assert_eq!(
        serde_json::to_value(&settings.rate_control[0]).unwrap(),
        serde_json::json!({ "dcqcn": {
            "preset": "swing", "cnp": "ack-flag", "check-offset": "1ns", "timers": "ticking", "means": "halves",
        } })
    );
    assert_eq!(settings.notification.name(), "none");
    let point = serde_json::to_value(&link(&blueprint, "s1-s2").ends[0].congestion_points[0]).unwrap();
    assert_eq!((&point["red"]["preset"], &point["red"]["kmax"]), (&"swing".into(), &"900KB".into()));
}

#[test]
fn later_overrides_win_and_replace_whole_values() {
    let blueprint = built(
        r#"
        [defaults]
        flow-control.pfc = { xoff = "100KB", react = "1us" }
        [[override]]
        name = "a"
        links = "s*-s*"
        flow-control.pfc = { xoff = "200KB" }
        rate = "40G"
        [[override]]
        name = "b"
        links = "s2-s3"
        flow-control = "lossy"
        length = "2km"
        "#,
    );
    let json = |name: &str| {
        let params = &link(&blueprint, name).directions[0].flow_control[0].1;
        serde_json::to_value(params).expect("parameters are JSON")
    };
    assert_eq!(json("h1-s1")["pfc"]["react"], "1us");
    assert_eq!(
        (&json("s1-s2")["pfc"]["xoff"], &json("s1-s2")["pfc"]["react"]),
        (&"200KB".into(), &"0ps".into())
    );
    assert!(json("s2-s3").get("lossy").is_some());
    let far = &link(&blueprint, "s2-s3").directions[1];
    assert_eq!((far.rate, far.delay), (Rate::gbps(40), Span::us(10)));
    assert_eq!(link(&blueprint, "h1-s1").directions[0].rate, Rate::gbps(100));
}

#[test]
fn a_direction_has_its_buffer_at_the_receiver_and_its_scheduler_at_the_sender() {
    let blueprint = built(
        r#"
        [[override]]
        name = "a"
        links = { tag = "trunk" }
        direction = "s2>s1"
        flow-control = "lossy"
        buffer.static = { size = "9MB" }
        scheduler = "round-robin"
        faults = { error-rate = { data = 0.5 }, jitter = "5ns", down = { from = "1ms", to = "2ms" }, pause = { from = "3ms" } }
        "#,
    );
    let trunk = link(&blueprint, "s1-s2");
    assert_eq!([0, 1].map(|from| control(trunk, from, 3)), [Some("pfc"), Some("lossy")]);
    assert_eq!([0, 1].map(|end| trunk.ends[end].buffer.is_some()), [true, false]);
    assert_eq!([0, 1].map(|end| trunk.ends[end].scheduler.name()), ["strict", "round-robin"]);
    assert_eq!([0, 1].map(|from| trunk.directions[from].errors.data), [0.0, 0.5]);
    assert_eq!([0, 1].map(|from| trunk.directions[from].jitter), [Span::ZERO, Span::ns(5)]);
    assert_eq!(trunk.down, [(Time(1_000_000_000), Time(2_000_000_000))]);
    assert_eq!([0, 1].map(|end| trunk.ends[end].pauses.len()), [1, 0]);
    assert_eq!(trunk.ends[0].pauses[0].to, Time::NEVER);
    assert!(link(&blueprint, "s2-s3").ends[0].buffer.is_none());
}

#[test]
fn a_link_that_fails_has_delays_of_its_own_and_a_direction_its_switchovers() {
    let blueprint = built(
        r#"
        [[override]]
        name = "a"
        links = "s1-s2"
        direction = "s2>s1"
        faults = { down = { from = "1ms", to = "2ms" }, detection = "3us", convergence = "4ms", switchover = [{ at = "1ms", length = "2km" }, { at = "5ms", delay = "7us" }] }
        "#,
    );
    let trunk = link(&blueprint, "s1-s2");
    assert_eq!((trunk.detection, trunk.convergence), (Span::us(3), Span::ms(4)));
    let [there, back] = trunk.directions.each_ref().map(|of| of.switchovers.clone());
    assert_eq!(
        (there, back),
        (vec![], vec![(Time(1_000_000_000), Span::us(10)), (Time(5_000_000_000), Span::us(7))])
    );
    assert_eq!(link(&blueprint, "s2-s3").convergence, Span::ZERO);
}

#[test]
fn a_switch_set_again_overrides_its_ports() {
    let tables = |last: &str| {
        format!(
            "[[override]]\nname = \"a\"\nlinks = \"s1-s2\"\nbuffer.static = {{ size = \"9MB\" }}\n\
             [[override]]\nname = \"b\"\nswitches = \"s1\"\n{last}\n"
        )
    };
    let own =
        |last: &str| link(&built(&tables(last)), "s1-s2").ends.each_ref().map(|end| end.buffer.is_some());
    assert_eq!(own("buffer.shared = { pool = \"10MB\" }"), [false, true]);
    assert_eq!(own("routing = \"spray\""), [true, true]);
}

#[test]
fn flow_control_may_differ_by_class() {
    let text = format!(
        "{NETWORK}[defaults]\nflow-control.class-4.pfc = {{ xoff = \"50KB\" }}\n\
         [[workload]]\nname = \"one\"\nflows = [{{ from = \"h1\", to = \"h3\", size = \"1MB\" }}, \
         {{ from = \"h1\", to = \"h3\", size = \"1MB\", class = 4 }}]\n"
    );
    let scenario = scenario(&text);
    let trunk = link(scenario.blueprint(), "s1-s2");
    assert_eq!([3, 4].map(|class| control(trunk, 0, class)), [None, Some("pfc")]);
    let Arrivals::List(flows) = &scenario.blueprint().workloads[0].arrivals else { panic!("it is a list") };
    assert_eq!(flows[0].settings, None);
    let other = flows[1].settings.expect("its class is its own");
    assert_eq!(scenario.blueprint().settings[other].class, Class(4));
}

#[test]
fn overrides_by_flows_choose_workloads_by_name_and_tag() {
    for selector in ["\"o*\"", "{ tag = \"storage\" }", "{ workload = \"one\" }"] {
        let blueprint = built(&format!(
            "[[override]]\nname = \"a\"\nflows = {selector}\nreliability = \"none\"\nclass = 5\n"
        ));
        let settings = &blueprint.settings[0];
        assert_eq!((settings.class, settings.reliability.name()), (Class(5), "none"), "{selector}");
    }
}

#[test]
fn a_host_that_pauses_does_so_at_all_its_ports() {
    let blueprint = built(
        "[[override]]\nname = \"a\"\nhosts = \"h1\"\nfaults.pause = { class = 3, from = \"1ms\", to = \"2ms\" }\n",
    );
    assert_eq!(link(&blueprint, "h1-s1").ends[0].pauses.len(), 1);
    assert_eq!(link(&blueprint, "h1-s1").ends[1].pauses.len(), 0);
    assert_eq!(link(&blueprint, "h2-s1").ends[0].pauses.len(), 0);
}

#[test]
fn what_is_set_beside_a_profile_wins() {
    let text = |beside: &str| {
        format!(
            "profile = \"swing-ns3\"\n{beside}\ntopology.two-dc = {{ fabric.fat-tree = {{ k = 4 }}, rate = \"100G\", \
             delay = \"1us\", long-link = {{ rate = \"400G\", length = \"80km\" }} }}\n\
             [[workload]]\nname = \"one\"\nflows = [{{ from = \"h1\", to = \"h17\", size = \"1MB\" }}]\n"
        )
    };
    let plain = scenario(&text(""));
    let blueprint = plain.blueprint();
    assert_eq!((blueprint.mtu, blueprint.semantics.rounding), (Bytes(1448), Rounding::TruncatedNanosecond));
    let node = |name: &str| blueprint.nodes.iter().find(|node| node.name == name).expect("it is there");
    assert_eq!((node("a1").rank, node("a2").rank, node("a3").rank), (41, 40, 42));
    let seed = |name: &str| match &node(name).role {
        Role::Switch(switch) => switch.hash_seed,
        Role::Host { .. } => None,
    };
    assert_eq!(
        [seed("c1"), seed("a1"), seed("t8"), seed("x2")],
        [Some(3_506_978_425), Some(4_033_148_213), Some(1_567_332_858), Some(1_471_068_050)]
    );
    assert!(matches!(node("h16").role, Role::Host { address, .. } if address == 16_777_232));
    let long = link(blueprint, "x1-x2");
    assert_eq!(serde_json::to_value(&long.ends[0].buffer).expect("it is JSON")["static"]["size"], "41MB");
    assert!(
        link(blueprint, "c1-x1").ends[0].buffer.is_none()
            && link(blueprint, "c1-x1").ends[1].buffer.is_some()
    );

    let beside = scenario(&text(
        "mtu = \"1000B\"\nsemantics.rounding = \"picosecond\"\ndefaults.buffer.shared = { pool = \"1MB\" }",
    ));
    let blueprint = beside.blueprint();
    assert_eq!((blueprint.mtu, blueprint.semantics.rounding), (Bytes(1000), Rounding::Picosecond));
    assert!(link(blueprint, "x1-x2").ends[0].buffer.is_none());
}

#[test]
fn paths_are_pinned_by_nodes_and_parallel_links_by_number() {
    let text = r#"
        [topology.explicit]
        hosts = ["h1", "h2"]
        switches = ["s1", "s2"]
        rate = "10G"
        delay = "1us"
        links = [{ between = ["h1", "s1"] }, { between = ["s1", "s2"], count = 2 }, { between = ["s2", "h2"] }]
        [[workload]]
        name = "w"
        flows = [{ from = "h1", to = "h2", size = "1KB", path = "h1,s1,s2#2,h2", ack-path = "h2,s2,s1,h1" }]
    "#;
    let scenario = scenario(text);
    let Arrivals::List(flows) = &scenario.blueprint().workloads[0].arrivals else { panic!("it is a list") };
    assert_eq!(flows[0].path.as_deref(), Some(&[PortId(0), PortId(4), PortId(6)][..]));
    assert_eq!(flows[0].ack_path.as_deref(), Some(&[PortId(7), PortId(3), PortId(1)][..]));
}

#[test]
fn loads_are_of_links_or_of_hosts() {
    let gap = |of: &str| {
        let text = format!(
            "{NETWORK}[[workload]]\nname = \"w\"\nuntil = \"1ms\"\npoisson = {{ sizes = {{ fixed = \"125KB\" }}, \
             load = 0.5, {of} from = [\"h1\", \"h2\"], to = \"h3\" }}\n"
        );
        match &scenario(&text).blueprint().workloads[0].arrivals {
            Arrivals::Poisson(poisson) => poisson.mean_gap,
            _ => panic!("it is Poisson"),
        }
    };
    // 1 Mbit a flow: 50G of each host's NIC, or 50G of the trunk shared by two.
    assert_eq!(gap(""), Span::us(20));
    assert_eq!(gap("of = \"s1-s2\","), Span::us(40));
    assert_eq!(gap("of = { tag = \"trunk\" },"), Span::us(20));
}

#[test]
fn windows_and_limits_follow_from_the_traffic() {
    let end = |rest: &str| {
        let scenario = scenario(&format!("{NETWORK}{rest}"));
        let blueprint = scenario.blueprint();
        (blueprint.workloads[0].measure, blueprint.end.limit, blueprint.end.at_limit)
    };
    let poisson = "poisson = { sizes = \"websearch\", load = 0.5 }";
    let workload = |keys: &str| format!("[[workload]]\nname = \"w\"\n{keys}\n");
    let ms = |n: u64| Time(n * 1_000_000_000);
    let (measure, limit, at_limit) =
        end(&workload(&format!("{poisson}\nstart = \"10ms\"\nuntil = \"20ms\"")));
    assert_eq!((measure, at_limit), ((ms(11), ms(20)), false));
    assert!(limit > ms(80) && limit < ms(82), "{limit}");
    let given =
        format!("measure = {{ from = \"1ms\", to = \"2ms\" }}\nlimit = \"9ms\"\n{}", workload(poisson));
    assert_eq!(end(&given), ((ms(1), ms(2)), ms(9), false));
    let endless = format!("limit = \"3ms\"\n{}", workload("long-lived = { from = \"h1\", to = \"h3\" }"));
    assert_eq!(end(&endless), ((Time::ZERO, Time::NEVER), ms(3), true));
    // 100 MB are 108.2 MB on the wire, which take 8.66 ms at 100G. A link is charged where paths part and
    // where they come together, both on this one, and four times that is the limit.
    let (measure, limit, _) = end(&workload("flows = [{ from = \"h1\", to = \"h3\", size = \"100MB\" }]"));
    assert_eq!(measure, (Time::ZERO, Time::NEVER));
    assert!(limit > ms(69) && limit < ms(71), "{limit}");
}

#[test]
fn bursts_and_permutations_are_lists() {
    let flows = |text: &str, seed: u64| {
        let scenario = scenario(&format!("{NETWORK}limit = \"1s\"\n[[workload]]\nname = \"w\"\n{text}\n"))
            .with_seed(seed);
        assert_eq!(scenario.blueprint().seed, seed);
        let blueprint = scenario.blueprint();
        let Arrivals::List(flows) = &blueprint.workloads[0].arrivals else { panic!("it is a list") };
        let name = |node: floodway_units::NodeId| blueprint.nodes[node.index()].name.clone();
        flows
            .iter()
            .map(|flow| (name(flow.source), name(flow.destination), flow.size, flow.start))
            .collect::<Vec<_>>()
    };
    let burst = flows("burst = { to = \"h3\", size = \"1KB\", every = \"1us\" }\nuntil = \"2us\"", 1);
    assert_eq!(burst.len(), 4);
    assert_eq!(burst[2], ("h1".into(), "h3".into(), Bytes(1000), Time(1_000_000)));
    let long = flows("long-lived = { from = \"h1\", to = \"h3\" }\nstart = \"5us\"", 1);
    assert_eq!(long, [("h1".into(), "h3".into(), UNBOUNDED, Time(5_000_000))]);
    let partners = |seed| flows("permutation = { size = \"1KB\" }", seed);
    assert_eq!(partners(1), partners(1));
    assert!((2..20).any(|seed| partners(seed) != partners(1)));
    for seed in 1..9 {
        let mut receivers: Vec<_> = partners(seed).into_iter().map(|flow| flow.1).collect();
        receivers.sort();
        assert_eq!(receivers, ["h1", "h2", "h3"]);
    }
}

#[test]
fn the_same_seed_from_the_text_or_afterwards_is_the_same() {
    let text = format!("{NETWORK}[[workload]]\nname = \"w\"\npermutation = {{ size = \"1KB\" }}\n");
    let sets = [("seed".to_owned(), "18446744073709551615".to_owned())];
    let set = Scenario::from_text("a.toml", &text, &sets).unwrap_or_else(|errors| panic!("{errors}"));
    let later = scenario(&text).with_seed(u64::MAX);
    assert_eq!(format!("{:?}", set.blueprint()), format!("{:?}", later.blueprint()));
}

#[test]
fn lists_begin_at_their_origin_and_stop_at_until() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let list = "StartTime,FromNode,ToNode,SourcePort,DestinationPort,Size,Priority\n\
                1000000777ns,h1,h3,2,1,500B,0\n1000000000ns,h2,h3,2,1,500B,0\n2000000000ns,h2,h3,3,1,500B,0\n";
    std::fs::write(folder.join("list.csv"), list).expect("it can be written");
    let text = format!(
        "{NETWORK}[[workload]]\nname = \"w\"\nuntil = \"1ms\"\nflow-list = {{ file = \"list.csv\", origin = \"1s\" }}\n"
    );
    let source = floodway_scenario::Source { name: "a.toml", text: &text, folder, sets: &[], tables: None };
    let scenario = Scenario::from_source(source).unwrap_or_else(|errors| panic!("{errors}"));
    let Arrivals::List(flows) = &scenario.blueprint().workloads[0].arrivals else { panic!("it is a list") };
    let starts: Vec<_> = flows.iter().map(|flow| (flow.start, flow.source_port)).collect();
    assert_eq!(starts, [(Time(0), Some(2)), (Time(777_000), Some(2))]);
}

#[test]
fn a_profile_leaves_the_papers_machine_what_it_takes() {
    for profile in ["swing-ns3", "hpcc-ns3", "conweave-ns3"] {
        let tables = format!(
            "profile = \"{profile}\"\n{NETWORK}[defaults]\nreliability = \"go-back-n\"\n\
             rate-control = [{{ dcqcn = {{ preset = \"paper\" }} }}]\n{FLOW}"
        );
        let built = scenario(&tables);
        let chosen = serde_json::to_value(&built.blueprint().settings[0].rate_control[0]).unwrap();
        assert_eq!(chosen["dcqcn"]["preset"], "paper", "{profile}");
    }
}

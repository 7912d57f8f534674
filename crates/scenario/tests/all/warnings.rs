//! Warnings of `check`: each where it is due, and not elsewhere.

use floodway_mechanisms::pfc;
use floodway_mechanisms::registry::FlowControlParams;
use floodway_mechanisms::slots::{FlowControl, LinkInfo, ParamError};
use floodway_scenario::{Scenario, check};
use floodway_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two switches far apart, two hosts at each.
const LINE: &str = r#"
    limit = "10ms"
    topology.chain = { switches = 2, hosts = [2, 2], rate = "100G", delay = "1us", trunk = { rate = "100G", length = "LENGTH" } }
    [defaults]
    DEFAULTS
    [[override]]
    name = "trunk"
    links = { tag = "trunk" }
    TRUNK
    [[workload]]
    name = "flows"
    flows = [{ from = "h1", to = "h3", size = "1MB" }]
"#;

struct Line<'a> {
    length: &'a str,
    defaults: &'a str,
    trunk: &'a str,
}

const PLAIN: Line<'static> = Line { length: "100m", defaults: "", trunk: "rate = \"100G\"" };

impl Line<'_> {
    fn scenario(&self) -> Scenario {
        let text = LINE
            .replace("LENGTH", self.length)
            .replace("DEFAULTS", self.defaults)
            .replace("TRUNK", self.trunk);
        Scenario::from_text("line.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn warnings(&self) -> Vec<String> {
        self.scenario().warnings().to_vec()
    }

    /// The only warning, which has all these parts.
    fn warns_of(&self, parts: &[&str]) {
        let warnings = self.warnings();
        let [one] = &warnings[..] else { panic!("{warnings:#?}") };
        let missing: Vec<_> = parts.iter().filter(|part| !one.contains(**part)).collect();
        assert!(missing.is_empty(), "{one}\nhas not {missing:?}");
    }

    fn has_no_warning(&self) {
        assert_eq!(self.warnings(), [""; 0]);
    }
}

#[test]
fn a_plain_line_has_no_warning() {
    PLAIN.has_no_warning();
}

#[test]
fn a_threshold_that_leaves_a_long_link_idle_comes_with_equation_4() {
    // 80 km at 100G are 10 MB there and back; drained at half of the rate, 2.5 MB leave 3/(1.25 + 7.5) of it.
    let idle = Line {
        length: "80km",
        trunk: "flow-control.pfc = { xoff = \"2500KB\" }\nbuffer.static.size = \"auto\"",
        ..PLAIN
    };
    idle.warns_of(&[
        "line.toml:9: trunk.flow-control.pfc: ",
        " and 1 more: it pauses at 2.5MB, and 10MB arrive in a round trip",
        "at 50 % 42.9 % (SWING, Eq. 4)",
        "a threshold of 10MB, in a buffer of 20.004MB, keeps it busy",
    ]);
    Line { trunk: "flow-control.pfc = { xoff = \"10MB\" }\nbuffer.static.size = \"auto\"", ..idle }
        .has_no_warning();
    Line { trunk: "flow-control.pfc = { xoff = \"auto\" }\nbuffer.static.size = \"20003297B\"", ..idle }
        .has_no_warning();
}

#[test]
fn an_automatic_buffer_leaves_a_long_link_idle_too() {
    let auto = "flow-control.pfc = { xoff = \"auto\" }\nbuffer.static.size = \"auto\"";
    Line { length: "1000km", trunk: auto, ..PLAIN }
        .warns_of(&["if it drains at 90 % of line rate, the link carries 47.4 % of it, at 50 % 33.3 %"]);
    Line { length: "80km", trunk: "flow-control = \"bifrost\"\nbuffer.static.size = \"auto\"", ..PLAIN }
        .has_no_warning();
}

#[test]
fn a_threshold_of_a_few_packets_gets_a_warning() {
    let trunk =
        |xoff: &str| format!("flow-control.pfc = {{ xoff = \"{xoff}\" }}\nbuffer.static.size = \"auto\"");
    let auto = Line { trunk: &trunk("auto"), ..PLAIN };
    auto.warns_of(&[
        "line.toml:9: trunk.flow-control.pfc: ",
        "1.0 full packets, so that packets which meet by chance pause it; 12.5KB arrive in a round trip",
        "\"auto\" has what the port's own buffer leaves beside headroom: a buffer of a given size",
    ]);
    // Eight packets of 1078 bytes, or a round trip of 12.5 KB with two more: the less.
    Line { trunk: &trunk("8623B"), ..PLAIN }.warns_of(&["it pauses at 8.623KB", "At least 8.624KB avoid it"]);
    Line { trunk: &trunk("8624B"), ..PLAIN }.has_no_warning();
    // 1.25 KB arrive in a round trip: with an XON of as much the link stays busy.
    Line { length: "10m", trunk: &trunk("3.5KB"), ..PLAIN }.has_no_warning();
    Line { length: "10m", trunk: &trunk("2KB"), ..PLAIN }.warns_of(&["it pauses at 2KB, 1.9 full packets"]);
    // Reactions take time as well, 25 KB in 2 us.
    let slow = trunk("3.5KB").replace(" }", ", react = \"2us\" }");
    Line { length: "10m", trunk: &slow, ..PLAIN }.warns_of(&["it pauses at 3.5KB"]);
}

#[test]
fn an_automatic_threshold_is_a_share_of_a_shared_pool() {
    let pool = |size: &str| {
        format!("flow-control.pfc = {{ xoff = \"auto\" }}\nbuffer.shared = {{ pool = \"{size}\" }}")
    };
    Line { defaults: &pool("16MB"), ..PLAIN }.has_no_warning();
    let scenario = Line { defaults: &pool("16MB"), ..PLAIN }.scenario();
    let ports = check(&scenario, false).ports;
    assert!(ports.iter().all(|port| port.buffer_bytes.is_none()), "{ports:?}");
    let small = Line { defaults: &pool("20KB"), ..PLAIN }.warnings();
    assert!(small.iter().any(|why| why.contains("a larger pool avoids it")), "{small:?}");
}

#[test]
fn marks_that_come_after_pauses_get_a_warning() {
    let with = |kmin: &str| format!("congestion-point.red = {{ kmin = \"{kmin}\", kmax = \"2MB\" }}");
    Line { defaults: &with("321KB"), ..PLAIN }.warns_of(&[
        "defaults.congestion-point.red: ",
        "traffic that arrives at only one port is paused at 320KB, before \"red\" starts to mark at 321KB",
    ]);
    Line { defaults: &with("320KB"), ..PLAIN }.has_no_warning();
    // A quarter of what is free: alone a port has a fifth of the pool.
    let pooled = format!(
        "flow-control.pfc = {{ xoff = {{ alpha = 0.25 }} }}\nbuffer.shared = {{ pool = \"2MB\" }}\n{}",
        with("500KB")
    );
    Line { defaults: &pooled, ..PLAIN }.warns_of(&["only one port is paused at 400KB, before"]);
    Line { defaults: &pooled.replace("2MB\" }", "2.5MB\" }"), ..PLAIN }.has_no_warning();
    Line { defaults: &format!("flow-control = \"lossy\"\n{}", with("1MB")), ..PLAIN }
        .warnings()
        .iter()
        .for_each(|warning| assert!(!warning.contains("starts to mark"), "{warning}"));
}

#[test]
fn a_threshold_beyond_the_pool_gets_a_warning() {
    let with = |alpha: &str| {
        format!("flow-control.pfc = {{ xoff = {{ alpha = {alpha} }} }}\nbuffer.shared = {{ pool = \"9MB\" }}")
    };
    Line { defaults: &with("8"), ..PLAIN }.warns_of(&[
        "defaults.flow-control.pfc: ",
        "its threshold is 72MB while the pool is free, beyond the 9MB of the pool itself: a port alone is paused when it has 8MB",
    ]);
    Line { defaults: &with("1"), ..PLAIN }.has_no_warning();
}

#[test]
fn a_link_that_comes_up_again_needs_room_for_it() {
    let flap = |control: &str, buffer: &str| {
        format!(
            "flow-control.{control}\nbuffer.static.size = \"{buffer}\"\nfaults.down = {{ from = \"1ms\", to = \"2ms\" }}"
        )
    };
    // 1 us at 100G and two frames and a pause: 15,720 B there and back, once for the pause and once for the
    // restart.
    let short = flap("pfc = { xoff = \"100KB\" }", "117KB");
    Line { trunk: &short, ..PLAIN }.warns_of(&[
        "line.toml:11: trunk.faults.down: ",
        " and 1 more: the link comes up again once, and each time up to ",
        " may arrive before its sender is paused: a full buffer of 117KB may overflow; ",
    ]);
    Line { trunk: &flap("pfc = { xoff = \"100KB\" }", "135KB"), ..PLAIN }.has_no_warning();
    Line { trunk: &short.replace("\"2ms\"", "\"20ms\""), ..PLAIN }.has_no_warning();
    Line { length: "80km", trunk: &flap("bifrost = {}", "12MB"), ..PLAIN }
        .warns_of(&["faults.down", " may arrive before its sender is paused"]);
    Line { length: "80km", trunk: &flap("cbfc = {}", "11MB"), ..PLAIN }.has_no_warning();
}

#[test]
fn the_size_that_a_warning_of_a_restart_names_is_enough() {
    let with = |size: &str| {
        format!(
            "flow-control.bifrost = {{}}\nbuffer.static.size = \"{size}\"\nfaults.down = {{ from = \"1ms\", to = \"2ms\" }}"
        )
    };
    // A larger buffer raises Bifrost's level, too.
    let warnings = Line { length: "80km", trunk: &with("auto"), ..PLAIN }.warnings();
    let [warning] = &warnings[..] else { panic!("{warnings:#?}") };
    let size = warning
        .split("may overflow; ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .expect("it names a size");
    Line { length: "80km", trunk: &with(size), ..PLAIN }.has_no_warning();
}

#[test]
fn casl_beside_go_back_n_gets_a_warning() {
    let with = |reliability: &str| {
        format!("reliability = \"{reliability}\"\nrate-control = \"dcqcn\"\ncongestion-point = \"casl\"")
    };
    let warned = Line { defaults: &with("go-back-n"), ..PLAIN }.warnings();
    let of_losses: Vec<_> =
        warned.iter().filter(|warning| warning.contains("drops packets of congested flows")).collect();
    assert_eq!(of_losses.len(), 1, "{warned:#?}");
    assert!(of_losses[0].contains("\"go-back-n\" retransmits all that follow a dropped one: choose \"irn\""));
    let warned = Line { defaults: &with("irn"), ..PLAIN }.warnings();
    assert!(
        !warned.iter().any(|warning| warning.contains("drops packets of congested flows")),
        "{warned:#?}"
    );
}

#[test]
fn rcm_on_a_lossy_link_gets_a_warning() {
    let with = |more: &str| format!("congestion-point = \"rcm\"\nbuffer = \"ioq\"\n{more}");
    let lossy = |warning: &&String| warning.contains("\"rcm\" holds flows back at the upstream switch");
    let count = |line: &Line<'_>| line.warnings().iter().filter(lossy).count();
    assert_eq!(count(&Line { defaults: &with("flow-control = \"lossy\""), ..PLAIN }), 1);
    assert_eq!(count(&Line { defaults: &with(""), trunk: "flow-control = \"lossy\"", ..PLAIN }), 1);
    assert_eq!(count(&Line { defaults: &with(""), ..PLAIN }), 0);
}

#[test]
fn headroom_is_short_only_where_the_buffer_does_not_make_up_for_it() {
    let headroom = |size: &str| {
        format!(
            "flow-control.pfc = {{ xoff = \"100KB\", headroom = \"1KB\" }}\nbuffer.static.size = \"{size}\""
        )
    };
    let warnings = Line { defaults: &headroom("102078B"), ..PLAIN }.warnings();
    let expected =
        |warning: &String| warning.contains("headroom of 1KB is ") && warning.contains(" of its formula");
    assert!(warnings.len() == 2 && warnings.iter().all(expected), "{warnings:#?}");
    Line { defaults: &headroom("1MB"), ..PLAIN }.has_no_warning();
}

#[test]
fn the_sizes_of_ports_say_how_long_an_upstream_may_take_to_obey() {
    let reacts = |defaults: &str| {
        let report = check(&Line { defaults, ..PLAIN }.scenario(), false);
        let column = report.text().lines().find(|line| line.starts_with("ingress ports")).map(str::to_owned);
        assert!(column.is_some_and(|line| line.contains(" react ")));
        assert_eq!(report.notes, [""; 0], "what sizes assume is beside them, not at the end");
        report.ports.iter().map(|port| port.react.map(floodway_units::Span::as_us)).collect::<Vec<_>>()
    };
    assert!(reacts("").iter().all(|react| *react == Some(0.0)));
    // 394 quanta of 512 bits at 100 Gbit/s (802.3, 31B.3.7).
    let standard = reacts("flow-control.pfc = { react = \"ieee-802.3\" }");
    assert!(standard.iter().all(|react| *react == Some(2.01728)), "{standard:?}");
    assert!(reacts("flow-control = \"cbfc\"").iter().all(Option::is_none));
}

#[test]
fn messages_that_no_port_limits_get_a_warning_and_telemetry_beside_them_is_refused() {
    let warnings = |defaults| Line { defaults, ..PLAIN }.warnings();
    let limited = warnings("rate-control = \"expresspass\"\ncongestion-point = \"expresspass\"");
    assert!(!limited.iter().any(|line| line.contains("asks for more")), "{limited:?}");
    let free = warnings("rate-control = \"expresspass\"");
    let expected = "\"expresspass\" asks for more than links carry: no port has a congestion-point, such as \"expresspass\", that limits";
    assert!(free.iter().any(|line| line.contains(expected)), "{free:?}");
    let text = LINE
        .replace("LENGTH", "100m")
        .replace("DEFAULTS", "rate-control = [\"hpcc\", \"expresspass\"]")
        .replace("TRUNK", "rate = \"100G\"");
    let errors = Scenario::from_text("line.toml", &text, &[]).map(|_| ()).unwrap_err().to_string();
    let refused = "line.toml:5: defaults.rate-control: \"hpcc\" needs telemetry and \"expresspass\" messages of its own";
    assert!(errors.contains(refused), "{errors}");
}

/// A flow control from outside the tree, which pauses as PFC does and knows nothing of headroom.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "OwnPauses")]
struct OwnPauses {
    sets_aside: Option<Bytes>,
}

impl FlowControl for OwnPauses {
    type Sender = <pfc::Params as FlowControl>::Sender;
    type Receiver = <pfc::Params as FlowControl>::Receiver;

    fn build(&self, link: &LinkInfo) -> Result<(Self::Sender, Self::Receiver), ParamError> {
        pfc::Params::default().build(link)
    }

    fn min_buffer(&self, link: &LinkInfo) -> Bytes {
        pfc::Params::default().min_buffer(link)
    }

    fn min_buffer_formula(&self) -> &'static str {
        "as PFC"
    }

    fn headroom(&self, _link: &LinkInfo) -> Bytes {
        self.sets_aside.unwrap_or_default()
    }

    fn lossless_size(&self, _link: &LinkInfo) -> Bytes {
        Bytes::kb(60)
    }
}

#[test]
fn the_warning_for_a_flow_control_without_a_key_headroom_does_not_name_it() {
    FlowControlParams::register::<OwnPauses>("own-pauses", "").expect("the name is free");
    let own = |sets_aside| Line { defaults: sets_aside, ..PLAIN }.warnings();
    let warnings = own("flow-control = \"own-pauses\"\nbuffer.shared.pool = \"4MB\"");
    let found =
        warnings.iter().filter(|warning| warning.contains("flow-control.own-pauses: ")).collect::<Vec<_>>();
    let [one] = found[..] else { panic!("{warnings:#?}") };
    assert!(one.starts_with("line.toml:5: defaults.flow-control.own-pauses: "), "{one}");
    let expected = "it reserves 0B of the shared pool, 60KB below the 60KB of its `lossless_size`: let its `headroom` return that";
    assert!(one.ends_with(expected), "{one}");
    assert!(!warnings.iter().any(|warning| warning.contains("own-pauses.headroom")), "{warnings:#?}");
    let enough = own("flow-control.own-pauses.sets-aside = \"60KB\"\nbuffer.shared.pool = \"4MB\"");
    assert!(!enough.iter().any(|warning| warning.contains("aside")), "{enough:#?}");
}

#[test]
fn faults_after_the_end_of_the_run_have_no_effect() {
    let down = |from: &str| {
        format!("faults.down = [{{ from = \"1ms\", to = \"2ms\" }}, {{ from = \"{from}\", to = \"99ms\" }}]")
    };
    let late = down("10ms");
    let warnings = Line { trunk: &late, ..PLAIN }.warnings();
    let due = "line.toml:9: trunk.faults.down: 10ms is after the end of the run, at 10ms at the latest: it has no effect";
    assert!(warnings.iter().any(|warning| warning == due), "{warnings:#?}");
    let in_time = down("9ms");
    assert!(
        !Line { trunk: &in_time, ..PLAIN }.warnings().iter().any(|warning| warning.contains("after the end"))
    );
    let other = "faults.switchover = { at = \"11ms\", length = \"2km\" }";
    Line { trunk: other, ..PLAIN }.warns_of(&["trunk.faults.switchover: 11ms is after the end of the run"]);
}

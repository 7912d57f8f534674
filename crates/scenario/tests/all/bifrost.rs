//! Bifrost in scenarios: what is accepted, the summary, and errors.

use crate::long_haul::{long_haul_ports, refused, scenario, text};
use floodway_fabric::{Control, Fabric};
use floodway_scenario::check;

const OWN_BUFFER: &str = "flow-control.bifrost = {}\nbuffer.static = { size = \"42MB\" }";

/// Of a round trip of 80 km at 400 Gbit/s: both delays, two frames of 1078 bytes, a pause frame.
const DELTA: u64 = 40_000_000 + 2 * 1_078 + 64;
const FULL: u64 = 500_000;
/// k + N + 1 frames.
const SLACK: u64 = (1 + 81 + 1) * 1_078;

#[test]
fn an_override_gives_the_long_link_a_level_that_fits_its_buffer() {
    let scenario = scenario(&text(80, OWN_BUFFER));
    assert_eq!(scenario.warnings(), [""; 0]);
    let ports = long_haul_ports(&scenario);
    let [port] = &ports[..] else { panic!("{ports:?}") };
    assert_eq!((port.count, port.flow_control, port.buffer_bytes), (2, Some("bifrost"), Some(42_000_000)));
    assert_eq!(port.level_bytes, Some(DELTA + 3 * FULL));
    assert_eq!(port.min_buffer_bytes, Some(DELTA + 2 * FULL + SLACK));
    // Neither threshold nor headroom: those are PFC's.
    assert_eq!((port.threshold_bytes, port.headroom_bytes, port.headroom_formula_bytes), (None, 0, None));
    assert_eq!(port.bdp_bytes, 40_000_000);
}

#[test]
fn an_automatic_buffer_is_the_least_one() {
    let port = &long_haul_ports(&scenario(&text(80, "flow-control = \"bifrost\"\nbuffer = \"static\"")))[0];
    assert_eq!(port.buffer_bytes, port.min_buffer_bytes);
    assert_eq!(port.level_bytes, Some(DELTA + 2 * FULL));
}

#[test]
fn the_summarys_table_shows_level_and_least_buffer_and_no_headroom() {
    let text = check(&scenario(&text(80, OWN_BUFFER)), false).text();
    let row = text.lines().find(|line| line.starts_with("dci from long-haul")).expect("it is there");
    let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let expected = [
        "dci from long-haul",
        "2",
        "3",
        "bifrost",
        "0ns",
        "42MB (1.05 BDP)",
        "41.092MB",
        "level 41.502MB (1.04 BDP)",
        "-",
        "-",
        "40MB",
    ];
    assert_eq!(cells, expected);
}

#[test]
fn one_direction_may_have_bifrost_and_the_other_pfc() {
    let both = format!(
        "flow-control.pfc = {{ xoff = \"auto\" }}\nbuffer.static = {{ size = \"84MB\" }}\n\
         [[override]]\nname = \"there\"\nlinks = {{ tag = \"long-haul\" }}\ndirection = \"x1>x2\"\n{OWN_BUFFER}"
    );
    let scenario = scenario(&text(80, &both));
    assert_eq!(scenario.warnings(), [""; 0]);
    let named: Vec<_> = long_haul_ports(&scenario)
        .iter()
        .map(|port| (port.count, port.flow_control, port.buffer_bytes))
        .collect();
    assert_eq!(named, [(1, Some("pfc"), Some(84_000_000)), (1, Some("bifrost"), Some(42_000_000))]);
}

#[test]
fn its_links_have_timers_in_a_run_whose_pauses_are_on_off() {
    let scenario = scenario(&format!("wire = \"hpcc-ns3\"\n{}", text(80, OWN_BUFFER)));
    assert_eq!(scenario.warnings(), [""; 0]);
    let control = Control::default();
    let records = Fabric::build(scenario.blueprint(), &control).expect("it is sound").run();
    assert_eq!(records.outcome.drops.iter().map(|(_, packets)| packets).sum::<u64>(), 0);
}

#[test]
fn on_off_is_refused_with_the_reason() {
    let own = |parameters: &str| {
        format!("flow-control.bifrost = {parameters}\nbuffer.static = {{ size = \"42MB\" }}")
    };
    assert_eq!(
        refused(&own("{ pause = \"on-off\" }")),
        "a.toml:8: long-haul.flow-control.bifrost.pause: x1 (x1-x2) and 1 more: \"on-off\" cannot carry Bifrost: its \
         frames carry the length of the pause, and nothing else ends a pause; allowed: \"timer\""
    );
    assert!(!scenario(&text(80, &own("{ pause = \"timer\" }"))).name().is_empty());
}

#[test]
fn what_does_not_fit_the_link_is_refused_at_its_line() {
    let own = |parameters: &str| {
        format!("buffer.static = {{ size = \"42MB\" }}\nflow-control.bifrost = {parameters}")
    };
    for (parameters, key, why) in [
        ("{ slot = \"400us\" }", "slot", "and the link's one-way delay of 400us"),
        ("{ slot = \"1us\" }", "slot", "between the 1us that switch and MAC take"),
        ("{ slot = \"90us\" }", "slot", "a frame can carry at most 65535"),
        ("{ level = \"41MB\" }", "level", "is 2.22KB short of Delta + 2 Rs T = 41002.22KB"),
        ("{ leak-period = 0 }", "leak-period", "the minimum is 1"),
    ] {
        let error = refused(&own(parameters));
        assert!(error.starts_with(&format!("a.toml:9: long-haul.flow-control.bifrost.{key}: ")), "{error}");
        assert!(error.contains(why), "{error}");
    }
    let error = refused(&own("{ f-mode = \"ledgr\" }"));
    assert!(error.contains("a.toml:9") && error.contains("did you mean \"ledger\"?"), "{error}");
    let pooled = refused("flow-control.bifrost = {}");
    assert!(
        pooled.contains("a.toml:8: long-haul.flow-control.bifrost") && pooled.contains("buffer.static"),
        "{pooled}"
    );
}

#[test]
fn a_buffer_that_is_too_small_is_a_warning_with_the_formula() {
    let small = OWN_BUFFER.replace("42MB", "41MB");
    let scenario = scenario(&text(80, &small));
    let [warning] = scenario.warnings() else { panic!("{:?}", scenario.warnings()) };
    assert!(warning.starts_with("a.toml:9: long-haul.buffer: "), "{warning}");
    assert!(
        warning.contains("flow control \"bifrost\" asks for: Delta + 2 Rs T + (k + N + 1) MTU"),
        "{warning}"
    );
    assert!(warning.contains("the buffer of 41MB is 91.694KB short of the 41091.694KB"), "{warning}");
    // The level is not taken below what the theorem needs.
    assert_eq!(long_haul_ports(&scenario)[0].level_bytes, Some(DELTA + 2 * FULL));
}

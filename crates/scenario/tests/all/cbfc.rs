//! Credits in scenarios: what is accepted, the summary, warnings and errors.

use crate::long_haul::{long_haul_ports, refused, scenario, text};
use floodway_fabric::{Control, Fabric};

fn own(flow_control: &str) -> String {
    format!("flow-control.cbfc = {flow_control}\nbuffer.static = {{ size = \"42MB\" }}")
}

#[test]
fn an_override_gives_the_long_link_credits_and_the_summary_their_least_buffer() {
    let scenario = scenario(&text(80, &own("{}")));
    assert_eq!(scenario.warnings(), [""; 0]);
    let ports = long_haul_ports(&scenario);
    let [port] = &ports[..] else { panic!("{ports:?}") };
    assert_eq!((port.count, port.flow_control, port.buffer_bytes), (2, Some("cbfc"), Some(42_000_000)));
    // R (2 D + 10 us) + 4 frames of 1098 bytes and a message of 84.
    assert_eq!(port.min_buffer_bytes, Some(40_500_000 + 4 * 1_098 + 84));
    assert_eq!((port.threshold_bytes, port.level_bytes, port.headroom_bytes), (None, None, 0));
}

#[test]
fn an_automatic_buffer_is_that_of_the_full_rate() {
    let port = &long_haul_ports(&scenario(&text(80, "flow-control = \"cbfc\"\nbuffer = \"static\"")))[0];
    assert_eq!(port.buffer_bytes, port.min_buffer_bytes);
}

#[test]
fn a_smaller_buffer_gets_a_warning_and_works() {
    let short = text(80, "flow-control = \"cbfc\"\nbuffer.static = { size = \"4MB\" }");
    let scenario = scenario(&short);
    let [warning] = scenario.warnings() else { panic!("{:?}", scenario.warnings()) };
    assert!(
        warning.contains(
            "short of the 40504.476KB that flow control \"cbfc\" asks for: R (round trip + P) + 4 W + 84"
        ),
        "{warning}"
    );
    let control = Control::default();
    let records = Fabric::build(scenario.blueprint(), &control).expect("it is sound").run();
    assert_eq!(records.outcome.drops.iter().map(|(_, packets)| packets).sum::<u64>(), 0);
}

#[test]
fn a_link_that_is_too_long_for_infiniband_is_warned_of() {
    let scenario = scenario(&text(80, &own("{ mode = \"infiniband\" }")));
    assert_eq!(
        scenario.warnings(),
        [
            "a.toml:8: long-haul.flow-control.cbfc: x1 (x1-x2) and 1 more: InfiniBand's counters of 12 bits hold 2048 \
          blocks of 64 B, and 131.072KB of credit last for 0.26 km at 400G: on 80 km the link gets 0.3 to 0.3 % of \
          its rate; mode = \"ideal\" has no such limit"
        ]
    );
}

#[test]
fn a_pool_a_tiny_buffer_and_malformed_times_are_refused_at_their_lines() {
    let error = refused("flow-control = \"cbfc\"");
    assert_eq!(
        error,
        "a.toml:8: long-haul.flow-control.cbfc: x1 (x1-x2) and 1 more: cbfc needs a dedicated buffer per port \
         (buffer.static), not a shared pool"
    );
    let error = refused("flow-control.cbfc = {}\nbuffer.static = { size = \"1KB\" }");
    assert!(error.starts_with("a.toml:8: long-haul.flow-control.cbfc: "), "{error}");
    assert!(error.contains("it needs 1.098KB at least, and 40504.476KB for the full rate"), "{error}");
    for (parameters, key, why) in [
        (
            "{ period = \"0us\" }",
            "period",
            "a message takes 1.68ns at 400G, and the period must be at least that",
        ),
        ("{ on-change = \"0B\" }", "on-change", "give at least 1B, or leave it out"),
    ] {
        let error = refused(&own(parameters));
        assert!(error.starts_with(&format!("a.toml:8: long-haul.flow-control.cbfc.{key}: ")), "{error}");
        assert!(error.contains(why), "{error}");
    }
    let error = refused(&own("{ mode = \"infinband\" }"));
    assert!(error.contains("infiniband"), "{error}");
}

#[test]
fn all_links_may_have_credits() {
    let all =
        text(8, "").replace("flow-control.pfc = { xoff = { alpha = 0.25 } }", "flow-control = \"cbfc\"");
    let all = all.replace("buffer.shared = { pool = \"10MB\", reserve = \"288KB\" }", "buffer = \"static\"");
    let all = all.replace("[[override]]\nname = \"long-haul\"\nlinks = { tag = \"long-haul\" }\n", "");
    let scenario = scenario(&all);
    assert_eq!(scenario.warnings(), [""; 0]);
    let control = Control::default();
    let records = Fabric::build(scenario.blueprint(), &control).expect("it is sound").run();
    assert_eq!(format!("{:?}", records.outcome.stopped), "Finished");
    assert_eq!(records.outcome.drops.iter().map(|(_, packets)| packets).sum::<u64>(), 0);
}

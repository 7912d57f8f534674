//! The worked example of docs/add-a-mechanism.md: a congestion point from outside the tree, in a network.

#[path = "worked_example/standing.rs"]
mod standing;

use floodway_fabric::{Control, Fabric, Records, Values};
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::Detection;
use floodway_scenario::Scenario;
use floodway_units::PortId;

/// A flow of `size` bytes from 100 to 25 Gbit/s, whose window keeps a queue of some 180 KB as long as it
/// lasts.
fn scenario(size: &str) -> Scenario {
    let text = format!(
        r#"
        topology.dumbbell = {{ left = 1, right = 1, rate = "100G", delay = "1us", bottleneck = {{ rate = "25G" }} }}
        defaults.rate-control.static-window = {{ size = "200KB" }}
        workload = [{{ name = "flow", flows = [{{ from = "h1", to = "h2", size = "{size}" }}] }}]
        "#
    );
    Scenario::from_text("example.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The marks of a run with the mechanism at the port before the bottleneck.
fn marks(scenario: &Scenario, params: &standing::Params) -> u64 {
    let blueprint = scenario.blueprint();
    let link = blueprint.links.iter().position(|link| link.name == "s1-s2").expect("a dumbbell has it");
    let port = PortId(2 * link as u32);
    let info = blueprint.port_info(port);
    let point = AnyCongestionPoint::Custom(Box::new(params.build(&info).unwrap()));

    let control = Control::default();
    let mut fabric = Fabric::build(blueprint, &control).unwrap();
    fabric.add_congestion_point(port, point).unwrap();
    counted(&fabric.run())
}

fn counted(records: &Records) -> u64 {
    match records.counters.column("ecn_marks") {
        Some(Values::U64(marks)) => marks.iter().sum(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_burst_passes_and_a_standing_queue_is_marked() {
    let patient = standing::Params::default();
    // 100 KB leave in 35 us.
    assert_eq!(marks(&scenario("100KB"), &patient), 0);
    // Of 2000 packets, those of the first 100 us are not marked, and the last, at 25 Gbit/s and 1082 bytes or
    // a little more each, those that leave 15,625 bytes or less behind.
    let unmarked = 2_000 - marks(&scenario("2MB"), &patient);
    assert!((290..=320).contains(&unmarked), "{unmarked}");
}

#[test]
fn parameters_are_read_as_scenarios_spell_them() {
    let params: standing::Params =
        serde_json::from_str(r#"{ "threshold": "10KB", "patience": "50us" }"#).unwrap();
    assert!(marks(&scenario("2MB"), &params) > marks(&scenario("2MB"), &standing::Params::default()));
    let error = serde_json::from_str::<standing::Params>(r#"{ "treshold": "10KB" }"#).unwrap_err();
    assert!(error.to_string().contains("expected `threshold` or `patience`"), "{error}");
}

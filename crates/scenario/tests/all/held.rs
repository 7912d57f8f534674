//! Runs whose invariants hold.

use floodway_fabric::outcome::{Invariants, Verdict};
use floodway_fabric::{Control, Fabric, Records};
use floodway_scenario::Scenario;

/// The scenario of a text.
pub fn scenario(text: &str) -> Scenario {
    Scenario::from_text("a.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Runs the scenario of a text.
pub fn run(text: &str) -> Records {
    let scenario = scenario(text);
    let control = Control::default();
    let records =
        Fabric::build(scenario.blueprint(), &control).unwrap_or_else(|error| panic!("{error}")).run();
    let Invariants { conservation, buffers, destinations, slowdown } = &records.outcome.invariants;
    assert_eq!([conservation, buffers, destinations, slowdown], [&Verdict::Holds; 4]);
    records
}

//! Properties of everything that is read: refused in single lines with a place, or fit to be checked, built
//! and run.

use std::sync::atomic::Ordering;
use std::time::Duration;

use floodway_fabric::blueprint::Arrivals;
use floodway_fabric::outcome::Verdict;
use floodway_fabric::{Blueprint, Control, Fabric};
use floodway_scenario::{Scenario, ScenarioErrors, Source, check};
use floodway_units::Time;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// What messages call the scenario.
pub const NAME: &str = "a.toml";
/// A run that takes so long never ends: the work of each is bounded by [`WORK`].
const MOST: Duration = Duration::from_secs(600);
/// About as many frames and flows make a short run.
const WORK: f64 = 20_000.0;

/// Reads something, and looks at what comes of it.
pub fn judge(
    read: impl FnOnce() -> Result<Scenario, ScenarioErrors>,
) -> Result<Option<Scenario>, TestCaseError> {
    Ok(match read() {
        Ok(scenario) => {
            fit(&scenario)?;
            Some(scenario)
        }
        Err(errors) => {
            prop_assert!(!errors.0.is_empty());
            for error in &errors.0 {
                check_error(&error.to_string())?;
                prop_assert!(!error.place.file.is_empty(), "{error}");
            }
            prop_assert_eq!(errors.to_string().lines().count(), errors.0.len());
            None
        }
    })
}

/// An error is a line that says where and what.
fn check_error(error: &str) -> Result<(), TestCaseError> {
    prop_assert!(
        !error.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')),
        "{error:?}"
    );
    let place = error.split(": ").next().unwrap_or_default();
    prop_assert!(!place.is_empty() && place.len() < error.trim_end().len(), "{error}");
    for word in ["panicked", "unwrap", "called `"] {
        prop_assert!(!error.contains(word), "{error}");
    }
    Ok(())
}

/// What was accepted can be shown, built, written down and read again.
fn fit(scenario: &Scenario) -> Result<(), TestCaseError> {
    let report = check(scenario, true);
    prop_assert!(!report.text().is_empty());
    prop_assert!(!scenario.resolved_json().is_empty());
    for warning in scenario.warnings() {
        check_error(warning)?;
    }
    let control = Control::default();
    if let Err(error) = Fabric::build(scenario.blueprint(), &control) {
        return Err(TestCaseError::fail(format!("accepted, but not built: {error}")));
    }
    let written = scenario.written_json();
    let source = Source { name: scenario.file(), text: &written, ..source() };
    let again = Scenario::from_json(source);
    prop_assert!(again.is_ok(), "what was read cannot be read again: {:?}\n{written}", again.err());
    Ok(())
}

/// A source of nothing.
pub fn source() -> Source<'static> {
    Source {
        name: NAME,
        text: "",
        folder: std::path::Path::new(env!("CARGO_TARGET_TMPDIR")),
        sets: &[],
        tables: None,
    }
}

/// Runs the first moments: to the end, with all invariants.
pub fn run(scenario: &Scenario) -> Result<(), TestCaseError> {
    let mut blueprint = scenario.blueprint().clone();
    blueprint.end.limit = Time(blueprint.end.limit.0.min(moments(&blueprint)).max(1));
    let control = Control::default();
    let fabric =
        Fabric::build(&blueprint, &control).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let (outcome, interrupted) = std::thread::scope(|scope| {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let stop = &control.stop;
        let watch = scope.spawn(move || {
            let late =
                wait.recv_timeout(MOST).is_err_and(|why| why == std::sync::mpsc::RecvTimeoutError::Timeout);
            stop.store(late, Ordering::Relaxed);
            late
        });
        let outcome = fabric.run().outcome;
        drop(done);
        (outcome, watch.join().expect("the watch does not panic"))
    });
    prop_assert!(!interrupted, "the run did not end");
    let invariants = [
        &outcome.invariants.conservation,
        &outcome.invariants.buffers,
        &outcome.invariants.destinations,
        &outcome.invariants.slowdown,
    ];
    prop_assert_eq!(invariants, [&Verdict::Holds; 4]);
    Ok(())
}

/// Picoseconds that a short run may take: 20 us, or less where frames or flows follow each other closely.
fn moments(blueprint: &Blueprint) -> u64 {
    let frame = (blueprint.mtu.0 + 64) as f64 * 8.0;
    let frames: f64 = blueprint
        .links
        .iter()
        .flat_map(|link| &link.directions)
        .map(|direction| direction.rate.0 as f64 / frame / 1e12)
        .sum();
    let flows = |arrivals: &Arrivals| match arrivals {
        Arrivals::Poisson(poisson) => poisson.sources.len() as f64 / poisson.mean_gap.0 as f64,
        Arrivals::List(_) | Arrivals::ClosedLoop(_) | Arrivals::Program(_) => 0.0,
    };
    let flows: f64 = blueprint.workloads.iter().map(|workload| flows(&workload.arrivals)).sum();
    (WORK / (frames + flows)).min(20e6) as u64
}

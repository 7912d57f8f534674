//! Input-output queued switches in scenarios: the summary, errors, and that they work beside others.

use std::path::Path;

use floodway_fabric::outcome::Verdict;
use floodway_fabric::{Control, Fabric, Records};
use floodway_scenario::{Report, Scenario, check};

fn ready(name: &str, sets: &[(&str, &str)]) -> Result<Scenario, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.toml"));
    let sets: Vec<(String, String)> =
        sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scenario::from_path(&path, &sets).map_err(|errors| errors.to_string())
}

fn run(scenario: &Scenario) -> Records {
    let control = Control::default();
    let records = Fabric::build(scenario.blueprint(), &control).expect("it is sound").run();
    let invariants = &records.outcome.invariants;
    assert_eq!((&invariants.conservation, &invariants.buffers), (&Verdict::Holds, &Verdict::Holds));
    assert_eq!(invariants.slowdown, Verdict::Holds);
    records
}

/// XOFF fills what headroom leaves of each VOQ.
const IOQ: (&str, &str) = ("defaults.buffer", "\"ioq\"");
const PFC: (&str, &str) = ("defaults.flow-control", "\"pfc\"");

#[test]
fn the_summary_shows_queues_and_crossbars() {
    let scenario = ready("demo", &[IOQ, PFC]).expect("it is sound");
    assert!(
        matches!(scenario.warnings(), [one] if one.contains("SWING, Eq. 4")),
        "{:?}",
        scenario.warnings()
    );
    let report: Report = check(&scenario, false);
    let tor = report.ports.iter().find(|port| port.kind == "tor from host-tor").expect("there are ToR");
    assert_eq!((tor.by_output, tor.buffer_bytes), (true, Some(100_000)));
    assert_eq!(tor.threshold_bytes, Some(100_000 - tor.headroom_bytes - 1077));
    // The long link's port keeps the buffer of its own that an override gives it.
    assert_eq!((report.ports[0].by_output, report.ports[0].buffer_bytes), (false, Some(42_000_000)));
    let tors = report.crossbars.iter().find(|group| group.kind == "tor").expect("there are ToR");
    assert_eq!((tors.count, tors.voq_bytes, tors.output_bytes), (16, 100_000, 100_000));
    let text = report.text();
    assert!(text.contains("100KB per VOQ"), "{text}");
    assert!(text.contains("\ncrossbars  switches  VOQ    output queue  speed-up\n"), "{text}");
}

#[test]
fn crossbars_work_beside_long_links_with_buffers_of_their_own() {
    for flow_control in ["pfc = {}", "swing = {}", "bifrost = {}"] {
        let long_haul = ("long-haul.flow-control", format!("{{ {flow_control} }}"));
        // XOFF and headroom of a relay's cable at 400G need more than 100 KB.
        let roomy = ("defaults.buffer", "{ ioq = { voq = \"200KB\" } }");
        let sets = [roomy, PFC, (long_haul.0, long_haul.1.as_str()), ("workload.hadoop.until", "300us")];
        let records = run(&ready("demo", &sets).unwrap_or_else(|error| panic!("{flow_control}: {error}")));
        assert!(records.outcome.lossless.is_held(), "{flow_control}");
        assert!(records.outcome.workloads[0].finished > 30, "{flow_control}");
    }
}

#[test]
fn what_does_not_fit_is_refused_or_warned_of() {
    let refused = |value: &str| match ready("demo", &[("defaults.buffer", value), PFC]) {
        Ok(_) => panic!("{value} is taken"),
        Err(message) => message,
    };
    let message = refused("{ ioq = { output = \"1000B\" } }");
    assert!(
        message.contains("defaults.buffer.ioq.output") && message.contains("1KB has no room for a frame"),
        "{message}"
    );
    let message = refused("{ ioq = { speed-up = 20 } }");
    assert!(
        message.contains("ioq.speed-up") && message.contains("20 is not a number from 1 to 16"),
        "{message}"
    );
    let message = refused("{ ioq = { voq = \"20KB\" } }");
    assert!(message.contains("does not fit: the buffer has 20KB"), "{message}");
    let message = refused("{ ioq = { speedup = 2 } }");
    assert!(message.contains("did you mean \"speed-up\""), "{message}");
    let red = ("defaults.congestion-point", "{ red = { kmin = \"400KB\", kmax = \"1600KB\" } }");
    let scenario = ready("demo", &[IOQ, PFC, red]).expect("it is odd");
    let never = "looks at queues beyond 400KB, and an output queue behind the crossbar holds 100KB";
    assert!(scenario.warnings().iter().any(|warning| warning.contains(never)), "{:?}", scenario.warnings());
    let rcm = ("defaults.congestion-point", "{ rcm = { equilibrium = \"100KB\" } }");
    let scenario = ready("demo", &[IOQ, PFC, rcm]).expect("it is odd");
    let never = "looks at queues beyond 100KB, and an output queue behind the crossbar holds 100KB";
    assert!(scenario.warnings().iter().any(|warning| warning.contains(never)), "{:?}", scenario.warnings());
    let scenario =
        ready("demo", &[IOQ, ("defaults.flow-control", "{ pfc = { xoff = \"90KB\" } }")]).expect("it is odd");
    assert!(scenario.warnings()[0].contains("the buffer of 100KB is"), "{:?}", scenario.warnings());
}

#[test]
fn adaptive_routing_without_reports_of_congestion_gets_a_warning() {
    let sar = ("defaults.routing", "\"sar\"");
    let never = "\"sar\" never moves a flow: no port has a congestion-point, such as \"rcm\", that reports how congested it is";
    let scenario = ready("demo", &[sar]).expect("it is odd");
    assert!(scenario.warnings()[0].contains(never), "{:?}", scenario.warnings());
    let scenario = ready("demo", &[sar, ("defaults.congestion-point", "\"rcm\"")]).expect("it is sound");
    assert!(!scenario.warnings().iter().any(|warning| warning.contains(never)), "{:?}", scenario.warnings());
}

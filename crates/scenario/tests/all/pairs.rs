//! Every flow control beside every congestion scheme: it builds and keeps its invariants, or is refused with
//! a reason.

use floodway_fabric::outcome::Verdict;
use floodway_fabric::{Control, Fabric, Records};
use floodway_mechanisms::registry::{CongestionPointParams, FlowControlParams, ReactionParams};
use floodway_scenario::Scenario;

/// Two datacenters 20 km apart: an incast over the long link, a second one within, and a flow beside each.
const NETWORK: &str = r#"
limit = "40ms"
mtu = "1000B"
topology.two-dc = { fabric.leaf-spine = { leaves = 2, spines = 2, hosts = 2 }, rate = "100G", delay = "2us", long-link = { rate = "100G", length = "20km" } }
[[override]]
name = "long-haul"
links = { tag = "long-haul" }
buffer.static = { size = "auto" }
[[workload]]
name = "between"
burst = { from = ["h1", "h2", "h3"], to = "h5", size = "100KB" }
[[workload]]
name = "within"
burst = { from = ["h6", "h7", "h8"], to = "h5", size = "60KB" }
[[workload]]
name = "beside"
flows = [{ from = "h4", to = "h6", size = "200KB" }, { from = "h8", to = "h7", size = "100KB" }]
"#;

/// A scheme: its name, and what it sets.
type Scheme = (&'static str, &'static [(&'static str, &'static str)]);

const IRN: (&str, &str) = ("defaults.reliability", "\"irn\"");

/// Each congestion point with a rate control that reacts to it, and each rate control with what it reacts to.
const SCHEMES: [Scheme; 20] = [
    ("none", &[("defaults.rate-control", "\"line-rate\"")]),
    ("window", &[("defaults.rate-control", "{ static-window = { size = \"100KB\" } }")]),
    ("dcqcn", &[("defaults.congestion-point", "\"red\""), ("defaults.rate-control", "\"dcqcn\"")]),
    ("proxy", &[("defaults.congestion-point", "\"proxy-cnp\""), ("defaults.rate-control", "\"dcqcn\"")]),
    ("dctcp", &[("defaults.congestion-point", "\"red\""), ("defaults.rate-control", "\"dctcp\"")]),
    ("timely", &[("defaults.rate-control", "\"timely\"")]),
    ("hpcc", &[("defaults.rate-control", "\"hpcc\"")]),
    ("swift", &[("defaults.rate-control", "\"swift\"")]),
    ("powertcp", &[("defaults.rate-control", "\"powertcp\"")]),
    (
        "expresspass",
        &[("defaults.congestion-point", "\"expresspass\""), ("defaults.rate-control", "\"expresspass\"")],
    ),
    (
        "mercury",
        &[
            ("defaults.congestion-point", "\"mercury\""),
            ("defaults.rate-control", "[\"dcqcn\", \"mercury\"]"),
        ],
    ),
    ("tcd", &[("defaults.congestion-point", "\"tcd\""), ("defaults.rate-control", "\"dcqcn\"")]),
    ("pacc", &[("defaults.congestion-point", "\"pacc\""), ("defaults.rate-control", "\"dcqcn\"")]),
    (
        "rcm",
        &[
            ("defaults.congestion-point", "[\"red\", \"rcm\"]"),
            ("defaults.rate-control", "\"dcqcn\""),
            ("defaults.routing", "\"sar\""),
        ],
    ),
    ("casl", &[("defaults.congestion-point", "\"casl\""), ("defaults.rate-control", "\"dcqcn\""), IRN]),
    ("bfc", &[("defaults.congestion-point", "\"bfc\"")]),
    ("nscc", &[("defaults.rate-control", "\"nscc\""), ("defaults.reliability", "\"uet\"")]),
    ("rccc", &[("defaults.rate-control", "\"rccc\""), ("defaults.reliability", "\"uet\"")]),
    (
        "themis-pnp",
        &[("defaults.congestion-point", "[\"red\", \"themis-pnp\"]"), ("defaults.rate-control", "\"dcqcn\"")],
    ),
    (
        "themis-trp",
        &[("defaults.congestion-point", "[\"red\", \"themis-trp\"]"), ("defaults.rate-control", "\"dcqcn\"")],
    ),
];

/// Switches: a pool, a buffer for each port, virtual output queues.
const BUFFERS: [&str; 3] = ["shared", "static", "ioq"];

/// A pair with a reason why it cannot be.
type Refusal = (&'static str, &'static str, &'static str, &'static str);

/// Where a flow control holds on all links, or on the long one alone beside PFC; a scheme; a switch; the
/// reason.
const REFUSED: [Refusal; 6] = [
    ("bifrost everywhere", "any", "shared", "needs a dedicated buffer per port"),
    ("cbfc everywhere", "any", "shared", "needs a dedicated buffer per port"),
    ("any", "casl", "ioq", "queues for lossy packets"),
    ("any", "bfc", "ioq", "out of order at its inputs"),
    ("bifrost everywhere", "casl", "static", "no pause stops"),
    ("cbfc everywhere", "casl", "static", "no pause stops"),
];

fn built(control: (&str, &str), scheme: &Scheme, buffer: &str) -> Result<Scenario, String> {
    let (place, control) = control;
    let quoted = |text: &str| format!("{text:?}");
    let mut sets = vec![("defaults.buffer".to_owned(), quoted(buffer))];
    let lossy = control == "lossy";
    let inside = if place == "everywhere" || lossy { control } else { "pfc" };
    // Slots lie within the delay of a link, and these are short.
    let written = |control: &str| match control {
        "bifrost" => "{ bifrost = { slot = \"1500ns\" } }".to_owned(),
        _ => quoted(control),
    };
    sets.push(("defaults.flow-control".to_owned(), written(inside)));
    sets.push(("long-haul.flow-control".to_owned(), written(control)));
    // Elsewhere a scheme is that of the datacenters; the long link has none.
    if place != "everywhere" {
        sets.push(("long-haul.congestion-point".to_owned(), "[]".to_owned()));
    }
    if lossy {
        sets.push((IRN.0.to_owned(), IRN.1.to_owned()));
        sets.push(("long-haul.buffer".to_owned(), "{ static = { size = \"200KB\" } }".to_owned()));
    }
    sets.extend(scheme.1.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    Scenario::from_text("pairs.toml", NETWORK, &sets).map_err(|errors| errors.to_string())
}

fn run(scenario: &Scenario) -> Records {
    let control = Control::default();
    Fabric::build(scenario.blueprint(), &control).expect("what is read can be built").run()
}

/// The reason that the table has, if any.
fn reason(name: &str, scheme: &str, buffer: &str) -> Option<&'static str> {
    let is = |of: &str, name: &str| of == "any" || of == name;
    let matches = |row: &&Refusal| is(row.0, name) && is(row.1, scheme) && is(row.2, buffer);
    REFUSED.iter().find(matches).map(|row| row.3)
}

#[test]
fn every_pair_builds_and_keeps_its_invariants_or_is_refused_with_a_reason() {
    for control in FlowControlParams::names() {
        for place in ["everywhere", "on the long link"] {
            for (scheme, buffer) in SCHEMES.iter().flat_map(|scheme| BUFFERS.map(|buffer| (scheme, buffer))) {
                let name = format!("{control} {place}");
                let pair = format!("{name}, {}, {buffer}", scheme.0);
                match (built((place, control), scheme, buffer), reason(&name, scheme.0, buffer)) {
                    (Ok(scenario), None) => {
                        let outcome = run(&scenario).outcome;
                        let invariants = &outcome.invariants;
                        assert_eq!(invariants.conservation, Verdict::Holds, "{pair}");
                        assert_eq!(invariants.buffers, Verdict::Holds, "{pair}");
                        assert_eq!(invariants.slowdown, Verdict::Holds, "{pair}");
                        let no_pause = control == "lossy";
                        assert!(no_pause || outcome.lossless.is_held(), "{pair}: {:?}", outcome.lossless);
                        let rest = outcome.workloads.iter().map(|of| of.flows - of.finished).sum::<u64>();
                        assert_eq!(rest, 0, "{pair}");
                    }
                    (Err(message), Some(why)) => assert!(message.contains(why), "{pair}: {message}"),
                    (Ok(_), Some(why)) => panic!("{pair} is taken, though {why}"),
                    (Err(message), None) => panic!("{pair}: {message}"),
                }
            }
        }
    }
}

#[test]
fn no_mechanism_is_left_out_of_the_table() {
    let all: Vec<&str> = SCHEMES.iter().flat_map(|scheme| scheme.1).map(|(_, value)| *value).collect();
    let is_there = |name: &str| {
        let forms = [format!("{name:?}"), format!("{{ {name} =")];
        all.iter().any(|value| forms.iter().any(|form| value.contains(form)))
    };
    for name in CongestionPointParams::names().into_iter().chain(ReactionParams::names()) {
        assert!(is_there(name), "{name} stands beside no flow control: add a scheme with it");
    }
}

//! Hosts that drain slower than their links: the rate, the pauses and the losses that this leads to.

use crate::columns::{reals, texts, wholes};
use crate::held::{run, scenario};
use floodway_fabric::Records;
use floodway_scenario::Scenario;

/// Two hosts at one switch; the second drains 234G of its 400G.
const PAIR: &str = r#"topology.single-switch = { hosts = 2, rate = "400G", delay = "100ns" }
[[override]]
name = "phb"
hosts = "h2"
drain = "234G"
"#;

/// Bytes of the first packet of a message on the link, and of the others, with the preamble and gap of 20.
const FIRST: u64 = 1_098;
const OTHER: u64 = 1_082;
const GAP: u64 = 20;

fn flow(size: &str) -> String {
    format!("[[workload]]\nname = \"w\"\nflows = [{{ from = \"h1\", to = \"h2\", size = \"{size}\" }}]\n")
}

/// Picoseconds that a frame of `wire` bytes on the link takes to be written at 234G.
fn write(wire: u64) -> u64 {
    ((wire - GAP) * 8_000).div_ceil(234)
}

/// A counter of data at the ports of a node.
fn counter(records: &Records, node: &str, column: &str) -> u64 {
    let (nodes, classes) = (texts(&records.counters, "node"), wholes(&records.counters, "class"));
    let rows = (0..nodes.len()).filter(|&row| nodes[row] == node && classes[row] == 3);
    rows.map(|row| wholes(&records.counters, column)[row]).sum()
}

fn fct_ps(records: &Records) -> u64 {
    (reals(&records.flows, "fct_us")[0] * 1e6).round() as u64
}

#[test]
fn a_message_takes_its_frames_over_the_drain_and_the_arrival_of_the_first() {
    let records = run(&format!("{PAIR}{}", flow("1MB")));
    // A byte takes 20 ps on the link, and the first packet is forwarded once it is there as a whole.
    let first = 2 * (FIRST * 20 + 100_000);
    assert_eq!(fct_ps(&records), first + write(FIRST) + 999 * write(OTHER));
    // Which is the payload's share of the drain.
    let goodput = 8e6 / (fct_ps(&records) - first) as f64;
    assert!((goodput * 1_000.0 - 234.0 * 1_000.0 / (OTHER - GAP) as f64).abs() < 0.1, "{goodput}");
}

#[test]
fn a_slow_host_pauses_its_switch_and_loses_nothing() {
    let records = run(&format!("{PAIR}{}", flow("1MB")));
    assert!(counter(&records, "h2", "pfc_tx") > 0);
    assert_eq!(counter(&records, "s1", "pfc_rx"), counter(&records, "h2", "pfc_tx"));
    assert!(records.outcome.drops.iter().all(|&(_, packets)| packets == 0));
    assert!(records.outcome.lossless.is_held(), "{:?}", records.outcome.lossless);
}

#[test]
fn nothing_waits_where_a_host_drains_as_fast_as_the_data_come() {
    let fast = format!("{}{}", PAIR.replace("234G", "400G"), flow("1MB"));
    let records = run(&fast);
    let without =
        run(&format!("{}{}", PAIR.replace("drain = \"234G\"", "scheduler = \"strict\""), flow("1MB")));
    // The last frame is written after it has come; the link's preambles and gaps leave time for all others.
    assert_eq!(fct_ps(&records), fct_ps(&without) + (OTHER - GAP) * 20);
    assert_eq!(counter(&records, "h2", "pfc_tx"), 0);
}

#[test]
fn without_pauses_a_full_receive_buffer_loses_and_check_says_so() {
    let lossy = format!("defaults.flow-control = \"lossy\"\n{PAIR}{}", flow("5MB"));
    let warnings = scenario(&lossy).warnings().join("\n");
    let why =
        "phb.drain: h2 (h2-s1): the host drains 234G of a link of 400G, and no flow control pauses class 3";
    assert!(warnings.contains(why), "{warnings}");
    let records = run(&lossy);
    let lost: u64 = records.outcome.drops.iter().map(|&(_, packets)| packets).sum();
    assert!(lost > 0 && counter(&records, "h2", "drops_buffer") == lost, "{:?}", records.outcome.drops);
    assert!(!scenario(&format!("{PAIR}{}", flow("5MB"))).warnings().iter().any(|of| of.contains("drains")));
}

#[test]
fn a_receive_buffer_has_the_size_that_it_is_given_and_what_is_wrong_is_refused() {
    let sized = PAIR.replace("drain", "receive-buffer = \"100KB\"\ndrain");
    let records = run(&format!("{sized}{}", flow("1MB")));
    assert!(counter(&records, "h2", "peak_bytes") <= 100_000);
    assert!(counter(&records, "h2", "peak_bytes") > 80_000);
    let refused = |text: &str| {
        Scenario::from_text("a.toml", &format!("{text}{}", flow("1MB")), &[])
            .expect_err("it is wrong")
            .to_string()
    };
    let zero = refused(&PAIR.replace("234G", "0G"));
    assert!(zero.contains("a.toml:5") && zero.contains("phb.drain: a host needs a rate above 0"), "{zero}");
    let empty = refused(&PAIR.replace("drain", "receive-buffer = \"0B\"\ndrain"));
    assert!(empty.contains("phb.receive-buffer: a buffer of 0B holds no packet"), "{empty}");
    let switch = refused(&PAIR.replace("hosts = \"h2\"", "switches = \"s1\""));
    assert!(switch.contains("it is a key of hosts, not of switches"), "{switch}");
}

#[test]
fn a_drain_that_slows_nothing_or_nearly_stops_the_host_gets_a_warning() {
    let warnings = |drain: &str| {
        let text = format!("limit = \"1ms\"\n{}{}", PAIR.replace("234G", drain), flow("1MB"));
        scenario(&text).warnings().join("\n")
    };
    assert_eq!(warnings("234G"), "");
    for drain in ["400G", "800G"] {
        let text = warnings(drain);
        let due = format!(
            ":6: phb.drain: h2 (h2-s1): the host drains {drain}, which is not below the 400G of its link: its receive \
             buffer holds one packet at a time"
        );
        assert!(text.contains(&due), "{text}");
    }
    let slow = warnings("1Kbps");
    assert!(slow.contains("the host drains 1K, so that a full packet of 1KB takes 8s"), "{slow}");
    // A default that slows some of the hosts has its effect.
    let some = "defaults.drain = \"234G\"\ntopology.explicit = { hosts = [\"h1\", \"h2\"], switches = [\"s1\"], rate = \"400G\", \
                delay = \"100ns\", links = [{ between = [\"h1\", \"s1\"], rate = \"100G\" }, { between = [\"h2\", \"s1\"] }] }\n";
    assert_eq!(scenario(&format!("{some}{}", flow("1MB"))).warnings().join("\n"), "");
}

#[test]
fn the_estimated_cost_counts_with_the_drain() {
    let simulated = |drain: &str| {
        let text = format!("limit = \"100s\"\n{}{}", PAIR.replace("234G", drain), flow("1MB"));
        floodway_scenario::check(&scenario(&text), false).cost.simulated_us
    };
    assert!((30.0..60.0).contains(&simulated("234G")), "{}", simulated("234G"));
    // 1 MB at 1 Mbit/s.
    assert!((8e6..9e6).contains(&simulated("1Mbps")), "{}", simulated("1Mbps"));
}

#[test]
fn a_receive_buffer_that_is_too_small_is_the_fault_of_its_own_key() {
    let refused = |text: &str| {
        Scenario::from_text("a.toml", &format!("{text}{}", flow("1MB")), &[])
            .expect_err("it is wrong")
            .to_string()
    };
    let small = refused(&PAIR.replace("drain", "receive-buffer = \"3KB\"\ndrain"));
    let due = "a.toml:5: phb.receive-buffer: h2 (h2-s1): defaults.flow-control.pfc.xoff: \"auto\" does not fit: the buffer has 3KB, ";
    assert!(small.starts_with(due), "{small}");
    // What no buffer holds is the fault of the flow control.
    let never = refused(&format!(
        "defaults.flow-control.pfc.pause-quanta = 0\n{}",
        PAIR.replace("drain", "receive-buffer = \"3KB\"\ndrain")
    ));
    assert!(never.contains("a.toml:1: defaults.flow-control.pfc"), "{never}");
}

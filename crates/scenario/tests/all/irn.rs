//! IRN in scenarios: random loss, windows and timeouts of each pair's own path, errors.

use floodway_fabric::outcome::{Stopped, Verdict};
use floodway_fabric::{Control, Fabric, Records, Values};
use floodway_scenario::Scenario;
use proptest::prelude::*;

fn scenario(text: &str, seed: u64) -> Result<Scenario, String> {
    let sets = [("seed".to_owned(), seed.to_string())];
    Scenario::from_text("a.toml", text, &sets).map_err(|errors| errors.to_string())
}

fn run(text: &str, seed: u64) -> Records {
    let scenario = scenario(text, seed).unwrap_or_else(|error| panic!("{error}"));
    let control = Control::default();
    let records =
        Fabric::build(scenario.blueprint(), &control).unwrap_or_else(|error| panic!("{error}")).run();
    assert_eq!(records.outcome.invariants.conservation, Verdict::Holds);
    assert_eq!(records.outcome.invariants.buffers, Verdict::Holds);
    records
}

fn whole(values: Option<&Values>) -> &[u64] {
    match values {
        Some(Values::U64(values)) => values,
        other => panic!("it is {other:?}"),
    }
}

fn real(values: Option<&Values>) -> &[f64] {
    match values {
        Some(Values::F64(values)) => values,
        other => panic!("it is {other:?}"),
    }
}

/// Four hosts behind a link that loses data and replies; a flow starts each `gap` microseconds.
fn lossy(irn: &str, loss: f64, (flows, gap): (usize, usize)) -> String {
    let flow = |i: usize| {
        let (from, to, size) = (1 + i % 2, 3 + i % 2, 1 + 7_777 * i % 90_000);
        format!("{{ from = \"h{from}\", to = \"h{to}\", size = \"{size}B\", start = \"{}us\" }},\n", i * gap)
    };
    let list: String = (0..flows).map(flow).collect();
    format!(
        r#"topology.dumbbell = {{ left = 2, right = 2, rate = "100G", delay = "1us" }}
limit = "1s"
[defaults]
flow-control = "lossy"
reliability.irn = {irn}
[[override]]
name = "middle"
links = {{ tag = "bottleneck" }}
faults.error-rate = {{ data = {loss}, control = {loss} }}
[[workload]]
name = "w"
flows = [
{list}]
"#
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_byte_arrives_once_whatever_is_lost(
        loss in 0.0..0.05, seed in any::<u32>(), flows in 1usize..40, form in 0usize..5,
    ) {
        let irn = [
            r#"{ preset = "per-pair" }"#,
            r#"{ window = 5, rto-low = "40us", rto-high = "90us" }"#,
            r#"{ form = "swing", rto-high = "150us" }"#,
            r#"{ form = "swing", window = 6, rto-low = "40us", rto-high = "90us" }"#,
            r#"{ form = "conweave", window = 40, rto-low = "40us", rto-high = "90us" }"#,
        ];
        let records = run(&lossy(irn[form], loss, (flows, 1)), u64::from(seed));
        prop_assert_eq!(records.outcome.stopped, Stopped::Finished);
        let sizes = whole(records.flows.column("size_bytes"));
        prop_assert_eq!(whole(records.flows.column("delivered_bytes")), sizes);
        prop_assert!(sizes.len() == flows);
    }
}

#[test]
fn what_waits_behind_stale_entries_is_sent_again_all_the_same() {
    // While the NIC is held up every packet runs out of time, again and again, and is acknowledged before its
    // entry's turn.
    let text = r#"
limit = "50ms"
topology.single-switch = { hosts = 2, rate = "100G", delay = "2us" }
[defaults]
buffer.static = { size = "1MB" }
reliability.irn = { form = "swing", window = 100, rto-low = "3us", rto-high = "3us" }
[[override]]
name = "halt"
links = "*h1*"
direction = "h1>*"
faults.pause = { from = "0us", to = "60us" }
[[override]]
name = "loss"
links = "*h2*"
faults.error-rate = { data = 0.12 }
[[workload]]
name = "pair"
flows = [{ from = "h1", to = "h2", size = "8KB" }]
"#;
    for seed in 1..=8 {
        let records = run(text, seed);
        assert_eq!(records.outcome.stopped, Stopped::Finished, "seed {seed}");
    }
}

#[test]
fn losses_are_repaired_packet_by_packet() {
    for irn in [r#"{ preset = "per-pair" }"#, r#"{ form = "swing" }"#] {
        let records = run(&lossy(irn, 0.02, (400, 10)), 1);
        let again: u64 = whole(records.flows.column("retransmitted_bytes")).iter().sum();
        let sent: u64 = whole(records.flows.column("size_bytes")).iter().sum();
        assert!(again > 0 && again < sent / 10, "{again} of {sent} retransmitted: {irn}");
    }
    let back =
        run(&lossy("{}", 0.02, (400, 10)).replace("reliability.irn = {}", "reliability = \"go-back-n\""), 1);
    let again: u64 = whole(back.flows.column("retransmitted_bytes")).iter().sum();
    let sent: u64 = whole(back.flows.column("size_bytes")).iter().sum();
    assert!(again > sent / 10, "{again} of {sent}");
}

/// Two datacenters 80 km apart; one flow between them, and two inside the second to one host.
fn two_datacenters(irn: &str) -> String {
    format!(
        r#"topology.two-dc = {{ fabric.fat-tree = {{ k = 4 }}, rate = "100G", delay = "1us", long-link = {{ rate = "400G", length = "80km" }} }}
[defaults]
flow-control = "lossy"
buffer.shared = {{ pool = "100MB", reserve = "318KB" }}
reliability.irn = {irn}
[[override]]
name = "afar"
links = {{ tag = "long-haul" }}
buffer.static = {{ size = "41MB" }}
[[workload]]
name = "between"
flows = [{{ from = "h1", to = "h17", size = "50MB" }}]
[[workload]]
name = "inside"
flows = [
{{ from = "h20", to = "h32", size = "5MB" }},
{{ from = "h24", to = "h32", size = "5MB" }},
]
"#
    )
}

/// Slowdown of the flow between datacenters, and the largest buffer inside the second.
fn measured(irn: &str) -> (f64, u64) {
    let records = run(&two_datacenters(irn), 1);
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    let column = |name| real(records.flows.column(name));
    let (fct, ideal) = (column("fct_us"), column("ideal_fct_us"));
    let sizes = whole(records.flows.column("size_bytes"));
    let between = sizes.iter().position(|size| *size == 50_000_000).expect("it ran");
    let peak = whole(records.counters.column("peak_bytes")).iter().max().copied();
    (fct[between] / ideal[between], peak.expect("there are ports"))
}

#[test]
fn a_pairs_own_window_fills_a_long_path_and_spares_the_buffers_of_a_short_one() {
    let (slowdown, peak) = measured(r#"{ preset = "per-pair" }"#);
    assert!(slowdown < 1.05, "{slowdown}");
    // A window inside a datacenter is 13 us at 100 Gbit/s.
    assert!(peak < 2 * 165_000, "{peak}");
    // One window for all pairs: that of the long path floods the short one,
    let json = r#"{ window = "largest", rto-low = "2ms", rto-high = "4ms" }"#;
    let (slowdown, peak) = measured(json);
    assert!(slowdown < 1.05 && peak > 1_000_000, "{slowdown}, {peak}");
    // and that of the short one starves the long.
    let (slowdown, peak) = measured(r#"{ window = 150, rto-low = "2ms", rto-high = "4ms" }"#);
    assert!(slowdown > 5.0 && peak < 2 * 165_000, "{slowdown}, {peak}");
}

#[test]
fn windows_and_nics_that_do_not_fit_are_refused() {
    let refused = |text: &str| scenario(text, 1).expect_err("it is wrong");
    let error = refused(&lossy("{ window = 0 }", 0.0, (1, 1)));
    assert_eq!(
        error,
        "a.toml:5: defaults.reliability.irn.window: flows of w: a window of 0 sends nothing; the minimum is 1 \
         packet; write it like 110 or \"110KB\""
    );
    let text = format!("semantics.turns = \"hpcc-ns3\"\n{}", lossy(r#"{ form = "swing" }"#, 0.0, (1, 1)));
    let error = refused(&text);
    assert!(error.starts_with("a.toml:6: defaults.reliability.irn: flows of w: "), "{error}");
    assert!(error.contains("semantics.turns = \"hpcc-ns3\""), "{error}");
}

/// Two datacenters whose switches lose packets, or not; flows within one of them, or between.
fn far(flow_control: &str, to: &str, irn: &str) -> Scenario {
    let text = format!(
        "topology.two-dc = {{ fabric.fat-tree = {{ k = 4 }}, rate = \"100G\", delay = \"1us\", long-link = {{ rate = \"400G\", length = \"80km\" }} }}\n\
         defaults.flow-control = \"{flow_control}\"\ndefaults.buffer = \"shared\"\ndefaults.reliability = {irn}\n\
         [[override]]\nname = \"far\"\nlinks = {{ tag = \"long-haul\" }}\nbuffer.static = {{ size = \"100MB\" }}\n\
         [[workload]]\nname = \"a\"\nflows = [{{ from = \"h1\", to = \"{to}\", size = \"1MB\" }}]\n"
    );
    scenario(&text, 1).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn timers_that_run_out_before_any_reply_get_a_warning() {
    let warned =
        |scenario: &Scenario| scenario.warnings().iter().any(|warning| warning.contains("a reply takes"));
    let published = far("lossy", "h20", r#""irn""#);
    let expected = "defaults.reliability: a timer of \"irn\" runs out after 100us, and on the longest path a reply takes 8";
    assert!(
        published.warnings().iter().any(|warning| warning.contains(expected)),
        "{:?}",
        published.warnings()
    );
    assert!(!warned(&far("lossy", "h2", r#""irn""#)), "no flow goes that far");
    assert!(!warned(&far("pfc", "h20", r#""irn""#)), "where nothing is lost the timers are off");
    assert!(!warned(&far("lossy", "h20", r#"{ irn = { preset = "per-pair" } }"#)));
    assert!(warned(&far("lossy", "h20", r#"{ irn = { rto-high = "10ms" } }"#)), "the shorter one runs out");
    assert!(warned(&far("pfc", "h20", r#"{ irn = { rto-high = "50us" } }"#)), "timers that are given are on");
    assert!(!warned(&far("lossy", "h20", r#"{ irn = { rto-high = "10ms", rto-low = "5ms" } }"#)));
    assert!(!warned(&far("lossy", "h20", r#"{ irn = { rto-low = "off", rto-high = "off" } }"#)));
    let swapped = far("lossy", "h20", r#"{ irn = { rto-high = "2ms", rto-low = "5ms" } }"#);
    let expected = "rto-low, the timeout of few packets in flight, is 5ms, longer than rto-high, 2ms";
    assert!(swapped.warnings().iter().any(|warning| warning.contains(expected)), "{:?}", swapped.warnings());
}

//! Runs of scenarios given as text, and their series.

use floodway_fabric::outcome::{Stopped, Verdict};
use floodway_fabric::{Control, Fabric, Records, Table, Values};
use floodway_scenario::Scenario;

/// Runs a scenario, and prints nothing of it.
pub fn run(text: &str) -> Records {
    let scenario = Scenario::from_text("theory.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let control = Control::default();
    let records =
        Fabric::build(scenario.blueprint(), &control).unwrap_or_else(|error| panic!("{error}")).run();
    assert_eq!(records.outcome.invariants.conservation, Verdict::Holds);
    let lost = |records: &Records| {
        (0..records.counters.rows()).any(|row| {
            let drops = ["drops_buffer", "drops_egress", "drops_no_route"];
            drops.iter().any(|name| whole(&records.counters, name)[row] > 0)
        })
    };
    assert!(!lost(&records), "no law here speaks of losses");
    assert!(matches!(records.outcome.stopped, Stopped::Finished | Stopped::Limit));
    records
}

/// Flows without end between hosts by their numbers, as a list of a workload.
pub fn unbounded(ends: &[(usize, usize)]) -> String {
    let flow = |(from, to)| format!("{{ from = \"h{from}\", to = \"h{to}\", size = \"unbounded\" }}");
    ends.iter().copied().map(flow).collect::<Vec<_>>().join(", ")
}

pub fn real<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name) {
        Some(Values::F64(values)) => values,
        other => panic!("{name} is {other:?}"),
    }
}

pub fn whole<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    match table.column(name) {
        Some(Values::U64(values)) => values,
        other => panic!("{name} is {other:?}"),
    }
}

fn texts<'a>(table: &'a Table, name: &str) -> Vec<&'a str> {
    match table.column(name) {
        Some(Values::Text { codes, dictionary }) => {
            codes.iter().map(|&code| dictionary[code as usize].as_str()).collect()
        }
        other => panic!("{name} is {other:?}"),
    }
}

/// What `port`, as in "s1>h2", did in each microsecond: (begin in us, value).
pub fn series(records: &Records, port: &str, metric: &str) -> Vec<(f64, f64)> {
    let table = &records.series;
    let (objects, metrics) = (texts(table, "object"), texts(table, "metric"));
    let (times, widths) = (real(table, "time_us"), real(table, "bucket_us"));
    let values = real(table, "value");
    let end = format!(" {port}");
    let rows = (0..values.len()).filter(|&row| objects[row].ends_with(&end) && metrics[row] == metric);
    let found: Vec<_> = rows
        .map(|row| {
            assert_eq!(widths[row], 1.0, "the scenario keeps buckets enough");
            (times[row], values[row])
        })
        .collect();
    assert!(!found.is_empty(), "{port} is watched");
    found
}

/// Those of them that begin from `from` to `to` microseconds.
pub fn within(series: &[(f64, f64)], from: f64, to: f64) -> Vec<f64> {
    series.iter().filter(|(time, _)| *time >= from && *time < to).map(|&(_, value)| value).collect()
}

/// Wire bytes that `port` sent from `from` to `to` microseconds, over what `gbps` carries in that time. Whole
/// packets count where they start: one may be too many, or one too few.
pub fn used(records: &Records, port: &str, gbps: f64, [from, to]: [f64; 2]) -> f64 {
    within(&series(records, port, "tx_bytes"), from, to).iter().sum::<f64>() * 8.0
        / ((to - from) * gbps * 1e3)
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Bytes that wait at `port` on average and at most, from `from` to `to` microseconds.
pub fn queue(records: &Records, port: &str, [from, to]: [f64; 2]) -> (f64, f64) {
    let of = |metric| within(&series(records, port, metric), from, to);
    (mean(&of("queue_mean_bytes")), most(&of("queue_max_bytes")))
}

/// A counter of a port of a class, summed over its classes.
pub fn counter(records: &Records, node: &str, link: &str, name: &str) -> u64 {
    let table = &records.counters;
    let (nodes, links, values) = (texts(table, "node"), texts(table, "link"), whole(table, name));
    let rows = (0..values.len()).filter(|&row| nodes[row] == node && links[row] == link);
    rows.map(|row| values[row]).sum()
}

/// The zero of a falling function between `low` and `high`.
pub fn solve(falling: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if falling(middle) > 0.0 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Panics unless `measured` lies within `slack` of `expected`; `--nocapture` shows all three.
#[track_caller]
#[allow(clippy::print_stdout, reason = "the table of docs/theory.md is read off here")]
pub fn near(what: &str, measured: f64, expected: f64, slack: f64) {
    println!("{what}: {measured:.6}, law {expected:.6} within {slack:.6}");
    assert!(
        (measured - expected).abs() <= slack,
        "{what}: {measured}, not {expected} within {slack}: off by {}",
        measured - expected
    );
}

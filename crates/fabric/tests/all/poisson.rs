//! Poisson arrivals: the load and the sizes that were asked for.

use crate::support::{Net, PFC, names, real, whole};
use floodway_fabric::Records;
use floodway_fabric::blueprint::{Arrivals, PoissonSpec};
use floodway_fabric::destinations::DestinationPattern;
use floodway_fabric::outcome::Stopped;
use floodway_fabric::sizes::Sizes;
use floodway_units::{NodeId, Rate, Span, Time};
use floodway_wire::Format;

const HOSTS: usize = 8;
const GAP: Span = Span::us(2);
const FROM: Span = Span::ms(1);
const UNTIL: Span = Span::ms(6);

/// Eight hosts around a switch, the first four of which send to all.
fn star(seed: u64, sizes: Sizes) -> Net {
    let mut net = Net::new(Format::Ethernet);
    net.blueprint.seed = seed;
    let s = net.switch("s");
    let hosts: Vec<NodeId> = (0..HOSTS).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts {
        net.link(host, s, Rate::gbps(100), Span::us(1), PFC);
    }
    net.blueprint.workloads[0].arrivals = Arrivals::Poisson(PoissonSpec {
        sources: hosts[..4].to_vec(),
        destinations: hosts,
        pattern: DestinationPattern::Uniform,
        sizes,
        mean_gap: GAP,
        from: Time::ZERO + FROM,
        until: Time::ZERO + UNTIL,
    });
    net
}

/// Sizes up to 8 KB: 30 % of 1 B to 1 KB, the others to 8 KB.
fn sizes() -> Sizes {
    Sizes::new(&[(1.0, 0.0), (1_000.0, 30.0), (8_000.0, 100.0)]).unwrap()
}

fn run(seed: u64) -> Records {
    let records = star(seed, sizes()).run();
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    records
}

/// Mean and standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

#[test]
fn flows_come_as_often_as_asked() {
    for seed in 0..5 {
        let expected = 4.0 * (UNTIL - FROM).0 as f64 / GAP.0 as f64;
        let flows = run(seed).flows.rows() as f64;
        assert!((flows - expected).abs() < 3.0 * expected.sqrt(), "{flows} flows, not {expected}");
    }
}

#[test]
fn gaps_between_a_sources_flows_are_exponential() {
    let records = run(1);
    let (sources, starts) = (names(records.flows.column("source")), real(records.flows.column("start_us")));
    for source in ["h0", "h1", "h2", "h3"] {
        let own = sources.iter().zip(&starts).filter(|(name, _)| *name == source);
        let starts: Vec<f64> = own.map(|(_, &start)| start).collect();
        let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (gap, error) = mean(&gaps);
        assert!((gap - GAP.as_us()).abs() < 3.5 * error, "{gap} us");
        // The share that is longer than the mean is 1/e; that of gaps beyond three means is e^-3.
        for times in [1.0, 3.0_f64] {
            let share =
                gaps.iter().filter(|&&gap| gap > times * GAP.as_us()).count() as f64 / gaps.len() as f64;
            let expected = (-times).exp();
            let sigma = (expected * (1.0 - expected) / gaps.len() as f64).sqrt();
            assert!((share - expected).abs() < 3.5 * sigma, "{share} beyond {times} means");
        }
    }
}

#[test]
fn sizes_and_load_are_those_of_the_distribution() {
    let expected = sizes().mean();
    assert!((expected - (0.3 * 500.5 + 0.7 * 4_500.0)).abs() < 1e-9);
    for seed in 0..5 {
        let records = run(seed);
        let drawn: Vec<f64> =
            whole(records.flows.column("size_bytes")).into_iter().map(|b| b as f64).collect();
        let (size, error) = mean(&drawn);
        // A size is rounded down to whole bytes, half a byte on average.
        assert!((size + 0.5 - expected).abs() < 3.0 * error, "{size} B, not {expected}");

        let totals = &records.outcome.workloads[0];
        assert_eq!(totals.offered_bytes, drawn.iter().sum::<f64>() as u64);
        assert_eq!(totals.delivered_bytes, totals.offered_bytes);
        let span = (UNTIL - FROM).as_secs();
        let load = totals.offered_bytes as f64 / span;
        let asked = 4.0 * expected / GAP.as_secs();
        // Of a compound Poisson process: the root of n times the mean square of a size.
        let square = drawn.iter().map(|size| size * size).sum::<f64>();
        assert!((load - asked).abs() < 3.0 * square.sqrt() / span, "{load} B/s, not {asked}");
    }
}

#[test]
fn destinations_are_drawn_evenly_and_never_the_source() {
    let records = run(2);
    let (from, to) = (names(records.flows.column("source")), names(records.flows.column("destination")));
    for source in ["h0", "h1", "h2", "h3"] {
        let own: Vec<&String> =
            from.iter().zip(&to).filter(|(name, _)| *name == source).map(|(_, to)| to).collect();
        let expected = own.len() as f64 / 7.0;
        for host in (0..HOSTS).map(|i| format!("h{i}")) {
            let count = own.iter().filter(|to| ***to == host).count() as f64;
            if host == source {
                assert_eq!(count, 0.0, "{source} sends to itself");
            } else {
                assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{source} to {host}: {count}");
            }
        }
    }
}

#[test]
fn no_flow_starts_outside_its_time_and_only_those_inside_the_window_are_measured() {
    let mut net = star(3, sizes());
    net.blueprint.workloads[0].measure = (Time::ZERO + Span::ms(2), Time::ZERO + Span::ms(3));
    let records = net.run();
    let starts = real(records.flows.column("start_us"));
    let Some(floodway_fabric::Values::Bool(measured)) = records.flows.column("measured") else {
        panic!("a column of truth values")
    };
    assert!(starts.iter().all(|&us| (1_000.0..6_000.0).contains(&us)));
    for (&start, &measured) in starts.iter().zip(measured) {
        assert_eq!(measured == 1, (2_000.0..3_000.0).contains(&start), "{start}");
    }
    // Traffic goes on behind the window, and the run ends once what it measures has finished.
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert!(records.outcome.simulated_us < 4_000.0);
    assert!(starts.iter().any(|&us| us > 3_000.0));
}

#[test]
fn a_source_draws_the_same_flows_beside_any_others() {
    let alone = {
        let mut net = star(4, sizes());
        let Arrivals::Poisson(poisson) = &mut net.blueprint.workloads[0].arrivals else { unreachable!() };
        poisson.sources.truncate(1);
        net.run()
    };
    let all = run(4);
    let drawn = |records: &Records| {
        let (from, start) = (names(records.flows.column("source")), real(records.flows.column("start_us")));
        let (to, size) =
            (names(records.flows.column("destination")), whole(records.flows.column("size_bytes")));
        let rows = (0..from.len()).filter(|&row| from[row] == "h0");
        rows.map(|row| (start[row].to_bits(), to[row].clone(), size[row])).collect::<Vec<_>>()
    };
    assert_eq!(drawn(&alone), drawn(&all));
}

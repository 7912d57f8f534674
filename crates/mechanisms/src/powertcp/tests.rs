use super::*;
use crate::testing::{qp, us};

fn built(json: &str) -> Rp {
    let params: Params = serde_json::from_str(json).expect("well formed");
    params.build(&qp()).expect("valid")
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9 * right.abs().max(1.0)
}

/// A record of a hop of 100 Gbit/s, 12,500 bytes a microsecond.
fn hop(at: u64, tx_bytes: u64, queue: u64) -> IntHop {
    IntHop { rate: Rate::gbps(100), time: us(at), tx_bytes, queue: Bytes(queue) }
}

fn window_after(rp: &mut Rp, next: u64, sent: u64, int: &[IntHop]) -> f64 {
    rp.on_ack(us(0), &AckView { next, sent, int, ..AckView::example() });
    rp.window
}

fn waited(rp: &mut Rp, at: u64, rtt: u64, next: u64, sent: u64) -> f64 {
    rp.on_ack(us(at), &AckView { next, sent, rtt: Span::us(rtt), ..AckView::example() });
    rp.window
}

#[test]
fn it_starts_with_a_window_of_its_line_rate_and_a_tenth_of_it_as_step() {
    let rp = built("{}");
    assert_eq!(rp.allowance(), Allowance { rate: Rate::gbps(100), window: Bytes(125_000) });
    assert!(near(rp.settings.beta, 12_500.0));
    assert!(near(built(r#"{"expected-flows": 1}"#).settings.beta, 125_000.0));
    assert!(near(built(r#"{"base-rtt": "largest"}"#).window, 250_000.0));
}

#[test]
fn power_is_current_times_voltage_over_that_of_a_full_link() {
    let mut rp = built("{}");
    assert!(rp.of_records(&[hop(0, 0, 0)]).is_none());
    // Full, no queue: 1. Half full: 1/2.
    assert!(near(rp.of_records(&[hop(1, 12_500, 0)]).unwrap().power, 1.0));
    assert!(near(rp.of_records(&[hop(2, 18_750, 0)]).unwrap().power, 0.5));
    // Twice the rate arrives: λ = 2b, ν = 12.5 KB + 125 KB: 2 · 1.1.
    let sample = rp.of_records(&[hop(3, 31_250, 12_500)]).unwrap();
    assert!(near(sample.power, 2.2) && near(sample.elapsed, 1e-6));
    // The queue stands: 1.1; it drains at full rate, nothing arrives: 0.
    assert!(near(rp.of_records(&[hop(4, 43_750, 12_500)]).unwrap().power, 1.1));
    assert!(near(rp.of_records(&[hop(5, 56_250, 0)]).unwrap().power, 0.0));
    // The same record again spans no time.
    assert!(rp.of_records(&[hop(5, 56_250, 0)]).is_none());
}

#[test]
fn the_busiest_hop_counts() {
    let mut rp = built("{}");
    rp.of_records(&[hop(0, 0, 0), hop(1, 0, 0)]);
    let sample = rp.of_records(&[hop(2, 12_500, 0), hop(5, 50_000, 0)]).unwrap();
    assert!(near(sample.power, 1.0) && near(sample.elapsed, 4e-6));
}

#[test]
fn each_ack_sets_the_window_from_that_of_a_round_trip_ago() {
    let mut rp = built(r#"{"gamma": 0.5, "beta": "0B"}"#);
    assert!(near(window_after(&mut rp, 1, 100, &[hop(0, 0, 0)]), 125_000.0));
    // A whole τ at twice the rate, and 125 KB of queue: power 2 · 2 = 4. 0.5 · 125 / 4 + 0.5 · 125 = 78.125
    // KB.
    assert!(near(window_after(&mut rp, 2, 101, &[hop(10, 125_000, 125_000)]), 78_125.0));
    // Again: the queue stands at a power of 2: 0.5 · 125 / 2 + 0.5 · 78.125.
    assert!(near(window_after(&mut rp, 3, 102, &[hop(20, 250_000, 125_000)]), 70_312.5));
    // A rate is rounded down.
    assert_eq!(rp.allowance(), Allowance { rate: Rate(56_249_999_999), window: Bytes(70_312) });
    // The next round trip's packets were sent with 125 KB yet, those of the one after it with what this ACK
    // sets.
    let second = window_after(&mut rp, 101, 150, &[hop(30, 375_000, 125_000)]);
    assert!(near(second, 0.5 * 62_500.0 + 0.5 * 70_312.5));
    let third = window_after(&mut rp, 151, 200, &[hop(40, 500_000, 125_000)]);
    assert!(near(third, 0.5 * second / 2.0 + 0.5 * second));
}

#[test]
fn power_is_smoothed_over_the_base_round_trip() {
    let mut rp = built("{}");
    rp.smooth(Sample { power: 2.0, elapsed: 1e-6 });
    assert!(near(rp.smoothed, 1.1));
    rp.smooth(Sample { power: 3.0, elapsed: 1.0 });
    assert!(near(rp.smoothed, 3.0));
    rp.smooth(Sample { power: 0.0, elapsed: 1.0 });
    assert!(near(rp.smoothed, LEAST_POWER));
}

#[test]
fn power_from_delay_is_its_growth_and_its_length() {
    let mut rp = built(r#"{"form": "delay"}"#);
    assert!(rp.of_delay(us(0), Span::us(10)).is_none());
    // 15 us, 5 more in 10: (0.5 + 1) · 1.5.
    assert!(near(rp.of_delay(us(10), Span::us(15)).unwrap().power, 2.25));
    assert!(near(rp.of_delay(us(20), Span::us(15)).unwrap().power, 1.5));
    assert!(near(rp.of_delay(us(30), Span::us(10)).unwrap().power, 0.5));
    // 8 us less within 4 us: a gradient of -2, and a current of one half at least: 0.5 · 0.2.
    assert!(near(rp.of_delay(us(34), Span::us(2)).unwrap().power, 0.1));
}

#[test]
fn ten_flows_rest_at_the_point_of_appendix_a() {
    // Appendix A: a queue of the sum of all β, 125 KB, and windows of (125 KB + b · τ) / 125 KB · β = 25 KB.
    // Their power is b · (125 KB + b · τ) / (b² · τ) = 2.
    let mut rp = built("{}");
    (rp.window, rp.old) = (25_000.0, [25_000.0; 2]);
    window_after(&mut rp, 1, 100, &[hop(0, 0, 125_000)]);
    for at in 1..200 {
        // A whole τ at a time, within one round trip and from one to the next.
        let window = window_after(&mut rp, 50 * at, 50 * at + 100, &[hop(10 * at, 125_000 * at, 125_000)]);
        assert!(near(rp.smoothed, 2.0) && near(window, 25_000.0));
    }
    // Of delay the same: 20 us in place of 10, without growth.
    let mut rp = built(r#"{"form": "delay"}"#);
    (rp.window, rp.old) = (25_000.0, [25_000.0; 2]);
    waited(&mut rp, 0, 20, 1, 100);
    for at in 1..200 {
        assert!(near(waited(&mut rp, 10 * at, 20, 50 * at, 50 * at + 100), 25_000.0));
    }
}

#[test]
fn the_papers_parameters_give_a_worked_window() {
    // γ = 0.9, 25 Gbit/s · 10 us = 31.25 KB, N = 10: β = 3,125 bytes. A power of 2 over a whole τ halves the
    // old window: 0.9 · (31,250 / 2 + 3,125) + 0.1 · 31,250 = 14,062.5 + 2,812.5 + 3,125 = 20,000.
    let qp = QpInfo { line_rate: Rate::gbps(25), ..qp() };
    let mut rp = Params::default().build(&qp).unwrap();
    let hop =
        |at, tx_bytes, queue| IntHop { rate: Rate::gbps(25), time: us(at), tx_bytes, queue: Bytes(queue) };
    assert!(near(window_after(&mut rp, 1, 100, &[hop(0, 0, 31_250)]), 31_250.0));
    assert!(near(window_after(&mut rp, 2, 101, &[hop(10, 31_250, 31_250)]), 20_000.0));
    // 20 KB in 10 us.
    assert_eq!(rp.allowance(), Allowance { rate: Rate::gbps(16), window: Bytes(20_000) });
}

#[test]
fn the_form_by_delay_sets_its_window_once_a_round_trip() {
    let mut rp = built(r#"{"form": "delay", "gamma": 1, "beta": "0B"}"#);
    waited(&mut rp, 0, 10, 1, 10);
    assert!(near(waited(&mut rp, 10, 20, 5, 14), 125_000.0));
    assert!(near(rp.smoothed, 4.0));
    // Beyond 10: 20 us, no growth, over a whole τ: a power of 2.
    assert!(near(waited(&mut rp, 20, 20, 11, 20), 62_500.0));
    assert!(near(waited(&mut rp, 30, 20, 12, 21), 62_500.0));
}

#[test]
fn the_window_stays_within_its_bounds() {
    let mut rp = built("{}");
    window_after(&mut rp, 1, 2, &[hop(0, 0, 0)]);
    assert!(near(window_after(&mut rp, 3, 4, &[hop(10, 1, 0)]), 125_000.0));
    for n in 2..90 {
        window_after(&mut rp, 2 * n + 1, 2 * n + 2, &[hop(10 * n, 0, 1_000_000_000 * n)]);
    }
    assert!(rp.window >= rp.settings.least && rp.allowance().rate >= Rate::mbps(100));
}

#[test]
fn what_it_cannot_use_is_refused_by_its_key() {
    for (json, key) in [
        (r#"{"gamma": 0}"#, "gamma"),
        (r#"{"expected-flows": 0}"#, "expected-flows"),
        (r#"{"expected-flows": 5, "beta": "1KB"}"#, "expected-flows"),
        (r#"{"rmin": "0G"}"#, "rmin"),
        (r#"{"base-rtt": "0us"}"#, "base-rtt"),
    ] {
        let params: Params = serde_json::from_str(json).expect("well formed");
        assert_eq!(params.build(&qp()).map(|_| ()).map_err(|error| error.key), Err(key), "{json}");
    }
    assert_eq!(Params::default().needs(), [Need::Acks, Need::Int]);
}

#[test]
fn each_ack_that_sets_the_window_is_a_setting() {
    let mut rp = built("{}");
    window_after(&mut rp, 1, 100, &[hop(0, 0, 0)]);
    let first = rp.rates_set().expect("settings are counted");
    window_after(&mut rp, 2, 101, &[hop(10, 125_000, 125_000)]);
    window_after(&mut rp, 3, 102, &[hop(20, 250_000, 125_000)]);
    assert_eq!(rp.rates_set(), Some(first + 2));
}

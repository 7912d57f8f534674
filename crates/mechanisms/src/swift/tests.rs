use super::*;
use crate::testing::{qp, us};

fn built(json: &str, qp: &QpInfo) -> Rp {
    let params: Params = serde_json::from_str(json).expect("well formed");
    params.build(qp).expect("valid")
}

/// The window after an ACK of a packet of 1000 bytes at `at` microseconds that took `rtt` of them.
fn ack(rp: &mut Rp, at: u64, rtt: u64) -> f64 {
    rp.on_ack(us(at), &AckView { rtt: Span::us(rtt), ..AckView::example() });
    rp.cwnd
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-9 * right.abs().max(1.0)
}

/// A target of 20 us whatever the window.
const PLAIN: &str = r#"{"base-target": "20us", "per-hop": "0us", "fs-range": "0us", "initial-cwnd": 10}"#;

#[test]
fn the_target_scales_with_hops_and_with_the_window() {
    // Section 3.5: base + hops · ħ + max(0, min(α / sqrt(W) + β, range)).
    let json = r#"{"base-target": "25us", "per-hop": "2us", "fs-range": "100us", "fs-min-cwnd": 0.25, "fs-max-cwnd": 16}"#;
    let target = |hops, cwnd| built(json, &QpInfo { hops, ..qp() }).target.at(cwnd) / 1e6;
    assert!(near(target(0, 16.0), 25.0));
    assert!(near(target(5, 16.0), 35.0));
    assert!(near(target(1, 1_000.0), 27.0));
    // At and below the least window the whole range.
    assert!(near(target(1, 0.25), 127.0) && near(target(1, 0.01), 127.0));
    // α = 100 / (2 - 1/4) = 57.14..., β = -α / 4: at 1 packet α · 3/4, at 4 packets α / 4.
    assert!(near(target(0, 1.0), 25.0 + 300.0 / 7.0));
    assert!(near(target(0, 4.0), 25.0 + 100.0 / 7.0));
}

#[test]
fn the_papers_targets_without_scaling_are_constant() {
    // Section 5.1: neither flow nor topology scaling, base targets from 15 to 70 us.
    for target in [15, 25, 70] {
        let json = format!(r#"{{"base-target": "{target}us", "per-hop": "0us", "fs-range": "0us"}}"#);
        let rp = built(&json, &QpInfo { hops: 5, ..qp() });
        assert!([0.001, 1.0, 1_000.0].iter().all(|cwnd| near(rp.target.at(*cwnd) / 1e6, f64::from(target))));
    }
    // By default: 10 us of path, 1 us of its switch, and at 0.1 packets and below 50 us more.
    let rp = built("{}", &qp());
    assert!(near(rp.target.at(0.1) / 1e6, 61.0) && near(rp.target.at(100.0) / 1e6, 11.0));
    // α = 50 / (√10 - 1/10), of which 9/10 are left at one packet.
    assert!(near(rp.target.at(1.0) / 1e6, 11.0 + 45.0 / (10f64.sqrt() - 0.1)));
}

#[test]
fn the_acks_of_a_round_trip_add_ai_together() {
    // Section 3.2: ten ACKs at ten packets. Steps of 1/10, 1/10.1, ... are a little less than one packet in
    // all.
    let mut rp = built(PLAIN, &qp());
    for n in 0..10 {
        ack(&mut rp, n, 19);
    }
    assert!(rp.cwnd > 10.95 && rp.cwnd < 11.0);
    // One ACK for ten packets (num_acked) adds all of it at once.
    let mut rp = built(PLAIN, &qp());
    let acked = Bytes(10_000);
    rp.on_ack(us(0), &AckView { rtt: Span::us(19), acked, ..AckView::example() });
    assert!(near(rp.cwnd, 11.0));
}

#[test]
fn half_a_packet_is_one_packet_in_two_round_trips() {
    // Section 3.4.
    let mut rp = built(PLAIN, &qp());
    rp.cwnd = 0.5;
    // At the target: neither more nor less.
    ack(&mut rp, 0, 20);
    let Allowance { rate, .. } = rp.allowance();
    assert_eq!(rate, Rate(1_052 * 8 * 1_000_000 / 40));
}

#[test]
fn a_round_trip_below_the_target_adds_ai() {
    let mut rp = built(PLAIN, &qp());
    assert!(near(ack(&mut rp, 0, 19), 10.1));
    assert!(near(ack(&mut rp, 1, 19), 10.1 + 1.0 / 10.1));
    // Below one packet each packet adds ai.
    rp.cwnd = 0.5;
    assert!(near(ack(&mut rp, 2, 19), 1.5));
    assert_eq!(rp.increases(), 3);
}

#[test]
fn a_delay_above_the_target_cuts_by_its_excess_once_a_round_trip() {
    let mut rp = built(PLAIN, &qp());
    // 1 - 0.8 · (25 - 20) / 25 = 0.84.
    assert!(near(ack(&mut rp, 0, 25), 8.4));
    assert!(near(ack(&mut rp, 24, 25), 8.4));
    // 1 - 0.8 · 80/100 = 0.36: capped at one half, a round trip of 100 us later.
    assert!(near(ack(&mut rp, 99, 100), 8.4));
    assert!(near(ack(&mut rp, 100, 100), 4.2));
    // At the target the factor is 1.
    assert!(near(ack(&mut rp, 300, 20), 4.2));
}

#[test]
fn acks_that_cannot_cut_do_not_put_the_next_cut_off() {
    let mut rp = built(PLAIN, &qp());
    for at in 0..50 {
        ack(&mut rp, at, 25);
    }
    // At 0 and at 25 us.
    assert!(near(rp.cwnd, 10.0 * 0.84 * 0.84));
}

#[test]
fn acks_at_the_largest_window_do_not_put_the_next_cut_off() {
    let mut rp = built(&PLAIN.replace('}', r#", "max-cwnd": 10}"#), &qp());
    for at in 0..=10 {
        assert!(near(ack(&mut rp, at, 19), 10.0));
    }
    // The window did not fall at 10 us, and so is cut a microsecond later: 1 - 0.8 · (25 - 20) / 25 = 0.84.
    assert!(near(ack(&mut rp, 11, 25), 8.4));
}

#[test]
fn a_window_below_one_packet_is_a_pace() {
    let mut rp = built(PLAIN, &qp());
    assert_eq!(rp.allowance(), Allowance { rate: Rate::gbps(100), window: Bytes(10_000) });
    rp.cwnd = 0.5;
    // At 0.25 after a cut, one packet of 1052 bytes in 400 us.
    ack(&mut rp, 0, 100);
    assert!(near(rp.cwnd, 0.25));
    let Allowance { rate, window } = rp.allowance();
    assert_eq!((rate, window), (Rate(1_052 * 8 * 10_000 / 4), Bytes(250)));
}

#[test]
fn losses_halve_and_five_timeouts_in_a_row_reset() {
    let (fast, timeout) =
        (LossView { lost: Bytes(1000), timeout: false }, LossView { lost: Bytes(1000), timeout: true });
    let mut rp = built(PLAIN, &qp());
    rp.on_loss(us(0), &fast);
    assert!(near(rp.cwnd, 5.0));
    // Less than a round trip later.
    rp.on_loss(us(9), &fast);
    assert!(near(rp.cwnd, 5.0));
    for n in 1..5 {
        rp.on_loss(us(100 * n), &timeout);
    }
    assert!(near(rp.cwnd, 5.0 / 16.0));
    // An ACK ends the row.
    ack(&mut rp, 450, 25);
    rp.on_loss(us(500), &timeout);
    assert!(rp.cwnd > 0.1);
    for n in 0..4 {
        rp.on_loss(us(501 + n), &timeout);
    }
    assert!(near(rp.cwnd, 0.001));
}

#[test]
fn the_window_stays_within_its_bounds() {
    let mut rp = built(r#"{"base-target": "20us", "max-cwnd": 2, "min-cwnd": 0.5}"#, &qp());
    assert!(near(rp.cwnd, 2.0));
    assert!(near(ack(&mut rp, 0, 1), 2.0));
    for n in 1..9 {
        ack(&mut rp, 2_000 * n, 1_000);
    }
    assert!(near(rp.cwnd, 0.5));
    // By default: 100 Gbit/s · (10 + 1 + 50) us = 762.5 packets, and a first window of 125.
    let rp = built("{}", &qp());
    assert!(near(rp.max_cwnd, 762.5) && near(rp.cwnd, 125.0));
}

#[test]
fn what_it_cannot_use_is_refused_by_its_key() {
    for (json, key) in [
        (r#"{"ai": 0}"#, "ai"),
        (r#"{"beta": 1.5}"#, "beta"),
        (r#"{"max-mdf": 0}"#, "max-mdf"),
        (r#"{"min-cwnd": 2}"#, "min-cwnd"),
        (r#"{"fs-min-cwnd": 0}"#, "fs-min-cwnd"),
        (r#"{"fs-max-cwnd": 0.1}"#, "fs-max-cwnd"),
        (r#"{"max-cwnd": 0.5}"#, "max-cwnd"),
        (r#"{"initial-cwnd": 0}"#, "initial-cwnd"),
        (r#"{"base-target": "0us"}"#, "base-target"),
        (r#"{"retx-reset-threshold": 0}"#, "retx-reset-threshold"),
    ] {
        let params: Params = serde_json::from_str(json).expect("well formed");
        assert_eq!(params.build(&qp()).map(|_| ()).map_err(|error| error.key), Err(key), "{json}");
    }
}

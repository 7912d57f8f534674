use super::*;
use crate::slots::Mark;
use crate::testing::{qp, us};

const G: u64 = 1_000_000_000;

fn params(json: &str) -> Params {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// At a NIC of 100 Gbit/s, with what JSON gives: steps of 100 and 500 Mbit/s.
fn rp(json: &str) -> Rp {
    params(json).build(&qp()).expect("the parameters are valid")
}

/// A queue pair at half its line rate, so that steps show.
fn at_half(json: &str) -> Rp {
    Rp { rate: Rate::gbps(50), ..rp(json) }
}

/// An ACK of all before `next`, which is the first packet of a round trip of `rtt`; 10 packets are in flight.
fn ack(rp: &mut Rp, next: u64, rtt: Span) -> u64 {
    let view = AckView {
        acked: Bytes(1000),
        next,
        sent: next + 9,
        rtt,
        in_flight: Bytes(9000),
        marked: Mark::None,
        int: &[],
    };
    rp.on_ack(us(0), &view);
    rp.allowance().rate.0
}

/// The rates after updates of these round-trip times in microseconds, the first of which only initialises.
fn rates(rp: &mut Rp, rtts: &[u64]) -> Vec<u64> {
    let mut next = rp.update_at;
    let mut each = |rtt: &u64| {
        next += 1;
        let rate = ack(rp, next, Span::us(*rtt));
        next = rp.update_at;
        rate
    };
    rtts.iter().map(&mut each).collect()
}

const M: u64 = 1_000_000;

// ---- HPCC's simulator

#[test]
fn one_update_a_round_trip_is_made_and_the_first_only_stores() {
    let mut rp = rp("{}");
    assert_eq!(rp.allowance(), Allowance { rate: Rate::gbps(100), window: Bytes::MAX });
    assert_eq!(ack(&mut rp, 1, Span::us(900)), 100 * G);
    // Until 10 is acknowledged nothing happens, however long the round trip.
    for next in 2..=10 {
        assert_eq!(ack(&mut rp, next, Span::us(900)), 100 * G);
    }
    // 1 - 0.8 · (1 - 500/900) = 0.64444: 100G · 0.644... = 64.4G.
    assert_eq!(ack(&mut rp, 11, Span::us(900)) / M, 64_444);
    assert_eq!(ack(&mut rp, 12, Span::us(900)) / M, 64_444);
}

#[test]
fn below_t_low_the_rate_rises_and_after_five_times_by_the_hyper_step() {
    let mut rp = at_half("{}");
    // rai = 100 Mbit/s, rhai = 500 Mbit/s at 100G. The gradient does not matter.
    let rates = rates(&mut rp, &[10, 20, 30, 40, 49, 49, 49, 49]);
    let expected = [50_000, 50_100, 50_200, 50_300, 50_400, 50_500, 51_000, 51_500].map(|rate| rate * M);
    assert_eq!(rates, expected);
    assert_eq!(rp.increases(), 7);
}

#[test]
fn an_increase_ends_at_line_rate() {
    let mut rp = rp("{}");
    assert_eq!(rates(&mut rp, &[10, 10, 10]), [100 * G; 3]);
    assert_eq!(rp.increases(), 2);
}

#[test]
fn above_t_high_the_rate_is_cut_whatever_the_gradient() {
    let mut rp = at_half("{}");
    // 1 - 0.8 · (1 - 500/1000) = 0.6; then 1 - 0.8 · (1 - 500/625) = 0.84, though the round trip shrinks.
    assert_eq!(rates(&mut rp, &[1000, 1000, 625]), [50 * G, 30 * G, 25_200 * M]);
    assert_eq!(rp.increases(), 0);
}

#[test]
fn at_the_thresholds_the_gradient_decides() {
    // Constant: gradient 0, not above: an increase at T_low and at T_high themselves.
    assert_eq!(rates(&mut at_half("{}"), &[50, 50]), [50 * G, 50_100 * M]);
    assert_eq!(rates(&mut at_half("{}"), &[500, 500]), [50 * G, 50_100 * M]);
}

#[test]
fn a_growing_round_trip_cuts_by_its_smoothed_gradient() {
    let mut rp = at_half("{}");
    // 100 to 104 us: 0.875 · 4000 = 3500 ns, gradient 3500/20000 = 0.175: 50G · (1 - 0.8 · 0.175) = 43G.
    // 104 again: 0.125 · 3500 = 437.5, gradient 0.021875: 43G · (1 - 0.0175) = 42.2475G.
    // 102: 0.125 · 437.5 - 0.875 · 2000 = -1695.3: + 100M.
    let rates = rates(&mut rp, &[100, 104, 104, 102]);
    for (rate, expected) in rates.iter().zip([50 * G, 43 * G, 42_247_500_000, 42_347_500_000]) {
        assert!(rate.abs_diff(expected) <= 1, "{rate}, not {expected}");
    }
}

#[test]
fn the_factor_is_floored_at_0_and_the_rate_at_rmin() {
    let mut rp = at_half("{}");
    // 100 to 200 us: gradient 87500/20000 = 4.375, 1 - 3.5 < 0. The factor 0 leaves rmin = 1G.
    assert_eq!(rates(&mut rp, &[100, 200]), [50 * G, G]);
    let mut rp = at_half(r#"{"rmin": "20G"}"#);
    assert_eq!(rates(&mut rp, &[1000, 1000, 1000, 1000]), [50 * G, 30 * G, 20 * G, 20 * G]);
    let slow = QpInfo { line_rate: Rate::mbps(100), ..qp() };
    let mut slow = Params::default().build(&slow).expect("valid");
    assert_eq!(rates(&mut slow, &[100, 200]), [100 * M; 2]);
}

#[test]
fn after_five_times_without_growth_the_hyper_step_comes_and_a_cut_ends_it() {
    let mut rp = at_half("{}");
    let seen = rates(&mut rp, &[100, 100, 100, 100, 100, 100, 100, 99]);
    let expected = [50_000, 50_100, 50_200, 50_300, 50_400, 50_500, 51_000, 51_500].map(|rate| rate * M);
    assert_eq!(seen, expected);
    let cut = rates(&mut rp, &[600])[0];
    assert!(cut < 51_500 * M);
    // The running difference was 0.125 · -875 + 0.875 · 501000 ns; it needs a fall to be below 0 again.
    assert_eq!(rates(&mut rp, &[100]), [cut + 100 * M]);
}

#[test]
fn increases_below_t_low_and_without_growth_count_together() {
    let mut rp = at_half("{}");
    let seen = rates(&mut rp, &[100, 100, 100, 40, 40, 40, 40]);
    assert_eq!(seen[5..], [50_500 * M, 51_000 * M]);
}

#[test]
fn times_are_whole_nanoseconds() {
    let mut rp = at_half(r#"{"t-low": "50000999ps"}"#);
    // Both round trips are 50000 ns, which is not below T_low of 50000 ns; the gradient is 0.
    ack(&mut rp, 1, Span(50_000_000));
    assert_eq!(ack(&mut rp, 11, Span(50_000_998)), 50_100 * M);
    assert_eq!(rp.difference, 0.0);
}

// ---- the paper

#[test]
fn the_papers_updates_come_with_each_segment() {
    let mut rp = at_half(r#"{"preset": "paper", "segment": "4KB"}"#);
    let mut at = |next| ack(&mut rp, next, Span::us(20));
    let rates: Vec<_> = (1..=12).map(&mut at).collect();
    // The segments end at 4, which only stores, at 8 and at 12.
    assert!(rates[..7].iter().all(|rate| *rate == 50 * G), "{rates:?}");
    assert!(rates[7..11].iter().all(|rate| *rate == 50_100 * M), "{rates:?}");
    assert_eq!(rates[11], 50_200 * M);
}

/// One segment an ACK, and nothing subtracted that shows.
const PAPER: &str = r#"{"preset": "paper", "segment": "1KB"}"#;

#[test]
fn the_papers_round_trip_is_less_the_nics_serialisation() {
    let mut rp = at_half(PAPER);
    // 1000 B at 100G take 80 ns: 50.08 us is 50 us, at T_low; 50.0799 us is below.
    assert_eq!(rates(&mut rp, &[10])[0], 50 * G);
    ack(&mut rp, 2, Span::ns(50_080));
    assert!(rp.allowance().rate < Rate::gbps(50), "10 to 50 us is growth");
    let before = rp.allowance().rate.0;
    assert_eq!(ack(&mut rp, 3, Span(50_079_900)), before + 100 * M);
    assert!((rp.last.unwrap() - 49_999.9).abs() < 1e-9);
}

#[test]
fn the_papers_hyper_increase_needs_a_row_without_growth_between_the_thresholds() {
    let mut rp = at_half(PAPER);
    let seen = rates(&mut rp, &[100, 100, 100, 100, 100, 100, 100]);
    assert_eq!(seen[4..], [50_400 * M, 50_500 * M, 51_000 * M]);
    // Below T_low the row is broken, and there is no hyper step there.
    assert_eq!(rates(&mut rp, &[40, 40, 40]), [51_100 * M, 51_200 * M, 51_300 * M]);
    assert_eq!(rates(&mut rp, &[40, 40, 40, 40])[3], 51_700 * M);
    assert_eq!(rp.streak, 0);
}

// ---- patched

#[test]
fn patched_flows_weigh_a_step_against_the_distance_from_the_reference() {
    let json = r#"{"preset": "patched", "segment": "1KB", "beta": 0.5, "rtt-ref": "100us", "rai": "1G"}"#;
    let mut rp = Rp { last: Some(149_920.0), ..at_half(json) };
    // Gradient 0: w = 1/2; 150 us less 80 ns: error 0.4992. 1G/2 + 50G · (1 - 0.5 · 0.5 · 0.4992) = 44.26G.
    let rate = ack(&mut rp, 1, Span::us(150));
    assert!(rate.abs_diff(44_260_000_000) <= 1, "{rate}");
    // At the reference itself nothing is cut: 44.26G + 1G · (1 - w); a fall of 50 us has w = 0.
    let rate = ack(&mut rp, 2, Span::ns(100_080));
    assert!(rate.abs_diff(45_260_000_000) <= 2, "{rate}");
    // A growth of 100 us has w = 1, error 1 - 0: 45.26G · (1 - 0.5 · 1) = 22.63G.
    let rate = ack(&mut rp, 3, Span::ns(200_080));
    assert!(rate.abs_diff(22_630_000_000) <= 2, "{rate}");
    assert_eq!(rp.increases(), 1);
}

#[test]
fn patched_flows_react_as_the_papers_beyond_the_thresholds() {
    let mut rp = at_half(r#"{"preset": "patched", "segment": "1KB"}"#);
    assert_eq!(rates(&mut rp, &[20, 20])[1], 50_100 * M);
    // beta = 0.008: 1 - 0.008 · (1 - 500/999.92) = 0.996000..
    let rate = rates(&mut rp, &[1000])[0];
    let expected = 50.1e9 * (1.0 - 0.008 * (1.0 - 500.0 / 999.92));
    assert!(rate.abs_diff(expected as u64) <= 1, "{rate}, not {expected}");
    assert_eq!(rp.settings.rtt_ref, Some(50_000.0));
}

// ---- parameters

#[test]
fn steps_grow_with_the_nics_rate() {
    let of = |gbps| {
        let settings = Params::default().settings(&QpInfo { line_rate: Rate::gbps(gbps), ..qp() });
        settings.map(|settings| (settings.rai, settings.rhai)).expect("valid")
    };
    assert_eq!(of(10), (Rate::mbps(10), Rate::mbps(50)));
    assert_eq!(of(25), (Rate::mbps(25), Rate::mbps(125)));
    assert_eq!(of(400), (Rate::mbps(400), Rate::gbps(2)));
}

#[test]
fn what_a_form_cannot_use_is_refused_by_its_key() {
    for (json, key) in [
        (r#"{"ewma": 1.1}"#, "ewma"),
        (r#"{"beta": -0.1}"#, "beta"),
        (r#"{"t-low": "2ms"}"#, "t-high"),
        (r#"{"min-rtt": "0us"}"#, "min-rtt"),
        (r#"{"min-rtt": "999ps"}"#, "min-rtt"),
        (r#"{"rmin": "0G"}"#, "rmin"),
        (r#"{"segment": "16KB"}"#, "segment"),
        (r#"{"preset": "paper", "segment": "0B"}"#, "segment"),
        (r#"{"preset": "paper", "rtt-ref": "50us"}"#, "rtt-ref"),
        (r#"{"preset": "patched", "rtt-ref": "0us"}"#, "rtt-ref"),
        (r#"{"preset": "patched", "t-low": "0us"}"#, "t-low"),
        (r#"{"preset": "patched", "rhai": "1G"}"#, "rhai"),
        (r#"{"preset": "patched", "hai-after": 3}"#, "hai-after"),
    ] {
        assert_eq!(params(json).build(&qp()).map(|_| ()).map_err(|error| error.key), Err(key), "{json}");
    }
    assert_eq!(Params::default().needs(), [Need::Acks, Need::Timestamps]);
}

use super::*;
use crate::slots::{IntHop, Mark};
use crate::testing::{qp, us};

const G: u64 = 1_000_000_000;
const M: u64 = 1_000_000;

fn params(json: &str) -> Params {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// At a NIC of 100 Gbit/s; T is 10 us of the path and 20 us at most, the windows 125 and 250 KB.
fn rp(json: &str) -> Rp {
    params(json).build(&qp()).expect("the parameters are valid")
}

/// The simulator's form: T = 20 us, a window of 250 KB, steps of 40 Mbit/s.
fn simulator(more: &str) -> Rp {
    rp(&format!(r#"{{"preset": "simulator"{more}}}"#))
}

/// A record of a port of 100G: microseconds, bytes sent and bytes queued.
fn hop(at_us: u64, tx_bytes: u64, queue: u64) -> IntHop {
    IntHop { rate: Rate::gbps(100), time: us(at_us), tx_bytes, queue: Bytes(queue) }
}

/// An ACK of everything before `next`, where everything before `sent` is sent: returns the rate.
fn ack(rp: &mut Rp, next: u64, sent: u64, int: &[IntHop]) -> u64 {
    let view = AckView {
        acked: Bytes(1000),
        next,
        sent,
        rtt: Span::us(10),
        in_flight: Bytes((sent - next) * 1000),
        marked: Mark::None,
        int,
    };
    rp.on_ack(us(0), &view);
    rp.allowance().rate.0
}

/// Quotients of real numbers may lie a bit/s, or a byte, below what the same numbers give on paper.
#[track_caller]
fn near(rate: u64, expected: u64) {
    assert!(rate.abs_diff(expected) <= 1, "{rate}, not {expected}");
}

fn window(rp: &Rp) -> u64 {
    rp.allowance().window.0
}

/// Full updates only: each ACK has a record of a hop that was used to `percent` for 20 us, so that U is that.
struct Updates {
    rp: Rp,
    at: u64,
    tx: u64,
}

impl Updates {
    fn new(mut rp: Rp) -> Self {
        ack(&mut rp, 1, 1, &[hop(0, 0, 0)]);
        Updates { rp, at: 0, tx: 0 }
    }

    fn used(&mut self, percent: u64) -> u64 {
        self.at += 1;
        self.tx += 2_500 * percent;
        ack(&mut self.rp, self.at + 1, self.at + 1, &[hop(self.at * 20, self.tx, 0)])
    }
}

// ---- the simulator's form

#[test]
fn the_first_ack_only_stores() {
    let mut rp = simulator("");
    assert_eq!(rp.allowance(), Allowance { rate: Rate::gbps(100), window: Bytes::kb(250) });
    assert_eq!(ack(&mut rp, 1, 10, &[hop(0, 0, 900_000)]), 100 * G);
    assert!(rp.rates_set().is_some() && !rp.scales_window() && !rp.is_constant());
}

#[test]
fn the_utilisation_is_smoothed_over_t() {
    let mut rp = simulator("");
    ack(&mut rp, 1, 10, &[hop(0, 0, 0)]);
    // 125 KB in 10 us are 100G: u = 1, queue term min(25000, 0) = 0. U = (1 · 10 + 1 · 10) / 20 = 1.
    // maxStage 0: 100G / (1/0.95) + 40M = 95.04G; the window is 250 KB · 0.9504.
    near(ack(&mut rp, 2, 11, &[hop(10, 125_000, 25_000)]), 95_040 * M);
    assert!(window(&rp).abs_diff(237_600) <= 1);
    // 62.5 KB of 125 KB: 0.5; min(25, 50) KB / 250 KB = 0.1: u = 0.6. U = (1 · 10 + 0.6 · 10) / 20 = 0.8.
    // It is a fast reaction, from the reference of 100G: 100G · 0.95 / 0.8 is above the line rate.
    assert_eq!(ack(&mut rp, 3, 12, &[hop(20, 187_500, 50_000)]), 100 * G);
    // All of 5 us, min(50, 75) KB: u = 1.2. U = (0.8 · 15 + 1.2 · 5) / 20 = 0.9; then 10 us of 1 + 0.3:
    // U = (0.9 · 10 + 1.3 · 10) / 20 = 1.1: 100G · 0.95 / 1.1 + 40M.
    assert_eq!(ack(&mut rp, 4, 13, &[hop(25, 250_000, 75_000)]), 100 * G);
    near(ack(&mut rp, 5, 14, &[hop(35, 375_000, 75_000)]), 86_363_636_363 + 40 * M);
}

#[test]
fn fast_reactions_start_from_the_reference_and_do_not_write_it() {
    let mut rp = simulator("");
    ack(&mut rp, 1, 10, &[hop(0, 0, 0)]);
    // u = 2 for 20 us (twice what a link can send, for round numbers): U = 2; 100G · 0.475 + 40M.
    for next in 2..=10 {
        let time = 20 * (next - 1);
        near(ack(&mut rp, next, next + 9, &[hop(time, 25_000 * time, 0)]), 47_540 * M);
    }
    // Beyond 10: the full update starts from 100G too, and makes 47.54G the reference.
    near(ack(&mut rp, 11, 20, &[hop(200, 5_000_000, 0)]), 47_540 * M);
    for next in 12..=20 {
        let time = 20 * (next - 1);
        near(ack(&mut rp, next, next + 9, &[hop(time, 25_000 * time, 0)]), 22_621_500_000);
    }
    // Beyond 20, what was sent when the last full update was made: 22.6215G is the reference.
    near(ack(&mut rp, 21, 30, &[hop(400, 10_000_000, 0)]), 22_621_500_000);
    near(ack(&mut rp, 22, 31, &[hop(420, 10_500_000, 0)]), 10_785_212_500);
}

#[test]
fn without_fast_reaction_acks_between_have_no_effect() {
    let mut rp = simulator(r#", "fast-react": false"#);
    ack(&mut rp, 1, 3, &[hop(0, 0, 0)]);
    assert_eq!(ack(&mut rp, 2, 4, &[hop(20, 500_000, 0)]), 100 * G);
    // From the record of the first ACK: 500 KB in 40 us, u = 1: had the second been stored, it would be 0.
    near(ack(&mut rp, 4, 5, &[hop(40, 500_000, 0)]), 95_040 * M);
}

#[test]
fn the_time_between_records_counts_up_to_t() {
    let mut rp = simulator("");
    ack(&mut rp, 1, 1, &[hop(0, 0, 0)]);
    // 2 MB in 80 us: u = 2, tau = 20 us: U = (1 · 0 + 2 · 20) / 20.
    near(ack(&mut rp, 2, 2, &[hop(80, 2_000_000, 0)]), 47_540 * M);
}

#[test]
fn the_busiest_hop_counts_with_its_own_time() {
    let mut rp = simulator("");
    ack(&mut rp, 1, 1, &[hop(0, 0, 0), hop(0, 0, 0)]);
    // u = 0.5 over 20 us and u = 2 over 5 us: U = (1 · 15 + 2 · 5) / 20 = 1.25. 100G · 0.76 + 40M.
    near(ack(&mut rp, 2, 2, &[hop(20, 125_000, 0), hop(5, 125_000, 0)]), 76_040 * M);
    // The busiest is now the first: 1.5 over 10 us; the other moved 10 us at 0.
    // U = (1.25 · 10 + 1.5 · 10) / 20 = 1.375: 76.04G · 0.95 / 1.375 + 40M = 52.5767..G.
    let rate = ack(&mut rp, 3, 3, &[hop(30, 312_500, 0), hop(15, 125_000, 0)]);
    near(rate, 52_536_727_272 + 40 * M);
}

#[test]
fn queues_of_faster_links_count_less() {
    let mut rp = simulator("");
    let fast = |at_us, queue| IntHop { rate: Rate::gbps(400), ..hop(at_us, 0, queue) };
    ack(&mut rp, 1, 1, &[fast(0, 1_500_000)]);
    // 1.5 MB · 100/400 / 250 KB = 1.5: 100G · 0.95 / 1.5 + 40M.
    near(ack(&mut rp, 2, 2, &[fast(20, 2_000_000)]), 63_333_333_333 + 40 * M);
}

#[test]
fn additive_steps_come_between_multiplicative_ones() {
    let mut updates = Updates::new(simulator(r#", "max-stage": 2"#));
    near(updates.used(200), 47_540 * M);
    near(updates.used(50), 47_580 * M);
    near(updates.used(50), 47_620 * M);
    // After two of them: 47.62G / (0.5/0.95) + 40M = 90.518G.
    near(updates.used(50), 90_518 * M);
    near(updates.used(50), 90_558 * M);
    // At eta or above at once, and the count starts again: 90.558G · 0.95 + 40M.
    near(updates.used(100), 86_070_100_000);
    near(updates.used(50), 86_110_100_000);
    assert_eq!(updates.rp.increases(), 5);
}

#[test]
fn by_default_every_update_of_the_simulator_is_multiplicative() {
    let mut updates = Updates::new(simulator(""));
    near(updates.used(200), 47_540 * M);
    near(updates.used(50), 90_366 * M);
}

#[test]
fn rate_and_window_stay_within_their_bounds() {
    let mut updates = Updates::new(simulator(r#", "rmin": "40G""#));
    near(updates.used(200), 47_540 * M);
    assert_eq!(updates.used(200), 40 * G);
    assert_eq!(window(&updates.rp), 100_000);
    assert_eq!(updates.used(10), 100 * G);
    // A link that carried nothing: any rate would do.
    assert_eq!(updates.used(0), 100 * G);
    assert_eq!(window(&updates.rp), 250_000);
    let mut fixed = Updates::new(simulator(r#", "variable-window": false"#));
    fixed.used(200);
    assert_eq!(window(&fixed.rp), 250_000);
}

#[test]
fn the_window_is_a_byte_at_least() {
    let slow = r#"{"preset": "simulator", "window": "1KB", "rmin": "1Mbps", "rai": "0bps"}"#;
    let mut updates = Updates::new(rp(slow));
    // 5e11 bytes a tick: U is 1e6 and more.
    updates.used(1_000_000_000);
    assert_eq!(updates.rp.allowance(), Allowance { rate: Rate::mbps(1), window: Bytes(1) });
}

#[test]
fn each_hop_has_its_own_reference_with_multi_rate() {
    let mut rp = simulator(r#", "multi-rate": true"#);
    ack(&mut rp, 1, 1, &[hop(0, 0, 0), hop(0, 0, 0)]);
    // u = 2 and u = 1, over T: 47.54G and 95.04G.
    near(ack(&mut rp, 2, 2, &[hop(20, 500_000, 0), hop(20, 250_000, 0)]), 47_540 * M);
    // u = 0.95 and u = 2: 47.54G + 40M and 95.04G · 0.475 + 40M = 45.184G. One reference for all would give
    // 47.54G · 0.475 + 40M.
    near(ack(&mut rp, 3, 3, &[hop(40, 737_500, 0), hop(40, 750_000, 0)]), 45_184 * M);
    // Between full updates the references stay: 47.58G · 0.95 / 1.9 and 45.184G · 0.95 / 0.95.
    near(ack(&mut rp, 3, 9, &[hop(60, 1_212_500, 0), hop(60, 987_500, 0)]), 23_830 * M);
    near(ack(&mut rp, 4, 9, &[hop(80, 1_450_000, 0), hop(80, 1_225_000, 0)]), 45_224 * M);
}

#[test]
fn with_multi_rate_a_hop_smooths_its_own_utilisation() {
    let mut rp = simulator(r#", "multi-rate": true"#);
    ack(&mut rp, 1, 1, &[hop(0, 0, 0), hop(0, 0, 0)]);
    // u = 2 over 5 us: (1 · 15 + 2 · 5) / 20 = 1.25; u = 1.5 over 20: 1.5. The least is 100G · 0.95 / 1.5 +
    // 40M.
    near(ack(&mut rp, 2, 2, &[hop(5, 125_000, 0), hop(20, 375_000, 0)]), 63_333_333_333 + 40 * M);
}

#[test]
fn sampled_feedback_leaves_out_empty_queues_between_full_updates() {
    for more in ["", r#", "multi-rate": true"#] {
        let mut rp = simulator(&format!(r#", "sample-feedback": true{more}"#));
        ack(&mut rp, 1, 9, &[hop(0, 0, 0)]);
        assert_eq!(ack(&mut rp, 2, 9, &[hop(20, 500_000, 0)]), 100 * G);
        // A queue: from the first record on, 1 MB in 40 us.
        near(ack(&mut rp, 3, 9, &[hop(40, 1_000_000, 1)]), 47_540 * M);
        // A full update counts empty queues too.
        near(ack(&mut rp, 10, 20, &[hop(60, 1_250_000, 0)]), 95_040 * M);
    }
}

#[test]
fn sampled_hops_that_are_left_out_keep_their_references() {
    let mut rp = simulator(r#", "sample-feedback": true, "multi-rate": true"#);
    ack(&mut rp, 1, 1, &[hop(0, 0, 0), hop(0, 0, 0)]);
    near(ack(&mut rp, 2, 9, &[hop(20, 500_000, 0), hop(20, 250_000, 0)]), 47_540 * M);
    // The second alone has a sample, at 0.95: 95.04G + 40M; the first's reference of 47.54G is the least.
    near(ack(&mut rp, 3, 9, &[hop(40, 500_000, 0), hop(40, 487_500, 1)]), 47_540 * M);
}

#[test]
fn acks_without_records_or_with_the_same_ones_change_nothing() {
    for more in ["", r#", "multi-rate": true"#] {
        let mut rp = simulator(more);
        ack(&mut rp, 1, 1, &[hop(0, 0, 0)]);
        let rate = ack(&mut rp, 2, 2, &[hop(20, 500_000, 0)]);
        assert_eq!(ack(&mut rp, 3, 3, &[]), rate);
        assert_eq!(ack(&mut rp, 4, 4, &[hop(20, 900_000, 9_000)]), rate);
        assert_eq!(ack(&mut rp, 5, 5, &[hop(19, 100_000, 9_000)]), rate);
    }
}

#[test]
fn the_simulators_times_are_whole_nanoseconds() {
    let mut rp = simulator("");
    let at = |ps, tx| IntHop { time: Time(ps), ..hop(0, tx, 0) };
    ack(&mut rp, 1, 1, &[at(999, 0)]);
    // 0 to 20000 ns, though it is 19999.002: 250 KB are u = 1 exactly.
    near(ack(&mut rp, 2, 2, &[at(20_000_001, 250_000)]), 95_040 * M);
}

#[test]
fn coded_records_measure_across_their_wrap() {
    // multi = 4: 512 B. The clock wraps after 16777.216 us, bytes after 536870912.
    let mut rp = simulator(r#", "int-multi": 4"#);
    ack(&mut rp, 1, 1, &[hop(16_770, 536_870_912 - 512_000, 0)]);
    // 1000 units and 976 more, of 512 B each, in 20 us, and 31.. of 320 B queued: 10000 / 320 = 31.
    // u = 1976 · 512 · 8 / 20 us / 100G = 4.046848; no queue before.
    let rate = ack(&mut rp, 2, 2, &[hop(16_790, 536_870_912 + 500_000, 10_000)]);
    near(rate, (95e9 / 4.046_848) as u64 + 40 * M);
}

#[test]
fn more_than_five_coded_hops_make_no_update() {
    let six = |at_us, tx| [hop(at_us, tx, 0); 6];
    let mut coded = simulator(r#", "int-multi": 1"#);
    ack(&mut coded, 1, 1, &six(0, 0));
    assert_eq!(ack(&mut coded, 2, 8, &six(20, 500_000)), 100 * G);
    // But the round trip counts: 8 is not beyond 8, so that this is a fast reaction, to records that are new.
    assert_eq!(ack(&mut coded, 8, 9, &six(20, 500_000)[..5]), 100 * G);
    let mut exact = simulator("");
    ack(&mut exact, 1, 1, &six(0, 0));
    near(ack(&mut exact, 2, 2, &six(20, 500_000)), 47_540 * M);
}

// ---- the paper's form

#[test]
fn the_papers_window_follows_the_utilisation_and_its_rate_the_window() {
    let mut rp = rp("{}");
    assert_eq!(rp.allowance(), Allowance { rate: Rate::gbps(100), window: Bytes::kb(125) });
    // T = 10 us. W_AI = 125000 · 0.05 / 100 = 62.5.
    ack(&mut rp, 1, 5, &[hop(0, 0, 0)]);
    assert_eq!(window(&rp), 125_000);
    // 125 KB in 10 us: U = 1. W = 125000 · 0.95 + 62.5 = 118812.5, R = W / 10 us = 95.05G.
    near(ack(&mut rp, 2, 6, &[hop(10, 125_000, 0)]), 95_050 * M);
    assert_eq!(window(&rp), 118_812);
    // It was no full update, and this one is: from 125000 again. 5 us of u = 2: U = (1 · 5 + 2 · 5) / 10 =
    // 1.5. W = 125000 · 0.95 / 1.5 + 62.5 = 79229.1666.., R = 63.38333..G.
    near(ack(&mut rp, 6, 10, &[hop(15, 250_000, 0)]), 63_383_333_333);
    assert_eq!(window(&rp), 79_229);
    // From that reference: 10 us of u = 1: U = 1. W = 79229.1666 · 0.95 + 62.5 = 75330.208.
    near(ack(&mut rp, 7, 11, &[hop(25, 375_000, 0)]), 60_264_166_666);
}

#[test]
fn the_papers_queue_term_is_by_the_links_rate_and_t() {
    let mut rp = rp(r#"{"window": "50KB", "wai": "0B"}"#);
    ack(&mut rp, 1, 1, &[hop(0, 0, 125_000)]);
    // 125 KB are what 100G carry in 10 us, whatever the window: u = 1 + 1. W = 50000 · 0.475.
    ack(&mut rp, 2, 2, &[hop(10, 125_000, 250_000)]);
    assert_eq!(window(&rp), 23_750);
    assert_eq!(rp.allowance().rate, Rate::gbps(19));
}

#[test]
fn the_paper_adds_five_times_before_it_multiplies() {
    let mut updates = Updates::new(rp(r#"{"base-rtt": "20us", "wai": "1KB"}"#));
    // T = 20 us, W_init = 250 KB. U = 2: 118750 + 1000.
    updates.used(200);
    let windows = [(); 6].map(|()| {
        updates.used(50);
        window(&updates.rp)
    });
    // Five steps to 124750, then / (0.5/0.95) + 1000 = 238025.
    for (window, expected) in windows.iter().zip([120_750, 121_750, 122_750, 123_750, 124_750, 238_025]) {
        near(*window, expected);
    }
    // At most the window at line rate.
    updates.used(50);
    assert!((0..7).map(|_| updates.used(1)).all(|rate| rate <= 100 * G));
    assert_eq!(window(&updates.rp), 250_000);
}

#[test]
fn the_papers_window_has_a_floor() {
    // rmin = 100 Mbit/s over 10 us are 125 B.
    let mut updates = Updates::new(rp(r#"{"wai": "0B"}"#));
    for _ in 0..4 {
        updates.used(1_000_000);
    }
    assert_eq!(updates.rp.allowance(), Allowance { rate: Rate::mbps(100), window: Bytes(125) });
}

// ---- parameters

#[test]
fn words_choose_t_and_the_window() {
    let of = |json: &str| {
        let settings = params(json).settings(&qp()).expect("valid");
        ((settings.base * 1e9) as u64, settings.window.0)
    };
    assert_eq!(of("{}"), (10_000, 125_000));
    assert_eq!(of(r#"{"base-rtt": "largest"}"#), (20_000, 250_000));
    assert_eq!(of(r#"{"base-rtt": "13us"}"#), (13_000, 162_500));
    assert_eq!(of(r#"{"preset": "simulator"}"#), (20_000, 250_000));
    assert_eq!(of(r#"{"preset": "simulator", "base-rtt": "auto", "window": "auto"}"#), (10_000, 125_000));
    assert_eq!(of(r#"{"preset": "simulator", "window": "60KB"}"#), (20_000, 60_000));
    let largest = [Need::Acks, Need::Int, Need::Largest];
    assert_eq!(params("{}").needs(), [Need::Acks, Need::Int]);
    assert_eq!(params(r#"{"window": "largest"}"#).needs(), largest);
    assert_eq!(params(r#"{"preset": "simulator"}"#).needs(), largest);
    assert_eq!(params(r#"{"preset": "simulator", "window": "auto"}"#).needs(), largest);
    let own = params(r#"{"preset": "simulator", "window": "auto", "base-rtt": "9us"}"#);
    assert_eq!(own.needs(), [Need::Acks, Need::Int]);
}

#[test]
fn presets_hold_their_published_values() {
    let of = |json: &str| params(json).settings(&qp()).expect("valid");
    let paper = of("{}");
    assert_eq!((paper.eta, paper.max_stage, paper.rmin), (0.95, 5, Rate::mbps(100)));
    assert!((paper.wai - 62.5).abs() < 1e-9 && paper.fast_react);
    let simulator = of(r#"{"preset": "simulator"}"#);
    assert_eq!((simulator.eta, simulator.max_stage), (0.95, 0));
    assert_eq!((simulator.rai, simulator.rmin), (Rate::mbps(40), Rate::gbps(1)));
    assert!(simulator.fast_react && simulator.variable_window);
    assert!(!simulator.multi_rate && !simulator.sample_feedback);
}

#[test]
fn parameters_survive_a_round_trip() {
    for json in [
        r#"{"base-rtt": "largest", "window": "30KB", "wai": "80B", "int-multi": 4}"#,
        r#"{"preset": "simulator", "base-rtt": "13us", "window": "auto", "rai": "50Mbps", "multi-rate": true}"#,
    ] {
        let given = params(json);
        assert_eq!(params(&serde_json::to_string(&given).expect("it can be written")), given);
    }
}

#[test]
fn what_a_form_cannot_use_is_refused_by_its_key() {
    for (json, key) in [
        (r#"{"eta": 0}"#, "eta"),
        (r#"{"eta": 1.01}"#, "eta"),
        (r#"{"expected-flows": 0}"#, "expected-flows"),
        (r#"{"expected-flows": 9, "wai": "80B"}"#, "expected-flows"),
        (r#"{"rmin": "0G"}"#, "rmin"),
        (r#"{"base-rtt": "999ps"}"#, "base-rtt"),
        (r#"{"window": "999B"}"#, "window"),
        (r#"{"int-multi": 0}"#, "int-multi"),
        (r#"{"rai": "1G"}"#, "rai"),
        (r#"{"variable-window": false}"#, "variable-window"),
        (r#"{"multi-rate": true}"#, "multi-rate"),
        (r#"{"sample-feedback": true}"#, "sample-feedback"),
        (r#"{"preset": "simulator", "wai": "80B"}"#, "wai"),
        (r#"{"preset": "simulator", "expected-flows": 9}"#, "expected-flows"),
    ] {
        assert_eq!(params(json).build(&qp()).map(|_| ()).map_err(|error| error.key), Err(key), "{json}");
    }
}

#[test]
fn windows_that_updates_raise_are_counted() {
    let mut updates = Updates::new(rp(r#"{"preset": "paper"}"#));
    updates.used(200);
    assert_eq!(updates.rp.increases(), 0);
    updates.used(50);
    updates.used(50);
    assert_eq!(updates.rp.increases(), 2);
}

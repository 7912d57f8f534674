use floodway_units::{FlowId, Turns};

use super::*;
use crate::registry::{NotificationParams, ReactionParams};
use crate::testing::{qp, us};

/// At a NIC of 100 Gbit/s, with the parameters in JSON.
fn rp(json: &str) -> Rp {
    params(json).build(&qp()).expect("the parameters are valid")
}

fn params(json: &str) -> Params {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn reporting(mark: Mark) -> Cnp {
    Cnp { flow: FlowId(0), mark, window: None, rate: None, degree: 0.0 }
}

fn cnp(rp: &mut Rp, at: u64) {
    pass(rp, at);
    rp.on_cnp(us(at), &reporting(Mark::Ce));
}

/// Calls the timers that are due before `until`, in microseconds.
fn pass(rp: &mut Rp, until: u64) {
    let mut turns = Turns::at_most(1_000_000);
    while turns.go()
        && let Some(at) = rp.next_timeout().filter(|at| *at < us(until))
    {
        rp.on_timeout(at);
    }
}

/// Rc and Rt just after `at`.
fn rates(rp: &mut Rp, at: u64) -> (u64, u64) {
    let mut turns = Turns::at_most(1_000_000);
    while turns.go()
        && let Some(due) = rp.next_timeout().filter(|due| *due <= us(at))
    {
        rp.on_timeout(due);
    }
    let rates = rp.rates();
    assert_eq!(rp.allowance().rate, rates.current);
    (rates.current.0, rates.target.0)
}

fn sends(rp: &mut Rp, at: u64, megabytes: u64) {
    for _ in 0..megabytes * 1_000 {
        rp.on_sent(us(at), Bytes(1_000));
    }
}

const G: u64 = 1_000_000_000;

// ---- the machine of NICs

#[test]
fn hpccs_first_cnp_halves_the_rate_at_the_next_check_and_the_gap_halves_each_300_us() {
    let mut rp = rp(r#"{"preset": "hpcc"}"#);
    assert_eq!((rates(&mut rp, 9), rp.next_timeout()), ((100 * G, 100 * G), None));
    cnp(&mut rp, 10);
    assert_eq!(rates(&mut rp, 13), (100 * G, 100 * G));
    // alpha = 1 at 10 us; ticks at 11, 12, 13, 14 without a CNP of theirs: (255/256)^4 = 0.98446631.
    // Rc = 100G · (1 - 0.98446631 / 2) = 50.776684272...; no increase yet, so that Rt stays.
    assert_eq!(rates(&mut rp, 14), (50_776_684_272, 100 * G));
    assert_eq!(rates(&mut rp, 313), (50_776_684_272, 100 * G));
    // Stage 0 < 1: (50776684272 + 100000000000) / 2 = 75388342136.
    assert_eq!(rates(&mut rp, 314), (75_388_342_136, 100 * G));
    // Stage 1: Rt + 20M is above the line rate. (75388342136 + 100G) / 2 = 87694171068.
    assert_eq!(rates(&mut rp, 614), (87_694_171_068, 100 * G));
    assert_eq!(rp.increases(), 2);
}

#[test]
fn mellanox_and_swing_cut_by_their_gains() {
    // SWING's configurations write 5/1024 with seven digits.
    for (preset, kept) in [("mellanox", 1_019.0 / 1_024.0), ("swing", 1.0 - 0.004_882_8)] {
        let mut rp = rp(&format!(r#"{{"preset": "{preset}"}}"#));
        cnp(&mut rp, 10);
        // (1019/1024)^4 = 0.98061133: Rc = 100G · (1 - 0.49030567) = 50.969433...G.
        let alpha: f64 = kept * kept * kept * kept;
        let cut = (100e9 * (1.0 - alpha / 2.0)) as u64;
        assert_eq!(cut / 1_000_000, 50_969);
        let (current, target) = rates(&mut rp, 14);
        assert!(current.abs_diff(cut) <= 1 && target == 100 * G, "{current}, not {cut}");
    }
}

/// g = 1/2 makes all numbers dyadic: alpha ticks each 1 us, checks each 4 us, steps each 10 us.
const DYADIC: &str = r#"{"preset": "mellanox", "g": 0.5, "t-inc": "10us", "rai": "2G", "rhai": "8G"}"#;

#[test]
fn a_second_cut_lowers_rt_only_after_an_increase() {
    let mut rp = rp(DYADIC);
    cnp(&mut rp, 0);
    // alpha = 1/16 at 4 us: Rc = 100 · 31/32 = 96.875.
    assert_eq!(rates(&mut rp, 4), (96_875_000_000, 100 * G));
    cnp(&mut rp, 5);
    // The tick at 5 counts the CNP: 1/32 + 1/2 = 17/32; then 17/64, 17/128, 17/256 at 8 us.
    // Rc = 96.875 · (1 - 17/512) = 93.658447265625; no step since 4 us.
    assert_eq!(rates(&mut rp, 8), (93_658_447_265, 100 * G));
    // Steps at 18 and 28: (93658447265 + 100G) / 2 = 96829223632.5, then Rt is at the NIC's rate already.
    assert_eq!(rates(&mut rp, 18), (96_829_223_633, 100 * G));
    cnp(&mut rp, 19);
    // 17/256 at 8 us is 17/2^18 at 18; the tick at 19 makes it 17/2^19 + 1/2, that at 20 half of it.
    // Rc = 96829223633 · (1 - (17/2^20 + 1/4) / 2) = 84724785758.8...
    assert_eq!(rates(&mut rp, 20), (84_724_785_758, 96_829_223_633));
}

#[test]
fn with_clamp_every_cut_lowers_rt() {
    let mut rp = rp(&DYADIC.replace('}', r#", "clamp": true}"#));
    cnp(&mut rp, 0);
    assert_eq!(rates(&mut rp, 4), (96_875_000_000, 100 * G));
    cnp(&mut rp, 5);
    assert_eq!(rates(&mut rp, 8), (93_658_447_265, 96_875_000_000));
}

#[test]
fn stages_go_from_recovery_by_additive_to_hyper_steps() {
    let mut rp = rp(&DYADIC.replace('}', r#", "clamp": true, "f": 2, "initial-alpha": 1}"#));
    cnp(&mut rp, 0);
    cnp(&mut rp, 5);
    // Rt = 96.875 as above, Rc = 93.658447265. Stages 0 and 1 recover:
    assert_eq!(rates(&mut rp, 18), (95_266_723_633, 96_875_000_000));
    assert_eq!(rates(&mut rp, 28), (96_070_861_817, 96_875_000_000));
    // Stage 2: Rt + 2G = 98.875; stage 3: Rt + 8G, capped at 100.
    assert_eq!(rates(&mut rp, 38), (97_472_930_909, 98_875_000_000));
    assert_eq!(rates(&mut rp, 48), (98_736_465_455, 100 * G));
}

/// `DYADIC` with a step for each MB: F = 1, Rai = 2 and Rhai = 8 Gbit/s, so that each stage shows in Rt.
#[test]
fn a_nics_byte_counter_makes_steps_too_and_hyper_increase_needs_both_stages() {
    let mut rp = rp(&DYADIC
        .replace('}', r#", "byte-counter": "1MB", "g": 1, "initial-alpha": 1, "rate-on-first-cnp": 0.25}"#)
        .replace(r#""g": 0.5, "#, ""));
    assert!(rp.observes_sent());
    cnp(&mut rp, 0);
    // Before the first cut nothing is counted. At 1 us alpha is 0, so that the check at 4 us leaves 25
    // Gbit/s.
    sends(&mut rp, 3, 5);
    assert_eq!(rates(&mut rp, 4), (25 * G, 25 * G));
    // Stages of timer and counter before each step: (0, 0) recovers, (0, 1) and (0, 2) are additive.
    sends(&mut rp, 5, 1);
    assert_eq!(rates(&mut rp, 5), (25 * G, 25 * G));
    sends(&mut rp, 6, 2);
    assert_eq!(rates(&mut rp, 6).1, 29 * G);
    // The timer's step at 14 us finds (0, 3), that at 24 us (1, 3), that at 34 us (2, 3): only the last is
    // hyper.
    assert_eq!(rates(&mut rp, 14).1, 31 * G);
    assert_eq!(rates(&mut rp, 24).1, 33 * G);
    assert_eq!(rates(&mut rp, 34).1, 41 * G);
    // So is one of the counter now.
    sends(&mut rp, 35, 1);
    assert_eq!(rates(&mut rp, 35).1, 49 * G);
    assert_eq!(rp.increases(), 7);
}

#[test]
fn a_cut_lowers_rt_after_steps_of_the_timer_and_not_after_those_of_the_counter() {
    let after = |megabytes: u64, second: u64| {
        let mut rp = rp(&DYADIC.replace('}', r#", "byte-counter": "1MB"}"#));
        cnp(&mut rp, 0);
        assert_eq!(rates(&mut rp, 4), (96_875_000_000, 100 * G));
        sends(&mut rp, 5, megabytes);
        let before = rates(&mut rp, second);
        cnp(&mut rp, second);
        (before, rates(&mut rp, second + 4))
    };
    let (before, cut) = after(2, 6);
    assert!(before.0 > 99 * G && cut.0 < before.0);
    assert_eq!(cut.1, 100 * G);
    let (before, cut) = after(0, 15);
    assert!(cut.0 < before.0);
    assert_eq!(cut.1, before.0);
}

#[test]
fn the_rate_on_the_first_cnp_is_taken_at_once_and_becomes_the_target() {
    let mut rp = rp(&DYADIC.replace('}', r#", "rate-on-first-cnp": 0.5}"#));
    cnp(&mut rp, 0);
    assert_eq!(rates(&mut rp, 0), (50 * G, 50 * G));
    cnp(&mut rp, 1);
    // The tick at 1 counts the second: 1/2 + 1/2; 1/8 at 4 us: 50 · 15/16.
    assert_eq!(rates(&mut rp, 4), (46_875_000_000, 50 * G));
}

#[test]
fn a_cut_goes_neither_below_the_least_factor_nor_below_the_least_rate() {
    let mut gentle = rp(r#"{"preset": "hpcc", "min-decrease": 0.75}"#);
    cnp(&mut gentle, 10);
    assert_eq!(rates(&mut gentle, 14).0, 75 * G);
    for json in [r#"{"preset": "hpcc"}"#, r#"{"preset": "paper", "rmin": "1G"}"#] {
        let mut rp = rp(json);
        for at in 0..400 {
            cnp(&mut rp, at * 4);
        }
        assert_eq!(rates(&mut rp, 1_600).0, G, "{json}");
    }
    assert_eq!(rates(&mut rp(r#"{"rmin": "400G"}"#), 0).0, 100 * G);
}

#[test]
fn hpccs_increments_grow_with_the_nics_rate() {
    // After 2 us the rates are as given; stage 1 adds 5 Mbit/s for each 25G.
    for (gbps, rai) in [(25, 5_000_000), (100, 20_000_000), (400, 80_000_000)] {
        let fast = QpInfo { line_rate: Rate::gbps(gbps), ..qp() };
        let mut rp = params(r#"{"clamp": true}"#).build(&fast).expect("valid");
        cnp(&mut rp, 0);
        cnp(&mut rp, 4);
        cnp(&mut rp, 5);
        let low = rates(&mut rp, 308).1;
        assert_eq!(rates(&mut rp, 608).1 - low, rai, "{gbps}G");
        assert_eq!(rates(&mut rp, 908).1 - low, 11 * rai, "{gbps}G");
    }
}

#[test]
fn cnps_within_a_period_count_as_one() {
    let (mut one, mut many) = (rp(DYADIC), rp(DYADIC));
    for at in [0, 9, 13] {
        cnp(&mut one, at);
    }
    for at in [0, 9, 9, 9, 13, 13] {
        cnp(&mut many, at);
    }
    assert_eq!(rates(&mut one, 16), rates(&mut many, 16));
}

#[test]
fn alpha_does_not_count_the_first_cnp_but_any_after_it() {
    let mut rp = rp(DYADIC);
    cnp(&mut rp, 0);
    cnp(&mut rp, 0);
    // The tick at 1: 1/2 + 1/2; then 1/8 at 4 us, where the first CNP alone left 1/16.
    assert_eq!(rates(&mut rp, 4).0, 93_750_000_000);
}

// ---- the machine of the paper

#[test]
fn the_papers_machine_cuts_at_each_cnp_and_recovers_in_fast_then_additive_steps() {
    let mut rp = rp(r#"{"preset": "paper"}"#);
    assert_eq!((rates(&mut rp, 9), rp.next_timeout()), ((100 * G, 100 * G), None));
    cnp(&mut rp, 10);
    // alpha = 1 halves the rate; then alpha = 255/256 + 1/256 = 1.
    assert_eq!(rates(&mut rp, 10), (50 * G, 100 * G));
    cnp(&mut rp, 60);
    assert_eq!(rates(&mut rp, 60), (25 * G, 50 * G));
    // Steps of the timer from 60 us on, each 55 us: four with fewer than 5 stages halve the gap.
    assert_eq!(rates(&mut rp, 114), (25 * G, 50 * G));
    assert_eq!(rates(&mut rp, 115), (37_500_000_000, 50 * G));
    assert_eq!(rates(&mut rp, 170), (43_750_000_000, 50 * G));
    assert_eq!(rates(&mut rp, 225), (46_875_000_000, 50 * G));
    assert_eq!(rates(&mut rp, 280), (48_437_500_000, 50 * G));
    // The fifth and all after it add 40 Mbit/s to Rt: (48.4375 + 50.04) / 2 = 49.23875.
    assert_eq!(rates(&mut rp, 335), (49_238_750_000, 50_040_000_000));
    assert_eq!(rates(&mut rp, 390), (49_659_375_000, 50_080_000_000));
}

#[test]
fn the_papers_alpha_falls_after_each_period_without_a_cnp() {
    let mut rp = rp(r#"{"preset": "paper", "g": 0.5, "clamp": false}"#);
    cnp(&mut rp, 0);
    // At 110 us the period that ends there has its CNP: one of 55 us is over, alpha = 1/2.
    // Rt = Rc = 75G by the step at 55 us; that at 110 us comes after the CNP, and is put off.
    cnp(&mut rp, 110);
    assert_eq!(rates(&mut rp, 110), (56_250_000_000, 75 * G));
    // alpha = 1/4 + 1/2 = 3/4; no step since, and no clamp: Rt stays. Rc = 56.25 · 5/8.
    cnp(&mut rp, 111);
    assert_eq!(rates(&mut rp, 111), (35_156_250_000, 75 * G));
}

#[test]
fn the_byte_counter_makes_steps_as_the_timer_does() {
    let mut rp = rp(r#"{"preset": "paper"}"#);
    sends(&mut rp, 0, 30);
    assert_eq!((rp.increases(), rates(&mut rp, 0).0), (0, 100 * G), "there is no limit to lift");
    cnp(&mut rp, 1);
    cnp(&mut rp, 2);
    sends(&mut rp, 2, 9);
    assert_eq!(rates(&mut rp, 2), (25 * G, 50 * G));
    sends(&mut rp, 2, 1);
    assert_eq!(rates(&mut rp, 2), (37_500_000_000, 50 * G));
    sends(&mut rp, 2, 9);
    cnp(&mut rp, 3);
    // Rt = Rc = 37.5G, alpha is 1 still; the 9 MB before the CNP no longer count.
    assert_eq!(rates(&mut rp, 3), (18_750_000_000, 37_500_000_000));
    sends(&mut rp, 3, 9);
    assert_eq!(rp.increases(), 1);
}

#[test]
fn hyper_steps_begin_when_both_stages_are_past_f() {
    let mut rp = rp(r#"{"preset": "paper"}"#);
    cnp(&mut rp, 0);
    cnp(&mut rp, 1);
    // Rt = 50G. Six steps of the timer: four recover, two add 40 Mbit/s each.
    assert_eq!(rates(&mut rp, 1 + 6 * 55).1, 50_080_000_000);
    // Six of the byte counter: five add, the sixth is hyper by 1 · 200 Mbit/s.
    sends(&mut rp, 331, 50);
    assert_eq!(rates(&mut rp, 331).1, 50_280_000_000);
    sends(&mut rp, 331, 10);
    assert_eq!(rates(&mut rp, 331).1, 50_480_000_000);
    // The fewest decide: the seventh of bytes alone is by 1 still, the seventh of both by 2.
    sends(&mut rp, 331, 10);
    assert_eq!(rates(&mut rp, 331).1, 50_680_000_000);
    assert_eq!(rates(&mut rp, 386).1, 51_080_000_000);
}

// ---- both

#[test]
fn timers_sleep_at_line_rate_once_a_step_has_followed_the_last_cnp() {
    for json in [r#"{"preset": "paper", "rai": "10G"}"#, r#"{"rai": "10G"}"#] {
        let mut rp = rp(json);
        cnp(&mut rp, 0);
        rates(&mut rp, 100_000);
        let steps = rp.increases();
        assert_eq!((rates(&mut rp, 100_000).0, rp.next_timeout()), (100 * G, None), "{json}");
        sends(&mut rp, 100_000, 30);
        assert_eq!(rp.increases(), steps);
        cnp(&mut rp, 100_001);
        rates(&mut rp, 100_401);
        assert!(rp.increases() > steps, "{json}");
    }
}

/// If the minimum rate is the NIC's, a cut changes nothing, and still a step follows each CNP.
#[test]
fn a_step_follows_a_cnp_at_line_rate_too() {
    for json in [r#"{"preset": "paper", "rmin": "100G"}"#, r#"{"rmin": "100G"}"#] {
        let mut rp = rp(json);
        for (i, at) in [0, 10_000, 20_000].into_iter().enumerate() {
            cnp(&mut rp, at);
            assert_eq!(rates(&mut rp, at + 5_000).0, 100 * G);
            assert_eq!((rp.next_timeout(), rp.increases() > i as u64), (None, true), "{json}");
        }
    }
}

/// An acknowledgement of a packet with this mark.
fn ack(marked: Mark) -> AckView<'static> {
    AckView {
        acked: Bytes(1_000),
        next: 1,
        sent: 10,
        rtt: Span::us(10),
        in_flight: Bytes(9_000),
        marked,
        int: &[],
    }
}

/// A report of undetermined congestion.
fn ue(rp: &mut Rp, at: u64) {
    pass(rp, at);
    rp.on_cnp(us(at), &reporting(Mark::Ue));
}

#[test]
fn undetermined_congestion_holds_the_papers_machine() {
    let mut rp = rp(r#"{"preset": "paper", "g": 0.5, "ue": "hold"}"#);
    cnp(&mut rp, 0);
    assert_eq!(rates(&mut rp, 29), (50 * G, 100 * G));
    sends(&mut rp, 29, 9);
    ue(&mut rp, 30);
    assert_eq!(rates(&mut rp, 30), (50 * G, 50 * G));
    // The step of 55 us comes at 85, and the 9 MB before no longer count.
    sends(&mut rp, 31, 9);
    assert_eq!((rates(&mut rp, 84), rp.increases()), ((50 * G, 50 * G), 0));
    assert_eq!((rates(&mut rp, 85), rp.increases()), ((50 * G, 50 * G), 1));
    // alpha's period begins anew, as in TCD's simulator. One has ended: alpha is 1/2, and the cut is by 1/4.
    cnp(&mut rp, 120);
    assert_eq!(rates(&mut rp, 120), (37_500_000_000, 50 * G));
}

#[test]
fn alpha_does_not_decrease_while_undetermined_congestion_is_reported() {
    let mut rp = rp(r#"{"preset": "paper", "g": 0.5, "ue": "hold"}"#);
    cnp(&mut rp, 0);
    for at in (20..2_000).step_by(50) {
        ue(&mut rp, at);
    }
    // The last report is at 1970. alpha is still 1, and the cut is by 1/2.
    cnp(&mut rp, 2_010);
    assert_eq!(rates(&mut rp, 2_010), (25 * G, 50 * G));
}

#[test]
fn undetermined_congestion_holds_the_machine_of_nics() {
    let mut rp = rp(&DYADIC.replace('}', r#", "ue": "hold"}"#));
    cnp(&mut rp, 0);
    ue(&mut rp, 13);
    // The step of 14 us comes at 23 and finds no gap; the one at 33 adds 2G to Rt.
    assert_eq!((rates(&mut rp, 22), rp.increases()), ((96_875_000_000, 96_875_000_000), 0));
    assert_eq!((rates(&mut rp, 32), rp.increases()), ((96_875_000_000, 96_875_000_000), 1));
    assert_eq!(rates(&mut rp, 33), (97_875_000_000, 98_875_000_000));
    // A cut that is due for a CNP still comes.
    cnp(&mut rp, 34);
    ue(&mut rp, 35);
    assert_eq!(rates(&mut rp, 35), (97_875_000_000, 97_875_000_000));
    // alpha is 1/2 by the tick at 34 and 1/8 at 36 us: 97.875 · 15/16.
    assert_eq!(rates(&mut rp, 36).0 / 1_000_000, 91_757);
}

#[test]
fn undetermined_congestion_holds_for_as_long_as_it_is_reported() {
    for json in [r#"{"preset": "paper", "ue": "hold"}"#, r#"{"t-inc": "55us", "ue": "hold"}"#] {
        let mut held = rp(json);
        cnp(&mut held, 0);
        let cut = rates(&mut held, 10).0;
        for at in (20..2_000).step_by(50) {
            ue(&mut held, at);
            assert_eq!((rates(&mut held, at + 1), held.increases()), ((cut, cut), 0), "{json}");
        }
        assert!(rates(&mut held, 4_000).0 > cut, "{json}");
    }
}

#[test]
fn undetermined_congestion_is_ignored_by_default_and_is_nothing_at_line_rate() {
    for json in [r#"{"preset": "paper"}"#, r#"{"t-inc": "55us", "ue": "ignore"}"#] {
        let (mut notified, mut other) = (rp(json), rp(json));
        for at in (0..400).step_by(40) {
            cnp(&mut notified, at);
            cnp(&mut other, at);
            ue(&mut notified, at + 21);
            assert_eq!(rates(&mut notified, at + 30), rates(&mut other, at + 30), "{json}");
        }
        let mut fresh = rp(r#"{"preset": "paper", "ue": "hold"}"#);
        ue(&mut fresh, 10);
        assert_eq!((rates(&mut fresh, 10), fresh.next_timeout()), ((100 * G, 100 * G), None));
    }
}

#[test]
fn flags_of_undetermined_congestion_hold_and_are_part_of_a_cnp_just_before() {
    let mut nic = rp(r#"{"cnp": "ack-flag", "ue": "hold"}"#);
    nic.on_ack(us(0), &ack(Mark::Ce));
    let cut = rates(&mut nic, 10).0;
    nic.on_ack(us(11), &ack(Mark::Ue));
    assert_eq!(rates(&mut nic, 11), (cut, cut));
    let mut paper = rp(r#"{"preset": "paper", "cnp": "ack-flag", "ue": "hold"}"#);
    paper.on_ack(us(0), &ack(Mark::Ce));
    paper.on_ack(us(49), &ack(Mark::Ue));
    assert_eq!(rates(&mut paper, 49), (50 * G, 100 * G), "of the CNP's interval");
    paper.on_ack(us(50), &ack(Mark::Ue));
    assert_eq!(rates(&mut paper, 50), (50 * G, 50 * G));
}

#[test]
fn where_ports_mark_ue_receivers_pass_it_on_as_often_as_they_are_asked() {
    let asked = |stack: &str| {
        let stack: Vec<ReactionParams> = serde_json::from_str(stack).expect("a stack");
        let asked = NotificationParams::asked_by(&stack).with_undetermined();
        serde_json::to_value(asked).expect("parameters are plain values")
    };
    let paper = asked(r#"[{"dcqcn": {"preset": "paper"}}]"#);
    assert_eq!(paper, serde_json::json!({"tcd": {"cnp-interval": "50us"}}));
    assert_eq!(asked(r#"["line-rate"]"#), serde_json::json!({"none": {}}));
    assert_eq!(asked(r#"[{"dcqcn": {"cnp": "ack-flag"}}]"#), serde_json::json!({"none": {}}));
}

fn loses(rp: &mut Rp, at: u64, timeout: bool) {
    pass(rp, at);
    rp.on_loss(us(at), &LossView { lost: Bytes(1_000), timeout });
}

#[test]
fn a_higher_loss_rate_cuts_as_a_cnp_does_once_a_period_where_losses_count() {
    for json in [r#"{"preset": "paper"}"#, r#"{"preset": "hpcc"}"#] {
        let counting = json.replace('}', r#", "losses-as-cnps": "50us"}"#);
        let (mut lossy, mut notified, mut deaf) = (rp(&counting), rp(&counting), rp(json));
        // 2, 3 and 1 packets are lost in the first three periods: the first and the fifth loss raise the
        // rate. There are none in the next three, so that the next one raises it again.
        for at in [10, 30, 60, 80, 90, 100, 300, 310] {
            loses(&mut lossy, at, false);
            loses(&mut deaf, at, false);
            if [10, 90, 300].contains(&at) {
                cnp(&mut notified, at);
            }
            assert_eq!(rates(&mut lossy, at + 5), rates(&mut notified, at + 5), "{json} at {at} us");
        }
        assert!(rates(&mut lossy, 315).0 < 60 * G);
        assert_eq!(rates(&mut deaf, 315), (100 * G, 100 * G), "by default a loss changes no rate");
    }
}

#[test]
fn an_equal_loss_rate_cuts_no_rate() {
    let mut rp = rp(r#"{"preset": "paper", "losses-as-cnps": "50us"}"#);
    // A packet in each period, the first of which cuts; that of 50 us belongs to the second.
    loses(&mut rp, 49, false);
    assert_eq!(rates(&mut rp, 49), (50 * G, 100 * G));
    for at in [50, 149, 150] {
        let before = rates(&mut rp, at);
        loses(&mut rp, at, false);
        assert_eq!(rates(&mut rp, at), before, "{at} us");
    }
}

#[test]
fn a_loss_that_a_timer_finds_is_no_cnp_and_counts_in_no_rate() {
    let mut rp = rp(r#"{"preset": "paper", "losses-as-cnps": "50us"}"#);
    loses(&mut rp, 10, true);
    assert_eq!(rates(&mut rp, 11), (100 * G, 100 * G));
    loses(&mut rp, 12, false);
    assert_eq!(rates(&mut rp, 12), (50 * G, 100 * G));
}

#[test]
fn losses_that_count_need_replies_that_report_them() {
    assert_eq!(params(r#"{"losses-as-cnps": "50us"}"#).needs(), [Need::Marks, Need::Acks]);
    assert_eq!(params(r#"{"losses-as-cnps": "off"}"#).needs(), [Need::Marks]);
    assert!(rp(r#"{"losses-as-cnps": "0us"}"#).losses.is_none(), "no time is off");
}

#[test]
fn a_marked_ack_is_a_cnp_only_where_acks_carry_the_flag() {
    for preset in ["paper", "hpcc"] {
        let mut deaf = rp(&format!(r#"{{"preset": "{preset}"}}"#));
        let mut keen = rp(&format!(r#"{{"preset": "{preset}", "cnp": "ack-flag"}}"#));
        for rp in [&mut deaf, &mut keen] {
            rp.on_ack(us(1), &ack(Mark::None));
            rp.on_ack(us(1), &ack(Mark::Ue));
            rp.on_cnp(us(1), &reporting(Mark::None));
            rp.on_cnp(us(1), &reporting(Mark::Ue));
            assert_eq!(rp.next_timeout(), None);
            rp.on_ack(us(2), &ack(Mark::Ce));
        }
        assert_eq!(rates(&mut deaf, 50).0, 100 * G);
        assert!(rates(&mut keen, 50).0 < 51 * G);
    }
}

#[test]
fn the_variable_window_is_the_bdp_scaled_by_the_rate() {
    // 100 Gbit/s, 10 us of round trip: 125 KB.
    let mut swing = rp(r#"{"preset": "swing"}"#);
    assert_eq!(swing.allowance().window, Bytes(125_000));
    cnp(&mut swing, 10);
    let rate = rates(&mut swing, 14).0;
    assert_eq!(swing.allowance().window, Bytes(125_000 * rate / (100 * G)));
    assert_eq!(rp(r#"{"preset": "swing", "window": "none"}"#).allowance().window, Bytes::MAX);
    assert_eq!(rp(r#"{"window": "variable-bdp"}"#).allowance().window, Bytes(125_000));
    assert_eq!(rp("{}").allowance().window, Bytes::MAX);
}

#[test]
fn acknowledgements_are_needed_for_flags_and_windows_alone() {
    for (json, needed) in [
        ("{}", false),
        (r#"{"preset": "paper"}"#, false),
        (r#"{"cnp": "ack-flag"}"#, true),
        (r#"{"preset": "swing"}"#, true),
        (r#"{"preset": "swing", "window": "none"}"#, false),
    ] {
        assert_eq!(params(json).needs().contains(&Need::Acks), needed, "{json}");
    }
}

#[test]
fn a_stack_asks_for_cnps_as_often_as_its_keenest_layer() {
    let asked = |stack: &str| {
        let stack: Vec<ReactionParams> = serde_json::from_str(stack).expect("a stack");
        serde_json::to_value(NotificationParams::asked_by(&stack)).expect("parameters are plain values")
    };
    let every = |interval: &str| serde_json::json!({"dcqcn": {"cnp-interval": interval}});
    assert_eq!(asked(r#"["line-rate", "static-window"]"#), serde_json::json!({"none": {}}));
    assert_eq!(asked(r#"["dcqcn"]"#), every("4us"));
    assert_eq!(asked(r#"["line-rate", {"dcqcn": {"preset": "paper"}}]"#), every("50us"));
    assert_eq!(
        asked(r#"[{"dcqcn": {"preset": "paper"}}, {"dcqcn": {"cnp-interval": "9us"}}]"#),
        every("9us")
    );
    assert_eq!(asked(r#"[{"dcqcn": {"cnp": "ack-flag"}}]"#), serde_json::json!({"none": {}}));
}

#[test]
fn presets_hold_every_published_value() {
    let of = |preset: &str, gbps: u64| {
        params(&format!(r#"{{"preset": "{preset}"}}"#)).settings(Rate::gbps(gbps)).expect("valid")
    };
    let paper = of("paper", 40);
    assert_eq!((paper.g, paper.f, paper.clamp), (1.0 / 256.0, 5, true));
    assert_eq!((paper.t_alpha, paper.t_inc, paper.byte_counter), (Span::us(55), Span::us(55), Bytes::mb(10)));
    assert_eq!((paper.rai, paper.rhai, paper.rmin), (Rate::mbps(40), Rate::mbps(200), Rate::mbps(100)));
    // The values of TCD's simulator differ from the paper's by the first one of α.
    assert_eq!(of("tcd", 40), super::presets::Settings { initial_alpha: 0.5, ..paper });
    for (preset, g, scale, rmin) in
        [("mellanox", 5.0 / 1024.0, 1, 1), ("swing", 0.004_882_8, 1, 1), ("hpcc", 1.0 / 256.0, 4, 1_000)]
    {
        let row = of(preset, 100);
        assert_eq!((row.g, row.f, row.clamp, row.initial_alpha), (g, 1, false, 1.0), "{preset}");
        assert_eq!((row.t_alpha, row.t_dec, row.t_inc), (Span::us(1), Span::us(4), Span::us(300)));
        assert_eq!((row.rai, row.rhai), (Rate::mbps(5 * scale), Rate::mbps(50 * scale)), "{preset}");
        assert_eq!((row.rmin, row.min_decrease), (Rate::mbps(rmin), 0.5), "{preset}");
        assert_eq!(row.byte_counter, Bytes::MAX, "{preset}");
    }
    // HPCC's other two sets: periods in us, increments and the least rate in Mbit/s, at 100 Gbit/s.
    for (preset, periods, rates, window) in [
        ("hpcc-paper", [50, 50, 55], [20, 200, 1_000], Window::None),
        ("hpcc-config", [1, 4, 900], [50, 100, 100], Window::VariableBdp),
    ] {
        let row = of(preset, 100);
        assert_eq!(
            (row.g, row.f, row.clamp, row.byte_counter),
            (1.0 / 256.0, 1, false, Bytes::MAX),
            "{preset}"
        );
        assert_eq!([row.t_alpha, row.t_dec, row.t_inc], periods.map(Span::us), "{preset}");
        assert_eq!([row.rai, row.rhai, row.rmin], rates.map(Rate::mbps), "{preset}");
        assert_eq!(params(&format!(r#"{{"preset": "{preset}"}}"#)).window(), window, "{preset}");
    }
    // Those of `dcqcn_paper` grow with the NIC's rate, those of `config.txt` do not.
    assert_eq!((of("hpcc-paper", 400).rai, of("hpcc-config", 400).rai), (Rate::mbps(80), Rate::mbps(50)));
}

#[test]
fn what_a_machine_cannot_use_is_refused_by_its_key() {
    for (json, key) in [
        (r#"{"g": 1.5}"#, "g"),
        (r#"{"initial-alpha": -0.1}"#, "initial-alpha"),
        (r#"{"min-decrease": 0}"#, "min-decrease"),
        (r#"{"rate-on-first-cnp": 0}"#, "rate-on-first-cnp"),
        (r#"{"t-alpha": "0us"}"#, "t-alpha"),
        (r#"{"t-dec": "0us"}"#, "t-dec"),
        (r#"{"t-inc": "0us"}"#, "t-inc"),
        (r#"{"rmin": "0G"}"#, "rmin"),
        (r#"{"byte-counter": "0B"}"#, "byte-counter"),
        (r#"{"preset": "paper", "byte-counter": "0B"}"#, "byte-counter"),
        (r#"{"preset": "paper", "t-dec": "4us"}"#, "t-dec"),
        (r#"{"preset": "paper", "rate-on-first-cnp": 1}"#, "rate-on-first-cnp"),
        (r#"{"preset": "paper", "timers": "ticking"}"#, "timers"),
        (r#"{"preset": "tcd", "t-dec": "4us"}"#, "t-dec"),
        (r#"{"cnp": "ack-flag", "cnp-interval": "4us"}"#, "cnp-interval"),
    ] {
        assert_eq!(params(json).build(&qp()).map(|_| ()).map_err(|error| error.key), Err(key), "{json}");
    }
}

// ---- timers that tick

/// The first cut at 14 us leaves 50.776684272 Gbit/s, of a target of 100. The step is due at 54 us, and so is
/// a check, which has found a CNP: asleep, the check goes first and puts the step off; ticking, the step goes
/// first.
#[test]
fn of_timers_that_tick_an_increase_step_precedes_the_check_of_its_instant() {
    let after = |timers: &str| {
        let mut rp = rp(&format!(r#"{{"preset": "hpcc", "t-inc": "40us", "timers": "{timers}"}}"#));
        cnp(&mut rp, 10);
        let first = rates(&mut rp, 14);
        cnp(&mut rp, 53);
        (first, rates(&mut rp, 53), rates(&mut rp, 54))
    };
    let cut = |rate: u64, at_alpha: f64| (rate as f64 * (1.0 - at_alpha / 2.0)) as u64;
    // The 43rd period of alpha, which ends at 53 us, counts the CNP; that at 54 us ends before the check, or
    // was set later.
    let alpha = (255.0f64 / 256.0).powi(43) + 1.0 / 256.0;
    let (first, before, asleep) = after("asleep");
    assert_eq!((first, before), ((50_776_684_272, 100 * G), (50_776_684_272, 100 * G)));
    assert!(asleep.0.abs_diff(cut(before.0, alpha * 255.0 / 256.0)) < 100, "{asleep:?}");
    assert_eq!(asleep.1, 100 * G);
    let (first, before, ticking) = after("ticking");
    // The check at 14 us precedes alpha's period that ends there, too: (255/256)^3 = 0.98832697.
    assert_eq!((first, before), ((50_583_651_661, 100 * G), (50_583_651_661, 100 * G)));
    let stepped = (before.0 + 100 * G).div_ceil(2);
    assert!(ticking.0.abs_diff(cut(stepped, alpha)) < 100, "{ticking:?}");
    assert_eq!(ticking.1, stepped);
}

#[test]
fn halves_leave_a_recovered_sender_a_bit_short_of_line_rate() {
    let recovered = |means: &str| {
        let mut rp =
            rp(&format!(r#"{{"preset": "hpcc", "t-inc": "1us", "means": "{means}", "timers": "ticking"}}"#));
        cnp(&mut rp, 10);
        rates(&mut rp, 1_000)
    };
    assert_eq!(recovered("up"), (100 * G, 100 * G));
    assert_eq!(recovered("halves"), (100 * G - 1, 100 * G));
}

#[test]
fn only_timers_that_tick_are_events_of_their_own() {
    assert_eq!(rp(r#"{"preset": "paper"}"#).ticks(), None);
    assert_eq!(rp("{}").ticks(), None);
    let mut rp = rp(r#"{"timers": "ticking", "check-offset": "1ns"}"#);
    assert_eq!(rp.ticks(), Some([Time::NEVER; TICKS]));
    cnp(&mut rp, 10);
    assert_eq!(rp.ticks(), Some([us(11), us(14) + Span::ns(1), Time::NEVER]));
    rp.on_tick(us(11), 0);
    rp.on_tick(us(14) + Span::ns(1), 1);
    let cut = us(14) + Span::ns(1);
    assert_eq!(rp.ticks(), Some([us(12), cut + Span::us(4), cut + Span::us(300)]));
}

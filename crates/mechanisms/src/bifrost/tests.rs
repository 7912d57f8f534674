use super::*;
use crate::slots::{FcFrame, FcReceiver, FcSender, Gate, IngressView};
use crate::testing::{Bench, ingress, link, us};
use floodway_units::{Class, Rate, Time};

/// 400 Gbit/s over 80 km, a buffer of 42 MB: Rs·T = 500,000 bytes, 7812.5 quanta.
fn haul() -> LinkInfo {
    long(Rate::gbps(400), Span::us(400), Bytes::mb(42))
}

fn long(rate: Rate, delay: Span, buffer: Bytes) -> LinkInfo {
    LinkInfo { rate, reverse_rate: rate, delay, reverse_delay: delay, buffer, ..link() }
}

fn params(json: &str) -> Params {
    serde_json::from_str(json).expect("the parameters are well formed")
}

fn receiver(json: &str, link: &LinkInfo) -> Receiver {
    params(json).build(link).expect("the parameters are valid").1
}

fn refused(json: &str, link: &LinkInfo) -> (&'static str, String) {
    let error = params(json).build(link).expect_err("the parameters must be refused");
    (error.key, error.message)
}

fn pause(quanta: u16) -> Vec<FcFrame> {
    vec![FcFrame::Pause { class: Class::DATA, quanta: Quanta(quanta) }]
}

/// An ingress that holds this many bytes, all of which have just arrived, as frames without a gap.
fn held(bytes: u64) -> IngressView {
    IngressView { received: Bytes(bytes), received_frames: Bytes(bytes), ..ingress(0, bytes, 0) }
}

/// Delta of [`haul`]: both delays, two frames, a pause frame.
const DELTA: u64 = 40_000_000 + 3_000 + 64;
/// Rs·T of [`haul`].
const FULL: u64 = 500_000;

// ---- sizing

#[test]
fn the_least_buffer_is_delta_two_time_slots_and_a_frame_for_each_grant_in_flight() {
    // N = ceil(40,003,064 / 500,000) = 81.
    for (json, frames, more) in [
        ("{}", 1 + 81 + 1, 0),
        (r#"{ "leak-period": 5 }"#, 5 + 81 + 1, 0),
        (r#"{ "level": "45MB" }"#, 1 + 81 + 1, 45_000_000 - DELTA - 2 * FULL),
    ] {
        let least = params(json).min_buffer(&haul());
        assert_eq!(least, Bytes(DELTA + 2 * FULL + frames * 1_500 + more), "{json}");
    }
    // Delta has the MAC's reaction in it: 2 us more are 100,000 bytes more.
    assert_eq!(params(r#"{ "react": "2us" }"#).min_buffer(&haul()), Bytes(DELTA + 1_100_000 + 83 * 1_500));
}

#[test]
fn the_papers_long_links_have_80_and_600_time_slots_in_flight() {
    for (rate, delay, bdp, time_slots) in
        [(Rate::gbps(100), Span::us(400), 10_000_000, 80), (Rate::gbps(400), Span::ms(3), 300_000_000, 600)]
    {
        let link = long(rate, delay, Bytes::MAX);
        let is = params("{}").time_slots(&link);
        // The frames and the pause make the round trip a little longer than a whole number of time slots.
        assert_eq!((is.delta, is.count), (bdp + 3_064, time_slots + 1));
        assert_eq!(is.part(), 3_064);
    }
}

#[test]
fn the_automatic_level_is_three_slots_above_delta_if_the_buffer_has_room() {
    let slack = 83 * 1_500;
    let level =
        |buffer| receiver("{}", &LinkInfo { buffer: Bytes(buffer), ..haul() }).level().expect("it has one");
    assert_eq!(level(50_000_000), Bytes(DELTA + 3 * FULL));
    assert_eq!(level(DELTA + 3 * FULL + slack), Bytes(DELTA + 3 * FULL));
    assert_eq!(level(DELTA + 3 * FULL + slack - 9), Bytes(DELTA + 3 * FULL - 9));
    // Never less than the theorem needs, though that starves the buffer.
    assert_eq!(level(DELTA + 2 * FULL), Bytes(DELTA + 2 * FULL));
    assert_eq!(receiver(r#"{ "level": "41.6MB" }"#, &haul()).level(), Some(Bytes(41_600_000)));
}

/// Queues of frames of 64 and 1,062 bytes, which occupy one and five cells of 254.
#[test]
fn in_cells_it_grants_for_what_the_packets_held_took_on_the_wire() {
    let cells = LinkInfo { cell: Bytes(254), overhead: Bytes(20), buffer: Bytes::mb(160), ..haul() };
    let bytes = LinkInfo { cell: Bytes(1), ..cells };
    let json = r#"{ "level": "41.6MB" }"#;
    for (frame, count) in [(64, 100_000), (1_062, 10_000), (1_062, 20_000)] {
        let wire = (frame + 20) * count;
        let queued = u64::div_ceil(frame, 254) * 254 * count;
        let view = IngressView { wire: Bytes(wire), ..held(queued) };
        let left = [(&cells, view), (&bytes, held(wire))].map(|(link, view)| {
            let mut receiver = receiver(json, link);
            let mut bench = Bench::new();
            bench.sent(us(1), |cx| receiver.on_enqueue(cx, &view));
            for slot in 1..=3 {
                bench.sent(us(10 * slot), |cx| receiver.on_timeout(cx, &view));
            }
            receiver.incoming()
        });
        // Delta has preambles and gaps in cells, 60 bytes, and grants are whole quanta.
        let apart = left[0].0.abs_diff(left[1].0);
        assert!(apart <= 3 * 64, "{count} frames of {frame}: {left:?}");
    }
}

// ---- preconditions

#[test]
fn what_cannot_work_is_refused() {
    let short = LinkInfo { delay: Span::us(12), reverse_delay: Span::us(8), ..haul() };
    let pooled = LinkInfo { buffer: Bytes::MAX, ..haul() };
    for (json, link, key, why) in [
        (
            r#"{ "slot": "1us" }"#,
            haul(),
            "slot",
            "a slot of 1us does not lie between the 1us that switch and MAC take",
        ),
        (r#"{ "slot": "3us", "react": "3us" }"#, haul(), "slot", "between the 3us that switch and MAC take"),
        (
            "{}",
            short,
            "slot",
            "a slot of 10us does not lie between the 1us that switch and MAC take to react and the link's one-way delay of 10us",
        ),
        (r#"{ "leak-period": 0 }"#, haul(), "leak-period", "the minimum is 1"),
        (r#"{ "level": "41MB" }"#, haul(), "level", "41MB is 3.064KB short of Delta + 2 Rs T = 41003.064KB"),
        (r#"{ "pause": "on-off" }"#, haul(), "pause", "allowed: \"timer\""),
        ("{}", pooled, "level", "buffer.static"),
    ] {
        let (at, message) = refused(json, &link);
        assert!(at == key && message.contains(why), "{json}: {at}: {message}");
    }
    assert!(params(r#"{ "slot": "1.001us", "pause": "timer" }"#).build(&haul()).is_ok());
    assert!(params("{}").build(&LinkInfo { delay: Span(12_000_002), ..short }).is_ok());
}

#[test]
fn a_pause_of_a_whole_slot_fits_the_field_of_a_frame() {
    // 65,535 quanta at 400 Gbit/s are 83,884.8 ns; 24 + 1 of them are the guard.
    let longest = r#"{ "slot": "83852.8ns" }"#;
    let (key, message) = refused(r#"{ "slot": "83852.81ns" }"#, &haul());
    assert!(key == "slot" && message.contains("takes 65536 quanta at 400G"), "{message}");
    let mut receiver = receiver(longest, &LinkInfo { buffer: Bytes::mb(80), ..haul() });
    let mut bench = Bench::new();
    let level = held(receiver.level().expect("it has one").0);
    bench.sent(us(1), |cx| receiver.on_enqueue(cx, &level));
    let at = receiver.next_timeout().expect("it has work");
    assert_eq!(bench.sent(at, |cx| receiver.on_timeout(cx, &level)), pause(u16::MAX));
}

#[test]
fn its_links_have_timers_whatever_the_run_has() {
    let on_off = LinkInfo { pause: PauseMode::OnOff, ..haul() };
    let (mut sender, _) = params("{}").build(&on_off).expect("the run's mode is not Bifrost's");
    assert_eq!(params("{}").pause_mode(PauseMode::OnOff), PauseMode::Timer);
    let frame = pause(7_813)[0];
    Bench::new().sent(us(0), |cx| sender.on_frame(cx, frame));
    assert_eq!(sender.gate(us(1), Bytes(1_500)), Gate::Until(Time(7_813 * 1_280)));
    assert_eq!(sender.next_timeout(), Some(Time(7_813 * 1_280)));
}

// ---- quanta

/// The frames of the receiver at the end of each time slot, where it then holds this much.
fn said(json: &str, link: &LinkInfo, held_at_end: &[u64]) -> Vec<Option<u16>> {
    let mut receiver = receiver(json, link);
    let mut bench = Bench::new();
    let mut said = Vec::new();
    for (bytes, time_slot) in held_at_end.iter().zip(1..) {
        let end = us(10 * time_slot);
        let view = held(*bytes);
        bench.sent(end, |cx| receiver.on_enqueue(cx, &view));
        let frames = bench.sent(end, |cx| receiver.on_timeout(cx, &view));
        said.push(frames.first().map(|frame| match frame {
            FcFrame::Pause { quanta, .. } => quanta.0,
            other => panic!("{other:?} is not of this flow control"),
        }));
    }
    said
}

/// The minimum level, at which each byte held reduces a whole grant by one byte.
const LEAST: &str = r#"{ "level": "41003064B" }"#;

#[test]
fn a_pause_is_rounded_up_to_quanta() {
    // While all grants are whole, H - L - F = Rs·T - L at the least level.
    for (bytes, quanta) in [(1, 1), (64, 1), (65, 2), (250_000, 3_907), (499_968, 7_812)] {
        assert_eq!(said(LEAST, &haul(), &[bytes]), [Some(quanta)], "{bytes}");
    }
    // The paper's 7813 quanta of 10 us at 400G and 1954 at 100G, with the guard: one MTU and a quantum.
    assert_eq!(said(LEAST, &haul(), &[FULL]), [Some(7_813 + 24 + 1)]);
    let slow = long(Rate::gbps(100), Span::us(400), Bytes::mb(42));
    assert_eq!(said(r#"{ "level": "10253064B" }"#, &slow, &[125_000]), [Some(1_954 + 24 + 1)]);
}

#[test]
fn a_whole_grant_is_silent_but_for_the_end_of_a_pause_that_reaches_into_its_slot() {
    assert_eq!(said(LEAST, &haul(), &[0, 0]), [None, None]);
    // With less than Delta + Rs·T in grants, 500,000 held leave room for the last one's again.
    assert_eq!(said(LEAST, &haul(), &[FULL, 0, 0]), [Some(7_838), Some(0), None]);
    assert_eq!(said(LEAST, &haul(), &[250_000, 0, 0]), [Some(3_907), None, None]);
}

#[test]
fn half_an_mtu_and_the_reaction_lengthen_each_pause() {
    let half = r#"{ "level": "41003064B", "half-mtu": true }"#;
    assert_eq!(said(half, &haul(), &[0, 640]), [None, Some(10 + 12)]);
    // The reaction of 1.28 us, 64,000 bytes, makes Delta longer, too; and what ends a pause lasts until the
    // upstream would have reacted to the next one.
    let react = r#"{ "level": "41067064B", "react": "1.28us" }"#;
    assert_eq!(said(react, &haul(), &[640, FULL + 640, 0, 0]), [Some(1_010), Some(8_838), Some(1_000), None]);
}

// ---- virtual incoming bytes

#[test]
fn virtual_incoming_bytes_begin_at_delta_and_a_time_slot_and_grants_replace_them() {
    let mut bench = Bench::new();
    for mode in ["ledger", "measured"] {
        let mut receiver = receiver(&format!(r#"{{ "f-mode": "{mode}" }}"#), &haul());
        assert_eq!(
            (receiver.level(), receiver.incoming()),
            (Some(Bytes(DELTA + 3 * FULL)), Bytes(DELTA + FULL))
        );
        // Whole time slots come and stay: one more is granted, then none.
        let mut incoming = Vec::new();
        for time_slot in 1..=4 {
            let view = held(time_slot * FULL);
            bench.sent(us(10 * time_slot), |cx| receiver.on_enqueue(cx, &view));
            bench.sent(us(10 * time_slot), |cx| receiver.on_timeout(cx, &view));
            incoming.push(receiver.incoming().0);
        }
        assert_eq!(
            incoming,
            [1, 0, -1, -2].map(|time_slots| DELTA.saturating_add_signed(time_slots * 500_000)),
            "{mode}"
        );
        bench.sent(us(45), |cx| receiver.on_link_reset(cx, &held(0)));
        assert_eq!(receiver.incoming(), Bytes(DELTA + FULL), "{mode}");
    }
}

#[test]
fn bytes_that_came_without_a_grant_stay_in_the_ledger_and_vanish_where_they_are_measured() {
    let mut bench = Bench::new();
    for (mode, sum) in [("ledger", DELTA + FULL + 9_000), ("measured", DELTA + FULL)] {
        let mut receiver = receiver(&format!(r#"{{ "f-mode": "{mode}" }}"#), &haul());
        // A whole time slot's bytes and 9000 more, of which 9000 are still here.
        let view = IngressView { queued: Bytes(9_000), wire: Bytes(9_000), ..held(FULL + 9_000) };
        let burst = held(2 * FULL);
        bench.sent(us(5), |cx| receiver.on_enqueue(cx, &burst));
        bench.sent(us(10), |cx| receiver.on_timeout(cx, &view));
        assert_eq!(receiver.incoming().0 + 9_000, sum, "{mode}");
    }
}

/// What a buffer of at least 41.6 MB lets the level be, a smaller one does not: what is missing counts, too.
#[test]
fn what_a_restart_needs_counts_by_how_much_a_larger_buffer_raises_the_level() {
    let restart =
        |json: &str, buffer: u64| params(json).restart_size(&LinkInfo { buffer: Bytes(buffer), ..haul() }).0;
    let missing = DELTA + 3 * FULL - (41_200_000 - 83 * 1_500);
    assert_eq!(restart("{}", 41_200_000) - restart("{}", 42_000_000), missing);
    // A level that is given does not rise.
    let given = r#"{ "level": "42MB" }"#;
    assert_eq!(restart(given, 41_200_000), restart(given, 42_000_000));
}

/// Section V: r is the MAC's count of received bytes.
#[test]
fn frame_bytes_are_measured_without_preambles_and_gaps() {
    let mut bench = Bench::new();
    let mut receiver = receiver(r#"{ "f-mode": "measured" }"#, &haul());
    for slot in 1..=2 {
        // 100 frames of 4158 bytes, which take 4178 on the wire, come beside a queue for which nothing is
        // granted.
        let view = IngressView {
            received: Bytes(slot * 100 * 4_178),
            received_frames: Bytes(slot * 100 * 4_158),
            ..ingress(0, 3 * FULL, 0)
        };
        bench.sent(us(10 * slot), |cx| receiver.on_timeout(cx, &view));
        assert_eq!(receiver.incoming().0, DELTA + FULL - slot * 100 * 4_158, "slot {slot}");
    }
}

//! Credits: nothing is lost in any buffer that holds a frame, nothing waits for ever, and the rate is what
//! the buffer allows.

use super::*;

/// Credits of any kind, with a period that is often long for the link.
fn credits() -> impl Strategy<Value = FlowControlParams> {
    credits_in(vec!["ideal", "infiniband", "uec"])
}

fn credits_in(modes: Vec<&'static str>) -> impl Strategy<Value = FlowControlParams> {
    let mode = prop::sample::select(modes);
    let period = prop_oneof![Just(None), (1_000u64..20_000).prop_map(Some)];
    let on_change = prop_oneof![2 => Just(None), 1 => (1u64..20_000).prop_map(Some)];
    (mode, period, on_change).prop_map(|(mode, period, on_change)| {
        let period = period.map_or(String::new(), |ns| format!(r#", "period": "{ns}ns""#));
        let on_change = match on_change {
            // Credits as small as InfiniBand's blocks; each change is reported.
            _ if mode == "uec" => r#", "credit-size": "64B""#.to_owned(),
            on_change => on_change.map_or(String::new(), |bytes| format!(r#", "on-change": "{bytes}B""#)),
        };
        choice(&format!(r#"{{ "cbfc": {{ "mode": "{mode}" {period} {on_change} }} }}"#))
    })
}

/// A largest frame in whole blocks, as either mode counts it.
fn one_frame(link: &LinkInfo) -> u64 {
    (link.mtu + link.overhead).0.div_ceil(64) * 64
}

/// Which frames are damaged: mostly none, or up to two of three.
fn damage() -> impl Strategy<Value = Vec<bool>> {
    let frames = proptest::collection::vec(prop::bool::weighted(0.4), 2..30);
    prop_oneof![Just(Vec::new()), frames].prop_map(|mut damaged| {
        if let Some(first) = damaged.first_mut() {
            *first = false;
        }
        damaged
    })
}

/// Long enough for the sizes that are drawn, short enough for many runs.
fn bounded(setting: Setting, size: u64) -> Setting {
    Setting { bytes: (size * 4).clamp(100_000, 2_000_000), ..setting }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_is_dropped_in_any_buffer_that_holds_a_frame(
        setting in setting(), credits in credits(), more in prop_oneof![Just(0u64), 0u64..5_000, 0u64..300_000],
    ) {
        let size = one_frame(&setting.link) + more;
        let setting = bounded(setting, size);
        let outcome = Pair::new(&credits, Bytes(size), &setting).run();
        prop_assert_eq!((outcome.dropped, outcome.drained), (0, outcome.sent));
        prop_assert!(outcome.sent >= setting.bytes && outcome.peak <= size, "{outcome:?} in {size}");
    }

    #[test]
    fn what_is_damaged_neither_blocks_nor_overflows(
        setting in setting(), credits in credits(), more in prop_oneof![Just(0u64), 0u64..60_000],
        damaged in [damage(), damage(), damage()],
    ) {
        let size = one_frame(&setting.link) + more;
        let mut setting = bounded(setting, size / 4);
        setting.link.has_errors = true;
        setting.damaged = damaged;
        let outcome = Pair::new(&credits, Bytes(size), &setting).run();
        prop_assert_eq!((outcome.dropped, outcome.drained + outcome.damaged), (0, outcome.sent));
        prop_assert!(outcome.sent >= setting.bytes && outcome.peak <= size, "{outcome:?} in {size}");
    }

    /// In InfiniBand's mode reports take their part of the link.
    #[test]
    fn a_buffer_of_the_formulas_size_keeps_a_link_busy(
        setting in setting(), credits in credits_in(vec!["ideal", "uec"]),
    ) {
        let mut setting = setting;
        let full = setting.link.mtu.0;
        setting.frames = vec![full];
        let least = credits.min_buffer(&setting.link).0;
        // The queue fills, then drains at line rate for good.
        setting.drain = vec![(setting.link.rate.time_to_send(Bytes(2 * least)), 0), (Span::ms(100), 100)];
        setting.bytes = least * 8 + 20 * full;
        let outcome = Pair::new(&credits, Bytes(least), &setting).run();
        prop_assert_eq!((outcome.dropped, outcome.starved), (0, 0));
    }
}

/// 100 Gbit/s, frames of 1000 bytes on the wire, and so long there and back; the drain takes all.
fn line(delay: Span) -> Setting {
    let (_, setting) = worst_case();
    let link = LinkInfo { delay, reverse_delay: delay, mtu: Bytes(1_000), ..setting.link };
    let drain = vec![(Span::ms(1_000), 100)];
    Setting { link, frames: vec![1_000], drain, ahead: vec![0], bytes: 60_000_000, ..setting }
}

/// The share of the line's rate that a backlogged sender gets.
fn share(credits: &str, size: u64, setting: &Setting) -> f64 {
    let pair = Pair::new(&choice(credits), Bytes(size), setting);
    let (outcome, end) = pair.run_to_end();
    assert_eq!((outcome.dropped, outcome.drained), (0, outcome.sent));
    setting.link.rate.time_to_send(Bytes(outcome.sent)).0 as f64 / end.0 as f64
}

/// B / (R (RTT + P) + MTU) and B / (R RTT); a round trip is that of the bits and of a message and two frames.
#[test]
fn a_backlogged_sender_gets_what_the_buffer_allows() {
    for us in [5, 40] {
        let setting = line(Span::us(us));
        let rtt = 2 * us * 12_500 + 64 + 2_000;
        for (json, period) in [
            (r#"{ "cbfc": { "period": "1us" } }"#, 12_500),
            (r#"{ "cbfc": { "period": "7us" } }"#, 87_500),
            (r#"{ "cbfc": { "on-change": "1000B" } }"#, 1_000),
        ] {
            let full = rtt + period + 1_000;
            for tenths in [1, 3, 5, 8, 10, 12] {
                let size = full * tenths / 10;
                let measured = share(json, size, &setting);
                let (least, most) = (size as f64 / full as f64, size as f64 / (2 * us * 12_500) as f64);
                // A run has a beginning and an end, and buffers hold whole frames.
                let frame = 1_000.0 / full as f64;
                assert!(measured <= most.min(1.0), "{measured} > {most} of {size} B, {json}, {us} us");
                assert!(
                    measured >= least.min(1.0) - frame - 0.01,
                    "{measured} < {least} of {size} B, {json}, {us} us"
                );
            }
        }
    }
}

/// 128 KiB last for 10.5 us at 100 Gbit/s, and 1 km and 5 us/km.
#[test]
fn blocks_of_12_bits_end_at_a_kilometre() {
    let at =
        |metres: u64| share(r#"{ "cbfc": { "mode": "infiniband" } }"#, 1 << 20, &line(Span::ns(5 * metres)));
    // R (RTT + P) + 4 W + 64 is 131,072 bytes in frames of 16 blocks, 1024 bytes, at 0.9 km.
    assert!(at(850) > 0.99, "{}", at(850));
    for metres in [2_000, 10_000, 80_000] {
        let most = 131_072.0 / (metres as f64 * 10.0 * 12.5);
        let measured = at(metres);
        assert!(measured < most && measured > 0.8 * most, "{measured}, not {most} over {metres} m");
    }
}

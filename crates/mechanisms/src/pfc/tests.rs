use super::*;
use crate::slots::{FcFrame, FcReceiver, FcSender, Gate, IngressView};
use crate::testing::{Bench, ingress, link, us};
use floodway_units::{Class, Rate, Time};

const PAUSE: FcFrame = FcFrame::Pause { class: Class::DATA, quanta: Quanta::MAX };
const RESUME: FcFrame = FcFrame::Pause { class: Class::DATA, quanta: Quanta(0) };

/// 1000 quanta at 100 Gbit/s.
const PAUSE_5_12_US: FcFrame = FcFrame::Pause { class: Class::DATA, quanta: Quanta(1000) };
const LASTS: Span = Span::ns(5_120);

fn params(json: &str) -> Params {
    serde_json::from_str(json).expect("the parameters are well formed")
}

fn error(json: &str, link: &LinkInfo) -> (&'static str, String) {
    let error = params(json).build(link).expect_err("the parameters must be refused");
    (error.key, error.message)
}

// ---- sizing

/// A port with a buffer of its own.
fn own() -> LinkInfo {
    LinkInfo { buffer: Bytes::mb(50), ..link() }
}

#[test]
fn headroom_is_both_delays_the_reaction_two_frames_and_the_pause() {
    let at = |gbps, delay, reverse_delay| {
        let rate = Rate::gbps(gbps);
        LinkInfo { rate, reverse_rate: rate, delay, reverse_delay, ..own() }
    };
    let react_394_quanta = r#"{ "react": "2.01728us" }"#;
    for (link, json, expected) in [
        (at(100, Span::us(1), Span::us(1)), "{}", 25_000 + 3_064),
        (at(400, Span::us(1), Span::us(1)), "{}", 100_000 + 3_064),
        (at(100, Span::us(1), Span::us(3)), "{}", 50_000 + 3_064),
        (at(400, Span::us(400), Span::us(400)), "{}", 40_000_000 + 3_064),
        (at(100, Span::us(1), Span::us(1)), react_394_quanta, 25_000 + 394 * 64 + 3_064),
        (at(400, Span::us(400), Span::us(400)), r#"{ "headroom": "40KB" }"#, 40_000),
    ] {
        assert_eq!(params(json).headroom(&link), Bytes(expected), "{json} on {link:?}");
    }
}

/// 802.3, 31B.3.7: 30,720 bit times at 10G, which are 60 quanta; then 25G 80, 40G 118, 50G 147, 100G 394,
/// 200G 453, 400G and 800G 905. NVIDIA's calculator has 67 at 10G.
#[test]
fn real_macs_react_as_the_standard_allows_or_as_nvidia_counts_at_their_rate() {
    assert_eq!(30_720 / 512, 60);
    reacts_within("ieee-802.3", 60);
    reacts_within("nvidia", 67);
}

/// This many quanta at 10G, at other rates those that both name.
fn reacts_within(keyword: &str, at_10g: u64) {
    let ieee = params(&format!(r#"{{ "react": "{keyword}" }}"#));
    for (gbps, quanta) in
        [(10, at_10g), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905), (800, 905)]
    {
        let rate = Rate::gbps(gbps);
        let link = LinkInfo { rate, reverse_rate: rate, ..own() };
        let more = ieee.headroom(&link) - params("{}").headroom(&link);
        assert_eq!(more, Bytes(quanta * 64), "{gbps}G");
        assert_eq!(ieee.reaction(&link), Some(Quanta(quanta as u16).span(rate)), "{gbps}G");
    }
    assert_eq!(serde_json::to_value(&ieee).expect("it is a value")["react"], keyword);
}

#[test]
fn an_interface_s_delay_is_not_among_what_nvidia_counts() {
    let read = |json: &str| serde_json::from_str::<Params>(json).map_err(|error| error.to_string());
    assert!(read(r#"{ "interface-delay": "nvidia" }"#).unwrap_err().contains(r#"or "ieee-802.3""#));
    let react = read(r#"{ "react": "cisco" }"#).unwrap_err();
    assert!(react.contains(r#"or "nvidia", or "ieee-802.3""#), "{react}");
}

#[test]
fn a_rate_that_the_standard_does_not_name_has_no_reaction_time() {
    let unlisted = LinkInfo { rate: Rate::gbps(33), ..own() };
    let (key, message) = error(r#"{ "react": "ieee-802.3" }"#, &unlisted);
    assert_eq!(key, "react");
    assert!(message.contains("no reaction time for 33G, but for 10G, 25G"), "{message}");
    assert!(error(r#"{ "react": "nvidia" }"#, &unlisted).1.starts_with("\"nvidia\" has no reaction time"));
    assert!(params(r#"{ "react": "2us" }"#).build(&unlisted).is_ok());
}

/// IEEE 802.1Qbb, Annex O, with the bit times that Cisco quotes; at the others 802.3, 31B.3.7.
#[test]
fn a_port_s_own_interface_takes_time_as_well() {
    let ieee = params(r#"{ "interface-delay": "ieee-802.3" }"#);
    for (gbps, bits) in [
        (10, 8_192),
        (25, 6_144),
        (40, 24_576),
        (50, 75_264),
        (100, 122_880),
        (200, 231_936),
        (400, 463_360),
        (800, 463_360),
    ] {
        let rate = Rate::gbps(gbps);
        let link = LinkInfo { rate, reverse_rate: rate, ..own() };
        let more = ieee.headroom(&link) - params("{}").headroom(&link);
        assert_eq!(more, Bytes(bits / 8), "{gbps}G");
        // The far end does not know: its reaction is as before.
        assert_eq!(ieee.reaction(&link), Some(Span::ZERO), "{gbps}G");
        assert_eq!(interface_bits(rate), Some(bits), "{gbps}G");
    }
    let (key, message) =
        error(r#"{ "interface-delay": "ieee-802.3" }"#, &LinkInfo { rate: Rate::gbps(33), ..own() });
    assert_eq!(key, "interface-delay");
    assert!(message.contains("no delay of an interface for 33G, but for 10G, 25G"), "{message}");
}

#[test]
fn equation_4_gives_what_a_short_threshold_leaves_of_a_long_link() {
    // SWING, figure 5: 11 MB at 100G; 200 us of delay lose nothing, 400 us a quarter of what is drained.
    let at = |drain: f64, delay_us: f64| {
        let round_trip = 2.0 * delay_us * 12_500.0;
        utilisation(drain, 11e6 - round_trip, round_trip)
    };
    assert_eq!((at(0.5, 200.0), at(0.5, 400.0)), (0.5, 0.375));
    assert_eq!((at(1.0, 400.0), at(1.2, 400.0)), (1.0, 1.0));
    // With the least threshold a link gets a / (1 + a).
    assert!((utilisation(0.5, 0.0, 1e6) - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn it_warns_that_a_link_may_idle_where_the_queue_empties_within_a_round_trip() {
    let long =
        LinkInfo { delay: Span::us(400), reverse_delay: Span::us(400), buffer: Bytes::mb(50), ..link() };
    let said =
        |json: &str, link: &LinkInfo, share: &SwitchShare| params(json).warnings(link, share).join("; ");
    let own = SwitchShare { drain: Rate::gbps(100), ..SwitchShare::default() };
    let warning = said(r#"{ "xoff": "1MB" }"#, &long, &own);
    assert!(warning.contains("pauses at 1MB, and 10MB arrive in a round trip"), "{warning}");
    assert!(warning.contains("at 50 % 37.5 % (SWING, Eq. 4)"), "{warning}");
    assert!(warning.contains("a threshold of 10MB, in a buffer of 20"), "{warning}");
    // A drain of 90 % and more is taken for all of the rate.
    assert_eq!(said(r#"{ "xoff": "9MB" }"#, &long, &own), "");
    assert_eq!(said(r#"{ "xoff": "8999999B" }"#, &long, &own).matches("SWING").count(), 1);
    // Within datacenters it is no matter, but for less than eight packets.
    let near = LinkInfo { delay: Span::us(10), ..long };
    assert_eq!(said(r#"{ "xoff": "12KB" }"#, &near, &own), "");
    assert!(said(r#"{ "xoff": "11999B" }"#, &near, &own).contains("At least 12KB avoid it"));
    // A port alone pauses at 198 KB and a fifth of the pool.
    let pooled = LinkInfo { buffer: Bytes::MAX, ..long };
    let share = |mb| SwitchShare { pool: Bytes::mb(mb), reserve: Bytes::kb(198), ..own };
    let alpha = r#"{ "xoff": { "alpha": 0.25 } }"#;
    assert!(said(alpha, &pooled, &share(44)).contains("pauses at 8.998MB"));
    assert_eq!(said(alpha, &pooled, &share(45)), "");
    // No more than 40 % can be carried away: 4 MB outlast a round trip.
    let slow = SwitchShare { drain: Rate::gbps(40), ..own };
    assert_eq!(said(r#"{ "xoff": "4MB" }"#, &long, &slow), "");
    let warning = said(r#"{ "xoff": "3999999B" }"#, &long, &slow);
    assert!(
        warning.contains("drains at 40 % of line rate") && warning.contains("a threshold of 4MB"),
        "{warning}"
    );
}

#[test]
fn it_warns_of_pauses_that_one_packet_ends() {
    let said = |json: &str, link: &LinkInfo| {
        let share = SwitchShare { pool: Bytes::mb(9), others: 3, ..SwitchShare::default() };
        params(json).warnings(link, &share).join("; ")
    };
    let cells = LinkInfo { cell: Bytes(254), ..link() };
    // Frames of 1500 bytes; six cells of 254 are 1524.
    for (link, least) in [(link(), 1_501), (cells, 1_525)] {
        let offset = |bytes: u64| said(&format!(r#"{{ "resume-offset": "{bytes}B" }}"#), &link);
        let warning = offset(least - 1);
        assert!(warning.contains("a pause may be shorter than a frame"), "{warning}");
        assert!(warning.ends_with(&format!("at least {} avoid it", Bytes(least))), "{warning}");
        assert!(offset(0).starts_with("resume-offset is 0B: "), "{}", offset(0));
        assert_eq!((offset(least), said("{}", &link)), (String::new(), String::new()));
    }
}

#[test]
fn it_warns_that_a_threshold_lies_beyond_the_pool() {
    let said = |json: &str, mb| {
        let share = SwitchShare { pool: Bytes::mb(mb), drain: Rate::gbps(100), ..SwitchShare::default() };
        params(json).warnings(&link(), &share).join("; ")
    };
    assert_eq!(said(r#"{ "xoff": { "alpha": 1 } }"#, 10), "");
    let warning = said(r#"{ "xoff": { "alpha": 8 } }"#, 9);
    assert!(warning.contains("72MB while the pool is free, beyond the 9MB of the pool itself"), "{warning}");
    assert!(warning.contains("when it has 8MB of it, 89 %"), "{warning}");
    let never = said(r#"{ "xoff": { "fixed": "10MB", "alpha": 0.5 } }"#, 9);
    assert!(never.contains("has all of it, and is paused by headroom alone"), "{never}");
}

#[test]
fn it_reports_where_no_headroom_is_enough() {
    let says = |json: &str, link: &LinkInfo| params(json).may_overflow(link).is_some();
    let on_off = LinkInfo { pause: PauseMode::OnOff, ..own() };
    let timer = LinkInfo { pause: PauseMode::Timer, ..own() };
    assert!(!says("{}", &timer) && !says(r#"{ "renewal": "arrivals" }"#, &on_off));
    assert!(says(r#"{ "renewal": "arrivals" }"#, &timer));
    assert!(says(r#"{ "watchdog": { "action": "forward" } }"#, &timer));
    assert!(!says(r#"{ "watchdog": { "action": "drop" } }"#, &timer));
}

/// Two pauses take 168 bytes on the wire, and so do two frames of 64 bytes and one of 148.
#[test]
fn a_buffer_fills_for_the_time_of_two_pauses_before_the_next() {
    let says = |json: &str, link: &LinkInfo| params(json).may_overflow(link).is_some();
    let bytes = LinkInfo { overhead: Bytes(20), ..own() };
    let cells = |cell| LinkInfo { cell: Bytes(cell), ..bytes };
    // Without preambles and gaps, two frames of 49 bytes take less time than two pauses of 64.
    let bare = |cell| LinkInfo { cell: Bytes(cell), least_frame: Bytes(49), overhead: Bytes(0), ..bytes };
    let of_ethernet = [(bytes, 148), (cells(96), 193), (cells(254), 255), (cells(4_096), 4_097)];
    let of_ns3 = [(bare(1), 128), (bare(96), 193), (bare(254), 509)];
    for (link, least) in of_ethernet.into_iter().chain(of_ns3) {
        for (bytes, expected) in [(least, false), (least - 1, true)] {
            let offset = format!(r#"{{ "xoff": "1MB", "resume-offset": "{bytes}B" }}"#);
            assert_eq!(says(&offset, &link), expected, "{offset} in cells of {}", link.cell);
            let xoff = format!(r#"{{ "xoff": "{bytes}B", "resume-offset": "1MB" }}"#);
            assert_eq!(says(&xoff, &link), expected, "{xoff} in cells of {}", link.cell);
        }
        let params = params(r#"{ "xoff": "auto" }"#);
        let port = LinkInfo { buffer: params.min_buffer(&link), ..link };
        assert!(params.build(&port).is_ok() && !says(r#"{ "xoff": "auto" }"#, &port));
        let small = LinkInfo { buffer: port.buffer - Bytes(1), ..port };
        assert!(params.build(&small).is_err());
    }
    // Where all frames are long, and where a pause waits for nothing behind a pool.
    let long = LinkInfo { least_frame: Bytes(148), ..bytes };
    assert!(!says(r#"{ "xoff": "1MB", "resume-offset": "1B" }"#, &long));
    assert!(!says(r#"{ "xoff": "1B" }"#, &link()));
    // Where pauses come back over a link of a tenth of the rate, they take as long as 1,680 bytes.
    let slow = LinkInfo { reverse_rate: Rate::gbps(10), ..bytes };
    assert!(says(r#"{ "xoff": "1MB", "resume-offset": "1500B" }"#, &slow));
    assert!(!says(r#"{ "xoff": "1MB", "resume-offset": "1680B" }"#, &slow));
}

#[test]
fn what_it_needs_to_lose_nothing_is_its_formula_whatever_headroom_is_given() {
    let formula = params("{}").headroom(&own());
    let given = params(r#"{ "xoff": "100KB", "headroom": "1KB" }"#);
    assert_eq!(given.lossless_size(&own()), Bytes::kb(100) + own().mtu - Bytes(1) + formula);
    assert_eq!(given.lossless_size(&link()), formula + link().mtu);
    // Where headroom alone pauses, the packet that causes the pause is in headroom.
    let by_headroom = params(r#"{ "xoff": "100KB", "trigger": "headroom" }"#);
    assert_eq!(by_headroom.min_buffer(&own()), given.lossless_size(&own()) + own().mtu);
    assert_eq!(by_headroom.lossless_size(&own()), by_headroom.min_buffer(&own()));
}

#[test]
fn with_a_shared_pool_the_packet_that_causes_the_pause_may_be_in_headroom_too() {
    assert_eq!(params("{}").headroom(&link()), params("{}").headroom(&own()) + link().mtu);
    let given = r#"{ "headroom": "40KB" }"#;
    assert_eq!(params(given).headroom(&link()), Bytes::kb(40));
    // HPCC's simulator: 3 · 100 Gbit/s · 1 us.
    assert_eq!(params(r#"{ "headroom": { "delays": 3 } }"#).headroom(&link()), Bytes(37_500));
}

#[test]
fn min_buffer_is_xoff_the_crossing_packet_and_headroom() {
    let least = |json| params(json).min_buffer(&link());
    assert_eq!(least("{}"), Bytes(320_000 + 1_499 + 28_064));
    assert_eq!(least(r#"{ "xoff": { "alpha": 0.25 } }"#), Bytes(1_499 + 28_064));
    assert_eq!(least(r#"{ "xoff": "auto" }"#), Bytes(1_500 + 1_499 + 28_064));
}

#[test]
fn auto_xoff_fills_the_static_buffer() {
    let port = LinkInfo { buffer: Bytes::mb(11), ..link() };
    let (_, receiver) = params(r#"{ "xoff": "auto" }"#).build(&port).unwrap();
    assert_eq!(receiver.threshold(Bytes::mb(5)), Bytes(11_000_000 - 28_064 - 1_499));
}

#[test]
fn auto_xoff_is_a_quarter_of_what_is_free_of_a_shared_pool() {
    let (_, receiver) = params(r#"{ "xoff": "auto" }"#).build(&link()).unwrap();
    assert_eq!(receiver.threshold(Bytes::mb(5)), Bytes::kb(1_250));
    assert_eq!(receiver.threshold(Bytes::ZERO), Bytes::ZERO);
}

#[test]
fn auto_xoff_is_refused_where_its_buffer_has_too_little() {
    let short = LinkInfo { buffer: Bytes(31_063 - 63), ..link() };
    let (key, message) = error(r#"{ "xoff": "auto" }"#, &short);
    assert!(key == "xoff" && message.contains("63B less than the 31.063KB"), "{message}");
}

#[test]
fn what_cannot_work_is_refused() {
    for (json, key) in [
        (r#"{ "refresh": 0.0 }"#, "refresh"),
        (r#"{ "refresh": 1.0 }"#, "refresh"),
        (r#"{ "quanta": 0 }"#, "quanta"),
        // 93 quanta are 5952 bytes, half of them less than two frames.
        (r#"{ "quanta": 93 }"#, "quanta"),
        (r#"{ "xoff": { "alpha": -0.5 } }"#, "xoff"),
        (r#"{ "watchdog": { "after": "0ms" } }"#, "watchdog.after"),
        (r#"{ "watchdog": { "restore": "0ms" } }"#, "watchdog.restore"),
        (r#"{ "watchdog": { "poll": "0ms" } }"#, "watchdog.poll"),
        (r#"{ "watchdog": { "poll": "201ms" } }"#, "watchdog.poll"),
        (r#"{ "watchdog": { "restore": "50ms", "poll": "51ms" } }"#, "watchdog.poll"),
    ] {
        assert_eq!(error(json, &link()).0, key, "{json}");
    }
    assert!(params(r#"{ "quanta": 94 }"#).build(&link()).is_ok());
    assert!(params(r#"{ "quanta": 1, "pause": "on-off" }"#).build(&link()).is_ok());
}

#[test]
fn by_default_xoff_fills_a_given_buffer_and_is_320_kb_beside_a_pool() {
    let unsaid = params("{}");
    let given = LinkInfo { buffer: Bytes::mb(2), ..link() };
    let auto = params(r#"{ "xoff": "auto" }"#).threshold(&given).unwrap();
    assert_eq!(unsaid.threshold(&given).unwrap(), auto);
    let pool = LinkInfo { buffer: Bytes::MAX, ..link() };
    assert_eq!(unsaid.threshold(&pool).unwrap(), (Bytes::kb(320), 0.0));
    // A buffer of `"auto"` size is made for these 320 KB.
    let made = LinkInfo { buffer: unsaid.min_buffer(&pool), ..link() };
    assert_eq!(unsaid.threshold(&made).unwrap(), (Bytes::kb(320), 0.0));
}

#[test]
fn xoff_is_a_size_a_keyword_or_parts() {
    let xoff = |json| params(&format!(r#"{{ "xoff": {json} }}"#)).xoff.expect("it is said");
    assert_eq!(xoff(r#""320KB""#), Xoff::fixed(Bytes::kb(320)));
    assert_eq!(xoff(r#"{ "fixed": "320KB" }"#), Xoff::fixed(Bytes::kb(320)));
    assert_eq!(xoff(r#"{ "alpha": 0.25 }"#), Xoff::At { fixed: Bytes::ZERO, alpha: 0.25, per: None });
    assert_eq!(xoff(r#""auto""#), Xoff::Auto);
    for written in [
        r#""auto""#,
        r#""320KB""#,
        r#"{"alpha":0.25}"#,
        r#"{"fixed":"1KB","alpha":0.5}"#,
        r#"{"total":"320KB"}"#,
    ] {
        assert_eq!(serde_json::to_string(&xoff(written)).unwrap(), written);
    }
}

#[test]
fn a_threshold_of_the_whole_switch_counts_what_other_ports_hold() {
    let given = params(r#"{ "xoff": { "total": "320KB" }, "resume-offset": "2KB" }"#);
    assert_eq!(given.min_buffer(&link()), params(r#"{ "xoff": "320KB" }"#).min_buffer(&link()));
    let (_, mut receiver) = given.build(&link()).expect("it is valid");
    assert_eq!(receiver.fast_path_below(Bytes::mb(9)), Bytes::ZERO, "any arrival may be the one");
    let mut bench = Bench::new();
    let mut at = |bench: &mut Bench<FcFrame>, own: u64, total: u64, comes: bool| {
        let view = IngressView { total: Bytes::kb(total), ..ingress(0, own * 1_000, 0) };
        let sent = bench.sent(us(1), |cx| {
            if comes { receiver.on_enqueue(cx, &view) } else { receiver.on_release(cx, &view) }
        });
        sent.iter().map(|frame| matches!(frame, FcFrame::Pause { quanta, .. } if quanta.0 > 0)).next_back()
    };
    // A packet of 1 KB is paused for by what others hold, and resumes by it.
    assert_eq!(at(&mut bench, 1, 319, true), None);
    assert_eq!(at(&mut bench, 2, 320, true), Some(true));
    assert_eq!(at(&mut bench, 3, 321, true), None, "it is paused already");
    assert_eq!(at(&mut bench, 2, 319, false), None);
    assert_eq!(at(&mut bench, 1, 318, false), Some(false));
    // With nothing of its own it resumes whatever the others hold.
    assert_eq!(at(&mut bench, 1, 400, true), Some(true));
    assert_eq!(at(&mut bench, 0, 400, false), Some(false));
}

#[test]
fn a_threshold_of_the_whole_switch_has_no_other_part() {
    let read = |json: &str| serde_json::from_str::<Params>(json).map_err(|error| error.to_string());
    for json in
        [r#"{ "xoff": { "total": "1MB", "alpha": 1 } }"#, r#"{ "xoff": { "total": "1MB", "fixed": "1KB" } }"#]
    {
        let error = read(json).unwrap_err();
        assert!(error.contains("leave out the other parts"), "{error}");
    }
}

#[test]
fn an_xoff_that_is_neither_is_refused() {
    let refused = |json: &str| serde_json::from_str::<Xoff>(json).unwrap_err().to_string();
    assert!(refused("{}").contains("needs `fixed`, `alpha`, or both"));
    assert!(refused("320").contains("its unit is missing; write it like \"288KB\", \"auto\""));
    assert!(
        refused(r#"{ "beta": 1 }"#).contains("unknown field `beta`, expected one of `fixed`, `alpha`, `per`")
    );
}

// ---- receiver

/// An arrival or a release, after which the ingress holds so much.
#[derive(Clone, Copy)]
enum Step {
    Arrive,
    Leave,
}
use Step::{Arrive, Leave};

fn receive(json: &str, steps: &[(Step, IngressView, &[FcFrame])]) -> Receiver {
    let (_, mut receiver) = params(json).build(&link()).unwrap();
    let mut bench = Bench::new();
    for (i, (step, view, expected)) in steps.iter().enumerate() {
        let sent = bench.sent(us(i as u64), |cx| match step {
            Arrive => receiver.on_enqueue(cx, view),
            Leave => receiver.on_release(cx, view),
        });
        assert_eq!(sent, *expected, "step {i}");
    }
    receiver
}

fn shared(bytes: u64) -> IngressView {
    ingress(0, bytes, 0)
}

#[test]
fn pauses_at_xoff_and_resumes_two_frames_below() {
    receive(
        "{}",
        &[
            (Arrive, shared(319_999), &[]),
            (Arrive, shared(320_000), &[PAUSE]),
            (Arrive, shared(321_500), &[]),
            (Leave, shared(320_000), &[]),
            (Leave, shared(317_001), &[]),
            (Leave, shared(317_000), &[RESUME]),
            (Leave, shared(315_500), &[]),
            (Arrive, shared(320_000), &[PAUSE]),
        ],
    );
}

#[test]
fn only_an_arrival_pauses_and_only_a_release_resumes() {
    receive(
        "{}",
        &[(Leave, shared(400_000), &[]), (Arrive, shared(320_000), &[PAUSE]), (Arrive, shared(0), &[])],
    );
}

#[test]
fn with_no_offset_it_resumes_at_xoff_itself() {
    let json = r#"{ "resume-offset": "0B" }"#;
    receive(json, &[(Arrive, shared(320_000), &[PAUSE]), (Leave, shared(320_000), &[RESUME])]);
}

/// SAI: XON is max(xon, xoff - offset).
#[test]
fn resumes_at_the_greater_of_xon_and_xoff_less_the_offset() {
    for (more, xon) in [
        (r#""xon": "3KB""#, 3_000),
        (r#""xon": "3KB", "resume-offset": "2KB""#, 8_000),
        (r#""xon": "9KB", "resume-offset": "2KB""#, 9_000),
        (r#""xon": "0B""#, 0),
        (r#""resume-offset": "2KB""#, 8_000),
    ] {
        let steps: [(Step, IngressView, &[FcFrame]); 3] = [
            (Arrive, shared(10_000), &[PAUSE]),
            (Leave, shared(xon + 1), &[]),
            (Leave, shared(xon), &[RESUME]),
        ];
        receive(&format!(r#"{{ "xoff": "10KB", {more} }}"#), &steps);
    }
}

#[test]
fn an_xon_above_a_fixed_xoff_is_refused() {
    let (key, message) = error(r#"{ "xoff": "10KB", "xon": "10001B" }"#, &own());
    assert_eq!(key, "xon");
    assert!(message.contains("10.001KB is above XOFF, 10KB"), "{message}");
    assert!(params(r#"{ "xoff": { "alpha": 0.125 }, "xon": "18432B" }"#).build(&link()).is_ok());
}

#[test]
fn headroom_in_use_pauses_and_holds_the_resume_back() {
    receive(
        "{}",
        &[
            (Arrive, ingress(0, 1_000, 500), &[PAUSE]),
            (Leave, ingress(0, 0, 1), &[]),
            (Leave, ingress(0, 1_000, 0), &[RESUME]),
        ],
    );
}

#[test]
fn a_queue_that_has_emptied_resumes_whatever_the_threshold() {
    let empty_pool = |bytes| IngressView { pool_free: Bytes::ZERO, ..ingress(288_000, bytes, 0) };
    let json = r#"{ "xoff": { "alpha": 0.25 } }"#;
    receive(json, &[(Arrive, empty_pool(1), &[PAUSE]), (Leave, empty_pool(0), &[RESUME])]);
}

#[test]
fn the_threshold_follows_the_pool() {
    let view = |bytes, free| IngressView { pool_free: Bytes(free), ..shared(bytes) };
    let json = r#"{ "xoff": { "fixed": "1KB", "alpha": 0.25 }, "resume-offset": "0B" }"#;
    let receiver = receive(
        json,
        &[
            (Arrive, view(2_999, 8_000), &[]),
            (Arrive, view(3_000, 8_000), &[PAUSE]),
            (Leave, view(2_500, 5_999), &[]),
            (Leave, view(2_499, 5_999), &[RESUME]),
        ],
    );
    assert_eq!(receiver.threshold(Bytes(5_999)), Bytes(1_000 + 1_499));
}

#[test]
fn the_headroom_trigger_ignores_the_threshold_until_headroom_is_used() {
    receive(
        r#"{ "trigger": "headroom", "xoff": "1MB", "resume-offset": "0B" }"#,
        &[
            (Arrive, shared(1_000_000), &[]),
            (Arrive, ingress(0, 1_000_000, 1_500), &[PAUSE]),
            (Leave, ingress(0, 1_000_000, 0), &[RESUME]),
        ],
    );
}

#[test]
fn releases_matter_only_while_paused() {
    let awaits = |steps: &[_]| receive("{}", steps).awaits_release();
    assert!(!awaits(&[(Arrive, shared(1), &[])]));
    assert!(awaits(&[(Arrive, shared(320_000), &[PAUSE])]));
    assert!(!awaits(&[(Arrive, shared(320_000), &[PAUSE]), (Leave, shared(0), &[RESUME])]));
}

#[test]
fn a_pause_is_renewed_at_half_its_time_until_the_resume() {
    let named = |quanta| FcFrame::Pause { class: Class::DATA, quanta: Quanta(quanta) };
    let (_, mut receiver) = params(r#"{ "quanta": 1000 }"#).build(&link()).unwrap();
    let mut bench = Bench::new();
    assert_eq!(bench.sent(us(10), |cx| receiver.on_enqueue(cx, &shared(320_000))), [named(1000)]);
    for n in 1..=3 {
        let at = us(10) + Span::ns(2_560) * n;
        assert_eq!(receiver.next_timeout(), Some(at));
        // By then the queue may be short: the pause has to last until a release finds the rule fulfilled.
        assert_eq!(bench.sent(at, |cx| receiver.on_timeout(cx, &shared(318_000))), [named(1000)]);
    }
    assert_eq!(bench.sent(us(20), |cx| receiver.on_release(cx, &shared(0))), [RESUME]);
    assert_eq!(receiver.next_timeout(), None);
    assert!(bench.sent(us(21), |cx| receiver.on_timeout(cx, &shared(0))).is_empty());
}

#[test]
fn an_on_off_pause_is_never_renewed() {
    let receiver = receive(r#"{ "pause": "on-off" }"#, &[(Arrive, shared(320_000), &[PAUSE])]);
    assert_eq!(receiver.next_timeout(), None);
}

#[test]
fn a_new_link_is_paused_at_once_where_the_queue_is_still_long() {
    let mut bench = Bench::new();
    let mut receiver = receive("{}", &[(Arrive, shared(320_000), &[PAUSE])]);
    assert_eq!(bench.sent(us(9), |cx| receiver.on_link_reset(cx, &shared(320_000))), [PAUSE]);
    assert!(bench.sent(us(10), |cx| receiver.on_link_reset(cx, &shared(319_999))).is_empty());
    assert!(!receiver.awaits_release() && receiver.next_timeout().is_none());
}

// ---- sender

struct Upstream {
    half: Sender,
    bench: Bench<FcFrame>,
}

impl Upstream {
    fn new(json: &str) -> Self {
        Upstream { half: params(json).build(&link()).unwrap().0, bench: Bench::new() }
    }

    fn receives(&mut self, at: Time, frame: FcFrame) {
        let half = &mut self.half;
        assert!(self.bench.sent(at, |cx| half.on_frame(cx, frame)).is_empty());
    }

    /// The instant that it asks for comes; gives it.
    fn wakes(&mut self) -> Time {
        let at = self.half.next_timeout().expect("something must be due");
        let half = &mut self.half;
        self.bench.sent(at, |cx| half.on_timeout(cx));
        at
    }

    fn gate(&self, at: Time) -> Gate {
        self.half.gate(at, Bytes(1500))
    }
}

/// Just before.
fn before(at: Time) -> Time {
    at - Span(1)
}

#[test]
fn a_pause_holds_for_its_quanta_and_its_end_is_an_event() {
    let mut up = Upstream::new("{}");
    assert_eq!((up.gate(us(1)), up.half.next_timeout()), (Gate::Open, None));
    up.receives(us(1), PAUSE_5_12_US);
    let end = us(1) + LASTS;
    assert_eq!(
        (up.gate(us(1)), up.gate(before(end)), up.gate(end)),
        (Gate::Until(end), Gate::Until(end), Gate::Open)
    );
    assert_eq!(up.wakes(), end);
    assert_eq!((up.gate(end), up.half.next_timeout()), (Gate::Open, None));
}

#[test]
fn quanta_are_bit_times_of_the_link() {
    let fast = LinkInfo { rate: Rate::gbps(400), ..link() };
    let (mut half, _) = params("{}").build(&fast).unwrap();
    Bench::new().sent(Time::ZERO, |cx| half.on_frame(cx, PAUSE));
    assert_eq!(half.next_timeout(), Some(Time(83_884_800)));
}

#[test]
fn a_newer_pause_replaces_the_running_one_longer_or_shorter() {
    let mut up = Upstream::new("{}");
    up.receives(us(1), PAUSE_5_12_US);
    up.receives(us(3), PAUSE_5_12_US);
    assert_eq!(up.half.next_timeout(), Some(us(3) + LASTS));
    up.receives(us(4), FcFrame::Pause { class: Class::DATA, quanta: Quanta(1) });
    assert_eq!(up.gate(us(4)), Gate::Until(us(4) + Span(5_120)));
}

#[test]
fn a_resume_opens_at_once() {
    for json in ["{}", r#"{ "pause": "on-off" }"#] {
        let mut up = Upstream::new(json);
        up.receives(us(1), PAUSE);
        assert!(!up.gate(us(2)).is_open(us(2)));
        up.receives(us(2), RESUME);
        assert_eq!((up.gate(us(2)), up.half.next_timeout()), (Gate::Open, None));
    }
}

#[test]
fn an_on_off_pause_lasts_until_the_resume() {
    let mut up = Upstream::new(r#"{ "pause": "on-off" }"#);
    up.receives(us(1), PAUSE_5_12_US);
    assert_eq!((up.gate(us(1_000_000)), up.half.next_timeout()), (Gate::Closed, None));
}

#[test]
fn the_reaction_time_and_the_pausing_interface_delay_the_beginning_only() {
    for json in [r#"{ "react": "2us" }"#, r#"{ "react": "1.5us", "interface-delay": "500ns" }"#] {
        let mut up = Upstream::new(json);
        up.receives(us(1), PAUSE_5_12_US);
        let end = us(1) + LASTS;
        assert_eq!((up.gate(before(us(3))), up.gate(us(3))), (Gate::Open, Gate::Until(end)));
        assert_eq!((up.wakes(), up.wakes()), (us(3), end));
        assert_eq!(up.half.next_timeout(), None);
    }
}

#[test]
fn during_the_reaction_a_second_pause_does_not_put_it_off_and_a_resume_cancels_it() {
    let mut up = Upstream::new(r#"{ "react": "2us" }"#);
    up.receives(us(1), PAUSE_5_12_US);
    up.receives(us(2), PAUSE_5_12_US);
    assert_eq!(up.wakes(), us(3));
    assert_eq!(up.gate(us(3)), Gate::Until(us(2) + LASTS));
    up.receives(us(4), RESUME);
    up.receives(us(5), PAUSE_5_12_US);
    up.receives(us(6), RESUME);
    assert_eq!((up.gate(us(7)), up.half.next_timeout()), (Gate::Open, None));
}

#[test]
fn a_refresh_meets_a_sender_that_is_paused_and_leaves_it_so() {
    let mut up = Upstream::new(r#"{ "react": "2us" }"#);
    up.receives(us(1), PAUSE_5_12_US);
    assert_eq!(up.wakes(), us(3));
    up.receives(us(5), PAUSE_5_12_US);
    assert_eq!(up.gate(us(5)), Gate::Until(us(5) + LASTS));
}

#[test]
fn a_pause_shorter_than_the_reaction_never_holds() {
    let mut up = Upstream::new(r#"{ "react": "6us" }"#);
    up.receives(us(1), PAUSE_5_12_US);
    assert!((1..9).all(|n| up.gate(us(n)) == Gate::Open));
    assert_eq!((up.wakes(), up.half.next_timeout()), (us(7), None));
}

#[test]
fn a_new_link_starts_open() {
    let mut up = Upstream::new(r#"{ "pause": "on-off" }"#);
    up.receives(us(1), PAUSE);
    let half = &mut up.half;
    up.bench.sent(us(2), |cx| half.on_link_reset(cx));
    assert_eq!(up.gate(us(2)), Gate::Open);
}

// ---- watchdog

const DOG: &str = r#"{ "watchdog": { "after": "10us", "restore": "20us" } }"#;

/// Paused from 1 us on by refreshes each 4 us, until the watchdog has acted at 11 us.
fn given_up(json: &str) -> Upstream {
    let mut up = Upstream::new(json);
    for at in [1, 5, 9] {
        up.receives(us(at), PAUSE_5_12_US);
    }
    assert_eq!(up.half.gate(before(us(11)), Bytes(1500)), Gate::Until(us(9) + LASTS));
    assert!(!up.half.discards(before(us(11))));
    assert_eq!(up.wakes(), us(11));
    up
}

#[test]
fn the_watchdog_gives_up_a_pause_that_refreshes_keep_alive() {
    let up = given_up(DOG);
    assert!(up.gate(us(11)) == Gate::Open && up.half.discards(us(11)));
    let forward = given_up(r#"{ "watchdog": { "after": "10us", "action": "forward" } }"#);
    assert!(forward.gate(us(11)) == Gate::Open && !forward.half.discards(us(11)));
}

#[test]
fn a_pause_that_ends_in_between_restarts_the_watchdog() {
    let mut up = Upstream::new(DOG);
    up.receives(us(1), PAUSE_5_12_US);
    assert_eq!(up.wakes(), us(1) + LASTS);
    up.receives(us(8), PAUSE_5_12_US);
    up.receives(us(12), PAUSE_5_12_US);
    up.receives(us(16), PAUSE_5_12_US);
    assert_eq!(up.wakes(), us(18));
    assert!(up.half.discards(us(18)));
}

#[test]
fn pauses_are_obeyed_again_after_a_time_without_any() {
    let mut up = given_up(DOG);
    up.receives(us(13), PAUSE_5_12_US);
    assert_eq!((up.gate(us(14)), up.half.next_timeout()), (Gate::Open, Some(us(33))));
    assert_eq!(up.wakes(), us(33));
    assert!(!up.half.discards(us(33)));
    up.receives(us(34), PAUSE_5_12_US);
    assert_eq!(up.gate(us(34)), Gate::Until(us(34) + LASTS));
}

/// SONiC counts every PFC frame of the class, and a RESUME is one.
#[test]
fn a_resume_does_not_end_what_the_watchdog_did() {
    let mut up = given_up(DOG);
    up.receives(us(12), RESUME);
    assert!(up.half.discards(us(31)) && up.gate(us(31)) == Gate::Open);
    assert_eq!((up.wakes(), up.half.discards(us(32))), (us(32), false));
    up.receives(us(33), PAUSE_5_12_US);
    assert_eq!(up.gate(us(33)), Gate::Until(us(33) + LASTS));
}

#[test]
fn by_default_the_watchdog_restores_after_twice_its_time() {
    let mut up = given_up(r#"{ "watchdog": { "after": "10us" } }"#);
    assert_eq!((up.wakes(), up.half.discards(us(31))), (us(31), false));
}

/// Looks each 4 us: the first interval that is paused throughout ends at 8 us, the third, which makes 10 us,
/// at 16. The last frame is at 17 us; 20 us without one are five intervals after the one that ends at 20.
#[test]
fn a_watchdog_that_polls_counts_whole_intervals() {
    let mut up = Upstream::new(r#"{ "watchdog": { "after": "10us", "restore": "20us", "poll": "4us" } }"#);
    for at in [1, 5, 9, 13] {
        up.receives(us(at), PAUSE_5_12_US);
    }
    assert_eq!((up.wakes(), up.half.discards(us(16))), (us(16), true));
    // As if no frame came any more: five intervals from 16 us.
    assert_eq!(up.half.next_timeout(), Some(us(36)));
    up.receives(us(17), PAUSE_5_12_US);
    assert_eq!((up.wakes(), up.half.discards(us(40))), (us(40), false));
}

#[test]
fn an_on_off_pause_counts_as_frames_until_its_resume() {
    let mut up =
        Upstream::new(r#"{ "pause": "on-off", "watchdog": { "after": "10us", "restore": "20us" } }"#);
    up.receives(us(1), PAUSE);
    assert_eq!(up.wakes(), us(11));
    assert!(up.half.discards(us(1_000_000)) && up.half.next_timeout().is_none());
    up.receives(us(2_000_000), RESUME);
    assert_eq!((up.wakes(), up.half.discards(us(2_000_020))), (us(2_000_020), false));
    up.receives(us(2_000_021), PAUSE);
    assert_eq!(up.gate(us(2_000_022)), Gate::Closed);
}

/// HPCC's simulator with NICs of 100G: shift 3 at 100G and below, 2 at 200G, 1 at 400G, 0 from 800G on.
#[test]
fn a_share_of_the_pool_can_grow_with_the_links_rate() {
    let at = |gbps, nic| Per::Nic.grow(0.125, Rate::gbps(gbps), Rate::gbps(nic));
    assert_eq!([25, 100, 200, 400, 800, 1600].map(|rate| at(rate, 100)), [0.125, 0.125, 0.25, 0.5, 1.0, 1.0]);
    assert_eq!(at(40, 25), 0.25, "any part of a doubling counts as one");
    let given = params(r#"{ "xoff": { "alpha": 0.125, "per": "nic" } }"#);
    assert_eq!(given.xoff, Some(Xoff::At { fixed: Bytes::ZERO, alpha: 0.125, per: Some(Per::Nic) }));
    let nic = LinkInfo { rate: Rate::gbps(400), nic_rate: Rate::gbps(100), ..link() };
    assert_eq!(given.threshold(&nic).unwrap(), (Bytes::ZERO, 0.5));
}

// ---- pauses that arrivals renew (ConWeave's simulator)

/// 2097 B and a sixteenth of the free bytes, pauses of 5 us: 977 quanta are named.
const BROADCOM: &str = r#"{ "xoff": { "fixed": "2097B", "alpha": 0.0625 }, "resume-offset": "2B",
    "pause-time": "5us", "renewal": "arrivals" }"#;
const PAUSE_5_US: FcFrame = FcFrame::Pause { class: Class::DATA, quanta: Quanta(977) };

/// What `used` bytes of one (port, class) look like where `free` bytes of the pool are.
fn broadcom(used: u64, free: u64) -> IngressView {
    IngressView { pool_free: Bytes(free), ..ingress(0, used, 0) }
}

#[test]
fn each_arrival_over_the_threshold_sends_a_pause_of_the_time_that_is_given() {
    let (_, mut receiver) = params(BROADCOM).build(&link()).unwrap();
    let mut bench = Bench::new();
    let mut arrival = |at, used| bench.sent(us(at), |cx| receiver.on_enqueue(cx, &broadcom(used, 160_000)));
    // used - 2096 > 10000 pauses.
    assert_eq!(arrival(1, 12_096), []);
    assert_eq!(arrival(2, 12_097), [PAUSE_5_US]);
    assert_eq!(arrival(3, 13_145), [PAUSE_5_US]);
    // Others have made room: used - 2096 is below a sixteenth of the free bytes less 16.
    assert_eq!(arrival(4, 12_096), []);
    assert_eq!(arrival(4, 12_095), [RESUME]);
    assert_eq!(arrival(5, 12_095), []);
}

#[test]
fn a_pause_that_has_run_out_is_not_resumed_and_begins_again_with_an_arrival() {
    let (mut sender, mut receiver) = params(BROADCOM).build(&link()).unwrap();
    assert_eq!(receiver.next_timeout(), None);
    let mut bench = Bench::new();
    let over = broadcom(30_000, 160_000);
    assert_eq!(bench.sent(us(1), |cx| receiver.on_enqueue(cx, &over)), [PAUSE_5_US]);
    assert!(receiver.is_pausing(us(5)) && !receiver.is_pausing(us(6)));
    assert_eq!(bench.sent(us(6), |cx| receiver.on_release(cx, &broadcom(0, 160_000))), []);
    assert_eq!(bench.sent(us(7), |cx| receiver.on_enqueue(cx, &over)), [PAUSE_5_US]);
    assert_eq!(bench.sent(us(8), |cx| receiver.on_release(cx, &broadcom(0, 160_000))), [RESUME]);

    bench.sent(us(2), |cx| sender.on_frame(cx, PAUSE_5_US));
    assert_eq!((sender.gate(us(3), Bytes(64)), sender.next_timeout()), (Gate::Until(us(7)), Some(us(7))));
    bench.sent(us(4), |cx| sender.on_frame(cx, PAUSE_5_US));
    assert_eq!(sender.gate(us(8), Bytes(64)), Gate::Until(us(9)));
    assert_eq!(sender.gate(us(9), Bytes(64)), Gate::Open);
}

#[test]
fn a_pause_time_must_fit_into_the_field_of_quanta() {
    let longest = Quanta::MAX.span(link().rate);
    let (key, message) = error(r#"{ "pause-time": "336us" }"#, &link());
    assert_eq!(
        (key, message),
        ("pause-time", format!("336us is not a time above 0 and up to the {longest} of 65535 quanta"))
    );
    assert_eq!(error(r#"{ "pause-time": "0us", "renewal": "arrivals" }"#, &link()).0, "pause-time");
    let (key, message) = error(r#"{ "pause-time": "100ns" }"#, &link());
    assert_eq!(
        (key, message.as_str()),
        ("pause-time", "a pause of 100ns ends before its refresh can arrive")
    );
}

//! Headroom by its formula, term by term: enough in the worst case, and no byte of it for nothing.
//!
//! The worst case, with frames of one size M whose wire and buffer bytes are equal: `a` sends to `s` at line
//! rate, and nothing leaves `s`, since `b` pauses it. The threshold lies one byte above a whole number of
//! frames, so that the frame that crosses it exceeds it by M - 1. Just before, `s` has begun a frame to `a`;
//! and when the pause has arrived and been heeded, `a` has just begun one more.

use crate::support;
use crate::support::{Net, counter, port};
use floodway_fabric::Records;
use floodway_fabric::outcome::LosslessVerdict;
use floodway_units::{Bytes, Class, NodeId, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
/// Picoseconds a byte at 100G.
const BYTE: u64 = 80;
/// A full packet.
const FRAME: u64 = 1048;
/// A PFC frame of this wire format.
const PAUSE: u64 = 43;
/// Frames in the buffer before the one that crosses the threshold.
const BELOW: u64 = 20;
const XOFF: u64 = BELOW * FRAME + 1;
/// When `a` begins.
const START: u64 = 10_000_000;

/// A link and its traffic; lengths in bytes of the link.
#[derive(Clone, Copy)]
struct Case {
    there: u64,
    back: u64,
    react: u64,
    /// Does `s` send to `a` as well?
    reverse: bool,
}

/// When the pause is heeded, one byte of a further frame is on the wire: 10 frames and a byte fit into
/// flight, reaction and the pause frame together.
const WORST: Case = Case { there: 3_750, back: 4_688, react: 2_000, reverse: true };

impl Case {
    /// The formula.
    fn headroom(self) -> u64 {
        self.there + self.back + self.react + FRAME + FRAME + 64
    }

    /// When the frame that crosses the threshold is whole at `s`.
    fn crossing(self) -> u64 {
        START + ((BELOW + 1) * FRAME + self.there) * BYTE
    }

    fn net(self, headroom: u64) -> Net {
        let react = Span(self.react * BYTE);
        let pfc =
            format!(r#"{{"pfc": {{"xoff": "{XOFF}B", "headroom": "{headroom}B", "react": "{react}"}}}}"#);
        let mut net = Net::new(Format::HpccNs3);
        let (a, s, b, c) = (net.host("a"), net.switch("s"), net.host("b"), net.host("c"));
        let link = net.link(a, s, G100, Span::us(1), &pfc);
        net.delays(link, Span(self.there * BYTE), Span(self.back * BYTE));
        // By their formula, so that no other port is short.
        let others = format!(r#"{{"pfc": {{"xoff": "{XOFF}B"}}}}"#);
        let out = net.link(s, b, G100, Span::us(1), &others);
        net.link(c, s, G100, Span::us(1), &others);
        net.pauses(out, b, Span::ZERO, Time::NEVER);
        let beside = Span(self.crossing() - 1) - Span::us(1) - Span(FRAME * BYTE);
        net.flow(a, b, Bytes::mb(1), Span(START));
        if self.reverse {
            net.flow(c, a, Bytes(1000), beside);
        }
        net.limit(Span::us(200))
    }

    fn run(self, headroom: u64) -> Records {
        self.net(headroom).run()
    }

    /// Exactly this is lost if `headroom` is all there is, and `frames` come after the crossing.
    fn expect_loss(self, headroom: u64, frames: u64) {
        let records = self.run(headroom);
        let fit = headroom / FRAME;
        assert!(fit < frames, "{headroom} B hold {frames} frames");
        let lost = frames - fit;
        let lossless = records.outcome.lossless;
        assert_eq!(lossless.verdict, LosslessVerdict::Violated, "{headroom} B of headroom");
        let loss = lossless.loss.expect("it is violated");
        assert_eq!((loss.place.as_str(), loss.class), ("s (a-s)", 3));
        assert_eq!(loss.time_us, Time(self.crossing() + (fit + 1) * FRAME * BYTE).as_us());
        assert_eq!(loss.missing_bytes, (fit + 1) * FRAME - headroom);
        assert_eq!((loss.packets, loss.bytes, loss.worst_port_bytes), (lost, lost * FRAME, lost * FRAME));
        assert_eq!((loss.ports, loss.worst_place.as_str()), (1, "s (a-s)"));
        let short = lossless.short.expect("the formula asks for more");
        assert_eq!((short.ports, short.place.as_str(), short.class), (1, "s (a-s)", 3));
        assert_eq!(short.short_bytes, self.headroom() - headroom);
    }

    /// Nothing is lost, and `frames` come after the crossing.
    fn expect_no_loss(self, headroom: u64, frames: u64) {
        let records = self.run(headroom);
        let verdict = if headroom >= self.headroom() {
            LosslessVerdict::HeldBySizing
        } else {
            LosslessVerdict::HeldInRun
        };
        assert_eq!(records.outcome.lossless.verdict, verdict, "{headroom} B of headroom");
        let peak = counter(&records, "s", "a-s", "peak_bytes");
        assert_eq!(peak, XOFF + FRAME - 1 + frames * FRAME);
    }
}

/// Frames that come after the crossing in the worst case: the bytes in flight and sent until the pause is
/// heeded are 11 frames and one byte, which makes 12.
const FRAMES: u64 = 12;
/// What the formula has beyond them: it counts 64 bytes for a pause frame of 43, and a whole frame for the
/// one begun last, of which a byte was in flight already.
const SPARE: u64 = 3_750 + 4_688 + 2_000 + 2 * FRAME + 64 - FRAMES * FRAME;

#[test]
fn the_worst_case_fits_into_the_formula() {
    let net = WORST.net(0);
    let mut auto = net.blueprint.clone();
    for direction in auto.links.iter_mut().flat_map(|link| &mut link.directions) {
        let react = Span(WORST.react * BYTE);
        direction.flow_control[0].1 =
            support::params(&format!(r#"{{"pfc": {{"xoff": "{XOFF}B", "react": "{react}"}}}}"#));
    }
    let account = auto.accounts().of(port(0, 1), Class::DATA).unwrap().expect("s is a switch");
    assert_eq!(account.headroom, Bytes(WORST.headroom()));
    assert_eq!(account.own, Some(Bytes(XOFF + FRAME - 1 + WORST.headroom())));

    let flight = WORST.there + WORST.back + WORST.react + PAUSE;
    assert_eq!(flight, 10 * FRAME + 1);
    WORST.expect_no_loss(WORST.headroom(), FRAMES);
}

#[test]
fn with_one_frame_less_the_worst_case_drops_and_the_verdict_has_port_time_and_bytes() {
    WORST.expect_loss(WORST.headroom() - FRAME, FRAMES);
}

#[test]
fn each_term_alone_is_needed() {
    let terms = [
        ("data on the way", WORST.there),
        ("the pause on the way", WORST.back),
        ("the reaction", WORST.react),
        ("the frame ahead of the pause", FRAME),
        ("the frame that the peer has begun", FRAME),
        ("the pause frame", 64),
    ];
    for (term, bytes) in terms {
        assert!(bytes > SPARE, "{term} could hide in what the formula has to spare");
        WORST.expect_loss(WORST.headroom() - bytes, FRAMES);
    }
}

#[test]
fn the_bytes_that_the_formula_has_to_spare_are_those_of_a_shorter_pause_frame() {
    assert_eq!(SPARE, 64 - PAUSE + 1);
    WORST.expect_no_loss(WORST.headroom() - SPARE, FRAMES);
    WORST.expect_loss(WORST.headroom() - SPARE - 1, FRAMES);
}

#[test]
fn without_reverse_traffic_no_frame_is_ahead_of_the_pause() {
    let case = Case { reverse: false, ..WORST };
    case.expect_no_loss(case.headroom() - FRAME, FRAMES - 1);
}

#[test]
fn a_pause_between_two_frames_finds_no_frame_begun() {
    let case = Case { back: WORST.back - 1, ..WORST };
    case.expect_no_loss(case.headroom() - FRAME, FRAMES - 1);
}

#[test]
fn an_upstream_that_reacts_at_once_needs_no_bytes_for_it() {
    let case = Case { react: 0, back: WORST.back + WORST.react, ..WORST };
    case.expect_no_loss(case.headroom(), FRAMES);
    let prompt = Case { react: 0, ..WORST };
    assert_eq!(prompt.headroom(), WORST.headroom() - WORST.react);
    let frames = (prompt.there + prompt.back + PAUSE + FRAME).div_ceil(FRAME);
    prompt.expect_no_loss(prompt.headroom(), frames);
}

#[test]
fn with_a_pool_that_others_have_taken_the_crossing_frame_is_in_headroom_too() {
    let run = |headroom: &str| {
        let mut net = WORST.net(0);
        let react = Span(WORST.react * BYTE);
        let pfc =
            format!(r#"{{"pfc": {{"xoff": {{"alpha": 1}}, "headroom": {headroom}, "react": "{react}"}}}}"#);
        // The reserve takes the frames before the crossing, and the pool none at all.
        let reserve = BELOW * FRAME;
        let pool = format!(r#"{{"shared": {{"pool": "{}B", "reserve": "{reserve}B"}}}}"#, FRAME - 1);
        let s = NodeId(1);
        net.buffer(s, &pool);
        for direction in net.blueprint.links.iter_mut().flat_map(|link| &mut link.directions) {
            direction.flow_control[0].1 = support::params(&pfc);
        }
        (
            net.blueprint.accounts().of(port(0, 1), Class::DATA).unwrap().expect("s is a switch").headroom,
            net.run(),
        )
    };
    let (auto, records) = run(r#""auto""#);
    assert_eq!(auto, Bytes(WORST.headroom() + FRAME));
    assert!(records.outcome.lossless.is_held());
    assert_eq!(counter(&records, "s", "a-s", "headroom_peak_bytes"), (1 + FRAMES) * FRAME);
    let (_, records) = run(&format!(r#""{}B""#, WORST.headroom()));
    let lost = records.outcome.lossless.loss.map(|loss| loss.missing_bytes);
    assert_eq!(lost, Some(FRAME - SPARE));
}

/// Frames of 64 bytes alone, in cells of 254: each byte on the wire takes up to 254 / 84 of the buffer.
#[test]
fn small_frames_in_cells_fit_into_the_formula_and_not_into_a_cell_less_than_they_take() {
    let run = |headroom: Option<u64>| {
        let size = headroom.map_or(String::new(), |size| format!(r#", "headroom": "{size}B""#));
        let pfc = format!(r#"{{"pfc": {{"xoff": "{XOFF}B", "react": "1us"{size}}}}}"#);
        let mut net = Net::new(Format::Ethernet);
        let (a, s, b, c) = (net.host("a"), net.switch("s"), net.host("b"), net.host("c"));
        net.link(a, s, G100, Span::us(10), &pfc);
        let out = net.link(s, b, G100, Span::us(1), &pfc);
        net.link(c, s, G100, Span::us(1), &pfc);
        net.pauses(out, b, Span::ZERO, Time::NEVER);
        net.cell(s, Bytes(254));
        let small = net.with_payload(0, Bytes(2));
        net.flow(a, b, Bytes(100_000), Span::ZERO).settings = Some(small);
        net.flow(c, a, Bytes::mb(1), Span::ZERO);
        let net = net.limit(Span::us(200));
        let account = net.blueprint.accounts().of(port(0, 1), Class::DATA).unwrap().expect("s is a switch");
        (account.headroom.0, net.run())
    };
    let (formula, records) = run(None);
    assert_eq!(records.outcome.lossless.verdict, LosslessVerdict::HeldBySizing);
    let taken = counter(&records, "s", "a-s", "headroom_peak_bytes");
    assert_eq!(taken % 254, 0);
    // What the formula has beyond the case: its last frame is a full one, and the reverse frame may be at
    // any byte when the pause is due.
    let full = 1082_u64.next_multiple_of(254);
    assert!(taken <= formula && formula - taken <= full + 1082 * 254 / 84 + 254, "{taken} of {formula}");
    // The buffer is as large as if a full frame crossed the threshold, and that of a cell leaves the rest.
    let peak = counter(&records, "s", "a-s", "peak_bytes");
    let least = peak - XOFF - (full - 1);
    let (_, records) = run(Some(least));
    assert!(records.outcome.lossless.is_held());
    let (_, records) = run(Some(least - 1));
    assert_eq!(records.outcome.lossless.verdict, LosslessVerdict::Violated);
    assert_eq!(records.outcome.lossless.loss.expect("it is violated").missing_bytes, 1);
}

/// Two ports that are paused at one instant, and share headroom.
#[test]
fn ports_that_share_headroom_lose_if_it_is_over_subscribed_and_all_pause_at_once() {
    let run = |shared: Option<u64>| {
        let pfc = format!(r#"{{"pfc": {{"xoff": "{XOFF}B"}}}}"#);
        let mut net = Net::new(Format::HpccNs3);
        let (a, s, b, c) = (net.host("a"), net.switch("s"), net.host("b"), net.host("c"));
        net.link(a, s, G100, Span::us(1), &pfc);
        net.link(c, s, G100, Span::us(1), &pfc);
        let out = net.link(s, b, G100, Span::us(1), &pfc);
        net.pauses(out, b, Span::ZERO, Time::NEVER);
        let headroom = shared.map_or(String::new(), |size| format!(r#", "headroom-pool": "{size}B""#));
        net.buffer(s, &format!(r#"{{"shared": {{"pool": "10MB"{headroom}}}}}"#));
        net.flow(a, b, Bytes::mb(1), Span::ZERO);
        net.flow(c, b, Bytes::mb(1), Span::ZERO);
        let net = net.limit(Span::us(200));
        let account = net.blueprint.accounts().of(port(0, 1), Class::DATA).unwrap().expect("s is a switch");
        (account.headroom.0, net.run())
    };
    let (each, records) = run(None);
    assert_eq!(records.outcome.lossless.verdict, LosslessVerdict::HeldBySizing);
    let taken = counter(&records, "s", "a-s", "headroom_peak_bytes");
    // All three ports' headroom, though only two are paused.
    assert_eq!(run(Some(3 * each)).1.outcome.lossless.verdict, LosslessVerdict::HeldBySizing);
    let enough = run(Some(2 * taken)).1.outcome;
    assert_eq!(enough.lossless.verdict, LosslessVerdict::HeldInRun);
    assert!(enough.lossless.unproven[0].why.contains("share"), "{:?}", enough.lossless.unproven);
    let short = run(Some(2 * taken - 1)).1.outcome.lossless;
    assert_eq!(short.verdict, LosslessVerdict::Violated);
    assert_eq!(short.loss.expect("it is violated").missing_bytes, 1);
}

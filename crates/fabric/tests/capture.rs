//! Captures: what is kept of the frames that chosen ports send, and that keeping it changes nothing.
//!
//! ```text
//!  a ─┐
//!     ├─► s ──► r      100G, 1 us; RED marks at s, PFC on all links, a few packets are lost before r
//!  b ─┘
//! ```
#![allow(missing_docs, reason = "tests")]

mod support;

use floodway_fabric::Records;
use floodway_fabric::blueprint::CaptureSpec;
use floodway_mechanisms::registry::NotificationParams;
use floodway_units::{Bytes, PortId, Rate, Span};
use floodway_wire::Format;
use support::{Net, port, sum};

/// Kinds of blocks.
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;

fn incast(capture: Option<CaptureSpec>) -> Records {
    let mut net = Net::new(Format::Ethernet).rate_control(&[r#""dcqcn""#]).reliability(r#""go-back-n""#);
    let settings = &mut net.blueprint.settings[0];
    settings.notification = NotificationParams::asked_by(&settings.rate_control);
    let pfc = r#"{"pfc": {"xoff": "60KB"}}"#;
    let (s, r) = (net.switch("s"), net.host("r"));
    let (a, b) = (net.host("a"), net.host("b"));
    let [out, _, _] =
        [(s, r), (a, s), (b, s)].map(|(x, y)| net.link(x, y, Rate::gbps(100), Span::us(1), pfc));
    net.congestion_point(out, s, r#"{"red": {"kmin": "5KB", "kmax": "200KB", "pmax": 0.01}}"#);
    net.blueprint.links[out].directions[0].errors.data = 0.002;
    net.flow(a, r, Bytes(1_000_002), Span::ZERO);
    net.flow(b, r, Bytes(1_000_002), Span::ZERO);
    net.blueprint.records.capture = capture;
    net.run()
}

fn all_ports() -> Vec<PortId> {
    (0..3).flat_map(|link| [port(link, 0), port(link, 1)]).collect()
}

fn spec(packets: usize, bytes: usize) -> Option<CaptureSpec> {
    Some(CaptureSpec { ports: all_ports(), packets, bytes })
}

/// Bodies of a file's blocks of one kind.
fn blocks(file: &[u8], kind: u32) -> Vec<&[u8]> {
    let (mut at, mut found) = (0, Vec::new());
    while at < file.len() {
        let length = word(file, at + 4) as usize;
        if word(file, at) == kind {
            found.push(&file[at + 8..at + length - 4]);
        }
        at += length;
    }
    found
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

struct Frame<'a> {
    interface: u32,
    nanoseconds: u64,
    length: u32,
    bytes: &'a [u8],
}

fn frames(records: &Records) -> Vec<Frame<'_>> {
    let file = records.capture.as_deref().expect("something was to be captured");
    let frame =
        |block: &'_ [u8]| (word(block, 0), word(block, 4), word(block, 8), word(block, 12), word(block, 16));
    blocks(file, PACKET)
        .into_iter()
        .map(|block| {
            let (interface, high, low, kept, length) = frame(block);
            let nanoseconds = u64::from(high) << 32 | u64::from(low);
            Frame { interface, nanoseconds, length, bytes: &block[20..20 + kept as usize] }
        })
        .collect()
}

/// Frames that the ports have sent, by the counters.
fn sent(records: &Records) -> u64 {
    sum(records, "tx_packets") + sum(records, "pfc_tx")
}

#[test]
fn keeping_frames_changes_nothing_else_and_gives_the_same_bytes_again() {
    let (without, with, again) = (incast(None), incast(spec(100_000, 128)), incast(spec(100_000, 128)));
    assert_eq!(with, again);
    assert_eq!((&without.flows, &without.counters), (&with.flows, &with.counters));
    assert_eq!((&without.series, &without.latency), (&with.series, &with.latency));
    assert_eq!(without.outcome.events, with.outcome.events);
    assert!(without.capture.is_none() && without.outcome.capture.is_none());
}

#[test]
fn every_frame_that_a_port_sends_is_kept_once_in_the_order_of_time() {
    let records = incast(spec(100_000, 128));
    let frames = frames(&records);
    let totals = records.outcome.capture.expect("there is a capture");
    assert_eq!((totals.packets, totals.missed), (frames.len() as u64, 0));
    assert_eq!(totals.packets, sent(&records));
    assert!(frames.is_sorted_by_key(|frame| frame.nanoseconds));
    assert!(frames.iter().all(|frame| frame.interface < 6));
    assert!(sum(&records, "pfc_tx") > 0 && sum(&records, "ecn_marks") > 0, "the test sees both");
    let pauses = frames.iter().filter(|frame| frame.bytes[12..14] == [0x88, 0x08]).count() as u64;
    assert_eq!(pauses, sum(&records, "pfc_tx"));
    let opcode = |code: u8| frames.iter().filter(|f| f.bytes[12] == 8 && f.bytes[42] == code).count();
    assert!(opcode(0x81) > 0, "receivers send CNPs");
    assert!(
        frames.iter().any(|f| f.bytes[12] == 8 && f.bytes[42] == 0x11 && f.bytes[54] == 0x60),
        "and NAKs"
    );
}

#[test]
fn the_first_packet_of_a_message_tells_its_length_and_the_last_one_is_padded() {
    let records = incast(spec(100_000, 16_000));
    let frames = frames(&records);
    let of = |code: u8| frames.iter().filter(move |frame| frame.bytes[12] == 8 && frame.bytes[42] == code);
    assert!(of(0x06).count() >= 4, "two flows, two hops");
    for first in of(0x06) {
        assert_eq!(first.bytes[66..70], 1_000_002u32.to_be_bytes());
    }
    for last in of(0x08) {
        // 2 bytes of payload, 2 of pad.
        assert_eq!((last.length, last.bytes.len(), last.bytes[43] >> 4 & 3), (66, 66, 2));
    }
    assert!(frames.iter().all(|frame| frame.length as usize == frame.bytes.len()));
}

#[test]
fn what_does_not_fit_is_counted_by_port_and_in_all() {
    let records = incast(spec(100, 64));
    let totals = records.outcome.capture.expect("there is a capture");
    let frames = frames(&records);
    assert_eq!((frames.len(), totals.packets), (100, 100));
    assert_eq!(totals.packets + totals.missed, sent(&records));
    assert!(frames.iter().all(|frame| frame.bytes.len() == 64 && frame.length >= 64));
    let file = records.capture.as_deref().expect("there is a file");
    assert_eq!(blocks(file, INTERFACE).len(), 6);
    // Interface, time, then the options "received" and "dropped" of 8 bytes each.
    let counted = blocks(file, STATISTICS).into_iter().map(|block| (word(block, 16), word(block, 28)));
    let (all, missed) = counted.fold((0, 0), |sum, port| (sum.0 + port.0, sum.1 + port.1));
    assert_eq!((u64::from(all), u64::from(missed)), (sent(&records), totals.missed));
}

#[test]
fn ports_that_were_not_chosen_are_not_in_the_file() {
    let one = CaptureSpec { ports: vec![port(1, 0), port(1, 0)], packets: 10, bytes: 128 };
    let records = incast(Some(one));
    let file = records.capture.as_deref().expect("there is a file");
    assert_eq!(blocks(file, INTERFACE).len(), 1);
    for frame in frames(&records) {
        assert_eq!((frame.interface, &frame.bytes[6..12]), (0, &[2, 0, 0, 0, 0, 2][..]));
    }
}

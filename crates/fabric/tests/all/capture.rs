//! Captures: the frames kept of chosen ports, and that keeping them changes nothing.
//!
//! ```text
//!  a ─┐
//!     ├─► s ──► r      100G, 1 us; RED marks at s, PFC on all links, a few packets are lost before r
//!  b ─┘
//! ```

use crate::support::{Net, at_all_ports, port, sum};
use floodway_fabric::Records;
use floodway_fabric::blueprint::CaptureSpec;
use floodway_mechanisms::registry::NotificationParams;
use floodway_units::{Bytes, PortId, Rate, Span, Turns};
use floodway_wire::{Format, message};
use pcap_file::pcapng::blocks::interface_statistics::InterfaceStatisticsOption;
use pcap_file::pcapng::{Block, PcapNgParser};

/// Opcodes.
const ACK: u8 = 0x11;
const CNP: u8 = 0x81;

fn incast(capture: Option<CaptureSpec>) -> Records {
    incast_of(r#""dcqcn""#, Bytes(1_000_002), capture)
}

fn incast_of(rate_control: &str, size: Bytes, capture: Option<CaptureSpec>) -> Records {
    let mut net = Net::new(Format::Ethernet).rate_control(&[rate_control]).reliability(r#""go-back-n""#);
    let settings = &mut net.blueprint.settings[0];
    settings.notification = NotificationParams::asked_by(&settings.rate_control);
    let pfc = r#"{"pfc": {"xoff": "60KB"}}"#;
    let (s, r) = (net.switch("s"), net.host("r"));
    let (a, b) = (net.host("a"), net.host("b"));
    let [out, _, _] =
        [(s, r), (a, s), (b, s)].map(|(x, y)| net.link(x, y, Rate::gbps(100), Span::us(1), pfc));
    net.congestion_point(out, s, r#"{"red": {"kmin": "5KB", "kmax": "200KB", "pmax": 0.01}}"#);
    net.blueprint.links[out].directions[0].errors.data = 0.002;
    net.flow(a, r, size, Span::ZERO);
    net.flow(b, r, size, Span::ZERO);
    net.blueprint.records.capture = capture;
    net.run()
}

fn all_ports() -> Vec<PortId> {
    (0..3).flat_map(|link| [port(link, 0), port(link, 1)]).collect()
}

fn spec(packets: usize, bytes: usize) -> CaptureSpec {
    CaptureSpec { ports: all_ports(), packets, bytes, dscp: CaptureSpec::CLASS_SELECTORS }
}

/// The file's blocks behind the head of its section.
fn blocks(records: &Records) -> Vec<Block<'_>> {
    let file = records.capture.as_deref().expect("something was to be captured");
    let (mut rest, mut parser) = PcapNgParser::new(file).expect("the file has a head");
    let mut found = Vec::new();
    let mut turns = Turns::at_most(1_000_000);
    while turns.go() && !rest.is_empty() {
        let (behind, block) = parser.next_block(rest).expect("the file has whole blocks");
        found.push(block);
        rest = behind;
    }
    found
}

struct Frame {
    interface: u32,
    nanoseconds: u128,
    length: u32,
    bytes: Vec<u8>,
}

impl Frame {
    /// Opcode of a RoCEv2 packet.
    fn opcode(&self) -> Option<u8> {
        (self.udp_port() == Some(4791)).then(|| self.bytes[42])
    }

    /// The port that a datagram goes to.
    fn udp_port(&self) -> Option<u16> {
        (self.bytes[12..14] == [8, 0]).then(|| self.number::<2>(36) as u16)
    }

    /// A number of so many bytes.
    fn number<const N: usize>(&self, at: usize) -> u64 {
        self.bytes[at..at + N].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
    }
}

fn frames(records: &Records) -> Vec<Frame> {
    let packets = blocks(records).into_iter().filter_map(Block::into_enhanced_packet);
    packets
        .map(|packet| Frame {
            interface: packet.interface_id,
            nanoseconds: packet.timestamp.as_nanos(),
            length: packet.original_len,
            bytes: packet.data.into_owned(),
        })
        .collect()
}

fn interfaces(records: &Records) -> usize {
    blocks(records).into_iter().filter_map(Block::into_interface_description).count()
}

/// Frames sent and not kept, by the file's statistics of all ports.
fn counted(records: &Records) -> (u64, u64) {
    let statistics = blocks(records).into_iter().filter_map(Block::into_interface_statistics);
    statistics.flat_map(|block| block.options).fold((0, 0), |(sent, missed), option| match option {
        InterfaceStatisticsOption::IsbIfRecv(count) => (sent + count, missed),
        InterfaceStatisticsOption::IsbIfDrop(count) => (sent, missed + count),
        _ => (sent, missed),
    })
}

/// Frames that the ports have sent, by the counters.
fn sent(records: &Records) -> u64 {
    sum(records, "tx_packets") + sum(records, "pfc_tx")
}

#[test]
fn keeping_frames_changes_nothing_else_and_gives_the_same_bytes_again() {
    let (without, with, again) =
        (incast(None), incast(Some(spec(100_000, 128))), incast(Some(spec(100_000, 128))));
    assert_eq!(with, again);
    assert_eq!((&without.flows, &without.counters), (&with.flows, &with.counters));
    assert_eq!((&without.series, &without.latency), (&with.series, &with.latency));
    assert_eq!(without.outcome.events, with.outcome.events);
    assert!(without.capture.is_none() && without.outcome.capture.is_none());
}

#[test]
fn every_frame_that_a_port_sends_is_kept_once_in_the_order_of_time() {
    let records = incast(Some(spec(100_000, 128)));
    let frames = frames(&records);
    let totals = records.outcome.capture.expect("there is a capture");
    assert_eq!((totals.packets, totals.missed), (frames.len() as u64, 0));
    assert_eq!(totals.packets, sent(&records));
    assert!(frames.is_sorted_by_key(|frame| frame.nanoseconds));
    assert!(frames.iter().all(|frame| frame.interface < 6));
    assert!(sum(&records, "pfc_tx") > 0 && sum(&records, "ecn_marks") > 0, "the test sees both");
    let pauses = frames.iter().filter(|frame| frame.bytes[12..14] == [0x88, 0x08]).count() as u64;
    assert_eq!(pauses, sum(&records, "pfc_tx"));
    assert!(frames.iter().any(|frame| frame.opcode() == Some(CNP)), "receivers send CNPs");
    assert!(frames.iter().any(|frame| frame.opcode() == Some(ACK) && frame.bytes[54] == 0x60), "and NAKs");
}

#[test]
fn the_first_packet_of_a_message_has_its_length_and_the_last_one_is_padded() {
    let records = incast(Some(spec(100_000, 16_000)));
    let frames = frames(&records);
    let of = |code: u8| frames.iter().filter(move |frame| frame.opcode() == Some(code));
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
    let records = incast(Some(spec(100, 64)));
    let totals = records.outcome.capture.expect("there is a capture");
    let frames = frames(&records);
    assert_eq!((frames.len(), totals.packets), (100, 100));
    assert_eq!(totals.packets + totals.missed, sent(&records));
    assert!(frames.iter().all(|frame| frame.bytes.len() == 64 && frame.length >= 64));
    assert_eq!(interfaces(&records), 6);
    assert_eq!(counted(&records), (sent(&records), totals.missed));
}

#[test]
fn ports_that_were_not_chosen_are_not_in_the_file() {
    let one = CaptureSpec {
        ports: vec![port(1, 0), port(1, 0)],
        packets: 10,
        bytes: 128,
        dscp: CaptureSpec::CLASS_SELECTORS,
    };
    let records = incast(Some(one));
    assert_eq!(interfaces(&records), 1);
    for frame in frames(&records) {
        assert_eq!((frame.interface, &frame.bytes[6..12]), (0, &[2, 0, 0, 0, 0, 2][..]));
    }
}

/// Payloads are whole multiples of four bytes: the pad is not charged.
#[test]
fn frames_are_as_long_as_the_links_charged_for_them() {
    for (rate_control, telemetry) in [(r#""dcqcn""#, 0), (r#""hpcc""#, 42)] {
        let records = incast_of(rate_control, Bytes(1_000_000), Some(spec(100_000, 16_000)));
        let frames = frames(&records);
        let (roce, pauses): (Vec<&Frame>, Vec<&Frame>) =
            frames.iter().partition(|frame| frame.opcode().is_some());
        let length: u64 = roce.iter().map(|frame| u64::from(frame.length)).sum();
        assert_eq!(length, sum(&records, "tx_bytes"), "{rate_control}");
        assert_eq!(pauses.len() as u64, sum(&records, "pfc_tx"), "{rate_control}");
        for frame in &roce {
            let bytes = match frame.opcode() {
                Some(0x06) => 1078 + telemetry,
                Some(0x07 | 0x08) => 1062 + telemetry,
                Some(ACK) => 66 + telemetry,
                Some(CNP) => 78,
                other => panic!("{other:?} is not sent here"),
            };
            assert_eq!((frame.length, frame.bytes.len()), (bytes, bytes as usize), "{rate_control}");
        }
        let of = |code| roce.iter().any(|frame| frame.opcode() == Some(code));
        assert_eq!((of(ACK), of(CNP)), (true, telemetry == 0), "{rate_control}");
    }
}

#[test]
fn records_grow_by_one_at_the_switch_and_come_back_in_the_ack() {
    let records = incast_of(r#""hpcc""#, Bytes(1_000_000), Some(spec(100_000, 16_000)));
    let frames = frames(&records);
    let stacks = |interface: u32, code: u8| {
        let at = if code == 0x07 { 54 } else { 58 };
        let of =
            frames.iter().filter(move |frame| (frame.interface, frame.opcode()) == (interface, Some(code)));
        of.map(|frame| frame.bytes[at..at + 42].to_vec()).collect::<Vec<_>>()
    };
    // Links are s-r, a-s and b-s, and the first end of each is an even interface.
    let (sent, passed, answered) = (stacks(2, 0x07), stacks(0, 0x07), stacks(1, ACK));
    assert!(sent.len() > 900 && sent.iter().all(|stack| stack.iter().all(|&byte| byte == 0)));
    for stack in &passed {
        assert_eq!((&stack[..2], stack[2] >> 4, &stack[10..]), (&[0, 1][..], 5, &[0; 32][..]));
    }
    let queues = passed.iter().map(|stack| u16::from_be_bytes([stack[8], stack[9]]));
    assert!(queues.max() > Some(50), "two senders leave more than 4 kB behind");
    assert!(answered.len() > 900);
    let known: std::collections::BTreeSet<&Vec<u8>> = passed.iter().collect();
    let back = answered.iter().filter(|stack| known.contains(stack)).count();
    assert!(answered.len() - back < 20, "only first and last packets of messages are not among the known");
}

/// Two senders with ExpressPass: requests and stops go to the receiver, credits come back.
fn credits() -> Records {
    let mut net =
        Net::new(Format::Ethernet).rate_control(&[r#""expresspass""#]).reliability(r#""go-back-n""#);
    let settings = &mut net.blueprint.settings[0];
    settings.notification = NotificationParams::asked_by(&settings.rate_control);
    let (s, r) = (net.switch("s"), net.host("r"));
    let (a, b) = (net.host("a"), net.host("b"));
    for (x, y) in [(s, r), (a, s), (b, s)] {
        net.link(x, y, Rate::gbps(100), Span::us(1), r#"{"pfc": {"xoff": "60KB"}}"#);
    }
    at_all_ports(&mut net.blueprint, r#""expresspass""#);
    net.flow(a, r, Bytes(1_000_000), Span::ZERO);
    net.flow(b, r, Bytes(1_000_000), Span::ZERO);
    net.blueprint.records.capture = Some(spec(100_000, 16_000));
    net.run()
}

#[test]
fn messages_have_a_form_of_their_own_and_the_bytes_that_they_are_charged_for() {
    const REQUEST: u8 = 1;
    const STOP: u8 = 2;
    const CREDIT: u8 = 3;
    let records = credits();
    let frames = frames(&records);
    let length: u64 = frames.iter().map(|frame| u64::from(frame.length)).sum();
    assert_eq!(length, sum(&records, "tx_bytes"), "payloads are whole multiples of four bytes");
    assert!(frames.iter().all(|frame| frame.opcode() != Some(CNP)), "a message is no CNP");
    let messages: Vec<&Frame> =
        frames.iter().filter(|frame| frame.udp_port() == Some(message::PORT)).collect();
    let of = |kind: u8| messages.iter().filter(move |frame| frame.bytes[42] == kind).copied();
    assert_eq!(of(REQUEST).count() + of(STOP).count() + of(CREDIT).count(), messages.len());
    // Links are s-r, a-s and b-s, and the first end of each is an even interface.
    for kind in [REQUEST, STOP] {
        let found: Vec<&Frame> = of(kind).collect();
        assert!(found.len() >= 4, "two flows, two hops");
        for frame in found {
            assert!([0, 2, 4].contains(&frame.interface));
            assert_eq!((frame.length, frame.bytes[43]), (64, 0));
        }
    }
    let lengths: std::collections::BTreeSet<u32> = of(CREDIT).map(|frame| frame.length).collect();
    assert_eq!(lengths, (64..=72).collect(), "sizes are drawn");
    for frame in of(CREDIT) {
        // They name when they were made, in picoseconds.
        let made = u128::from(frame.number::<8>(52)) / 1000;
        assert!([1, 3, 5].contains(&frame.interface) && made <= frame.nanoseconds);
        assert_eq!((frame.bytes[43], frame.bytes[15] >> 2), (1, 48));
        assert!(frame.bytes[60..frame.bytes.len() - 4].iter().all(|&byte| byte == 0));
    }
    for interface in [3, 5] {
        let numbers: Vec<u64> =
            of(CREDIT).filter(|frame| frame.interface == interface).map(|f| f.number::<8>(44)).collect();
        assert!(numbers.len() > 900 && numbers.is_sorted_by(|a, b| a < b), "they keep their order");
    }
}

/// The codes of ECN in data on a link, in order and each once.
fn codes(frames: &[Frame], link: u32) -> Vec<u8> {
    let data = frames.iter().filter(|frame| matches!(frame.opcode(), Some(0x06..=0x08)));
    let of_link = data.filter(|frame| frame.interface == link);
    of_link.map(|frame| frame.bytes[15] & 3).collect::<std::collections::BTreeSet<u8>>().into_iter().collect()
}

const ECT_1: u8 = 0b01;
const ECT_0: u8 = 0b10;
const CE: u8 = 0b11;

/// `a` sends by `s` and `t` to `r`, `b` by `t` alone, so that `t` pauses `s`.
fn chain(point: &str) -> Records {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#);
    let pfc = r#"{"pfc": {"xoff": "60KB"}}"#;
    let [far, near, receiver] = ["a", "b", "r"].map(|name| net.host(name));
    let [s, t] = ["s", "t"].map(|name| net.switch(name));
    let links = [(far, s), (s, t), (t, receiver), (near, t)];
    let [_, middle, last, _] = links.map(|(x, y)| net.link(x, y, Rate::gbps(100), Span::us(1), pfc));
    net.congestion_point(middle, s, point);
    net.congestion_point(last, t, point);
    net.flow(far, receiver, Bytes::mb(1), Span::ZERO);
    net.flow(near, receiver, Bytes::mb(1), Span::ZERO);
    let ports = (0..4).map(|link| port(link, 0)).collect();
    net.blueprint.records.capture =
        Some(CaptureSpec { ports, packets: 100_000, bytes: 128, dscp: CaptureSpec::CLASS_SELECTORS });
    net.run()
}

#[test]
fn undetermined_has_the_code_of_ect_0_and_unmarked_packets_then_have_that_of_ect_1() {
    let red = r#"{"kmin": "5KB", "kmax": "200KB", "pmax": 0.1}"#;
    let records = chain(&format!(r#"{{"tcd": {{"red": {red}}}}}"#));
    let ternary = frames(&records);
    assert_eq!((codes(&ternary, 0), codes(&ternary, 3)), (vec![ECT_1], vec![ECT_1]), "as senders send it");
    let middle = codes(&ternary, 1);
    assert!(middle.contains(&ECT_1) && middle.contains(&ECT_0), "{middle:?}");
    assert_eq!(codes(&ternary, 2), [ECT_1, ECT_0, CE], "t passes on what s has marked, and marks");

    let records = chain(&format!(r#"{{"red": {red}}}"#));
    let binary = frames(&records);
    assert_eq!((codes(&binary, 0), codes(&binary, 2)), (vec![ECT_0], vec![ECT_0, CE]));
}

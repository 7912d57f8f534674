use super::*;
use crate::slots::{Header, Report, Room, Segment, TransportReceiver as _, TransportSender as _};
use crate::testing::{Bench, us};
use floodway_units::Time;

fn qp() -> QpInfo {
    QpInfo { mtu: Bytes(4086), wire: Bytes(4150), ..QpInfo::example() }
}

fn ends() -> (Sender, Receiver) {
    Params::default().build(&qp()).expect("the defaults fit")
}

const ROOM: Room = Room { window: Bytes(262_926), closed: false };

fn full(psn: u64) -> Segment {
    Segment { psn, payload: Bytes(4086), first: psn == 0, last: false, retransmission: false }
}

fn header(number: u64) -> Header {
    Header { number, entropy: 5, asks: false, wants: 0 }
}

/// What a receiver reports of packets, in this order: number, marked, asks.
fn reports(receiver: &mut Receiver, packets: &[(u64, bool, bool)]) -> Vec<Report> {
    let mut bench = Bench::new();
    let each = |&(psn, marked, asks): &(u64, bool, bool)| {
        bench.sent(us(0), |cx| {
            receiver.on_packet(cx, &full(psn), &Header { asks, ..header(psn) }, marked);
        })
    };
    packets.iter().flat_map(each).collect()
}

/// The packets that a sender sends: number, whether again, whether it asks for a report.
fn sent(sender: &mut Sender, now: Time, most: usize) -> Vec<(u64, bool, bool)> {
    let mut next = || {
        let segment = sender.next_segment(now)?;
        let header = sender.header(now, &ROOM);
        Some((segment.psn, segment.retransmission, header.asks))
    };
    (0..most).map_while(|_| next()).collect()
}

#[test]
fn a_receiver_reports_the_first_packet_and_then_every_fourth() {
    let (_, mut receiver) = ends();
    let plain: Vec<_> = (0..13).map(|psn| (psn, false, false)).collect();
    let all = reports(&mut receiver, &plain);
    assert_eq!(all.iter().map(|report| report.number).collect::<Vec<_>>(), [0, 4, 8, 12]);
    assert_eq!(all.iter().map(|report| report.received).collect::<Vec<_>>(), [1, 5, 9, 13].map(|n| n * 4150));
    assert!(all.iter().all(|report| report.next == report.number + 1 && report.bits == 0));
}

#[test]
fn marked_packets_and_those_that_ask_are_reported_at_once_with_the_bits_behind_them() {
    let (_, mut receiver) = ends();
    let all =
        reports(&mut receiver, &[(0, false, false), (3, false, false), (2, true, false), (5, false, true)]);
    let shown: Vec<_> =
        all.iter().map(|report| (report.number, report.next, report.base, report.bits)).collect();
    assert_eq!(shown, [(0, 1, 2, 0), (2, 1, 2, 0b11), (5, 1, 5, 1)]);
    assert_eq!(all[2].out_of_order, 3);
    let (_, mut receiver) = ends();
    // Unmarked, the bits begin behind the packet that is missing.
    let all = reports(
        &mut receiver,
        &[(0, false, false), (2, false, false), (3, false, false), (4, false, false), (5, false, false)],
    );
    assert_eq!((all[1].base, all[1].bits), (2, 0b1111));
}

#[test]
fn a_packet_that_came_before_is_reported_at_once_and_delivers_nothing() {
    let (_, mut receiver) = ends();
    let mut bench = Bench::new();
    let mut delivered = Vec::new();
    for _ in 0..2 {
        let reports = bench.sent(us(0), |cx| {
            delivered.push(receiver.on_packet(cx, &full(0), &header(0), false));
        });
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].received, 4150);
    }
    assert_eq!(delivered, [Bytes(4086), Bytes::ZERO]);
}

#[test]
fn a_packet_without_payload_is_asked_for_unless_it_came_before() {
    let (_, mut receiver) = ends();
    let mut bench = Bench::new();
    let mut cut = |receiver: &mut Receiver| {
        bench.sent(us(0), |cx| receiver.on_trimmed(cx, &full(0), &header(0), false, true))
    };
    let report = cut(&mut receiver)[0];
    assert!(report.trimmed && report.last_hop && report.entropy == 5);
    reports(&mut receiver, &[(0, false, false)]);
    assert!(!cut(&mut receiver)[0].trimmed);
}

#[test]
fn a_cut_packet_is_sent_again_before_new_ones_and_asks_for_a_report() {
    let (mut sender, _) = ends();
    sender.push(Bytes(20_000));
    assert_eq!(sent(&mut sender, us(1), 2), [(0, false, false), (1, false, false)]);
    assert_eq!(sender.in_flight(), Bytes(8_300));
    let report = Report { number: 0, trimmed: true, ..Report::default() };
    let reported = sender.on_reported(us(2), &report);
    assert_eq!(
        reported.cut.map(|cut| (cut.lost, cut.in_flight, cut.rtt)),
        Some((Bytes(4150), Bytes(8_300), Span::us(1)))
    );
    assert_eq!(sender.in_flight(), Bytes(4150));
    assert_eq!(sent(&mut sender, us(3), 2), [(0, true, true), (2, false, false)]);
    // A second report of the same is of no packet that is waited for.
    let other = Report { number: 9, ..report };
    assert_eq!(sender.on_reported(us(4), &other).cut, None);
}

#[test]
fn a_sender_asks_for_a_report_with_its_last_packet_and_where_its_window_is_full() {
    let (mut sender, _) = ends();
    sender.push(Bytes(3 * 4086));
    let small = Room { window: Bytes(8_300), closed: false };
    let mut asks = Vec::new();
    while sender.next_segment(us(0)).is_some() {
        asks.push(sender.header(us(0), &small).asks);
    }
    // In flight and one more: 8,300, 12,450 B.
    assert_eq!(asks, [true, true, true]);
    let (mut sender, _) = ends();
    sender.push(Bytes(3 * 4086));
    assert_eq!(
        sent(&mut sender, us(0), 3).iter().map(|sent| sent.2).collect::<Vec<_>>(),
        [false, false, true]
    );
}

#[test]
fn reports_take_bytes_off_those_in_flight_by_what_the_receiver_has() {
    let (mut sender, _) = ends();
    sender.push(Bytes(10 * 4086));
    sent(&mut sender, us(0), 10);
    let report = |number, next, base, bits, received| Report {
        number,
        next,
        base,
        bits,
        received,
        ..Report::default()
    };
    let first = sender.on_reported(us(10), &report(0, 1, 2, 0, 4150));
    assert_eq!((first.acked, first.next, first.is_timed), (Bytes(4150), 1, true));
    // An older report has nothing new.
    let next = sender.on_reported(us(11), &report(5, 3, 4, 0b11, 5 * 4150));
    assert_eq!((next.acked, next.next), (Bytes(4 * 4150), 3));
    let old = sender.on_reported(us(12), &report(1, 2, 3, 0, 2 * 4150));
    assert_eq!((old.acked, old.next, old.is_timed), (Bytes::ZERO, 3, false));
    assert_eq!(sender.in_flight(), Bytes(5 * 4150));
    assert!(!sender.is_done());
    sender.on_reported(us(13), &report(9, 10, 11, 0, 10 * 4150));
    assert!(sender.is_done() && sender.next_timeout().is_none());
}

#[test]
fn a_packet_without_report_is_sent_again_after_its_timer_alone() {
    let params = Params { rto: OrAuto::Given(Span::us(100)), ..Params::default() };
    let (mut sender, _) = params.build(&qp()).expect("they fit");
    sender.push(Bytes(10 * 4086));
    sent(&mut sender, us(1), 1);
    sent(&mut sender, us(2), 1);
    assert_eq!(sender.next_timeout(), Some(us(101)));
    let loss = sender.on_timeout(us(101)).expect("it is due");
    assert!(loss.timeout && loss.lost == Bytes(4150));
    assert_eq!(sender.next_timeout(), Some(us(102)));
    assert_eq!(sender.in_flight(), Bytes(4150));
    // It has arrived after all: it counts as in flight once more, of which the report takes it off.
    let report = Report { number: 0, next: 1, base: 2, received: 4150, ..Report::default() };
    sender.on_reported(us(103), &report);
    assert_eq!(sender.in_flight(), Bytes(4150));
    assert_eq!(sent(&mut sender, us(104), 1), [(2, false, false)]);
}

#[test]
fn timeouts_follow_from_queues_and_in_the_text_from_the_round_trip() {
    let qp = QpInfo { output_queue: Bytes(178_450), base_rtt: Span::us(300), ..qp() };
    let rto = |form| Params { form, ..Params::default() }.rto(&qp);
    // 15 us and six queues at 100 Gbit/s.
    assert_eq!(rto(Form::Htsim), Span::ns(100_656));
    assert_eq!(rto(Form::Spec), Span::us(600));
}

/// The values of 128 packets, each of which arrives unmarked.
fn values(entropy: Entropy) -> Vec<u16> {
    let params = Params { entropy, paths: 64, ..Params::default() };
    let (mut sender, _) = params.build(&qp()).expect("they fit");
    sender.push(Bytes(128 * 4086));
    let mut next = |number| {
        sender.next_segment(us(0)).expect("there is more");
        let value = sender.header(us(0), &ROOM).entropy;
        let received = (number + 1) * 4150;
        let report = Report { number, entropy: value, next: number + 1, received, ..Report::default() };
        sender.on_reported(us(1), &report);
        value
    };
    (0..128).map(&mut next).collect()
}

#[test]
fn one_value_is_one_path_and_in_turns_each_value_comes_once_a_round() {
    let fixed = values(Entropy::Fixed);
    assert!(fixed.iter().all(|value| *value == fixed[0]));
    for entropy in [Entropy::Oblivious, Entropy::Bitmap] {
        for round in values(entropy).chunks(64) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), 64, "{entropy:?}");
            assert!(sorted[63] - sorted[0] < 64, "the upper bits are the flow's");
        }
    }
}

#[test]
fn values_of_packets_that_arrive_unmarked_are_used_again() {
    for entropy in [Entropy::Reps, Entropy::Mixed] {
        let values = values(entropy);
        assert!(
            values[1..].iter().all(|value| *value == values[1])
                || values[1..].iter().all(|value| *value == values[0]),
            "{entropy:?}"
        );
    }
}

#[test]
fn a_value_with_a_penalty_is_passed_over() {
    let mut choice = entropy::Choice::new(Entropy::Bitmap, 4, &qp());
    let first: Vec<u16> = (0..4).map(|n| choice.next(us(0), n, 4)).collect();
    choice.learn(us(0), first[2], entropy::Feedback::Cut);
    let later: Vec<u16> = (4..16).map(|n| choice.next(us(0), n, 4)).collect();
    let uses = later.iter().filter(|value| **value == first[2]).count();
    assert!(uses < 3, "{uses} of 12, without a penalty 3");
}

#[test]
fn parameters_without_meaning_are_refused() {
    let refused = |params: Params| {
        let error = params.build(&qp()).expect_err("it has no meaning");
        (error.key, error.message)
    };
    let with = Params::default();
    assert_eq!(
        refused(Params { paths: 48, ..with }),
        ("paths", "48 is not a power of two from 1 to 65536, like 64".into())
    );
    assert_eq!(refused(Params { ack_every: Bytes::ZERO, ..with }).0, "ack-every");
    assert_eq!(refused(Params { rto: OrAuto::Given(Span::ZERO), ..with }).0, "rto");
}

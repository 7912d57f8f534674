use super::*;
use crate::slots::{
    Header, LossView, Query, Report, Room, Sample, Segment, TransportReceiver as _, TransportSender as _,
};
use crate::testing::{Bench, us};
use floodway_units::Time;

fn qp() -> QpInfo {
    QpInfo { mtu: Bytes(4086), wire: Bytes(4150), ..QpInfo::example() }
}

fn ends() -> (Sender, Receiver) {
    Params::default().build(&qp()).expect("the defaults fit")
}

const ROOM: Room = Room { window: Bytes(262_926), closed: false, wants: 0 };

fn full(psn: u64) -> Segment {
    Segment { psn, payload: Bytes(4086), first: psn == 0, last: false, retransmission: false }
}

fn header(number: u64) -> Header {
    Header { number, entropy: 5, ..Header::default() }
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
    let small = Room { window: Bytes(8_300), ..ROOM };
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
    assert_eq!(
        (first.acked, first.next, first.sample.map(|sample| sample.rtt)),
        (Bytes(4150), 1, Some(Span::us(10)))
    );
    // An older report has nothing new.
    let next = sender.on_reported(us(11), &report(5, 3, 4, 0b11, 5 * 4150));
    assert_eq!((next.acked, next.next), (Bytes(4 * 4150), 3));
    let old = sender.on_reported(us(12), &report(1, 2, 3, 0, 2 * 4150));
    assert_eq!((old.acked, old.next, old.sample), (Bytes::ZERO, 3, None));
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

/// A sender with SLEEK that has sent this many packets of 100 at 0 us.
fn with_sleek(packets: usize) -> Sender {
    let params = Params { sleek: true, rto: OrAuto::Given(Span::ms(1)), ..Params::default() };
    let qp = QpInfo { base_rtt: Span::us(10), largest_rtt: Span::us(20), ..qp() };
    let (mut sender, _) = params.build(&qp).expect("they fit");
    sender.push(Bytes(100 * 4086));
    assert_eq!(sent(&mut sender, us(0), packets).len(), packets);
    sender
}

/// A report of a packet behind one that is missing.
fn behind(number: u64, next: u64, out_of_order: u64) -> Report {
    let received = (next + out_of_order) * 4150;
    Report { number, next, base: number, bits: 1, received, out_of_order, ..Report::default() }
}

#[test]
fn sleek_sends_again_what_is_missing_once_enough_has_arrived_behind_it() {
    // Of a window of 41,500 B half more is 15 packets, and five at least.
    for (window, threshold) in [(41_500, 15), (8_300, 5)] {
        let mut sender = with_sleek(30);
        for (number, out_of_order) in (2..30).zip(1..threshold) {
            sender.on_reported(us(11), &behind(number, 1, out_of_order));
            sender.after_report(us(11), Bytes(window));
            assert!(sender.needs_room());
        }
        sender.on_reported(us(12), &behind(threshold + 1, 1, threshold));
        sender.after_report(us(12), Bytes(window));
        // As far as its window reaches; these need no room.
        let reach = 1 + window / 4086;
        let missing: Vec<u64> = (1..30).filter(|number| *number == 1 || *number > threshold + 1).collect();
        let again: Vec<_> = missing.iter().take_while(|number| **number < reach).collect();
        let mut found = Vec::new();
        while !sender.needs_room() {
            found.extend(sent(&mut sender, us(12), 1).iter().map(|sent| sent.0));
        }
        assert_eq!(found.iter().collect::<Vec<_>>(), again);
        // Each once.
        sender.on_reported(us(13), &behind(threshold + 2, 1, threshold + 1));
        sender.after_report(us(13), Bytes(window));
        assert!(sender.needs_room());
    }
}

#[test]
fn a_sender_that_hears_nothing_probes_and_an_answer_without_delay_starts_recovery() {
    let mut sender = with_sleek(30);
    sender.on_reported(us(10), &Report { next: 1, base: 2, received: 4150, ..Report::default() });
    sender.after_report(us(10), Bytes(100_000));
    // More is to be sent: three round trips.
    assert_eq!(sender.next_timeout(), Some(us(40)));
    assert_eq!(sender.on_timeout(us(40)), None);
    let probe = sender.next_query(us(40), &ROOM).expect("it probes");
    assert_eq!((probe.query, probe.number, probe.asks), (Some(Query::Probe), 1, false));
    assert_eq!((sender.next_query(us(40), &ROOM), sender.next_timeout()), (None, Some(us(90))));
    let answer =
        |out_of_order| Report { query: Some(Query::Probe), base: 0, bits: 0, ..behind(1, 1, out_of_order) };
    // An answer after the target of 20 us waited for packets that are still to come.
    sender.on_reported(us(70), &answer(0));
    sender.after_report(us(70), Bytes(100_000));
    assert!(sender.needs_room());
    assert_eq!(sender.next_timeout(), Some(us(100)));
    sender.on_timeout(us(100));
    assert_eq!(sender.next_query(us(100), &ROOM).map(|probe| probe.number), Some(2));
    let reported = sender.on_reported(us(111), &Report { number: 2, ..answer(0) });
    assert_eq!(reported.sample, Some(Sample { rtt: Span::us(11), query: Some(Query::Probe) }));
    sender.after_report(us(111), Bytes(100_000));
    assert!(!sender.needs_room());
    assert_eq!(sent(&mut sender, us(111), 1), [(1, true, true)]);
    // Timers of what recovery sends again are off.
    assert_eq!(sender.on_timeout(us(1000)), None);
}

#[test]
fn a_receiver_answers_probes_and_requests_at_once_and_only_requests_have_numbers_of_packets() {
    let (_, mut receiver) = ends();
    reports(&mut receiver, &[(0, false, false), (2, false, false)]);
    let mut bench = Bench::new();
    let mut ask = |query, number| {
        let header = Header { query: Some(query), ..header(number) };
        bench.sent(us(0), |cx| receiver.on_query(cx, &header, false))[0]
    };
    let probe = ask(Query::Probe, 7);
    assert_eq!(
        (probe.query, probe.next, probe.base, probe.bits, probe.received),
        (Some(Query::Probe), 1, 2, 1, 8300)
    );
    let request = ask(Query::Request, 1);
    assert_eq!((request.next, request.received, request.out_of_order), (3, 8300, 0));
    assert_eq!(ask(Query::Request, 1).next, 3);
}

#[test]
fn a_sender_without_room_sends_a_request_for_what_its_timer_found_lost_once_a_round_trip() {
    let params = Params { rto: OrAuto::Given(Span::us(100)), ..Params::default() };
    let qp = QpInfo { base_rtt: Span::us(10), ..qp() };
    let (mut sender, _) = params.build(&qp).expect("they fit");
    sender.push(Bytes(10 * 4086));
    (1..4).for_each(|at| assert_eq!(sent(&mut sender, us(at), 1).len(), 1));
    let small = Room { window: Bytes(8_300), ..ROOM };
    sender.on_timeout(us(101));
    // 8,300 B in flight, and 4,150 B to be sent again.
    let request = sender.next_query(us(101), &small).expect("there is no room");
    assert_eq!((request.query, request.number, request.asks), (Some(Query::Request), 3, true));
    sent(&mut sender, us(101), 1);
    sender.on_timeout(us(102));
    assert_eq!(sender.next_query(us(102), &small), None, "a round trip has not passed");
    sent(&mut sender, us(102), 1);
    sender.on_timeout(us(103));
    assert_eq!(sender.next_query(us(103), &ROOM), None, "there is room");
    assert_eq!(
        lost_alone().next_query(us(101), &Room { window: Bytes::MAX, ..ROOM }),
        None,
        "as without a window"
    );
    // Numbers of data go on behind that of the request, which is no data.
    sent(&mut sender, us(103), 1);
    let next = sender.next_segment(us(104)).expect("there is more");
    assert_eq!((next.psn, sender.header(us(104), &ROOM).number), (3, 4));
    let report =
        Report { number: 3, next: 4, received: 3 * 4150, query: Some(Query::Request), ..Report::default() };
    let reported = sender.on_reported(us(120), &report);
    assert_eq!((reported.next, reported.sample.map(|sample| sample.rtt)), (3, Some(Span::us(19))));
    assert_eq!(sender.in_flight(), Bytes(4150));
}

#[test]
fn a_sender_without_credit_that_waits_for_nothing_asks_again_after_eight_round_trips() {
    let qp = QpInfo { base_rtt: Span::us(10), has_credit: true, ..qp() };
    let closed = Room { closed: true, window: Bytes::ZERO, ..ROOM };
    for form in [Form::Spec, Form::Htsim] {
        let (mut sender, _) = Params { form, ..Params::default() }.build(&qp).expect("they fit");
        sender.push(Bytes(10 * 4086));
        sent(&mut sender, us(0), 1);
        sender.on_reported(us(10), &Report { next: 1, received: 4150, ..Report::default() });
        assert_eq!(sender.next_timeout(), (form == Form::Spec).then_some(us(90)));
        sender.on_timeout(us(90));
        let request = sender.next_query(us(90), &closed).and_then(|header| header.query);
        assert_eq!(request, (form == Form::Spec).then_some(Query::Request));
        assert_eq!(sender.next_query(us(90), &ROOM), None);
    }
}

/// A sender whose first packet has counted as lost at 101 us.
fn lost_alone() -> Sender {
    let params = Params { rto: OrAuto::Given(Span::us(100)), ..Params::default() };
    let (mut sender, _) = params.build(&qp()).expect("they fit");
    sender.push(Bytes(10 * 4086));
    sent(&mut sender, us(1), 1);
    sender.on_timeout(us(101));
    sender
}

#[test]
fn a_lost_request_is_sent_again_under_its_number() {
    let mut sender = lost_alone();
    let small = Room { window: Bytes(4_000), ..ROOM };
    assert_eq!(sender.next_query(us(101), &small).map(|request| request.number), Some(1));
    assert_eq!(sender.on_timeout(us(201)), Some(LossView { lost: Bytes(64), timeout: true }));
    let again = sender.next_query(us(201), &ROOM).expect("all numbers before those of data have to arrive");
    assert_eq!((again.query, again.number), (Some(Query::Request), 1));
}

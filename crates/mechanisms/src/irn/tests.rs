use floodway_units::{Rate, Turns};

use super::sizing::Settings;
use super::*;
use crate::testing::{Bench, qp, segments, us};

fn params(json: &str) -> Params {
    serde_json::from_str(json).expect("the parameters are well formed")
}

fn settings(json: &str, qp: &QpInfo) -> Settings {
    params(json).settings(qp).expect("the parameters are valid")
}

fn pair(json: &str) -> (Sender, Receiver) {
    params(json).build(&qp()).expect("the parameters are valid")
}

/// A sender that has been given `packets` and has sent `sent` of them, one each microsecond from 0 on.
fn sender(json: &str, packets: u64, sent: u64) -> Sender {
    let (mut sender, _) = pair(json);
    sender.push(Bytes(packets * 1000));
    assert!((0..sent).all(|at| sender.next_segment(us(at)).is_some()));
    sender
}

fn ack(next: u64) -> Reply {
    Reply::Ack { next }
}

fn sack(next: u64, seen: u64) -> Reply {
    Reply::Sack { next, seen }
}

fn one(psn: u64) -> Reply {
    Reply::One { psn }
}

fn lost(packets: u64, timeout: bool) -> LossView {
    LossView { lost: Bytes(packets * 1000), timeout }
}

mod sizes {
    use super::*;

    /// A path of SWING's at 100 Gbit/s: its round-trip time in picoseconds, and what full queues add.
    fn swing(rtt: u64, queues: &[Bytes]) -> QpInfo {
        let drained: Span = queues.iter().map(|held| Rate::gbps(100).time_to_send(*held)).sum();
        let base_rtt = Span(rtt);
        QpInfo { base_rtt, full_rtt: base_rtt + drained, mtu: Bytes(1448), wire: Bytes(1500), ..qp() }
    }

    /// Window, `RTO_low` and `RTO_high` of the path, in nanoseconds as its authors round: up.
    fn per_pair(qp: &QpInfo) -> (u64, u64, u64) {
        let sizes = settings(r#"{ "form": "swing", "preset": "per-pair" }"#, qp);
        let ns = |timeout: Option<Span>| timeout.expect("losses are possible").0.div_ceil(1000);
        (sizes.window, ns(sizes.rto_low), ns(sizes.rto_high))
    }

    #[test]
    fn swings_numbers_between_its_datacenters_follow_from_the_path() {
        // Nine hops, eight switches; the long link as 11 MB at 100 Gbit/s.
        let mut queues = vec![Bytes::kb(318); 7];
        queues.push(Bytes::mb(11));
        assert_eq!(per_pair(&swing(817_071_000, &queues)), (6809, 817_071, 1_875_151));
    }

    #[test]
    fn swings_numbers_inside_a_datacenter_follow_from_the_path() {
        assert_eq!(per_pair(&swing(12_714_000, &[Bytes::kb(318); 5])), (106, 12_714, 139_914));
    }

    #[test]
    fn swings_numbers_of_two_hops_follow_from_the_path() {
        assert_eq!(per_pair(&swing(802_238_000, &[Bytes::mib(20)])), (6686, 802_238, 2_479_960));
        assert_eq!(per_pair(&swing(26_238_000, &[Bytes::mib(1)])), (219, 26_238, 110_125));
    }

    #[test]
    fn the_paper_takes_the_longest_path_and_its_own_times() {
        let sizes = settings("{}", &qp());
        // 250 KB of largest bandwidth-delay product in packets of 1052 B.
        assert_eq!((sizes.window, sizes.window_bytes), (238, Bytes(238_000)));
        assert_eq!((sizes.rto_low, sizes.rto_high), (Some(Span::us(100)), Some(Span::us(320))));
        assert_eq!(params("{}").needs(), [Need::Largest]);
    }

    #[test]
    fn one_keyword_takes_each_from_the_flows_own_path() {
        let json = r#"{ "preset": "per-pair" }"#;
        let sizes = settings(json, &qp());
        assert_eq!(
            (sizes.window, sizes.rto_low, sizes.rto_high),
            (119, Some(Span::us(10)), Some(Span::us(30)))
        );
        assert_eq!(params(json).needs(), [Need::Queues]);
        let largest = settings(r#"{ "form": "swing" }"#, &qp());
        assert_eq!((largest.rto_low, largest.rto_high), (Some(Span::us(20)), Some(Span::us(60))));
        assert_eq!(params(r#"{ "form": "swing" }"#).needs(), [Need::Largest, Need::Queues]);
    }

    #[test]
    fn given_parameters_override_the_preset() {
        let json = r#"{ "preset": "per-pair", "window": "2500B", "rto-high": "1ms", "rto-low": "off" }"#;
        let sizes = settings(json, &qp());
        assert_eq!((sizes.window, sizes.window_bytes), (3, Bytes(2_500)));
        assert_eq!((sizes.rto_low, sizes.rto_high), (None, Some(Span::ms(1))));
        assert_eq!(params(json).needs(), []);
    }

    #[test]
    fn timers_are_off_where_nothing_is_lost_unless_they_are_given() {
        let lossless = QpInfo { lossless: true, ..qp() };
        let sizes = settings(r#"{ "rto-high": "1ms" }"#, &lossless);
        assert_eq!((sizes.rto_low, sizes.rto_high), (None, Some(Span::ms(1))));
    }

    #[test]
    fn a_window_of_zero_is_refused() {
        for json in [r#"{ "window": 0 }"#, r#"{ "window": "0B" }"#] {
            let error = params(json).build(&qp()).expect_err("it sends nothing");
            assert_eq!(error.key, "window");
            assert!(error.message.contains("the minimum is 1 packet"), "{}", error.message);
        }
    }

    #[test]
    fn a_window_is_packets_or_bytes() {
        let read = |json: &str| serde_json::from_str::<Params>(json).map(|params| params.window);
        let fixed = |window| Some(OfPath::Fixed(window));
        assert_eq!(read(r#"{ "window": 110 }"#).expect("packets"), fixed(Window::Packets(110)));
        assert_eq!(read(r#"{ "window": "110KB" }"#).expect("bytes"), fixed(Window::Payload(Bytes::kb(110))));
        for json in [r#"{ "window": -1 }"#, r#"{ "window": 1.5 }"#, r#"{ "window": "many" }"#] {
            let error = read(json).expect_err("it is neither").to_string();
            assert!(error.contains(r#"or "largest", or "auto""#), "{error}");
        }
        for window in [Window::Packets(7), Window::Payload(Bytes::kb(3))] {
            let json = serde_json::to_string(&window).expect("it can be written");
            assert_eq!(serde_json::from_str::<Window>(&json).expect("it can be read"), window);
        }
    }
}

mod paper {
    use super::*;

    #[test]
    fn the_window_counts_unacknowledged_packets() {
        let mut sender = sender(r#"{ "window": 4 }"#, 20, 4);
        assert_eq!((sender.ready(), sender.in_flight()), (None, Bytes(4_000)));
        sender.on_reply(us(10), ack(1));
        assert_eq!(segments(&mut sender, us(10)), [(4, false)]);
        // 2 out of order: 1 is lost and goes first, and 2 makes room for another.
        assert_eq!(sender.on_reply(us(11), sack(1, 2)), (Bytes(1_000), Some(lost(1, false))));
        assert_eq!(sender.in_flight(), Bytes(3_000));
        assert_eq!(segments(&mut sender, us(11)), [(1, true), (5, false)]);
    }

    #[test]
    fn in_recovery_each_packet_with_a_later_one_acknowledged_is_sent_once() {
        let mut sender = sender(r#"{ "window": 10 }"#, 12, 10);
        assert_eq!(sender.on_reply(us(20), sack(0, 3)), (Bytes(1_000), Some(lost(3, false))));
        assert_eq!(segments(&mut sender, us(20)), [(0, true), (1, true), (2, true), (10, false)]);
        // 4 to 6 are lost as well; 0 to 2 are on their way.
        assert_eq!(sender.on_reply(us(21), sack(0, 7)), (Bytes(1_000), None));
        assert_eq!(segments(&mut sender, us(21)), [(4, true), (5, true), (6, true), (11, false)]);
        assert_eq!(sender.on_reply(us(30), ack(4)), (Bytes(3_000), None));
        assert_eq!(segments(&mut sender, us(30)), []);
    }

    #[test]
    fn a_recovery_ends_when_all_is_acknowledged_that_was_sent_before_it() {
        let mut sender = sender(r#"{ "window": 4 }"#, 20, 4);
        sender.on_reply(us(20), sack(0, 1));
        assert_eq!(segments(&mut sender, us(20)), [(0, true), (4, false)]);
        sender.on_reply(us(30), ack(3));
        // 3 was sent before: it is retransmitted in the same recovery, which is not reported.
        assert_eq!(sender.on_reply(us(31), sack(3, 4)), (Bytes(1_000), None));
        assert_eq!(segments(&mut sender, us(31)), [(3, true), (5, false), (6, false), (7, false)]);
        sender.on_reply(us(40), ack(5));
        assert_eq!(sender.on_reply(us(41), sack(5, 6)), (Bytes(1_000), Some(lost(1, false))));
    }

    #[test]
    fn the_timer_is_short_while_few_are_in_flight() {
        let json = r#"{ "window": 10, "low-packets": 3, "rto-low": "100us", "rto-high": "320us" }"#;
        assert_eq!(sender(json, 9, 3).next_timeout(), Some(us(102)));
        let mut many = sender(json, 4, 4);
        assert_eq!(many.next_timeout(), Some(us(323)));
        many.on_reply(us(50), ack(1));
        assert_eq!(many.next_timeout(), Some(us(150)));
        many.on_reply(us(60), ack(1));
        assert_eq!(many.next_timeout(), Some(us(150)), "an old ACK brings no news");
        many.on_reply(us(70), ack(4));
        assert_eq!((many.next_timeout(), many.is_done()), (None, true));
    }

    #[test]
    fn a_timeout_sends_the_oldest_again_and_what_is_known_to_be_lost() {
        let mut sender = sender(r#"{ "window": 4, "rto-low": "100us", "rto-high": "320us" }"#, 6, 4);
        assert_eq!(sender.on_timeout(us(322)), None);
        assert_eq!(sender.on_timeout(us(323)), Some(lost(1, true)));
        assert!(!sender.needs_room());
        assert_eq!(segments(&mut sender, us(323)), [(0, true)]);
        sender.on_reply(us(330), sack(0, 2));
        assert_eq!(segments(&mut sender, us(330)), [(1, true), (4, false)]);
        // Both are lost again: only the timer detects it.
        assert_eq!(sender.next_timeout(), Some(us(650)));
        assert_eq!(sender.on_timeout(us(650)), Some(lost(2, true)));
        assert_eq!(segments(&mut sender, us(650)), [(0, true), (1, true)]);
    }

    #[test]
    fn late_replies_have_no_effect() {
        let mut sender = sender(r#"{ "window": 10 }"#, 10, 10);
        sender.on_reply(us(1), ack(6));
        assert_eq!(sender.on_reply(us(2), sack(2, 4)), (Bytes::ZERO, None));
        assert_eq!(sender.on_reply(us(3), Reply::Nak { next: 3 }), (Bytes::ZERO, None));
        assert_eq!(sender.on_reply(us(4), ack(99)), (Bytes(4_000), None));
        assert!(sender.is_done());
    }

    #[test]
    fn the_receiver_keeps_what_is_out_of_order_and_answers_duplicates() {
        let (_, mut receiver) = pair("{}");
        let mut bench = Bench::new();
        let steps = [
            (0, 1000, ack(1)),
            (2, 1000, sack(1, 2)),
            (2, 0, ack(1)),
            (4, 1000, sack(1, 4)),
            (1, 1000, ack(3)),
            (0, 0, ack(3)),
            (3, 1000, ack(5)),
        ];
        for (psn, payload, reply) in steps {
            let s =
                Segment { psn, payload: Bytes(1000), first: psn == 0, last: false, retransmission: false };
            let replies = bench.sent(us(1), |cx| assert_eq!(receiver.on_segment(cx, &s), Bytes(payload)));
            assert_eq!(replies, [reply], "to {psn}");
        }
    }
}

mod swing {
    use super::*;

    const FORM: &str = r#"{ "form": "swing", "window": 4, "rto-low": "100us", "rto-high": "320us" }"#;

    fn repeats(sender: &mut Sender, now: Time) -> Vec<Option<u64>> {
        let mut found = Vec::new();
        let mut turns = Turns::at_most(1_000);
        while turns.go() && sender.has_repeats() {
            found.push(sender.next_repeat(now).map(|segment| segment.psn));
        }
        found
    }

    #[test]
    fn the_window_counts_from_the_oldest_to_the_newest() {
        let mut sender = sender(FORM, 20, 4);
        sender.on_reply(us(5), one(1));
        sender.on_reply(us(5), one(3));
        assert_eq!((sender.ready(), sender.in_flight()), (None, Bytes(2_000)));
        sender.on_reply(us(6), one(0));
        assert_eq!(
            (segments(&mut sender, us(6)), sender.in_flight()),
            (vec![(4, false), (5, false)], Bytes(3_000))
        );
    }

    #[test]
    fn a_gap_is_sent_again_before_new_data_and_without_room() {
        let mut sender = sender(FORM, 20, 4);
        assert_eq!(sender.on_reply(us(5), sack(1, 3)), (Bytes(1_000), Some(lost(2, false))));
        assert_eq!(sender.ready(), None);
        // 1 arrives after all, on another way: its entry is passed over.
        sender.on_reply(us(6), one(1));
        assert_eq!(repeats(&mut sender, us(7)), [None, Some(2)]);
        assert_eq!(sender.on_reply(us(8), sack(1, 3)), (Bytes::ZERO, None), "said before");
    }

    #[test]
    fn a_lost_retransmission_is_found_by_its_timer_alone() {
        let mut sender = sender(FORM, 20, 4);
        for psn in 1..4 {
            sender.on_reply(us(5), if psn == 1 { sack(0, 1) } else { one(psn) });
        }
        assert_eq!((repeats(&mut sender, us(6)), sender.has_repeats()), (vec![Some(0)], false));
        // Four packets lie between the oldest and the newest, three of them acknowledged: the long timeout.
        assert_eq!(sender.next_timeout(), Some(us(326)));
        assert_eq!(sender.on_timeout(us(326)), Some(lost(1, true)));
        assert_eq!(sender.next_timeout(), None, "until it is retransmitted");
        assert_eq!(repeats(&mut sender, us(330)), [Some(0)]);
    }

    #[test]
    fn each_packet_has_a_timer_and_the_first_ones_a_short_one() {
        let mut sender = sender(FORM, 4, 4);
        assert_eq!(sender.next_timeout(), Some(us(100)));
        assert_eq!(sender.on_timeout(us(101)), Some(lost(1, true)));
        assert_eq!(sender.on_timeout(us(101)), Some(lost(1, true)));
        assert_eq!(sender.next_timeout(), Some(us(102)));
        sender.on_reply(us(101), one(2));
        assert_eq!(sender.next_timeout(), Some(us(323)));
    }

    #[test]
    fn timers_of_one_instant_fire_one_by_one_in_the_order_of_scheduling() {
        let mut sender = sender(FORM, 20, 0);
        for number in [40, 41] {
            sender.number_timer(number);
            sender.next_segment(us(1));
        }
        for number in [40, 41] {
            assert_eq!((sender.next_timeout(), sender.timeout_number()), (Some(us(101)), Some(number)));
            assert_eq!(sender.on_timeout(us(101)), Some(lost(1, true)));
        }
        assert_eq!(sender.next_timeout(), None);
    }

    #[test]
    fn a_packet_may_be_in_the_queue_twice() {
        let mut sender = sender(FORM, 4, 2);
        assert_eq!(sender.on_timeout(us(100)), Some(lost(1, true)));
        sender.on_reply(us(100), sack(0, 1));
        assert_eq!(repeats(&mut sender, us(101)), [Some(0), Some(0)]);
    }

    #[test]
    fn the_receiver_names_each_packet_and_the_gap_before_it() {
        let (_, mut receiver) = pair(FORM);
        let mut bench = Bench::new();
        let steps = [
            (0, 1000, one(0)),
            (3, 1000, sack(1, 3)),
            (4, 1000, one(4)),
            (6, 1000, sack(5, 6)),
            (2, 1000, one(2)),
            (2, 0, one(2)),
            (1, 1000, one(1)),
        ];
        for (psn, payload, reply) in steps {
            let s =
                Segment { psn, payload: Bytes(1000), first: psn == 0, last: false, retransmission: false };
            let replies = bench.sent(us(1), |cx| assert_eq!(receiver.on_segment(cx, &s), Bytes(payload)));
            assert_eq!(replies, [reply], "to {psn}");
        }
    }
}

#[test]
fn a_timer_that_is_shorter_than_a_round_trip_is_told_with_both_times() {
    let early = params(r#"{"rto-low": "100us", "rto-high": "320us"}"#);
    let text = early.early_timeout_warning(Span::us(150), true).expect("100 us are less than 150");
    assert!(text.contains("runs out after 100us") && text.contains("takes 150us"), "{text}");
    assert_eq!(early.early_timeout_warning(Span::us(100), true), None);
}

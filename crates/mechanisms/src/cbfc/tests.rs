use floodway_units::{Class, Quanta, Rate, Time};

use super::*;
use crate::slots::{FcFrame, FcReceiver, FcSender, Gate, IngressView};
use crate::testing::{Bench, link, us};

/// 100G, 1 us each way, 1500-byte frames of 1520 on the wire, and a buffer of its own.
fn own(buffer: u64) -> LinkInfo {
    LinkInfo { buffer: Bytes(buffer), ..link() }
}

fn damaged(buffer: u64) -> LinkInfo {
    LinkInfo { has_errors: true, ..own(buffer) }
}

fn ideal() -> Params {
    Params::default()
}

fn infiniband() -> Params {
    Params { mode: Mode::Infiniband, ..Params::default() }
}

fn halves(params: &Params, link: &LinkInfo) -> (Sender, Receiver) {
    params.build(link).expect("the parameters are valid")
}

fn credit(limit: u64) -> FcFrame {
    FcFrame::Credit { class: Class::DATA, limit }
}

fn report(total: u64) -> FcFrame {
    FcFrame::Sent { class: Class::DATA, total }
}

/// The wire bytes received since the start, and the bytes held.
fn view(received: u64, queued: u64) -> IngressView {
    IngressView {
        queued: Bytes(queued),
        shared: Bytes(queued),
        received: Bytes(received),
        ..IngressView::default()
    }
}

fn refusal(params: &Params, link: &LinkInfo) -> (&'static str, String) {
    let error = params.build(link).expect_err("it is to be refused");
    (error.key, error.message)
}

#[test]
fn a_frame_may_start_that_ends_within_the_limit() {
    let (mut sender, _) = halves(&ideal(), &own(4_000));
    let mut bench = Bench::new();
    assert_eq!(sender.gate(us(0), Bytes(4_000)), Gate::Open);
    assert_eq!(sender.gate(us(0), Bytes(4_001)), Gate::Closed);
    bench.sent(us(0), |cx| sender.on_sent(cx, Bytes(1_520)));
    assert_eq!(sender.gate(us(0), Bytes(2_480)), Gate::Open);
    assert_eq!(sender.gate(us(0), Bytes(2_481)), Gate::Closed);
    bench.sent(us(1), |cx| sender.on_frame(cx, credit(4_001)));
    assert_eq!(sender.gate(us(1), Bytes(2_481)), Gate::Open);
    assert_eq!(sender.next_timeout(), None, "without errors and blocks there is nothing to report");
}

#[test]
fn the_limit_is_what_has_arrived_and_what_is_free() {
    let (_, mut receiver) = halves(&ideal(), &own(10_000));
    let mut bench = Bench::new();
    assert_eq!(receiver.next_timeout(), None);
    assert!(bench.sent(Time(300), |cx| receiver.on_enqueue(cx, &view(1_520, 1_500))).is_empty());
    assert_eq!(receiver.next_timeout(), Some(us(1)));
    // Preamble and gap have come and are not held.
    assert_eq!(bench.sent(us(1), |cx| receiver.on_timeout(cx, &view(1_520, 1_500))), [credit(10_020)]);
    assert!(bench.sent(us(2), |cx| receiver.on_timeout(cx, &view(1_520, 1_500))).is_empty());
    assert_eq!(bench.sent(us(3), |cx| receiver.on_timeout(cx, &view(1_520, 0))), [credit(11_520)]);
    assert_eq!(receiver.next_timeout(), None, "it sleeps when nothing is held and all is said");
}

#[test]
fn messages_are_due_at_multiples_of_the_period_whenever_it_wakes() {
    let (_, mut receiver) = halves(&ideal(), &own(10_000));
    let mut bench = Bench::new();
    bench.sent(Time(7_000_001), |cx| receiver.on_enqueue(cx, &view(1_520, 1_500)));
    assert_eq!(receiver.next_timeout(), Some(us(8)));
    bench.sent(us(8), |cx| receiver.on_timeout(cx, &view(1_520, 0)));
    bench.sent(us(9), |cx| receiver.on_enqueue(cx, &view(3_040, 1_500)));
    assert_eq!(receiver.next_timeout(), Some(us(10)), "one that would be due at this instant is the next");
}

#[test]
fn growth_by_delta_is_advertised_at_once_and_less_at_the_periods_end() {
    let params = Params { on_change: Some(Bytes(2_000)), ..ideal() };
    let (_, mut receiver) = halves(&params, &own(10_000));
    let mut bench = Bench::new();
    assert!(receiver.awaits_release());
    bench.sent(Time(1), |cx| receiver.on_enqueue(cx, &view(3_040, 3_000)));
    assert!(bench.sent(Time(2), |cx| receiver.on_release(cx, &view(3_040, 1_500))).is_empty());
    assert_eq!(bench.sent(Time(3), |cx| receiver.on_release(cx, &view(3_040, 0))), [credit(13_040)]);
    bench.sent(Time(4), |cx| receiver.on_enqueue(cx, &view(4_560, 1_500)));
    assert!(bench.sent(Time(5), |cx| receiver.on_release(cx, &view(4_560, 0))).is_empty());
    assert_eq!(bench.sent(us(1), |cx| receiver.on_timeout(cx, &view(4_560, 0))), [credit(14_560)]);
}

#[test]
fn what_is_discarded_on_arrival_gives_its_credit_back() {
    let (_, mut receiver) = halves(&ideal(), &own(4_000));
    let mut bench = Bench::new();
    bench.sent(Time(1), |cx| receiver.on_refused(cx, &view(1_520, 0)));
    assert_eq!(bench.sent(us(1), |cx| receiver.on_timeout(cx, &view(1_520, 0))), [credit(5_520)]);
}

#[test]
fn a_report_brings_back_the_credit_of_what_was_lost() {
    let (mut sender, mut receiver) = halves(&ideal(), &damaged(4_000));
    let mut bench = Bench::new();
    for _ in 0..2 {
        bench.sent(Time(1), |cx| sender.on_sent(cx, Bytes(1_520)));
    }
    // One of the two is lost on its way, and the other leaves again.
    bench.sent(Time(2), |cx| receiver.on_enqueue(cx, &view(1_520, 1_500)));
    assert_eq!(bench.sent(us(1), |cx| receiver.on_timeout(cx, &view(1_520, 0))), [credit(5_520)]);
    let said = bench.sent(us(1), |cx| sender.on_timeout(cx));
    assert_eq!(said, [report(3_040)]);
    bench.sent(us(2), |cx| receiver.on_frame(cx, said[0], &view(1_520, 0)));
    assert_eq!(bench.sent(us(2), |cx| receiver.on_timeout(cx, &view(1_520, 0))), [credit(7_040)]);
}

#[test]
fn where_frames_are_damaged_both_halves_repeat_themselves_each_period() {
    let (mut sender, mut receiver) = halves(&ideal(), &damaged(4_000));
    let mut bench = Bench::new();
    for at in 1..4 {
        assert_eq!((sender.next_timeout(), receiver.next_timeout()), (Some(us(at)), Some(us(at))));
        assert_eq!(bench.sent(us(at), |cx| sender.on_timeout(cx)), [report(0)]);
        assert_eq!(bench.sent(us(at), |cx| receiver.on_timeout(cx, &view(0, 0))), [credit(4_000)]);
    }
}

#[test]
fn after_a_link_was_down_the_receiver_counts_what_it_still_holds() {
    let (mut sender, mut receiver) = halves(&ideal(), &own(4_000));
    let mut bench = Bench::new();
    bench.sent(us(1), |cx| sender.on_sent(cx, Bytes(1_520)));
    bench.sent(us(2), |cx| receiver.on_enqueue(cx, &view(1_520, 1_500)));
    bench.sent(us(3), |cx| sender.on_link_reset(cx));
    assert_eq!(sender.gate(us(3), Bytes(64)), Gate::Closed);
    let said = bench.sent(us(3), |cx| receiver.on_link_reset(cx, &view(1_520, 1_500)));
    assert_eq!(said, [credit(2_500)]);
    bench.sent(us(4), |cx| sender.on_frame(cx, said[0]));
    assert_eq!([2_500, 2_501].map(|next| sender.gate(us(4), Bytes(next)).is_open(us(4))), [true, false]);
}

#[test]
fn a_pause_of_a_faulty_port_stops_it_until_the_resume() {
    let host = LinkInfo { to_host: true, ..link() };
    for link in [own(4_000), host] {
        let (mut sender, _) = halves(&ideal(), &link);
        let mut bench = Bench::new();
        let pause = |quanta| FcFrame::Pause { class: Class::DATA, quanta: Quanta(quanta) };
        bench.sent(us(1), |cx| sender.on_frame(cx, pause(9)));
        assert_eq!(sender.gate(us(900), Bytes(64)), Gate::Closed);
        bench.sent(us(900), |cx| sender.on_frame(cx, pause(0)));
        assert_eq!(sender.gate(us(900), Bytes(64)), Gate::Open);
    }
}

#[test]
fn hosts_advertise_no_limit() {
    for params in [ideal(), infiniband()] {
        let (mut sender, _) = halves(&params, &LinkInfo { to_host: true, has_errors: true, ..link() });
        let mut bench = Bench::new();
        assert!(!sender.counts_sent() && sender.next_timeout().is_none());
        bench.sent(us(1), |cx| sender.on_frame(cx, credit(0)));
        assert_eq!(sender.gate(us(1), Bytes(u64::MAX)), Gate::Open);
    }
}

/// InfiniBand, 7.9: FCCL = ABR + min(free, 2048), and (FCCL - (FCTBS + b)) mod 4096 <= 2048 lets b blocks go.
#[test]
fn blocks_of_64_bytes_are_granted_up_to_2048() {
    let (mut sender, mut receiver) = halves(&infiniband(), &own(1_000_000));
    let mut bench = Bench::new();
    // 85 frames of 24 blocks, 1520 bytes, are 2040 blocks.
    for _ in 0..85 {
        assert_eq!(sender.gate(us(0), Bytes(1_520)), Gate::Open);
        bench.sent(Time(1), |cx| sender.on_sent(cx, Bytes(1_520)));
    }
    assert_eq!(
        [8 * 64, 8 * 64 + 1].map(|next| sender.gate(us(0), Bytes(next)).is_open(us(0))),
        [true, false]
    );
    assert_eq!(sender.next_timeout(), Some(us(1)));
    assert_eq!(bench.sent(us(1), |cx| sender.on_timeout(cx)), [report(2_040)]);
    assert_eq!(sender.next_timeout(), None, "nothing is sent that it has not told");
    // The first frame has come; 15,624 blocks are free, of which 2048 count.
    bench.sent(us(1), |cx| receiver.on_enqueue(cx, &view(1_520, 1_500)));
    assert_eq!(bench.sent(us(2), |cx| receiver.on_timeout(cx, &view(1_520, 1_500))), [credit(24 + 2_048)]);
}

#[test]
fn counters_of_12_bits_go_round_and_round() {
    let (mut sender, mut receiver) = halves(&infiniband(), &own(64 * 100));
    let mut bench = Bench::new();
    let (mut wire, mut blocks) = (0, 0);
    // 24,000 blocks, six times round.
    for at in 1..=1_000 {
        for _ in 0..4 {
            assert!(sender.gate(us(at), Bytes(1_520)).is_open(us(at)), "after {blocks} blocks");
            bench.sent(us(at), |cx| sender.on_sent(cx, Bytes(1_520)));
            blocks += 24;
        }
        assert!(!sender.gate(us(at), Bytes(1_520)).is_open(us(at)), "4 blocks are left after {blocks}");
        for _ in 0..4 {
            wire += 1_520;
            bench.sent(us(at), |cx| receiver.on_enqueue(cx, &view(wire, 1_500)));
        }
        let due = receiver.next_timeout().expect("it has something to say");
        let said = bench.sent(due, |cx| receiver.on_timeout(cx, &view(wire, 0)));
        assert_eq!(said, [credit((blocks + 100) % 4_096)]);
        bench.sent(due, |cx| sender.on_frame(cx, said[0]));
    }
}

#[test]
fn what_is_free_is_rounded_down_to_blocks() {
    let (_, mut receiver) = halves(&infiniband(), &damaged(6_463));
    let mut bench = Bench::new();
    assert_eq!(bench.sent(us(1), |cx| receiver.on_timeout(cx, &view(0, 0))), [credit(100)]);
    bench.sent(us(1), |cx| receiver.on_enqueue(cx, &view(84, 64)));
    assert_eq!(bench.sent(us(2), |cx| receiver.on_timeout(cx, &view(84, 64))), [credit(2 + 99)]);
}

#[test]
fn the_buffer_is_the_delays_the_period_four_frames_and_the_message() {
    let long = |rate, km: u64| {
        let delay = Span::us(5 * km);
        LinkInfo { rate, reverse_rate: rate, delay, reverse_delay: delay, ..link() }
    };
    // 100G: 25,000 of 2 us, 12,500 of the period, 4 x 1520, 84.
    assert_eq!(ideal().min_buffer(&link()), Bytes(25_000 + 12_500 + 6_080 + 84));
    // 80 km at 400G: 40 MB, 10 us, which is 500 KB, four frames and the message.
    assert_eq!(ideal().min_buffer(&long(Rate::gbps(400), 80)), Bytes(40_500_000 + 6_080 + 84));
    // With delta in the place of the period.
    let on_change = Params { on_change: Some(Bytes(1)), ..ideal() };
    assert_eq!(on_change.min_buffer(&link()), Bytes(25_000 + 1 + 6_080 + 84));
    // 43,664 bytes are 29 frames of 24 blocks, and at most 2048 blocks and two frames are of use.
    assert_eq!(infiniband().min_buffer(&link()), Bytes(29 * 24 * 64));
    assert_eq!(infiniband().min_buffer(&long(Rate::gbps(400), 80)), Bytes((2_048 + 48) * 64));
}

#[test]
fn the_period_is_a_tenth_of_the_delay_from_1_to_10_us() {
    let of = |us| ideal().period_on(&LinkInfo { delay: Span::us(us), ..link() });
    assert_eq!([1, 10, 50, 100, 3_000].map(of), [1, 1, 5, 10, 10].map(Span::us));
}

#[test]
fn what_could_not_work_is_refused_with_the_least_that_can() {
    let period = |ps| Params { period: Some(Span(ps)), ..ideal() };
    let (key, why) = refusal(&period(0), &own(4_000));
    assert_eq!(key, "period");
    assert_eq!(why, "0ps is too short: a message takes 6.72ns at 100G, and the period must be at least that");
    assert!(period(6_720).build(&own(4_000)).is_ok());
    let nothing = Params { on_change: Some(Bytes::ZERO), ..ideal() };
    assert_eq!(refusal(&nothing, &own(4_000)).0, "on-change");
    let (key, why) = refusal(&ideal(), &own(1_519));
    assert_eq!(key, "");
    assert_eq!(
        why,
        "a buffer of 1.519KB never has credit for the largest frame: it needs 1.52KB at least, and 43.664KB for \
         the full rate"
    );
    assert!(ideal().build(&own(1_520)).is_ok());
    assert!(refusal(&infiniband(), &own(24 * 64 - 1)).1.contains("1.536KB at least"));
    assert!(infiniband().build(&own(24 * 64)).is_ok());
    assert!(refusal(&ideal(), &link()).1.contains("buffer.static"));
}

#[test]
fn a_link_that_is_too_long_for_12_bits_gets_a_warning() {
    let long = |us| LinkInfo { delay: Span::us(us), reverse_delay: Span::us(us), ..link() };
    assert_eq!((ideal().limit_of_credit(&long(400)), infiniband().limit_of_credit(&long(1))), (None, None));
    let warning = infiniband().limit_of_credit(&long(50)).expect("10 km are too long");
    assert_eq!(
        warning,
        "InfiniBand's counters of 12 bits hold 2048 blocks of 64 B, and 131.072KB of credit last for 1.05 km at \
         100G: on 10 km the link gets 9.8 to 10.5 % of its rate; mode = \"ideal\" has no such limit"
    );
    // So short that only period and frames are too much.
    assert!(
        infiniband()
            .limit_of_credit(&long(5))
            .is_some_and(|warning| warning.contains("89.8 to 100.0 % of its rate"))
    );
}

fn uec() -> Params {
    Params { mode: Mode::Uec, ..Params::default() }
}

fn update(limit: u64) -> FcFrame {
    FcFrame::CreditSet { class: Class::DATA, limit }
}

/// What an ingress that counts bytes has received on the wire, and holds without overhead.
fn held(received: u64, frames: u64) -> IngressView {
    IngressView { wire: Bytes(frames), ..view(received, frames) }
}

/// 1,520 bytes on the wire are six credits of 256: a buffer of 4,000 B has 15.
#[test]
fn frames_take_whole_credits_of_ultra_ethernet() {
    let (mut sender, _) = halves(&uec(), &own(4_000));
    let mut bench = Bench::new();
    assert_eq!(sender.gate(us(0), Bytes(15 * 256)), Gate::Open);
    assert_eq!(sender.gate(us(0), Bytes(15 * 256 + 1)), Gate::Closed);
    bench.sent(us(0), |cx| sender.on_sent(cx, Bytes(1_520)));
    assert_eq!(sender.gate(us(0), Bytes(9 * 256)), Gate::Open);
    assert_eq!(sender.gate(us(0), Bytes(9 * 256 + 1)), Gate::Closed);
    bench.sent(us(1), |cx| sender.on_frame(cx, update(21)));
    assert_eq!(sender.gate(us(1), Bytes(15 * 256)), Gate::Open);
}

#[test]
fn freed_credits_are_reported_at_once_and_not_more_often_than_the_spacing() {
    let params = Params { spacing: Some(Span::ns(500)), ..uec() };
    let (_, mut receiver) = halves(&params, &own(100_000));
    let mut bench = Bench::new();
    let at = |ns: u64| Time::ZERO + Span::ns(ns);
    assert!(bench.sent(at(0), |cx| receiver.on_enqueue(cx, &held(1_520, 1_500))).is_empty());
    assert!(bench.sent(at(100), |cx| receiver.on_enqueue(cx, &held(1_620, 1_580))).is_empty());
    // 390 credits of the buffer, and six freed.
    assert_eq!(bench.sent(at(200), |cx| receiver.on_release(cx, &held(1_620, 80))), [update(396)]);
    assert!(bench.sent(at(300), |cx| receiver.on_release(cx, &held(1_620, 0))).is_empty());
    assert_eq!(receiver.next_timeout(), Some(at(700)));
    assert_eq!(bench.sent(at(700), |cx| receiver.on_timeout(cx, &held(1_620, 0))), [update(397)]);
    assert_eq!(receiver.next_timeout(), None);
    // A packet that is refused frees its credits at once.
    assert_eq!(bench.sent(at(1_300), |cx| receiver.on_refused(cx, &held(1_720, 0))), [update(398)]);
}

#[test]
fn the_senders_count_returns_the_credits_of_lost_frames() {
    let (_, mut receiver) = halves(&uec(), &damaged(100_000));
    let mut bench = Bench::new();
    bench.sent(us(1), |cx| receiver.on_enqueue(cx, &held(1_520, 1_500)));
    // Of 18 credits that were sent 6 have arrived.
    assert_eq!(bench.sent(us(3), |cx| receiver.on_frame(cx, report(18), &held(1_520, 1_500))), [update(402)]);
    assert_eq!(bench.sent(us(5), |cx| receiver.on_release(cx, &held(1_520, 0))), [update(408)]);
    assert!(receiver.next_timeout().is_some(), "it may be lost, and is sent again");
}

#[test]
fn after_a_reset_what_is_held_is_not_free() {
    let (mut sender, mut receiver) = halves(&uec(), &own(4_000));
    let mut bench = Bench::new();
    bench.sent(us(1), |cx| sender.on_sent(cx, Bytes(1_520)));
    bench.sent(us(2), |cx| receiver.on_enqueue(cx, &held(1_520, 1_500)));
    bench.sent(us(3), |cx| sender.on_link_reset(cx));
    assert_eq!(sender.gate(us(3), Bytes(1)), Gate::Closed);
    let sent = bench.sent(us(3), |cx| receiver.on_link_reset(cx, &held(1_520, 1_500)));
    assert_eq!(sent, [update(9)]);
    bench.sent(us(4), |cx| sender.on_frame(cx, sent[0]));
    assert_eq!(sender.gate(us(4), Bytes(9 * 256)), Gate::Open);
    assert_eq!(sender.gate(us(4), Bytes(9 * 256 + 1)), Gate::Closed);
    assert_eq!(bench.sent(us(9), |cx| receiver.on_release(cx, &held(1_520, 0))), [update(15)]);
}

#[test]
fn keys_of_another_mode_are_refused() {
    let key = |params: Params| refusal(&params, &own(100_000)).0;
    assert_eq!(key(Params { spacing: Some(Span::ns(1)), ..ideal() }), "spacing");
    assert_eq!(key(Params { sync: Some(Span::us(1)), ..infiniband() }), "sync");
    assert_eq!(key(Params { on_change: Some(Bytes(1)), ..uec() }), "on-change");
    assert_eq!(key(Params { credit_size: Some(Bytes(31)), ..uec() }), "credit-size");
    assert_eq!(key(Params { credit_size: Some(Bytes::ZERO), ..uec() }), "credit-size");
    assert_eq!(key(Params { spacing: Some(Span::us(2)), ..uec() }), "spacing");
    assert_eq!(key(Params { period: Some(Span::ms(1)), ..uec() }), "period");
    assert_eq!(key(Params { sync: Some(Span::ns(1)), ..uec() }), "sync");
}

#[test]
fn the_size_of_ultra_ethernets_form_has_the_spacing_in_place_of_the_period() {
    // 2 us, 500 ns, four frames of 1,520 B and a message: 37,414 B are 147 credits, and one more for each of
    // 25 frames.
    let params = Params { spacing: Some(Span::ns(500)), ..uec() };
    assert_eq!(params.min_buffer(&link()), Bytes(172 * 256));
    assert_eq!(params.lossless_size(&link()), Bytes(6 * 256));
}

use super::*;
use crate::slots::{Grant, QpInfo};
use floodway_units::FlowId;

const RTT: Span = Span(14_022_720);

fn rp() -> Rp {
    let qp =
        QpInfo { base_rtt: RTT, largest_rtt: RTT, mtu: Bytes(4086), wire: Bytes(4150), ..QpInfo::example() };
    Params::default().build(&qp).expect("there is nothing to refuse")
}

fn backlog(new: u64) -> Backlog {
    Backlog { new: Bytes(new), repeated: Bytes::ZERO, started: Bytes(4150), sharing: 1 }
}

fn pacer() -> Pacer {
    pacer_of(Form::Spec, OrAuto::Auto)
}

fn pacer_of(form: Form, base_rtt: OrAuto<Span>) -> Pacer {
    Pacer::new(&HostInfo { rate: Rate::gbps(100), largest_rtt: RTT }, form, base_rtt)
}

/// All grants up to a time: when, which connection, up to which number.
fn grants(pacer: &mut Pacer, until: u64) -> Vec<(u64, u32, u64)> {
    let mut found = Vec::new();
    while let Some(at) = pacer.next_timeout().filter(|at| at.0 <= until) {
        if let Some(Grant { flow, message }) = pacer.on_timeout(at) {
            found.push((at.0, flow.0, message.number));
        }
    }
    found
}

#[test]
fn packets_ask_for_the_credit_that_they_spend_and_the_first_answer_ends_what_was_assumed() {
    let mut rp = rp();
    let asked: Vec<u64> = (0..3).map(|_| rp.spend(Time::ZERO, backlog(2_000_000), Bytes::MAX)).collect();
    // 4,150, 8,300 and 12,450 B in quanta of 256 B, rounded up.
    assert_eq!(asked, [17, 33, 49]);
    assert!(rp.is_open());
    rp.on_message(Time::ZERO, &pull(17));
    // 17 quanta are 4,352 B: one packet more, of which 202 B are left, and 262,724 B are to be asked for.
    assert_eq!(rp.spend(Time::ZERO, backlog(2_000_000), Bytes::MAX), 1044);
    assert!(rp.is_open());
    assert_eq!(rp.spend(Time::ZERO, backlog(2_000_000), Bytes::MAX), 1060);
    assert!(!rp.is_open());
}

#[test]
fn a_window_bounds_what_is_asked_for() {
    let mut rp = rp();
    rp.on_message(Time::ZERO, &pull(0));
    // 10,000 B of window and a packet, and the 4,150 B that were spent without credit.
    assert_eq!(
        rp.spend(Time::ZERO, backlog(2_000_000), Bytes(10_000)),
        (10_000u64 + 4150 + 4150).div_ceil(256)
    );
}

#[test]
fn several_that_wait_at_a_nic_ask_for_a_part_each() {
    let mut rp = rp();
    rp.on_message(Time::ZERO, &pull(0));
    let left = Backlog { sharing: 2, ..backlog(100_000) };
    assert_eq!(rp.spend(Time::ZERO, left, Bytes::MAX), 100_000u64.midpoint(4150).div_ceil(256));
}

#[test]
fn a_pacer_grants_what_is_asked_for_and_waits_for_as_long_as_it_takes() {
    let mut pacer = pacer();
    pacer.on_request(Time(1_000), FlowId(3), 17, false);
    pacer.on_request(Time(1_000), FlowId(3), 33, false);
    // A quantum takes 20,686 ps at 99 % of 100 Gbit/s.
    assert_eq!(grants(&mut pacer, 1_000), [(1_000, 3, 33)]);
    assert_eq!(pacer.next_timeout(), Some(Time(1_000 + 33 * 20_686)));
}

#[test]
fn connections_take_turns_of_64_quanta() {
    let mut pacer = pacer();
    pacer.on_request(Time::ZERO, FlowId(1), 100, false);
    pacer.on_request(Time::ZERO, FlowId(2), 70, false);
    let turn = 64 * 20_686;
    let expected = [(0, 1, 64), (turn, 2, 64), (2 * turn, 1, 100), (2 * turn + 36 * 20_686, 2, 70)];
    assert_eq!(grants(&mut pacer, expected[3].0), expected);
}

#[test]
fn where_none_asks_credit_is_granted_unasked_up_to_a_bound() {
    let mut pacer = pacer();
    pacer.on_request(Time::ZERO, FlowId(1), 10, false);
    let all = grants(&mut pacer, u64::MAX);
    assert_eq!(all[..3].iter().map(|grant| grant.2).collect::<Vec<_>>(), [10, 74, 138]);
    // 262,926 B are 1,027 quanta, and the last turn goes beyond them.
    assert_eq!(all.last().map(|grant| grant.2), Some(10 + 17 * 64));
    assert_eq!(pacer.next_timeout(), None);
}

#[test]
fn a_cut_packet_has_its_connection_served_at_once_though_it_asks_for_nothing() {
    let mut pacer = pacer();
    pacer.on_request(Time::ZERO, FlowId(1), 10, false);
    assert_eq!(grants(&mut pacer, 0), [(0, 1, 10)]);
    pacer.on_request(Time(5), FlowId(1), 10, true);
    assert_eq!(grants(&mut pacer, 10 * 20_686), [(10 * 20_686, 1, 10)]);
    assert_eq!(pacer.next_timeout(), Some(Time(14 * 20_686)), "the time of four quanta");
}

#[test]
fn the_turns_of_a_closed_connection_pass_without_a_grant() {
    let mut pacer = pacer();
    pacer.on_request(Time::ZERO, FlowId(1), 10, false);
    pacer.on_close(FlowId(1));
    pacer.on_request(Time::ZERO, FlowId(1), 20, false);
    assert_eq!(grants(&mut pacer, 20 * 20_686), [(10 * 20_686, 1, 20)]);
}

#[test]
fn in_the_simulators_form_what_asks_for_more_than_before_has_a_turn_though_it_was_granted_as_much() {
    for (form, turn) in [(Form::Spec, 138), (Form::Htsim, 74)] {
        let mut pacer = pacer_of(form, OrAuto::Auto);
        pacer.on_request(Time::ZERO, FlowId(1), 10, false);
        // The second grant is unasked.
        assert_eq!(grants(&mut pacer, 10 * 20_686).last().map(|grant| grant.2), Some(74));
        pacer.on_request(Time(11 * 20_686), FlowId(1), 20, false);
        assert_eq!(grants(&mut pacer, 74 * 20_686).last().map(|grant| grant.2), Some(turn), "{form:?}");
    }
}

#[test]
fn credit_unasked_is_bound_by_the_base_round_trip_that_is_given() {
    let mut pacer = pacer_of(Form::Htsim, OrAuto::Given(Span(RTT.0 / 2)));
    pacer.on_request(Time::ZERO, FlowId(1), 10, false);
    // 131,463 B are 513 quanta.
    assert_eq!(grants(&mut pacer, u64::MAX).last().map(|grant| grant.2), Some(10 + 9 * 64));
}

#[test]
fn the_most_credit_follows_the_base_round_trip() {
    let half = Params { base_rtt: OrAuto::Given(Span(RTT.0 / 2)), ..Params::default() };
    let qp = QpInfo { base_rtt: RTT, largest_rtt: RTT, ..QpInfo::example() };
    assert_eq!(half.build(&qp).map(|rp| rp.credit), Ok(131_463));
    let zero = Params { base_rtt: OrAuto::Given(Span::ZERO), ..Params::default() };
    assert_eq!(zero.build(&qp).unwrap_err().key, "base-rtt");
}

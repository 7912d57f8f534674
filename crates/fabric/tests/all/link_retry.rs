//! Link retry on whole networks: nothing is lost and order is kept whatever share of the frames is damaged,
//! with each flow control that it works with.

use crate::support::{
    Net, counter, drops, drops_by, fct_ps, finished, long_property, params, port, run_on_one_thread_and_two,
    whole,
};
use floodway_fabric::blueprint::{ErrorRates, UNBOUNDED};
use floodway_fabric::outcome::{RetryTotals, Stopped};
use floodway_fabric::{Control, Fabric, Records};
use floodway_units::{Bytes, Class, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
const LLR: &str = r#""llr""#;
const PFC: &str = r#""pfc""#;
/// A full frame on the wire, and the largest, the first of a message.
const WIRE: u64 = 1_082;
const LARGEST: u64 = 1_098;

/// Three hosts at `s`, one at `t`; the link between the switches has errors and a retry in both directions.
fn net(flow_control: &str, retry: &str, errors: ErrorRates) -> (Net, [NodeId; 4]) {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(400));
    let (s, t) = (net.switch("s"), net.switch("t"));
    let hosts = ["a", "b", "c"].map(|name| net.host(name));
    let to = net.host("d");
    let long = net.link(s, t, G100, Span::us(3), flow_control);
    for host in hosts {
        net.link(host, s, G100, Span::us(1), flow_control);
    }
    net.link(t, to, G100, Span::us(1), flow_control);
    for direction in &mut net.blueprint.links[long].directions {
        (direction.errors, direction.link_retry) = (errors, params(retry));
    }
    (net, [hosts[0], hosts[1], hosts[2], to])
}

fn frames(rate: f64) -> ErrorRates {
    ErrorRates { data: rate, control: rate, link_control: 0.0 }
}

fn totals(records: &Records) -> RetryTotals {
    records.outcome.link_retry.expect("a link has a retry")
}

/// Why a network is refused.
fn refusal(net: &Net) -> String {
    let built = Fabric::build(&net.blueprint, &Control::default()).map(drop);
    built.expect_err("it cannot work").to_string()
}

/// Two hosts send at once for as long as the third one's flow takes, and the receiver stops for a while.
fn several(flow_control: &str, retry: &str, errors: ErrorRates, reliability: &str) -> Records {
    let (net, [a, b, c, d]) = net(flow_control, retry, errors);
    let mut net = net.reliability(reliability);
    for (from, bytes) in [(a, 200_000), (b, 150_000), (c, 777)] {
        net.flow(from, d, Bytes(bytes), Span::ZERO);
    }
    net.flow(d, a, Bytes(120_000), Span::us(2));
    net.pauses(4, d, Span::us(20), Time::ZERO + Span::us(90));
    run_on_one_thread_and_two(&net)
}

proptest! {
    #![proptest_config(long_property(24))]

    #[test]
    fn nothing_is_lost_at_any_error_rate(
        rate in 0.0..0.6,
        (flow_control, retry) in (
            prop::sample::select(vec![
                PFC,
                r#""cbfc""#,
                r#"{"cbfc": {"mode": "infiniband"}}"#,
                r#"{"cbfc": {"mode": "uec"}}"#,
            ]),
            prop::sample::select(vec![
                LLR,
                r#"{"llr": {"outstanding-frames": 3}}"#,
                r#"{"llr": {"ack-spacing": "17296B", "outstanding-bytes": "9KB"}}"#,
            ]),
        ),
    ) {
        let sets = if flow_control == PFC { 0.0 } else { rate / 2.0 };
        let errors = ErrorRates { link_control: sets, ..frames(rate) };
        let records = several(flow_control, retry, errors, r#""none""#);
        prop_assert_eq!(records.outcome.stopped, Stopped::Finished);
        prop_assert_eq!((finished(&records), drops(&records)), (vec![true; 4], 0));
        prop_assert_eq!(whole(records.flows.column("delivered_bytes")), [200_000, 150_000, 777, 120_000]);
        prop_assert!(totals(&records).discarded > 0 || rate < 0.05);
    }
}

/// A receiver of go-back-N asks for packets that are out of order; its timer is longer than the run.
#[test]
fn order_is_kept() {
    for rate in [0.01, 0.3] {
        let reliability = r#"{"go-back-n": {"timeout": "off"}}"#;
        let records = several(PFC, LLR, frames(rate), reliability);
        assert_eq!((finished(&records), drops(&records)), (vec![true; 4], 0));
        assert_eq!(whole(records.flows.column("retransmitted_bytes")), [0; 4]);
    }
}

#[test]
fn without_errors_a_flow_takes_no_longer() {
    let time = |retry: &str| {
        let (mut net, [a, .., d]) = net(PFC, retry, ErrorRates::default());
        net.flow(a, d, Bytes(96_000), Span::ZERO);
        let records = net.run();
        (fct_ps(&records), records.outcome.link_retry)
    };
    let (with, totals) = time(LLR);
    assert_eq!(with, time(r#""none""#).0);
    assert_eq!(time(r#""none""#).1, None);
    // Each second frame reaches 2,048 bytes; the other direction has no frames.
    let acks = 96 * WIRE / (2 * WIRE);
    assert_eq!(totals, Some(RetryTotals { acks, ..RetryTotals::default() }));
}

/// One damaged frame costs a round trip of the link, its bits and the wait for the end of another frame.
#[test]
fn a_damaged_frame_costs_a_round_trip_of_its_link() {
    let mut found = 0;
    for seed in 1..40 {
        let run = |errors| {
            let (mut net, [a, .., d]) = net(PFC, LLR, errors);
            net.blueprint.seed = seed;
            net.flow(a, d, Bytes(50_000), Span::ZERO);
            let records = net.run();
            (fct_ps(&records)[0].expect("it finished"), totals(&records))
        };
        let (late, retry) = run(frames(0.02));
        let (in_time, _) = run(ErrorRates::default());
        if retry.nacks == 1 && retry.discarded == retry.replays {
            // 6 us, and what was on the way behind the damaged frame fills the round trip.
            let lost = late - in_time;
            assert!((6_000_000..6_000_000 + 4 * WIRE * 80).contains(&lost), "{lost} ps");
            found += 1;
        }
    }
    assert!(found > 3, "{found} runs with one damaged frame");
}

/// The replay buffer bounds the rate: so many bytes for each round trip.
#[test]
fn a_small_replay_buffer_stalls_the_link() {
    let retry = r#"{"llr": {"outstanding-bytes": "20KB", "ack-spacing": "400B"}}"#;
    let (mut net, [a, .., d]) = net(PFC, retry, ErrorRates::default());
    net.flow(a, d, UNBOUNDED, Span::ZERO);
    let records = net.limit(Span::us(2_000)).run();
    let received = whole(records.flows.column("delivered_bytes"))[0] as f64;
    // A frame starts while the largest one still has room; its answer takes 6 us and the bits of a frame.
    let window = (20_000 - WIRE) as f64;
    let round_trip = 6.0 + (WIRE + 8) as f64 * 80e-6;
    let rate = received * WIRE as f64 / 1_000.0 / 1_990.0;
    assert!((rate / (window / round_trip) - 1.0).abs() < 0.06, "{rate} B/us, not {}", window / round_trip);
}

#[test]
fn a_flushed_replay_buffer_loses_what_was_not_accepted_and_the_link_goes_on() {
    let errors = ErrorRates { link_control: 0.2, ..frames(0.5) };
    let records = several(
        r#""cbfc""#,
        r#"{"llr": {"replay-count": 1}}"#,
        errors,
        r#"{"go-back-n": {"timeout": "300us"}}"#,
    );
    let lost = drops_by(&records, "link_error");
    assert_eq!((totals(&records).given_up, drops(&records)), (lost, lost));
    assert!(lost > 0, "a try in two fails");
    assert_eq!(finished(&records), [true; 4], "the transport recovers");
}

#[test]
fn a_link_that_was_down_begins_anew() {
    let (net, [a, _, _, d]) = net(PFC, LLR, frames(0.05));
    let mut net = net.reliability(r#"{"go-back-n": {"timeout": "100us"}}"#);
    net.blueprint.links[0].down = vec![
        (Time::ZERO + Span::us(20), Time::ZERO + Span::us(25)),
        (Time::ZERO + Span::us(60), Time::ZERO + Span::us(110)),
    ];
    net.blueprint.links[0].detection = Span::us(10);
    net.flow(a, d, Bytes::mb(1), Span::ZERO);
    let records = run_on_one_thread_and_two(&net);
    assert_eq!((records.outcome.stopped, drops_by(&records, "link_error")), (Stopped::Finished, 0));
    assert!(drops_by(&records, "link_down") > 0);
    assert_eq!(whole(records.flows.column("delivered_bytes")), [1_000_000]);
}

/// A pause does not stop what is sent again: headroom holds the replay buffer.
#[test]
fn headroom_holds_what_is_sent_again_after_a_pause() {
    let need = |retry| {
        let (net, _) = net(PFC, retry, ErrorRates::default());
        let account = net.blueprint.accounts().of(port(0, 1), Class::DATA);
        account.unwrap().expect("t is a switch").headroom.0
    };
    let (without, with) = (need(r#""none""#), need(LLR));
    let replay = need(r#"{"llr": {"outstanding-bytes": "300KB"}}"#);
    assert!(without < with && with < without + 10_000, "{without} and {with}");
    assert_eq!(replay, 300_000);
}

#[test]
fn what_it_cannot_work_with_is_refused() {
    let (net, _) = net(r#"{"bifrost": {}}"#, LLR, ErrorRates::default());
    assert!(
        refusal(&net).contains(r#""llr" does not work with flow-control = "bifrost""#),
        "{}",
        refusal(&net)
    );
    let (net, _) = self::net(PFC, r#"{"llr": {"replay-timer": "1us"}}"#, ErrorRates::default());
    assert!(refusal(&net).contains("1us is too short"), "{}", refusal(&net));
}

#[test]
fn each_packet_comes_in_once() {
    let records = several(PFC, LLR, frames(0.2), r#""none""#);
    let retry = totals(&records);
    assert!(retry.replay_bytes <= retry.replays * LARGEST && retry.replay_bytes > retry.replays * 84);
    assert!(retry.replays >= retry.nacks && retry.discarded >= retry.nacks);
    let arrived = counter(&records, "t", "s-t", "rx_packets");
    assert_eq!(arrived, 200 + 150 + 1);
}

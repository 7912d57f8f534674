//! The verdict on lossless classes: what was lost, and what the sizes of buffers promise.

use crate::support;
use crate::support::{Net, assert_invariants, drops, drops_by, port};
use floodway_fabric::Records;
use floodway_fabric::blueprint::LinkControl;
use floodway_fabric::outcome::{Lossless, LosslessVerdict};
use floodway_units::{Bytes, Class, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
const DELAY: Span = Span::us(50);
const ROOMY: &str = r#"{"static": {"size": "50MB"}}"#;

/// `a` - `s` - long link - `t` - `b`, all at 100 Gbit/s; `t` has `buffer` for what comes by the long link.
fn haul(flow_control: &str, buffer: &str) -> (Net, [NodeId; 4]) {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(20)).reliability(r#""none""#);
    let (a, s) = (net.host("a"), net.switch_with("s", ROOMY));
    let (t, b) = (net.switch_with("t", ROOMY), net.host("b"));
    net.link(a, s, G100, Span::us(1), r#""pfc""#);
    let long = net.link(s, t, G100, DELAY, flow_control);
    net.link(t, b, G100, Span::us(1), r#""pfc""#);
    net.port_buffer(long, t, buffer);
    (net, [a, s, t, b])
}

fn fixed(size: u64) -> String {
    format!(r#"{{"static": {{"size": "{size}B"}}}}"#)
}

fn verdict(records: &Records) -> &Lossless {
    assert_invariants(records);
    &records.outcome.lossless
}

/// What the long link's end needs of a buffer, restarts included.
fn needed(net: &Net) -> Bytes {
    let accounts = net.blueprint.accounts();
    let account = accounts.of(port(1, 1), Class::DATA).expect("it fits").expect("t is a switch");
    accounts.need(port(1, 1), Class::DATA, &account).expect("it is lossless").all()
}

#[test]
fn a_run_that_lost_nothing_by_luck_reports_how_much_its_port_is_short() {
    let pfc = r#"{"pfc": {"xoff": "100KB"}}"#;
    let enough = needed(&haul(pfc, ROOMY).0).0;
    for (size, expected) in
        [(enough, LosslessVerdict::HeldBySizing), (enough - 1, LosslessVerdict::HeldInRun)]
    {
        let (mut net, [a, _, _, b]) = haul(pfc, &fixed(size));
        net.flow(a, b, Bytes::mb(1), Span::ZERO);
        let records = net.run();
        let lossless = verdict(&records);
        assert_eq!((lossless.verdict, drops(&records)), (expected, 0));
        let short =
            lossless.short.as_ref().map(|short| (short.short_bytes, short.needs_bytes, short.place.as_str()));
        assert_eq!(short, (size < enough).then_some((1, enough, "t (s-t)")));
    }
}

#[test]
fn of_several_ports_that_are_short_the_worst_is_named() {
    let (mut net, [a, s, _, b]) = haul(r#"{"pfc": {"xoff": "100KB"}}"#, &fixed(200_000));
    net.port_buffer(1, s, &fixed(150_000));
    net.flow(a, b, Bytes::kb(10), Span::ZERO);
    let records = net.run();
    let short = verdict(&records).short.as_ref().expect("both ends are short");
    assert_eq!((short.ports, short.place.as_str(), short.has_bytes), (2, "s (s-t)", 150_000));
}

#[test]
fn credits_lose_nothing_in_a_buffer_of_a_few_frames() {
    let (mut net, [a, _, t, b]) = haul(r#""cbfc""#, &fixed(20_000));
    net.pauses(2, b, Span::us(100), Time::ZERO + Span::ms(1));
    net.flow(a, b, Bytes::mb(1), Span::ZERO);
    net.buffer(t, r#"{"static": {"size": "30KB"}}"#);
    let records = net.run();
    assert_eq!(verdict(&records).verdict, LosslessVerdict::HeldBySizing);
}

#[test]
fn headroom_beside_a_pool_counts_and_not_the_pool() {
    for (headroom, expected) in
        [("auto", LosslessVerdict::HeldBySizing), ("20KB", LosslessVerdict::HeldInRun)]
    {
        let pfc = format!(r#"{{"pfc": {{"xoff": {{"alpha": 0.5}}, "headroom": "{headroom}"}}}}"#);
        let mut net = Net::new(Format::Ethernet).limit(Span::ms(1));
        let s = net.switch_with("s", r#"{"shared": {"pool": "10MB"}}"#);
        let (a, b) = (net.host("a"), net.host("b"));
        net.link(a, s, G100, Span::us(1), &pfc);
        net.link(s, b, G100, Span::us(1), &pfc);
        net.flow(a, b, Bytes::kb(100), Span::ZERO);
        let records = net.run();
        assert_eq!(verdict(&records).verdict, expected, "{headroom}");
    }
}

#[test]
fn sizes_promise_nothing_where_pauses_may_be_lost_or_ignored() {
    let forwarding = r#"{"pfc": {"watchdog": {"after": "1ms", "action": "forward"}}}"#;
    for (control, damaged, why) in [
        (r#""pfc""#, 0.0, None),
        (r#""pfc""#, 0.1, Some("frames of its flow control may be lost")),
        (forwarding, 0.0, Some("watchdog")),
        (r#""cbfc""#, 0.1, None),
    ] {
        let (mut net, [a, _, _, b]) = haul(control, ROOMY);
        net.blueprint.links[1].directions[1].errors.link_control = damaged;
        net.flow(a, b, Bytes::kb(10), Span::ZERO);
        let records = net.run();
        let lossless = verdict(&records);
        let expected = if why.is_some() { LosslessVerdict::HeldInRun } else { LosslessVerdict::HeldBySizing };
        assert_eq!((lossless.verdict, &lossless.short), (expected, &None), "{control} {damaged}");
        let matches = lossless.unproven.iter().map(|reason| why.is_some_and(|why| reason.why.contains(why)));
        assert_eq!(
            matches.collect::<Vec<_>>(),
            vec![true; usize::from(why.is_some())],
            "{control} {damaged}"
        );
    }
}

#[test]
fn sizes_promise_nothing_where_a_pause_is_lost_before_anybody_knows_that_the_link_was_down() {
    for (control, expected) in CONTROLS.iter().zip([
        (LosslessVerdict::Violated, "shorter than its faults.detection"),
        // Its frames come again in each slot, and the buffer happens to have room for that.
        (LosslessVerdict::HeldInRun, "shorter than its faults.detection"),
        (LosslessVerdict::HeldBySizing, ""),
    ]) {
        // The pause of the far end is on the link then, and is lost.
        let enough = needed(&flapping(control, ROOMY, &[(0, 2)]));
        let mut net = flapping(control, &fixed(enough.0), &[]);
        let link = &mut net.blueprint.links[1];
        link.down = vec![(at_us(220), at_us(222))];
        link.detection = Span::ms(4);
        let records = net.run();
        let lossless = verdict(&records);
        let reasons: Vec<&str> = lossless.unproven.iter().map(|each| &*each.why).collect();
        assert_eq!(lossless.verdict, expected.0, "{control}");
        assert!(reasons.join("; ").contains(expected.1), "{control}: {reasons:?}");
    }
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

#[test]
fn sizes_promise_nothing_where_pauses_wait_for_other_frames() {
    let reason = |net: &Net| {
        let records = net.run();
        let lossless = verdict(&records);
        (
            lossless.verdict,
            lossless.unproven.iter().map(|each| each.why.clone()).collect::<Vec<_>>().join("; "),
        )
    };
    let (mut net, [a, _, _, b]) = haul(r#""pfc""#, ROOMY);
    net.flow(a, b, Bytes::kb(10), Span::ZERO);
    assert_eq!(reason(&net), (LosslessVerdict::HeldBySizing, String::new()));
    net.blueprint.semantics.link_control = LinkControl::ControlClass;
    let (verdict, why) = reason(&net);
    assert!(verdict == LosslessVerdict::HeldInRun && why.contains("wait behind ACKs"), "{why}");
    net.blueprint.semantics.link_control = LinkControl::First;
    net.second_class();
    let (verdict, why) = reason(&net);
    assert!(verdict == LosslessVerdict::HeldInRun && why.contains("those of other classes"), "{why}");
}

#[test]
fn losses_of_a_lossless_class_on_a_failed_link_are_counted_apart() {
    let (mut net, [a, _, _, b]) = haul(r#""pfc""#, ROOMY);
    net.flow(a, b, Bytes::mb(5), Span::ZERO);
    net.blueprint.links[1].down = vec![(Time::ZERO + Span::us(200), Time::NEVER)];
    let records = net.run();
    let lossless = verdict(&records);
    assert_eq!((lossless.verdict, &lossless.loss), (LosslessVerdict::HeldBySizing, &None));
    let failed = lossless.failed.as_ref().expect("the link was full");
    assert_eq!(failed.packets, drops(&records));
    let by_reason = |reason| (reason, drops_by(&records, reason));
    let expected: Vec<_> =
        ["link_down", "no_route"].map(by_reason).into_iter().filter(|(_, packets)| *packets > 0).collect();
    assert_eq!(failed.drops, expected);
    assert!(
        failed.bytes > 1000 * failed.packets && expected.iter().any(|(reason, _)| *reason == "link_down")
    );
}

#[test]
fn a_class_without_flow_control_fails_without_a_verdict() {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(1)).reliability(r#""none""#);
    let (a, s, b) = (net.host("a"), net.switch_with("s", ROOMY), net.host("b"));
    net.link(a, s, G100, Span::us(1), r#""lossy""#);
    net.link(s, b, G100, Span::us(1), r#""lossy""#);
    net.flow(a, b, Bytes::mb(1), Span::ZERO);
    net.blueprint.links[1].down = vec![(Time::ZERO + Span::us(20), Time::NEVER)];
    let records = net.run();
    let lossless = verdict(&records);
    assert!(drops(&records) > 0);
    assert_eq!((lossless.verdict, &lossless.failed), (LosslessVerdict::NotAsked, &None));
}

/// Flow controls of a long link, with thresholds that do not depend on the buffer.
const CONTROLS: [&str; 3] =
    [r#"{"pfc": {"xoff": "100KB"}}"#, r#"{"bifrost": {"slot": "10us"}}"#, r#""cbfc""#];

/// Behind the long link nothing drains from 200 us on, and the link fails a few times after that.
fn flapping(control: &str, buffer: &str, down: &[(u64, u64)]) -> Net {
    let (mut net, [a, _, _, b]) = haul(control, buffer);
    net.pauses(2, b, Span::us(200), Time::NEVER);
    let mut at = Time::ZERO + Span::us(300);
    for &(up, length) in down {
        let from = at + Span::us(up);
        at = from + Span::us(length);
        net.blueprint.links[1].down.push((from, at));
    }
    net.flow(a, b, Bytes::mb(20), Span::ZERO);
    net.limit(Span::ms(6))
}

proptest! {
    #![proptest_config(support::property(60))]

    /// Each time that the link comes up again its sender starts open, whatever its receiver holds.
    #[test]
    fn a_buffer_with_room_for_each_restart_loses_nothing_though_it_never_drains(
        control in prop::sample::select(CONTROLS.to_vec()),
        down in prop::collection::vec((0u64..600, 1u64..400), 1..4),
        // A part of the shortest time down, so that each is noticed before the link is up again.
        noticed in 0.0..0.99f64,
    ) {
        let shortest = down.iter().map(|(_, length)| *length).min().expect("there is one");
        let detection = Span((Span::us(shortest).0 as f64 * noticed) as u64);
        let enough = needed(&flapping(control, ROOMY, &down));
        let mut net = flapping(control, &fixed(enough.0), &down);
        net.blueprint.links[1].detection = detection;
        let records = net.run();
        prop_assert_eq!(verdict(&records).verdict, LosslessVerdict::HeldBySizing, "{}", control);
    }
}

#[test]
fn a_buffer_for_a_link_that_stays_up_overflows_when_it_comes_up_again() {
    for control in &CONTROLS[..2] {
        let steady = needed(&flapping(control, ROOMY, &[]));
        let records = flapping(control, &fixed(steady.0), &[(500, 50)]).run();
        let lossless = verdict(&records);
        assert_eq!(lossless.verdict, LosslessVerdict::Violated, "{control}");
        let loss = lossless.loss.as_ref().expect("it is violated");
        assert_eq!((loss.place.as_str(), loss.ports), ("t (s-t)", 1));
        let short = lossless.short.as_ref().expect("it has no room for the restart");
        assert!(loss.bytes <= short.short_bytes, "{control}: {} of {}", loss.bytes, short.short_bytes);
    }
}

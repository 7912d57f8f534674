//! Breakdowns of completion times: by hand where that can be done, and for any network as sums.

use crate::support;
use crate::support::plans::{Plan, host_plans};
use crate::support::{Net, PFC, assert_invariants, at_all_ports, everything, fct_ps, params, port, whole};
use floodway_fabric::blueprint::{Acks, Release, Semantics, Sharing, Ties, Turns};
use floodway_fabric::{Blueprint, Cause, Control, Fabric, FlowRef, Part, Records, Traced, Values, Why};
use floodway_mechanisms::registry::NotificationParams;
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
/// Picoseconds of a full packet on a link, by HPCC's headers.
const PACKET: u64 = 1_048 * 80;
/// Propagation of a link.
const LINK: u64 = 1_000_000;

/// The flows of a run, in the order of its table.
fn flows(records: &Records) -> Vec<FlowRef> {
    let codes = |column| match records.flows.column(column) {
        Some(Values::Text { codes, .. }) => codes.clone(),
        other => panic!("no names: {other:?}"),
    };
    let (workloads, sources) = (codes("workload"), codes("source"));
    let numbers = whole(records.flows.column("number"));
    let rows = workloads.into_iter().zip(sources).zip(numbers);
    rows.map(|((workload, source), number)| FlowRef { workload, source: NodeId(source), number }).collect()
}

fn traced<'a>(blueprint: &'a Blueprint, control: &'a Control, flow: FlowRef) -> Traced<'a> {
    Traced::build(blueprint, control, &[flow]).unwrap_or_else(|error| panic!("{error}"))
}

/// Why the `row`-th flow of the table took so long: it adds up, the run is as it is without being asked, and
/// the answer does not depend on what comes after the flow.
fn why_of(blueprint: &Blueprint, records: &Records, row: usize) -> Option<Why> {
    let (control, flow) = (Control::default(), flows(records)[row]);
    let (same, mut why) = traced(blueprint, &control, flow).run();
    assert!(everything(&same) == everything(records), "a run that is looked at is another one");
    assert_eq!(traced(blueprint, &control, flow).why(), why);
    let why = why.remove(0);
    let mut several = vec![flow];
    several.extend(flows(records).into_iter().find(|&other| other != flow));
    let each = Traced::build(blueprint, &control, &several).expect("it is sound").why();
    assert_eq!(each[0], why, "flows are followed together as alone");
    if let Some(&other) = several.get(1) {
        assert_eq!(
            each[1..],
            traced(blueprint, &control, other).why(),
            "flows are followed together as alone"
        );
    }
    let fct = fct_ps(records)[row];
    assert_eq!(why.as_ref().map(|why| why.fct.0), fct, "{why:?}");
    if let Some(why) = &why {
        assert_eq!(why.parts.iter().map(|part| part.time.0).sum::<u64>(), why.fct.0, "{why:?}");
        assert!(why.parts.iter().all(|part| part.time > Span::ZERO), "{why:?}");
        let of_pause = |part: &Part| part.cause == Cause::Paused;
        assert!(why.parts.iter().all(|part| part.origin.is_some() == of_pause(part)), "{why:?}");
        assert!(why.sent.bytes() >= whole(records.flows.column("size_bytes"))[row], "{why:?}");
    }
    why
}

/// As rows of text: cause, port without the link's name, origin, picoseconds.
fn table(why: &Why) -> Vec<(&'static str, String, String, u64)> {
    let short = |name: &Option<String>| {
        name.as_deref().map_or("", |name| name.rsplit(' ').next().expect("the last word")).to_owned()
    };
    why.parts
        .iter()
        .map(|part| (part.cause.name(), short(&part.port), short(&part.origin), part.time.0))
        .collect()
}

fn assert_table(why: &Why, expected: &[(&str, &str, &str, u64)]) {
    let table = table(why);
    let rows: Vec<_> =
        table.iter().map(|(cause, port, origin, time)| (*cause, &**port, &**origin, *time)).collect();
    assert_eq!(rows, expected, "{why:#?}");
}

/// Why the `row`-th flow of a network took so long.
fn why(net: &Net, row: usize) -> Why {
    let records = net.run();
    why_of(&net.blueprint, &records, row).expect("the flow is complete")
}

/// What went to a cause.
fn to(why: &Why, cause: Cause) -> u64 {
    why.parts.iter().filter(|part| part.cause == cause).map(|part| part.time.0).sum()
}

/// Hosts a and b behind s, c and d behind t.
fn dumbbell(control: &str) -> (Net, [NodeId; 4], [NodeId; 2]) {
    let mut net = Net::new(Format::HpccNs3);
    let hosts = ["a", "b", "c", "d"].map(|name| net.host(name));
    let switches = ["s", "t"].map(|name| net.switch(name));
    let trunk = (switches[0], switches[1]);
    let [near, far] = [0, 1].map(|side| [0, 1].map(|i| (hosts[2 * side + i], switches[side])));
    for (from, to) in [near[0], near[1], trunk, far[0], far[1]] {
        net.link(from, to, G100, Span::us(1), control);
    }
    (net, hosts, switches)
}

#[test]
fn a_flow_alone_is_serialised_and_propagated_and_nothing_else() {
    let (mut net, [a, _, c, _], _) = dumbbell(PFC);
    net.flow(a, c, Bytes::kb(100), Span::us(7));
    let why = why(&net, 0);
    assert_eq!(why.fct, why.ideal);
    assert_eq!(why.start, Time::ZERO + Span::us(7));
    assert_table(
        &why,
        &[
            ("serialisation", "a>s", "", 100 * PACKET),
            ("serialisation", "s>t", "", PACKET),
            ("serialisation", "t>c", "", PACKET),
            ("propagation", "a>s", "", LINK),
            ("propagation", "s>t", "", LINK),
            ("propagation", "t>c", "", LINK),
        ],
    );
}

/// Both send 10 packets at one instant; ties let the ports alternate, so that the last of all waits for the
/// ten of the other.
#[test]
fn flows_that_share_a_port_wait_there() {
    let (mut net, [a, b, c, d], _) = dumbbell(PFC);
    net.flow(a, c, Bytes::kb(10), Span::ZERO);
    net.flow(b, d, Bytes::kb(10), Span::ZERO);
    let records = net.run();
    let fct = fct_ps(&records);
    let last = usize::from(fct[1] > fct[0]);
    let why = why_of(&net.blueprint, &records, last).expect("it is complete");
    let queued: Vec<_> = table(&why).into_iter().filter(|row| row.0 == "queueing").collect();
    // Of 20 packets behind one another the last leaves after 20 packets' time, and has come after 10.
    assert_eq!(queued, [("queueing", "s>t".to_owned(), String::new(), 10 * PACKET)]);
    assert_eq!(why.fct.0, why.ideal.0 + 10 * PACKET);
    assert_eq!(why.parts.len(), 7);
}

/// Three senders at s and three at t for h, behind t, and one at s for v, behind t as well. The link s-t has
/// room for all: what pauses it, and a>s, is t>h.
#[test]
fn a_victim_of_pauses_sees_where_they_began() {
    let control = r#"{"pfc": {"xoff": "30KB"}}"#;
    let mut net = Net::new(Format::HpccNs3);
    let (first, last) = (net.switch("s"), net.switch("t"));
    let [sink, victim, from] = ["h", "v", "a"].map(|name| net.host(name));
    net.link(first, last, Rate::gbps(400), Span::us(1), control);
    net.link(last, sink, G100, Span::us(1), control);
    net.link(last, victim, G100, Span::us(1), control);
    net.link(from, first, G100, Span::us(1), control);
    for i in 0..3 {
        let (near, far) = (net.host(&format!("n{i}")), net.host(&format!("f{i}")));
        net.link(near, last, G100, Span::us(1), control);
        net.link(far, first, G100, Span::us(1), control);
        net.flow(near, sink, Bytes::kb(400), Span::ZERO);
        net.flow(far, sink, Bytes::kb(400), Span::ZERO);
    }
    net.flow(from, victim, Bytes::kb(200), Span::us(20));
    let records = net.run();
    let row = whole(records.flows.column("size_bytes")).iter().position(|&size| size == 200_000);
    let why = why_of(&net.blueprint, &records, row.expect("it is there")).expect("it is complete");
    let paused: Vec<_> = table(&why).into_iter().filter(|row| row.0 == "paused").collect();
    assert!(!paused.is_empty());
    assert!(paused.iter().all(|row| row.2 == "t>h"), "{paused:?}");
    assert!(paused.iter().any(|row| row.1 == "s>t") && paused.iter().any(|row| row.1 == "a>s"), "{paused:?}");
    assert!(to(&why, Cause::Paused) > why.fct.0 / 2, "{why:?}");
}

/// d pauses its port from 20 us to 60 us. The packets that wait at t>d then are fewer than t's threshold.
#[test]
fn a_host_that_pauses_is_where_the_pause_began() {
    let (mut net, [a, _, _, d], _) = dumbbell(r#"{"pfc": {"xoff": "2MB"}}"#);
    net.pauses(4, d, Span::us(20), Time::ZERO + Span::us(60));
    net.flow(a, d, Bytes(1000), Span::us(30));
    let why = why(&net, 0);
    // The packet is at t after two links, the resume after one.
    let waits =
        60_000_000 + Format::HpccNs3.link_control().wire.0 * 80 + LINK - (30_000_000 + 2 * (PACKET + LINK));
    let paused: Vec<_> = table(&why).into_iter().filter(|row| row.0 == "paused").collect();
    assert_eq!(paused, [("paused", "t>d".to_owned(), "d".to_owned(), waits)]);
    assert_eq!(why.fct.0, why.ideal.0 + waits);
}

/// a and b send more than s>t carries, and from some time on c pauses t>c for 200 us. Whatever a>s is paused
/// for when the pauses of c reach s: from then on it is c, though s may have said its pause before.
#[test]
fn a_pause_that_continues_for_another_origin_is_split() {
    for from in (100..112).map(Span::us) {
        let (mut net, [a, b, c, _], _) = dumbbell(r#"{"pfc": {"xoff": "30KB"}}"#);
        net.pauses(3, c, from, Time::ZERO + from + Span::us(200));
        net.flow(a, c, Bytes::mb(2), Span::ZERO);
        net.flow(b, c, Bytes::mb(2), Span::ZERO);
        let why = why(&net, 0);
        let origin = |name: &str| {
            let rows =
                table(&why).into_iter().filter(|row| row.0 == "paused" && row.1 == "a>s" && row.2 == name);
            rows.map(|row| row.3).sum::<u64>()
        };
        // What fits into t until it pauses s takes some microseconds, and so does what the stop leaves
        // behind.
        let (port, host) = (origin("s>t"), origin("c"));
        assert!(host > 180_000_000 && host < 210_000_000, "from {from}: {:?}", table(&why));
        assert!(port > 20_000_000, "from {from}: {:?}", table(&why));
    }
}

/// At half the line rate each of ten packets but the first waits as long as one takes.
#[test]
fn a_paced_flow_waits_for_its_pace() {
    let (net, [a, _, c, _], _) = dumbbell(PFC);
    let mut net = net.rate_control(&[r#"{"line-rate": {"rate": "50G"}}"#]);
    net.flow(a, c, Bytes::kb(10), Span::ZERO);
    let why = why(&net, 0);
    assert_eq!(to(&why, Cause::Pacing), 9 * PACKET);
    assert_eq!(to(&why, Cause::Serialisation), 12 * PACKET);
    assert_eq!(why.fct.0, why.ideal.0 + 9 * PACKET);
}

/// Two packets a round trip: five rounds for ten packets, of which the last is sent right behind the ninth.
#[test]
fn a_flow_with_a_small_window_waits_for_acks() {
    let (net, [a, _, c, _], _) = dumbbell(PFC);
    let net = net.reliability(r#""go-back-n""#);
    let mut net = net.rate_control(&[r#"{"static-window": {"size": "2KB"}}"#]);
    net.flow(a, c, Bytes::kb(10), Span::ZERO);
    let why = why(&net, 0);
    let trip = 3 * (PACKET + LINK);
    let back = 3 * (Format::HpccNs3.ack().wire.0 * 80 + LINK);
    // A round begins with the ACK of the first of two packets; the second of them goes meanwhile.
    assert_eq!(to(&why, Cause::Window), 4 * (trip + back - 2 * PACKET));
    assert_eq!(to(&why, Cause::Serialisation), 12 * PACKET);
    assert_eq!(to(&why, Cause::Window) + why.ideal.0, why.fct.0);
}

/// A flow of which the only packet is lost: the link s-t is down when it comes.
fn lost_once(reliability: &str) -> Why {
    let (net, [a, _, c, _], _) = dumbbell(r#""lossy""#);
    let mut net = net.reliability(reliability);
    net.blueprint.links[2].down = vec![(Time::ZERO + Span::us(1), Time::ZERO + Span::us(2))];
    net.flow(a, c, Bytes(1000), Span::ZERO);
    why(&net, 0)
}

#[test]
fn a_lost_packet_waits_until_it_is_sent_again() {
    let again = |why: &Why| to(why, Cause::Retransmission);
    let late = 100_000_000;
    let why = lost_once(r#"{"go-back-n": {"timeout": "100us"}}"#);
    // The copy on the wire that completes the flow is part of its way; the first one was serialised for
    // nothing.
    assert_eq!((why.fct.0, again(&why)), (why.ideal.0 + late, late - PACKET));
    assert_eq!(to(&why, Cause::Serialisation), 4 * PACKET);
    let why = lost_once(r#"{"irn": {"rto-low": "100us", "rto-high": "200us"}}"#);
    assert_eq!((why.fct.0, again(&why)), (why.ideal.0 + late, late - PACKET));
}

/// Of 40 packets one in the midst is lost on a link that damages a few: what is retransmitted is no first
/// transmission.
#[test]
fn retransmissions_are_separate_from_first_transmissions() {
    for reliability in [r#""go-back-n""#, r#""irn""#] {
        let (net, [a, _, c, _], _) = dumbbell(r#""lossy""#);
        let mut net = net.reliability(reliability);
        net.blueprint.links[2].directions[0].errors.data = 0.03;
        net.flow(a, c, Bytes::kb(200), Span::ZERO);
        let records = net.run();
        let again = whole(records.flows.column("retransmitted_bytes"))[0] / 1000;
        assert!(again > 0);
        let why = why_of(&net.blueprint, &records, 0).expect("it is complete");
        let first =
            why.parts.iter().find(|part| part.port.as_deref() == Some("a-s: a>s")).expect("it is sent");
        let once = [200, 201].map(|packets| packets * PACKET);
        assert!(once.contains(&first.time.0), "all once, and the one that completes it: {why:?}");
        assert!(to(&why, Cause::Retransmission) >= (again - 1) * PACKET, "{again} {why:?}");
        let others = [Cause::Queueing, Cause::Window, Cause::Paused].map(|cause| to(&why, cause));
        assert_eq!(others.iter().sum::<u64>() / PACKET, 0, "{why:?}");
    }
}

#[test]
fn a_message_waits_for_those_before_it_on_its_queue_pair() {
    let (mut net, [a, _, c, _], _) = dumbbell(PFC);
    net.blueprint.settings[0].qp = Sharing::PerPair;
    net.flow(a, c, Bytes::kb(30), Span::ZERO);
    net.flow(a, c, Bytes::kb(20), Span::ns(500));
    net.flow(a, c, Bytes::kb(10), Span::ns(600));
    let why = why(&net, 2);
    assert_eq!(to(&why, Cause::Predecessors), 50 * PACKET - 600_000);
    assert_eq!(why.fct.0, why.ideal.0 + 50 * PACKET - 600_000);
    assert_eq!(to(&why, Cause::Serialisation), 12 * PACKET);
}

#[test]
fn pipelines_and_crossbars_are_passed() {
    let (mut net, [a, _, c, _], [s, t]) = dumbbell(PFC);
    net.pipeline(s, Span::ns(300));
    net.pipeline(t, Span::ns(400));
    net.flow(a, c, Bytes::kb(3), Span::ZERO);
    let piped = why(&net, 0);
    assert_eq!(to(&piped, Cause::Switching), 700_000);
    assert_eq!(piped.fct, piped.ideal);
    net.buffer(s, r#"{"ioq": {"voq": "1MB", "output": "9KB", "speed-up": 2.0}}"#);
    let crossed = why(&net, 0);
    assert_eq!(to(&crossed, Cause::Switching), 700_000 + PACKET / 2);
    assert_eq!(crossed.ideal.0, piped.ideal.0 + PACKET / 2);
    assert_eq!(crossed.fct, crossed.ideal);
}

#[test]
fn a_flow_whose_nic_is_cut_off_waits_for_its_link() {
    let (net, [a, _, c, _], _) = dumbbell(PFC);
    let mut net = net.reliability(r#""go-back-n""#);
    net.blueprint.links[0].down = vec![(Time::ZERO, Time::ZERO + Span::us(50))];
    net.flow(a, c, Bytes(1000), Span::us(10));
    let why = why(&net, 0);
    assert_eq!(to(&why, Cause::LinkDown), 40_000_000);
    assert_eq!(why.fct.0, why.ideal.0 + 40_000_000);
}

/// Four senders for h: RCM holds back those that congest t>h, and sends CNs to s, which does the same.
#[test]
fn harmful_flows_are_held_back_where_their_region_is() {
    let mut net = Net::new(Format::Ethernet);
    let [s, t] = ["s", "t"].map(|name| net.switch_with(name, r#""ioq""#));
    let h = net.host("h");
    let pfc = r#"{"pfc": {"xoff": "70KB", "resume-offset": "2KB"}}"#;
    let rcm = r#"{"rcm": {"equilibrium": "8KB"}}"#;
    for link in [net.link(s, t, G100, Span::us(1), pfc), net.link(t, h, G100, Span::us(1), pfc)] {
        let from = net.blueprint.links[link].ends[0].node;
        net.congestion_point(link, from, rcm);
    }
    for i in 0..4 {
        let host = net.host(&format!("f{i}"));
        net.link(host, if i < 2 { s } else { t }, G100, Span::us(1), pfc);
        net.flow(host, h, Bytes::mb(2), Span::ZERO);
    }
    let records = net.run();
    let mut held: Vec<String> = Vec::new();
    for row in 0..4 {
        let why = why_of(&net.blueprint, &records, row).expect("it is complete");
        held.extend(table(&why).into_iter().filter(|row| row.0 == "held-back").map(|row| row.1));
    }
    held.sort_unstable();
    held.dedup();
    assert!(held.contains(&"t>h".to_owned()), "{held:?}");
    assert!(held.iter().all(|port| ["s>t", "t>h"].contains(&&**port)), "{held:?}");
}

/// Bytes on their way use up all credit where the buffer is small for the link: nothing stays at t.
#[test]
fn credit_in_flight_is_delayed_by_the_link_itself() {
    let mut net = Net::new(Format::HpccNs3);
    let [a, c] = ["a", "c"].map(|name| net.host(name));
    let [s, t] = ["s", "t"].map(|name| net.switch(name));
    net.link(a, s, G100, Span::us(1), PFC);
    let long = net.link(s, t, G100, Span::us(100), r#""cbfc""#);
    net.link(t, c, G100, Span::us(1), PFC);
    net.port_buffer(long, t, r#"{"static": {"size": "200KB"}}"#);
    net.flow(a, c, Bytes::mb(1), Span::ZERO);
    let why = why(&net, 0);
    let paused: Vec<_> = table(&why).into_iter().filter(|row| row.0 == "paused").collect();
    assert!(paused.iter().all(|row| row.2 == "s>t"), "{why:#?}");
    assert!(to(&why, Cause::Paused) > why.fct.0 / 2, "{why:#?}");
}

/// t pauses the relay before it, which hands that on to the one at the far end of the long link, and that to
/// s.
#[test]
fn relays_hand_on_where_a_pause_began() {
    let pfc = r#"{"pfc": {"xoff": "30KB"}}"#;
    let mut net = Net::new(Format::HpccNs3);
    let [s, t] = ["s", "t"].map(|name| net.switch(name));
    let [a, c] = ["a", "c"].map(|name| net.host(name));
    net.link(a, s, G100, Span::us(1), pfc);
    net.link(t, c, G100, Span::us(1), pfc);
    Plan::add_relays(&mut net, s, t, Span::us(5));
    for i in 0..2 {
        let near = net.host(&format!("n{i}"));
        net.link(near, t, G100, Span::us(1), pfc);
        net.flow(near, c, Bytes::mb(1), Span::ZERO);
    }
    net.flow(a, c, Bytes::kb(500), Span::us(5));
    let why = why(&net, 2);
    let paused: Vec<_> = table(&why).into_iter().filter(|row| row.0 == "paused").collect();
    assert!(paused.iter().any(|row| (&*row.1, &*row.2) == ("s>ra", "t>c")), "{paused:?}");
    assert!(paused.iter().all(|row| row.2 == "t>c"), "{paused:?}");
}

#[test]
fn a_flow_that_never_starts_is_not_found() {
    let (mut net, [a, b, c, _], _) = dumbbell(PFC);
    net.flow(a, c, Bytes::kb(10), Span::ZERO);
    let control = Control::default();
    let why = |source, number| {
        traced(&net.blueprint, &control, FlowRef { workload: 0, source, number }).why().remove(0)
    };
    assert!(why(a, 0).is_some());
    assert!(why(a, 1).is_none() && why(b, 0).is_none());
}

/// Points in which other simulators differ, and forms of IRN.
fn vary(plan: &Plan, variant: usize) -> Blueprint {
    let mut blueprint = plan.net().blueprint;
    blueprint.semantics = match variant {
        1 => Semantics { acks: Acks::Data, release: Release::Start, ..Semantics::default() },
        2 => Semantics { ties: Ties::SchedulingOrder, turns: Turns::List, ..Semantics::default() },
        3 => Semantics { ties: Ties::SchedulingOrder, turns: Turns::StandingList, ..Semantics::default() },
        _ => Semantics::default(),
    };
    let irn = [r#"{"irn": {"form": "swing"}}"#, r#"{"irn": {"form": "conweave"}}"#];
    if let Some(form) = variant.checked_sub(4) {
        let settings = &mut blueprint.settings[0];
        settings.reliability = params(irn[form % 2]);
        settings.notification = NotificationParams::asked_by(&settings.rate_control);
    }
    blueprint
}

proptest! {
    #![proptest_config(support::long_property(120))]

    #[test]
    fn the_parts_of_any_flow_add_up_under_any_mechanism(
        plan in host_plans(),
        variant in 0..6usize,
        by_flow in prop::bool::weighted(0.3),
        rows in prop::collection::vec(any::<prop::sample::Index>(), 3),
    ) {
        let mut blueprint = vary(&plan, variant);
        if by_flow && !plan.crossbar {
            at_all_ports(&mut blueprint, r#"{"bfc": {"hop-rtt": "400ns", "queues": 3}}"#);
        }
        let control = Control::default();
        let Ok(fabric) = Fabric::build(&blueprint, &control) else { return Ok(()) };
        let records = fabric.run();
        assert_invariants(&records);
        for row in rows {
            why_of(&blueprint, &records, row.index(records.flows.rows()));
        }
    }
}

/// Ports are what tables of results call them.
#[test]
fn ports_have_the_names_that_series_have() {
    let (mut net, [a, _, c, _], _) = dumbbell(PFC);
    net.blueprint.records.watch = vec![port(0, 0)];
    net.flow(a, c, Bytes::kb(10), Span::ZERO);
    let records = net.run();
    let why = why_of(&net.blueprint, &records, 0).expect("it is complete");
    let watched = support::names(records.series.column("object"));
    assert!(why.parts.iter().any(|part| part.port.as_ref() == watched.first()), "{watched:?} {why:?}");
}

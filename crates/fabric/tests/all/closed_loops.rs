//! Closed loops: messages that are posted as others complete, against closed forms.

use crate::support::{Net, PFC, everything, names, real, whole};
use floodway_fabric::blueprint::{Arrivals, LoopSpec, Next};
use floodway_fabric::outcome::Stopped;
use floodway_fabric::{Control, Fabric, Records};
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;

const BYTE: u64 = 80;
const LINK: u64 = 1_000_000;
const ACK: u64 = 86;

/// Two hosts and a switch between them; links of 1 us at 100G.
fn net(reliability: &str) -> (Net, NodeId, NodeId) {
    let mut net = Net::new(Format::Ethernet).reliability(reliability);
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, Rate::gbps(100), Span::us(1), PFC);
    net.link(s, b, Rate::gbps(100), Span::us(1), PFC);
    (net, a, b)
}

fn run(mut net: Net, loops: Vec<LoopSpec>) -> Records {
    net.blueprint.workloads[0].arrivals = Arrivals::ClosedLoop(loops);
    net.run()
}

fn bandwidth(a: NodeId, b: NodeId, size: u64, messages: u64, depth: u64) -> LoopSpec {
    LoopSpec {
        source: a,
        destination: b,
        size: Bytes(size),
        messages,
        depth,
        start: Time::ZERO,
        next: Next::Sent,
    }
}

fn ps(records: &Records, column: &str) -> Vec<u64> {
    real(records.flows.column(column)).into_iter().map(|us| (us * 1e6).round() as u64).collect()
}

#[test]
fn one_message_at_a_time_takes_a_round_trip_each() {
    let (net, a, b) = net(r#""go-back-n""#);
    let records = run(net, vec![bandwidth(a, b, 800, 50, 1)]);
    let round = 2 * ((898 + ACK) * BYTE + 2 * LINK);
    let expected: Vec<u64> = (0..50).map(|i| i * round).collect();
    assert_eq!(ps(&records, "start_us"), expected);
    let ended: Vec<u64> = (1..=50).map(|i| i * round).collect();
    assert_eq!(ps(&records, "finish_sender_us"), ended);
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert_eq!(records.outcome.workloads[0].never_started, 0);
}

/// Over links of 99 us the last byte arrives in one epoch of 100 us and its ACK in the next but one.
#[test]
fn the_run_goes_on_until_the_last_ack_has_come() {
    let (mut net, a, b) = net(r#""go-back-n""#);
    for direction in net.blueprint.links.iter_mut().flat_map(|link| &mut link.directions) {
        direction.delay = Span::us(99);
    }
    let records = run(net, vec![bandwidth(a, b, 800, 3, 3)]);
    let last = (3 * 898 + 898 + 2 * ACK) * BYTE + 4 * 99 * LINK;
    assert_eq!(ps(&records, "finish_sender_us")[2], last);
}

#[test]
fn a_deep_queue_keeps_the_line_busy() {
    let (net, a, b) = net(r#""go-back-n""#);
    let records = run(net, vec![bandwidth(a, b, 4_000, 500, 16)]);
    // Not one gap: 500 messages of four packets, then the last one's way there, and its ACK's back. At the
    // switch it is late by what the first packets of messages are longer.
    let wire = 500 * (1098 + 3 * 1082);
    let end = (wire + 1098 + 2 * ACK) * BYTE + 4 * LINK;
    assert_eq!(ps(&records, "finish_sender_us").into_iter().max(), Some(end));
    let starts = ps(&records, "start_us");
    assert_eq!(starts.iter().filter(|&&start| start == 0).count(), 16);
    // Each later message is posted as one completes.
    let mut completed = ps(&records, "finish_sender_us");
    completed.sort_unstable();
    assert_eq!(starts[16..], completed[..484]);
}

#[test]
fn without_acks_the_next_message_is_posted_as_the_last_byte_leaves() {
    let (net, a, b) = net(r#""none""#);
    let records = run(net, vec![bandwidth(a, b, 1_500, 20, 1)]);
    let each = (1098 + 582) * BYTE;
    assert_eq!(ps(&records, "start_us"), (0..20).map(|i| i * each).collect::<Vec<u64>>());
}

/// 20 messages of two packets, each of which begins as the last byte of the one before has left the NIC.
fn back_to_back(a: NodeId, b: NodeId) -> LoopSpec {
    LoopSpec { next: Next::Left, ..bandwidth(a, b, 1_500, 20, 1) }
}

#[test]
fn back_to_back_the_next_message_is_posted_as_the_last_byte_leaves_also_with_acks() {
    for reliability in [r#""none""#, r#""go-back-n""#] {
        let (net, a, b) = net(reliability);
        let records = run(net, vec![back_to_back(a, b)]);
        let each = (1098 + 582) * BYTE;
        assert_eq!(
            ps(&records, "start_us"),
            (0..20).map(|i| i * each).collect::<Vec<u64>>(),
            "{reliability}"
        );
        assert_eq!((records.flows.rows(), records.outcome.stopped), (20, Stopped::Finished));
        // Each has a queue pair of its own, so a port of its own.
        let mut ports = whole(records.flows.column("source_port"));
        ports.sort_unstable();
        ports.dedup();
        assert!(ports.len() > 15, "{ports:?}");
    }
}

#[test]
fn back_to_back_a_last_packet_that_is_sent_again_posts_no_other_message() {
    let (mut net, a, b) = net(r#""go-back-n""#);
    for direction in net.blueprint.links.iter_mut().flat_map(|link| &mut link.directions) {
        direction.errors.data = 0.1;
    }
    let records = run(net, vec![back_to_back(a, b)]);
    assert!(whole(records.flows.column("retransmitted_bytes")).iter().sum::<u64>() > 0);
    assert_eq!((records.flows.rows(), records.outcome.workloads[0].finished), (20, 20));
    let mut starts = ps(&records, "start_us");
    starts.dedup();
    assert_eq!(starts.len(), 20);
}

#[test]
fn back_to_back_what_the_time_was_too_short_for_is_not_missed() {
    let (mut net, a, b) = net(r#""go-back-n""#);
    net.blueprint.workloads[0].until = Time(10 * (1098 + 582) * BYTE);
    let records = run(net, vec![back_to_back(a, b)]);
    let totals = &records.outcome.workloads[0];
    assert_eq!((totals.flows, totals.finished, totals.never_started), (10, 10, 0));
    assert_eq!(records.outcome.stopped, Stopped::Finished);
}

/// Ping and pong of `messages` each way.
fn ping_pong(a: NodeId, b: NodeId, size: u64, messages: u64) -> Vec<LoopSpec> {
    let there = LoopSpec { next: Next::Arrived(1), ..bandwidth(a, b, size, messages, 1) };
    vec![there, LoopSpec { next: Next::Arrived(0), ..bandwidth(b, a, size, messages, 0) }]
}

#[test]
fn ping_pong_takes_half_a_round_trip_each_way() {
    for reliability in [r#""none""#, r#""go-back-n""#] {
        let (net, a, b) = net(reliability);
        let records = run(net, ping_pong(a, b, 2, 100));
        // A payload of 2 B. The ACK of the message before goes first, at the host and at the switch alike.
        let wire = 2 + 98;
        let ack = if reliability == r#""none""# { 0 } else { ACK };
        let latency = |i: u64| wire * 2 * BYTE + 2 * LINK + if i == 0 { 0 } else { ack * BYTE };
        let next = |(i, at): &(u64, u64)| Some((i + 1, at + latency(*i)));
        let expected: Vec<u64> =
            std::iter::successors(Some((0, 0)), next).map(|(_, at)| at).take(200).collect();
        assert_eq!(ps(&records, "start_us"), expected, "{reliability}");
        let from: Vec<String> = (0..200).map(|i| if i % 2 == 0 { "a" } else { "b" }.into()).collect();
        assert_eq!(names(records.flows.column("source")), from);
    }
}

/// One loop goes on as its messages are acknowledged, another one answers each, and none waits for the
/// answers.
#[test]
fn a_message_may_post_the_next_one_at_both_of_its_ends() {
    for reliability in [r#""none""#, r#""go-back-n""#] {
        let (mut net, a, b) = net(reliability);
        for direction in net.blueprint.links.iter_mut().flat_map(|link| &mut link.directions) {
            direction.delay = Span::us(99);
        }
        let answers = LoopSpec { next: Next::Arrived(0), ..bandwidth(b, a, 900, 12, 0) };
        let records = run(net, vec![bandwidth(a, b, 800, 12, 4), answers]);
        assert_eq!((records.flows.rows(), records.outcome.stopped), (24, Stopped::Finished));
        assert_eq!(records.outcome.workloads[0].finished, 24);
        let arrived = ps(&records, "finish_receiver_us");
        let from = names(records.flows.column("source"));
        let ends = |host: &str, times: Vec<u64>| {
            let of = times.into_iter().zip(&from).filter(|(_, from)| *from == host);
            of.map(|(at, _)| at).collect::<Vec<u64>>()
        };
        assert_eq!(ends("b", ps(&records, "start_us")), ends("a", arrived), "{reliability}");
        // The run waits for the last ACK of the first.
        let has_acks = reliability != r#""none""#;
        let finished = real(records.flows.column("finish_sender_us"));
        let first = finished.iter().zip(&from).filter(|(_, from)| *from == "a");
        assert!(first.into_iter().all(|(at, _)| at.is_nan() != has_acks));
    }
}

#[test]
fn same_bytes_from_the_same_seed_with_several_loops_at_one_instant() {
    let all = |seed| {
        let (mut net, a, b) = net(r#""go-back-n""#);
        net.blueprint.seed = seed;
        for direction in net.blueprint.links.iter_mut().flat_map(|link| &mut link.directions) {
            direction.errors.data = 0.01;
        }
        let mut loops = ping_pong(a, b, 5_000, 200);
        loops.push(bandwidth(a, b, 3_000, 300, 8));
        loops.push(bandwidth(b, a, 3_000, 300, 4));
        everything(&run(net, loops))
    };
    assert_eq!(all(1), all(1));
    assert_ne!(all(1), all(2));
}

#[test]
fn no_message_is_posted_at_the_end_of_its_time_or_later() {
    let (mut net, a, b) = net(r#""go-back-n""#);
    net.blueprint.workloads[0].until = Time::ZERO + Span::us(100);
    let records = run(net, vec![bandwidth(a, b, 800, 500, 1)]);
    assert!(ps(&records, "start_us").iter().all(|&start| start < 100_000_000));
    let totals = &records.outcome.workloads[0];
    assert_eq!((totals.flows + totals.never_started, records.outcome.stopped), (500, Stopped::Finished));
}

#[test]
fn loops_that_cannot_run_are_refused() {
    let refused = |change: fn(&mut Vec<LoopSpec>)| {
        let (mut net, a, b) = net(r#""go-back-n""#);
        let mut loops = ping_pong(a, b, 2, 100);
        change(&mut loops);
        net.blueprint.workloads[0].arrivals = Arrivals::ClosedLoop(loops);
        let control = Control::default();
        Fabric::build(&net.blueprint, &control).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(|_| {}), "");
    assert_eq!(refused(Vec::clear), "workload flows: it has no loop");
    let others = "workload flows: loop 1: what arrives at its source belongs to another loop or to none";
    assert_eq!(refused(|loops| loops[0].next = Next::Arrived(0)), others);
    assert_eq!(refused(|loops| loops[0].next = Next::Arrived(2)), others);
    assert_eq!(refused(|loops| loops[1].messages = 0), "workload flows: loop 2: it has no message");
    assert_eq!(
        refused(|loops| loops[1].next = Next::Sent),
        "workload flows: loop 2: nothing posts its first message"
    );
    assert_eq!(
        refused(|loops| loops[1].next = Next::Left),
        "workload flows: loop 2: nothing posts its first message"
    );
    assert_eq!(
        refused(|loops| loops[0].size = Bytes(0)),
        "workload flows: loop 1: its messages have no size"
    );
    assert_eq!(
        refused(|loops| loops[0].destination = loops[0].source),
        "workload flows: loop 1: it goes from a to itself"
    );
}

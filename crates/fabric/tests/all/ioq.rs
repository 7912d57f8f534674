//! Input-output queued switches: crossings, waiting, and that nothing is lost or left idle.

use crate::support::{Net, counter, drops, drops_by, fct_ps, finished, real, whole};
use floodway_fabric::blueprint::UNBOUNDED;
use floodway_fabric::{Control, Fabric, Records};
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
/// Picoseconds of a full packet of the ns-3 format at 100G, of 1048 wire bytes.
const TURN: u64 = 1048 * 80;
const US: u64 = 1_000_000;
const PFC: &str = r#"{"pfc": {"xoff": "70KB", "resume-offset": "2KB"}}"#;
const IOQ: &str = r#""ioq""#;

/// Hosts h0, h1, ... around one switch of this buffer, at 100G and 1 us.
fn star(hosts: usize, buffer: &str, flow_control: &str) -> (Net, NodeId, Vec<NodeId>) {
    let mut net = Net::new(Format::HpccNs3);
    let switch = net.switch_with("s", buffer);
    let hosts: Vec<NodeId> = (0..hosts).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts {
        net.link(host, switch, G100, Span::us(1), flow_control);
    }
    (net, switch, hosts)
}

// ---- times

#[test]
fn a_packet_crosses_in_its_time_on_the_fastest_link_divided_by_the_speed_up() {
    for (speed_up, fastest, crossing) in [(1.0, 100, TURN), (2.0, 100, TURN / 2), (2.0, 400, TURN / 8)] {
        let buffer = format!(r#"{{"ioq": {{"speed-up": {speed_up}}}}}"#);
        let (mut net, s, hosts) = star(2, &buffer, PFC);
        let other = net.host("other");
        net.link(s, other, Rate::gbps(fastest), Span::us(1), PFC);
        net.flow(hosts[0], hosts[1], Bytes(1000), Span::ZERO);
        assert_eq!(fct_ps(&net.run()), [Some(2 * TURN + 2 * US + crossing)], "{speed_up} {fastest}");
    }
}

proptest! {
    /// The ideal counts crossbars: alone in the network a flow takes as long as its ideal, whatever stage is
    /// the slowest.
    #[test]
    fn a_flow_alone_takes_its_ideal_time(
        switches in prop::collection::vec((1.0..4.0f64, any::<bool>()), 1..4),
        rates in prop::collection::vec(prop::sample::select(vec![25u64, 40, 100, 400]), 4),
        size in prop_oneof![1u64..3000, 1u64..300_000],
    ) {
        let mut net = Net::new(Format::Ethernet);
        let first = net.host("a");
        let mut before = first;
        for (i, (speed_up, crosses)) in switches.iter().enumerate() {
            let ioq = format!(r#"{{"ioq": {{"voq": "9MB", "output": "9MB", "speed-up": {speed_up}}}}}"#);
            let buffer = if *crosses { &*ioq } else { r#"{"static": {"size": "9MB"}}"# };
            let switch = net.switch_with(&format!("s{i}"), buffer);
            net.link(before, switch, Rate::gbps(rates[i]), Span::us(1), r#""lossy""#);
            before = switch;
        }
        let last = net.host("b");
        net.link(before, last, Rate::gbps(rates[3]), Span::us(1), r#""lossy""#);
        net.flow(first, last, Bytes(size), Span::ZERO);
        let records = net.run();
        prop_assert_eq!(real(records.flows.column("slowdown")), [1.0]);
    }
}

#[test]
fn an_output_that_something_waits_for_is_never_idle() {
    // The last of 4 · 100 packets follows the first without a gap, whatever room the output queue has.
    for output in ["2096B", "100KB"] {
        let buffer = format!(r#"{{"ioq": {{"output": "{output}"}}}}"#);
        let (mut net, _, hosts) = star(5, &buffer, PFC);
        for &host in &hosts[1..] {
            net.flow(host, hosts[0], Bytes(100_000), Span::ZERO);
        }
        let records = net.run();
        let last = fct_ps(&records).into_iter().flatten().max();
        assert_eq!(last, Some(TURN + US + TURN / 2 + 400 * TURN + US), "{output}");
        assert_eq!(drops(&records), 0);
    }
}

/// The share of all links' payload that arrives in 2 ms, where host i sends to host i + d for each d, all as
/// fast as they may.
fn throughput(speed_up: f64, steps: &[usize]) -> f64 {
    const HOSTS: usize = 8;
    let buffer = format!(r#"{{"ioq": {{"speed-up": {speed_up}}}}}"#);
    let (mut net, _, hosts) = star(HOSTS, &buffer, PFC);
    for i in 0..HOSTS {
        for step in steps {
            net.flow(hosts[i], hosts[(i + step) % HOSTS], UNBOUNDED, Span::ZERO);
        }
    }
    let records = net.limit(Span::ms(2)).until_limit().run();
    assert!(records.outcome.lossless.is_held());
    let delivered: u64 = whole(records.flows.column("delivered_bytes")).iter().sum();
    delivered as f64 / (HOSTS as f64 * 25e6 * 1000.0 / 1048.0)
}

#[test]
fn at_a_speed_up_of_two_all_admissible_traffic_passes() {
    let uniform = throughput(2.0, &[1, 2, 3, 4, 5, 6, 7]);
    assert!(uniform > 0.99, "{uniform}");
    // Two thirds of each host's go to its neighbour, one third to the next.
    let diagonal = throughput(2.0, &[1, 1, 2]);
    assert!(diagonal > 0.99, "{diagonal}");
}

// ---- queues

#[test]
fn a_full_output_queue_stops_the_crossbar_and_never_drops() {
    let (mut net, _, hosts) = star(4, r#"{"ioq": {"voq": "10KB", "output": "3KB"}}"#, r#""lossy""#);
    net.ingress_control(0, hosts[0], PFC);
    for &host in &hosts[1..] {
        net.flow(host, hosts[0], Bytes(100_000), Span::ZERO);
    }
    // Nothing leaves for a while: all that there is room for is 3 VOQs and the output queue.
    net.pauses(0, hosts[0], Span::ZERO, Time::ZERO + Span::us(50));
    let records = net.run();
    let delivered: u64 = whole(records.flows.column("delivered_bytes")).iter().sum();
    let [dropped, at_output] = ["buffer", "egress"].map(|reason| drops_by(&records, reason));
    assert_eq!((delivered / 1000 + dropped, at_output), (300, 0));
    // Two in the output queue of 3 KB, and nine in each VOQ of 10 KB.
    assert_eq!(delivered / 1000, 2 + 3 * 9);
}

/// Bytes for h1 and h2, which take nothing for 200 us, and for h3, all from h0; what the switch paused, and
/// the completion time of the flow to h3.
fn behind_paused_outputs(bytes: [u64; 2], buffer: &str) -> (u64, f64, Records) {
    let (mut net, _, hosts) = star(4, buffer, PFC);
    for (i, size) in bytes.into_iter().enumerate() {
        net.pauses(i + 1, hosts[i + 1], Span::ZERO, Time::ZERO + Span::us(200));
        net.flow(hosts[0], hosts[i + 1], Bytes(size), Span::us(5));
    }
    net.flow(hosts[0], hosts[3], Bytes(400_000), Span::us(5));
    let records = net.run();
    assert_eq!((records.outcome.lossless.is_held(), drops(&records)), (true, 0));
    let fct = real(records.flows.column("fct_us"))[2];
    (counter(&records, "s", "h0-s", "pfc_tx"), fct, records)
}

#[test]
fn packets_for_a_paused_output_block_no_others_until_their_own_queue_is_at_xoff() {
    // 60 KB and 60 KB wait: more than XOFF, but no VOQ has 70 KB. All 520 packets leave h0 in a row.
    let (pauses, fct, _) = behind_paused_outputs([60_000, 60_000], IOQ);
    assert_eq!(pauses, 0);
    assert!(fct < (520 * TURN + 3 * US) as f64 / 1e6, "{fct}");
    // One VOQ at XOFF pauses the whole input, until it has fallen to XON.
    let (pauses, fct, _) = behind_paused_outputs([300_000, 60_000], IOQ);
    assert!(pauses >= 2 && fct > 200.0, "{pauses} {fct}");
    // A buffer of the input as a whole counts both.
    let (pauses, fct, _) = behind_paused_outputs([60_000, 60_000], r#"{"static": {"size": "100KB"}}"#);
    assert!(pauses >= 2 && fct > 190.0, "{pauses} {fct}");
}

#[test]
fn classes_take_turns_and_do_not_wait_for_each_other() {
    let (mut net, _, hosts) = star(3, IOQ, PFC);
    net.second_class();
    net.scheduler(r#""round-robin""#);
    net.flow(hosts[0], hosts[1], Bytes(60_000), Span::ZERO);
    net.flow(hosts[0], hosts[1], Bytes(60_000), Span::ZERO).settings = Some(1);
    net.flow(hosts[2], hosts[1], Bytes(60_000), Span::ZERO).settings = Some(1);
    let records = net.run();
    // 180 packets share the link; both classes get half of it while both have something to send.
    let fct: Vec<u64> = fct_ps(&records).into_iter().flatten().collect();
    let last = TURN + US + TURN / 2 + 180 * TURN + US;
    assert_eq!(fct.iter().max(), Some(&last));
    assert!(fct[0].abs_diff(last - 60 * TURN) < 3 * TURN, "{fct:?}");

    let (mut net, _, hosts) = star(3, IOQ, PFC);
    net.second_class();
    // Class 3 is paused by its destination, class 4 is not.
    net.pauses(1, hosts[1], Span::ZERO, Time::ZERO + Span::us(300));
    net.flow(hosts[0], hosts[1], Bytes(300_000), Span::us(5));
    net.flow(hosts[0], hosts[1], Bytes(300_000), Span::us(5)).settings = Some(1);
    let fct = real(net.run().flows.column("fct_us"));
    assert!(fct[0] > 295.0 && fct[1] < 60.0, "{fct:?}");
}

#[test]
fn all_mechanisms_that_count_bytes_lose_nothing_behind_a_crossbar() {
    for flow_control in
        [r#""cbfc""#, r#"{"cbfc": {"mode": "infiniband"}}"#, r#"{"bifrost": {"slot": "2us"}}"#, PFC]
    {
        for pipeline in [Span::ZERO, Span::ns(500)] {
            let (mut net, s, hosts) = star(6, r#"{"ioq": {"voq": "400KB"}}"#, flow_control);
            (0..6).for_each(|link| net.delays(link, Span::us(3), Span::us(3)));
            net.pipeline(s, pipeline);
            for &host in &hosts[1..] {
                net.flow(host, hosts[0], Bytes(200_000), Span::ZERO);
            }
            for &host in &hosts[1..] {
                net.flow(hosts[0], host, Bytes(50_000), Span::us(3));
            }
            let records = net.run();
            assert_eq!(drops(&records), 0, "{flow_control}");
            assert!(finished(&records).into_iter().all(|done| done), "{flow_control}");
        }
    }
}

#[test]
fn a_link_that_fails_takes_what_waits_to_cross_to_it() {
    let (net, _, hosts) = star(4, IOQ, PFC);
    let mut net = net.reliability(r#""go-back-n""#);
    for &host in &hosts[1..] {
        net.flow(host, hosts[0], Bytes(300_000), Span::ZERO);
    }
    let (from, to) = (Time::ZERO + Span::us(30), Time::ZERO + Span::us(60));
    net.blueprint.links[0].down = vec![(from, to)];
    let records = net.run();
    assert!(drops_by(&records, "link_down") > 60, "{:?}", records.outcome.drops);
    assert!(finished(&records).into_iter().all(|done| done));
}

// ---- faults of the user

#[test]
fn queues_without_room_for_a_frame_and_crossbars_of_ports_are_refused() {
    let refused = |net: &Net| {
        let control = Control::default();
        Fabric::build(&net.blueprint, &control).map(|_| ()).unwrap_err().to_string()
    };
    let (mut net, s, hosts) = star(2, r#"{"ioq": {"output": "1000B"}}"#, PFC);
    net.flow(hosts[0], hosts[1], Bytes(1000), Span::ZERO);
    assert!(refused(&net).contains("1KB has no room for a frame of 1.048KB"), "{}", refused(&net));
    net.buffer(s, r#"{"ioq": {"speed-up": 0.5}}"#);
    assert!(refused(&net).contains("0.5 is not a number from 1 to 16"), "{}", refused(&net));
    net.buffer(s, IOQ);
    net.port_buffer(0, s, IOQ);
    assert!(refused(&net).contains("a crossbar belongs to a switch"), "{}", refused(&net));
}

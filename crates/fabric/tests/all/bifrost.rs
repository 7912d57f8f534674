//! Bifrost on long links, packet by packet.

use std::sync::{Arc, Mutex};

use crate::support;
use crate::support::{Net, counter, drops, drops_by, finished, port, real};
use floodway_fabric::blueprint::UNBOUNDED;
use floodway_fabric::outcome::Stopped;
use floodway_fabric::{Control, Fabric, Records};
use floodway_mechanisms::bifrost;
use floodway_mechanisms::registry::AnyFcReceiver;
use floodway_mechanisms::slots::{Cx, FcFrame, FcReceiver, FlowControl as _, IngressView};
use floodway_units::{Bytes, Class, Length, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G400: Rate = Rate::gbps(400);
const PFC_AUTO: &str = r#"{"pfc": {"xoff": "auto"}}"#;
const BIFROST: &str = r#""bifrost""#;
/// The largest frame of 1000 bytes of payload on Ethernet.
const MTU: u64 = 1_078;

/// Of 80 km at 400 Gbit/s: Rs T, Delta, N.
const FULL: u64 = 500_000;
const DELTA: u64 = 40_000_000 + 2 * MTU + 64;
const SLOTS: u64 = 81;
/// Delta + 2 Rs T + (k + N + 1) MTU.
const LEAST: u64 = DELTA + 2 * FULL + (SLOTS + 2) * MTU;

fn fixed(size: u64) -> String {
    format!(r#"{{"static": {{"size": "{size}B"}}}}"#)
}

/// `a` - `s` - 80 km - `t` - `b`, all at 400 Gbit/s; the long link's flow control and the buffer at `t`. No
/// node but `t` is short of buffer.
fn haul(flow_control: &str, buffer: &str) -> (Net, [NodeId; 4]) {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(40));
    let (a, s) = (net.host("a"), net.switch_with("s", &fixed(100_000_000)));
    let (t, b) = (net.switch_with("t", &fixed(100_000_000)), net.host("b"));
    net.link(a, s, G400, Span::us(1), PFC_AUTO);
    let long = net.link(s, t, G400, Length(80_000).delay(), flow_control);
    net.link(t, b, G400, Span::us(1), PFC_AUTO);
    net.port_buffer(long, t, buffer);
    (net, [a, s, t, b])
}

/// How much longer than ideal the flow of 100 MB takes, in microseconds.
fn late(net: &Net) -> f64 {
    let records = net.run();
    assert_eq!((records.outcome.stopped, records.outcome.lossless.is_held()), (Stopped::Finished, true));
    real(records.flows.column("fct_us"))[0] - real(records.flows.column("ideal_fct_us"))[0]
}

#[test]
fn auto_gives_the_least_buffer() {
    let (net, _) = haul(BIFROST, r#"{"static": {"size": "auto"}}"#);
    let account = net.blueprint.accounts().of(port(1, 1), Class::DATA).unwrap().expect("t is a switch");
    assert_eq!((account.own, account.headroom), (Some(Bytes(LEAST)), Bytes::ZERO));
    assert!(account.lossless);
}

#[test]
fn a_flow_of_100_mb_takes_its_ideal_time() {
    let run = |buffer: &str| {
        let (mut net, [a, .., b]) = haul(BIFROST, buffer);
        net.flow(a, b, Bytes::mb(100), Span::ZERO);
        late(&net)
    };
    assert_eq!(run(&fixed(42_000_000)), 0.0);
    // At the least level a grant is short of what is held at the time slot's end: a frame, of 500 KB.
    let late = run(&fixed(LEAST));
    assert!((0.0..100e6 * 8.0 / 400e3 / 400.0).contains(&late), "{late} us late");
}

/// The flow's lateness after `b` has held `t` up for 2 ms.
fn late_after_a_pause(flow_control: &str, buffer: u64) -> f64 {
    let (mut net, [a, _, _, b]) = haul(flow_control, &fixed(buffer));
    net.flow(a, b, Bytes::mb(100), Span::ZERO);
    net.pauses(2, b, Span::us(1_000), Time::ZERO + Span::us(3_000));
    late(&net) - 2_000.0
}

#[test]
fn after_a_pause_a_buffer_of_one_product_goes_on_at_line_rate_where_pfc_waits_for_a_round_trip() {
    let bifrost = late_after_a_pause(BIFROST, LEAST);
    assert!(bifrost < 10.0, "{bifrost} us late");
    let pfc = late_after_a_pause(PFC_AUTO, LEAST);
    assert!(pfc > 700.0, "{pfc} us late");
    // Two products and a frame more than headroom has: XON is a round trip of data.
    let pfc = late_after_a_pause(PFC_AUTO, 2 * DELTA + 4 * MTU);
    assert!(pfc < 10.0, "{pfc} us late");
}

/// A flow of 60 MB over 80 km at 100 Gbit/s into a drain of `gbps`: its time over its ideal one.
fn slowdown(flow_control: &str, buffer: u64, gbps: u64) -> f64 {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(80));
    let (a, s, b) = (net.host("a"), net.switch_with("s", &fixed(buffer)), net.host("b"));
    net.link(a, s, Rate::gbps(100), Length(80_000).delay(), flow_control);
    net.link(s, b, Rate::gbps(gbps), Span::us(1), PFC_AUTO);
    net.flow(a, b, Bytes::mb(60), Span::ZERO);
    let records = net.run();
    assert!(records.outcome.lossless.is_held());
    real(records.flows.column("slowdown"))[0]
}

#[test]
fn one_product_of_buffer_keeps_any_drain_busy_where_pfc_needs_two() {
    let delta = 10_000_000 + 2 * MTU + 64;
    let least = delta + 2 * 125_000 + 83 * MTU;
    for gbps in [20, 50, 80, 95] {
        let bifrost = slowdown(BIFROST, least, gbps);
        assert!(bifrost < 1.001, "{bifrost} at {gbps}G");
        let two = slowdown(PFC_AUTO, 2 * delta + 4 * MTU, gbps);
        assert!(two < 1.001, "{two} at {gbps}G");
        let one = slowdown(PFC_AUTO, least, gbps);
        assert!(one > 1.05, "{one} at {gbps}G");
    }
}

/// A flow of 60 MB over 80 km at 100 Gbit/s into a drain of half of it, with a buffer in cells that is large
/// enough for frames of any size: its completion in us, and the most that the buffer held.
fn drained_by_half(cell: u64, payload: u64) -> (f64, u64) {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(80));
    net.blueprint.mtu = Bytes(payload);
    let (a, s, b) = (net.host("a"), net.switch_with("s", &fixed(100_000_000)), net.host("b"));
    net.link(a, s, Rate::gbps(100), Length(80_000).delay(), BIFROST);
    net.link(s, b, Rate::gbps(50), Span::us(1), PFC_AUTO);
    net.cell(s, Bytes(cell));
    net.flow(a, b, Bytes::mb(60), Span::ZERO);
    let records = net.run();
    assert!(records.outcome.lossless.is_held());
    (real(records.flows.column("fct_us"))[0], counter(&records, "s", "a-s", "peak_bytes"))
}

proptest! {
    #![proptest_config(support::property(20))]

    /// The level counts what the packets held took on the wire, so that cells change no grant: the queue is
    /// as long as without them, within what arrives in a slot. A frame counts with its preamble and gap then,
    /// 20 bytes more.
    #[test]
    fn the_queue_is_as_long_in_cells_as_in_bytes(cell in 2u64..600, payload in prop::sample::select(vec![256u64, 1_000, 4_096])) {
        let (frame, wire) = (payload + 62, payload + 82);
        let held = frame.div_ceil(cell) * cell;
        let (bytes, cells) = (drained_by_half(1, payload), drained_by_half(cell, payload));
        prop_assert!((cells.0 / bytes.0 - 1.0).abs() < 1e-3, "{bytes:?} {cells:?}");
        let (in_bytes, in_cells) = (bytes.1 as f64 / frame as f64, cells.1 as f64 / held as f64);
        let slack = 125_000.0 / frame as f64;
        prop_assert!(in_cells <= in_bytes + slack, "{in_bytes} frames, {in_cells} in cells");
        prop_assert!(in_cells >= in_bytes * frame as f64 / wire as f64 - slack, "{in_bytes} frames, {in_cells} in cells");
    }
}

// ---- Theorem 1

/// A receiver half that is watched at each time slot's end.
struct Watched {
    receiver: bifrost::Receiver,
    /// L and L + F.
    seen: Arc<Mutex<Vec<(u64, u64)>>>,
}

impl FcReceiver for Watched {
    fn on_enqueue(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        self.receiver.on_enqueue(cx, q);
    }
    fn on_release(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        self.receiver.on_release(cx, q);
    }
    fn next_timeout(&self) -> Option<Time> {
        self.receiver.next_timeout()
    }
    fn on_timeout(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        self.receiver.on_timeout(cx, q);
        let both = q.queued + self.receiver.incoming();
        self.seen.lock().expect("nobody panics with it").push((q.queued.0, both.0));
    }
}

/// L and L + F at each time slot's end at which the receiver is awake, while `a` always has data for `b`.
fn watched(gbps: u64, pauses: &[(u64, u64)]) -> (Vec<(u64, u64)>, u64) {
    let (mut net, [a, _, t, b]) = haul(BIFROST, &fixed(42_000_000));
    net.blueprint.links[2].directions.iter_mut().for_each(|direction| direction.rate = Rate::gbps(gbps));
    net.port_buffer(2, t, &fixed(100_000_000));
    net.flow(a, b, Bytes::mb(1_000), Span::ZERO);
    for &(from, to) in pauses {
        net.pauses(2, b, Span::us(from), Time::ZERO + Span::us(to));
    }
    let net = net.limit(Span::ms(12)).until_limit();
    let account = net.blueprint.accounts().of(port(1, 1), Class::DATA).unwrap().expect("t is a switch");
    let (_, receiver) = bifrost::Params::default().build(&account.link).expect("it fits");
    let level = receiver.level().expect("it has one").0;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let control = Control::default();
    let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
    let half = Watched { receiver, seen: seen.clone() };
    fabric.set_receiver(port(1, 1), Class::DATA, AnyFcReceiver::Custom(Box::new(half)));
    let records = fabric.run();
    assert!(records.outcome.lossless.is_held());
    let seen = seen.lock().expect("nobody panics with it").clone();
    (seen, level)
}

#[test]
fn held_and_granted_bytes_stay_between_their_bounds_in_every_slot_with_a_frame_of_slack_a_grant() {
    let slack = (SLOTS + 1) * MTU;
    for (gbps, pauses) in [
        (200, &[][..]),
        (390, &[(2_000, 2_300)]),
        (400, &[(1_000, 2_000), (2_500, 2_510), (3_000, 5_500), (6_000, 6_033)]),
        (100, &[(1_500, 4_000)]),
    ] {
        let (seen, level) = watched(gbps, pauses);
        assert!(seen.len() > 300, "{} slots at {gbps}G", seen.len());
        for (held, both) in seen {
            assert!(both >= DELTA + FULL - slack, "{} below at {gbps}G", DELTA + FULL - both);
            assert!(both <= level + slack, "{} above at {gbps}G", both - level);
            assert!(held <= level + slack + MTU, "{} above at {gbps}G", held - level);
        }
    }
}

// ---- the level

/// `b` holds `t` up from 1 ms on; `b` sends to `a` meanwhile if asked, so that frames to `s` wait behind
/// data.
fn stalled(flow_control: &str, both_ways: bool) -> Records {
    let (mut net, [a, _, _, b]) = haul(flow_control, &fixed(60_000_000));
    net.flow(a, b, Bytes::mb(400), Span::ZERO);
    if both_ways {
        net.flow(b, a, Bytes::mb(400), Span::ZERO);
    }
    net.pauses(2, b, Span::ms(1), Time::NEVER);
    net.limit(Span::ms(9)).until_limit().run()
}

#[test]
fn a_stall_fills_the_queue_to_its_level_and_costs_a_frame_a_slot() {
    let level = DELTA + 2 * FULL;
    let bifrost = format!(r#"{{"bifrost": {{"level": "{level}B"}}}}"#);
    for both_ways in [false, true] {
        let records = stalled(&bifrost, both_ways);
        assert!(records.outcome.lossless.is_held());
        // The buffer would hold more; all that was granted has come.
        let peak = counter(&records, "t", "s-t", "peak_bytes");
        assert!(peak <= level + (SLOTS + 2) * MTU, "{} above the level", peak - level);
        assert!(peak >= level - FULL - (SLOTS + 1) * MTU, "{} below the level", level - peak);
        // One each time slot of 10 us from the pause on, and hardly any before.
        let frames = counter(&records, "t", "s-t", "pfc_tx");
        assert!((795..=850).contains(&frames), "{frames} frames");
    }
}

#[test]
fn pauses_that_are_late_behind_data_leave_no_gap_in_a_stall() {
    // Whatever is on its way at 1 ms has come by 3 ms. Ten times as long a stall holds no byte more.
    let peak = |end| {
        let (mut net, [a, _, _, b]) = haul(BIFROST, &fixed(60_000_000));
        net.flow(a, b, Bytes::mb(400), Span::ZERO);
        net.flow(b, a, Bytes::mb(900), Span::ZERO);
        net.pauses(2, b, Span::ms(1), Time::NEVER);
        counter(&net.limit(Span::ms(end)).until_limit().run(), "t", "s-t", "peak_bytes")
    };
    assert_eq!(peak(3), peak(16));
}

#[test]
fn an_idle_link_has_no_slots_and_a_measuring_one_ticks_from_the_start() {
    let timers = |flow_control: &str| {
        let (mut net, [a, _, _, b]) = haul(flow_control, &fixed(60_000_000));
        net.flow(a, b, Bytes(1_000), Span::ms(5));
        let records = net.limit(Span::ms(10)).until_limit().run();
        let named = records.outcome.events.iter().find(|(name, _)| *name == "flow-control timer");
        named.map_or(0, |(_, count)| *count)
    };
    assert_eq!(timers(BIFROST), 0);
    // Both ends, each 10 us of 10 ms; the last time slot ends when the run does.
    assert_eq!(timers(r#"{"bifrost": {"f-mode": "measured"}}"#), 2 * 999);
}

// ---- directions

#[test]
#[ignore = "long: make test-long"]
fn nothing_is_dropped_where_the_reverse_path_is_slower_and_loaded() {
    for gbps in [100, 40, 10] {
        let (mut net, [a, _, t, b]) = haul(BIFROST, r#"{"static": {"size": "auto"}}"#);
        net.blueprint.links[1].directions[1].rate = Rate::gbps(gbps);
        net.port_buffer(1, t, r#"{"static": {"size": "auto"}}"#);
        net.flow(a, b, Bytes::mb(400), Span::ZERO);
        net.flow(b, a, UNBOUNDED, Span::ZERO);
        net.pauses(2, b, Span::ms(1), Time::NEVER);
        let records = net.limit(Span::ms(9)).until_limit().run();
        assert!(records.outcome.lossless.is_held(), "{gbps}G back");
        assert!(counter(&records, "s", "s-t", "pfc_rx") > 0);
    }
}

#[test]
fn a_forced_pause_that_ends_leaves_a_grant_as_it_is() {
    for (from, to) in [(3_000, 3_005), (3_000, 3_003), (3_001, 3_009)] {
        let (mut net, [a, _, t, b]) = haul(BIFROST, &fixed(LEAST));
        net.flow(a, b, Bytes::mb(400), Span::ZERO);
        net.pauses(2, b, Span::ms(1), Time::NEVER);
        net.pauses(1, t, Span::us(from), Time::ZERO + Span::us(to));
        let records = net.limit(Span::ms(9)).until_limit().run();
        assert!(records.outcome.lossless.is_held(), "{from} to {to} us");
    }
}

#[test]
fn the_drain_is_busy_after_any_pause() {
    for (from, length) in [
        (900, 3_000),
        (900, 801_000),
        (1_000, 17_000),
        (1_000, 399_000),
        (1_000, 2_000_000),
        (1_003, 405_300),
        (1_003, 1_207_777),
    ] {
        let (mut net, [a, _, _, b]) = haul(BIFROST, &fixed(LEAST));
        net.flow(a, b, Bytes::mb(150), Span::ZERO);
        net.pauses(2, b, Span::us(from), Time::ZERO + Span::us(from) + Span::ns(length));
        // A frame of the drain's own, 22 ns, may be on the wire when the pause comes.
        let idle = late(&net) - length as f64 / 1e3;
        assert!(idle < 0.1, "{idle} us after {length} ns");
    }
}

#[test]
fn each_direction_has_a_flow_control_of_its_own() {
    let pfc = r#"{"pfc": {"xoff": "1MB"}}"#;
    for (there, back) in [(BIFROST, pfc), (pfc, BIFROST), (BIFROST, r#"{"bifrost": {"slot": "20us"}}"#)] {
        let mut net = Net::new(Format::Ethernet).limit(Span::ms(60));
        let (a, s) = (net.host("a"), net.switch_with("s", r#"{"static": {"size": "auto"}}"#));
        let (t, b) = (net.switch_with("t", r#"{"static": {"size": "auto"}}"#), net.host("b"));
        let slow = Rate::gbps(100);
        net.link(a, s, slow, Span::us(1), pfc);
        let long = net.link(s, t, G400, Length(80_000).delay(), there);
        net.link(t, b, slow, Span::us(1), pfc);
        net.ingress_control(long, s, back);
        // Each end's host is fed by two, so that its queue fills.
        for (i, (from, to, at)) in [(a, b, s), (b, a, t)].into_iter().enumerate() {
            let other = net.host(&format!("c{i}"));
            net.link(other, at, slow, Span::us(1), pfc);
            net.flow(from, to, Bytes::mb(40), Span::ZERO);
            net.flow(other, to, Bytes::mb(40), Span::ZERO);
        }
        let records = net.run();
        assert!(records.outcome.lossless.is_held());
        assert!(finished(&records).into_iter().all(|done| done));
        for (node, end) in [("t", 1), ("s", 0)] {
            let account =
                net.blueprint.accounts().of(port(long, end), Class::DATA).unwrap().expect("a switch");
            let peak = counter(&records, node, "s-t", "peak_bytes");
            assert!(peak > FULL && peak <= account.own.unwrap().0, "{peak} at {node}, {there} and {back}");
            assert!(counter(&records, node, "s-t", "pfc_tx") > 0);
        }
    }
}

// ---- faults

#[test]
fn a_link_that_comes_back_loses_only_what_was_on_it() {
    let (mut net, [a, _, _, b]) = haul(BIFROST, &fixed(42_000_000));
    net = net.reliability(r#""go-back-n""#);
    net.blueprint.links[1].down = vec![(Time::ZERO + Span::ms(2), Time::ZERO + Span::ms(3))];
    net.flow(a, b, Bytes::mb(200), Span::ZERO);
    net.pauses(2, b, Span::us(1_500), Time::ZERO + Span::us(1_900));
    let records = net.run();
    assert_eq!((drops_by(&records, "buffer"), finished(&records)[0]), (0, true));
    assert!(drops_by(&records, "link_down") > 0);
}

// ---- random traffic

/// A link: its rate in Gbit/s, its delays there and back and its jitter in ns.
type Cable = (u64, u64, u64, u64);
/// A flow of one of the senders: which, how large, when in ns; and whether it runs backwards.
type Draw = (usize, u64, u64, bool);

/// Senders - long chain - receiver.
#[derive(Clone, Debug)]
struct Plan {
    wire: Format,
    mtu: u64,
    seed: u64,
    senders: Vec<Cable>,
    chain: Vec<(Cable, bool, bool)>,
    drain: Cable,
    slot: u64,
    react: u64,
    period: u64,
    half: bool,
    pipeline: u64,
    /// Of the switches' buffers.
    cell: u64,
    /// Payload of every third flow.
    small: u64,
    flows: Vec<Draw>,
}

impl Plan {
    fn bifrost(&self) -> String {
        format!(
            r#"{{"bifrost": {{"slot": "{}ns", "react": "{}ns", "leak-period": {}, "half-mtu": {}}}}}"#,
            self.slot, self.react, self.period, self.half
        )
    }

    fn pfc(&self) -> String {
        format!(r#"{{"pfc": {{"xoff": "20KB", "react": "{}ns"}}}}"#, self.react)
    }
}

fn cable(gbps: Vec<u64>, delays: std::ops::Range<u64>) -> impl Strategy<Value = Cable> {
    let jitter = prop_oneof![1 => Just(0), 1 => 0u64..2_000];
    (prop::sample::select(gbps), delays.clone(), delays, jitter)
}

fn plans() -> impl Strategy<Value = Plan> {
    let fast = || vec![10, 25, 30, 40, 100, 400];
    let run = (
        prop::sample::select(vec![Format::Ethernet, Format::HpccNs3]),
        prop::sample::select(vec![256u64, 1_000, 1_500, 4_096]),
        any::<u64>(),
        prop_oneof![Just(0u64), 0..1_000u64],
    );
    let long = (cable(fast(), 12_000..40_000), any::<bool>(), any::<bool>());
    let network = (
        prop::collection::vec(cable(fast(), 1..6_000), 2..5),
        prop::collection::vec(long, 1..3),
        cable(vec![1, 10, 25, 30], 1..6_000),
    );
    let bifrost = (1_001u64..12_000, prop_oneof![Just(0u64), 0..1_000u64], 1u64..4, any::<bool>());
    let packing = (prop::sample::select(vec![1u64, 1, 64, 96, 254, 256, 420]), 1u64..256);
    let flow = (0usize..4, 1u64..400_000, 0u64..150_000, prop::bool::weighted(0.3));
    let flows = prop::collection::vec(flow, 4..24);
    (run, network, bifrost, flows, packing).prop_map(|(run, network, bifrost, mut flows, packing)| {
        flows.sort_by_key(|&(_, _, start, _)| start);
        Plan {
            wire: run.0,
            mtu: run.1,
            seed: run.2,
            pipeline: run.3,
            senders: network.0,
            chain: network.1,
            drain: network.2,
            slot: bifrost.0,
            react: bifrost.1,
            period: bifrost.2,
            half: bifrost.3,
            cell: packing.0,
            small: packing.1,
            flows,
        }
    })
}

fn lay(net: &mut Net, from: NodeId, to: NodeId, cable: Cable, flow_control: &str) -> usize {
    let (gbps, there, back, jitter) = cable;
    let link = net.link(from, to, Rate::gbps(gbps), Span::us(1), flow_control);
    net.delays(link, Span::ns(there), Span::ns(back));
    for direction in &mut net.blueprint.links[link].directions {
        direction.jitter = Span::ns(jitter);
    }
    link
}

fn run(plan: &Plan) -> Records {
    let mut net = Net::new(plan.wire).limit(Span::ms(100));
    (net.blueprint.mtu, net.blueprint.seed) = (Bytes(plan.mtu), plan.seed);
    let (bifrost, pfc) = (plan.bifrost(), plan.pfc());
    let of = |is_bifrost: bool| if is_bifrost { &bifrost } else { &pfc };
    let mut at = net.switch("s0");
    let mut switches = vec![at];
    let senders: Vec<NodeId> = (0..plan.senders.len()).map(|i| net.host(&format!("h{i}"))).collect();
    for (&host, &cable) in senders.iter().zip(&plan.senders) {
        lay(&mut net, host, at, cable, &pfc);
    }
    for (i, &(cable, there, back)) in plan.chain.iter().enumerate() {
        let next = net.switch(&format!("s{}", i + 1));
        let link = lay(&mut net, at, next, cable, of(there));
        net.ingress_control(link, at, of(back));
        at = next;
        switches.push(next);
    }
    for switch in switches {
        net.pipeline(switch, Span::ns(plan.pipeline));
        net.cell(switch, Bytes(plan.cell));
    }
    let receiver = net.host("receiver");
    lay(&mut net, at, receiver, plan.drain, &pfc);
    let small = net.with_payload(0, Bytes(plan.small));
    for (i, &(sender, size, start, back)) in plan.flows.iter().enumerate() {
        let sender = senders[sender % senders.len()];
        let (from, to) = if back { (receiver, sender) } else { (sender, receiver) };
        let is_small = i % 3 == 2;
        let size = if is_small { size.min(500 * plan.small) } else { size };
        let settings = is_small.then_some(small);
        net.flow(from, to, Bytes(size), Span::ns(start)).settings = settings;
    }
    net.run()
}

proptest! {
    #![proptest_config(support::property(300))]

    #[test]
    fn nothing_is_dropped_with_the_least_buffer(plan in plans()) {
        let records = run(&plan);
        prop_assert!(records.outcome.lossless.is_held());
        prop_assert_eq!(drops(&records), 0);
        prop_assert!(finished(&records).into_iter().all(|finished| finished), "a flow is stuck");
    }
}

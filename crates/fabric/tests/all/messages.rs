//! Messages between the machines of a queue pair, and ports that meter them, without any mechanism of the
//! registry.
//!
//! The sender asks (`ASK`), the receiver grants a packet each 701 ns (`GRANT`, metered) until `STOP` arrives,
//! and each grant that arrives lets one packet start. A port that is metered lets one grant through each 3
//! us, and two wait there.

use crate::support::{Net, PFC, assert_invariants, counter, drops, drops_by, everything, fct_ps, finished};
use floodway_fabric::{Control, Fabric, Records, ThreadPlan};
use floodway_mechanisms::is_discipline;
use floodway_mechanisms::registry::custom::Custom;
use floodway_mechanisms::registry::{CongestionPointParams, NotificationParams, ReactionParams};
use floodway_mechanisms::slots::{
    Allowance, Cnp, CongestionPoint, ControlMessage, Cx, Detection, Discipline, FastPath, Meter, Need,
    Notification, NotificationPoint, Observes, PacketView, ParamError, PortInfo, QpInfo, Queueing, Reaction,
    ReactionPoint,
};
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use serde::Serialize;

const ASK: u8 = 1;
const STOP: u8 = 2;
const GRANT: u8 = 3;
/// Between two grants.
const EVERY: Span = Span::ns(701);
/// What a meter lets through: a grant of 84 bytes each 3 us.
const METER: Meter = Meter { rate: Rate::mbps(224), burst: Bytes(84), packets: 2 };
/// The same, in picoseconds.
const METERED: u64 = 3_000_000;

fn message(now: Time, kind: u8, number: u64) -> ControlMessage {
    ControlMessage { kind, number, time: now, padding: 0, metered: kind == GRANT }
}

#[derive(Clone, Debug, Serialize)]
struct Asking {}

#[derive(Debug, Default)]
struct Asker {
    says: Option<u8>,
    grants: u64,
    /// The number of the next grant; they keep their order, and some are missing.
    next: u64,
}

impl Reaction for Asking {
    type Rp = Asker;

    fn build(&self, _qp: &QpInfo) -> Result<Asker, ParamError> {
        Ok(Asker::default())
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Messages]
    }
}

impl ReactionPoint for Asker {
    fn has_messages(&self) -> bool {
        true
    }

    fn on_demand(&mut self, _now: Time, has: bool) {
        self.says = Some(if has { ASK } else { STOP });
    }

    fn on_message(&mut self, now: Time, m: &ControlMessage) {
        assert!(m.kind == GRANT && m.number >= self.next && m.time < now, "{m:?} at {now:?}");
        self.next = m.number + 1;
        self.grants += 1;
    }

    fn next_message(&mut self, now: Time) -> Option<ControlMessage> {
        self.says.take().map(|kind| message(now, kind, 0))
    }

    fn with_data(&mut self, _now: Time) -> Option<ControlMessage> {
        self.grants -= 1;
        None
    }

    fn is_open(&self) -> bool {
        self.grants > 0
    }

    fn allowance(&self) -> Allowance {
        Allowance::FREE
    }
}

#[derive(Clone, Debug, Serialize)]
struct Granting {}

#[derive(Debug, Default)]
struct Granter {
    next: Option<Time>,
    number: u64,
}

impl Notification for Granting {
    type Np = Granter;

    fn build(&self, _qp: &QpInfo) -> Result<Granter, ParamError> {
        Ok(Granter::default())
    }
}

impl NotificationPoint for Granter {
    fn observes(&self) -> Observes {
        Observes::Nothing
    }

    fn on_data(&mut self, _cx: &mut Cx<'_, Cnp>, _p: &PacketView) {}

    fn on_message(&mut self, cx: &mut Cx<'_, ControlMessage>, m: &ControlMessage) {
        match m.kind {
            ASK => self.on_timeout(cx),
            STOP => self.next = None,
            kind => panic!("a receiver gets no {kind}"),
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.next
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, ControlMessage>) {
        cx.push(message(cx.now, GRANT, self.number));
        self.number += 1;
        self.next = Some(cx.now + EVERY);
    }
}

#[derive(Clone, Debug, Serialize)]
struct Metering {}

#[derive(Debug)]
struct Metered;

impl Detection for Metering {
    type Cp = Metered;

    fn build(&self, _port: &PortInfo) -> Result<Metered, ParamError> {
        Ok(Metered)
    }

    fn limits_messages(&self) -> bool {
        true
    }
}

impl CongestionPoint for Metered {
    is_discipline!();

    fn fast_path(&self) -> Option<FastPath> {
        Some(FastPath::up_to(Bytes::MAX))
    }
}

impl Discipline for Metered {
    fn queueing(&self) -> Queueing {
        Queueing::Metered(METER)
    }
}

/// A network whose flows ask and are granted.
fn net() -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(2));
    let settings = &mut net.blueprint.settings[0];
    settings.rate_control =
        vec![ReactionParams::Custom(Custom { name: "asking", params: Box::new(Asking {}) })];
    settings.notification =
        NotificationParams::Custom(Custom { name: "granting", params: Box::new(Granting {}) });
    net
}

/// Puts a meter where `node` sends on `link`.
fn meter(net: &mut Net, link: usize, node: NodeId) {
    let ends = &mut net.blueprint.links[link].ends;
    let end = ends.iter_mut().find(|end| end.node == node).expect("the node is on the link");
    end.congestion_points
        .push(CongestionPointParams::Custom(Custom { name: "metering", params: Box::new(Metering {}) }));
}

/// Hosts `a`, `b` and `r` at a switch `s`, by links of 100 Gbit/s and 1 us.
fn star() -> (Net, [NodeId; 4]) {
    let mut net = net();
    let nodes = [net.switch("s"), net.host("a"), net.host("b"), net.host("r")];
    for host in &nodes[1..] {
        net.link(*host, nodes[0], Rate::gbps(100), Span::us(1), PFC);
    }
    (net, nodes)
}

/// Grants that come every `EVERY` from 0 on to a meter: how many of `sent` it drops.
fn dropped(sent: u64) -> u64 {
    let (mut waiting, mut opens, mut dropped) = (0, 0, 0);
    for now in (0..sent).map(|n| n * EVERY.0) {
        while waiting > 0 && opens <= now {
            (waiting, opens) = (waiting - 1, opens + METERED);
        }
        match waiting {
            0 if opens <= now => opens = now + METERED,
            0 | 1 => waiting += 1,
            _ => dropped += 1,
        }
    }
    dropped
}

/// One hop of a message, which takes 84 bytes of the link, and of a packet with and without the first one's
/// RETH.
const HOP: u64 = 1_000_000 + 84 * 80;
const DATA_HOP: u64 = 1_000_000 + 1_082 * 80;

#[test]
fn messages_alone_take_a_round_trip_before_the_first_packet() {
    let (mut net, [_, a, _, r]) = star();
    net.flow(a, r, Bytes(1_000), Span::ZERO);
    let records = net.run();
    // ASK and GRANT over two links each, then the packet with its RETH.
    assert_eq!(fct_ps(&records), [Some(4 * HOP + 2 * (1_000_000 + 1_098 * 80))]);
    assert_eq!(drops(&records), 0);
}

#[test]
fn a_port_without_a_meter_lets_all_messages_through() {
    let (mut net, [_, a, _, r]) = star();
    net.flow(a, r, Bytes(10_000), Span::ZERO);
    let records = net.run();
    assert_eq!(fct_ps(&records), [Some(4 * HOP + 9 * EVERY.0 + 2 * DATA_HOP)]);
    assert_eq!(drops(&records), 0);
}

#[test]
fn a_metered_port_paces_the_packets_that_its_messages_let_go_and_counts_what_it_drops() {
    let (mut net, [s, a, _, r]) = star();
    meter(&mut net, 0, s);
    net.flow(a, r, Bytes(10_000), Span::ZERO);
    let records = net.run();
    assert_eq!(fct_ps(&records), [Some(4 * HOP + 9 * METERED + 2 * DATA_HOP)]);
    // From the receiver's first grant to the end of grants: two hops, nine intervals of the meter, the last
    // packet's two hops, and STOP, which leaves right behind that packet: as long as it takes of a link.
    let grants_end = 2 * HOP + 9 * METERED + 2 * DATA_HOP + 84 * 80;
    let sent = grants_end / EVERY.0 + 1;
    assert_eq!((sent, dropped(sent)), (45, 32));
    assert_eq!((drops(&records), drops_by(&records, "metered")), (32, 32));
    // What r has sent has arrived at s; what s did not drop has left for a, two of them after the last
    // packet's.
    assert_eq!(counter(&records, "r", "r-s", "tx_packets"), 45);
    assert_eq!(counter(&records, "s", "a-s", "tx_packets"), 45 - 32);
    assert_eq!(counter(&records, "a", "a-s", "rx_packets"), 45 - 32);
    assert_eq!(counter(&records, "a", "a-s", "tx_packets"), 12, "ASK, ten packets, STOP");
    assert_eq!(counter(&records, "s", "a-s", "tx_bytes"), (45 - 32) * 64);
}

/// Two senders, whose grants leave the receiver by one metered port.
fn two_ends() -> Net {
    let (mut net, [s, a, b, r]) = star();
    meter(&mut net, 2, r);
    meter(&mut net, 0, s);
    net.flow(a, r, Bytes(100_000), Span::ZERO);
    net.flow(b, r, Bytes(100_000), Span::ns(350));
    net.flow(r, b, Bytes(50_000), Span::us(20));
    net
}

#[test]
fn messages_of_two_queue_pairs_share_a_hosts_meter() {
    let records = two_ends().run();
    assert_eq!(finished(&records), [true; 3]);
    // 200 packets, a grant each; the first one of a silence waits for no other.
    let last = fct_ps(&records)[..2].iter().flatten().max().copied().unwrap_or_default();
    assert!((199 * METERED..=210 * METERED).contains(&last), "{last}");
    // Nothing else is dropped, and each message that leaves r arrives somewhere.
    assert_eq!(drops(&records), drops_by(&records, "metered"));
    assert!(drops(&records) > 300);
}

#[test]
fn metered_messages_are_the_same_on_any_threads() {
    let net = two_ends();
    let alone = everything(&net.run());
    for owners in [[0, 1, 0, 1], [0, 1, 2, 3], [1, 0, 0, 0]] {
        let control = Control::default();
        let fabric = Fabric::build(&net.blueprint, &control).unwrap_or_else(|error| panic!("{error}"));
        let records: Records = fabric.on(&ThreadPlan::with_owners(&net.blueprint, &owners, true)).run();
        assert_invariants(&records);
        assert!(alone == everything(&records), "{owners:?}");
    }
}

#[test]
fn a_receiver_of_two_ports_answers_by_the_one_that_it_is_asked_by() {
    // The first of two links to r is never up, so that paths are not fixed.
    let mut net = net();
    let (s, a, r) = (net.switch("s"), net.host("a"), net.host("r"));
    let [_, first, _] =
        [(a, s), (r, s), (r, s)].map(|(x, y)| net.link(x, y, Rate::gbps(100), Span::us(1), PFC));
    net.blueprint.links[first].down = vec![(Time::ZERO, Time::ZERO + Span::ms(2))];
    net.flow(a, r, Bytes(10_000), Span::us(1));
    let records = net.run();
    assert_eq!(fct_ps(&records), [Some(4 * HOP + 9 * EVERY.0 + 2 * DATA_HOP)]);
    assert_eq!(drops(&records), 0);
}

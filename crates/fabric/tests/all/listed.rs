//! Turns by the list of flows, and the one timer of a NIC that takes them so.

use crate::support::{Net, PFC, fct_ps, params, whole};
use floodway_fabric::blueprint::{BaseRtt, Turns};
use floodway_mechanisms::registry::ReliabilityParams;
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;

const FORMAT: Format = Format::HpccNs3;
const G100: Rate = Rate::gbps(100);
/// Picoseconds of a full packet on a link, and behind one at 10 Gbit/s.
const PACKET: u64 = 1048 * 80;
const GAP: u64 = 1048 * 800;
const LIMIT: Span = Span::us(4_172);
/// From the start of a lone packet to its end at the receiver.
const WAY: u64 = 2 * (PACKET + 1_000_000);

/// ```text
///  a ─100G, 1 us─ s ─100G, 1 us─ b
/// ```
fn line(turns: Turns) -> (Net, NodeId, NodeId) {
    let mut net = Net::new(FORMAT);
    net.blueprint.semantics.turns = turns;
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, G100, Span::us(1), PFC);
    net.link(s, b, G100, Span::us(1), PFC);
    (net, a, b)
}

fn times(net: &Net) -> Vec<u64> {
    fct_ps(&net.run()).into_iter().map(|fct| fct.expect("all arrive")).collect()
}

/// The flow of ten packets is listed last and starts first; the two others start while its first packet is
/// sent.
#[test]
fn turns_go_by_the_list_and_not_by_the_starts() {
    let times = |turns| {
        let (mut net, a, b) = line(turns);
        net.flow(a, b, Bytes(10_000), Span::ns(0)).place = 2;
        net.flow(a, b, Bytes(1_000), Span::ns(10)).place = 1;
        net.flow(a, b, Bytes(1_000), Span::ns(20)).place = 0;
        times(&net)
    };
    let all = 11 * PACKET + WAY;
    assert_eq!(times(Turns::Ring), [all, PACKET + WAY - 10_000, 2 * PACKET + WAY - 20_000]);
    assert_eq!(times(Turns::Listed), [all, 2 * PACKET + WAY - 10_000, PACKET + WAY - 20_000]);
}

#[test]
fn of_flows_that_start_at_one_instant_the_first_of_the_list_sends_first() {
    let (mut net, a, b) = line(Turns::Listed);
    for place in [2, 1, 0] {
        net.flow(a, b, Bytes(1_000), Span::ns(5)).place = place;
    }
    assert_eq!(times(&net), [2 * PACKET + WAY, PACKET + WAY, WAY]);
}

/// A flow at 10 Gbit/s, of three packets, and another one of its host that starts at 5 us: only then does the
/// NIC look, and has the later one take its turn first. The timer is set for the third packet, since nothing
/// is to start any more.
#[test]
fn while_a_listed_flow_of_the_host_is_still_to_start_no_timer_wakes_its_nic() {
    let times = |turns| {
        let (net, a, b) = line(turns);
        let mut net = net.rate_control(&[r#"{"line-rate": {"rate": "10G"}}"#]);
        net.flow(a, b, Bytes(3_000), Span::ns(0)).place = 0;
        net.flow(a, b, Bytes(1_000), Span::us(5)).place = 1;
        times(&net)
    };
    assert_eq!(times(Turns::Ring), [2 * GAP + WAY, WAY]);
    assert_eq!(times(Turns::Listed), [5_000_000 + PACKET + GAP + WAY, WAY]);
}

/// A flow at 10 Gbit/s, of two packets, beside one that has sent what its window holds: the pacing time of
/// that one is past, and so nothing wakes the NIC before its ACK.
#[test]
fn while_a_pacing_time_is_past_no_timer_wakes_the_nic() {
    let times = |turns| {
        let (net, a, b) = line(turns);
        let mut net = net.rate_control(&[r#"{"line-rate": {"rate": "10G"}}"#]);
        let waits = net.workload("waits");
        let mut settings = net.blueprint.settings[0].clone();
        settings.reliability = params::<ReliabilityParams>(r#""go-back-n""#);
        settings.rate_control = vec![params(r#"{"static-window": {"size": "1000B"}}"#)];
        net.blueprint.settings.push(settings);
        net.blueprint.workloads[waits].settings = 1;
        net.flow(a, b, Bytes(2_000), Span::ns(0));
        net.flow_of(waits, a, b, Bytes(2_000), Span::ns(0));
        times(&net)[0]
    };
    let ack = 2 * (FORMAT.ack().wire.0 * 80 + 1_000_000);
    assert_eq!(times(Turns::Ring), GAP + WAY);
    assert_eq!(times(Turns::Listed), PACKET + WAY + ack + WAY);
}

/// A packet that is always lost is retransmitted each base round trip. Counted one way, that is twice the
/// propagation, and the packet once at each link; the exact one has the way back of the ACK in it.
#[test]
fn a_base_round_trip_counted_one_way_leaves_out_the_ack() {
    let repeats = |base_rtt| {
        let (net, a, b) = line(Turns::Ring);
        let irn = r#"{"irn": {"form": "swing", "window": 1, "rto-low": "auto", "rto-high": "auto"}}"#;
        let mut net = net.reliability(irn).limit(LIMIT);
        net.blueprint.semantics.base_rtt = base_rtt;
        net.blueprint.links[0].directions[0].errors.data = 1.0;
        net.flow(a, b, Bytes(1_000), Span::ns(0));
        whole(net.run().flows.column("retransmitted_bytes"))[0] / 1_000
    };
    let one_way = 2 * PACKET + 4_000_000;
    let exact = one_way + 2 * FORMAT.ack().wire.0 * 80;
    assert_eq!(repeats(BaseRtt::OneWay), LIMIT.0 / one_way);
    assert_eq!(repeats(BaseRtt::Exact), LIMIT.0 / exact);
    assert_ne!(LIMIT.0 / one_way, LIMIT.0 / exact);
}

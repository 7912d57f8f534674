//! Switches that account for their egress queues, too, and what recovers from their drops.

use crate::support;
use crate::support::{Net, drops, drops_by, fct_ps, finished};
use floodway_fabric::blueprint::Turns;
use floodway_units::{Bytes, Rate, Span};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
const BUFFER: &str =
    r#"{"shared": {"pool": "1MB", "crossing": "pool", "egress-pool": "100KB", "egress-reserve": "1049B"}}"#;
/// Thresholds that nothing reaches.
const PFC: &str = r#"{"pfc": {"xoff": {"alpha": 8.0}, "headroom": "30KB"}}"#;
const IRN: &str =
    r#"{"irn": {"form": "conweave", "window": "52KB", "rto-low": "100us", "rto-high": "320us"}}"#;

/// Four hosts send 400 packets each to a fifth.
fn incast(reliability: &str, flow_control: &str) -> Net {
    let mut net = Net::new(Format::HpccNs3).reliability(reliability);
    let switch = net.switch_with("s", BUFFER);
    let sink = net.host("sink");
    net.link(switch, sink, G100, Span::us(1), flow_control);
    for name in ["a", "b", "c", "d"] {
        let host = net.host(name);
        net.link(host, switch, G100, Span::us(1), flow_control);
        net.flow(host, sink, Bytes(400_000), Span::ZERO);
    }
    net
}

#[test]
fn a_full_egress_drops_of_lossless_classes_which_is_a_violation() {
    let records = incast(r#""none""#, PFC).run();
    let dropped = drops(&records);
    assert!(dropped > 0 && drops_by(&records, "egress") == dropped);
    let lossless = &records.outcome.lossless;
    assert_eq!(lossless.loss.as_ref().map(|loss| loss.packets), Some(dropped));
    // No port is short: it is the account of the egress queues that refuses packets.
    assert_eq!(lossless.short, None);
    assert!(lossless.unproven.iter().any(|reason| reason.why.contains("egress queues")), "{lossless:?}");
}

/// A queue may hold half of the pool beside its own 1049 B: 49 packets wait at most. Of four lines at once
/// three fourths have no room.
#[test]
fn a_queue_alone_takes_half_of_the_pool() {
    let records = incast(r#""none""#, r#""lossy""#).run();
    assert_eq!(1600 - drops(&records), 400 + 49);
}

#[test]
fn irn_sends_again_what_was_dropped_and_no_flow_is_lost() {
    let records = incast(IRN, r#""lossy""#).run();
    assert!(drops(&records) > 0);
    assert_eq!(finished(&records), [true; 4]);
    let again: u64 = support::whole(records.flows.column("retransmitted_bytes")).iter().sum();
    assert!(again >= 1000 * drops(&records), "{again} B for {} drops", drops(&records));
}

/// With turns by a list that keeps its places, three flows of a NIC end a packet apart, as by a ring.
#[test]
fn turns_by_a_standing_list_are_those_of_a_ring_where_nothing_waits() {
    let run = |turns| {
        let mut net = Net::new(Format::HpccNs3);
        net.blueprint.semantics.turns = turns;
        let (a, b) = (net.host("a"), net.host("b"));
        net.link(a, b, G100, Span::us(1), PFC);
        for packets in [7, 3, 9, 3] {
            net.flow(a, b, Bytes::kb(packets), Span::ZERO);
        }
        fct_ps(&net.run())
    };
    assert_eq!(run(Turns::StandingList), run(Turns::Ring));
}

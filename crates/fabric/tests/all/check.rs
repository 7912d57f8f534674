//! What building refuses is refused without it, with the same message.

use crate::support::Net;
use floodway_fabric::routing::Routes;
use floodway_fabric::{Control, Fabric};
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;

const PFC: &str = r#""pfc""#;
const FAULTY_PFC: &str = r#"{"pfc": {"xoff": {"alpha": -1.0}}}"#;

/// Why a network is refused: by its check and by its building, which agree.
fn refused(net: &Net) -> Option<String> {
    let control = Control::default();
    let built = Fabric::build(&net.blueprint, &control).map(drop);
    assert_eq!(net.blueprint.check(&Routes::new(&net.blueprint)), built);
    built.err().map(|error| error.to_string())
}

/// Two hosts at a switch, after a change.
fn changed(change: impl Fn(&mut Net)) -> Option<String> {
    let mut net = Net::new(Format::HpccNs3);
    let (a, b, s) = (net.host("a"), net.host("b"), net.switch("s"));
    for host in [a, b] {
        net.link(host, s, Rate::gbps(100), Span::us(1), PFC);
    }
    net.flow(a, b, Bytes(1000), Span::ZERO);
    change(&mut net);
    refused(&net)
}

#[test]
fn a_check_refuses_what_building_refuses() {
    let [a, b, s] = [0, 1, 2].map(NodeId);
    let is = |change: &dyn Fn(&mut Net), why: &str| assert_eq!(changed(change).as_deref(), Some(why));
    assert_eq!(changed(|_| {}), None);
    assert_eq!(changed(|net| net.congestion_point(0, s, r#"{"mercury": {"base-rtt": "largest"}}"#)), None);
    is(&|net| net.ingress_control(1, s, FAULTY_PFC), "s (b-s): alpha = -1 is not a number of at least 0");
    // Toward hosts, too, and the first node's fault first.
    is(
        &|net| {
            net.ingress_control(1, b, FAULTY_PFC);
            net.ingress_control(0, a, FAULTY_PFC);
        },
        "a (a-s): alpha = -1 is not a number of at least 0",
    );
    is(
        &|net| net.congestion_point(0, s, r#"{"red": {"kmin": "9KB", "kmax": "1KB"}}"#),
        "s (a-s): kmin = 9KB is above kmax = 1KB at a port of 100G",
    );
    is(&|net| net.blueprint.links[0].directions[0].rate = Rate(0), "link a-s: a link needs a rate above 0");
    let refused = changed(|net| net.buffer(s, r#"{"shared": {"total": "1KB"}}"#));
    assert!(
        refused.as_deref().is_some_and(|why| why.starts_with("switch s: reserves, headroom")),
        "{refused:?}"
    );
}

/// A switch with so many hosts.
fn star(hosts: usize) -> Net {
    let mut net = Net::new(Format::Ethernet);
    let switch = net.switch("s");
    let hosts: Vec<NodeId> = (0..hosts).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts {
        net.link(host, switch, Rate::gbps(100), Span::us(1), PFC);
    }
    net.flow(hosts[0], hosts[hosts.len() - 1], Bytes(1000), Span::ZERO);
    net
}

#[test]
fn a_node_has_no_more_ports_than_packets_can_name() {
    let most = star(65_535);
    assert_eq!(most.blueprint.check(&Routes::new(&most.blueprint)), Ok(()));
    let why = "switch s: it has 65536 ports, but the maximum of a node is 65535";
    assert_eq!(refused(&star(65_536)).as_deref(), Some(why));
}

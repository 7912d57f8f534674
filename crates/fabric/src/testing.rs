//! Small blueprints for tests of parts of the fabric.

use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;

use crate::network::blueprint::{
    Blueprint, DirectionSpec, End, EndSpec, ErrorRates, LinkSpec, NodeSpec, RecordSpec, RelayPorts, Role,
    Semantics, SwitchSpec,
};

fn read<T: serde::de::DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).expect("it is a choice")
}

/// A link of 1 us.
pub(crate) fn link(name: &str, ends: [u32; 2], gbps: u64) -> LinkSpec {
    let end = |node| EndSpec {
        node: NodeId(node),
        buffer: None,
        scheduler: read(r#""strict""#),
        congestion_points: Vec::new(),
        pauses: Vec::new(),
    };
    let direction = DirectionSpec {
        rate: Rate::gbps(gbps),
        delay: Span::us(1),
        switchovers: Vec::new(),
        jitter: Span::ZERO,
        flow_control: Vec::new(),
        errors: ErrorRates::default(),
    };
    LinkSpec {
        name: name.into(),
        tags: Vec::new(),
        ends: ends.map(end),
        directions: [direction.clone(), direction],
        down: Vec::new(),
        detection: Span::ZERO,
        convergence: Span::ZERO,
    }
}

fn node(name: &str, role: Role) -> NodeSpec {
    NodeSpec { name: name.into(), tags: Vec::new(), role, rank: 0 }
}

pub(crate) fn host(name: &str) -> NodeSpec {
    node(name, Role::Host { address: 0 })
}

/// A switch that takes 100 ns.
pub(crate) fn switch(name: &str) -> NodeSpec {
    switch_or_relay(name, None)
}

pub(crate) fn relay(name: &str, ports: RelayPorts) -> NodeSpec {
    switch_or_relay(name, Some(ports))
}

fn switch_or_relay(name: &str, relay: Option<RelayPorts>) -> NodeSpec {
    let spec = SwitchSpec {
        buffer: read(r#"{"static": {"size": "1MB"}}"#),
        routing: read(r#""ecmp""#),
        hash_seed: None,
        pipeline: Span::ns(100),
        relay,
    };
    node(name, Role::Switch(spec))
}

/// A network without traffic; nodes have the ranks and hosts the addresses of their places.
pub(crate) fn blueprint(mut nodes: Vec<NodeSpec>, links: Vec<LinkSpec>) -> Blueprint {
    for (rank, node) in (0..).zip(&mut nodes) {
        node.rank = rank;
        if let Role::Host { address } = &mut node.role {
            *address = rank;
        }
    }
    Blueprint {
        seed: 1,
        wire: Format::Ethernet,
        mtu: Bytes(1000),
        semantics: Semantics::default(),
        nodes,
        links,
        settings: Vec::new(),
        workloads: Vec::new(),
        end: End {
            limit: Time::ZERO + Span::ms(1),
            at_limit: false,
            acknowledged: false,
            stop_on_deadlock: false,
        },
        records: RecordSpec::default(),
    }
}

//! Small blueprints, for tests.

use crate::network::blueprint::{
    Arrivals, Blueprint, DirectionSpec, End, EndSpec, ErrorRates, FlowSettings, FlowSpec, LinkSpec,
    NicPolicy, NodeSpec, RecordSpec, RelayPorts, Role, Semantics, Sharing, SwitchSpec, WorkloadSpec,
};
use floodway_mechanisms::registry::NotificationParams;
use floodway_units::{Bytes, Class, NodeId, Rate, Span, Time};
use floodway_wire::Format;

/// Parameters from the JSON that a scenario's value amounts to.
///
/// # Panics
/// It is none of their values.
pub fn params<P: serde::de::DeserializeOwned>(json: &str) -> P {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// A link of 1 us.
pub fn link(name: &str, ends: [u32; 2], gbps: u64) -> LinkSpec {
    let end = |node| EndSpec {
        node: NodeId(node),
        buffer: None,
        receive: None,
        failover: None,
        scheduler: params(r#""strict""#),
        congestion_points: Vec::new(),
        output_queue: None,
        pauses: Vec::new(),
    };
    let direction = DirectionSpec {
        rate: Rate::gbps(gbps),
        delay: Span::us(1),
        switchovers: Vec::new(),
        jitter: Span::ZERO,
        flow_control: Vec::new(),
        errors: ErrorRates::default(),
        link_retry: params(r#""none""#),
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

/// A host.
pub fn host(name: &str) -> NodeSpec {
    node(name, Role::Host { address: 0, nics: NicPolicy::default() })
}

/// A switch that takes 100 ns.
pub fn switch(name: &str) -> NodeSpec {
    switch_or_relay(name, None)
}

/// A switch with this buffer, which takes no time.
pub fn switch_with(name: &str, buffer: &str) -> NodeSpec {
    let mut node = switch(name);
    if let Role::Switch(spec) = &mut node.role {
        (spec.buffer, spec.pipeline) = (params(buffer), Span::ZERO);
    }
    node
}

/// A relay of a link, which takes 100 ns.
pub fn relay(name: &str, ports: RelayPorts) -> NodeSpec {
    switch_or_relay(name, Some(ports))
}

fn switch_or_relay(name: &str, relay: Option<RelayPorts>) -> NodeSpec {
    let spec = SwitchSpec {
        buffer: params(r#"{"static": {"size": "1MB"}}"#),
        routing: params(r#""ecmp""#),
        hash_seed: None,
        pipeline: Span::ns(100),
        cell: Bytes(1),
        relay,
        bypass: Vec::new(),
    };
    node(name, Role::Switch(spec))
}

/// A network without traffic; nodes have the ranks and hosts the addresses of their places.
pub fn blueprint(mut nodes: Vec<NodeSpec>, links: Vec<LinkSpec>) -> Blueprint {
    for (rank, node) in (0..).zip(&mut nodes) {
        node.rank = rank;
        if let Role::Host { address, .. } = &mut node.role {
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
        scale_up: Vec::new(),
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

/// Flows of one data class with these reaction points, by go-back-N, each on a queue pair of its own.
pub fn settings(rate_control: &[&str]) -> FlowSettings {
    let rate_control = rate_control.iter().map(|layer| params(layer)).collect::<Vec<_>>();
    FlowSettings {
        class: Class::DATA,
        reliability: params(r#""go-back-n""#),
        notification: NotificationParams::asked_by(&rate_control),
        rate_control,
        qp: Sharing::PerFlow,
        payload: None,
    }
}

/// A list of flows, of which all are measured.
pub fn list(flows: Vec<FlowSpec>) -> WorkloadSpec {
    WorkloadSpec {
        name: "flows".into(),
        settings: 0,
        arrivals: Arrivals::List(flows),
        measure: (Time::ZERO, Time::NEVER),
        until: Time::NEVER,
    }
}

/// The `place`-th flow of a list, from one host to another, at the start of a run.
pub fn flow(place: usize, [source, destination]: [u32; 2], size: Bytes) -> FlowSpec {
    FlowSpec {
        source: NodeId(source),
        destination: NodeId(destination),
        size,
        start: Time::ZERO,
        after: Vec::new(),
        wait: Span::ZERO,
        source_port: None,
        destination_port: None,
        path: None,
        ack_path: None,
        settings: None,
        place,
    }
}

/// Three hosts send to a fourth over two switches with PFC, RED and one pool each: queues stand, and pauses
/// go out.
pub fn busy() -> Blueprint {
    let pooled = |name| switch_with(name, r#"{"shared": {"pool": "1MB"}}"#);
    let nodes = vec![host("a"), host("b"), host("c"), host("d"), pooled("s"), pooled("t")];
    let ends = [[0, 4], [1, 4], [2, 5], [3, 5], [4, 5]];
    let mut links: Vec<LinkSpec> =
        (0..).zip(ends).map(|(i, ends)| link(&format!("l{i}"), ends, 100)).collect();
    for link in &mut links {
        for (end, direction) in link.ends.iter_mut().zip(&mut link.directions) {
            direction.flow_control = vec![(Class::DATA, params(r#"{"pfc": {"xoff": "30KB"}}"#))];
            if end.node.0 >= 4 {
                end.congestion_points =
                    vec![params(r#"{"red": {"kmin": "5KB", "kmax": "20KB", "pmax": 0.1}}"#)];
            }
        }
    }
    let mut blueprint = blueprint(nodes, links);
    blueprint.settings = vec![settings(&[r#""line-rate""#])];
    let flows = (0..3).map(|source| flow(source as usize, [source, 3], Bytes::mb(2)));
    blueprint.workloads = vec![list(flows.collect())];
    blueprint
}

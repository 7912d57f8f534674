//! Nodes and links of a blueprint, from the plan.

use floodway_fabric::blueprint::{
    DirectionSpec, EndSpec, LinkSpec, NodeSpec, ReceiveSpec, RelayPorts, Role, SwitchSpec,
};
use floodway_units::cast::narrow;
use floodway_units::mrg32k3a::Mrg32k3a;
use floodway_units::{Class, NodeId, PortId, Span};

use crate::grammar::document::{HashSeeds, Visit};
use crate::resolve::{DirectionPlan, EndPlan, HostPlan, Plan};
use crate::topology::{Network, RelayAt, hpcc};

/// Address of host n, counted from 1, less n: 1.0.0.0, as SWING's simulator numbers them.
const ADDRESSES: u32 = 1 << 24;

/// The nodes, with the seeds of their hashes, and their places in the order in which routing visits them.
pub fn nodes(network: &Network, plan: &Plan, seeds: HashSeeds, visit: Visit) -> Vec<NodeSpec> {
    let mut generator = Mrg32k3a::first_of(1);
    let mut hosts = 0;
    let mut nodes: Vec<NodeSpec> = Vec::with_capacity(network.nodes.len());
    for (number, (node, plan)) in (0u32..).zip(network.nodes.iter().zip(&plan.nodes)) {
        let role = if node.is_host {
            hosts += 1;
            let numbered = seeds == HashSeeds::NodeNumber;
            let address = if numbered { hpcc::address(number) } else { ADDRESSES + hosts };
            Role::Host { address: node.address.unwrap_or(address), nics: plan.host.nics.value.into() }
        } else {
            let seed = match seeds {
                HashSeeds::None => None,
                HashSeeds::Mrg32k3a => Some(generator.next_u32()),
                HashSeeds::NodeNumber => Some(number),
            };
            let plan = &plan.switch;
            Role::Switch(SwitchSpec {
                buffer: plan.buffer.value.clone(),
                routing: plan.routing.value.clone(),
                hash_seed: plan.hash_seed.or(seed),
                pipeline: plan.pipeline.value,
                cell: plan.cell.value,
                relay: network.relays.iter().find(|relay| relay.node == number as usize).map(ports),
                bypass: plan.bypass.value.clone(),
            })
        };
        nodes.push(NodeSpec { name: node.name.clone(), tags: node.tags.clone(), role, rank: number });
    }
    order_visits(&mut nodes, visit);
    nodes
}

fn ports(relay: &RelayAt) -> RelayPorts {
    let port = |link: usize, end: usize| PortId(narrow(2 * link + end));
    RelayPorts { local: port(relay.cable, 1), remote: port(relay.link, relay.end) }
}

fn order_visits(nodes: &mut [NodeSpec], visit: Visit) {
    match visit {
        Visit::Listed => {}
        Visit::Descending => {
            for (rank, node) in (0u32..).zip(nodes.iter_mut().rev()) {
                node.rank = rank;
            }
        }
        Visit::SwingNs3 => {
            let mut aggs = nodes.iter_mut().filter(|node| node.tags.iter().any(|tag| tag == "agg"));
            if let (Some(first), Some(second)) = (aggs.next(), aggs.next()) {
                std::mem::swap(&mut first.rank, &mut second.rank);
            }
        }
    }
}

/// The links, with flow control for `classes`.
pub fn links(network: &Network, plan: &Plan, classes: &[Class]) -> Vec<LinkSpec> {
    let mut nics = vec![0_u32; network.nodes.len()];
    network.links.iter().flat_map(|link| link.ends).for_each(|node| nics[node] += 1);
    let hosts: Vec<Option<Nics>> = (0..nics.len())
        .map(|node| {
            network.nodes[node].is_host.then(|| Nics { plan: &plan.nodes[node].host, count: nics[node] })
        })
        .collect();
    let link = |(link, plan): (&crate::topology::Link, &crate::resolve::LinkPlan)| LinkSpec {
        name: link.name.clone(),
        tags: link.tags.clone(),
        ends: std::array::from_fn(|i| end(link.ends[i], &plan.ends[i], hosts[link.ends[i]].as_ref())),
        directions: std::array::from_fn(|i| direction(&plan.directions[i], classes)),
        down: plan.down.clone(),
        detection: plan.reaction.0,
        convergence: plan.reaction.1,
    };
    network.links.iter().zip(&plan.links).map(link).collect()
}

/// The NICs of a host.
struct Nics<'a> {
    plan: &'a HostPlan,
    count: u32,
}

impl Nics<'_> {
    /// How their host takes in what they receive, if not at once.
    fn receive(&self) -> Option<ReceiveSpec> {
        Some(ReceiveSpec { drain: self.plan.drain.as_ref()?.value, buffer: self.plan.buffer()?.value })
    }

    /// When queue pairs leave one whose link is down.
    fn failover(&self) -> Option<Span> {
        self.plan.nic_failover.value.span().filter(|_| self.count > 1)
    }
}

fn end(node: usize, plan: &EndPlan, nics: Option<&Nics<'_>>) -> EndSpec {
    EndSpec {
        node: NodeId(narrow(node)),
        buffer: plan.buffer.as_ref().map(|buffer| buffer.value.clone()),
        scheduler: plan.scheduler.value.clone(),
        congestion_points: plan.congestion_points.value.clone(),
        output_queue: plan.output_queue.as_ref().map(|room| room.value),
        pauses: plan.pauses.clone(),
        receive: nics.and_then(Nics::receive),
        failover: nics.and_then(Nics::failover),
    }
}

fn direction(plan: &DirectionPlan, classes: &[Class]) -> DirectionSpec {
    let control = &plan.flow_control.value;
    let (errors, jitter) = plan.faults.value;
    DirectionSpec {
        rate: plan.rate.value,
        delay: plan.delay.value,
        switchovers: plan.switchovers.clone(),
        jitter,
        flow_control: classes.iter().filter_map(|&class| Some((class, control.of(class)?.clone()))).collect(),
        errors,
        link_retry: plan.link_retry.value.clone(),
    }
}

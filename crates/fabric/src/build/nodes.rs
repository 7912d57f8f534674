//! Construction of nodes: what each owns.
//!
//! Of a run in several processes, nodes of others are bare; what their congestion points demand of the whole
//! network is noted.

use std::collections::VecDeque;

use floodway_blueprint::column::{Column, Part};
use floodway_blueprint::error::BuildError;
use floodway_blueprint::network::accounts::Accounts;
use floodway_blueprint::network::blueprint::{Blueprint, Draws, RelayPorts, Role, SwitchSpec, Ties};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::machines::router;
use floodway_records::histogram::histograms;
use floodway_records::series::{self, Series};
use floodway_records::shares::buckets;
use floodway_units::cast::narrow;
use floodway_units::mrg32k3a::Mrg32k3a;
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Rng, name_key, stream};
use rustc_hash::FxHashSet;

use super::port_classes::record_account;
use super::ports::build_ports;
use crate::host::listed::Listed;
use crate::host::nic::Nic;
use crate::host::nics::Host;
use crate::host::ranks::Ranks;
use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::link::links::Links;
use crate::link::port::{Egress, Port, Queue};
use crate::run::events::NEVER;
use crate::run::node::{AnyDevice, Node, NodeCore, Streams};
use crate::switch::buffer::{Buffer, Ingress};
use crate::switch::congestion::PortMachines;
use crate::switch::crossbar::Inputs;
use crate::switch::forward::{Relay, Switch};

/// What the nodes of a network own, as it is built: node by node.
#[derive(Default)]
struct Columns {
    ports: Column<Port>,
    ingress: Column<Ingress>,
    egress: Column<Egress>,
    queues: Column<Queue>,
    series: Column<Series>,
    nics: Column<Nic>,
}

/// Builds nodes, and records what is fixed about their accounts.
pub(super) struct NodeBuilder<'f, 'a> {
    pub facts: &'f mut Facts<'a>,
    pub accounts: Accounts<'a>,
    pub listed: &'f Listed,
    /// By node: is it to have what it owns?
    pub wanted: &'f [bool],
}

impl NodeBuilder<'_, '_> {
    /// All nodes, of which only those that are wanted have what they own: with these machines, in the order
    /// of their ports.
    pub fn nodes(&mut self, machines: Vec<PortMachines>) -> Result<Vec<Node>, BuildError> {
        let blueprint = self.facts.blueprint;
        let mut parts: Vec<Vec<(Port, PortMachines)>> = blueprint.nodes.iter().map(|_| Vec::new()).collect();
        for (port, machines) in build_ports(self.facts, self.wanted)?.into_iter().zip(machines) {
            parts[self.facts.node_of(port.id).index()].push((port, machines));
        }
        let (mut nodes, mut columns) = (Vec::with_capacity(parts.len()), Columns::default());
        let watched: FxHashSet<PortId> = blueprint.records.watch.iter().copied().collect();
        for (node, parts) in (0..).map(NodeId).zip(parts) {
            nodes.push(if self.wanted[node.index()] {
                self.node((node, parts), (&watched, &mut columns))?
            } else {
                let device = match &blueprint.nodes[node.index()].role {
                    Role::Host { .. } => AnyDevice::Host(Host::default()),
                    Role::Switch(_) => AnyDevice::Switch(Switch::none()),
                };
                self.bare_node(node, (device, Buffer::unbounded()), &[])
            });
        }
        self.deal(&mut nodes, columns);
        Ok(nodes)
    }

    /// Records what is fixed about the accounts of nodes of other processes.
    pub fn record_others(&mut self) -> Result<(), BuildError> {
        for port in self.facts.blueprint.ports() {
            let node = self.facts.node_of(port);
            if self.wanted[node.index()] {
                continue;
            }
            for class in self.facts.layout.classes.clone() {
                let account = self.ingress_port_class(port, class)?;
                let at_switch = !self.facts.ports[port.index()].at_host;
                let pool =
                    if at_switch { self.accounts.pool(node)?.unwrap_or_default() } else { Bytes::ZERO };
                record_account(self.facts, &account, pool.0, at_switch);
            }
        }
        Ok(())
    }

    /// A node; what it has in columns is added to them.
    fn node(
        &mut self,
        (node, parts): (NodeId, Vec<(Port, PortMachines)>),
        (watched, columns): (&FxHashSet<PortId>, &mut Columns),
    ) -> Result<Node, BuildError> {
        let blueprint = self.facts.blueprint;
        let ports: Vec<PortId> = parts.iter().map(|(port, _)| port.id).collect();
        let (device, buffer) = match &blueprint.nodes[node.index()].role {
            Role::Host { .. } => {
                self.add_nics(node, ports.len(), &mut columns.nics);
                let mut host = Host::default();
                host.pairs.to_start = self.listed.count(node);
                host.pairs.sprays = self.facts.sprays(node);
                (AnyDevice::Host(host), Buffer::unbounded())
            }
            Role::Switch(spec) => {
                let pool = self.accounts.pool(node)?.unwrap_or_default();
                let (switch, buffer) = self.switch(node, spec, pool, &ports)?;
                (AnyDevice::Switch(switch), buffer)
            }
        };
        let at_switch = matches!(blueprint.nodes[node.index()].role, Role::Switch(_));
        for &port in &ports {
            columns.series.push(series::of_port(&blueprint.records, watched.contains(&port)));
            for class in self.facts.layout.classes.clone() {
                let account = self.ingress_port_class(port, class)?;
                record_account(self.facts, &account, buffer.pool_size, at_switch);
                columns.ingress.push(account);
                columns.egress.push(self.egress_port_class(port, class)?);
            }
            (0..self.facts.layout.queues_per_port).for_each(|_| columns.queues.push(Queue::default()));
        }
        let mut own = Vec::with_capacity(ports.len());
        for (port, machines) in parts {
            columns.ports.push(port);
            own.push(machines);
        }
        let mut built = self.bare_node(node, (device, buffer), &ports);
        built.machines = own;
        Ok(built)
    }

    /// A node without what is in columns.
    fn bare_node(&self, node: NodeId, (device, buffer): (AnyDevice, Buffer), ports: &[PortId]) -> Node {
        let blueprint = self.facts.blueprint;
        let key = name_key(&blueprint.nodes[node.index()].name);
        let number = self.facts.switches.binary_search(&node).ok();
        let histogram = blueprint.records.queue_histogram.as_ref();
        let core = NodeCore {
            id: node,
            work: 0,
            machines: Vec::new(),
            streams: streams(blueprint, key, number.map(narrow)),
            links: Links {
                ports: Part::default(),
                queues: Part::default(),
                egress: Part::default(),
                series: Part::default(),
                histograms: histograms(histogram, ports.len(), number.is_some()),
                buckets: buckets(blueprint.records.shares.as_ref(), ports),
            },
            buffer,
        };
        Node::new(core, device)
    }

    /// Gives each node its part of what was built for all.
    fn deal(&self, nodes: &mut [Node], columns: Columns) {
        let (classes, queues) = (self.facts.layout.classes.len(), self.facts.layout.queues_per_port);
        let ports: Vec<usize> = nodes.iter().map(|node| node.machines.len()).collect();
        let roles = self.facts.blueprint.nodes.iter().map(|node| &node.role);
        let of = |per_port: usize| ports.iter().map(move |ports| ports * per_port);
        let nics =
            roles.zip(&ports).map(|(role, ports)| if matches!(role, Role::Host { .. }) { *ports } else { 0 });
        let Columns { ports: all, ingress, egress, queues: all_queues, series, nics: all_nics } = columns;
        let parts = all.deal(of(1)).into_iter().zip(ingress.deal(of(classes))).zip(egress.deal(of(classes)));
        let parts = parts.zip(all_queues.deal(of(queues))).zip(series.deal(of(1))).zip(all_nics.deal(nics));
        for (node, (((((ports, ingress), egress), queues), series), nics)) in nodes.iter_mut().zip(parts) {
            let links = &mut node.links;
            (links.ports, links.egress, links.queues, links.series) = (ports, egress, queues, series);
            node.buffer.accounts = ingress;
            if let Some(host) = node.host_mut() {
                host.nics = nics;
            }
        }
    }

    /// Adds the NICs of a host, one for each of its ports.
    fn add_nics(&self, node: NodeId, ports: usize, nics: &mut Column<Nic>) {
        let classes = self.facts.layout.classes.len();
        let first = self.facts.nics.partition_point(|&before| before < node);
        for number in first..first + ports {
            let mut ranks = Ranks::default();
            ranks.reserve(self.listed.count(node));
            nics.push(Nic {
                number: narrow(number),
                ranks,
                ready: vec![RoundRobinBitmap::default(); classes],
                repeats: vec![RoundRobinBitmap::default(); classes],
                last: vec![u32::MAX - 1; classes],
                order: (self.facts.blueprint.semantics.ties == Ties::Htsim).then(VecDeque::new),
                ..Nic::default()
            });
        }
    }

    fn switch(
        &self,
        node: NodeId,
        spec: &SwitchSpec,
        pool: Bytes,
        ports: &[PortId],
    ) -> Result<(Switch, Buffer), BuildError> {
        let router = router(self.facts.blueprint, node, spec)?;
        let number = narrow::<u32>(self.facts.switches.partition_point(|&before| before < node));
        let inputs = spec.buffer.plan().crossbar.map(|plan| {
            let rate = |port: &PortId| (self.facts.local(*port), self.facts.ports[port.index()].rate);
            let rates: Vec<(Local, Rate)> = ports.iter().map(rate).collect();
            let queues = self.facts.layout.queues_per_port - 1;
            Box::new(Inputs::new(plan, &rates, queues, self.facts.layout.classes.len() - 1))
        });
        let buffer = Buffer {
            releases: VecDeque::with_capacity(ports.len()),
            pool_size: pool.0,
            headroom_size: spec.buffer.plan().headroom.map_or(NEVER, |size| size.0),
            cell: spec.cell.0,
            pool_fast_path_up_to: if pool == Bytes::ZERO { NEVER } else { pool.0 / 2 },
            ..Buffer::unbounded()
        };
        let switch = Switch {
            router: Some(router),
            number,
            pipeline: spec.pipeline.0,
            holds_output: spec.buffer.plan().output.is_some(),
            relay: spec.relay.map(|ports| self.relaying(ports)),
            inputs,
            ..Switch::none()
        };
        Ok((switch, buffer))
    }

    /// What a relay does with pauses: as the flow control says of the link into its remote port.
    fn relaying(&self, ports: RelayPorts) -> Relay {
        let link = &self.facts.blueprint.links[ports.remote.index() / 2];
        let into = &link.directions[1 - ports.remote.index() % 2];
        let of = |class: &Class| {
            let control = into.flow_control.iter().find(|(of, _)| of == class);
            let relay = control.and_then(|(_, params)| params.relay());
            relay.map_or_else(Default::default, |relay| [relay.from_local, relay.from_remote])
        };
        let (local, remote) = (self.facts.local(ports.local), self.facts.local(ports.remote));
        let dispositions = self.facts.layout.classes.iter().map(of).collect();
        Relay { local, remote, dispositions, is_bypassed: false }
    }
}

/// The streams of a node whose name hashes to `key`, and of a switch its number.
fn streams(blueprint: &Blueprint, key: u64, switch: Option<u32>) -> Streams {
    let seed = blueprint.seed;
    let stream = |purpose| stream(seed, key, purpose);
    Streams {
        flow_control: stream("flow-control"),
        congestion_point: match (blueprint.semantics.draws, switch) {
            (Draws::ConweaveNs3, _) => Rng::Ns3(Box::new(Mrg32k3a::first_by_hand(narrow(seed)))),
            // Switches have been numbered from 0, and the run's first stream is that of the hashes' seeds.
            (Draws::SwingNs3, Some(switch)) => {
                Rng::Ns3(Box::new(Mrg32k3a::of_stream(narrow(seed), u64::from(switch) + 1)))
            }
            (Draws::PerNode | Draws::HpccNs3 | Draws::SwingNs3, _) => stream("congestion-point"),
        },
        routing: stream("routing"),
        admission: stream("admission"),
        notification: stream("notification"),
        reliability: stream("reliability"),
    }
}

//! Facts: what is fixed once a network is built.

use std::sync::Arc;

use floodway_mechanisms::registry::AnyRouter;
use floodway_mechanisms::slots::PauseMode;
use floodway_units::{Bytes, Class, NodeId, PortId, Span};
use floodway_wire::{Format, Telemetry};

use crate::error::BuildError;
use crate::network::base_rtt::Largest;
use crate::network::blueprint::{Blueprint, EndSpec, LinkSpec, NicPolicy, Release, Role, Turns};
use crate::network::groups::Groups;
use crate::network::layout::{Layout, Local, LocalPortClass};
use crate::network::machines::router;
use crate::network::port_facts::{self, PortFacts};
use crate::network::routing::{Routes, peer};
use crate::traffic::lists::Lists;

/// All nodes read it; only faults change it (delays of links), while no event of a node is executed.
pub struct Facts<'a> {
    /// What the network was built from.
    pub blueprint: &'a Blueprint,
    /// When accounts are released.
    pub release: Release,
    /// A packet that finds nothing to wait for goes straight through a switch: no more queues a port than one
    /// of data, no samples of their lengths.
    pub straight: bool,
    /// Likewise of the control class: no switch has a pipeline, either.
    pub straight_control: bool,
    /// Links fail at some time, or their delays change.
    pub changes: bool,
    /// Some switch is input-output queued.
    pub crossbars: bool,
    /// Some flow of the run asks for telemetry.
    pub telemetry: bool,
    /// Packets of some flow carry entropy values, which switches hash.
    pub spreads: bool,
    /// Some switch cuts packets that it has no room for.
    pub trims: bool,
    /// The largest bound of an output queue of data; zero where there is none.
    pub output_queue: Bytes,
    /// Where the flow control does not choose.
    pub pause_mode: PauseMode,
    /// Headers of packets.
    pub format: Format,
    /// Over all pairs of hosts.
    pub largest: Largest,
    /// Bytes on the link of the largest data packet.
    pub largest_wire: u64,
    /// Nodes that are gone through together.
    pub groups: Groups,
    /// Over all links.
    pub routes: Arc<Routes>,
    /// For how long some congestion point may name a queue pair of which nothing is in the network any more.
    pub naming: Span,
    /// Some congestion point may name flows other than that of the packet for which it is called.
    pub names_flows: bool,
    /// Some congestion point is called for the CNPs that pass its switch.
    pub observes_cnps: bool,
    /// How port classes and queues are numbered.
    pub layout: Layout,
    /// Lists of flows that wait for others.
    pub lists: Lists,
    /// By port.
    pub ports: Vec<PortFacts>,
    /// By port: where it is.
    homes: Vec<Home>,
    /// By number of a switch, and of a NIC, in events: its node.
    pub switches: Vec<NodeId>,
    /// The same of a NIC.
    pub nics: Vec<NodeId>,
    /// By port class: what its account holds when it is full, its own buffer or what of the switch's is for
    /// it.
    pub full: Vec<u64>,
    /// By node, where it is a switch: its router, asked by hosts which path a flow takes that decides by
    /// itself.
    pub routers: Vec<Option<AnyRouter>>,
}

impl<'a> Facts<'a> {
    /// Before there are nodes: what follows from them is set when they have been built.
    pub fn new(blueprint: &'a Blueprint, routes: Arc<Routes>, layout: Layout) -> Self {
        let format = blueprint.wire;
        Facts {
            blueprint,
            release: blueprint.semantics.release,
            straight: false,
            straight_control: false,
            changes: blueprint.links.iter().any(LinkSpec::changes),
            crossbars: false,
            telemetry: blueprint.telemetry() == Telemetry::Int,
            spreads: blueprint.settings.iter().any(|settings| settings.reliability.spreads()),
            trims: blueprint.output_plans().any(|output| output.trims),
            output_queue: blueprint.output_plans().map(|output| output.queue).max().unwrap_or_default(),
            pause_mode: blueprint.pause_mode(),
            format,
            largest: Largest::default(),
            largest_wire: format.data_with(blueprint.mtu, true, blueprint.telemetry()).wire.0,
            groups: Groups::new(blueprint),
            routes,
            naming: Span::ZERO,
            names_flows: false,
            observes_cnps: false,
            lists: Lists::new(blueprint),
            ports: port_facts::of_network(blueprint),
            homes: homes(blueprint),
            switches: Vec::new(),
            nics: Vec::new(),
            full: vec![0; 2 * blueprint.links.len() * layout.classes.len()],
            layout,
            routers: Vec::with_capacity(blueprint.nodes.len()),
        }
    }

    /// Notes what the congestion points of a port demand of the whole network.
    pub fn demand(&mut self, port: PortId, demanded: &Demanded) {
        self.naming = self.naming.max(demanded.naming);
        self.names_flows |= demanded.names_flows;
        self.observes_cnps |= demanded.observes_cnps;
        let port = &mut self.ports[port.index()];
        // Hosts choose among queue pairs, and have no queues.
        port.isolates |= demanded.isolates && !port.at_host;
    }

    /// Notes what all switches are like.
    pub fn know_switches(&mut self) {
        let switches = || self.blueprint.switches();
        self.crossbars = switches().any(|spec| spec.buffer.plan().crossbar.is_some());
        self.straight = !self.crossbars
            && self.layout.queues_per_port == 2
            && self.blueprint.records.queue_histogram.is_none();
        self.straight_control = self.straight && switches().all(|spec| spec.pipeline == Span::ZERO);
    }

    /// Numbers NICs and switches, and builds the routers that hosts ask.
    pub fn number_nodes(&mut self) -> Result<(), BuildError> {
        let blueprint = self.blueprint;
        let mut ports = vec![0; blueprint.nodes.len()];
        for port in self.blueprint.ports() {
            ports[self.node_of(port).index()] += 1;
        }
        for (node, spec) in (0..).map(NodeId).zip(&blueprint.nodes) {
            let router = match &spec.role {
                Role::Host { .. } => {
                    self.nics.extend((0..ports[node.index()]).map(|_| node));
                    None
                }
                Role::Switch(spec) => {
                    self.switches.push(node);
                    Some(router(blueprint, node, spec)?)
                }
            };
            self.routers.push(router);
        }
        Ok(())
    }

    /// Does a host select a NIC for each packet?
    pub fn sprays(&self, node: NodeId) -> bool {
        self.blueprint.nodes[node.index()].role.nics() == NicPolicy::Spray
            && self.blueprint.semantics.turns == Turns::Ring
            && self.routes.has_several_links(node)
    }

    /// How long pauses of `class` last that `port` sends.
    pub fn pause_mode_at(&self, port: PortId, class: Class) -> PauseMode {
        let data = &self.blueprint.links[port.index() / 2].directions[peer(port).index() % 2];
        let control = data.flow_control.iter().find(|(of, _)| *of == class);
        control.map_or(self.pause_mode, |(_, params)| params.pause_mode(self.pause_mode))
    }

    /// How many port classes the network has.
    #[inline]
    pub fn port_classes(&self) -> usize {
        self.full.len()
    }

    /// The node of a port.
    #[inline]
    pub fn node_of(&self, port: PortId) -> NodeId {
        self.homes[port.index()].node
    }

    /// A port as its node calls it.
    #[inline]
    pub fn local(&self, port: PortId) -> Local {
        self.homes[port.index()].local
    }

    /// A port class as its node calls it.
    #[inline]
    pub fn local_port_class(&self, id: u32) -> LocalPortClass {
        let (port, class) = self.layout.port_class_of(id as usize);
        self.layout.port_class(self.local(port), class)
    }
}

/// Where a port is.
#[derive(Clone, Copy, Debug)]
struct Home {
    node: NodeId,
    local: Local,
}

/// By port. The ports of a node are numbered in the order of their links.
fn homes(blueprint: &Blueprint) -> Vec<Home> {
    let mut next = vec![0; blueprint.nodes.len()];
    let mut home = |end: &EndSpec| {
        let next = &mut next[end.node.index()];
        *next += 1;
        Home { node: end.node, local: Local::numbered(*next - 1) }
    };
    blueprint.links.iter().flat_map(|link| &link.ends).map(&mut home).collect()
}

/// What the congestion points of a port demand of the whole network.
#[derive(Debug)]
pub struct Demanded {
    /// For how long they may name a flow of which nothing is in the network any more.
    pub naming: Span,
    /// They may name flows other than that of the packet for which they are called.
    pub names_flows: bool,
    /// They are called for CNPs that pass.
    pub observes_cnps: bool,
    /// The second queue of each class may lose what waits there.
    pub isolates: bool,
}

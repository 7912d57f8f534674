//! Base round-trip times: of a flow's own path, and the largest of all pairs of hosts.

use floodway_mechanisms::slots::{Need, PortInfo, Products};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, NodeId, PortId, Rate, Span};
use floodway_wire::Telemetry;

use crate::network::blueprint::{Acks, BaseRtt, Blueprint, DirectionSpec, FlowSettings, Role};
use crate::network::facts::Facts;
use crate::network::port_facts::across;
use crate::network::routing::peer;
use crate::network::serial::pacing_gap;

/// The largest of all pairs of hosts; nothing where no mechanism of a flow asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Largest {
    /// Base round-trip time.
    pub rtt: Span,
    /// Bandwidth-delay product.
    pub bdp: Bytes,
    /// The base round-trip time with all queues on the way there full.
    pub full_rtt: Span,
}

/// Round trips of a message's first packet, full, and of its ACK where nothing else is in the network: as a
/// host sees them that sends one packet. Those passed to mechanisms are of the packets behind the first,
/// which have no RETH.
#[derive(Debug)]
pub struct RoundTrips {
    /// By egress port: from the arrival at its node to that at the far end of the link, of a full packet.
    data: Vec<Span>,
    /// The same of an ACK.
    acks: Vec<Span>,
}

/// What a packet passes from its arrival at a node to its egress queue.
#[derive(Clone, Copy, Debug, Default)]
struct Passage {
    pipeline: Span,
    /// The rate of the fastest port, and how much faster packets cross.
    crossbar: Option<(Rate, f64)>,
}

impl RoundTrips {
    /// Those of a network.
    pub fn new(blueprint: &Blueprint) -> Self {
        let passages = passages(blueprint);
        let Blueprint { wire, mtu, semantics, .. } = blueprint;
        let telemetry = blueprint.telemetry();
        let (full, reply) = (wire.data_with(*mtu, true, telemetry).wire, wire.ack_with(telemetry).wire);
        let crosses = semantics.acks != Acks::Control;
        RoundTrips {
            data: blueprint
                .ports()
                .map(|port| hop(blueprint, &passages, port, (full, true)) + drained(blueprint, port, full))
                .collect(),
            acks: blueprint.ports().map(|port| hop(blueprint, &passages, port, (reply, crosses))).collect(),
        }
    }

    /// Along the ports `data`, and back along `acks`.
    pub fn along(&self, data: impl Iterator<Item = PortId>, acks: impl Iterator<Item = PortId>) -> Span {
        let there: Span = data.map(|port| self.data[port.index()]).sum();
        there + acks.map(|port| self.acks[port.index()]).sum()
    }
}

/// By node: what a packet passes there.
fn passages(blueprint: &Blueprint) -> Vec<Passage> {
    let passage = |role: &Role| match role {
        Role::Host { .. } => Passage::default(),
        Role::Switch(switch) => Passage {
            pipeline: switch.pipeline,
            // Another speed-up is an error later, at its key.
            crossbar: switch
                .buffer
                .plan()
                .crossbar
                .filter(|plan| plan.speed_up >= 1.0)
                .map(|plan| (Rate(0), plan.speed_up)),
        },
    };
    let mut nodes: Vec<Passage> = blueprint.nodes.iter().map(|node| passage(&node.role)).collect();
    for link in &blueprint.links {
        for (end, direction) in link.ends.iter().zip(&link.directions) {
            if let Some((fastest, _)) = &mut nodes[end.node.index()].crossbar {
                *fastest = direction.rate.max(*fastest);
            }
        }
    }
    nodes
}

/// Time from the arrival of `wire` bytes at the node of `port` to their arrival at the far end of the link;
/// `crosses` if they may pass a crossbar.
fn hop(blueprint: &Blueprint, passages: &[Passage], port: PortId, (wire, crosses): (Bytes, bool)) -> Span {
    let link = &blueprint.links[port.index() / 2];
    let (end, direction) = (&link.ends[port.index() % 2], &link.directions[port.index() % 2]);
    let serial = |rate| pacing_gap(rate, wire.0, blueprint.semantics.rounding);
    let Passage { pipeline, crossbar } = passages[end.node.index()];
    let crossing = crossbar.filter(|_| crosses).map(|(fastest, speed_up)| across(serial(fastest), speed_up));
    pipeline + Span(crossing.unwrap_or_default()) + Span(serial(direction.rate)) + direction.delay
}

/// Time that a frame of `wire` bytes on the link from `port` takes from the receive buffer at its far end, if
/// there is one, to the host's memory.
fn drained(blueprint: &Blueprint, port: PortId, wire: Bytes) -> Span {
    let receive = &blueprint.links[port.index() / 2].ends[1 - port.index() % 2].receive;
    let frame = wire - (blueprint.wire.ack().wire - blueprint.wire.ack().frame);
    let rounding = blueprint.semantics.rounding;
    receive.as_ref().map_or(Span::ZERO, |receive| Span(pacing_gap(receive.drain, frame.0, rounding)))
}

/// Times of the path from a node to a host.
#[derive(Clone, Copy, Debug)]
struct PathTimes {
    rtt: Span,
    rate: Rate,
    /// What full queues add, but for that of the node itself.
    queues: Span,
}

impl Blueprint {
    /// Payload of the full packets of flows with these settings.
    pub fn payload_of(&self, settings: usize) -> Bytes {
        self.settings[settings].payload.unwrap_or(self.mtu)
    }
}

impl FlowSettings {
    /// Does a mechanism of its flows ask for this?
    pub fn needs(&self, need: Need) -> bool {
        self.rate_control.iter().any(|layer| layer.needs().contains(&need))
            || self.reliability.needs().contains(&need)
    }

    /// What the packets of its flows carry for their rate control.
    pub fn telemetry(&self) -> Telemetry {
        if self.needs(Need::Int) {
            Telemetry::Int
        } else if self.needs(Need::Timestamps) {
            Telemetry::Timestamp
        } else {
            Telemetry::None
        }
    }
}

impl BaseRtt {
    /// Rounding of bandwidth-delay products to whole bytes.
    pub fn products(self) -> Products {
        match self {
            BaseRtt::Exact => Products::Up,
            BaseRtt::OneWay => Products::Ns3Seconds,
            BaseRtt::Payload => Products::Down,
        }
    }
}

impl Blueprint {
    /// The most that packets of the run carry for a rate control.
    pub fn telemetry(&self) -> Telemetry {
        self.settings.iter().map(FlowSettings::telemetry).max().unwrap_or_default()
    }

    /// The largest frame as buffers hold it: "MTU" in sizing formulas.
    pub fn largest_frame(&self) -> Bytes {
        self.wire.largest_frame(self.mtu, self.telemetry())
    }

    /// What the congestion points of an egress port may know of it, but for what the whole network decides.
    pub fn port_info(&self, port: PortId) -> PortInfo {
        let directions = &self.links[port.index() / 2].directions;
        let (out, back) = (&directions[port.index() % 2], &directions[1 - port.index() % 2]);
        let size = self.wire.data_with(self.mtu, true, self.telemetry());
        PortInfo {
            port,
            rate: out.rate,
            delay: out.longest_delay(),
            rate_in: back.rate,
            delay_in: back.longest_delay(),
            mtu: size.frame,
            wire: size.wire,
            control: self.wire.link_control().wire,
            largest_rtt: Span::ZERO,
        }
    }

    /// Must a mechanism of the run know the largest base round-trip time of all pairs of hosts?
    fn needs_largest(&self) -> bool {
        let mut points = self.links.iter().flat_map(|link| &link.ends).flat_map(|end| &end.congestion_points);
        self.settings.iter().any(|settings| settings.needs(Need::Largest))
            || points.any(|point| point.needs().contains(&Need::Largest))
    }
}

impl Facts<'_> {
    /// Base round-trip time along the ports `data` and, for the reply, `ack`.
    pub fn base_rtt(&self, data: &[PortId], ack: &[PortId], telemetry: Telemetry) -> Span {
        let there: Span = data.iter().map(|&port| self.there(port, telemetry)).sum();
        match self.blueprint.semantics.base_rtt {
            BaseRtt::Exact => there + ack.iter().map(|&port| self.back(port, telemetry)).sum(),
            BaseRtt::OneWay | BaseRtt::Payload => there,
        }
    }

    /// What a port on the way there adds; with `OneWay` and `Payload` the way back is in it.
    fn there(&self, port: PortId, telemetry: Telemetry) -> Span {
        let state = &self.ports[port.index()];
        let full = self.format.data_with(self.blueprint.mtu, false, telemetry).wire;
        match self.blueprint.semantics.base_rtt {
            BaseRtt::Exact => {
                let drain = self.ports[peer(port).index()].drain.as_ref();
                let drained = drain.map_or(0, |serial| serial.time(full.0 - self.layout.gap));
                self.across(port, full.0) + state.serial.span(full) + self.passage(port) + Span(drained)
            }
            BaseRtt::OneWay => state.serial.span(full) + state.delay * 2,
            BaseRtt::Payload => {
                let bits = u128::from(self.blueprint.mtu.0) * 8_000_000_000;
                let whole = bits / u128::from(state.rate.0);
                Span::ns(u64::try_from(whole).unwrap_or(u64::MAX)) + state.delay * 2
            }
        }
    }

    /// What a port on the way back adds.
    fn back(&self, port: PortId, telemetry: Telemetry) -> Span {
        let ack = self.format.ack_with(telemetry).wire;
        // The control class passes beside crossbars.
        let crosses = self.blueprint.semantics.acks != Acks::Control;
        let across = if crosses { self.across(port, ack.0) } else { Span::ZERO };
        across + self.ports[port.index()].serial.span(ack) + self.passage(port)
    }

    /// Propagation, and the pipeline of the switch that sends.
    fn passage(&self, port: PortId) -> Span {
        let state = &self.ports[port.index()];
        state.delay + state.pipeline
    }

    /// Time that `wire` bytes take across the switch of a port.
    fn across(&self, port: PortId, wire: u64) -> Span {
        Span(self.ports[port.index()].crossing.as_ref().map_or(0, |crossing| crossing.time(wire)))
    }

    /// The largest base round-trip time and bandwidth-delay product, each over the first of equal-cost paths
    /// with the reply on the same one, if a mechanism of the run needs them.
    fn largest(&self) -> Largest {
        if !self.blueprint.needs_largest() {
            return Largest::default();
        }
        let telemetry = self.blueprint.telemetry();
        let queued = self.blueprint.settings.iter().find(|settings| settings.needs(Need::Queues));
        let class = queued.map(|settings| self.layout.dense(settings.class));
        let mut largest = Largest::default();
        let hosts: Vec<NodeId> = self.hosts().collect();
        let mut known: Vec<Option<PathTimes>> = Vec::new();
        for &destination in &hosts {
            known.clear();
            known.resize(self.blueprint.nodes.len(), None);
            known[destination.index()] =
                Some(PathTimes { rtt: Span::ZERO, rate: Rate::MAX, queues: Span::ZERO });
            for &source in &hosts {
                let Some(path) = self.path_times(source, destination, (telemetry, class), &mut known) else {
                    continue;
                };
                largest.rtt = largest.rtt.max(path.rtt);
                largest.full_rtt = largest.full_rtt.max(path.rtt + path.queues);
                if source != destination {
                    largest.bdp = largest.bdp.max(self.bdp(path));
                }
            }
        }
        largest
    }

    /// The largest base round-trip times, with the longest delay that each link has at any time.
    pub fn largest_ever(&mut self) -> Largest {
        self.set_delays(DirectionSpec::longest_delay);
        let largest = self.largest();
        self.set_delays(|direction| direction.delay);
        largest
    }

    fn set_delays(&mut self, of: impl Fn(&DirectionSpec) -> Span) {
        let directions = self.blueprint.links.iter().flat_map(|link| &link.directions);
        for (port, direction) in self.ports.iter_mut().zip(directions) {
            port.delay = of(direction);
        }
    }

    /// What full queues add on a path of these ports.
    pub fn queues(&self, path: &[PortId], class: u8) -> Span {
        path.windows(2).map(|hop| self.time_to_drain(hop[0], hop[1], class)).sum()
    }

    /// How long `next` takes to send what its switch holds of the link from `port` when that is full: the
    /// ingress's own buffer, or its reserve and headroom, or the pool where nothing is set aside for it;
    /// where output queues have bounds of their own, that queue.
    fn time_to_drain(&self, port: PortId, next: PortId, class: u8) -> Span {
        let of_ingress = || Bytes(self.full[self.layout.port_class_id(peer(port), class)]);
        let held = self.blueprint.output_queue(next).unwrap_or_else(of_ingress);
        self.ports[next.index()].rate.time_to_send(held)
    }

    fn bdp(&self, path: PathTimes) -> Bytes {
        self.blueprint.semantics.base_rtt.products().of(path.rate, path.rtt)
    }

    fn hosts(&self) -> impl Iterator<Item = NodeId> {
        (0..self.blueprint.nodes.len())
            .map(|node| NodeId(narrow(node)))
            .filter(|&node| self.routes.is_host(node))
    }

    /// The times of the path from `source` on; `known` keeps those of the nodes that it passes.
    fn path_times(
        &self,
        source: NodeId,
        destination: NodeId,
        (telemetry, class): (Telemetry, Option<u8>),
        known: &mut [Option<PathTimes>],
    ) -> Option<PathTimes> {
        let mut passed = Vec::new();
        let mut node = source;
        while known[node.index()].is_none() {
            let &port = self.routes.candidates(node, destination).first()?;
            passed.push((node, port));
            node = self.routes.node_of(peer(port));
        }
        let mut path = known[node.index()]?;
        while let Some((node, port)) = passed.pop() {
            let rtt = path.rtt + self.base_rtt(&[port], &[peer(port)], telemetry);
            let next = self.routes.candidates(self.routes.node_of(peer(port)), destination).first();
            let full = class.zip(next).map(|(class, &next)| self.time_to_drain(port, next, class));
            let queues = path.queues + full.unwrap_or_default();
            path = PathTimes { rtt, rate: path.rate.min(self.ports[port.index()].rate), queues };
            known[node.index()] = Some(path);
        }
        Some(path)
    }
}

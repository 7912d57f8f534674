//! Base round-trip times: of a flow's own path, and the largest of all pairs of hosts.

use floodway_mechanisms::slots::{Need, PortInfo};
use floodway_units::{Bytes, NodeId, PortId, Rate, Span};
use floodway_wire::Telemetry;

use crate::blueprint::{BaseRtt, Blueprint, FlowSettings};
use crate::routing::peer;
use crate::world::{NEVER, World};

/// The largest of all pairs of hosts; nothing where no mechanism of a flow asks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Largest {
    pub rtt: Span,
    pub bdp: Bytes,
    /// The base round-trip time with all queues on the way there full.
    pub full_rtt: Span,
}

/// Of the way from a node to a host.
#[derive(Clone, Copy, Debug)]
struct Way {
    rtt: Span,
    rate: Rate,
    /// What full queues add, but for that of the node itself.
    queues: Span,
}

impl FlowSettings {
    pub(crate) fn needs(&self, need: Need) -> bool {
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
        let direction = &self.links[port.index() / 2].directions[port.index() % 2];
        let (rate, delay) = (direction.rate, direction.longest_delay());
        let size = self.wire.data_with(self.mtu, true, self.telemetry());
        PortInfo { port, rate, delay, mtu: size.frame, wire: size.wire, largest_rtt: Span::ZERO }
    }

    /// Must a mechanism of the run know the largest base round-trip time of all pairs of hosts?
    fn needs_largest(&self) -> bool {
        let mut points = self.links.iter().flat_map(|link| &link.ends).flat_map(|end| &end.congestion_points);
        self.settings.iter().any(|settings| settings.needs(Need::Largest))
            || points.any(|point| point.needs().contains(&Need::Largest))
    }
}

impl World<'_> {
    /// Base round-trip time along the ports `data` and, for the reply, `ack`.
    pub fn base_rtt(&self, data: &[PortId], ack: &[PortId], telemetry: Telemetry) -> Span {
        let there: Span = data.iter().map(|&port| self.there(port, telemetry)).sum();
        match self.blueprint.semantics.base_rtt {
            BaseRtt::Exact => there + ack.iter().map(|&port| self.back(port, telemetry)).sum(),
            BaseRtt::Payload => there,
        }
    }

    /// What a port on the way there adds; with `Payload` the way back is in it.
    fn there(&self, port: PortId, telemetry: Telemetry) -> Span {
        let state = &self.ports[port.index()];
        match self.blueprint.semantics.base_rtt {
            BaseRtt::Exact => {
                let full = self.format.data_with(self.blueprint.mtu, false, telemetry).wire;
                state.serial.span(full) + self.passage(port)
            }
            BaseRtt::Payload => {
                let bits = u128::from(self.blueprint.mtu.0) * 8_000_000_000;
                let whole = bits / u128::from(state.rate.0);
                Span::ns(u64::try_from(whole).unwrap_or(u64::MAX)) + Span(state.delay) * 2
            }
        }
    }

    /// What a port on the way back adds.
    fn back(&self, port: PortId, telemetry: Telemetry) -> Span {
        let ack = self.format.ack_with(telemetry).wire;
        self.ports[port.index()].serial.span(ack) + self.passage(port)
    }

    /// Propagation, and the pipeline of the switch that sends.
    fn passage(&self, port: PortId) -> Span {
        let state = &self.ports[port.index()];
        let node = self.nodes[state.node.index()].switch;
        let pipeline = self.switches.get(node as usize).map_or(0, |switch| switch.pipeline);
        Span(state.delay + pipeline)
    }

    /// The largest base round-trip time and bandwidth-delay product, each over the first of equal-cost paths
    /// with the reply on the same one, if a mechanism of the run needs them.
    pub fn largest(&self) -> Largest {
        if !self.blueprint.needs_largest() {
            return Largest::default();
        }
        let telemetry = self.blueprint.telemetry();
        let queued = self.blueprint.settings.iter().find(|settings| settings.needs(Need::Queues));
        let class = queued.map(|settings| self.dense(settings.class));
        let mut largest = Largest::default();
        let hosts: Vec<NodeId> = self.hosts().collect();
        let mut ways: Vec<Option<Way>> = Vec::new();
        for &destination in &hosts {
            ways.clear();
            ways.resize(self.nodes.len(), None);
            ways[destination.index()] = Some(Way { rtt: Span::ZERO, rate: Rate::MAX, queues: Span::ZERO });
            for &source in &hosts {
                let Some(way) = self.way(source, destination, (telemetry, class), &mut ways) else {
                    continue;
                };
                largest.rtt = largest.rtt.max(way.rtt);
                largest.full_rtt = largest.full_rtt.max(way.rtt + way.queues);
                if source != destination {
                    largest.bdp = largest.bdp.max(self.bdp(way));
                }
            }
        }
        largest
    }

    /// What full queues add on a path of these ports.
    pub fn queues(&self, path: &[PortId], class: u8) -> Span {
        path.windows(2).map(|hop| self.time_to_drain(hop[0], hop[1], class)).sum()
    }

    /// How long `next` takes to send what its switch holds of the link from `port` when that is full: the
    /// ingress's own buffer, or its reserve and headroom, or the pool where nothing is set aside for it.
    fn time_to_drain(&self, port: PortId, next: PortId, class: u8) -> Span {
        let ingress = peer(port);
        let account = &self.ingress[self.lane(ingress, class)];
        let switch = self.nodes[self.ports[ingress.index()].node.index()].switch;
        let pool = self.switches.get(switch as usize).map_or(0, |switch| switch.pool_size);
        let held = match account.reserve + account.headroom_size {
            _ if account.own != NEVER => account.own,
            0 => pool,
            aside => aside,
        };
        self.rate(next).time_to_send(Bytes(held))
    }

    fn bdp(&self, way: Way) -> Bytes {
        match self.blueprint.semantics.base_rtt {
            BaseRtt::Exact => way.rate.bytes_covering(way.rtt),
            BaseRtt::Payload => way.rate.bytes_in(way.rtt),
        }
    }

    fn hosts(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len())
            .filter(|&node| self.nodes[node].switch == u32::MAX)
            .map(|node| NodeId(node as u32))
    }

    /// The way from `source` on; `ways` keeps what is known of the nodes that it passes.
    fn way(
        &self,
        source: NodeId,
        destination: NodeId,
        (telemetry, class): (Telemetry, Option<u8>),
        ways: &mut [Option<Way>],
    ) -> Option<Way> {
        let mut passed = Vec::new();
        let mut node = source;
        while ways[node.index()].is_none() {
            let &port = self.routes.candidates(node, destination).first()?;
            passed.push((node, port));
            node = self.routes.node_of(peer(port));
        }
        let mut way = ways[node.index()]?;
        while let Some((node, port)) = passed.pop() {
            let rtt = way.rtt + self.base_rtt(&[port], &[peer(port)], telemetry);
            let next = self.routes.candidates(self.routes.node_of(peer(port)), destination).first();
            let full = class.zip(next).map(|(class, &next)| self.time_to_drain(port, next, class));
            let queues = way.queues + full.unwrap_or_default();
            way = Way { rtt, rate: way.rate.min(self.rate(port)), queues };
            ways[node.index()] = Some(way);
        }
        Some(way)
    }
}

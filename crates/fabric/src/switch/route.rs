//! Routing of a packet: the port by which it leaves a switch.
//!
//! A router that reads port states first returns its usual port (`usual_port`), and whether it keeps it,
//! given that port's state alone. All candidates are read only if it does not keep it.

use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::routing::in_force;
use floodway_mechanisms::slots::{CongestionPoint as _, PacketView, PortView, Router as _, Signals};
use floodway_units::{Bytes, NodeId};

use crate::link::arena::PacketRef;
use crate::link::packet::{ON_PATH, Packet};
use crate::run::at_node::{AtSwitch, bytes};
use crate::run::device::Device as _;

impl AtSwitch<'_, '_> {
    /// Where a packet leaves that has just arrived.
    #[inline]
    pub fn next_port(&mut self, ingress: Local, packet_ref: PacketRef) -> Option<Local> {
        let &Packet { out, .. } = &self.ctx.run.packets[packet_ref];
        if out != ingress {
            return self.node.links.ports.of(out).up.then_some(out);
        }
        self.look_up(ingress, packet_ref)
    }

    #[inline(never)]
    fn look_up(&mut self, ingress: Local, packet_ref: PacketRef) -> Option<Local> {
        let packet = self.ctx.run.packets[packet_ref];
        // A fixed path that leads back where it comes from.
        let path = self.ctx.run.pairs.paths.of(packet.flow);
        let back = path.port(packet.is_reply(), packet.hop as usize).filter(|_| packet.has(ON_PATH));
        if let Some(out) = back {
            return self.node.links.ports.of(out).up.then_some(out);
        }
        let entropy = if self.ctx.facts.spreads { self.ctx.run.packets.entropy(packet_ref) } else { None };
        self.route(ingress, &packet, entropy)
    }

    /// Where a packet leaves whose path is not fixed; `None` where no port leads to its destination. An
    /// entropy value is hashed in place of the flow's source port.
    pub fn route(&mut self, ingress: Local, packet: &Packet, entropy: Option<u16>) -> Option<Local> {
        let path = self.ctx.run.pairs.paths.of(packet.flow);
        let reply = packet.is_reply();
        if let Some(relay) = self.device.relay() {
            return Some(relay.other(ingress));
        }
        let node = self.node.id;
        let (destination, mut tuple) =
            if reply { (path.source, path.tuple.reversed()) } else { (path.destination, path.tuple) };
        tuple.source_port = entropy.unwrap_or(tuple.source_port);
        self.ctx.refresh_routes(destination);
        let candidates = self.ctx.candidates(node, destination);
        match *candidates {
            [] => None,
            [only] => Some(self.ctx.facts.local(only)),
            _ => {
                if let Some(choice) =
                    self.device.router.as_ref().and_then(|router| router.by_flow(&tuple, candidates.len()))
                {
                    return Some(self.ctx.facts.local(candidates[choice]));
                }
                self.route_packet(destination, packet, tuple.key())
            }
        }
    }

    /// Asks a router that looks at more than the flow.
    fn route_packet(&mut self, destination: NodeId, packet: &Packet, flow_hash: u64) -> Option<Local> {
        let node = self.node.id;
        let view = PacketView { flow_hash, ..self.node.links.packet_view(&self.ctx, packet) };
        let ports = in_force(&self.ctx.facts.routes, self.ctx.run.changing.as_deref(), (node, destination));
        let usual =
            self.device.router().usual_port(&view, ports).map(|path| self.ctx.facts.local(ports[path]));
        if let Some(port) = usual {
            let at = self.port_view(port, packet, true);
            if self.device.router().stays(&view, &at) {
                return usual;
            }
        }
        let mut views = std::mem::take(&mut self.ctx.run.out.candidates);
        views.clear();
        let reads = self.device.router().reads_ports();
        for &port in self.ctx.candidates(node, destination) {
            views.push(self.port_view(self.ctx.facts.local(port), packet, reads));
        }
        let now = self.ctx.time();
        let rng = &mut self.node.streams.routing;
        let choice = self.device.router().route(now, rng, &view, &views);
        let port = views.get(choice).map(|view| self.ctx.facts.local(view.port));
        self.ctx.run.out.candidates = views;
        if let Some(left) = usual.filter(|_| port != usual) {
            let port_class = self.ctx.facts.layout.port_class(left, packet.class);
            self.node.links.egress.of_mut(port_class).rare.moves += 1;
        }
        port
    }

    fn port_view(&self, port: Local, packet: &Packet, full: bool) -> PortView {
        let mut view = PortView {
            port: self.node.links.id(port),
            queued: Bytes::ZERO,
            rate: self.node.links.rate(&self.ctx, port),
            up: self.node.links.ports.of(port).up,
            signals: Signals::default(),
            harmful: false,
            holds_flow: false,
        };
        if full {
            view.holds_flow = self.node.machines[port.index()].queueing.queue_of(packet.flow).is_some();
            view.queued = bytes(self.node.links.ports.of(port).waiting);
            for point in &self.node.machines[port.index()].congestion_points {
                let signals = point.signals(self.ctx.time());
                view.signals.degree = view.signals.degree.max(signals.degree);
                view.signals.local |= signals.local;
                view.signals.remote |= signals.remote;
                view.signals.severe |= signals.severe;
                view.harmful |= point.is_harmful(self.ctx.time(), packet.flow);
            }
        }
        view
    }
}

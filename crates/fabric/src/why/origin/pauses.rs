//! Pauses on the path of the flow that is traced, and their origins.

use floodway_mechanisms::slots::FcFrame;
use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId};

use super::super::parts::Origin;
use super::super::stops::Source;
use super::super::trace::Trace;
use crate::link::packet::Packet;
use crate::link::port::Queue;
use crate::network::layout::Local;
use crate::network::routing::peer;
use crate::run::at_node::AtNode;
use crate::run::events::NEVER;
use crate::run::node::Node;

impl AtNode<'_, '_> {
    /// Any node of the network, as it is now.
    fn any(&self, node: NodeId) -> &Node {
        let [before, after] = self.others.expect("a run that is traced lends all nodes");
        let at = node.index();
        match at.checked_sub(before.len()) {
            None => &before[at],
            Some(0) => self.node,
            Some(behind) => &after[behind - 1],
        }
    }

    /// The flow starts: what is stopped now was stopped for what holds it up now, unless the pause has an
    /// origin.
    pub(in crate::why) fn begin_stops(&self, trace: &mut Trace) {
        for id in (0..narrow::<u32>(self.ctx.facts.ports.len())).map(PortId) {
            for class in 0..self.ctx.facts.layout.class_count() {
                let egress = self.ctx.facts.layout.port_class(self.ctx.facts.local(id), class);
                if self.any(self.ctx.facts.node_of(id)).links.egress[egress].paused_since == NEVER {
                    continue;
                }
                let port_class = self.ctx.facts.layout.port_class_id(id, class);
                let received = trace.origins.received.get(&port_class).copied();
                let source = received.unwrap_or_else(|| self.source(trace, id, class));
                trace.paused[port_class].stop(self.ctx.now.max(trace.busy[port_class]), Some(source));
            }
        }
    }

    /// What a stop of a class at an egress port is for, as its downstream is now.
    fn source(&self, trace: &Trace, port: PortId, class: u8) -> Source {
        let rx = peer(port);
        let (node, ingress) = (self.any(self.ctx.facts.node_of(rx)), self.ctx.facts.local(rx));
        if self.ctx.facts.ports[rx.index()].at_host {
            return Source::At(Origin::Node(node.id));
        }
        // Nothing of it stays there: the link's own flow control is all that holds it up.
        let Some(next) = self.holds_most(node, ingress, class) else { return Source::At(Origin::Port(port)) };
        let oldest = self.oldest_of(node, (ingress, next), class).unwrap_or(self.ctx.now);
        let next = node.links.ports[next.index()].id;
        let port_class = self.ctx.facts.layout.port_class_id(next, class);
        let otherwise = match trace.paused[port_class].in_force() {
            // When it goes on, it has a queue for that.
            Some(stop) => trace.origin_at(port_class, stop, stop.from.max(self.ctx.now), &[]),
            None => trace.lasting(port_class, (oldest, self.ctx.now), &[]),
        };
        Source::Behind(port_class, otherwise.unwrap_or(Origin::Port(next)))
    }

    /// The egress port of a switch that holds most of what came in by `ingress`, the first of several; what
    /// comes to a relay can leave by one port only.
    fn holds_most(&self, node: &Node, ingress: Local, class: u8) -> Option<Local> {
        if let Some(relay) = &node.switch.relay {
            return Some(relay.other(ingress));
        }
        let is_its = |packet: &Packet| packet.ingress == ingress && packet.class == class;
        let mut most = (0, None);
        for port in node.locals() {
            let bytes = if let Some(inputs) = &node.switch.inputs {
                inputs.bytes(ingress, port, class)
            } else {
                let queued = self.queues(node, port).flat_map(|queue| queue.fifo.iter(&self.ctx.run.packets));
                let piped = node.switch.pipe.iter().filter(|(_, out, _)| *out == port);
                let piped = piped.map(|&(.., packet_ref)| &self.ctx.run.packets[packet_ref]);
                queued
                    .chain(piped)
                    .filter(|packet| is_its(packet))
                    .map(|packet| u64::from(packet.frame))
                    .sum()
            };
            if bytes > most.0 {
                most = (bytes, Some(port));
            }
        }
        most.1
    }

    /// Queues of data of a port.
    fn queues<'n>(&self, node: &'n Node, port: Local) -> impl Iterator<Item = &'n Queue> {
        let first = self.ctx.facts.layout.queue(port);
        node.links.queues[first + 1..first + self.ctx.facts.layout.queues_per_port].iter()
    }

    /// When the packet arrived that has waited longest at an egress port of those that came in by an ingress.
    fn oldest_of(&self, node: &Node, (ingress, port): (Local, Local), class: u8) -> Option<u64> {
        if let Some(inputs) = &node.switch.inputs {
            return inputs.oldest(&self.ctx.run.packets, (ingress, port), class, self.ctx.facts.layout.subs);
        }
        let is_its = |packet: &&Packet| packet.ingress == ingress && packet.class == class;
        let mut queues = self.queues(node, port);
        let oldest = queues.by_ref().filter_map(|queue| queue.fifo.iter(&self.ctx.run.packets).find(is_its));
        oldest.map(|packet| packet.at).min()
    }

    /// An ingress sends the frames of its outbox.
    #[cold]
    pub fn trace_pauses(&mut self, ingress: Local) {
        let ingress = self.node.links.id(ingress);
        let Some(mut trace) = self.ctx.run.trace.take() else { return };
        for frame in 0..self.ctx.run.out.frames.0.len() {
            let FcFrame::Pause { class, quanta } = self.ctx.run.out.frames.0[frame] else { continue };
            let class = self.ctx.facts.layout.dense(class);
            if quanta.0 > 0 && class != u8::MAX && trace.is_live() {
                let source = self.source(&trace, peer(ingress), class);
                trace.origins.record(
                    self.ctx.facts.layout.port_class_id(ingress, class),
                    self.ctx.now,
                    source,
                );
            }
        }
        self.ctx.run.trace = Some(trace);
    }

    /// A port pauses its upstream of its node's own accord.
    #[cold]
    pub fn trace_forced(&mut self, port: Local, class: u8) {
        let (port_class, node) =
            (self.ctx.facts.layout.port_class_id(self.node.links.id(port), class), self.node.id);
        let now = self.ctx.now;
        if let Some(trace) = &mut self.ctx.run.trace {
            trace.origins.record(port_class, now, Source::At(Origin::Node(node)));
        }
    }

    /// Link control frames have arrived at an egress port, unless they were lost.
    #[cold]
    pub fn trace_pauses_received(&mut self, port: Local, packet: &Packet, lost: bool) {
        let port = self.node.links.id(port);
        let Some(mut trace) = self.ctx.run.trace.take() else { return };
        let made = trace.origins.made.remove(&(peer(port), self.ctx.now));
        for frame in packet.frames().filter(|_| !lost) {
            let FcFrame::Pause { class, quanta } = frame else { continue };
            let class = self.ctx.facts.layout.dense(class);
            if class == u8::MAX {
                continue;
            }
            let sent = made.and_then(|made| {
                trace.origins.origin_sent_at(self.ctx.facts.layout.port_class_id(peer(port), class), made)
            });
            let port_class = self.ctx.facts.layout.port_class_id(port, class);
            if let Some(source) = sent.filter(|_| quanta.0 > 0) {
                trace.origins.received.insert(port_class, source);
                // A pause that is sent again may have another origin now.
                let oldest = trace.oldest(self.ctx.now);
                trace.paused[port_class].turn(self.ctx.now, source, oldest);
            } else {
                trace.origins.received.remove(&port_class);
            }
        }
        self.ctx.run.trace = Some(trace);
    }

    /// A relay forwards a pause that arrived at its other port.
    #[cold]
    pub fn trace_handed_on(&mut self, other: Local, frame: FcFrame) {
        let FcFrame::Pause { class, .. } = frame else { return };
        let (class, now) = (self.ctx.facts.layout.dense(class), self.ctx.now);
        let Some(port) = self.node.switch.relay().map(|relay| relay.other(other)) else { return };
        let (port, other) = (self.node.links.id(port), self.node.links.id(other));
        let (from, to) = (
            self.ctx.facts.layout.port_class_id(port, class),
            self.ctx.facts.layout.port_class_id(other, class),
        );
        if let Some(trace) = &mut self.ctx.run.trace
            && let Some(&source) = trace.origins.received.get(&from)
        {
            trace.origins.record(to, now, source);
        }
    }

    /// The flow control of a link stops a class, or lets it go on.
    #[cold]
    pub fn trace_gate(&mut self, port_class: usize, open: bool) {
        let port_class = self.node.links.egress[port_class].id as usize;
        let Some(mut trace) = self.ctx.run.trace.take() else { return };
        let now = self.ctx.now;
        if open {
            trace.forget(now);
            let oldest = trace.oldest(now);
            trace.paused[port_class].go(now, oldest);
        } else if trace.is_live() {
            let received = trace.origins.received.get(&port_class).copied();
            let (port, class) = self.ctx.facts.layout.port_class_of(port_class);
            let source = received.unwrap_or_else(|| self.source(&trace, port, class));
            trace.paused[port_class].stop(now.max(trace.busy[port_class]), Some(source));
        }
        self.ctx.run.trace = Some(trace);
    }
}

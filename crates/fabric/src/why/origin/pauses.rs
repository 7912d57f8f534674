//! Pauses on the path of the flow that is traced, and their origins.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::slots::FcFrame;
use floodway_units::PortId;
use floodway_units::cast::narrow;

use super::super::parts::Origin;
use super::super::seen::Seen;
use super::super::stops::Source;
use super::super::trace::Trace;
use crate::link::packet::Packet;
use crate::run::events::NEVER;

impl Trace {
    /// The flow starts: what is stopped now was stopped for what holds it up now, unless the pause has an
    /// origin.
    pub(in crate::why) fn begin_stops(&mut self, seen: &Seen<'_, '_>) {
        for id in (0..narrow::<u32>(seen.facts.ports.len())).map(PortId) {
            for class in 0..seen.facts.layout.class_count() {
                let egress = seen.facts.layout.port_class(seen.facts.local(id), class);
                if seen.any(seen.facts.node_of(id)).links.egress[egress].paused_since == NEVER {
                    continue;
                }
                let port_class = seen.facts.layout.port_class_id(id, class);
                let received = self.origins.received.get(&port_class).copied();
                let source = received.unwrap_or_else(|| self.source(seen, id, class));
                self.paused[port_class].stop(seen.now.max(self.busy[port_class]), Some(source));
            }
        }
    }

    /// What a stop of a class at an egress port is for, as its downstream is now.
    fn source(&self, seen: &Seen<'_, '_>, port: PortId, class: u8) -> Source {
        let rx = peer(port);
        let (node, ingress) = (seen.any(seen.facts.node_of(rx)), seen.facts.local(rx));
        if seen.facts.ports[rx.index()].at_host {
            return Source::At(Origin::Node(node.id));
        }
        // Nothing of it stays there: the link's own flow control is all that holds it up.
        let Some(next) = seen.holds_most(node, ingress, class) else { return Source::At(Origin::Port(port)) };
        let oldest = seen.oldest_of(node, (ingress, next), class).unwrap_or(seen.now);
        let next = node.links.ports[next.index()].id;
        let port_class = seen.facts.layout.port_class_id(next, class);
        let otherwise = match self.paused[port_class].in_force() {
            // When it goes on, it has a queue for that.
            Some(stop) => self.origin_at(port_class, stop, stop.from.max(seen.now), &[]),
            None => self.lasting(port_class, (oldest, seen.now), &[]),
        };
        Source::Behind(port_class, otherwise.unwrap_or(Origin::Port(next)))
    }

    /// An ingress sends the frames of its outbox.
    pub fn pauses_sent(&mut self, seen: &Seen<'_, '_>, ingress: Local) {
        let ingress = seen.node.links.id(ingress);
        for &frame in &seen.run.out.frames.0 {
            let FcFrame::Pause { class, quanta } = frame else { continue };
            let class = seen.facts.layout.dense(class);
            if quanta.0 > 0 && class != u8::MAX && self.is_live() {
                let source = self.source(seen, peer(ingress), class);
                self.origins.record(seen.facts.layout.port_class_id(ingress, class), seen.now, source);
            }
        }
    }

    /// A port pauses its upstream of its node's own accord.
    pub fn forced(&mut self, seen: &Seen<'_, '_>, port: Local, class: u8) {
        let port_class = seen.facts.layout.port_class_id(seen.node.links.id(port), class);
        self.origins.record(port_class, seen.now, Source::At(Origin::Node(seen.node.id)));
    }

    /// Link control frames have arrived at an egress port, unless they were lost.
    pub fn pauses_received(&mut self, seen: &Seen<'_, '_>, port: Local, packet: &Packet, lost: bool) {
        let port = seen.node.links.id(port);
        let made = self.origins.made.remove(&(peer(port), seen.now));
        for frame in packet.frames().filter(|_| !lost) {
            let FcFrame::Pause { class, quanta } = frame else { continue };
            let class = seen.facts.layout.dense(class);
            if class == u8::MAX {
                continue;
            }
            let sent = made.and_then(|made| {
                self.origins.origin_sent_at(seen.facts.layout.port_class_id(peer(port), class), made)
            });
            let port_class = seen.facts.layout.port_class_id(port, class);
            if let Some(source) = sent.filter(|_| quanta.0 > 0) {
                self.origins.received.insert(port_class, source);
                // A pause that is sent again may have another origin now.
                let oldest = self.oldest(seen.now);
                self.paused[port_class].turn(seen.now, source, oldest);
            } else {
                self.origins.received.remove(&port_class);
            }
        }
    }

    /// A relay forwards a pause that arrived at its other port.
    pub fn handed_on(&mut self, seen: &Seen<'_, '_>, other: Local, frame: FcFrame) {
        let FcFrame::Pause { class, .. } = frame else { return };
        let class = seen.facts.layout.dense(class);
        let Some(port) = seen.node.switch.and_then(|switch| Some(switch.relay.as_ref()?.other(other))) else {
            return;
        };
        let (port, other) = (seen.node.links.id(port), seen.node.links.id(other));
        let (from, to) =
            (seen.facts.layout.port_class_id(port, class), seen.facts.layout.port_class_id(other, class));
        if let Some(&source) = self.origins.received.get(&from) {
            self.origins.record(to, seen.now, source);
        }
    }

    /// The flow control of a link stops a class, or lets it go on.
    pub fn gate_changed(&mut self, seen: &Seen<'_, '_>, port_class: LocalPortClass, open: bool) {
        let port_class = seen.node.links.egress[port_class].id as usize;
        let now = seen.now;
        if open {
            self.forget(now);
            let oldest = self.oldest(now);
            self.paused[port_class].go(now, oldest);
        } else if self.is_live() {
            let received = self.origins.received.get(&port_class).copied();
            let (port, class) = seen.facts.layout.port_class_of(port_class);
            let source = received.unwrap_or_else(|| self.source(seen, port, class));
            self.paused[port_class].stop(now.max(self.busy[port_class]), Some(source));
        }
    }
}

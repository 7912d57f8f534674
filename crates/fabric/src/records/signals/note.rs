//! Entries of the signal log.

use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{Cnp, CongestionNotification, CongestionPoint as _, Mark};
use floodway_units::cast::narrow;
use floodway_units::{Class, Time};

use super::{Cn, What};
use crate::link::arena::PacketRef;
use crate::network::layout::Local;
use crate::network::routing::peer;
use crate::run::at_node::AtNode;

/// The state of a queue, by the first machine of its port that has states.
fn state_of(points: &[AnyCongestionPoint], now: Time, class: Class) -> &'static str {
    points.iter().map(|point| point.state(now, class)).find(|state| !state.is_empty()).unwrap_or_default()
}

impl AtNode<'_, '_> {
    /// Writes down what states the machines of `port` have changed; they have just been called.
    pub fn note_states(&mut self, port: Local) {
        // Machines at a host are called for pauses, but for no packets.
        if self.ctx.run.kept.signals.is_some() && !self.node.links.ports[port.index()].at_host {
            self.push_states(port, What::State);
        }
    }

    /// Writes down the states that the queues of a port start in.
    pub fn note_first_states(&mut self, port: Local) {
        let state = &self.node.links.ports[port.index()];
        if state.has_cp && !state.at_host {
            self.push_states(port, What::Start);
        }
    }

    /// Likewise, of all ports.
    pub fn note_all_states(&mut self) {
        for port in self.node.locals() {
            self.note_states(port);
        }
    }

    #[inline(never)]
    fn push_states(&mut self, port: Local, what: fn(u16) -> What) {
        let (now, in_step) = (self.ctx.time(), self.ctx.is_step());
        let classes = self.ctx.facts.layout.classes.len();
        let Some(log) = &mut self.ctx.run.kept.signals else { return };
        let points = &self.node.machines[port.index()].congestion_points;
        for class in 1..classes {
            let egress = &mut self.node.links.egress[self.ctx.facts.layout.port_class(port, narrow(class))];
            let state = state_of(points, now, self.ctx.facts.layout.classes[class]);
            if state != std::mem::replace(&mut egress.rare.state_noted, state) {
                let what = what(log.code(state));
                log.push_row((now.0, in_step), egress.id as usize, what);
            }
        }
    }

    /// Writes down that the egress `port_class` has marked a packet.
    pub fn note_mark(&mut self, port_class: usize, packet_ref: PacketRef, mark: Mark) {
        let in_step = self.ctx.is_step();
        if let Some(log) = &mut self.ctx.run.kept.signals {
            let flow = self.ctx.run.pairs.paths[self.ctx.run.packets[packet_ref].flow.index()].name();
            log.push_row(
                (self.ctx.now, in_step),
                self.node.links.egress[port_class].id as usize,
                What::Mark(mark, flow),
            );
        }
    }

    /// Counts a CNP that a machine of `port` has made, and writes it down.
    pub fn note_cnp(&mut self, port: Local, cnp: &Cnp) {
        let in_step = self.ctx.is_step();
        let path = &self.ctx.run.pairs.paths[cnp.flow.index()];
        let port_class = self.ctx.facts.layout.port_class(port, path.class);
        let name = path.name();
        self.node.links.egress[port_class].rare.cnps += 1;
        if let Some(log) = &mut self.ctx.run.kept.signals {
            log.push_row(
                (self.ctx.now, in_step),
                self.node.links.egress[port_class].id as usize,
                What::Cnp(name, cnp.window),
            );
        }
    }

    /// Counts a congestion notification of a machine of `port` that goes out of `ingress`, and writes it
    /// down.
    pub fn note_cn(&mut self, port: Local, ingress: Local, cn: &CongestionNotification) {
        let class = self.ctx.facts.layout.dense(cn.class);
        if class == u8::MAX {
            // No queue is of it.
            return;
        }
        let port_class = self.ctx.facts.layout.port_class(port, class);
        self.node.links.egress[port_class].rare.cns += 1;
        let in_step = self.ctx.is_step();
        let to = self.ctx.facts.node_of(peer(self.node.links.id(ingress)));
        if let Some(log) = &mut self.ctx.run.kept.signals {
            log.push_row(
                (self.ctx.now, in_step),
                self.node.links.egress[port_class].id as usize,
                What::Cn(Cn { to, degree: cn.degree, flows: cn.count }),
            );
        }
    }
}

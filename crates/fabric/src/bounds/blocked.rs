//! Ports that flow control still blocks at the end of a run, although nothing is left to wait for.

use floodway_blueprint::network::routing::peer;
use floodway_records::outcome::Blocked;
use floodway_units::{PortId, Span};

use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::run::network::Network;
use crate::run::ranks::Share;
use crate::switch::crossbar::Inputs;

/// How long a port must have been blocked, beside a round trip of its link.
const LEAST: Span = Span::ms(1);

/// Looks for them at the end of a run, after due releases are applied, before the records are finished.
pub(crate) struct BlockedPorts<'w, 'a> {
    pub network: Network<'w, 'a>,
    pub share: Share<'w, 'a>,
    pub now: u64,
}

impl BlockedPorts<'_, '_> {
    /// Finds the (port, class) that have been blocked for at least a millisecond and a round trip, have
    /// something to send, and whose other end holds none of their bytes, so that it has no reason to block
    /// them. The longest first.
    pub fn find(mut self) -> Vec<Blocked> {
        let own = (0..self.network.facts.port_classes())
            .filter_map(|port_class| self.blocked_for(port_class))
            .collect();
        let mut found: Vec<(usize, u64)> = self.share.collected(own);
        let held = found.iter().map(|&(port_class, _)| port_class).filter(|&of| self.is_held_behind(of));
        let held = self.share.collected(held.collect());
        found.retain(|(port_class, _)| !held.contains(port_class));
        found.sort_unstable();
        let mut blocked: Vec<Blocked> = found.into_iter().map(|found| self.as_blocked(found)).collect();
        blocked.sort_by(|a, b| b.blocked_us.total_cmp(&a.blocked_us));
        blocked
    }

    /// For how long a port class of this process has been blocked, if it is that long and has something to
    /// send.
    fn blocked_for(&self, port_class: usize) -> Option<(usize, u64)> {
        let (port, class) = self.network.facts.layout.port_class_of(port_class);
        if !self.share.owns(self.network.facts.node_of(port)) {
            return None;
        }
        let link = &self.network.facts.blueprint.links[port.index() / 2];
        let round_trip: Span = link.directions.iter().map(|direction| direction.delay).sum();
        // A port class that is not paused has a time later than now.
        let blocked = self.now.checked_sub(self.network.egress(port_class).paused_since)?;
        let long = blocked >= (LEAST + round_trip).0;
        (long && self.has_to_send(port, class)).then_some((port_class, blocked))
    }

    /// Does the other end of a link, if it is of this process, hold bytes of a port class?
    fn is_held_behind(&self, port_class: usize) -> bool {
        let (port, class) = self.network.facts.layout.port_class_of(port_class);
        if !self.share.owns(self.network.facts.node_of(peer(port))) {
            return false;
        }
        let far = self.network.ingress(self.network.facts.layout.port_class_id(peer(port), class));
        far.held + far.headroom > 0
    }

    fn as_blocked(&self, (port_class, blocked): (usize, u64)) -> Blocked {
        let (port, class) = self.network.facts.layout.port_class_of(port_class);
        let class = self.network.facts.blueprint.classes()[usize::from(class)];
        let control = self.network.facts.blueprint.control_into(peer(port), class);
        Blocked {
            port: self.network.facts.blueprint.port_name(port),
            class: class.0,
            flow_control: control.map_or("", |control| control.name()),
            blocked_us: Span(blocked).as_us(),
        }
    }

    /// Does a packet of a class wait at a port, or a queue pair of it at the NIC behind?
    fn has_to_send(&self, port: PortId, class: u8) -> bool {
        let (node, port) = (self.network.node_at(port), self.network.facts.local(port));
        if let Some(host) = node.host() {
            let nic = &host.nics[port.index()];
            let of_class = |bitmaps: &[RoundRobinBitmap]| {
                bitmaps.get(usize::from(class)).is_some_and(|bitmap| !bitmap.is_empty())
            };
            return of_class(&nic.ready) || of_class(&nic.repeats);
        }
        let layout = &self.network.facts.layout;
        let queues = (1..layout.queues_per_port).filter(|q| layout.class_of_queue(*q) == class);
        let at_input = |inputs: &Inputs| node.locals().any(|from| inputs.bytes(from, port, class) > 0);
        queues.map(|q| &node.links.queues[layout.queues(port).nth(q)]).any(|queue| queue.bytes > 0)
            || node.inputs().is_some_and(at_input)
    }
}

//! Facts of a port that are fixed in advance: of its link, its node, and the size of its account.

use floodway_units::cast::whole;
use floodway_units::{NodeId, Rate, Span};
use rustc_hash::FxHashMap;

use crate::network::blueprint::{Blueprint, LinkSpec, Role, SwitchSpec};
use crate::network::serial::Serial;

/// Of a port. What changes at known times is changed at these, for the whole network at once.
#[derive(Clone, Debug)]
pub struct PortFacts {
    /// The node that it is of.
    pub node: NodeId,
    /// Of the link from here.
    pub rate: Rate,
    /// How long frames take to send.
    pub serial: Serial,
    /// Of the link from here, at this time.
    pub delay: Span,
    /// Of the switch that it belongs to.
    pub pipeline: Span,
    /// Where packets cross that switch from input to output: how long they take.
    pub crossing: Option<Crossing>,
    /// By index of a class, as bits: what comes in here must not be lost.
    pub lossless: u16,
    /// The second queue of each of its classes may lose what waits there.
    pub isolates: bool,
    /// It is of a host, not of a switch.
    pub at_host: bool,
    /// Of a NIC with a receive buffer: how long a frame takes from there to the host's memory.
    pub drain: Option<Box<Serial>>,
}

impl PortFacts {
    /// How long a frame takes from a NIC's receive buffer to the host's memory.
    #[inline]
    pub fn drain_time(&self, frame: u16) -> u64 {
        self.drain.as_ref().map_or(0, |serial| serial.time(u64::from(frame)))
    }
}

/// How long a packet takes across a crossbar: as long as on the fastest port, less by the speed-up.
#[derive(Clone, Debug)]
pub struct Crossing {
    /// At the rate of the fastest port.
    pub serial: Serial,
    /// How much faster packets cross.
    pub speed_up: f64,
}

impl Crossing {
    /// The time for a packet of `wire` bytes on a link.
    #[inline]
    pub fn time(&self, wire: u64) -> u64 {
        across(self.serial.time(wire), self.speed_up)
    }
}

/// Picoseconds that a packet takes to cross which takes `serial` on the fastest link.
#[inline]
pub fn across(serial: u64, speed_up: f64) -> u64 {
    whole((serial as f64 / speed_up).ceil())
}

/// Of all ports of a network, before its accounts are known.
pub fn of_network(blueprint: &Blueprint) -> Vec<PortFacts> {
    let mut serials: FxHashMap<Rate, Serial> = FxHashMap::default();
    let mut serial =
        |rate| serials.entry(rate).or_insert_with(|| Serial::new(rate, blueprint.semantics.rounding)).clone();
    let mut fastest = vec![Rate(0); blueprint.nodes.len()];
    for (node, rate) in blueprint.links.iter().flat_map(ends) {
        fastest[node.index()] = fastest[node.index()].max(rate);
    }
    let mut ports = Vec::with_capacity(2 * blueprint.links.len());
    for link in &blueprint.links {
        for (end, direction) in link.directions.iter().enumerate() {
            let node = link.ends[end].node;
            let switch = switch_at(blueprint, node);
            let plan = switch.and_then(|switch| switch.buffer.plan().crossbar);
            ports.push(PortFacts {
                node,
                rate: direction.rate,
                serial: serial(direction.rate),
                delay: direction.delay,
                pipeline: switch.map_or(Span::ZERO, |switch| switch.pipeline),
                crossing: plan
                    .map(|plan| Crossing { serial: serial(fastest[node.index()]), speed_up: plan.speed_up }),
                lossless: 0,
                isolates: false,
                at_host: switch.is_none(),
                drain: link.ends[end].receive.as_ref().map(|receive| Box::new(serial(receive.drain))),
            });
        }
    }
    ports
}

/// The nodes of a link, and at which rate each sends on it.
fn ends(link: &LinkSpec) -> impl Iterator<Item = (NodeId, Rate)> + '_ {
    link.ends.iter().zip(&link.directions).map(|(end, direction)| (end.node, direction.rate))
}

fn switch_at(blueprint: &Blueprint, node: NodeId) -> Option<&SwitchSpec> {
    match &blueprint.nodes[node.index()].role {
        Role::Switch(switch) => Some(switch),
        Role::Host { .. } => None,
    }
}

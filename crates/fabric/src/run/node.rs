//! Nodes: the state that each host and each switch owns.

use floodway_units::{Class, NodeId, PortId, QueueId, Rng, Time};

use crate::host::nics::Host;
use crate::link::links::Links;
use crate::network::layout::Local;
use crate::switch::buffer::Buffer;
use crate::switch::congestion::PortMachines;
use crate::switch::forward::Switch;

/// A host or a switch, with the ends of links that are there. An event of one node changes the state of no
/// other.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Node {
    /// The ends of its links.
    pub links: Links,
    pub buffer: Buffer,
    /// By port.
    pub machines: Vec<PortMachines>,
    /// Empty at a switch.
    pub host: Host,
    /// Empty at a host.
    pub switch: Switch,
    pub id: NodeId,
    /// Its events since the last inspection.
    pub work: u64,
    pub streams: Streams,
}

/// Random streams of a node, one a purpose.
#[derive(Debug)]
pub(crate) struct Streams {
    pub flow_control: Rng,
    pub congestion_point: Rng,
    pub routing: Rng,
    pub admission: Rng,
    pub notification: Rng,
    pub reliability: Rng,
}

impl Node {
    /// Does the discipline of a port hold a queue back?
    pub fn holds_back(&self, port: Local, queue: QueueId, now: Time) -> bool {
        let discipline = self.machines[port.index()].discipline();
        discipline.is_some_and(|discipline| !discipline.gate(now, queue).is_open(now))
    }

    /// Does the discipline of a host's port hold a flow back?
    pub fn holds_flow(&self, port: Local, class: Class, flow_hash: u64, now: Time) -> bool {
        let discipline = self.machines[port.index()].discipline();
        discipline.is_some_and(|discipline| discipline.holds(now, class, flow_hash))
    }

    /// May the second queue of each class lose what waits there, at a port of a switch?
    pub fn isolates(&self, port: Local) -> bool {
        self.links.ports.known(port.index()).has_discipline && self.machines[port.index()].queueing.isolates()
    }

    /// Does anything wait to be sent from a port?
    pub fn has_waiting(&self, port: Local) -> bool {
        let state = self.links.ports.known(port.index());
        if state.controls || state.waiting > 0 {
            return true;
        }
        state.at_host && self.host.nics[port.index()].has_waiting()
    }

    /// Is it a host?
    pub fn is_host(&self) -> bool {
        !self.host.nics.is_empty()
    }

    /// Its ports.
    pub fn locals(&self) -> impl Iterator<Item = Local> + use<> {
        self.links.locals()
    }

    /// Its ports, by what the network calls them.
    pub fn ids(&self) -> impl Iterator<Item = PortId> + '_ {
        self.links.ids()
    }
}

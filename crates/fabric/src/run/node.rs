//! Nodes: the state that each host and each switch owns.

use std::ops::{Deref, DerefMut};

use floodway_blueprint::network::layout::Local;
use floodway_units::{Class, NodeId, PortId, QueueId, Rng, Time};

use crate::host::nic::Nic;
use crate::host::nics::Host;
use crate::link::links::Links;
use crate::switch::buffer::Buffer;
use crate::switch::congestion::PortMachines;
use crate::switch::crossbar::Inputs;
use crate::switch::forward::Switch;

/// A host or a switch, with the ends of links that are there. An event of one node changes the state of no
/// other.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Node {
    core: NodeCore,
    device: AnyDevice,
}

/// What a node is besides the ends of its links.
#[derive(Debug)]
pub(crate) enum AnyDevice {
    Host(Host),
    Switch(Switch),
}

/// What hosts and switches have alike.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct NodeCore {
    /// The ends of its links.
    pub links: Links,
    pub buffer: Buffer,
    /// By port.
    pub machines: Vec<PortMachines>,
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

impl NodeCore {
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
        self.links.ports.of(port).has_discipline && self.machines[port.index()].queueing.isolates()
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

impl Node {
    pub fn new(core: NodeCore, device: AnyDevice) -> Self {
        Node { core, device }
    }

    /// What it has as any other, and what it is besides.
    #[inline]
    pub fn split(&mut self) -> (&mut NodeCore, &mut AnyDevice) {
        (&mut self.core, &mut self.device)
    }

    /// Is it a host?
    pub fn is_host(&self) -> bool {
        self.host().is_some()
    }

    /// The host that it is, if it is one.
    pub fn host(&self) -> Option<&Host> {
        match &self.device {
            AnyDevice::Host(host) => Some(host),
            AnyDevice::Switch(_) => None,
        }
    }

    pub fn host_mut(&mut self) -> Option<&mut Host> {
        match &mut self.device {
            AnyDevice::Host(host) => Some(host),
            AnyDevice::Switch(_) => None,
        }
    }

    /// The switch that it is, if it is one.
    pub fn switch(&self) -> Option<&Switch> {
        match &self.device {
            AnyDevice::Host(_) => None,
            AnyDevice::Switch(switch) => Some(switch),
        }
    }

    pub fn switch_mut(&mut self) -> Option<&mut Switch> {
        match &mut self.device {
            AnyDevice::Host(_) => None,
            AnyDevice::Switch(switch) => Some(switch),
        }
    }

    /// The inputs of a switch with a crossbar.
    pub fn inputs(&self) -> Option<&Inputs> {
        self.switch()?.inputs.as_deref()
    }

    /// Its NICs, by port; none at a switch.
    pub fn nics(&self) -> impl Iterator<Item = &Nic> {
        self.host().into_iter().flat_map(|host| host.nics.iter())
    }

    /// What is to be seen of it.
    pub fn sight(&self) -> Sight<'_> {
        Sight { core: &self.core, switch: self.switch() }
    }
}

impl Deref for Node {
    type Target = NodeCore;

    #[inline]
    fn deref(&self) -> &NodeCore {
        &self.core
    }
}

impl DerefMut for Node {
    #[inline]
    fn deref_mut(&mut self) -> &mut NodeCore {
        &mut self.core
    }
}

/// A node that is read, whether an event is executed there or not.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'n> {
    pub core: &'n NodeCore,
    /// The switch that it is, if it is one.
    pub switch: Option<&'n Switch>,
}

impl Sight<'_> {
    /// Is it a host?
    pub fn is_host(self) -> bool {
        self.switch.is_none()
    }
}

impl Deref for Sight<'_> {
    type Target = NodeCore;

    fn deref(&self) -> &NodeCore {
        self.core
    }
}

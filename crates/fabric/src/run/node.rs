//! Nodes: the state that each host and each switch owns.

use floodway_mechanisms::slots::CongestionPoint as _;
use floodway_units::{Class, NodeId, PortId, QueueId, Rng, Time};

use crate::column::Part;
use crate::host::nic::Nic;
use crate::host::queue_pairs::HostPairs;
use crate::link::port::{Egress, Port, Queue};
use crate::network::layout::Local;
use crate::records::histogram::Histogram;
use crate::records::series::Series;
use crate::records::shares::Bucket;
use crate::switch::buffer::Ingress;
use crate::switch::congestion::PortMachines;
use crate::switch::forward::Switch;

/// A host or a switch, with the ends of links that are there. An event of one node changes the state of no
/// other.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Node {
    /// Its ports, in the order of their links.
    pub ports: Part<Port>,
    /// Port classes of each port in a row.
    pub ingress: Part<Ingress>,
    pub egress: Part<Egress>,
    /// Queues of each port in a row.
    pub queues: Part<Queue>,
    pub series: Part<Series>,
    /// Of a host: one a port.
    pub nics: Part<Nic>,
    /// By port.
    pub machines: Vec<PortMachines>,
    /// By port, where they are kept; else empty.
    pub histograms: Vec<Histogram>,
    /// By port, of those whose flows are counted separately; else empty.
    pub buckets: Vec<Option<Bucket>>,
    /// Of a host.
    pub host_pairs: HostPairs,
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

fn locals(ports: usize) -> impl Iterator<Item = Local> {
    (0..ports).map(Local::at)
}

impl Node {
    /// Does a congestion point of a port hold a queue back?
    pub fn holds_back(&self, port: Local, queue: QueueId, now: Time) -> bool {
        let points = &self.machines[port.index()].congestion_points;
        points.iter().any(|point| !point.gate(now, queue).is_open(now))
    }

    /// Does a congestion point of a host's port hold a flow back?
    pub fn holds_flow(&self, port: Local, class: Class, flow_hash: u64, now: Time) -> bool {
        let points = &self.machines[port.index()].congestion_points;
        points.iter().any(|point| point.holds(now, class, flow_hash))
    }

    /// Is it a host?
    pub fn is_host(&self) -> bool {
        !self.nics.is_empty()
    }

    /// Its ports.
    pub fn locals(&self) -> impl Iterator<Item = Local> + use<> {
        locals(self.ports.len())
    }

    /// Its ports, by what the network calls them.
    pub fn ids(&self) -> impl Iterator<Item = PortId> + '_ {
        self.ports.iter().map(|port| port.id)
    }
}

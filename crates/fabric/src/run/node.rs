//! Nodes: the state that each host and each switch owns.

use floodway_mechanisms::slots::CongestionPoint as _;
use floodway_units::{Class, NodeId, PortId, QueueId, Rng, Time};

use crate::column::{Part, PartMut};
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

/// A node as an event of it sees it, which may change all of it.
pub(crate) struct NodeMut<'w> {
    pub id: NodeId,
    pub ports: PartMut<'w, Port>,
    pub ingress: PartMut<'w, Ingress>,
    pub egress: PartMut<'w, Egress>,
    pub queues: PartMut<'w, Queue>,
    pub series: PartMut<'w, Series>,
    pub nics: PartMut<'w, Nic>,
    pub machines: &'w mut Vec<PortMachines>,
    pub histograms: &'w mut Vec<Histogram>,
    pub buckets: &'w mut Vec<Option<Bucket>>,
    pub host_pairs: &'w mut HostPairs,
    pub switch: &'w mut Switch,
    pub streams: &'w mut Streams,
}

/// A node, read-only.
#[derive(Clone, Copy)]
pub(crate) struct NodeRef<'n> {
    pub id: NodeId,
    pub ports: &'n [Port],
    pub ingress: &'n [Ingress],
    pub egress: &'n [Egress],
    pub queues: &'n [Queue],
    pub series: &'n [Series],
    pub machines: &'n [PortMachines],
    pub switch: &'n Switch,
}

impl NodeMut<'_> {
    /// Is it a host?
    pub fn is_host(&self) -> bool {
        !self.nics.is_empty()
    }

    /// Its ports.
    pub fn locals(&self) -> impl Iterator<Item = Local> + use<> {
        locals(self.ports.len())
    }

    /// Read-only.
    #[inline]
    pub fn view(&self) -> NodeRef<'_> {
        NodeRef {
            id: self.id,
            ports: &self.ports,
            ingress: &self.ingress,
            egress: &self.egress,
            queues: &self.queues,
            series: &self.series,
            machines: self.machines,
            switch: self.switch,
        }
    }
}

impl NodeRef<'_> {
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

    /// Its ports.
    pub fn locals(&self) -> impl Iterator<Item = Local> + use<> {
        locals(self.ports.len())
    }
}

fn locals(ports: usize) -> impl Iterator<Item = Local> {
    (0..ports).map(Local::at)
}

impl Node {
    /// For an event of this node.
    #[inline]
    pub fn view_mut(&mut self) -> NodeMut<'_> {
        NodeMut {
            id: self.id,
            ports: self.ports.lend(),
            ingress: self.ingress.lend(),
            egress: self.egress.lend(),
            queues: self.queues.lend(),
            series: self.series.lend(),
            nics: self.nics.lend(),
            machines: &mut self.machines,
            histograms: &mut self.histograms,
            buckets: &mut self.buckets,
            host_pairs: &mut self.host_pairs,
            switch: &mut self.switch,
            streams: &mut self.streams,
        }
    }

    /// Read-only.
    #[inline]
    pub fn view(&self) -> NodeRef<'_> {
        NodeRef {
            id: self.id,
            ports: &self.ports,
            ingress: &self.ingress,
            egress: &self.egress,
            queues: &self.queues,
            series: &self.series,
            machines: &self.machines,
            switch: &self.switch,
        }
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

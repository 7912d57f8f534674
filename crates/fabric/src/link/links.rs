//! The ends of links at a node: what each of its ports sends, and what waits there.

use floodway_units::PortId;

use crate::column::Part;
use crate::link::port::{Egress, Port, Queue};
use crate::network::layout::Local;
use crate::records::histogram::Histogram;
use crate::records::series::Series;
use crate::records::shares::Bucket;

/// The ports of a node, in the order of their links.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Links {
    pub ports: Part<Port>,
    /// Port classes of each port in a row.
    pub egress: Part<Egress>,
    /// Queues of each port in a row.
    pub queues: Part<Queue>,
    pub series: Part<Series>,
    /// By port, where they are kept; else empty.
    pub histograms: Vec<Histogram>,
    /// By port, of those whose flows are counted separately; else empty.
    pub buckets: Vec<Option<Bucket>>,
}

impl Links {
    /// The ports.
    pub fn locals(&self) -> impl Iterator<Item = Local> + use<> {
        (0..self.ports.len()).map(Local::at)
    }

    /// The ports, by what the network calls them.
    pub fn ids(&self) -> impl Iterator<Item = PortId> + '_ {
        self.ports.iter().map(|port| port.id)
    }

    /// What the network calls a port.
    #[inline]
    pub fn id(&self, port: Local) -> PortId {
        self.ports.known(port.index()).id
    }
}

//! The nodes of a network, and how its ports are found in them.

use floodway_blueprint::network::facts::Facts;
use floodway_records::series::Series;
use floodway_units::PortId;

use crate::link::port::{Egress, Port};
use crate::run::node::Node;
use crate::switch::buffer::Ingress;

/// All nodes as they are now, to be read.
#[derive(Clone, Copy)]
pub(crate) struct Network<'w, 'a> {
    pub facts: &'w Facts<'a>,
    pub nodes: &'w [Node],
}

impl<'w> Network<'w, '_> {
    /// The node of a port.
    pub fn node_at(&self, port: PortId) -> &'w Node {
        &self.nodes[self.facts.node_of(port).index()]
    }

    /// The state of a port.
    pub fn port(&self, port: PortId) -> &'w Port {
        &self.node_at(port).links.ports[self.facts.local(port).index()]
    }

    /// The series of a port.
    pub fn series(&self, port: PortId) -> &'w Series {
        &self.node_at(port).links.series[self.facts.local(port).index()]
    }

    /// The ingress side of a port class of the network.
    pub fn ingress(&self, port_class: usize) -> &'w Ingress {
        let (port, class) = self.facts.layout.port_class_of(port_class);
        &self.node_at(port).buffer.accounts[self.facts.layout.port_class(self.facts.local(port), class)]
    }

    /// The egress side of a port class of the network.
    pub fn egress(&self, port_class: usize) -> &'w Egress {
        let (port, class) = self.facts.layout.port_class_of(port_class);
        &self.node_at(port).links.egress[self.facts.layout.port_class(self.facts.local(port), class)]
    }
}

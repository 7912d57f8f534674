//! What results and messages call nodes, links, ports and flows.

use floodway_units::PortId;

use crate::network::blueprint::Blueprint;
use crate::network::routing::peer;

impl Blueprint {
    /// "node (link)".
    pub fn port_name(&self, port: PortId) -> String {
        let link = &self.links[port.index() / 2];
        format!("{} ({})", self.nodes[link.ends[port.index() % 2].node.index()].name, link.name)
    }

    /// What tables call the direction in which a port sends.
    pub fn direction(&self, port: PortId) -> String {
        let node =
            |port: PortId| &self.nodes[self.links[port.index() / 2].ends[port.index() % 2].node.index()];
        // A link keeps the names of its ends, whether relays stand between or not.
        let behind = |port: PortId| match node(port).role.relay() {
            Some(relay) if relay.remote == port => peer(relay.local),
            _ => port,
        };
        let name = |port: PortId| &node(behind(port)).name;
        format!("{}: {}>{}", self.links[port.index() / 2].name, name(port), name(peer(port)))
    }

    /// What tables call a flow.
    pub fn flow_id(&self, workload: u32, source: u32, number: u64) -> String {
        format!("{}:{}:{number}", self.workloads[workload as usize].name, self.nodes[source as usize].name)
    }

    /// By node.
    pub fn node_names(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.name.clone()).collect()
    }

    /// By link.
    pub fn link_names(&self) -> Vec<String> {
        self.links.iter().map(|link| link.name.clone()).collect()
    }

    /// By workload.
    pub fn workload_names(&self) -> Vec<String> {
        self.workloads.iter().map(|workload| workload.name.clone()).collect()
    }
}

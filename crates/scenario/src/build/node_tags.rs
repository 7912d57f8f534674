//! Tags of hosts by their GPU node and their place in it.

use super::Builder;
use crate::topology::{Network, numbered};

impl Builder<'_> {
    /// With `gpu-nodes`, tags each host and its links with its node and its place there, unless the topology
    /// does.
    pub(super) fn tag_nodes(&mut self, network: &mut Network) {
        if self.document.gpu_nodes.is_none() {
            return;
        }
        let Some(gpus) = self.gpus(network) else { return };
        for (host, node, place) in gpus.places() {
            for (kind, number) in [("node", node), ("rail", place)] {
                let due = format!("{kind}-{number}");
                let host = &mut network.nodes[host];
                match host.tags.iter().find(|tag| numbered(tag, kind)) {
                    None => host.tags.push(due),
                    Some(tag) if *tag == due => {}
                    Some(tag) => {
                        let why = format!(
                            "{} is tagged {tag:?} by the topology, but should be {due:?}: hosts form nodes in the \
                             order of the network",
                            host.name
                        );
                        self.fault(&["gpu-nodes"], why);
                        return;
                    }
                }
            }
        }
        network.tag_links_of_hosts();
    }
}

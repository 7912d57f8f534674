//! How a run is computed: partitions that a scenario names, and threads.

use floodway_fabric::{Blueprint, Partitioning};
use floodway_units::NodeId;

use super::{Builder, error_at};
use crate::grammar::selector::Selector;
use crate::topology::Network;

impl Builder<'_> {
    /// The nodes of each partition that the scenario names; none if it names none.
    pub fn partitions(&mut self, network: &Network, blueprint: &Blueprint) -> Vec<Vec<NodeId>> {
        let keys = &self.document.engine;
        if keys.threads == Some(0) {
            self.fault(&["engine", "threads"], "0 is not a number of threads, 1 or more");
        }
        let Some(selectors) = &keys.partitions else { return Vec::new() };
        let path = ["engine", "partitions"];
        if selectors.len() < 2 {
            self.fault(&path, "two partitions or more are due, each a selector of nodes");
        }
        let groups: Vec<Vec<NodeId>> = selectors.iter().map(|of| self.selected_nodes(of, network)).collect();
        if let Err(why) = Partitioning::of_groups(blueprint, &groups) {
            self.fault(&path, why);
        }
        groups
    }

    fn selected_nodes(&mut self, selector: &Selector, network: &Network) -> Vec<NodeId> {
        let nodes = (0u32..).zip(&network.nodes);
        let of = nodes.filter(|(_, node)| selector.matches(&node.name, &node.tags));
        let selected: Vec<NodeId> = of.map(|(i, _)| NodeId(i)).collect();
        if selected.is_empty() {
            let message = format!("{selector} matches nothing");
            let error = error_at(self.tree, &["engine", "partitions"], message);
            self.errors.push(error.meant(selector.meant(network.labels_of_nodes(|_| true))));
        }
        selected
    }
}

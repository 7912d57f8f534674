//! The completion time that the HPCC simulator computes for a flow alone in the network.
//!
//! Its *standalone* time of a flow of S bytes is, in whole nanoseconds and rounded down at each step,
//!
//! ```text
//!   2 x sum of propagation + sum of (payload x 8 / rate) + (S + 48 x packets) x 8 / bottleneck
//! ```
//!
//! with sums over the links one way and headers of 48 bytes whatever the run's are. It leaves out the ACK and
//! what headers take on links other than the bottleneck, so a flow may be a little faster, and it is not
//! `ideal_fct_us`.

use std::collections::BTreeMap;

use floodway_fabric::Blueprint;
use floodway_fabric::routing::{Routes, peer};
use floodway_units::NodeId;

use crate::scenario::Scenario;

/// What the standalone times of flows from one host to another have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairTimes {
    /// Propagation one way, in nanoseconds.
    pub propagation_ns: u64,
    /// A full packet's payload at the rate of each link, in nanoseconds.
    pub payload_ns: u64,
    /// The lowest rate of a link, in bit/s.
    pub bottleneck_bps: u64,
}

/// Facts of pairs of hosts of a scenario.
#[derive(Debug)]
pub struct Pairs<'a> {
    blueprint: &'a Blueprint,
    routes: &'a Routes,
    nodes: BTreeMap<&'a str, NodeId>,
}

impl<'a> Pairs<'a> {
    /// With all links up.
    pub fn new(scenario: &'a Scenario) -> Self {
        let blueprint = scenario.blueprint();
        let names = blueprint.nodes.iter().map(|node| node.name.as_str());
        let nodes = names.zip((0..).map(NodeId)).collect();
        Pairs { blueprint, routes: scenario.routes(), nodes }
    }

    /// Along the first of the shortest paths; none where there is no path, or either is no host's name.
    pub fn times(&self, source: &str, destination: &str) -> Option<PairTimes> {
        let (mut node, destination) = (*self.nodes.get(source)?, *self.nodes.get(destination)?);
        let mut times = PairTimes { propagation_ns: 0, payload_ns: 0, bottleneck_bps: u64::MAX };
        while node != destination {
            let &port = self.routes.candidates(node, destination).first()?;
            let link = &self.blueprint.links[port.index() / 2].directions[port.index() % 2];
            times.propagation_ns += link.delay.0 / 1000;
            times.payload_ns += self.blueprint.mtu.0 * 8_000_000_000 / link.rate.0;
            times.bottleneck_bps = times.bottleneck_bps.min(link.rate.0);
            node = self.routes.node_of(peer(port));
        }
        Some(times)
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    use super::*;

    const CHAIN: &str = r#"
limit = "1ms"
[topology.explicit]
hosts = ["a", "b"]
switches = ["s", "t"]
links = [
  { between = ["a", "s"], rate = "100G", delay = "1us" },
  { between = ["s", "t"], rate = "40G", delay = "1500ps" },
  { between = ["t", "b"], rate = "25G", delay = "2us" },
]
[[workload]]
name = "one"
flows = [{ from = "a", to = "b", size = "1MB" }]
"#;

    #[test]
    fn each_step_is_in_whole_nanoseconds_and_the_slowest_link_is_the_bottleneck() {
        let scenario = Scenario::from_text("chain", CHAIN, &[]).expect("it is valid");
        let pairs = Pairs::new(&scenario);
        let times = PairTimes {
            propagation_ns: 1000 + 1 + 2000,
            payload_ns: 80 + 200 + 320,
            bottleneck_bps: 25_000_000_000,
        };
        assert_eq!(pairs.times("a", "b"), Some(times));
        assert_eq!(pairs.times("b", "a"), Some(times));
        assert_eq!(pairs.times("a", "nobody"), None);
    }
}

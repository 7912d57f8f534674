//! Columns that tables of ports have in common.

use floodway_blueprint::network::facts::Facts;
use floodway_units::PortId;

use crate::table::Values;

/// Where the port of each row is: its node, its number there in the order of links, and its link.
pub fn port_columns(
    facts: &Facts<'_>,
    ports: impl Iterator<Item = PortId> + Clone,
) -> [(&'static str, Values); 3] {
    let blueprint = facts.blueprint;
    let nodes = ports.clone().map(|port| facts.node_of(port).0).collect();
    let numbers = ports.clone().map(|port| facts.local(port).index() as u64).collect();
    [
        ("node", Values::Text { codes: nodes, dictionary: blueprint.node_names() }),
        ("port", Values::U64(numbers)),
        (
            "link",
            Values::Text {
                codes: ports.map(|port| port.0 / 2).collect(),
                dictionary: blueprint.link_names(),
            },
        ),
    ]
}

//! Congestion points of the egress ports of switches, alike ports together.

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::Role;
use floodway_mechanisms::registry::CongestionPointParams;
use floodway_units::PortId;
use serde::Serialize;

use super::kind_of;

/// Egress ports of switches with the same congestion points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EgressGroup {
    /// First tags of node and link, as in "tor to host-tor".
    pub kind: String,
    /// How many.
    pub count: usize,
    /// What detects congestion there; thresholds that a port's rate or delay decides are numbers.
    pub congestion_points: Vec<CongestionPointParams>,
}

/// All groups, in the order of the links; without ports that detect nothing, and without hosts, whose data waits in queue
/// pairs.
pub fn groups(blueprint: &Blueprint) -> Vec<EgressGroup> {
    let ports = (0..2 * blueprint.links.len() as u32).map(PortId);
    let mut alike: Vec<EgressGroup> = Vec::new();
    for (kind, congestion_points) in ports.filter_map(|port| points(blueprint, port)) {
        let same =
            |group: &&mut EgressGroup| group.kind == kind && group.congestion_points == congestion_points;
        match alike.iter_mut().find(same) {
            Some(group) => group.count += 1,
            None => alike.push(EgressGroup { kind, count: 1, congestion_points }),
        }
    }
    alike
}

fn points(blueprint: &Blueprint, port: PortId) -> Option<(String, Vec<CongestionPointParams>)> {
    let link = &blueprint.links[port.index() / 2];
    let end = &link.ends[port.index() % 2];
    let node = &blueprint.nodes[end.node.index()];
    if matches!(node.role, Role::Host { .. }) {
        return None;
    }
    let kind = format!("{} to {}", kind_of(&node.tags, "switch"), kind_of(&link.tags, "link"));
    let info = blueprint.port_info(port);
    let points: Vec<_> = end.congestion_points.iter().map(|point| point.settled(&info)).collect();
    (!points.is_empty()).then_some((kind, points))
}

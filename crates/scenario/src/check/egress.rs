//! Congestion points of the egress ports of switches, equal ports together.

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::Role;
use floodway_mechanisms::registry::CongestionPointParams;
use floodway_units::PortId;
use floodway_units::cast::narrow;
use serde::Serialize;

use super::kind_of;

/// Egress ports of switches with the same congestion points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EgressGroup {
    /// First tags of node and link, as in "tor to host-tor".
    pub kind: String,
    /// Rate of the link.
    pub rate_gbps: f64,
    /// How many.
    pub count: usize,
    /// What detects congestion there; thresholds that a port's rate or delay decides are numbers.
    pub congestion_points: Vec<CongestionPointParams>,
}

/// All groups, in the order of the links; without ports that detect nothing, and without hosts, whose data
/// waits in queue pairs.
pub fn groups(blueprint: &Blueprint) -> Vec<EgressGroup> {
    let ports = (0..2 * narrow::<u32>(blueprint.links.len())).map(PortId);
    let mut alike: Vec<EgressGroup> = Vec::new();
    for one in ports.filter_map(|port| alone(blueprint, port)) {
        match alike.iter_mut().find(|group| group.is_like(&one)) {
            Some(group) => group.count += 1,
            None => alike.push(one),
        }
    }
    alike
}

impl EgressGroup {
    /// Are the ports of both groups equal?
    fn is_like(&self, other: &EgressGroup) -> bool {
        let EgressGroup { kind, rate_gbps, count: _, congestion_points } = other;
        self.kind == *kind
            && self.rate_gbps.to_bits() == rate_gbps.to_bits()
            && self.congestion_points == *congestion_points
    }
}

fn alone(blueprint: &Blueprint, port: PortId) -> Option<EgressGroup> {
    let link = &blueprint.links[port.index() / 2];
    let end = &link.ends[port.index() % 2];
    let node = &blueprint.nodes[end.node.index()];
    if matches!(node.role, Role::Host { .. }) {
        return None;
    }
    let kind = format!("{} to {}", kind_of(&node.tags, "switch"), kind_of(&link.tags, "link"));
    let info = blueprint.port_info(port);
    let mut congestion_points = end.congestion_points.clone();
    for point in &mut congestion_points {
        point.fill_in(&info);
    }
    let rate_gbps = info.rate.as_gbps();
    (!congestion_points.is_empty()).then_some(EgressGroup { kind, rate_gbps, count: 1, congestion_points })
}

//! Machines from outside the tree.

use floodway_mechanisms::registry::{
    BufferParams, CongestionPointParams, FlowControlParams, NotificationParams, ReactionParams,
    ReliabilityParams, RoutingParams, SchedulerParams,
};

use super::{Blueprint, DirectionSpec, EndSpec, FlowSettings, NodeSpec, Role};

impl Blueprint {
    /// Has it machines from outside the tree?
    pub fn has_own_machines(&self) -> bool {
        let flows = |settings: &FlowSettings| {
            matches!(settings.reliability, ReliabilityParams::Custom(_))
                || matches!(settings.notification, NotificationParams::Custom(_))
                || settings.rate_control.iter().any(|layer| matches!(layer, ReactionParams::Custom(_)))
        };
        let switch = |node: &NodeSpec| match &node.role {
            Role::Switch(spec) => {
                matches!(spec.buffer, BufferParams::Custom(_))
                    || matches!(spec.routing, RoutingParams::Custom(_))
            }
            Role::Host { .. } => false,
        };
        let end = |end: &EndSpec| {
            matches!(end.buffer, Some(BufferParams::Custom(_)))
                || matches!(end.scheduler, SchedulerParams::Custom(_))
                || end.congestion_points.iter().any(|point| matches!(point, CongestionPointParams::Custom(_)))
        };
        let control = |direction: &DirectionSpec| {
            direction.flow_control.iter().any(|(_, control)| matches!(control, FlowControlParams::Custom(_)))
        };
        self.settings.iter().any(flows)
            || self.nodes.iter().any(switch)
            || self.links.iter().flat_map(|link| &link.ends).any(end)
            || self.links.iter().flat_map(|link| &link.directions).any(control)
    }
}

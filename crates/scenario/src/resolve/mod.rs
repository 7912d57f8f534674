//! Resolution of defaults and overrides: the settings of every object, and the line that made each.

mod apply;
mod plan;
mod relays;

pub use apply::Layer;
pub use plan::{
    Choice, DirectionPlan, EndPlan, FlowPlan, HostPlan, LinkPlan, NodePlan, Origin, Plan, SwitchPlan,
};

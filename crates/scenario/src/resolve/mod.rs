//! From defaults and overrides to what every object ended up with, and which line said so.

mod apply;
mod plan;
mod relays;

pub use apply::Layer;
pub use plan::{Choice, DirectionPlan, EndPlan, FlowPlan, LinkPlan, NodePlan, Origin, Plan, SwitchPlan};

//! Small networks for tests of parts of the fabric.

pub(crate) use floodway_blueprint::testing::*;
use floodway_records::outcome::Control;
use floodway_units::{NodeId, Span, Time};

use crate::Fabric;
use crate::run::at_node::{AtHost, AtNode, AtSwitch};
use crate::run::first_timers::arm_machines;
use crate::run::world::World;

/// Lets a network that has not begun run until `end`.
pub(crate) fn run_to(fabric: &mut Fabric<'_>, end: Span) {
    arm_machines(&mut fabric.world);
    let end = Time::ZERO + end;
    fabric.world.run_until(end);
    fabric.world.now = end.0;
}

/// Calls `test` with [`busy`] at `end`.
pub(crate) fn at_busy(end: Span, test: impl FnOnce(&mut World<'_>)) {
    let (blueprint, control) = (busy(), Control::default());
    let mut fabric = Fabric::build(&blueprint, &control).expect("it is sound");
    run_to(&mut fabric, end);
    test(&mut fabric.world);
}

/// A switch of the network, at the present.
pub(crate) fn at_switch<'w, 'a>(world: &'w mut World<'a>, node: NodeId) -> AtSwitch<'w, 'a> {
    match world.at(node) {
        AtNode::Switch(at) => at,
        AtNode::Host(_) => panic!("{node:?} is a host"),
    }
}

/// A host of the network, at the present.
pub(crate) fn at_host<'w, 'a>(world: &'w mut World<'a>, node: NodeId) -> AtHost<'w, 'a> {
    match world.at(node) {
        AtNode::Host(at) => at,
        AtNode::Switch(_) => panic!("{node:?} is a switch"),
    }
}

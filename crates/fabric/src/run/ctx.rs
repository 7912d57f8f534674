//! What each room gets beside its own state: the event that is executed, and what no node owns.

use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::routing::in_force;
use floodway_units::{NodeId, PortId, Time};

use crate::run::events::EventKind;
use crate::run::state::Run;

/// The event that is executed, and the state of the run that no node owns.
pub(crate) struct Ctx<'w, 'a> {
    pub now: u64,
    /// Order of the current event.
    pub order: u64,
    pub facts: &'w Facts<'a>,
    pub run: &'w mut Run<'a>,
}

impl Ctx<'_, '_> {
    #[inline]
    pub fn time(&self) -> Time {
        Time(self.now)
    }

    /// Is a step of the whole network being executed, the last of its instant, and not an event of the node?
    pub fn is_step(&self) -> bool {
        !self.run.events.is_numbered() && self.run.events.decode(self.order).0 == EventKind::Fault
    }

    /// Brings the routes to a destination up to date, where links come and go: before they are looked up.
    #[inline]
    pub fn refresh_routes(&mut self, destination: NodeId) {
        if let Some(changing) = &mut self.run.changing {
            changing.refresh(destination);
        }
    }

    /// Equal-cost ports of `node` toward the host `destination`, by the routes in force.
    #[inline]
    pub fn candidates(&self, node: NodeId, destination: NodeId) -> &[PortId] {
        in_force(&self.facts.routes, self.run.changing.as_deref(), (node, destination))
    }
}

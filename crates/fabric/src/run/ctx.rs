//! What each room gets beside its own state: the event that is executed, and what no node owns.

use floodway_units::Time;

use crate::network::facts::Facts;
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
}

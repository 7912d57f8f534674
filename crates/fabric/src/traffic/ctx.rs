//! What traffic gets beside its own state: the event that is executed, and where starts are scheduled.

use floodway_blueprint::network::facts::Facts;
use floodway_records::kept::Kept;

use crate::run::ctx::Ctx;
use crate::run::events::Events;
use crate::traffic::flows::Traffic;

/// The event that is executed, for what starts flows.
pub(crate) struct TrafficCtx<'w, 'a> {
    pub now: u64,
    pub facts: &'w Facts<'a>,
    pub events: &'w mut Events,
    pub kept: &'w mut Kept,
}

impl TrafficCtx<'_, '_> {
    /// The time of the run.
    pub fn run_time(&self) -> u64 {
        self.events.run_time(self.now)
    }
}

impl Traffic {
    /// The traffic of the run in which an event is executed, and what it gets.
    #[inline]
    pub fn at<'c, 'a>(ctx: &'c mut Ctx<'_, 'a>) -> (&'c mut Traffic, TrafficCtx<'c, 'a>) {
        let (run, now, facts) = (&mut *ctx.run, ctx.now, ctx.facts);
        (&mut run.traffic, TrafficCtx { now, facts, events: &mut run.events, kept: &mut run.kept })
    }
}

//! The epochs of a run, of one network or of its parts.
//!
//! ```text
//!  time of the run   |--- epoch ---|--- epoch ---|--- epoch ---|--- epoch ---|
//!  part 0             its events    its events    its events    its events
//!  part 1             its events    skipped ─────────────────►  its events
//!                                ▲ all parts are inspected that stand here
//! ```
//! Where flows of workloads connect only some of the nodes ([`components`]), what happens at one part has no
//! effect on another one. So each has a world of its own, with a clock of its own, and iterations of its jobs
//! are skipped whatever the other parts do ([`recurrence`](crate::run::recurrence)). At the end the first
//! part receives what the others have kept. The records are those of one network to the byte.
//!
//! Whether parts are such is not known for certain before: a mechanism might send a frame on a link that no
//! flow uses. What leaves a part is noticed; then, and where something concerns the network as a whole (a
//! deadlock, the end of the run while a part is ahead), the network is run again as one.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use floodway_blueprint::error::BuildError;
use floodway_blueprint::network::blueprint::Blueprint;
use floodway_blueprint::network::routing::Routes;
use floodway_engine::memory::Exhausted;
use floodway_engine::{Advance, end_of_epoch};
use floodway_records::outcome::{Control, Records, Stopped};
use floodway_units::Time;

use crate::run::first_timers::arm_machines;
use crate::run::ranks::Census;
use crate::run::ranks::gather::join;
use crate::run::state::Run;
use crate::run::threads::ThreadPlan;
use crate::run::world::{Extent, World};
use crate::tables::finish::Closed;

mod components;

use components::parts_of;

/// A network, or what has no effect on the rest of it.
pub(crate) struct Part<'a> {
    pub world: World<'a>,
    /// By the clock of its simulation.
    now: Time,
}

/// Why a run goes on no further.
enum End {
    /// It is over, or at its limit.
    Reached,
    Interrupted,
    /// Its parts are none.
    Connected,
}

impl<'a> Part<'a> {
    fn new(world: World<'a>) -> Self {
        Part { world, now: Time::ZERO }
    }

    /// By the clock of the run.
    fn run_time(&self) -> u64 {
        self.world.runs.own.events.run_time(self.now.0)
    }

    /// Executes all until `end`, a time of the run, or until more than that is skipped.
    fn advance(&mut self, end: Time) -> Advance {
        let world = &mut self.world;
        loop {
            let events = &world.runs.own.events;
            if events.run_time(self.now.0) >= end.0 {
                return Advance::Reached;
            }
            let end = Time(events.simulated(end.0));
            let look = world.recurrence.next_look(&world.facts, &world.runs, self.now, end);
            let until = look.unwrap_or(end);
            let how = world.run_until(until);
            self.now = until;
            if how == Advance::Interrupted {
                return how;
            }
            if look.is_some() {
                let (recurrence, mut moment) = world.moment(until);
                recurrence.look(&mut moment);
            }
        }
    }

    /// Has something been sent to a node of another part?
    fn is_left(&mut self) -> bool {
        let mut windows = self.world.runs.iter_mut().filter_map(|run| run.events.by_node());
        windows.any(|windows| !windows.elsewhere().is_empty())
    }

    /// Has a deadlock been found, and does it end the run?
    fn ends_by_deadlock(&self) -> bool {
        let World { facts, runs, .. } = &self.world;
        facts.blueprint.end.stop_on_deadlock && !runs.own.kept.deadlocks.is_empty()
    }

    /// Closes the books.
    fn close(&mut self) {
        let (world, end) = (&mut self.world, self.now);
        let (recurrence, mut moment) = world.moment(end);
        recurrence.stop_measuring(&mut moment);
        world.close(end);
        let (recurrence, mut moment) = world.moment(end);
        recurrence.join_rows(&mut moment);
        world.on_links = world.runs.merge();
    }
}

/// What of a run is executed here: all of it as one, or its parts.
pub(crate) struct Parts<'a> {
    all: Vec<Part<'a>>,
    interrupted: bool,
}

impl<'a> Parts<'a> {
    /// All as one.
    pub fn whole(world: World<'a>) -> Self {
        Parts { all: vec![Part::new(world)], interrupted: false }
    }

    /// By node: its part, of a network at rest, where there are several with jobs that may recur.
    pub fn owners(world: &mut World<'_>) -> Option<Vec<u8>> {
        // Faults may change the ways of packets.
        if world.runs.own.events.by_node()?.next_step().is_some() {
            return None;
        }
        let jobs = world.recurrence.jobs();
        if jobs.is_empty() { None } else { parts_of(&world.facts, jobs) }
    }

    /// The parts of a network, by the owners of nodes.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn of(
        blueprint: &'a Blueprint,
        routes: &Arc<Routes>,
        control: &'a Control,
        owners: &[u8],
    ) -> Result<Self, BuildError> {
        let part = |part: u8| {
            let owned = owners.iter().map(|&owner| owner == part).collect();
            let extent = Extent::Part { owned, is_first: part == 0 };
            World::build(blueprint, Some(routes), control, extent).map(Part::new)
        };
        let last = owners.iter().max().copied().unwrap_or_default();
        let all = (0..=last).map(part).collect::<Result<_, _>>()?;
        Ok(Parts { all, interrupted: false })
    }

    /// Makes them ready to run, on the threads of a plan.
    pub fn start(&mut self, thread_plan: Option<&ThreadPlan>) {
        for world in self.worlds() {
            arm_machines(world);
            let World { facts, runs, ranks, part, .. } = world;
            if let Some(thread_plan) = thread_plan {
                runs.start_workers(facts, (ranks.as_deref(), part.as_deref()), thread_plan);
            }
        }
    }

    fn worlds(&mut self) -> impl Iterator<Item = &mut World<'a>> {
        self.all.iter_mut().map(|part| &mut part.world)
    }

    /// The first one's.
    pub fn first(&self) -> &World<'a> {
        &self.all[0].world
    }

    /// The same, of a run that is over.
    pub fn into_first(self) -> Option<World<'a>> {
        self.all.into_iter().next().map(|part| part.world)
    }

    /// Runs to the end; none if parts are not such.
    pub fn go(mut self) -> Option<Self> {
        let end = self.run();
        let control = self.first().runs.own.control;
        if control.short_of_memory.load(Ordering::Relaxed) {
            Exhausted { bytes: 0 }.end();
        }
        self.interrupted = matches!(end, End::Interrupted);
        if self.interrupted {
            // An interrupted epoch is cut where it stood.
            self.all.iter_mut().for_each(|part| part.now = Time(part.world.now));
        }
        (!matches!(end, End::Connected)).then_some(self)
    }

    fn run(&mut self) -> End {
        let blueprint = self.first().facts.blueprint;
        let limit = blueprint.end.limit;
        let are_several = self.all.len() > 1;
        loop {
            let reached = self.all.iter().map(Part::run_time).min().unwrap_or(limit.0);
            if reached >= limit.0 {
                return End::Reached;
            }
            let end = end_of_epoch(Time(reached), limit);
            let is_behind = |part: &Part<'_>| part.run_time() < end.0;
            for part in self.all.iter_mut().filter(|part| is_behind(part)) {
                if part.advance(end) == Advance::Interrupted {
                    return End::Interrupted;
                }
                if are_several && part.is_left() {
                    return End::Connected;
                }
            }
            // A single network that is ahead is not inspected.
            let are_there = |part: &Part<'_>| part.run_time() == end.0;
            if !self.all.iter().any(are_there) {
                continue;
            }
            let census = self.census(|part| {
                if are_there(part) { part.world.at_epoch(part.now) } else { part.world.census() }
            });
            let first = self.first();
            census.report(first.runs.own.control, &first.work, end.0);
            let kept = |part: &Part<'_>| part.world.runs.own.kept.deadlocks.is_empty();
            if are_several && !self.all.iter().all(kept) {
                return End::Connected;
            }
            if self.is_over(&census, end.0) {
                return if self.all.iter().all(are_there) { End::Reached } else { End::Connected };
            }
        }
    }

    /// What has been counted by all, each of which is asked.
    fn census(&mut self, mut of: impl FnMut(&mut Part<'a>) -> Census) -> Census {
        let (first, others) = self.all.split_first_mut().expect("there is one at least");
        let mut census = of(first);
        for part in others {
            census.absorb(&of(part));
        }
        census
    }

    fn is_over(&self, census: &Census, now: u64) -> bool {
        let end = &self.first().facts.blueprint.end;
        self.all.iter().any(Part::ends_by_deadlock)
            || (!end.at_limit && census.is_all_measured_done(self.first().facts.blueprint, now))
    }

    /// Why the run is over.
    fn stopped(&mut self) -> Stopped {
        let now = self.all.iter().map(Part::run_time).max().unwrap_or_default();
        let census = self.census(|part| part.world.census());
        let blueprint = self.first().facts.blueprint;
        if self.interrupted {
            Stopped::Interrupted
        } else if self.all.iter().any(Part::ends_by_deadlock) {
            Stopped::Deadlock
        } else if census.is_all_measured_done(blueprint, now) {
            Stopped::Finished
        } else {
            Stopped::Limit
        }
    }

    /// Closes the books; the records, where this process has those of all. None, too, if parts are not such.
    pub fn finish(mut self) -> Option<Records> {
        for part in &mut self.all {
            part.world.now = part.now.0;
            if let Some(ranks) = &mut part.world.ranks {
                // What is on links between ranks is received.
                ranks.exchange_mail(&part.world.facts, &mut part.world.nodes, &mut part.world.runs);
            }
        }
        let stopped = self.stopped();
        self.all.iter_mut().for_each(Part::close);
        let is_blocked = |part: &Part<'_>| !part.world.runs.own.kept.blocked.is_empty();
        if self.all.len() > 1 && self.all.iter().any(is_blocked) {
            return None;
        }
        let now = self.all.iter().map(Part::run_time).max()?;
        let all_until = self.all.iter().map(Part::run_time).min().filter(|&until| until < now);
        let (mut skips, mut not_skipped) = (Vec::new(), None);
        for World { facts, runs, recurrence, .. } in self.worlds() {
            skips.extend(recurrence.skips());
            not_skipped = not_skipped.or_else(|| recurrence.not_skipped(facts, runs));
        }
        let mut worlds = self.all.into_iter().map(|part| part.world);
        let mut world = worlds.next()?;
        if let Some(mut ranks) = world.ranks.take() {
            if !ranks.gather(&mut world) {
                return None;
            }
        } else if world.part.is_none() && cfg!(debug_assertions) {
            world.in_network().check(&world.runs.own.pairs);
        }
        if let Some(owned) = world.part.take() {
            join(&mut world, &owned, worlds.collect());
        }
        let World { facts, nodes, runs, on_links, gathered, .. } = world;
        let Run { events, kept, packets, traffic, .. } = runs.own;
        let skipped = events.skipped();
        let closed = Closed {
            now,
            all_until,
            skipped,
            facts,
            nodes,
            kept,
            packets,
            traffic,
            on_links,
            gathered,
            skips,
            not_skipped,
        };
        Some(closed.records(stopped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fabric;
    use crate::testing::busy;

    /// How far the network runs in parts with these owners; none if they are connected.
    fn events_of(owners: &[u8]) -> Option<Vec<(&'static str, u64)>> {
        let (blueprint, control) = (busy(), Control::default());
        let fabric = Fabric::build(&blueprint, &control).expect("it is sound");
        let routes = Arc::clone(&fabric.world.facts.routes);
        let mut parts = Parts::of(&blueprint, &routes, &control, owners).expect("it is sound");
        parts.start(Some(&ThreadPlan::one(None)));
        Some(parts.go()?.finish()?.outcome.events)
    }

    #[test]
    fn parts_that_packets_leave_are_none() {
        // Hosts `a` to `d`, and the switches `s` of the first two and `t`.
        let whole = events_of(&[0; 6]);
        assert!(whole.is_some());
        for owners in [[0, 0, 1, 1, 0, 1], [1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1]] {
            assert_eq!(events_of(&owners), None, "{owners:?}");
        }
    }
}

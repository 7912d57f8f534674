//! Recurrence: iterations of jobs that are equal to earlier ones are not simulated again.
//!
//! ```text
//!   first look            look: same state     period measured      as often as it fits
//!   T1 ──── period ────── T2 ──── period ───── T3 ─ ─ ─ ─ ─ ─ ─ ─ ─ T3 + n periods ───── end
//!                                              └─ nothing of the simulation changes: what it does from here on
//!                                                 is recorded n periods later
//! ```
//! Where the state of the whole network recurs, what follows recurs. A while after an iteration of a job
//! began, all threads meet, and the state is written down ([`state`]). Where it is as it was a number of
//! iterations before, the period between is simulated once more, and everything that is recorded of it is
//! kept apart. If the state at its end is once more the same, field by field, the records of the period are
//! added as often as it still fits, and the simulation goes on where it is: its clock stays, and all that is
//! recorded from then on comes so much later. The ranks of the job count the iterations as done. So the bytes
//! are those of a run that simulates all.
//!
//! Nothing is skipped while anything else is to come: a flow of a list, a draw of a generator, a fault are
//! parts of the state. A period ends so that neither it nor any of its repetitions begins at a whole
//! microsecond, at which buckets of series may end.

mod counts;
mod period;
mod state;

use std::hash::Hasher as _;

use floodway_engine::Event;
use floodway_units::{NodeId, Time};
use rustc_hash::FxHasher;

use crate::network::blueprint::{Arrivals, Blueprint, Ties};
use crate::records::kept::rows::Rows;
use crate::records::outcome::Skipped;
use crate::run::world::World;

use period::Period;
use state::{Part, each_part};

/// From the beginning of an iteration to the look, in picoseconds: longer than an epoch, so that the
/// iteration is known by then, and no whole number of microseconds.
const AFTER: u64 = 100_000_063;
/// Jobs with fewer iterations are not looked at.
const LEAST: u32 = 4;
/// Packet-hops for each part of the state between two looks, at least: they take less than a hundredth of the
/// time.
const HOPS_OF_PART: u64 = 100;
/// After so many looks in vain they become rarer.
const PATIENT: u32 = 16;
/// Periods that were measured in vain, after which no more is.
const MOST_VAIN: u32 = 2;

/// What is known of a run's recurrence.
#[derive(Debug, Default)]
pub(crate) struct Recurrence {
    /// The job whose iterations are looked at, where something may be skipped.
    job: Option<u32>,
    seen: Vec<Seen>,
    /// Of the last look: the iteration, and packet-hops until then.
    last: Option<(u32, u64)>,
    /// Parts of the state.
    parts: u64,
    /// Periods that were measured in vain.
    vain: u32,
    period: Option<Box<Period>>,
    done: Option<Done>,
}

/// What was skipped.
#[derive(Debug)]
struct Done {
    skipped: Skipped,
    /// Rows until then, with those of what was skipped.
    rows: Rows,
    /// When the period began, and ended.
    period: (u64, u64),
    /// By workload: iterations that were skipped.
    iterations: Vec<u32>,
}

/// A state that was looked at.
#[derive(Clone, Debug)]
struct Seen {
    at: u64,
    /// By workload: the iteration of its first rank.
    iterations: Vec<u32>,
    hash: u64,
}

impl Recurrence {
    /// Of a run of `blueprint`, in which all is simulated that may have an effect.
    pub fn new(blueprint: &Blueprint) -> Self {
        let iterations = |at: usize| match &blueprint.workloads[at].arrivals {
            Arrivals::Program(spec) => spec.program.iterations,
            _ => 0,
        };
        let longest =
            (0..blueprint.workloads.len()).max_by_key(|&at| (iterations(at), std::cmp::Reverse(at)));
        let job = longest.filter(|&at| iterations(at) >= LEAST && is_known(blueprint));
        Recurrence { job: job.map(floodway_units::cast::narrow), ..Recurrence::default() }
    }

    /// Nothing is skipped.
    pub fn none() -> Self {
        Recurrence::default()
    }

    /// Simulated time that was skipped.
    pub fn skipped_ps(&self) -> u64 {
        self.done.as_ref().map_or(0, |done| done.skipped.time_ps)
    }

    /// What was skipped.
    pub fn skipped(&self) -> Option<&Skipped> {
        self.done.as_ref().map(|done| &done.skipped)
    }
}

/// Is all that is recorded known to be a sum over periods?
fn is_known(blueprint: &Blueprint) -> bool {
    let records = &blueprint.records;
    let measured = |at: &(Time, Time)| *at == (Time::ZERO, Time::NEVER);
    records.shares.is_none()
        && records.queue_histogram.is_none()
        && records.capture.is_none()
        && blueprint.semantics.ties == Ties::Hashed
        && blueprint.workloads.iter().all(|workload| measured(&workload.measure))
        && !blueprint.has_own_machines()
}

impl World<'_> {
    /// Simulated time that was skipped: what happens now comes so much later in the run.
    pub fn skipped_ps(&self) -> u64 {
        self.recurrence.skipped_ps()
    }

    /// When the state is looked at next, if that is from `now` on and before `end`.
    pub fn next_look(&self, now: Time, end: Time) -> Option<Time> {
        let Recurrence { job, last, parts, seen, period, .. } = &self.recurrence;
        let job = (*job)?;
        let between = |at: u64| Some(Time(at)).filter(|at| (now..end).contains(at));
        if let Some(period) = period {
            return between(period.until());
        }
        let (iteration, began) = self.runs.own.traffic.programs.iteration(job)?;
        if let Some((looked, hops)) = *last {
            let rarer = (seen.len() as u32).saturating_sub(PATIENT).min(20);
            if looked == iteration || self.hops() - hops < (HOPS_OF_PART * parts) << rarer {
                return None;
            }
        }
        between(began.0 + AFTER)
    }

    fn hops(&self) -> u64 {
        self.runs.iter().map(|run| run.kept.packet_hops).sum()
    }

    /// Looks at the state now, between two events.
    pub fn look(&mut self, now: Time) {
        let Some(job) = self.recurrence.job else { return };
        let iterations = self.iterations();
        self.recurrence.last = Some((iterations[job as usize], self.hops()));
        if let Some(period) = self.recurrence.period.take() {
            let parts = self.parts(now, &iterations);
            if period.recurs(&iterations, &parts) {
                let done = self.skip(*period, now, job);
                self.recurrence = Recurrence { done: Some(done), ..Recurrence::none() };
            } else {
                self.give_up(*period, now);
                self.recurrence.vain += 1;
                if self.recurrence.vain == MOST_VAIN {
                    self.recurrence = Recurrence::none();
                }
            }
            return;
        }
        let parts = self.parts(now, &iterations);
        self.recurrence.parts = parts.len() as u64;
        let mut hasher = FxHasher::default();
        parts.iter().for_each(|(_, text)| hasher.write(text.as_bytes()));
        let seen = Seen { at: now.0, iterations, hash: hasher.finish() };
        let before = self.recurrence.seen.iter().rev().find(|before| before.hash == seen.hash).cloned();
        if let Some(before) = before {
            self.recurrence.period = self.measure(&before, &seen, parts).map(Box::new);
        }
        self.recurrence.seen.push(seen);
    }

    /// By workload: the iteration of its first rank; 0 where it has none, or is complete.
    fn iterations(&self) -> Vec<u32> {
        let programs = &self.runs.own.traffic.programs;
        let workloads = 0..floodway_units::cast::narrow::<u32>(self.facts.blueprint.workloads.len());
        workloads.map(|of| programs.iteration(of).map_or(0, |(iteration, _)| iteration)).collect()
    }

    /// The state, part by part.
    fn parts(&mut self, now: Time, iterations: &[u32]) -> Vec<(Part, String)> {
        let mut pending: Vec<(NodeId, Event)> = Vec::new();
        for run in self.runs.iter_mut() {
            for event in run.events.pending() {
                // What concerns the whole network is of no node.
                pending.push((run.node_of(&self.facts, &event).unwrap_or(NodeId(u32::MAX)), event));
            }
        }
        pending.sort_unstable_by_key(|&(node, event)| (node, event.time, event.order));
        let mut parts = Vec::new();
        each_part(self, (now, iterations), &pending, |part, text| parts.push((part, text.to_owned())));
        parts
    }
}

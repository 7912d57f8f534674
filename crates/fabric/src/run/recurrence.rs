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
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Time};
use rustc_hash::FxHasher;

use crate::network::blueprint::{Arrivals, Blueprint, Ties};
use crate::network::facts::Facts;
use crate::records::kept::rows::Rows;
use crate::records::outcome::Skipped;
use crate::run::node::Node;
use crate::run::runs::Runs;

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
        Recurrence { job: job.map(narrow), ..Recurrence::default() }
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

/// A network between two events.
pub(crate) struct Moment<'w, 'a> {
    pub facts: &'w Facts<'a>,
    pub nodes: &'w mut [Node],
    pub runs: &'w mut Runs<'a>,
    pub now: Time,
}

impl Recurrence {
    /// When the state is looked at next, if that is from `now` on and before `end`.
    pub fn next_look(&self, runs: &Runs<'_>, now: Time, end: Time) -> Option<Time> {
        let job = self.job?;
        let between = |at: u64| Some(Time(at)).filter(|at| (now..end).contains(at));
        if let Some(period) = &self.period {
            return between(period.until());
        }
        let (iteration, began) = runs.own.traffic.programs.iteration(job)?;
        if let Some((looked, hops)) = self.last {
            let rarer = narrow::<u32>(self.seen.len()).saturating_sub(PATIENT).min(20);
            if looked == iteration || runs.hops() - hops < (HOPS_OF_PART * self.parts) << rarer {
                return None;
            }
        }
        between(began.0 + AFTER)
    }

    /// Looks at the state.
    pub fn look(&mut self, moment: &mut Moment<'_, '_>) {
        let Some(job) = self.job else { return };
        let iterations = moment.iterations();
        self.last = Some((iterations[job as usize], moment.runs.hops()));
        let parts = moment.parts(&iterations);
        if let Some(period) = self.period.take() {
            if period.recurs(&iterations, &parts) {
                *self = Recurrence { done: Some(moment.skip(*period, job)), ..Recurrence::none() };
                return;
            }
            moment.give_up(*period);
            self.vain += 1;
            if self.vain == MOST_VAIN {
                *self = Recurrence::none();
            }
            return;
        }
        self.parts = parts.len() as u64;
        let mut hasher = FxHasher::default();
        for (_, text) in &parts {
            hasher.write(text.as_bytes());
        }
        let seen = Seen { at: moment.now.0, iterations, hash: hasher.finish() };
        if let Some(before) = self.seen.iter().rev().find(|before| before.hash == seen.hash) {
            self.period = moment.measure(before, &seen, parts).map(Box::new);
        }
        self.seen.push(seen);
    }

    /// The run is over, perhaps within a period that is being measured.
    pub fn stop_measuring(&mut self, moment: &mut Moment<'_, '_>) {
        if let Some(period) = self.period.take() {
            moment.give_up(*period);
        }
    }

    /// Puts rows since what was skipped behind those before, when the run is over.
    pub fn join_rows(&mut self, moment: &mut Moment<'_, '_>) {
        if let Some(done) = &mut self.done {
            moment.join_rows(done);
        }
    }
}

impl Moment<'_, '_> {
    /// By workload: the iteration of its first rank; 0 where it has none, or is complete.
    fn iterations(&self) -> Vec<u32> {
        let programs = &self.runs.own.traffic.programs;
        let workloads = 0..narrow::<u32>(self.facts.blueprint.workloads.len());
        workloads.map(|of| programs.iteration(of).map_or(0, |(iteration, _)| iteration)).collect()
    }

    /// The state, part by part.
    fn parts(&mut self, iterations: &[u32]) -> Vec<(Part, String)> {
        let mut pending: Vec<(NodeId, Event)> = Vec::new();
        for run in self.runs.iter_mut() {
            for event in run.events.pending() {
                // What concerns the whole network is of no node.
                pending.push((run.node_of(self.facts, &event).unwrap_or(NodeId(u32::MAX)), event));
            }
        }
        pending.sort_unstable_by_key(|&(node, event)| (node, event.time, event.order));
        let mut parts = Vec::new();
        each_part(self, iterations, &pending, |part, text| parts.push((part, text.to_owned())));
        parts
    }
}

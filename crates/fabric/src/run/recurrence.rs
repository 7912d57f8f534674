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
mod parts;
mod period;
mod state;
#[cfg(test)]
mod tests;

use std::hash::Hasher as _;

use floodway_engine::Event;
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Time};
use rustc_hash::FxHasher;

use crate::network::blueprint::{Arrivals, Blueprint, Ties};
use crate::network::facts::Facts;
use crate::records::kept::rows::Rows;
use crate::records::outcome::{NotSkipped, Skipped};
use crate::run::node::Node;
use crate::run::runs::Runs;

use parts::{Differences, Parts};
use period::Period;
use state::each_part;

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
    /// The job with most iterations, if it has several.
    subject: Option<u32>,
    /// The same, where something may be skipped.
    job: Option<u32>,
    /// Why nothing has been skipped.
    hindrance: Hindrance,
    /// The state at the last look.
    before: Parts,
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

/// Why nothing has been skipped.
#[derive(Debug)]
enum Hindrance {
    /// In words.
    Because(&'static str),
    Differences(Differences),
}

impl Default for Hindrance {
    fn default() -> Self {
        Hindrance::Because("the run ended before an iteration could repeat another")
    }
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
    /// Of a run of `blueprint`.
    pub fn new(blueprint: &Blueprint) -> Self {
        let iterations = |at: usize| match &blueprint.workloads[at].arrivals {
            Arrivals::Program(spec) => spec.program.iterations,
            _ => 0,
        };
        let longest =
            (0..blueprint.workloads.len()).max_by_key(|&at| (iterations(at), std::cmp::Reverse(at)));
        let Some(longest) = longest.filter(|&at| iterations(at) > 1) else { return Recurrence::default() };
        let job = Some(narrow(longest));
        let mut recurrence = Recurrence { subject: job, job, ..Recurrence::default() };
        if iterations(longest) < LEAST {
            recurrence.prevent("it has fewer than four iterations");
        }
        if let Some(why) = unknown(blueprint) {
            recurrence.prevent(why);
        }
        recurrence
    }

    /// Nothing is skipped, and nobody asks why.
    pub fn none() -> Self {
        Recurrence::default()
    }

    /// Nothing is skipped, for this reason, unless there was one before.
    pub fn prevent(&mut self, why: &'static str) {
        if self.job.take().is_some() {
            self.hindrance = Hindrance::Because(why);
        }
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

impl Recurrence {
    /// Why no iteration of a job that has several was skipped.
    pub fn not_skipped(&self, facts: &Facts<'_>, runs: &Runs<'_>) -> Option<NotSkipped> {
        let job = self.subject.filter(|_| self.done.is_none())?;
        let workload = &facts.blueprint.workloads[job as usize];
        let Arrivals::Program(spec) = &workload.arrivals else { return None };
        let (why, differences) = match &self.hindrance {
            Hindrance::Because(why) => ((*why).to_owned(), Vec::new()),
            Hindrance::Differences(differences) => (differences.sentence(), differences.listed(facts, runs)),
        };
        Some(NotSkipped {
            workload: workload.name.clone(),
            of: spec.program.iterations,
            looks: narrow(self.seen.len()),
            why,
            differences,
        })
    }
}

/// Why what a run records, or does, is not known to be a sum over periods.
fn unknown(blueprint: &Blueprint) -> Option<&'static str> {
    let records = &blueprint.records;
    let measured = |at: &(Time, Time)| *at == (Time::ZERO, Time::NEVER);
    [
        (records.shares.is_some(), "the table of shares is kept (records.shares)"),
        (records.queue_histogram.is_some(), "histograms of queues are kept (records.queue-histogram)"),
        (records.capture.is_some(), "packets are captured (records.capture)"),
        (blueprint.semantics.ties != Ties::Hashed, "ties go by the order of scheduling (semantics.ties)"),
        (
            !blueprint.workloads.iter().all(|workload| measured(&workload.measure)),
            "a workload is measured for a part of the run (measure)",
        ),
        (blueprint.has_own_machines(), "it has mechanisms of its own (--python)"),
    ]
    .into_iter()
    .find_map(|(is_so, why)| is_so.then_some(why))
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
        if moment.runs.own.traffic.programs.iteration(job).is_none() {
            // It is at its end, and nothing is left to skip.
            self.job = None;
            return;
        }
        let iterations = moment.iterations();
        let iteration = iterations[job as usize];
        let before = self.last.replace((iteration, moment.runs.hops()));
        let parts = moment.parts(&iterations);
        if let Some(period) = self.period.take() {
            if period.recurs(&iterations) && self.before == parts {
                *self = Recurrence { done: Some(moment.skip(*period, job)), ..Recurrence::none() };
                return;
            }
            moment.give_up(*period);
            self.differ(before, iteration, parts);
            self.vain += 1;
            if self.vain == MOST_VAIN {
                (self.job, self.before) = (None, Parts::default());
            }
            return;
        }
        self.parts = parts.len() as u64;
        let mut hasher = FxHasher::default();
        for (_, text) in &parts {
            hasher.write(text.as_bytes());
        }
        self.differ(before, iteration, parts);
        let seen = Seen { at: moment.now.0, iterations, hash: hasher.finish() };
        if let Some(before) = self.seen.iter().rev().find(|before| before.hash == seen.hash) {
            match moment.measure(before, &seen) {
                Ok(period) => self.period = Some(Box::new(period)),
                Err(why) => self.hindrance = Hindrance::Because(why),
            }
        }
        self.seen.push(seen);
    }

    /// Keeps what differs between the last look and this one.
    fn differ(&mut self, before: Option<(u32, u64)>, iteration: u32, parts: Parts) {
        if let Some((before, _)) = before {
            let differences = Differences::between((before, iteration), &self.before, &parts);
            self.hindrance = Hindrance::Differences(differences);
        }
        self.before = parts;
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
    fn parts(&mut self, iterations: &[u32]) -> Parts {
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

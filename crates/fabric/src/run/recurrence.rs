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
//! What comes at a fixed time of the run (flows of lists and generators, jobs that begin later, faults, ends
//! of what is measured) has no effect before. Repetitions end before the first of it, and then it comes so
//! much earlier by the clock of the simulation (`run/events/clock.rs`). Where the state recurs once more
//! behind it, more is skipped. A period ends so that neither it nor
//! any of its repetitions begins at a whole microsecond of the run, at which buckets of series may end.

mod counts;
mod over;
mod parts;
mod period;
mod state;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
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
    /// Jobs of which something may be skipped.
    jobs: Vec<u32>,
    /// Why nothing has been skipped.
    hindrance: Hindrance,
    /// The state at the last look.
    before: Parts,
    seen: Vec<Seen>,
    last: Option<Look>,
    /// Parts of the state.
    parts: u64,
    /// Looks since something was skipped.
    vain_looks: u32,
    /// Periods that were measured in vain since something was skipped, or came at its fixed time.
    vain_periods: u32,
    period: Option<Box<Period>>,
    skips: Vec<Skipped>,
    /// Rows until the last skip, with those of what was skipped, by the clock of the run.
    rows: Rows,
}

/// A look.
#[derive(Clone, Copy, Debug)]
struct Look {
    job: u32,
    iteration: u32,
    /// Packet-hops until then.
    hops: u64,
    /// When the first comes of what has a fixed time of the run.
    coming: u64,
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
        let count = narrow::<u32>(blueprint.workloads.len());
        let iterations = |at: u32| iterations_of(blueprint, at).unwrap_or_default();
        let subject = (0..count).max_by_key(|&at| (iterations(at), Reverse(at)));
        let subject = subject.filter(|&at| iterations(at) > 1);
        let jobs: Vec<u32> = (0..count).filter(|&at| iterations(at) >= LEAST).collect();
        let mut recurrence = Recurrence { subject, jobs, ..Recurrence::default() };
        if subject.is_some() && recurrence.jobs.is_empty() {
            recurrence.hindrance = Hindrance::Because("it has fewer than four iterations");
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
        if !self.jobs.is_empty() {
            self.jobs.clear();
            self.hindrance = Hindrance::Because(why);
        }
    }

    /// What was skipped.
    pub fn skips(&self) -> Vec<Skipped> {
        self.skips.clone()
    }

    /// Why no iteration of a job that has several was skipped.
    pub fn not_skipped(&self, facts: &Facts<'_>, runs: &Runs<'_>) -> Option<NotSkipped> {
        let job = self.subject.filter(|_| self.skips.is_empty())?;
        let (why, differences) = match &self.hindrance {
            Hindrance::Because(why) => ((*why).to_owned(), Vec::new()),
            Hindrance::Differences(differences) => (differences.sentence(), differences.listed(facts, runs)),
        };
        Some(NotSkipped {
            workload: facts.blueprint.workloads[job as usize].name.clone(),
            of: iterations_of(facts.blueprint, job)?,
            looks: narrow(self.seen.len()),
            why,
            differences,
        })
    }
}

/// The iterations of a workload's job, if it is one.
fn iterations_of(blueprint: &Blueprint, workload: u32) -> Option<u32> {
    match &blueprint.workloads[workload as usize].arrivals {
        Arrivals::Program(spec) => Some(spec.program.iterations),
        _ => None,
    }
}

/// Why what a run records, or does, is not known to be a sum over periods.
fn unknown(blueprint: &Blueprint) -> Option<&'static str> {
    let records = &blueprint.records;
    [
        (records.shares.is_some(), "the table of shares is kept (records.shares)"),
        (records.queue_histogram.is_some(), "histograms of queues are kept (records.queue-histogram)"),
        (records.capture.is_some(), "packets are captured (records.capture)"),
        (blueprint.semantics.ties != Ties::Hashed, "ties go by the order of scheduling (semantics.ties)"),
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
    pub fn next_look(&self, facts: &Facts<'_>, runs: &Runs<'_>, now: Time, end: Time) -> Option<Time> {
        let between = |at: u64| Some(Time(at)).filter(|at| (now..end).contains(at));
        if let Some(period) = &self.period {
            return between(period.until());
        }
        let job = self.next_job(facts, runs)?;
        let (iteration, began) = runs.own.traffic.programs.iteration(job)?;
        if let Some(last) = &self.last {
            let rarer = self.vain_looks.saturating_sub(PATIENT).min(20);
            let hops = runs.hops() - last.hops;
            if (last.job, last.iteration) == (job, iteration) || hops < (HOPS_OF_PART * self.parts) << rarer {
                return None;
            }
            if self.vain_periods == MOST_VAIN && runs.own.events.run_time(now.0) <= last.coming {
                return None;
            }
        }
        between(began.0 + AFTER)
    }

    /// The job whose iterations are looked at: of those that go on, the one that has most left; that of the
    /// last look, as long as it has nearly as many.
    fn next_job(&self, facts: &Facts<'_>, runs: &Runs<'_>) -> Option<u32> {
        let programs = &runs.own.traffic.programs;
        let left = |job: u32| {
            let (iteration, _) = programs.iteration(job)?;
            let skipped = programs.skipped(programs.of_workload(job).start);
            Some(iterations_of(facts.blueprint, job)? - iteration - skipped)
        };
        let all = self.jobs.iter().filter_map(|&job| Some((left(job)?, Reverse(job))));
        let (most, Reverse(job)) = all.max()?;
        let last = self.last.map(|last| last.job);
        Some(last.filter(|&last| left(last).is_some_and(|left| left + 1 >= most)).unwrap_or(job))
    }

    /// Looks at the state.
    pub fn look(&mut self, moment: &mut Moment<'_, '_>) {
        let job = match &self.period {
            Some(period) => period.job,
            None => match self.next_job(moment.facts, moment.runs) {
                Some(job) => job,
                None => return,
            },
        };
        moment.close_what_is_over();
        let iterations = moment.iterations();
        let iteration = iterations[job as usize];
        let (parts, coming) = moment.parts(&iterations);
        let look = Look { job, iteration, hops: moment.runs.hops(), coming };
        let before = self.last.replace(look);
        self.vain_looks += 1;
        if before.is_some_and(|before| before.coming < moment.run_time()) {
            self.vain_periods = 0;
        }
        if let Some(period) = self.period.take() {
            let recurs = period.recurs(&iterations) && self.before == parts;
            if recurs && !moment.is_paused_throughout(period.begin) {
                self.rows.absorb(moment.skip(*period, &mut self.skips));
                (self.vain_looks, self.vain_periods) = (0, 0);
                return;
            }
            moment.give_up(*period);
            self.differ(before, look, parts);
            self.vain_periods += 1;
            return;
        }
        self.parts = parts.len() as u64;
        let mut hasher = FxHasher::default();
        for (_, text) in &parts {
            hasher.write(text.as_bytes());
        }
        self.differ(before, look, parts);
        let seen = Seen { at: moment.now.0, iterations, hash: hasher.finish() };
        if let Some(before) = self.seen.iter().rev().find(|before| before.hash == seen.hash) {
            match moment.measure(before, &seen, look) {
                Ok(period) => self.period = Some(Box::new(period)),
                Err(why) => self.hindrance = Hindrance::Because(why),
            }
        }
        self.seen.push(seen);
    }

    /// Keeps what differs between the last look and this one.
    fn differ(&mut self, before: Option<Look>, look: Look, parts: Parts) {
        if let Some(before) = before.filter(|before| before.job == look.job) {
            let iterations = (before.iteration, look.iteration);
            self.hindrance = Hindrance::Differences(Differences::between(iterations, &self.before, &parts));
        }
        self.before = parts;
    }

    /// The run is over, perhaps within a period that is being measured.
    pub fn stop_measuring(&mut self, moment: &mut Moment<'_, '_>) {
        if let Some(period) = self.period.take() {
            moment.give_up(*period);
        }
    }

    /// Puts rows since the last skip behind those before, when the run is over.
    pub fn join_rows(&mut self, moment: &mut Moment<'_, '_>) {
        if !self.skips.is_empty() {
            moment.join_rows(std::mem::take(&mut self.rows));
        }
    }
}

impl Moment<'_, '_> {
    /// The time of the run.
    fn run_time(&self) -> u64 {
        self.runs.own.events.run_time(self.now.0)
    }

    /// By workload: the iteration of its first rank; 0 where it has none, or has not begun, or is complete.
    fn iterations(&self) -> Vec<u32> {
        let programs = &self.runs.own.traffic.programs;
        let workloads = 0..narrow::<u32>(self.facts.blueprint.workloads.len());
        workloads.map(|of| programs.iteration(of).map_or(0, |(iteration, _)| iteration)).collect()
    }

    /// The state, part by part; and when, by the clock of the run, the first comes of what has a fixed time.
    fn parts(&mut self, iterations: &[u32]) -> (Parts, u64) {
        let mut pending: Vec<(NodeId, Event)> = Vec::new();
        for run in self.runs.iter_mut() {
            for event in run.events.pending() {
                // What concerns the whole network is of no node.
                pending.push((run.node_of(self.facts, &event).unwrap_or(NodeId(u32::MAX)), event));
            }
        }
        pending.sort_unstable_by_key(|&(node, event)| (node, event.time, event.order));
        let fixed = pending.iter().filter(|(_, event)| self.runs.own.is_fixed(event));
        let events = fixed.map(|(_, event)| self.runs.own.events.run_time(event.time.0));
        let bounds = self.facts.blueprint.workloads.iter();
        let bounds = bounds.flat_map(|workload| [workload.measure.0, workload.measure.1, workload.until]);
        let bounds = bounds.map(|at| at.0).filter(|&at| at > self.run_time());
        let coming = events.chain(bounds).min().unwrap_or(u64::MAX);
        let mut parts = Parts::new();
        each_part(self, iterations, &pending, |part, text| parts.push((part, text.to_owned())));
        (parts, coming)
    }
}

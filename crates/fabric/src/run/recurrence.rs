//! Recurrence: iterations of jobs that are equal to earlier ones are not simulated again.
//!
//! ```text
//!   first look            look: same state     period measured      as often as it fits
//!   T1 ──── period ────── T2 ──── period ───── T3 ─ ─ ─ ─ ─ ─ ─ ─ ─ T3 + n periods ───── end
//!                                              └─ nothing of the simulation changes: what it does from here on
//!                                                 is recorded n periods later
//! ```
//! Where the state of the whole network recurs, what follows recurs. A while after an iteration of a job
//! began, or a round of its graph ([`Rounds`](floodway_programs::Rounds)), all threads meet, and the state is
//! written down ([`state`]). Where it is as it was a number of iterations or rounds before, the period
//! between is simulated once more, and everything that is recorded of it is kept apart. If the state at its
//! end is once more the same, field by field, the records of the period are added as often as it still fits,
//! and the simulation goes on where it is: its clock stays, and all that is recorded from then on comes so
//! much later. The ranks of the job count the iterations as done; where rounds are skipped, the program of
//! that iteration is so much shorter. So the bytes are those of a run that simulates all.
//!
//! What comes at a fixed time of the run (flows of lists and generators, jobs that begin later, faults, ends
//! of what is measured) has no effect before. Repetitions end before the first of it, and then it comes so
//! much earlier by the clock of the simulation (`run/events/clock.rs`). Where the state recurs once more
//! behind it, more is skipped. A period ends so that neither it nor any of its repetitions begins at a whole
//! microsecond of the run, at which buckets of series may end.

mod counts;
mod over;
mod parts;
mod period;
mod seen;
mod state;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::hash::Hasher as _;

use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, Ties};
use floodway_blueprint::network::facts::Facts;
use floodway_engine::Event;
use floodway_programs::walker::Position;
use floodway_records::kept::rows::Rows;
use floodway_records::outcome::{NotSkipped, Skipped};
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Time};
use rustc_hash::FxHasher;

use crate::run::node::Node;
use crate::run::runs::Runs;

use parts::{Differences, Parts, Unit};
use period::Period;
use seen::Seen;
use state::each_part;

/// From the beginning of an iteration or round to the look, in picoseconds: longer than an epoch, so that the
/// beginning is known by then, and no whole number of microseconds.
const AFTER: u64 = 100_000_063;
/// Jobs with fewer iterations, and graphs with fewer rounds, are not looked at.
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
    /// The job with most iterations, if it has several, or else with most rounds.
    subject: Option<u32>,
    /// Jobs of which something may be skipped.
    jobs: Vec<u32>,
    /// Why nothing has been skipped, and the job that was looked at for it.
    hindrance: (Option<u32>, Hindrance),
    of_iterations: Looks,
    of_rounds: Looks,
    seen: Vec<Seen>,
    /// What rounds were skipped, in picoseconds.
    rounds_ps: u64,
    /// Parts of the state.
    parts: u64,
    period: Option<Box<Period>>,
    skips: Vec<Skipped>,
    /// Rows until the last skip, with those of what was skipped, by the clock of the run.
    rows: Rows,
}

/// Looks behind the beginnings of one unit.
#[derive(Debug, Default)]
struct Looks {
    last: Option<Look>,
    /// The state at the last one.
    before: Parts,
    /// Since something was skipped.
    vain: u32,
    /// Periods that were measured in vain since something was skipped, or came at its fixed time.
    vain_periods: u32,
}

/// A look.
#[derive(Clone, Copy, Debug)]
struct Look {
    job: u32,
    /// Where its first rank is.
    position: Position,
    /// Packet-hops until then.
    hops: u64,
    /// When the first comes of what has a fixed time of the run.
    coming: u64,
}

impl Looks {
    /// May the state be looked at, after so many hops, at least, since the last look?
    fn may_look(
        &self,
        (job, position, unit): (u32, Position, Unit),
        hops: u64,
        least: u64,
        now: u64,
    ) -> bool {
        let Some(last) = &self.last else { return true };
        let is_same = last.position.iteration == position.iteration
            && (unit == Unit::Iteration || last.position.round == position.round);
        let rarer = self.vain.saturating_sub(PATIENT).min(20);
        let is_due = !(last.job == job && is_same) && hops - last.hops >= least << rarer;
        is_due && (self.vain_periods < MOST_VAIN || now > last.coming)
    }
}

/// Why nothing has been skipped, where no state was compared with another.
const NO_SECOND_LOOK: &str = "the run ended before anything of it could repeat";
/// The same, where that would have taken too long.
const FEW_PACKETS: &str =
    "so few packets were sent after its state was written down that to compare it would have taken longer";

/// Why nothing has been skipped.
#[derive(Debug)]
enum Hindrance {
    /// In words.
    Because(&'static str),
    Differences(Differences),
}

impl Default for Hindrance {
    fn default() -> Self {
        Hindrance::Because(NO_SECOND_LOOK)
    }
}

impl Recurrence {
    /// Of a run of `blueprint`, or of the jobs at the nodes that are `owned`.
    pub fn new(blueprint: &Blueprint, owned: &[bool]) -> Self {
        let is_owned = |&at: &u32| match &blueprint.workloads[at as usize].arrivals {
            Arrivals::Program(spec) => spec.hosts.first().is_some_and(|host| owned[host.index()]),
            _ => false,
        };
        let own = || (0..narrow::<u32>(blueprint.workloads.len())).filter(is_owned);
        let iterations = |at: u32| iterations_of(blueprint, at).unwrap_or_default();
        let rounds = |at: u32| rounds_of(blueprint, at);
        let subject = own().max_by_key(|&at| (iterations(at), rounds(at), Reverse(at)));
        let subject = subject.filter(|&at| iterations(at) > 1 || rounds(at) >= LEAST);
        let may_recur = |&at: &u32| iterations(at) >= LEAST || rounds(at) >= LEAST;
        let jobs: Vec<u32> = own().filter(may_recur).collect();
        let mut recurrence = Recurrence { subject, jobs, ..Recurrence::default() };
        if subject.is_some() && recurrence.jobs.is_empty() {
            let why = "it has fewer than four iterations, and fewer micro-batches in its steady part";
            recurrence.hindrance = (subject, Hindrance::Because(why));
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
            self.hindrance = (None, Hindrance::Because(why));
        }
    }

    /// Jobs of which something may be skipped.
    pub fn jobs(&self) -> &[u32] {
        &self.jobs
    }

    /// What was skipped.
    pub fn skips(&self) -> Vec<Skipped> {
        self.skips.clone()
    }

    /// Why no iteration of a job that has several was skipped.
    pub fn not_skipped(&self, facts: &Facts<'_>, runs: &Runs<'_>) -> Option<NotSkipped> {
        let subject = self.subject.filter(|_| self.skips.is_empty())?;
        let (job, hindrance) = &self.hindrance;
        let job = job.unwrap_or(subject);
        let hops = self.of_iterations.last.or(self.of_rounds.last).map(|last| runs.hops() - last.hops);
        let is_scarce = hops.is_some_and(|hops| hops < HOPS_OF_PART * self.parts);
        let (why, differences) = match hindrance {
            Hindrance::Because(NO_SECOND_LOOK) if is_scarce => (FEW_PACKETS.to_owned(), Vec::new()),
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

/// The rounds that all graphs of a workload's job have.
fn rounds_of(blueprint: &Blueprint, workload: u32) -> u32 {
    match &blueprint.workloads[workload as usize].arrivals {
        Arrivals::Program(spec) => spec.program.rounds(),
        _ => 0,
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
    /// By node: is it of this part, where there are several?
    pub part: Option<&'w [bool]>,
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
        let programs = &runs.own.traffic.programs;
        let position = programs.position(job)?;
        let (iteration, round) = programs.began(job)?;
        let least = HOPS_OF_PART * self.parts;
        let (hops, run_time) = (runs.hops(), runs.own.events.run_time(now.0));
        let at = |unit: Unit, began: Time| {
            let looks = if unit == Unit::Iteration { &self.of_iterations } else { &self.of_rounds };
            let may_look = looks.may_look((job, position, unit), hops, least, run_time);
            between(began.0 + AFTER).filter(|_| may_look)
        };
        let has_iterations = iterations_of(facts.blueprint, job).is_some_and(|count| count >= LEAST);
        let of_iteration = Some(iteration).filter(|_| has_iterations);
        let of_iteration = of_iteration.and_then(|began| at(Unit::Iteration, began));
        let of_round = round.and_then(|began| at(Unit::Round, began));
        of_iteration.into_iter().chain(of_round).min()
    }

    /// The job that is looked at: of those that go on, the one that has most left; that of the last look, as
    /// long as it has nearly as many.
    fn next_job(&self, facts: &Facts<'_>, runs: &Runs<'_>) -> Option<u32> {
        let programs = &runs.own.traffic.programs;
        let left = |job: u32| {
            let iteration = programs.position(job)?.iteration;
            let skipped = programs.skipped(programs.of_workload(job).start);
            Some(iterations_of(facts.blueprint, job)? - iteration - skipped)
        };
        let all = self.jobs.iter().filter_map(|&job| Some((left(job)?, Reverse(job))));
        let (most, Reverse(job)) = all.max()?;
        let last = self.of_iterations.last.or(self.of_rounds.last).map(|last| last.job);
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
        let began = moment.runs.own.traffic.programs.began(job);
        let is_of_iteration = began.is_some_and(|(began, _)| began.0 + AFTER == moment.now.0);
        let unit = match &self.period {
            Some(period) => period.unit,
            None if is_of_iteration => Unit::Iteration,
            None => Unit::Round,
        };
        moment.close_what_is_over();
        let positions = moment.positions();
        let (parts, coming) = moment.parts(&positions);
        let look = Look { job, position: positions[job as usize], hops: moment.runs.hops(), coming };
        let looks = self.looks_of(unit);
        let before = looks.last.replace(look);
        looks.vain += 1;
        if before.is_some_and(|before| before.coming < moment.run_time()) {
            looks.vain_periods = 0;
        }
        if let Some(period) = self.period.take() {
            let recurs = period.recurs(&positions) && self.looks_of(unit).before == parts;
            if recurs && !moment.is_paused_throughout(period.begin) {
                if period.is_of_rounds() {
                    self.rounds_ps += period.skips();
                } else if period.is_of_both() {
                    self.seen.clear();
                }
                self.rows.absorb(moment.skip(*period, &mut self.skips));
                for looks in [&mut self.of_iterations, &mut self.of_rounds] {
                    (looks.vain, looks.vain_periods) = (0, 0);
                }
                return;
            }
            moment.give_up(*period);
            self.differ(unit, before, look, parts);
            self.looks_of(unit).vain_periods += 1;
            return;
        }
        self.parts = parts.len() as u64;
        let mut hasher = FxHasher::default();
        for (_, text) in &parts {
            hasher.write(text.as_bytes());
        }
        self.differ(unit, before, look, parts);
        let at = (moment.now.0, self.rounds_ps);
        let seen = Seen::new((moment.facts, moment.runs), positions, at, hasher.finish());
        if let Some((before, takes)) = seen.repeats(&self.seen) {
            match moment.measure((before, &seen), takes, (look, unit)) {
                Ok(period) => self.period = Some(Box::new(period)),
                Err(why) => self.hindrance = (Some(job), Hindrance::Because(why)),
            }
        }
        self.seen.push(seen);
    }

    fn looks_of(&mut self, unit: Unit) -> &mut Looks {
        match unit {
            Unit::Iteration => &mut self.of_iterations,
            Unit::Round => &mut self.of_rounds,
        }
    }

    /// Keeps what differs between the last look of its kind and this one.
    fn differ(&mut self, unit: Unit, before: Option<Look>, look: Look, parts: Parts) {
        let looks = self.looks_of(unit);
        let earlier = std::mem::replace(&mut looks.before, parts);
        // What hinders iterations says more.
        let counts = unit == Unit::Iteration || self.of_iterations.last.is_none();
        if let Some(before) = before.filter(|before| before.job == look.job && counts) {
            let at = (before.position, look.position);
            let differences = Differences::between((unit, at), &earlier, &self.looks_of(unit).before);
            self.hindrance = (Some(look.job), Hindrance::Differences(differences));
        }
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

    /// By workload: where its first rank is; at its beginning where it has none, or has not begun, or is
    /// complete.
    fn positions(&self) -> Vec<Position> {
        let programs = &self.runs.own.traffic.programs;
        let workloads = 0..narrow::<u32>(self.facts.blueprint.workloads.len());
        workloads.map(|of| programs.position(of).unwrap_or_default()).collect()
    }

    /// The state, part by part; and when, by the clock of the run, the first comes of what has a fixed time.
    fn parts(&mut self, positions: &[Position]) -> (Parts, u64) {
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
        each_part(self, positions, &pending, |part, text| parts.push((part, text.to_owned())));
        (parts, coming)
    }
}

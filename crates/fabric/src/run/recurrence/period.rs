//! A period that is measured, and its repetition in the records.

use std::sync::Arc;

use floodway_programs::walker::Position;
use floodway_records::kept::rows::{Later, Ranks, Rows};
use floodway_records::outcome::Skipped;
use floodway_records::series::repeated::{Repeats, cuts_of};
use floodway_records::series::{FIRST_WIDTH, Series};
use floodway_units::cast::narrow;
use rustc_hash::FxHashMap;

use super::parts::Unit;
use super::seen::{Seen, Step};
use super::{Look, Moment, iterations_of, rounds_of};
use crate::run::events::NEVER;
use crate::run::node::NodeCore;
use crate::run::runs::Runs;

/// A period that is being measured.
#[derive(Debug)]
pub(crate) struct Period {
    /// The job of which an iteration or round began a while before.
    pub job: u32,
    pub unit: Unit,
    pub begin: u64,
    length: u64,
    /// By workload: where its first rank was when it began, and what it does of its program.
    first: Vec<Position>,
    takes: Vec<Step>,
    /// How often it is repeated behind its end.
    times: u64,
    /// Counts until then, and rows since the last skip.
    counts: Vec<u64>,
    rows: Rows,
}

impl Period {
    /// When it ends.
    pub fn until(&self) -> u64 {
        self.begin + self.length
    }

    /// Have jobs done as much of their programs at its end as they had in the period before?
    pub fn recurs(&self, positions: &[Position]) -> bool {
        let takes = self.first.iter().zip(positions).map(|(first, now)| Step::between(*first, *now));
        takes.eq(self.takes.iter().map(|takes| Some(*takes)))
    }

    /// What of programs is skipped with it: rounds alone?
    pub fn is_of_rounds(&self) -> bool {
        self.takes.iter().all(|takes| takes.iterations == 0)
    }

    /// Does it have iterations of one job and rounds of another?
    pub fn is_of_both(&self) -> bool {
        !self.is_of_rounds() && self.takes.iter().any(|takes| takes.rounds > 0)
    }

    /// The time that is skipped, in picoseconds.
    pub fn skips(&self) -> u64 {
        self.times * self.length
    }

    /// By workload: what so many of it are.
    fn steps(&self, times: u64) -> Vec<Step> {
        self.takes.iter().map(|takes| takes.times(times)).collect()
    }
}

/// What is skipped of programs.
#[derive(Clone, Debug, Default)]
struct OfPrograms {
    /// By workload.
    iterations: Vec<u32>,
    /// Workload, iteration as ranks count it, rounds.
    rounds: Vec<(u32, u32, u32)>,
}

impl OfPrograms {
    /// With what is skipped more, by workload, of programs that are at `first`.
    fn and(&self, steps: &[Step], first: &[Position]) -> Self {
        let iterations = self.iterations.iter().zip(steps).map(|(before, more)| before + more.iterations);
        let of_rounds = (0..).zip(steps).filter(|(_, step)| step.rounds > 0);
        let of_rounds = of_rounds.map(|(at, step)| (at, first[at as usize].iteration, step.rounds));
        let rounds = self.rounds.iter().copied().chain(of_rounds);
        OfPrograms { iterations: iterations.collect(), rounds: rounds.collect() }
    }

    /// Rows come so much later.
    fn later<'l>(&'l self, ps: u64, ranks: &'l Ranks) -> Later<'l> {
        Later { ps, iterations: &self.iterations, rounds: &self.rounds, ranks }
    }
}

impl Moment<'_, '_> {
    /// Measures from now on the period from `before` to `now`, if it fits at least once more behind its end.
    ///
    /// # Errors
    /// Why nothing can be skipped.
    pub(super) fn measure(
        &mut self,
        (before, now): (&Seen, &Seen),
        takes: Vec<Step>,
        (look, unit): (Look, Unit),
    ) -> Result<Period, &'static str> {
        let length = now.time_since(before, &takes);
        let times = self.times(look, length, (&takes, &now.ahead))?;
        if self.is_paused_throughout(before.at) {
            return Err("a queue was paused from the first look to the last, perhaps in a deadlock");
        }
        let skipped = self.runs.own.events.skipped();
        let mut cuts: FxHashMap<u64, Arc<[u64]>> = FxHashMap::default();
        let end = now.at + (times + 1) * length;
        self.each_series(now.at, |series, waiting| {
            let width = series.width_at(end);
            let cuts = cuts.entry(width).or_insert_with(|| cuts_of(now.at, length, times, (width, skipped)));
            series.measure(now.at, waiting, cuts);
        });
        let counts = self.counts();
        let rows = self.take_rows();
        let first = now.positions.clone();
        Ok(Period { job: look.job, unit, begin: now.at, length, first, takes, times, counts, rows })
    }

    /// How often a period of this length, which begins now and in which jobs do so much, with so many rounds
    /// ahead, fits behind its end.
    fn times(
        &self,
        look: Look,
        length: u64,
        (takes, ahead): (&[Step], &[Option<u32>]),
    ) -> Result<u64, &'static str> {
        let (blueprint, begin) = (self.facts.blueprint, self.run_time());
        let fit = |until: u64| (until.saturating_sub(begin) / length).saturating_sub(1);
        // The run ends as it would.
        let limit = fit(blueprint.end.limit.0).saturating_sub(1);
        let spec = &blueprint.workloads[look.job as usize];
        if !blueprint.end.at_limit && spec.measure.1.min(spec.until).0 <= begin {
            return Err("the run ends when what was measured is complete (measure)");
        }
        let mut left = u64::MAX;
        let programs = &self.runs.own.traffic.programs;
        for (&Step { rounds, .. }, &ahead) in takes.iter().zip(ahead).filter(|(step, _)| step.rounds > 0) {
            // One stays behind the last repetition, and the period itself is simulated.
            let ahead = ahead.unwrap_or_default().saturating_sub(1 + rounds);
            left = left.min(u64::from(ahead / rounds));
        }
        for (workload, &Step { iterations: takes, .. }) in (0..).zip(takes) {
            let iterations = iterations_of(blueprint, workload).filter(|_| takes > 0);
            let Some(iterations) = iterations else { continue };
            for rank in programs.of_workload(workload) {
                let Some(iteration) = programs.iteration_of(rank) else { continue };
                let done = iteration + programs.skipped(rank) + takes;
                left = left.min(u64::from((iterations - 1).saturating_sub(done) / takes));
            }
        }
        let coming = fit(look.coming);
        let times = left.min(limit).min(coming);
        if times == 0 {
            return Err(if coming == 0 && left > 0 && limit > 0 {
                "the state recurred too late: less than two more periods were left before something else began"
            } else {
                "the state recurred too late: less than one more period was left after measuring it"
            });
        }
        // Neither the period nor a repetition begins where intervals of series may end.
        let whole = |time: &u64| (begin + time * length).is_multiple_of(FIRST_WIDTH);
        match (0..times + 2).find(whole) {
            None => Ok(times),
            Some(first) if first > 2 => Ok(first - 2),
            Some(_) => Err("a period would begin at a whole microsecond, where intervals of series end"),
        }
    }

    /// Has a queue been paused since before `then`? Such a one may be in a deadlock that has not been found
    /// yet.
    pub(super) fn is_paused_throughout(&self, then: u64) -> bool {
        let egress = self.nodes.iter().flat_map(|node| node.links.egress.iter());
        egress.into_iter().any(|egress| egress.paused_since != NEVER && egress.paused_since <= then)
    }

    /// The period recurs: adds its counts as often as it is repeated, and lets jobs count its iterations. The
    /// rows since the last skip, with those of what is skipped now; `skips` gets an entry for each job.
    pub(super) fn skip(&mut self, period: Period, skips: &mut Vec<Skipped>) -> Rows {
        let now = self.now;
        let (length, times, ps) = (period.length, period.times, period.skips());
        let counts: Vec<u64> =
            self.counts().iter().zip(&period.counts).map(|(now, before)| now.wrapping_sub(*before)).collect();
        self.add_counts(&counts, times);
        self.each_series(now.0, |series, waiting| {
            series.repeat(now.0, waiting, Repeats { times, period: length });
        });
        let ranks = self.ranks();
        let (skipped, before) = (self.runs.own.events.skipped(), self.skipped_of_programs());
        let measured = self.take_rows();
        let mut rows = period.rows.clone().moved(before.later(skipped, &ranks));
        for time in 0..=times {
            let of_programs = before.and(&period.steps(time), &period.first);
            rows.absorb(measured.clone().moved(of_programs.later(skipped + time * length, &ranks)));
        }
        let more = period.steps(times);
        self.list_skips(&period, (&more, &before.iterations), skips);
        let began = self.runs.own.events.run_time(period.begin);
        for run in self.runs.iter_mut() {
            run.kept.records.repeat_last_starts(began, ps);
            run.skip(ps);
        }
        let programs = &mut self.runs.own.traffic.programs;
        for (rank, &(workload, _)) in (0..).zip(&ranks.of) {
            if self.part.is_some_and(|owned| !owned[programs.host(rank).index()]) {
                continue;
            }
            programs.skip(rank, ps, more[workload as usize].iterations);
        }
        for (workload, step) in (0..).zip(&more).filter(|(_, step)| step.rounds > 0) {
            let iteration = period.first[workload as usize].iteration;
            programs.shorten(self.facts, workload, (iteration, step.rounds));
            programs.skip_rounds(workload, step.rounds);
        }
        let Runs { own, others, .. } = &mut *self.runs;
        for run in others {
            run.traffic.programs.shorten_as(&own.traffic.programs);
        }
        rows
    }

    /// Says what is skipped: an entry for each job.
    fn list_skips(&self, period: &Period, (more, skipped): (&[Step], &[u32]), skips: &mut Vec<Skipped>) {
        let blueprint = self.facts.blueprint;
        for (workload, spec) in (0..).zip(&blueprint.workloads) {
            let at = workload as usize;
            let (first, takes, more) = (period.first[at], period.takes[at], more[at]);
            let Some(iterations) = iterations_of(blueprint, workload).filter(|_| more != Step::default())
            else {
                continue;
            };
            let is_of_rounds = more.rounds > 0;
            skips.push(Skipped {
                workload: spec.name.clone(),
                iteration: first.iteration + skipped[at],
                micro_batch: is_of_rounds.then_some(first.round),
                period: takes.iterations + takes.rounds,
                iterations: more.iterations,
                micro_batches: more.rounds,
                of: iterations,
                of_micro_batches: rounds_of(blueprint, workload),
                time_ps: period.skips(),
            });
        }
    }

    /// What was skipped of programs so far.
    fn skipped_of_programs(&self) -> OfPrograms {
        let programs = &self.runs.own.traffic.programs;
        let workloads = 0..narrow::<u32>(self.facts.blueprint.workloads.len());
        let iterations =
            workloads.map(|of| programs.of_workload(of).next().map_or(0, |rank| programs.skipped(rank)));
        OfPrograms { iterations: iterations.collect(), rounds: programs.rounds_skipped().to_vec() }
    }

    /// The period does not recur: what was measured of it is as if it had not been.
    pub(super) fn give_up(&mut self, period: Period) {
        let now = self.now;
        let once = Repeats { times: 0, period: period.length };
        self.each_series(now.0, |series, waiting| series.repeat(now.0, waiting, once));
        let measured = self.take_rows();
        let mut rows = period.rows;
        rows.absorb(measured);
        self.runs.own.kept.put_rows(rows);
    }

    /// Puts rows since the last skip behind these, when the run is over.
    pub(super) fn join_rows(&mut self, mut rows: Rows) {
        let (ranks, of_programs) = (self.ranks(), self.skipped_of_programs());
        let ps = self.runs.own.events.skipped();
        rows.absorb(self.take_rows().moved(of_programs.later(ps, &ranks)));
        self.runs.own.kept.put_rows(rows);
    }

    /// Adds what is in force to the series of each port, and calls `change` with it.
    fn each_series(&mut self, now: u64, mut change: impl FnMut(&mut Series, u64)) {
        let classes = self.facts.layout.classes.len();
        for node in self.nodes.iter_mut() {
            let NodeCore { links, buffer, .. } = &mut **node;
            for (port, series) in links.series.iter_mut().enumerate() {
                for egress in &links.egress[port * classes..(port + 1) * classes] {
                    if egress.paused_since != NEVER {
                        series.paused(egress.paused_since, now);
                    }
                }
                change(series, links.ports[port].waiting);
            }
            // What is held has to be recorded again: other buckets begin.
            buffer.accounts.iter_mut().for_each(|account| account.recorded_until = 0);
        }
    }

    /// What is to be known of ranks to move their rows.
    fn ranks(&self) -> Ranks {
        let programs = &self.runs.own.traffic.programs;
        let mut ranks = Ranks::default();
        for rank in 0..narrow::<u32>(programs.count()) {
            ranks.of.push((programs.in_workload(rank).0, programs.rounds_of(self.facts, rank)));
            ranks.by_place.insert(programs.place(rank), rank);
        }
        ranks
    }

    /// Takes the rows of all threads.
    fn take_rows(&mut self) -> Rows {
        let mut rows = Rows::default();
        self.runs.iter_mut().for_each(|run| rows.absorb(run.kept.take_rows()));
        rows
    }
}

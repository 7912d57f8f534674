//! A period that is measured, and its repetition in the records.

use std::sync::Arc;

use floodway_units::cast::narrow;
use rustc_hash::FxHashMap;

use super::{Look, Moment, Seen, iterations_of};
use crate::records::kept::rows::{Later, Rows};
use crate::records::outcome::Skipped;
use crate::records::series::repeated::{Repeats, cuts_of};
use crate::records::series::{FIRST_WIDTH, Series};
use crate::run::events::NEVER;
use crate::run::node::NodeCore;

/// A period that is being measured.
#[derive(Debug)]
pub(crate) struct Period {
    /// The job whose iterations began a while before.
    pub job: u32,
    pub begin: u64,
    length: u64,
    /// By workload: iterations of its first rank when it began, and those that it takes.
    first: Vec<u32>,
    takes: Vec<u32>,
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

    /// Have jobs done as many iterations at its end as they had in the period before?
    pub fn recurs(&self, iterations: &[u32]) -> bool {
        let takes = iterations.iter().zip(&self.first).map(|(now, first)| now.wrapping_sub(*first));
        takes.eq(self.takes.iter().copied())
    }

    /// By workload: the iterations of so many of it.
    fn iterations(&self, times: u64) -> Vec<u32> {
        self.takes.iter().map(|takes| takes * narrow::<u32>(times)).collect()
    }
}

impl Moment<'_, '_> {
    /// Measures from now on the period from `before` to `now`, if it fits at least once more behind its end.
    ///
    /// # Errors
    /// Why nothing can be skipped.
    pub(super) fn measure(&mut self, before: &Seen, now: &Seen, look: Look) -> Result<Period, &'static str> {
        let length = now.at - before.at;
        let takes: Vec<u32> = now
            .iterations
            .iter()
            .zip(&before.iterations)
            .map(|(now, before)| now.wrapping_sub(*before))
            .collect();
        let times = self.times(look, length, &takes)?;
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
        let first = now.iterations.clone();
        Ok(Period { job: look.job, begin: now.at, length, first, takes, times, counts, rows })
    }

    /// How often a period of this length, which begins now and in which jobs do so many iterations, fits
    /// behind its end.
    fn times(&self, look: Look, length: u64, takes: &[u32]) -> Result<u64, &'static str> {
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
        for (workload, &takes) in (0..).zip(takes).filter(|&(_, &takes)| takes > 0) {
            let Some(iterations) = iterations_of(blueprint, workload) else { continue };
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
        let Period { length, times, .. } = period;
        let ps = times * length;
        let counts: Vec<u64> =
            self.counts().iter().zip(&period.counts).map(|(now, before)| now.wrapping_sub(*before)).collect();
        self.add_counts(&counts, times);
        self.each_series(now.0, |series, waiting| {
            series.repeat(now.0, waiting, Repeats { times, period: length });
        });
        let workload_of = self.workload_of_ranks();
        let (skipped, iterations) = (self.runs.own.events.skipped(), self.iterations_skipped());
        let measured = self.take_rows();
        let later = Later { ps: skipped, iterations: &iterations, workload_of: &workload_of };
        let mut rows = period.rows.clone().moved(later);
        for time in 0..=times {
            let more = period.iterations(time);
            let iterations: Vec<u32> =
                iterations.iter().zip(more).map(|(before, more)| before + more).collect();
            let later =
                Later { ps: skipped + time * length, iterations: &iterations, workload_of: &workload_of };
            rows.absorb(measured.clone().moved(later));
        }
        let blueprint = self.facts.blueprint;
        let more = period.iterations(times);
        for (workload, spec) in (0..).zip(&blueprint.workloads) {
            let at = workload as usize;
            if let Some(of) = iterations_of(blueprint, workload).filter(|_| more[at] > 0) {
                skips.push(Skipped {
                    workload: spec.name.clone(),
                    iteration: period.first[at] + iterations[at],
                    period: period.takes[at],
                    iterations: more[at],
                    of,
                    time_ps: ps,
                });
            }
        }
        let began = self.runs.own.events.run_time(period.begin);
        for run in self.runs.iter_mut() {
            run.kept.records.repeat_last_starts(began, ps);
            run.skip(ps);
        }
        let programs = &mut self.runs.own.traffic.programs;
        for (rank, &workload) in (0..).zip(&workload_of) {
            programs.skip(rank, ps, more[workload as usize]);
        }
        rows
    }

    /// By workload: iterations that were skipped.
    fn iterations_skipped(&self) -> Vec<u32> {
        let programs = &self.runs.own.traffic.programs;
        let workloads = 0..narrow::<u32>(self.facts.blueprint.workloads.len());
        workloads.map(|of| programs.of_workload(of).next().map_or(0, |rank| programs.skipped(rank))).collect()
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
        let (workload_of, iterations) = (self.workload_of_ranks(), self.iterations_skipped());
        let ps = self.runs.own.events.skipped();
        let later = Later { ps, iterations: &iterations, workload_of: &workload_of };
        rows.absorb(self.take_rows().moved(later));
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

    /// By rank: its workload.
    fn workload_of_ranks(&self) -> Vec<u32> {
        let programs = &self.runs.own.traffic.programs;
        (0..narrow::<u32>(programs.count())).map(|rank| programs.in_workload(rank).0).collect()
    }

    /// Takes the rows of all threads.
    fn take_rows(&mut self) -> Rows {
        let mut rows = Rows::default();
        self.runs.iter_mut().for_each(|run| rows.absorb(run.kept.take_rows()));
        rows
    }
}

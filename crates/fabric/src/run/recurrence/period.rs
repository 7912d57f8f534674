//! A period that is measured, and its repetition in the records.

use std::sync::Arc;

use floodway_units::cast::narrow;
use rustc_hash::FxHashMap;

use super::{Done, Moment, Seen};
use crate::network::blueprint::Arrivals;
use crate::records::kept::rows::{Later, Rows};
use crate::records::outcome::Skipped;
use crate::records::series::repeated::{Repeats, cuts_of};
use crate::records::series::{FIRST_WIDTH, Series};
use crate::run::events::NEVER;
use crate::run::node::NodeCore;

/// A period that is being measured.
#[derive(Debug)]
pub(crate) struct Period {
    begin: u64,
    length: u64,
    /// By workload: iterations of its first rank when it began, and those that it takes.
    first: Vec<u32>,
    takes: Vec<u32>,
    /// How often it is repeated behind its end.
    times: u64,
    /// Counts and rows until then.
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
    pub(super) fn measure(&mut self, before: &Seen, now: &Seen) -> Result<Period, &'static str> {
        let length = now.at - before.at;
        let takes: Vec<u32> = now
            .iterations
            .iter()
            .zip(&before.iterations)
            .map(|(now, before)| now.wrapping_sub(*before))
            .collect();
        let times = self.times(now.at, length, &takes)?;
        if self.is_paused_throughout(before.at) {
            return Err("a queue was paused from the first look to the last, perhaps in a deadlock");
        }
        let mut cuts: FxHashMap<u64, Arc<[u64]>> = FxHashMap::default();
        let end = now.at + (times + 1) * length;
        self.each_series(now.at, |series, waiting| {
            let width = series.width_at(end);
            let cuts = cuts.entry(width).or_insert_with(|| cuts_of(now.at, length, times, width));
            series.measure(now.at, waiting, cuts);
        });
        let counts = self.counts();
        let rows = self.take_rows();
        Ok(Period { begin: now.at, length, first: now.iterations.clone(), takes, times, counts, rows })
    }

    /// How often a period of this length, in which jobs do so many iterations, fits behind its end.
    fn times(&self, begin: u64, length: u64, takes: &[u32]) -> Result<u64, &'static str> {
        let blueprint = self.facts.blueprint;
        // The run ends as it would.
        let mut times = (blueprint.end.limit.0.saturating_sub(begin) / length).saturating_sub(2);
        let programs = &self.runs.own.traffic.programs;
        for (workload, &takes) in (0..).zip(takes) {
            let Arrivals::Program(spec) = &blueprint.workloads[workload as usize].arrivals else { continue };
            for rank in programs.of_workload(workload) {
                let Some(iteration) = programs.iteration_of(rank).filter(|_| takes > 0) else { continue };
                let left = (spec.program.iterations - 1).saturating_sub(iteration + takes);
                times = times.min(u64::from(left / takes));
            }
        }
        let whole = |time: u64| (begin + time * length).is_multiple_of(FIRST_WIDTH);
        if times == 0 {
            return Err("the state recurred too late: less than one more period was left after measuring it");
        }
        if (0..times + 2).any(whole) {
            return Err(
                "one of the periods would begin at a whole microsecond, where intervals of series end",
            );
        }
        Ok(times)
    }

    /// Has a queue been paused since before `then`? Such a one may be in a deadlock that has not been found
    /// yet.
    fn is_paused_throughout(&self, then: u64) -> bool {
        let egress = self.nodes.iter().flat_map(|node| node.links.egress.iter());
        egress.into_iter().any(|egress| egress.paused_since != NEVER && egress.paused_since <= then)
    }

    /// The period recurs: adds its records as often as it is repeated, and lets jobs count its iterations.
    pub(super) fn skip(&mut self, period: Period, job: u32) -> Done {
        let now = self.now;
        let Period { length, times, .. } = period;
        let counts: Vec<u64> =
            self.counts().iter().zip(&period.counts).map(|(now, before)| now.wrapping_sub(*before)).collect();
        self.add_counts(&counts, times);
        self.each_series(now.0, |series, waiting| {
            series.repeat(now.0, waiting, Repeats { times, period: length });
        });
        let workload_of = self.workload_of_ranks();
        let measured = self.take_rows();
        let mut rows = period.rows.clone();
        for time in 0..=times {
            let later =
                Later { ps: time * length, iterations: &period.iterations(time), workload_of: &workload_of };
            rows.absorb(measured.clone().moved(later));
        }
        let iterations = period.iterations(times);
        let programs = &mut self.runs.own.traffic.programs;
        for (rank, &workload) in (0..).zip(&workload_of) {
            programs.skip(rank, iterations[workload as usize]);
        }
        let blueprint = self.facts.blueprint;
        let Arrivals::Program(spec) = &blueprint.workloads[job as usize].arrivals else {
            unreachable!("only jobs are looked at")
        };
        let skipped = Skipped {
            workload: blueprint.workloads[job as usize].name.clone(),
            iteration: period.first[job as usize],
            period: period.takes[job as usize],
            iterations: iterations[job as usize],
            of: spec.program.iterations,
            time_ps: times * length,
        };
        Done { skipped, rows, period: (period.begin, now.0), iterations }
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

    /// Puts rows since what was skipped behind those before, when the run is over.
    pub(super) fn join_rows(&mut self, done: &mut Done) {
        let workload_of = self.workload_of_ranks();
        let ps = done.skipped.time_ps;
        let later = Later { ps, iterations: &done.iterations, workload_of: &workload_of };
        let mut rows = std::mem::take(&mut done.rows);
        rows.absorb(self.take_rows().moved(later));
        for run in self.runs.iter_mut() {
            run.kept.records.move_marks(done.period, ps);
        }
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

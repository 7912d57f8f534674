//! The measured flows, and the latest end of a run.

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{Arrivals, FlowSpec, LoopSpec, Next, ProgramSpec, UNBOUNDED, WorkloadSpec};
use floodway_fabric::dependencies;
use floodway_fabric::routing::Routes;
use floodway_units::text::counted;
use floodway_units::{Span, Time};

use super::pace::{Load, Pace};
use super::{Builder, workload_path};
use crate::grammar::document::Window;
use crate::resolve::Plan;
use crate::workload::Workload;

/// Number of draws from which the end of random flows is computed; one, which is its own mean, if there are
/// more than [`FEW_FLOWS`].
const DRAWINGS: u64 = 8;
const FEW_FLOWS: usize = 1 << 14;

impl Builder<'_> {
    /// Sets the measuring windows and the end.
    pub(super) fn windows(&mut self, plan: &Plan, blueprint: &mut Blueprint, routes: &Routes) {
        let pace = Pace::new(blueprint, routes);
        self.check_timeouts(plan, &pace);
        self.check_drops(plan, blueprint);
        let round_trips = pace.rtt.0.saturating_mul(100);
        let (windows, last) = self.ends(&pace, &blueprint.workloads);
        for (spec, window) in blueprint.workloads.iter_mut().zip(windows) {
            spec.measure = window.unwrap_or(spec.measure);
        }
        let limit = self.document.limit;
        blueprint.end.limit = match (limit, last) {
            (Some(Time::ZERO), _) => {
                self.fault(&["limit"], "0us is not allowed; write a time above 0, like \"10ms\"");
                Time::ZERO
            }
            (Some(limit), _) => limit,
            (None, Some(last)) => Time(last.0.saturating_mul(4).saturating_add(round_trips)),
            (None, None) if !self.errors.is_empty() => return,
            (None, None) => {
                self.fault(&["limit"], "no measured flow has an end: say when the run ends");
                Time::ZERO
            }
        };
        blueprint.end.at_limit |= last.is_none();
        let limit = blueprint.end.limit;
        for (i, workload) in self.document.workload.iter().enumerate() {
            let (from, to) = blueprint.workloads[i].measure;
            if from < to && from >= limit && limit > Time::ZERO {
                let message = format!("the run ends at {limit}, before anything is measured");
                self.fault(&workload_path(workload, ""), message);
            }
        }
        self.idle(blueprint);
    }

    /// The measuring window of each workload, where no error says why not, and when the last measured flow
    /// would have ended.
    fn ends(&mut self, pace: &Pace<'_>, specs: &[WorkloadSpec]) -> (Vec<Option<(Time, Time)>>, Option<Time>) {
        let mut last = None;
        let mut windows = Vec::with_capacity(specs.len());
        for (workload, spec) in self.document.workload.iter().zip(specs) {
            let given = self.window(workload, &spec.arrivals);
            windows.push(given);
            let Some(window) = given else { continue };
            let end = match &spec.arrivals {
                Arrivals::Poisson(poisson) if window.0 < window.1 => Some(window.1.min(poisson.until)),
                Arrivals::Poisson(_) => None,
                Arrivals::List(flows) => self.list_end(workload, flows, window, spec.settings, pace),
                Arrivals::ClosedLoop(loops) => loops_end(loops, window, spec.settings, pace),
                Arrivals::Program(job) => job_end(job, window, spec.settings, pace),
            };
            last = last.max(end);
        }
        (windows, last)
    }

    /// When the measured flows of a list would have ended; of one that the seed draws, by several drawings
    /// that are the same for all seeds, since the end is.
    fn list_end(
        &self,
        workload: &Workload,
        flows: &[FlowSpec],
        window: (Time, Time),
        settings: usize,
        pace: &Pace<'_>,
    ) -> Option<Time> {
        let end = list_end(flows, window, settings, pace);
        let Some(recipe) = self.recipes.iter().find(|recipe| recipe.workload == workload.name) else {
            return end;
        };
        let drawings = if flows.len() > FEW_FLOWS { 1 } else { DRAWINGS };
        let drawn = (0..drawings).map(|seed| list_end(&recipe.flows(Some(seed)), window, settings, pace));
        drawn.fold(end, Option::max)
    }

    /// Flows that never start, and a run that measures nothing.
    fn idle(&mut self, blueprint: &Blueprint) {
        let limit = blueprint.end.limit;
        let mut measures = false;
        for (workload, spec) in self.document.workload.iter().zip(&blueprint.workloads) {
            let (from, to) = (spec.measure.0, spec.measure.1.min(limit));
            match &spec.arrivals {
                Arrivals::Poisson(poisson) => measures |= from.max(poisson.from) < to.min(poisson.until),
                Arrivals::ClosedLoop(loops) => {
                    measures |= loops.iter().any(|of| of.start < to.min(spec.until));
                }
                Arrivals::Program(job) => measures |= job.start < to,
                Arrivals::List(flows) => {
                    let earliest = earliest(flows);
                    let mut starts = flows.iter().zip(&earliest);
                    measures |= starts.any(|(flow, &start)| may_start_in((from, to), flow, start));
                    let late = earliest.iter().filter(|start| **start >= limit).count();
                    if late > 0 {
                        let message = format!(
                            "{late} of {} would start at {limit}, when the run ends, or later",
                            counted(flows.len(), "flow")
                        );
                        self.warn_at(&workload_path(workload, ""), message);
                    }
                }
            }
        }
        let is_intended = self.document.workload.iter().all(|workload| workload.measured == Some(false));
        if !measures && !is_intended {
            let message = "no flow can be measured: none starts in its measuring window before the run ends";
            self.warn_at(&["workload"], message);
        }
    }

    /// The measuring window of a workload; none where an error says why.
    fn window(&mut self, workload: &Workload, arrivals: &Arrivals) -> Option<(Time, Time)> {
        if workload.measured == Some(false) {
            return Some((Time::ZERO, Time::ZERO));
        }
        let own = workload.measure.map(|window| (window, workload_path(workload, "measure")));
        let given = own.or(self.document.measure.map(|window| (window, vec!["measure"])));
        if let Some((Window { from, to }, path)) = given {
            if from >= to {
                self.fault(&path, format!("it ends at {to}, and begins at {from}: the end must be later"));
                return None;
            }
            return Some((from, to));
        }
        let Arrivals::Poisson(poisson) = arrivals else { return Some((Time::ZERO, Time::NEVER)) };
        let end = if poisson.until < Time::NEVER { Some(poisson.until) } else { self.document.limit };
        let Some(end) = end.filter(|end| *end > poisson.from) else {
            let message = "it needs \"until\", or the scenario \"measure\" or \"limit\": \
                           nothing says which flows are measured";
            self.fault(&workload_path(workload, ""), message);
            return None;
        };
        Some((poisson.from + end.since(poisson.from) / 10, end))
    }
}

/// The earliest start of each flow of a list: those that it waits for take no time.
fn earliest(flows: &[FlowSpec]) -> Vec<Time> {
    starts(flows, |_| Span::ZERO)
}

/// When each flow of a list starts, if those that it waits for take as long as `lasts` says.
fn starts(flows: &[FlowSpec], lasts: impl Fn(&FlowSpec) -> Span) -> Vec<Time> {
    let mut starts: Vec<Time> = flows.iter().map(|flow| flow.start).collect();
    if flows.iter().all(|flow| flow.after.is_empty()) {
        return starts;
    }
    let end = |flow: usize, start: Time| start.0.saturating_add(lasts(&flows[flow]).0);
    for flow in dependencies::order(flows).unwrap_or_default() {
        if let Some(ready) = flows[flow].after.iter().map(|&of| end(of, starts[of])).max() {
            starts[flow] = starts[flow].max(Time(ready.saturating_add(flows[flow].wait.0)));
        }
    }
    starts
}

/// May a flow start in the window? Of one that waits for others only its earliest start is known.
fn may_start_in(window: (Time, Time), flow: &FlowSpec, earliest: Time) -> bool {
    let is_late_enough = window.0 <= earliest || !flow.after.is_empty();
    is_late_enough && window.0 < window.1 && earliest < window.1
}

/// When the measured flows of a list would have ended if their links were busy from the last start on; flows
/// that wait for others start when those are over, each alone in the network.
fn list_end(flows: &[FlowSpec], window: (Time, Time), settings: usize, pace: &Pace<'_>) -> Option<Time> {
    let earliest = earliest(flows);
    let counts =
        |&flow: &usize| flows[flow].size < UNBOUNDED && may_start_in(window, &flows[flow], earliest[flow]);
    let starts = starts(flows, |flow| pace.alone(flow, settings));
    let last = (0..flows.len()).filter(counts).map(|flow| starts[flow]).max()?;
    let mut load = Load::new(pace);
    for flow in (0..flows.len()).filter(counts) {
        load.add_flow(&flows[flow], settings);
    }
    Some(Time(last.0.saturating_add(load.drain().0)))
}

/// When loops would have ended, computed in the same way.
fn loops_end(loops: &[LoopSpec], window: (Time, Time), settings: usize, pace: &Pace<'_>) -> Option<Time> {
    let mut load = Load::new(pace);
    let measured = loops.iter().filter(|of| of.start < window.1);
    let ends = measured.map(|of| {
        load.add_loop(of, settings);
        let rounds = match of.next {
            Next::Sent | Next::Left => of.messages.div_ceil(of.depth.max(1)),
            Next::Arrived(_) => of.messages,
        };
        of.start.0.saturating_add(pace.round(of, settings).0.saturating_mul(rounds))
    });
    let last = ends.max()?;
    Some(Time(last.saturating_add(load.drain().0)))
}

/// When a job would have ended, if its ranks did one thing after another.
fn job_end(job: &ProgramSpec, window: (Time, Time), settings: usize, pace: &Pace<'_>) -> Option<Time> {
    if job.start >= window.1 {
        return None;
    }
    let mut load = Load::new(pace);
    load.add_job(job, settings);
    let busy = pace.job(job, settings).0.saturating_add(load.drain().0);
    Some(Time(job.start.0.saturating_add(busy)))
}

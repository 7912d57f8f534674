//! Which flows are measured, and when a run ends at the latest.

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{Arrivals, FlowSpec, LoopSpec, Next, UNBOUNDED, WorkloadSpec};
use floodway_fabric::dependencies;
use floodway_fabric::routing::Routes;
use floodway_units::{Bytes, NodeId, Rate, Span, Time};

use super::{Builder, workload_path};
use crate::grammar::document::Window;
use crate::paths::{base_rtt, first_path, pairs};
use crate::workload::Workload;

/// More flows than this are a warning.
const MANY_FLOWS: f64 = 20e6;
/// Memory at the end of a run for each flow, by which runs of one and two million flows differ.
const ROW_BYTES: f64 = 700.0;

impl Builder<'_> {
    /// Sets the measuring windows and the end.
    pub(super) fn windows(&mut self, blueprint: &mut Blueprint, routes: &Routes) {
        let mut last = None;
        for (i, workload) in self.document.workload.iter().enumerate() {
            let arrivals = &blueprint.workloads[i].arrivals;
            let Some(window) = self.window(workload, arrivals) else { continue };
            let end = match arrivals {
                Arrivals::Poisson(poisson) if window.0 < window.1 => Some(window.1.min(poisson.until)),
                Arrivals::Poisson(_) => None,
                Arrivals::List(flows) => list_end(flows, window, blueprint, routes),
                Arrivals::ClosedLoop(loops) => loops_end(loops, window, blueprint, routes),
            };
            last = last.max(end);
            blueprint.workloads[i].measure = window;
        }
        let limit = self.document.limit;
        blueprint.end.limit = match (limit, last) {
            (Some(Time::ZERO), _) => {
                self.fault(&["limit"], "a run of no time shows nothing");
                Time::ZERO
            }
            (Some(limit), _) => limit,
            (None, Some(last)) => {
                let round_trips = longest_rtt(blueprint, routes).0.saturating_mul(100);
                Time(last.0.saturating_mul(4).saturating_add(round_trips))
            }
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
        self.crowded(blueprint);
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
                Arrivals::List(flows) => {
                    measures |= flows.iter().any(|flow| from <= flow.start && flow.start < to);
                    let late = flows.iter().filter(|flow| flow.start >= limit).count();
                    if late > 0 {
                        let message = format!(
                            "{late} of {} flows would start at {limit}, when the run ends, or later",
                            flows.len()
                        );
                        self.odd(&workload_path(workload, ""), message);
                    }
                }
            }
        }
        let is_meant = self.document.workload.iter().all(|workload| workload.measured == Some(false));
        if !measures && !is_meant {
            let message = "no flow can be measured: none starts in its measuring window before the run ends";
            self.odd(&["workload"], message);
        }
    }

    /// More flows than memory may have rows for: a slip in a size, a load or a time.
    fn crowded(&mut self, blueprint: &Blueprint) {
        let of = |spec: &WorkloadSpec| expected_flows(&spec.arrivals, blueprint.end.limit);
        let flows: f64 = blueprint.workloads.iter().map(of).sum();
        if flows > MANY_FLOWS {
            let message = format!(
                "about {:.0} million flows will start, and a row for each takes about {:.0} GB of memory in all",
                flows / 1e6,
                flows * ROW_BYTES / 1e9
            );
            self.odd(&["workload"], message);
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
                self.fault(&path, "it ends before it begins");
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

/// When the measured flows of a list would have ended if each host sent and received at its NIC's rate from the
/// last start on; flows that wait for others start when those are over, each alone in the network.
fn list_end(
    flows: &[FlowSpec],
    window: (Time, Time),
    blueprint: &Blueprint,
    routes: &Routes,
) -> Option<Time> {
    let rates = nic_rates(blueprint);
    let starts = starts(flows, &rates, blueprint, routes);
    let counts =
        |&flow: &usize| flows[flow].size < UNBOUNDED && window.0 <= starts[flow] && starts[flow] < window.1;
    let last = (0..flows.len()).filter(counts).map(|flow| starts[flow]).max()?;
    let mut load = Load::new(blueprint);
    for flow in (0..flows.len()).filter(counts).map(|flow| &flows[flow]) {
        load.add(flow.source, flow.destination, flow.size.0);
    }
    Some(Time(last.0.saturating_add(load.drain(&rates).0)))
}

/// When each flow of a list starts, if those that it waits for take no longer than alone.
fn starts(flows: &[FlowSpec], rates: &[Rate], blueprint: &Blueprint, routes: &Routes) -> Vec<Time> {
    let mut starts: Vec<Time> = flows.iter().map(|flow| flow.start).collect();
    if flows.iter().all(|flow| flow.after.is_empty()) {
        return starts;
    }
    let rtt = longest_rtt(blueprint, routes);
    let end = |flow: usize, start: Time| {
        start.0.saturating_add(alone(flows[flow].size, rates[flows[flow].source.index()], rtt).0)
    };
    for flow in dependencies::order(flows).unwrap_or_default() {
        if let Some(ready) = flows[flow].after.iter().map(|&of| end(of, starts[of])).max() {
            starts[flow] = starts[flow].max(Time(ready.saturating_add(flows[flow].wait.0)));
        }
    }
    starts
}

/// A message takes at most so long alone.
fn alone(size: Bytes, rate: Rate, rtt: Span) -> Span {
    let sent = if rate > Rate(0) { rate.time_to_send(Bytes(size.0.min(1 << 50))) } else { Span::ZERO };
    Span(sent.0.saturating_mul(2).saturating_add(rtt.0))
}

/// When loops would have ended, likewise.
fn loops_end(
    loops: &[LoopSpec],
    window: (Time, Time),
    blueprint: &Blueprint,
    routes: &Routes,
) -> Option<Time> {
    let (rates, rtt) = (nic_rates(blueprint), longest_rtt(blueprint, routes));
    let mut load = Load::new(blueprint);
    let measured = loops.iter().filter(|of| of.start < window.1);
    let ends = measured.map(|of| {
        load.add(of.source, of.destination, of.size.0.saturating_mul(of.messages));
        let rounds = match of.next {
            Next::Sent => of.messages.div_ceil(of.ahead.max(1)),
            Next::Arrived(_) => of.messages,
        };
        let each = alone(of.size, rates[of.source.index()], rtt);
        of.start.0.saturating_add(each.0.saturating_mul(rounds))
    });
    let last = ends.max()?;
    Some(Time(last.saturating_add(load.drain(&rates).0)))
}

/// Bytes that each node sends and receives.
struct Load(Vec<[u64; 2]>);

impl Load {
    fn new(blueprint: &Blueprint) -> Self {
        Load(vec![[0; 2]; blueprint.nodes.len()])
    }

    fn add(&mut self, source: NodeId, destination: NodeId, bytes: u64) {
        for (way, node) in [source, destination].into_iter().enumerate() {
            let sum = &mut self.0[node.index()][way];
            *sum = sum.saturating_add(bytes);
        }
    }

    /// How long the busiest node takes.
    fn drain(&self, rates: &[Rate]) -> Span {
        let drain = self.0.iter().zip(rates).filter(|(_, rate)| **rate > Rate(0)).map(|(bytes, rate)| {
            let most = bytes[0].max(bytes[1]).min(1 << 50);
            rate.time_to_send(Bytes(most))
        });
        drain.max().unwrap_or(Span::ZERO)
    }
}

/// Flows that start before the end, on average.
fn expected_flows(arrivals: &Arrivals, limit: Time) -> f64 {
    match arrivals {
        Arrivals::List(flows) => flows.iter().filter(|flow| flow.start < limit).count() as f64,
        Arrivals::Poisson(poisson) => {
            let span = poisson.until.min(limit).0.saturating_sub(poisson.from.0);
            poisson.sources.len() as f64 * span as f64 / poisson.mean_gap.0 as f64
        }
        Arrivals::ClosedLoop(loops) => loops.iter().map(|of| of.messages as f64).sum(),
    }
}

/// Summed rate of what each node sends.
fn nic_rates(blueprint: &Blueprint) -> Vec<Rate> {
    let mut rates = vec![Rate(0); blueprint.nodes.len()];
    for link in &blueprint.links {
        for (end, direction) in link.ends.iter().zip(&link.directions) {
            let NodeId(node) = end.node;
            rates[node as usize] = rates[node as usize] + direction.rate;
        }
    }
    rates
}

/// The longest base round trip between two hosts.
fn longest_rtt(blueprint: &Blueprint, routes: &Routes) -> Span {
    let paths = pairs(blueprint).into_iter().filter_map(|(from, to)| first_path(routes, from, to));
    paths.map(|path| base_rtt(blueprint, &path)).max().unwrap_or(Span::ZERO)
}

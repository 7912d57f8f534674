//! Running a scenario, and watching it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::available_parallelism;

use floodway_fabric::allocator::ran_out;
use floodway_fabric::memory::{left, used};
use floodway_fabric::{
    Amount, Blueprint, Control, CriticalPath as Path, Fabric, FlowRef, PathTarget, RankPlan, Records as Kept,
    ThreadPlan, Threads, Traced,
};
use floodway_scenario::Cost;
use floodway_scenario::cost::{cost, too_much};
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Time};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::Table;
use crate::errors;
use crate::own::watched;
use crate::ranks::Ranks;
use crate::scenario::Scenario;

/// Progress of a run, shared with its observer.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Progress {
    control: Arc<Control>,
    /// Memory that the process used when this object was created.
    used: u64,
}

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Self {
        Progress { control: Arc::default(), used: used().unwrap_or_default() }
    }

    /// Simulated microseconds so far.
    #[getter]
    fn time_us(&self) -> f64 {
        self.control.time.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Flows finished so far.
    #[getter]
    fn flows_done(&self) -> u64 {
        self.control.flows_done.load(Ordering::Relaxed)
    }

    /// Flows started so far.
    #[getter]
    fn flows_started(&self) -> u64 {
        self.control.flows_started.load(Ordering::Relaxed)
    }

    /// Packets received over a link so far, data and replies alike.
    #[getter]
    fn packet_hops(&self) -> u64 {
        self.control.packet_hops.load(Ordering::Relaxed)
    }

    /// How far the run is, from 0 to 1.
    #[getter]
    fn share(&self) -> f64 {
        self.control.share()
    }

    /// Whether that is by its work, not by the simulated time of its limit.
    #[getter]
    fn by_work(&self) -> bool {
        self.control.by_work.load(Ordering::Relaxed)
    }

    /// Payload of its lists and loops that has arrived, and all of it, in bytes.
    #[getter]
    fn bytes(&self) -> (u64, u64) {
        numbers(&self.control.bytes)
    }

    /// Operations of its jobs that are complete, and all of them.
    #[getter]
    fn operations(&self) -> (u64, u64) {
        numbers(&self.control.operations)
    }

    /// Whether the run was requested to end.
    #[getter]
    fn is_stopping(&self) -> bool {
        self.control.stop.load(Ordering::Relaxed)
    }

    /// Requests the run to end within a fraction of a second and to return its complete records.
    fn stop(&self) {
        self.control.stop.store(true, Ordering::Relaxed);
    }

    /// Requests the run to end if there is hardly any memory left; it returns no records then, because that
    /// also takes memory.
    fn stop_if_short_of_memory(&self) {
        let grown = used().unwrap_or_default().saturating_sub(self.used);
        if ran_out() || left().is_some_and(|left| left.is_short_for(grown)) {
            self.control.give_up();
        }
    }
}

fn numbers(amount: &Amount) -> (u64, u64) {
    (amount.done.load(Ordering::Relaxed), amount.total.load(Ordering::Relaxed))
}

/// All records of a run.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Records {
    /// One row per flow.
    flows: Py<Table>,
    /// One row per workload, component and bucket of packet delay.
    latency: Py<Table>,
    /// One row per watched object, metric and time bucket.
    series: Py<Table>,
    /// One row per port and class.
    counters: Py<Table>,
    /// One row per pause or resume as it was received, if the scenario requests them.
    pauses: Option<Py<Table>>,
    /// One row per mark, CNP or change of state of a congestion point, if the scenario requests them.
    signals: Option<Py<Table>>,
    /// One row per change of a sender's allowance, if the scenario requests them.
    allowances: Option<Py<Table>>,
    /// One row per chosen port, bucket of time and flow, if the scenario requests them.
    shares: Option<Py<Table>>,
    /// One row per switch's egress port and bin of queue length, if the scenario requests them.
    queue_histogram: Option<Py<Table>>,
    /// One row per operation of a rank that is complete, if there are jobs.
    operations: Option<Py<Table>>,
    /// Captured frames as a pcapng file; none without a capture.
    capture: Option<Py<PyBytes>>,
    /// Verdicts and totals, as JSON.
    outcome_json: String,
    /// Number of threads of the run; no other record depends on it.
    threads: usize,
    /// The reason why not more, if the scenario has one.
    threads_why: Option<String>,
    /// Number of processes of the run; no other record depends on it.
    ranks: usize,
}

impl Records {
    fn new(py: Python<'_>, kept: Kept, plan: &Plan) -> PyResult<Self> {
        let outcome = serde_json::to_string(&kept.outcome);
        Ok(Records {
            flows: Table::new(py, kept.flows)?,
            latency: Table::new(py, kept.latency)?,
            series: Table::new(py, kept.series)?,
            counters: Table::new(py, kept.counters)?,
            pauses: kept.pauses.map(|rows| Table::new(py, rows)).transpose()?,
            signals: kept.signals.map(|rows| Table::new(py, rows)).transpose()?,
            allowances: kept.allowances.map(|rows| Table::new(py, rows)).transpose()?,
            shares: kept.shares.map(|rows| Table::new(py, rows)).transpose()?,
            queue_histogram: kept.queue_histogram.map(|rows| Table::new(py, rows)).transpose()?,
            operations: kept.operations.map(|rows| Table::new(py, rows)).transpose()?,
            capture: kept.capture.map(|file| PyBytes::new(py, &file).unbind()),
            outcome_json: outcome.expect("an outcome has only string keys and finite numbers"),
            threads: plan.threading.threads(),
            threads_why: plan.threading.why().map(str::to_owned),
            ranks: plan.ranks.as_ref().map_or(1, RankPlan::ranks),
        })
    }
}

/// The plan of a run of a scenario, with its cost.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Plan {
    threading: ThreadPlan,
    ranks: Option<RankPlan>,
    cost: Cost,
}

#[pymethods]
impl Plan {
    /// With this number of threads, or with the number that the policy selects; `force` uses that many even
    /// if they only wait for one another. In several processes, `ranks`, these are the threads of each, by
    /// default as many as the scenario says, or one.
    #[new]
    #[pyo3(signature = (scenario, *, threads = None, force = false, ranks = 1))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        threads: Option<usize>,
        force: bool,
        ranks: usize,
    ) -> PyResult<Self> {
        let parsed = scenario.parsed();
        let threads = threads.or_else(|| (ranks > 1).then(|| parsed.threads().unwrap_or(1)));
        let asked = match (threads, force) {
            (None, _) => Threads::Paying,
            (Some(threads), false) => Threads::AtMost(threads),
            (Some(threads), true) => Threads::Forced(threads),
        };
        let work = || {
            let threading = parsed.thread_plan(asked, available_parallelism().map_or(1, usize::from));
            let cost = cost(parsed, threading.threads());
            let ranks = (ranks > 1).then(|| RankPlan::of_run(parsed.blueprint(), ranks)).transpose();
            ranks.map(|ranks| Plan { threading, ranks, cost })
        };
        let refused = |why: String| {
            let text = format!("{ranks} processes cannot simulate {}: {why}", parsed.name());
            errors::refused(py, &text)
        };
        watched(py, None, work)?.map_err(refused)
    }

    /// Number of processes of the run.
    #[getter]
    fn ranks(&self) -> usize {
        self.ranks.as_ref().map_or(1, RankPlan::ranks)
    }

    /// Simulated time in which nothing reaches another process, in microseconds; infinite where nothing ever
    /// does.
    #[getter]
    fn lookahead_us(&self) -> f64 {
        let lookahead = self.ranks.as_ref().map_or(u64::MAX, |ranks| ranks.lookahead().0);
        if lookahead == u64::MAX { f64::INFINITY } else { lookahead as f64 / 1e6 }
    }

    /// Number of threads of the run.
    #[getter]
    fn threads(&self) -> usize {
        self.threading.threads()
    }

    /// The reason why not more, if the scenario has one.
    #[getter]
    fn threads_why(&self) -> Option<&str> {
        self.threading.why()
    }

    /// Its estimated cost, as JSON.
    #[getter]
    fn cost_json(&self) -> String {
        serde_json::to_string(&self.cost).expect("a cost has only finite numbers")
    }

    /// The reason why it needs more memory than there is, if so.
    #[getter]
    fn too_large(&self) -> Option<String> {
        too_much(self.cost.memory_bytes)
    }
}

/// Builds and runs a scenario as planned; the interpreter lock is released meanwhile. In several processes
/// that are connected as `ranks`, the first one has the records of all.
#[pyfunction]
#[pyo3(signature = (scenario, *, progress, plan, ranks = None))]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    progress: &Progress,
    plan: &Plan,
    ranks: Option<&Ranks>,
) -> PyResult<Option<Records>> {
    let (control, parsed) = (&progress.control, scenario.parsed());
    let part = plan.ranks.as_ref().zip(ranks);
    let transport = part.map(|(plan, ranks)| (plan.clone(), ranks.transport()));
    let built = || match transport {
        Some(part) => Fabric::build_part(parsed.blueprint(), Some(parsed.routes()), control, part),
        None => Fabric::build_with(parsed.blueprint(), Some(parsed.routes()), control),
    };
    let work = || {
        let fabric = built()?.on(&plan.threading);
        Ok((if parsed.skips() { fabric } else { fabric.without_skips() }).run_part())
    };
    match watched(py, Some((control, parsed.blueprint())), work)? {
        Ok(kept) => kept.map(|kept| Records::new(py, kept, plan)).transpose(),
        Err(fault) => Err(errors::unfit(py, parsed.file(), &fault)),
    }
}

/// The breakdown of a flow's completion time.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Why {
    /// Its start, in picoseconds.
    start_ps: u64,
    /// Time from its start to its completion at the receiver, in picoseconds.
    fct_ps: u64,
    /// Completion time of the flow alone, in picoseconds.
    ideal_ps: u64,
    /// One row per cause, port and origin; the rows add up to `fct_ps`.
    parts: Py<Table>,
    /// Payload by the time at which it left the NIC, retransmissions included, in buckets of one width.
    sent: Py<Table>,
}

/// Runs a scenario until some flows are complete, and breaks down the completion time of each; none of one
/// that is not complete at the end, or if the run was interrupted. Flows are given by workload, source and
/// number, each once; the interpreter lock is released meanwhile.
#[pyfunction]
#[pyo3(signature = (scenario, flows, *, progress))]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are converted")]
pub fn why(
    py: Python<'_>,
    scenario: &Scenario,
    flows: Vec<(String, String, u64)>,
    progress: &Progress,
) -> PyResult<Vec<Option<Why>>> {
    let control = &progress.control;
    let blueprint = scenario.parsed().blueprint();
    let known: Option<Vec<_>> = flows.iter().map(|flow| known(blueprint, flow)).collect();
    let Some(known) = known else { return Ok(flows.iter().map(|_| None).collect()) };
    let work = || Traced::build(blueprint, control, &known).map(Traced::why);
    let made = |found: floodway_fabric::Why| {
        Ok(Why {
            start_ps: found.start.0,
            fct_ps: found.fct.0,
            ideal_ps: found.ideal.0,
            parts: Table::new(py, found.table())?,
            sent: Table::new(py, found.sent.table())?,
        })
    };
    match watched(py, Some((control, blueprint)), work)? {
        Ok(found) => found.into_iter().map(|found| found.map(made).transpose()).collect(),
        Err(fault) => Err(errors::unfit(py, scenario.parsed().file(), &fault)),
    }
}

/// Runs a scenario to its end, and says what the sender of a flow waits for then; none if it has not started,
/// is complete, or there is no such flow. The flow is given by workload, source and number; the interpreter
/// lock is released meanwhile.
#[pyfunction]
#[pyo3(signature = (scenario, flow, *, progress))]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are converted")]
pub fn waiting(
    py: Python<'_>,
    scenario: &Scenario,
    flow: (String, String, u64),
    progress: &Progress,
) -> PyResult<Option<String>> {
    let control = &progress.control;
    let blueprint = scenario.parsed().blueprint();
    let Some(flow) = known(blueprint, &flow) else { return Ok(None) };
    let work = || Traced::build(blueprint, control, &[flow]).map(Traced::waiting);
    match watched(py, Some((control, blueprint)), work)? {
        Ok(mut found) => Ok(found.pop().flatten()),
        Err(fault) => Err(errors::unfit(py, scenario.parsed().file(), &fault)),
    }
}

/// The critical path of a collective or an iteration.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct CriticalPath {
    /// The start at the first rank, in picoseconds.
    start_ps: u64,
    /// The end at the last rank, in picoseconds.
    end_ps: u64,
    /// One row per step, from start to end; none if what ranks logged did not fit.
    steps: Option<Py<Table>>,
    /// One row per part of a step.
    parts: Py<Table>,
}

/// Runs a scenario until a collective or an iteration of a job is complete, and finds its critical path; none
/// if it is not complete at the end, or was interrupted. A collective is given by its group and its number
/// there. What ranks do before `from_ps` is not logged; the interpreter lock is released meanwhile.
#[pyfunction]
#[pyo3(signature = (scenario, workload, *, iteration, call, from_ps, progress))]
pub fn critical_path(
    py: Python<'_>,
    scenario: &Scenario,
    workload: &str,
    iteration: u32,
    call: Option<(u32, u32)>,
    from_ps: u64,
    progress: &Progress,
) -> PyResult<Option<CriticalPath>> {
    let control = &progress.control;
    let blueprint = scenario.parsed().blueprint();
    let Some(workload) = blueprint.workloads.iter().position(|spec| spec.name == workload) else {
        return Ok(None);
    };
    let target = PathTarget { workload: narrow(workload), iteration, call, from: Time(from_ps) };
    let work = || Path::find(blueprint, control, target);
    let found = match watched(py, Some((control, blueprint)), work)? {
        Ok(found) => found,
        Err(fault) => return Err(errors::unfit(py, scenario.parsed().file(), &fault)),
    };
    let Some(found) = found else { return Ok(None) };
    let (steps, parts) = found.tables();
    let steps = if found.steps.is_some() { Some(Table::new(py, steps)?) } else { None };
    Ok(Some(CriticalPath {
        start_ps: found.start.0,
        end_ps: found.end.0,
        steps,
        parts: Table::new(py, parts)?,
    }))
}

/// The flow of this workload, source and number, if the scenario has such a workload and source.
fn known(blueprint: &Blueprint, (workload, source, number): &(String, String, u64)) -> Option<FlowRef> {
    let workload = narrow::<u32>(blueprint.workloads.iter().position(|spec| spec.name == *workload)?);
    let source = NodeId(narrow(blueprint.nodes.iter().position(|node| node.name == *source)?));
    Some(FlowRef { workload, source, number: *number })
}

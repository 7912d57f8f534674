//! Running a scenario, and watching it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::available_parallelism;

use floodway_fabric::memory::{left, used};
use floodway_fabric::{Blueprint, Control, Fabric, FlowRef, Records as Kept, ThreadPlan, Threads, Traced};
use floodway_scenario::Cost;
use floodway_scenario::cost::{cost, too_much};
use floodway_units::NodeId;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::Table;
use crate::errors;
use crate::own::watched;
use crate::scenario::Scenario;

/// Shared between a run and whoever watches it.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Progress {
    control: Arc<Control>,
    /// What the process held when it was made.
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

    /// The run was asked to end.
    #[getter]
    fn is_stopping(&self) -> bool {
        self.control.stop.load(Ordering::Relaxed)
    }

    /// Asks the run to end within a fraction of a second and to hand out what is complete.
    fn stop(&self) {
        self.control.stop.store(true, Ordering::Relaxed);
    }

    /// Asks the run to end if there is hardly any memory left; it hands out nothing then, since that takes memory, too.
    fn stop_if_short_of_memory(&self) {
        let grown = used().unwrap_or_default().saturating_sub(self.used);
        if left().is_some_and(|left| left.is_short_for(grown)) {
            self.control.give_up();
        }
    }
}

/// Everything that a run keeps.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Records {
    /// One row a flow.
    flows: Py<Table>,
    /// One row a workload, component and bucket of packet delay.
    latency: Py<Table>,
    /// One row a watched object, metric and time bucket.
    series: Py<Table>,
    /// One row a port and class.
    counters: Py<Table>,
    /// One row a pause or resume as it was received, where the scenario asks for them.
    pauses: Option<Py<Table>>,
    /// One row a mark, CNP or change of state of a congestion point, where the scenario asks for them.
    signals: Option<Py<Table>>,
    /// One row each time that a sender's allowance changed, where the scenario asks for them.
    allowances: Option<Py<Table>>,
    /// One row a chosen port, bucket of time and flow, where the scenario asks for them.
    shares: Option<Py<Table>>,
    /// One row a switch's egress port and bin of queue length, where the scenario asks for them.
    queue_histogram: Option<Py<Table>>,
    /// Captured frames as a pcapng file; none where nothing was to be captured.
    capture: Option<Py<PyBytes>>,
    /// Verdicts and totals, as JSON.
    outcome_json: String,
    /// On how many threads it ran; nothing else that is kept depends on it.
    threads: usize,
    /// Why not on more, where there is a reason in the scenario.
    threads_why: Option<String>,
}

impl Records {
    fn new(py: Python<'_>, kept: Kept, thread_plan: &ThreadPlan) -> PyResult<Self> {
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
            capture: kept.capture.map(|file| PyBytes::new(py, &file).unbind()),
            outcome_json: outcome.expect("an outcome has only string keys and finite numbers"),
            threads: thread_plan.threads(),
            threads_why: thread_plan.why().map(str::to_owned),
        })
    }
}

/// How a run of a scenario is to be done, and what it comes to.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Plan {
    thread_plan: ThreadPlan,
    cost: Cost,
}

#[pymethods]
impl Plan {
    /// On so many threads, or on as many as pay; `force` has so many even where they only wait for one another.
    #[new]
    #[pyo3(signature = (scenario, *, threads = None, force = false))]
    fn new(py: Python<'_>, scenario: &Scenario, threads: Option<usize>, force: bool) -> PyResult<Self> {
        let parsed = scenario.parsed();
        let asked = match (threads, force) {
            (None, _) => Threads::Paying,
            (Some(threads), false) => Threads::AtMost(threads),
            (Some(threads), true) => Threads::Forced(threads),
        };
        let work = || {
            let thread_plan = parsed.thread_plan(asked, available_parallelism().map_or(1, usize::from));
            let cost = cost(parsed, thread_plan.threads());
            Plan { thread_plan, cost }
        };
        watched(py, None, work)
    }

    /// On how many threads it will run.
    #[getter]
    fn threads(&self) -> usize {
        self.thread_plan.threads()
    }

    /// Why not on more, where there is a reason in the scenario.
    #[getter]
    fn threads_why(&self) -> Option<&str> {
        self.thread_plan.why()
    }

    /// What it comes to, about, as JSON.
    #[getter]
    fn cost_json(&self) -> String {
        serde_json::to_string(&self.cost).expect("a cost has only finite numbers")
    }

    /// Why it needs more memory than there is, if so.
    #[getter]
    fn too_large(&self) -> Option<String> {
        too_much(self.cost.memory_bytes)
    }
}

/// Builds and runs a scenario as planned; the interpreter lock is released meanwhile.
#[pyfunction]
#[pyo3(signature = (scenario, *, progress, plan))]
pub fn run(py: Python<'_>, scenario: &Scenario, progress: &Progress, plan: &Plan) -> PyResult<Records> {
    let (control, thread_plan) = (&progress.control, &plan.thread_plan);
    let parsed = scenario.parsed();
    let built = || Fabric::build_with(parsed.blueprint(), Some(parsed.routes()), control);
    let work = || built().map(|fabric| fabric.on(thread_plan).run());
    match watched(py, Some((control, parsed.blueprint())), work)? {
        Ok(kept) => Records::new(py, kept, thread_plan),
        Err(fault) => Err(errors::unfit(py, parsed.file(), &fault)),
    }
}

/// A flow's completion time, taken apart.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Why {
    /// When it started, in picoseconds.
    start_ps: u64,
    /// From its start to its completion at the receiver, in picoseconds.
    fct_ps: u64,
    /// What it would have taken alone, in picoseconds.
    ideal_ps: u64,
    /// One row a cause, port and origin: they add up to `fct_ps`.
    parts: Py<Table>,
}

/// Runs a scenario until a flow is complete, and takes its completion time apart; none where it is not complete at the end, or
/// was interrupted. The flow is named by workload, source and number; the interpreter lock is released meanwhile.
#[pyfunction]
#[pyo3(signature = (scenario, flow, *, progress))]
pub fn why(
    py: Python<'_>,
    scenario: &Scenario,
    flow: (String, String, u64),
    progress: &Progress,
) -> PyResult<Option<Why>> {
    let control = &progress.control;
    let blueprint = scenario.parsed().blueprint();
    let Some(flow) = known(blueprint, &flow) else { return Ok(None) };
    let work = || Traced::build(blueprint, control, flow).map(Traced::why);
    match watched(py, Some((control, blueprint)), work)? {
        Ok(found) => found
            .map(|found| {
                Ok(Why {
                    start_ps: found.start.0,
                    fct_ps: found.fct.0,
                    ideal_ps: found.ideal.0,
                    parts: Table::new(py, found.table())?,
                })
            })
            .transpose(),
        Err(fault) => Err(errors::unfit(py, scenario.parsed().file(), &fault)),
    }
}

/// The flow of this workload, source and number, if the scenario has such a workload and source.
fn known(blueprint: &Blueprint, (workload, source, number): &(String, String, u64)) -> Option<FlowRef> {
    let workload = blueprint.workloads.iter().position(|spec| spec.name == *workload)? as u32;
    let source = NodeId(blueprint.nodes.iter().position(|node| node.name == *source)? as u32);
    Some(FlowRef { workload, source, number: *number })
}

//! Scenarios, parsed and checked.

use std::path::{Path, PathBuf};

use floodway_fabric::blueprint::{Arrivals, Blueprint, Role, UNBOUNDED, WorkloadSpec};
use floodway_mechanisms::registry::CongestionPointParams;
use floodway_scenario::Source;
use floodway_scenario::cost::{cost, too_much};
use floodway_scenario::standalone::{PairTimes, Pairs};
use floodway_scenario::workload::files::TableReader;
use floodway_units::Time;
use pyo3::prelude::*;
use serde_json::json;

use crate::errors;
use crate::guard::guarded;
use crate::own::watched;

/// A parsed and valid scenario; immutable.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Scenario {
    parsed: floodway_scenario::Scenario,
}

impl Scenario {
    /// The scenario in Rust.
    pub fn parsed(&self) -> &floodway_scenario::Scenario {
        &self.parsed
    }
}

#[pymethods]
impl Scenario {
    /// Its file's name without the ending, or the name given with its text.
    #[getter]
    fn name(&self) -> &str {
        self.parsed.name()
    }

    /// Its file, or the name given with its text, as messages show it.
    #[getter]
    fn file(&self) -> &str {
        self.parsed.file()
    }

    /// Seed of all random streams and of the order of ties.
    #[getter]
    fn seed(&self) -> u64 {
        self.parsed.seed()
    }

    /// The maximum simulated time, in microseconds.
    #[getter]
    fn limit_us(&self) -> f64 {
        self.parsed.blueprint().end.limit.as_us()
    }

    /// The latest start of a measured flow, in microseconds; the limit if the run goes on to it.
    #[getter]
    fn arrivals_end_us(&self) -> f64 {
        let Blueprint { end, workloads, .. } = self.parsed.blueprint();
        let last = workloads.iter().filter_map(last_start).max();
        last.filter(|_| !end.at_limit).unwrap_or(end.limit).min(end.limit).as_us()
    }

    /// Time 0 on the clock of the simulator whose files it reads, in nanoseconds.
    #[getter]
    fn origin_ns(&self) -> u64 {
        self.parsed.origin().0 / 1_000
    }

    /// Warnings about valid settings that are seldom intended, one per line.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.parsed.warnings().to_vec()
    }

    /// The whole scenario with defaults, as JSON.
    #[getter]
    fn resolved_json(&self) -> String {
        self.parsed.resolved_json()
    }

    /// The scenario as it was written, as JSON.
    #[getter]
    fn written_json(&self) -> String {
        self.parsed.written_json()
    }

    /// The scenario as it was written, as TOML text.
    fn written_toml(&self, py: Python<'_>) -> PyResult<String> {
        self.parsed.written_toml().map_err(|faults| errors::faulty(py, &faults))
    }

    /// The same scenario with other values for keys of the top level (a JSON table), then for paths of keys.
    #[pyo3(signature = (keys_json, *, sets, tables))]
    fn replaced(
        &self,
        py: Python<'_>,
        keys_json: &str,
        sets: Vec<(String, String)>,
        tables: Py<PyAny>,
    ) -> PyResult<Self> {
        parsed(py, || self.parsed.replaced(keys_json, &sets, Some(&rows_by(&tables))))
    }

    /// Payload of a full packet, in bytes.
    #[getter]
    fn mtu_bytes(&self) -> u64 {
        self.parsed.blueprint().mtu.0
    }

    /// Name and offered load of each workload; the load, in Gbit/s, only for Poisson arrivals.
    #[getter]
    fn offered_gbps(&self) -> Vec<(String, Option<f64>)> {
        let workloads = floodway_scenario::traffics(&self.parsed).into_iter();
        workloads.map(|workload| (workload.name, workload.offered_gbps)).collect()
    }

    /// Its nodes in order: names, and whether each is a switch.
    #[getter]
    fn nodes(&self) -> Vec<(String, bool)> {
        let nodes = &self.parsed.blueprint().nodes;
        nodes.iter().map(|node| (node.name.clone(), matches!(node.role, Role::Switch(_)))).collect()
    }

    /// For each pair of hosts: propagation one way, a full packet's payload at the rate of each link (both in
    /// nanoseconds), and the lowest rate (in bit/s); none where there is no path from one to the other.
    fn pair_times(&self, pairs: Vec<(String, String)>) -> Vec<Option<(u64, u64, u64)>> {
        let known = Pairs::new(&self.parsed);
        let times = pairs.iter().map(|(source, destination)| known.times(source, destination));
        let plain = |times: PairTimes| (times.propagation_ns, times.payload_ns, times.bottleneck_bps);
        times.map(|times| times.map(plain)).collect()
    }

    /// The same scenario with another seed.
    fn with_seed(&self, seed: u64) -> Self {
        Scenario { parsed: self.parsed.clone().with_seed(seed) }
    }
}

/// The result of building a scenario without running it.
#[pyclass(frozen, get_all, module = "floodway._floodway")]
pub struct Check {
    /// Report for users.
    text: String,
    /// Report for programs.
    json: String,
}

/// Reads a scenario's file, with values that replace those of the file; `tables` returns the rows of files
/// that are not text as CSV.
#[pyfunction]
#[pyo3(signature = (path, *, sets, tables))]
pub fn parse_file(
    py: Python<'_>,
    path: PathBuf,
    sets: Vec<(String, String)>,
    tables: Py<PyAny>,
) -> PyResult<Scenario> {
    parsed(py, || floodway_scenario::Scenario::from_path_with(&path, &sets, Some(&rows_by(&tables))))
}

/// Reads a scenario from its text, as `parse_file` does.
#[pyfunction]
#[pyo3(signature = (name, text, *, sets, tables))]
pub fn parse_text(
    py: Python<'_>,
    name: &str,
    text: &str,
    sets: Vec<(String, String)>,
    tables: Py<PyAny>,
) -> PyResult<Scenario> {
    parsed(py, || {
        let tables = rows_by(&tables);
        floodway_scenario::Scenario::from_source(source(name, text, &sets, &tables))
    })
}

/// Reads a scenario from JSON of the same form, as `parse_text` does; relative paths in it start at `folder`.
#[pyfunction]
#[pyo3(signature = (name, json, *, sets, tables, folder = None))]
pub fn parse_json(
    py: Python<'_>,
    name: &str,
    json: &str,
    sets: Vec<(String, String)>,
    tables: Py<PyAny>,
    folder: Option<PathBuf>,
) -> PyResult<Scenario> {
    parsed(py, || {
        let tables = rows_by(&tables);
        let folder = folder.as_deref().unwrap_or(Path::new(""));
        floodway_scenario::Scenario::from_json(Source { folder, ..source(name, json, &sets, &tables) })
    })
}

/// Reads a configuration of the HPCC simulator: returns the text of the equivalent scenario, the folder at
/// which relative paths in it start (`to`, by default the configuration's), and a line for each key with a
/// difference.
#[pyfunction]
#[pyo3(signature = (path, *, to = None))]
pub fn import_hpcc(
    py: Python<'_>,
    path: PathBuf,
    to: Option<PathBuf>,
) -> PyResult<(String, PathBuf, Vec<String>)> {
    match py.detach(|| guarded(|| floodway_scenario::import::hpcc(&path, to.as_deref()))) {
        Ok(Ok(imported)) => {
            let warnings = imported.every_warning();
            Ok((imported.text, imported.folder, warnings))
        }
        Ok(Err(faults)) => Err(errors::faulty(py, &faults)),
        Err(why) => Err(errors::stopped(py, &why)),
    }
}

/// The grammar of scenarios as JSON Schema.
#[pyfunction]
pub fn schema_json() -> String {
    floodway_scenario::schema().to_string()
}

/// The names that a scenario can use, as JSON.
#[pyfunction]
pub fn catalog_json() -> String {
    json!(floodway_scenario::Catalog::new()).to_string()
}

/// The queue states of each congestion point, by name, if it has any.
#[pyfunction]
pub fn queue_states() -> Vec<(&'static str, Vec<&'static str>)> {
    let states = |name: &'static str| {
        let params: Option<CongestionPointParams> = serde_json::from_value(name.into()).ok();
        Some((name, params?.states().to_vec())).filter(|(_, states)| !states.is_empty())
    };
    CongestionPointParams::names().into_iter().filter_map(states).collect()
}

/// Builds a scenario without running it; `resolved` adds the final settings of every object.
#[pyfunction]
#[pyo3(signature = (scenario, *, resolved = false))]
pub fn check(py: Python<'_>, scenario: &Scenario, resolved: bool) -> PyResult<Check> {
    let parsed = &scenario.parsed;
    let cost = watched(py, None, || cost(parsed, 1))?;
    if let Some(why) = too_much(cost.network_bytes) {
        return Err(errors::too_large(
            py,
            &format!("{}: its network cannot be built here: {why}", parsed.file()),
        ));
    }
    let fits = || parsed.blueprint().check(parsed.routes());
    match watched(py, None, || fits().map(|()| floodway_scenario::check(parsed, resolved)))? {
        Ok(report) => Ok(Check { text: report.text(), json: report.json() }),
        Err(fault) => Err(errors::unfit(py, parsed.file(), &fault)),
    }
}

fn parsed(
    py: Python<'_>,
    read: impl FnOnce() -> Result<floodway_scenario::Scenario, floodway_scenario::ScenarioErrors> + Send,
) -> PyResult<Scenario> {
    match watched(py, None, read)? {
        Ok(parsed) => Ok(Scenario { parsed }),
        Err(faults) => Err(errors::faulty(py, &faults)),
    }
}

/// A text without a file: paths in it start at the folder of the process.
fn source<'a>(
    name: &'a str,
    text: &'a str,
    sets: &'a [(String, String)],
    tables: TableReader<'a>,
) -> Source<'a> {
    Source { name, text, folder: Path::new(""), sets, tables: Some(tables) }
}

/// The latest start of a workload's measured flows; none if no flow ends.
fn last_start(workload: &WorkloadSpec) -> Option<Time> {
    let last = match &workload.arrivals {
        Arrivals::List(flows) => flows.iter().rfind(|flow| flow.size < UNBOUNDED)?.start,
        Arrivals::Poisson(process) => process.until,
        // Its duration is unknown.
        Arrivals::ClosedLoop(_) | Arrivals::Program(_) => return None,
    };
    Some(last.min(workload.measure.1))
}

/// A reader of tables that calls Python; an exception there is the reason why it cannot read.
fn rows_by(tables: &Py<PyAny>) -> impl Fn(&Path) -> Result<String, String> {
    |path| {
        Python::attach(|py| {
            let rows = tables.bind(py).call1((path,)).and_then(|rows| rows.extract::<String>());
            rows.map_err(|error| error.value(py).to_string())
        })
    }
}

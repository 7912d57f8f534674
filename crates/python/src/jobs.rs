//! Jobs from and for other simulators.

use std::io;
use std::path::PathBuf;

use floodway_scenario::export::{self, ExportError};
use floodway_scenario::import::{Given, Job, job};
use floodway_scenario::workload::trace::TraceFormat;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors;
use crate::guard::guarded;
use crate::scenario::Scenario;

/// So much of a text is given to Python at a time.
const CHUNK: usize = 1 << 20;

/// Reads the files of a job: returns the text of a scenario that runs it, whose relative paths start at the
/// folder `to`, and warnings. `keys` are further keys of the table `trace`; `network` is the file of a
/// network, in place of `topology`.
#[pyfunction]
#[pyo3(signature = (kind, files, *, keys, topology, network, gpu_nodes, config, rate, delay, to))]
#[allow(clippy::too_many_arguments, reason = "one an option of the command")]
pub fn import_job(
    py: Python<'_>,
    kind: &str,
    files: Vec<PathBuf>,
    keys: Vec<(String, String)>,
    topology: Option<String>,
    network: Option<PathBuf>,
    gpu_nodes: Option<String>,
    config: Option<PathBuf>,
    rate: &str,
    delay: &str,
    to: PathBuf,
) -> PyResult<(String, Vec<String>)> {
    let Some(format) = TraceFormat::ALL.into_iter().find(|known| known.name() == kind) else {
        let names = TraceFormat::ALL.map(TraceFormat::name).join(", ");
        return Err(PyValueError::new_err(format!("{kind:?} is no format; allowed: {names}")));
    };
    let network = network.as_deref().map(Given::File).or(topology.as_deref().map(Given::Keys));
    let gpu_nodes = gpu_nodes.as_deref();
    let request = Job {
        format,
        files: &files,
        keys: &keys,
        network,
        gpu_nodes,
        config: config.as_deref(),
        link: (rate, delay),
    };
    match py.detach(|| guarded(|| job(&request, &to))) {
        Ok(Ok(imported)) => {
            let warnings = imported.every_warning();
            Ok((imported.text, warnings))
        }
        Ok(Err(faults)) => Err(errors::faulty(py, &faults)),
        Err(why) => Err(errors::stopped(py, &why)),
    }
}

/// Writes a job of a scenario as GOAL: calls `write` with one part of the text after another. Returns what
/// GOAL cannot express.
#[pyfunction]
#[pyo3(signature = (scenario, write, *, workload = None))]
pub fn export_goal(
    py: Python<'_>,
    scenario: &Scenario,
    write: Py<PyAny>,
    workload: Option<String>,
) -> PyResult<Vec<String>> {
    let mut raised = None;
    let written = {
        let parts = Parts { write, raised: &mut raised };
        let out = io::BufWriter::with_capacity(CHUNK, parts);
        py.detach(|| guarded(|| export::goal(scenario.parsed(), workload.as_deref(), out)))
    };
    if let Some(raised) = raised {
        return Err(raised);
    }
    match written {
        Ok(Ok(notes)) => Ok(notes),
        Ok(Err(ExportError::Scenario(faults))) => Err(errors::faulty(py, &faults)),
        Ok(Err(ExportError::Io(error))) => Err(error.into()),
        Err(why) => Err(errors::stopped(py, &why)),
    }
}

/// A function of Python that takes the parts of a text.
struct Parts<'a> {
    write: Py<PyAny>,
    /// Its exception.
    raised: &'a mut Option<PyErr>,
}

impl io::Write for Parts<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        Python::attach(|py| self.write.call1(py, (text,))).map_err(|error| {
            *self.raised = Some(error);
            io::Error::other("Python raised an exception")
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

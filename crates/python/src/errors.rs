//! Rust's errors as the exceptions of `floodway.errors`, with the place of the fault as attributes.

use floodway_fabric::BuildError;
use floodway_scenario::{ScenarioError, ScenarioErrors};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

const MODULE: &str = "floodway.errors";

/// A scenario with faults.
pub fn faulty(py: Python<'_>, errors: &ScenarioErrors) -> PyErr {
    let faults = errors.0.iter().map(|error| fault(py, error)).collect::<PyResult<Vec<_>>>();
    raised(faults.and_then(|faults| exception(py, faults)))
}

/// A scenario whose network cannot be built.
pub fn unfit(py: Python<'_>, file: &str, error: &BuildError) -> PyErr {
    let fault = || {
        let parts = PyDict::new(py);
        parts.set_item("text", format!("{file}: {error}"))?;
        parts.set_item("file", file)?;
        parts.set_item("key", error.key)?;
        class(py, "Fault")?.call((), Some(&parts))
    };
    raised(fault().and_then(|fault| exception(py, vec![fault])))
}

/// A bug of the simulator.
pub fn internal(py: Python<'_>, report: &str) -> PyErr {
    let text = format!("a bug of floodway, please report it: {report}");
    raised(class(py, "InternalError").and_then(|class| class.call1((text,))))
}

fn fault<'py>(py: Python<'py>, error: &ScenarioError) -> PyResult<Bound<'py, PyAny>> {
    let parts = PyDict::new(py);
    parts.set_item("text", error.to_string())?;
    parts.set_item("file", &*error.place.file)?;
    parts.set_item("line", error.place.line)?;
    parts.set_item("key", (!error.key.is_empty()).then_some(&error.key))?;
    parts.set_item("given", error.given.as_deref())?;
    parts.set_item("allowed", PyTuple::new(py, &error.allowed)?)?;
    parts.set_item("nearest", &error.nearest)?;
    class(py, "Fault")?.call((), Some(&parts))
}

fn exception<'py>(py: Python<'py>, faults: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    class(py, "ScenarioError")?.call1((PyTuple::new(py, faults)?,))
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import(MODULE)?.getattr(name)
}

/// The exception that was made, or the one that making it met.
fn raised(made: PyResult<Bound<'_, PyAny>>) -> PyErr {
    made.map_or_else(|error| error, PyErr::from_value)
}

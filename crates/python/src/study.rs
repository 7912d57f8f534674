//! Studies, parsed and checked.

use std::path::PathBuf;

use floodway_scenario::{ScenarioErrors, study};
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors;
use crate::guard::guarded;

/// Reads a study from its text, as JSON; `name` is its file in messages, and files that it names lie relative
/// to `folder`.
#[pyfunction]
#[pyo3(signature = (name, text, *, folder))]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over a path")]
pub fn parse_study(py: Python<'_>, name: &str, text: &str, folder: PathBuf) -> PyResult<String> {
    json_of(py, || study::read(name, text, &folder))
}

/// Reads the mutants of a paper from their text, as JSON; `name` is their file in messages.
#[pyfunction]
pub fn parse_mutants(py: Python<'_>, name: &str, text: &str) -> PyResult<String> {
    json_of(py, || study::read_mutants(name, text))
}

/// Kinds of metrics, and formulas with their arguments, as JSON.
#[pyfunction]
pub fn study_catalog_json() -> String {
    study::catalog().to_string()
}

/// The grammar of studies as JSON Schema.
#[pyfunction]
pub fn study_schema_json() -> String {
    study::schema().to_string()
}

fn json_of(py: Python<'_>, read: impl FnOnce() -> Result<Value, ScenarioErrors>) -> PyResult<String> {
    match guarded(read) {
        Ok(Ok(value)) => Ok(value.to_string()),
        Ok(Err(faults)) => Err(errors::faulty(py, &faults)),
        Err(stopped) => Err(errors::stopped(py, &stopped)),
    }
}

//! Rust's errors as the exceptions of `floodway.common.errors`, with the place of the fault as attributes.

use floodway_fabric::BuildError;
use floodway_fabric::memory::{Exhausted, left};
use floodway_fabric::panics::{Owner, Panicked};
use floodway_scenario::cost::{size, words};
use floodway_scenario::{ScenarioError, ScenarioErrors};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::extension;
use crate::guard::Stopped;
use crate::own::Fault;

const MODULE: &str = "floodway.common.errors";

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

/// Work that did not complete: memory was exhausted, or the simulator or a mechanism of an extension has a
/// bug.
pub fn stopped(py: Python<'_>, why: &Stopped) -> PyErr {
    match why {
        &Stopped::Exhausted(exhausted) => exhausted_memory(py, exhausted),
        Stopped::Misused(misused) => {
            raised(class(py, "ExtensionError").and_then(|class| class.call1((&misused.message,))))
        }
        Stopped::Outgrown(outgrown) => {
            let text = format!("{}; nothing of the run is kept", outgrown.message);
            raised(class(py, "RunError").and_then(|class| class.call1((text,))))
        }
        Stopped::Lost(lost) => {
            raised(class(py, "RanksError").and_then(|class| class.call1((&lost.message,))))
        }
        Stopped::Panicked(panicked) => {
            let (name, text) = of_panic(panicked, extension::name());
            raised(class(py, name).and_then(|class| class.call1((text,))))
        }
    }
}

/// The class of exceptions for a panic, and its text.
pub fn of_panic(panicked: &Panicked, extension: Option<&str>) -> (&'static str, String) {
    let (place, message) = (panicked.place(), &panicked.message);
    match (panicked.owner(), extension) {
        (Owner::Other, Some(name)) => (
            "ExtensionError",
            format!(
                "the extension {name} panicked at {place}: {message}; this is code of its own crate, not of floodway"
            ),
        ),
        (Owner::Library, Some(name)) => (
            "ExtensionError",
            format!(
                "a library panicked at {place}: {message}; what called it is the extension {name} or floodway: if the scenario \
                 also fails without the extension's mechanisms, please report it"
            ),
        ),
        _ => ("InternalError", format!("a bug of floodway, please report it: {message} ({place})")),
    }
}

/// The exception of users' code, as the cause of an error with its place.
pub fn of_mechanism(py: Python<'_>, fault: Fault) -> PyErr {
    let at = fault.at.map(|at| format!("{} us", at.as_us()));
    let made =
        class(py, "MechanismError").and_then(|class| class.call1((fault.call, fault.place, at, fault.line)));
    let error = raised(made);
    error.set_cause(py, Some(fault.error));
    error
}

/// A `KeyboardInterrupt` that names the users' code that it ended: what a run did after that would be without
/// it.
pub fn interrupted(py: Python<'_>, fault: Fault) -> PyErr {
    let call = format!("in {}", fault.call);
    let error = of_mechanism(py, fault);
    let location = error.value(py).getattr("location").and_then(|location| location.extract::<String>());
    PyKeyboardInterrupt::new_err(
        location.map_or_else(|_| call.clone(), |location| format!("{call}{location}")),
    )
}

/// A run that cannot be begun in the way that was asked.
pub fn refused(py: Python<'_>, why: &str) -> PyErr {
    raised(class(py, "RanksError").and_then(|class| class.call1((why,))))
}

/// A run that needs more memory than there is, by the estimate before it; `why` has the numbers.
pub fn too_large(py: Python<'_>, why: &str) -> PyErr {
    raised(class(py, "OutOfMemoryError").and_then(|class| class.call1((why,))))
}

fn exhausted_memory(py: Python<'_>, exhausted: Exhausted) -> PyErr {
    let asked = match exhausted.bytes {
        0 => String::from("hardly any is left"),
        bytes => format!("{} more could not be allocated", size(bytes)),
    };
    let left = left().map_or_else(String::new, |left| format!(" ({})", words(&left)));
    let helps = "fewer flows, records or threads, or a smaller network, need less";
    too_large(py, &format!("memory ran out: {asked}{left}; nothing of the run is kept; {helps}"))
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

/// The exception that was created, or the one raised while creating it.
fn raised(made: PyResult<Bound<'_, PyAny>>) -> PyErr {
    made.map_or_else(|error| error, PyErr::from_value)
}

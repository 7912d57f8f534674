//! The native module `floodway._floodway`: conversions between Rust and Python, without rules of the
//! simulation.
//!
//! As a library, it is the basis of an extension: a separate module with the simulator and mechanisms from
//! outside this tree, which replaces this one (`docs/add-a-mechanism.md`).

mod arrow;
mod columns;
mod errors;
mod extension;
mod formulas;
mod guard;
mod jobs;
mod own;
mod ranks;
mod scenario;
mod simulate;
mod study;

use floodway_fabric::allocator::Allocator;
use floodway_fabric::panics;
use floodway_mechanisms::registry::custom::RegistryError;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The simulator's native module.
#[pymodule]
fn _floodway(module: &Bound<'_, PyModule>) -> PyResult<()> {
    panics::install();
    fill(module)
}

/// Makes `module` the simulator's native module, with the mechanisms that `register` adds to the registry.
///
/// # Errors
/// A name that is in use or empty, or parameters that are not the mechanism's own; also if `register` panics.
pub fn extension(
    module: &Bound<'_, PyModule>,
    register: impl FnOnce() -> Result<(), RegistryError>,
) -> PyResult<()> {
    panics::install();
    extension::add(module, register)?;
    fill(module)
}

fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<columns::Column>()?;
    module.add_class::<columns::Table>()?;
    module.add_class::<scenario::Check>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<simulate::CriticalPath>()?;
    module.add_class::<simulate::Plan>()?;
    module.add_class::<ranks::Ranks>()?;
    module.add_class::<simulate::Progress>()?;
    module.add_class::<simulate::Records>()?;
    module.add_class::<simulate::Why>()?;
    module.add_class::<own::Ack>()?;
    module.add_class::<own::Cnp>()?;
    module.add_class::<own::Flow>()?;
    module.add_class::<own::Hop>()?;
    module.add_class::<own::Loss>()?;
    module.add_class::<own::Packet>()?;
    module.add_class::<own::Port>()?;
    module.add_class::<own::Queue>()?;
    module.add_class::<own::Sent>()?;
    module.add_function(wrap_pyfunction!(formulas::pfc_utilisation, module)?)?;
    module.add_function(wrap_pyfunction!(formulas::interface_bits, module)?)?;
    module.add_function(wrap_pyfunction!(formulas::pfc_bytes_until_heeded, module)?)?;
    module.add_function(wrap_pyfunction!(formulas::occupied_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::export_goal, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::import_job, module)?)?;
    module.add_function(wrap_pyfunction!(own::parse_unit, module)?)?;
    module.add_function(wrap_pyfunction!(own::register_congestion_point, module)?)?;
    module.add_function(wrap_pyfunction!(own::register_rate_control, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::catalog_json, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::check, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::import_hpcc, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::parse_file, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::parse_json, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::parse_text, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::queue_states, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::schema_json, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::critical_path, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::run, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::why, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::waiting, module)?)?;
    module.add_function(wrap_pyfunction!(study::parse_study, module)?)?;
    module.add_function(wrap_pyfunction!(study::parse_mutants, module)?)?;
    module.add_function(wrap_pyfunction!(study::study_catalog_json, module)?)?;
    module.add_function(wrap_pyfunction!(study::study_schema_json, module)?)?;
    Ok(())
}

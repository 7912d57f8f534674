//! The native module `floodway._floodway`: conversions between Rust and Python, no rule of the simulation.

mod arrow;
mod columns;
mod errors;
mod formulas;
mod guard;
mod scenario;
mod simulate;

use pyo3::prelude::*;

/// The simulator's native half.
#[pymodule]
mod _floodway {
    #[pymodule_export]
    use crate::columns::{Column, Table};
    #[pymodule_export]
    use crate::formulas::pfc_utilisation;
    #[pymodule_export]
    use crate::scenario::{
        Check, Scenario, catalog_json, check, import_hpcc, parse_file, parse_json, parse_text, schema_json,
    };
    #[pymodule_export]
    use crate::simulate::{Plan, Progress, Records, Why, run, why};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::guard::install();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

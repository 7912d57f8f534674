//! Tables whose columns Python reads without a copy, by Arrow's C data interface.

use std::sync::Arc;

use floodway_fabric::{Table as Rows, Values};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::capsules;

/// Columns of one length.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Table {
    columns: Vec<Py<Column>>,
}

impl Table {
    /// Moves the columns of `rows`; no value is copied.
    pub fn new(py: Python<'_>, rows: Rows) -> PyResult<Py<Self>> {
        let columns = rows.columns.into_iter();
        let columns =
            columns.map(|column| Py::new(py, Column { name: column.name, values: Arc::new(column.values) }));
        Py::new(py, Table { columns: columns.collect::<PyResult<_>>()? })
    }
}

#[pymethods]
impl Table {
    /// Its columns, in order.
    #[getter]
    fn columns(&self, py: Python<'_>) -> Vec<Py<Column>> {
        self.columns.iter().map(|column| column.clone_ref(py)).collect()
    }
}

/// A named column, whose values are in Rust's memory.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Column {
    name: String,
    values: Arc<Values>,
}

#[pymethods]
impl Column {
    /// Name in files; its suffix is the unit.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Type of the values: u64, f64 (NaN for none), u8 for bool, u32 codes for text.
    #[getter]
    fn kind(&self) -> &'static str {
        match *self.values {
            Values::U64(_) => "u64",
            Values::F64(_) => "f64",
            Values::Bool(_) => "bool",
            Values::Text { .. } => "text",
        }
    }

    /// Texts of the codes of a text column; empty for the others.
    #[getter]
    fn dictionary(&self) -> Vec<&str> {
        match &*self.values {
            Values::Text { dictionary, .. } => dictionary.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }

    /// Its values by Arrow's C data interface, without a copy: u8 for bool, u32 codes for text.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A consumer that requests other types converts the values; the interface permits that on both sides.
        let _ = requested_schema;
        capsules(py, &self.values)
    }
}

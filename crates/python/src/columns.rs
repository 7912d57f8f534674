//! Tables whose columns Python reads in place, by the buffer protocol.

use std::ffi::c_int;

use floodway_fabric::{Table as Rows, Values};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Columns of one length.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Table {
    columns: Vec<Py<Column>>,
}

impl Table {
    /// Takes the columns of `rows`; no value is copied.
    pub fn new(py: Python<'_>, rows: Rows) -> PyResult<Py<Self>> {
        let columns = rows.columns.into_iter();
        let columns = columns.map(|column| Py::new(py, Column { name: column.name, values: column.values }));
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

/// A named column; a contiguous, read-only buffer over the values that Rust holds.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Column {
    name: String,
    values: Values,
}

#[pymethods]
impl Column {
    /// Name, as files show it; its suffix is the unit.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// What the values are: u64, f64 (NaN for none), u8 for bool, u32 codes for text.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.values {
            Values::U64(_) => "u64",
            Values::F64(_) => "f64",
            Values::Bool(_) => "bool",
            Values::Text { .. } => "text",
        }
    }

    /// What the codes of a text column mean; empty for the others.
    #[getter]
    fn dictionary(&self) -> Vec<&str> {
        match &self.values {
            Values::Text { dictionary, .. } => dictionary.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }

    #[expect(unsafe_code, reason = "the buffer protocol hands out a pointer")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view was given"));
        }
        let (start, bytes) = slf.get().memory();
        let bytes = isize::try_from(bytes).expect("a vector has no more than isize::MAX bytes");
        // SAFETY: `view` is not null. The memory belongs to a frozen object, so that it neither moves nor
        // changes; the view holds a reference to that object and is read-only.
        let filled =
            unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start.cast_mut().cast(), bytes, 1, flags) };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

impl Column {
    /// Where the values lie, and how many bytes they have.
    fn memory(&self) -> (*const u8, usize) {
        match &self.values {
            Values::U64(values) => (values.as_ptr().cast(), size_of_val(values.as_slice())),
            Values::F64(values) => (values.as_ptr().cast(), size_of_val(values.as_slice())),
            Values::Bool(values) => (values.as_ptr(), values.len()),
            Values::Text { codes, .. } => (codes.as_ptr().cast(), size_of_val(codes.as_slice())),
        }
    }
}

//! Columns by the Arrow C data interface, in capsules: table libraries read the values in Rust's memory.
//!
//! The two structures and their release are as in <https://arrow.apache.org/docs/format/CDataInterface.html>,
//! the names of the capsules as in
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use floodway_fabric::Values;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// `ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `ArrowArray`.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// The memory that an array points to.
struct Held {
    /// No validity bitmap, and the values.
    buffers: [*const c_void; 2],
    _values: Arc<Values>,
}

#[expect(unsafe_code, reason = "its pointers are to constants, or to nothing")]
// SAFETY: the memory that it points to never changes.
unsafe impl Send for Schema {}

#[expect(unsafe_code, reason = "its pointers are to what it holds itself")]
// SAFETY: only the holder of the array releases what it points to, and the values never change.
unsafe impl Send for Array {}

/// The capsules `arrow_schema` and `arrow_array` of a column of these values.
pub fn capsules<'py>(
    py: Python<'py>,
    values: &Arc<Values>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let schema = PyCapsule::new_with_value(py, Schema::of(values), c"arrow_schema")?;
    Ok((schema, PyCapsule::new_with_value(py, Array::of(values), c"arrow_array")?))
}

impl Schema {
    fn of(values: &Values) -> Self {
        let format: &'static CStr = match values {
            Values::U64(_) => c"L",
            Values::F64(_) => c"g",
            Values::Bool(_) => c"C",
            Values::Text { .. } => c"I",
        };
        Schema {
            format: format.as_ptr(),
            name: c"".as_ptr(),
            metadata: null(),
            flags: 0,
            n_children: 0,
            children: null_mut(),
            dictionary: null_mut(),
            release: Some(release_schema),
            private_data: null_mut(),
        }
    }
}

impl Array {
    fn of(values: &Arc<Values>) -> Self {
        let first: *const c_void = match &**values {
            Values::U64(values) => values.as_ptr().cast(),
            Values::F64(values) => values.as_ptr().cast(),
            Values::Bool(values) => values.as_ptr().cast(),
            Values::Text { codes, .. } => codes.as_ptr().cast(),
        };
        let held = Box::into_raw(Box::new(Held { buffers: [null(), first], _values: Arc::clone(values) }));
        #[expect(unsafe_code, reason = "the interface is one of pointers")]
        // SAFETY: `held` was just made, and is there until the array is released.
        let buffers = unsafe { (&raw mut (*held).buffers).cast() };
        Array {
            length: i64::try_from(values.len()).expect("no vector has more elements"),
            null_count: 0,
            offset: 0,
            n_buffers: 2,
            n_children: 0,
            buffers,
            children: null_mut(),
            dictionary: null_mut(),
            release: Some(release_array),
            private_data: held.cast(),
        }
    }
}

/// A capsule releases its content unless a consumer has moved it; a consumer that moves it clears `release`.
impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            #[expect(unsafe_code, reason = "as the interface has it")]
            // SAFETY: it is released once, since `release` is cleared afterwards.
            unsafe {
                release(self);
            }
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            #[expect(unsafe_code, reason = "as the interface has it")]
            // SAFETY: it is released once, since `release` is cleared afterwards.
            unsafe {
                release(self);
            }
        }
    }
}

#[expect(unsafe_code, reason = "the holder of the schema calls it by a pointer")]
unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: by the interface, the pointer is to a schema of this module that is not released.
    unsafe {
        (*schema).release = None;
    }
}

#[expect(unsafe_code, reason = "the holder of the array calls it by a pointer")]
unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: by the interface, the pointer is to an array of this module that is not released, and its
    // contents were allocated by a box.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<Held>()));
        (*array).release = None;
    }
}

//! Mechanisms of one's own: a line of `register` for each, and an extension module of floodway with them in
//! it.

pub mod delay_window;
pub mod least_served;
pub mod two_marks;

use floodway_mechanisms::registry::{CongestionPointParams, FlowControlParams, ReactionParams};
use pyo3::prelude::*;

/// The simulator's native module, with these mechanisms.
#[pymodule]
fn own_mechanism(module: &Bound<'_, PyModule>) -> PyResult<()> {
    _floodway::extension(module, || {
        ReactionParams::register::<delay_window::Params>("delay-window", include_str!("delay_window.rs"))?;
        CongestionPointParams::register::<least_served::Params>(
            "least-served",
            include_str!("least_served.rs"),
        )?;
        FlowControlParams::register::<two_marks::Params>("two-marks", include_str!("two_marks.rs"))
    })
}

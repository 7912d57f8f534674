//! Closed forms of the mechanisms, for Python.

use floodway_mechanisms::pfc;
use pyo3::prelude::*;

/// The share of its rate that PFC lets a long link carry, from 0 to 1. `drain` is the fraction of the rate
/// that leaves its end; XOFF and the bytes on the link in a round trip are in bytes.
#[pyfunction]
#[pyo3(signature = (drain, *, xoff_bytes, round_trip_bytes))]
pub fn pfc_utilisation(drain: f64, xoff_bytes: f64, round_trip_bytes: f64) -> f64 {
    pfc::utilisation(drain, xoff_bytes, round_trip_bytes)
}

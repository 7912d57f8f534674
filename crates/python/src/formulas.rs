//! Closed forms of the mechanisms, for Python.

use floodway_mechanisms::pfc;
use floodway_mechanisms::slots::{LinkInfo, cycle_held};
use floodway_units::{Bytes, Rate, Span};
use pyo3::prelude::*;

/// The share of its rate that PFC lets a long link carry, from 0 to 1. `drain` is the fraction of the rate
/// that leaves its end; XOFF and the bytes on the link in a round trip are in bytes.
#[pyfunction]
#[pyo3(signature = (drain, *, xoff_bytes, round_trip_bytes))]
pub fn pfc_utilisation(drain: f64, xoff_bytes: f64, round_trip_bytes: f64) -> f64 {
    pfc::utilisation(drain, xoff_bytes, round_trip_bytes)
}

/// The most that an interface of this rate takes, out and in, in bit times; None where it is not known.
#[pyfunction]
pub fn interface_bits(rate_bps: u64) -> Option<u64> {
    pfc::interface_bits(Rate(rate_bps))
}

/// Bytes of a link's time, preambles and gaps included, from a port's decision to pause to the first moment
/// that obeys it: all frames that begin in it arrive. The same delay both ways.
#[pyfunction]
#[pyo3(signature = (*, rate_bps, delay_ps, react_ps, mtu_frame_bytes))]
pub fn pfc_bytes_until_heeded(rate_bps: u64, delay_ps: u64, react_ps: u64, mtu_frame_bytes: u64) -> u64 {
    let (rate, delay) = (Rate(rate_bps), Span(delay_ps));
    // Where cells count, preambles and gaps do.
    let cell = Bytes(2);
    let link = LinkInfo {
        rate,
        reverse_rate: rate,
        delay,
        reverse_delay: delay,
        mtu: Bytes(mtu_frame_bytes),
        cell,
        ..LinkInfo::example()
    };
    pfc::bytes_until_begun(&link, Span(react_ps)).0
}

/// The most bytes of a buffer that frames occupy which begin in so many bytes of a link's time: frames of the
/// sizes of `mix`, over and over in this order, from the worst of them on; of any size, if `mix` is empty.
#[pyfunction]
#[pyo3(signature = (wire_bytes, *, cell_bytes, mtu_frame_bytes, mix_bytes))]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over a list")]
pub fn occupied_bytes(wire_bytes: u64, cell_bytes: u64, mtu_frame_bytes: u64, mix_bytes: Vec<u64>) -> u64 {
    let example = LinkInfo::example();
    let link = LinkInfo { cell: Bytes(cell_bytes), mtu: Bytes(mtu_frame_bytes), ..example };
    if mix_bytes.is_empty() {
        return (link.worst_frame().most_held(Bytes(wire_bytes)) + link.largest_held()).0;
    }
    let frames: Vec<Bytes> = mix_bytes.iter().map(|&frame| Bytes(frame)).collect();
    cycle_held(&frames, link.cell, link.overhead, Bytes(wire_bytes)).0
}

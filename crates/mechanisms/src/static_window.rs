//! A window of constant size: it limits the payload bytes that are sent and not acknowledged (the layer that
//! papers add to a rate control as "+win": HPCC, section 5.1).
//!
//! # What it does
//!
//! A packet waits while the bytes in flight plus its own exceed the window; an ACK lets the next one start.
//! The window is constant. With `variable` this is the window at line rate; it shrinks with the rate that the
//! other layers allow, so that it always covers the same time.
//!
//! # Why
//!
//! It bounds the bytes of a flow in the network: one bandwidth-delay product is enough to fill its path and
//! leaves little to queue. Stack it with a rate control: the lowest rate and the smallest window apply. It
//! needs ACKs, so a reliability other than `none`.
//!
//! # Sizing
//!
//! ```text
//! size = path's bottleneck rate · base round trip ("auto"), at least one full packet
//! variable: window = size · rate / line rate
//! ```
//!
//! A smaller window cannot fill the path; with a larger one the difference waits in queues.
//!
//! # Known differences
//!
//! - The window counts payload bytes, and the base round trip includes the ACK's return path with its
//!   serialisation.
//!
//! # References
//!
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 5.1 (DCQCN+win, TIMELY+win),
//!   and its simulator's keys `HAS_WIN`, `GLOBAL_T` and `VAR_WIN`.

use floodway_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{Allowance, Need, OfPath, ParamError, QpInfo, Reaction, ReactionPoint};

/// Parameters of a constant window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "StaticWindow")]
pub struct Params {
    /// Maximum payload bytes in flight: a size of at least one full packet, `"auto"` for the path's
    /// bandwidth-delay product, or `"largest"` for that of all pairs of hosts.
    /// Source: HPCC, section 5.1: one bandwidth-delay product; `"largest"` is its simulator's `GLOBAL_T`.
    pub size: OfPath<Bytes>,
    /// Whether `size` is the window at line rate, which shrinks with the rate that the other layers allow.
    /// Source: HPCC, section 5.1: constant; true is its simulator's `VAR_WIN`.
    pub variable: bool,
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        // Section 5.1: a window of one bandwidth-delay product beside a rate control.
        let window = self.size.pick(qp.bdp().max(qp.mtu), qp.largest_bdp.max(qp.mtu));
        if window < qp.mtu {
            return Err(ParamError::new(
                "size",
                format!("a window of {window} is less than a full packet of {} and never sends one", qp.mtu),
            ));
        }
        Ok(Rp { window, variable: self.variable })
    }

    fn needs(&self) -> &'static [Need] {
        if self.size == OfPath::Largest { &[Need::Acks, Need::Largest] } else { &[Need::Acks] }
    }

    /// One window per round trip.
    fn highest(&self, base_rtt: Span) -> Rate {
        let window = u128::from(self.size.pick(Bytes::MAX, Bytes::MAX).0) * 8_000_000_000_000;
        Rate(u64::try_from(window / u128::from(base_rtt.0.max(1))).unwrap_or(u64::MAX))
    }

    fn fixed_window(&self) -> Option<Bytes> {
        match self.size {
            OfPath::Fixed(size) => Some(size),
            OfPath::Auto | OfPath::Largest => None,
        }
    }

    fn waits_for_each_ack(&self) -> bool {
        self.variable
    }
}

/// One per sending queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Rp {
    window: Bytes,
    variable: bool,
}

impl ReactionPoint for Rp {
    fn is_constant(&self) -> bool {
        true
    }

    fn scales_window(&self) -> bool {
        self.variable
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: Rate::MAX, window: self.window }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::qp;

    fn window(size: OfPath<Bytes>, qp: &QpInfo) -> Result<Bytes, &'static str> {
        Params { size, ..Params::default() }
            .build(qp)
            .map(|rp| rp.allowance().window)
            .map_err(|error| error.key)
    }

    #[test]
    fn the_window_is_the_paths_bdp_unless_given() {
        assert_eq!(window(OfPath::Auto, &qp()), Ok(Bytes(125_000)));
        assert_eq!(window(OfPath::Largest, &qp()), Ok(Bytes(250_000)));
        assert_eq!(window(OfPath::Fixed(Bytes::kb(30)), &qp()), Ok(Bytes::kb(30)));
    }

    #[test]
    fn a_window_lets_one_packet_through_at_least() {
        let short = QpInfo { base_rtt: Span::ns(10), ..qp() };
        assert_eq!(window(OfPath::Auto, &short), Ok(Bytes(1000)));
        assert_eq!(window(OfPath::Fixed(Bytes(999)), &qp()), Err("size"));
    }
}

//! No congestion control: a queue pair sends at the rate of its NIC, or at a given rate (the baseline of the
//! papers on lossless networks: SWING, section 6.1).
//!
//! # What it does
//!
//! Packets are paced at the constant rate, whatever the feedback is. Pauses still stop them: only the
//! network's flow control protects the network.
//!
//! # Why
//!
//! It shows flow control by itself, without the effects of a congestion control. With `rate` below the NIC's
//! it is a source of a known rate: background traffic, or a flow that an application limits. Stacked under
//! another rate control it is a cap, since the lowest rate of a stack applies.
//!
//! # Known differences
//!
//! None.
//!
//! # References
//!
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023, section
//!   6.1 (runs without congestion control).

use floodway_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{Allowance, ParamError, QpInfo, Reaction, ReactionPoint};

/// Parameters of sending at a constant rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "LineRate")]
pub struct Params {
    /// Rate of wire bytes, above 0. Default: the NIC's rate, which is also the maximum.
    /// Source: SWING, section 6.1: without congestion control a host sends at its line's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        match self.rate {
            Some(Rate(0)) => Err(ParamError::new("rate", "a rate of 0bps never sends")),
            // Section 6.1: without congestion control a host sends at its line rate.
            rate => Ok(Rp { rate: rate.unwrap_or(Rate::MAX).min(qp.line_rate) }),
        }
    }

    fn highest(&self, _base_rtt: Span) -> Rate {
        self.rate.unwrap_or(Rate::MAX)
    }
}

/// One per sending queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Rp {
    rate: Rate,
}

impl ReactionPoint for Rp {
    fn is_constant(&self) -> bool {
        true
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.rate, window: Bytes::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::qp;

    #[test]
    fn the_rate_is_the_nics_unless_a_lower_one_is_given() {
        for (rate, expected) in [(None, 100), (Some(40), 40), (Some(400), 100)] {
            let rp = Params { rate: rate.map(Rate::gbps) }.build(&qp()).expect("the rate is valid");
            assert_eq!(rp.allowance(), Allowance { rate: Rate::gbps(expected), window: Bytes::MAX });
        }
        assert_eq!(Params { rate: Some(Rate(0)) }.build(&qp()).unwrap_err().key, "rate");
    }
}

//! ExpressPass's limit on credits: each egress port limits credits to the rate at which the data that they
//! request fills the link in the reverse direction, and drops credits that do not fit into a short queue
//! (Cho, Jang and Han, SIGCOMM 2017, section 3.1).
//!
//! # What it does
//!
//! Credits of receivers pass a token bucket with a queue of a few packets. A credit of c bytes on the wire
//! requests a data packet of d bytes, so credits get the share c / (c + d) of the link; the rest is for data
//! and for credits of the other direction. A credit that finds the queue full is dropped: that is the
//! congestion signal, before any data is sent.
//!
//! # Why
//!
//! It is the network's part of ExpressPass, and needs `expresspass` as rate control. Without it credits are
//! not limited, and data of several senders collides as without any congestion control. Configure it at
//! switches and at hosts, whose own credits must not request more than their link can receive.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | credit size, 84 B | `credit` |
//! | credit queue | `queue` |
//! | burst of the token bucket | `burst` |
//!
//! # Known differences
//!
//! - d is the largest data packet of the run as links carry it: 1538 bytes in the paper, where the share is
//!   84 / 1622, or 5.18 %.
//! - Receivers draw the size of credits from 84 to 92 bytes (section 3.1). By default the limit uses their
//!   mean, 88, since with the minimum size data could not fill more than 95 % of its share.
//! - The simulator of its authors has the same share (a credit rate of 64,734,895 bytes a second on 10
//!   Gbit/s) and the same burst; its queue is 8 credits in the script of a fat tree, and 2 in that of a
//!   dumbbell.
//!
//! # References
//!
//! - Cho, Jang and Han, "Credit-Scheduled Delay-Bounded Congestion Control for Datacenters", SIGCOMM 2017.
//! - Its simulator, ns2-xpass: `scripts/large-scale-fattree.tcl` and `scripts/dumbell-topology.tcl`.

use floodway_units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{CongestionPoint, Detection, Discipline, FastPath, Meter, ParamError, PortInfo, Queueing};

/// Parameters of the limit on credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ExpresspassCp")]
pub struct Params {
    /// Mean size of a credit on the wire, at least 84 bytes.
    /// Source: section 3.1: the smallest frame with preamble and gap, and up to 8 bytes drawn at random.
    pub credit: Bytes,
    /// Credits that may wait, at least 1.
    /// Source: section 3.1 and 6: 8 packets.
    pub queue: u32,
    /// Credits that may leave at once after an idle time, at least 1.
    /// Source: section 3.1: 2 packets.
    pub burst: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params { credit: Bytes(88), queue: 8, burst: 2 }
    }
}

impl Params {
    /// The rate limit of credits on a link of `rate` whose largest data packet is `wire`.
    pub fn credit_rate(&self, rate: Rate, wire: Bytes) -> Rate {
        // Section 3.1: credits have the share c / (c + d) of the link.
        let share = u128::from(rate.0) * u128::from(self.credit.0) / u128::from(self.credit.0 + wire.0);
        Rate(u64::try_from(share).unwrap_or(rate.0))
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        if self.credit < Bytes(84) {
            let message =
                format!("{} is less than the smallest frame on a link; write it like \"84B\"", self.credit);
            return Err(ParamError::new("credit", message));
        }
        for (key, packets) in [("queue", self.queue), ("burst", self.burst)] {
            if packets == 0 {
                return Err(ParamError::new(key, "0 lets no credit through; the minimum is 1"));
            }
        }
        let rate = self.credit_rate(port.rate, port.wire);
        // Section 3.1: a token bucket with a short queue of credits.
        let burst = Bytes(self.credit.0.saturating_mul(u64::from(self.burst)));
        Ok(Cp { meter: Meter { rate, burst, packets: self.queue } })
    }

    fn limits_messages(&self) -> bool {
        true
    }
}

/// One per egress port.
#[derive(Clone, Copy, Debug)]
pub struct Cp {
    meter: Meter,
}

impl CongestionPoint for Cp {
    is_discipline!();

    fn fast_path(&self) -> Option<FastPath> {
        Some(FastPath::up_to(Bytes::MAX))
    }
}

impl Discipline for Cp {
    fn queueing(&self) -> Queueing {
        Queueing::Metered(self.meter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::port;

    #[test]
    fn credits_have_five_percent_of_a_link() {
        // Section 3.1: 84 / (84 + 1538) = 5.18 %.
        let paper = Params { credit: Bytes(84), ..Params::default() };
        assert_eq!(paper.credit_rate(Rate::gbps(10), Bytes(1_538)), Rate(517_879_161));
        // Data then gets the other 94.8 %: 517,879,161 · 1538 / 84.
        let data = 517_879_161u64 * 1_538 / 84;
        assert_eq!(data / 1_000_000, 9_482);
        let info = PortInfo { wire: Bytes(1_538), ..port(10) };
        // The rate of credits in the authors' script of a dumbbell, in bytes a second.
        assert_eq!(paper.credit_rate(Rate::gbps(10), Bytes(1_538)).0 / 8, 64_734_895);
        let queueing = paper.build(&info).unwrap().queueing();
        assert_eq!(
            queueing.meter().unwrap(),
            Meter { rate: Rate(517_879_161), burst: Bytes(168), packets: 8 }
        );
    }

    #[test]
    fn what_lets_no_credit_through_is_refused() {
        let refused = |params: Params| params.build(&port(10)).unwrap_err().key;
        assert_eq!(refused(Params { credit: Bytes(83), ..Params::default() }), "credit");
        assert_eq!(refused(Params { queue: 0, ..Params::default() }), "queue");
        assert_eq!(refused(Params { burst: 0, ..Params::default() }), "burst");
    }
}

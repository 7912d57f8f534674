//! Packet spraying: every packet takes one of the equal-cost paths at random, so that a flow uses them all
//! and its packets may overtake one another (Dixit et al., INFOCOM 2013).
//!
//! # What it does
//!
//! For each packet a uniform random draw selects one of the shortest paths, independent of queue lengths. The
//! draws come from a random stream of the switch, so that traffic at other switches does not change them.
//!
//! # Why
//!
//! Load is spread evenly whatever the flows' sizes, while with `ecmp` two large flows may collide. But
//! packets overtake one another, and go-back-N treats that like loss: it retransmits. Choose it with a
//! receiver that accepts packets in any order, or to show the cost of reordering.
//!
//! # Known differences
//!
//! None.
//!
//! # References
//!
//! - Dixit et al., "On the Impact of Packet Spraying in Data Center Networks", INFOCOM 2013.

use floodway_units::cast::to_usize;
use floodway_units::{Rng, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{self, PacketView, ParamError, PortView, Routing, SwitchInfo};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Spray")]
pub struct Params {}

impl Routing for Params {
    type Router = Router;

    fn build(&self, _switch: &SwitchInfo) -> Result<Router, ParamError> {
        Ok(Router)
    }

    fn splits_flows(&self) -> bool {
        true
    }
}

/// One per switch.
#[derive(Clone, Copy, Debug)]
pub struct Router;

impl slots::Router for Router {
    /// Uniform to within 2^-64 of the number of paths.
    fn route(&mut self, _now: Time, rng: &mut Rng, _p: &PacketView, candidates: &[PortView]) -> usize {
        to_usize(((u128::from(rng.next_u64()) * candidates.len() as u128) >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::PortId;

    use super::*;
    use crate::slots::{FlowTuple, Router as _};
    use crate::testing::{Bench, packet};

    /// Quantile of chi-square with 7 degrees of freedom that a fair choice exceeds once in 10^6.
    const CHI_SQUARE_7: f64 = 40.521_8;

    #[test]
    fn packets_of_one_flow_use_all_paths_alike() {
        let view = |port| PortView { port: PortId(port), ..PortView::example() };
        let candidates: Vec<_> = (0..8).map(view).collect();
        let mut bench = Bench::<()>::new();
        let mut counts = [0u32; 8];
        for _ in 0..80_000 {
            counts[Router.route(Time::ZERO, &mut bench.rng, &packet(1_000), &candidates)] += 1;
        }
        let error = |count: &u32| f64::from(*count) - 10_000.0;
        let statistic: f64 = counts.iter().map(|count| error(count) * error(count) / 10_000.0).sum();
        assert!(statistic < CHI_SQUARE_7, "{statistic}: {counts:?}");
    }

    #[test]
    fn the_path_does_not_depend_on_the_flow_alone() {
        assert_eq!(Router.by_flow(&FlowTuple::default(), 8), None);
    }
}

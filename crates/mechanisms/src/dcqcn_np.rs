//! DCQCN's notification point: the receiver turns CE marks into CNPs, at most one per flow and interval (Zhu
//! et al., SIGCOMM 2015, section 3.1).
//!
//! # What it does
//!
//! A marked packet of a flow that has sent no CNP for N triggers one at once; marks within N after a CNP
//! trigger none. Packets without a mark do nothing.
//!
//! # Why
//!
//! It is the middle part of DCQCN: `red` marks, this sends CNPs, `dcqcn` as rate control reacts. By default
//! each flow has it with the interval that its rate control requires; choose it to set another interval.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | N | `cnp-interval` |
//!
//! # Known differences
//!
//! No difference from the paper. The ns-3 model of its authors instead checks every N whether a mark has
//! arrived; hardware keeps one N for a whole port.
//!
//! # References
//!
//! - Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1.

use floodway_units::{Span, Until};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    Cnp, Cx, Mark, Notification, NotificationPoint, Observes, PacketView, ParamError, QpInfo,
};

/// Parameters of DCQCN's notification point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "DcqcnNp")]
pub struct Params {
    /// N: the minimum time between two CNPs of a flow; 0 sends a CNP for every marked packet. Where a rate
    /// control needs CNPs and no notification is chosen, its own interval applies.
    /// Source: newer NICs, `min_time_between_cnps`; DCQCN's paper has 50 us.
    pub cnp_interval: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { cnp_interval: Span::us(4) }
    }
}

impl Notification for Params {
    type Np = Np;

    fn build(&self, _qp: &QpInfo) -> Result<Np, ParamError> {
        Ok(Np { interval: self.cnp_interval, blocked_until: Until::default() })
    }
}

/// One per receiving queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Np {
    interval: Span,
    /// A mark before this instant triggers no CNP.
    blocked_until: Until,
}

impl NotificationPoint for Np {
    fn observes(&self) -> Observes {
        Observes::Marked
    }

    fn on_data(&mut self, cx: &mut Cx<'_, Cnp>, p: &PacketView) {
        // Figure 6: marks within N after a CNP send none.
        if p.mark != Mark::Ce || !self.blocked_until.is_over(cx.now) {
            return;
        }
        // Figure 6: else a CNP goes at once, and N begins anew.
        self.blocked_until = Until(cx.now + self.interval);
        cx.push(Cnp::of(p.flow, Mark::Ce));
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::FlowId;

    use super::*;
    use crate::testing::{Bench, packet, qp, us};

    /// The instants at which packets, of which those of `marked` carry CE, make a CNP.
    fn cnps(cnp_interval: Span, arrivals: &[(u64, bool)]) -> Vec<u64> {
        let mut np = Params { cnp_interval }.build(&qp()).expect("valid");
        let mut bench = Bench::new();
        let mut answers = |&(at, ce): &(u64, bool)| {
            let mark = if ce { Mark::Ce } else { Mark::None };
            let data = PacketView { mark, ecn_capable: true, flow: FlowId(7), ..packet(1_000) };
            let sent = bench.sent(us(at), |cx| np.on_data(cx, &data));
            assert!(sent.iter().all(|cnp| cnp.flow == FlowId(7) && cnp.mark == Mark::Ce));
            sent.len()
        };
        arrivals.iter().filter(|arrival| answers(arrival) == 1).map(|arrival| arrival.0).collect()
    }

    #[test]
    fn the_first_mark_is_answered_at_once_and_the_next_after_an_interval() {
        let marks = [0, 1, 49, 50, 99, 100, 101, 400, 449, 450].map(|at| (at, true));
        assert_eq!(cnps(Span::us(50), &marks), [0, 50, 100, 400, 450]);
    }

    #[test]
    fn unmarked_packets_neither_make_a_cnp_nor_delay_one() {
        let arrivals = [(1, false), (2, true), (3, false), (5, false), (6, true), (7, false), (30, false)];
        assert_eq!(cnps(Span::us(4), &arrivals), [2, 6]);
    }

    #[test]
    fn an_interval_of_nothing_answers_every_mark() {
        let arrivals = [(5, true), (5, true), (6, false), (6, true)];
        assert_eq!(cnps(Span::ZERO, &arrivals), [5, 5, 6]);
    }
}

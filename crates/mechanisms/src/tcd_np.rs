//! The notification point of ternary congestion detection: the receiver reports congestion and undetermined
//! congestion separately (Zhang et al., SIGCOMM 2021).
//!
//! # What it does
//!
//! A marked packet of a flow that has sent no CNP for N causes one at once, which reports the packet's mark,
//! CE or UE; marks within N after a CNP cause none. But CE within N after a CNP that reported UE is reported
//! at once, and begins a new N. Packets without a mark have no effect.
//!
//! # Why
//!
//! It is `dcqcn`'s notification point for ports with `tcd`: a sender that gets a CNP with UE does not cut its
//! rate. Where such a port is in the network and no notification is chosen, the flows whose rate control asks
//! for CNPs have it, with the interval that it asks for; choose it to set another interval, or `dcqcn` to
//! report CE alone.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | N | `cnp-interval` |
//!
//! # Known differences
//!
//! - The authors' simulator checks each N which marks arrived, and sends CE if one was CE, else UE. Here the
//!   first mark is reported when it arrives: so a CNP of UE may precede one of CE in an interval, and CE
//!   never waits. This matters: in its burst experiment, with marks from 1,500 packets on, the port before
//!   the last switch is paused for 627 us there, and for 274 here (`docs/peers.md`).
//!
//! # References
//!
//! - Zhang, Liu, Meng and Ren, "Congestion Detection in Lossless Networks", SIGCOMM 2021, and its simulator,
//!   `Yi-ran/DCQCN-TCD`.

use floodway_units::{Span, Until};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    Cnp, Cx, Mark, Notification, NotificationPoint, Observes, PacketView, ParamError, QpInfo,
};

/// Parameters of the notification point of ternary detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "TcdNp")]
pub struct Params {
    /// N: the minimum time between two CNPs of a flow that report the same mark; 0 answers every marked
    /// packet. Where a rate control asks for CNPs and no notification is chosen, its own interval applies.
    /// Source: the simulator's `configburst.txt`; DCQCN's paper.
    pub cnp_interval: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { cnp_interval: Span::us(50) }
    }
}

impl Notification for Params {
    type Np = Np;

    fn build(&self, _qp: &QpInfo) -> Result<Np, ParamError> {
        Ok(Np { interval: self.cnp_interval, notified: Mark::None, blocked_until: Until::default() })
    }
}

/// One per receiving queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Np {
    interval: Span,
    /// The mark that the last CNP reported.
    notified: Mark,
    /// Before this instant only a more severe mark than that sends a CNP.
    blocked_until: Until,
}

impl NotificationPoint for Np {
    fn observes(&self) -> Observes {
        Observes::Marked
    }

    fn on_data(&mut self, cx: &mut Cx<'_, Cnp>, p: &PacketView) {
        let is_known = !self.blocked_until.is_over(cx.now) && p.mark <= self.notified;
        if p.mark == Mark::None || is_known {
            return;
        }
        (self.notified, self.blocked_until) = (p.mark, Until(cx.now + self.interval));
        cx.push(Cnp::of(p.flow, p.mark));
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::FlowId;

    use super::*;
    use crate::testing::{Bench, packet, qp, us};

    use Mark::{Ce, None, Ue};

    /// The CNPs that the receiver sends for packets that arrive with a mark, in microseconds: when, and which
    /// mark.
    fn notified(json: &str, arrivals: &[(u64, Mark)]) -> Vec<(u64, Mark)> {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        let (mut np, mut bench, mut notified) =
            (params.build(&qp()).expect("valid"), Bench::new(), Vec::new());
        for &(at, mark) in arrivals {
            let data = PacketView { mark, ecn_capable: true, flow: FlowId(7), ..packet(1_000) };
            for cnp in bench.sent(us(at), |cx| np.on_data(cx, &data)) {
                assert_eq!(cnp, Cnp::of(FlowId(7), cnp.mark));
                notified.push((at, cnp.mark));
            }
        }
        notified
    }

    #[test]
    fn each_mark_gets_one_cnp_in_an_interval() {
        for mark in [Ce, Ue] {
            let marks = [0, 1, 49, 50, 99, 100, 400].map(|at| (at, mark));
            assert_eq!(notified("{}", &marks), [0, 50, 100, 400].map(|at| (at, mark)));
        }
    }

    #[test]
    fn congestion_is_reported_at_once_after_undetermined() {
        let arrivals = [(10, Ue), (20, Ue), (30, Ce), (40, Ce), (50, Ue), (70, Ue), (79, Ce), (80, Ue)];
        assert_eq!(notified("{}", &arrivals), [(10, Ue), (30, Ce), (80, Ue)]);
    }

    #[test]
    fn undetermined_after_congestion_waits_for_the_interval() {
        let arrivals = [(10, Ce), (11, Ue), (59, Ue), (60, Ue), (61, Ce), (62, Ue)];
        assert_eq!(notified("{}", &arrivals), [(10, Ce), (60, Ue), (61, Ce)]);
    }

    #[test]
    fn unmarked_packets_do_nothing_and_no_interval_answers_every_mark() {
        let arrivals = [(1, None), (2, Ue), (2, Ue), (3, None), (4, Ce), (4, Ue)];
        let expected = [(2, Ue), (2, Ue), (4, Ce), (4, Ue)];
        assert_eq!(notified(r#"{"cnp-interval": "0us"}"#, &arrivals), expected);
        assert_eq!(notified(r#"{"cnp-interval": "3us"}"#, &arrivals), [(2, Ue), (4, Ce)]);
    }
}

//! Mercury at the sender: a window that CNPs shrink, above any rate control (He et al., Journal of Cloud
//! Computing, 2024).
//!
//! # What it does
//!
//! A packet waits while the bytes in flight plus its own exceed the window. The initial window is C · base
//! RTT, where C is the NIC's rate. A CNP with a window sets the window to the smaller of the two; the first
//! increase step of a layer below restores the full window. The layers below are cut and recover as they do
//! without it.
//!
//! # Why
//!
//! A rate cut does not stop the packets that are already in the network; a window stops the sender until the
//! congested queue has drained. Stack it on top of the rate control, `rate-control = ["dcqcn", "mercury"]`:
//! the lowest rate and the smallest window apply. It needs a congestion point that sends windows (`mercury`),
//! and ACKs.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | cwnd | window |
//! | baseRTT | `base-rtt` |
//! | `Rate_recovery` | an increase step: in `dcqcn` each of its timer and byte counter, in `timely`, `hpcc` and `dctcp` each upward update, clipped at line rate or not |
//!
//! # Known differences
//!
//! - Layers below that make no increase steps (`line-rate`) never recover: the full window is restored when
//!   no CNP has arrived for `restore-after`.
//! - Every sender has a window from the start. A constant one in its place (`static-window`) is enough for
//!   much of what the paper shows: see the ablations of `studies/mercury`.
//! - A window is of payload bytes, and one packet at least.
//!
//! # References
//!
//! - He et al., "Accurate and fast congestion feedback in MEC-enabled RDMA datacenters", Journal of Cloud
//!   Computing, 2024, Algorithm 2, lines 14 to 20.

use floodway_units::{Bytes, Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{Allowance, Cnp, Need, OfPath, ParamError, QpInfo, Reaction, ReactionPoint};

/// Parameters of Mercury's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "MercuryWindow")]
pub struct Params {
    /// The round-trip time that the full window covers at the NIC's rate: `"largest"` for the largest of all
    /// pairs of hosts, `"auto"` for that of the flow's path, or a time; above 0.
    /// Source: the paper: one value that is known in advance, the largest of its topology, 12 us.
    pub base_rtt: OfPath<Span>,
    /// The full window is restored after this time without a CNP; only where no layer below makes increase
    /// steps. Above 0.
    /// Source: floodway's choice: the time between increase steps of NICs.
    pub restore_after: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { base_rtt: OfPath::Largest, restore_after: Span::us(300) }
    }
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        if self.restore_after == Span::ZERO {
            return Err(ParamError::new(
                "restore-after",
                "0us is not allowed; write a time above 0, like \"300us\"",
            ));
        }
        let rtt = self.base_rtt.pick(qp.base_rtt, qp.largest_rtt);
        if rtt == Span::ZERO {
            return Err(ParamError::new(
                "base-rtt",
                "0us is not allowed; write a time above 0, like \"12us\"",
            ));
        }
        let covers = qp.products.of(qp.line_rate, rtt);
        let whole = covers.max(qp.mtu);
        let restore_after = (!qp.steps_below).then_some(self.restore_after);
        Ok(Rp { whole, window: whole, least: qp.mtu, restore_after, restore_at: None })
    }

    fn needs(&self) -> &'static [Need] {
        if self.base_rtt == OfPath::Largest {
            &[Need::Acks, Need::Windows, Need::Largest]
        } else {
            &[Need::Acks, Need::Windows]
        }
    }

    fn reacts_to_cnp(&self) -> bool {
        true
    }
}

/// One per sending queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Rp {
    /// C · base RTT.
    whole: Bytes,
    /// cwnd.
    window: Bytes,
    least: Bytes,
    /// Only where no layer below recovers.
    restore_after: Option<Span>,
    restore_at: Option<Time>,
}

impl ReactionPoint for Rp {
    fn observes_sent(&self) -> bool {
        false
    }

    fn observes_acks(&self) -> bool {
        false
    }

    fn on_cnp(&mut self, now: Time, n: &Cnp) {
        // Algorithm 2, lines 15 and 16: Receive_CNP; the layer below cuts its rate by itself.
        if let Some(window) = n.window {
            // Algorithm 2, line 17: cwnd = min(cwnd, Win).
            self.window = self.window.min(window.max(self.least));
            self.restore_at = self.restore_after.map(|after| now + after);
        }
    }

    fn on_increase(&mut self, _now: Time) {
        // Algorithm 2, lines 18 to 20: Rate_recovery, cwnd = C · baseRTT.
        self.window = self.whole;
    }

    fn next_timeout(&self) -> Option<Time> {
        self.restore_at
    }

    fn on_timeout(&mut self, _now: Time) {
        self.window = self.whole;
        self.restore_at = None;
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: Rate::MAX, window: self.window }
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::FlowId;

    use super::*;
    use crate::slots::Mark;
    use crate::testing::{qp, us};

    fn rp(params: Params, qp: &QpInfo) -> Rp {
        params.build(qp).expect("the parameters are valid")
    }

    fn above_dcqcn() -> QpInfo {
        QpInfo { steps_below: true, ..qp() }
    }

    fn cnp(window: Option<u64>) -> Cnp {
        Cnp { window: window.map(Bytes), ..Cnp::of(FlowId(0), Mark::Ce) }
    }

    #[test]
    fn the_whole_window_is_the_nics_rate_times_the_base_rtt() {
        // 100 Gbit/s: 12,500 bytes a microsecond.
        for (base_rtt, kb) in
            [(OfPath::Auto, 125), (OfPath::Largest, 250), (OfPath::Fixed(Span::us(12)), 150)]
        {
            let window = rp(Params { base_rtt, ..Params::default() }, &qp()).allowance().window;
            assert_eq!(window, Bytes::kb(kb), "{base_rtt:?}");
        }
        let bottleneck = QpInfo { path_rate: Rate::gbps(10), ..qp() };
        assert_eq!(rp(Params::default(), &bottleneck).allowance().window, Bytes::kb(250), "the largest");
    }

    #[test]
    fn cnps_shrink_it_and_the_first_increase_step_restores_it() {
        let mut rp = rp(Params::default(), &above_dcqcn());
        let mut window_after = |n: Cnp| {
            rp.on_cnp(us(1), &n);
            rp.allowance().window
        };
        assert_eq!(window_after(cnp(Some(30_000))), Bytes(30_000));
        assert_eq!(window_after(cnp(Some(40_000))), Bytes(30_000), "min(cwnd, Win)");
        assert_eq!(window_after(cnp(None)), Bytes(30_000), "an ordinary CNP has no window");
        assert_eq!(window_after(cnp(Some(1))), Bytes(1_000), "one packet at least");
        assert_eq!(rp.next_timeout(), None, "the layer below restores it");
        rp.on_increase(us(2));
        assert_eq!(rp.allowance(), Allowance { rate: Rate::MAX, window: Bytes::kb(250) });
    }

    #[test]
    fn where_no_layer_below_recovers_the_window_is_full_again_some_time_after_the_last_cnp() {
        let mut rp = rp(Params::default(), &qp());
        rp.on_cnp(us(10), &cnp(Some(30_000)));
        rp.on_cnp(us(50), &cnp(Some(60_000)));
        assert_eq!(rp.next_timeout(), Some(us(350)));
        rp.on_timeout(us(350));
        assert_eq!((rp.allowance().window, rp.next_timeout()), (Bytes::kb(250), None));
    }

    #[test]
    fn a_window_of_nothing_is_refused() {
        let key = |params: Params| params.build(&qp()).unwrap_err().key;
        assert_eq!(key(Params { restore_after: Span::ZERO, ..Params::default() }), "restore-after");
        assert_eq!(key(Params { base_rtt: OfPath::Fixed(Span::ZERO), ..Params::default() }), "base-rtt");
    }
}

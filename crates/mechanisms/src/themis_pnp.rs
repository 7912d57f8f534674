//! THEMIS's proactive notification point (PNP): the switch at the exit of a datacenter answers marks itself,
//! so that a sender is notified of congestion near it after a round trip of its own datacenter (THEMIS, ICNP
//! 2025).
//!
//! # What it does
//!
//! A data packet that starts on the wire with congestion experienced, marked by this port or by an earlier
//! switch, loses the mark. Its sender gets a CNP from this port, in the control class, `delay` later. If the
//! last CNP of the flow left less than `interval` ago, the mark is cleared, and no CNP is made.
//!
//! # Why
//!
//! A mark that is set in the sender's datacenter crosses the long link to the receiver, and the receiver's
//! CNP crosses it back: over 500 us it is a millisecond old when the sender slows down. By then flows inside
//! the datacenter, which are notified of congestion within microseconds, have already slowed down. This
//! mechanism notifies both at about the same time. Choose it at all egress ports of the switches that join a
//! datacenter with a long link (`dci` in `two-dc` and `multi-dc`), after the mechanism that marks there:
//! `congestion-point = [{ red = {} }, "themis-pnp"]` by `links = { tag = "core-dci" }`,
//! `direction = "dci>core"`, and by `links = { tag = "long-haul" }`. Marks set after the last of these
//! switches are answered by the receiver, as usual. It needs a rate control that reacts to CNPs, such as
//! `dcqcn`. `proxy-cnp` reports its own queue alone, and marks nothing; `themis-trp` is the other part of
//! THEMIS.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | PNP | this machine at each egress port of an external switch |
//! | minimum time between CNPs of a flow | `interval`, from the sending of one to the packet that makes the next |
//!
//! # Known differences
//!
//! - Facts that are not in the paper's text are taken from the authors' simulator (HPCC's ns-3, extended).
//! - There a CNP leaves by the port through which the packet arrived. Here it is routed to the sender like
//!   any packet.
//! - Flows are identified by the hash of their addresses and ports, for each port separately; there for the
//!   whole switch. A flow leaves by one port where routing depends on the flow alone.
//! - A table holds the flows that got a CNP within `interval` and `delay`; while it is full (4096) the marks
//!   of others are cleared without a CNP. With the defaults a port of less than 4.6 Tbit/s does not fill it
//!   with packets of 1000 bytes.
//!
//! # References
//!
//! - "THEMIS: Addressing Congestion-Induced Unfairness in Long-Haul RDMA Networks", ICNP 2025, and the
//!   authors' simulator (repository `Networked-System-and-Security-Group/Themis`).

use std::collections::VecDeque;

use floodway_units::{FlowId, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cnp_limiter::CnpLimiter;
use crate::slots::{
    Cnp, CongestionPoint, CpAction, Cx, Demands, Detection, Mark, PacketView, ParamError, PortInfo,
    QueueView, SignalKind,
};

/// Parameters of THEMIS's proactive notification point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ThemisPnp")]
pub struct Params {
    /// The time after a flow's CNP has left from which a marked packet makes the next one, at least 0.
    /// Source: the authors' simulator: 5 us.
    pub interval: Span,
    /// The time from the packet to its CNP, at least 0.
    /// Source: the authors' simulator: 2 us.
    pub delay: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { interval: Span::us(5), delay: Span::us(2) }
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, _port: &PortInfo) -> Result<Cp, ParamError> {
        let limiter = CnpLimiter::new(self.interval + self.delay);
        Ok(Cp { delay: self.delay, limiter, due: VecDeque::new() })
    }

    fn signal_kinds(&self) -> &'static [SignalKind] {
        &[SignalKind::Cnps]
    }

    fn reports_marks(&self) -> bool {
        true
    }
}

/// One per egress port.
#[derive(Clone, Debug)]
pub struct Cp {
    delay: Span,
    /// By flow, as a switch identifies flows.
    limiter: CnpLimiter,
    /// CNPs to be sent, and their times, in this order.
    due: VecDeque<(Time, FlowId)>,
}

impl CongestionPoint for Cp {
    fn demands(&self) -> Demands {
        Demands { clears: true, naming: self.delay, ..Demands::default() }
    }

    fn clears(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> bool {
        if p.mark != Mark::Ce {
            return false;
        }
        if self.limiter.may_notify(p.flow_hash, cx.now) {
            self.due.push_back((cx.now + self.delay, p.flow));
            self.send_due(cx);
        }
        true
    }

    fn next_timeout(&self) -> Option<Time> {
        self.due.front().map(|&(at, _)| at)
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        self.send_due(cx);
    }
}

impl Cp {
    /// Sends the CNPs that are due.
    fn send_due(&mut self, cx: &mut Cx<'_, CpAction>) {
        while let Some(&(at, flow)) = self.due.front()
            && at <= cx.now
        {
            self.due.pop_front();
            cx.push(CpAction::ToSource(Cnp::of(flow, Mark::Ce)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, egress, packet, port, until_none};

    fn cp(json: &str) -> Cp {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        params.build(&port(400)).expect("the parameters are valid")
    }

    fn ns(n: u64) -> Time {
        Time::ZERO + Span::ns(n)
    }

    fn names(actions: &[CpAction]) -> Vec<u32> {
        let name = |action: &CpAction| match action {
            CpAction::ToSource(cnp) => {
                assert_eq!(*cnp, Cnp::of(cnp.flow, Mark::Ce));
                cnp.flow.0
            }
            other => panic!("only sources get CNPs: {other:?}"),
        };
        actions.iter().map(name).collect()
    }

    /// A packet of `flow` leaves with a mark: returns whether it is cleared, and which flows get a CNP at
    /// once.
    fn leaves(cp: &mut Cp, now: Time, flow: u32, mark: Mark) -> (bool, Vec<u32>) {
        let flow_hash = u64::from(flow);
        let data = PacketView { flow: FlowId(flow), flow_hash, ecn_capable: true, mark, ..packet(1_048) };
        let mut cleared = false;
        let sent = Bench::new().sent(now, |cx| cleared = cp.clears(cx, &data, &egress(0)));
        (cleared, names(&sent))
    }

    /// Lets the next timer expire: returns its time, and which flows get a CNP.
    fn timer(cp: &mut Cp) -> Option<(Time, Vec<u32>)> {
        let at = cp.next_timeout()?;
        let sent = Bench::new().sent(at, |cx| cp.on_timeout(cx));
        Some((at, names(&sent)))
    }

    #[test]
    fn a_cnp_leaves_2_us_after_the_marked_packet() {
        let mut cp = cp("{}");
        assert_eq!(leaves(&mut cp, ns(1_000), 7, Mark::Ce), (true, vec![]));
        assert_eq!(timer(&mut cp), Some((ns(3_000), vec![7])));
        assert_eq!(timer(&mut cp), None);
    }

    #[test]
    fn a_flow_gets_a_cnp_each_7_us_while_all_its_packets_are_marked_and_each_mark_is_cleared() {
        // 5 us after the CNP, which leaves 2 us after its packet.
        let mut cp = cp("{}");
        let mut notified = Vec::new();
        for n in 0..300u64 {
            // A packet of 1048 bytes each 100 ns.
            let now = ns(100 * n);
            let due = |cp: &Cp| cp.next_timeout().is_some_and(|at| at <= now);
            let expired = until_none(100, || if due(&cp) { timer(&mut cp) } else { None });
            notified.extend(expired);
            assert!(leaves(&mut cp, now, 7, Mark::Ce).0);
        }
        let each_7_us = [2_000, 9_000, 16_000, 23_000].map(|at| (ns(at), vec![7]));
        assert_eq!(notified, each_7_us);
    }

    #[test]
    fn each_flow_gets_its_own_cnps() {
        let mut cp = cp("{}");
        for (at, flow) in [(0, 7), (500, 8), (900, 7), (1_000, 9)] {
            assert_eq!(leaves(&mut cp, ns(at), flow, Mark::Ce), (true, vec![]));
        }
        let sent = until_none(100, || timer(&mut cp));
        assert_eq!(sent, [(ns(2_000), vec![7]), (ns(2_500), vec![8]), (ns(3_000), vec![9])]);
    }

    #[test]
    fn other_marks_stay_and_send_no_cnp() {
        let mut cp = cp("{}");
        assert_eq!(leaves(&mut cp, ns(0), 7, Mark::Ue), (false, vec![]));
        assert_eq!(leaves(&mut cp, ns(0), 7, Mark::None), (false, vec![]));
        assert_eq!(cp.next_timeout(), None);
    }

    #[test]
    fn without_delay_the_cnp_leaves_with_the_packet() {
        let mut cp = cp(r#"{ "delay": "0us" }"#);
        assert_eq!(leaves(&mut cp, ns(0), 7, Mark::Ce), (true, vec![7]));
        assert_eq!(leaves(&mut cp, ns(4_999), 7, Mark::Ce), (true, vec![]));
        assert_eq!(leaves(&mut cp, ns(5_000), 7, Mark::Ce), (true, vec![7]));
    }

    #[test]
    fn a_flow_may_be_named_as_long_as_its_cnp_waits() {
        assert_eq!(cp("{}").demands().naming, Span::us(2));
    }
}

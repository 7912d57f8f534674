//! CNPs made at the congested queue: a switch or relay notifies the sender of a packet at once, without
//! waiting for the receiver to answer a mark (Chen et al., IEEE TPDS 34(1), 2023, section 7: relays as
//! proxies of congestion control).
//!
//! # What it does
//!
//! A packet that joins a queue is selected with RED's probability, for the queue that includes it. Instead of
//! a mark in the packet, its sender gets a CNP from this port, in the control class, opposite to the flow's
//! direction; at most one for each flow in `interval`. The packet continues unmarked.
//!
//! # Why
//!
//! Over 600 km a mark takes 6 ms to return, when the queue that made it no longer exists. A CNP from a relay
//! of `swing`, or from the DCI switch, returns within the sender's own datacenter. Choose it by an override
//! with the tag `long-haul`, which sets it at the egress to the long link, where data waits that the far end
//! does not yet let through. It needs a rate control that reacts to CNPs, such as `dcqcn`; if other ports
//! have `red`, both notify.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | Kmin, Kmax, Pmax | `kmin`, `kmax`, `pmax`, as `red`'s |
//! | N | `interval`, the minimum time between CNPs as in DCQCN's notification point |
//!
//! # Known differences
//!
//! - The paper names the idea and leaves it to future work: thresholds are its ECN's, the interval is
//!   DCQCN's.
//! - A table holds the flows that got a CNP within N; while it is full (4096) other flows wait, so that
//!   memory is bounded.
//!
//! # References
//!
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023, section
//!   7.
//! - Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1.

use floodway_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cnp_limiter::CnpLimiter;
use crate::red;
use crate::slots::{
    Cnp, CongestionPoint, CpAction, Cx, Detection, Mark, PacketView, ParamError, PortInfo, QueueView,
    SignalKind,
};

/// Parameters of CNPs made at a port.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ProxyCnp")]
pub struct Params {
    /// Longest queue that causes no CNPs, in bytes.
    /// Source: SWING's configurations of ECN.
    pub kmin: Bytes,
    /// Above this queue length every packet is selected, in bytes; at least `kmin`.
    /// Source: SWING's configurations of ECN.
    pub kmax: Bytes,
    /// Probability at `kmax`, from 0 to 1.
    /// Source: SWING's configurations of ECN.
    pub pmax: f64,
    /// N: the minimum time between two CNPs that this port sends for a flow, at least 0.
    /// Source: DCQCN's paper, section 3.1.
    pub interval: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { kmin: Bytes::kb(200), kmax: Bytes::kb(800), pmax: 0.2, interval: Span::us(50) }
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        let Params { kmin, kmax, pmax, interval } = *self;
        let red = red::Params {
            kmin: Some(kmin),
            kmax: Some(kmax),
            pmax: Some(pmax),
            at: red::At::Enqueue,
            ..red::Params::default()
        };
        Ok(Cp { chance: red.build(port)?, limiter: CnpLimiter::new(interval) })
    }

    fn signal_kinds(&self) -> &'static [SignalKind] {
        &[SignalKind::Cnps]
    }
}

/// One per egress port.
#[derive(Clone, Debug)]
pub struct Cp {
    chance: red::Cp,
    /// By flow, as a switch identifies flows.
    limiter: CnpLimiter,
}

impl CongestionPoint for Cp {
    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        // Section 7: the relay tells the sender of congestion in place of the receiver.
        let chosen = self.chance.on_enqueue(cx, p, q) == Mark::Ce;
        // DCQCN, Figure 6: at most one CNP of a flow in an interval.
        if chosen && self.limiter.may_notify(p.flow_hash, cx.now) {
            let cnp = Cnp::of(p.flow, Mark::Ce);
            cx.push(CpAction::ToSource(cnp));
        }
        Mark::None
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::FlowId;

    use super::*;
    use crate::testing::{Bench, egress, packet, port, us};

    fn cp(json: &str) -> Cp {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        params.build(&port(400)).expect("the parameters are valid")
    }

    /// The flows that get a CNP when a packet of each joins a queue of `queued` bytes at its instant.
    fn notified(cp: &mut Cp, packets: &[(u64, u32, u64)]) -> Vec<u32> {
        let mut bench = Bench::new();
        let mut flows = Vec::new();
        for &(at, flow, queued) in packets {
            let names = PacketView { flow: FlowId(flow), flow_hash: u64::from(flow), ..packet(1_500) };
            let data = PacketView { ecn_capable: true, ..names };
            let sent = bench.sent(us(at), |cx| {
                assert_eq!(cp.on_enqueue(cx, &data, &egress(queued)), Mark::None);
            });
            flows.extend(sent.iter().map(|action| match action {
                CpAction::ToSource(cnp) => cnp.flow.0,
                _ => panic!("only sources get CNPs"),
            }));
        }
        flows
    }

    #[test]
    fn a_flow_gets_one_cnp_in_an_interval_independently_of_other_flows() {
        let packets = [(1, 7, 900_000), (2, 7, 900_000), (3, 8, 900_000), (51, 7, 900_000), (52, 7, 900_000)];
        assert_eq!(notified(&mut cp("{}"), &packets), [7, 8, 7]);
        assert_eq!(notified(&mut cp(r#"{ "interval": "0us" }"#), &packets[..2]), [7, 7]);
    }

    #[test]
    fn a_short_queue_sends_no_cnp() {
        assert_eq!(notified(&mut cp("{}"), &[(1, 7, 200_000), (2, 8, 1_500)]), [0; 0]);
    }

    #[test]
    fn thresholds_out_of_order_are_refused() {
        let params = Params { kmin: Bytes::mb(1), ..Params::default() };
        assert_eq!(params.build(&port(400)).unwrap_err().key, "kmin");
    }
}

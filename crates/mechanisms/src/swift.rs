//! Swift: a sender that keeps the delay of its packets at a target by increasing its window below the target
//! and cutting it above; the window may be less than a packet (Kumar et al., SIGCOMM 2020).
//!
//! # What it does
//!
//! Each ACK gives the round-trip time of its packet, which is compared with a target:
//!
//! | delay | window W, in packets |
//! |---|---|
//! | below the target | grows by `ai` a round trip |
//! | at the target or above | shrinks, the more the larger the excess, at most once a round trip |
//!
//! The target is that of an empty path, plus a part for each switch on the path, plus a part that grows as
//! the window shrinks: many flows share a longer queue, and a flow with a small window gets its share of the
//! link sooner. A window below one packet becomes a pacing rate: one packet per `rtt / W`.
//!
//! A loss cuts the window by `max-mdf`, at most once a round trip; several timeouts in a row set it to
//! `min-cwnd`.
//!
//! # Why
//!
//! It needs no support from switches, and holds its target with thousands of senders, where a window of at
//! least one packet or a rate control with a high minimum rate fills buffers. Unlike `timely`, which has
//! fixed thresholds and reacts to the gradient, it has one target, and a window bounds the bytes in flight.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | ai, β, `max_mdf` | `ai`, `beta`, `max-mdf` |
//! | `base_target`, ħ | `base-target`, `per-hop` |
//! | `fs_range`, `fs_min_cwnd`, `fs_max_cwnd` | the same, with hyphens |
//! | `min_cwnd`, `max_cwnd` | the same, with hyphens |
//! | `RETX_RESET_THRESHOLD` | `retx-reset-threshold` |
//!
//! # Sizing
//!
//! ```text
//! target = base-target + hops · per-hop + max(0, min(a / sqrt(W) + b, fs-range))
//!          a = fs-range / (1 / sqrt(fs-min-cwnd) - 1 / sqrt(fs-max-cwnd)),   b = -a / sqrt(fs-max-cwnd)
//! delay < target:   W = W + ai · acked / W   (W < 1: + ai · acked)
//! delay >= target:  W = W · max(1 - beta · (delay - target) / delay, 1 - max-mdf)
//! always:           min-cwnd <= W <= max-cwnd;   W < 1: one packet in rtt / W
//! ```
//!
//! # Known differences
//!
//! - Swift keeps a second window for the delay in the receiver's host and uses the smaller one. Hosts take no
//!   time here, so that delay is always 0, below any target, and that window is never the smaller one: only
//!   the fabric's window exists here. For the same reason its moving average of the host's delay is omitted.
//! - Algorithm 1 stores the time of a cut whenever the window is *at most* that before. A window at its
//!   bound, or one that may not yet be cut, would postpone the next cut indefinitely; here only a smaller
//!   window counts.
//! - Ties are resolved as in the algorithm: a delay equal to the target cuts.
//! - The round-trip time of *once a round trip* and of pacing is the last one; csg-htsim smooths it
//!   (`docs/peers.md`).
//! - With a window below a packet one packet is in flight at most, and each ACK moves the time of the next;
//!   the algorithm has a pacing delay alone.
//! - The paper gives no values of `ai`, β, `max_mdf`, ħ, the three of flow scaling or `RETX_RESET_THRESHOLD`.
//!   Those taken from csg-htsim are guesses there, as it says.
//! - The paper's base target includes the hosts' delays and is the same for all paths: 25 us in sections 5.1
//!   and 5.2, 50 us in 5.4. Here it is the path's base round-trip time, to which `per-hop` adds an allowance
//!   for queueing at each switch.
//! - The paper names no initial window, which matters little to its long-lived flows (section 3.2); here it
//!   is the path's bandwidth-delay product, as in other controls.
//! - `max-cwnd` is by default the number of packets sent at line rate in the longest target: more packets
//!   never wait below the target.
//! - The delay is measured from the packet's start on the wire, so that it excludes waiting in the sender's
//!   NIC.
//! - The reliability reports lost packets: a reply counts as a fast recovery, a timer as a retransmission
//!   timeout.
//!
//! # References
//!
//! - Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM
//!   2020, sections 3.1 to 3.6 and algorithm 1.
//! - csg-htsim, `sim/swift.cpp`, for values that the paper leaves open.

#[cfg(test)]
mod tests;

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate, Span, Tally, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{AckView, Allowance, LossView, Need, ParamError, QpInfo, Reaction, ReactionPoint};

/// Parameters of Swift.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Swift")]
pub struct Params {
    /// Packets that a round trip below the target adds to the window, above 0. Default: 1.
    /// Source: csg-htsim, `_ai`.
    pub ai: f64,
    /// β: strength of a cut, from 0 to 1. Default: 0.8.
    /// Source: csg-htsim, `_beta`.
    pub beta: f64,
    /// Maximum fraction that one cut removes, above 0, up to 1. Default: 0.5.
    /// Source: csg-htsim, `_max_mdf`.
    pub max_mdf: f64,
    /// Target of a path without switches, above 0. Default: the base round-trip time of the path.
    /// Source: Kumar et al., section 3.5; the default is floodway's choice, which holds for paths of any
    /// length. Their testbeds have 25 us (section 5.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_target: Option<Span>,
    /// ħ: the amount that each switch on the path adds to the target, at least 0. Default: 1 us.
    /// Source: Kumar et al., section 3.5; the value is floodway's choice: 12.5 KB of queue at 100 Gbit/s.
    pub per_hop: Span,
    /// Maximum that a small window adds to the target, at least 0; 0 disables flow scaling. Default: five
    /// times `base-target`.
    /// Source: csg-htsim, `_fs_range`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_range: Option<Span>,
    /// Window, in packets, at which that maximum is reached, above 0. Default: 0.1.
    /// Source: csg-htsim, `_fs_min_cwnd`.
    pub fs_min_cwnd: f64,
    /// Window, in packets, from which nothing is added, above `fs-min-cwnd`. Default: 100.
    /// Source: csg-htsim, `_fs_max_cwnd`.
    pub fs_max_cwnd: f64,
    /// Minimum window in packets, above 0, up to 1. Default: 0.001.
    /// Source: Kumar et al., section 3.4.
    pub min_cwnd: f64,
    /// Largest window in packets, at least 1. Default: the packets sent at line rate in the longest target.
    /// Source: floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cwnd: Option<f64>,
    /// First window in packets, above 0. Default: the path's bandwidth-delay product.
    /// Source: floodway's choice; Kumar et al. name none (section 3.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<f64>,
    /// Timeouts in a row, from 1, of which the last sets the window to `min-cwnd`. Default: 5.
    /// Source: csg-htsim, `_rtx_reset_threshold`.
    pub retx_reset_threshold: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            base_target: None,
            per_hop: Span::us(1),
            fs_range: None,
            fs_min_cwnd: 0.1,
            fs_max_cwnd: 100.0,
            min_cwnd: 0.001,
            max_cwnd: None,
            initial_cwnd: None,
            retx_reset_threshold: 5,
        }
    }
}

impl Params {
    fn check(&self) -> Result<(), ParamError> {
        let refuse =
            |key, value: f64, range: &str| Err(ParamError::new(key, format!("{value} is not {range}")));
        let share = |value: f64| value > 0.0 && value <= 1.0;
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if !positive(self.ai) {
            return refuse("ai", self.ai, "a number above 0");
        }
        if !(0.0..=1.0).contains(&self.beta) {
            return refuse("beta", self.beta, "a number from 0 to 1");
        }
        for (key, value) in [("max-mdf", self.max_mdf), ("min-cwnd", self.min_cwnd)] {
            if !share(value) {
                return refuse(key, value, "a number above 0 and up to 1");
            }
        }
        if !positive(self.fs_min_cwnd) {
            return refuse("fs-min-cwnd", self.fs_min_cwnd, "a number above 0");
        }
        if !(self.fs_max_cwnd > self.fs_min_cwnd && self.fs_max_cwnd.is_finite()) {
            return refuse("fs-max-cwnd", self.fs_max_cwnd, "a number above fs-min-cwnd");
        }
        if let Some(most) = self.max_cwnd.filter(|most| !(*most >= 1.0 && most.is_finite())) {
            return refuse("max-cwnd", most, "a number of at least 1");
        }
        if let Some(first) = self.initial_cwnd.filter(|first| !positive(*first)) {
            return refuse("initial-cwnd", first, "a number above 0");
        }
        if self.base_target == Some(Span::ZERO) {
            return Err(ParamError::new(
                "base-target",
                "0us is not allowed; write a time above 0, like \"25us\"",
            ));
        }
        if self.retx_reset_threshold == 0 {
            return Err(ParamError::new("retx-reset-threshold", "0 is not allowed; the minimum is 1"));
        }
        Ok(())
    }

    /// The path's target as a queue pair uses it.
    fn target(&self, qp: &QpInfo) -> Target {
        let base = self.base_target.unwrap_or(qp.base_rtt).max(Span::ns(1));
        let range = self.fs_range.unwrap_or(base * 5).0 as f64;
        let root = |cwnd: f64| 1.0 / cwnd.sqrt();
        // Section 3.5: α of flow scaling.
        let alpha = range / (root(self.fs_min_cwnd) - root(self.fs_max_cwnd));
        // Section 3.5: topology scaling, base_target + hops · ħ.
        let fixed = base + self.per_hop * u64::from(qp.hops);
        Target { fixed: fixed.0 as f64, range, alpha, beta: -alpha * root(self.fs_max_cwnd) }
    }
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        self.check()?;
        let target = self.target(qp);
        let mtu = qp.mtu.0.max(1) as f64;
        let longest = Span(whole(target.fixed + target.range));
        let fills = qp.line_rate.bytes_covering(longest).0 as f64 / mtu;
        let max_cwnd = self.max_cwnd.unwrap_or(fills.max(1.0));
        let first = self.initial_cwnd.unwrap_or(qp.bdp().0 as f64 / mtu);
        let mut rp = Rp {
            params: Box::new(Params { max_cwnd: Some(max_cwnd), ..*self }),
            target,
            mtu,
            wire: qp.wire,
            line: qp.line_rate,
            max_cwnd,
            cwnd: first.clamp(self.min_cwnd, max_cwnd),
            rtt: qp.base_rtt.max(Span::ns(1)),
            last_decrease: None,
            timeouts: 0,
            increases: Tally::default(),
            allowance: Allowance::FREE,
        };
        rp.allow();
        Ok(rp)
    }

    fn has_steps(&self) -> bool {
        true
    }

    fn waits_for_each_ack(&self) -> bool {
        true
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Acks, Need::Timestamps]
    }
}

/// Parameters of the target delay, in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// Base and hops.
    fixed: f64,
    /// `fs_range`.
    range: f64,
    /// α of flow scaling.
    alpha: f64,
    /// β of flow scaling.
    beta: f64,
}

impl Target {
    fn at(&self, cwnd: f64) -> f64 {
        // Section 3.5: target = base + hops · ħ + max(0, min(α / sqrt(W) + β, fs_range)).
        self.fixed + (self.alpha / cwnd.sqrt() + self.beta).min(self.range).max(0.0)
    }
}

/// One per sending queue pair.
#[derive(Debug)]
pub struct Rp {
    params: Box<Params>,
    target: Target,
    /// Payload bytes of a packet, and its bytes on the wire.
    mtu: f64,
    wire: Bytes,
    line: Rate,
    max_cwnd: f64,
    /// The window in packets.
    cwnd: f64,
    /// The last round-trip time.
    rtt: Span,
    /// When the window last became smaller.
    last_decrease: Option<Time>,
    /// Timeouts in a row.
    timeouts: u32,
    increases: Tally,
    allowance: Allowance,
}

impl Rp {
    /// Has a round trip passed since the last cut?
    fn can_decrease(&self, now: Time) -> bool {
        // Algorithm 1: can_decrease, once a round trip.
        self.last_decrease.is_none_or(|last| now.since(last) >= self.rtt)
    }

    /// Sets the window within its bounds.
    fn set(&mut self, now: Time, cwnd: f64) {
        let before = self.cwnd;
        // Algorithm 1: cwnd within min_cwnd and max_cwnd.
        self.cwnd = cwnd.clamp(self.params.min_cwnd, self.max_cwnd);
        if self.cwnd < before {
            // Algorithm 1: t_last_decrease.
            self.last_decrease = Some(now);
        }
        self.allow();
    }

    /// Cuts by the largest amount.
    fn cut_most(&mut self, now: Time) {
        if self.can_decrease(now) {
            // Algorithm 1: a loss cuts by max_mdf.
            self.set(now, (1.0 - self.params.max_mdf) * self.cwnd);
        }
    }

    /// A window of one packet or more is sent at line rate; below, packets are paced.
    fn allow(&mut self) {
        // Section 3.4: below one packet, one in rtt / cwnd.
        let rate = if self.cwnd < 1.0 {
            let per_rtt = self.wire.0 as f64 * 8.0 * self.cwnd;
            Rate(whole(per_rtt * 1e12 / self.rtt.0 as f64)).max(Rate(1)).min(self.line)
        } else {
            self.line
        };
        let window = Bytes(whole(self.cwnd * self.mtu)).max(Bytes(1));
        self.allowance = Allowance { rate, window };
    }
}

impl ReactionPoint for Rp {
    fn observes_sent(&self) -> bool {
        false
    }

    fn on_ack(&mut self, now: Time, ack: &AckView<'_>) {
        self.timeouts = 0;
        self.rtt = ack.rtt.max(Span::ns(1));
        let (delay, target) = (self.rtt.0 as f64, self.target.at(self.cwnd));
        if delay < target {
            let acked = ack.acked.0 as f64 / self.mtu;
            // Algorithm 1: additive increase below the target, ai / cwnd for each packet.
            let step = self.params.ai * acked / self.cwnd.max(1.0);
            self.increases.add(1);
            self.set(now, self.cwnd + step);
        } else if self.can_decrease(now) {
            let Params { beta, max_mdf, .. } = *self.params;
            // Algorithm 1: multiplicative decrease, by the more the further above the target.
            let factor = (1.0 - beta * (delay - target) / delay).max(1.0 - max_mdf);
            self.set(now, factor * self.cwnd);
        } else {
            self.allow();
        }
    }

    fn on_loss(&mut self, now: Time, loss: &LossView) {
        if !loss.timeout {
            self.timeouts = 0;
            return self.cut_most(now);
        }
        self.timeouts = self.timeouts.saturating_add(1);
        // Section 3.6: several timeouts in a row set the window to its least.
        if self.timeouts >= self.params.retx_reset_threshold {
            self.set(now, self.params.min_cwnd);
        } else {
            self.cut_most(now);
        }
    }

    fn increases(&self) -> u64 {
        self.increases.count()
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }
}

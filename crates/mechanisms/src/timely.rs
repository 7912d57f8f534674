//! TIMELY: a sender that sets its rate by the round-trip time alone and by its changes, without support from
//! switches (Mittal et al., SIGCOMM 2015). Its form in HPCC's simulator and the patched one are here too.
//!
//! # What it does
//!
//! At each update, with the new round-trip time and the one before:
//!
//! | round-trip time | rate |
//! |---|---|
//! | below `t-low` | rises by δ |
//! | above `t-high` | falls, the more the larger the excess |
//! | between, and not growing | rises by δ, after several in a row by five times as much |
//! | between, and growing | falls in proportion to the gradient |
//!
//! When updates are made, by preset:
//!
//! | | `hpcc` | `paper`, `patched` |
//! |---|---|---|
//! | update | once a round trip: at the first ACK of what was sent after the last update | when `segment` bytes have been acknowledged |
//! | round-trip time | of the packet, in whole nanoseconds | less the NIC's serialisation of a packet |
//! | hyper step | after five increases in a row of either kind | after five updates in a row with a gradient of 0 or less |
//!
//! `patched` replaces the rule between the thresholds by a weighted sum of a step and of a cut that grows
//! with the distance from `rtt-ref`, which gives flows one fixed point. The first update only stores the
//! round-trip time.
//!
//! # Why
//!
//! It needs no support from switches, only timestamps in ACKs, and HPCC's figures are compared with it. Its
//! thresholds apply to the whole round trip: below `t-low` it never slows down, which on a short path allows
//! a standing queue of `t-low` minus the base round trip; a path longer than `t-high` keeps it at its minimum
//! rate. Choose both for the network. `static-window` stacked with it bounds the bytes in flight
//! (`timely_win` and, with `variable`, `timely_vwin` of HPCC's figures).
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | α | `ewma`: weight of the new difference |
//! | β | `beta`: strength of a cut |
//! | `T_low`, `T_high` | `t-low`, `t-high` |
//! | `D_minRTT` | `min-rtt`, the divisor of differences |
//! | δ, N·δ | `rai`, `rhai` |
//! | `RTT_ref` | `rtt-ref` |
//!
//! # Sizing
//!
//! ```text
//! difference = (1 - α) · difference + α · (rtt - rtt of the last update);   gradient = difference / min-rtt
//! rtt < t-low:     rate = rate + rai  (hpcc: rhai after five increases in a row)
//! rtt > t-high:    rate = rate · (1 - β · (1 - t-high / rtt))
//! gradient <= 0:   rate = rate + rai, or + rhai
//! else:            rate = rate · (1 - β · gradient), the factor at least 0
//! patched, between: w = 0 up to a gradient of -1/4, 2 · gradient + 1/2, 1 from 1/4 on
//!                  rate = rai · (1 - w) + rate · (1 - β · w · (rtt - rtt-ref) / rtt-ref)
//! always:          rmin <= rate <= line rate
//! ```
//!
//! # Known differences
//!
//! - A flow starts at line rate, as in HPCC's simulator; the paper starts it at the line rate over the flows
//!   of the host.
//! - Hosts pace packet by packet, where the paper sends a segment as a burst and subtracts its serialisation
//!   from the time that it took. In `paper` and `patched` the round-trip time is therefore that of the packet
//!   that completes the segment, less the serialisation of one full payload at the NIC's rate; in `hpcc`
//!   nothing is subtracted, as in its simulator.
//! - An ACK that completes several segments makes one update.
//! - The factor of the gradient's cut is at least 0 and the rate at least `rmin` in all presets; the paper
//!   names neither.
//! - The paper counts its hyper increase in completion events without saying whether the fifth or the sixth
//!   is the first of them: it is the sixth, as in HPCC's simulator.
//! - A rate is whole bit/s, rounded down.
//!
//! # References
//!
//! - Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, section 4 and
//!   algorithm 1.
//! - Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CONEXT 2016, section 4
//!   (patched TIMELY).
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 5.1, its simulator's mode 7
//!   in `rdma-hw.cc`, and its `run.py`.

mod presets;
#[cfg(test)]
mod tests;

pub use presets::Preset;

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate, Span, Tally, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{AckView, Allowance, Need, ParamError, QpInfo, Reaction, ReactionPoint, counted_update};
use presets::Settings;

/// Parameters of TIMELY: a set of published values, and changes to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Timely")]
pub struct Params {
    /// The form of the algorithm, with its values; values given next to it take precedence.
    /// Source: floodway's choice: HPCC's simulator, with which others have compared.
    pub preset: Preset,
    /// α: weight of the new difference of round-trip times, from 0 to 1. Default: 0.875.
    /// Source: HPCC's simulator, `TimelyAlpha`.
    pub ewma: f64,
    /// β: strength of a cut, from 0 to 1. Default: 0.8; 0.008 in `patched`.
    /// Source: Mittal et al., section 5; Zhu et al., CONEXT 2016, section 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// Round-trip time below which the rate only rises. Default: 50 us.
    /// Source: Mittal et al., section 5; HPCC's simulator, `TimelyTLow`.
    pub t_low: Span,
    /// Round-trip time above which the rate only falls, at least `t-low`. Default: 500 us.
    /// Source: Mittal et al., section 5; HPCC's simulator, `TimelyTHigh`.
    pub t_high: Span,
    /// The divisor that turns differences into the gradient, above 0. Default: 20 us.
    /// Source: Mittal et al., section 5; HPCC's simulator, `TimelyMinRtt`.
    pub min_rtt: Span,
    /// δ: step of an increase, at least 0. Default: 10 Mbit/s per 10G of the NIC's rate.
    /// Source: Mittal et al., section 5; HPCC's `run.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rai: Option<Rate>,
    /// N·δ: step of a hyper increase, at least 0; not in `patched`. Default: five times `rai`.
    /// Source: Mittal et al., section 4; HPCC's `run.py`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rhai: Option<Rate>,
    /// Increases in a row before the first hyper increase, at least 0; not in `patched`. Default: 5.
    /// Source: Mittal et al., section 4; HPCC's simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hai_after: Option<u32>,
    /// Minimum rate, above 0; at most the NIC's. Default: 1 Gbit/s.
    /// Source: HPCC's `run.py`, `MIN_RATE`; also for `paper` and `patched`, which name none.
    pub rmin: Rate,
    /// Acknowledged payload bytes between updates, above 0; `paper` and `patched` only. Default: 16 KB.
    /// Source: Mittal et al., section 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
    /// Round-trip time to which patched flows converge, above 0; `patched` only. Default: `t-low`.
    /// Source: Zhu et al., CONEXT 2016, section 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ref: Option<Span>,
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        let settings = self.settings(qp)?;
        Ok(Rp {
            settings: Box::new(settings),
            rate: qp.line_rate,
            last: None,
            difference: 0.0,
            streak: 0,
            update_at: 0,
            acked: Bytes::ZERO,
            increases: Tally::default(),
        })
    }

    fn has_steps(&self) -> bool {
        true
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Acks, Need::Timestamps]
    }
}

/// One per sending queue pair. Times are in nanoseconds.
#[derive(Debug)]
pub struct Rp {
    settings: Box<Settings>,
    rate: Rate,
    /// Round-trip time of the last update.
    last: Option<f64>,
    /// Running difference of round-trip times.
    difference: f64,
    /// Increases in a row that count towards a hyper increase.
    streak: u32,
    /// `hpcc`: an ACK beyond this sequence number makes the next update; 0 before the first.
    update_at: u64,
    /// `paper`, `patched`: bytes acknowledged since the last segment was complete.
    acked: Bytes,
    increases: Tally,
}

impl Rp {
    /// Does this ACK make an update?
    fn is_due(&mut self, ack: &AckView<'_>) -> bool {
        let Some(segment) = self.settings.segment else { return ack.next > self.update_at };
        self.acked = self.acked.saturating_add(ack.acked);
        let due = self.acked >= segment;
        self.acked.0 %= segment.0;
        due
    }

    /// The round-trip time as the form in use counts it.
    fn rtt(&self, ack: &AckView<'_>) -> f64 {
        // Section 4: the round-trip time, without the time that the NIC takes to send.
        match self.settings.segment {
            None => (ack.rtt.0 / 1_000) as f64,
            Some(_) => ack.rtt.0.saturating_sub(self.settings.serialisation.0) as f64 / 1e3,
        }
    }

    fn update(&mut self, rtt: f64) {
        let Some(last) = self.last else { return };
        let Settings { ewma, min_rtt, t_low, t_high, beta, .. } = *self.settings;
        // Algorithm 1: rtt_diff, a moving average of new_rtt_diff.
        self.difference = (1.0 - ewma) * self.difference + ewma * (rtt - last);
        // Algorithm 1: normalized_gradient.
        let gradient = self.difference / min_rtt;
        if rtt < t_low {
            // Algorithm 1: below T_low, additive increase.
            self.raise(self.settings.hai_below);
        } else if rtt > t_high {
            // Algorithm 1: above T_high, multiplicative decrease by the distance from it.
            self.cut(1.0 - beta * (1.0 - t_high / rtt));
        } else if self.settings.rtt_ref.is_some() {
            // ECN or Delay, Section 4: patched TIMELY between the thresholds.
            self.approach(rtt, gradient);
        } else if gradient <= 0.0 {
            // Algorithm 1: a gradient of 0 or less, additive increase by N steps.
            self.raise(true);
        } else {
            // Algorithm 1: a gradient above 0, multiplicative decrease by it.
            self.cut((1.0 - beta * gradient).max(0.0));
        }
    }

    /// An increase; `counts` towards a hyper increase, or resets the count.
    fn raise(&mut self, counts: bool) {
        let Settings { rai, rhai, hai_after, line, .. } = *self.settings;
        // Algorithm 1: N = 5 after five in a row (HAI mode), else 1.
        let hyper = counts && self.streak >= hai_after;
        self.rate = (self.rate + if hyper { rhai } else { rai }).min(line);
        self.streak = if counts { self.streak.saturating_add(1) } else { 0 };
        self.increases.add(1);
    }

    fn cut(&mut self, factor: f64) {
        self.rate = Rate(whole(self.rate.0 as f64 * factor)).max(self.settings.rmin);
        self.streak = 0;
    }

    /// Patched TIMELY between the thresholds: converges to the fixed point.
    fn approach(&mut self, rtt: f64, gradient: f64) {
        let Settings { beta, rai, rmin, line, rtt_ref, .. } = *self.settings;
        let Some(reference) = rtt_ref else { return };
        // ECN or Delay, Section 4: w, the weight of a cut.
        let weight = (2.0 * gradient + 0.5).clamp(0.0, 1.0);
        let error = (rtt - reference) / reference;
        let before = self.rate.0 as f64;
        // ECN or Delay, Section 4: the weighted sum of step and cut.
        let rate = rai.0 as f64 * (1.0 - weight) + before * (1.0 - beta * weight * error);
        self.rate = Rate(whole(rate)).max(rmin).min(line);
        self.increases.add(u64::from(rate > before));
    }
}

impl ReactionPoint for Rp {
    fn observes_sent(&self) -> bool {
        false
    }

    fn on_ack(&mut self, _now: Time, ack: &AckView<'_>) {
        if !self.is_due(ack) {
            return;
        }
        let rtt = self.rtt(ack);
        self.update(rtt);
        if self.settings.segment.is_some() || ack.sent > self.update_at {
            self.update_at = ack.sent;
            self.last = Some(rtt);
        }
    }

    fn increases(&self) -> u64 {
        self.increases.count()
    }

    fn counted_from(&self, psn: u64, _sent: &[u64]) -> Option<String> {
        let Rp { settings, rate, last, difference, streak, update_at, acked, increases: _ } = self;
        // Beyond that every increase is a hyper increase.
        let streak = (*streak).min(settings.hai_after);
        let update = counted_update(*update_at, psn);
        Some(format!(
            "rate: {rate:?} last: {last:?} difference: {difference:?} streak: {streak} update: {update:?} \
             acked: {acked:?}"
        ))
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { rate: self.rate, window: Bytes::MAX }
    }
}

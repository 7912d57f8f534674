//! PowerTCP: a sender that sets its window by the *power* of its bottleneck, the product of its arrival rate
//! and of its bytes in flight, from telemetry or from delay alone (Addanki et al., NSDI 2022).
//!
//! # What it does
//!
//! Control by queue length alone reacts late; control by its growth alone has no unique equilibrium. Power is
//! the product of both: *current*, the link's throughput plus the growth rate of its queue, and *voltage*,
//! the queue plus the link's bandwidth-delay product. Divided by the power of a link that is exactly full, it
//! is 1 where the link is in balance.
//!
//! | form | power from | window set |
//! |---|---|---|
//! | `int` | the records of switches in each ACK; the highest of all hops | at every ACK |
//! | `delay` (θ-PowerTCP) | the round-trip time and its growth | at the first ACK of a packet sent after the last update |
//!
//! The new window is a weighted mean of two values: the present window, and the window of a round trip ago
//! divided by the power, plus a small step. The rate is the window over the base round-trip time. The first
//! ACK is only stored.
//!
//! # Why
//!
//! It cuts at once when an incast begins, since the queue grows before it is long, and stops cutting as soon
//! as the queue falls. HPCC needs the same telemetry and uses the queue and the link's utilisation; TIMELY
//! uses delay or its gradient, but not both. The form `delay` needs no support from switches. It cannot
//! distinguish a link that is not full from a full one, and is therefore slower to use bandwidth that becomes
//! free.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | γ, β | `gamma`, `beta` |
//! | N | `expected-flows` |
//! | τ | `base-rtt` |
//! | λ = q̇ + µ, ν = q + b·τ | current and voltage |
//! | e = b²·τ, Γ | base power, and power |
//! | θ | round-trip time |
//!
//! # Sizing
//!
//! ```text
//! int:    power = max over hops of (Δq / Δt + Δ tx / Δt) · (q + b · τ) / (b² · τ)
//! delay:  power = (Δθ / Δt + 1) · θ / τ
//! smoothed = (smoothed · (τ - Δt) + power · Δt) / τ,   Δt <= τ;   1 at the start
//! window = γ · (window a round trip ago / smoothed + β) + (1 - γ) · window
//! β = line rate · τ / expected-flows;   first window = line rate · τ;   rate = window / τ
//! ```
//!
//! # Known differences
//!
//! - Algorithm 1 compares a hop's power (line 20) with the normalized one, and stores it: a misprint. Here
//!   the hop of the largest normalized power counts, as the text of section 3.3 says.
//! - The paper bounds neither window nor rate. Here a window is between `rmin` · τ and the first one, and a
//!   rate between `rmin` and the line rate, as in the authors' simulator.
//! - Algorithm 1 leaves open how a sender looks up the window of the acknowledged packet and says that it
//!   stores one per round trip: here it is the window at the beginning of the round trip in which the packet
//!   was sent.
//! - A Δt above τ counts as τ, as in that simulator: otherwise the weight of the old power would be negative.
//! - `delay`: θ̇ + 1 is at least 1/2, as in that simulator. Algorithm 2 takes θ̇ over the time between ACKs;
//!   where a queue drains the ACKs are closer together than their packets were sent, and the power would be
//!   negative.
//! - Where nothing arrives for a whole τ the power is 0; the smoothed power is at least a thousandth, and the
//!   upper bound of the window limits the result.
//! - τ is by default the base round-trip time of the path; the paper's evaluation sets the largest of the
//!   network.
//! - A hop whose records have the same time or an older one is ignored.
//! - That simulator uses a target of 95 % of a link with telemetry, and has γ = 0.7 and 1.05 τ with delay.
//!   With telemetry, too, its current is at least half of the link's rate, and the part 1 - γ is of the
//!   window of a round trip ago, not of the present one. None of this is in the paper, nor here.
//!
//! # References
//!
//! - Addanki, Michel, Schmid, "PowerTCP: Pushing the Performance Limits of Datacenter Networks", NSDI 2022,
//!   sections 3 and 4.1, algorithms 1 and 2, appendix A.
//! - The authors' simulator, `inet-tub/ns3-datacenter`, `UpdateRatePower` in `rdma-hw.cc`, and Linux module,
//!   `inet-tub/powertcp-linux`, for what the paper leaves open.

#[cfg(test)]
mod tests;

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate, Span, Tally, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    AckView, Allowance, IntHop, Need, OfPath, ParamError, QpInfo, Reaction, ReactionPoint, counted_update,
};

/// Minimum smoothed power: a window is divided by it.
const LEAST_POWER: f64 = 1e-3;

/// Lowest current from delay, relative to that of a full link: that of ACKs that are closer together than
/// their packets were sent would be below 0. Source: the authors' simulator, `UpdateRatePower`.
const LEAST_CURRENT: f64 = 0.5;

/// What power is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "PowerTcpForm")]
pub enum Form {
    /// Records of switches. Source: Addanki et al., algorithm 1.
    #[default]
    Int,
    /// Round-trip times: θ-PowerTCP. Source: Addanki et al., algorithm 2.
    Delay,
}

/// Parameters of PowerTCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "PowerTcp")]
pub struct Params {
    /// What power is computed from.
    /// Source: floodway's choice: the form that the paper puts first.
    pub form: Form,
    /// γ: weight of the new window, above 0, up to 1. Default: 0.9.
    /// Source: Addanki et al., section 3.3.
    pub gamma: f64,
    /// N: flows of a host that share its NIC, from 1, which determine `beta`. Default: 10.
    /// Source: Addanki et al., section 3.3, without a number; that of the authors' Linux module,
    /// `expected_flows`. Their simulator's step of 150 Mbit/s at 25 Gbit/s is one of N = 167.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_flows: Option<u32>,
    /// β: bytes that each update adds, at least 0. Default: line rate · τ / `expected-flows`.
    /// Source: Addanki et al., section 3.3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<Bytes>,
    /// τ: a time of at least 1 ns, `"auto"` for the path's base round trip, or `"largest"` for that of all
    /// pairs of hosts.
    /// Source: Addanki et al., section 3.3; `"largest"` is that of section 4.1, the default floodway's
    /// choice, for paths of very different length.
    pub base_rtt: OfPath<Span>,
    /// Minimum rate, above 0; at most the NIC's. Default: 100 Mbit/s.
    /// Source: floodway's choice, as in HPCC; the paper has none.
    pub rmin: Rate,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            form: Form::Int,
            gamma: 0.9,
            expected_flows: None,
            beta: None,
            base_rtt: OfPath::Auto,
            rmin: Rate::mbps(100),
        }
    }
}

impl Params {
    fn check(&self) -> Result<(), ParamError> {
        let refuse = |key, message: &str| Err(ParamError::new(key, message));
        if !(self.gamma > 0.0 && self.gamma <= 1.0) {
            let message = format!("{} is not a number above 0 and up to 1", self.gamma);
            return Err(ParamError::new("gamma", message));
        }
        if self.expected_flows == Some(0) {
            return refuse("expected-flows", "0 is not allowed; the minimum is 1");
        }
        if self.expected_flows.is_some() && self.beta.is_some() {
            return refuse("expected-flows", "beta is given, which replaces expected-flows");
        }
        if self.rmin == Rate(0) {
            return refuse("rmin", "a rate of 0bps never sends");
        }
        if matches!(self.base_rtt, OfPath::Fixed(base) if base < Span::ns(1)) {
            return refuse("base-rtt", "power is divided by it; the minimum is 1ns");
        }
        Ok(())
    }
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        self.check()?;
        let base = self.base_rtt.pick(qp.base_rtt, qp.largest_rtt).max(Span::ns(1));
        let most = qp.line_rate.bytes_covering(base).max(qp.mtu).0 as f64;
        let flows = f64::from(self.expected_flows.unwrap_or(10));
        let rmin = self.rmin.min(qp.line_rate);
        let settings = Settings {
            form: self.form,
            gamma: self.gamma,
            // Section 3.3: β = HostBw · τ / N.
            beta: self.beta.map_or(most / flows, |beta| beta.0 as f64),
            base: base.as_secs(),
            most,
            least: (rmin.0 as f64 * base.as_secs() / 8.0).min(most),
            rmin,
            line: qp.line_rate,
        };
        let allowance = Allowance { rate: qp.line_rate, window: Bytes(whole(most)) };
        Ok(Rp {
            settings: Box::new(settings),
            allowance,
            window: most,
            old: [most; 2],
            update_at: 0,
            smoothed: 1.0,
            hops: Vec::new(),
            last: None,
            increases: Tally::default(),
            rates_set: Tally::default(),
        })
    }

    fn has_steps(&self) -> bool {
        true
    }

    fn waits_for_each_ack(&self) -> bool {
        true
    }

    fn needs(&self) -> &'static [Need] {
        match (self.form, self.base_rtt == OfPath::Largest) {
            (Form::Int, false) => &[Need::Acks, Need::Int],
            (Form::Int, true) => &[Need::Acks, Need::Int, Need::Largest],
            (Form::Delay, false) => &[Need::Acks, Need::Timestamps],
            (Form::Delay, true) => &[Need::Acks, Need::Timestamps, Need::Largest],
        }
    }
}

/// Values of a queue pair; times in seconds, windows in bytes.
#[derive(Clone, Copy, Debug)]
struct Settings {
    form: Form,
    gamma: f64,
    beta: f64,
    /// τ.
    base: f64,
    /// Largest window, which is the first one, and the smallest.
    most: f64,
    least: f64,
    rmin: Rate,
    line: Rate,
}

/// Power over base power, and the time in seconds over which it was measured.
#[derive(Clone, Copy, Debug)]
struct Sample {
    power: f64,
    elapsed: f64,
}

/// One per sending queue pair.
#[derive(Debug)]
pub struct Rp {
    settings: Box<Settings>,
    allowance: Allowance,
    window: f64,
    /// The window at the beginning of the round trip whose packets are being acknowledged, and of the one
    /// after it.
    old: [f64; 2],
    /// An ACK beyond this sequence number begins the next round trip.
    update_at: u64,
    /// `Γ_smooth`.
    smoothed: f64,
    /// `int`: the records of the last ACK.
    hops: Vec<IntHop>,
    /// `delay`: when the last ACK came, and its round-trip time.
    last: Option<(Time, Span)>,
    increases: Tally,
    rates_set: Tally,
}

impl Rp {
    /// `NormPower` of algorithm 1: the busiest hop's.
    fn of_records(&mut self, int: &[IntHop]) -> Option<Sample> {
        let mut most: Option<Sample> = None;
        for (hop, before) in int.iter().zip(&self.hops) {
            let elapsed = hop.time.0.saturating_sub(before.time.0) as f64 * 1e-12;
            if elapsed == 0.0 {
                continue;
            }
            let rate = hop.rate.0 as f64 / 8.0;
            let growth = hop.queue.0 as f64 - before.queue.0 as f64;
            // Algorithm 1: NormPower, λ = q̇ + µ, the current.
            let current = (growth + hop.tx_bytes.saturating_sub(before.tx_bytes) as f64) / elapsed;
            let product = rate * self.settings.base;
            // Algorithm 1: NormPower, Γ = λ · (q + b · τ) over e = b² · τ.
            let power = current * (hop.queue.0 as f64 + product) / (rate * product);
            // Section 3.3: the hop of the largest normalized power counts.
            if most.is_none_or(|most| power > most.power) {
                most = Some(Sample { power, elapsed });
            }
        }
        self.hops.clear();
        self.hops.extend_from_slice(int);
        most
    }

    /// `NormPower` of algorithm 2.
    fn of_delay(&mut self, now: Time, rtt: Span) -> Option<Sample> {
        let (then, before) = self.last.replace((now, rtt))?;
        let elapsed = now.since(then).as_secs();
        if elapsed == 0.0 {
            // Of two ACKs at one instant the later one's time counts from the earlier one on.
            return None;
        }
        // Algorithm 2: NormPower, θ̇.
        let gradient = (rtt.as_secs() - before.as_secs()) / elapsed;
        let current = (gradient + 1.0).max(LEAST_CURRENT);
        // Algorithm 2: NormPower, (θ̇ + 1) · θ over τ.
        Some(Sample { power: current * rtt.as_secs() / self.settings.base, elapsed })
    }

    /// `Γ_smooth`.
    fn smooth(&mut self, sample: Sample) {
        let base = self.settings.base;
        let elapsed = sample.elapsed.min(base);
        // Algorithm 1: NormPower, Γ_smooth over one τ.
        self.smoothed = (self.smoothed * (base - elapsed) + sample.power * elapsed) / base;
        self.smoothed = self.smoothed.max(LEAST_POWER);
    }

    /// `UpdateWindow`.
    fn update(&mut self) {
        let Settings { gamma, beta, base, most, least, rmin, line, .. } = *self.settings;
        // Algorithm 1: UpdateWindow, γ · (cwnd_old / Γ_smooth + β) + (1 - γ) · cwnd.
        let next = gamma * (self.old[0] / self.smoothed + beta) + (1.0 - gamma) * self.window;
        let next = next.max(least).min(most);
        self.increases.add(u64::from(next > self.window));
        self.rates_set.add(1);
        self.window = next;
        // Algorithm 1: NewAck, rate = cwnd / τ.
        let rate = Rate(whole(next * 8.0 / base)).max(rmin).min(line);
        self.allowance = Allowance { rate, window: Bytes(whole(next)).max(Bytes(1)) };
    }
}

impl ReactionPoint for Rp {
    fn observes_sent(&self) -> bool {
        false
    }

    fn on_ack(&mut self, now: Time, ack: &AckView<'_>) {
        let begins = ack.next > self.update_at;
        if begins {
            // What is acknowledged from here on was sent from the last such ACK on.
            self.old[0] = self.old[1];
        }
        let sample = match self.settings.form {
            Form::Int => self.of_records(ack.int),
            Form::Delay => self.of_delay(now, ack.rtt),
        };
        if let Some(sample) = sample {
            self.smooth(sample);
            if begins || self.settings.form == Form::Int {
                self.update();
            }
        }
        if begins {
            // Algorithm 1: UpdateOld, once a round trip.
            self.old[1] = self.window;
            self.update_at = ack.sent;
        }
    }

    fn increases(&self) -> u64 {
        self.increases.count()
    }

    fn rates_set(&self) -> Option<u64> {
        Some(self.rates_set.count())
    }

    fn counted_from(&self, psn: u64, sent: &[u64]) -> Option<String> {
        let Rp {
            settings: _,
            allowance,
            window,
            old,
            update_at,
            smoothed,
            hops,
            last,
            increases: _,
            rates_set: _,
        } = self;
        let update = counted_update(*update_at, psn);
        let hops = hops
            .iter()
            .enumerate()
            .map(|(at, hop)| Some(IntHop { tx_bytes: hop.tx_bytes.wrapping_sub(*sent.get(at)?), ..*hop }));
        let hops = hops.collect::<Option<Vec<_>>>()?;
        Some(format!(
            "allowance: {allowance:?} window: {window:?} old: {old:?} update: {update:?} \
             smoothed: {smoothed:?} hops: {hops:?} last: {last:?}"
        ))
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }
}

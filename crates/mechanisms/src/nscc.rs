//! NSCC, the congestion control of Ultra Ethernet at the sender: a window that marks and delay set together
//! (UEC 1.0.3, section 3.6.13; `SMaRTT`, Bonato et al. 2024).
//!
//! # What it does
//!
//! Each report of the receiver is one of four cases by its mark and its delay, the round trip beyond the
//! base:
//!
//! ```text
//!                 delay below target                           delay at or above target
//!   unmarked      proportional or fast increase                fair increase
//!   marked        nothing: spraying acts first                 multiplicative decrease
//! ```
//!
//! Increases add up and take effect every `8` full packets or round trip. While no delay is seen for as long
//! as the window lasts, it grows by a quarter of what arrives. A decrease needs an average delay above the
//! target, comes at most once a round trip, and halves the window at most. A packet without payload takes its
//! own size off the window. And once every round trip and target, if something was lost and little arrived,
//! the window becomes what arrived (quick adapt), and reports are ignored until those of before have come.
//!
//! # Why
//!
//! Marks come soon and say little; delay says how much, and comes late. Together they let a sender start at
//! 1.5 bandwidth-delay products and be right after a round trip. It is made for switches that cut packets and
//! for packets that take many paths: choose it with `reliability.uet`. Against many senders at once, add
//! `rccc`.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | `target_qdelay` | `target` |
//! | `config_base_rtt`, BDP | `config-base-rtt`, and line rate times it |
//! | `scaling_a`, `scaling_b` | BDP over 150 KB, target over 12 us |
//! | alpha, fi, eta | 4 mss a b / target, 5 mss a, 0.15 mss a |
//! | `fi_scale`, gamma, `max_md_jump` | 0.25 a, 0.8, 0.5 |
//! | `qa_gate`, `qa_threshold` | `quick-adapt-gate`, 4 targets |
//!
//! # Sizing
//!
//! ```text
//! first and largest window = 1.5 · line rate · `base-rtt`
//! target                   = 0.75 · `config-base-rtt` where packets are cut, else all of it
//! ```
//!
//! # Known differences
//!
//! - The simulator's sum of increases has 32 bits and wraps where round trips are long; here it does not.
//! - In `form = "htsim"`, as there, all periods begin at time 0 of the run, a connection's base round trip
//!   begins at the network's, packets without payload lower it, and quick adapt also acts on a delay of four
//!   targets and may raise the window. In `form = "spec"` periods begin with the connection, the base round
//!   trip is that of its path, and quick adapt never raises the window, which is floodway's choice.
//! - alpha grows with the square of the round trip: beyond a millisecond one report may fill the window. This
//!   is as specified.
//!
//! # References
//!
//! - Ultra Ethernet Consortium, "Ultra Ethernet Specification", 1.0.3, 2026, section 3.6.13.
//! - Its simulator, `ultraethernet/uet-htsim`, `uec.cpp`.
//! - Bonato et al., "SMaRTT-REPS: Sender-based Marked Rapidly-adapting Trimmed & Timed Transport with
//!   Recycled Entropies", arXiv 2404.01630, 2024.

use floodway_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    AckView, Allowance, Cut, LossView, Mark, Need, OrAuto, ParamError, QpInfo, Reaction, ReactionPoint,
    Sample,
};
pub use crate::uet::Form;
use crate::uet::{check_rtt, network_rtt, target_delay};

mod window;

use window::{Constants, Window};

/// The largest `quick-adapt-gate`: a window is less than two to this power.
const LARGEST_GATE: u32 = 32;

/// Parameters of NSCC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Nscc")]
pub struct Params {
    /// Whether the specification or the Consortium's simulator is followed where they differ.
    /// Source: floodway's choice: the specification.
    pub form: Form,
    /// Delay beyond the base round trip that the window aims at, above 0; `"auto"` for 3/4 of the longest
    /// base round trip of all pairs of hosts where switches cut packets, and all of it where they drop them.
    /// Source: UEC, section 3.6.13.3.
    pub target: OrAuto<Span>,
    /// Delay below which a path counts as empty, so that the window may grow fast; at least 0.
    /// Source: the Consortium's simulator: 1 us.
    pub clear_delay: Span,
    /// Round trip from which target and constants follow, above 0; `"auto"` for the longest base round trip
    /// of all pairs of hosts.
    /// Source: UEC, section 3.6.13.3.
    pub config_base_rtt: OrAuto<Span>,
    /// Base round trip that a connection begins with, above 0, until a packet takes less; `"auto"` for that
    /// of its path, and in the simulator's form for the longest of all pairs of hosts.
    /// Source: UEC, section 3.6.13.3.
    pub base_rtt: OrAuto<Span>,
    /// First window, above 0, at least a full packet; `"auto"` for 1.5 bandwidth-delay products.
    /// Source: UEC, table 3-83.
    pub first_window: OrAuto<Bytes>,
    /// Quick adapt acts where less than the largest window over two to the power of this number arrived in
    /// its period, 0 to 32.
    /// Source: UEC, table 3-82.
    pub quick_adapt_gate: u32,
    /// How delays are averaged. Default: `ewma` in the simulator's form, else `rtt`.
    /// Source: UEC, section 3.6.13.6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<Average>,
    /// Whether a packet without payload lowers the base round trip, though it travels faster than a full one.
    /// Default: in the simulator's form.
    /// Source: the Consortium's simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_lowers_base_rtt: Option<bool>,
}

/// How delays are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "NsccAverage")]
pub enum Average {
    /// Each report has a weight of 1/80. Source: the Consortium's simulator.
    Ewma,
    /// Each report has the weight of the time since the one before, over a round trip. Source: UEC, section
    /// 3.6.13.6: the average of the last round trip.
    Rtt,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            form: Form::Spec,
            target: OrAuto::Auto,
            clear_delay: Span::us(1),
            config_base_rtt: OrAuto::Auto,
            base_rtt: OrAuto::Auto,
            first_window: OrAuto::Auto,
            quick_adapt_gate: 3,
            average: None,
            cut_lowers_base_rtt: None,
        }
    }
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        if self.target == OrAuto::Given(Span::ZERO) {
            return Err(ParamError::new("target", "0us is not allowed; write a time above 0, like \"10us\""));
        }
        check_rtt("base-rtt", self.base_rtt)?;
        check_rtt("config-base-rtt", self.config_base_rtt)?;
        if self.first_window == OrAuto::Given(Bytes::ZERO) {
            let message = "0B is not allowed; write a size above 0, like \"64KiB\"";
            return Err(ParamError::new("first-window", message));
        }
        if self.quick_adapt_gate > LARGEST_GATE {
            let message = format!("{} is not a number from 0 to {LARGEST_GATE}", self.quick_adapt_gate);
            return Err(ParamError::new("quick-adapt-gate", message));
        }
        let base_rtt = self.base_rtt.or_else(|| self.form.base_rtt(qp));
        let window = Window::new(self.form, self.constants(qp), base_rtt);
        Ok(Rp(Box::new(match self.first_window {
            OrAuto::Given(first) => window.with_first(first),
            OrAuto::Auto => window,
        })))
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Acks, Need::Largest]
    }
}

impl Params {
    fn constants(&self, qp: &QpInfo) -> Constants {
        let network = self.config_base_rtt.or_else(|| network_rtt(qp));
        let target = self.target.or_else(|| target_delay(network, qp.trims));
        let htsim = self.form == Form::Htsim;
        let average = self.average.unwrap_or(if htsim { Average::Ewma } else { Average::Rtt });
        Constants::new(self.form, qp, network, target, self.clear_delay, average)
            .with_cuts(self.cut_lowers_base_rtt.unwrap_or(htsim))
            .with_gate(self.quick_adapt_gate)
    }
}

/// One per sending queue pair. It is boxed, so that flows with another rate control stay small.
#[derive(Clone, Debug)]
pub struct Rp(Box<Window>);

impl ReactionPoint for Rp {
    fn on_sent(&mut self, now: Time, _wire: Bytes) {
        self.0.begins(now);
    }

    fn observes_sent(&self) -> bool {
        !self.0.has_begun()
    }

    fn on_ack(&mut self, now: Time, ack: &AckView<'_>) {
        self.on_report(now, ack, Some(&Sample { rtt: ack.rtt, query: None }));
    }

    fn on_report(&mut self, now: Time, ack: &AckView<'_>, sample: Option<&Sample>) {
        self.0.on_report(now, sample, ack.marked == Mark::Ce, ack.acked, ack.in_flight);
    }

    fn on_cut(&mut self, now: Time, cut: &Cut) {
        self.0.on_cut(now, cut);
    }

    fn on_loss(&mut self, _now: Time, l: &LossView) {
        self.0.shrink(l.lost);
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.0.rate(), window: self.0.window() }
    }
}

#[cfg(test)]
mod tests;

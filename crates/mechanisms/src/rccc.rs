//! RCCC, the congestion control of Ultra Ethernet at the receiver: senders send what receivers grant (UEC
//! 1.0.3, section 3.6.14; after EQDS, Olteanu et al. 2022).
//!
//! # What it does
//!
//! Each data packet says up to which number its sender wants credit, in quanta of 256 bytes. One pacer of
//! each receiving host serves its connections in turn: it grants the next one what it asks for, at most 64
//! quanta, and waits for as long as these take on its link at 99 % of its rate. A sender may send while it
//! has credit, and begins with 1.5 bandwidth-delay products, until the first report or grant. When no
//! connection asks, those that asked before get credit unasked.
//!
//! # Why
//!
//! The receiver knows how many send to it, so many senders share its link from the second round trip on,
//! whatever their number. It does nothing about queues elsewhere: put it on `nscc` where the network is not
//! the receivers' links alone.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | quantum | 256 B |
//! | pull number | quanta that a connection was granted so far |
//! | pull target | the number that a packet asks for |
//!
//! # Sizing
//!
//! ```text
//! first credit = 1.5 · line rate · `base-rtt`
//! ```
//!
//! # Known differences
//!
//! - Credit that ACKs carry, and the control of oversubscribed networks, are left out, as is the latter in
//!   the Consortium's simulator unless its topology says so.
//! - In `form = "spec"` the first credit follows from the connection's own path, in `form = "htsim"` from the
//!   longest of the network.
//!
//! # References
//!
//! - Ultra Ethernet Consortium, "Ultra Ethernet Specification", 1.0.3, 2026, section 3.6.14.
//! - Its simulator, `ultraethernet/uet-htsim`, `uec.cpp`.
//! - Olteanu et al., "An edge-queued datagram service for all datacenter traffic", NSDI 2022 (EQDS).

use floodway_units::{Bytes, Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    AckView, Allowance, Backlog, ControlMessage, Cut, Granter, HostInfo, LossView, Need, OrAuto, ParamError,
    QpInfo, Reaction, ReactionPoint, Sample,
};
pub use crate::uet::Form;
use crate::uet::{check_rtt, largest_window};

mod pacer;

use pacer::Pacer;

/// Bytes of a quantum. Source: UEC, section 3.6.14.
const QUANTUM: i64 = 256;
/// The kind of a message that grants credit.
const PULL: u8 = 1;

/// Parameters of RCCC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Rccc")]
pub struct Params {
    /// Whether the specification or the Consortium's simulator is followed where they differ.
    /// Source: floodway's choice: the specification.
    pub form: Form,
    /// Base round trip that a connection begins with, above 0, until a packet takes less; `"auto"` for that
    /// of its path, and in the simulator's form for the longest of all pairs of hosts.
    /// Source: UEC, section 3.6.14.
    pub base_rtt: OrAuto<Span>,
}

impl Reaction for Params {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        let htsim = self.form == Form::Htsim;
        check_rtt("base-rtt", self.base_rtt)?;
        let base_rtt = self.base_rtt.or_else(|| self.form.base_rtt(qp));
        let largest = self.form.first_window(qp.line_rate, base_rtt).0.max(qp.wire.0).cast_signed();
        Ok(Rp {
            rate: qp.line_rate,
            base_rtt,
            mtu: qp.wire.0.cast_signed(),
            largest,
            credit: largest,
            granted: 0,
            speculates: true,
            has_fixed_limit: htsim,
        })
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Acks, Need::Largest]
    }

    fn takes_credit(&self) -> bool {
        true
    }

    fn granter(&self, host: &HostInfo) -> Option<Box<dyn Granter>> {
        Some(Box::new(Pacer::new(host, self.form, self.base_rtt)))
    }
}

/// One per sending queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Rp {
    rate: Rate,
    base_rtt: Span,
    mtu: i64,
    /// The most credit.
    largest: i64,
    credit: i64,
    /// The largest number that was granted.
    granted: u64,
    /// Nothing has been heard of the receiver.
    speculates: bool,
    /// The most credit stays what it was at first, as in the Consortium's simulator.
    has_fixed_limit: bool,
}

impl Rp {
    /// The receiver answers: from now on only granted credit counts.
    fn is_answered(&mut self) {
        if self.speculates {
            self.speculates = false;
            self.credit = self.credit.min(0);
        }
    }

    fn lower_base_rtt(&mut self, rtt: Span) {
        if rtt < self.base_rtt && !self.has_fixed_limit {
            self.base_rtt = rtt;
            self.largest = largest_window(self.rate, rtt).0.cast_signed().max(self.mtu);
        }
    }

    /// Quanta granted, as bytes.
    fn granted_bytes(&self) -> i64 {
        self.granted.cast_signed() * QUANTUM
    }
}

impl ReactionPoint for Rp {
    fn has_messages(&self) -> bool {
        true
    }

    fn on_report(&mut self, _now: Time, _ack: &AckView<'_>, sample: Option<&Sample>) {
        if let Some(Sample { rtt, query: None }) = sample {
            self.lower_base_rtt(*rtt);
        }
        self.is_answered();
    }

    fn on_cut(&mut self, _now: Time, _cut: &Cut) {
        self.is_answered();
    }

    fn on_loss(&mut self, _now: Time, _l: &LossView) {}

    fn on_message(&mut self, _now: Time, m: &ControlMessage) {
        if m.kind != PULL {
            return;
        }
        self.is_answered();
        let more = m.number.saturating_sub(self.granted).cast_signed() * QUANTUM;
        self.granted = self.granted.max(m.number);
        self.credit = (self.credit + more).min(self.largest);
    }

    /// The number up to which the sender asks for credit, in quanta.
    fn spend(&mut self, _now: Time, left: Backlog, window: Bytes) -> u64 {
        self.credit -= left.started.0.cast_signed();
        let all = (left.new + left.repeated).0;
        let by_window = if window == Bytes::MAX {
            all
        } else {
            all.min(window.0.saturating_add(self.mtu.cast_unsigned()))
        };
        // Section 3.6.14: the credit that the backlog needs, less what there is.
        let mut wanted = by_window.min(self.largest.cast_unsigned()).cast_signed() - self.credit;
        if self.speculates && wanted < self.mtu && left.new > Bytes::ZERO {
            wanted = self.mtu;
        }
        // uec.cpp: several that wait ask for a part each.
        wanted /= left.sharing.max(1).cast_signed();
        let number = (wanted + self.granted_bytes()).max(0).cast_unsigned();
        number.div_ceil(QUANTUM.cast_unsigned())
    }

    fn is_open(&self) -> bool {
        self.credit > 0
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.rate, ..Allowance::FREE }
    }
}

/// The message that grants credit up to a number.
fn pull(number: u64) -> ControlMessage {
    ControlMessage { kind: PULL, number, time: Time::ZERO, padding: 0, metered: false }
}

#[cfg(test)]
mod tests;

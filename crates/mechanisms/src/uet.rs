//! Ultra Ethernet's transport (UET) for packets in any order: the receiver reports what has arrived as a
//! bitmap, and the sender sends again what was cut or lost, and nothing else (UEC 1.0.3, section 3.5).
//!
//! # What it does
//!
//! Packets may take several paths and arrive in any order. The receiver delivers each at once. It reports at
//! once if a packet was marked, asks for it, is the first one, came twice or came without its payload; else
//! when `ack-every` bytes have arrived. A report has the number before which all has arrived, the bits of 64
//! others, and the bytes received. Of a packet without payload (`buffer.output-queue.trim`) it says so, and
//! the sender sends that packet again, before new data. Without a report a timer does, packet by packet. If
//! neither window nor credit lets the packet go then, the sender sends a request (RTS), a packet without
//! payload that asks for a report, and for credit, at most once a round trip.
//!
//! With `sleek` it need not wait for the timer where switches drop packets rather than cut them. Once as many
//! packets have arrived behind a missing one as 1.5 windows hold, 5 at least, it sends again what is missing,
//! each packet once, whatever its window. Where it hears nothing it sends a probe, which waits in the queues
//! of data. If the answer comes without delay, nothing waits any more: what is missing is sent again.
//!
//! Each packet carries an entropy value, which switches hash (`routing.ecmp`), and each report returns it:
//!
//! - `fixed`: one for all packets, so all take one path;
//! - `oblivious`: each of `paths` values in turn, in an order that is drawn for each round;
//! - `bitmap`: likewise, but values whose packets were marked, cut or lost are passed over for some turns;
//! - `reps`: those whose packets arrived unmarked again, else drawn; after a timeout only those for 10 ms;
//! - `reps-legacy`: likewise, from a list without limit, after one turn of all;
//! - `mixed`: those whose packets arrived unmarked again, else as `bitmap`.
//!
//! # Why
//!
//! It needs neither a lossless network nor one path for each flow: a full queue costs the payload of a packet
//! and one round trip. Choose it with `rate-control.nscc` where losses are cut packets, and with switches
//! whose buffer is `output-queue`; `irn` is its counterpart for one path and dropped packets.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | PSN | the number of a packet |
//! | EV | entropy value |
//! | AR | a packet that asks for a report at once |
//! | mss, mtu | payload of a full packet, and all of it |
//!
//! # Sizing
//!
//! ```text
//! rto = 15 us + 6 · output queue / line rate        (form = "htsim")
//!       at least 2 · base round trip                 (form = "spec")
//! ```
//!
//! # Known differences
//!
//! - One header of 64 bytes stands for all of UET's (`wire = "htsim-uet"`); set-up of delivery contexts,
//!   ordered delivery, and the growth of timeouts from try to try are left out, as in the Consortium's
//!   simulator.
//! - The timeout of that simulator does not depend on the round trip and expires before any report where a
//!   path is long; `form = "spec"` has two round trips as its least.
//! - A request that is lost is sent again as a request; in the Consortium's simulator as an empty data
//!   packet. In `form = "spec"` a sender without credit that waits for nothing also sends one after eight
//!   round trips, as grants may be lost, too; that is floodway's choice.
//! - SLEEK's target for probes is that of `nscc` with `target = "auto"`.
//!
//! # References
//!
//! - Ultra Ethernet Consortium, "Ultra Ethernet Specification", 1.0.3, 2026, sections 3.5 and 3.6.16.
//! - Its simulator, `ultraethernet/uet-htsim`, `uec.cpp` and `uec_mp.cpp`.
//! - Bonato et al., "REPS: Recycled Entropy Packet Spraying", arXiv 2407.21625, 2024.

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{OrAuto, ParamError, QpInfo, Reliability, Repeats};

mod entropy;
mod receiver;
mod sender;
mod sent;
mod sleek;

pub use entropy::Entropy;
pub use receiver::Receiver;
pub use sender::Sender;

/// Parameters of Ultra Ethernet's transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Uet")]
pub struct Params {
    /// Whether the specification or the Consortium's simulator is followed where they differ.
    /// Source: floodway's choice: the specification.
    pub form: Form,
    /// How the entropy values of packets are chosen.
    /// Source: the Consortium's simulator, whose default it is.
    pub entropy: Entropy,
    /// Number of entropy values, a power of two from 1 to 65536.
    /// Source: the Consortium's simulator.
    pub paths: u32,
    /// Bytes, headers included, above 0, of which one report is sent at the latest.
    /// Source: the Consortium's simulator, 16,384 B.
    pub ack_every: Bytes,
    /// Time after which a packet without report counts as lost, above 0; `"auto"` for what follows from the
    /// sizes of queues.
    /// Source: the Consortium's simulator, `main_uec.cpp`.
    pub rto: OrAuto<Span>,
    /// Whether the sender also finds losses by packets that arrived behind them, and sends probes where no
    /// report comes (SLEEK): for switches that drop rather than cut packets. It is off where flow control
    /// loses none.
    /// Source: the Consortium's simulator, which has it off.
    pub sleek: bool,
}

/// The source that is followed where the specification and its simulator differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "UetForm")]
pub enum Form {
    /// The specification. Source: UEC 1.0.3.
    #[default]
    Spec,
    /// The Consortium's simulator. Source: `ultraethernet/uet-htsim`.
    Htsim,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            form: Form::Spec,
            entropy: Entropy::Mixed,
            paths: 64,
            ack_every: Bytes::kib(16),
            rto: OrAuto::Auto,
            sleek: false,
        }
    }
}

impl Form {
    /// The base round trip that a connection begins with: its path's, or in the Consortium's simulator the
    /// network's.
    pub(crate) fn base_rtt(self, qp: &QpInfo) -> Span {
        match self {
            Form::Spec => qp.base_rtt,
            Form::Htsim => network_rtt(qp),
        }
    }

    /// The bandwidth-delay product of a round trip, in whole bytes; the Consortium's simulator computes it in
    /// doubles, which may be a byte less.
    pub(crate) fn product(self, rate: Rate, rtt: Span) -> u64 {
        match self {
            Form::Spec => rate.bytes_in(rtt).0,
            Form::Htsim => whole(rtt.0 as f64 / 1e12 * (rate.0 / 8) as f64),
        }
    }

    /// The largest window at first.
    pub(crate) fn first_window(self, rate: Rate, rtt: Span) -> Bytes {
        Bytes(self.product(rate, rtt) * 3 / 2)
    }

    /// The largest window once a packet has taken less than the first base round trip. The simulator computes
    /// it by another formula, whose doubles are others.
    pub(crate) fn later_window(self, rate: Rate, rtt: Span) -> Bytes {
        match self {
            Form::Spec => largest_window(rate, rtt),
            Form::Htsim => Bytes(whole(rtt.0 as f64 / 1e6 * rate.0 as f64 / 8e6) * 3 / 2),
        }
    }
}

/// Is a round trip that a key gives above 0?
pub(crate) fn check_rtt(key: &'static str, given: OrAuto<Span>) -> Result<(), ParamError> {
    if given == OrAuto::Given(Span::ZERO) {
        return Err(ParamError::new(key, "0us is not allowed; write a time above 0, like \"10us\""));
    }
    Ok(())
}

/// The longest base round trip of the network.
pub(crate) fn network_rtt(qp: &QpInfo) -> Span {
    qp.largest_rtt.max(qp.base_rtt)
}

/// The delay that a window aims at.
pub(crate) fn target_delay(network_rtt: Span, trims: bool) -> Span {
    // Section 3.6.13.3: three quarters of the round trip with trimming.
    if trims { network_rtt * 3 / 4 } else { network_rtt }
}

/// The largest window, and the largest credit: 1.5 bandwidth-delay products, each product cut to whole bytes.
pub(crate) fn largest_window(rate: Rate, rtt: Span) -> Bytes {
    Bytes(rate.bytes_in(rtt).0 * 3 / 2)
}

impl Params {
    /// The time after which a packet without report counts as lost.
    fn rto(&self, qp: &QpInfo) -> Span {
        match (self.rto, self.form) {
            (OrAuto::Given(rto), _) => rto,
            (OrAuto::Auto, form) => {
                // main_uec.cpp: 15 us, and the drain of six full queues at the host's rate.
                let drained = Bytes(qp.output_queue.0.saturating_mul(6));
                let rto = Span::us(15) + qp.line_rate.time_to_send(drained);
                if form == Form::Htsim { rto } else { rto.max(qp.base_rtt * 2) }
            }
        }
    }

    fn check(&self) -> Result<(), ParamError> {
        if !self.paths.is_power_of_two() || self.paths > 1 << 16 {
            let message = format!("{} is not a power of two from 1 to 65536, like 64", self.paths);
            return Err(ParamError::new("paths", message));
        }
        if self.ack_every == Bytes::ZERO {
            return Err(ParamError::new(
                "ack-every",
                "0B is not allowed; write a size above 0, like \"16KiB\"",
            ));
        }
        if self.rto == OrAuto::Given(Span::ZERO) {
            return Err(ParamError::new("rto", "0us is not allowed; write a time above 0, like \"100us\""));
        }
        Ok(())
    }
}

impl Reliability for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, qp: &QpInfo) -> Result<(Sender, Receiver), ParamError> {
        self.check()?;
        let choice = entropy::Choice::new(self.entropy, self.paths, qp);
        // Where nothing is lost there is nothing to find.
        let sleek = (self.sleek && !qp.lossless).then(|| sleek::Sleek::new(self.form, qp));
        let sender = Sender::new(qp, self.form, self.rto(qp), choice, sleek);
        Ok((sender, Receiver::new(qp, self.ack_every)))
    }

    fn repeats(&self) -> Repeats {
        Repeats::Lost
    }

    fn reports(&self) -> bool {
        true
    }

    fn early_timeout_warning(&self, base_rtt: Span, _can_lose: bool) -> Option<String> {
        let OrAuto::Given(rto) = self.rto else { return None };
        (rto < base_rtt).then(|| {
            let reply = Span::us(base_rtt.0.div_ceil(1_000_000));
            format!(
                "a packet of \"uet\" counts as lost after {rto}, and on the longest path a reply takes {reply}, so that \
                 everything is sent again and again: rto = \"auto\" is at least two round trips"
            )
        })
    }

    fn spreads(&self) -> bool {
        self.entropy != Entropy::Fixed && self.paths > 1
    }
}

#[cfg(test)]
mod tests;

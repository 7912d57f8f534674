//! IRN, selective retransmission: the receiver keeps packets that arrive out of order, and the sender
//! retransmits only lost packets (Mittal et al., SIGCOMM 2018).
//!
//! # What it does
//!
//! The receiver delivers each packet as it arrives and answers each. The sender keeps at most `window`
//! packets in flight and detects lost packets by replies for later packets, or by a timer. The timer is short
//! while few packets are in flight, since then there may be no later packet to reveal a loss. There are three
//! forms:
//!
//! - `paper`: a cumulative number and a bitmap. A reply out of order or the timer starts a recovery: the
//!   oldest packet, then every packet that has a later one acknowledged, in order, then new ones. It ends
//!   when everything sent before it is acknowledged. One timer for each queue pair.
//! - `swing`: replies name one packet, or one and the gap before it; every packet of the gap goes into a
//!   queue of retransmissions, which the NIC serves before new data of any flow. One timer for each packet.
//! - `conweave`: blocks of bytes; the sender goes back to the oldest hole and skips what is acknowledged.
//!
//! # Why
//!
//! It allows a network to lose packets: no pauses, no headroom, and a loss costs one packet where `go-back-n`
//! retransmits a window. The window and both timeouts must fit the path. One value for all pairs, as
//! published, is too small for a long-haul pair or lets a local one flood its buffers; `preset = "per-pair"`
//! computes each from the flow's own path.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | BDP cap | `window` |
//! | N | `low-packets` |
//! | `RTO_low`, `RTO_high` | `rto-low`, `rto-high` |
//!
//! # Sizing
//!
//! ```text
//! window   = ceil(lowest rate · RTT / packet)          (packet as the link carries it)
//! RTO_low  = RTT
//! RTO_high = RTT + sum over the path's switches of buffer / rate of the egress
//! ```
//!
//! RTT is the base round-trip time of the flow's path (`"auto"`), or the largest of all pairs of hosts
//! (`"largest"`). The buffer of a switch is what one ingress is guaranteed: its own, or reserve and headroom.
//! SWING's numbers follow from this: 6809 packets, 817.071 us and 1875.151 us for the pairs between its
//! datacenters (the long link counted as 11 MB at 100 Gb/s), 106 packets, 12.714 us and 139.914 us inside
//! one.
//!
//! # Known differences
//!
//! - `paper` has the timers of the paper, 100 us and 320 us, which are for its network of 24 us: they are too
//!   short for a long link, which needs `preset = "per-pair"` or explicit times.
//! - Timers are off where the whole path is lossless (IRN and ConWeave turn them off under PFC), unless they
//!   are given.
//! - SWING's section 2.1 has the low timeout for flows shorter than three packets. Here, as in its simulator
//!   and in IRN's paper, it holds while at most N packets are in flight.
//! - In SWING's form retransmissions do not wait for their pacing time, except where the NIC also schedules
//!   flows as SWING's simulator does (`semantics.turns = "swing-ns3"`).
//! - The base round-trip time includes the serialisation of an ACK in the reverse direction, which SWING
//!   leaves out (`semantics.base-rtt = "one-way"`).
//!
//! # References
//!
//! - Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018.
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023, section
//!   6, and its simulator's `rdma-tx-queue-pair.cc`.
//! - Song et al., "Network Load Balancing with In-network Reordering Support for RDMA", SIGCOMM 2023
//!   (ConWeave), its simulator's `rdma-hw.cc`.

use floodway_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    Cx, LossView, Need, OfPath, ParamError, QpInfo, Reliability, Repeats, Reply, Segment, Timeout,
    TransportReceiver, TransportSender,
};

mod blocks;
mod conweave;
mod paper;
mod sizing;
mod swing;
mod window;

pub use window::Window;

/// Parameters of IRN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Irn")]
pub struct Params {
    /// The published form of IRN.
    /// Source: floodway's choice: the paper's.
    pub form: Form,
    /// How window and timeouts that are not given are derived.
    /// Source: floodway's choice: as published.
    pub preset: Preset,
    /// Maximum in flight: packets (110), bytes of payload ("110KB"), at least one packet; `"auto"` for what
    /// fills the flow's own path, or `"largest"` for what fills the longest. Default: `"largest"`; with
    /// `preset = "per-pair"` `"auto"`.
    /// Source: IRN, section 3.2: the BDP of the network's longest path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<OfPath<Window>>,
    /// Time after which a packet counts as lost while few are in flight, or `"off"`; `"auto"` for the base
    /// round-trip time of the flow's own path, or `"largest"` for that of the longest. Default: off where the
    /// whole path is lossless; else 100 us, in SWING's form `"largest"`; with `preset = "per-pair"` `"auto"`.
    /// Source: IRN, section 4.1; SWING, section 6.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_low: Option<OfPath<Timeout>>,
    /// Time after which a packet counts as lost while more are in flight, or `"off"`; `"auto"` for the base
    /// round-trip time of the flow's own path with all its queues full, or `"largest"` for the largest such
    /// time. Default: off where the whole path is lossless; else 320 us, in SWING's form `"largest"`; with
    /// `preset = "per-pair"` `"auto"`.
    /// Source: IRN, section 4.1; SWING, section 6.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_high: Option<OfPath<Timeout>>,
    /// N: the short timeout applies while at most this many packets are in flight, at least 0.
    /// Source: IRN, section 4.1; SWING's and ConWeave's configurations.
    pub low_packets: u32,
    /// In ConWeave's form: minimum time between two replies that report the same block, at least 0. Default:
    /// the longer of 500 us and the base round-trip time.
    /// Source: ConWeave's simulator has 500 us; floodway's choice beyond that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nack_interval: Option<Span>,
}

/// The published form of IRN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "IrnForm")]
pub enum Form {
    /// A bitmap, a recovery and one timer. Source: Mittal et al., SIGCOMM 2018, sections 3.1 and 3.2.
    #[default]
    Paper,
    /// Replies for one packet, a timer for each packet, retransmissions before all new data. Source: SWING's
    /// simulator.
    Swing,
    /// Blocks of bytes, going back over holes. Source: ConWeave's simulator.
    Conweave,
}

/// How window and timeouts are derived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "IrnPreset")]
pub enum Preset {
    /// One value for all pairs: the window of the network's longest path, and the form's timeouts. Source:
    /// IRN, sections 3.2 and 4.1; SWING, section 6.1.
    #[default]
    Published,
    /// Separate values for each pair, from its path, by the same formulas. Source: floodway's choice; SWING,
    /// section 1, names a dynamic bitmap, and objects that all NICs would have to change.
    PerPair,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            form: Form::Paper,
            preset: Preset::Published,
            window: None,
            rto_low: None,
            rto_high: None,
            low_packets: 3,
            nack_interval: None,
        }
    }
}

impl Reliability for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, qp: &QpInfo) -> Result<(Sender, Receiver), ParamError> {
        let settings = self.settings(qp)?;
        Ok(match self.form {
            Form::Paper => (
                Sender::Paper(Box::new(paper::Sender::new(qp, &settings))),
                Receiver::Paper(Box::new(paper::Receiver::new(qp, &settings))),
            ),
            Form::Swing => (
                Sender::Swing(Box::new(swing::Sender::new(qp, &settings))),
                Receiver::Swing(Box::new(swing::Receiver::new(qp, &settings))),
            ),
            Form::Conweave => (
                Sender::Conweave(Box::new(conweave::Sender::new(qp, &settings))),
                Receiver::Conweave(Box::new(conweave::Receiver::new(qp, &settings))),
            ),
        })
    }

    fn needs(&self) -> &'static [Need] {
        let largest = self.window() == OfPath::Largest
            || self.rto_low() == OfPath::Largest
            || self.rto_high() == OfPath::Largest;
        match (largest, matches!(self.rto_high(), OfPath::Auto | OfPath::Largest)) {
            (true, true) => &[Need::Largest, Need::Queues],
            (true, false) => &[Need::Largest],
            (false, true) => &[Need::Queues],
            (false, false) => &[],
        }
    }

    fn repeats(&self) -> Repeats {
        Repeats::Lost
    }

    fn repeats_first(&self) -> bool {
        self.form == Form::Swing
    }

    fn longest_timeout(&self, usual: Span) -> Span {
        self.longest_fixed_timeout().unwrap_or(usual)
    }

    fn early_timeout_warning(&self, base_rtt: Span, can_lose: bool) -> Option<String> {
        if let (Some(OfPath::Fixed(low)), Some(OfPath::Fixed(high))) = (self.rto_low, self.rto_high)
            && let (Some(low), Some(high)) = (low.span(), high.span())
            && low > high
        {
            return Some(format!(
                "rto-low, the timeout of few packets in flight, is {low}, longer than rto-high, {high}"
            ));
        }
        let timeout = self.shortest_fixed_timeout(can_lose).filter(|timeout| *timeout < base_rtt)?;
        let reply = Span::us(base_rtt.0.div_ceil(1_000_000));
        Some(format!(
            "a timer of \"irn\" runs out after {timeout}, and on the longest path a reply takes {reply}: preset = \"per-pair\" fits \
             timers and window to each path"
        ))
    }
}

/// The sender's end. It is boxed, so that flows with another reliability stay small.
#[derive(Clone, Debug)]
pub enum Sender {
    /// The paper's.
    Paper(Box<paper::Sender>),
    /// SWING's.
    Swing(Box<swing::Sender>),
    /// ConWeave's.
    Conweave(Box<conweave::Sender>),
}

/// The receiver's end.
#[derive(Clone, Debug)]
pub enum Receiver {
    /// The paper's.
    Paper(Box<paper::Receiver>),
    /// SWING's.
    Swing(Box<swing::Receiver>),
    /// ConWeave's.
    Conweave(Box<conweave::Receiver>),
}

/// Dispatches a call to the state machine of the form.
macro_rules! form {
    ($of:ident, $either:expr, $machine:ident => $call:expr) => {
        match $either {
            $of::Paper($machine) => $call,
            $of::Swing($machine) => $call,
            $of::Conweave($machine) => $call,
        }
    };
}

impl TransportSender for Sender {
    fn push(&mut self, message: Bytes) {
        form!(Sender, self, machine => machine.push(message));
    }

    fn ready(&self) -> Option<Bytes> {
        form!(Sender, self, machine => machine.ready())
    }

    fn has_more(&self) -> bool {
        form!(Sender, self, machine => machine.has_more())
    }

    fn on_poll(&mut self) {
        form!(Sender, self, machine => machine.on_poll());
    }

    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        form!(Sender, self, machine => machine.next_segment(now))
    }

    fn on_reply(&mut self, now: Time, reply: Reply) -> (Bytes, Option<LossView>) {
        form!(Sender, self, machine => machine.on_reply(now, reply))
    }

    fn acknowledged(&self, reply: Reply) -> u64 {
        form!(Sender, self, machine => machine.acknowledged(reply))
    }

    fn needs_room(&self) -> bool {
        form!(Sender, self, machine => machine.needs_room())
    }

    fn has_repeats(&self) -> bool {
        form!(Sender, self, machine => machine.has_repeats())
    }

    fn next_repeat(&mut self, now: Time) -> Option<Segment> {
        form!(Sender, self, machine => machine.next_repeat(now))
    }

    fn next_psn(&self) -> u64 {
        form!(Sender, self, machine => machine.next_psn())
    }

    fn in_flight(&self) -> Bytes {
        form!(Sender, self, machine => machine.in_flight())
    }

    fn is_done(&self) -> bool {
        form!(Sender, self, machine => machine.is_done())
    }

    fn cap(&self) -> Bytes {
        form!(Sender, self, machine => machine.cap())
    }

    fn next_timeout(&self) -> Option<Time> {
        form!(Sender, self, machine => machine.next_timeout())
    }

    fn times_packets(&self) -> bool {
        form!(Sender, self, machine => machine.times_packets())
    }

    fn number_timer(&mut self, number: u64) {
        form!(Sender, self, machine => machine.number_timer(number));
    }

    fn timeout_number(&self) -> Option<u64> {
        form!(Sender, self, machine => machine.timeout_number())
    }

    fn on_timeout(&mut self, now: Time) -> Option<LossView> {
        form!(Sender, self, machine => machine.on_timeout(now))
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        form!(Sender, self, machine => machine.counted_from(psn))
    }
}

impl TransportReceiver for Receiver {
    fn on_segment(&mut self, cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes {
        form!(Receiver, self, machine => machine.on_segment(cx, s))
    }

    fn marks_disorder(&self) -> bool {
        form!(Receiver, self, machine => machine.marks_disorder())
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        form!(Receiver, self, machine => machine.counted_from(psn))
    }
}

#[cfg(test)]
mod tests;

//! BFC, backpressure flow control: each hop pauses single flows rather than classes, with a bounded flow
//! table, a few queues and a Bloom filter that is sent one hop upstream (Goyal et al., NSDI 2022).
//!
//! ```text
//!  upstream port                     ingress                         egress
//!  [ queues of flows ] ──data──► counts of flows ◄─ pause, resume ─ [ first packets ]─┐
//!    a queue stops while         Bloom filter, each τ               [ queue 1 .. 32 ]─┴─ DRR ──►
//!    its head is in the filter ◄──filter── out of the ingress          above Th: the packet counts
//! ```
//!
//! # What it does
//!
//! *Queues.* A flow with packets at an egress port waits in one queue of that port. On its first packet it
//! gets an empty queue, or a queue drawn at random if none is empty. The first packet of a flow that has no
//! packets there enters a queue that is served before all others. The others are served by deficit round
//! robin.
//!
//! *Pauses.* A packet that makes its queue longer than Th is counted for its flow until it leaves. While any
//! packet is counted, the flow is paused. Each ingress keeps a counting Bloom filter of the paused flows that
//! arrived there, and sends its bits upstream every τ as long as any bit is set. The upstream port of a
//! switch does not serve a queue whose first packet belongs to a flow in the filter; a host sends no packet
//! of such a flow. All other traffic continues.
//!
//! *Resumes.* At most two flows of each queue are resumed per hop round-trip time. Other flows wait in a
//! list.
//!
//! # Why
//!
//! A victim flow that shares a port with an incast is not stopped, and no sender has to learn a rate: queues
//! are as long as one hop needs, not a whole path. Choose it with senders that start at line rate
//! (`line-rate`, or `static-window` with the bandwidth-delay product) to study how far congestion control by
//! the network alone goes. Choose `dcqcn` or `hpcc` where switches have one queue per class. Keep a flow
//! control below it, `pfc` or `lossy`, for what per-flow pauses cannot hold: more concurrent flows than the
//! buffer can absorb. Configure it at switches and at hosts, with the same parameters at both ends of a link.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | VFID | a flow's identifier at a port: a hash of its addresses and ports, below `flows` |
//! | HRTT | `hop-rtt`: from the start of a filter frame to the arrival of the first packet that obeys it |
//! | τ | `interval` |
//! | μ | the port's rate |
//! | N | `N_active` in the paper: queues of the class at the port that hold packets and are not paused, including the packet's own |
//! | Th | (HRTT + τ) · μ / N |
//!
//! # Sizing
//!
//! ```text
//! a queue holds at most Th + (HRTT + τ) · (rate of what comes in − its share of μ)
//! ```
//!
//! 77 KB for two flows that share 100 Gbit/s over links of 2 us. A flow that arrives at twice its share
//! leaves its queue empty for at most a fifth of the time. Behind a link that is faster than μ, one flow
//! alone may bring more, and a hundred concurrent flows bring a hundred times as much: the buffer has to hold
//! that, or the flow control below BFC pauses.
//!
//! # Known differences
//!
//! - Written from an account of the paper, not from its text. What that account leaves open is floodway's
//!   choice, which includes all of the following.
//! - The queue of first packets is never paused, and its packets are not counted. A flow that the downstream
//!   has paused does not use this queue: otherwise it could continue one packet at a time, or block all
//!   others in that queue.
//! - The limit on resumes applies from one multiple of HRTT to the next. Within the limit a flow is resumed
//!   at once.
//! - Filters are sent at multiples of τ, and only while a bit is set or has changed since the last one. A
//!   filter that is not followed by another for eight τ expires, so that a lost frame or a failed link does
//!   not stop a flow forever.
//! - A counter holds the number of egress ports that pause the flow, not the number of counted packets: the
//!   bits are the same.
//! - HRTT is both delays of the link, its largest frame, and the filter frame. It is computed for the
//!   receiving port's own link; for a packet, for the link on which it arrived.
//! - Queues, filters and N are kept per class; another class of the port is not included in N.
//! - Hosts schedule flows one by one with every mechanism; replies that queue among data there are not held
//!   back.
//! - Deadlocks of per-flow pauses are not detected; those of the flow control below are.
//!
//! # References
//!
//! - Goyal, Shah, Zhao, Nikolaidis, Alizadeh and Anderson, "Backpressure Flow Control", NSDI 2022;
//!   arXiv:1909.09923.
//! - Shreedhar and Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995.

mod filter;
mod pauses;
mod queues;
#[cfg(test)]
mod tests;
mod turns;

use floodway_units::cast::{low_u32, narrow};
use floodway_units::{Bytes, Class, PortId, QueueId, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::filter::{Counting, Hashes};
use self::pauses::Pauses;
use self::queues::Queues;
use crate::slots::{
    CongestionPoint, CpAction, Cx, Detection, Discipline, FlowFilter, Gate, Mark, PacketView, ParamError,
    PortEvent, PortInfo, PortMessage, QueueView, Queueing, ReadyView, Turn,
};

/// A filter that has not been repeated for this many τ expires.
const INTERVALS_OF_SILENCE: u64 = 8;
/// Each of this many queues has one bit in a word, beside the queue of first packets.
const MOST_QUEUES: u8 = 63;

/// Parameters of backpressure flow control. Defaults are those of the paper's evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Bfc")]
pub struct Params {
    /// Queues of flows per class at a port, from 1 to 63, in addition to the one for first packets.
    /// Source: Goyal et al., evaluation: 32 queues a port.
    pub queues: u8,
    /// VFIDs: the number of flows that a port can distinguish, from 1 to 65536.
    /// Source: Goyal et al.: 16K.
    pub flows: u32,
    /// Size of the Bloom filter, from 1 to 128 bytes.
    /// Source: Goyal et al.: 128 bytes.
    pub filter: Bytes,
    /// Bits of the filter for each flow, from 1 to 8.
    /// Source: Goyal et al.: 4 hash functions.
    pub hashes: u8,
    /// HRTT, above 0. Default: both delays of the link, its largest frame, and the filter frame.
    /// Source: Goyal et al.: the round-trip time of the hop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_rtt: Option<Span>,
    /// τ, the time from one filter to the next, longer than a filter frame takes on the link. Default: half
    /// of `hop-rtt`, or twice the time of that frame if that is longer.
    /// Source: Goyal et al.: τ = HRTT / 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// Maximum number of flows of a queue that are resumed within `hop-rtt`, at least 1.
    /// Source: Goyal et al.: two.
    pub resumes: u32,
    /// Whether a flow's first packet is served before the queues of flows; if not, it waits like the others.
    /// Source: Goyal et al.: a high-priority queue for first packets.
    pub first_packets: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            queues: 32,
            flows: 16_384,
            filter: Bytes(128),
            hashes: 4,
            hop_rtt: None,
            interval: None,
            resumes: 2,
            first_packets: true,
        }
    }
}

/// HRTT and τ of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hop {
    rtt: Span,
    interval: Span,
}

impl Params {
    /// HRTT and τ of the link of `port`, for packets that arrive there.
    fn hop(&self, port: &PortInfo) -> Hop {
        let frame = self.frame(port);
        let serial = port.rate_in.time_to_send(port.wire) + frame;
        let rtt = self.hop_rtt.unwrap_or(port.delay + port.delay_in + serial);
        Hop { rtt, interval: self.interval.unwrap_or((rtt / 2).max(frame * 2)) }
    }

    /// The time of a filter frame on the link.
    fn frame(&self, port: &PortInfo) -> Span {
        port.rate.time_to_send(Bytes(port.control.0.saturating_add(self.filter.0)))
    }

    fn refused(&self) -> Option<ParamError> {
        let given = |key, value: u64, (least, most)| {
            let message = format!("{value} is not allowed; the range is {least} to {most}");
            (value < least || value > most).then(|| ParamError::new(key, message))
        };
        let none = |key, span: Option<Span>| {
            let message = "0us is not allowed; write a time above 0, like \"4us\"";
            (span == Some(Span::ZERO)).then(|| ParamError::new(key, message))
        };
        given("queues", self.queues.into(), (1, MOST_QUEUES.into()))
            .or_else(|| given("flows", self.flows.into(), (1, 1 << 16)))
            .or_else(|| given("filter", self.filter.0, (1, FlowFilter::LARGEST.into())))
            .or_else(|| given("hashes", self.hashes.into(), (1, 8)))
            .or_else(|| given("resumes", self.resumes.into(), (1, u32::MAX.into())))
            .or_else(|| none("hop-rtt", self.hop_rtt))
            .or_else(|| none("interval", self.interval))
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        self.refused().map_or(Ok(()), Err)?;
        let (hop, frame) = (self.hop(port), self.frame(port));
        if hop.interval <= frame {
            let message = format!(
                "{} is too short: a filter frame takes {frame} on this link, so filters would exceed its rate",
                hop.interval
            );
            return Err(ParamError::new("interval", message));
        }
        Ok(Cp { params: *self, port: *port, hop, inputs: Vec::new(), port_classes: Vec::new() })
    }
}

/// One per port, of a switch or a host.
#[derive(Debug)]
pub struct Cp {
    params: Params,
    port: PortInfo,
    hop: Hop,
    /// Bytes that leave here in HRTT + τ, by ingress port of the packet, in order of ports.
    inputs: Vec<(PortId, Bytes)>,
    /// The state of each class seen so far.
    port_classes: Vec<PortClass>,
}

/// A class at a port.
#[derive(Debug)]
struct PortClass {
    class: Class,
    /// As an egress: packets that wait here.
    queues: Queues,
    /// As an egress: flows that are paused here.
    pauses: Pauses,
    /// As an ingress: flows that arrived here and are paused at some egress.
    paused: Counting,
    /// When the next filter is sent; `None` if none is due.
    tick: Option<Time>,
    /// When the downstream's filter expires.
    void: Option<Time>,
}

impl PortClass {
    fn new(class: Class, params: &Params, port: &PortInfo) -> Self {
        let hashes = Hashes::new(params.hashes, narrow(params.filter.0));
        PortClass {
            class,
            queues: Queues::new(params, hashes, class, port.wire),
            pauses: Pauses::new(params.resumes),
            paused: Counting::new(hashes, class),
            tick: None,
            void: None,
        }
    }

    /// Applies a filter of the downstream: these flows are held back from now on.
    fn obey(&mut self, now: Time, filter: &FlowFilter, interval: Span) {
        self.void = (!filter.is_empty()).then(|| now + interval * INTERVALS_OF_SILENCE);
        self.queues.obey(filter);
    }
}

/// The first multiple of `span` after `now`.
fn next_multiple(now: Time, span: Span) -> Time {
    Time((now.0 / span.0).saturating_add(1).saturating_mul(span.0))
}

impl Cp {
    /// The state of a class, created for its first packet.
    fn port_class(&mut self, class: Class) -> &mut PortClass {
        let found = self.port_classes.iter().position(|port_class| port_class.class == class);
        let at = found.unwrap_or_else(|| {
            self.port_classes.push(PortClass::new(class, &self.params, &self.port));
            self.port_classes.len() - 1
        });
        &mut self.port_classes[at]
    }

    fn known(&self, class: Class) -> Option<&PortClass> {
        self.port_classes.iter().find(|port_class| port_class.class == class)
    }

    fn vfid(&self, flow_hash: u64) -> u32 {
        low_u32(flow_hash % u64::from(self.params.flows))
    }

    /// Th for packets from an ingress port, with this many active queues.
    fn threshold(&self, ingress: PortId, active: u32) -> Bytes {
        let at = self.inputs.binary_search_by_key(&ingress, |(port, _)| *port);
        let own = || self.port.rate.bytes_in(self.hop.rtt + self.hop.interval);
        let all = at.map_or_else(|_| own(), |at| self.inputs[at].1);
        Bytes(all.0 / u64::from(active.max(1)))
    }

    /// A packet has left the queue `sub`, transmitted or dropped.
    fn left(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, sub: usize) {
        let hop = self.hop.rtt;
        let port_class = self.port_class(p.class);
        let Some(left) = port_class.queues.leave(sub, p.wire) else { return };
        if left.counts {
            let (now, flow) = (cx.now, (left.vfid, p.ingress));
            if port_class.pauses.uncount(now, flow, hop) {
                cx.push(pause_message(p.ingress, p.class, left.vfid, -1));
            }
        }
    }

    /// An egress port's state machine pauses or resumes a flow that arrived here.
    fn receive(&mut self, now: Time, message: &PortMessage) {
        let interval = self.hop.interval;
        let port_class = self.port_class(message.class);
        port_class.paused.count(message.flow, message.number);
        if port_class.tick.is_none() && port_class.paused.is_due() {
            port_class.tick = Some(next_multiple(now, interval));
        }
    }
}

/// A message to the port `ingress`: a flow that arrived there is paused here, or resumed.
fn pause_message(ingress: PortId, class: Class, vfid: u32, number: i64) -> CpAction {
    CpAction::ToPort(ingress, PortMessage { class, flow: vfid.into(), number })
}

impl CongestionPoint for Cp {
    is_discipline!();

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        let (vfid, sub) = (self.vfid(p.flow_hash), usize::from(q.sub));
        let active = self.port_class(p.class).queues.active_with(vfid, sub);
        // Packets in the queue of first packets are not counted.
        let counts = sub > 0 && q.len > self.threshold(p.ingress, active);
        let port_class = self.port_class(p.class);
        port_class.queues.join(cx.rng, sub, vfid, counts);
        if counts && port_class.pauses.count((vfid, p.ingress), sub) {
            cx.push(pause_message(p.ingress, p.class, vfid, 1));
        }
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        self.left(cx, p, q.sub.into());
        Mark::None
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        match event {
            PortEvent::Message(message) => self.receive(cx.now, message),
            PortEvent::Filter(filter) => {
                let interval = self.hop.interval;
                self.port_class(filter.class).obey(cx.now, filter, interval);
            }
            // Queues are emptied from their heads, the first queue first.
            PortEvent::Removed(p) => {
                let vfid = self.vfid(p.flow_hash);
                if let Some(sub) = self.port_class(p.class).queues.headed_by(vfid) {
                    self.left(cx, p, sub);
                }
            }
            _ => {}
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        let times =
            |port_class: &PortClass| [port_class.tick, port_class.void, port_class.pauses.resumes_at()];
        self.port_classes.iter().flat_map(times).flatten().min()
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= cx.now);
        for port_class in &mut self.port_classes {
            if due(port_class.void) {
                port_class.obey(cx.now, &FlowFilter::empty(port_class.class, 1), self.hop.interval);
            }
            if due(port_class.pauses.resumes_at()) {
                let class = port_class.class;
                let mut resumed = |(vfid, ingress)| cx.out.0.push(pause_message(ingress, class, vfid, -1));
                port_class.pauses.resume(cx.now, self.hop.rtt, &mut resumed);
            }
            if due(port_class.tick) {
                cx.out.0.push(CpAction::FilterUpstream(self.port.port, port_class.paused.sent()));
                port_class.tick =
                    port_class.paused.is_due().then(|| next_multiple(cx.now, self.hop.interval));
            }
        }
    }
}

impl Discipline for Cp {
    fn queueing(&self) -> Queueing {
        Queueing::Packets { queues: self.params.queues + 1 }
    }

    fn on_ports(&mut self, ports: &[PortInfo]) {
        let input = |port: &PortInfo| {
            let hop = self.params.hop(port);
            (port.port, self.port.rate.bytes_in(hop.rtt + hop.interval))
        };
        self.inputs = ports.iter().map(input).collect();
        self.inputs.sort_unstable_by_key(|(port, _)| *port);
    }

    fn classify(&mut self, _now: Time, p: &PacketView) -> u8 {
        let vfid = self.vfid(p.flow_hash);
        self.port_class(p.class).queues.place(vfid)
    }

    fn gate(&self, _now: Time, q: QueueId) -> Gate {
        let held = self.known(q.class).is_some_and(|port_class| port_class.queues.is_held(q.sub.into()));
        if held { Gate::Closed } else { Gate::Open }
    }

    fn holds(&self, _now: Time, class: Class, flow_hash: u64) -> bool {
        self.known(class).is_some_and(|port_class| port_class.queues.is_paused(self.vfid(flow_hash)))
    }

    fn serve(&mut self, now: Time, ready: &[ReadyView]) -> Turn {
        let Some(first) = ready.first() else { return Turn::Nothing };
        let next = self.port_class(first.queue.class).queues.next(now, ready);
        next.map_or(Turn::Nothing, Turn::Queue)
    }
}

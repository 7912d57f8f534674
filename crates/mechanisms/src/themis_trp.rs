//! THEMIS's temporary reaction point (TRP): the switch where flows enter a datacenter from a long link slows
//! down the flows that get CNPs, until their senders, a round trip away, have been notified (THEMIS, ICNP
//! 2025).
//!
//! # What it does
//!
//! The switch counts the CNPs that pass it on their way to senders, per flow. While the last one of a flow is
//! younger than `recovery`, packets of that flow leave later: each makes P passes through a loop, a port of
//! the switch that leads back into it. P grows with the CNPs of the flow: by one with each up to `fast`, and
//! by one more with each `slow` of them, up to `most`. A pass takes `latency`, or, if that is longer, the
//! time in which `rate` sends all bytes in the loop: so packets take longer when more of them wait. When no
//! CNP has arrived for `recovery`, the packets of the flow that are in the loop leave after the current pass,
//! in order, and new ones do not wait. The loop's port marks packets like any other: each pass marks a packet
//! with RED's probability for all bytes in the loop. Packets that make many passes in a full loop are almost
//! certainly marked, and their senders slow down.
//!
//! ```text
//!              ┌──── loop: P passes ────┐
//!  long link ──┤ flows with a recent CNP ├──► egress port ──► datacenter ──► receiver
//!              └─── all other flows ─────┘                                      │
//!  senders  ◄────────────────── CNPs, counted here ◄────────────────────────────┘
//! ```
//!
//! # Why
//!
//! A receiver's CNP crosses the long link back to the sender. For a round trip, a millisecond over 500 us
//! each way, the sender keeps its rate; flows inside the datacenter slow down within microseconds, and get
//! only the remaining bandwidth. Choose it at the egress ports by which a datacenter's edge switch sends into
//! it: `congestion-point = [{ red = {} }, "themis-trp"]` by `links = { tag = "core-dci" }`,
//! `direction = "dci>core"`; at a port that sends over the long link no CNP belongs to a flow that it could
//! slow down in time. `themis-pnp`, the other part of THEMIS, handles congestion near the sender, and both
//! may be at one port. It costs buffer: the slowed packets wait here.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | TRP | this machine at an egress port of an external switch |
//! | number of loops of a packet | P |
//! | rate and delay of the loop's link | `rate`, `latency` |
//!
//! # Known differences
//!
//! - Facts that are not in the paper's text are taken from the authors' simulator (HPCC's ns-3, extended). It
//!   was changed many times: how P grows with CNPs, and after what time without CNPs a flow recovers (from
//!   0.5 to 5 ms). The defaults are those of the version that is kept with figures of its ablation. The
//!   published figures differ among themselves accordingly. The recovery time has the largest effect: with
//!   lists and configuration of the authors at a load of 70 %, flows within datacenters take 38.8 times as
//!   long as alone, and flows between them 2.98 times, with `recovery` 1 ms, and 12.6 and 6.0 times with 5 ms
//!   (one seed: too few; published 7.68 and 10.54, DCQCN 24.1 and 1.7).
//! - There the loop is one port of the switch, of 1.6 Tbit/s, for all of its egress ports. Here each port has
//!   a loop of its own, by default as fast as the port: the four ports of 400 Gbit/s of that simulator have
//!   as much together.
//! - Passes are not simulated one by one. All packets in a loop circulate together, so that only the number
//!   of rounds since a packet's arrival counts; its fraction advances with time and with the bytes in the
//!   loop. The order of packets within a round is not modelled.
//! - Packets of slowed flows wait in `queues` - 1 queues of this port, by the hash of their flow: two flows
//!   of one queue keep one order, so one may wait for the other. A packet that has made its passes leaves in
//!   the order of the port's scheduler, after the first queue where that is strict.
//! - There, after the first CNP of a flow, packets make one more pass but the recovery time does not start,
//!   and packets of a flow that has recovered still make two passes. Here the first CNP is like any other,
//!   and such packets make no pass.
//! - A table holds 4096 flows. While it is full, flows that have recovered are removed; CNPs of further flows
//!   then have no effect.
//!
//! # References
//!
//! - "THEMIS: Addressing Congestion-Induced Unfairness in Long-Haul RDMA Networks", ICNP 2025, and the
//!   authors' simulator (repository `Networked-System-and-Security-Group/Themis`).

use std::collections::{BTreeMap, BTreeSet};

use floodway_units::cast::to_usize;
use floodway_units::{Bytes, QueueId, Rate, Span, Time, mix, uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cnp_limiter::MOST_FLOWS;
use crate::slots::{
    CongestionPoint, CpAction, Cx, Demands, Detection, Discipline, Gate, Mark, PacketView, ParamError,
    PortEvent, PortInfo, QueueView, Queueing,
};

mod rounds;

use rounds::{Held, Marking, Rounds};

/// CNPs of a flow within this time count as one (the authors' simulator).
const CNP_GAP: Span = Span::ns(5);

/// Which flows count their CNPs together, and are slowed down together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ThemisTrpBy")]
pub enum By {
    /// Each flow separately. Source: the last version of the authors' simulator.
    #[default]
    Flow,
    /// All flows from one host to another, later ones included. Source: the version that is kept beside
    /// figures of the ablation.
    Hosts,
}

impl By {
    fn key(self, flow_hash: u64, source: u32, destination: u32) -> u64 {
        match self {
            By::Flow => flow_hash,
            By::Hosts => mix(u64::from(source) << 32 | u64::from(destination)),
        }
    }
}

/// Times at the loop's rate that give its marking thresholds (the authors' configuration).
const KMIN: Span = Span::us(8);
const KMAX: Span = Span::us(128);

/// Parameters of THEMIS's temporary reaction point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ThemisTrp")]
pub struct Params {
    /// Which flows count their CNPs together: `flow` or `hosts`.
    /// Source: the authors' simulator: its last version counts per flow.
    pub by: By,
    /// Time, above 0, after the last CNP of a flow from which its packets are no longer slowed down.
    /// Source: the authors' simulator: 1 ms, the round trip over their long link.
    pub recovery: Span,
    /// Number of CNPs of a flow of which each adds a pass, at least 1.
    /// Source: the authors' simulator: 11.
    pub fast: u32,
    /// Number of CNPs of a flow, counted from the second on, that add another pass, at least 1.
    /// Source: the authors' simulator: 20.
    pub slow: u32,
    /// The maximum number of passes of a packet, at least 1.
    /// Source: the authors' simulator: 401.
    pub most: u32,
    /// Time of a pass, above 0, while the loop holds few bytes.
    /// Source: the authors' simulator: 100 ns, the delay of the loop's link.
    pub latency: Span,
    /// Rate of the loop, above 0. Default: that of the port.
    /// Source: floodway's choice: the authors' loop, of 1.6 Tbit/s, serves four ports of 400 Gbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The largest number of bytes in the loop at which no packet is marked. Default: the bytes that the loop
    /// sends in 8 us.
    /// Source: the authors' configuration: 1.6 MB at 1.6 Tbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kmin: Option<Bytes>,
    /// Above this number of bytes in the loop each pass marks each packet; at least `kmin`. Default: the
    /// bytes that the loop sends in 128 us.
    /// Source: the authors' configuration: 25.6 MB at 1.6 Tbit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kmax: Option<Bytes>,
    /// Probability of a mark in a pass at `kmax`, from 0 to 1; with 0 passes below that mark nothing.
    /// Source: the authors' configuration: 0.2.
    pub pmax: f64,
    /// Queues of each class at the port, the first for flows that are not slowed down: from 2 to 255. All
    /// ports of the run have the same number.
    /// Source: floodway's choice.
    pub queues: u8,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            by: By::Flow,
            recovery: Span::ms(1),
            fast: 11,
            slow: 20,
            most: 401,
            latency: Span::ns(100),
            rate: None,
            kmin: None,
            kmax: None,
            pmax: 0.2,
            queues: 32,
        }
    }
}

impl Params {
    /// P after `cnps` CNPs, 1 or more.
    pub fn passes(&self, cnps: u32) -> u32 {
        let slow = cnps.saturating_sub(1) / self.slow;
        cnps.min(self.fast).saturating_add(slow).min(self.most)
    }

    /// The marking parameters of a loop of `rate`.
    fn marking(&self, rate: Rate) -> Result<Marking, ParamError> {
        let kmin = self.kmin.unwrap_or_else(|| rate.bytes_in(KMIN));
        let kmax = self.kmax.unwrap_or_else(|| rate.bytes_in(KMAX));
        if kmin > kmax {
            return Err(ParamError::new("kmin", format!("{kmin} is more than kmax, {kmax}")));
        }
        if !(0.0..=1.0).contains(&self.pmax) {
            let message = format!("{} is not a probability from 0 to 1", self.pmax);
            return Err(ParamError::new("pmax", message));
        }
        Ok(Marking { kmin, kmax, pmax: self.pmax })
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        for (key, span, example) in [("recovery", self.recovery, "1ms"), ("latency", self.latency, "100ns")] {
            if span == Span::ZERO {
                let message = format!("0us is not allowed; write a time above 0, like \"{example}\"");
                return Err(ParamError::new(key, message));
            }
        }
        for (key, count) in [("fast", self.fast), ("slow", self.slow), ("most", self.most)] {
            if count == 0 {
                return Err(ParamError::new(key, "0 is not allowed; the minimum is 1"));
            }
        }
        if self.queues < 2 {
            let message = format!(
                "{} is not allowed; the minimum is 2: one of them is for flows that are not held back",
                self.queues
            );
            return Err(ParamError::new("queues", message));
        }
        let rate = self.rate.unwrap_or(port.rate);
        if rate.0 == 0 {
            return Err(ParamError::new("rate", "a rate of 0bps never sends; write it like \"400G\""));
        }
        let marking = self.marking(rate)?;
        Ok(Cp {
            params: *self,
            flows: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            rounds: Box::new(Rounds::new(rate, self.latency, marking, usize::from(self.queues) - 1)),
        })
    }

    fn fill_in(&mut self, port: &PortInfo) {
        let rate = *self.rate.get_or_insert(port.rate);
        self.kmin.get_or_insert(rate.bytes_in(KMIN));
        self.kmax.get_or_insert(rate.bytes_in(KMAX));
    }
}

/// The state of a flow whose CNPs have passed.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// CNPs so far.
    cnps: u32,
    /// Time of the last CNP that counted.
    last: Time,
    /// Its recovery is scheduled.
    awaited: bool,
}

/// One per egress port.
#[derive(Clone, Debug)]
pub struct Cp {
    params: Params,
    /// By flow, as a switch identifies flows.
    flows: BTreeMap<u64, Flow>,
    /// The earliest times at which flows recover.
    deadlines: BTreeSet<(Time, u64)>,
    rounds: Box<Rounds>,
}

impl Cp {
    /// Is the last CNP of a flow younger than the recovery time?
    fn is_held(&self, flow: &Flow, now: Time) -> bool {
        now < flow.last + self.params.recovery
    }

    /// The number of passes of a packet of a flow that arrives now.
    fn passes(&self, flow: u64, now: Time) -> u32 {
        let flow = self.flows.get(&flow).filter(|flow| self.is_held(flow, now));
        flow.map_or(0, |flow| self.params.passes(flow.cnps))
    }

    /// The key of a packet's flow.
    fn key(&self, p: &PacketView) -> u64 {
        self.params.by.key(p.flow_hash, p.source, p.destination)
    }

    /// The queue of the flows of this hash, among those for slowed flows.
    fn own(&self, flow: u64) -> usize {
        to_usize(flow % (u64::from(self.params.queues) - 1))
    }

    /// A CNP of a flow has passed.
    fn count(&mut self, now: Time, hash: u64) {
        if self.flows.len() >= MOST_FLOWS && !self.flows.contains_key(&hash) {
            self.flows.retain(|_, flow| flow.awaited);
            if self.flows.len() >= MOST_FLOWS {
                return;
            }
        }
        let flow = self.flows.entry(hash).or_insert(Flow { cnps: 0, last: now, awaited: false });
        if flow.cnps == 0 || now >= flow.last + CNP_GAP {
            flow.cnps = flow.cnps.saturating_add(1);
            flow.last = now;
        }
        if !flow.awaited {
            flow.awaited = true;
            self.deadlines.insert((flow.last + self.params.recovery, hash));
        }
    }

    /// Flows without a CNP for the recovery time are no longer slowed down.
    fn recover(&mut self, now: Time) {
        while let Some(&(at, hash)) = self.deadlines.first()
            && at <= now
        {
            self.deadlines.pop_first();
            let Some(flow) = self.flows.get_mut(&hash) else { continue };
            let due = flow.last + self.params.recovery;
            flow.awaited = now < due;
            if flow.awaited {
                self.deadlines.insert((due, hash));
            } else {
                let own = self.own(hash);
                self.rounds.hurry(own, hash);
            }
        }
    }
}

impl CongestionPoint for Cp {
    fn demands(&self) -> Demands {
        Demands { cnps: true, ..Demands::default() }
    }

    is_discipline!();

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if let Some(own) = q.sub.checked_sub(1) {
            self.rounds.advance(cx.now);
            let key = self.key(p);
            let held = Held::new(key, p.class, p.frame);
            self.rounds.enter(usize::from(own), held, self.passes(key, cx.now));
        }
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if let Some(own) = q.sub.checked_sub(1) {
            self.rounds.advance(cx.now);
            let odds = self.rounds.leave(usize::from(own), self.key(p), p.class);
            // One draw for all passes: none of them has marked it with the chance e^-odds.
            if p.ecn_capable && odds > 0.0 && uniform(cx.rng) >= libm::exp(-odds) {
                return Mark::Ce;
            }
        }
        Mark::None
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        match event {
            PortEvent::CnpPasses { cnp, flow_hash, source, destination, .. } if cnp.mark == Mark::Ce => {
                self.count(cx.now, self.params.by.key(flow_hash, source, destination));
            }
            PortEvent::Removed(p) => {
                self.rounds.advance(cx.now);
                let key = self.key(p);
                self.rounds.leave(self.own(key), key, p.class);
            }
            _ => {}
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        let recovery = self.deadlines.first().map(|&(at, _)| at);
        [recovery, self.rounds.next()].into_iter().flatten().min()
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        self.rounds.advance(cx.now);
        self.recover(cx.now);
    }
}

impl Discipline for Cp {
    fn queueing(&self) -> Queueing {
        Queueing::Flows { queues: self.params.queues, inputs: false }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a machine asks for at most 255 queues")]
    fn classify(&mut self, now: Time, p: &PacketView) -> u8 {
        let key = self.key(p);
        let held = !p.is_reply && self.passes(key, now) > 0;
        if held { 1 + self.own(key) as u8 } else { 0 }
    }

    fn gate(&self, now: Time, q: QueueId) -> Gate {
        q.sub.checked_sub(1).map_or(Gate::Open, |own| self.rounds.gate(now, q.class, usize::from(own)))
    }
}

#[cfg(test)]
mod tests;

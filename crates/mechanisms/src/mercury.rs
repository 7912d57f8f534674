//! Mercury's congestion point: the switch distinguishes a paused port from a congested one, and sends the
//! source of each congested flow a window that is its share (He et al., Journal of Cloud Computing, 2024).
//!
//! # What it does
//!
//! Each queue of an egress port is determined or undetermined. A pause makes it undetermined; the resume
//! decides:
//!
//! | at the resume | the queue is |
//! |---|---|
//! | Q < threshold | determined |
//! | Q >= threshold, rxByte <= C · Tpause + tolerance | undetermined: the queue drains as fast as it was filled |
//! | Q >= threshold, otherwise | determined: this port itself is congested |
//!
//! An undetermined queue is checked again each T, at the next departure: it stays undetermined if it is at
//! the threshold or above and has become shorter since the last check; otherwise it becomes determined. When
//! a packet leaves a determined queue that is longer than the threshold, its sender gets a CNP. This switch
//! creates the CNP, sends it in the control class, and puts the window into it:
//!
//! ```text
//! Win[f] = C · data[f] / Σ data · base RTT
//! ```
//!
//! where `data[f]` is the number of bytes of flow f in the queue. A flow gets at most one CNP per
//! `cnp-interval`.
//!
//! # Why
//!
//! ECN marks packets of all flows in a long queue, including those of a flow that waits only because the next
//! switch has paused the port. Here such a queue sends no CNPs, so the victim flows keep their rates. The
//! flows that cause the congestion are notified by the switch, before the receiver could notify them. Use it
//! in place of `red`, not together with it: nothing else may mark packets. At the sender,
//! `rate-control = ["dcqcn", "mercury"]` cuts the rate as DCQCN does and enforces the window.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | Threshold | `threshold` |
//! | T | `period` |
//! | C | the port's rate |
//! | baseRTT | `base-rtt` |
//! | rxByte | bytes that join the queue during a pause, as the link carries them |
//! | Tpause | from the pause to the resume; a pause that expires counts like one that is resumed |
//! | FID | `flows` |
//!
//! # Known differences
//!
//! - The paper gives no threshold: the default is the Kmin of HPCC's ECN at the port's rate.
//! - Algorithm 1 sets a state only at the resume, the text sets it at the pause: here the pause makes the
//!   queue undetermined, and the resume decides. T starts at the resume. A repeated PAUSE changes nothing.
//! - rxByte includes the links' overhead, as C · Tpause does. Packets of n inputs with C in sum exceed C ·
//!   Tpause by less than n packets. Because of these Algorithm 1 may classify a victim as congested:
//!   `tolerance` allows for them.
//! - The paper sends a CNP for each packet; here `cnp-interval` limits them, as in DCQCN's notification
//!   point.
//! - The window is computed before the departing packet is removed from the table: its flow may have no other
//!   packet.
//! - Replies that queue with data (`semantics.acks = "data-class"`) count in the table as flows of their own,
//!   but get no CNPs.
//! - A class that credit-based flow control (`cbfc`, `bifrost`) does not let start its largest frame counts
//!   as paused, however short that is.
//! - The largest base RTT has the time in which a frame is sent on each link, 33.1 us in the network of Fig.
//!   9, whose links alone take 32.
//! - With static thresholds of 320 KB per ingress port the detection decides nothing in Figs. 9 and 10 of the
//!   paper: with windows no port of a switch is paused, and `detection = "threshold"` gives the same results
//!   to the byte. It decides where ports are paused: in Fig. 9 with 320 KB of all that a switch holds, or,
//!   with windows off, with XOFF at 40 KB (`studies/mercury`).
//! - At most 4096 flows are notified per interval.
//! - The table of a queue is exact and bounded: while it is full, a flow that is not in it counts in the sum
//!   and gets no CNP, until another flow has left the table.
//!
//! # References
//!
//! - He et al., "Accurate and fast congestion feedback in MEC-enabled RDMA datacenters", Journal of Cloud
//!   Computing, 2024, Algorithms 1 and 2.

mod table;
#[cfg(test)]
mod tests;

use floodway_units::{Bytes, Class, Rate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cnp_limiter::CnpLimiter;
use crate::red;
use crate::slots::{
    Cnp, CongestionPoint, CpAction, Cx, Demands, Detection, FastPath, Mark, Need, OfPath, PacketView,
    ParamError, PortEvent, PortInfo, QueueView, SignalKind,
};
use table::Table;

/// Parameters of Mercury's congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Mercury")]
pub struct Params {
    /// Threshold: a longer queue is congested, unless it is undetermined; in bytes. Default: 100 KB per 25G
    /// of the port's rate.
    /// Source: floodway's choice: the Kmin of HPCC's ECN; the paper gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Bytes>,
    /// T: the time after which an undetermined queue is checked again; above 0.
    /// Source: the paper, parameter settings.
    pub period: Span,
    /// What decides whether a queue above the threshold is congested.
    /// Source: the paper: the state of the port.
    pub detection: States,
    /// Number of full packets by which the bytes received during a pause may exceed what the link could
    /// carry, at least 0.
    /// Source: floodway's choice: one for each of the two inputs of the paper's motivation; the paper has 0.
    pub tolerance: u32,
    /// The round-trip time that windows cover: `"largest"` for the largest of all pairs of hosts, `"auto"`
    /// for that of each flow's own path, or a time for all; above 0. A time too short for a long path limits
    /// its throughput, and one too long for a short path leaves it more than it needs.
    /// Source: the paper: one value that is known in advance, the largest of its topology, 12 us.
    pub base_rtt: OfPath<Span>,
    /// The minimum time between two CNPs that this port sends for a flow, at least 0; 0 sends one for every
    /// packet.
    /// Source: DCQCN's paper, section 3.1.
    pub cnp_interval: Span,
    /// Which packets count as one flow.
    /// Source: the paper: the pair of addresses.
    pub flows: Flows,
    /// Maximum number of flows in the table of a queue, at least 1.
    /// Source: floodway's choice; the paper bounds the table by deleting empty entries alone.
    pub most_flows: u32,
}

/// What decides whether a queue above the threshold is congested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "MercuryDetection")]
pub enum States {
    /// Its state: an undetermined queue is not. Source: the paper, Algorithm 1.
    #[default]
    StateDriven,
    /// Its length alone: a pause leaves every queue determined. Source: floodway's choice, to compare with:
    /// Mercury without its detection.
    Threshold,
}

/// Which packets a switch counts as one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "MercuryFlows")]
pub enum Flows {
    /// All packets between two addresses; the CNP goes to the queue pair of the departing packet. Source: the
    /// paper.
    #[default]
    Addresses,
    /// A queue pair, by its addresses and ports. Source: floodway's choice, for many queue pairs between two
    /// hosts.
    QueuePairs,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            threshold: None,
            period: Span::us(10),
            detection: States::StateDriven,
            tolerance: 2,
            base_rtt: OfPath::Largest,
            cnp_interval: Span::us(50),
            flows: Flows::Addresses,
            most_flows: 4096,
        }
    }
}

impl Params {
    /// The threshold at a port of this rate.
    fn threshold(&self, rate: Rate) -> Bytes {
        self.threshold.unwrap_or_else(|| red::Preset::Hpcc.kmin(rate))
    }

    fn check(&self) -> Result<(), ParamError> {
        if self.period == Span::ZERO {
            return Err(ParamError::new("period", "0us is not allowed; write a time above 0, like \"10us\""));
        }
        if self.base_rtt == OfPath::Fixed(Span::ZERO) {
            return Err(ParamError::new(
                "base-rtt",
                "0us is not allowed; write a time above 0, like \"12us\"",
            ));
        }
        if self.most_flows == 0 {
            return Err(ParamError::new("most-flows", "a table of 0 flows sends no CNP; the minimum is 1"));
        }
        Ok(())
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        self.check()?;
        Ok(Cp {
            threshold: self.threshold(port.rate),
            period: self.period,
            detection: self.detection,
            slack: u128::from(port.wire.0) * u128::from(self.tolerance),
            base_rtt: match self.base_rtt {
                OfPath::Auto => None,
                OfPath::Largest => Some(port.largest_rtt),
                OfPath::Fixed(given) => Some(given),
            },
            rate: port.rate,
            flows: self.flows,
            most_flows: self.most_flows as usize,
            limiter: CnpLimiter::new(self.cnp_interval),
            queues: Vec::new(),
            keeps_tables: false,
        })
    }

    fn needs(&self) -> &'static [Need] {
        if self.base_rtt == OfPath::Largest { &[Need::Largest] } else { &[] }
    }

    fn states(&self) -> &'static [&'static str] {
        &["determined", "undetermined"]
    }

    fn signal_kinds(&self) -> &'static [SignalKind] {
        &[SignalKind::Cnps, SignalKind::Windows]
    }

    fn fill_in(&mut self, port: &PortInfo) {
        self.threshold = Some(self.threshold(port.rate));
    }
}

/// One per egress port.
#[derive(Clone, Debug)]
pub struct Cp {
    threshold: Bytes,
    period: Span,
    detection: States,
    /// The tolerance in bytes.
    slack: u128,
    /// The same for all flows, or each flow's own.
    base_rtt: Option<Span>,
    rate: Rate,
    flows: Flows,
    most_flows: usize,
    limiter: CnpLimiter,
    /// A queue for each class seen so far, in the order of their first packets.
    queues: Vec<Queue>,
    /// Whether the tables are kept. If not, all queues are determined, not paused and no longer than the
    /// threshold, so the tables would not be read.
    keeps_tables: bool,
}

/// A queue of the port.
#[derive(Clone, Debug)]
struct Queue {
    class: Class,
    state: State,
    pause: Option<Pause>,
    table: Table,
}

/// Whether the length of a queue shows congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Determined,
    /// It is checked again at `until`, and was `length` bytes long at the last check.
    Undetermined {
        until: Time,
        length: Bytes,
    },
}

/// Bytes that have arrived since a pause.
#[derive(Clone, Copy, Debug)]
struct Pause {
    since: Time,
    received: Bytes,
}

impl Cp {
    /// Index of the queue of a class.
    fn index(&mut self, class: Class) -> usize {
        self.queues.iter().position(|queue| queue.class == class).unwrap_or_else(|| {
            let table = Table::new(self.most_flows);
            self.queues.push(Queue { class, state: State::Determined, pause: None, table });
            self.queues.len() - 1
        })
    }

    fn queue(&mut self, class: Class) -> &mut Queue {
        let at = self.index(class);
        &mut self.queues[at]
    }

    fn key(&self, p: &PacketView) -> u64 {
        match self.flows {
            Flows::Addresses => u64::from(p.source) << 32 | u64::from(p.destination),
            Flows::QueuePairs => p.flow_hash,
        }
    }

    /// The state after a pause.
    fn after_pause(&self, now: Time, pause: Pause, length: Bytes) -> State {
        // Algorithm 1, line 7: Tpause, here as what the link could carry in it.
        let drains = u128::from(self.rate.bytes_in(now - pause.since).0) + self.slack;
        // Algorithm 1, lines 8 and 9: Q_Length against the threshold, rxByte against C · Tpause.
        if length >= self.threshold && u128::from(pause.received.0) <= drains {
            // Algorithm 1, line 10: undetermined.
            self.undetermined(now, length)
        } else {
            // Algorithm 1, lines 11 to 14: else determined.
            State::Determined
        }
    }

    /// The state when a packet leaves.
    fn at_departure(&self, now: Time, state: State, length: Bytes) -> State {
        match state {
            // Algorithm 1, line 16: undetermined, and T has expired.
            State::Undetermined { until, length: before } if now >= until => {
                // Algorithm 1, line 17: the queue is long, and has fallen during T.
                if length >= self.threshold && length < before {
                    // Algorithm 1, line 18: the timer starts anew.
                    self.undetermined(now, length)
                } else {
                    // Algorithm 1, lines 19 and 20: else determined.
                    State::Determined
                }
            }
            other => other,
        }
    }

    /// The state of a queue that a pause leaves undetermined.
    fn undetermined(&self, now: Time, length: Bytes) -> State {
        match self.detection {
            States::StateDriven => State::Undetermined { until: now + self.period, length },
            States::Threshold => State::Determined,
        }
    }

    /// The window of a packet's flow; `None` while the flow is not in the table. A window of 0 would mean no
    /// window, so it is at least one byte; it has 32 bits.
    fn window(&self, table: &Table, p: &PacketView, q: &QueueView) -> Option<Bytes> {
        // Algorithm 2, lines 10 and 11: Rate = C · data / sum.
        let share = table.share(self.key(p))?;
        // Algorithm 2, line 12: Win = Rate · baseRTT.
        let whole = self.rate.bytes_in(self.base_rtt.unwrap_or(q.base_rtt));
        // Algorithm 2, line 13: Win, within what a CNP can name.
        Some(share.of(whole).clamp(Bytes(1), Bytes(u64::from(u32::MAX))))
    }

    /// Sends the source of a packet its window, if it has one and got no CNP within the interval.
    fn send_cnp(&mut self, cx: &mut Cx<'_, CpAction>, at: usize, p: &PacketView, q: &QueueView) {
        // Algorithm 1, line 23: Win by Algorithm 2.
        let window = self.window(&self.queues[at].table, p, q);
        if window.is_some() && self.limiter.may_notify(self.key(p), cx.now) {
            // Algorithm 1, line 24: a CNP with Win.
            cx.push(CpAction::ToSource(Cnp { window, ..Cnp::of(p.flow, Mark::Ce) }));
        }
    }

    /// Stops keeping the tables; they are rebuilt when a queue exceeds the threshold or is paused.
    fn rest(&mut self) {
        self.keeps_tables = false;
        self.queues.iter_mut().for_each(|queue| queue.table.clear());
    }

    /// Can the tables be dropped until a queue exceeds the threshold again?
    fn may_rest(&self) -> bool {
        // Half of it leaves so much to arrive that counting again costs less than counting on.
        let short = Bytes(self.threshold.0 / 2);
        self.queues.iter().all(|queue| {
            queue.state == State::Determined && queue.pause.is_none() && queue.table.sum() <= short
        })
    }

    /// A pause has begun.
    fn paused(&mut self, now: Time, q: &QueueView) {
        self.keeps_tables = true;
        let state = self.undetermined(now, q.len);
        let queue = self.queue(q.class);
        if queue.pause.is_none() {
            // Algorithm 1, lines 2 and 3: pauseTime = now, rxByte = 0.
            queue.pause = Some(Pause { since: now, received: Bytes::ZERO });
            queue.state = state;
        }
    }
}

impl CongestionPoint for Cp {
    fn demands(&self) -> Demands {
        Demands { waiting: true, ..Demands::default() }
    }

    fn fast_path(&self) -> Option<FastPath> {
        (!self.keeps_tables).then_some(FastPath::up_to(self.threshold))
    }

    fn on_enqueue(&mut self, _cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if !self.keeps_tables && q.len <= self.threshold {
            return Mark::None;
        }
        self.keeps_tables = true;
        let key = self.key(p);
        let queue = self.queue(q.class);
        // Algorithm 1, lines 4 and 5: rxByte counts what comes during a pause.
        if let Some(pause) = &mut queue.pause {
            pause.received += p.wire;
        }
        queue.table.add(key, p.frame);
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if !self.keeps_tables {
            return Mark::None;
        }
        let at = self.index(q.class);
        // Algorithm 1, line 15: Send_packet.
        let state = self.at_departure(cx.now, self.queues[at].state, q.len);
        self.queues[at].state = state;
        // Algorithm 1, lines 21 and 22: flows that pass a determined port with a long queue.
        if state == State::Determined && q.len > self.threshold && !p.is_reply {
            self.send_cnp(cx, at, p, q);
        }
        let key = self.key(p);
        self.queues[at].table.take(key, p.frame);
        if self.may_rest() {
            self.rest();
        }
        Mark::None
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        match event {
            // Algorithm 1, line 1: Receive_pause.
            PortEvent::Paused(q) => self.paused(cx.now, q),
            // Algorithm 1, line 6: Receive_resume.
            PortEvent::Resumed(q) => {
                if let Some(pause) = self.queue(q.class).pause.take() {
                    self.queue(q.class).state = self.after_pause(cx.now, pause, q.len);
                }
            }
            PortEvent::Waiting(p) => {
                let key = self.key(p);
                self.queue(p.class).table.add(key, p.frame);
            }
            PortEvent::Removed(p) if self.keeps_tables => {
                let key = self.key(p);
                self.queue(p.class).table.take(key, p.frame);
            }
            _ => {}
        }
    }

    fn state(&self, _now: Time, class: Class) -> &'static str {
        let queue = self.queues.iter().find(|queue| queue.class == class);
        match queue.map(|queue| queue.state) {
            Some(State::Undetermined { .. }) => "undetermined",
            Some(State::Determined) | None => "determined",
        }
    }
}

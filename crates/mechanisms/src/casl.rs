//! CASL, congestion-aware semi-lossless transport: a port separates the flows that congest it from those that
//! only pass through it, puts the congested flows in a lossy queue, and so keeps pauses away from the other
//! flows (Hu, Li and Wang, "Congestion-Aware Semi-Lossless Transport in Datacenter networks").
//!
//! ```text
//!                  ┌─ not congested ─►[ lossless: Ql ]── paused by PFC ──┬─ first ─►
//!  packet ─ label ─┤                                                     │           mark by Ql + Qy, m, label
//!                  └─ congested ── d ►[ lossy: Qy    ]── never paused ───┴─ then ──►
//! ```
//!
//! # What it does
//!
//! *Monitoring*: a departing packet is marked as by RED, with the Ql + Qy that it leaves behind as the queue
//! length. Each flow has a moving average of its marks, m ← (1 - a) m + a · mark. The flow becomes congested
//! at the packet with which m > `m_hi` and Ql + Qy > Q1, and stops being congested at the packet with which
//! m < `m_lo` and Ql + Qy < Q1. A flow's state is deleted when no packet has arrived for `forget-after`.
//!
//! *Isolation*: congested flows wait in a second queue of their class, behind the first. Their packets that
//! already wait move into it. This queue is never paused, and its packets are charged to no account of the
//! switch's buffer: it has a capacity of its own, Ymax. A packet that would exceed that is dropped
//! (`isolated_full`); while the queue is longer than Q1, each packet is dropped with probability d
//! (`selective`). Every `adapt-every`, d grows by `drop-gain` · (Qy - Q1) / Q1, between 0 and `drop-most`.
//! While both queues have something to send, the second gets the share `floor`.
//!
//! *Learning*: every `learn-every`, Q1 is raised by a quarter, up to Kmax, if more than a tenth of the labels
//! was taken back within `misjudged-within`; otherwise it is lowered by a fifth, down to Kmin, if the switch
//! has sent a PAUSE.
//!
//! *Rate control* is the sender's: `rate-control.dcqcn = { losses-as-cnps = "50us" }` counts losses as CNPs,
//! and `reliability = "irn"` retransmits only what was dropped.
//!
//! A label applies at one port. So a packet that left a lossy queue may arrive, at the next switch, at an
//! ingress that has paused its link or is about to, although the pause does not stop that queue. While this
//! ingress has only headroom left, or is pausing, such a packet waits in the lossy queue there, whatever the
//! label of its flow is at that port, and the waiting packets of the flow move there with it; where there is
//! no such queue the packet is dropped. Otherwise it waits in the queue that its flow's label selects. So
//! flows that are congested nowhere lose nothing, and headroom is used only as intended. With `inherit` later
//! ports take over the label.
//!
//! # Why
//!
//! Under PFC an incast pauses whole links, and flows that only share these links wait too; without PFC the
//! incast causes losses to all flows. Here the flows of the incast are identified after a few marks, and then
//! no longer fill the accounts that trigger pauses. Until then PFC acts: a burst that ends within a round
//! trip is not separated from other traffic, and a PFC threshold that is crossed before the queue has reached
//! Q1 pauses all flows. It marks packets itself (`red` beside it would mark them twice), and needs senders
//! that tolerate losses.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | Ql, Qy | bytes in a class's lossless queue and in its lossy queue |
//! | Kmin, Kmax, Pmax | `kmin`, `kmax`, `pmax` |
//! | a, m | `gain`; the moving average of a flow's marks |
//! | `m_hi`, `m_lo` | `label-above`, `release-below` |
//! | Q1 | `threshold`, or the learnt value |
//! | Ymax | `capacity` |
//! | d | ratio of packets that are dropped beyond Q1 |
//!
//! # Known differences
//!
//! - The paper describes its modules without formulas: all rules and numbers above are floodway's, and each
//!   is a parameter.
//! - The paper uses strict priority; here the lossy queue has a floor of 5 %, so that no flow starves;
//!   `floor = 0` is strict.
//! - The paper's drop ratio follows "historical data"; here it follows by how much the queue has exceeded Q1,
//!   slowly and up to 1 %. That is our reading of "to avoid excessive packet loss": with these values incasts
//!   in a leaf-spine lose about half of the packets that they lose in a plain lossy queue of twice the size,
//!   and with a ratio of up to 50 % several times as many. Losses are not always fewer: one incast of 32
//!   senders with IRN's window loses an eighth more, and independent flows that never fill a plain queue
//!   lose some.
//! - Beside equal senders (DCQCN, IRN's retransmission) labels protect flows that only share links with an
//!   incast, and short flows at its port. In a loaded leaf-spine they neither raise throughput nor, beyond
//!   chance, shorten completion times beside PFC (`studies/casl`).
//! - Waiting packets of a flow that gets a label move to the lossy queue in their order, and leave their
//!   account: nothing is reordered within a switch. With `waiting = "stays"` the flow itself also stays until
//!   it has no packet left in the lossless queue. In an incast that happens only when that queue has run
//!   empty, so that labels then change next to nothing. A flow that is no longer congested always moves back
//!   in this way.
//! - Replies that wait among data are never congested.
//! - A switch with a crossbar (`buffer = "ioq"`) has no lossy queues at its inputs and is refused, as are
//!   flow controls that rely on a pause to stop all traffic (all but `pfc`, `swing`, which relays PFC's
//!   pauses, and `lossy`).
//!
//! # References
//!
//! - Hu, Li and Wang, "Congestion-Aware Semi-Lossless Transport in Datacenter networks", section 3.
//! - Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//!   Networking 1(4), 1993.

mod dropping;
mod labels;
#[cfg(test)]
mod tests;
mod threshold;

use std::cmp::Ordering;

use floodway_units::{Bytes, Class, FlowId, QueueId, Rng, Span, Time, uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    Claim, CongestionPoint, CpAction, Cx, Demands, Detection, DropReason, Gate, Mark, OrAuto, PacketView,
    ParamError, PortEvent, PortInfo, QueueView, SignalKind, Signals,
};
use dropping::Dropping;
use labels::{Change, Labels};
use threshold::Threshold;

/// Half of a port's 200 us of queues, in time at its rate.
// Section 4: a port has 200 us of queues, half of which are lossy.
const CAPACITY: Span = Span::us(100);

/// Parameters of CASL.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Casl")]
pub struct Params {
    /// Kmin: the largest Ql + Qy at which no packet is marked, in bytes; Q1 is learnt between it and `kmax`.
    /// Source: floodway's choice: half of HPCC's value at 50G, so that the whole ramp lies within the class's
    /// queue.
    pub kmin: Bytes,
    /// Kmax: the Ql + Qy above which every packet is marked, in bytes above 0; at least `kmin`.
    /// Source: floodway's choice, as `kmin`.
    pub kmax: Bytes,
    /// Pmax: probability of a mark at `kmax`, from 0 to 1.
    /// Source: HPCC's simulations, `run.py`.
    pub pmax: f64,
    /// a: weight of one packet in its flow's average of marks, above 0, up to 1.
    /// Source: floodway's choice; the paper gives none.
    pub gain: f64,
    /// `m_hi`: average of marks above which a flow is congested, from 0 to 1.
    /// Source: floodway's choice: the probability of a mark at 250 KB, where Q1 starts.
    pub label_above: f64,
    /// `m_lo`: average of marks below which a flow stops being congested, from 0 to `label-above`.
    /// Source: floodway's choice: a fifth of `m_hi`.
    pub release_below: f64,
    /// Time after a flow's last packet at which its state is deleted, above 0.
    /// Source: floodway's choice; the paper gives none.
    pub forget_after: Span,
    /// Q1: "auto" to learn it, starting from (Kmin + Kmax) / 2, or a fixed number of bytes above 0.
    /// Source: section 3.2, which learns it online.
    pub threshold: OrAuto<Bytes>,
    /// Period of learning, above 0.
    /// Source: floodway's choice; the paper gives none.
    pub learn_every: Span,
    /// A label that is taken back within this time counts as wrong; above 0.
    /// Source: floodway's choice; the paper gives none.
    pub misjudged_within: Span,
    /// Share of wrong labels in a period above which Q1 is raised, from 0 to 1.
    /// Source: floodway's choice; the paper gives none.
    pub misjudged_share: f64,
    /// Factor by which Q1 is raised, from 1 to 10.
    /// Source: floodway's choice; the paper gives none.
    pub raise: f64,
    /// Factor by which Q1 is lowered if the switch has sent a PAUSE, above 0, up to 1.
    /// Source: floodway's choice; the paper gives none.
    pub lower: f64,
    /// Ymax: capacity of the lossy queue, in bytes; at least a frame. Default: 100 us of the port's rate,
    /// 1.25 MB at 100G.
    /// Source: section 4: queues of 200 us, of which the lossy one has half by floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Period at which d is adapted, above 0.
    /// Source: floodway's choice; the paper gives none.
    pub adapt_every: Span,
    /// Increase of d per period while the lossy queue is twice Q1, from 0 to 1.
    /// Source: floodway's choice, as `drop-most`.
    pub drop_gain: f64,
    /// The largest d, from 0 to 1; with 0 only a full queue drops packets. Source: floodway's choice, by a
    /// sweep of few seeds: incasts lose less than in a plain lossy queue (3.2: no excessive packet loss).
    pub drop_most: f64,
    /// Share of the port's rate for the lossy queue while both queues have something to send, from 0 to 0.5.
    /// Source: floodway's choice: no flow starves; with 0 the lossless queue has strict priority, as in
    /// section 3.2.
    pub floor: f64,
    /// What happens to the packets that a flow has in the lossless queue when it is labelled.
    /// Source: floodway's choice; the paper does not say.
    pub waiting: Waiting,
    /// Whether a flow that arrives from a lossy queue is congested here, too.
    /// Source: floodway's choice: labels apply at one port, as in section 3.2.
    pub inherit: bool,
}

/// What happens to packets that wait in the lossless queue when their flow is labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CaslWaiting")]
pub enum Waiting {
    /// They move to the lossy queue at once, in their order; those that do not fit there are dropped. Source:
    /// floodway's choice: the only rule with which a label helps while its flow continues to send.
    #[default]
    Moves,
    /// They stay, and so do the packets behind them: the flow changes its queue when none is left in the
    /// lossless one. Source: the rule by which flows move from one class to another without sorting.
    Stays,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            kmin: Bytes::kb(100),
            kmax: Bytes::kb(400),
            pmax: 0.2,
            gain: 1.0 / 16.0,
            label_above: 0.1,
            release_below: 0.02,
            forget_after: Span::ms(1),
            threshold: OrAuto::Auto,
            learn_every: Span::ms(1),
            misjudged_within: Span::us(200),
            misjudged_share: 0.1,
            raise: 1.25,
            lower: 0.8,
            capacity: None,
            adapt_every: Span::us(100),
            drop_gain: 0.005,
            drop_most: 0.01,
            floor: 0.05,
            waiting: Waiting::Moves,
            inherit: false,
        }
    }
}

impl Params {
    fn check(&self) -> Result<(), ParamError> {
        if self.kmax == Bytes::ZERO {
            return Err(ParamError::new("kmax", "0B is not allowed; write a size above 0, like \"400KB\""));
        }
        if self.kmin > self.kmax {
            let message = format!("kmin = {} is above kmax = {}", self.kmin, self.kmax);
            return Err(ParamError::new("kmin", message));
        }
        if self.threshold == OrAuto::Given(Bytes::ZERO) {
            return Err(ParamError::new(
                "threshold",
                "0B is not allowed; write a size above 0, like \"250KB\", or \"auto\"",
            ));
        }
        self.check_numbers()?;
        let spans = [
            ("forget-after", self.forget_after),
            ("learn-every", self.learn_every),
            ("misjudged-within", self.misjudged_within),
            ("adapt-every", self.adapt_every),
        ];
        match spans.into_iter().find(|(_, span)| *span == Span::ZERO) {
            Some((key, _)) => {
                Err(ParamError::new(key, "0us is not allowed; write a time above 0, like \"100us\""))
            }
            None => Ok(()),
        }
    }

    fn check_numbers(&self) -> Result<(), ParamError> {
        let numbers = [
            ("pmax", self.pmax, 0.0, 1.0),
            ("label-above", self.label_above, 0.0, 1.0),
            ("misjudged-share", self.misjudged_share, 0.0, 1.0),
            ("raise", self.raise, 1.0, 10.0),
            ("drop-gain", self.drop_gain, 0.0, 1.0),
            ("drop-most", self.drop_most, 0.0, 1.0),
            ("floor", self.floor, 0.0, 0.5),
        ];
        for (key, number, least, most) in numbers {
            if !(least..=most).contains(&number) {
                let message = format!("{number} is not a number from {least} to {most}");
                return Err(ParamError::new(key, message));
            }
        }
        for (key, number) in [("gain", self.gain), ("lower", self.lower)] {
            if !(number > 0.0 && number <= 1.0) {
                return Err(ParamError::new(key, format!("{number} is not a number above 0, up to 1")));
            }
        }
        if !(0.0..=self.label_above).contains(&self.release_below) {
            let message = format!(
                "{} is not a number from 0 to {} (label-above)",
                self.release_below, self.label_above
            );
            return Err(ParamError::new("release-below", message));
        }
        Ok(())
    }

    /// Ymax at a port.
    fn capacity_at(&self, port: &PortInfo) -> Bytes {
        self.capacity.unwrap_or_else(|| port.rate.bytes_in(CAPACITY).max(port.mtu))
    }

    /// The initial Q1.
    fn first_threshold(&self) -> Bytes {
        self.threshold.or_else(|| Bytes(u64::midpoint(self.kmin.0, self.kmax.0)).max(Bytes(1)))
    }

    fn labels(&self) -> Labels {
        let (above, below) = (self.label_above, self.release_below);
        Labels::new(labels::Law { gain: self.gain, above, below, forgets: self.forget_after })
    }

    fn learner(&self) -> Threshold {
        let law = threshold::Law {
            bounds: (self.kmin, self.kmax),
            misjudged: self.misjudged_share,
            raise: self.raise,
            lower: self.lower,
            fixed: self.threshold != OrAuto::Auto,
        };
        Threshold::new(law, self.first_threshold())
    }

    fn dropping(&self) -> Dropping {
        Dropping::new(dropping::Law { every: self.adapt_every, gain: self.drop_gain, most: self.drop_most })
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        self.check()?;
        let capacity = self.capacity_at(port);
        if capacity < port.mtu {
            let message = format!("{capacity} has no room for a frame of {}", port.mtu);
            return Err(ParamError::new("capacity", message));
        }
        Ok(Cp { params: *self, capacity, frame: port.wire, classes: Vec::new() })
    }

    fn states(&self) -> &'static [&'static str] {
        &["lossless", "isolating"]
    }

    fn signal_kinds(&self) -> &'static [SignalKind] {
        &[SignalKind::Marks]
    }

    fn fill_in(&mut self, port: &PortInfo) {
        self.capacity = Some(self.capacity_at(port));
    }
}

/// One per egress port.
#[derive(Clone, Debug)]
pub struct Cp {
    params: Params,
    /// Ymax.
    capacity: Bytes,
    /// The largest frame on the link.
    frame: Bytes,
    /// One for each class seen so far, in the order of their first packets.
    classes: Vec<Isolation>,
}

/// The state of a class at a port.
#[derive(Clone, Debug)]
struct Isolation {
    class: Class,
    /// Ql and Qy.
    lossless: Bytes,
    lossy: Bytes,
    labels: Labels,
    q1: Threshold,
    dropping: Dropping,
    /// The end of the learning period, and when the state of idle flows is deleted.
    learns: Time,
    sweeps: Time,
    /// How far the lossy queue is behind its floor, in bytes on the link.
    owed: f64,
}

impl Isolation {
    fn new(class: Class, params: &Params) -> Self {
        Isolation {
            class,
            lossless: Bytes::ZERO,
            lossy: Bytes::ZERO,
            labels: params.labels(),
            q1: params.learner(),
            dropping: params.dropping(),
            learns: Time::ZERO + params.learn_every,
            sweeps: Time::ZERO + params.forget_after,
            owed: 0.0,
        }
    }

    /// Catches up with what has become due since the last call; the queues have not changed meanwhile.
    fn catch_up(&mut self, now: Time, params: &Params) {
        while self.learns <= now && self.q1.has_news() {
            self.dropping.adapt(self.learns, self.lossy, self.q1.at());
            self.q1.end_period();
            self.learns += params.learn_every;
        }
        if self.learns <= now {
            // These periods had no events except labels that proved correct.
            self.q1.end_period();
            self.learns = following(self.learns, params.learn_every, now);
        }
        self.dropping.adapt(now, self.lossy, self.q1.at());
        if self.sweeps <= now {
            self.labels.sweep(now);
            self.sweeps = following(self.sweeps, params.forget_after, now);
        }
    }

    /// Updates both queue lengths from the view of one queue.
    fn look(&mut self, q: &QueueView) {
        self.lossless = q.first;
        if q.sub == 1 {
            self.lossy = q.len;
        }
    }

    /// Ql + Qy.
    fn queued(&self) -> Bytes {
        self.lossless + self.lossy
    }

    /// A packet of a flow has left, marked or not; returns the change of its label.
    fn monitor(&mut self, now: Time, flow: FlowId, marked: bool, within: Span) -> Option<Change> {
        let queue: Ordering = self.queued().cmp(&self.q1.at());
        // Section 3.2: the monitoring module, by marks and the queue against Q1.
        let change = self.labels.pass(now, flow, marked, queue);
        match change {
            Some(Change::Labelled) => self.q1.labelled(),
            Some(Change::Released(since)) if now.since(since) <= within => self.q1.misjudged(),
            Some(Change::Released(_)) | None => {}
        }
        change
    }

    /// A packet of `wire` bytes starts: the lossy queue gets the share `floor` while it has something to
    /// send.
    fn owe(&mut self, sub: u8, wire: Bytes, floor: f64) {
        let wire = wire.0 as f64;
        self.owed = match sub {
            _ if self.lossy == Bytes::ZERO => 0.0,
            0 => self.owed + wire * floor,
            _ => (self.owed - wire * (1.0 - floor)).max(0.0),
        };
    }

    /// Whether it is the lossy queue's turn, whatever waits in the other queue.
    fn is_owed(&self, frame: Bytes, floor: f64) -> bool {
        let turn = frame.0 as f64 * (1.0 - floor);
        floor > 0.0 && self.lossy > Bytes::ZERO && self.owed >= turn
    }
}

/// The first instant after `now` that is a whole number of periods after `from`.
fn following(from: Time, period: Span, now: Time) -> Time {
    from + period * (now.since(from).0 / period.0 + 1)
}

impl Cp {
    fn isolation(&mut self, now: Time, class: Class) -> &mut Isolation {
        let place = self.classes.iter().position(|isolation| isolation.class == class);
        let place = place.unwrap_or_else(|| {
            self.classes.push(Isolation::new(class, &self.params));
            self.classes.len() - 1
        });
        let isolation = &mut self.classes[place];
        isolation.catch_up(now, &self.params);
        isolation
    }

    fn known(&self, class: Class) -> Option<&Isolation> {
        self.classes.iter().find(|isolation| isolation.class == class)
    }

    /// RED's marking decision.
    fn mark(&self, rng: &mut Rng, queued: Bytes) -> bool {
        let Params { kmin, kmax, pmax, .. } = self.params;
        if queued <= kmin {
            return false;
        }
        let ramp = || pmax * (queued - kmin).0 as f64 / (kmax - kmin).0 as f64;
        queued > kmax || uniform(rng) < ramp()
    }
}

/// Whether the packet is data of a flow; replies do not count against a flow.
fn is_data(p: &PacketView) -> bool {
    p.class != Class::CONTROL && !p.is_reply
}

impl CongestionPoint for Cp {
    fn demands(&self) -> Demands {
        Demands {
            claims: &[Claim::Classify, Claim::Admit, Claim::Gate],
            isolation: true,
            naming: self.params.forget_after,
            ..Demands::default()
        }
    }

    fn classify(&mut self, now: Time, p: &PacketView) -> QueueId {
        let is_congested = || {
            let labelled = self.known(p.class).is_some_and(|known| known.labels.is_congested(now, p.flow));
            labelled || self.params.inherit && p.isolated
        };
        // Section 3.2: the isolation module has a lossy queue for congested flows.
        QueueId { class: p.class, sub: u8::from(is_data(p) && is_congested()) }
    }

    fn admit(&mut self, now: Time, rng: &mut Rng, p: &PacketView, q: &QueueView) -> Option<DropReason> {
        if q.sub == 0 {
            return None;
        }
        let capacity = self.capacity;
        let isolation = self.isolation(now, p.class);
        if q.len + p.frame > capacity {
            return Some(DropReason::IsolatedFull);
        }
        let d = isolation.dropping.ratio();
        // Section 3.2: selective loss, by an adaptive ratio.
        let chosen = q.len > isolation.q1.at() && d > 0.0 && uniform(rng) < d;
        chosen.then_some(DropReason::Selective)
    }

    fn gate(&self, _now: Time, q: QueueId) -> Gate {
        let is_owed = |known: &Isolation| known.is_owed(self.frame, self.params.floor);
        // Section 3.2: the lossless queue has priority over the lossy one.
        if q.sub == 0 && self.known(q.class).is_some_and(is_owed) { Gate::Closed } else { Gate::Open }
    }

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        let isolation = self.isolation(cx.now, p.class);
        isolation.look(q);
        if is_data(p) {
            isolation.labels.saw(cx.now, p.flow);
        }
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        let Params { floor, misjudged_within, .. } = self.params;
        let isolation = self.isolation(cx.now, p.class);
        isolation.look(q);
        isolation.owe(q.sub, p.wire, floor);
        let queued = isolation.queued();
        if !is_data(p) || !p.ecn_capable {
            return Mark::None;
        }
        let marked = self.mark(cx.rng, queued);
        let change = self.isolation(cx.now, p.class).monitor(cx.now, p.flow, marked, misjudged_within);
        if change == Some(Change::Labelled) && self.params.waiting == Waiting::Moves {
            cx.push(CpAction::Resort(p.class));
        }
        if marked { Mark::Ce } else { Mark::None }
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        match event {
            PortEvent::PauseSent { class, .. } => self.isolation(cx.now, class).q1.paused(),
            PortEvent::Resorted { class, queues } => {
                let isolation = self.isolation(cx.now, class);
                if let &[lossless, lossy] = queues {
                    (isolation.lossless, isolation.lossy) = (lossless, lossy);
                }
            }
            // All waiting packets are removed, or all but those of the lossy queue, whose length the next
            // packet updates.
            PortEvent::Removed(p) => {
                let isolation = self.isolation(cx.now, p.class);
                (isolation.lossless, isolation.lossy, isolation.owed) = (Bytes::ZERO, Bytes::ZERO, 0.0);
            }
            _ => {}
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        // No other event shows that the last congested flow is gone.
        let congested = self.classes.iter().filter(|known| known.labels.are_any_congested());
        congested.map(|known| known.sweeps).min()
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        for isolation in &mut self.classes {
            isolation.catch_up(cx.now, &self.params);
        }
    }

    fn state(&self, _now: Time, class: Class) -> &'static str {
        let isolates = |known: &Isolation| known.labels.are_any_congested() || known.lossy > Bytes::ZERO;
        if self.known(class).is_some_and(isolates) { "isolating" } else { "lossless" }
    }

    fn signals(&self, _now: Time) -> Signals {
        let local = self.classes.iter().any(|known| known.labels.are_any_congested());
        Signals { local, ..Signals::default() }
    }

    fn is_harmful(&self, now: Time, flow: FlowId) -> bool {
        self.classes.iter().any(|known| known.labels.is_congested(now, flow))
    }
}

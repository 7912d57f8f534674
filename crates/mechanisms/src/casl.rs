//! CASL, congestion-aware semi-lossless transport: a port tells the flows that congest it from those that merely pass, lets the first wait
//! in a queue that may lose them, and so keeps pauses from the others (Hu, Li and Wang, "Congestion-Aware Semi-Lossless Transport in
//! Datacenter networks").
//!
//! ```text
//!                  ┌─ not congested ─►[ lossless: Ql ]── paused by PFC ──┬─ first ─►
//!  packet ─ label ─┤                                                     │           mark by Ql + Qy, m, label
//!                  └─ congested ── d ►[ lossy: Qy    ]── never paused ───┴─ then ──►
//! ```
//!
//! # What it does
//!
//! *Monitoring*: a packet that leaves is marked as by RED, with Ql + Qy that it leaves behind for the queue. Each flow has a moving average
//! of its marks, m ← (1 - a) m + a · mark. It is congested from the packet on with which m > `m_hi` and Ql + Qy > Q1, and no longer from
//! that on with which m < `m_lo` and Ql + Qy < Q1. Flows of which nothing came for `forget-after` are forgotten.
//!
//! *Isolation*: congested flows wait in a second queue of their class, behind the first, into which their packets move that wait already.
//! Nobody pauses it, and what waits there is charged to
//! no account of the switch's buffer: it has a capacity of its own, Ymax. A packet that would exceed that is dropped (`isolated_full`); where
//! the queue is longer than Q1, each is with probability d (`selective`). Every `adapt-every`, d grows by `drop-gain` · (Qy - Q1) / Q1,
//! between 0 and `drop-most`. While both queues have something to send, the second gets the share `floor`.
//!
//! *Learning*: every `learn-every`, Q1 is raised by a quarter, up to Kmax, where more than a tenth of the labels was taken back within
//! `misjudged-within`; else it is lowered by a fifth, down to Kmin, if the switch has sent a PAUSE.
//!
//! *Rate control* is the sender's: `rate-control.dcqcn = { losses-as-cnps = "50us" }` counts losses as CNPs, and
//! `reliability = "irn"` sends again what was dropped, and nothing else.
//!
//! A label holds at one port. So a packet that left a lossy queue comes, at the next switch, to an ingress that may have paused the
//! link it came by, or is about to: it was not asked for. While its ingress has nothing but headroom left, or is pausing, such a packet waits
//! in the lossy queue there, whatever its flow is at that port, and what waits of the flow moves there with it; where there is no such
//! queue it is dropped. Else it waits where its flow belongs. So flows that are congested nowhere lose nothing, and headroom holds
//! what it is made for. With `inherit` later ports take over the label.
//!
//! # Why
//!
//! Under PFC an incast pauses whole links, and flows that only share these with it wait; without PFC it loses packets of all. Here the
//! flows of the incast are told apart after a few marks, and no longer fill the accounts that pause. Before they are, it is
//! PFC that acts: a burst that is over within a round trip is not told from others, and a threshold that pauses before the queue
//! has reached Q1 pauses all. It marks packets itself (`red` beside it would mark them twice), and needs senders that take losses well.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | Ql, Qy | bytes in a class's lossless queue and in its lossy one |
//! | Kmin, Kmax, Pmax | `kmin`, `kmax`, `pmax` |
//! | a, m | `gain`; the moving average of a flow's marks |
//! | `m_hi`, `m_lo` | `label-above`, `release-below` |
//! | Q1 | `threshold`, or what was learnt |
//! | Ymax | `capacity` |
//! | d | ratio of packets that are dropped beyond Q1 |
//!
//! # Known differences
//!
//! - The paper outlines its modules without a formula: all rules and numbers above are floodway's, and each is a parameter.
//! - Where the paper speaks of strict priority, the lossy queue has a floor of 5 %, so that no flow stands still; `floor = 0` is strict.
//! - The paper's drop ratio follows "historical data"; here, by how much the queue has exceeded Q1.
//! - What waits of a flow that is labelled moves to the lossy queue with it, in its order, and leaves its account: nothing is reordered
//!   within a switch. With `waiting = "stays"` the flow stays, too, until it has no packet left in the lossless queue. In an incast
//!   it has none only when that queue has run dry, so that labels then change next to nothing. A flow that is no longer
//!   congested always goes back so.
//! - Replies that wait among data are never congested.
//! - A switch with a crossbar (`buffer = "ioq"`) has no lossy queues at its inputs, and is refused, as are flow controls that count on a
//!   pause to hold everything (all but `pfc`, `swing`, which hands PFC's pauses on, and `lossy`).
//!
//! # References
//!
//! - Hu, Li and Wang, "Congestion-Aware Semi-Lossless Transport in Datacenter networks", section 3.
//! - Floyd and Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on Networking 1(4), 1993.

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
    /// Kmin: longest Ql + Qy that marks nothing, in bytes; Q1 is learnt between it and `kmax`.
    /// Source: floodway's choice: half of what HPCC has at 50G, so that all of the ramp lies within the class's queue.
    pub kmin: Bytes,
    /// Kmax: beyond this Ql + Qy every packet is marked, in bytes above 0; at least `kmin`.
    /// Source: floodway's choice, as `kmin`.
    pub kmax: Bytes,
    /// Pmax: probability of a mark at `kmax`, from 0 to 1.
    /// Source: HPCC's simulations, `run.py`.
    pub pmax: f64,
    /// a: what a packet counts in its flow's average of marks, above 0, up to 1.
    /// Source: floodway's choice; the paper gives none.
    pub gain: f64,
    /// `m_hi`: marks above which a flow is congested, from 0 to 1.
    /// Source: floodway's choice: the probability of a mark at 250 KB, where Q1 starts.
    pub label_above: f64,
    /// `m_lo`: marks below which it is so no longer, from 0 to `label-above`.
    /// Source: floodway's choice: a fifth of `m_hi`.
    pub release_below: f64,
    /// A flow is forgotten so long after its last packet, above 0.
    /// Source: floodway's choice; the paper gives none.
    pub forget_after: Span,
    /// Q1: "auto" to learn it from (Kmin + Kmax) / 2 on, or the bytes above 0 at which it stays.
    /// Source: section 3.2, which learns it online.
    pub threshold: OrAuto<Bytes>,
    /// Period of learning, above 0.
    /// Source: floodway's choice; the paper gives none.
    pub learn_every: Span,
    /// A label that is taken back within this time was wrong; above 0.
    /// Source: floodway's choice; the paper gives none.
    pub misjudged_within: Span,
    /// More wrong labels than this share of a period's raise Q1, from 0 to 1.
    /// Source: floodway's choice; the paper gives none.
    pub misjudged_share: f64,
    /// By this factor, from 1 to 10.
    /// Source: floodway's choice; the paper gives none.
    pub raise: f64,
    /// Where the switch has sent a PAUSE, Q1 is lowered by this factor, above 0, up to 1.
    /// Source: floodway's choice; the paper gives none.
    pub lower: f64,
    /// Ymax: capacity of the lossy queue, in bytes; at least a frame. Default: 100 us of the port's rate, 1.25 MB at 100G.
    /// Source: section 4: queues of 200 us, of which the lossy one has half by floodway's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Period at which d is adapted, above 0.
    /// Source: floodway's choice; the paper gives none.
    pub adapt_every: Span,
    /// What d gains in a period by a lossy queue of twice Q1, from 0 to 1.
    /// Source: floodway's choice; the paper gives none.
    pub drop_gain: f64,
    /// The largest d, from 0 to 1; with 0 only a full queue drops.
    /// Source: floodway's choice; the paper gives none.
    pub drop_most: f64,
    /// Share of the port that the lossy queue has while both have something to send, from 0 to 0.5.
    /// Source: floodway's choice: no flow stands still; with 0 the lossless queue goes strictly first, as in section 3.2.
    pub floor: f64,
    /// What becomes of the packets that a flow has in the lossless queue when it is labelled.
    /// Source: floodway's choice; the paper does not say.
    pub waiting: Waiting,
    /// Whether a flow that comes from a lossy queue is congested here, too.
    /// Source: floodway's choice: labels hold at one port, where section 3.2 has them.
    pub inherit: bool,
}

/// What becomes of packets that wait in the lossless queue when their flow is labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CaslWaiting")]
pub enum Waiting {
    /// They move to the lossy queue at once, in their order, and those that it has no room for are dropped. Source: floodway's choice:
    /// the only way in which a label helps while its flow goes on sending.
    #[default]
    Moves,
    /// They stay, and so do those behind them: the flow changes its queue when it has none left in the lossless one. Source: the
    /// rule by which flows go from one class to another unsorted.
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
            drop_gain: 0.05,
            drop_most: 0.5,
            floor: 0.05,
            waiting: Waiting::Moves,
            inherit: false,
        }
    }
}

impl Params {
    fn check(&self) -> Result<(), ParamError> {
        if self.kmax == Bytes::ZERO {
            return Err(ParamError::new("kmax", "0B is no queue; write it like \"400KB\""));
        }
        if self.kmin > self.kmax {
            let message = format!("kmin = {} is above kmax = {}", self.kmin, self.kmax);
            return Err(ParamError::new("kmin", message));
        }
        if self.threshold == OrAuto::Given(Bytes::ZERO) {
            return Err(ParamError::new("threshold", "0B is no queue; write it like \"250KB\", or \"auto\""));
        }
        self.check_numbers()?;
        let spans = [
            ("forget-after", self.forget_after),
            ("learn-every", self.learn_every),
            ("misjudged-within", self.misjudged_within),
            ("adapt-every", self.adapt_every),
        ];
        match spans.into_iter().find(|(_, span)| *span == Span::ZERO) {
            Some((key, _)) => Err(ParamError::new(key, "0us is no time; write it like \"100us\"")),
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

    /// Q1 as it starts.
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

/// What a port knows of a class.
#[derive(Clone, Debug)]
struct Isolation {
    class: Class,
    /// Ql and Qy.
    lossless: Bytes,
    lossy: Bytes,
    labels: Labels,
    q1: Threshold,
    dropping: Dropping,
    /// When the period of learning ends, and when flows are forgotten that were not seen for long.
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

    /// Makes up for what was due by the clock since it was last called: meanwhile the queues were what they are.
    fn catch_up(&mut self, now: Time, params: &Params) {
        while self.learns <= now && self.q1.has_news() {
            self.dropping.adapt(self.learns, self.lossy, self.q1.at());
            self.q1.end_period();
            self.learns += params.learn_every;
        }
        if self.learns <= now {
            // These periods have brought nothing, but labels that have turned out well.
            self.q1.end_period();
            self.learns = following(self.learns, params.learn_every, now);
        }
        self.dropping.adapt(now, self.lossy, self.q1.at());
        if self.sweeps <= now {
            self.labels.sweep(now);
            self.sweeps = following(self.sweeps, params.forget_after, now);
        }
    }

    /// The queues, as seen with one of them.
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

    /// A packet of a flow has left, marked or not; what that changes.
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

    /// A packet of `wire` bytes starts: the lossy queue gets the share `floor` while it has something to send.
    fn owe(&mut self, sub: u8, wire: Bytes, floor: f64) {
        let wire = wire.0 as f64;
        self.owed = match sub {
            _ if self.lossy == Bytes::ZERO => 0.0,
            0 => self.owed + wire * floor,
            _ => (self.owed - wire * (1.0 - floor)).max(0.0),
        };
    }

    /// Is it the lossy queue's turn, whatever waits in the other?
    fn is_owed(&self, frame: Bytes, floor: f64) -> bool {
        let turn = frame.0 as f64 * (1.0 - floor);
        floor > 0.0 && self.lossy > Bytes::ZERO && self.owed >= turn
    }
}

/// The first of the instants `period` apart from `from` on that lies after `now`.
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

    /// RED's.
    fn mark(&self, rng: &mut Rng, queued: Bytes) -> bool {
        let Params { kmin, kmax, pmax, .. } = self.params;
        if queued <= kmin {
            return false;
        }
        let ramp = || pmax * (queued - kmin).0 as f64 / (kmax - kmin).0 as f64;
        queued > kmax || uniform(rng) < ramp()
    }
}

/// Flows send data; what answers it is no flow's fault.
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
            // All that waited goes, or all but the lossy queue, which is seen again with its next packet.
            PortEvent::Removed(p) => {
                let isolation = self.isolation(cx.now, p.class);
                (isolation.lossless, isolation.lossy, isolation.owed) = (Bytes::ZERO, Bytes::ZERO, 0.0);
            }
            _ => {}
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        // Nobody else would say that the last of them has gone.
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

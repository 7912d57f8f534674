//! CASL, congestion-aware semi-lossless transport: a port separates the flows that congest it from those that
//! only pass through it, puts the congested flows in a lossy queue, and so keeps pauses away from the other
//! flows (Hu, Li and Wang, "Congestion-Aware Semi-Lossless Transport in Datacenter networks").
//!
//! ```text
//!                  ┌─ not congested ─►[ lossless: Ql ]── paused by PFC ──┬─ first ─►
//!  packet ─ label ─┤                                                     │           mark by its queue, m, label
//!                  └─ congested ── d ►[ lossy: Qy    ]── never paused ───┴─ then ──►
//! ```
//!
//! # What it does
//!
//! *Monitoring*: a departing packet is marked as by RED, with what it leaves behind in its own queue, Ql or
//! Qy, as the queue length. Each flow has a moving average of its marks, m ← (1 - a) m + a · mark. With the
//! default of a a flow is congested after many marks only. It becomes congested at the packet with which
//! m > `m_hi` and its queue is longer than Q1, and stops being congested at the packet with which m < `m_lo`
//! and its queue is shorter than Q1. A flow's state is deleted when no packet has arrived for `forget-after`.
//!
//! *Learning*: Q1 is the moving average of Ql over the packets that have left it, by the same a, between Kmin
//! and Kmax: a queue is long if it is longer than usual.
//!
//! *Isolation*: congested flows wait in a second queue of their class, behind the first; while both have
//! something to send, it gets the share `floor`. Their packets that already wait move into it. This queue is
//! never paused, and its packets are charged to no account of the switch's buffer: it has a capacity of its
//! own, Ymax. A packet that would exceed that is dropped (`isolated_full`). Other packets are dropped with
//! probability d (`selective`), which grows with the moving average of Qy, from 0 at Q1 to `drop-most` at
//! Ymax.
//!
//! *Rate control* is the sender's: `rate-control.dcqcn = { losses-as-cnps = "50us" }` counts an increase of
//! the loss rate as a CNP, and `reliability = "irn"` retransmits only what was dropped.
//!
//! A label applies at one port. So a packet that left a lossy queue may arrive, at the next switch, at an
//! ingress that has paused its link or is about to, although the pause does not stop that queue. While this
//! ingress has only headroom left, or is pausing, such a packet waits in the lossy queue there, whatever the
//! label of its flow is at that port, and the waiting packets of the flow move there with it; where there is
//! no such queue the packet is dropped. Otherwise it waits in the queue that its flow's label selects. So
//! flows that are congested nowhere lose nothing, and headroom is used only as intended.
//!
//! # Why
//!
//! Under PFC an incast pauses whole links, and flows that only share these links wait too; without PFC the
//! incast causes losses to all flows. Here long flows that congest a port are identified by their marks, and
//! then no longer fill the accounts that trigger pauses. Until then PFC acts: flows of up to 20 packets are
//! never labelled, and somewhat longer ones seldom, so that a burst which ends within some packets per flow
//! is not separated from other traffic. CASL marks packets itself (`red` beside it would mark them twice),
//! and needs senders that tolerate losses.
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
//! | d | ratio of packets that are dropped deliberately |
//!
//! # Known differences
//!
//! - The paper describes its modules in words, without formulas and without numbers but those of section 4:
//!   each rule above is the simplest that we found for a sentence, and each number but Ymax is floodway's.
//! - The ratio of drops is to "avoid excessive packet loss", without a number. The default is 0: only a full
//!   queue drops. Ratios of up to 10 % make no difference beyond chance (`studies/casl/constants.toml`).
//! - The lossless queue has "higher" priority. With strict priority (`floor = 0`) some flows starve: the
//!   end of a flow is lost as a whole, and each timeout of IRN sends one packet of it again. A form of IRN
//!   that goes back at a timeout has no such flows.
//! - The switch "queues the packets of the flow to the lossy queue": we take that as all of them. Waiting
//!   packets of a flow that gets a label move in their order, and leave their account: nothing is reordered
//!   within a switch. A flow that is no longer congested goes back when it has no packet left in the lossy
//!   queue.
//! - Only a port's own marks count, not those that a packet brings along.
//! - With the defaults a flow loses its label only after some 2,360 unmarked packets in a row: with packets
//!   of 1 KB flows of less than 2.3 MB keep it, unless they are idle for `forget-after`.
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

mod labels;
#[cfg(test)]
mod tests;

use floodway_units::cast::whole;
use floodway_units::{Bytes, Class, FlowId, QueueId, Rng, Span, Time, uniform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    CongestionPoint, CpAction, Cx, Demands, Detection, Discipline, DropReason, Gate, Mark, OrAuto,
    PacketView, ParamError, PortEvent, PortInfo, QueueView, Queueing, SignalKind, Signals,
};
use labels::{Change, Labels};

// Section 4: the queue capacity is 200 us of bandwidth.
const CAPACITY: Span = Span::us(200);

/// Parameters of CASL.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Casl")]
pub struct Params {
    /// Kmin: the largest queue at which no packet is marked, in bytes; Q1 is learnt between it and `kmax`.
    /// Source: floodway's choice: a quarter of HPCC's value at 100G.
    pub kmin: Bytes,
    /// Kmax: the queue above which every packet is marked, in bytes above 0; at least `kmin`.
    /// Source: floodway's choice, as `kmin`.
    pub kmax: Bytes,
    /// Pmax: probability of a mark at `kmax`, from 0 to 1.
    /// Source: HPCC's simulations, `run.py`.
    pub pmax: f64,
    /// a: weight of one packet in the averages: of its flow's marks and of both queues' lengths; above 0, up
    /// to 1. Source: section 3.2: marks "continue to accumulate", "historical" patterns and data; the number
    /// is floodway's choice.
    pub gain: f64,
    /// `m_hi`: average of marks above which a flow is congested, from 0 to 1. With the default of `gain` it
    /// takes 21 marks. Source: section 3.2: "the ECN tags of a flow continue to accumulate"; the number is
    /// floodway's choice.
    pub label_above: f64,
    /// `m_lo`: average of marks below which a flow stops being congested, from 0 to `label-above`. With the
    /// defaults this takes some 2,360 unmarked packets in a row. Source: section 3.2: "if the ECN tag is
    /// less"; the number is floodway's choice.
    pub release_below: f64,
    /// Time after a flow's last packet at which its state is deleted, above 0.
    /// Source: floodway's choice; the paper gives none.
    pub forget_after: Span,
    /// Q1: "auto" to learn it, or a fixed number of bytes above 0.
    /// Source: section 3.2: it is learnt online from "historical traffic patterns".
    pub threshold: OrAuto<Bytes>,
    /// Ymax: capacity of the lossy queue, in bytes; at least a frame. Default: 200 us of the port's rate,
    /// 2.5 MB at 100G.
    /// Source: section 4: "the queue capacity is 200 us bandwidth capacity".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// The ratio d of packets that are dropped when the lossy queue's average is Ymax, from 0 to 1; with 0
    /// only a full queue drops. Source: section 3.2: the ratio adapts to "historical data", "to avoid
    /// excessive packet loss"; the number is floodway's choice.
    pub drop_most: f64,
    /// Share of the port's rate for the lossy queue while both queues have something to send, from 0 to 0.5.
    /// Source: floodway's choice: no flow starves; with 0 the lossless queue has strict priority. Section 3.2
    /// says that its priority is higher.
    pub floor: f64,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            kmin: Bytes::kb(100),
            kmax: Bytes::kb(400),
            pmax: 0.2,
            gain: 1.0 / 1024.0,
            label_above: 0.02,
            release_below: 0.002,
            forget_after: Span::ms(1),
            threshold: OrAuto::Auto,
            capacity: None,
            drop_most: 0.0,
            floor: 0.05,
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
        if self.forget_after == Span::ZERO {
            return Err(ParamError::new(
                "forget-after",
                "0us is not allowed; write a time above 0, like \"1ms\"",
            ));
        }
        self.check_numbers()
    }

    fn check_numbers(&self) -> Result<(), ParamError> {
        let numbers = [
            ("pmax", self.pmax, 0.0, 1.0),
            ("label-above", self.label_above, 0.0, 1.0),
            ("drop-most", self.drop_most, 0.0, 1.0),
            ("floor", self.floor, 0.0, 0.5),
        ];
        for (key, number, least, most) in numbers {
            if !(least..=most).contains(&number) {
                let message = format!("{number} is not a number from {least} to {most}");
                return Err(ParamError::new(key, message));
            }
        }
        if !(self.gain > 0.0 && self.gain <= 1.0) {
            return Err(ParamError::new("gain", format!("{} is not a number above 0, up to 1", self.gain)));
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

    fn labels(&self) -> Labels {
        let (above, below) = (self.label_above, self.release_below);
        Labels::new(labels::Law { gain: self.gain, above, below, forgets: self.forget_after })
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
    /// Qy.
    lossy: Bytes,
    labels: Labels,
    /// Averages of Ql and of Qy, in bytes.
    usual: [f64; 2],
    /// When the state of idle flows is deleted.
    sweeps: Time,
    /// How far the lossy queue is behind its floor, in bytes on the link.
    owed: f64,
}

impl Isolation {
    fn new(class: Class, params: &Params) -> Self {
        Isolation {
            class,
            lossy: Bytes::ZERO,
            labels: params.labels(),
            usual: [0.0; 2],
            sweeps: Time::ZERO + params.forget_after,
            owed: 0.0,
        }
    }

    /// Deletes the state of idle flows, where that is due.
    fn sweep(&mut self, now: Time, period: Span) {
        if self.sweeps <= now {
            self.labels.sweep(now);
            self.sweeps += period * (now.since(self.sweeps).0 / period.0 + 1);
        }
    }

    /// Q1.
    fn q1(&self, params: &Params) -> Bytes {
        // Section 3.2: Q1 is learnt online from the history of the traffic: the average of Ql.
        let learnt = || Bytes(whole(self.usual[0])).clamp(params.kmin, params.kmax).max(Bytes(1));
        params.threshold.or_else(learnt)
    }

    /// d.
    fn drop_ratio(&self, params: &Params, capacity: Bytes) -> f64 {
        let q1 = self.q1(params).0 as f64;
        let room = (capacity.0 as f64 - q1).max(1.0);
        // Section 3.2: the drop ratio adapts to historical data: the average of Qy beyond Q1.
        params.drop_most * ((self.usual[1] - q1) / room).clamp(0.0, 1.0)
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

impl Cp {
    fn isolation(&mut self, now: Time, class: Class) -> &mut Isolation {
        let place = self.classes.iter().position(|isolation| isolation.class == class);
        let place = place.unwrap_or_else(|| {
            self.classes.push(Isolation::new(class, &self.params));
            self.classes.len() - 1
        });
        let isolation = &mut self.classes[place];
        isolation.sweep(now, self.params.forget_after);
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
        Demands { naming: self.params.forget_after, ..Demands::default() }
    }

    is_discipline!();

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        let isolation = self.isolation(cx.now, p.class);
        if q.sub == 1 {
            isolation.lossy = q.len;
        }
        if is_data(p) {
            isolation.labels.saw(cx.now, p.flow);
        }
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        let params = self.params;
        let isolation = self.isolation(cx.now, p.class);
        if q.sub == 1 {
            isolation.lossy = q.len;
        }
        isolation.owe(q.sub, p.wire, params.floor);
        let usual = &mut isolation.usual[usize::from(q.sub == 1)];
        *usual += params.gain * (q.len.0 as f64 - *usual);
        if !is_data(p) || !p.ecn_capable {
            return Mark::None;
        }
        let marked = self.mark(cx.rng, q.len);
        let isolation = self.isolation(cx.now, p.class);
        // Section 3.2: the monitoring module, by the flow's marks and the length of the queue against Q1.
        let long = q.len.cmp(&isolation.q1(&params));
        if isolation.labels.pass(cx.now, p.flow, marked, long) == Some(Change::Labelled) {
            cx.push(CpAction::Resort(p.class));
        }
        if marked { Mark::Ce } else { Mark::None }
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        match event {
            PortEvent::Resorted { class, queues: &[_, lossy] } => {
                self.isolation(cx.now, class).lossy = lossy;
            }
            // All waiting packets are removed, or all but those of the lossy queue, whose length the next
            // packet updates.
            PortEvent::Removed(p) => {
                let isolation = self.isolation(cx.now, p.class);
                (isolation.lossy, isolation.owed) = (Bytes::ZERO, 0.0);
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
            isolation.sweep(cx.now, self.params.forget_after);
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

impl Discipline for Cp {
    fn queueing(&self) -> Queueing {
        Queueing::Isolating
    }

    fn classify(&mut self, now: Time, p: &PacketView) -> u8 {
        let is_congested = || self.known(p.class).is_some_and(|known| known.labels.is_congested(now, p.flow));
        // Section 3.2: the isolation module queues the packets of a congested flow to the lossy queue.
        u8::from(is_data(p) && is_congested())
    }

    fn admit(&mut self, now: Time, rng: &mut Rng, p: &PacketView, q: &QueueView) -> Option<DropReason> {
        if q.sub == 0 {
            return None;
        }
        let (params, capacity) = (self.params, self.capacity);
        let isolation = self.isolation(now, p.class);
        if q.len + p.frame > capacity {
            return Some(DropReason::IsolatedFull);
        }
        let d = isolation.drop_ratio(&params, capacity);
        // Section 3.2: selective packet loss: of congested flows, by an adaptive ratio.
        (d > 0.0 && uniform(rng) < d).then_some(DropReason::Selective)
    }

    fn gate(&self, _now: Time, q: QueueId) -> Gate {
        let is_owed = |known: &Isolation| known.is_owed(self.frame, self.params.floor);
        // Section 3.2: the priority of the lossless queue is higher than that of the lossy queue.
        if q.sub == 0 && self.known(q.class).is_some_and(is_owed) { Gate::Closed } else { Gate::Open }
    }
}

//! PACC's congestion point as a reconstruction: a controller of the queue decides once per period how many
//! CNPs the switch sends to the flows that fill the queue (after Zhong et al., INFOCOM 2022, as Mercury's
//! paper describes it). The constants and steps below are floodway's own, so results with it are those of a
//! reconstruction, not of PACC as published.
//!
//! # What it does
//!
//! It counts the bytes and packets of each flow that join a queue while it is longer than Qref. At the end of
//! each period:
//!
//! ```text
//! 1. control          p = p + a · (Q - Qref) / Qref + b · (Q - Qold) / Qref, held within 0 and 1
//! 2. amount           N = round(p · packets / m), at most Nmax
//! 3. discrimination   keep each flow f with bytes(f) >= theta · bytes
//! 4. allocation       n(f) = ceil(N · bytes(f) / bytes), at most one for each 4 us of the period
//! 5. clearing         the table is empty, Qold = Q
//! ```
//!
//! A flow with n(f) > 0 gets one CNP in the control class, whose `degree` is n(f); with `multi`, n(f) CNPs 4
//! us apart.
//!
//! # Why
//!
//! A CNP from the switch reaches the sender before the receiver could answer a mark. It goes to the flows
//! that fill the queue, not to randomly chosen packets. The sender is DCQCN's, unchanged:
//! `rate-control = "dcqcn"`. Senders are notified at most one period late. A queue that waits only for a
//! paused port counts as congested like any other: `mercury` and `tcd` solve that. Use it in place of `red`,
//! not together with it: where nothing marks packets, receivers send no CNPs.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | Tp | `period`; it runs from the first packet that waits at the port, for all its queues |
//! | a, b | `a`, `b` |
//! | Q, Qold | bytes of the queue now, and a period ago |
//! | Qref | `qref` |
//! | m, Nmax | `m`, `nmax` |
//! | theta | `theta` |
//! | packets, bytes | those that joined the queue in the period while Q > Qref, the packet itself counted in Q |
//!
//! # Known differences
//!
//! - Of the published algorithm only this is known here: the switch makes the CNPs, a proportional-integral
//!   controller on the queue decides how many, in proportion to the congested packets, a table of flows is
//!   processed each 80 us, and the sender is DCQCN's. All the rest is reconstructed: form and gains of the
//!   controller, m, Nmax, theta, Qref.
//! - Qref is known from no text. It decides whether PACC reduces completion times "in most scenarios
//!   compared to DCQCN", as Mercury's paper says, so that sentence decides it: it can hold with RoCC's 150
//!   KB at every rate, and not with the Kmin of the port. With the Kmin of HPCC's ECN (400 KB at 100 Gbit/s,
//!   1.6 MB at 400) switches pause their neighbours at PFC's 620 KB first: in Mercury's fat tree, Hadoop at
//!   80 %, flows that start within 0.3 ms take 34.3 us in the mean, with DCQCN 33.6; with a Qref of 50, 100
//!   or 200 KB they take 31.6, 31.6 or 32.6.
//! - DCQCN's sender does not read `degree`: one CNP per period cuts its rate once, however many CNPs it
//!   represents. Its cuts are at least 4 us apart, hence the bound of step 4.
//! - A table holds `most-flows` flows of a period. While it is full a new flow counts among packets and bytes
//!   and gets no CNP; n of theta counts the flows in the table.
//! - Replies that queue with data (`semantics.acks = "data-class"`) make the queue longer but are not
//!   counted.
//!
//! # References
//!
//! - Zhong et al., "PACC: Proactive and Accurate Congestion Feedback for RDMA Congestion Control", INFOCOM
//!   2022.
//! - He et al., "Accurate and fast congestion feedback in MEC-enabled RDMA datacenters", Journal of Cloud
//!   Computing, 2024 (what is known of it here).
//! - Taheri et al., "RoCC: Robust Congestion Control for RDMA", CoNEXT 2020 (the ratio of the gains).

#[cfg(test)]
mod clocks;
mod queue;
#[cfg(test)]
mod tests;

use floodway_units::{Bytes, Class, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    Cnp, CongestionPoint, CpAction, Cx, Demands, Detection, Mark, OrAuto, PacketView, ParamError, PortEvent,
    PortInfo, QueueView, SignalKind,
};
use queue::{Due, Queue};

/// The minimum time between two CNPs of a flow. Source: the minimum time between two cuts of DCQCN's sender.
const GAP: Span = Span::us(4);

/// Parameters of the reconstruction of PACC's congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Pacc")]
pub struct Params {
    /// Tp: the time between two evaluations of the table, from 4 us to 1 s.
    /// Source: Mercury's paper, which names it as PACC's default.
    pub period: Span,
    /// a: gain of the distance of the queue from `qref`, at least 0.
    /// Source: reconstruction; ratio of the gains as in Taheri et al., CoNEXT 2020.
    pub a: f64,
    /// b: gain of the growth of the queue, at least 0.
    /// Source: reconstruction; ratio of the gains as in Taheri et al., CoNEXT 2020.
    pub b: f64,
    /// Qref: the queue length that the controller aims at, above 0; packets that join a longer queue are
    /// congested.
    /// Source: reconstruction: RoCC's at 40 Gbit/s (Taheri et al., CoNEXT 2020), here at every rate, since
    /// with the port's Kmin PACC would not be better than DCQCN, as Mercury's paper has it.
    pub qref: Bytes,
    /// m: maximum number of congested packets per CNP, at least 1.
    /// Source: reconstruction.
    pub m: u32,
    /// Nmax: maximum number of CNPs of a queue in a period, before they are rounded up flow by flow; 1 at
    /// least.
    /// Source: reconstruction.
    pub nmax: u32,
    /// theta: the share of a period's bytes, from 0 to 1, below which a flow gets no CNP; `"auto"` for 1/(2n)
    /// with n flows.
    /// Source: reconstruction.
    pub theta: OrAuto<f64>,
    /// Whether a flow gets each of its CNPs, 4 us apart, instead of one that represents all.
    /// Source: floodway's choice: one; DCQCN's sender would cut again at each.
    pub multi: bool,
    /// Maximum number of flows of a period in the table of a queue, at least 1.
    /// Source: floodway's choice.
    pub most_flows: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            period: Span::us(80),
            a: 0.3,
            b: 1.5,
            qref: Bytes::kb(150),
            m: 16,
            nmax: 64,
            theta: OrAuto::Auto,
            multi: false,
            most_flows: 4096,
        }
    }
}

impl Params {
    fn check(&self) -> Result<(), ParamError> {
        let refuse = |key, message: String| Err(ParamError::new(key, message));
        let is_gain = |gain: f64| gain.is_finite() && gain >= 0.0;
        match *self {
            Params { period, .. } if !(GAP..=Span::ms(1000)).contains(&period) => refuse(
                "period",
                format!("{period} is not a time from {GAP}, the least between two CNPs of a flow, to 1s"),
            ),
            Params { a, .. } if !is_gain(a) => refuse("a", format!("{a} is not a gain of at least 0")),
            Params { b, .. } if !is_gain(b) => refuse("b", format!("{b} is not a gain of at least 0")),
            Params { qref: Bytes::ZERO, .. } => {
                refuse("qref", "0B is not allowed; write a size above 0, like \"100KB\"".into())
            }
            Params { m: 0, .. } => refuse("m", "0 is not allowed; the minimum is 1".into()),
            Params { nmax: 0, .. } => refuse("nmax", "with 0 no CNP is sent; the minimum is 1".into()),
            Params { theta: OrAuto::Given(share), .. } if !(0.0..=1.0).contains(&share) => {
                refuse("theta", format!("{share} is not a share from 0 to 1"))
            }
            Params { most_flows: 0, .. } => {
                refuse("most-flows", "a table of 0 flows sends no CNP; the minimum is 1".into())
            }
            _ => Ok(()),
        }
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, _port: &PortInfo) -> Result<Cp, ParamError> {
        self.check()?;
        let settings = Settings { params: *self, qref: self.qref, most_at_once: self.period.0 / GAP.0 };
        Ok(Cp {
            settings,
            origin: None,
            ends: Time::NEVER,
            queues: Vec::new(),
            due: Vec::new(),
            sends_at: Time::NEVER,
        })
    }

    fn states(&self) -> &'static [&'static str] {
        &["uncongested", "congested"]
    }

    fn signal_kinds(&self) -> &'static [SignalKind] {
        &[SignalKind::Cnps]
    }
}

/// The fixed values of a port's machine.
#[derive(Clone, Copy, Debug)]
struct Settings {
    params: Params,
    qref: Bytes,
    /// Maximum number of CNPs of a flow in a period.
    most_at_once: u64,
}

/// One per egress port.
#[derive(Clone, Debug)]
pub struct Cp {
    settings: Settings,
    /// When the first packet waited: periods end at whole multiples of the period after it.
    origin: Option<Time>,
    /// When the period ends; never, while its end would change nothing.
    ends: Time,
    /// One for each class seen so far, in that order.
    queues: Vec<Queue>,
    /// CNPs of the last period that are not sent yet.
    due: Vec<Due>,
    /// When the next of them are sent.
    sends_at: Time,
}

impl Cp {
    /// Index of the queue of a class.
    fn index(&mut self, class: Class) -> usize {
        self.queues.iter().position(|queue| queue.class == class).unwrap_or_else(|| {
            self.queues.push(Queue::new(class));
            self.queues.len() - 1
        })
    }

    /// Records the length of a queue; returns its index.
    fn has_length(&mut self, cx: &mut Cx<'_, CpAction>, q: &QueueView) -> usize {
        self.end_periods(cx);
        let at = self.index(q.class);
        self.queues[at].length = q.len;
        if self.ends == Time::NEVER && q.len > Bytes::ZERO {
            self.wake(cx.now);
        }
        at
    }

    /// Resumes the clock at its old phase. A period includes its beginning, not its end.
    fn wake(&mut self, now: Time) {
        let (origin, period) = (*self.origin.get_or_insert(now), self.settings.params.period);
        self.ends = origin + period * (now.since(origin).0 / period.0 + 1);
    }

    /// Steps 1 to 5 for a period that is over.
    fn end_periods(&mut self, cx: &mut Cx<'_, CpAction>) {
        while self.ends <= cx.now {
            self.due.clear();
            for queue in &mut self.queues {
                queue.end_period(&self.settings, &mut self.due);
            }
            let rests = self.queues.iter().all(Queue::is_idle);
            self.ends = if rests { Time::NEVER } else { self.ends + self.settings.params.period };
            self.send_cnps(cx);
        }
    }

    /// Sends each flow whose CNP is due one CNP: for all of them, or one of several.
    fn send_cnps(&mut self, cx: &mut Cx<'_, CpAction>) {
        let multi = self.settings.params.multi;
        for due in &mut self.due {
            let stands_for = if multi { 1 } else { due.cnps };
            due.cnps -= stands_for;
            let cnp = Cnp { degree: stands_for as f32, ..Cnp::of(due.flow, Mark::Ce) };
            cx.push(CpAction::ToSource(cnp));
        }
        self.due.retain(|due| due.cnps > 0);
        self.sends_at = if self.due.is_empty() { Time::NEVER } else { cx.now + GAP };
    }
}

impl CongestionPoint for Cp {
    /// It names flows until the end of the period in which a packet is counted, and of the next one, within
    /// which the last of its CNPs is sent.
    fn demands(&self) -> Demands {
        Demands { naming: self.settings.params.period * 2, ..Demands::default() }
    }

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if p.class != Class::CONTROL {
            let at = self.has_length(cx, q);
            if q.len > self.settings.qref && !p.is_reply {
                self.queues[at].count(p, self.settings.params.most_flows as usize);
            }
        }
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if p.class != Class::CONTROL {
            self.has_length(cx, q);
        }
        Mark::None
    }

    fn on_event(&mut self, _cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        let PortEvent::Removed(p) = event else { return };
        if let Some(queue) = self.queues.iter_mut().find(|queue| queue.class == p.class) {
            queue.length = queue.length.saturating_sub(p.frame);
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        Some(self.ends.min(self.sends_at)).filter(|at| *at < Time::NEVER)
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        if cx.now >= self.sends_at {
            self.send_cnps(cx);
        }
        self.end_periods(cx);
    }

    fn state(&self, _now: Time, class: Class) -> &'static str {
        let queue = self.queues.iter().find(|queue| queue.class == class);
        if queue.is_some_and(|queue| queue.length > self.settings.qref) { "congested" } else { "uncongested" }
    }
}

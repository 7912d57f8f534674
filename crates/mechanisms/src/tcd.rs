//! Ternary congestion detection: a port that its downstream pauses repeatedly reports undetermined
//! congestion, instead of blaming the packets that wait (Zhang et al., SIGCOMM 2021).
//!
//! # What it does
//!
//! A queue at the egress of a lossless network may mean three things: no congestion, congestion of this port,
//! or the backlog of pauses that come from elsewhere. A port is *undetermined* while it has been allowed to
//! send, since the last RESUME, for no longer than max(Ton), the longest time that it is on between repeated
//! pauses. Packets that leave it then get the mark UE. After that time the queue decides. Each departure of
//! data is evaluated for its class:
//!
//! | state, time on | q, the queue left behind, less `red.offset` | mark | next state |
//! |---|---|---|---|
//! | any, at most max(Ton) | | UE, unless it has CE | undetermined |
//! | undetermined, longer | at least that at the RESUME | CE by RED | congestion |
//! | | less | none | checking, from this time and q |
//! | checking | at most 2 packets | none | non-congestion |
//! | checking for less than max(Ton) | more | none | checking |
//! | checking for max(Ton) | below q at the start + 0.9 packet | none | checking, from this time and q |
//! | | more | CE by RED | congestion |
//! | congestion, non-congestion | marked by RED | CE | congestion |
//! | | not marked | none | non-congestion |
//!
//! A RESUME, or the end of an expired pause, stores the time and the queue length; it changes no state by
//! itself. A port that was resumed with an empty queue passes through congestion for one departure, mostly
//! without a mark.
//!
//! # Why
//!
//! `red` marks all waiting packets, so that victims of pauses are slowed as if they had caused them. With
//! `tcd` in its place (`congestion-point = "tcd"`) the receivers distinguish CE and UE (notification `tcd`,
//! the default there), and `dcqcn` cuts the rate for CE alone; with `ue = "hold"` it does not raise it for
//! UE. A port that was never paused costs and marks the same as `red`. It decides late, after max(Ton):
//! `mercury` decides sooner.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | max(Ton) | `max-ton` |
//! | Xoff - Xon | `gap` |
//! | ε | `eps`: the downstream drains no faster than C / (1 + ε) |
//! | τ | feedback time of the hop: twice the link's delay and the time of two largest frames |
//! | C | the port's rate |
//! | Kmin, Kmax, Pmax | `red` |
//!
//! # Sizing
//!
//! ```text
//! Ton      = (Xoff - Xon + r·τ) / (C - r) + τ          where the downstream drains at r < C
//! max(Ton) = (Xoff - Xon)·(1 + ε) / (C·ε) + τ·(1 + 1/ε)          at r = C / (1 + ε)
//! ```
//!
//! At 40 Gbit/s, 4 us, frames of 1030 B and a gap of 2060 B this is 97.06 us; the authors' configuration has
//! 97 us.
//!
//! The authors' burst experiment (`configburst.txt`) is `congestion-point.tcd = { red.preset =
//! "dcqcn-tcd-burst", max-ton = "97us" }` with `rate-control.dcqcn.preset = "tcd"`: marks from 5 KB to 200 KB
//! with 1 % at most, and an α that starts at 0.5. By default `red` has the thresholds of HPCC, and `dcqcn`
//! the NICs' machine.
//!
//! # Known differences
//!
//! - The formula of max(Ton) follows from the pattern of pauses; the authors' simulator is configured with a
//!   number (97 us, 40 us where none is configured).
//! - A port that was never resumed is determined. The authors' simulator starts as if a RESUME had arrived at
//!   time 0, so that all packets of its first max(Ton) have UE.
//! - A packet is the largest frame of the port; in the authors' simulator 1,030 bytes, and 1,000 for the 0.9
//!   of one, while its frames have 1,020. Its queues leave out their first 1,030 bytes (`red.offset`).
//! - That simulator compares times in whole microseconds, rounded down. Here they are exact.
//! - Where the check ends after max(Ton) with at most 2 packets, that simulator asks first whether the queue
//!   has grown by 0.9 packet, and goes to congestion then.
//! - Packets that cannot be marked (replies in a class of data) leave the state unchanged.
//! - The simulator writes UE as ECT(0) and leaves unmarked packets at 00; a capture here has unmarked packets
//!   as ECT(1), so that they are still ECN-capable.
//!
//! # References
//!
//! - Zhang, Liu, Meng and Ren, "Congestion Detection in Lossless Networks", SIGCOMM 2021.
//! - Its simulator, `Yi-ran/DCQCN-TCD`: `qbb-net-device.cc`, `config/configburst.txt`.

use floodway_units::cast::whole;
use floodway_units::{Bytes, Class, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::red;
use crate::slots::{
    CongestionPoint, CpAction, Cx, Detection, FastPath, Mark, OrAuto, PacketView, ParamError, PortEvent,
    PortInfo, QueueView, SignalKind,
};

/// A longer max(Ton) by the formula indicates a configuration error.
const LONGEST: Span = Span::ms(1000);

/// Parameters of ternary detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Tcd")]
pub struct Params {
    /// The rule by which a determined port marks CE, with the parameters of `red`; always at dequeue.
    /// Source: floodway's choice: as `red` alone, so that both mark by the same thresholds; the simulator's
    /// `configburst.txt` has the row `dcqcn-tcd-burst`.
    pub red: red::Params,
    /// max(Ton): a port that has been on for no longer since its last RESUME is undetermined. A time, from 0
    /// up, or `"auto"`: by the formula, for each port.
    /// Source: floodway's choice: the formula, which gives the 97 us of the simulator's `configburst.txt`
    /// there.
    pub max_ton: OrAuto<Span>,
    /// ε: the downstream is assumed to drain no faster than the port's rate over 1 + ε; above 0; for
    /// `max-ton = "auto"` alone, which gives a second at most. Default: 0.1.
    /// Source: floodway's choice: it gives the 97 us of the simulator's configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps: Option<f64>,
    /// Bytes between the downstream's thresholds of PAUSE and RESUME (Xoff - Xon), at least 0; for
    /// `max-ton = "auto"` alone. Default: 2 KB.
    /// Source: the simulator: two packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Bytes>,
}

impl Params {
    /// max(Ton) of a port: of an ON-OFF pattern whose downstream drains at C / (1 + ε).
    fn max_ton(&self, port: &PortInfo) -> Span {
        if let OrAuto::Given(span) = self.max_ton {
            return span;
        }
        let (eps, gap) = (self.eps.unwrap_or(0.1), self.gap.unwrap_or(Bytes::kb(2)));
        let tau = (port.delay + port.rate.time_to_send(port.wire)) * 2;
        let drained = gap.0 as f64 * 8e12 / port.rate.0 as f64;
        Span(whole((drained * (1.0 + eps) / eps + tau.0 as f64 * (1.0 + 1.0 / eps)).round()))
    }

    fn check(&self) -> Result<(), ParamError> {
        if self.red.at == red::At::Enqueue {
            return Err(ParamError::new(
                "red.at",
                "\"tcd\" marks at dequeue, where it knows the state of the port",
            ));
        }
        if let Some(eps) = self.eps.filter(|&eps| !(eps > 0.0 && eps.is_finite())) {
            return Err(ParamError::new("eps", format!("{eps} is not a number above 0, such as 0.1")));
        }
        let unused = |key| {
            ParamError::new(
                key,
                "it is part of the formula of max-ton = \"auto\", and max-ton is given: leave out one of the two",
            )
        };
        match (self.max_ton, self.eps, self.gap) {
            (OrAuto::Given(_), Some(_), _) => Err(unused("eps")),
            (OrAuto::Given(_), None, Some(_)) => Err(unused("gap")),
            _ => Ok(()),
        }
    }
}

impl Detection for Params {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        self.check()?;
        let max_ton = self.max_ton(port);
        if self.max_ton == OrAuto::Auto && max_ton > LONGEST {
            let message = format!(
                "the formula of max-ton gives more than {LONGEST}: choose a larger eps or a smaller gap"
            );
            return Err(ParamError::new(if self.gap.is_some() { "gap" } else { "eps" }, message));
        }
        let below = |error: ParamError| ParamError::new("red", format!("{}: {}", error.key, error.message));
        Ok(Cp {
            red: self.red.build(port).map_err(below)?,
            max_ton,
            offset: self.red.offset,
            packet: port.mtu,
            port_classes: Box::new([PortClass::default(); Class::COUNT]),
        })
    }

    fn states(&self) -> &'static [&'static str] {
        &["non-congestion", "congestion", "undetermined", "checking"]
    }

    fn signal_kinds(&self) -> &'static [SignalKind] {
        &[SignalKind::Marks, SignalKind::Undetermined]
    }

    fn fill_in(&mut self, port: &PortInfo) {
        self.red.fill_in(port);
        *self = Params { max_ton: OrAuto::Given(self.max_ton(port)), eps: None, gap: None, ..*self };
    }
}

/// One per egress port.
#[derive(Clone, Debug)]
pub struct Cp {
    red: red::Cp,
    max_ton: Span,
    /// Bytes of a queue that do not count.
    offset: Bytes,
    /// The largest frame.
    packet: Bytes,
    /// By class.
    port_classes: Box<[PortClass; Class::COUNT]>,
}

/// The state of a class.
#[derive(Clone, Copy, Debug, Default)]
struct PortClass {
    /// As the last departure left it.
    stage: Stage,
    /// The last RESUME; cleared once the port is determined and free of congestion.
    resumed: Option<Noted>,
}

/// A queue at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Noted {
    at: Time,
    len: Bytes,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    NonCongestion,
    Congestion,
    Undetermined,
    /// Whether the backlog of pauses drains.
    Checking(Noted),
}

impl PortClass {
    /// Does no departure from a short queue change anything here?
    fn is_fast_path(&self) -> bool {
        self.stage == Stage::NonCongestion && self.resumed.is_none()
    }

    /// Has it been on for no longer than `max_ton`?
    fn is_young(&self, now: Time, max_ton: Span) -> bool {
        self.resumed.is_some_and(|resumed| now.since(resumed.at) <= max_ton)
    }

    /// The state after a departure that leaves `left` behind, where a check of the queue is due; `None` where
    /// RED decides. It has been on for longer than `max_ton`.
    fn looks(&self, left: Noted, max_ton: Span, packet: Bytes) -> Option<Stage> {
        match self.stage {
            Stage::NonCongestion | Stage::Congestion => None,
            Stage::Undetermined => {
                let grows = self.resumed.is_none_or(|resumed| left.len >= resumed.len);
                (!grows).then_some(Stage::Checking(left))
            }
            Stage::Checking(_) if left.len <= packet + packet => Some(Stage::NonCongestion),
            Stage::Checking(from) if left.at.since(from.at) < max_ton => Some(self.stage),
            Stage::Checking(from) => {
                let grows =
                    u128::from(left.len.0) * 10 >= u128::from(from.len.0) * 10 + u128::from(packet.0) * 9;
                (!grows).then_some(Stage::Checking(left))
            }
        }
    }

    /// RED has decided about a packet; a queue left over from pauses that does not drain is congestion in
    /// either case.
    fn decides(&mut self, mark: Mark) {
        let after_pauses = matches!(self.stage, Stage::Undetermined | Stage::Checking(_));
        let congested = after_pauses || mark == Mark::Ce;
        self.stage = if congested { Stage::Congestion } else { Stage::NonCongestion };
    }
}

impl Cp {
    /// What counts of a queue now.
    fn noted(&self, now: Time, q: &QueueView) -> Noted {
        Noted { at: now, len: q.len.saturating_sub(self.offset) }
    }
}

impl CongestionPoint for Cp {
    fn fast_path(&self) -> Option<FastPath> {
        let unmarked = self.red.fast_path()?.leaving;
        let plain = self.port_classes.iter().all(PortClass::is_fast_path);
        plain.then_some(FastPath { joining: Bytes::MAX, leaving: unmarked })
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if !p.ecn_capable || p.class == Class::CONTROL {
            return Mark::None;
        }
        let left = self.noted(cx.now, q);
        let port_class = &mut self.port_classes[usize::from(p.class.0) % Class::COUNT];
        if port_class.is_young(cx.now, self.max_ton) {
            port_class.stage = Stage::Undetermined;
            return if p.mark == Mark::Ce { Mark::None } else { Mark::Ue };
        }
        let mark = if let Some(stage) = port_class.looks(left, self.max_ton, self.packet) {
            port_class.stage = stage;
            Mark::None
        } else {
            let mark = self.red.on_dequeue(cx, p, q);
            port_class.decides(mark);
            mark
        };
        if port_class.stage == Stage::NonCongestion {
            port_class.resumed = None;
        }
        mark
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        if let PortEvent::Resumed(q) = event {
            let resumed = Some(self.noted(cx.now, q));
            self.port_classes[usize::from(q.class.0) % Class::COUNT].resumed = resumed;
        }
    }

    /// A RESUME decides at once, before the next departure.
    fn state(&self, now: Time, class: Class) -> &'static str {
        let port_class = &self.port_classes[usize::from(class.0) % Class::COUNT];
        match port_class.stage {
            _ if port_class.is_young(now, self.max_ton) => "undetermined",
            Stage::NonCongestion => "non-congestion",
            Stage::Congestion => "congestion",
            Stage::Undetermined => "undetermined",
            Stage::Checking(_) => "checking",
        }
    }
}

#[cfg(test)]
mod tests;

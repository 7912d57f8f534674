//! The half at the downstream ingress of the long link: a relay's sends nothing, a switch's makes the pauses.

use floodway_units::{Bytes, Class, Quanta, Rate, Span, Time};

use crate::slots::{Cx, FcFrame, FcReceiver, IngressView, LinkInfo};

/// Receiver half: one per (ingress port, class).
#[derive(Clone, Debug)]
pub enum Receiver {
    /// A relay's remote port: the pauses that cross the link are copies of its switch's.
    Relayed,
    /// A switch that makes them itself.
    Swinging(Swinging),
}

/// A relay and a switch in one: the bytes that it holds count as waiting in the relay, or as forwarded to the
/// switch, which pauses and resumes by thresholds.
#[derive(Clone, Debug)]
pub struct Swinging {
    class: Class,
    /// Rate at which the relay would forward.
    rate: Rate,
    /// Forwarded bytes at which it pauses.
    xoff: u64,
    /// Forwarded bytes at which it resumes.
    xon: u64,
    /// From a pause to its refresh; none in on-off mode.
    refresh_after: Option<Span>,
    /// All bytes held.
    held: u64,
    /// Of these, the bytes that are forwarded.
    handed_on: u64,
    /// When they were counted.
    at: Time,
    paused: bool,
    refresh_at: Option<Time>,
}

impl Swinging {
    pub(super) fn new(xoff: Bytes, xon: Bytes, refresh_after: Option<Span>, link: &LinkInfo) -> Self {
        Swinging {
            class: link.class,
            rate: link.rate,
            xoff: xoff.0,
            xon: xon.0,
            refresh_after,
            held: 0,
            handed_on: 0,
            at: Time::ZERO,
            paused: false,
            refresh_at: None,
        }
    }

    /// Forwards the bytes that the time since the last count allows: none while the relay is paused.
    fn advance(&mut self, now: Time) {
        if !self.paused {
            let waiting = self.held - self.handed_on;
            // Time is counted in whole bytes, so that none is lost to rounding between two looks.
            let passed = self.rate.bytes_in(now.since(self.at)).0;
            if passed < waiting {
                self.handed_on += passed;
                self.at += self.rate.time_to_send(Bytes(passed));
                return;
            }
            self.handed_on = self.held;
        }
        self.at = now;
    }

    /// Departing bytes were forwarded before.
    fn follow(&mut self, now: Time, held: Bytes) {
        self.advance(now);
        let left = self.held.saturating_sub(held.0);
        self.handed_on = self.handed_on.saturating_sub(left).min(held.0);
        self.held = held.0;
    }

    fn decide(&mut self, cx: &mut Cx<'_, FcFrame>) {
        if self.paused && self.handed_on <= self.xon {
            self.paused = false;
            (self.refresh_at, self.at) = (None, cx.now);
            cx.push(FcFrame::Pause { class: self.class, quanta: Quanta(0) });
        } else if !self.paused && self.handed_on >= self.xoff {
            self.pause(cx);
        }
    }

    fn pause(&mut self, cx: &mut Cx<'_, FcFrame>) {
        self.paused = true;
        self.refresh_at = self.refresh_after.map(|after| cx.now + after);
        cx.push(FcFrame::Pause { class: self.class, quanta: Quanta::MAX });
    }

    /// When enough bytes will have been forwarded to pause, if none leave before.
    fn crossing(&self) -> Option<Time> {
        let missing = self.xoff.saturating_sub(self.handed_on);
        let ahead = !self.paused && self.held - self.handed_on >= missing;
        ahead.then(|| self.at + self.rate.time_to_send(Bytes(missing)))
    }
}

impl FcReceiver for Receiver {
    fn on_enqueue(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if let Receiver::Swinging(swinging) = self {
            swinging.follow(cx.now, q.queued);
            swinging.decide(cx);
        }
    }

    fn on_release(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if let Receiver::Swinging(swinging) = self {
            swinging.follow(cx.now, q.queued);
            swinging.decide(cx);
        }
    }

    fn awaits_release(&self) -> bool {
        matches!(self, Receiver::Swinging(swinging) if swinging.held > 0)
    }

    fn is_pausing(&self, _now: Time) -> bool {
        matches!(self, Receiver::Swinging(swinging) if swinging.paused)
    }

    fn next_timeout(&self) -> Option<Time> {
        match self {
            Receiver::Relayed => None,
            Receiver::Swinging(swinging) => swinging.refresh_at.or_else(|| swinging.crossing()),
        }
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        let Receiver::Swinging(swinging) = self else { return };
        swinging.follow(cx.now, q.queued);
        if swinging.refresh_at.is_some_and(|at| at <= cx.now) {
            swinging.pause(cx);
        }
        swinging.decide(cx);
    }

    /// The upstream starts unpaused; it is paused at once if the bytes held require it.
    fn on_link_reset(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        let Receiver::Swinging(swinging) = self else { return };
        swinging.follow(cx.now, q.queued);
        (swinging.paused, swinging.refresh_at) = (false, None);
        swinging.decide(cx);
    }
}

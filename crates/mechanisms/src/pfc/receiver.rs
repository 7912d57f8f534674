//! The half at the downstream ingress: decides when to pause and when to resume.

use floodway_units::{Bytes, Class, Quanta, Span, Time};

use super::{Params, Trigger, Xoff};
use crate::slots::{Cx, FcFrame, FcReceiver, IngressView, LinkInfo, ParamError};

/// Receiver half: one per (ingress port, class).
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The class that it pauses.
    class: Class,
    /// Fixed part of XOFF.
    fixed: Bytes,
    /// Share of the pool's free bytes that XOFF has on top.
    alpha: f64,
    /// XOFF is that of all bytes that the switch holds.
    of_switch: bool,
    /// How far below XOFF it resumes, and up to how many bytes in any case.
    resume_offset: Bytes,
    xon: Bytes,
    trigger: Trigger,
    pauses: Pauses,
    /// The upstream is paused.
    paused: bool,
    /// When the last PAUSE expires, where arrivals refresh it; else never.
    runs_out_at: Time,
    /// When the pause must be refreshed.
    refresh_at: Option<Time>,
}

/// The timing of a link's pauses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pauses {
    /// The quanta of each PAUSE.
    pub quanta: Quanta,
    /// From a PAUSE to its refresh, where a timer refreshes it.
    pub refresh_after: Option<Span>,
    /// How long a PAUSE lasts, where arrivals refresh it.
    pub run_out: Option<Span>,
}

impl Receiver {
    pub(super) fn new(params: &Params, pauses: Pauses, link: &LinkInfo) -> Result<Self, ParamError> {
        let (fixed, alpha) = params.threshold(link)?;
        Ok(Receiver {
            class: link.class,
            fixed,
            alpha,
            of_switch: matches!(params.xoff(link), Xoff::Total(_)),
            resume_offset: params.resume_offset(link),
            xon: params.xon.unwrap_or_default(),
            trigger: params.trigger,
            pauses,
            paused: false,
            runs_out_at: Time::NEVER,
            refresh_at: None,
        })
    }

    fn pause(&mut self, cx: &mut Cx<'_, FcFrame>) {
        self.paused = true;
        self.refresh_at = self.pauses.refresh_after.map(|after| cx.now + after);
        self.runs_out_at = self.pauses.run_out.map_or(Time::NEVER, |lasts| cx.now + lasts);
        // IEEE 802.1Qbb, Clause 36.2: the initiator asks the peer to pause one priority.
        cx.push(FcFrame::Pause { class: self.class, quanta: self.pauses.quanta });
    }

    fn resume(&mut self, cx: &mut Cx<'_, FcFrame>) {
        self.paused = false;
        self.refresh_at = None;
        // IEEE 802.3, Annex 31D: a time of 0 ends the pause.
        cx.push(FcFrame::Pause { class: self.class, quanta: Quanta(0) });
    }

    /// The bytes that XOFF is a threshold of.
    fn counted(&self, q: &IngressView) -> Bytes {
        if self.of_switch { q.total } else { q.shared }
    }

    fn must_pause(&self, q: &IngressView) -> bool {
        let crossed = || self.counted(q) >= self.threshold(q.pool_free);
        self.trigger == Trigger::Threshold && crossed() || q.headroom > Bytes::ZERO
    }

    /// A queue that has released its shared bytes down to `xon`, or all of them, resumes, whatever the
    /// threshold is by then.
    fn may_resume(&self, q: &IngressView) -> bool {
        let below = || self.counted(q).saturating_add(self.resume_offset) <= self.threshold(q.pool_free);
        q.headroom == Bytes::ZERO && (q.shared <= self.xon || below())
    }

    /// A pause that has expired needs no RESUME.
    fn run_out(&mut self, now: Time) {
        self.paused &= now < self.runs_out_at;
    }

    /// Where arrivals refresh pauses: each sends one, or the RESUME if other ports have freed enough space
    /// meanwhile.
    fn renew(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        self.run_out(cx.now);
        if self.must_pause(q) {
            self.pause(cx);
        } else if self.paused && self.may_resume(q) {
            self.resume(cx);
        }
    }
}

impl FcReceiver for Receiver {
    #[inline]
    fn on_enqueue(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if self.pauses.run_out.is_some() {
            self.renew(cx, q);
        } else if !self.paused && self.must_pause(q) {
            self.pause(cx);
        }
    }

    #[inline]
    fn on_release(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        self.run_out(cx.now);
        if self.paused && self.may_resume(q) {
            self.resume(cx);
        }
    }

    #[inline]
    fn awaits_release(&self) -> bool {
        self.paused
    }

    fn is_pausing(&self, now: Time) -> bool {
        self.paused && now < self.runs_out_at
    }

    #[inline]
    fn threshold(&self, pool_free: Bytes) -> Bytes {
        if self.alpha == 0.0 {
            return self.fixed;
        }
        self.fixed.saturating_add(pool_free.scale(self.alpha))
    }

    fn fast_path_below(&self, pool_free: Bytes) -> Bytes {
        // Packets of other ports may make any arrival here the one that pauses.
        if self.of_switch { Bytes::ZERO } else { self.threshold(pool_free) }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.refresh_at
    }

    /// The pause must last: only a release ends it.
    fn on_timeout(&mut self, cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {
        if self.refresh_at.is_some_and(|at| at <= cx.now) {
            self.pause(cx);
        }
    }

    /// The upstream starts unpaused; it is paused at once if the bytes held here require it.
    fn on_link_reset(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        self.paused = false;
        self.refresh_at = None;
        self.on_enqueue(cx, q);
    }
}

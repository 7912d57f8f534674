//! The half at the downstream ingress: computes a time slot's grant at the end of each slot.

use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, Quanta, Rate, Span, Time};

use super::incoming::Incoming;
use super::{Params, Pauses, TimeSlots};
use crate::slots::{Cx, FcFrame, FcReceiver, IngressView, LinkInfo};

/// Receiver half: one per (ingress port, class).
///
/// Time slots are counted from the start of the run. While every grant is a whole time slot's and the queue
/// is short enough for the next one to be whole as well, nothing changes and no frame is sent: the receiver
/// then sleeps. It wakes at the end of the time slot after a packet that makes the queue longer than that.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The class that it pauses.
    class: Class,
    /// T.
    time_slot: Span,
    /// H.
    level: Bytes,
    pauses: Pauses,
    /// F.
    incoming: Incoming,
    /// Frame bytes received when the last time slot ended.
    received: Bytes,
    /// The first time slot's end that has been neither processed nor slept through.
    time_slot_ends: Time,
    is_awake: bool,
    /// Whether the last frame pauses beyond its time slot's end.
    reaches_over: bool,
    /// When the pause of the last frame would end if it began with the frame.
    pause_ends: Time,
    /// Rate of the link, which defines the length of quanta.
    rate: Rate,
}

impl Receiver {
    pub(super) fn new(
        params: &Params,
        time_slots: TimeSlots,
        pauses: Pauses,
        level: Bytes,
        link: &LinkInfo,
    ) -> Self {
        let incoming = Incoming::new(params.f_mode, time_slots);
        Receiver {
            class: link.class,
            time_slot: params.slot,
            level,
            pauses,
            is_awake: !incoming.is_steady(),
            incoming,
            received: Bytes::ZERO,
            time_slot_ends: Time::ZERO + params.slot,
            reaches_over: false,
            pause_ends: Time::ZERO,
            rate: link.rate,
        }
    }

    /// F: virtual incoming bytes, those that earlier grants still allow to arrive, in wire bytes, as of the
    /// last time slot's end.
    pub fn incoming(&self) -> Bytes {
        Bytes(self.incoming.bytes())
    }

    /// The grant of a time slot while packets are held that took so many bytes on the wire.
    fn grant(&self, held: Bytes) -> u64 {
        // Algorithm 1, line 9: Bifrost_update.
        // Algorithm 1, line 10: c = min(Rs · T, H - L - F), at least 0.
        // Algorithm 1, lines 11 to 13: nothing is left to deduct, since that is 0 while L + F > H.
        let room = self.level.saturating_sub(held).saturating_sub(self.incoming());
        self.pauses.whole_grant(room.0)
    }

    /// Whether the next time slot's grant would be whole, with no frame to send and no state to change.
    fn may_sleep(&self, held: Bytes) -> bool {
        self.incoming.is_steady() && !self.reaches_over && self.grant(held) == self.pauses.full
    }

    /// Catches up with the time slots that ended before `now` while the receiver slept; all were alike.
    fn wake(&mut self, now: Time) {
        let time_slots = now.since(self.time_slot_ends).0.div_ceil(self.time_slot.0);
        self.time_slot_ends += self.time_slot * time_slots;
        self.is_awake = true;
    }

    /// Pauses the upstream for what the grant leaves of the time slot, or ends a pause that reaches into it.
    fn send(&mut self, cx: &mut Cx<'_, FcFrame>, grant: u64) {
        // Algorithm 1, line 7: no frame for a slot without a pause.
        if grant == self.pauses.full && !self.reaches_over {
            return;
        }
        // Algorithm 1, line 16: the pause that results.
        let quanta = self.pauses.quanta(grant);
        self.reaches_over = self.pauses.reaches_over(quanta);
        let quanta = Quanta(narrow(quanta));
        self.pause_ends = cx.now + quanta.span(self.rate);
        // Algorithm 1, line 8: the frame is sent.
        cx.push(FcFrame::Pause { class: self.class, quanta });
    }
}

impl FcReceiver for Receiver {
    /// H: the target of bytes held plus virtual incoming bytes.
    fn level(&self) -> Option<Bytes> {
        Some(self.level)
    }

    #[inline]
    fn on_enqueue(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if !self.is_awake && self.grant(q.wire) < self.pauses.full {
            self.wake(cx.now);
        }
    }

    fn on_release(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

    fn is_pausing(&self, now: Time) -> bool {
        now < self.pause_ends
    }

    fn next_timeout(&self) -> Option<Time> {
        self.is_awake.then_some(self.time_slot_ends)
    }

    /// A time slot has ended.
    fn on_timeout(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        // Algorithm 1, line 2: once in each slot.
        // Algorithm 1, line 5: slots need no number, since every one is checked.
        if !self.is_awake || cx.now < self.time_slot_ends {
            return;
        }
        // Algorithm 1, line 4: r, the bytes of the slot; section V: as the MAC counts them, in frame bytes.
        let received = q.received_frames.saturating_sub(self.received);
        self.received = q.received_frames;
        // Algorithm 1, line 3: L, the queue now.
        // Algorithm 1, line 6: the update of the slot.
        let grant = self.grant(q.wire);
        self.incoming.advance(received.0, grant);
        self.send(cx, grant);
        self.time_slot_ends += self.time_slot;
        self.is_awake = !self.may_sleep(q.wire);
    }

    /// The upstream starts open, and its first pause is one round trip away.
    fn on_link_reset(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        self.wake(cx.now);
        self.incoming.reset();
        self.received = q.received_frames;
        self.reaches_over = false;
        self.is_awake = !self.may_sleep(q.wire);
    }
}

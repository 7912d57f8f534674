//! The half at the downstream ingress: advertises the credit limit.

use floodway_units::{Bytes, Class, Span, Time};

use super::count::Count;
use super::{Mode, Params};
use crate::slots::{Cx, FcFrame, FcReceiver, IngressView, LinkInfo, WorstFrame};

/// Receiver half: one per (ingress port, class).
///
/// Messages are due at multiples of the period. While nothing is held and the last limit is still correct,
/// the receiver sleeps; where a message may be lost it never sleeps.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The class that it grants credit to.
    class: Class,
    count: Count,
    /// The buffer.
    size: Bytes,
    /// What may be sent on the wire for what is free.
    worst: WorstFrame,
    period: Span,
    /// Whether a message may be lost, so that one is sent each period.
    repeat: bool,
    /// Growth of the limit that is advertised at once.
    on_change: Option<u64>,
    /// ABR: arrived, or lost on the link, since the link came up.
    arrived: u64,
    /// Wire bytes received at the last check.
    received: Bytes,
    /// FCCL of the last message.
    advertised: u64,
    /// The next check; never while it sleeps.
    next: Time,
    /// Where it reports what was freed, and not what is free.
    freed: Option<Box<Freed>>,
}

/// What the receiver half of Ultra Ethernet's form counts beside arrivals.
#[derive(Clone, Copy, Debug)]
struct Freed {
    /// `R_CF`: credits of the packets that have left, or were lost on the link.
    count: u64,
    /// `S_CL`: the credits of the buffer.
    size: u64,
    /// Bytes held at the last call: on the wire where the buffer counts cells, else without overhead.
    held: Bytes,
    /// Bytes of a packet on the wire that `held` does not count.
    overhead: Bytes,
    /// `CF_min`: two updates are no closer than this.
    spacing: Span,
    /// When the last update was sent.
    last: Time,
}

/// The first multiple of `period` after `now`.
pub(super) fn following(now: Time, period: Span) -> Time {
    Time((now.0 / period.0 + 1).saturating_mul(period.0))
}

impl Receiver {
    pub(super) fn new(params: &Params, link: &LinkInfo) -> Self {
        let (count, period) = (params.count(), params.period_on(link));
        Receiver {
            class: link.class,
            count,
            size: link.buffer,
            worst: link.worst_frame(),
            period,
            repeat: link.has_errors,
            on_change: params.on_change.map(|delta| count.of(delta)),
            arrived: 0,
            received: Bytes::ZERO,
            advertised: count.grant(link.worst_frame().wire_within(link.buffer)),
            next: if link.has_errors { Time::ZERO + period } else { Time::NEVER },
            freed: (params.mode == Mode::Uec).then(|| {
                Box::new(Freed {
                    count: 0,
                    size: count.grant(link.worst_frame().wire_within(link.buffer)),
                    held: Bytes::ZERO,
                    overhead: if link.has_cells() { Bytes::ZERO } else { link.overhead },
                    spacing: params.spacing_on(link),
                    last: Time::ZERO,
                })
            }),
        }
    }

    /// Ultra Ethernet's form: counts what has arrived since the last call, and what has left.
    fn count_freed(&mut self, q: &IngressView, is_refused: bool) {
        let (count, Some(freed)) = (self.count, &mut self.freed) else { return };
        let new = q.received.saturating_sub(self.received);
        self.received = q.received;
        self.arrived = count.add(self.arrived, count.of(new));
        let left = if is_refused { new } else { freed.held.saturating_sub(q.wire) + freed.overhead };
        if is_refused || q.wire < freed.held {
            // UEC, Section 5.2: R_CF counts the credits of each packet that leaves.
            freed.count = count.add(freed.count, count.of(left));
        }
        freed.held = q.wire;
    }

    /// Ultra Ethernet's form: sends an update if what was freed has changed, not closer than `spacing` to the
    /// last one; where one may be lost, each period.
    fn update(&mut self, cx: &mut Cx<'_, FcFrame>) {
        let Some(freed) = self.freed.as_deref().copied() else { return };
        let limit = self.count.add(freed.count, freed.size);
        let since = cx.now.since(freed.last);
        let is_due = if limit == self.advertised {
            self.repeat && since >= self.period
        } else {
            since >= freed.spacing || freed.last == Time::ZERO
        };
        if is_due {
            self.send(cx, limit);
        }
        let last = self.freed.as_ref().map_or(Time::ZERO, |freed| freed.last);
        self.next = match limit == self.advertised {
            false => last + freed.spacing,
            true if self.repeat => last + self.period,
            true => Time::NEVER,
        };
    }

    /// Counts what has arrived since the last check, and wakes.
    fn look(&mut self, now: Time, q: &IngressView) {
        let new = q.received.saturating_sub(self.received);
        self.received = q.received;
        // Section 7.9: ABR counts the blocks of each packet that arrives.
        self.arrived = self.count.add(self.arrived, self.count.of(new));
        if self.next == Time::NEVER {
            self.next = following(now, self.period);
        }
    }

    /// FCCL = ABR + min(free, 2048).
    fn limit(&self, q: &IngressView) -> u64 {
        // Section 7.9: FCCL = ABR + the smaller of what is free and 2048 blocks.
        self.count
            .add(self.arrived, self.count.grant(self.worst.wire_within(self.size.saturating_sub(q.queued))))
    }

    fn send(&mut self, cx: &mut Cx<'_, FcFrame>, limit: u64) {
        self.advertised = limit;
        let class = self.class;
        cx.push(match &mut self.freed {
            Some(freed) => {
                freed.last = cx.now;
                // UEC, Section 5.2: an update is a control ordered set.
                FcFrame::CreditSet { class, limit }
            }
            None => FcFrame::Credit { class, limit },
        });
    }

    fn say_if_grown(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        let limit = self.limit(q);
        if self.on_change.is_some_and(|delta| self.count.ahead(limit, self.advertised) >= delta) {
            self.send(cx, limit);
        }
    }
}

impl FcReceiver for Receiver {
    #[inline]
    fn on_enqueue(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if self.freed.is_some() {
            self.count_freed(q, false);
            return self.update(cx);
        }
        self.look(cx.now, q);
        if self.on_change.is_some() {
            self.say_if_grown(cx, q);
        }
    }

    fn on_release(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        self.on_enqueue(cx, q);
    }

    fn on_refused(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if self.freed.is_some() {
            self.count_freed(q, true);
            return self.update(cx);
        }
        self.on_enqueue(cx, q);
    }

    fn awaits_release(&self) -> bool {
        self.on_change.is_some() || self.freed.is_some()
    }

    /// Missing credit is not a pause that would have to be ended.
    fn is_pausing(&self, _now: Time) -> bool {
        false
    }

    /// The link keeps order: what was sent before the report has arrived or is lost.
    fn on_frame(&mut self, cx: &mut Cx<'_, FcFrame>, frame: FcFrame, q: &IngressView) {
        if let (FcFrame::Sent { total, .. }, Some(freed)) = (frame, &mut self.freed) {
            // UEC, Section 5.2: credits of frames that were lost on the link are free.
            freed.count = self.count.add(freed.count, self.count.ahead(total, self.arrived));
            self.arrived = total;
            return self.update(cx);
        }
        if let FcFrame::Sent { total, .. } = frame {
            self.look(cx.now, q);
            // Section 7.9: ABR takes the FCTBS of a flow-control packet.
            self.arrived = total;
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        (self.next != Time::NEVER).then_some(self.next)
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if cx.now < self.next {
            return;
        }
        if self.freed.is_some() {
            return self.update(cx);
        }
        self.look(cx.now, q);
        let limit = self.limit(q);
        if self.repeat || limit != self.advertised {
            self.send(cx, limit);
        }
        let stays = self.repeat || q.queued > Bytes::ZERO;
        self.next = if stays { following(cx.now, self.period) } else { Time::NEVER };
    }

    /// Counting restarts with the bytes that are still held.
    fn on_link_reset(&mut self, cx: &mut Cx<'_, FcFrame>, q: &IngressView) {
        if let Some(freed) = &mut self.freed {
            // What is held has arrived before the start, and is free when it leaves.
            freed.count = self.count.add(0, freed.count.wrapping_sub(self.arrived));
            let limit = self.count.add(freed.count, freed.size);
            self.arrived = 0;
            self.send(cx, limit);
            return self.update(cx);
        }
        self.look(cx.now, q);
        self.arrived = 0;
        let limit = self.limit(q);
        self.send(cx, limit);
    }
}

//! The half at the upstream egress: sends within the limit, and reports what it has sent.

use floodway_units::{Bytes, Class, Span, Time};

use super::count::Count;
use super::receiver::following;
use super::{Mode, Params};
use crate::slots::{Cx, FcFrame, FcSender, Gate, LinkInfo};

/// Sender half: one per (egress port, class).
#[derive(Clone, Debug)]
pub struct Sender {
    /// The class that waits for credit.
    class: Class,
    count: Count,
    /// FCTBS: sent since the link came up.
    sent: u64,
    /// FCCL as last received; `None` towards a host.
    limit: Option<u64>,
    /// Whether a faulty port has paused it.
    is_stopped: bool,
    reports: Option<Reports>,
}

/// Periodic reports of the sender's count.
#[derive(Clone, Copy, Debug)]
struct Reports {
    period: Span,
    /// Whether a report may be lost, so that one is sent each period.
    repeat: bool,
    /// FCTBS of the last report.
    reported: u64,
    /// When the next one is due; never while there is nothing to report.
    next: Time,
}

impl Reports {
    /// `None` where no loss is possible that a report would correct, except for InfiniBand's periodic
    /// reports.
    fn new(params: &Params, link: &LinkInfo) -> Option<Self> {
        let period = params.report_period(link);
        let next = if link.has_errors { Time::ZERO + period } else { Time::NEVER };
        let wanted = link.has_errors || params.mode == Mode::Infiniband;
        wanted.then_some(Reports { period, repeat: link.has_errors, reported: 0, next })
    }
}

impl Sender {
    pub(super) fn new(params: &Params, link: &LinkInfo) -> Self {
        let count = params.count();
        Sender {
            class: link.class,
            count,
            sent: 0,
            limit: (!link.to_host).then(|| count.grant(link.worst_frame().wire_within(link.buffer))),
            is_stopped: false,
            reports: Reports::new(params, link).filter(|_| !link.to_host),
        }
    }
}

impl FcSender for Sender {
    /// Frames of the link keep their order, so the newest limit is the largest.
    fn on_frame(&mut self, _cx: &mut Cx<'_, FcFrame>, frame: FcFrame) {
        match frame {
            // Section 7.9: FCCL of a flow-control packet is the new limit.
            FcFrame::Credit { limit, .. } | FcFrame::CreditSet { limit, .. } if self.limit.is_some() => {
                self.limit = Some(limit);
            }
            FcFrame::Pause { quanta, .. } => self.is_stopped = quanta.0 > 0,
            FcFrame::Credit { .. } | FcFrame::CreditSet { .. } | FcFrame::Sent { .. } => {}
        }
    }

    fn counts_sent(&self) -> bool {
        self.limit.is_some()
    }

    #[inline]
    fn on_sent(&mut self, cx: &mut Cx<'_, FcFrame>, wire: Bytes) {
        // Section 7.9: FCTBS counts the blocks of each packet that is sent.
        self.sent = self.count.add(self.sent, self.count.of(wire));
        if let Some(reports) = self.reports.as_mut().filter(|reports| reports.next == Time::NEVER) {
            reports.next = following(cx.now, reports.period);
        }
    }

    #[inline]
    fn gate(&self, _now: Time, next: Bytes) -> Gate {
        let has_credit =
            self.limit.is_none_or(|limit| self.count.allows(limit, self.sent, self.count.of(next)));
        if has_credit && !self.is_stopped { Gate::Open } else { Gate::Closed }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.reports.map(|reports| reports.next).filter(|next| *next != Time::NEVER)
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, FcFrame>) {
        let Some(reports) = self.reports.as_mut().filter(|reports| reports.next <= cx.now) else { return };
        if reports.repeat || reports.reported != self.sent {
            reports.reported = self.sent;
            // Section 7.9: a flow-control packet reports FCTBS.
            cx.push(FcFrame::Sent { class: self.class, total: self.sent });
        }
        reports.next = if reports.repeat { following(cx.now, reports.period) } else { Time::NEVER };
    }

    /// What the other end still holds is not known here; it reports that at once.
    fn on_link_reset(&mut self, _cx: &mut Cx<'_, FcFrame>) {
        self.sent = 0;
        self.limit = self.limit.map(|_| 0);
        self.is_stopped = false;
        if let Some(reports) = &mut self.reports {
            reports.reported = 0;
        }
    }
}

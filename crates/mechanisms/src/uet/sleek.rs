//! SLEEK: losses without cut packets, found by the number of packets that arrived behind them, and by probes
//! where nothing is heard.

use std::ops::Range;

use floodway_units::{Bytes, Rate, Span, Time};

use super::{Form, largest_window, network_rtt, target_delay};
use crate::slots::{QpInfo, Query, Report, Sample};

/// `uec.cpp`: round trips of silence after which a probe is sent, and after which another one is.
const FIRST_PROBE: u64 = 3;
const NEXT_PROBE: u64 = 5;
/// `uec.cpp`: packets behind a missing one at which it counts as lost, at least.
const LEAST_BEHIND: u64 = 5;

/// The state of one sender.
#[derive(Clone, Debug)]
pub(super) struct Sleek {
    rate: Rate,
    mss: u64,
    mtu: u64,
    base_rtt: Span,
    /// Delay from which on a probe waited for data that is still to come.
    target: Span,
    probe: Probe,
    /// What is missing is sent again, until everything before this number has arrived.
    recovering: bool,
    until: u64,
    /// Packets before this number have been sent again.
    resent: u64,
    /// Of the last report: the packet before which all has arrived, and those behind it that have.
    next: u64,
    out_of_order: u64,
    /// It answers a probe that did not wait.
    is_clear: bool,
}

/// The probe of a sender that hears nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Probe {
    number: u64,
    /// When the last one was sent.
    sent: Time,
    /// When the next one is due.
    at: Option<Time>,
    /// It is to be sent now.
    is_due: bool,
}

impl Sleek {
    pub fn new(form: Form, qp: &QpInfo) -> Self {
        Sleek {
            rate: qp.line_rate,
            mss: qp.mtu.0,
            mtu: qp.wire.0,
            base_rtt: form.base_rtt(qp),
            target: target_delay(network_rtt(qp), qp.trims),
            probe: Probe::default(),
            recovering: false,
            until: 0,
            resent: 0,
            next: 0,
            out_of_order: 0,
            is_clear: false,
        }
    }

    pub fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// The round trip of a probe, if it is the last one.
    pub fn answered(&self, now: Time, number: u64) -> Option<Span> {
        (number == self.probe.number).then(|| now.since(self.probe.sent))
    }

    /// A report has arrived.
    pub fn observes(&mut self, report: &Report, sample: Option<&Sample>) {
        (self.next, self.out_of_order) = (report.next, report.out_of_order);
        self.is_clear = false;
        match sample {
            Some(Sample { rtt, query: None }) => self.base_rtt = self.base_rtt.min(*rtt),
            Some(Sample { rtt, query: Some(Query::Probe) }) => {
                self.is_clear = rtt.0.saturating_sub(self.base_rtt.0) < self.target.0;
            }
            _ => {}
        }
    }

    /// Sets the timer of the next probe, where more is to be heard. `end`: what has been sent ends before it.
    pub fn arm(&mut self, now: Time, end: u64, has_more: bool) {
        let silence = if has_more { self.base_rtt * FIRST_PROBE } else { self.base_rtt + self.target };
        self.probe.at = (self.next < end || has_more).then(|| now + silence);
    }

    /// The numbers among which what was sent and has not arrived is sent again. `end`: as above; `waits`: a
    /// retransmission does already.
    pub fn recovers(&mut self, window: Bytes, end: u64, waits: bool) -> Range<u64> {
        if self.is_clear {
            (self.recovering, self.until, self.resent) = (true, end, self.next);
        }
        let largest = largest_window(self.rate, self.base_rtt).0.max(self.mtu);
        let threshold = (window.0.saturating_mul(3) / 2).min(largest).max(LEAST_BEHIND * self.mss) / self.mss;
        if self.next >= self.until {
            self.recovering = false;
        }
        if self.out_of_order < threshold && !self.recovering {
            return 0..0;
        }
        if !self.recovering && !waits {
            (self.recovering, self.until) = (true, end);
        }
        let last = self.until.min(self.next.saturating_add(window.0 / self.mss));
        let first = self.next.max(self.resent);
        first..last.max(first)
    }

    /// A packet waits to be sent again.
    pub fn resends(&mut self, number: u64) {
        self.resent = number + 1;
    }

    /// A packet that was sent again did not arrive: it is sent again with the next report.
    pub fn sends_again_from(&mut self, number: u64) {
        self.resent = number;
    }

    pub fn next_timeout(&self) -> Option<Time> {
        self.probe.at
    }

    pub fn on_timeout(&mut self, now: Time) {
        if self.probe.at.is_some_and(|at| at <= now) {
            self.probe.is_due = true;
            self.probe.at = Some(now + self.base_rtt * NEXT_PROBE);
        }
    }

    /// The number of a probe that is sent now.
    pub fn next_probe(&mut self, now: Time) -> Option<u64> {
        if !std::mem::take(&mut self.probe.is_due) {
            return None;
        }
        self.probe.number += 1;
        self.probe.sent = now;
        Some(self.probe.number)
    }
}

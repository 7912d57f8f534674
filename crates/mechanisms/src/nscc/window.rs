//! The window of NSCC, in the arithmetic of the Consortium's simulator: whole bytes and picoseconds, cut at
//! each assignment.

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate, Span, Time};

use super::Average;
use crate::slots::{Cut, QpInfo, Query, Sample};
use crate::uet::Form;

/// The reference network of `scaling_a` and `scaling_b`: 100 Gbit/s and 12 us. Source: UEC, section 3.6.13.3.
const REFERENCE_BDP: f64 = 150_000.0;
const REFERENCE_RTT: f64 = 12_000_000.0;
/// Table 3-82: gamma, and the least part of the window that a decrease leaves.
const GAMMA: f64 = 0.8;
const LEAST_PART: f64 = 0.5;
/// Weight of a sample of delay. Source: uec.cpp.
const DELAY_ALPHA: f64 = 0.0125;
/// uec.cpp: with trimming quick adapt acts on a delay of so many targets.
const QA_TARGETS: u64 = 4;

/// Values that do not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    /// The longest base round trip of the network.
    network_rtt: u64,
    rate: Rate,
    mtu: u64,
    target: u64,
    clear_delay: u64,
    average: Average,
    cuts_lower_base_rtt: bool,
    has_credit: bool,
    alpha: f64,
    fair: f64,
    eta: f64,
    fast_scale: f64,
    /// Bytes and time after which increases take effect.
    adjust_bytes: u64,
    /// Quick adapt acts where less than this part of the largest window arrived, as a power of two.
    gate: u32,
}

impl Constants {
    pub fn new(
        form: Form,
        qp: &QpInfo,
        network: Span,
        target: Span,
        clear_delay: Span,
        average: Average,
    ) -> Self {
        let (mss, mtu) = (qp.mtu.0 as f64, qp.wire.0);
        let bdp = form.product(qp.line_rate, network) as f64;
        let (a, b) = (bdp / REFERENCE_BDP, target.0 as f64 / REFERENCE_RTT);
        Constants {
            network_rtt: network.0,
            rate: qp.line_rate,
            mtu,
            target: target.0,
            clear_delay: clear_delay.0,
            average,
            cuts_lower_base_rtt: false,
            has_credit: qp.has_credit,
            // Table 3-82.
            alpha: 4.0 * mss * a * b / target.0 as f64,
            fair: 5.0 * mss * a,
            eta: 0.15 * mss * a,
            fast_scale: 0.25 * a,
            adjust_bytes: 8 * mtu,
            gate: 0,
        }
    }

    pub fn with_cuts(self, cuts_lower_base_rtt: bool) -> Self {
        Constants { cuts_lower_base_rtt, ..self }
    }

    pub fn with_gate(self, gate: u32) -> Self {
        Constants { gate, ..self }
    }
}

/// The state of one sender.
#[derive(Clone, Debug)]
pub(super) struct Window {
    form: Form,
    of: Constants,
    cwnd: u64,
    largest: u64,
    base_rtt: u64,
    /// The average delay.
    average: u64,
    averaged_at: Option<Time>,
    /// Increases that have not taken effect: the window times bytes.
    increase: u64,
    /// Bytes that arrived since they last did.
    received: u64,
    /// Bytes that arrived without delay.
    clear: u64,
    is_fast: bool,
    /// When increases took effect, and when the window was last decreased.
    adjusted: u64,
    decreased: u64,
    /// Quick adapt: bytes that arrived in its period, its end, whether a packet was cut in it, and the bytes
    /// to be ignored and those that were.
    achieved: u64,
    period_end: u64,
    was_cut: bool,
    to_ignore: u64,
    ignored: u64,
    has_begun: bool,
}

impl Window {
    pub fn new(form: Form, of: Constants, base_rtt: Span) -> Self {
        let largest = form.first_window(of.rate, base_rtt).0.max(of.mtu);
        Window {
            form,
            of,
            cwnd: largest,
            largest,
            base_rtt: base_rtt.0,
            average: 0,
            averaged_at: None,
            increase: 0,
            received: 0,
            clear: 0,
            is_fast: false,
            adjusted: 0,
            decreased: 0,
            achieved: 0,
            period_end: 0,
            was_cut: false,
            to_ignore: 0,
            ignored: 0,
            // In the simulator all periods begin at time 0.
            has_begun: form == Form::Htsim,
        }
    }

    /// The same with another first window.
    pub fn with_first(self, first: Bytes) -> Self {
        Window { cwnd: first.0.max(self.of.mtu), ..self }
    }

    /// The connection's first packet starts.
    pub fn begins(&mut self, now: Time) {
        if !self.has_begun {
            self.has_begun = true;
            (self.adjusted, self.decreased) = (now.0, now.0);
        }
    }

    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    pub fn rate(&self) -> Rate {
        self.of.rate
    }

    pub fn window(&self) -> Bytes {
        Bytes(self.cwnd)
    }

    /// A packet was lost, by a timer.
    pub fn shrink(&mut self, lost: Bytes) {
        self.cwnd = self.cwnd.saturating_sub(lost.0).max(self.of.mtu);
    }

    /// A report: `new` bytes arrived, and `in_flight` are left.
    pub fn on_report(
        &mut self,
        now: Time,
        sample: Option<&Sample>,
        mark: bool,
        new: Bytes,
        in_flight: Bytes,
    ) {
        self.achieved += new.0;
        self.received += new.0;
        self.ignored += new.0;
        let delay = sample.map_or(self.average, |sample| self.delay_of(now, sample, mark));
        self.react(now.0, mark, delay, new.0, in_flight.0);
    }

    /// The delay of a sample, which the average takes in. Only data lowers the base round trip: of a shorter
    /// packet that took less, a probe has no delay, and a request says nothing.
    fn delay_of(&mut self, now: Time, sample: &Sample, mark: bool) -> u64 {
        let rtt = sample.rtt.0;
        match sample.query {
            None => self.lower_base_rtt(rtt),
            Some(Query::Probe) if rtt < self.base_rtt => return 0,
            Some(Query::Request) if rtt < self.base_rtt => return self.average,
            Some(_) => {}
        }
        let delay = rtt - self.base_rtt;
        let sample = if !mark && delay > self.of.target { self.base_rtt / 4 } else { delay };
        self.take_sample(now, sample);
        delay
    }

    /// Reacts to a report.
    fn react(&mut self, now: u64, mark: bool, delay: u64, new: u64, in_flight: u64) {
        if self.quick_adapt(now, false, mark, delay, in_flight) {
            return;
        }
        // Section 3.6.13: the four cases of mark and delay.
        match (mark, delay >= self.of.target) {
            (false, true) => self.increase = added(self.increase, self.of.fair * new as f64),
            (false, false) => {
                if !self.increases_fast(new, delay) {
                    let gain = self.of.alpha * new as f64 * (self.of.target - delay) as f64;
                    self.increase = added(self.increase, gain);
                }
            }
            (true, true) => self.decrease(now),
            (true, false) => {}
        }
        self.clamp();
        if self.received > self.of.adjust_bytes || now - self.adjusted > self.of.network_rtt {
            self.adjust(now);
        }
        self.clamp();
    }

    /// Increases take effect.
    fn adjust(&mut self, now: u64) {
        self.cwnd += self.increase / self.cwnd;
        if now - self.adjusted >= self.of.network_rtt {
            self.cwnd = added(self.cwnd, self.of.eta);
            self.adjusted = now;
        }
        (self.increase, self.received) = (0, 0);
    }

    /// Increases the window fast while the delay stays clear; whether it has.
    fn increases_fast(&mut self, new: u64, delay: u64) -> bool {
        if delay < self.of.clear_delay {
            self.clear += new;
            if self.clear > self.cwnd || self.is_fast {
                self.cwnd = added(self.cwnd, new as f64 * self.of.fast_scale);
                self.is_fast = true;
                return true;
            }
        } else {
            self.clear = 0;
        }
        self.is_fast = false;
        false
    }

    /// Decreases the window, at most once a round trip.
    fn decrease(&mut self, now: u64) {
        (self.is_fast, self.clear) = (false, 0);
        let (average, target) = (self.average, self.of.target);
        if average > target && now - self.decreased > self.base_rtt {
            let part = 1.0 - GAMMA * (average - target) as f64 / average as f64;
            self.cwnd = whole(self.cwnd as f64 * part.max(LEAST_PART)).max(self.of.mtu);
            self.decreased = now;
        }
    }

    /// Takes the window to what has arrived in a period with losses; whether nothing else follows.
    fn quick_adapt(&mut self, now: u64, loss: bool, mark: bool, delay: u64, in_flight: u64) -> bool {
        let mut done = false;
        if self.ignored < self.to_ignore && mark {
            done = true;
        } else if now > self.period_end {
            let delayed = self.form == Form::Htsim && delay > QA_TARGETS * self.of.target;
            let struck = self.was_cut || loss || delayed;
            if self.period_end != 0 && struck && self.achieved < self.largest >> self.of.gate {
                let window = self.achieved.max(self.of.mtu);
                self.cwnd = if self.form == Form::Htsim { window } else { window.min(self.cwnd) };
                (self.to_ignore, self.ignored, self.was_cut) = (in_flight, 0, false);
                done = true;
            }
            self.achieved = 0;
            self.period_end = now + self.base_rtt + self.of.target;
        }
        if done {
            (self.increase, self.received) = (0, 0);
        }
        done
    }

    /// The payload of a packet was cut.
    pub fn on_cut(&mut self, now: Time, cut: &Cut) {
        if self.of.cuts_lower_base_rtt {
            self.lower_base_rtt(cut.rtt.0);
        }
        self.ignored += cut.lost.0;
        self.take_sample(now, self.of.network_rtt);
        self.was_cut = true;
        let adapted = self.quick_adapt(now.0, true, true, 0, cut.in_flight.0);
        if !(adapted || self.of.has_credit && cut.last_hop) {
            self.cwnd = self.cwnd.saturating_sub(cut.lost.0);
            self.clamp();
        }
    }

    /// A round trip was shorter than all before.
    fn lower_base_rtt(&mut self, rtt: u64) {
        if rtt < self.base_rtt {
            self.base_rtt = rtt;
            self.largest = self.form.later_window(self.of.rate, Span(rtt)).0.max(self.of.mtu);
        }
    }

    /// Updates the average delay.
    fn take_sample(&mut self, now: Time, sample: u64) {
        // Section 3.6.13.6: the average of the last round trip.
        let weight = match self.of.average {
            Average::Ewma => DELAY_ALPHA,
            Average::Rtt => {
                let gap = self.averaged_at.map_or(self.base_rtt, |before| now.since(before).0);
                (gap as f64 / self.base_rtt.max(1) as f64).min(1.0)
            }
        };
        self.averaged_at = Some(now);
        self.average = whole(weight * sample as f64 + (1.0 - weight) * self.average as f64);
    }

    fn clamp(&mut self) {
        self.cwnd = self.cwnd.clamp(self.of.mtu, self.largest);
    }
}

/// A sum in doubles, cut to a whole number.
fn added(to: u64, more: f64) -> u64 {
    whole(to as f64 + more)
}

//! The state machine of the paper: every CNP cuts the rate, and timer and byte counter both raise it.

use floodway_units::{Bytes, Rate, Span, Tally, Time};

use super::alpha;
use super::presets::Settings;
use super::rates::Rates;

/// State of a queue pair.
#[derive(Debug)]
pub(super) struct Machine {
    settings: Box<Settings>,
    pub(super) rates: Rates,
    /// α at `alpha_since`.
    alpha: f64,
    /// From when periods of α count: the last CNP, or a later report of undetermined congestion.
    alpha_since: Time,
    last_cnp: Time,
    /// The timer's next step; never while the rate is at its limit.
    pub(super) next_step: Time,
    /// Wire bytes since the byte counter's last step.
    sent: Bytes,
    timer_stage: u32,
    byte_stage: u32,
    /// Increase steps so far.
    pub(super) increases: Tally,
}

impl Machine {
    pub(super) fn new(settings: Box<Settings>, rates: Rates) -> Self {
        Machine {
            rates,
            alpha: settings.initial_alpha,
            settings,
            alpha_since: Time::NEVER,
            last_cnp: Time::NEVER,
            next_step: Time::NEVER,
            sent: Bytes::ZERO,
            timer_stage: 0,
            byte_stage: 0,
            increases: Tally::default(),
        }
    }

    /// Cuts the rate by the old α, then raises α, and restarts timer, byte counter and stages.
    pub(super) fn on_cnp(&mut self, now: Time) {
        let alpha = self.alpha_at(now);
        let settings = &*self.settings;
        // Figure 7: a CNP cuts the rate and resets timer, byte counter and stages.
        if settings.clamp || self.timer_stage > 0 || self.byte_stage > 0 {
            self.rates.lower_target();
        }
        self.rates.cut(settings.factor(alpha), settings.rmin);
        // Eq. 1: α rises after the cut.
        self.alpha = alpha::raised(alpha, settings.g);
        (self.alpha_since, self.last_cnp) = (now, now);
        self.next_step = now + settings.t_inc;
        (self.sent, self.timer_stage, self.byte_stage) = (Bytes::ZERO, 0, 0);
    }

    /// α just before a report that arrives now.
    fn alpha_at(&self, now: Time) -> f64 {
        // A period that would end now does include this report.
        let idle = now.since(self.alpha_since).0.saturating_sub(1) / self.settings.t_alpha.0;
        // Eq. 2: α of the periods without a CNP until now.
        alpha::decayed(self.alpha, self.settings.g, idle)
    }

    /// Undetermined congestion: neither an increase of the rate nor a decrease of α until a whole period has
    /// passed without another such report. At line rate there is no rate to hold.
    pub(super) fn hold(&mut self, now: Time) {
        if self.alpha_since != Time::NEVER {
            (self.alpha, self.alpha_since) = (self.alpha_at(now), now);
        }
        if self.next_step == Time::NEVER {
            return;
        }
        self.rates.lower_target();
        self.next_step = now + self.settings.t_inc;
        (self.sent, self.timer_stage, self.byte_stage) = (Bytes::ZERO, 0, 0);
    }

    /// Whether a CNP arrived less than `span` ago.
    pub(super) fn had_cnp_within(&self, span: Span, now: Time) -> bool {
        self.last_cnp != Time::NEVER && now.since(self.last_cnp) < span
    }

    #[inline]
    pub(super) fn on_sent(&mut self, wire: Bytes) {
        if self.next_step != Time::NEVER {
            self.count(wire);
        }
    }

    fn count(&mut self, wire: Bytes) {
        self.sent += wire;
        while self.sent >= self.settings.byte_counter && self.next_step != Time::NEVER {
            self.sent -= self.settings.byte_counter;
            // Figure 7: the byte counter has expired.
            self.byte_stage += 1;
            self.step();
        }
    }

    pub(super) fn on_timeout(&mut self, now: Time) {
        if now >= self.next_step {
            self.next_step = now + self.settings.t_inc;
            // Figure 7: the timer has expired.
            self.timer_stage += 1;
            self.step();
        }
    }

    /// An increase by the stages reached; at line rate no further step follows until the next CNP.
    fn step(&mut self) {
        let f = self.settings.f;
        let (fewest, most) = (self.timer_stage.min(self.byte_stage), self.timer_stage.max(self.byte_stage));
        if most < f {
            // Eq. 3: fast recovery, while both stages are below F.
            self.rates.recover();
        } else if fewest > f {
            // Figure 7: hyper increase, once both stages are above F.
            let times = u64::from(fewest - f);
            self.rates.raise(Rate(self.settings.rhai.0.saturating_mul(times)));
        } else {
            // Eq. 4: additive increase, in all other cases.
            self.rates.raise(self.settings.rai);
        }
        self.increases.add(1);
        if self.rates.are_at_line() {
            self.next_step = Time::NEVER;
        }
    }
}

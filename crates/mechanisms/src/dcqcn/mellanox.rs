//! The state machine of NICs (`ConnectX`-4 and later; mode 1 of the HPCC simulator): α and cuts follow
//! periods that count from the first CNP.

use floodway_units::{Bytes, Span, Tally, Time};

use super::alpha;
use super::presets::Settings;
use super::rates::Rates;
use crate::slots::TICKS;

/// Indices of the timers in `ticks`; that of increase steps is the last.
const ALPHA: usize = 0;
const CHECK: usize = 1;

/// State of a queue pair. Instants are `Time::NEVER` where they are not set.
#[derive(Debug)]
pub(super) struct Machine {
    boxed: Box<Boxed>,
    pub(super) rates: Rates,
    /// α at `ticked`.
    alpha: f64,
    /// The end of the last period of α that is accounted for; at first the instant of the first CNP.
    ticked: Time,
    /// A CNP has arrived since.
    has_cnp: bool,
    /// A check that has been made, or the first CNP: others are a multiple of their period away.
    checked: Time,
    /// The next check that finds a CNP.
    next_check: Time,
    /// The next increase step; while it sleeps, the last one, which gives the phase.
    step_at: Time,
    asleep: bool,
    /// With ticking timers: a CNP has arrived since the last check.
    cnp_since_check: bool,
    /// Increase steps of the timer since the last cut.
    stage: u32,
    /// Increase steps so far.
    pub(super) increases: Tally,
}

/// What few events of a queue pair need.
#[derive(Debug)]
struct Boxed {
    settings: Settings,
    /// Where bytes are counted: those since the byte counter's last step.
    sent: Bytes,
    /// Increase steps of the byte counter since the last cut.
    byte_stage: u32,
}

/// The number of periods from `from` to the first tick at `now` or later, without `from` itself.
fn ticks_to(from: Time, now: Time, period: Span) -> u64 {
    now.since(from).0.div_ceil(period.0).max(1)
}

impl Machine {
    pub(super) fn new(settings: Settings, rates: Rates) -> Self {
        Machine {
            rates,
            alpha: settings.initial_alpha,
            boxed: Box::new(Boxed { settings, sent: Bytes::ZERO, byte_stage: 0 }),
            ticked: Time::NEVER,
            has_cnp: false,
            checked: Time::NEVER,
            next_check: Time::NEVER,
            step_at: Time::NEVER,
            asleep: true,
            cnp_since_check: false,
            stage: 0,
            increases: Tally::default(),
        }
    }

    pub(super) fn on_cnp(&mut self, now: Time) {
        if self.boxed.settings.ticking {
            return self.note_cnp(now);
        }
        if self.checked == Time::NEVER {
            self.start(now);
        } else {
            // A tick at this instant has not been processed yet, and counts this CNP.
            self.tick_until(Time(now.0.saturating_sub(1)));
            self.has_cnp = true;
            self.wake(now);
        }
        if self.next_check == Time::NEVER {
            let period = self.boxed.settings.t_dec;
            self.next_check = self.checked + period * ticks_to(self.checked, now, period);
        }
    }

    /// With ticking timers: records a CNP for them.
    fn note_cnp(&mut self, now: Time) {
        if self.checked == Time::NEVER {
            self.start(now);
            self.next_check = self.checked + self.boxed.settings.t_dec;
        } else {
            self.has_cnp = true;
        }
        self.cnp_since_check = true;
    }

    /// The first CNP starts both loops; α does not count it, the first check does.
    fn start(&mut self, now: Time) {
        let settings = &self.boxed.settings;
        (self.ticked, self.checked) = (now, now + settings.check_offset);
        self.rates.cut(settings.rate_on_first_cnp, settings.rmin);
        self.rates.lower_target();
    }

    /// Resumes increase steps at their phase: layers above get one after every CNP.
    fn wake(&mut self, now: Time) {
        if self.asleep && self.step_at != Time::NEVER {
            let period = self.boxed.settings.t_inc;
            self.step_at += period * ticks_to(self.step_at, now, period);
            self.asleep = false;
        }
    }

    /// Undetermined congestion: no increase until a whole period has passed without another such report. A
    /// check that is due for an earlier CNP still happens.
    pub(super) fn hold(&mut self, now: Time) {
        if self.step_at == Time::NEVER {
            return;
        }
        self.rates.lower_target();
        // While asleep, steps continue at the phase of this instant.
        self.step_at = if self.asleep { now } else { now + self.boxed.settings.t_inc };
        self.restart_stages();
    }

    /// Whether the byte counter raises the rate, too.
    #[inline]
    pub(super) fn counts_bytes(&self) -> bool {
        self.boxed.settings.byte_counter < Bytes::MAX
    }

    /// Packets of so many wire bytes have been sent.
    pub(super) fn on_sent(&mut self, wire: Bytes) {
        if self.step_at == Time::NEVER || !self.counts_bytes() {
            return;
        }
        self.boxed.sent += wire;
        while self.boxed.sent >= self.boxed.settings.byte_counter {
            self.boxed.sent -= self.boxed.settings.byte_counter;
            self.increase();
            self.boxed.byte_stage = self.boxed.byte_stage.saturating_add(1);
        }
    }

    fn restart_stages(&mut self) {
        (self.boxed.sent, self.stage, self.boxed.byte_stage) = (Bytes::ZERO, 0, 0);
    }

    /// Catches α up with all ticks at `now` and before.
    fn tick_until(&mut self, now: Time) {
        let mut periods = now.since(self.ticked).0 / self.boxed.settings.t_alpha.0;
        self.ticked += self.boxed.settings.t_alpha * periods;
        if periods > 0 && self.has_cnp {
            // Eq. 1: α of a period with a CNP.
            self.alpha = alpha::raised(self.alpha, self.boxed.settings.g);
            self.has_cnp = false;
            periods -= 1;
        }
        // Eq. 2: α of the periods without one.
        self.alpha = alpha::decayed(self.alpha, self.boxed.settings.g, periods);
    }

    #[inline]
    pub(super) fn next_timeout(&self) -> Time {
        if self.boxed.settings.ticking {
            let [alpha, check, step] = self.times();
            return alpha.min(check).min(step);
        }
        if self.asleep { self.next_check } else { self.next_check.min(self.step_at) }
    }

    pub(super) fn on_timeout(&mut self, now: Time) {
        if self.boxed.settings.ticking {
            return self.tick_all(now);
        }
        if now >= self.next_check {
            self.tick_until(now);
            self.checked = now;
            self.next_check = Time::NEVER;
            self.cut(now);
        }
        if !self.asleep && now >= self.step_at {
            self.step(now);
        }
    }

    /// A check has found a CNP: a cut, after which the count of increase steps restarts.
    fn cut(&mut self, now: Time) {
        if self.boxed.settings.clamp || self.stage > 0 {
            self.rates.lower_target();
        }
        // Eq. 1: the cut of a check that has found a CNP.
        self.rates.cut(self.boxed.settings.factor(self.alpha), self.boxed.settings.rmin);
        (self.step_at, self.asleep) = (now + self.boxed.settings.t_inc, false);
        self.restart_stages();
    }

    /// An increase by the stages before this step: those of the timer alone, or of both counters.
    fn increase(&mut self) {
        let f = self.boxed.settings.f;
        let bytes = if self.counts_bytes() { self.boxed.byte_stage } else { self.stage };
        if self.stage.max(bytes) < f {
            // Eq. 3: fast recovery.
            self.rates.recover();
        } else if self.stage.min(bytes) > f {
            // Figure 7: hyper increase once all stages are past F, by one step whatever the stage.
            self.rates.raise(self.boxed.settings.rhai);
        } else {
            // Eq. 4: additive increase.
            self.rates.raise(self.boxed.settings.rai);
        }
        self.increases.add(1);
    }

    /// The increase timer's step.
    fn step(&mut self, now: Time) {
        self.increase();
        self.stage = self.stage.saturating_add(1);
        self.asleep = self.rates.are_at_line() && !self.boxed.settings.ticking;
        self.step_at = if self.asleep { now } else { now + self.boxed.settings.t_inc };
    }

    /// With ticking timers: the next ticks of α, the check and the increase step.
    pub(super) fn ticks(&self) -> Option<[Time; TICKS]> {
        self.boxed.settings.ticking.then(|| self.times())
    }

    fn times(&self) -> [Time; TICKS] {
        let alpha =
            if self.ticked == Time::NEVER { Time::NEVER } else { self.ticked + self.boxed.settings.t_alpha };
        [alpha, self.next_check, self.step_at]
    }

    /// One of the timers ticks, by its index in `ticks`, and is set again.
    pub(super) fn on_tick(&mut self, now: Time, timer: usize) {
        match timer {
            ALPHA => self.tick_until(now),
            CHECK => {
                (self.checked, self.next_check) = (now, now + self.boxed.settings.t_dec);
                if std::mem::take(&mut self.cnp_since_check) {
                    self.cut(now);
                }
            }
            _ => self.step(now),
        }
    }

    /// Processes all timers that are due, in the order in which they were set.
    fn tick_all(&mut self, now: Time) {
        let set = |timer: usize| match timer {
            ALPHA => self.ticked,
            CHECK => self.checked,
            _ => Time(self.step_at.0.saturating_sub(self.boxed.settings.t_inc.0)),
        };
        let mut order: [usize; TICKS] = std::array::from_fn(|timer| timer);
        order.sort_by_key(|&timer| set(timer));
        for timer in order {
            if self.times()[timer] <= now {
                self.on_tick(now, timer);
            }
        }
    }
}

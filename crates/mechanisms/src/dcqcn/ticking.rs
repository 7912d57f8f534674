//! The state machines with timers that always tick: a reference model for tests.

use floodway_units::{FlowId, Turns};
use proptest::prelude::*;

use super::presets::Settings;
use super::*;
use crate::testing::qp;

/// More than all timers tick in the longest wait, 2.5 ms, and steps that a machine makes at once.
const MOST_TICKS: u32 = 10_000;

/// The timers of a model.
#[derive(Clone, Copy, Debug)]
struct Timers {
    alpha: Time,
    check: Time,
    step: Time,
}

/// Either state machine, with plain loops in place of closed forms and of sleep.
struct Model {
    settings: Settings,
    means: Means,
    paper: bool,
    line: u64,
    current: u64,
    target: u64,
    alpha: f64,
    timers: Timers,
    cnp_for_alpha: bool,
    cnp_for_check: bool,
    sent: u64,
    stages: (u32, u32),
    /// When increase steps were made.
    steps: Vec<Time>,
}

impl Model {
    fn new(params: &Params) -> Self {
        let line = qp().line_rate;
        let settings = params.settings(line).expect("the parameters are valid");
        Model {
            paper: params.preset.cuts_at_each_cnp(),
            line: line.0,
            current: line.0,
            target: line.0,
            alpha: settings.initial_alpha,
            settings,
            means: params.means.unwrap_or_default(),
            timers: Timers { alpha: Time::NEVER, check: Time::NEVER, step: Time::NEVER },
            cnp_for_alpha: false,
            cnp_for_check: false,
            sent: 0,
            stages: (0, 0),
            steps: Vec::new(),
        }
    }

    /// All ticks before `until`.
    fn pass(&mut self, until: Time) {
        let mut turns = Turns::at_most(MOST_TICKS);
        while turns.go()
            && let Some((now, timer)) = self.next().filter(|(now, _)| *now < until)
        {
            match timer {
                0 => self.tick_alpha(),
                1 => self.check(now),
                _ => {
                    self.timers.step = now + self.settings.t_inc;
                    self.stages.0 += 1;
                    self.step(now, true);
                }
            }
        }
    }

    /// The next tick and its timer: at one instant alpha's, a check, a step; with ticking timers the one that
    /// was set first.
    fn next(&self) -> Option<(Time, usize)> {
        let Settings { t_alpha, t_dec, t_inc, ticking, .. } = self.settings;
        let Timers { alpha, check, step } = self.timers;
        let timers = [(alpha, t_alpha), (check, t_dec), (step, t_inc)].into_iter().zip(0..);
        let running = timers.filter(|((at, _), _)| *at != Time::NEVER);
        let order = |((at, period), timer): &((Time, Span), usize)| {
            (*at, if ticking { at.0 - period.0 } else { 0 }, *timer)
        };
        running.min_by_key(order).map(|((at, _), timer)| (at, timer))
    }

    fn tick_alpha(&mut self) {
        self.timers.alpha += self.settings.t_alpha;
        let marked = f64::from(u8::from(self.cnp_for_alpha));
        self.alpha = (1.0 - self.settings.g) * self.alpha + self.settings.g * marked;
        self.cnp_for_alpha = false;
    }

    fn check(&mut self, now: Time) {
        self.timers.check += self.settings.t_dec;
        if self.cnp_for_check {
            self.cnp_for_check = false;
            self.cut();
            self.timers.step = now + self.settings.t_inc;
        }
    }

    fn cut(&mut self) {
        let counted = if self.paper { self.stages != (0, 0) } else { self.stages.0 > 0 };
        if self.settings.clamp || counted {
            self.target = self.current;
        }
        let factor = f64::max(1.0 - self.alpha / 2.0, self.settings.min_decrease);
        self.current = ((self.current as f64 * factor) as u64).max(self.settings.rmin.0);
        (self.sent, self.stages) = (0, (0, 0));
    }

    /// The stages that count at a step of the timer or of the byte counter: the paper's include it, those of
    /// NICs do not, and without a byte counter the timer's is the only one.
    fn counted(&self, by_timer: bool) -> (u32, u32) {
        let (timer, bytes) = self.stages;
        match (self.paper, self.settings.byte_counter == Bytes::MAX) {
            (true, _) => (timer, bytes),
            (false, true) => (timer - 1, timer - 1),
            (false, false) => (timer - u32::from(by_timer), bytes - u32::from(!by_timer)),
        }
    }

    fn step(&mut self, now: Time, by_timer: bool) {
        let f = self.settings.f;
        let (timer, bytes) = self.counted(by_timer);
        let raise = if timer.max(bytes) < f {
            0
        } else if timer.min(bytes) > f {
            let times = if self.paper { u64::from(timer.min(bytes) - f) } else { 1 };
            times * self.settings.rhai.0
        } else {
            self.settings.rai.0
        };
        self.target = (self.target + raise).min(self.line);
        self.current = match self.means {
            Means::Up => (self.current + self.target).div_ceil(2),
            Means::Halves => self.current / 2 + self.target / 2,
        };
        self.steps.push(now);
    }

    fn cnp(&mut self, now: Time) {
        let first = self.timers.alpha == Time::NEVER;
        if self.paper {
            self.cut();
            self.alpha = (1.0 - self.settings.g) * self.alpha + self.settings.g;
            self.timers.alpha = now + self.settings.t_alpha;
            self.timers.step = now + self.settings.t_inc;
            self.sent = 0;
            return;
        }
        if first {
            self.current = (self.line as f64 * self.settings.rate_on_first_cnp) as u64;
            self.target = self.current;
            self.timers.alpha = now + self.settings.t_alpha;
            self.timers.check = now + self.settings.t_dec;
        }
        self.cnp_for_alpha = !first;
        self.cnp_for_check = true;
    }

    fn hold(&mut self, now: Time) {
        if self.timers.step == Time::NEVER {
            return;
        }
        self.target = self.current;
        self.timers.step = now + self.settings.t_inc;
        if self.paper {
            self.timers.alpha = now + self.settings.t_alpha;
        }
        (self.sent, self.stages) = (0, (0, 0));
    }

    fn sent(&mut self, now: Time, bytes: u64) {
        if self.timers.step == Time::NEVER {
            return;
        }
        self.sent += bytes;
        let mut turns = Turns::at_most(MOST_TICKS);
        while turns.go() && self.sent >= self.settings.byte_counter.0 {
            self.sent -= self.settings.byte_counter.0;
            self.stages.1 += 1;
            self.step(now, false);
        }
    }
}

/// The real state machine, with the instants of its steps.
struct Sleeper {
    rp: Rp,
    steps: Vec<Time>,
}

impl Sleeper {
    fn noting(&mut self, now: Time, call: impl FnOnce(&mut Rp)) {
        let before = self.rp.increases();
        call(&mut self.rp);
        let made = self.rp.increases() - before;
        assert!(made <= u64::from(MOST_TICKS), "{made} steps at {now}");
        self.steps.extend((0..made).map(|_| now));
    }

    fn pass(&mut self, until: Time) {
        let mut turns = Turns::at_most(MOST_TICKS);
        while turns.go()
            && let Some(at) = self.rp.next_timeout().filter(|at| *at < until)
        {
            self.noting(at, |rp| rp.on_timeout(at));
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Input {
    Cnp,
    /// A report of undetermined congestion.
    Hold,
    Sent(u64),
}

/// Inputs after waits in picoseconds; many at whole microseconds, where timers coincide.
fn inputs() -> impl Strategy<Value = Vec<(u64, Input)>> {
    let wait = prop_oneof![
        4 => (0u64..60).prop_map(|us| us * 1_000_000),
        2 => 0u64..30_000_000,
        1 => (0u64..2_500).prop_map(|us| us * 1_000_000),
        1 => 0u64..2_500_000_000,
    ];
    let input =
        prop_oneof![3 => Just(Input::Cnp), 1 => Just(Input::Hold), 1 => (0u64..60_000).prop_map(Input::Sent)];
    proptest::collection::vec((wait, input), 1..40)
}

/// Drives both through the same inputs, with CNPs before other events of the same instant.
fn compare(json: &str, inputs: &[(u64, Input)]) {
    let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
    let params = Params { ue: Some(Ue::Hold), ..params };
    let rp = params.build(&qp()).expect("the parameters are valid");
    let mut sleeper = Sleeper { rp, steps: Vec::new() };
    let mut model = Model::new(&params);
    let mut now = Time::ZERO;
    let mut cnps = Vec::new();
    for (wait, input) in inputs {
        now += Span(*wait);
        sleeper.pass(now);
        model.pass(now);
        assert_same(&sleeper, &model, now);
        match input {
            Input::Cnp => {
                cnps.push((now, sleeper.steps.len(), model.steps.len()));
                sleeper.noting(now, |rp| rp.on_cnp(now, &Cnp::of(FlowId(0), Mark::Ce)));
                model.cnp(now);
            }
            Input::Hold => {
                sleeper.noting(now, |rp| rp.on_cnp(now, &Cnp::of(FlowId(0), Mark::Ue)));
                model.hold(now);
            }
            Input::Sent(bytes) => {
                sleeper.noting(now, |rp| rp.on_sent(now, Bytes(*bytes)));
                model.sent(now, *bytes);
            }
        }
        assert_same(&sleeper, &model, now);
    }
    let end = now + Span::ms(1);
    sleeper.pass(end);
    model.pass(end);
    assert_same(&sleeper, &model, end);
    for (cnp, ours, theirs) in cnps {
        assert_eq!(sleeper.steps.get(ours), model.steps.get(theirs), "the first step after {cnp}");
    }
}

/// The closed form may move the last digits of alpha, and so a rate by a few bit/s.
fn assert_same(sleeper: &Sleeper, model: &Model, now: Time) {
    let rates = sleeper.rp.rates();
    for (ours, theirs) in [(rates.current.0, model.current), (rates.target.0, model.target)] {
        assert!(ours.abs_diff(theirs) <= 100, "{ours} where timers that tick have {theirs}, at {now}");
    }
}

proptest! {
    #[test]
    fn each_machine_gives_what_timers_that_tick_give_in_their_order(inputs in inputs()) {
        // Increase steps that fall between checks: those of the sleeping machine must wake at their phase.
        // Where timers tick, steps, checks and periods of alpha fall together.
        for json in [
            r#"{"t-inc": "22us", "rai": "2G", "rhai": "10G"}"#,
            r#"{"preset": "mellanox", "t-inc": "13us", "f": 3, "rai": "5G", "clamp": true, "rate-on-first-cnp": 0.5}"#,
            r#"{"preset": "swing", "t-alpha": "3us", "t-dec": "7us", "t-inc": "20us", "rhai": "20G"}"#,
            r#"{"preset": "mellanox", "g": 0.25, "t-inc": "5us", "rai": "30G", "min-decrease": 0.9}"#,
            r#"{"preset": "mellanox", "t-inc": "40us", "timers": "ticking", "rai": "5G"}"#,
            r#"{"preset": "mellanox", "t-alpha": "4us", "t-inc": "12us", "timers": "ticking", "means": "halves"}"#,
            r#"{"preset": "mellanox", "t-dec": "8us", "t-inc": "4us", "timers": "ticking", "clamp": true}"#,
            r#"{"preset": "mellanox", "t-inc": "13us", "byte-counter": "100KB", "rai": "2G", "rhai": "6G"}"#,
            r#"{"preset": "hpcc-paper", "byte-counter": "50KB", "f": 2, "rai": "2G", "rhai": "4G", "clamp": true}"#,
            r#"{"preset": "hpcc-config", "t-inc": "9us", "byte-counter": "80KB", "timers": "ticking"}"#,
            r#"{"preset": "paper", "byte-counter": "100KB", "rai": "2G", "rhai": "4G"}"#,
            r#"{"preset": "tcd", "byte-counter": "100KB", "rai": "2G", "rhai": "4G"}"#,
            r#"{"preset": "paper", "t-alpha": "5us", "t-inc": "5us", "byte-counter": "50KB", "f": 2, "clamp": false}"#,
        ] {
            compare(json, &inputs);
        }
    }
}

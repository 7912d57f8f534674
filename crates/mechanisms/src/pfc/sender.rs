//! The half at the upstream egress: obeys pauses, and ignores those that last too long.
//!
//! The reaction time delays only a pause's beginning: its end counts from the frame's arrival.

use floodway_units::{Bytes, Rate, Span, Time};

use super::{Action, Params, Watchdog};
use crate::slots::{Cx, FcFrame, FcSender, Gate, LinkInfo, PauseMode};

/// Sender half: one per (egress port, class).
#[derive(Clone, Debug)]
pub struct Sender {
    mode: PauseMode,
    /// Rate of the link, which determines the length of quanta.
    rate: Rate,
    /// How long a PAUSE lasts, whatever its quanta.
    pause_time: Option<Span>,
    /// From a PAUSE's arrival to its start, with the delay of the interface that it came from.
    react: Span,
    watchdog: Option<Box<Watchdog>>,
    state: State,
}

/// `end` is `Time::NEVER` where a state lasts until a RESUME at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// A PAUSE has arrived, and the MAC has not yet reacted.
    Pending {
        begin: Time,
        end: Time,
    },
    /// Paused without a break since `since`.
    Paused {
        since: Time,
        end: Time,
    },
    /// Paused for too long: PFC frames are ignored.
    GivenUp {
        end: Time,
    },
}

impl Sender {
    pub(super) fn new(params: &Params, mode: PauseMode, link: &LinkInfo) -> Self {
        Sender {
            mode,
            rate: link.rate,
            pause_time: params.pause_time,
            react: params.obeyed_after(link),
            watchdog: params.watchdog.map(Box::new),
            state: State::Open,
        }
    }

    /// A half that obeys timers and has no watchdog, for a flow control that uses pauses alone.
    pub(crate) fn with_timers(rate: Rate, react: Span) -> Self {
        Sender { mode: PauseMode::Timer, rate, pause_time: None, react, watchdog: None, state: State::Open }
    }

    /// Goes through the changes of state that time alone has brought until `now`.
    fn advance(&mut self, now: Time) {
        if let State::Pending { begin, end } = self.state
            && begin <= now
        {
            self.state = State::Paused { since: begin, end };
        }
        match self.state {
            State::Paused { end, .. } | State::GivenUp { end } if end <= now => self.state = State::Open,
            State::Paused { since, .. } => {
                if let Some(dog) = self.watchdog.as_deref()
                    && dog.overrides(since) <= now
                {
                    let end = self.ends(dog.restores(dog.overrides(since)));
                    self.state = State::GivenUp { end };
                }
            }
            State::Open | State::Pending { .. } | State::GivenUp { .. } => {}
        }
    }

    /// When what a PAUSE began ends by itself, if that is at `at` in timer mode: in on-off mode never.
    fn ends(&self, at: Time) -> Time {
        match self.mode {
            PauseMode::Timer => at,
            PauseMode::OnOff => Time::NEVER,
        }
    }

    /// A newer PAUSE replaces the running timer, but neither lifts the pause nor restarts it.
    fn pause(&mut self, now: Time, span: Span) {
        // IEEE 802.1Qbb, Clause 36.2: the receiver keeps a timer for each priority.
        let end = self.ends(now + span);
        self.state = match self.state {
            State::Open if self.react == Span::ZERO => State::Paused { since: now, end },
            // IEEE 802.3, Annex 31B.3.7: the MAC takes time to react.
            State::Open => State::Pending { begin: now + self.react, end },
            State::Pending { begin, .. } => State::Pending { begin, end },
            State::Paused { since, .. } => State::Paused { since, end },
            State::GivenUp { .. } => State::GivenUp { end: self.ends(self.restored(now)) },
        };
    }

    /// A RESUME ends a pause. A watchdog that has overridden one counts it as a PFC frame.
    fn resume(&mut self, now: Time) {
        self.state = match self.state {
            State::GivenUp { .. } => State::GivenUp { end: self.restored(now) },
            State::Open | State::Pending { .. } | State::Paused { .. } => State::Open,
        };
    }

    /// When the watchdog lets pauses be obeyed again, if no PFC frame arrives from now on.
    fn restored(&self, now: Time) -> Time {
        self.watchdog.as_deref().map_or(now, |dog| dog.restores(now))
    }
}

impl FcSender for Sender {
    fn on_frame(&mut self, cx: &mut Cx<'_, FcFrame>, frame: FcFrame) {
        let FcFrame::Pause { quanta, .. } = frame else { return };
        self.advance(cx.now);
        // IEEE 802.3, Annex 31D: a time of 0 ends the pause, any other starts its timer anew.
        if quanta.0 == 0 {
            self.resume(cx.now);
        } else {
            self.pause(cx.now, self.pause_time.unwrap_or(quanta.span(self.rate)));
        }
    }

    #[inline]
    fn gate(&self, now: Time, _next: Bytes) -> Gate {
        match self.state {
            // IEEE 802.1Qbb, Clause 36.2: a paused priority offers no frame to the MAC.
            State::Open | State::GivenUp { .. } => Gate::Open,
            State::Pending { begin, end } | State::Paused { since: begin, end } => {
                if now < begin || end <= now {
                    Gate::Open
                } else if end == Time::NEVER {
                    Gate::Closed
                } else {
                    Gate::Until(end)
                }
            }
        }
    }

    #[inline]
    fn is_free(&self) -> bool {
        self.state == State::Open
    }

    fn discards(&self, _now: Time) -> bool {
        let given_up = matches!(self.state, State::GivenUp { .. });
        given_up && self.watchdog.as_deref().is_some_and(|dog| dog.action == Action::Drop)
    }

    fn next_timeout(&self) -> Option<Time> {
        let at = match self.state {
            State::Open => return None,
            State::Pending { begin, .. } => begin,
            State::Paused { since, end } => match self.watchdog.as_deref() {
                Some(dog) => end.min(dog.overrides(since)),
                None => end,
            },
            State::GivenUp { end } => end,
        };
        (at != Time::NEVER).then_some(at)
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, FcFrame>) {
        self.advance(cx.now);
    }

    fn on_link_reset(&mut self, _cx: &mut Cx<'_, FcFrame>) {
        self.state = State::Open;
    }
}

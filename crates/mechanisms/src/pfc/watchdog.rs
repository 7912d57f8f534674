//! The watchdog of an egress queue: when it overrides a pause, and when pauses are obeyed again.

use floodway_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::ParamError;

/// Ends a pause that lasts too long, for example because of a faulty neighbour; one per egress port and
/// class.
///
/// It measures from the start of an uninterrupted pause (a refresh does not interrupt it) and then overrides
/// the pause: PFC frames are ignored, and the queue is dropped or sent. This state ends when no PFC frame of
/// the class has arrived for `restore`. A RESUME is such a frame: it ends nothing. In `on-off` mode a pause
/// counts as arriving frames until its RESUME, since nothing refreshes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Watchdog {
    /// Longest pause that is obeyed, above 0.
    /// Source: SONiC, `pfcwd start_default`, whose detection time is 200 ms.
    pub after: Span,
    /// What happens to the queue then.
    /// Source: SONiC, `pfcwd start --action`, whose default is to drop.
    pub action: Action,
    /// Time without a PFC frame of the class, above 0, after which pauses are obeyed again. Default: twice
    /// `after`.
    /// Source: SONiC, `pfcwd start --restoration-time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore: Option<Span>,
    /// Time between two looks at the queue, above 0 and at most `after` and `restore`. At each multiple of
    /// it, counted from the start of the run, the watchdog learns whether the class was paused, or quiet, all
    /// the time since the last look; `after` and `restore` are rounded up to whole intervals. Default: it
    /// looks all the time. Source: SONiC, `pfcwd interval`, which has 200 ms; floodway's choice is the exact
    /// times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<Span>,
}

impl Default for Watchdog {
    fn default() -> Self {
        Watchdog { after: Span::ms(200), action: Action::Drop, restore: None, poll: None }
    }
}

/// What a watchdog does with the queue of a pause that it overrides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Discards the packets that wait in it and those that arrive. Source: SONiC, `drop`.
    Drop,
    /// Sends what waits in it and what arrives. Source: SONiC, `forward`.
    Forward,
}

impl Watchdog {
    fn restoration(&self) -> Span {
        // sonic-utilities, pfcwd: the restoration time is twice the detection time where it is not given.
        self.restore.unwrap_or(Span(self.after.0.saturating_mul(2)))
    }

    /// When a pause is overridden that has lasted since `since`.
    pub(super) fn overrides(&self, since: Time) -> Time {
        self.elapsed(since, self.after)
    }

    /// When pauses are obeyed again, if the last PFC frame came, or the watchdog acted, at `last`.
    pub(super) fn restores(&self, last: Time) -> Time {
        self.elapsed(last, self.restoration())
    }

    /// When a state that began at `since` has lasted for `time`, as the looks see it.
    fn elapsed(&self, since: Time, time: Span) -> Time {
        let Some(poll) = self.poll else { return since + time };
        // pfc_restore.lua of sonic-swss: each look at which the state has held takes an interval off.
        let (first, intervals) = (since.0.div_ceil(poll.0), time.0.div_ceil(poll.0));
        Time(first.saturating_add(intervals).saturating_mul(poll.0))
    }

    pub(super) fn check(&self) -> Result<(), ParamError> {
        let refuse = |key, message: String| Err(ParamError::new(key, message));
        let times = [
            ("watchdog.after", Some(self.after)),
            ("watchdog.restore", self.restore),
            ("watchdog.poll", self.poll),
        ];
        if let Some((key, _)) = times.into_iter().find(|(_, time)| *time == Some(Span::ZERO)) {
            return refuse(key, "0us is not allowed: write a time above 0".into());
        }
        let (name, least) = if self.restoration() < self.after {
            ("restore", self.restoration())
        } else {
            ("after", self.after)
        };
        match self.poll {
            // sonic-utilities, pfcwd interval: refused where it exceeds either time.
            Some(poll) if poll > least => refuse(
                "watchdog.poll",
                format!("{poll} is longer than `{name}`, {least}; allowed: up to that"),
            ),
            _ => Ok(()),
        }
    }
}

//! Origin of a pause: the egress port, or host, that drains less than arrives for it.
//!
//! An ingress pauses its upstream because packets stay that came by it. They stay at egress ports of the
//! switch; the one that holds most of them when the ingress pauses is the origin. While that one is stopped
//! itself, the pause is for what that stop is for; while it may send, the pause began there. Unless it was
//! stopped for most of the time since the packet came that had waited longest, or since the pause began: then
//! it has only not caught up, and the pause is for what the last of these stops was for. So the origin of one
//! pause may change from instant to instant.

mod pauses;

use std::collections::VecDeque;

use floodway_units::PortId;
use rustc_hash::FxHashMap;

use super::stops::Stop;
use super::{Interval, Label, Origin, Trace};

/// What a stop is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// It began there.
    At(Origin),
    /// The egress port of this port class holds what stays: while it is stopped itself, what that is for, and
    /// else this.
    Behind(usize, Origin),
}

/// Origins of pauses: of those on a link, and of the last that each egress port received.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// By the port class of the ingress that sent them: when each was made, and its origin.
    sent: FxHashMap<usize, VecDeque<(u64, Source)>>,
    /// By port and arrival: when a frame on the link was made.
    made: FxHashMap<(PortId, u64), u64>,
    /// By the port class of the egress that received it: the origin of the last pause, if it is known.
    received: FxHashMap<usize, Source>,
}

impl Origins {
    /// A frame of a link's control starts on the wire of `port`.
    pub fn leaves(&mut self, port: PortId, arrival: u64, made: u64) {
        self.made.insert((port, arrival), made);
    }

    fn record(&mut self, port_class: usize, now: u64, source: Source) {
        self.sent.entry(port_class).or_default().push_back((now, source));
    }

    /// The origin of what was sent at `made`; all before that has arrived, or was lost.
    fn origin_sent_at(&mut self, port_class: usize, made: u64) -> Option<Source> {
        let sent = self.sent.get_mut(&port_class)?;
        while sent.front().is_some_and(|&(at, _)| at < made) {
            sent.pop_front();
        }
        sent.front().filter(|&&(at, _)| at == made).map(|&(_, source)| source)
    }
}

impl Trace {
    /// How long a class was paused at an egress port, of times at which it was: from where to where, in
    /// order.
    pub(super) fn pauses(&self, port_class: usize, port: PortId, stops: &[Stop]) -> Vec<Interval> {
        let mut pauses = Vec::new();
        for stop in stops {
            self.follow(stop, &mut vec![port_class], &mut |from, to, origin| {
                pauses.push(Interval { from, to, label: Label::paused(port, origin) });
            });
        }
        pauses.sort_unstable_by_key(|pause| pause.from);
        pauses
    }

    /// Follows a stop to where it began, at each of its instants; `visited` has the port classes by which
    /// that was reached.
    fn follow(&self, stop: &Stop, visited: &mut Vec<usize>, found: &mut dyn FnMut(u64, u64, Option<Origin>)) {
        let (port_class, otherwise) = match stop.source {
            None => return found(stop.from, stop.to, None),
            Some(Source::At(origin)) => return found(stop.from, stop.to, Some(origin)),
            Some(Source::Behind(port_class, otherwise)) => (port_class, otherwise),
        };
        if visited.contains(&port_class) {
            // Each waits for the next, in a cycle.
            return found(stop.from, stop.to, Some(otherwise));
        }
        let (stopped, left) = self.paused[port_class].take_out_of(&[(stop.from, stop.to)]);
        visited.push(port_class);
        for part in &stopped {
            self.follow(part, visited, found);
        }
        visited.pop();
        for (from, to) in left {
            found(from, to, Some(self.lasting(port_class, (stop.began, from), visited).unwrap_or(otherwise)));
        }
    }

    /// Where the last of a port class's stops began, if they took more than half of a time; by `visited` that
    /// was asked.
    fn lasting(&self, port_class: usize, (from, now): (u64, u64), visited: &[usize]) -> Option<Origin> {
        let last = self.paused[port_class].mostly(from, now)?;
        self.origin_at(port_class, last, last.to - 1, visited)
    }

    /// Where a stop of a port class began, as it is at one of its instants.
    fn origin_at(&self, port_class: usize, stop: Stop, at: u64, visited: &[usize]) -> Option<Origin> {
        let mut origin = None;
        let instant = Stop { from: at, to: at + 1, ..stop };
        let mut visited = [visited, &[port_class]].concat();
        self.follow(&instant, &mut visited, &mut |_, _, found| origin = found);
        origin
    }
}

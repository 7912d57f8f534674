//! Where stops began.

use floodway_units::PortId;

use super::super::parts::{Interval, Label, Origin};
use super::super::stops::{Source, Stop};
use super::super::trace::Trace;

impl Trace {
    /// How long a class was paused at an egress port, of times at which it was: from where to where, in
    /// order.
    pub(in crate::why) fn pauses(&self, port_class: usize, port: PortId, stops: &[Stop]) -> Vec<Interval> {
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
    pub(super) fn lasting(
        &self,
        port_class: usize,
        (from, now): (u64, u64),
        visited: &[usize],
    ) -> Option<Origin> {
        let last = self.paused[port_class].mostly(from, now)?;
        self.origin_at(port_class, last, last.to - 1, visited)
    }

    /// Where a stop of a port class began, as it is at one of its instants.
    pub(super) fn origin_at(
        &self,
        port_class: usize,
        stop: Stop,
        at: u64,
        visited: &[usize],
    ) -> Option<Origin> {
        let mut origin = None;
        let instant = Stop { from: at, to: at + 1, ..stop };
        let mut visited = [visited, &[port_class]].concat();
        self.follow(&instant, &mut visited, &mut |_, _, found| origin = found);
        origin
    }
}

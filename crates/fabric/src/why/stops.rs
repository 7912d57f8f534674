//! When something was stopped, and where that began.

use std::collections::VecDeque;

use super::{Interval, Label, Origin};
use crate::world::NEVER;

/// So many stops are kept though nobody may ask for them on the flow's behalf: the last ones tell why a queue is long.
const RECENT: usize = 32;

/// A stop that is over.
#[derive(Clone, Copy, Debug)]
struct Stop {
    from: u64,
    to: u64,
    origin: Option<Origin>,
}

/// The stops of a class at a port, or of a queue.
///
/// While a frame of it is on the wire it goes on, though it may not start another one: so a stop begins at that frame's
/// last bit, and a frame that is small enough to start all the same interrupts it.
#[derive(Clone, Debug)]
pub(super) struct Stops {
    /// When the stop in force begins, which may be still to come; never where there is none.
    since: u64,
    origin: Option<Origin>,
    /// In the order of time.
    past: VecDeque<Stop>,
}

impl Default for Stops {
    fn default() -> Self {
        Stops { since: NEVER, origin: None, past: VecDeque::new() }
    }
}

impl Stops {
    /// Of the stop in force: when it begins, and where that began.
    pub fn in_force(&self) -> Option<(u64, Option<Origin>)> {
        (self.since != NEVER).then_some((self.since, self.origin))
    }

    /// Where the last of the stops that are over began, if they took more than half of the time since `from`.
    pub fn mostly(&self, from: u64, now: u64) -> Option<Origin> {
        let recent = self.past.iter().rev().take_while(|stop| stop.to > from);
        let stopped: u64 = recent.map(|stop| stop.to - stop.from.max(from)).sum();
        if 2 * stopped > now - from { self.past.back()?.origin } else { None }
    }

    /// It is stopped from `from` on.
    pub fn stop(&mut self, from: u64, origin: Option<Origin>) {
        (self.since, self.origin) = (from, origin);
    }

    /// It goes on; nobody will ask for what was before `oldest`.
    pub fn go(&mut self, now: u64, oldest: u64) {
        self.end(now, oldest);
        (self.since, self.origin) = (NEVER, None);
    }

    /// A frame of it is on the wire from now on, whether it is stopped or not.
    pub fn interrupt(&mut self, now: u64, until: u64, oldest: u64) {
        if self.since != NEVER {
            self.end(now, oldest);
            self.since = until;
        }
    }

    fn end(&mut self, now: u64, oldest: u64) {
        while self.past.len() >= RECENT && self.past.front().is_some_and(|stop| stop.to <= oldest) {
            self.past.pop_front();
        }
        if self.since < now {
            self.past.push_back(Stop { from: self.since, to: now, origin: self.origin });
        }
    }

    /// Takes the stops out of times at which something waited: each with its label; what is left of the times.
    pub fn take_out_of(
        &self,
        waited: &[(u64, u64)],
        label: impl Fn(Option<Origin>) -> Label,
        stopped: &mut Vec<Interval>,
    ) -> Vec<(u64, u64)> {
        let first = waited.first().map_or(NEVER, |&(from, _)| from);
        let at = self.past.partition_point(|stop| stop.to <= first);
        let open = self.in_force().map(|(from, origin)| Stop { from, to: NEVER, origin });
        let mut left = Vec::new();
        for &(from, to) in waited {
            let mut from = from;
            for stop in self.past.range(at..).copied().chain(open) {
                let (begin, end) = (stop.from.max(from), stop.to.min(to));
                if begin < end {
                    if from < begin {
                        left.push((from, begin));
                    }
                    stopped.push(Interval { from: begin, to: end, label: label(stop.origin) });
                    from = end;
                }
            }
            if from < to {
                left.push((from, to));
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::PortId;

    use super::*;

    const PORT: PortId = PortId(4);

    /// From one instant to another.
    type Stretch = (u64, u64);

    fn taken(stops: &Stops, waited: &[Stretch]) -> (Vec<Stretch>, Vec<Stretch>) {
        let mut stopped = Vec::new();
        let left = stops.take_out_of(waited, |origin| Label::paused(PORT, origin), &mut stopped);
        (stopped.iter().map(|interval| (interval.from, interval.to)).collect(), left)
    }

    #[test]
    fn a_wait_is_cut_at_the_stops_within_it() {
        let mut stops = Stops::default();
        for (from, to) in [(10, 20), (30, 40), (50, 60)] {
            stops.stop(from, None);
            stops.go(to, 0);
        }
        stops.stop(70, None);
        let (stopped, left) = taken(&stops, &[(15, 35), (36, 45), (65, 90)]);
        assert_eq!(stopped, [(15, 20), (30, 35), (36, 40), (70, 90)]);
        assert_eq!(left, [(20, 30), (40, 45), (65, 70)]);
        assert_eq!(taken(&stops, &[]), (vec![], vec![]));
    }

    #[test]
    fn a_frame_of_its_own_interrupts_a_stop_and_one_on_the_wire_delays_it() {
        let mut stops = Stops::default();
        stops.stop(15, None);
        stops.interrupt(30, 42, 0);
        let (stopped, left) = taken(&stops, &[(10, 60)]);
        assert_eq!((stopped, left), (vec![(15, 30), (42, 60)], vec![(10, 15), (30, 42)]));
        // It goes on before that frame's last bit.
        stops.go(41, 0);
        assert_eq!(taken(&stops, &[(10, 60)]).0, [(15, 30)]);
        assert_eq!(stops.in_force(), None);
    }

    #[test]
    fn what_nobody_asks_for_is_forgotten() {
        let mut stops = Stops::default();
        for at in 0..100 {
            stops.stop(10 * at, None);
            stops.go(10 * at + 5, 10 * at);
        }
        assert!(stops.past.len() <= RECENT, "{stops:?}");
    }

    #[test]
    fn a_queue_that_was_stopped_for_most_of_its_time_is_long_for_that() {
        let (mut stops, origin) = (Stops::default(), Some(Origin::Port(PORT)));
        stops.stop(10, origin);
        stops.go(40, 0);
        stops.stop(50, origin);
        stops.go(60, 0);
        assert_eq!(stops.mostly(0, 79), origin);
        assert_eq!(stops.mostly(0, 80), None);
        assert_eq!(stops.mostly(55, 60), origin);
        assert_eq!(stops.mostly(60, 61), None);
    }
}

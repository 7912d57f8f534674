//! Stops: when something was stopped, and for which reason.

use std::collections::VecDeque;

use super::parts::Origin;
use crate::run::events::NEVER;

/// Number of stops that are kept even if the flow does not need them: the last ones explain a long queue.
const RECENT: usize = 32;

/// What a stop is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// It began there.
    At(Origin),
    /// The egress port of this port class holds what stays: while it is stopped itself, what that is for, and
    /// else this.
    Behind(usize, Origin),
}

/// A stop, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    pub from: u64,
    pub to: u64,
    /// When the whole of it began.
    pub began: u64,
    /// For what; of queues that a congestion point holds back, nothing.
    pub source: Option<Source>,
}

/// The stops of a class at a port, or of a queue.
///
/// While a frame of it is on the wire it goes on, though it may not start another one: so a stop begins at
/// that frame's last bit, and a frame that is small enough to start all the same interrupts it.
#[derive(Clone, Debug)]
pub(super) struct Stops {
    /// When the stop in force begins or goes on, which may be in the future; never if there is no stop.
    since: u64,
    /// When it began.
    began: u64,
    source: Option<Source>,
    /// In the order of time.
    past: VecDeque<Stop>,
}

impl Default for Stops {
    fn default() -> Self {
        Stops { since: NEVER, began: NEVER, source: None, past: VecDeque::new() }
    }
}

impl Stops {
    /// The stop in force, whose beginning may be still to come.
    pub fn in_force(&self) -> Option<Stop> {
        let &Stops { since: from, began, source, .. } = self;
        (from != NEVER).then_some(Stop { from, to: NEVER, began, source })
    }

    /// The last stop before `now`, if stops took more than half of the time since `from`.
    pub fn mostly(&self, from: u64, now: u64) -> Option<Stop> {
        let upto = self.past.partition_point(|stop| stop.from < now);
        let recent = self.past.range(..upto).rev().take_while(|stop| stop.to > from);
        let stopped: u64 = recent.map(|stop| stop.to.min(now) - stop.from.max(from)).sum();
        let last = || self.past.range(..upto).next_back().copied();
        if 2 * stopped > now - from { last() } else { None }
    }

    /// It is stopped from `from` on.
    pub fn stop(&mut self, from: u64, source: Option<Source>) {
        (self.since, self.began, self.source) = (from, from, source);
    }

    /// What stops it does so for something else from now on.
    pub fn turn(&mut self, now: u64, source: Source, oldest: u64) {
        if self.since != NEVER && self.source != Some(source) {
            self.end(now, oldest);
            (self.since, self.source) = (self.since.max(now), Some(source));
        }
    }

    /// It goes on; stops before `oldest` are no longer needed.
    pub fn go(&mut self, now: u64, oldest: u64) {
        self.end(now, oldest);
        (self.since, self.began, self.source) = (NEVER, NEVER, None);
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
            let (from, began, source) = (self.since, self.began, self.source);
            self.past.push_back(Stop { from, to: now, began, source });
        }
    }

    /// Takes the stops out of times at which something waited: those, and what is left of the times.
    pub fn take_out_of(&self, waited: &[(u64, u64)]) -> (Vec<Stop>, Vec<(u64, u64)>) {
        let first = waited.first().map_or(NEVER, |&(from, _)| from);
        let at = self.past.partition_point(|stop| stop.to <= first);
        let (mut stopped, mut left) = (Vec::new(), Vec::new());
        for &(from, to) in waited {
            let mut from = from;
            for stop in
                self.past.range(at..).copied().chain(self.in_force()).take_while(|stop| stop.from < to)
            {
                let (begin, end) = (stop.from.max(from), stop.to.min(to));
                if begin < end {
                    if from < begin {
                        left.push((from, begin));
                    }
                    stopped.push(Stop { from: begin, to: end, ..stop });
                    from = end;
                }
            }
            if from < to {
                left.push((from, to));
            }
        }
        (stopped, left)
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::PortId;

    use super::*;

    /// From one instant to another.
    type Stretch = (u64, u64);

    fn taken(stops: &Stops, waited: &[Stretch]) -> (Vec<Stretch>, Vec<Stretch>) {
        let (stopped, left) = stops.take_out_of(waited);
        (stopped.iter().map(|stop| (stop.from, stop.to)).collect(), left)
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
    fn stops_that_are_no_longer_needed_are_dropped() {
        let mut stops = Stops::default();
        for at in 0..100 {
            stops.stop(10 * at, None);
            stops.go(10 * at + 5, 10 * at);
        }
        assert!(stops.past.len() <= RECENT, "{stops:?}");
    }

    #[test]
    fn a_queue_that_was_stopped_for_most_of_its_time_is_long_for_that() {
        let mut stops = Stops::default();
        stops.stop(10, None);
        stops.go(40, 0);
        stops.stop(50, None);
        stops.go(60, 0);
        let last = |from, now| stops.mostly(from, now).map(|stop| (stop.from, stop.to));
        assert_eq!(last(0, 79), Some((50, 60)));
        assert_eq!(last(0, 80), None);
        assert_eq!(last(55, 60), Some((50, 60)));
        assert_eq!(last(60, 61), None);
        // As it was at an earlier instant.
        assert_eq!(last(0, 45), Some((10, 40)));
        assert_eq!(last(0, 52), Some((50, 60)));
    }

    #[test]
    fn a_stop_that_goes_on_for_something_else_is_one_stop_in_two_parts() {
        let source = |port| Source::At(Origin::Port(PortId(port)));
        let mut stops = Stops::default();
        stops.turn(5, source(1), 0);
        assert_eq!(stops.in_force(), None, "what is not stopped stays so");
        stops.stop(10, Some(source(1)));
        stops.turn(20, source(1), 0);
        stops.turn(30, source(2), 0);
        stops.go(40, 0);
        let part = |from, to, of| Stop { from, to, began: 10, source: Some(source(of)) };
        assert_eq!(stops.take_out_of(&[(0, 50)]).0, [part(10, 30, 1), part(30, 40, 2)]);
        // One that is still to begin.
        stops.stop(60, Some(source(1)));
        stops.turn(50, source(2), 0);
        assert_eq!(stops.in_force().map(|stop| stop.from), Some(60));
    }
}

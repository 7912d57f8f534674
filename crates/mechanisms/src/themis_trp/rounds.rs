//! Packets that circulate in a loop: which of them have made their passes, and when the next one has.

use std::collections::VecDeque;

use floodway_units::{Bytes, Class, Rate, Span, Time};

use crate::slots::Gate;

/// A round, in the units in which rounds are counted: so that fractions are kept.
const ROUND: u128 = 1 << 24;

/// Maximum that one round adds to the odds of a mark: above it a packet is almost certainly marked.
const SURE: f64 = 50.0;

/// RED at the loop: the probability that a packet is marked in a pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marking {
    pub kmin: Bytes,
    pub kmax: Bytes,
    pub pmax: f64,
}

impl Marking {
    /// The negative logarithm of the probability that a pass leaves no mark, for these bytes in the loop: so
    /// passes add up.
    fn odds(&self, bytes: Bytes) -> f64 {
        if bytes <= self.kmin || self.pmax == 0.0 {
            return 0.0;
        }
        if bytes > self.kmax {
            return SURE;
        }
        let above = (bytes.0 - self.kmin.0) as f64 / (self.kmax.0 - self.kmin.0) as f64;
        (-libm::log1p(-self.pmax * above)).min(SURE)
    }
}

/// No packet waits for its last round.
const NEVER: u128 = u128::MAX;

/// A packet that waits in one of the queues for slowed flows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    flow: u64,
    class: Class,
    frame: Bytes,
    /// The round, in units, after which it has made its passes.
    last: u128,
    /// When it may leave: not before earlier packets of its queue.
    leaves: u128,
    /// The odds of marks in all rounds until its arrival; once it has made its passes, the odds of its own
    /// rounds.
    odds: f64,
}

impl Held {
    pub fn new(flow: u64, class: Class, frame: Bytes) -> Self {
        Held { flow, class, frame, last: 0, leaves: 0, odds: 0.0 }
    }
}

/// The packets of a queue, in order: first those that have made their passes.
#[derive(Clone, Debug, Default)]
struct List {
    held: VecDeque<Held>,
    done: usize,
}

impl List {
    /// The round after which the next one has made its passes.
    fn next(&self) -> Option<u128> {
        self.held.get(self.done).map(|held| held.leaves)
    }
}

/// A loop: all its packets circulate together, once in `latency`, or in the time in which `rate` sends them.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    rate: Rate,
    latency: Span,
    marking: Marking,
    /// The odds of marks in all rounds so far.
    odds: f64,
    /// Bytes in the loop.
    bytes: Bytes,
    /// Rounds until `at`, in units. They are counted while the loop is not empty.
    passed: u128,
    at: Time,
    /// The lowest round after which a packet in the loop leaves it.
    next: u128,
    /// Classes whose packets have arrived, and the number of queues of each.
    classes: Vec<Class>,
    queues: usize,
    /// The lists of all classes, class by class.
    lists: Vec<List>,
}

impl Rounds {
    pub fn new(rate: Rate, latency: Span, marking: Marking, queues: usize) -> Self {
        Rounds {
            rate,
            latency,
            marking,
            odds: 0.0,
            bytes: Bytes::ZERO,
            passed: 0,
            at: Time::ZERO,
            next: NEVER,
            classes: Vec::new(),
            queues,
            lists: Vec::new(),
        }
    }

    /// Lets rounds pass until `now`.
    pub fn advance(&mut self, now: Time) {
        while self.next != NEVER {
            let due = self.when(self.next);
            if due > now {
                break;
            }
            self.step(due.max(self.at));
            self.finish();
        }
        self.step(now.max(self.at));
    }

    /// A packet of the class's queue `own` has arrived, which makes `passes` passes.
    pub fn enter(&mut self, own: usize, held: Held, passes: u32) {
        let at = self.list_of(held.class, own);
        let list = &mut self.lists[at];
        let last = self.passed + u128::from(passes) * ROUND;
        let leaves = list.held.back().map_or(last, |before| last.max(before.leaves));
        list.held.push_back(Held { last, leaves, odds: self.odds, ..held });
        if leaves <= self.passed {
            // So have all before it. It makes no pass.
            list.done += 1;
            if let Some(held) = list.held.back_mut() {
                held.odds = 0.0;
            }
        } else {
            self.bytes += held.frame;
            self.next = self.next.min(leaves);
        }
    }

    /// A packet of the flow leaves its queue, sent or not: returns the odds that its passes have marked it.
    pub fn leave(&mut self, own: usize, flow: u64, class: Class) -> f64 {
        let at = self.list_of(class, own);
        let list = &mut self.lists[at];
        let Some(place) = list.held.iter().position(|held| held.flow == flow) else { return 0.0 };
        let Some(held) = list.held.remove(place) else { return 0.0 };
        if place < list.done {
            list.done -= 1;
            return held.odds;
        }
        self.bytes = self.bytes.saturating_sub(held.frame);
        self.look();
        0.0
    }

    /// The packets of a flow leave the loop after the current round, or when those before them do.
    pub fn hurry(&mut self, own: usize, flow: u64) {
        let soon = self.passed + ROUND;
        for list in self.lists.iter_mut().skip(own).step_by(self.queues) {
            let mut before = 0;
            for held in list.held.iter_mut().skip(list.done) {
                if held.flow == flow {
                    held.last = held.last.min(soon);
                }
                held.leaves = held.last.max(before);
                before = held.leaves;
            }
        }
        self.look();
    }

    /// May the first packet of a queue leave?
    pub fn gate(&self, now: Time, class: Class, own: usize) -> Gate {
        let class = self.classes.iter().position(|&other| other == class);
        let Some(list) = class.and_then(|class| self.lists.get(class * self.queues + own)) else {
            return Gate::Open;
        };
        if list.done > 0 {
            return Gate::Open;
        }
        let due = list.next().map(|next| self.when(next));
        due.filter(|&due| due > now).map_or(Gate::Open, Gate::Until)
    }

    /// When the next packet has made its passes, if no packet arrives or leaves.
    pub fn next(&self) -> Option<Time> {
        (self.next != NEVER).then(|| self.when(self.next))
    }

    /// The duration of a round.
    fn round(&self) -> Span {
        self.latency.max(self.rate.time_to_send(self.bytes))
    }

    /// When this many rounds are over, rounded up.
    fn when(&self, rounds: u128) -> Time {
        let parts = rounds.saturating_sub(self.passed);
        let span = parts.saturating_mul(u128::from(self.round().0)).div_ceil(ROUND);
        let at = u128::from(self.at.0).saturating_add(span);
        Time(u64::try_from(at).unwrap_or(u64::MAX - 1))
    }

    /// Lets rounds pass until `to`, in none of which a packet makes its last pass.
    fn step(&mut self, to: Time) {
        if self.bytes > Bytes::ZERO {
            let span = u128::from(to.since(self.at).0);
            let rounds = span * ROUND / u128::from(self.round().0);
            self.passed += rounds;
            self.odds += rounds as f64 / ROUND as f64 * self.marking.odds(self.bytes);
        }
        self.at = to;
    }

    /// Removes the packets from the loop that have made their passes.
    fn finish(&mut self) {
        for list in &mut self.lists {
            while let Some(held) = list.held.get_mut(list.done).filter(|held| held.leaves <= self.passed) {
                self.bytes = self.bytes.saturating_sub(held.frame);
                held.odds = self.odds - held.odds;
                list.done += 1;
            }
        }
        self.look();
    }

    /// Finds the next packet to leave the loop.
    fn look(&mut self) {
        self.next = self.lists.iter().filter_map(List::next).min().unwrap_or(NEVER);
    }

    /// The list of a class's queue.
    fn list_of(&mut self, class: Class, own: usize) -> usize {
        let known = self.classes.iter().position(|&other| other == class);
        let class = known.unwrap_or_else(|| {
            self.classes.push(class);
            self.lists.resize_with(self.classes.len() * self.queues, List::default);
            self.classes.len() - 1
        });
        class * self.queues + own
    }
}

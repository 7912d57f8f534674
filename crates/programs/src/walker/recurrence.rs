//! Recurrence of a rank: its state as a text that is equal where it is equal but for time and iteration, and
//! iterations that are skipped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;

use floodway_units::Time;

use super::{ENDED, Input, NOT_STARTED, Progress, Unit, Walker};
use crate::Message;

impl Walker {
    /// The iteration that it executes, as it counts them, and when that began; none before it has begun its
    /// program, and once it is at its end.
    pub fn iteration(&self) -> Option<(u32, Time)> {
        (self.has_begun() && !self.finished).then_some((self.iteration, Time(self.began)))
    }

    /// Has it begun its program?
    pub fn has_begun(&self) -> bool {
        self.finished || !self.progress.is_empty()
    }

    /// So much was skipped before it begins, at the same time of the run: that is so much earlier now.
    pub fn begin_earlier(&mut self, ps: u64) {
        debug_assert!(!self.has_begun(), "it has not begun");
        self.began -= ps;
        self.inputs = BinaryHeap::from([Reverse((self.began, Input::Start))]);
    }

    /// So many iterations are skipped: it ends as much earlier, and counts on without them.
    pub fn skip(&mut self, iterations: u32) {
        self.skipped += iterations;
    }

    /// Iterations that were skipped.
    pub fn skipped(&self) -> u32 {
        self.skipped
    }

    /// Appends its state: instants count from `now`, iterations from `first`. Two ranks of one program whose
    /// texts are equal do the same from then on, as long as iterations are left to both.
    pub fn write_state(&self, now: Time, first: u32, out: &mut String) {
        let Walker {
            rank: _,
            iteration,
            began: _,
            skipped: _,
            progress,
            left,
            inputs,
            ready,
            units,
            matching,
            collectives,
            leaving,
            finished,
            predecessors,
        } = self;
        let count = Count { now: now.0, first };
        let mut write = |what: std::fmt::Arguments<'_>| out.write_fmt(what).expect("a text takes all");
        let iteration = count.iteration(*iteration);
        let predecessors = predecessors.is_some();
        write(format_args!(
            "iteration= {iteration} left= {left} finished= {finished} predecessors= {predecessors} operations="
        ));
        for &Progress { ready, start, unmet, after } in progress {
            let start = match start {
                ENDED | NOT_STARTED => start,
                at => count.time(at),
            };
            // Of one that is complete nothing is read any more.
            if start == ENDED {
                write(format_args!(" -"));
            } else {
                write(format_args!(" {} {start} {unmet} {after}", count.time(ready)));
            }
        }
        let mut pending: Vec<(u64, Input)> = inputs.iter().map(|&Reverse(input)| input).collect();
        pending.sort_unstable();
        for (at, input) in pending {
            let input = match input {
                Input::Received { from, message, step } => {
                    Input::Received { from, message: count.message(message), step }
                }
                Input::Sent { message } => Input::Sent { message: count.message(message) },
                Input::Left { .. } | Input::Computed { .. } | Input::Reduced { .. } | Input::Start => input,
            };
            write(format_args!(" input= {} {input:?}", count.time(at)));
        }
        let mut startable: Vec<(u64, u32)> = ready.iter().map(|&Reverse(one)| one).collect();
        startable.sort_unstable();
        write(format_args!(
            " startable= {:?}",
            startable.iter().map(|&(key, of)| (count.key(key), of)).collect::<Vec<_>>()
        ));
        for Unit { busy, waiting } in units {
            let mut waiting: Vec<(u64, u32)> = waiting.iter().map(|&Reverse(one)| one).collect();
            waiting.sort_unstable();
            let waiting: Vec<_> = waiting.iter().map(|&(key, of)| (count.key(key), of)).collect();
            write(format_args!(" busy= {busy} waiting= {waiting:?}"));
        }
        for (channel, behind) in leaving {
            write(format_args!(" leaving= {channel}"));
            for posting in behind {
                let posting = super::Posting { message: count.message(posting.message), ..*posting };
                write(format_args!(" {posting:?}"));
            }
        }
        write(format_args!(" matching= "));
        matching.write_state(first, out);
        out.push_str("collectives= ");
        collectives.write_state(count, out);
    }
}

/// How a text counts.
#[derive(Clone, Copy)]
pub(super) struct Count {
    now: u64,
    first: u32,
}

impl Count {
    pub fn time(self, at: u64) -> u64 {
        at.wrapping_sub(self.now)
    }

    /// When something is over, which does not matter once it has come.
    pub fn end(self, at: u64) -> u64 {
        at.saturating_sub(self.now)
    }

    pub fn iteration(self, iteration: u32) -> u32 {
        iteration.wrapping_sub(self.first)
    }

    fn message(self, message: Message) -> Message {
        Message { iteration: self.iteration(message.iteration), ..message }
    }

    /// What orders operations: an instant, or nothing.
    fn key(self, key: u64) -> u64 {
        if key == 0 { 0 } else { self.time(key) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use super::super::{Collectives, Matching};
    use super::*;

    /// In its sixth iteration, which began at 100 ps, in the middle of two operations.
    fn walker() -> Walker {
        let operation = |ready| Progress { ready, start: NOT_STARTED, unmet: 2, after: 1 };
        Walker {
            rank: 0,
            iteration: 5,
            began: 100,
            skipped: 0,
            progress: vec![operation(110), Progress { start: 115, ..operation(112) }],
            left: 2,
            inputs: BinaryHeap::from([Reverse((140, Input::Computed { operation: 1 }))]),
            ready: BinaryHeap::from([Reverse((120, 0))]),
            units: vec![Unit { busy: true, waiting: BinaryHeap::from([Reverse((130, 0))]) }],
            matching: Matching::default(),
            collectives: Collectives::default(),
            leaving: BTreeMap::new(),
            finished: false,
            predecessors: None,
        }
    }

    fn text(walker: &Walker, now: u64, first: u32) -> String {
        let mut out = String::new();
        walker.write_state(Time(now), first, &mut out);
        out
    }

    #[test]
    fn a_state_is_the_same_as_much_later_in_a_later_iteration() {
        let mut later = walker();
        later.iteration += 3;
        for progress in &mut later.progress {
            progress.ready += 1_000;
            if progress.start != NOT_STARTED {
                progress.start += 1_000;
            }
        }
        later.inputs = BinaryHeap::from([Reverse((1_140, Input::Computed { operation: 1 }))]);
        later.ready = BinaryHeap::from([Reverse((1_120, 0))]);
        later.units[0].waiting = BinaryHeap::from([Reverse((1_130, 0))]);
        assert_eq!(text(&walker(), 135, 5), text(&later, 1_135, 8));
        assert_ne!(text(&walker(), 135, 5), text(&later, 1_136, 8));
        assert_ne!(text(&walker(), 135, 5), text(&later, 1_135, 7));
    }

    #[test]
    fn each_part_of_a_state_shows() {
        let changes: [fn(&mut Walker); 14] = [
            |walker| walker.iteration += 1,
            |walker| walker.left += 1,
            |walker| walker.finished = true,
            |walker| walker.progress[0].ready += 1,
            |walker| walker.progress[1].start += 1,
            |walker| walker.progress[1].start = ENDED,
            |walker| walker.progress[0].unmet += 1,
            |walker| walker.progress[0].after += 1,
            |walker| walker.inputs = BinaryHeap::from([Reverse((141, Input::Computed { operation: 1 }))]),
            |walker| walker.inputs = BinaryHeap::from([Reverse((140, Input::Computed { operation: 0 }))]),
            |walker| walker.ready = BinaryHeap::from([Reverse((121, 0))]),
            |walker| walker.units[0].busy = false,
            |walker| walker.units[0].waiting = BinaryHeap::from([Reverse((130, 1))]),
            |walker| {
                walker.leaving.insert(3, VecDeque::new());
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut changed = walker();
            change(&mut changed);
            assert_ne!(text(&walker(), 135, 5), text(&changed, 135, 5), "change {number}");
        }
    }
}

//! Recurrence of a rank: its state as a text that is equal where it is equal but for time and iteration, and
//! iterations that are skipped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;

use floodway_units::Time;
use floodway_units::cast::narrow;

use super::{ENDED, Input, NO_OPERATION, NOT_STARTED, Posting, Progress, Round, Unit, Walker};
use crate::{Graph, Message, Program};

/// Where a rank is in its program: in its steady part states recur from round to round, else from iteration
/// to iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The iteration, as the rank counts them.
    pub iteration: u32,
    /// The round of that iteration, from 1; 0 before the first.
    pub round: u32,
}

impl Walker {
    /// Where it is; nowhere before it has begun its program, and once it is at its end.
    pub fn position(&self) -> Option<Position> {
        let position = Position { iteration: self.iteration, round: self.round.begun };
        (self.has_begun() && !self.finished).then_some(position)
    }

    /// When the iteration, and the round, began in which it is.
    pub fn began(&self) -> (Time, Option<Time>) {
        let Round { begun, at, .. } = self.round;
        (Time(self.began), Some(Time(at)).filter(|_| begun > 0))
    }

    /// A round begins: the rank starts its first operation.
    pub(super) fn begin_round(&mut self, graph: &Graph, now: u64) {
        let Some(rounds) = graph.rounds else { return };
        let begun = self.round.begun + 1;
        let next = if begun < rounds.count { rounds.first + begun * rounds.stride } else { NO_OPERATION };
        self.round = Round { begun, at: now, next, ..self.round };
    }

    /// Rounds of its graph to which it has done nothing yet, if all that it does is of earlier ones: then its
    /// state may recur from round to round.
    pub fn rounds_ahead(&self, program: &Program) -> Option<u32> {
        let rounds = program.rounds_of(self.rank)?;
        let graph = program.graph_of(self.rank);
        let is_open = |progress: &Progress| progress.start != ENDED;
        // One round is behind, so that what others still know of it is of a round, too.
        let first = narrow::<u32>(self.progress.iter().position(is_open)?);
        if first < rounds.first + rounds.stride {
            return None;
        }
        let last = self
            .progress
            .iter()
            .enumerate()
            .rposition(|(at, progress)| !is_untouched(graph, narrow(at), progress));
        let last = narrow::<u32>(last?);
        let behind = rounds.end().checked_sub(last + 1)?;
        Some(behind / rounds.stride)
    }

    /// So many rounds are skipped: the program is so much shorter in this iteration.
    pub fn skip_rounds(&mut self, shorter: &Program, rounds: u32) {
        let Some(of) = shorter.rounds_of(self.rank) else { return };
        let operations = rounds * of.stride;
        let from = of.end() as usize;
        self.progress.drain(from..from + operations as usize);
        self.left -= operations as usize;
        self.round.operations_skipped += operations;
        if self.round.begun >= of.count {
            self.round.next = NO_OPERATION;
        }
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

    /// Appends its state, as `count` counts. Two ranks of one program whose texts are equal do the same from
    /// then on, as long as iterations, or rounds, are left to both.
    pub fn write_state(&self, count: Count<'_>, out: &mut String) {
        let Walker {
            rank,
            iteration,
            began: _,
            skipped: _,
            progress,
            left,
            round: _,
            next_begins: _,
            inputs,
            ready,
            units,
            matching,
            collectives,
            leaving,
            finished,
            predecessors,
        } = self;
        let graph = count.program.graph_of(*rank);
        let own = |operation: u32| count.operation(*rank, operation);
        let mut write = |what: std::fmt::Arguments<'_>| out.write_fmt(what).expect("a text takes all");
        let iteration = count.iteration(*iteration);
        let left = i64::from(narrow::<u32>(*left)) + count.operations(*rank);
        let predecessors = predecessors.is_some();
        write(format_args!(
            "iteration= {iteration} left= {left} finished= {finished} predecessors= {predecessors} operations="
        ));
        for (operation, progress) in (0..).zip(progress) {
            let &Progress { ready, start, unmet, after } = progress;
            // Of one that is complete nothing is read any more.
            if start == ENDED || is_untouched(graph, operation, progress) {
                continue;
            }
            let start = if start == NOT_STARTED { i64::MAX } else { count.time(start) };
            let after = if after == NO_OPERATION { i64::MAX } else { own(after) };
            write(format_args!(" {}: {} {start} {unmet} {after}", own(operation), count.time(ready)));
        }
        let mut pending: Vec<(u64, Input)> = inputs.iter().map(|&Reverse(input)| input).collect();
        pending.sort_unstable();
        for (at, input) in pending {
            write(format_args!(" input= {} ", count.time(at)));
            match input {
                Input::Received { from, message, step } => {
                    write(format_args!("Received {from} {:?} {step}", count.message(from, message)));
                }
                Input::Sent { message } => write(format_args!("Sent {:?}", count.message(*rank, message))),
                Input::Computed { operation } => write(format_args!("Computed {}", own(operation))),
                Input::Reduced { operation, slice, step } => {
                    write(format_args!("Reduced {} {slice} {step}", own(operation)));
                }
                Input::Left { .. } | Input::Start => write(format_args!("{input:?}")),
            }
        }
        let listed = |waiting: &BinaryHeap<Reverse<(u64, u32)>>| {
            let mut waiting: Vec<(u64, u32)> = waiting.iter().map(|&Reverse(one)| one).collect();
            waiting.sort_unstable();
            waiting.into_iter().map(|(key, of)| (count.key(key), own(of))).collect::<Vec<_>>()
        };
        write(format_args!(" startable= {:?}", listed(ready)));
        for Unit { busy, waiting } in units {
            write(format_args!(" busy= {busy} waiting= {:?}", listed(waiting)));
        }
        for (channel, behind) in leaving {
            write(format_args!(" leaving= {channel}"));
            for posting in behind {
                write(format_args!(" {:?}", count.posting(*rank, posting)));
            }
        }
        write(format_args!(" matching= "));
        matching.write_state(count, own, out);
        out.push_str("collectives= ");
        collectives.write_state(count, own, out);
    }
}

/// Is an operation as it was when the iteration began?
fn is_untouched(graph: &Graph, operation: u32, progress: &Progress) -> bool {
    let waits_for = graph.operations[operation as usize].waits_for();
    progress.start == NOT_STARTED && progress.unmet == waits_for && waits_for > 0
}

/// How a text counts: instants, iterations and rounds from those of a rank of the job.
#[derive(Clone, Copy, Debug)]
pub struct Count<'p> {
    program: &'p Program,
    now: u64,
    first: Position,
}

impl<'p> Count<'p> {
    /// Instants count from `now`, iterations and rounds of a program from `first`.
    pub fn new(program: &'p Program, now: Time, first: Position) -> Self {
        Count { program, now: now.0, first }
    }

    /// An instant.
    pub fn time(self, at: u64) -> i64 {
        at.wrapping_sub(self.now).cast_signed()
    }

    /// When something is over, which does not matter once it has come.
    pub(super) fn end(self, at: u64) -> u64 {
        at.saturating_sub(self.now)
    }

    pub(super) fn iteration(self, iteration: u32) -> i64 {
        i64::from(iteration) - i64::from(self.first.iteration)
    }

    /// Operations of the rounds of a rank before the first.
    fn operations(self, rank: u32) -> i64 {
        let stride = self.program.rounds_of(rank).map_or(0, |rounds| rounds.stride);
        i64::from(self.first.round) * i64::from(stride)
    }

    pub(super) fn operation(self, rank: u32, operation: u32) -> i64 {
        i64::from(operation) - self.operations(rank)
    }

    /// The tag of a message of a rank.
    pub(super) fn tag(self, from: u32, tag: u64) -> i64 {
        let tags = self.program.rounds_of(from).map_or(0, |rounds| rounds.tags);
        tag.wrapping_sub(tags * u64::from(self.first.round)).cast_signed()
    }

    /// A message of a rank: its iteration, operation and transfer.
    pub fn message(self, from: u32, message: Message) -> (i64, i64, u32) {
        let Message { iteration, operation, transfer } = message;
        (self.iteration(iteration), self.operation(from, operation), transfer)
    }

    /// A message that a rank sends: where to, and which it is.
    pub fn posting(self, from: u32, posting: &Posting) -> (u32, u64, u32, (i64, i64, u32), u32) {
        let &Posting { to, bytes, channel, message, step } = posting;
        (to, bytes.0, channel, self.message(from, message), step)
    }

    /// What orders operations: an instant, or nothing.
    fn key(self, key: u64) -> i64 {
        if key == 0 { 0 } else { self.time(key) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use floodway_units::Span;

    use super::super::{Collectives, Matching};
    use super::*;
    use crate::{Kind, Operation, Rank};

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
            round: Round::default(),
            next_begins: None,
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

    /// A computation behind two others, which wait for each other's start.
    fn program() -> Program {
        let operation = || Operation {
            kind: Kind::Compute { time: Span(40) },
            requires: vec![2, 3, 4],
            requires_start: Vec::new(),
            unit: Some(0),
            name: 0,
        };
        let first = || Operation { requires: Vec::new(), unit: None, ..operation() };
        let graph = Graph::new(vec![operation(), operation(), first(), first(), first()]);
        let ranks = vec![Rank::default()];
        Program { graphs: vec![graph], ranks, iterations: 9, ..Program::default() }
    }

    fn text(walker: &Walker, now: u64, first: u32) -> String {
        let mut out = String::new();
        let (program, first) = (program(), Position { iteration: first, round: 0 });
        walker.write_state(Count::new(&program, Time(now), first), &mut out);
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
            |walker| walker.progress[0].unmet -= 1,
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

//! Critical path of a collective, or of an iteration: from the rank that ended last back to the start.
//!
//! Each step of the path follows from the one before at the instant at which that ends, so that the steps
//! add up to the time from start to end. A rank that waits for a peer is not on the path then: the peer is.
//!
//! ```text
//!   rank 2                       ┌─ message ─┐ reduction ┌ message ...
//!   rank 0    ┌─ computation ────┘
//!           start                                                    end: the last rank's
//! ```

use floodway_units::Time;
use floodway_units::cast::narrow;
use rustc_hash::FxHashMap;

use crate::program::{Kind, Program};
use crate::walker::{Ended, NONE, What};
use crate::{Message, Walker};

/// What a path is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Iteration of the program, from 0.
    pub iteration: u32,
    /// A collective: its group in the program's list, and its number there; else the whole iteration.
    pub call: Option<(u32, u32)>,
}

impl Target {
    /// How many operations of all ranks it is.
    pub fn operations(&self, program: &Program) -> u64 {
        let Some((group, sequence)) = self.call else {
            let ranks = 0..narrow::<u32>(program.ranks.len());
            return ranks.map(|rank| program.graph_of(rank).operations.len() as u64).sum();
        };
        let members = program.groups.get(group as usize).map_or(&[][..], Vec::as_slice);
        let calls = members.iter().filter(|&&rank| program.call_of(rank, group, sequence).is_some());
        calls.count() as u64
    }

    /// Is it, or a part of it, this operation of a rank?
    pub fn has(&self, program: &Program, rank: u32, (iteration, operation): (u32, u32)) -> bool {
        let Some(call) = self.call else { return iteration == self.iteration };
        let Kind::Collective { group, sequence, .. } = program.operation_of(rank, operation).kind else {
            return false;
        };
        iteration == self.iteration && (program.group_of(rank, group).0, sequence) == call
    }
}

/// From when to when a target was, as its operations end.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    target: Target,
    /// Operations that are not complete.
    left: u64,
    /// The start at the first rank.
    start: Time,
    /// The end at the last rank, that rank, and the event there.
    end: (Time, u32, u32),
}

impl Extent {
    /// Of a target of which nothing is complete.
    pub fn new(program: &Program, target: Target) -> Self {
        Extent { target, left: target.operations(program), start: Time(u64::MAX), end: (Time(0), 0, NONE) }
    }

    /// An operation of a rank is complete, by an event of the rank's log.
    pub fn add(&mut self, program: &Program, rank: u32, (ended, event): (&Ended, u32)) {
        if !self.target.has(program, rank, (ended.iteration, ended.operation)) {
            return;
        }
        self.left = self.left.saturating_sub(1);
        // An iteration begins when its first operations could, which need not be when their units are free.
        let start = if self.target.call.is_some() { ended.start } else { ended.ready };
        self.start = self.start.min(start);
        if (ended.end, rank) >= (self.end.0, self.end.1) {
            self.end = (ended.end, rank, event);
        }
    }

    /// Start and end, once all of it is complete.
    pub fn complete(&self) -> Option<(Time, Time)> {
        (self.left == 0 && self.start <= self.end.0).then_some((self.start, self.end.0))
    }
}

/// A step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it began; of the first step, the start of the path, if that is later.
    pub from: Time,
    /// When it ended.
    pub to: Time,
    /// The rank at which it ended.
    pub rank: u32,
    /// What took this time.
    pub kind: StepKind,
}

/// What a step of a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// A message, from its posting until it was there.
    Message {
        /// Its sender.
        from: u32,
        /// Which it is.
        message: Message,
    },
    /// A message of the rank, from its posting until that was complete, as the program says.
    Completion {
        /// Which it is.
        message: Message,
    },
    /// A message of the rank, from its posting until its last byte had left.
    Turn {
        /// Which it is.
        message: Message,
    },
    /// A computation.
    Computation {
        /// Iteration of the rank's program.
        iteration: u32,
        /// Operation of its graph.
        operation: u32,
    },
    /// A reduction of what had arrived for a collective.
    Reduction {
        /// Iteration of the rank's program.
        iteration: u32,
        /// Operation of its graph.
        operation: u32,
    },
}

impl Step {
    /// The rank, iteration and operation that it is a part of.
    pub fn operation(&self) -> (u32, u32, u32) {
        match self.kind {
            StepKind::Message { from, message } => (from, message.iteration, message.operation),
            StepKind::Completion { message } | StepKind::Turn { message } => {
                (self.rank, message.iteration, message.operation)
            }
            StepKind::Computation { iteration, operation } | StepKind::Reduction { iteration, operation } => {
                (self.rank, iteration, operation)
            }
        }
    }
}

/// The path of an extent that is complete, in the order of time, from the ranks' logs of predecessors since
/// its start or earlier. None if these logs did not have enough room, or there are none.
pub fn critical_path(extent: &Extent, walkers: &[&Walker]) -> Option<Vec<Step>> {
    let (start, _) = extent.complete()?;
    let mut path = Path { start: start.0, walkers, posted: FxHashMap::default(), steps: Vec::new() };
    if walkers.iter().any(|walker| walker.predecessors().is_none_or(|log| log.is_full)) {
        return None;
    }
    let (_, rank, event) = extent.end;
    let mut at = (event != NONE).then_some((rank, event));
    while let Some((rank, event)) = at {
        at = path.step_before(rank, event);
    }
    path.steps.reverse();
    Some(path.steps)
}

struct Path<'a> {
    start: u64,
    walkers: &'a [&'a Walker],
    /// By rank: its messages, and the events in which they were posted.
    posted: FxHashMap<u32, FxHashMap<u64, u32>>,
    steps: Vec<Step>,
}

impl Path<'_> {
    /// Adds the step that ended in an event; the event in which that step began, if that is after the start.
    fn step_before(&mut self, rank: u32, event: u32) -> Option<(u32, u32)> {
        let log = self.walkers[rank as usize].predecessors()?;
        let event = log.events[event as usize];
        if event.at <= self.start {
            return None;
        }
        let ((at_rank, before), kind) = match event.what {
            What::Start => return None,
            What::Received { from, message } => {
                (self.posting(from, message), StepKind::Message { from, message })
            }
            What::Sent { message } => (self.posting(rank, message), StepKind::Completion { message }),
            What::Left { message } => (self.posting(rank, message), StepKind::Turn { message }),
            What::Computed { iteration, operation } => {
                ((rank, event.before), StepKind::Computation { iteration, operation })
            }
            What::Reduced { iteration, operation } => {
                ((rank, event.before), StepKind::Reduction { iteration, operation })
            }
        };
        let before = (before != NONE).then_some((at_rank, before));
        let began = before.map_or(0, |(rank, event)| self.time_of(rank, event)).max(self.start);
        if began < event.at {
            self.steps.push(Step { from: Time(began), to: Time(event.at), rank, kind });
        }
        before
    }

    fn time_of(&self, rank: u32, event: u32) -> u64 {
        let log = self.walkers[rank as usize].predecessors();
        log.map_or(0, |log| log.events[event as usize].at)
    }

    /// The rank and the event in which it posted a message.
    fn posting(&mut self, rank: u32, message: Message) -> (u32, u32) {
        let walkers = self.walkers;
        let of_rank = self.posted.entry(rank).or_insert_with(|| {
            let log = walkers[rank as usize].predecessors();
            log.map(|log| log.posted.iter().copied().collect()).unwrap_or_default()
        });
        (rank, of_rank.get(&message.number()).copied().unwrap_or(NONE))
    }
}

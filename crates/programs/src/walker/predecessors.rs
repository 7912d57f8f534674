//! Log of predecessors: which event of a rank followed from which other one, for critical paths.
//!
//! All that a walker does at an instant follows from the input that it handles: an operation starts when the
//! last of what it waited for is there. So an event is an input from which something followed, and its
//! predecessor is the event in which its message was posted, or its computation was started. Inputs from
//! which nothing followed are not kept.

use std::collections::VecDeque;

use floodway_units::Time;
use floodway_units::cast::narrow;
use rustc_hash::FxHashMap;

use super::Input;
use crate::{Message, SendCompletes};

/// No event: before the log begins.
pub(crate) const NONE: u32 = u32::MAX;

/// What happened at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// It began its program.
    Start,
    /// A message of another rank was there as a whole.
    Received { from: u32, message: Message },
    /// A message of its own was complete.
    Sent { message: Message },
    /// The last byte of a message of its own had left, and the next one's turn came.
    Left { message: Message },
    /// A computation was over.
    Computed { iteration: u32, operation: u32 },
    /// What had arrived for a collective was reduced.
    Reduced { iteration: u32, operation: u32 },
}

/// An event of a rank from which something followed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub at: u64,
    pub what: What,
    /// Of a computation or reduction: the event in which it began.
    pub before: u32,
}

/// The log of a rank.
#[derive(Clone, Debug)]
pub(crate) struct PredecessorLog {
    /// Events before are not kept.
    from: u64,
    /// At most so many events, and postings.
    most: usize,
    pub events: Vec<Event>,
    /// Messages by their numbers, and the events in which they were posted.
    pub posted: Vec<(u64, u32)>,
    /// Some did not fit.
    pub is_full: bool,
    /// The event from which all follows that the walker does now, once something did.
    current: u32,
    pending: Option<Event>,
    /// By operation of the iteration: the event from which its start follows.
    starts: Vec<u32>,
    /// By channel: the message that leaves, where messages leave in turn.
    leaving: FxHashMap<u32, Message>,
    /// By operation, slice and step of a collective: reductions that are under way.
    reductions: FxHashMap<(u32, u32, u32), VecDeque<Reduction>>,
    last_reduced: u32,
}

/// A reduction: where it begins, and whether it takes time.
#[derive(Clone, Copy, Debug)]
enum Reduction {
    AtOnce(u32),
    After(u32),
    /// Behind the one that the rank is at.
    InTurn,
}

impl PredecessorLog {
    pub fn new(from: Time, most: usize) -> Self {
        PredecessorLog {
            from: from.0,
            most,
            events: Vec::new(),
            posted: Vec::new(),
            is_full: false,
            current: NONE,
            pending: None,
            starts: Vec::new(),
            leaving: FxHashMap::default(),
            reductions: FxHashMap::default(),
            last_reduced: NONE,
        }
    }

    /// An input is handled from now on.
    pub fn handle(&mut self, at: u64, input: Input, iteration: u32, completes: SendCompletes) {
        let (what, before) = match input {
            Input::Start => (What::Start, NONE),
            Input::Received { from, message, .. } => (What::Received { from, message }, NONE),
            // Complete when it is posted, which takes no time.
            Input::Sent { message } if completes == SendCompletes::Issued => {
                return self.resume(message.operation);
            }
            Input::Sent { message } => (What::Sent { message }, NONE),
            Input::Left { channel } => match self.leaving.remove(&channel) {
                Some(message) => (What::Left { message }, NONE),
                None => return self.go_on_from(NONE),
            },
            Input::Computed { operation } => (What::Computed { iteration, operation }, self.start(operation)),
            Input::Reduced { operation, slice, step } => {
                let key = (operation, slice, step);
                match self.next_reduction(key) {
                    Reduction::AtOnce(event) => return self.go_on_from(event),
                    Reduction::After(event) => (What::Reduced { iteration, operation }, event),
                    Reduction::InTurn => (What::Reduced { iteration, operation }, self.last_reduced),
                }
            }
        };
        self.pending = Some(Event { at, what, before });
        if let What::Reduced { .. } = what {
            // The next one may follow from it.
            self.last_reduced = self.event();
        }
    }

    fn go_on_from(&mut self, event: u32) {
        (self.pending, self.current) = (None, event);
    }

    fn next_reduction(&mut self, key: (u32, u32, u32)) -> Reduction {
        let Some(queue) = self.reductions.get_mut(&key) else { return Reduction::AtOnce(NONE) };
        let first = queue.pop_front();
        if queue.is_empty() {
            self.reductions.remove(&key);
        }
        first.unwrap_or(Reduction::AtOnce(NONE))
    }

    /// The event from which follows what the walker does now.
    pub fn event(&mut self) -> u32 {
        if let Some(event) = self.pending.take() {
            self.current = if event.at < self.from {
                NONE
            } else if push(&mut self.events, event, self.most) {
                narrow::<u32>(self.events.len()) - 1
            } else {
                self.is_full = true;
                NONE
            };
        }
        self.current
    }

    /// An operation may start, or its unit is free.
    pub fn may_start(&mut self, operation: u32) {
        let event = self.event();
        let index = operation as usize;
        if index >= self.starts.len() {
            self.starts.resize(index + 1, NONE);
        }
        self.starts[index] = event;
    }

    fn start(&self, operation: u32) -> u32 {
        self.starts.get(operation as usize).copied().unwrap_or(NONE)
    }

    /// What follows from the start of an operation is done now.
    pub fn resume(&mut self, operation: u32) {
        self.go_on_from(self.start(operation));
    }

    /// A message is posted.
    pub fn post(&mut self, message: Message) {
        let event = self.event();
        if event != NONE && !push(&mut self.posted, (message.number(), event), self.most) {
            self.is_full = true;
        }
    }

    /// A message that is posted leaves on a channel, with no other one before it.
    pub fn leaves(&mut self, channel: u32, message: Message) {
        self.leaving.insert(channel, message);
    }

    /// What arrived in a step of a collective is being reduced, until the rank is notified; perhaps behind
    /// another reduction.
    pub fn reduce(&mut self, key: (u32, u32, u32), takes_time: bool, is_behind: bool) {
        let event = self.event();
        let reduction = match (takes_time, is_behind) {
            (false, _) => Reduction::AtOnce(event),
            (true, false) => Reduction::After(event),
            (true, true) => Reduction::InTurn,
        };
        self.reductions.entry(key).or_default().push_back(reduction);
    }
}

/// Adds an entry unless there are `most`, for whose number no more memory is allocated.
fn push<T>(entries: &mut Vec<T>, entry: T, most: usize) -> bool {
    let count = entries.len();
    if count >= most {
        return false;
    }
    if count == entries.capacity() {
        entries.reserve_exact(count.max(16).min(most - count));
    }
    entries.push(entry);
    true
}

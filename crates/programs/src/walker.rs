//! Walker: executes a rank's graph as completions come.
//!
//! Inputs are what happened at the rank, with its time; they are handled in the order of (time, input),
//! whatever the order in which they came. Outputs are messages to send now, and operations that are complete.

mod collectives;
mod matching;
mod predecessors;
mod recurrence;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Time};

use crate::program::{Kind, Order, Program, SendCompletes};
use crate::{Course, Graph, Message};

use collectives::Collectives;
use matching::Matching;
use predecessors::PredecessorLog;
pub(crate) use predecessors::{NONE, What};
pub use recurrence::{Count, Position};

/// What happens at a rank. Of one instant, they happen in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Input {
    /// A message of this rank has arrived here.
    Received { from: u32, message: Message, step: u32 },
    /// The last byte of a message on this channel has left.
    Left { channel: u32 },
    /// A message of its own is complete.
    Sent { message: Message },
    /// An operation of the current iteration is over: a computation.
    Computed { operation: u32 },
    /// What arrived in a step of a collective is reduced.
    Reduced { operation: u32, slice: u32, step: u32 },
    /// It begins its program.
    Start,
}

/// A message to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The receiver.
    pub to: u32,
    /// Its payload.
    pub bytes: Bytes,
    /// The queue pair to that receiver.
    pub channel: u32,
    /// Which message it is.
    pub message: Message,
    /// Of a collective: the receiver's slice and step to which it belongs, as one number.
    pub step: u32,
}

/// An operation that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Ended {
    /// Iteration, from 0.
    pub iteration: u32,
    /// The operation of the rank's graph.
    pub operation: u32,
    /// When all that it requires was there.
    pub ready: Time,
    /// When it started.
    pub start: Time,
    /// When it was complete.
    pub end: Time,
    /// What it waited for last: another operation of the rank, or none at the program's start.
    pub after: Option<u32>,
    /// Of a receive, and of a collective: the rank whose message arrived last.
    pub last_from: Option<u32>,
}

/// What a walker has to say, for its caller to take out.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Messages to send now, in order.
    pub postings: Vec<Posting>,
    /// Operations that are complete, in the order in which they were.
    pub ended: Vec<Ended>,
    /// Where predecessors are [logged](Walker::log_predecessors): of each of these the event in which it was.
    pub events: Vec<u32>,
    /// Is the whole program of the rank complete?
    pub finished: bool,
}

/// What is known of an operation in the current iteration: ranks of large jobs have thousands of them.
#[derive(Clone, Copy, Debug)]
struct Progress {
    ready: u64,
    start: u64,
    /// What it still waits for.
    unmet: u32,
    /// What it waited for last, or [`NO_OPERATION`].
    after: u32,
}

const NO_OPERATION: u32 = u32::MAX;
/// The start of an operation that has not started, and of one that is complete.
const NOT_STARTED: u64 = u64::MAX;
const ENDED: u64 = u64::MAX - 1;

/// A rank in the course of its program.
#[derive(Clone, Debug)]
pub struct Walker {
    rank: u32,
    iteration: u32,
    /// When it began, and how many iterations were skipped before it.
    began: u64,
    skipped: u32,
    progress: Vec<Progress>,
    /// Operations of the iteration that are not complete.
    left: usize,
    round: Round,
    /// When the next iteration begins, if this event ended one.
    next_begins: Option<u64>,
    inputs: BinaryHeap<Reverse<(u64, Input)>>,
    /// Operations that can start, by [`key`](Self::key).
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    units: Vec<Unit>,
    matching: Matching,
    collectives: Collectives,
    /// Where messages leave in turn, by channel: those behind the one that leaves; none if none does.
    leaving: BTreeMap<u32, VecDeque<Posting>>,
    finished: bool,
    predecessors: Option<Box<PredecessorLog>>,
}

/// How far a rank is in the rounds of its graph, in this iteration.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// Rounds that have begun.
    begun: u32,
    /// When the last one began.
    at: u64,
    /// The operation with which the next one begins.
    next: u32,
    /// Operations of rounds that were skipped.
    operations_skipped: u32,
}

/// A unit, and the operations that wait for it.
#[derive(Clone, Debug, Default)]
struct Unit {
    busy: bool,
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Walker {
    /// Of a rank that begins its program at `start`.
    pub fn new(program: &Program, rank: u32, start: Time) -> Self {
        let units = program.graph_of(rank).units;
        Walker {
            rank,
            iteration: 0,
            began: start.0,
            skipped: 0,
            progress: Vec::new(),
            left: 0,
            round: Round::default(),
            next_begins: None,
            inputs: BinaryHeap::from([Reverse((start.0, Input::Start))]),
            ready: BinaryHeap::new(),
            units: vec![Unit::default(); units as usize],
            matching: Matching::default(),
            collectives: Collectives::default(),
            leaving: BTreeMap::new(),
            finished: false,
            predecessors: None,
        }
    }

    /// Keeps from which event what follows, from a time on: at most `most` events, and as many messages, of
    /// 32 and 16 bytes. [Critical paths](crate::critical_path) are found in these logs.
    pub fn log_predecessors(&mut self, from: Time, most: usize) {
        self.predecessors = Some(Box::new(PredecessorLog::new(from, most)));
    }

    pub(crate) fn predecessors(&self) -> Option<&PredecessorLog> {
        self.predecessors.as_deref()
    }

    /// A message of `from` is at this rank as a whole at `now`; `step` is that of its
    /// [`Arrival`](crate::Arrival).
    pub fn received(&mut self, now: Time, from: u32, message: Message, step: u32) {
        self.inputs.push(Reverse((now.0, Input::Received { from, message, step })));
    }

    /// A message that this rank has posted is complete at `now`, as [`SendCompletes`] says.
    pub fn sent(&mut self, now: Time, message: Message) {
        self.inputs.push(Reverse((now.0, Input::Sent { message })));
    }

    /// The last byte of a message that this rank has posted on a channel leaves at `now`, where messages
    /// leave [in turn](Program::in_turn).
    pub fn left(&mut self, now: Time, channel: u32) {
        self.inputs.push(Reverse((now.0, Input::Left { channel })));
    }

    /// When [`advance`](Self::advance) is next to be called.
    pub fn next_time(&self) -> Option<Time> {
        self.inputs.peek().map(|&Reverse((at, _))| Time(at))
    }

    /// Is its program complete?
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Iteration and operations that have started and are not complete, or could not start: what it waits
    /// for, once nothing more happens.
    pub fn waiting(&self) -> impl Iterator<Item = (u32, u32)> {
        let open = (0..).zip(&self.progress).filter(|(_, progress)| progress.start < ENDED);
        open.map(|(operation, _)| (self.iteration + self.skipped, operation + self.round.operations_skipped))
    }

    /// Handles all that has happened by `now`.
    pub fn advance<'p>(&mut self, course: impl Into<Course<'p>>, now: Time, out: &mut Output) {
        let course = course.into();
        loop {
            while let Some(&Reverse((at, input))) = self.inputs.peek()
                && at <= now.0
            {
                self.inputs.pop();
                self.handle(course, at, input, out);
                self.begin_next(course, out);
            }
            if self.ready.is_empty() {
                return;
            }
            while let Some(Reverse((_, operation))) = self.ready.pop() {
                self.start_or_wait(course.of(self.iteration), now.0, operation, out);
                self.begin_next(course, out);
            }
        }
    }

    /// Begins the next iteration, if one has ended.
    fn begin_next(&mut self, course: Course<'_>, out: &mut Output) {
        while let Some(at) = self.next_begins.take() {
            self.begin_iteration(course.of(self.iteration), at, out);
        }
    }

    fn handle(&mut self, course: Course<'_>, at: u64, input: Input, out: &mut Output) {
        let program = course.of(self.iteration);
        if let Some(log) = &mut self.predecessors {
            log.handle(at, input, self.iteration, program.send_completes);
        }
        match input {
            Input::Start => self.begin_iteration(program, at, out),
            Input::Left { channel } => self.next_in_turn(program, channel, out),
            Input::Computed { operation } => self.end(program, at, operation, None, out),
            Input::Sent { message } => self.handle_sent(program, at, message, out),
            Input::Received { from, message, step } => {
                // A sender may be in a later iteration.
                self.handle_received(course.of(message.iteration), at, from, (message, step), out);
            }
            Input::Reduced { operation, slice, step } => {
                self.step_received(program, at, (operation, slice, step), out);
            }
        }
    }

    /// Sends a message, or lets it wait for its turn.
    fn post(&mut self, program: &Program, posting: Posting, out: &mut Output) {
        if program.in_turn {
            if let Some(behind) = self.leaving.get_mut(&posting.channel) {
                behind.push_back(posting);
                return;
            }
            self.leaving.insert(posting.channel, VecDeque::new());
        }
        self.post_now(program, posting, out);
    }

    fn post_now(&mut self, program: &Program, posting: Posting, out: &mut Output) {
        if let Some(log) = &mut self.predecessors {
            log.post(posting.message);
            if program.in_turn {
                log.leaves(posting.channel, posting.message);
            }
        }
        out.postings.push(posting);
    }

    fn next_in_turn(&mut self, program: &Program, channel: u32, out: &mut Output) {
        match self.leaving.get_mut(&channel).and_then(VecDeque::pop_front) {
            Some(posting) => self.post_now(program, posting, out),
            None => {
                self.leaving.remove(&channel);
            }
        }
    }

    fn begin_iteration(&mut self, program: &Program, at: u64, out: &mut Output) {
        let graph = program.graph_of(self.rank);
        self.began = at;
        let next = graph.rounds.map_or(NO_OPERATION, |rounds| rounds.first);
        self.round = Round { next, ..Round::default() };
        self.left = graph.operations.len();
        self.progress.clear();
        self.progress.extend(graph.operations.iter().map(|operation| Progress {
            unmet: operation.waits_for(),
            ready: at,
            start: NOT_STARTED,
            after: NO_OPERATION,
        }));
        for operation in 0..narrow::<u32>(graph.operations.len()) {
            if self.progress[operation as usize].unmet == 0 {
                self.is_ready(program, operation);
            }
        }
        if self.left == 0 {
            self.end_iteration(program, at, out);
        }
    }

    fn end_iteration(&mut self, program: &Program, at: u64, out: &mut Output) {
        self.iteration += 1;
        if self.iteration + self.skipped >= program.iterations
            || program.graph_of(self.rank).operations.is_empty()
        {
            (self.finished, out.finished) = (true, true);
            // Tables of results are made while the walkers are still there.
            (self.progress, self.ready) = (Vec::new(), BinaryHeap::new());
        } else {
            self.next_begins = Some(at);
        }
    }

    /// One thing less that an operation waits for.
    fn met(&mut self, program: &Program, at: u64, operation: u32, by: u32) {
        let progress = &mut self.progress[operation as usize];
        progress.unmet -= 1;
        (progress.ready, progress.after) = (at, by);
        if progress.unmet == 0 {
            self.is_ready(program, operation);
        }
    }

    fn is_ready(&mut self, program: &Program, operation: u32) {
        let key = self.key(program, operation);
        self.ready.push(Reverse((key, operation)));
        if let Some(log) = &mut self.predecessors {
            log.may_start(operation);
        }
    }

    /// What orders operations that could start.
    fn key(&self, program: &Program, operation: u32) -> u64 {
        match program.order {
            Order::FirstReady => self.progress[operation as usize].ready,
            Order::Listed => 0,
        }
    }

    /// Starts an operation, unless its unit is busy.
    fn start_or_wait(&mut self, program: &Program, now: u64, operation: u32, out: &mut Output) {
        let graph = program.graph_of(self.rank);
        if let Some(unit) = graph.operations[operation as usize].unit {
            let key = self.key(program, operation);
            let unit = &mut self.units[unit as usize];
            if unit.busy {
                unit.waiting.push(Reverse((key, operation)));
                return;
            }
            unit.busy = true;
        }
        self.start(program, graph, now, operation, out);
    }

    fn start(&mut self, program: &Program, graph: &Graph, now: u64, operation: u32, out: &mut Output) {
        if let Some(log) = &mut self.predecessors {
            log.resume(operation);
        }
        self.progress[operation as usize].start = now;
        if operation == self.round.next {
            self.begin_round(graph, now);
        }
        for &follower in &graph.followers[operation as usize].of_start {
            self.met(program, now, follower, operation);
        }
        match graph.operations[operation as usize].kind {
            Kind::Send { peer, bytes, channel, .. } => {
                let to = program.ranks[self.rank as usize].peers[peer as usize];
                let message = Message { iteration: self.iteration, operation, transfer: 0 };
                self.post(program, Posting { to, bytes, channel, message, step: 0 }, out);
                if program.send_completes == SendCompletes::Issued {
                    self.inputs.push(Reverse((now, Input::Sent { message })));
                }
            }
            Kind::Recv { peer, tag } => {
                let from = peer.map(|peer| program.ranks[self.rank as usize].peers[peer as usize]);
                if let Some(from) = self.matching.post(self.iteration, from, tag, operation) {
                    self.end(program, now, operation, Some(from), out);
                }
            }
            Kind::Compute { time } => {
                let end = now.saturating_add(time.0);
                self.inputs.push(Reverse((end, Input::Computed { operation })));
            }
            Kind::Collective { plan, group, .. } => {
                self.open_collective(program, now, (operation, plan, group), out);
            }
        }
    }

    fn end(&mut self, program: &Program, at: u64, operation: u32, last_from: Option<u32>, out: &mut Output) {
        let graph = program.graph_of(self.rank);
        let progress = &mut self.progress[operation as usize];
        let start = std::mem::replace(&mut progress.start, ENDED);
        out.ended.push(Ended {
            iteration: self.iteration,
            operation,
            ready: Time(progress.ready),
            start: Time(start),
            end: Time(at),
            after: Some(progress.after).filter(|&after| after != NO_OPERATION),
            last_from,
        });
        if let Some(log) = &mut self.predecessors {
            out.events.push(log.event());
        }
        self.left -= 1;
        if let Some(unit) = graph.operations[operation as usize].unit {
            let unit = &mut self.units[unit as usize];
            unit.busy = false;
            if let Some(next) = unit.waiting.pop() {
                self.ready.push(next);
                if let Some(log) = &mut self.predecessors {
                    log.may_start(next.0.1);
                }
            }
        }
        for &follower in &graph.followers[operation as usize].of_end {
            self.met(program, at, follower, operation);
        }
        if self.left == 0 {
            self.end_iteration(program, at, out);
        }
    }

    fn handle_sent(&mut self, program: &Program, at: u64, message: Message, out: &mut Output) {
        match program.operation_of(self.rank, message.operation).kind {
            Kind::Send { .. } => self.end(program, at, message.operation, None, out),
            _ => self.transfer_sent(program, at, message, out),
        }
    }

    fn handle_received(
        &mut self,
        program: &Program,
        at: u64,
        from: u32,
        (message, step): (Message, u32),
        out: &mut Output,
    ) {
        match program.operation_of(from, message.operation).kind {
            Kind::Send { tag, .. } => {
                if let Some(operation) = self.matching.arrive(message.iteration, from, tag) {
                    self.end(program, at, operation, Some(from), out);
                }
            }
            _ => self.transfer_received(program, at, from, (message, step)),
        }
    }
}

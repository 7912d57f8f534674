//! Windows of the shortest link, in which each node executes its events.
//!
//! ```text
//!  window   |<----------- length ----------->|<----------- length ----------->|
//!  node 0    its events, in their order       .           what it sends arrives here
//!  node 1    its events, in their order       .           at the earliest
//!  node 2    ...                              .
//! ```
//! Nothing that a node does in a window reaches another one before the window is over, since a window is no
//! longer than the shortest link's delay. So the nodes are executed one after the other, each with all its
//! events of the window, in the same order as among the events of all nodes: by time and order, the least
//! pending event first. The results are the same to the byte.
//!
//! An event that a node adds for itself within the window goes into a short sorted list; any other one into
//! the inbox of its node, unsorted, where it lies until the node is visited; one that is far away into one
//! queue for all. What concerns the whole network (a link that fails) is a step: the window ends after its
//! instant, and it is executed when all nodes have reached it.
//!
//! Where nodes form groups, a group takes the place of a node here.
//!
//! With several threads, each has the events of the nodes that it owns, and an outbox for each other thread
//! ([`worker_pool`](crate::run::worker_pool)).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use floodway_engine::{Event, Item, Queue, memory, sink};
use floodway_units::Time;
use floodway_units::cast::{narrow, to_usize};

use self::order::{STRETCHES, deal, sort_nearly};

mod cut;
mod exchange;
mod order;

/// Windows whose events are in inboxes: the current one, and those after it.
const NEAR: usize = 3;
/// Inboxes of no more events are sorted at once.
const FEW: usize = 6;
/// So many pending events that a node has added in a visit lie in order; more of them in a heap.
const MANY: usize = 64;
/// No node.
const NO_NODE: u32 = u32::MAX;

/// The events of all nodes.
#[derive(Debug)]
pub(crate) struct Windows {
    /// Length of a window.
    length: u64,
    /// A stretch of a window is two to this many picoseconds.
    stretch: u32,
    /// The current window: windows are numbered from the start of the run.
    window: u64,
    /// Where it and those after it end whose events lie in inboxes.
    ends: [u64; NEAR],
    /// Visits take what comes before this.
    stop: u64,
    /// The node that is visited.
    node: u32,
    /// Its events of this window, as they were when it was entered, in order; and how many of them are over.
    sorted: Vec<Event>,
    at: usize,
    /// Those that it has added since, in order; and how many of them are over.
    added: Vec<Event>,
    first: usize,
    /// More of them, where they are many.
    added_heap: BinaryHeap<Reverse<Event>>,
    /// By node: events of the windows from the present one on, in no order. Without memory where another
    /// thread owns the node, so that owners are looked up only where an inbox is full.
    inboxes: Vec<Vec<Event>>,
    /// By window, in turn, and node, as bits: whether there are events.
    due: Box<[u64]>,
    /// Words of bits a window.
    words: usize,
    /// Where the bits of the present window begin, and of those after it.
    rows: [usize; NEAR],
    /// Events of later windows, in order, by their places in `far`: item and node.
    later: Queue,
    far: Vec<(Item, u32)>,
    free: Vec<u32>,
    /// Steps of the whole network: time and order.
    steps: BinaryHeap<Reverse<(u64, u64)>>,
    /// This thread.
    thread: u8,
    /// By group: the thread that owns it.
    owners: Arc<[u8]>,
    /// By thread: events for the groups that it owns.
    outboxes: Vec<Vec<(u32, Event)>>,
    /// Events for groups of other processes: those whose owner is no thread of this one.
    elsewhere: Vec<(u32, Event)>,
}

/// What was pending.
#[derive(Debug)]
pub(crate) struct Drained {
    /// Events, with their nodes.
    pub events: Vec<(u32, Event)>,
    /// Steps of the whole network: time and order.
    pub steps: Vec<(u64, u64)>,
}

/// The next thing to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nodes are visited, those that [`Windows::due_in`] names, and do what comes before this.
    Visits(u64),
    /// A step of the whole network, at this time and of this order.
    Step(u64, u64),
    /// Nothing more before the end.
    End,
}

impl Windows {
    /// For this number of nodes, none of which reaches another in less than `length`.
    pub fn new(nodes: usize, length: u64) -> Self {
        debug_assert!(length > 0, "windows have a length");
        let words = nodes.div_ceil(64);
        Windows {
            length,
            stretch: (u64::BITS - length.leading_zeros()).saturating_sub(STRETCHES.ilog2()),
            window: 0,
            ends: ends(0, length),
            stop: 0,
            node: NO_NODE,
            sorted: Vec::new(),
            at: 0,
            added: Vec::new(),
            first: 0,
            added_heap: BinaryHeap::new(),
            inboxes: vec![Vec::new(); nodes],
            due: vec![0; NEAR * words].into(),
            words,
            rows: std::array::from_fn(|row| row * words),
            later: Queue::default(),
            far: Vec::new(),
            free: Vec::new(),
            steps: BinaryHeap::new(),
            thread: 0,
            owners: vec![0; nodes].into(),
            outboxes: Vec::new(),
            elsewhere: Vec::new(),
        }
    }

    /// Adds an event of a node: of one of another group than that which is visited, not before the window is
    /// over.
    #[inline]
    pub fn push(&mut self, node: u32, event: Event) {
        if event.time.0 < self.stop {
            debug_assert_eq!(node, self.node, "nothing reaches another node within a window");
            return self.add(event);
        }
        self.send(node, event);
    }

    /// Adds an event that does not come before the window is over, or in this visit.
    #[inline]
    pub fn send(&mut self, node: u32, event: Event) {
        let at = event.time.0;
        debug_assert!(at >= self.stop, "nothing reaches another node within a window");
        let inbox = &mut self.inboxes[node as usize];
        // The inbox of a group that another thread owns has no room.
        if at >= self.ends[NEAR - 1] || inbox.len() == inbox.capacity() {
            return self.send_otherwise(node, event);
        }
        debug_assert_eq!(self.owners[node as usize], self.thread, "only its owner keeps a group's events");
        inbox.push(event);
        let ahead = usize::from(at >= self.ends[0]) + usize::from(at >= self.ends[1]);
        self.due[self.rows[ahead] + node as usize / 64] |= 1 << (node % 64);
    }

    /// The same, of an event that is far away, that another thread gets, or for which the inbox has to grow.
    #[inline(never)]
    fn send_otherwise(&mut self, node: u32, event: Event) {
        let owner = self.owners[node as usize];
        if owner != self.thread {
            return self.send_out(owner, node, event);
        }
        if event.time.0 >= self.ends[NEAR - 1] {
            return self.push_later(node, event);
        }
        memory::reserve(&mut self.inboxes[node as usize], 1);
        self.send(node, event);
    }

    /// The bits of the window that is `ahead` windows after the current one.
    fn due(&self, ahead: usize) -> &[u64] {
        let first = self.rows[ahead];
        &self.due[first..first + self.words]
    }

    fn enter(&mut self, window: u64) {
        self.window = window;
        self.ends = ends(window, self.length);
        self.rows = std::array::from_fn(|ahead| to_usize(window + ahead as u64) % NEAR * self.words);
    }

    /// Adds a step of the whole network.
    pub fn push_step(&mut self, at: u64, order: u64) {
        self.steps.push(Reverse((at, order)));
    }

    #[inline(never)]
    fn push_later(&mut self, node: u32, event: Event) {
        let place = self.free.pop().unwrap_or_else(|| narrow(self.far.len()));
        let kept = (event.item, node);
        match self.far.get_mut(place as usize) {
            Some(far) => *far = kept,
            None => memory::push(&mut self.far, kept),
        }
        self.later.push(event.time, event.order, Item::of_number(place as usize));
    }

    /// Adds an event of the node that is visited, which comes in this visit.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn add(&mut self, event: Event) {
        if self.first == self.added.len() {
            self.added.clear();
            self.first = 0;
        } else if self.added.len() - self.first >= MANY {
            return memory::push_heap(&mut self.added_heap, Reverse(event));
        }
        memory::push(&mut self.added, event);
        sink(&mut self.added[self.first..]);
    }

    /// What comes next before `end`, when all that came before it is done.
    pub fn next(&mut self, end: u64) -> Next {
        self.end();
        loop {
            let begin = self.window * self.length;
            if begin >= end {
                return Next::End;
            }
            let limit = self.ends[0].min(end);
            let step = self.steps.peek().map(|&Reverse(step)| step).filter(|&(at, _)| at < limit);
            // A step comes last of its instant.
            let stop = step.map_or(limit, |(at, _)| at + 1);
            if self.has_due(stop) {
                self.stop = stop;
                return Next::Visits(stop);
            }
            if let Some((at, order)) = step {
                self.steps.pop();
                return Next::Step(at, order);
            }
            if self.ends[0] > end {
                return Next::End;
            }
            self.enter_next(end);
        }
    }

    /// Does a node have events of this window before `stop`?
    fn has_due(&self, stop: u64) -> bool {
        let due = self.due(0);
        if stop == self.ends[0] {
            return due.iter().any(|&bits| bits != 0);
        }
        nodes(due).any(|node| self.inboxes[node].iter().any(|event| event.time.0 < stop))
    }

    /// Enters the next window in which something happens, or that of `end`, whichever is first.
    fn enter_next(&mut self, end: u64) {
        let is_due = |ahead: &usize| self.due(*ahead).iter().any(|&bits| bits != 0);
        let ahead = (1..NEAR).find(is_due);
        let until = self.steps.peek().map_or(end, |&Reverse((at, _))| at.min(end));
        let window = match ahead {
            Some(ahead) => self.window + ahead as u64,
            None => self.later.pop_before(Time(until)).map_or(u64::MAX, |event| self.skip_to(event)),
        };
        // Even in a network at rest, an event that is added later must find a window that is not over.
        self.enter(window.min(until / self.length).max(self.window + 1));
        self.fetch_later();
    }

    /// Events of later windows that lie in inboxes from now on.
    fn fetch_later(&mut self) {
        let near = Time(self.ends[NEAR - 1]);
        while let Some(event) = self.later.pop_before(near) {
            self.come_near(event);
        }
    }

    /// Nothing is near: the next event, which is far, is the first of its window.
    fn skip_to(&mut self, event: Event) -> u64 {
        let (before, window) = (self.window, event.time.0 / self.length);
        self.enter(window);
        self.come_near(event);
        self.enter(before);
        window
    }

    fn come_near(&mut self, event: Event) {
        let (item, node) = self.far[event.item.number()];
        self.free.push(narrow(event.item.number()));
        self.push(node, Event { item, ..event });
    }

    /// Notes which nodes have events of this window, by their numbers.
    #[expect(clippy::cast_possible_truncation, reason = "nodes are fewer than 2^27")]
    pub fn due_in(&self, nodes_due: &mut Vec<u32>) {
        nodes_due.clear();
        nodes_due.extend(nodes(self.due(0)).map(|node| node as u32));
    }

    /// Takes the events of a node that come before the window's end out of its inbox, in order, for a visit
    /// that is to come.
    #[inline(never)]
    pub fn prepare(&mut self, node: u32, sorted: &mut Vec<Event>) {
        let begin = self.window * self.length;
        let (stop, stretch) = (self.stop, self.stretch);
        let bit = self.rows[0] + node as usize / 64;
        self.due[bit] &= !(1 << (node % 64));
        sorted.clear();
        let inbox = &mut self.inboxes[node as usize];
        if inbox.len() <= FEW {
            inbox.retain(|event| {
                event.time.0 >= stop || {
                    memory::push(sorted, *event);
                    false
                }
            });
        } else {
            deal(inbox, sorted, stop, |event| (event.time.0 - begin) >> stretch);
        }
        sort_nearly(sorted);
        let end = self.ends[0];
        if stop < end && inbox.iter().any(|event| event.time.0 < end) {
            self.due[bit] |= 1 << (node % 64);
        }
    }

    /// As these, without events, but no longer than this.
    pub fn shorter(&self, most: u64) -> Self {
        Windows::new(self.inboxes.len(), self.length.min(most).max(1))
    }

    /// All events and steps that are pending, in no order.
    pub fn pending(&mut self) -> Vec<Event> {
        let mut all: Vec<Event> = self.inboxes.iter().flatten().copied().collect();
        let later: Vec<Event> = std::iter::from_fn(|| self.later.pop_before(Time::NEVER)).collect();
        self.later = Queue::default();
        for event in later {
            self.later.push(event.time, event.order, event.item);
            all.push(Event { item: self.far[event.item.number()].0, ..event });
        }
        all.extend(self.outboxes.iter().flatten().map(|&(_, event)| event));
        let step =
            |&Reverse((at, order)): &Reverse<(u64, u64)>| Event { time: Time(at), order, item: Item::NONE };
        all.extend(self.steps.iter().map(step));
        all
    }

    /// Takes everything out.
    pub fn drain(&mut self) -> Drained {
        let inboxes = (0..).zip(&mut self.inboxes);
        let near = inboxes.flat_map(|(node, inbox)| inbox.drain(..).map(move |event| (node, event)));
        let mut events: Vec<(u32, Event)> = near.collect();
        while let Some(event) = self.later.pop_before(Time::NEVER) {
            let (item, node) = self.far[event.item.number()];
            events.push((node, Event { item, ..event }));
        }
        events.extend(self.outboxes.iter_mut().flat_map(|events| events.drain(..)));
        self.far.clear();
        self.free.clear();
        self.later = Queue::default();
        self.due.fill(0);
        Drained { events, steps: self.steps.drain().map(|Reverse(step)| step).collect() }
    }

    /// Visits a node for which `sorted` has been prepared.
    pub fn visit(&mut self, node: u32, sorted: &mut Vec<Event>) {
        self.node = node;
        std::mem::swap(&mut self.sorted, sorted);
        (self.at, self.first) = (0, 0);
        self.added.clear();
    }

    /// The least pending event of the node that is visited.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        let event = self.pop_least();
        debug_assert!(
            event.is_none_or(|event| event.time.0 < self.stop),
            "it comes before the window is over"
        );
        event
    }

    #[inline]
    fn pop_least(&mut self) -> Option<Event> {
        if !self.added_heap.is_empty() {
            return self.pop_crowded();
        }
        let (known, added) = (self.sorted.get(self.at), self.added.get(self.first));
        match (known, added) {
            (Some(known), None) => {
                self.at += 1;
                Some(*known)
            }
            (Some(known), Some(added)) if known < added => {
                self.at += 1;
                Some(*known)
            }
            (_, Some(added)) => {
                self.first += 1;
                Some(*added)
            }
            (None, None) => None,
        }
    }

    /// As [`Windows::pop`], where many events have been added in the visit.
    #[cold]
    fn pop_crowded(&mut self) -> Option<Event> {
        let known = self.sorted.get(self.at).copied();
        let added = self.added.get(self.first).copied();
        let from_heap = self.added_heap.peek().map(|&Reverse(event)| event);
        let least = [known, added, from_heap].into_iter().flatten().min()?;
        if known == Some(least) {
            self.at += 1;
        } else if added == Some(least) {
            self.first += 1;
        } else {
            self.added_heap.pop();
        }
        Some(least)
    }

    /// The event of the visit `by` events after the next one, among those that were known when it began.
    #[inline]
    pub fn peek(&self, by: usize) -> Option<&Event> {
        self.sorted.get(self.at + by)
    }
}

/// Where a window ends, and those after it whose events lie in inboxes.
fn ends(window: u64, length: u64) -> [u64; NEAR] {
    std::array::from_fn(|ahead| (window + ahead as u64 + 1) * length)
}

/// The members of a set of bits.
fn nodes(bits: &[u64]) -> impl Iterator<Item = usize> {
    bits.iter().enumerate().flat_map(|(word, &bits)| {
        let first = Some(bits).filter(|&bits| bits != 0);
        let rest = std::iter::successors(first, |bits| Some(bits & (bits - 1)).filter(|&bits| bits != 0));
        rest.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests;

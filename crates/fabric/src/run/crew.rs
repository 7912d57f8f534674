//! Windows on several threads: who visits which nodes, and how threads meet.
//!
//! ```text
//!  window    |<------ length ------>|        |<------ length ------>|
//!  thread 0   node 0  node 3  node 4 | meet | node 0  node 1  node 3 | meet
//!  thread 1   node 1  node 2         | meet | node 2  node 5         | meet
//!                                    events for the other's nodes are handed over
//! ```
//! Each node has a home, the thread that visits it. An event of another node that comes after the window goes to that
//! node's thread, when all meet. So nobody reads what another one writes, but where they meet; and what happens at a node
//! owes nothing to who visits it.
//!
//! Homes follow the network's structure at first, so that what sends to one another is together. From then on they follow
//! what the last epochs cost: of a thread that has more to do than the others, some nodes get another home. Where little
//! happens in a window, one thread goes through all of it.

use std::mem;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use floodway_engine::{Event, Meeting};
use floodway_units::Time;

use crate::host::queue_pairs::Posted;
use crate::pool::Lent;
#[cfg(debug_assertions)]
use crate::pool::turn;
use crate::run::by_node::{REPORTED, Shift, Visits};
use crate::run::groups::Groups;
use crate::run::node::Node;
use crate::run::threads::{Staffing, deal};
use crate::run::windows::Drained;
use crate::run::world::World;

/// So many events in a window, for each thread, are worth a meeting.
const PAYS: u64 = 100;
/// What says that the run is to stop; else it is one more than the number of a window.
const STOP: u64 = 0;

/// Threads that go through windows together.
pub(crate) struct Crew {
    threads: usize,
    /// They do so however little happens.
    always: bool,
    /// By group of nodes: its home.
    homes: Arc<[u8]>,
    /// By group: its events, those of earlier stretches less and less.
    costs: Vec<u64>,
    /// Events and windows of the last stretch.
    last: (u64, u64),
    /// Windows of earlier stretches.
    before: u64,
    meeting: Meeting,
    /// In turn, by thread: the earliest window in which it has something to do.
    earliest: [Vec<AtomicU64>; 2],
    /// In turn, by thread and the thread that it is for.
    letters: [Vec<Mutex<Letter>>; 2],
}

/// What one thread has for another.
#[derive(Default)]
struct Letter {
    events: Vec<(u32, Event)>,
    posted: Vec<Posted>,
}

impl Crew {
    fn new(threads: usize, always: bool, homes: Vec<u8>) -> Self {
        let earliest = || (0..threads).map(|_| AtomicU64::new(STOP)).collect();
        let letters = || (0..threads * threads).map(|_| Mutex::default()).collect();
        Crew {
            threads,
            always,
            costs: vec![0; homes.len()],
            homes: homes.into(),
            last: (0, 0),
            before: 0,
            meeting: Meeting::new(threads),
            earliest: [earliest(), earliest()],
            letters: [letters(), letters()],
        }
    }

    fn letter(&self, turn: usize, from: usize, to: usize) -> MutexGuard<'_, Letter> {
        self.letters[turn][from * self.threads + to].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread says when it has something to do, and hands over what it has for others.
    fn offer(&self, turn: usize, thread: usize, shift: &mut Shift<'_, '_>, end: u64) {
        let Some(windows) = shift.run.events.by_node() else { return };
        let stopped = thread == 0 && shift.run.control.stop.load(Ordering::Relaxed);
        let earliest = if stopped { STOP } else { windows.earliest(end).saturating_add(1) };
        self.earliest[turn][thread].store(earliest, Ordering::Relaxed);
        for to in (0..self.threads).filter(|&to| to != thread) {
            let mut letter = self.letter(turn, thread, to);
            windows.hand_over(to, &mut letter.events);
            mem::swap(&mut shift.run.pairs.posted[to], &mut letter.posted);
        }
    }

    /// A thread takes in what others have for it, and goes on to the next window; false if that is not before `end`, or the
    /// run is to stop.
    fn accept(&self, turn: usize, thread: usize, shift: &mut Shift<'_, '_>, end: u64) -> bool {
        let Some(windows) = shift.run.events.by_node() else { return false };
        for from in (0..self.threads).filter(|&from| from != thread) {
            let mut letter = self.letter(turn, from, thread);
            windows.take_in(&mut letter.events);
            shift.run.pairs.take_in(&mut letter.posted);
        }
        let earliest = self.earliest[turn].iter().map(|window| window.load(Ordering::Relaxed)).min();
        let window = earliest.filter(|&window| window != STOP).map(|window| window - 1);
        window.is_some_and(|window| windows.begin(window, end))
    }

    /// A thread's windows before `end`: how many there were.
    fn work(&self, thread: usize, shift: &mut Shift<'_, '_>, end: u64) -> u64 {
        let _attending = self.meeting.attend();
        let mut visits = Visits::default();
        loop {
            let turn = (visits.windows % 2) as usize;
            self.offer(turn, thread, shift, end);
            if !self.meeting.wait() || !self.accept(turn, thread, shift, end) {
                return visits.windows;
            }
            #[cfg(debug_assertions)]
            turn::begin(thread, Some(self.before + visits.windows));
            shift.window(&mut visits);
            #[cfg(debug_assertions)]
            turn::begin(thread, None);
        }
    }

    /// All windows before `end` by as many threads as there are shifts: how many there were.
    fn work_together(&self, shifts: &mut [Shift<'_, '_>], end: u64) -> u64 {
        let Some((own, others)) = shifts.split_first_mut() else { return 0 };
        thread::scope(|scope| {
            let helpers: Vec<_> =
                (1..).zip(others).map(|(i, shift)| scope.spawn(move || self.work(i, shift, end))).collect();
            let windows = self.work(0, own, end);
            for helper in helpers {
                if let Err(panic) = helper.join() {
                    resume_unwind(panic);
                }
            }
            windows
        })
    }

    /// All windows before `end` by this thread alone: how many there were.
    fn work_alone(&self, shifts: &mut [Shift<'_, '_>], end: u64) -> u64 {
        let mut visits = Visits::default();
        loop {
            for (thread, shift) in shifts.iter_mut().enumerate() {
                self.offer(0, thread, shift, end);
            }
            let mut goes = true;
            for (thread, shift) in shifts.iter_mut().enumerate() {
                // All know as much: either each of them goes on, or none.
                goes &= self.accept(0, thread, shift, end);
            }
            if !goes {
                return visits.windows;
            }
            let windows = visits.windows + 1;
            for shift in shifts.iter_mut() {
                shift.window(&mut visits);
            }
            visits.windows = windows;
        }
    }

    /// Do the threads pay, by the last stretch?
    fn pays(&self) -> bool {
        let (events, windows) = self.last;
        self.always || events >= PAYS * self.threads as u64 * windows
    }
}

impl Shift<'_, '_> {
    /// Visits of a window.
    fn window(&mut self, visits: &mut Visits) {
        self.visit_all(visits);
        if let Some(windows) = self.run.events.by_node() {
            windows.end();
        }
        visits.windows += 1;
        if visits.windows.is_multiple_of(REPORTED) {
            self.run.report();
        }
    }
}

impl World<'_> {
    /// From now on so many threads go through windows, where events go node by node; before the run begins.
    pub fn hire(&mut self, staffing: &Staffing) {
        let threads = staffing.threads();
        let agendas: Option<Vec<_>> =
            (1..threads).map(|thread| self.run.events.of_thread(thread as u8)).collect();
        let Some(agendas) = agendas.filter(|agendas| !agendas.is_empty()) else { return };
        let blueprint = self.facts.blueprint;
        self.helpers = agendas.into_iter().map(|events| self.run.share(blueprint, events)).collect();
        for run in self.runs_mut() {
            run.pairs.posted.resize_with(threads, Vec::new);
        }
        let homes = staffing.homes(blueprint);
        let home = |group| homes[self.facts.groups.first(group).0.index()];
        let homes = (0..self.facts.groups.count() as u32).map(home).collect();
        let crew = Crew::new(threads, staffing.always(), homes);
        self.move_in(&crew);
        self.crew = Some(crew);
    }

    /// All that is pending goes to the threads that visit the nodes from now on.
    fn move_in(&mut self, crew: &Crew) {
        let window = self.run.events.by_node().map_or(0, |windows| windows.window());
        let mut pending = Vec::new();
        for windows in self.runs_mut().filter_map(|run| run.events.by_node()) {
            pending.push(windows.drain());
            windows.set_homes(&crew.homes, crew.threads, window);
        }
        let mut all: Vec<_> = self.runs_mut().filter_map(|run| run.events.by_node()).collect();
        for Drained { events, steps } in pending {
            for (node, event) in events {
                all[usize::from(crew.homes[node as usize])].send(node, event);
            }
            for (at, order) in steps {
                all[0].push_step(at, order);
            }
        }
    }

    /// All windows before `end`, or those before the next step of the whole network.
    pub fn run_as_crew(&mut self, end: Time) {
        let Some(mut crew) = self.crew.take() else { return };
        let step = self.run.events.by_node().and_then(|windows| windows.next_step());
        let end = step.map_or(end.0, |at| end.0.min(at + 1));
        let nodes = Lent::new(&mut self.nodes);
        let (facts, nodes) = (&self.facts, &nodes);
        let runs = std::iter::once(&mut self.run).chain(&mut self.helpers);
        let mut shifts: Vec<Shift<'_, '_>> = runs.map(|run| Shift { facts, nodes, run }).collect();
        let windows = if crew.pays() {
            crew.work_together(&mut shifts, end)
        } else {
            crew.work_alone(&mut shifts, end)
        };
        crew.before += windows;
        if !self.is_stopped() {
            self.now = end;
        }
        if windows > 0 && crew.relieves(&mut self.nodes, &self.facts.groups, windows) {
            self.move_in(&crew);
        }
        self.crew = Some(crew);
    }
}

impl Crew {
    /// Finds out what the nodes have cost in so many windows; whether some have another home now.
    fn relieves(&mut self, nodes: &mut [Node], groups: &Groups, windows: u64) -> bool {
        self.costs.iter_mut().for_each(|cost| *cost /= 2);
        let mut events = 0;
        for node in nodes {
            let work = mem::take(&mut node.work);
            events += work;
            self.costs[groups.of(node.id) as usize] += work;
        }
        let mut loads = vec![0; self.threads];
        for (cost, home) in self.costs.iter().zip(&*self.homes) {
            loads[usize::from(*home)] += cost;
        }
        self.last = (events, windows);
        let mut homes = self.homes.to_vec();
        let moved = deal::even_out(&mut homes, &self.costs, &mut loads);
        if moved {
            self.homes = homes.into();
        }
        moved
    }
}

//! A worker: executes the events of its nodes in a window.
//!
//! While one node is visited, the inbox of the node two places later is sorted and its packets are
//! prefetched; for the next node, the data that its first packets refer to are prefetched.
//!
//! Whether the run is to stop is checked after each visit, and in a visit after every 8,192 events. A window
//! that is cut leaves its events pending, so that the run's counts balance.

use floodway_blueprint::network::facts::Facts;
use floodway_engine::Event;
use floodway_units::NodeId;

use crate::pool::{OwnElements, SharedSlice};
use crate::run::at_node::{At, AtNode};
use crate::run::ctx::Ctx;
use crate::run::device::Device;
use crate::run::events::Events;
use crate::run::node::Node;
use crate::run::prefetch::fetch_packets;
use crate::run::state::Run;
use crate::run::windows::Windows;

/// How many events ahead the memory that an event's packet names is prefetched.
const REST: usize = 3;
/// Windows between two reports of progress.
pub(crate) const REPORTED: u64 = 16;
/// How many nodes ahead a node's events are sorted and their packets prefetched.
const NODES: usize = 2;
/// Cache lines of a node that are prefetched.
const LINES: usize = 3;
/// Events of a visit between two checks whether the run is to end.
const CHECKED: u64 = 1 << 13;

/// The groups with events in a window, and their sorted events.
#[derive(Default)]
pub(crate) struct Visits {
    groups: Vec<u32>,
    /// Of the current group and the next ones, alternating.
    events: [Vec<Event>; NODES + 1],
}

/// What a thread needs to execute windows.
pub(crate) struct Worker<'s, 'a> {
    facts: &'s Facts<'a>,
    nodes: OwnElements<'s, Node>,
    pub run: &'s mut Run<'a>,
}

impl<'s, 'a> Worker<'s, 'a> {
    /// The worker of these events, among those of one set of windows, which share nodes.
    ///
    /// # Safety
    /// Each of these workers has a run of its own, whose events know the owners of groups, and those owners
    /// are the same for all of them; and all execute the same window at a time.
    #[allow(unsafe_code, reason = "threads share what nodes own")]
    pub unsafe fn new(facts: &'s Facts<'a>, nodes: &'s SharedSlice<'s, Node>, run: &'s mut Run<'a>) -> Self {
        // SAFETY: a worker accesses a node only to execute events that lie in an inbox of its own `Windows`,
        // and those keep only events of groups of which their thread is the owner (`Windows::send`); a group
        // has one owner. What is borrowed of a node ends with the event, or the visit, so that the next
        // window's owner finds it free, behind the barrier.
        Worker { facts, nodes: unsafe { nodes.of_thread() }, run }
    }

    /// A node of a group, to execute an event of it.
    fn at(&mut self, node: NodeId, group: u32) -> AtNode<'_, 'a> {
        self.run.events.is_at(group);
        let ctx = Ctx { now: 0, order: 0, facts: self.facts, run: self.run };
        AtNode::new(ctx, self.nodes.element(node.index()), None)
    }

    /// Executes all events of the window, node by node.
    pub fn visit_all(&mut self, visits: &mut Visits) {
        let Some(windows) = self.run.events.by_node() else { return };
        windows.due_in(&mut visits.groups);
        for i in 0..visits.groups.len() + NODES {
            // The memory of the next nodes is prefetched in two steps, since the second reads what the first
            // has fetched.
            if let (Some(&group), Some(windows)) = (visits.groups.get(i), self.run.events.by_node()) {
                let events = &mut visits.events[i % (NODES + 1)];
                windows.prepare(group, events);
                fetch_packets(events);
                self.nodes.fetch(self.facts.groups.first(group).0.index(), LINES);
            }
            if let Some(next) = (i + 1).checked_sub(NODES)
                && let Some(&group) = visits.groups.get(next)
            {
                self.fetch_first(group, &visits.events[next % (NODES + 1)]);
            }
            if let Some(at) = i.checked_sub(NODES) {
                let unchecked = self.visit(visits.groups[at], &mut visits.events[at % (NODES + 1)]);
                if self.run.is_cut_after(unchecked) {
                    return self.leave(visits, at);
                }
            }
        }
    }

    /// Ends the window in the visit of a group: what has not come is pending again.
    #[cold]
    fn leave(&mut self, visits: &mut Visits, at: usize) {
        let Some(windows) = self.run.events.by_node() else { return };
        windows.leave_visit();
        for next in (at + 1..visits.groups.len()).take(NODES) {
            windows.put_back(visits.groups[next], &mut visits.events[next % (NODES + 1)]);
        }
    }

    /// Executes a window of several threads, the `number`-th in a row, and leaves it.
    pub fn window(&mut self, visits: &mut Visits, number: u64) {
        self.visit_all(visits);
        if let Some(windows) = self.run.events.by_node() {
            windows.end();
        }
        if number.is_multiple_of(REPORTED) {
            self.run.report();
        }
    }

    /// Prefetches what the first events of a group need, if it is one node.
    fn fetch_first(&mut self, group: u32, events: &[Event]) {
        let (node, with_others) = self.facts.groups.first(group);
        if !with_others {
            let node = self.nodes.element(node.index());
            events.iter().take(REST).for_each(|event| self.run.fetch_rest(self.facts, node, event));
        }
    }

    /// Executes the events of a group; how many since the last check whether the run is to end.
    fn visit(&mut self, group: u32, events: &mut Vec<Event>) -> u64 {
        if let Some(windows) = self.run.events.by_node() {
            windows.visit(group, events);
        }
        let (node, with_others) = self.facts.groups.first(group);
        if with_others {
            return self.visit_several(group);
        }
        let work = self.at(node, group).visit();
        self.nodes.element(node.index()).work += work;
        work % CHECKED
    }

    /// The same for several nodes, in the common order of their events.
    fn visit_several(&mut self, group: u32) -> u64 {
        loop {
            for done in 0..CHECKED {
                let Some(event) = self.run.events.by_node().and_then(Windows::pop) else { return done };
                if let Some(node) = self.run.node_of(self.facts, &event) {
                    self.at(node, group).dispatch(event);
                    self.nodes.element(node.index()).work += 1;
                }
            }
            if self.run.is_cut_in_visit(CHECKED) {
                return 0;
            }
        }
    }
}

impl<D: Device> At<'_, '_, D> {
    /// Executes the events of the node; how many there were.
    #[expect(clippy::inline_always, reason = "once a node and window: 0.5 % of a packet-hop")]
    #[inline(always)]
    pub fn visit(&mut self) -> u64 {
        let mut work = 0;
        loop {
            for done in 0..CHECKED {
                let Some(event) = self.ctx.run.events.by_node().and_then(Windows::pop) else {
                    return work + done;
                };
                if let Some(&event) = self.ctx.run.events.by_node().and_then(|windows| windows.peek(REST)) {
                    self.ctx.run.fetch_rest(self.ctx.facts, self.node, &event);
                }
                match Events::moves_hashed(event.order) {
                    Some((kind, port)) => self.dispatch_move(event, kind, port),
                    None => self.dispatch_other(event),
                }
            }
            work += CHECKED;
            if self.ctx.run.is_cut_in_visit(CHECKED) {
                return work;
            }
        }
    }
}

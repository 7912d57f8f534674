//! A run node by node: how nodes are visited.

use floodway_engine::{Advance, Event};
use floodway_units::{NodeId, Time};

use crate::network::facts::Facts;
use crate::pool::Lent;
use crate::run::agenda::What;
use crate::run::ahead::fetch_packets;
use crate::run::at_node::AtNode;
use crate::run::node::Node;
use crate::run::state::Run;
use crate::run::windows::{Next, Windows};
use crate::run::world::World;

/// So many events before it is at work, what an event's packet names is fetched.
const REST: usize = 3;
/// Progress is reported once in so many windows.
pub(crate) const REPORTED: u64 = 16;
/// In debug builds, one of so many windows is followed by a check of all that is cached.
const CHECKED: u64 = 7;

/// So many nodes before its visit, a node's events are put in order and what they need first is fetched.
const NODES: usize = 2;
/// Cache lines of a node that are fetched then.
const LINES: usize = 3;

/// Groups of a window, and events of visits.
#[derive(Default)]
pub(crate) struct Visits {
    /// Windows so far.
    pub windows: u64,
    groups: Vec<u32>,
    /// Of the visit at work and of those after it, in turn.
    events: [Vec<Event>; NODES + 1],
}

/// What a thread needs to visit nodes.
pub(crate) struct Shift<'s, 'a> {
    pub facts: &'s Facts<'a>,
    pub nodes: &'s Lent<'s, Node>,
    pub run: &'s mut Run<'a>,
}

impl World<'_> {
    /// As [`World::run_until`], node by node.
    pub fn run_by_node(&mut self, end: Time) -> Advance {
        let mut visits = Visits::default();
        while !self.is_stopped() {
            if self.crew.is_some() {
                self.run_as_crew(end);
            }
            let Some(windows) = self.run.events.by_node() else { break };
            match windows.next(end.0) {
                Next::Visits(stop) => {
                    let nodes = Lent::new(&mut self.nodes);
                    Shift { facts: &self.facts, nodes: &nodes, run: &mut self.run }.visit_all(&mut visits);
                    // All nodes have come so far: who stops the run finds them there.
                    self.now = stop;
                    visits.windows += 1;
                    if cfg!(debug_assertions) && visits.windows.is_multiple_of(CHECKED) {
                        self.debug_check();
                    }
                }
                Next::Step(at, order) => self.take_step(at, order),
                Next::End => {
                    self.report();
                    return Advance::Reached;
                }
            }
            if visits.windows.is_multiple_of(REPORTED) {
                self.report();
            }
        }
        self.report();
        Advance::Interrupted
    }

    /// What concerns the whole network happens, when all before it has.
    fn take_step(&mut self, at: u64, order: u64) {
        (self.now, self.order) = (at, order);
        self.run.kept.counts[What::Fault as usize] += 1;
        self.fault(self.run.events.decode(order).1);
    }
}

impl<'a> Shift<'_, 'a> {
    /// A node at work, of a group.
    fn at(&mut self, node: NodeId, group: u32) -> AtNode<'_, 'a> {
        self.run.events.is_at(group);
        AtNode {
            now: 0,
            order: 0,
            node: self.nodes.own(node.index()).view_mut(),
            facts: self.facts,
            run: self.run,
            others: [&[], &[]],
        }
    }

    /// All that the nodes that are due do before the window is over.
    pub fn visit_all(&mut self, visits: &mut Visits) {
        let Some(windows) = self.run.events.by_node() else { return };
        windows.due_in(&mut visits.groups);
        for i in 0..visits.groups.len() + NODES {
            // While a node is at work, what those after it will need is fetched: in two steps, since the second reads what
            // the first has fetched.
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
                self.visit(visits.groups[at], &mut visits.events[at % (NODES + 1)]);
            }
        }
    }

    /// Has what the first events of a group need fetched, where it is one node.
    fn fetch_first(&self, group: u32, events: &[Event]) {
        let (node, with_others) = self.facts.groups.first(group);
        if !with_others {
            let node = self.nodes.own(node.index()).view();
            events.iter().take(REST).for_each(|event| self.run.fetch_rest(self.facts, node, event));
        }
    }

    /// All that a group does before the window is over.
    fn visit(&mut self, group: u32, events: &mut Vec<Event>) {
        if let Some(windows) = self.run.events.by_node() {
            windows.visit(group, events);
        }
        let (node, with_others) = self.facts.groups.first(group);
        if with_others {
            return self.visit_several(group);
        }
        let work = self.at(node, group).visit();
        self.nodes.own(node.index()).work += work;
    }

    /// Likewise, of several nodes: in the one order that their events have.
    fn visit_several(&mut self, group: u32) {
        while let Some(event) = self.run.events.by_node().and_then(Windows::pop) {
            if let Some(node) = self.run.node_of(self.facts, &event) {
                self.at(node, group).dispatch(event);
                self.nodes.own(node.index()).work += 1;
            }
        }
    }
}

impl AtNode<'_, '_> {
    /// All that the node does before the window is over: so many events.
    fn visit(&mut self) -> u64 {
        let mut work = 0;
        while let Some(event) = self.run.events.by_node().and_then(Windows::pop) {
            if let Some(&event) = self.run.events.by_node().and_then(|windows| windows.ahead(REST)) {
                self.run.fetch_rest(self.facts, self.node.view(), &event);
            }
            self.dispatch(event);
            work += 1;
        }
        work
    }
}

//! A run node by node: which runs can go so, and how their nodes are visited.

use floodway_engine::{Advance, Event};
use floodway_units::{NodeId, Span, Time};

use crate::network::blueprint::{Blueprint, DirectionSpec, Draws, Ties};
use crate::network::facts::Facts;
use crate::pool::Lent;
use crate::run::agenda::What;
use crate::run::at_node::AtNode;
use crate::run::node::Node;
use crate::run::state::Run;
use crate::run::windows::{Next, Windows};
use crate::run::world::World;

/// So many events before it is at work, what an event's packet names is fetched.
const REST: usize = 3;
/// A window is not longer than this many full packets take on the fastest link: what a node works on stays in the
/// caches.
const PACKETS: u64 = 64;
/// Nor is it worth to visit nodes for shorter ones, in which next to nothing happens.
pub(crate) const SHORTEST: Span = Span::ns(20);

impl Blueprint {
    /// The length of the windows in which the nodes of a run can be gone through one by one; none where events have an
    /// order that is one for all nodes, or where links are too short.
    pub(crate) fn window(&self) -> Option<Span> {
        let one_order = self.semantics.ties == Ties::SchedulingOrder
            || self.semantics.draws == Draws::HpccNs3
            || self.records.capture.is_some();
        let directions = || self.links.iter().flat_map(|link| &link.directions);
        // The time of the smallest frame could be added. Without it windows end where epochs do.
        let shortest = directions().map(DirectionSpec::shortest_delay).min()?;
        let rates = directions().map(|direction| direction.rate);
        let full = self.wire.data_with(self.mtu, true, self.telemetry()).wire;
        let most = Span(rates.max()?.time_to_send(full).0 * PACKETS);
        (!one_order && shortest >= SHORTEST).then(|| shortest.min(most))
    }
}

/// Progress is reported once in so many windows.
pub(crate) const REPORTED: u64 = 16;
/// In debug builds, one of so many windows is followed by a check of all that is cached.
const CHECKED: u64 = 7;

/// So many nodes before its visit, a node's events are put in order and what they need first is fetched.
const NODES: usize = 2;
/// Cache lines of a node that are fetched then.
const LINES: usize = 3;

/// Nodes of a window, and events of visits.
#[derive(Default)]
pub(crate) struct Visits {
    /// Windows so far.
    pub windows: u64,
    nodes: Vec<u32>,
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
    /// A node at work.
    fn at(&mut self, node: u32) -> AtNode<'_, 'a> {
        self.run.events.is_at(NodeId(node));
        AtNode {
            now: 0,
            order: 0,
            node: self.nodes.own(node as usize).view_mut(),
            facts: self.facts,
            run: self.run,
            others: [&[], &[]],
        }
    }

    /// All that the nodes that are due do before the window is over.
    pub fn visit_all(&mut self, visits: &mut Visits) {
        let Some(windows) = self.run.events.by_node() else { return };
        windows.due_in(&mut visits.nodes);
        for i in 0..visits.nodes.len() + NODES {
            // While a node is at work, what those after it will need is fetched: in two steps, since the second reads what
            // the first has fetched.
            if let (Some(&node), Some(windows)) = (visits.nodes.get(i), self.run.events.by_node()) {
                let events = &mut visits.events[i % (NODES + 1)];
                windows.prepare(node, events);
                self.run.fetch_packets(events);
                self.nodes.fetch(node as usize, LINES);
            }
            if let Some(next) = (i + 1).checked_sub(NODES)
                && let Some(&node) = visits.nodes.get(next)
            {
                self.fetch_first(node, &visits.events[next % (NODES + 1)]);
            }
            if let Some(at) = i.checked_sub(NODES) {
                let (node, events) = (visits.nodes[at], &mut visits.events[at % (NODES + 1)]);
                let work = self.at(node).visit(events);
                self.nodes.own(node as usize).work += work;
            }
        }
    }

    /// Has what the first events of a node need fetched.
    fn fetch_first(&self, node: u32, events: &[Event]) {
        let node = self.nodes.own(node as usize).view();
        events.iter().take(REST).for_each(|event| self.run.fetch_rest(self.facts, node, event));
    }
}

impl AtNode<'_, '_> {
    /// All that the node does before the window is over: so many events.
    fn visit(&mut self, events: &mut Vec<Event>) -> u64 {
        let node = self.node.id.0;
        if let Some(windows) = self.run.events.by_node() {
            windows.visit(node, events);
        }
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

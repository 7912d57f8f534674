//! The state of a running network, and its event loop.
//!
//! ```text
//!       try_transmit         start                      arrive
//!  queue ───────► transmitter ───────► event of arrival ───────► next node
//!                     │ departure event only while something waits
//!                     └ release of the ingress account, applied when a view is read
//! ```
//! A packet on a link is an event that holds a reference to the packet.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use floodway_blueprint::error::BuildError;
use floodway_blueprint::network::blueprint::Blueprint;
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::routing::{Routes, peer};
use floodway_engine::allocator::ran_out;
use floodway_engine::{Advance, Event};
use floodway_records::outcome::{Control, Verdict};
use floodway_records::work::Work;
use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId, Time};

use crate::bounds::blocked::BlockedPorts;
use crate::bounds::checks::NodeCheck;
use crate::build;
use crate::host::listed::Listed;
use crate::link::arena::PacketRef;
use crate::run::at_node::AtNode;
use crate::run::ctx::Ctx;
use crate::run::events::EventKind;
use crate::run::network::Network;
use crate::run::node::Node;
use crate::run::prefetch::Coming;
use crate::run::ranks::{Gathered, Processes, Share};
use crate::run::recurrence::{Moment, Recurrence};
use crate::run::runs::Runs;
use crate::run::state::{Fault, Run};
use crate::run::windows::Windows;
use crate::tables::finish::close_links;
use crate::tables::in_network::InNetwork;

/// Number of events between two checks of the stop flag.
const STOP_CHECK: u64 = 1 << 15;

/// What of a network a world executes.
pub(crate) enum Extent<'a> {
    /// All of it.
    Whole,
    /// The nodes of this process; other ones have the others.
    Process(Box<Processes<'a>>),
    /// A part that no other one affects: by node, whether it is of it; and whether it is the first part.
    Part { owned: Box<[bool]>, is_first: bool },
}

impl Extent<'_> {
    /// Is it all, or the first of several?
    fn is_first(&self) -> bool {
        match self {
            Extent::Whole => true,
            Extent::Process(ranks) => ranks.is_first(),
            Extent::Part { is_first, .. } => *is_first,
        }
    }
}

/// A running network.
pub(crate) struct World<'a> {
    pub now: u64,
    /// Order of the current event.
    pub order: u64,
    /// What is fixed once the network is built.
    pub facts: Facts<'a>,
    pub nodes: Vec<Node>,
    pub runs: Runs<'a>,
    /// What is to be done until the run is over.
    pub work: Work,
    /// Other processes that execute parts of the run.
    pub ranks: Option<Box<Processes<'a>>>,
    /// By node: is it of this world, where that is a part of the network which no other one affects?
    pub part: Option<Box<[bool]>>,
    /// When the run is over: what they have sent of their parts.
    pub gathered: Gathered,
    /// When the run is over: packets on links, with the ports that sent them.
    pub on_links: Vec<(PortId, PacketRef)>,
    pub recurrence: Recurrence,
    /// Faults in the order of time: (when, what), the next last.
    pub faults: Vec<Fault>,
}

impl<'a> World<'a> {
    /// A network at rest, with its sources and faults armed, or what a process or part has of it. `routes`
    /// are those over all links, where they are known.
    ///
    /// # Errors
    /// What makes the blueprint unfit, with the place.
    pub fn build(
        blueprint: &'a Blueprint,
        routes: Option<&Arc<Routes>>,
        control: &'a Control,
        extent: Extent<'a>,
    ) -> Result<Self, BuildError> {
        let routes = match routes {
            Some(routes) => blueprint.validate_with(routes).map(|()| Arc::clone(routes))?,
            None => Arc::new(blueprint.validate()?),
        };
        let owned = match &extent {
            Extent::Whole => vec![true; blueprint.nodes.len()],
            Extent::Process(ranks) => ranks.owned(),
            Extent::Part { owned, .. } => owned.to_vec(),
        };
        control.limit.store(blueprint.end.limit.0, Ordering::Relaxed);
        let listed = Arc::new(Listed::new(blueprint));
        let (facts, nodes) = build::network(blueprint, routes, &listed, &owned)?;
        let mut run = Run::new(&facts, control, listed);
        if let Some(length) = facts.groups.window() {
            run.events.go_by_node(Windows::new(facts.groups.count(), length.0));
        }
        run.traffic.arm(&facts, &mut run.events);
        let faults = Fault::arm(&facts, &owned, &mut run.events);
        if !extent.is_first() {
            // What waits is counted once.
            run.traffic.triggers.waiting.fill(0);
        }
        let mut recurrence = Recurrence::new(blueprint, &owned);
        let (ranks, part) = match extent {
            Extent::Whole => (None, None),
            Extent::Process(ranks) => (Some(ranks), None),
            Extent::Part { owned, .. } => (None, Some(owned)),
        };
        if ranks.is_some() {
            recurrence.prevent("several processes execute the run");
        }
        Ok(World {
            recurrence,
            part,
            now: 0,
            order: 0,
            facts,
            nodes,
            runs: Runs::new(run),
            work: Work::new(blueprint),
            ranks,
            gathered: Gathered::default(),
            on_links: Vec::new(),
            faults,
        })
    }

    /// The network between two events, for what is known of its recurrence.
    pub fn moment(&mut self, now: Time) -> (&mut Recurrence, Moment<'_, 'a>) {
        let World { facts, nodes, runs, part, recurrence, .. } = self;
        (recurrence, Moment { facts, nodes, runs, part: part.as_deref(), now })
    }

    /// A node for an event at this time.
    #[inline]
    pub fn at(&mut self, node: NodeId) -> AtNode<'_, 'a> {
        self.runs.own.events.is_at(self.facts.groups.of(node));
        let (before, rest) = self.nodes.split_at_mut(node.index());
        let (node, after) = rest.split_first_mut().expect("the network has this node");
        let ctx = Ctx { now: self.now, order: self.order, facts: &self.facts, run: &mut self.runs.own };
        AtNode::new(ctx, node, Some([before, after]))
    }

    /// The node of a port for an event, and the port's index there.
    pub fn at_port(&mut self, port: PortId) -> (AtNode<'_, 'a>, Local) {
        let local = self.facts.local(port);
        (self.at(self.facts.node_of(port)), local)
    }

    /// The same, where the node is of this process.
    pub fn at_own_port(&mut self, port: PortId) -> Option<(AtNode<'_, 'a>, Local)> {
        self.owns(self.facts.node_of(port)).then(|| self.at_port(port))
    }

    /// The packets of the network, between two events.
    pub fn in_network(&self) -> InNetwork<'_, 'a> {
        let network = Network { facts: &self.facts, nodes: &self.nodes };
        InNetwork { network, packets: &self.runs.own.packets, on_links: &self.on_links }
    }

    /// Executes an event.
    pub fn dispatch(&mut self, event: Event) {
        (self.now, self.order) = (event.time.0, event.order);
        let Some(node) = self.runs.own.node_of(&self.facts, &event) else {
            return self.take_step();
        };
        self.at(node).dispatch(event);
        if !self.runs.own.out.started.is_empty() {
            self.try_transmit_started();
        }
    }

    /// What concerns the whole network happens, when all before it has.
    pub fn take_step(&mut self) {
        self.runs.own.kept.counts[EventKind::Fault as usize] += 1;
        let index = self.runs.own.events.decode(self.order).1;
        self.faults[index as usize].happens(self, index);
    }

    /// The same in the loop of one order: nearly all events are of packets, which start no flow.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn dispatch_in_order(&mut self, event: Event) {
        let Some((kind, port)) = self.runs.own.events.moves(event.order) else { return self.dispatch(event) };
        self.now = event.time.0;
        let at = if kind == EventKind::Arrival { peer(port) } else { port };
        let node = &mut self.nodes[self.facts.node_of(at).index()];
        let ctx = Ctx { now: 0, order: 0, facts: &self.facts, run: &mut self.runs.own };
        AtNode::new(ctx, node, None).dispatch_move(event, kind, port);
    }

    /// Lets NICs at which flows have just started try to transmit, unless more flows start at this instant.
    fn try_transmit_started(&mut self) {
        if !self.runs.own.out.all_started {
            return;
        }
        for i in 0..self.runs.own.out.started.len() {
            let (at, port) = self.at_port(self.runs.own.out.started[i]);
            at.try_transmit(port);
        }
        self.runs.own.out.started.clear();
    }

    /// Executes all events before `end`.
    pub fn run_until(&mut self, end: Time) -> Advance {
        let advance = if self.ranks.is_some() {
            self.run_rounds(end)
        } else if self.runs.own.events.by_node().is_some() {
            self.run_by_node(end)
        } else if self.runs.own.is_traced() || self.runs.own.traffic.programs.extent().is_some() {
            self.run_traced(end)
        } else {
            self.run_in_one_order(end)
        };
        self.runs.report(self.now);
        advance
    }

    fn run_in_one_order(&mut self, end: Time) -> Advance {
        let mut until_check = STOP_CHECK;
        while let Some(queue) = self.runs.own.events.in_one_order() {
            let event = match queue.window() {
                Some(window) if window[0].time < end => {
                    let (event, coming) = (window[0], Coming::of(window));
                    queue.advance();
                    self.runs.own.prefetch(&self.facts, &self.nodes, &coming);
                    event
                }
                _ => match queue.pop_before(end) {
                    Some(event) => event,
                    None => break,
                },
            };
            self.dispatch_in_order(event);
            until_check -= 1;
            if until_check == 0 {
                until_check = STOP_CHECK;
                self.runs.report(self.now);
                if self.is_stopped() {
                    break;
                }
            }
        }
        if self.is_stopped() { Advance::Interrupted } else { Advance::Reached }
    }

    /// As [`World::run_until`], and after each event the traces are brought up to date.
    #[cold]
    #[inline(never)]
    fn run_traced(&mut self, end: Time) -> Advance {
        let mut until_check = STOP_CHECK;
        while let Some(event) = self.runs.own.events.in_one_order().and_then(|queue| queue.pop_before(end)) {
            self.dispatch(event);
            let network = Network { facts: &self.facts, nodes: &self.nodes };
            let Run { traces, pairs, .. } = &mut self.runs.own;
            for trace in traces {
                trace.pass_event(network, pairs, self.now);
            }
            if self.runs.own.has_found() {
                return Advance::Interrupted;
            }
            until_check -= 1;
            if until_check == 0 {
                until_check = STOP_CHECK;
                self.runs.report(self.now);
                if self.is_stopped() {
                    break;
                }
            }
        }
        if self.is_stopped() { Advance::Interrupted } else { Advance::Reached }
    }

    /// Closes the books at `now`.
    pub fn close(&mut self, now: Time) {
        // Nothing of this instant has been executed.
        (self.now, self.order) = (now.0, 0);
        let own: Vec<NodeId> =
            self.nodes.iter().map(|node| node.id).filter(|&node| self.owns(node)).collect();
        for &node in &own {
            self.at(node).apply_releases();
        }
        let network = Network { facts: &self.facts, nodes: &self.nodes };
        let share = Share::new(self.ranks.as_deref_mut(), self.part.as_deref());
        self.runs.own.kept.blocked = BlockedPorts { network, share, now: now.0 }.find();
        for &node in &own {
            let ctx = Ctx { now: self.now, order: self.order, facts: &self.facts, run: &mut self.runs.own };
            close_links(&ctx, &mut self.nodes[node.index()].links);
        }
        self.runs.own.pairs.close_rows(&mut self.runs.own.kept.records);
    }

    /// Compares each cached value with what it is computed from.
    ///
    /// # Panics
    /// Something is not what it should be.
    pub fn debug_check(&mut self) {
        for node in (0..self.nodes.len()).map(|node| NodeId(narrow(node))) {
            if self.owns(node) {
                let (facts, run) = (&self.facts, &self.runs.own);
                NodeCheck { facts, run, node: &self.nodes[node.index()], now: self.now }.all();
            }
        }
        assert_eq!(self.in_network().buffers(&self.gathered.broken), Verdict::Holds);
    }

    /// Is a node of this process, or part?
    pub fn owns(&self, node: NodeId) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.owns(node))
            && self.part.as_ref().is_none_or(|owned| owned[node.index()])
    }

    pub fn is_stopped(&self) -> bool {
        if ran_out() {
            self.runs.own.control.give_up();
        }
        match &self.ranks {
            Some(ranks) => ranks.stopped,
            None => self.runs.own.control.stop.load(Ordering::Relaxed),
        }
    }
}

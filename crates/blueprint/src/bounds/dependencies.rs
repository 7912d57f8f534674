//! Cyclic dependencies between buffers: whether the paths that flows may take could deadlock.
//!
//! What holds a buffer behind one link waits for the next link of its path, which the buffer behind that link
//! may stop. Where these dependencies have no cycle, no deadlock is possible; where they have one, it is,
//! once all buffers of the cycle are full (Dally & Seitz 1987, theorem 1). A link whose flow control may lose
//! stops nothing, and a host takes what comes.
//!
//! Ports are nodes of the graph, and a step for each choice of a switch is between the ports by which packets
//! come to it and those that it names. So the graph grows with ports and routes, not with pairs of them. A
//! cycle is a warning of the scenario. After ten million ports the search gives up, and `check` says so.

mod travels;

use floodway_mechanisms::registry::FlowControlParams;
use floodway_units::cast::narrow;
use floodway_units::{Class, NodeId, PortId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bounds::cycle::shortened_cycle;
use crate::network::blueprint::Blueprint;
use crate::network::routing::{Routes, peer};
use travels::Travels;

/// Ports that are met, over all destinations, before the search gives up: it takes tenths of a second.
const MET: usize = 10_000_000;

/// What the dependencies between buffers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// They have no cycle: no deadlock is possible.
    Acyclic,
    /// They have one.
    Cyclic(BufferCycle),
    /// The paths are too many to be looked at.
    Unknown,
}

/// Links in a cycle. What has come by one of them may wait for the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferCycle {
    /// The class of the packets.
    pub class: Class,
    /// The ports that send on the links; the smallest is first.
    pub ports: Vec<PortId>,
}

impl Blueprint {
    /// The dependencies between buffers, by the paths that the flows of the workloads may take while all
    /// links are up: the ones that a list names, and else all that have the fewest hops.
    pub fn buffer_dependencies(&self, routes: &Routes) -> Dependencies {
        let mut met = MET;
        let mut all = Dependencies::Acyclic;
        for &class in &self.classes()[1..] {
            let travels = Travels::of(self, routes, class);
            match Walk::new(self, routes, class, &mut met).dependencies(&travels) {
                Dependencies::Acyclic => {}
                // Of paths that are only some of those supposed.
                Dependencies::Cyclic(_) | Dependencies::Unknown if !travels.exact => {
                    all = Dependencies::Unknown;
                }
                Dependencies::Cyclic(cycle) => return Dependencies::Cyclic(cycle),
                Dependencies::Unknown => all = Dependencies::Unknown,
            }
        }
        all
    }
}

/// The dependencies of a class, as they are found. Between ports there is a step for each choice that a node
/// has, so that all who have it share its edges.
struct Walk<'a> {
    routes: &'a Routes,
    class: Class,
    /// By port: whether the buffer behind its link may stop it.
    stops: Vec<bool>,
    /// By port, and behind all ports by step: what waits for what.
    successors: Vec<Vec<u32>>,
    edges: FxHashSet<(u32, u32)>,
    steps: FxHashMap<(NodeId, &'a [PortId]), u32>,
    /// By port: the last destination for which it was met.
    seen: Vec<u32>,
    /// Ports that may still be met.
    met: &'a mut usize,
}

impl<'a> Walk<'a> {
    fn new(blueprint: &Blueprint, routes: &'a Routes, class: Class, met: &'a mut usize) -> Self {
        let stops = |port: PortId| {
            let control = blueprint.control_into(peer(port), class);
            !routes.is_host(routes.node_of(peer(port))) && control.is_some_and(FlowControlParams::is_lossless)
        };
        let stops: Vec<bool> = blueprint.ports().map(stops).collect();
        Walk {
            routes,
            class,
            successors: vec![Vec::new(); stops.len()],
            seen: vec![u32::MAX; stops.len()],
            stops,
            edges: FxHashSet::default(),
            steps: FxHashMap::default(),
            met,
        }
    }

    fn dependencies(mut self, travels: &Travels) -> Dependencies {
        if travels.beyond {
            return Dependencies::Unknown;
        }
        for path in &travels.pinned {
            path.windows(2).for_each(|hop| self.waits(hop[0].0, hop[1]));
        }
        for (number, (destination, starts)) in (0..).zip(travels.toward.values()) {
            if self.walk(number, *destination, starts.iter().copied()).is_none() {
                return Dependencies::Unknown;
            }
        }
        let Some(cycle) = shortened_cycle(&self.successors) else { return Dependencies::Acyclic };
        let is_port = |at: &u32| (*at as usize) < self.stops.len();
        let mut ports: Vec<PortId> = cycle.into_iter().filter(is_port).map(PortId).collect();
        let smallest = (0..ports.len()).min_by_key(|&at| ports[at]).unwrap_or(0);
        ports.rotate_left(smallest);
        Dependencies::Cyclic(BufferCycle { class: self.class, ports })
    }

    /// Follows all shortest paths from some nodes to a host; none if they meet too many ports.
    fn walk(&mut self, number: u32, to: NodeId, starts: impl Iterator<Item = NodeId>) -> Option<()> {
        let mut ahead = Vec::new();
        for start in starts {
            self.meet(number, self.routes.candidates(start, to), &mut ahead)?;
        }
        while let Some(port) = ahead.pop() {
            let node = self.routes.node_of(peer(port));
            if self.routes.is_host(node) {
                continue;
            }
            let choice = self.routes.candidates(node, to);
            if self.stops[port.index()] {
                let step = self.step(node, choice);
                self.edge(port.0, step);
            }
            self.meet(number, choice, &mut ahead)?;
        }
        Some(())
    }

    /// The ports of a choice that were not met on the way to this destination are ahead.
    fn meet(&mut self, number: u32, choice: &[PortId], ahead: &mut Vec<PortId>) -> Option<()> {
        *self.met = self.met.checked_sub(choice.len())?;
        for &port in choice {
            if std::mem::replace(&mut self.seen[port.index()], number) != number {
                ahead.push(port);
            }
        }
        Some(())
    }

    /// The step of a node's choice.
    fn step(&mut self, node: NodeId, choice: &'a [PortId]) -> u32 {
        if let Some(&step) = self.steps.get(&(node, choice)) {
            return step;
        }
        let step = narrow(self.successors.len());
        self.steps.insert((node, choice), step);
        self.successors.push(Vec::new());
        for &port in choice {
            self.waits(step, port);
        }
        step
    }

    /// What has come by `from` may wait for `port`.
    fn waits(&mut self, from: u32, port: PortId) {
        let stopped = self.stops.get(from as usize).is_none_or(|&stops| stops);
        if stopped && self.stops[port.index()] {
            self.edge(from, port.0);
        }
    }

    fn edge(&mut self, from: u32, to: u32) {
        if self.edges.insert((from, to)) {
            self.successors[from as usize].push(to);
        }
    }
}

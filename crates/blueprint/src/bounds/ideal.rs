//! The ideal completion time of a flow: line rate, no window, no congestion control, store and forward over
//! the fastest of its equal-cost paths, crossbars and receive buffers included, in closed form. Networks that
//! change are in the fabric (`bounds/over_time.rs`).
//!
//! It is the time of a train of packets through stages: links, and crossbars of input-output queued switches.
//! Each stage processes one packet after another.

pub mod changed;

use std::sync::Arc;

use floodway_mechanisms::slots::{FlowTuple, Router as _};
use floodway_units::cast::{narrow, saturated};
use floodway_units::{Bytes, NodeId, PortId, Span};
use floodway_wire::Format;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use self::changed::Changed;
use crate::network::facts::Facts;
use crate::network::path::Ports;
use crate::network::port_facts::PortFacts;
use crate::network::port_facts::across;
use crate::network::routing::peer;
use crate::network::serial::Serial;

/// What the ideal needs to know of the ports: as the network is built, or with what has changed since.
#[derive(Clone, Copy)]
pub struct PathFacts<'f, 'a> {
    facts: &'a Facts<'a>,
    changed: Option<Changed<'f>>,
}

impl<'a> Facts<'a> {
    /// As the network is while nothing of it changes.
    pub fn path_facts<'f>(&'a self) -> PathFacts<'f, 'a> {
        PathFacts { facts: self, changed: None }
    }

    /// With what has changed since.
    pub fn path_facts_with<'f>(&'a self, changed: Changed<'f>) -> PathFacts<'f, 'a> {
        PathFacts { facts: self, changed: Some(changed) }
    }

    /// What all ports of a node have in common.
    fn port_of(&self, node: NodeId) -> Option<&PortFacts> {
        let port = self.routes.ports_of(node).first()?;
        Some(&self.ports[port.index()])
    }
}

impl<'f, 'a: 'f> PathFacts<'f, 'a> {
    /// Equal-cost ports of a node toward a host that packets can take.
    fn ports(&self, node: NodeId, to: NodeId) -> impl Iterator<Item = PortId> {
        let routes = &*self.facts.routes;
        let candidates = match self.changed.and_then(|changed| changed.routes) {
            None => routes.candidates(node, to),
            Some(routes_now) => match routes_now.candidates(node, to) {
                // A host sends by its own link whatever routes know of that.
                [] if routes.is_host(node) => routes.candidates(node, to),
                ports => ports,
            },
        };
        candidates
            .iter()
            .copied()
            .filter(|&port| self.changed.is_none_or(|changed| changed.is_up(routes, port)))
    }

    /// The node at the far end of a port's link.
    fn node_behind(&self, port: PortId) -> NodeId {
        self.facts.routes.node_of(peer(port))
    }

    fn serial(&self, port: PortId) -> &'a Serial {
        &self.facts.ports[port.index()].serial
    }

    /// How long packets take from the receive buffer at the far end of a port's link to the host's memory.
    fn drain(&self, port: PortId) -> Option<&'a Serial> {
        self.facts.ports[peer(port).index()].drain.as_deref()
    }

    /// Propagation, without jitter.
    fn delay(&self, port: PortId) -> Span {
        let at_first = || self.facts.blueprint.links[port.index() / 2].directions[port.index() % 2].delay;
        self.changed.and_then(|changed| changed.delay(port)).unwrap_or_else(at_first)
    }

    /// From arrival at the node to its queue.
    fn pipeline(&self, node: NodeId) -> Span {
        self.facts.port_of(node).map_or(Span::ZERO, |port| port.pipeline)
    }

    /// The crossbar that packets pass from an input of the node, if it has one.
    fn crossbar(&self, node: NodeId) -> Option<Crossbar<'a>> {
        let crossing = self.facts.port_of(node)?.crossing.as_ref()?;
        Some(Crossbar { serial: &crossing.serial, speed_up: crossing.speed_up })
    }

    /// Does the node spread the packets of a flow over its equal-cost ports?
    fn spreads(&self, node: NodeId) -> bool {
        let router = self.facts.routers[node.index()].as_ref();
        self.facts.sprays(node)
            || router.is_some_and(|router| router.by_flow(&FlowTuple::default(), 2).is_none())
    }

    /// Does any node spread the packets of a flow?
    pub fn sprays(&self) -> bool {
        self.facts.routes.nodes().any(|node| self.spreads(node))
    }

    /// What packets meet along these egress ports.
    pub fn hops(&self, path: impl IntoIterator<Item = PortId>) -> Hops<'a> {
        let hop = |port: PortId| {
            let node = self.facts.routes.node_of(port);
            Hop {
                serial: self.serial(port),
                delay: self.delay(port),
                pipeline: self.pipeline(node),
                crossbar: self.crossbar(node),
                drain: self.drain(port).map(|serial| (serial, self.facts.layout.gap)),
            }
        };
        path.into_iter().map(hop).collect()
    }
}

/// A crossbar as packets of one input see it: they cross one after another.
#[derive(Clone, Copy, Debug)]
pub struct Crossbar<'a> {
    /// Of the fastest port.
    pub serial: &'a Serial,
    /// How much faster packets cross than on that port.
    pub speed_up: f64,
}

impl Crossbar<'_> {
    fn time(&self, wire: u64) -> u64 {
        across(self.serial.time(wire), self.speed_up)
    }
}

/// What a packet meets on a hop.
#[derive(Clone, Copy, Debug)]
pub struct Hop<'a> {
    serial: &'a Serial,
    delay: Span,
    /// Of the node that sends; none of the first one's counts.
    pipeline: Span,
    crossbar: Option<Crossbar<'a>>,
    /// Where its link ends at a receive buffer: how long a frame takes from there, and by how much it is
    /// longer on the link.
    drain: Option<(&'a Serial, u64)>,
}

/// The hops of a path.
type Hops<'a> = SmallVec<[Hop<'a>; 6]>;

/// The equal-cost paths of a flow, those alike together.
#[derive(Debug, Default)]
pub struct Paths<'a> {
    /// By path: its links.
    pub paths: SmallVec<[Hops<'a>; 1]>,
    /// By hop: over how many ports at most packets are spread; empty where no node spreads those of a flow.
    spread: Vec<u64>,
}

impl<'a> Paths<'a> {
    /// One path alone.
    pub fn one(path: Hops<'a>) -> Self {
        Paths { paths: smallvec![path], spread: Vec::new() }
    }

    /// May packets of a flow take paths that are not alike?
    pub fn are_mixed(&self) -> bool {
        self.paths.len() > 1 && self.spread.iter().any(|ports| *ports > 1)
    }

    /// The least time of `packets`; none where no path leads there.
    pub fn time(&self, packets: &Packets) -> Option<Span> {
        self.paths.iter().map(|path| packets.time(path, &self.spread)).min()
    }
}

/// A path, by hops of which each represents all of its kind: two hops are alike if their rates, delays,
/// pipelines and crossbars are.
type Path = Box<[PortId]>;

/// What packets see of a hop: the time of a thousand bytes, which distinguishes two rates, delay, pipeline,
/// crossbar, receive buffer.
type Seen = (u64, Span, Span, Option<u64>, Option<u64>);

/// Distinct equal-cost paths from nodes to last switches, remembered. Hosts at one switch share them, and so
/// do nodes whose paths are alike: a large network has a million pairs of switches, and a few kinds of paths.
#[derive(Debug, Default)]
pub struct Ideals {
    /// A hop of each kind.
    kinds: FxHashMap<Seen, PortId>,
    /// Sets of distinct paths, and where each of them is.
    sets: Vec<Arc<[Path]>>,
    numbers: FxHashMap<Arc<[Path]>, u32>,
    /// By node and last switch: the set of its paths.
    paths: FxHashMap<(NodeId, NodeId), u32>,
    /// Does any node spread the packets of a flow?
    spreads: Option<bool>,
    spread: FxHashMap<(NodeId, NodeId), Box<[u64]>>,
}

impl Ideals {
    /// The equal-cost paths between these ends.
    pub fn paths<'a>(&mut self, facts: &PathFacts<'_, 'a>, (from, to): (NodeId, NodeId)) -> Paths<'a> {
        let last = facts.facts.routes.last_before(to);
        let set = self.find(facts, from, (last, to));
        let Some(rest) = rest(facts, last, to) else { return Paths::default() };
        let spread = self.spread(facts, (from, to)).map_or(Vec::new(), <[u64]>::to_vec);
        let paths = self.sets[set as usize].iter();
        let hops = |path: &Path| facts.hops(path.iter().chain(&rest).copied());
        Paths { paths: paths.map(hops).collect(), spread }
    }

    /// The set of paths from a node to the last switch before `to`.
    fn find(&mut self, facts: &PathFacts<'_, '_>, from: NodeId, (last, to): (NodeId, NodeId)) -> u32 {
        if let Some(&set) = self.paths.get(&(from, last)) {
            return set;
        }
        let mut found: Vec<Path> = if from == last { vec![Path::default()] } else { Vec::new() };
        // Ports of one kind whose paths go on alike are looked at once.
        let mut seen: Vec<(PortId, u32)> = Vec::new();
        for port in facts.ports(from, to).take_while(|_| from != last) {
            let rest = self.find(facts, facts.node_behind(port), (last, to));
            let hop = (self.kind(facts, port), rest);
            if seen.contains(&hop) {
                continue;
            }
            seen.push(hop);
            for rest in self.sets[rest as usize].iter() {
                let path: Path = std::iter::once(hop.0).chain(rest.iter().copied()).collect();
                if !found.contains(&path) {
                    found.push(path);
                }
            }
        }
        let set = self.intern(found);
        self.paths.insert((from, last), set);
        set
    }

    fn kind(&mut self, facts: &PathFacts<'_, '_>, port: PortId) -> PortId {
        let node = facts.facts.routes.node_of(port);
        let crossing = facts.crossbar(node).map(|crossbar| crossbar.time(1000));
        let drain = facts.drain(port).map(|serial| serial.time(1000));
        let seen = (facts.serial(port).time(1000), facts.delay(port), facts.pipeline(node), crossing, drain);
        *self.kinds.entry(seen).or_insert(port)
    }

    fn intern(&mut self, paths: Vec<Path>) -> u32 {
        let paths: Arc<[Path]> = paths.into();
        *self.numbers.entry(paths).or_insert_with_key(|paths| {
            self.sets.push(Arc::clone(paths));
            narrow::<u32>(self.sets.len()) - 1
        })
    }

    /// By hop: over how many ports at most packets are spread; none where no node of the network does so.
    fn spread(&mut self, facts: &PathFacts<'_, '_>, ends: (NodeId, NodeId)) -> Option<&[u64]> {
        let spreads = self.spreads.get_or_insert_with(|| facts.sprays());
        spreads.then(|| &**self.spread.entry(ends).or_insert_with(|| spread_by_hop(facts, ends)))
    }
}

/// From the last switch on there is one path, over relays if there are any.
fn rest(facts: &PathFacts<'_, '_>, last: NodeId, to: NodeId) -> Option<Ports> {
    let (mut at, mut rest) = (last, Ports::new());
    while at != to {
        let port = facts.ports(at, to).next()?;
        rest.push(port);
        at = facts.node_behind(port);
    }
    Some(rest)
}

/// By hop: over how many ports at most the packets of a flow are spread.
fn spread_by_hop(facts: &PathFacts<'_, '_>, (from, to): (NodeId, NodeId)) -> Box<[u64]> {
    let mut by_hop = Vec::new();
    let (mut nodes, mut spread) = (vec![from], false);
    while nodes.iter().any(|&node| node != to) {
        spread |= nodes.iter().any(|&node| facts.spreads(node));
        // Paths over relays have more links than others of equal cost: some are at their end before.
        let next = nodes.iter().filter(|&&node| node != to).flat_map(|&node| facts.ports(node, to));
        let ports: Vec<PortId> = next.collect();
        if ports.is_empty() {
            break;
        }
        by_hop.push(if spread { ports.len() as u64 } else { 1 });
        nodes = ports.iter().map(|&port| facts.node_behind(port)).collect();
        nodes.sort_unstable();
        nodes.dedup();
    }
    by_hop.into()
}

/// A flow's packets, as they are sent without a loss.
#[derive(Clone, Copy, Debug)]
pub struct Packets {
    first: Bytes,
    middle: Bytes,
    last: Bytes,
    count: u64,
}

impl Packets {
    /// The packets of `size` bytes of payload, at most `mtu` each.
    pub fn new(size: Bytes, mtu: Bytes, format: Format) -> Self {
        let count = size.0.div_ceil(mtu.0).max(1);
        let rest = Bytes(size.0 - (count - 1) * mtu.0);
        let full = if count == 1 { rest } else { mtu };
        Packets {
            first: format.data(full, true).wire,
            middle: format.data(mtu, false).wire,
            last: format.data(rest, count == 1).wire,
            count,
        }
    }

    /// The smallest of them.
    pub fn smallest(&self) -> Bytes {
        self.last
    }

    /// Picoseconds of all of them behind one another.
    pub fn on(&self, serial: &Serial) -> u64 {
        let [first, middle, last] = [self.first, self.middle, self.last].map(|wire| serial.time(wire.0));
        match self.count {
            1 => first,
            count => (count - 2).saturating_mul(middle).saturating_add(first).saturating_add(last),
        }
    }

    /// From the first bit sent to the last bit received, in each hop's own rounding; what no clock could show
    /// is the latest time that it shows.
    fn time(&self, path: &[Hop<'_>], spread_over: &[u64]) -> Span {
        let (mut train, mut fixed, mut ports) = (Train::default(), 0u64, 1);
        for (i, hop) in path.iter().enumerate() {
            let sizes = [self.first, self.middle, self.last].map(|wire| wire.0);
            if i > 0 {
                fixed = fixed.saturating_add(hop.pipeline.0);
                if let Some(crossbar) = hop.crossbar {
                    // By as many inputs as there were outputs before.
                    train.pass(self.count, sizes.map(|wire| crossbar.time(wire)), ports);
                }
            }
            ports = spread_over.get(i).copied().unwrap_or(1);
            train.pass(self.count, sizes.map(|wire| hop.serial.time(wire)), ports);
            fixed = fixed.saturating_add(hop.delay.0);
            if let Some((drain, gap)) = hop.drain {
                // Each NIC has a receive buffer of its own.
                train.pass(self.count, sizes.map(|wire| drain.time(wire - gap)), ports);
            }
        }
        Span(fixed.saturating_add(if self.count == 1 { train.first } else { train.all.max(train.full) }))
    }
}

/// When the first packet, the full ones and all of a flow have passed the stages so far: links and crossbars,
/// each of which takes one packet after another, and each packet as a whole.
#[derive(Default)]
struct Train {
    first: u64,
    full: u64,
    all: u64,
    spread: bool,
}

impl Train {
    /// Adds a stage that takes a flow's `count` packets over `n` ports, with the times of the first packet,
    /// each of the middle and the last.
    fn pass(&mut self, count: u64, [one, each, short]: [u64; 3], n: u64) {
        let begun = self.first;
        self.first = self.first.saturating_add(one);
        self.spread |= n > 1;
        self.full = match (count.saturating_sub(2), n) {
            (0, _) => self.first,
            (m, 1) => self.full.saturating_add(each).max(self.first.saturating_add(m.saturating_mul(each))),
            // Spread over n ports the packets pass n at a time.
            (m, n) => {
                let passed = saturated(u128::from(m + 1) * u128::from(each) / u128::from(n));
                self.full.saturating_add(each).max(begun.saturating_add(passed))
            }
        };
        // Once packets are spread, the short one need not be the last any more.
        self.all = if self.spread { self.all } else { self.all.max(self.full) }.saturating_add(short);
    }
}

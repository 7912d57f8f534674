//! The ideal completion time of a flow: line rate, no window, no congestion control, store and forward
//! over the fastest of its equal-cost paths, in closed form.

use floodway_units::{Bytes, NodeId, PortId, Span};
use floodway_wire::Format;
use rustc_hash::FxHashMap;

use crate::routing::{Routes, peer};
use crate::serial::Serial;

/// What the ideal needs to know of the ports.
pub(crate) struct PathFacts<'a> {
    pub routes: &'a Routes,
    pub serial: Box<dyn Fn(PortId) -> &'a Serial + 'a>,
    /// Propagation, without jitter.
    pub delay: Box<dyn Fn(PortId) -> Span + 'a>,
    /// From arrival at the node of this port to its queue.
    pub pipeline: Box<dyn Fn(NodeId) -> Span + 'a>,
    /// Does the node spread the packets of a flow over its equal-cost ports?
    pub spreads: Box<dyn Fn(NodeId) -> bool + 'a>,
}

/// Distinct equal-cost paths of (from, to), remembered; two paths are alike if their hops have the same
/// rates and delays.
#[derive(Debug, Default)]
pub(crate) struct Ideals {
    paths: FxHashMap<(NodeId, NodeId), Vec<Vec<PortId>>>,
    ways: FxHashMap<(NodeId, NodeId), Box<[u64]>>,
}

impl Ideals {
    /// Ideal time of a flow of `packets` between these ends, or along `pinned` egress ports; none where no
    /// way leads there.
    pub fn time(
        &mut self,
        facts: &PathFacts<'_>,
        packets: &Packets,
        ends: (NodeId, NodeId),
        pinned: Option<&[PortId]>,
    ) -> Option<Span> {
        if let Some(path) = pinned {
            return Some(packets.time(facts, path, &vec![1; path.len()]));
        }
        self.find(facts, ends.0, ends.1);
        let paths = &self.paths[&ends];
        let ways = self.ways.entry(ends).or_insert_with(|| ways(facts, ends));
        paths.iter().map(|path| packets.time(facts, path, ways)).min()
    }

    fn find(&mut self, facts: &PathFacts<'_>, from: NodeId, to: NodeId) {
        if self.paths.contains_key(&(from, to)) {
            return;
        }
        let mut found: Vec<Vec<PortId>> = if from == to { vec![Vec::new()] } else { Vec::new() };
        for &port in if from == to { &[] } else { facts.routes.candidates(from, to) } {
            let next = facts.routes.node_of(peer(port));
            self.find(facts, next, to);
            for rest in &self.paths[&(next, to)] {
                let path: Vec<PortId> = std::iter::once(port).chain(rest.iter().copied()).collect();
                if !found.iter().any(|other| alike(facts, other, &path)) {
                    found.push(path);
                }
            }
        }
        self.paths.insert((from, to), found);
    }
}

/// By hop: over how many ports at most the packets of a flow are spread.
fn ways(facts: &PathFacts<'_>, (from, to): (NodeId, NodeId)) -> Box<[u64]> {
    let mut ways = Vec::new();
    let (mut nodes, mut spread) = (vec![from], false);
    while nodes.iter().any(|&node| node != to) {
        spread |= nodes.iter().any(|&node| (facts.spreads)(node));
        // Ways over relays have more links than others of equal cost: some are at their end before.
        let next =
            nodes.iter().filter(|&&node| node != to).flat_map(|&node| facts.routes.candidates(node, to));
        let ports: Vec<PortId> = next.copied().collect();
        if ports.is_empty() {
            break;
        }
        ways.push(if spread { ports.len() as u64 } else { 1 });
        nodes = ports.iter().map(|&port| facts.routes.node_of(peer(port))).collect();
        nodes.sort_unstable();
        nodes.dedup();
    }
    ways.into()
}

fn alike(facts: &PathFacts<'_>, a: &[PortId], b: &[PortId]) -> bool {
    // A thousand bytes tell two rates apart.
    let facts_of = |&port: &PortId| {
        let node = facts.routes.node_of(port);
        ((facts.serial)(port).time(1000), (facts.delay)(port), (facts.pipeline)(node))
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| facts_of(a) == facts_of(b))
}

/// A flow's packets, as they are sent without a loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packets {
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

    /// From the first bit sent to the last bit received, in each hop's own rounding; what no clock could show
    /// is the latest time that it shows.
    fn time(&self, facts: &PathFacts<'_>, path: &[PortId], ways: &[u64]) -> Span {
        let middle = self.count.saturating_sub(2);
        let (mut first, mut full, mut all, mut fixed, mut spread) = (0u64, 0u64, 0u64, 0u64, false);
        for (i, (&port, &n)) in path.iter().zip(ways).enumerate() {
            let serial = (facts.serial)(port);
            let [one, each, short] = [self.first, self.middle, self.last].map(|wire| serial.time(wire.0));
            let begun = first;
            first = first.saturating_add(one);
            spread |= n > 1;
            full = match (middle, n) {
                (0, _) => first,
                (m, 1) => full.saturating_add(each).max(first.saturating_add(m.saturating_mul(each))),
                // Spread over n ports the packets pass n at a time.
                (m, n) => {
                    let passed =
                        (u128::from(m + 1) * u128::from(each) / u128::from(n)).min(u128::from(u64::MAX));
                    full.saturating_add(each).max(begun.saturating_add(passed as u64))
                }
            };
            // Once packets are spread, the short one need not be the last any more.
            all = if spread { all } else { all.max(full) }.saturating_add(short);
            fixed = fixed.saturating_add((facts.delay)(port).0);
            if i > 0 {
                fixed = fixed.saturating_add((facts.pipeline)(facts.routes.node_of(port)).0);
            }
        }
        Span(fixed.saturating_add(if self.count == 1 { first } else { all.max(full) }))
    }
}

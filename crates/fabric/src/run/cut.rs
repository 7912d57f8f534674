//! Where a network is cut into partitions.
//!
//! ```text
//!   partition 0         |  partition 1
//!   host ── switch ─────┼───── switch ── host
//!                       |
//!            the link's packets are events at the end where they arrive
//! ```

use floodway_engine::Lookahead;
use floodway_units::{NodeId, PortId, Span};

use crate::network::blueprint::{Blueprint, LinkSpec};

/// At most so many partitions: a set of them is one word.
pub(crate) const MOST_PARTS: usize = 64;
/// A port whose link is not cut.
const WHOLE: u8 = u8::MAX;

/// Which partition each node is in.
#[derive(Debug)]
pub(crate) struct Cut {
    parts: usize,
    /// By node.
    owner: Vec<u8>,
    /// By port: the partition of the far end, where that is another one. Empty if there is one partition.
    far: Vec<u8>,
}

impl Cut {
    /// All nodes in one partition.
    pub fn none(blueprint: &Blueprint) -> Self {
        Cut { parts: 1, owner: vec![0; blueprint.nodes.len()], far: Vec::new() }
    }

    /// By the partition of each node, of which there are `parts`.
    pub fn new(blueprint: &Blueprint, parts: usize, owner: Vec<u8>) -> Self {
        debug_assert!(parts <= MOST_PARTS && owner.len() == blueprint.nodes.len());
        let of = |node: NodeId| owner[node.index()];
        let far = |link: &LinkSpec| {
            let [a, b] = [0, 1].map(|end| of(link.ends[end].node));
            if a == b { [WHOLE; 2] } else { [b, a] }
        };
        let far = if parts > 1 { blueprint.links.iter().flat_map(far).collect() } else { Vec::new() };
        Cut { parts, owner, far }
    }

    /// How many partitions there are.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The partition of a node.
    #[inline]
    pub fn owner(&self, node: NodeId) -> usize {
        usize::from(self.owner[node.index()])
    }

    /// The partition that what a port sends goes to, if it is another one than its own.
    #[inline]
    pub fn beyond(&self, port: PortId) -> Option<usize> {
        self.far.get(port.index()).filter(|&&far| far != WHOLE).map(|&far| usize::from(far))
    }

    /// How far partitions may run ahead of each other, and the shortest of the links that are cut.
    pub fn lookahead(&self, blueprint: &Blueprint) -> (Lookahead, Option<Span>) {
        let mut lookahead = Lookahead::new(self.parts);
        let mut shortest: Option<Span> = None;
        for (i, link) in blueprint.links.iter().enumerate() {
            for (end, direction) in link.directions.iter().enumerate() {
                let Some(to) = self.beyond(PortId((2 * i + end) as u32)) else { continue };
                let from = self.owner(link.ends[end].node);
                let delay = direction.shortest_delay();
                lookahead.cut(from, to, delay).expect("links without delay are not cut");
                shortest = Some(shortest.map_or(delay, |least| least.min(delay)));
            }
        }
        (lookahead, shortest)
    }
}

/// Why a link must not be cut, if so.
pub(crate) fn uncut(link: &LinkSpec) -> Option<&'static str> {
    if link.directions.iter().any(|of| of.shortest_delay() == Span::ZERO) {
        Some("it has no delay")
    } else if !link.down.is_empty() {
        Some("it goes down")
    } else {
        None
    }
}

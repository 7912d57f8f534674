//! Trees: broadcast by a binomial tree, and the double binary tree of NCCL 2.4.
//!
//! In an all-reduce a rank adds what its children send, sends the sum to its parent, receives the result from
//! there, and sends it to its children. Of the two binary trees each carries half of the buffer, and a rank
//! that has children in one of them is a leaf of the other one, but for one rank. Through nodes, a tree is of
//! the nodes: in each a chain of its GPUs ends at the one that has the NIC of the tree (NVIDIA/nccl #530).

use std::sync::Arc;

use floodway_units::Bytes;
use floodway_units::cast::narrow;

use super::pieces::Pieces;
use super::seats::Nodes;
use super::{Algorithm, Step, Transfer};

/// A broadcast from `root` by a binomial tree.
#[derive(Clone, Debug)]
pub(crate) struct Binomial {
    pub ranks: u32,
    pub root: u32,
    pub pieces: Pieces,
}

impl Binomial {
    /// The children of a place, counted from the root, in the order in which it sends to them: the largest
    /// subtree first.
    fn children(&self, place: u32) -> impl Iterator<Item = u32> {
        let ranks = self.ranks;
        // Bits below the lowest one of its number, or below all ranks at the root.
        let bits = if place == 0 { u32::BITS - (ranks - 1).leading_zeros() } else { place.trailing_zeros() };
        (0..bits).rev().map(move |bit| place + (1 << bit)).filter(move |&child| child < ranks)
    }
}

impl Algorithm for Binomial {
    fn slices(&self) -> u32 {
        self.pieces.slices
    }

    fn channel(&self, slice: u32) -> u32 {
        self.pieces.channel(slice)
    }

    /// What it receives, and a step for each child, one after another as by blocking sends.
    fn steps(&self, rank: u32, _: u32) -> u32 {
        let place = (rank + self.ranks - self.root) % self.ranks;
        u32::from(place > 0) + narrow::<u32>(self.children(place).count())
    }

    fn most_steps(&self) -> u32 {
        self.steps(self.root, 0)
    }

    fn opens_after(&self, _: u32, _: u32, step: u32) -> u32 {
        step
    }

    fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step) {
        let place = (rank + self.ranks - self.root) % self.ranks;
        if place > 0 && step == 0 {
            out.receives = 1;
            return;
        }
        let (begin, end) = self.pieces.range(slice);
        let child = self.children(place).nth((step - u32::from(place > 0)) as usize);
        out.sends.extend(child.map(|child| {
            let to = (child + self.root) % self.ranks;
            Transfer::of(to, (slice, 0), (begin, begin), end - begin)
        }));
    }

    fn waits_for_sends(&self, _: u32) -> bool {
        true
    }
}

/// Two binary trees, for an all-reduce: slices take turns between them.
#[derive(Clone, Debug)]
pub(crate) struct DoubleTree {
    pub ranks: u32,
    pub pieces: Pieces,
    /// By NIC of a node, where ranks are in nodes.
    pub through: Arc<[Through]>,
}

/// The ranks of each node from the head on, and by rank its node and place there.
#[derive(Clone, Debug)]
pub(crate) struct Through {
    chains: Vec<Vec<u32>>,
    place: Vec<(u32, u32)>,
}

impl Through {
    /// By NIC of a node.
    pub fn nodes(nodes: &Nodes, ranks: u32) -> Arc<[Through]> {
        let through = |nic| {
            let chains = nodes.chains(nic);
            let mut place = vec![(0, 0); ranks as usize];
            for (node, chain) in (0..).zip(&chains) {
                (0..).zip(chain).for_each(|(at, &rank)| place[rank as usize] = (node, at));
            }
            Through { chains, place }
        };
        (0..nodes.rings()).map(through).collect()
    }
}

/// A rank's neighbours in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Neighbours {
    parent: Option<u32>,
    /// Two of other nodes, and the next GPU of its own.
    children: [Option<u32>; 3],
}

impl Neighbours {
    fn count(&self) -> u32 {
        narrow::<u32>(self.children.iter().flatten().count())
    }
}

impl DoubleTree {
    /// A place in the tree on the places 0 to n - 1 whose root is 0 and whose odd places are leaves: the
    /// lowest bit of a place is its height.
    fn in_tree(place: u32, ranks: u32) -> Neighbours {
        if place == 0 {
            let top = if ranks > 1 { 1 << (u32::BITS - 1 - (ranks - 1).leading_zeros()) } else { 0 };
            return Neighbours { parent: None, children: [Some(top).filter(|&top| top > 0), None, None] };
        }
        let bit = 1 << place.trailing_zeros();
        let up = (place ^ bit) | bit << 1;
        let parent = if up < ranks { up } else { place ^ bit };
        let below = |half: u32| Some(place - half).filter(|_| half > 0);
        // Beyond the last rank the subtree is that of the next lower height.
        let mut half = bit >> 1;
        while half > 0 && place + half >= ranks {
            half >>= 1;
        }
        let above = Some(place + half).filter(|_| half > 0);
        Neighbours { parent: Some(parent), children: [below(bit >> 1), above, None] }
    }

    /// The neighbours of one of `ranks` in the tree of a slice. The second tree is the mirror image of the
    /// first one, or, for an odd number, shifted by one.
    fn of_slice(rank: u32, slice: u32, ranks: u32) -> Neighbours {
        if slice.is_multiple_of(2) {
            return Self::in_tree(rank, ranks);
        }
        let mirrored = ranks.is_multiple_of(2);
        let place = if mirrored { ranks - 1 - rank } else { (rank + ranks - 1) % ranks };
        let back = |place: u32| if mirrored { ranks - 1 - place } else { (place + 1) % ranks };
        let Neighbours { parent, children } = Self::in_tree(place, ranks);
        Neighbours { parent: parent.map(back), children: children.map(|child| child.map(back)) }
    }

    /// A rank's neighbours in the tree of a slice.
    fn neighbours(&self, rank: u32, slice: u32) -> Neighbours {
        let count = self.through.len();
        if count == 0 {
            return Self::of_slice(rank, slice, self.ranks);
        }
        let through = &self.through[self.channel(slice) as usize % count];
        let (node, at) = through.place[rank as usize];
        let chain = &through.chains[node as usize];
        let behind = chain.get(at as usize + 1).copied();
        if let Some(before) = at.checked_sub(1) {
            return Neighbours { parent: Some(chain[before as usize]), children: [behind, None, None] };
        }
        let head = |node: u32| through.chains[node as usize][0];
        let of_node = Self::of_slice(node, slice, narrow(through.chains.len()));
        let [first, second, _] = of_node.children.map(|node| node.map(head));
        Neighbours { parent: of_node.parent.map(head), children: [first, second, behind] }
    }

    /// Is it of nodes, or of ranks in their order?
    pub fn is_seated(&self) -> bool {
        !self.through.is_empty()
    }
}

impl Algorithm for DoubleTree {
    fn slices(&self) -> u32 {
        self.pieces.slices
    }

    fn channel(&self, slice: u32) -> u32 {
        self.pieces.channel(slice / 2)
    }

    /// Sums of children; the sum to the parent and the result from there; the result to children.
    fn steps(&self, rank: u32, slice: u32) -> u32 {
        let at = self.neighbours(rank, slice);
        2 * u32::from(at.count() > 0) + u32::from(at.parent.is_some())
    }

    fn opens_after(&self, _: u32, _: u32, step: u32) -> u32 {
        step
    }

    fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step) {
        let at = self.neighbours(rank, slice);
        let (begin, end) = self.pieces.range(slice);
        let transfer = |to, step| Transfer::of(to, (slice, step), (begin, begin), end - begin);
        let has_children = at.count() > 0;
        if has_children && step == 0 {
            (out.receives, out.reduce) = (at.count(), Bytes(end - begin));
        } else if let Some(parent) = at.parent.filter(|_| step == u32::from(has_children)) {
            out.sends.push(transfer(parent, 0));
            out.receives = 1;
        } else {
            for child in at.children.into_iter().flatten() {
                let step = u32::from(self.neighbours(child, slice).count() > 0);
                out.sends.push(transfer(child, step));
            }
        }
    }

    fn most_steps(&self) -> u32 {
        self.ranks.min(3)
    }

    fn most_sends(&self) -> u32 {
        if self.is_seated() { 3 } else { 2 }
    }
}

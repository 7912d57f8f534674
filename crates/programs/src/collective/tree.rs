//! Trees: broadcast along a chain or a binomial tree, and the double binary tree of NCCL 2.4.
//!
//! In an all-reduce a rank adds what its children send, sends the sum to its parent, receives the result from
//! there, and sends it to its children. Of the two binary trees each carries half of the buffer, and a rank
//! that has children in one of them is a leaf of the other one, but for one rank.

use floodway_units::Bytes;
use floodway_units::cast::narrow;

use super::pieces::Pieces;
use super::{Algorithm, Step, Transfer};

/// A broadcast from `root`.
#[derive(Clone, Debug)]
pub(crate) struct Broadcast {
    pub ranks: u32,
    pub root: u32,
    pub pieces: Pieces,
    /// A chain from rank to rank, or a binomial tree.
    pub chain: bool,
}

impl Broadcast {
    /// The children of a place, counted from the root, in the order in which it sends to them: the largest
    /// subtree first.
    fn children(&self, place: u32) -> impl Iterator<Item = u32> {
        let (ranks, chain) = (self.ranks, self.chain);
        // Bits below the lowest one of its number, or below all ranks at the root.
        let bits = if place == 0 { u32::BITS - (ranks - 1).leading_zeros() } else { place.trailing_zeros() };
        let tree = (0..bits).rev().map(move |bit| place + (1 << bit)).filter(move |_| !chain);
        let next = Some(place + 1).filter(move |_| chain);
        next.into_iter().chain(tree).filter(move |&child| child < ranks)
    }
}

impl Algorithm for Broadcast {
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
            Transfer::of(to, 0, (begin, begin), end - begin)
        }));
    }

    fn waits_for_sends(&self) -> bool {
        !self.chain
    }
}

/// Two binary trees, for an all-reduce: slices take turns between them.
#[derive(Clone, Debug)]
pub(crate) struct DoubleTree {
    pub ranks: u32,
    pub pieces: Pieces,
}

/// A rank's neighbours in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Neighbours {
    parent: Option<u32>,
    children: [Option<u32>; 2],
}

impl Neighbours {
    fn count(&self) -> u32 {
        narrow::<u32>(self.children.iter().flatten().count())
    }
}

impl DoubleTree {
    /// A place in the tree on the places 0 to n - 1 whose root is 0 and whose odd places are leaves: the
    /// lowest bit of a place is its height.
    fn in_tree(&self, place: u32) -> Neighbours {
        let ranks = self.ranks;
        if place == 0 {
            let top = if ranks > 1 { 1 << (u32::BITS - 1 - (ranks - 1).leading_zeros()) } else { 0 };
            return Neighbours { parent: None, children: [Some(top).filter(|&top| top > 0), None] };
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
        Neighbours { parent: Some(parent), children: [below(bit >> 1), above] }
    }

    /// A rank's neighbours in the tree of a slice. The second tree is the mirror image of the first one, or,
    /// for an odd number of ranks, shifted by one.
    fn neighbours(&self, rank: u32, slice: u32) -> Neighbours {
        let ranks = self.ranks;
        if slice.is_multiple_of(2) {
            return self.in_tree(rank);
        }
        let mirrored = ranks.is_multiple_of(2);
        let place = if mirrored { ranks - 1 - rank } else { (rank + ranks - 1) % ranks };
        let back = |place: u32| if mirrored { ranks - 1 - place } else { (place + 1) % ranks };
        let Neighbours { parent, children } = self.in_tree(place);
        Neighbours { parent: parent.map(back), children: children.map(|child| child.map(back)) }
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
        let transfer = |to, step| Transfer::of(to, step, (begin, begin), end - begin);
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

    fn most_sends(&self) -> u32 {
        2
    }
}

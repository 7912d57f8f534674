//! Rings: reduce-scatter, all-gather and all-reduce round a ring; broadcast and reduce along it.
//!
//! In step s of a reduce-scatter the rank at place p sends its sum of the part of the rank at place
//! p - s - 1, so that after n - 1 steps each rank has the sum of its own part; in step s of an all-gather it
//! sends the part of the rank at place p - s. A broadcast and a reduce go along the ring, from the root or to
//! it.
//!
//! Where a rank's messages leave its node by the NIC of another GPU, that one passes them on
//! ([`CrossNic::Same`](super::CrossNic)). Each slice then has a second one, behind all others: of those who
//! pass on.

use std::sync::Arc;

use floodway_units::Bytes;

use super::pieces::{Pieces, share, share_of};
use super::seats::Rings;
use super::{Algorithm, Step, Transfer};

/// What goes round a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    /// Parts of the buffer: reduced, gathered, or both.
    Parts { scatters: bool, gathers: bool },
    /// The buffer, from the root to all.
    From(u32),
    /// The buffer, reduced from all to the root.
    To(u32),
}

/// Messages round rings.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    pub rings: Arc<Rings>,
    pub pieces: Pieces,
    pub round: Round,
}

impl Around {
    fn ranks(&self) -> u32 {
        self.rings.ranks()
    }

    /// Steps of one pass.
    fn pass(&self) -> u32 {
        self.ranks() - 1
    }

    /// A slice of messages, and whether it is that of those who pass them on.
    fn main(&self, slice: u32) -> (u32, bool) {
        if slice < self.pieces.slices { (slice, false) } else { (slice - self.pieces.slices, true) }
    }

    fn ring(&self, slice: u32) -> u32 {
        self.pieces.channel(self.main(slice).0)
    }

    /// How many ranks a rank is behind the first one of a chain.
    fn behind_first(&self, slice: u32, rank: u32, round: Round) -> u32 {
        let place = |rank| self.rings.position(self.ring(slice), rank);
        let first = match round {
            Round::From(root) => place(root),
            Round::To(root) => place(root) + 1,
            Round::Parts { .. } => 0,
        };
        (place(rank) + 2 * self.ranks() - first) % self.ranks()
    }

    /// How many messages a rank sends in a slice, by itself.
    fn sends(&self, slice: u32, rank: u32) -> u32 {
        match self.round {
            Round::Parts { scatters, gathers } => self.pass() * (u32::from(scatters) + u32::from(gathers)),
            round => u32::from(self.behind_first(slice, rank, round) < self.pass()),
        }
    }

    /// The message that a rank sends as its `number`-th in a slice: where it is in the buffer.
    fn message(&self, slice: u32, rank: u32, number: u32) -> (u64, u64) {
        let range = self.pieces.range(slice);
        let Round::Parts { scatters, .. } = self.round else { return range };
        let (ring, n) = (self.ring(slice), self.ranks());
        let reduces = scatters && number < self.pass();
        let back = number % self.pass() + u32::from(reduces);
        let place = self.rings.position(ring, rank) + n - back % n;
        share(range, self.rings.at(ring, place), n)
    }

    /// The rank behind, and its step in which the `number`-th message of a rank arrives.
    fn receiver(&self, slice: u32, rank: u32, number: u32) -> (u32, u32) {
        let ring = self.ring(slice);
        (self.rings.at(ring, self.rings.position(ring, rank) + 1), number)
    }

    fn transfer(&self, slice: u32, rank: u32, number: u32, (to, at): (u32, (u32, u32))) -> Transfer {
        let (begin, end) = self.message(slice, rank, number);
        Transfer::of(to, at, (begin, begin), end - begin)
    }

    /// A message of its own, to the rank behind it or to the one that passes it on.
    fn send(&self, slice: u32, rank: u32, number: u32) -> Transfer {
        let (to, step) = self.receiver(slice, rank, number);
        let relay = self.rings.relay(self.ring(slice), rank);
        let at = relay.map_or((to, (slice, step)), |relay| (relay, (slice + self.pieces.slices, number)));
        self.transfer(slice, rank, number, at)
    }

    /// A step of a rank that passes on what `from` sends: it takes a message, and sends the one before.
    fn pass_on(&self, slice: u32, from: u32, step: u32, out: &mut Step) {
        let count = self.sends(slice, from);
        if let Some(number) = step.checked_sub(1) {
            let (to, at) = self.receiver(slice, from, number);
            out.sends.push(self.transfer(slice, from, number, (to, (slice, at))));
        }
        out.receives = u32::from(step < count);
    }

    /// The rank that has a byte when it is reduced, or before it is gathered.
    pub fn owner(&self, byte: u64) -> u32 {
        match self.round {
            Round::Parts { .. } => {
                share_of(self.pieces.range(self.pieces.slice_of(byte)), byte, self.ranks())
            }
            Round::From(root) | Round::To(root) => root,
        }
    }

    /// For each rank that a rank sends to: messages and bytes.
    pub fn each_peer(&self, rank: u32, each: &mut impl FnMut(u32, u64, u64)) {
        if self.rings.is_seated() {
            (0..self.pieces.slices).for_each(|slice| self.each_of_slice(rank, slice, each));
            return;
        }
        for (pieces, slice, slices) in self.pieces.kinds() {
            let around = Around { pieces, ..self.clone() };
            around.each_of_slice(rank, slice, &mut |to, messages, bytes| {
                each(to, messages * slices, bytes * slices);
            });
        }
    }

    fn each_of_slice(&self, rank: u32, slice: u32, each: &mut impl FnMut(u32, u64, u64)) {
        let (messages, bytes) = self.sent(slice, rank);
        if messages > 0 {
            each(self.send(slice, rank, 0).to, messages, bytes);
        }
        if let Some(from) = self.rings.relays(self.ring(slice), rank) {
            let (messages, bytes) = self.sent(slice, from);
            if messages > 0 {
                each(self.receiver(slice, from, 0).0, messages, bytes);
            }
        }
    }

    /// Messages and bytes that a rank sends in a slice by itself: in a reduce-scatter all parts but its own,
    /// in an all-gather all but that of the rank behind it.
    fn sent(&self, slice: u32, rank: u32) -> (u64, u64) {
        let messages = u64::from(self.sends(slice, rank));
        let range = self.pieces.range(slice);
        let whole = range.1 - range.0;
        let Round::Parts { scatters, gathers } = self.round else { return (messages, messages * whole) };
        let kept = [(scatters, rank), (gathers, self.receiver(slice, rank, 0).0)];
        let bytes = kept.iter().filter(|(there, _)| *there).map(|(_, part)| {
            let (begin, end) = share(range, *part, self.ranks());
            whole - (end - begin)
        });
        (messages, bytes.sum())
    }
}

impl Algorithm for Around {
    fn slices(&self) -> u32 {
        if self.rings.have_relays() { self.pieces.slices.saturating_mul(2) } else { self.pieces.slices }
    }

    fn channel(&self, slice: u32) -> u32 {
        self.ring(slice)
    }

    fn steps(&self, rank: u32, slice: u32) -> u32 {
        match (self.main(slice), self.round) {
            ((slice, true), _) => {
                let from = self.rings.relays(self.ring(slice), rank);
                from.map_or(0, |from| self.sends(slice, from))
                    .checked_add(1)
                    .filter(|&steps| steps > 1)
                    .unwrap_or(0)
            }
            ((slice, false), Round::Parts { .. }) => self.sends(slice, rank),
            ((slice, false), round) => {
                u32::from(self.behind_first(slice, rank, round) > 0) + self.sends(slice, rank)
            }
        }
    }

    fn most_steps(&self) -> u32 {
        let own = match self.round {
            Round::Parts { .. } => self.sends(0, 0),
            Round::From(_) | Round::To(_) => self.pass().min(2),
        };
        own + u32::from(self.rings.have_relays())
    }

    fn opens_after(&self, _: u32, _: u32, step: u32) -> u32 {
        step
    }

    fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step) {
        let (slice, passes_on) = self.main(slice);
        if passes_on {
            if let Some(from) = self.rings.relays(self.ring(slice), rank) {
                self.pass_on(slice, from, step, out);
            }
            return;
        }
        let Round::Parts { scatters, .. } = self.round else {
            let receives = self.behind_first(slice, rank, self.round) > 0;
            if receives && step == 0 {
                out.receives = 1;
                if let Round::To(_) = self.round {
                    let (begin, end) = self.pieces.range(slice);
                    out.reduce = Bytes(end - begin);
                }
            } else {
                out.sends.push(self.send(slice, rank, 0));
            }
            return;
        };
        out.sends.push(self.send(slice, rank, step));
        out.receives = 1;
        if scatters && step < self.pass() {
            let (ring, n) = (self.ring(slice), self.ranks());
            let before = self.rings.at(ring, self.rings.position(ring, rank) + n - 1);
            let (begin, end) = self.message(slice, before, step);
            out.reduce = Bytes(end - begin);
        }
    }
}

//! Packets stay where they are while they live: links and queues hold lists of their places.

use std::ops::{Index, IndexMut};

use crate::ahead::fetch;
use crate::column::Column;
use crate::packet::Packet;

/// No place: the end of a list.
const NONE: u32 = u32::MAX;

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u32);

/// All packets and link control frames of a run; places that become free are used again, the latest first.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    packets: Column<Packet>,
    /// By place, where ties go by scheduling order: the number that its arrival got.
    numbers: Vec<u64>,
    /// Free places, as a list.
    free: Option<Place>,
}

/// A list of packets, first in, first out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    head: u32,
    tail: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { head: NONE, tail: NONE }
    }
}

impl Arena {
    /// Gives a packet a place.
    #[inline]
    pub fn add(&mut self, packet: Packet) -> Place {
        let Some(place) = self.free else { return self.grow(packet) };
        let next = self[place].next;
        self.free = (next != NONE).then_some(Place(next));
        self[place] = packet;
        place
    }

    #[cold]
    fn grow(&mut self, packet: Packet) -> Place {
        assert!(self.packets.len() < NONE as usize, "256 GB of packets are too many");
        self.packets.push(packet);
        Place(self.packets.len() as u32 - 1)
    }

    /// Takes a packet, which is in no list, off its place.
    #[inline]
    pub fn take(&mut self, place: Place) -> Packet {
        let taken = self[place];
        self[place].next = self.free.map_or(NONE, |free| free.0);
        self.free = Some(place);
        taken
    }

    /// The arrival of the packet at a place got this number in the order of scheduling.
    pub fn set_number(&mut self, place: Place, number: u64) {
        let at = place.0 as usize;
        if at >= self.numbers.len() {
            self.numbers.resize(at + 1, 0);
        }
        self.numbers[at] = number;
    }

    /// The number that was set; 0 where none ever was.
    pub fn number_of(&self, place: Place) -> u64 {
        self.numbers.get(place.0 as usize).copied().unwrap_or(0)
    }

    /// The number of a place.
    #[inline]
    pub fn number(place: Place) -> usize {
        place.0 as usize
    }

    /// Has a packet fetched.
    #[inline]
    pub fn fetch(&self, place: Place) {
        fetch(&self.packets, place.0 as usize);
    }

    /// Has the packet behind this one fetched.
    #[inline]
    pub fn fetch_next(&self, place: Place) {
        fetch(&self.packets, self[place].next as usize);
    }
}

impl Index<Place> for Arena {
    type Output = Packet;
    #[inline]
    fn index(&self, place: Place) -> &Packet {
        &self.packets[place.0 as usize]
    }
}

impl IndexMut<Place> for Arena {
    #[inline]
    fn index_mut(&mut self, place: Place) -> &mut Packet {
        &mut self.packets[place.0 as usize]
    }
}

impl Fifo {
    #[inline]
    pub fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// The packet that has waited longest.
    #[inline]
    pub fn front(self) -> Option<Place> {
        (self.head != NONE).then_some(Place(self.head))
    }

    /// The packet that came last.
    #[inline]
    pub fn back(self) -> Option<Place> {
        (self.head != NONE).then_some(Place(self.tail))
    }

    #[inline]
    pub fn push(&mut self, arena: &mut Arena, place: Place) {
        arena[place].next = NONE;
        if self.head == NONE {
            self.head = place.0;
        } else {
            arena[Place(self.tail)].next = place.0;
        }
        self.tail = place.0;
    }

    #[inline]
    pub fn pop(&mut self, arena: &Arena) -> Option<Place> {
        let place = self.front()?;
        self.head = arena[place].next;
        Some(place)
    }

    /// The packets from front to back.
    pub fn iter<'a>(&self, arena: &'a Arena) -> impl Iterator<Item = &'a Packet> {
        let following = |place: &Place| {
            let next = arena[*place].next;
            (next != NONE).then_some(Place(next))
        };
        std::iter::successors(self.front(), following).map(|place| &arena[place])
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{Bytes, FlowId};

    use super::*;
    use crate::packet::Kind;

    fn packet(flow: u32) -> Packet {
        Packet::new(Kind::Data, FlowId(flow), Bytes(1000))
    }

    #[test]
    fn lists_keep_their_order_while_places_are_used_again() {
        let mut arena = Arena::default();
        let (mut a, mut b) = (Fifo::default(), Fifo::default());
        for flow in 0..6 {
            let place = arena.add(packet(flow));
            if flow % 2 == 0 { a.push(&mut arena, place) } else { b.push(&mut arena, place) }
        }
        let flows = |fifo: &Fifo, arena: &Arena| fifo.iter(arena).map(|p| p.flow.0).collect::<Vec<_>>();
        let first = a.pop(&arena).expect("three wait");
        assert_eq!(arena.take(first).flow, FlowId(0));
        let again = arena.add(packet(6));
        assert_eq!(again, first);
        b.push(&mut arena, again);
        assert_eq!((flows(&a, &arena), flows(&b, &arena)), (vec![2, 4], vec![1, 3, 5, 6]));
        assert_eq!(b.back(), Some(again));
        while let Some(place) = b.pop(&arena) {
            arena.take(place);
        }
        assert!(b.is_empty() && b.front().is_none());
        assert_eq!(arena.packets.len(), 6);
    }
}

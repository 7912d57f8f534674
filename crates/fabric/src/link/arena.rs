//! Packets stay where they are while they live: events of arrivals and lists of queues hold their places.

use std::ops::{Index, IndexMut};

use floodway_engine::memory;
use floodway_mechanisms::slots::{IntHop, RegionNotice};
use floodway_units::{Bytes, FlowId, NodeId};
use smallvec::SmallVec;

use crate::link::packet::{Kind, Packet};
use crate::network::layout::Local;
use crate::pool::Pool;

/// No place: the end of a list.
const NONE: u32 = u32::MAX;
/// In the place of the next packet: it is in no list, but on a link.
const FLYING: u32 = u32::MAX - 1;
/// Likewise: it was lost on the link, and the event of its arrival has still to come.
const LOST: u32 = u32::MAX - 2;

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u32);

/// Room for so many records of telemetry: those of a way through a fat-tree lie in place.
const HOPS: usize = 8;

/// Records of in-band telemetry, the first switch's first.
pub(crate) type Hops = SmallVec<[IntHop; HOPS]>;

/// What few packets have with them.
#[derive(Clone, Debug)]
pub(crate) enum Extra {
    /// Records of telemetry.
    Hops(Hops),
    /// Word of a congestion point to its neighbour upstream.
    Notice(RegionNotice),
}

impl Extra {
    /// The records of telemetry, if it is those.
    pub fn hops(&self) -> &[IntHop] {
        match self {
            Extra::Hops(hops) => hops,
            Extra::Notice(_) => &[],
        }
    }
}

/// All packets and link control frames of a run; places that become free are used again, the latest first.
#[derive(Debug)]
pub(crate) struct Arena {
    packets: Pool<Packet>,
    /// Places that are free, the one that became so last behind the others.
    free: Vec<Place>,
    /// By place, as far as any packet has had one.
    extras: Pool<Option<Box<Extra>>>,
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

impl Default for Arena {
    /// With one place in use that is no packet's, so that whatever an event names is a place.
    fn default() -> Self {
        let mut packets = Pool::default();
        packets.add(Packet::new(Kind::Data, FlowId(0), Bytes::ZERO));
        Arena { packets, free: Vec::new(), extras: Pool::default() }
    }
}

impl Arena {
    /// Gives a packet a place.
    #[inline]
    pub fn add(&mut self, packet: Packet) -> Place {
        let Some(place) = self.free.pop() else { return self.grow(packet) };
        self[place] = packet;
        place
    }

    /// The same packets, for another thread.
    pub fn share(&self) -> Arena {
        Arena { packets: self.packets.clone(), free: Vec::new(), extras: self.extras.clone() }
    }

    /// Evens out with another thread which free places each has.
    pub fn even_out(&mut self, other: &mut Arena) {
        let mean = self.free.len().midpoint(other.free.len());
        let (more, less) = if self.free.len() > mean {
            (&mut self.free, &mut other.free)
        } else {
            (&mut other.free, &mut self.free)
        };
        memory::extend(less, more.drain(mean..));
    }

    #[cold]
    fn grow(&mut self, packet: Packet) -> Place {
        assert!(self.packets.len() < LOST as usize, "256 GB of packets are too many");
        Place(self.packets.add(packet))
    }

    /// Takes a packet, which is in no list, off its place; what it has with it must have been detached before, or is lost.
    #[inline]
    pub fn take(&mut self, place: Place) -> Packet {
        let taken = self[place];
        if self.extras.len() > 0 {
            self.detach(place);
        }
        memory::push(&mut self.free, place);
        taken
    }

    /// Gives the packet at a place what it has with it.
    pub fn attach(&mut self, place: Place, extra: Box<Extra>) {
        self.extras.reach(place.0, || None);
        self.extras[place.0 as usize] = Some(extra);
    }

    /// Takes from the packet that is or was last at a place what it has with it.
    #[inline]
    pub fn detach(&mut self, place: Place) -> Option<Box<Extra>> {
        self.extras.get_mut(place.0 as usize)?.take()
    }

    /// The records of telemetry that the packet at a place has with it.
    pub fn hops(&self, place: Place) -> &[IntHop] {
        let extra = self.extras.get(place.0 as usize).and_then(Option::as_deref);
        extra.map_or(&[], Extra::hops)
    }

    /// Likewise, where it has some, for the next one.
    pub fn hops_mut(&mut self, place: Place) -> Option<&mut Hops> {
        match self.extras.get_mut(place.0 as usize).and_then(Option::as_deref_mut) {
            Some(Extra::Hops(hops)) => Some(hops),
            Some(Extra::Notice(_)) | None => None,
        }
    }

    /// The packets on links.
    pub fn flying(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter().filter(|packet| packet.next == FLYING)
    }

    /// Is the packet at a place on a link, and comes to a node by a port of it at that time if it is not lost?
    pub fn is_flying(&self, place: Place, (node, port): (NodeId, Local), at: u64) -> bool {
        let packet = &self[place];
        packet.next == FLYING && packet.node == node && packet.ingress == port && packet.at == at
    }

    /// A packet on a link is lost: its place becomes free when it would have arrived.
    pub fn lose(&mut self, place: Place) -> Packet {
        self[place].next = LOST;
        self[place]
    }

    /// Has a packet arrived that was on a link? If it was lost there, its place is free now.
    #[inline]
    pub fn lands(&mut self, place: Place) -> bool {
        let lands = self[place].next == FLYING;
        self[place].next = NONE;
        if !lands {
            self.take(place);
        }
        lands
    }

    /// The packet at a place, which is in no list, is on a link until `at`, when it comes to a node by a port of it.
    #[inline]
    pub fn fly(&mut self, place: Place, (node, ingress): (NodeId, Local), at: u64) {
        let packet = &mut self[place];
        (packet.next, packet.node, packet.ingress, packet.at) = (FLYING, node, ingress, at);
    }

    /// Has a packet fetched.
    #[inline]
    pub fn fetch(&self, place: Place) {
        self.packets.fetch(place.0 as usize, 1);
    }
}

impl Place {
    /// No packet's.
    pub const NOBODY: Place = Place(0);

    /// Of what an event's item names.
    #[inline]
    pub fn of(item: u32) -> Place {
        Place(item)
    }

    /// Its number, as an event's item.
    #[inline]
    pub fn number(self) -> u32 {
        self.0
    }
}

impl Index<Place> for Arena {
    type Output = Packet;
    #[inline]
    fn index(&self, place: Place) -> &Packet {
        // Places are made here, of packets that are here, and none is ever taken away.
        self.packets.known(place.0 as usize)
    }
}

impl IndexMut<Place> for Arena {
    #[inline]
    fn index_mut(&mut self, place: Place) -> &mut Packet {
        self.packets.known_mut(place.0 as usize)
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

    /// The packet that has waited longest, or else that of another list, or else nobody.
    #[inline]
    pub fn front_or(self, other: Fifo) -> Place {
        let second = if other.head == NONE { Place::NOBODY } else { Place(other.head) };
        if self.head == NONE { second } else { Place(self.head) }
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
        self.places(arena).map(|place| &arena[place])
    }

    /// Where the packets are, from front to back.
    pub fn places(&self, arena: &Arena) -> impl Iterator<Item = Place> {
        let following = |place: &Place| {
            let next = arena[*place].next;
            (next != NONE).then_some(Place(next))
        };
        std::iter::successors(self.front(), following)
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{Rate, Time, Turns};
    use smallvec::smallvec;

    use super::*;

    fn packet(flow: u32) -> Packet {
        Packet::new(Kind::Data, FlowId(flow), Bytes(1000))
    }

    #[test]
    fn what_is_lost_on_a_link_keeps_its_place_until_it_would_have_arrived() {
        let mut arena = Arena::default();
        let (near, far) = ((NodeId(1), Local::at(4)), (NodeId(2), Local::at(4)));
        let places: Vec<Place> = (0..4).map(|flow| arena.add(packet(flow))).collect();
        for (i, &place) in places.iter().enumerate() {
            arena.fly(place, if i == 3 { near } else { far }, 30 - i as u64);
        }
        assert_eq!(arena.flying().count(), 4);
        let flying = |arena: &Arena, i: usize, port, at| arena.is_flying(places[i], port, at);
        assert!(flying(&arena, 1, far, 29) && !flying(&arena, 1, far, 28) && !flying(&arena, 1, near, 29));
        assert!(arena.lands(places[1]) && !flying(&arena, 1, far, 29));
        assert_eq!(arena.lose(places[0]).flow, FlowId(0));
        assert_eq!(arena.flying().map(|packet| packet.flow.0).collect::<Vec<_>>(), [2, 3]);
        let other = arena.add(packet(9));
        assert!(!places.contains(&other), "the lost one's event has still to come");
        assert!(!arena.lands(places[0]));
        assert_eq!(arena.add(packet(10)), places[0]);
    }

    #[test]
    fn what_a_packet_has_with_it_is_its_own() {
        let mut arena = Arena::default();
        let places = [0, 1, 2].map(|flow| arena.add(packet(flow)));
        let hop = |tx_bytes| IntHop { rate: Rate::gbps(25), time: Time(7), tx_bytes, queue: Bytes(3) };
        arena.attach(places[1], Box::new(Extra::Hops(smallvec![hop(1)])));
        arena.hops_mut(places[1]).expect("it has some").push(hop(2));
        assert_eq!(arena.hops(places[1]).iter().map(|hop| hop.tx_bytes).collect::<Vec<_>>(), [1, 2]);
        assert!(arena.hops(places[0]).is_empty() && arena.hops_mut(places[2]).is_none());
        let extra = arena.detach(places[1]).expect("it has some");
        arena.take(places[1]);
        arena.attach(places[2], extra);
        assert_eq!(arena.hops(places[2]).len(), 2);
        arena.take(places[2]);
        assert!(arena.detach(places[2]).is_none(), "what is not detached before is lost with its packet");
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
        let mut turns = Turns::at_most(100);
        while turns.go()
            && let Some(place) = b.pop(&arena)
        {
            arena.take(place);
        }
        assert!(b.is_empty() && b.front().is_none());
        assert_eq!(arena.packets.len(), 7);
    }
}

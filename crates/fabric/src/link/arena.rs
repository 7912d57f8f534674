//! Arena of packets: a packet keeps its address while it lives, and events of arrivals and lists of queues
//! hold references to it.
//!
//! Each thread has an arena, over memory that all share. Only the node where a packet is, or to which it is
//! on its way, accesses it; its address goes with the event of its arrival.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::UnsafeCell;
use std::io::{self, Read, Write};
use std::ops::{Index, IndexMut};
use std::ptr::{self, NonNull};
#[cfg(debug_assertions)]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::layout::Local;
use floodway_engine::Item;
use floodway_engine::allocator::handled;
use floodway_engine::memory::{self, Exhausted};
use floodway_mechanisms::slots::IntHop;
use floodway_units::{Bytes, FlowId};
use smallvec::SmallVec;

use crate::link::extra::{Extra, Hops};
use crate::link::packet::{Kind, Packet};
#[cfg(debug_assertions)]
use crate::pool::race_check;

/// A reference to a packet: where it is, for as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketRef(NonNull<Packet>);

/// The packet behind another one in its list, or what that one does instead of waiting in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(Item);

// SAFETY: it is a value: only who has the arena follows it, and the packet belongs to one of its nodes.
#[allow(unsafe_code, reason = "threads share packets")]
unsafe impl Send for PacketRef {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "threads share packets")]
unsafe impl Sync for PacketRef {}

impl Place {
    /// None is behind it.
    pub const NONE: Place = Place(Item::NONE);
    /// It is in no list, but on a link.
    const IN_FLIGHT: Place = Place(Item::of_number(1));
    /// It was lost on the link, and the event of its arrival is still pending.
    const LOST: Place = Place(Item::of_number(2));

    /// The packet behind, if there is one.
    #[inline]
    fn packet(self) -> Option<PacketRef> {
        self.0.pointer().map(PacketRef)
    }
}

impl From<PacketRef> for Place {
    #[inline]
    fn from(packet_ref: PacketRef) -> Place {
        Place(packet_ref.item())
    }
}

// Packets that go to another process are in no list.
impl BorshSerialize for Place {
    fn serialize<W: Write>(&self, out: &mut W) -> io::Result<()> {
        (*self == Place::IN_FLIGHT).serialize(out)
    }
}

impl BorshDeserialize for Place {
    fn deserialize_reader<R: Read>(bytes: &mut R) -> io::Result<Self> {
        Ok(if bool::deserialize_reader(bytes)? { Place::IN_FLIGHT } else { Place::NONE })
    }
}

/// Bytes of a chunk, which is aligned to its size: so the address of a chunk follows from that of a packet.
const CHUNK: usize = 1 << 18;
/// Bytes of a chunk per packet: the packet, a pointer to what few packets carry in addition, and, with debug
/// assertions, the window and thread of its last change.
const EACH: usize =
    size_of::<Packet>() + size_of::<Option<Box<Extra>>>() + if cfg!(debug_assertions) { 8 } else { 0 };
/// Packets of a chunk.
const PACKETS: usize = CHUNK / EACH;
/// The first allocation holds at least one aligned chunk; each further one is twice as large, up to `MOST`.
const FIRST: usize = 2 * CHUNK;
const MOST: usize = 32 << 20;

/// The packets and link control frames of a run, as one thread allocates and frees them; freed slots are
/// reused, the latest first.
///
/// A packet belongs to the node where it is, or to which it is on the way. Only that node's events access it;
/// its reference moves to another thread with the event of its arrival, across a barrier. So no two threads
/// access one packet at a time.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// The next unused slots of this thread's chunk, and how many there are.
    next: Option<PacketRef>,
    left: usize,
    free: Vec<PacketRef>,
    common: Arc<Common>,
}

/// What all threads share.
#[derive(Debug, Default)]
struct Common {
    slabs: Mutex<Slabs>,
    /// Some packet has carried something in addition.
    extras: AtomicBool,
}

/// The memory of chunks.
#[derive(Debug, Default)]
struct Slabs {
    all: Vec<Slab>,
    /// The first chunk of the last allocation that no thread has taken, and how many there are.
    left: Option<(NonNull<u8>, usize)>,
}

/// An allocation that is zero at first.
#[derive(Debug)]
struct Slab {
    first: NonNull<u8>,
    layout: Layout,
}

// SAFETY: they own plain memory.
#[allow(unsafe_code, reason = "threads share packets")]
unsafe impl Send for Slabs {}

#[allow(unsafe_code, reason = "packets stay where they are, and threads share them")]
impl Slab {
    fn new(bytes: usize) -> Self {
        // A small alignment has the allocator use untouched zero pages, which take no memory before they are
        // written.
        let layout =
            Layout::from_size_align(bytes, 16).unwrap_or_else(|_| Exhausted { bytes: bytes as u64 }.end());
        // SAFETY: the size is not zero.
        let first = NonNull::new(handled(|| unsafe { alloc_zeroed(layout) }));
        let first = first.unwrap_or_else(|| Exhausted { bytes: bytes as u64 }.end());
        memory::advise(first.as_ptr(), bytes);
        Slab { first, layout }
    }

    /// The first of its aligned chunks, and how many there are: at least one.
    fn chunks(&self) -> (NonNull<u8>, usize) {
        let before = self.first.as_ptr().align_offset(CHUNK);
        // SAFETY: twice the size of a chunk or more was allocated, so that one begins and ends in it.
        (unsafe { self.first.add(before) }, (self.layout.size() - before) / CHUNK)
    }
}

#[allow(unsafe_code, reason = "packets stay where they are, and threads share them")]
impl Drop for Slab {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and no slot of it is in use any more.
        unsafe { dealloc(self.first.as_ptr(), self.layout) };
    }
}

#[allow(unsafe_code, reason = "packets stay where they are, and threads share them")]
impl Drop for Common {
    fn drop(&mut self) {
        if !*self.extras.get_mut() {
            return;
        }
        let slabs = self.slabs.get_mut().unwrap_or_else(PoisonError::into_inner);
        for slab in &slabs.all {
            let (first, count) = slab.chunks();
            for packet in 0..count * PACKETS {
                let (chunk, number) = (packet / PACKETS, packet % PACKETS);
                // SAFETY: the slab has so many chunks, and each so many packets. What each has in addition is
                // zero, which is `None`, or a box, and this is the last access.
                unsafe {
                    let packet = first.add(chunk * CHUNK).cast::<Packet>().add(number);
                    ptr::drop_in_place(extra_at(PacketRef(packet)));
                }
            }
        }
    }
}

/// Where what a packet carries in addition is: zero, which is `None`, or a box.
fn extra_at(packet: PacketRef) -> *mut Option<Box<Extra>> {
    beside(packet, size_of::<Packet>())
}

/// Where window and thread of a packet's last change are.
#[cfg(debug_assertions)]
fn last_change_at(packet: PacketRef) -> *mut u64 {
    beside(packet, size_of::<Packet>() + size_of::<Option<Box<Extra>>>())
}

/// The packet's element of the array that begins after `before` bytes for each packet of the chunk.
fn beside<T>(packet: PacketRef, before: usize) -> *mut T {
    let packet = packet.0.as_ptr().cast::<u8>();
    let into = packet.addr() % CHUNK;
    let number = into / size_of::<Packet>();
    packet.wrapping_sub(into).wrapping_add(PACKETS * before + number * size_of::<T>()).cast()
}

/// Lists of packets, one for each queue of a class: two, mostly.
pub(crate) type Lists = SmallVec<[Fifo; 2]>;

/// A list of packets, first in, first out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    head: Place,
    tail: Place,
}

impl Default for Fifo {
    fn default() -> Self {
        Fifo { head: Place::NONE, tail: Place::NONE }
    }
}

/// What events without a packet name, so that the item of every event is a valid reference.
static DUMMY: Dummy = Dummy(UnsafeCell::new(Packet::new(Kind::Data, FlowId(0), Bytes::ZERO)));

/// A packet that is never changed.
struct Dummy(UnsafeCell<Packet>);

// SAFETY: it is never changed.
#[allow(unsafe_code, reason = "every event holds a reference to a packet")]
unsafe impl Sync for Dummy {}

#[allow(unsafe_code, reason = "packets stay where they are, and threads share them")]
impl Arena {
    /// Adds a packet.
    #[inline]
    pub fn add(&mut self, packet: Packet) -> PacketRef {
        let packet_ref = match self.free.pop() {
            Some(packet_ref) => packet_ref,
            None => self.another(),
        };
        // SAFETY: the slot is free, and in this thread's list.
        unsafe { packet_ref.0.write(packet) };
        packet_ref
    }

    /// A slot that has not been used before.
    #[cold]
    fn another(&mut self) -> PacketRef {
        let packet_ref = self.next.unwrap_or_else(|| {
            self.left = PACKETS;
            let mut slabs = self.common.slabs.lock().unwrap_or_else(PoisonError::into_inner);
            PacketRef(slabs.chunk().cast())
        });
        self.left -= 1;
        // SAFETY: the chunk has another packet behind this one.
        self.next = (self.left > 0).then(|| PacketRef(unsafe { packet_ref.0.add(1) }));
        packet_ref
    }

    /// A handle to the same packets for another thread.
    pub fn share(&self) -> Arena {
        Arena { next: None, left: 0, free: Vec::new(), common: Arc::clone(&self.common) }
    }

    /// Balances the numbers of free slots with another thread.
    pub fn balance(&mut self, other: &mut Arena) {
        let mean = self.free.len().midpoint(other.free.len());
        let (more, less) = if self.free.len() > mean {
            (&mut self.free, &mut other.free)
        } else {
            (&mut other.free, &mut self.free)
        };
        memory::extend(less, more.drain(mean..));
    }

    /// Removes a packet, which is in no list; its extra must have been detached before, or is lost.
    #[inline]
    pub fn take(&mut self, packet_ref: PacketRef) -> Packet {
        let taken = self[packet_ref];
        if self.common.extras.load(Ordering::Relaxed) {
            self.detach(packet_ref);
        }
        memory::push(&mut self.free, packet_ref);
        taken
    }

    /// Attaches an extra to a packet.
    pub fn attach(&mut self, packet_ref: PacketRef, extra: Box<Extra>) {
        self.common.extras.store(true, Ordering::Relaxed);
        *self.extra_mut(packet_ref) = Some(extra);
    }

    /// Detaches the extra of a packet, which may have been removed since.
    #[inline]
    pub fn detach(&mut self, packet_ref: PacketRef) -> Option<Box<Extra>> {
        self.extra_mut(packet_ref).take()
    }

    #[expect(clippy::unused_self, reason = "the owner of the arena may read the packets of its node")]
    fn extra_mut(&mut self, packet_ref: PacketRef) -> &mut Option<Box<Extra>> {
        // SAFETY: it lies in the packet's chunk, and the packet belongs to a node of this thread.
        unsafe { &mut *extra_at(packet_ref) }
    }

    /// The extra of a packet, if it has one.
    #[expect(clippy::unused_self, reason = "the owner of the arena may read the packets of its node")]
    pub fn extra(&self, packet_ref: PacketRef) -> Option<&Extra> {
        // SAFETY: as above.
        unsafe { &*extra_at(packet_ref) }.as_deref()
    }

    /// The telemetry records of a packet.
    pub fn hops(&self, packet_ref: PacketRef) -> &[IntHop] {
        self.extra(packet_ref).map_or(&[], Extra::hops)
    }

    /// The same, mutable, if it has some.
    pub fn hops_mut(&mut self, packet_ref: PacketRef) -> Option<&mut Hops> {
        match self.extra_mut(packet_ref).as_deref_mut() {
            Some(Extra::Hops(hops)) => Some(hops),
            _ => None,
        }
    }

    /// Does a packet of data carry the header of its transport?
    pub fn has_header(&self, packet_ref: PacketRef) -> bool {
        self.entropy(packet_ref).is_some()
    }

    /// The entropy value that switches hash for a packet, if it carries one.
    #[expect(clippy::unused_self, reason = "the owner of the arena may read the packets of its node")]
    pub fn entropy(&self, packet_ref: PacketRef) -> Option<u16> {
        // SAFETY: as above.
        match unsafe { &*extra_at(packet_ref) }.as_deref() {
            Some(Extra::Header(header)) => Some(header.entropy),
            Some(Extra::Report(report)) => Some(report.entropy),
            _ => None,
        }
    }

    /// Is a packet lost whose event of arrival is pending?
    pub fn is_lost(&self, packet_ref: PacketRef) -> bool {
        self[packet_ref].next == Place::LOST
    }

    /// A packet on a link is lost: its slot becomes free when it would have arrived.
    pub fn lose(&mut self, packet_ref: PacketRef) -> Packet {
        self[packet_ref].next = Place::LOST;
        self[packet_ref]
    }

    /// Has a packet arrived that was on a link? If it was lost there, its slot is free now.
    #[inline]
    pub fn lands(&mut self, packet_ref: PacketRef) -> bool {
        let lands = self[packet_ref].next == Place::IN_FLIGHT;
        self[packet_ref].next = Place::NONE;
        if !lands {
            self.take(packet_ref);
        }
        lands
    }

    /// A packet, which is in no list, is on a link until `at`, when it arrives at a node by this port.
    #[inline]
    pub fn fly(&mut self, packet_ref: PacketRef, ingress: Local, at: u64) {
        let packet = &mut self[packet_ref];
        (packet.next, packet.ingress, packet.at) = (Place::IN_FLIGHT, ingress, at);
    }
}

#[allow(unsafe_code, reason = "packets stay where they are, and threads share them")]
impl Slabs {
    /// An unused chunk.
    fn chunk(&mut self) -> NonNull<u8> {
        let (chunk, count) = self.left.unwrap_or_else(|| {
            let slab = Slab::new((FIRST << self.all.len().min(16)).min(MOST));
            let chunks = slab.chunks();
            memory::push(&mut self.all, slab);
            chunks
        });
        // SAFETY: another chunk is behind this one.
        self.left = (count > 1).then(|| (unsafe { chunk.add(CHUNK) }, count - 1));
        chunk
    }
}

impl PacketRef {
    /// The reference of events without a packet.
    pub fn dummy() -> PacketRef {
        PacketRef(NonNull::new(DUMMY.0.get()).expect("nothing lies at zero"))
    }

    /// The reference in an event's item.
    ///
    /// # Safety
    /// The item was made of a reference, or names nothing; and the thread accesses the packet only while that
    /// is at one of its nodes, or on the way there.
    #[inline]
    #[allow(unsafe_code, reason = "packets stay where they are, and threads share them")]
    pub unsafe fn of(item: Item) -> PacketRef {
        item.pointer().map_or_else(PacketRef::dummy, PacketRef)
    }

    /// As an event's item.
    #[inline]
    pub fn item(self) -> Item {
        Item::of(self.0)
    }

    /// Has the packet in an event's item fetched.
    #[inline]
    pub fn fetch(item: Item) {
        floodway_engine::fetch_at(ptr::without_provenance::<Packet>(item.number()), 1);
    }
}

#[allow(unsafe_code, reason = "packets stay where they are, and threads share them")]
impl Index<PacketRef> for Arena {
    type Output = Packet;
    #[inline]
    fn index(&self, packet_ref: PacketRef) -> &Packet {
        // SAFETY: references are created here, and packets live until the run is over; only the node that has
        // a reference accesses its packet.
        unsafe { packet_ref.0.as_ref() }
    }
}

#[allow(unsafe_code, reason = "packets stay where they are, and threads share them")]
impl IndexMut<PacketRef> for Arena {
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    fn index_mut(&mut self, packet_ref: PacketRef) -> &mut Packet {
        debug_assert!(packet_ref != PacketRef::dummy(), "the packet of events without one is never changed");
        #[cfg(debug_assertions)]
        // SAFETY: it lies in the packet's chunk.
        race_check::check::<Packet>(unsafe { AtomicU64::from_ptr(last_change_at(packet_ref)) }, packet_ref);
        // SAFETY: as above.
        unsafe { &mut *packet_ref.0.as_ptr() }
    }
}

impl Fifo {
    #[inline]
    pub fn is_empty(self) -> bool {
        self.head == Place::NONE
    }

    /// The packet that has waited longest.
    #[inline]
    pub fn front(self) -> Option<PacketRef> {
        self.head.packet()
    }

    /// The packet that has waited longest, or else that of another list, or else none.
    #[inline]
    pub fn front_or(self, other: Fifo) -> PacketRef {
        self.front().or(other.front()).unwrap_or_else(PacketRef::dummy)
    }

    /// The packet that came last.
    #[inline]
    pub fn back(self) -> Option<PacketRef> {
        if self.is_empty() { None } else { self.tail.packet() }
    }

    #[inline]
    pub fn push(&mut self, arena: &mut Arena, packet_ref: PacketRef) {
        arena[packet_ref].next = Place::NONE;
        match self.back() {
            None => self.head = packet_ref.into(),
            Some(last) => arena[last].next = packet_ref.into(),
        }
        self.tail = packet_ref.into();
    }

    #[inline]
    pub fn pop(&mut self, arena: &Arena) -> Option<PacketRef> {
        let packet_ref = self.front()?;
        self.head = arena[packet_ref].next;
        Some(packet_ref)
    }

    /// The packets from front to back.
    pub fn iter<'a>(&self, arena: &'a Arena) -> impl Iterator<Item = &'a Packet> {
        self.packet_refs(arena).map(|packet_ref| &arena[packet_ref])
    }

    /// Where the packets are, from front to back.
    pub fn packet_refs(&self, arena: &Arena) -> impl Iterator<Item = PacketRef> {
        std::iter::successors(self.front(), |packet_ref| arena[*packet_ref].next.packet())
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
    fn a_packet_lost_on_a_link_keeps_its_slot_until_it_would_have_arrived() {
        let mut arena = Arena::default();
        let packet_refs = [0, 1, 2, 3].map(|flow| arena.add(packet(flow)));
        for packet_ref in packet_refs {
            arena.fly(packet_ref, Local::at(4), 30);
        }
        assert!(arena.lands(packet_refs[1]));
        assert_eq!(arena.lose(packet_refs[0]).flow, FlowId(0));
        assert_eq!(packet_refs.map(|packet_ref| arena.is_lost(packet_ref)), [true, false, false, false]);
        let other = arena.add(packet(9));
        assert!(!packet_refs.contains(&other), "the lost one's event has still to come");
        assert!(!arena.lands(packet_refs[0]));
        assert_eq!(arena.add(packet(10)), packet_refs[0]);
    }

    #[test]
    fn what_a_packet_has_with_it_is_its_own() {
        let mut arena = Arena::default();
        let packet_refs = [0, 1, 2].map(|flow| arena.add(packet(flow)));
        let hop = |tx_bytes| IntHop { rate: Rate::gbps(25), time: Time(7), tx_bytes, queue: Bytes(3) };
        arena.attach(packet_refs[1], Box::new(Extra::Hops(smallvec![hop(1)])));
        arena.hops_mut(packet_refs[1]).expect("it has some").push(hop(2));
        assert_eq!(arena.hops(packet_refs[1]).iter().map(|hop| hop.tx_bytes).collect::<Vec<_>>(), [1, 2]);
        assert!(arena.hops(packet_refs[0]).is_empty() && arena.hops_mut(packet_refs[2]).is_none());
        let extra = arena.detach(packet_refs[1]).expect("it has some");
        arena.take(packet_refs[1]);
        arena.attach(packet_refs[2], extra);
        assert_eq!(arena.hops(packet_refs[2]).len(), 2);
        arena.take(packet_refs[2]);
        assert!(
            arena.detach(packet_refs[2]).is_none(),
            "what is not detached before is lost with its packet"
        );
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "threads 0 and 1 both change floodway_fabric::link::packet::Packet PacketRef")]
    fn a_packet_that_two_threads_change_in_a_window_is_found() {
        let mut arena = Arena::default();
        let packet_ref = arena.add(packet(1));
        race_check::within(0, 5, || arena[packet_ref].word = 1);
        race_check::within(1, 5, || arena[packet_ref].word = 2);
    }

    #[test]
    fn lists_keep_their_order_while_slots_are_reused() {
        let mut arena = Arena::default();
        let (mut a, mut b) = (Fifo::default(), Fifo::default());
        for flow in 0..6 {
            let packet_ref = arena.add(packet(flow));
            if flow % 2 == 0 { a.push(&mut arena, packet_ref) } else { b.push(&mut arena, packet_ref) }
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
            && let Some(packet_ref) = b.pop(&arena)
        {
            arena.take(packet_ref);
        }
        assert!(b.is_empty() && b.front().is_none());
    }
}

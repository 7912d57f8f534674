//! Fetches the memory that coming events will need, while the events before them are at work.
//!
//! A packet-hop touches some twenty cache lines, of a state that is larger than the caches near the processor. What
//! an event needs is found in two steps: its packet, which names all the rest. The second is taken some events later
//! than the first, so that what it reads has arrived. Both are the same for all kinds of events, without a branch: of
//! an event that is no packet's they fetch what belongs to place zero. Nothing here changes any state.

use floodway_engine::{AHEAD, Event};

use crate::arena::Place;
use crate::packet::Packet;
use crate::world::World;

/// How many events before it an event's packet is fetched.
const PACKET: usize = AHEAD - 1;
/// And what the packet names.
const REST: usize = 5;

impl World<'_> {
    /// Takes one step for each of two events that come after the next one.
    #[inline]
    pub fn look_ahead(&self, coming: &[Event; AHEAD]) {
        self.packets.fetch(Place::of(coming[PACKET].item));
        let packet = &self.packets[Place::of(coming[REST].item)];
        let (ingress, out, class) = (packet.ingress, packet.out, packet.class);
        fetch(&self.ingress, self.lane(ingress, class));
        fetch(&self.ways, packet.flow.index());
        fetch(&self.ports, out.index());
        fetch(&self.queues, self.queue(out));
        fetch(&self.series, out.index());
        if out == ingress {
            self.fetch_half(packet);
        }
    }

    /// Where the way ends, the end's half.
    #[inline]
    fn fetch_half(&self, packet: &Packet) {
        if packet.is_data() {
            fetch_lines(&self.receivers, packet.flow.index(), 4);
        } else {
            fetch_lines(&self.senders, packet.flow.index(), 4);
        }
    }
}

/// Fetches the first cache lines of an element; where there is none, of whatever is there.
#[inline]
fn fetch_lines<T>(of: &[T], index: usize, lines: usize) {
    let first = of.as_ptr().wrapping_add(index).cast::<u8>();
    (0..lines).for_each(|line| touch(first.wrapping_add(64 * line)));
}

/// Fetches the first cache line of an element; where there is none, of whatever is there.
#[inline]
pub(crate) fn fetch<T>(of: &[T], index: usize) {
    touch(of.as_ptr().wrapping_add(index).cast());
}

/// Fetches a cache line.
#[inline]
#[allow(unsafe_code, reason = "a prefetch is a hint; measured in docs/performance.md")]
fn touch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor writes, and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

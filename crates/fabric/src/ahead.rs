//! Fetches the memory that coming events will need, while the events before them are at work.
//!
//! A packet-hop touches some twenty cache lines, of a state that is larger than the caches near the
//! processor. What an event needs is found step by step: its port, the port's first packet, the packet's
//! flow, the flow's next port. Each step is taken some events earlier than the next, so that what it reads
//! has arrived. Nothing here changes any state.

use floodway_engine::AHEAD;
use floodway_units::PortId;

use crate::packet::{ON_PATH, Packet, REPLY};
use crate::routing::peer;
use crate::world::World;

/// How many events before it a port is fetched.
const PORT: usize = AHEAD - 2;
/// The port's first packet; of a departure, the port's queue.
const PACKET: usize = 7;
/// The packet's flow; of a departure, the packet.
const FLOW: usize = 4;
/// Where the packet goes.
const EGRESS: usize = 2;

impl World<'_> {
    /// Takes one step for each of the coming events.
    #[inline]
    pub fn look_ahead(&self) {
        let Some(coming) = self.events.coming() else { return };
        // Of another kind of event it is some other place, which harms nobody.
        fetch(&self.ports, self.events.port(coming[PORT]).index());
        let port = |step: usize| self.events.port(coming[step]);
        match self.events.moves(coming[PACKET]) {
            Some(true) => self.fetch_packet(port(PACKET)),
            Some(false) => self.fetch_queue(port(PACKET)),
            None => {}
        }
        match self.events.moves(coming[FLOW]) {
            Some(true) => self.fetch_flow(port(FLOW)),
            Some(false) => self.fetch_waiting(port(FLOW)),
            None => {}
        }
        if self.events.moves(coming[EGRESS]) == Some(true) {
            self.fetch_egress(port(EGRESS));
        }
    }

    #[inline]
    fn fetch_packet(&self, port: PortId) {
        if let Some(place) = self.ports[port.index()].flight.front() {
            self.packets.fetch(place);
        }
    }

    #[inline]
    fn fetch_queue(&self, port: PortId) {
        fetch(&self.queues, self.queue(port));
        // Nearly all packets that wait are of the first class of data.
        fetch(&self.egress, self.lane(port, 1));
        fetch(&self.series, port.index());
    }

    #[inline]
    fn fetch_waiting(&self, port: PortId) {
        if let Some(place) = self.queues[self.queue(port) + 1].fifo.front() {
            self.packets.fetch(place);
        }
    }

    #[inline]
    fn fetch_flow(&self, port: PortId) {
        let Some(place) = self.ports[port.index()].flight.front() else { return };
        self.packets.fetch_next(place);
        let packet = &self.packets[place];
        fetch(&self.ingress, self.lane(peer(port), packet.class));
        fetch(&self.ways, packet.flow.index());
    }

    #[inline]
    fn fetch_egress(&self, port: PortId) {
        let Some(place) = self.ports[port.index()].flight.front() else { return };
        let packet = &self.packets[place];
        fetch(&self.series, peer(port).index());
        if !packet.has(ON_PATH) {
            return;
        }
        let way = &self.ways[packet.flow.index()];
        let path = if packet.has(REPLY) { &way.ack_path } else { &way.path };
        let Some(&out) = path.get(packet.hop as usize + 1) else {
            self.fetch_half(packet);
            return;
        };
        fetch(&self.ports, out.index());
        fetch(&self.queues, self.queue(out));
        fetch(&self.egress, self.lane(out, packet.class));
        fetch(&self.series, out.index());
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

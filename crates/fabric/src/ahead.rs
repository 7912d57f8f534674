//! Fetches the memory that coming events will need, while the events before them are at work.
//!
//! A packet-hop touches some twenty cache lines, of a state that is larger than the caches near the
//! processor. What an event needs is found step by step: its port, the port's first packet, the packet's
//! flow, the flow's next port. Each step is taken some events earlier than the next, so that what it reads
//! has arrived. Nothing here changes any state.

use floodway_engine::AHEAD;
use floodway_units::PortId;

use crate::packet::{ON_PATH, REPLY};
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
        if let Some((_, port)) = self.events.peek_port(PORT) {
            fetch(&self.ports, port.index());
        }
        if let Some((arrives, port)) = self.events.peek_port(PACKET) {
            self.fetch_packet(arrives, port);
        }
        if let Some((arrives, port)) = self.events.peek_port(FLOW) {
            self.fetch_flow(arrives, port);
        }
        if let Some((true, port)) = self.events.peek_port(EGRESS) {
            self.fetch_egress(port);
        }
    }

    #[inline]
    fn fetch_packet(&self, arrives: bool, port: PortId) {
        let state = &self.ports[port.index()];
        if arrives {
            if let Some(place) = state.flight.front() {
                self.packets.fetch(place);
            }
            let rx = peer(port);
            fetch(&self.ports, rx.index());
            // Nearly all packets are of the control class or of the first other one.
            fetch(&self.ingress, self.lane(rx, 1));
        } else {
            fetch(&self.queues, self.queue(port));
            fetch(&self.egress, self.lane(port, 1));
            fetch(&self.series, port.index());
        }
    }

    #[inline]
    fn fetch_flow(&self, arrives: bool, port: PortId) {
        if !arrives {
            if let Some(place) = self.queues[self.queue(port) + 1].fifo.front() {
                self.packets.fetch(place);
            }
        } else if let Some(place) = self.ports[port.index()].flight.front() {
            let packet = &self.packets[place];
            let at = packet.flow.index();
            if !self.ports[peer(port).index()].at_host {
                fetch(&self.ways, at);
            } else if packet.is_data() {
                fetch_lines(&self.receivers, at, 4);
            } else {
                fetch_lines(&self.senders, at, 4);
            }
            self.packets.fetch_next(place);
        }
    }

    #[inline]
    fn fetch_egress(&self, port: PortId) {
        let Some(place) = self.ports[port.index()].flight.front() else { return };
        let packet = &self.packets[place];
        let Some(way) = self.ways.get(packet.flow.index()).filter(|_| packet.has(ON_PATH)) else { return };
        let path = if packet.has(REPLY) { &way.ack_path } else { &way.path };
        let Some(&out) = path.get(packet.hop as usize + 1) else { return };
        fetch(&self.ports, out.index());
        fetch(&self.queues, self.queue(out));
        fetch(&self.egress, self.lane(out, packet.class));
        fetch(&self.series, out.index());
        fetch(&self.series, peer(port).index());
    }
}

/// Fetches the first cache lines of an element; where there is none, of whatever is there.
#[inline]
fn fetch_lines<T>(of: &[T], index: usize, lines: usize) {
    let first = of.as_ptr().wrapping_add(index).cast::<u8>();
    (0..lines).for_each(|line| touch(first.wrapping_add(64 * line)));
}

/// Fetches the first cache line of an element; where there is none, of whatever is there.
#[inline(always)]
pub(crate) fn fetch<T>(of: &[T], index: usize) {
    touch(of.as_ptr().wrapping_add(index).cast());
}

/// Fetches a cache line.
#[inline(always)]
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

//! What a link does with a packet: from its first bit on the wire to its arrival, or its loss.

use floodway_mechanisms::slots::DropReason;
use floodway_units::{PortId, uniform};

use crate::link::arena::Place;
use crate::link::packet::Packet;
use crate::network::routing::peer;
use crate::run::agenda::{Arriving, What};
use crate::run::world::World;

impl World<'_> {
    /// Sets a packet on the wire now: the transmitter is taken, and its arrival is known.
    #[inline]
    pub fn put_on_link(&mut self, port: PortId, place: Place) {
        let state = &mut self.ports[port.index()];
        let packet = &self.packets[place];
        let serial = state.serial_time(u64::from(packet.frame) + self.facts.layout.gap);
        let arrival = self.now + serial + state.delay;
        state.free_at = self.now + serial;
        self.telemetry.sent(port, packet.frame);
        if !state.observed {
            self.take_off(port, place, arrival);
        } else if let Some(arrival) = self.observe(port, place, arrival, serial) {
            self.take_off_observed(port, place, arrival);
        }
    }

    /// A packet is on the link from here.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn take_off(&mut self, port: PortId, place: Place, arrival: u64) {
        let mut number = 0;
        if let Some(numbers) = self.events.two_numbers() {
            // The end of the transmission is scheduled first, then the arrival.
            (self.ports[port.index()].free_order, number) = numbers;
        }
        let out = self.out_of(peer(port), &self.packets[place]);
        let packet = &mut self.packets[place];
        packet.out = out;
        if packet.is_data() {
            packet.base += arrival - self.now;
        }
        let order = self.fly(port, place, arrival, number);
        self.events.push_arrival(self.ports[port.index()].far, place, arrival, order);
    }

    #[inline(never)]
    fn take_off_observed(&mut self, port: PortId, place: Place, arrival: u64) {
        self.take_off(port, place, arrival);
    }

    /// The packet at a place is on the link from `port` until `at`; its arrival has this number where ties go by the
    /// order of scheduling. The order of its event.
    #[inline]
    pub fn fly(&mut self, port: PortId, place: Place, at: u64, number: u64) -> u64 {
        self.packets.fly(place, peer(port), at);
        let link_control = self.packets[place].is_link_control();
        let arrival = Arriving { link_control, tie_key: self.ports[port.index()].tie_key, number };
        self.events.arrival(port, at, arrival)
    }

    /// What looks at a packet that starts on the wire of an observed port; when the packet then arrives, if that is in
    /// this partition.
    #[inline(never)]
    fn observe(&mut self, port: PortId, place: Place, arrival: u64, serial: u64) -> Option<u64> {
        if self.ports[port.index()].noted {
            self.capture(port, place);
            self.note_share(port, place);
        }
        let state = &mut self.ports[port.index()];
        let mut arrival = arrival;
        if state.jitter > 0 || state.changes {
            let jitter =
                if state.jitter > 0 { (uniform(&mut state.rng) * state.jitter as f64) as u64 } else { 0 };
            // Order is kept: no frame arrives before the one ahead of it has been followed by its own bits.
            arrival = (arrival + jitter).max(state.latest + serial);
            state.latest = arrival;
        }
        if self.trace.is_some() {
            self.trace_start(port, place, (serial, arrival));
        }
        if self.ports[port.index()].changes && !self.is_carried(port, place, arrival) {
            return None;
        }
        if self.border.crosses(port) {
            self.send_across(port, place, arrival);
            return None;
        }
        Some(arrival)
    }

    /// A packet on the link from `port` reaches the far end.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn arrive(&mut self, port: PortId, place: Place) {
        let packet = &self.packets[place];
        if packet.is_link_control() {
            return self.link_control_arrives(port, place);
        }
        if !self.packets.lands(place) {
            return self.was_lost(What::Arrival);
        }
        let rx = peer(port);
        let packet = &self.packets[place];
        self.kept.packet_hops += 1;
        let (class, frame) = (packet.class, packet.frame);
        let lane = self.facts.layout.lane(rx, class);
        if self.ingress[lane].impaired && self.is_lost(rx, place) {
            self.ingress[lane].rare.lost.add(frame);
            return self.discard(lane, place, DropReason::LinkError);
        }
        let account = &mut self.ingress[lane];
        account.received.add(frame);
        let owner = account.owner;
        if account.at_host {
            self.host_receives(rx, place);
        } else {
            self.switch_receives(owner, rx, lane, place);
        }
    }

    /// A link control frame on the link from `port` reaches the far end.
    #[inline(never)]
    pub fn link_control_arrives(&mut self, port: PortId, place: Place) {
        if !self.packets.lands(place) {
            let what = if self.events.is_numbered() { What::Arrival } else { What::LinkControl };
            return self.was_lost(what);
        }
        let rx = peer(port);
        let lost = self.is_lost(rx, place);
        let frame = self.packets.take(place);
        self.link_control(rx, frame, lost);
    }

    /// The event of an arrival is that of a packet that was lost when its link went down: nothing happens.
    #[cold]
    fn was_lost(&mut self, what: What) {
        self.kept.counts[what as usize] -= 1;
    }

    /// Does the link that leads to `port` lose this packet?
    #[inline(never)]
    fn is_lost(&mut self, port: PortId, place: Place) -> bool {
        let state = &mut self.ports[port.index()];
        let rate = match &self.packets[place] {
            p if p.is_link_control() => state.errors.link_control,
            p if p.is_data() => state.errors.data,
            _ => state.errors.control,
        };
        rate > 0.0 && uniform(&mut state.losses) < rate
    }

    /// A packet that is in no list is lost; `lane` is the ingress account that it came by.
    #[inline(never)]
    pub fn discard(&mut self, lane: usize, place: Place, reason: DropReason) {
        let packet = self.packets.take(place);
        self.drop_packet(lane, &packet, reason);
    }

    /// A packet is lost; `lane` is the ingress account that it came by.
    pub fn drop_packet(&mut self, lane: usize, packet: &Packet, reason: DropReason) {
        let counters = &mut self.ingress[lane].rare;
        counters.drops[reason as usize] += 1;
        self.kept.records.dropped(u64::from(packet.frame));
        match reason {
            DropReason::Buffer | DropReason::Egress => counters.buffer_drop_bytes += u64::from(packet.frame),
            _ if reason.is_failure() => counters.failure_drop_bytes += u64::from(packet.frame),
            _ => {}
        }
        if self.trace.is_some() {
            self.trace_lost(packet);
        }
        self.left_elsewhere(packet.flow);
    }
}

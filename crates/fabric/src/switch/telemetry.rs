//! In-band telemetry (INT): what egress ports of switches write into data packets as they start on the wire,
//! and replies bring back. Records lie beside the packets, by place.

use floodway_engine::memory;
use floodway_mechanisms::slots::IntHop;
use floodway_units::{Bytes, PortId, Rate, Time};

use crate::link::arena::Place;
use crate::link::packet::INT;
use crate::network::layout::Local;
use crate::run::at_node::AtNode;

/// Room for so many records a packet at first.
const HOPS: usize = 8;

/// The records of all packets.
#[derive(Debug, Default)]
pub(crate) struct Telemetry {
    /// Some flow of the run asks for it.
    pub on: bool,
    /// Room a packet.
    room: usize,
    hops: Vec<IntHop>,
    /// Records of each packet.
    counts: Vec<u8>,
    /// By port: bytes sent so far.
    sent: Vec<u64>,
}

impl Telemetry {
    pub fn new(on: bool, ports: usize) -> Self {
        Telemetry { on, room: HOPS, hops: Vec::new(), counts: Vec::new(), sent: vec![0; ports] }
    }

    /// A packet at `place` has no records yet.
    pub fn begin(&mut self, place: Place) {
        let at = place.number() as usize;
        if at >= self.counts.len() {
            let more = at + 1 - self.counts.len();
            memory::reserve(&mut self.counts, more);
            memory::reserve(&mut self.hops, more * self.room);
            self.counts.resize(at + 1, 0);
            let none = IntHop { rate: Rate(0), time: Time::ZERO, tx_bytes: 0, queue: Bytes::ZERO };
            self.hops.resize((at + 1) * self.room, none);
        }
        self.counts[at] = 0;
    }

    /// Gives a packet that came from elsewhere its records.
    pub fn put(&mut self, place: Place, hops: &[IntHop]) {
        self.begin(place);
        while hops.len() > self.room {
            self.widen();
        }
        let at = place.number() as usize;
        self.counts[at] = hops.len() as u8;
        self.hops[at * self.room..at * self.room + hops.len()].copy_from_slice(hops);
    }

    /// The packet at `place` starts on the wire of `port`, which leaves `queue` behind.
    pub fn record(&mut self, place: Place, port: PortId, rate: Rate, now: u64, queue: u64) {
        let at = place.number() as usize;
        if self.counts[at] as usize == self.room {
            self.widen();
        }
        let hop = IntHop { rate, time: Time(now), tx_bytes: self.sent[port.index()], queue: Bytes(queue) };
        self.hops[at * self.room + self.counts[at] as usize] = hop;
        self.counts[at] += 1;
    }

    /// A frame starts on the wire of `port`.
    #[inline]
    pub fn sent(&mut self, port: PortId, frame: u16) {
        if self.on {
            self.sent[port.index()] += u64::from(frame);
        }
    }

    /// Gives the packet at `to` the records of the one that was at `from`.
    pub fn copy(&mut self, from: Place, to: Place) {
        if from == to {
            return;
        }
        self.begin(to);
        let (from, to) = (from.number() as usize, to.number() as usize);
        let begin = from * self.room;
        self.counts[to] = self.counts[from];
        self.hops.copy_within(begin..begin + self.counts[from] as usize, to * self.room);
    }

    /// The records of the packet that is or was last at `place`.
    pub fn of(&self, place: Place) -> &[IntHop] {
        let at = place.number() as usize;
        let begin = at * self.room;
        self.counts.get(at).map_or(&[], |&count| &self.hops[begin..begin + count as usize])
    }

    /// Doubles the room of each packet: a way is longer than any before.
    #[cold]
    fn widen(&mut self) {
        let wide = (self.room * 2).min(u8::MAX as usize);
        assert!(wide > self.room, "no packet passes 255 switches");
        let mut hops = memory::collect(std::iter::repeat_n(self.hops[0], self.counts.len() * wide));
        for (at, old) in self.hops.chunks(self.room).enumerate() {
            hops[at * wide..at * wide + self.room].copy_from_slice(old);
        }
        (self.hops, self.room) = (hops, wide);
    }
}

impl AtNode<'_, '_> {
    /// A packet starts on the wire of a switch's port, and has left its queue: its record is written, if it has any.
    #[inline(never)]
    pub fn record_hop(&mut self, port: Local, place: Place) {
        let packet = &self.run.packets[place];
        if packet.has(INT) && packet.is_data() {
            let left = self.node.ports[port.index()].waiting;
            let (id, rate) = (self.id(port), self.rate(port));
            self.run.telemetry.record(place, id, rate, self.now, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::FlowId;

    use super::*;
    use crate::link::arena::Arena;
    use crate::link::packet::{Kind, Packet};

    #[test]
    fn records_survive_longer_ways_and_go_over_to_replies() {
        let mut arena = Arena::default();
        let places = [0, 1, 2].map(|flow| arena.add(Packet::new(Kind::Data, FlowId(flow), Bytes(1000))));
        let mut telemetry = Telemetry::new(true, 1);
        for &place in &places {
            telemetry.begin(place);
        }
        for hop in 0..20 {
            telemetry.record(places[1], PortId(0), Rate::gbps(100), hop, hop);
            telemetry.sent(PortId(0), 100);
        }
        telemetry.record(places[0], PortId(0), Rate::gbps(25), 77, 7);
        telemetry.copy(places[1], places[2]);
        let times: Vec<u64> = telemetry.of(places[2]).iter().map(|hop| hop.time.0).collect();
        assert_eq!(times, (0..20).collect::<Vec<_>>());
        assert_eq!(telemetry.of(places[2])[19].tx_bytes, 1_900);
        assert_eq!(telemetry.of(places[0])[0].tx_bytes, 2_000);
    }
}

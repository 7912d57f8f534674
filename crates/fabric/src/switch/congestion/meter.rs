//! Metered messages at a port: a bounded queue behind a token bucket.

use floodway_mechanisms::slots::{DropReason, Meter};
use floodway_units::{Bytes, Time};

use crate::link::arena::{Fifo, Place};
use crate::network::layout::Local;
use crate::run::at_node::AtNode;

/// The metered messages of a port. The bucket is kept as the instant at which it is full: exact in picoseconds.
#[derive(Debug)]
pub(crate) struct MeterQueue {
    meter: Meter,
    pub fifo: Fifo,
    waiting: u32,
    /// When the bucket is full.
    full_at: Time,
    /// When the first message may leave, while the port has nothing else to do but to wait for that.
    pub wake: Option<Time>,
}

impl MeterQueue {
    pub fn new(meter: Meter) -> Self {
        MeterQueue { meter, fifo: Fifo::default(), waiting: 0, full_at: Time::ZERO, wake: None }
    }

    /// When a message of `wire` bytes may leave, if none leaves before it.
    fn opens_for(&self, now: Time, wire: u64) -> Time {
        let full = self.meter.rate.time_to_send(self.meter.burst);
        // What is in a full bucket is enough for any message.
        let needs = self.meter.rate.time_to_send(Bytes(wire)).min(full);
        (self.full_at.max(now) + needs).0.checked_sub(full.0).map_or(now, |at| Time(at).max(now))
    }

    /// A message of `wire` bytes leaves.
    fn leaves(&mut self, now: Time, wire: u64) {
        self.waiting -= 1;
        self.full_at = self.full_at.max(now) + self.meter.rate.time_to_send(Bytes(wire));
        self.wake = None;
    }

    /// All that waits.
    fn empty(&mut self) -> Fifo {
        self.waiting = 0;
        self.wake = None;
        std::mem::take(&mut self.fifo)
    }
}

impl AtNode<'_, '_> {
    /// Has a metered message wait its turn at `out`, or drops it.
    pub fn queue_metered(&mut self, out: Local, place: Place) {
        let frame = self.run.packets[place].frame;
        let up = self.node.ports.known(out.index()).up;
        let Some(meter) = self.node.machines[out.index()].meter.as_mut() else { return };
        if !up || meter.waiting >= meter.meter.packets {
            // A host's own messages have come in by no port.
            let at_host = self.node.ports.known(out.index()).at_host;
            let ingress = if at_host { out } else { self.run.packets[place].ingress };
            let lane = self.facts.layout.lane(ingress, 0);
            return self.discard(lane, place, if up { DropReason::Selective } else { DropReason::LinkDown });
        }
        meter.waiting += 1;
        meter.fifo.push(&mut self.run.packets, place);
        self.joins(out, frame);
        self.kick(out);
    }

    /// Takes the next metered message of a port, if it may leave now; else the port looks again when it may.
    pub fn take_metered(&mut self, port: Local) -> Option<Place> {
        let now = self.time();
        let machines = &mut self.node.machines[port.index()];
        let meter = machines.meter.as_mut()?;
        let place = meter.fifo.front()?;
        let frame = self.run.packets[place].frame;
        let wire = self.facts.layout.wire(frame);
        let opens = meter.opens_for(now, wire);
        if opens > now {
            meter.wake = Some(opens);
            machines.sync(&mut self.run.events, self.node.ports.known(port.index()).id);
            return None;
        }
        meter.fifo.pop(&self.run.packets);
        meter.leaves(now, wire);
        self.leaves(port, frame);
        Some(place)
    }

    /// The instant has come for which a port waited to look at its metered messages.
    pub fn meter_wakes(&mut self, port: Local) {
        let now = self.time();
        if let Some(meter) = self.node.machines[port.index()].meter.as_mut() {
            meter.wake = meter.wake.filter(|at| *at > now);
        }
    }

    /// Drops the metered messages of a port.
    pub fn flush_metered(&mut self, port: Local, reason: DropReason) {
        let Some(meter) = self.node.machines[port.index()].meter.as_mut() else { return };
        let mut waiting = meter.empty();
        while let Some(place) = waiting.pop(&self.run.packets) {
            let packet = self.run.packets.take(place);
            self.quits(port, packet.frame);
            let at_host = self.node.ports.known(port.index()).at_host;
            let lane = self.facts.layout.lane(if at_host { port } else { packet.ingress }, 0);
            self.drop_packet(lane, &packet, reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{Rate, Span};

    use super::*;

    #[test]
    fn a_bucket_of_two_messages_lets_two_go_and_then_one_each_interval() {
        // 84 B take 672 ns at 1 Gbit/s.
        let mut queue = MeterQueue::new(Meter { rate: Rate::gbps(1), burst: Bytes(168), packets: 8 });
        let mut now = Time::ZERO + Span::us(10);
        let mut sent = Vec::new();
        for _ in 0..4 {
            now = queue.opens_for(now, 84);
            queue.waiting += 1;
            queue.leaves(now, 84);
            sent.push(now.since(Time::ZERO + Span::us(10)));
        }
        assert_eq!(sent, [0, 0, 672, 1344].map(Span::ns));
        // After a silence the bucket is full again, and not fuller.
        let later = now + Span::us(100);
        for expected in [0, 0, 672] {
            let at = queue.opens_for(later, 84);
            assert_eq!(at.since(later), Span::ns(expected));
            queue.waiting += 1;
            queue.leaves(at, 84);
        }
    }

    #[test]
    fn a_message_larger_than_the_bucket_leaves_when_that_is_full() {
        let mut queue = MeterQueue::new(Meter { rate: Rate::gbps(1), burst: Bytes(84), packets: 8 });
        let now = Time::ZERO + Span::us(1);
        assert_eq!(queue.opens_for(now, 92), now);
        queue.waiting += 1;
        queue.leaves(now, 92);
        assert_eq!(queue.opens_for(now, 92).since(now), Span::ns(736));
    }
}

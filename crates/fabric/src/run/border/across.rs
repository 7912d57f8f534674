//! Messages between partitions.

use std::mem;

use floodway_engine::{Advance, Partition};
use floodway_mechanisms::slots::RegionNotice;
use floodway_units::{FlowId, Time};

use super::{Batch, Crossing, Name, Told};
use crate::host::messages::Incoming;
use crate::host::queue_pairs::Opened;
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::link::arena::{Extra, Place};
use crate::link::packet::Kind;
use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::world::World;

impl AtNode<'_, '_> {
    /// Has all others that must know it at once told of a queue pair that was opened here; what stays here of
    /// its receiver's half, if that is here.
    pub fn announce(&mut self, opened: Opened) -> Opened {
        let Opened { slot, way, half } = opened;
        let border = &mut self.run.border;
        let name = Name { part: border.index as u8, slot };
        let to = border.cut.owner(way.destination);
        border.enter(slot, name, 1 << border.index | 1 << to);
        if to == border.index {
            return Opened { slot, way, half };
        }
        border.out[to].told.push(Told { name, way: way.clone(), half: Some(half) });
        Opened { slot, way, half: ReceiveHalf::absent() }
    }

    /// Has the receiver told of another message, if it is elsewhere; false if it is here.
    pub fn post_across(&mut self, slot: u32, message: Incoming) -> bool {
        let border = &mut self.run.border;
        let to = border.cut.owner(self.run.pairs.ways[slot as usize].destination);
        let elsewhere = to != border.index;
        if elsewhere {
            let name = border.names[slot as usize];
            border.out[to].posted.push((name, message));
        }
        elsewhere
    }

    /// A packet starts on the wire of a port whose link is cut, and leaves this partition.
    #[inline(never)]
    pub fn send_across(&mut self, port: Local, place: Place, arrival: u64) {
        let Some(to) = self.run.border.cut.beyond(self.id(port)) else { return };
        let mut extra = self.run.packets.detach(place);
        let mut packet = self.run.packets.take(place);
        packet.at = arrival;
        packet.out = self.out_of(self.node.ports[port.index()].far_end, &packet);
        if packet.is_data() {
            packet.base += arrival - self.now;
        }
        if let Some(Extra::Notice(notice)) = extra.as_deref_mut() {
            self.notice_across(to, notice);
        }
        let mut part = 0;
        if !packet.is_link_control() {
            let name = self.name_for(to, packet.flow);
            (packet.flow, part) = (FlowId(name.slot), name.part);
        }
        let port = self.node.ports[port.index()].id;
        self.run.border.out[to].packets.push(Crossing { port, part, packet, extra });
    }

    /// The name of a queue pair, of which partition `to` is told if it may not know it.
    fn name_for(&mut self, to: usize, flow: FlowId) -> Name {
        let border = &mut self.run.border;
        let name = border.names[flow.index()];
        if border.knowing[flow.index()] & 1 << to == 0 {
            border.knowing[flow.index()] |= 1 << to;
            let way = self.run.pairs.ways[flow.index()].clone();
            border.out[to].told.push(Told { name, way, half: None });
        }
        name
    }

    fn notice_across(&mut self, to: usize, notice: &mut RegionNotice) {
        let mut parts = [0; 16];
        for (flow, part) in notice.flows.iter_mut().zip(&mut parts).take(usize::from(notice.count)) {
            let name = self.name_for(to, *flow);
            (*flow, *part) = (FlowId(name.slot), name.part);
        }
        self.run.border.out[to].parts.push(parts);
    }
}

impl World<'_> {
    /// A queue pair that was opened elsewhere, and whose packets come here, or its receiver is.
    fn learn(&mut self, told: Told) {
        let Told { name, way, half } = told;
        if let Some(slot) = self.run.border.slot_of(usize::from(name.part), name.slot) {
            // Another partition was the first to tell.
            if let Some(half) = half {
                self.run.pairs.receivers.put(slot as usize, half);
            }
            return;
        }
        let slot = self.run.pairs.free_slots.pop().unwrap_or(self.run.pairs.ways.len() as u32);
        let at = slot as usize;
        let knowing =
            1 << self.run.border.index | 1 << name.part | 1 << self.run.border.cut.owner(way.destination);
        self.run.border.enter(slot, name, knowing);
        self.run.pairs.ways.put(at, way);
        self.run.pairs.senders.put(at, SendHalf::absent());
        self.run.pairs.receivers.put(at, half.unwrap_or_else(ReceiveHalf::absent));
        self.run.pairs.elsewhere.put(at, 0);
    }

    /// The slot of a queue pair that this partition was told of.
    fn slot(&self, part: u8, slot: FlowId) -> u32 {
        let known = self.run.border.slot_of(usize::from(part), slot.0);
        known.expect("who sends a packet tells of its queue pair first")
    }

    fn take_across(&mut self, crossing: Crossing, parts: Option<[u8; 16]>) {
        let Crossing { port, part, mut packet, mut extra } = crossing;
        if let (Some(Extra::Notice(notice)), Some(parts)) = (extra.as_deref_mut(), parts) {
            for (flow, part) in notice.flows.iter_mut().zip(parts).take(usize::from(notice.count)) {
                *flow = FlowId(self.slot(part, *flow));
            }
        }
        if !packet.is_link_control() {
            packet.flow = FlowId(self.slot(part, packet.flow));
        }
        let place = self.run.packets.add(packet);
        if let Some(extra) = extra {
            self.run.packets.attach(place, extra);
        }
        let (mut at, port) = self.at_port(port);
        let order = at.fly(port, place, packet.at, 0);
        let far = at.node.ports[port.index()].far;
        at.run.events.push_arrival(far, place, packet.at, order);
    }
}

impl Partition for World<'_> {
    type Batch = Batch;

    fn advance(&mut self, end: Time) -> Advance {
        self.run_until(end)
    }

    fn outgoing(&mut self, to: usize) -> Option<&mut Batch> {
        self.run.border.out.get_mut(to).filter(|batch| !batch.is_empty())
    }

    fn receive(&mut self, _from: usize, batch: &mut Batch) {
        batch.told.drain(..).for_each(|told| self.learn(told));
        for (name, message) in batch.posted.drain(..) {
            let slot = self.slot(name.part, FlowId(name.slot));
            self.run.pairs.receivers[slot as usize].post(message);
        }
        let mut parts = batch.parts.drain(..);
        for crossing in batch.packets.drain(..) {
            let parts = if crossing.packet.kind == Kind::Region { parts.next() } else { None };
            self.take_across(crossing, parts);
        }
    }
}

/// Has all that partitions still have to say received.
pub(crate) fn exchange(worlds: &mut [World<'_>]) {
    for from in 0..worlds.len() {
        for to in 0..worlds.len() {
            let batch = worlds[from].run.border.out.get_mut(to).map(mem::take);
            if let Some(mut batch) = batch {
                worlds[to].receive(from, &mut batch);
            }
        }
    }
}

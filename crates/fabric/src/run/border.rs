//! What a partition says to the others, and hears of them: packets on links that are cut, and of queue pairs what
//! whoever their packets come to has to know.
//!
//! A packet that crosses leaves its arena and goes by value; it is an event where it arrives. A queue
//! pair has a slot in each partition that knows it, and crosses under the name that it was given where it was opened.
//! Whoever sends a packet on to a partition that may not know its queue pair tells of that first. What is told
//! is no event: it only has to be there before the first packet is.

use std::mem;
use std::sync::Arc;

use floodway_engine::{Advance, Partition};
use floodway_mechanisms::slots::RegionNotice;
use floodway_units::{FlowId, NodeId, PortId, Time};

use crate::column::Column;
use crate::host::messages::Incoming;
use crate::host::queue_pairs::Opened;
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::link::arena::{Extra, Place};
use crate::link::packet::{Kind, Packet};
use crate::network::layout::Local;
use crate::network::ways::Way;
use crate::run::at_node::AtNode;
use crate::run::cut::Cut;
use crate::run::world::World;

/// A queue pair that is not known here.
const UNKNOWN: u32 = u32::MAX;

/// A queue pair, to all partitions: where it was opened, and its slot there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    part: u8,
    slot: u32,
}

/// What one partition says to another.
#[derive(Default)]
pub(crate) struct Batch {
    told: Vec<Told>,
    posted: Vec<(Name, Incoming)>,
    packets: Vec<Crossing>,
    /// Of packets that are notices between neighbours, in their order: whose the flows are that they name.
    parts: Vec<[u8; 16]>,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.told.is_empty() && self.posted.is_empty() && self.packets.is_empty()
    }
}

/// A queue pair is open.
struct Told {
    name: Name,
    way: Way,
    /// For the receiver's partition.
    half: Option<ReceiveHalf>,
}

/// A packet on a link that is cut; its flow is a slot where its queue pair was opened.
struct Crossing {
    port: PortId,
    part: u8,
    packet: Packet,
    extra: Option<Box<Extra>>,
}

/// A partition's place among the others. Where there is one partition, all of its lists are empty.
pub(crate) struct Border {
    cut: Arc<Cut>,
    index: usize,
    /// By partition: what is to be said to it.
    out: Vec<Batch>,
    /// By slot.
    names: Vec<Name>,
    /// By slot: a bit for each partition that is known to know of it.
    knowing: Vec<u64>,
    /// By partition and slot there: the slot here.
    slots: Vec<Column<u32>>,
}

impl Border {
    /// Of the partition `index`.
    pub fn new(cut: &Arc<Cut>, index: usize) -> Self {
        let others = if cut.parts() > 1 { cut.parts() } else { 0 };
        Border {
            cut: Arc::clone(cut),
            index,
            out: (0..others).map(|_| Batch::default()).collect(),
            names: Vec::new(),
            knowing: Vec::new(),
            slots: (0..others).map(|_| Column::default()).collect(),
        }
    }

    /// How the network is cut.
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// Is this the only partition?
    #[inline]
    pub fn is_alone(&self) -> bool {
        self.out.is_empty()
    }

    /// Is the node simulated here?
    #[inline]
    pub fn owns(&self, node: NodeId) -> bool {
        self.is_alone() || self.cut.owner(node) == self.index
    }

    /// Does what the port sends go to another partition?
    #[inline]
    pub fn crosses(&self, port: PortId) -> bool {
        self.cut.beyond(port).is_some()
    }

    /// The slot here of a queue pair that was opened in partition `part`, if it is known.
    pub fn slot_of(&self, part: usize, slot: u32) -> Option<u32> {
        if part == self.index {
            return Some(slot);
        }
        self.slots[part].get(slot as usize).copied().filter(|&slot| slot != UNKNOWN)
    }

    /// A queue pair has a slot here, and these partitions know of it.
    fn enter(&mut self, slot: u32, name: Name, knowing: u64) {
        let at = slot as usize;
        if at == self.names.len() {
            self.names.push(name);
            self.knowing.push(knowing);
        } else {
            (self.names[at], self.knowing[at]) = (name, knowing);
        }
        if usize::from(name.part) != self.index {
            let slots = &mut self.slots[usize::from(name.part)];
            while slots.len() <= name.slot as usize {
                slots.push(UNKNOWN);
            }
            slots[name.slot as usize] = slot;
        }
    }

    /// A queue pair is closed.
    pub fn forget(&mut self, slot: u32) {
        if let Some(&Name { part, slot }) = self.names.get(slot as usize)
            && usize::from(part) != self.index
        {
            self.slots[usize::from(part)][slot as usize] = UNKNOWN;
        }
    }
}

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

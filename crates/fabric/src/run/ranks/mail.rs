//! What ranks exchange between rounds.
//!
//! ```text
//!  head | queue pairs that closed | that opened | messages posted on open ones | packets on links ...
//! ```
//! The order is that in which a receiver needs them.
//!
//! - The head has the rank's earliest window, its next step of the whole network, and whether it was asked to
//!   stop: so all ranks know what comes next.
//! - A queue pair is announced to others unless it is local (`locality`). The sender's rank computes what the
//!   machines know of the flow, and its ports; from these the others build the path and the receiver's half.
//! - A packet has with it what it carries and the order of its arrival. What is on a link between ranks that
//!   changes is kept at the receiver.

use std::mem;
use std::sync::atomic::Ordering;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_engine::Event;
use floodway_units::cast::narrow;
use floodway_units::{PortId, Time};

use super::{Name, Processes};
use crate::host::messages::Incoming;
use crate::host::queue_pairs::{Opening, Posted};
use crate::link::arena::{Arena, Extra, PacketRef};
use crate::link::packet::Packet;
use crate::link::wires::Wire;
use crate::run::world::World;

/// What ranks agree on between rounds.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Head {
    /// Its earliest window with an event, those included that it sends to others now.
    pub earliest: u64,
    /// Time and order of its next step.
    pub step: (u64, u64),
    /// It was asked to stop.
    pub stops: bool,
    pub is_short_of_memory: bool,
}

/// A packet on a link to a node of another rank.
#[derive(BorshSerialize, BorshDeserialize)]
struct Arrival {
    group: u32,
    time: u64,
    order: u64,
    packet: Packet,
    flow: Name,
    extra: Option<Extra>,
    /// Flows that it names.
    named: Vec<Name>,
}

/// Adds a value to the bytes for another rank.
pub(super) fn write<T: BorshSerialize + ?Sized>(bytes: &mut Vec<u8>, value: &T) {
    value.serialize(bytes).expect("a list of bytes takes all that is written");
}

/// Takes the next value out of the bytes of another rank.
pub(super) fn read<T: BorshDeserialize>(bytes: &mut &[u8]) -> T {
    T::deserialize(bytes).expect("ranks are of one build, and read what they write")
}

impl World<'_> {
    /// Exchanges what has come up for other ranks since the last round; what each says of its next events.
    pub(super) fn exchange_mail(&mut self) -> Vec<Head> {
        let Some(mut ranks) = self.ranks.take() else { return Vec::new() };
        let mut heads = vec![self.own_head()];
        self.announce(&mut ranks, &heads[0]);
        self.post(&mut ranks);
        self.send_packets(&mut ranks);
        ranks.exchange();
        for from in ranks.others() {
            heads.push(self.receive(&mut ranks, from));
        }
        self.stop_if_asked(&mut ranks, &heads);
        self.ranks = Some(ranks);
        heads
    }

    /// Begins the bytes for each rank: queue pairs that have closed or opened.
    fn announce(&mut self, ranks: &mut Processes<'_>, head: &Head) {
        let mut opened: Vec<Opening> = Vec::new();
        for run in self.runs_mut() {
            opened.append(run.pairs.opened.get_or_insert_default());
        }
        opened.retain(|opening| !ranks.is_local(&self.facts, opening));
        ranks.common.extend(opened.iter().map(|opening| opening.info.flow.0));
        let mut bytes = Vec::new();
        write(&mut bytes, head);
        write(&mut bytes, &mem::take(&mut ranks.closed));
        write(&mut bytes, &opened);
        for buffer in &mut ranks.outgoing {
            buffer.clone_from(&bytes);
        }
    }

    /// Adds the messages that were posted for receivers elsewhere.
    fn post(&mut self, ranks: &mut Processes<'_>) {
        let mut posted: Vec<Vec<(u32, Incoming)>> = vec![Vec::new(); ranks.plan.ranks];
        for run in self.runs_mut() {
            let Some(last) = run.pairs.posted.last_mut() else { continue };
            for Posted { slot, message } in mem::take(last) {
                let to = run.pairs.paths[slot as usize].destination;
                posted[usize::from(ranks.owner(to))].push((slot, message));
            }
        }
        for (buffer, posted) in ranks.outgoing.iter_mut().zip(&posted) {
            write(buffer, posted);
        }
    }

    /// Adds the packets on links to nodes elsewhere, which leave this rank.
    fn send_packets(&mut self, ranks: &mut Processes<'_>) {
        let facts = &self.facts;
        for run in std::iter::once(&mut self.run).chain(&mut self.other_runs) {
            let Some(windows) = run.events.by_node() else { continue };
            for (group, event) in windows.elsewhere().drain(..) {
                let to = usize::from(ranks.owner(facts.groups.first(group).0));
                let arrival = ranks.arrival(&mut run.packets, group, &event);
                write(&mut ranks.outgoing[to], &arrival);
            }
        }
    }

    /// Takes in what another rank has sent; what it says of its next events.
    fn receive(&mut self, ranks: &mut Processes<'_>, from: usize) -> Head {
        let bytes = mem::take(&mut ranks.incoming[from]);
        let mut rest = bytes.as_slice();
        let head = read(&mut rest);
        for slot in read::<Vec<u32>>(&mut rest) {
            if let Some(here) = ranks.slots[from].remove(&slot) {
                ranks.names.remove(&here);
                self.close_queue_pair(here);
            }
        }
        for opening in read::<Vec<Opening>>(&mut rest) {
            let receives = ranks.owns(opening.info.destination);
            let here = self.run.pairs.enter_opened(&self.facts, &opening, receives);
            let slot = opening.info.flow.0;
            ranks.names.insert(here, (narrow::<u8>(from), slot));
            ranks.slots[from].insert(slot, here);
        }
        for (slot, message) in read::<Vec<(u32, Incoming)>>(&mut rest) {
            let here = ranks.slot((narrow(from), slot));
            self.run.pairs.receivers[here as usize].post(message);
        }
        while !rest.is_empty() {
            self.receive_packet(ranks, read(&mut rest));
        }
        ranks.incoming[from] = bytes;
        head
    }

    /// A packet is on a link to a node of this rank.
    fn receive_packet(&mut self, ranks: &mut Processes<'_>, arrival: Arrival) {
        let Arrival { group, time, order, mut packet, flow, extra, named } = arrival;
        if !packet.is_link_control() {
            packet.flow = ranks.flow(flow);
        }
        let packet_ref = self.run.packets.add(packet);
        if let Some(mut extra) = extra {
            if let Extra::CongestionNotification(cn) = &mut extra {
                let flows = named.into_iter().map(|name| ranks.flow(name));
                cn.flows.iter_mut().zip(flows).for_each(|(flow, here)| *flow = here);
            }
            self.run.packets.attach(packet_ref, Box::new(extra));
        }
        let port = PortId(self.run.events.decode(order).1);
        let link = &self.facts.blueprint.links[port.index() / 2];
        if link.changes() {
            let wire = ranks.wires.entry(port.0).or_insert_with(|| Wire::new(link).unwrap_or_default());
            wire.carries(packet_ref, ranks.reached, time);
        }
        let event = Event { time: Time(time), order, item: packet_ref.item() };
        let owner = self.worker_pool.as_ref().map_or(0, |workers| workers.owner(group));
        let run = self.runs_mut().nth(owner);
        if let Some(windows) = run.and_then(|run| run.events.by_node()) {
            windows.send(group, event);
        }
    }

    /// Stops if a rank was asked to.
    fn stop_if_asked(&mut self, ranks: &mut Processes<'_>, heads: &[Head]) {
        ranks.stopped = heads.iter().any(|head| head.stops);
        if heads.iter().any(|head| head.is_short_of_memory) {
            self.run.control.short_of_memory.store(true, Ordering::Relaxed);
        }
    }
}

impl Processes<'_> {
    /// A packet on a link, which is no longer here.
    fn arrival(&self, packets: &mut Arena, group: u32, event: &Event) -> Arrival {
        // SAFETY: an arrival is pushed with its packet's reference, and this thread sends the packet away.
        #[allow(unsafe_code, reason = "an event's item is a packet's address")]
        let packet_ref = unsafe { PacketRef::of(event.item) };
        let extra = packets.detach(packet_ref).map(|extra| *extra);
        let packet = packets.take(packet_ref);
        let named = match &extra {
            Some(Extra::CongestionNotification(cn)) => {
                cn.named().iter().map(|flow| self.name(flow.0)).collect()
            }
            _ => Vec::new(),
        };
        let flow = if packet.is_link_control() { (0, u32::MAX) } else { self.name(packet.flow.0) };
        Arrival { group, time: event.time.0, order: event.order, packet, flow, extra, named }
    }

    /// What each rank has of something, in their order.
    pub(super) fn all_gather<T: BorshSerialize + BorshDeserialize>(&mut self, own: &T) -> Vec<T> {
        let mut bytes = Vec::new();
        write(&mut bytes, own);
        for buffer in &mut self.outgoing {
            buffer.clone_from(&bytes);
        }
        self.exchange();
        let of = |rank: usize| {
            let received = if rank == usize::from(self.own) { &bytes } else { &self.incoming[rank] };
            read(&mut received.as_slice())
        };
        (0..self.plan.ranks).map(of).collect()
    }
}

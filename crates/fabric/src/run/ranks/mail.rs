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
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::routing::peer;
use floodway_engine::Event;
use floodway_units::cast::narrow;
use floodway_units::{PortId, Time};

use super::rounds::NO_STEP;
use super::{Name, Processes};
use crate::host::messages::Incoming;
use crate::host::queue_pairs::{Opening, Posted};
use crate::link::arena::{Arena, PacketRef};
use crate::link::extra::Extra;
use crate::link::packet::Packet;
use crate::link::wires::Wire;
use crate::run::events::NEVER;
use crate::run::node::Node;
use crate::run::runs::Runs;
use crate::run::windows::Windows;

/// What ranks agree on between rounds.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(in crate::run) struct Head {
    /// Its earliest window with an event, those included that it sends to others now.
    pub earliest: u64,
    /// Time and order of its next step.
    pub step: (u64, u64),
    /// It was asked to stop.
    pub stops: bool,
    pub is_short_of_memory: bool,
}

impl Head {
    /// This rank's part of what is agreed between rounds.
    fn of(runs: &mut Runs<'_>) -> Self {
        let earliest = runs.iter_mut().filter_map(|run| run.events.by_node()).map(Windows::earliest_of_all);
        let earliest = earliest.min();
        let step = runs.own.events.by_node().and_then(|windows| windows.next_step());
        Head {
            earliest: earliest.unwrap_or(NEVER),
            step: step.unwrap_or(NO_STEP),
            stops: runs.own.control.stop.load(Ordering::Relaxed),
            is_short_of_memory: runs.own.control.short_of_memory.load(Ordering::Relaxed),
        }
    }
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

impl Processes<'_> {
    /// Exchanges what has come up for other ranks since the last round; what each says of its next events.
    pub(in crate::run) fn exchange_mail(
        &mut self,
        facts: &Facts<'_>,
        nodes: &mut [Node],
        runs: &mut Runs<'_>,
    ) -> Vec<Head> {
        let mut heads = vec![Head::of(runs)];
        self.announce(facts, runs, &heads[0]);
        self.post(runs);
        self.send_packets(facts, runs);
        self.exchange();
        for from in self.others() {
            heads.push(self.receive(from, facts, nodes, runs));
        }
        self.stopped = heads.iter().any(|head| head.stops);
        if heads.iter().any(|head| head.is_short_of_memory) {
            runs.own.control.short_of_memory.store(true, Ordering::Relaxed);
        }
        heads
    }

    /// Begins the bytes for each rank: queue pairs that have closed or opened.
    fn announce(&mut self, facts: &Facts<'_>, runs: &mut Runs<'_>, head: &Head) {
        let mut opened: Vec<Opening> = Vec::new();
        for run in runs.iter_mut() {
            opened.append(run.pairs.opened.get_or_insert_default());
        }
        opened.retain(|opening| !self.is_local(facts, opening));
        self.common.extend(opened.iter().map(|opening| opening.info.flow.0));
        let mut bytes = Vec::new();
        write(&mut bytes, head);
        write(&mut bytes, &mem::take(&mut self.closed));
        write(&mut bytes, &opened);
        for buffer in &mut self.outgoing {
            buffer.clone_from(&bytes);
        }
    }

    /// Adds the messages that were posted for receivers elsewhere.
    fn post(&mut self, runs: &mut Runs<'_>) {
        let mut posted: Vec<Vec<(u32, Incoming)>> = vec![Vec::new(); self.plan.ranks];
        for run in runs.iter_mut() {
            let Some(last) = run.pairs.posted.last_mut() else { continue };
            for Posted { slot, message } in mem::take(last) {
                let to = run.pairs.paths[slot as usize].destination;
                posted[usize::from(self.owner(to))].push((slot, message));
            }
        }
        for (buffer, posted) in self.outgoing.iter_mut().zip(&posted) {
            write(buffer, posted);
        }
    }

    /// Adds the packets on links to nodes elsewhere, which leave this rank.
    fn send_packets(&mut self, facts: &Facts<'_>, runs: &mut Runs<'_>) {
        for run in runs.iter_mut() {
            let Some(windows) = run.events.by_node() else { continue };
            for (group, event) in windows.elsewhere().drain(..) {
                let to = usize::from(self.owner(facts.groups.first(group).0));
                let arrival = self.arrival(&mut run.packets, group, &event);
                write(&mut self.outgoing[to], &arrival);
            }
        }
    }

    /// Takes in what another rank has sent; what it says of its next events.
    fn receive(&mut self, from: usize, facts: &Facts<'_>, nodes: &mut [Node], runs: &mut Runs<'_>) -> Head {
        let bytes = mem::take(&mut self.incoming[from]);
        let mut rest = bytes.as_slice();
        let head = read(&mut rest);
        for slot in read::<Vec<u32>>(&mut rest) {
            if let Some(here) = self.slots[from].remove(&slot) {
                self.names.remove(&here);
                runs.own.pairs.close(here, nodes, &mut runs.own.kept.records);
            }
        }
        for opening in read::<Vec<Opening>>(&mut rest) {
            let receives = self.owns(opening.info.destination);
            let here = runs.own.pairs.enter_opened(facts, &opening, receives);
            let slot = opening.info.flow.0;
            self.names.insert(here, (narrow::<u8>(from), slot));
            self.slots[from].insert(slot, here);
        }
        for (slot, message) in read::<Vec<(u32, Incoming)>>(&mut rest) {
            let here = self.slot((narrow(from), slot));
            runs.own.pairs.receivers[here as usize].post(message);
        }
        while !rest.is_empty() {
            self.receive_packet(facts, nodes, runs, read(&mut rest));
        }
        self.incoming[from] = bytes;
        head
    }

    /// A packet is on a link to a node of this rank.
    ///
    /// # Panics
    /// It names a port or a class that the node has not.
    fn receive_packet(&mut self, facts: &Facts<'_>, nodes: &[Node], runs: &mut Runs<'_>, arrival: Arrival) {
        let Arrival { group, time, order, mut packet, flow, extra, named } = arrival;
        if !packet.is_link_control() {
            packet.flow = self.flow(flow);
        }
        let port = PortId(runs.own.events.decode(order).1);
        let links = &nodes[facts.node_of(peer(port)).index()].links;
        let is_known = [packet.ingress, packet.out].iter().all(|port| port.index() < links.ports.len())
            && (packet.is_link_control() || packet.class < facts.layout.class_count());
        assert!(is_known, "ranks are of one build, and read what they write");
        let packet_ref = runs.own.packets.add(packet);
        if let Some(mut extra) = extra {
            if let Extra::CongestionNotification(cn) = &mut extra {
                let flows = named.into_iter().map(|name| self.flow(name));
                cn.flows.iter_mut().zip(flows).for_each(|(flow, here)| *flow = here);
            }
            runs.own.packets.attach(packet_ref, Box::new(extra));
        }
        let link = &facts.blueprint.links[port.index() / 2];
        if link.changes() {
            let wire = self.wires.entry(port.0).or_insert_with(|| Wire::new(link).unwrap_or_default());
            wire.carries(packet_ref, self.reached, time);
        }
        let event = Event { time: Time(time), order, item: packet_ref.item() };
        let owner = runs.pool.as_ref().map_or(0, |workers| workers.owner(group));
        let run = runs.iter_mut().nth(owner);
        if let Some(windows) = run.and_then(|run| run.events.by_node()) {
            windows.send(group, event);
        }
    }

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

//! Deadlock: a cycle of paused queues, each of which waits for the next, and none of which anything else
//! can free.
//!
//! In every simulated millisecond the wait-for graph of queues that were paused throughout it is searched. A
//! ring that still drains through another port is no deadlock. The time of one is the beginning of its last
//! pause. Of several processes each judges what waits at its nodes.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::bounds::cycle::cycle;
use floodway_blueprint::network::routing::peer;
use floodway_records::outcome::Deadlock;
use floodway_units::cast::narrow;
use floodway_units::{PortId, Time};

use crate::link::arena::Arena;
use crate::run::events::NEVER;
use crate::run::network::Network;
use crate::run::ranks::Share;

/// How long a queue must have been paused to be suspected, in picoseconds.
const SUSPECT: u64 = 1_000_000_000;

/// Searches the wait-for graph of queues that have been paused throughout the last millisecond, and wait for
/// such queues alone.
pub(crate) struct DeadlockSearch<'w, 'a> {
    pub network: Network<'w, 'a>,
    pub packets: &'w Arena,
    pub share: Share<'w, 'a>,
    pub now: u64,
    /// By how much the clock of the run is ahead.
    pub skipped: u64,
}

impl DeadlockSearch<'_, '_> {
    /// A cycle, if there is one.
    pub fn find(mut self) -> Option<Deadlock> {
        let classes = self.network.facts.layout.classes.len();
        let port_of = |port_class: usize| PortId(narrow(port_class / classes));
        let own: Vec<usize> = (0..self.network.facts.port_classes())
            .filter(|&port_class| {
                let port = port_of(port_class);
                self.share.owns(self.network.facts.node_of(port)) && self.is_suspect(port_class)
            })
            .collect();
        let mut suspects = self.sorted_from_all(own);
        // One that waits for a queue that may send will go on, however slowly, and so will those behind it.
        let mut before = usize::MAX;
        while suspects.len() >= 2 && suspects.len() < before {
            before = suspects.len();
            let judged = suspects.iter().copied().filter(|&port_class| self.judges(port_class));
            let closed =
                judged.filter(|&port_class| self.waits_for_none_but(port_class, &suspects)).collect();
            suspects = self.sorted_from_all(closed);
        }
        if suspects.len() < 2 {
            return None;
        }
        let judged = (0..suspects.len()).filter(|&at| self.judges(suspects[at]));
        let waits = judged.map(|at| (at, self.waits_for(suspects[at], &suspects))).collect();
        let waits: Vec<Vec<u32>> =
            self.sorted_from_all(waits).into_iter().map(|(_, successors)| successors).collect();
        let cycle: Vec<usize> = cycle(&waits)?.into_iter().map(|at| suspects[at as usize]).collect();
        let time_us = Time(self.closed_at(&cycle).0 + self.skipped).as_us();
        let mut ports: Vec<PortId> = cycle.into_iter().map(port_of).collect();
        // A cycle has no beginning of its own: the smallest port stands first.
        let smallest = (0..ports.len()).min_by_key(|&at| ports[at]).unwrap_or(0);
        ports.rotate_left(smallest);
        let ports: Vec<String> =
            ports.into_iter().map(|port| self.network.facts.blueprint.port_name(port)).collect();
        Some(Deadlock { time_us, ports })
    }

    /// When the last pause of a cycle of queues began: from then on none could send.
    fn closed_at(&mut self, cycle: &[usize]) -> Time {
        let own = cycle.iter().filter(|&&port_class| {
            self.share.owns(self.network.facts.node_of(self.network.facts.layout.port_class_of(port_class).0))
        });
        let since = own.map(|&port_class| self.network.egress(port_class).paused_since).collect();
        Time(self.sorted_from_all(since).last().copied().unwrap_or(self.now))
    }

    /// Has a queue been paused for long?
    fn is_suspect(&self, port_class: usize) -> bool {
        let since = self.network.egress(port_class).paused_since;
        since != NEVER && since + SUSPECT <= self.now
    }

    /// Does this process know what a paused queue waits for?
    fn judges(&self, port_class: usize) -> bool {
        self.share.owns(self.network.facts.node_of(self.paused_by(port_class).1))
    }

    /// What all ranks have found, in order.
    fn sorted_from_all<T: Ord + BorshSerialize + BorshDeserialize>(&mut self, own: Vec<T>) -> Vec<T> {
        let mut all = self.share.collected(own);
        all.sort_unstable();
        all
    }

    /// The suspects for which a paused queue waits: those that hold what came by the port that paused it.
    fn waits_for(&self, port_class: usize, suspects: &[usize]) -> Vec<u32> {
        let (class, downstream) = self.paused_by(port_class);
        let node = self.network.facts.node_of(downstream);
        (0..narrow::<u32>(suspects.len()))
            .filter(|&at| {
                let other = PortId(narrow(suspects[at as usize] / self.network.facts.layout.classes.len()));
                self.network.facts.node_of(other) == node && self.holds(other, downstream, class)
            })
            .collect()
    }

    /// Is all that came by the port that paused this queue held in suspects?
    fn waits_for_none_but(&self, port_class: usize, suspects: &[usize]) -> bool {
        let (class, downstream) = self.paused_by(port_class);
        let node = self.network.node_at(downstream);
        if let Some(host) = node.host()
            && !host.nics[self.network.facts.local(downstream).index()].receive_buffer.is_empty()
        {
            // Its host drains it.
            return false;
        }
        // Any other host pauses for reasons other than its buffer.
        let ports = if node.is_host() { 0 } else { node.links.ports.len() };
        let mut others = node
            .ids()
            .take(ports)
            .filter(|&other| !suspects.contains(&self.network.facts.layout.port_class_id(other, class)));
        !others.any(|other| self.holds(other, downstream, class))
    }

    /// The class of a port class, and the port that pauses it.
    fn paused_by(&self, port_class: usize) -> (u8, PortId) {
        let classes = self.network.facts.layout.classes.len();
        (narrow::<u8>(port_class % classes), peer(PortId(narrow(port_class / classes))))
    }

    /// Does an egress port hold a packet of `class` that came by `ingress`, of the same node?
    fn holds(&self, port: PortId, ingress: PortId, class: u8) -> bool {
        let node = self.network.node_at(port);
        let (port, ingress) = (self.network.facts.local(port), self.network.facts.local(ingress));
        if let Some(inputs) = node.inputs() {
            return inputs.bytes(ingress, port, class) > 0;
        }
        let queues = self.network.facts.layout.queues(port);
        // What may be lost is charged to no account, and so blocks no queue.
        let charged = |q: &usize| !node.links.may_lose(&self.network.facts.layout, port, *q);
        (1..self.network.facts.layout.queues_per_port).filter(charged).any(|q| {
            let mut packets = node.links.queues[queues.nth(q)].fifo.iter(self.packets);
            packets.any(|packet| packet.ingress == ingress && packet.class == class)
        })
    }
}

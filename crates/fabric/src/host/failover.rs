//! Failover of a host's NICs: queue pairs of a NIC whose link is down move to another NIC, as where the ports
//! are bonded.
//!
//! ```text
//!        link fails          its host knows          queue pairs move
//!  ──────────┼─────────────────────┼──────────────────────────┼──────────►
//!            │      detection      │       nic-failover       │
//!            packets are lost      they wait                  they are sent by another NIC
//! ```
//! A queue pair moves to a NIC whose link is up and that leads to its destination by the routes in force,
//! chosen as where it opens; without one it waits, and looks again when a link of its host comes up
//! or routes change. What was lost is retransmitted by its reliability. It stays where it is when the link
//! comes up again; new queue pairs use it. A queue pair with a given path never moves.

use floodway_units::{NodeId, PortId};

use crate::network::blueprint::Turns;
use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::events::{Armed, NEVER};
use crate::run::world::World;

impl World<'_> {
    /// Moves what it can of all hosts that have failed NICs.
    pub fn fail_over(&mut self) {
        let has_failed = |node: &NodeId| self.nodes[node.index()].host.nics.iter().any(|nic| nic.failed);
        let nodes = self.nodes.iter().map(|node| node.id).filter(|&node| self.owns(node));
        for node in nodes.filter(has_failed).collect::<Vec<_>>() {
            self.at(node).fail_over();
        }
    }
}

impl AtNode<'_, '_> {
    /// Has a NIC of this host been given up?
    pub fn has_failed(&self, port: PortId) -> bool {
        self.node.host.nics[self.ctx.facts.local(port).index()].failed
    }

    /// Moves the queue pairs of failed NICs to others.
    fn fail_over(&mut self) {
        let failed = self.node.host.nics.iter().filter(|nic| nic.failed);
        let slots: Vec<u32> = failed.flat_map(|nic| nic.ranks.slots()).collect();
        for slot in slots {
            if let Some(to) = self.nic_instead(slot) {
                self.move_to_nic(slot, to);
            }
        }
        self.try_transmit_at_all();
    }

    /// Another NIC for a queue pair, if it may move and there is one.
    fn nic_instead(&mut self, slot: u32) -> Option<Local> {
        let half = &self.ctx.run.pairs.senders[slot as usize];
        let path = &self.ctx.run.pairs.paths[slot as usize];
        let stays = half.on_path || half.state.done || !self.node.host.nics[half.nic.index()].failed;
        if stays || self.ctx.facts.blueprint.semantics.turns != Turns::Ring {
            return None;
        }
        let (destination, key) = (path.destination, path.tuple.key());
        self.refresh_routes(destination);
        self.nic_that_is_up(destination, key).map(|port| self.ctx.facts.local(port))
    }

    /// The NIC of this host that a flow uses of those that have not failed, as its policy says.
    pub fn nic_that_is_up(&self, destination: NodeId, key: u64) -> Option<PortId> {
        self.nic_among(self.node.id, key, || self.nics_that_are_up(destination))
    }

    /// The NICs of this host by which packets may leave.
    pub fn nics_that_are_up(&self, destination: NodeId) -> impl Iterator<Item = PortId> {
        let is_up = |port: &PortId| {
            let local = self.ctx.facts.local(*port).index();
            self.node.links.ports[local].up && !self.node.host.nics[local].failed
        };
        self.candidates(self.node.id, destination).iter().copied().filter(is_up)
    }

    /// A queue pair sends by another NIC from now on, with a rank of its own there.
    pub fn move_to_nic(&mut self, slot: u32, to: Local) {
        if self.ctx.run.trace.is_some() {
            self.each_trace(|at| at.trace_moved(slot, to));
        }
        self.leave_turns(slot);
        if self.node.host.pairs.sprays {
            // It has the same rank there.
            self.ctx.run.pairs.senders[slot as usize].nic = to;
            return self.allowance_changed(slot);
        }
        let half = &mut self.ctx.run.pairs.senders[slot as usize];
        let nic = &mut self.node.host.nics[half.nic.index()];
        nic.ranks.close(half.rank);
        // Its timer names a rank that is closed.
        half.timers.timer = Armed::default();
        let nic = &mut self.node.host.nics[to.index()];
        (half.nic, half.rank) = (to, nic.ranks.next());
        nic.ranks.open(half.rank, slot);
        half.timers.timer_key = self.ctx.run.events.queue_pair_key(nic.number, half.rank, slot);
        half.timers.ticks.fill(Armed::default());
        self.allowance_changed(slot);
        self.stack_changed(slot);
    }

    /// A queue pair is neither ready nor waits for its pacing time at its NIC any more.
    pub fn leave_turns(&mut self, slot: u32) {
        let half = &mut self.ctx.run.pairs.senders[slot as usize];
        let nic = &mut self.node.host.nics[half.nic.index()];
        let class = half.class as usize;
        if std::mem::take(&mut half.turn.is_ready) {
            nic.ready[class].remove(half.rank);
        }
        if std::mem::take(&mut half.turn.is_repeating) {
            nic.repeats[class].remove(half.rank);
            nic.repeating -= 1;
        }
        // What it has in the heap is passed over.
        half.pacing.heap_at = NEVER;
    }
}

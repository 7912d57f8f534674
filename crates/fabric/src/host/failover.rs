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
//!
//! A queue pair that moves gets a rank at its new NIC, and its timers are armed again.

use floodway_blueprint::network::blueprint::Turns;
use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::FlowTuple;
use floodway_units::{NodeId, PortId};

use crate::host::nic::Nic;
use crate::host::nics::Host;
use crate::host::send::SendHalf;
use crate::link::links::Links;
use crate::run::at_node::AtHost;
use crate::run::ctx::Ctx;
use crate::run::events::{Armed, NEVER};

impl AtHost<'_, '_> {
    /// Moves the queue pairs of failed NICs to others.
    pub fn fail_over(&mut self) {
        let failed = self.device.nics.iter().filter(|nic| nic.failed);
        let slots: Vec<u32> = failed.flat_map(|nic| nic.ranks.slots()).collect();
        for slot in slots {
            if let Some(to) = self.device.nic_instead(&mut self.ctx, &self.node.links, slot) {
                self.move_to_nic(slot, to);
            }
        }
        self.node.locals().for_each(|port| self.try_transmit(port));
    }

    /// A queue pair sends by another NIC from now on, with a rank of its own there.
    pub fn move_to_nic(&mut self, slot: u32, to: Local) {
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.moved(seen, slot, to));
        }
        self.device.move_to_nic(&mut self.ctx, slot, to);
        self.allowance_changed(slot);
        // Where packets are sprayed its timers are as they were.
        if !self.device.pairs.sprays {
            self.stack_changed(slot);
        }
    }
}

impl Host {
    /// Another NIC for a queue pair, if it may move and there is one.
    fn nic_instead(&self, ctx: &mut Ctx<'_, '_>, links: &Links, slot: u32) -> Option<Local> {
        let half = &ctx.run.pairs.senders[slot as usize];
        let path = &ctx.run.pairs.paths[slot as usize];
        let stays = half.on_path || half.state.done || !self.nics[half.nic.index()].failed;
        if stays || ctx.facts.blueprint.semantics.turns != Turns::Ring {
            return None;
        }
        let (ends, key) = ((path.source, path.destination), path.tuple.key());
        ctx.refresh_routes(ends.1);
        self.nic_that_is_up(ctx, links, ends, key).map(|port| ctx.facts.local(port))
    }

    /// The NIC that this host uses for a flow: of those on shortest paths that it has not given up, as its
    /// policy says.
    pub fn nic_of(
        &self,
        ctx: &Ctx<'_, '_>,
        links: &Links,
        (node, destination): (NodeId, NodeId),
        tuple: &FlowTuple,
    ) -> Option<PortId> {
        let changing = ctx.run.changing.as_deref();
        let has_failed = |port: &PortId| self.nics[ctx.facts.local(*port).index()].failed;
        if changing.is_some()
            && ctx.candidates(node, destination).iter().any(has_failed)
            && let Some(port) = self.nic_that_is_up(ctx, links, (node, destination), tuple.key())
        {
            return Some(port);
        }
        ctx.facts.nic_of(changing, (node, destination), tuple)
    }

    /// The NIC of this host that a flow uses of those that have not failed, as its policy says.
    fn nic_that_is_up(
        &self,
        ctx: &Ctx<'_, '_>,
        links: &Links,
        (node, destination): (NodeId, NodeId),
        key: u64,
    ) -> Option<PortId> {
        ctx.facts.nic_among(node, key, || self.nics_that_are_up(ctx, links, (node, destination)))
    }

    /// The NICs of this host by which packets may leave.
    pub fn nics_that_are_up(
        &self,
        ctx: &Ctx<'_, '_>,
        links: &Links,
        (node, destination): (NodeId, NodeId),
    ) -> impl Iterator<Item = PortId> {
        let is_up = |port: &PortId| {
            let local = ctx.facts.local(*port).index();
            links.ports[local].up && !self.nics[local].failed
        };
        ctx.candidates(node, destination).iter().copied().filter(is_up)
    }

    /// A queue pair leaves its turns at its NIC, and gets a rank at another one.
    fn move_to_nic(&mut self, ctx: &mut Ctx<'_, '_>, slot: u32, to: Local) {
        let half = &mut ctx.run.pairs.senders[slot as usize];
        let nic = &mut self.nics[half.nic.index()];
        half.leave_turns(nic);
        if self.pairs.sprays {
            // It has the same rank there.
            half.nic = to;
            return;
        }
        nic.ranks.close(half.rank);
        // Its timer names a rank that is closed.
        half.timers.timer = Armed::default();
        let nic = &mut self.nics[to.index()];
        (half.nic, half.rank) = (to, nic.ranks.next());
        nic.ranks.open(half.rank, slot);
        half.timers.timer_key = ctx.run.events.queue_pair_key(nic.number, half.rank, slot);
        half.timers.ticks.fill(Armed::default());
    }
}

impl SendHalf {
    /// It is neither ready nor waits for its pacing time at its NIC any more.
    fn leave_turns(&mut self, nic: &mut Nic) {
        let class = self.class as usize;
        if std::mem::take(&mut self.turn.is_ready) {
            nic.ready[class].remove(self.rank);
        }
        if std::mem::take(&mut self.turn.is_repeating) {
            nic.repeats[class].remove(self.rank);
            nic.repeating -= 1;
        }
        // What it has in the heap is passed over.
        self.pacing.heap_at = NEVER;
    }
}

//! Spray over the NICs of a host: each packet of a queue pair leaves by the NIC that can start it first.
//!
//! A queue pair has one packet to send at a time. When it may send, and after each packet, it takes its turns
//! at the NIC with the fewest bytes ahead: the rest of the frame on the wire, and a full packet of each queue
//! pair that is ready there. Of several that are idle it is the one that has been so for longest; a NIC whose
//! class is paused comes last. When a NIC is paused, those that wait there select again. Packets overtake
//! each other on their way.
//!
//! A queue pair has one rank at all NICs of its host, so that only its turns move.

use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::FcSender as _;

use crate::host::nics::Host;
use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::link::links::Links;
use crate::run::at_node::{AtHost, bytes};
use crate::run::ctx::Ctx;

impl AtHost<'_, '_> {
    /// A packet of a queue pair has left by a NIC: the next one may leave by another.
    pub fn spray_next(&mut self, slot: u32) {
        let half = &self.ctx.run.pairs.senders[slot as usize];
        let from = half.nic;
        if half.state.alive
            && half.turn.is_ready
            && let Some(to) = self.device.better_nic(&mut self.ctx, &self.node.links, slot)
        {
            self.move_to_nic(slot, to);
            let to = self.ctx.run.pairs.senders[slot as usize].nic;
            if to != from {
                self.try_transmit(to);
            }
        }
    }

    /// A class of a NIC is paused: queue pairs that are ready there may leave by others.
    #[inline(never)]
    pub fn spray_from_paused(&mut self, port: Local, class: u8) {
        let mut rank = u32::MAX - 1;
        let mut turns = self.device.nics[port.index()].ready[class as usize].len();
        while turns > 0 {
            turns -= 1;
            let nic = &self.device.nics[port.index()];
            let Some(next) = nic.ready[class as usize].next_after(rank) else { return };
            rank = next;
            if let Some(slot) = nic.ranks.get(rank) {
                self.spray_next(slot);
            }
        }
    }
}

impl Host {
    /// A queue pair may send its next packet: the NIC that can start it first, if that is another one than it
    /// has.
    pub fn better_nic(&self, ctx: &mut Ctx<'_, '_>, links: &Links, slot: u32) -> Option<Local> {
        ctx.refresh_routes(ctx.run.pairs.paths[slot as usize].destination);
        let ctx = &*ctx;
        let path = &ctx.run.pairs.paths[slot as usize];
        let half = &ctx.run.pairs.senders[slot as usize];
        let (from, class) = (half.nic, half.class);
        let own = half.turn.is_ready;
        let ahead = |local: Local| self.ahead_at(ctx, links, (local, class), own && local == from);
        // Of those that are idle, the one that has been so for longest.
        let idle_since = |local: Local| links.ports[local.index()].free_at;
        let ports = self.nics_that_are_up(ctx, links, (path.source, path.destination));
        let locals = ports.map(|port| ctx.facts.local(port));
        let best = locals.min_by_key(|&local| (ahead(local), idle_since(local), local));
        best.filter(|&to| to != from)
    }

    /// Whether a NIC may not start a packet of a class, and when it could.
    fn ahead_at(
        &self,
        ctx: &Ctx<'_, '_>,
        links: &Links,
        (local, class): (Local, u8),
        has_own: bool,
    ) -> (bool, u64) {
        let (port, nic) = (&links.ports[local.index()], &self.nics[local.index()]);
        let largest = ctx.facts.largest_wire;
        let egress = &links.egress[ctx.facts.layout.port_class(local, class)];
        let open = egress.sender.gate(ctx.time(), bytes(largest)).is_open(ctx.time());
        let ready: usize = nic.ready.iter().map(RoundRobinBitmap::len).sum();
        let before = (ready - usize::from(has_own)) as u64;
        (
            !open,
            port.free_at.max(ctx.now) + before * port.serial_time(largest) + port.serial_time(port.waiting),
        )
    }
}

//! Search for the next queue pair at a NIC of the HPCC simulator, and its timer.

use floodway_blueprint::network::blueprint::Turns;
use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::{PortId, Time};

use super::{FINISHED, Found};
use crate::host::nic::Nic;
use crate::host::nic::turn::Holder;
use crate::run::at_node::AtHost;
use crate::run::ctx::Ctx;
use crate::run::events::EventKind;
use crate::run::events::{Events, NEVER};

impl AtHost<'_, '_> {
    /// The queue pair that sends next from a host's port.
    pub fn next_in_list(&mut self, port: Local) -> Option<u32> {
        let nic = port.index();
        let mut list = std::mem::take(&mut self.device.nics[nic].list);
        let semantics = &self.ctx.facts.blueprint.semantics;
        let flow = list.turn(|flow| {
            if flow == FINISHED {
                return Found::Finished;
            }
            let half = &self.ctx.run.pairs.senders[flow as usize];
            let port_class = self.ctx.facts.layout.port_class(port, half.class);
            let q = self.ctx.facts.layout.first_queue(half.class);
            let may = half.may_send(semantics.window)
                && half.pacing.next_send <= self.ctx.now
                && self.node.machines[port.index()]
                    .gate(&self.node.links, &self.ctx, port, port_class, q, self.ctx.facts.largest_wire)
                    .is_open(self.ctx.time())
                && !Holder::at(&self.node.links, &self.node.machines, port).holds(&self.ctx, flow);
            if semantics.turns == Turns::StandingList {
                self.ctx.run.pairs.senders[flow as usize].transport.on_poll();
            }
            if may { Found::MaySend } else { Found::Waits }
        });
        let nic = &mut self.device.nics[nic];
        nic.list = list;
        if flow.is_none() {
            nic.wake_later(&mut self.ctx, self.node.links.ports[port.index()].id);
        }
        flow
    }
}

impl Nic {
    /// Sets its one timer, unless it runs; its port is `id`.
    fn wake_later(&mut self, ctx: &mut Ctx<'_, '_>, id: PortId) {
        let flows = self.list.places.iter().filter(|&&flow| flow != FINISHED);
        let halves = flows.map(|&flow| &ctx.run.pairs.senders[flow as usize]);
        let left = halves.filter(|half| half.transport.has_more());
        let standing = ctx.facts.blueprint.semantics.turns == Turns::StandingList;
        let times = left.map(|half| half.pacing.next_send).filter(|&at| !standing || at > ctx.now);
        let at = times.min().filter(|&at| at > ctx.now);
        if let Some(at) = at
            && self.pacing_timer.at == NEVER
        {
            ctx.run.events.sync(&mut self.pacing_timer, Some(Time(at)), EventKind::Pacing, id.0);
        }
    }

    /// A queue pair's pacing time has moved to `at`: the NIC is not woken later.
    pub fn wake_earlier(&mut self, events: &mut Events, id: PortId, at: Time) {
        if self.pacing_timer.at != NEVER && at.0 < self.pacing_timer.at {
            events.sync(&mut self.pacing_timer, Some(at), EventKind::Pacing, id.0);
        }
    }
}

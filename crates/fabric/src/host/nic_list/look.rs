//! Search for the next queue pair at a NIC of the HPCC simulator, and its timer.

use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::Time;

use super::{FINISHED, Found};
use crate::network::blueprint::Turns;
use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::events::EventKind;
use crate::run::events::NEVER;

impl AtNode<'_, '_> {
    /// The queue pair that sends next from a host's port.
    pub fn next_in_list(&mut self, port: Local) -> Option<u32> {
        let nic = port.index();
        let mut list = std::mem::take(&mut self.node.host.nics[nic].list);
        let standing = self.ctx.facts.blueprint.semantics.turns == Turns::StandingList;
        let flow = list.turn(|flow| {
            let found = self.look(port, flow);
            if standing {
                self.ctx.run.pairs.senders[flow as usize].transport.on_poll();
            }
            found
        });
        self.node.host.nics[nic].list = list;
        if flow.is_none() {
            self.wake_later(port, nic);
        }
        flow
    }

    fn look(&self, port: Local, id: u32) -> Found {
        if id == FINISHED {
            return Found::Finished;
        }
        let half = &self.ctx.run.pairs.senders[id as usize];
        let port_class = self.ctx.facts.layout.port_class(port, half.class);
        let q = self.ctx.facts.layout.first_queue(half.class);
        let may = self.may_send(half)
            && half.pacing.next_send <= self.ctx.now
            && self.gate(port, port_class, q, self.ctx.facts.largest_wire).is_open(self.ctx.time())
            && !self.is_held(port.index(), id);
        if may { Found::MaySend } else { Found::Waits }
    }

    /// Sets the NIC's one timer, unless it runs.
    fn wake_later(&mut self, port: Local, nic: usize) {
        let flows = self.node.host.nics[nic].list.places.iter().filter(|&&flow| flow != FINISHED);
        let halves = flows.map(|&flow| &self.ctx.run.pairs.senders[flow as usize]);
        let left = halves.filter(|half| half.transport.has_more());
        let standing = self.ctx.facts.blueprint.semantics.turns == Turns::StandingList;
        let times = left.map(|half| half.pacing.next_send).filter(|&at| !standing || at > self.ctx.now);
        let at = times.min().filter(|&at| at > self.ctx.now);
        let timer = &mut self.node.host.nics[nic].pacing_timer;
        if let Some(at) = at
            && timer.at == NEVER
        {
            self.ctx.run.events.sync(
                timer,
                Some(Time(at)),
                EventKind::Pacing,
                self.node.links.ports[port.index()].id.0,
            );
        }
    }

    /// A queue pair's pacing time has moved to `at`: the NIC is not woken later.
    pub fn wake_earlier(&mut self, nic: Local, at: u64) {
        let timer = &mut self.node.host.nics[nic.index()].pacing_timer;
        if timer.at != NEVER && at < timer.at {
            let port = self.node.links.ports[nic.index()].id.0;
            self.ctx.run.events.sync(timer, Some(Time(at.max(self.ctx.now))), EventKind::Pacing, port);
        }
    }
}

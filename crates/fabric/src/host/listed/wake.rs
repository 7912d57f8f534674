//! Timer of a NIC that takes turns by the list of flows.

use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::Time;

use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::events::EventKind;
use crate::run::events::NEVER;

impl AtNode<'_, '_> {
    /// The NIC has found nothing to send: sets its timer, unless it runs or a pacing time is in the past.
    pub fn wake_by_list(&mut self, port: Local) {
        let nic = &self.node.host.nics[port.index()];
        if nic.pacing_timer.at != NEVER || self.node.host.pairs.to_start > 0 {
            return;
        }
        let mut least = NEVER;
        for slot in nic.ranks.slots() {
            let half = &self.ctx.run.pairs.senders[slot as usize];
            if half.transport.has_more() {
                least = least.min(half.pacing.next_send);
            }
            if least <= self.ctx.now {
                return;
            }
        }
        if least != NEVER {
            let id = self.node.links.id(port);
            let timer = &mut self.node.host.nics[port.index()].pacing_timer;
            self.ctx.run.events.sync(timer, Some(Time(least)), EventKind::Pacing, id.0);
        }
    }
}

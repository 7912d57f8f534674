//! Timer of a NIC that takes turns by the list of flows.

use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::{PortId, Time};

use crate::host::nic::Nic;
use crate::run::ctx::Ctx;
use crate::run::events::EventKind;
use crate::run::events::NEVER;

impl Nic {
    /// The NIC, whose port is `id`, has found nothing to send: sets its timer, unless it runs, a pacing time
    /// is in the past, or queue pairs of the host are still `to_start`.
    pub fn wake_by_list(&mut self, ctx: &mut Ctx<'_, '_>, id: PortId, to_start: u32) {
        if self.pacing_timer.at != NEVER || to_start > 0 {
            return;
        }
        let mut least = NEVER;
        for slot in self.ranks.slots() {
            let half = &ctx.run.pairs.senders[slot as usize];
            if half.transport.has_more() {
                least = least.min(half.pacing.next_send);
            }
            if least <= ctx.now {
                return;
            }
        }
        if least != NEVER {
            ctx.run.events.sync(&mut self.pacing_timer, Some(Time(least)), EventKind::Pacing, id.0);
        }
    }
}

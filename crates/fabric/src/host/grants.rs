//! Credit that a host grants to the connections that it receives.

use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::registry::ReactionParams;
use floodway_mechanisms::slots::{Granter, HostInfo};
use floodway_units::FlowId;

use crate::link::packet::{Kind, Packet};
use crate::run::at_node::AtHost;
use crate::run::events::EventKind;

impl AtHost<'_, '_> {
    /// A packet of a flow that is received here asks for credit up to a number. `at_once`: in any case.
    pub fn request_credit(&mut self, flow: FlowId, number: u64, at_once: bool) {
        let now = self.ctx.time();
        if self.device.granter.is_none() {
            self.device.granter = self.granter();
        }
        let Some(granter) = self.device.granter.as_mut() else { return };
        granter.on_request(now, flow, number, at_once);
        self.grant_credit();
    }

    /// The granter of the rate control of the run's flows that has one.
    fn granter(&self) -> Option<Box<dyn Granter>> {
        let facts = self.ctx.facts;
        let rate = self.node.links.rate(&self.ctx, Local::FIRST);
        let host = HostInfo { rate, largest_rtt: facts.largest.rtt };
        let mut layers = facts.blueprint.settings.iter().flat_map(|settings| &settings.rate_control);
        layers.find_map(|layer: &ReactionParams| layer.granter(&host))
    }

    /// A timer of a NIC that is not its pacing timer has come.
    #[inline(never)]
    pub fn grant_timer(&mut self, local: usize, order: u64) {
        let now = self.ctx.time();
        if self.device.nics[local].grant_timer.0.fires(now, order) {
            self.grant_credit();
        }
    }

    /// Grants what is due.
    fn grant_credit(&mut self) {
        let now = self.ctx.time();
        while let Some(granter) = self.device.granter.as_mut()
            && granter.next_timeout().is_some_and(|at| at <= now)
        {
            let Some(grant) = granter.on_timeout(now) else { continue };
            let smallest = self.ctx.facts.format.link_control().frame;
            let mut packet = Packet::message(Kind::ToSender, grant.flow, smallest, &grant.message);
            packet.flags |= self.ctx.run.pairs.receivers.of(grant.flow).reply_flag();
            self.send_reply(Local::FIRST, packet, None);
        }
        let next = self.device.granter.as_ref().and_then(|granter| granter.next_timeout());
        let id = self.node.links.id(Local::FIRST);
        let timer = &mut self.device.nics[0].grant_timer.0;
        self.ctx.run.events.sync(timer, next, EventKind::Pacing, id.0);
    }
}

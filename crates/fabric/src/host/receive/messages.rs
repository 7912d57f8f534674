//! Messages of the receiving half of a queue pair to its sender, and its timer.

use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::registry::AnyNotificationPoint;
use floodway_mechanisms::slots::{ControlMessage, Cx, NotificationPoint};
use floodway_units::{FlowId, Rng, Time};

use crate::host::nics::Host;
use crate::link::packet::{Kind, Packet};
use crate::run::at_node::AtHost;
use crate::run::ctx::Ctx;
use crate::run::events::{Events, QueuePairName};
use crate::run::own::{Timed, due_again};

impl AtHost<'_, '_> {
    /// Passes a message of the sender to the notification point.
    pub fn deliver_to_notification(&mut self, port: Local, flow: FlowId, message: &ControlMessage) {
        self.ctx.run.pairs.receivers.of_mut(flow).arrival_port = port;
        let rng = &mut self.node.streams.notification;
        self.device.call_notification(&mut self.ctx, rng, flow, |point, cx| point.on_message(cx, message));
        self.send_messages(port, flow);
    }

    /// A timer of a receiver has come.
    pub fn receiver_timer(&mut self, order: u64) {
        let rng = &mut self.node.streams.notification;
        if let Some((port, flow)) = self.device.receiver_timer(&mut self.ctx, rng, order) {
            self.send_messages(port, flow);
        }
    }

    /// Sends the messages of a flow's notification point, which has been called.
    fn send_messages(&mut self, port: Local, flow: FlowId) {
        let flag = self.ctx.run.pairs.receivers.of(flow).reply_flag();
        let smallest = self.ctx.facts.format.link_control().frame;
        let mut messages = std::mem::take(&mut self.ctx.run.out.messages.0);
        for message in messages.drain(..) {
            let mut packet = Packet::message(Kind::ToSender, flow, smallest, &message);
            packet.flags |= flag;
            self.send_reply(port, packet, None);
        }
        self.ctx.run.out.messages.0 = messages;
    }
}

impl Host {
    /// The receiver that a timer's event names, if it is open.
    fn receiver_of(&self, events: &Events, order: u64) -> Option<u32> {
        match events.queue_pair(order) {
            QueuePairName::Slot(slot) => Some(slot),
            QueuePairName::Ranked { nic, rank } => {
                self.nics[(nic - self.nics[0].number) as usize].receivers.get(rank)
            }
        }
    }

    /// A timer of a receiver has come: the flow whose notification point was called, and the port by which
    /// its messages leave.
    fn receiver_timer(
        &mut self,
        ctx: &mut Ctx<'_, '_>,
        rng: &mut Rng,
        order: u64,
    ) -> Option<(Local, FlowId)> {
        let now = ctx.time();
        let slot = self.receiver_of(&ctx.run.events, order)?;
        let half = ctx.run.pairs.receivers.of_mut(FlowId(slot));
        if !half.timer.fires(now, order) || !half.alive {
            return None;
        }
        // Without a fixed reverse path, it leaves by the port by which the last message arrived.
        let port = half.reply_port.unwrap_or(half.arrival_port);
        let due = half.notification.next_timeout().is_some_and(|at| at <= now);
        self.call_notification(ctx, rng, FlowId(slot), |point, cx| {
            if due {
                point.on_timeout(cx);
            }
        });
        let point = &ctx.run.pairs.receivers.of(FlowId(slot)).notification;
        if let Some(at) = due_again(due && point.is_custom(), || point.next_timeout(), now) {
            ctx.refuse_timer(Timed::Notification(FlowId(slot)), at);
        }
        Some((port, FlowId(slot)))
    }

    /// Calls the notification point of a flow, and arms its timer.
    fn call_notification(
        &mut self,
        ctx: &mut Ctx<'_, '_>,
        rng: &mut Rng,
        flow: FlowId,
        call: impl FnOnce(&mut AnyNotificationPoint, &mut Cx<'_, ControlMessage>),
    ) {
        let run = &mut *ctx.run;
        let mut cx = Cx { now: Time(ctx.now), rng, out: &mut run.out.messages };
        let half = run.pairs.receivers.of_mut(flow);
        call(&mut half.notification, &mut cx);
        let next = half.notification.next_timeout();
        if next.is_some() {
            let nic = &mut self.nics[0];
            let (key, _) = *half.timer_key.get_or_insert_with(|| {
                let rank = nic.receivers.next();
                nic.receivers.open(rank, flow.0);
                (run.events.queue_pair_key(nic.number, rank, flow.0), rank)
            });
            run.events.sync_receiver(&mut half.timer, next, key);
        }
    }
}

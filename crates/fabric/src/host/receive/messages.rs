//! Messages of the receiving half of a queue pair to its sender, and its timer.

use floodway_mechanisms::registry::AnyNotificationPoint;
use floodway_mechanisms::slots::{ControlMessage, Cx, NotificationPoint};
use floodway_units::{FlowId, Time};

use crate::link::packet::{Kind, Packet};
use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::events::QueuePairName;
use crate::run::own::{Timed, due_again};

impl AtNode<'_, '_> {
    /// A message of the sender has arrived.
    pub fn message_at_receiver(&mut self, port: Local, packet: &Packet) {
        let half = self.ctx.run.pairs.receivers.known_mut(packet.flow.index());
        half.in_network = half.in_network.wrapping_sub(1);
        self.deliver_to_notification(port, packet.flow, &packet.control_message());
    }

    /// Passes a message of the sender to the notification point.
    pub fn deliver_to_notification(&mut self, port: Local, flow: FlowId, message: &ControlMessage) {
        self.ctx.run.pairs.receivers.known_mut(flow.index()).arrival_port = port;
        self.call_notification(port, flow, |point, cx| point.on_message(cx, message));
    }

    /// A timer of a receiver has come.
    pub fn receiver_timer(&mut self, order: u64) {
        let now = Time(self.ctx.now);
        let slot = match self.ctx.run.events.queue_pair(order) {
            QueuePairName::Slot(slot) => Some(slot),
            QueuePairName::Ranked { nic, rank } => {
                self.node.host.nics[(nic - self.node.host.nics[0].number) as usize].receivers.get(rank)
            }
        };
        let Some(slot) = slot else { return };
        let half = self.ctx.run.pairs.receivers.known_mut(slot as usize);
        if !half.timer.fires(now, order) || !half.alive {
            return;
        }
        // Without a fixed reverse path, it leaves by the port by which the last message arrived.
        let port = half.reply_port.unwrap_or(half.arrival_port);
        let due = half.notification.next_timeout().is_some_and(|at| at <= now);
        self.call_notification(port, FlowId(slot), |point, cx| {
            if due {
                point.on_timeout(cx);
            }
        });
        let point = &self.ctx.run.pairs.receivers.known(slot as usize).notification;
        if let Some(at) = due_again(due && point.is_custom(), || point.next_timeout(), now) {
            self.refuse_timer(Timed::Notification(FlowId(slot)), at);
        }
    }

    /// Calls the notification point of a flow, sends its messages, and arms its timer.
    fn call_notification(
        &mut self,
        port: Local,
        flow: FlowId,
        call: impl FnOnce(&mut AnyNotificationPoint, &mut Cx<'_, ControlMessage>),
    ) {
        let rng = &mut self.node.streams.notification;
        let mut cx = Cx { now: Time(self.ctx.now), rng, out: &mut self.ctx.run.out.messages };
        let half = self.ctx.run.pairs.receivers.known_mut(flow.index());
        call(&mut half.notification, &mut cx);
        let next = half.notification.next_timeout();
        if next.is_some() {
            let nic = &mut self.node.host.nics[0];
            let (key, _) = *half.timer_key.get_or_insert_with(|| {
                let rank = nic.receivers.next();
                nic.receivers.open(rank, flow.0);
                (self.ctx.run.events.queue_pair_key(nic.number, rank, flow.0), rank)
            });
            self.ctx.run.events.sync_receiver(&mut half.timer, next, key);
        }
        let flag = half.reply_flag();
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

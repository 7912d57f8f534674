//! Messages of the sending half of a queue pair to its receiver.

use floodway_mechanisms::slots::{ControlMessage, ReactionPoint, TransportSender};
use floodway_units::{FlowId, Time};

use super::{SendHalf, layers};
use crate::link::arena::{Extra, PacketRef};
use crate::link::packet::{Kind, ON_PATH, Packet};
use crate::run::at_node::AtNode;

impl SendHalf {
    /// What goes with the data packet that starts now.
    pub fn with_data(&mut self, now: Time) -> Option<ControlMessage> {
        let mut message = None;
        layers(self, now, |layer| {
            if layer.has_messages() {
                message = message.or(layer.with_data(now));
            }
        });
        message
    }

    /// Takes note of whether a layer holds all packets back.
    pub fn update_closed(&mut self) {
        self.layers.closed = self.stack.iter().any(|layer| layer.has_messages() && !layer.is_open());
        if self.layers.closed {
            self.allowance.window = floodway_units::Bytes::ZERO;
        }
    }

    /// The next message of a layer to the receiver.
    fn next_message(&mut self, now: Time) -> Option<ControlMessage> {
        self.stack.iter_mut().filter(|layer| layer.has_messages()).find_map(|layer| layer.next_message(now))
    }
}

impl AtNode<'_, '_> {
    /// A message of the receiver has arrived.
    pub fn message_at_sender(&mut self, packet: &Packet) {
        let (now, message) = (self.ctx.time(), packet.control_message());
        let half = self.ctx.run.pairs.senders.known_mut(packet.flow.index());
        half.in_network = half.in_network.wrapping_sub(1);
        layers(half, now, |layer| {
            if layer.has_messages() {
                layer.on_message(now, &message);
            }
        });
        self.stack_changed(packet.flow.0);
        self.try_transmit_at_nic(packet.flow.0);
        self.try_transmit_repeats(packet.flow.0);
    }

    /// Tells the layers whether there is something to send, if that has changed, and sends their messages.
    #[inline(never)]
    pub fn exchange(&mut self, id: u32) {
        let now = self.ctx.time();
        let half = self.ctx.run.pairs.senders.known_mut(id as usize);
        let demand = half.transport.ready().is_some();
        if demand != half.layers.demand {
            half.layers.demand = demand;
            layers(half, now, |layer| {
                if layer.has_messages() {
                    layer.on_demand(now, demand);
                }
            });
            // That asks again, and sends their messages.
            return self.stack_changed(id);
        }
        loop {
            let half = self.ctx.run.pairs.senders.known_mut(id as usize);
            let Some(message) = half.next_message(now) else { return };
            let smallest = self.ctx.facts.format.link_control().frame;
            let mut packet = Packet::message(Kind::ToReceiver, FlowId(id), smallest, &message);
            packet.flags |= if half.on_path { ON_PATH } else { 0 };
            let nic = half.nic;
            half.in_network = half.in_network.wrapping_add(1);
            self.ctx.run.kept.records.injected(u64::from(packet.frame));
            let packet_ref = self.ctx.run.packets.add(packet);
            self.send_control(nic, packet_ref);
        }
    }

    /// Gives a data packet a message that goes with it.
    pub fn attach_message(&mut self, packet_ref: PacketRef, message: ControlMessage) {
        let extra = self.ctx.run.out.boxed(Extra::Message(message));
        self.ctx.run.packets.attach(packet_ref, extra);
    }
}

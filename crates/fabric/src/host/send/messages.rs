//! Messages of the sending half of a queue pair to its receiver.

use floodway_mechanisms::slots::{Backlog, Query, ReactionPoint, Room, TransportSender};
use floodway_units::{Bytes, FlowId, Time};

use super::{Called, SendHalf, layers};
use crate::link::extra::Extra;
use crate::link::packet::{Kind, ON_PATH, Packet};
use crate::run::at_node::AtHost;

impl SendHalf {
    /// What goes with the data packet that starts now: its header, or a message.
    /// `sharing`: queue pairs that may send now at its NIC.
    pub fn with_data(&mut self, now: Time, sharing: u64) -> Option<Extra> {
        if self.transport.has_headers() {
            return Some(self.header(now, sharing));
        }
        let mut message = None;
        layers(self, now, |layer| {
            if layer.has_messages() {
                message = message.or(layer.with_data(now));
            }
        });
        message.map(Extra::Message)
    }

    /// The header of the data packet that starts now. Where receivers grant credit, the packet spends some.
    fn header(&mut self, now: Time, sharing: u64) -> Extra {
        let room = self.room(now, Backlog { sharing, ..self.transport.backlog() });
        Extra::Header(self.transport.header(now, &room))
    }

    /// What limits it from now on, where a packet starts that takes its part of the credit.
    fn room(&mut self, now: Time, backlog: Backlog) -> Room {
        let window = self.allowance.window;
        let mut wants = 0;
        layers(self, now, |layer| {
            if layer.has_messages() {
                wants = layer.spend(now, backlog, window).max(wants);
            }
        });
        let closed = self.stack.iter().any(|layer| layer.has_messages() && !layer.is_open());
        Room { window, closed, wants }
    }

    /// The next packet without payload that asks for a report, which is on its way now; it takes `frame`
    /// bytes.
    fn next_query(&mut self, id: u32, now: Time, frame: Bytes) -> Option<(Packet, Option<Extra>)> {
        let backlog = Backlog { started: Bytes::ZERO, sharing: 1, ..self.transport.backlog() };
        let room = self.room(now, backlog);
        let header = self.transport.next_query(now, &room)?;
        let mut packet = Packet::new(Kind::Query, FlowId(id), frame);
        (packet.word, packet.stamp) = (header.number, now.0);
        packet.class = if header.query == Some(Query::Probe) { self.class } else { 0 };
        packet.flags |= if self.on_path { ON_PATH } else { 0 };
        self.in_network = self.in_network.wrapping_add(1);
        Some((packet, Some(Extra::Header(header))))
    }

    /// Takes note of whether a layer holds all packets back.
    pub fn update_closed(&mut self) {
        self.layers.closed = self.stack.iter().any(|layer| layer.has_messages() && !layer.is_open());
        if self.layers.closed {
            self.allowance.window = Bytes::ZERO;
        }
    }

    /// Tells the layers whether there is something to send, if that has changed; has it?
    fn tell_demand(&mut self, now: Time) -> bool {
        let demand = self.transport.ready().is_some();
        if demand == self.layers.demand {
            return false;
        }
        self.layers.demand = demand;
        layers(self, now, |layer| {
            if layer.has_messages() {
                layer.on_demand(now, demand);
            }
        });
        true
    }

    /// The packet of the next message of a layer to the receiver, which is on its way now; `smallest` is the
    /// smallest frame.
    fn next_message(&mut self, id: u32, now: Time, smallest: Bytes) -> Option<Packet> {
        let mut layers = self.stack.iter_mut().filter(|layer| layer.has_messages());
        let message = layers.find_map(|layer| layer.next_message(now))?;
        let mut packet = Packet::message(Kind::ToReceiver, FlowId(id), smallest, &message);
        packet.flags |= if self.on_path { ON_PATH } else { 0 };
        self.in_network = self.in_network.wrapping_add(1);
        Some(packet)
    }

    /// A message of the receiver has arrived.
    pub fn receive_message(&mut self, now: Time, packet: &Packet) -> Called {
        let message = packet.control_message();
        self.in_network = self.in_network.wrapping_sub(1);
        layers(self, now, |layer| {
            if layer.has_messages() {
                layer.on_message(now, &message);
            }
        });
        Called { layers: true, looks: true, repeats: true }
    }
}

impl AtHost<'_, '_> {
    /// Tells the layers whether there is something to send, if that has changed, and sends their messages; or
    /// sends the packets without payload of its transport, if `queries`.
    #[inline(never)]
    pub fn exchange(&mut self, id: u32, queries: bool) {
        let now = self.ctx.time();
        if !queries && self.ctx.run.pairs.senders.of_mut(FlowId(id)).tell_demand(now) {
            // That asks again, and sends their messages.
            return self.stack_changed(id);
        }
        let format = &self.ctx.facts.format;
        let (smallest, empty) = (format.link_control().frame, format.trimmed().frame);
        loop {
            let half = self.ctx.run.pairs.senders.of_mut(FlowId(id));
            let next = if queries {
                half.next_query(id, now, empty)
            } else {
                half.next_message(id, now, smallest).map(|packet| (packet, None))
            };
            let Some((packet, header)) = next else { return };
            if queries {
                half.arm(&mut self.ctx.run.events, now);
            }
            let nic = half.nic;
            self.ctx.run.kept.records.injected(u64::from(packet.frame));
            let packet_ref = self.ctx.run.packets.add(packet);
            if let Some(header) = header {
                let header = self.ctx.run.out.boxed(header);
                self.ctx.run.packets.attach(packet_ref, header);
            }
            self.send_control(nic, packet_ref);
        }
    }
}

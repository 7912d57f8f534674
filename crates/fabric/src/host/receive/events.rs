//! Events of the receiving half of a queue pair: data, and the replies to it.

use floodway_blueprint::network::blueprint::Acks;
use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::{
    Cx, Header, Mark, NotificationPoint, Observes, Reply, Segment, TransportReceiver,
};
use floodway_units::{Bytes, Time};

use crate::host::receive::ReceiveHalf;
use crate::link::extra::Extra;
use crate::link::packet::{FIRST, INT, Kind, LAST, Packet, RETRANSMISSION};
use crate::run::at_node::AtHost;

impl AtHost<'_, '_> {
    /// Data has arrived at a host, with its records, if it has any.
    pub fn receive_data(&mut self, port: Local, packet: &Packet, mut extra: Option<Box<Extra>>) {
        let id = packet.flow.0;
        let segment = segment_of(packet);
        let now = Time(self.ctx.now);
        if let Some(Extra::Header(header)) = extra.as_deref() {
            let header = *header;
            self.ctx.run.out.extras.extend(extra);
            return self.receive_with_header(port, packet, &segment, &header);
        }
        let half = self.ctx.run.pairs.receivers.of_mut(packet.flow);
        half.in_network = half.in_network.wrapping_sub(1);
        half.count(packet);
        self.ctx.run.kept.records.latency(
            half.workload,
            self.ctx.now - packet.stamp,
            packet.base,
            packet.paused,
        );
        let streams = &mut self.node.streams;
        let mut cx = Cx { now, rng: &mut streams.reliability, out: &mut self.ctx.run.out.replies };
        let accepted = half.receiver.on_segment(&mut cx, &segment);
        self.ctx.run.kept.records.accepted(half.workload, accepted.0);
        let observed = half.observes(packet);
        self.accept(id, packet.psn(), accepted.0);
        if observed {
            self.notify(port, packet);
        }
        if let Some(Extra::Message(message)) = extra.as_deref() {
            let message = *message;
            self.ctx.run.out.extras.extend(extra.take());
            self.deliver_to_notification(port, packet.flow, &message);
        }
        if !self.ctx.run.out.replies.0.is_empty() {
            self.send_replies(port, packet, extra);
        }
    }

    /// The same of a packet with a header: its receiver answers with reports.
    #[inline(never)]
    fn receive_with_header(&mut self, port: Local, packet: &Packet, segment: &Segment, header: &Header) {
        let now = Time(self.ctx.now);
        let half = self.ctx.run.pairs.receivers.of_mut(packet.flow);
        half.in_network = half.in_network.wrapping_sub(1);
        half.count(packet);
        let (waited, workload) = (self.ctx.now - packet.stamp, half.workload);
        self.ctx.run.kept.records.latency(workload, waited, packet.base, packet.paused);
        let streams = &mut self.node.streams;
        let mut cx = Cx { now, rng: &mut streams.reliability, out: &mut self.ctx.run.out.reports };
        let is_marked = packet.mark() != Mark::None;
        let accepted = half.receiver.on_packet(&mut cx, segment, header, is_marked);
        let observed = half.observes(packet);
        self.ctx.run.kept.records.accepted(workload, accepted.0);
        self.accept(packet.flow.0, packet.psn(), accepted.0);
        if observed {
            self.notify(port, packet);
        }
        self.send_reports(port, packet);
        if header.wants > 0 {
            self.request_credit(packet.flow, header.wants, false);
        }
    }

    /// A packet has arrived at a host without its payload, or has none and asks for a report.
    #[inline(never)]
    pub fn receive_empty(&mut self, port: Local, packet: &Packet, extra: Option<Box<Extra>>) {
        let now = Time(self.ctx.now);
        let half = self.ctx.run.pairs.receivers.of_mut(packet.flow);
        half.in_network = half.in_network.wrapping_sub(1);
        let Some(Extra::Header(header)) = extra.as_deref() else { return };
        let last_hop = packet.cut_at_last_hop();
        let streams = &mut self.node.streams;
        let mut cx = Cx { now, rng: &mut streams.reliability, out: &mut self.ctx.run.out.reports };
        let is_marked = packet.mark() != Mark::None;
        if packet.kind == Kind::Query {
            half.receiver.on_query(&mut cx, header, is_marked);
        } else {
            half.receiver.on_trimmed(&mut cx, &segment_of(packet), header, is_marked, last_hop);
        }
        let wants = header.wants;
        self.ctx.run.out.extras.extend(extra);
        self.send_reports(port, packet);
        if wants > 0 {
            self.request_credit(packet.flow, wants, true);
        }
    }

    /// Sends what the receiver reports of `packet`.
    fn send_reports(&mut self, port: Local, packet: &Packet) {
        for i in 0..self.ctx.run.out.reports.0.len() {
            let report = self.ctx.run.out.reports.0[i];
            let half = self.ctx.run.pairs.receivers.of(packet.flow);
            let frame = Bytes(u64::from(half.reply_frame));
            let mut answer = Packet::new(Kind::Report, packet.flow, frame);
            answer.set_psn_of_report(report.next, packet);
            answer.stamp = packet.stamp;
            answer.add_mark(packet.mark());
            answer.flags |= half.reply_flag();
            let extra = self.ctx.run.out.boxed(Extra::Report(report));
            self.send_reply(port, answer, Some(extra));
        }
        self.ctx.run.out.reports.0.clear();
    }

    /// Calls the notification point for a packet, and sends its CNPs.
    fn notify(&mut self, port: Local, packet: &Packet) {
        let view = self.node.links.packet_view(&self.ctx, packet);
        let streams = &mut self.node.streams;
        let now = Time(self.ctx.now);
        let mut cx = Cx { now, rng: &mut streams.notification, out: &mut self.ctx.run.out.cnps };
        let half = self.ctx.run.pairs.receivers.of_mut(packet.flow);
        half.notification.on_data(&mut cx, &view);
        let flag = half.reply_flag();
        let (out, class) = (half.reply_port.unwrap_or(port), half.class);
        let mut cnps = std::mem::take(&mut self.ctx.run.out.cnps.0);
        let port_class = self.ctx.facts.layout.port_class(out, class);
        self.node.links.egress.of_mut(port_class).rare.receiver_cnps += cnps.len() as u64;
        for cnp in cnps.drain(..) {
            let mut packet = Packet::notifying(&cnp, self.ctx.facts.format.cnp().frame);
            packet.flags |= flag;
            self.send_reply(port, packet, None);
        }
        self.ctx.run.out.cnps.0 = cnps;
    }

    /// Sends what the receiver answers to `packet`, with the records that came with it.
    fn send_replies(&mut self, port: Local, packet: &Packet, mut extra: Option<Box<Extra>>) {
        // One by one in place: taking the list out and putting it back costs as much as a reply.
        for i in 0..self.ctx.run.out.replies.0.len() {
            let reply = self.ctx.run.out.replies.0[i];
            let half = self.ctx.run.pairs.receivers.of(packet.flow);
            let answer = half.answer(packet, reply, self.ctx.facts.blueprint.semantics.acks);
            if half.sends_flags && answer.mark() != Mark::None {
                let port_class =
                    self.ctx.facts.layout.port_class(half.reply_port.unwrap_or(port), half.class);
                self.node.links.egress.of_mut(port_class).rare.cnp_flags += 1;
            }
            let is_last = i + 1 == self.ctx.run.out.replies.0.len();
            let records = if is_last { extra.take() } else { extra.clone() };
            self.send_reply(port, answer, records);
        }
        self.ctx.run.out.replies.0.clear();
    }

    /// Sends what answers data from a host's port, or by the flow's own reverse path, with the records of
    /// what it answers.
    #[inline]
    pub fn send_reply(&mut self, port: Local, packet: Packet, records: Option<Box<Extra>>) {
        let half = self.ctx.run.pairs.receivers.of_mut(packet.flow);
        let out = half.reply_port.unwrap_or(port);
        half.in_network = half.in_network.wrapping_add(1);
        self.ctx.run.kept.records.injected(u64::from(packet.frame));
        let packet_ref = self.ctx.run.packets.add(packet);
        if let Some(records) = records {
            self.ctx.run.packets.attach(packet_ref, records);
        }
        self.send_control(out, packet_ref);
    }
}

/// A packet, as reliability sees it.
#[inline]
fn segment_of(packet: &Packet) -> Segment {
    Segment {
        psn: packet.psn(),
        payload: Bytes(u64::from(packet.payload)),
        first: packet.has(FIRST),
        last: packet.has(LAST),
        retransmission: packet.has(RETRANSMISSION),
    }
}

impl ReceiveHalf {
    /// Is its notification point called for a packet?
    #[inline]
    fn observes(&self, packet: &Packet) -> bool {
        self.observes == Observes::All || self.observes == Observes::Marked && packet.mark() != Mark::None
    }

    /// The packet of a reply to `packet`.
    #[inline]
    fn answer(&self, packet: &Packet, reply: Reply, acks: Acks) -> Packet {
        let mut answer = Packet::new(Kind::Ack, packet.flow, Bytes(u64::from(self.reply_frame)));
        if acks != Acks::Control {
            answer.class = self.class;
        }
        answer.set_reply(reply, packet);
        answer.stamp = packet.stamp;
        answer.add_mark(packet.mark());
        if reply.reports_gap() && self.receiver.marks_disorder() {
            answer.add_mark(Mark::Ce);
        }
        answer.flags |= packet.flags & INT | self.reply_flag();
        answer
    }
}

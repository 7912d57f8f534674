//! A host: queue pairs take turns at its NICs, and what arrives is answered.

use std::cmp::Reverse;

use floodway_mechanisms::registry::AnyReactionPoint;
use floodway_mechanisms::slots::{
    AckView, Cx, DropReason, LossView, Mark, Notice, NotificationPoint as _, ReactionPoint, ReadyView,
    Scheduler as _, Segment, TransportReceiver as _, TransportSender as _,
};
use floodway_units::{Bytes, FlowId, PortId, Span, Time};
use floodway_wire::Telemetry;

use crate::agenda::{Set, What};
use crate::arena::Place;
use crate::blueprint::{Acks, Ties, WindowRule};
use crate::flows::Flow;
use crate::packet::{FIRST, INT, Kind, LAST, ON_PATH, Packet, REPLY, RETRANSMISSION};
use crate::serial::pacing_gap;
use crate::world::{NEVER, Nic, World, bytes};

impl World<'_> {
    /// The transmitter of a host's port is free: the next queue pair sends a packet.
    pub fn send_from_nic(&mut self, port: PortId) {
        let Some((id, segment)) = self.whose_turn(port) else { return };
        let now = Time(self.now);
        let class = self.flows[id as usize].class;
        let packet = self.data_packet(id, class, &segment);
        let wire = self.wire(packet.frame);
        let flow = &mut self.flows[id as usize];
        flow.in_network += 1;
        if segment.retransmission {
            flow.message_of(segment.psn).retransmitted += segment.payload.0;
        }
        layers(flow, now, |layer| layer.on_sent(now, bytes(wire)));
        flow.last_send = (self.now, wire);
        if flow.paced {
            let rounding = self.blueprint.semantics.rounding;
            flow.next_send = self.now + pacing_gap(flow.allowance.rate, wire, rounding);
        }
        self.records.injected(u64::from(packet.frame));
        let lane = self.lane(port, class);
        self.sent(port, lane, wire);
        if self.classes.len() > 2 {
            let id = self.queue_id(self.first_queue(class));
            self.machines[port.index()].scheduler.on_sent(now, id, bytes(wire));
        }
        self.count_sent(port, lane, packet.frame);
        let place = self.packets.add(packet);
        if packet.has(INT) {
            self.telemetry.begin(place);
        }
        self.put_on_link(port, place);
        if segment.last && !self.flows[id as usize].has_acks {
            self.left_nic(id, segment.psn, self.ports[port.index()].free_at);
        }
        self.stack_changed(id);
    }

    /// The queue pair that sends next, and what.
    fn whose_turn(&mut self, port: PortId) -> Option<(u32, Segment)> {
        let now = Time(self.now);
        if self.blueprint.semantics.turns.by_list() {
            let id = self.next_in_list(port)?;
            return self.flows[id as usize].sender.next_segment(now).map(|segment| (id, segment));
        }
        let class = self.pick_class(port)? as usize;
        let local = self.ports[port.index()].owner as usize;
        loop {
            if self.nics[local].repeating > 0
                && let Some(repeat) = self.next_repeat(local, class)
            {
                return Some(repeat);
            }
            let nic = &mut self.nics[local];
            if let Some(rank) = nic.ready[class].next_after(nic.last[class]) {
                nic.last[class] = rank;
                let id = nic.flows[rank as usize];
                return self.flows[id as usize].sender.next_segment(now).map(|segment| (id, segment));
            }
            // What stands behind entries that were passed over has no timer. SWING's simulator leaves it until
            // something else wakes the NIC.
            if nic.repeats[class].is_empty() || self.blueprint.semantics.ties == Ties::SchedulingOrder {
                return None;
            }
        }
    }

    /// What is sent again before new data: of each queue pair with some, from the one after the last served on,
    /// the oldest entry is looked at; one that was acknowledged meanwhile is passed over.
    fn next_repeat(&mut self, local: usize, class: usize) -> Option<(u32, Segment)> {
        let nic = &mut self.nics[local];
        let mut rank = nic.last[class];
        for _ in 0..nic.repeats[class].len() {
            rank = nic.repeats[class].next_after(rank)?;
            let id = nic.flows[rank as usize];
            let flow = &mut self.flows[id as usize];
            let repeat = flow.sender.next_repeat(Time(self.now));
            flow.update_repeats(nic);
            if let Some(segment) = repeat {
                nic.last[class] = rank;
                return Some((id, segment));
            }
        }
        None
    }

    fn data_packet(&self, id: u32, class: u8, segment: &Segment) -> Packet {
        let flow = &self.flows[id as usize];
        let size = self.format.data_with(segment.payload, segment.first, flow.telemetry);
        let mut packet = Packet::new(Kind::Data, FlowId(id), size.frame);
        packet.psn = segment.psn;
        packet.payload = segment.payload.0 as u16;
        packet.stamp = self.now;
        packet.class = class;
        packet.flags = if segment.first { FIRST } else { 0 }
            | if segment.last { LAST } else { 0 }
            | if segment.retransmission { RETRANSMISSION } else { 0 }
            | if flow.telemetry == Telemetry::Int { INT } else { 0 }
            | if flow.path.is_empty() { 0 } else { ON_PATH };
        packet
    }

    pub fn first_queue(&self, class: u8) -> usize {
        (class as usize - 1) * self.subs + 1
    }

    /// The class whose queue pairs send next.
    fn pick_class(&mut self, port: PortId) -> Option<u8> {
        let local = self.ports[port.index()].owner as usize;
        // The size of the next frame is known only once a queue pair is chosen: the largest one stands for it.
        let largest = self.largest_wire;
        if self.classes.len() == 2 {
            let nic = &self.nics[local];
            let open = (nic.repeating > 0 || !nic.ready[1].is_empty())
                && self.gate(port, self.lane(port, 1), 1, largest).is_open(self.time());
            return open.then_some(1);
        }
        let mut ready = std::mem::take(&mut self.out.ready);
        ready.clear();
        for class in 1..self.classes.len() as u8 {
            let nic = &self.nics[local];
            let waiting = (nic.ready[class as usize].len() + nic.repeats[class as usize].len()) as u64;
            if waiting > 0 {
                let q = self.first_queue(class);
                let gate = self.gate(port, self.lane(port, class), q, largest);
                let len = bytes(waiting * largest);
                ready.push(ReadyView { queue: self.queue_id(q), len, head: bytes(largest), gate });
            }
        }
        let now = Time(self.now);
        let picked =
            if ready.is_empty() { None } else { self.machines[port.index()].scheduler.pick(now, &ready) };
        self.out.ready = ready;
        picked.map(|id| self.dense(id.class))
    }

    /// Puts a queue pair where it belongs: in the ring, in the pacing heap, or nowhere.
    pub fn update_qp(&mut self, id: u32) {
        let flow = &mut self.flows[id as usize];
        let nic = &mut self.nics[flow.nic as usize];
        let semantics = &self.blueprint.semantics;
        if semantics.turns.by_list() {
            // It is looked at when its turn comes.
            return;
        }
        if flow.repeats_first {
            flow.update_repeats(nic);
        }
        let eligible = flow.may_send(semantics.window);
        let ready = eligible && flow.next_send <= self.now;
        if ready != flow.is_ready {
            flow.is_ready = ready;
            let ring = &mut nic.ready[flow.class as usize];
            if ready {
                ring.insert(flow.rank);
            } else {
                ring.remove(flow.rank);
            }
        }
        if eligible && !ready && flow.pacing_at != flow.next_send {
            flow.pacing_at = flow.next_send;
            nic.pacing.push(Reverse((flow.next_send, flow.rank)));
            let next = nic.pacing.peek().map(|Reverse((at, _))| Time(*at));
            let port = nic.port.0;
            self.events.sync(&mut nic.pacing_timer, next, What::Pacing, port);
        }
    }

    /// Has a queue pair something to send, and room for it in its window?
    pub fn may_send(&self, flow: &Flow) -> bool {
        flow.may_send(self.blueprint.semantics.window)
    }

    /// Queue pairs whose pacing time has come may send.
    pub fn pacing_timer(&mut self, port: usize, order: u64) {
        let local = self.ports[port].owner as usize;
        if !self.nics[local].pacing_timer.fires(order) {
            return;
        }
        while let Some(&Reverse((at, rank))) = self.nics[local].pacing.peek() {
            if at > self.now {
                break;
            }
            self.nics[local].pacing.pop();
            let id = self.nics[local].flows[rank as usize];
            // An entry that is older than the time at which it waits now.
            if id != u32::MAX && self.flows[id as usize].pacing_at == at {
                self.flows[id as usize].pacing_at = NEVER;
                self.update_qp(id);
            }
        }
        let nic = &mut self.nics[local];
        let next = nic.pacing.peek().map(|Reverse((at, _))| Time(*at));
        self.events.sync(&mut nic.pacing_timer, next, What::Pacing, port as u32);
        self.kick(PortId(port as u32));
    }

    /// A packet has arrived at a host.
    #[inline(never)]
    pub fn host_receives(&mut self, port: PortId, place: Place) {
        let packet = &self.packets.take(place);
        self.records.delivered(u64::from(packet.frame));
        match packet.kind {
            Kind::Data => self.receive_data(port, packet, place),
            Kind::Cnp => self.receive_notice(packet),
            _ => self.receive_reply(packet, place),
        }
        self.left_network(packet.flow);
    }

    /// `place` is where the packet was.
    fn receive_data(&mut self, port: PortId, packet: &Packet, place: Place) {
        let id = packet.flow.0;
        let segment = Segment {
            psn: packet.psn,
            payload: Bytes(u64::from(packet.payload)),
            first: packet.has(FIRST),
            last: packet.has(LAST),
            retransmission: packet.has(RETRANSMISSION),
        };
        let view = self.packet_view(packet);
        let node = self.ports[port.index()].node.index();
        let now = Time(self.now);
        let flow = &mut self.flows[packet.flow.index()];
        self.records.latency(flow.workload, self.now - packet.stamp, packet.base, packet.paused);
        let mut cx = Cx { now, rng: &mut self.nodes[node].streams.reliability, out: &mut self.out.replies };
        let accepted = flow.receiver.on_segment(&mut cx, &segment);
        self.records.accepted(flow.workload, accepted.0);
        self.accept(id, packet.psn, accepted.0);
        let flow = &mut self.flows[packet.flow.index()];
        let mut cx = Cx { now, rng: &mut self.nodes[node].streams.notification, out: &mut self.out.notices };
        flow.notification.on_data(&mut cx, &view);
        let mut notices = std::mem::take(&mut self.out.notices.0);
        for notice in notices.drain(..) {
            let cnp = self.notice_packet(id, &notice, true);
            self.send_reply(port, cnp, None);
        }
        self.out.notices.0 = notices;
        let mut replies = std::mem::take(&mut self.out.replies.0);
        for reply in replies.drain(..) {
            let flow = &self.flows[packet.flow.index()];
            let size = self.format.ack_with(flow.telemetry);
            let mut answer = Packet::new(Kind::Ack, packet.flow, size.frame);
            if self.blueprint.semantics.acks != Acks::Control {
                answer.class = flow.class;
            }
            answer.set_reply(reply);
            answer.stamp = packet.stamp;
            answer.add_mark(packet.mark());
            if reply.tells_of_gap() && flow.receiver.marks_disorder() {
                answer.add_mark(Mark::Ce);
            }
            answer.flags |= REPLY | packet.flags & INT | self.reply_path_flag(id);
            self.send_reply(port, answer, packet.has(INT).then_some(place));
        }
        self.out.replies.0 = replies;
    }

    fn reply_path_flag(&self, id: u32) -> u8 {
        if self.flows[id as usize].ack_path.is_empty() { 0 } else { ON_PATH }
    }

    fn notice_packet(&self, id: u32, notice: &Notice, on_path: bool) -> Packet {
        let mut cnp = Packet::new(Kind::Cnp, FlowId(id), self.format.cnp().frame);
        cnp.set_notice(notice);
        cnp.flags |= REPLY | if on_path { self.reply_path_flag(id) } else { 0 };
        cnp
    }

    /// Sends what answers data from a host's port, or by the flow's own way back, with the records of the
    /// packet that was at `answered`.
    fn send_reply(&mut self, port: PortId, packet: Packet, answered: Option<Place>) {
        let out = self.flows[packet.flow.index()].ack_path.first().copied().unwrap_or(port);
        self.flows[packet.flow.index()].in_network += 1;
        self.records.injected(u64::from(packet.frame));
        let place = self.packets.add(packet);
        if let Some(answered) = answered {
            self.telemetry.copy(answered, place);
        }
        self.send_control(out, place);
    }

    /// A switch sends a CNP to the source of a flow.
    pub fn notify_source(&mut self, port: PortId, notice: &Notice) {
        let id = notice.flow.0;
        let mut cnp = self.notice_packet(id, notice, false);
        cnp.ingress = port;
        let flow = &mut self.flows[id as usize];
        flow.in_network += 1;
        self.records.injected(u64::from(cnp.frame));
        if let Some(out) = self.route(port, &cnp) {
            let place = self.packets.add(cnp);
            self.send_control(out, place);
        } else {
            let lane = self.lane(port, 0);
            self.drop_packet(lane, &cnp, DropReason::NoRoute);
        }
    }

    fn receive_notice(&mut self, packet: &Packet) {
        let now = self.time();
        let notice = packet.notice();
        let flow = &mut self.flows[packet.flow.index()];
        flow.at_work().cnps += 1;
        layers(flow, now, |layer| layer.on_notice(now, &notice));
        self.stack_changed(packet.flow.0);
        self.kick_nic(packet.flow.0);
    }

    /// `place` is where the packet was.
    fn receive_reply(&mut self, packet: &Packet, place: Place) {
        let now = self.time();
        let flow = &mut self.flows[packet.flow.index()];
        let reply = packet.reply();
        let (acked, loss) = flow.sender.on_reply(now, reply);
        let next = flow.sender.acknowledged(reply);
        let view = AckView {
            acked,
            next,
            sent: flow.sender.next_psn(),
            rtt: Span(self.now - packet.stamp),
            in_flight: flow.sender.in_flight(),
            marked: packet.mark(),
            int: if packet.has(INT) { self.telemetry.of(place) } else { &[] },
        };
        layers(flow, now, |layer| layer.on_ack(now, &view));
        if let Some(loss) = loss {
            layers(flow, now, |layer| layer.on_loss(now, &loss));
        }
        self.acknowledged(packet.flow.0, next);
        self.stack_changed(packet.flow.0);
        self.kick_nic(packet.flow.0);
        self.kick_repeats(packet.flow.0);
    }

    /// A timer of a queue pair has come: its transport's, or a layer's.
    pub fn qp_timer(&mut self, id: u32, order: u64) {
        let now = self.time();
        let flow = &mut self.flows[id as usize];
        if !flow.timer.fires(order) || !flow.alive {
            return;
        }
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        let loss = due(flow.sender.next_timeout()).then(|| flow.sender.on_timeout(now)).flatten();
        if let Some(loss) = loss {
            flow.at_work().timeouts += 1;
            layers(flow, now, |layer| layer.on_loss(now, &LossView { timeout: true, ..loss }));
        }
        layers(flow, now, |layer| {
            if due(layer.next_timeout()) {
                layer.on_timeout(now);
            }
        });
        self.stack_changed(id);
        self.kick_nic(id);
        if loss.is_some() {
            self.kick_repeats(id);
        }
    }

    /// The machines of a queue pair have been called: takes what they allow and when they want to be called.
    fn stack_changed(&mut self, id: u32) {
        let flow = &mut self.flows[id as usize];
        let mut next = flow.sender.next_timeout();
        let mut set = flow.sender.timeout_set().map_or(Set::Now, Set::At);
        if !flow.constant
            && let Some(layers) = flow.stack.iter().filter_map(ReactionPoint::next_timeout).min()
            && next.is_none_or(|next| layers <= next)
        {
            (next, set) = (Some(layers), Set::Now);
        }
        if flow.alive && !flow.sender_done {
            self.events.sync_set(&mut flow.timer, next, What::QueuePair, id, set);
        }
        if flow.constant {
            self.update_qp(id);
        } else {
            self.allowance_changed(id);
        }
    }

    #[inline]
    pub fn kick_nic(&mut self, id: u32) {
        let flow = &self.flows[id as usize];
        if flow.is_ready || self.blueprint.semantics.turns.by_list() {
            self.kick(self.nics[flow.nic as usize].port);
        }
    }

    /// Lets the NIC look at what is to be sent again, of whichever flow: a look passes over one outdated entry of
    /// each only.
    fn kick_repeats(&mut self, id: u32) {
        let flow = &self.flows[id as usize];
        let nic = &self.nics[flow.nic as usize];
        if flow.repeats_first && nic.repeating > 0 {
            self.kick(nic.port);
        }
    }
}

impl Flow {
    /// Takes note of whether it has something to send again before new data.
    fn update_repeats(&mut self, nic: &mut Nic) {
        let has = self.sender.has_repeats();
        if has == self.is_repeating {
            return;
        }
        self.is_repeating = has;
        let ring = &mut nic.repeats[self.class as usize];
        if has {
            ring.insert(self.rank);
            nic.repeating += 1;
        } else {
            ring.remove(self.rank);
            nic.repeating -= 1;
        }
    }

    #[inline]
    fn may_send(&self, rule: WindowRule) -> bool {
        self.sender.ready().is_some_and(|payload| {
            let (in_flight, window) = (self.sender.in_flight(), self.allowance.window);
            // A window below one packet still lets one go.
            in_flight == Bytes::ZERO
                || !self.sender.needs_room()
                || match rule {
                    WindowRule::Whole => in_flight.0 + payload.0 <= window.0,
                    WindowRule::Overshoot => in_flight < window,
                }
        })
    }
}

/// Calls each layer of a stack, the lowest first, and tells those above of its increase steps.
fn layers(flow: &mut Flow, now: Time, mut call: impl FnMut(&mut AnyReactionPoint)) {
    if flow.constant {
        return;
    }
    for i in 0..flow.stack.len() {
        let before = flow.stack[i].increases();
        call(&mut flow.stack[i]);
        for _ in before..flow.stack[i].increases() {
            flow.stack[i + 1..].iter_mut().for_each(|layer| layer.on_increase(now));
        }
    }
}

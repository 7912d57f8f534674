//! Turns of queue pairs at a NIC, and arrivals at a host.

use floodway_blueprint::network::blueprint::Turns;
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::{
    Discipline, ReactionPoint as _, ReadyView, Scheduler as _, Segment, TransportSender as _,
};
use floodway_units::{FlowId, Time};

use super::Nic;
use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::host::send::{SendHalf, layers};
use crate::link::arena::PacketRef;
use crate::link::extra::Extra;
use crate::link::links::Links;
use crate::link::packet::{INT, Kind, Packet, frame_bytes};
use crate::run::at_node::{AtHost, bytes};
use crate::run::ctx::Ctx;
use crate::switch::congestion::PortMachines;

/// The discipline of a host's port, which may hold back what its queue pairs send.
#[derive(Clone, Copy)]
pub(in crate::host) struct Holder<'h>(Option<&'h dyn Discipline>);

impl AtHost<'_, '_> {
    /// The transmitter of a host's port is free: the next queue pair sends a packet.
    pub fn send_from_nic(&mut self, port: Local) {
        let Some((id, segment)) = self.whose_turn(port) else {
            if self.ctx.facts.blueprint.semantics.turns == Turns::Listed {
                let to_start = self.device.pairs.to_start;
                let nic = &mut self.device.nics[port.index()];
                nic.wake_by_list(&mut self.ctx, self.node.links.id(port), to_start);
            }
            return;
        };
        let now = Time(self.ctx.now);
        let half = self.ctx.run.pairs.senders.of_mut(FlowId(id));
        let nic = &self.device.nics[port.index()];
        let (packet, message) = half.send((self.ctx.facts, nic), id, &segment, now);
        let wire = u64::from(packet.frame) + self.ctx.facts.layout.gap;
        let (class, observes_sent) = (half.class, half.layers.observes_sent);
        self.ctx.run.kept.records.injected(u64::from(packet.frame));
        let port_class = self.ctx.facts.layout.port_class(port, class);
        self.sent(port, port_class, wire);
        if self.ctx.facts.layout.classes.len() > 2 {
            let id = self.ctx.facts.layout.queue_id(self.ctx.facts.layout.first_queue(class));
            self.node.machines[port.index()].scheduler.on_sent(now, id, bytes(wire));
        }
        let packet_ref = self.ctx.run.packets.add(packet);
        if packet.has(INT) {
            self.begin_records(packet_ref);
        } else if let Some(message) = message {
            let extra = self.ctx.run.out.boxed(message);
            self.ctx.run.packets.attach(packet_ref, extra);
        }
        self.put_on_link(port, packet_ref);
        if segment.last {
            let until = self.node.links.ports.of(port).free_at;
            self.device.last_sent(&mut self.ctx, id, &segment, until);
        }
        self.machines_changed(id, observes_sent);
        if self.device.pairs.sprays {
            self.spray_next(id);
        }
    }

    /// The queue pair that sends next, and what.
    fn whose_turn(&mut self, port: Local) -> Option<(u32, Segment)> {
        let turns = self.ctx.facts.blueprint.semantics.turns;
        if turns.by_list() {
            let id = self.next_in_list(port)?;
            let half = self.ctx.run.pairs.senders.of_mut(FlowId(id));
            return half.transport.next_segment(Time(self.ctx.now)).map(|segment| (id, segment));
        }
        let local = port.index();
        if turns == Turns::Listed {
            self.paced_are_ready(local);
        }
        let class = self.pick_class(port)? as usize;
        loop {
            if self.device.nics[local].repeating > 0
                && let Some(repeat) = self.next_repeat(port, class)
            {
                return Some(repeat);
            }
            let holder = Holder::at(&self.node.links, &self.node.machines, port);
            let nic = &self.device.nics[local];
            if let Some(rank) = nic.next_free(&self.ctx, &nic.ready[class], class, holder) {
                return self.device.nics[local].take_turn(&mut self.ctx, class, rank);
            }
            // What stands behind entries that were passed over has no timer. SWING's simulator leaves it
            // until something else wakes the NIC.
            if nic.next_free(&self.ctx, &nic.repeats[class], class, holder).is_none()
                || turns == Turns::Listed
            {
                return None;
            }
        }
    }

    /// What is retransmitted before new data. By the list of flows it waits for the queue pair's pacing time.
    fn next_repeat(&mut self, port: Local, class: usize) -> Option<(u32, Segment)> {
        let nic = &self.device.nics[port.index()];
        let mut round = Round { rank: nic.last[class], left: nic.repeats[class].len() };
        loop {
            let holder = Holder::at(&self.node.links, &self.node.machines, port);
            let nic = &mut self.device.nics[port.index()];
            match nic.next_repeat(&mut self.ctx, class, holder, &mut round)? {
                Repeat::Sends(id, segment) => return Some((id, segment)),
                Repeat::Outdated(id) => self.update_qp(id),
            }
        }
    }

    /// The class whose queue pairs send next.
    fn pick_class(&mut self, port: Local) -> Option<u8> {
        let local = port.index();
        let holder = Holder::at(&self.node.links, &self.node.machines, port);
        // The size of the next frame is known only once a queue pair is chosen: the largest one is assumed.
        let largest = self.ctx.facts.largest_wire;
        if self.ctx.facts.layout.classes.len() == 2 {
            let nic = &self.device.nics[local];
            let open = (nic.repeating > 0 || !nic.ready[1].is_empty())
                && self.node.machines[port.index()]
                    .gate(
                        &self.node.links,
                        &self.ctx,
                        port,
                        self.ctx.facts.layout.port_class(port, 1),
                        1,
                        largest,
                    )
                    .is_open(self.ctx.time());
            return open.then_some(1);
        }
        let mut ready = std::mem::take(&mut self.ctx.run.out.ready);
        ready.clear();
        for class in 1..self.ctx.facts.layout.class_count() {
            let nic = &self.device.nics[local];
            let bitmaps = [&nic.ready[class as usize], &nic.repeats[class as usize]];
            let waiting = (bitmaps[0].len() + bitmaps[1].len()) as u64;
            let held = holder.is_there()
                && bitmaps
                    .iter()
                    .all(|bitmap| nic.next_free(&self.ctx, bitmap, class.into(), holder).is_none());
            if waiting > 0 && !held {
                let q = self.ctx.facts.layout.first_queue(class);
                let gate = self.node.machines[port.index()].gate(
                    &self.node.links,
                    &self.ctx,
                    port,
                    self.ctx.facts.layout.port_class(port, class),
                    q,
                    largest,
                );
                let len = bytes(waiting * largest);
                ready.push(ReadyView {
                    queue: self.ctx.facts.layout.queue_id(q),
                    len,
                    head: bytes(largest),
                    gate,
                });
            }
        }
        let now = Time(self.ctx.now);
        let picked = if ready.is_empty() {
            None
        } else {
            self.node.machines[port.index()].scheduler.pick(now, &ready)
        };
        self.ctx.run.out.ready = ready;
        picked.map(|id| self.ctx.facts.layout.dense(id.class))
    }

    /// A packet has arrived at a host.
    #[inline(never)]
    pub fn host_receives(&mut self, port: Local, packet_ref: PacketRef) {
        let extra = self.ctx.run.packets.detach(packet_ref);
        let packet = &self.ctx.run.packets.take(packet_ref);
        let pairs = &mut self.ctx.run.pairs;
        if !pairs.is_meant(packet, self.node.id) {
            let run_time = self.ctx.run.events.run_time(self.ctx.now);
            let strays = pairs.stray(packet, self.node.id, (run_time, self.ctx.order));
            self.ctx.run.kept.records.strays.absorb(strays);
            return self.is_gone(packet);
        }
        self.ctx.run.kept.records.delivered(u64::from(packet.frame));
        let (now, flow) = (Time(self.ctx.now), packet.flow);
        let called = match packet.kind {
            Kind::Data => return self.receive_data(port, packet, extra),
            Kind::Trimmed | Kind::Query => return self.receive_empty(port, packet, extra),
            Kind::Report => return self.report_arrives(packet, extra),
            Kind::Cnp => pairs.senders.of_mut(flow).receive_cnp(now, packet),
            Kind::ToSender => pairs.senders.of_mut(flow).receive_message(now, packet),
            Kind::ToReceiver => {
                let half = pairs.receivers.of_mut(flow);
                half.in_network = half.in_network.wrapping_sub(1);
                return self.deliver_to_notification(port, packet.flow, &packet.control_message());
            }
            _ => {
                let turns = self.ctx.facts.blueprint.semantics.turns;
                let half = pairs.senders.of_mut(flow);
                let (next, called) = half.receive_reply(now, packet, extra.as_deref(), turns);
                self.ctx.run.out.extras.extend(extra);
                self.device.acknowledged(&mut self.ctx, packet.flow.0, next);
                called
            }
        };
        self.sender_called(packet.flow.0, called);
    }
}

/// How far a NIC has looked for something to retransmit.
struct Round {
    /// Of the queue pair that it has looked at.
    rank: u32,
    /// Queue pairs that it has not looked at.
    left: usize,
}

/// What a NIC finds to retransmit before new data.
enum Repeat {
    /// What a queue pair retransmits.
    Sends(u32, Segment),
    /// The queue pair's oldest entry was acknowledged meanwhile, and its pacing time has moved.
    Outdated(u32),
}

impl SendHalf {
    /// A segment starts on the wire: its packet, and the header or message that goes with it.
    #[expect(clippy::inline_always, reason = "a call with a packet as its value: 0.5 % of a packet-hop")]
    #[inline(always)]
    fn send(
        &mut self,
        (facts, nic): (&Facts<'_>, &Nic),
        id: u32,
        segment: &Segment,
        now: Time,
    ) -> (Packet, Option<Extra>) {
        let frame = if segment.payload == bytes(u64::from(self.full_payload)) && !segment.first {
            self.full_frame
        } else {
            frame_bytes(facts.format.data_with(segment.payload, segment.first, self.telemetry).frame)
        };
        let packet = self.data_packet(id, segment, frame, now.0);
        let wire = u64::from(frame) + facts.layout.gap;
        self.in_network = self.in_network.wrapping_add(1);
        if segment.retransmission {
            self.message_of(segment.psn).retransmitted += segment.payload.0;
        }
        let message = if self.layers.has_messages {
            self.with_data(now, nic.ready[usize::from(self.class)].len() as u64)
        } else {
            None
        };
        if self.layers.observes_sent {
            layers(self, now, |layer| layer.on_sent(now, bytes(wire)));
        }
        self.pacing.last_send = (now.0, wire);
        if self.pacing.paced {
            self.pacing.next_send = now.0 + self.gap_behind(wire, facts.blueprint.semantics.rounding);
        }
        (packet, message)
    }
}

impl<'h> Holder<'h> {
    /// That of a port.
    #[inline]
    pub fn at(links: &Links, machines: &'h [PortMachines], port: Local) -> Self {
        let has_discipline = links.ports.of(port).has_discipline;
        Holder(if has_discipline { machines[port.index()].discipline() } else { None })
    }

    #[inline]
    fn is_there(self) -> bool {
        self.0.is_some()
    }

    /// Does it hold back what a queue pair sends?
    #[inline]
    pub fn holds(self, ctx: &Ctx<'_, '_>, id: u32) -> bool {
        self.0.is_some_and(|discipline| {
            let path = ctx.run.pairs.paths.of(FlowId(id));
            let class = ctx.facts.layout.classes[path.class as usize];
            discipline.holds(ctx.time(), class, path.hash)
        })
    }
}

impl Nic {
    /// The first queue pair of a set, cyclically after the one of its class that was served last, that no
    /// congestion point holds back.
    #[inline]
    fn next_free(
        &self,
        ctx: &Ctx<'_, '_>,
        bitmap: &RoundRobinBitmap,
        class: usize,
        holder: Holder<'_>,
    ) -> Option<u32> {
        let last = self.last[class];
        if holder.is_there() {
            self.next_not_held(ctx, bitmap, last, holder)
        } else {
            bitmap.next_after(last)
        }
    }

    #[inline(never)]
    fn next_not_held(
        &self,
        ctx: &Ctx<'_, '_>,
        bitmap: &RoundRobinBitmap,
        mut rank: u32,
        holder: Holder<'_>,
    ) -> Option<u32> {
        for _ in 0..bitmap.len() {
            rank = bitmap.next_after(rank)?;
            let id = self.ranks.get(rank)?;
            if !holder.holds(ctx, id) {
                return Some(rank);
            }
        }
        None
    }

    /// The queue pair of a rank has its turn: what it sends.
    #[inline]
    fn take_turn(&mut self, ctx: &mut Ctx<'_, '_>, class: usize, rank: u32) -> Option<(u32, Segment)> {
        self.last[class] = rank;
        let id = self.ranks.get(rank)?;
        let half = ctx.run.pairs.senders.of_mut(FlowId(id));
        half.number_timer(&mut ctx.run.events);
        half.transport.next_segment(Time(ctx.now)).map(|segment| (id, segment))
    }

    /// What is retransmitted before new data: of each queue pair with some, from the one after the last
    /// served on, the oldest entry is looked at; one that was acknowledged meanwhile is passed over. By the
    /// list of flows it waits for the queue pair's pacing time.
    fn next_repeat(
        &mut self,
        ctx: &mut Ctx<'_, '_>,
        class: usize,
        holder: Holder<'_>,
        round: &mut Round,
    ) -> Option<Repeat> {
        let listed = ctx.facts.blueprint.semantics.turns == Turns::Listed;
        while round.left > 0 {
            round.left -= 1;
            round.rank = self.repeats[class].next_after(round.rank)?;
            let id = self.ranks.get(round.rank)?;
            if holder.holds(ctx, id) {
                continue;
            }
            let half = ctx.run.pairs.senders.of_mut(FlowId(id));
            if half.layers.closed || listed && half.pacing.next_send > ctx.now {
                continue;
            }
            half.number_timer(&mut ctx.run.events);
            let repeat = half.transport.next_repeat(Time(ctx.now));
            half.update_repeats(self);
            if let Some(segment) = repeat {
                self.last[class] = round.rank;
                return Some(Repeat::Sends(id, segment));
            }
            if listed && !half.layers.constant {
                // So that the NIC's timer can be set for what stands behind the entry.
                half.pacing.next_send = ctx.now + 1_000;
                return Some(Repeat::Outdated(id));
            }
        }
        None
    }
}

//! Events of the sending half of a queue pair: replies, CNPs, timers, pacing.
//!
//! The next pacing time counts from the actual start of a packet: so a NIC shared with a greedy queue pair
//! gives a paced one slightly less than its rate. A new rate also applies to the packet that waits for its
//! pacing time, unless `repacing` says otherwise.
//!
//! A queue pair has one armed timer, at the earliest timeout of its machines. Timers that tick even when they
//! have no effect (`ReactionPoint::ticks`) are armed one by one; each is an event with the number at which it
//! was set. In scheduling order, a packet's timer, which is armed here once those of earlier packets have
//! expired, carries the number that it had when the packet was sent.

use std::cmp::Reverse;

use floodway_blueprint::network::blueprint::{Blueprint, Pacing, RateTimers, Rounding, Turns};
use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::{
    AckView, Allowance, LossView, ReactionPoint, Report, TICKS, TransportSender,
};
use floodway_units::cast::low_u32;
use floodway_units::{Bytes, FlowId, PortId, Rate, Span, Time};

use super::{Called, SendHalf, layers};
use crate::host::allowances::note_allowance;
use crate::host::nic::Nic;
use crate::host::nics::Host;
use crate::host::queue_pairs::QueuePairs;
use crate::link::extra::Extra;
use crate::link::links::Links;
use crate::link::packet::Packet;
use crate::run::at_node::AtHost;
use crate::run::ctx::Ctx;
use crate::run::events::{EventKind, Events, NEVER, Set};
use crate::run::own::{Timed, due_again, refuse_rate};

impl AtHost<'_, '_> {
    /// Puts a queue pair where it belongs: in the ring, in the pacing heap, or nowhere.
    #[inline]
    pub fn update_qp(&mut self, id: u32) {
        if self.ctx.run.pairs.senders.of(FlowId(id)).layers.has_messages {
            self.exchange(id, false);
        }
        let Some(moves) = self.device.moves(&mut self.ctx, id) else { return };
        if moves == Moves::Ready
            && self.device.pairs.sprays
            && let Some(to) = self.device.better_nic(&mut self.ctx, &self.node.links, id)
        {
            self.move_to_nic(id, to);
        }
        self.device.move_qp(&mut self.ctx, &self.node.links, id, moves);
    }

    /// Queue pairs whose pacing time has come may send.
    pub fn pacing_timer(&mut self, port: Local, order: u64) {
        let local = port.index();
        if !self.device.nics[local].pacing_timer.fires(Time(self.ctx.now), order) {
            return self.grant_timer(local, order);
        }
        if self.ctx.facts.blueprint.semantics.turns == Turns::Ring {
            self.paced_are_ready(local);
            self.device.nics[local].arm_pacing(&mut self.ctx.run.events, self.node.links.id(port));
        }
        if self.device.pairs.sprays {
            return self.node.locals().for_each(|port| self.try_transmit(port));
        }
        self.try_transmit(port);
    }

    /// Queue pairs of a NIC whose pacing time has come are ready.
    pub fn paced_are_ready(&mut self, local: usize) {
        while let Some(id) = self.device.nics[local].next_paced(&mut self.ctx.run.pairs, self.ctx.now) {
            self.update_qp(id);
        }
    }

    /// A report has arrived at its sender.
    pub fn report_arrives(&mut self, packet: &Packet, extra: Option<Box<Extra>>) {
        let now = self.ctx.time();
        let Some(Extra::Report(report)) = extra.as_deref() else { return };
        let half = self.ctx.run.pairs.senders.of_mut(packet.flow);
        let (next, called) = half.receive_report(now, packet, report);
        self.ctx.run.out.extras.extend(extra);
        self.device.acknowledged(&mut self.ctx, packet.flow.0, next);
        self.sender_called(packet.flow.0, called);
    }

    /// A timer of a queue pair has come: its transport's, or a layer's.
    pub fn qp_timer(&mut self, order: u64) {
        let Some(id) = self.device.queue_pair_of(&self.ctx.run.events, order) else { return };
        let (now, run) = (self.ctx.time(), &mut *self.ctx.run);
        if let Some(called) = run.pairs.timer(self.ctx.facts.blueprint, &run.events, (id, order), now) {
            self.sender_called(id, called);
            // What may be sent at once is on its way.
            if self.ctx.run.pairs.senders.of(FlowId(id)).transport.has_headers() {
                self.exchange(id, true);
            }
        }
    }

    /// Machines of a queue pair have been called: takes what they want, and lets its NIC look.
    #[expect(clippy::inline_always, reason = "what follows an ACK: 0.3 % of a packet-hop")]
    #[inline(always)]
    pub fn sender_called(&mut self, id: u32, called: Called) {
        self.machines_changed(id, called.layers);
        let turns = self.ctx.facts.blueprint.semantics.turns;
        if called.looks
            && let Some(port) = self.ctx.run.pairs.senders.of(FlowId(id)).nic_to_look(turns)
        {
            self.try_transmit(port);
        }
        if called.repeats
            && let Some(port) = self.device.nic_that_repeats(&self.ctx.run.pairs, turns, id)
        {
            self.try_transmit(port);
        }
    }

    /// The transport of a queue pair has been called, and perhaps its layers: takes what they allow and when
    /// they want to be called. Where no layer was, that is as it was for them.
    #[expect(clippy::inline_always, reason = "what follows an ACK and a data packet: 0.5 % of a packet-hop")]
    #[inline(always)]
    pub fn machines_changed(&mut self, id: u32, layers: bool) {
        if layers {
            return self.stack_changed(id);
        }
        let now = self.ctx.time();
        let half = self.ctx.run.pairs.senders.of_mut(FlowId(id));
        half.arm_transport(&mut self.ctx.run.events, now);
        self.update_qp(id);
    }

    /// The machines of a queue pair have been called: takes what they allow and when they want to be called.
    pub fn stack_changed(&mut self, id: u32) {
        let now = self.ctx.time();
        let half = self.ctx.run.pairs.senders.of_mut(FlowId(id));
        half.arm(&mut self.ctx.run.events, now);
        if half.layers.constant {
            self.update_qp(id);
        } else {
            self.allowance_changed(id);
        }
    }

    /// Takes what the stack of a flow now allows.
    pub fn allowance_changed(&mut self, slot: u32) {
        self.device.take_allowance(&mut self.ctx, &self.node.links, slot);
        if self.ctx.run.kept.allowances.is_some() {
            note_allowance(&mut self.ctx, &self.node.links, self.device, slot);
        }
        self.update_qp(slot);
    }
}

/// Where a queue pair moves that is not where it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moves {
    /// Into the ring.
    Ready,
    /// Out of it, if it is there, and into the pacing heap.
    Paced,
    /// Out of it.
    Leaves,
}

impl Host {
    /// Where a queue pair moves, if it is not where it belongs.
    #[inline]
    fn moves(&mut self, ctx: &mut Ctx<'_, '_>, id: u32) -> Option<Moves> {
        let half = ctx.run.pairs.senders.of_mut(FlowId(id));
        let semantics = &ctx.facts.blueprint.semantics;
        if semantics.turns.by_list() {
            // It is looked at when its turn comes.
            return None;
        }
        if half.turn.repeats_first {
            half.update_repeats(&mut self.nics[half.nic.index()]);
        }
        let eligible = half.may_send(semantics.window);
        let ready = eligible && half.pacing.next_send <= ctx.now;
        // Mostly it is where it belongs: one that is ready, or has nothing to wait for.
        if ready {
            (!half.turn.is_ready).then_some(Moves::Ready)
        } else if eligible {
            Some(Moves::Paced)
        } else {
            half.turn.is_ready.then_some(Moves::Leaves)
        }
    }

    fn move_qp(&mut self, ctx: &mut Ctx<'_, '_>, links: &Links, id: u32, moves: Moves) {
        let half = ctx.run.pairs.senders.of_mut(FlowId(id));
        let nic = &mut self.nics[half.nic.index()];
        let ready = moves == Moves::Ready;
        if ready != half.turn.is_ready {
            half.turn.is_ready = ready;
            let bitmap = &mut nic.ready[half.class as usize];
            if ready {
                bitmap.insert(half.rank);
                nic.waits(half.rank);
            } else {
                bitmap.remove(half.rank);
            }
        }
        if moves == Moves::Paced && half.pacing.heap_at != half.pacing.next_send {
            half.pacing.heap_at = half.pacing.next_send;
            nic.pacing.push(Reverse((half.pacing.next_send, half.rank)));
            if ctx.facts.blueprint.semantics.turns == Turns::Ring {
                nic.arm_pacing(&mut ctx.run.events, links.ports[half.nic.index()].id);
            }
        }
    }

    /// The port of a queue pair's NIC, where that is to look for what it retransmits, of any flow: one try
    /// passes over one outdated entry of each only. One that takes turns by the list of flows has looked in
    /// any case.
    #[inline]
    fn nic_that_repeats(&self, pairs: &QueuePairs, turns: Turns, id: u32) -> Option<Local> {
        let half = pairs.senders.of(FlowId(id));
        let looks = turns != Turns::Listed && half.turn.repeats_first;
        (looks && self.nics[half.nic.index()].repeating > 0).then_some(half.nic)
    }

    /// Takes what the stack of a flow now allows.
    fn take_allowance(&mut self, ctx: &mut Ctx<'_, '_>, links: &Links, slot: u32) {
        let (now, run, blueprint) = (ctx.time(), &mut *ctx.run, ctx.facts.blueprint);
        let half = &mut run.pairs.senders[slot as usize];
        let id = links.ports[half.nic.index()].id;
        let semantics = &blueprint.semantics;
        if half.take_allowance(ctx.facts.ports[id.index()].rate, semantics.pacing) {
            if half.allowance.rate == Rate(0) {
                refuse_rate(FlowId(slot), blueprint, &run.pairs.paths, now);
            }
            half.repace(semantics.rounding);
        }
        if semantics.turns.by_list() && half.pacing.moves {
            let set = half.stack.iter().filter_map(ReactionPoint::rates_set).sum();
            if std::mem::replace(&mut half.pacing.rates_set, set) != set {
                let at = Time(half.pacing.next_send.max(now.0));
                self.nics[half.nic.index()].wake_earlier(&mut run.events, id, at);
            }
        }
    }
}

impl Nic {
    /// Sets its timer for the next pacing time; its port is `id`.
    fn arm_pacing(&mut self, events: &mut Events, id: PortId) {
        let next = self.pacing.peek().map(|Reverse((at, _))| Time(*at));
        events.sync(&mut self.pacing_timer, next, EventKind::Pacing, id.0);
    }

    /// The next queue pair whose pacing time has come.
    fn next_paced(&mut self, pairs: &mut QueuePairs, now: u64) -> Option<u32> {
        while let Some(&Reverse((at, rank))) = self.pacing.peek() {
            if at > now {
                break;
            }
            self.pacing.pop();
            // Not an entry that is older than the time at which it waits now.
            if let Some(id) = self.ranks.get(rank)
                && pairs.senders.of(FlowId(id)).pacing.heap_at == at
            {
                pairs.senders.of_mut(FlowId(id)).pacing.heap_at = NEVER;
                return Some(id);
            }
        }
        None
    }
}

impl QueuePairs {
    /// A timer of a queue pair has come, by the event of this order: what follows, if it was armed.
    fn timer(
        &mut self,
        blueprint: &Blueprint,
        events: &Events,
        (id, order): (u32, u64),
        now: Time,
    ) -> Option<Called> {
        let half = self.senders.of_mut(FlowId(id));
        let looks = blueprint.semantics.rate_timers == RateTimers::Look;
        // One that is complete has nothing to time, whether it is closed yet or not.
        if !half.timers.timer.fires(now, order) {
            return half.tick(now, order).then_some(Called { layers: true, looks, repeats: false });
        }
        if half.state.done {
            return None;
        }
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        let resends =
            due(half.transport.next_timeout()) && events.has_come(half.transport.timeout_number(), order);
        let loss = resends.then(|| half.transport.on_timeout(now)).flatten();
        if let Some(loss) = loss {
            half.head.timeouts += 1;
            layers(half, now, |layer| layer.on_loss(now, &LossView { timeout: true, ..loss }));
        }
        let is_own = resends && half.transport.is_custom();
        if let Some(at) = due_again(is_own, || half.transport.next_timeout(), now) {
            Timed::Reliability(FlowId(id)).refuse(blueprint, &self.paths, now, at);
        }
        let (alone, mut called, mut still) = (!half.timers.ticks.is_empty(), false, None);
        layers(half, now, |layer| {
            if due(layer.next_timeout()) && !(alone && layer.ticks().is_some()) {
                layer.on_timeout(now);
                called = true;
                still = still.or(due_again(layer.is_custom(), || layer.next_timeout(), now));
            }
        });
        if let Some(at) = still {
            Timed::RateControl(FlowId(id)).refuse(blueprint, &self.paths, now, at);
        }
        // If no queue pair is due, the timer is armed again, and that is all.
        Some(Called { layers: true, looks: resends || called && looks, repeats: loss.is_some() })
    }
}

impl SendHalf {
    /// A CNP has arrived.
    pub fn receive_cnp(&mut self, now: Time, packet: &Packet) -> Called {
        let cnp = packet.cnp();
        self.in_network = self.in_network.wrapping_sub(1);
        self.head.cnps += 1;
        layers(self, now, |layer| layer.on_cnp(now, &cnp));
        Called { layers: true, looks: true, repeats: false }
    }

    /// A reply has arrived, with the records that it brings back, if any: the packet before which all has
    /// arrived, and what follows.
    #[inline]
    pub fn receive_reply(
        &mut self,
        now: Time,
        packet: &Packet,
        extra: Option<&Extra>,
        turns: Turns,
    ) -> (u64, Called) {
        let reply = packet.reply();
        self.in_network = self.in_network.wrapping_sub(1);
        let forgotten = self.state.done && turns.forget();
        let (acked, loss) = self.transport.on_reply(now, reply);
        let next = self.transport.acknowledged(reply);
        if self.layers.observes_acks {
            let view = AckView {
                acked,
                next,
                sent: self.transport.next_psn(),
                rtt: Span(now.0 - packet.stamp),
                in_flight: self.transport.in_flight(),
                marked: packet.mark(),
                int: extra.map_or(&[], Extra::hops),
            };
            layers(self, now, |layer| layer.on_ack(now, &view));
        }
        let changed = self.layers.observes_acks || loss.is_some();
        if let Some(loss) = loss {
            layers(self, now, |layer| layer.on_loss(now, &loss));
        }
        (next, Called { layers: changed, looks: !forgotten, repeats: !forgotten })
    }

    /// A report has arrived: the packet before which all has arrived, and what follows.
    fn receive_report(&mut self, now: Time, packet: &Packet, report: &Report) -> (u64, Called) {
        self.in_network = self.in_network.wrapping_sub(1);
        let reported = self.transport.on_reported(now, report);
        if !report.trimmed {
            let view = AckView {
                acked: reported.acked,
                next: reported.next,
                sent: self.transport.next_psn(),
                rtt: Span(now.0 - packet.stamp),
                in_flight: self.transport.in_flight(),
                marked: packet.mark(),
                int: &[],
            };
            layers(self, now, |layer| layer.on_report(now, &view, reported.sample.as_ref()));
            let windows = self.stack.iter().map(|layer| layer.allowance().window);
            self.transport.after_report(now, windows.min().unwrap_or(Bytes::MAX));
        }
        if let Some(cut) = reported.cut {
            layers(self, now, |layer| layer.on_cut(now, &cut));
        }
        if let Some(loss) = reported.loss {
            layers(self, now, |layer| layer.on_loss(now, &loss));
        }
        (reported.next, Called { layers: true, looks: true, repeats: false })
    }

    /// A timer of a layer ticks, if the event is its live one: does it?
    fn tick(&mut self, now: Time, order: u64) -> bool {
        let ticks = self.timers.ticks.iter_mut().position(|timer| timer.fires(now, order));
        let Some(timer) = ticks.filter(|_| !self.state.done) else { return false };
        let mut at = 0;
        layers(self, now, |layer| {
            if at == timer / TICKS {
                layer.on_tick(now, timer % TICKS);
            }
            at += 1;
        });
        true
    }

    /// When its transport wants to be called next, from now on.
    #[inline]
    fn next_of_transport(&self, now: Time) -> Option<Time> {
        self.transport.next_timeout().map(|at| at.max(now))
    }

    /// Arms its timer for when its transport wants to be called; when its layers do is as it was.
    #[inline]
    fn arm_transport(&mut self, events: &mut Events, now: Time) {
        let next = self.next_of_transport(now);
        if next.is_some() && !self.state.done {
            let set = self.timer_set();
            events.sync_queue_pair(&mut self.timers.timer, next, self.timers.timer_key, set);
        }
    }

    /// Arms its timers for when its machines want to be called.
    #[inline]
    pub fn arm(&mut self, events: &mut Events, now: Time) {
        let mut next = self.next_of_transport(now);
        let mut set = self.timer_set();
        if !self.layers.constant
            && let Some(layers) = self.next_of_layers()
            && next.is_none_or(|next| layers <= next)
        {
            (next, set) = (Some(layers), Set::Now);
        }
        if !self.state.done {
            events.sync_queue_pair(&mut self.timers.timer, next, self.timers.timer_key, set);
            if !self.timers.ticks.is_empty() {
                self.arm_ticks(events);
            }
        }
    }

    /// Arms the timers of layers that are events of their own.
    fn arm_ticks(&mut self, events: &mut Events) {
        for (layer, timers) in self.stack.iter().zip(self.timers.ticks.chunks_exact_mut(TICKS)) {
            for (timer, at) in timers.iter_mut().zip(layer.ticks().into_iter().flatten()) {
                let next = (at != Time::NEVER).then_some(at);
                events.renew(timer, next, EventKind::QueuePair, low_u32(self.timers.timer_key));
            }
        }
    }

    /// Takes what its stack now allows at a NIC of this rate: is the rate another one?
    #[inline]
    fn take_allowance(&mut self, line: Rate, pacing: Pacing) -> bool {
        let own = Allowance { rate: Rate::MAX, window: self.transport.cap() };
        let rate = self.allowance.rate;
        self.allowance = self.stack.iter().fold(own, |least, layer| least.least(layer.allowance()));
        if self.layers.scales {
            self.allowance.window = self.scaled_window(line);
        }
        if self.layers.has_messages {
            self.update_closed();
        }
        self.pacing.paced = self.allowance.rate < line && pacing == Pacing::On;
        self.allowance.rate != rate
    }

    /// Its rate has changed, and with it the gap behind a packet.
    #[inline]
    fn repace(&mut self, rounding: Rounding) {
        self.pacing.gap.0 = NEVER;
        if self.pacing.moves {
            let (start, wire) = self.pacing.last_send;
            let gap = if self.pacing.paced { self.gap_behind(wire, rounding) } else { 0 };
            self.pacing.next_send = start + gap;
        }
    }

    /// The port of its NIC, where that is to look since it may have something to send.
    #[inline]
    pub fn nic_to_look(&self, turns: Turns) -> Option<Local> {
        // Others may look at all of their queue pairs.
        let looks = self.turn.is_ready || turns != Turns::Ring;
        looks.then_some(self.nic)
    }
}

#[cfg(test)]
mod tests {
    use floodway_mechanisms::registry::NotificationParams;
    use floodway_mechanisms::slots::Cnp;
    use floodway_records::outcome::Control;
    use floodway_units::{Bytes, NodeId};

    use super::*;
    use crate::Fabric;
    use crate::link::packet::Kind;
    use crate::run::world::World;
    use crate::testing::{at_host, busy, run_to};

    const HOST: NodeId = NodeId(0);

    /// Calls `test` with the queue pair from the first host at 40 us, where its link has failed, so that
    /// nothing is sent meanwhile. Each CNP halves its rate.
    fn sending(test: impl FnOnce(&mut World<'_>, u32)) {
        let (mut blueprint, control) = (busy(), Control::default());
        let rate_control = vec![
            serde_json::from_str(r#"{"dcqcn": {"preset": "paper", "rmin": "1G"}}"#)
                .expect("it is well formed"),
        ];
        blueprint.settings[0].notification = NotificationParams::asked_by(&rate_control);
        blueprint.settings[0].rate_control = rate_control;
        for end in blueprint.links.iter_mut().flat_map(|link| &mut link.ends) {
            end.congestion_points.clear();
        }
        let mut fabric = Fabric::build(&blueprint, &control).expect("it is sound");
        run_to(&mut fabric, Span::us(40));
        let world = &mut fabric.world;
        let is_its = |slot: &u32| world.runs.own.pairs.paths[*slot as usize].source == HOST;
        let slot = (0..3).find(is_its).expect("it is open");
        world.nodes[HOST.index()].links.ports[0].up = false;
        test(world, slot);
    }

    fn half<'w>(world: &'w mut World<'_>, slot: u32) -> &'w mut SendHalf {
        &mut world.runs.own.pairs.senders[slot as usize]
    }

    fn waiting(world: &World<'_>) -> Vec<u64> {
        let pacing = &world.nodes[HOST.index()].host().expect("it is one").nics[0].pacing;
        let mut times: Vec<u64> = pacing.iter().map(|Reverse((at, _))| *at).collect();
        times.sort_unstable();
        times
    }

    #[test]
    fn a_queue_pair_waits_for_its_pacing_time_and_is_then_ready() {
        sending(|world, slot| {
            let at = world.now + 100;
            half(world, slot).pacing.next_send = at;
            (0..2).for_each(|_| at_host(world, HOST).update_qp(slot));
            assert_eq!((waiting(world), half(world, slot).turn.is_ready), (vec![at], false));
            world.now = at - 1;
            at_host(world, HOST).paced_are_ready(0);
            assert_eq!((waiting(world), half(world, slot).turn.is_ready), (vec![at], false));
            world.now = at;
            at_host(world, HOST).paced_are_ready(0);
            assert_eq!((waiting(world), half(world, slot).turn.is_ready), (vec![], true));
            assert_eq!(half(world, slot).pacing.heap_at, NEVER);
        });
    }

    #[test]
    fn a_pacing_time_that_was_put_off_wakes_nobody() {
        sending(|world, slot| {
            let at = world.now + 100;
            for at in [at, at + 50] {
                half(world, slot).pacing.next_send = at;
                at_host(world, HOST).update_qp(slot);
            }
            assert_eq!(waiting(world), [at, at + 50]);
            world.now = at;
            at_host(world, HOST).paced_are_ready(0);
            assert_eq!((waiting(world), half(world, slot).turn.is_ready), (vec![at + 50], false));
            world.now = at + 50;
            at_host(world, HOST).paced_are_ready(0);
            assert_eq!((waiting(world), half(world, slot).turn.is_ready), (vec![], true));
        });
    }

    #[test]
    fn a_cnp_is_counted_and_halves_the_rate_at_which_packets_are_then_paced() {
        sending(|world, slot| {
            let (before, cnps) = (half(world, slot).in_network, half(world, slot).head.cnps);
            assert_eq!((cnps, half(world, slot).pacing.paced), (0, false), "at line rate");
            assert_eq!(half(world, slot).allowance.rate, Rate::gbps(100));
            let mut packet = Packet::new(Kind::Cnp, FlowId(slot), Bytes(64));
            packet.set_cnp(&Cnp::of(FlowId(slot), floodway_mechanisms::slots::Mark::Ce));
            let now = Time(world.now);
            let called = half(world, slot).receive_cnp(now, &packet);
            at_host(world, HOST).sender_called(slot, called);
            let half = half(world, slot);
            assert_eq!((half.in_network, half.head.cnps), (before - 1, 1));
            assert_eq!((half.allowance.rate, half.pacing.paced), (Rate::gbps(50), true));
            // 1000 bytes at 50 Gbit/s.
            assert_eq!(
                half.gap_behind(1_000, floodway_blueprint::network::blueprint::Rounding::default()),
                160_000
            );
        });
    }
}

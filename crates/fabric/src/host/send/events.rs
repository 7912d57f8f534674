//! Events of the sending half of a queue pair: replies, CNPs, timers, pacing.

use std::cmp::Reverse;

use floodway_mechanisms::slots::{AckView, Allowance, LossView, ReactionPoint, TICKS, TransportSender};
use floodway_units::cast::low_u32;
use floodway_units::{FlowId, Rate, Span, Time};

use super::{SendHalf, layers};
use crate::link::arena::Extra;
use crate::link::packet::Packet;
use crate::network::blueprint::{Pacing, RateTimers, Turns};
use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::events::NEVER;
use crate::run::events::{EventKind, Set};
use crate::run::own::{Timed, due_again};

impl AtNode<'_, '_> {
    /// Has a queue pair something to send, and room for it in its window?
    pub fn may_send(&self, half: &SendHalf) -> bool {
        half.may_send(self.ctx.facts.blueprint.semantics.window)
    }

    /// Puts a queue pair where it belongs: in the ring, in the pacing heap, or nowhere.
    #[inline]
    pub fn update_qp(&mut self, id: u32) {
        if self.ctx.run.pairs.senders.known(id as usize).layers.has_messages {
            self.exchange(id);
        }
        let half = self.ctx.run.pairs.senders.known_mut(id as usize);
        let semantics = &self.ctx.facts.blueprint.semantics;
        if semantics.turns.by_list() {
            // It is looked at when its turn comes.
            return;
        }
        if half.turn.repeats_first {
            half.update_repeats(&mut self.node.host.nics[half.nic.index()]);
        }
        let eligible = half.may_send(semantics.window);
        let ready = eligible && half.pacing.next_send <= self.ctx.now;
        // Mostly it is where it belongs: one that is ready, or has nothing to wait for.
        if ready != half.turn.is_ready || eligible && !ready {
            self.move_qp(id, eligible, ready);
        }
    }

    fn move_qp(&mut self, id: u32, eligible: bool, ready: bool) {
        if ready
            && self.node.host.pairs.sprays
            && !self.ctx.run.pairs.senders.known(id as usize).turn.is_ready
        {
            self.spray(id);
        }
        let half = self.ctx.run.pairs.senders.known_mut(id as usize);
        let nic = &mut self.node.host.nics[half.nic.index()];
        if ready != half.turn.is_ready {
            half.turn.is_ready = ready;
            let bitmap = &mut nic.ready[half.class as usize];
            if ready {
                bitmap.insert(half.rank);
            } else {
                bitmap.remove(half.rank);
            }
        }
        if eligible && !ready && half.pacing.heap_at != half.pacing.next_send {
            half.pacing.heap_at = half.pacing.next_send;
            nic.pacing.push(Reverse((half.pacing.next_send, half.rank)));
            if self.ctx.facts.blueprint.semantics.turns == Turns::Ring {
                let next = nic.pacing.peek().map(|Reverse((at, _))| Time(*at));
                let port = self.node.links.ports[half.nic.index()].id.0;
                self.ctx.run.events.sync(&mut nic.pacing_timer, next, EventKind::Pacing, port);
            }
        }
    }

    /// Queue pairs whose pacing time has come may send.
    pub fn pacing_timer(&mut self, port: Local, order: u64) {
        let local = port.index();
        if !self.node.host.nics[local].pacing_timer.fires(Time(self.ctx.now), order) {
            return;
        }
        if self.ctx.facts.blueprint.semantics.turns == Turns::Ring {
            self.paced_are_ready(local);
            let nic = &mut self.node.host.nics[local];
            let next = nic.pacing.peek().map(|Reverse((at, _))| Time(*at));
            let id = self.node.links.ports[local].id.0;
            self.ctx.run.events.sync(&mut nic.pacing_timer, next, EventKind::Pacing, id);
        }
        if self.node.host.pairs.sprays {
            return self.try_transmit_at_all();
        }
        self.try_transmit(port);
    }

    /// Queue pairs of a NIC whose pacing time has come are ready.
    pub fn paced_are_ready(&mut self, local: usize) {
        while let Some(&Reverse((at, rank))) = self.node.host.nics[local].pacing.peek() {
            if at > self.ctx.now {
                break;
            }
            self.node.host.nics[local].pacing.pop();
            // Not an entry that is older than the time at which it waits now.
            if let Some(id) = self.node.host.nics[local].ranks.get(rank)
                && self.ctx.run.pairs.senders.known(id as usize).pacing.heap_at == at
            {
                self.ctx.run.pairs.senders.known_mut(id as usize).pacing.heap_at = NEVER;
                self.update_qp(id);
            }
        }
    }

    pub fn receive_cnp(&mut self, packet: &Packet) {
        let now = self.ctx.time();
        let cnp = packet.cnp();
        let half = self.ctx.run.pairs.senders.known_mut(packet.flow.index());
        half.in_network = half.in_network.wrapping_sub(1);
        half.head.cnps += 1;
        layers(half, now, |layer| layer.on_cnp(now, &cnp));
        self.stack_changed(packet.flow.0);
        self.try_transmit_at_nic(packet.flow.0);
    }

    /// A reply has arrived, with the records that it brings back, if any.
    pub fn receive_reply(&mut self, packet: &Packet, extra: Option<Box<Extra>>) {
        let now = self.ctx.time();
        let half = self.ctx.run.pairs.senders.known_mut(packet.flow.index());
        let reply = packet.reply();
        half.in_network = half.in_network.wrapping_sub(1);
        let forgotten = half.state.done && self.ctx.facts.blueprint.semantics.turns.forget();
        let (acked, loss) = half.transport.on_reply(now, reply);
        let next = half.transport.acknowledged(reply);
        if half.layers.observes_acks {
            let view = AckView {
                acked,
                next,
                sent: half.transport.next_psn(),
                rtt: Span(self.ctx.now - packet.stamp),
                in_flight: half.transport.in_flight(),
                marked: packet.mark(),
                int: extra.as_deref().map_or(&[], Extra::hops),
            };
            layers(half, now, |layer| layer.on_ack(now, &view));
        }
        let changed = half.layers.observes_acks || loss.is_some();
        if let Some(loss) = loss {
            layers(half, now, |layer| layer.on_loss(now, &loss));
        }
        self.ctx.run.out.extras.extend(extra);
        self.acknowledged(packet.flow.0, next);
        if changed {
            self.stack_changed(packet.flow.0);
        } else {
            self.transport_changed(packet.flow.0);
        }
        if !forgotten {
            self.try_transmit_at_nic(packet.flow.0);
            self.try_transmit_repeats(packet.flow.0);
        }
    }

    /// A timer of a queue pair has come: its transport's, or a layer's.
    pub fn qp_timer(&mut self, order: u64) {
        let now = self.ctx.time();
        let Some(id) = self.queue_pair_of(order) else { return };
        let half = self.ctx.run.pairs.senders.known_mut(id as usize);
        // One that is complete has nothing to time, whether it is closed yet or not.
        if !half.timers.timer.fires(now, order) {
            return self.tick(id, order);
        }
        if half.state.done {
            return;
        }
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        let resends = due(half.transport.next_timeout())
            && self.ctx.run.events.has_come(half.transport.timeout_number(), order);
        let loss = resends.then(|| half.transport.on_timeout(now)).flatten();
        if let Some(loss) = loss {
            half.head.timeouts += 1;
            layers(half, now, |layer| layer.on_loss(now, &LossView { timeout: true, ..loss }));
        }
        let is_own = resends && half.transport.is_custom();
        if let Some(at) = due_again(is_own, || half.transport.next_timeout(), now) {
            self.refuse_timer(Timed::Reliability(FlowId(id)), at);
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
            self.refuse_timer(Timed::RateControl(FlowId(id)), at);
        }
        self.stack_changed(id);
        // If no queue pair is due, the timer is armed again, and that is all.
        if resends || called && self.ctx.facts.blueprint.semantics.rate_timers == RateTimers::Look {
            self.try_transmit_at_nic(id);
        }
        if loss.is_some() {
            self.try_transmit_repeats(id);
        }
    }

    /// A timer of a layer ticks, if the event is its live one.
    fn tick(&mut self, id: u32, order: u64) {
        let now = self.ctx.time();
        let half = self.ctx.run.pairs.senders.known_mut(id as usize);
        let ticks = half.timers.ticks.iter_mut().position(|timer| timer.fires(now, order));
        let Some(timer) = ticks.filter(|_| !half.state.done) else { return };
        let mut at = 0;
        layers(half, now, |layer| {
            if at == timer / TICKS {
                layer.on_tick(now, timer % TICKS);
            }
            at += 1;
        });
        self.stack_changed(id);
        if self.ctx.facts.blueprint.semantics.rate_timers == RateTimers::Look {
            self.try_transmit_at_nic(id);
        }
    }

    /// Arms the timers of layers that are events of their own.
    fn arm_ticks(&mut self, id: u32) {
        let half = self.ctx.run.pairs.senders.known_mut(id as usize);
        for (layer, timers) in half.stack.iter().zip(half.timers.ticks.chunks_exact_mut(TICKS)) {
            for (timer, at) in timers.iter_mut().zip(layer.ticks().into_iter().flatten()) {
                let next = (at != Time::NEVER).then_some(at);
                self.ctx.run.events.renew(timer, next, EventKind::QueuePair, low_u32(half.timers.timer_key));
            }
        }
    }

    /// The transport of a queue pair has been called, and no layer, so that what they allow is as it was, and
    /// so is when they want to be called.
    #[inline]
    pub fn transport_changed(&mut self, id: u32) {
        let half = self.ctx.run.pairs.senders.known_mut(id as usize);
        let next = half.transport.next_timeout();
        if next.is_some() && !half.state.done {
            let set = half.timer_set();
            self.ctx.run.events.sync_queue_pair(&mut half.timers.timer, next, half.timers.timer_key, set);
        }
        self.update_qp(id);
    }

    /// The machines of a queue pair have been called: takes what they allow and when they want to be called.
    pub fn stack_changed(&mut self, id: u32) {
        let half = self.ctx.run.pairs.senders.known_mut(id as usize);
        let mut next = half.transport.next_timeout();
        let mut set = half.timer_set();
        if !half.layers.constant
            && let Some(layers) = half.next_of_layers()
            && next.is_none_or(|next| layers <= next)
        {
            (next, set) = (Some(layers), Set::Now);
        }
        let (constant, ticks) = (half.layers.constant, !half.timers.ticks.is_empty());
        if !half.state.done {
            self.ctx.run.events.sync_queue_pair(&mut half.timers.timer, next, half.timers.timer_key, set);
            if ticks {
                self.arm_ticks(id);
            }
        }
        if constant {
            self.update_qp(id);
        } else {
            self.allowance_changed(id);
        }
    }

    /// Takes what the stack of a flow now allows.
    pub fn allowance_changed(&mut self, slot: u32) {
        let half = &mut self.ctx.run.pairs.senders[slot as usize];
        let line = self.ctx.facts.ports[self.node.links.ports[half.nic.index()].id.index()].rate;
        let own = Allowance { rate: Rate::MAX, window: half.transport.cap() };
        let rate = half.allowance.rate;
        half.allowance = half.stack.iter().fold(own, |least, layer| least.least(layer.allowance()));
        if half.layers.scales {
            half.allowance.window = half.scaled_window(line);
        }
        if half.layers.has_messages {
            half.update_closed();
        }
        let semantics = &self.ctx.facts.blueprint.semantics;
        half.pacing.paced = half.allowance.rate < line && semantics.pacing == Pacing::On;
        if half.allowance.rate != rate {
            if half.allowance.rate == Rate(0) {
                self.refuse_rate(FlowId(slot));
            }
            half.pacing.gap.0 = NEVER;
            if half.pacing.moves {
                let (start, wire) = half.pacing.last_send;
                let gap = if half.pacing.paced { half.gap_behind(wire, semantics.rounding) } else { 0 };
                half.pacing.next_send = start + gap;
            }
        }
        if semantics.turns.by_list() && half.pacing.moves {
            let set = half.stack.iter().filter_map(ReactionPoint::rates_set).sum();
            if std::mem::replace(&mut half.pacing.rates_set, set) != set {
                let (nic, at) = (half.nic, half.pacing.next_send);
                self.wake_earlier(nic, at);
            }
        }
        if self.ctx.run.kept.allowances.is_some() {
            self.note_allowance(slot);
        }
        self.update_qp(slot);
    }
}

#[cfg(test)]
mod tests {
    use floodway_mechanisms::registry::NotificationParams;
    use floodway_mechanisms::slots::Cnp;
    use floodway_units::{Bytes, NodeId};

    use super::*;
    use crate::Fabric;
    use crate::link::packet::Kind;
    use crate::records::outcome::Control;
    use crate::run::world::World;
    use crate::testing::{busy, run_to};

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
        run_to(&mut fabric.world, Span::us(40));
        let world = &mut fabric.world;
        let is_its = |slot: &u32| world.run.pairs.paths[*slot as usize].source == HOST;
        let slot = (0..3).find(is_its).expect("it is open");
        world.nodes[HOST.index()].links.ports[0].up = false;
        test(world, slot);
    }

    fn half<'w>(world: &'w mut World<'_>, slot: u32) -> &'w mut SendHalf {
        &mut world.run.pairs.senders[slot as usize]
    }

    fn waiting(world: &World<'_>) -> Vec<u64> {
        let pacing = &world.nodes[HOST.index()].host.nics[0].pacing;
        let mut times: Vec<u64> = pacing.iter().map(|Reverse((at, _))| *at).collect();
        times.sort_unstable();
        times
    }

    #[test]
    fn a_queue_pair_waits_for_its_pacing_time_and_is_then_ready() {
        sending(|world, slot| {
            let at = world.now + 100;
            half(world, slot).pacing.next_send = at;
            (0..2).for_each(|_| world.at(HOST).update_qp(slot));
            assert_eq!((waiting(world), half(world, slot).turn.is_ready), (vec![at], false));
            world.now = at - 1;
            world.at(HOST).paced_are_ready(0);
            assert_eq!((waiting(world), half(world, slot).turn.is_ready), (vec![at], false));
            world.now = at;
            world.at(HOST).paced_are_ready(0);
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
                world.at(HOST).update_qp(slot);
            }
            assert_eq!(waiting(world), [at, at + 50]);
            world.now = at;
            world.at(HOST).paced_are_ready(0);
            assert_eq!((waiting(world), half(world, slot).turn.is_ready), (vec![at + 50], false));
            world.now = at + 50;
            world.at(HOST).paced_are_ready(0);
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
            world.at(HOST).receive_cnp(&packet);
            let half = half(world, slot);
            assert_eq!((half.in_network, half.head.cnps), (before - 1, 1));
            assert_eq!((half.allowance.rate, half.pacing.paced), (Rate::gbps(50), true));
            // 1000 bytes at 50 Gbit/s.
            assert_eq!(half.gap_behind(1_000, crate::network::blueprint::Rounding::default()), 160_000);
        });
    }
}

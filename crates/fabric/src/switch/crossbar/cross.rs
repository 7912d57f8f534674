//! Passage of packets through a crossbar.
//!
//! A packet that arrives for a free crossbar starts to cross at once, and so do packets that a departure has
//! made room for. One event ends all crossings of an instant, and matches again the outputs and inputs that
//! they affect.

use std::mem::take;

use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::port_facts::across;
use floodway_mechanisms::slots::DropReason;

use super::{CrossingPacket, Inputs};
use crate::link::arena::{Lists, PacketRef};
use crate::link::packet::Packet;
use crate::run::at_node::AtSwitch;
use crate::run::ctx::Ctx;
use crate::run::events::EventKind;
use crate::run::events::NEVER;
use crate::switch::forward::Switch;

impl AtSwitch<'_, '_> {
    /// A packet has crossed to `out`, or never will: its input has room for another one.
    fn uncharge_voq(&mut self, out: Local, packet: &Packet) {
        let account = self.device.voq_account(packet.ingress, out, packet.class);
        self.device.inputs_mut().held[account] -= u64::from(packet.frame);
        let port_class = self.ctx.facts.layout.port_class(packet.ingress, packet.class);
        self.uncharge_account(port_class, packet.ingress, packet.frame);
    }

    /// A packet that is to leave by `out` and has not crossed has been dropped.
    pub fn never_crosses(&mut self, out: Local, packet: &Packet) {
        self.node.buffer.occupied -= u64::from(packet.frame);
        self.uncharge_voq(out, packet);
    }

    /// A charged packet waits at its input until it may cross to the `q`-th queue of `out`.
    pub fn wait_to_cross(&mut self, out: Local, q: usize, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        let (input, output) = (packet.ingress.index(), out.index());
        let inputs = self.device.inputs.as_mut().expect("the switch has a crossbar");
        let voq = inputs.voq(input, output, q - 1);
        inputs.voqs[voq].push(&mut self.ctx.run.packets, packet_ref);
        inputs.one_more(input, output);
        self.node.machines[out.index()].queueing.flow_waits(q, packet.flow);
        self.came_in(out, q, &packet);
        self.serve(output);
    }

    /// A packet starts on the wire of an output: its queue has room for another one.
    pub fn left_output(&mut self, port: Local, frame: u16) {
        self.node.buffer.occupied -= u64::from(frame);
        self.serve(port.index());
    }

    /// Something has changed for one output. Where packets have crossed at this instant, all that changes in
    /// it is seen to together.
    fn serve(&mut self, output: usize) {
        if self.device.crossed().wake == self.ctx.now {
            self.device.inputs_mut().crossbar.touch(output);
            return;
        }
        let mut crossbar = take(&mut self.device.inputs_mut().crossbar);
        let input = crossbar.serve(output, |input, output| self.next_across(input, output).is_some());
        self.device.inputs_mut().crossbar = crossbar;
        if let Some(input) = input {
            let at = self.start_across((input, output));
            self.device.wake_crossbar(&mut self.ctx, at);
        }
    }

    /// Packets have crossed.
    pub fn crossbar_wakes(&mut self) {
        // Else it was woken earlier since.
        if self.device.crossed().wake != self.ctx.now {
            return;
        }
        while let Some(packet) = self.device.inputs.as_mut().and_then(|i| i.pop_crossed(self.ctx.now)) {
            self.has_crossed(packet);
        }
        self.make_pairs();
        let inputs = self.device.inputs_mut();
        inputs.wake = NEVER;
        if let Some(next) = inputs.crossing.iter().map(|packet| packet.at).min() {
            self.device.wake_crossbar(&mut self.ctx, next);
        }
    }

    fn has_crossed(&mut self, crossed: CrossingPacket) {
        let CrossingPacket { output, input, queue, packet_ref, .. } = crossed;
        let packet = self.ctx.run.packets[packet_ref];
        let out = self.node.links.local(output);
        let inputs = self.device.inputs_mut();
        inputs.crossbar.release(input, output);
        let coming = output * inputs.queues + queue;
        inputs.coming[coming] -= u64::from(packet.frame);
        // Its link may have failed meanwhile, or a watchdog may drop its queue.
        if let Some(reason) = self.node.links.shut(&self.ctx.facts.layout, out, queue + 1) {
            self.node.machines[out.index()].queueing.flow_is_dropped(packet.flow);
            self.discard(self.ctx.facts.layout.port_class(packet.ingress, packet.class), packet_ref, reason);
            self.never_crosses(out, &packet);
            return;
        }
        self.uncharge_voq(out, &packet);
        self.enqueue(out, queue + 1, packet_ref);
        self.try_transmit(out);
    }

    /// Lets packets start to cross until no pair of free ports is left that has one.
    fn make_pairs(&mut self) {
        let inputs = self.device.inputs_mut();
        let (mut crossbar, mut pairs) = (take(&mut inputs.crossbar), take(&mut inputs.pairs));
        crossbar.make_pairs(|input, output| self.next_across(input, output).is_some(), &mut pairs);
        self.device.inputs_mut().crossbar = crossbar;
        for (input, output) in pairs.drain(..) {
            self.start_across((input, output));
        }
        self.device.inputs_mut().pairs = pairs;
    }

    /// The queue of data whose first packet would cross next from `input` to `output`, if any may.
    fn next_across(&self, input: usize, output: usize) -> Option<usize> {
        let ctx = &self.ctx;
        self.device.crossed().next_across(
            (&self.node.links, &ctx.facts.layout, &ctx.run.packets),
            input,
            output,
        )
    }

    /// The packet that crosses next from an input to an output starts to; when it will have crossed.
    fn start_across(&mut self, (input, output): (usize, usize)) -> u64 {
        let queue = self.next_across(input, output).expect("pairs are made of what may cross");
        let subs = self.ctx.facts.layout.subs;
        let inputs = self.device.inputs.as_mut().expect("the switch has a crossbar");
        let voq = inputs.voq(input, output, queue);
        let packet_ref = inputs.voqs[voq].pop(&self.ctx.run.packets).expect("a packet waits");
        let frame = u64::from(self.ctx.run.packets[packet_ref].frame);
        let took = across(
            self.node.links.ports[inputs.clock.index()].serial_time(frame + self.ctx.facts.layout.gap),
            inputs.plan.speed_up,
        );
        inputs.one_less(input, output);
        inputs.coming[output * inputs.queues + queue] += frame;
        inputs.turn[output] = (queue / subs + 1) % inputs.classes;
        let at = self.ctx.now + took;
        inputs.crossing.push(CrossingPacket { at, output, input, queue, packet_ref });
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.crosses(seen, packet_ref, at));
        }
        at
    }

    /// What waits at the inputs for a class of `out`, or is crossing, goes into the queues that it should
    /// wait in now.
    pub fn resort_inputs(&mut self, out: Local, class: u8) {
        let output = out.index();
        let first = (class as usize - 1) * self.ctx.facts.layout.subs;
        let own = self.node.machines[out.index()].queueing.class_queues();
        for input in 0..self.device.crossed().ports {
            let inputs = self.device.crossed();
            let voq = inputs.voq(input, output, first);
            let lists = Lists::from_slice(&inputs.voqs[voq..voq + own]);
            let sorted = self.sorted(out, class, &lists);
            let voqs = &mut self.device.inputs_mut().voqs[voq..voq + own];
            voqs.iter_mut().zip(sorted).for_each(|(voq, queue)| *voq = queue.fifo);
        }
        let is_its =
            |packet: &CrossingPacket| packet.output == output && (first..first + own).contains(&packet.queue);
        // One packet at most crosses to an output.
        if let Some(at) = self.device.crossed().crossing.iter().position(is_its) {
            let CrossingPacket { packet_ref, queue, .. } = self.device.crossed().crossing[at];
            let packet = self.ctx.run.packets[packet_ref];
            let sub = self.sub_of(out, &packet);
            let inputs = self.device.inputs_mut();
            inputs.crossing[at].queue = first + sub;
            inputs.coming[output * inputs.queues + queue] -= u64::from(packet.frame);
            inputs.coming[output * inputs.queues + first + sub] += u64::from(packet.frame);
            self.node.machines[out.index()].queueing.flow_moves(first + sub + 1, packet.flow);
        }
        self.serve(output);
    }

    /// Drops what waits at the inputs to cross to a port.
    pub fn flush_inputs(&mut self, out: Local, class: u8, reason: DropReason) {
        let output = out.index();
        let queues =
            (class as usize - 1) * self.ctx.facts.layout.subs..class as usize * self.ctx.facts.layout.subs;
        for input in 0..self.device.crossed().ports {
            for queue in queues.clone() {
                let inputs = self.device.inputs_mut();
                let voq = inputs.voq(input, output, queue);
                let mut dropped = take(&mut inputs.voqs[voq]);
                while let Some(packet_ref) = dropped.pop(&self.ctx.run.packets) {
                    let packet = self.ctx.run.packets.take(packet_ref);
                    self.device.inputs_mut().one_less(input, output);
                    self.node.machines[out.index()].queueing.flow_is_dropped(packet.flow);
                    self.drop_packet(
                        self.ctx.facts.layout.port_class(packet.ingress, class),
                        &packet,
                        reason,
                    );
                    self.never_crosses(out, &packet);
                }
            }
        }
    }
}

impl Switch {
    fn crossed(&self) -> &Inputs {
        self.inputs.as_ref().expect("the switch has a crossbar")
    }

    pub fn inputs_mut(&mut self) -> &mut Inputs {
        self.inputs.as_mut().expect("the switch has a crossbar")
    }

    /// A packet has been charged that will cross to `out`.
    pub fn charge_voq(&mut self, ingress: Local, out: Local, class: u8, frame: u16) {
        let account = self.voq_account(ingress, out, class);
        self.inputs_mut().held[account] += u64::from(frame);
    }

    /// Where the bytes are counted that came in by `ingress` and are to cross to `out`.
    pub fn voq_account(&self, ingress: Local, out: Local, class: u8) -> usize {
        self.crossed().account(ingress.index(), out.index(), class as usize - 1)
    }

    /// Asks for an event of the crossbar.
    pub fn wake_crossbar(&mut self, ctx: &mut Ctx<'_, '_>, at: u64) {
        let inputs = self.inputs_mut();
        if at < inputs.wake {
            inputs.wake = at;
            ctx.run.events.add(EventKind::Crossing, self.number, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, Role};
    use floodway_records::outcome::Control;
    use floodway_units::{Bytes, NodeId, Span};
    use floodway_wire::Telemetry;

    use super::*;
    use crate::Fabric;
    use crate::run::world::World;
    use crate::testing::{at_switch, busy, run_to};

    const SWITCH: NodeId = NodeId(4);

    /// The busy network, with this buffer at its switches.
    fn with_buffer(buffer: &str) -> Blueprint {
        let mut blueprint = busy();
        for node in &mut blueprint.nodes {
            if let Role::Switch(spec) = &mut node.role {
                spec.buffer = serde_json::from_str(buffer).expect("it is well formed");
            }
        }
        blueprint
    }

    fn at(blueprint: &Blueprint, end: Span, test: impl FnOnce(&mut World<'_>)) {
        let control = Control::default();
        let mut fabric = Fabric::build(blueprint, &control).expect("it is sound");
        run_to(&mut fabric, end);
        test(&mut fabric.world);
    }

    fn switch<'w>(world: &'w mut World<'_>) -> &'w mut Switch {
        world.nodes[SWITCH.index()].switch_mut().expect("it is one")
    }

    fn inputs<'w>(world: &'w mut World<'_>) -> &'w mut Inputs {
        switch(world).inputs.as_mut().expect("it has a crossbar")
    }

    #[test]
    fn an_output_has_room_for_what_waits_there_and_is_crossing_to_it() {
        at(&with_buffer(r#""ioq""#), Span::ZERO, |world| {
            let output = 1;
            let queue = world.facts.layout.queues(Local::at(output)).nth(1);
            // Of 100 KB.
            for (waits, comes, frame, room) in [
                (0, 0, 100_000, true),
                (0, 0, 100_001, false),
                (60_000, 39_000, 1_000, true),
                (60_000, 39_000, 1_001, false),
                (99_001, 0, 1_000, false),
            ] {
                world.nodes[SWITCH.index()].links.queues[queue].bytes = waits;
                inputs(world).coming[output] = comes;
                let node = &world.nodes[SWITCH.index()];
                let found = node.switch().expect("it is one").crossed().has_room(
                    &node.links,
                    &world.facts.layout,
                    (output, 0),
                    frame,
                );
                assert_eq!(found, room, "{waits} {comes} {frame}");
            }
        });
    }

    #[test]
    fn bytes_that_are_to_cross_are_counted_by_input_and_output() {
        at(&with_buffer(r#""ioq""#), Span::ZERO, |world| {
            let (first, second, third) = (Local::at(0), Local::at(1), Local::at(2));
            switch(world).charge_voq(first, second, 1, 1_000);
            switch(world).charge_voq(first, third, 1, 700);
            switch(world).charge_voq(first, third, 1, 800);
            switch(world).charge_voq(second, third, 1, 90);
            let of = |port| world.facts.layout.port_class(port, 1);
            let accounts = [first, second, third].map(of);
            let at_node = at_switch(world, SWITCH);
            assert_eq!(
                accounts
                    .map(|account| at_node.device.crossed().longest_of(&at_node.ctx.facts.layout, account)),
                [1_500, 90, 0]
            );
            let held = |input, output| at_node.voq_bytes(input, output, 1);
            assert_eq!([held(first, second), held(first, third), held(second, third)], [1_000, 1_500, 90]);
            assert_eq!((held(third, first), at_node.voq_bytes(first, second, 0)), (0, 0));
        });
    }

    #[test]
    fn the_crossbar_wakes_for_the_earliest_packet_alone() {
        at(&with_buffer(r#""ioq""#), Span::ZERO, |world| {
            for (asked, wakes) in [(500, 500), (600, 500), (500, 500), (400, 400)] {
                let at = &mut at_switch(world, SWITCH);
                at.device.wake_crossbar(&mut at.ctx, asked);
                assert_eq!(inputs(world).wake, wakes);
            }
        });
    }

    #[test]
    fn a_packet_crosses_in_half_of_its_time_on_the_link() {
        let ends = |buffer: &str| {
            let mut blueprint = with_buffer(buffer);
            let Arrivals::List(flows) = &mut blueprint.workloads[0].arrivals else { panic!("it is a list") };
            flows.truncate(1);
            flows[0].size = Bytes(1_000);
            let mut end = 0;
            at(&blueprint, Span::us(100), |world| end = world.runs.own.kept.records.received_rows[0].finish);
            end
        };
        // Two switches with a speed-up of two, at 80 ps a byte.
        let wire = busy().wire.data_with(Bytes(1_000), true, Telemetry::None).wire.0;
        assert_eq!(ends(r#""ioq""#), ends(r#"{"shared": {"pool": "1MB"}}"#) + 2 * wire * 40);
    }

    #[test]
    fn what_has_crossed_leaves_nothing_behind() {
        at(&with_buffer(r#""ioq""#), Span::us(40), |world| {
            assert!(inputs(world).held.iter().any(|held| *held > 0), "packets wait at their inputs");
            world.debug_check();
        });
        at(&with_buffer(r#""ioq""#), Span::us(900), |world| {
            assert_eq!(world.runs.own.kept.records.flows_done, 3);
            assert_eq!(world.nodes[SWITCH.index()].buffer.occupied, 0);
            let inputs = inputs(world);
            assert!(inputs.held.iter().chain(&inputs.coming).all(|bytes| *bytes == 0));
            assert!(inputs.waiting.iter().all(|packets| *packets == 0) && inputs.crossing.is_empty());
            assert_eq!(inputs.wake, NEVER);
        });
    }
}

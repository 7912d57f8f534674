use floodway_units::{NodeId, Span};

use super::*;
use crate::run::world::World;
use crate::switch::congestion::PortMachines;
use crate::testing::at_busy;

const SWITCH: NodeId = NodeId(4);
const PORT: Local = Local::FIRST;
const FLOW: FlowId = FlowId(7);

fn machines<'w>(world: &'w mut World<'_>) -> &'w mut PortMachines {
    &mut world.nodes[SWITCH.index()].machines[PORT.index()]
}

/// A packet of data that came in by this port.
fn data(ingress: usize, frame: u64) -> Packet {
    let mut packet = Packet::new(Kind::Data, FLOW, Bytes(frame));
    (packet.class, packet.ingress) = (1, Local::at(ingress));
    packet
}

#[test]
fn marks_are_counted_by_kind_and_only_data_has_them() {
    at_busy(Span::ZERO, |world| {
        let port_class = world.facts.layout.port_class(PORT, 1);
        let packet = world.runs.own.packets.add(data(0, 1_000));
        let cnp = world.runs.own.packets.add(Packet::new(Kind::Cnp, FLOW, Bytes(64)));
        let mut counted = |packet_ref, mark| {
            world.at(SWITCH).mark(port_class, packet_ref, mark);
            let egress = &world.nodes[SWITCH.index()].links.egress[port_class];
            (egress.counters.ecn_marks, egress.rare.ue_marks, world.runs.own.packets[packet_ref].mark())
        };
        assert_eq!(counted(packet, Mark::None), (0, 0, Mark::None));
        assert_eq!(counted(cnp, Mark::Ce).0, 0);
        assert_eq!(counted(packet, Mark::Ue), (0, 1, Mark::Ue));
        assert_eq!(counted(packet, Mark::Ce), (1, 1, Mark::Ce));
        assert_eq!(counted(packet, Mark::Ce), (2, 1, Mark::Ce));
    });
}

#[test]
fn the_queue_of_a_flow_is_noted_where_there_are_several_and_a_machine() {
    // (has a machine, queues of a class, queues of the port).
    for (has_cp, subs, queues, noted) in
        [(true, 1, 2, false), (true, 2, 2, true), (true, 1, 3, true), (false, 2, 3, false)]
    {
        at_busy(Span::ZERO, |world| {
            (world.facts.layout.subs, world.facts.layout.queues_per_port) = (subs, queues);
            let machines_of = &mut world.nodes[SWITCH.index()].machines[PORT.index()];
            if !has_cp {
                machines_of.congestion_points.clear();
            }
            machines_of.note_queue_of_flow(&world.facts.layout, 2, FLOW);
            let found = machines(world).queue_of_flow.get(&FLOW.0).copied();
            assert_eq!(found, noted.then_some((2, 1)), "{has_cp} {subs} {queues}");
        });
    }
}

#[test]
fn a_flow_keeps_its_queue_until_its_last_packet_has_left() {
    at_busy(Span::ZERO, |world| {
        world.facts.layout.subs = 2;
        let note = |world: &mut World<'_>, q| {
            world.nodes[SWITCH.index()].machines[PORT.index()].note_queue_of_flow(
                &world.facts.layout,
                q,
                FLOW,
            );
        };
        let found = |world: &mut World<'_>| machines(world).queue_of_flow.get(&FLOW.0).copied();
        note(world, 1);
        note(world, 2);
        assert_eq!(found(world), Some((1, 2)));
        world.nodes[SWITCH.index()].machines[PORT.index()].replaced(2, FLOW);
        world.nodes[SWITCH.index()].machines[PORT.index()].flow_left_queue(FLOW);
        assert_eq!(found(world), Some((2, 1)));
        world.nodes[SWITCH.index()].machines[PORT.index()].flow_left_queue(FLOW);
        assert_eq!(found(world), None);
        world.nodes[SWITCH.index()].machines[PORT.index()].flow_left_queue(FLOW);
        assert_eq!(found(world), None);
    });
}

#[test]
fn the_fast_path_of_a_port_reaches_to_the_least_threshold_of_its_machines() {
    at_busy(Span::ZERO, |world| {
        // RED marks from 5 KB on.
        assert_eq!(
            world.nodes[SWITCH.index()].machines[PORT.index()].fast_path_up_to(&world.facts.layout),
            5_000
        );
        world.facts.layout.queues_per_port = 3;
        assert_eq!(
            world.nodes[SWITCH.index()].machines[PORT.index()].fast_path_up_to(&world.facts.layout),
            0,
            "the queue of each flow is kept"
        );
        machines(world).congestion_points.clear();
        assert_eq!(
            world.nodes[SWITCH.index()].machines[PORT.index()].fast_path_up_to(&world.facts.layout),
            u32::MAX
        );
        world.facts.layout.queues_per_port = 2;
        assert_eq!(
            world.nodes[SWITCH.index()].machines[PORT.index()].fast_path_up_to(&world.facts.layout),
            u32::MAX
        );
    });
}

#[test]
fn bytes_of_an_input_are_counted_by_port_and_class_where_a_machine_watches_them() {
    at_busy(Span::ZERO, |world| {
        let held = |world: &mut World<'_>, ingress, class| {
            machines(world).inputs.get(&(Local::at(ingress), class)).copied()
        };
        world.nodes[SWITCH.index()].machines[PORT.index()].count_input(&data(1, 1_000), true);
        assert_eq!(held(world, 1, 1), None, "no machine watches");
        machines(world).watches = true;
        for (ingress, frame, joins, expected) in
            [(1, 1_000, true, 1_000), (1, 500, true, 1_500), (2, 70, true, 70), (1, 1_000, false, 500)]
        {
            world.nodes[SWITCH.index()].machines[PORT.index()].count_input(&data(ingress, frame), joins);
            assert_eq!(held(world, ingress, 1), Some(expected));
        }
        // What waited before the machine came was not counted.
        world.nodes[SWITCH.index()].machines[PORT.index()].count_input(&data(1, 501), false);
        assert_eq!(held(world, 1, 1), Some(0));
        let mut control = data(1, 64);
        control.class = 0;
        world.nodes[SWITCH.index()].machines[PORT.index()].count_input(&control, true);
        assert_eq!(held(world, 1, 0), None);
        assert_eq!(world.at(SWITCH).voq_bytes(Local::at(2), PORT, 1), 70);
        assert_eq!(world.at(SWITCH).voq_bytes(Local::at(2), PORT, 0), 0);
    });
}

use floodway_units::{Bytes, Span};

use super::*;
use crate::link::packet::Kind;
use crate::testing::at_busy;

const FLOW: FlowId = FlowId(7);

fn of(data: Queueing) -> PortQueueing {
    PortQueueing { data, ..PortQueueing::default() }
}

const PLAIN: Queueing = Queueing::Fifo;
const FLOWS: Queueing = Queueing::Flows { queues: 2, inputs: false };
const INPUTS: Queueing = Queueing::Flows { queues: 2, inputs: true };

/// A packet of data that came in by this port.
fn data(ingress: usize, frame: u64) -> Packet {
    let mut packet = Packet::new(Kind::Data, FLOW, Bytes(frame));
    (packet.class, packet.ingress) = (1, Local::at(ingress));
    packet
}

#[test]
fn the_queue_of_a_flow_is_kept_where_there_are_several() {
    for (data, kept) in
        [(PLAIN, false), (FLOWS, true), (Queueing::Packets { queues: 5 }, true), (Queueing::Isolating, true)]
    {
        let mut queueing = of(data);
        queueing.flow_waits(2, FLOW);
        assert_eq!(queueing.queue_of(FLOW), kept.then_some(2), "{data:?}");
    }
}

#[test]
fn a_flow_keeps_its_queue_until_its_last_packet_has_left() {
    let mut queueing = of(FLOWS);
    queueing.flow_waits(1, FLOW);
    queueing.flow_waits(2, FLOW);
    assert_eq!(queueing.queue_of(FLOW), Some(1));
    queueing.flow_moves(2, FLOW);
    queueing.flow_leaves(FLOW);
    assert_eq!(queueing.queue_of(FLOW), Some(2));
    for _ in 0..2 {
        queueing.flow_leaves(FLOW);
        assert_eq!(queueing.queue_of(FLOW), None);
    }
}

#[test]
fn bytes_of_an_input_are_counted_by_port_and_class_where_the_discipline_observes_them() {
    let mut queueing = of(FLOWS);
    queueing.count_input(&data(1, 1_000), true);
    assert_eq!(queueing.input_bytes(Local::at(1), 1), 0, "inputs are not observed");
    let mut queueing = of(INPUTS);
    for (ingress, frame, joins, expected) in
        [(1, 1_000, true, 1_000), (1, 500, true, 1_500), (2, 70, true, 70), (1, 1_000, false, 500)]
    {
        queueing.count_input(&data(ingress, frame), joins);
        assert_eq!(queueing.input_bytes(Local::at(ingress), 1), expected);
    }
    // What waited before the machine came was not counted.
    queueing.count_input(&data(1, 501), false);
    assert_eq!(queueing.input_bytes(Local::at(1), 1), 0);
    let mut control = data(1, 64);
    control.class = 0;
    queueing.count_input(&control, true);
    assert_eq!(queueing.input_bytes(Local::at(1), 0), 0);
    at_busy(Span::ZERO, |world| {
        let switch = floodway_units::NodeId(4);
        world.nodes[switch.index()].machines[0].queueing = queueing;
        let at = crate::testing::at_switch(world, switch);
        assert_eq!(at.voq_bytes(Local::at(2), Local::FIRST, 1), 70);
        assert_eq!(at.voq_bytes(Local::at(2), Local::FIRST, 0), 0);
    });
}

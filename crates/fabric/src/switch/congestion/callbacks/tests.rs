use floodway_mechanisms::is_discipline;
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{Discipline, Mark, Queueing};
use floodway_units::{NodeId, Span};

use super::*;
use crate::run::world::World;
use crate::switch::congestion::PortMachines;
use crate::switch::discipline::PortQueueing;
use crate::testing::{at_busy, at_switch};

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
            at_switch(world, SWITCH).mark(port_class, packet_ref, mark);
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

/// Has two queues of each class.
struct Sorts;

impl CongestionPoint for Sorts {
    is_discipline!();
}

impl Discipline for Sorts {
    fn queueing(&self) -> Queueing {
        Queueing::Flows { queues: 2, inputs: false }
    }
}

#[test]
fn the_fast_path_of_a_port_reaches_to_the_least_threshold_of_its_machines() {
    at_busy(Span::ZERO, |world| {
        // RED marks from 5 KB on, what leaves.
        assert_eq!(machines(world).fast_path(), (u32::MAX, 5_000));
        let machines = machines(world);
        machines.congestion_points.push(AnyCongestionPoint::Custom(Box::new(Sorts)));
        machines.queueing = PortQueueing::of(&machines.congestion_points);
        assert_eq!(machines.fast_path(), (0, 0), "the queue of each flow is kept");
        machines.congestion_points.clear();
        machines.queueing = PortQueueing::default();
        assert_eq!(machines.fast_path(), (u32::MAX, u32::MAX));
    });
}

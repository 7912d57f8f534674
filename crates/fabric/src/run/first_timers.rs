//! Timers that machines ask for before any packet has come.

use floodway_mechanisms::slots::{FcReceiver as _, FcSender as _};
use floodway_units::PortId;

use crate::run::events::EventKind;
use crate::run::world::World;
use crate::switch::signals;

/// Machines may ask for a timer from the start, before any packet has come.
pub(crate) fn arm_machines(world: &mut World<'_>) {
    // Where ties go by the order of scheduling, it is that of all accounts, then of all sender halves,
    // then of all ports.
    let own = |port: &PortId| world.owns(world.facts.node_of(*port));
    let all: Vec<PortId> = world.facts.blueprint.ports().filter(own).collect();
    let classes = world.facts.layout.class_count();
    for (&port, class) in all.iter().flat_map(|port| (0..classes).map(move |class| (port, class))) {
        let (at, port) = world.at_port(port);
        let (ctx, node) = at.core();
        let ingress = &mut node.buffer.accounts[ctx.facts.layout.port_class(port, class)];
        let next = ingress.receiver.next_timeout();
        ctx.run.events.sync(&mut ingress.timer, next, EventKind::FcReceiver, ingress.id);
    }
    for (&port, class) in all.iter().flat_map(|port| (0..classes).map(move |class| (port, class))) {
        let (at, port) = world.at_port(port);
        let (ctx, node) = at.core();
        let egress = &mut node.links.egress[ctx.facts.layout.port_class(port, class)];
        let next = egress.sender.next_timeout();
        ctx.run.events.sync(&mut egress.timer, next, EventKind::FcSender, egress.id);
    }
    for &id in &all {
        let (at, port) = world.at_port(id);
        let (ctx, node) = at.core();
        node.machines[port.index()].sync(&mut ctx.run.events, id);
    }
    if world.runs.own.kept.signals.is_some() {
        for port in all {
            let (at, port) = world.at_port(port);
            let (mut ctx, node) = at.core();
            signals::note_first_states(&mut ctx, node, port);
        }
    }
}

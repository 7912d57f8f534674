//! Each field of which what follows depends shows in the texts of the state, under its name.

use floodway_mechanisms::slots::TransportSender as _;
use floodway_units::{Bytes, Span, Time};

use super::Moment;
use super::parts::{Differences, Parts};
use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::link::port::{Egress, Port};
use crate::run::world::World;
use crate::switch::buffer::{Buffer, Ingress};
use crate::testing::at_busy;

/// A switch with a queue that stands.
const SWITCH: usize = 5;

fn texts(world: &mut World<'_>) -> Parts {
    let now = Time(world.now);
    let World { facts, nodes, runs, .. } = world;
    let mut moment = Moment { facts, nodes, runs, now };
    let iterations = moment.iterations();
    moment.parts(&iterations)
}

fn port<'w>(world: &'w mut World<'_>) -> &'w mut Port {
    &mut world.nodes[SWITCH].links.ports[0]
}

fn egress<'w>(world: &'w mut World<'_>) -> &'w mut Egress {
    &mut world.nodes[SWITCH].links.egress[0]
}

fn account<'w>(world: &'w mut World<'_>) -> &'w mut Ingress {
    &mut world.nodes[SWITCH].buffer.accounts[0]
}

fn buffer<'w>(world: &'w mut World<'_>) -> &'w mut Buffer {
    &mut world.nodes[SWITCH].buffer
}

/// The first packet of a queue.
fn packet<'w>(world: &'w mut World<'_>) -> &'w mut Packet {
    let World { nodes, runs, .. } = world;
    let packets = &mut runs.own.packets;
    let mut fifos = nodes[SWITCH].links.queues.iter().map(|queue| queue.fifo);
    let first: PacketRef = fifos.find_map(|fifo| fifo.packet_refs(packets).next()).expect("a queue stands");
    &mut packets[first]
}

type Change = fn(&mut World<'_>);

/// The field, and a change of it alone.
const CHANGES: [(&str, Change); 34] = [
    ("free at", |world| port(world).free_at = u64::MAX / 2),
    ("waiting", |world| port(world).waiting += 1),
    ("up", |world| port(world).up ^= true),
    ("controls", |world| port(world).controls ^= true),
    ("armed", |world| port(world).armed ^= true),
    ("choosing", |world| port(world).choosing ^= true),
    ("gates, paused", |world| port(world).gates.paused ^= 2),
    ("paused", |world| flip(&mut egress(world).paused_since)),
    ("counts sent", |world| egress(world).counts_sent ^= true),
    ("sender timer", |world| egress(world).timer.at = 5),
    ("held", |world| account(world).held += 1),
    ("headroom", |world| account(world).headroom += 1),
    ("receiver timer", |world| account(world).timer.at = 5),
    ("pool used", |world| buffer(world).pool_used += 1),
    ("occupied", |world| buffer(world).occupied += 1),
    ("next release", |world| buffer(world).next_release -= 1),
    ("bytes", |world| world.nodes[SWITCH].links.queues[0].bytes += 1),
    ("cp timer", |world| world.nodes[SWITCH].machines[0].cp_timer.at = 5),
    ("payload", |world| packet(world).payload += 1),
    ("frame", |world| packet(world).frame += 1),
    ("stamp", |world| packet(world).stamp += 1),
    ("hop", |world| packet(world).hop += 1),
    ("flags", |world| packet(world).flags ^= 1),
    ("next send", |world| world.runs.own.pairs.senders[0].pacing.next_send = world.now + 7_777),
    ("last send", |world| world.runs.own.pairs.senders[0].pacing.last_send.0 += 1),
    ("end", |world| world.runs.own.pairs.senders[0].end += 1),
    ("sent", |world| world.runs.own.pairs.senders[0].head.sent ^= true),
    ("retransmitted", |world| world.runs.own.pairs.senders[0].head.retransmitted += 1),
    ("transport, rest", |world| world.runs.own.pairs.senders[0].transport.push(Bytes(1))),
    ("newest", |world| world.runs.own.pairs.receivers[0].newest += 1),
    ("delivered", |world| world.runs.own.pairs.receivers[0].head.delivered += 1),
    ("failed", |world| world.nodes[0].host.nics[0].failed ^= true),
    ("pacing timer", |world| world.nodes[0].host.nics[0].pacing_timer.at = 5),
    ("streams", |world| {
        world.nodes[SWITCH].streams.routing.next_u64();
    }),
];

/// Paused or not.
fn flip(since: &mut u64) {
    *since = if *since == u64::MAX { 5 } else { u64::MAX };
}

#[test]
fn each_change_of_the_state_shows_under_its_name() {
    for (name, change) in CHANGES {
        at_busy(Span::us(40), |world| {
            let before = texts(world);
            assert_eq!(before, texts(world), "it is the same while nothing changes");
            change(world);
            let now = texts(world);
            let differences = Differences::between((0, 1), &before, &now);
            let fields = differences.fields();
            assert!(fields.iter().any(|field| field.starts_with(name)), "{name}: {fields:?}");
        });
    }
}

#[test]
fn what_was_counted_shows_nowhere() {
    at_busy(Span::us(40), |world| {
        let before = texts(world);
        account(world).received.packets += 1;
        egress(world).counters.ecn_marks += 1;
        port(world).free_order += 1;
        assert_eq!(before, texts(world));
    });
}

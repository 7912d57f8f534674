//! Each field of which what follows depends shows in the texts of the state, under its name.

use std::cmp::Reverse;

use floodway_mechanisms::slots::{
    Cx, FcFrame, FcReceiver as _, FcSender as _, IngressView, Outbox, Segment, TransportReceiver as _,
    TransportSender as _,
};
use floodway_units::{Bytes, Class, Quanta, Span, Time, stream};

use super::Moment;
use super::parts::{Differences, Parts, Unit};
use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::link::port::{Egress, Port};
use crate::run::events::EventKind;
use crate::run::world::World;
use crate::switch::buffer::{Buffer, Ingress};
use crate::testing::at_busy;
use crate::traffic::flows::Source;

/// A switch with a queue that stands.
const SWITCH: usize = 5;

fn texts(world: &mut World<'_>) -> Parts {
    let now = Time(world.now);
    let World { facts, nodes, runs, .. } = world;
    let mut moment = Moment { facts, nodes, runs, part: None, now };
    let positions = moment.positions();
    moment.parts(&positions).0
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
const CHANGES: [(&str, Change); 42] = [
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
    ("failed", |world| world.nodes[0].host_mut().expect("it is one").nics[0].failed ^= true),
    ("pacing timer", |world| world.nodes[0].host_mut().expect("it is one").nics[0].pacing_timer.at = 5),
    ("last", |world| world.nodes[0].host_mut().expect("it is one").nics[0].last[1] += 1),
    ("paced", |world| {
        world.nodes[0].host_mut().expect("it is one").nics[0].pacing.push(Reverse((u64::MAX / 2, 0)));
    }),
    ("psn", |world| {
        let packet = packet(world);
        packet.set_psn(packet.psn() + 1, packet.turn());
    }),
    ("sender, ", |world| {
        let (now, pause) = (Time(world.now), FcFrame::Pause { class: Class::DATA, quanta: Quanta(7) });
        let (mut rng, mut out) = (stream(1, 0, "test"), Outbox::default());
        let mut cx = Cx { now, rng: &mut rng, out: &mut out };
        world.nodes[SWITCH].links.egress[1].sender.on_frame(&mut cx, pause);
    }),
    ("receiver, ", |world| {
        let (now, mut rng, mut out) = (Time(world.now), stream(1, 0, "test"), Outbox::default());
        let mut cx = Cx { now, rng: &mut rng, out: &mut out };
        let full = IngressView { shared: Bytes::mb(1), queued: Bytes::mb(1), ..IngressView::default() };
        for account in world.nodes[SWITCH].buffer.accounts.iter_mut() {
            account.receiver.on_enqueue(&mut cx, &full);
        }
    }),
    ("receiver, ", |world| {
        let (now, mut rng, mut out) = (Time(world.now), stream(1, 0, "test"), Outbox::default());
        let mut cx = Cx { now, rng: &mut rng, out: &mut out };
        let next = Segment { psn: 0, payload: Bytes(1000), first: false, last: false, retransmission: false };
        for psn in 0..10_000 {
            world.runs.own.pairs.receivers[0].receiver.on_segment(&mut cx, &Segment { psn, ..next });
        }
    }),
    ("next", |world| {
        if let Source::List { next, .. } = &mut world.runs.own.traffic.sources[0] {
            *next += 1;
        }
    }),
    ("frame", |world| buffer(world).releases[0].frame += 1),
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
            let differences = Differences::between((Unit::Iteration, Default::default()), &before, &now);
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

#[test]
fn events_show_with_their_time_and_what_they_are_of() {
    let with = |kind, id, wait: u64| {
        let mut parts = Parts::new();
        at_busy(Span::us(40), |world| {
            world.runs.own.events.add(kind, id, world.now + wait);
            parts = texts(world);
        });
        parts
    };
    let one = with(EventKind::Departure, 8, 5_000);
    assert_eq!(one, with(EventKind::Departure, 8, 5_000));
    assert_ne!(one, with(EventKind::Departure, 8, 5_001), "another time");
    assert_ne!(one, with(EventKind::FcSender, 8, 5_000), "another kind");
    let ports = [1, 3].map(|port| with(EventKind::Departure, port, 5_000));
    assert_ne!(ports[0], ports[1], "another port of the same switch");
}

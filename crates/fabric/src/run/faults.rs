//! Faults at known times: links that go down and up, delays that change, relays that are bypassed, ports that
//! pause their upstream.
//!
//! A link that goes down loses the packets on it. When its ends know, the packets that wait for it are lost,
//! and both halves of its flow controls restart when it is up again.

use floodway_blueprint::network::blueprint::{Blueprint, PauseFault};
use floodway_blueprint::network::changes::{self, Change, LinkChange};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::slots::{Cx, DropReason, FcFrame, FcReceiver, FcSender as _, PauseMode};
use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId, Quanta, Span, Time};

use crate::link::arena::PacketRef;
use crate::run::at_node::{At, AtNode};
use crate::run::device::Device;
use crate::run::events::{Events, NEVER};
use crate::run::state::Fault;
use crate::run::world::World;

impl Fault {
    /// All faults of a network: each becomes an event, but a pause only where its port is one of those nodes
    /// that are `owned`.
    pub fn arm(facts: &Facts<'_>, owned: &[bool], events: &mut Events) -> Vec<Self> {
        let faults = Self::of_network(facts.blueprint);
        for (i, &(at, fault)) in faults.iter().enumerate() {
            // A pause concerns one node alone.
            let concerns = match fault {
                Fault::Pause { port, .. } => owned[facts.node_of(port).index()],
                Fault::Change(_) | Fault::Bypass { .. } => true,
            };
            if at != NEVER && concerns {
                events.add_fault(narrow(i), at);
            }
        }
        faults.into_iter().map(|(_, fault)| fault).collect()
    }

    /// With their times.
    fn of_network(blueprint: &Blueprint) -> Vec<(u64, Self)> {
        let mut faults: Vec<(u64, Fault)> = Vec::new();
        for (i, link) in blueprint.links.iter().enumerate() {
            let changes = changes::of_link(narrow(i), link).into_iter();
            faults.extend(changes.map(|(at, change)| (at, Fault::Change(change))));
            for (end, spec) in link.ends.iter().enumerate() {
                let port = PortId(narrow(2 * i + end));
                faults.extend(spec.pauses.iter().map(|&pause| (pause.from.0, Fault::Pause { port, pause })));
            }
        }
        for (node, spec) in (0..).map(NodeId).zip(&blueprint.nodes) {
            let steps = spec.role.bypass().iter().flat_map(|&(from, to)| [(from, true), (to, false)]);
            faults.extend(steps.map(|(at, on)| (at.0, Fault::Bypass { node, on })));
        }
        faults
    }

    /// It happens now, in the whole network; it is the fault `index` of the run.
    pub fn happens(self, world: &mut World<'_>, index: u32) {
        match self {
            Fault::Change(Change::Link(change)) => link_changes(world, change),
            Fault::Change(Change::Delay { port, delay }) => delay_changes(world, port, delay),
            Fault::Pause { port, pause } => forced_pause(world, index, port, pause),
            Fault::Bypass { node, on } => bypass_changes(world, node, on),
        }
    }
}

/// A link goes down or comes up, or is known to.
fn link_changes(world: &mut World<'_>, change: LinkChange) {
    let LinkChange { link, down, wire, ends, routes, failover } = change;
    for run in world.runs.iter_mut().filter(|_| routes) {
        if let Some(changing) = &mut run.changing {
            changing.set(link, down);
        }
    }
    for port in [PortId(2 * link), PortId(2 * link + 1)] {
        if wire {
            wire_changes(world, port, down);
        }
        let (node, local) = (world.facts.node_of(port), world.facts.local(port));
        if !world.owns(node) {
            continue;
        }
        if ends {
            world.nodes[node.index()].links.ports[local.index()].up = !down;
            if down {
                world.at(node).discard_waiting(local);
            } else {
                if let Some(host) = world.nodes[node.index()].host_mut() {
                    host.nics[local.index()].failed = false;
                }
                world.at(node).reset(local);
            }
        }
        if failover[port.index() % 2]
            && let Some(host) = world.nodes[node.index()].host_mut()
        {
            host.nics[local.index()].failed = true;
        }
    }
    for node in 0..world.nodes.len() {
        let id = world.nodes[node].id;
        if world.nodes[node].nics().any(|nic| nic.failed)
            && world.owns(id)
            && let AtNode::Host(mut at) = world.at(id)
        {
            at.fail_over();
        }
    }
    if ends && !down {
        for port in [PortId(2 * link), PortId(2 * link + 1)] {
            if let Some((at, port)) = world.at_own_port(port) {
                at.try_transmit(port);
            }
        }
    }
}

/// What is on the wire from `port` is lost when it goes down.
fn wire_changes(world: &mut World<'_>, port: PortId, down: bool) {
    let to = (world.facts.node_of(peer(port)), world.facts.local(peer(port)));
    let (sends, receives) = (world.owns(world.facts.node_of(port)), world.owns(to.0));
    // What arrives at this instant has arrived; where ties go by scheduling order, faults were scheduled
    // before all else.
    let first = if world.runs.own.events.is_numbered() { world.now } else { world.now + 1 };
    let mut flying = Vec::new();
    if sends {
        let (node, local) = (world.facts.node_of(port), world.facts.local(port));
        let impairment = &mut world.nodes[node.index()].links.ports[local.index()].impairment;
        let Some(wire) = &mut impairment.wire else { return };
        wire.is_dead = down;
        if down {
            flying = wire.clear(first);
            impairment.latest = 0;
            impairment.retry.iter_mut().for_each(|retry| retry.sender_restarts());
        }
    } else if let Some(wire) = world.ranks.as_mut().and_then(|ranks| ranks.wire(port))
        && down
    {
        flying = wire.clear(first);
    }
    if down && receives {
        let rx = to.1;
        let retry = &mut world.nodes[to.0.index()].links.ports[rx.index()].impairment.retry;
        let waiting = retry.as_mut().map(|retry| retry.receiver_restarts()).unwrap_or_default();
        world.at(to.0).lose_on_link(rx, &waiting, DropReason::LinkDown);
    }
    // What flies to another process is there, on a wire of its own.
    for packet_ref in flying.into_iter().filter(|_| receives) {
        let packet = world.runs.own.packets.lose(packet_ref);
        if !packet.is_link_control() {
            let port_class = world.facts.layout.port_class(to.1, packet.class);
            world.nodes[to.0.index()].buffer.accounts[port_class].rare.lost.add(packet.frame);
            world.at(to.0).drop_packet(port_class, &packet, DropReason::LinkDown);
        }
    }
}

/// What is sent from now on takes another time; what is on the link does not.
fn delay_changes(world: &mut World<'_>, port: PortId, delay: u64) {
    let (node, local) = (world.facts.node_of(port), world.facts.local(port));
    if world.owns(node) {
        world.nodes[node.index()].links.ports[local.index()].link.delay = delay;
    }
    world.facts.ports[port.index()].delay = Span(delay);
}

/// The two links of a relay are joined past it, or lead to it again. What it holds is lost, and its
/// neighbours' flow control begins anew, as where a link comes up.
fn bypass_changes(world: &mut World<'_>, node: NodeId, on: bool) {
    let Some(ports) = world.facts.blueprint.nodes[node.index()].role.relay() else { return };
    let own = [ports.local, ports.remote];
    for port in own {
        if !world.owns(node) {
            continue;
        }
        if let Some(relay) = world.nodes[node.index()].switch_mut().and_then(|switch| switch.relay.as_mut()) {
            relay.is_bypassed = on;
        }
        let (at, port) = world.at_port(port);
        at.discard_waiting(port);
    }
    let all = own.into_iter().chain(own.map(peer));
    for port in all.clone() {
        if let Some((at, port)) = world.at_own_port(port) {
            at.reset(port);
        }
    }
    for port in all {
        if let Some((at, port)) = world.at_own_port(port) {
            at.try_transmit(port);
        }
    }
}

/// Sends a pause, and arranges for its refresh or its end.
fn forced_pause(world: &mut World<'_>, index: u32, port: PortId, pause: PauseFault) {
    let mode = world.facts.pause_mode_at(port, pause.class);
    let (at, local) = world.at_port(port);
    if let Some(next) = at.force_pause(local, pause, mode) {
        world.runs.own.events.add_fault(index, next);
    }
}

impl<D: Device> At<'_, '_, D> {
    /// Sends a pause; when to refresh it or to end it, if it does not end now.
    pub fn force_pause(&mut self, port: Local, pause: PauseFault, mode: PauseMode) -> Option<u64> {
        let (now, time) = (self.ctx.now, self.ctx.time());
        let to = self.ctx.run.events.simulated(pause.to.0);
        let ends = now >= to;
        let class = self.ctx.facts.layout.dense(pause.class);
        if ends
            && class != u8::MAX
            && self.node.buffer.accounts[self.ctx.facts.layout.port_class(port, class)]
                .receiver
                .is_pausing(time)
        {
            // The port's own flow control has paused as well, and will say itself when that is over.
            return None;
        }
        let quanta = if ends { Quanta(0) } else { Quanta::MAX };
        if self.ctx.run.is_traced() && !ends && class != u8::MAX {
            self.each_trace(|trace, seen| trace.forced(seen, port, class));
        }
        self.ctx.run.out.frames.0.push(FcFrame::Pause { class: pause.class, quanta });
        if self.node.links.ports[port.index()].up && !self.device.is_bypassed() {
            self.flush_frames(port);
        } else {
            self.ctx.run.out.frames.0.clear();
        }
        if ends || class == u8::MAX {
            return None;
        }
        let half = Quanta::MAX.span(self.ctx.facts.ports[peer(self.node.links.id(port)).index()].rate).0 / 2;
        let refresh = match mode {
            PauseMode::Timer => now + half,
            PauseMode::OnOff => u64::MAX,
        };
        Some(refresh.min(to)).filter(|next| *next != u64::MAX)
    }

    /// A packet starts on a wire that may be down; whether it will arrive.
    pub fn is_carried(&mut self, port: Local, packet_ref: PacketRef, arrival: u64) -> bool {
        let Some(wire) = &mut self.node.links.ports[port.index()].impairment.wire else { return true };
        if !wire.is_dead {
            wire.carries(packet_ref, self.ctx.now, arrival);
            return true;
        }
        if let Some((free, _)) = self.ctx.run.events.two_numbers() {
            self.node.links.ports[port.index()].free_order = free;
        }
        let packet = self.ctx.run.packets.take(packet_ref);
        if !packet.is_link_control() {
            let port_class = self.ctx.facts.layout.port_class(port, packet.class);
            self.node.links.egress[port_class].rare.lost.add(packet.frame);
            self.is_gone(&packet);
        }
        false
    }

    /// All that waits to be sent out of a port is lost.
    pub fn discard_waiting(&mut self, port: Local) {
        let state = &mut self.node.links.ports[port.index()];
        let mut waiting = std::mem::take(&mut state.control);
        state.controls = state.has_controls();
        while let Some(packet_ref) = waiting.pop(&self.ctx.run.packets) {
            self.ctx.run.packets.take(packet_ref);
        }
        for class in 0..self.ctx.facts.layout.class_count() {
            self.flush_queues(port, class, DropReason::LinkDown);
        }
    }

    /// Both halves of the link's flow controls start in their initial state.
    pub fn reset(&mut self, port: Local) {
        for class in 1..self.ctx.facts.layout.class_count() {
            let port_class = self.ctx.facts.layout.port_class(port, class);
            let mut cx = Cx {
                now: Time(self.ctx.now),
                rng: &mut self.node.streams.flow_control,
                out: &mut self.ctx.run.out.frames,
            };
            self.node.links.egress[port_class].sender.on_link_reset(&mut cx);
            self.flush_frames(port);
            self.sender_changed(port, port_class);
            self.apply_releases();
            self.with_receiver(port_class, port, FcReceiver::on_link_reset);
            self.repeat_relayed(port, class);
        }
    }

    /// A relay's far end starts open: a pause that lasts on the relay's other port is sent to it at once.
    fn repeat_relayed(&mut self, port: Local, class: u8) {
        let other = self.device.relay().map(|relay| relay.other(port));
        let Some(other) = other else { return };
        let Some((disposition, _)) = self.device.relays(other, class) else { return };
        if !self.device.is_bypassed()
            && disposition.forwards()
            && self.node.links.egress[self.ctx.facts.layout.port_class(other, class)].paused_since != NEVER
        {
            let class = self.ctx.facts.layout.classes[class as usize];
            self.ctx.run.out.frames.0.push(FcFrame::Pause { class, quanta: Quanta::MAX });
            self.flush_frames(port);
        }
    }
}

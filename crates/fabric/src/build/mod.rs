//! Construction of a network at rest from a blueprint: its facts and its nodes.

use std::sync::Arc;

use floodway_blueprint::error::BuildError;
use floodway_blueprint::network::blueprint::{Blueprint, Release, Ties};
use floodway_blueprint::network::facts::{Demanded, Facts};
use floodway_blueprint::network::layout::{Layout, Local};
use floodway_blueprint::network::machines::{points_with, scheduler_and_points};
use floodway_blueprint::network::routing::Routes;
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{CongestionPoint, FcSender as _, PortInfo};
use floodway_units::Span;

use self::nodes::NodeBuilder;
use self::ports::{build_machines, congested};
use crate::host::listed::Listed;
use crate::run::node::{AnyDevice, Node};
use crate::switch::congestion::PortMachines;
use crate::switch::discipline::PortQueueing;
use crate::switch::discipline::output::OutputQueue;

pub mod footprint;
mod nodes;
mod port_classes;
mod ports;

/// A network at rest: its facts, and its nodes, of which only those `owned` have what they own. `routes` are
/// those over all links.
///
/// # Errors
/// What makes the blueprint unfit, with the place.
pub(crate) fn network<'a>(
    blueprint: &'a Blueprint,
    routes: Arc<Routes>,
    listed: &Listed,
    owned: &[bool],
) -> Result<(Facts<'a>, Vec<Node>), BuildError> {
    let (machines, class_queues) = build_machines(blueprint, owned)?;
    let layout = Layout::new(blueprint.classes(), class_queues, blueprint.wire);
    let mut facts = Facts::new(blueprint, routes, layout);
    facts.number_nodes()?;
    let mut builder =
        NodeBuilder { facts: &mut facts, accounts: blueprint.accounts(), listed, wanted: owned };
    builder.record_others()?;
    let mut nodes = builder.nodes(machines)?;
    facts.know_switches();
    for node in &mut nodes {
        meet_ports(&facts, node);
    }
    facts.largest = facts.largest_ever();
    build_with_largest(&facts, &mut nodes)?;
    note_elsewhere(&mut facts, owned)?;
    for node in &mut nodes {
        introduce_ports(&facts, node);
    }
    for port in blueprint.ports() {
        let node = facts.node_of(port);
        if owned[node.index()] {
            let (node, port) = (&mut nodes[node.index()], facts.local(port));
            set_callbacks(&mut facts, node, port);
        }
    }
    Ok((facts, nodes))
}

/// Builds the nodes of other processes, at rest, to hold what these have kept of them.
pub(crate) fn build_elsewhere(facts: &mut Facts<'_>, nodes: &mut [Node], listed: &Listed, owned: &[bool]) {
    let blueprint = facts.blueprint;
    let wanted: Vec<bool> = owned.iter().map(|owned| !owned).collect();
    let built = build_machines(blueprint, &wanted).and_then(|(machines, _)| {
        NodeBuilder { facts, accounts: blueprint.accounts(), listed, wanted: &wanted }.nodes(machines)
    });
    let built = built.expect("each was built by its own process");
    for (node, elsewhere) in nodes.iter_mut().zip(built).filter(|(node, _)| wanted[node.id.index()]) {
        *node = elsewhere;
    }
}

/// Notes what congestion points at nodes of other processes demand of all.
fn note_elsewhere(facts: &mut Facts<'_>, owned: &[bool]) -> Result<(), BuildError> {
    let (blueprint, largest) = (facts.blueprint, facts.largest.rtt);
    for port in blueprint.ports() {
        let has_points =
            !blueprint.links[port.index() / 2].ends[port.index() % 2].congestion_points.is_empty();
        if has_points && !owned[facts.node_of(port).index()] {
            let (_, mut points) = scheduler_and_points(blueprint, port)?;
            points_with(blueprint, port, largest, &mut points)?;
            facts.demand(port, &demanded(&points));
        }
    }
    Ok(())
}

/// What the congestion points of a port demand of the whole network.
pub(crate) fn demanded(points: &[AnyCongestionPoint]) -> Demanded {
    let demands = || points.iter().map(CongestionPoint::demands);
    let naming = demands().map(|demands| demands.naming).max().unwrap_or_default();
    // Of machines from outside the tree it is not known.
    let is_unknown = points.iter().any(|point| matches!(point, AnyCongestionPoint::Custom(_)));
    Demanded {
        naming,
        names_flows: is_unknown || naming > Span::ZERO,
        observes_cnps: demands().any(|demands| demands.cnps),
        isolates: PortQueueing::of(points).isolates(),
    }
}

/// What the accounts of each port know of it and of the link that leads there, and what it knows of their
/// classes.
fn meet_ports(facts: &Facts<'_>, node: &mut Node) {
    node.buffer.set_lossy_room();
    for at in node.locals() {
        let node = &mut **node;
        let port = &mut node.links.ports[at.index()];
        for class in 0..facts.layout.class_count() {
            let port_class = facts.layout.port_class(at, class);
            let account = &mut node.buffer.accounts[port_class];
            let late = facts.blueprint.semantics.ties == Ties::Htsim;
            (account.at_host, account.impaired) = (port.at_host, late || port.impairment.is_in_the_way());
            account.drains = class != 0 && facts.ports[port.id.index()].drain.is_some();
            port.gates.free |= u16::from(node.links.egress[port_class].sender.is_free()) << class;
        }
    }
}

/// Builds the congestion points again that must know the largest base round-trip time, which is known only
/// now.
fn build_with_largest(facts: &Facts<'_>, nodes: &mut [Node]) -> Result<(), BuildError> {
    let cores = nodes.iter_mut().map(|node| &mut **node);
    let ports = cores.flat_map(|node| node.links.ports.iter().zip(&mut node.machines));
    for (port, machines) in ports {
        points_with(facts.blueprint, port.id, facts.largest.rtt, &mut machines.congestion_points)?;
    }
    Ok(())
}

/// Passes the ports of a node to the disciplines there.
fn introduce_ports(facts: &Facts<'_>, node: &mut Node) {
    if node.machines.iter().all(|machines| machines.discipline().is_none()) {
        return;
    }
    let largest_rtt = facts.largest.rtt;
    let info = |port| PortInfo { largest_rtt, ..facts.blueprint.port_info(port) };
    let ports: Vec<PortInfo> = node.links.ids().map(info).collect();
    for discipline in node.machines.iter_mut().filter_map(PortMachines::discipline_mut) {
        discipline.on_ports(&ports);
    }
}

/// The fast path of a port's congestion points, and the callbacks that they need.
fn set_callbacks(facts: &mut Facts<'_>, node: &mut Node, port: Local) {
    let (node, device) = node.split();
    let machines = &mut node.machines[port.index()];
    let demands = || machines.congestion_points.iter().map(CongestionPoint::demands);
    machines.reports_waiting = demands().any(|demands| demands.waiting);
    (machines.clears, machines.observes_cnps) =
        (demands().any(|demands| demands.clears), demands().any(|demands| demands.cnps));
    machines.only_marks = machines.congestion_points.iter().all(CongestionPoint::only_marks);
    let demanded = demanded(&machines.congestion_points);
    machines.queueing = PortQueueing::of(&machines.congestion_points);
    let id = node.links.ports[port.index()].id;
    let own = facts.blueprint.links[id.index() / 2].ends[id.index() % 2].output_queue;
    let role = &facts.blueprint.nodes[node.id.index()].role;
    machines.queueing.output = OutputQueue::at(role, own, facts.blueprint.semantics.ties);
    machines.queueing.lossy_room = node.buffer.lossy_room;
    let state = &mut node.links.ports[port.index()];
    state.observed |= machines.queueing.output.is_some() && state.at_host;
    if let Some(output) = &mut machines.queueing.output {
        let reads_ports = matches!(&device, AnyDevice::Switch(switch) if switch.reads_ports());
        output.passes = facts.straight
            && !facts.telemetry
            && !reads_ports
            && facts.release != Release::Start
            && facts.blueprint.semantics.ties == Ties::Hashed
            && !state.at_host
            && state.link.delay > 0
            && node.links.egress[facts.layout.port_class(port, 1)].sender.never_closes();
    }
    (state.joins_up_to, state.leaves_up_to) = machines.fast_path();
    state.has_discipline = !machines.queueing.is_plain();
    state.observed |= state.noted;
    // Hosts choose among queue pairs, and have no queues.
    if machines.queueing.isolates() && !state.at_host {
        let layout = &facts.layout;
        for class in 1..layout.class_count() {
            node.links.queues[layout.queues(port).nth(layout.first_queue_of(class, 1))].may_lose = true;
        }
    }
    let has_points = state.has_cp;
    if let AnyDevice::Switch(switch) = device {
        if has_points && let Err(place) = switch.points.binary_search(&port) {
            switch.points.insert(place, port);
        }
        for class in 1..facts.layout.class_count() {
            node.buffer.set_fast_path(switch, facts.layout.port_class(port, class));
        }
    }
    facts.demand(node.links.id(port), &demanded);
}

/// Adds a congestion point to a port of a node before the run starts.
///
/// # Errors
/// It claims what it cannot have.
pub(crate) fn add_congestion_point(
    facts: &mut Facts<'_>,
    node: &mut Node,
    port: Local,
    point: AnyCongestionPoint,
) -> Result<(), BuildError> {
    let (id, points) = (node.links.id(port), &mut node.machines[port.index()].congestion_points);
    points.push(point);
    facts.blueprint.validate_points(id, points)?;
    let (asked, has) = (PortQueueing::of(points).class_queues(), facts.layout.subs);
    if asked > has {
        let message = format!(
            "classes have {has} queue{} each: no discipline of the blueprint has more",
            if has == 1 { "" } else { "s" }
        );
        return Err(congested(facts.blueprint.port_name(id), message));
    }
    node.links.ports[port.index()].has_cp = true;
    set_callbacks(facts, node, port);
    introduce_ports(facts, node);
    Ok(())
}

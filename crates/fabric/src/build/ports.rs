//! Construction of ports, with their machines and series.

use floodway_blueprint::error::BuildError;
use floodway_blueprint::network::blueprint::Blueprint;
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::machines::scheduler_and_points;
use floodway_blueprint::network::routing::peer;
use floodway_units::cast::narrow;
use floodway_units::{PortId, Span, fold, name_key, stream};
use rustc_hash::FxHashSet;

use crate::link::arena::Fifo;
use crate::link::port::{Gates, Impairment, Link, Port};
use crate::link::retry::Retry;
use crate::link::wires::Wire;
use crate::run::events::{Armed, tie_key};
use crate::switch::congestion::PortMachines;
use crate::switch::discipline::PortQueueing;
use crate::switch::own_scheduler::checked;

/// The ports of the nodes that are `wanted`, in the order of links.
///
/// # Errors
/// A link retry cannot work with its parameters.
pub(crate) fn build_ports(facts: &Facts<'_>, wanted: &[bool]) -> Result<Vec<Port>, BuildError> {
    let blueprint = facts.blueprint;
    let captured = blueprint.records.capture.iter().flat_map(|capture| &capture.ports);
    let shared = blueprint.records.shares.iter().flat_map(|shares| &shares.ports);
    let noted: FxHashSet<PortId> = captured.chain(shared).copied().collect();
    let mut ports = Vec::new();
    for (i, link) in blueprint.links.iter().enumerate() {
        for (end, direction) in link.directions.iter().enumerate() {
            let id = PortId(narrow(2 * i + end));
            if !wanted[link.ends[end].node.index()] {
                continue;
            }
            let far = &blueprint.nodes[link.ends[1 - end].node.index()];
            let serial = facts.ports[id.index()].serial.clone();
            let into = &link.directions[1 - end];
            let draws =
                |end, purpose| stream(blueprint.seed, fold(name_key(&link.name), end as u64), purpose);
            let changes = link.changes();
            let retry = Retry::at(blueprint, id)?;
            ports.push(Port {
                id,
                at_host: facts.ports[id.index()].at_host,
                controls: retry.is_some(),
                up: true,
                armed: false,
                choosing: false,
                gates: Gates::default(),
                has_cp: !link.ends[end].congestion_points.is_empty(),
                has_discipline: false,
                joins_up_to: u32::MAX,
                leaves_up_to: u32::MAX,
                noted: noted.contains(&id),
                observed: changes || direction.jitter.0 > 0 || retry.is_some(),
                free_at: 0,
                free_order: 0,
                sent: 0,
                control: Fifo::default(),
                waiting: 0,
                link: Link {
                    delay: direction.delay.0,
                    tie_key: tie_key(blueprint.seed, name_key(&far.name), peer(id)),
                    far_group: facts.groups.of(link.ends[1 - end].node),
                    far_end: facts.local(peer(id)),
                    ps_per_byte: serial.simple(),
                },
                serial,
                impairment: Impairment {
                    jitter: direction.jitter.0,
                    rng: draws(end, "link"),
                    latest: 0,
                    changes,
                    wire: Wire::new(link),
                    errors: into.errors,
                    // Jitter is drawn at the end that sends, and so from another stream.
                    losses: draws(1 - end, if into.jitter > Span::ZERO { "losses" } else { "link" }),
                    retry,
                },
            });
        }
    }
    Ok(ports)
}

/// The machines of the ports of nodes that are `wanted`, in the order of links, and the number of queues that
/// a class has at all ports.
pub(crate) fn build_machines(
    blueprint: &Blueprint,
    wanted: &[bool],
) -> Result<(Vec<PortMachines>, usize), BuildError> {
    let (mut all, mut class_queues) = (Vec::new(), 1);
    for port in blueprint.ports() {
        let machines = machines_of(blueprint, port)?;
        class_queues = class_queues.max(machines.queueing.class_queues());
        if wanted[blueprint.links[port.index() / 2].ends[port.index() % 2].node.index()] {
            all.push(machines);
        }
    }
    Ok((all, class_queues))
}

/// The machines of a port.
fn machines_of(blueprint: &Blueprint, port: PortId) -> Result<PortMachines, BuildError> {
    let (scheduler, congestion_points) = scheduler_and_points(blueprint, port)?;
    let name = blueprint.links[port.index() / 2].ends[port.index() % 2].scheduler.name();
    Ok(PortMachines {
        scheduler: checked(scheduler, name, || blueprint.port_name(port)),
        queueing: PortQueueing::of(&congestion_points),
        congestion_points,
        cp_timer: Armed::default(),
        reports_waiting: false,
        only_marks: false,
        clears: false,
        observes_cnps: false,
    })
}

pub(crate) fn congested(place: String, message: String) -> BuildError {
    BuildError { place, key: Some("congestion-point"), message }
}

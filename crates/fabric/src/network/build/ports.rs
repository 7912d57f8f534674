//! Construction of ports, with their machines and series.

use floodway_units::{PortId, Span, fold, name_key, stream};
use rustc_hash::FxHashMap;

use crate::error::BuildError;
use crate::link::arena::Fifo;
use crate::link::port::{Gates, Impairment, Link, Port};
use crate::link::wires::Wire;
use crate::network::blueprint::Blueprint;
use crate::network::facts::Facts;
use crate::network::routing::peer;
use crate::run::events::Armed;
use crate::run::world::tie_key;
use crate::switch::congestion::PortMachines;
use crate::switch::own_scheduler::checked;

/// All ports of a network, in the order of links.
pub(crate) fn build_ports(facts: &Facts<'_>) -> Vec<Port> {
    let blueprint = facts.blueprint;
    let mut ports = Vec::with_capacity(2 * blueprint.links.len());
    for (i, link) in blueprint.links.iter().enumerate() {
        for (end, direction) in link.directions.iter().enumerate() {
            let id = PortId((2 * i + end) as u32);
            let far = &blueprint.nodes[link.ends[1 - end].node.index()];
            let serial = facts.ports[id.index()].serial.clone();
            let into = &link.directions[1 - end];
            let draws =
                |end, purpose| stream(blueprint.seed, fold(name_key(&link.name), end as u64), purpose);
            let changes = link.changes();
            ports.push(Port {
                id,
                isolates: false,
                at_host: facts.ports[id.index()].at_host,
                controls: false,
                up: true,
                armed: false,
                choosing: false,
                gates: Gates::default(),
                has_cp: !link.ends[end].congestion_points.is_empty(),
                meters: false,
                fast_path_up_to: u32::MAX,
                noted: false,
                holds_flows: false,
                observed: changes || direction.jitter.0 > 0,
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
                },
            });
        }
    }
    let captured = blueprint.records.capture.iter().flat_map(|capture| &capture.ports);
    let shared = blueprint.records.shares.iter().flat_map(|shares| &shares.ports);
    for port in captured.chain(shared) {
        ports[port.index()].noted = true;
    }
    ports
}

/// The machines of all ports, in the order of links.
pub(crate) fn build_machines(blueprint: &Blueprint) -> Result<Vec<PortMachines>, BuildError> {
    blueprint.ports().map(|port| machines_of(blueprint, port)).collect()
}

/// The machines of a port.
pub(crate) fn machines_of(blueprint: &Blueprint, port: PortId) -> Result<PortMachines, BuildError> {
    let end = &blueprint.links[port.index() / 2].ends[port.index() % 2];
    let info = blueprint.port_info(port);
    let refused = |error| BuildError::param(blueprint.port_name(port), error);
    let scheduler = end.scheduler.build(&info).map_err(refused)?;
    let scheduler = checked(scheduler, end.scheduler.name(), || blueprint.port_name(port));
    let points = end.congestion_points.iter().map(|params| params.build(&info).map_err(refused));
    let congestion_points = points.collect::<Result<Vec<_>, _>>()?;
    blueprint.validate_points(port, &congestion_points)?;
    Ok(PortMachines {
        scheduler,
        congestion_points,
        cp_timer: Armed::default(),
        reports_waiting: false,
        sorts_each: false,
        serves: false,
        watches: false,
        clears: false,
        observes_cnps: false,
        inputs: FxHashMap::default(),
        queue_of_flow: FxHashMap::default(),
        meter: None,
    })
}

pub(crate) fn congested(place: String, message: String) -> BuildError {
    BuildError { place, key: Some("congestion-point"), message }
}

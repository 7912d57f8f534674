//! The machines of a network, each by itself, as its parameters make it.

use floodway_mechanisms::registry::{
    AnyAdmission, AnyCongestionPoint, AnyFcReceiver, AnyFcSender, AnyRouter, AnyScheduler,
};
use floodway_mechanisms::slots::{Need, PortInfo, SwitchInfo};
use floodway_units::{Class, NodeId, PortId, Span, fold, mix, name_key};

use crate::error::BuildError;
use crate::network::accounts::{Account, Accounts};
use crate::network::blueprint::{Blueprint, SwitchSpec};
use crate::network::routing::peer;

/// The scheduler and the congestion points of a port.
///
/// # Errors
/// Parameters that cannot be, or points that do not go together.
pub fn scheduler_and_points(
    blueprint: &Blueprint,
    port: PortId,
) -> Result<(AnyScheduler, Vec<AnyCongestionPoint>), BuildError> {
    let end = &blueprint.links[port.index() / 2].ends[port.index() % 2];
    let info = blueprint.port_info(port);
    let refused = |error| BuildError::param(blueprint.port_name(port), error);
    let scheduler = end.scheduler.build(&info).map_err(refused)?;
    let points = end.congestion_points.iter().map(|params| params.build(&info).map_err(refused));
    let congestion_points = points.collect::<Result<Vec<_>, _>>()?;
    blueprint.validate_points(port, &congestion_points)?;
    Ok((scheduler, congestion_points))
}

/// Builds those congestion points of a port again that must know the largest base round-trip time.
pub fn points_with(
    blueprint: &Blueprint,
    port: PortId,
    largest: Span,
    points: &mut [AnyCongestionPoint],
) -> Result<(), BuildError> {
    let end = &blueprint.links[port.index() / 2].ends[port.index() % 2];
    for (point, params) in points.iter_mut().zip(&end.congestion_points) {
        if params.needs().contains(&Need::Largest) {
            let info = PortInfo { largest_rtt: largest, ..blueprint.port_info(port) };
            let refused = |error| BuildError::param(blueprint.port_name(port), error);
            *point = params.build(&info).map_err(refused)?;
        }
    }
    Ok(())
}

/// The router of a switch.
pub fn router(blueprint: &Blueprint, node: NodeId, spec: &SwitchSpec) -> Result<AnyRouter, BuildError> {
    let name = &blueprint.nodes[node.index()].name;
    let key = fold(mix(blueprint.seed), name_key(name));
    let info = SwitchInfo { key, hash_seed: spec.hash_seed };
    spec.routing.build(&info).map_err(|error| BuildError::param(format!("switch {name}"), error))
}

/// What watches over what an ingress port holds of a class.
pub struct Guard {
    /// What the port has of its switch's buffer.
    pub account: Account,
    /// The receiver half of the flow control, where there is one.
    pub receiver: Option<AnyFcReceiver>,
    /// Admission to the buffer.
    pub admission: AnyAdmission,
}

/// What watches over the data of a class that come in by a port; none at a host without a receive
/// buffer, and of the control class.
pub fn guard(accounts: &Accounts<'_>, port: PortId, class: Class) -> Result<Option<Guard>, BuildError> {
    let account = accounts.of(port, class)?;
    let Some(account) = account.filter(|_| class != Class::CONTROL) else { return Ok(None) };
    let blueprint = accounts.blueprint();
    let refused = |error| BuildError::param(blueprint.port_name(port), error);
    let control = blueprint.control_into(port, class);
    let halves = control.map(|params| params.build(&account.link).map_err(refused)).transpose()?;
    let buffer = blueprint.buffer_at(port).expect("an account is of a buffer");
    let admission = buffer.build().map_err(refused)?;
    Ok(Some(Guard { account, receiver: halves.map(|(_, receiver)| receiver), admission }))
}

/// The sender half of what a port sends of a class, where it has flow control.
pub fn sender(
    accounts: &Accounts<'_>,
    port: PortId,
    class: Class,
) -> Result<Option<AnyFcSender>, BuildError> {
    let (blueprint, rx) = (accounts.blueprint(), peer(port));
    let control = blueprint.control_into(rx, class).filter(|_| class != Class::CONTROL);
    let Some(params) = control else { return Ok(None) };
    let account = accounts.of(rx, class)?;
    let link = account.map_or_else(|| accounts.host_link(rx, class, params), |account| account.link);
    let halves = params.build(&link).map_err(|error| BuildError::param(blueprint.port_name(rx), error))?;
    Ok(Some(halves.0))
}

//! Hosts that drain slower than their links: what their receive buffers cannot hold.

use std::collections::BTreeSet;

use floodway_fabric::Blueprint;
use floodway_mechanisms::registry::FlowControlParams;
use floodway_mechanisms::slots::Repeats;
use floodway_units::Span;

use super::alike::Alike;
use crate::grammar::nics::Nics;
use crate::resolve::{NodePlan, Origin, Plan};
use crate::topology::Network;

/// The time of a full packet from which on a host's `drain` is too slow for any NIC: its unit may be wrong.
const SLOW: Span = Span::ms(1);

/// Was a buffer chosen by the key `receive-buffer`?
pub(super) fn is_receive_buffer(origin: &Origin) -> bool {
    origin.key.ends_with("receive-buffer")
}

/// Warns of receive buffers that nothing keeps from overflowing, of drains without effect or without end, and
/// of sizes of buffers that are not there.
pub(super) fn receivers(network: &Network, plan: &Plan, blueprint: &Blueprint, warnings: &mut Alike) {
    drains(network, plan, blueprint, warnings);
    for port in blueprint.ports() {
        let (link, end) = (port.index() / 2, port.index() % 2);
        let node = network.links[link].ends[end];
        let Some(drain) = &plan.nodes[node].host.drain else { continue };
        let rate = plan.links[link].directions[1 - end].rate.value;
        if !network.nodes[node].is_host || drain.value >= rate {
            continue;
        }
        for class in blueprint.classes().split_off(1) {
            if blueprint.control_into(port, class).is_some_and(FlowControlParams::is_lossless) {
                continue;
            }
            let why = format!(
                "the host drains {} of a link of {rate}, and no flow control pauses class {} there: what exceeds its receive buffer \
                 is lost",
                drain.value, class.0,
            );
            warnings.add(&drain.origin, "", why, blueprint.port_name(port));
        }
    }
    sprays(plan, blueprint, warnings);
    for (node, plan) in network.nodes.iter().zip(&plan.nodes).filter(|(node, _)| node.is_host) {
        if let (Some(size), None) = (&plan.host.receive_buffer, &plan.host.drain)
            && size.origin.is_particular()
        {
            let why =
                "a host without `drain` takes in at once what comes, and has no receive buffer".to_owned();
            warnings.add(&size.origin, "", why, node.name.clone());
        }
    }
}

/// Warns of drains that slow no host, and of those that a packet needs very long for.
fn drains(network: &Network, plan: &Plan, blueprint: &Blueprint, warnings: &mut Alike) {
    let (mut effective, mut fast) = (BTreeSet::new(), Vec::new());
    for port in blueprint.ports() {
        let (link, end) = (port.index() / 2, port.index() % 2);
        let node = network.links[link].ends[end];
        let Some(drain) = plan.nodes[node].host.drain.as_ref().filter(|_| network.nodes[node].is_host) else {
            continue;
        };
        let rate = plan.links[link].directions[1 - end].rate.value;
        if drain.value >= rate {
            fast.push((drain, rate, port));
            continue;
        }
        effective.insert(&drain.origin.key);
        let time = drain.value.time_to_send(blueprint.mtu);
        if time >= SLOW {
            let why = format!(
                "the host drains {}, so that a full packet of {} takes {time}: the run may take as long",
                drain.value, blueprint.mtu
            );
            warnings.add(&drain.origin, "", why, blueprint.port_name(port));
        }
    }
    for (drain, rate, port) in fast.into_iter().filter(|(drain, ..)| !effective.contains(&drain.origin.key)) {
        let why = format!(
            "the host drains {}, which is not below the {rate} of its link: its receive buffer holds one packet at \
             a time",
            drain.value
        );
        warnings.add(&drain.origin, "", why, blueprint.port_name(port));
    }
}

/// Warns where go-back-N takes packets that other NICs' packets overtake for losses.
fn sprays(plan: &Plan, blueprint: &Blueprint, warnings: &mut Alike) {
    let spraying = |plan: &&NodePlan| plan.host.nics.value == Nics::Spray;
    let Some(NodePlan { host, .. }) = plan.nodes.iter().find(spraying) else { return };
    for (plan, workload) in plan.flows.iter().zip(&blueprint.workloads) {
        let reliability = &plan.reliability.value;
        if reliability.repeats() == Repeats::AllAfter {
            let why = format!(
                "\"spray\" reorders packets, which reliability {:?} takes for losses and retransmits",
                reliability.name()
            );
            warnings.add(&host.nics.origin, "", why, format!("flows of {}", workload.name));
        }
    }
}

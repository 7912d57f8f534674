//! Hosts that drain slower than their links: what their receive buffers cannot hold.

use floodway_fabric::Blueprint;
use floodway_mechanisms::registry::FlowControlParams;
use floodway_mechanisms::slots::Repeats;

use super::alike::Alike;
use crate::grammar::nics::Nics;
use crate::resolve::{NodePlan, Plan};
use crate::topology::Network;

/// Warns of receive buffers that nothing keeps from overflowing, and of sizes of buffers that are not there.
pub(super) fn receivers(network: &Network, plan: &Plan, blueprint: &Blueprint, warnings: &mut Alike) {
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

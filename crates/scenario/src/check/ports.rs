//! Buffers, thresholds and headroom of ingress ports, alike ports together.

use floodway_fabric::{Accounts, Blueprint};
use floodway_mechanisms::pfc::Headroom;
use floodway_mechanisms::registry::{AnyFcReceiver, FlowControlParams};
use floodway_mechanisms::slots::{FcReceiver as _, LinkInfo};
use floodway_units::{Bytes, Class, NodeId, PortId, Span};
use serde::Serialize;

use super::{counted, kind_of};

/// Ingress ports of switches with the same buffer, threshold and headroom for a class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PortGroup {
    /// First tags of switch and link, as in "tor from host-tor".
    pub kind: String,
    /// How many.
    pub count: usize,
    /// The class of data.
    pub class: u8,
    /// Name of the flow control; none without.
    pub flow_control: Option<&'static str>,
    /// A buffer of the port's own; none in a shared pool.
    pub buffer_bytes: Option<u64>,
    /// The buffer is of each output alone: the port has so much for each.
    pub by_output: bool,
    /// The smallest buffer with which the flow control does what it promises; none without flow control.
    pub min_buffer_bytes: Option<u64>,
    /// Set aside in the switch beside its pool.
    pub reserve_bytes: u64,
    /// The threshold while the pool is empty; none where the flow control has none.
    pub threshold_bytes: Option<u64>,
    /// Where the flow control keeps the bytes held here and on their way; none where it has no such level.
    pub level_bytes: Option<u64>,
    /// Headroom.
    pub headroom_bytes: u64,
    /// Headroom by the formula; none where the flow control has none.
    pub headroom_formula_bytes: Option<u64>,
    /// Rate of the link times its propagation there and back.
    pub bdp_bytes: u64,
}

/// All groups, in the order of the links.
pub fn groups(blueprint: &Blueprint) -> Vec<PortGroup> {
    let (classes, accounts) = (blueprint.classes(), blueprint.accounts());
    let pools: Vec<Bytes> = (0..blueprint.nodes.len() as u32)
        .map(|node| accounts.pool(NodeId(node)).ok().flatten().unwrap_or_default())
        .collect();
    let (pools, accounts) = (&pools, &accounts);
    let ports = (0..2 * blueprint.links.len() as u32).map(PortId);
    let keys = ports.flat_map(|port| {
        classes[1..].iter().filter_map(move |&class| group(blueprint, accounts, pools, (port, class)))
    });
    counted(keys).into_iter().map(|(group, count)| PortGroup { count, ..group }).collect()
}

fn group(
    blueprint: &Blueprint,
    accounts: &Accounts<'_>,
    pools: &[Bytes],
    (port, class): (PortId, Class),
) -> Option<PortGroup> {
    // A valid blueprint has an account wherever there is a switch.
    let account = accounts.of(port, class).ok()??;
    let link = &blueprint.links[port.index() / 2];
    let node = &blueprint.nodes[link.ends[port.index() % 2].node.index()];
    let data = &link.directions[1 - port.index() % 2];
    let control = data.flow_control.iter().find(|(of, _)| *of == class).map(|(_, params)| params);
    let receiver = control.and_then(|control| control.build(&account.link).ok()).map(|halves| halves.1);
    let pool = match account.own {
        Some(_) => Bytes::ZERO,
        None => pools[link.ends[port.index() % 2].node.index()],
    };
    Some(PortGroup {
        kind: format!("{} from {}", kind_of(&node.tags, "switch"), kind_of(&link.tags, "link")),
        count: 1,
        class: class.0,
        flow_control: control.map(FlowControlParams::name),
        buffer_bytes: account.own.filter(|own| *own < Bytes::MAX).map(|own| own.0),
        by_output: account.by_output,
        min_buffer_bytes: control.map(|control| control.min_buffer(&account.link).0),
        reserve_bytes: account.reserve.0,
        threshold_bytes: receiver.as_ref().and_then(|receiver| threshold(receiver, pool)),
        level_bytes: receiver.as_ref().and_then(level),
        headroom_bytes: account.headroom.0,
        headroom_formula_bytes: control
            .and_then(|control| formula_headroom(control, &account.link))
            .map(|headroom| headroom.0),
        bdp_bytes: account.link.rate.bytes_covering(account.link.delay + account.link.reverse_delay).0,
    })
}

fn threshold(receiver: &AnyFcReceiver, pool: Bytes) -> Option<u64> {
    let threshold = receiver.threshold(pool);
    (threshold < Bytes::MAX).then_some(threshold.0)
}

fn level(receiver: &AnyFcReceiver) -> Option<u64> {
    match receiver {
        AnyFcReceiver::Bifrost(receiver) => Some(receiver.level().0),
        _ => None,
    }
}

/// What a flow control's own formula gives for headroom; none where it has no headroom.
fn formula_headroom(control: &FlowControlParams, link: &LinkInfo) -> Option<Bytes> {
    match control {
        FlowControlParams::Pfc(params) => {
            let by_formula = floodway_mechanisms::pfc::Params { headroom: Headroom::Auto, ..params.clone() };
            Some(FlowControlParams::Pfc(by_formula).headroom(link))
        }
        _ => None,
    }
}

/// Says where sizes assume that the upstream obeys a pause at once, which no real MAC does.
pub fn note_on_reaction(blueprint: &Blueprint) -> Option<String> {
    let (classes, accounts) = (blueprint.classes(), blueprint.accounts());
    let ports = (0..2 * blueprint.links.len() as u32).map(PortId);
    let each = ports.flat_map(|port| classes[1..].iter().map(move |&class| (port, class)));
    let reactions = each.filter_map(|(port, class)| {
        let account = accounts.of(port, class).ok()??;
        blueprint.control_into(port, class)?.reaction(&account.link)
    });
    let reactions: Vec<Span> = reactions.collect();
    let prompt = reactions.iter().filter(|react| **react == Span::ZERO).count();
    (prompt > 0).then(|| {
        format!(
            "{prompt} of {} ingress ports are sized for an upstream that obeys a pause at once (react = \"0us\"); real MACs take \
             up to 2.02us at 100G and 1.16us at 400G: react = \"ieee-802.3\"",
            reactions.len()
        )
    })
}

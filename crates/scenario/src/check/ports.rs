//! Buffers, thresholds and headroom of ingress ports, equal ports together.

use floodway_fabric::{Account, Blueprint};
use floodway_mechanisms::registry::{AnyFcReceiver, FlowControlParams};
use floodway_mechanisms::slots::FcReceiver as _;
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, NodeId, PortId, Span};
use serde::{Serialize, Serializer};

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
    /// How long its sizes let the upstream take to obey a pause; none where the flow control sends none.
    #[serde(rename = "react_us", serialize_with = "as_us")]
    pub react: Option<Span>,
    /// The port's dedicated buffer; none in a shared pool, or where output queues bound what is held.
    pub buffer_bytes: Option<u64>,
    /// The bound of the output queue of the port's link, where output queues have bounds of their own.
    pub output_queue_bytes: Option<u64>,
    /// The buffer is per output: the port has this much for each.
    pub by_output: bool,
    /// The smallest buffer with which the flow control keeps its guarantee; none without flow control.
    pub min_buffer_bytes: Option<u64>,
    /// Reserved in the switch in addition to its pool.
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

/// The ingress ports of the switches of a network, in the order of the links.
pub fn groups(blueprint: &Blueprint) -> Vec<PortGroup> {
    let (classes, accounts) = (blueprint.classes(), blueprint.accounts());
    let pools: Vec<Bytes> = (0..narrow::<u32>(blueprint.nodes.len()))
        .map(|node| accounts.pool(NodeId(node)).ok().flatten().unwrap_or_default())
        .collect();
    let each = blueprint.ports().flat_map(|port| classes[1..].iter().map(move |&class| (port, class)));
    let keys = each.filter_map(|(port, class)| {
        // A valid blueprint has an account wherever there is a switch.
        let account = accounts.of(port, class).ok()??;
        Some(group(blueprint, &pools, (port, class), &account))
    });
    counted(keys).into_iter().map(|(group, count)| PortGroup { count, ..group }).collect()
}

fn group(
    blueprint: &Blueprint,
    pools: &[Bytes],
    (port, class): (PortId, Class),
    account: &Account,
) -> PortGroup {
    let link = &blueprint.links[port.index() / 2];
    let node = &blueprint.nodes[link.ends[port.index() % 2].node.index()];
    let control = blueprint.control_into(port, class);
    let receiver = control.and_then(|control| control.build(&account.link).ok()).map(|halves| halves.1);
    let pool = match account.own {
        Some(_) => Bytes::ZERO,
        None => pools[link.ends[port.index() % 2].node.index()],
    };
    let output = blueprint.output_queue(port);
    PortGroup {
        kind: format!("{} from {}", kind_of(&node.tags, "switch"), kind_of(&link.tags, "link")),
        count: 1,
        class: class.0,
        flow_control: control.map(FlowControlParams::name),
        react: control.and_then(|control| control.reaction(&account.link)),
        buffer_bytes: account.own.filter(|own| *own < Bytes::MAX && output.is_none()).map(|own| own.0),
        output_queue_bytes: output.map(|output| output.0),
        by_output: account.by_output,
        min_buffer_bytes: control.map(|control| control.min_buffer(&account.link).0),
        reserve_bytes: account.reserve.0,
        threshold_bytes: receiver.as_ref().and_then(|receiver| threshold(receiver, pool)),
        level_bytes: receiver.as_ref().and_then(AnyFcReceiver::level).map(|level| level.0),
        headroom_bytes: account.headroom.0,
        headroom_formula_bytes: control
            .and_then(|control| control.formula_headroom(&account.link))
            .map(|headroom| headroom.0),
        bdp_bytes: account.link.rate.bytes_covering(account.link.delay + account.link.reverse_delay).0,
    }
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
fn as_us<S: Serializer>(span: &Option<Span>, to: S) -> Result<S::Ok, S::Error> {
    span.map(Span::as_us).serialize(to)
}

fn threshold(receiver: &AnyFcReceiver, pool: Bytes) -> Option<u64> {
    let threshold = receiver.threshold(pool);
    (threshold < Bytes::MAX).then_some(threshold.0)
}

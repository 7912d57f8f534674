//! Relays, and the keys of `[defaults]` that they do not take.

use serde::Serialize;

use crate::build::Built;
use crate::grammar::settings::Slots;
use crate::resolve::Origin;
use crate::topology::RelayAt;

/// The relays that flow controls put at the ends of links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Relays {
    /// How many.
    pub count: usize,
    /// Keys of `[defaults]` that one of them at least does not take: a relay is no switch of the network, and
    /// has of itself what its flow control needs.
    pub defaults_not_taken: Vec<&'static str>,
}

impl Relays {
    /// Those of a network, if it has any.
    pub fn of(built: &Built, defaults: &Slots<'_>) -> Option<Relays> {
        let relays = &built.network.relays;
        let any = |origin: &dyn Fn(&RelayAt) -> bool| relays.iter().any(origin);
        let at_ports = |relay: &RelayAt, own: &dyn Fn(usize, usize) -> bool| {
            own(relay.link, relay.end) || own(relay.cable, 1)
        };
        let (plan, own) = (&built.plan, |origin: &Origin| !origin.is_particular());
        let keys = [
            (
                "flow-control",
                defaults.flow_control.is_some(),
                any(&|relay| own(&plan.links[relay.cable].directions[0].flow_control.origin)),
            ),
            (
                "congestion-point",
                defaults.congestion_point.is_some(),
                any(&|relay| {
                    at_ports(relay, &|link, end| own(&plan.links[link].ends[end].congestion_points.origin))
                }),
            ),
            (
                "buffer",
                defaults.buffer.is_some(),
                any(&|relay| {
                    let of_node = own(&plan.nodes[relay.node].switch.buffer.origin);
                    at_ports(relay, &|link, end| plan.links[link].ends[end].buffer.is_none() && of_node)
                }),
            ),
            (
                "pipeline",
                defaults.pipeline.is_some(),
                any(&|relay| own(&plan.nodes[relay.node].switch.pipeline.origin)),
            ),
            ("cell", defaults.cell.is_some(), any(&|relay| own(&plan.nodes[relay.node].switch.cell.origin))),
        ];
        let not_taken =
            keys.into_iter().filter(|(_, is_set, is_own)| *is_set && *is_own).map(|(key, ..)| key);
        (!relays.is_empty()).then(|| Relays { count: relays.len(), defaults_not_taken: not_taken.collect() })
    }

    /// For people; nothing where all defaults hold.
    pub fn text(&self) -> Option<String> {
        let keys = self.defaults_not_taken.join(", ");
        let set = "an override by the tags \"relay\" or \"relay-cable\" sets them";
        (!keys.is_empty()).then(|| format!("relays take the scheduler of [defaults], but not: {keys}; {set}"))
    }
}

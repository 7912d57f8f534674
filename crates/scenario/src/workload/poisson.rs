//! Poisson arrivals at a given load.

use floodway_fabric::sizes::Sizes;
use floodway_units::cast::whole;
use floodway_units::{Bytes, Rate, Span};
use floodway_wire::Format;
use schemars::JsonSchema;
use serde::Deserialize;

use super::hot_spot::HotSpot;
use super::sizes::SizesKey;
use crate::grammar::selector::Selector;

/// Number of quantiles over which the wire bytes of a flow are averaged.
const QUANTILES: u32 = 1 << 16;

/// Poisson arrivals: an independent process at each sender, as in HPCC's traffic generator and those of most
/// papers.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Poisson {
    /// Sizes of flows.
    pub sizes: SizesKey,
    /// Offered bytes over the capacity of `of`, above 0.
    pub load: f64,
    /// Links whose summed rate is the capacity, in the direction from senders to receivers; or `"hosts"`:
    /// the NICs of the senders. Default: `"hosts"`.
    #[serde(default = "hosts")]
    pub of: Selector,
    /// Hosts that send. Default: all.
    #[serde(default = "Selector::all")]
    pub from: Selector,
    /// Hosts that receive, drawn uniformly unless `hot-spot`, `inter-dc` or `groups` is set, never the sender
    /// itself. Default: all.
    #[serde(default = "Selector::all")]
    pub to: Selector,
    /// A share of the flows goes to hot hosts. Not together with `inter-dc` or `groups`. Default: none are
    /// hot.
    #[serde(default)]
    pub hot_spot: Option<HotSpot>,
    /// Probability, from 0 to 1, that a flow goes to a host of another datacenter than its sender's, drawn
    /// uniformly from all of them; the other flows go to hosts of the sender's datacenter. Datacenters are
    /// the tags `dc-*` of hosts. The load counts all flows. Not together with `hot-spot` or `groups`.
    /// Default: datacenters make no difference.
    #[serde(default)]
    pub inter_dc: Option<f64>,
    /// Number of groups of hosts, at least 1: senders and receivers are divided into this many groups of
    /// equal size, as `grouping` says, and every flow stays in its sender's group. With `groups = 12`, the
    /// groups of a fat tree with 12 pods are its pods. Not together with `hot-spot` or `inter-dc`. Default:
    /// all hosts are one group.
    #[serde(default)]
    pub groups: Option<usize>,
    /// Which hosts are in a group, in the order of their numbers. Only with `groups`. Default: `consecutive`.
    #[serde(default)]
    pub grouping: Option<Grouping>,
    /// Bytes that count as offered. Default: `payload`.
    #[serde(default)]
    pub accounting: Accounting,
}

fn hosts() -> Selector {
    Selector::word("hosts")
}

/// Which hosts are in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// Hosts that follow one another.
    #[default]
    Consecutive,
    /// One host for each group in turn: groups reach over all pods or racks.
    InTurn,
}

/// Bytes that count as offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Accounting {
    /// The payload of flows, as traffic generators count.
    #[default]
    Payload,
    /// The bytes on the link, headers and gaps included, without acknowledgements.
    Wire,
}

impl Accounting {
    /// Mean offered bytes of a flow.
    pub fn mean(self, sizes: &Sizes, format: Format, mtu: Bytes) -> f64 {
        match self {
            Accounting::Payload => sizes.mean(),
            Accounting::Wire => {
                let quantile = |i| sizes.quantile((f64::from(i) + 0.5) / f64::from(QUANTILES));
                let sum: f64 = (0..QUANTILES).map(|i| on_the_wire(quantile(i), format, mtu) as f64).sum();
                sum / f64::from(QUANTILES)
            }
        }
    }
}

/// Number of bytes of a flow of `size` on a link.
pub fn on_the_wire(size: Bytes, format: Format, mtu: Bytes) -> u64 {
    let packets = size.0.div_ceil(mtu.0).max(1);
    let rest = Bytes(size.0 - (packets - 1) * mtu.0);
    let last = format.data(rest, packets == 1).wire.0;
    if packets == 1 {
        return last;
    }
    format.data(mtu, true).wire.0 + (packets - 2) * format.data(mtu, false).wire.0 + last
}

/// Mean time between two flows of one of `sources` senders that together offer `load` of `capacity`; none
/// where that time is not valid.
pub fn mean_gap(mean_bytes: f64, sources: usize, load: f64, capacity: Rate) -> Option<Span> {
    let seconds = mean_bytes * 8.0 * sources as f64 / (load * capacity.0 as f64);
    let ps = seconds * 1e12;
    (ps >= 1.0 && ps < (1u64 << 62) as f64).then_some(Span(whole(ps)))
}

/// The load at which the mean time between two flows is 1 ps, the smallest possible.
pub fn most_load(mean_bytes: f64, sources: usize, capacity: Rate) -> f64 {
    mean_bytes * 8.0 * sources as f64 / capacity.0 as f64 * 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventy_percent_of_400g_from_sixteen_hosts_is_17_5g_each() {
        let mean = 1_711_250.0;
        let gap = mean_gap(mean, 16, 0.7, Rate::gbps(400)).expect("it is a time");
        let each = mean * 8.0 / gap.as_secs() / 1e9;
        assert!((each - 17.5).abs() < 1e-6, "{each}");
        assert_eq!(mean_gap(mean, 1, 0.0, Rate::gbps(1)), None);
    }

    #[test]
    fn wire_accounting_adds_headers_and_gaps() {
        let (format, mtu) = (Format::Ethernet, Bytes(1000));
        assert_eq!(on_the_wire(Bytes(2_500), format, mtu), 1098 + 1082 + 582);
        assert_eq!(on_the_wire(Bytes(1_000), format, mtu), 1098);
        let sizes = Sizes::fixed(Bytes(2_500));
        assert_eq!(Accounting::Wire.mean(&sizes, format, mtu), 2_762.0);
        assert_eq!(Accounting::Payload.mean(&sizes, format, mtu), 2_500.0);
    }
}

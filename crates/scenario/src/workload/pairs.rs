//! Simple patterns of senders and receivers: bursts, permutations, all to all, flows without end.

use floodway_units::cast::to_usize;
use floodway_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::chance::Chance;
use super::flows::FlowSize;
use crate::grammar::selector::Selector;

/// Each sender sends one flow: the i-th sender to the i-th receiver; after the last receiver, the count
/// starts again at the first.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Burst {
    /// Hosts that send. Default: all.
    #[serde(default = "Selector::all")]
    pub from: Selector,
    /// Hosts that receive; a single one gives an incast.
    pub to: Selector,
    /// Payload of each flow.
    pub size: Bytes,
    /// Time between two flows of a sender, until the workload's `until`. Not together with `back-to-back`.
    /// Default: once.
    #[serde(default)]
    pub every: Option<Span>,
    /// A new flow as soon as the last byte of the sender's flow before has left its NIC, until the workload's
    /// `until`: the sender is never idle, and each flow starts in its initial state. Default: false.
    #[serde(default)]
    pub back_to_back: bool,
}

/// Each host sends one flow to a partner drawn by the seed, and receives one. With flows as long as the run,
/// this is the classic test of a fabric's bisection bandwidth.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// The hosts. Default: all.
    #[serde(default = "Selector::all")]
    pub of: Selector,
    /// Payload of each flow, or `"unbounded"` for flows without end.
    pub size: FlowSize,
    /// Time between two permutations, each with new partners, until the workload's `until`. Default: once.
    #[serde(default)]
    pub every: Option<Span>,
}

/// Each host sends one flow to every other host, all at once: the traffic of the collective operation of this
/// name. A host begins with the host after it and continues around, so that no receiver is the first one of
/// two senders.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAll {
    /// The hosts. Default: all.
    #[serde(default = "Selector::all")]
    pub of: Selector,
    /// Payload of each flow.
    pub size: Bytes,
    /// Time between two rounds, until the workload's `until`. Default: once.
    #[serde(default)]
    pub every: Option<Span>,
}

/// Flows without end: the i-th sender to the i-th receiver; after the last receiver, the count starts again
/// at the first.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongLived {
    /// Hosts that send. Default: all.
    #[serde(default = "Selector::all")]
    pub from: Selector,
    /// Hosts that receive.
    pub to: Selector,
}

/// The i-th of `from` with the i-th of `to`, cyclically; a host that would be its own partner takes the next.
/// A host without any other partner is left out.
pub fn around(from: &[usize], to: &[usize]) -> Vec<(usize, usize)> {
    let partner = |(i, &source): (usize, &usize)| {
        let candidates = [to[i % to.len()], to[(i + 1) % to.len()]];
        candidates.into_iter().find(|&destination| destination != source).map(|to| (source, to))
    };
    if to.is_empty() { Vec::new() } else { from.iter().enumerate().filter_map(partner).collect() }
}

/// A random cycle through `hosts`: each with the one after it, never itself (Sattolo's shuffle).
pub fn cycle(hosts: &[usize], chance: &mut Chance) -> Vec<(usize, usize)> {
    let mut images = hosts.to_vec();
    for i in (1..images.len()).rev() {
        images.swap(i, to_usize(chance.pick(i as u64, 0)));
    }
    hosts.iter().copied().zip(images).filter(|(from, to)| from != to).collect()
}

/// Each of `hosts` with every other one, round by round: in the r-th round with the r-th host after it.
pub fn all_to_all(hosts: &[usize]) -> Vec<(usize, usize)> {
    let count = hosts.len();
    let round = |r: usize| (0..count).map(move |i| (hosts[i], hosts[(i + r) % count]));
    (1..count).flat_map(round).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use floodway_units::name_key;

    use super::*;

    #[test]
    fn senders_go_around_the_receivers() {
        assert_eq!(around(&[1, 2, 3], &[9]), [(1, 9), (2, 9), (3, 9)]);
        assert_eq!(around(&[1, 2, 3], &[8, 9]), [(1, 8), (2, 9), (3, 8)]);
        assert_eq!(around(&[1, 2], &[1, 2]), [(1, 2), (2, 1)]);
        assert_eq!(around(&[1, 2], &[1]), [(2, 1)]);
    }

    #[test]
    fn a_permutation_leaves_no_host_out() {
        let hosts: Vec<usize> = (0..50).collect();
        for seed in [None, Some(1)] {
            let pairs = cycle(&hosts, &mut Chance::new(seed, name_key("test"), "permutation"));
            let receivers: BTreeSet<usize> = pairs.iter().map(|pair| pair.1).collect();
            assert_eq!((pairs.len(), receivers.len()), (50, 50));
            assert!(pairs.iter().all(|(from, to)| from != to));
        }
    }

    #[test]
    fn all_to_all_is_every_pair_once_and_each_round_a_permutation() {
        let pairs = all_to_all(&[1, 2, 3, 4]);
        assert_eq!(pairs[..5], [(1, 2), (2, 3), (3, 4), (4, 1), (1, 3)]);
        assert_eq!(pairs.iter().collect::<BTreeSet<_>>().len(), 12);
        assert!(pairs.iter().all(|(from, to)| from != to));
        for round in pairs.chunks(4) {
            assert_eq!(round.iter().map(|pair| pair.1).collect::<BTreeSet<_>>().len(), 4);
        }
        assert!(all_to_all(&[1]).is_empty() && all_to_all(&[]).is_empty());
    }
}

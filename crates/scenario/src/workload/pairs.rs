//! Simple patterns of who sends to whom: bursts and incast, permutations, flows without end.

use floodway_units::{Bytes, Rng, Span, name_key, stream};
use rand_core::Rng as _;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::grammar::selector::Selector;

/// Each sender sends one flow: the i-th of them to the i-th receiver, and so on around.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Hosts that send. Default: all.
    #[serde(default = "Selector::all")]
    pub from: Selector,
    /// Hosts that receive; one of them makes an incast.
    pub to: Selector,
    /// Payload of each flow.
    pub size: Bytes,
    /// Again after this time, until the workload's `until`. Default: once.
    #[serde(default)]
    pub every: Option<Span>,
}

/// Each host sends one flow, and receives one, of a partner drawn by the seed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// The hosts. Default: all.
    #[serde(default = "Selector::all")]
    pub of: Selector,
    /// Payload of each flow.
    pub size: Bytes,
}

/// Flows without end: the i-th sender to the i-th receiver, and so on around.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongLived {
    /// Hosts that send. Default: all.
    #[serde(default = "Selector::all")]
    pub from: Selector,
    /// Hosts that receive.
    pub to: Selector,
}

/// The i-th of `from` with the i-th of `to`, around; whoever would meet itself takes the next. A host
/// that has no other partner is left out.
pub fn around(from: &[usize], to: &[usize]) -> Vec<(usize, usize)> {
    let partner = |(i, &source): (usize, &usize)| {
        let candidates = [to[i % to.len()], to[(i + 1) % to.len()]];
        candidates.into_iter().find(|&destination| destination != source).map(|to| (source, to))
    };
    if to.is_empty() { Vec::new() } else { from.iter().enumerate().filter_map(partner).collect() }
}

/// The pairs of a permutation workload of this name.
pub fn permutation(hosts: &[usize], seed: u64, workload: &str) -> Vec<(usize, usize)> {
    cycle(hosts, &mut stream(seed, name_key(workload), "permutation"))
}

/// A random cycle through `hosts`: each with the one after it, never itself (Sattolo's shuffle).
fn cycle(hosts: &[usize], rng: &mut Rng) -> Vec<(usize, usize)> {
    let mut images = hosts.to_vec();
    for i in (1..images.len()).rev() {
        let j = ((u128::from(rng.next_u64()) * i as u128) >> 64) as usize;
        images.swap(i, j);
    }
    hosts.iter().copied().zip(images).filter(|(from, to)| from != to).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn senders_go_around_the_receivers() {
        assert_eq!(around(&[1, 2, 3], &[9]), [(1, 9), (2, 9), (3, 9)]);
        assert_eq!(around(&[1, 2, 3], &[8, 9]), [(1, 8), (2, 9), (3, 8)]);
        assert_eq!(around(&[1, 2], &[1, 2]), [(1, 2), (2, 1)]);
        assert_eq!(around(&[1, 2], &[1]), [(2, 1)]);
    }

    #[test]
    fn a_permutation_leaves_nobody_alone() {
        let hosts: Vec<usize> = (0..50).collect();
        let pairs = permutation(&hosts, 1, "test");
        let receivers: BTreeSet<usize> = pairs.iter().map(|pair| pair.1).collect();
        assert_eq!((pairs.len(), receivers.len()), (50, 50));
        assert!(pairs.iter().all(|(from, to)| from != to));
    }
}

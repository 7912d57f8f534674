//! Incast: many senders send to one receiver at one instant.

use floodway_units::cast::to_usize;
use floodway_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::chance::Chance;
use crate::grammar::selector::Selector;

/// At regular times, senders drawn by the seed send one flow each to one receiver, all at the same instant,
/// like the workers of a partition-aggregate job. HPCC (Li et al., SIGCOMM 2019, section 5.1) adds such
/// incasts at 2 % of the capacity to its background traffic.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Incast {
    /// Hosts from which the receiver is drawn, anew each time.
    pub to: Selector,
    /// Hosts from which the senders are drawn, all different, never the receiver itself. Default: all.
    #[serde(default = "Selector::all")]
    pub from: Selector,
    /// Number of simultaneous senders, at least 1. Default: all of `from`.
    #[serde(default)]
    pub fan_in: Option<usize>,
    /// Payload of each flow.
    pub size: Bytes,
    /// Time between two incasts, until the workload's `until`. Not together with `load`. Default: once.
    #[serde(default)]
    pub every: Option<Span>,
    /// Offered payload over the capacity of `of`, above 0; the time between incasts follows from it. Not
    /// together with `every`. Default: as `every` says.
    #[serde(default)]
    pub load: Option<f64>,
    /// Links whose summed rate is the capacity for `load`, in the direction from senders to receivers; or
    /// `"hosts"`: the NICs of `from`. Default: `"hosts"`.
    #[serde(default)]
    pub of: Option<Selector>,
}

/// `fan_in` different elements of `pool` that are not `receiver`, lowest first, or as many as there are. The
/// pool itself is shuffled.
pub fn senders(pool: &mut [usize], receiver: usize, fan_in: usize, chance: &mut Chance) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(fan_in.min(pool.len()));
    for i in 0..pool.len() {
        if chosen.len() == fan_in {
            break;
        }
        let left = (pool.len() - i) as u64;
        pool.swap(i, i + to_usize(chance.pick(left, 0)));
        if pool[i] != receiver {
            chosen.push(pool[i]);
        }
    }
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn senders_are_different_and_as_likely_as_each_other() {
        let mut pool: Vec<usize> = (0..20).collect();
        let mut chance = Chance::new(Some(3), 1, "test");
        let mut counts = [0.0; 20];
        let times = 20_000;
        for _ in 0..times {
            let chosen = senders(&mut pool, 7, 6, &mut chance);
            assert_eq!(chosen.iter().collect::<BTreeSet<_>>().len(), 6);
            for host in chosen {
                counts[host] += 1.0;
            }
        }
        // Each is among six of nineteen; within five standard deviations of the binomial.
        let (n, p) = (f64::from(times), 6.0 / 19.0);
        let most = 5.0 * (n * p * (1.0 - p)).sqrt();
        for (host, &count) in counts.iter().enumerate() {
            let expected = if host == 7 { 0.0 } else { n * p };
            assert!((count - expected).abs() <= most, "{host}: {count}");
        }
        assert_eq!(counts[7], 0.0);
    }

    #[test]
    fn all_of_them_are_all_but_the_receiver_in_order() {
        let mut pool = vec![1, 2, 3, 4];
        for seed in [None, Some(1), Some(2)] {
            let mut chance = Chance::new(seed, 1, "test");
            assert_eq!(senders(&mut pool, 3, usize::MAX, &mut chance), [1, 2, 4]);
        }
    }
}

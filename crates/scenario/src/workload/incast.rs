//! Incast: many senders send to one receiver at one instant.

use floodway_units::cast::to_usize;
use floodway_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::chance::Chance;
use super::micro_bursts::Spacing;
use crate::grammar::selector::Selector;

/// Again and again, senders drawn by the seed send one flow each to one receiver, all at the same instant,
/// like the workers of a partition-aggregate job. HPCC (Li et al., SIGCOMM 2019, section 5.1) adds such
/// incasts at 2 % of the capacity to its background traffic: `load = 0.02`, as a Poisson process with
/// `spacing = "exponential"`.
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
    /// Whether the time between two incasts, of `every` or of `load`, is constant or a mean: with
    /// `exponential` they are a Poisson process from the workload's `start` to its `until`. Default: `fixed`,
    /// the first one at the `start`.
    #[serde(default)]
    pub spacing: Spacing,
    /// Links whose summed rate is the capacity for `load`, in the direction from senders to receivers; or
    /// `"hosts"`: the NICs of `from`. Default: `"hosts"`.
    #[serde(default)]
    pub of: Option<Selector>,
}

/// Times of a Poisson process from `start` to `until`, with this mean time between two; without a seed, a
/// process of constant gaps that begins at the start.
pub fn poisson_times((start, until): (Time, Time), mean: Span, chance: &mut Chance) -> Vec<Time> {
    let after = |time: Time, chance: &mut Chance| Time(time.0.saturating_add(chance.gap(mean).0));
    let mut next = if chance.is_seeded() { after(start, chance) } else { start };
    let mut times = Vec::new();
    while next < until {
        times.push(next);
        next = after(next, chance);
    }
    times
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

    /// The number in a window has a Poisson distribution, and the gaps an exponential one.
    #[test]
    fn a_poisson_process_has_the_mean_and_the_variance_of_its_counts() {
        let (mean, window, runs) = (Span::us(10), Span::us(1_000), 2_000);
        let times = |seed| {
            let mut chance = Chance::new(Some(seed), 1, "test");
            poisson_times((Time::ZERO, Time::ZERO + window), mean, &mut chance)
        };
        let drawn: Vec<Vec<Time>> = (0..runs).map(times).collect();
        assert!(drawn.iter().flatten().all(|time| *time < Time::ZERO + window));
        let counts: Vec<f64> = drawn.iter().map(|times| times.len() as f64).collect();
        let n = runs as f64;
        let average = counts.iter().sum::<f64>() / n;
        let variance = counts.iter().map(|count| (count - average).powi(2)).sum::<f64>() / (n - 1.0);
        // 100 in each window: within five standard errors of mean and variance.
        assert!((average - 100.0).abs() < 5.0 * (100.0 / n).sqrt(), "{average}");
        assert!((variance - 100.0).abs() < 5.0 * 100.0 * (2.0 / n).sqrt(), "{variance}");
        // The first comes after a gap, too: e^-1 of them after more than the mean.
        let late = drawn.iter().filter(|times| times[0] > Time::ZERO + mean).count() as f64 / n;
        let share = std::f64::consts::E.recip();
        assert!((late - share).abs() < 5.0 * (share * (1.0 - share) / n).sqrt(), "{late}");
        let mut turns = Chance::new(None, 1, "test");
        let in_turn = poisson_times((Time::ZERO, Time(25)), Span(10), &mut turns);
        assert_eq!(in_turn, [Time(0), Time(10), Time(20)]);
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

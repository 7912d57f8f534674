//! Destinations of Poisson arrivals.

use floodway_units::cast::to_usize;
use floodway_units::{NodeId, Rng, uniform};

use crate::network::blueprint::PoissonSpec;

/// Distribution of the receivers of flows. The source itself is never one.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DestinationPattern {
    /// Each destination is as likely as any other.
    #[default]
    Uniform,
    /// A share of the flows goes to hot hosts, evenly; the others as if there were none. A source that is
    /// the only hot host draws uniformly.
    HotSpot {
        /// Probability of a flow to a hot host.
        share: f64,
        /// The hot hosts, in order of their numbers.
        hosts: Vec<NodeId>,
    },
    /// A share of the flows goes to other groups (datacenters), evenly over their hosts; the others stay in
    /// the source's own.
    Groups {
        /// Probability of a flow to another group.
        share: f64,
        /// The destinations of each group, in order of their numbers.
        groups: Vec<Vec<NodeId>>,
        /// Group of each node, by its number; `groups.len()` for those that do not send.
        home: Vec<usize>,
    },
}

/// A number from 0 to `choices - 1`.
fn below(choices: usize, rng: &mut Rng) -> usize {
    to_usize(((u128::from(rng.next_u64()) * choices as u128) >> 64) as u64)
}

/// One of `hosts`, which are in order of their numbers, but not `source`.
fn other(hosts: &[NodeId], source: NodeId, rng: &mut Rng) -> NodeId {
    let own = hosts.binary_search(&source).ok();
    let drawn = below(hosts.len() - usize::from(own.is_some()), rng);
    // The source itself is stepped over.
    hosts[drawn + usize::from(own.is_some_and(|own| drawn >= own))]
}

/// Is there one of `hosts` that is not `source`?
fn has_other(hosts: &[NodeId], source: NodeId) -> bool {
    hosts.iter().any(|&host| host != source)
}

/// One of all `groups` but `home`.
fn other_group(groups: &[Vec<NodeId>], home: usize, rng: &mut Rng) -> Option<NodeId> {
    let others = || groups.iter().enumerate().filter(|&(group, _)| group != home).map(|(_, hosts)| hosts);
    let mut drawn = below(others().map(Vec::len).sum(), rng);
    for hosts in others() {
        match hosts.get(drawn) {
            Some(&host) => return Some(host),
            None => drawn -= hosts.len(),
        }
    }
    None
}

impl PoissonSpec {
    /// The destination of the next flow of `source`.
    pub fn draw_destination(&self, source: NodeId, rng: &mut Rng) -> NodeId {
        match &self.pattern {
            DestinationPattern::Uniform => other(&self.destinations, source, rng),
            DestinationPattern::HotSpot { share, hosts } => {
                let is_hot = uniform(rng) < *share && has_other(hosts, source);
                other(if is_hot { hosts } else { &self.destinations }, source, rng)
            }
            DestinationPattern::Groups { share, groups, home } => {
                let home = home[source.index()];
                let leaves = uniform(rng) < *share;
                let far = if leaves { other_group(groups, home, rng) } else { None };
                far.unwrap_or_else(|| other(&groups[home], source, rng))
            }
        }
    }

    /// Every host that a flow of `source` may go to, some of them twice.
    pub fn receivers(&self) -> impl Iterator<Item = NodeId> {
        let hot = match &self.pattern {
            DestinationPattern::HotSpot { hosts, .. } => &hosts[..],
            DestinationPattern::Uniform | DestinationPattern::Groups { .. } => &[],
        };
        self.destinations.iter().chain(hot).copied()
    }

    /// Refuses a pattern from which no destination can be drawn.
    ///
    /// # Errors
    /// Says what is missing.
    pub(crate) fn validate_pattern(&self) -> Result<(), String> {
        let ordered = |hosts: &[NodeId]| hosts.is_sorted_by(|one, next| one < next);
        if !ordered(&self.destinations) {
            return Err("its destinations are not in order of their numbers".into());
        }
        let fits = |share: f64| if (0.0..=1.0).contains(&share) { Ok(()) } else { Err(share) };
        let refused = |share: f64| format!("{share} is not a share from 0 to 1");
        match &self.pattern {
            DestinationPattern::Uniform => Ok(()),
            DestinationPattern::HotSpot { share, hosts } => {
                fits(*share).map_err(refused)?;
                let fits = !hosts.is_empty() && ordered(hosts);
                if fits { Ok(()) } else { Err("its hot hosts are missing or not in order".into()) }
            }
            DestinationPattern::Groups { share, groups, home } => {
                fits(*share).map_err(refused)?;
                if !groups.iter().all(|hosts| ordered(hosts)) {
                    return Err("the hosts of a group are not in order of their numbers".into());
                }
                self.sources.iter().try_for_each(|&source| drawable(*share, groups, home, source))
            }
        }
    }
}

/// Refuses a source without a destination inside its group or outside, where flows go there.
fn drawable(share: f64, groups: &[Vec<NodeId>], home: &[usize], source: NodeId) -> Result<(), String> {
    let Some(own) = home.get(source.index()).filter(|&&own| own < groups.len()) else {
        return Err(format!("node {} sends and is in no group", source.0));
    };
    let far = groups.iter().enumerate().any(|(group, hosts)| group != *own && !hosts.is_empty());
    if (share < 1.0 && !has_other(&groups[*own], source)) || (share > 0.0 && !far) {
        return Err(format!("node {} has no destination inside its group or outside", source.0));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use floodway_units::{Bytes, Span, Time, stream};

    use super::*;
    use crate::traffic::sizes::Sizes;

    const DRAWS: usize = 100_000;

    fn ids(numbers: std::ops::Range<u32>) -> Vec<NodeId> {
        numbers.map(NodeId).collect()
    }

    /// Twenty hosts, of which all send.
    fn spec(pattern: DestinationPattern) -> PoissonSpec {
        PoissonSpec {
            sources: ids(0..20),
            destinations: ids(0..20),
            pattern,
            sizes: Sizes::fixed(Bytes(1)),
            mean_gap: Span::us(1),
            from: Time::ZERO,
            until: Time::NEVER,
        }
    }

    /// How often each host is drawn.
    fn counts(spec: &PoissonSpec, source: u32) -> Vec<f64> {
        spec.validate_pattern().expect("it is right");
        let mut rng = stream(7, u64::from(source), "test");
        let mut counts = vec![0.0; 20];
        for _ in 0..DRAWS {
            counts[spec.draw_destination(NodeId(source), &mut rng).index()] += 1.0;
        }
        counts
    }

    /// Within five standard deviations of a binomial with this probability.
    fn is_near(count: f64, probability: f64) -> bool {
        let draws = DRAWS as f64;
        (count - draws * probability).abs() <= 5.0 * (draws * probability * (1.0 - probability)).sqrt()
    }

    #[test]
    fn uniform_draws_take_one_number_and_step_over_the_source() {
        let spec = spec(DestinationPattern::Uniform);
        let mut rng = stream(1, 2, "test");
        let mut same = rng.clone();
        for _ in 0..1000 {
            let drawn = ((u128::from(same.next_u64()) * 19) >> 64) as u32;
            let expected = drawn + u32::from(drawn >= 5);
            assert_eq!(spec.draw_destination(NodeId(5), &mut rng), NodeId(expected));
        }
    }

    #[test]
    fn hot_hosts_get_their_share_and_their_part_of_the_rest() {
        let spec = spec(DestinationPattern::HotSpot { share: 0.15, hosts: vec![NodeId(3), NodeId(11)] });
        let counts_of_other = counts(&spec, 0);
        assert_eq!(counts_of_other[0], 0.0);
        for (host, &count) in counts_of_other.iter().enumerate().skip(1) {
            let hot = if host == 3 || host == 11 { 0.15 / 2.0 } else { 0.0 };
            assert!(is_near(count, 0.85 / 19.0 + hot), "{host}: {count}");
        }
        // A hot host sends its hot share to the other one.
        let of_hot = counts(&spec, 3);
        assert_eq!(of_hot[3], 0.0);
        assert!(is_near(of_hot[11], 0.85 / 19.0 + 0.15), "{of_hot:?}");
    }

    #[test]
    fn the_only_hot_host_draws_uniformly() {
        let spec = spec(DestinationPattern::HotSpot { share: 0.9, hosts: vec![NodeId(4)] });
        let counts = counts(&spec, 4);
        assert_eq!(counts[4], 0.0);
        assert!(counts.iter().enumerate().all(|(host, &count)| host == 4 || is_near(count, 1.0 / 19.0)));
    }

    #[test]
    fn a_share_leaves_the_group_and_the_rest_stays() {
        let home = (0..20).map(|node| usize::from(node >= 5) + usize::from(node >= 12)).collect();
        let groups = vec![ids(0..5), ids(5..12), ids(12..20)];
        let spec = spec(DestinationPattern::Groups { share: 0.3, groups, home });
        let counts = counts(&spec, 6);
        for (host, &count) in counts.iter().enumerate() {
            let expected = match host {
                6 => 0.0,
                5..12 => 0.7 / 6.0,
                _ => 0.3 / 13.0,
            };
            assert!(is_near(count, expected), "{host}: {count}");
        }
    }

    #[test]
    fn patterns_without_a_destination_are_refused() {
        let why = |pattern: DestinationPattern| spec(pattern).validate_pattern().unwrap_err();
        assert!(
            why(DestinationPattern::HotSpot { share: 0.5, hosts: Vec::new() })
                .contains("hot hosts are missing")
        );
        assert!(
            why(DestinationPattern::HotSpot { share: 1.5, hosts: ids(0..1) }).contains("1.5 is not a share")
        );
        let one = |share| DestinationPattern::Groups { share, groups: vec![ids(0..20)], home: vec![0; 20] };
        assert_eq!(spec(one(0.0)).validate_pattern(), Ok(()));
        assert!(why(one(0.5)).contains("node 0 has no destination"));
        let apart = (0..20).map(|node| usize::from(node > 0)).collect();
        let groups = vec![ids(0..1), ids(1..20)];
        assert!(
            why(DestinationPattern::Groups { share: 0.5, groups, home: apart })
                .contains("node 0 has no destination")
        );
        let mut unordered = spec(DestinationPattern::Uniform);
        unordered.destinations.swap(0, 1);
        assert!(unordered.validate_pattern().unwrap_err().contains("not in order"));
    }
}

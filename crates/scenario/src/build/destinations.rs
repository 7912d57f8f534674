//! Destination patterns of Poisson arrivals: uniform, hot spots, other datacenters, groups.

use floodway_fabric::destinations::DestinationPattern;
use floodway_units::NodeId;
use floodway_units::cast::{narrow, to_usize, whole};

use super::map::Map;
use super::{Builder, error_at, workload_path};
use crate::workload::Workload;
use crate::workload::chance::Chance;
use crate::workload::hot_spot::{HotHosts, HotSpot, hot};
use crate::workload::poisson::{Grouping, Poisson};
use crate::workload::recipe::{Pattern, Recipe};

/// Tags that begin so name datacenters.
const DATACENTER: &str = "dc-";

impl Builder<'_> {
    /// The distribution of receivers; none after an error.
    pub(super) fn destination_pattern(
        &mut self,
        workload: &Workload,
        poisson: &Poisson,
        sources: &[usize],
        destinations: &[usize],
        map: &Map<'_>,
    ) -> Option<DestinationPattern> {
        if poisson.grouping.is_some() && poisson.groups.is_none() {
            let message = "given without \"groups\"".to_owned();
            self.fault(&workload_path(workload, "poisson.grouping"), message);
            return None;
        }
        let grouping = poisson.grouping.unwrap_or_default();
        match (&poisson.hot_spot, poisson.inter_dc, poisson.groups) {
            (None, None, None) => Some(DestinationPattern::Uniform),
            (Some(hot_spot), None, None) => self.hot_spot(workload, hot_spot, sources, destinations, map),
            (None, Some(share), None) => self.inter_dc(workload, share, sources, destinations, map),
            (None, None, Some(count)) => self.groups(workload, (count, grouping), sources, destinations, map),
            (hot_spot, inter_dc, groups) => {
                let given = [
                    (hot_spot.is_some(), "\"hot-spot\""),
                    (inter_dc.is_some(), "\"inter-dc\""),
                    (groups.is_some(), "\"groups\""),
                ];
                let given: Vec<&str> = given.into_iter().filter_map(|(is, key)| is.then_some(key)).collect();
                let message = format!("{} are given together: give one", given.join(" and "));
                self.fault(&workload_path(workload, "poisson"), message);
                None
            }
        }
    }

    /// Hosts that send or receive, in groups of as many.
    fn groups(
        &mut self,
        workload: &Workload,
        (count, grouping): (usize, Grouping),
        sources: &[usize],
        destinations: &[usize],
        map: &Map<'_>,
    ) -> Option<DestinationPattern> {
        let key = workload_path(workload, "poisson.groups");
        let mut hosts: Vec<usize> = sources.iter().chain(destinations).copied().collect();
        hosts.sort_unstable();
        hosts.dedup();
        if count == 0 || !hosts.len().is_multiple_of(count) {
            let divides = |count: &usize| hosts.len().is_multiple_of(*count);
            let divisors: Vec<_> =
                (1..=hosts.len() / 2).filter(divides).map(|count| count.to_string()).collect();
            let message = format!(
                "{} hosts are not {count} groups of as many each; allowed: {}",
                hosts.len(),
                divisors.join(", ")
            );
            self.fault(&key, message);
            return None;
        }
        let mut home = vec![count; map.network.nodes.len()];
        for (place, &host) in hosts.iter().enumerate() {
            home[host] = match grouping {
                Grouping::Consecutive => place * count / hosts.len(),
                Grouping::InTurn => place % count,
            };
        }
        let groups: Vec<Vec<usize>> =
            (0..count).map(|own| of_these(destinations, |host| home[host] == own)).collect();
        let alone = sources.iter().find(|&&source| undrawable(0.0, &groups, home[source], source).is_some());
        if let Some(&source) = alone {
            let message = format!("{} has no other host of its group to send to", map.name(source));
            self.fault(&key, message);
            return None;
        }
        Some(DestinationPattern::Groups {
            share: 0.0,
            groups: groups.iter().map(|hosts| ids(hosts)).collect(),
            home,
        })
    }

    fn hot_spot(
        &mut self,
        workload: &Workload,
        hot_spot: &HotSpot,
        sources: &[usize],
        destinations: &[usize],
        map: &Map<'_>,
    ) -> Option<DestinationPattern> {
        self.share(workload, "poisson.hot-spot.share", hot_spot.share)?;
        let key = "poisson.hot-spot.hosts";
        let hosts = match &hot_spot.hosts {
            HotHosts::Those(selector) => self.hosts(workload, key, selector, map)?,
            HotHosts::Fraction(fraction) if *fraction > 0.0 && *fraction <= 1.0 => {
                let count = to_usize(whole((destinations.len() as f64 * fraction).round())).max(1);
                let pattern = Pattern::HotHosts { hosts: destinations.to_vec(), count };
                self.recipes.push(Recipe { workload: workload.name.clone(), pattern });
                hot(destinations, count, &mut Chance::InTurn)
            }
            HotHosts::Fraction(fraction) => {
                let message = format!("{fraction} is not a fraction above 0 and up to 1");
                self.fault(&workload_path(workload, key), message);
                return None;
            }
        };
        if let Some((source, lost)) = map.apart(sources, &hosts) {
            let message = format!("no path leads from {} to {}", map.name(source), map.name(lost));
            self.fault(&workload_path(workload, key), message);
            return None;
        }
        Some(DestinationPattern::HotSpot { share: hot_spot.share, hosts: ids(&hosts) })
    }

    fn inter_dc(
        &mut self,
        workload: &Workload,
        share: f64,
        sources: &[usize],
        destinations: &[usize],
        map: &Map<'_>,
    ) -> Option<DestinationPattern> {
        let key = "poisson.inter-dc";
        self.share(workload, key, share)?;
        let datacenter = |&node: &usize| {
            map.network.nodes[node].tags.iter().find(|tag| tag.starts_with(DATACENTER)).map(String::as_str)
        };
        if let Some(astray) = sources.iter().chain(destinations).find(|node| datacenter(node).is_none()) {
            let message = format!("{} is in no datacenter: it has no tag \"dc-*\"", map.name(*astray));
            let error = error_at(self.tree, &workload_path(workload, key), message);
            self.errors.push(error);
            return None;
        }
        let mut names: Vec<&str> = sources.iter().chain(destinations).filter_map(datacenter).collect();
        names.sort_unstable();
        names.dedup();
        let of = |name: &&str| of_these(destinations, |node| datacenter(&node) == Some(name));
        let groups: Vec<Vec<usize>> = names.iter().map(of).collect();
        let mut home = vec![groups.len(); map.network.nodes.len()];
        for &source in sources {
            let own = names.iter().position(|name| datacenter(&source) == Some(name))?;
            home[source] = own;
            if let Some(why) = undrawable(share, &groups, own, source) {
                let message = format!("{} of {} has no {why} to send to", map.name(source), names[own]);
                self.fault(&workload_path(workload, key), message);
                return None;
            }
        }
        Some(DestinationPattern::Groups {
            share,
            groups: groups.iter().map(|hosts| ids(hosts)).collect(),
            home,
        })
    }

    fn share(&mut self, workload: &Workload, key: &str, share: f64) -> Option<()> {
        if (0.0..=1.0).contains(&share) {
            return Some(());
        }
        self.fault(&workload_path(workload, key), format!("{share} is not a share from 0 to 1"));
        None
    }
}

/// What a sender of the group `own` misses, where some of its flows would need it.
fn undrawable(share: f64, groups: &[Vec<usize>], own: usize, source: usize) -> Option<&'static str> {
    let has_other_group = groups.iter().enumerate().any(|(group, hosts)| group != own && !hosts.is_empty());
    let inside = groups[own].iter().any(|&host| host != source);
    match () {
        () if share > 0.0 && !has_other_group => Some("host of another datacenter"),
        () if share < 1.0 && !inside => Some("other host of its own datacenter"),
        () => None,
    }
}

fn of_these(hosts: &[usize], matches: impl Fn(usize) -> bool) -> Vec<usize> {
    hosts.iter().copied().filter(|&host| matches(host)).collect()
}

fn ids(nodes: &[usize]) -> Vec<NodeId> {
    nodes.iter().map(|&node| NodeId(narrow(node))).collect()
}

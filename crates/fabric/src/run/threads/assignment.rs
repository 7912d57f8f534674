//! Assignment of nodes to threads.
//!
//! At first it follows from the topology. Links are taken away by falling delay until what is left hangs
//! together in several parts with hosts: datacenters, then what is below one switch. These are packed into as
//! many groups as there are threads, neighbours together, with like shares of the ports' rates; switches that
//! have no hosts (aggregation, cores) follow most of their links, and are dealt out where those lead
//! everywhere. Later it follows from the measured cost of nodes.
//!
//! If the topology has fewer parts than there are threads, nodes are assigned one by one in the order of
//! their rates.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use floodway_blueprint::network::blueprint::{Blueprint, Role};
use floodway_blueprint::network::groups::joined;
use floodway_units::Span;
use floodway_units::cast::narrow;

/// In no group yet.
const NOWHERE: u8 = u8::MAX;

/// Nodes that are never apart, joined into units.
struct Units {
    /// By node.
    of: Vec<usize>,
    /// By unit: the sum of its ports' rates.
    weight: Vec<u128>,
    /// By unit: does it have hosts?
    hosts: Vec<bool>,
    links: Vec<Link>,
}

/// A link between two units.
struct Link {
    ends: [usize; 2],
    delay: Span,
    rate: u128,
}

/// By node, the thread that owns it at first.
pub(crate) fn initial(blueprint: &Blueprint, threads: usize) -> Vec<u8> {
    let units = Units::new(blueprint, host_stays(blueprint));
    let mut group = vec![NOWHERE; units.weight.len()];
    let all: Vec<usize> = (0..group.len()).collect();
    let groups = units.split(&all, threads, &mut group, 0);
    if groups < threads {
        by_rates(blueprint, &vec![true; blueprint.nodes.len()], threads)
    } else {
        units.by_node(&group)
    }
}

/// By node, the thread that owns it at first, of those that are `owned`; of the others nothing.
pub(crate) fn within(blueprint: &Blueprint, owned: &[bool], threads: usize) -> Vec<u8> {
    let units = Units::new(blueprint, host_stays(blueprint));
    let mut group = vec![NOWHERE; units.weight.len()];
    let mut own: Vec<usize> =
        (0..owned.len()).filter(|&node| owned[node]).map(|node| units.of[node]).collect();
    own.sort_unstable();
    own.dedup();
    let groups = units.split(&own, threads, &mut group, 0);
    let owners = if groups < threads { by_rates(blueprint, owned, threads) } else { units.by_node(&group) };
    let owner = |(&owner, &owned): (&u8, &bool)| if owned { owner } else { 0 };
    owners.iter().zip(owned).map(owner).collect()
}

/// By node, if the topology has fewer parts than there are threads: in the order of falling rates, each node
/// to the thread with the least so far.
fn by_rates(blueprint: &Blueprint, owned: &[bool], threads: usize) -> Vec<u8> {
    let mut rates = vec![0; blueprint.nodes.len()];
    for link in &blueprint.links {
        for (end, direction) in link.ends.iter().zip(&link.directions) {
            rates[end.node.index()] += u128::from(direction.rate.0);
        }
    }
    let mut nodes: Vec<usize> = (0..rates.len()).filter(|&node| owned[node]).collect();
    nodes.sort_by_key(|&node| Reverse(rates[node]));
    let (mut owners, mut loads) = (vec![0; rates.len()], vec![0; threads]);
    for node in nodes {
        let owner = (0..threads).min_by_key(|&thread| loads[thread]).unwrap_or_default();
        owners[node] = narrow(owner);
        loads[owner] += rates[node];
    }
    owners
}

/// A thread whose load exceeds the mean by this fraction (1/8) gives nodes away.
const UNEVEN: u64 = 8;

/// Moves nodes from the most to the least loaded threads; true if any moved. `loads` are the sums of `costs`
/// by thread.
pub(crate) fn rebalance(owners: &mut [u8], costs: &[u64], loads: &mut [u64]) -> bool {
    let mean = loads.iter().sum::<u64>() / loads.len().max(1) as u64;
    let mut moved = false;
    for _ in 0..loads.len() {
        let Some(most) = (0..loads.len()).max_by_key(|&thread| loads[thread]) else { break };
        let Some(least) = (0..loads.len()).min_by_key(|&thread| loads[thread]) else { break };
        if loads[most] <= mean + mean / UNEVEN {
            break;
        }
        let mut surplus = (loads[most] - mean).min(mean - loads[least]);
        let mut nodes: Vec<usize> =
            (0..owners.len()).filter(|&node| usize::from(owners[node]) == most).collect();
        nodes.sort_by_key(|&node| Reverse(costs[node]));
        for node in nodes {
            let cost = costs[node];
            if cost > 0 && cost <= surplus {
                surplus -= cost;
                owners[node] = narrow(least);
                (loads[most], loads[least], moved) = (loads[most] - cost, loads[least] + cost, true);
            }
        }
    }
    moved
}

/// Is a node's link, its first, to stay whole? Of a host, unless no link between switches is as long.
fn host_stays(blueprint: &Blueprint) -> impl Fn(usize) -> bool + '_ {
    let is_host = |node: usize| matches!(blueprint.nodes[node].role, Role::Host { .. });
    let mut first = vec![usize::MAX; blueprint.nodes.len()];
    let mut longest = None;
    for (i, link) in blueprint.links.iter().enumerate() {
        let (ends, delay) = (link.nodes(), link.shortest_delay());
        if ends.iter().any(|&end| is_host(end)) {
            for end in ends.into_iter().filter(|&end| is_host(end)) {
                first[end] = first[end].min(i);
            }
        } else {
            longest = longest.max(Some(delay));
        }
    }
    move |link| {
        let spec = &blueprint.links[link];
        longest.is_some_and(|longest| spec.shortest_delay() <= longest)
            && spec.nodes().iter().any(|&end| first[end] == link)
    }
}

impl Units {
    /// Joined by the links for which `stays` holds.
    fn new(blueprint: &Blueprint, stays: impl Fn(usize) -> bool) -> Self {
        let links = blueprint.links.iter().enumerate();
        let whole = links.filter(|&(i, _)| stays(i));
        let of = joined(blueprint.nodes.len(), whole.map(|(_, link)| link.nodes()));
        let count = of.iter().max().map_or(0, |last| last + 1);
        let mut units = Units { weight: vec![0; count], hosts: vec![false; count], links: Vec::new(), of };
        for (node, spec) in blueprint.nodes.iter().enumerate() {
            units.hosts[units.of[node]] |= matches!(spec.role, Role::Host { .. });
        }
        for link in &blueprint.links {
            let ends = link.nodes().map(|node| units.of[node]);
            for (unit, direction) in ends.into_iter().zip(&link.directions) {
                units.weight[unit] += u128::from(direction.rate.0);
            }
            if ends[0] != ends[1] {
                let rate = link.directions.iter().map(|direction| u128::from(direction.rate.0)).sum();
                units.links.push(Link { ends, delay: link.shortest_delay(), rate });
            }
        }
        units
    }

    /// Splits some units where the longest links are that divide their hosts; how many groups are made,
    /// numbered from `first`.
    fn split(&self, units: &[usize], wanted: usize, group: &mut [u8], first: usize) -> usize {
        let parts = if wanted > 1 { self.parts(units) } else { Vec::new() };
        if parts.len() < 2 {
            for &unit in units {
                group[unit] = narrow(first);
            }
            return 1;
        }
        let weights: Vec<u128> = parts.iter().map(|part| self.weight_of(part)).collect();
        let mut made = wanted;
        if parts.len() < wanted {
            made = 0;
            for (part, share) in parts.iter().zip(shares(&weights, wanted)) {
                made += self.split(part, share, group, first + made);
            }
        } else {
            for (part, at) in parts.iter().zip(pack(&weights, wanted)) {
                for &unit in part {
                    group[unit] = narrow(first + at);
                }
            }
        }
        self.attach(units, group, first..first + made);
        made
    }

    fn weight_of(&self, part: &[usize]) -> u128 {
        part.iter().map(|&unit| self.weight[unit]).sum()
    }

    fn links_within(&self, units: &[usize]) -> Vec<&Link> {
        let mut within = vec![false; self.weight.len()];
        for &unit in units {
            within[unit] = true;
        }
        self.links.iter().filter(|link| link.ends.iter().all(|&end| within[end])).collect()
    }

    /// The parts that remain when the longest links are removed until hosts are in two parts or more; only
    /// parts with hosts. Those with the same neighbours follow each other.
    fn parts(&self, units: &[usize]) -> Vec<Vec<usize>> {
        let links: Vec<&Link> = self.links_within(units);
        let mut delays: Vec<Span> = links.iter().map(|link| link.delay).collect();
        delays.sort_unstable();
        delays.dedup();
        for &longest in delays.iter().rev() {
            let short = links.iter().filter(|link| link.delay < longest).map(|link| link.ends);
            let of = joined(self.weight.len(), short);
            let mut parts = vec![Vec::new(); self.weight.len()];
            for &unit in units {
                parts[of[unit]].push(unit);
            }
            parts.retain(|part| part.iter().any(|&unit| self.hosts[unit]));
            if parts.len() > 1 {
                self.order(&mut parts, &links);
                return parts;
            }
        }
        Vec::new()
    }

    /// Puts parts in the order of the first unit that they are linked to, then of their own first.
    fn order(&self, parts: &mut [Vec<usize>], links: &[&Link]) {
        let mut part_of = vec![usize::MAX; self.weight.len()];
        for (i, part) in parts.iter().enumerate() {
            for &unit in part {
                part_of[unit] = i;
            }
        }
        let mut nearest = vec![usize::MAX; parts.len()];
        for link in links {
            for (own, other) in [(0, 1), (1, 0)].map(|(a, b)| (part_of[link.ends[a]], link.ends[b])) {
                if own != usize::MAX && part_of[other] != own {
                    nearest[own] = nearest[own].min(other);
                }
            }
        }
        parts.sort_by_key(|part| (nearest[part_of[part[0]]], part[0]));
    }

    /// Gives those of `units` that are in no group, round by round outward, the group with which they share
    /// most; where several share the same, the one with the least so far.
    fn attach(&self, units: &[usize], group: &mut [u8], groups: Range<usize>) {
        let mut load = vec![0; groups.end];
        for &unit in units.iter().filter(|&&unit| group[unit] != NOWHERE) {
            load[usize::from(group[unit])] += self.weight[unit];
        }
        while let Some(round) = self.round(units, group, groups.end) {
            for (unit, shared) in round {
                let most = shared.iter().max();
                let best = groups.clone().filter(|&of| shared.get(of) == most).min_by_key(|&of| load[of]);
                let best = best.unwrap_or(groups.start);
                group[unit] = narrow(best);
                load[best] += self.weight[unit];
            }
        }
        for &unit in units {
            if group[unit] == NOWHERE {
                // It has no link.
                group[unit] = narrow(groups.start);
            }
        }
    }

    /// The units that are in no group and have a link to one that is: what they share with each group, in
    /// order.
    fn round(&self, units: &[usize], group: &[u8], groups: usize) -> Option<BTreeMap<usize, Vec<u128>>> {
        let mut shared: BTreeMap<usize, Vec<u128>> = BTreeMap::new();
        for link in self.links_within(units) {
            for (own, other) in [(0, 1), (1, 0)].map(|(a, b)| (link.ends[a], link.ends[b])) {
                if group[own] == NOWHERE && group[other] != NOWHERE {
                    let of = shared.entry(own).or_insert_with(|| vec![0; groups]);
                    of[usize::from(group[other])] += link.rate;
                }
            }
        }
        (!shared.is_empty()).then_some(shared)
    }

    fn by_node(&self, group: &[u8]) -> Vec<u8> {
        self.of.iter().map(|&unit| group[unit]).collect()
    }
}

/// Deals `wanted` out, one to each at least, then each to the one that has least for its weight.
fn shares(weights: &[u128], wanted: usize) -> Vec<usize> {
    let mut shares = vec![1; weights.len()];
    for _ in weights.len()..wanted {
        let per_share = |i: usize| weights[i] / (shares[i] as u128 + 1);
        let best = (0..weights.len()).rev().max_by_key(|&i| per_share(i)).unwrap_or_default();
        shares[best] += 1;
    }
    shares
}

/// Which of `groups` each goes to: neighbours together, like weights in each, none empty.
fn pack(weights: &[u128], groups: usize) -> Vec<usize> {
    let total: u128 = weights.iter().sum::<u128>().max(1);
    let mut before = 0;
    let mut last = 0;
    let place = |(i, &weight): (usize, &u128)| {
        let middle = before + weight / 2;
        before += weight;
        let wanted = (middle * groups as u128 / total) as usize;
        // Each group gets one; those that are left are enough for the groups that are left.
        let least = groups.saturating_sub(weights.len() - i);
        let most = if i == 0 { 0 } else { last + 1 };
        last = wanted.max(least).max(last).min(most).min(groups - 1);
        last
    };
    weights.iter().enumerate().map(place).collect()
}

//! Nodes and links of a topology under construction.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use floodway_fabric::footprint::Parts;
use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::relays::RelayAt;
use crate::error::Place;
use crate::grammar::gpu_nodes::ScaleUpKeys;
use crate::shown::formula;

/// The maximum number of nodes or links that a generator creates: a larger number is a typing error.
pub(super) const MOST: usize = 1 << 20;
/// The maximum number of entries of routing tables, one for each node and each switch with hosts: 4 bytes
/// each.
const MOST_ROUTES: usize = 1 << 29;

/// A parameter that gives no valid network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyError {
    /// Keys that lead to it, below `topology`.
    pub path: Vec<String>,
    /// The fault.
    pub message: String,
    /// The place where it is written, if in a separate file.
    pub place: Option<Place>,
}

impl TopologyError {
    /// An error at `key`; empty for the topology as a whole.
    pub fn new(key: &str, message: impl Into<String>) -> Self {
        let path = if key.is_empty() { Vec::new() } else { vec![key.to_owned()] };
        TopologyError { path, message: message.into(), place: None }
    }

    /// The same error in a separate file.
    pub fn at(self, place: Place) -> Self {
        TopologyError { place: Some(place), ..self }
    }

    /// The same error below another key.
    pub fn below(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }

    /// The same error below several keys, the outermost first.
    pub fn below_all(mut self, keys: &[String]) -> Self {
        self.path.splice(0..0, keys.iter().cloned());
        self
    }
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name, unique.
    pub name: String,
    /// Its kind and position.
    pub tags: Vec<String>,
    /// Whether it is a host, and not a switch.
    pub is_host: bool,
    /// Of a host: its address, as switches hash it. Default: by its number among the hosts.
    pub address: Option<u32>,
}

/// A full-duplex link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name, unique.
    pub name: String,
    /// Its kind and position.
    pub tags: Vec<String>,
    /// Indices of the nodes at its ends.
    pub ends: [usize; 2],
    /// Rate, both ways.
    pub rate: Rate,
    /// Propagation, both ways.
    pub delay: Span,
    /// Probability that a frame of any kind is damaged, both ways.
    pub error_rate: f64,
}

/// Rate and delay of links; missing values are taken from the level above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hop {
    /// Line rate. Default: that of the level above.
    pub rate: Option<Rate>,
    /// Propagation delay. Not together with `length`. Default: that of the level above.
    pub delay: Option<Span>,
    /// Length of fibre, at 5 us/km. Not together with `delay`. Default: that of the level above.
    pub length: Option<Length>,
}

impl Hop {
    /// Takes missing values from `other`.
    pub fn or(self, other: Hop) -> Hop {
        let own_delay = self.delay.is_some() || self.length.is_some();
        let distance = if own_delay { self } else { other };
        Hop { rate: self.rate.or(other.rate), delay: distance.delay, length: distance.length }
    }

    /// Rate and delay of a tier's links; an error has the tier's key if the tier has any value.
    ///
    /// # Errors
    /// As of [`Hop::resolve`].
    pub fn tier(self, key: &str, common: Hop) -> Result<(Rate, Span), TopologyError> {
        let hop = self.or(common).resolve();
        hop.map_err(|error| if self == Hop::default() { error } else { error.below(key) })
    }

    /// Rate and delay.
    ///
    /// # Errors
    /// One is missing, zero, or given twice.
    pub fn resolve(self) -> Result<(Rate, Span), TopologyError> {
        let missing = |key: &str| TopologyError::new("", format!("the key {key:?} is missing"));
        let rate = self.rate.ok_or_else(|| missing("rate"))?;
        let (key, delay) = match (self.delay, self.length) {
            (Some(_), Some(_)) => {
                return Err(TopologyError::new("length", "give either the delay or the length, not both"));
            }
            (Some(delay), None) => ("delay", delay),
            // 2^43 m are beyond the sun, and their picoseconds still fit.
            (None, Some(length)) if length.0 >= 1 << 43 => {
                return Err(TopologyError::new("length", format!("{length} is too long")));
            }
            (None, Some(length)) => ("length", length.delay()),
            (None, None) => return Err(missing("delay")),
        };
        if rate == Rate(0) {
            return Err(TopologyError::new("rate", "a link needs a rate above 0"));
        }
        if delay == Span::ZERO {
            return Err(TopologyError::new(key, "a link needs a delay above 0"));
        }
        Ok((rate, delay))
    }
}

/// Nodes and links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Links among them.
    pub links: Vec<Link>,
    /// Relays on links, the last of the nodes.
    pub relays: Vec<RelayAt>,
    /// The scale-up domain of its GPU nodes, where the topology says so.
    pub scale_up: Option<ScaleUpKeys>,
    /// Index of a node by name.
    by_name: BTreeMap<String, usize>,
}

impl Network {
    /// Adds a host; returns its index.
    ///
    /// # Errors
    /// The name is already in use.
    pub fn host(&mut self, name: impl Into<String>, tags: &[&str]) -> Result<usize, TopologyError> {
        self.node(name.into(), tags, true)
    }

    /// Adds a switch; returns its index.
    ///
    /// # Errors
    /// The name is already in use.
    pub fn switch(&mut self, name: impl Into<String>, tags: &[&str]) -> Result<usize, TopologyError> {
        self.node(name.into(), tags, false)
    }

    fn node(&mut self, name: String, tags: &[&str], is_host: bool) -> Result<usize, TopologyError> {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        self.add(Node { name, tags, is_host, address: None })
    }

    /// Adds a node; returns its index.
    ///
    /// # Errors
    /// The name is already in use.
    pub fn add(&mut self, node: Node) -> Result<usize, TopologyError> {
        let index = self.nodes.len();
        if index >= MOST {
            return Err(TopologyError::new("", format!("it has more than {MOST} nodes")));
        }
        if self.by_name.insert(node.name.clone(), index).is_some() {
            return Err(TopologyError::new("", format!("two nodes are named {:?}", node.name)));
        }
        self.nodes.push(node);
        Ok(index)
    }

    /// Rejects `more` links if they are too many.
    ///
    /// # Errors
    /// They are too many.
    pub fn room_for(&self, more: usize) -> Result<(), TopologyError> {
        if self.links.len().saturating_add(more) > MOST {
            return Err(TopologyError::new("", format!("it has more than {MOST} links")));
        }
        Ok(())
    }

    /// Links two nodes. The name is set when all links are known.
    pub fn link(&mut self, ends: [usize; 2], tags: &[&str], (rate, delay): (Rate, Span)) {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        self.links.push(Link { name: String::new(), tags, ends, rate, delay, error_rate: 0.0 });
    }

    /// Adds a host's tags `node-<n>` and `rail-<i>` to its links, so that these can be selected by them.
    pub fn tag_links_of_hosts(&mut self) {
        for link in &mut self.links {
            let hosts = link.ends.iter().map(|&end| &self.nodes[end]).filter(|node| node.is_host);
            for tag in hosts.flat_map(|host| &host.tags) {
                if (numbered(tag, "node") || numbered(tag, "rail")) && !link.tags.contains(tag) {
                    link.tags.push(tag.clone());
                }
            }
        }
    }

    /// Index of the node of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// All names of nodes.
    pub fn names(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.name.clone()).collect()
    }

    /// Names and tags of the nodes for which `is_selected` holds.
    pub fn labels_of_nodes(
        &self,
        is_selected: impl Fn(&Node) -> bool + Clone,
    ) -> impl Iterator<Item = (&str, &[String])> + Clone {
        let nodes = self.nodes.iter().filter(move |node| is_selected(node));
        nodes.map(|node| (node.name.as_str(), node.tags.as_slice()))
    }

    /// Names and tags of the links.
    pub fn labels_of_links(&self) -> impl Iterator<Item = (&str, &[String])> + Clone {
        self.links.iter().map(|link| (link.name.as_str(), link.tags.as_slice()))
    }

    /// Gives each link without a name one, after its ends.
    pub fn name_links(&mut self) {
        let base = |link: &Link, nodes: &[Node]| {
            format!("{}-{}", nodes[link.ends[0]].name, nodes[link.ends[1]].name)
        };
        let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for link in self.links.iter().filter(|link| link.name.is_empty()) {
            counts.entry(base(link, &self.nodes)).or_default().0 += 1;
        }
        for link in self.links.iter_mut().filter(|link| link.name.is_empty()) {
            let name = base(link, &self.nodes);
            let Some((all, so_far)) = counts.get_mut(&name) else { continue };
            *so_far += 1;
            link.name = if *all == 1 { name } else { format!("{name}#{so_far}") };
        }
    }

    /// Checks that names are valid, that those of links are unique, and that all nodes are connected.
    ///
    /// # Errors
    /// The check that fails.
    pub fn check(&self) -> Result<(), TopologyError> {
        let nodes = self.nodes.iter().map(|node| &node.name);
        if let Some(why) =
            nodes.chain(self.links.iter().map(|link| &link.name)).find_map(|name| formula(name))
        {
            return Err(TopologyError::new("", why));
        }
        let mut names = BTreeSet::new();
        for link in &self.links {
            if !names.insert(&link.name) {
                return Err(TopologyError::new("", format!("two links are named {:?}", link.name)));
            }
        }
        if !self.nodes.iter().any(|node| node.is_host) {
            return Err(TopologyError::new("", "it has no host"));
        }
        let entries = self.edges().saturating_mul(self.nodes.len());
        if entries > MOST_ROUTES {
            let message =
                format!("it needs {entries} entries of routing tables, but the maximum is {MOST_ROUTES}");
            return Err(TopologyError::new("", message));
        }
        let reached = self.distances(0);
        match reached.iter().position(|distance| *distance == u32::MAX) {
            Some(lost) => Err(TopologyError::new(
                "",
                format!(
                    "it is not connected: no links lead from {} to {}",
                    self.nodes[0].name, self.nodes[lost].name
                ),
            )),
            None => Ok(()),
        }
    }

    /// The parts of its blueprint.
    pub fn parts(&self, classes: usize) -> Parts {
        Parts {
            nodes: self.nodes.len() as u64,
            links: self.links.len() as u64,
            classes: classes as u64,
            routes: self.edges() as u64 * self.nodes.len() as u64,
        }
    }

    /// Switches with hosts, and hosts with several links: each of them needs a routing table.
    fn edges(&self) -> usize {
        let mut at: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut edges = BTreeSet::new();
        for link in &self.links {
            for (end, &node) in link.ends.iter().enumerate().filter(|(_, node)| self.nodes[**node].is_host) {
                let first = *at[node].get_or_insert(link.ends[1 - end]);
                edges.insert(if first == link.ends[1 - end] { first } else { node });
            }
        }
        edges.len()
    }

    /// Number of links between each node and `from`; `u32::MAX` for unreachable nodes. All nodes forward.
    pub fn distances(&self, from: usize) -> Vec<u32> {
        let neighbours = self.neighbours();
        let mut distances = vec![u32::MAX; self.nodes.len()];
        distances[from] = 0;
        let mut visit = VecDeque::from([from]);
        while let Some(node) = visit.pop_front() {
            for &next in &neighbours[node] {
                if distances[next] == u32::MAX {
                    distances[next] = distances[node] + 1;
                    visit.push_back(next);
                }
            }
        }
        distances
    }

    /// By node: the far end of each of its links.
    fn neighbours(&self) -> Vec<Vec<usize>> {
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for link in &self.links {
            neighbours[link.ends[0]].push(link.ends[1]);
            neighbours[link.ends[1]].push(link.ends[0]);
        }
        neighbours
    }

    /// Number of shortest paths from one node to another; parallel links count separately.
    #[cfg(test)]
    pub fn shortest_paths(&self, from: usize, to: usize) -> u64 {
        let (neighbours, distances) = (self.neighbours(), self.distances(from));
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&node| distances[node]);
        let mut paths = vec![0; self.nodes.len()];
        paths[from] = 1;
        for node in order.into_iter().filter(|&node| node == from || !self.nodes[node].is_host) {
            for &next in neighbours[node].iter().filter(|&&next| distances[next] == distances[node] + 1) {
                paths[next] += paths[node];
            }
        }
        paths[to]
    }
}

/// Whether a tag is `<kind>-<number>`.
pub fn numbered(tag: &str, kind: &str) -> bool {
    let number = tag.strip_prefix(kind).and_then(|rest| rest.strip_prefix('-'));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The size of groups into which `members` elements are divided; 1 if no size is given.
///
/// # Errors
/// The size does not divide them.
pub(super) fn groups(
    key: &str,
    size: Option<usize>,
    members: usize,
    what: &str,
) -> Result<usize, TopologyError> {
    let size = count(key, size.unwrap_or(1), 1)?;
    if members.is_multiple_of(size) {
        return Ok(size);
    }
    Err(TopologyError::new(key, format!("{members} {what} cannot be divided into groups of {size}")))
}

/// Rejects unreasonable numbers of elements.
///
/// # Errors
/// `count` is below `least` or too large.
pub(super) fn count(key: &str, count: usize, least: usize) -> Result<usize, TopologyError> {
    if (least..=MOST).contains(&count) {
        Ok(count)
    } else {
        Err(TopologyError::new(key, format!("{count} is not a number from {least} to {MOST}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_could_hold_is_refused() {
        let hop = (Rate::gbps(1), Span::us(1));
        let mut network = Network::default();
        let mut last = None;
        for n in 0..20_000 {
            let host = network.host(format!("h{n}"), &[]).expect("the name is new");
            let switch = network.switch(format!("s{n}"), &[]).expect("the name is new");
            network.link([host, switch], &[], hop);
            if let Some(last) = last.replace(switch) {
                network.link([last, switch], &[], hop);
            }
        }
        network.name_links();
        assert_eq!(network.edges(), 20_000);
        assert!(network.check().unwrap_err().message.contains("800000000 entries of routing tables"));
    }
}

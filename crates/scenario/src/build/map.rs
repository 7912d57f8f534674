//! Lookup of nodes, ports and paths by name, and of the flows in rows of a list.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{FlowSettings, FlowSpec, UNBOUNDED};
use floodway_fabric::routing::Routes;
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, NodeId, PortId};

use crate::error::nearest;
use crate::grammar::bounds::MOST_BYTES;
use crate::grammar::gpu_nodes::ScaleUpKeys;
use crate::resolve::FlowPlan;
use crate::topology::Network;
use crate::workload::csv::FlowRow;

/// Links from one node to another by their egress ports: one port, and more where relays are on the link.
type Links = BTreeMap<(usize, usize), Vec<Vec<PortId>>>;

/// What finds nodes, ports and paths.
pub struct Map<'a> {
    /// Nodes and links.
    pub network: &'a Network,
    /// By node, the keys of a host's scale-up domain.
    pub scale_up: &'a [Option<ScaleUpKeys>],
    routes: &'a Routes,
    /// The links between nodes, once a path is looked up by them.
    links: OnceCell<Links>,
    /// Of each node: the switch at the far end of its only link, else itself.
    edges: Vec<usize>,
}

impl<'a> Map<'a> {
    pub fn new(network: &'a Network, routes: &'a Routes, scale_up: &'a [Option<ScaleUpKeys>]) -> Self {
        let mut far_ends: Vec<Vec<usize>> = vec![Vec::new(); network.nodes.len()];
        for [a, b] in network.links.iter().map(|link| link.ends) {
            far_ends[a].push(b);
            far_ends[b].push(a);
        }
        let edge = |(node, ends): (usize, Vec<usize>)| match ends[..] {
            [only] if !network.nodes[only].is_host => only,
            _ => node,
        };
        let edges = far_ends.into_iter().enumerate().map(edge).collect();
        Map { network, scale_up, routes, links: OnceCell::new(), edges }
    }

    /// The flow that a row describes.
    pub fn flow(
        &self,
        row: &FlowRow,
        plan: &FlowPlan,
        blueprint: &mut Blueprint,
    ) -> Result<FlowSpec, String> {
        let (source, destination) = (self.host(&row.source)?, self.host(&row.destination)?);
        if source == destination {
            return Err(format!("it goes from {} to itself", row.source));
        }
        if row.size == Some(Bytes::ZERO) {
            return Err("size: 0B is not allowed; the minimum is 1B".into());
        }
        if row.size.is_some_and(|size| size > MOST_BYTES) {
            return Err(format!("its size is too large: the maximum is {MOST_BYTES}"));
        }
        if row.path.is_none() && !self.leads(source, destination) {
            return Err(format!("no path leads from {} to {}", row.source, row.destination));
        }
        let pinned =
            |path: &Option<String>, from, to| path.as_ref().map(|path| self.path(path, from, to)).transpose();
        Ok(FlowSpec {
            source: NodeId(narrow(source)),
            destination: NodeId(narrow(destination)),
            size: row.size.unwrap_or(UNBOUNDED),
            start: row.start,
            after: Vec::new(),
            wait: row.wait,
            source_port: row.source_port,
            destination_port: row.destination_port,
            path: pinned(&row.path, source, destination)?,
            ack_path: pinned(&row.ack_path, destination, source)?,
            settings: row.class.map(|class| intern(plan, class, blueprint)).transpose()?,
            place: 0,
        })
    }

    pub fn name(&self, node: usize) -> &str {
        &self.network.nodes[node].name
    }

    pub fn leads(&self, from: usize, to: usize) -> bool {
        !self.routes.candidates(NodeId(narrow(from)), NodeId(narrow(to))).is_empty()
    }

    /// The first sender and receiver that no path joins. Hosts of one link to the same switch reach the same
    /// hosts, so one of them is asked for all: pairs of hosts are too many.
    pub fn apart(&self, from: &[usize], to: &[usize]) -> Option<(usize, usize)> {
        let (from, to) = (self.one_of_each_edge(from), self.one_of_each_edge(to));
        let mut pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
        pairs.find(|&(from, to)| self.edges[from] != self.edges[to] && !self.leads(from, to))
    }

    fn one_of_each_edge(&self, hosts: &[usize]) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        hosts.iter().copied().filter(|&host| seen.insert(self.edges[host])).collect()
    }

    fn node(&self, name: &str) -> Result<usize, String> {
        self.network.find(name).ok_or_else(|| {
            let names = self.network.names();
            let hint = nearest(name, &names);
            let hint = hint.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            format!("no node is named {name:?}{hint}")
        })
    }

    fn host(&self, name: &str) -> Result<usize, String> {
        let node = self.node(name)?;
        if self.network.nodes[node].is_host {
            Ok(node)
        } else {
            Err(format!("{name} is a switch; flows run between hosts"))
        }
    }

    /// Egress ports along `"h1,s1,s2#2,h2"`, where `#2` means the second of parallel links.
    fn path(&self, path: &str, from: usize, to: usize) -> Result<Vec<PortId>, String> {
        let mut ports = Vec::new();
        let mut at: Option<usize> = None;
        for hop in path.split([',', '>']).map(str::trim) {
            // A node's own name may have a # in it.
            let (name, which) = match hop.rsplit_once('#') {
                Some((name, which)) if self.network.find(hop).is_none() => {
                    (name, which.parse::<usize>().ok())
                }
                _ => (hop, Some(1)),
            };
            let node = self.node(name)?;
            if let Some(at) = at {
                let links = self.links.get_or_init(|| links(self.network)).get(&(at, node));
                let links = links.map_or(&[][..], Vec::as_slice);
                let link = which.and_then(|which| links.get(which.checked_sub(1)?));
                ports.extend(link.ok_or_else(|| {
                    format!("its path {path:?} has no link from {} to {hop}", self.name(at))
                })?);
                if self.network.nodes[node].is_host && node != to {
                    return Err(format!("its path {path:?} passes the host {}", self.name(node)));
                }
            } else if node != from {
                return Err(format!("its path {path:?} does not begin at {}", self.name(from)));
            }
            at = Some(node);
        }
        if at != Some(to) || ports.len() >= 250 {
            return Err(format!("its path {path:?} does not end at {}", self.name(to)));
        }
        Ok(ports)
    }
}

/// All links of a network.
fn links(network: &Network) -> Links {
    let mut between = Links::new();
    for (i, link) in (0u32..).zip(&network.links) {
        let [a, b] = link.ends;
        between.entry((a, b)).or_default().push(vec![PortId(2 * i)]);
        between.entry((b, a)).or_default().push(vec![PortId(2 * i + 1)]);
        // Over relays from switch to switch, in the place of the link.
        if let Some([a, b]) = network.relays_of(i as usize) {
            let port = |link: usize, end: u32| PortId(2 * narrow::<u32>(link) + end);
            let there = vec![port(a.cable, 0), port(a.link, 0), port(b.cable, 1)];
            let back = vec![port(b.cable, 0), port(a.link, 1), port(a.cable, 1)];
            between.entry((a.at, b.at)).or_default().push(there);
            between.entry((b.at, a.at)).or_default().push(back);
        }
    }
    between
}

/// Refuses classes that are not for data.
///
/// # Errors
/// Says which are.
pub fn check_class(class: Class) -> Result<(), String> {
    if class == Class::CONTROL || usize::from(class.0) >= Class::COUNT {
        return Err(format!("class {} is not for data; allowed: 0 to 5, 7", class.0));
    }
    Ok(())
}

/// Settings of flows in a class.
pub fn settings(plan: &FlowPlan, class: Class) -> FlowSettings {
    FlowSettings {
        class,
        reliability: plan.reliability.value.clone(),
        rate_control: plan.rate_control.value.clone(),
        notification: plan.notification.value.clone(),
        qp: plan.qp.value.into(),
        payload: plan.payload.as_ref().map(|payload| payload.value),
    }
}

/// The index of these settings in another class.
fn intern(plan: &FlowPlan, class: Class, blueprint: &mut Blueprint) -> Result<usize, String> {
    check_class(class)?;
    let known = blueprint.settings.iter().position(|known| {
        known.class == class
            && known.reliability == plan.reliability.value
            && known.rate_control == plan.rate_control.value
            && known.notification == plan.notification.value
            && known.qp == plan.qp.value.into()
            && known.payload == plan.payload.as_ref().map(|payload| payload.value)
    });
    Ok(known.unwrap_or_else(|| {
        blueprint.settings.push(settings(plan, class));
        blueprint.settings.len() - 1
    }))
}

//! Servers of `SimAI`'s topologies: GPUs that `NVSwitches` join are a scale-up domain.

use std::collections::{BTreeMap, BTreeSet};

use floodway_units::cast::narrow;
use floodway_units::{Rate, Span};

use super::header::Servers;
use super::{ListedLink, node_name};
use crate::grammar::gpu_nodes::ScaleUpKeys;
use crate::ns3::LineError;

/// GPUs of a server.
const MOST_GPUS: usize = 1024;

/// GPU nodes of a topology file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedServers {
    /// GPUs of a node.
    pub gpus: u32,
    /// What joins them; none without `NVSwitches`.
    pub scale_up: Option<ScaleUpKeys>,
}

/// A GPU's way into its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Port {
    /// Of all its links to `NVSwitches` together.
    rate: Rate,
    delay: Span,
    /// Of the first of these links.
    line: u32,
}

impl ListedServers {
    /// From the header, the GPUs in their order, and the links of `NVSwitches`.
    ///
    /// # Errors
    /// Domains that are not whole servers next to each other, all alike.
    pub(super) fn of(
        servers: Servers,
        gpus: &[usize],
        links: &[(usize, ListedLink)],
    ) -> Result<Self, LineError> {
        let per_server = servers.gpus;
        if !(1..=MOST_GPUS).contains(&per_server) {
            return Err((
                1,
                format!("{per_server} is not a number of GPUs of a server from 1 to {MOST_GPUS}"),
            ));
        }
        if !gpus.len().is_multiple_of(per_server) {
            return Err((1, format!("{} GPUs are not whole servers of {per_server} GPUs", gpus.len())));
        }
        let gpus_per_node = narrow::<u32>(per_server);
        if links.is_empty() {
            return Ok(ListedServers { gpus: gpus_per_node, scale_up: None });
        }
        let of_domain = domains(gpus, per_server, links)?;
        let port = port(gpus, links)?;
        let scale_up = ScaleUpKeys {
            rate: Some(port.rate),
            // Into the switch and out of it.
            latency: Some(Span(port.delay.0 * 2)),
            nodes: Some(narrow(of_domain / per_server)),
        };
        Ok(ListedServers { gpus: gpus_per_node, scale_up: Some(scale_up) })
    }
}

/// GPUs of each domain.
fn domains(gpus: &[usize], per_server: usize, links: &[(usize, ListedLink)]) -> Result<usize, LineError> {
    let place: BTreeMap<usize, usize> = gpus.iter().copied().zip(0..).collect();
    let mut of_switch: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (switch, link) in links {
        let gpu = link.ends.into_iter().find(|end| end != switch).and_then(|gpu| place.get(&gpu));
        let Some(&gpu) = gpu else {
            let why = format!("NVSwitch {switch} is linked with a switch; here it joins GPUs alone");
            return Err((link.line, why));
        };
        of_switch.entry(*switch).or_default().insert(gpu);
    }
    // The domain of each GPU, by its first one: two switches that share one GPU make one domain.
    let mut first: Vec<usize> = (0..gpus.len()).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for members in of_switch.values() {
            let least = members.iter().map(|&gpu| first[gpu]).min().unwrap_or_default();
            for &gpu in members.iter().filter(|&&gpu| first[gpu] != least).collect::<Vec<_>>() {
                first[gpu] = least;
                changed = true;
            }
        }
    }
    let size = first.iter().take_while(|&&domain| domain == 0).count();
    let whole = size.is_multiple_of(per_server) && gpus.len().is_multiple_of(size);
    match first.iter().enumerate().find(|&(gpu, &domain)| !whole || domain != gpu / size * size) {
        None => Ok(size),
        Some((gpu, _)) => {
            let name = node_name(gpus[gpu], false);
            let line = links
                .iter()
                .find(|(_, link)| link.ends.contains(&gpus[gpu]))
                .map_or(1, |(_, link)| link.line);
            Err((
                line,
                format!(
                    "NVSwitches do not join {name} with all GPUs of its server and with no others: domains of \
                     whole servers of {per_server} GPUs next to each other, all of one size, are expected"
                ),
            ))
        }
    }
}

/// The port of a GPU, which is the same for all.
fn port(gpus: &[usize], links: &[(usize, ListedLink)]) -> Result<Port, LineError> {
    let mut ports: BTreeMap<usize, Port> = BTreeMap::new();
    for (switch, link) in links {
        let [a, b] = link.ends;
        let gpu = if a == *switch { b } else { a };
        let own = Port { rate: link.rate, delay: link.delay, line: link.line };
        let sum = |port: &mut Port| {
            port.rate = Rate(port.rate.0.saturating_add(own.rate.0));
            port.delay = port.delay.max(own.delay);
        };
        ports.entry(gpu).and_modify(sum).or_insert(own);
    }
    let Some(first) = gpus.iter().find_map(|gpu| ports.get(gpu)).copied() else {
        return Err((1, "NVSwitches have no GPU".to_owned()));
    };
    match ports.iter().find(|(_, port)| (port.rate, port.delay) != (first.rate, first.delay)) {
        None => Ok(first),
        Some((&gpu, port)) => {
            let why = format!(
                "{} has {} over {} to its NVSwitches, and the first GPU {} over {}: all are expected to have the \
                 same",
                node_name(gpu, false),
                port.rate,
                port.delay,
                first.rate,
                first.delay
            );
            Err((port.line, why))
        }
    }
}

//! The topology file of the HPCC simulator, unchanged, and those of `PowerTCP`, Reverie and `SimAI`.
//!
//! The file has words separated by blanks: `nodes switches links`, the ids of the switches, then for each
//! link a line `a b rate delay error-rate`, such as `0 16 100Gbps 1000ns 0.0`. Text after the last link is
//! not read. Ids count from 0; nodes that are not switches are hosts. Host 3 is `h3` and switch 16 is `s16`,
//! node n of the results is id n, and ports have the order of the links. A link has the tags `host-link` or
//! `switch-link`, its rate (`100G`), its delay (`1us`) and both (`100G-1us`). A link of a switch with itself,
//! over which that simulator can send packets in a loop, is on no path to a host, and is left out. Hosts have
//! the addresses of that simulator, which its hash uses.
//!
//! The first line tells formats apart. `PowerTCP` has `nodes switches ToRs links`, and the first switches are
//! the `ToR`; Reverie has the rates of links behind that, which each link states again. `SimAI` has `nodes
//! GPUs-per-server NVSwitches switches links GPU-type`, and the first of the switches are its `NVSwitches`.
//! These are no nodes here: the GPUs that they join are a scale-up domain, whose rate is that of all links of
//! a GPU to them, and whose latency is that of two such links. GPUs have the tags `node-<n>` and `rail-<i>`,
//! as with `gpu-nodes`, which need not be given; a `scale-up` there replaces that of the file. Names keep the
//! ids of the file.

mod header;
mod servers;

use std::collections::BTreeMap;

use floodway_units::{Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::multi_dc::letters;
use super::network::{Network, Node, TopologyError};
use crate::error::Place;
use crate::formats::Format;
use crate::ns3::{self, LineError, Words, number};
use crate::workload::files::Files;
use header::Header;
pub use servers::ListedServers;

/// Parameters of a network in the HPCC simulator's topology file.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
// The rate control has the plain name.
#[schemars(rename = "HpccTopology")]
pub struct Hpcc {
    /// The file, relative to the scenario's folder; `${NAME}` is replaced by an environment variable. No
    /// default.
    pub file: String,
    /// Probability from 0 to 1 that a frame of any kind is lost on a link, each way, for links with 0 in the
    /// file: the simulator's key `ERROR_RATE_PER_LINK`. Default: 0.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub error_rate: f64,
    /// Number of hosts of each datacenter, in the order of their ids: `[16, 16]`. They have the tags `dc-a`,
    /// `dc-b` and so on, which results use to separate flows within a datacenter from those between two.
    /// Default: one datacenter, without a tag.
    #[serde(default)]
    pub datacenters: Vec<usize>,
}

impl Hpcc {
    pub(super) fn build(&self, files: &Files<'_>) -> Result<Network, TopologyError> {
        if !(0.0..=1.0).contains(&self.error_rate) {
            let message = format!("{} is not a probability from 0 to 1", self.error_rate);
            return Err(TopologyError::new("error-rate", message));
        }
        let text = files.read(&self.file).map_err(|why| TopologyError::new("file", why))?;
        let listed = Listing::read(&text).map_err(|(line, why)| {
            let other = Format::of(text.as_bytes()).filter(|format| *format != Format::Listing);
            let why = other
                .map_or(why, |format| format!("it is no topology of HPCC's simulator; {}", format.seems()));
            let place = Place { file: files.shown(&self.file).into(), line: Some(line) };
            TopologyError::new("", why).at(place)
        })?;
        let mut network = listed.network(self.error_rate)?;
        self.tag_datacenters(&mut network)?;
        Ok(network)
    }

    /// Adds the tag of its datacenter to each host.
    fn tag_datacenters(&self, network: &mut Network) -> Result<(), TopologyError> {
        if self.datacenters.is_empty() {
            return Ok(());
        }
        let hosts = network.nodes.iter().filter(|node| node.is_host).count();
        let listed = self.datacenters.iter().fold(0, |sum: usize, &hosts| sum.saturating_add(hosts));
        if listed != hosts {
            let message = format!("{listed} hosts in all, and the file has {hosts}");
            return Err(TopologyError::new("datacenters", message));
        }
        let of_host = (0..).zip(&self.datacenters).flat_map(|(i, &hosts)| std::iter::repeat_n(i, hosts));
        for (node, datacenter) in network.nodes.iter_mut().filter(|node| node.is_host).zip(of_host) {
            node.tags.push(format!("dc-{}", letters(datacenter)));
        }
        Ok(())
    }
}

/// Contents of a topology file.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// By id: whether it is a switch.
    pub is_switch: Vec<bool>,
    /// Links in the order of the file.
    pub links: Vec<ListedLink>,
    /// The line of a link beyond the number in the first line; it is not read.
    pub beyond: Option<u32>,
    /// Of `SimAI`: its servers.
    pub servers: Option<ListedServers>,
    /// By id: whether it is an `NVSwitch`, which is no node.
    is_nv_switch: Vec<bool>,
}

/// A line of a topology file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListedLink {
    /// Its number.
    pub line: u32,
    /// Ids of the nodes.
    pub ends: [usize; 2],
    /// Line rate, both ways.
    pub rate: Rate,
    /// Propagation, both ways.
    pub delay: Span,
    /// Probability that a frame is lost, each way.
    pub error_rate: f64,
}

impl Listing {
    /// Reads a topology file.
    ///
    /// # Errors
    /// The first line that does not fit.
    pub fn read(text: &str) -> Result<Self, LineError> {
        let mut words = Words::of(text);
        let Header { nodes, switches, links, servers } = Header::read(text, &mut words)?;
        let nv_switches = servers.map_or(0, |servers| servers.nv_switches);
        let (is_switch, is_nv_switch) = switches_of(&mut words, nodes, (nv_switches, switches))?;
        let mut listing = Listing { is_switch, links: Vec::new(), beyond: None, servers: None, is_nv_switch };
        let (mut seen, mut within) = (BTreeMap::new(), Vec::new());
        for n in 1..=links {
            let link = listing.link(&mut words, (n, links))?;
            let [a, b] = link.ends;
            if a == b && listing.is_switch[a] {
                continue;
            }
            if let Some(line) = seen.insert((a.min(b), a.max(b)), link.line) {
                let message = format!("nodes {a} and {b} are linked already, in line {line}");
                return Err((link.line, message));
            }
            match link.ends.into_iter().find(|&end| listing.is_nv_switch[end]) {
                Some(nv_switch) => within.push((nv_switch, link)),
                None => listing.links.push(link),
            }
        }
        listing.beyond = words.one_more(5);
        listing.check_linked(&within)?;
        if let Some(servers) = servers {
            let gpus: Vec<usize> = (0..nodes).filter(|&id| !listing.is_switch[id]).collect();
            listing.servers = Some(ListedServers::of(servers, &gpus, &within)?);
        }
        Ok(listing)
    }

    fn link(&self, words: &mut Words<'_>, (n, all): (usize, usize)) -> Result<ListedLink, LineError> {
        let due = format!("link {n} of {all}: two nodes, rate, delay and error rate");
        let (line, [a, b, rate, delay, error_rate]) = words.row(&due)?;
        let at = |why| (line, why);
        let ends = [self.node(a).map_err(at)?, self.node(b).map_err(at)?];
        if ends[0] == ends[1] && !self.is_switch[ends[0]] {
            return Err(at(format!("node {a} is linked with itself")));
        }
        let what = "an error rate from 0 to 1";
        let error_rate = number::<f64>(error_rate, what).map_err(at)?;
        if !(0.0..=1.0).contains(&error_rate) {
            return Err(at(format!("{error_rate} is not {what}")));
        }
        let (rate, delay) = (ns3::rate(rate).map_err(at)?, ns3::span(delay).map_err(at)?);
        if delay == Span::ZERO {
            return Err(at("a link needs a delay above 0".into()));
        }
        Ok(ListedLink { line, ends, rate, delay, error_rate })
    }

    fn node(&self, word: &str) -> Result<usize, String> {
        let last = self.is_switch.len() - 1;
        number(word, "the id of a node").and_then(|id| {
            if id > last { Err(format!("node {id} is not one of 0 to {last}")) } else { Ok(id) }
        })
    }

    /// Checks that every node has a link; `within` are those of servers.
    fn check_linked(&self, within: &[(usize, ListedLink)]) -> Result<(), LineError> {
        let linked = |links: &mut dyn Iterator<Item = &ListedLink>| {
            let mut is_linked = vec![false; self.is_switch.len()];
            links.flat_map(|link| link.ends).for_each(|end| is_linked[end] = true);
            is_linked
        };
        let is_linked = linked(&mut self.links.iter());
        let is_joined = linked(&mut within.iter().map(|(_, link)| link));
        let is_alone = |&id: &usize| if self.is_nv_switch[id] { !is_joined[id] } else { !is_linked[id] };
        let Some(id) = (0..self.is_switch.len()).find(is_alone) else { return Ok(()) };
        Err((
            1,
            if self.is_nv_switch[id] {
                format!("NVSwitch {id} has no link")
            } else if is_joined[id] {
                format!(
                    "GPU {id} has links to NVSwitches alone: they carry no packets; write topology.single-switch and \
                     [gpu-nodes] with scale-up for servers without a network"
                )
            } else {
                format!("{} {id} has no link", if self.is_switch[id] { "switch" } else { "host" })
            },
        ))
    }

    /// The ids of the switches of the network.
    pub fn switches(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.is_switch.len()).filter(|&id| self.is_switch[id] && !self.is_nv_switch[id])
    }

    /// Rate of the first host's first link, which that simulator uses.
    pub fn nic_rate(&self) -> Option<Rate> {
        let host = self.is_switch.iter().position(|is_switch| !is_switch)?;
        self.links.iter().find(|link| link.ends.contains(&host)).map(|link| link.rate)
    }

    /// The name of a node.
    pub fn name(&self, id: usize) -> String {
        node_name(id, self.is_switch[id])
    }

    /// Its network; `error_rate` applies to links with 0 in the file.
    ///
    /// # Errors
    /// Too many nodes.
    pub fn network(&self, error_rate: f64) -> Result<Network, TopologyError> {
        let mut network = Network::default();
        let mut index_of = vec![0; self.is_switch.len()];
        let mut gpus = 0..;
        for (id, &is_switch) in (0u32..).zip(&self.is_switch) {
            if self.is_nv_switch[id as usize] {
                continue;
            }
            let mut tags = vec![if is_switch { "switch" } else { "host" }.to_owned()];
            if let (false, Some(servers)) = (is_switch, self.servers) {
                let place: u32 = gpus.next().unwrap_or_default();
                tags.push(format!("node-{}", place / servers.gpus + 1));
                tags.push(format!("rail-{}", place % servers.gpus + 1));
            }
            index_of[id as usize] = network.add(Node {
                name: self.name(id as usize),
                tags,
                is_host: !is_switch,
                address: Some(address(id)),
            })?;
        }
        for link in &self.links {
            let tags = link.tags(self.links_host(link));
            let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
            network.link(link.ends.map(|end| index_of[end]), &tags, (link.rate, link.delay));
            if let Some(added) = network.links.last_mut() {
                added.error_rate = if link.error_rate > 0.0 { link.error_rate } else { error_rate };
            }
        }
        network.name_links();
        if let Some(servers) = self.servers {
            network.tag_links_of_hosts();
            network.scale_up = servers.scale_up;
        }
        Ok(network)
    }

    fn links_host(&self, link: &ListedLink) -> bool {
        link.ends.iter().any(|&end| !self.is_switch[end])
    }
}

impl ListedLink {
    fn tags(&self, links_host: bool) -> [String; 4] {
        let kind = if links_host { "host-link" } else { "switch-link" };
        [kind.to_owned(), self.rate.to_string(), self.delay.to_string(), self.speed_and_delay()]
    }

    /// The tag of links of its rate and delay.
    pub fn speed_and_delay(&self) -> String {
        format!("{}-{}", self.rate, self.delay)
    }
}

/// The name of a node by its id.
pub fn node_name(id: usize, is_switch: bool) -> String {
    format!("{}{id}", if is_switch { "s" } else { "h" })
}

/// The address of a host: 11.0.0.1, with the id modulo 256 in the third byte and the id divided by 256 in the
/// second.
pub fn address(id: u32) -> u32 {
    0x0b00_0001_u32.wrapping_add((id / 256) << 16).wrapping_add((id % 256) << 8)
}

/// By id: whether a node is a switch, and whether it is an `NVSwitch`, which the file lists first.
fn switches_of(
    words: &mut Words<'_>,
    nodes: usize,
    (nv_switches, switches): (usize, usize),
) -> Result<(Vec<bool>, Vec<bool>), LineError> {
    let (mut is_switch, mut is_nv_switch) = (vec![false; nodes], vec![false; nodes]);
    for n in 1..=nv_switches + switches {
        let (line, word) = words.next(&format!("the id of switch {n} of {}", nv_switches + switches))?;
        let id = number::<usize>(word, "the id of a switch").map_err(|why| (line, why))?;
        match is_switch.get_mut(id) {
            None => return Err((line, format!("switch {id} is not below {nodes}, the number of nodes"))),
            Some(true) => return Err((line, format!("switch {id} is listed twice"))),
            Some(is_switch) => *is_switch = true,
        }
        is_nv_switch[id] = n <= nv_switches;
    }
    if is_switch.iter().all(|is_switch| *is_switch) {
        return Err((1, format!("{nodes} nodes, all of them switches: it has no host")));
    }
    Ok((is_switch, is_nv_switch))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str =
        "4 1 3\n3\n0 3 100Gbps 1000ns 0.000000\n1 3 100Gbps 0.001ms 0.5\n3 2 40Gbps 4us 0\n\nnotes\n";

    fn error(text: &str) -> LineError {
        Listing::read(text).unwrap_err()
    }

    #[test]
    fn nodes_are_in_the_order_of_their_ids_and_links_in_that_of_their_lines() {
        let listing = Listing::read(SMALL).expect("it is right");
        assert_eq!(listing.nic_rate(), Some(Rate::gbps(100)));
        let network = listing.network(0.25).expect("it is a network");
        assert_eq!(network.names(), ["h0", "h1", "h2", "s3"]);
        let links: Vec<_> = network.links.iter().map(|link| (link.name.as_str(), link.error_rate)).collect();
        assert_eq!(links, [("h0-s3", 0.25), ("h1-s3", 0.5), ("s3-h2", 0.25)]);
        assert_eq!(network.links[2].tags, ["host-link", "40G", "4us", "40G-4us"]);
        assert_eq!(network.links[1].delay, Span::us(1));
        network.check().expect("it hangs together");
    }

    #[test]
    fn addresses_are_those_of_the_simulator() {
        assert_eq!(
            [0, 1, 255, 256, 65535].map(address),
            [0x0b00_0001, 0x0b00_0101, 0x0b00_ff01, 0x0b01_0001, 0x0bff_ff01]
        );
    }

    #[test]
    fn as_many_links_are_read_as_are_counted() {
        let text = "3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n\n0 1 1Gbps 1us 0\n";
        let listing = Listing::read(text).expect("it is right");
        assert_eq!((listing.links.len(), listing.beyond), (2, Some(6)));
        assert_eq!(Listing::read(SMALL).expect("it is right").beyond, None);
    }

    #[test]
    fn a_link_of_a_switch_with_itself_is_left_out() {
        let text = "3 1 3\n2\n0 2 1Gbps 1us 0\n2 2 4Gbps 100ns 0\n1 2 1Gbps 1us 0\n";
        let network = Listing::read(text).expect("it is right").network(0.0).expect("it is a network");
        let links: Vec<_> = network.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(links, ["h0-s2", "h1-s2"]);
    }

    #[test]
    fn hosts_are_tagged_by_their_datacenters() {
        let of = |datacenters: &[usize]| {
            let hpcc = Hpcc { file: String::new(), error_rate: 0.0, datacenters: datacenters.to_vec() };
            let mut network =
                Listing::read(SMALL).expect("it is right").network(0.0).expect("it is a network");
            hpcc.tag_datacenters(&mut network).map(|()| network)
        };
        let network = of(&[2, 1]).expect("it has three hosts");
        let tags: Vec<_> = network.nodes.iter().map(|node| node.tags.join(" ")).collect();
        assert_eq!(tags, ["host dc-a", "host dc-a", "host dc-b", "switch"]);
        let error = of(&[2, 2]).expect_err("it has three hosts").message;
        assert!(error.contains("4 hosts in all, and the file has 3"), "{error}");
        assert_eq!(of(&[]).expect("all is one").nodes[0].tags, ["host"]);
    }

    #[test]
    fn faults_are_named_with_their_lines() {
        let with = |from: &str, to: &str| error(&SMALL.replace(from, to));
        let is = |fault: LineError, line: u32, why: &str| assert_eq!(fault, (line, why.to_owned()));
        is(error(""), 1, "the text ends here, but the number of nodes is required");
        is(with("4 1 3", "4 x 3"), 1, "\"x\" is not the number of switches");
        is(
            with("4 1 3", "4 1 4"),
            7,
            "1 word, but 5 are required: link 4 of 4: two nodes, rate, delay and error rate",
        );
        is(
            error("4 1 4\n3\n0 3 1Gbps 1us 0\n"),
            3,
            "the text ends here, but link 2 of 4: two nodes, rate, delay and error rate is required",
        );
        is(with("4 1 3", "5 1 3"), 1, "host 4 has no link");
        is(with("\n3\n", "\n4\n"), 2, "switch 4 is not below 4, the number of nodes");
        is(with("4 1 3\n3", "4 2 3\n3 3"), 2, "switch 3 is listed twice");
        is(with("1 3 100", "9 3 100"), 4, "node 9 is not one of 0 to 3");
        is(with("1 3 100", "h1 3 100"), 4, "\"h1\" is not the id of a node");
        is(with("1 3 100", "3 0 100"), 4, "nodes 3 and 0 are linked already, in line 3");
        is(with("1 3 100", "1 1 100"), 4, "node 1 is linked with itself");
        is(with("40Gbps", "40G"), 5, "\"40G\" is not a rate like \"100Gbps\" or \"40Mb/s\"");
        is(with("4us", "4m"), 5, "\"4m\" is not a time like \"1000ns\" or \"0.001ms\"");
        is(with("4us", "0us"), 5, "a link needs a delay above 0");
        is(with("0.5", "1.5"), 4, "1.5 is not an error rate from 0 to 1");
        is(error("1 1 0\n0"), 1, "1 nodes, all of them switches: it has no host");
    }
}

//! Jobs: ranks on hosts, and the programs that they execute.

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_fabric::blueprint::{Arrivals, ProgramSpec};
use floodway_programs::Program;
use floodway_programs::collective::{Purpose, Request, RequestError, Seat};

use floodway_units::cast::narrow;
use floodway_units::text::counted;
use floodway_units::{Bytes, NodeId};

use super::map::Map;
use super::{Builder, workload_path};
use crate::topology::Network;
use crate::workload::Workload;
use crate::workload::collective::{Collective, Groups, Placement};

/// Messages of a job up to this many have rows in the table of flows by default.
const ROWS: u64 = 1_000_000;

/// The hosts of a network as GPUs.
pub(super) struct Gpus {
    per_node: u32,
    per_nic: u32,
    /// By node of the network: its place among the hosts, if it is one.
    place: BTreeMap<usize, u32>,
}

/// Where a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RankAt {
    /// Index of its host in the network.
    pub host: usize,
    /// Its node, and its place there.
    pub node: u32,
    gpu: u32,
}

impl Gpus {
    pub(super) fn hosts_per_node(&self) -> u32 {
        self.per_node / self.per_nic
    }

    /// Each host with the number of its node and its place there, from 1.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
        let hosts = self.hosts_per_node();
        self.place.iter().map(move |(&host, &place)| (host, place / hosts + 1, place % hosts + 1))
    }

    /// The ranks on a host.
    fn ranks_of(&self, host: usize) -> impl Iterator<Item = RankAt> + use<> {
        let place = self.place.get(&host).copied().unwrap_or_default();
        let (node, nic) = (place / self.hosts_per_node(), place % self.hosts_per_node());
        let first = nic * self.per_nic;
        (first..first + self.per_nic).map(move |gpu| RankAt { host, node, gpu })
    }
}

/// Keys of a table that places ranks.
pub(super) struct RankKeys<'a> {
    /// The key of the table.
    pub table: &'static str,
    pub ranks: &'a crate::grammar::selector::Selector,
    pub rank_file: Option<&'a str>,
    pub count: Option<usize>,
    pub placement: Placement,
}

impl Builder<'_> {
    /// The GPUs of the network; without `gpu-nodes` each host is a node of one GPU.
    pub(super) fn gpus(&mut self, network: &Network) -> Option<Gpus> {
        let keys = self.document.gpu_nodes;
        let per_nic = keys.and_then(|keys| keys.gpus_per_nic).unwrap_or(1);
        let generated = tagged_together(network).map(|hosts| hosts.saturating_mul(per_nic));
        let given = keys.and_then(|keys| keys.gpus_per_node);
        let per_node = given.or(generated).unwrap_or(if keys.is_some() { 8 } else { 1 });
        if !(1..=1024).contains(&per_node) {
            self.fault(&["gpu-nodes", "gpus-per-node"], format!("{per_node} is not a number from 1 to 1024"));
            return None;
        }
        if per_nic == 0 || !per_node.is_multiple_of(per_nic) || per_nic > 255 {
            let why = format!("{per_nic} does not divide the {per_node} GPUs of a node, or is above 255");
            self.fault(&["gpu-nodes", "gpus-per-nic"], why);
            return None;
        }
        if let Some(generated) = generated.filter(|&generated| generated != per_node) {
            let why = format!(
                "{per_node} is not allowed: the topology has nodes of {generated} GPUs (hosts of a \
                 node times gpus-per-nic)"
            );
            self.fault(&["gpu-nodes", "gpus-per-node"], why);
            return None;
        }
        let hosts = (0..network.nodes.len()).filter(|&node| network.nodes[node].is_host);
        let place: BTreeMap<usize, u32> = hosts.zip(0..).collect();
        let gpus = Gpus { per_node, per_nic, place };
        if self.document.gpu_nodes.is_some() {
            let path = ["gpu-nodes", "gpus-per-node"];
            self.check_nodes(&gpus, gpus.hosts_per_node(), &path, network)?;
        }
        Some(gpus)
    }

    /// Are the hosts of each site whole groups of so many?
    pub(super) fn check_nodes(
        &mut self,
        gpus: &Gpus,
        hosts: u32,
        path: &[&str],
        network: &Network,
    ) -> Option<()> {
        let mut of_site: BTreeMap<&str, u32> = BTreeMap::new();
        for &host in gpus.place.keys() {
            *of_site.entry(site(network, host)).or_default() += 1;
        }
        let uneven = of_site.into_iter().find(|(_, count)| !count.is_multiple_of(hosts));
        let Some(uneven) = uneven else { return Some(()) };
        let place =
            if uneven.0.is_empty() { "the network".to_owned() } else { format!("the site {}", uneven.0) };
        let why = format!("{place} has {} hosts, which are not whole groups of {hosts} hosts", uneven.1);
        self.fault(path, why);
        None
    }

    /// GPUs of the largest scale-up domain; 1 without one, and none where errors say why.
    pub(super) fn gpus_of_domain(&mut self, map: &Map<'_>) -> Option<u32> {
        let nodes = map.scale_up.iter().flatten().map(|keys| keys.nodes.unwrap_or(1)).max();
        let Some(nodes) = nodes else { return Some(1) };
        self.gpus(map.network).map(|gpus| gpus.per_node.saturating_mul(nodes))
    }

    /// The arrivals of a collective; none where errors say why.
    pub(super) fn collective(
        &mut self,
        workload: &Workload,
        collective: &Collective,
        map: &Map<'_>,
    ) -> Option<Arrivals> {
        let gpus = self.gpus(map.network)?;
        let keys = RankKeys {
            table: "collective",
            ranks: &collective.ranks,
            rank_file: collective.rank_file.as_deref(),
            count: collective.count,
            placement: collective.placement,
        };
        let ranks = self.ranks(workload, &keys, &gpus, map)?;
        let groups = groups(collective.groups, &ranks, map.network);
        self.check_groups(workload, collective, &groups, (&ranks, map.network))?;
        if collective.reduce_rate.is_some() && !collective.op.reduces() {
            let why = "it belongs to op = \"all-reduce\", \"reduce-scatter\" and \"reduce\"";
            self.fault(&workload_path(workload, "collective.reduce-rate"), why);
            return None;
        }
        let requests = self.requests(workload, collective)?;
        let program = match Program::of_collectives(&requests, groups, collective.repeat.unwrap_or(1)) {
            Ok(program) => program,
            Err(error) => return self.refuse(workload, "collective", &error),
        };
        self.seated(workload, "collective", program, (&ranks, collective.flows), map)
    }

    /// Its requests, one for each size; none where an error says why.
    fn requests(&mut self, workload: &Workload, collective: &Collective) -> Option<Vec<Request>> {
        let path = workload_path(workload, "collective.size");
        let sizes = match &collective.size {
            Some(sizes) => sizes.0.as_slice(),
            None if collective.op == Purpose::Barrier => &[Bytes::ZERO],
            None => {
                let why = "it is missing: write the size of the buffer, like \"64MB\"";
                self.fault(&path, why);
                return None;
            }
        };
        if sizes.is_empty() {
            self.fault(&path, "the list is empty");
            return None;
        }
        Some(sizes.iter().map(|&size| collective.request(size)).collect())
    }

    fn refuse<T>(&mut self, workload: &Workload, table: &str, error: &RequestError) -> Option<T> {
        let key = match error.key {
            "" => table.to_owned(),
            // Only a collective can be given them.
            "levels" if table != "collective" => format!("{table}.algorithm"),
            key => format!("{table}.{key}"),
        };
        self.fault(&workload_path(workload, &key), error.why.clone());
        None
    }

    /// Has each group several ranks, and are there several groups where some are asked for?
    fn check_groups(
        &mut self,
        workload: &Workload,
        collective: &Collective,
        groups: &[Vec<u32>],
        (ranks, network): (&[RankAt], &Network),
    ) -> Option<()> {
        let name = match collective.groups {
            Groups::All => return Some(()),
            Groups::Node => "node",
            Groups::Rail => "rail",
            Groups::Site => "site",
        };
        let path = workload_path(workload, "collective.groups");
        if let Some(&[rank]) = groups.iter().map(Vec::as_slice).find(|group| group.len() == 1) {
            let host = &network.nodes[ranks[rank as usize].host].name;
            let why =
                format!("{name:?} makes a group of rank {rank} ({host}) alone: it needs at least 2 ranks");
            self.fault(&path, why);
            return None;
        }
        if groups.len() == 1 {
            self.warn_at(
                &path,
                format!("{name:?} makes one group of all {} ranks, as \"all\" does", ranks.len()),
            );
        }
        Some(())
    }

    /// The arrivals of a program on the first of the GPUs that its keys name; none where errors say why.
    pub(super) fn place(
        &mut self,
        workload: &Workload,
        (program, its_source): (Program, &str),
        (keys, rows): (&RankKeys<'_>, Option<bool>),
        map: &Map<'_>,
    ) -> Option<Arrivals> {
        let gpus = self.gpus(map.network)?;
        let mut ranks = self.ranks(workload, keys, &gpus, map)?;
        let count = program.ranks.len();
        if ranks.len() < count {
            let (of_program, there) = (counted(count, "rank"), counted(ranks.len(), "GPU"));
            let why = format!("{its_source} {of_program}, and the network has {there} for them");
            self.fault(&workload_path(workload, &format!("{}.ranks", keys.table)), why);
            return None;
        }
        ranks.truncate(count);
        self.seated(workload, keys.table, program, (&ranks, rows), map)
    }

    /// The arrivals of a program whose ranks are there; none where an error says why.
    fn seated(
        &mut self,
        workload: &Workload,
        table: &str,
        mut program: Program,
        (ranks, rows): (&[RankAt], Option<bool>),
        map: &Map<'_>,
    ) -> Option<Arrivals> {
        let seats = seats(ranks, map);
        self.warn_of_no_scale_up((workload, table), ranks, map);
        if let Err(error) = program.seat(&seats) {
            return self.refuse(workload, table, &error);
        }
        let levels = program.levels();
        if levels.iter().filter(|&&level| level != 1).count() == 1 {
            let why = format!(
                "\"hierarchical\" has one level here, {levels:?}: it is a ring; levels are GPUs of a node \
                 (gpu-nodes.gpus-per-node), nodes of a site, sites, or as \"levels\" of a collective says"
            );
            self.warn_at(&workload_path(workload, &format!("{table}.algorithm")), why);
        }
        Some(job(workload, program, ranks, rows))
    }

    /// The ranks of a job, in their order; none where errors say why.
    fn ranks(
        &mut self,
        workload: &Workload,
        keys: &RankKeys<'_>,
        gpus: &Gpus,
        map: &Map<'_>,
    ) -> Option<Vec<RankAt>> {
        let key = |key: &str| format!("{}.{key}", keys.table);
        let mut ranks: Vec<RankAt> = if let Some(file) = keys.rank_file {
            for beside in ["ranks", "placement"].map(key) {
                let path = workload_path(workload, &beside);
                if self.tree.at(path.iter().copied()).is_some() {
                    let why = "it and \"rank-file\", which has the hosts in their order, are given together: give one";
                    self.fault(&path, why);
                    return None;
                }
            }
            self.ranks_of_file(workload, &key("rank-file"), file, gpus, map)?
        } else {
            if let Some(twice) = keys.ranks.twice() {
                let why = format!(
                    "{twice:?} is there twice: it selects a host once, which has a rank for each of its GPUs \
                     (gpu-nodes.gpus-per-nic)"
                );
                self.fault(&workload_path(workload, &key("ranks")), why);
                return None;
            }
            let hosts = self.hosts(workload, &key("ranks"), keys.ranks, map)?;
            let ranks = hosts.into_iter().flat_map(|host| gpus.ranks_of(host)).collect();
            placed(ranks, keys.placement, map.network)
        };
        if let Some(count) = keys.count {
            if !(1..=ranks.len()).contains(&count) {
                let why = format!("{count} is not a number from 1 to the {} GPUs", ranks.len());
                self.fault(&workload_path(workload, &key("count")), why);
                return None;
            }
            ranks.truncate(count);
        }
        Some(ranks)
    }

    fn ranks_of_file(
        &mut self,
        workload: &Workload,
        key: &str,
        file: &str,
        gpus: &Gpus,
        map: &Map<'_>,
    ) -> Option<Vec<RankAt>> {
        let path = workload_path(workload, key);
        let text = match self.files.read(file) {
            Ok(text) => text,
            Err(why) => {
                self.fault(&path, why);
                return None;
            }
        };
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        let mut ranks = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let name = text.split('#').next().unwrap_or_default().trim();
            if name.is_empty() {
                continue;
            }
            let host = map.network.find(name).filter(|&node| map.network.nodes[node].is_host);
            let Some(host) = host else {
                self.fault(&path, format!("{file}, line {line}: {name:?} is no host of the network"));
                return None;
            };
            let so_far = taken.entry(host).or_default();
            let Some(rank) = gpus.ranks_of(host).nth(*so_far) else {
                let so_far = counted(*so_far, "rank");
                let why = format!(
                    "{file}, line {line}: {name} has {so_far} already; gpu-nodes.gpus-per-nic is how many it may \
                     have"
                );
                self.fault(&path, why);
                return None;
            };
            *so_far += 1;
            ranks.push(rank);
        }
        if ranks.is_empty() {
            self.fault(&path, format!("{file}: it names no host"));
            return None;
        }
        Some(ranks)
    }
}

/// The arrivals of a program whose ranks are there.
fn job(workload: &Workload, program: Program, ranks: &[RankAt], rows: Option<bool>) -> Arrivals {
    let messages: u64 = program.traffic().messages.iter().sum();
    let hosts = ranks.iter().map(|rank| NodeId(narrow(rank.host))).collect();
    let start = workload.start.unwrap_or_default();
    let rows = rows.unwrap_or(messages <= ROWS);
    Arrivals::Program(ProgramSpec { program: Arc::new(program), hosts, start, rows })
}

impl Collective {
    fn request(&self, size: Bytes) -> Request {
        Request {
            op: self.op,
            algorithm: self.algorithm,
            size,
            channels: self.channels.unwrap_or(1),
            chunk: self.chunk,
            window: self.window,
            root: self.root.unwrap_or_default(),
            reduce_rate: self.reduce_rate,
            levels: self.levels.clone(),
            sizes: self.matrix.clone(),
            cross_nic: self.cross_nic,
            pxn: self.pxn.unwrap_or(true),
        }
    }
}

/// Hosts of the first node, where the network's generator has nodes: it tags node and rail of each host.
fn tagged_together(network: &Network) -> Option<u32> {
    let tag = |tags: &[String], kind: &str| tags.iter().find(|tag| tag.starts_with(kind)).cloned();
    let host = network.nodes.iter().find(|node| node.is_host)?;
    let first = tag(&host.tags, "node-").filter(|_| tag(&host.tags, "rail-").is_some())?;
    Some(narrow(network.nodes.iter().filter(|host| host.tags.contains(&first)).count()))
}

/// The site of a host: its tag `dc-…`.
pub(super) fn site(network: &Network, host: usize) -> &str {
    let tags = network.nodes[host].tags.iter();
    tags.map(String::as_str).find(|tag| tag.starts_with("dc-")).unwrap_or_default()
}

/// Where ranks are, for rings and trees through nodes.
fn seats(ranks: &[RankAt], map: &Map<'_>) -> Vec<Seat> {
    let mut sites: BTreeMap<&str, u32> = BTreeMap::new();
    let seat = |rank: &RankAt| {
        let count = narrow(sites.len());
        let site = *sites.entry(site(map.network, rank.host)).or_insert(count);
        let domain = map.scale_up[rank.host].map(|keys| rank.node / keys.nodes.unwrap_or(1).max(1));
        Seat { site, node: rank.node, nic: narrow(rank.host), gpu: rank.gpu, domain }
    };
    ranks.iter().map(seat).collect()
}

/// Ranks in the order of a placement.
fn placed(mut ranks: Vec<RankAt>, placement: Placement, network: &Network) -> Vec<RankAt> {
    match placement {
        Placement::NodeFirst => {}
        Placement::RailFirst => ranks.sort_by_key(|rank| (rank.gpu, rank.node)),
        Placement::SitesInTurn => {
            let mut nodes: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
            for rank in &ranks {
                let of_site = nodes.entry(site(network, rank.host)).or_default();
                if of_site.last() != Some(&rank.node) {
                    of_site.push(rank.node);
                }
            }
            let turn: BTreeMap<u32, usize> = nodes
                .values()
                .flat_map(|nodes| nodes.iter().enumerate().map(|(turn, &node)| (node, turn)))
                .collect();
            ranks.sort_by_key(|rank| (turn[&rank.node], rank.node, rank.gpu));
        }
    }
    ranks
}

/// The groups of ranks that execute a collective together.
fn groups(groups: Groups, ranks: &[RankAt], network: &Network) -> Vec<Vec<u32>> {
    let mut of: BTreeMap<(u32, &str), Vec<u32>> = BTreeMap::new();
    for (index, rank) in (0..).zip(ranks) {
        let key = match groups {
            Groups::All => (0, ""),
            Groups::Node => (rank.node, ""),
            Groups::Rail => (rank.gpu, ""),
            Groups::Site => (0, site(network, rank.host)),
        };
        of.entry(key).or_default().push(index);
    }
    of.into_values().collect()
}

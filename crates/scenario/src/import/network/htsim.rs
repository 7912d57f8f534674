//! Topologies of htsim (`.topo`): fat trees of two or three tiers, with the radix and the links of each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use floodway_units::text::counted;
use floodway_units::{Rate, Span};

use super::ForJob;
use crate::error::nearest;
use crate::ns3::{LineError, number};
use crate::shown::glimpse;

/// Keys of the head, and of a tier.
const HEAD: [&str; 3] = ["nodes", "tiers", "podsize"];
const OF_TIER: [&str; 7] = [
    "downlink_speed_gbps",
    "radix_up",
    "radix_down",
    "oversubscribed",
    "bundle",
    "switch_latency_ns",
    "downlink_latency_ns",
];
/// Nodes of a topology, and the largest of its other numbers.
const MOST: u64 = 1 << 20;

/// Values by key, with their lines.
type Values = BTreeMap<&'static str, (u64, u32)>;

/// A topology as it is written.
struct Topology {
    head: Values,
    tiers: BTreeMap<u64, Values>,
    /// What is not used.
    notes: Vec<String>,
}

/// Reads a topology.
///
/// # Errors
/// The line that is none, or numbers that do not fit each other.
pub(super) fn read(text: &str) -> Result<ForJob, LineError> {
    let Topology { head, tiers, mut notes } = values(text)?;
    let of_head =
        |key: &str| head.get(key).copied().ok_or_else(|| (1, format!("{key} is missing at the top")));
    let (nodes, count) = (of_head("nodes")?, of_head("tiers")?);
    if !(2..=3).contains(&count.0) || nodes.0 == 0 {
        let (line, what) = if nodes.0 == 0 {
            (nodes.1, "0 nodes".to_owned())
        } else {
            (count.1, format!("{} tiers", count.0))
        };
        return Err((
            line,
            format!("{what} are not a topology of htsim, which has 2 or 3 tiers and at least 1 node"),
        ));
    }
    if let Some(missing) = (0..count.0).find(|tier| !tiers.contains_key(tier)) {
        return Err((count.1, format!("the lines of Tier {missing} of {} are missing", count.0)));
    }
    let tree = Tree { nodes: nodes.0, pod: head.get("podsize").copied(), tiers: &tiers, three: count.0 == 3 };
    let topology = tree.topology(&mut notes)?;
    let more = tree.pipelines();
    Ok(ForJob { topology, more, notes, ..ForJob::default() })
}

fn values(text: &str) -> Result<Topology, LineError> {
    let (mut head, mut tiers, mut notes) = (Values::new(), BTreeMap::<u64, Values>::new(), Vec::new());
    let mut tier = None;
    for (line, content) in (1..).zip(text.lines()) {
        let mut words = content.split_whitespace();
        let Some(word) = words.next().filter(|word| !word.starts_with('#')) else { continue };
        let what = format!("the number behind {word}");
        let value = || words.next().ok_or_else(|| (line, format!("the line ends where {what} is expected")));
        let key = word.to_ascii_lowercase();
        if key == "tier" {
            let number =
                { value }().and_then(|word| number::<u64>(word, &what).map_err(|why| (line, why)))?;
            if number > 2 {
                return Err((
                    line,
                    format!("tier {number} is not one of 0 (ToR), 1 (aggregation) and 2 (core)"),
                ));
            }
            tier = Some(number);
            tiers.entry(number).or_default();
            continue;
        }
        let known = if tier.is_some() { &OF_TIER[..] } else { &HEAD[..] };
        let Some(known) = known.iter().find(|known| **known == key) else {
            let all: Vec<String> = HEAD.iter().chain(&OF_TIER).map(|&known| known.to_owned()).collect();
            let hint = nearest(&key, &all).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
            notes.push(format!("line {line}: {} is not used{hint}", glimpse(word)));
            continue;
        };
        let value = { value }().and_then(|word| number::<u64>(word, &what).map_err(|why| (line, why)))?;
        if value > MOST {
            return Err((line, format!("{word} {value} is not a number from 0 to {MOST}")));
        }
        let values = tier.map_or(&mut head, |tier| tiers.entry(tier).or_default());
        if values.insert(known, (value, line)).is_some() {
            return Err((line, format!("{word} is there twice")));
        }
    }
    Ok(Topology { head, tiers, notes })
}

struct Tree<'a> {
    nodes: u64,
    pod: Option<(u64, u32)>,
    tiers: &'a BTreeMap<u64, Values>,
    three: bool,
}

impl Tree<'_> {
    /// A key of a tier, which is at least 1.
    fn of(&self, tier: u64, key: &str) -> Result<(u64, u32), LineError> {
        match self.tiers[&tier].get(key) {
            Some((0, line)) => Err((*line, format!("{key} of tier {tier} is 0; at least 1 is expected"))),
            Some(&value) => Ok(value),
            None => Err((1, format!("{key} of tier {tier} is missing"))),
        }
    }

    /// Parallel links between two switches.
    fn bundle(&self, tier: u64) -> u64 {
        self.tiers[&tier].get("bundle").map_or(1, |bundle| bundle.0.max(1))
    }

    fn hop(&self, tier: u64) -> Result<String, LineError> {
        let (gbps, ns) = (self.of(tier, "downlink_speed_gbps")?, self.of(tier, "downlink_latency_ns")?);
        Ok(format!("{{ rate = \"{}\", delay = \"{}\" }}", Rate::gbps(gbps.0), Span::ns(ns.0)))
    }

    fn topology(&self, notes: &mut Vec<String>) -> Result<String, LineError> {
        if let Some((_, line)) = self.tiers[&0].get("bundle").filter(|bundle| bundle.0 > 1) {
            let why = "parallel links (bundle of tier 0) between a host and its ToR are not in the topologies of \
                       floodway: write 1 and the rate of all";
            return Err((*line, why.to_owned()));
        }
        let hosts = self.of(0, "radix_down")?;
        let up = self.of(0, "radix_up")?;
        let bundle = self.bundle(1);
        let aggs = parts((up.0, "radix_up of tier 0"), (bundle, up.1), "bundle of tier 1")?;
        let tors = parts((self.nodes, "the number of nodes"), hosts, "radix_down of tier 0")?;
        let (host_hop, agg_hop) = (self.hop(0)?, self.hop(1)?);
        if !self.three {
            self.check_down(1, tors * bundle, notes);
            return Ok(format!(
                "leaf-spine = {{ spines = {aggs}, leaves = {tors}, hosts = {}, parallel = {bundle}, host-leaf = {host_hop}, \
                 leaf-spine = {agg_hop} }}",
                hosts.0
            ));
        }
        let Some(pod) = self.pod.filter(|pod| pod.0 > 0) else {
            return Err((1, "podsize is missing at the top, or 0".to_owned()));
        };
        let pods = parts((self.nodes, "the number of nodes"), pod, "podsize")?;
        let tors = parts((pod.0, "podsize"), hosts, "radix_down of tier 0")?;
        let (up, bundle_up) = (self.of(1, "radix_up")?, self.bundle(2));
        // As htsim links an aggregation switch: to radix_up over bundle cores, by so many links each.
        let cores = parts((up.0, "radix_up of tier 1"), (bundle_up, up.1), "bundle of tier 2")?;
        self.check_down(1, tors * bundle, notes);
        self.check_down(2, pods * bundle_up, notes);
        let mut parallel = String::new();
        for (key, links) in [("parallel-tor-agg", bundle), ("parallel-agg-core", bundle_up)] {
            if links > 1 {
                _ = write!(parallel, ", {key} = {links}");
            }
        }
        Ok(format!(
            "fat-tree = {{ pods = {pods}, tors-per-pod = {tors}, aggs-per-pod = {aggs}, cores-per-agg = {}, \
             hosts-per-tor = {}, host-tor = {host_hop}, tor-agg = {agg_hop}, agg-core = {}{parallel} }}",
            cores,
            hosts.0,
            self.hop(2)?
        ))
    }

    /// Notes a radix that is not the number of links that lead down.
    fn check_down(&self, tier: u64, links: u64, notes: &mut Vec<String>) {
        if let Some((radix, line)) = self.tiers[&tier].get("radix_down").filter(|radix| radix.0 != links) {
            notes.push(format!(
                "line {line}: radix_down of tier {tier} is {radix}, and the radix_up of the tier below gives {}: it is not used",
                counted(links, "link")
            ));
        }
    }

    /// The latency of switches, by their tiers.
    fn pipelines(&self) -> String {
        let names: [&str; 3] = if self.three { ["tor", "agg", "core"] } else { ["leaf", "spine", ""] };
        let mut text = String::new();
        for (tier, values) in self.tiers {
            let Some((ns, _)) = values.get("switch_latency_ns").filter(|latency| latency.0 > 0) else {
                continue;
            };
            let name = names.get(usize::try_from(*tier).unwrap_or(usize::MAX)).copied().unwrap_or_default();
            if name.is_empty() {
                continue;
            }
            _ = write!(
                text,
                "\n[[override]]\nname = \"{name}-latency\"\nswitches = {{ tag = \"{name}\" }}\npipeline = \"{}\"\n",
                Span::ns(*ns)
            );
        }
        text
    }
}

/// `whole` in parts of `part`, which must divide it.
fn parts((whole, what): (u64, &str), (part, line): (u64, u32), of: &str) -> Result<u64, LineError> {
    if whole.is_multiple_of(part) {
        return Ok(whole / part);
    }
    Err((line, format!("{what}, {whole}, is no multiple of {of}, {part}")))
}

//! The end of a run of several processes, or of a network in parts: the first one receives what the others
//! have kept.
//!
//! It merges the records of all as those of threads, and builds the nodes of others, at rest, to
//! hold their counters and series.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_records::counters::{EgressCounters, RareCounters, RareEgressCounters, Traffic};
use floodway_records::histogram::Histogram;
use floodway_records::kept::{Kept, KeptPart};
use floodway_records::series::Series;
use floodway_units::NodeId;
use floodway_units::cast::narrow;

use super::Processes;
use super::gathered::Gathered;
use super::mail::{read, write};
use crate::build::build_elsewhere;
use crate::run::events::NEVER;
use crate::run::node::Node;
use crate::run::world::World;
use crate::switch::buffer::Peaks;

/// What a process has kept, beside its nodes.
#[derive(BorshSerialize, BorshDeserialize)]
struct Part {
    kept: KeptPart,
    gathered: Gathered,
    nodes: u32,
}

/// What is kept of a node: port classes and ports in a row.
#[derive(BorshSerialize, BorshDeserialize)]
struct NodeRecords {
    id: NodeId,
    ingress: Vec<(Traffic, RareCounters, Peaks)>,
    egress: Vec<(u64, u64, EgressCounters, RareEgressCounters)>,
    series: Vec<Series>,
    histograms: Vec<Histogram>,
    peak: u64,
}

impl NodeRecords {
    /// Of a node of a run whose clock is ahead by so much.
    fn of(node: &Node, skipped: u64) -> Self {
        let ingress = node.buffer.accounts.iter();
        let egress = node.links.egress.iter();
        NodeRecords {
            id: node.id,
            ingress: ingress.map(|of| (of.received, of.rare.clone(), of.peaks)).collect(),
            egress: egress
                .map(|of| (of.paused_since, of.paused_total, of.counters.clone(), of.rare.clone()))
                .map(|(since, total, counters, rare)| (later(since, skipped), total, counters, rare))
                .collect(),
            series: node.links.series.to_vec(),
            histograms: node.links.histograms.clone(),
            peak: node.buffer.peak,
        }
    }

    /// Puts them where the node's own records are, of a run whose clock is ahead by so much.
    fn put(self, node: &mut Node, skipped: u64) {
        for (to, (received, rare, peaks)) in node.buffer.accounts.iter_mut().zip(self.ingress) {
            (to.received, to.rare, to.peaks) = (received, rare, peaks);
        }
        for (to, (since, total, counters, rare)) in node.links.egress.iter_mut().zip(self.egress) {
            to.paused_since = later(since, skipped.wrapping_neg());
            (to.paused_total, to.counters, to.rare) = (total, counters, rare);
        }
        for (to, series) in node.links.series.iter_mut().zip(self.series) {
            *to = series;
        }
        node.links.histograms = self.histograms;
        node.buffer.peak = self.peak;
    }
}

/// An instant by a clock that is ahead by so much.
fn later(at: u64, ahead: u64) -> u64 {
    if at == NEVER { NEVER } else { at.wrapping_add(ahead) }
}

/// The first part of a network receives what all others have kept; `owned` are its nodes.
pub(in crate::run) fn join(first: &mut World<'_>, owned: &[bool], others: Vec<World<'_>>) {
    let listed = &first.runs.own.traffic.listed;
    build_elsewhere(&mut first.facts, &mut first.nodes, listed, owned);
    for mut other in others {
        let owned = other.part.take().unwrap_or_default();
        let mut bytes = Vec::new();
        end_and_write_part(&mut other, &owned, &mut bytes);
        drop(other);
        read_part(first, &mut bytes.as_slice());
    }
}

impl Processes<'_> {
    /// The first process receives what all others have kept; whether this is the first.
    pub fn gather(&mut self, world: &mut World<'_>) -> bool {
        let (is_first, owned) = (self.is_first(), self.owned());
        self.outgoing.iter_mut().for_each(Vec::clear);
        if !is_first {
            end_and_write_part(world, &owned, &mut self.outgoing[0]);
        }
        self.exchange();
        if is_first {
            let listed = &world.runs.own.traffic.listed;
            build_elsewhere(&mut world.facts, &mut world.nodes, listed, &owned);
            for bytes in self.incoming.iter().filter(|bytes| !bytes.is_empty()) {
                read_part(world, &mut bytes.as_slice());
            }
        }
        is_first
    }
}

fn end_and_write_part(world: &mut World<'_>, owned: &[bool], bytes: &mut Vec<u8>) {
    let buckets = world.nodes.iter_mut().flat_map(|node| node.links.buckets.iter_mut().flatten());
    let events = &world.runs.own.events;
    let (now, skipped) = (events.run_time(world.now), events.skipped());
    world.runs.own.kept.end_buckets(buckets, now);
    let kept = std::mem::replace(&mut world.runs.own.kept, Kept::new(world.facts.blueprint));
    let nodes = world.nodes.iter().filter(|node| owned[node.id.index()]);
    let part = Part {
        kept: kept.into_part(),
        gathered: Gathered::of(world, owned),
        nodes: narrow(nodes.clone().count()),
    };
    write(bytes, &part);
    nodes.for_each(|node| write(bytes, &NodeRecords::of(node, skipped)));
}

impl Gathered {
    fn of(world: &World<'_>, owned: &[bool]) -> Self {
        let run = &world.runs.own;
        let on_links = world.on_links.iter().map(|&(port, packet_ref)| (port, &run.packets[packet_ref]));
        let on_links = on_links.filter(|(_, packet)| !packet.is_link_control());
        let programs = &run.traffic.programs;
        let own = (0..narrow::<u32>(programs.count())).filter(|&id| owned[programs.host(id).index()]);
        Gathered {
            in_flight: world.in_network().bytes(),
            on_links: on_links.map(|(port, packet)| (port, packet.class, packet.frame)).collect(),
            broken: world.in_network().broken().collect(),
            programs: own.map(|id| programs.progress(id)).collect(),
            waiting: run.traffic.triggers.waiting.clone(),
        }
    }
}

fn read_part(world: &mut World<'_>, bytes: &mut &[u8]) {
    let Part { kept, gathered, nodes } = read(bytes);
    let run = &mut world.runs.own;
    run.kept.absorb(kept.into_kept(world.facts.blueprint));
    for (sum, more) in run.traffic.triggers.waiting.iter_mut().zip(gathered.waiting) {
        *sum = sum.wrapping_add(more);
    }
    world.gathered.in_flight += gathered.in_flight;
    world.gathered.on_links.extend(gathered.on_links);
    world.gathered.broken.extend(gathered.broken);
    world.gathered.programs.extend(gathered.programs);
    let skipped = world.runs.own.events.skipped();
    for _ in 0..nodes {
        let records: NodeRecords = read(bytes);
        let node = records.id.index();
        records.put(&mut world.nodes[node], skipped);
    }
}

//! The end of a run of several processes: the first one receives what the others have kept.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::NodeId;
use floodway_units::cast::narrow;

use super::gathered::Gathered;
use super::mail::{read, write};
use crate::network::build::build_elsewhere;
use crate::records::counters::{EgressCounters, RareCounters, RareEgressCounters, Traffic};
use crate::records::histogram::Histogram;
use crate::records::kept::{Kept, KeptPart};
use crate::records::series::Series;
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
    fn of(node: &Node) -> Self {
        let ingress = node.buffer.accounts.iter();
        let egress = node.links.egress.iter();
        NodeRecords {
            id: node.id,
            ingress: ingress.map(|of| (of.received, of.rare.clone(), of.peaks)).collect(),
            egress: egress
                .map(|of| (of.paused_since, of.paused_total, of.counters.clone(), of.rare.clone()))
                .collect(),
            series: node.links.series.to_vec(),
            histograms: node.links.histograms.clone(),
            peak: node.buffer.peak,
        }
    }

    /// Puts them where the node's own records are.
    fn put(self, node: &mut Node) {
        for (to, (received, rare, peaks)) in node.buffer.accounts.iter_mut().zip(self.ingress) {
            (to.received, to.rare, to.peaks) = (received, rare, peaks);
        }
        for (to, (since, total, counters, rare)) in node.links.egress.iter_mut().zip(self.egress) {
            (to.paused_since, to.paused_total, to.counters, to.rare) = (since, total, counters, rare);
        }
        for (to, series) in node.links.series.iter_mut().zip(self.series) {
            *to = series;
        }
        node.links.histograms = self.histograms;
        node.buffer.peak = self.peak;
    }
}

impl World<'_> {
    /// The first process receives what all others have kept; whether this is the first, or the only one.
    pub fn gather(&mut self) -> bool {
        let Some(mut ranks) = self.ranks.take() else { return true };
        ranks.outgoing.iter_mut().for_each(Vec::clear);
        let is_first = ranks.is_first();
        if !is_first {
            let buckets = self.nodes.iter_mut().flat_map(|node| node.links.buckets.iter_mut().flatten());
            self.run.kept.end_buckets(buckets, self.now);
            let mut bytes = std::mem::take(&mut ranks.outgoing[0]);
            self.write_part(&ranks.owned(), &mut bytes);
            ranks.outgoing[0] = bytes;
        }
        ranks.exchange();
        if is_first {
            build_elsewhere(&mut self.facts, &mut self.nodes, &self.run.traffic.listed, &ranks.owned());
            let received = std::mem::take(&mut ranks.incoming);
            for bytes in received.iter().filter(|bytes| !bytes.is_empty()) {
                self.read_part(&mut bytes.as_slice());
            }
        }
        self.ranks = Some(ranks);
        is_first
    }

    fn write_part(&mut self, owned: &[bool], bytes: &mut Vec<u8>) {
        let kept = std::mem::replace(&mut self.run.kept, Kept::new(self.facts.blueprint));
        let nodes = self.nodes.iter().filter(|node| owned[node.id.index()]);
        let part = Part {
            kept: kept.into_part(),
            gathered: self.own_part(owned),
            nodes: narrow(nodes.clone().count()),
        };
        write(bytes, &part);
        nodes.for_each(|node| write(bytes, &NodeRecords::of(node)));
    }

    fn own_part(&self, owned: &[bool]) -> Gathered {
        let on_links = self.on_links.iter().map(|&(port, packet_ref)| (port, &self.run.packets[packet_ref]));
        let on_links = on_links.filter(|(_, packet)| !packet.is_link_control());
        let programs = &self.run.traffic.programs;
        let own = (0..narrow::<u32>(programs.count())).filter(|&id| owned[programs.host(id).index()]);
        Gathered {
            in_flight: self.in_network().bytes(),
            on_links: on_links.map(|(port, packet)| (port, packet.class, packet.frame)).collect(),
            broken: self.in_network().broken().collect(),
            programs: own.map(|id| programs.progress(id)).collect(),
            waiting: self.run.traffic.triggers.waiting.clone(),
        }
    }

    fn read_part(&mut self, bytes: &mut &[u8]) {
        let Part { kept, gathered, nodes } = read(bytes);
        self.run.kept.absorb(kept.into_kept(self.facts.blueprint));
        for (sum, more) in self.run.traffic.triggers.waiting.iter_mut().zip(gathered.waiting) {
            *sum = sum.wrapping_add(more);
        }
        self.gathered.in_flight += gathered.in_flight;
        self.gathered.on_links.extend(gathered.on_links);
        self.gathered.broken.extend(gathered.broken);
        self.gathered.programs.extend(gathered.programs);
        for _ in 0..nodes {
            let records: NodeRecords = read(bytes);
            let node = records.id.index();
            records.put(&mut self.nodes[node]);
        }
    }
}

//! The end of a run: its verdicts and its tables.
//!
//! Packets that a link loses are counted at the receiving end. So those that were sent onto a wire that was
//! down are counted here, at the port where they would have arrived.

use floodway_blueprint::network::blueprint::{Blueprint, NodeSpec};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::slots::DropReason;
use floodway_records::allowances::AllowanceLog;
use floodway_records::kept::Kept;
use floodway_records::operations::OperationLog;
use floodway_records::outcome::{
    CnpTotals, Conservation, DevicePeak, Invariants, NotSkipped, Outcome, Records, Skipped, Stopped,
};
use floodway_records::pauses::PauseLog;
use floodway_records::pcap::CaptureFile;
use floodway_records::shares::ShareLog;
use floodway_records::signals::SignalLog;
use floodway_records::table::Table;
use floodway_units::{PortId, Span, Time};

use crate::bounds::over_time::FlowIdeals;
use crate::link::arena::{Arena, PacketRef};
use crate::link::links::Links;
use crate::run::ctx::Ctx;
use crate::run::events::{EventKind, NEVER};
use crate::run::network::Network;
use crate::run::node::Node;
use crate::run::ranks::Gathered;
use crate::tables::counter_table::OnLinks;
use crate::tables::in_network::InNetwork;
use crate::tables::jobs::Jobs;
use crate::tables::lossless::LosslessClasses;
use crate::tables::queue_histograms::QueueHistograms;
use crate::tables::series_table::WatchedSeries;
use crate::traffic::flows::Traffic;

/// Closes the books of a node's links; its due releases have been applied.
pub(crate) fn close_links(ctx: &Ctx<'_, '_>, links: &mut Links) {
    for port in links.locals() {
        for class in 0..ctx.facts.layout.class_count() {
            let egress = &mut links.egress[ctx.facts.layout.port_class(port, class)];
            if egress.paused_since != NEVER {
                egress.paused_total += ctx.now - egress.paused_since;
                links.series[port.index()].paused(egress.paused_since, ctx.now);
                egress.paused_since = ctx.now;
            }
        }
        let waiting = links.ports[port.index()].waiting;
        let on_wire = Span(links.ports[port.index()].free_at.saturating_sub(ctx.now));
        let unsent = links.rate(ctx, port).bytes_covering(on_wire).0;
        links.series[port.index()].finish(ctx.now, waiting, unsent);
        if let Some(histogram) = links.histograms.get_mut(port.index()) {
            // No event comes any more.
            histogram.stood(ctx.now, waiting);
        }
    }
}

/// A network whose books are closed.
pub(crate) struct Closed<'a> {
    /// The time of the run, and what of it was skipped: the clock of the simulation is as far behind.
    pub now: u64,
    /// Until when all parts were simulated, where not all have come so far.
    pub all_until: Option<u64>,
    pub skipped: u64,
    pub facts: Facts<'a>,
    pub nodes: Vec<Node>,
    pub kept: Kept,
    pub packets: Arena,
    pub traffic: Traffic,
    pub on_links: Vec<(PortId, PacketRef)>,
    pub gathered: Gathered,
    pub skips: Vec<Skipped>,
    pub not_skipped: Option<NotSkipped>,
}

impl Closed<'_> {
    fn network(&self) -> Network<'_, '_> {
        Network { facts: &self.facts, nodes: &self.nodes }
    }

    /// What was sent onto wires that were down is counted where it would have arrived, as what was on them
    /// when they went down.
    fn count_dead(&mut self) {
        let layout = &self.facts.layout;
        for port in self.facts.blueprint.ports() {
            if self.network().port(port).impairment.wire.is_none() {
                continue;
            }
            for class in 0..layout.class_count() {
                let lost = self.network().egress(layout.port_class_id(port, class)).rare.lost;
                let (node, rx) = (self.facts.node_of(peer(port)), self.facts.local(peer(port)));
                let rare = &mut self.nodes[node.index()].buffer.accounts[layout.port_class(rx, class)].rare;
                rare.lost.add_all(lost);
                rare.drops[DropReason::LinkDown as usize] += lost.packets;
                rare.failure_drop_bytes += lost.bytes;
            }
        }
    }

    /// What is kept of the run.
    pub fn records(mut self, stopped: Stopped) -> Records {
        self.count_dead();
        self.kept.records.leave_room_for_tables();
        let buckets = self.nodes.iter_mut().flat_map(|node| node.links.buckets.iter_mut().flatten());
        self.kept.end_buckets(buckets, self.now);
        self.kept.records.sort_rows();
        let ideals = FlowIdeals { facts: &self.facts, labels: &self.traffic.labels, now: self.now };
        ideals.complete(&mut self.kept.records);
        self.kept.close_logs();
        let (network, facts, kept) = (self.network(), &self.facts, &self.kept);
        let (blueprint, now) = (facts.blueprint, self.now);
        let on_links =
            OnLinks { packets: &self.packets, own: &self.on_links, elsewhere: &self.gathered.on_links };
        Records {
            flows: kept.records.flow_table(facts),
            latency: kept.records.delays.table(blueprint),
            series: WatchedSeries::new(network, now).table(),
            // Pauses in force began by the clock of the simulation.
            counters: on_links.counter_table(network, now - self.skipped),
            pauses: kept.pauses.as_ref().map(|log| log.table(facts)),
            signals: kept.signals.as_ref().map(|log| log.table(facts)),
            allowances: kept.allowances.as_ref().map(|log| log.table(facts)),
            shares: kept.shares.as_ref().map(|log| log.table(facts, now)),
            operations: kept.operations.as_ref().map(|log| self.operation_table(log)),
            queue_histogram: QueueHistograms::kept(network).map(|histograms| histograms.table()),
            capture: CaptureFile::kept(facts, &kept.capture).map(|file| file.bytes(now)),
            outcome: self.outcome(stopped),
        }
    }

    fn operation_table(&self, log: &OperationLog) -> Table {
        let programs = &self.traffic.programs;
        log.table(self.facts.blueprint, |rank| programs.in_workload(rank), |rank| programs.host(rank))
    }

    fn outcome(&self, stopped: Stopped) -> Outcome {
        let (network, kept, gathered) = (self.network(), &self.kept, &self.gathered);
        let blueprint = self.facts.blueprint;
        let (packets, on_links) = (&self.packets, &self.on_links[..]);
        let in_network = InNetwork { network, packets, on_links };
        let in_flight = in_network.bytes() + gathered.in_flight;
        let bytes = Conservation { in_flight, ..kept.records.bytes };
        let drops = |reason: DropReason| {
            let accounts = self.nodes.iter().flat_map(|node| node.buffer.accounts.iter());
            (reason.name(), accounts.map(|account| account.rare.drops[reason as usize]).sum())
        };
        let (programs, scale_up) = (&self.traffic.programs, &kept.scale_up[..]);
        let jobs = Jobs { blueprint, programs, elsewhere: &gathered.programs, scale_up };
        Outcome {
            stopped,
            simulated_us: Time(self.now).as_us(),
            all_simulated_us: self.all_until.map(|until| Time(until).as_us()),
            invariants: Invariants {
                conservation: bytes.verdict(),
                buffers: in_network.buffers(&gathered.broken),
                destinations: kept.records.strays.verdict(&self.facts),
                slowdown: kept.records.slowdown(blueprint),
            },
            lossless: LosslessClasses(network).verdict(kept.records.first_drop),
            deadlocks: kept.deadlocks.clone(),
            blocked: kept.blocked.clone(),
            workloads: kept.records.workload_totals(blueprint, &self.traffic.triggers.waiting),
            bytes,
            packet_hops: kept.packet_hops,
            events: kept.event_counts(EventKind::ALL.map(EventKind::name)),
            drops: DropReason::ALL.into_iter().map(drops).collect(),
            cnps: cnps(&self.nodes),
            link_retry: blueprint.has_link_retry().then_some(kept.retries),
            skipped: self.skips.clone(),
            not_skipped: self.not_skipped.clone(),
            devices: peaks(blueprint, &self.nodes),
            pauses: kept.pauses.as_ref().map(PauseLog::totals),
            signals: kept.signals.as_ref().map(SignalLog::totals),
            allowances: kept.allowances.as_ref().map(AllowanceLog::totals),
            shares: kept.shares.as_ref().map(ShareLog::totals),
            operations: kept.operations.as_ref().map(OperationLog::totals),
            jobs: jobs.totals(),
            queue_samples: QueueHistograms::kept(network).map(|histograms| histograms.samples()),
            capture: CaptureFile::kept(&self.facts, &kept.capture).map(|file| file.totals()),
        }
    }
}

/// Who made CNPs.
fn cnps(nodes: &[Node]) -> CnpTotals {
    let mut made = CnpTotals::default();
    for port_class in nodes.iter().flat_map(|node| node.links.egress.iter()) {
        made.congestion_points += port_class.rare.cnps;
        made.receivers += port_class.rare.receiver_cnps;
        made.flags += port_class.rare.cnp_flags;
    }
    made
}

/// Most bytes that each switch's buffer held.
fn peaks(blueprint: &Blueprint, nodes: &[Node]) -> Vec<DevicePeak> {
    let switches = blueprint.nodes.iter().zip(nodes).filter(|(_, node)| !node.is_host());
    let peak = |(spec, node): (&NodeSpec, &Node)| DevicePeak {
        node: spec.name.clone(),
        peak_bytes: node.buffer.peak,
    };
    switches.map(peak).collect()
}

//! Conservative completion times of flows: by the links on their paths, their pacing and possible losses.

use floodway_fabric::blueprint::{Arrivals, FlowSettings, FlowSpec, LinkSpec, LoopSpec, ProgramSpec, Role};
use floodway_fabric::routing::{Routes, peer};
use floodway_fabric::{Blueprint, RoundTrips};
use floodway_mechanisms::registry::{CongestionPointParams, FlowControlParams};
use floodway_mechanisms::slots::{CongestionPoint as _, Discipline, Queueing};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, NodeId, PortId, Rate, Span, Time};
use rustc_hash::FxHashMap;

use crate::paths::{base_rtt, first_path, pairs, pairs_between};
use crate::workload::poisson::on_the_wire;

/// How many times its share an equal-cost path may carry, since flows are not spread evenly.
const UNEVEN: u64 = 4;
/// Where frames are lost: how many times bytes are sent, and how many timeouts expire in a row.
const LOSSES: u64 = 10;

/// What the time that flows take depends on.
pub(super) struct Pace<'a> {
    blueprint: &'a Blueprint,
    routes: &'a Routes,
    trips: RoundTrips,
    /// Of each port, side by side: links are large, and paths lead over many.
    rates: Vec<Rate>,
    /// The longest base round trip between two hosts.
    pub rtt: Span,
    /// What a lost frame costs; none where none can be lost.
    timeout: Option<Span>,
    /// How long links are down and ports paused by faults, together.
    held: Span,
}

impl<'a> Pace<'a> {
    pub fn new(blueprint: &'a Blueprint, routes: &'a Routes) -> Self {
        let paths = pairs(blueprint).into_iter().filter_map(|(from, to)| first_path(routes, from, to));
        let trips = RoundTrips::new(blueprint);
        let rtt = paths.map(|path| base_rtt(&trips, &path)).max().unwrap_or(Span::ZERO);
        let timeout = can_lose(blueprint).then(|| longest_timeout(blueprint, rtt));
        let directions = blueprint.links.iter().flat_map(|link| &link.directions);
        let rates = directions.map(|direction| direction.rate).collect();
        Pace { blueprint, routes, trips, rates, rtt, timeout, held: held(&blueprint.links) }
    }

    /// A message takes at most so long alone, with a timeout where frames are lost.
    pub fn alone(&self, flow: &FlowSpec, settings: usize) -> Span {
        let ends = (flow.source, flow.destination);
        let slowest = match &flow.path {
            Some(path) => self.slowest(path),
            None => self.slowest_between(ends),
        };
        let settings = flow.settings.unwrap_or(settings);
        self.message((flow.size, settings), slowest.min(self.cap(settings)))
    }

    /// The same for a message of a loop.
    pub fn round(&self, of: &LoopSpec, settings: usize) -> Span {
        let slowest = self.slowest_between((of.source, of.destination));
        self.message((of.size, settings), slowest.min(self.cap(settings)))
    }

    /// Of workloads with a timeout that runs out before any reply can come on their longest paths, the one
    /// with the longest path: its settings, and what its reliability says of it.
    pub fn early_timeout(&self) -> Option<(usize, String)> {
        let can_lose = self.timeout.is_some();
        let timed = self.blueprint.workloads.iter().filter_map(|workload| {
            let rtt = self.longest(&workload.arrivals);
            let why = self.blueprint.settings[workload.settings]
                .reliability
                .early_timeout_warning(rtt, can_lose)?;
            Some((rtt, (workload.settings, why)))
        });
        timed.max_by_key(|(rtt, _)| *rtt).map(|(_, found)| found)
    }

    /// The longest base round trip of flows.
    fn longest(&self, arrivals: &Arrivals) -> Span {
        let rtt = |from, to| {
            first_path(self.routes, from, to).map_or(Span::ZERO, |path| base_rtt(&self.trips, &path))
        };
        let rtts: Box<dyn Iterator<Item = Span> + '_> = match arrivals {
            Arrivals::List(flows) => Box::new(flows.iter().map(|flow| match &flow.path {
                Some(path) => base_rtt(&self.trips, path),
                None => rtt(flow.source, flow.destination),
            })),
            Arrivals::ClosedLoop(loops) => Box::new(loops.iter().map(|of| rtt(of.source, of.destination))),
            Arrivals::Program(of) => {
                let pairs = pairs_between(self.blueprint, &of.hosts, &of.hosts);
                Box::new(pairs.into_iter().map(|(from, to)| rtt(from, to)))
            }
            Arrivals::Poisson(of) => {
                let pairs = pairs_between(self.blueprint, &of.sources, &of.destinations);
                Box::new(pairs.into_iter().map(|(from, to)| rtt(from, to)))
            }
        };
        rtts.max().unwrap_or_default()
    }

    /// How long a job takes if each rank does one thing after another, and ranks whose graphs differ follow
    /// each other: more than it takes without other traffic.
    pub fn job(&self, spec: &ProgramSpec, settings: usize) -> Span {
        let program = &spec.program;
        let rate = self.slowest_nic().min(self.cap(settings));
        let mut graphs = vec![false; program.graphs.len()];
        let mut all = 0_u64;
        for (rank, of) in (0..).zip(&program.ranks) {
            if std::mem::replace(&mut graphs[of.graph as usize], true) {
                continue;
            }
            program.each_peer(rank, |_, _, messages, bytes| {
                let each = self.message((Bytes(bytes.div_ceil(messages.max(1))), settings), rate);
                all = all.saturating_add(each.0.saturating_mul(messages));
            });
            all = all.saturating_add(program.compute_time(rank).0);
        }
        Span(all.saturating_mul(u64::from(program.iterations)))
    }

    /// The lowest rate of a host's links.
    fn slowest_nic(&self) -> Rate {
        let is_host = |node: NodeId| matches!(self.blueprint.nodes[node.index()].role, Role::Host { .. });
        let links = (0u32..).zip(&self.blueprint.links);
        let ports = links
            .flat_map(|(link, spec)| (0u32..).zip(&spec.ends).map(move |(at, end)| (2 * link + at, end)));
        let rates = ports.filter(|(_, end)| is_host(end.node)).map(|(port, _)| self.rate(PortId(port)));
        rates.min().unwrap_or(Rate::MAX)
    }

    fn message(&self, (size, settings): (Bytes, usize), rate: Rate) -> Span {
        let sent = sent(rate, self.wire(size, settings)).0.saturating_mul(2);
        Span(sent.saturating_add(self.rtt.0).saturating_add(self.timeout.unwrap_or_default().0))
    }

    fn wire(&self, size: Bytes, settings: usize) -> u64 {
        let payload = self.blueprint.payload_of(settings);
        on_the_wire(Bytes(size.0.min(1 << 50)), self.blueprint.wire, payload)
    }

    /// The highest rate at which flows of these settings are sent.
    fn cap(&self, settings: usize) -> Rate {
        let Some(FlowSettings { rate_control, .. }) = self.blueprint.settings.get(settings) else {
            return Rate::MAX;
        };
        rate_control.iter().map(|layer| layer.highest(self.rtt)).min().unwrap_or(Rate::MAX)
    }

    fn slowest(&self, path: &[PortId]) -> Rate {
        path.iter().map(|&port| self.rate(port)).min().unwrap_or(Rate::MAX)
    }

    fn rate(&self, port: PortId) -> Rate {
        self.rates[port.index()]
    }

    /// The lowest rate of all that lead on from nodes of the first of the equal-cost paths.
    fn slowest_between(&self, ends: (NodeId, NodeId)) -> Rate {
        self.hops(ends).map(|hop| self.slowest(hop.candidates)).min().unwrap_or(Rate::MAX)
    }

    /// The first of the equal-cost paths.
    fn hops(&self, (from, to): (NodeId, NodeId)) -> impl Iterator<Item = Hop<'_>> {
        let (mut at, mut paths) = (from, 1_u64);
        std::iter::from_fn(move || {
            let candidates = if at == to { &[] } else { self.routes.candidates(at, to) };
            let &port = candidates.first()?;
            paths = paths.saturating_mul(candidates.len() as u64);
            at = self.routes.node_of(peer(port));
            Some(Hop { port, paths, candidates })
        })
    }
}

/// A step of the first of the equal-cost paths: by how many paths together flows may have come that far, and
/// the equal-cost ports from here.
struct Hop<'a> {
    port: PortId,
    paths: u64,
    candidates: &'a [PortId],
}

/// Bytes that links carry.
pub(super) struct Load<'a> {
    pace: &'a Pace<'a>,
    /// By source, destination and settings.
    pairs: FxHashMap<(NodeId, NodeId, usize), u64>,
    /// By port.
    ports: Vec<u64>,
}

impl<'a> Load<'a> {
    pub fn new(pace: &'a Pace<'a>) -> Self {
        Load { pace, pairs: FxHashMap::default(), ports: vec![0; 2 * pace.blueprint.links.len()] }
    }

    pub fn add_flow(&mut self, flow: &FlowSpec, settings: usize) {
        let settings = flow.settings.unwrap_or(settings);
        let bytes = self.pace.wire(flow.size, settings);
        for &port in flow.path.iter().flatten() {
            add(&mut self.ports[port.index()], bytes);
        }
        self.add((flow.source, flow.destination, settings), bytes);
    }

    pub fn add_loop(&mut self, of: &LoopSpec, settings: usize) {
        let bytes = self.pace.wire(of.size, settings).saturating_mul(of.messages);
        self.add((of.source, of.destination, settings), bytes);
    }

    pub fn add_job(&mut self, of: &ProgramSpec, settings: usize) {
        let domains = self.pace.blueprint.domains();
        for (rank, &host) in (0..).zip(&of.hosts) {
            of.program.each_peer(rank, |_, to, _, bytes| {
                let bytes =
                    self.pace.wire(Bytes(bytes), settings).saturating_mul(of.program.iterations.into());
                if !domains.join(host, of.hosts[to as usize]) {
                    self.add((host, of.hosts[to as usize], settings), bytes);
                }
            });
        }
    }

    fn add(&mut self, pair: (NodeId, NodeId, usize), bytes: u64) {
        add(self.pairs.entry(pair).or_default(), bytes);
    }

    /// How long the busiest link takes and the pair that is paced the most, with what is lost and held up.
    ///
    /// A link is charged its part of the paths as they part behind the sender, and again as they come
    /// together before the receiver.
    pub fn drain(mut self) -> Span {
        let mut paced = Span::ZERO;
        #[expect(clippy::iter_over_hash_type, reason = "sums and the greatest are of any order")]
        for (&(from, to, settings), &bytes) in &self.pairs {
            paced = paced.max(sent(self.pace.cap(settings), bytes));
            let there = self.pace.hops((from, to)).map(|hop| (hop.port, hop.paths));
            let back = self.pace.hops((to, from)).map(|hop| (peer(hop.port), hop.paths));
            for (port, paths) in there.chain(back) {
                let part = bytes.saturating_mul(UNEVEN) / paths;
                add(&mut self.ports[port.index()], part.min(bytes));
            }
        }
        let links = (0u32..).zip(&self.ports).map(|(port, &bytes)| sent(self.pace.rate(PortId(port)), bytes));
        let drained = links.max().unwrap_or(Span::ZERO).max(paced).0;
        let lost = match self.pace.timeout {
            Some(timeout) => drained.saturating_add(timeout.0).saturating_mul(LOSSES),
            None => drained,
        };
        Span(lost.saturating_add(self.pace.held.0))
    }
}

fn add(sum: &mut u64, bytes: u64) {
    *sum = sum.saturating_add(bytes);
}

fn sent(rate: Rate, bytes: u64) -> Span {
    if rate > Rate(0) { rate.time_to_send(Bytes(bytes)) } else { Span::ZERO }
}

/// Can frames of flows be lost: damaged, or dropped where nothing holds the sender, or in a queue that may
/// lose?
fn can_lose(blueprint: &Blueprint) -> bool {
    let has_control = |control: &[(_, FlowControlParams)], class| {
        control.iter().any(|(of, params)| *of == class && params.is_lossless())
    };
    let mut directions = blueprint.links.iter().flat_map(|link| &link.directions);
    blueprint.links.iter().any(|link| !link.down.is_empty())
        || blueprint.nodes.iter().any(|node| !node.role.bypass().is_empty())
        || isolating(blueprint).is_some()
        || directions.any(|direction| {
            let errors = direction.errors;
            let is_lossy = |of: &FlowSettings| !has_control(&direction.flow_control, of.class);
            errors.data > 0.0
                || errors.control > 0.0
                || errors.link_control > 0.0
                || blueprint.settings.iter().any(is_lossy)
        })
}

/// A congestion point with queues that may lose what waits there, if a port has one.
pub(super) fn isolating(blueprint: &Blueprint) -> Option<&CongestionPointParams> {
    let mut ports = (0..2 * narrow::<u32>(blueprint.links.len())).map(PortId);
    ports.find_map(|port| {
        let end = &blueprint.links[port.index() / 2].ends[port.index() % 2];
        let info = blueprint.port_info(port);
        let isolates = |params: &&CongestionPointParams| {
            let machine = params.build(&info).ok();
            let queueing =
                machine.as_ref().and_then(|machine| machine.as_discipline()).map(Discipline::queueing);
            queueing == Some(Queueing::Isolating)
        };
        end.congestion_points.iter().find(isolates)
    })
}

/// The longest after which a sender goes back.
fn longest_timeout(blueprint: &Blueprint, rtt: Span) -> Span {
    let usual = Span::ms(4).max(Span(rtt.0.saturating_mul(4)));
    blueprint
        .settings
        .iter()
        .map(|settings| settings.reliability.longest_timeout(usual))
        .max()
        .unwrap_or_default()
}

/// How long faults hold frames up, if none of them overlap; those that never end are not waited for.
fn held(links: &[LinkSpec]) -> Span {
    let noticed = |link: &LinkSpec| link.detection.0.saturating_add(link.convergence.0);
    let down = links.iter().flat_map(|link| {
        link.down.iter().map(|&(from, to)| (from, Time(to.0.saturating_add(noticed(link)))))
    });
    let ends = links.iter().flat_map(|link| &link.ends);
    let paused = ends.flat_map(|end| &end.pauses).map(|pause| (pause.from, pause.to));
    let finite = down.chain(paused).filter(|(_, to)| *to < Time::NEVER);
    finite.fold(Span::ZERO, |sum, (from, to)| Span(sum.0.saturating_add(to.0.saturating_sub(from.0))))
}

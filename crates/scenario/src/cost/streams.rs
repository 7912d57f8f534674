//! Workloads as streams of bytes, and the load of each port by all of them.

use std::collections::BTreeMap;

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{
    Arrivals, FlowSpec, LoopSpec, PoissonSpec, ProgramSpec, UNBOUNDED, WorkloadSpec,
};
use floodway_fabric::routing::{Routes, peer};
use floodway_units::cast::{narrow, to_usize, whole};
use floodway_units::{NodeId, PortId, Rng, Span, Time};

/// Maximum number of flows, or pairs of hosts, of a workload that are examined.
const EXAMINED: usize = 20_000;
/// Ranks of a job whose messages are examined.
const JOB_RANKS: usize = 64;
/// Number of sizes that represent a distribution, and of starts that represent all starts.
const SIZES: usize = 32;
const STARTS: usize = 8;
/// Maximum load from which the duration of a flow is computed.
const BUSY: f64 = 0.9;

/// Equal flows, as one.
pub struct Stream {
    /// How many.
    flows: f64,
    /// How many of them have a row in the table of flows.
    rows: f64,
    /// Queue pairs that carry them, where one carries several.
    pairs: f64,
    /// Payload of a full packet.
    mtu: f64,
    /// Their payload, all together; without end where it is infinite.
    bytes: f64,
    /// Full and other packets, all together.
    packets: f64,
    /// Replies for each of them.
    replies: f64,
    /// When the first of them starts, and the last one.
    starts: (Time, Time),
    /// When the last one starts that the run waits for, and the share of them that it waits for.
    awaited: (Time, f64),
    /// Egress ports of their path.
    path: Vec<PortId>,
}

impl Stream {
    /// Flows that start at this time or later are not waited for.
    fn await_until(&mut self, until: Time) {
        let (first, last) = self.starts;
        let all = last.since(first).0 as f64;
        let share = if until >= last { 1.0 } else { until.0.saturating_sub(first.0) as f64 / all.max(1.0) };
        self.awaited = (last.min(until), if until > first { share } else { 0.0 });
    }
}

/// What a scenario's workloads bring.
#[derive(Clone, Debug)]
pub struct Demand {
    /// When the run is over.
    pub end: Time,
    /// Flows that start.
    pub flows: f64,
    /// Of them those with a row in the table of flows.
    pub rows: f64,
    /// Queue pairs that are open at a time.
    pub open: f64,
    /// Packets that hosts send, replies aside.
    pub packets: f64,
    /// Of them on links at a time.
    pub flying: f64,
    /// Packets received over a link, replies too.
    pub packet_hops: f64,
}

/// The streams of all workloads.
pub fn streams(blueprint: &Blueprint, routes: &Routes) -> Vec<Stream> {
    let mut rng = floodway_units::stream(blueprint.seed, 0, "cost");
    let mut finder = Finder { blueprint, routes, rng: &mut rng, payload: 1.0 };
    blueprint.workloads.iter().flat_map(|workload| finder.streams(workload)).collect()
}

struct Finder<'a> {
    blueprint: &'a Blueprint,
    routes: &'a Routes,
    rng: &'a mut Rng,
    /// Of full packets of the present workload.
    payload: f64,
}

impl Finder<'_> {
    fn streams(&mut self, workload: &WorkloadSpec) -> Vec<Stream> {
        let mut streams = self.arrivals(workload);
        for stream in &mut streams {
            stream.await_until(workload.measure.1);
        }
        streams
    }

    fn arrivals(&mut self, workload: &WorkloadSpec) -> Vec<Stream> {
        let replies = self.replies(workload.settings);
        self.payload = self.blueprint.payload_of(workload.settings).0.max(1) as f64;
        match &workload.arrivals {
            Arrivals::List(flows) => {
                let step = flows.len().div_ceil(EXAMINED).max(1);
                flows.iter().step_by(step).map(|flow| self.listed(flow, step as f64, replies)).collect()
            }
            Arrivals::ClosedLoop(loops) => {
                let step = loops.len().div_ceil(EXAMINED).max(1);
                loops.iter().step_by(step).map(|of| self.looped(of, step as f64, replies)).collect()
            }
            Arrivals::Program(spec) => self.job(spec, replies),
            Arrivals::Poisson(poisson) => self.drawn(poisson, replies),
        }
    }

    /// Replies for each packet.
    fn replies(&self, settings: usize) -> f64 {
        let reliability = &self.blueprint.settings[settings].reliability;
        if reliability.has_acks() { 1.0 / f64::from(reliability.ack_interval()) } else { 0.0 }
    }

    fn listed(&mut self, flow: &FlowSpec, many: f64, replies: f64) -> Stream {
        let size = if flow.size < UNBOUNDED { flow.size.0 as f64 } else { f64::INFINITY };
        let path = flow.path.clone().unwrap_or_else(|| self.path_between(flow.source, flow.destination));
        self.stream(many, size, replies, (flow.start, flow.start), path)
    }

    fn looped(&mut self, of: &LoopSpec, many: f64, replies: f64) -> Stream {
        let path = self.path_between(of.source, of.destination);
        self.stream(many * of.messages as f64, of.size.0 as f64, replies, (of.start, of.start), path)
    }

    /// The messages of a job, from some of its ranks.
    fn job(&mut self, spec: &ProgramSpec, replies: f64) -> Vec<Stream> {
        let (ranks, program) = (spec.hosts.len(), &spec.program);
        let step = ranks.div_ceil(JOB_RANKS).max(1);
        let iterations = f64::from(program.iterations) * step as f64;
        let (mut streams, domains) = (Vec::new(), self.blueprint.domains());
        for rank in (0..ranks).step_by(step) {
            let mut peers: BTreeMap<u32, (f64, f64, u32)> = BTreeMap::new();
            program.each_peer(narrow(rank), |operation, to, more, bytes| {
                let (messages, sum, channels) = peers.entry(to).or_default();
                (*messages, *sum) = (*messages + more as f64, *sum + bytes as f64);
                *channels = program.channels_of(narrow(rank), operation).max(*channels);
            });
            let apart =
                peers.into_iter().filter(|(to, _)| !domains.join(spec.hosts[rank], spec.hosts[*to as usize]));
            for (to, (messages, bytes, channels)) in apart {
                let path = self.path_between(spec.hosts[rank], spec.hosts[to as usize]);
                let starts = (spec.start, spec.start);
                let stream = self.stream(messages * iterations, bytes / messages, replies, starts, path);
                let rows = if spec.rows { stream.flows } else { 0.0 };
                let pairs = messages.min(f64::from(channels)) * step as f64;
                streams.push(Stream { rows, pairs, ..stream });
            }
        }
        streams
    }

    /// The flows that a Poisson process is expected to start, a few receivers of each sender.
    fn drawn(&mut self, poisson: &PoissonSpec, replies: f64) -> Vec<Stream> {
        let until = poisson.until.min(self.blueprint.end.limit);
        let each = until.0.saturating_sub(poisson.from.0) as f64 / poisson.mean_gap.0.max(1) as f64;
        let step = poisson.sources.len().div_ceil(EXAMINED).max(1);
        let draws = (EXAMINED / poisson.sources.len().max(1)).clamp(1, 16);
        let many = each * step as f64 / draws as f64;
        let mut streams = Vec::new();
        let sizes: [f64; SIZES] =
            std::array::from_fn(|n| poisson.sizes.quantile((n as f64 + 0.5) / SIZES as f64).0 as f64);
        for &source in poisson.sources.iter().step_by(step) {
            for _ in 0..draws {
                let destination = poisson.draw_destination(source, self.rng);
                let path = self.path_between(source, destination);
                let starts = (poisson.from, until.max(poisson.from));
                let size = poisson.sizes.mean() * self.passing(poisson, &sizes, &path);
                streams.push(self.stream(many, size, replies, starts, path));
            }
        }
        streams
    }

    /// The share of the bytes of drawn flows that pass before the limit if each has its path to itself: of
    /// the largest, which bring most bytes, those that start late cannot be done by then.
    fn passing(&self, poisson: &PoissonSpec, sizes: &[f64], path: &[PortId]) -> f64 {
        let rates = path.iter().map(|&port| bytes_per_ps(self.blueprint, port));
        let rate = rates.fold(f64::INFINITY, f64::min);
        let limit = self.blueprint.end.limit;
        let (from, until) = (poisson.from.0 as f64, poisson.until.min(limit).0 as f64);
        let late = |n: usize| limit.0 as f64 - from - (until - from) * (n as f64 + 0.5) / STARTS as f64;
        let passed = |n: usize| sizes.iter().map(|size| size.min(rate * late(n).max(0.0))).sum::<f64>();
        (0..STARTS).map(passed).sum::<f64>() / (STARTS as f64 * sizes.iter().sum::<f64>()).max(1.0)
    }

    fn stream(&self, flows: f64, size: f64, replies: f64, starts: (Time, Time), path: Vec<PortId>) -> Stream {
        let mtu = self.payload;
        // Of sizes that are spread the last packet is half full.
        let packets = if starts.0 == starts.1 { (size / mtu).ceil() } else { (size / mtu + 0.5).max(1.0) };
        let awaited = (starts.1, 1.0);
        let (bytes, packets, rows, pairs) = (flows * size, flows * packets, flows, flows);
        Stream { flows, rows, pairs, mtu, bytes, packets, replies, starts, awaited, path }
    }

    /// One of the shortest paths, drawn; empty where there is none.
    fn path_between(&mut self, from: NodeId, to: NodeId) -> Vec<PortId> {
        let (mut path, mut at) = (Vec::new(), from);
        while at != to {
            let ports = self.routes.candidates(at, to);
            let Some(last) = ports.len().checked_sub(1) else { return Vec::new() };
            let port = ports[to_usize(self.rng.next_u64() % (last as u64 + 1))];
            path.push(port);
            at = self.routes.node_of(peer(port));
        }
        path
    }
}

/// What streams bring to a port.
#[derive(Clone, Copy, Default)]
struct Load {
    /// Payload that ends.
    bytes: f64,
    /// Of it what the run waits for.
    awaited: f64,
    /// Streams without end.
    endless: f64,
    /// When the first begins, and the last flow starts that the run waits for, in picoseconds.
    begin: f64,
    last: f64,
    busy: bool,
}

impl Demand {
    /// The cost of these streams.
    pub fn of(blueprint: &Blueprint, streams: Vec<Stream>) -> Self {
        let loads = loads(blueprint, &streams);
        let end = end(blueprint, &streams, &loads);
        let mut demand =
            Demand { end, flows: 0.0, rows: 0.0, open: 0.0, packets: 0.0, flying: 0.0, packet_hops: 0.0 };
        for stream in &streams {
            demand.add(blueprint, stream, &loads);
        }
        demand
    }

    fn add(&mut self, blueprint: &Blueprint, stream: &Stream, loads: &[Load]) {
        let end = self.end.0 as f64;
        let (first, last) = (stream.starts.0.0 as f64, stream.starts.1.0 as f64);
        if first >= end || stream.path.is_empty() {
            return;
        }
        let flows = stream.flows * if last > end { (end - first) / (last - first) } else { 1.0 };
        let ports = stream.path.iter().map(|port| (&loads[port.index()], bytes_per_ps(blueprint, *port)));
        let shares = ports.map(|(load, rate)| load.share(rate, end, stream.bytes.is_infinite()));
        let (rate, share, use_) = shares.fold((f64::INFINITY, 1.0_f64, 0.0_f64), |least, of| {
            (least.0.min(of.0), least.1.min(of.1), least.2.max(of.2))
        });
        let packets = if stream.bytes.is_infinite() {
            flows * rate * (end - first) / stream.mtu
        } else {
            stream.packets * share.min(flows / stream.flows)
        };
        let took = stream.bytes / stream.flows.max(1.0) / rate / (1.0 - use_.min(BUSY));
        let took = if took.is_finite() { took.min(end - first) } else { end - first };
        self.flows += flows;
        self.rows += flows * stream.rows / stream.flows;
        self.open += (flows * (took / (last - first).max(took)).min(1.0)).min(stream.pairs);
        self.packets += packets;
        self.packet_hops += packets * stream.path.len() as f64 * (1.0 + stream.replies);
        let flight: f64 = stream.path.iter().map(|port| delay(blueprint, *port).0 as f64).sum();
        self.flying += (packets * flight / (end - first)).min(packets) * (1.0 + stream.replies);
    }
}

impl Load {
    /// Of a port of this rate, in bytes a picosecond: what one stream has of it, the share of bytes that pass
    /// before the end, and how much of the time it is busy.
    fn share(&self, rate: f64, end: f64, endless: bool) -> (f64, f64, f64) {
        let room = rate * (end - self.begin).max(1.0);
        let share = if self.bytes > 0.0 { (room / self.bytes).min(1.0) } else { 1.0 };
        let busy = rate * (self.last - self.begin).max(1.0);
        let use_ = if self.last > self.begin { (self.awaited / busy).min(1.0) } else { 0.0 };
        let rest = rate * (1.0 - (self.bytes / room).min(0.5));
        (if endless { rest / self.endless.max(1.0) } else { rate }, share, use_)
    }
}

/// By port.
fn loads(blueprint: &Blueprint, streams: &[Stream]) -> Vec<Load> {
    let mut loads = vec![Load::default(); 2 * blueprint.links.len()];
    for stream in streams {
        let (first, last) = (stream.starts.0.0 as f64, stream.awaited.0.0 as f64);
        for port in &stream.path {
            let load = &mut loads[port.index()];
            let before = if load.busy { (load.begin, load.last) } else { (first, last) };
            (load.begin, load.last) = (before.0.min(first), before.1.max(last));
            load.busy = true;
            if stream.bytes.is_infinite() {
                load.endless += stream.flows;
            } else {
                load.bytes += stream.bytes;
                load.awaited += stream.bytes * stream.awaited.1;
            }
        }
    }
    loads
}

/// When all that ends has passed its ports, at the limit at the latest.
fn end(blueprint: &Blueprint, streams: &[Stream], loads: &[Load]) -> Time {
    let limit = blueprint.end.limit;
    if blueprint.end.at_limit || streams.iter().all(|stream| stream.bytes.is_infinite()) {
        return limit;
    }
    let done = |(port, load): (usize, &Load)| {
        let rate = bytes_per_ps(blueprint, PortId(narrow(port)));
        (load.begin + load.awaited / rate).max(load.last)
    };
    let ends = loads.iter().enumerate().filter(|(_, load)| load.bytes > 0.0).map(done);
    let flight = |stream: &Stream| {
        stream.path.iter().map(|&port| delay(blueprint, port)).fold(Span::ZERO, |a, b| a + b)
    };
    let longest = streams.iter().map(flight).max().unwrap_or_default();
    let end = ends.fold(0.0_f64, f64::max) + longest.0 as f64;
    Time(limit.0.min(whole(end)).max(1))
}

/// Of a port's link; into a host that drains slower, of its drain.
fn bytes_per_ps(blueprint: &Blueprint, port: PortId) -> f64 {
    let (link, end) = (&blueprint.links[port.index() / 2], port.index() % 2);
    let rate = link.directions[end].rate;
    let drain = link.ends[1 - end].receive.as_ref().map_or(rate, |receive| receive.drain);
    rate.min(drain).0 as f64 / 8e12
}

fn delay(blueprint: &Blueprint, port: PortId) -> Span {
    blueprint.links[port.index() / 2].directions[port.index() % 2].delay
}

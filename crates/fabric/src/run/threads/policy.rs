//! Thread policy: whether more threads make a run faster.

use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, FlowSpec, LoopSpec, PoissonSpec, Role};
use floodway_units::cast::whole;
use floodway_units::{Bytes, NodeId, Rate, Span, Time};

/// Number of full packets that hosts must be able to receive in a window, for each thread: between two
/// windows a thread publishes its progress and reads that of the others. Measured with permutations on
/// fat-trees of 16 and 128 hosts and links of 20 ns to 1 us (docs/performance.md): two threads lose or are
/// even with up to 100 packets in a window, and gain a quarter with 200.
const PACKETS_A_WINDOW: u64 = 75;
/// Number of full packets of a run above which threads are started. Measured in the same way: 128 hosts are
/// even with 128,000 packets, 16 hosts with 16,000; less takes a fraction of a second.
const PACKETS_A_RUN: u64 = 100_000;

/// Fewer threads than are wanted, and why.
pub(super) struct FewerThreads {
    pub threads: usize,
    pub why: String,
}

/// For how many threads windows of such a length are long enough, if not for `threads`.
pub(super) fn too_short(blueprint: &Blueprint, window: Span, threads: usize) -> Option<FewerThreads> {
    let packets = received_in(blueprint, window).0 / blueprint.mtu.0.max(1);
    let least = PACKETS_A_WINDOW * threads as u64;
    let why = || {
        format!(
            "windows are {window} long, in which hosts receive {packets} packets at most: {threads} threads need {least}"
        )
    };
    let enough = (packets / PACKETS_A_WINDOW).max(1) as usize;
    (packets < least).then(|| FewerThreads { threads: enough, why: why() })
}

/// The same, but one thread where little is to be sent in all.
pub(super) fn too_little(blueprint: &Blueprint, window: Span, threads: usize) -> Option<FewerThreads> {
    let line = line_rate(blueprint);
    let packets = offered(blueprint, line).0 / blueprint.mtu.0.max(1);
    let short = too_short(blueprint, window, threads);
    if packets >= PACKETS_A_RUN || short.as_ref().is_some_and(|fewer| fewer.threads == 1) {
        return short;
    }
    let why = format!("about {packets} packets are to be sent: too few for threads to be faster");
    Some(FewerThreads { threads: 1, why })
}

/// What hosts receive in a window, where as many of them receive at a time as on average over the time that
/// the one with most to receive takes: of an incast that is one, whichever hosts send.
fn received_in(blueprint: &Blueprint, window: Span) -> Bytes {
    let rates = rates(blueprint);
    let limit = blueprint.end.limit - Time::ZERO;
    let times = receiving(blueprint).into_iter().zip(&rates).filter(|&(_, &rate)| rate > Rate(0));
    let times = times.map(|(bytes, rate)| rate.time_to_send(Bytes(bytes).min(rate.bytes_in(limit))).0);
    let (sum, most) = times.fold((0u128, 0), |(sum, most), time| (sum + u128::from(time), time.max(most)));
    let hosts = rates.iter().filter(|&&rate| rate > Rate(0)).count().max(1) as u128;
    let all = u128::from(line_rate(blueprint).bytes_in(window).0);
    let busy = all * sum / (u128::from(most.max(1)) * hosts);
    Bytes(u64::try_from(busy.min(all)).unwrap_or(u64::MAX))
}

/// By node: at which rate a host receives; of a switch nothing.
fn rates(blueprint: &Blueprint) -> Vec<Rate> {
    let mut rates = vec![Rate(0); blueprint.nodes.len()];
    for link in &blueprint.links {
        for (end, into) in link.ends.iter().zip(link.directions.iter().rev()) {
            if matches!(blueprint.nodes[end.node.index()].role, Role::Host { .. }) {
                let rate = &mut rates[end.node.index()];
                *rate = Rate(rate.0.saturating_add(into.rate.0));
            }
        }
    }
    rates
}

/// By node: bytes that it is to receive.
fn receiving(blueprint: &Blueprint) -> Vec<u64> {
    let mut bytes = vec![0u64; blueprint.nodes.len()];
    let mut add = |node: NodeId, more: u64| {
        let all = &mut bytes[node.index()];
        *all = all.saturating_add(more);
    };
    for workload in &blueprint.workloads {
        match &workload.arrivals {
            Arrivals::List(flows) => {
                for flow in flows {
                    add(flow.destination, flow.size.0);
                }
            }
            Arrivals::ClosedLoop(loops) => {
                for spec in loops {
                    add(spec.destination, spec.size.0.saturating_mul(spec.messages));
                }
            }
            Arrivals::Program(spec) => {
                for (&host, received) in spec.hosts.iter().zip(spec.program.traffic().received) {
                    add(host, received);
                }
            }
            Arrivals::Poisson(poisson) => {
                let share = drawn(poisson, blueprint.end.limit) / poisson.destinations.len().max(1) as u64;
                for &node in &poisson.destinations {
                    add(node, share);
                }
            }
        }
    }
    bytes
}

/// The sum of all hosts' NICs.
fn line_rate(blueprint: &Blueprint) -> Rate {
    let of_host = |node: NodeId| matches!(blueprint.nodes[node.index()].role, Role::Host { .. });
    let ends = blueprint.links.iter().flat_map(|link| link.ends.iter().zip(&link.directions));
    let rates = ends.filter(|(end, _)| of_host(end.node)).map(|(_, direction)| direction.rate.0);
    Rate(rates.fold(0, u64::saturating_add))
}

/// About how many bytes all workloads want to send, at most what the hosts can by the limit.
fn offered(blueprint: &Blueprint, line: Rate) -> Bytes {
    let limit = blueprint.end.limit;
    let of = |arrivals: &Arrivals| match arrivals {
        Arrivals::List(flows) => sum(flows.iter().map(|flow: &FlowSpec| flow.size.0)),
        Arrivals::ClosedLoop(loops) => {
            sum(loops.iter().map(|spec: &LoopSpec| spec.size.0.saturating_mul(spec.messages)))
        }
        Arrivals::Program(spec) => sum(spec.program.traffic().received.into_iter()),
        Arrivals::Poisson(poisson) => drawn(poisson, limit),
    };
    let all = sum(blueprint.workloads.iter().map(|workload| of(&workload.arrivals)));
    Bytes(all.min(line.bytes_in(limit - Time::ZERO).0))
}

fn sum(bytes: impl Iterator<Item = u64>) -> u64 {
    bytes.fold(0, u64::saturating_add)
}

/// What a Poisson process sends on average.
fn drawn(poisson: &PoissonSpec, limit: Time) -> u64 {
    let span = poisson.until.min(limit).0.saturating_sub(poisson.from.0);
    let flows = span / poisson.mean_gap.0.max(1) * poisson.sources.len() as u64;
    whole(flows as f64 * poisson.sizes.mean())
}

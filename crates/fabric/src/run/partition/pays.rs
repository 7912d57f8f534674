//! Whether threads are worth their while.

use floodway_units::{Bytes, Rate, Span, Time};

use crate::network::blueprint::{Arrivals, Blueprint, FlowSpec, LoopSpec, PoissonSpec, Role};

/// So many full packets must hosts be able to send in a window, for each thread: between two windows a thread says how far
/// it is and hears of the others. Measured with permutations on fat-trees of 16 and 128 hosts and links of 20 ns to 1 us
/// (docs/performance.md): two threads lose or are even with up to 100 packets in a window, and gain a quarter with 200.
const PACKETS_A_WINDOW: u64 = 75;
/// So many full packets are a run for which threads are begun. Measured likewise: 128 hosts are even with 128,000 packets,
/// 16 hosts with 16,000; less takes a fraction of a second.
const PACKETS_A_RUN: u64 = 100_000;

/// Why a lookahead of `window` is too short for `threads` threads, if so.
pub(super) fn too_short(blueprint: &Blueprint, window: Span, threads: usize) -> Option<String> {
    let packets = line_rate(blueprint).bytes_in(window).0 / blueprint.mtu.0.max(1);
    let least = PACKETS_A_WINDOW * threads as u64;
    (packets < least).then(|| {
        format!(
            "the shortest cut is {window}, in which hosts send {packets} packets at most: {threads} threads need {least}"
        )
    })
}

/// Why `threads` threads do not pay with a lookahead of `window`, if so.
pub(super) fn too_little(blueprint: &Blueprint, window: Span, threads: usize) -> Option<String> {
    if let Some(why) = too_short(blueprint, window, threads) {
        return Some(why);
    }
    let line = line_rate(blueprint);
    let packets = offered(blueprint, line).0 / blueprint.mtu.0.max(1);
    let few = packets < PACKETS_A_RUN;
    few.then(|| format!("about {packets} packets are to be sent: too few for threads to pay"))
}

/// The sum of all hosts' NICs.
fn line_rate(blueprint: &Blueprint) -> Rate {
    let of_host =
        |node: floodway_units::NodeId| matches!(blueprint.nodes[node.index()].role, Role::Host { .. });
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
    (flows as f64 * poisson.sizes.mean()) as u64
}

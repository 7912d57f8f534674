//! Estimate of a run's cost: packet-hops, time and memory, from flows, sizes and paths.
//!
//! Every workload becomes a few thousand streams of bytes, each on one path through the network that is drawn
//! as a switch would. Their load on each port gives the duration of the run, and what its limit cuts off.
//! Flows of a process are not drawn: their number and mean size are known.
//!
//! Memory follows from the bytes at each port and the sizes of the records that hold them
//! (`build/footprint.rs` of the fabric). A list of flows that cannot fit is an error when it is read.

mod streams;

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::Arrivals;
use floodway_fabric::footprint::{self, Parts};
use floodway_fabric::memory::{Bound, Left, left};
use floodway_fabric::routing::Routes;
use floodway_units::NodeId;
use floodway_units::cast::{narrow, to_usize, whole};
use serde::Serialize;

use crate::scenario::Scenario;
pub(crate) use streams::Demand;
use streams::streams;

/// Estimated cost of a run; docs/reliability.md gives its accuracy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Flows that start.
    pub flows: f64,
    /// Simulated time, in microseconds.
    pub simulated_us: f64,
    /// Packets received over a link, data and replies alike.
    pub packet_hops: f64,
    /// Time on one thread of the machine of docs/performance.md, in seconds.
    pub wall_s: f64,
    /// Memory in addition to the scenario's own, in bytes.
    pub memory_bytes: u64,
    /// Of it, what the network takes at rest.
    pub network_bytes: u64,
}

/// A packet-hop with few ports, in nanoseconds; and how much more each doubling beyond them takes, since less
/// of the network is in caches.
const HOP_NS: f64 = 105.0;
const DOUBLING_NS: f64 = 14.0;
const FEW_PORTS: f64 = 512.0;
/// A flow's start, its ideal, its end and its rows, in nanoseconds; and an epoch.
const FLOW_NS: f64 = 4_000.0;
const EPOCH_NS: f64 = 3_000.0;
/// Reading, building and writing small things, in seconds.
const START_S: f64 = 0.05;
/// Maximum share of the buffers on the paths that is full at a time: a few ports of each switch are
/// congested.
const FULL: f64 = 0.1;
/// Marks and pauses per packet-hop.
const SIGNALS: f64 = 0.05;
/// Memory of Python per flow in addition to its row in the table.
const FRAME_ROW: f64 = 300.0;
/// Memory of libraries for tables at their first use.
const LIBRARIES: f64 = 24e6;

/// The load that the workloads of a network offer.
pub(crate) fn demand(blueprint: &Blueprint, routes: &Routes) -> Demand {
    Demand::of(blueprint, streams(blueprint, routes))
}

/// The estimated cost of a run of a scenario on this number of threads.
pub fn cost(scenario: &Scenario, threads: usize) -> Cost {
    let blueprint = scenario.blueprint();
    let demand = scenario.demand();
    let network = network(blueprint, scenario.routes().entries());
    let threads = threads as f64 * footprint::thread(blueprint.workloads.len(), blueprint.nodes.len()) as f64;
    let memory = network as f64
        + traffic(blueprint, demand)
        + records(blueprint, demand)
        + jobs(blueprint)
        + threads
        + LIBRARIES;
    Cost {
        flows: demand.flows,
        simulated_us: demand.end.as_us(),
        packet_hops: demand.packet_hops,
        wall_s: wall_s(blueprint, demand),
        memory_bytes: whole(memory),
        network_bytes: network,
    }
}

/// A network at rest.
fn network(blueprint: &Blueprint, routes: usize) -> u64 {
    Parts {
        nodes: blueprint.nodes.len() as u64,
        links: blueprint.links.len() as u64,
        classes: blueprint.classes().len() as u64,
        routes: routes as u64,
    }
    .bytes()
}

fn wall_s(blueprint: &Blueprint, demand: &Demand) -> f64 {
    let ports = 2.0 * blueprint.links.len() as f64;
    let hop = HOP_NS + DOUBLING_NS * (ports / FEW_PORTS).log2().max(0.0);
    let epochs = demand.end.as_us() / 100.0;
    START_S + (demand.packet_hops * hop + demand.flows * FLOW_NS + epochs * EPOCH_NS) / 1e9
}

/// Flows, open and over, and packets.
fn traffic(blueprint: &Blueprint, demand: &Demand) -> f64 {
    let of_packet = match blueprint.telemetry() {
        floodway_wire::Telemetry::Int => footprint::PACKET + footprint::TELEMETRY,
        _ => footprint::PACKET,
    };
    let queued = (buffers(blueprint) * FULL / blueprint.mtu.0.max(1) as f64).min(demand.packets);
    let open = demand.open * footprint::QUEUE_PAIR as f64;
    demand.rows * (footprint::FLOW as f64 + FRAME_ROW) + open + (queued + demand.flying) * of_packet as f64
}

/// What switches can hold, in bytes.
fn buffers(blueprint: &Blueprint) -> f64 {
    let accounts = blueprint.accounts();
    let nodes = (0..narrow::<u32>(blueprint.nodes.len())).map(NodeId);
    nodes.filter_map(|node| accounts.pool(node).ok()?).map(|pool| pool.0 as f64).sum::<f64>()
}

/// Series, logs and captures, as far as they are asked for.
fn records(blueprint: &Blueprint, demand: &Demand) -> f64 {
    let records = &blueprint.records;
    let buckets = (records.buckets as f64).min(demand.end.as_us().max(1.0));
    let ports = 2.0 * blueprint.links.len() as f64;
    let watched = (records.watch.len() as f64 + records.busiest as f64).min(ports);
    let rows = |most: Option<usize>, come: f64| most.map_or(0.0, |most| come.min(most as f64));
    let logged = rows(records.pauses, demand.packet_hops * SIGNALS)
        + rows(records.signals, demand.packet_hops * SIGNALS)
        + rows(records.allowances.as_ref().map(|spec| spec.rows), demand.packets)
        + rows(records.shares.as_ref().map(|spec| spec.rows), demand.packets);
    let captured = records.capture.as_ref().map_or(0.0, |spec| {
        let frame = 2.0 * (104 + spec.bytes.min(to_usize(blueprint.mtu.0) + 100) + 64) as f64;
        demand.packet_hops.min(spec.packets as f64) * frame
    });
    watched * buckets * footprint::BUCKET as f64 + logged * footprint::LOGGED as f64 + captured
}

/// Ranks of jobs with their operations, and the rows of these.
fn jobs(blueprint: &Blueprint) -> f64 {
    let programs = blueprint.workloads.iter().filter_map(|workload| match &workload.arrivals {
        Arrivals::Program(spec) => Some(&spec.program),
        _ => None,
    });
    let (mut at_once, mut all) = (0, 0_u64);
    for program in programs {
        let of_rank = |rank| program.graph_of(rank).operations.len() as u64;
        let operations: u64 = (0..narrow::<u32>(program.ranks.len())).map(of_rank).sum();
        at_once += operations;
        all = all.saturating_add(operations.saturating_mul(u64::from(program.iterations)));
    }
    let rows = all.min(blueprint.records.operations as u64);
    at_once as f64 * footprint::OPERATION as f64 + rows as f64 * footprint::OPERATION_ROW as f64
}

/// Why this process cannot get this many bytes more, if so.
pub fn too_much(bytes: u64) -> Option<String> {
    let left = left().filter(|left| left.bytes < bytes)?;
    Some(format!("about {} of memory are needed, and {}", size(bytes), words(&left)))
}

/// How much memory is left, and which limit applies.
pub fn words(left: &Left) -> String {
    let by = match left.bound {
        Bound::Machine => "on this machine",
        Bound::Group => "to this container or control group",
        Bound::Process => "to this process, whose memory is limited",
    };
    format!("{} of {} are left {by}", size(left.bytes), size(left.of))
}

/// Bytes with a unit.
pub fn size(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")];
    let unit = units.into_iter().find(|(unit, _)| bytes as f64 >= *unit);
    unit.map_or_else(|| format!("{bytes} B"), |(unit, name)| format!("{:.1} {name}", bytes as f64 / unit))
}

/// A wall-clock time with a unit.
pub(crate) fn duration(seconds: f64) -> String {
    let units = [(86_400.0, "days"), (3_600.0, "h"), (60.0, "min")];
    let unit = units.into_iter().find(|(unit, _)| seconds >= 2.0 * unit);
    unit.map_or_else(|| format!("{seconds:.1} s"), |(unit, name)| format!("{:.1} {name}", seconds / unit))
}

/// A count with a unit.
pub(crate) fn number(count: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K")];
    let unit = units.into_iter().find(|(unit, _)| count >= *unit);
    unit.map_or_else(|| format!("{count:.0}"), |(unit, name)| format!("{:.1} {name}", count / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_read_them() {
        assert_eq!([size(7), size(1_500), size(2_345_000_000)], ["7 B", "1.5 KB", "2.3 GB"]);
        assert_eq!([duration(90.0), duration(600.0), duration(1e6)], ["90.0 s", "10.0 min", "11.6 days"]);
        assert_eq!([number(12.0), number(1.25e7)], ["12", "12.5 M"]);
    }

    #[test]
    fn more_than_there_is_is_refused_with_both_numbers() {
        if left().is_some() {
            let why = too_much(u64::MAX).expect("nobody has as much");
            assert!(why.starts_with("about 18446744.1 TB of memory are needed, and "), "{why}");
        }
        assert_eq!(too_much(0), None);
    }
}

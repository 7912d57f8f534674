//! Packet-hops per second on a k=8 fat-tree: a permutation of 20 MB flows, or an incast, PFC on, an ACK per
//! packet; at line rate, then with DCQCN over ports that mark ECN, then with Mercury.
//!
//! Prints the median of five runs, events per packet-hop by cause, and the peak memory of this program.
//! Arguments: k (8), bytes of a flow (20 MB), runs (5), case (0 to 2; all), senders to the first host (none:
//! a permutation).
#![allow(clippy::print_stdout, reason = "a benchmark's output")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use std::time::Instant;

use floodway_blueprint::testing::{self, params};
use floodway_fabric::blueprint::{Blueprint, FlowSpec, LinkSpec, NodeSpec, Role};
use floodway_fabric::outcome::{Stopped, Verdict};
use floodway_fabric::{Control, Fabric, Records};
use floodway_units::{Bytes, Class, Span, Time, mix};

/// What is measured.
struct Case {
    name: &'static str,
    rate_control: &'static [&'static str],
    congestion_points: &'static [&'static str],
}

const CASES: [Case; 3] = [
    Case { name: "line rate", rate_control: &[r#""line-rate""#], congestion_points: &[] },
    Case { name: "ECN and DCQCN", rate_control: &[r#""dcqcn""#], congestion_points: &[r#""red""#] },
    Case {
        name: "Mercury over DCQCN",
        rate_control: &[r#""dcqcn""#, r#""mercury""#],
        congestion_points: &[r#""mercury""#],
    },
];

fn link(case: &Case, nodes: &[NodeSpec], a: usize, b: usize) -> LinkSpec {
    let name = format!("{}-{}", nodes[a].name, nodes[b].name);
    let mut link = testing::link(&name, [a as u32, b as u32], 100);
    for end in &mut link.ends {
        if matches!(nodes[end.node.index()].role, Role::Switch(_)) {
            end.congestion_points = case.congestion_points.iter().map(|point| params(point)).collect();
        }
    }
    for direction in &mut link.directions {
        direction.flow_control = vec![(Class::DATA, params(r#"{"pfc": {"xoff": {"alpha": 0.125}}}"#))];
    }
    link
}

/// A fat-tree(k): hosts, ToRs, aggregation, cores.
fn fat_tree(case: &Case, k: usize) -> (Vec<NodeSpec>, Vec<LinkSpec>) {
    let half = k / 2;
    let (hosts, tors, cores) = (k * half * half, k * half, half * half);
    let switch = |name: &str| testing::switch_with(name, r#"{"shared": {"pool": "10MB"}}"#);
    let mut nodes = Vec::new();
    for (count, letter) in [(hosts, 'h'), (tors, 't'), (tors, 'a'), (cores, 'c')] {
        let node = if letter == 'h' { testing::host } else { switch };
        nodes.extend((1..=count).map(|i| node(&format!("{letter}{i}"))));
    }
    let (tor, agg, core) = (hosts, hosts + tors, hosts + 2 * tors);
    let mut links = Vec::new();
    for host in 0..hosts {
        links.push(link(case, &nodes, host, tor + host / half));
    }
    for pod in 0..k {
        for (t, a) in (0..half).flat_map(|t| (0..half).map(move |a| (t, a))) {
            links.push(link(case, &nodes, tor + pod * half + t, agg + pod * half + a));
        }
        for (a, c) in (0..half).flat_map(|a| (0..half).map(move |c| (a, c))) {
            links.push(link(case, &nodes, agg + pod * half + a, core + a * half + c));
        }
    }
    (nodes, links)
}

/// Each host sends to another one, and receives from one.
fn permutation(hosts: usize, size: Bytes) -> Vec<FlowSpec> {
    let mut order: Vec<usize> = (0..hosts).collect();
    order.sort_by_key(|&host| mix(host as u64));
    flows((0..hosts).map(|i| (order[i], order[(i + 1) % hosts])), size)
}

/// The last hosts send to the first one.
fn incast(hosts: usize, senders: usize, size: Bytes) -> Vec<FlowSpec> {
    flows((hosts - senders..hosts).map(|host| (host, 0)), size)
}

fn flows(pairs: impl Iterator<Item = (usize, usize)>, size: Bytes) -> Vec<FlowSpec> {
    let mut flows: Vec<FlowSpec> = pairs
        .enumerate()
        .map(|(place, (from, to))| testing::flow(place, [from as u32, to as u32], size))
        .collect();
    flows.sort_by_key(|flow| flow.source);
    flows
}

fn blueprint(case: &Case, k: usize, flows: Vec<FlowSpec>) -> Blueprint {
    let (nodes, links) = fat_tree(case, k);
    let mut blueprint = testing::blueprint(nodes, links);
    for node in &mut blueprint.nodes {
        if let Role::Host { address, .. } = &mut node.role {
            // Switches hash addresses: counts of instructions are of these paths.
            *address = node.rank + 1;
        }
    }
    blueprint.settings = vec![testing::settings(case.rate_control)];
    blueprint.workloads = vec![testing::list(flows)];
    blueprint.end.limit = Time::ZERO + Span::ms(1000);
    blueprint
}

fn run(blueprint: &Blueprint) -> (f64, Records) {
    let control = Control::default();
    let fabric = Fabric::build(blueprint, &control).expect("the bench's own network is right");
    let start = Instant::now();
    let records = fabric.run();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert_eq!(records.outcome.invariants.conservation, Verdict::Holds);
    (records.outcome.packet_hops as f64 / seconds, records)
}

/// Peak resident memory in MB, where the system reports it.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib * 1024.0 / 1e6)
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let number = |i: usize, default: u64| numbers.get(i).copied().unwrap_or(default);
    let (k, size, runs) = (number(0, 8), number(1, 20_000_000), number(2, 5));
    let (k, hosts) = (k as usize, (k * k * k / 4) as usize);
    let (flows, pattern) = match numbers.get(4) {
        Some(&senders) => (incast(hosts, senders as usize, Bytes(size)), "incast"),
        None => (permutation(hosts, Bytes(size)), "permutation"),
    };
    println!("{pattern} of {size} B flows on a k={k} fat-tree, PFC, an ACK per packet");
    let chosen = numbers.get(3).map_or(0..CASES.len(), |&case| case as usize..case as usize + 1);
    for case in &CASES[chosen] {
        measure(case, &blueprint(case, k, flows.clone()), runs);
    }
    if let Some(megabytes) = peak_memory() {
        println!("{megabytes:.0} MB peak memory");
    }
}

fn measure(case: &Case, blueprint: &Blueprint, runs: u64) {
    let mut speeds = Vec::new();
    let mut last = None;
    for _ in 0..runs.max(1) {
        let (speed, records) = run(blueprint);
        speeds.push(speed);
        last = Some(records);
    }
    speeds.sort_by(f64::total_cmp);
    let outcome = last.expect("at least one run").outcome;
    let hops = outcome.packet_hops as f64;
    println!("{}", case.name);
    println!(
        "  {:.2} M packet-hops/s (median of {runs}), {} packet-hops a run, {:.0} us simulated",
        speeds[speeds.len() / 2] / 1e6,
        outcome.packet_hops,
        outcome.simulated_us
    );
    let events: u64 = outcome.events.iter().map(|(_, count)| count).sum();
    println!("  {:.3} events per packet-hop", events as f64 / hops);
    for (cause, count) in &outcome.events {
        println!("    {cause}: {:.4}", *count as f64 / hops);
    }
}

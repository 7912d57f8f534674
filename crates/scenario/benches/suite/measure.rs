//! Measuring one run.

use std::path::{Path, PathBuf};
use std::time::Instant;

use floodway_fabric::blueprint::Role;
use floodway_fabric::outcome::Outcome;
use floodway_fabric::{Blueprint, Control, Fabric, Threads};
use floodway_scenario::Scenario;
use serde_json::{Map, Value, json};

/// What to run.
pub struct Order {
    /// A scenario's file.
    pub scenario: PathBuf,
    /// Paths and values that are written into it.
    pub sets: Vec<(String, String)>,
    /// Threads of the run.
    pub threads: usize,
    /// Only read and build it.
    pub build_only: bool,
}

/// Reads, builds and runs, each timed apart.
pub fn measured(order: &Order) -> Result<Value, String> {
    let start = Instant::now();
    let read = Scenario::from_path(&order.scenario, &order.sets).map_err(|errors| errors.to_string())?;
    let read_s = start.elapsed().as_secs_f64();
    let memory_read = peak_memory();
    let control = Control::default();
    let start = Instant::now();
    let thread_plan = read.thread_plan(Threads::Forced(order.threads), order.threads);
    let built = Fabric::build(read.blueprint(), &control);
    let fabric = built.map_err(|error| error.to_string())?.on(&thread_plan);
    let build_s = start.elapsed().as_secs_f64();
    let mut value = json!({
        "case": stem(&order.scenario),
        "threads": order.threads,
        "read_s": read_s,
        "build_s": build_s,
        "read_memory_bytes": memory_read,
        "built_memory_bytes": peak_memory(),
    });
    add(&mut value, size(read.blueprint()));
    if !order.build_only {
        let start = Instant::now();
        let records = fabric.run();
        let wall_s = start.elapsed().as_secs_f64();
        add(&mut value, json!({ "wall_s": wall_s, "peak_memory_bytes": peak_memory() }));
        add(&mut value, outcome(&records.outcome));
    }
    Ok(value)
}

fn stem(path: &Path) -> Option<&str> {
    path.file_stem().and_then(|stem| stem.to_str())
}

fn size(blueprint: &Blueprint) -> Value {
    let hosts = blueprint.nodes.iter().filter(|node| matches!(node.role, Role::Host { .. })).count();
    json!({ "hosts": hosts, "switches": blueprint.nodes.len() - hosts, "links": blueprint.links.len() })
}

fn outcome(outcome: &Outcome) -> Value {
    let hops = outcome.packet_hops.max(1) as f64;
    let share = |(cause, count): &(&'static str, u64)| ((*cause).to_owned(), json!(*count as f64 / hops));
    let finished: u64 = outcome.workloads.iter().map(|workload| workload.finished).sum();
    json!({
        "packet_hops": outcome.packet_hops,
        "simulated_us": outcome.simulated_us,
        "stopped": outcome.stopped,
        "lossless": outcome.lossless,
        "invariants": outcome.invariants,
        "flows_finished": finished,
        "events_per_packet_hop": outcome.events.iter().map(share).collect::<Map<_, _>>(),
    })
}

fn add(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}

/// Peak resident memory of this process, where the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

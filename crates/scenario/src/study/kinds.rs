//! The numbers that studies compare: names, units, and options. `python/floodway/study/metrics/kinds.py`
//! computes each from the tables of one run.

use serde::Serialize;

use super::claim_keys::Best;

/// A number that every run has.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Kind {
    /// Its name in studies.
    pub name: &'static str,
    /// What pictures call it.
    pub label: &'static str,
    /// Its unit; empty for a plain number.
    pub unit: &'static str,
    /// Whether the `lowest` or the `highest` is best.
    pub best: Best,
    /// Names of the options that it takes.
    pub options: &'static [&'static str],
    /// Names of the options without which it means nothing.
    pub due: &'static [&'static str],
}

/// Of flows.
const FLOWS: &[&str] = &["workload", "path-class", "from", "to", "size"];
/// Of a link.
const LINK: &[&str] = &["link", "window", "bucket"];
/// Of ports.
const PORTS: &[&str] = &["ports"];
/// Of an egress queue.
const QUEUE: &[&str] = &["link", "ports", "window"];
/// Of states of queues.
const STATES: &[&str] = &["ports", "state", "window"];
/// Of flows on links.
const SHARES: &[&str] = &["workload", "link", "window"];
/// Of senders.
const SENDERS: &[&str] = &["workload", "window"];
/// Of collectives.
const COLLECTIVES: &[&str] = &["workload", "operation", "size"];
/// Of workloads.
const WORKLOAD: &[&str] = &["workload"];
/// Of perftest's report.
const PERFTEST: &[&str] = &["workload", "column"];
/// Of the run.
const NOTHING: &[&str] = &[];

const LOWEST: Best = Best::Lowest;
const HIGHEST: Best = Best::Highest;

/// A kind without options that must be given.
const fn kind(
    name: &'static str,
    label: &'static str,
    unit: &'static str,
    best: Best,
    options: &'static [&'static str],
) -> Kind {
    Kind { name, label, unit, best, options, due: &[] }
}

/// A kind of a state, which must be given.
const fn of_state(name: &'static str, label: &'static str) -> Kind {
    Kind { due: &["state"], ..kind(name, label, "us", LOWEST, STATES) }
}

/// All of them.
pub static KINDS: &[Kind] = &[
    kind("fct-mean", "mean completion time", "us", LOWEST, FLOWS),
    kind("slowdown-mean", "mean slowdown", "", LOWEST, FLOWS),
    kind("fct-p50", "median completion time", "us", LOWEST, FLOWS),
    kind("slowdown-p50", "median slowdown", "", LOWEST, FLOWS),
    kind("fct-p95", "p95 completion time", "us", LOWEST, FLOWS),
    kind("slowdown-p95", "p95 slowdown", "", LOWEST, FLOWS),
    kind("fct-p99", "p99 completion time", "us", LOWEST, FLOWS),
    kind("slowdown-p99", "p99 slowdown", "", LOWEST, FLOWS),
    kind("fct-p999", "p99.9 completion time", "us", LOWEST, FLOWS),
    kind("slowdown-p999", "p99.9 slowdown", "", LOWEST, FLOWS),
    kind("normalised-fct-mean", "mean normalised completion time", "", LOWEST, FLOWS),
    kind("flows", "flows", "", HIGHEST, FLOWS),
    kind("unfinished", "unfinished flows", "", LOWEST, FLOWS),
    kind("last-finish", "end of the last flow", "ms", LOWEST, FLOWS),
    kind("goodput", "goodput", "Gbit/s", HIGHEST, FLOWS),
    kind("retransmitted", "bytes retransmitted", "B", LOWEST, FLOWS),
    kind("retransmission-time", "time of retransmissions", "us", LOWEST, FLOWS),
    kind("out-of-order", "packets out of order", "%", LOWEST, FLOWS),
    kind("timeouts", "timeouts", "", LOWEST, FLOWS),
    kind("latency-mean", "mean delay of packets", "us", LOWEST, WORKLOAD),
    kind("latency-p50", "median delay of packets", "us", LOWEST, WORKLOAD),
    kind("latency-p95", "p95 delay of packets", "us", LOWEST, WORKLOAD),
    kind("latency-p99", "p99 delay of packets", "us", LOWEST, WORKLOAD),
    kind("latency-p999", "p99.9 delay of packets", "us", LOWEST, WORKLOAD),
    kind("collective-mean", "mean time of a collective", "us", LOWEST, COLLECTIVES),
    kind("collective-max", "longest time of a collective", "us", LOWEST, COLLECTIVES),
    kind("algbw", "algorithm bandwidth", "Gbit/s", HIGHEST, COLLECTIVES),
    kind("busbw", "bus bandwidth", "Gbit/s", HIGHEST, COLLECTIVES),
    kind("straggler", "last rank behind the median", "us", LOWEST, COLLECTIVES),
    kind("iteration-mean", "mean time of an iteration", "us", LOWEST, WORKLOAD),
    kind("exposed-mean", "communication without computation", "us", LOWEST, WORKLOAD),
    kind("throughput", "throughput", "Gbit/s", HIGHEST, LINK),
    kind("utilisation", "utilisation", "%", HIGHEST, LINK),
    kind("lossless-utilisation", "utilisation, 0 where packets are lost", "%", HIGHEST, LINK),
    kind("peak-throughput", "highest throughput of a bucket", "Gbit/s", HIGHEST, LINK),
    kind("lowest-throughput", "lowest throughput of a bucket", "Gbit/s", HIGHEST, LINK),
    kind("throughput-stdev", "standard deviation of throughput", "Gbit/s", LOWEST, LINK),
    kind("idle", "time without a packet", "%", LOWEST, LINK),
    kind("idle-buckets", "buckets without a packet", "", LOWEST, LINK),
    kind("paused-time", "time paused", "us", LOWEST, PORTS),
    kind("pfc-frames", "pause frames received", "", LOWEST, PORTS),
    kind("peak-buffer", "most held by a port", "MB", LOWEST, PORTS),
    kind("max-queue", "longest queue", "KB", LOWEST, QUEUE),
    kind("mean-wait", "mean wait in the queue", "us", LOWEST, QUEUE),
    kind("ecn-marks", "packets marked CE", "", LOWEST, PORTS),
    kind("ue-marks", "packets marked UE", "", LOWEST, PORTS),
    kind("cnps-made", "CNPs made", "", LOWEST, PORTS),
    kind("cns-made", "CNs sent by ports", "", LOWEST, PORTS),
    kind("flow-moves", "moves of flows to other ports", "", LOWEST, PORTS),
    of_state("time-in-state", "time in a state"),
    of_state("first-in-state", "first time in a state"),
    kind("flow-throughput", "throughput of flows", "Gbit/s", HIGHEST, SHARES),
    kind("lowest-flow-throughput", "throughput of the flow that has least", "Gbit/s", HIGHEST, SHARES),
    kind("fairness", "Jain's index of fairness", "", HIGHEST, SHARES),
    kind("allowed-min", "lowest rate that a sender allowed", "Gbit/s", HIGHEST, SENDERS),
    kind("allowed-mean", "mean rate that senders allowed", "Gbit/s", HIGHEST, SENDERS),
    kind("drops", "packets dropped", "", LOWEST, PORTS),
    kind("lossless", "lossless (1) or not (0)", "", HIGHEST, NOTHING),
    kind("perftest-bandwidth", "bandwidth", "Gbit/s", HIGHEST, PERFTEST),
    kind("perftest-latency", "latency", "us", LOWEST, PERFTEST),
];

/// The kind of this name.
pub fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Their names.
pub fn names() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}

/// The names of all options.
pub const OPTIONS: &[&str] = &[
    "workload",
    "path-class",
    "from",
    "to",
    "size",
    "link",
    "window",
    "bucket",
    "ports",
    "state",
    "operation",
    "column",
];

//! The outcome of a run: its tables, and the verdicts on it.
//!
//! A run that violates one of these invariants fails: bytes injected = delivered + dropped + in flight; every
//! buffer account equals the bytes queued for it; every packet that arrived at a host had been sent to it; no
//! flow was faster than its ideal FCT. Whether lossless classes dropped packets, and whether they could have,
//! is a verdict.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::sizing::{Shortfall, Unproven};
use serde::Serialize;

use crate::table::Table;

/// Everything that a run keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    /// One row a flow.
    pub flows: Table,
    /// One row a (workload, component, bucket) of packet delay.
    pub latency: Table,
    /// One row a (watched object, metric, time bucket).
    pub series: Table,
    /// One row a (port, class).
    pub counters: Table,
    /// One row a pause or resume as it was received, where they are kept.
    pub pauses: Option<Table>,
    /// One row a mark, CNP or change of state of a congestion point, where they are kept.
    pub signals: Option<Table>,
    /// One row each time that a sender's allowance changed, where they are kept.
    pub allowances: Option<Table>,
    /// One row a chosen port, bucket of time and flow, where the blueprint asks for them.
    pub shares: Option<Table>,
    /// One row an operation of a rank that is complete, where there are jobs.
    pub operations: Option<Table>,
    /// One row a (switch's egress port, bin of queue length), where they are kept.
    pub queue_histogram: Option<Table>,
    /// Captured frames as a pcapng file, where some were to be captured.
    pub capture: Option<Vec<u8>>,
    /// Verdicts and totals.
    pub outcome: Outcome,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// All measured flows finished.
    Finished,
    /// The limit was reached.
    Limit,
    /// A deadlock was found.
    Deadlock,
    /// Somebody asked for it.
    Interrupted,
}

/// Verdicts and totals of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Why it ended.
    pub stopped: Stopped,
    /// Simulated time, in microseconds.
    pub simulated_us: f64,
    /// Of an interrupted run, whose parts of the network had come differently far: until when all of them
    /// were simulated, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_simulated_us: Option<f64>,
    /// Invariants; a breach of one is a bug.
    pub invariants: Invariants,
    /// Losses of lossless classes, and the verdict.
    pub lossless: Lossless,
    /// Deadlocks found.
    pub deadlocks: Vec<Deadlock>,
    /// What flow control still blocked at the end, although the other end held nothing; the longest first.
    pub blocked: Vec<Blocked>,
    /// What each workload offered and got.
    pub workloads: Vec<WorkloadTotals>,
    /// Bytes of packets that hosts sent, and what became of them.
    pub bytes: Conservation,
    /// Packets received over a link, data and replies alike.
    pub packet_hops: u64,
    /// Events by cause.
    pub events: Vec<(&'static str, u64)>,
    /// Packets dropped, by reason.
    pub drops: Vec<(&'static str, u64)>,
    /// CNPs that were made, whether they arrived or not.
    pub cnps: CnpTotals,
    /// What link retries sent, where links have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_retry: Option<RetryTotals>,
    /// What of the run was not simulated again, since it repeats what was: by part of the
    /// network, time and job.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// Why no iteration of a part was skipped, where a job has several and skips are not switched off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_skipped: Option<NotSkipped>,
    /// Most bytes that each switch's buffer held.
    pub devices: Vec<DevicePeak>,
    /// How much of the table of pauses there is, where it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pauses: Option<RowTotals>,
    /// How much of the table of signals there is, where it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals: Option<RowTotals>,
    /// How much of the table of allowances there is, where it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowances: Option<RowTotals>,
    /// How much of the table of operations there is, where there are jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<RowTotals>,
    /// How far each job came.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobTotals>,
    /// The instants of the table of queue lengths, where it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_samples: Option<QueueSamples>,
    /// How much of the table of shares there is, where it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<RowTotals>,
    /// What the capture holds, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureTotals>,
}

/// Who made CNPs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CnpTotals {
    /// Packets that congestion points of ports made.
    pub congestion_points: u64,
    /// Packets that receivers made.
    pub receivers: u64,
    /// Flags that receivers set in replies instead of packets, where a rate control reads those
    /// (`cnp = "ack-flag"`).
    pub flags: u64,
}

/// What link retries sent on all links, and did not accept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct RetryTotals {
    /// Frames that were sent again.
    pub replays: u64,
    /// Their bytes on the wire.
    pub replay_bytes: u64,
    /// Control ordered sets that acknowledge.
    pub acks: u64,
    /// Control ordered sets that ask for frames again.
    pub nacks: u64,
    /// Frames that arrived and were not accepted: damaged, behind a damaged one, or accepted before.
    pub discarded: u64,
    /// Frames that were given up, and are lost.
    pub given_up: u64,
}

impl RetryTotals {
    /// Adds those of another thread.
    pub fn absorb(&mut self, mut other: Self) {
        self.counts_mut().zip(other.counts_mut()).for_each(|(sum, more)| *sum += *more);
    }

    /// All of them.
    pub fn counts_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        let RetryTotals { replays, replay_bytes, acks, nacks, discarded, given_up } = self;
        [replays, replay_bytes, acks, nacks, discarded, given_up].into_iter()
    }
}

/// How much there is of a table that keeps rows up to a number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RowTotals {
    /// Rows of the table.
    pub rows: u64,
    /// Rows that came when it was full.
    pub beyond: u64,
}

/// The instants at which the queues of switches were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueueSamples {
    /// The first, in microseconds.
    pub from_us: f64,
    /// The last that the run came to, in microseconds; none if it ended before the first.
    pub to_us: Option<f64>,
    /// From one to the next, in microseconds.
    pub every_us: f64,
    /// Width of a bin of queue length.
    pub bin_bytes: u64,
    /// How many there were, the same for each port.
    pub instants: u64,
}

/// What a capture holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureTotals {
    /// Frames in it.
    pub packets: u64,
    /// Frames that it had no room for.
    pub missed: u64,
}

/// How full a switch's buffer was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DevicePeak {
    /// The switch.
    pub node: String,
    /// Most bytes that it held, all ports and classes together.
    pub peak_bytes: u64,
}

/// Invariants that hold in every run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Invariants {
    /// Injected = delivered + dropped + in flight, in bytes and packets.
    pub conservation: Verdict,
    /// Every buffer account equals what is queued, and is zero where nothing is.
    pub buffers: Verdict,
    /// Each packet that arrived at a host had been sent to it.
    pub destinations: Verdict,
    /// No flow finished before its ideal time.
    pub slowdown: Verdict,
}

/// Holds, or the first breach in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    Broken(String),
}

/// Losses of lossless classes, and the verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lossless {
    /// The verdict as one word.
    pub verdict: LosslessVerdict,
    /// The port that lacks most of what its flow control asks for to lose nothing, if one lacks anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short: Option<Shortfall>,
    /// Why sizes alone promise nothing, by reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unproven: Vec<Unproven>,
    /// Sizes assume that some upstream obeys a pause at once (`react = "0us"`).
    pub react_is_zero: bool,
    /// What was dropped because a buffer was full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Loss>,
    /// What was lost by failures: damaged frames, links that were down, no path, watchdogs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Failed>,
}

/// Whether lossless classes lost nothing because a buffer was full, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LosslessVerdict {
    /// No class had a lossless flow control.
    NotAsked,
    /// Nothing was dropped, and nothing can be: each lossless port has what its flow control asks for.
    HeldBySizing,
    /// Nothing was dropped in this run, though sizes do not promise it.
    HeldInRun,
    /// Something was dropped.
    Violated,
}

impl Lossless {
    /// Was nothing dropped because a buffer was full?
    pub fn is_held(&self) -> bool {
        matches!(self.verdict, LosslessVerdict::HeldBySizing | LosslessVerdict::HeldInRun)
    }
}

/// What lossless classes lost because a buffer was full.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Packets dropped in all.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many (port, class) dropped some.
    pub ports: u64,
    /// The one that dropped most bytes, as "node (link)".
    pub worst_place: String,
    /// Its dropped bytes.
    pub worst_port_bytes: u64,
    /// The ingress port of the first drop, as "node (link)".
    pub place: String,
    /// Its class.
    pub class: u8,
    /// When, in microseconds.
    pub time_us: f64,
    /// Bytes that its buffer lacked for the first drop.
    pub missing_bytes: u64,
}

/// What lossless classes lost by failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets by reason; reasons that did not occur are left out.
    pub drops: Vec<(&'static str, u64)>,
}

/// A cycle of paused queues.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deadlock {
    /// Since when it has stood, in microseconds: when the last of its pauses began. It is found one to two
    /// milliseconds later.
    pub time_us: f64,
    /// Its egress ports in order, as "node (link)"; each waits for the next.
    pub ports: Vec<String>,
}

/// A class of a port that had something to send, and that flow control blocked when the run ended, for longer
/// than a round trip of its link and a millisecond, although the other end held nothing of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocked {
    /// The egress port, as "node (link)".
    pub port: String,
    /// The class.
    pub class: u8,
    /// The flow control of the link's other end.
    pub flow_control: &'static str,
    /// How long it had been blocked, in microseconds.
    pub blocked_us: f64,
}

/// What a workload offered and got.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadTotals {
    /// Its name.
    pub name: String,
    /// Flows started.
    pub flows: u64,
    /// Flows finished.
    pub finished: u64,
    /// Measured flows started.
    pub measured: u64,
    /// Measured flows finished.
    pub measured_finished: u64,
    /// Payload bytes of started flows (of unbounded ones, what was delivered).
    pub offered_bytes: u64,
    /// Payload bytes delivered.
    pub delivered_bytes: u64,
    /// Flows that waited for others at the end and have no row.
    pub never_started: u64,
    /// Span over which flows started, in microseconds.
    pub span_us: f64,
}

/// How far a job came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JobTotals {
    /// Its workload's name.
    pub workload: String,
    /// Its ranks.
    pub ranks: u64,
    /// Ranks that completed their program.
    pub finished: u64,
    /// How often each rank executes its program, if none is skipped.
    pub iterations: u32,
    /// Micro-batches in the steady part of an iteration's schedule, fewest of all ranks.
    pub micro_batches: u32,
    /// Messages within scale-up domains, which are no packets and no flows.
    pub scale_up_messages: u64,
    /// Their payload.
    pub scale_up_bytes: u64,
    /// Of the ranks that did not, some operations that had started and were not complete, in words.
    pub waiting: Vec<String>,
}

/// Where the bytes went: frames as buffers hold them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Conservation {
    /// Sent by hosts.
    pub injected: u64,
    /// Received by hosts.
    pub delivered: u64,
    /// Dropped.
    pub dropped: u64,
    /// On links and in queues at the end.
    pub in_flight: u64,
}

impl Conservation {
    /// Whether every byte is accounted for.
    pub fn verdict(&self) -> Verdict {
        let accounted = self.delivered + self.dropped + self.in_flight;
        if self.injected == accounted {
            return Verdict::Holds;
        }
        Verdict::Broken(format!("{} B were injected, {accounted} B are accounted for", self.injected))
    }
}

/// Iterations or micro-batches of a job that are equal to earlier ones, to the picosecond, and were not
/// simulated again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The job's workload.
    pub workload: String,
    /// The iteration whose repetition was found, from 0: the state of the whole network a while after it
    /// began recurred. Of micro-batches the iteration in which they are.
    pub iteration: u32,
    /// Of micro-batches, the one whose repetition was found: of those that the first rank works on in the
    /// steady part of the schedule, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micro_batch: Option<u32>,
    /// After how many iterations, or micro-batches, it recurs.
    pub period: u32,
    /// Iterations that were skipped; 0 of micro-batches.
    pub iterations: u32,
    /// Micro-batches of the iteration that were skipped.
    pub micro_batches: u32,
    /// All iterations of the job.
    pub of: u32,
    /// All micro-batches in the steady part of an iteration's schedule.
    pub of_micro_batches: u32,
    /// Simulated time that was skipped, in picoseconds: that of all jobs of which iterations were skipped at
    /// once.
    pub time_ps: u64,
}

/// Why no iteration of a job was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotSkipped {
    /// The job's workload.
    pub workload: String,
    /// Its iterations.
    pub of: u32,
    /// How often the state of the network was compared with earlier ones.
    pub looks: u32,
    /// Why, in words.
    pub why: String,
    /// What differed between the last two looks, by kind of part.
    pub differences: Vec<Difference>,
}

/// Parts of one kind of the state of a network that differed between two looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The kind: "ports", "queue pairs".
    pub parts: &'static str,
    /// All parts of the kind.
    pub of: u64,
    /// Those that differed.
    pub differing: u64,
    /// The name of the first one.
    pub first: String,
    /// The field of it that differed first.
    pub field: String,
    /// What that held at the look before the last; times count from the look.
    pub before: String,
    /// What it held at the last look.
    pub now: String,
}

/// Shared between a run and its observer.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to end the run within a fraction of a second.
    pub stop: AtomicBool,
    /// Set together with `stop` where there is too little memory left for what is complete, which is then not
    /// handed out.
    pub short_of_memory: AtomicBool,
    /// Simulated picoseconds so far.
    pub time: AtomicU64,
    /// The limit; 0 before the run.
    pub limit: AtomicU64,
    /// Flows finished so far.
    pub flows_done: AtomicU64,
    /// Flows started so far.
    pub flows_started: AtomicU64,
    /// Packet-hops so far.
    pub packet_hops: AtomicU64,
    /// How far the run is, in millionths of the way to its end.
    pub millionths: AtomicU64,
    /// Whether that is by its work, not by the simulated time of its limit.
    pub by_work: AtomicBool,
    /// Payload of its lists and loops.
    pub bytes: Amount,
    /// Operations of its jobs.
    pub operations: Amount,
}

impl Control {
    /// The run begins again: nothing of it is done.
    pub fn begin_again(&self) {
        let Control { time, flows_done, flows_started, packet_hops, millionths, bytes, operations, .. } =
            self;
        for done in [time, flows_done, flows_started, packet_hops, millionths, &bytes.done, &operations.done]
        {
            done.store(0, Ordering::Relaxed);
        }
    }
}

/// A part of a whole, both numbers of one kind.
#[derive(Debug, Default)]
pub struct Amount {
    /// What is done.
    pub done: AtomicU64,
    /// All of it; 0 where there is none.
    pub total: AtomicU64,
}

impl Amount {
    /// What is done never becomes less.
    pub fn set(&self, done: u64, total: u64) {
        self.done.fetch_max(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }
}

impl Control {
    /// Ends the run within a fraction of a second, and keeps nothing of it.
    pub fn give_up(&self) {
        self.short_of_memory.store(true, Ordering::Relaxed);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How far the run is, from 0 to 1: by its work, or by the simulated time, whichever is further. It never
    /// goes back.
    pub fn share(&self) -> f64 {
        let part = |of: &AtomicU64| of.load(Ordering::Relaxed) as f64;
        let limit = part(&self.limit);
        let time = if limit > 0.0 { part(&self.time) / limit } else { 0.0 };
        time.max(part(&self.millionths) / 1e6).min(1.0)
    }
}

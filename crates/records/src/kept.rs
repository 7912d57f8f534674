//! Records of a run in progress.

pub mod rows;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::blueprint::{Blueprint, RecordSpec};

use crate::allowances::AllowanceLog;
use crate::capture::Capture;
use crate::histogram::Instants;
use crate::operations::OperationLog;
use crate::outcome::{Blocked, Deadlock, RetryTotals};
use crate::pauses::PauseLog;
use crate::shares::{Bucket, ShareLog};
use crate::signals::SignalLog;
use crate::standstill::Standstill;
use crate::tally::Records;

/// How many kinds of events are counted.
pub const EVENT_KINDS: usize = 16;

/// Records of the nodes of one thread: no event depends on them. What is skipped is not sent to other
/// processes.
#[derive(BorshSerialize, BorshDeserialize)]
pub struct Kept {
    /// Events so far, by kind.
    pub counts: [u64; EVENT_KINDS],
    /// Where the instants at which queues are sampled lie among events.
    #[borsh(skip)]
    pub instants: Instants,
    /// Finds a clock that stands still.
    #[borsh(skip)]
    pub standstill: Standstill,
    /// Where they are kept.
    pub pauses: Option<PauseLog>,
    /// Where they are kept.
    pub signals: Option<SignalLog>,
    /// Where they are kept.
    pub allowances: Option<AllowanceLog>,
    /// Where they are kept.
    pub shares: Option<ShareLog>,
    /// Where ranks of jobs execute operations.
    pub operations: Option<OperationLog>,
    /// By workload: messages within scale-up domains, and their bytes.
    pub scale_up: Vec<(u64, u64)>,
    /// Of flows, and totals.
    pub records: Records,
    /// Frames of chosen ports.
    #[borsh(skip)]
    pub capture: Capture,
    /// Those that were found, each once.
    #[borsh(skip)]
    pub deadlocks: Vec<Deadlock>,
    /// Found when the run is over.
    #[borsh(skip)]
    pub blocked: Vec<Blocked>,
    /// Packets received over a link.
    pub packet_hops: u64,
    /// What link retries sent.
    pub retries: RetryTotals,
    /// Of these, the number reported to the observer of the run.
    #[borsh(skip)]
    pub reported: u64,
}

impl Kept {
    /// Of a run of `blueprint`, before it begins.
    pub fn new(blueprint: &Blueprint) -> Self {
        let RecordSpec { queue_histogram, pauses, signals, allowances, shares, capture, .. } =
            &blueprint.records;
        Kept {
            counts: Default::default(),
            instants: Instants::new(queue_histogram.as_ref(), blueprint.semantics.ties),
            standstill: Standstill::default(),
            pauses: pauses.map(PauseLog::new),
            signals: signals.map(SignalLog::new),
            allowances: allowances.as_ref().map(|spec| AllowanceLog::new(spec, blueprint.workloads.len())),
            shares: shares.as_ref().map(ShareLog::new),
            operations: OperationLog::new(blueprint),
            scale_up: vec![(0, 0); blueprint.workloads.len()],
            records: Records::new(blueprint),
            capture: capture.as_ref().map(Capture::new).unwrap_or_default(),
            deadlocks: Vec::new(),
            blocked: Vec::new(),
            packet_hops: 0,
            retries: RetryTotals::default(),
            reported: 0,
        }
    }

    /// The event of an arrival is that of a packet that was lost when its link went down: nothing happens.
    #[cold]
    pub fn was_lost(&mut self, kind: usize) {
        self.counts[kind] -= 1;
    }

    /// Adds the records of another thread.
    pub fn absorb(&mut self, other: Kept) {
        self.records.absorb(other.records);
        self.packet_hops += other.packet_hops;
        self.retries.absorb(other.retries);
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        if let (Some(log), Some(more)) = (&mut self.pauses, other.pauses) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.signals, other.signals) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.allowances, other.allowances) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.shares, other.shares) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.operations, other.operations) {
            log.absorb(more);
        }
        for (sum, more) in self.scale_up.iter_mut().zip(other.scale_up) {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
    }

    /// All numbers that only grow by what happens.
    pub fn counts_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        let Kept {
            counts,
            instants: _,
            standstill: _,
            pauses: _,
            signals: _,
            allowances: _,
            shares: _,
            operations: _,
            scale_up,
            records,
            capture: _,
            deadlocks: _,
            blocked: _,
            packet_hops,
            retries,
            reported: _,
        } = self;
        let scale_up = scale_up.iter_mut().flat_map(|(messages, bytes)| [messages, bytes]);
        counts
            .iter_mut()
            .chain(scale_up)
            .chain([packet_hops])
            .chain(retries.counts_mut())
            .chain(records.counts_mut())
    }

    /// Keeps a deadlock that was found, if it is new.
    pub fn note_deadlock(&mut self, found: Option<Deadlock>) {
        let is_new = |found: &Deadlock| self.deadlocks.iter().all(|known| known.ports != found.ports);
        let new = found.filter(is_new);
        self.deadlocks.extend(new);
    }

    /// Puts what was written down as it came in order.
    pub fn close_logs(&mut self) {
        self.pauses.iter_mut().for_each(PauseLog::close);
        self.signals.iter_mut().for_each(SignalLog::close);
        self.allowances.iter_mut().for_each(AllowanceLog::close);
        self.shares.iter_mut().for_each(ShareLog::close);
        self.operations.iter_mut().for_each(OperationLog::close);
    }

    /// Writes down what is in buckets of shares that are being filled at the end of the run.
    pub fn end_buckets<'b>(&mut self, buckets: impl Iterator<Item = &'b mut Bucket>, end: u64) {
        let Some(log) = &mut self.shares else { return };
        buckets.for_each(|bucket| log.end(end, bucket));
    }

    /// Events by cause so far, which are the names of the kinds in their order.
    pub fn event_counts(&self, names: [&'static str; EVENT_KINDS]) -> Vec<(&'static str, u64)> {
        let mut named: Vec<(&'static str, u64)> = Vec::new();
        for (of, &count) in names.into_iter().zip(&self.counts) {
            match named.iter_mut().find(|(name, _)| *name == of) {
                Some(entry) => entry.1 += count,
                None => named.push((of, count)),
            }
        }
        named.retain(|&(_, count)| count > 0);
        named
    }

    /// What another process adds to its own.
    pub fn into_part(self) -> KeptPart {
        KeptPart(self)
    }
}

/// Records of the nodes of one process, which others add to theirs. Deadlocks are found by all processes
/// together, and captures are of one alone.
#[derive(BorshSerialize, BorshDeserialize)]
pub struct KeptPart(Kept);

impl KeptPart {
    /// As records of a run of `blueprint`; what was not sent is as before the run begins.
    pub fn into_kept(self, blueprint: &Blueprint) -> Kept {
        let Kept { instants, capture, .. } = Kept::new(blueprint);
        Kept { instants, capture, ..self.0 }
    }
}

//! Tallies of a run in progress: flows that ended, packet delays, totals.

pub mod flows;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::blueprint::{Blueprint, UNBOUNDED};
use floodway_engine::memory;
use floodway_units::{Time, name_key};

use crate::delays::Delays;
use crate::outcome::Conservation;
use crate::strays::Strays;

/// What names a flow, and its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct FlowKey {
    /// When it started, in picoseconds.
    pub start: u64,
    /// Its workload in the blueprint.
    pub workload: u32,
    /// The node that sends.
    pub source: u32,
    /// Among the flows of its workload's source.
    pub number: u64,
}

/// The sender's part of a flow's row.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct SentRow {
    /// Of which flow.
    pub key: FlowKey,
    /// The node that receives.
    pub destination: u32,
    /// As switches hash them: source, destination.
    pub ports: (u16, u16),
    /// Index among the run's classes.
    pub class: u8,
    /// Payload.
    pub size: u64,
    /// When all of it was acknowledged.
    pub finish: u64,
    /// Ideal completion time, in picoseconds.
    pub ideal: u64,
    /// Payload that was sent again.
    pub retransmitted: u64,
    /// Timers that ran out.
    pub timeouts: u32,
    /// CNPs that arrived.
    pub cnps: u32,
    /// It started within the time that is measured.
    pub measured: bool,
}

/// The receiver's part of a flow's row.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct ReceivedRow {
    /// Of which flow.
    pub key: FlowKey,
    /// When all of it had arrived.
    pub finish: u64,
    /// Payload.
    pub delivered: u64,
    /// Data packets that came until it was complete, and of these the ones that came after one that was sent
    /// later.
    pub packets: u32,
    /// See `packets`.
    pub overtaken: u32,
}

/// A flow's row.
pub type FlowRow<'a> = (&'a SentRow, &'a ReceivedRow);

/// The first packet that a lossless account had no room for.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct FirstDrop {
    /// The account, among those of the network.
    pub port_class: usize,
    /// When.
    pub time: u64,
    /// Of the event.
    pub order: u64,
    /// Bytes that the account lacked.
    pub missing: u64,
}

/// Totals of a workload.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct Totals {
    /// Flows that started.
    pub flows: u64,
    /// Of these, those that are complete at the receiver.
    pub finished: u64,
    /// Measured flows that started.
    pub measured: u64,
    /// Of these, those that are complete at the receiver.
    pub measured_finished: u64,
    /// Of these complete at the sender, too.
    pub measured_sent: u64,
    /// Payload of flows that started, but for unbounded ones.
    pub offered: u64,
    /// Payload that receivers accepted.
    pub delivered: u64,
    /// Operations of a job that are complete, and of these computations.
    pub operations: u64,
    /// See `operations`.
    pub computed: u64,
    /// By the time of the run.
    pub first_start: Option<u64>,
    /// By the time of the run.
    pub last_start: u64,
}

impl Totals {
    /// Adds what another thread has counted.
    pub fn absorb(&mut self, other: &Totals) {
        let mut more = other.clone();
        self.counts_mut().into_iter().zip(more.counts_mut()).for_each(|(sum, more)| *sum += *more);
        self.first_start = self.first_start.into_iter().chain(other.first_start).min();
        self.last_start = self.last_start.max(other.last_start);
    }

    fn counts_mut(&mut self) -> [&mut u64; 9] {
        let Totals {
            flows,
            finished,
            measured,
            measured_finished,
            measured_sent,
            offered,
            delivered,
            operations,
            computed,
            first_start: _,
            last_start: _,
        } = self;
        [
            flows,
            finished,
            measured,
            measured_finished,
            measured_sent,
            offered,
            delivered,
            operations,
            computed,
        ]
    }

    /// Measured flows that have started and not finished; at their senders either, if so asked.
    pub fn measured_open(&self, acknowledged: bool) -> u64 {
        let sent = if acknowledged { self.measured_sent } else { self.measured };
        self.measured - self.measured_finished.min(sent)
    }
}

/// What is kept while a run goes.
#[derive(BorshSerialize, BorshDeserialize)]
pub struct Records {
    keys: Vec<u64>,
    /// Of flows that are over, or that the run's end found open: each has a row in both.
    pub sent_rows: Vec<SentRow>,
    /// See `sent_rows`.
    pub received_rows: Vec<ReceivedRow>,
    /// By workload: the components of packet delay, in nanoseconds.
    pub delays: Delays,
    /// By workload.
    pub totals: Vec<Totals>,
    /// Where bytes went; what is in flight is found at the end.
    pub bytes: Conservation,
    /// Packets at hosts that they were not sent to.
    pub strays: Strays,
    /// Of the lossless accounts that had no room.
    pub first_drop: Option<FirstDrop>,
    /// Flows of all workloads that started.
    pub flows_started: u64,
    /// Of these, those that are complete.
    pub flows_done: u64,
}

impl Records {
    /// For the workloads of a blueprint.
    pub fn new(blueprint: &Blueprint) -> Self {
        let workloads = &blueprint.workloads;
        Records {
            keys: workloads.iter().map(|workload| name_key(&workload.name)).collect(),
            sent_rows: Vec::new(),
            received_rows: Vec::new(),
            delays: Delays::new(workloads.len()),
            totals: vec![Totals::default(); workloads.len()],
            bytes: Conservation::default(),
            strays: Strays::default(),
            first_drop: None,
            flows_started: 0,
            flows_done: 0,
        }
    }

    /// A key of a workload's name.
    pub fn workload_key(&self, workload: u32) -> u64 {
        self.keys[workload as usize]
    }

    /// A flow of so many bytes starts, at this time of the run.
    pub fn started(&mut self, workload: u32, (measured, size): (bool, u64), start: u64) {
        self.flows_started += 1;
        let totals = &mut self.totals[workload as usize];
        totals.flows += 1;
        totals.measured += u64::from(measured);
        if size < UNBOUNDED.0 {
            totals.offered += size;
        }
        totals.first_start = Some(totals.first_start.map_or(start, |first| first.min(start)));
        totals.last_start = totals.last_start.max(start);
    }

    /// All bytes of a flow have arrived.
    pub fn received(&mut self, workload: u32, measured: bool) {
        self.flows_done += 1;
        let totals = &mut self.totals[workload as usize];
        totals.finished += 1;
        totals.measured_finished += u64::from(measured);
    }

    /// A flow is complete at its sender.
    pub fn sent(&mut self, workload: u32, measured: bool) {
        self.totals[workload as usize].measured_sent += u64::from(measured);
    }

    /// Payload that a receiver has accepted.
    #[inline]
    pub fn accepted(&mut self, workload: u32, bytes: u64) {
        self.totals[workload as usize].delivered += bytes;
    }

    /// Puts the rows of flows in the order of the table, of which each part is complete by now.
    pub fn sort_rows(&mut self) {
        self.sent_rows.sort_unstable_by_key(|row| row.key);
        self.received_rows.sort_unstable_by_key(|row| row.key);
    }

    /// Sorted rows of flows, both parts put together.
    pub fn rows(&self) -> impl Iterator<Item = FlowRow<'_>> {
        debug_assert_eq!(self.sent_rows.len(), self.received_rows.len(), "each flow has two parts");
        let rows = self.sent_rows.iter().zip(&self.received_rows);
        rows.inspect(|(sent, received)| debug_assert_eq!(sent.key, received.key, "of one flow"))
    }

    /// A data packet has arrived: its delay from the NIC on, in picoseconds.
    #[inline]
    pub fn latency(&mut self, workload: u32, total: u64, base: u64, paused: u64) {
        let waited = total.saturating_sub(base);
        let paused = paused.min(waited);
        self.delays.count(workload, [total, base, waited - paused, paused]);
    }

    /// A host sends a frame of so many bytes.
    #[inline]
    pub fn injected(&mut self, frame: u64) {
        self.bytes.injected += frame;
    }

    /// A host has received a frame of so many bytes.
    #[inline]
    pub fn delivered(&mut self, frame: u64) {
        self.bytes.delivered += frame;
    }

    /// A frame of so many bytes is dropped.
    pub fn dropped(&mut self, frame: u64) {
        self.bytes.dropped += frame;
    }

    /// A lossless account had no room.
    pub fn lossless_drop(&mut self, drop: FirstDrop) {
        let drops = self.first_drop.into_iter().chain([drop]);
        self.first_drop = drops.min_by_key(|drop| (drop.time, drop.order));
    }

    /// All numbers that only grow by what happens.
    pub fn counts_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        let Records {
            keys: _,
            sent_rows: _,
            received_rows: _,
            delays,
            totals,
            bytes,
            strays,
            first_drop: _,
            flows_started,
            flows_done,
        } = self;
        // What is in flight is found at the end.
        let Conservation { injected, delivered, dropped, in_flight: _ } = bytes;
        let bytes = [injected, delivered, dropped, &mut strays.count, flows_started, flows_done];
        bytes.into_iter().chain(totals.iter_mut().flat_map(Totals::counts_mut)).chain(delays.counts_mut())
    }

    /// What happened from `begin` on is repeated, so that the last of it comes so much later.
    pub fn repeat_last_starts(&mut self, begin: u64, later: u64) {
        for totals in self.totals.iter_mut().filter(|totals| totals.last_start >= begin) {
            totals.last_start += later;
        }
    }

    /// Adds what another thread has kept.
    pub fn absorb(&mut self, other: Records) {
        memory::extend(&mut self.sent_rows, other.sent_rows);
        memory::extend(&mut self.received_rows, other.received_rows);
        self.totals.iter_mut().zip(&other.totals).for_each(|(totals, more)| totals.absorb(more));
        self.delays.absorb(&other.delays);
        self.bytes.injected += other.bytes.injected;
        self.bytes.delivered += other.bytes.delivered;
        self.bytes.dropped += other.bytes.dropped;
        self.strays.absorb(other.strays);
        let drops = self.first_drop.into_iter().chain(other.first_drop);
        self.first_drop = drops.min_by_key(|drop| (drop.time, drop.order));
        self.flows_started += other.flows_started;
        self.flows_done += other.flows_done;
    }

    /// Span over which a workload's flows started.
    pub fn span(&self, workload: usize) -> f64 {
        let totals = &self.totals[workload];
        Time(totals.last_start - totals.first_start.unwrap_or(totals.last_start)).as_us()
    }
}

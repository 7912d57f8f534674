//! The log of operations: what ranks of jobs have completed.

mod table;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::blueprint::{Arrivals, Blueprint};
use floodway_programs::walker::Ended;

use crate::log::{Log, Logged};
use crate::outcome::RowTotals;

/// Operations in the order in which they were complete, up to a number of them.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct OperationLog {
    log: Log<Row>,
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Row {
    /// Among the ranks of all jobs.
    rank: u32,
    ended: Ended,
}

/// Bytes of a row.
pub const OPERATION_BYTES: u64 = size_of::<Row>() as u64;

impl Logged for Row {
    type TieKey = u32;

    fn time(&self) -> u64 {
        self.ended.end.0
    }

    fn tie_key(&self) -> u32 {
        self.rank
    }
}

impl OperationLog {
    /// Of a run of `blueprint`, if that has jobs.
    pub fn new(blueprint: &Blueprint) -> Option<Self> {
        let has_jobs =
            blueprint.workloads.iter().any(|workload| matches!(workload.arrivals, Arrivals::Program(_)));
        has_jobs.then(|| OperationLog { log: Log::new(blueprint.records.operations) })
    }

    /// An operation of a rank is complete.
    pub fn push(&mut self, rank: u32, ended: Ended) {
        self.log.push(Row { rank, ended });
    }

    /// Takes all rows out.
    pub fn take(&mut self) -> Self {
        OperationLog { log: self.log.take() }
    }

    /// Moves its rows, each by `moved`, which gets its rank.
    pub(crate) fn move_by(&mut self, later: u64, moved: impl Fn(u32, &mut Ended)) {
        self.log.move_by(later, |row| moved(row.rank, &mut row.ended));
    }

    /// Adds the rows of another thread.
    pub fn absorb(&mut self, other: OperationLog) {
        self.log.absorb(other.log);
    }

    /// Puts the rows in order, and drops those beyond the most that are kept.
    pub fn close(&mut self) {
        self.log.close();
    }

    /// How much of the table there is.
    pub fn totals(&self) -> RowTotals {
        self.log.totals()
    }
}

//! Rows of the tables that a run keeps, apart from its counts: those of a period that is repeated are written
//! as often.

use floodway_engine::memory;
use floodway_programs::Message;

use super::Kept;
use crate::records::allowances::AllowanceLog;
use crate::records::operations::OperationLog;
use crate::records::pauses::PauseLog;
use crate::records::signals::SignalLog;
use crate::records::tally::{FlowKey, ReceivedRow, SentRow};
use crate::run::events::NEVER;

/// Rows of a part of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    sent: Vec<SentRow>,
    received: Vec<ReceivedRow>,
    pauses: Option<PauseLog>,
    signals: Option<SignalLog>,
    allowances: Option<AllowanceLog>,
    operations: Option<OperationLog>,
}

/// By how much rows come later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Later<'l> {
    pub ps: u64,
    /// By workload.
    pub iterations: &'l [u32],
    /// By rank of a job: its workload.
    pub workload_of: &'l [u32],
}

impl Kept {
    /// Takes all rows out.
    pub fn take_rows(&mut self) -> Rows {
        Rows {
            sent: std::mem::take(&mut self.records.sent_rows),
            received: std::mem::take(&mut self.records.received_rows),
            pauses: self.pauses.as_mut().map(PauseLog::take),
            signals: self.signals.as_mut().map(SignalLog::take),
            allowances: self.allowances.as_mut().map(AllowanceLog::take),
            operations: self.operations.as_mut().map(OperationLog::take),
        }
    }

    /// Puts rows back, where there are none.
    pub fn put_rows(&mut self, rows: Rows) {
        let Rows { sent, received, pauses, signals, allowances, operations } = rows;
        (self.records.sent_rows, self.records.received_rows) = (sent, received);
        (self.pauses, self.signals, self.allowances, self.operations) =
            (pauses, signals, allowances, operations);
    }
}

impl Rows {
    /// Adds others, which come after these at each node.
    pub fn absorb(&mut self, other: Rows) {
        let Rows { sent, received, pauses, signals, allowances, operations } = other;
        memory::extend(&mut self.sent, sent);
        memory::extend(&mut self.received, received);
        join(&mut self.pauses, pauses, PauseLog::absorb);
        join(&mut self.signals, signals, SignalLog::absorb);
        join(&mut self.allowances, allowances, AllowanceLog::absorb);
        join(&mut self.operations, operations, OperationLog::absorb);
    }

    /// The same rows, so much later.
    #[must_use]
    pub fn moved(mut self, later: Later<'_>) -> Self {
        let iterations = |workload: u32| later.iterations[workload as usize];
        let key = |key: &mut FlowKey| {
            key.start += later.ps;
            key.number += Message::iterations(iterations(key.workload));
        };
        let finish = |at: &mut u64| {
            if *at != NEVER {
                *at += later.ps;
            }
        };
        for row in &mut self.sent {
            key(&mut row.key);
            finish(&mut row.finish);
        }
        for row in &mut self.received {
            key(&mut row.key);
            finish(&mut row.finish);
        }
        self.pauses.iter_mut().for_each(|log| log.move_by(later.ps));
        self.signals.iter_mut().for_each(|log| log.move_by(later.ps));
        self.allowances.iter_mut().for_each(|log| log.move_by(later.ps));
        let of_rank = |rank: u32| iterations(later.workload_of[rank as usize]);
        self.operations.iter_mut().for_each(|log| log.move_by(later.ps, of_rank));
        self
    }
}

fn join<L>(all: &mut Option<L>, more: Option<L>, absorb: impl FnOnce(&mut L, L)) {
    match (all.as_mut(), more) {
        (Some(log), Some(more)) => absorb(log, more),
        (None, more) => *all = more,
        (Some(_), None) => {}
    }
}

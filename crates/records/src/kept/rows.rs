//! Rows of the tables that a run keeps, apart from its counts: those of a period that is repeated are written
//! as often.

use floodway_blueprint::NEVER;
use floodway_engine::memory;
use floodway_programs::walker::Ended;
use floodway_programs::{Message, Rounds};
use rustc_hash::FxHashMap;

use super::Kept;
use crate::allowances::AllowanceLog;
use crate::operations::OperationLog;
use crate::pauses::PauseLog;
use crate::signals::SignalLog;
use crate::tally::{FlowKey, ReceivedRow, SentRow};

/// Rows of a part of a run.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    sent: Vec<SentRow>,
    received: Vec<ReceivedRow>,
    pauses: Option<PauseLog>,
    signals: Option<SignalLog>,
    allowances: Option<AllowanceLog>,
    operations: Option<OperationLog>,
}

/// By how much rows come later.
#[derive(Clone, Copy, Debug)]
pub struct Later<'l> {
    /// Picoseconds.
    pub ps: u64,
    /// By workload.
    pub iterations: &'l [u32],
    /// Workload, iteration as it has its rows, and rounds of that by which they come later.
    pub rounds: &'l [(u32, u32, u32)],
    /// By which rows of jobs find their rank.
    pub ranks: &'l Ranks,
}

/// What is to be known of ranks to move their rows.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    /// By rank: its workload, and the rounds of its graph.
    pub of: Vec<(u32, Option<Rounds>)>,
    /// By workload, host, and which of the host's ranks it is.
    pub by_place: FxHashMap<(u32, u32, u8), u32>,
}

impl Later<'_> {
    /// By how many operations those of an iteration of a rank come later.
    fn operations(&self, rank: u32, iteration: u32) -> u32 {
        let (workload, rounds) = self.ranks.of[rank as usize];
        let of_iteration = self.rounds.iter().filter(|&&(of, at, _)| (of, at) == (workload, iteration));
        let moved: u32 = of_iteration.map(|&(.., rounds)| rounds).sum();
        moved * rounds.map_or(0, |rounds| rounds.stride)
    }

    /// A flow of a job has another number then.
    fn move_key(&self, key: &mut FlowKey) {
        key.start += self.ps;
        let (number, local) = (key.number, (key.number >> Message::BITS) as u8);
        key.number += Message::iterations(self.iterations[key.workload as usize]);
        if !self.rounds.is_empty()
            && let Some(&rank) = self.ranks.by_place.get(&(key.workload, key.source, local))
        {
            key.number += Message::operations(self.operations(rank, Message::of(number).iteration));
        }
    }

    fn move_operation(&self, rank: u32, ended: &mut Ended) {
        let (workload, rounds) = self.ranks.of[rank as usize];
        let later = self.operations(rank, ended.iteration);
        let first = rounds.map_or(0, |rounds| rounds.first);
        ended.operation += later;
        ended.after = ended.after.map(|after| if after < first { after } else { after + later });
        ended.iteration += self.iterations[workload as usize];
        for at in [&mut ended.ready, &mut ended.start, &mut ended.end] {
            at.0 += self.ps;
        }
    }
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
        let finish = |at: &mut u64| {
            if *at != NEVER {
                *at += later.ps;
            }
        };
        for row in &mut self.sent {
            later.move_key(&mut row.key);
            finish(&mut row.finish);
        }
        for row in &mut self.received {
            later.move_key(&mut row.key);
            finish(&mut row.finish);
        }
        self.pauses.iter_mut().for_each(|log| log.move_by(later.ps));
        self.signals.iter_mut().for_each(|log| log.move_by(later.ps));
        self.allowances.iter_mut().for_each(|log| log.move_by(later.ps));
        let moved = |rank: u32, ended: &mut Ended| later.move_operation(rank, ended);
        self.operations.iter_mut().for_each(|log| log.move_by(later.ps, moved));
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

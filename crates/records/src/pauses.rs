//! The log of pauses and resumes, each as it was received.

mod table;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::cast::narrow;

use crate::log::{Log, Logged};
use crate::outcome::RowTotals;

/// Pauses and resumes in the order in which they came, up to a number of them.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct PauseLog {
    log: Log<Row>,
}

/// A pause or resume.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Row {
    time: u64,
    /// Of the event by which it came.
    order: u64,
    /// The egress (port, class) that it applies to.
    port_class: u32,
    pauses: bool,
}

impl Logged for Row {
    type TieKey = u64;

    fn time(&self) -> u64 {
        self.time
    }

    /// Classes of one frame stay in its order.
    fn tie_key(&self) -> u64 {
        self.order
    }
}

impl PauseLog {
    /// Keeps at most this many rows.
    pub fn new(most: usize) -> Self {
        PauseLog { log: Log::new(most) }
    }

    /// A pause, or a resume, has arrived for what `port_class` sends.
    pub fn received(&mut self, (time, order): (u64, u64), port_class: usize, pauses: bool) {
        self.log.push(Row { time, order, port_class: narrow(port_class), pauses });
    }

    /// Takes all rows out.
    pub fn take(&mut self) -> Self {
        PauseLog { log: self.log.take() }
    }

    /// Moves its rows.
    pub(crate) fn move_by(&mut self, later: u64) {
        self.log.move_by(later, |row| row.time += later);
    }

    /// Adds the rows of another thread.
    pub fn absorb(&mut self, other: PauseLog) {
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

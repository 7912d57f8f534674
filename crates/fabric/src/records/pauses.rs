//! The log of pauses and resumes, each as it was received.

use crate::records::log::{Log, Logged};
use crate::records::outcome::RowTotals;
use crate::records::table::{Table, Values};
use crate::run::world::World;

/// Pauses and resumes in the order in which they came, up to a number of them.
#[derive(Debug)]
pub(crate) struct PauseLog {
    log: Log<Row>,
}

/// A pause or resume.
#[derive(Clone, Copy, Debug)]
struct Row {
    time: u64,
    /// Of the event by which it came.
    order: u64,
    /// The egress (port, class) that it speaks of.
    lane: u32,
    pauses: bool,
}

impl Logged for Row {
    type Place = u64;

    fn time(&self) -> u64 {
        self.time
    }

    /// What one frame says of several classes stays in its order.
    fn place(&self) -> u64 {
        self.order
    }
}

impl PauseLog {
    /// Keeps at most this many rows.
    pub fn new(most: usize) -> Self {
        PauseLog { log: Log::new(most) }
    }

    /// A pause, or a resume, has arrived for what `lane` sends.
    pub fn heard(&mut self, (time, order): (u64, u64), lane: usize, pauses: bool) {
        self.log.push(Row { time, order, lane: lane as u32, pauses });
    }

    /// Takes over what another partition has heard.
    pub fn absorb(&mut self, other: PauseLog) {
        self.log.absorb(other.log);
    }

    pub fn close(&mut self) {
        self.log.close();
    }

    pub fn totals(&self) -> RowTotals {
        self.log.totals()
    }
}

impl World<'_> {
    /// One row for each pause or resume that was received; none where they are not kept.
    pub fn pause_table(&self) -> Option<Table> {
        let rows = self.run.kept.pauses.as_ref()?.log.rows();
        let classes = self.facts.layout.classes.len();
        let port_of = |row: &Row| row.lane as usize / classes;
        let numbers = self.port_numbers();
        let codes = |of: &dyn Fn(&Row) -> u32| rows.iter().map(of).collect();
        let events = vec!["pause".to_owned(), "resume".to_owned()];
        let class = |row: &Row| u64::from(self.facts.layout.classes[row.lane as usize % classes].0);
        let node = |row: &Row| self.facts.ports[port_of(row)].node.0;
        let link = |row: &Row| (port_of(row) / 2) as u32;
        Some(Table::new(vec![
            ("time_ns", Values::F64(rows.iter().map(|row| row.time as f64 / 1e3).collect())),
            ("node", Values::Text { codes: codes(&node), dictionary: self.names() }),
            ("port", Values::U64(rows.iter().map(|row| numbers[port_of(row)]).collect())),
            ("link", Values::Text { codes: codes(&link), dictionary: self.link_names() }),
            ("class", Values::U64(rows.iter().map(class).collect())),
            ("event", Values::Text { codes: codes(&|row| u32::from(!row.pauses)), dictionary: events }),
        ]))
    }
}

//! Table of pauses.

use super::Row;
use crate::records::table::{Table, Values};
use crate::run::world::World;
use floodway_units::cast::narrow;

impl World<'_> {
    /// One row for each pause or resume that was received; none where they are not kept.
    pub fn pause_table(&self) -> Option<Table> {
        let rows = self.run.kept.pauses.as_ref()?.log.rows();
        let classes = self.facts.layout.classes.len();
        let port_of = |row: &Row| row.port_class as usize / classes;
        let numbers = self.port_numbers();
        let codes = |of: &dyn Fn(&Row) -> u32| rows.iter().map(of).collect();
        let events = vec!["pause".to_owned(), "resume".to_owned()];
        let class = |row: &Row| u64::from(self.facts.layout.classes[row.port_class as usize % classes].0);
        let node = |row: &Row| self.facts.ports[port_of(row)].node.0;
        let link = |row: &Row| narrow::<u32>(port_of(row) / 2);
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

//! Table of pauses.

use floodway_blueprint::network::facts::Facts;

use super::{PauseLog, Row};
use crate::port_columns::port_columns;
use crate::table::{Table, Values};

impl PauseLog {
    /// One row for each pause or resume that was received.
    pub fn table(&self, facts: &Facts<'_>) -> Table {
        let (rows, layout) = (self.log.rows(), &facts.layout);
        let place = |row: &Row| layout.port_class_of(row.port_class as usize);
        let class = |row: &Row| u64::from(layout.classes[usize::from(place(row).1)].0);
        let events = vec!["pause".to_owned(), "resume".to_owned()];
        let codes = rows.iter().map(|row| u32::from(!row.pauses)).collect();
        let times = rows.iter().map(|row| row.time as f64 / 1e3).collect();
        let mut columns = vec![("time_ns", Values::F64(times))];
        columns.extend(port_columns(facts, rows.iter().map(|row| place(row).0)));
        columns.push(("class", Values::U64(rows.iter().map(class).collect())));
        columns.push(("event", Values::Text { codes, dictionary: events }));
        Table::new(columns)
    }
}

//! Table of shares.

use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::path::FlowNames;
use floodway_units::PortId;
use floodway_units::cast::narrow;

use super::{Row, ShareLog};
use crate::table::{Table, Values};

impl ShareLog {
    /// One row a port, bucket and flow that it sent something of, up to the end of the run.
    pub fn table(&self, facts: &Facts<'_>, end: u64) -> Table {
        let rows = self.log.rows();
        let mut flows = FlowNames::default();
        let codes = rows.iter().map(|row| flows.code(facts, row.key.flow)).collect();
        let us = |ps: u64| ps as f64 / 1e6;
        let end = end.max(1);
        let span = |row: &Row| us(self.width.min(end.saturating_sub(row.time)));
        let mut ports: Vec<u32> = rows.iter().map(|row| row.key.port).collect();
        ports.sort_unstable();
        ports.dedup();
        let object = |row: &Row| narrow::<u32>(ports.partition_point(|&port| port < row.key.port));
        let names = ports.iter().map(|&port| facts.blueprint.direction(PortId(port))).collect();
        Table::new(vec![
            ("object", Values::Text { codes: rows.iter().map(object).collect(), dictionary: names }),
            ("flow_id", Values::Text { codes, dictionary: flows.words }),
            ("class", Values::U64(rows.iter().map(|row| u64::from(row.class)).collect())),
            ("time_us", Values::F64(rows.iter().map(|row| us(row.time)).collect())),
            ("bucket_us", Values::F64(rows.iter().map(span).collect())),
            ("tx_bytes", Values::U64(rows.iter().map(|row| row.bytes).collect())),
        ])
    }
}

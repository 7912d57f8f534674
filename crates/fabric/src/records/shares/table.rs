//! Table of shares.

use floodway_units::PortId;
use floodway_units::cast::narrow;

use super::Row;
use crate::network::path::FlowNames;
use crate::records::table::{Table, Values};
use crate::run::world::World;

impl World<'_> {
    /// One row a port, bucket and flow that it sent something of; none where they are not kept.
    pub fn share_table(&self) -> Option<Table> {
        let log = self.run.kept.shares.as_ref()?;
        let rows = log.log.rows();
        let mut flows = FlowNames::default();
        let codes = rows.iter().map(|row| flows.code(&self.facts, row.key.flow)).collect();
        let us = |ps: u64| ps as f64 / 1e6;
        let end = self.now.max(1);
        let span = |row: &Row| us(log.width.min(end.saturating_sub(row.time)));
        let mut ports: Vec<u32> = rows.iter().map(|row| row.key.port).collect();
        ports.sort_unstable();
        ports.dedup();
        let object = |row: &Row| narrow::<u32>(ports.partition_point(|&port| port < row.key.port));
        let names = ports.iter().map(|&port| self.direction(PortId(port))).collect();
        Some(Table::new(vec![
            ("object", Values::Text { codes: rows.iter().map(object).collect(), dictionary: names }),
            ("flow_id", Values::Text { codes, dictionary: flows.words }),
            ("class", Values::U64(rows.iter().map(|row| u64::from(row.class)).collect())),
            ("time_us", Values::F64(rows.iter().map(|row| us(row.time)).collect())),
            ("bucket_us", Values::F64(rows.iter().map(span).collect())),
            ("tx_bytes", Values::U64(rows.iter().map(|row| row.bytes).collect())),
        ]))
    }
}

//! Who has how much of a link: the bytes of each flow that chosen ports send, by buckets of time.

use std::collections::BTreeMap;

use floodway_units::PortId;
use rustc_hash::FxHashMap;

use crate::link::arena::Place;
use crate::network::blueprint::ShareSpec;
use crate::network::layout::Local;
use crate::network::ways::{FlowName, FlowNames};
use crate::records::log::{Log, Logged};
use crate::records::outcome::RowTotals;
use crate::records::table::{Table, Values};
use crate::run::at_node::AtNode;
use crate::run::world::World;

/// What flows have of chosen ports, up to a number of rows.
#[derive(Debug)]
pub(crate) struct ShareLog {
    log: Log<Row>,
    /// Width of a bucket.
    width: u64,
    /// Of the chosen ports: the bucket at work.
    open: BTreeMap<u32, Open>,
}

/// The bucket of a port that is being filled: its rows, and by flow which of them is the flow's.
#[derive(Debug, Default)]
struct Open {
    bucket: u64,
    rows: Vec<Row>,
    row_of: FxHashMap<FlowName, usize>,
}

/// A port and a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    port: u32,
    flow: FlowName,
}

/// Bytes of a flow that a port has sent in a bucket.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The bucket's beginning.
    time: u64,
    key: Key,
    class: u8,
    bytes: u64,
}

impl Logged for Row {
    type Place = u32;

    fn time(&self) -> u64 {
        self.time
    }

    /// A port's rows of a bucket are in the order of their first packets.
    fn place(&self) -> u32 {
        self.key.port
    }
}

impl ShareLog {
    /// Before the first packet.
    pub fn new(spec: &ShareSpec) -> Self {
        let open = spec.ports.iter().map(|port| (port.0, Open::default())).collect();
        ShareLog { log: Log::new(spec.rows), width: spec.bucket.0, open }
    }

    /// A packet of a flow starts on the wire of a port, whose times never fall.
    fn sent(&mut self, now: u64, key: Key, class: u8, bytes: u64) {
        let Some(open) = self.open.get_mut(&key.port) else { return };
        let bucket = now / self.width;
        if bucket != open.bucket {
            open.end(&mut self.log);
            open.bucket = bucket;
        }
        let next = open.rows.len();
        let row = *open.row_of.entry(key.flow).or_insert(next);
        if row == next {
            open.rows.push(Row { time: bucket * self.width, key, class, bytes: 0 });
        }
        open.rows[row].bytes += bytes;
    }

    fn end_buckets(&mut self) {
        self.open.values_mut().for_each(|open| open.end(&mut self.log));
    }

    pub fn absorb(&mut self, mut other: ShareLog) {
        self.end_buckets();
        other.end_buckets();
        self.log.absorb(other.log);
    }

    pub fn close(&mut self) {
        self.end_buckets();
        self.log.close();
    }

    pub fn totals(&self) -> RowTotals {
        self.log.totals()
    }
}

impl Open {
    /// The rows of the bucket are written.
    fn end(&mut self, log: &mut Log<Row>) {
        self.row_of.clear();
        self.rows.drain(..).for_each(|row| log.push(row));
    }
}

impl AtNode<'_, '_> {
    /// Notes a packet that starts on the wire of a port, if the port's flows are told apart.
    pub fn note_share(&mut self, port: Local, place: Place) {
        let packet = &self.run.packets[place];
        let Some(log) = &mut self.run.kept.shares else { return };
        if !packet.is_data() {
            return;
        }
        let key = Key {
            port: self.node.ports[port.index()].id.0,
            flow: self.run.pairs.ways[packet.flow.index()].name(),
        };
        let class = self.facts.layout.classes[usize::from(packet.class)].0;
        let bytes = u64::from(packet.frame) + self.facts.layout.gap;
        log.sent(self.now, key, class, bytes);
    }
}

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
        let object = |row: &Row| ports.partition_point(|&port| port < row.key.port) as u32;
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

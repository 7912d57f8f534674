//! Who has how much of a link: the bytes of each flow that chosen ports send, by buckets of time.

mod note;
mod table;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::network::blueprint::ShareSpec;
use crate::network::ways::FlowName;
use crate::records::log::{Log, Logged};
use crate::records::outcome::RowTotals;

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

//! Shares of a link: the bytes of each flow that chosen ports send, by buckets of time.

mod table;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::blueprint::ShareSpec;
use floodway_blueprint::network::path::FlowName;
use floodway_units::PortId;
use rustc_hash::FxHashMap;

use crate::log::{Log, Logged};
use crate::outcome::RowTotals;
use crate::transmission::Transmission;

/// What flows have of chosen ports, up to a number of rows.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub struct ShareLog {
    log: Log<Row>,
    /// Width of a bucket.
    width: u64,
}

/// The bucket of a chosen port that is being filled: its rows, and by flow which of them is the flow's.
#[derive(Debug, Default)]
pub struct Bucket {
    /// Which of them it is.
    number: u64,
    rows: Vec<Row>,
    row_of: FxHashMap<FlowName, usize>,
    /// The last packet, which is not in rows yet: the run may end before its last bit is sent.
    last: Option<Sent>,
}

/// A packet of a flow on the wire of a port.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// From where, and of which flow.
    pub key: Key,
    /// Index among the run's classes.
    pub class: u8,
    /// When it is sent.
    pub frame: Transmission,
}

/// A port and a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Key {
    /// It sends.
    pub port: u32,
    /// What results call the flow.
    pub flow: FlowName,
}

/// Bytes of a flow that a port has sent in a bucket.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
struct Row {
    /// The bucket's beginning.
    time: u64,
    key: Key,
    class: u8,
    bytes: u64,
}

impl Logged for Row {
    type TieKey = u32;

    fn time(&self) -> u64 {
        self.time
    }

    /// A port's rows of a bucket are in the order of their first packets.
    fn tie_key(&self) -> u32 {
        self.key.port
    }
}

/// The buckets of a node's ports, of which none is chosen where nothing is kept.
pub fn buckets(spec: Option<&ShareSpec>, ports: &[PortId]) -> Vec<Option<Bucket>> {
    let chosen = |spec: &ShareSpec| ports.iter().any(|port| spec.ports.contains(port));
    let Some(spec) = spec.filter(|spec| chosen(spec)) else { return Vec::new() };
    ports.iter().map(|port| spec.ports.contains(port).then(Bucket::default)).collect()
}

impl ShareLog {
    /// Before the first packet.
    pub fn new(spec: &ShareSpec) -> Self {
        ShareLog { log: Log::new(spec.rows), width: spec.bucket.0 }
    }

    /// A packet of a flow starts on the wire of a port, once the one before it has been sent.
    pub fn sent(&mut self, open: &mut Bucket, next: Sent) {
        if let Some(last) = open.last.replace(next) {
            self.divide(open, last, Transmission::sent_by);
        }
    }

    /// The run ends at `now`.
    pub fn end(&mut self, now: u64, open: &mut Bucket) {
        if let Some(last) = open.last.take() {
            self.divide(open, last, |frame, at| frame.sent_by(at).min(frame.sent_whole_by(now)));
        }
        open.end(&mut self.log);
    }

    /// Divides a packet among buckets, by its bytes that were sent `until` an instant.
    fn divide(&mut self, open: &mut Bucket, sent: Sent, until: impl Fn(&Transmission, u64) -> u64) {
        let (mut at, mut before) = (sent.frame.begin, 0);
        loop {
            let number = at / self.width;
            at = (number + 1) * self.width;
            let bytes = until(&sent.frame, at);
            if bytes > before {
                self.add(open, number, (sent.key, sent.class, bytes - before));
                before = bytes;
            }
            if at >= sent.frame.end {
                return;
            }
        }
    }

    /// Adds bytes of a flow to a bucket that is not before the open one.
    fn add(&mut self, open: &mut Bucket, number: u64, (key, class, bytes): (Key, u8, u64)) {
        if number != open.number {
            open.end(&mut self.log);
            open.number = number;
        }
        let next = open.rows.len();
        let row = *open.row_of.entry(key.flow).or_insert(next);
        if row == next {
            open.rows.push(Row { time: number * self.width, key, class, bytes: 0 });
        }
        open.rows[row].bytes += bytes;
    }

    /// Adds the rows of another thread.
    pub fn absorb(&mut self, other: ShareLog) {
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

impl Bucket {
    /// The rows of the bucket are written.
    fn end(&mut self, log: &mut Log<Row>) {
        self.row_of.clear();
        self.rows.drain(..).for_each(|row| log.push(row));
    }
}

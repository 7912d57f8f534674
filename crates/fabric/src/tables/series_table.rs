//! The table of series: what watched ports sent, held and waited for, bucket by bucket.

use floodway_engine::memory;
use floodway_records::series::Bucket;
use floodway_records::table::{Table, Values};
use floodway_units::cast::narrow;
use floodway_units::{PortId, Time};

use crate::run::network::Network;

/// Metrics of the series: the kind of object, as an index, and the name.
const SERIES: [(u32, &str); 5] = [
    (0, "tx_bytes"),
    (1, "queue_max_bytes"),
    (1, "queue_mean_bytes"),
    (2, "buffer_max_bytes"),
    (0, "paused_us"),
];

/// The series of watched ports, at the end of a run.
pub(super) struct WatchedSeries<'w, 'a> {
    network: Network<'w, 'a>,
    watched: Vec<PortId>,
    end: u64,
}

impl<'w, 'a> WatchedSeries<'w, 'a> {
    /// Of those asked for, and of the busiest of the others.
    pub fn new(network: Network<'w, 'a>, end: u64) -> Self {
        let records = &network.facts.blueprint.records;
        let mut asked = vec![false; network.facts.ports.len()];
        for port in &records.watch {
            asked[port.index()] = true;
        }
        let sent = |port: PortId| network.series(port).buckets().iter().map(|bucket| bucket.tx_bytes).sum();
        let ports = || network.facts.blueprint.ports();
        let mut others: Vec<(u64, PortId)> = ports()
            .filter(|port| !asked[port.index()])
            .map(|port| (sent(port), port))
            .filter(|&(bytes, _)| bytes > 0)
            .collect();
        others.sort_by_key(|&(bytes, port)| (std::cmp::Reverse(bytes), port));
        let busiest = others.into_iter().take(records.busiest).map(|(_, port)| port);
        let mut watched: Vec<PortId> = ports().filter(|port| asked[port.index()]).chain(busiest).collect();
        watched.sort_unstable();
        WatchedSeries { network, watched, end: end.max(1) }
    }

    /// Rows of a bucket: one for each metric.
    ///
    /// Of thousands of ports it has millions of rows. So each column is filled by itself, in memory that is
    /// reserved beforehand, and values that repeat are copied.
    pub fn table(&self) -> Table {
        let buckets = self.watched.iter().map(|&port| self.buckets_of(port).len());
        let rows = SERIES.len() * buckets.sum::<usize>();
        let texts = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let kinds = pattern(rows, |metric| SERIES[metric].0);
        let metrics = pattern(rows, narrow);
        let (time, width) = self.bucket_times(rows);
        let direction = |&port: &PortId| self.network.facts.blueprint.direction(port);
        let objects = self.watched.iter().map(direction).collect();
        Table::new(vec![
            ("object", Values::Text { codes: self.bucket_owners(rows), dictionary: objects }),
            ("kind", Values::Text { codes: kinds, dictionary: texts(&["link", "queue", "buffer"]) }),
            ("metric", Values::Text { codes: metrics, dictionary: texts(&SERIES.map(|(_, name)| name)) }),
            ("time_us", Values::F64(time)),
            ("bucket_us", Values::F64(width)),
            ("value", Values::F64(self.bucket_values(rows))),
        ])
    }

    fn buckets_of(&self, port: PortId) -> &[Bucket] {
        self.network.series(port).buckets()
    }

    fn bucket_owners(&self, rows: usize) -> Vec<u32> {
        let mut object = reserved(rows);
        for (i, &port) in self.watched.iter().enumerate() {
            object.resize(object.len() + SERIES.len() * self.buckets_of(port).len(), narrow::<u32>(i));
        }
        object
    }

    /// Begin and width of the bucket of each row, in microseconds.
    fn bucket_times(&self, rows: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut time, mut width) = (reserved(rows), reserved(rows));
        // Width and number of buckets of the last port: most have the same.
        let mut before = (0, 0);
        for &port in &self.watched {
            let series = self.network.series(port);
            let shape = (series.width(), series.buckets().len());
            if shape == before {
                let last = time.len() - SERIES.len() * shape.1;
                time.extend_from_within(last..);
                width.extend_from_within(last..);
                continue;
            }
            before = shape;
            for bucket in 0..shape.1 as u64 {
                let begin = bucket * series.width();
                time.extend_from_slice(&[Time(begin).as_us(); SERIES.len()]);
                width.extend_from_slice(&[Time(self.span(series.width(), begin)).as_us(); SERIES.len()]);
            }
        }
        (time, width)
    }

    fn bucket_values(&self, rows: usize) -> Vec<f64> {
        let mut value = reserved(rows);
        for &port in &self.watched {
            let series = self.network.series(port);
            let mut begin = 0u64;
            for bucket in series.buckets() {
                value.extend_from_slice(&[
                    bucket.tx_bytes as f64,
                    bucket.queue_max as f64,
                    bucket.queue_area as f64 / self.span(series.width(), begin) as f64,
                    bucket.buffer_max as f64,
                    Time(bucket.paused).as_us(),
                ]);
                begin += series.width();
            }
        }
        value
    }

    /// The time that a bucket covers: the last one may be cut short by the end of the run.
    fn span(&self, width: u64, begin: u64) -> u64 {
        width.min(self.end - begin.min(self.end - 1))
    }
}

/// A column without values, and room for all of them.
fn reserved<T>(rows: usize) -> Vec<T> {
    let mut column = Vec::new();
    memory::reserve(&mut column, rows);
    memory::advise_vec(&column);
    column
}

/// A column that has the same code for each metric of every bucket.
fn pattern(rows: usize, code: impl Fn(usize) -> u32) -> Vec<u32> {
    let mut column = reserved(rows);
    column.extend((0..SERIES.len().min(rows)).map(code));
    while column.len() < rows {
        column.extend_from_within(..column.len().min(rows - column.len()));
    }
    column
}

//! The table of series: what watched ports sent, held and waited for, bucket by bucket.

use floodway_engine::memory;
use floodway_units::{PortId, Time};

use crate::records::table::{Table, Values};
use crate::run::world::World;

/// Metrics of the series: the kind of object, as an index, and the name.
const SERIES: [(u32, &str); 5] = [
    (0, "tx_bytes"),
    (1, "queue_max_bytes"),
    (1, "queue_mean_bytes"),
    (2, "buffer_max_bytes"),
    (0, "paused_us"),
];

impl World<'_> {
    /// Rows of a bucket: one for each metric.
    pub fn series_table(&self) -> Table {
        let (mut object, mut kind, mut metric) = (Vec::new(), Vec::new(), Vec::new());
        let (mut time, mut width, mut value) = (Vec::new(), Vec::new(), Vec::new());
        let watched = self.watched();
        for (i, &port) in watched.iter().enumerate() {
            let series = self.series(PortId(port as u32));
            let mut begin = 0u64;
            for bucket in series.buckets() {
                // The last bucket may be cut short by the end of the run.
                let span = series.width().min(self.now.max(1) - begin.min(self.now.max(1) - 1));
                let values = [
                    bucket.tx_bytes as f64,
                    bucket.queue_max as f64,
                    bucket.queue_area as f64 / span as f64,
                    bucket.buffer_max as f64,
                    Time(bucket.paused).as_us(),
                ];
                for (m, v) in values.into_iter().enumerate() {
                    memory::push(&mut object, i as u32);
                    memory::push(&mut kind, SERIES[m].0);
                    memory::push(&mut metric, m as u32);
                    memory::push(&mut time, Time(begin).as_us());
                    memory::push(&mut width, Time(span).as_us());
                    memory::push(&mut value, v);
                }
                begin += series.width();
            }
        }
        let kinds = ["link", "queue", "buffer"];
        let texts = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Table::new(vec![
            (
                "object",
                Values::Text {
                    codes: object,
                    dictionary: watched.iter().map(|&port| self.direction(PortId(port as u32))).collect(),
                },
            ),
            ("kind", Values::Text { codes: kind, dictionary: texts(&kinds) }),
            ("metric", Values::Text { codes: metric, dictionary: texts(&SERIES.map(|(_, name)| name)) }),
            ("time_us", Values::F64(time)),
            ("bucket_us", Values::F64(width)),
            ("value", Values::F64(value)),
        ])
    }

    /// Watched ports: those asked for, and the busiest of the others.
    fn watched(&self) -> Vec<usize> {
        let mut asked = vec![false; self.facts.ports.len()];
        for port in &self.facts.blueprint.records.watch {
            asked[port.index()] = true;
        }
        let sent =
            |port: usize| self.series(PortId(port as u32)).buckets().iter().map(|b| b.tx_bytes).sum::<u64>();
        let mut others: Vec<(u64, usize)> = (0..self.facts.ports.len())
            .filter(|&port| !asked[port])
            .map(|port| (sent(port), port))
            .filter(|&(bytes, _)| bytes > 0)
            .collect();
        others.sort_by_key(|&(bytes, port)| (std::cmp::Reverse(bytes), port));
        let busiest = others.into_iter().take(self.facts.blueprint.records.busiest).map(|(_, port)| port);
        let all = (0..asked.len()).filter(|&port| asked[port]);
        let mut watched: Vec<usize> = all.chain(busiest).collect();
        watched.sort_unstable();
        watched
    }
}

//! Table of queue lengths.

use floodway_units::Time;
use floodway_units::cast::narrow;

use super::Histogram;
use crate::records::outcome::QueueSamples;
use crate::records::table::{Table, Values};
use crate::run::world::World;

impl World<'_> {
    /// Which instants were sampled; none where histograms are not kept.
    pub fn queue_samples(&self) -> Option<QueueSamples> {
        let spec = self.facts.blueprint.records.queue_histogram?;
        let (last, instants) =
            self.switch_histograms().next().map_or((None, 0), |(_, histogram)| histogram.instants());
        Some(QueueSamples {
            from_us: spec.from.as_us(),
            to_us: last.map(|last| Time(last).as_us()),
            every_us: spec.every.as_us(),
            bin_bytes: spec.bin.0,
            instants,
        })
    }

    fn switch_histograms(&self) -> impl Iterator<Item = (usize, &Histogram)> {
        let switches = self.port_ids().filter(|&port| !self.facts.ports[port.index()].at_host);
        switches.filter_map(|port| {
            let node = self.node_at(port);
            Some((port.index(), node.links.histograms.get(self.facts.local(port).index())?))
        })
    }

    /// One row for each bin of a switch's egress port that was met; none where histograms are not kept.
    pub fn queue_table(&self) -> Option<Table> {
        self.facts.blueprint.records.queue_histogram?;
        let numbers = self.port_numbers();
        let (mut node, mut port, mut link) = (Vec::new(), Vec::new(), Vec::new());
        let (mut until, mut low, mut samples) = (Vec::new(), Vec::new(), Vec::new());
        for (at, histogram) in self.switch_histograms() {
            for (last, bytes, instants) in histogram.rows() {
                node.push(self.facts.ports[at].node.0);
                port.push(numbers[at]);
                link.push(narrow(at / 2));
                until.push(Time(last).as_us());
                low.push(bytes);
                samples.push(instants);
            }
        }
        Some(Table::new(vec![
            ("node", Values::Text { codes: node, dictionary: self.names() }),
            ("port", Values::U64(port)),
            ("link", Values::Text { codes: link, dictionary: self.link_names() }),
            ("until_us", Values::F64(until)),
            ("bin_low_bytes", Values::U64(low)),
            ("samples", Values::U64(samples)),
        ]))
    }
}

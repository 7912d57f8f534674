//! Table of queue lengths.

use floodway_blueprint::network::blueprint::HistogramSpec;
use floodway_records::histogram::Histogram;
use floodway_records::outcome::QueueSamples;
use floodway_records::port_columns::port_columns;
use floodway_records::table::{Table, Values};
use floodway_units::{PortId, Time};

use crate::run::network::Network;

/// The histograms of all ports, where they are kept.
pub(crate) struct QueueHistograms<'w, 'a> {
    network: Network<'w, 'a>,
    spec: HistogramSpec,
}

impl<'w, 'a> QueueHistograms<'w, 'a> {
    /// None where they are not kept.
    pub fn kept(network: Network<'w, 'a>) -> Option<Self> {
        let spec = network.facts.blueprint.records.queue_histogram?;
        Some(QueueHistograms { network, spec })
    }

    /// Which instants were sampled.
    pub fn samples(&self) -> QueueSamples {
        let (last, instants) =
            self.of_switches().next().map_or((None, 0), |(_, histogram)| histogram.instants());
        QueueSamples {
            from_us: self.spec.from.as_us(),
            to_us: last.map(|last| Time(last).as_us()),
            every_us: self.spec.every.as_us(),
            bin_bytes: self.spec.bin.0,
            instants,
        }
    }

    fn of_switches(&self) -> impl Iterator<Item = (PortId, &'w Histogram)> {
        let Network { facts, .. } = self.network;
        let switches = facts.blueprint.ports().filter(|port| !facts.ports[port.index()].at_host);
        switches.filter_map(|port| {
            let histograms = &self.network.node_at(port).links.histograms;
            Some((port, histograms.get(facts.local(port).index())?))
        })
    }

    /// One row for each bin of a switch's egress port that was met.
    pub fn table(&self) -> Table {
        let (mut ports, mut until) = (Vec::new(), Vec::new());
        let (mut low, mut samples) = (Vec::new(), Vec::new());
        for (port, histogram) in self.of_switches() {
            for (last, bytes, instants) in histogram.rows() {
                ports.push(port);
                until.push(Time(last).as_us());
                low.push(bytes);
                samples.push(instants);
            }
        }
        let mut columns = Vec::from(port_columns(self.network.facts, ports.into_iter()));
        columns.extend([
            ("until_us", Values::F64(until)),
            ("bin_low_bytes", Values::U64(low)),
            ("samples", Values::U64(samples)),
        ]);
        Table::new(columns)
    }
}

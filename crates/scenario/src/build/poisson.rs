//! Poisson arrivals: senders, sizes, rates.

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{Arrivals, PoissonSpec};
use floodway_fabric::sizes::Sizes;
use floodway_units::cast::narrow;
use floodway_units::{Bytes, NodeId, Rate, Span, Time};

use super::map::Map;
use super::{Builder, workload_path};
use crate::error::{Place, ScenarioError};
use crate::grammar::bounds::MOST_BYTES;
use crate::grammar::selector::Selector;
use crate::workload::Workload;
use crate::workload::poisson::{Poisson, mean_gap, most_load};

impl Builder<'_> {
    /// Payload of the full packets of a workload's flows.
    pub(super) fn payload_of(&self, workload: &Workload, blueprint: &Blueprint) -> Bytes {
        let at = self.document.workload.iter().position(|other| other.name == workload.name);
        at.map_or(blueprint.mtu, |settings| blueprint.payload_of(settings))
    }

    /// Arrivals of a Poisson workload; none where errors say why.
    pub(super) fn poisson(
        &mut self,
        workload: &Workload,
        poisson: &Poisson,
        map: &Map<'_>,
        blueprint: &Blueprint,
    ) -> Option<Arrivals> {
        let sizes = self.sizes(workload, poisson)?;
        let sources = self.hosts(workload, "poisson.from", &poisson.from, map);
        let destinations = self.hosts(workload, "poisson.to", &poisson.to, map);
        let (sources, destinations) = (sources?, destinations?);
        for &source in &sources {
            if destinations == [source] {
                let message = format!("{} could send to itself only", map.name(source));
                self.fault(&workload_path(workload, "poisson.to"), message);
                return None;
            }
        }
        if let Some((source, lost)) = map.apart(&sources, &destinations) {
            let message = format!("no path leads from {} to {}", map.name(source), map.name(lost));
            self.fault(&workload_path(workload, "poisson"), message);
            return None;
        }
        let capacity = self.capacity(workload, ("poisson.of", &poisson.of), &sources, map, blueprint)?;
        let mean = poisson.accounting.mean(&sizes, blueprint.wire, self.payload_of(workload, blueprint));
        let flows = (mean, sources.len());
        let mean_gap = self.gap(workload, "poisson.load", poisson.load, flows, capacity)?;
        let pattern = self.destination_pattern(workload, poisson, &sources, &destinations, map)?;
        let ids = |nodes: Vec<usize>| nodes.into_iter().map(|node| NodeId(narrow(node))).collect();
        let from = workload.start.unwrap_or_default();
        let until = workload.until.unwrap_or(Time::NEVER);
        if from >= until {
            let message = format!("{until} is not later than the start, {from}");
            self.fault(&workload_path(workload, "until"), message);
            return None;
        }
        Some(Arrivals::Poisson(PoissonSpec {
            sources: ids(sources),
            destinations: ids(destinations),
            pattern,
            sizes,
            mean_gap,
            from,
            until,
        }))
    }

    /// Mean time between two flows of one sender, where senders with flows of this mean size in bytes offer
    /// `load` of the capacity; nothing where an error at `key` says why.
    pub(super) fn gap(
        &mut self,
        workload: &Workload,
        key: &str,
        load: f64,
        (mean, senders): (f64, usize),
        capacity: Rate,
    ) -> Option<Span> {
        let is_load = load.is_finite() && load > 0.0;
        let gap = if is_load { mean_gap(mean, senders, load, capacity) } else { None };
        if gap.is_none() {
            let why = match most_load(mean, senders, capacity) {
                most if load > most => {
                    format!("{load:e} is too high a load: at {most:.3e}, flows start 1 ps apart")
                }
                _ if load > 0.0 => format!("{load:e} is too low a load: no flow would ever start"),
                _ => format!("{load} is not a load above 0"),
            };
            self.fault(&workload_path(workload, key), why);
        }
        gap
    }

    fn sizes(&mut self, workload: &Workload, poisson: &Poisson) -> Option<Sizes> {
        let path = workload_path(workload, "poisson.sizes");
        let sizes = match poisson.sizes.load(self.files) {
            Ok(sizes) => sizes,
            Err(fault) => {
                let place = match &fault.file {
                    Some((file, line)) => Place { file: file.as_str().into(), line: Some(*line) },
                    None => self.tree.place_of(path.iter().copied()),
                };
                self.errors.push(ScenarioError::new(place, path.join("."), fault.why));
                return None;
            }
        };
        let largest = sizes.quantile(1.0);
        if largest > MOST_BYTES {
            self.fault(&path, format!("a flow of {largest} is too large: the maximum is {MOST_BYTES}"));
            return None;
        }
        Some(sizes)
    }

    /// What the load is of: the NICs of the senders, or links, in the direction away from the senders.
    pub(super) fn capacity(
        &mut self,
        workload: &Workload,
        (key, of): (&str, &Selector),
        sources: &[usize],
        map: &Map<'_>,
        blueprint: &Blueprint,
    ) -> Option<Rate> {
        let links = map.network.links.iter().zip(&blueprint.links);
        let mut capacity = Rate(0);
        if of.is_word("hosts") {
            let is_nic = |node: &usize| sources.binary_search(node).is_ok();
            for (link, spec) in links {
                let nics = link.ends.iter().zip(&spec.directions).filter(|(end, _)| is_nic(end));
                capacity = nics.fold(capacity, |sum, (_, direction)| sum + direction.rate);
            }
            return Some(capacity);
        }
        let what = "no link; \"hosts\" means the senders' NICs";
        self.check_matches(&workload_path(workload, key), (of, what), map.network.labels_of_links())?;
        let distances = map.network.distances(sources[0]);
        for (link, spec) in links.filter(|(link, _)| of.matches(&link.name, &link.tags)) {
            let from = usize::from(distances[link.ends[1]] < distances[link.ends[0]]);
            capacity = capacity + spec.directions[from].rate;
        }
        Some(capacity)
    }
}

//! Generated patterns: permutations, all to all, incasts, micro-bursts.

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{Arrivals, UNBOUNDED};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, NodeId, Rate, Span, Time, name_key};

use super::map::Map;
use super::traffic::MOST_FLOWS;
use super::{Builder, workload_path};
use crate::grammar::selector::Selector;
use crate::workload::Workload;
use crate::workload::incast::Incast;
use crate::workload::micro_bursts::{MicroBursts, Spacing, payload};
use crate::workload::pairs::{AllToAll, Permutation, around};
use crate::workload::recipe::{Again, Bursting, Pattern, Recipe, Starts};

impl Builder<'_> {
    /// Arrivals of a workload that is generated, and the recipe by which a seed draws them; nothing where it
    /// is of another kind, or where errors say why.
    pub(super) fn generated(
        &mut self,
        workload: &Workload,
        map: &Map<'_>,
        blueprint: &Blueprint,
    ) -> Option<Arrivals> {
        let pattern = if let Some(permutation) = &workload.permutation {
            self.permutation(workload, permutation, map)
        } else if let Some(all) = &workload.all_to_all {
            self.all_to_all(workload, all, map)
        } else if let Some(incast) = &workload.incast {
            self.incast(workload, incast, map, blueprint)
        } else {
            self.micro_bursts(workload, workload.micro_bursts.as_ref()?, map, blueprint)
        };
        let recipe = Recipe { workload: workload.name.clone(), pattern: pattern? };
        let flows = recipe.flows(None);
        if flows.is_empty() {
            self.fault(&workload_path(workload, ""), "it has no flow");
            return None;
        }
        self.recipes.push(recipe);
        Some(Arrivals::List(flows))
    }

    fn permutation(
        &mut self,
        workload: &Workload,
        permutation: &Permutation,
        map: &Map<'_>,
    ) -> Option<Pattern> {
        let hosts = self.hosts(workload, "permutation.of", &permutation.of, map)?;
        self.paired(workload, "permutation.of", hosts.len().saturating_sub(1))?;
        self.joined(workload, "permutation.of", map, &hosts, &hosts)?;
        let size = permutation.size.0.unwrap_or(UNBOUNDED);
        self.sized(workload, "permutation.size", size)?;
        if size == UNBOUNDED && permutation.every.is_some() {
            self.fault(&workload_path(workload, "permutation.every"), "flows without end start once only");
            return None;
        }
        let key = "permutation.every";
        let starts = self.starts(workload, ("a permutation", key), permutation.every, hosts.len())?;
        Some(Pattern::Permutation { hosts, size, starts })
    }

    fn all_to_all(&mut self, workload: &Workload, all: &AllToAll, map: &Map<'_>) -> Option<Pattern> {
        let hosts = self.hosts(workload, "all-to-all.of", &all.of, map)?;
        self.paired(workload, "all-to-all.of", hosts.len().saturating_sub(1))?;
        self.joined(workload, "all-to-all.of", map, &hosts, &hosts)?;
        self.sized(workload, "all-to-all.size", all.size)?;
        let flows = hosts.len().saturating_mul(hosts.len() - 1);
        let starts = self.starts(workload, ("an all-to-all", "all-to-all.every"), all.every, flows)?;
        Some(Pattern::AllToAll { hosts, size: all.size, starts })
    }

    fn incast(
        &mut self,
        workload: &Workload,
        incast: &Incast,
        map: &Map<'_>,
        blueprint: &Blueprint,
    ) -> Option<Pattern> {
        let from = self.hosts(workload, "incast.from", &incast.from, map);
        let to = self.hosts(workload, "incast.to", &incast.to, map);
        let (from, to) = (from?, to?);
        self.joined(workload, "incast", map, &from, &to)?;
        self.sized(workload, "incast.size", incast.size)?;
        self.check_incast(workload, incast)?;
        let senders = |receiver: &usize| from.len() - usize::from(from.binary_search(receiver).is_ok());
        for receiver in &to {
            self.check_senders(workload, incast, map.name(*receiver), senders(receiver))?;
        }
        let flows = |receiver| incast.fan_in.unwrap_or_else(|| senders(receiver));
        let mean = to.iter().map(flows).sum::<usize>() as f64 / to.len() as f64 * incast.size.0 as f64;
        let every = match incast.load {
            Some(load) => {
                let load = (load, incast.of.as_ref());
                Some(self.incast_period(workload, load, mean, &from, map, blueprint)?)
            }
            None => incast.every,
        };
        let most = to.iter().map(flows).max()?;
        let key = if incast.load.is_some() { "incast.load" } else { "incast.every" };
        let starts = self.starts(workload, ("an incast", key), every, most)?;
        let starts = match (incast.spacing, every, workload.until) {
            (Spacing::Exponential, Some(mean), Some(until)) if !starts.is_empty() => {
                Starts::Poisson { start: workload.start.unwrap_or_default(), until, mean }
            }
            _ => Starts::At(starts),
        };
        let fan_in = incast.fan_in.unwrap_or(usize::MAX);
        Some(Pattern::Incast { to, from, fan_in, size: incast.size, starts })
    }

    /// Refuses keys of the same meaning and keys without what they belong to.
    fn check_incast(&mut self, workload: &Workload, incast: &Incast) -> Option<()> {
        let (key, message) = if incast.load.is_some() && incast.every.is_some() {
            ("incast", "\"load\" and \"every\" are given together: give one")
        } else if incast.load.is_none() && incast.of.is_some() {
            ("incast.of", "it needs \"load\", which is not given")
        } else if incast.spacing == Spacing::Exponential && incast.load.is_none() && incast.every.is_none() {
            ("incast.spacing", "an incast that comes once has no spacing: \"every\" or \"load\" is missing")
        } else {
            return Some(());
        };
        self.fault(&workload_path(workload, key), message);
        None
    }

    /// From one incast to the next, so that those of this mean size make up `load`.
    fn incast_period(
        &mut self,
        workload: &Workload,
        (load, of): (f64, Option<&Selector>),
        mean_bytes: f64,
        from: &[usize],
        map: &Map<'_>,
        blueprint: &Blueprint,
    ) -> Option<Span> {
        let hosts = Selector::word("hosts");
        let of = ("incast.of", of.unwrap_or(&hosts));
        let capacity = self.capacity(workload, of, from, map, blueprint)?;
        self.gap(workload, "incast.load", load, (mean_bytes, 1), capacity)
    }

    /// Refuses a receiver that fewer can send to than are due.
    fn check_senders(
        &mut self,
        workload: &Workload,
        incast: &Incast,
        receiver: &str,
        others: usize,
    ) -> Option<()> {
        let (key, why) = match incast.fan_in {
            None if others == 0 => ("incast.from", format!("{receiver} could send to itself only")),
            Some(0) => ("incast.fan-in", "0 is not allowed; the minimum is 1".into()),
            Some(due) if due > others => {
                let from = &incast.from;
                let why = format!("{due} senders are required, but {from} has {others} beside {receiver}");
                ("incast.fan-in", why)
            }
            _ => return Some(()),
        };
        self.fault(&workload_path(workload, key), why);
        None
    }

    fn micro_bursts(
        &mut self,
        workload: &Workload,
        bursts: &MicroBursts,
        map: &Map<'_>,
        blueprint: &Blueprint,
    ) -> Option<Pattern> {
        let from = self.hosts(workload, "micro-bursts.from", &bursts.from, map);
        let to = self.hosts(workload, "micro-bursts.to", &bursts.to, map);
        let (from, to) = (from?, to?);
        self.joined(workload, "micro-bursts", map, &from, &to)?;
        let pairs = around(&from, &to);
        self.paired(workload, "micro-bursts.to", pairs.len())?;
        let mut senders = Vec::with_capacity(pairs.len());
        for (source, destination) in pairs {
            let size = self.burst_size(workload, bursts, source, map, blueprint)?;
            senders.push(Bursting { source, destination, size, key: name_key(map.name(source)) });
        }
        let key = ("a micro-burst", "micro-bursts.every");
        let starts = self.starts(workload, key, bursts.every, senders.len())?;
        self.check_spacing(workload, bursts)?;
        let MicroBursts { spacing, synchronised, .. } = *bursts;
        let repeats = bursts.every.zip(workload.until);
        let again = repeats.map(|(every, until)| Again { every, spacing, synchronised, until });
        let senders = if starts.is_empty() { Vec::new() } else { senders };
        Some(Pattern::MicroBursts { senders, start: workload.start.unwrap_or_default(), again })
    }

    /// Refuses bursts without a pause between them, and a spacing of bursts that come once.
    fn check_spacing(&mut self, workload: &Workload, bursts: &MicroBursts) -> Option<()> {
        let (key, why) = match bursts.every {
            Some(every) if bursts.length >= every => {
                ("micro-bursts.length", format!("a burst of {} every {every} never pauses", bursts.length))
            }
            None if bursts.spacing == Spacing::Exponential => {
                let why = "a burst that comes once has no spacing: \"every\" is missing";
                ("micro-bursts.spacing", why.to_owned())
            }
            _ => return Some(()),
        };
        self.fault(&workload_path(workload, key), why);
        None
    }

    fn burst_size(
        &mut self,
        workload: &Workload,
        bursts: &MicroBursts,
        source: usize,
        map: &Map<'_>,
        blueprint: &Blueprint,
    ) -> Option<Bytes> {
        let nic = nic_rate(blueprint, source);
        let rate = bursts.rate.unwrap_or(nic);
        if rate > nic || rate == Rate(0) {
            let why = format!("{rate} is not a rate above 0 and up to that of {}, {nic}", map.name(source));
            self.fault(&workload_path(workload, "micro-bursts.rate"), why);
            return None;
        }
        let size = payload(rate, bursts.length, blueprint.wire, self.payload_of(workload, blueprint));
        if size.is_none() {
            let why = format!("in {}, {} sends no packet at {rate}", bursts.length, map.name(source));
            self.fault(&workload_path(workload, "micro-bursts.length"), why);
        }
        size
    }

    /// Refuses a pattern without a pair of hosts; its starts would be counted as no flows.
    pub(super) fn paired(&mut self, workload: &Workload, key: &str, pairs: usize) -> Option<()> {
        if pairs > 0 {
            return Some(());
        }
        self.fault(&workload_path(workload, key), "no host has another one to send to");
        None
    }

    /// Refuses hosts that no path joins.
    fn joined(
        &mut self,
        workload: &Workload,
        key: &str,
        map: &Map<'_>,
        from: &[usize],
        to: &[usize],
    ) -> Option<()> {
        let Some((from, to)) = map.apart(from, to) else { return Some(()) };
        let message = format!("no path leads from {} to {}", map.name(from), map.name(to));
        self.fault(&workload_path(workload, key), message);
        None
    }

    /// Refuses flows of no bytes.
    pub(super) fn sized(&mut self, workload: &Workload, key: &str, size: Bytes) -> Option<()> {
        if size > Bytes::ZERO {
            return Some(());
        }
        self.fault(&workload_path(workload, key), "a flow of 0B has no bytes");
        None
    }

    /// The start times of a pattern of `flows` flows, which repeats every `every`; `what` it is and the key
    /// of its period.
    pub(super) fn starts(
        &mut self,
        workload: &Workload,
        (what, key): (&str, &str),
        every: Option<Span>,
        flows: usize,
    ) -> Option<Vec<Time>> {
        let path = workload_path(workload, key);
        let start = workload.start.unwrap_or_default();
        let times = match (every, workload.until) {
            (None, until) => u64::from(until.is_none_or(|until| start < until)),
            (Some(_), None) => {
                self.fault(&path, format!("{what} that repeats needs the workload's \"until\""));
                return None;
            }
            (Some(Span::ZERO), _) => {
                self.fault(
                    &path,
                    format!("0us is not allowed: {what} would repeat without end; write a time above 0"),
                );
                return None;
            }
            (Some(every), Some(until)) => until.since(start).0.div_ceil(every.0),
        };
        if times.saturating_mul((flows as u64).max(1)) > MOST_FLOWS {
            self.fault(&path, format!("that makes more than {MOST_FLOWS} flows"));
            return None;
        }
        Some((0..times).map(|i| start + every.unwrap_or_default() * i).collect())
    }
}

/// What a host sends at: of several NICs, at the slowest one's rate.
fn nic_rate(blueprint: &Blueprint, host: usize) -> Rate {
    nic_rates(blueprint, host).min().unwrap_or(Rate(0))
}

/// The rate of a host's fastest NIC.
pub(super) fn fastest_nic(blueprint: &Blueprint, host: usize) -> Rate {
    nic_rates(blueprint, host).max().unwrap_or(Rate(0))
}

fn nic_rates(blueprint: &Blueprint, host: usize) -> impl Iterator<Item = Rate> {
    let ends = blueprint.links.iter().flat_map(|link| link.ends.iter().zip(&link.directions));
    let nics = ends.filter(move |(end, _)| end.node == NodeId(narrow(host)));
    nics.map(|(_, direction)| direction.rate)
}

//! Workloads that depend on the seed: the random choices, and the flows that result.
//!
//! What depends on the seed (permutations, incasts, phases, hot hosts) is stored as parameters of random
//! draws. For another seed only these draws are repeated; nothing else of the scenario is read again.

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{Arrivals, FlowSpec, WorkloadSpec};
use floodway_fabric::destinations::DestinationPattern;
use floodway_units::cast::{narrow, to_usize};
use floodway_units::{Bytes, NodeId, Span, Time, fold, name_key};

use super::chance::Chance;
use super::hot_spot::hot;
use super::incast::{poisson_times, senders};
use super::micro_bursts::{Spacing, starts};
use super::pairs::{all_to_all, cycle};

/// A workload as a function of the seed.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Its workload's name, which determines its random stream together with the seed.
    pub workload: String,
    /// The pattern to draw.
    pub pattern: Pattern,
}

/// A pattern to draw. Hosts are indices in the network's list of nodes, in its order.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// At each start, a cycle through the hosts.
    Permutation { hosts: Vec<usize>, size: Bytes, starts: Vec<Time> },
    /// At each start, all pairs; this pattern has no random choices.
    AllToAll { hosts: Vec<usize>, size: Bytes, starts: Vec<Time> },
    /// At each start, one receiver and its senders.
    Incast { to: Vec<usize>, from: Vec<usize>, fan_in: usize, size: Bytes, starts: Starts },
    /// Start times of each sender's bursts.
    MicroBursts { senders: Vec<Bursting>, start: Time, again: Option<Again> },
    /// The hot receivers of a Poisson workload.
    HotHosts { hosts: Vec<usize>, count: usize },
}

/// When a pattern starts.
#[derive(Clone, Debug)]
pub enum Starts {
    /// At these times.
    At(Vec<Time>),
    /// As a Poisson process.
    Poisson {
        /// None starts before.
        start: Time,
        /// None starts then or later.
        until: Time,
        /// Mean time between two.
        mean: Span,
    },
}

/// A sender of micro-bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursting {
    /// The sender.
    pub source: usize,
    /// The receiver.
    pub destination: usize,
    /// Payload of a burst.
    pub size: Bytes,
    /// Key of its own stream, unless all senders are synchronised.
    pub key: u64,
}

/// Micro-bursts that repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// Time from one burst to the next, or its mean.
    pub every: Span,
    /// Whether `every` is the time or its mean.
    pub spacing: Spacing,
    /// Whether all senders burst at once.
    pub synchronised: bool,
    /// No burst starts then or later.
    pub until: Time,
}

/// Draws all `recipes` by `seed` into the workloads of their names.
pub fn draw(recipes: &[Recipe], seed: u64, blueprint: &mut Blueprint) {
    for recipe in recipes {
        if let Some(spec) = blueprint.workloads.iter_mut().find(|spec| spec.name == recipe.workload) {
            recipe.draw(Some(seed), spec);
        }
    }
}

impl Recipe {
    /// Draws the random choices; without a seed, choices are made in turn.
    pub fn draw(&self, seed: Option<u64>, spec: &mut WorkloadSpec) {
        match (&self.pattern, &mut spec.arrivals) {
            (Pattern::HotHosts { hosts, count }, Arrivals::Poisson(poisson)) => {
                if let DestinationPattern::HotSpot { hosts: drawn, .. } = &mut poisson.pattern {
                    let mut chance = self.chance(seed, "hot-spot");
                    *drawn = hot(hosts, *count, &mut chance).into_iter().map(id).collect();
                }
            }
            (_, arrivals) => *arrivals = Arrivals::List(self.flows(seed)),
        }
    }

    /// The flows, in order of their start; without a seed, choices are made in turn.
    pub fn flows(&self, seed: Option<u64>) -> Vec<FlowSpec> {
        let mut flows = self.drawn(seed);
        flows.iter_mut().enumerate().for_each(|(place, flow)| flow.place = place);
        flows
    }

    fn drawn(&self, seed: Option<u64>) -> Vec<FlowSpec> {
        match &self.pattern {
            Pattern::Permutation { hosts, size, starts } => {
                let mut chance = self.chance(seed, "permutation");
                each(starts, *size, |_| cycle(hosts, &mut chance))
            }
            Pattern::AllToAll { hosts, size, starts } => each(starts, *size, |_| all_to_all(hosts)),
            Pattern::Incast { to, from, fan_in, size, starts } => {
                let mut chance = self.chance(seed, "incast");
                let mut pool = from.clone();
                let starts = match starts {
                    Starts::At(times) => times.clone(),
                    Starts::Poisson { start, until, mean } => {
                        poisson_times((*start, *until), *mean, &mut self.chance(seed, "incast-times"))
                    }
                };
                each(&starts, *size, |turn| {
                    let receiver = to[to_usize(chance.pick(to.len() as u64, turn))];
                    let senders = senders(&mut pool, receiver, *fan_in, &mut chance);
                    senders.into_iter().map(|sender| (sender, receiver)).collect()
                })
            }
            Pattern::MicroBursts { senders, start, again } => self.bursts(senders, *start, *again, seed),
            Pattern::HotHosts { .. } => Vec::new(),
        }
    }

    fn bursts(
        &self,
        senders: &[Bursting],
        start: Time,
        again: Option<Again>,
        seed: Option<u64>,
    ) -> Vec<FlowSpec> {
        let mut flows = Vec::new();
        for sender in senders {
            let times = again.map_or_else(
                || vec![start],
                |Again { every, spacing, synchronised, until }| {
                    let key = if synchronised { 0 } else { sender.key };
                    let key = fold(name_key(&self.workload), key);
                    let mut chance = Chance::new(seed, key, "micro-bursts");
                    starts((start, until), every, spacing, synchronised, &mut chance)
                },
            );
            let flow = |start| flow((sender.source, sender.destination), sender.size, start);
            flows.extend(times.into_iter().map(flow));
        }
        flows.sort_by_key(|flow| flow.start);
        flows
    }

    fn chance(&self, seed: Option<u64>, purpose: &str) -> Chance {
        Chance::new(seed, name_key(&self.workload), purpose)
    }
}

/// The flows of the pairs of each start.
fn each(starts: &[Time], size: Bytes, mut pairs: impl FnMut(u64) -> Vec<(usize, usize)>) -> Vec<FlowSpec> {
    let at = |(turn, &start): (u64, &Time)| {
        pairs(turn).into_iter().map(move |pair| flow(pair, size, start)).collect::<Vec<_>>()
    };
    (0..).zip(starts).flat_map(at).collect()
}

fn flow((source, destination): (usize, usize), size: Bytes, start: Time) -> FlowSpec {
    FlowSpec {
        source: id(source),
        destination: id(destination),
        size,
        start,
        source_port: None,
        destination_port: None,
        path: None,
        ack_path: None,
        settings: None,
        after: Vec::new(),
        wait: Span::ZERO,
        place: 0,
    }
}

fn id(node: usize) -> NodeId {
    NodeId(narrow(node))
}

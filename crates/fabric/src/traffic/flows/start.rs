//! Flow starts of sources.

use floodway_blueprint::bounds::ideal::{Ideals, Packets, Paths};
use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, UNBOUNDED};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::traffic::begin::{Begin, Carrier};
use floodway_blueprint::traffic::hooks::NO_HOOK;
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Span};

use super::{Source, Traffic, following};
use crate::host::messages::Outgoing;
use crate::run::events::{Events, NEVER};

/// The message of a flow that starts now, by the clocks of the simulation and of the run.
pub(crate) fn message_of(
    begin: &Begin,
    (now, run_time): (u64, u64),
    facts: &Facts<'_>,
    ideals: &mut Ideals,
) -> Outgoing {
    let bounded = begin.size < UNBOUNDED;
    let (from, to) = facts.blueprint.workloads[begin.workload as usize].measure;
    Outgoing {
        number: begin.number,
        round: begin.round,
        start: now,
        size: begin.size.0,
        end: Outgoing::packets_of(begin.size.0, facts.blueprint.payload_of(begin.settings).0),
        ideal: if bounded { ideal_of(begin, facts, ideals).0 } else { 0 },
        finish: NEVER,
        retransmitted: 0,
        timeouts: 0,
        cnps: 0,
        hook: begin.hook,
        measured: bounded && from.0 <= run_time && run_time < to.0,
        sent: false,
    }
}

/// The ideal of a flow that begins, in a network that does not change; else it is known at the end of the
/// run.
fn ideal_of(begin: &Begin, facts: &Facts<'_>, ideals: &mut Ideals) -> Span {
    if facts.changes {
        return Span::ZERO;
    }
    let payload = facts.blueprint.payload_of(begin.settings);
    let packets = Packets::new(begin.size, payload, facts.format);
    let facts = facts.path_facts();
    let paths = match begin.pinned.0.as_deref() {
        Some(path) => Paths::one(facts.hops(path.iter().copied())),
        None => ideals.paths(&facts, (begin.source, begin.destination)),
    };
    paths.time(&packets).unwrap_or_default()
}

impl Traffic {
    /// The next flow of a source, which begins now.
    pub fn next_flow(&mut self, facts: &Facts<'_>, source: u32) -> Option<Begin> {
        Some(match &mut self.sources[source as usize] {
            Source::List { workload, flows, next } => {
                let (workload, flow) = (*workload, flows[*next] as usize);
                *next += 1;
                self.listed(facts, workload, flow)
            }
            Source::Poisson { workload, node, rng, number, next } => {
                let spec = &facts.blueprint.workloads[*workload as usize];
                let Arrivals::Poisson(poisson) = &spec.arrivals else { return None };
                let begin = Begin {
                    workload: *workload,
                    settings: spec.settings,
                    source: *node,
                    destination: poisson.draw_destination(*node, rng),
                    size: poisson.sizes.sample(rng),
                    number: *number,
                    round: 0,
                    later: 0,
                    entropy: *number,
                    ports: (None, None),
                    pinned: (None, None),
                    hook: NO_HOOK,
                    carrier: Carrier::AsSet,
                    rank: None,
                };
                *number += 1;
                *next = following(poisson, rng, *next);
                begin
            }
        })
    }

    /// The flow of a list that begins now.
    pub fn listed(&self, facts: &Facts<'_>, workload: u32, flow: usize) -> Begin {
        let spec = &facts.blueprint.workloads[workload as usize];
        let listed = &facts.blueprint.flows_of(workload)[flow];
        let label = self.labels[workload as usize][flow];
        Begin {
            workload,
            settings: listed.settings.unwrap_or(spec.settings),
            source: listed.source,
            destination: listed.destination,
            size: listed.size,
            number: label.number,
            round: 0,
            later: 0,
            entropy: label.entropy,
            ports: (listed.source_port, listed.destination_port),
            pinned: (listed.path.clone(), listed.ack_path.clone()),
            hook: facts.lists.hook_of(workload, flow),
            carrier: Carrier::AsSet,
            rank: self.listed.rank(workload, flow),
        }
    }

    /// Arms the first starts of sources, messages of loops and events of ranks.
    pub fn arm(&mut self, facts: &Facts<'_>, events: &mut Events) {
        for i in 0..self.sources.len() {
            if let Some(at) = self.next_start(facts.blueprint, i) {
                let host = self.host_of(facts.blueprint, narrow(i));
                events.is_at(facts.groups.of(host));
                events.add_start(narrow(i), at);
            }
        }
        self.arm_loops(facts, events);
        self.arm_ranks(facts, events);
    }

    /// May a source still start a measured flow at `now`, by the clock of the run, or later?
    pub fn may_measure(&self, blueprint: &Blueprint, source: usize, now: u64) -> bool {
        let workload = match &self.sources[source] {
            Source::List { workload, .. } | Source::Poisson { workload, .. } => *workload as usize,
        };
        let end = blueprint.workloads[workload].measure.1.0;
        now < end && self.next_start(blueprint, source).is_some_and(|at| at < end)
    }

    /// The host at which a source, or a trigger behind them, starts its next flow.
    pub fn host_of(&self, blueprint: &Blueprint, id: u32) -> NodeId {
        let Some(source) = self.sources.get(id as usize) else {
            return self.triggers.host(blueprint, &self.programs, id - narrow::<u32>(self.sources.len()));
        };
        match source {
            &Source::Poisson { node, .. } => node,
            Source::List { workload, flows, next } => {
                blueprint.flows_of(*workload)[flows[*next] as usize].source
            }
        }
    }
}

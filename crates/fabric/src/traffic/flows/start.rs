//! Flow starts of sources.

use floodway_units::cast::narrow;
use floodway_units::{NodeId, Span};

use super::{Begin, Carrier, PairKey, Source, Traffic, following};
use crate::bounds::ideal::{Ideals, Packets, Paths};
use crate::host::messages::Outgoing;
use crate::network::blueprint::{Arrivals, Blueprint, Sharing, Turns, UNBOUNDED};
use crate::network::facts::Facts;
use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::events::{Events, NEVER};
use crate::traffic::hooks::NO_HOOK;

impl AtNode<'_, '_> {
    /// A source's next flow begins, or what a trigger waited for has come.
    pub fn start_flow(&mut self, source: u32) {
        if let Some(trigger) = source.checked_sub(narrow::<u32>(self.ctx.run.traffic.sources.len())) {
            self.pull(trigger);
            return;
        }
        let Some(begin) = self.ctx.run.traffic.next_flow(self.ctx.facts, source) else { return };
        if let Some(port) = self.begin(&begin) {
            self.ctx.run.out.started.push(self.node.links.id(port));
        }
        let next = self.ctx.run.traffic.next_start(self.ctx.facts.blueprint, source as usize);
        // By the list, NICs try to transmit when all flows of the instant have started: turns do not depend
        // on the order of the starts.
        let listed = self.ctx.facts.blueprint.semantics.turns == Turns::Listed;
        self.ctx.run.out.all_started = next != Some(self.ctx.now) || !listed;
        if let Some(at) = next {
            self.ctx.run.events.add_start(source, at);
        }
    }

    /// Tries to transmit at the NICs of this node where flows have just started, unless more start at this
    /// instant.
    pub fn try_transmit_started(&mut self) {
        if self.ctx.run.out.all_started {
            for i in 0..self.ctx.run.out.started.len() {
                self.try_transmit(self.ctx.facts.local(self.ctx.run.out.started[i]));
            }
            self.ctx.run.out.started.clear();
        }
    }

    /// What a trigger waited for has come, and so has its time: a flow begins, or a rank sends what it may.
    fn pull(&mut self, id: u32) {
        let (traffic, mut ctx) = Traffic::at(&mut self.ctx);
        let Some(rank) = traffic.triggers.rank(id) else {
            if let Some(begin) = traffic.pull(&ctx, id)
                && let Some(port) = self.begin(&begin)
            {
                self.try_transmit(port);
            }
            return;
        };
        let Some((workload, rank, out)) = traffic.wake_rank(&mut ctx, rank) else { return };
        for &posting in &out.postings {
            let (traffic, mut ctx) = Traffic::at(&mut self.ctx);
            if let Some(begin) = traffic.send_message(&mut ctx, (workload, rank), posting)
                && let Some(port) = self.begin(&begin)
            {
                self.try_transmit(port);
            }
        }
        self.ctx.run.traffic.sent_by_rank(out);
    }

    /// A flow starts, on a queue pair of its own or on one that is there; the port of the NIC that is to
    /// look.
    fn begin(&mut self, begin: &Begin) -> Option<Local> {
        let message = begin.message(self.ctx.now, self.ctx.facts, &mut self.ctx.run.ideals);
        let key = begin.pair_key(self.ctx.facts.blueprint);
        match key.as_ref().and_then(|key| self.node.host.pairs.by_key.get(key)) {
            Some(&slot) => self.post(slot, message),
            None => self.open(begin, message, key),
        }
    }
}

impl Begin {
    fn pair_key(&self, blueprint: &Blueprint) -> Option<PairKey> {
        let settings = &blueprint.settings[self.settings];
        match self.carrier {
            Carrier::Loop(index) => Some(PairKey::Loop(self.workload, index)),
            Carrier::Ranks { from, to, channel } => {
                Some(PairKey::Ranks { workload: self.workload, from, to, channel })
            }
            Carrier::AsSet if settings.qp == Sharing::PerFlow => None,
            Carrier::AsSet => Some(PairKey::Pair {
                workload: self.workload,
                settings: self.settings,
                ends: (self.source, self.destination),
                ports: self.ports,
                pinned: self.pinned.clone(),
            }),
        }
    }

    fn message(&self, now: u64, facts: &Facts<'_>, ideals: &mut Ideals) -> Outgoing {
        let bounded = self.size < UNBOUNDED;
        let (from, to) = facts.blueprint.workloads[self.workload as usize].measure;
        Outgoing {
            number: self.number,
            start: now,
            size: self.size.0,
            end: Outgoing::packets_of(self.size.0, facts.blueprint.payload_of(self.settings).0),
            ideal: if bounded { self.ideal(facts, ideals).0 } else { 0 },
            finish: NEVER,
            retransmitted: 0,
            timeouts: 0,
            cnps: 0,
            hook: self.hook,
            measured: bounded && from.0 <= now && now < to.0,
            sent: false,
        }
    }

    /// The ideal of a flow that begins, in a network that does not change; else it is known at the end of the
    /// run.
    fn ideal(&self, facts: &Facts<'_>, ideals: &mut Ideals) -> Span {
        if facts.changes {
            return Span::ZERO;
        }
        let payload = facts.blueprint.payload_of(self.settings);
        let packets = Packets::new(self.size, payload, facts.format);
        let facts = facts.path_facts();
        let paths = match self.pinned.0.as_deref() {
            Some(path) => Paths::one(facts.hops(path.iter().copied())),
            None => ideals.paths(&facts, (self.source, self.destination)),
        };
        paths.time(&packets).unwrap_or_default()
    }
}

impl Traffic {
    /// The next flow of a source, which begins now.
    fn next_flow(&mut self, facts: &Facts<'_>, source: u32) -> Option<Begin> {
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

    /// May a source still start a measured flow at `now` or later?
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

//! What ranks have counted.

use std::sync::atomic::Ordering;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, UNBOUNDED};
use floodway_records::outcome::Control;
use floodway_records::tally::Totals;
use floodway_records::work::Work;

use crate::traffic::triggers::may_measure;

/// What a rank has counted, or all of them, which ends runs.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Census {
    /// By workload.
    pub totals: Vec<Totals>,
    pub waiting: Vec<u64>,
    pub outstanding: Vec<u64>,
    /// Payload that stayed within scale-up domains.
    pub scale_up: Vec<u64>,
    /// A source may still start a measured flow.
    pub sources_may_measure: bool,
    pub flows_done: u64,
    pub flows_started: u64,
    /// Packets received over links.
    pub packet_hops: u64,
}

impl Census {
    /// Are all flows complete that are measured, and will there be no more?
    pub fn is_all_measured_done(&self, blueprint: &Blueprint, now: u64) -> bool {
        let open = |totals: &Totals| totals.measured_open(blueprint.end.acknowledged);
        has_bounded(blueprint)
            && self.totals.iter().all(|totals| open(totals) == 0)
            && !self.sources_may_measure
            && !self.triggers_may_measure(blueprint, now)
    }

    fn triggers_may_measure(&self, blueprint: &Blueprint, now: u64) -> bool {
        let counts = self.waiting.iter().zip(&self.outstanding);
        let mut workloads = blueprint.workloads.iter().zip(counts);
        workloads.any(|(spec, (&waiting, &outstanding))| may_measure(spec, waiting, outstanding, now))
    }

    /// Reports to the observer of the run what is done.
    pub fn report(&self, control: &Control, work: &Work, now: u64) {
        control.flows_done.store(self.flows_done, Ordering::Relaxed);
        control.flows_started.store(self.flows_started, Ordering::Relaxed);
        let totals: Vec<_> = self.totals.iter().zip(self.scale_up.iter().copied()).collect();
        work.report(control, now, &totals);
    }

    pub fn absorb(&mut self, other: &Census) {
        self.totals.iter_mut().zip(&other.totals).for_each(|(totals, more)| totals.absorb(more));
        for (counts, more) in [
            (&mut self.waiting, &other.waiting),
            (&mut self.outstanding, &other.outstanding),
            (&mut self.scale_up, &other.scale_up),
        ] {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count = count.wrapping_add(*more));
        }
        self.sources_may_measure |= other.sources_may_measure;
        self.flows_done += other.flows_done;
        self.flows_started += other.flows_started;
        self.packet_hops += other.packet_hops;
    }
}

/// Does any flow end by itself?
fn has_bounded(blueprint: &Blueprint) -> bool {
    blueprint.workloads.iter().any(|workload| match &workload.arrivals {
        Arrivals::List(flows) => flows.iter().any(|flow| flow.size < UNBOUNDED),
        Arrivals::Poisson(_) | Arrivals::ClosedLoop(_) | Arrivals::Program(_) => true,
    })
}

//! Traffic: senders, receivers, sizes and start times of flows.

pub mod chance;
pub mod collective;
pub mod csv;
pub mod files;
pub mod flows;
pub mod hot_spot;
pub mod hpcc;
pub mod incast;
pub mod micro_bursts;
pub mod models;
pub mod pairs;
pub mod perftest;
pub mod poisson;
pub(crate) mod recipe;
pub mod sizes;
pub mod trace;
pub mod training;

use floodway_units::{Class, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::grammar::document::Window;
use crate::grammar::forms::tags;

pub use collective::Collective;
pub use flows::{FlowList, ListFormat, ListedFlow};
pub use hot_spot::{HotHosts, HotSpot};
pub use incast::Incast;
pub use micro_bursts::{MicroBursts, Spacing};
pub use pairs::{AllToAll, Burst, LongLived, Permutation};
pub use perftest::Perftest;
pub use poisson::Poisson;
pub use trace::Trace;
pub use training::Training;

/// A named source of flows: exactly one of `flows`, `flow-list`, `poisson`, `burst`, `permutation`,
/// `long-lived`, `incast`, `all-to-all`, `micro-bursts`,
/// `perftest`, `collective`, `training`, `trace`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(extend("required" = ["name"]))]
pub struct Workload {
    /// Its name, which results include.
    pub name: String,
    /// Tags, which overrides use to select its flows.
    #[serde(deserialize_with = "tags")]
    pub tags: Vec<String>,
    /// Class of its flows. Default: as the overrides and defaults say, else 3.
    pub class: Option<Class>,
    /// Flows, listed one by one.
    pub flows: Option<Vec<ListedFlow>>,
    /// Flows listed in a file.
    pub flow_list: Option<FlowList>,
    /// Poisson arrivals.
    pub poisson: Option<Poisson>,
    /// One flow from each sender, once or repeatedly.
    pub burst: Option<Burst>,
    /// One flow of each host to another, so that each receives one.
    pub permutation: Option<Permutation>,
    /// Flows without end.
    pub long_lived: Option<LongLived>,
    /// Many flows to one receiver at one instant, drawn by the seed, once or repeatedly.
    pub incast: Option<Incast>,
    /// One flow from each host to every other host.
    pub all_to_all: Option<AllToAll>,
    /// Bursts of microseconds at line rate.
    pub micro_bursts: Option<MicroBursts>,
    /// Messages in a closed loop, as perftest sends them.
    pub perftest: Option<Perftest>,
    /// A collective operation of ranks (GPUs).
    pub collective: Option<Collective>,
    /// Iterations of a training job.
    pub training: Option<Training>,
    /// A job from files that other programs have written.
    pub trace: Option<Trace>,
    /// Its start time. Default: 0.
    pub start: Option<Time>,
    /// No flow starts at this time or later; not of jobs. Default of Poisson arrivals: to the end of the
    /// run.
    pub until: Option<Time>,
    /// Flows that start in this window are measured. Default: as at the top level.
    pub measure: Option<Window>,
    /// Whether its flows are measured. Default: true.
    pub measured: Option<bool>,
}

impl Workload {
    /// The keys of the arrival patterns; a workload must have one of them.
    pub const KINDS: [&'static str; 13] = [
        "flows",
        "flow-list",
        "poisson",
        "burst",
        "permutation",
        "long-lived",
        "incast",
        "all-to-all",
        "micro-bursts",
        "perftest",
        "collective",
        "training",
        "trace",
    ];

    /// Whether a recipe generates its flows.
    pub fn is_generated(&self) -> bool {
        let Workload { permutation, incast, all_to_all, micro_bursts, .. } = self;
        permutation.is_some() || incast.is_some() || all_to_all.is_some() || micro_bursts.is_some()
    }

    /// The keys of [`KINDS`](Self::KINDS) that are set.
    pub fn kinds(&self) -> Vec<&'static str> {
        let there = [
            self.flows.is_some(),
            self.flow_list.is_some(),
            self.poisson.is_some(),
            self.burst.is_some(),
            self.permutation.is_some(),
            self.long_lived.is_some(),
            self.incast.is_some(),
            self.all_to_all.is_some(),
            self.micro_bursts.is_some(),
            self.perftest.is_some(),
            self.collective.is_some(),
            self.training.is_some(),
            self.trace.is_some(),
        ];
        Self::KINDS.into_iter().zip(there).filter_map(|(kind, there)| there.then_some(kind)).collect()
    }
}

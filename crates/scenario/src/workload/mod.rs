//! Traffic: who sends how much to whom, and when.

pub mod csv;
pub mod files;
pub mod flows;
pub mod pairs;
pub mod poisson;
pub mod sizes;

use floodway_units::{Class, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::grammar::document::Window;

pub use flows::{FlowList, ListedFlow};
pub use pairs::{Burst, LongLived, Permutation};
pub use poisson::Poisson;

/// A named source of flows: exactly one of `flows`, `flow-list`, `poisson`, `burst`, `permutation`,
/// `long-lived`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Workload {
    /// Its name; results keep it.
    pub name: String,
    /// Tags, by which overrides select its flows.
    pub tags: Vec<String>,
    /// Class of its flows. Default: as the overrides and defaults say, else 3.
    pub class: Option<Class>,
    /// Flows, one by one.
    pub flows: Option<Vec<ListedFlow>>,
    /// Flows listed in a file.
    pub flow_list: Option<FlowList>,
    /// Poisson arrivals.
    pub poisson: Option<Poisson>,
    /// One flow of each sender, once or again and again.
    pub burst: Option<Burst>,
    /// One flow of each host to another, so that each receives one.
    pub permutation: Option<Permutation>,
    /// Flows without end.
    pub long_lived: Option<LongLived>,
    /// When it begins. Default: 0.
    pub start: Option<Time>,
    /// No flow starts at this time or later. Default of Poisson arrivals: to the end of the run.
    pub until: Option<Time>,
    /// Flows that start in this window are measured. Default: as at the top level.
    pub measure: Option<Window>,
    /// Are its flows measured at all? Default: true.
    pub measured: Option<bool>,
}

impl Workload {
    /// The keys by which flows are said to arrive, of which one must be there.
    pub const KINDS: [&'static str; 6] =
        ["flows", "flow-list", "poisson", "burst", "permutation", "long-lived"];

    /// Those of [`KINDS`](Self::KINDS) that are there.
    pub fn kinds(&self) -> Vec<&'static str> {
        let there = [
            self.flows.is_some(),
            self.flow_list.is_some(),
            self.poisson.is_some(),
            self.burst.is_some(),
            self.permutation.is_some(),
            self.long_lived.is_some(),
        ];
        Self::KINDS.into_iter().zip(there).filter_map(|(kind, there)| there.then_some(kind)).collect()
    }
}

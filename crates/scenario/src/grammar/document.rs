//! A scenario's keys.

use floodway_fabric::blueprint::{Release, Repacing, Rounding, Ties};
use floodway_units::{Bytes, Time};
use floodway_wire::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::selector::Selector;
use super::settings::{Defaults, Override};
use crate::topology::Topology;
use crate::workload::Workload;

/// A scenario.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(extend("required" = ["topology", "workload"]))]
pub struct Document {
    /// What results are filed under. Default: the file's name.
    #[serde(default)]
    pub name: Option<String>,
    /// What it shows.
    #[serde(default)]
    pub description: Option<String>,
    /// Seeds every random stream and tie. Default: 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// Another simulator's semantics in every point; what is set beside it wins.
    #[serde(default)]
    pub profile: Option<Profile>,
    /// Headers of packets. Default: `ethernet`.
    #[serde(default)]
    pub wire: Option<Format>,
    /// Payload of a full packet. Default: 1000 B.
    #[serde(default)]
    pub mtu: Option<Bytes>,
    /// Points in which other simulators differ.
    #[serde(default)]
    pub semantics: SemanticsKeys,
    /// The network.
    pub topology: Topology,
    /// What holds wherever no override says otherwise.
    #[serde(default)]
    pub defaults: Defaults,
    /// Exceptions, later ones win.
    #[serde(default)]
    pub r#override: Vec<Override>,
    /// Traffic.
    #[serde(default)]
    pub workload: Vec<Workload>,
    /// Flows that start in this window are measured. Default: of Poisson arrivals all but the first tenth of
    /// their time, of lists all.
    #[serde(default)]
    pub measure: Option<Window>,
    /// The run ends here at the latest. Default: 100 base round-trip times and 4 times the end of Poisson arrivals
    /// that are measured, or the time by which other measured flows, as their links, paces and faults let them,
    /// would have ended.
    #[serde(default)]
    pub limit: Option<Time>,
    /// What ends the run. Default: `measured`.
    #[serde(default)]
    pub stop: Stop,
    /// What a deadlock does. Default: `stop`.
    #[serde(default)]
    pub on_deadlock: OnDeadlock,
    /// What is kept beyond the tables of flows and counters.
    #[serde(default)]
    pub records: RecordKeys,
}

fn one() -> u64 {
    1
}

/// A part of a scenario that a profile stands for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fragment {
    /// Headers of packets.
    pub wire: Format,
    /// Payload of a full packet.
    pub mtu: Bytes,
    /// Points in which other simulators differ.
    pub semantics: SemanticsKeys,
    /// What holds wherever no override says otherwise.
    pub defaults: Defaults,
    /// Exceptions, later ones win.
    #[serde(default)]
    pub r#override: Vec<Override>,
}

/// Simulators whose semantics are known in every point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// That of SWING's authors.
    SwingNs3,
}

/// Points in which other simulators differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SemanticsKeys {
    /// When a packet's bytes leave the ingress account. Default: `end`.
    pub release: Option<ReleaseKey>,
    /// What orders events of one instant. Default: `hashed`.
    pub ties: Option<TiesKey>,
    /// How a serialisation time is rounded. Default: `picosecond`.
    pub rounding: Option<RoundingKey>,
    /// Seeds of the hash `swing-ns3`, one for each switch. Default: `none`.
    pub hash_seeds: Option<HashSeeds>,
    /// The order in which routing visits neighbours, which orders equal-cost ports. Default: `listed`.
    pub visit: Option<Visit>,
    /// What a new rate does to the packet that waits for its pacing time. Default: `moved`.
    pub repacing: Option<RepacingKey>,
}

impl SemanticsKeys {
    /// What holds where nothing is said.
    pub const DEFAULT: SemanticsKeys = SemanticsKeys {
        release: Some(ReleaseKey::End),
        ties: Some(TiesKey::Hashed),
        rounding: Some(RoundingKey::Picosecond),
        hash_seeds: Some(HashSeeds::None),
        visit: Some(Visit::Listed),
        repacing: Some(RepacingKey::Moved),
    };

    /// What is left out, from `other`.
    pub fn or(self, other: SemanticsKeys) -> SemanticsKeys {
        SemanticsKeys {
            release: self.release.or(other.release),
            ties: self.ties.or(other.ties),
            rounding: self.rounding.or(other.rounding),
            hash_seeds: self.hash_seeds.or(other.hash_seeds),
            visit: self.visit.or(other.visit),
            repacing: self.repacing.or(other.repacing),
        }
    }
}

/// When a packet's bytes leave the ingress account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseKey {
    /// At its last bit.
    End,
    /// At the start of its transmission.
    Start,
}

/// What a new rate does to the packet of a queue pair that waits for its pacing time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepacingKey {
    /// It is paced at the new rate.
    Moved,
    /// Its time stays.
    Kept,
}

/// What orders events of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TiesKey {
    /// Kind, then a keyed hash.
    Hashed,
    /// The order in which they were scheduled (one thread only).
    SchedulingOrder,
}

/// How a serialisation time is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundingKey {
    /// Up to a picosecond.
    Picosecond,
    /// Down to a nanosecond, as ns-3 does.
    TruncatedNs,
}

/// Where the seeds of the hash `swing-ns3` come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HashSeeds {
    /// Nowhere but from `hash-seed` of overrides.
    #[default]
    None,
    /// Draws of ns-3's generator with its default seed, one for each switch in order.
    Mrg32k3a,
}

/// The order in which routing visits neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Visit {
    /// That of the list of nodes.
    #[default]
    Listed,
    /// The same, but the first two aggregation switches change places, as they did in the memory of the
    /// published runs.
    SwingNs3,
}

impl From<ReleaseKey> for Release {
    fn from(key: ReleaseKey) -> Release {
        match key {
            ReleaseKey::End => Release::End,
            ReleaseKey::Start => Release::Start,
        }
    }
}

impl From<TiesKey> for Ties {
    fn from(key: TiesKey) -> Ties {
        match key {
            TiesKey::Hashed => Ties::Hashed,
            TiesKey::SchedulingOrder => Ties::SchedulingOrder,
        }
    }
}

impl From<RepacingKey> for Repacing {
    fn from(key: RepacingKey) -> Repacing {
        match key {
            RepacingKey::Moved => Repacing::Moved,
            RepacingKey::Kept => Repacing::Kept,
        }
    }
}

impl From<RoundingKey> for Rounding {
    fn from(key: RoundingKey) -> Rounding {
        match key {
            RoundingKey::Picosecond => Rounding::Picosecond,
            RoundingKey::TruncatedNs => Rounding::TruncatedNanosecond,
        }
    }
}

/// From one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MeasureWindow")]
pub struct Window {
    /// The first instant. Default: 0.
    #[serde(default)]
    pub from: Time,
    /// The first instant after it.
    pub to: Time,
}

/// What ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The last measured flow, or the limit.
    #[default]
    Measured,
    /// The limit.
    Limit,
}

/// What a deadlock does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnDeadlock {
    /// It ends the run.
    #[default]
    Stop,
    /// It is reported, and the run goes on.
    Continue,
}

/// What is kept beyond the tables of flows and counters.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RecordKeys {
    /// Links whose series are kept, both ways. Default: those tagged `long-haul`, and those of 100 us or
    /// more.
    pub watch: Option<Selector>,
    /// How many egress ports more, the busiest. Default: 8.
    pub busiest: usize,
    /// At most this many buckets of a series. Default: 1000.
    pub buckets: usize,
}

impl Default for RecordKeys {
    fn default() -> Self {
        RecordKeys { watch: None, busiest: 8, buckets: 1000 }
    }
}

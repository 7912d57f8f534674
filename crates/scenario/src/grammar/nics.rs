//! NICs of a host: which of them sends, and what becomes of the queue pairs of one whose link is down.

use floodway_fabric::blueprint::NicPolicy;
use floodway_mechanisms::slots::{keyword_or, keyword_or_schema};
use floodway_units::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which of a host's NICs sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Nics {
    /// For each queue pair one by hash, of those on shortest paths.
    #[default]
    PerQp,
    /// For all queue pairs the first, in the order of links, as in Linux's mode of this name: another one is
    /// used while its link is down.
    ActiveBackup,
    /// For each packet the NIC with the fewest bytes ahead of it. Packets arrive out of order.
    Spray,
}

impl From<Nics> for NicPolicy {
    fn from(nics: Nics) -> NicPolicy {
        match nics {
            Nics::PerQp => NicPolicy::PerQp,
            Nics::ActiveBackup => NicPolicy::ActiveBackup,
            Nics::Spray => NicPolicy::Spray,
        }
    }
}

/// When queue pairs of a NIC whose link is down move to another one: a time, also of zero, or `"off"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failover {
    /// Never.
    Off,
    /// So long after their host knows.
    After(Span),
}

impl Failover {
    /// The time, where there is one.
    pub fn span(self) -> Option<Span> {
        match self {
            Failover::Off => None,
            Failover::After(span) => Some(span),
        }
    }
}

impl Serialize for Failover {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Failover::Off => serializer.serialize_str("off"),
            Failover::After(span) => span.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Failover {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(keyword_or("off", deserializer)?.map_or(Failover::Off, Failover::After))
    }
}

impl JsonSchema for Failover {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Failover".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        keyword_or_schema::<Span>("off", generator)
    }
}

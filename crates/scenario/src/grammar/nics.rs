//! NICs of a host: which of them sends, and what becomes of the queue pairs of one whose link is down.

use std::fmt;

use floodway_fabric::blueprint::NicPolicy;
use floodway_units::Span;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{F64Deserializer, I64Deserializer, StrDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

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
        deserializer.deserialize_any(FailoverVisitor)
    }
}

impl JsonSchema for Failover {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Failover".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "off" }, generator.subschema_for::<Span>()] })
    }
}

struct FailoverVisitor;

impl FailoverVisitor {
    fn after<'de, E: de::Error>(from: impl Deserializer<'de, Error = E>) -> Result<Failover, E> {
        let refuse = |error: E| E::custom(format_args!("{error}, or \"off\""));
        Span::deserialize(from).map(Failover::After).map_err(refuse)
    }
}

impl Visitor<'_> for FailoverVisitor {
    type Value = Failover;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time with its unit, or \"off\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Failover, E> {
        if text == "off" {
            return Ok(Failover::Off);
        }
        let from: StrDeserializer<'_, E> = text.into_deserializer();
        Self::after(from)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Failover, E> {
        let from: I64Deserializer<E> = number.into_deserializer();
        Self::after(from)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Failover, E> {
        let from: F64Deserializer<E> = number.into_deserializer();
        Self::after(from)
    }
}

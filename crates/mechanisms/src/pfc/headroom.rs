//! The headroom parameter.

use std::borrow::Cow;
use std::fmt;

use floodway_units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{
    F64Deserializer, I64Deserializer, MapAccessDeserializer, StrDeserializer, U64Deserializer,
};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::slots::{LinkInfo, Sizing};

/// Headroom: `"30KB"`, `"auto"`, or `{ delays = 3 }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// Computed by the formula.
    Auto,
    /// As given.
    Fixed(Bytes),
    /// A multiple of what the link carries in one delay; one such amount is rounded down to whole bytes
    /// first.
    Delays(u32),
}

/// Headroom as a multiple of rate · delay, which is rounded down to whole bytes before it is multiplied.
#[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "HeadroomByDelays")]
struct ByDelays {
    /// The multiple, at least 0. Default: none, it must be given.
    /// Source: HPCC's simulator has 3.
    delays: u32,
}

impl Headroom {
    /// The bytes on a link, where `auto` gives the formula's value.
    pub fn or_else(self, link: &LinkInfo, auto: impl FnOnce() -> Bytes) -> Bytes {
        match self {
            Headroom::Auto => auto(),
            Headroom::Fixed(size) => size,
            Headroom::Delays(times) => {
                let once = u128::from(link.rate.0) * u128::from(link.delay.0) / 8 / 1_000_000_000_000;
                Bytes(u64::try_from(once * u128::from(times)).unwrap_or(u64::MAX))
            }
        }
    }
}

impl Serialize for Headroom {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Headroom::Auto => Sizing::Auto.serialize(serializer),
            Headroom::Fixed(size) => size.serialize(serializer),
            Headroom::Delays(delays) => ByDelays { delays }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Headroom {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HeadroomVisitor)
    }
}

impl JsonSchema for Headroom {
    fn schema_name() -> Cow<'static, str> {
        "Headroom".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (size, delays) = (generator.subschema_for::<Bytes>(), generator.subschema_for::<ByDelays>());
        json_schema!({ "anyOf": [{ "const": "auto" }, size, delays] })
    }
}

struct HeadroomVisitor;

fn size<'de, E: de::Error>(from: impl Deserializer<'de, Error = E>) -> Result<Headroom, E> {
    match Sizing::deserialize(from)? {
        Sizing::Auto => Ok(Headroom::Auto),
        Sizing::Fixed(size) => Ok(Headroom::Fixed(size)),
    }
}

impl<'de> Visitor<'de> for HeadroomVisitor {
    type Value = Headroom;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size like \"30KB\", \"auto\", or { delays }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Headroom, E> {
        let from: StrDeserializer<'_, E> = text.into_deserializer();
        size(from)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Headroom, E> {
        let from: I64Deserializer<E> = number.into_deserializer();
        size(from)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Headroom, E> {
        let from: U64Deserializer<E> = number.into_deserializer();
        size(from)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Headroom, E> {
        let from: F64Deserializer<E> = number.into_deserializer();
        size(from)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Headroom, A::Error> {
        ByDelays::deserialize(MapAccessDeserializer::new(map)).map(|by| Headroom::Delays(by.delays))
    }
}

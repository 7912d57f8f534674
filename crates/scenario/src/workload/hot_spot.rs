//! Hot spots: a few hosts that receive more than the others.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::chance::Chance;
use super::incast::senders;
use crate::grammar::selector::Selector;

/// A share of the flows goes to a few hot hosts; the destinations of the other flows do not change. This is
/// RCM's experiment, whose numbers are the defaults.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HotSpot {
    /// Probability of a flow to a hot host, from 0 to 1. Default: 0.15.
    pub share: f64,
    /// The hot hosts: a number is the fraction of `to` that is hot, above 0 and up to 1, rounded to whole
    /// hosts and drawn by the seed; a selector selects them. Default: 0.125.
    pub hosts: HotHosts,
}

impl Default for HotSpot {
    fn default() -> Self {
        HotSpot { share: 0.15, hosts: HotHosts::Fraction(0.125) }
    }
}

/// The hot hosts.
#[derive(Clone, Debug, PartialEq)]
pub enum HotHosts {
    /// This fraction of the receivers.
    Fraction(f64),
    /// The hosts that it selects.
    Those(Selector),
}

/// `count` different hosts of `hosts`, lowest first.
pub fn hot(hosts: &[usize], count: usize, chance: &mut Chance) -> Vec<usize> {
    senders(&mut hosts.to_vec(), usize::MAX, count, chance)
}

impl<'de> Deserialize<'de> for HotHosts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HotHostsVisitor)
    }
}

struct HotHostsVisitor;

impl<'de> Visitor<'de> for HotHostsVisitor {
    type Value = HotHosts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fraction like 0.125, a name, a list of names, or { tag = \"...\" }")
    }

    fn visit_f64<E: de::Error>(self, fraction: f64) -> Result<HotHosts, E> {
        Ok(HotHosts::Fraction(fraction))
    }

    fn visit_i64<E: de::Error>(self, fraction: i64) -> Result<HotHosts, E> {
        Ok(HotHosts::Fraction(fraction as f64))
    }

    fn visit_u64<E: de::Error>(self, fraction: u64) -> Result<HotHosts, E> {
        Ok(HotHosts::Fraction(fraction as f64))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<HotHosts, E> {
        let name: StrDeserializer<'_, E> = name.into_deserializer();
        Selector::deserialize(name).map(HotHosts::Those)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<HotHosts, A::Error> {
        Selector::deserialize(SeqAccessDeserializer::new(items)).map(HotHosts::Those)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HotHosts, A::Error> {
        Selector::deserialize(MapAccessDeserializer::new(map)).map(HotHosts::Those)
    }
}

impl JsonSchema for HotHosts {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HotHosts".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let selector = generator.subschema_for::<Selector>();
        let fraction = json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 });
        json_schema!({ "anyOf": [fraction, selector] })
    }
}

//! The pause-threshold parameter.

use std::borrow::Cow;
use std::fmt;

use floodway_units::{Bytes, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{
    F64Deserializer, I64Deserializer, MapAccessDeserializer, StrDeserializer, U64Deserializer,
};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::slots::{keyword_or, keyword_or_schema};

/// The pause threshold: `"320KB"`, `{ fixed = "320KB", alpha = 0.25 }` with one part or both, `"auto"`, or of
/// the whole switch, `{ total = "320KB" }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Xoff {
    /// A share of the shared pool's free bytes, or the bytes that the port's static buffer leaves next to
    /// headroom and MTU - 1.
    Auto,
    /// `fixed` + `alpha` · (free bytes of the pool).
    At {
        /// The part that does not depend on the pool.
        fixed: Bytes,
        /// Share of the pool's free bytes.
        alpha: f64,
        /// The rate up to which `alpha` holds; `None` at every rate.
        per: Option<Per>,
    },
    /// Of all bytes that the switch holds, whatever port and class they came in by.
    Total(Bytes),
}

/// The rate up to which a share of the pool holds: above, it doubles with each doubling of the rate, up to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// That of the NIC of the network's first host.
    Nic,
    /// As given.
    Rate(Rate),
}

impl Per {
    /// `alpha` at a link of `rate`, where NICs have `nic`.
    pub fn grow(self, alpha: f64, rate: Rate, nic: Rate) -> f64 {
        let base = match self {
            Per::Nic => nic,
            Per::Rate(rate) => rate,
        };
        let (mut alpha, mut rate) = (alpha, rate.0);
        while rate > base.0 && alpha < 1.0 {
            alpha = (alpha * 2.0).min(1.0);
            rate /= 2;
        }
        alpha
    }
}

impl Serialize for Per {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Per::Nic => serializer.serialize_str("nic"),
            Per::Rate(rate) => rate.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Per {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(keyword_or::<Rate, D>("nic", deserializer)?.map_or(Per::Nic, Per::Rate))
    }
}

impl JsonSchema for Per {
    fn schema_name() -> Cow<'static, str> {
        "NicOrRate".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        keyword_or_schema::<Rate>("nic", generator)
    }
}

/// A threshold of parts, either of which may be left out: XOFF = `fixed` + `alpha` · free bytes of the pool;
/// or XOFF of the whole switch, `total`.
#[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "XoffParts")]
struct Parts {
    /// The part that does not depend on the pool, in bytes. Default: 0.
    /// Source: IEEE 802.1Qbb leaves it open; SWING's static part is 288 KB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fixed: Option<Bytes>,
    /// Share of the pool's free bytes, at least 0. Default: 0.
    /// Source: switch chips (powers of two from 1/128 to 8); HPCC's simulator has 1/8 at the NICs' rate,
    /// SWING 1/4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    /// The rate up to which `alpha` holds, or `"nic"` for that of the network's first host: above it `alpha`
    /// doubles with each doubling of the link's rate, a part of one included, up to 1. Default: `alpha` holds
    /// at every rate.
    /// Source: HPCC's simulator, whose shift per port is 3 at the NICs' rate and one less per doubling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    per: Option<Per>,
    /// In place of the other parts: XOFF of all bytes that the switch holds. An ingress pauses when a packet
    /// arrives there while they are at least as many, and resumes when one of its packets leaves and they
    /// have fallen to XON, or when it holds nothing. Default: none.
    /// Source: floodway's choice of when each ingress pauses; papers that give one threshold of a switch do
    /// not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<Bytes>,
}

impl Xoff {
    /// A threshold that does not depend on the pool.
    pub fn fixed(fixed: Bytes) -> Self {
        Xoff::At { fixed, alpha: 0.0, per: None }
    }
}

impl Serialize for Xoff {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Xoff::Auto => serializer.serialize_str("auto"),
            Xoff::At { fixed, alpha: 0.0, .. } => fixed.serialize(serializer),
            Xoff::At { fixed, alpha, per } => {
                let fixed = (fixed != Bytes::ZERO).then_some(fixed);
                Parts { fixed, alpha: Some(alpha), per, total: None }.serialize(serializer)
            }
            Xoff::Total(total) => {
                Parts { fixed: None, alpha: None, per: None, total: Some(total) }.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Xoff {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(XoffVisitor)
    }
}

impl JsonSchema for Xoff {
    fn schema_name() -> Cow<'static, str> {
        "Xoff".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (size, parts) = (generator.subschema_for::<Bytes>(), generator.subschema_for::<Parts>());
        json_schema!({ "anyOf": [{ "const": "auto" }, size, parts] })
    }
}

struct XoffVisitor;

fn size<'de, E: de::Error>(from: impl Deserializer<'de, Error = E>) -> Result<Xoff, E> {
    let refuse = |error: E| E::custom(format_args!("{error}, \"auto\", {{ fixed, alpha }}, or {{ total }}"));
    Bytes::deserialize(from).map(Xoff::fixed).map_err(refuse)
}

impl<'de> Visitor<'de> for XoffVisitor {
    type Value = Xoff;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size like \"320KB\", \"auto\", { fixed, alpha }, or { total }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Xoff, E> {
        if text == "auto" {
            return Ok(Xoff::Auto);
        }
        let from: StrDeserializer<'_, E> = text.into_deserializer();
        size(from)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Xoff, E> {
        let from: I64Deserializer<E> = number.into_deserializer();
        size(from)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Xoff, E> {
        let from: U64Deserializer<E> = number.into_deserializer();
        size(from)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Xoff, E> {
        let from: F64Deserializer<E> = number.into_deserializer();
        size(from)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Xoff, A::Error> {
        let parts = Parts::deserialize(MapAccessDeserializer::new(map))?;
        if let Some(total) = parts.total {
            if parts.fixed.is_some() || parts.alpha.is_some() || parts.per.is_some() {
                return Err(de::Error::custom(
                    "`total` is a threshold of its own: leave out the other parts",
                ));
            }
            return Ok(Xoff::Total(total));
        }
        if parts.fixed.is_none() && parts.alpha.is_none() {
            return Err(de::Error::custom("a threshold needs `fixed`, `alpha`, or both, or `total`"));
        }
        if parts.per.is_some() && parts.alpha.is_none() {
            return Err(de::Error::custom(
                "`per` is the rate for which `alpha` holds, and `alpha` is not given",
            ));
        }
        let Parts { fixed, alpha, per, .. } = parts;
        Ok(Xoff::At { fixed: fixed.unwrap_or_default(), alpha: alpha.unwrap_or_default(), per })
    }
}

//! The window parameter: a number of packets, or of bytes.

use std::borrow::Cow;
use std::fmt;

use floodway_units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::StrDeserializer;
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::ser::{Serialize, Serializer};

/// The limit of data in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Packets.
    Packets(u32),
    /// Bytes of payload.
    Payload(Bytes),
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Window::Packets(packets) => packets.serialize(serializer),
            Window::Payload(bytes) => bytes.serialize(serializer),
        }
    }
}

struct WindowVisitor;

impl Visitor<'_> for WindowVisitor {
    type Value = Window;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("packets, like 110, or bytes, like \"110KB\"")
    }

    fn visit_u64<E: de::Error>(self, packets: u64) -> Result<Window, E> {
        let fits = u32::try_from(packets).map(Window::Packets);
        fits.map_err(|_| E::custom(format_args!("{packets} is too large: the maximum is {}", u32::MAX)))
    }

    fn visit_i64<E: de::Error>(self, packets: i64) -> Result<Window, E> {
        let packets = u64::try_from(packets)
            .map_err(|_| E::custom(format_args!("{packets} is not allowed; the minimum is 1")))?;
        self.visit_u64(packets)
    }

    fn visit_f64<E: de::Error>(self, packets: f64) -> Result<Window, E> {
        Err(E::custom(format_args!("{packets} is not a whole number of packets")))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Window, E> {
        let from: StrDeserializer<'_, E> = text.into_deserializer();
        Bytes::deserialize(from).map(Window::Payload)
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WindowVisitor)
    }
}

impl JsonSchema for Window {
    fn schema_name() -> Cow<'static, str> {
        "IrnWindow".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1 }, generator.subschema_for::<Bytes>()] })
    }
}

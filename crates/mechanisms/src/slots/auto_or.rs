//! Quantities or tables, or a keyword instead: `"auto"` or a size, `"off"` or a time.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use floodway_units::{Bytes, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{
    F64Deserializer, I64Deserializer, MapAccessDeserializer, StrDeserializer, U64Deserializer,
};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A size that is given, or follows from a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizing {
    /// The value of the parameter's formula: for a buffer, the flow control's `min_buffer`.
    Auto,
    /// As given.
    Fixed(Bytes),
}

impl Sizing {
    /// The bytes, where `auto` computes the formula's value.
    pub fn or_else(self, auto: impl FnOnce() -> Bytes) -> Bytes {
        match self {
            Sizing::Auto => auto(),
            Sizing::Fixed(size) => size,
        }
    }
}

/// A timer that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// Never expires.
    Off,
    /// Expires after this time.
    After(Span),
}

impl Timeout {
    /// The time, where there is one.
    pub fn span(self) -> Option<Span> {
        match self {
            Timeout::Off => None,
            Timeout::After(span) => Some(span),
        }
    }
}

/// A quantity of a flow's path: computed for the path itself, for the largest of the network, or given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OfPath<T> {
    /// Of the flow's own path.
    #[default]
    Auto,
    /// The largest of all pairs of hosts.
    Largest,
    /// As given, for every flow.
    Fixed(T),
}

impl<T> OfPath<T> {
    /// The applicable value, where `path` is the flow's own and `largest` that of the network.
    pub fn pick(self, path: T, largest: T) -> T {
        match self {
            OfPath::Auto => path,
            OfPath::Largest => largest,
            OfPath::Fixed(given) => given,
        }
    }
}

/// A quantity that is given, or follows from a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrAuto<T> {
    /// The value of the parameter's formula.
    #[default]
    Auto,
    /// As given.
    Given(T),
}

impl<T> OrAuto<T> {
    /// The quantity, where `auto` computes the formula's value.
    pub fn or_else(self, auto: impl FnOnce() -> T) -> T {
        match self {
            OrAuto::Auto => auto(),
            OrAuto::Given(given) => given,
        }
    }
}

impl<T: Serialize> Serialize for OrAuto<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            OrAuto::Auto => serializer.serialize_str("auto"),
            OrAuto::Given(given) => given.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrAuto<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(keyword_or::<T, D>("auto", deserializer)?.map_or(OrAuto::Auto, OrAuto::Given))
    }
}

impl<T: JsonSchema> JsonSchema for OrAuto<T> {
    fn schema_name() -> Cow<'static, str> {
        // Plain numbers have names in small letters.
        let name = T::schema_name();
        let (first, rest) = name.split_at(1);
        format!("{}{rest}OrAuto", first.to_uppercase()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        keyword_or_schema::<T>("auto", generator)
    }
}

impl<T: Serialize> Serialize for OfPath<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            OfPath::Auto => serializer.serialize_str("auto"),
            OfPath::Largest => serializer.serialize_str("largest"),
            OfPath::Fixed(given) => given.serialize(serializer),
        }
    }
}

/// `"largest"` or a quantity.
struct LargestOr<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LargestOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        keyword_or::<T, D>("largest", deserializer).map(LargestOr)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OfPath<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match keyword_or::<LargestOr<T>, D>("auto", deserializer)? {
            None => OfPath::Auto,
            Some(LargestOr(None)) => OfPath::Largest,
            Some(LargestOr(Some(given))) => OfPath::Fixed(given),
        })
    }
}

impl<T: JsonSchema> JsonSchema for OfPath<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OfPath", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "auto" }, { "const": "largest" }, generator.subschema_for::<T>()] })
    }
}

impl Serialize for Sizing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Sizing::Auto => serializer.serialize_str("auto"),
            Sizing::Fixed(size) => size.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Sizing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let size = keyword_or::<Bytes, D>("auto", deserializer)?;
        Ok(size.map_or(Sizing::Auto, Sizing::Fixed))
    }
}

impl JsonSchema for Sizing {
    fn schema_name() -> Cow<'static, str> {
        "Sizing".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        keyword_or_schema::<Bytes>("auto", generator)
    }
}

impl Serialize for Timeout {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Timeout::Off => serializer.serialize_str("off"),
            Timeout::After(span) => span.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Timeout {
    /// A time of zero means off, too.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let span = keyword_or::<Span, D>("off", deserializer)?;
        Ok(span.filter(|span| *span > Span::ZERO).map_or(Timeout::Off, Timeout::After))
    }
}

impl JsonSchema for Timeout {
    fn schema_name() -> Cow<'static, str> {
        "Timeout".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        keyword_or_schema::<Span>("off", generator)
    }
}

/// Reads `keyword` as `None` and anything else as a quantity, whose error then names the keyword as well.
///
/// # Errors
/// What is neither.
pub fn keyword_or<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    keyword: &'static str,
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let due = "a quantity with its unit";
    deserializer.deserialize_any(KeywordOr { keyword, due, value: PhantomData })
}

/// Reads `keyword` as `None`, and a table as a value.
///
/// # Errors
/// What is neither, and what the table cannot be.
pub fn keyword_or_table<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    keyword: &'static str,
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_any(KeywordOr { keyword, due: "a table", value: PhantomData })
}

/// The schema of what [`keyword_or`] and [`keyword_or_table`] read.
pub fn keyword_or_schema<T: JsonSchema>(keyword: &str, generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "const": keyword }, generator.subschema_for::<T>()] })
}

struct KeywordOr<T> {
    keyword: &'static str,
    /// What is allowed beside it.
    due: &'static str,
    value: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> KeywordOr<T> {
    fn value<E: de::Error>(self, from: impl Deserializer<'de, Error = E>) -> Result<Option<T>, E> {
        let refuse = |error: E| E::custom(format_args!("{error}, or {:?}", self.keyword));
        T::deserialize(from).map(Some).map_err(refuse)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for KeywordOr<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, or {:?}", self.due, self.keyword)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<T>, E> {
        if text == self.keyword {
            return Ok(None);
        }
        let from: StrDeserializer<'_, E> = text.into_deserializer();
        self.value(from)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Option<T>, E> {
        let from: I64Deserializer<E> = number.into_deserializer();
        self.value(from)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Option<T>, E> {
        let from: U64Deserializer<E> = number.into_deserializer();
        self.value(from)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Option<T>, E> {
        let from: F64Deserializer<E> = number.into_deserializer();
        self.value(from)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Option<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(table)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: for<'de> Deserialize<'de>>(json: &str) -> Result<T, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_keyword_replaces_a_quantity() {
        assert_eq!(read(r#""auto""#), Ok(Sizing::Auto));
        assert_eq!(read(r#""42MB""#), Ok(Sizing::Fixed(Bytes::mb(42))));
        assert_eq!(read(r#""off""#), Ok(Timeout::Off));
        assert_eq!(read(r#""0ms""#), Ok(Timeout::Off));
        assert_eq!(read(r#""4ms""#), Ok(Timeout::After(Span::ms(4))));
        assert_eq!(read(r#""auto""#), Ok(OfPath::<Span>::Auto));
        assert_eq!(read(r#""largest""#), Ok(OfPath::<Span>::Largest));
        assert_eq!(read(r#""13us""#), Ok(OfPath::Fixed(Span::us(13))));
    }

    #[test]
    fn what_is_neither_is_refused_with_both_spellings() {
        let text = read::<Sizing>(r#""atuo""#).unwrap_err();
        assert!(text.contains(r#"write it like "288KB", or "auto""#), "{text}");
        let path = read::<OfPath<Span>>(r#""larges""#).unwrap_err();
        assert!(path.contains(r#"write it like "10us", or "largest", or "auto""#), "{path}");
        let number = read::<Timeout>("4").unwrap_err();
        assert!(number.contains(r#"its unit is missing; write it like "10us", or "off""#), "{number}");
    }
}

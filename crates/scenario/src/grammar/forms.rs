//! Forms that several keys share: one or many, a number or a table, flow control by class, faults.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use floodway_fabric::blueprint::ErrorRates;
use floodway_mechanisms::registry::FlowControlParams;
use floodway_units::cast::narrow;
use floodway_units::{Class, Length, Span, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};

/// A list, or one value as a list of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Many<T>(pub Vec<T>);

impl<T> Default for Many<T> {
    fn default() -> Self {
        Many(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ManyVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Many<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        let name = T::schema_name();
        let (first, rest) = name.split_at(1);
        format!("{}{rest}List", first.to_uppercase()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

struct ManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ManyVisitor<T> {
    type Value = Many<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one or a list")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Many<T>, E> {
        T::deserialize(text.into_deserializer()).map(|one| Many(vec![one]))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Many<T>, E> {
        T::deserialize(number.into_deserializer()).map(|one| Many(vec![one]))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Many<T>, E> {
        T::deserialize(number.into_deserializer()).map(|one| Many(vec![one]))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Many<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|one| Many(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Many<T>, A::Error> {
        let mut many = Vec::new();
        while let Some(item) = items.next_element()? {
            many.push(item);
        }
        Ok(Many(many))
    }
}

/// A list of tags, none of which is empty.
pub fn tags<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let tags: Vec<Named> = Vec::deserialize(deserializer)?;
    Ok(tags.into_iter().map(|tag| tag.0).collect())
}

/// A name or an id that is not empty, where one is given.
pub fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Named>::deserialize(deserializer)?.map(|named| named.0))
}

/// A whole number of which an error says `due`, what is allowed.
pub fn whole<'de, D: Deserializer<'de>>(due: &'static str, deserializer: D) -> Result<u32, D::Error> {
    deserializer.deserialize_any(Whole(due))
}

struct Whole(&'static str);

impl Visitor<'_> for Whole {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u32, E> {
        u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u32, E> {
        u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }
}

/// The reason why an empty text names nothing.
pub const EMPTY: &str = "it is empty, and so names nothing; write at least one character, or leave it out";

struct Named(String);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() { Err(de::Error::custom(EMPTY)) } else { Ok(Named(text)) }
    }
}

/// Flow control of a link: `"pfc"` or `pfc = { … }` for every class of data, or `class-3.pfc = { … }` for
/// the classes named, the others being lossy.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowControl {
    /// For every class of data in use.
    All(FlowControlParams),
    /// For these classes.
    ByClass(BTreeMap<u8, FlowControlParams>),
}

impl FlowControl {
    /// The flow control of `class`, if it has one.
    pub fn of(&self, class: Class) -> Option<&FlowControlParams> {
        match self {
            FlowControl::All(params) => Some(params),
            FlowControl::ByClass(classes) => classes.get(&class.0),
        }
    }

    /// All chosen flow controls, mutable, with the class of each; no class where one applies to all.
    pub fn by_class(&mut self) -> Box<dyn Iterator<Item = (Option<u8>, &mut FlowControlParams)> + '_> {
        match self {
            FlowControl::All(params) => Box::new(std::iter::once((None, params))),
            FlowControl::ByClass(classes) => {
                Box::new(classes.iter_mut().map(|(class, params)| (Some(*class), params)))
            }
        }
    }

    /// All chosen flow controls.
    pub fn choices(&self) -> impl Iterator<Item = &FlowControlParams> {
        let (all, classes) = match self {
            FlowControl::All(params) => (Some(params), None),
            FlowControl::ByClass(classes) => (None, Some(classes.values())),
        };
        all.into_iter().chain(classes.into_iter().flatten())
    }
}

impl<'de> Deserialize<'de> for FlowControl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlowControlVisitor)
    }
}

impl JsonSchema for FlowControl {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FlowControl".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let params = generator.subschema_for::<FlowControlParams>();
        json_schema!({ "anyOf": [
            params,
            { "type": "object", "patternProperties": { "^class-[0-57]$": params },
              "additionalProperties": false },
        ] })
    }
}

struct FlowControlVisitor;

/// The number in `class-<n>`, if it is a class of data.
fn class_of(key: &str) -> Option<Result<u8, String>> {
    let number = key.strip_prefix("class-")?;
    Some(match number.parse::<u8>() {
        Ok(class) if class < narrow::<u8>(Class::COUNT) && Class(class) != Class::CONTROL => Ok(class),
        _ => Err(format!("{key:?} is not a class of data; allowed: class-0 to class-5, class-7")),
    })
}

impl<'de> Visitor<'de> for FlowControlVisitor {
    type Value = FlowControl;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a name or a table with one of: {}", FlowControlParams::names().join(", "))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<FlowControl, E> {
        FlowControlParams::deserialize(name.into_deserializer()).map(FlowControl::All)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FlowControl, A::Error> {
        let mut key = map.next_key::<String>()?;
        let mut classes = BTreeMap::new();
        while let Some(class) = key.as_deref().and_then(class_of) {
            classes.insert(class.map_err(de::Error::custom)?, map.next_value()?);
            key = map.next_key()?;
        }
        match key {
            Some(key) if !classes.is_empty() => Err(de::Error::custom(format_args!(
                "{key:?} is given beside classes; allowed: class-0 to class-5, class-7"
            ))),
            None if !classes.is_empty() => Ok(FlowControl::ByClass(classes)),
            key => {
                let whole = MapAccessDeserializer::new(Rewound { key, map });
                FlowControlParams::deserialize(whole).map(FlowControl::All)
            }
        }
    }
}

/// DSCPs of classes of data: `{ class-3 = 26 }`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DscpByClass(pub BTreeMap<u8, u8>);

impl<'de> Deserialize<'de> for DscpByClass {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DscpVisitor)
    }
}

impl JsonSchema for DscpByClass {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DscpByClass".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let dscp = json_schema!({ "type": "integer", "minimum": 0, "maximum": 63 });
        json_schema!({ "type": "object", "patternProperties": { "^class-[0-57]$": dscp },
            "additionalProperties": false })
    }
}

struct DscpVisitor;

impl<'de> Visitor<'de> for DscpVisitor {
    type Value = DscpByClass;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of classes and their DSCP, like { class-3 = 26 }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DscpByClass, A::Error> {
        const MOST: i64 = 63;
        let mut classes = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            let class = class_of(&key).unwrap_or_else(|| Err(format!("{key:?} is not a class like class-3")));
            let value = map.next_value::<i64>()?;
            let dscp = u8::try_from(value).ok().filter(|_| value <= MOST);
            let wrong = || de::Error::custom(format_args!("{value} is not a DSCP from 0 to {MOST}"));
            classes.insert(class.map_err(de::Error::custom)?, dscp.ok_or_else(wrong)?);
        }
        Ok(DscpByClass(classes))
    }
}

/// A map whose first key has already been read.
struct Rewound<A> {
    key: Option<String>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Rewound<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.key.take() {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => self.map.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Faults of a link or of a node.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Faults {
    /// Probability that a frame is damaged: a number for all kinds, or `{ data, control, link-control }`.
    /// Default: 0.
    pub error_rate: ErrorRate,
    /// Maximum of the random delay that is added to each frame's propagation; order is kept. Default: 0.
    pub jitter: Span,
    /// Times at which the link is down. Default: never.
    pub down: Many<Period>,
    /// Time until the ends of the link detect that it is down, or up again. Until then they send into a dead
    /// link, and these packets are lost. Default: 0.
    pub detection: Span,
    /// Time from then until routes are computed again, everywhere at once. Until then packets are sent to the
    /// port of the dead link, and are lost there. Default: 0.
    pub convergence: Span,
    /// Other delays of the link from given instants on, for example where protection switches to another
    /// fibre; order is kept. Default: none.
    pub switchover: Many<Switchover>,
    /// A forced pause: a port pauses its upstream, whatever its buffer holds. Default: none.
    pub pause: Many<Pause>,
    /// Times at which relays are bypassed: their two links are joined, so that frames and pauses pass as on
    /// one link; what they hold then is lost, and at both instants their neighbours' flow control begins
    /// anew. Default: never.
    pub bypass: Many<Period>,
}

/// A period from one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Period {
    /// The first instant.
    pub from: Time,
    /// The first instant after the period.
    pub to: Time,
}

/// A new delay of a link from an instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switchover {
    /// The delay applies to frames sent from then on.
    pub at: Time,
    /// The delay. Default: by `length`.
    pub delay: Option<Span>,
    /// The length, at 5 us/km. Not together with `delay`. Default: by `delay`.
    pub length: Option<Length>,
}

/// A pause that a faulty node sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// The paused class. Default: 3.
    #[serde(default = "data_class")]
    pub class: Class,
    /// First pause.
    pub from: Time,
    /// Resume. Default: never.
    #[serde(default = "never")]
    #[schemars(extend("default" = null))]
    pub to: Time,
}

fn data_class() -> Class {
    Class::DATA
}

fn never() -> Time {
    Time::NEVER
}

/// Probability that a frame is damaged, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorRate(pub ErrorRates);

/// Probability that a frame is damaged, by kind.
#[derive(Default, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ErrorRates")]
struct ByKind {
    /// Of data packets. Default: 0.
    #[serde(deserialize_with = "probability")]
    data: f64,
    /// Of ACK, NAK and CNP. Default: 0.
    #[serde(deserialize_with = "probability")]
    control: f64,
    /// Of link control frames, such as PFC's. Default: 0.
    #[serde(deserialize_with = "probability")]
    link_control: f64,
}

/// Each key has its own error, whose place may be a value set from outside the file.
fn probability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    checked(f64::deserialize(deserializer)?)
}

fn checked<E: de::Error>(rate: f64) -> Result<f64, E> {
    if (0.0..=1.0).contains(&rate) {
        return Ok(rate);
    }
    Err(E::custom(format_args!("{rate} is not a probability from 0 to 1")))
}

impl<'de> Deserialize<'de> for ErrorRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ErrorRateVisitor)
    }
}

impl JsonSchema for ErrorRate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ErrorRate".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<ByKind>();
        json_schema!({ "anyOf": [{ "type": "number", "minimum": 0, "maximum": 1 }, table] })
    }
}

struct ErrorRateVisitor;

impl<'de> Visitor<'de> for ErrorRateVisitor {
    type Value = ErrorRate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a probability from 0 to 1, or { data, control, link-control }")
    }

    fn visit_f64<E: de::Error>(self, rate: f64) -> Result<ErrorRate, E> {
        let rate = checked(rate)?;
        Ok(ErrorRate(ErrorRates { data: rate, control: rate, link_control: rate }))
    }

    fn visit_i64<E: de::Error>(self, rate: i64) -> Result<ErrorRate, E> {
        self.visit_f64(rate as f64)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ErrorRate, A::Error> {
        let ByKind { data, control, link_control } = ByKind::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ErrorRate(ErrorRates { data, control, link_control }))
    }
}

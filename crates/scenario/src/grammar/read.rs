//! Typed values from the tree through serde, so that an error has its key, its line, and the values that are
//! allowed in place of the given one.

use std::fmt::{self, Display};

use floodway_units::cast::narrow;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use floodway_units::text::counted;

use super::sets::ROOTS;
use super::tree::{Entry, Node, Value};
use crate::error::{Place, ScenarioError};

/// Reads a value from `node` at `path`.
///
/// # Errors
/// The value that does not fit, with its place.
pub fn read<T: DeserializeOwned>(node: &Node, path: &[&str]) -> Result<T, ScenarioError> {
    attempt(node).map_err(|fault| fault.error(node, path))
}

/// Reads a value from `node`, or returns the fault.
pub(super) fn attempt<T: DeserializeOwned>(node: &Node) -> Result<T, Fault> {
    T::deserialize(Reader(node))
}

/// A path as `--set` spells it: the path of a value of an override begins with the override's name.
pub fn key_path(segments: &[&str]) -> String {
    match segments {
        ["override", name, ..] if name.parse::<usize>().is_err() => segments[1..].join("."),
        _ => segments.join("."),
    }
}

/// The path that [`key_path`] spelled as `key`.
pub fn path_of_key(key: &str) -> impl Iterator<Item = &str> {
    let is_root = key.split('.').next().is_some_and(|first| ROOTS.contains(&first));
    let list = (!is_root).then_some("override");
    list.into_iter().chain(key.split('.'))
}

/// The reason why a value could not be read.
#[derive(Debug)]
pub(super) struct Fault {
    /// The keys that lead to it, the innermost first.
    pub path: Vec<String>,
    place: Option<Place>,
    pub what: What,
}

/// The kind of a fault.
#[derive(Debug)]
pub(super) enum What {
    Message(String),
    /// A required key is missing.
    Missing(&'static str),
    Unknown {
        given: String,
        what: &'static str,
        allowed: Vec<String>,
    },
}

/// The name in [`What::Unknown`] for a key, in contrast to a value.
pub(super) const KEY: &str = "a key";

impl Fault {
    fn message(message: String) -> Self {
        Fault { path: Vec::new(), place: None, what: What::Message(message) }
    }

    fn unknown(given: &str, what: &'static str, allowed: &'static [&'static str]) -> Self {
        let allowed = allowed.iter().map(|&word| word.to_owned()).collect();
        Fault {
            path: Vec::new(),
            place: None,
            what: What::Unknown { given: given.to_owned(), what, allowed },
        }
    }

    /// The error as users see it: `node`, from which the value was to be read, is at `path`.
    pub fn error(self, node: &Node, path: &[&str]) -> ScenarioError {
        let place = self.place.unwrap_or_else(|| node.place.clone());
        let mut segments: Vec<&str> = path.to_vec();
        segments.extend(self.path.iter().rev().map(String::as_str));
        let key = key_path(&segments);
        match self.what {
            What::Message(message) => ScenarioError::new(place, key, message),
            What::Missing(field) => ScenarioError::new(place, key, missing(field)),
            What::Unknown { given, what, allowed } => {
                ScenarioError::unknown(place, key, &given, what, allowed)
            }
        }
    }

    /// The fault is inside the value of `key`.
    fn inside(mut self, key: String, place: &Place) -> Self {
        self.path.push(key);
        self.place.get_or_insert_with(|| place.clone());
        self
    }

    fn at(mut self, place: &Place) -> Self {
        self.place.get_or_insert_with(|| place.clone());
        self
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Message(message) => f.write_str(message),
            What::Missing(field) => f.write_str(&missing(field)),
            What::Unknown { given, what, allowed } => {
                write!(f, "{given:?} is not {what}; allowed: {}", allowed.join(", "))
            }
        }
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Fault::message(message.to_string())
    }

    fn invalid_type(given: Unexpected<'_>, due: &dyn Expected) -> Self {
        let due = due.to_string();
        Fault::message(format!(
            "{} where {} is required{}",
            spelled(given),
            plain(&due),
            instead(given, &due)
        ))
    }

    fn invalid_value(given: Unexpected<'_>, due: &dyn Expected) -> Self {
        Self::invalid_type(given, due)
    }

    fn unknown_variant(given: &str, allowed: &'static [&'static str]) -> Self {
        if allowed.is_empty() {
            return Fault::message(format!("{given:?} is not a choice: there is none yet"));
        }
        Fault::unknown(given, "a choice", allowed)
    }

    fn unknown_field(given: &str, allowed: &'static [&'static str]) -> Self {
        Fault::unknown(given, KEY, allowed)
    }

    fn missing_field(field: &'static str) -> Self {
        Fault { path: Vec::new(), place: None, what: What::Missing(field) }
    }
}

fn missing(field: &str) -> String {
    format!("the key {field:?} is missing")
}

fn spelled(given: Unexpected<'_>) -> String {
    match given {
        Unexpected::Str(text) => format!("the string {text:?}"),
        Unexpected::Signed(number) => format!("the number {number}"),
        Unexpected::Unsigned(number) => format!("the number {number}"),
        Unexpected::Float(number) => format!("the number {number}"),
        Unexpected::Bool(flag) => format!("{flag}"),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "a table".into(),
        other => other.to_string(),
    }
}

/// Names of Rust's types in the terms of users.
fn plain(due: &str) -> String {
    match due {
        "u8" => "a whole number from 0 to 255".into(),
        "u16" => "a whole number from 0 to 65535".into(),
        "u32" => "a whole number from 0 to 4294967295".into(),
        "u64" | "usize" => "a whole number of at least 0".into(),
        "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list".into(),
        due if due.starts_with("struct ") => "a table".into(),
        due => due.to_owned(),
    }
}

/// The suggested spelling, where the given one allows one.
fn instead(given: Unexpected<'_>, due: &str) -> String {
    let is_number =
        matches!(due, "u8" | "u16" | "u32" | "u64" | "usize" | "f64") || due.starts_with("a whole number");
    match given {
        Unexpected::Str(text) if is_number => share(text)
            .or_else(|| text.trim().parse().ok())
            .map_or_else(String::new, |number| format!(": write {number}, without quotation marks")),
        Unexpected::Float(number) if is_number && number.fract() == 0.0 && number.abs() < 1e18 => {
            format!(": write {number}, without a point or an exponent")
        }
        Unexpected::Map if due == "a sequence" => ": put [ ] around it, or [[ ]] around its header".into(),
        _ => String::new(),
    }
}

/// The fraction that a percentage gives.
pub(super) fn share(text: &str) -> Option<f64> {
    let percent: f64 = text.trim().strip_suffix('%')?.trim().parse().ok()?;
    percent.is_finite().then_some(percent / 100.0)
}

struct Reader<'a>(&'a Node);

impl<'de> de::Deserializer<'de> for Reader<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Integer(number) => match i64::try_from(*number) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => visitor.visit_u64(narrow(*number)),
            },
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::List(items) => {
                let mut rest = Items { items, next: 0 };
                let value = visitor.visit_seq(&mut rest)?;
                match rest.next {
                    all if all == items.len() => Ok(value),
                    most => {
                        let found = counted(items.len(), "value");
                        Err(Fault::message(format!("{found} where {most} are required")))
                    }
                }
            }
            Value::Table(entries) => {
                visitor.visit_map(Entries { entries, next: 0 }).map_err(|fault| at_key(fault, entries))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let one_of = || variants.join(", ");
        match &self.0.value {
            Value::Text(text) => visitor.visit_enum(Bare(text)),
            Value::Table(entries) => match entries.as_slice() {
                [entry] => visitor.visit_enum(Variant(entry)).map_err(|fault| at_key(fault, entries)),
                [] => Err(Fault::message(format!("nothing is chosen: name one of {}", one_of()))),
                [first, second, ..] => {
                    let message =
                        format!("{:?} and {:?} are chosen: name one of {}", first.key, second.key, one_of());
                    Err(Fault::message(message).at(&second.place))
                }
            },
            _ => self.deserialize_any(OneOf(one_of())).map(|never| match never {}),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let is_other = !matches!(self.0.value, Value::Table(_)) && !fields.is_empty();
        // The derived code of serde would also read a list, in the order of the fields, which is not
        // documented.
        let read = match &self.0.value {
            Value::List(_) => Err(de::Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        };
        read.map_err(|mut fault: Fault| {
            if let (true, [], What::Message(message)) = (is_other, &fault.path[..], &mut fault.what) {
                *message = format!("{message}, with these keys: {}", fields.join(", "));
            }
            fault
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// A fault about a key of this table has the place of that key.
fn at_key(fault: Fault, entries: &[Entry]) -> Fault {
    let place = match &fault.what {
        What::Unknown { given, .. } if fault.path.is_empty() => {
            entries.iter().find(|entry| entry.key == *given).map(|entry| &entry.place)
        }
        _ => None,
    };
    match place {
        Some(place) => fault.at(place),
        None => fault,
    }
}

/// Rejects values that are neither a name nor a table.
struct OneOf(String);

impl Visitor<'_> for OneOf {
    type Value = std::convert::Infallible;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of {}", self.0)
    }
}

struct Items<'a> {
    items: &'a [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let label = item.label(self.next);
        self.next += 1;
        seed.deserialize(Reader(item)).map(Some).map_err(|fault| fault.inside(label, &item.place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

struct Entries<'a> {
    entries: &'a [Entry],
    /// The entry whose key is read next; its value follows.
    next: usize,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let Some(entry) = self.entries.get(self.next) else { return Ok(None) };
        self.next += 1;
        let key = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|fault: Fault| fault.at(&entry.place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let entry = &self.entries[self.next - 1];
        seed.deserialize(Reader(&entry.node))
            .map_err(|fault| fault.inside(entry.key.clone(), &entry.node.place))
    }
}

/// A bare name, as an enum.
#[derive(Clone, Copy)]
struct Bare<'a>(&'a str);

impl Bare<'_> {
    fn needs_keys(self) -> Fault {
        Fault::message(format!("{:?} needs keys of its own: write {{ {} = {{ ... }} }}", self.0, self.0))
    }
}

impl<'de> EnumAccess<'de> for Bare<'_> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        seed.deserialize(self.0.into_deserializer()).map(|value| (value, self))
    }
}

impl<'de> VariantAccess<'de> for Bare<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value, Fault> {
        Err(self.needs_keys())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value, Fault> {
        Err(self.needs_keys())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Fault> {
        Err(self.needs_keys())
    }
}

/// A table with one key, as an enum.
#[derive(Clone, Copy)]
struct Variant<'a>(&'a Entry);

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let key = self.0.key.as_str().into_deserializer();
        seed.deserialize(key).map(|value| (value, self)).map_err(|fault: Fault| fault.at(&self.0.place))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        let message = format!("{:?} takes no parameters", self.0.key);
        Err(Fault::message(message).at(&self.0.place))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        let Entry { key, node, .. } = self.0;
        seed.deserialize(Reader(node)).map_err(|fault| fault.inside(key.clone(), &node.place))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Fault> {
        let Entry { key, node, .. } = self.0;
        de::Deserializer::deserialize_any(Reader(node), visitor)
            .map_err(|fault| fault.inside(key.clone(), &node.place))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let Entry { key, node, .. } = self.0;
        de::Deserializer::deserialize_struct(Reader(node), "", fields, visitor)
            .map_err(|fault| fault.inside(key.clone(), &node.place))
    }
}

#[cfg(test)]
mod tests {
    use floodway_mechanisms::registry::FlowControlParams;
    use floodway_units::Span;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    struct Sample {
        #[serde(default)]
        flow_control: Option<FlowControlParams>,
        #[serde(default)]
        delays: Vec<Span>,
        #[serde(default)]
        pair: Option<(u8, u8)>,
    }

    fn error(text: &str) -> String {
        let tree = Node::parse("a.toml", text).expect("it is TOML");
        read::<Sample>(&tree, &[]).unwrap_err().to_string()
    }

    #[test]
    fn a_choice_is_a_name_or_a_table() {
        for text in ["flow-control = 'pfc'", "flow-control.pfc = { react = '1us' }"] {
            let tree = Node::parse("a", text).expect("it is TOML");
            let sample: Sample = read(&tree, &[]).expect("it fits");
            assert_eq!(sample.flow_control.expect("it is there").name(), "pfc");
            assert!(sample.delays.is_empty());
        }
    }

    fn flow_controls() -> String {
        floodway_mechanisms::registry::FlowControlParams::names().join(", ")
    }

    #[test]
    fn unknown_names_are_answered_with_the_allowed_ones() {
        assert_eq!(
            error("\nflow-control = 'pcf'"),
            format!(
                r#"a.toml:2: flow-control: "pcf" is not a choice; allowed: {}; did you mean "pfc"?"#,
                flow_controls()
            )
        );
        assert_eq!(
            error("\n\nflow-control.pcf = {}"),
            format!(
                r#"a.toml:3: flow-control: "pcf" is not a choice; allowed: {}; did you mean "pfc"?"#,
                flow_controls()
            )
        );
        assert_eq!(
            error("flow-contorl = 'pfc'"),
            r#"a.toml:1: "flow-contorl" is not a key; allowed: flow-control, delays, pair; did you mean "flow-control"?"#
        );
        assert!(
            error("flow-control.pfc = {\nreacts = '1us' }")
                .starts_with(r#"a.toml:2: flow-control.pfc: "reacts" is not a key; allowed: "#)
        );
    }

    #[test]
    fn lists_of_a_fixed_length_have_that_length() {
        let tree = Node::parse("a", "pair = [1, 2]").expect("it is TOML");
        assert_eq!(read::<Sample>(&tree, &[]).expect("it fits").pair, Some((1, 2)));
        assert_eq!(error("\npair = [1, 2, 3]"), "a.toml:2: pair: 3 values where 2 are required");
        assert!(error("\npair = [1]").starts_with("a.toml:2: pair: invalid length 1"));
    }

    #[test]
    fn wrong_kinds_and_quantities_get_plain_errors() {
        assert_eq!(error("delays = 3"), "a.toml:1: delays: the number 3 where a list is required");
        assert_eq!(
            error("delays = ['1us',\n'-3us']"),
            r#"a.toml:2: delays.2: "-3us" is not a time: it is negative; write it like "10us""#
        );
        assert_eq!(
            error("delays = [3]"),
            r#"a.toml:1: delays.1: "3" is not a time: its unit is missing; write it like "10us""#
        );
    }
}

//! Distributions of flow sizes: published ones by name, a user's file, points, or one size.

use std::fmt;

use floodway_fabric::sizes::{Sizes, SizesError};
use floodway_units::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use floodway_units::text::counted;

use super::files::Files;
use crate::error::nearest;
use crate::grammar::tree::{Entry, Node, Value};

/// The published distributions, with their sources.
const PUBLISHED: &str = include_str!("../../data/distributions.toml");

/// Sizes of flows: `"fb-hadoop"`, `{ file = "x.cdf" }`, `{ fixed = "1MB" }`, or points of
/// `[size, cumulative percent]`.
#[derive(Clone, Debug, PartialEq)]
pub enum SizesKey {
    /// A published distribution.
    Named(String),
    /// Points, the last at 100 %.
    Points(Vec<(Bytes, f64)>),
    /// Lines of bytes and cumulative percent.
    File(String),
    /// The same size for every flow.
    Fixed(Bytes),
}

impl SizesKey {
    /// The distribution, or the fault with the line of its file where the file is faulty.
    ///
    /// # Errors
    /// The reason why there is no distribution.
    pub fn load(&self, files: &Files<'_>) -> Result<Sizes, SizesFault> {
        match self {
            SizesKey::Fixed(Bytes(0)) => Err(SizesFault::new("a flow of 0B has no bytes")),
            SizesKey::Fixed(size) => Ok(Sizes::fixed(*size)),
            SizesKey::Named(name) => published(name),
            SizesKey::Points(points) => {
                let points: Vec<_> = points.iter().map(|(size, share)| (size.0 as f64, *share)).collect();
                Sizes::new(&points).map_err(|error| SizesFault::new(error.to_string()))
            }
            SizesKey::File(file) => {
                let text = files.read(file).map_err(SizesFault::new)?;
                parse(&text).map_err(|(line, why)| SizesFault { file: Some((file.clone(), line)), why })
            }
        }
    }
}

/// The reason why there is no distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizesFault {
    /// The faulty file and line, where the fault is not in the scenario.
    pub file: Option<(String, u32)>,
    /// The fault.
    pub why: String,
}

impl SizesFault {
    fn new(why: impl Into<String>) -> Self {
        SizesFault { file: None, why: why.into() }
    }
}

/// A published distribution, as users see it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Published {
    /// Its name in scenarios.
    pub name: String,
    /// The measured traffic.
    pub what: String,
    /// Source of the numbers.
    pub source: String,
    /// Mean size of a flow.
    pub mean_bytes: f64,
}

/// Every published distribution.
pub fn published_all() -> Vec<Published> {
    let table = Node::parse("distributions", PUBLISHED);
    let entries = table.map_or_else(|_| Vec::new(), |table| table.entries().to_vec());
    let described = |entry: Entry| {
        let text = |key: &str| entry.node.get(key).and_then(Node::text).unwrap_or_default().to_owned();
        let (what, source) = (text("what"), text("source"));
        let mean_bytes = published(&entry.key).map_or(f64::NAN, |sizes| sizes.mean());
        Published { name: entry.key, what, source, mean_bytes }
    };
    entries.into_iter().map(described).collect()
}

/// Names of the published distributions.
pub fn names() -> Vec<String> {
    let table = Node::parse("distributions", PUBLISHED);
    table.map_or_else(|_| Vec::new(), |table| table.entries().iter().map(|entry| entry.key.clone()).collect())
}

fn published(name: &str) -> Result<Sizes, SizesFault> {
    let table =
        Node::parse("distributions", PUBLISHED).map_err(|error| SizesFault::new(error.to_string()))?;
    let Some(points) = table.get(name).and_then(|entry| entry.get("points")) else {
        let names = names();
        let hint = nearest(name, &names).map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
        let why = format!("{name:?} is not a distribution; allowed: {}{hint}", names.join(", "));
        return Err(SizesFault::new(why));
    };
    let number = |node: &Node| match node.value {
        Value::Integer(number) => number as f64,
        Value::Float(number) => number,
        _ => f64::NAN,
    };
    let points: Vec<(f64, f64)> = points
        .items()
        .iter()
        .map(|point| match point.items() {
            [size, share] => (number(size), number(share)),
            _ => (f64::NAN, f64::NAN),
        })
        .collect();
    Sizes::new(&points).map_err(|error| SizesFault::new(error.to_string()))
}

/// The usual format: lines of bytes and cumulative percent; `#` begins a comment.
fn parse(text: &str) -> Result<Sizes, (u32, String)> {
    let mut points = Vec::new();
    let mut lines = Vec::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => continue,
            [size, share] => match (size.parse::<f64>(), share.parse::<f64>()) {
                (Ok(size), Ok(share)) => points.push((size, share)),
                _ => return Err((number, "a line is bytes and cumulative percent, two numbers".into())),
            },
            _ => return Err((number, format!("{}, where two are required", counted(words.len(), "column")))),
        }
        lines.push(number);
    }
    Sizes::new(&points).map_err(|error| {
        let line = match error {
            SizesError::NotMonotone { index, .. } | SizesError::NotANumber { index } => lines[index - 1],
            _ => lines.last().copied().unwrap_or(1),
        };
        (line, error.to_string())
    })
}

impl<'de> Deserialize<'de> for SizesKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SizesVisitor)
    }
}

/// The content of a table of sizes.
#[derive(Clone, Copy, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Given {
    File,
    Fixed,
}

/// The key before this one must be the only one.
struct NoOther(Given);

impl<'de> DeserializeSeed<'de> for NoOther {
    type Value = std::convert::Infallible;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let second = String::deserialize(deserializer)?;
        let first = match self.0 {
            Given::File => "file",
            Given::Fixed => "fixed",
        };
        let why = format_args!("{second:?} is given with {first:?}, which takes no other key");
        Err(de::Error::custom(why))
    }
}

/// Sizes from a file.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct SizesFile {
    /// The file, relative to the scenario's folder: lines of bytes and cumulative percent; `#` begins a
    /// comment.
    #[expect(dead_code, reason = "it describes a form")]
    file: String,
}

/// The same size for every flow.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FixedSize {
    /// The size.
    #[expect(dead_code, reason = "it describes a form")]
    fixed: Bytes,
}

struct SizesVisitor;

impl<'de> Visitor<'de> for SizesVisitor {
    type Value = SizesKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the name of a distribution, { file = \"...\" }, { fixed = \"1MB\" }, or a list of points",
        )
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<SizesKey, E> {
        Ok(SizesKey::Named(name.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<SizesKey, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(SizesKey::Points)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SizesKey, A::Error> {
        let Some(given) = map.next_key()? else {
            return Err(de::Error::custom("nothing is chosen: name one of file, fixed"));
        };
        let sizes = match given {
            Given::File => SizesKey::File(map.next_value()?),
            Given::Fixed => SizesKey::Fixed(map.next_value()?),
        };
        match map.next_key_seed(NoOther(given))? {
            None => Ok(sizes),
            Some(never) => match never {},
        }
    }
}

impl JsonSchema for SizesKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sizes".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (file, fixed) = (generator.subschema_for::<SizesFile>(), generator.subschema_for::<FixedSize>());
        let points = generator.subschema_for::<Vec<(Bytes, f64)>>();
        json_schema!({
            "description": "Sizes of flows: a published distribution, a file, one size, or points of size and cumulative percent.",
            "anyOf": [{ "type": "string", "enum": names() }, file, fixed, points],
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn published_distributions_have_their_published_means() {
        let means = [
            ("websearch", 1_711_250),
            ("fb-hadoop", 120_421),
            ("fb-hadoop-fine", 121_849),
            ("webserver", 66_121),
            ("webserver-r", 33_107),
            ("cachefollower", 712_574),
            ("alistorage", 40_870),
            ("solar", 39_424),
            ("googlerpc", 2_892),
            ("datamining", 12_658_199),
            ("datamining-b", 7_487_884),
            ("enterprise", 157_357),
        ];
        assert_eq!(means.len(), names().len());
        for (name, mean) in means {
            let sizes = published(name).expect("it is there");
            assert!((sizes.mean() - f64::from(mean)).abs() <= 1.0, "{name}: {}", sizes.mean());
        }
    }

    #[test]
    fn a_file_has_two_columns_that_do_not_fall() {
        let sizes = parse("# comment\n0 0\n1000 50\n\n2000 100 # end\n").expect("it is a distribution");
        assert_eq!(sizes.mean(), 1000.0);
        assert_eq!(parse("0 0\n5 60\n4 100\n").unwrap_err().0, 3);
        assert!(parse("0 0\n5 60\n4 100\n").unwrap_err().1.contains("lies below the one before"));
        assert_eq!(parse("0 0\n5\n").unwrap_err(), (2, "1 column, where two are required".into()));
        assert_eq!(parse("0 0\nx 100\n").unwrap_err().0, 2);
        assert!(parse("").unwrap_err().1.contains("at least two points"));
    }

    #[test]
    fn unknown_names_get_the_nearest() {
        let files = Files { folder: Path::new("."), tables: None };
        let fault = SizesKey::Named("fb-hadop".into()).load(&files).unwrap_err();
        assert!(fault.why.ends_with("did you mean \"fb-hadoop\"?"), "{}", fault.why);
        assert!(SizesKey::Fixed(Bytes(0)).load(&files).is_err());
    }
}

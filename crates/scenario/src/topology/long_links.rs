//! Long links between sites: one by one, or by a matrix, a ring or a full mesh.

use std::collections::BTreeMap;
use std::fmt;

use floodway_units::{Length, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use floodway_units::text::counted;

use super::explicit::two;
use super::matrix::{Blank, Matrix, cell, matrix};
use super::network::{Hop, TopologyError, count};
use super::sites::Long;
use crate::error::nearest;
use crate::grammar::forms::{Many, tags};

/// Links between sites: a list of them, or a table of the distances between sites.
#[derive(Clone, Debug, PartialEq)]
pub enum LongLinks {
    /// One by one.
    List(Vec<ListedLong>),
    /// By a rule.
    Table(Box<LongTable>),
}

/// A long link, or several equal ones.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedLong {
    /// The names of the two sites.
    #[serde(deserialize_with = "two")]
    pub between: [String; 2],
    /// Rate of each link. No default.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Delay. Not together with `length`; one of the two must be given.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length, at 5 us/km. Not together with `delay`; one of the two must be given.
    #[serde(default)]
    pub length: Option<Length>,
    /// Number of parallel links, at least 1. Default: 1.
    #[serde(default)]
    pub count: Option<usize>,
    /// Tags in addition to `long-haul` and that of the pair of sites. Default: none.
    #[serde(default, deserialize_with = "tags")]
    pub tags: Vec<String>,
}

/// The links between sites, by exactly one of `lengths`, `delays`, `ring` and `full-mesh`, and their rates
/// and numbers.
///
/// A matrix has a row and a column for each site, in their order. A long link is the same both ways, so one
/// half of the matrix may be left blank (`""`, or 0). Where both halves are given they must be equal.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LongTable {
    /// Lengths of long links, a matrix; blank where there is no link. Default: none.
    pub lengths: Option<Vec<Vec<Blank<Length>>>>,
    /// Delays of long links, a matrix; blank where there is no link. Default: none.
    pub delays: Option<Vec<Vec<Blank<Span>>>>,
    /// Lengths or delays around a ring: from each site to the next one, from the last to the first (two sites
    /// have one link); one value applies to all. Default: none.
    pub ring: Option<Many<Distance>>,
    /// Length or delay between any two sites. Default: none.
    pub full_mesh: Option<Distance>,
    /// Rate of long links that have none in `rates`. No default.
    pub rate: Option<Rate>,
    /// Rates of long links, a matrix; blank where `rate` applies. Default: none.
    pub rates: Option<Vec<Vec<Blank<Rate>>>>,
    /// Number of parallel links, where `counts` does not give it. Default: 1.
    pub count: Option<usize>,
    /// Numbers of parallel links, a matrix; 0 where there is no long link. Default: `count` of each.
    pub counts: Option<Vec<Vec<usize>>>,
    /// Tags in addition to `long-haul` and that of the pair of sites. Default: none.
    #[serde(deserialize_with = "tags")]
    pub tags: Vec<String>,
}

/// A length or a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// Of fibre, at 5 us/km.
    Length(Length),
    /// Of propagation.
    Delay(Span),
}

impl LongLinks {
    /// The links between the sites of these names, earlier sites first.
    pub(super) fn between(&self, sites: &[String]) -> Result<Vec<Long>, TopologyError> {
        let mut long = Vec::new();
        match self {
            LongLinks::List(list) => {
                for (i, link) in list.iter().enumerate() {
                    link.add(sites, &mut long).map_err(|error| error.below(&(i + 1).to_string()))?;
                }
            }
            LongLinks::Table(table) => table.add(sites, &mut long)?,
        }
        Ok(long)
    }
}

/// Adds equal links.
fn add(
    long: &mut Vec<Long>,
    mut between: [usize; 2],
    count: usize,
    line: (Rate, Span),
    tags: &[String],
) -> Result<(), TopologyError> {
    between.sort_unstable();
    let all = super::network::count("count", long.len().saturating_add(count), 0)?;
    long.resize_with(all, || Long { between, line, tags: tags.to_vec() });
    Ok(())
}

impl ListedLong {
    fn add(&self, sites: &[String], long: &mut Vec<Long>) -> Result<(), TopologyError> {
        let find = |name: &String| {
            sites.iter().position(|site| site == name).ok_or_else(|| {
                let hint = nearest(name, sites);
                let hint = hint.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                let message = format!("no site is named {name:?}; allowed: {}{hint}", sites.join(", "));
                TopologyError::new("between", message)
            })
        };
        let between = [find(&self.between[0])?, find(&self.between[1])?];
        if between[0] == between[1] {
            let message = format!("site {:?} is linked with itself", self.between[0]);
            return Err(TopologyError::new("between", message));
        }
        let line = Hop { rate: self.rate, delay: self.delay, length: self.length }.resolve()?;
        add(long, between, count("count", self.count.unwrap_or(1), 1)?, line, &self.tags)
    }
}

impl LongTable {
    fn add(&self, sites: &[String], long: &mut Vec<Long>) -> Result<(), TopologyError> {
        let (key, distances) = self.distances(sites)?;
        let rates = matrix("rates", self.rates.as_ref(), sites, |rate| rate.0)?;
        let counts = matrix("counts", self.counts.as_ref(), sites, |&count| (count > 0).then_some(count))?;
        if let Some(rates) = &rates {
            rates.only_where(&distances, "a rate", sites).map_err(|error| error.below("rates"))?;
        }
        if let Some(counts) = &counts {
            counts.only_where(&distances, "a count", sites).map_err(|error| error.below("counts"))?;
        }
        let each = count("count", self.count.unwrap_or(1), 1)?;
        for (pair, &distance) in &distances.0 {
            let rate = rates.as_ref().and_then(|rates| rates.0.get(pair)).copied().or(self.rate);
            let Some(rate) = rate else { return Err(self.no_rate(*pair, sites)) };
            let count = counts.as_ref().map_or(Some(each), |counts| counts.0.get(pair).copied());
            let line = distance.hop(rate).resolve();
            let line = line.map_err(|error| TopologyError::new(key, error.message))?;
            add(long, [pair.0, pair.1], count.unwrap_or(0), line, &self.tags)?;
        }
        Ok(())
    }

    fn no_rate(&self, pair: (usize, usize), sites: &[String]) -> TopologyError {
        match self.rates {
            Some(_) => {
                let (path, place) = cell(pair, sites);
                let message = format!("{place} has no rate, and there is no \"rate\" for all");
                TopologyError::new("", message).below_all(&path).below("rates")
            }
            None => TopologyError::new("", "the key \"rate\" is missing"),
        }
    }

    /// Distances between the sites that are linked, and the key that gives them.
    fn distances(&self, sites: &[String]) -> Result<(&'static str, Matrix<Distance>), TopologyError> {
        let keys = [
            ("lengths", self.lengths.is_some()),
            ("delays", self.delays.is_some()),
            ("ring", self.ring.is_some()),
            ("full-mesh", self.full_mesh.is_some()),
        ];
        let given: Vec<&'static str> = keys.iter().filter(|(_, given)| *given).map(|(key, _)| *key).collect();
        let allowed = "lengths, delays, ring, full-mesh";
        match given[..] {
            [key] => Ok((key, self.distances_of(sites)?)),
            [] => Err(TopologyError::new("", format!("it has no distances: give one of {allowed}"))),
            [first, second, ..] => {
                let message = format!("{first:?} and {second:?} are given: give one of {allowed}");
                Err(TopologyError::new(second, message))
            }
        }
    }

    fn distances_of(&self, sites: &[String]) -> Result<Matrix<Distance>, TopologyError> {
        let length = |cell: &Blank<Length>| cell.0.map(Distance::Length);
        let delay = |cell: &Blank<Span>| cell.0.map(Distance::Delay);
        if let Some(lengths) = matrix("lengths", self.lengths.as_ref(), sites, length)? {
            return Ok(lengths);
        }
        if let Some(delays) = matrix("delays", self.delays.as_ref(), sites, delay)? {
            return Ok(delays);
        }
        match (&self.ring, self.full_mesh) {
            (Some(Many(ring)), _) => around(ring, sites.len()),
            (None, Some(distance)) => {
                let pairs = (0..sites.len()).flat_map(|a| (a + 1..sites.len()).map(move |b| (a, b)));
                Ok(Matrix(pairs.map(|pair| (pair, distance)).collect()))
            }
            (None, None) => Ok(Matrix(BTreeMap::new())),
        }
    }
}

/// From each site to the next, and from the last to the first; two sites have one link.
fn around(ring: &[Distance], sites: usize) -> Result<Matrix<Distance>, TopologyError> {
    let links = if sites == 2 { 1 } else { sites };
    if ring.len() != links && ring.len() != 1 {
        let message = format!(
            "it has {} for {} among {sites} sites",
            counted(ring.len(), "value"),
            counted(links, "link")
        );
        return Err(TopologyError::new("ring", message));
    }
    let link = |at: usize| {
        let next = (at + 1) % sites;
        ((at.min(next), at.max(next)), ring[at % ring.len()])
    };
    Ok(Matrix((0..links).map(link).collect()))
}

impl Distance {
    fn hop(self, rate: Rate) -> Hop {
        match self {
            Distance::Length(length) => Hop { rate: Some(rate), delay: None, length: Some(length) },
            Distance::Delay(delay) => Hop { rate: Some(rate), delay: Some(delay), length: None },
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distance::Length(length) => length.fmt(f),
            Distance::Delay(delay) => delay.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Distance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match (text.parse(), text.parse()) {
            (Ok(length), _) => Ok(Distance::Length(length)),
            (_, Ok(delay)) => Ok(Distance::Delay(delay)),
            _ => Err(de::Error::custom(format_args!(
                "{text:?} is neither a length like \"80km\" nor a time like \"400us\""
            ))),
        }
    }
}

impl JsonSchema for Distance {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Distance".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (length, delay) = (generator.subschema_for::<Length>(), generator.subschema_for::<Span>());
        json_schema!({ "anyOf": [length, delay] })
    }
}

impl<'de> Deserialize<'de> for LongLinks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LongLinksVisitor)
    }
}

struct LongLinksVisitor;

impl<'de> Visitor<'de> for LongLinksVisitor {
    type Value = LongLinks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of links, or a table with one of lengths, delays, ring, full-mesh")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<LongLinks, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(LongLinks::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LongLinks, A::Error> {
        Box::deserialize(MapAccessDeserializer::new(map)).map(LongLinks::Table)
    }
}

impl JsonSchema for LongLinks {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LongLinks".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let list = generator.subschema_for::<Vec<ListedLong>>();
        let table = generator.subschema_for::<LongTable>();
        json_schema!({ "anyOf": [list, table] })
    }
}

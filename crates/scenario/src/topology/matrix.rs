//! Matrices with a row and a column for each site, the same both ways.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;

use floodway_units::{Length, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};

use floodway_units::text::counted;

use super::network::TopologyError;

/// A quantity; none where the text is empty or the quantity is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blank<T>(pub Option<T>);

/// A quantity that may be blank.
pub trait Quantity: Copy + std::str::FromStr<Err: Display> {
    /// Zero.
    const ZERO: Self;
}

impl Quantity for Length {
    const ZERO: Length = Length(0);
}

impl Quantity for Span {
    const ZERO: Span = Span::ZERO;
}

impl Quantity for Rate {
    const ZERO: Rate = Rate(0);
}

impl<'de, T: Quantity + PartialEq> Deserialize<'de> for Blank<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BlankVisitor(std::marker::PhantomData))
    }
}

struct BlankVisitor<T>(std::marker::PhantomData<T>);

impl<T: Quantity + PartialEq> de::Visitor<'_> for BlankVisitor<T> {
    type Value = Blank<T>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a quantity with its unit, \"\" or 0")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Blank<T>, E> {
        if text.trim().is_empty() {
            return Ok(Blank(None));
        }
        let quantity: T = text.parse().map_err(E::custom)?;
        Ok(Blank((quantity != T::ZERO).then_some(quantity)))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Blank<T>, E> {
        if number == 0 {
            Ok(Blank(None))
        } else {
            Err(E::invalid_type(de::Unexpected::Signed(number), &self))
        }
    }
}

impl<T: JsonSchema> JsonSchema for Blank<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrBlank", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let quantity = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [quantity, { "type": "string", "const": "" }, { "type": "integer", "const": 0 }] })
    }
}

/// Values for pairs of sites, the earlier site first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix<T>(pub BTreeMap<(usize, usize), T>);

/// The values of the matrix at `key`, if there is one.
pub(super) fn matrix<C, T: Copy + PartialEq + Display>(
    key: &str,
    rows: Option<&Vec<Vec<C>>>,
    sites: &[String],
    value: impl Fn(&C) -> Option<T>,
) -> Result<Option<Matrix<T>>, TopologyError> {
    let Some(rows) = rows else { return Ok(None) };
    is_square(rows, sites).map_err(|error| error.below(key))?;
    let mut values = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        for (j, this) in row.iter().enumerate() {
            let Some(this) = value(this) else { continue };
            let (path, place) = cell((i, j), sites);
            let refuse = |message| TopologyError::new("", message).below_all(&path).below(key);
            if i == j {
                return Err(refuse(format!("{place} is {this}: a site has no long link to itself")));
            }
            match values.insert((i.min(j), i.max(j)), this) {
                Some(other) if other != this => {
                    let (_, mirror) = cell((j, i), sites);
                    return Err(refuse(format!(
                        "{place} is {this}, but {mirror} is {other}: a long link is the same both ways"
                    )));
                }
                _ => {}
            }
        }
    }
    Ok(Some(Matrix(values)))
}

fn is_square<C>(rows: &[Vec<C>], sites: &[String]) -> Result<(), TopologyError> {
    let due = sites.len();
    if rows.len() != due {
        return Err(TopologyError::new("", format!("it has {} for {due} sites", counted(rows.len(), "row"))));
    }
    match rows.iter().position(|row| row.len() != due) {
        Some(i) => {
            let message =
                format!("row {:?} has {} for {due} sites", sites[i], counted(rows[i].len(), "column"));
            Err(TopologyError::new(&(i + 1).to_string(), message))
        }
        None => Ok(()),
    }
}

/// The keys that lead to a cell, and its name in messages.
pub(super) fn cell((row, column): (usize, usize), sites: &[String]) -> ([String; 2], String) {
    let path = [(row + 1).to_string(), (column + 1).to_string()];
    (path, format!("row {:?}, column {:?}", sites[row], sites[column]))
}

impl<T> Matrix<T> {
    /// Rejects values of pairs that `joined` does not link.
    pub fn only_where<D>(
        &self,
        joined: &Matrix<D>,
        what: &str,
        sites: &[String],
    ) -> Result<(), TopologyError> {
        match self.0.keys().find(|pair| !joined.0.contains_key(*pair)) {
            Some(&(a, b)) => {
                let (a, b) = (&sites[a], &sites[b]);
                Err(TopologyError::new("", format!("{a:?} and {b:?} have {what}, but no distance")))
            }
            None => Ok(()),
        }
    }
}

//! Readings: which variants stand for which, at which points, with which further values.

use serde_json::{Map, Value};

use super::document::Document;
use super::model::{Axis, Sets, Variant};
use super::names::Text;
use crate::error::ScenarioError;

/// A reading with those that it is `like`.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    pub name: String,
    pub says: String,
    pub setting: String,
    variants: Map<String, Value>,
    at: Map<String, Value>,
    sets: Sets,
}

impl Reading {
    /// The points of a claim in this reading.
    pub fn at(&self, given: &Map<String, Value>) -> Map<String, Value> {
        let mut at = given.clone();
        at.extend(self.at.clone());
        at
    }

    /// The variant that stands for `name`; one with further values is added to `variants`.
    pub fn variant(&self, name: &str, variants: &mut Vec<Variant>) -> String {
        let stands = self.variants.get(name).and_then(Value::as_str).unwrap_or(name);
        if self.sets.is_empty() {
            return stands.to_owned();
        }
        let own = format!("{stands}, {}", self.name);
        if !variants.iter().any(|variant| variant.name == own) {
            // An unknown name is refused where it stands.
            let Some(from) = variants.iter().find(|variant| variant.name == stands) else {
                return stands.to_owned();
            };
            let mut made = Variant {
                name: own.clone(),
                label: format!("{}, {}", from.label, self.name),
                of_reading: true,
                ..from.clone()
            };
            made.sets.extend(self.sets.clone());
            variants.push(made);
        }
        own
    }
}

/// Reads the readings.
pub fn readings(
    text: Text<'_>,
    document: &Document,
    axes: &[Axis],
    variants: &[Variant],
) -> Result<Vec<Reading>, ScenarioError> {
    let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    let mut made: Vec<Reading> = Vec::new();
    for given in &document.reading {
        let path = ["reading", given.name.as_str()];
        let at = |key| [&path[..], &[key]].concat();
        text.some(&at("name"), &given.name)?;
        if made.iter().any(|other| other.name == given.name) {
            return Err(text.same_name("reading", "readings", &given.name));
        }
        let mut reading = Reading::default();
        for like in &given.like.0 {
            let Some(other) = made.iter().find(|other| other.name == *like) else {
                let above: Vec<_> = made.iter().map(|other| other.name.as_str()).collect();
                return Err(text.unknown(&at("like"), like, "a reading above this one", &above));
            };
            reading.variants.extend(other.variants.clone());
            reading.at.extend(other.at.clone());
            reading.sets.extend(other.sets.clone());
            if !other.setting.is_empty() {
                reading.setting.clone_from(&other.setting);
            }
        }
        for (name, stands) in &given.variants {
            let inner = [&at("variants")[..], &[name.as_str()]].concat();
            text.choice(&inner, name, "a variant of this study", &names)?;
            let Some(stands) = stands.as_str() else {
                return Err(text.fault(&inner, "is not the name of a variant"));
            };
            text.choice(&inner, stands, "a variant of this study", &names)?;
        }
        text.known_axes(&at("at"), &given.at, axes)?;
        let sets = text.sets(&at("set"), &given.set)?;
        for (key, _) in &sets {
            let sets =
                |axis: &&Axis| axis.points.iter().any(|point| point.sets.iter().any(|(own, _)| own == key));
            if let Some(axis) = axes.iter().find(sets) {
                let message = format!("the axis {} sets it, too, and would take precedence", axis.name);
                return Err(text.fault(&[&at("set")[..], &[key.as_str()]].concat(), message));
            }
        }
        reading.variants.extend(given.variants.clone());
        reading.at.extend(given.at.clone());
        reading.sets.extend(sets);
        if !given.setting.is_empty() {
            reading.setting.clone_from(&given.setting);
        }
        reading.name.clone_from(&given.name);
        reading.says.clone_from(&given.says);
        made.push(reading);
    }
    Ok(made)
}

//! Faults of a study with their places, and names that must be those of something in it.

use serde_json::{Map, Value};

use super::forms::{Toml, plain, toml_text};
use super::model::{Axis, Coordinates, Sets};
use crate::error::{Place, ScenarioError};
use crate::grammar::tree::Node;

/// The text of a study, for the places of its faults.
#[derive(Clone, Copy)]
pub struct Text<'a>(pub &'a Node);

impl Text<'_> {
    /// A fault of the value at `path`.
    pub fn fault(self, path: &[&str], message: impl Into<String>) -> ScenarioError {
        ScenarioError::new(self.0.place_of(path.iter().copied()), path.join("."), message)
    }

    /// The fault of the second element of a list that has this name.
    pub fn same_name(self, list: &str, what: &str, name: &str) -> ScenarioError {
        let items = self.0.get(list).map_or(&[][..], Node::items).iter().enumerate();
        let places: Vec<Place> = items
            .filter(|(i, item)| item.label(*i) == name)
            .map(|(_, item)| item.place_of(["name"]))
            .collect();
        let first = match &places[..] {
            [Place { line: Some(line), .. }, _, ..] => format!(", the first in line {line}"),
            _ => String::new(),
        };
        let place = places.get(1).or(places.last()).cloned().unwrap_or_else(|| self.0.place_of([list]));
        let why = format!("{name:?}: two {what} have this name{first}");
        ScenarioError::new(place, format!("{list}.{name}.name"), why)
    }

    /// A fault of a value that is not one of `allowed`.
    pub fn unknown<T: AsRef<str>>(
        self,
        path: &[&str],
        given: &str,
        what: &str,
        allowed: &[T],
    ) -> ScenarioError {
        let allowed = allowed.iter().map(|name| name.as_ref().to_owned()).collect();
        ScenarioError::unknown(self.0.place_of(path.iter().copied()), path.join("."), given, what, allowed)
    }

    /// A fault that lists what is allowed.
    pub fn fault_with<T: AsRef<str>>(
        self,
        path: &[&str],
        message: impl Into<String>,
        allowed: &[T],
    ) -> ScenarioError {
        let allowed = allowed.iter().map(|name| name.as_ref().to_owned()).collect();
        ScenarioError { allowed, ..self.fault(path, message) }
    }

    /// The name, if it is one of `allowed`.
    pub fn choice<T: AsRef<str>>(
        self,
        path: &[&str],
        given: &str,
        what: &str,
        allowed: &[T],
    ) -> Result<String, ScenarioError> {
        if allowed.iter().any(|name| name.as_ref() == given) {
            return Ok(given.to_owned());
        }
        Err(self.unknown(path, given, what, allowed))
    }

    /// As [`Text::choice`], for each of several names.
    pub fn choices<T: AsRef<str>>(
        self,
        path: &[&str],
        given: &[String],
        what: &str,
        allowed: &[T],
    ) -> Result<Vec<String>, ScenarioError> {
        given.iter().map(|name| self.choice(path, name, what, allowed)).collect()
    }

    /// Text that must not be blank.
    pub fn some(self, path: &[&str], text: &str) -> Result<String, ScenarioError> {
        if text.trim().is_empty() {
            return Err(self.fault(path, "is empty; a text is required"));
        }
        Ok(text.to_owned())
    }

    /// Key paths with their values as TOML.
    pub fn sets(self, path: &[&str], given: &Map<String, Value>) -> Result<Sets, ScenarioError> {
        let below = |key| [path, &[key]].concat();
        given
            .iter()
            .map(|(key, value)| {
                let first = value.as_object().and_then(|inner| inner.keys().next());
                if let Some(first) = first.filter(|_| !key.contains('.')) {
                    let message = format!("is a table; quote the whole path, as in \"{key}.{first}\" = ...");
                    return Err(self.fault(&below(key), message));
                }
                let text =
                    toml_text(value).ok_or_else(|| self.fault(&below(key), "is not a finite number"))?;
                Ok((key.clone(), text))
            })
            .collect()
    }

    /// A point of an axis, by its name or by its value.
    pub fn point(self, path: &[&str], axis: &Axis, given: &Value) -> Result<String, ScenarioError> {
        let wanted = plain(given);
        if axis.points.iter().any(|point| point.name == wanted) {
            return Ok(wanted);
        }
        let number = given.as_f64().filter(|_| given.is_number());
        let of_number =
            number.and_then(|number| axis.points.iter().find(|point| point.number == Some(number)));
        match of_number {
            Some(point) => Ok(point.name.clone()),
            None => {
                Err(self.unknown(path, &wanted, &format!("a point of the axis {}", axis.name), &axis.names()))
            }
        }
    }

    /// The axis of this name.
    pub fn axis<'b>(self, path: &[&str], name: &str, axes: &'b [Axis]) -> Result<&'b Axis, ScenarioError> {
        axes.iter().find(|axis| axis.name == name).ok_or_else(|| {
            let names: Vec<_> = axes.iter().map(|axis| axis.name.as_str()).collect();
            self.unknown(path, name, "an axis of this study", &names)
        })
    }

    /// Points by axis, in the order of the axes: a single one of each.
    pub fn points(
        self,
        path: &[&str],
        given: &Map<String, Value>,
        axes: &[Axis],
    ) -> Result<Coordinates, ScenarioError> {
        self.known_axes(path, given, axes)?;
        let of = |axis: &Axis| {
            let value = given.get(&axis.name)?;
            let point = self.point(&[path, &[axis.name.as_str()]].concat(), axis, value);
            Some(point.map(|point| (axis.name.clone(), point)))
        };
        axes.iter().filter_map(of).collect()
    }

    /// Refuses names that are no axes.
    pub fn known_axes(
        self,
        path: &[&str],
        given: &Map<String, Value>,
        axes: &[Axis],
    ) -> Result<(), ScenarioError> {
        given.keys().try_for_each(|name| self.axis(&[path, &[name.as_str()]].concat(), name, axes).map(drop))
    }

    /// Points by axis, several of each; a single one needs no list.
    pub fn lists(
        self,
        path: &[&str],
        given: &Map<String, Value>,
        axes: &[Axis],
    ) -> Result<Vec<(String, Vec<String>)>, ScenarioError> {
        let mut found = Vec::new();
        for (name, value) in given {
            let inner = [path, &[name.as_str()]].concat();
            let axis = self.axis(&inner, name, axes)?;
            let many = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let points: Result<Vec<_>, _> = many.iter().map(|each| self.point(&inner, axis, each)).collect();
            found.push((name.clone(), points?));
        }
        Ok(found)
    }

    /// A point of every axis; an axis with a single point may be left out. `free` axes have none.
    pub fn coordinates(
        self,
        path: &[&str],
        given: &Map<String, Value>,
        axes: &[Axis],
        free: &[&str],
    ) -> Result<Coordinates, ScenarioError> {
        let found = self.points(path, given, axes)?;
        let mut full = Coordinates::new();
        for axis in axes {
            let own = found.iter().find(|(name, _)| *name == axis.name);
            match (own, free.contains(&axis.name.as_str())) {
                (Some(_), true) => {
                    let message = format!("{}: the picture goes along this axis; it has no point", axis.name);
                    return Err(self.fault(path, message));
                }
                (Some(own), false) => full.push(own.clone()),
                (None, true) => {}
                (None, false) => full.push((axis.name.clone(), self.only_point(path, axis, &[])?)),
            }
        }
        Ok(full)
    }

    /// The point of an axis that has only one; `also` is allowed, too.
    pub fn only_point(self, path: &[&str], axis: &Axis, also: &[&str]) -> Result<String, ScenarioError> {
        if let [only] = axis.points.as_slice() {
            return Ok(only.name.clone());
        }
        let mut allowed = axis.names();
        allowed.extend(also.iter().map(|&name| name.to_owned()));
        Err(self.fault_with(path, format!("names no point of the axis {}", axis.name), &allowed))
    }
}

/// A value in words, for messages.
pub fn shown(value: &Toml) -> String {
    plain(&value.0)
}

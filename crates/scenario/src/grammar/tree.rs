//! A scenario's text as a tree in which every key and value has the place where it was written.

use std::sync::Arc;

use floodway_units::cast::narrow;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::depth::{DEEPEST, too_deep};
use super::read::share;
use crate::error::{Place, ScenarioError};
use crate::shown::GLIMPSE;

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its place.
    pub place: Place,
}

/// The values of TOML.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A whole number, of 64 bits with a sign or without.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// An array.
    List(Vec<Node>),
    /// A table, in the order in which it was written.
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub place: Place,
    /// Its value.
    pub node: Node,
}

impl Node {
    /// The tree of a TOML text; `file` names it in messages.
    ///
    /// # Errors
    /// Text that is not TOML, with its line.
    pub fn parse(file: &str, text: &str) -> Result<Node, ScenarioError> {
        let source = Source { file: file.into(), starts: line_starts(text) };
        if let Some(at) = too_deep(text) {
            return Err(lies_too_deep(source.place(at)));
        }
        match DeTable::parse(text) {
            Ok(table) => Ok(Node { value: source.table(table.into_inner(), 0)?, place: source.place(0) }),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                Err(ScenarioError::new(source.place(at), "", not_toml(text, at, error.message())))
            }
        }
    }

    /// The tree of a JSON value, all of it from one place.
    ///
    /// # Errors
    /// Values that TOML does not have, with the path of their key.
    pub fn from_json(value: &serde_json::Value, place: &Place) -> Result<Node, ScenarioError> {
        Self::of_json(value, place).map_err(|(path, why)| {
            let path: Vec<&str> = path.iter().rev().map(String::as_str).collect();
            ScenarioError::new(place.clone(), path.join("."), why)
        })
    }

    /// As [`Node::from_json`]; the path of a rejected value starts at its last key.
    fn of_json(value: &serde_json::Value, place: &Place) -> Result<Node, (Vec<String>, String)> {
        use serde_json::Value as Json;
        let below = |key: String| {
            move |(mut path, why): (Vec<String>, String)| {
                path.push(key);
                (path, why)
            }
        };
        let value = match value {
            Json::String(text) => Value::Text(text.clone()),
            Json::Bool(flag) => Value::Bool(*flag),
            Json::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(whole), ..) => Value::Integer(whole.into()),
                (_, Some(whole), _) => Value::Integer(whole.into()),
                (.., float) => Value::Float(float.unwrap_or(f64::NAN)),
            },
            Json::Null => {
                return Err((Vec::new(), "null is not a value: leave the key out".into()));
            }
            Json::Array(items) => {
                let item = |(i, item)| Self::of_json(item, place).map_err(below(usize::to_string(&(i + 1))));
                Value::List(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
            }
            Json::Object(table) => {
                let entry = |(key, value): (&String, _)| {
                    let node = Self::of_json(value, place).map_err(below(key.clone()))?;
                    Ok(Entry { key: key.clone(), place: place.clone(), node })
                };
                Value::Table(table.iter().map(entry).collect::<Result<_, _>>()?)
            }
        };
        Ok(Node { value, place: place.clone() })
    }

    /// Sets a key of a table to this value, in place or at the end.
    pub fn put(&mut self, key: &str, node: Node) {
        let Value::Table(entries) = &mut self.value else { return };
        match entries.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => *entry = Entry { key: key.to_owned(), place: node.place.clone(), node },
            None => entries.push(Entry { key: key.to_owned(), place: node.place.clone(), node }),
        }
    }

    /// The value of a key, where this is a table with that key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node),
            Value::List(items) => {
                // Most elements have no name, and lists of them are long.
                let numbered = key.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                let numbered = numbered.and_then(|i| items.get(i).filter(|item| item.label(i) == key));
                let named = || items.iter().enumerate().find(|(i, item)| item.label(*i) == key);
                numbered.or_else(|| named().map(|(_, item)| item))
            }
            _ => None,
        }
    }

    /// As [`Node::get`], mutable.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Table(entries) => {
                entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
            }
            _ => None,
        }
    }

    /// Removes a key and its value, where this is a table with that key.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let Value::Table(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(at).node)
    }

    /// The text, where it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements, where this is a list.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// As [`Node::items`], mutable.
    pub fn items_mut(&mut self) -> &mut [Node] {
        match &mut self.value {
            Value::List(items) => items,
            _ => &mut [],
        }
    }

    /// The entries, where this is a table.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The label of this element of a list in paths: its name, else its number from 1.
    pub fn label(&self, index: usize) -> String {
        let name = match &self.value {
            Value::Table(_) => self.get("name").and_then(Node::text).filter(|name| !name.is_empty()),
            _ => None,
        };
        name.map_or_else(|| (index + 1).to_string(), str::to_owned)
    }

    /// The value at `path`.
    pub fn at<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Option<&Node> {
        path.into_iter().try_fold(self, |node, segment| node.get(segment))
    }

    /// The place of the deepest part of `path` that was written; where a value in it was set from outside the
    /// file, the place of that value.
    pub fn place_of<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Place {
        let mut node = self;
        for segment in path {
            match node.get(segment) {
                Some(next) => node = next,
                None => return node.place.clone(),
            }
        }
        node.set_within().unwrap_or(&node.place).clone()
    }

    /// The last value in a table that has no line (for example, set by `--set`), while the table itself has
    /// one.
    fn set_within(&self) -> Option<&Place> {
        let Value::Table(entries) = &self.value else { return None };
        self.place.line?;
        for Entry { node, .. } in entries.iter().rev() {
            if node.place.line.is_none() {
                return Some(&node.place);
            }
            if let Some(place) = node.set_within() {
                return Some(place);
            }
        }
        None
    }

    /// As JSON, for records of a run.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) => text.clone().into(),
            Value::Integer(number) => match u64::try_from(*number) {
                Ok(number) => number.into(),
                Err(_) => narrow::<i64>(*number).into(),
            },
            Value::Float(number) => (*number).into(),
            Value::Bool(flag) => (*flag).into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Table(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect()
            }
        }
    }
}

/// Converts the parser's output into nodes.
struct Source {
    file: Arc<str>,
    /// Where each line begins.
    starts: Vec<usize>,
}

/// The parser's message, with the word at which it stopped.
fn not_toml(text: &str, at: usize, message: &str) -> String {
    let rest = text.get(at..).unwrap_or_default().lines().next().unwrap_or_default();
    // An error in the first line may mean that the file is not a scenario.
    let most = if text[..at].trim_end().contains('\n') { 40 } else { GLIMPSE };
    let word: String =
        rest.chars().take_while(|c| !c.is_whitespace() && !",]}=".contains(*c)).take(most).collect();
    match word.as_str() {
        "" => format!("not TOML: {message}"),
        word if message.starts_with("string values must be quoted") => {
            let right = match share(word) {
                Some(share) => format!("write {share}"),
                None => format!("a string needs quotation marks, \"{word}\""),
            };
            format!("not TOML: {word} is neither a number nor true or false: {right}")
        }
        word => format!("not TOML: {message}, at {word}"),
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

impl Source {
    fn place(&self, at: usize) -> Place {
        let line = self.starts.partition_point(|&start| start <= at);
        Place { file: self.file.clone(), line: Some(narrow(line)) }
    }

    fn table(&self, table: DeTable<'_>, depth: usize) -> Result<Value, ScenarioError> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let at = key.span().start;
            let key = key.into_inner().into_owned();
            let node = self.node(value, depth + 1).map_err(|error| below(&key, error))?;
            let entry = Entry { key, place: self.place(at), node };
            entries.push((at, entry));
        }
        entries.sort_by_key(|(at, _)| *at);
        // A table's own line is that of its header; where it has none (dotted keys), of its first key.
        Ok(Value::Table(entries.into_iter().map(|(_, entry)| entry).collect()))
    }

    fn node(&self, value: Spanned<DeValue<'_>>, depth: usize) -> Result<Node, ScenarioError> {
        let place = self.place(value.span().start);
        if depth > DEEPEST {
            return Err(lies_too_deep(place));
        }
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(whole) if i64::try_from(whole).is_ok() || u64::try_from(whole).is_ok() => {
                    Value::Integer(whole)
                }
                _ => {
                    let why = format!("is too large: the maximum is {}", u64::MAX);
                    return Err(refuse(place, number.as_str(), &why));
                }
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => Value::Float(number),
                Err(_) => return Err(refuse(place, number.as_str(), "is not a number")),
            },
            DeValue::Boolean(flag) => Value::Bool(flag),
            DeValue::Datetime(date) => Value::Text(date.to_string()),
            DeValue::Array(items) => Value::List(
                items.into_iter().map(|item| self.node(item, depth + 1)).collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => self.table(table, depth)?,
        };
        Ok(Node { value, place })
    }
}

fn lies_too_deep(place: Place) -> ScenarioError {
    refuse(place, "tables and lists", &format!("are nested too deeply: the maximum is {DEEPEST}"))
}

/// The same error below a key.
fn below(key: &str, error: ScenarioError) -> ScenarioError {
    let key = if error.key.is_empty() { key.to_owned() } else { format!("{key}.{}", error.key) };
    ScenarioError { key, ..error }
}

fn refuse(place: Place, given: &str, why: &str) -> ScenarioError {
    ScenarioError::new(place, "", format!("{given} {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_know_their_lines() {
        let tree = Node::parse("a.toml", "mtu = \"1KB\"\n[defaults]\n\nbuffer.static = { size = \"1MB\" }\n")
            .expect("it is TOML");
        assert_eq!(tree.place_of(["mtu"]).to_string(), "a.toml:1");
        assert_eq!(tree.place_of(["defaults", "buffer", "static", "size"]).to_string(), "a.toml:4");
        assert_eq!(tree.place_of(["defaults", "buffer", "nothing"]).to_string(), "a.toml:4");
    }

    #[test]
    fn elements_of_lists_are_called_by_their_names() {
        let tree = Node::parse("a", "[[workload]]\nname = \"w\"\nuntil = \"1ms\"\n").expect("it is TOML");
        assert_eq!(tree.place_of(["workload", "w", "until"]).line, Some(3));
    }

    #[test]
    fn what_is_not_toml_is_refused_with_its_line() {
        let error = Node::parse("a.toml", "x = 1\ny = [1,\n").unwrap_err().to_string();
        assert!(error.starts_with("a.toml:"), "{error}");
        assert!(error.contains("not TOML"), "{error}");
        assert!(!error.contains('\n'));
        assert!(Node::parse("a", "x = 99999999999999999999").unwrap_err().to_string().contains("too large"));
    }
}

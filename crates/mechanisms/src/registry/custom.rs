//! Mechanisms from outside this crate: their parameters next to the registry's own, and their names in
//! scenarios.
//!
//! A name is known to the process from its registration on. It belongs to the program, as the registry's own
//! names do, and no run changes it; a run takes parameters by value.

use std::borrow::Cow;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, DeserializeOwned};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Parameters from outside this crate, with the name of their mechanism; `T` is their slot's trait.
pub struct Custom<T: ?Sized> {
    /// The mechanism, as scenarios spell it.
    pub name: &'static str,
    /// Its parameters.
    pub params: Box<T>,
}

/// The methods of every slot's parameters from outside.
pub trait AnyParams: fmt::Debug {
    /// A copy.
    fn duplicate(&self) -> Box<Self>;

    /// The parameters as scenarios spell them.
    fn values(&self) -> Value;
}

impl<T: AnyParams + ?Sized> Clone for Custom<T> {
    fn clone(&self) -> Self {
        Custom { name: self.name, params: self.params.duplicate() }
    }
}

impl<T: AnyParams + ?Sized> PartialEq for Custom<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.params.values() == other.params.values()
    }
}

impl<T: AnyParams + ?Sized> fmt::Debug for Custom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.name).field(&&*self.params).finish()
    }
}

/// The parameters alone; the enum of the slot writes the name.
impl<T: AnyParams + ?Sized> Serialize for Custom<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.params.values().serialize(serializer)
    }
}

/// The documentation of a mechanism from outside: its head, and its parameters' schema.
pub struct Page {
    /// A summary, then sections in Markdown.
    pub head: String,
    /// The parameters' name among the definitions of the JSON Schema.
    pub definition: Cow<'static, str>,
    /// The parameters' schema.
    pub schema: Box<dyn Fn(&mut SchemaGenerator) -> Schema + Send + Sync>,
    /// The parameters' names.
    pub keys: Vec<&'static str>,
}

impl Page {
    /// The page of parameters `P`, where `source` is the text of the mechanism's file.
    pub fn of<P: JsonSchema + 'static>(source: &str) -> Self {
        let schema = schemars::schema_for!(P);
        let properties = schema.get("properties").and_then(Value::as_object);
        let keys = properties.into_iter().flat_map(Map::keys).map(|key| &*key.clone().leak()).collect();
        Page {
            head: super::head(source),
            definition: P::schema_name(),
            schema: Box::new(SchemaGenerator::subschema_for::<P>),
            keys,
        }
    }
}

/// Why parameters from outside cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The parameter does not exist.
    UnknownKey(String),
    /// The wrong value, and the allowed ones.
    Message(String),
}

/// Reads parameters from a scenario's values.
///
/// # Errors
/// A value is wrong.
pub fn read<P: DeserializeOwned>(values: Value) -> Result<P, Fault> {
    serde_path_to_error::deserialize(values).map_err(|error| {
        let (path, message) = (error.path().to_string(), error.inner().to_string());
        let key = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
        match key {
            Some(key) if path == key => Fault::UnknownKey(key.to_owned()),
            _ if path == "." => Fault::Message(message),
            _ => Fault::Message(format!("{path}: {message}")),
        }
    })
}

/// Converts a scenario's values to parameters.
pub type Read<T> = Box<dyn Fn(Value) -> Result<Box<T>, Fault> + Send + Sync>;

/// A mechanism that a program has added to a slot.
pub struct Entry<T: ?Sized> {
    /// Its name.
    pub name: &'static str,
    /// Its documentation.
    pub page: Page,
    read: Read<T>,
    /// The name may be registered again, as a notebook redefines a class.
    is_redefinable: bool,
}

impl<T: AnyParams + ?Sized> Entry<T> {
    /// Its parameters with `values`, as a scenario gives them.
    pub(super) fn choose<E: de::Error>(&'static self, values: Map<String, Value>) -> Result<Custom<T>, E> {
        match (self.read)(Value::Object(values)) {
            Ok(params) => Ok(Custom { name: self.name, params }),
            Err(Fault::UnknownKey(key)) => Err(E::unknown_field(&key, &self.page.keys)),
            Err(Fault::Message(message)) => Err(E::custom(message)),
        }
    }
}

/// Why a mechanism was not added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryError {
    /// The slot has a mechanism of this name.
    Taken {
        /// The slot's key in scenarios.
        slot: &'static str,
        /// The name.
        name: String,
    },
    /// The name is not valid in scenarios.
    NotAName {
        /// The slot's key in scenarios.
        slot: &'static str,
        /// The name.
        name: String,
    },
    /// Its parameters have the name of another mechanism's in the schema of scenarios: they are of the same
    /// type, or their types have the same name.
    SharedParameters {
        /// The slot's key in scenarios.
        slot: &'static str,
        /// The name.
        name: String,
        /// The other mechanism: slot and name.
        other: (&'static str, &'static str),
        /// The parameters' name in the schema.
        definition: String,
    },
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistryError::Taken { slot, name } => {
                write!(f, "{slot}: there is a mechanism {name:?} already; choose another name")
            }
            RegistryError::NotAName { slot, name } => write!(
                f,
                "{slot}: {name:?} is not a name; allowed: lower-case letters, digits and single hyphens, a letter first, such as \
                 \"my-control\""
            ),
            RegistryError::SharedParameters { slot, name, other: (other_slot, other), definition } => write!(
                f,
                "{slot} {name:?}: its parameters are called {definition:?} in the schema of scenarios, as those of {other_slot} \
                 {other:?} are; each mechanism has a type of parameters of its own, with a name of its own, \
                 #[schemars(rename = \"...\")]"
            ),
        }
    }
}

impl std::error::Error for RegistryError {}

/// The mechanisms that a program has added to a slot.
pub(super) struct Names<T: ?Sized + 'static> {
    slot: &'static str,
    added: RwLock<Added<T>>,
}

struct Added<T: ?Sized + 'static> {
    /// In the order in which they were added.
    entries: Vec<&'static Entry<T>>,
    /// The slot's own names and these; empty until one of these is added.
    all: &'static [&'static str],
}

impl<T: ?Sized> Names<T> {
    pub const fn new(slot: &'static str) -> Self {
        Names { slot, added: RwLock::new(Added { entries: Vec::new(), all: &[] }) }
    }

    /// Adds `name`, or replaces it where that is allowed.
    pub fn add(
        &self,
        name: &str,
        listed: &[&'static str],
        is_redefinable: bool,
        (page, read): (Page, Read<T>),
    ) -> Result<(), RegistryError> {
        let slot = self.slot;
        if !is_name(name) {
            return Err(RegistryError::NotAName { slot, name: name.to_owned() });
        }
        if !is_redefinable {
            has_own_parameters(slot, name, &page.definition)?;
        }
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        let old = added.entries.iter().position(|entry| entry.name == name);
        let may_go = |at: usize| is_redefinable && added.entries[at].is_redefinable;
        if listed.contains(&name) || old.is_some_and(|at| !may_go(at)) {
            return Err(RegistryError::Taken { slot, name: name.to_owned() });
        }
        // What reads a scenario keeps names and entries as long as it likes. There are a few in a process.
        let name = old.map_or_else(|| &*name.to_owned().leak(), |at| added.entries[at].name);
        let entry = Box::leak(Box::new(Entry { name, page, read, is_redefinable }));
        match old {
            Some(at) => added.entries[at] = entry,
            None => added.entries.push(entry),
        }
        let own = added.entries.iter().map(|entry| entry.name);
        added.all = listed.iter().copied().chain(own).collect::<Vec<_>>().leak();
        Ok(())
    }

    /// The entry of a name.
    pub fn find(&self, name: &str) -> Option<&'static Entry<T>> {
        self.entries().into_iter().find(|entry| entry.name == name)
    }

    /// All entries.
    pub fn entries(&self) -> Vec<&'static Entry<T>> {
        self.added.read().unwrap_or_else(PoisonError::into_inner).entries.clone()
    }

    /// The names of a slot: those `listed`, and the added ones.
    pub fn all(&self, listed: &'static [&'static str]) -> &'static [&'static str] {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        if added.entries.is_empty() { listed } else { added.all }
    }
}

/// Rejects parameters that the schema would confuse with those of another mechanism.
fn has_own_parameters(slot: &'static str, name: &str, definition: &str) -> Result<(), RegistryError> {
    let same =
        |entry: &super::Entry| entry.definition == definition && (entry.slot, entry.name) != (slot, name);
    match super::entries().into_iter().find(same) {
        None => Ok(()),
        Some(entry) => Err(RegistryError::SharedParameters {
            slot,
            name: name.to_owned(),
            other: (entry.slot, entry.name),
            definition: definition.to_owned(),
        }),
    }
}

/// Is it in kebab-case?
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.split('-').all(is_part)
}

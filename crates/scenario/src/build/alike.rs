//! Faults and warnings that are the same at many objects, and the places of what they are about.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Place, ScenarioError};
use crate::grammar::read::path_of_key;
use crate::grammar::tree::{Node, Value};
use crate::resolve::Origin;

/// Where choices were written.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub scenario: &'a Node,
    pub profile: Option<&'a Node>,
}

impl Texts<'_> {
    fn of(&self, origin: &Origin) -> &Node {
        self.profile.filter(|_| origin.is_profile()).unwrap_or(self.scenario)
    }

    /// The place of a key of what `origin` chose; a file without a line, if it was not written.
    fn place(&self, origin: &Origin, key: &str) -> Place {
        match origin.place {
            Some(_) => self.of(origin).place_of(path_of_key(key)),
            None => Place { line: None, ..self.scenario.place.clone() },
        }
    }

    /// A parameter of the i-th choice in a slot of many, below the slot: with its number if it was written
    /// in a list.
    pub fn key_in_list(&self, origin: &Origin, i: usize, name: &str, parameter: &str) -> String {
        let slot = path_of_key(&origin.key).try_fold(self.of(origin), Node::get);
        let is_list = matches!(slot, Some(Node { value: Value::List(_), .. }));
        let named = if is_list { format!("{}.{name}", i + 1) } else { name.to_owned() };
        if parameter.is_empty() { named } else { format!("{named}.{parameter}") }
    }
}

/// Faults that are the same at many ports, reported once.
#[derive(Default)]
pub(super) struct Alike(BTreeMap<(String, String), Group>);

/// The setting that chose it, and the objects that have the fault.
struct Group {
    origin: Origin,
    first: String,
    objects: BTreeSet<String>,
}

impl Alike {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, origin: &Origin, key: &str, why: String, object: String) {
        let key = if key.is_empty() { origin.key.to_string() } else { format!("{}.{key}", origin.key) };
        let group = self.0.entry((key, why)).or_insert_with(|| Group {
            origin: origin.clone(),
            first: object.clone(),
            objects: BTreeSet::new(),
        });
        group.objects.insert(object);
    }

    /// Parameters that a profile copies from another simulator get no warning.
    pub fn add_unless_copied(&mut self, origin: &Origin, key: &str, why: String, object: String) {
        if !origin.is_profile() {
            self.add(origin, key, why, object);
        }
    }

    pub fn into_errors(self, texts: &Texts<'_>) -> Vec<ScenarioError> {
        let error = |((key, why), group): ((String, String), Group)| {
            let others = match group.objects.len() {
                1 => String::new(),
                n => format!(" and {} more", n - 1),
            };
            ScenarioError::new(
                texts.place(&group.origin, &key),
                key,
                format!("{}{others}: {why}", group.first),
            )
        };
        self.0.into_iter().map(error).collect()
    }
}

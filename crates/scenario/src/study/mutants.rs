//! Mutants: mechanisms with something wrong, which a paper's studies must notice.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::forms::Words;
use super::model::Sets;
use super::names::Text;
use crate::error::ScenarioErrors;
use crate::grammar::read_all;
use crate::grammar::tree::Node;

/// The mutants of a paper.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    mutant: Vec<Given>,
}

/// A mutant as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    /// Its name.
    name: String,
    /// What is wrong with it, in a sentence.
    what: String,
    /// The studies in which it is tried.
    studies: Words,
    /// The variants of these that have the mechanism; those that a study does not have are passed over.
    variants: Words,
    /// Key paths with values, after the variant's own.
    set: Map<String, Value>,
}

/// A mutant.
#[derive(Serialize)]
struct Mutant {
    name: String,
    what: String,
    studies: Vec<String>,
    variants: Vec<String>,
    sets: Sets,
}

/// Reads the mutants of a paper, as JSON.
///
/// # Errors
/// All that is wrong with the file.
///
/// # Panics
/// Never: mutants have a form in JSON.
pub fn read_mutants(name: &str, text: &str) -> Result<Value, ScenarioErrors> {
    let tree = Node::parse(name, text)?;
    let document: Document = read_all(&tree)?;
    let text = Text(&tree);
    let mut made: Vec<Mutant> = Vec::new();
    for given in document.mutant {
        let path = ["mutant", given.name.as_str()];
        let at = |key| [&path[..], &[key]].concat();
        for (key, is_empty) in [
            ("name", given.name.trim().is_empty()),
            ("what", given.what.trim().is_empty()),
            ("studies", given.studies.0.is_empty()),
            ("variants", given.variants.0.is_empty()),
            ("set", given.set.is_empty()),
        ] {
            if is_empty {
                return Err(text.fault(&at(key), "is empty").into());
            }
        }
        let sets = text.sets(&at("set"), &given.set)?;
        made.push(Mutant {
            sets,
            name: given.name,
            what: given.what,
            studies: given.studies.0,
            variants: given.variants.0,
        });
    }
    Ok(serde_json::to_value(made).expect("its keys are texts"))
}

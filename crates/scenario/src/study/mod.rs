//! Studies: the grammar of their files, and what they mean.
//!
//! [`read`] makes one TOML text a study as it is run and judged: `like` and readings are applied, and every
//! name is that of something. Scenarios are not read here, and nothing is run.

mod ablations;
mod claim_keys;
mod claims;
mod document;
mod forms;
mod kinds;
mod model;
mod mutants;
mod names;
mod parts;
mod plots;
mod readings;

use std::path::Path;

use serde_json::{Value, json};

use self::claims::Parts;
use self::document::Document;
use self::forms::Seeds;
use self::model::{Quick, Reading, Study};
pub use self::mutants::read_mutants;
use self::names::Text;
use crate::catalog;
use crate::error::{ScenarioError, ScenarioErrors};
use crate::grammar::read_all;
use crate::grammar::tree::Node;

/// Reads a study, as JSON; `name` is its file in messages, and files that it names lie relative to `folder`.
///
/// # Errors
/// All that is wrong with it.
///
/// # Panics
/// Never: a study has a form in JSON.
pub fn read(name: &str, text: &str, folder: &Path) -> Result<Value, ScenarioErrors> {
    study(name, text, folder).map(|study| serde_json::to_value(study).expect("its keys are texts"))
}

fn study(name: &str, text: &str, folder: &Path) -> Result<Study, ScenarioErrors> {
    let tree = Node::parse(name, text)?;
    let document: Document = read_all(&tree)?;
    let text = Text(&tree);
    let axes = parts::axes(text, &document)?;
    let mut variants = parts::variants(text, &document, &axes, folder)?;
    let metrics = parts::metrics(text, &document)?;
    let readings = readings::readings(text, &document, &axes, &variants)?;
    let quick = quick(text, &document, &variants)?;
    if document.draws == Some(0) {
        return Err(text.fault(&["draws"], "0 is not allowed; the minimum is 1").into());
    }
    let mut of_claims =
        Parts { axes: &axes, metrics: &metrics, readings: &readings, variants: &mut variants };
    let claims = claims::claims(text, &document, &mut of_claims);
    let plots = plots::plots(text, &document, &axes, &metrics, &variants);
    let (claims, plots) = match (claims, plots) {
        (Ok(claims), Ok(plots)) => (claims, plots),
        (claims, plots) => {
            let errors = claims.err().into_iter().chain(plots.err()).flatten().collect();
            return Err(ScenarioErrors(errors));
        }
    };
    let sets = text.sets(&["set"], &document.set)?;
    let title = text.some(&["title"], &document.title)?;
    Ok(Study {
        title,
        paper: document.paper,
        shows: document.shows,
        notes: document.notes,
        source: document.source,
        minutes: document.minutes.map(|minutes| minutes.0),
        sets,
        axes,
        variants,
        readings: readings
            .into_iter()
            .map(|reading| Reading { name: reading.name, says: reading.says })
            .collect(),
        seeds: document.seeds.unwrap_or(Seeds::Count(1)),
        metrics,
        claims,
        plots,
        quick,
    })
}

fn quick(text: Text<'_>, document: &Document, variants: &[model::Variant]) -> Result<Quick, ScenarioError> {
    let given = &document.quick;
    let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    Ok(Quick {
        minutes: given.minutes.map(|minutes| minutes.0),
        skip: given.skip,
        seeds: given.seeds.clone(),
        sets: text.sets(&["quick", "set"], &given.set)?,
        variants: text.choices(
            &["quick", "variants"],
            &given.variants.0,
            "a variant of this study",
            &names,
        )?,
    })
}

/// The grammar of studies as JSON Schema (draft 2020-12).
pub fn schema() -> Value {
    catalog::schema_of(schemars::schema_for!(Document), "floodway study")
}

/// What a study can name: kinds of metrics, and formulas with their arguments.
pub fn catalog() -> Value {
    let formulas: serde_json::Map<String, Value> =
        plots::FORMULAS.iter().map(|(name, arguments)| ((*name).to_owned(), json!(arguments))).collect();
    json!({ "metrics": kinds::KINDS, "formulas": formulas })
}

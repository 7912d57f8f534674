//! What a claim is without its mechanism: `[[without]]`, and `without` of a claim.

use super::claim_keys::{Ablation, AblationKeys};
use super::claims::{Given, VARIANT, names};
use super::document::{Document, Without};
use super::model::Variant;
use super::names::Text;
use crate::error::ScenarioError;

/// Refuses `[[without]]` of something that is not there.
pub fn check_without(text: Text<'_>, document: &Document, variants: &[Variant]) -> Result<(), ScenarioError> {
    let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
    for (index, without) in document.without.iter().enumerate() {
        let number = (index + 1).to_string();
        let at = |key| ["without", &number, key];
        text.choice(&at("of"), &without.of, VARIANT, &names)?;
        if document.without[..index].iter().any(|other| other.of == without.of) {
            return Err(text.fault(&at("of"), format!("{:?} has two; one is allowed", without.of)));
        }
        if without.variant.0.is_empty() {
            return Err(text.fault(&at("variant"), "is an empty list; a variant is required"));
        }
        text.choices(&at("variant"), &without.variant.0, VARIANT, &names)?;
        for half in &without.halves {
            text.choice(&at("halves"), &half.variant, VARIANT, &names)?;
        }
    }
    Ok(())
}

/// What `without` says.
#[derive(Clone, Default)]
pub struct Ablations {
    pub variants: Vec<String>,
    pub halves: Vec<String>,
    pub replaces: String,
    pub none: String,
    pub removes: Vec<(String, String)>,
}

impl Given<'_> {
    /// The ablations, by their names in the claim.
    pub fn ablations(&self, variants: &[Variant], order: &[String]) -> Result<Ablations, ScenarioError> {
        let names = names(variants);
        let found = match &self.claim.without {
            Some(Ablation::Variants(variants)) => {
                let found = self.text.choices(&self.at("without"), &variants.0, VARIANT, &names)?;
                Ablations { variants: found, ..Ablations::default() }
            }
            Some(Ablation::Keys(keys)) => self.ablation_keys(keys, &names)?,
            None => self.usual_ablations(order),
        };
        Ok(found)
    }

    fn ablation_keys(&self, keys: &AblationKeys, names: &[&str]) -> Result<Ablations, ScenarioError> {
        if !keys.none.is_empty() {
            let other = !keys.variant.0.is_empty() || !keys.halves.0.is_empty() || !keys.replaces.is_empty();
            if other {
                return Err(
                    self.fault("without", "cannot name variants with a reason for which there is none")
                );
            }
            return Ok(Ablations { none: keys.none.clone(), ..Ablations::default() });
        }
        if keys.variant.0.is_empty() {
            let message = "is missing; expected a variant, or `none` with a reason";
            return Err(self.fault("without.variant", message));
        }
        let variants = self.text.choices(&self.at("without.variant"), &keys.variant.0, VARIANT, names)?;
        let halves = self.text.choices(&self.at("without.halves"), &keys.halves.0, VARIANT, names)?;
        if !keys.replaces.is_empty() {
            self.text.choice(&self.at("without.replaces"), &keys.replaces, VARIANT, names)?;
        }
        let all: Vec<String> = variants.iter().chain(&halves).cloned().collect();
        let removes = self.removes(&all);
        Ok(Ablations { variants, halves, replaces: keys.replaces.clone(), none: String::new(), removes })
    }

    /// What `[[without]]` says of the variant that the claim is about.
    fn usual_ablations(&self, order: &[String]) -> Ablations {
        let Some(subject) = order.first().or(self.claim.variant.as_ref()) else {
            return Ablations::default();
        };
        let Some(without) = self.document.without.iter().find(|without| without.of == *subject) else {
            return Ablations::default();
        };
        let halves: Vec<String> = without.halves.iter().map(|half| half.variant.clone()).collect();
        let all: Vec<String> = without.variant.0.iter().chain(&halves).cloned().collect();
        let removes = self.removes(&all);
        Ablations { variants: without.variant.0.clone(), halves, removes, ..Ablations::default() }
    }

    /// What ablations remove, in words, where `[[without]]` says so.
    fn removes(&self, variants: &[String]) -> Vec<(String, String)> {
        let words = |without: &Without| {
            let whole = without.variant.0.iter().map(|name| (name.clone(), without.removes.clone()));
            let halves = without.halves.iter().map(|half| (half.variant.clone(), half.removes.clone()));
            whole.chain(halves).collect::<Vec<_>>()
        };
        let known: Vec<_> = self.document.without.iter().flat_map(words).collect();
        let of = |name: &String| known.iter().find(|(own, words)| own == name && !words.is_empty());
        variants.iter().filter_map(of).cloned().collect()
    }
}

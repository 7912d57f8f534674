//! Language models of training jobs: published ones by name, any other by its numbers.

use std::fmt;

use floodway_programs::training::Model;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A model.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub enum ModelKeys {
    /// A published one.
    Name(ModelName),
    /// Any.
    Table(ModelTable),
}

/// A published model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ModelName {
    /// 96 layers of 12288 (Brown et al. 2020, table 2.1).
    #[serde(rename = "gpt-3-175b")]
    Gpt3,
    /// 80 layers of 8192 (Llama Team 2024, table 3).
    #[serde(rename = "llama-3-70b")]
    Llama70,
    /// 126 layers of 16384 (Llama Team 2024, table 3).
    #[serde(rename = "llama-3-405b")]
    Llama405,
    /// 32 layers of 4096, eight experts of which each token goes to two (Jiang et al. 2024, table 1).
    #[serde(rename = "mixtral-8x7b")]
    Mixtral,
    /// 61 layers of 7168, of whose 256 routed experts each token goes to eight (DeepSeek-AI 2024, section
    /// 4.2).
    #[serde(rename = "deepseek-v3")]
    DeepSeekV3,
}

/// A model's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelTable {
    /// Transformer layers, at least 1. No default.
    pub layers: u32,
    /// Width of the activations. No default.
    pub hidden: u64,
    /// Tokens of a sequence. No default.
    pub sequence: u64,
    /// Parameters in all. No default.
    pub parameters: u64,
    /// Parameters that a token passes, at most all. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_parameters: Option<u64>,
    /// Experts that a token goes to. Default: 0, no experts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experts_per_token: Option<u64>,
    /// Experts of a layer, at least `experts-per-token`; `training.expert` divides them. Default: not known,
    /// and `training.expert` is any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experts: Option<u64>,
}

impl<'de> Deserialize<'de> for ModelKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ModelVisitor)
    }
}

struct ModelVisitor;

impl<'de> Visitor<'de> for ModelVisitor {
    type Value = ModelKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a model, or { layers, hidden, sequence, parameters }")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<ModelKeys, E> {
        ModelName::deserialize(name.into_deserializer()).map(ModelKeys::Name)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ModelKeys, A::Error> {
        ModelTable::deserialize(MapAccessDeserializer::new(map)).map(ModelKeys::Table)
    }
}

/// A published model, as users see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Published {
    /// Its name in scenarios.
    pub name: ModelName,
    /// Its numbers, as the keys of a table.
    pub numbers: ModelTable,
    /// Where they are from.
    pub source: &'static str,
    /// What of it a job does not have.
    pub notes: &'static str,
}

/// Every published model.
pub fn published_all() -> Vec<Published> {
    use ModelName::{DeepSeekV3, Gpt3, Llama70, Llama405, Mixtral};
    [Gpt3, Llama70, Llama405, Mixtral, DeepSeekV3].map(ModelName::published).to_vec()
}

impl ModelName {
    fn published(self) -> Published {
        let dense = |layers, hidden, sequence, parameters| ModelTable {
            layers,
            hidden,
            sequence,
            parameters,
            active_parameters: None,
            experts_per_token: None,
            experts: None,
        };
        let (numbers, source, notes) = match self {
            ModelName::Gpt3 => (
                dense(96, 12_288, 2_048, 175_000_000_000),
                "Brown et al. 2020, arXiv:2005.14165, table 2.1 and section 2.1",
                "",
            ),
            ModelName::Llama70 => (
                dense(80, 8_192, 8_192, 70_000_000_000),
                "Llama Team 2024, arXiv:2407.21783, table 3 and section 3.4",
                "It was trained with longer sequences at the end, up to 131,072 tokens.",
            ),
            ModelName::Llama405 => (
                dense(126, 16_384, 8_192, 405_000_000_000),
                "Llama Team 2024, arXiv:2407.21783, table 3 and section 3.4",
                "It was trained with longer sequences at the end, up to 131,072 tokens.",
            ),
            ModelName::Mixtral => (
                ModelTable {
                    active_parameters: Some(13_000_000_000),
                    experts_per_token: Some(2),
                    experts: Some(8),
                    ..dense(32, 4_096, 32_768, 47_000_000_000)
                },
                "Jiang et al. 2024, arXiv:2401.04088, table 1 and section 1",
                "The sequence is the length of its context; that of its training is not published.",
            ),
            ModelName::DeepSeekV3 => (
                ModelTable {
                    active_parameters: Some(37_000_000_000),
                    experts_per_token: Some(8),
                    experts: Some(256),
                    ..dense(61, 7_168, 4_096, 671_000_000_000)
                },
                "DeepSeek-AI 2024, arXiv:2412.19437, section 4.2",
                "A layer has a shared expert besides. Its first three layers have no experts; in a job all layers \
                 are alike.",
            ),
        };
        Published { name: self, numbers, source, notes }
    }
}

impl ModelKeys {
    /// The model's numbers.
    pub fn model(self) -> Model {
        let table = match self {
            ModelKeys::Table(table) => table,
            ModelKeys::Name(name) => name.published().numbers,
        };
        Model {
            layers: table.layers,
            hidden: table.hidden,
            sequence: table.sequence,
            parameters: table.parameters,
            active_parameters: table.active_parameters.unwrap_or(table.parameters),
            experts_per_token: table.experts_per_token.unwrap_or(0),
            experts: table.experts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both are read: the schema's text in editors, the numbers by jobs and `floodway explain`.
    #[test]
    fn the_text_of_a_name_has_the_numbers_of_its_model() {
        let schema = schemars::schema_for!(ModelName).to_value();
        let names = schema["oneOf"].as_array().expect("a form for each name");
        assert_eq!(names.len(), published_all().len());
        for (form, published) in names.iter().zip(published_all()) {
            assert_eq!(form["const"], serde_json::json!(published.name));
            let text = form["description"].as_str().expect("a text");
            let ModelTable { layers, hidden, .. } = published.numbers;
            assert!(text.starts_with(&format!("{layers} layers of {hidden}")), "{text}");
        }
    }
}

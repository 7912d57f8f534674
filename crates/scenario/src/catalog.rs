//! Catalogue of everything in a scenario: the grammar as JSON Schema, and what can be named.

use std::collections::{BTreeMap, BTreeSet};

use floodway_mechanisms::registry::{self, Entry};
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde::Serialize;
use serde_json::Value;

use crate::grammar::document::Document;
use crate::topology;
use crate::workload::{Workload, models, sizes};

/// What a scenario can name, in addition to the definitions of [`schema`].
#[derive(Clone, Debug, Serialize)]
pub struct Catalog {
    /// Every mechanism, slot by slot.
    pub mechanisms: Vec<Entry>,
    /// What the generators of networks say of themselves, by name.
    pub topologies: BTreeMap<&'static str, String>,
    /// Networks of published experiments and AI clusters.
    pub presets: Vec<Published>,
    /// Published networks that are not available.
    pub left_out: Vec<Published>,
    /// The ways in which a workload's flows may arrive: keys of its table.
    pub workloads: Vec<&'static str>,
    /// The published distributions of flow sizes.
    pub sizes: Vec<sizes::Published>,
    /// The published language models.
    pub models: Vec<models::Published>,
}

/// A published network, available or not.
#[derive(Clone, Debug, Serialize)]
pub struct Published {
    /// Its name.
    pub name: &'static str,
    /// What it is, or why it is not available.
    pub description: &'static str,
    /// Who published it.
    pub source: &'static str,
    /// Numbering, buffers, what had to be chosen.
    pub notes: &'static str,
    /// Its size; none where it is not available.
    pub size: Option<Size>,
}

/// The size of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Number of hosts.
    pub hosts: usize,
    /// Number of switches.
    pub switches: usize,
    /// The rates of its links, each once, the lowest first.
    pub rates: Vec<String>,
    /// Whether a part of it can be taken.
    pub parts: bool,
}

impl Catalog {
    /// All of it.
    pub fn new() -> Self {
        Catalog {
            mechanisms: registry::entries(),
            topologies: topology::heads().into_iter().collect(),
            presets: topology::presets().iter().map(preset).collect(),
            left_out: topology::left_out().iter().map(left_out).collect(),
            workloads: Workload::KINDS.to_vec(),
            sizes: sizes::published_all(),
            models: models::published_all(),
        }
    }
}

fn preset(preset: &'static topology::Preset) -> Published {
    Published {
        name: &preset.name,
        description: &preset.description,
        source: &preset.source,
        notes: &preset.notes,
        size: size(preset),
    }
}

fn size(preset: &topology::Preset) -> Option<Size> {
    let network = preset.network().ok()?;
    let hosts = network.nodes.iter().filter(|node| node.is_host).count();
    let rates: BTreeSet<_> = network.links.iter().map(|link| link.rate).collect();
    Some(Size {
        hosts,
        switches: network.nodes.len() - hosts,
        rates: rates.into_iter().map(|rate| rate.to_string()).collect(),
        parts: preset.is_cluster(),
    })
}

fn left_out(network: &'static topology::LeftOut) -> Published {
    Published { name: &network.name, description: &network.reason, source: "", notes: "", size: None }
}

impl Default for Catalog {
    fn default() -> Self {
        Self::new()
    }
}

/// The grammar of scenarios as JSON Schema (draft 2020-12).
pub fn schema() -> Value {
    schema_of(schemars::schema_for!(Document), "floodway scenario")
}

/// A schema in the form in which it is written, with its title.
pub(crate) fn schema_of(mut schema: Schema, title: &str) -> Value {
    RecursiveTransform(without_null).transform(&mut schema);
    RecursiveTransform(unwrapped).transform(&mut schema);
    schema.insert("title".into(), title.into());
    schema.to_value()
}

/// TOML has no null: a key that may be absent is absent.
fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Value::Object(keys)) = object.get_mut("default") {
        keys.retain(|_, value| !value.is_null());
    }
    let says_nothing =
        |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    if object.get("default").is_some_and(says_nothing) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|of| of != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(forms)) = object.get_mut("anyOf") {
        forms.retain(|form| form.get("type").is_none_or(|of| of != "null"));
        if let [only] = forms.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only.as_object().cloned().unwrap_or_default());
        }
    }
}

/// Lines of a comment that belong together become one; paragraphs, lists and blocks stay apart.
fn unwrapped(schema: &mut Schema) {
    let Some(Value::String(text)) = schema.get_mut("description") else { return };
    let mut flowing = String::with_capacity(text.len());
    for line in text.lines() {
        let apart = line.is_empty() || line.starts_with(['-', '|', ' ']) || flowing.ends_with("\n\n");
        if !flowing.is_empty() {
            flowing.push(if apart { '\n' } else { ' ' });
        }
        flowing.push_str(line);
        if line.is_empty() {
            flowing.push('\n');
        }
    }
    *text = flowing.replace("\n\n\n", "\n\n");
}

#[cfg(test)]
mod tests {
    use floodway_units::{Rate, Span};

    use super::*;
    use crate::error::Place;
    use crate::grammar::forms::FlowControl;
    use crate::resolve::Plan;
    use crate::topology::Network;

    fn all(value: &Value, check: &mut impl FnMut(&serde_json::Map<String, Value>)) {
        match value {
            Value::Object(object) => {
                check(object);
                object.values().for_each(|value| all(value, check));
            }
            Value::Array(items) => items.iter().for_each(|item| all(item, check)),
            _ => {}
        }
    }

    #[test]
    fn nothing_may_be_null() {
        all(&schema(), &mut |object| {
            assert_ne!(object.get("type"), Some(&"null".into()));
            assert_ne!(object.get("default"), Some(&Value::Null), "{object:?}");
        });
    }

    #[test]
    fn every_key_is_described() {
        let schema = schema();
        let Some(Value::Object(definitions)) = schema.get("$defs") else { panic!("it has definitions") };
        for (name, definition) in definitions {
            let Some(Value::Object(properties)) = definition.get("properties") else { continue };
            for (key, property) in properties {
                let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
                assert!(!text.is_empty(), "{name}.{key} says nothing of itself");
            }
        }
    }

    #[test]
    fn lines_of_a_paragraph_become_one() {
        let mut schema = schemars::json_schema!({ "description": "One\ntwo.\n\nThree\nfour:\n- a\n- b" });
        unwrapped(&mut schema);
        assert_eq!(schema.get("description"), Some(&"One two.\n\nThree four:\n- a\n- b".into()));
    }

    #[test]
    fn every_mechanism_has_parameters_in_the_schema() {
        let schema = schema();
        let catalog = Catalog::new();
        assert!(catalog.mechanisms.len() >= 17);
        for entry in catalog.mechanisms {
            assert!(schema["$defs"].get(&*entry.definition).is_some(), "{} {}", entry.slot, entry.name);
            assert!(!entry.head.is_empty(), "{} {}", entry.slot, entry.name);
        }
    }

    #[test]
    fn presets_say_their_size() {
        let presets = Catalog::new().presets;
        let of = |name| presets.iter().find(|preset| preset.name == name).and_then(|of| of.size.clone());
        let rates = |rates: &[&str]| rates.iter().map(|&rate| rate.to_owned()).collect();
        let fat = Size { hosts: 320, switches: 56, rates: rates(&["100G", "400G"]), parts: false };
        assert_eq!(of("mercury-fat"), Some(fat));
        let hpn = Size { hosts: 15_360, switches: 360, rates: rates(&["200G", "400G"]), parts: true };
        assert_eq!(of("hpn-pod"), Some(hpn));
        assert!(presets.iter().all(|preset| preset.size.is_some()));
    }

    #[test]
    fn the_defaults_of_slots_are_those_documented() {
        let mut network = Network::default();
        let ends = [network.host("h1", &[]), network.host("h2", &[])].map(|node| node.expect("it is new"));
        network.link(ends, &[], (Rate::gbps(1), Span::us(1)));
        let place = Place { file: "a".into(), line: None };
        let plan = Plan::built_in(&network, &[Workload::default()], &place);
        let (link, flows) = (&plan.links[0], &plan.flows[0]);
        let FlowControl::All(flow_control) = &link.directions[0].flow_control.value else {
            panic!("it is of all classes")
        };
        let keys = &schema()["$defs"]["Defaults"]["properties"];
        for (key, name) in [
            ("flow-control", flow_control.name()),
            ("link-retry", link.directions[0].link_retry.value.name()),
            ("buffer", plan.nodes[0].switch.buffer.value.name()),
            ("routing", plan.nodes[0].switch.routing.value.name()),
            ("scheduler", link.ends[0].scheduler.value.name()),
            ("rate-control", flows.rate_control.value[0].name()),
            ("reliability", flows.reliability.value.name()),
        ] {
            let description = keys[key]["description"].as_str().expect("it is described");
            assert!(description.ends_with(&format!("Default: `{name}`.")), "{key}: {description}");
        }
    }
}

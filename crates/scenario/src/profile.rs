//! Profiles: other simulators' semantics in every point, as a part of a scenario that comes before it.

use floodway_mechanisms::dcqcn::Preset;
use serde::Deserialize;
use serde::de::IntoDeserializer;

use crate::error::ScenarioError;
use crate::grammar::document::{Fragment, Profile};
use crate::grammar::read::read;
use crate::grammar::tree::{Entry, Node, Value};

const SWING_NS3: &str = include_str!("../profiles/swing-ns3.toml");
const HPCC_NS3: &str = include_str!("../profiles/hpcc-ns3.toml");
const CONWEAVE_NS3: &str = include_str!("../profiles/conweave-ns3.toml");

/// Parameters of DCQCN's periodic machine. With presets of the paper's machine they are errors, so a profile
/// does not add them there.
const PERIODIC: [&str; 2] = ["check-offset", "timers"];

/// A profile with its text.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name, as scenarios spell it.
    pub name: &'static str,
    /// Its text as a tree.
    pub tree: Node,
    /// Its values.
    pub fragment: Fragment,
    /// What mechanisms take where a scenario names them without saying so: by slot, then by choice.
    parameters: Node,
}

/// Reads a profile.
///
/// # Errors
/// Only if the crate's own text is not right.
pub fn load(profile: Profile) -> Result<Loaded, ScenarioError> {
    let (name, text) = match profile {
        Profile::SwingNs3 => ("swing-ns3", SWING_NS3),
        Profile::HpccNs3 => ("hpcc-ns3", HPCC_NS3),
        Profile::ConweaveNs3 => ("conweave-ns3", CONWEAVE_NS3),
    };
    let mut tree = Node::parse(&format!("profile {name}"), text)?;
    let none = Node { value: Value::Table(Vec::new()), place: tree.place.clone() };
    let parameters = tree.remove("parameters").unwrap_or(none);
    let fragment = read(&tree, &[])?;
    Ok(Loaded { name, tree, fragment, parameters })
}

impl Loaded {
    /// Writes its parameters into the mechanisms that `[defaults]` and overrides of a scenario name, but for
    /// those that are given there.
    pub fn complete(&self, scenario: &mut Node) {
        for slot in self.parameters.entries() {
            let tables = scenario.get_mut("defaults").into_iter();
            for table in tables {
                complete_slot(table, slot);
            }
            let overrides = scenario.get_mut("override").map(Node::items_mut).unwrap_or_default();
            for table in overrides {
                complete_slot(table, slot);
            }
        }
    }
}

fn complete_slot(table: &mut Node, slot: &Entry) {
    let Some(chosen) = table.get_mut(&slot.key) else { return };
    for choice in slot.node.entries() {
        complete_choice(chosen, choice);
        chosen.items_mut().iter_mut().for_each(|item| complete_choice(item, choice));
    }
}

/// A choice is a bare name, or a table with the name as its key.
fn complete_choice(chosen: &mut Node, choice: &Entry) {
    if chosen.text() == Some(choice.key.as_str()) {
        let parameters = Node { value: Value::Table(Vec::new()), place: chosen.place.clone() };
        let entry = Entry { key: choice.key.clone(), place: chosen.place.clone(), node: parameters };
        chosen.value = Value::Table(vec![entry]);
    }
    let Some(Node { value: Value::Table(given), .. }) = chosen.get_mut(&choice.key) else { return };
    let is_paper = given.iter().any(|entry| entry.key == "preset" && has_the_papers_machine(&entry.node));
    for parameter in choice.node.entries() {
        if is_paper && PERIODIC.contains(&parameter.key.as_str()) {
            continue;
        }
        if given.iter().all(|entry| entry.key != parameter.key) {
            given.push(parameter.clone());
        }
    }
}

/// Does this preset of DCQCN have the paper's state machine? One that does not exist is told elsewhere.
fn has_the_papers_machine(preset: &Node) -> bool {
    let name = preset.text().map(IntoDeserializer::<serde::de::value::Error>::into_deserializer);
    name.and_then(|name| Preset::deserialize(name).ok()).is_some_and(Preset::cuts_at_each_cnp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read() {
        let loaded = load(Profile::SwingNs3).expect("it fits the grammar");
        assert_eq!(loaded.fragment.r#override.len(), 4);
        for profile in [Profile::HpccNs3, Profile::ConweaveNs3] {
            let loaded = load(profile).expect("it fits the grammar");
            assert_eq!(loaded.fragment.mtu, floodway_units::Bytes(1000));
        }
    }

    #[test]
    fn a_preset_with_the_papers_machine_gets_no_periods() {
        for preset in ["paper", "tcd"] {
            let text = format!(r#"defaults = {{ rate-control = {{ dcqcn = {{ preset = "{preset}" }} }} }}"#);
            let mut tree = Node::parse("a", &text).expect("it is TOML");
            load(Profile::HpccNs3).expect("it fits the grammar").complete(&mut tree);
            let dcqcn = serde_json::json!({ "preset": preset, "cnp": "ack-flag", "means": "halves" });
            let expected = serde_json::json!({ "defaults": { "rate-control": { "dcqcn": dcqcn } } });
            assert_eq!(tree.to_json(), expected);
        }
    }

    #[test]
    fn its_parameters_are_overridden_by_those_of_the_scenario() {
        let text = r#"
            defaults = { rate-control = ["dcqcn", { static-window = {} }], congestion-point = "red" }
            override = [{ rate-control = { dcqcn = { preset = "paper" } } }]
        "#;
        let mut tree = Node::parse("a", text).expect("it is TOML");
        load(Profile::SwingNs3).expect("it fits the grammar").complete(&mut tree);
        let own = serde_json::json!({ "dcqcn": {
            "preset": "swing", "cnp": "ack-flag", "check-offset": "1ns", "timers": "ticking", "means": "halves",
        } });
        // The paper's machine has no periods, so that neither their offset nor their timers go with it.
        let paper =
            serde_json::json!({ "dcqcn": { "preset": "paper", "cnp": "ack-flag", "means": "halves" } });
        let expected = serde_json::json!({
            "defaults": {
                "rate-control": [own, { "static-window": {} }],
                "congestion-point": { "red": { "preset": "swing" } },
            },
            "override": [{ "rate-control": paper }],
        });
        assert_eq!(tree.to_json(), expected);
    }
}

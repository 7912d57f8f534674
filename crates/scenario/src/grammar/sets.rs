//! `--set key.path=value`: values written into the tree before it is read.
//!
//! A path begins with `defaults`, the name of an override, `workload.<name>`, or another key of the top
//! level. Setting a choice of a slot that differs from the written one replaces it.

use super::depth::DEEPEST;
use super::document::Profile;
use super::read::read;
use super::tree::{Entry, Node, Value};
use crate::error::{Place, ScenarioError};
use crate::profile::{Loaded, load};

/// Keys of the top level.
pub const ROOTS: &[&str] = &[
    "name",
    "description",
    "seed",
    "profile",
    "wire",
    "mtu",
    "semantics",
    "origin",
    "topology",
    "gpu-nodes",
    "defaults",
    "override",
    "workload",
    "measure",
    "limit",
    "stop",
    "on-deadlock",
    "records",
    "engine",
];

/// Keys whose table holds one choice: setting another replaces it.
const CHOICES: &[&str] = &[
    "topology",
    "fabric",
    "fabric-a",
    "fabric-b",
    "flow-control",
    "link-retry",
    "buffer",
    "routing",
    "scheduler",
    "notification",
    "reliability",
    "sizes",
];

/// Keys that exclude each other: setting one removes the other.
const RIVALS: &[(&str, &str)] = &[("delay", "length"), ("pool", "total"), ("flow-list", "flows")];

/// Writes `value` at `path`.
///
/// # Errors
/// A path that does not exist.
pub fn apply(tree: &mut Node, path: &str, value: &str) -> Result<(), ScenarioError> {
    let place = Place { file: format!("--set {path}={value}").into(), line: None };
    let segments: Vec<&str> = path.split('.').collect();
    if segments.iter().any(|segment| segment.is_empty()) || segments.len() > DEEPEST {
        return Err(ScenarioError::new(place, path, "a path is keys with a dot between"));
    }
    let (node, rest) = root(tree, &segments, &place)?;
    write(node, rest, parse(value, &place), &place)
        .map_err(|message| ScenarioError::new(place, path, message))
}

/// The value of a text: as TOML, else the text itself.
fn parse(text: &str, place: &Place) -> Node {
    let parsed = Node::parse("", &format!("value = {text}")).ok().and_then(|table| match table.value {
        Value::Table(mut entries) if entries.len() == 1 => entries.pop().map(|entry| entry.node),
        _ => None,
    });
    let mut node =
        parsed.unwrap_or_else(|| Node { value: Value::Text(text.to_owned()), place: place.clone() });
    relocate(&mut node, place);
    node
}

fn relocate(node: &mut Node, place: &Place) {
    node.place = place.clone();
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| relocate(item, place)),
        Value::Table(entries) => {
            for entry in entries {
                entry.place = place.clone();
                relocate(&mut entry.node, place);
            }
        }
        _ => {}
    }
}

/// The node at which a path begins, and the rest of the path.
fn root<'a, 'b>(
    tree: &'a mut Node,
    segments: &'b [&'b str],
    place: &Place,
) -> Result<(&'a mut Node, &'b [&'b str]), ScenarioError> {
    let names = |list: Option<&Node>| -> Vec<String> {
        let items = list.map_or(&[][..], Node::items);
        items.iter().filter_map(|item| item.get("name")?.text().map(str::to_owned)).collect()
    };
    let unknown =
        |given: &str, what, allowed| Err(ScenarioError::unknown(place.clone(), "", given, what, allowed));
    match segments {
        ["override" | "workload"] | ["override", _] => unknown(
            &segments.join("."),
            "a path to a key",
            vec!["workload.<name>.<key>".into(), "<override>.<key>".into()],
        ),
        ["workload", name, rest @ ..] if !rest.is_empty() => {
            let known = names(tree.get("workload"));
            match element(tree, "workload", name) {
                Some(node) => Ok((node, rest)),
                None => unknown(name, "the name of a workload", known),
            }
        }
        [root, ..] if ROOTS.contains(root) => Ok((tree, segments)),
        [name, rest @ ..] => {
            let overrides = names(tree.get("override"));
            let is_override = overrides.iter().any(|known| known == name) && !rest.is_empty();
            if rest.is_empty() && overrides.iter().any(|known| known == name) {
                let message = format!("{name:?} is an override: set one of its keys, {name}.<key>");
                return Err(ScenarioError::new(place.clone(), "", message));
            }
            if !is_override && names(tree.get("workload")).iter().any(|known| known == name) {
                let message = format!("{name:?} is a workload: its keys are workload.{name}.<key>");
                return Err(ScenarioError::new(place.clone(), "", message));
            }
            if !is_override && let Some((profile, selector)) = override_of_profile(tree, name) {
                let message = format!(
                    "{name:?} is an override of profile {profile}, which a scenario does not change: write an \
                     [[override]] of its own, by {selector} too; it comes after the profile's"
                );
                return Err(ScenarioError::new(place.clone(), "", message));
            }
            if is_override && let Some(node) = element(tree, "override", name) {
                return Ok((node, rest));
            }
            let mut allowed = overrides;
            allowed.extend(ROOTS.iter().filter(|root| **root != "override").map(|&root| root.to_owned()));
            unknown(name, "a key or the name of an override", allowed)
        }
        [] => unknown("", "a path", Vec::new()),
    }
}

/// The profile of the scenario that has an override of this name, and what the override selects.
fn override_of_profile(tree: &Node, name: &str) -> Option<(&'static str, String)> {
    let profile = read::<Profile>(tree.get("profile")?, &["profile"]).ok()?;
    let Loaded { name: profile, fragment, .. } = load(profile).ok()?;
    let of = fragment.r#override.into_iter().find(|of| of.name == name)?;
    let selectors =
        [("links", of.links), ("switches", of.switches), ("hosts", of.hosts), ("flows", of.flows)];
    let (key, selector) = selectors.into_iter().find_map(|(key, of)| Some((key, of?)))?;
    Some((profile, format!("{key} = {selector}")))
}

/// The element of a list at the top level that has this name.
fn element<'a>(tree: &'a mut Node, list: &str, name: &str) -> Option<&'a mut Node> {
    let Value::Table(entries) = &mut tree.value else { return None };
    let entry = entries.iter_mut().find(|entry| entry.key == list)?;
    let Value::List(items) = &mut entry.node.value else { return None };
    items.iter_mut().find(|item| item.get("name").and_then(Node::text) == Some(name))
}

fn write(node: &mut Node, path: &[&str], value: Node, place: &Place) -> Result<(), String> {
    let Some((&key, rest)) = path.split_first() else {
        *node = value;
        return Ok(());
    };
    if let Value::List(items) = &mut node.value {
        let is_choice =
            |item: &Node| item.text() == Some(key) || matches!(item.entries(), [only] if only.key == key);
        let labels: Vec<String> = items.iter().enumerate().map(|(i, item)| item.label(i)).collect();
        if let Some(at) = labels.iter().position(|label| label == key) {
            return write(&mut items[at], rest, value, place);
        }
        return match items.iter_mut().find(|item| is_choice(item)) {
            Some(item) => write(item, path, value, place),
            None => Err(format!("the list has no element {key:?}")),
        };
    }
    let entries = table(node);
    let at = if let Some(at) = entries.iter().position(|entry| entry.key == key) {
        at
    } else {
        entries.retain(|entry| !are_rivals(&entry.key, key));
        let empty = Node { value: Value::Table(Vec::new()), place: place.clone() };
        entries.push(Entry { key: key.to_owned(), place: place.clone(), node: empty });
        entries.len() - 1
    };
    let entry = &mut entries[at];
    if let (true, Some(choice)) = (CHOICES.contains(&key), rest.first()) {
        choose(&mut entry.node, choice, place);
    }
    write(&mut entry.node, rest, value, place)
}

fn are_rivals(one: &str, other: &str) -> bool {
    RIVALS.contains(&(one, other)) || RIVALS.contains(&(other, one))
}

/// The entries of a node, which becomes a table if it is not one; a bare name becomes that choice.
fn table(node: &mut Node) -> &mut Vec<Entry> {
    if !matches!(node.value, Value::Table(_)) {
        node.value = Value::Table(Vec::new());
    }
    match &mut node.value {
        Value::Table(entries) => entries,
        _ => unreachable!("it was made a table"),
    }
}

/// Makes `choice` the only choice of a slot, and keeps its parameters if it is already chosen. A flow control
/// may have several classes.
fn choose(node: &mut Node, choice: &str, place: &Place) {
    let is_class = |key: &str| key.starts_with("class-");
    let entries = table(node);
    if is_class(choice) && entries.iter().all(|entry| is_class(&entry.key)) {
        if let Some(entry) = entries.iter_mut().find(|entry| entry.key == choice) {
            // The choice for a class is a separate choice.
            entry.place = place.clone();
        }
        return;
    }
    entries.retain(|entry| entry.key == choice);
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        seed = 3
        [defaults]
        flow-control.pfc = { xoff = "320KB", react = "1us" }
        rate-control = [{ static-window = {} }]
        [[override]]
        name = "long-haul"
        links = "x1-x2"
        flow-control = "lossy"
        delay = "1us"
        [[workload]]
        name = "hadoop"
        poisson = { load = 0.7 }
    "#;

    fn after(sets: &[(&str, &str)]) -> serde_json::Value {
        let mut tree = Node::parse("a", TEXT).expect("it is TOML");
        for (path, value) in sets {
            apply(&mut tree, path, value).expect("the path is right");
        }
        tree.to_json()
    }

    fn error(path: &str) -> String {
        let mut tree = Node::parse("a", TEXT).expect("it is TOML");
        apply(&mut tree, path, "1").unwrap_err().to_string()
    }

    #[test]
    fn values_are_toml_or_text() {
        let tree = after(&[("seed", "7"), ("limit", "1ms"), ("workload.hadoop.poisson.load", "0.3")]);
        assert_eq!(tree["seed"], 7);
        assert_eq!(tree["limit"], "1ms");
        assert_eq!(tree["workload"][0]["poisson"]["load"], 0.3);
    }

    #[test]
    fn another_choice_replaces_the_one_written() {
        let tree = after(&[("long-haul.flow-control.pfc.xoff", "1MB")]);
        assert_eq!(tree["override"][0]["flow-control"], serde_json::json!({ "pfc": { "xoff": "1MB" } }));
        let tree = after(&[("defaults.flow-control", "lossy")]);
        assert_eq!(tree["defaults"]["flow-control"], "lossy");
        let tree = after(&[("defaults.flow-control.lossy", "{}")]);
        assert_eq!(tree["defaults"]["flow-control"], serde_json::json!({ "lossy": {} }));
    }

    #[test]
    fn the_same_choice_keeps_its_other_parameters() {
        let tree = after(&[("defaults.flow-control.pfc.xoff", "1MB")]);
        let expected = serde_json::json!({ "pfc": { "xoff": "1MB", "react": "1us" } });
        assert_eq!(tree["defaults"]["flow-control"], expected);
        let tree = after(&[("defaults.rate-control.static-window.size", "9KB")]);
        assert_eq!(tree["defaults"]["rate-control"][0]["static-window"]["size"], "9KB");
    }

    #[test]
    fn length_replaces_delay() {
        let tree = after(&[("long-haul.length", "80km")]);
        assert_eq!(tree["override"][0].get("delay"), None);
    }

    #[test]
    fn paths_that_lead_nowhere_name_the_nearest() {
        assert!(
            error("hadoop.until").ends_with("\"hadoop\" is a workload: its keys are workload.hadoop.<key>")
        );
        assert!(error("long-hual.buffer").ends_with(r#"did you mean "long-haul"?"#));
        assert!(error("workload.hadop.until").ends_with(r#"allowed: hadoop; did you mean "hadoop"?"#));
        assert!(error("defalts.buffer").ends_with(r#"did you mean "defaults"?"#));
        assert!(error("a..b").starts_with("--set a..b=1: a..b: a path is keys"));
    }
}

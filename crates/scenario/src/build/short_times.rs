//! Times of mechanisms that no device can keep: they are shorter than a bit on the fastest link.
//!
//! A timer of such a time makes more events than the network has bits to send. The rule looks at the text, so
//! that it holds for each parameter of each mechanism, also for those from outside the tree.

use floodway_fabric::Blueprint;
use floodway_units::cast::saturated;
use floodway_units::{Rate, Span};

use super::Builder;
use crate::grammar::tree::{Node, Value};

/// The slots whose parameters belong to mechanisms.
const SLOTS: [&str; 9] = [
    "flow-control",
    "link-retry",
    "congestion-point",
    "buffer",
    "routing",
    "scheduler",
    "notification",
    "rate-control",
    "reliability",
];
const PS_PER_S: u128 = 1_000_000_000_000;

impl Builder<'_> {
    /// Refuses times of mechanisms that are above 0 and shorter than a bit on the fastest link.
    pub(super) fn refuse_short_times(&mut self, blueprint: &Blueprint) {
        let rates = blueprint.links.iter().flat_map(|link| &link.directions).map(|direction| direction.rate);
        let Some(fastest) = rates.max() else { return };
        let mut found = Vec::new();
        if let Some(defaults) = self.tree.get("defaults") {
            slots(defaults, &["defaults"], fastest, &mut found);
        }
        let overrides = self.tree.get("override").map_or(&[][..], Node::items);
        for (i, item) in overrides.iter().enumerate() {
            slots(item, &["override", &item.label(i)], fastest, &mut found);
        }
        for (path, given) in found {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let least = Span(saturated(PS_PER_S.div_ceil(u128::from(fastest.0))));
            let message = format!(
                "{given} is shorter than a bit on the fastest link, which has {fastest}; allowed: {least} or more, or 0us where \
                 the parameter allows it"
            );
            self.fault(&path, message);
        }
    }
}

/// The times that are too short, with their paths.
type TooShort = Vec<(Vec<String>, Span)>;

/// Looks at the slots of a table.
fn slots(table: &Node, path: &[&str], fastest: Rate, found: &mut TooShort) {
    for entry in table.entries().iter().filter(|entry| SLOTS.contains(&&*entry.key)) {
        let mut path: Vec<String> = path.iter().map(|&key| key.to_owned()).collect();
        path.push(entry.key.clone());
        walk(&entry.node, &mut path, fastest, found);
    }
}

fn walk(node: &Node, path: &mut Vec<String>, fastest: Rate, found: &mut TooShort) {
    let mut below = |key: String, node: &Node| {
        path.push(key);
        walk(node, path, fastest, found);
        path.pop();
    };
    match &node.value {
        Value::Text(text) => {
            found.extend(too_short(text, fastest).map(|given| (path.clone(), given)));
        }
        Value::Table(entries) => entries.iter().for_each(|entry| below(entry.key.clone(), &entry.node)),
        Value::List(items) => {
            items.iter().enumerate().for_each(|(i, item)| below(item.label(i), item));
        }
        Value::Integer(_) | Value::Float(_) | Value::Bool(_) => {}
    }
}

/// The time that a text is, if it is above 0 and no bit takes so little.
fn too_short(text: &str, fastest: Rate) -> Option<Span> {
    let given: Span = text.parse().ok()?;
    let bits = u128::from(given.0) * u128::from(fastest.0);
    (given > Span::ZERO && bits < PS_PER_S).then_some(given)
}

//! Heads and parameters are what users read: pages, `floodway explain` and the schema are made of them.

use std::fs;
use std::path::Path;

use schemars::{JsonSchema, schema_for};
use serde_json::Value;

use super::*;

/// The sections of a head, in their order.
const SECTIONS: [&str; 6] = ["What it does", "Why", "Symbols", "Sizing", "Known differences", "References"];

/// Each line of the registry like `Pfc => pfc,`: its list, and the file that it names.
fn registered() -> Vec<(&'static str, &'static str)> {
    let mut list = "";
    let mut found = Vec::new();
    for line in include_str!("../../registry.rs").lines() {
        if let Some(name) = line.strip_suffix("! {") {
            list = name;
        } else if line == "}" {
            list = "";
        } else if let Some((_, module)) = line.split_once(" => ").filter(|_| !list.is_empty()) {
            found.push((list, module.trim_end_matches(',')));
        }
    }
    found
}

fn head_of(module: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(format!("{module}.rs"));
    let text = fs::read_to_string(file).unwrap();
    let head = text.lines().map_while(|line| line.strip_prefix("//!"));
    head.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned()).collect()
}

fn must_have(list: &str, section: &str) -> bool {
    match section {
        "Symbols" => false,
        "Sizing" => ["flow_controls", "buffers"].contains(&list),
        _ => true,
    }
}

#[test]
fn every_head_has_its_sections_in_order() {
    for (list, module) in registered() {
        let head = head_of(module);
        let found: Vec<_> = head.iter().filter_map(|line| line.strip_prefix("# ")).collect();
        let places: Vec<_> = found.iter().map(|name| SECTIONS.iter().position(|of| of == name)).collect();
        assert!(places.iter().all(Option::is_some), "{module}: an unknown section among {found:?}");
        assert!(places.is_sorted_by(|one, next| one < next), "{module}: {found:?} are out of order");
        let missing = SECTIONS.iter().find(|name| must_have(list, name) && !found.contains(*name));
        assert_eq!(missing, None, "{module}: a section is missing");
    }
}

#[test]
fn every_head_begins_with_what_it_is_and_its_source() {
    for (_, module) in registered() {
        let head = head_of(module);
        let first: Vec<_> = head.iter().take_while(|line| !line.is_empty()).cloned().collect();
        let first = first.join(" ");
        assert!(first.ends_with('.') && first.contains(" ("), "{module}: {first:?}");
    }
}

#[test]
fn all_lines_of_the_registry_are_read() {
    let names = [
        FlowControlParams::names(),
        LinkRetryParams::names(),
        BufferParams::names(),
        RoutingParams::names(),
        SchedulerParams::names(),
        CongestionPointParams::names(),
        NotificationParams::names(),
        ReactionParams::names(),
        ReliabilityParams::names(),
    ];
    assert_eq!(registered().len(), names.concat().len(), "{:?}", registered());
}

fn names_its_source(value: &Value) -> bool {
    value["description"].as_str().is_some_and(|text| text.contains("Source:"))
}

/// Properties and variants at and under `value` whose description names no source.
fn without_source(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| without_source(item, place, found)),
        Value::Object(map) => {
            let properties = value["properties"].as_object().into_iter().flatten();
            let bare = properties.filter(|(_, property)| !names_its_source(property));
            found.extend(bare.map(|(name, _)| format!("{place}.{name}")));
            let variants = value["oneOf"].as_array().into_iter().flatten();
            let bare = variants.filter(|variant| variant["const"].is_string() && !names_its_source(variant));
            found.extend(bare.map(|variant| format!("{place} = {}", variant["const"])));
            // Variants that say nothing at all come as a list of names.
            found.extend(map.get("enum").map(|names| format!("{place} = {names}")));
            map.iter().for_each(|(name, value)| without_source(value, &format!("{place}/{name}"), found));
        }
        _ => {}
    }
}

/// Among the parameters of all choices of a slot.
fn bare<Slot: JsonSchema>() -> Vec<String> {
    let schema = schema_for!(Slot).to_value();
    let mut found = Vec::new();
    without_source(&schema["$defs"], &Slot::schema_name(), &mut found);
    found
}

#[test]
fn every_parameter_and_every_keyword_names_the_source_of_its_default() {
    let bare = [
        bare::<FlowControlParams>(),
        bare::<LinkRetryParams>(),
        bare::<BufferParams>(),
        bare::<RoutingParams>(),
        bare::<SchedulerParams>(),
        bare::<CongestionPointParams>(),
        bare::<NotificationParams>(),
        bare::<ReactionParams>(),
        bare::<ReliabilityParams>(),
    ];
    assert_eq!(bare.concat(), Vec::<String>::new());
}

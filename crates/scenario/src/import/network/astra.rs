//! Networks of ASTRA-sim's analytical backends: for each dimension its kind, its size, and the bandwidth and
//! latency of its links. A GB/s is 2^30 bytes a second there.

use floodway_units::cast::whole;
use floodway_units::{Rate, Span};
use saphyr::{LoadableYamlNode as _, Yaml};

use super::{ForJob, gpu_nodes};
use crate::error::nearest;

/// Keys, as they are written now.
const KEYS: [&str; 4] = ["topology", "npus_count", "bandwidth", "latency"];
/// Kinds of dimensions.
const KINDS: [&str; 3] = ["Ring", "FullyConnected", "Switch"];
/// The largest number of a dimension.
const MOST: f64 = 1e9;
/// Bits a second of a GB/s.
const GB: f64 = 1_073_741_824.0 * 8.0;

/// Rates are whole Mbit/s.
const STEP: f64 = 1e6;

/// A fault, with its line where that is known.
type Fault = (Option<u32>, String);

/// A dimension.
#[derive(Clone, Debug)]
struct Dimension {
    kind: String,
    ranks: u32,
    rate: Rate,
    latency: Span,
}

/// Reads a network.
///
/// # Errors
/// What is no such network, or cannot be here.
pub(super) fn read(text: &str) -> Result<ForJob, Fault> {
    let documents = Yaml::load_from_str(text).map_err(|error| {
        let line = u32::try_from(error.marker().line()).ok();
        (line, format!("it is no YAML: {}", error.info()))
    })?;
    let Some(document) = documents.first().filter(|document| document.is_mapping()) else {
        return Err((
            None,
            format!("it has none of the keys of a network of ASTRA-sim: {}", KEYS.join(", ")),
        ));
    };
    let dimensions = dimensions(document, text)?;
    let notes = unknown(document);
    let dims = if dimensions.len() > 1 { dimensions.iter().map(|of| of.ranks).collect() } else { Vec::new() };
    let (topology, servers) = match &dimensions[..] {
        [only] if only.kind == "Switch" => (only.switch(only.ranks), None),
        [inner, outer] if inner.kind == "Switch" && outer.kind == "Switch" => {
            let (rate, latency) = (inner.rate.to_string(), Span(inner.latency.0 * 2).to_string());
            let hosts = inner.ranks.saturating_mul(outer.ranks);
            (outer.switch(hosts), Some(gpu_nodes(inner.ranks, &rate, &latency)))
        }
        _ => {
            let shown: Vec<String> =
                dimensions.iter().map(|of| format!("{} of {}", of.kind, of.ranks)).collect();
            let ranks = dimensions.iter().fold(1, |ranks: u32, of| ranks.saturating_mul(of.ranks));
            let last = &dimensions[dimensions.len() - 1];
            let why = format!(
                "{} is a network of ASTRA-sim that cannot be here, where hosts forward no packets; available are a \
                 Switch, and a Switch within servers and one between them. Write topology.{} instead, or links of \
                 ranks one by one in topology.explicit",
                shown.join(", "),
                last.switch(ranks)
            );
            return Err((line_of(text, KEYS[0]), why));
        }
    };
    Ok(ForJob { topology, gpu_nodes: servers, dims, notes, ..ForJob::default() })
}

impl Dimension {
    fn switch(&self, hosts: u32) -> String {
        format!(
            "single-switch = {{ hosts = {hosts}, rate = \"{}\", delay = \"{}\" }}",
            self.rate, self.latency
        )
    }
}

fn dimensions(document: &Yaml<'_>, text: &str) -> Result<Vec<Dimension>, Fault> {
    let mut lists = Vec::new();
    for key in KEYS {
        let Some(value) = document.as_mapping_get(key) else {
            return Err((
                None,
                format!("the key {key} is missing; a network of ASTRA-sim has {}", KEYS.join(", ")),
            ));
        };
        lists.push(match value.as_vec() {
            Some(list) => list.iter().collect(),
            None => vec![value],
        });
    }
    let [kinds, ranks, bandwidths, latencies] = &lists[..] else { return Ok(Vec::new()) };
    let short = KEYS.iter().zip(&lists).find(|(_, list)| list.len() != kinds.len() || list.is_empty());
    if let Some((key, list)) = short {
        let why = format!(
            "{key} has {} elements, and topology {}: each has one for a dimension",
            list.len(),
            kinds.len()
        );
        return Err((line_of(text, key), why));
    }
    let mut dimensions = Vec::new();
    for (at, kind) in kinds.iter().enumerate() {
        let number = |key: &str, value: &Yaml<'_>, least: f64| {
            let number = value.as_floating_point().or_else(|| value.as_integer().map(|value| value as f64));
            number.filter(|number| (least..=MOST).contains(number)).ok_or_else(|| {
                let why = format!("element {at} of {key} is no number from {least} to {MOST}");
                (line_of(text, key), why)
            })
        };
        let kind = kind.as_str().unwrap_or_default();
        if !KINDS.contains(&kind) {
            let kinds = KINDS.map(str::to_owned);
            let hint =
                nearest(kind, &kinds).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
            let why = format!("{kind:?} is no kind of a dimension; allowed: {}{hint}", KINDS.join(", "));
            return Err((line_of(text, KEYS[0]), why));
        }
        let ranks = number(KEYS[1], ranks[at], 1.0)?;
        let bandwidth = number(KEYS[2], bandwidths[at], 1e-3)?;
        let latency = number(KEYS[3], latencies[at], 1e-3)?;
        dimensions.push(Dimension {
            kind: kind.to_owned(),
            ranks: u32::try_from(whole(ranks)).unwrap_or(u32::MAX),
            rate: Rate(whole((bandwidth * GB / STEP).round() * STEP)),
            latency: Span(whole((latency * 1000.0).round()).max(1)),
        });
    }
    Ok(dimensions)
}

/// The line that a key begins.
fn line_of(text: &str, key: &str) -> Option<u32> {
    (1..).zip(text.lines()).find(|(_, line)| line.trim_start().starts_with(key)).map(|(line, _)| line)
}

/// Notes on keys that are not used.
fn unknown(document: &Yaml<'_>) -> Vec<String> {
    let keys = document.as_mapping().into_iter().flat_map(|mapping| mapping.keys());
    let names = keys.filter_map(|key| key.as_str()).filter(|name| !KEYS.contains(name));
    let all = KEYS.map(str::to_owned);
    let note = |name: &str| {
        let hint = nearest(name, &all).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        format!("the key {name:?} is not used{hint}")
    };
    names.map(note).collect()
}

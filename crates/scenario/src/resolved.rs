//! Resolved settings of every object with the line that made each, equal objects together.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::{Arrivals, PoissonSpec, WorkloadSpec};
use floodway_fabric::destinations::DestinationPattern;
use floodway_units::Span;
use serde::Serialize;
use serde_json::{Value, json};

use crate::build::Built;
use crate::grammar::document::Document;
use crate::grammar::forms::FlowControl;
use crate::resolve::{Choice, DirectionPlan, LinkPlan};
use crate::topology::Network;

/// Objects whose every choice is the same and has the same origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// "direction" (of a link), "switch", "host", "workload".
    pub kind: &'static str,
    /// Their names; a direction is `a>b`, with the link's name where several lead there.
    pub objects: Vec<String>,
    /// Their choices.
    pub settings: Vec<Setting>,
}

/// A choice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Key, as scenarios spell it.
    pub key: &'static str,
    /// Value.
    pub value: Value,
    /// Who chose it, and the line.
    pub origin: String,
}

/// All groups of a scenario.
pub fn groups(built: &Built, document: &Document) -> Vec<Group> {
    let mut grouping = Grouping::default();
    let (network, plan) = (&built.network, &built.plan);
    for (i, node) in network.nodes.iter().enumerate().filter(|(_, node)| !node.is_host) {
        let switch = &plan.nodes[i].switch;
        let mut settings = vec![
            setting("buffer", &switch.buffer),
            setting("routing", &switch.routing),
            setting("pipeline", &switch.pipeline),
            setting("cell", &switch.cell),
        ];
        if !switch.bypass.value.is_empty() {
            let periods = switch.bypass.value.iter().map(|(from, to)| json!({ "from": from, "to": to }));
            let value = json!({ "bypass": periods.collect::<Vec<_>>() });
            settings.push(Setting { key: "faults", value, origin: switch.bypass.origin.to_string() });
        }
        grouping.add("switch", node.name.clone(), settings);
    }
    for (i, node) in network.nodes.iter().enumerate().filter(|(_, node)| node.is_host) {
        let host = &plan.nodes[i].host;
        let drain = host.drain.as_ref().map(|drain| setting("drain", drain));
        let size = host.receive_buffer.as_ref().map(|size| setting("receive-buffer", size));
        let failover = Some(&host.nic_failover).filter(|failover| failover.origin.place.is_some());
        let failover = failover.map(|failover| setting("nic-failover", failover));
        let nics = Some(&host.nics).filter(|nics| nics.origin.place.is_some());
        let nics = nics.map(|nics| setting("nics", nics));
        let settings: Vec<Setting> = drain.into_iter().chain(size).chain(failover).chain(nics).collect();
        if !settings.is_empty() {
            grouping.add("host", node.name.clone(), settings);
        }
    }
    for (i, (link, of)) in network.links.iter().zip(&plan.links).enumerate() {
        for from in 0..2 {
            let [sender, receiver] = [network.behind(i, from), network.behind(i, 1 - from)];
            let direction = &of.directions[from];
            let mut settings = vec![
                setting("rate", &direction.rate),
                setting("delay", &direction.delay),
                flow_control("flow-control", &direction.flow_control),
                faults(direction, of),
            ];
            if direction.link_retry.origin.place.is_some() {
                settings.push(setting("link-retry", &direction.link_retry));
            }
            let port_at = link.ends[1 - from];
            if !network.nodes[port_at].is_host {
                let own = of.ends[1 - from].buffer.as_ref();
                settings.push(setting("buffer", own.unwrap_or(&plan.nodes[port_at].switch.buffer)));
            }
            settings.extend(relays(network, link.ends, from, i, &direction.flow_control));
            settings.push(setting("scheduler", &of.ends[from].scheduler));
            settings.push(setting("congestion-point", &of.ends[from].congestion_points));
            settings.extend(of.ends[from].output_queue.as_ref().map(|room| setting("output-queue", room)));
            let name = format!("{}>{}", network.nodes[sender].name, network.nodes[receiver].name);
            let plain = [(sender, receiver), (receiver, sender)]
                .iter()
                .any(|&(a, b)| link.name == format!("{}-{}", network.nodes[a].name, network.nodes[b].name));
            let name = if plain { name } else { format!("{} {name}", link.name) };
            grouping.add("direction", name, settings);
        }
    }
    for (workload, flows) in document.workload.iter().zip(&plan.flows) {
        let mut settings = vec![
            setting("class", &flows.class),
            setting("rate-control", &flows.rate_control),
            setting("reliability", &flows.reliability),
            setting("notification", &flows.notification),
            setting("qp", &flows.qp),
        ];
        settings.extend(flows.payload.as_ref().map(|payload| setting("payload", payload)));
        settings.extend(hot_setting(built, &workload.name));
        grouping.add("workload", workload.name.clone(), settings);
    }
    grouping.groups
}

/// The relays at the ends of a direction, where its link has them.
fn relays(
    network: &Network,
    ends: [usize; 2],
    from: usize,
    link: usize,
    choice: &Choice<FlowControl>,
) -> Option<Setting> {
    network.relays_of(link)?;
    let name = |end: usize| network.nodes[ends[end]].name.as_str();
    let value = json!({ "from": name(from), "to": name(1 - from) });
    Some(Setting { key: "relays", value, origin: choice.origin.to_string() })
}

/// The hot hosts of a workload, where it has a hot spot.
fn hot_setting(built: &Built, workload: &str) -> Option<Setting> {
    let spec = built.blueprint.workloads.iter().find(|spec| spec.name == workload)?;
    let hosts = hot_hosts(&built.blueprint, spec);
    let is_drawn = built.recipes.iter().any(|recipe| recipe.workload == workload);
    let seed = built.blueprint.seed;
    let origin = if is_drawn { format!("drawn by seed {seed}") } else { format!("workload {workload}") };
    (!hosts.is_empty()).then(|| Setting { key: "hot-hosts", value: hosts.into(), origin })
}

/// Names of the hosts that a workload's hot spot is at.
pub fn hot_hosts(blueprint: &Blueprint, workload: &WorkloadSpec) -> Vec<String> {
    let Arrivals::Poisson(PoissonSpec { pattern: DestinationPattern::HotSpot { hosts, .. }, .. }) =
        &workload.arrivals
    else {
        return Vec::new();
    };
    hosts.iter().map(|host| blueprint.nodes[host.index()].name.clone()).collect()
}

#[derive(Default)]
struct Grouping {
    groups: Vec<Group>,
    /// Group by kind and settings.
    known: BTreeMap<String, usize>,
}

impl Grouping {
    fn add(&mut self, kind: &'static str, object: String, settings: Vec<Setting>) {
        let mut key = kind.to_owned();
        for setting in &settings {
            let _ = write!(key, "|{}|{}|{}", setting.key, setting.value, setting.origin);
        }
        let next = self.groups.len();
        let at = *self.known.entry(key).or_insert(next);
        if at == next {
            self.groups.push(Group { kind, objects: Vec::new(), settings });
        }
        self.groups[at].objects.push(object);
    }
}

fn setting<T: Serialize>(key: &'static str, choice: &Choice<T>) -> Setting {
    let value = serde_json::to_value(&choice.value).unwrap_or(Value::Null);
    Setting { key, value, origin: choice.origin.to_string() }
}

fn flow_control(key: &'static str, choice: &Choice<FlowControl>) -> Setting {
    let value = match &choice.value {
        FlowControl::All(params) => serde_json::to_value(params).unwrap_or(Value::Null),
        FlowControl::ByClass(classes) => classes
            .iter()
            .map(|(class, params)| {
                (format!("class-{class}"), serde_json::to_value(params).unwrap_or(Value::Null))
            })
            .collect(),
    };
    Setting { key, value, origin: choice.origin.to_string() }
}

fn faults(direction: &DirectionPlan, link: &LinkPlan) -> Setting {
    let choice = &direction.faults;
    let (errors, jitter) = choice.value;
    let mut value = serde_json::Map::new();
    if errors.data + errors.control + errors.link_control > 0.0 {
        let rates =
            json!({ "data": errors.data, "control": errors.control, "link-control": errors.link_control });
        value.insert("error-rate".into(), rates);
    }
    if jitter.0 > 0 {
        value.insert("jitter".into(), jitter.to_string().into());
    }
    if !link.down.is_empty() {
        let periods = link.down.iter().map(|(from, to)| json!({ "from": from, "to": to }));
        value.insert("down".into(), periods.collect());
    }
    let (detection, convergence) = link.reaction;
    for (key, span) in [("detection", detection), ("convergence", convergence)] {
        if span > Span::ZERO {
            value.insert(key.into(), span.to_string().into());
        }
    }
    if !direction.switchovers.is_empty() {
        let switchovers = direction.switchovers.iter().map(|(at, delay)| json!({ "at": at, "delay": delay }));
        value.insert("switchover".into(), switchovers.collect());
    }
    Setting { key: "faults", value: value.into(), origin: choice.origin.to_string() }
}

/// A value as TOML writes it in one line.
pub fn inline(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Object(entries) if entries.is_empty() => "{}".into(),
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| format!("{key} = {}", inline(value));
            let entries = entries.iter().filter(|(_, value)| !value.is_null()).map(entry);
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The groups as text.
pub fn text(groups: &[Group]) -> String {
    let mut text = String::new();
    for group in groups {
        let shown = 6;
        let names = group.objects.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match group.objects.len().saturating_sub(shown) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(text, "{} {names}{more}", group.kind);
        for Setting { key, value, origin } in &group.settings {
            let _ = writeln!(text, "  {key:<17} {}  ({origin})", inline(value));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_toml() {
        let value = json!({ "pfc": { "pause": null, "react": "0ps", "xoff": { "alpha": 0.25 } } });
        assert_eq!(inline(&value), r#"{ pfc = { react = "0ps", xoff = { alpha = 0.25 } } }"#);
        assert_eq!(inline(&json!(["line-rate", {}])), r#"["line-rate", {}]"#);
    }
}

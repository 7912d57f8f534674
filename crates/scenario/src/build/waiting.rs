//! Flows of a list that wait for others: ids become positions in the list.

use std::collections::BTreeMap;

use floodway_fabric::Blueprint;
use floodway_fabric::blueprint::FlowSpec;
use floodway_fabric::dependencies;
use floodway_units::Time;

use crate::error::{Place, ScenarioError, nearest};
use crate::workload::csv::FlowRow;

/// A row with the place and path that errors about it name.
pub type Row = (Place, String, FlowRow);

/// Fills in which flows of a list wait for which; `flows` are those of `rows`, in their order.
///
/// # Errors
/// Ids that are not there or are there twice, and flows that cannot wait as they should; at most ten.
pub fn tie(flows: &mut [FlowSpec], rows: &[Row], blueprint: &Blueprint) -> Result<(), Vec<ScenarioError>> {
    let mut errors = Vec::new();
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, (place, key, row)) in rows.iter().enumerate() {
        let Some(id) = &row.id else { continue };
        if let Some(earlier) = ids.insert(id, i) {
            let message = format!("{id:?} is the id of another flow ({})", rows[earlier].0);
            errors.push(ScenarioError::new(place.clone(), format!("{key}.id"), message));
        }
    }
    for ((place, key, row), flow) in rows.iter().zip(&mut *flows) {
        for after in &row.after {
            match ids.get(after.as_str()) {
                Some(&before) if flow.after.contains(&before) => {}
                Some(&before) => flow.after.push(before),
                None => errors.push(unknown(place, key, after, &ids)),
            }
        }
        if row.after.is_empty() && row.wait.0 > 0 {
            let message = "the flow waits for no other: name those in \"after\", or say when it starts";
            errors.push(ScenarioError::new(place.clone(), format!("{key}.wait"), message));
        }
    }
    if errors.is_empty()
        && let Err(fault) = dependencies::order(flows)
    {
        let name = |flow: usize| match &rows[flow].2.id {
            Some(id) => format!("{id:?}"),
            None => format!("flow {}", flow + 1),
        };
        let (place, key, _) = &rows[fault.flow()];
        let words = fault.words(blueprint, flows, name);
        errors.push(ScenarioError::new(place.clone(), format!("{key}.after"), words));
    }
    errors.truncate(10);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn unknown(place: &Place, key: &str, id: &str, ids: &BTreeMap<&str, usize>) -> ScenarioError {
    let known: Vec<String> = ids.keys().map(ToString::to_string).collect();
    let message = if known.is_empty() {
        format!("no flow of the list has the id {id:?}: none has an id")
    } else {
        format!("no flow of the list has the id {id:?}")
    };
    ScenarioError::new(place.clone(), format!("{key}.after"), message).with_suggestion(nearest(id, &known))
}

/// Puts the flows in order of their start, each with its place in the list as it was written, without those
/// that start at `until` or later, or wait for one that does.
pub fn in_order(flows: Vec<FlowSpec>, until: Option<Time>) -> Vec<FlowSpec> {
    let mut keeps = vec![false; flows.len()];
    for flow in dependencies::order(&flows).unwrap_or_default() {
        let spec = &flows[flow];
        keeps[flow] = until.is_none_or(|until| spec.start < until) && spec.after.iter().all(|&of| keeps[of]);
    }
    let mut order: Vec<usize> = (0..flows.len()).filter(|&flow| keeps[flow]).collect();
    order.sort_by_key(|&flow| flows[flow].start);
    let mut places = vec![0; flows.len()];
    for (place, &flow) in order.iter().enumerate() {
        places[flow] = place;
    }
    let mut flows: Vec<Option<FlowSpec>> = flows.into_iter().map(Some).collect();
    let moved = |flow: usize| {
        let mut spec = flows[flow].take()?;
        spec.after.iter_mut().for_each(|of| *of = places[*of]);
        spec.place = flow;
        Some(spec)
    };
    order.into_iter().filter_map(moved).collect()
}

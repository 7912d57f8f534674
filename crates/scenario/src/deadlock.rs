//! Deadlocks that the paths of a scenario's flows make possible, before any run.

use floodway_fabric::{BufferCycle, Dependencies};

use crate::build::Built;
use crate::error::{Place, ScenarioError};

/// Ports of a cycle that are named.
const NAMED: usize = 12;

/// What `check` says where the paths are too many to be looked at.
pub fn unknown(dependencies: &Dependencies) -> Option<String> {
    let why = "whether buffers can wait for each other in a cycle is not known: flows have too many paths";
    (*dependencies == Dependencies::Unknown).then(|| why.to_owned())
}

/// Warns of buffers that can wait for each other in a cycle, at the flow control of a link of it; `place` is
/// that of a flow control that nobody chose.
pub fn warning(built: &Built, dependencies: &Dependencies, place: &Place) -> Option<String> {
    let Dependencies::Cyclic(cycle) = dependencies else { return None };
    let first = cycle.ports.first()?;
    let origin = &built.plan.links[first.index() / 2].directions[first.index() % 2].flow_control.origin;
    let message = format!(
        "the paths of class {} let buffers wait for each other in a cycle, and once all of them are full, none can send: {}",
        cycle.class.0,
        ports(built, cycle)
    );
    let place = origin.place.clone().unwrap_or_else(|| place.clone());
    Some(ScenarioError::new(place, &*origin.key, message).to_string())
}

/// The ports of a cycle as a deadlock names them, each waiting for the next.
fn ports(built: &Built, cycle: &BufferCycle) -> String {
    let more = cycle.ports.len().saturating_sub(NAMED);
    let mut names: Vec<String> =
        cycle.ports.iter().take(NAMED).map(|&port| built.blueprint.port_name(port)).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.push(names[0].clone());
    names.join(" -> ")
}

//! Dependencies between flows of a list: which flow may wait for which, and in which order they can start.

use floodway_programs::{Graph, Kind, Operation};
use floodway_units::Span;
use floodway_units::cast::narrow;

use crate::network::blueprint::{Blueprint, FlowSpec, UNBOUNDED};

/// Errors of the dependencies of a list; flows by their index in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The list has no flow of this place.
    Unknown {
        /// The flow that waits.
        flow: usize,
    },
    /// The flow waits for one that neither ends nor begins at its source, which cannot know.
    Unobservable {
        /// The flow that waits.
        flow: usize,
        /// The flow that it waits for.
        after: usize,
    },
    /// The flow waits for one without end.
    Endless {
        /// The flow that waits.
        flow: usize,
        /// The flow that it waits for.
        after: usize,
    },
    /// Each of these waits for the next, and the last for the first.
    Cycle(Vec<usize>),
}

impl Fault {
    /// The error as a text, with flows named by `name`.
    pub fn words(&self, blueprint: &Blueprint, flows: &[FlowSpec], name: impl Fn(usize) -> String) -> String {
        let node = |node: floodway_units::NodeId| &blueprint.nodes[node.index()].name;
        match self {
            Fault::Unknown { flow } => format!("{} waits for a flow that is not there", name(*flow)),
            Fault::Unobservable { flow, after } => {
                let (of, before) = (&flows[*flow], &flows[*after]);
                format!(
                    "{} starts at {}, where it is not known when {} from {} to {} is complete: it would have to \
                     end there or begin there",
                    name(*flow),
                    node(of.source),
                    name(*after),
                    node(before.source),
                    node(before.destination)
                )
            }
            Fault::Endless { flow, after } => {
                format!("{} waits for {}, which never ends", name(*flow), name(*after))
            }
            Fault::Cycle(cycle) => {
                let names: Vec<String> = cycle.iter().chain(cycle.first()).map(|&flow| name(flow)).collect();
                format!("flows wait for each other: {}", names.join(" after "))
            }
        }
    }

    /// The flow of the error.
    pub fn flow(&self) -> usize {
        match self {
            Fault::Unknown { flow } | Fault::Unobservable { flow, .. } | Fault::Endless { flow, .. } => *flow,
            Fault::Cycle(cycle) => cycle.first().copied().unwrap_or_default(),
        }
    }
}

/// An order of the flows in which each comes after those that it waits for.
///
/// # Errors
/// The first fault found.
pub fn order(flows: &[FlowSpec]) -> Result<Vec<usize>, Fault> {
    if flows.iter().all(|flow| flow.after.is_empty()) {
        return Ok((0..flows.len()).collect());
    }
    for (flow, spec) in flows.iter().enumerate() {
        spec.after.iter().try_for_each(|&after| check(flows, flow, after))?;
    }
    let all = |flows: Vec<u32>| flows.into_iter().map(|flow| flow as usize).collect();
    Graph::new(flows.iter().map(operation).collect())
        .order()
        .map(all)
        .map_err(|cycle| Fault::Cycle(all(cycle)))
}

/// May a flow wait for another one?
fn check(flows: &[FlowSpec], flow: usize, after: usize) -> Result<(), Fault> {
    let (spec, before) = (&flows[flow], flows.get(after).ok_or(Fault::Unknown { flow })?);
    if before.size >= UNBOUNDED {
        return Err(Fault::Endless { flow, after });
    }
    if before.destination != spec.source && before.source != spec.source {
        return Err(Fault::Unobservable { flow, after });
    }
    Ok(())
}

/// A flow as an operation that requires those that it waits for.
fn operation(flow: &FlowSpec) -> Operation {
    Operation {
        kind: Kind::Compute { time: Span::ZERO },
        requires: flow.after.iter().map(|&after| narrow::<u32>(after)).collect(),
        requires_start: Vec::new(),
        unit: None,
        name: 0,
    }
}

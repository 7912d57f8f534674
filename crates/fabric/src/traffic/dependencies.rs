//! Dependencies between flows of a list: which flow may wait for which, and in which order they can start.

use std::collections::VecDeque;

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
    let mut followers = vec![Vec::new(); flows.len()];
    for (flow, spec) in flows.iter().enumerate() {
        for &after in &spec.after {
            let before = flows.get(after).ok_or(Fault::Unknown { flow })?;
            if before.size >= UNBOUNDED {
                return Err(Fault::Endless { flow, after });
            }
            if before.destination != spec.source && before.source != spec.source {
                return Err(Fault::Unobservable { flow, after });
            }
            followers[after].push(flow);
        }
    }
    let mut unmet: Vec<usize> = flows.iter().map(|flow| flow.after.len()).collect();
    let mut ready: VecDeque<usize> = (0..flows.len()).filter(|&flow| unmet[flow] == 0).collect();
    let mut order = Vec::with_capacity(flows.len());
    while let Some(flow) = ready.pop_front() {
        order.push(flow);
        for &follower in &followers[flow] {
            unmet[follower] -= 1;
            if unmet[follower] == 0 {
                ready.push_back(follower);
            }
        }
    }
    match (0..flows.len()).find(|&flow| unmet[flow] > 0) {
        Some(stuck) => Err(Fault::Cycle(cycle(flows, &unmet, stuck))),
        None => Ok(order),
    }
}

/// A cycle among flows that can never start, of which each waits for another one.
fn cycle(flows: &[FlowSpec], unmet: &[usize], from: usize) -> Vec<usize> {
    let waits_for = |flow: usize| flows[flow].after.iter().copied().find(|&after| unmet[after] > 0);
    let mut chain = vec![from];
    let mut seen = vec![false; flows.len()];
    let mut at = from;
    while !std::mem::replace(&mut seen[at], true) {
        let Some(next) = waits_for(at) else { break };
        chain.push(next);
        at = next;
    }
    // The last is where the cycle closes; who is before its first place only leads there.
    chain.pop();
    let begin = chain.iter().position(|&flow| flow == at).unwrap_or_default();
    chain.split_off(begin)
}

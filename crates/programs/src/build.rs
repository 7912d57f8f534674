//! Programs of collectives.

use std::collections::BTreeMap;

use crate::collective::{Plan, Request, RequestError};
use crate::{Graph, Kind, Message, Operation, Program, Rank};
use floodway_units::cast::narrow;

impl Program {
    /// Each of these groups of ranks executes collectives one after another, all of them `iterations` times.
    ///
    /// # Errors
    /// A request cannot be met by one of the groups.
    pub fn of_collectives(
        requests: &[Request],
        groups: Vec<Vec<u32>>,
        iterations: u32,
    ) -> Result<Self, RequestError> {
        if !(1..=Message::ITERATIONS).contains(&iterations) {
            let why = format!("{iterations} is not a number from 1 to {}", Message::ITERATIONS);
            return Err(RequestError { key: "repeat", why });
        }
        check_groups(&groups)?;
        let ranks = groups.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let names = requests.iter().map(|request| format!("{} {}", request.op.name(), request.size));
        let mut program = Program { iterations, names: names.collect(), ..Program::default() };
        // Ranks of no group have an empty graph.
        program.graphs.push(Graph::default());
        program.ranks = vec![Rank::default(); ranks];
        // Ranks of groups of one size share a graph.
        let mut graphs: BTreeMap<usize, u32> = BTreeMap::new();
        for (index, group) in (0..).zip(&groups) {
            let graph = if let Some(&graph) = graphs.get(&group.len()) {
                graph
            } else {
                program.add_chain(requests, narrow(group.len()))?
            };
            graphs.insert(group.len(), graph);
            for (place, &rank) in (0..).zip(group) {
                program.ranks[rank as usize] =
                    Rank { graph, peers: Box::default(), groups: Box::new([(index, place)]) };
            }
        }
        program.groups = groups;
        Ok(program)
    }

    /// Adds the graph of a rank in a group of so many: collectives one after another.
    fn add_chain(&mut self, requests: &[Request], ranks: u32) -> Result<u32, RequestError> {
        let mut operations = Vec::with_capacity(requests.len());
        for (sequence, request) in (0..).zip(requests) {
            let plan = self.plan_for(request, ranks)?;
            operations.push(Operation {
                kind: Kind::Collective { plan, group: 0, sequence },
                requires: sequence.checked_sub(1).into_iter().collect(),
                requires_start: Vec::new(),
                unit: None,
                name: sequence,
            });
        }
        self.graphs.push(Graph::new(operations));
        Ok(narrow::<u32>(self.graphs.len()) - 1)
    }

    /// The plan of a request for a group of so many ranks. Requests of one program differ in operation and
    /// size alone, so that those that agree in these share a plan.
    pub(crate) fn plan_for(&mut self, request: &Request, ranks: u32) -> Result<u32, RequestError> {
        let of_plan = |plan: &Plan| (plan.purpose, plan.size, plan.ranks);
        let known = self.plans.iter().position(|plan| of_plan(plan) == (request.op, request.size, ranks));
        let plan = if let Some(plan) = known {
            plan
        } else {
            self.plans.push(Plan::new(request, ranks)?);
            self.plans.len() - 1
        };
        Ok(narrow(plan))
    }
}

/// Is each rank in one group, and once?
fn check_groups(groups: &[Vec<u32>]) -> Result<(), RequestError> {
    let mut group_of = BTreeMap::new();
    for (index, &rank) in
        groups.iter().enumerate().flat_map(|(at, group)| group.iter().map(move |rank| (at, rank)))
    {
        let why = match group_of.insert(rank, index) {
            None => continue,
            Some(first) if first == index => format!("rank {rank} is in group {index} twice"),
            Some(first) => format!("rank {rank} is in group {first} and in group {index}; it may be in one"),
        };
        return Err(RequestError { key: "groups", why });
    }
    Ok(())
}

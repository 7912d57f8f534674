//! Programs of one collective.

use std::collections::BTreeMap;

use crate::collective::{Plan, Request, RequestError};
use crate::{Graph, Kind, Message, Operation, Program, Rank};

impl Program {
    /// Each of these groups of ranks executes a collective, `iterations` times.
    ///
    /// # Errors
    /// The request cannot be met by one of the groups.
    pub fn of_collective(
        request: &Request,
        groups: Vec<Vec<u32>>,
        iterations: u32,
    ) -> Result<Self, RequestError> {
        if !(1..=Message::ITERATIONS).contains(&iterations) {
            let why = format!("{iterations} is not a number from 1 to {}", Message::ITERATIONS);
            return Err(RequestError { key: "repeat", why });
        }
        check_groups(&groups)?;
        let ranks = groups.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let mut program = Program { iterations, names: vec![String::new()], ..Program::default() };
        // Ranks of no group have an empty graph.
        program.graphs.push(Graph::default());
        program.ranks = vec![Rank::default(); ranks];
        for (index, group) in (0..).zip(&groups) {
            let graph = program.graph_for(request, group.len() as u32)?;
            for (place, &rank) in (0..).zip(group) {
                program.ranks[rank as usize] =
                    Rank { graph, peers: Box::default(), groups: Box::new([(index, place)]) };
            }
        }
        program.groups = groups;
        Ok(program)
    }

    /// The graph of a group of so many ranks, which groups of that size share.
    fn graph_for(&mut self, request: &Request, ranks: u32) -> Result<u32, RequestError> {
        if let Some(plan) = self.plans.iter().position(|plan| plan.ranks == ranks) {
            return Ok(plan as u32 + 1);
        }
        let plan = Plan::new(request, ranks)?;
        self.plans.push(plan);
        let kind = Kind::Collective { plan: self.plans.len() as u32 - 1, group: 0, sequence: 0 };
        let (requires, requires_start) = (Vec::new(), Vec::new());
        self.graphs.push(Graph::new(vec![Operation { kind, requires, requires_start, unit: None, name: 0 }]));
        Ok(self.graphs.len() as u32 - 1)
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

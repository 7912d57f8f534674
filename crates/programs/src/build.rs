//! Programs of collectives.

use std::collections::{BTreeMap, BTreeSet};

use crate::collective::{AlgorithmName, CrossNic, Places, Plan, Request, RequestError, Seat};
use crate::{Graph, Kind, Message, Operation, Program, Rank};
use floodway_units::cast::narrow;

/// Where a group is, and the plans that it executes.
type Where = (Places, Vec<u32>);

/// Plans by where the ranks of groups are, as [`Program::seat`] makes them.
#[derive(Clone, Debug, Default)]
pub struct Seated {
    /// By group: which of `plans`; none, if all go by the plans as they are.
    of_group: Vec<u32>,
    /// By plan: the one in its place.
    plans: Vec<Vec<u32>>,
}

impl Seated {
    /// The plan in place of one for a group.
    pub(crate) fn plan(&self, plan: u32, group: u32) -> u32 {
        let in_place = self.of_group.get(group as usize).and_then(|&of| self.plans.get(of as usize));
        in_place.map_or(plan, |plans| plans[plan as usize])
    }

    /// A plan, and those in its place.
    pub(crate) fn all(&self, plan: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(plan).chain(self.plans.iter().map(move |plans| plans[plan as usize]))
    }
}

impl Program {
    /// Says where each rank is: rings and trees go through the nodes of their groups then, messages from rank
    /// to rank leave a node by the NIC of the receiver's rail, and a hierarchical algorithm whose levels are
    /// not given has those of the ranks: GPUs of a node, nodes of a site, sites.
    ///
    /// # Errors
    /// The ranks of a group of such an algorithm are not equally many of each node and nodes of each site,
    /// one after another; or a ring for each NIC makes too many messages or channels.
    pub fn seat(&mut self, seats: &[Seat]) -> Result<(), RequestError> {
        if !self.plans.iter().any(Plan::differs_by_seats) {
            return Ok(());
        }
        let mut known: BTreeMap<Where, u32> = BTreeMap::new();
        let mut seated = Seated::default();
        for (group, used) in self.groups.iter().zip(self.plans_of_groups()) {
            let seats: Vec<Seat> = group.iter().map(|&rank| seats[rank as usize]).collect();
            let key: Where = (Places::new(&seats), used.into_iter().collect());
            let of = if let Some(&of) = known.get(&key) {
                of
            } else {
                let mut plans: Vec<u32> = (0..narrow(self.plans.len())).collect();
                for &plan in &key.1 {
                    if let Some(in_place) = self.plans[plan as usize].seated(&key.0)? {
                        plans[plan as usize] = narrow(self.plans.len());
                        self.plans.push(in_place);
                    }
                }
                seated.plans.push(plans);
                known.insert(key, narrow::<u32>(seated.plans.len()) - 1);
                narrow::<u32>(seated.plans.len()) - 1
            };
            seated.of_group.push(of);
        }
        self.seated = seated;
        Ok(())
    }

    /// Ranks of a ring of each level, the innermost first, of the hierarchical collective that has most of
    /// them; none without one.
    pub fn levels(&self) -> Vec<u32> {
        let plans = self.executed().filter(|plan| plan.algorithm == AlgorithmName::Hierarchical.name());
        plans.map(|plan| plan.levels().to_vec()).max_by_key(Vec::len).unwrap_or_default()
    }

    /// How many rings at once go through the nodes of a group, at most, and by which NIC they leave one; none
    /// where none do.
    pub fn rings(&self) -> Option<(u32, CrossNic)> {
        let rings = self.executed().filter_map(|plan| Some((plan.rings()?, plan.request.cross_nic)));
        rings.max_by_key(|(count, _)| *count)
    }

    /// Do messages of any group leave nodes by the NICs of other GPUs ([`Request::pxn`])?
    pub fn has_relays(&self) -> bool {
        self.executed().any(Plan::has_relays)
    }

    /// The plans that groups execute.
    fn executed(&self) -> impl Iterator<Item = &Plan> {
        let used = self.plans_of_groups().into_iter().zip(0..);
        used.flat_map(move |(plans, group)| plans.into_iter().map(move |plan| self.plan(plan, group)))
    }

    /// By group: the plans that it executes.
    fn plans_of_groups(&self) -> Vec<BTreeSet<u32>> {
        let of_graph = |graph: &Graph| {
            let calls = graph.operations.iter().filter_map(|operation| match operation.kind {
                Kind::Collective { plan, group, .. } => Some((group, plan)),
                _ => None,
            });
            calls.collect::<BTreeSet<(u32, u32)>>()
        };
        let of_graphs: Vec<_> = self.graphs.iter().map(of_graph).collect();
        let mut used = vec![BTreeSet::new(); self.groups.len()];
        for rank in &self.ranks {
            for &(slot, plan) in &of_graphs[rank.graph as usize] {
                used[rank.groups[slot as usize].0 as usize].insert(plan);
            }
        }
        used
    }

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

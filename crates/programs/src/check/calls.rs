//! Collectives: does each rank of a group call each of them, once, and the same?

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{ProgramError, in_words};
use crate::collective::Plan;
use crate::{Kind, Program};

/// The calls of a collective of a group.
struct Calls {
    count: usize,
    /// Its first call: rank and operation.
    first: (u32, u32),
    last: (u32, u32),
}

impl Program {
    /// Do all ranks of each group call the same collectives?
    pub(super) fn check_calls(&self) -> Result<(), ProgramError> {
        let mut calls: BTreeMap<(u32, u32), Calls> = BTreeMap::new();
        for (rank, of) in (0..).zip(&self.ranks) {
            for (operation, of_graph) in (0..).zip(&self.graph_of(rank).operations) {
                let Kind::Collective { group, sequence, .. } = of_graph.kind else { continue };
                let (key, call) = ((of.groups[group as usize].0, sequence), (rank, operation));
                match calls.entry(key) {
                    Entry::Vacant(entry) => {
                        entry.insert(Calls { count: 1, first: call, last: call });
                    }
                    Entry::Occupied(mut entry) => self.compare_calls(key, entry.get_mut(), call)?,
                }
            }
        }
        let missed = |(key, of): &(&(u32, u32), &Calls)| of.count < self.groups[key.0 as usize].len();
        match calls.iter().find(missed) {
            Some((&key, of)) => Err(self.missed(key, of.first)),
            None => Ok(()),
        }
    }

    fn compare_calls(&self, key: (u32, u32), of: &mut Calls, call: (u32, u32)) -> Result<(), ProgramError> {
        let describe = |(rank, operation)| self.describe(rank, operation);
        let (group, sequence) = (self.group_in_words(key.0), key.1);
        if of.last.0 == call.0 {
            let (first, second) = (describe(of.last), describe(call));
            return Err(ProgramError::CalledTwice { rank: call.0, sequence, group, first, second });
        }
        if !self.plan_at(of.first).is_like(self.plan_at(call)) {
            let (one, other) = (describe(of.first), describe(call));
            let (first, second) = (of.first.0, call.0);
            return Err(ProgramError::Differ { sequence, group, first, one, second, other });
        }
        (of.count, of.last) = (of.count + 1, call);
        Ok(())
    }

    fn plan_at(&self, (rank, operation): (u32, u32)) -> &Plan {
        match self.operation_of(rank, operation).kind {
            Kind::Collective { plan, .. } => &self.plans[plan as usize],
            _ => unreachable!("calls are of collectives"),
        }
    }

    fn missed(&self, (group, sequence): (u32, u32), first: (u32, u32)) -> ProgramError {
        let members = self.groups[group as usize].iter().copied();
        let missing: Vec<u32> =
            members.filter(|&rank| self.call_of(rank, group, sequence).is_none()).collect();
        ProgramError::Missed {
            collective: self.describe(first.0, first.1),
            sequence,
            group: self.group_in_words(group),
            missing: in_words("rank", "ranks", &missing),
        }
    }

    fn group_in_words(&self, group: u32) -> String {
        let members = &self.groups[group as usize];
        format!("group {group} ({})", in_words("rank", "ranks", members))
    }
}

impl Plan {
    /// Do ranks that execute the one and the other meet?
    fn is_like(&self, other: &Plan) -> bool {
        let of = |plan: &Plan| (plan.purpose, plan.algorithm, plan.size, plan.ranks, plan.shape);
        of(self) == of(other)
    }
}

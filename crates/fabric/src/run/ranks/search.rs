//! Searches that concern the whole network: each process, or part, answers for its nodes.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::NodeId;

use super::Processes;

/// The nodes of which a search answers, and what it learns of the others.
pub(crate) enum Share<'w, 'a> {
    /// All.
    Whole,
    /// Those of this process; other ones answer for theirs.
    Process(&'w mut Processes<'a>),
    /// By node: those of a part of the network, which no other one affects.
    Part(&'w [bool]),
}

impl<'w, 'a> Share<'w, 'a> {
    /// Of a world with these other processes, or that is such a part.
    pub fn new(ranks: Option<&'w mut Processes<'a>>, part: Option<&'w [bool]>) -> Self {
        match (ranks, part) {
            (Some(ranks), _) => Share::Process(ranks),
            (None, Some(owned)) => Share::Part(owned),
            (None, None) => Share::Whole,
        }
    }

    /// Is a node of this process, or part?
    pub fn owns(&self, node: NodeId) -> bool {
        match self {
            Share::Whole => true,
            Share::Process(ranks) => ranks.owns(node),
            Share::Part(owned) => owned[node.index()],
        }
    }

    /// What all that take part in the search have of something, in their order.
    pub fn collected<T: BorshSerialize + BorshDeserialize>(&mut self, own: Vec<T>) -> Vec<T> {
        match self {
            Share::Process(ranks) => ranks.all_gather(&own).into_iter().flatten().collect(),
            Share::Whole | Share::Part(_) => own,
        }
    }
}

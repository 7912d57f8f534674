//! Searches that concern all ranks: each answers for its nodes.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::NodeId;

use super::Processes;

/// The part of the network that this process executes, and how it hears of the others.
pub(crate) struct Share<'w, 'a>(pub Option<&'w mut Processes<'a>>);

impl Share<'_, '_> {
    /// Is a node of this process?
    pub fn owns(&self, node: NodeId) -> bool {
        self.0.as_ref().is_none_or(|ranks| ranks.owns(node))
    }

    /// What all ranks have of something, in their order.
    pub fn collected<T: BorshSerialize + BorshDeserialize>(&mut self, own: Vec<T>) -> Vec<T> {
        match &mut self.0 {
            Some(ranks) => ranks.all_gather(&own).into_iter().flatten().collect(),
            None => own,
        }
    }
}

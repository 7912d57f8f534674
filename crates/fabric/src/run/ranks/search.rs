//! Searches that concern all ranks: each answers for its nodes.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::NodeId;

use crate::run::world::World;

impl World<'_> {
    /// Is a node of this process?
    pub fn owns(&self, node: NodeId) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.owns(node))
    }

    /// What all ranks have of something, in their order.
    pub fn collected<T: BorshSerialize + BorshDeserialize>(&mut self, own: Vec<T>) -> Vec<T> {
        match &mut self.ranks {
            Some(ranks) => ranks.all_gather(&own).into_iter().flatten().collect(),
            None => own,
        }
    }
}

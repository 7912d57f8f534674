//! Packets that arrived at hosts that they were not sent to.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::path::FlowName;
use floodway_units::{NodeId, Time};

use crate::outcome::Verdict;

/// How many there were, and the first of them.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct Strays {
    /// How many.
    pub count: u64,
    /// By time, and order of the event.
    pub first: Option<Stray>,
}

/// A packet at a host that it was not sent to.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub struct Stray {
    /// When.
    pub time: u64,
    /// Of the event.
    pub order: u64,
    /// Of which it is.
    pub flow: FlowName,
    /// Where it arrived.
    pub at: NodeId,
    /// Where it was sent.
    pub to: NodeId,
}

impl Strays {
    /// Adds those of another thread.
    pub fn absorb(&mut self, other: Strays) {
        self.count += other.count;
        let both = self.first.into_iter().chain(other.first);
        self.first = both.min_by_key(|stray| (stray.time, stray.order));
    }

    /// Every packet that arrived at a host had been sent to it.
    pub fn verdict(&self, facts: &Facts<'_>) -> Verdict {
        let Strays { count, first } = *self;
        let Some(Stray { time, flow, at, to, .. }) = first else { return Verdict::Holds };
        let name = |node: NodeId| &facts.blueprint.nodes[node.index()].name;
        Verdict::Broken(format!(
            "{count} packets arrived at hosts that they were not sent to, the first at {} us: one of flow {} at {} instead \
             of {}",
            Time(time).as_us(),
            facts.flow_word(flow),
            name(at),
            name(to)
        ))
    }
}

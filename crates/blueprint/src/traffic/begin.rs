//! Flows as they begin, and the queue pairs that they share.

use floodway_units::{Bytes, NodeId, PortId};

use crate::network::blueprint::{Blueprint, FlowSpec, Sharing};

/// What is known of a flow when it starts.
pub struct Begin {
    /// Its workload in the blueprint.
    pub workload: u32,
    /// Which of the blueprint's settings it has.
    pub settings: usize,
    /// The host that sends.
    pub source: NodeId,
    /// The host that receives.
    pub destination: NodeId,
    /// Payload.
    pub size: Bytes,
    /// Among those of its workload's source.
    pub number: u64,
    /// Of a job's message: the round of its sender's program, and by how much its number is larger in the
    /// run, of which parts were skipped.
    pub round: u16,
    /// See `round`.
    pub later: u64,
    /// Decides its source port, where none is named.
    pub entropy: u64,
    /// Source and destination port, where the list names them.
    pub ports: (Option<u16>, Option<u16>),
    /// Paths of its data and of its replies, where the list names them.
    pub pinned: (Option<Vec<PortId>>, Option<Vec<PortId>>),
    /// Who waits for it.
    pub hook: u32,
    /// Which queue pair carries it.
    pub carrier: Carrier,
    /// The rank of its queue pair at its NIC, where that goes by the list.
    pub rank: Option<u32>,
}

impl Begin {
    /// Which queue pair carries it, if that may be one that is open.
    pub fn pair_key(&self, blueprint: &Blueprint) -> Option<PairKey> {
        let settings = &blueprint.settings[self.settings];
        match self.carrier {
            Carrier::Loop(index) => Some(PairKey::Loop(self.workload, index)),
            Carrier::Ranks { from, to, channel } => {
                Some(PairKey::Ranks { workload: self.workload, from, to, channel })
            }
            Carrier::AsSet if settings.qp == Sharing::PerFlow => None,
            Carrier::AsSet => Some(PairKey::Pair {
                workload: self.workload,
                settings: self.settings,
                ends: (self.source, self.destination),
                ports: self.ports,
                pinned: self.pinned.clone(),
            }),
        }
    }
}

/// Which queue pair carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// One of its own, or one that flows like it share, as its settings say.
    AsSet,
    /// That of this loop of its workload.
    Loop(usize),
    /// That of these ranks of a job, on a channel.
    Ranks {
        /// The rank that sends.
        from: u32,
        /// The rank that receives.
        to: u32,
        /// Numbered by the program.
        channel: u32,
    },
}

/// Flows with the same key share a queue pair.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PairKey {
    /// Of a workload, and its loop.
    Loop(u32, usize),
    /// Of ranks of a job, on a channel.
    Ranks {
        /// The job.
        workload: u32,
        /// The rank that sends.
        from: u32,
        /// The rank that receives.
        to: u32,
        /// Numbered by the program.
        channel: u32,
    },
    /// Of two hosts.
    Pair {
        /// The workload of the flows.
        workload: u32,
        /// Which of the blueprint's settings they have.
        settings: usize,
        /// From where to where.
        ends: (NodeId, NodeId),
        /// As in [`Begin`].
        ports: (Option<u16>, Option<u16>),
        /// As in [`Begin`].
        pinned: (Option<Vec<PortId>>, Option<Vec<PortId>>),
    },
}

impl PairKey {
    /// Of a flow of a list with these settings, which share queue pairs.
    pub fn of(workload: u32, settings: usize, flow: &FlowSpec) -> Self {
        PairKey::Pair {
            workload,
            settings,
            ends: (flow.source, flow.destination),
            ports: (flow.source_port, flow.destination_port),
            pinned: (flow.path.clone(), flow.ack_path.clone()),
        }
    }
}

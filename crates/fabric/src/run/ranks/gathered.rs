//! What the first rank has of the others at the end.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::{NodeId, PortId};

/// A rank of a job, whether it is at its end, and which operations wait: iterations and operations.
pub(crate) type Progress = (u32, bool, Vec<(u32, u32)>);

/// What other processes say of the end of their parts.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct Gathered {
    /// Bytes on links and in queues.
    pub in_flight: u64,
    /// Packets on links, by the ports that sent them: class and bytes.
    pub on_links: Vec<(PortId, u8, u16)>,
    /// Nodes whose accounts do not hold what they are charged, and how.
    pub broken: Vec<(NodeId, String)>,
    /// Processes of jobs: whether they are at their end, and which operations wait.
    pub programs: Vec<Progress>,
    pub waiting: Vec<u64>,
}

//! Messages: the number that says which transfer of its sender's program a message is.

use floodway_units::cast::low_u32;

/// A message of a rank: the iteration, the operation of its graph, and the place among the sends of that
/// operation (0, but for collectives). The receiver's program says from it what has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// Iteration of the sender's program, from 0.
    pub iteration: u32,
    /// Operation of the sender's graph.
    pub operation: u32,
    /// Place among the sends of the operation.
    pub transfer: u32,
}

impl Message {
    /// Iterations are below this.
    pub const ITERATIONS: u32 = 1 << 12;
    /// Operations of a graph are below this.
    pub const OPERATIONS: u32 = 1 << 22;
    /// Places of an operation's sends are below this.
    pub const TRANSFERS: u32 = 1 << 22;
    /// Bits of a [`number`](Self::number).
    pub const BITS: u32 = 56;

    /// The three as one number.
    pub fn number(self) -> u64 {
        Self::iterations(self.iteration) | u64::from(self.operation) << 22 | u64::from(self.transfer)
    }

    /// What so many operations add to a [`number`](Self::number).
    pub fn operations(count: u32) -> u64 {
        u64::from(count) << 22
    }

    /// What so many iterations add to a [`number`](Self::number).
    pub fn iterations(count: u32) -> u64 {
        u64::from(count) << 44
    }

    /// The message of a [`number`](Self::number), whose bits above [`BITS`](Self::BITS) mean nothing here.
    pub fn of(number: u64) -> Self {
        Message {
            iteration: (number >> 44) as u32 & (Self::ITERATIONS - 1),
            operation: low_u32(number >> 22) & (Self::OPERATIONS - 1),
            transfer: low_u32(number) & (Self::TRANSFERS - 1),
        }
    }
}

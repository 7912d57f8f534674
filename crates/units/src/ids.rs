//! Index types, so that one kind of index cannot be used as another.

use borsh::{BorshDeserialize, BorshSerialize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
        )]
        pub struct $name(pub u32);

        impl $name {
            /// The value as an index of a column.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// A host, switch or relay.
    NodeId
    /// One end of a link at one node; its egress sends on the link and its ingress receives from it.
    PortId
    /// A full-duplex link.
    LinkId
    /// An active flow; numbers are reused once a flow has ended.
    FlowId
}

/// A priority (802.1Q) or virtual lane, 0 to 7.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    BorshSerialize,
    BorshDeserialize,
)]
#[serde(transparent)]
pub struct Class(pub u8);

impl Class {
    /// The class of data, unless a workload sets another.
    pub const DATA: Class = Class(3);
    /// ACK, NAK and CNP; served strictly first, never paused, charged or dropped by a switch.
    pub const CONTROL: Class = Class(6);
    /// Number of classes.
    pub const COUNT: usize = 8;
}

/// A queue of an egress port: `class` determines pausing and accounting, `sub` orders queues inside a class
/// (lower ones first).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId {
    /// The class that a PFC frame of the link names.
    pub class: Class,
    /// 0 for the queue that is served first, otherwise the number of a queue served after it.
    pub sub: u8,
}

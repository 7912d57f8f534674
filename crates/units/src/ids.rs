//! Indexes as types of their own, so that one cannot stand in for another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index of a column.
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
    /// A flow that is alive; numbers are used again once a flow has ended.
    FlowId
}

/// A priority (802.1Q) or virtual lane, 0 to 7.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Class(pub u8);

impl Class {
    /// What data uses unless a workload says otherwise.
    pub const DATA: Class = Class(3);
    /// ACK, NAK and CNP; served strictly first, never paused, charged or dropped by a switch.
    pub const CONTROL: Class = Class(6);
    /// How many there are.
    pub const COUNT: usize = 8;
}

/// A queue of an egress port: `class` decides what is paused and accounted, `sub` orders queues
/// inside a class (lower ones first).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId {
    /// The class that a pause of the link names.
    pub class: Class,
    /// 0 for the queue that is served first, or the number of one served after it.
    pub sub: u8,
}

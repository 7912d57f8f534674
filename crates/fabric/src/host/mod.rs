//! Hosts: queue pairs, their two halves, and their turns at a NIC.

pub(crate) mod allowances;
pub(crate) mod device;
pub(crate) mod failover;
pub(crate) mod grants;
pub(crate) mod listed;
pub(crate) mod messages;
pub(crate) mod nic;
pub(crate) mod nic_list;
pub(crate) mod nic_spray;
pub(crate) mod nics;
pub(crate) mod queue_pairs;
pub(crate) mod ranks;
pub(crate) mod receive;
pub(crate) mod receive_buffer;
pub(crate) mod round_robin_bitmap;
pub(crate) mod send;
pub(crate) mod stray;

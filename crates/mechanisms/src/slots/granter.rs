//! Credit that a receiving host grants: one machine for all its connections.

use std::fmt::Debug;

use floodway_units::{FlowId, Rate, Span, Time};

use super::ControlMessage;

/// The fixed values of a host when its granter is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// Rate of the host's first NIC.
    pub rate: Rate,
    /// The longest base round-trip time of all pairs of hosts.
    pub largest_rtt: Span,
}

/// Credit for a connection: what its sender may have sent in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The connection.
    pub flow: FlowId,
    /// What its sender is sent.
    pub message: ControlMessage,
}

/// Divides the rate of a receiving host's link among the connections that send to it.
pub trait Granter: Debug + Send {
    /// A packet of a connection asks for credit up to this number. `at_once`: in any case, since its payload
    /// was cut.
    fn on_request(&mut self, now: Time, flow: FlowId, number: u64, at_once: bool);
    /// The connection exists no longer: its number may be that of another one from now on.
    fn on_close(&mut self, flow: FlowId);
    /// When to call `on_timeout` next.
    fn next_timeout(&self) -> Option<Time>;
    /// The instant that `next_timeout` named has come: the credit to send, if any.
    fn on_timeout(&mut self, now: Time) -> Option<Grant>;
}

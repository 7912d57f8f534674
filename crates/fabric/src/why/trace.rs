//! What is recorded while flows are followed.

use std::collections::{BTreeMap, VecDeque};

use floodway_units::NodeId;
use rustc_hash::FxHashMap;

use super::journey::{Flight, FlightKey};
use super::origin::Origins;
use super::parts::{Found, Message, Section};
use super::sender::Sender;
use super::sent::Sent;
use super::stops::Stops;

/// What is recorded for one flow, or for several one after another.
#[derive(Debug)]
pub(crate) struct Trace {
    /// The flow that is followed, and of what time.
    pub section: Section,
    /// Those that are followed after it, and what was found of those before.
    pub(super) next: VecDeque<Section>,
    pub(super) before: Vec<Found>,
    /// By queue pair that several messages may share: workload and source, where flows are to follow.
    pub(super) open_pairs: BTreeMap<u32, (u32, NodeId)>,
    /// The run goes on when the flow is complete.
    pub to_end: bool,
    pub(super) message: Option<Message>,
    /// Queue pairs that carry the flow, or may.
    pub(super) slots: Vec<u32>,
    /// Their packets that may still arrive.
    pub(super) flights: BTreeMap<FlightKey, Flight>,
    /// By port class: when the last frame of the class that the port has sent is off its transmitter.
    pub(super) busy: Vec<u64>,
    /// By port class: when the flow control of the link stopped it.
    pub(super) paused: Vec<Stops>,
    /// By port: when a congestion point held the flow's queue back.
    pub(super) held: Vec<Stops>,
    pub(super) origins: Origins,
    pub(super) sender: Option<Sender>,
    pub(super) sent: Sent,
    /// By queue pair: when its last packet is off the NIC's transmitter.
    pub(super) off: FxHashMap<u32, u64>,
    pub(super) found: Option<Found>,
}

impl Trace {
    /// Has the flow still to start?
    pub(super) fn is_open(&self) -> bool {
        self.message.is_none()
    }

    /// Is the flow under way?
    pub(super) fn is_live(&self) -> bool {
        self.message.is_some() && self.found.is_none()
    }

    /// Forgets the packets that have arrived and completed nothing; those behind one that is late are kept
    /// for as long.
    pub(super) fn forget(&mut self, now: u64) {
        while self.flights.first_key_value().is_some_and(|(_, flight)| flight.is_over(now)) {
            self.flights.pop_first();
        }
    }

    /// No packet that may still arrive has waited anywhere before this instant, and what the sender did
    /// before is noted.
    pub(super) fn oldest(&self, now: u64) -> u64 {
        let packets = self.flights.first_key_value().map_or(now, |(key, _)| key.stamp);
        self.sender.as_ref().map_or(packets, |sender| packets.min(sender.known))
    }
}

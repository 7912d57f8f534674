//! Memory footprint of a network and of what happens in it, by the sizes of their parts.
//!
//! The memory of a run is estimated by these sizes before the run is built. A network that cannot fit is an
//! error when its scenario is read.

use std::mem::size_of;

use floodway_blueprint::network::path::Path;
use floodway_blueprint::network::port_facts::PortFacts;
use floodway_records::delays::Delays;
use floodway_records::operations::OPERATION_BYTES;
use floodway_records::series::{Bucket, Series};
pub use floodway_records::tally::flows::TABLE_ROW;
use floodway_records::tally::{ReceivedRow, SentRow};
use floodway_units::PortId;

use crate::host::messages::{Incoming, Outgoing};
use crate::host::nic::Nic;
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::link::packet::Packet;
use crate::link::port::{Egress, Port, Queue};
use crate::run::node::Node;
use crate::switch::buffer::Ingress;
use crate::switch::congestion::PortMachines;

/// What doubles when it is full may be half empty.
const DOUBLING: u64 = 2;
/// Bytes that machines hold in boxes, of a port or of an end of a queue pair: about.
const MACHINE: u64 = 256;
/// Bytes of an event that is pending, with the share of its chunk that is empty.
const EVENT: u64 = 48;
/// A name and a tag or two.
const NAMES: u64 = 256;
/// What a thread has for each node, which it may visit or not.
const INBOX: usize = 32;
/// Buckets of a series that is not watched, which are doubled up to that.
const COARSE: u64 = 128;

/// A flow that is over: its two rows, and that of the table.
pub const FLOW: u64 = DOUBLING * (size_of::<SentRow>() + size_of::<ReceivedRow>()) as u64 + TABLE_ROW;
/// A message that waits behind others of its queue pair.
pub const MESSAGE: u64 = DOUBLING * (size_of::<Outgoing>() + size_of::<Incoming>()) as u64;
/// A queue pair that is open.
pub const QUEUE_PAIR: u64 = DOUBLING
    * (size_of::<Path>() + size_of::<SendHalf>() + size_of::<ReceiveHalf>()) as u64
    + 2 * MACHINE
    + 2 * EVENT;
/// A packet in the network, with the event of its arrival.
pub const PACKET: u64 = DOUBLING * size_of::<Packet>() as u64 + EVENT;
/// What telemetry keeps beside a packet.
pub const TELEMETRY: u64 = DOUBLING * 8 * 32;
/// A bucket of a series, and its rows in the table.
pub const BUCKET: u64 = DOUBLING * (size_of::<Bucket>() as u64 + 5 * 36);
/// A row of a log, in the log and in its table.
pub const LOGGED: u64 = DOUBLING * 48 + 64;

/// An operation of a rank's program in the current iteration, with its place among those that are ready.
pub const OPERATION: u64 = DOUBLING * 24;
/// A row of the log of operations, there and in its table.
pub const OPERATION_ROW: u64 = DOUBLING * OPERATION_BYTES + 18 * 8;

/// Memory that each thread has for itself.
pub fn thread(workloads: usize, nodes: usize) -> u64 {
    Delays::bytes(workloads) + (nodes * INBOX) as u64
}

/// What a network is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Hosts and switches.
    pub nodes: u64,
    /// Links.
    pub links: u64,
    /// Classes in use, the control class included.
    pub classes: u64,
    /// Entries of routing tables.
    pub routes: u64,
}

impl Parts {
    /// What it takes as a network at rest.
    pub fn bytes(&self) -> u64 {
        let ports = 2 * self.links;
        let once = self.routes * size_of::<PortId>() as u64 + self.nodes * NAMES + self.links * NAMES;
        let port =
            size_of::<Port>() + size_of::<PortMachines>() + size_of::<Series>() + size_of::<PortFacts>();
        let port_class = size_of::<Ingress>() + size_of::<Egress>() + 2 * size_of::<Queue>();
        let node = size_of::<Node>() + size_of::<Nic>();
        let of_port = port as u64 + MACHINE + COARSE * size_of::<Bucket>() as u64;
        let port_classes = ports * self.classes * (port_class as u64 + MACHINE);
        once + ports * of_port + port_classes + self.nodes * (node as u64 + MACHINE)
    }
}

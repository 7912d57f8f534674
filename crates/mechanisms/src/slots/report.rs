//! Headers and reports of a transport whose receiver reports on many packets at once (Ultra Ethernet).
//!
//! Each data packet carries a [`Header`], and each reply of the receiver a [`Report`], beside what packets of
//! all transports have. They travel with the packet and take no bytes of their own: sizes are those of the
//! run's format of packets.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::{Bytes, Span};

use super::LossView;

/// What a data packet carries for the two ends of its queue pair, and for the hashes of switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Header {
    /// Its number among all packets of the queue pair that are acknowledged, from 0.
    pub number: u64,
    /// Its entropy value, which switches hash.
    pub entropy: u16,
    /// It asks for an acknowledgement at once.
    pub asks: bool,
    /// Up to which number its sender asks for credit, where receivers grant credit; else 0.
    pub wants: u64,
    /// What it asks for, if it has no payload and never had any.
    pub query: Option<Query>,
}

/// A packet without payload by which a sender asks its receiver for a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Query {
    /// A probe, in the class of data: it waits where data waits. It has a number of its own.
    Probe,
    /// A request to send (RTS), in the control class. Its number is one of those of data packets.
    Request,
}

/// What limits a queue pair when a packet of it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Its window, in bytes as its transport counts them.
    pub window: Bytes,
    /// A layer of its rate control holds back the packets behind this one.
    pub closed: bool,
    /// Up to which number the packet asks for credit ([`Header`]).
    pub wants: u64,
}

/// What a queue pair still has to send, as its transport counts bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// For the first time.
    pub new: Bytes,
    /// Again.
    pub repeated: Bytes,
    /// Bytes of the packet that started last.
    pub started: Bytes,
    /// Queue pairs of its NIC that may send now, this one included.
    pub sharing: u64,
}

/// What a receiver reports of a packet that has arrived, and of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct Report {
    /// The packet.
    pub number: u64,
    /// Its entropy value.
    pub entropy: u16,
    /// It had been sent before.
    pub repeated: bool,
    /// It was marked.
    pub marked: bool,
    /// It arrived without its payload, which is to be sent again; the fields below then have no meaning, but
    /// for the last one.
    pub trimmed: bool,
    /// All packets before this number have arrived.
    pub next: u64,
    /// Bit `i` of `bits`: the packet `base + i` has arrived.
    pub base: u64,
    /// See `base`.
    pub bits: u64,
    /// Bytes that have arrived, each once.
    pub received: u64,
    /// Packets that have arrived behind one that is missing.
    pub out_of_order: u64,
    /// Its payload was cut at the port that leads to the receiver.
    pub last_hop: bool,
    /// It had no payload, and asked for this report.
    pub query: Option<Query>,
}

/// What the sender's transport takes from a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// Bytes that are newly known to have arrived.
    pub acked: Bytes,
    /// All data packets before this one have arrived.
    pub next: u64,
    /// A sample of the round trip, if it is known which transmission the report answers.
    pub sample: Option<Sample>,
    /// The packet's payload was cut, and it will be sent again.
    pub cut: Option<Cut>,
    /// A loss that follows from it.
    pub loss: Option<LossView>,
}

/// A sample of the round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// From the packet's start to now.
    pub rtt: Span,
    /// What the packet was, if it was not data: a shorter one, which takes less time.
    pub query: Option<Query>,
}

/// A packet whose payload was cut, as layers of rate control see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Bytes that will be sent again.
    pub lost: Bytes,
    /// From its start to now.
    pub rtt: Span,
    /// Bytes in flight before it counted as lost.
    pub in_flight: Bytes,
    /// It was cut at the port that leads to its receiver.
    pub last_hop: bool,
}

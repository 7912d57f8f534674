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
}

/// What limits a queue pair when a packet of it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Its window, in bytes as its transport counts them.
    pub window: Bytes,
    /// A layer of its rate control holds back the packets behind this one.
    pub closed: bool,
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
}

/// What the sender's transport takes from a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// Bytes that are newly known to have arrived.
    pub acked: Bytes,
    /// All data packets before this one have arrived.
    pub next: u64,
    /// Whether the time from the packet's start to now is that of its round trip: it was sent once, or the
    /// report says which of two transmissions it answers.
    pub is_timed: bool,
    /// The packet's payload was cut, and it will be sent again.
    pub cut: Option<Cut>,
    /// A loss that follows from it.
    pub loss: Option<LossView>,
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

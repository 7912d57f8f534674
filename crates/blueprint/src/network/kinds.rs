//! Kinds of packets and of control frames, and their flags.

use borsh::{BorshDeserialize, BorshSerialize};

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub enum Kind {
    /// Payload of a flow.
    Data,
    /// A packet of data without its payload, which a switch has cut.
    Trimmed,
    /// A reply of the receiver.
    Ack,
    /// A reply that asks for `psn` again.
    Nak,
    /// A `Nak` that also reports an arrival out of order.
    Sack,
    /// A reply for the packet `psn` alone.
    One,
    /// A reply that has a report with it.
    Report,
    /// Congestion notification.
    Cnp,
    /// A message of the receiver's machines to the sender's.
    ToSender,
    /// A message of the sender's machines to the receiver's.
    ToReceiver,
    /// A packet of a transport without payload, by which the sender asks for a report.
    Query,
    /// A pause frame of the MAC: one time a class.
    Pause,
    /// A credit limit, or bytes sent, of one class.
    Credit,
    /// A credit limit of one class, in a control ordered set.
    CreditSet,
    /// Bytes sent of one class.
    Sent,
    /// Word of a congestion point to its neighbour upstream, which it has with it.
    Region,
    /// Of link retry: a frame that is sent again, which waits at the receiver.
    Replay,
    /// Of link retry: all frames before a number are accepted.
    RetryAck,
    /// The same, and that one is to be sent again.
    RetryNack,
    /// Of link retry: frames before a number are not sent again.
    RetryInit,
}

/// The first packet of its message.
pub const FIRST: u8 = 1;
/// The last packet of its message.
pub const LAST: u8 = 2;
/// Sent before.
pub const RETRANSMISSION: u8 = 4;
/// Marked CE; on a reply: the packet it answers was.
pub const CE: u8 = 8;
/// Marked UE; on a reply: the packet it answers was.
pub const UE: u8 = 16;
/// Its path is fixed: `hop` counts along it.
pub const ON_PATH: u8 = 32;
/// It waits in a queue that may lose it, or has left one at a switch before and waited in no other of such a
/// port since.
pub const ISOLATED: u8 = 64;
/// Data whose path is recorded, or the reply that brings the records back.
pub const INT: u8 = 128;

//! Link control frames without a standard encoding: credits and congestion notifications between neighbours.
//!
//! ```text
//! destination 6 | source 6 | 88-B5 | kind 1 | class 1 | value 8 | zeros | FCS 4
//! ```
//! The type is the first of those that IEEE 802 reserves for local experiments.

use etherparse::EtherType;

use crate::ethernet::{Frame, Mac, header, sealed};

/// IEEE 802 local experimental type 1.
const ETHER_TYPE: EtherType = EtherType(0x88B5);

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Total number of bytes that may be sent.
    Credit(u64),
    /// Total number of bytes that were sent.
    Sent(u64),
    /// A congestion point's notification to its upstream neighbour.
    Region,
}

/// A frame from the port `source` to the port `destination` about `class`.
pub fn frame([source, destination]: [Mac; 2], class: u8, word: Word, keep: usize) -> Frame {
    let (kind, value) = match word {
        Word::Credit(limit) => (1, limit),
        Word::Sent(total) => (2, total),
        Word::Region => (3, 0),
    };
    let mut bytes = header(destination, source, ETHER_TYPE);
    bytes.extend_from_slice(&[kind, class]);
    bytes.extend_from_slice(&value.to_be_bytes());
    sealed(bytes, keep)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credit_names_its_class_and_limit() {
        let frame = frame([Mac::of_port(1), Mac::of_port(2)], 3, Word::Credit(0x0102_0304_0506), 128);
        assert_eq!(frame.bytes[12..24], [0x88, 0xB5, 1, 3, 0, 0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((frame.bytes.len(), frame.length), (64, 64));
    }
}

//! Messages between the two ends of a queue pair, such as the credits of a rate control. No standard defines
//! their bytes.
//!
//! ```text
//! Ethernet 14 | IPv4 20 | UDP 8 | kind 1 | flags 1 | number 8 | time 8 | zeros | FCS 4
//! ```
//! Without zeros it has the minimum frame size.

use crate::ethernet::{Frame, sealed};
use crate::udp::Datagram;

/// A UDP port of the range for private use (RFC 6335 §6); Wireshark has no protocol for it.
pub const PORT: u16 = 64_791;
/// Flag of a message that ports may delay and drop.
const METERED: u8 = 1;

/// The content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its kind, by the numbers that sender and receiver define.
    pub kind: u8,
    /// Ports with a meter may delay and drop it.
    pub metered: bool,
    /// A number that it carries.
    pub number: u64,
    /// An instant that it carries, in picoseconds.
    pub time: u64,
    /// Number of bytes beyond the minimum frame size; they are zeros.
    pub padding: u8,
}

/// The frame, of which the first `keep` bytes are kept.
pub fn frame(datagram: &Datagram, message: &Message, keep: usize) -> Frame {
    let mut payload = vec![message.kind, if message.metered { METERED } else { 0 }];
    payload.extend_from_slice(&message.number.to_be_bytes());
    payload.extend_from_slice(&message.time.to_be_bytes());
    payload.resize(payload.len() + usize::from(message.padding), 0);
    sealed(datagram.with(PORT, &payload), keep)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::udp::tests::DATAGRAM;

    const CREDIT: Message =
        Message { kind: 3, metered: true, number: 0x0102_0304, time: 0x0A_0B0C_0D0E, padding: 0 };

    #[test]
    fn a_message_follows_its_udp_header() {
        let bytes = frame(&DATAGRAM, &CREDIT, usize::MAX).bytes;
        assert_eq!(bytes[14..18], [0x45, 48 << 2, 0, 46]);
        assert_eq!(bytes[34..40], [0xC1, 0x23, 0xFD, 0x17, 0, 26]);
        assert_eq!(bytes[42..52], [3, 1, 0, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(bytes[52..60], [0, 0, 0, 0x0A, 0x0B, 0x0C, 0x0D, 0x0E]);
        let free = frame(&DATAGRAM, &Message { metered: false, ..CREDIT }, usize::MAX).bytes;
        assert_eq!(free[42..44], [3, 0]);
    }

    #[test]
    fn frames_are_as_long_as_they_are_charged() {
        let smallest = Format::Ethernet.link_control().frame.0 as usize;
        for padding in [0, 1, 8, 255] {
            let frame = frame(&DATAGRAM, &Message { padding, ..CREDIT }, usize::MAX);
            assert_eq!((frame.length, frame.bytes.len()), (smallest + usize::from(padding), frame.length));
            let (head, _) = frame.bytes.split_at(frame.length - 4);
            assert!(head[60..].iter().all(|&byte| byte == 0));
        }
        assert_eq!(frame(&DATAGRAM, &CREDIT, 50).bytes.len(), 50);
    }
}

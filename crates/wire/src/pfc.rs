//! Priority flow control frames (IEEE 802.1Qbb, 802.3 Annex 31D).
//!
//! ```text
//! destination 6 | source 6 | 88-08 | opcode 2 | class enable 2 | time 8 x 2 | zeros 26 | FCS 4
//! ```

use etherparse::EtherType;

use crate::ethernet::{Frame, Mac, header, sealed};

/// The address that no bridge forwards.
const DESTINATION: Mac = Mac([0x01, 0x80, 0xC2, 0, 0, 0x01]);
/// MAC control.
const ETHER_TYPE: EtherType = EtherType(0x8808);
/// Pause by priority.
const OPCODE: u16 = 0x0101;

/// A frame from the port `source`: `enabled` has a bit for each class that it names, `times` their pauses in
/// quanta of 512 bit times, 0 to resume.
pub fn frame(source: Mac, enabled: u8, times: [u16; 8], keep: usize) -> Frame {
    let mut bytes = header(DESTINATION, source, ETHER_TYPE);
    for word in [OPCODE, u16::from(enabled)].into_iter().chain(times) {
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    sealed(bytes, keep)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_the_standard_has_them() {
        let mut times = [0; 8];
        (times[3], times[5]) = (0xFFFF, 0x0102);
        let frame = frame(Mac::of_port(9), 1 << 3 | 1 << 5 | 1, times, 128);
        let bytes = &frame.bytes;
        assert_eq!((bytes.len(), frame.length), (64, 64));
        assert_eq!(bytes[..6], [0x01, 0x80, 0xC2, 0, 0, 1]);
        assert_eq!(bytes[6..12], [2, 0, 0, 0, 0, 9]);
        assert_eq!(bytes[12..18], [0x88, 0x08, 0x01, 0x01, 0, 0b10_1001]);
        assert_eq!(bytes[18..24], [0; 6]);
        assert_eq!(bytes[24..30], [0xFF, 0xFF, 0, 0, 1, 2]);
        assert_eq!(bytes[30..60], [0; 30]);
        assert_eq!(crc32fast::hash(bytes), 0x2144_DF1C);
    }
}

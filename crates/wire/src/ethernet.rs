//! Ethernet: addresses, and the end of a frame (IEEE 802.3 §3).

use etherparse::{EtherType, Ethernet2Header};
use floodway_units::cast::to_usize;

use crate::SMALLEST;

/// Bytes of the frame check sequence.
pub const FCS: usize = 4;

/// A MAC address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// The address of a port: locally administered, its number in the last four bytes.
    pub fn of_port(port: u32) -> Self {
        let [a, b, c, d] = port.to_be_bytes();
        Mac([0x02, 0, a, b, c, d])
    }
}

/// A frame, or its first bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The bytes that are kept, FCS included if all are.
    pub bytes: Vec<u8>,
    /// Number of bytes of the whole frame, FCS included.
    pub length: usize,
}

/// Destination, source, type: the beginning of a frame.
pub(crate) fn header(destination: Mac, source: Mac, ether_type: EtherType) -> Vec<u8> {
    let header = Ethernet2Header { source: source.0, destination: destination.0, ether_type };
    header.to_bytes().to_vec()
}

/// Pads a frame to the minimum size, adds its FCS, and keeps the first `keep` bytes.
pub(crate) fn sealed(mut bytes: Vec<u8>, keep: usize) -> Frame {
    let length = sealed_length(bytes.len());
    bytes.resize(length - FCS, 0);
    // The FCS is sent with its lowest byte first (802.3 §3.2.9).
    let fcs = crc32fast::hash(&bytes).to_le_bytes();
    bytes.extend_from_slice(&fcs);
    bytes.truncate(keep);
    Frame { bytes, length }
}

/// Size of a frame with this number of bytes before padding and FCS, FCS included.
pub(crate) fn sealed_length(bytes: usize) -> usize {
    (bytes + FCS).max(to_usize(SMALLEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_ports_are_locally_administered_and_of_one_station() {
        let Mac(bytes) = Mac::of_port(0x0102_0304);
        assert_eq!(bytes, [2, 0, 1, 2, 3, 4]);
        assert_eq!((bytes[0] & 2, bytes[0] & 1), (2, 0));
    }

    #[test]
    fn frames_are_filled_to_64_bytes_and_end_in_their_fcs() {
        let frame = sealed(b"123456789".to_vec(), 1000);
        assert_eq!((frame.bytes.len(), frame.length), (64, 64));
        // The CRC over frame and FCS is the residue of CRC-32.
        assert_eq!(crc32fast::hash(&frame.bytes), 0x2144_DF1C);
        assert_eq!(sealed(vec![0; 100], 70), Frame { bytes: vec![0; 70], length: 104 });
    }
}

//! The invariant CRC of RoCEv2 (InfiniBand Annex A17, §A17.3.3): fields that routers may change count as
//! ones.

use crc32fast::Hasher;

/// Bytes of the ICRC.
pub(crate) const LENGTH: usize = 4;

/// A field that counts as ones: its position in the IPv4 header and the headers after it.
const MASKED: [usize; 7] = [
    1,  // DSCP and ECN
    8,  // time to live
    10, // header checksum
    11, 26, // UDP checksum
    27, 32, // FECN, BECN and the reserved bits beside them
];

/// The ICRC of the bytes from the IPv4 header to the pad, in the order in which it is sent.
pub(crate) fn icrc(packet: &[u8]) -> [u8; LENGTH] {
    let mut hasher = Hasher::new();
    // In place of InfiniBand's local route header, which RoCE does not have.
    hasher.update(&[0xFF; 8]);
    let mut from = 0;
    for at in MASKED {
        hasher.update(&packet[from..at]);
        hasher.update(&[0xFF]);
        from = at + 1;
    }
    hasher.update(&packet[from..]);
    hasher.finalize().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
        digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }

    /// A CNP that a `ConnectX-4` Lx sent, in the regression tests of scapy's RoCE layer.
    #[test]
    fn the_icrc_of_a_cnp_from_hardware_is_found() {
        let cnp = bytes(
            "45c2 003c 718c 4000 4011 9161 0a00 1101 0a00 1201 0000 12b7 0028 0000 8100 ffff 4000
             0118 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000",
        );
        assert_eq!(icrc(&cnp), [0x82, 0xFD, 0x00, 0x2A]);
    }

    /// A SEND of an unreliable connection, from the same place, with a UDP checksum.
    #[test]
    fn the_icrc_of_a_packet_with_payload_is_found() {
        let send = bytes(
            "4501 0040 0478 4000 4011 b4d5 c0a8 0007 c0a8 0007 c000 12b7 002c aca2 2460 ffff 0000 00d3
             00cf 1710 4630 818b e289 35d9 0e9a 9550 5401 be88 5e50 0000",
        );
        assert_eq!(icrc(&send), [0x78, 0xF3, 0x53, 0xF3]);
    }

    #[test]
    fn what_routers_change_does_not_count() {
        let mut packet = vec![0x45; 60];
        let before = icrc(&packet);
        for at in MASKED {
            packet[at] ^= 0x5A;
        }
        assert_eq!(icrc(&packet), before);
        packet[33] ^= 1;
        assert_ne!(icrc(&packet), before);
    }
}

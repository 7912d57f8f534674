//! UDP over IPv4 over Ethernet: the first headers of RoCEv2 packets and messages.

pub use etherparse::IpEcn;
use etherparse::{EtherType, IpDscp, IpNumber, Ipv4Header, UdpHeader};
use floodway_units::cast::narrow;

use crate::ethernet::{Mac, header};

/// Sender and receiver of a datagram, and its treatment by the network.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// Sending and receiving port of this hop.
    pub macs: [Mac; 2],
    /// Sending and receiving host.
    pub addresses: [u32; 2],
    /// Distinguishes flows for routing by hash.
    pub source_port: u16,
    /// Selects the class, 6 bits.
    pub dscp: u8,
    /// Its mark.
    pub ecn: IpEcn,
    /// Number of remaining hops.
    pub ttl: u8,
}

impl Datagram {
    /// The frame up to a payload of `length` bytes, without a UDP checksum.
    pub(crate) fn begin(&self, destination_port: u16, length: usize) -> Vec<u8> {
        self.begin_with(self.udp(destination_port, length))
    }

    /// The frame up to and including `payload`, with the UDP checksum.
    pub(crate) fn with(&self, destination_port: u16, payload: &[u8]) -> Vec<u8> {
        let mut udp = self.udp(destination_port, payload.len());
        let ends = self.addresses.map(u32::to_be_bytes);
        // It fails only for payloads larger than any frame; 0 means that there is no checksum.
        udp.checksum = udp.calc_checksum_ipv4_raw(ends[0], ends[1], payload).unwrap_or(0);
        let mut bytes = self.begin_with(udp);
        bytes.extend_from_slice(payload);
        bytes
    }

    /// The header before `length` bytes, without a checksum.
    fn udp(&self, destination_port: u16, length: usize) -> UdpHeader {
        let length = narrow::<u16>(UdpHeader::LEN + length);
        UdpHeader { source_port: self.source_port, destination_port, length, checksum: 0 }
    }

    fn begin_with(&self, udp: UdpHeader) -> Vec<u8> {
        let [source, destination] = self.macs;
        let mut bytes = header(destination, source, EtherType::IPV4);
        bytes.extend_from_slice(&self.ipv4(udp.length).to_bytes());
        bytes.extend_from_slice(&udp.to_bytes());
        bytes
    }

    /// RFC 791; never fragmented, so the identification may be 0 (RFC 6864).
    fn ipv4(&self, segment: u16) -> Ipv4Header {
        let [source, destination] = self.addresses.map(u32::to_be_bytes);
        let mut header = Ipv4Header {
            dscp: IpDscp::try_new(self.dscp & IpDscp::MAX_U8).unwrap_or_default(),
            ecn: self.ecn,
            total_len: Ipv4Header::MIN_LEN_U16 + segment,
            dont_fragment: true,
            time_to_live: self.ttl,
            protocol: IpNumber::UDP,
            source,
            destination,
            ..Ipv4Header::default()
        };
        header.header_checksum = header.calc_header_checksum();
        header
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The datagram of a message, for the tests of all contents.
    pub(crate) const DATAGRAM: Datagram = Datagram {
        macs: [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])],
        addresses: [0x0100_0001, 0x0100_0002],
        source_port: 0xC123,
        dscp: 48,
        ecn: IpEcn::NotEct,
        ttl: 63,
    };

    /// The ones' complement sum of the 16-bit words of an even number of bytes.
    fn sum(bytes: &[u8]) -> u32 {
        let words = bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
        let sum: u32 = words.sum();
        (sum & 0xFFFF) + (sum >> 16)
    }

    #[test]
    fn the_ones_complement_sum_of_the_ipv4_header_is_all_ones() {
        for n in 0..300u32 {
            let bytes = Datagram { addresses: [n.wrapping_mul(0x0123_4567), !n], ..DATAGRAM }.begin(1, 20);
            assert_eq!(sum(&bytes[14..34]), 0xFFFF);
        }
    }

    #[test]
    fn the_sum_of_pseudo_header_and_datagram_is_all_ones() {
        for n in 0..100u8 {
            let bytes = DATAGRAM.with(0xFD17, &[n, 1, 2, 3, 0xFF, 0xFE]);
            // The checksum also covers addresses, protocol and length (RFC 768).
            let pseudo = [&bytes[26..34], &[0, 17], &bytes[38..40], &bytes[34..]].concat();
            assert_eq!((sum(&pseudo), &bytes[36..40]), (0xFFFF, &[0xFD, 0x17, 0, 14][..]));
        }
    }
}

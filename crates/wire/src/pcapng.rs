//! Files of captured frames for Wireshark, tshark and scapy (pcapng, draft-ietf-opsawg-pcapng).
//!
//! The library `pcap-file` defines the blocks; this module defines their contents for a capture of a
//! simulation.

use std::borrow::Cow;
use std::time::Duration;

use floodway_units::cast::narrow;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::interface_statistics::{InterfaceStatisticsBlock, InterfaceStatisticsOption};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness};

/// Time stamps count nanoseconds: Wireshark 4.0 computes picoseconds in 64 bits, which overflow beyond 18 ms
/// of a second, and the library supports no others.
const RESOLUTION: u8 = 9;
const PICOSECONDS: u64 = 1000;

/// Maximum length of a text: options and records have lengths of 16 bits, so longer texts are cut.
const LONGEST: usize = 60_000;

/// The reason why writing cannot fail.
const SOUND: &str = "memory takes every byte, and interfaces come before their frames";

/// A file that is being written.
pub struct Writer {
    file: PcapNgWriter<Vec<u8>>,
}

/// An interface: the sender of the frames of a capture.
#[derive(Clone, Debug)]
pub struct Interface<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
    /// Speed in bit/s.
    pub speed: u64,
    /// Maximum number of bytes that are kept of each frame.
    pub keep: u32,
}

/// A frame of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Index of its interface in the order in which they were added.
    pub interface: u32,
    /// The time in picoseconds; the file has nanoseconds, rounded down.
    pub time: u64,
    /// The bytes that are kept.
    pub bytes: &'a [u8],
    /// Number of bytes of the whole frame.
    pub length: usize,
    /// A comment that is shown beside it; empty for none.
    pub comment: &'a str,
}

impl Writer {
    /// A file of one section, written by `application`.
    pub fn new(application: &str) -> Self {
        let section = SectionHeaderBlock {
            // In little-endian order, the library swaps the halves of the times of statistics.
            endianness: Endianness::Big,
            options: vec![SectionHeaderOption::UserApplication(application.to_owned().into())],
            ..SectionHeaderBlock::default()
        };
        Writer { file: PcapNgWriter::with_section_header(Vec::new(), section).expect(SOUND) }
    }

    /// Adds an interface; all interfaces precede the packets.
    pub fn interface(&mut self, interface: &Interface<'_>) {
        self.add(InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: interface.keep,
            options: vec![
                InterfaceDescriptionOption::IfName(text(interface.name)),
                InterfaceDescriptionOption::IfDescription(text(interface.description)),
                InterfaceDescriptionOption::IfSpeed(interface.speed),
                InterfaceDescriptionOption::IfTsResol(RESOLUTION),
                InterfaceDescriptionOption::IfFcsLen(narrow(crate::ethernet::FCS)),
            ],
        });
    }

    /// Names hosts by their IPv4 addresses.
    pub fn names<'a>(&mut self, hosts: impl Iterator<Item = (u32, &'a str)>) {
        let record = |(address, name): (u32, &'a str)| {
            let ip_addr = address.to_be_bytes().to_vec().into();
            Record::Ipv4(Ipv4Record { ip_addr, names: vec![text(name)] })
        };
        self.add(NameResolutionBlock { records: hosts.map(record).collect(), options: Vec::new() });
    }

    /// Adds a packet.
    ///
    /// # Panics
    /// If its interface has not been added.
    pub fn packet(&mut self, packet: &Packet<'_>) {
        let comment =
            (!packet.comment.is_empty()).then(|| EnhancedPacketOption::Comment(text(packet.comment)));
        self.add(EnhancedPacketBlock {
            interface_id: packet.interface,
            timestamp: Duration::from_nanos(packet.time / PICOSECONDS),
            original_len: narrow(packet.length),
            data: packet.bytes.into(),
            options: comment.into_iter().collect(),
        });
    }

    /// Adds the statistics of an interface at the end: the number of frames that it has sent until `time`, in
    /// picoseconds, and the number of them that are not in the file.
    ///
    /// # Panics
    /// If the interface has not been added.
    pub fn statistics(&mut self, interface: u32, time: u64, sent: u64, missed: u64) {
        self.add(InterfaceStatisticsBlock {
            interface_id: interface,
            timestamp: time / PICOSECONDS,
            options: vec![
                InterfaceStatisticsOption::IsbIfRecv(sent),
                InterfaceStatisticsOption::IsbIfDrop(missed),
            ],
        });
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        self.file.into_inner()
    }

    fn add<'a>(&mut self, block: impl PcapNgBlock<'a>) {
        self.file.write_pcapng_block(block).expect(SOUND);
    }
}

/// The part of a text that is kept: whole characters.
fn text(text: &str) -> Cow<'_, str> {
    let end = (0..=text.len().min(LONGEST)).rev().find(|&end| text.is_char_boundary(end));
    text[..end.unwrap_or(0)].into()
}

#[cfg(test)]
mod tests {
    use floodway_units::Turns;

    use super::*;

    const SECTION: u32 = 0x0A0D_0D0A;
    const INTERFACE: u32 = 1;
    const NAMES: u32 = 4;
    const STATISTICS: u32 = 5;
    const PACKET: u32 = 6;

    /// Kind and body of each block, read with the standard alone.
    fn blocks(file: &[u8]) -> Vec<(u32, &[u8])> {
        let word = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes"));
        let (mut at, mut found) = (0, Vec::new());
        let mut turns = Turns::at_most(100_000);
        while turns.go() && at < file.len() {
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4) as usize), (0, length));
            found.push((word(at), &file[at + 8..at + length - 4]));
            at += length;
        }
        found
    }

    fn small(name: &str) -> Vec<u8> {
        let mut writer = Writer::new("floodway");
        writer.interface(&Interface { name, description: "b", speed: 5, keep: 128 });
        writer.names([(0x0102_0304, "h1")].into_iter());
        let packet = Packet {
            interface: 0,
            time: 0x0001_0000_0002 * 1000 + 999,
            bytes: &[1, 2, 3, 4, 5],
            length: 9,
            comment: "",
        };
        writer.packet(&packet);
        writer.packet(&Packet { comment: "ab", ..packet });
        writer.statistics(0, 0x0007_0000_0001 * 1000, 3, 2);
        writer.finish()
    }

    #[test]
    fn blocks_follow_each_other_and_have_their_lengths_twice() {
        let file = small("a");
        let kinds: Vec<u32> = blocks(&file).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [SECTION, INTERFACE, NAMES, PACKET, PACKET, STATISTICS]);
        assert_eq!(file[8..12], [0x1A, 0x2B, 0x3C, 0x4D]);
    }

    #[test]
    fn a_packet_has_its_time_in_nanoseconds_and_both_lengths() {
        let file = small("a");
        let (_, packet) = blocks(&file)[3];
        let words = [0u32, 1, 2, 5, 9].map(u32::to_be_bytes).concat();
        assert_eq!(packet[..20], words);
        assert_eq!(packet[20..], [1, 2, 3, 4, 5, 0, 0, 0]);
        let (_, commented) = blocks(&file)[4];
        assert_eq!(commented[28..], [0, 1, 0, 2, b'a', b'b', 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn options_are_filled_to_multiples_of_four() {
        let file = small("a");
        let (_, interface) = blocks(&file)[1];
        assert_eq!(interface[..8], [0, 1, 0, 0, 0, 0, 0, 128]);
        assert_eq!(interface[8..16], [0, 2, 0, 1, b'a', 0, 0, 0]);
        let (_, names) = blocks(&file)[2];
        assert_eq!(names, [0, 1, 0, 7, 1, 2, 3, 4, b'h', b'1', 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn statistics_have_the_high_half_of_their_time_first() {
        let file = small("a");
        let (_, statistics) = blocks(&file)[5];
        assert_eq!(statistics[..12], [0u32, 7, 1].map(u32::to_be_bytes).concat());
        assert_eq!(statistics[12..24], [0, 4, 0, 8, 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(statistics[24..36], [0, 5, 0, 8, 0, 0, 0, 0, 0, 0, 0, 2]);
    }

    #[test]
    fn of_a_name_that_no_option_holds_whole_letters_are_kept() {
        let file = small(&format!("a{}", "€".repeat(30_000)));
        let (_, interface) = blocks(&file)[1];
        assert_eq!(interface[8..12], [0, 2, 0xEA, 0x5E], "1 byte, and 19,999 times 3");
        assert_eq!(interface[12 + 60_000..][..4], [0, 3, 0, 1], "the description follows");
    }
}

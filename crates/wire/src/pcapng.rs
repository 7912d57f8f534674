//! Files of captured frames, as Wireshark, tshark and scapy read them (pcapng, draft-ietf-opsawg-pcapng).
//!
//! Written here rather than by a library, since what makes a capture of a simulation readable are the
//! options and blocks beside the packets: names of interfaces and hosts, counts of what was not kept.

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const NAMES: u32 = 4;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;

/// Options of every block.
const COMMENT: u16 = 1;
/// Options of an interface.
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_SPEED: u16 = 8;
const IF_TIME_RESOLUTION: u16 = 9;
const IF_FCS_LENGTH: u16 = 13;
/// Options of its statistics.
const RECEIVED: u16 = 4;
const DROPPED: u16 = 5;
/// The application, in the section's options.
const APPLICATION: u16 = 4;
/// An IPv4 address, among the names.
const IPV4_NAME: u16 = 1;

/// Interfaces carry Ethernet.
const ETHERNET: u32 = 1;
/// Time stamps count nanoseconds: Wireshark 4.0 reckons picoseconds in 64 bits, too few beyond 18 ms of a second.
const RESOLUTION: u8 = 9;
const PICOSECONDS: u64 = 1000;

/// A file in the making.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
}

/// What sends the frames of a capture.
#[derive(Clone, Debug)]
pub struct Interface<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is.
    pub description: &'a str,
    /// Bits a second.
    pub speed: u64,
    /// Of each frame at most so many bytes are kept.
    pub keep: u32,
}

/// A frame of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Place of its interface in the order in which they were added.
    pub interface: u32,
    /// When, in picoseconds; the file has nanoseconds, rounded down.
    pub time: u64,
    /// What is kept of it.
    pub bytes: &'a [u8],
    /// Bytes that it has.
    pub length: usize,
    /// Shown beside it; empty for none.
    pub comment: &'a str,
}

impl Writer {
    /// A file of one section, written by `application`.
    pub fn new(application: &str) -> Self {
        let mut writer = Writer { bytes: Vec::new() };
        writer.block(SECTION, |bytes| {
            // The order of bytes, the version, a length that is not told.
            bytes.extend_from_slice(&0x1A2B_3C4D_u32.to_le_bytes());
            bytes.extend_from_slice(&[1, 0, 0, 0]);
            bytes.extend_from_slice(&u64::MAX.to_le_bytes());
            option(bytes, APPLICATION, application.as_bytes());
            end_of_options(bytes);
        });
        writer
    }

    /// Adds an interface; all come before the packets.
    pub fn interface(&mut self, interface: &Interface<'_>) {
        self.block(INTERFACE, |bytes| {
            bytes.extend_from_slice(&ETHERNET.to_le_bytes());
            bytes.extend_from_slice(&interface.keep.to_le_bytes());
            option(bytes, IF_NAME, interface.name.as_bytes());
            option(bytes, IF_DESCRIPTION, interface.description.as_bytes());
            option(bytes, IF_SPEED, &interface.speed.to_le_bytes());
            option(bytes, IF_TIME_RESOLUTION, &[RESOLUTION]);
            option(bytes, IF_FCS_LENGTH, &[crate::ethernet::FCS as u8]);
            end_of_options(bytes);
        });
    }

    /// Names hosts by their IPv4 addresses.
    pub fn names<'a>(&mut self, hosts: impl Iterator<Item = (u32, &'a str)>) {
        self.block(NAMES, |bytes| {
            for (address, name) in hosts {
                let record = [&address.to_be_bytes(), name.as_bytes(), &[0]].concat();
                option(bytes, IPV4_NAME, &record);
            }
            end_of_options(bytes);
        });
    }

    /// Adds a packet.
    pub fn packet(&mut self, packet: &Packet<'_>) {
        self.block(PACKET, |bytes| {
            let kept = packet.bytes.len() as u32;
            for word in [packet.interface, high(packet.time), low(packet.time), kept, packet.length as u32] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            padded(bytes, packet.bytes);
            if !packet.comment.is_empty() {
                option(bytes, COMMENT, packet.comment.as_bytes());
                end_of_options(bytes);
            }
        });
    }

    /// Says at the end, of the interface at a place, how many frames it has sent until `time`, in
    /// picoseconds, and how many of them are not in the file.
    pub fn statistics(&mut self, interface: u32, time: u64, sent: u64, missed: u64) {
        self.block(STATISTICS, |bytes| {
            for word in [interface, high(time), low(time)] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            option(bytes, RECEIVED, &sent.to_le_bytes());
            option(bytes, DROPPED, &missed.to_le_bytes());
            end_of_options(bytes);
        });
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// Adds a block: kind, length, body, length again.
    fn block(&mut self, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&kind.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 4]);
        body(&mut self.bytes);
        let length = ((self.bytes.len() - start + 4) as u32).to_le_bytes();
        self.bytes[start + 4..start + 8].copy_from_slice(&length);
        self.bytes.extend_from_slice(&length);
    }
}

fn high(time: u64) -> u32 {
    ((time / PICOSECONDS) >> 32) as u32
}

fn low(time: u64) -> u32 {
    (time / PICOSECONDS) as u32
}

/// An option, or a record of names, of which 65,535 bytes are kept.
fn option(bytes: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    bytes.extend_from_slice(&code.to_le_bytes());
    bytes.extend_from_slice(&(value.len() as u16).to_le_bytes());
    padded(bytes, value);
}

fn end_of_options(bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&[0; 4]);
}

/// Blocks and options begin at multiples of four bytes.
fn padded(bytes: &mut Vec<u8>, value: &[u8]) {
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len() + (value.len().wrapping_neg() & 3), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind and body of each block, as a reader walks through them.
    fn blocks(file: &[u8]) -> Vec<(u32, &[u8])> {
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
        let (mut at, mut found) = (0, Vec::new());
        while at < file.len() {
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4) as usize), (0, length));
            found.push((word(at), &file[at + 8..at + length - 4]));
            at += length;
        }
        found
    }

    fn small() -> Vec<u8> {
        let mut writer = Writer::new("floodway");
        writer.interface(&Interface { name: "a", description: "b", speed: 5, keep: 128 });
        writer.names([(0x0102_0304, "h1")].into_iter());
        writer.packet(&Packet {
            interface: 0,
            time: 0x0001_0000_0002 * 1000 + 999,
            bytes: &[1, 2, 3, 4, 5],
            length: 9,
            comment: "",
        });
        writer.statistics(0, 7000, 3, 2);
        writer.finish()
    }

    #[test]
    fn blocks_follow_each_other_and_say_their_lengths_twice() {
        let file = small();
        let kinds: Vec<u32> = blocks(&file).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [SECTION, INTERFACE, NAMES, PACKET, STATISTICS]);
        assert_eq!(file[8..12], [0x4D, 0x3C, 0x2B, 0x1A]);
    }

    #[test]
    fn a_packet_has_its_time_in_nanoseconds_and_both_lengths() {
        let file = small();
        let (_, packet) = blocks(&file)[3];
        let words = [0u32, 0x1_0000 >> 16, 2, 5, 9].map(u32::to_le_bytes).concat();
        assert_eq!(packet[..20], words);
        assert_eq!(packet[20..], [1, 2, 3, 4, 5, 0, 0, 0]);
    }

    #[test]
    fn options_are_filled_to_multiples_of_four() {
        let file = small();
        let (_, interface) = blocks(&file)[1];
        assert_eq!(interface[..8], [1, 0, 0, 0, 128, 0, 0, 0]);
        assert_eq!(interface[8..16], [2, 0, 1, 0, b'a', 0, 0, 0]);
        let (_, names) = blocks(&file)[2];
        assert_eq!(names, [1, 0, 7, 0, 1, 2, 3, 4, b'h', b'1', 0, 0, 0, 0, 0, 0]);
    }
}

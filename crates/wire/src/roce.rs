//! RoCEv2 packets (InfiniBand Annex A17).
//!
//! ```text
//! Ethernet 14 | IPv4 20 | UDP 8 | BTH 12 | RETH 16, AETH 4 or reserved 16 | INT 42 | payload | pad | ICRC 4 | FCS 4
//! ```

use etherparse::Ethernet2Header;
use floodway_units::cast::{low_u32, narrow};

use crate::ethernet::{Frame, sealed};
use crate::icrc::{self, icrc};
use crate::int::Stack;
use crate::udp::Datagram;

/// The UDP port of RoCEv2.
const PORT: u16 = 4791;
const BTH: usize = 12;

/// Opcodes of reliable connections, and of the CNP.
const WRITE_FIRST: u8 = 0x06;
const WRITE_MIDDLE: u8 = 0x07;
const WRITE_LAST: u8 = 0x08;
const WRITE_ONLY: u8 = 0x0A;
const ACKNOWLEDGE: u8 = 0x11;
const CNP: u8 = 0x81;

/// Syndrome of an ACK that grants no credits.
const ACK: u8 = 0x1F;
/// Syndrome of a NAK for a sequence error.
const NAK: u8 = 0x60;

/// Headers of every packet.
#[derive(Clone, Copy, Debug)]
pub struct Headers {
    /// Its ends.
    pub datagram: Datagram,
    /// Destination queue pair, 24 bits.
    pub queue_pair: u32,
    /// Sequence number, of which 24 bits are sent: in an ACK the last one that has arrived, in a NAK the
    /// expected one.
    pub psn: u64,
    /// Telemetry, if it has any.
    pub telemetry: Option<Stack>,
}

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A part of an RDMA WRITE.
    Write {
        /// Bytes of payload; they are zeros.
        payload: u16,
        /// The first packet of its message, with the RETH.
        first: bool,
        /// The last packet of its message.
        last: bool,
        /// Asks for an acknowledgement.
        ack_request: bool,
        /// Bytes of the whole message.
        message: u32,
    },
    /// A cumulative acknowledgement.
    Ack {
        /// The acknowledged packet was marked.
        congested: bool,
    },
    /// A request to send a packet again.
    Nak,
    /// As `Nak`; the message number of its AETH is that of the packet that has arrived out of order, which is
    /// not part of the standard.
    Sack {
        /// Its sequence number, of which 24 bits are sent.
        seen: u64,
    },
    /// A congestion notification.
    Cnp {
        /// Bytes that the sender may have in flight, in the first 4 of the 16 reserved bytes; 0 for none.
        window: u32,
    },
}

/// The frame, of which the first `keep` bytes are kept.
pub fn frame(headers: &Headers, body: &Body, keep: usize) -> Frame {
    let (payload, pad) = payload(body);
    let mut transport = extension(body);
    transport.extend(headers.telemetry.iter().flat_map(Stack::bytes));
    transport.resize(transport.len() + payload + pad, 0);
    // RoCEv2 has no UDP checksum, because it has the ICRC.
    let mut bytes = headers.datagram.begin(PORT, BTH + transport.len() + icrc::LENGTH);
    bytes.extend_from_slice(&bth(headers, body, pad));
    bytes.extend_from_slice(&transport);
    let check = icrc(&bytes[Ethernet2Header::LEN..]);
    bytes.extend_from_slice(&check);
    sealed(bytes, keep)
}

/// Number of bytes of payload, and of the pad that fills it to a multiple of four.
fn payload(body: &Body) -> (usize, usize) {
    match *body {
        Body::Write { payload, .. } => (usize::from(payload), usize::from(payload.wrapping_neg() & 3)),
        _ => (0, 0),
    }
}

/// Base transport header (IBA §9.2).
fn bth(headers: &Headers, body: &Body, pad: usize) -> [u8; BTH] {
    let becn = matches!(body, Body::Cnp { .. } | Body::Ack { congested: true });
    let ack_request = matches!(body, Body::Write { ack_request: true, .. });
    let [_, q2, q1, q0] = headers.queue_pair.to_be_bytes();
    let [_, p2, p1, p0] = low_u32(headers.psn).to_be_bytes();
    let (becn, ack_request) = (u8::from(becn) << 6, u8::from(ack_request) << 7);
    [opcode(body), narrow::<u8>(pad) << 4, 0xFF, 0xFF, becn, q2, q1, q0, ack_request, p2, p1, p0]
}

fn opcode(body: &Body) -> u8 {
    match *body {
        Body::Write { first: true, last: true, .. } => WRITE_ONLY,
        Body::Write { first: true, .. } => WRITE_FIRST,
        Body::Write { last: true, .. } => WRITE_LAST,
        Body::Write { .. } => WRITE_MIDDLE,
        Body::Ack { .. } | Body::Nak | Body::Sack { .. } => ACKNOWLEDGE,
        Body::Cnp { .. } => CNP,
    }
}

/// The header after the BTH: the RETH, the AETH, or a CNP's reserved bytes.
fn extension(body: &Body) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    match *body {
        // Virtual address and key are 0.
        Body::Write { first: true, message, .. } => {
            bytes.extend_from_slice(&[0; 12]);
            bytes.extend_from_slice(&message.to_be_bytes());
        }
        Body::Write { .. } => {}
        // The message number after the syndrome is 0.
        Body::Ack { .. } => bytes.extend_from_slice(&[ACK, 0, 0, 0]),
        Body::Nak => bytes.extend_from_slice(&[NAK, 0, 0, 0]),
        Body::Sack { seen } => {
            let [.., s2, s1, s0] = seen.to_be_bytes();
            bytes.extend_from_slice(&[NAK, s2, s1, s0]);
        }
        Body::Cnp { window } => {
            bytes.extend_from_slice(&window.to_be_bytes());
            bytes.extend_from_slice(&[0; 12]);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use floodway_units::{Bytes, Rate, Time};

    use super::*;
    use crate::udp::{IpEcn, tests};
    use crate::{Format, Telemetry};

    /// Data of class 3 that is marked.
    const DATAGRAM: Datagram = Datagram { dscp: 24, ecn: IpEcn::CongestionExperienced, ..tests::DATAGRAM };
    const HEADERS: Headers =
        Headers { datagram: DATAGRAM, queue_pair: 0xD2, psn: 0xFF_0102_0304, telemetry: None };

    fn write(payload: u16, first: bool, last: bool) -> Body {
        Body::Write { payload, first, last, ack_request: last, message: 0x0001_0000 }
    }

    fn whole(body: Body) -> Vec<u8> {
        frame(&HEADERS, &body, usize::MAX).bytes
    }

    #[test]
    fn headers_of_a_write_are_where_the_standards_have_them() {
        let bytes = whole(write(1000, true, false));
        assert_eq!(bytes[..14], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]);
        assert_eq!(bytes[14..24], [0x45, 24 << 2 | 3, 0x04, 0x24, 0, 0, 0x40, 0, 63, 17]);
        assert_eq!(bytes[26..34], [1, 0, 0, 1, 1, 0, 0, 2]);
        assert_eq!(bytes[34..42], [0xC1, 0x23, 0x12, 0xB7, 0x04, 0x10, 0, 0]);
        assert_eq!(bytes[42..54], [0x06, 0, 0xFF, 0xFF, 0, 0, 0, 0xD2, 0, 0x02, 0x03, 0x04]);
        assert_eq!(bytes[54..70], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!(bytes.len(), 1078);
    }

    #[test]
    fn opcodes_give_the_position_of_a_packet_in_its_message() {
        let of = |first, last| whole(write(1000, first, last))[42];
        assert_eq!([of(true, false), of(false, false), of(false, true), of(true, true)], [6, 7, 8, 10]);
        assert_eq!(whole(write(1000, false, true))[50], 0x80, "the last packet asks for an ACK");
    }

    #[test]
    fn a_payload_is_padded_to_a_multiple_of_four() {
        for (payload, pad) in [(1000, 0), (1001, 3), (1002, 2), (1003, 1)] {
            let bytes = whole(write(payload, false, false));
            assert_eq!((bytes[43] >> 4 & 3, bytes.len()), (pad as u8, usize::from(payload) + pad + 62));
        }
    }

    /// NVIDIA's example of a CNP: from the BTH to the ICRC.
    #[test]
    fn a_cnp_is_that_of_the_published_example() {
        let headers = Headers { psn: 0, ..HEADERS };
        let bytes = frame(&headers, &Body::Cnp { window: 0 }, 200).bytes;
        let mut example = vec![0x81, 0x00, 0xFF, 0xFF, 0x40, 0x00, 0x00, 0xD2, 0, 0, 0, 0];
        example.extend_from_slice(&[0; 16]);
        assert_eq!(bytes[42..70], example);
        assert_eq!(bytes.len(), 78);
        let bytes = frame(&headers, &Body::Cnp { window: 0x0001_0203 }, 200).bytes;
        assert_eq!(bytes[54..70], [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn acknowledgements_have_their_syndromes() {
        let ack = whole(Body::Ack { congested: true });
        assert_eq!((ack[42], ack[46], &ack[54..58], ack.len()), (0x11, 0x40, &[0x1F, 0, 0, 0][..], 66));
        assert_eq!(whole(Body::Ack { congested: false })[46], 0);
        assert_eq!(whole(Body::Nak)[54..58], [0x60, 0, 0, 0]);
        let sack = whole(Body::Sack { seen: 0x0102_0304 });
        assert_eq!((&sack[54..58], sack.len()), (&[0x60, 2, 3, 4][..], 66));
    }

    #[test]
    fn frames_are_as_long_as_they_are_charged_but_for_the_pad() {
        let ethernet = Format::Ethernet;
        for (telemetry, carried) in [(None, Telemetry::None), (Some(Stack::default()), Telemetry::Int)] {
            let length = |body: Body| {
                let frame = frame(&Headers { telemetry, ..HEADERS }, &body, usize::MAX);
                assert_eq!(frame.bytes.len(), frame.length);
                Bytes(frame.length as u64)
            };
            for (payload, first) in [(1000, true), (1000, false), (4096, true), (4, false)] {
                let charged = ethernet.data_with(Bytes(u64::from(payload)), first, carried).frame;
                assert_eq!(length(write(payload, first, false)), charged);
            }
            for reply in [Body::Ack { congested: false }, Body::Nak, Body::Sack { seen: 7 }] {
                assert_eq!(length(reply), ethernet.ack_with(carried).frame);
            }
        }
        assert_eq!(whole(Body::Cnp { window: 0 }).len() as u64, ethernet.cnp().frame.0);
    }

    #[test]
    fn telemetry_is_before_the_payload_and_at_the_end_of_a_reply() {
        let mut stack = Stack::default();
        stack.push(Rate::gbps(100), Time(1_000_000), 1280, Bytes(800));
        let headers = Headers { telemetry: Some(stack), ..HEADERS };
        let record = [0, 1, 0x50, 0, 0x3E, 0x80, 0, 10, 0, 10];
        let of = |body: Body| frame(&headers, &body, usize::MAX).bytes;
        assert_eq!(of(write(1000, true, false))[70..80], record);
        assert_eq!(of(write(1000, false, false))[54..64], record);
        assert_eq!(of(write(1000, false, false))[64..1096], [0; 1032]);
        assert_eq!(of(Body::Ack { congested: false })[58..68], record);
    }

    #[test]
    fn of_a_long_frame_the_first_bytes_are_kept() {
        let cut = frame(&HEADERS, &write(1000, true, false), 128);
        assert_eq!((cut.bytes.len(), cut.length), (128, 1078));
        assert_eq!(cut.bytes[..], whole(write(1000, true, false))[..128]);
    }
}

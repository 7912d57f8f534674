//! Sizes of a packet on the link and in a buffer, and its bytes.
//!
//! A frame is the packet in a buffer, FCS included; on an Ethernet link each frame also takes 20 bytes of
//! preamble and gap. The ns-3 formats charge one size for both, as those simulators do.
//!
//! The layouts are those of RoCEv2 on Ethernet whatever size is charged: a capture shows real frames.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

pub mod ethernet;
mod icrc;
pub mod int;
pub mod message;
pub mod pcapng;
pub mod pfc;
pub mod roce;
pub mod udp;
pub mod word;

use floodway_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Preamble, start of frame and inter-frame gap (802.3).
const GAP: u64 = 20;
/// The smallest Ethernet frame, FCS included.
const SMALLEST: u64 = 64;
/// Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4 (RoCEv2).
const ROCE: u64 = 62;
/// RETH of the first packet of a WRITE.
const RETH: u64 = 16;
/// AETH of an acknowledgement.
const AETH: u64 = 4;
/// Reserved bytes of a CNP.
const CNP: u64 = 16;
/// All headers of the Ultra Ethernet Consortium's simulator.
const UET: u64 = 64;

/// Headers of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// RoCEv2 over Ethernet, with FCS, preamble and gap.
    #[default]
    Ethernet,
    /// The sizes of the HPCC ns-3 simulator: payload + 48, ACK 60, PFC 43.
    HpccNs3,
    /// The sizes of the ns-3 simulator of SWING's authors: payload + 52, ACK 52, PFC 24.
    SwingNs3,
    /// The sizes of the Ultra Ethernet Consortium's simulator: payload + 64, all others 64.
    HtsimUet,
}

/// Bytes of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Size in buffers.
    pub frame: Bytes,
    /// Size on the link.
    pub wire: Bytes,
}

/// Data that packets carry for a rate control, and replies return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Telemetry {
    /// Nothing.
    #[default]
    None,
    /// The time at which they were sent.
    Timestamp,
    /// The records that the egress ports on the path write (INT): five records of 8 bytes and a count of 2,
    /// as in HPCC's header. The records of further hops add no bytes.
    Int,
}

impl Format {
    /// A data packet without telemetry; the first one of a message carries the RETH.
    pub fn data(self, payload: Bytes, first: bool) -> Size {
        self.data_with(payload, first, Telemetry::None)
    }

    /// A data packet; the first one of a message carries the RETH.
    pub fn data_with(self, payload: Bytes, first: bool, telemetry: Telemetry) -> Size {
        let all = payload.0 + self.telemetry(telemetry).0;
        match self {
            Format::Ethernet => ethernet(ROCE + all + if first { RETH } else { 0 }),
            Format::HpccNs3 => bare(all + 48),
            Format::SwingNs3 => bare(all + 52),
            Format::HtsimUet => bare(all + UET),
        }
    }

    /// Bytes that telemetry adds to a data packet. NICs on Ethernet store the times of sending themselves; in
    /// the ns-3 models packets carry them.
    pub fn telemetry(self, telemetry: Telemetry) -> Bytes {
        match (telemetry, self) {
            (Telemetry::None, _) | (Telemetry::Timestamp, Format::Ethernet) => Bytes::ZERO,
            (Telemetry::Timestamp, Format::HpccNs3 | Format::SwingNs3 | Format::HtsimUet) => Bytes(8),
            (Telemetry::Int, _) => Bytes(int::LENGTH as u64),
        }
    }

    /// An ACK or NAK without telemetry.
    pub fn ack(self) -> Size {
        self.ack_with(Telemetry::None)
    }

    /// An ACK or NAK.
    pub fn ack_with(self, telemetry: Telemetry) -> Size {
        let extra = self.telemetry(telemetry).0;
        match self {
            Format::Ethernet => ethernet(ROCE + AETH + extra),
            // Padded to 60.
            Format::HpccNs3 => bare((46 + extra).max(60)),
            Format::SwingNs3 => bare(52 + extra),
            Format::HtsimUet => bare(UET + extra),
        }
    }

    /// A congestion notification packet.
    pub fn cnp(self) -> Size {
        match self {
            Format::Ethernet => ethernet(ROCE + CNP),
            Format::HpccNs3 => bare(42),
            Format::SwingNs3 => bare(52),
            Format::HtsimUet => bare(UET),
        }
    }

    /// A link control frame (PFC and similar ones).
    pub fn link_control(self) -> Size {
        match self {
            Format::Ethernet => ethernet(SMALLEST),
            Format::HpccNs3 => bare(43),
            Format::SwingNs3 => bare(24),
            Format::HtsimUet => bare(UET),
        }
    }

    /// A data packet without its payload, which a switch has cut.
    pub fn trimmed(self) -> Size {
        match self {
            Format::Ethernet => ethernet(ROCE),
            Format::HpccNs3 => bare(48),
            Format::SwingNs3 => bare(52),
            Format::HtsimUet => bare(UET),
        }
    }

    /// The largest frame in buffers, where full packets carry `mtu` bytes: "MTU" in sizing formulas.
    pub fn largest_frame(self, mtu: Bytes, telemetry: Telemetry) -> Bytes {
        self.data_with(mtu, true, telemetry).frame
    }
}

fn ethernet(frame: u64) -> Size {
    let frame = frame.max(SMALLEST);
    Size { frame: Bytes(frame), wire: Bytes(frame + GAP) }
}

fn bare(bytes: u64) -> Size {
    Size { frame: Bytes(bytes), wire: Bytes(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(size: Size) -> (u64, u64) {
        (size.frame.0, size.wire.0)
    }

    #[test]
    fn ethernet_packets_have_their_headers_preamble_and_gap() {
        let format = Format::Ethernet;
        assert_eq!(sizes(format.data(Bytes(1000), true)), (1078, 1098));
        assert_eq!(sizes(format.data(Bytes(1000), false)), (1062, 1082));
        assert_eq!(sizes(format.data(Bytes(1), false)), (64, 84));
        assert_eq!(sizes(format.ack()), (66, 86));
        assert_eq!(sizes(format.cnp()), (78, 98));
        assert_eq!(sizes(format.link_control()), (64, 84));
        assert_eq!(format.largest_frame(Bytes(1000), Telemetry::None), Bytes(1078));
        assert_eq!(format.largest_frame(Bytes(1000), Telemetry::Int), Bytes(1120));
        assert_eq!(sizes(format.ack_with(Telemetry::Int)), (108, 128));
    }

    #[test]
    fn ns3_packets_cost_the_same_in_buffers_and_on_links() {
        assert_eq!(sizes(Format::HpccNs3.data(Bytes(1000), true)), (1048, 1048));
        let hpcc = |telemetry| Format::HpccNs3.data_with(Bytes(1000), false, telemetry).frame.0;
        assert_eq!([hpcc(Telemetry::Timestamp), hpcc(Telemetry::Int)], [1056, 1090]);
        let acks = [Telemetry::None, Telemetry::Timestamp, Telemetry::Int];
        assert_eq!(acks.map(|telemetry| Format::HpccNs3.ack_with(telemetry).frame.0), [60, 60, 88]);
        assert_eq!(sizes(Format::SwingNs3.data(Bytes(1448), false)), (1500, 1500));
        assert_eq!(sizes(Format::SwingNs3.link_control()), (24, 24));
    }
}

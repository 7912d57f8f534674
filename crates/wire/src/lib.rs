//! What a packet costs on the link and in a buffer.
//!
//! A frame is what buffers hold, FCS included; on an Ethernet link each also takes 20 bytes of
//! preamble and gap. The ns-3 formats charge one size for both, as those simulators do.
#![forbid(unsafe_code)]

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

/// Which headers packets carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// RoCEv2 over Ethernet, with FCS, preamble and gap.
    #[default]
    Ethernet,
    /// As the HPCC ns-3 simulator charges: payload + 48, ACK 60, PFC 43.
    HpccNs3,
    /// As the ns-3 simulator of SWING's authors charges: payload + 52, ACK 52, PFC 24.
    SwingNs3,
}

/// Bytes of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// As buffers hold it.
    pub frame: Bytes,
    /// As the link carries it.
    pub wire: Bytes,
}

impl Format {
    /// A data packet; the first one of a message carries the RETH.
    pub fn data(self, payload: Bytes, first: bool) -> Size {
        match self {
            Format::Ethernet => ethernet(ROCE + payload.0 + if first { RETH } else { 0 }),
            Format::HpccNs3 => bare(payload.0 + 48),
            Format::SwingNs3 => bare(payload.0 + 52),
        }
    }

    /// An ACK or NAK.
    pub fn ack(self) -> Size {
        match self {
            Format::Ethernet => ethernet(ROCE + AETH),
            Format::HpccNs3 => bare(60),
            Format::SwingNs3 => bare(52),
        }
    }

    /// A congestion notification packet.
    pub fn cnp(self) -> Size {
        match self {
            Format::Ethernet => ethernet(ROCE + CNP),
            Format::HpccNs3 => bare(42),
            Format::SwingNs3 => bare(52),
        }
    }

    /// A link control frame (PFC and its like).
    pub fn link_control(self) -> Size {
        match self {
            Format::Ethernet => ethernet(SMALLEST),
            Format::HpccNs3 => bare(43),
            Format::SwingNs3 => bare(24),
        }
    }

    /// The largest frame as buffers hold it, where full packets carry `mtu` bytes: "MTU" in sizing formulas.
    pub fn largest_frame(self, mtu: Bytes) -> Bytes {
        self.data(mtu, true).frame
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
        assert_eq!(format.largest_frame(Bytes(1000)), Bytes(1078));
    }

    #[test]
    fn ns3_packets_cost_the_same_in_buffers_and_on_links() {
        assert_eq!(sizes(Format::HpccNs3.data(Bytes(1000), true)), (1048, 1048));
        assert_eq!(sizes(Format::SwingNs3.data(Bytes(1448), false)), (1500, 1500));
        assert_eq!(sizes(Format::SwingNs3.link_control()), (24, 24));
    }
}

//! Counters of ports, by class.

use floodway_mechanisms::slots::DropReason;

/// What an egress port has done with a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct EgressCounters {
    pub tx_packets: u64,
    pub tx_bytes: u64,
    /// Pause and credit frames received for this queue.
    pub pfc_rx: u64,
    pub ecn_marks: u64,
}

impl EgressCounters {
    /// A packet starts on the wire.
    #[inline]
    pub fn sent(&mut self, frame: u16) {
        self.tx_packets += 1;
        self.tx_bytes += u64::from(frame);
    }
}

/// What an ingress port has seen of a class.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct IngressCounters {
    pub rx_packets: u64,
    pub rx_bytes: u64,
    /// Most bytes held.
    pub peak: u64,
}

/// What an ingress port seldom has to count of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct RareCounters {
    /// Pause and credit frames sent for this account.
    pub pfc_tx: u64,
    /// Packets dropped, by reason.
    pub drops: [u64; DropReason::ALL.len()],
    /// Bytes dropped for want of buffer.
    pub buffer_drop_bytes: u64,
}

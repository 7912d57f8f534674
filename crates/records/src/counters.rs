//! Counters of ports, by class. What an egress port has sent is not counted: it has arrived at the other end,
//! is on the link or was lost there.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_mechanisms::slots::DropReason;

/// Events of a class at an egress port.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct EgressCounters {
    /// Pause and credit frames received for this queue.
    pub pfc_rx: u64,
    /// Packets marked with congestion experienced.
    pub ecn_marks: u64,
}

/// What an egress port seldom has to count of a class.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct RareEgressCounters {
    /// Packets marked with undetermined congestion.
    pub ue_marks: u64,
    /// CNPs that its congestion points made.
    pub cnps: u64,
    /// CNPs that receivers sent by it.
    pub receiver_cnps: u64,
    /// CNPs that receivers sent as flags of replies.
    pub cnp_flags: u64,
    /// Congestion notifications (RCM's CNs) that its congestion points sent to neighbours upstream.
    pub cns: u64,
    /// Times that a router moved a flow from this port to another one.
    pub moves: u64,
    /// What was sent onto a wire that was down.
    pub lost: Traffic,
    /// The state of the congestion points in the log of signals.
    #[borsh(skip)]
    pub state_noted: &'static str,
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
#[repr(C)]
pub struct Traffic {
    /// How many.
    pub packets: u64,
    /// Of their frames.
    pub bytes: u64,
}

impl Traffic {
    /// A frame more.
    #[inline]
    pub fn add(&mut self, frame: u16) {
        self.packets += 1;
        self.bytes += u64::from(frame);
    }

    /// Others more.
    pub fn add_all(&mut self, others: Traffic) {
        self.packets += others.packets;
        self.bytes += others.bytes;
    }
}

/// What an ingress port seldom has to count of a class.
#[derive(Clone, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct RareCounters {
    /// Pause and credit frames sent for this account.
    pub pfc_tx: u64,
    /// Packets dropped, by reason.
    pub drops: [u64; DropReason::ALL.len()],
    /// Bytes dropped because a buffer was full.
    pub buffer_drop_bytes: u64,
    /// Bytes dropped because of a failure: a damaged frame, a link that was down, no path, a watchdog.
    pub failure_drop_bytes: u64,
    /// What was lost on the link that leads here.
    pub lost: Traffic,
    /// Packets whose payload was cut, and the bytes cut.
    pub cut: Traffic,
}

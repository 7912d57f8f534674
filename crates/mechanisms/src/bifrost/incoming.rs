//! F: the number of bytes that earlier grants still allow to arrive.

use super::{FMode, TimeSlots};
use floodway_units::cast::{narrow, to_usize};

/// Virtual incoming bytes, for the next RTT + T.
#[derive(Clone, Debug)]
pub(super) enum Incoming {
    Ledger(Box<Ledger>),
    Measured { bytes: u64, most: u64 },
}

/// The grants of the last N + 1 time slots in a ring.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    grants: Box<[u32]>,
    /// Index of the oldest grant, of which a part may still arrive.
    oldest: usize,
    /// Rs·T.
    full: u32,
    /// Upper bound of the oldest grant's bytes that are still ahead.
    part: u32,
    /// F.
    bytes: u64,
    /// Number of grants that are less than a whole time slot's.
    reduced: usize,
}

impl Incoming {
    /// The state of a fresh link, whose upstream may send all the time. Grants fit the field of a frame's
    /// quanta.
    pub fn new(mode: FMode, time_slots: TimeSlots) -> Self {
        match mode {
            // Section IV-A: F from the history of pause decisions.
            FMode::Ledger => Incoming::Ledger(Box::new(Ledger::new(time_slots))),
            FMode::Measured => {
                // Algorithm 1, line 1: F = Delta + Rs · T at the start.
                Incoming::Measured { bytes: time_slots.most_incoming(), most: time_slots.most_incoming() }
            }
        }
    }

    /// Advances by a time slot in which `received` bytes arrived, and for which `grant` bytes were granted.
    pub fn advance(&mut self, received: u64, grant: u64) {
        match self {
            Incoming::Ledger(ledger) => ledger.push(narrow(grant)),
            Incoming::Measured { bytes, most } => {
                // Algorithm 1, line 15: F = min(Delta + Rs · T, F - r + c), at least 0.
                *bytes = (*bytes + grant).saturating_sub(received).min(*most);
            }
        }
    }

    /// Resets to the state of a fresh link.
    pub fn reset(&mut self) {
        match self {
            Incoming::Ledger(ledger) => ledger.reset(),
            Incoming::Measured { bytes, most } => *bytes = *most,
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Incoming::Ledger(ledger) => ledger.bytes,
            Incoming::Measured { bytes, .. } => *bytes,
        }
    }

    /// Whether another whole grant leaves the state unchanged, whatever has been received.
    pub fn is_steady(&self) -> bool {
        matches!(self, Incoming::Ledger(ledger) if ledger.reduced == 0)
    }
}

impl Ledger {
    fn new(time_slots: TimeSlots) -> Self {
        let mut ledger = Ledger {
            grants: vec![narrow(time_slots.full); to_usize(time_slots.count) + 1].into(),
            oldest: 0,
            full: narrow(time_slots.full),
            part: narrow(time_slots.part()),
            bytes: 0,
            reduced: 0,
        };
        ledger.reset();
        ledger
    }

    fn reset(&mut self) {
        self.grants.fill(self.full);
        self.reduced = 0;
        // Algorithm 1, line 1: F at the start, as grants of whole slots.
        self.bytes = (self.grants.len() as u64 - 1) * u64::from(self.full) + u64::from(self.part);
    }

    fn push(&mut self, grant: u32) {
        let gone = std::mem::replace(&mut self.grants[self.oldest], grant);
        self.oldest = (self.oldest + 1) % self.grants.len();
        let oldest = self.grants[self.oldest];
        // Algorithm 1, line 15: a grant joins F, and one that is due leaves it.
        self.bytes += u64::from(grant);
        self.bytes -= u64::from(gone.min(self.part)) + u64::from(oldest - oldest.min(self.part));
        self.reduced += usize::from(grant < self.full);
        self.reduced -= usize::from(gone < self.full);
    }
}

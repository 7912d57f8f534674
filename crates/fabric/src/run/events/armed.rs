//! The timer of a machine.

use floodway_blueprint::NEVER;
use floodway_units::Time;

/// Bits of a timer's generation.
pub(super) const GENERATION_BITS: u32 = 28;

/// The timer of a machine: armed at most once, cancelled by not being renewed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Armed {
    pub at: u64,
    /// Order of its event.
    pub(super) order: u64,
}

impl Default for Armed {
    fn default() -> Self {
        Armed { at: NEVER, order: 0 }
    }
}

impl Armed {
    /// The second timer of an object, whose events have generations of their own.
    pub fn of_second_timer() -> Self {
        Armed { at: NEVER, order: 1 << (GENERATION_BITS - 1) }
    }

    /// Is this the timer's live event? If so it is no longer armed.
    #[inline]
    pub fn fires(&mut self, now: Time, order: u64) -> bool {
        // Generations come again, but not at the same instant.
        let live = self.at == now.0 && self.order == order;
        if live {
            self.at = NEVER;
        }
        live
    }
}

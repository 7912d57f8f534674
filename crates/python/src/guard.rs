//! Conversion of unwinding into a value, so that Python raises one error without a Rust backtrace: for a
//! panic, an invalid value returned by a mechanism, and exhausted memory.

use floodway_fabric::RankLost;
use floodway_fabric::memory::Exhausted;
use floodway_fabric::panics::{self, Misused, Outgrown, Panicked};

/// The reason why work did not complete.
#[derive(Debug)]
pub enum Stopped {
    /// Some code panicked.
    Panicked(Panicked),
    /// A mechanism from outside the tree returned an invalid value.
    Misused(Misused),
    /// It had more of something than it can number.
    Outgrown(Outgrown),
    /// Memory was exhausted.
    Exhausted(Exhausted),
    /// Another process of the run has ended.
    Lost(RankLost),
}

/// Calls `work`; returns the reason if it does not complete.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Stopped> {
    panics::guarded(work).map_err(|payload| {
        if let Some(&exhausted) = payload.downcast_ref::<Exhausted>() {
            Stopped::Exhausted(exhausted)
        } else if let Some(misused) = payload.downcast_ref::<Misused>() {
            Stopped::Misused(misused.clone())
        } else if let Some(outgrown) = payload.downcast_ref::<Outgrown>() {
            Stopped::Outgrown(outgrown.clone())
        } else if let Some(lost) = payload.downcast_ref::<RankLost>() {
            Stopped::Lost(lost.clone())
        } else {
            let known = payload.downcast_ref::<Panicked>().cloned();
            Stopped::Panicked(known.unwrap_or_else(|| Panicked::from_payload(&*payload)))
        }
    })
}

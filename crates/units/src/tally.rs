use std::fmt;

/// How often something happened. What follows depends on how much it grows, never on its value: `Debug` shows
/// nothing of it, so that the states of two moments that differ by it alone are equal as texts.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally(u64);

impl Tally {
    /// It happened so many times more.
    #[inline]
    pub fn add(&mut self, times: u64) {
        self.0 += times;
    }

    /// How often so far.
    #[inline]
    pub fn count(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

//! A limit of iterations for loops in tests.

/// Counts the iterations of a loop, so that a loop that never ends fails with a message.
#[derive(Debug)]
pub struct Turns {
    left: u32,
}

impl Turns {
    /// For a loop that needs at most this many iterations.
    pub fn at_most(turns: u32) -> Self {
        Turns { left: turns }
    }

    /// Counts an iteration; returns true, so that it can precede the loop's condition.
    ///
    /// # Panics
    /// If the loop has reached its limit.
    #[track_caller]
    pub fn go(&mut self) -> bool {
        assert!(self.left > 0, "the loop has not ended within its bound of turns");
        self.left -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "has not ended within its bound")]
    fn a_loop_without_an_end_fails() {
        let mut turns = Turns::at_most(10);
        while turns.go() {}
    }

    #[test]
    fn a_loop_that_ends_in_time_goes_on() {
        let (mut turns, mut n) = (Turns::at_most(10), 0);
        while turns.go() && n < 9 {
            n += 1;
        }
        assert_eq!(n, 9);
    }
}

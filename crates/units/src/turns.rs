//! A bound for the loops of tests.

/// Counts the turns of a loop, so that one whose end never comes fails with words instead of going on for ever.
#[derive(Debug)]
pub struct Turns {
    left: u32,
}

impl Turns {
    /// Of a loop that needs no more turns than this.
    pub fn at_most(turns: u32) -> Self {
        Turns { left: turns }
    }

    /// Another turn; true, so that it stands in front of the loop's condition.
    ///
    /// # Panics
    /// There were as many as the loop can need.
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

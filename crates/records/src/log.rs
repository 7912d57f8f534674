//! The first rows of a log, up to a number of them, in any order of arrival.
//!
//! Nodes are simulated one after the other within a window of time, and on several threads. So the order of
//! rows is one of their own: time first, then where each came from; what came from one place stays in the
//! order in which it came. The rows that are kept are the first of that order.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_engine::memory;

use crate::outcome::RowTotals;

/// A row of a log.
pub trait Logged {
    /// Orders rows of one instant: equal only for rows that one node writes in its own order.
    type TieKey: Ord;

    /// When it came.
    fn time(&self) -> u64;

    /// Orders it among rows of its instant.
    fn tie_key(&self) -> Self::TieKey;
}

/// Rows, the first ones of a run.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Log<R> {
    rows: Vec<R>,
    most: usize,
    /// Rows later than this are not kept; set once there are `most` rows before it.
    until: u64,
    /// Rows that were not kept.
    beyond: u64,
}

/// So many rows more than are kept, and an eighth of these, may come before they are sorted.
const SPARE: usize = 1 << 12;

impl<R: Logged> Log<R> {
    /// Keeps at most this many rows.
    pub fn new(most: usize) -> Self {
        Log { rows: Vec::new(), most, until: u64::MAX, beyond: 0 }
    }

    /// Keeps a row, unless the maximum number of rows come before it.
    pub fn push(&mut self, row: R) {
        if row.time() > self.until || self.most == 0 {
            self.beyond += 1;
            return;
        }
        memory::push(&mut self.rows, row);
        self.close_if_long();
    }

    /// Those that are kept so far; in order once the log is closed.
    pub fn rows(&self) -> &[R] {
        &self.rows
    }

    /// The same, to change what does not order them.
    pub fn rows_mut(&mut self) -> &mut [R] {
        &mut self.rows
    }

    /// Takes all rows out.
    pub fn take(&mut self) -> Log<R> {
        let empty = Log::new(self.most);
        std::mem::replace(self, empty)
    }

    /// Moves its rows by so many picoseconds, and each of them as `change` says.
    pub fn move_by(&mut self, later: u64, change: impl FnMut(&mut R)) {
        self.rows.iter_mut().for_each(change);
        self.until = self.until.saturating_add(later);
    }

    /// Takes over the rows of another log.
    pub fn absorb(&mut self, other: Log<R>) {
        memory::extend(&mut self.rows, other.rows);
        self.beyond += other.beyond;
        self.until = self.until.min(other.until);
        self.close_if_long();
    }

    fn close_if_long(&mut self) {
        if self.rows.len() >= self.most.saturating_add((self.most / 8).max(SPARE)) {
            self.close();
        }
    }

    /// Puts the rows in order, and drops those beyond the most that are kept.
    pub fn close(&mut self) {
        self.rows.sort_by_key(|row| (row.time(), row.tie_key()));
        self.beyond += self.rows.len().saturating_sub(self.most) as u64;
        self.rows.truncate(self.most);
        if self.rows.len() == self.most {
            self.until = self.rows.last().map_or(0, Logged::time);
        }
    }

    /// How many there are, and how many came beyond the most that are kept.
    pub fn totals(&self) -> RowTotals {
        RowTotals { rows: self.rows.len() as u64, beyond: self.beyond }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// When, where, and which of them it is.
    #[derive(Debug, PartialEq)]
    struct Row(u64, u32, char);

    impl Logged for Row {
        type TieKey = u32;

        fn time(&self) -> u64 {
            self.0
        }

        fn tie_key(&self) -> u32 {
            self.1
        }
    }

    fn log(most: usize, rows: Vec<Row>) -> Log<Row> {
        let mut log = Log::new(most);
        for row in rows {
            log.push(row);
        }
        log
    }

    #[test]
    fn rows_of_one_instant_do_not_depend_on_the_order_of_writing() {
        let here = || vec![Row(1, 7, 'a'), Row(5, 7, 'b'), Row(5, 7, 'c'), Row(6, 7, 'd')];
        let there = || vec![Row(5, 2, 'e'), Row(5, 2, 'f'), Row(7, 2, 'g')];
        for most in 0..=8 {
            // In the order of time, and in any within an instant.
            let mut one = log(most, vec![]);
            let mut all: Vec<Row> = here().into_iter().chain(there()).collect();
            all.sort_by_key(|row| row.0);
            for row in all {
                one.push(row);
            }
            one.close();
            let mut two = log(most, there());
            two.absorb(log(most, here()));
            two.close();
            let kept: String = one.rows().iter().map(|row| row.2).collect();
            assert_eq!(kept, "aefbcdg"[..most.min(7)]);
            assert_eq!((one.rows(), one.totals()), (two.rows(), two.totals()));
            assert_eq!(one.totals().rows + one.totals().beyond, 7);
        }
    }

    proptest! {
        #[test]
        fn the_first_rows_are_kept_whichever_order_they_come_in(
            rows in prop::collection::vec((0..50u64, 0..4u32), 0..200),
            most in 0..40usize,
            turn in 0..200usize,
        ) {
            let rows: Vec<Row> = rows.into_iter().map(|(time, place)| Row(time, place, ' ')).collect();
            let key = |row: &Row| (row.0, row.1);
            let mut all = log(usize::MAX, rows.iter().map(|row| Row(row.0, row.1, row.2)).collect());
            all.close();
            // Rows of one place keep their order: here they are all alike.
            let at = turn.min(rows.len());
            let turned = rows[at..].iter().chain(&rows[..at]).map(|row| Row(row.0, row.1, row.2)).collect();
            let mut some = log(most, turned);
            some.close();
            prop_assert!(some.rows().iter().map(key).eq(all.rows().iter().map(key).take(most)));
            prop_assert_eq!(some.totals().rows + some.totals().beyond, rows.len() as u64);
        }
    }

    #[test]
    fn no_more_rows_wait_to_be_sorted_than_are_kept_or_some_thousand() {
        let mut log: Log<Row> = Log::new(10);
        for time in 0..100_000 {
            log.push(Row(100_000 - time, 0, ' '));
            assert!(log.rows.len() <= 10 + SPARE);
        }
        log.close();
        assert_eq!(log.rows().iter().map(|row| row.0).collect::<Vec<_>>(), (1..=10).collect::<Vec<_>>());
        assert_eq!(log.totals().beyond, 99_990);
    }
}

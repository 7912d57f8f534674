//! Rows that are kept as they come, up to a number of them.
//!
//! A partition knows nothing of what another one writes down at the same instant. So the order of rows is one of their
//! own: time first, then where each came from; what came from one place stays in the order in which it came.

use floodway_engine::memory;

use crate::outcome::RowTotals;

/// A row of a log.
pub(crate) trait Logged {
    /// Orders rows of one instant: equal only for rows that always come from the same partition, in the same order.
    type Place: Ord;

    /// When it came.
    fn time(&self) -> u64;

    fn place(&self) -> Self::Place;
}

/// Rows, the first ones of a run.
#[derive(Debug)]
pub(crate) struct Log<R> {
    rows: Vec<R>,
    most: usize,
    /// Came when the log was full.
    beyond: u64,
}

impl<R: Logged> Log<R> {
    /// Keeps at most this many rows.
    pub fn new(most: usize) -> Self {
        Log { rows: Vec::new(), most, beyond: 0 }
    }

    /// Keeps a row, if there is room: until the log is closed, for all rows of the instant in which it gets full.
    pub fn push(&mut self, row: R) {
        let has_room = self.rows.len() < self.most;
        if has_room || self.most > 0 && self.rows[self.rows.len() - 1].time() == row.time() {
            memory::push(&mut self.rows, row);
        } else {
            self.beyond += 1;
        }
    }

    pub fn rows(&self) -> &[R] {
        &self.rows
    }

    /// Takes over the rows of another partition.
    pub fn absorb(&mut self, other: Log<R>) {
        memory::extend(&mut self.rows, other.rows);
        self.beyond += other.beyond;
    }

    /// Puts the rows of all partitions in order.
    pub fn close(&mut self) {
        self.rows.sort_by_key(|row| (row.time(), row.place()));
        self.beyond += self.rows.len().saturating_sub(self.most) as u64;
        self.rows.truncate(self.most);
    }

    pub fn totals(&self) -> RowTotals {
        RowTotals { rows: self.rows.len() as u64, beyond: self.beyond }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When, where, and which of them it is.
    #[derive(Debug, PartialEq)]
    struct Row(u64, u32, char);

    impl Logged for Row {
        type Place = u32;

        fn time(&self) -> u64 {
            self.0
        }

        fn place(&self) -> u32 {
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
    fn rows_of_one_instant_are_the_same_whoever_wrote_them_first() {
        let here = || vec![Row(1, 7, 'a'), Row(5, 7, 'b'), Row(5, 7, 'c'), Row(6, 7, 'd')];
        let there = || vec![Row(5, 2, 'e'), Row(5, 2, 'f'), Row(7, 2, 'g')];
        for most in 0..=8 {
            // As one partition would: in any order within an instant.
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
}

//! Rows that are kept as they come, up to a number of them.

use crate::outcome::RowTotals;

/// Rows in the order in which they came.
#[derive(Debug)]
pub(crate) struct Log<R> {
    rows: Vec<R>,
    most: usize,
    /// Came when the log was full.
    beyond: u64,
}

impl<R> Log<R> {
    /// Keeps at most this many rows.
    pub fn new(most: usize) -> Self {
        Log { rows: Vec::new(), most, beyond: 0 }
    }

    /// Keeps a row, if there is room.
    pub fn push(&mut self, row: R) {
        if self.rows.len() < self.most {
            self.rows.push(row);
        } else {
            self.beyond += 1;
        }
    }

    pub fn rows(&self) -> &[R] {
        &self.rows
    }

    /// Takes over the rows of another partition. What one event brings has one key, comes from one partition and
    /// stays in its order.
    pub fn absorb<K: Ord>(&mut self, other: Log<R>, key: impl Fn(&R) -> K) {
        let came = self.rows.len() + other.rows.len();
        self.rows.extend(other.rows);
        self.rows.sort_by_key(key);
        self.rows.truncate(self.most);
        self.beyond += other.beyond + (came - self.rows.len()) as u64;
    }

    pub fn totals(&self) -> RowTotals {
        RowTotals { rows: self.rows.len() as u64, beyond: self.beyond }
    }
}

//! A window that is cut: what has not come is pending again.

use std::cmp::Reverse;

use floodway_engine::{Event, memory};

use super::Windows;

impl Windows {
    /// Ends the visit before all its events are over: the others are pending again.
    pub fn leave_visit(&mut self) {
        let mut rest = std::mem::take(&mut self.sorted);
        rest.drain(..self.at);
        memory::extend(&mut rest, self.added.drain(self.first..));
        memory::extend(&mut rest, self.added_heap.drain().map(|Reverse(event)| event));
        (self.at, self.first) = (0, 0);
        self.added.clear();
        self.put_back(self.node, &mut rest);
        self.sorted = rest;
    }

    /// Events that have been prepared for a visit are pending again.
    pub fn put_back(&mut self, node: u32, sorted: &mut Vec<Event>) {
        let word = self.rows[0] + node as usize / 64;
        self.due[word] |= u64::from(!sorted.is_empty()) << (node % 64);
        memory::extend(&mut self.inboxes[node as usize], sorted.drain(..));
    }
}

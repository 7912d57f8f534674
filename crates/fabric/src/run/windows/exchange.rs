//! The windows of one of several threads: owners of groups, outboxes for other threads, the next window.

use std::cmp::Reverse;
use std::sync::Arc;

use floodway_engine::{Event, memory};

use super::{NEAR, NO_NODE, Windows};

impl Windows {
    /// The same windows without events, for another thread.
    pub fn of_thread(&self, thread: u8) -> Self {
        Windows { thread, ..Windows::new(self.inboxes.len(), self.length) }
    }

    /// Do other threads own nodes?
    #[inline]
    pub fn has_other_threads(&self) -> bool {
        !self.outboxes.is_empty()
    }

    /// The owner of a group, if it is another thread.
    #[inline]
    pub fn remote_owner(&self, group: u32) -> Option<usize> {
        let owner = self.owners[group as usize];
        (owner != self.thread).then_some(usize::from(owner))
    }

    /// Does another process own a group?
    #[inline]
    pub fn is_elsewhere(&self, group: u32) -> bool {
        let owner = self.owners[group as usize];
        owner != self.thread && usize::from(owner) >= self.outboxes.len()
    }

    /// Adds an event of a group that another thread or process owns.
    pub(super) fn send_out(&mut self, owner: u8, group: u32, event: Event) {
        match self.outboxes.get_mut(usize::from(owner)) {
            Some(outbox) => memory::push(outbox, (group, event)),
            None => memory::push(&mut self.elsewhere, (group, event)),
        }
    }

    /// Events for groups of other processes since they were last drained.
    pub fn elsewhere(&mut self) -> &mut Vec<(u32, Event)> {
        &mut self.elsewhere
    }

    /// Length of a window.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Sets the owners of groups, of which `threads` exist, while no event is pending here.
    pub fn set_owners(&mut self, owners: &Arc<[u8]>, threads: usize, window: u64) {
        self.owners = Arc::clone(owners);
        for (inbox, _) in self.inboxes.iter_mut().zip(&**owners).filter(|&(_, &owner)| owner != self.thread) {
            debug_assert!(inbox.is_empty(), "no event is pending");
            *inbox = Vec::new();
        }
        self.outboxes.resize_with(threads, Vec::new);
        self.enter(window);
    }

    /// The number of the current window.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The earliest window with an event of this thread, outboxes included; `u64::MAX` if it has none. Events
    /// of the current window at `end` or later do not count.
    pub fn earliest_window(&mut self, end: u64) -> u64 {
        let is_due = |&ahead: &usize| match ahead {
            0 => self.has_due(self.ends[0].min(end)),
            _ => self.due(ahead).iter().any(|&bits| bits != 0),
        };
        let near = (0..NEAR).find(is_due).map(|ahead| self.window + ahead as u64);
        let out = self.outboxes.iter().flatten().map(|(_, event)| event.time.0 / self.length).min();
        let later = || self.later.next_time().map(|time| time.0 / self.length);
        near.or_else(later).into_iter().chain(out).min().unwrap_or(u64::MAX)
    }

    /// The earliest window with an event of this thread, those for other processes included.
    pub fn earliest_of_all(&mut self) -> u64 {
        let out = self.elsewhere.iter().map(|(_, event)| event.time.0 / self.length).min();
        self.earliest_window(u64::MAX).min(out.unwrap_or(u64::MAX))
    }

    /// The end of this many windows from the earliest one with an event of this thread, at most `end`; none
    /// if that one begins at `end` or later.
    pub fn stretch(&mut self, windows: u64, end: u64) -> Option<u64> {
        let first = self.earliest_window(end);
        let begins = first.saturating_mul(self.length);
        (begins < end).then(|| end.min((first + windows) * self.length))
    }

    /// Enters a window before which no thread has an event, cut at `end`; false if it begins at `end` or
    /// later. Its groups are those of [`Windows::due_in`].
    pub fn begin(&mut self, window: u64, end: u64) -> bool {
        if window.saturating_mul(self.length) >= end {
            self.end();
            return false;
        }
        debug_assert!(window >= self.window, "windows are entered in order");
        self.end();
        self.enter(window);
        self.fetch_later();
        self.stop = self.ends[0].min(end);
        true
    }

    /// The end of the current window, `end` at most.
    pub fn reached(&self, end: u64) -> u64 {
        self.ends[0].min(end)
    }

    /// Leaves the window.
    pub fn end(&mut self) {
        (self.node, self.stop) = (NO_NODE, 0);
    }

    /// Time and order of the next step of the whole network, if there is one.
    pub fn next_step(&self) -> Option<(u64, u64)> {
        self.steps.peek().map(|&Reverse(step)| step)
    }

    /// Takes the next step of the whole network out.
    pub fn pop_step(&mut self) {
        self.steps.pop();
    }

    /// Swaps the outbox for another thread with an empty list.
    pub fn swap_outbox(&mut self, thread: usize, events: &mut Vec<(u32, Event)>) {
        std::mem::swap(&mut self.outboxes[thread], events);
    }

    /// Adds events of this thread's nodes from other threads.
    pub fn receive(&mut self, events: &mut Vec<(u32, Event)>) {
        events.drain(..).for_each(|(node, event)| self.send(node, event));
    }
}

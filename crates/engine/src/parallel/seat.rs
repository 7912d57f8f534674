//! A partition at work, and its mail.

use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use floodway_units::Time;

use crate::epoch::Advance;
use crate::lookahead::Clocks;
use crate::parallel::Partition;

/// A batch and who sends it.
type Letter<B> = (usize, B);

/// What became of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It came further.
    Moved,
    /// It has to wait for others, or is at the end.
    Waits,
    /// It was told to stop.
    Interrupted,
}

/// A partition, how far it came, and what it needs to hear from the others.
pub(super) struct Seat<P: Partition> {
    pub partition: P,
    index: usize,
    /// All events before have happened.
    reached: Time,
    /// And the others know it.
    published: bool,
    inbox: Receiver<Letter<P::Batch>>,
    /// Batches of its own that were emptied.
    returned: Receiver<P::Batch>,
    /// One that was not needed.
    spare: Option<P::Batch>,
    inboxes: Vec<SyncSender<Letter<P::Batch>>>,
    returns: Vec<SyncSender<P::Batch>>,
}

/// Seats of all partitions, with room for so many letters in each one's inbox.
pub(super) fn seats<P: Partition>(partitions: Vec<P>, letters: usize) -> Vec<Seat<P>> {
    let (inboxes, inbox): (Vec<_>, Vec<_>) = partitions.iter().map(|_| sync_channel(letters)).unzip();
    let (returns, returned): (Vec<_>, Vec<_>) = partitions.iter().map(|_| sync_channel(letters)).unzip();
    let mail = inbox.into_iter().zip(returned);
    let seat = |(index, (partition, (inbox, returned)))| Seat {
        partition,
        index,
        reached: Time::ZERO,
        published: true,
        inbox,
        returned,
        spare: None,
        inboxes: inboxes.clone(),
        returns: returns.clone(),
    };
    partitions.into_iter().zip(mail).enumerate().map(seat).collect()
}

impl<P: Partition> Seat<P> {
    /// Goes as far as the others allow, at most to `end`.
    ///
    /// Mail is taken in at every turn, also of who waits or is at the end: so whoever finds an inbox full will
    /// find room, and the partition that is furthest behind can always go on.
    pub fn turn(&mut self, clocks: &Clocks<'_>, end: Time) -> Turn {
        // The clocks first: what they vouch for is in the inbox.
        let horizon = clocks.horizon(self.index, end);
        self.take_in();
        if !self.publish(clocks) || horizon <= self.reached {
            return Turn::Waits;
        }
        if self.partition.advance(horizon) == Advance::Interrupted {
            return Turn::Interrupted;
        }
        self.reached = horizon;
        self.published = false;
        self.publish(clocks);
        Turn::Moved
    }

    /// What `between` had it say is handed over before its clock moves on.
    pub fn reopen(&mut self) {
        self.published = false;
    }

    /// Gives the partition what was sent to it.
    pub fn take_in(&mut self) {
        while let Ok((from, mut batch)) = self.inbox.try_recv() {
            self.partition.receive(from, &mut batch);
            // If it finds no room it is dropped, and its owner makes another.
            let _ = self.returns[from].try_send(batch);
        }
    }

    /// Puts what the partition has to say into the others' inboxes; false if one of them is full: then it
    /// is to be tried again.
    pub fn hand_over(&mut self) -> bool {
        (0..self.inboxes.len()).all(|to| self.send(to))
    }

    fn publish(&mut self, clocks: &Clocks<'_>) -> bool {
        if !self.published && self.hand_over() {
            clocks.publish(self.index, self.reached);
            self.published = true;
        }
        self.published
    }

    /// Sends what there is for `to`; false if it stays here for want of room.
    fn send(&mut self, to: usize) -> bool {
        if to == self.index {
            return true;
        }
        let Some(batch) = self.partition.outgoing(to) else { return true };
        let spare = self.spare.take().or_else(|| self.returned.try_recv().ok()).unwrap_or_default();
        let letter = (self.index, mem::replace(batch, spare));
        let Err(refused) = self.inboxes[to].try_send(letter) else { return true };
        let (TrySendError::Full((_, words)) | TrySendError::Disconnected((_, words))) = refused;
        self.spare = Some(mem::replace(batch, words));
        false
    }
}

//! Messages of queue pairs: what remains of each at either end.
//!
//! A queue pair of one flow has one message and never looks at `rest`; on a shared one messages queue there
//! behind the oldest, in the order in which they were posted, which is that of their packets' numbers. Each
//! end writes its part of a message's row when the message is complete there; the parts are put together at
//! the end of the run.
//!
//! A queue pair is shared with `qp = "per-pair"`, and in closed loops: its messages have one sequence of
//! packet numbers, each has a row of its own in the results, and its machines continue from one to the next.
//! An idle queue pair creates no events.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::path::Path;
use floodway_blueprint::traffic::hooks::{NO_HOOK, has_row, is_of_program};
use floodway_programs::Message;
use floodway_records::tally::{FlowKey, ReceivedRow, SentRow};

use crate::run::events::NEVER;

mod complete;
mod halves;

/// A flow, as a message of its queue pair's sender.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Outgoing {
    /// Which flow of its workload's source it is, from 0.
    pub number: u64,
    pub start: u64,
    pub size: u64,
    /// Sequence number after its last packet.
    pub end: u64,
    pub ideal: u64,
    /// When it was complete here, else never; never where nothing is acknowledged.
    pub finish: u64,
    pub retransmitted: u64,
    pub timeouts: u32,
    pub cnps: u32,
    /// Who waits for it, else `NO_HOOK`.
    pub hook: u32,
    /// Of a job's message: the round of its sender's program.
    pub round: u16,
    pub measured: bool,
    /// Complete here.
    pub sent: bool,
}

/// A flow, as a message of its queue pair's receiver.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Incoming {
    pub delivered: u64,
    pub size: u64,
    /// When it was complete here, else never.
    pub finish: u64,
    /// Sequence numbers of its first packet, and after its last one.
    pub first: u64,
    pub end: u64,
    pub number: u64,
    pub start: u64,
    /// Its packets that came until it was complete, and of these the ones that came after one of the queue
    /// pair that was sent later.
    pub packets: u32,
    pub overtaken: u32,
    pub hook: u32,
    pub measured: bool,
}

impl Outgoing {
    /// Packets that a message of so many bytes takes, where a full one carries `payload` of them.
    pub fn packets_of(size: u64, payload: u64) -> u64 {
        size.div_ceil(payload).max(1)
    }

    /// Of a job's message: iteration and round.
    fn position(&self) -> Option<(u32, u16)> {
        is_of_program(self.hook).then(|| (Message::of(self.number).iteration, self.round))
    }

    /// Does it have a row?
    fn has_row(&self) -> bool {
        has_row(self.hook)
    }

    fn row(&self, path: &Path) -> SentRow {
        SentRow {
            key: key(path, self.start, self.number),
            destination: path.destination.0,
            ports: (path.tuple.source_port, path.tuple.destination_port),
            class: path.class,
            size: self.size,
            finish: self.finish,
            ideal: self.ideal,
            retransmitted: self.retransmitted,
            timeouts: self.timeouts,
            cnps: self.cnps,
            measured: self.measured,
        }
    }
}

impl Outgoing {
    /// No message.
    pub const NONE: Outgoing = Outgoing {
        number: 0,
        start: 0,
        size: 0,
        end: 0,
        ideal: 0,
        finish: NEVER,
        retransmitted: 0,
        timeouts: 0,
        cnps: 0,
        hook: NO_HOOK,
        round: 0,
        measured: false,
        sent: false,
    };
}

impl Incoming {
    /// No message.
    pub const NONE: Incoming = Incoming {
        delivered: 0,
        size: 0,
        finish: NEVER,
        first: 0,
        end: 0,
        number: 0,
        start: 0,
        packets: 0,
        overtaken: 0,
        hook: NO_HOOK,
        measured: false,
    };

    /// The receiver's view of a message whose first packet is `first`.
    pub fn of(message: &Outgoing, first: u64) -> Self {
        let &Outgoing { number, start, size, end, hook, measured, .. } = message;
        Incoming { size, first, end, number, start, hook, measured, ..Self::NONE }
    }

    /// Does it have a row?
    pub(super) fn has_row(&self) -> bool {
        has_row(self.hook)
    }

    #[inline]
    fn is_received(&self) -> bool {
        self.finish != NEVER
    }

    fn row(&self, path: &Path) -> ReceivedRow {
        ReceivedRow {
            key: key(path, self.start, self.number),
            finish: self.finish,
            delivered: self.delivered,
            packets: self.packets,
            overtaken: self.overtaken,
        }
    }
}

fn key(path: &Path, start: u64, number: u64) -> FlowKey {
    FlowKey { start, workload: path.workload, source: path.source.0, number }
}

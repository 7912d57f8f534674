//! Deficit round robin among the queues of a class.

use floodway_units::Bytes;

/// Whose turn it is, and how much each queue may still send in its turn. A quantum is the largest frame, so
/// that each turn covers the queue's next frame.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    quantum: u64,
    current: usize,
    deficit: Vec<u64>,
}

impl Turns {
    /// For this many queues, with frames of at most `quantum` bytes.
    pub(super) fn new(queues: usize, quantum: Bytes) -> Self {
        Turns { quantum: quantum.0.max(1), current: 0, deficit: vec![0; queues] }
    }

    /// The queue that sends next, among the bits of `open`; `head` returns the bytes of a queue's first
    /// frame.
    pub(super) fn next(&self, open: u64, head: impl Fn(usize) -> Bytes) -> Option<usize> {
        let current = self.current;
        if open >> current & 1 != 0 && head(current).0 <= self.deficit[current] {
            return Some(current);
        }
        let behind = open & (!1 << current);
        let next = if behind != 0 { behind } else { open };
        (next != 0).then(|| next.trailing_zeros() as usize)
    }

    /// A queue sends a frame; `ends` if that was its last one.
    pub(super) fn sent(&mut self, queue: usize, wire: Bytes, ends: bool) {
        let Some(deficit) = self.deficit.get_mut(queue) else { return };
        if queue != self.current || *deficit < wire.0 {
            self.current = queue;
            *deficit += self.quantum;
        }
        *deficit = if ends { 0 } else { deficit.saturating_sub(wire.0) };
    }
}

//! The flow table of a queue: the bytes of each flow (Algorithm 2, lines 1 to 8).

use std::collections::BTreeMap;

use floodway_units::Bytes;
use floodway_units::cast::saturated;

/// Bytes of each flow in a queue, and their sum. A flow is removed with its last byte.
#[derive(Clone, Debug)]
pub(super) struct Table {
    data: BTreeMap<u64, u64>,
    sum: u64,
    most: usize,
}

/// The share of one flow in the bytes of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    data: u64,
    sum: u64,
}

impl Share {
    /// The share of `whole`, rounded down.
    pub(super) fn of(self, whole: Bytes) -> Bytes {
        let part = u128::from(whole.0) * u128::from(self.data) / u128::from(self.sum);
        // No part is larger than the whole.
        Bytes(saturated(part))
    }
}

impl Table {
    /// An empty table for at most `most` flows at a time.
    pub(super) fn new(most: usize) -> Self {
        Table { data: BTreeMap::new(), sum: 0, most }
    }

    /// A packet joins the queue. While the table is full, a new flow counts in the sum alone.
    pub(super) fn add(&mut self, flow: u64, frame: Bytes) {
        // Algorithm 2, line 4: the sum grows by the packet.
        self.sum += frame.0;
        // Algorithm 2, lines 2 and 3: Receive_packet, its flow's bytes grow by it.
        if let Some(data) = self.data.get_mut(&flow) {
            *data += frame.0;
        } else if self.data.len() < self.most {
            self.data.insert(flow, frame.0);
        }
    }

    /// A packet leaves the queue. For a flow that arrived while the table was full, more bytes may leave than
    /// were counted.
    pub(super) fn take(&mut self, flow: u64, frame: Bytes) {
        // Algorithm 2, line 7: the sum shrinks by the packet.
        self.sum = self.sum.saturating_sub(frame.0);
        let Some(data) = self.data.get_mut(&flow) else { return };
        // Algorithm 2, lines 5 and 6: Send_packet, its flow's bytes shrink by it.
        *data = data.saturating_sub(frame.0);
        // Algorithm 2, lines 8 and 9: a flow without bytes is deleted.
        if *data == 0 {
            self.data.remove(&flow);
        }
    }

    /// A flow's share of the queue; `None` if it is not in the table.
    pub(super) fn share(&self, flow: u64) -> Option<Share> {
        self.data.get(&flow).map(|&data| Share { data, sum: self.sum })
    }

    /// Bytes of all flows: those of the queue.
    pub(super) fn sum(&self) -> Bytes {
        Bytes(self.sum)
    }

    /// Clears the table.
    pub(super) fn clear(&mut self) {
        self.data.clear();
        self.sum = 0;
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.data.is_empty() && self.sum == 0
    }

    #[cfg(test)]
    pub(super) fn flows(&self) -> Vec<u64> {
        self.data.keys().copied().collect()
    }
}

//! Bloom filters of flows: the bits of a flow, and their counts.

use floodway_units::cast::to_usize;
use floodway_units::{Class, mix};

use crate::slots::FlowFilter;

/// The bits of a flow in a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashes {
    number: u8,
    /// Bytes of the filter.
    bytes: u8,
}

impl Hashes {
    pub(super) fn new(number: u8, bytes: u8) -> Self {
        Hashes { number, bytes }
    }

    /// The bits of a flow; two of them may be the same.
    pub(super) fn bits(self, vfid: u64) -> impl Iterator<Item = usize> {
        let (size, key) = (8 * u64::from(self.bytes), mix(vfid));
        (0..u64::from(self.number)).map(move |hash| to_usize(mix(key ^ hash) % size))
    }

    /// Whether a flow is in a filter. False positives are possible.
    pub(super) fn holds(self, filter: &FlowFilter, vfid: u32) -> bool {
        self.bits(vfid.into()).all(|bit| filter.bits[bit / 64] >> (bit % 64) & 1 != 0)
    }
}

/// A counting Bloom filter, from which flows can be removed: each bit has a count of the flows that set it.
#[derive(Clone, Debug)]
pub(super) struct Counting {
    hashes: Hashes,
    /// Empty until a flow is counted.
    counts: Vec<u32>,
    filter: FlowFilter,
    /// The bits that the upstream has received.
    known: [u64; 16],
}

impl Counting {
    pub(super) fn new(hashes: Hashes, class: Class) -> Self {
        let filter = FlowFilter::empty(class, hashes.bytes);
        Counting { hashes, counts: Vec::new(), filter, known: filter.bits }
    }

    /// Adds a flow if the number is above 0; otherwise removes it once.
    pub(super) fn count(&mut self, vfid: u64, number: i64) {
        if self.counts.is_empty() {
            self.counts = vec![0; 8 * usize::from(self.hashes.bytes)];
        }
        for bit in self.hashes.bits(vfid) {
            let count = &mut self.counts[bit];
            *count = if number > 0 { count.saturating_add(1) } else { count.saturating_sub(1) };
            let (word, one) = (&mut self.filter.bits[bit / 64], 1 << (bit % 64));
            *word = if *count > 0 { *word | one } else { *word & !one };
        }
    }

    /// Whether the filter has to be sent upstream, again or for the first time.
    pub(super) fn is_due(&self) -> bool {
        !self.filter.is_empty() || self.filter.bits != self.known
    }

    /// The filter, which is sent upstream now.
    pub(super) fn sent(&mut self) -> FlowFilter {
        self.known = self.filter.bits;
        self.filter
    }
}

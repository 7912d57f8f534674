//! Slices: the buffer of a collective, cut into a piece for every channel, and these into chunks.

use floodway_units::Bytes;
use floodway_units::cast::saturated;

/// A buffer in a piece for every slice, on which each slice executes the whole algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    size: Bytes,
    channels: u32,
    pub slices: u32,
}

impl Pieces {
    /// Cuts a buffer whose messages are shares of it, the largest of them one of `largest` and the smallest
    /// one of `smallest`, so that no message of a slice is larger than `chunk`. That none is smaller than a
    /// byte goes first.
    pub fn new(size: Bytes, (largest, smallest): (u32, u32), channels: u32, chunk: Option<Bytes>) -> Self {
        let message = size.0.div_ceil(u64::from(largest));
        let of_channel = message.div_ceil(u64::from(channels));
        let chunks = chunk.map_or(1, |chunk| of_channel.div_ceil(chunk.0.max(1)));
        let slices = u64::from(channels).saturating_mul(chunks).min(size.0 / u64::from(smallest)).max(1);
        Pieces { size, channels, slices: u32::try_from(slices).unwrap_or(u32::MAX) }
    }

    /// The channel of a slice: chunks of a channel follow each other.
    pub fn channel(&self, slice: u32) -> u32 {
        slice % self.channels
    }

    /// A slice's piece of a part of the buffer.
    pub fn of_part(&self, (part, parts): (u32, u32), slice: u32) -> (u64, u64) {
        share(share((0, self.size.0), part, parts), slice, self.slices)
    }

    /// The slice whose piece a byte is in.
    pub fn slice_of(&self, byte: u64) -> u32 {
        share_of((0, self.size.0), byte, self.slices)
    }

    /// Where a slice's piece begins, and ends.
    pub fn range(&self, slice: u32) -> (u64, u64) {
        share((0, self.size.0), slice, self.slices)
    }
}

/// The share of a range in `shares` shares that a byte is in.
pub(crate) fn share_of(range: (u64, u64), byte: u64, shares: u32) -> u32 {
    let holds = |index: &u32| share(range, *index, shares).1 > byte;
    (0..shares).find(holds).unwrap_or_default()
}

/// Begin and end of the share `index` of a range in `shares` shares, which differ by a byte at most.
pub(crate) fn share((begin, end): (u64, u64), index: u32, shares: u32) -> (u64, u64) {
    let size = u128::from(end - begin);
    let bound = |index: u32| begin + saturated(size * u128::from(index) / u128::from(shares));
    (bound(index), bound(index + 1))
}

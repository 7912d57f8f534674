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

    /// The whole buffer, in bytes.
    pub fn size(&self) -> u64 {
        self.size.0
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

    /// A part of the buffer, in all slices together.
    pub fn part(&self, (part, parts): (u32, u32)) -> u64 {
        let (begin, end) = share((0, self.size.0), part, parts);
        end - begin
    }

    /// Slices by what they send: a slice in place of many, whose number is as even and whose piece as long as
    /// theirs, in pieces of its own; and how many they are. Pieces have one of two lengths.
    pub fn kinds(&self) -> impl Iterator<Item = (Pieces, u32, u64)> + use<> {
        let (size, slices, channels) = (self.size.0, self.slices, self.channels);
        let short = size / u64::from(slices);
        let of_turn = move |turn: u32| {
            let all = (u64::from(slices) + 1 - u64::from(turn)) / 2;
            let long = every_other(size, slices, turn) - all * short;
            [(short, turn, all - long), (short + 1, turn, long)]
        };
        let kinds = [of_turn(0), of_turn(1)].into_iter().flatten().filter(|(_, _, count)| *count > 0);
        kinds.map(move |(length, turn, count)| {
            (Pieces { size: Bytes(2 * length), channels, slices: 2 }, turn, count)
        })
    }

    /// Where a slice's piece begins, and ends.
    pub fn range(&self, slice: u32) -> (u64, u64) {
        share((0, self.size.0), slice, self.slices)
    }
}

/// The bytes of every other slice of a buffer, from the slice `first`, 0 or 1, on.
fn every_other(size: u64, slices: u32, first: u32) -> u64 {
    let (size, n) = (u128::from(size), u128::from(slices));
    let count = (n + 1 - u128::from(first)) / 2;
    let bounds = |offset: u32| floor_sum(count, n, 2 * size, size * u128::from(offset));
    saturated(bounds(first + 1) - bounds(first))
}

/// The sum of (a i + b) / m, each rounded down, over i from 0 to n - 1, by Euclid's algorithm.
fn floor_sum(mut n: u128, mut m: u128, mut a: u128, mut b: u128) -> u128 {
    let mut sum = 0;
    loop {
        sum += n * n.saturating_sub(1) / 2 * (a / m) + n * (b / m);
        (a, b) = (a % m, b % m);
        let most = a * n + b;
        if most < m {
            return sum;
        }
        (n, b) = (most / m, most % m);
        (m, a) = (a, m);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The kinds are all slices, and each is as long and as even as those that it stands for.
        #[test]
        fn kinds_count_slices_by_length_and_turn(size in 0u64..5_000, slices in 1u32..200) {
            let pieces = Pieces { size: Bytes(size), channels: 1, slices };
            let mut counts = std::collections::BTreeMap::new();
            for slice in 0..slices {
                let (begin, end) = pieces.range(slice);
                *counts.entry((end - begin, slice % 2)).or_insert(0u64) += 1;
            }
            let mut kinds = std::collections::BTreeMap::new();
            for (alike, turn, count) in pieces.kinds() {
                let (begin, end) = alike.range(turn);
                kinds.insert((end - begin, turn), count);
            }
            prop_assert_eq!(counts, kinds);
        }
    }

    #[test]
    fn kinds_of_the_largest_buffers_are_counted_without_going_through_slices() {
        let pieces = Pieces { size: Bytes(1 << 50), channels: 1, slices: u32::MAX };
        let kinds: Vec<_> = pieces.kinds().collect();
        assert_eq!(kinds.iter().map(|(_, _, count)| count).sum::<u64>(), u64::from(u32::MAX));
        let bytes = kinds.iter().map(|(alike, turn, count)| {
            let (begin, end) = alike.range(*turn);
            (end - begin) * count
        });
        assert_eq!(bytes.sum::<u64>(), 1 << 50);
    }
}

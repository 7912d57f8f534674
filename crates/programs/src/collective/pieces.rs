//! Pieces: the buffer of a collective, divided into parts, and each part into a piece for every lane.

use floodway_units::Bytes;

/// A buffer in `parts` parts, each in a piece for every lane. Parts, and pieces, differ by a byte at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    pub size: Bytes,
    pub parts: u32,
    pub channels: u32,
    pub lanes: u32,
}

impl Pieces {
    /// Cuts each part into a piece for every channel, and these into chunks of at most `chunk` bytes.
    pub fn new(size: Bytes, parts: u32, channels: u32, chunk: Option<Bytes>) -> Self {
        let part = size.0.div_ceil(u64::from(parts));
        let of_channel = part.div_ceil(u64::from(channels));
        let chunks = chunk.map_or(1, |chunk| of_channel.div_ceil(chunk.0));
        Pieces { size, parts, channels, lanes: (u64::from(channels) * chunks) as u32 }
    }

    /// The channel of a lane: pieces of a channel follow each other.
    pub fn channel(&self, lane: u32) -> u32 {
        lane % self.channels
    }

    /// Where a lane's piece of a part begins, and its size.
    pub fn range(&self, part: u32, lane: u32) -> (u64, Bytes) {
        let (begin, end) = share(self.size.0, part, self.parts);
        let (from, to) = share(end - begin, lane, self.lanes);
        (begin + from, Bytes(to - from))
    }
}

/// Begin and end of the share `index` of `size` bytes in `shares` shares.
fn share(size: u64, index: u32, shares: u32) -> (u64, u64) {
    let bound = |index: u32| (u128::from(size) * u128::from(index) / u128::from(shares)) as u64;
    (bound(index), bound(index + 1))
}

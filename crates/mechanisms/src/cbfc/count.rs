//! Units of credit: bytes, InfiniBand's blocks, or Ultra Ethernet's credits, whose size both ends know.

use floodway_units::Bytes;

/// Bytes of a block.
// Section 7.9: credit is counted in blocks of 64 bytes.
pub(super) const BLOCK: u64 = 64;
/// The most credit, in blocks.
// Section 7.9: half of what the counters can tell apart.
pub(super) const MOST_BLOCKS: u64 = 2048;
/// Counters of 12 bits.
// Section 7.9: FCTBS and FCCL have 12 bits.
const MODULUS: u64 = 4096;

/// Counters of 20 bits.
// UEC, Section 5.2: counters are cyclic and have 20 bits.
const CREDITS_MODULUS: u64 = 1 << 20;
/// The most credits in use: what an update can tell, 15 bits, is left over.
// UEC, Section 5.2: less than 2^20 are in use, and an update carries 15 bits.
pub(super) const MOST_CREDITS: u64 = CREDITS_MODULUS - UPDATE;
/// Credits that 15 bits tell apart.
pub(super) const UPDATE: u64 = 1 << 15;

/// The unit of all counters, and when they wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// In 64 bits, which never wrap.
    Bytes,
    /// Modulo 4096.
    Blocks,
    /// Credits of so many bytes, modulo 2^20.
    Credits(u64),
}

impl Count {
    /// The credit that a frame of this many wire bytes consumes.
    #[inline]
    pub(super) fn of(self, wire: Bytes) -> u64 {
        match self {
            Count::Bytes => wire.0,
            Count::Blocks => wire.0.div_ceil(BLOCK),
            // UEC, Section 5.2: a packet takes its bytes and overhead in whole credits.
            Count::Credits(size) => wire.0.div_ceil(size),
        }
    }

    /// The bytes of so many units.
    pub(super) fn bytes(self, units: u64) -> Bytes {
        let size = match self {
            Count::Bytes => 1,
            Count::Blocks => BLOCK,
            Count::Credits(size) => size,
        };
        Bytes(units.saturating_mul(size))
    }

    /// The credit that may be granted while this many bytes are free.
    pub(super) fn grant(self, free: Bytes) -> u64 {
        match self {
            Count::Bytes => free.0,
            Count::Blocks => (free.0 / BLOCK).min(MOST_BLOCKS),
            Count::Credits(size) => (free.0 / size).min(MOST_CREDITS),
        }
    }

    /// A counter advanced by `more`.
    #[inline]
    pub(super) fn add(self, counter: u64, more: u64) -> u64 {
        self.wrap(counter.wrapping_add(more))
    }

    /// How far `to` is ahead of `from`; more than the largest credit if it is behind.
    #[inline]
    pub(super) fn ahead(self, to: u64, from: u64) -> u64 {
        self.wrap(to.wrapping_sub(from))
    }

    /// Whether `counter` may advance by `more` without exceeding `limit`.
    #[inline]
    pub(super) fn allows(self, limit: u64, counter: u64, more: u64) -> bool {
        let most = match self {
            Count::Bytes => u64::MAX / 2,
            Count::Blocks => MOST_BLOCKS,
            Count::Credits(_) => MOST_CREDITS,
        };
        // Section 7.9: a packet may go if FCCL - (FCTBS + its blocks), modulo 4096, is 2048 at most.
        self.ahead(limit, counter.wrapping_add(more)) <= most
    }

    #[inline]
    fn wrap(self, counter: u64) -> u64 {
        match self {
            Count::Bytes => counter,
            Count::Blocks => counter % MODULUS,
            Count::Credits(_) => counter % CREDITS_MODULUS,
        }
    }
}

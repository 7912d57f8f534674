use crate::cast::whole;
use borsh::{BorshDeserialize, BorshSerialize};
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use crate::{Span, text};

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
)]
pub struct Bytes(pub u64);

/// A length of fibre, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length(pub u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// Larger than any buffer.
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// `n` times 1000 bytes.
    pub const fn kb(n: u64) -> Bytes {
        Bytes(n * 1_000)
    }

    /// `n` times 1024 bytes.
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n << 10)
    }

    /// `n` times 10^6 bytes.
    pub const fn mb(n: u64) -> Bytes {
        Bytes(n * 1_000_000)
    }

    /// `n` times 2^20 bytes.
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n << 20)
    }

    /// `self - other`, or zero if that is negative.
    pub fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }

    /// `self + other`, or the largest number if that overflows.
    pub fn saturating_add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }

    /// `self - other`, or `None` if that is negative.
    pub fn checked_sub(self, other: Bytes) -> Option<Bytes> {
        self.0.checked_sub(other.0).map(Bytes)
    }

    /// The number of bytes rounded up to three decimals of the largest unit that does not exceed it: a
    /// recommended size.
    ///
    /// # Examples
    /// ```
    /// use floodway_units::Bytes;
    /// assert_eq!(Bytes(20_003_297).rounded_up().to_string(), "20.004MB");
    /// assert_eq!(Bytes(29_375).rounded_up(), Bytes(29_375));
    /// ```
    pub fn rounded_up(self) -> Bytes {
        let step = [1_000_000_000, 1_000_000, 1000]
            .into_iter()
            .find(|unit| self.0 >= *unit)
            .map_or(1, |unit| unit / 1000);
        Bytes(self.0.checked_next_multiple_of(step).unwrap_or(self.0))
    }

    /// `factor` times these bytes, rounded down; `factor` must be finite and not negative.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the fraction is cut on purpose")]
    pub fn scale(self, factor: f64) -> Bytes {
        if let Ok(bytes) = i64::try_from(self.0) {
            let scaled = bytes as f64 * factor;
            // The processor converts only signed numbers; the result is the same.
            if scaled < 9.0e18 {
                return Bytes(scaled as i64 as u64);
            }
        }
        Bytes(whole(self.0 as f64 * factor))
    }
}

impl Length {
    /// Propagation in fibre at 5 us/km (SWING, 6.1).
    pub fn delay(self) -> Span {
        Span(self.0 * 5_000)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, n: u64) -> Bytes {
        Bytes(self.0 * n)
    }
}

impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(sizes: I) -> Bytes {
        sizes.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::with_unit(self.0, text::BYTES))
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::with_unit(self.0, text::LENGTH))
    }
}

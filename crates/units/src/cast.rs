//! Conversions to narrower numbers, each with what happens to a value that does not fit.

/// A number that fits, by a limit on what is counted: objects of a run, for example, are fewer than 2^32. A
/// value beyond its limit is a bug, and ends the run instead of becoming another number. Code that runs for
/// each packet converts without this check, and says the limit.
///
/// # Panics
/// If the value does not fit.
#[inline]
#[track_caller]
pub fn narrow<N>(value: impl TryInto<N>) -> N {
    value.try_into().unwrap_or_else(|_| beyond())
}

#[cold]
#[inline(never)]
#[track_caller]
fn beyond() -> ! {
    panic!("a number is beyond its limit")
}

const _: () = assert!(usize::BITS == u64::BITS, "sizes and indices have 64 bits");

/// The same number: sizes and indices have 64 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "usize has 64 bits, as the assertion above says")]
pub const fn to_usize(value: u64) -> usize {
    value as usize
}

/// The lowest 32 bits, where those above say something else.
#[inline]
pub const fn low_u32(bits: u64) -> u32 {
    (bits & 0xFFFF_FFFF) as u32
}

/// The lowest 16 bits, where those above say something else.
#[inline]
pub const fn low_u16(bits: u64) -> u16 {
    (bits & 0xFFFF) as u16
}

/// The whole part of a number; 0 for negative numbers and for what is no number, and the largest integer for
/// larger ones.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the fraction is cut on purpose, and `as` saturates")]
pub const fn whole(value: f64) -> u64 {
    value as u64
}

/// The same number, or the largest of 64 bits for a larger one.
#[inline]
pub fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_their_limits_are_kept() {
        assert_eq!((narrow::<u8>(255usize), narrow::<u16>(65_535u64)), (255, 65_535));
        assert_eq!((narrow::<u32>(u64::from(u32::MAX)), to_usize(u64::MAX)), (u32::MAX, usize::MAX));
        assert_eq!((low_u32(0x7_FFFF_FFFE), low_u16(0x7_FFFE)), (0xFFFF_FFFE, 0xFFFE));
        assert_eq!((saturated(u128::from(u64::MAX)), saturated(1 << 64)), (u64::MAX, u64::MAX));
        assert_eq!([2.9, -1.0, f64::NAN, 1e300].map(whole), [2, 0, 0, u64::MAX]);
    }

    #[test]
    #[should_panic(expected = "beyond its limit")]
    fn a_number_beyond_its_limit_does_not_become_another_one() {
        let _: u16 = narrow(65_536usize);
    }
}

//! α, the estimate of congestion: one step up, any number of steps down.

/// α after a period with a CNP.
pub(super) fn raised(alpha: f64, g: f64) -> f64 {
    // Eq. 1: a CNP raises α.
    (1.0 - g) * alpha + g
}

/// α after `periods` without a CNP: α · (1 - g)^periods.
pub(super) fn decayed(alpha: f64, g: f64, periods: u64) -> f64 {
    // Eq. 2: each period without a CNP lowers α.
    alpha * power(1.0 - g, periods)
}

/// By squaring, from the lowest bit of the exponent: this exact order defines the last digits.
fn power(mut base: f64, exponent: u64) -> f64 {
    let mut result = 1.0;
    for bit in 0..u64::BITS - exponent.leading_zeros() {
        if exponent >> bit & 1 == 1 {
            result *= base;
        }
        base *= base;
    }
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn alpha_decays_with_a_time_constant_of_1_over_g_periods() {
        // (1 - 1/256)^256 = 0.36715975, near 1/e.
        assert!((decayed(1.0, 1.0 / 256.0, 256) - 0.367_159_75).abs() < 1e-7);
        assert_eq!(decayed(0.75, 0.5, 0), 0.75);
        assert_eq!(decayed(1.0, 0.5, 10), 1.0 / 1024.0);
        assert_eq!(raised(0.5, 0.25), 0.625);
    }

    proptest! {
        #[test]
        fn the_closed_form_is_a_tick_a_period_to_within_1e_12(
            alpha in 0.0..=1.0f64, shift in 1u32..12, odd in 0u64..5, periods in 0u64..5_000,
        ) {
            let g = (1.0 + odd as f64) / f64::from(1u32 << shift).max(8.0);
            let ticked = (0..periods).fold(alpha, |alpha, _| alpha * (1.0 - g));
            let closed = decayed(alpha, g, periods);
            // Below 1e-290 ticks lose digits as subnormal numbers.
            prop_assert!((closed - ticked).abs() <= 1e-12 * ticked + 1e-290, "{closed}, not {ticked}");
        }
    }
}

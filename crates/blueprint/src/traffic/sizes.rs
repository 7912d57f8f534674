//! Distributions of flow sizes.

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rng, uniform};

/// A cumulative distribution: linear between its points, a jump at equal sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// (bytes, cumulative share from 0 to 1), not decreasing in both, the last share 1.
    points: Vec<(f64, f64)>,
}

/// Why points are not a distribution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SizesError {
    /// Fewer than two points.
    #[error("a distribution needs at least two points")]
    TooShort,
    /// A point lies below the one before.
    #[error(
        "point {index} ({bytes} B, {percent} %) lies below the one before it: both columns must not decrease"
    )]
    NotMonotone {
        /// Its place, from 1.
        index: usize,
        /// Its size.
        bytes: f64,
        /// Its cumulative percentage.
        percent: f64,
    },
    /// A number that is not finite, or is negative.
    #[error("point {index} is not a size and a percentage from 0 to 100")]
    NotANumber {
        /// Its place, from 1.
        index: usize,
    },
    /// The last point is not at 100 %.
    #[error("the last point is at {0} %, not at 100 %")]
    Incomplete(f64),
    /// Every flow would be empty.
    #[error("all sizes are zero")]
    Empty,
}

impl Sizes {
    /// A distribution through these points of (bytes, cumulative percent).
    ///
    /// # Errors
    /// What is wrong with the points, by their place.
    pub fn new(points: &[(f64, f64)]) -> Result<Self, SizesError> {
        if points.len() < 2 {
            return Err(SizesError::TooShort);
        }
        for (i, &(bytes, percent)) in points.iter().enumerate() {
            let index = i + 1;
            if !(bytes.is_finite() && bytes >= 0.0 && (0.0..=100.0).contains(&percent)) {
                return Err(SizesError::NotANumber { index });
            }
            if i > 0 && (bytes < points[i - 1].0 || percent < points[i - 1].1) {
                return Err(SizesError::NotMonotone { index, bytes, percent });
            }
        }
        let (largest, last) = points[points.len() - 1];
        if last != 100.0 {
            return Err(SizesError::Incomplete(last));
        }
        if largest < 1.0 {
            return Err(SizesError::Empty);
        }
        Ok(Sizes { points: points.iter().map(|&(bytes, percent)| (bytes, percent / 100.0)).collect() })
    }

    /// Every flow has this size.
    pub fn fixed(size: Bytes) -> Self {
        Sizes { points: vec![(size.0 as f64, 0.0), (size.0 as f64, 1.0)] }
    }

    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        let below = self.points[0];
        let first = below.1 * below.0;
        first + self.points.windows(2).map(|w| (w[1].1 - w[0].1) * (w[0].0 + w[1].0) / 2.0).sum::<f64>()
    }

    /// A size, rounded down, at least 1 byte.
    pub fn sample(&self, rng: &mut Rng) -> Bytes {
        self.quantile(uniform(rng))
    }

    /// The size at cumulative share `u` in [0, 1).
    pub fn quantile(&self, u: f64) -> Bytes {
        let above = self.points.partition_point(|&(_, share)| share <= u);
        let size = match above {
            0 => self.points[0].0,
            n if n == self.points.len() => self.points[n - 1].0,
            n => {
                let ((low, from), (high, to)) = (self.points[n - 1], self.points[n]);
                low + (high - low) * ((u - from) / (to - from))
            }
        };
        Bytes(whole(size).max(1))
    }
}

/// Exponential with this mean, in whole picoseconds (inverse transform).
pub fn exponential(rng: &mut Rng, mean_ps: f64) -> u64 {
    whole(-libm::log(1.0 - uniform(rng)) * mean_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_met_and_lines_are_straight() {
        let sizes = Sizes::new(&[(0.0, 0.0), (100.0, 50.0), (100.0, 75.0), (300.0, 100.0)]).unwrap();
        assert_eq!(sizes.quantile(0.25), Bytes(50));
        assert_eq!(sizes.quantile(0.6), Bytes(100));
        assert_eq!(sizes.quantile(0.875), Bytes(200));
        assert_eq!(sizes.quantile(0.0), Bytes(1));
        assert_eq!(sizes.mean(), 0.5 * 50.0 + 0.25 * 100.0 + 0.25 * 200.0);
    }

    #[test]
    fn what_is_not_a_distribution_is_refused() {
        let error = |points: &[(f64, f64)]| Sizes::new(points).unwrap_err();
        assert_eq!(error(&[(1.0, 100.0)]), SizesError::TooShort);
        assert!(matches!(error(&[(5.0, 0.0), (4.0, 100.0)]), SizesError::NotMonotone { index: 2, .. }));
        assert!(matches!(error(&[(5.0, 50.0), (6.0, 40.0)]), SizesError::NotMonotone { index: 2, .. }));
        assert_eq!(error(&[(5.0, 0.0), (6.0, 90.0)]), SizesError::Incomplete(90.0));
        assert_eq!(error(&[(f64::NAN, 0.0), (6.0, 100.0)]), SizesError::NotANumber { index: 1 });
        assert_eq!(error(&[(0.0, 0.0), (0.0, 100.0)]), SizesError::Empty);
    }
}

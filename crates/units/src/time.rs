use borsh::{BorshDeserialize, BorshSerialize};
use std::cell::Cell;
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use crate::text;

/// An instant of simulated time, in picoseconds since the start of the run.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize)]
pub struct Time(pub u64);

thread_local! {
    /// The instant from which `Debug` counts, in picoseconds.
    static FROM: Cell<u64> = const { Cell::new(0) };
}

/// Calls `print`, in which `Debug` shows instants relative to `now`: so the states of two moments are equal
/// as texts where they are equal but for the time.
pub fn relative_to<T>(now: Time, print: impl FnOnce() -> T) -> T {
    let before = FROM.replace(now.0);
    let printed = print();
    FROM.set(before);
    printed
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Time::NEVER => f.write_str("never"),
            Time(at) => write!(f, "{}ps", i128::from(at) - i128::from(FROM.get())),
        }
    }
}

/// An instant until which something holds. Once it has come it does not matter when it was: `Debug` shows it
/// as over.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Until(pub Time);

impl Until {
    /// Has it come at `now`?
    pub fn is_over(self, now: Time) -> bool {
        self.0 <= now
    }
}

impl fmt::Debug for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_over(Time(FROM.get())) { f.write_str("over") } else { self.0.fmt(f) }
    }
}

/// A length of simulated time, in picoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
)]
pub struct Span(pub u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// Later than any event.
    pub const NEVER: Time = Time(u64::MAX);

    /// The span since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// This instant in microseconds.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Span {
    /// Zero.
    pub const ZERO: Span = Span(0);

    /// `n` nanoseconds.
    pub const fn ns(n: u64) -> Span {
        Span(n * 1_000)
    }

    /// `n` microseconds.
    pub const fn us(n: u64) -> Span {
        Span(n * 1_000_000)
    }

    /// `n` milliseconds.
    pub const fn ms(n: u64) -> Span {
        Span(n * 1_000_000_000)
    }

    /// This span in microseconds.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This span in seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0 - span.0)
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        self.0 += other.0;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, n: u64) -> Span {
        Span(self.0 * n)
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, n: u64) -> Span {
        Span(self.0 / n)
    }
}

impl std::iter::Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::with_unit(self.0, text::SPAN))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

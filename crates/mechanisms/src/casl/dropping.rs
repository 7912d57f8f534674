//! d, the ratio of deliberate drops: it follows the length of the lossy queue.

use floodway_units::{Bytes, Span, Time};

/// Parameters by which d follows the lossy queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub every: Span,
    pub gain: f64,
    pub most: f64,
}

/// d of a port and class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropping {
    law: Law,
    /// d.
    ratio: f64,
    /// When it is adapted next.
    next: Time,
}

impl Dropping {
    pub fn new(law: Law) -> Self {
        Dropping { law, ratio: 0.0, next: Time::ZERO + law.every }
    }

    /// d.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Makes all updates due until `now`, during which the queue and Q1 had these values: the step is the
    /// same at each of them, so they are combined into one.
    pub fn adapt(&mut self, now: Time, queue: Bytes, q1: Bytes) {
        if self.next > now {
            return;
        }
        let Law { every, gain, most } = self.law;
        let times = now.since(self.next).0 / every.0 + 1;
        self.next += every * times;
        let excess = (queue.0 as f64 - q1.0 as f64) / q1.0 as f64;
        // Section 3.2: the drop ratio adapts to what was observed.
        self.ratio = (self.ratio + times as f64 * gain * excess).clamp(0.0, most);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::us;

    const LAW: Law = Law { every: Span::us(100), gain: 0.05, most: 0.5 };

    #[test]
    fn d_grows_with_what_the_queue_has_beyond_q1_and_falls_below_it() {
        let mut d = Dropping::new(LAW);
        let q1 = Bytes::kb(100);
        d.adapt(us(99), Bytes::kb(300), q1);
        assert_eq!(d.ratio(), 0.0);
        // 0.05 · (300 - 100) / 100 each time.
        d.adapt(us(100), Bytes::kb(300), q1);
        assert!((d.ratio() - 0.1).abs() < 1e-12);
        d.adapt(us(350), Bytes::kb(200), q1);
        assert!((d.ratio() - 0.2).abs() < 1e-12, "two steps of 0.05");
        d.adapt(us(400), Bytes::kb(0), q1);
        assert!((d.ratio() - 0.15).abs() < 1e-12);
        d.adapt(us(10_000), Bytes::kb(0), q1);
        assert_eq!(d.ratio(), 0.0);
    }

    proptest! {
        #[test]
        fn d_stays_within_its_bounds_and_late_steps_are_those_of_a_clock(
            steps in prop::collection::vec((0u64..900, 0u64..2_000_000), 1..60), q1 in 1u64..400_000,
        ) {
            let (mut late, mut ticked, mut now) = (Dropping::new(LAW), Dropping::new(LAW), 0);
            for (wait, queue) in steps {
                for tick in now + 1..=now + wait {
                    ticked.adapt(us(tick), Bytes(queue), Bytes(q1));
                }
                now += wait;
                late.adapt(us(now), Bytes(queue), Bytes(q1));
                prop_assert!((0.0..=0.5).contains(&late.ratio()));
                prop_assert!((late.ratio() - ticked.ratio()).abs() < 1e-9, "{} {}", late.ratio(), ticked.ratio());
            }
        }
    }
}

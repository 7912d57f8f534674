//! A rate limiter for CNPs generated at switches: at most one CNP per flow and interval.

use std::collections::BTreeMap;

use floodway_units::{Span, Time};

/// The maximum number of flows that a limiter stores.
pub(crate) const MOST_FLOWS: usize = 4096;

/// The flows that got a CNP within the last interval. While there are [`MOST_FLOWS`] of them, other flows get
/// none: this bounds the memory, and also the CNPs that a port sends.
#[derive(Clone, Debug)]
pub(crate) struct CnpLimiter {
    interval: Span,
    /// By flow: the end of the interval in which it gets no other CNP.
    blocked_until: BTreeMap<u64, Time>,
}

impl CnpLimiter {
    /// A limiter without flows. An `interval` of zero admits every CNP.
    pub(crate) fn new(interval: Span) -> Self {
        CnpLimiter { interval, blocked_until: BTreeMap::new() }
    }

    /// Whether `flow` may get a CNP now. If so, its interval begins.
    pub(crate) fn may_notify(&mut self, flow: u64, now: Time) -> bool {
        if self.interval == Span::ZERO {
            return true;
        }
        if self.blocked_until.get(&flow).is_some_and(|&until| now < until) {
            return false;
        }
        if self.blocked_until.len() >= MOST_FLOWS {
            self.blocked_until.retain(|_, until| now < *until);
        }
        let room = self.blocked_until.len() < MOST_FLOWS || self.blocked_until.contains_key(&flow);
        if room {
            self.blocked_until.insert(flow, now + self.interval);
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::us;

    #[test]
    fn a_flow_gets_one_cnp_in_an_interval_independently_of_others() {
        let mut limiter = CnpLimiter::new(Span::us(50));
        let asked = [(1, 7), (2, 7), (3, 8), (50, 7), (51, 7), (52, 7)];
        let answers = asked.map(|(at, flow)| limiter.may_notify(flow, us(at)));
        assert_eq!(answers, [true, false, true, false, true, false]);
        let mut always = CnpLimiter::new(Span::ZERO);
        assert!(always.may_notify(7, us(1)) && always.may_notify(7, us(1)));
    }

    #[test]
    fn at_most_the_remembered_flows_get_cnps_and_expired_ones_are_dropped() {
        let mut limiter = CnpLimiter::new(Span::us(50));
        let flows = 0..MOST_FLOWS as u64 + 900;
        assert_eq!(flows.filter(|&flow| limiter.may_notify(flow, us(1))).count(), MOST_FLOWS);
        assert!(limiter.may_notify(MOST_FLOWS as u64, us(52)));
        assert_eq!(limiter.blocked_until.len(), 1);
    }
}

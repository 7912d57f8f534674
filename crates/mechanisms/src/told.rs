//! Which flows were told lately: at most one CNP for each in an interval. What all machines share that make CNPs at a
//! switch.

use std::collections::BTreeMap;

use floodway_units::{Span, Time};

/// At most so many flows are remembered.
pub(crate) const MOST_FLOWS: usize = 4096;

/// The flows that were told within the last interval. While as many as can be remembered were, others wait: memory is
/// bounded, and so are the CNPs that a port sends.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    interval: Span,
    /// By flow: until when it is not told again.
    quiet_until: BTreeMap<u64, Time>,
}

impl Told {
    /// Nobody yet. An `interval` of nothing lets each flow be told each time.
    pub(crate) fn new(interval: Span) -> Self {
        Told { interval, quiet_until: BTreeMap::new() }
    }

    /// May `flow` be told now? Then it is noted as told.
    pub(crate) fn may_tell(&mut self, flow: u64, now: Time) -> bool {
        if self.interval == Span::ZERO {
            return true;
        }
        if self.quiet_until.get(&flow).is_some_and(|&until| now < until) {
            return false;
        }
        if self.quiet_until.len() >= MOST_FLOWS {
            self.quiet_until.retain(|_, until| now < *until);
        }
        let room = self.quiet_until.len() < MOST_FLOWS || self.quiet_until.contains_key(&flow);
        if room {
            self.quiet_until.insert(flow, now + self.interval);
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::us;

    #[test]
    fn a_flow_is_told_once_in_an_interval_and_each_for_itself() {
        let mut told = Told::new(Span::us(50));
        let asked = [(1, 7), (2, 7), (3, 8), (50, 7), (51, 7), (52, 7)];
        let answers = asked.map(|(at, flow)| told.may_tell(flow, us(at)));
        assert_eq!(answers, [true, false, true, false, true, false]);
        let mut always = Told::new(Span::ZERO);
        assert!(always.may_tell(7, us(1)) && always.may_tell(7, us(1)));
    }

    #[test]
    fn as_many_flows_as_can_be_remembered_are_told_and_the_past_is_forgotten() {
        let mut told = Told::new(Span::us(50));
        let flows = 0..MOST_FLOWS as u64 + 900;
        assert_eq!(flows.filter(|&flow| told.may_tell(flow, us(1))).count(), MOST_FLOWS);
        assert!(told.may_tell(MOST_FLOWS as u64, us(52)));
        assert_eq!(told.quiet_until.len(), 1);
    }
}

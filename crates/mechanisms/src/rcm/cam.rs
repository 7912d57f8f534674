//! CFR: the flows with the largest shares of a port, by samples of the departing packets (section 3.3).

use floodway_units::cast::whole;
use floodway_units::{Bytes, FlowId, Rng, Span, Time, uniform};

/// The flows of the packets sampled last, in a circular buffer.
#[derive(Clone, Debug)]
pub(super) struct Cam {
    /// M.
    depth: usize,
    /// Bytes from one sample to the next.
    interval: u64,
    /// How long an entry is valid.
    lasts: Span,
    entries: Vec<(FlowId, Time)>,
    /// Where the next entry goes.
    next: usize,
    /// Bytes that have left since the last sample, and the number after which the next one is due.
    since: u64,
    due: u64,
}

impl Cam {
    pub fn new(depth: u8, interval: Bytes, lasts: Span) -> Self {
        let depth = usize::from(depth);
        let entries = Vec::with_capacity(depth);
        Cam { depth, interval: interval.0, lasts, entries, next: 0, since: 0, due: 0 }
    }

    /// A packet of `frame` bytes leaves; returns whether it was sampled.
    pub fn pass(&mut self, now: Time, rng: &mut Rng, flow: FlowId, frame: Bytes) -> bool {
        self.since += frame.0;
        if self.since < self.due {
            return false;
        }
        self.since = 0;
        // Elsewise it would keep step with a round robin among inputs.
        self.due = whole(self.interval as f64 * (0.85 + 0.3 * uniform(rng)));
        match self.entries.get_mut(self.next) {
            Some(entry) => *entry = (flow, now),
            None => self.entries.push((flow, now)),
        }
        // Section 3.3: the memory is written in a cycle.
        self.next = (self.next + 1) % self.depth;
        true
    }

    /// A monitor window begins.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.next = 0;
    }

    pub fn is_full(&self) -> bool {
        self.entries.len() == self.depth
    }

    /// Does the flow hold an entry?
    pub fn contains(&self, now: Time, flow: FlowId) -> bool {
        self.hits(now, flow) > 0
    }

    /// How many entries a flow holds.
    pub fn hits(&self, now: Time, flow: FlowId) -> usize {
        let live = self.entries.iter().filter(|(_, at)| now.since(*at) <= self.lasts);
        live.filter(|(of, _)| *of == flow).count()
    }

    /// The flows that hold at least `least` entries, in the order of their entries.
    pub fn harmful(&self, now: Time, least: usize) -> impl Iterator<Item = FlowId> + '_ {
        let first = move |(at, (flow, _)): &(usize, &(FlowId, Time))| {
            !self.entries[..*at].iter().any(|(before, _)| before == flow)
        };
        let flows = self.entries.iter().enumerate().filter(first).map(|(_, (flow, _))| *flow);
        flows.filter(move |flow| self.hits(now, *flow) >= least)
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{Turns, stream};

    use super::*;
    use crate::testing::us;

    fn cam() -> Cam {
        Cam::new(16, Bytes(4_000), Span::us(100))
    }

    #[test]
    fn the_newest_entries_replace_the_oldest() {
        let (mut cam, mut rng) = (cam(), stream(1, 1, "test"));
        let mut sampled = |cam: &mut Cam, flow| {
            let mut turns = Turns::at_most(100);
            while turns.go() && !cam.pass(us(0), &mut rng, FlowId(flow), Bytes(1_000)) {}
        };
        (0..16).for_each(|flow| sampled(&mut cam, flow));
        assert!(cam.is_full() && cam.contains(us(0), FlowId(0)));
        (0..4).for_each(|_| sampled(&mut cam, 99));
        assert!(!cam.contains(us(0), FlowId(3)) && cam.contains(us(0), FlowId(4)));
        assert_eq!(cam.harmful(us(0), 4).collect::<Vec<_>>(), [FlowId(99)]);
        assert_eq!(cam.harmful(us(101), 1).count(), 0, "old entries are not believed");
        cam.clear();
        assert!(!cam.is_full() && !cam.contains(us(0), FlowId(99)));
    }

    #[test]
    fn a_sample_is_due_with_the_last_of_its_bytes() {
        let (mut cam, mut rng) = (Cam::new(16, Bytes(1), Span::us(100)), stream(1, 1, "test"));
        assert!((0..100).all(|flow| cam.pass(us(0), &mut rng, FlowId(flow), Bytes(1))));
    }

    /// A flow of the share p of the packets holds a place with probability p, independently by the jitter of
    /// the interval; so the number of its entries has the mean 16 p and the variance 16 p (1 - p).
    #[test]
    fn flows_are_recognised_in_proportion_to_their_rates() {
        let (mut cam, mut rng, mut draws) = (cam(), stream(1, 1, "test"), stream(1, 2, "test"));
        let shares = [(1, 0.5), (2, 0.125), (3, 0.125), (4, 0.125), (5, 0.125)];
        let mut draw = || {
            let mut rest = uniform(&mut draws);
            shares
                .iter()
                .find(|(_, share)| (rest -= share, rest < 0.0).1)
                .map_or(FlowId(5), |&(flow, _)| FlowId(flow))
        };
        let (mut hits, mut harmful, mut looks) = ([0usize; 6], [0usize; 6], 0);
        for round in 0..16 * 2_000 {
            let mut turns = Turns::at_most(1_000);
            while turns.go() && !cam.pass(us(0), &mut rng, draw(), Bytes(1_000)) {}
            // Looks that have no entry in common.
            if round % 16 == 15 {
                looks += 1;
                (1..=5).for_each(|flow| hits[flow as usize] += cam.hits(us(0), FlowId(flow)));
                cam.harmful(us(0), 4).for_each(|flow| harmful[flow.0 as usize] += 1);
            }
        }
        for (flow, share) in shares {
            let mean = hits[flow as usize] as f64 / f64::from(looks);
            let sigma = (16.0 * share * (1.0 - share) / f64::from(looks)).sqrt();
            assert!((mean - 16.0 * share).abs() < 5.0 * sigma, "flow {flow}: {mean}");
        }
        // Of Binomial(16, 1/2) at least 4: 0.9894; of Binomial(16, 1/8): 0.1362.
        let share = |flow: usize| harmful[flow] as f64 / f64::from(looks);
        let close = |share: f64, p: f64| (share - p).abs() < 5.0 * (p * (1.0 - p) / f64::from(looks)).sqrt();
        assert!(close(share(1), 0.9894), "{}", share(1));
        (2..=5).for_each(|flow| assert!(close(share(flow), 0.1362), "{}", share(flow)));
    }
}

//! Labels of flows that congest a port: marks that accumulate, together with a long queue.

use std::collections::BTreeMap;

use floodway_units::{FlowId, Span, Time};

/// Parameters by which labels follow from marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// a.
    pub gain: f64,
    /// `m_hi`, `m_lo`.
    pub above: f64,
    pub below: f64,
    /// The time after a flow's last packet at which its state is deleted.
    pub forgets: Span,
}

/// The result of comparing a queue with Q1.
pub(super) use std::cmp::Ordering as Compared;

/// The change that a packet has caused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Its flow is congested from now on.
    Labelled,
    /// Its flow is no longer congested.
    Released,
}

/// State of a flow. A flow without an entry was never marked: it has m = 0 and no label.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// m.
    marks: f64,
    /// Whether it is congested.
    labelled: bool,
    /// Time of its last packet.
    seen: Time,
}

/// The flows of a port and class.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    law: Law,
    flows: BTreeMap<u32, Flow>,
    /// Entries with the label.
    congested: usize,
}

impl Labels {
    pub fn new(law: Law) -> Self {
        Labels { law, flows: BTreeMap::new(), congested: 0 }
    }

    /// A packet of `flow` has left, marked or not; `queue` is the comparison of the remaining queue with Q1.
    pub fn pass(&mut self, now: Time, flow: FlowId, marked: bool, queue: Compared) -> Option<Change> {
        let Law { gain, above, below, .. } = self.law;
        self.forget_if_old(now, flow);
        if !marked && !self.flows.contains_key(&flow.0) {
            return None;
        }
        let new = Flow { marks: 0.0, labelled: false, seen: now };
        let flow = self.flows.entry(flow.0).or_insert(new);
        flow.seen = now;
        flow.marks = (1.0 - gain) * flow.marks + gain * f64::from(u8::from(marked));
        // Section 3.2: congested, where the marks of the flow accumulate and the queue exceeds Q1.
        if !flow.labelled && flow.marks > above && queue == Compared::Greater {
            flow.labelled = true;
            self.congested += 1;
            return Some(Change::Labelled);
        }
        // Section 3.2: not congested any more, where marks are few and the queue is below Q1.
        if flow.labelled && flow.marks < below && queue == Compared::Less {
            flow.labelled = false;
            self.congested -= 1;
            return Some(Change::Released);
        }
        None
    }

    /// A packet of `flow` has arrived.
    pub fn saw(&mut self, now: Time, flow: FlowId) {
        self.forget_if_old(now, flow);
        if let Some(flow) = self.flows.get_mut(&flow.0) {
            flow.seen = now;
        }
    }

    /// Deletes the state of flows that have been idle for long. This only frees memory: the labels are the
    /// same before and after.
    pub fn sweep(&mut self, now: Time) {
        let forgets = self.law.forgets;
        self.flows.retain(|_, flow| now.since(flow.seen) <= forgets);
        self.congested = self.flows.values().filter(|flow| flow.labelled).count();
    }

    pub fn is_congested(&self, now: Time, flow: FlowId) -> bool {
        let known = self.flows.get(&flow.0).filter(|flow| now.since(flow.seen) <= self.law.forgets);
        known.is_some_and(|flow| flow.labelled)
    }

    /// Whether any flow has the label. A flow whose state is due to be deleted counts until it is deleted.
    pub fn are_any_congested(&self) -> bool {
        self.congested > 0
    }

    fn forget_if_old(&mut self, now: Time, flow: FlowId) {
        let is_old = |flow: &&Flow| now.since(flow.seen) > self.law.forgets;
        if let Some(old) = self.flows.get(&flow.0).filter(is_old) {
            self.congested -= usize::from(old.labelled);
            self.flows.remove(&flow.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::us;

    const LAW: Law = Law { gain: 1.0 / 1024.0, above: 0.02, below: 0.002, forgets: Span::ms(1) };
    const FLOW: FlowId = FlowId(4);

    fn labels() -> Labels {
        Labels::new(LAW)
    }

    fn passes(labels: &mut Labels, marks: &[bool], queue: Compared) -> Vec<Option<Change>> {
        marks.iter().map(|&marked| labels.pass(us(1), FLOW, marked, queue)).collect()
    }

    fn first(changes: &[Option<Change>]) -> Option<usize> {
        changes.iter().position(Option::is_some)
    }

    /// After n marks m = 1 - (1 - 1/1024)^n, which is 0.0193 for n = 20 and 0.0203 for n = 21.
    #[test]
    fn twenty_one_marks_beyond_q1_label_a_flow_and_twenty_do_not() {
        assert_eq!(first(&passes(&mut labels(), &[true; 40], Compared::Greater)), Some(20));
        // Of a long flow, more than one packet in fifty is marked: with each 40th m is near 0.0253 in the
        // end, and never above 0.02 with each 60th, whose largest value is 0.0172.
        let each = |period: usize| (0..6_000).map(|i| i % period == 0).collect::<Vec<_>>();
        assert!(first(&passes(&mut labels(), &each(40), Compared::Greater)) > Some(1_000));
        assert_eq!(first(&passes(&mut labels(), &each(60), Compared::Greater)), None);
    }

    #[test]
    fn marks_below_q1_label_no_flow_until_the_queue_has_grown() {
        let mut labels = labels();
        for queue in [Compared::Less, Compared::Equal] {
            assert!(passes(&mut labels, &[true; 30], queue).iter().all(Option::is_none));
        }
        assert_eq!(labels.pass(us(1), FLOW, false, Compared::Greater), Some(Change::Labelled));
    }

    /// From m = 1 - (1023/1024)^21 = 0.02031 it takes the smallest n with 0.02031 · (1023/1024)^n < 0.002.
    #[test]
    fn a_label_stays_until_marks_are_few_and_the_queue_is_short() {
        let calm = [false; 3_000];
        let mut long = labels();
        passes(&mut long, &[true; 21], Compared::Greater);
        for queue in [Compared::Equal, Compared::Greater] {
            assert_eq!(first(&passes(&mut long, &calm, queue)), None, "the queue is not below");
        }
        assert_eq!(long.pass(us(7), FLOW, false, Compared::Less), Some(Change::Released));
        let mut short = labels();
        passes(&mut short, &[true; 21], Compared::Greater);
        assert_eq!(first(&passes(&mut short, &calm, Compared::Less)), Some(2_372));
        assert!(!short.are_any_congested());
    }

    /// With a = 1/2 averages are exact binary fractions: 1/2, 3/4, 3/8, 3/16, 3/32.
    #[test]
    fn averages_at_the_bounds_change_nothing() {
        let law = Law { gain: 0.5, above: 0.5, below: 3.0 / 16.0, forgets: Span::ms(1) };
        let mut labels = Labels::new(law);
        let changes = passes(&mut labels, &[true, true], Compared::Greater);
        assert_eq!(changes, [None, Some(Change::Labelled)]);
        let changes = passes(&mut labels, &[false, false, false], Compared::Less);
        assert_eq!(changes, [None, None, Some(Change::Released)]);
    }

    #[test]
    fn a_flow_is_known_to_the_last_instant_of_its_time() {
        let mut labels = labels();
        passes(&mut labels, &[true; 20], Compared::Greater);
        assert_eq!(labels.pass(us(1_001), FLOW, true, Compared::Greater), Some(Change::Labelled));
        labels.sweep(us(2_001));
        assert!(labels.are_any_congested());
        labels.sweep(us(2_001) + Span(1));
        assert!(!labels.are_any_congested());
    }

    #[test]
    fn a_flow_that_was_not_seen_for_a_millisecond_is_forgotten() {
        let mut labels = labels();
        passes(&mut labels, &[true; 21], Compared::Greater);
        assert!(labels.is_congested(us(1_001), FLOW) && !labels.is_congested(us(1_002), FLOW));
        // Seen in time, it keeps its label.
        labels.saw(us(1_000), FLOW);
        assert!(labels.is_congested(us(2_000), FLOW));
        // Seen too late, it starts over, and the end of the label is not a release.
        assert_eq!(labels.pass(us(2_001), FLOW, true, Compared::Less), None);
        assert!(!labels.is_congested(us(2_001), FLOW) && !labels.are_any_congested());
        assert_eq!(labels.pass(us(2_002), FLOW, false, Compared::Greater), None);
    }

    #[test]
    fn a_sweep_changes_nothing_but_what_is_kept() {
        let law = Law { gain: 1.0 / 16.0, above: 0.1, below: 0.02, ..LAW };
        let (mut swept, mut kept) = (Labels::new(law), Labels::new(law));
        for (at, flow, marked) in (0..2_000u64).map(|i| (i * 37, (i * i % 11) as u32, i % 3 > 0)) {
            for labels in [&mut swept, &mut kept] {
                labels.pass(us(at), FlowId(flow), marked, Compared::Greater);
            }
            swept.sweep(us(at));
            for flow in 0..11 {
                let of = |labels: &Labels| labels.is_congested(us(at), FlowId(flow));
                assert_eq!(of(&swept), of(&kept), "{flow} at {at} us");
            }
        }
        swept.sweep(us(76_000));
        assert!(swept.flows.is_empty() && !swept.are_any_congested());
    }
}

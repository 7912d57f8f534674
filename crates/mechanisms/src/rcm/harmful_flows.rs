//! Harmful flows of a port and class.

use floodway_units::{FlowId, Span, Time};

/// Maximum number of flows in a CN, and in a set.
pub(super) const MOST: usize = 16;

/// A small set of flows. Each is removed when it was neither seen nor named for a while, since its identifier
/// may then belong to another flow.
#[derive(Clone, Debug)]
pub(super) struct HarmfulFlows {
    lasts: Span,
    flows: Vec<HarmfulFlow>,
}

#[derive(Clone, Copy, Debug)]
struct HarmfulFlow {
    flow: FlowId,
    /// Time of its last packet at this port.
    seen: Option<Time>,
    /// When the neighbour last named it.
    named: Option<Time>,
}

impl HarmfulFlows {
    /// An empty set; `lasts` is how long entries are valid.
    pub fn new(lasts: Span) -> Self {
        HarmfulFlows { lasts, flows: Vec::with_capacity(MOST) }
    }

    pub fn clear(&mut self) {
        self.flows.clear();
    }

    /// Replaces the harmful flows by these, which were seen here; by the first of them, if there are too
    /// many.
    pub fn set_seen(&mut self, now: Time, flows: impl Iterator<Item = FlowId>) {
        self.flows.clear();
        self.flows.extend(flows.take(MOST).map(|flow| HarmfulFlow { flow, seen: Some(now), named: None }));
    }

    /// Adds a flow that was seen here, if there is room for it.
    pub fn add_seen(&mut self, now: Time, flow: FlowId) -> bool {
        let has_room = self.flows.len() < MOST;
        if has_room {
            self.flows.push(HarmfulFlow { flow, seen: Some(now), named: None });
        }
        has_room
    }

    /// Replaces the harmful flows by those that the neighbour names; returns whether the set changed.
    pub fn set_named(&mut self, now: Time, flows: &[FlowId]) -> bool {
        let before = self.flows.len();
        self.flows.retain(|of| flows.contains(&of.flow));
        let mut changed = self.flows.len() < before;
        for &flow in flows.iter().take(MOST) {
            if let Some(known) = self.flows.iter_mut().find(|of| of.flow == flow) {
                known.named = Some(now);
            } else {
                changed = true;
                self.flows.push(HarmfulFlow { flow, seen: None, named: Some(now) });
            }
        }
        changed
    }

    /// A packet of `flow` is here: its index, if it is a harmful flow.
    pub fn see(&mut self, now: Time, flow: FlowId) -> Option<usize> {
        let place = self.place(now, flow)?;
        self.flows[place].seen = Some(now);
        Some(place)
    }

    fn is_live(&self, now: Time, last: Option<Time>) -> bool {
        last.is_some_and(|at| now.since(at) <= self.lasts)
    }

    fn place(&self, now: Time, flow: FlowId) -> Option<usize> {
        let place = self.flows.iter().position(|of| of.flow == flow)?;
        let last = self.flows[place].seen.max(self.flows[place].named);
        self.is_live(now, last).then_some(place)
    }

    pub fn contains(&self, now: Time, flow: FlowId) -> bool {
        self.place(now, flow).is_some()
    }

    /// The flows of which packets were seen here lately: those that may be named to a neighbour.
    pub fn seen(&self, now: Time) -> impl Iterator<Item = FlowId> + '_ {
        self.flows.iter().filter(move |of| self.is_live(now, of.seen)).map(|of| of.flow)
    }

    /// Have all of them expired?
    pub fn are_gone(&self, now: Time) -> bool {
        !self.flows.iter().any(|of| self.is_live(now, of.seen.max(of.named)))
    }

    /// How many there are, including those of which no packet was seen.
    pub fn len(&self) -> usize {
        self.flows.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::us;

    #[test]
    fn a_flow_is_forgotten_when_it_is_neither_seen_nor_named() {
        let mut set = HarmfulFlows::new(Span::us(100));
        set.set_seen(us(0), [FlowId(1), FlowId(2)].into_iter());
        assert_eq!(set.see(us(90), FlowId(2)), Some(1));
        assert!(set.contains(us(100), FlowId(1)) && !set.contains(us(101), FlowId(1)));
        assert_eq!(set.seen(us(150)).collect::<Vec<_>>(), [FlowId(2)]);
        assert!(!set.are_gone(us(190)) && set.are_gone(us(191)));
    }

    #[test]
    fn sixteen_flows_fit_and_no_more() {
        let flows: Vec<FlowId> = (0..17).map(FlowId).collect();
        let mut set = HarmfulFlows::new(Span::us(100));
        set.set_seen(us(0), flows.iter().copied());
        assert_eq!(
            (set.len(), set.contains(us(0), FlowId(15)), set.contains(us(0), FlowId(16))),
            (16, true, false)
        );
        assert!(!set.add_seen(us(0), FlowId(16)));
        set.set_seen(us(0), flows[..15].iter().copied());
        assert!(set.add_seen(us(0), FlowId(16)) && set.len() == 16);
    }

    #[test]
    fn a_flow_that_was_only_named_is_not_named_to_others() {
        let mut set = HarmfulFlows::new(Span::us(100));
        assert!(set.set_named(us(0), &[FlowId(1), FlowId(2)]));
        assert_eq!((set.contains(us(0), FlowId(1)), set.seen(us(0)).count()), (true, 0));
        assert_eq!(set.see(us(1), FlowId(2)), Some(1));
        assert!(!set.set_named(us(2), &[FlowId(2), FlowId(1)]), "the same");
        assert_eq!(set.seen(us(2)).collect::<Vec<_>>(), [FlowId(2)]);
        assert!(set.set_named(us(3), &[FlowId(2)]));
        assert!(!set.contains(us(3), FlowId(1)));
    }
}

use std::collections::BTreeMap;

use floodway_units::{Turns, mix};
use proptest::prelude::*;

use super::*;

/// Events of one node, in the order in which they came, and steps with how far every node had come.
type Seen = BTreeMap<u32, Vec<(u64, u64)>>;

/// A toy network: what an event causes is drawn from what it is, so that it is the same however it is
/// simulated.
#[derive(Clone, Copy, Debug)]
struct Toy {
    nodes: u32,
    length: u64,
    /// Events that one causes have this much less to cause.
    depth: u64,
}

impl Toy {
    /// What an event of a node causes: node, time and order of each.
    fn causes(self, node: u32, event: &Event) -> Vec<(u32, Event)> {
        let depth = event.order >> 56;
        let caused = |n: u64| {
            let draw = mix(event.order ^ event.time.0.rotate_left(17) ^ n.rotate_left(40));
            let to = if draw.is_multiple_of(4) { (draw >> 8) as u32 % self.nodes } else { node };
            let least = if to == node { draw >> 60 & 3 } else { self.length };
            let delay = match draw >> 2 & 7 {
                0 => self.length * 40,
                1..=3 => self.length,
                _ => self.length / 9,
            };
            let order = (depth - 1) << 56 | draw >> 12;
            (
                to,
                Event {
                    time: event.time + floodway_units::Span(least + delay),
                    order,
                    item: Item::of_number(to as usize),
                },
            )
        };
        if depth == 0 { Vec::new() } else { (0..=(event.order & 1)).map(caused).collect() }
    }

    fn first(self, seed: u64) -> Vec<(u32, Event)> {
        let event = |i: u32| {
            let draw = mix(seed ^ u64::from(i));
            let time = Time(draw % (3 * self.length));
            (
                i % self.nodes,
                Event {
                    time,
                    order: self.depth << 56 | draw >> 12,
                    item: Item::of_number((i % self.nodes) as usize),
                },
            )
        };
        (0..3 * self.nodes).map(event).collect()
    }

    /// In one order of all events.
    fn in_one_order(self, seed: u64, end: u64) -> Seen {
        let mut seen = Seen::new();
        let mut pending: BinaryHeap<Reverse<(Event, u32)>> =
            self.first(seed).into_iter().map(|(node, event)| Reverse((event, node))).collect();
        let mut turns = Turns::at_most(10_000_000);
        while turns.go()
            && let Some(Reverse((event, node))) =
                pending.pop().filter(|Reverse((event, _))| event.time.0 < end)
        {
            seen.entry(node).or_default().push((event.time.0, event.order));
            pending.extend(self.causes(node, &event).into_iter().map(|(to, event)| Reverse((event, to))));
        }
        seen
    }

    /// Node by node, in epochs of any length, with steps of the whole network at these times.
    fn by_node(self, seed: u64, end: u64, epoch: u64, steps: &[u64]) -> (Seen, Vec<u64>) {
        let (mut seen, mut taken) = (Seen::new(), Vec::new());
        let mut windows = Windows::new(self.nodes as usize, self.length);
        self.first(seed).into_iter().for_each(|(node, event)| windows.push(node, event));
        for &at in steps {
            windows.push_step(at, 0);
        }
        let (mut due, mut events) = (Vec::new(), Vec::new());
        let mut until = epoch.min(end);
        let mut turns = Turns::at_most(10_000_000);
        while turns.go() {
            match windows.next(until) {
                Next::End if until == end => break,
                Next::End => until = (until + epoch).min(end),
                Next::Step(at, _) => {
                    let late = seen.values().filter_map(|events| events.last()).any(|&(time, _)| time > at);
                    assert!(!late, "a step comes before what is later");
                    taken.push(at);
                }
                Next::Visits(stop) => {
                    windows.due_in(&mut due);
                    for &node in due.iter().rev() {
                        windows.prepare(node, &mut events);
                        windows.visit(node, &mut events);
                        while turns.go()
                            && let Some(event) = windows.pop()
                        {
                            assert!(event.time.0 < stop);
                            seen.entry(node).or_default().push((event.time.0, event.order));
                            for (to, event) in self.causes(node, &event) {
                                windows.push(to, event);
                            }
                        }
                    }
                }
            }
        }
        (seen, taken)
    }
}

proptest! {
    #[test]
    fn each_node_has_its_events_in_the_order_that_they_have_among_all(
        seed in any::<u64>(),
        nodes in 1..80u32,
        length in 9..5_000u64,
        epoch in 1..40_000u64,
        steps in prop::collection::vec(0..60_000u64, 0..5),
    ) {
        let toy = Toy { nodes, length, depth: 5 };
        let end = 60_000;
        let (seen, taken) = toy.by_node(seed, end, epoch, &steps);
        prop_assert_eq!(seen, toy.in_one_order(seed, end));
        let mut steps = steps;
        steps.sort_unstable();
        prop_assert_eq!(taken, steps);
    }
}

#[test]
fn a_crowd_of_events_of_one_instant_comes_out_in_order() {
    let mut windows = Windows::new(1, 1_000);
    let event = |time, order| Event { time: Time(time), order, item: Item::NONE };
    for order in 0..500 {
        windows.push(0, event(10, mix(order) >> 1));
    }
    assert_eq!(windows.next(1_000), Next::Visits(1_000));
    let mut events = Vec::new();
    windows.prepare(0, &mut events);
    windows.visit(0, &mut events);
    let first = windows.pop().expect("they are pending");
    // As many are added while the first of them is executed, at that instant and later.
    for order in 0..500 {
        windows.push(0, event(10 + order % 3, 1 << 63 | mix(order) >> 1));
    }
    let mut rest = vec![first];
    let mut turns = Turns::at_most(2_000);
    while turns.go()
        && let Some(event) = windows.pop()
    {
        rest.push(event);
    }
    assert_eq!(rest.len(), 1_000);
    assert!(rest.is_sorted());
    assert_eq!(windows.next(1_000), Next::End);
}

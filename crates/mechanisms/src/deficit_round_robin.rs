//! Deficit round robin: classes share the bytes of a link by their weights, independent of packet sizes
//! (Shreedhar and Varghese, SIGCOMM 1995).
//!
//! # What it does
//!
//! In each round Q bytes are added to the deficit counter D of a class that has packets. The class sends
//! packets while D covers them, and keeps the rest for the next round. A class without packets loses D.
//!
//! # Why
//!
//! Choose it to give classes shares of a port: a quarter for storage, the rest for training. Where a class
//! must never wait, use `strict`; where all packets have equal size and weights are equal, `round-robin` is
//! the same and simpler.
//!
//! # Symbols
//!
//! | symbol | here |
//! |---|---|
//! | Q | quantum of a class: `quantum` times its weight |
//! | D | its deficit counter: the bytes that it may still send in this turn |
//!
//! # Known differences
//!
//! - Rounds in which no packet would fit are not executed one by one, but counted; the choice is the same.
//! - A paused class is skipped and keeps its D.
//! - Within a class, sub-queue 0 is served before sub-queue 1.
//! - Bytes are those on the wire.
//!
//! # References
//!
//! - Shreedhar and Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995.

use std::borrow::Cow;
use std::collections::BTreeMap;

use floodway_units::cast::narrow;
use floodway_units::{Bytes, Class, QueueId, Time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};

use crate::slots::{self, ParamError, PortInfo, ReadyView, Scheduling};

/// The longest turn; a deficit, which stays below a quantum and a frame, then fits into 32 bits.
const MAX_QUANTUM: u64 = 1 << 30;

/// Parameters of deficit round robin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "DeficitRoundRobin")]
pub struct Params {
    /// Bytes per turn of a class of weight 1, above 0; times the largest weight, at most 1 GiB. Default: one
    /// MTU.
    /// Source: Shreedhar and Varghese: a quantum of the largest packet finds one that fits in each turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Bytes>,
    /// Weights by class, whole numbers of at least 1, as `{ 3 = 4, 5 = 1 }`. Default: 1 for each class that
    /// is not listed.
    /// Source: Shreedhar and Varghese: quanta in proportion to the shares.
    pub weights: Weights,
}

/// A weight, at least 1, for each class: `{ 3 = 4, 5 = 1 }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights([u32; Class::COUNT]);

impl Default for Weights {
    fn default() -> Self {
        Weights([1; Class::COUNT])
    }
}

impl Weights {
    /// Sets the weight of `class`.
    pub fn with(mut self, class: Class, weight: u32) -> Self {
        self.0[usize::from(class.0)] = weight;
        self
    }
}

impl Serialize for Weights {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let given = self.0.iter().enumerate().filter(|(_, weight)| **weight != 1);
        serializer.collect_map(given.map(|(class, weight)| (class.to_string(), weight)))
    }
}

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut weights = Weights::default();
        for (class, weight) in BTreeMap::<String, u32>::deserialize(deserializer)? {
            match class.parse::<usize>() {
                Ok(class) if class < Class::COUNT && weight > 0 => weights.0[class] = weight,
                Ok(class) if class < Class::COUNT => {
                    return Err(D::Error::custom(format_args!(
                        "the weight of class {class} must be 1 or more"
                    )));
                }
                _ => return Err(D::Error::custom(format_args!("{class:?} is not a class from 0 to 7"))),
            }
        }
        Ok(weights)
    }
}

impl JsonSchema for Weights {
    fn schema_name() -> Cow<'static, str> {
        "Weights".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "patternProperties": { "^[0-7]$": { "type": "integer", "minimum": 1, "maximum": u32::MAX } },
            "additionalProperties": false,
        })
    }
}

impl Scheduling for Params {
    type Scheduler = Scheduler;

    fn build(&self, port: &PortInfo) -> Result<Scheduler, ParamError> {
        let quantum = self.quantum.unwrap_or(port.mtu);
        let mut quanta = [0; Class::COUNT];
        for (slot, weight) in quanta.iter_mut().zip(self.weights.0) {
            let scaled = quantum.0.checked_mul(u64::from(weight)).filter(|bytes| *bytes <= MAX_QUANTUM);
            *slot = narrow(scaled.ok_or_else(|| {
                ParamError::new("weights", format!("a quantum of {quantum} times {weight} is too large"))
            })?);
        }
        if quanta.contains(&0) {
            return Err(ParamError::new("quantum", "a quantum of 0B never sends"));
        }
        let start = State { current: 0, deficit: [0; Class::COUNT] };
        Ok(Scheduler { quanta, state: start, picked: None })
    }
}

/// One per egress port.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// Q of each class.
    quanta: [u32; Class::COUNT],
    state: State,
    /// The last answer with the state that it leads to; a frame of that queue confirms it.
    picked: Option<(QueueId, State)>,
}

/// The current turn, and the deficit of every class.
#[derive(Clone, Copy, Debug)]
struct State {
    current: u8,
    /// D of each class.
    deficit: [u32; Class::COUNT],
}

/// When a class would send: the round, counted from 0 for the rest of the current turn, and the step within
/// the round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    round: u32,
    step: usize,
}

/// The first frame of each class that may send, with its queue.
type Heads = [Option<(QueueId, u32)>; Class::COUNT];

#[expect(clippy::cast_possible_truncation, reason = "a frame has at most 16 000 bytes")]
fn heads(now: Time, queues: &[ReadyView]) -> Heads {
    let mut heads: Heads = [None; Class::COUNT];
    for view in queues.iter().filter(|view| view.gate.is_open(now)) {
        let head = &mut heads[usize::from(view.queue.class.0)];
        if head.is_none_or(|(queue, _)| view.queue.sub < queue.sub) {
            *head = Some((view.queue, view.head.0 as u32));
        }
    }
    heads
}

impl Scheduler {
    /// Steps from the current class to `class`, which comes last in its own round.
    fn step(&self, class: usize) -> usize {
        (class + Class::COUNT - usize::from(self.state.current) - 1) % Class::COUNT + 1
    }

    /// When `class` can send a frame of `head` bytes.
    fn turn(&self, class: usize, head: u32) -> Turn {
        let missing = head.saturating_sub(self.state.deficit[class]);
        if class == usize::from(self.state.current) && missing == 0 {
            return Turn { round: 0, step: 0 };
        }
        Turn { round: missing.div_ceil(self.quanta[class]).max(1), step: self.step(class) }
    }

    /// The state once all turns up to `chosen` have been taken.
    #[expect(clippy::cast_possible_truncation, reason = "links have eight classes")]
    fn after(&self, chosen: Turn, class: usize, heads: &Heads, queues: &[ReadyView]) -> State {
        let mut next = State { current: class as u8, deficit: [0; Class::COUNT] };
        // A class that has nothing to send loses its deficit.
        for view in queues {
            let class = usize::from(view.queue.class.0);
            next.deficit[class] = self.state.deficit[class];
        }
        for class in (0..Class::COUNT).filter(|class| heads[*class].is_some() && chosen.round > 0) {
            let visits = if self.step(class) <= chosen.step { chosen.round } else { chosen.round - 1 };
            next.deficit[class] += visits * self.quanta[class];
        }
        next
    }
}

impl slots::Scheduler for Scheduler {
    fn pick(&mut self, now: Time, queues: &[ReadyView]) -> Option<QueueId> {
        let heads = heads(now, queues);
        let turns = (0..Class::COUNT).filter_map(|class| {
            let (queue, head) = heads[class]?;
            Some((self.turn(class, head), class, queue))
        });
        self.picked = turns
            .min_by_key(|(turn, ..)| *turn)
            .map(|(turn, class, queue)| (queue, self.after(turn, class, &heads, queues)));
        self.picked.map(|(queue, _)| queue)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a packet has at most 16 100 bytes on the link")]
    fn on_sent(&mut self, _now: Time, q: QueueId, wire: Bytes) {
        if let Some((queue, state)) = self.picked.take()
            && queue == q
        {
            self.state = state;
            let deficit = &mut self.state.deficit[usize::from(q.class.0)];
            *deficit = deficit.saturating_sub(wire.0 as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use floodway_units::Turns;

    use super::*;
    use crate::slots::{Gate, Scheduler as _};
    use crate::testing::{port, ready, us};

    fn scheduler(quantum: u64, weights: Weights) -> Scheduler {
        Params { quantum: Some(Bytes(quantum)), weights }.build(&port(100)).expect("the parameters are valid")
    }

    fn serve(scheduler: &mut Scheduler, queues: &[ReadyView]) -> u8 {
        let queue = scheduler.pick(us(1), queues).expect("a queue is open");
        let head = queues.iter().find(|view| view.queue == queue).expect("it is one of those offered").head;
        scheduler.on_sent(us(1), queue, head);
        queue.class.0
    }

    /// The algorithm as published: visit after visit, without counting rounds.
    struct ByTheBook {
        quanta: [u64; 8],
        deficit: [u64; 8],
        current: usize,
        /// The current class has received its quantum.
        entitled: bool,
    }

    impl ByTheBook {
        fn serve(&mut self, heads: [Option<u64>; 8]) -> u8 {
            let mut turns = Turns::at_most(1_000_000);
            while turns.go() {
                let class = self.current;
                match heads[class] {
                    Some(head) if self.entitled && head <= self.deficit[class] => {
                        self.deficit[class] -= head;
                        return class as u8;
                    }
                    Some(_) => {}
                    None => self.deficit[class] = 0,
                }
                self.current = (class + 1) % 8;
                if heads[self.current].is_some() {
                    self.deficit[self.current] += self.quanta[self.current];
                }
                self.entitled = true;
            }
            unreachable!("the loop ends by itself or fails")
        }
    }

    #[test]
    fn small_packets_make_up_for_large_ones() {
        let queues = [ready(1, 0, 1500, Gate::Open), ready(3, 0, 500, Gate::Open)];
        let mut drr = scheduler(1500, Weights::default());
        let turns: Vec<_> = (0..8).map(|_| serve(&mut drr, &queues)).collect();
        assert_eq!(turns, [1, 3, 3, 3, 1, 3, 3, 3]);
    }

    #[test]
    fn weights_share_the_bytes() {
        let queues = [ready(3, 0, 1000, Gate::Open), ready(5, 0, 1000, Gate::Open)];
        let mut drr = scheduler(1000, Weights::default().with(Class(3), 4));
        let sent = (0..5_000).filter(|_| serve(&mut drr, &queues) == 3).count();
        assert_eq!(sent, 4_000);
    }

    #[test]
    fn a_tiny_quantum_is_as_fair_and_as_quick() {
        let queues = [ready(0, 0, 1499, Gate::Open), ready(7, 0, 1501, Gate::Open)];
        let mut drr = scheduler(1, Weights::default());
        let turns: Vec<_> = (0..4).map(|_| serve(&mut drr, &queues)).collect();
        assert_eq!(turns, [0, 7, 0, 7]);
    }

    #[test]
    fn a_paused_class_is_passed_over_and_keeps_its_deficit() {
        let mut drr = scheduler(1000, Weights::default());
        let both = |gate| [ready(3, 0, 1500, gate), ready(5, 0, 1000, Gate::Open)];
        // Class 3 has saved one quantum when it is paused.
        assert_eq!(serve(&mut drr, &both(Gate::Open)), 5);
        assert_eq!(drr.state.deficit[3], 1000);
        for _ in 0..5 {
            assert_eq!(serve(&mut drr, &both(Gate::Closed)), 5);
        }
        assert_eq!(drr.state.deficit[3], 1000);
        assert_eq!(serve(&mut drr, &both(Gate::Open)), 3);
    }

    #[test]
    fn a_class_that_runs_empty_loses_its_deficit() {
        let mut drr = scheduler(1000, Weights::default());
        assert_eq!(serve(&mut drr, &[ready(3, 0, 1500, Gate::Open), ready(5, 0, 1000, Gate::Open)]), 5);
        assert_eq!(serve(&mut drr, &[ready(5, 0, 1000, Gate::Open)]), 5);
        assert_eq!(drr.state.deficit[3], 0);
    }

    #[test]
    fn asking_alone_takes_no_turn() {
        let queues = [ready(3, 0, 1500, Gate::Open), ready(4, 0, 1500, Gate::Open)];
        let mut drr = scheduler(700, Weights::default());
        let answers: Vec<_> = (0..4).map(|_| drr.pick(us(1), &queues)).collect();
        assert!(answers.iter().all(|answer| *answer == answers[0]));
        assert_eq!(drr.pick(us(1), &[ready(3, 0, 1500, Gate::Closed)]), None);
        assert_eq!((serve(&mut drr, &queues), serve(&mut drr, &queues)), (3, 4));
    }

    #[test]
    fn weights_are_read_by_class() {
        let read = |json: &str| serde_json::from_str::<Weights>(json).map_err(|error| error.to_string());
        let weights = Weights::default().with(Class(3), 4);
        assert_eq!(read(r#"{ "3": 4 }"#), Ok(weights));
        assert_eq!(serde_json::to_string(&weights).unwrap(), r#"{"3":4}"#);
        assert!(read(r#"{ "8": 1 }"#).unwrap_err().contains("\"8\" is not a class from 0 to 7"));
        assert!(read(r#"{ "3": 0 }"#).unwrap_err().contains("the weight of class 3 must be 1 or more"));
    }

    #[test]
    fn quanta_that_cannot_work_are_refused() {
        let key = |quantum, weight| {
            let weights = Weights::default().with(Class(0), weight);
            Params { quantum: Some(Bytes(quantum)), weights }.build(&port(100)).unwrap_err().key
        };
        assert_eq!((key(0, 1), key(u64::MAX, 2), key(1_500, u32::MAX)), ("quantum", "weights", "weights"));
    }

    proptest! {
        #[test]
        fn counting_rounds_chooses_as_visiting_does(
            quantum in 1u64..3_000,
            weights in proptest::array::uniform8(1u32..5),
            heads in proptest::collection::vec(
                proptest::array::uniform8(proptest::option::of(64u64..4_000)), 1..60,
            ),
        ) {
            let mut drr = scheduler(quantum, Weights(weights));
            let quanta = weights.map(|weight| u64::from(weight) * quantum);
            let mut book = ByTheBook { quanta, deficit: [0; 8], current: 0, entitled: true };
            for heads in heads.into_iter().filter(|heads| heads.iter().any(Option::is_some)) {
                let offered = |(class, head): (usize, &Option<u64>)| {
                    head.map(|head| ready(class as u8, 0, head, Gate::Open))
                };
                let queues: Vec<_> = heads.iter().enumerate().filter_map(offered).collect();
                // A class without packets loses its deficit at once, even long before its turn.
                for (deficit, head) in book.deficit.iter_mut().zip(&heads) {
                    *deficit = if head.is_some() { *deficit } else { 0 };
                }
                prop_assert_eq!(serve(&mut drr, &queues), book.serve(heads));
            }
        }

        /// Between two classes that always have packets, bytes over weights never differ by more than a
        /// quantum and a frame (Shreedhar and Varghese, Theorem 2, with one frame for each class).
        #[test]
        fn shares_differ_by_less_than_a_quantum_and_two_frames(
            quantum in 1_500u64..6_000,
            weight in 1u32..5,
            frames in proptest::collection::vec((64u64..=1_500, 64u64..=1_500), 200),
        ) {
            let mut drr = scheduler(quantum, Weights::default().with(Class(3), weight));
            let (mut next, mut sent) = ([0; 2], [0u64; 2]);
            let mut turns = Turns::at_most(1_000);
            while turns.go() && next.iter().all(|next| *next < frames.len()) {
                let heads = [frames[next[0]].0, frames[next[1]].1];
                let queues = [ready(3, 0, heads[0], Gate::Open), ready(5, 0, heads[1], Gate::Open)];
                let slot = usize::from(serve(&mut drr, &queues) == 5);
                next[slot] += 1;
                sent[slot] += heads[slot];
                let normalised = [sent[0] as f64 / f64::from(weight), sent[1] as f64];
                let bound = (quantum + 1_500 * 2) as f64;
                prop_assert!((normalised[0] - normalised[1]).abs() <= bound, "{sent:?}");
            }
        }
    }
}

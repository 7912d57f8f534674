//! Entropy values: how a sender chooses those of its packets, and what it learns of their paths.

use std::collections::VecDeque;

use floodway_units::cast::{low_u16, low_u32};
use floodway_units::{Rng, Span, Time, mix, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::QpInfo;

/// How the entropy values of packets are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "UetEntropy")]
pub enum Entropy {
    /// One value for all packets of a flow: one path. Source: ECMP.
    Fixed,
    /// Each value in turn, in an order drawn for each round. Source: UEC, section 3.6.16.
    Oblivious,
    /// Likewise, and values of marked, cut or lost packets are passed over. Source: UEC, section 3.6.16.4.
    Bitmap,
    /// Values of unmarked packets again, from a ring of 8. Source: REPS.
    Reps,
    /// Values of unmarked packets again, from a list without limit. Source: REPS, first version.
    RepsLegacy,
    /// Values of unmarked packets again, else as `bitmap`. Source: the Consortium's simulator.
    Mixed,
}

/// What a sender learns of the path of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// It arrived, unmarked.
    Good,
    /// It was marked.
    Marked,
    /// Its payload was cut.
    Cut,
    /// Nothing was heard of it.
    Timeout,
}

/// Values that are kept. Source: REPS.
const RING: usize = 8;
/// How long only known values are used after a timeout, and packets that explore then. Source: REPS.
const FREEZE: Span = Span::ms(10);
const EXPLORING: u32 = 16;
/// `uec_mp.cpp`: penalties of marks, cuts and timeouts, and their sum at most.
const PENALTIES: [u8; 3] = [1, 4, 15];
const MOST: u8 = 15;

/// The choice of one sender.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    kind: Entropy,
    mask: u32,
    /// Bits of the flow's values above those that change.
    upper: u32,
    rng: Rng,
    round: Round,
    /// By value.
    penalties: Vec<u8>,
    recycled: VecDeque<u16>,
    reps: Reps,
}

/// The turns of all values.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    at: u32,
    flips: u32,
}

/// The ring of REPS.
#[derive(Clone, Copy, Debug, Default)]
struct Reps {
    ring: [u16; RING],
    fresh: [bool; RING],
    head: usize,
    /// Values put into the ring so far that it still holds.
    held: usize,
    fresh_count: usize,
    /// Until when only known values are used.
    frozen: Option<Time>,
    exploring: u32,
    /// Where a frozen ring is read.
    reused: usize,
}

impl Choice {
    pub fn new(kind: Entropy, paths: u32, qp: &QpInfo) -> Self {
        let mask = paths - 1;
        let mut rng = stream(qp.key, 0, "entropy");
        let upper = low_u32(rng.next_u64()) & 0xFFFF & !mask;
        let flips = low_u32(rng.next_u64()) & mask;
        let spreads = matches!(kind, Entropy::Bitmap | Entropy::Mixed);
        Choice {
            kind,
            mask,
            upper,
            rng,
            round: Round { at: 0, flips },
            penalties: vec![0; if spreads { paths as usize } else { 0 }],
            recycled: VecDeque::new(),
            reps: Reps::default(),
        }
    }

    /// The value of packet `number`, where the window holds `packets`.
    pub fn next(&mut self, now: Time, number: u64, packets: u64) -> u16 {
        match self.kind {
            Entropy::Fixed => low_u16(mix(u64::from(self.upper))),
            Entropy::Oblivious => self.turn(),
            Entropy::Bitmap => self.passing_over(),
            Entropy::Mixed => match self.recycled.pop_front() {
                Some(value) => value,
                None => self.passing_over(),
            },
            Entropy::RepsLegacy => self.legacy(number, packets),
            Entropy::Reps => self.reps(now),
        }
    }

    /// What became of a packet with this value.
    pub fn learn(&mut self, now: Time, value: u16, feedback: Feedback) {
        let good = feedback == Feedback::Good;
        match self.kind {
            Entropy::RepsLegacy if good => self.recycled.push_back(value),
            Entropy::Reps if good => self.reps.keep(now, value),
            Entropy::Reps if feedback == Feedback::Timeout => self.reps.freeze(now),
            Entropy::Fixed | Entropy::Oblivious | Entropy::RepsLegacy | Entropy::Reps => {}
            Entropy::Bitmap | Entropy::Mixed => {
                let more = match feedback {
                    Feedback::Good => 0,
                    Feedback::Marked => PENALTIES[0],
                    Feedback::Cut => PENALTIES[1],
                    Feedback::Timeout => PENALTIES[2],
                };
                let penalty = &mut self.penalties[(u32::from(value) & self.mask) as usize];
                *penalty = (*penalty + more).min(MOST);
                if good && self.kind == Entropy::Mixed {
                    self.recycled.push_back(value);
                }
            }
        }
    }

    /// The next value of the round.
    fn turn(&mut self) -> u16 {
        let value = (self.round.at ^ self.round.flips) & self.mask | self.upper;
        self.round.at += 1;
        if self.round.at > self.mask {
            self.round = Round { at: 0, flips: low_u32(self.rng.next_u64()) & self.mask };
        }
        low_u16(value.into())
    }

    /// The next value of the round without a penalty. The first that is passed over loses one.
    fn passing_over(&mut self) -> u16 {
        let mut value = self.turn();
        for step in 0..=self.mask {
            let penalty = &mut self.penalties[(u32::from(value) & self.mask) as usize];
            // Section 3.6.16.4: values of congested paths are passed over.
            if *penalty == 0 {
                break;
            }
            if step == 0 {
                *penalty -= 1;
            }
            value = self.turn();
        }
        value
    }

    fn legacy(&mut self, number: u64, packets: u64) -> u16 {
        if number < packets.min(u64::from(self.mask) + 1) {
            return low_u16((self.turn_of(number) | self.upper).into());
        }
        match self.recycled.pop_front() {
            Some(value) => value,
            None => self.random(),
        }
    }

    /// 1, 2, ...
    fn turn_of(&self, number: u64) -> u32 {
        low_u32((number + 1) & u64::from(self.mask))
    }

    fn random(&mut self) -> u16 {
        low_u16((low_u32(self.rng.next_u64()) & self.mask | self.upper).into())
    }

    fn reps(&mut self, now: Time) -> u16 {
        if self.reps.frozen.is_some_and(|until| now >= until) {
            self.reps.frozen = None;
            self.reps.exploring = EXPLORING;
        }
        if self.reps.exploring > 0 {
            self.reps.exploring -= 1;
            return self.random();
        }
        match self.reps.next() {
            Some(value) => value,
            None => self.random(),
        }
    }
}

impl Reps {
    fn keep(&mut self, now: Time, value: u16) {
        if self.frozen.is_some_and(|until| now < until) {
            return;
        }
        if self.fresh[self.head] {
            self.fresh_count -= 1;
        }
        (self.ring[self.head], self.fresh[self.head]) = (value, true);
        self.fresh_count += 1;
        self.head = (self.head + 1) % RING;
        self.held = (self.held + 1).min(RING);
    }

    fn freeze(&mut self, now: Time) {
        if self.frozen.is_none() && self.exploring == 0 && self.held > 0 {
            self.frozen = Some(now + FREEZE);
        }
    }

    /// The oldest fresh value; a frozen ring is used again, in turn.
    fn next(&mut self) -> Option<u16> {
        if self.fresh_count > 0 {
            let oldest = (self.head + RING - self.fresh_count) % RING;
            self.fresh[oldest] = false;
            self.fresh_count -= 1;
            return Some(self.ring[oldest]);
        }
        if self.frozen.is_none() || self.held == 0 {
            return None;
        }
        let value = self.ring[self.reused % self.held];
        self.reused = (self.reused + 1) % self.held;
        Some(value)
    }
}

//! Ranks over an abstract network: messages take a time, in order between two ranks on a channel.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use floodway_programs::collective::Step;
use floodway_programs::walker::Ended;
use floodway_programs::{Message, Output, Posting, Program, SendCompletes, Walker};
use floodway_units::{Bytes, Time, Turns};
use proptest::prelude::*;

/// How long messages take.
pub trait Network {
    /// When the last byte of a message that is posted now arrives, and when its sender knows.
    fn send(&mut self, now: Time, from: u32, posting: &Posting) -> (Time, Time);
}

/// NICs of one rate that send and receive one byte after another, and a delay.
pub struct Nics {
    pub delay: u64,
    pub ps_per_byte: u64,
    pub sends_until: BTreeMap<u32, u64>,
    pub receives_until: BTreeMap<u32, u64>,
}

impl Nics {
    pub fn new(delay: u64, ps_per_byte: u64) -> Self {
        Nics { delay, ps_per_byte, sends_until: BTreeMap::new(), receives_until: BTreeMap::new() }
    }
}

impl Network for Nics {
    fn send(&mut self, now: Time, from: u32, posting: &Posting) -> (Time, Time) {
        let takes = posting.bytes.0 * self.ps_per_byte;
        let sends = self.sends_until.entry(from).or_default();
        let start = now.0.max(*sends);
        *sends = start + takes;
        let receives = self.receives_until.entry(posting.to).or_default();
        let end = (start + self.delay).max(*receives) + takes;
        *receives = end;
        (Time(end), Time(end))
    }
}

/// Ports of a GPU by kind of link, each with a delay and a rate, by the two ranks.
pub struct Kinds<F> {
    of: F,
    nics: BTreeMap<(u64, u64), Nics>,
}

impl<F: Fn(u32, u32) -> (u64, u64)> Kinds<F> {
    pub fn new(of: F) -> Self {
        Kinds { of, nics: BTreeMap::new() }
    }
}

impl<F: Fn(u32, u32) -> (u64, u64)> Network for Kinds<F> {
    fn send(&mut self, now: Time, from: u32, posting: &Posting) -> (Time, Time) {
        let kind = (self.of)(from, posting.to);
        self.nics.entry(kind).or_insert_with(|| Nics::new(kind.0, kind.1)).send(now, from, posting)
    }
}

/// Any delays, drawn one after another.
pub struct Drawn(pub Vec<u64>, pub usize, pub BTreeMap<(u32, u32, u32), u64>);

impl Network for Drawn {
    fn send(&mut self, now: Time, from: u32, posting: &Posting) -> (Time, Time) {
        self.1 += 1;
        let drawn = self.0[self.1 % self.0.len()];
        let last = self.2.entry((from, posting.to, posting.channel)).or_default();
        *last = (now.0 + drawn).max(*last);
        (Time(*last), Time(*last + drawn / 3))
    }
}

/// What happened.
#[derive(Debug, Default)]
pub struct History {
    /// Messages in the order of posting: time, sender, message.
    pub postings: Vec<(Time, u32, Posting)>,
    /// Of each of them: when it arrived, when its sender knew, and when it had left.
    pub completions: Vec<[Time; 3]>,
    /// Messages in the order of arrival.
    pub arrivals: Vec<(Time, u32, u32, Message)>,
    /// By rank.
    pub ended: Vec<Vec<Ended>>,
    /// Their events, where predecessors are logged.
    pub events: Vec<Vec<u32>>,
    pub finished: Vec<Option<Time>>,
}

impl History {
    pub fn end(&self) -> Option<Time> {
        self.finished.iter().copied().collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    pub fn bytes_sent(&self, rank: u32) -> Bytes {
        let of = self.postings.iter().filter(|(_, from, _)| *from == rank);
        of.map(|(_, _, posting)| posting.bytes).sum()
    }
}

/// Executes a program until nothing more happens.
pub fn execute(program: &Program, network: &mut (impl Network + ?Sized)) -> History {
    let ranks = 0..program.ranks.len() as u32;
    let mut walkers: Vec<Walker> = ranks.map(|rank| Walker::new(program, rank, Time(0))).collect();
    execute_by(&mut walkers, program, network)
}

/// As [`execute`], with walkers of the caller's.
pub fn execute_by(
    walkers: &mut [Walker],
    program: &Program,
    network: &mut (impl Network + ?Sized),
) -> History {
    let ranks = walkers.len();
    let mut history = History {
        ended: vec![Vec::new(); ranks],
        events: vec![Vec::new(); ranks],
        finished: vec![None; ranks],
        ..History::default()
    };
    let (mut out, mut step) = (Output::default(), Step::default());
    let mut arrivals: BinaryHeap<Reverse<(Time, u32, u32, u64)>> = BinaryHeap::new();
    let mut turns = Turns::at_most(1_000_000);
    loop {
        turns.go();
        let next = walkers.iter().filter_map(Walker::next_time).min();
        let arrival = arrivals.peek().map(|Reverse(arrival)| arrival.0);
        let Some(now) = next.into_iter().chain(arrival).min() else { return history };
        while let Some(&Reverse((at, to, from, number))) = arrivals.peek()
            && at == now
        {
            arrivals.pop();
            history.arrivals.push((at, from, to, Message::of(number)));
            let message = Message::of(number);
            let arrival = program.arrival(from, message, &mut step);
            assert_eq!(arrival.to, to, "{message:?} of rank {from}");
            walkers[to as usize].received(at, from, message, arrival.step);
        }
        for (rank, walker) in (0..).zip(walkers.iter_mut()) {
            if walker.next_time() != Some(now) {
                continue;
            }
            walker.advance(program, now, &mut out);
            history.ended[rank as usize].append(&mut out.ended);
            history.events[rank as usize].append(&mut out.events);
            if std::mem::take(&mut out.finished) {
                history.finished[rank as usize] = Some(now);
            }
            for posting in out.postings.drain(..) {
                let (arrives, known) = network.send(now, rank, &posting);
                arrivals.push(Reverse((arrives, posting.to, rank, posting.message.number())));
                match program.send_completes {
                    SendCompletes::Acknowledged => walker.sent(known, posting.message),
                    SendCompletes::Received => walker.sent(arrives, posting.message),
                    SendCompletes::Issued => {}
                }
                let left = Time(now.0 + (arrives.0 - now.0) / 2);
                if program.in_turn {
                    walker.left(left, posting.channel);
                }
                history.postings.push((now, rank, posting));
                history.completions.push([arrives, known, left]);
            }
        }
    }
}

/// A change of a text: where, how many characters go, what comes.
pub type Change = (usize, usize, String);

/// Some changes, with what comes by a pattern.
pub fn changes(pattern: &'static str) -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((any::<usize>(), 0..12usize, pattern), 0..6)
}

/// A text of ASCII with changes.
pub fn changed(text: &str, changes: &[Change]) -> String {
    let mut text = text.to_owned();
    for (at, length, insert) in changes {
        let at = at % (text.len() + 1);
        text.replace_range(at..(at + length).min(text.len()), insert);
    }
    text
}

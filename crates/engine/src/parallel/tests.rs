//! A toy world: nodes that pass tokens on to neighbours that a hash of all they have seen chooses, so that one event
//! out of order changes everything after it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use floodway_units::{Span, Turns, mix};
use proptest::prelude::*;

use super::*;
use crate::epoch::EPOCH;
use crate::queue::{Event, Queue};

/// Links by node: the far end and the delay.
type Graph = Vec<Vec<(usize, u64)>>;

/// A token on its way: the node, when it arrives, its number.
#[derive(Clone, Copy, Debug)]
struct Word {
    node: usize,
    at: u64,
    token: u64,
}

/// What a partition is to do besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mishap {
    #[default]
    None,
    /// After so many events.
    Interrupt(usize),
    Panic(usize),
}

struct Toy<'a> {
    graph: &'a Graph,
    /// By node: its partition.
    home: &'a [usize],
    own: usize,
    queue: Queue,
    /// By node, of its own nodes: a hash of all it has seen.
    seen: Vec<u64>,
    /// By node: the number of its last events.
    events: Vec<usize>,
    total: usize,
    out: Vec<Vec<Word>>,
    /// Words between partitions go on by themselves over a second link.
    direct: bool,
    mishap: Mishap,
}

impl Toy<'_> {
    fn happen(&mut self, event: Event) {
        let (node, token) = ((event.order >> 32) as usize, event.order & u64::from(u32::MAX));
        let now = event.time.0;
        assert_eq!(self.home[node], self.own);
        self.seen[node] = mix(self.seen[node] ^ mix(now) ^ mix(token));
        self.events[node] += 1;
        self.total += 1;
        let (mut next, mut at) = self.hop(node, now, self.seen[node]);
        if self.direct && self.seen[node] >> 60 < 8 {
            (next, at) = self.hop(next, at, self.seen[node] >> 8);
        }
        self.send(Word { node: next, at, token });
    }

    fn hop(&self, node: usize, now: u64, random: u64) -> (usize, u64) {
        let links = &self.graph[node];
        let (next, delay) = links[(random % links.len() as u64) as usize];
        // Many at one instant, some late.
        (next, now + delay + if random >> 62 == 0 { random >> 20 & 1023 } else { 0 })
    }

    fn send(&mut self, word: Word) {
        let to = self.home[word.node];
        if to == self.own {
            self.queue.push(Time(word.at), (word.node as u64) << 32 | word.token, 0);
        } else {
            self.out[to].push(word);
        }
    }
}

impl Partition for Toy<'_> {
    type Batch = Vec<Word>;

    fn advance(&mut self, end: Time) -> Advance {
        let mut turns = Turns::at_most(1_000_000);
        while turns.go()
            && let Some(event) = self.queue.pop_before(end)
        {
            self.happen(event);
            match self.mishap {
                Mishap::Interrupt(after) if self.total >= after => return Advance::Interrupted,
                Mishap::Panic(after) => assert!(self.total < after, "the toy is broken"),
                _ => {}
            }
        }
        Advance::Reached
    }

    fn outgoing(&mut self, to: usize) -> Option<&mut Vec<Word>> {
        Some(&mut self.out[to]).filter(|words| !words.is_empty())
    }

    fn receive(&mut self, from: usize, batch: &mut Vec<Word>) {
        assert_ne!(from, self.own);
        for word in batch.drain(..) {
            self.send(word);
        }
    }
}

/// A run to be made.
#[derive(Clone, Debug)]
struct Plan {
    graph: Graph,
    tokens: usize,
    direct: bool,
    limit: u64,
}

impl Plan {
    fn lookahead(&self, home: &[usize], partitions: usize) -> Lookahead {
        let mut lookahead = Lookahead::new(partitions);
        for (node, links) in self.graph.iter().enumerate() {
            for &(far, delay) in links {
                lookahead.cut(home[node], home[far], Span(delay)).expect("each link has a delay");
            }
        }
        lookahead
    }

    fn toys<'a>(&'a self, home: &'a [usize], partitions: usize) -> Vec<Toy<'a>> {
        let nodes = self.graph.len();
        let mut toys: Vec<_> = (0..partitions)
            .map(|own| Toy {
                graph: &self.graph,
                home,
                own,
                queue: Queue::default(),
                seen: vec![0; nodes],
                events: vec![0; nodes],
                total: 0,
                out: vec![Vec::new(); partitions],
                direct: self.direct,
                mishap: Mishap::None,
            })
            .collect();
        for token in 0..self.tokens {
            let node = mix(token as u64) as usize % nodes;
            toys[home[node]].send(Word { node, at: token as u64 / 3, token: token as u64 });
        }
        toys
    }

    /// What each node has seen and how often, with nodes dealt out to partitions.
    fn run(&self, home: &[usize], threads: usize, letters: usize) -> Vec<(u64, usize)> {
        let partitions = home.iter().max().map_or(1, |last| last + 1);
        let toys = self.toys(home, partitions);
        let (limit, lookahead) = (Time(self.limit), self.lookahead(home, partitions));
        let (toys, now, how) = run_with_inboxes(toys, &lookahead, threads, limit, letters, |toys, _| {
            // What is between partitions at an epoch's end has been received.
            assert_eq!(toys.iter().map(|toy| toy.queue.len()).sum::<usize>(), self.tokens);
            false
        });
        assert_eq!((now, how), (limit, Advance::Reached));
        let of = |node: usize| (toys[home[node]].seen[node], toys[home[node]].events[node]);
        (0..self.graph.len()).map(of).collect()
    }
}

/// Nodes of a ring, and chords; a third of the delays is the shortest.
fn graph(nodes: usize, chords: Vec<(usize, usize)>, shortest: u64, seed: u64) -> Graph {
    let delay = |a: usize, b: usize| {
        let random = mix(seed ^ (a * nodes + b) as u64);
        if random.is_multiple_of(3) { shortest } else { shortest * (1 + random % 7) }
    };
    let ring = (0..nodes).flat_map(|i| [(i, (i + 1) % nodes), ((i + 1) % nodes, i)]);
    let mut graph = vec![Vec::new(); nodes];
    for (a, b) in ring.chain(chords.into_iter().map(|(a, b)| (a % nodes, b % nodes))) {
        graph[a].push((b, delay(a, b)));
    }
    graph
}

fn plan() -> impl Strategy<Value = Plan> {
    let chords = prop::collection::vec((0..12usize, 0..12usize), 0..12);
    // The shortest delay and the limit: windows from one picosecond to a third of an epoch.
    let scale = prop_oneof![Just((1, 800)), Just((500, 300_000)), Just((30_000_000, 330_000_000))];
    (2..12usize, chords, scale, any::<u64>(), 1..60usize, any::<bool>()).prop_map(
        |(nodes, chords, (shortest, limit), seed, tokens, direct)| Plan {
            graph: graph(nodes, chords, shortest, seed),
            tokens,
            direct,
            limit,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_node_sees_the_same_however_the_world_is_cut(
        plan in plan(),
        cut in prop::collection::vec(0..5usize, 12),
        letters in 1..20usize,
    ) {
        let nodes = plan.graph.len();
        let whole = plan.run(&vec![0; nodes], 1, 1);
        prop_assert!(whole.iter().map(|(_, events)| events).sum::<usize>() >= plan.tokens);
        for threads in 1..=4 {
            prop_assert_eq!(&plan.run(&cut[..nodes], threads, letters), &whole, "{} threads", threads);
        }
    }
}

fn busy() -> Plan {
    let chords = (0..8).map(|i| (i, i + 3)).collect();
    Plan { graph: graph(8, chords, 700, 5), tokens: 200, direct: true, limit: 1_000_000 }
}

/// Each node on its own.
const APART: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

#[test]
fn an_inbox_for_one_letter_is_room_enough() {
    let plan = busy();
    let whole = plan.run(&[0; 8], 1, 1);
    for threads in [1, 2, 3, 8, 20] {
        assert_eq!(plan.run(&APART, threads, 1), whole);
    }
}

#[test]
fn partitions_without_cuts_or_without_events_hold_nobody_up() {
    // Three rings of their own; the third has no tokens.
    let two = |first: usize| [vec![(first + 1, 900)], vec![(first, 900)]];
    let graph = (0..3).flat_map(|ring| two(2 * ring)).collect();
    let plan = Plan { graph, tokens: 0, direct: false, limit: 4_000_000 };
    let home = [0, 1, 2, 2, 3, 4];
    let run = |threads| {
        let mut toys = plan.toys(&home, 5);
        toys[0].send(Word { node: 0, at: 5, token: 1 });
        toys[2].send(Word { node: 2, at: 7, token: 2 });
        let limit = Time(plan.limit);
        let (toys, ..) = run_partitions(toys, &plan.lookahead(&home, 5), threads, limit, |_, _| false);
        toys.iter().map(|toy| toy.total).collect::<Vec<_>>()
    };
    let each = 4_000_000 / 900;
    for threads in 1..=5 {
        let totals = run(threads);
        assert!(totals[0] > 0 && totals[1] > 0 && totals[2] > 0, "{totals:?}");
        assert!(totals[2] <= each + 1 && totals[0] + totals[1] <= each + 1, "{totals:?}");
        assert_eq!(totals[3..], [0, 0]);
        assert_eq!(totals, run(1));
    }
}

#[test]
fn one_thread_looks_at_all_between_epochs_and_may_change_them() {
    let plan =
        Plan { limit: 10 * EPOCH.0, tokens: 20, graph: graph(8, Vec::new(), 2_000_000, 1), direct: false };
    let run = |home: &[usize], partitions: usize, threads: usize| {
        let toys = plan.toys(home, partitions);
        let mut epochs = Vec::new();
        let between = |toys: &mut [&mut Toy<'_>], now: Time| {
            let events: usize = toys.iter().map(|toy| toy.total).sum();
            epochs.push((now, events));
            // A word from outside, to the last node, by way of the first partition.
            toys[0].send(Word { node: 7, at: now.0 + 8 * 14_000_000, token: 1_000 + epochs.len() as u64 });
            epochs.len() == 4
        };
        let lookahead = plan.lookahead(home, partitions);
        let (toys, now, how) = run_partitions(toys, &lookahead, threads, Time(plan.limit), between);
        assert_eq!((now, how), (Time(4 * EPOCH.0), Advance::Reached));
        let seen: Vec<_> = (0..8).map(|node| toys[home[node]].seen[node]).collect();
        (epochs, seen)
    };
    let whole = run(&[0; 8], 1, 1);
    assert!(whole.0.windows(2).all(|pair| pair[0].1 < pair[1].1));
    for threads in 1..=4 {
        assert_eq!(run(&APART, 8, threads), whole);
    }
}

#[test]
fn an_interruption_ends_all_and_loses_no_word() {
    let plan = busy();
    for threads in 1..=4 {
        let mut toys = plan.toys(&APART, 8);
        toys[5].mishap = Mishap::Interrupt(50);
        let lookahead = plan.lookahead(&APART, 8);
        let (toys, now, how) =
            run_with_inboxes(toys, &lookahead, threads, Time(plan.limit), 1, |_, _| unreachable!());
        assert_eq!((now, how), (Time(plan.limit), Advance::Interrupted));
        assert_eq!(toys[5].total, 50);
        assert_eq!(toys.iter().map(|toy| toy.queue.len()).sum::<usize>(), plan.tokens);
    }
}

#[test]
fn a_panic_in_any_partition_or_between_epochs_comes_out() {
    let plan = busy();
    let lookahead = plan.lookahead(&APART, 8);
    for (threads, broken) in [(1, Some(0)), (2, Some(0)), (2, Some(7)), (4, Some(3)), (8, Some(6)), (3, None)]
    {
        let mut toys = plan.toys(&APART, 8);
        if let Some(broken) = broken {
            toys[broken].mishap = Mishap::Panic(30);
        }
        let between = |_: &mut [&mut Toy<'_>], _| panic!("the toy is broken");
        let run = || run_partitions(toys, &lookahead, threads, Time(plan.limit), between);
        let panic = catch_unwind(AssertUnwindSafe(run)).err().expect("it has panicked");
        let said = panic.downcast_ref::<&str>().expect("the panic's own words");
        assert_eq!(*said, "the toy is broken");
    }
}

#[test]
fn nothing_at_all_runs_to_its_limit() {
    let mut looks = 0;
    let limit = Time(EPOCH.0 * 5 / 2);
    let between = |_: &mut [&mut Toy<'_>], _| {
        looks += 1;
        false
    };
    let (toys, now, how) = run_partitions(Vec::new(), &Lookahead::new(0), 4, limit, between);
    assert_eq!((toys.len(), now, how), (0, limit, Advance::Reached));
    assert_eq!(looks, 3);
}

//! The writer of GOAL: what is written and read again sends the same messages, and takes the same time.

use std::collections::BTreeMap;

use floodway_programs::collective::{AlgorithmName, CrossNic, Purpose, Request, Seat};
use floodway_programs::read::goal as read;
use floodway_programs::training::{Model, Training};
use floodway_programs::write::goal as write;
use floodway_programs::{Kind, Order, Posting, Program, SendCompletes};
use floodway_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

use crate::support::{History, Network, execute};

/// NICs that send a byte a nanosecond, one message after another, and receive any number at once, 1 us later.
#[derive(Default)]
struct Senders(BTreeMap<u32, u64>);

impl Network for Senders {
    fn send(&mut self, now: Time, from: u32, posting: &Posting) -> (Time, Time) {
        let until = self.0.entry(from).or_default();
        *until = now.0.max(*until) + posting.bytes.0 * 1_000;
        let arrival = Time(*until + 1_000_000);
        (arrival, arrival)
    }
}

/// A program as GOAL, and what that cannot express.
fn written(program: &Program) -> (String, Vec<String>) {
    let mut text = Vec::new();
    let notes = write(program, &mut text).unwrap_or_else(|error| panic!("{error}"));
    (String::from_utf8(text).expect("it is text"), notes)
}

fn again(text: &str) -> Program {
    let program = read(text, "written.goal").unwrap_or_else(|error| panic!("{error}\n{text}")).program;
    assert_eq!(program.check(), Ok(()), "{text}");
    program
}

/// Messages by sender, receiver and size.
fn messages(history: &History) -> BTreeMap<(u32, u32, u64), u32> {
    let mut messages = BTreeMap::new();
    for (_, from, posting) in &history.postings {
        *messages.entry((*from, posting.to, posting.bytes.0)).or_default() += 1;
    }
    messages
}

/// Runs a program as GOAL has it, and what was written of it.
fn compare(program: &Program) {
    let (own, other) = ends(program);
    assert!(own.end().is_some());
    assert_eq!(messages(&own), messages(&other));
    assert_eq!(own.finished, other.finished, "{}", written(program).0);
}

fn ends(program: &Program) -> (History, History) {
    let issued = Program { send_completes: SendCompletes::Issued, ..program.clone() };
    let (text, _) = written(program);
    let run = |program: &Program| execute(program, &mut Senders::default());
    (run(&issued), run(&again(&text)))
}

fn collective(request: Request, ranks: u32, iterations: u32) -> Program {
    let program = Program::of_collectives(&[request], vec![(0..ranks).collect()], iterations);
    program.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_ring_is_written_step_by_step() {
    let program = collective(Request::new(Purpose::AllGather, Bytes(30)), 3, 1);
    let (text, notes) = written(&program);
    let rank = "rank 0 {\nl0: calc 0\nl1: send 10b to 1 tag 0\nl1 requires l0\nl2: recv 10b from 2 tag 0\n\
                l2 requires l0\nl3: send 10b to 1 tag 1\nl3 requires l2\nl4: recv 10b from 2 tag 1\nl4 requires l2\n}\n";
    assert!(text.starts_with(&format!("num_ranks 3\n{rank}rank 1 {{\n")), "{text}");
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("in GOAL a send is complete when it is issued"));
    compare(&program);
}

#[test]
fn every_algorithm_takes_the_same_time() {
    for op in Purpose::ALL {
        for &algorithm in AlgorithmName::of(op) {
            for ranks in [2, 4, 8] {
                let levels = match algorithm {
                    AlgorithmName::Hierarchical => Some(vec![2, ranks / 2]),
                    _ => None,
                };
                let request = Request {
                    algorithm: Some(algorithm),
                    reduce_rate: Some(Rate(4_000_000_000)),
                    levels,
                    ..Request::new(op, Bytes(8000))
                };
                compare(&collective(request, ranks, 2));
            }
        }
    }
}

#[test]
fn rings_and_trees_through_nodes_send_the_same() {
    for op in Purpose::ALL {
        for cross_nic in [CrossNic::Same, CrossNic::Next] {
            let request = Request { cross_nic, ..Request::new(op, Bytes(8000)) };
            let mut program = collective(request, 6, 2);
            let seat = |rank: u32| Seat {
                site: 0,
                node: rank / 3,
                nic: rank,
                gpu: rank % 3,
                domain: Some(rank / 3),
            };
            program.seat(&(0..6).map(seat).collect::<Vec<_>>()).expect("it can be met");
            // Slices share a NIC, which a schedule's messages leave in turn: it has no times of theirs.
            let (own, other) = ends(&program);
            assert_eq!(messages(&own), messages(&other));
            assert!(own.end().is_some() && other.end().is_some(), "{op:?} by {cross_nic:?}");
        }
    }
}

#[test]
fn a_training_iteration_takes_the_same_time() {
    let model = Model {
        layers: 4,
        hidden: 16,
        sequence: 32,
        parameters: 40_000,
        active_parameters: 40_000,
        experts_per_token: 0,
        experts: None,
    };
    let training = Training {
        model,
        layers: 4,
        tensor: 2,
        pipeline: 2,
        data: 2,
        expert: 1,
        micro_batch: 1,
        micro_batches: 3,
        element: 2,
        gradient: 2,
        layer: (Span::us(7), Span::us(11)),
        scatters: true,
        bucket: Bytes(1),
        algorithm: None,
        channels: 1,
        cross_nic: CrossNic::Alternate,
        pxn: true,
        iterations: 2,
    };
    let program = training.program().unwrap_or_else(|error| panic!("{error}"));
    compare(&program);
    // Computations of a rank follow one another, on one CPU beside that of what takes no time.
    let read = again(&written(&program).0);
    let units = read.graphs.iter().flat_map(|graph| &graph.operations).filter_map(|of| of.unit);
    assert_eq!(units.max(), Some(1));
}

/// A schedule whose operations are all kinds of GOAL.
const SCHEDULE: &str = "num_ranks 2
rank 0 {
l0: send 100b to 1 tag 7 cpu 1
l1: calc 500
l1 irequires l0
l2: recv 10b from -1 tag -1
l2 requires l1
l3: send 20b to 1 tag 4294967295 nic 3
}
rank 1 {
l0: recv 100b from 0 tag 7
l1: calc 20 cpu 3
l2: send 10b to 0 tag 0
l2 requires l0
l3: recv 20b from 0 tag 4294967295
}
";

#[test]
fn a_schedule_is_written_as_it_was() {
    let (text, notes) = written(&read(SCHEDULE, "a.goal").expect("it is GOAL").program);
    let text = text.replace("recv 1b from -1", "recv 10b from -1");
    assert_eq!((text.as_str(), notes.len()), (SCHEDULE, 0));
}

#[test]
fn what_goal_cannot_express_is_told_or_refused() {
    let mut program = read(SCHEDULE, "a.goal").expect("it is GOAL").program;
    program.iterations = 2;
    let error = write(&program, &mut Vec::new()).expect_err("its receives are open").to_string();
    assert_eq!(
        error,
        "a receive from any rank, or of any tag, cannot be told from collectives or later iterations in GOAL"
    );
    let request = Request { channels: 2, ..Request::new(Purpose::AllReduce, Bytes(4000)) };
    let mut program = collective(Request { reduce_rate: Some(Rate(7_000_000_000)), ..request }, 2, 1);
    program.order = Order::Listed;
    let (_, notes) = written(&program);
    let starts = [
        "in GOAL a send is complete when it is issued",
        "in GOAL the messages of a rank leave one after another",
        "times of computations are rounded to whole nanoseconds (4 computations)",
    ];
    assert_eq!(notes.len(), starts.len(), "{notes:?}");
    assert!(notes.iter().zip(starts).all(|(note, start)| note.starts_with(start)), "{notes:?}");
}

/// Operations of a rank that wait for earlier ones: the time of each computation, and which it requires.
fn computations() -> impl Strategy<Value = Vec<(u64, Vec<usize>)>> {
    let operation = (0..5u64, prop::collection::vec(any::<prop::sample::Index>(), 0..3));
    prop::collection::vec(operation, 1..12).prop_map(|operations| {
        let require = |(at, (time, before)): (usize, (u64, Vec<prop::sample::Index>))| {
            let mut before: Vec<usize> =
                before.into_iter().filter(|_| at > 0).map(|index| index.index(at)).collect();
            before.sort_unstable();
            before.dedup();
            (time, before)
        };
        operations.into_iter().enumerate().map(require).collect()
    })
}

proptest! {
    /// Computations that occupy no unit wait for none that they do not require, on whichever CPU they are.
    #[test]
    fn computations_wait_for_what_they_require_alone(computations in computations()) {
        let operations = computations.iter().map(|(time, before)| floodway_programs::Operation {
            kind: Kind::Compute { time: Span::ns(*time) },
            requires: before.iter().map(|&at| at as u32).collect(),
            requires_start: Vec::new(),
            unit: None,
            name: 0,
        });
        let program = Program {
            graphs: vec![floodway_programs::Graph::new(operations.collect())],
            ranks: vec![floodway_programs::Rank::default()],
            names: vec![String::new()],
            iterations: 2,
            ..Program::default()
        };
        compare(&program);
    }
}

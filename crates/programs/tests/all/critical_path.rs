//! Critical paths: by hand where that can be done, and of any program as sums of dependencies.

use std::collections::{BTreeMap, BTreeSet};

use floodway_programs::collective::{AlgorithmName, Plan, Purpose, Request, Step as CollectiveStep};
use floodway_programs::critical_path::{Extent, Step, StepKind, Target, critical_path};
use floodway_programs::walker::Ended;
use floodway_programs::{Graph, Kind, Message, Operation, Order, Program, Rank, SendCompletes, Walker};
use floodway_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

use crate::support::{Drawn, History, Network, Nics, execute_by};

/// Where nothing is full.
const MOST: usize = 1 << 20;

fn extent_of(program: &Program, target: Target, history: &History) -> Extent {
    let mut extent = Extent::new(program, target);
    for (rank, (ended, events)) in (0..).zip(history.ended.iter().zip(&history.events)) {
        let each = ended.iter().zip(events.iter().copied());
        each.for_each(|ended| extent.add(program, rank, ended));
    }
    extent
}

/// A run of a program, and the path of a target; the logs begin at its start.
fn path_of(
    program: &Program,
    network: impl Fn() -> Box<dyn Network>,
    target: Target,
) -> (History, Vec<Step>) {
    let once = |from: Time| {
        let ranks = 0..program.ranks.len() as u32;
        let mut walkers: Vec<Walker> = ranks.map(|rank| Walker::new(program, rank, Time(0))).collect();
        for walker in &mut walkers {
            walker.log_predecessors(from, MOST);
        }
        let history = execute_by(&mut walkers, program, &mut *network());
        let extent = extent_of(program, target, &history);
        let (start, end) = extent.complete().expect("all of it is complete");
        let path = critical_path(&extent, &walkers.iter().collect::<Vec<_>>()).expect("it has room");
        (history, path, start, end)
    };
    let (history, whole, start, end) = once(Time(0));
    let (_, path, ..) = once(start);
    assert_eq!(path, whole, "what was before the start does not matter");
    assert_sound(program, &history, &path, (start, end));
    (history, path)
}

/// The steps follow each other without a gap, and each is what it says.
fn assert_sound(program: &Program, history: &History, path: &[Step], (start, end): (Time, Time)) {
    assert_eq!(path.iter().map(|step| step.to.0 - step.from.0).sum::<u64>(), end.0 - start.0, "{path:#?}");
    if let (Some(first), Some(last)) = (path.first(), path.last()) {
        assert_eq!((first.from, last.to), (start, end));
    }
    for two in path.windows(2) {
        assert_eq!(two[0].to, two[1].from, "{two:?}");
        // What follows was done by the rank at which the step before ended.
        assert_eq!(two[0].rank, two[1].operation().0, "{two:?}");
    }
    for (index, step) in path.iter().enumerate() {
        assert_dependency(program, history, step, index == 0);
    }
}

/// The step began as the history says, or at the start of the path, and ended so.
fn assert_dependency(program: &Program, history: &History, step: &Step, is_first: bool) {
    let began =
        |from: Time| assert!(if is_first { from <= step.from } else { from == step.from }, "{step:?}");
    let posting = |from: u32, message: Message| {
        let is_it = |(_, rank, posting): &(Time, u32, floodway_programs::Posting)| {
            (*rank, posting.message) == (from, message)
        };
        let at = history.postings.iter().position(is_it).expect("it was posted");
        began(history.postings[at].0);
        (history.postings[at].2.to, history.completions[at])
    };
    match step.kind {
        StepKind::Message { from, message } => {
            let (to, [arrives, ..]) = posting(from, message);
            assert_eq!((to, arrives), (step.rank, step.to));
        }
        StepKind::Completion { message } => {
            let (_, [arrives, known, _]) = posting(step.rank, message);
            let received = program.send_completes == SendCompletes::Received;
            assert_eq!(if received { arrives } else { known }, step.to);
        }
        StepKind::Turn { message } => assert_eq!(posting(step.rank, message).1[2], step.to),
        StepKind::Computation { iteration, operation } => {
            let is_it = |ended: &&Ended| (ended.iteration, ended.operation) == (iteration, operation);
            let ended = history.ended[step.rank as usize].iter().find(is_it).expect("it is complete");
            began(ended.start);
            assert_eq!(ended.end, step.to);
        }
        StepKind::Reduction { operation, .. } => {
            let Kind::Collective { plan, .. } = program.operation_of(step.rank, operation).kind else {
                panic!("{step:?} is of no collective")
            };
            let took = step.to.0 - step.from.0;
            let times = reduce_times(&program.plans[plan as usize]);
            assert!(times.contains(&took) || is_first, "{step:?}: {times:?}");
        }
    }
}

/// What reductions of a collective take.
fn reduce_times(plan: &Plan) -> BTreeSet<u64> {
    let mut step = CollectiveStep::default();
    let mut times = BTreeSet::new();
    for (rank, slice) in (0..plan.ranks).flat_map(|rank| (0..plan.slices()).map(move |slice| (rank, slice))) {
        for number in 0..plan.steps(rank, slice) {
            plan.step(rank, slice, number, &mut step);
            times.insert(plan.reduce_time(step.reduce).0);
        }
    }
    times
}

fn operation(kind: Kind, requires: &[u32]) -> Operation {
    Operation { kind, requires: requires.to_vec(), requires_start: Vec::new(), unit: None, name: 0 }
}

fn compute(ps: u64) -> Kind {
    Kind::Compute { time: Span(ps) }
}

fn send(peer: u32, tag: u64) -> Kind {
    Kind::Send { peer, bytes: Bytes(10), tag, channel: 0 }
}

fn recv(peer: u32, tag: u64) -> Kind {
    Kind::Recv { peer: Some(peer), tag: Some(tag) }
}

/// Ranks with graphs of their own, each of which has all ranks as peers, and all of one group.
fn program(graphs: Vec<Vec<Operation>>) -> Program {
    let ranks = graphs.len() as u32;
    let rank = |rank| Rank { graph: rank, peers: (0..ranks).collect(), groups: Box::new([(0, rank)]) };
    Program {
        graphs: graphs.into_iter().map(Graph::new).collect(),
        ranks: (0..ranks).map(rank).collect(),
        groups: vec![(0..ranks).collect()],
        iterations: 1,
        ..Program::default()
    }
}

const WHOLE: Target = Target { iteration: 0, call: None };

/// (from, to, rank, kind) of each step.
fn table(path: &[Step]) -> Vec<(u64, u64, u32, &'static str)> {
    let name = |step: &Step| match step.kind {
        StepKind::Message { .. } => "message",
        StepKind::Completion { .. } => "completion",
        StepKind::Turn { .. } => "turn",
        StepKind::Computation { .. } => "computation",
        StepKind::Reduction { .. } => "reduction",
    };
    path.iter().map(|step| (step.from.0, step.to.0, step.rank, name(step))).collect()
}

/// Rank 1 waits for the computation of rank 0 and not for its own, which is shorter; rank 0 ends before.
#[test]
fn a_rank_that_waits_for_a_peer_has_the_peers_work_on_the_path() {
    let first = vec![operation(compute(500), &[]), operation(send(1, 0), &[0])];
    let second =
        vec![operation(compute(300), &[]), operation(recv(0, 0), &[]), operation(compute(50), &[0, 1])];
    let program = program(vec![first, second]);
    let (_, path) = path_of(&program, || Box::new(Nics::new(100, 2)), WHOLE);
    let expected = [(0, 500, 0, "computation"), (500, 620, 1, "message"), (620, 670, 1, "computation")];
    assert_eq!(table(&path), expected);
}

/// Two computations of one unit: the second one, which could have started at once, follows from the first.
#[test]
fn what_waits_for_a_unit_follows_from_what_occupied_it() {
    let on_unit = |ps| Operation { unit: Some(0), ..operation(compute(ps), &[]) };
    let (_, path) =
        path_of(&program(vec![vec![on_unit(70), on_unit(30)]]), || Box::new(Nics::new(1, 1)), WHOLE);
    assert_eq!(table(&path), [(0, 70, 0, "computation"), (70, 100, 0, "computation")]);
}

/// A ring of two with a reduction: a message, its reduction, and the message of the sum.
#[test]
fn a_ring_of_two_is_two_messages_and_a_reduction() {
    let mut request = Request::new(Purpose::AllReduce, Bytes(200));
    // A byte in 80 ps.
    (request.algorithm, request.reduce_rate) = (Some(AlgorithmName::Ring), Some(Rate::gbps(100)));
    let program = Program::of_collectives(&[request], vec![vec![0, 1]], 1).expect("it can be met");
    let target = Target { iteration: 0, call: Some((0, 0)) };
    let (_, path) = path_of(&program, || Box::new(Nics::new(1_000, 10)), target);
    let message = 1_000 + 100 * 10;
    let [there, reduced, end] = [message, message + 8_000, 2 * message + 8_000];
    let ranks: Vec<u32> = path.iter().map(|step| step.rank).collect();
    let first = ranks[0];
    assert_eq!(ranks, [first, first, 1 - first]);
    let expected = [
        (0, there, first, "message"),
        (there, reduced, first, "reduction"),
        (reduced, end, 1 - first, "message"),
    ];
    assert_eq!(table(&path), expected);
}

/// Rank 1 comes late to a collective: what kept it is on the path, and cut at the start of the first rank.
#[test]
fn a_late_rank_has_what_kept_it_on_the_path() {
    let request = Request::new(Purpose::AllReduce, Bytes(200));
    let call = Kind::Collective { plan: 0, group: 0, sequence: 0 };
    let late = |ps| vec![operation(compute(ps), &[]), operation(call, &[0])];
    let mut program = program(vec![late(100), late(700)]);
    program.plans = vec![Plan::new(&request, 2).expect("it can be met")];
    let target = Target { iteration: 0, call: Some((0, 0)) };
    let (_, path) = path_of(&program, || Box::new(Nics::new(1_000, 10)), target);
    assert_eq!(table(&path)[0], (100, 700, 1, "computation"));
    assert_eq!(path.len(), 3);
}

#[test]
fn a_log_without_room_gives_no_path() {
    let request = Request::new(Purpose::AllReduce, Bytes(800));
    let program = Program::of_collectives(&[request], vec![(0..8).collect()], 1).expect("it can be met");
    let mut walkers: Vec<Walker> = (0..8).map(|rank| Walker::new(&program, rank, Time(0))).collect();
    for walker in &mut walkers {
        walker.log_predecessors(Time(0), 3);
    }
    let history = execute_by(&mut walkers, &program, &mut Nics::new(1_000, 10));
    let extent = extent_of(&program, WHOLE, &history);
    assert!(extent.complete().is_some());
    assert_eq!(critical_path(&extent, &walkers.iter().collect::<Vec<_>>()), None);
}

/// What a random program does next, at all ranks at once or at one or two of them.
#[derive(Clone, Debug)]
struct Drawing {
    kind: u8,
    ranks: (u32, u32),
    size: u64,
    /// Which of the operations before it at its rank it requires, by bits; and to have started.
    requires: (u32, u32),
    unit: Option<u32>,
}

fn drawings() -> impl Strategy<Value = Vec<Drawing>> {
    let unit = prop::option::of(0..2u32);
    let one = (0..4u8, (0..16u32, 0..16u32), 1..2_000u64, (any::<u32>(), any::<u32>()), unit);
    let one =
        one.prop_map(|(kind, ranks, size, requires, unit)| Drawing { kind, ranks, size, requires, unit });
    prop::collection::vec(one, 1..25)
}

/// Without cycles: whatever an operation waits for was drawn before it.
fn drawn(drawings: &[Drawing], ranks: u32, (algorithm, rate): (usize, Option<u64>)) -> Program {
    let mut graphs: Vec<Vec<Operation>> = vec![Vec::new(); ranks as usize];
    let mut plans = Vec::new();
    let bits =
        |count: usize, bits: u32| (0..count.min(32) as u32).filter(|bit| bits >> bit & 5 == 5).collect();
    let mut add = |rank: u32, kind: Kind, drawing: &Drawing, unit: Option<u32>| {
        let graph = &mut graphs[rank as usize];
        let (requires, requires_start) =
            (bits(graph.len(), drawing.requires.0), bits(graph.len(), drawing.requires.1));
        graph.push(Operation { kind, requires, requires_start, unit, name: 0 });
    };
    for (number, drawing) in (0..).zip(drawings) {
        let from = drawing.ranks.0 % ranks;
        let to = (from + 1 + drawing.ranks.1 % (ranks - 1)) % ranks;
        match drawing.kind {
            0 => add(from, compute(drawing.size), drawing, drawing.unit),
            1 | 2 => {
                let tag = u64::from(number);
                let message = Kind::Send { peer: to, bytes: Bytes(drawing.size), tag, channel: number % 2 };
                add(from, message, drawing, drawing.unit);
                add(to, recv(from, tag), drawing, None);
            }
            _ => {
                let names = AlgorithmName::of(Purpose::AllReduce);
                let usual = [AlgorithmName::Ring, AlgorithmName::Direct, AlgorithmName::DoubleBinaryTree];
                let name = usual[algorithm % usual.len()];
                assert!(names.contains(&name));
                let mut request = Request::new(Purpose::AllReduce, Bytes(64 + drawing.size));
                (request.algorithm, request.channels) = (Some(name), 2);
                request.reduce_rate = rate.map(Rate::gbps);
                plans.push(Plan::new(&request, ranks).expect("it can be met"));
                let plan = plans.len() as u32 - 1;
                for rank in 0..ranks {
                    add(rank, Kind::Collective { plan, group: 0, sequence: plan }, drawing, None);
                }
            }
        }
    }
    Program { plans, ..program(graphs) }
}

proptest! {
    #[test]
    fn paths_add_up_and_are_dependencies(
        drawings in drawings(),
        ranks in 2..7u32,
        shape in (0..3usize, prop::option::of(1..100u64)),
        delays in prop::collection::vec(1..10_000u64, 1..50),
        completes in prop::sample::select(vec![
            SendCompletes::Acknowledged, SendCompletes::Issued, SendCompletes::Received,
        ]),
        (in_turn, listed) in any::<(bool, bool)>(),
        iterations in 1..3u32,
    ) {
        let mut program = drawn(&drawings, ranks, shape);
        (program.send_completes, program.in_turn, program.iterations) = (completes, in_turn, iterations);
        program.order = if listed { Order::Listed } else { Order::FirstReady };
        let network = || Box::new(Drawn(delays.clone(), 0, BTreeMap::new())) as Box<dyn Network>;
        for iteration in 0..iterations {
            path_of(&program, network, Target { iteration, call: None });
            for sequence in 0..program.plans.len() as u32 {
                path_of(&program, network, Target { iteration, call: Some((0, sequence)) });
            }
        }
    }
}

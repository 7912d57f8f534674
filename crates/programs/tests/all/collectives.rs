//! Every rank ends with what its collective computes, at the time of the closed form.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::slice;

use floodway_programs::collective::{AlgorithmName, CrossNic, Plan, Purpose, Request, Seat, Step, Transfer};
use floodway_programs::{Kind, Message, Program};
use floodway_units::{Bytes, Rate};
use proptest::prelude::*;

use crate::support::{Drawn, History, Kinds, Nics, execute};

/// Ranks whose contributions a byte has.
type Sum = BTreeSet<u32>;

/// The buffers of all ranks, byte by byte; and of an all-to-all the messages that a rank has, by the ranks
/// from and to which they go.
struct Buffers {
    bytes: Vec<Vec<Sum>>,
    messages: Vec<BTreeMap<(u64, u64), u64>>,
}

/// A message of a collective in full.
struct Carried {
    from_to: (u64, u64),
    bytes: u64,
    reduces: bool,
    /// Where it is held, by rank and slice, if its receiver passes it on.
    passed_on: Option<(u32, u32)>,
    sum: Vec<Sum>,
}

impl Buffers {
    fn new(request: &Request, plan: &Plan) -> Self {
        let (ranks, size) = (plan.ranks, moved(plan));
        let at_first = |rank: u32, byte: u64| {
            let own = match request.op {
                Purpose::AllReduce | Purpose::ReduceScatter | Purpose::Reduce | Purpose::Barrier => true,
                Purpose::AllGather | Purpose::Gather => plan.owner(byte) == rank,
                Purpose::Broadcast | Purpose::Scatter => rank == request.root,
                Purpose::AllToAll | Purpose::SendReceive => false,
            };
            if own { Sum::from([rank]) } else { Sum::new() }
        };
        let bytes = (0..ranks).map(|rank| (0..size).map(|byte| at_first(rank, byte)).collect()).collect();
        Buffers { bytes, messages: vec![BTreeMap::new(); ranks as usize] }
    }

    fn arrive(&mut self, to: u32, carried: Carried) {
        let begin = carried.from_to.1 as usize;
        for (at, sum) in carried.sum.into_iter().enumerate() {
            let here = &mut self.bytes[to as usize][begin + at];
            if carried.reduces {
                assert!(here.is_disjoint(&sum), "a contribution is added twice");
                here.extend(sum);
            } else {
                *here = sum;
            }
        }
    }
}

/// Do its messages go from one rank to another as they are?
fn is_of_messages(op: Purpose) -> bool {
    matches!(op, Purpose::AllToAll | Purpose::SendReceive)
}

/// The bytes of the buffer that are sent: at least one for each part.
fn moved(plan: &Plan) -> u64 {
    if plan.purpose == Purpose::AllToAll {
        return plan.size.0.max(plan.ranks.into());
    }
    let (mut step, mut end) = (Step::default(), plan.size.0);
    for (rank, slice) in (0..plan.ranks).flat_map(|rank| (0..plan.slices()).map(move |slice| (rank, slice))) {
        for at in 0..plan.steps(rank, slice) {
            plan.step(rank, slice, at, &mut step);
            end = step.sends.iter().map(|sent| sent.from_to.1 + sent.bytes.0).fold(end, u64::max);
        }
    }
    end
}

/// Replays a history over the buffers of all ranks: a message carries what its sender has when it is posted.
fn replay(program: &Program, request: &Request, history: &History) -> Buffers {
    let mut buffers = Buffers::new(request, program.plan(0, 0));
    // What ranks pass on, by rank and slice.
    let mut held: BTreeMap<(u32, u32), VecDeque<Vec<Sum>>> = BTreeMap::new();
    let mut carried: BTreeMap<(u32, Message), Carried> = BTreeMap::new();
    // At one instant what arrives is there before what is posted.
    let mut events: Vec<(u64, u32, usize)> = Vec::new();
    events.extend(history.arrivals.iter().enumerate().map(|(at, (time, ..))| (time.0, 0, at)));
    events.extend(history.postings.iter().enumerate().map(|(at, (time, ..))| (time.0, 1, at)));
    events.sort_unstable();
    for (_, kind, at) in events {
        if kind == 1 {
            let (_, from, posting) = &history.postings[at];
            let (slice, transfer) = transfer(program, *from, posting.message);
            let begin = transfer.from_to.0 as usize;
            let sum = if is_of_messages(request.op) {
                Vec::new()
            } else if transfer.at.0 < slice {
                held.get_mut(&(*from, slice)).and_then(VecDeque::pop_front).expect("it came before")
            } else {
                buffers.bytes[*from as usize][begin..begin + transfer.bytes.0 as usize].to_vec()
            };
            assert!(sum.iter().all(|sum| !sum.is_empty()), "rank {from} sends what it does not have");
            let message = Carried {
                from_to: transfer.from_to,
                bytes: transfer.bytes.0,
                reduces: reduces(program, transfer),
                passed_on: Some((transfer.to, transfer.at.0)).filter(|_| transfer.at.0 > slice),
                sum,
            };
            carried.insert((*from, posting.message), message);
        } else {
            let (_, from, to, message) = history.arrivals[at];
            let carried = carried.remove(&(from, message)).expect("what arrives was posted");
            if let Some(place) = carried.passed_on {
                held.entry(place).or_default().push_back(carried.sum);
            } else if is_of_messages(request.op) {
                let (last, first) = carried.from_to;
                *buffers.messages[to as usize].entry((first, last)).or_default() += carried.bytes;
            } else {
                buffers.arrive(to, carried);
            }
        }
    }
    assert!(carried.is_empty(), "all that was posted has arrived");
    buffers
}

/// The slice of a message, and its transfer.
fn transfer(program: &Program, from: u32, message: Message) -> (u32, Transfer) {
    let Kind::Collective { plan, .. } = program.graph_of(from).operations[message.operation as usize].kind
    else {
        panic!("a collective")
    };
    let plan = program.plan(plan, 0);
    let (slice, step, place) = plan.place(message.transfer);
    let mut memory = Step::default();
    plan.step(from, slice, step, &mut memory);
    (slice, memory.sends[place as usize])
}

fn reduces(program: &Program, transfer: Transfer) -> bool {
    let mut memory = Step::default();
    program.plan(0, 0).step(transfer.to, transfer.at.0, transfer.at.1, &mut memory);
    memory.reduce > Bytes(0)
}

fn check(request: &Request, seats: &[Seat], delays: Vec<u64>, iterations: u32) -> History {
    let ranks = seats.len() as u32;
    let mut program =
        Program::of_collectives(slice::from_ref(request), vec![(0..ranks).collect()], iterations)
            .expect("it can be met");
    program.seat(seats).expect("it can be met");
    let history = execute(&program, &mut Drawn(delays, 0, BTreeMap::new()));
    assert!(history.end().is_some(), "{request:?} of {ranks} ranks ends");
    if iterations > 1 {
        return history;
    }
    let buffers = replay(&program, request, &history);
    let all: Sum = (0..ranks).collect();
    for rank in 0..ranks {
        for (byte, sum) in buffers.bytes[rank as usize].iter().enumerate() {
            let owner = program.plan(0, 0).owner(byte as u64);
            let expected = match request.op {
                Purpose::AllReduce | Purpose::Barrier => all.clone(),
                Purpose::ReduceScatter if owner == rank => all.clone(),
                Purpose::Reduce if rank == request.root => all.clone(),
                Purpose::AllGather => Sum::from([owner]),
                Purpose::Gather if rank == request.root => Sum::from([owner]),
                Purpose::Broadcast => Sum::from([request.root]),
                Purpose::Scatter if owner == rank => Sum::from([request.root]),
                _ => continue,
            };
            assert_eq!(sum, &expected, "{request:?}: byte {byte} of rank {rank} of {ranks}");
        }
        if request.op == Purpose::AllToAll {
            for from in (0..ranks).filter(|&from| from != rank) {
                let bound = |at: u64| moved(program.plan(0, 0)) * at / u64::from(ranks);
                let size = bound(u64::from(rank) + 1) - bound(u64::from(rank));
                let key = (u64::from(from), u64::from(rank));
                let got = buffers.messages[rank as usize].get(&key).copied().unwrap_or_default();
                assert_eq!(got, size, "{request:?}: from {from} to {rank}");
            }
        }
        if request.op == Purpose::SendReceive {
            let from = (rank + ranks - 1) % ranks;
            let key = (u64::from(from), u64::from(rank));
            assert_eq!(buffers.messages[rank as usize], BTreeMap::from([(key, request.size.0)]));
        }
    }
    history
}

fn requests() -> impl Strategy<Value = (Request, u32)> {
    let ops = prop::sample::select(Purpose::ALL.to_vec());
    (ops, 2..17u32, 0..8usize, 1..4u32, prop::option::of(1..40u64), 1..200u64, any::<u32>()).prop_map(
        |(op, ranks, algorithm, channels, chunk, size, other)| {
            let algorithms = AlgorithmName::of(op);
            let algorithm = algorithms[algorithm % algorithms.len()];
            let mut ranks = ranks;
            if algorithm == AlgorithmName::HalvingDoubling {
                ranks = ranks.next_power_of_two().min(16);
            }
            let mut request = Request::new(op, Bytes(size));
            (request.algorithm, request.channels) = (Some(algorithm), channels);
            request.chunk = chunk.map(Bytes);
            if algorithm == AlgorithmName::Hierarchical {
                let inner = (2..=ranks).find(|inner| ranks % inner == 0).unwrap_or(ranks);
                let rest = ranks / inner;
                let middle = (2..=rest).find(|middle| rest % middle == 0).unwrap_or(1);
                request.levels = Some(vec![inner, middle, rest / middle]);
            }
            if algorithm == AlgorithmName::Pairwise {
                request.window = Some(1 + other % ranks);
            }
            if op.has_root() {
                request.root = other % ranks;
            }
            (request, ranks)
        },
    )
}

/// Ranks that are alone.
fn alone(ranks: u32) -> Vec<Seat> {
    (0..ranks).map(|rank| Seat { site: 0, node: rank, nic: rank, gpu: 0, domain: None }).collect()
}

/// Ranks in any nodes, on any of their NICs; some of no domain.
fn seats(ranks: u32) -> impl Strategy<Value = Vec<Seat>> {
    let place = (0..4u32, 0..4u32, 0..4u32, prop::bool::weighted(0.9));
    prop::collection::vec(place, ranks as usize).prop_map(|places| {
        let seat = |(node, nic, gpu, inside): (u32, u32, u32, bool)| Seat {
            site: 0,
            node,
            nic: 4 * node + nic,
            gpu,
            domain: inside.then_some(node),
        };
        places.into_iter().map(seat).collect()
    })
}

fn cross_nic() -> impl Strategy<Value = CrossNic> {
    prop::sample::select(vec![CrossNic::Same, CrossNic::Alternate, CrossNic::Next])
}

/// Requests, and where their ranks are.
fn seated() -> impl Strategy<Value = (Request, Vec<Seat>)> {
    (requests(), cross_nic(), any::<bool>()).prop_flat_map(|((request, ranks), cross_nic, pxn)| {
        (Just(Request { cross_nic, pxn, ..request }), prop_oneof![Just(alone(ranks)), seats(ranks)])
    })
}

proptest! {
    #[test]
    fn every_rank_ends_with_every_contribution(
        (request, seats) in seated(),
        delays in prop::collection::vec(1..10_000u64, 1..50),
        rate in prop::option::of(1..100u64),
    ) {
        let request = Request { reduce_rate: rate.map(Rate::gbps), ..request };
        check(&request, &seats, delays, 1);
    }

    #[test]
    fn iterations_follow_each_other(
        (request, seats) in seated(), delays in prop::collection::vec(1..10_000u64, 1..50),
    ) {
        let history = check(&request, &seats, delays, 3);
        for ended in &history.ended {
            prop_assert_eq!(ended.len(), 3);
            prop_assert!(ended.windows(2).all(|two| two[0].end <= two[1].start));
        }
    }
}

#[test]
fn a_ring_takes_the_time_of_its_closed_form() {
    for ranks in [2, 3, 8, 13] {
        let size = 9_000 * u64::from(ranks);
        for (op, passes) in [(Purpose::AllReduce, 2), (Purpose::ReduceScatter, 1), (Purpose::AllGather, 1)] {
            let request = Request::new(op, Bytes(size));
            let program = Program::of_collectives(slice::from_ref(&request), vec![(0..ranks).collect()], 1)
                .expect("it can be met");
            let history = execute(&program, &mut Nics::new(700, 80));
            let steps = passes * u64::from(ranks - 1);
            assert_eq!(
                history.end().map(|end| end.0),
                Some(steps * (700 + 9_000 * 80)),
                "{op:?}, {ranks} ranks"
            );
            assert_eq!(history.bytes_sent(0).0, steps * 9_000);
        }
    }
}

#[test]
fn reductions_take_their_time_in_the_first_half_of_a_ring() {
    let mut request = Request::new(Purpose::AllReduce, Bytes(8_000));
    request.reduce_rate = Some(Rate::gbps(8));
    let program =
        Program::of_collectives(slice::from_ref(&request), vec![(0..8).collect()], 1).expect("it can be met");
    let history = execute(&program, &mut Nics::new(700, 80));
    // A byte a nanosecond.
    assert_eq!(history.end().map(|end| end.0), Some(14 * (700 + 80_000) + 7 * 1_000_000));
}

#[test]
fn halving_and_doubling_takes_two_steps_a_bit() {
    let mut request = Request::new(Purpose::AllReduce, Bytes(16_000));
    request.algorithm = Some(AlgorithmName::HalvingDoubling);
    let program = Program::of_collectives(slice::from_ref(&request), vec![(0..16).collect()], 1)
        .expect("it can be met");
    let history = execute(&program, &mut Nics::new(700, 80));
    assert_eq!(history.end().map(|end| end.0), Some(8 * 700 + 2 * 15_000 * 80));
}

#[test]
fn an_all_to_all_takes_the_bytes_of_all_others() {
    let algorithm = Some(AlgorithmName::Pairwise);
    let request = Request { algorithm, ..Request::new(Purpose::AllToAll, Bytes(8_000)) };
    let program =
        Program::of_collectives(slice::from_ref(&request), vec![(0..8).collect()], 1).expect("it can be met");
    let history = execute(&program, &mut Nics::new(700, 80));
    assert_eq!(history.end().map(|end| end.0), Some(7 * (700 + 1_000 * 80)));
}

/// What a rank sends to each other one, step by step.
fn sent(plan: &Plan, rank: u32) -> BTreeMap<u32, (u64, u64)> {
    let (mut step, mut sent) = (Step::default(), BTreeMap::new());
    for slice in 0..plan.slices() {
        for at in 0..plan.steps(rank, slice) {
            plan.step(rank, slice, at, &mut step);
            for transfer in &step.sends {
                let sum: &mut (u64, u64) = sent.entry(transfer.to).or_default();
                (sum.0, sum.1) = (sum.0 + 1, sum.1 + transfer.bytes.0);
            }
        }
    }
    sent
}

proptest! {
    #[test]
    fn what_a_rank_sends_in_all_is_the_sum_of_its_steps((request, seats) in seated(), size in 1..5_000u64) {
        let request = Request { size: Bytes(size), ..request };
        let ranks = seats.len() as u32;
        let mut program =
            Program::of_collectives(slice::from_ref(&request), vec![(0..ranks).collect()], 1).expect("it can be met");
        program.seat(&seats).expect("it can be met");
        let plan = program.plan(0, 0);
        for rank in 0..ranks {
            let mut counted = BTreeMap::new();
            plan.each_peer(rank, |to, messages, bytes| _ = counted.insert(to, (messages, bytes)));
            prop_assert_eq!(counted, sent(plan, rank), "{:?}", request);
        }
    }

    /// A ring for each NIC: each carries the same bytes in each direction, and where it stays on its rails,
    /// from GPU to GPU of one place in their nodes.
    #[test]
    fn all_nics_of_a_ring_carry_the_same_in_both_directions(
        nodes in 2..5u32, gpus in 1..5u32, channels in 1..4u32, cross_nic in cross_nic(),
        op in prop::sample::select(vec![Purpose::AllReduce, Purpose::AllGather, Purpose::ReduceScatter]),
    ) {
        let ranks = nodes * gpus;
        let size = u64::from(ranks * gpus * channels) * 60;
        let request = Request { channels, cross_nic, ..Request::new(op, Bytes(size)) };
        let mut program =
            Program::of_collectives(&[request], vec![(0..ranks).collect()], 1).expect("it can be met");
        let seat = |rank: u32| Seat { site: 0, node: rank / gpus, nic: rank, gpu: rank % gpus, domain: Some(rank / gpus) };
        program.seat(&(0..ranks).map(seat).collect::<Vec<_>>()).expect("it can be met");
        let (mut leave, mut arrive) = (vec![0; ranks as usize], vec![0; ranks as usize]);
        let mut changes = 0;
        for from in 0..ranks {
            program.plan(0, 0).each_peer(from, |to, _, bytes| {
                if from / gpus != to / gpus {
                    leave[from as usize] += bytes;
                    arrive[to as usize] += bytes;
                    changes += u32::from(from % gpus != to % gpus);
                }
            });
        }
        let passes = if op == Purpose::AllReduce { 2 } else { 1 };
        let of_nic = passes * u64::from(ranks - 1) * size / u64::from(ranks * gpus);
        prop_assert_eq!(&leave, &vec![of_nic; ranks as usize]);
        prop_assert_eq!(&arrive, &leave);
        let last_changes = nodes % 2 == 1 && gpus > 1;
        match cross_nic {
            CrossNic::Same => prop_assert_eq!(changes, 0),
            CrossNic::Alternate => prop_assert_eq!(changes, if last_changes { gpus } else { 0 }),
            CrossNic::Next => prop_assert_eq!(changes, if gpus > 1 { ranks } else { 0 }),
        }
    }
}

/// 390 GB/s of two nodes with eight NICs of 400G each: 2 (15/16) (S/8) / B.
#[test]
fn rings_through_all_nics_take_the_time_of_their_closed_form() {
    for cross_nic in [CrossNic::Same, CrossNic::Alternate, CrossNic::Next] {
        let request = Request { cross_nic, ..Request::new(Purpose::AllReduce, Bytes(128_000_000)) };
        let mut program =
            Program::of_collectives(&[request], vec![(0..16).collect()], 1).expect("it can be met");
        let seat =
            |rank: u32| Seat { site: 0, node: rank / 8, nic: rank, gpu: rank % 8, domain: Some(rank / 8) };
        program.seat(&(0..16).map(seat).collect::<Vec<_>>()).expect("it can be met");
        let network = |from: u32, to: u32| if from / 8 == to / 8 { (100, 1) } else { (1_000, 20) };
        let end = execute(&program, &mut Kinds::new(network)).end().expect("it ends").0;
        // Bytes of a NIC, and at most a delay and the messages of a node's ring a step.
        let (part, bytes) = (128_000_000 / 128, 30 * 128_000_000 / 128);
        let least = 20 * bytes;
        between(end, least, least + 30 * (1_000 + 9 * 100) + 16 * 9 * part);
    }
}

fn between(value: u64, least: u64, most: u64) {
    assert!((least..=most).contains(&value), "{least} <= {value} <= {most}");
}

#[test]
fn a_collective_of_nothing_is_over_at_once() {
    for op in Purpose::ALL.into_iter().filter(|op| *op != Purpose::Barrier) {
        for &algorithm in AlgorithmName::of(op) {
            let request = Request { algorithm: Some(algorithm), ..Request::new(op, Bytes::ZERO) };
            let program =
                Program::of_collectives(&[request], vec![(0..8).collect()], 2).expect("it can be met");
            let history = execute(&program, &mut Nics::new(700, 80));
            assert_eq!(history.end().map(|end| end.0), Some(0), "{op:?} by {algorithm:?}");
            assert!(history.postings.is_empty());
        }
    }
}

#[test]
fn levels_that_are_not_given_are_those_of_the_seats() {
    let algorithm = Some(AlgorithmName::Hierarchical);
    let request = Request { algorithm, ..Request::new(Purpose::AllReduce, Bytes(9_600)) };
    let mut program = Program::of_collectives(&[request], vec![(0..24).collect()], 1).expect("it can be met");
    let seat = |rank: u32| Seat { site: rank / 12, node: rank / 4, nic: rank, gpu: rank % 4, domain: None };
    let mut seats: Vec<Seat> = (0..24).map(seat).collect();
    program.seat(&seats).expect("they are in order");
    assert_eq!(program.plan(0, 0).levels(), [4, 3, 2]);
    seats.swap(0, 5);
    let error = program.seat(&seats).expect_err("a node is in two places");
    assert!(error.to_string().starts_with("levels: the ranks of a group are not equally many"), "{error}");
}

/// 2^24 slices of a byte: to go through them for each rank takes seconds.
#[test]
fn what_a_rank_sends_in_all_takes_no_time_for_many_slices() {
    for op in [Purpose::AllReduce, Purpose::AllGather, Purpose::Broadcast, Purpose::AllToAll] {
        for &algorithm in AlgorithmName::of(op) {
            let mut request = Request::new(op, Bytes(1 << 22));
            (request.algorithm, request.chunk) = (Some(algorithm), Some(Bytes(1)));
            if algorithm == AlgorithmName::Hierarchical {
                request.levels = Some(vec![2, 2]);
            }
            let Ok(plan) = Plan::new(&request, 4) else { continue };
            let begun = std::time::Instant::now();
            for rank in 0..4 {
                plan.each_peer(rank, |_, _, _| {});
            }
            // A microsecond is what one of the slices took.
            assert!(begun.elapsed().as_millis() < 50, "{algorithm:?}: {:?}", begun.elapsed());
        }
    }
}

/// The largest message that any rank sends.
fn largest_message(request: &Request, ranks: u32) -> u64 {
    let plan = Plan::new(request, ranks).expect("it can be met");
    let (mut step, mut largest) = (Step::default(), 0);
    for (rank, slice) in (0..ranks).flat_map(|rank| (0..plan.slices()).map(move |slice| (rank, slice))) {
        for at in 0..plan.steps(rank, slice) {
            plan.step(rank, slice, at, &mut step);
            largest = step.sends.iter().map(|transfer| transfer.bytes.0).fold(largest, u64::max);
        }
    }
    largest
}

proptest! {
    #[test]
    fn no_message_is_larger_than_a_chunk((request, ranks) in requests(), chunk in 1..2_000u64, size in 16..64u64) {
        // Large enough that each rank has a byte of every piece.
        let size = Bytes(size * u64::from(ranks) * u64::from(request.channels) * 100);
        let request = Request { size, chunk: Some(Bytes(chunk.max(size.0 / 200))), ..request };
        prop_assert!(largest_message(&request, ranks) <= request.chunk.unwrap_or_default().0, "{request:?}");
    }
}

#[test]
fn the_largest_sizes_and_the_smallest_chunks_are_refused_in_words() {
    for algorithm in AlgorithmName::of(Purpose::AllReduce) {
        let mut request = Request::new(Purpose::AllReduce, Bytes(u64::MAX));
        (request.algorithm, request.channels) = (Some(*algorithm), 256);
        request.chunk = Some(Bytes(1));
        if *algorithm == AlgorithmName::Hierarchical {
            request.levels = Some(vec![2, 4]);
        }
        let error = Plan::new(&request, 8).expect_err("too many messages");
        assert_eq!(error.key, "chunk", "{algorithm:?}: {error}");
    }
}

#[test]
fn a_rank_in_two_groups_is_refused() {
    let request = Request::new(Purpose::AllReduce, Bytes(8_000));
    let both = Program::of_collectives(slice::from_ref(&request), vec![vec![0, 1], vec![1, 2]], 1);
    let error = both.expect_err("rank 1 is in both");
    assert_eq!(error.to_string(), "groups: rank 1 is in group 0 and in group 1; it may be in one");
    let twice = Program::of_collectives(slice::from_ref(&request), vec![vec![0, 1, 0]], 1);
    let error = twice.expect_err("rank 0 is there twice");
    assert_eq!(error.to_string(), "groups: rank 0 is in group 0 twice");
}

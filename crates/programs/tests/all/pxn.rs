//! Messages from rank to rank leave a node by the NIC of the receiver's rail (NCCL's PXN).

use std::slice;

use floodway_programs::Program;
use floodway_programs::collective::{AlgorithmName, Plan, Purpose, Request, Seat};
use floodway_programs::read::{self, Options};
use floodway_units::Bytes;
use proptest::prelude::*;

use crate::support::{Kinds, execute};

/// Nodes of so many GPUs, each with a NIC of its own, or of so many GPUs a NIC.
fn nodes(nodes: u32, gpus: u32, per_nic: u32) -> Vec<Seat> {
    let seat = |rank: u32| {
        let (node, gpu) = (rank / gpus, rank % gpus);
        Seat { site: 0, node, nic: rank / per_nic, gpu, domain: Some(node) }
    };
    (0..nodes * gpus).map(seat).collect()
}

fn program(request: &Request, seats: &[Seat]) -> Program {
    let group = (0..seats.len() as u32).collect();
    let mut program =
        Program::of_collectives(slice::from_ref(request), vec![group], 1).expect("it can be met");
    program.seat(seats).expect("it can be met");
    program
}

/// Bytes between nodes: of each rank those that it sends and receives, and how many change rails.
fn between_nodes(plan: &Plan, seats: &[Seat]) -> (Vec<u64>, Vec<u64>, u64) {
    let (mut leave, mut arrive, mut change) = (vec![0; seats.len()], vec![0; seats.len()], 0);
    for (from, sender) in seats.iter().enumerate() {
        plan.each_peer(from as u32, |to, _, bytes| {
            let receiver = &seats[to as usize];
            if sender.node != receiver.node {
                leave[from] += bytes;
                arrive[to as usize] += bytes;
                change += if sender.gpu == receiver.gpu { 0 } else { bytes };
            }
        });
    }
    (leave, arrive, change)
}

fn exchanges() -> impl Strategy<Value = Request> {
    let all_to_all = (prop::bool::ANY, 1..5u32).prop_map(|(direct, window)| {
        let algorithm = Some(if direct { AlgorithmName::Direct } else { AlgorithmName::Pairwise });
        let window = (!direct).then_some(window);
        Request { algorithm, window, ..Request::new(Purpose::AllToAll, Bytes(0)) }
    });
    let others = prop::sample::select(vec![Purpose::Gather, Purpose::Scatter, Purpose::SendReceive]);
    prop_oneof![all_to_all, others.prop_map(|op| Request::new(op, Bytes(0)))]
}

proptest! {
    /// Where each rail connects the GPUs of one number, nothing changes rails: a network of rails alone can
    /// carry it.
    #[test]
    fn no_message_changes_rails(
        request in exchanges(), size in 1..100_000u64, channels in 1..4u32, node in 2..5u32, gpus in 2..9u32,
    ) {
        let seats = nodes(node, gpus, 1);
        let request = Request { size: Bytes(size), channels, ..request };
        let (_, _, change) = between_nodes(program(&request, &seats).plan(0, 0), &seats);
        prop_assert_eq!(change, 0);
    }

    /// All NICs carry the same, as they do without relays, and then messages change rails.
    #[test]
    fn all_nics_of_an_all_to_all_carry_the_same(node in 2..5u32, gpus in 2..9u32, part in 1..1_000u64) {
        let seats = nodes(node, gpus, 1);
        let ranks = u64::from(node * gpus);
        let of_nic = u64::from(gpus * (node - 1)) * part;
        for pxn in [false, true] {
            let request = Request { pxn, ..Request::new(Purpose::AllToAll, Bytes(part * ranks)) };
            let (leave, arrive, change) = between_nodes(program(&request, &seats).plan(0, 0), &seats);
            prop_assert_eq!(&leave, &vec![of_nic; seats.len()]);
            prop_assert_eq!(&arrive, &leave);
            prop_assert_eq!(change, if pxn { 0 } else { ranks * u64::from((gpus - 1) * (node - 1)) * part });
        }
    }
}

/// Two nodes with eight NICs of 400G each: 8/16 of a rank's buffer over its NIC.
#[test]
fn an_all_to_all_takes_the_time_of_its_nics() {
    let size = 160_000_000;
    let program = program(&Request::new(Purpose::AllToAll, Bytes(size)), &nodes(2, 8, 1));
    // Each GPU has a port to its own node of 8 Tbit/s, and a NIC.
    let network = |from: u32, to: u32| if from / 8 == to / 8 { (100, 1) } else { (1_000, 20) };
    let end = execute(&program, &mut Kinds::new(network)).end().expect("it ends").0;
    let least = size / 16 * 8 * 20;
    // A NIC waits for the first pieces of the other GPUs, and these are 64 of a message at most; those of
    // other nodes' GPUs are posted among those of the own node, 14 for one of its NIC.
    let piece = size / 16 / 64;
    assert!((least..=least + 1_100 + 64 * piece).contains(&end), "{least} {end}");
}

#[test]
fn messages_of_all_gpus_for_one_receiver_share_a_queue_pair() {
    let program = program(&Request::new(Purpose::AllToAll, Bytes(16_000)), &nodes(2, 8, 1));
    // Rank 3 sends to all of its node, and what all have for rank 11.
    let to: Vec<u32> = program.receivers_of(3).into_iter().collect();
    assert_eq!(to, [0, 1, 2, 4, 5, 6, 7, 11]);
    program.plan(0, 0).each_peer(3, |to, messages, bytes| {
        // Its own message and one that this rank passes on, or one from each GPU of the node.
        assert_eq!((messages, bytes), if to == 11 { (8, 8_000) } else { (2, 2_000) });
    });
}

#[test]
fn a_gpu_sends_by_itself_where_no_other_one_has_the_nic() {
    let all_to_all = Request::new(Purpose::AllToAll, Bytes(16_000));
    let direct = |seats: &[Seat]| {
        let (seated, plain) = (program(&all_to_all, seats), Request { pxn: false, ..all_to_all.clone() });
        (0..seats.len() as u32)
            .all(|rank| seated.receivers_of(rank) == program(&plain, seats).receivers_of(rank))
    };
    assert!(!direct(&nodes(2, 4, 2)), "GPUs 0 and 1 share a NIC, 2 and 3 another one");
    assert!(direct(&nodes(2, 4, 4)), "a NIC a node");
    assert!(direct(&nodes(4, 1, 1)), "a GPU a node");
    assert!(direct(&nodes(1, 8, 1)), "one node");
    let mut seats = nodes(2, 4, 1);
    for seat in &mut seats {
        seat.domain = None;
    }
    assert!(direct(&seats), "no scale-up domain");
    // GPUs 0 and 1 of one node and 2 and 3 of the other: the NIC of no receiver is there.
    let apart: Vec<Seat> = [0, 1, 6, 7].map(|rank| nodes(2, 4, 1)[rank]).into();
    assert!(direct(&apart), "other numbers");
}

/// NCCL's rule for NICs that several GPUs have: the first of these sends, but for one that has it, too.
#[test]
fn the_first_gpu_of_a_shared_nic_passes_messages_on() {
    let program = program(&Request::new(Purpose::AllToAll, Bytes(8_000)), &nodes(2, 4, 2));
    let receivers = |rank| program.receivers_of(rank).into_iter().collect::<Vec<_>>();
    assert_eq!(receivers(0), [1, 2, 3, 4, 5]);
    assert_eq!(receivers(1), [0, 2, 3, 4, 5]);
    assert_eq!(receivers(2), [0, 1, 3, 6, 7]);
}

/// `AS_PXN_ENABLE` of `SimAI` is off unless it is set.
#[test]
fn workloads_of_simai_have_it_where_it_is_asked_for() {
    let text = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4 \
        checkpoints: 0 checkpoint_initiates: 0\n1\nlayer -1 1000 ALLTOALL 4000 1 NONE 0 1 NONE 0 1\n";
    for (pxn, expected) in [(None, false), (Some(false), false), (Some(true), true)] {
        let options = Options { pxn, ..Options::default() };
        let mut program = read::simai(text, "w.txt", &options).expect("it is one").program;
        program.seat(&nodes(2, 2, 1)).expect("it can be met");
        assert_eq!(program.has_relays(), expected, "{pxn:?}");
    }
}

//! Collectives on an idle star take their closed form to the picosecond: headers, the packet that the switch
//! forwards as a whole, and acknowledgements included.
//!
//! A message takes α + m: m is its time at a NIC, α that of a link to the switch and one behind it, and of
//! its first packet at the switch. All ranks of these algorithms do the same at the same time, so that no
//! port of the switch has two packets at once unless a form says so. k are the steps, n the ranks, L the
//! slices (chunks, or channels), r is how long a rank reduces what arrives in a slice's step.

use floodway_fabric::outcome::Stopped;
use floodway_programs::SendCompletes;
use floodway_programs::collective::AlgorithmName::{
    BinomialTree, Direct, DoubleBinaryTree, HalvingDoubling, Hierarchical, Pairwise, Ring,
};
use floodway_programs::collective::Purpose::{
    AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter, SendReceive,
};
use floodway_programs::collective::{Purpose, Request};
use floodway_units::{Bytes, Rate};

use crate::support::jobs::{
    ACK, BYTE, FIRST, LINK, OTHER, collective, end, message, request, sent, spec, star,
};
use crate::support::run_on_one_thread_and_two;

/// α.
const WAY: u64 = FIRST * BYTE + 2 * LINK;
/// What the first packet of a message takes more than the others: where the switch's port is never idle
/// behind it, all the others are so much later.
const LARGER: u64 = (FIRST - OTHER) * BYTE;
/// What an ACK takes of a NIC, ahead of data that waits there.
const ANSWER: u64 = ACK * BYTE;
/// From the arrival of a message to its sender's knowledge of that.
const KNOWN: u64 = 2 * (ANSWER + LINK);
const PACKET: u64 = 1_000;

const NONE: &str = r#""none""#;
const ACKNOWLEDGED: &str = r#""go-back-n""#;

/// When the last rank of a collective is done.
fn end_of(request: &Request, ranks: u32, reliability: &str) -> u64 {
    end_with(request, ranks, reliability, SendCompletes::Acknowledged)
}

fn end_with(request: &Request, ranks: u32, reliability: &str, completes: SendCompletes) -> u64 {
    let (mut net, hosts) = star(ranks, reliability);
    let mut program = collective(request, ranks, 1);
    program.send_completes = completes;
    net.blueprint.workloads[0].arrivals = spec(program, hosts);
    let records = run_on_one_thread_and_two(&net);
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert_eq!(records.outcome.jobs[0].finished, u64::from(ranks));
    end(&records)
}

/// Phases of an operation: an all-reduce is a reduce-scatter and an all-gather.
const PHASES: [(Purpose, u64); 3] = [(AllReduce, 2), (ReduceScatter, 1), (AllGather, 1)];

/// Steps of a ring, whose every slice has one message at a time: a step of a slice follows its step before,
/// or the NIC's messages of all slices, whichever is later.
fn ring(steps: u64, slices: u64, m: u64) -> u64 {
    (steps - 1) * (WAY + m).max(slices * m) + WAY + slices * m
}

#[test]
fn a_ring_takes_its_steps_times_a_message() {
    for (op, passes) in PHASES {
        for ranks in [2, 3, 5, 8] {
            for (slices, packets) in [(1, 20), (3, 4), (4, 30)] {
                let size = u64::from(ranks) * slices * packets * PACKET;
                let chunk = Some(Bytes(packets * PACKET));
                let request = Request { chunk, ..request(op, Ring, size) };
                let form = ring(passes * u64::from(ranks - 1), slices, sent(packets));
                assert_eq!(end_of(&request, ranks, NONE), form, "{op:?}, {ranks}, {slices} of {packets}");
            }
        }
    }
}

/// Messages of one packet on queue pairs of their own: few, and so many that a NIC never waits.
#[test]
fn channels_of_a_ring_share_its_ports() {
    for (op, passes) in PHASES {
        for (ranks, channels) in [(2, 3), (5, 4), (4, 40)] {
            let size = u64::from(ranks * channels) * PACKET;
            let request = Request { channels, ..request(op, Ring, size) };
            let form = ring(passes * u64::from(ranks - 1), u64::from(channels), sent(1));
            assert_eq!(end_of(&request, ranks, NONE), form, "{op:?}, {ranks} ranks, {channels} channels");
        }
    }
}

#[test]
fn messages_handed_round_a_ring_take_a_step_for_each_place() {
    for ranks in [2_u32, 3, 4, 7] {
        for (slices, packets) in [(1, 10), (3, 2), (2, 40)] {
            let size = u64::from(ranks) * slices * packets * PACKET;
            let chunk = Some(Bytes(packets * PACKET));
            let request = Request { chunk, ..request(AllToAll, Ring, size) };
            let form = ring(u64::from(ranks * (ranks - 1) / 2), slices, sent(packets));
            assert_eq!(end_of(&request, ranks, NONE), form, "{ranks} ranks, {slices} of {packets}");
        }
    }
}

/// A rate at which a packet's payload takes so long.
fn reduces_in(rate: u64) -> (Option<Rate>, u64) {
    (Some(Rate::gbps(rate)), PACKET * 8_000 / rate)
}

/// NIC and reduction take turns: the slower of them may keep a ring of several slices busy.
#[test]
fn reductions_are_a_second_port_of_a_ring() {
    for (rate, slices, packets) in
        [(8, 1, 5), (8, 4, 3), (400, 3, 4), (400, 4, 30), (40, 12, 2), (160, 30, 1)]
    {
        for ranks in [2_u32, 5] {
            let (reduce_rate, packet) = reduces_in(rate);
            let (m, r) = (sent(packets), packets * packet);
            let size = u64::from(ranks) * slices * packets * PACKET;
            let chunk = Some(Bytes(packets * PACKET));
            let request = Request { chunk, reduce_rate, ..request(ReduceScatter, Ring, size) };
            let slower = m.max(r);
            let form = u64::from(ranks - 2) * (WAY + m + r).max(slices * slower)
                + WAY
                + m
                + r
                + (slices - 1) * slower;
            assert_eq!(end_of(&request, ranks, NONE), form, "{rate}G, {ranks} ranks, {slices} of {packets}");
        }
    }
}

/// Only the first half of an all-reduce is reduced.
#[test]
fn an_all_reduce_reduces_in_its_first_half() {
    for (ranks, rate) in [(2, 8), (7, 8), (5, 400)] {
        let (reduce_rate, packet) = reduces_in(rate);
        let request = Request { reduce_rate, ..request(AllReduce, Ring, 10 * PACKET * u64::from(ranks)) };
        let form = u64::from(ranks - 1) * (2 * message(10) + 10 * packet);
        assert_eq!(end_of(&request, ranks, NONE), form, "ring of {ranks}, {rate}G");
    }
    let (reduce_rate, packet) = reduces_in(8);
    let request = Request { reduce_rate, ..request(AllReduce, HalvingDoubling, 80 * PACKET) };
    let messages = message(40) + message(20) + message(10);
    assert_eq!(end_of(&request, 8, NONE), 2 * messages + 70 * packet);
}

#[test]
fn halving_and_doubling_has_a_message_for_each_bit() {
    for (op, passes) in PHASES {
        for bits in 1..=4 {
            let request = request(op, HalvingDoubling, 64 * PACKET);
            let form = passes * (1..=bits).map(|bit| message(64 >> bit)).sum::<u64>();
            assert_eq!(end_of(&request, 1 << bits, NONE), form, "{op:?}, {bits} bits");
        }
    }
}

#[test]
fn a_hierarchy_takes_the_sum_of_its_levels() {
    for levels in [vec![2, 3], vec![3, 5], vec![4, 1, 2], vec![2, 3, 2], vec![1, 7]] {
        let ranks: u32 = levels.iter().product();
        for (op, passes) in PHASES {
            let packets = 2 * u64::from(ranks);
            let request =
                Request { levels: Some(levels.clone()), ..request(op, Hierarchical, packets * PACKET) };
            let (mut held, mut form) = (packets, 0);
            for &level in &levels {
                held /= u64::from(level);
                form += u64::from(level - 1) * message(held);
            }
            assert_eq!(end_of(&request, ranks, NONE), passes * form, "{op:?}, {levels:?}");
        }
    }
}

/// All messages of a phase share the NIC, packet by packet; those to one rank arrive one packet at a time.
#[test]
fn messages_to_all_take_their_bytes_and_one_way() {
    for ranks in [2, 3, 6] {
        for packets in [1, 10] {
            let phase = WAY + u64::from(ranks - 1) * sent(packets);
            for (op, phases) in PHASES.into_iter().chain([(AllToAll, 1)]) {
                let request = request(op, Direct, u64::from(ranks) * packets * PACKET);
                assert_eq!(end_of(&request, ranks, NONE), phases * phase, "{op:?}, {ranks} of {packets}");
            }
        }
    }
}

/// The last packets of the n - 1 messages of a phase arrive one behind the other.
#[test]
fn a_rank_reduces_the_messages_of_all_in_turn() {
    for (ranks, packets, rate) in [(5, 1, 8), (5, 1, 400), (4, 10, 8), (6, 10, 4_000)] {
        let (reduce_rate, packet) = reduces_in(rate);
        let size = u64::from(ranks) * packets * PACKET;
        let last = if packets == 1 { FIRST * BYTE } else { OTHER * BYTE };
        let (others, r) = (u64::from(ranks - 1), packets * packet);
        let phase = WAY + others * sent(packets);
        let reduced = phase - (others - 1) * last + (others - 1) * last.max(r) + r;
        for (op, rest) in [(ReduceScatter, 0), (AllReduce, phase)] {
            let request = Request { reduce_rate, ..request(op, Direct, size) };
            assert_eq!(
                end_of(&request, ranks, NONE),
                reduced + rest,
                "{op:?}, {ranks} of {packets}, {rate}G"
            );
        }
    }
}

/// A message of step s leaves when that of step s - w is there, or behind those before it.
#[test]
fn a_pairwise_exchange_has_a_window() {
    for ranks in 2..=8_u32 {
        for window in 1..=ranks {
            let size = u64::from(ranks) * PACKET;
            let request = Request { window: Some(window), ..request(AllToAll, Pairwise, size) };
            let (m, w) = (sent(1), u64::from(window));
            let (batches, place) = (u64::from(ranks - 2) / w, u64::from(ranks - 2) % w);
            let form = batches * (WAY + m).max(w * m) + WAY + (place + 1) * m;
            assert_eq!(end_of(&request, ranks, NONE), form, "{ranks} ranks, {window} at once");
        }
    }
    // So many at once that a NIC never waits.
    let request = Request { window: Some(30), ..request(AllToAll, Pairwise, 64 * PACKET) };
    assert_eq!(end_of(&request, 64, NONE), WAY + 63 * sent(1));
    for (ranks, packets) in [(2, 10), (6, 10), (7, 40)] {
        let of_one = self::request(AllToAll, Pairwise, u64::from(ranks) * packets * PACKET);
        assert_eq!(end_of(&of_one, ranks, NONE), u64::from(ranks - 1) * message(packets));
    }
}

/// One rank sends to all, or all send to one: its port carries all messages.
#[test]
fn messages_of_different_sizes_share_the_port_of_their_rank() {
    for algorithm in [Direct, Pairwise] {
        for (ranks, to_one) in [(3, true), (6, true), (3, false), (6, false)] {
            let packets = |from: u32, to: u32| {
                let (hub, other) = if to_one { (to, from) } else { (from, to) };
                if hub == 0 && other > 0 { u64::from(other) } else { 0 }
            };
            let row = |from| (0..ranks).map(|to| Bytes(packets(from, to) * PACKET)).collect();
            let sizes = Some((0..ranks).map(row).collect());
            let window = (algorithm == Pairwise).then_some(ranks);
            let average = (1..u64::from(ranks)).sum::<u64>() * PACKET / u64::from(ranks);
            let request = Request { sizes, window, ..request(AllToAll, algorithm, average) };
            let bytes = (1..u64::from(ranks)).map(sent).sum::<u64>();
            // Of messages of 1 to 5 packets the last one's alternate with others: its port is idle then.
            let way = if to_one || ranks == 3 { WAY } else { WAY - LARGER };
            assert_eq!(end_of(&request, ranks, NONE), way + bytes, "{algorithm:?}, {ranks}, {to_one}");
        }
    }
}

#[test]
fn chunks_of_a_broadcast_follow_each_other_along_its_chain() {
    for ranks in [2_u32, 3, 7] {
        for (slices, packets, root) in [(1, 20, 0), (5, 4, 1), (3, 30, ranks - 1)] {
            let chunk = Some(Bytes(packets * PACKET));
            let size = slices * packets * PACKET;
            let form = u64::from(ranks - 1) * message(packets) + (slices - 1) * sent(packets);
            for op in [Broadcast, Reduce] {
                let request = Request { chunk, root, ..request(op, Ring, size) };
                assert_eq!(
                    end_of(&request, ranks, NONE),
                    form,
                    "{op:?}, {ranks} ranks, {slices} of {packets}"
                );
            }
        }
    }
}

/// A chain whose chunks nobody chose costs its bytes, and a few chunks: not the bytes at each rank.
#[test]
fn a_broadcast_is_cut_by_default() {
    let size = 8 * Request::CHUNK.0;
    let whole = end_of(&request(Broadcast, Ring, size), 2, NONE);
    let along = end_of(&request(Broadcast, Ring, size), 7, NONE);
    assert!(along < 2 * whole, "{along} against {whole} of two ranks");
}

#[test]
fn what_goes_to_a_root_or_from_it_takes_the_bytes_of_its_port() {
    for (ranks, root) in [(2_u32, 0), (5, 3)] {
        for packets in [1, 10] {
            let size = u64::from(ranks) * packets * PACKET;
            let form = WAY + u64::from(ranks - 1) * sent(packets);
            for op in [Gather, Scatter] {
                let request = Request { root, ..request(op, Direct, size) };
                // The ports of a scatter's receivers are idle before each packet.
                let way = if op == Scatter && packets > 1 && ranks > 2 { form - LARGER } else { form };
                assert_eq!(end_of(&request, ranks, NONE), way, "{op:?}, {ranks} ranks of {packets}");
            }
            let request = request(SendReceive, Direct, packets * PACKET);
            assert_eq!(end_of(&request, ranks, NONE), message(packets), "{ranks} ranks of {packets}");
        }
    }
}

/// What has less than a byte for each rank has a byte, a barrier the same of nothing.
#[test]
fn the_smallest_collectives_take_the_time_of_a_byte_each() {
    for op in [AllReduce, AllGather, ReduceScatter] {
        let (least, one) = (request(op, Ring, 1), request(op, Ring, 5));
        assert_eq!(end_of(&least, 5, NONE), end_of(&one, 5, NONE), "{op:?}");
    }
    let barrier = end_of(&request(Barrier, DoubleBinaryTree, 0), 5, NONE);
    assert_eq!(barrier, end_of(&request(AllReduce, DoubleBinaryTree, 2), 5, NONE));
    assert_eq!(end_of(&request(AllReduce, Ring, 0), 5, NONE), 0);
}

/// When a place of a binomial tree has its message, if a send begins when the one before has left: the
/// place whose lowest bit is cleared sends it, behind those to all greater ones.
fn in_binomial_tree(place: u32, ranks: u32, m: u64) -> u64 {
    if place == 0 {
        return 0;
    }
    let bit = place & place.wrapping_neg();
    let parent = place - bit;
    let free = if parent == 0 { ranks } else { parent & parent.wrapping_neg() };
    let before = (0..31).map(|shift| bit << 1 << shift).take_while(|&above| above < free);
    let before = before.filter(|above| parent + above < ranks).count() as u64;
    in_binomial_tree(parent, ranks, m) + WAY + (before + 1) * m
}

#[test]
fn a_tree_sends_to_its_largest_subtree_first() {
    for (ranks, root) in [(2, 0), (3, 2), (5, 0), (8, 0), (8, 5), (13, 4), (16, 0)] {
        let request = Request { root, ..request(Broadcast, BinomialTree, 20 * PACKET) };
        let form = (0..ranks).map(|place| in_binomial_tree(place, ranks, sent(20))).max();
        assert_eq!(Some(end_of(&request, ranks, NONE)), form, "{ranks} ranks");
        if ranks.is_power_of_two() {
            assert_eq!(form, Some(u64::from(ranks.ilog2()) * message(20)));
        }
    }
}

/// In a tree of 2^h ranks the root has one child, and each rank above the leaves two, whose sums meet at
/// its port, and for which its NIC has two results.
#[test]
fn two_trees_take_the_messages_of_two_children_at_each_height() {
    for height in 1..=4 {
        for packets in [1, 10] {
            let m = sent(packets);
            let request = request(AllReduce, DoubleBinaryTree, 2 * packets * PACKET);
            // Packets of two results alternate, and the ports of their receivers are idle before each.
            let last = if packets == 1 { 0 } else { (height - 1) * LARGER };
            let form = 2 * height * WAY + 2 * (2 * height - 1) * m - last;
            assert_eq!(end_of(&request, 1 << height, NONE), form, "height {height}, {packets} packets");
        }
        let (reduce_rate, r) = reduces_in(8);
        let (m, merges) = (sent(1), height - 1);
        let request = Request { reduce_rate, ..request(AllReduce, DoubleBinaryTree, 2 * PACKET) };
        let up = merges * (WAY + m + m.max(r) + r) + WAY + m + r;
        let form = up + WAY + m + merges * (WAY + 2 * m);
        assert_eq!(end_of(&request, 1 << height, NONE), form, "height {height}, reduced");
    }
    // Two chains of three.
    let request = request(AllReduce, DoubleBinaryTree, 20 * PACKET);
    assert_eq!(end_of(&request, 3, NONE), 4 * message(10));
}

/// An ACK of the last packet leaves ahead of the message that this packet lets go. A rank is done when it
/// knows that its last message is there. (Messages are over before the ACKs of their first packets leave.)
#[test]
fn acknowledgements_cost_a_collective_their_bytes() {
    let is = |request: &Request, ranks: u32, form: u64| {
        let what = format!("{:?} {:?} of {ranks}", request.op, request.algorithm);
        assert_eq!(end_of(request, ranks, ACKNOWLEDGED), form, "{what}");
    };
    for ranks in [2, 4, 7] {
        let (others, n) = (u64::from(ranks - 1), u64::from(ranks));
        for (op, passes) in PHASES {
            let steps = passes * others;
            let form = steps * message(10) + (steps - 1) * ANSWER + KNOWN;
            is(&request(op, Ring, 10 * n * PACKET), ranks, form);
            let form = passes * (WAY + others * sent(1)) + (passes - 1) * ANSWER + KNOWN;
            is(&request(op, Direct, n * PACKET), ranks, form);
        }
        let steps = n * others / 2;
        let form = steps * message(10) + (steps - 1) * ANSWER + KNOWN;
        is(&request(AllToAll, Ring, 10 * n * PACKET), ranks, form);
        is(&request(AllToAll, Direct, n * PACKET), ranks, WAY + others * sent(1) + KNOWN);
        // A step is over when its message is known to be there.
        is(&request(AllToAll, Pairwise, 10 * n * PACKET), ranks, others * (message(10) + KNOWN));
        let form = others * message(10) + (others - 1) * ANSWER + KNOWN;
        is(&request(Broadcast, Ring, 10 * PACKET), ranks, form);
    }
    for bits in 1..=3_u64 {
        let ranks = 1 << bits;
        is(&request(Broadcast, BinomialTree, 10 * PACKET), ranks, bits * (message(10) + KNOWN));
        let messages = (1..=bits).map(|bit| message(16 >> bit)).sum::<u64>();
        let form = messages + (bits - 1) * ANSWER + KNOWN;
        is(&request(ReduceScatter, HalvingDoubling, 16 * PACKET), ranks, form);
        let form = 2 * messages + (2 * bits - 1) * ANSWER + KNOWN;
        is(&request(AllReduce, HalvingDoubling, 16 * PACKET), ranks, form);
    }
    let hierarchy = Request { levels: Some(vec![3, 2]), ..request(AllReduce, Hierarchical, 12 * PACKET) };
    is(&hierarchy, 6, 2 * (2 * message(4) + message(2)) + 5 * ANSWER + KNOWN);
    is(&request(AllReduce, DoubleBinaryTree, 20 * PACKET), 3, 4 * message(10) + 3 * ANSWER + KNOWN);
}

/// Where a send is complete before its ACK, ACKs cost only the time that they take of a NIC.
#[test]
fn a_collective_need_not_wait_for_acknowledgements() {
    for completes in [SendCompletes::Issued, SendCompletes::Received] {
        let request = request(AllReduce, Ring, 50 * PACKET);
        let form = 8 * message(10) + 7 * ANSWER;
        assert_eq!(end_with(&request, 5, ACKNOWLEDGED, completes), form, "{completes:?}");
    }
}

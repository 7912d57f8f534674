//! Numbers and paths of flows follow from the scenario's lists, not from what completes first.

use crate::support::{Net, PFC, names, whole};
use floodway_fabric::Records;
use floodway_fabric::blueprint::{Arrivals, LoopSpec, Next, Sharing};
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);

/// Hosts a, c, d, e at one switch and b at another; sixteen links between the switches.
fn two_switches() -> (Net, [NodeId; 5]) {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#);
    let (left, right) = (net.switch("left"), net.switch("right"));
    let hosts = ["a", "b", "c", "d", "e"].map(|name| net.host(name));
    for (i, &host) in hosts.iter().enumerate() {
        net.link(host, if i == 1 { right } else { left }, G100, Span::us(1), PFC);
    }
    for _ in 0..16 {
        net.link(left, right, G100, Span::us(1), PFC);
    }
    (net, hosts)
}

/// Bytes that each link between the switches has carried to the right.
fn carried(records: &Records) -> Vec<u64> {
    let (nodes, links) = (names(records.counters.column("node")), names(records.counters.column("link")));
    let bytes = whole(records.counters.column("tx_bytes"));
    let there = |row: &usize| nodes[*row] == "left" && links[*row] == "left-right";
    (0..bytes.len()).filter(there).map(|row| bytes[row]).collect()
}

/// (Size, number) of the flows from `source`, in order of their start.
fn numbers(records: &Records, source: &str) -> Vec<(u64, u64)> {
    let (sizes, numbers) = (whole(records.flows.column("size_bytes")), whole(records.flows.column("number")));
    let from = names(records.flows.column("source"));
    (0..sizes.len()).filter(|&row| from[row] == source).map(|row| (sizes[row], numbers[row])).collect()
}

/// Two flows from a wait for what c and d send there; c is busy or not.
fn two_that_wait(sharing: Sharing, busy: bool) -> Records {
    let (mut net, [a, b, others @ ..]) = two_switches();
    net.blueprint.settings[0].qp = sharing;
    net.flow(others[0], a, Bytes::kb(100), Span::ZERO);
    net.flow(others[1], a, Bytes::kb(120), Span::ZERO);
    net.flow(a, b, Bytes::kb(10), Span::ZERO).after = vec![0];
    net.flow(a, b, Bytes::kb(20), Span::ZERO).after = vec![1];
    if busy {
        let beside = net.workload("others");
        for _ in 0..4 {
            net.flow_of(beside, others[0], others[2], Bytes::mb(1), Span::ZERO);
        }
    }
    net.run()
}

#[test]
fn flows_that_wait_are_numbered_as_they_are_listed() {
    for sharing in [Sharing::PerFlow, Sharing::PerPair] {
        let (alone, beside) = (two_that_wait(sharing, false), two_that_wait(sharing, true));
        // They start in the other order.
        assert_eq!(numbers(&alone, "a"), [(10_000, 0), (20_000, 1)]);
        assert_eq!(numbers(&beside, "a"), [(20_000, 1), (10_000, 0)]);
        let paths = carried(&alone);
        assert_eq!(paths, carried(&beside));
        let expected = if sharing == Sharing::PerFlow { 2 } else { 1 };
        assert_eq!(paths.iter().filter(|&&bytes| bytes > 0).count(), expected);
    }
}

const EACH: u64 = 6;

/// Loops from a to b whose messages have these sizes.
fn loops(sizes: &[u64], depth: u64) -> Records {
    let (mut net, [source, destination, ..]) = two_switches();
    let each = |&size: &u64| LoopSpec {
        source,
        destination,
        size: Bytes(size),
        messages: EACH,
        depth,
        start: Time::ZERO,
        next: Next::Sent,
    };
    net.blueprint.workloads[0].arrivals = Arrivals::ClosedLoop(sizes.iter().map(each).collect());
    net.run()
}

#[test]
fn messages_of_loops_have_numbers_and_paths_whatever_the_depth() {
    let sizes = [1_000, 20_000];
    let paths = carried(&loops(&sizes, 1));
    assert_eq!(paths.iter().filter(|&&bytes| bytes > 0).count(), 2);
    for depth in [1, 2, 4] {
        let records = loops(&sizes, depth);
        assert_eq!(carried(&records), paths, "{depth}");
        let mut rows = numbers(&records, "a");
        rows.sort_unstable();
        let expected = |i| (sizes[(i / EACH) as usize], i);
        assert_eq!(rows, (0..2 * EACH).map(expected).collect::<Vec<_>>(), "{depth}");
    }
}

#[test]
fn a_loop_behind_another_changes_nothing_of_it() {
    let of_first = |records: &Records| -> Vec<(u64, u64)> {
        numbers(records, "a").into_iter().filter(|row| row.0 == 1_000).collect()
    };
    let (alone, both) = (loops(&[1_000], 2), loops(&[1_000, 20_000], 2));
    assert_eq!(of_first(&alone), of_first(&both));
    let (alone, both) = (carried(&alone), carried(&both));
    let its_own = alone.iter().position(|&bytes| bytes > 0).expect("it has a way");
    assert_eq!(alone[its_own], both[its_own]);
}

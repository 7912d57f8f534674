//! What each gets where pauses alone share a port.
//!
//! An egress queue is served in the order of arrival, so that packets of all ingress ports wait equally long:
//! by Little's law an ingress port's share of what leaves is its share of what waits. Each ingress port that
//! brings more than its share is held by pauses between XON and XOFF, so the shares of all of them are equal
//! to within the relative distance of these, by ports, however many flows come through one.

use floodway_fabric::Records;

use super::support::{near, run, unbounded, used};

/// Bytes a microsecond of all links, their delay in microseconds, XOFF, and the largest frame.
const RATE: f64 = 12_500.0;
const DELAY: f64 = 0.1;
const XOFF: f64 = 400_000.0;
const MTU: f64 = 1_078.0;
const SPAN: [f64; 2] = [1_000.0, 5_000.0];

/// How far an ingress port's bytes may lie apart from another's, relative: XOFF - XON are 2 MTU; beyond XOFF
/// and below XON they go for as long as the frame takes to arrive, there and back, and three frames, begun or
/// ahead of it.
fn spread() -> f64 {
    let beyond = 2.0 * DELAY * RATE + 3.0 * MTU;
    let (low, high) = (XOFF - 2.0 * MTU - beyond, XOFF + beyond);
    (high - low) / low
}

/// Hosts at each switch of a chain, and the ends of flows.
fn chain(hosts: &[usize], ends: &[(usize, usize)]) -> Records {
    run(&format!(
        "limit = \"{}us\"\nrecords = {{ watch = \"*\", busiest = 0, buckets = 100000 }}\n\
         topology.chain = {{ switches = {}, hosts = {hosts:?}, rate = \"100G\", delay = \"100ns\" }}\n\
         [defaults]\nflow-control.pfc = {{ xoff = \"400KB\" }}\n\
         [[workload]]\nname = \"long\"\nflows = [{}]\n",
        SPAN[1],
        hosts.len(),
        unbounded(ends),
    ))
}

/// What a host sent over the line rate; `levels` ports on its way are shared.
#[track_caller]
fn gets(records: &Records, host: usize, switch: usize, expected: f64, levels: f64) {
    let share = used(records, &format!("h{host}>s{switch}"), 100.0, SPAN);
    // At each level, and what its buffers hold more or less at the end of the span than at its begin.
    let slack = expected * ((1.0 + spread()).powf(levels) - 1.0)
        + levels * spread() * XOFF / (RATE * (SPAN[1] - SPAN[0]));
    near(&format!("host {host}"), share, expected, slack);
}

#[test]
fn equal_senders_get_equal_shares_of_a_port_that_pauses_them() {
    for n in [2, 3, 5, 8] {
        let ends: Vec<_> = (1..=n).map(|host| (host, n + 1)).collect();
        let records = chain(&[n + 1], &ends);
        for host in 1..=n {
            gets(&records, host, 1, 1.0 / n as f64, 1.0);
        }
    }
}

#[test]
fn over_a_parking_lot_a_flow_gets_half_of_what_is_left_at_each_port() {
    // Two hosts at s1, one each at s2 and s3, all send to the last host at s3 (Zhu et al., SIGCOMM 2015,
    // section 2, measure the same unfairness).
    let records = chain(&[2, 1, 2], &[(1, 5), (2, 5), (3, 5), (4, 5)]);
    gets(&records, 4, 3, 0.5, 1.0);
    gets(&records, 3, 2, 0.25, 2.0);
    gets(&records, 1, 1, 0.125, 3.0);
    gets(&records, 2, 1, 0.125, 3.0);
}

#[test]
fn a_victim_behind_a_paused_trunk_gets_what_the_culprit_beside_it_gets() {
    for others in [2, 3, 5] {
        // The harmful flow's host h1 and the victim's h2 at s1; at s2 `others` hosts, the port that all but
        // the victim send to, and the victim's, which is idle but for it.
        let (port, idle) = (others + 3, others + 4);
        let mut ends = vec![(1, port), (2, idle)];
        ends.extend((3..3 + others).map(|host| (host, port)));
        let records = chain(&[2, others + 2], &ends);
        let share = 1.0 / (others as f64 + 1.0);
        for host in 3..3 + others {
            gets(&records, host, 2, share, 1.0);
        }
        gets(&records, 1, 1, share, 1.0);
        gets(&records, 2, 1, share, 2.0);
    }
}

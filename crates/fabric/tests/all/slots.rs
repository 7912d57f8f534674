//! Slots of queue pairs: results do not depend on which slot holds a queue pair's state.

use crate::support::{Net, PFC, everything, names, sum, whole};
use floodway_fabric::blueprint::{ErrorRates, Sharing, Ties};
use floodway_fabric::{Records, Table, Values};
use floodway_mechanisms::registry::NotificationParams;
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;
use proptest::prelude::*;

/// Two racks of four hosts, with marks, losses and timers: the first for what is looked at, the other for
/// others.
fn racks(ties: Ties) -> (Net, [Vec<NodeId>; 2]) {
    let mut net = Net::new(Format::Ethernet)
        .reliability(r#"{"go-back-n": {"timeout": "40us", "restart": "any"}}"#)
        .rate_control(&[r#"{"dcqcn": {"t-inc": "20us"}}"#])
        .limit(Span::ms(3))
        .until_limit();
    net.blueprint.semantics.ties = ties;
    let stack = net.blueprint.settings[0].rate_control.clone();
    net.blueprint.settings[0].notification = NotificationParams::asked_by(&stack);
    let switches = [net.switch("s0"), net.switch("s1")];
    let spine = net.link(switches[0], switches[1], Rate::gbps(100), Span::us(1), PFC);
    net.congestion_point(spine, switches[0], r#""red""#);
    let racks = [0, 1].map(|rack| {
        let hosts: Vec<_> = (0..4).map(|host| net.host(&format!("h{rack}{host}"))).collect();
        for &host in &hosts {
            let link = net.link(host, switches[rack], Rate::gbps(25), Span::us(1), PFC);
            let marks = r#"{"red": {"kmin": "5KB", "kmax": "20KB", "pmax": 1.0}}"#;
            net.congestion_point(link, switches[rack], marks);
            for direction in &mut net.blueprint.links[link].directions {
                direction.errors = ErrorRates { data: 0.002, control: 0.002, link_control: 0.0 };
            }
        }
        hosts
    });
    (net, racks)
}

/// Flows of a few packets, eight of them at a time, to one of their rack or another.
fn flows(net: &mut Net, workload: usize, hosts: &[NodeId], first: Span, every: Span, count: u64) {
    for n in 0..count {
        let source = hosts[(n % 3) as usize + 1];
        let destination = if n % 5 == 4 { hosts[n as usize % 3 + 1] } else { hosts[0] };
        let destination = if destination == source { hosts[0] } else { destination };
        let size = Bytes(1_000 + 3_700 * (n * 7 % 11));
        net.flow_of(workload, source, destination, size, first + every * (n / 8));
    }
}

/// Rows of a table that are of the workload `flows`, as text.
fn rows(table: &Table) -> Vec<String> {
    let cell = |values: &Values, row: usize| match values {
        Values::U64(values) => values[row].to_string(),
        Values::F64(values) => format!("{:?}", values[row]),
        Values::Bool(values) => values[row].to_string(),
        Values::Text { codes, dictionary } => dictionary[codes[row] as usize].clone(),
    };
    let workloads = names(table.column("workload"));
    let row = |row: usize| table.columns.iter().map(|column| cell(&column.values, row)).collect::<Vec<_>>();
    (0..table.rows()).filter(|&at| workloads[at] == "flows").map(|at| row(at).join(" ")).collect()
}

fn results(records: &Records) -> [Vec<String>; 2] {
    [rows(&records.flows), rows(&records.latency)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn flows_of_another_rack_that_take_slots_change_nothing(
        gap in 1u64..60, count in 1u64..150, shared in any::<bool>(), numbered in any::<bool>(),
    ) {
        let ties = if numbered { Ties::SchedulingOrder } else { Ties::Hashed };
        let (mut net, [hosts, others]) = racks(ties);
        if shared {
            net.blueprint.settings[0].qp = Sharing::PerPair;
        }
        flows(&mut net, 0, &hosts, Span::us(2), Span::us(13), 400);
        let alone = net.run();
        prop_assert!(sum(&alone, "ecn_marks") > 0);
        prop_assert!(whole(alone.flows.column("retransmitted_bytes")).iter().any(|&bytes| bytes > 0));
        let timers = |&(cause, count): &(&str, u64)| cause == "queue-pair timer" && count > 100;
        prop_assert!(alone.outcome.events.iter().any(timers));
        let second = net.workload("others");
        flows(&mut net, second, &others, Span::us(1), Span::us(gap), count);
        prop_assert_eq!(results(&alone), results(&net.run()));
    }
}

#[test]
fn a_run_with_reused_slots_is_the_same_each_time() {
    let (mut net, [hosts, others]) = racks(Ties::Hashed);
    flows(&mut net, 0, &hosts, Span::us(2), Span::us(13), 400);
    flows(&mut net, 0, &others, Span::us(2 + 13 * 50), Span::us(7), 100);
    assert_eq!(everything(&net.run()), everything(&net.run()));
}

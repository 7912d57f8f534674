//! A grid of small whole runs, as a table that a person can read in a diff.

use std::fmt::Write as _;

use crate::support::{Net, drops_by, finished, real, sum, whole};
use floodway_fabric::Records;
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;

/// Eight hosts send 200 KB each to a ninth, all at once, over two switches and 20 us.
fn incast(flow_control: &str, pool: Bytes, loss: f64) -> Records {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#).limit(Span::ms(1_000));
    let buffer = format!(r#"{{"shared": {{"pool": "{}B"}}}}"#, pool.0);
    let (s, t) = (net.switch_with("s", &buffer), net.switch_with("t", &buffer));
    let to = net.host("to");
    let middle = net.link(s, t, Rate::gbps(100), Span::us(20), flow_control);
    net.link(t, to, Rate::gbps(25), Span::us(1), flow_control);
    let hosts: Vec<NodeId> = (0..8).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts {
        net.link(host, s, Rate::gbps(100), Span::us(1), flow_control);
    }
    for &host in &hosts {
        net.flow(host, to, Bytes::kb(200), Span::ZERO);
    }
    net.blueprint.links[middle].directions[0].errors.data = loss;
    net.run()
}

/// Mean and longest completion time, what was retransmitted and lost, and pauses.
fn row(records: &Records) -> String {
    let fct = real(records.flows.column("fct_us"));
    let mean = fct.iter().sum::<f64>() / fct.len() as f64;
    let longest = fct.iter().copied().fold(0.0, f64::max);
    let again: u64 = whole(records.flows.column("retransmitted_bytes")).iter().sum();
    let timeouts: u64 = whole(records.flows.column("timeouts")).iter().sum();
    assert!(finished(records).into_iter().all(|finished| finished));
    format!(
        "{mean:>9.1} {longest:>9.1} {:>8} {timeouts:>8} {:>7} {:>7} {:>6}",
        again / 1_000,
        drops_by(records, "buffer") + drops_by(records, "egress"),
        drops_by(records, "link_error"),
        sum(records, "pfc_tx"),
    )
}

#[test]
fn incast_over_a_grid_of_loss_and_buffer() {
    let mut table = String::from(
        "links   pool_KB  loss_%   mean_us    max_us again_KB timeouts no_room damaged pauses\n",
    );
    for (name, flow_control) in [("pfc", r#"{"pfc": {"xoff": {"alpha": 0.5}}}"#), ("lossy", r#""lossy""#)] {
        for pool in [50, 200, 1_000, 5_000] {
            for loss in [0.0, 0.001, 0.01] {
                let records = incast(flow_control, Bytes::kb(pool), loss);
                let _ = writeln!(table, "{name:<7} {pool:>7} {:>7} {}", loss * 100.0, row(&records));
            }
        }
    }
    insta::assert_snapshot!(table);
}

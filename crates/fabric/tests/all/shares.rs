//! Shares of a link.

use std::collections::BTreeMap;

use crate::support::{Net, assert_invariants, counter, port, real, whole};
use floodway_fabric::blueprint::{RecordSpec, ShareSpec};
use floodway_fabric::outcome::{Outcome, RowTotals};
use floodway_fabric::{Control, Fabric, Records, Table, Values};
use floodway_units::{Bytes, PortId, Rate, Span};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "2MB"}}"#;

/// Two hosts send 100 KB each to a third over one switch, the second from 20 us on; the switch's port to the
/// third.
fn incast() -> (Net, PortId) {
    let mut net = Net::new(Format::Ethernet);
    let (s, to) = (net.switch("s"), net.host("to"));
    let last = net.link(s, to, G100, Span::us(1), PFC);
    for (name, start) in [("a", 0), ("b", 20)] {
        let from = net.host(name);
        net.link(from, s, G100, Span::us(1), PFC);
        net.flow(from, to, Bytes::kb(100), Span::us(start));
    }
    (net, port(last, 0))
}

fn run(rows: Option<usize>) -> Records {
    let (mut net, at) = incast();
    let shares = rows.map(|rows| ShareSpec { ports: vec![at], bucket: Span::us(2), rows });
    net.blueprint.records = RecordSpec { shares, ..RecordSpec::default() };
    let records = Fabric::build(&net.blueprint, &Control::default()).expect("it is sound").run();
    assert_invariants(&records);
    records
}

fn words<'a>(table: &'a Table, column: &str) -> Vec<&'a str> {
    let Some(Values::Text { codes, dictionary }) = table.column(column) else { panic!("{column} is text") };
    codes.iter().map(|&code| dictionary[code as usize].as_str()).collect()
}

#[test]
fn a_ports_bytes_are_those_of_its_flows() {
    let records = run(Some(1000));
    let table = records.shares.as_ref().expect("it was asked for");
    assert!(words(table, "object").iter().all(|name| *name == "s-to: s>to"));
    let bytes = whole(table.column("tx_bytes"));
    let (packets, frames) =
        (counter(&records, "s", "s-to", "tx_packets"), counter(&records, "s", "s-to", "tx_bytes"));
    // On the wire a frame of Ethernet has preamble and gap, of 20 bytes together.
    assert_eq!(bytes.iter().sum::<u64>(), frames + 20 * packets);
    let mut sent: BTreeMap<&str, u64> = BTreeMap::new();
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    let times = real(table.column("time_us"));
    for ((flow, &bytes), &time) in words(table, "flow_id").into_iter().zip(&bytes).zip(&times) {
        *sent.entry(flow).or_default() += bytes;
        *buckets.entry(time as u64).or_default() += bytes;
    }
    assert_eq!(sent.len(), 2);
    let each: Vec<u64> = sent.into_values().collect();
    assert_eq!(each[0], each[1], "they are as large");
    // No bucket of 2 us holds more than 100 Gbit/s; each begins at a multiple of 2 us.
    assert!(buckets.iter().all(|(time, &bytes)| time % 2 == 0 && bytes <= 25_000), "{buckets:?}");
    assert!(times.is_sorted());
}

#[test]
fn while_one_flow_sends_the_other_has_no_row() {
    let records = run(Some(1000));
    let table = records.shares.as_ref().expect("it was asked for");
    let flows = words(table, "flow_id");
    let times = real(table.column("time_us"));
    // 100 KB take 8.6 us: the first flow is over when the second one begins.
    let second = times.iter().position(|&time| time >= 20.0).expect("the second one has rows");
    assert!(flows[..second].iter().all(|flow| *flow == flows[0]));
    assert!(flows[second..].iter().all(|flow| *flow != flows[0]));
}

#[test]
fn a_full_table_counts_what_it_leaves_out_and_the_rest_is_as_without() {
    let all = run(Some(1000));
    let rows = all.outcome.shares.expect("it was asked for").rows;
    let cut = run(Some(3));
    assert_eq!(cut.outcome.shares, Some(RowTotals { rows: 3, beyond: rows - 3 }));
    let without = run(None);
    assert!(without.shares.is_none());
    let outcome = Outcome { shares: None, ..all.outcome.clone() };
    let rest = Records { shares: None, outcome, ..all };
    // Numbers that are not there equal nothing, so the words of both are compared.
    assert_eq!(format!("{rest:?}"), format!("{without:?}"));
}

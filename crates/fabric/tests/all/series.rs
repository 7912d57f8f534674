//! Series of ports: what each bucket of time has of the frames on the wire.

use crate::support::{
    Net, assert_invariants, counter, names, port, property, real, run_on_one_thread_and_two, whole,
};
use floodway_fabric::Records;
use floodway_fabric::blueprint::{ShareSpec, UNBOUNDED};
use floodway_units::{Bytes, PortId, Rate, Span};
use floodway_wire::Format;
use proptest::prelude::*;

const PFC: &str = r#"{"pfc": {"xoff": "60KB"}}"#;

/// Three hosts send to a fourth over one switch, whose port to that one is watched; ports are of one rate.
fn incast(rate: Rate, sizes: &[u64], bucket: Span) -> (Net, PortId) {
    let mut net = Net::new(Format::Ethernet);
    let (s, to) = (net.switch("s"), net.host("to"));
    let last = net.link(s, to, rate, Span::us(1), PFC);
    for (number, &size) in sizes.iter().enumerate() {
        let from = net.host(&format!("h{number}"));
        net.link(from, s, rate, Span::us(1), PFC);
        net.flow(from, to, Bytes(size), Span::ns(700 * number as u64));
    }
    net.blueprint.records.watch = net.blueprint.ports().collect();
    net.blueprint.records.busiest = 0;
    net.blueprint.records.shares = Some(ShareSpec { ports: vec![port(last, 0)], bucket, rows: 1_000_000 });
    (net, port(last, 0))
}

/// Object, width in picoseconds and bytes sent, of each bucket.
fn sent(records: &Records) -> Vec<(String, u64, u64)> {
    let series = &records.series;
    let (metrics, objects) = (names(series.column("metric")), names(series.column("object")));
    let (widths, values) = (real(series.column("bucket_us")), real(series.column("value")));
    (0..metrics.len())
        .filter(|&row| metrics[row] == "tx_bytes")
        .map(|row| (objects[row].clone(), (widths[row] * 1e6).round() as u64, values[row] as u64))
        .collect()
}

proptest! {
    #![proptest_config(property(24))]
    #[test]
    fn no_bucket_is_above_the_line_rate_and_all_bytes_are_in_one(
        gbps in prop::sample::select(vec![1u64, 10, 25, 40, 100, 200, 400, 800]),
        sizes in prop::collection::vec(1..80_000u64, 1..4),
        buckets in 2..400usize,
        bucket in 1..5_000u64,
        limit in prop::option::of(1..60_000u64),
    ) {
        let (mut net, _) = incast(Rate::gbps(gbps), &sizes, Span::ns(bucket));
        net.blueprint.records.buckets = buckets;
        let net = net.limit(limit.map_or(Span::ms(100), Span::ns));
        let records = net.run();
        assert_invariants(&records);
        let ps_per_byte = 8_000 / gbps;
        let rows = sent(&records);
        for (object, width, bytes) in &rows {
            prop_assert!(bytes * ps_per_byte <= *width, "{object}: {bytes} B in {width} ps");
        }
        let wire = counter(&records, "s", "s-to", "tx_bytes") + 20 * counter(&records, "s", "s-to", "tx_packets");
        let all: u64 = rows.iter().filter(|row| row.0.ends_with("s>to")).map(|row| row.2).sum();
        if limit.is_none() {
            // No pause goes to the host, and it sends its last ACK when all has arrived.
            prop_assert_eq!(all, wire);
        } else {
            prop_assert!(all <= wire && wire < all + 1_200, "{all} of {wire}");
        }
        let shares = records.shares.as_ref().expect("they are kept");
        let (spans, bytes) = (real(shares.column("bucket_us")), whole(shares.column("tx_bytes")));
        let times = real(shares.column("time_us"));
        prop_assert_eq!(bytes.iter().sum::<u64>(), all, "the port sends data only");
        for (row, time) in times.iter().enumerate() {
            let together: u64 = (0..times.len()).filter(|&other| times[other] == *time).map(|at| bytes[at]).sum();
            let width = (spans[row] * 1e6).round() as u64;
            // A bucket of so many picoseconds has room for a part of a byte, which is the earlier bucket's.
            prop_assert!(together * ps_per_byte < width + ps_per_byte, "{together} B in {width} ps from {time} us");
        }
    }
}

#[test]
fn a_loaded_link_has_its_rate_in_every_whole_bucket() {
    let mut net = Net::new(Format::Ethernet).limit(Span::us(60)).until_limit();
    let (a, b) = (net.host("a"), net.host("b"));
    net.link(a, b, Rate::gbps(400), Span::us(1), PFC);
    net.flow(a, b, UNBOUNDED, Span::ZERO);
    net.blueprint.records.watch = vec![port(0, 0)];
    net.blueprint.records.busiest = 0;
    let records = run_on_one_thread_and_two(&net);
    let bytes: Vec<u64> = sent(&records).into_iter().map(|row| row.2).collect();
    assert_eq!(bytes, vec![50_000; 60]);
}

#[test]
fn a_frame_that_takes_many_buckets_is_in_all_of_them() {
    // 1,098 B at 100 Mbit/s take 87.84 us; the run ends in the second one.
    let mut net = Net::new(Format::Ethernet).limit(Span::ns(100_300)).until_limit();
    let (a, b) = (net.host("a"), net.host("b"));
    net.link(a, b, Rate::mbps(100), Span::us(1), PFC);
    net.flow(a, b, UNBOUNDED, Span::ZERO);
    net.blueprint.records.watch = vec![port(0, 0)];
    net.blueprint.records.busiest = 0;
    let rows = sent(&net.run());
    assert_eq!(rows.len(), 101);
    // 12.5 B a microsecond: a byte across the end of a bucket is the earlier bucket's.
    let mut until = 0;
    for (number, (_, _, bytes)) in rows.iter().enumerate() {
        let wanted = if number == 100 { 3 } else { 13 - (number as u64) % 2 };
        until += bytes;
        assert!(bytes.abs_diff(wanted) <= 1, "{number}: {bytes}");
    }
    assert_eq!(until, 1_253, "100.3 us, and no part of a byte");
}

#[test]
fn a_byte_that_the_end_of_the_run_cuts_is_in_no_bucket() {
    // 8 ns a byte; a bucket of shares ends 1 ns before the run does, within the 381st byte of a frame.
    let (mut net, _) = incast(Rate::gbps(1), &[4764], Span::ns(1_425));
    net.blueprint.records.buckets = 2;
    let records = net.limit(Span::ns(12_826)).run();
    let shares = records.shares.as_ref().expect("they are kept");
    assert_eq!(whole(shares.column("tx_bytes")), [24, 178, 178]);
    let all = sent(&records).into_iter().filter(|row| row.0.ends_with("s>to"));
    assert_eq!(all.map(|row| row.2).sum::<u64>(), 380);
}

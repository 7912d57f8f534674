//! The log of pauses, and the histogram of queue lengths.

use crate::support::{Net, PFC, everything, real, whole};
use floodway_fabric::blueprint::{HistogramSpec, PauseFault, RecordSpec};
use floodway_fabric::outcome::{QueueSamples, RowTotals};
use floodway_fabric::{Records, Table, Values};
use floodway_units::{Bytes, Class, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
const US: u64 = 1_000_000;

/// Four hosts that send 400 KB each to a fifth over one switch, which pauses them.
fn incast() -> Net {
    let mut net = Net::new(Format::Ethernet);
    let (to, s) = (net.host("to"), net.switch("s"));
    net.link(to, s, G100, Span::us(1), PFC);
    for name in ["a", "b", "c", "d"] {
        let from = net.host(name);
        net.link(from, s, G100, Span::us(1), PFC);
        net.flow(from, to, Bytes::kb(400), Span::us(0));
    }
    net
}

fn logged(pauses: usize) -> RecordSpec {
    RecordSpec { pauses: Some(pauses), ..RecordSpec::default() }
}

fn texts(table: &Table, column: &str) -> Vec<String> {
    let Some(Values::Text { codes, dictionary }) = table.column(column) else { panic!("{column} is text") };
    codes.iter().map(|&code| dictionary[code as usize].clone()).collect()
}

/// The identity of a port: node, number, link, class.
fn places(table: &Table) -> Vec<(String, u64, String, u64)> {
    let numbers = whole(table.column("port")).into_iter().zip(whole(table.column("class")));
    let names = texts(table, "node").into_iter().zip(texts(table, "link"));
    names.zip(numbers).map(|((node, link), (port, class))| (node, port, link, class)).collect()
}

#[test]
fn the_log_has_as_many_rows_as_pause_frames_were_received() {
    let mut net = incast();
    net.blueprint.records = logged(1000);
    let records = net.run();
    let log = records.pauses.as_ref().expect("it was asked for");
    let logged = places(log);
    let counted = whole(records.counters.column("pfc_rx"));
    assert!(counted.iter().sum::<u64>() > 8, "pauses and resumes of four hosts");
    for (place, &count) in places(&records.counters).iter().zip(&counted) {
        let rows = logged.iter().filter(|row| *row == place).count() as u64;
        assert_eq!(rows, count, "{place:?}");
    }
    let totals = RowTotals { rows: log.rows() as u64, beyond: 0 };
    assert_eq!(records.outcome.pauses, Some(totals));
    assert!(real(log.column("time_ns")).is_sorted());
}

#[test]
fn a_row_has_the_arrival_of_the_last_bit_of_a_frame_and_its_kind() {
    let mut net = Net::new(Format::Ethernet);
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, G100, Span::us(1), PFC);
    let link = net.link(s, b, G100, Span::us(1), PFC);
    let pause = PauseFault { class: Class::DATA, from: Time(5 * US), to: Time(50 * US) };
    net.blueprint.links[link].ends[1].pauses.push(pause);
    net.flow(a, b, Bytes(500), Span::us(10));
    net.blueprint.records = logged(1000);
    let records = net.run();
    let log = records.pauses.expect("it was asked for");
    // 84 bytes of wire and 1 us after it was sent; to the second port of the switch.
    assert_eq!(real(log.column("time_ns")), [6006.72, 51006.72]);
    assert_eq!(texts(&log, "event"), ["pause", "resume"]);
    assert_eq!(places(&log), vec![("s".to_owned(), 1, "s-b".to_owned(), 3); 2]);
}

#[test]
fn what_comes_when_the_log_is_full_is_counted() {
    let mut net = incast();
    net.blueprint.records = logged(1000);
    let all = net.run().outcome.pauses.expect("it was asked for").rows;
    net.blueprint.records = logged(3);
    let records = net.run();
    assert_eq!(records.outcome.pauses, Some(RowTotals { rows: 3, beyond: all - 3 }));
    assert_eq!(records.pauses.map(|log| log.rows()), Some(3));
}

/// Of a link's port: (lower bound of the bin, samples).
fn bins(records: &Records, link: &str) -> Vec<(u64, u64)> {
    let table = records.queue_histogram.as_ref().expect("it was asked for");
    let bins = whole(table.column("bin_low_bytes")).into_iter().zip(whole(table.column("samples")));
    let of = texts(table, "link").into_iter().zip(bins);
    of.filter(|(of, _)| of == link).map(|(_, bin)| bin).collect()
}

/// Two packets of 1078 bytes meet at a port: the second waits while the first is sent.
fn meeting(histogram: HistogramSpec) -> Records {
    let mut net = Net::new(Format::Ethernet);
    let (to, s) = (net.host("to"), net.switch("s"));
    net.link(s, to, G100, Span::us(1), PFC);
    for name in ["a", "b"] {
        let from = net.host(name);
        net.link(from, s, G100, Span::us(1), PFC);
        net.flow(from, to, Bytes(1000), Span::us(0));
    }
    net.blueprint.records = RecordSpec { queue_histogram: Some(histogram), ..RecordSpec::default() };
    net.run()
}

#[test]
fn a_packet_that_waits_is_found_by_the_instants_of_its_wait() {
    // Both arrive at 1098 x 80 ps + 1 us = 1087.84 ns, and the second starts 87.84 ns later.
    let every = Span(10_000);
    let records = meeting(HistogramSpec { from: Time(0), to: Time(2 * US), every, bin: Bytes(100) });
    // 1090 to 1170 ns: nine instants of 201.
    assert_eq!(bins(&records, "s-to"), [(0, 192), (1000, 9)]);
    // What the switch could send to the senders: nothing.
    assert_eq!(bins(&records, "a-s"), [(0, 201)]);
    let samples =
        QueueSamples { from_us: 0.0, to_us: Some(2.0), every_us: 0.01, bin_bytes: 100, instants: 201 };
    assert_eq!(records.outcome.queue_samples, Some(samples));
    // Hosts have no rows.
    let table = records.queue_histogram.expect("it was asked for");
    assert!(texts(&table, "node").iter().all(|node| node == "s"));
}

#[test]
fn an_instant_finds_the_queue_as_it_was_before_the_changes_of_that_instant() {
    let at = |time| {
        let every = Span(US);
        let spec = HistogramSpec { from: Time(time), to: Time(time), every, bin: Bytes(100) };
        bins(&meeting(spec), "s-to")
    };
    let (arrive, start) = (1_087_840, 1_087_840 + 87_840);
    assert_eq!(at(arrive), [(0, 1)]);
    assert_eq!(at(arrive + 1), [(1000, 1)]);
    assert_eq!(at(start), [(1000, 1)]);
    assert_eq!(at(start + 1), [(0, 1)]);
}

#[test]
fn instants_after_the_end_of_the_run_are_not_counted() {
    let spec = HistogramSpec { from: Time(50 * US), to: Time::NEVER, every: Span(25 * US), bin: Bytes(100) };
    let records = meeting(spec);
    // The run ends with its first epoch, at 100 us.
    assert_eq!(records.outcome.simulated_us, 100.0);
    assert_eq!(bins(&records, "s-to"), [(0, 3)]);
    let late = meeting(HistogramSpec { from: Time(200 * US), ..spec });
    assert_eq!(bins(&late, "s-to"), []);
    let samples = QueueSamples { from_us: 200.0, to_us: None, every_us: 25.0, bin_bytes: 100, instants: 0 };
    assert_eq!(late.outcome.queue_samples, Some(samples));
}

#[test]
fn neither_changes_anything_else() {
    let mut net = incast();
    let plain = net.run();
    assert!(plain.pauses.is_none() && plain.queue_histogram.is_none());
    let histogram = HistogramSpec { from: Time(0), to: Time::NEVER, every: Span(100_000), bin: Bytes(1000) };
    net.blueprint.records = RecordSpec { queue_histogram: Some(histogram), ..logged(1000) };
    let mut kept = net.run();
    (kept.pauses, kept.queue_histogram) = (None, None);
    (kept.outcome.pauses, kept.outcome.queue_samples) = (None, None);
    // As text, in which NaN equals NaN.
    assert!(everything(&kept) == everything(&plain));
}

//! ECN marking in a network: how many packets are marked at which queue, and which senders get CNPs.
//!
//! ```text
//!  a ──── 100 Gbit/s ────► s ──── 25 Gbit/s ────► b      a window of constant size: a queue of constant length
//! ```

use crate::support;
use crate::support::{Net, counter, everything, finished, names, params, port, real, whole};
use floodway_fabric::Records;
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;

/// Buffer bytes of a full packet.
const FRAME: f64 = 1_062.0;
const PACKETS: u64 = 100_000;

/// One flow that keeps `window` bytes on its way through a slower link, with `red` before that.
fn bottleneck(window: &str, red: Option<&str>) -> Net {
    let window = format!(r#"{{"static-window": {{"size": "{window}"}}}}"#);
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#).rate_control(&[&window]);
    let pfc = r#"{"pfc": {"xoff": "2MB"}}"#;
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, Rate::gbps(100), Span::us(1), pfc);
    let slow = net.link(s, b, Rate::gbps(25), Span::us(1), pfc);
    if let Some(red) = red {
        net.congestion_point(slow, s, red);
    }
    net.flow(a, b, Bytes(PACKETS * 1_000), Span::ZERO);
    net.blueprint.records.watch = vec![port(slow, 0)];
    net.blueprint.records.busiest = 0;
    net
}

/// Bytes that waited on average in each bucket of time.
fn queue(records: &Records) -> Vec<f64> {
    let (objects, metrics) = (names(records.series.column("object")), names(records.series.column("metric")));
    let values = real(records.series.column("value"));
    let rows =
        (0..values.len()).filter(|&row| objects[row].ends_with("s>b") && metrics[row] == "queue_mean_bytes");
    rows.map(|row| values[row]).collect()
}

fn marks(records: &Records) -> f64 {
    counter(records, "s", "s-b", "ecn_marks") as f64
}

#[test]
fn the_share_of_marked_packets_is_reds_probability_at_the_queue() {
    // P = (q - 100 KB) / 300 KB.
    let ramp =
        |at: &str| format!(r#"{{"red": {{"kmin": "100KB", "kmax": "400KB", "pmax": 1, "at": "{at}"}}}}"#);
    for at in ["dequeue", "enqueue"] {
        for window in ["150KB", "250KB", "350KB"] {
            let records = bottleneck(window, Some(&ramp(at))).run();
            assert_eq!(finished(&records), [true]);
            let queue = queue(&records);
            let buckets = queue.len() as f64;
            let p =
                queue.iter().map(|q| (q - 100e3) / 300e3).map(|p| p.clamp(0.0, 1.0)).sum::<f64>() / buckets;
            assert!(p > 0.1 && p < 0.9, "{p} is on the ramp");
            let n = PACKETS as f64;
            // Five standard deviations, a frame that the mean counts and the mark does not or the reverse,
            // and the last bucket, in which the run may end early.
            let slack = 5.0 * (p * (1.0 - p) / n).sqrt() + FRAME / 300e3 + 1.0 / buckets;
            let share = marks(&records) / n;
            assert!((share - p).abs() < slack, "{share} at {at} with {window}, not {p} within {slack}");
        }
    }
}

#[test]
fn a_queue_below_kmin_marks_nothing_and_one_above_kmax_everything() {
    let step = r#"{"red": {"kmin": "100KB", "kmax": "100KB"}}"#;
    assert_eq!(marks(&bottleneck("90KB", Some(step)).run()), 0.0);
    // All but the packets while the queue grows and while it drains.
    let most = marks(&bottleneck("400KB", Some(step)).run());
    assert!(most > PACKETS as f64 - 400.0 && most < PACKETS as f64, "{most}");
}

#[test]
fn presets_go_by_the_rate_of_the_port() {
    // At 25G HPCC marks from 100 KB on, ConWeave and HPCC agree, SWING begins at 200 KB.
    let share = |preset: &str| {
        let red = format!(r#"{{"red": {{"preset": "{preset}"}}}}"#);
        marks(&bottleneck("190KB", Some(&red)).run()) / PACKETS as f64
    };
    assert!(share("hpcc") > 0.03);
    assert_eq!(share("hpcc"), share("conweave"));
    assert_eq!(share("swing"), 0.0);
}

#[test]
fn every_mark_reaches_the_receiver_and_only_data_is_marked() {
    for at in ["dequeue", "enqueue"] {
        let red = format!(r#"{{"red": {{"kmin": "10KB", "kmax": "100KB", "pmax": 0.5, "at": "{at}"}}}}"#);
        let mut net = bottleneck("80KB", Some(&red));
        // ACKs and CNPs meet the same rule on their way back.
        net.congestion_point(0, NodeId(1), &red);
        net.blueprint.settings[0].notification = params(r#"{"dcqcn": {"cnp-interval": "0us"}}"#);
        let records = net.until_limit().run();
        let cnps = whole(records.flows.column("cnps"))[0];
        assert_eq!((cnps as f64, support::sum(&records, "ecn_marks")), (marks(&records), cnps), "at {at}");
        assert!(cnps > 10_000, "{cnps}");
    }
}

#[test]
fn marking_that_never_acts_changes_nothing() {
    let none = bottleneck("400KB", None).run();
    let idle = bottleneck("400KB", Some(r#"{"red": {"kmin": "2MB", "kmax": "3MB"}}"#)).run();
    assert_eq!(everything(&none), everything(&idle));
}

#[test]
fn a_port_counts_what_it_marks_whether_it_came_marked_or_not() {
    let step = r#"{"red": {"kmin": "1KB", "kmax": "1KB", "pmax": 1}}"#;
    let mut net = Net::new(Format::Ethernet)
        .reliability(r#""go-back-n""#)
        .rate_control(&[r#"{"static-window": {"size": "400KB"}}"#]);
    let pfc = r#"{"pfc": {"xoff": "2MB"}}"#;
    let (a, s, t, b) = (net.host("a"), net.switch("s"), net.switch("t"), net.host("b"));
    net.link(a, s, Rate::gbps(100), Span::us(1), pfc);
    let middle = net.link(s, t, Rate::gbps(50), Span::us(1), pfc);
    let last = net.link(t, b, Rate::gbps(25), Span::us(1), pfc);
    net.congestion_point(middle, s, step);
    net.congestion_point(last, t, step);
    net.flow(a, b, Bytes::mb(10), Span::ZERO);
    let records = net.run();
    // Both are slower than what feeds them: all but the last packets leave a queue behind, and none waits
    // at the middle once the window is in the last queue.
    let marks = |node, link| counter(&records, node, link, "ecn_marks");
    assert!(marks("t", "t-b") >= 9_990, "{}", marks("t", "t-b"));
    assert!(marks("s", "s-t") > 0);
}

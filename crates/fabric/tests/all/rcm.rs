//! RCM in networks: a burst is held back where it meets others, no packets are reordered, and control ends.

use crate::support;
use crate::support::{Net, counter, drops, names, real, sum, texts, whole};
use floodway_fabric::Records;
use floodway_fabric::blueprint::UNBOUNDED;
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "70KB", "resume-offset": "2KB"}}"#;

/// Where switches keep packets.
const BUFFERS: [&str; 2] = [r#""ioq""#, r#"{"shared": {"pool": "4MB"}}"#];

/// When the burst begins, and how long it lasts at its host.
const BURST: (u64, u64) = (150, 20);

/// The paper's Fig. 6: four hosts come to s by one link and the burst by another; all send to d.
///
/// ```text
///  h0..h3 ── a ──┐
///                s ── d
///  hb ────── b ──┘
/// ```
fn incast(buffer: &str, point: Option<&str>) -> Net {
    let mut net = Net::new(Format::HpccNs3);
    // A quarter of the link each, as their rate control has found.
    net = net.reliability(r#""go-back-n""#).rate_control(&[r#"{"static-window": {"size": "20KB"}}"#]);
    let mut burst = net.blueprint.settings[0].clone();
    burst.rate_control.truncate(0);
    burst.rate_control.push(support::params(r#""line-rate""#));
    net.blueprint.settings.push(burst);
    let [a, b, s] = ["a", "b", "s"].map(|name| net.switch_with(name, buffer));
    let hosts: Vec<NodeId> = (0..4).map(|i| net.host(&format!("h{i}"))).collect();
    let (hb, d) = (net.host("hb"), net.host("d"));
    for &host in &hosts {
        net.link(host, a, G100, Span::us(1), PFC);
    }
    net.link(hb, b, G100, Span::us(1), PFC);
    let links = [(a, s), (b, s)].map(|(from, to)| net.link(from, to, G100, Span::us(1), PFC));
    let last = net.link(s, d, G100, Span::us(1), PFC);
    for (link, from) in [(links[0], a), (links[1], b), (last, s)] {
        if let Some(point) = point {
            net.congestion_point(link, from, point);
        }
    }
    for &host in &hosts {
        net.flow(host, d, UNBOUNDED, Span::ZERO);
    }
    let size = Bytes(12_500 * BURST.1 * 1000 / 1048);
    net.flow(hb, d, size, Span::us(BURST.0)).settings = Some(1);
    net.blueprint.records.signals = Some(100_000);
    net
}

/// What the four flows, and the burst, have delivered by `us`.
fn delivered(net: &Net, us: u64) -> (u64, u64) {
    let records = Net { blueprint: net.blueprint.clone() }.limit(Span::us(us)).until_limit().run();
    assert_eq!((records.outcome.lossless.is_held(), drops(&records)), (true, 0));
    assert!(whole(records.flows.column("retransmitted_bytes")).iter().all(|bytes| *bytes == 0), "reordered");
    assert!(whole(records.flows.column("out_of_order_packets")).iter().all(|packets| *packets == 0));
    let bytes = whole(records.flows.column("delivered_bytes"));
    (bytes[..4].iter().sum(), bytes.get(4).copied().unwrap_or_default())
}

/// Gbit/s of the four flows together, and of the burst, between two instants.
fn rates(net: &Net, from: u64, to: u64) -> (f64, f64) {
    let (before, after) = (delivered(net, from), delivered(net, to));
    let gbps = |before: u64, after: u64| (after - before) as f64 * 8.0 / 1e3 / (to - from) as f64;
    (gbps(before.0, after.0), gbps(before.1, after.1))
}

/// States of the ports, one a row: when, at which node, and which.
fn states(records: &Records) -> Vec<(f64, String, String)> {
    let signals = records.signals.as_ref().expect("it was asked for");
    let (times, nodes) = (real(signals.column("time_ns")), names(signals.column("node")));
    let states = texts(signals, "state").into_iter().enumerate();
    states.filter_map(|(row, state)| Some((times[row] / 1e3, nodes[row].clone(), state?))).collect()
}

/// CNs in the order in which s has sent them: the neighbour, the degree, and how many flows are named.
fn cns(records: &Records) -> Vec<String> {
    let signals = records.signals.as_ref().expect("it was asked for");
    let (kinds, nodes) = (names(signals.column("event")), names(signals.column("node")));
    let (to, ports) = (texts(signals, "neighbour"), names(signals.column("link")));
    let (degrees, flows) = (real(signals.column("degree")), real(signals.column("flows")));
    let mut found = Vec::new();
    for row in 0..kinds.len() {
        let is_cn = kinds[row] == "cn";
        let given = (to[row].is_some(), degrees[row].is_finite(), flows[row].is_finite());
        assert_eq!(given, (is_cn, is_cn, is_cn), "{}", kinds[row]);
        if is_cn {
            assert_eq!(
                (nodes[row].as_str(), ports[row].as_str()),
                ("s", "s-d"),
                "others have hosts upstream"
            );
            let to = to[row].clone().unwrap_or_default();
            found.push(format!("{to} {} {}", degrees[row], flows[row]));
        }
    }
    found
}

/// Behind a crossbar the burst's input is congested, and that of the others is not: b alone gets a CN. In one
/// queue packets of both inputs wait. The burst is the one harmful flow, and all is taken back in the end.
#[test]
fn each_cn_to_a_switch_has_a_row_and_hosts_get_no_cn() {
    let behind_crossbar = "b 63 1, b 41 1, b 56 1, b 0 0";
    let in_one_queue = "a 56 1, a 4 1, b 63 1, b 48 1, a 2 1, b 13 1, a 10 1, b 0 0, a 0 0";
    for (buffer, expected) in BUFFERS.into_iter().zip([behind_crossbar, in_one_queue]) {
        let records = incast(buffer, Some(r#""rcm""#)).limit(Span::us(600)).until_limit().run();
        let cns = cns(&records);
        assert_eq!(cns.join(", "), expected, "{buffer}");
        let count = cns.len() as u64;
        assert_eq!((counter(&records, "s", "s-d", "cns"), sum(&records, "cns")), (count, count));
    }
}

#[test]
fn without_it_there_are_no_cns() {
    let records = incast(BUFFERS[0], None).limit(Span::us(200)).until_limit().run();
    assert_eq!((sum(&records, "cns"), cns(&records).len()), (0, 0));
}

#[test]
fn without_it_the_burst_takes_half_of_the_link() {
    let (others, burst) = rates(&incast(BUFFERS[0], None), 158, 172);
    assert!((44.0..52.0).contains(&burst) && (44.0..52.0).contains(&others), "{others} {burst}");
}

#[test]
fn the_burst_is_cut_while_it_arrives_and_the_others_get_the_rest() {
    for buffer in BUFFERS {
        let net = incast(buffer, Some(r#""rcm""#));
        let (others, burst) = rates(&net, 140, 150);
        assert!(others > 90.0 && burst == 0.0, "{buffer}: {others} before it");
        // Found at 154 us, cut five later; a link away at d. Then it comes and goes with the others' queue.
        let (_, burst) = rates(&net, 159, 162);
        assert!(burst < 30.0, "{buffer}: {burst} within 5 us and a link's delay");
        let (others, burst) = rates(&net, 160, 184);
        assert!(
            (20.0..35.0).contains(&burst) && others > 60.0,
            "{buffer}: {others} and {burst} while it lasts"
        );
    }
}

#[test]
fn roles_are_those_of_the_paper_and_control_is_over_in_the_end() {
    for buffer in BUFFERS {
        let records = incast(buffer, Some(r#""rcm""#)).limit(Span::us(600)).until_limit().run();
        let states = states(&records);
        let of = |node: &str| -> Vec<&str> {
            let rows = states.iter().filter(|(at, of, _)| of == node && *at > 150.0);
            rows.map(|(.., state)| state.as_str()).collect()
        };
        assert!(of("s").contains(&"root"), "{buffer}: {states:?}");
        assert!(of("b").contains(&"edge") || of("b").contains(&"inner"), "{buffer}: {states:?}");
        for node in ["a", "b", "s"] {
            assert_eq!(*of(node).last().unwrap_or(&"outside"), "outside", "{buffer}, {node}: {states:?}");
        }
    }
}

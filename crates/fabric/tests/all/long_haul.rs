//! Reliability on long paths: nothing is retransmitted too early.

use crate::support::{Net, drops_by, fct_ps, finished, real, whole};
use floodway_fabric::blueprint::ErrorRates;
use floodway_fabric::outcome::Stopped;
use floodway_units::{Bytes, Length, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);

/// 100 MB from `a` to `b`, over 600 km between two switches.
fn haul() -> Net {
    let pfc = r#"{"pfc": {"xoff": "auto"}}"#;
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#);
    let buffer = r#"{"static": {"size": "80MB"}}"#;
    let (a, s) = (net.host("a"), net.switch_with("s", buffer));
    let (t, b) = (net.switch_with("t", buffer), net.host("b"));
    net.link(a, s, G100, Span::us(1), pfc);
    net.link(s, t, G100, Length(600_000).delay(), pfc);
    net.link(t, b, G100, Span::us(1), pfc);
    net.flow(a, b, Bytes::mb(100), Span::ZERO);
    net
}

/// The time that the flow takes beyond its ideal, in microseconds.
fn delayed_but_sent_once(net: &Net) -> f64 {
    let records = net.run();
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert!(records.outcome.lossless.is_held());
    assert_eq!(whole(records.flows.column("retransmitted_bytes")), [0]);
    assert_eq!(whole(records.flows.column("timeouts")), [0]);
    real(records.flows.column("fct_us"))[0] - real(records.flows.column("ideal_fct_us"))[0]
}

#[test]
fn a_flow_over_600_km_is_sent_once() {
    assert_eq!(delayed_but_sent_once(&haul()), 0.0);
}

#[test]
fn a_pause_of_20_ms_in_its_path_makes_it_late_and_nothing_more() {
    for link in [0, 1, 2] {
        let mut net = haul();
        let pauses = net.blueprint.links[link].ends[1].node;
        net.pauses(link, pauses, Span::ms(4), Time::ZERO + Span::ms(24));
        let late = delayed_but_sent_once(&net);
        // Behind the fibre a buffer of 5 MB fills, and what it lets in again is a round trip of 6 ms away.
        let starved = if link == 2 { 5_600.0 } else { 0.0 };
        assert!((late - 20_000.0 - starved).abs() < 10.0, "{late} us late, paused on link {link}");
    }
}

/// Three flows of each of six hosts, both ways over a link with errors.
fn damaged(errors: ErrorRates, jitter: Span, reliability: &str) -> Net {
    let lossy = r#""lossy""#;
    let mut net = Net::new(Format::Ethernet).reliability(reliability).limit(Span::ms(4_000));
    let (s, t) = (net.switch("s"), net.switch("t"));
    let cut = net.link(s, t, G100, Span::us(5), lossy);
    for direction in &mut net.blueprint.links[cut].directions {
        (direction.errors, direction.jitter) = (errors, jitter);
    }
    let hosts: Vec<_> = (0..6).map(|i| net.host(&format!("h{i}"))).collect();
    for (i, &host) in hosts.iter().enumerate() {
        net.link(host, if i < 3 { s } else { t }, Rate::gbps(25), Span::us(1), lossy);
    }
    for (i, size) in [1, 999, 1_000, 1_001, 64_000, 2_000_000].into_iter().enumerate() {
        for _ in 0..3 {
            net.flow(hosts[i], hosts[(i + 3) % 6], Bytes(size), Span::ZERO);
        }
    }
    net
}

#[test]
fn with_one_percent_of_loss_every_byte_arrives_exactly_once() {
    let data = ErrorRates { data: 0.01, ..ErrorRates::default() };
    let control = ErrorRates { control: 0.01, ..ErrorRates::default() };
    let both = ErrorRates { data: 0.01, control: 0.01, link_control: 0.01 };
    for (errors, jitter) in [(data, 0), (control, 0), (both, 0), (both, 3_000)] {
        for reliability in [r#""go-back-n""#, r#"{"go-back-n": {"ack-interval": 16}}"#] {
            let mut net = damaged(errors, Span::ns(jitter), reliability);
            let mut lost = 0;
            for seed in 0..5 {
                net.blueprint.seed = seed;
                let records = net.run();
                assert_eq!(records.outcome.stopped, Stopped::Finished, "{errors:?} {reliability}");
                let sizes = whole(records.flows.column("size_bytes"));
                assert_eq!(whole(records.flows.column("delivered_bytes")), sizes);
                let totals = &records.outcome.workloads[0];
                assert_eq!(totals.offered_bytes, totals.delivered_bytes);
                assert_eq!(totals.finished, sizes.len() as u64);
                lost += drops_by(&records, "link_error");
            }
            assert!(lost > 5, "{lost} packets were damaged");
        }
    }
}

#[test]
fn a_sender_whose_last_ack_is_lost_sends_again_and_the_receiver_takes_nothing_twice() {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#).limit(Span::ms(100)).until_limit();
    let (a, b) = (net.host("a"), net.host("b"));
    let link = net.link(a, b, G100, Span::us(1), r#""lossy""#);
    net.flow(a, b, Bytes(2_500), Span::ZERO);
    net.blueprint.links[link].directions[1].errors.control = 0.9;
    let records = net.run();
    assert_eq!(fct_ps(&records), [Some((1098 + 1082 + 582) * 80 + 1_000_000)]);
    assert!(finished(&records)[0] && whole(records.flows.column("timeouts"))[0] > 0);
    assert!(whole(records.flows.column("retransmitted_bytes"))[0] >= 500);
    assert_eq!(whole(records.flows.column("delivered_bytes")), [2_500]);
    // The first time-out: 4 ms after the last ACK that advanced.
    assert!(real(records.flows.column("finish_sender_us"))[0] > 4_000.0);
}

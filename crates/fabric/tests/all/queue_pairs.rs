//! Queue pairs that carry several messages: times to the picosecond, congestion state, losses.

use crate::support;
use crate::support::{Net, PFC, everything, fct_ps, names, port, real, sum, whole};
use floodway_fabric::Records;
use floodway_fabric::blueprint::{Arrivals, PoissonSpec, Sharing};
use floodway_fabric::destinations::DestinationPattern;
use floodway_fabric::sizes::Sizes;
use floodway_mechanisms::registry::NotificationParams;
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const GO_BACK_N: &str = r#""go-back-n""#;
/// Picoseconds of a byte at 100G, and of the link.
const BYTE: u64 = 80;
const LINK: u64 = 1_000_000;
/// Wire bytes of an ACK: 66 B with preamble and gap.
const ACK: u64 = 86;

/// Two hosts at the ends of 1 us at 100G, whose flows share a queue pair.
fn pair(format: Format, reliability: &str) -> (Net, NodeId, NodeId) {
    let mut net = Net::new(format).reliability(reliability);
    net.blueprint.settings[0].qp = Sharing::PerPair;
    let (a, b) = (net.host("a"), net.host("b"));
    net.link(a, b, Rate::gbps(100), Span::us(1), PFC);
    (net, a, b)
}

/// A column of times in picoseconds; none where a time is missing.
fn ps(records: &Records, column: &str) -> Vec<Option<u64>> {
    let us = real(records.flows.column(column)).into_iter();
    us.map(|us| (!us.is_nan()).then(|| (us * 1e6).round() as u64)).collect()
}

#[test]
fn a_message_waits_for_the_one_before_and_each_has_its_own_times() {
    let (mut net, a, b) = pair(Format::Ethernet, GO_BACK_N);
    net.flow(a, b, Bytes(2500), Span::ZERO);
    net.flow(a, b, Bytes(1500), Span::ns(10));
    net.flow(a, b, Bytes(300), Span::us(20));
    let records = net.run();
    // Each message begins with a header of 16 B more and may end with a short packet.
    let first = (1098 + 1082 + 582) * BYTE + LINK;
    let second = first + (1098 + 582) * BYTE;
    let third = 20_000_000 + (300 + 98) * BYTE + LINK;
    let received = [first, second, third];
    assert_eq!(ps(&records, "finish_receiver_us"), received.map(Some));
    assert_eq!(ps(&records, "finish_sender_us"), received.map(|at| Some(at + ACK * BYTE + LINK)));
    assert_eq!(fct_ps(&records), [Some(first), Some(second - 10_000), Some(third - 20_000_000)]);
    // The ideal knows of no queue.
    assert_eq!(ps(&records, "ideal_fct_us")[1], Some((1098 + 582) * BYTE + LINK));
    assert_eq!(whole(records.flows.column("delivered_bytes")), [2500, 1500, 300]);
    assert_eq!(whole(records.flows.column("number")), [0, 1, 2]);
}

#[test]
fn without_acks_messages_are_complete_as_they_arrive_and_have_no_time_at_the_sender() {
    let (mut net, a, b) = pair(Format::Ethernet, r#""none""#);
    net.flow(a, b, Bytes(2500), Span::ZERO);
    net.flow(a, b, Bytes(1500), Span::ns(10));
    let records = net.run();
    let first = (1098 + 1082 + 582) * BYTE + LINK;
    assert_eq!(ps(&records, "finish_receiver_us"), [Some(first), Some(first + (1098 + 582) * BYTE)]);
    assert_eq!(ps(&records, "finish_sender_us"), [None, None]);
}

#[test]
fn pairs_are_those_of_workload_settings_ports_and_paths() {
    let (mut net, a, b) = pair(Format::Ethernet, GO_BACK_N);
    let others = net.workload("others");
    let size = Bytes::kb(100);
    for i in 0..2 {
        net.flow(a, b, size, Span::ns(i));
        net.flow_of(others, a, b, size, Span::ns(i)).source_port = Some(7);
    }
    net.flow_of(others, a, b, size, Span::ns(2)).source_port = Some(8);
    let fct = fct_ps(&net.run());
    // Three queue pairs take turns: the second messages of two of them wait for the first.
    let alone = 100 * 1082 * BYTE;
    let done: Vec<u64> = fct.into_iter().map(|fct| fct.expect("all finish") / alone).collect();
    assert_eq!(done, [3, 3, 5, 5, 3]);
}

/// A pair with DCQCN over a switch that marks soon, before a link of so many Gbit/s.
fn congested(format: Format, sharing: Sharing, gbps: u64) -> (Net, NodeId, NodeId) {
    let mut net = Net::new(format).reliability(GO_BACK_N).rate_control(&[r#""dcqcn""#]);
    let settings = &mut net.blueprint.settings[0];
    settings.notification = NotificationParams::asked_by(&settings.rate_control);
    settings.qp = sharing;
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, Rate::gbps(100), Span::us(1), PFC);
    let out = net.link(s, b, Rate::gbps(gbps), Span::us(1), PFC);
    net.congestion_point(out, s, r#"{"red": {"kmin": "5KB", "kmax": "20KB", "pmax": 0.2}}"#);
    net.blueprint.records.watch = vec![port(out, 0)];
    (net, a, b)
}

#[test]
fn messages_behind_each_other_are_sent_as_one() {
    // These headers do not distinguish a message's first packet from others.
    let run = |sizes: &[u64]| {
        let (mut net, a, b) = congested(Format::HpccNs3, Sharing::PerPair, 25);
        for &kb in sizes {
            net.flow(a, b, Bytes::kb(kb), Span::ZERO);
        }
        net.run()
    };
    let (one, three) = (run(&[3000]), run(&[1000, 500, 1500]));
    assert!(sum(&one, "ecn_marks") > 0 && whole(one.flows.column("cnps"))[0] > 0);
    assert_eq!(fct_ps(&one)[0], fct_ps(&three)[2]);
    let cnps = whole(three.flows.column("cnps"));
    assert_eq!(whole(one.flows.column("cnps"))[0], cnps.iter().sum::<u64>());
    assert!(cnps[0] > 0 && cnps[2] > 0, "{cnps:?}");
}

#[test]
fn a_message_starts_at_the_rate_that_the_one_before_ended_with() {
    let run = |sharing| {
        let (mut net, a, b) = congested(Format::Ethernet, sharing, 100);
        let other = net.host("c");
        net.link(other, NodeId(1), Rate::gbps(100), Span::us(1), PFC);
        net.flow(a, b, Bytes::mb(2), Span::ZERO);
        net.flow(other, b, Bytes::mb(2), Span::ZERO);
        // When both have ended and nothing is in the way, but before the rate has recovered.
        net.flow(a, b, Bytes::kb(4), Span::us(800));
        let fct = fct_ps(&net.run());
        assert!(fct[..2].iter().all(|fct| fct.is_some_and(|fct| fct < 800_000_000)), "{fct:?}");
        fct[2].expect("it finishes")
    };
    // The last packet comes behind the others, the first of which is the longest.
    let alone = (1098 + 3 * 1082 + 1098) * BYTE + 2 * LINK;
    assert_eq!(run(Sharing::PerFlow), alone);
    // The time between packets is that at the rate of congestion: some half of the line's, or less.
    let paced = run(Sharing::PerPair);
    assert!(paced > alone + 2 * 1082 * BYTE, "{paced}");
}

#[test]
fn a_queue_pair_at_rest_makes_no_events() {
    let events = |limit| {
        let (mut net, a, b) = congested(Format::Ethernet, Sharing::PerPair, 25);
        net.flow(a, b, Bytes::mb(1), Span::ZERO);
        net.limit(limit).until_limit().run().outcome.events
    };
    // The rate has recovered after some hundred milliseconds.
    assert_eq!(events(Span::ms(3_000)), events(Span::ms(5_000)));
}

#[test]
fn poisson_flows_of_a_pair_share_a_queue_pair() {
    let run = |sharing| {
        let (mut net, a, b) = pair(Format::Ethernet, GO_BACK_N);
        net.blueprint.settings[0].qp = sharing;
        net.blueprint.workloads[0].arrivals = Arrivals::Poisson(PoissonSpec {
            sources: vec![a, b],
            destinations: vec![a, b],
            pattern: DestinationPattern::Uniform,
            sizes: Sizes::fixed(Bytes::kb(20)),
            mean_gap: Span::us(3),
            from: Time::ZERO,
            until: Time::ZERO + Span::ms(1),
        });
        net.run()
    };
    let (shared, apart) = (run(Sharing::PerPair), run(Sharing::PerFlow));
    assert_eq!(shared.flows.column("start_us"), apart.flows.column("start_us"));
    let (source, finish) = (names(shared.flows.column("source")), ps(&shared, "finish_receiver_us"));
    for host in ["a", "b"] {
        let own: Vec<_> =
            (0..source.len()).filter(|&row| source[row] == host).map(|row| finish[row]).collect();
        assert!(own.len() > 200 && own.is_sorted(), "one after another");
    }
    assert_ne!(fct_ps(&shared), fct_ps(&apart));
    assert_eq!(everything(&shared), everything(&run(Sharing::PerPair)));
}

/// Messages of a pair: (size, start in ns), and the loss rate in percent.
fn messages() -> impl Strategy<Value = (Vec<(u64, u64)>, u32, u64, bool)> {
    let message = (1u64..20_000, 0u64..200_000);
    (prop::collection::vec(message, 1..30), 0u32..5, any::<u64>(), any::<bool>())
}

fn lossy_pair(drawn: &(Vec<(u64, u64)>, u32, u64, bool), reliability: &str) -> Records {
    let (mut net, a, b) = pair(Format::Ethernet, reliability);
    net.blueprint.seed = drawn.2;
    for direction in &mut net.blueprint.links[0].directions {
        direction.errors.data = f64::from(drawn.1) / 100.0;
        direction.errors.control = direction.errors.data;
    }
    let mut flows = drawn.0.clone();
    flows.sort_by_key(|flow| flow.1);
    for (size, start) in flows {
        net.flow(a, b, Bytes(size), Span::ns(start));
    }
    // The last ACKs come after the last byte.
    net.limit(Span::ms(50)).until_limit().run()
}

proptest! {
    #![proptest_config(support::property(100))]

    #[test]
    fn messages_finish_whole_and_in_order_whatever_is_lost(drawn in messages()) {
        let reliability = if drawn.3 {
            r#"{"go-back-n": {"ack-interval": 4, "timeout": "100us"}}"#
        } else {
            r#"{"go-back-n": {"timeout": "100us", "nack-interval": "5us"}}"#
        };
        let records = lossy_pair(&drawn, reliability);
        prop_assert_eq!(whole(records.flows.column("delivered_bytes")), whole(records.flows.column("size_bytes")));
        for column in ["finish_receiver_us", "finish_sender_us"] {
            let times = ps(&records, column);
            prop_assert!(times.iter().all(Option::is_some) && times.is_sorted(), "{} {:?}", column, times);
        }
        prop_assert_eq!(records.flows.rows(), drawn.0.len());
        prop_assert_eq!(whole(records.flows.column("out_of_order_packets")), vec![0; drawn.0.len()]);
        prop_assert_eq!(everything(&records), everything(&lossy_pair(&drawn, reliability)));
    }

    /// Messages that lose a packet never finish, all others do; rows are one each.
    #[test]
    fn without_acks_losses_stay_with_their_message(drawn in messages()) {
        let records = lossy_pair(&drawn, r#""none""#);
        let (size, delivered) =
            (whole(records.flows.column("size_bytes")), whole(records.flows.column("delivered_bytes")));
        prop_assert_eq!(size.len(), drawn.0.len());
        let finished = ps(&records, "finish_receiver_us");
        for i in 0..size.len() {
            prop_assert_eq!(finished[i].is_some(), size[i] == delivered[i]);
        }
        let lost = size.iter().sum::<u64>() - delivered.iter().sum::<u64>();
        prop_assert_eq!(lost > 0, support::drops(&records) > 0);
    }
}

/// Twenty messages of two packets, 1000 B and 10 B, over a link that loses exactly one of them.
fn one_loss() -> impl Iterator<Item = Records> {
    (0..200).filter_map(|seed| {
        let (mut net, a, b) = pair(Format::Ethernet, GO_BACK_N);
        net.blueprint.seed = seed;
        net.blueprint.links[0].directions[0].errors.data = 0.02;
        for _ in 0..20 {
            net.flow(a, b, Bytes(1010), Span::ZERO);
        }
        let records = net.run();
        (support::drops(&records) == 1).then_some(records)
    })
}

#[test]
fn what_is_sent_again_is_charged_to_the_message_that_it_belongs_to() {
    let mut splits = [0; 2];
    for records in one_loss() {
        let again = whole(records.flows.column("retransmitted_bytes"));
        // All is on its way before the loss is known, so that all behind it is retransmitted.
        let lost = again.iter().position(|&bytes| bytes > 0).expect("a packet was lost");
        let first = again[lost];
        assert!(first == 10 || first == 1010, "{again:?}");
        splits[usize::from(first == 10)] += 1;
        assert!(again[lost + 1..].iter().all(|&bytes| bytes == 1010), "{again:?}");
        // Packets retransmitted, by what the link has carried.
        let packets = support::counter(&records, "a", "a-b", "tx_packets") - 40;
        let charged: u64 = again.iter().map(|bytes| bytes.div_ceil(1000)).sum();
        assert_eq!(packets, charged, "{again:?}");
    }
    assert!(splits.iter().all(|&count| count > 10), "{splits:?}");
}

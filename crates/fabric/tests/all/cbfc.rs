//! Credits on whole networks: what a buffer allows, what is lost and repaired, and beside other flow
//! controls.

use crate::support::{
    Net, assert_invariants, counter, drops, drops_by, finished, names, params, port, real, sum, whole,
};
use floodway_fabric::Records;
use floodway_fabric::blueprint::{ErrorRates, UNBOUNDED};
use floodway_fabric::outcome::Stopped;
use floodway_mechanisms::registry::FlowControlParams;
use floodway_units::{Bytes, Class, Length, NodeId, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
/// Bytes that 100 Gbit/s carry in a microsecond.
const PER_US: u64 = 12_500;
/// The largest frame of 1000 bytes of payload on an Ethernet.
const WIRE: u64 = 1_098;
const CBFC: &str = r#""cbfc""#;
const INFINIBAND: &str = r#"{"cbfc": {"mode": "infiniband"}}"#;
/// Credits as small as InfiniBand's blocks.
const UEC: &str = r#"{"cbfc": {"mode": "uec", "credit-size": "64B"}}"#;

fn fixed(size: u64) -> String {
    format!(r#"{{"static": {{"size": "{size}B"}}}}"#)
}

/// `a` - `s` - so far - `t` - `b`, all at 100 Gbit/s, all under the flow control; the buffer at `t` of the
/// long link.
fn haul(flow_control: &str, length: Length, buffer: u64) -> (Net, [NodeId; 4]) {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(40));
    let (a, s) = (net.host("a"), net.switch("s"));
    let (t, b) = (net.switch("t"), net.host("b"));
    net.link(a, s, G100, Span::us(1), flow_control);
    let long = net.link(s, t, G100, length.delay(), flow_control);
    net.link(t, b, G100, Span::us(1), flow_control);
    net.port_buffer(long, t, &fixed(buffer));
    (net, [a, s, t, b])
}

/// The share of the long link that a backlogged flow gets, after its first `warm_up` microseconds.
fn share(mut net: Net, ends: [NodeId; 4], warm_up: f64) -> f64 {
    net.flow(ends[0], ends[3], UNBOUNDED, Span::ZERO);
    net.blueprint.records.watch = vec![port(1, 0)];
    net.blueprint.records.busiest = 0;
    let records = net.limit(Span::ms(8)).run();
    assert_eq!((records.outcome.lossless.is_held(), drops(&records)), (true, 0));
    let metrics = names(records.series.column("metric"));
    let (times, values) = (real(records.series.column("time_us")), real(records.series.column("value")));
    let width = real(records.series.column("bucket_us"))[0];
    let sent: Vec<f64> = (0..metrics.len())
        .filter(|&row| metrics[row] == "tx_bytes" && times[row] > warm_up)
        .map(|row| values[row])
        .collect();
    // The last bucket may not be whole.
    let whole = &sent[..sent.len() - 1];
    whole.iter().sum::<f64>() / (whole.len() as f64 * width * PER_US as f64)
}

/// What credits wait for beyond the bits' own round trip: the frame that leaves, the one that arrives, and
/// the message; and a frame for which what is left is too little.
const FRAMES: u64 = 3 * WIRE + 84;

#[test]
fn the_rate_is_what_the_buffer_allows_and_full_from_a_round_trip_and_a_period_on() {
    for us in [50, 200] {
        let length = Length(us * 200);
        let (rtt, period) = (2 * us * PER_US, (us / 10).min(10) * PER_US);
        let full = rtt + period + FRAMES;
        for percent in [20, 60, 90, 100, 130] {
            let size = full * percent / 100;
            let (net, ends) = haul(CBFC, length, size);
            let measured = share(net, ends, 4.0 * us as f64);
            let least = (size as f64 / full as f64).min(1.0);
            let most = (size as f64 / rtt as f64).min(1.0);
            // A credit that is less than a frame is left over each time that it runs out.
            let slack = 2.0 * WIRE as f64 / period as f64 * least;
            let what = format!("{measured} of the rate, {us} us, {size} B");
            assert!(measured <= most + 1e-3, "{what}: more than {most}");
            assert!(
                measured >= least - if percent < 100 { slack } else { 1e-3 },
                "{what}: less than {least}"
            );
        }
    }
}

#[test]
fn an_automatic_buffer_is_the_formulas_and_keeps_the_link_full() {
    let (mut net, ends) = haul(CBFC, Length(20_000), 1);
    net.port_buffer(1, ends[2], r#"{"static": {"size": "auto"}}"#);
    let account = net.blueprint.accounts().of(port(1, 1), Class::DATA).unwrap().expect("t is a switch");
    assert!(account.lossless);
    assert_eq!(account.own, Some(Bytes(200 * PER_US + 10 * PER_US + 4 * WIRE + 84)));
    assert!(share(net, ends, 500.0) > 0.999);
}

/// 128 KiB are 10.5 us at 100 Gbit/s: 1.05 km there and back.
#[test]
fn counters_of_12_bits_end_at_a_kilometre() {
    let at = |metres: u64| {
        let (net, ends) = haul(INFINIBAND, Length(metres), 10_000_000);
        share(net, ends, 1_000.0)
    };
    // Reports and frames in whole blocks take a hundredth.
    assert!(at(500) > 0.985, "{}", at(500));
    let mut before = 1.0;
    for metres in [2_000, 5_000, 20_000, 80_000] {
        let most = 131_072.0 / (metres as f64 * 10e-3 * PER_US as f64);
        let measured = at(metres);
        assert!(measured < most && measured > 0.8 * most, "{measured}, not {most} over {metres} m");
        assert!(measured < before);
        before = measured;
    }
}

/// A buffer of a round trip, the spacing and some frames: no period.
#[test]
fn ultra_ethernets_form_keeps_a_link_of_any_length_full_without_a_period() {
    for (km, form) in [(1, r#"{"cbfc": {"mode": "uec"}}"#), (20, UEC), (80, r#"{"cbfc": {"mode": "uec"}}"#)] {
        let (mut net, ends) = haul(form, Length(1_000 * km), 1);
        net.port_buffer(1, ends[2], r#"{"static": {"size": "auto"}}"#);
        let account = net.blueprint.accounts().of(port(1, 1), Class::DATA).unwrap().expect("t is a switch");
        let size = account.own.expect("it has a size").0;
        // A frame of 1,082 bytes takes five credits of 256, and each may leave one unused.
        let least = 10 * km * PER_US + FRAMES;
        assert!((least..least * 5 / 4 + 3 * WIRE).contains(&size), "{size} B for {km} km");
        assert!(share(net, ends, 1_000.0) > 0.999, "{km} km");
    }
}

/// A flow of sixty buffers, 20 MB at most, into a drain that stops for 300 us.
fn held_up(flow_control: &str, buffer: u64, errors: ErrorRates) -> Records {
    let (mut net, [a, .., b]) = haul(flow_control, Length(4_000), buffer);
    let reliability = if errors.data > 0.0 { r#""go-back-n""# } else { r#""none""# };
    net = net.reliability(reliability);
    for direction in &mut net.blueprint.links[1].directions {
        direction.errors = errors;
    }
    net.flow(a, b, Bytes((60 * buffer).min(20_000_000)), Span::ZERO);
    net.pauses(2, b, Span::us(200), Time::ZERO + Span::us(500));
    net.run()
}

#[test]
fn a_drain_that_stops_fills_the_buffer_and_loses_nothing_however_small_it_is() {
    for flow_control in [CBFC, INFINIBAND, UEC, r#"{"cbfc": {"on-change": "2KB"}}"#] {
        for buffer in [18 * 64, 5_000, 50_000, 1_000_000] {
            let records = held_up(flow_control, buffer, ErrorRates::default());
            assert_eq!(records.outcome.stopped, Stopped::Finished, "{flow_control}, {buffer} B");
            assert_eq!((records.outcome.lossless.is_held(), drops(&records)), (true, 0));
            let peak = counter(&records, "t", "s-t", "peak_bytes");
            // Credits count preambles and gaps, too, in whole credits.
            let unused = 2_200 + if flow_control == UEC { buffer / 40 } else { 0 };
            assert!(
                peak <= buffer && (peak + unused > buffer || buffer == 1_000_000),
                "{peak} of {buffer} B"
            );
        }
    }
}

#[test]
fn lost_credits_and_lost_data_come_back() {
    let all = |rate| ErrorRates { data: rate, control: 0.0, link_control: rate };
    let credits = ErrorRates { link_control: 0.3, ..ErrorRates::default() };
    for flow_control in [CBFC, INFINIBAND, UEC] {
        for (errors, what) in
            [(credits, "30 % of credits"), (all(1e-3), "0.1 % of all"), (all(0.01), "1 % of all")]
        {
            for buffer in [2_500, 130_000] {
                let records = held_up(flow_control, buffer, errors);
                assert_eq!(records.outcome.stopped, Stopped::Finished, "{what}, {flow_control}, {buffer} B");
                assert_eq!(drops_by(&records, "buffer"), 0, "{what}, {flow_control}, {buffer} B");
                let lost = drops_by(&records, "link_error");
                assert!(lost == 0 || errors.data > 0.0);
                assert!(lost > 0 || errors.data == 0.0 || buffer < 100_000, "{what}, {flow_control}");
            }
        }
    }
}

#[test]
fn one_lost_credit_in_a_thousand_costs_next_to_nothing() {
    let time = |link_control| {
        let (mut net, [a, .., b]) = haul(CBFC, Length(20_000), 200 * PER_US + 20 * PER_US + 5 * WIRE);
        for direction in &mut net.blueprint.links[1].directions {
            direction.errors = ErrorRates { link_control, ..ErrorRates::default() };
        }
        net.flow(a, b, Bytes::mb(60), Span::ZERO);
        let records = net.run();
        assert_eq!((records.outcome.stopped, drops(&records)), (Stopped::Finished, 0));
        real(records.flows.column("fct_us"))[0]
    };
    // Twice the period is in the buffer, so that one message may be missing.
    assert!(time(1e-3) / time(0.0) < 1.003, "{}", time(1e-3) / time(0.0));
}

#[test]
fn a_link_that_was_down_starts_again_with_what_the_receiver_still_holds() {
    for flow_control in [CBFC, INFINIBAND, UEC] {
        let (net, [a, _, _, b]) = haul(flow_control, Length(2_000), 60_000);
        let mut net = net.reliability(r#""go-back-n""#);
        net.blueprint.links[1].down = vec![
            (Time::ZERO + Span::us(150), Time::ZERO + Span::us(160)),
            (Time::ZERO + Span::us(161), Time::ZERO + Span::us(300)),
        ];
        // What t holds cannot leave meanwhile.
        net.pauses(2, b, Span::us(100), Time::ZERO + Span::us(400));
        net.flow(a, b, Bytes::mb(5), Span::ZERO);
        let records = net.run();
        assert_eq!(records.outcome.stopped, Stopped::Finished, "{flow_control}");
        assert_eq!(drops_by(&records, "buffer"), 0);
        assert_eq!(whole(records.flows.column("delivered_bytes")), [5_000_000]);
    }
}

/// Packets that find no way are no packets that are held: their credit comes back.
#[test]
fn packets_that_are_discarded_on_arrival_take_no_credit_with_them() {
    let (mut net, [a, _, _, b]) = haul(CBFC, Length(2_000), 20_000);
    net.blueprint.links[2].down = vec![(Time::ZERO + Span::us(50), Time::ZERO + Span::us(2_000))];
    net = net.reliability(r#""go-back-n""#);
    net.flow(a, b, Bytes::mb(2), Span::ZERO);
    let records = net.run();
    assert!(drops_by(&records, "no_route") > 100, "ten buffers full find no way");
    assert_eq!(records.outcome.stopped, Stopped::Finished);
}

#[test]
fn each_direction_and_each_class_has_its_own_flow_control() {
    let pfc = r#"{"pfc": {"xoff": "100KB"}}"#;
    for there in [CBFC, INFINIBAND, UEC, pfc, r#""bifrost""#, r#""lossy""#] {
        for back in [CBFC, INFINIBAND, UEC] {
            let (mut net, [a, s, t, b]) = haul(pfc, Length(20_000), 4_000_000);
            net.port_buffer(1, s, &fixed(4_000_000));
            net.second_class();
            let controls = [there, back].map(params::<FlowControlParams>);
            for (direction, mine) in net.blueprint.links[1].directions.iter_mut().zip([0, 1]) {
                let class = |class, at: usize| (Class(class), controls[at].clone());
                direction.flow_control = vec![class(3, mine), class(4, 1 - mine)];
            }
            for (from, to, settings) in [(a, b, 0), (b, a, 0), (a, b, 1), (b, a, 1)] {
                net.flow(from, to, Bytes::mb(2), Span::ZERO).settings = Some(settings);
            }
            let records = net.run();
            assert_eq!(finished(&records), [true; 4], "{there} there, {back} back");
            assert_eq!((records.outcome.lossless.is_held(), drops(&records)), (true, 0));
            assert!(counter(&records, "s", "s-t", "pfc_tx") > 10, "credits go back to t");
            let _ = t;
        }
    }
}

/// Without credit a class is paused: counters, latency and congestion points say so.
#[test]
fn time_without_credit_is_paused_time() {
    let run = |buffer| {
        let (mut net, [a, .., b]) = haul(CBFC, Length(20_000), buffer);
        net.flow(a, b, Bytes::mb(5), Span::ZERO);
        net.run()
    };
    let paused = |records: &Records| {
        let (node, link) = (names(records.counters.column("node")), names(records.counters.column("link")));
        let paused = real(records.counters.column("paused_us"));
        (0..node.len())
            .filter(|&row| node[row] == "s" && link[row] == "s-t")
            .map(|row| paused[row])
            .sum::<f64>()
    };
    let ample = run(3_000_000);
    assert_eq!((paused(&ample), sum(&ample, "pfc_rx") > 0), (0.0, true));
    // A tenth of a round trip: the port waits for nine tenths of the time.
    let short = run(250_000);
    let all = real(short.flows.column("fct_us"))[0];
    let share = paused(&short) / all;
    assert!((0.85..0.95).contains(&share), "{share}");
    assert_invariants(&short);
}

/// A ring of flows through three switches, each of which waits for the next one's buffer.
#[test]
fn a_ring_that_waits_for_credit_is_a_deadlock() {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(6));
    let switches: Vec<NodeId> = (0..3).map(|i| net.switch_with(&format!("s{i}"), &fixed(40_000))).collect();
    let hosts: Vec<NodeId> = (0..3).map(|i| net.host(&format!("h{i}"))).collect();
    for i in 0..3 {
        net.link(hosts[i], switches[i], G100, Span::us(1), CBFC);
    }
    for i in 0..3 {
        net.link(switches[i], switches[(i + 1) % 3], G100, Span::us(1), CBFC);
    }
    for i in 0..3 {
        let (from, over, to) = (i, (i + 1) % 3, (i + 2) % 3);
        let path = net.path(&[hosts[from], switches[from], switches[over], switches[to], hosts[to]]);
        let flow = net.flow(hosts[from], hosts[to], Bytes::mb(5), Span::ZERO);
        flow.path = Some(path);
    }
    let records = net.run();
    assert_eq!(records.outcome.deadlocks.len(), 1, "{:?}", records.outcome.deadlocks);
    assert_eq!(drops(&records), 0);
}

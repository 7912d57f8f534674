//! The five steps in numbers worked by hand, for packets of 1000 B and a Qref of 100 KB, and the bounds that
//! always hold.

use floodway_units::{FlowId, Turns};
use proptest::prelude::*;

use super::*;
use crate::testing::{Bench, egress, packet, port, us};

/// A CNP: instant, flow, weight.
pub(super) type SentCnp = (Time, u32, f32);

/// A machine whose timers are called at their instants.
pub(super) struct Driven {
    pub(super) cp: Cp,
    bench: Bench<CpAction>,
    pub(super) cnps: Vec<SentCnp>,
}

impl Driven {
    /// A Qref of 100 KB where the parameters give none.
    pub(super) fn new(json: &str) -> Self {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        let is_given = params.qref != Params::default().qref;
        let params = if is_given { params } else { Params { qref: Bytes::kb(100), ..params } };
        let cp = params.build(&port(25)).expect("the parameters are valid");
        Driven { cp, bench: Bench::new(), cnps: Vec::new() }
    }

    fn call(&mut self, now: Time, call: impl FnOnce(&mut Cp, &mut Cx<'_, CpAction>)) {
        let cp = &mut self.cp;
        let sent = self.bench.sent(now, |cx| call(cp, cx));
        self.cnps.extend(sent.into_iter().map(|action| match action {
            CpAction::ToSource(Cnp { flow, mark: Mark::Ce, window: None, rate: None, degree }) => {
                (now, flow.0, degree)
            }
            other => panic!("{other:?}"),
        }));
    }

    /// All timers up to `until`, and no later ones.
    pub(super) fn pass(&mut self, until: Time) {
        let mut turns = Turns::at_most(1_000_000);
        while turns.go()
            && let Some(at) = self.cp.next_timeout().filter(|at| *at <= until)
        {
            self.call(at, Cp::on_timeout);
        }
    }

    /// A packet joins a queue that has `len` bytes with it, or leaves one that has so many without it.
    pub(super) fn passes(&mut self, now: Time, joins: bool, p: &PacketView, len: u64) {
        self.pass(Time(now.0.saturating_sub(1)));
        let q = QueueView { class: p.class, ..egress(len) };
        self.call(now, |cp, cx| {
            let mark = if joins { cp.on_enqueue(cx, p, &q) } else { cp.on_dequeue(cx, p, &q) };
            assert_eq!(mark, Mark::None, "it marks nothing");
        });
    }

    /// So many packets of a flow join a queue of 101 KB.
    fn join(&mut self, now: Time, flow: u32, packets: u32) {
        (0..packets).for_each(|_| self.passes(now, true, &of(flow), 101_000));
    }

    /// The queue has so many bytes from now on.
    fn is(&mut self, now: Time, len: u64) {
        self.passes(now, false, &of(0), len);
    }

    /// The CNPs sent since the last call: of which flow, and their weight.
    fn sent(&mut self) -> Vec<(u32, f32)> {
        std::mem::take(&mut self.cnps).into_iter().map(|(_, flow, degree)| (flow, degree)).collect()
    }
}

/// A packet of a flow.
pub(super) fn of(flow: u32) -> PacketView {
    PacketView { flow: FlowId(flow), flow_hash: u64::from(flow) * 7, ecn_capable: true, ..packet(1_000) }
}

#[test]
fn the_controller_follows_the_distance_and_the_growth_of_the_queue() {
    // Steps 1 and 2, one flow. Q = 20, 60, 60, 90 and 0 KB at the ends of periods:
    //   p = 0 - 0.3 · 0.8 + 1.5 · 0.2 = 0.06;      round(0.06 · 960 / 16) = round(3.6) = 4
    //   p = 0.06 - 0.3 · 0.4 + 1.5 · 0.4 = 0.54;   round(0.54 · 320 / 16) = round(10.8) = 11
    //   p = 0.54 - 0.3 · 0.4 + 0 = 0.42;           round(0.42 · 320 / 16) = round(8.4) = 8
    //   p = 0.42 - 0.3 · 0.1 + 1.5 · 0.3 = 0.84;   round(0.84 · 80 / 16) = round(4.2) = 4
    //   p = 0.84 - 0.3 - 1.5 · 0.9 < 0, so 0
    let mut driven = Driven::new("{}");
    let periods = [
        (960, 20_000, Some(4.0)),
        (320, 60_000, Some(11.0)),
        (320, 60_000, Some(8.0)),
        (80, 90_000, Some(4.0)),
        (999, 0, None),
    ];
    for (period, (packets, length, expected)) in (0..).zip(periods) {
        driven.join(us(80 * period), 7, packets);
        driven.is(us(80 * period + 79), length);
        driven.pass(us(80 * period + 80));
        assert_eq!(driven.sent(), expected.map(|degree| (7, degree)).as_slice(), "period {period}");
    }
}

#[test]
fn the_cnps_of_a_period_are_bounded_for_all_and_for_each() {
    // p = 1; 2000 / 16 = 125, at most 64; a quarter of that is 16, all of it more than 80 us / 4 us.
    for (flows, expected) in [(4, 16.0), (2, 20.0), (1, 20.0)] {
        let mut driven = Driven::new("{}");
        (0..flows).for_each(|flow| driven.join(us(1), flow, 2_000 / flows));
        driven.is(us(2), 200_000);
        driven.pass(us(100));
        assert_eq!(driven.sent(), (0..flows).map(|flow| (flow, expected)).collect::<Vec<_>>());
    }
}

/// Flows 1, 2 and 3 bring 60, 30 and 10 packets in the first period, whose p is 1: N = round(100 / 16) = 6.
fn three(json: &str) -> Driven {
    let mut driven = Driven::new(json);
    for (flow, packets) in [(1, 60), (2, 30), (3, 10)] {
        driven.join(us(1), flow, packets);
    }
    driven.is(us(2), 200_000);
    driven.pass(us(81));
    driven
}

#[test]
fn flows_below_theta_get_no_cnp_and_the_others_by_their_bytes() {
    // n = 3: theta is a sixth. ceil(6 · 0.6) = 4, ceil(6 · 0.3) = 2, ceil(6 · 0.1) = 1.
    assert_eq!(three("{}").sent(), [(1, 4.0), (2, 2.0)]);
    assert_eq!(three(r#"{"theta": 0.05}"#).sent(), [(1, 4.0), (2, 2.0), (3, 1.0)]);
    assert_eq!(three(r#"{"theta": 0}"#).sent(), [(1, 4.0), (2, 2.0), (3, 1.0)]);
    assert_eq!(three(r#"{"theta": 0.31}"#).sent(), [(1, 4.0)]);
    assert_eq!(three(r#"{"theta": 1}"#).sent(), []);
}

#[test]
fn a_flow_at_theta_gets_its_cnps() {
    // Two flows of 16 and 48 packets: a quarter is 1/(2n). N = round(64 / 16) = 4, of which a quarter is one.
    for (json, packets, expected) in [
        ("{}", [16, 48], &[(1, 1.0), (2, 3.0)][..]),
        ("{}", [15, 49], &[(2, 4.0)]),
        (r#"{"theta": 0.25}"#, [16, 48], &[(1, 1.0), (2, 3.0)]),
        (r#"{"theta": 0.25}"#, [15, 49], &[(2, 4.0)]),
    ] {
        let mut driven = Driven::new(json);
        (1..).zip(packets).for_each(|(flow, packets)| driven.join(us(1), flow, packets));
        driven.is(us(2), 200_000);
        driven.pass(us(81));
        assert_eq!(driven.sent(), expected, "{json} {packets:?}");
    }
}

#[test]
fn a_table_has_room_for_4096_flows() {
    let mut driven = Driven::new(r#"{"theta": 0}"#);
    (0..4_097).for_each(|flow| driven.join(us(1), flow, 1));
    driven.is(us(2), 200_000);
    driven.pass(us(81));
    let cnps: Vec<u32> = driven.sent().into_iter().map(|(flow, _)| flow).collect();
    assert_eq!(cnps, (0..4_096).collect::<Vec<_>>());
}

#[test]
fn names_are_kept_to_the_end_of_the_next_period() {
    assert_eq!(Driven::new("{}").cp.demands().naming, Span::us(160));
    assert_eq!(Driven::new(r#"{"period": "30us"}"#).cp.demands().naming, Span::us(60));
}

#[test]
fn a_full_table_counts_newcomers_and_sends_them_no_cnp() {
    // n = 2: theta is a quarter of all bytes; n = 1: a half.
    assert_eq!(three(r#"{"most-flows": 2}"#).sent(), [(1, 4.0), (2, 2.0)]);
    assert_eq!(three(r#"{"most-flows": 1}"#).sent(), [(1, 4.0)]);
    let full = three(r#"{"most-flows": 2, "theta": 0}"#);
    assert_eq!(full.cp.queues[0].flows(), 0, "the next period begins with an empty table");
}

#[test]
fn each_cnp_goes_for_itself_where_that_is_asked_for() {
    let mut driven = three(r#"{"multi": true}"#);
    driven.pass(us(160));
    let cnps: Vec<_> =
        driven.cnps.iter().map(|&(at, flow, degree)| (at.0 / 1_000_000, flow, degree)).collect();
    let expected = [(81, 1), (81, 2), (85, 1), (85, 2), (89, 1), (93, 1)];
    assert_eq!(cnps, expected.map(|(at, flow)| (at, flow, 1.0)));
}

#[test]
fn only_data_that_meet_a_long_queue_are_counted() {
    let mut driven = Driven::new("{}");
    (0..100).for_each(|_| driven.passes(us(1), true, &of(1), 100_000));
    driven.pass(us(81));
    assert_eq!(driven.sent(), []);
    let reply = PacketView { is_reply: true, ..of(2) };
    (0..100).for_each(|_| driven.passes(us(82), true, &reply, 150_000));
    let control = PacketView { class: Class::CONTROL, ..of(3) };
    (0..100).for_each(|_| driven.passes(us(83), true, &control, 150_000));
    driven.pass(us(161));
    assert_eq!(driven.sent(), []);
    driven.join(us(162), 4, 16);
    driven.is(us(163), 150_000);
    driven.pass(us(241));
    assert_eq!(driven.sent(), [(4, 1.0)]);
}

#[test]
fn classes_have_queues_of_their_own() {
    let mut driven = Driven::new("{}");
    let other = PacketView { class: Class(4), ..of(2) };
    driven.join(us(1), 1, 32);
    driven.passes(us(2), true, &other, 5_000);
    let state = |driven: &Driven, class| driven.cp.state(us(3), class);
    assert_eq!((state(&driven, Class::DATA), state(&driven, Class(4))), ("congested", "uncongested"));
    driven.pass(us(81));
    assert_eq!(driven.sent(), [(1, 2.0)]);
    driven.is(us(82), 100_000);
    assert_eq!(state(&driven, Class::DATA), "uncongested");
}

#[test]
fn a_flow_is_named_as_in_its_last_packet() {
    // Two queue pairs with the same addresses and ports, one after the other.
    let mut driven = Driven::new("{}");
    driven.join(us(1), 1, 16);
    let again = PacketView { flow: FlowId(9), ..of(1) };
    driven.passes(us(2), true, &again, 150_000);
    driven.pass(us(81));
    assert_eq!(driven.sent(), [(9, 1.0)]);
}

#[test]
fn what_is_removed_waits_no_more() {
    let mut driven = Driven::new("{}");
    driven.join(us(1), 1, 1);
    driven.bench.event(us(2), &mut driven.cp, PortEvent::Removed(&of(1)));
    assert_eq!(driven.cp.state(us(2), Class::DATA), "uncongested");
    assert_eq!(driven.cp.queues[0].length, Bytes::kb(100));
}

#[test]
fn an_idle_port_asks_for_no_timer_and_wakes_in_phase() {
    let mut driven = Driven::new(r#"{"b": 0}"#);
    assert_eq!(driven.cp.next_timeout(), None);
    driven.is(us(3), 1_000);
    assert_eq!(driven.cp.next_timeout(), Some(us(83)));
    driven.is(us(5), 0);
    driven.pass(us(500));
    assert_eq!(driven.cp.next_timeout(), None);
    driven.is(us(563), 1_000);
    assert_eq!(driven.cp.next_timeout(), Some(us(643)), "a period holds its beginning");
    // p = 0.6, 0.3 and 0: the clock goes on until then.
    driven.is(us(600), 300_000);
    driven.pass(us(643));
    driven.is(us(644), 0);
    driven.pass(us(723));
    assert_eq!(driven.cp.next_timeout(), Some(us(803)));
    driven.pass(us(5_000));
    assert_eq!(driven.cp.next_timeout(), None);
}

#[test]
fn qref_is_the_same_at_every_rate() {
    for gbps in [25, 100, 400] {
        let built = Params::default().build(&port(gbps)).map(|cp| cp.settings.qref);
        assert_eq!(built, Ok(Bytes::kb(150)));
    }
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let refused = |json: &str| {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        params.build(&port(100)).map(|_| ()).map_err(|error| error.key)
    };
    for (json, key) in [
        (r#"{"period": "3.9us"}"#, "period"),
        (r#"{"period": "1.1s"}"#, "period"),
        (r#"{"a": -0.1}"#, "a"),
        (r#"{"b": -1}"#, "b"),
        (r#"{"qref": "0B"}"#, "qref"),
        (r#"{"m": 0}"#, "m"),
        (r#"{"nmax": 0}"#, "nmax"),
        (r#"{"theta": 1.1}"#, "theta"),
        (r#"{"theta": -0.1}"#, "theta"),
        (r#"{"most-flows": 0}"#, "most-flows"),
    ] {
        assert_eq!(refused(json), Err(key), "{json}");
    }
    assert_eq!(refused(r#"{"a": 0, "b": 0, "theta": "auto", "qref": "1KB"}"#), Ok(()));
    for limits in [r#"{"period": "4us", "m": 1, "nmax": 1, "theta": 0}"#, r#"{"period": "1s", "theta": 1}"#] {
        assert_eq!(refused(limits), Ok(()), "{limits}");
    }
    let typo = serde_json::from_str::<Params>(r#"{"theta": "atuo"}"#).unwrap_err().to_string();
    assert!(typo.contains("\"auto\""), "{typo}");
}

proptest! {
    /// Whatever the flows send: of a period all together and each flow get so much at most, small flows
    /// nothing, and where nothing comes nothing is kept and nothing said.
    #[test]
    fn bounds_hold(
        packets in proptest::collection::vec((0u32..12, 90_000u64..400_000), 0..600),
        nmax in 1u32..100,
        most in 1u32..16,
        multi in any::<bool>(),
    ) {
        let json = format!(r#"{{"nmax": {nmax}, "most-flows": {most}, "multi": {multi}}}"#);
        let mut driven = Driven::new(&json);
        let mut bytes = [0u64; 12];
        for &(flow, len) in &packets {
            driven.passes(us(1), true, &of(flow), len);
            bytes[flow as usize] += if len > 100_000 { 1_000 } else { 0 };
        }
        driven.pass(us(160));
        let mut cnps = [0.0; 12];
        driven.cnps.iter().for_each(|&(_, flow, degree)| cnps[flow as usize] += degree);
        let sum: u64 = bytes.iter().sum();
        let known = bytes.iter().filter(|&&bytes| bytes > 0).count().min(most as usize) as u64;
        // Each of them may be rounded up.
        prop_assert!(cnps.iter().sum::<f32>() < (u64::from(nmax) + known) as f32);
        for (bytes, cnps) in bytes.into_iter().zip(cnps) {
            prop_assert!(cnps <= 20.0);
            prop_assert!(cnps == 0.0 || 2 * known * bytes >= sum, "{bytes} B of {sum} B among {known}");
        }
        if !multi {
            let mut flows: Vec<u32> = driven.cnps.iter().map(|cnps| cnps.1).collect();
            flows.dedup();
            prop_assert_eq!(flows.len(), driven.cnps.len(), "one CNP for each flow");
        }
        driven.cnps.clear();
        driven.is(us(161), 0);
        driven.pass(us(9_000));
        prop_assert!(driven.cnps.is_empty() && driven.cp.queues.iter().all(Queue::is_idle));
        prop_assert_eq!(driven.cp.next_timeout(), None);
    }
}

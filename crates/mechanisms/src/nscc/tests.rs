use super::*;
use crate::slots::QpInfo;
use crate::testing::us;

/// 16 hosts in three tiers, 1 us a link, 100 Gbit/s: the specification's example.
const RTT: Span = Span(14_022_720);

fn qp() -> QpInfo {
    QpInfo {
        base_rtt: RTT,
        largest_rtt: RTT,
        mtu: Bytes(4086),
        wire: Bytes(4150),
        trims: true,
        ..QpInfo::example()
    }
}

fn htsim() -> Rp {
    Params { form: Form::Htsim, ..Params::default() }.build(&qp()).expect("the defaults fit")
}

fn window(rp: &Rp) -> u64 {
    rp.allowance().window.0
}

/// A report after `rtt` of one full packet or several.
fn report(rp: &mut Rp, now: Time, rtt: Span, marked: bool, packets: u64) {
    let marked = if marked { Mark::Ce } else { Mark::None };
    let ack = AckView {
        acked: Bytes(4150 * packets),
        rtt,
        in_flight: Bytes(170_000),
        marked,
        ..AckView::example()
    };
    rp.on_report(now, &ack, Some(&Sample { rtt, query: None }));
}

#[test]
fn the_first_window_is_one_and_a_half_bandwidth_delay_products() {
    // 175,284 B of bandwidth-delay product.
    assert_eq!(window(&htsim()), 262_926);
    let short = QpInfo { base_rtt: Span::us(4), ..qp() };
    let spec = Params::default().build(&short).expect("the defaults fit");
    assert_eq!(window(&spec), 75_000, "the connection's own round trip");
    let largest = Params { form: Form::Htsim, ..Params::default() }.build(&short).expect("they fit");
    assert_eq!(window(&largest), 262_926, "the network's");
}

#[test]
fn without_delay_and_marks_the_window_stays_at_its_largest() {
    let mut rp = htsim();
    for n in 0..100 {
        report(&mut rp, Time(RTT.0 + n * 332_000), RTT, false, 1);
    }
    assert_eq!(window(&rp), 262_926);
}

#[test]
fn marks_with_little_delay_change_nothing() {
    let mut rp = htsim();
    rp.on_loss(us(1), &LossView { lost: Bytes(100_000), timeout: true });
    let before = window(&rp);
    for n in 1..8 {
        report(&mut rp, us(n), RTT + Span::us(5), true, 1);
    }
    assert_eq!((before, window(&rp)), (162_926, 162_926));
}

#[test]
fn marks_with_much_delay_decrease_the_window_once_a_round_trip_and_halve_it_at_most() {
    let mut rp = htsim();
    let (mut windows, mut now) = (vec![window(&rp)], Time::ZERO + Span::us(100));
    for _ in 0..400 {
        now += Span::ns(500);
        report(&mut rp, now, RTT * 4, true, 1);
        if windows.last() != Some(&window(&rp)) {
            windows.push(window(&rp));
        }
    }
    // Each round trip adds eta, too.
    let decreases: Vec<_> = windows.windows(2).filter(|pair| pair[1] < pair[0]).collect();
    assert!(decreases.iter().all(|pair| 2 * pair[1] >= pair[0] - 1), "{windows:?}");
    // 200 us are 14 round trips.
    assert!((2..=14).contains(&decreases.len()), "{windows:?}");
}

#[test]
fn a_cut_packet_takes_its_size_off_the_window() {
    let mut rp = htsim();
    let cut = Cut { lost: Bytes(4150), rtt: RTT, in_flight: Bytes(250_000), last_hop: false };
    rp.on_cut(us(1), &cut);
    assert_eq!(window(&rp), 262_926 - 4150);
}

#[test]
fn a_cut_at_the_last_hop_is_left_to_the_receiver_where_it_grants_credit() {
    let params = Params { form: Form::Htsim, ..Params::default() };
    let mut rp = params.build(&QpInfo { has_credit: true, ..qp() }).expect("the defaults fit");
    rp.on_cut(us(1), &Cut { lost: Bytes(4150), rtt: RTT, in_flight: Bytes(250_000), last_hop: true });
    assert_eq!(window(&rp), 262_926);
}

#[test]
fn after_cuts_and_little_that_arrives_the_window_is_what_arrived() {
    let mut rp = htsim();
    let cut = |last_hop| Cut { lost: Bytes(4150), rtt: RTT, in_flight: Bytes(250_000), last_hop };
    // Its first period begins with the first report, and ends a round trip and a target later.
    report(&mut rp, us(15), RTT, false, 1);
    report(&mut rp, us(20), RTT, false, 5);
    rp.on_cut(us(41), &cut(false));
    assert_eq!(window(&rp), 5 * 4150);
    // Marked reports are ignored until as much has arrived as was in flight.
    report(&mut rp, us(42), RTT * 4, true, 1);
    assert_eq!(window(&rp), 5 * 4150);
}

#[test]
fn a_timeout_takes_the_packet_off_the_window_and_leaves_one_packet() {
    let mut rp = htsim();
    rp.on_loss(us(1), &LossView { lost: Bytes(1_000_000), timeout: true });
    assert_eq!(window(&rp), 4150);
}

#[test]
fn a_window_grows_fast_while_there_is_no_delay() {
    let mut rp = htsim();
    rp.on_loss(us(1), &LossView { lost: Bytes(250_000), timeout: true });
    let mut now = Time(2 * RTT.0);
    for _ in 0..12 {
        now += Span::ns(332);
        report(&mut rp, now, RTT, false, 1);
    }
    assert!(window(&rp) > 20_000, "{}", window(&rp));
}

#[test]
fn round_trips_and_the_first_window_may_be_given() {
    let half = OrAuto::Given(Span(RTT.0 / 2));
    let params = Params { base_rtt: half, ..Params::default() };
    assert_eq!(window(&params.build(&qp()).expect("it fits")), 131_463, "of the connection");
    let first = Params { first_window: OrAuto::Given(Bytes(41_500)), ..params };
    assert_eq!(window(&first.build(&qp()).expect("it fits")), 41_500);
    // A reported packet without delay adds alpha times the target, 4 mss a b.
    let grown = |params: Params| {
        let mut rp = Params { form: Form::Htsim, first_window: first.first_window, ..params }
            .build(&qp())
            .expect("they fit");
        for n in 1..=9 {
            report(&mut rp, Time(RTT.0 + n * 332_000), RTT + Span::us(2), false, 1);
        }
        window(&rp)
    };
    let shorter = Params { config_base_rtt: half, ..Params::default() };
    assert!(grown(shorter) < grown(Params::default()));
}

#[test]
fn the_gate_of_quick_adapt_is_a_power_of_two() {
    let struck = |gate| {
        let mut rp = Params { form: Form::Htsim, quick_adapt_gate: gate, ..Params::default() }
            .build(&qp())
            .expect("it fits");
        report(&mut rp, us(15), RTT, false, 1);
        report(&mut rp, us(20), RTT, false, 10);
        let cut = Cut { lost: Bytes(4150), rtt: RTT, in_flight: Bytes(250_000), last_hop: false };
        rp.on_cut(us(41), &cut);
        window(&rp)
    };
    // 41,500 B are less than half of 262,926 B, but not than an eighth.
    assert_eq!([1, 3].map(struck), [41_500, 262_926 - 4150]);
}

#[test]
fn values_without_a_meaning_are_refused() {
    let key = |params: Params| params.build(&qp()).unwrap_err().key;
    let (zero, params) = (OrAuto::Given(Span::ZERO), Params::default());
    assert_eq!(key(Params { base_rtt: zero, ..params }), "base-rtt");
    assert_eq!(key(Params { config_base_rtt: zero, ..params }), "config-base-rtt");
    assert_eq!(key(Params { first_window: OrAuto::Given(Bytes::ZERO), ..params }), "first-window");
    assert_eq!(key(Params { quick_adapt_gate: 33, ..params }), "quick-adapt-gate");
}

#[test]
fn a_target_of_nothing_is_refused() {
    let params = Params { target: OrAuto::Given(Span::ZERO), ..Params::default() };
    let error = params.build(&qp()).unwrap_err();
    assert_eq!(
        (error.key, error.message.as_str()),
        ("target", "0us is not allowed; write a time above 0, like \"10us\"")
    );
}

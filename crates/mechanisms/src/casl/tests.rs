use proptest::prelude::*;

use super::*;
use crate::slots::Outbox;
use crate::testing::{egress, packet, port, us};
use floodway_units::{PortId, Rate, Rng, stream};

/// A port at 100 Gbit/s with its surroundings.
struct Bench {
    cp: Cp,
    rng: Rng,
    out: Outbox<CpAction>,
    now: Time,
    /// Ql and Qy.
    queues: (u64, u64),
}

const FRAME: u64 = 1_000;

impl Bench {
    fn new(params: Params) -> Self {
        let cp = params.build(&port(100)).expect("the parameters are valid");
        Bench { cp, rng: stream(1, 1, "test"), out: Outbox::default(), now: us(0), queues: (0, 0) }
    }

    fn data(flow: u32) -> PacketView {
        PacketView { flow: FlowId(flow), ecn_capable: true, ..packet(FRAME) }
    }

    fn view(&self, sub: u8) -> QueueView {
        let (first, second) = self.queues;
        let len = if sub == 0 { first } else { second };
        QueueView { sub, first: Bytes(first), ..egress(len) }
    }

    fn call<T>(&mut self, call: impl FnOnce(&mut Cp, &mut Cx<'_, CpAction>) -> T) -> T {
        call(&mut self.cp, &mut Cx { now: self.now, rng: &mut self.rng, out: &mut self.out })
    }

    fn event(&mut self, event: PortEvent<'_>) {
        self.call(|cp, cx| cp.on_event(cx, event));
    }

    /// The switch sends a pause of this class at some port.
    fn pauses(&mut self, class: Class) {
        self.event(PortEvent::PauseSent { ingress: PortId(3), class, lasts: Span::us(300) });
    }

    /// A packet leaves the queue that its flow has; the queues are then as they are set. Only a new label has
    /// it say something.
    fn leaves_as(&mut self, p: &PacketView) -> Mark {
        let sub = self.cp.classify(self.now, p).sub;
        let view = self.view(sub);
        let was_congested = self.cp.is_harmful(self.now, p.flow);
        let mark = self.call(|cp, cx| cp.on_dequeue(cx, p, &view));
        let is_new = !was_congested && self.cp.is_harmful(self.now, p.flow);
        let moves = is_new && self.cp.params.waiting == Waiting::Moves;
        assert_eq!(std::mem::take(&mut self.out.0), vec![CpAction::Resort(p.class); usize::from(moves)]);
        self.now += Rate::gbps(100).time_to_send(Bytes(FRAME));
        mark
    }

    fn leaves(&mut self, flow: u32) -> Mark {
        self.leaves_as(&Self::data(flow))
    }

    /// A packet arrives at a lossy queue of this many bytes.
    fn admitted(&mut self, lossy: u64) -> Option<DropReason> {
        self.queues.1 = lossy;
        let view = self.view(1);
        self.cp.admit(self.now, &mut self.rng, &Self::data(1), &view)
    }

    fn is_congested(&mut self, flow: u32) -> bool {
        self.cp.classify(self.now, &Self::data(flow)).sub == 1
    }

    /// Sets the queue lengths from now on, as the port reports them when packets are enqueued.
    fn holds(&mut self, lossless: u64, lossy: u64) {
        self.queues = (lossless, lossy);
        for sub in 0..2 {
            let view = self.view(sub);
            self.call(|cp, cx| cp.on_enqueue(cx, &Self::data(99), &view));
        }
    }

    fn q1(&self) -> u64 {
        self.cp.classes[0].q1.at().0
    }

    fn d(&self) -> f64 {
        self.cp.classes[0].dropping.ratio()
    }

    /// Time passes; the queues do not change.
    fn passes(&mut self, span: Span) {
        self.now += span;
        let (lossless, lossy) = self.queues;
        self.holds(lossless, lossy);
    }
}

/// Each packet beyond Q1 = 10 KB is marked, none below.
fn step() -> Params {
    Params { kmin: Bytes::kb(10), kmax: Bytes::kb(10), ..Params::default() }
}

#[test]
fn a_packet_is_marked_by_what_both_queues_hold() {
    let marks = |lossless: u64, lossy: u64| {
        let mut bench = Bench::new(Params::default());
        bench.holds(lossless, lossy);
        (0..10_000u32).filter(|flow| bench.leaves(1_000 + flow) == Mark::Ce).count()
    };
    assert_eq!((marks(100_000, 0), marks(50_000, 50_000)), (0, 0));
    assert_eq!((marks(400_001, 0), marks(200_000, 200_001)), (10_000, 10_000));
    // P = 0.1 at 250 KB; five standard deviations are 150.
    for (lossless, lossy) in [(250_000, 0), (0, 250_000), (130_000, 120_000)] {
        assert!((850..1_150).contains(&marks(lossless, lossy)));
    }
}

#[test]
fn a_flow_marked_twice_while_the_queue_is_long_waits_in_the_lossy_queue() {
    let mut bench = Bench::new(step());
    bench.holds(11_000, 0);
    assert_eq!(bench.cp.state(bench.now, Class::DATA), "lossless");
    assert_eq!((bench.leaves(1), bench.is_congested(1)), (Mark::Ce, false));
    assert_eq!((bench.leaves(1), bench.is_congested(1)), (Mark::Ce, true));
    assert!(!bench.is_congested(2) && bench.cp.is_harmful(bench.now, FlowId(1)));
    assert_eq!(bench.cp.state(bench.now, Class::DATA), "isolating");
    assert!(bench.cp.signals(bench.now).local);
    // At Q1 and below nothing is marked; after 28 packets m is below m_lo.
    bench.holds(9_999, 0);
    let until = (1..100).find(|_| {
        bench.leaves(1);
        !bench.is_congested(1)
    });
    assert_eq!(until, Some(28));
    assert_eq!(bench.cp.state(bench.now, Class::DATA), "lossless");
}

#[test]
fn what_waits_of_a_labelled_flow_moves_with_it_or_not() {
    for waiting in [Waiting::Moves, Waiting::Stays] {
        let mut bench = Bench::new(Params { waiting, ..step() });
        bench.holds(11_000, 0);
        (0..2).for_each(|_| _ = bench.leaves(1));
        bench.event(PortEvent::Resorted { class: Class::DATA, queues: &[Bytes(4_000), Bytes(7_000)] });
        assert_eq!(bench.cp.classes[0].queued(), Bytes(11_000));
    }
}

#[test]
fn replies_control_and_what_cannot_be_marked_are_never_congested() {
    let mut bench = Bench::new(step());
    bench.holds(500_000, 0);
    let data = Bench::data(1);
    let others = [
        PacketView { is_reply: true, ..data },
        PacketView { class: Class::CONTROL, ..data },
        PacketView { ecn_capable: false, ..data },
    ];
    for other in &others {
        assert!((0..50).all(|_| bench.leaves_as(other) == Mark::None));
        assert_eq!(bench.cp.classify(bench.now, other).sub, 0);
    }
    (0..2).for_each(|_| _ = bench.leaves(1));
    assert!(bench.is_congested(1));
    assert_eq!(bench.cp.classify(bench.now, &others[0]).sub, 0, "a reply of the same flow");
}

#[test]
fn classes_are_separate() {
    let mut bench = Bench::new(step());
    bench.holds(500_000, 0);
    (0..2).for_each(|_| _ = bench.leaves(1));
    let other = PacketView { class: Class(4), ..Bench::data(1) };
    assert_eq!(bench.cp.classify(bench.now, &other).sub, 0);
    assert_eq!(bench.cp.state(bench.now, Class(4)), "lossless");
}

#[test]
fn the_last_label_is_forgotten_by_a_timer_and_there_is_no_other() {
    let mut bench = Bench::new(step());
    bench.holds(11_000, 0);
    assert_eq!(bench.cp.next_timeout(), None);
    (0..3).for_each(|_| _ = bench.leaves(1));
    bench.queues = (0, 0);
    let at = bench.cp.next_timeout().expect("a flow is labelled");
    assert_eq!(at, us(1_000));
    bench.now = at;
    bench.call(CongestionPoint::on_timeout);
    // Its last packet was 0.16 us after the start.
    assert!(bench.is_congested(1));
    bench.now = bench.cp.next_timeout().expect("it still is");
    assert_eq!(bench.now, us(2_000));
    bench.call(CongestionPoint::on_timeout);
    assert_eq!((bench.cp.next_timeout(), bench.cp.state(bench.now, Class::DATA)), (None, "lossless"));
}

#[test]
fn the_lossy_queue_takes_what_fits_and_the_lossless_one_is_not_its_affair() {
    let mut bench = Bench::new(Params { capacity: Some(Bytes(20_000)), ..Params::default() });
    assert_eq!(bench.admitted(19_000), None);
    assert_eq!(bench.admitted(19_001), Some(DropReason::IsolatedFull));
    bench.queues.0 = 9_000_000;
    let view = bench.view(0);
    assert_eq!(bench.cp.admit(bench.now, &mut bench.rng, &Bench::data(1), &view), None);
    // 100 us at 100 Gbit/s.
    let cp = Params::default().build(&port(100)).expect("valid");
    assert_eq!(cp.capacity, Bytes(1_250_000));
}

#[test]
fn beyond_q1_packets_are_dropped_with_probability_d() {
    let threshold = OrAuto::Given(Bytes::kb(100));
    let mut bench = Bench::new(Params { threshold, drop_gain: 0.05, drop_most: 0.5, ..Params::default() });
    assert_eq!(bench.admitted(900_000), None, "d is 0 at first");
    bench.holds(0, 300_000);
    // Twice 0.05 · (300 - 100) / 100.
    bench.passes(Span::us(200));
    assert!((bench.d() - 0.2).abs() < 1e-12);
    let drops = (0..10_000).filter(|_| bench.admitted(100_001) == Some(DropReason::Selective)).count();
    // Five standard deviations of a binomial number.
    assert!((1_800..2_200).contains(&drops), "{drops}");
    assert!((0..1_000).all(|_| bench.admitted(100_000).is_none()), "not beyond Q1");
}

#[test]
fn a_pause_of_the_switch_lowers_q1_for_its_class() {
    let mut bench = Bench::new(Params { kmin: Bytes::kb(5), kmax: Bytes::kb(15), ..Params::default() });
    let period = Span::ms(1);
    bench.holds(0, 0);
    assert_eq!(bench.q1(), 10_000);
    bench.pauses(Class::DATA);
    bench.passes(period);
    assert_eq!(bench.q1(), 8_000);
    bench.passes(period * 5);
    assert_eq!(bench.q1(), 8_000, "nothing has happened");
    bench.pauses(Class(5));
    bench.passes(period);
    assert_eq!(bench.q1(), 8_000, "another class");
}

#[test]
fn a_label_taken_back_within_200_us_was_wrong() {
    for (wait, expected) in [(Span::us(100), 12_500), (Span::us(300), 10_000)] {
        let fixed_marks = Params { kmin: Bytes::kb(5), kmax: Bytes::kb(15), pmax: 1.0, ..Params::default() };
        let mut bench = Bench::new(fixed_marks);
        bench.holds(20_000, 0);
        assert_eq!(bench.q1(), 10_000);
        (0..2).for_each(|_| assert_eq!(bench.leaves(7), Mark::Ce));
        assert!(bench.is_congested(7));
        bench.now += wait;
        judged_calm(&mut bench, 7);
        bench.passes(Span::ms(1));
        assert_eq!(bench.q1(), expected, "{wait:?}");
    }
}

#[test]
fn a_label_is_wrong_up_to_the_last_instant_of_200_us() {
    for (late, expected) in [(0, 12_500), (1, 10_000)] {
        let fixed_marks = Params { kmin: Bytes::kb(5), kmax: Bytes::kb(15), pmax: 1.0, ..Params::default() };
        let mut bench = Bench::new(fixed_marks);
        bench.holds(20_000, 0);
        bench.leaves(7);
        let labelled = bench.now;
        bench.leaves(7);
        assert!(bench.is_congested(7));
        bench.holds(5_000, 0);
        // The 28th packet without a mark takes the label back.
        (0..27).for_each(|_| _ = bench.leaves(7));
        assert!(bench.is_congested(7));
        bench.now = labelled + Span::us(200) + Span(late);
        bench.leaves(7);
        assert!(!bench.is_congested(7));
        bench.passes(Span::ms(1));
        assert_eq!(bench.q1(), expected, "{late} ps late");
    }
}

#[test]
fn at_kmax_the_ramp_still_holds_and_a_byte_beyond_it_every_packet_is_marked() {
    let marks = |len: u64| {
        let mut bench = Bench::new(Params::default());
        bench.holds(len, 0);
        (0..10_000u32).filter(|flow| bench.leaves(1_000 + flow) == Mark::Ce).count()
    };
    // P = 0.2 at Kmax; five standard deviations are 200.
    assert!((1_800..2_200).contains(&marks(400_000)));
    assert_eq!(marks(400_001), 10_000);
}

#[test]
fn the_turn_of_the_lossy_queue_comes_when_all_of_a_frame_is_owed() {
    // Half of the port: after one frame of the other queue it is owed one, and after a byte less it is not.
    for (wire, expected) in [(1_520, Gate::Closed), (1_519, Gate::Open)] {
        let mut bench = Bench::new(Params { floor: 0.5, ..Params::default() });
        bench.holds(50_000, 50_000);
        let (view, p) = (bench.view(0), PacketView { wire: Bytes(wire), ..Bench::data(5) });
        bench.call(|cp, cx| cp.on_dequeue(cx, &p, &view));
        assert_eq!(bench.cp.gate(bench.now, QueueId { class: Class::DATA, sub: 0 }), expected, "{wire}");
    }
}

#[test]
fn parameters_at_their_limits_are_allowed() {
    for json in [
        r#"{"capacity": "1500B"}"#,
        r#"{"gain": 1, "lower": 1, "raise": 1, "pmax": 1, "floor": 0.5}"#,
        r#"{"kmin": "400KB", "release-below": 0.1, "label-above": 0.1, "drop-most": 1, "misjudged-share": 1}"#,
    ] {
        let params: Params = serde_json::from_str(json).expect("well formed");
        assert!(params.build(&port(100)).is_ok(), "{json}");
    }
}

/// The queue is short, until the flow's label is gone.
fn judged_calm(bench: &mut Bench, flow: u32) {
    bench.holds(5_000, 0);
    (0..40).for_each(|_| _ = bench.leaves(flow));
    assert!(!bench.is_congested(flow));
}

#[test]
fn the_lossy_queue_has_its_floor_and_no_more() {
    for (floor, expected) in [(0.05, 50..=52), (0.25, 248..=252), (0.0, 0..=0)] {
        let mut bench = Bench::new(Params { floor, ..Params::default() });
        bench.holds(50_000, 50_000);
        let first = QueueId { class: Class::DATA, sub: 0 };
        let mut lossy = 0;
        for _ in 0..1_000 {
            // As a port with strict priorities would.
            let sub = u8::from(bench.cp.gate(bench.now, first) == Gate::Closed);
            assert_eq!(bench.cp.gate(bench.now, QueueId { sub: 1, ..first }), Gate::Open);
            lossy += u32::from(sub);
            let (view, p) = (bench.view(sub), PacketView { wire: Bytes(1_520), ..Bench::data(5) });
            bench.call(|cp, cx| cp.on_dequeue(cx, &p, &view));
        }
        assert!(expected.contains(&lossy), "{lossy} with {floor}");
        // With nothing to send, nothing is owed.
        bench.holds(50_000, 0);
        assert_eq!(bench.cp.gate(bench.now, first), Gate::Open);
    }
}

#[test]
fn a_flow_that_comes_from_a_lossy_queue_is_congested_where_labels_are_inherited() {
    let isolated = PacketView { isolated: true, ..Bench::data(1) };
    let sub = |inherit| {
        let mut bench = Bench::new(Params { inherit, ..Params::default() });
        bench.cp.classify(bench.now, &isolated).sub
    };
    assert_eq!((sub(false), sub(true)), (0, 1));
}

#[test]
fn a_link_that_fails_leaves_nothing_owed() {
    let mut bench = Bench::new(Params { floor: 0.5, ..Params::default() });
    bench.holds(50_000, 50_000);
    let view = bench.view(0);
    for _ in 0..5 {
        bench.call(|cp, cx| cp.on_dequeue(cx, &Bench::data(5), &view));
    }
    let first = QueueId { class: Class::DATA, sub: 0 };
    assert_eq!(bench.cp.gate(bench.now, first), Gate::Closed);
    bench.event(PortEvent::Removed(&Bench::data(5)));
    assert_eq!(bench.cp.gate(bench.now, first), Gate::Open);
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    for (json, key) in [
        (r#"{"kmin": "500KB"}"#, "kmin"),
        (r#"{"kmin": "0B", "kmax": "0B"}"#, "kmax"),
        (r#"{"pmax": 1.5}"#, "pmax"),
        (r#"{"gain": 0}"#, "gain"),
        (r#"{"label-above": 2}"#, "label-above"),
        (r#"{"release-below": 0.11}"#, "release-below"),
        (r#"{"forget-after": "0us"}"#, "forget-after"),
        (r#"{"threshold": "0B"}"#, "threshold"),
        (r#"{"learn-every": "0us"}"#, "learn-every"),
        (r#"{"misjudged-within": "0us"}"#, "misjudged-within"),
        (r#"{"misjudged-share": -0.1}"#, "misjudged-share"),
        (r#"{"raise": 0.9}"#, "raise"),
        (r#"{"lower": 0}"#, "lower"),
        (r#"{"capacity": "1499B"}"#, "capacity"),
        (r#"{"adapt-every": "0us"}"#, "adapt-every"),
        (r#"{"drop-gain": -1}"#, "drop-gain"),
        (r#"{"drop-most": 1.01}"#, "drop-most"),
        (r#"{"floor": 0.6}"#, "floor"),
    ] {
        let params: Params = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        assert_eq!(params.build(&port(100)).map(|_| ()).map_err(|error| error.key), Err(key), "{json}");
    }
    let nan = Params { pmax: f64::NAN, ..Params::default() };
    assert_eq!(nan.build(&port(100)).map(|_| ()).unwrap_err().key, "pmax");
}

#[test]
fn a_threshold_is_a_size_or_learnt() {
    let read = |json: &str| serde_json::from_str::<Params>(json).expect("well formed");
    assert_eq!(read(r#"{"threshold": "auto"}"#), Params::default());
    let given = read(r#"{"threshold": "123KB"}"#);
    assert_eq!(
        (given.first_threshold(), Params::default().first_threshold()),
        (Bytes::kb(123), Bytes::kb(250))
    );
    let mut bench = Bench::new(given);
    bench.holds(0, 0);
    bench.pauses(Class::DATA);
    bench.passes(Span::ms(3));
    assert_eq!(bench.q1(), 123_000);
}

proptest! {
    /// For any packets: d, Q1 and the gates stay within their bounds, and a timer is never in the past.
    #[test]
    fn whatever_happens_bounds_hold(steps in prop::collection::vec((0u64..400, 0u32..5, 0u8..6, 0u64..700_000), 1..300)) {
        let mut bench = Bench::new(Params { kmin: Bytes::kb(50), kmax: Bytes::kb(200), ..Params::default() });
        for (wait, flow, what, len) in steps {
            bench.now += Span::us(wait);
            match what {
                0 => bench.queues.0 = len,
                1 => bench.queues.1 = len,
                2 => bench.pauses(Class::DATA),
                3 => _ = bench.admitted(len),
                4 => bench.event(PortEvent::Removed(&Bench::data(flow))),
                _ => (0..20).for_each(|_| _ = bench.leaves(flow)),
            }
            let (lossless, lossy) = bench.queues;
            bench.holds(lossless, lossy);
            prop_assert!((0.0..=bench.cp.params.drop_most).contains(&bench.d()));
            prop_assert!((50_000..=200_000).contains(&bench.q1()));
            prop_assert!(bench.cp.next_timeout().is_none_or(|at| at > bench.now));
            let first = QueueId { class: Class::DATA, sub: 0 };
            prop_assert!(lossy > 0 || bench.cp.gate(bench.now, first) == Gate::Open);
        }
    }
}

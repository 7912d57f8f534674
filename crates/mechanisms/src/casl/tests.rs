use proptest::prelude::*;

use super::*;
use crate::slots::Outbox;
use crate::testing::{egress, packet, port, us};
use floodway_units::{Rate, Rng, stream};

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

    /// A packet leaves the queue that its flow has; the queues are then as they are set. Only a new label has
    /// it say something.
    fn leaves_as(&mut self, p: &PacketView) -> Mark {
        let sub = self.cp.classify(self.now, p);
        let view = self.view(sub);
        let was_congested = self.cp.is_harmful(self.now, p.flow);
        let mark = self.call(|cp, cx| cp.on_dequeue(cx, p, &view));
        let is_new = !was_congested && self.cp.is_harmful(self.now, p.flow);
        assert_eq!(std::mem::take(&mut self.out.0), vec![CpAction::Resort(p.class); usize::from(is_new)]);
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
        self.cp.classify(self.now, &Self::data(flow)) == 1
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
        self.cp.classes[0].q1(&self.cp.params).0
    }

    fn d(&self) -> f64 {
        self.cp.classes[0].drop_ratio(&self.cp.params, self.cp.capacity)
    }
}

/// Each packet beyond Q1 = 10 KB is marked, none below.
fn step() -> Params {
    Params { kmin: Bytes::kb(10), kmax: Bytes::kb(10), ..Params::default() }
}

/// The number of marks after which a flow is labelled.
const MARKS: usize = 21;

/// Labels a flow.
fn label(bench: &mut Bench, flow: u32) {
    (0..MARKS).for_each(|_| assert_eq!(bench.leaves(flow), Mark::Ce));
    assert!(bench.is_congested(flow));
}

/// Marks of 10,000 packets, each of another flow, that leave queues of these lengths, from the first or the
/// second queue.
fn marks(sub: u8, lossless: u64, lossy: u64) -> usize {
    let mut bench = Bench::new(Params::default());
    bench.queues = (lossless, lossy);
    let view = bench.view(sub);
    let one = |flow: u32| bench.call(|cp, cx| cp.on_dequeue(cx, &Bench::data(flow), &view));
    (0..10_000).map(one).filter(|mark| *mark == Mark::Ce).count()
}

#[test]
fn a_packet_is_marked_by_its_own_queue() {
    assert_eq!((marks(0, 100_000, 2_000_000), marks(1, 2_000_000, 100_000)), (0, 0));
    assert_eq!((marks(0, 400_001, 0), marks(1, 0, 400_001)), (10_000, 10_000));
    // P = 0.1 at 250 KB; five standard deviations are 150.
    for found in [marks(0, 250_000, 0), marks(1, 0, 250_000)] {
        assert!((850..1_150).contains(&found), "{found}");
    }
}

#[test]
fn at_kmax_the_ramp_still_holds_and_a_byte_beyond_it_every_packet_is_marked() {
    // P = 0.2 at Kmax; five standard deviations are 200.
    assert!((1_800..2_200).contains(&marks(0, 400_000, 0)));
    assert_eq!(marks(0, 400_001, 0), 10_000);
}

#[test]
fn a_flow_whose_marks_accumulate_while_its_queue_is_long_waits_in_the_lossy_queue() {
    let mut bench = Bench::new(step());
    bench.holds(11_000, 0);
    assert_eq!(bench.cp.state(bench.now, Class::DATA), "lossless");
    let until = (1..100).find(|_| bench.leaves(1) == Mark::Ce && bench.is_congested(1));
    assert_eq!(until, Some(MARKS));
    assert!(!bench.is_congested(2) && bench.cp.is_harmful(bench.now, FlowId(1)));
    assert_eq!(bench.cp.state(bench.now, Class::DATA), "isolating");
    assert!(bench.cp.signals(bench.now).local);
    // The length of the other queue does not matter: at Q1 and below nothing is marked, and after 2,373
    // packets m is below m_lo.
    bench.holds(500_000, 9_999);
    let until = (1..3_000).find(|_| {
        assert_eq!(bench.leaves(1), Mark::None);
        !bench.is_congested(1)
    });
    assert_eq!(until, Some(2_373));
    bench.holds(0, 0);
    assert_eq!(bench.cp.state(bench.now, Class::DATA), "lossless");
}

#[test]
fn short_flows_are_never_labelled() {
    let mut bench = Bench::new(step());
    bench.holds(400_000, 0);
    // A flow of 20 KB, all of whose packets are marked.
    for flow in 0..500 {
        (1..MARKS).for_each(|_| assert_eq!(bench.leaves(flow), Mark::Ce));
        assert!(!bench.is_congested(flow));
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
        assert_eq!(bench.cp.classify(bench.now, other), 0);
    }
    label(&mut bench, 1);
    assert_eq!(bench.cp.classify(bench.now, &others[0]), 0, "a reply of the same flow");
}

#[test]
fn classes_are_separate() {
    let mut bench = Bench::new(step());
    bench.holds(500_000, 0);
    label(&mut bench, 1);
    let other = PacketView { class: Class(4), ..Bench::data(1) };
    assert_eq!(bench.cp.classify(bench.now, &other), 0);
    assert_eq!(bench.cp.state(bench.now, Class(4)), "lossless");
}

#[test]
fn the_last_label_is_forgotten_by_a_timer_and_there_is_no_other() {
    let mut bench = Bench::new(step());
    bench.holds(11_000, 0);
    assert_eq!(bench.cp.next_timeout(), None);
    label(&mut bench, 1);
    bench.queues = (0, 0);
    let at = bench.cp.next_timeout().expect("a flow is labelled");
    assert_eq!(at, us(1_000));
    bench.now = at;
    bench.call(CongestionPoint::on_timeout);
    // Its last packet was some us after the start.
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
    // 200 us at 100 Gbit/s.
    let cp = Params::default().build(&port(100)).expect("valid");
    assert_eq!(cp.capacity, Bytes(2_500_000));
}

/// This many packets leave a queue, of a flow each.
fn pass(bench: &mut Bench, sub: u8, packets: u32) {
    let view = bench.view(sub);
    for flow in 0..packets {
        bench.call(|cp, cx| cp.on_dequeue(cx, &Bench::data(1_000 + flow), &view));
    }
}

#[test]
fn the_drop_ratio_follows_the_average_of_the_lossy_queue_beyond_q1() {
    let threshold = OrAuto::Given(Bytes::kb(100));
    let capacity = Some(Bytes::kb(500));
    let mut bench = Bench::new(Params { threshold, capacity, drop_most: 0.4, ..Params::default() });
    assert_eq!(bench.admitted(450_000), None, "d is 0 at first");
    bench.queues = (0, 300_000);
    pass(&mut bench, 1, 30_000);
    // 0.4 · (300 - 100) / (500 - 100).
    assert!((bench.d() - 0.2).abs() < 1e-6, "{}", bench.d());
    let drops = (0..10_000).filter(|_| bench.admitted(1_000) == Some(DropReason::Selective)).count();
    // Five standard deviations of a binomial number.
    assert!((1_800..2_200).contains(&drops), "{drops}");
    bench.queues = (0, 90_000);
    pass(&mut bench, 1, 30_000);
    assert_eq!(bench.d(), 0.0);
    // By default only a full queue drops.
    let mut full = Bench::new(Params::default());
    full.queues = (0, 2_400_000);
    pass(&mut full, 1, 30_000);
    assert!((0..1_000).all(|_| full.admitted(2_400_000).is_none()));
}

#[test]
fn q1_is_the_average_of_the_lossless_queue_between_kmin_and_kmax() {
    let mut bench = Bench::new(Params::default());
    bench.holds(0, 0);
    assert_eq!(bench.q1(), 100_000);
    bench.queues = (250_000, 2_000_000);
    pass(&mut bench, 0, 1_024);
    // 250 KB · (1 - (1023/1024)^1024), of which the second factor is nearly 1 - 1/e.
    assert!((158_000..158_200).contains(&bench.q1()), "{}", bench.q1());
    pass(&mut bench, 1, 1_024);
    assert!(bench.q1() < 158_200, "the other queue");
    bench.queues.0 = 900_000;
    pass(&mut bench, 0, 9_000);
    assert_eq!(bench.q1(), 400_000);
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
        r#"{"gain": 1, "pmax": 1, "floor": 0.5}"#,
        r#"{"kmin": "400KB", "release-below": 0.1, "label-above": 0.1, "drop-most": 1}"#,
    ] {
        let params: Params = serde_json::from_str(json).expect("well formed");
        assert!(params.build(&port(100)).is_ok(), "{json}");
    }
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
        (r#"{"release-below": 0.021}"#, "release-below"),
        (r#"{"forget-after": "0us"}"#, "forget-after"),
        (r#"{"threshold": "0B"}"#, "threshold"),
        (r#"{"capacity": "1499B"}"#, "capacity"),
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
    let mut bench = Bench::new(given);
    bench.queues = (300_000, 0);
    pass(&mut bench, 0, 5_000);
    assert_eq!(bench.q1(), 123_000);
}

proptest! {
    /// For any packets: only labelled flows are in the lossy queue, and nothing else is dropped; labels need
    /// many marks; d, Q1 and the gates stay within their bounds; a timer is never in the past.
    #[test]
    fn whatever_happens_bounds_hold(steps in prop::collection::vec((0u64..400, 0u32..5, 0u8..5, 0u64..700_000), 1..300)) {
        let params = Params { kmin: Bytes::kb(50), kmax: Bytes::kb(200), drop_most: 0.5, ..Params::default() };
        let mut bench = Bench::new(params);
        let mut marks = [0usize; 5];
        for (wait, flow, what, len) in steps {
            bench.now += Span::us(wait);
            match what {
                0 => bench.queues.0 = len,
                1 => bench.queues.1 = len,
                2 => _ = bench.admitted(len),
                3 => bench.event(PortEvent::Removed(&Bench::data(flow))),
                _ => marks[flow as usize] += (0..20).filter(|_| bench.leaves(flow) == Mark::Ce).count(),
            }
            let (lossless, lossy) = bench.queues;
            bench.holds(lossless, lossy);
            for flow in 0..5 {
                prop_assert!(!bench.is_congested(flow) || marks[flow as usize] >= MARKS);
            }
            let view = bench.view(0);
            let dropped = bench.cp.admit(bench.now, &mut bench.rng, &Bench::data(flow), &view);
            prop_assert_eq!(dropped, None, "the lossless queue");
            prop_assert!((0.0..=0.5).contains(&bench.d()));
            prop_assert!((50_000..=200_000).contains(&bench.q1()));
            prop_assert!(bench.cp.next_timeout().is_none_or(|at| at > bench.now));
            let first = QueueId { class: Class::DATA, sub: 0 };
            prop_assert!(lossy > 0 || bench.cp.gate(bench.now, first) == Gate::Open);
        }
    }
}

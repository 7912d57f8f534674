use super::*;
use crate::slots::Outbox;
use crate::testing::{egress, packet, port, us};
use floodway_units::{Rng, Turns, stream};

/// A port at 100 Gbit/s with its surroundings.
struct Bench {
    cp: Cp,
    rng: Rng,
    out: Outbox<CpAction>,
    now: Time,
}

const FRAME: u64 = 1_000;
const NEAR: PortId = PortId(7);

impl Bench {
    fn new(params: Params) -> Self {
        let cp = params.build(&port(100)).expect("the parameters are valid");
        Bench { cp, rng: stream(1, 1, "test"), out: Outbox::default(), now: us(0) }
    }

    fn view(flow: u32) -> PacketView {
        PacketView { flow: FlowId(flow), ingress: NEAR, ..packet(FRAME) }
    }

    /// What `call` sends now.
    fn call(&mut self, call: impl FnOnce(&mut Cp, &mut Cx<'_, CpAction>)) -> Vec<CpAction> {
        call(&mut self.cp, &mut Cx { now: self.now, rng: &mut self.rng, out: &mut self.out });
        std::mem::take(&mut self.out.0)
    }

    /// A packet joins a queue of `len` bytes, of which `voq` have still to cross.
    fn joins(&mut self, flow: u32, len: u64, voq: u64) -> Vec<CpAction> {
        let p = Self::view(flow);
        let sub = self.cp.classify(self.now, &p);
        let q = QueueView { sub, voq: Bytes(voq), ..egress(len) };
        self.call(|cp, cx| {
            cp.on_input(cx, &p, &q);
            cp.on_enqueue(cx, &p, &q);
        })
    }

    /// A packet leaves a queue that has `len` bytes then, and the time that it takes passes.
    fn leaves(&mut self, flow: u32, len: u64, voq: u64) -> Vec<CpAction> {
        let p = Self::view(flow);
        let sub = self.cp.classify(self.now, &p);
        let q = QueueView { sub, voq: Bytes(voq), ..egress(len) };
        let said = self.call(|cp, cx| {
            cp.on_dequeue(cx, &p, &q);
        });
        self.now += self.cp.port.rate.time_to_send(Bytes(FRAME));
        said
    }

    fn resorted(&mut self, queues: [Bytes; 2]) {
        self.call(|cp, cx| cp.on_event(cx, PortEvent::Resorted { class: Class::DATA, queues: &queues }));
    }

    /// Packets of these flows in turn pass a queue of `len` bytes, `count` of them.
    fn pass(&mut self, flows: &[u32], len: u64, count: usize) -> Vec<CpAction> {
        let mut said = Vec::new();
        for &flow in flows.iter().cycle().take(count) {
            said.extend(self.joins(flow, len, len));
            said.extend(self.leaves(flow, len, len));
        }
        said
    }

    fn receives(&mut self, degree: u8, flows: &[u32]) -> Vec<CpAction> {
        let cn = CongestionNotification::new(Class::DATA, degree, flows.iter().map(|&flow| FlowId(flow)));
        self.call(|cp, cx| cp.on_event(cx, PortEvent::CongestionNotification(&cn)))
    }

    fn state(&self) -> &'static str {
        self.cp.state(self.now, Class::DATA)
    }

    /// Wc, in bytes.
    fn share(&self) -> u64 {
        let window = self.cp.known(Class::DATA).and_then(|region| region.window.as_ref());
        window.and_then(Window::harmful_share).expect("harmful flows are limited")
    }

    fn is_held(&mut self, flow: u32) -> bool {
        self.cp.classify(self.now, &Self::view(flow)) == 1
    }
}

fn cns(said: &[CpAction]) -> Vec<(u8, Vec<FlowId>)> {
    let found = said.iter().filter_map(|action| match action {
        CpAction::ToUpstream(port, cn) => {
            assert_eq!(*port, NEAR);
            Some((cn.degree, cn.named().to_vec()))
        }
        _ => None,
    });
    found.collect()
}

const RESORT: CpAction = CpAction::Resort(Class::DATA);

#[test]
fn flags_give_each_role() {
    let mut bench = Bench::new(Params::default());
    assert_eq!(bench.state(), "outside");
    bench.pass(&[1, 2], 90_000, 200);
    assert_eq!(bench.state(), "root");
    bench.receives(20, &[5]);
    assert_eq!(bench.state(), "inner");
    // Whom the root held back before waits among the others now.
    bench.resorted([Bytes(90_000), Bytes::ZERO]);
    bench.leaves(1, 0, 0);
    assert_eq!(bench.state(), "edge");
    bench.receives(0, &[]);
    assert_eq!(bench.state(), "outside");
    bench.receives(20, &[5]);
    bench.now += Span::us(101);
    assert_eq!(bench.state(), "outside", "a notification does not hold for ever");
}

#[test]
fn the_root_holds_the_flow_back_that_has_most_of_the_port() {
    // Of 64 entries a flow of an eighth has 16 once in 150 times.
    let mut bench = Bench::new(Params { cam_depth: 64, ..Params::default() });
    let said = bench.pass(&[1, 2, 1, 3, 1, 4, 1, 5], 90_000, 300);
    assert!(said.contains(&RESORT));
    assert!(bench.is_held(1));
    assert!((2..=5).all(|flow| !bench.is_held(flow)), "each has an eighth");
    let named: Vec<_> = cns(&said);
    assert!(named[0].1.is_empty(), "at first nobody is known");
    assert_eq!(named.last().map(|(_, flows)| flows.as_slice()), Some(&[FlowId(1)][..]));
}

#[test]
fn degrees_that_are_sent_are_combined_with_the_neighbours() {
    let bench = Bench::new(Params::default());
    let remote = |degree| Some(Remote { degree, at: us(0), again: false });
    // (1 - 0.5) · 40 + 0.5 · 20, of which the whole part counts.
    assert_eq!(bench.cp.combined(40, remote(20)), 30);
    assert_eq!(bench.cp.combined(41, remote(20)), 30);
    assert_eq!(bench.cp.combined(40, None), 40);
    let mut downstream = Bench::new(Params { remote_weight: 0.25, ..Params::default() });
    assert_eq!(downstream.cp.combined(40, remote(20)), 35);
    // Fb = 70 KB of a queue at rest: 44. With the neighbour's 60: 0.75 · 44 + 15.
    downstream.receives(60, &[9]);
    let said = downstream.pass(&[1, 2], 90_000, 200);
    assert_eq!(cns(&said).last().map(|(degree, _)| *degree), Some(48));
}

#[test]
fn the_edge_holds_the_flows_of_a_cn_and_no_others() {
    let mut bench = Bench::new(Params::default());
    bench.receives(63, &[2]);
    assert!(!bench.is_held(2), "its share is not known yet");
    let said = bench.pass(&[1, 2], 3_000, 16);
    assert_eq!(said, [RESORT]);
    assert!(bench.is_held(2) && !bench.is_held(1));
    // Other flows are named: these are held now.
    assert_eq!(bench.receives(10, &[1]), [RESORT]);
    assert!(bench.is_held(1) && !bench.is_held(2));
    assert_eq!(bench.receives(10, &[1]), []);
}

#[test]
fn a_named_flow_that_is_never_seen_is_not_controlled() {
    let mut bench = Bench::new(Params::default());
    bench.receives(63, &[9]);
    assert_eq!(bench.pass(&[1, 2], 3_000, 64), []);
    assert!(bench.cp.regions[0].window.is_none());
}

#[test]
fn control_ends_when_congestion_has_ended() {
    let mut bench = Bench::new(Params::default());
    bench.pass(&[1, 2, 1, 3, 1, 4, 1, 5], 90_000, 300);
    assert!(bench.is_held(1));
    // The queues are short again, and no CN arrives: Wc grows by a sixteenth of W a period.
    let said = bench.pass(&[1, 2], 3_000, 400);
    assert!(said.contains(&RESORT));
    assert!(!bench.is_held(1) && bench.cp.regions[0].window.is_none());
    assert!(bench.cp.next_timeout().is_none());
}

#[test]
fn an_input_that_runs_empty_takes_its_complaint_back_once() {
    let mut bench = Bench::new(Params::default());
    bench.pass(&[1, 2], 90_000, 200);
    assert_eq!(cns(&bench.leaves(1, 0, 0)), [(0, Vec::new())]);
    assert_eq!(bench.leaves(1, 0, 0), []);
}

#[test]
fn while_harmful_flows_wait_a_timer_begins_their_next_period() {
    let mut bench = Bench::new(Params::default());
    bench.receives(63, &[1]);
    bench.pass(&[1], 50_000, 16);
    assert!(bench.is_held(1));
    bench.resorted([Bytes::ZERO, Bytes(50_000)]);
    let queue = QueueId { class: Class::DATA, sub: 1 };
    let mut sent = 0;
    let mut turns = Turns::at_most(1_000);
    while turns.go() && bench.cp.gate(bench.now, queue) == Gate::Open {
        bench.leaves(1, 50_000, 50_000);
        sent += 1;
    }
    let at = bench.cp.next_timeout().expect("harmful flows wait");
    assert_eq!(bench.cp.gate(bench.now, queue), Gate::Until(at));
    // W was known when the 16th packet started; it takes 1.28 us, and half of it is Wc.
    assert_eq!((sent, at), (8, us(0) + Span::ns(1_200 + 1_280)));
    bench.now = at;
    bench.call(CongestionPoint::on_timeout);
    assert_eq!(bench.cp.gate(bench.now, queue), Gate::Open);
}

#[test]
fn signals_give_routers_the_degree_and_the_flows_that_stay() {
    let mut bench = Bench::new(Params::default());
    assert_eq!(bench.cp.signals(bench.now), Signals::default());
    bench.pass(&[1, 2, 1, 3, 1, 4, 1, 5], 60_000, 300);
    let signals = bench.cp.signals(bench.now);
    assert!(signals.local && !signals.remote && !signals.severe, "{signals:?}");
    assert!(bench.cp.is_harmful(bench.now, FlowId(1)) && !bench.cp.is_harmful(bench.now, FlowId(77)));
    bench.receives(10, &[1]);
    assert!(!bench.cp.signals(bench.now).severe);
    bench.receives(10, &[1]);
    assert!(bench.cp.signals(bench.now).severe, "twice within 50 us");
}

/// The paper's reserved buffer that is almost full: four times Qeq where Qeq is a fifth of the queue.
#[test]
fn a_queue_beyond_four_fifths_is_severe_and_one_at_four_fifths_is_not() {
    for equilibrium in [5_000, 20_000] {
        let mut bench = Bench::new(Params { equilibrium: Bytes(equilibrium), ..Params::default() });
        bench.resorted([Bytes(4 * equilibrium), Bytes::ZERO]);
        assert!(!bench.cp.signals(bench.now).severe, "{equilibrium}");
        bench.resorted([Bytes(4 * equilibrium + 1), Bytes::ZERO]);
        assert!(bench.cp.signals(bench.now).severe, "{equilibrium}");
        // What harmful flows have in the queue of their own does not count.
        bench.resorted([Bytes(4 * equilibrium), Bytes::kb(900)]);
        assert!(!bench.cp.signals(bench.now).severe, "{equilibrium}");
    }
}

#[test]
fn a_degree_is_severe_from_the_one_on_that_is_asked_for() {
    // Fb = 40 KB of a queue at rest: 25.
    for (severe, expected) in [(25, true), (26, false)] {
        let mut bench = Bench::new(Params { severe, ..Params::default() });
        bench.pass(&[1, 2], 60_000, 300);
        assert_eq!(bench.cp.regions[0].output.degree(), 25);
        assert_eq!(bench.cp.signals(bench.now).severe, expected, "{severe}");
    }
}

#[test]
fn a_second_complaint_is_severe_within_50_us() {
    for (wait, expected) in [(Span::us(50), true), (Span(50_000_001), false)] {
        let mut bench = Bench::new(Params::default());
        bench.receives(10, &[1]);
        bench.now += wait;
        bench.receives(10, &[1]);
        assert_eq!(bench.cp.signals(bench.now).severe, expected, "{wait}");
    }
}

#[test]
fn a_complaint_holds_to_the_last_instant_of_its_time() {
    let mut bench = Bench::new(Params::default());
    bench.receives(20, &[5]);
    bench.now += Span::us(100);
    assert_eq!(bench.state(), "edge");
    bench.now += Span(1);
    assert_eq!(bench.state(), "outside");
}

#[test]
fn control_ends_where_the_others_are_at_the_equilibrium_and_not_beyond_it() {
    for (len, ends) in [(20_000, true), (20_001, false)] {
        let mut bench = Bench::new(Params::default());
        bench.pass(&[1, 2, 1, 3, 1, 4, 1, 5], 90_000, 300);
        assert!(bench.is_held(1));
        bench.pass(&[1, 2], len, 600);
        assert_eq!(bench.cp.regions[0].window.is_none(), ends, "{len}");
    }
}

#[test]
fn the_successor_of_a_harmful_flow_with_the_least_is_held_too() {
    let mut bench = Bench::new(Params { cam_depth: 64, ..Params::default() });
    bench.pass(&[1, 2, 1, 3, 1, 4, 1, 5], 90_000, 300);
    assert!(bench.is_held(1) && !bench.is_held(2));
    // Sample by sample Wc falls to a packet, and the queue stays what it is: now flow 2 has most of the port.
    let found = (0..100).any(|_| {
        bench.pass(&[2, 3, 2, 4, 2, 5, 2, 6], 90_000, 8);
        bench.is_held(2)
    });
    let window = bench.cp.regions[0].window.as_ref().expect("flows are held");
    assert!(found && !window.is_at_floor(), "what it had of W is Wc's now");
    assert!((3..=6).all(|flow| !bench.is_held(flow)), "each has an eighth");
}

#[test]
fn more_flows_are_held_only_once_the_memory_is_full_again() {
    let params = Params { cam_depth: 64, cam_interval: Bytes::kb(4), ..Params::default() };
    let mut bench = Bench::new(params);
    // The packets of these flows until the first of them is held.
    let mut until_held = |flows: &[u32]| {
        let mut count = 0;
        while !bench.is_held(flows[0]) && count < 10_000 {
            bench.pass(flows, 90_000, flows.len());
            count += flows.len();
        }
        count
    };
    let counts = [until_held(&[1]), until_held(&[2, 1]), until_held(&[3, 2, 1])];
    // When flow 2 becomes harmful the memory is cleared. Its 64 entries are 3.4 to 4.6 KB apart, that is four
    // packets of 1000 B at least.
    assert!((63 * 4..10_000).contains(&counts[2]), "{counts:?}");
}

#[test]
fn names_are_kept_as_long_as_cns_may_arrive_and_hold() {
    let bench = Bench::new(Params::default());
    // Seen within 100 us, 1 us on the way, believed for 100 us, and then seen or forgotten in as long.
    assert_eq!(bench.cp.demands().naming, Span::us(401));
}

#[test]
fn a_quarter_of_the_memory_is_to_blame_and_one_entry_at_least() {
    for (cam_depth, hits) in [(16, 4), (64, 16), (7, 1), (3, 1), (1, 1)] {
        let mut filled = Params { cam_depth, ..Params::default() };
        filled.fill_in(&port(100));
        assert_eq!(filled.cam_hits, Some(hits), "{cam_depth}");
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let wrong = [
        ("equilibrium", Params { equilibrium: Bytes::ZERO, ..Params::default() }),
        ("weight", Params { weight: 65, ..Params::default() }),
        ("remote-weight", Params { remote_weight: 1.5, ..Params::default() }),
        ("cam-depth", Params { cam_depth: 0, ..Params::default() }),
        ("cam-hits", Params { cam_hits: Some(17), ..Params::default() }),
        ("cam-interval", Params { cam_interval: Bytes::ZERO, ..Params::default() }),
        ("severe", Params { severe: 64, ..Params::default() }),
        ("expire", Params { expire: Span::ZERO, ..Params::default() }),
    ];
    for (key, params) in wrong {
        assert_eq!(params.build(&port(100)).map(|_| ()).unwrap_err().key, key);
    }
}

// ---- readings of the paper

/// Harmful flow 1 has been recognised and measured at a root; returns Wc then, and after `count` more
/// samples' worth of congested packets.
fn share_after(cuts: Cuts, count: usize) -> (u64, u64) {
    let mut bench = Bench::new(Params { cuts, cam_depth: 64, ..Params::default() });
    let mut turns = Turns::at_most(400);
    while turns.go() && !bench.is_held(1) {
        bench.pass(&[1, 2, 1, 3, 1, 4, 1, 5], 60_000, 8);
    }
    let before = bench.share();
    bench.pass(&[1, 2, 1, 3, 1, 4, 1, 5], 60_000, count);
    (before, bench.share())
}

#[test]
fn each_sample_cuts_or_the_first_one_of_a_congestion_alone() {
    let (before, after) = share_after(Cuts::EachSample, 100);
    assert!(after < before, "{before}, then {after}");
    let (before, after) = share_after(Cuts::FirstDetection, 100);
    assert_eq!(after, before, "the same congestion lasts");
    assert!(before > FRAME, "a cut by a half at most");
}

#[test]
fn a_new_congestion_cuts_again() {
    let mut bench = Bench::new(Params { cuts: Cuts::FirstDetection, ..Params::default() });
    bench.receives(20, &[1]);
    bench.pass(&[1, 2], 90_000, 100);
    assert!(bench.is_held(1));
    let first = bench.share();
    // Neither the neighbour's next CNs nor the port's own samples cut.
    (0..3).for_each(|_| drop(bench.receives(40, &[1])));
    assert_eq!(bench.share(), first);
    bench.receives(0, &[]);
    bench.receives(40, &[1]);
    let second = bench.share();
    assert!(second < first, "{first}, then {second}");
    // A CN that comes when the last one is no longer valid begins a new congestion, too.
    let mut other = Bench::new(Params { cuts: Cuts::FirstDetection, ..Params::default() });
    other.receives(20, &[1]);
    other.pass(&[1, 2], 90_000, 100);
    // 112 us, in which the port's own congestion begins, and cuts once.
    let first = other.share();
    other.pass(&[1, 2], 90_000, 700);
    let own = other.share();
    other.pass(&[1, 2], 90_000, 700);
    assert!(own < first && other.share() == own, "{first}, then {own}");
    other.receives(40, &[1]);
    assert!(other.share() < own);
}

#[test]
fn marks_of_the_port_are_taken_off_packets_of_other_flows() {
    let marked = |flow: u32| PacketView { mark: Mark::Ce, ..Bench::view(flow) };
    let clears = |bench: &mut Bench, came: &PacketView, leaves: &PacketView| {
        let mut cleared = false;
        let q = egress(90_000);
        bench.call(|cp, cx| {
            cp.on_dequeue(cx, came, &q);
            cleared = cp.clears(cx, leaves, &q);
        });
        cleared
    };
    for (marks, cleared) in [(Marks::All, false), (Marks::Harmful, true)] {
        let mut bench = Bench::new(Params { marks, ..Params::default() });
        assert_eq!(bench.cp.demands().clears, cleared);
        // No flow is harmful yet: none is marked here.
        assert_eq!(clears(&mut bench, &Bench::view(1), &marked(1)), cleared);
        bench.receives(20, &[1]);
        bench.pass(&[1, 2], 90_000, 10);
        assert!(!clears(&mut bench, &Bench::view(1), &marked(1)), "a harmful flow");
        assert_eq!(clears(&mut bench, &Bench::view(2), &marked(2)), cleared, "another flow");
        assert!(!clears(&mut bench, &marked(2), &marked(2)), "the mark of a port before");
    }
}

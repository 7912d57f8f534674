//! Logs of congestion feedback, of machines from outside the tree, and of allowances of senders.

use crate::support;
use crate::support::{Net, assert_invariants, counter, everything, port, real, sum, texts, whole};
use floodway_fabric::blueprint::{AllowanceSpec, NodeSpec, RecordSpec};
use floodway_fabric::outcome::{Outcome, RowTotals};
use floodway_fabric::{Control, Fabric, Records, Table, ThreadPlan, Threads};
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{
    Cnp, CongestionNotification, CongestionPoint, CpAction, Cx, Mark, PacketView, QueueView,
};
use floodway_units::{Bytes, Class, PortId, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "2MB"}}"#;

/// Long while more than 10 KB wait. Every third packet that leaves a long queue is marked as undetermined,
/// others as congested; each tenth packet of all has a CNP with a window.
#[derive(Default)]
struct Teller {
    long: bool,
    sent: u64,
}

impl CongestionPoint for Teller {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, q: &QueueView) -> Mark {
        self.long = q.len > Bytes::kb(10);
        Mark::None
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        self.long = q.len > Bytes::kb(10);
        self.sent += 1;
        if self.sent.is_multiple_of(10) {
            let window = Some(Bytes(1_000 * self.sent));
            cx.push(CpAction::ToSource(Cnp { window, ..Cnp::of(p.flow, Mark::Ce) }));
        }
        match (self.long, self.sent % 3) {
            (false, _) => Mark::None,
            (true, 0) => Mark::Ue,
            (true, _) => Mark::Ce,
        }
    }

    fn state(&self, _now: Time, class: Class) -> &'static str {
        match (class == Class::DATA, self.long) {
            (false, _) => "",
            (true, true) => "long",
            (true, false) => "short",
        }
    }
}

/// Two hosts that send 200 KB each to a third over two switches; the egress of the first switch sends
/// signals.
fn incast() -> (Net, PortId) {
    let mut net = Net::new(Format::Ethernet);
    let (s, t, to) = (net.switch("s"), net.switch("t"), net.host("to"));
    let middle = net.link(s, t, G100, Span::us(2), PFC);
    net.link(t, to, G100, Span::us(2), PFC);
    for name in ["a", "b"] {
        let from = net.host(name);
        net.link(from, s, G100, Span::us(1), PFC);
        net.flow(from, to, Bytes::kb(200), Span::us(1));
    }
    (net, port(middle, 0))
}

fn kept(rows: usize) -> RecordSpec {
    let allowances = Some(AllowanceSpec { workloads: vec![0], rows });
    RecordSpec { signals: Some(rows), allowances, ..RecordSpec::default() }
}

fn run_on(net: &Net, at: PortId, thread_plan: &ThreadPlan) -> Records {
    let control = Control::default();
    let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound").on(thread_plan);
    let point = AnyCongestionPoint::Custom(Box::new(Teller::default()));
    fabric.add_congestion_point(at, point).expect("it claims nothing");
    let records = fabric.run();
    assert_invariants(&records);
    records
}

fn run(net: &Net, at: PortId) -> Records {
    run_on(net, at, &ThreadPlan::of_run(&net.blueprint, Threads::AtMost(1), 1))
}

fn words(table: &Table, column: &str) -> Vec<String> {
    texts(table, column).into_iter().map(Option::unwrap_or_default).collect()
}

#[test]
fn each_mark_and_cnp_has_a_row_and_counters_separate_marks() {
    let (mut net, at) = incast();
    net.blueprint.records = kept(10_000);
    let records = run(&net, at);
    let log = records.signals.as_ref().expect("it was asked for");
    let events = words(log, "event");
    let rows = |event: &str| events.iter().filter(|of| *of == event).count() as u64;
    for (event, column) in [("mark-ce", "ecn_marks"), ("mark-ue", "ue_marks"), ("cnp", "cnps")] {
        assert!(rows(event) > 5, "{event}");
        assert_eq!(rows(event), counter(&records, "s", "s-t", column), "{event}");
        assert_eq!(rows(event), sum(&records, column), "nobody else does so: {event}");
    }
    assert_eq!(records.outcome.signals, Some(RowTotals { rows: log.rows() as u64, beyond: 0 }));
    assert!(real(log.column("time_ns")).is_sorted());
}

#[test]
fn a_row_names_its_flow_and_its_window_and_only_those_of_states_a_state() {
    let (mut net, at) = incast();
    net.blueprint.records = kept(10_000);
    let records = run(&net, at);
    let log = records.signals.expect("it was asked for");
    let windows = real(log.column("window_bytes"));
    let rows =
        words(&log, "event").into_iter().zip(texts(&log, "flow_id").into_iter().zip(texts(&log, "state")));
    let mut cnps = Vec::new();
    for ((event, (flow, state)), window) in rows.zip(windows) {
        assert_eq!((flow.is_none(), state.is_some()), (event == "state", event == "state"));
        assert_eq!(window.is_nan(), event != "cnp");
        if event == "cnp" {
            cnps.push(window);
        }
        let known = ["w:a:0", "w:b:0"].map(|id| id.replacen('w', &net.blueprint.workloads[0].name, 1));
        assert!(flow.is_none_or(|flow| known.contains(&flow)));
    }
    assert_eq!(cnps[..3], [10_000.0, 20_000.0, 30_000.0]);
    assert!(words(&log, "link").iter().all(|link| link == "s-t"));
    assert!(words(&log, "node").iter().all(|node| node == "s"));
}

/// Sends the neighbour upstream a CN for each tenth packet that leaves: the degree counts these CNs, and
/// every third of them names no flow, the next one flow, and the next two.
#[derive(Default)]
struct Complainer(u64);

impl CongestionPoint for Complainer {
    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        self.0 += 1;
        if self.0.is_multiple_of(10) {
            let number = self.0 / 10;
            let named = (0..number % 3).map(|_| p.flow);
            cx.push(CpAction::ToUpstream(
                p.ingress,
                CongestionNotification::new(p.class, number as u8, named),
            ));
        }
        Mark::None
    }
}

#[test]
fn each_cn_to_a_switch_has_a_row_with_port_degree_and_flows() {
    let (mut net, at) = incast();
    net.blueprint.records = kept(10_000);
    let control = Control::default();
    let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
    // Before s there are hosts only, before t there is s.
    for port in [at, port(1, 0)] {
        let point = AnyCongestionPoint::Custom(Box::new(Complainer::default()));
        fabric.add_congestion_point(port, point).expect("it claims nothing");
    }
    let records = fabric.run();
    assert_invariants(&records);
    assert_eq!((counter(&records, "t", "t-to", "cns"), sum(&records, "cns")), (40, 40));
    let log = records.signals.expect("it was asked for");
    assert_eq!(words(&log, "event"), ["cn"; 40]);
    for (column, word) in [("node", "t"), ("link", "t-to"), ("neighbour", "s")] {
        assert_eq!(words(&log, column), [word; 40]);
    }
    let numbers = 1..=40_u8;
    assert_eq!(real(log.column("degree")), numbers.clone().map(f64::from).collect::<Vec<_>>());
    assert_eq!(real(log.column("flows")), numbers.map(|n| f64::from(n % 3)).collect::<Vec<_>>());
    assert!(texts(&log, "flow_id").iter().chain(&texts(&log, "state")).all(Option::is_none));
    assert!(real(log.column("window_bytes")).iter().all(|window| window.is_nan()));
}

#[test]
fn states_begin_at_the_start_of_the_run_and_alternate() {
    let (mut net, at) = incast();
    net.blueprint.records = kept(10_000);
    let log = run(&net, at).signals.expect("it was asked for");
    let times = real(log.column("time_ns"));
    let rows = words(&log, "event").into_iter().zip(words(&log, "state")).zip(times);
    let states: Vec<(String, f64)> =
        rows.filter(|((event, _), _)| event == "state").map(|((_, state), at)| (state, at)).collect();
    assert_eq!(states[0], ("short".to_owned(), 0.0));
    assert!(states.len() >= 3, "it gets long, and short again");
    for pair in states.windows(2) {
        assert_ne!(pair[0].0, pair[1].0);
        // The first packets come after 1 us of flow start and 1 us of link.
        assert!(pair[1].1 > 2_000.0);
    }
}

#[test]
fn what_comes_when_the_logs_are_full_is_counted() {
    let (mut net, at) = incast();
    net.blueprint.settings[0].rate_control = vec![support::params(r#""dcqcn""#)];
    net.blueprint.records = kept(10_000);
    let all = run(&net, at).outcome;
    net.blueprint.records = kept(4);
    let records = run(&net, at);
    for (all, cut) in [(all.signals, records.outcome.signals), (all.allowances, records.outcome.allowances)] {
        let all = all.expect("it was asked for").rows;
        assert!(all > 4);
        assert_eq!(cut, Some(RowTotals { rows: 4, beyond: all - 4 }));
    }
    assert_eq!(records.signals.map(|log| log.rows()), Some(4));
}

#[test]
fn what_is_not_asked_for_is_not_kept_and_changes_nothing() {
    let (mut net, at) = incast();
    let without = run(&net, at);
    assert!(without.signals.is_none() && without.allowances.is_none());
    net.blueprint.records = kept(10_000);
    let with = run(&net, at);
    let rest = Records { signals: None, allowances: None, ..with.clone() };
    let outcome = Outcome { signals: None, allowances: None, ..with.outcome };
    assert!(everything(&Records { outcome, ..rest }) == everything(&without));
}

#[test]
fn a_sender_s_allowance_begins_with_its_flow_and_falls_with_each_cnp() {
    let (mut net, at) = incast();
    net.blueprint.settings[0].rate_control = vec![support::params(r#""dcqcn""#)];
    net.blueprint.records = kept(10_000);
    let records = run(&net, at);
    let log = records.allowances.as_ref().expect("it was asked for");
    let (times, allowed) = (real(log.column("time_ns")), real(log.column("allowed_gbps")));
    let flows = words(log, "flow_id");
    let first = flows.iter().position(|flow| flow.ends_with(":a:0")).expect("it has started");
    assert_eq!((times[first], allowed[first]), (1_000.0, 100.0), "DCQCN starts at line rate");
    assert!(whole(records.flows.column("cnps")).iter().all(|&cnps| cnps > 0));
    for of in [":a:0", ":b:0"] {
        let own = |at: &usize| flows[*at].ends_with(of);
        let own: Vec<f64> = (0..flows.len()).filter(own).map(|at| allowed[at]).collect();
        assert!(own.len() > 2 && own[1] < own[0] && own[1] >= 50.0, "{own:?}");
        assert!(own.windows(2).all(|pair| pair[0] != pair[1]), "a row is a change: {own:?}");
    }
    assert!(real(log.column("window_bytes")).iter().all(|window| window.is_nan()));
}

#[test]
fn a_sender_that_never_changes_its_mind_has_one_row() {
    let (mut net, at) = incast();
    net.blueprint.records = kept(10_000);
    let log = run(&net, at).allowances.expect("it was asked for");
    assert_eq!(log.rows(), 2);
    assert_eq!(real(log.column("allowed_gbps")), [100.0, 100.0]);
    assert_eq!(real(log.column("rate_gbps")), [100.0, 100.0]);
}

#[test]
fn flows_of_other_workloads_have_no_allowance() {
    let (mut net, at) = incast();
    net.blueprint.records = RecordSpec {
        allowances: Some(AllowanceSpec { workloads: vec![], rows: 10 }),
        ..RecordSpec::default()
    };
    assert_eq!(run(&net, at).allowances.map(|log| log.rows()), Some(0));
}

#[test]
fn threads_keep_the_same_rows_whether_the_logs_are_full_or_not() {
    let (mut net, at) = incast();
    net.blueprint.settings[0].rate_control = vec![support::params(r#""dcqcn""#)];
    let mut owners = vec![0; net.blueprint.nodes.len()];
    for (name, owner) in [("t", 1), ("to", 1), ("b", 2)] {
        let is = |node: &NodeSpec| node.name == name;
        owners[net.blueprint.nodes.iter().position(is).expect("it is there")] = owner;
    }
    for most in [10_000, 40, 3] {
        net.blueprint.records = kept(most);
        let one = run(&net, at);
        assert!(one.signals.as_ref().is_some_and(|log| log.rows() >= most.min(41)));
        for forced in [true, false] {
            let thread_plan = ThreadPlan::with_owners(&net.blueprint, &owners, forced);
            assert!(everything(&one) == everything(&run_on(&net, at, &thread_plan)), "{most}");
        }
    }
}

//! Threads: records are the same to the byte on any number of threads, with any assignment of nodes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use crate::support;
use crate::support::breaks::Breaks;
use crate::support::plans::{FLOW_CONTROLS, Plan, TRANSPORTS, host_plans, plans};
use crate::support::ranks::run_in_ranks;
use crate::support::{Net, assert_invariants, difference, everything};
use floodway_fabric::blueprint::{Arrivals, Role, Ties, UNBOUNDED};
use floodway_fabric::{Blueprint, Control, Fabric, RankPlan, ThreadPlan, Threads};
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{
    Cnp, CongestionNotification, CongestionPoint, CpAction, Cx, Mark, PacketView, PortEvent, QueueView,
};
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

/// All that is kept of a run on these threads.
fn run(blueprint: &Blueprint, thread_plan: &ThreadPlan) -> String {
    let control = Control::default();
    let fabric = Fabric::build(blueprint, &control).unwrap_or_else(|error| panic!("{error}"));
    let records = fabric.on(thread_plan).run();
    assert_invariants(&records);
    everything(&records)
}

fn whole(blueprint: &Blueprint) -> String {
    let control = Control::default();
    everything(&Fabric::build(blueprint, &control).unwrap_or_else(|error| panic!("{error}")).run())
}

fn assert_same(blueprint: &Blueprint, thread_plan: &ThreadPlan) {
    let (one, many) = (whole(blueprint), run(blueprint, thread_plan));
    assert!(one == many, "{thread_plan:?}\n{}", difference(&one, &many));
}

/// All that is kept of a run whose nodes are gone through in windows no longer than this, or whose events are
/// in one order.
fn run_in(blueprint: &Blueprint, windows: Option<Span>) -> String {
    let control = Control::default();
    let fabric = Fabric::build(blueprint, &control).unwrap_or_else(|error| panic!("{error}"));
    let fabric = match windows {
        Some(most) => fabric.in_windows(most),
        None => fabric.in_one_order(),
    };
    everything(&fabric.run())
}

/// Enough to meet each mechanism in each way of dealing.
const CASES: u32 = 150;
const G100: Rate = Rate::gbps(100);

proptest! {
    #![proptest_config(support::long_property(CASES))]

    #[test]
    fn any_network_on_any_threads_keeps_the_same_bytes(plan in plans(), pooled in any::<bool>()) {
        let plan = Plan { pooled: pooled && !plan.crossbar, ..plan };
        let net = plan.net();
        assert_same(&net.blueprint, &plan.thread_plan(&net.blueprint));
    }

    #[test]
    fn any_network_of_slow_hosts_with_several_nics_keeps_the_same_bytes(plan in host_plans()) {
        let net = plan.net();
        assert_same(&net.blueprint, &plan.thread_plan(&net.blueprint));
        let whole = whole(&net.blueprint);
        assert!(whole == run_in(&net.blueprint, None), "in one order");
        assert!(whole == run_in(&net.blueprint, Some(Span::ns(50))), "in short windows");
    }

    #[test]
    fn any_network_with_credits_keeps_the_same_bytes(plan in plans(), pooled in any::<bool>()) {
        let plan = Plan { pooled: pooled && !plan.crossbar, ..plan };
        let net = plan.net_with_credits();
        assert_same(&net.blueprint, &plan.thread_plan(&net.blueprint));
        let whole = whole(&net.blueprint);
        assert!(whole == run_in(&net.blueprint, None), "in one order");
        assert!(whole == run_in(&net.blueprint, Some(Span::ns(50))), "in short windows");
    }

    #[test]
    fn nodes_that_are_close_together_are_gone_through_as_one(
        plan in plans(),
        close in prop::collection::vec(prop::option::weighted(0.4, 1..20_000u64), 24),
    ) {
        let mut plan = plan;
        if FLOW_CONTROLS[plan.flow_control].contains("bifrost") {
            // It is for longer links.
            plan.flow_control = 0;
        }
        let mut net = plan.net();
        for (link, delay) in net.blueprint.links.iter_mut().zip(close) {
            if let Some(delay) = delay {
                link.directions.iter_mut().for_each(|direction| direction.delay = Span(delay));
            }
        }
        let one_order = run_in(&net.blueprint, None);
        let by_group = whole(&net.blueprint);
        prop_assert!(one_order == by_group, "{}", difference(&one_order, &by_group));
        assert_same(&net.blueprint, &plan.thread_plan(&net.blueprint));
    }

    #[test]
    fn node_by_node_happens_what_happens_in_one_order(plan in plans(), most in 1..2_000u64) {
        let net = plan.net();
        let one_order = run_in(&net.blueprint, None);
        let by_node = whole(&net.blueprint);
        prop_assert!(one_order == by_node, "{}", difference(&one_order, &by_node));
        let shorter = run_in(&net.blueprint, Some(Span::ns(most)));
        prop_assert!(one_order == shorter, "windows of {most} ns\n{}", difference(&one_order, &shorter));
    }
}

/// Two datacenters of two pods, each of two switches below one: hosts `h<dc><pod><switch><n>`.
fn sites(delay: Span) -> Net {
    let control = FLOW_CONTROLS[0];
    let mut net = Net::new(Format::Ethernet).reliability(TRANSPORTS[0].0).limit(Span::us(400));
    let tops: Vec<NodeId> = (0..2).map(|dc| net.switch(&format!("top{dc}"))).collect();
    net.link(tops[0], tops[1], G100, delay, control);
    let mut hosts = Vec::new();
    for (dc, &top) in tops.iter().enumerate() {
        for pod in 0..2 {
            let agg = net.switch(&format!("a{dc}{pod}"));
            net.link(agg, top, G100, Span::us(1), control);
            for tor in 0..2 {
                let switch = net.switch(&format!("t{dc}{pod}{tor}"));
                net.link(switch, agg, G100, Span::us(1), control);
                for i in 0..2 {
                    hosts.push(net.host(&format!("h{dc}{pod}{tor}{i}")));
                    net.link(hosts[hosts.len() - 1], switch, G100, Span::us(1), control);
                }
            }
        }
    }
    for i in 0..hosts.len() {
        for step in [1, 5, 8] {
            net.flow(hosts[i], hosts[(i + step) % hosts.len()], Bytes(40_000), Span::us(step as u64));
        }
    }
    let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { panic!("a list") };
    flows.sort_by_key(|flow| (flow.start, flow.source));
    net
}

fn forced(blueprint: &Blueprint, threads: usize) -> ThreadPlan {
    ThreadPlan::of_run(blueprint, Threads::Forced(threads), threads)
}

#[test]
fn any_number_of_threads_keeps_the_same_bytes() {
    let net = sites(Span::us(40));
    let one = whole(&net.blueprint);
    for threads in 1..=8 {
        let thread_plan = forced(&net.blueprint, threads);
        assert_eq!(thread_plan.threads(), threads);
        let many = run(&net.blueprint, &thread_plan);
        assert!(one == many, "{threads} threads\n{}", difference(&one, &many));
    }
}

/// Of a network that does not come apart by itself, nodes are dealt out by what they can send.
#[test]
fn one_switch_and_its_hosts_are_shared_out_too() {
    let mut net = Net::new(Format::Ethernet).reliability(TRANSPORTS[0].0).limit(Span::us(300));
    let switch = net.switch("s");
    let hosts: Vec<NodeId> = (0..9).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts {
        net.link(host, switch, G100, Span::us(1), FLOW_CONTROLS[0]);
    }
    for &host in &hosts[1..] {
        net.flow(host, hosts[0], Bytes(60_000), Span::us(1));
    }
    for threads in [2, 3, 10] {
        assert_same(&net.blueprint, &forced(&net.blueprint, threads));
    }
    assert_eq!(forced(&net.blueprint, 11).threads(), 10);
}

#[test]
fn a_link_that_goes_down_may_have_its_ends_on_two_threads() {
    let mut net = sites(Span::us(40));
    net.blueprint.links[0].down = vec![(Time::ZERO + Span::us(20), Time::ZERO + Span::us(90))];
    let owners: Vec<u8> = (0..net.blueprint.nodes.len()).map(|node| (node % 3) as u8).collect();
    for forced in [true, false] {
        assert_same(&net.blueprint, &ThreadPlan::with_owners(&net.blueprint, &owners, forced));
    }
}

#[test]
fn a_run_in_one_order_has_one_thread_and_gives_the_reason() {
    let mut net = sites(Span::us(40));
    net.blueprint.semantics.ties = Ties::SchedulingOrder;
    let thread_plan = forced(&net.blueprint, 2);
    assert_eq!(thread_plan.threads(), 1);
    assert_eq!(
        thread_plan.why(),
        Some("ties go by the order in which events are scheduled, which is one for the whole network")
    );
    assert_same(&net.blueprint, &thread_plan);
}

#[test]
fn threads_are_used_where_they_pay_and_where_somebody_asks_for_them() {
    let net = sites(Span::us(40));
    let of = |asked, cores| {
        let thread_plan = ThreadPlan::of_run(&net.blueprint, asked, cores);
        (thread_plan.threads(), thread_plan.why().map(str::to_owned))
    };
    assert_eq!(of(Threads::AtMost(1), 8), (1, None));
    let few = "windows are 1us long, in which hosts receive 200 packets at most: 4 threads need 300";
    assert_eq!(of(Threads::AtMost(4), 8), (2, Some(few.to_owned())));
    assert_eq!(of(Threads::AtMost(2), 8), (2, None));
    let little = "about 1920 packets are to be sent: too few for threads to be faster";
    assert_eq!(of(Threads::Paying, 2), (1, Some(little.to_owned())));
    assert_eq!(of(Threads::Paying, 1), (1, None));
}

/// Of an incast one link decides how much there is to do at a time.
#[test]
fn an_incast_is_simulated_on_one_thread_and_as_many_flows_to_many_on_two() {
    let of = |to: usize| {
        let mut net = sites(Span::us(40));
        for link in &mut net.blueprint.links {
            link.directions.iter_mut().for_each(|direction| direction.delay = Span::us(2));
        }
        let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { panic!("a list") };
        let mut hosts: Vec<NodeId> = flows.iter().map(|flow| flow.source).collect();
        hosts.sort();
        hosts.dedup();
        flows.clear();
        net.blueprint.end.limit = Time::ZERO + Span::ms(100);
        for (i, &source) in hosts.iter().enumerate() {
            let destination = if to == 1 { hosts[0] } else { hosts[(i + 3) % hosts.len()] };
            if source != destination {
                net.flow(source, destination, Bytes::mb(10), Span::ZERO);
            }
        }
        let thread_plan = ThreadPlan::of_run(&net.blueprint, Threads::Paying, 2);
        (thread_plan.threads(), thread_plan.why().unwrap_or_default().to_owned())
    };
    let (threads, why) = of(1);
    assert_eq!(threads, 1);
    assert_eq!(why, "windows are 2us long, in which hosts receive 25 packets at most: 2 threads need 150");
    assert_eq!(of(2).0, 2);
}

#[test]
fn threads_that_would_only_wait_for_one_another_are_not_used_unless_they_are_forced() {
    for delay in [Span(1), Span::ns(1), Span::ns(20)] {
        let mut net = sites(Span::us(40));
        for link in &mut net.blueprint.links {
            link.directions.iter_mut().for_each(|direction| direction.delay = delay);
        }
        let of = |asked| ThreadPlan::of_run(&net.blueprint, asked, 8);
        let (one, two) = (of(Threads::AtMost(2)), of(Threads::Forced(2)));
        let why = one.why().expect("there is a reason");
        assert_eq!(one.threads(), 1);
        if delay < Span::ns(20) {
            let all = "links of less than 20ns hold all nodes together, whose events have one order then";
            assert_eq!(why, all);
            assert_eq!((two.threads(), two.why()), (1, Some(why)));
            continue;
        }
        assert!(why.starts_with(&format!("windows are {delay} long, in which hosts receive ")), "{why}");
        assert!(why.ends_with("packets at most: 2 threads need 150"), "{why}");
        assert_eq!(two.threads(), 2);
        assert!(two.why().is_some_and(|why| why.ends_with("several times the CPU time of one")), "{two:?}");
    }
}

/// Sends its neighbour upstream a CN for each tenth packet, and a CNP to the source of each flow that a CN
/// names.
#[derive(Default)]
struct Gossip(u64);

impl CongestionPoint for Gossip {
    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        self.0 += 1;
        if self.0.is_multiple_of(10) {
            let cn = CongestionNotification::new(p.class, 1, [p.flow, p.flow].into_iter());
            cx.push(CpAction::ToUpstream(p.ingress, cn));
        }
        Mark::None
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        let PortEvent::CongestionNotification(cn) = event else { return };
        for &flow in cn.named() {
            cx.push(CpAction::ToSource(Cnp { flow, mark: Mark::Ce, window: None, rate: None, degree: 0.0 }));
        }
    }
}

/// With such a point at each port of a switch.
fn gossiping<'a>(mut fabric: Fabric<'a>, blueprint: &Blueprint) -> Fabric<'a> {
    for (i, link) in (0..).zip(&blueprint.links) {
        for (end, port) in link.ends.iter().zip([PortId(2 * i), PortId(2 * i + 1)]) {
            if matches!(blueprint.nodes[end.node.index()].role, Role::Switch(_)) {
                let gossip = AnyCongestionPoint::Custom(Box::new(Gossip::default()));
                fabric.add_congestion_point(port, gossip).expect("it claims nothing");
            }
        }
    }
    fabric
}

#[test]
fn cns_between_neighbours_name_the_same_flows_on_any_thread_and_rank() {
    let net = sites(Span::us(4));
    let control = Control::default();
    let run = |threads: usize| {
        let fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
        gossiping(fabric, &net.blueprint).on(&forced(&net.blueprint, threads)).run()
    };
    let (one, many) = (run(1), run(4));
    let ranks = RankPlan::of_run(&net.blueprint, 4).expect("it has windows");
    let ranks = run_in_ranks(&net.blueprint, &ranks, |fabric, _| gossiping(fabric, &net.blueprint));
    assert_eq!(everything(&one), everything(&ranks));
    let notified = support::whole(one.flows.column("cnps")).iter().filter(|&&cnps| cnps > 0).count();
    assert!(notified > 20, "{notified} flows were notified");
    assert_eq!(everything(&one), everything(&many));
}

/// Hosts that send to the first one through one switch.
fn incast(hosts: usize, size: Bytes) -> Net {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#).limit(Span::us(200));
    let switch = net.switch("s");
    let hosts: Vec<NodeId> = (0..hosts).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts {
        net.link(host, switch, G100, Span::us(1), r#"{"pfc": {"xoff": "30KB"}}"#);
    }
    for &host in &hosts[1..] {
        net.flow(host, hosts[0], size, Span::us(1));
    }
    net
}

#[test]
fn a_run_on_threads_that_is_stopped_within_an_epoch_ends_where_its_nodes_are() {
    let mut net = incast(6, UNBOUNDED);
    net.blueprint.end.limit = Time::ZERO + Span::ms(1_000_000);
    for threads in [1, 2, 3] {
        let control = Control::default();
        let fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
        let fabric = fabric.on(&forced(&net.blueprint, threads));
        let records = std::thread::scope(|scope| {
            scope.spawn(|| {
                let few = || control.packet_hops.load(Ordering::Relaxed) < 10_000;
                (0..100_000_000).take_while(|_| few()).for_each(|_| std::thread::yield_now());
                control.stop.store(true, Ordering::Relaxed);
            });
            fabric.run()
        });
        assert_invariants(&records);
        // One host receives at 100 Gbit/s, and what the switch holds has not come yet.
        let most = G100.bytes_in(Span::us(records.outcome.simulated_us as u64 + 1)).0;
        assert!(
            records.outcome.bytes.delivered <= 2 * most,
            "{:?} on {threads} threads",
            records.outcome.bytes
        );
    }
}

/// Marks each packet, and has another state after each one that leaves or is lost.
#[derive(Default)]
struct Counts(u64);

impl CongestionPoint for Counts {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> Mark {
        Mark::Ce
    }

    fn on_event(&mut self, _cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        self.0 += u64::from(matches!(event, PortEvent::Removed(_)));
    }

    fn state(&self, _now: Time, _class: Class) -> &'static str {
        if self.0.is_multiple_of(2) { "even" } else { "odd" }
    }
}

#[test]
fn signals_of_a_fault_follow_those_of_events_of_its_instant_on_any_thread() {
    let run = |down: Option<Time>, owners: &[u8]| {
        let mut net = incast(4, Bytes(200_000));
        net.blueprint.records.signals = Some(1_000_000);
        net.blueprint.links[0].down = down.map(|at| (at, at + Span::us(30))).into_iter().collect();
        let control = Control::default();
        let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
        let point = AnyCongestionPoint::Custom(Box::new(Counts::default()));
        fabric.add_congestion_point(PortId(1), point).expect("it claims nothing");
        fabric.on(&ThreadPlan::with_owners(&net.blueprint, owners, true)).run()
    };
    let free = run(None, &[0; 5]);
    let times = support::real(free.signals.as_ref().expect("they are kept").column("time_ns"));
    let at = Time((times[times.len() / 2] * 1e3).round() as u64);
    let one = everything(&run(Some(at), &[0; 5]));
    for owners in [[1, 0, 0, 1, 1], [0, 1, 1, 0, 0]] {
        let two = everything(&run(Some(at), &owners));
        assert!(one == two, "{owners:?}\n{}", difference(&one, &two));
    }
}

#[test]
fn a_panic_on_any_thread_ends_the_run() {
    let net = incast(4, Bytes(200_000));
    for owners in [[1, 0, 0, 1, 1], [0, 1, 1, 0, 2]] {
        let control = Control::default();
        let mut fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
        let point = AnyCongestionPoint::Custom(Box::new(Breaks::default()));
        fabric.add_congestion_point(PortId(1), point).expect("it claims nothing");
        let fabric = fabric.on(&ThreadPlan::with_owners(&net.blueprint, &owners, true));
        let panic = catch_unwind(AssertUnwindSafe(|| fabric.run())).expect_err("it breaks");
        assert_eq!(panic.downcast_ref(), Some(&"it breaks"));
    }
}

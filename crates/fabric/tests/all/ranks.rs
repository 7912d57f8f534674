//! Ranks: records are the same to the byte in any number of processes, with any assignment of nodes. Here
//! the processes are threads, which share nothing but what they send each other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::thread;

use crate::support;
use crate::support::breaks::Breaks;
use crate::support::plans::{FLOW_CONTROLS, Plan, host_plans, plans};
use crate::support::ranks::run_in_ranks;
use crate::support::{Net, PFC, assert_invariants, difference, everything};
use floodway_fabric::blueprint::{Arrivals, Ties, UNBOUNDED};
use floodway_fabric::outcome::Stopped;
use floodway_fabric::transport::{InProcess, in_process};
use floodway_fabric::{Blueprint, Control, Fabric, RankPlan, Records, ThreadPlan, Threads};
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_units::{Bytes, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
/// Enough to meet each mechanism in each way of dealing.
const CASES: u32 = 80;

fn run(blueprint: &Blueprint, plan: &RankPlan) -> Records {
    run_in_ranks(blueprint, plan, |fabric, _| fabric)
}

fn whole(blueprint: &Blueprint) -> String {
    let control = Control::default();
    everything(&Fabric::build(blueprint, &control).unwrap_or_else(|error| panic!("{error}")).run())
}

fn assert_same(one: &str, records: &Records, what: &str) {
    assert_invariants(records);
    let many = everything(records);
    assert!(one == many, "{what}\n{}", difference(one, &many));
}

/// The ranks that a drawn plan deals its nodes to; none where all events have one order.
fn dealt(plan: &Plan, blueprint: &Blueprint) -> Option<RankPlan> {
    let owners = (0..blueprint.nodes.len()).map(|node| (plan.groups[node] % plan.parts) as u8);
    RankPlan::with_owners(blueprint, plan.parts, owners.collect()).ok()
}

/// Threads within each rank: those of another deal.
fn threads(plan: &Plan, blueprint: &Blueprint) -> ThreadPlan {
    let deal = |node: usize| (plan.groups[(node + 7) % plan.groups.len()] % plan.threads) as u8;
    let owners: Vec<u8> = (0..blueprint.nodes.len()).map(deal).collect();
    ThreadPlan::with_owners(blueprint, &owners, true)
}

fn assert_dealt(plan: &Plan, blueprint: &Blueprint) {
    let Some(ranks) = dealt(plan, blueprint) else { return };
    let one = whole(blueprint);
    assert_same(&one, &run(blueprint, &ranks), "one thread a rank");
    let threads = threads(plan, blueprint);
    let records = run_in_ranks(blueprint, &ranks, |fabric, _| fabric.on(&threads));
    assert_same(&one, &records, "several threads a rank");
}

proptest! {
    #![proptest_config(support::long_property(CASES))]

    #[test]
    fn any_network_in_any_ranks_keeps_the_same_bytes(plan in plans(), pooled in any::<bool>()) {
        let plan = Plan { pooled: pooled && !plan.crossbar, ..plan };
        assert_dealt(&plan, &plan.net().blueprint);
    }

    #[test]
    fn any_network_of_slow_hosts_with_several_nics_in_any_ranks_keeps_the_same_bytes(plan in host_plans()) {
        assert_dealt(&plan, &plan.net().blueprint);
    }

    #[test]
    fn any_network_with_credits_in_any_ranks_keeps_the_same_bytes(plan in plans()) {
        assert_dealt(&plan, &plan.net_with_credits().blueprint);
    }

    #[test]
    fn nodes_that_are_close_together_are_of_one_rank(
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
        assert_dealt(&plan, &net.blueprint);
    }
}

/// Two datacenters, each of some hosts below one switch, on a link of this delay.
fn sites(delay: Span, hosts: usize) -> Net {
    let mut net = Net::new(Format::Ethernet).reliability(r#""go-back-n""#).limit(Span::ms(2));
    let tops: Vec<NodeId> = (0..2).map(|dc| net.switch(&format!("top{dc}"))).collect();
    net.link(tops[0], tops[1], G100, delay, PFC);
    let mut all = Vec::new();
    for (dc, &top) in tops.iter().enumerate() {
        for i in 0..hosts {
            all.push(net.host(&format!("h{dc}{i}")));
            net.link(all[all.len() - 1], top, G100, Span::us(1), PFC);
        }
    }
    for i in 0..all.len() {
        for step in [1, hosts] {
            net.flow(all[i], all[(i + step) % all.len()], Bytes(300_000), Span::us(step as u64));
        }
    }
    let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { panic!("a list") };
    flows.sort_by_key(|flow| (flow.start, flow.source));
    net
}

#[test]
fn ranks_are_cut_where_delays_are_longest() {
    let net = sites(Span::us(400), 3);
    for (ranks, lookahead) in [(1, Span(u64::MAX)), (2, Span::us(400)), (3, Span::us(1))] {
        let plan = RankPlan::of_run(&net.blueprint, ranks).expect("it has windows");
        assert_eq!(plan.lookahead(), lookahead);
    }
}

#[test]
fn any_number_of_ranks_keeps_the_same_bytes() {
    let net = sites(Span::us(40), 3);
    let one = whole(&net.blueprint);
    for ranks in 1..=4 {
        let plan = RankPlan::of_run(&net.blueprint, ranks).expect("it has windows");
        assert_same(&one, &run(&net.blueprint, &plan), &format!("{ranks} ranks"));
        for threads in [2, 3] {
            let threads = ThreadPlan::of_run(&net.blueprint, Threads::Forced(threads), threads);
            let records = run_in_ranks(&net.blueprint, &plan, |fabric, _| fabric.on(&threads));
            assert_same(&one, &records, &format!("{ranks} ranks of several threads"));
        }
    }
}

#[test]
fn a_run_in_one_order_needs_one_process_and_gives_the_reason() {
    let mut net = sites(Span::us(40), 2);
    net.blueprint.semantics.ties = Ties::SchedulingOrder;
    let why = "ties go by the order in which events are scheduled, which is one for the whole network";
    assert_eq!(RankPlan::of_run(&net.blueprint, 2), Err(why.to_owned()));
    let net = sites(Span::us(40), 2);
    let few = "its network divides into 6 parts; start at most 6 processes";
    assert_eq!(RankPlan::of_run(&net.blueprint, 7), Err(few.to_owned()));
}

/// Three switches in a ring with a host each; every host sends two switches further, clockwise.
#[test]
fn a_deadlock_of_all_ranks_is_found() {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(8));
    let switches = ["s1", "s2", "s3"].map(|name| net.switch(name));
    let hosts = ["h1", "h2", "h3"].map(|name| net.host(name));
    let pfc = r#"{"pfc": {"xoff": "20KB"}}"#;
    for i in 0..3 {
        net.link(switches[i], switches[(i + 1) % 3], G100, Span::us(1), pfc);
    }
    for i in 0..3 {
        net.link(hosts[i], switches[i], G100, Span::us(1), pfc);
    }
    for i in 0..3 {
        let (next, to) = ((i + 1) % 3, (i + 2) % 3);
        let path = net.path(&[hosts[i], switches[i], switches[next], switches[to], hosts[to]]);
        net.flow(hosts[i], hosts[to], Bytes::mb(50), Span::ZERO).path = Some(path);
    }
    for stops in [false, true] {
        net.blueprint.end.stop_on_deadlock = stops;
        let plan = RankPlan::with_owners(&net.blueprint, 3, vec![0, 1, 2, 2, 0, 1]).expect("it has windows");
        let records = run(&net.blueprint, &plan);
        assert_eq!(records.outcome.deadlocks.len(), 1);
        assert_same(&whole(&net.blueprint), &records, "three ranks");
    }
}

#[test]
fn a_rank_that_is_asked_to_stop_stops_all_at_one_instant() {
    let mut net = sites(Span::us(40), 2);
    let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { panic!("a list") };
    flows[0].size = UNBOUNDED;
    net.blueprint.end.limit = Time::ZERO + Span::ms(1_000_000);
    net.blueprint.end.at_limit = true;
    let plan = RankPlan::of_run(&net.blueprint, 2).expect("it has windows");
    let controls = [Control::default(), Control::default()];
    let transports = in_process(2);
    let records: Vec<Option<Records>> = thread::scope(|scope| {
        let part = |(control, transport): (_, InProcess)| {
            let (blueprint, plan) = (&net.blueprint, plan.clone());
            scope.spawn(move || {
                let fabric = Fabric::build_part(blueprint, None, control, (plan, &transport));
                fabric.expect("it is sound").run_part()
            })
        };
        let parts: Vec<_> = controls.iter().zip(transports).map(part).collect();
        let few = || controls[1].packet_hops.load(Ordering::Relaxed) < 10_000;
        (0..100_000_000).take_while(|_| few()).for_each(|_| thread::yield_now());
        controls[1].stop.store(true, Ordering::Relaxed);
        parts.into_iter().map(|part| part.join().expect("it ends")).collect()
    });
    let first = records[0].as_ref().expect("the first has them");
    assert_invariants(first);
    assert_eq!(first.outcome.stopped, Stopped::Interrupted);
}

#[test]
fn a_panic_of_any_rank_ends_all() {
    let net = sites(Span::us(4), 3);
    let plan = RankPlan::of_run(&net.blueprint, 4).expect("it has windows");
    let panic = catch_unwind(AssertUnwindSafe(|| run_broken(&net.blueprint, &plan))).expect_err("it breaks");
    assert_eq!(panic.downcast_ref(), Some(&"it breaks"));
}

/// A run whose second rank panics.
fn run_broken(blueprint: &Blueprint, plan: &RankPlan) -> Records {
    run_in_ranks(blueprint, plan, |mut fabric, rank| {
        for port in (0..2 * blueprint.links.len() as u32).map(PortId).filter(|_| rank == 1) {
            let point = AnyCongestionPoint::Custom(Box::new(Breaks::default()));
            fabric.add_congestion_point(port, point).expect("it claims nothing");
        }
        fabric
    })
}

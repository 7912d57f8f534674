//! Ranks: records are the same to the byte in any number of processes, with any assignment of nodes. Here
//! the processes are threads, which share nothing but what they send each other.

use crate::support;
use crate::support::plans::{FLOW_CONTROLS, Plan, plans};
use crate::support::ranks::run_in_ranks;
use crate::support::{assert_invariants, everything};
use floodway_fabric::{Blueprint, Control, Fabric, RankPlan, Records, ThreadPlan};
use floodway_units::Span;
use proptest::prelude::*;

/// Enough to meet each mechanism in each way of dealing.
const CASES: u32 = 150;

fn run(blueprint: &Blueprint, plan: &RankPlan) -> Records {
    run_in_ranks(blueprint, plan, |fabric, _| fabric)
}

fn whole(blueprint: &Blueprint) -> String {
    let control = Control::default();
    everything(&Fabric::build(blueprint, &control).unwrap_or_else(|error| panic!("{error}")).run())
}

/// Where two texts part, with what is around.
fn difference(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let name = a[..at].rfind("name: ").map_or("", |from| &a[from..at.min(from + 60)]);
    let around = |text: &str| text[at.saturating_sub(60)..text.len().min(at + 60)].to_owned();
    format!("{name}\n{}\n{}", around(a), around(b))
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

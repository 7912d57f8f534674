//! However a network is cut into partitions, and on however many threads they run, what is kept is the same to the byte.
#![allow(missing_docs, reason = "tests")]

mod support;

use floodway_fabric::blueprint::{Arrivals, Role, Ties};
use floodway_fabric::{Blueprint, Control, Fabric, Partitioning, Threads};
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{
    CongestionPoint, CpAction, Cx, Mark, Notice, PacketView, QueueView, RegionNotice,
};
use floodway_units::{Bytes, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;
use support::plans::{FLOW_CONTROLS, TRANSPORTS, plans};
use support::{Net, assert_invariants, everything};

/// All that is kept of a run in these partitions.
fn run(blueprint: &Blueprint, parts: &Partitioning) -> String {
    let control = Control::default();
    let fabric = Fabric::build_parts(blueprint, &control, parts).unwrap_or_else(|error| panic!("{error}"));
    let records = fabric.run();
    assert_invariants(&records);
    everything(&records)
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

fn assert_same(blueprint: &Blueprint, parts: &Partitioning) {
    let (one, many) = (whole(blueprint), run(blueprint, parts));
    assert!(one == many, "{parts:?}\n{}", difference(&one, &many));
}

/// All that is kept of a run whose nodes are gone through in windows no longer than this, or whose events are in one
/// order.
fn run_in(blueprint: &Blueprint, windows: Option<Span>) -> String {
    let control = Control::default();
    let fabric = Fabric::build(blueprint, &control).unwrap_or_else(|error| panic!("{error}"));
    let fabric = match windows {
        Some(most) => fabric.in_windows(most),
        None => fabric.in_one_order(),
    };
    everything(&fabric.run())
}

/// Enough to meet each mechanism in each way of cutting.
const CASES: u32 = 150;
const G100: Rate = Rate::gbps(100);

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_network_in_any_partitions_keeps_the_same_bytes(plan in plans()) {
        let net = plan.net();
        let parts = plan.partitioning(&net.blueprint);
        assert_same(&net.blueprint, &parts);
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

/// Names of nodes by partition.
fn members(net: &Net, parts: &Partitioning) -> Vec<String> {
    let mut members = vec![String::new(); parts.parts()];
    for (i, node) in (0..).zip(&net.blueprint.nodes).filter(|(_, node)| !node.name.starts_with('h')) {
        let of = &mut members[parts.of(NodeId(i))];
        if !of.is_empty() {
            of.push(' ');
        }
        of.push_str(&node.name);
    }
    members
}

#[test]
fn any_number_of_partitions_on_any_number_of_threads_keeps_the_same_bytes() {
    let net = sites(Span::us(40));
    let one = whole(&net.blueprint);
    for parts in 1..=8 {
        let of = Partitioning::automatic(&net.blueprint, parts);
        assert_eq!(of.parts(), parts);
        for threads in 1..=3 {
            let many = run(&net.blueprint, &of.clone().on(threads));
            assert!(one == many, "{parts} on {threads}\n{}", difference(&one, &many));
        }
    }
}

#[test]
fn long_links_are_cut_first_and_then_pods() {
    let net = sites(Span::us(40));
    let of = |parts| {
        let mut members = members(&net, &Partitioning::automatic(&net.blueprint, parts));
        members.sort_unstable();
        members
    };
    let dc = |i: usize| format!("top{i} a{i}0 t{i}00 t{i}01 a{i}1 t{i}10 t{i}11");
    assert_eq!(of(2), [dc(0), dc(1)]);
    assert_eq!(of(3), ["a11 t110 t111", &dc(0), "top1 a10 t100 t101"]);
    let four = ["top0 a00 t000 t001", "a01 t010 t011", "top1 a10 t100 t101", "a11 t110 t111"];
    assert_eq!(of(4).len(), 4);
    for pod in four.map(|pod| pod.split(' ').rev().take(3).collect::<Vec<_>>()) {
        let names = pod.iter().rev().copied().collect::<Vec<_>>().join(" ");
        assert!(of(4).iter().any(|of| of.contains(&names)), "{names} stay together: {:?}", of(4));
    }
    let hosts = Partitioning::automatic(&net.blueprint, 8);
    for link in net.blueprint.links.iter().filter(|link| link.name.starts_with('h')) {
        let [host, switch] = [0, 1].map(|end| hosts.of(link.ends[end].node));
        assert_eq!(host, switch, "{} is not cut", link.name);
    }
}

#[test]
fn named_partitions_draw_their_neighbours_to_them() {
    let net = sites(Span::us(40));
    let node = |name: &str| {
        let at = net.blueprint.nodes.iter().position(|node| node.name == name);
        NodeId(at.expect("it is there") as u32)
    };
    let groups = [vec![node("t000")], vec![node("top1"), node("t010")]];
    let parts = Partitioning::of_groups(&net.blueprint, &groups).expect("they can be cut");
    assert_eq!(members(&net, &parts)[1], "top0 top1 a01 t010 t011 a10 t100 t101 a11 t110 t111");
    assert_same(&net.blueprint, &parts);
    let twice = [vec![node("t000")], vec![node("t000")]];
    let error = Partitioning::of_groups(&net.blueprint, &twice).expect_err("one node");
    assert_eq!(error, "t000 is in two partitions");
}

#[test]
fn a_link_that_goes_down_holds_its_ends_together() {
    let mut net = sites(Span::us(40));
    net.blueprint.links[0].down = vec![(Time::ZERO + Span::us(20), Time::ZERO + Span::us(90))];
    let tops = [0, 1].map(NodeId);
    let error =
        Partitioning::of_groups(&net.blueprint, &tops.map(|top| vec![top])).expect_err("it is not cut");
    assert_eq!(error, "links keep top1 together with another partition, as top0-top1 does: it goes down");
    let parts = Partitioning::automatic(&net.blueprint, 3);
    assert_eq!((parts.parts(), parts.of(tops[0])), (3, parts.of(tops[1])));
    assert_same(&net.blueprint, &parts);
}

#[test]
fn what_has_one_order_for_all_is_not_cut_and_says_why() {
    let mut net = sites(Span::us(40));
    net.blueprint.semantics.ties = Ties::SchedulingOrder;
    let parts = Partitioning::automatic(&net.blueprint, 2);
    assert_eq!(parts.parts(), 1);
    assert_eq!(
        parts.why(),
        Some("ties go by the order in which events are scheduled, which is one for the whole network")
    );
    assert_same(&net.blueprint, &parts);
}

#[test]
fn threads_are_used_where_they_pay_and_where_somebody_asks_for_them() {
    let net = sites(Span::us(40));
    let of = |asked, cores| {
        let parts = Partitioning::of_run(&net.blueprint, &[], asked, cores).expect("it can be cut");
        (parts.parts(), parts.threads(), parts.why().map(str::to_owned))
    };
    assert_eq!(of(Threads::AtMost(2), 8), (2, 2, None));
    assert_eq!(of(Threads::AtMost(1), 8), (1, 1, None));
    let (parts, threads, why) = of(Threads::Paying, 2);
    assert_eq!((parts, threads), (1, 1));
    assert_eq!(why.as_deref(), Some("about 1920 packets are to be sent: too few for threads to pay"));
    assert_eq!(of(Threads::Paying, 1), (1, 1, None));
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
        let parts = Partitioning::of_run(&net.blueprint, &[], Threads::Paying, 2).expect("it can be cut");
        (parts.threads(), parts.why().unwrap_or_default().to_owned())
    };
    let (threads, why) = of(1);
    assert_eq!(threads, 1);
    assert_eq!(why, "the shortest cut is 2us, in which hosts receive 25 packets at most: 2 threads need 150");
    assert_eq!(of(2).0, 2);
}

#[test]
fn threads_that_would_only_wait_for_one_another_are_not_used_unless_they_are_forced() {
    for delay in [Span(1), Span::ns(1), Span::ns(20)] {
        let mut net = sites(Span::us(40));
        for link in &mut net.blueprint.links {
            link.directions.iter_mut().for_each(|direction| direction.delay = delay);
        }
        let of = |asked| Partitioning::of_run(&net.blueprint, &[], asked, 8).expect("it can be cut");
        let one = of(Threads::AtMost(2));
        assert_eq!((one.parts(), one.threads()), (1, 1));
        let why = one.why().expect("there is a reason");
        assert!(why.starts_with(&format!("the shortest cut is {delay}, in which hosts receive ")), "{why}");
        assert!(why.ends_with("packets at most: 2 threads need 150"), "{why}");
        let two = of(Threads::Forced(2));
        assert_eq!((two.parts(), two.threads()), (2, 2));
        assert!(two.why().is_some_and(|why| why.ends_with("and one may be faster")), "{two:?}");
    }
}

#[test]
fn partitions_that_a_scenario_names_are_not_used_either_where_they_are_too_close() {
    let net = sites(Span::ns(1));
    // The two ends of the link between the datacenters.
    let groups = [vec![NodeId(0)], vec![NodeId(1)]];
    let of = |asked| Partitioning::of_run(&net.blueprint, &groups, asked, 8).expect("it can be cut");
    assert_eq!((of(Threads::AtMost(2)).parts(), of(Threads::Forced(2)).parts()), (1, 2));
}

/// Tells its neighbour upstream of the flow of each tenth packet, and the source of a flow of which it is told.
#[derive(Default)]
struct Gossip(u64);

impl CongestionPoint for Gossip {
    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, _q: &QueueView) -> Mark {
        self.0 += 1;
        if self.0.is_multiple_of(10) {
            let notice = RegionNotice::new(p.class, 1, [p.flow, p.flow].into_iter());
            cx.push(CpAction::ToUpstream(p.ingress, notice));
        }
        Mark::None
    }

    fn on_notice(&mut self, cx: &mut Cx<'_, CpAction>, notice: &RegionNotice) {
        for &flow in notice.named() {
            cx.push(CpAction::ToSource(Notice {
                flow,
                mark: Mark::Ce,
                window: None,
                rate: None,
                degree: 0.0,
            }));
        }
    }
}

#[test]
fn notices_between_neighbours_name_the_same_flows_on_both_sides_of_a_cut() {
    let net = sites(Span::us(4));
    let run = |parts: usize| {
        let control = Control::default();
        let parts = Partitioning::automatic(&net.blueprint, parts);
        let mut fabric = Fabric::build_parts(&net.blueprint, &control, &parts).expect("it is sound");
        for (i, link) in (0..).zip(&net.blueprint.links) {
            for (end, port) in link.ends.iter().zip([PortId(2 * i), PortId(2 * i + 1)]) {
                if matches!(net.blueprint.nodes[end.node.index()].role, Role::Switch(_)) {
                    let gossip = AnyCongestionPoint::Custom(Box::new(Gossip::default()));
                    fabric.add_congestion_point(port, gossip).expect("it claims nothing");
                }
            }
        }
        fabric.run()
    };
    let (one, many) = (run(1), run(4));
    let heard = support::whole(one.flows.column("cnps")).iter().filter(|&&cnps| cnps > 0).count();
    assert!(heard > 20, "{heard} flows were told of");
    assert_eq!(everything(&one), everything(&many));
}

//! Jobs: ranks at hosts, against closed forms, on any number of threads.

use floodway_fabric::blueprint::{ScaleUp, WorkloadSpec};
use floodway_fabric::outcome::Stopped;
use floodway_fabric::{Control, Fabric, ThreadPlan, Threads};
use floodway_programs::collective::{AlgorithmName, Purpose, Request};
use floodway_programs::{Graph, Kind, Operation, Program, Rank, SendCompletes};
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

use crate::support::jobs::{ACK, BYTE, LINK, collective, end, message, request, sent, spec, star};
use crate::support::{Net, PFC, assert_invariants, everything, real, run_on_one_thread_and_two, whole};

#[test]
fn iterations_follow_each_other_at_every_rank() {
    let (mut net, hosts) = star(4, r#""none""#);
    let request = request(Purpose::AllReduce, AlgorithmName::Ring, 80_000);
    net.blueprint.workloads[0].arrivals = spec(collective(&request, 4, 3), hosts);
    let records = run_on_one_thread_and_two(&net);
    assert_eq!(end(&records), 3 * 6 * message(20));
    let operations = records.operations.as_ref().expect("there is a job");
    assert_eq!(whole(operations.column("iteration")).into_iter().max(), Some(2));
    assert_eq!(operations.rows(), 12);
}

/// Completed sends of a collective are counted where they come, but for the last one that is on its way.
#[test]
fn a_rank_of_a_collective_wakes_once_for_each_message_that_it_receives() {
    let (mut net, hosts) = star(4, r#""go-back-n""#);
    let request =
        Request { chunk: Some(Bytes(4_000)), ..request(Purpose::AllReduce, AlgorithmName::Ring, 320_000) };
    net.blueprint.workloads[0].arrivals = spec(collective(&request, 4, 1), hosts);
    let records = run_on_one_thread_and_two(&net);
    let messages = records.flows.rows() as u64;
    assert_eq!(messages, 80 * 6);
    let starts =
        records.outcome.events.iter().find(|(name, _)| *name == "flow start").map(|&(_, count)| count);
    let starts = starts.expect("ranks have events");
    assert!((messages..messages + 40).contains(&starts), "{starts} events for {messages} messages");
}

fn operation(kind: Kind, requires: &[u32]) -> Operation {
    Operation { kind, requires: requires.to_vec(), requires_start: Vec::new(), unit: None, name: 0 }
}

fn send(bytes: u64) -> Kind {
    Kind::Send { peer: 0, bytes: Bytes(bytes), tag: 0, channel: 0 }
}

const RECV: Kind = Kind::Recv { peer: Some(0), tag: Some(0) };

/// Two ranks with graphs of their own, each the other's peer.
fn pair(first: Vec<Operation>, second: Vec<Operation>) -> Program {
    let rank = |graph, peer| Rank { graph, peers: Box::new([peer]), groups: Box::default() };
    Program {
        graphs: vec![Graph::new(first), Graph::new(second)],
        ranks: vec![rank(0, 1), rank(1, 0)],
        iterations: 1,
        ..Program::default()
    }
}

#[test]
fn a_send_is_complete_as_the_program_says() {
    // A second message follows the first one when that is complete.
    for (completes, second) in [
        (SendCompletes::Issued, sent(10) + message(10)),
        (SendCompletes::Acknowledged, 2 * message(10) + 2 * (ACK * BYTE + LINK)),
        (SendCompletes::Received, 2 * message(10)),
    ] {
        let (mut net, hosts) = star(2, r#""go-back-n""#);
        let first = vec![operation(send(10_000), &[]), operation(send(10_000), &[0])];
        let second_rank = vec![operation(RECV, &[]), operation(RECV, &[])];
        let program = Program { send_completes: completes, ..pair(first, second_rank) };
        net.blueprint.workloads[0].arrivals = spec(program, hosts);
        let records = run_on_one_thread_and_two(&net);
        let operations = records.operations.as_ref().expect("there is a job");
        let ends = real(operations.column("end_us")).into_iter().map(|us| (us * 1e6).round() as u64);
        let ranks = whole(operations.column("rank"));
        let last = ends.zip(ranks).filter(|(_, rank)| *rank == 1).map(|(end, _)| end).max();
        assert_eq!(last, Some(second), "{completes:?}");
    }
}

#[test]
fn a_receive_that_no_message_meets_is_named() {
    let (mut net, hosts) = star(2, r#""none""#);
    let compute = operation(Kind::Compute { time: Span::us(5) }, &[]);
    let program = pair(vec![compute], vec![operation(RECV, &[])]);
    net.blueprint.workloads[0].arrivals = spec(program, hosts);
    net.blueprint.end.limit = Time(1_000_000_000);
    let records = run_on_one_thread_and_two(&net);
    let job = &records.outcome.jobs[0];
    assert_eq!((job.ranks, job.finished), (2, 1));
    assert_eq!(job.waiting, ["rank 1, iteration 0: recv from 0 tag 0"]);
    assert_eq!(records.outcome.stopped, Stopped::Limit);
}

#[test]
fn messages_of_a_scale_up_domain_are_no_packets() {
    let (mut net, hosts) = star(4, r#""none""#);
    let domain = ScaleUp { hosts: hosts.clone(), rate: Rate::gbps(800), latency: Span::ns(500) };
    net.blueprint.scale_up = vec![domain];
    let request = request(Purpose::AllReduce, AlgorithmName::Ring, 80_000);
    net.blueprint.workloads[0].arrivals = spec(collective(&request, 4, 1), hosts);
    let records = run_on_one_thread_and_two(&net);
    // 10 ps a byte, once: the ports of both ends carry a message at the same time.
    assert_eq!(end(&records), 6 * (500_000 + 20_000 * 10));
    assert_eq!(records.outcome.packet_hops, 0);
    let job = &records.outcome.jobs[0];
    assert_eq!((job.scale_up_messages, job.scale_up_bytes), (24, 480_000));
}

#[test]
fn ports_of_a_scale_up_domain_take_messages_in_turn() {
    let (mut net, hosts) = star(3, r#""none""#);
    let domain = ScaleUp { hosts: hosts.clone(), rate: Rate::gbps(800), latency: Span::ns(500) };
    net.blueprint.scale_up = vec![domain];
    let request = request(Purpose::AllToAll, AlgorithmName::Direct, 60_000);
    net.blueprint.workloads[0].arrivals = spec(collective(&request, 3, 1), hosts);
    assert_eq!(end(&run_on_one_thread_and_two(&net)), 500_000 + 2 * 20_000 * 10);
}

#[test]
fn ranks_of_a_host_need_a_scale_up_domain_between_them() {
    let (mut net, hosts) = star(2, r#""none""#);
    let request = request(Purpose::AllReduce, AlgorithmName::Ring, 4_000);
    let places = vec![hosts[0], hosts[0], hosts[1], hosts[1]];
    net.blueprint.workloads[0].arrivals = spec(collective(&request, 4, 1), places);
    let control = Control::default();
    let error = Fabric::build(&net.blueprint, &control).err().expect("it is refused").to_string();
    assert!(error.contains("rank 0 sends to rank 1, and both are on h0"), "{error}");
    let latency = Span::ns(500);
    net.blueprint.scale_up =
        hosts.iter().map(|&host| ScaleUp { hosts: vec![host], rate: Rate::gbps(800), latency }).collect();
    let records = run_on_one_thread_and_two(&net);
    assert_eq!(records.outcome.jobs[0].finished, 4);
    assert_eq!(records.outcome.jobs[0].scale_up_messages, 12);
}

#[test]
fn a_rank_without_a_host_is_refused() {
    let request = request(Purpose::AllReduce, AlgorithmName::Ring, 4_000);
    let refused = |hosts: &dyn Fn(&mut Vec<NodeId>)| {
        let (mut net, mut places) = star(4, r#""none""#);
        hosts(&mut places);
        net.blueprint.workloads[0].arrivals = spec(collective(&request, 4, 1), places);
        let control = Control::default();
        Fabric::build(&net.blueprint, &control).err().expect("it is refused").to_string()
    };
    let error = refused(&|hosts| hosts.truncate(3));
    assert!(error.contains("its program has 4 ranks, and 3 have a host"), "{error}");
    let error = refused(&|hosts| hosts[2] = NodeId(0));
    assert!(error.contains("s is a switch"), "{error}");
}

/// Two jobs and other flows on two switches with a long link between them, and half of the hosts in domains.
pub fn crowded(request: &Request, reliability: &str, seed: u64, iterations: u32) -> Net {
    let mut net = Net::new(Format::Ethernet).reliability(reliability);
    net.blueprint.seed = seed;
    let switches = [net.switch("s0"), net.switch("s1")];
    net.link(switches[0], switches[1], Rate::gbps(100), Span::us(40), PFC);
    let hosts: Vec<NodeId> = (0..8).map(|i| net.host(&format!("h{i}"))).collect();
    for (i, &host) in hosts.iter().enumerate() {
        net.link(host, switches[i / 4], Rate::gbps(100), Span::ns(300), PFC);
    }
    let latency = Span::ns(700);
    net.blueprint.scale_up = vec![ScaleUp { hosts: hosts[..4].to_vec(), rate: Rate::gbps(900), latency }];
    for i in 0..4 {
        net.flow(hosts[i], hosts[7 - i], Bytes(30_000), Span::us(i as u64));
    }
    let settings = |name: &str, arrivals| WorkloadSpec {
        name: name.into(),
        settings: 0,
        arrivals,
        measure: (Time::ZERO, Time::NEVER),
        until: Time::NEVER,
    };
    let twice: Vec<NodeId> = hosts[..4].iter().flat_map(|&host| [host, host]).collect();
    let all = spec(collective(request, 8, iterations), hosts);
    let near = spec(collective(&Request { levels: None, ..request.clone() }, 8, 2), twice);
    net.blueprint.workloads.extend([settings("all", all), settings("near", near)]);
    net
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if std::env::var_os("FLOODWAY_LONG").is_some() { 96 } else { 24 }, ..ProptestConfig::default() })]

    #[test]
    fn threads_and_windows_do_not_matter(
        op in prop::sample::select(vec![
            Purpose::AllReduce, Purpose::ReduceScatter, Purpose::AllGather, Purpose::Broadcast, Purpose::AllToAll,
        ]),
        algorithm in 0..8usize,
        (channels, chunk) in (1..4u32, prop::option::of(500..5_000u64)),
        rate in prop::option::of(1..500u64),
        reliability in prop::sample::select(vec![r#""none""#, r#""go-back-n""#, r#""irn""#]),
        seed in 0..1_000u64,
        window in 100..40_000u64,
    ) {
        let algorithms: Vec<AlgorithmName> = AlgorithmName::of(op)
            .iter().copied().filter(|&name| name != AlgorithmName::Hierarchical).collect();
        let mut request = request(op, algorithms[algorithm % algorithms.len()], 40_003);
        (request.channels, request.chunk) = (channels, chunk.map(Bytes));
        request.reduce_rate = rate.map(Rate::gbps);
        let net = crowded(&request, reliability, seed, 2);
        let control = Control::default();
        let build = || Fabric::build(&net.blueprint, &control).expect("it is sound");
        let records = build().run();
        assert_invariants(&records);
        prop_assert_eq!(records.outcome.stopped, Stopped::Finished);
        prop_assert!(records.outcome.jobs.iter().all(|job| job.finished == job.ranks));
        let kept = everything(&records);
        for threads in [2, 3] {
            let plan = ThreadPlan::of_run(&net.blueprint, Threads::Forced(threads), threads);
            prop_assert_eq!(&kept, &everything(&build().on(&plan).run()));
        }
        prop_assert_eq!(&kept, &everything(&build().in_one_order().run()));
        prop_assert_eq!(&kept, &everything(&build().in_windows(Span::ns(window)).run()));
    }
}

//! Critical paths of jobs, whose messages are broken down as flows are.

use std::sync::Arc;

use floodway_fabric::blueprint::{Arrivals, ProgramSpec, ScaleUp};
use floodway_fabric::{
    Blueprint, Control, CriticalPath, FlowRef, PathPart, PathStep, PathTarget, Records, Traced,
};
use floodway_programs::collective::{AlgorithmName, Purpose, Request, Step};
use floodway_programs::critical_path::Target;
use floodway_programs::{Graph, Kind, Message, Operation, Program, Rank, SendCompletes};
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use proptest::prelude::*;

use crate::jobs::crowded;
use crate::support::jobs::{collective, message, request, sent, spec, star};
use crate::support::{Net, real, whole};

const LINK: u64 = 1_000_000;
/// What a packet waits behind a first one.
const BEHIND: u64 = 16 * 80;

fn find(blueprint: &Blueprint, workload: u32, target: Target, from: Time) -> CriticalPath {
    let Target { iteration, call } = target;
    let target = PathTarget { workload, iteration, call, from };
    let path = CriticalPath::find(blueprint, &Control::default(), target).expect("it is sound");
    path.expect("the target is complete")
}

/// The path adds up in full and step by step.
fn steps(path: &CriticalPath) -> &[PathStep] {
    let steps = path.steps.as_deref().expect("it has room");
    assert_eq!(steps.iter().map(|step| step.to.0 - step.from.0).sum::<u64>(), path.end.0 - path.start.0);
    assert!(
        steps.windows(2).all(|two| two[0].to == two[1].from && two[0].rank == two[1].began_at),
        "{steps:?}"
    );
    for step in steps {
        let parts = step.parts.iter().map(|part| part.time.0).sum::<u64>();
        assert_eq!(parts, step.to.0 - step.from.0, "{step:?}");
    }
    steps
}

/// Time by cause.
fn by_cause(steps: &[PathStep], cause: &str) -> u64 {
    let parts = steps.iter().flat_map(|step| &step.parts);
    parts.filter(|part| part.cause == cause).map(|part| part.time.0).sum()
}

const FIRST_CALL: Target = Target { iteration: 0, call: Some((0, 0)) };

#[test]
fn a_ring_on_an_idle_network_is_its_messages() {
    let (mut net, hosts) = star(5, r#""none""#);
    let request = request(Purpose::AllReduce, AlgorithmName::Ring, 100_000);
    net.blueprint.workloads[0].arrivals = spec(collective(&request, 5, 1), hosts);
    let path = find(&net.blueprint, 0, FIRST_CALL, Time::ZERO);
    assert_eq!((path.start.0, path.end.0), (0, 8 * message(20)));
    let steps = steps(&path);
    assert_eq!(steps.len(), 8);
    assert!(steps.iter().all(|step| step.kind == "message" && step.is_of_target), "{steps:?}");
    assert_eq!(by_cause(steps, "propagation"), 8 * 2 * LINK);
    // All packets wait at the switch behind the first one, whose RDMA header the others do not have.
    assert_eq!(by_cause(steps, "queueing"), 8 * BEHIND);
    assert_eq!(by_cause(steps, "serialisation"), 8 * (message(20) - 2 * LINK - BEHIND));
}

/// A rank that computes before it sends is on the path of its peer's receive.
#[test]
fn a_message_follows_from_a_computation_of_its_sender() {
    let operation = |kind, requires: &[u32]| Operation {
        kind,
        requires: requires.to_vec(),
        requires_start: Vec::new(),
        unit: None,
        name: 0,
    };
    let send = Kind::Send { peer: 0, bytes: Bytes(10_000), tag: 0, channel: 0 };
    let recv = Kind::Recv { peer: Some(0), tag: Some(0) };
    let compute = Kind::Compute { time: Span::us(5) };
    let rank = |graph, peer| Rank { graph, peers: Box::new([peer]), groups: Box::default() };
    for completes in [SendCompletes::Issued, SendCompletes::Acknowledged] {
        let program = Program {
            graphs: vec![
                Graph::new(vec![operation(compute, &[]), operation(send, &[0]), operation(send, &[1])]),
                Graph::new(vec![operation(recv, &[]), operation(recv, &[0])]),
            ],
            ranks: vec![rank(0, 1), rank(1, 0)],
            iterations: 1,
            send_completes: completes,
            in_turn: completes == SendCompletes::Issued,
            ..Program::default()
        };
        let (mut net, hosts) = star(2, r#""none""#);
        net.blueprint.workloads[0].arrivals = spec(program, hosts);
        let path = find(&net.blueprint, 0, Target { iteration: 0, call: None }, Time::ZERO);
        let steps = steps(&path);
        let kinds: Vec<&str> = steps.iter().map(|step| step.kind).collect();
        // Nothing is acknowledged, so that the first message is complete when it has left.
        let second = if completes == SendCompletes::Issued { "turn" } else { "completion" };
        assert_eq!(kinds, ["computation", second, "message"]);
        let lengths: Vec<u64> = steps.iter().map(|step| step.to.0 - step.from.0).collect();
        assert_eq!(lengths, [5_000_000, sent(10), message(10)]);
        assert_eq!(by_cause(steps, "serialisation"), sent(10) + message(10) - 2 * LINK - BEHIND);
    }
}

#[test]
fn messages_of_a_scale_up_domain_are_latency_bytes_and_waiting() {
    let (mut net, hosts) = star(3, r#""none""#);
    let domain = ScaleUp { hosts: hosts.clone(), rate: Rate::gbps(800), latency: Span::ns(500) };
    net.blueprint.scale_up = vec![domain];
    let request = request(Purpose::AllToAll, AlgorithmName::Direct, 60_000);
    net.blueprint.workloads[0].arrivals = spec(collective(&request, 3, 1), hosts);
    let path = find(&net.blueprint, 0, FIRST_CALL, Time::ZERO);
    let steps = steps(&path);
    assert_eq!(path.end.0, 500_000 + 2 * 200_000);
    assert_eq!(steps.len(), 1);
    let causes = ["serialisation", "propagation", "queueing"].map(|cause| by_cause(steps, cause));
    assert_eq!(causes, [200_000, 500_000, 200_000]);
}

/// Start and end of a collective of a workload in the table of operations.
fn in_table(records: &Records, workload: u64, iteration: u64) -> (u64, u64) {
    let operations = records.operations.as_ref().expect("there is a job");
    let ps = |column| real(operations.column(column)).into_iter().map(|us| (us * 1e6).round() as u64);
    let workloads = match operations.column("workload") {
        Some(floodway_fabric::Values::Text { codes, .. }) => codes.clone(),
        other => panic!("no names: {other:?}"),
    };
    let rows = workloads.into_iter().zip(whole(operations.column("iteration")));
    let rows = rows.zip(ps("start_us").zip(ps("end_us")).collect::<Vec<_>>());
    let own: Vec<(u64, u64)> = rows
        .filter(|&((of, its), _)| (u64::from(of), its) == (workload, iteration))
        .map(|(_, times)| times)
        .collect();
    let starts = own.iter().map(|times| times.0).min();
    (starts.expect("a row"), own.iter().map(|times| times.1).max().expect("a row"))
}

/// The parts that a flow has by itself.
fn alone(net: &Net, flow: FlowRef) -> Vec<PathPart> {
    let control = Control::default();
    let why = Traced::build(&net.blueprint, &control, &[flow]).expect("it is sound").why().remove(0);
    let part = |part: floodway_fabric::Part| PathPart {
        cause: part.cause.name(),
        port: part.port,
        origin: part.origin,
        time: part.time,
    };
    why.expect("it is complete").parts.into_iter().map(part).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if std::env::var_os("FLOODWAY_LONG").is_some() { 96 } else { 16 }, ..ProptestConfig::default() })]

    #[test]
    fn paths_in_a_crowded_network_add_up_and_have_the_parts_of_their_flows(
        algorithm in 0..8usize,
        (channels, rate) in (1..3u32, prop::option::of(1..500u64)),
        reliability in prop::sample::select(vec![r#""none""#, r#""go-back-n""#, r#""irn""#]),
        seed in 0..1_000u64,
    ) {
        let algorithms: Vec<AlgorithmName> = AlgorithmName::of(Purpose::AllReduce)
            .iter().copied().filter(|&name| name != AlgorithmName::Hierarchical).collect();
        let name = algorithms[algorithm % algorithms.len()];
        let request = Request { channels, reduce_rate: rate.map(Rate::gbps), ..request(Purpose::AllReduce, name, 200_003) };
        let net = crowded(&request, reliability, seed, 2);
        let records = net.run();
        for iteration in 0..2 {
            let (start, end) = in_table(&records, 1, u64::from(iteration));
            let target = Target { iteration, call: Some((0, 0)) };
            let path = find(&net.blueprint, 1, target, Time(start));
            prop_assert_eq!((path.start.0, path.end.0), (start, end));
            prop_assert_eq!(&format!("{path:?}"), &format!("{:?}", find(&net.blueprint, 1, target, Time::ZERO)));
            let steps = steps(&path);
            let Arrivals::Program(ProgramSpec { program, hosts, .. }) = &net.blueprint.workloads[1].arrivals else {
                panic!("it is a job")
            };
            let mut in_network = steps.iter().skip(1).filter(|step| step.kind == "message"
                && step.parts.iter().all(|part| part.port.as_deref() != Some("scale-up")));
            if let Some(step) = in_network.next_back() {
                let flow = flow_of(program, hosts, step, &net, &records);
                prop_assert_eq!(&step.parts, &alone(&net, flow), "{:?}", step);
            }
        }
    }
}

/// The flow of a step's message: the one of the step's sender and operation that took as long from then on.
fn flow_of(
    program: &Arc<Program>,
    hosts: &[NodeId],
    step: &PathStep,
    net: &Net,
    records: &Records,
) -> FlowRef {
    let (from, to) = (step.peer.expect("a sender"), step.rank);
    let source = hosts[from as usize];
    let numbers = whole(records.flows.column("number"));
    let ps = |column| real(records.flows.column(column)).into_iter().map(|us| (us * 1e6).round() as u64);
    let times: Vec<(u64, u64)> = ps("start_us").zip(ps("finish_receiver_us")).collect();
    let is_it = |&(number, times): &(u64, (u64, u64))| {
        let message = Message::of(number);
        times == (step.from.0, step.to.0)
            && (message.iteration, message.operation) == (step.iteration, step.operation)
            && program.arrival(from, message, &mut Step::default()).to == to
    };
    let sources = match records.flows.column("source") {
        Some(floodway_fabric::Values::Text { codes, .. }) => codes.clone(),
        other => panic!("no names: {other:?}"),
    };
    let workloads = match records.flows.column("workload") {
        Some(floodway_fabric::Values::Text { codes, .. }) => codes.clone(),
        other => panic!("no names: {other:?}"),
    };
    assert_eq!(net.blueprint.workloads[1].name, "all");
    let rows = numbers.into_iter().zip(times).zip(sources.into_iter().zip(workloads));
    let own = rows.filter(|(_, place)| *place == (source.0, 1)).map(|(row, _)| row);
    let (number, _) = own.into_iter().find(is_it).expect("the message is a flow");
    FlowRef { workload: 1, source, number }
}

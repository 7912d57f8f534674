//! Random jobs on hosts with a wire between each two of them: every operation takes at least its critical
//! path, and exactly that where no two messages are on a wire at once.

use floodway_fabric::Records;
use floodway_fabric::outcome::Stopped;
use floodway_programs::{Graph, Kind, Operation, Program, Rank, SendCompletes};
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;
use proptest::prelude::*;

use crate::support::jobs::{ACK, BYTE, FIRST, LINK, OTHER, spec};
use crate::support::{Net, PFC, long_property, real, run_on_one_thread_and_two, whole};

/// What a rank does in a job, in an order in which it could happen.
#[derive(Clone, Copy, Debug)]
enum Act {
    Compute { rank: u32, ns: u64 },
    Message { from: u32, to: u32, bytes: u64 },
}

/// An act, and what its operations wait for: places among the operations of their rank before it, from the
/// last one, and whether for their end or their start.
#[derive(Clone, Debug)]
struct Drawn {
    act: Act,
    waits: [Vec<(u32, bool)>; 2],
}

fn acts(ranks: u32) -> impl Strategy<Value = Vec<Drawn>> {
    let waits = || prop::collection::vec((0..6u32, prop::bool::weighted(0.8)), 0..3);
    let act = prop_oneof![
        (0..ranks, 1..20_000u64).prop_map(|(rank, ns)| Act::Compute { rank, ns }),
        (0..ranks, 1..ranks, 100..20_000u64)
            .prop_map(move |(from, by, bytes)| { Act::Message { from, to: (from + by) % ranks, bytes } }),
    ];
    let drawn =
        (act, waits(), waits()).prop_map(|(act, first, second)| Drawn { act, waits: [first, second] });
    prop::collection::vec(drawn, 1..40)
}

/// The program of these acts: each message has a tag of its own.
fn program(ranks: u32, acts: &[Drawn], completes: SendCompletes) -> Program {
    let mut graphs = vec![Vec::new(); ranks as usize];
    for (tag, Drawn { act, waits }) in (0..).zip(acts) {
        let mut add = |rank: u32, kind, waits: &[(u32, bool)]| {
            let graph: &mut Vec<Operation> = &mut graphs[rank as usize];
            let count = graph.len() as u32;
            let before = |of_end: bool| {
                let own = waits.iter().filter(move |(back, end)| *back < count && *end == of_end);
                own.map(move |(back, _)| count - 1 - back).collect()
            };
            let (requires, requires_start) = (before(true), before(false));
            graph.push(Operation { kind, requires, requires_start, unit: None, name: 0 });
        };
        match *act {
            Act::Compute { rank, ns } => add(rank, Kind::Compute { time: Span::ns(ns) }, &waits[0]),
            Act::Message { from, to, bytes } => {
                let bytes = Bytes(bytes);
                add(from, Kind::Send { peer: to, bytes, tag, channel: 0 }, &waits[0]);
                add(to, Kind::Recv { peer: Some(from), tag: Some(tag) }, &waits[1]);
            }
        }
    }
    let rank = |graph| Rank { graph, peers: (0..ranks).collect(), groups: Box::default() };
    let (ranks, graphs) = ((0..ranks).map(rank).collect(), graphs.into_iter().map(Graph::new).collect());
    Program { graphs, ranks, iterations: 1, send_completes: completes, ..Program::default() }
}

/// The longest paths through a job.
#[derive(Default)]
struct Paths {
    /// By rank: when its operations start and end, in picoseconds.
    times: Vec<Vec<(u64, u64)>>,
    /// When messages are on wires: sender, receiver, from, to.
    on_wires: Vec<(u32, u32, u64, u64)>,
}

impl Paths {
    fn of(ranks: u32, acts: &[Drawn], after_sent: impl Fn(u64) -> u64) -> Self {
        let mut paths = Paths { times: vec![Vec::new(); ranks as usize], ..Paths::default() };
        for Drawn { act, waits } in acts {
            match *act {
                Act::Compute { rank, ns } => paths.add(rank, &waits[0], |start| start + ns * 1_000),
                Act::Message { from, to, bytes } => {
                    let takes = on_wire(bytes);
                    paths.add(from, &waits[0], |start| start + after_sent(takes));
                    let sent = paths.times[from as usize].last().expect("just added").0;
                    paths.on_wires.push((from, to, sent, sent + takes));
                    paths.add(to, &waits[1], |start| start.max(sent + takes + LINK));
                }
            }
        }
        paths
    }

    fn add(&mut self, rank: u32, waits: &[(u32, bool)], end: impl Fn(u64) -> u64) {
        let times = &mut self.times[rank as usize];
        let before = |back: u32| times.len().checked_sub(1 + back as usize).map(|at| times[at]);
        let met =
            waits.iter().filter_map(|&(back, ended)| before(back).map(|at| if ended { at.1 } else { at.0 }));
        let start = met.max().unwrap_or_default();
        times.push((start, end(start)));
    }

    /// Is no wire busy with two messages at once?
    fn share_nothing(&self) -> bool {
        let mut sorted = self.on_wires.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|two| (two[0].0, two[0].1) != (two[1].0, two[1].1) || two[0].3 < two[1].2)
    }
}

/// What a message takes of its wire; no frame of Ethernet is shorter than 84 B with what is between frames.
fn on_wire(bytes: u64) -> u64 {
    let (full, rest) = ((bytes - 1) / 1_000, (bytes - 1) % 1_000 + 1);
    let before = if full == 0 { 0 } else { FIRST + (full - 1) * OTHER };
    let last = rest + if full == 0 { FIRST } else { OTHER } - 1_000;
    (before + last.max(84)) * BYTE
}

/// Hosts, each joined with each other one by 1 us of 100G.
fn mesh(hosts: u32, reliability: &str) -> (Net, Vec<NodeId>) {
    let mut net = Net::new(Format::Ethernet).reliability(reliability);
    let hosts: Vec<NodeId> = (0..hosts).map(|i| net.host(&format!("h{i}"))).collect();
    for (at, &host) in hosts.iter().enumerate() {
        hosts[..at].iter().for_each(|&other| {
            net.link(host, other, Rate::gbps(100), Span::us(1), PFC);
        });
    }
    (net, hosts)
}

/// By rank: the ends of its operations.
fn ends(records: &Records, paths: &Paths) -> Vec<Vec<u64>> {
    let table = records.operations.as_ref().expect("there is a job");
    let (ranks, operations) = (whole(table.column("rank")), whole(table.column("operation")));
    let mut ends: Vec<Vec<u64>> = paths.times.iter().map(|times| vec![0; times.len()]).collect();
    for ((rank, operation), us) in ranks.into_iter().zip(operations).zip(real(table.column("end_us"))) {
        ends[rank as usize][operation as usize] = (us * 1e6).round() as u64;
    }
    ends
}

const COMPLETES: [SendCompletes; 3] =
    [SendCompletes::Issued, SendCompletes::Acknowledged, SendCompletes::Received];

proptest! {
    #![proptest_config(long_property(512))]

    #[test]
    fn operations_take_their_critical_path(
        (ranks, acts) in (2..13u32).prop_flat_map(|ranks| (Just(ranks), acts(ranks))),
        completes in prop::sample::select(COMPLETES.to_vec()),
        acknowledged in any::<bool>(),
    ) {
        let (mut net, hosts) = mesh(ranks, if acknowledged { r#""go-back-n""# } else { r#""none""# });
        let program = program(ranks, &acts, completes);
        prop_assert_eq!(program.check(), Ok(()));
        net.blueprint.workloads[0].arrivals = spec(program, hosts);
        let records = run_on_one_thread_and_two(&net);
        prop_assert_eq!(records.outcome.stopped, Stopped::Finished);
        let paths = Paths::of(ranks, &acts, |takes| match completes {
            SendCompletes::Issued => 0,
            SendCompletes::Received => takes + LINK,
            SendCompletes::Acknowledged if acknowledged => takes + LINK + ACK * BYTE + LINK,
            SendCompletes::Acknowledged => takes,
        });
        let is_exact = !acknowledged && paths.share_nothing();
        for (rank, (ends, times)) in ends(&records, &paths).into_iter().zip(&paths.times).enumerate() {
            for (operation, (end, &(_, least))) in ends.into_iter().zip(times).enumerate() {
                let what = format!("rank {rank}, operation {operation}: {end} ps, by its path {least}");
                prop_assert!(end == least || end > least && !is_exact, "{}", what);
            }
        }
    }
}

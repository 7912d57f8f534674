//! What programs cannot do is found before they run, and named.

use std::collections::BTreeMap;
use std::slice;

use floodway_programs::collective::{Plan, Purpose, Request};
use floodway_programs::read::goal;
use floodway_programs::{Graph, Kind, Operation, Program, Rank};
use floodway_units::{Bytes, Span};
use proptest::prelude::*;

use crate::support::{Drawn, Nics, execute};

/// The program of a schedule, whose ranks have these lines.
fn schedule(ranks: &[&str]) -> Program {
    let of_ranks = ranks.iter().enumerate().map(|(rank, lines)| format!("rank {rank} {{\n{lines}\n}}\n"));
    let text = format!("num_ranks {}\n{}", ranks.len(), of_ranks.collect::<Vec<_>>().concat());
    let program = goal(&text, "a.goal").expect("it is GOAL").program;
    // The network of these tests has no turns.
    Program { in_turn: false, ..program }
}

fn refused(program: &Program) -> String {
    program.check().expect_err("it cannot end").to_string()
}

#[test]
fn open_receives_are_counted_by_what_fits_them() {
    // Two of three messages have tag 1, and two receives take these; a third has none.
    let sends = "send 8b to 1 tag 1\nsend 8b to 1 tag 2";
    let receives = "recv 8b from -1 tag 1\nrecv 8b from -1 tag 1\nrecv 8b from -1 tag -1";
    let program = schedule(&[sends, receives, "send 8b to 1 tag 3"]);
    assert_eq!(refused(&program), "rank 1 receives 2 messages with tag 1, and 1 of them are sent");
    let from = "recv 8b from 2 tag -1\nrecv 8b from 2 tag -1";
    let program = schedule(&[sends, from, "send 8b to 1 tag 3"]);
    assert_eq!(refused(&program), "rank 1 receives 2 messages from rank 2, and 1 of them are sent");
    let any = "recv 8b from -1 tag -1\n".repeat(4);
    let program = schedule(&[sends, &any, "send 8b to 1 tag 3"]);
    assert_eq!(refused(&program), "rank 1 receives 4 messages, and 3 of them are sent");
    let exact = "recv 8b from -1 tag -1\nrecv 8b from 0 tag 3";
    let program = schedule(&[sends, exact, "send 8b to 1 tag 3"]);
    let why = "rank 0 sends 0 messages with tag 3 to rank 1, which receives 1 of them";
    assert_eq!(refused(&program), why);
}

#[test]
fn ranks_that_wait_for_each_other_are_found_beside_open_receives() {
    let first = "r: recv 8b from 1 tag 0\ns: send 8b to 1 tag 0\ns requires r";
    let second = "r: recv 8b from 0 tag 0\ns: send 8b to 0 tag 0\ns requires r\nrecv 8b from 2 tag -1";
    let program = schedule(&[first, second, "send 8b to 1 tag 9"]);
    let why = refused(&program);
    assert!(why.starts_with("ranks wait for each other for ever: rank 0: r (recv from 1 tag 0)"), "{why}");
}

#[test]
fn what_times_decide_is_left_to_the_run() {
    // If the message of rank 0 comes first, the open receive takes it, and the other one has none.
    let race = "a: recv 8b from -1 tag 0\nb: recv 8b from 0 tag 0\nb requires a";
    let later = "calc 5000\nsend 8b to 1 tag 0";
    let program = schedule(&["send 8b to 1 tag 0", race, later]);
    assert_eq!(program.check(), Ok(()));
    assert_eq!(program.warnings(), Vec::<String>::new());
}

#[test]
fn messages_that_nobody_receives_are_named() {
    let sends = "send 8b to 1 tag 1\nsend 8b to 1 tag 2\nsend 8b to 1 tag 2";
    let program = schedule(&[sends, "recv 8b from 0 tag 1"]);
    assert_eq!(program.check(), Ok(()));
    assert_eq!(program.warnings(), ["rank 1 never receives 2 messages of rank 0 with tag 2"]);
    assert!(execute(&program, &mut Nics::new(1_000, 10)).end().is_some());
    let many: Vec<String> = (0..9).map(|tag| format!("send 8b to 1 tag {tag}")).collect();
    let program = schedule(&[&many.join("\n"), "calc 1"]);
    let why = "rank 1 never receives 9 messages of rank 0 with tags 0, 1, 2, 3 and 5 more";
    assert_eq!(program.warnings(), [why]);
    let program = schedule(&[sends, "recv 8b from -1 tag 1", "send 8b to 1 tag 5"]);
    assert_eq!(program.check(), Ok(()));
    let why = "rank 1 never receives 3 messages of the 4 that ranks 0, 2 send to it";
    assert_eq!(program.warnings(), [why]);
}

#[test]
fn messages_with_one_tag_are_received_in_order() {
    // Both are in flight at once; the first receive is of the first message, whatever its size.
    let sends = "a: send 5000b to 1 tag 4\nb: send 8b to 1 tag 4\nb irequires a";
    let receives = "a: recv 8b from 0 tag 4\nb: recv 8b from 0 tag 4\nb requires a";
    let program = schedule(&[sends, receives]);
    assert_eq!((program.check(), program.warnings()), (Ok(()), Vec::new()));
    let history = execute(&program, &mut Nics::new(1_000, 10));
    let ends: Vec<u64> = history.ended[1].iter().map(|ended| ended.end.0).collect();
    assert_eq!(ends, [1_000 + 50_000, 1_000 + 50_080]);
}

#[test]
fn a_tag_on_several_channels_is_named() {
    let sends = "send 5000b to 1 tag 4 cpu 0 nic 0\nsend 8b to 1 tag 4 cpu 1 nic 1";
    let receives = "recv 8b from 0 tag 4\nrecv 8b from 0 tag 4";
    let program = schedule(&[sends, receives]);
    assert_eq!(program.check(), Ok(()));
    let why = "rank 0 sends messages with tag 4 to rank 1 on several channels: which of its receives a \
               message meets may depend on the order of arrival";
    assert_eq!(program.warnings(), [why]);
}

fn collective(plan: u32, sequence: u32) -> Operation {
    let kind = Kind::Collective { plan, group: 0, sequence };
    Operation { kind, requires: Vec::new(), requires_start: Vec::new(), unit: None, name: 0 }
}

/// Three ranks, with two all-reduces of different sizes to call.
fn of_three(graphs: [Vec<Operation>; 3]) -> Program {
    let plan = |size| Plan::new(&Request::new(Purpose::AllReduce, Bytes(size)), 3).expect("it can be met");
    let rank = |rank| Rank { graph: rank, peers: Box::default(), groups: Box::new([(0, rank)]) };
    Program {
        graphs: graphs.into_iter().map(Graph::new).collect(),
        ranks: (0..3).map(rank).collect(),
        groups: vec![vec![0, 1, 2]],
        plans: vec![plan(300), plan(600)],
        iterations: 1,
        ..Program::default()
    }
}

#[test]
fn a_collective_that_a_rank_leaves_out_is_named() {
    let both = || vec![collective(0, 0), collective(1, 1)];
    assert_eq!(of_three([both(), both(), both()]).check(), Ok(()));
    let program = of_three([both(), both(), vec![collective(0, 0)]]);
    let why = "all-reduce of 600B (ring), number 1 of group 0 (ranks 0, 1, 2), is never called by rank 2";
    assert_eq!(refused(&program), why);
    let program = of_three([both(), vec![collective(0, 0)], Vec::new()]);
    let why = "all-reduce of 300B (ring), number 0 of group 0 (ranks 0, 1, 2), is never called by rank 2";
    assert_eq!(refused(&program), why);
}

#[test]
fn collectives_that_differ_or_are_called_twice_are_named() {
    let both = || vec![collective(0, 0), collective(1, 1)];
    let program = of_three([both(), both(), vec![collective(1, 0), collective(0, 1)]]);
    let why = "number 0 of group 0 (ranks 0, 1, 2) is all-reduce of 300B (ring) at rank 0, and all-reduce \
               of 600B (ring) at rank 2";
    assert_eq!(refused(&program), why);
    let twice = vec![collective(0, 0), collective(1, 0), collective(1, 1)];
    let program = of_three([both(), twice, both()]);
    let why = "rank 1 calls number 0 of group 0 (ranks 0, 1, 2) twice: all-reduce of 300B (ring), and \
               all-reduce of 600B (ring)";
    assert!(refused(&program) == why, "{}", refused(&program));
}

#[test]
fn collectives_in_turn_that_times_could_order_otherwise_are_left_to_the_run() {
    // A rank has one collective at a time, and each takes first the one that is ready first.
    let in_turn = |first: u64, second: u64| {
        let of = |kind, requires: Vec<u32>, unit| Operation {
            kind,
            requires,
            requires_start: Vec::new(),
            unit,
            name: 0,
        };
        let compute = |time| of(Kind::Compute { time: Span::us(time) }, Vec::new(), None);
        let call = |sequence, after| {
            of(Kind::Collective { plan: sequence, group: 0, sequence }, vec![after], Some(0))
        };
        vec![compute(first), compute(second), call(0, 0), call(1, 1)]
    };
    let program = of_three([in_turn(1, 2), in_turn(1, 2), in_turn(2, 1)]);
    assert_eq!(program.check(), Ok(()));
    // With these times they do wait for each other.
    assert_eq!(execute(&program, &mut Nics::new(1_000, 10)).end(), None);
    let program = of_three([in_turn(1, 2), in_turn(1, 2), in_turn(1, 2)]);
    assert!(execute(&program, &mut Nics::new(1_000, 10)).end().is_some());
}

/// Random ranks, each of which sends or receives in a sequence; many of them cannot end.
fn any_program() -> impl Strategy<Value = Program> {
    let line = (0..6u32, 0..3u32, 0..2u64, any::<bool>());
    prop::collection::vec(prop::collection::vec(line, 0..6), 2..4).prop_map(|ranks| {
        let count = ranks.len() as u32;
        let graphs = (0..).zip(&ranks).map(|(rank, lines): (u32, _)| {
            let operations = (0..).zip(lines).map(|(at, &(what, peer, tag, follows))| {
                let peer = (rank + 1 + peer % (count - 1)) % count;
                let kind = match what {
                    0..3 => Kind::Send { peer, bytes: Bytes(8), tag, channel: 0 },
                    3 | 4 => Kind::Recv { peer: Some(peer), tag: Some(tag) },
                    _ => Kind::Recv { peer: None, tag: Some(tag) },
                };
                let requires = if follows && at > 0 { vec![at - 1] } else { Vec::new() };
                Operation { kind, requires, requires_start: Vec::new(), unit: None, name: 0 }
            });
            Graph::new(operations.collect())
        });
        let ranks =
            (0..count).map(|graph| Rank { graph, peers: (0..count).collect(), groups: Box::default() });
        Program { graphs: graphs.collect(), ranks: ranks.collect(), iterations: 1, ..Program::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// No network ends a program that is refused; and without open receives, and with all receives in
    /// sequence, none stops in one that is not refused.
    #[test]
    fn what_is_refused_ends_in_no_network(
        program in any_program(),
        delays in prop::collection::vec(1..10_000u64, 1..20),
    ) {
        let ends = execute(&program, &mut Drawn(delays, 0, BTreeMap::new())).end().is_some();
        let allowed = program.check();
        prop_assert!(allowed.is_ok() || !ends, "{:?}", allowed);
        let open = |operation: &Operation| matches!(operation.kind, Kind::Recv { peer: None, .. });
        let in_sequence = |graph: &Graph| {
            (0..).zip(&graph.operations).skip(1).all(|(at, of)| of.requires == [at - 1])
        };
        let graphs = || program.graphs.iter();
        if graphs().all(in_sequence) && !graphs().flat_map(|graph| &graph.operations).any(open) {
            prop_assert_eq!(allowed.is_ok(), ends, "{:?}", allowed);
        }
    }
}

#[test]
fn a_group_of_many_ranks_is_named_by_its_first() {
    let request = Request::new(Purpose::AllReduce, Bytes(8_000));
    let mut program =
        Program::of_collectives(slice::from_ref(&request), vec![(0..8).collect()], 1).expect("it can be met");
    program.graphs.push(Graph::default());
    program.ranks[2..8].iter_mut().for_each(|rank| rank.graph = program.graphs.len() as u32 - 1);
    let why = refused(&program);
    let named = "is never called by ranks 2, 3, 4, 5 and 2 more";
    assert!(why.contains("group 0 (ranks 0, 1, 2, 3 and 4 more)") && why.ends_with(named), "{why}");
}

//! Readers of htsim's connection matrices.

use floodway_programs::read::{Endless, EndlessMatrix, Imported, connections, endless};
use floodway_programs::{Kind, SendCompletes};
use floodway_units::{Bytes, Span, Time};
use proptest::prelude::*;

use crate::support::{Nics, changed, changes, execute};

const MATRIX: &str = include_str!("../../../../scenarios/jobs/ring.cm");

fn read(text: &str) -> Imported {
    connections(text, "a.cm").unwrap_or_else(|error| panic!("{error}"))
}

/// When each connection of a matrix arrives, by its name, over NICs of a byte a nanosecond and 1 us.
fn arrivals(text: &str) -> Vec<(String, u64)> {
    let program = read(text).program;
    assert_eq!(program.check(), Ok(()));
    let history = execute(&program, &mut Nics::new(1_000_000, 1_000));
    let mut arrivals = Vec::new();
    for (rank, ended) in (0..).zip(&history.ended) {
        for of in ended {
            let operation = program.operation_of(rank, of.operation);
            if matches!(operation.kind, Kind::Recv { .. }) {
                arrivals.push((program.names[operation.name as usize].clone(), of.end.0 / 1000));
            }
        }
    }
    arrivals.sort();
    arrivals
}

fn named(arrivals: &[(&str, u64)]) -> Vec<(String, u64)> {
    arrivals.iter().map(|&(name, ns)| (name.to_owned(), ns)).collect()
}

#[test]
fn a_matrix_with_connections_without_end_is_flows() {
    let text = "Nodes 4\nConnections 2\n0->1 start 5000 size 0\n2->1 start 0 size 7 prio 1\n";
    let EndlessMatrix { nodes, connections, notes } =
        endless(text, "a.cm").expect("it is a matrix").expect("one has no end");
    let of = |ends, ps, bytes: Option<u64>| Endless { ends, start: Span(ps), bytes: bytes.map(Bytes) };
    assert_eq!((nodes, connections), (4, vec![of((0, 1), 5000, None), of((2, 1), 0, Some(7))]));
    assert_eq!(notes, ["\"prio\" is not used (1 time)"]);
    assert_eq!(endless(MATRIX, "a.cm"), Ok(None));
    let trigger = "Nodes 4\nConnections 2\nTriggers 1\n0->1 start 0 size 0\n2->1 start 0 size 7 send_done_trigger 1\n\
        trigger id 1 oneshot\n";
    let error = endless(trigger, "a.cm").expect_err("triggers need an end").to_string();
    assert!(
        error.starts_with("a.cm, line 5: it has a trigger, in a matrix with a connection without end"),
        "{error}"
    );
}

#[test]
fn a_matrix_is_read_as_it_is_written() {
    let Imported { program, notes, .. } = read(MATRIX);
    assert_eq!((program.ranks.len(), program.send_completes), (4, SendCompletes::Acknowledged));
    // Of node 1: what arrives there, what that triggers, and a start at 5,000,000 ps, which are 5 us.
    let operations = &program.graph_of(1).operations;
    assert!(matches!(operations[1].kind, Kind::Send { bytes: Bytes(1_000_000), .. }));
    assert_eq!(operations[1].requires, [0]);
    assert_eq!(operations[2].kind, Kind::Compute { time: Span::us(5) });
    assert_eq!(
        notes,
        [
            "triggers act at once at any node in htsim: here messages of a byte carry them from node to node (1 of \
          them)"
        ]
    );
    let around = [1_001_000, 2_002_000, 3_003_000, 4_004_000];
    assert_eq!(
        arrivals(MATRIX),
        named(&[
            ("0->1 id 1", around[0]),
            ("0->2 id 6", around[3] + 4096 + 1000),
            ("1->2 id 2", around[1]),
            ("1->3 id 5", 206_000),
            ("2->3 id 3", around[2]),
            ("3->0 id 4", around[3]),
            ("trigger 4", 207_001),
        ])
    );
}

/// Connections of 1000 bytes from node 0, and one that activates a trigger.
fn triggered(lines: &str, triggers: &str) -> String {
    let count = |text: &str| text.lines().count();
    format!("Nodes 4\nConnections {}\nTriggers {}\n{lines}\n{triggers}\n", count(lines), count(triggers))
}

#[test]
fn each_trigger_starts_what_it_is_for() {
    let lines = "0->1 start 0 size 1000 send_done_trigger 1\n0->2 start 1500000 size 1000 send_done_trigger 1\n\
                 0->1 id 3 trigger 1 size 10\n0->2 id 4 trigger 1 size 10";
    let all = |kind: &str| arrivals(&triggered(lines, &format!("trigger id 1 {kind}")));
    // A send is complete when it has arrived: at 2 us, when the NIC still sends the other one, and at 3.5 us.
    let first = [("0->1", 2000), ("0->2", 3500)];
    let [one, two] = first;
    assert_eq!(all("multishot"), named(&[one, ("0->1 id 3", 3510), two, ("0->2 id 4", 4510)]));
    assert_eq!(all("barrier count 2"), named(&[one, ("0->1 id 3", 4510), two, ("0->2 id 4", 4520)]));
    let multishot = read(&triggered(lines, "trigger id 1 multishot")).notes;
    assert_eq!(multishot.len(), 1);
    assert!(multishot[0].starts_with("connections of multishot triggers start after the one that activates them by its place in the file (1 connection);"));
}

#[test]
fn a_send_that_is_done_starts_its_receiver_when_all_has_arrived() {
    let text = triggered(
        "0->1 start 0 size 1000 send_done_trigger 1\n1->2 trigger 1 size 1000",
        "trigger id 1 oneshot",
    );
    assert_eq!(arrivals(&text), named(&[("0->1", 2000), ("1->2", 4000)]));
    assert!(read(&text).notes[0].starts_with(
        "after a send to their node, connections start when it has arrived there (1 connection);"
    ));
}

#[test]
fn connections_of_a_pair_have_queue_pairs_of_their_own() {
    let program =
        read("Nodes 2\nConnections 2\n0->1 start 0 size 5 prio 1\n0->1 start 0.0 size 5 addon\n").program;
    let channels = program.graph_of(0).operations.iter().map(|operation| match operation.kind {
        Kind::Send { channel, .. } => channel,
        _ => panic!("they are sends"),
    });
    assert_eq!(channels.collect::<Vec<_>>(), [0, 1]);
    let history = execute(&program, &mut Nics::new(0, 1000));
    assert_eq!(history.end(), Some(Time(10_000)));
}

fn refused(text: &str) -> String {
    connections(text, "a.cm").expect_err("it has a mistake").to_string()
}

#[test]
fn mistakes_name_line_and_nearest_word() {
    let one = |line: &str| refused(&format!("Nodes 4\nConnections 1\n{line}\n"));
    let cases = [
        ("0->9 start 0 size 5", "\"0->9\" is not FROM->TO, two nodes from 0 to 3"),
        ("2->2 start 0 size 5", "\"2->2\" goes from a node to itself"),
        ("0->1 size 5", "the connection has no \"start\" and no \"trigger\""),
        ("0->1 start 0", "the connection has no \"size\""),
        ("0->1 start 0 trigger 1 size 5", "a connection has one \"start\" or one \"trigger\""),
        ("0->1 start -1 size 5", "start \"-1\" is not a time in picoseconds below 2^64"),
        ("0->1 start 1e30 size 5", "start \"1e30\" is not a time in picoseconds below 2^64"),
        (
            "0->1 start 0 size 0",
            "size 0 is a connection without end, and a job ends: `floodway import htsim` writes such a matrix as \
             flows, with size = \"unbounded\", or give a size from 1",
        ),
        ("0->1 start 0 size -1", "size \"-1\" is no number from 0 to 1125899906842623"),
        (
            "0->1 strat 0 size 5",
            "\"strat\" is unknown; allowed: id, start, trigger, size, send_done_trigger, recv_done_trigger, prio, \
             addon; did you mean \"start\"?",
        ),
        ("0->1 start 0 size 5 size 5", "\"size\" is there twice"),
        ("0->1 start 0 size 5 send_done_trigger 7", "there is no line \"trigger id 7\""),
    ];
    for (line, why) in cases {
        assert_eq!(one(line), format!("a.cm, line 3: {why}"));
    }
    assert_eq!(
        refused("Nodes 2\nConnectons 1\n"),
        "a.cm, line 2: \"Connectons\" is unknown; allowed: Nodes, Connections, Triggers, Failures, trigger; did \
         you mean \"Connections\"?"
    );
    assert_eq!(
        refused("Nodes 2\nConnections 2\n0->1 start 0 size 5\n"),
        "a.cm, line 3: Connections is 2 at the top, and there are 1"
    );
    assert_eq!(refused(""), "a.cm, line 1: the line \"Nodes\", with the number of nodes, is missing");
}

#[test]
fn what_is_there_twice_is_refused_with_its_line() {
    let connection = "0->1 start 0 size 5";
    for (text, line, why) in [
        (
            format!("Nodes 4\nNodes 2\nConnections 1\n{connection}\n"),
            2,
            "\"Nodes\" is there twice, first in line 1",
        ),
        (
            format!("Nodes 4\nConnections 1\n{connection}\nNodes 4\n"),
            4,
            "\"Nodes\" is there twice, first in line 1",
        ),
        (
            format!("Nodes 4\nConnections 2\n\nConnections 1\n{connection}\n"),
            4,
            "\"Connections\" is there twice, first in line 2",
        ),
        ("Nodes 4\nTriggers 1\nTriggers 0\n".into(), 3, "\"Triggers\" is there twice, first in line 2"),
        ("Nodes 4\nFailures 0\nFailures 0\n".into(), 3, "\"Failures\" is there twice, first in line 2"),
        (format!("Nodes 4\nConnections 1\n{connection} prio 1 prio 2\n"), 3, "\"prio\" is there twice"),
        (format!("Nodes 4\nConnections 1\n{connection} addon addon\n"), 3, "\"addon\" is there twice"),
        ("Nodes 4\nTriggers 1\ntrigger id 1 id 2 oneshot\n".into(), 3, "\"id\" is there twice"),
        ("Nodes 4\nTriggers 1\ntrigger id 1 barrier count 1 count 2\n".into(), 3, "\"count\" is there twice"),
    ] {
        assert_eq!(refused(&text), format!("a.cm, line {line}: {why}"));
    }
}

#[test]
fn triggers_that_never_start_all_are_refused() {
    let two = "0->1 start 0 size 5 send_done_trigger 1\n0->2 start 0 size 5 send_done_trigger 1";
    let three = |kind: &str| refused(&triggered(&format!("{two}\n0->1 trigger 1 size 5"), kind));
    assert_eq!(
        three("trigger id 1 oneshot"),
        "a.cm, line 7: trigger 1 is oneshot, and is activated 2 times; allowed is once"
    );
    assert_eq!(
        three("trigger id 1 barrier count 3"),
        "a.cm, line 7: trigger 1 is a barrier of count 3, and is activated 2 times"
    );
    assert_eq!(three("trigger id 1 barrier"), "a.cm, line 7: a barrier has a \"count\"");
    assert_eq!(three("trigger id 1"), "a.cm, line 7: the trigger is none of oneshot, multishot and barrier");
    let waits = triggered("0->1 trigger 1 size 5\n0->2 trigger 1 size 5", "trigger id 1 multishot");
    assert_eq!(refused(&waits), "a.cm, line 6: trigger 1 starts 2 connections, and is activated 0 times");
    let circle = triggered(
        "0->1 trigger 1 size 5 send_done_trigger 2\n0->1 trigger 2 size 5 send_done_trigger 1",
        "trigger id 1 oneshot\ntrigger id 2 oneshot",
    );
    let error = read(&circle).program.check().expect_err("nothing begins").to_string();
    assert!(error.starts_with("operations of rank 0 wait for each other"), "{error}");
}

proptest! {
    #[test]
    fn matrices_with_any_change_are_read_or_refused(changes in changes("[a-z0-9 >\\-\n]{0,6}")) {
        if let Ok(imported) = connections(&changed(MATRIX, &changes), "a.cm")
            && imported.program.check().is_ok()
        {
            execute(&imported.program, &mut Nics::new(1_000, 10));
        }
    }
}

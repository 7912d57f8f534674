//! Readers of GOAL: any text gives a program or an error, and never a panic.

use floodway_programs::read::goal;
use floodway_programs::{Kind, SendCompletes};
use floodway_units::{Bytes, Span};
use proptest::prelude::*;

use crate::support::{Nics, changed, changes, execute};

const SCHEDULE: &str = "num_ranks 2
rank 0 { // a comment
l1: send 100b to 1 tag 7 cpu 1
l2: calc 500
l2 irequires l1
l3: recv 10b from -1 tag -1
l3 requires l2
}
rank 1 {
l1: recv 100b from 0 tag 7
calc 20 cpu 3
l2: send 10b to 0
l2 requires l1
}
";

#[test]
fn a_schedule_is_read_as_it_is_written() {
    let imported = goal(SCHEDULE, "a.goal").expect("it is GOAL");
    let program = imported.program;
    assert_eq!((program.ranks.len(), program.send_completes), (2, SendCompletes::Issued));
    let first = &program.graph_of(0).operations;
    assert_eq!(first[0].kind, Kind::Send { peer: 0, bytes: Bytes(100), tag: 7, channel: 0 });
    assert_eq!((first[0].unit, first[1].unit, first[2].unit), (Some(1), Some(0), None));
    assert_eq!(first[1].kind, Kind::Compute { time: Span::ns(500) });
    assert_eq!((&first[1].requires_start, &first[2].requires), (&vec![0], &vec![1]));
    assert_eq!(first[2].kind, Kind::Recv { peer: None, tag: None });
    assert_eq!(program.check(), Ok(()));
    // A byte a nanosecond, 1 us: 100 bytes there, 10 back.
    let history = execute(&program, &mut Nics::new(1_000_000, 1_000));
    assert_eq!(history.end().map(|end| end.0), Some(2 * 1_000_000 + 110 * 1_000));
}

/// The error of a schedule of one rank.
fn refused(lines: &str) -> String {
    let text = format!("num_ranks 1\nrank 0 {{\n{lines}\n}}\n");
    goal(&text, "a.goal").expect_err("it has a mistake").to_string()
}

#[test]
fn mistakes_name_the_nearest_word() {
    assert_eq!(
        refused("first: calc 5\nsecond: calc 6\nsecond requires frist"),
        "a.goal, line 5: no operation above has the label \"frist\"; did you mean \"first\"?"
    );
    let allowed = "is no operation; allowed: send, recv, calc, or a label with requires or irequires";
    assert_eq!(refused("a: clac 5"), format!("a.goal, line 3: \"clac\" {allowed}; did you mean \"calc\"?"));
    assert_eq!(
        refused("a: calc 5\nb: calc 6\nb requries a"),
        format!("a.goal, line 5: \"requries\" {allowed}; did you mean \"requires\"?")
    );
    let error = goal("num_rank 2", "a.goal").expect_err("it is no GOAL").to_string();
    assert_eq!(
        error,
        "a.goal, line 1: \"num_rank\" where \"num_ranks\" is expected; did you mean \"num_ranks\"?"
    );
}

#[test]
fn computations_that_no_clock_counts_are_refused() {
    let text = format!("num_ranks 1\nrank 0 {{\n{}}}\n", "calc 18446744073709\n".repeat(1001));
    let program = goal(&text, "a.goal").expect("it is GOAL").program;
    let error = program.check().expect_err("it takes too long").to_string();
    assert_eq!(error, "the computations of rank 0 take more than 2^64 ps together, which is 213 days");
}

proptest! {
    #[test]
    fn schedules_with_any_change_are_read_or_refused(changes in changes("[a-z0-9 :{}\\-/\n]{0,6}")) {
        if let Ok(imported) = goal(&changed(SCHEDULE, &changes), "a.goal")
            && imported.program.check().is_ok()
        {
            execute(&imported.program, &mut Nics::new(1_000, 10));
        }
    }
}

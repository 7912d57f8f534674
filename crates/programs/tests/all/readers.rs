//! Readers: any text and any bytes give a program or an error, and never a panic.

use floodway_programs::read::{ChakraOptions, chakra, goal};
use floodway_programs::{Kind, SendCompletes};
use floodway_units::{Bytes, Span};
use proptest::prelude::*;

use crate::support::{Nics, execute};

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

/// A trace with one message: metadata without attributes, then these bytes.
fn behind_metadata(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut file = vec![0, bytes.len() as u8];
    file.extend(bytes);
    vec![("t.0.et".to_owned(), file)]
}

#[test]
fn a_trace_without_a_peer_is_refused_by_its_node() {
    // id 3, name "s", type COMM_SEND, attribute comm_size = 5 (int64).
    let attribute = [0x52, 13, 0x0A, 9, b'c', b'o', b'm', b'm', b'_', b's', b'i', b'z', b'e', 0x48, 5];
    let node = [&[0x08, 3, 0x12, 1, b's', 0x18, 5][..], &attribute].concat();
    let error = chakra(&behind_metadata(&node), &ChakraOptions::default()).expect_err("it has no receiver");
    assert_eq!(error.to_string(), "t.0.et, node 3 (\"s\"): comm_dst is missing");
}

#[test]
fn a_trace_that_is_cut_short_is_refused() {
    let error = chakra(&[("t.0.et".to_owned(), vec![0, 9, 1])], &ChakraOptions::default());
    let error = error.expect_err("it is cut").to_string();
    assert_eq!(error, "t.0.et, message 1, byte 1: the message has 9 bytes, of which 1 are there");
}

proptest! {
    #[test]
    fn schedules_with_any_change_are_read_or_refused(
        cuts in prop::collection::vec((0..SCHEDULE.len(), 0..12usize, "[a-z0-9 :{}\\-/\n]{0,6}"), 0..6),
    ) {
        let mut text = SCHEDULE.to_owned();
        for (at, length, insert) in cuts {
            let (from, to) = (at.min(text.len()), (at + length).min(text.len()));
            text.replace_range(from..to, &insert);
        }
        if let Ok(imported) = goal(&text, "a.goal")
            && imported.program.check().is_ok()
        {
            execute(&imported.program, &mut Nics::new(1_000, 10));
        }
    }

    #[test]
    fn any_bytes_are_a_trace_or_refused(files in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..3)) {
        let files: Vec<(String, Vec<u8>)> =
            (0..).zip(files).map(|(rank, bytes)| (format!("t.{rank}.et"), bytes)).collect();
        let _ = chakra(&files, &ChakraOptions { splits: 2, ..ChakraOptions::default() });
        for (_, bytes) in &files {
            let _ = chakra(&behind_metadata(bytes), &ChakraOptions::default());
        }
    }
}

//! GOAL schedules in binary form, and comments of those that are text.

use floodway_programs::read::{goal, goal_binary};
use proptest::prelude::*;

/// The text that the bytes below are of.
const TEXT: &str = "num_ranks 2 /* two
of them */
rank 0 { // a comment
l1: send 100b to 1 tag 7 cpu 1 nic 2 /* a */ /* b */
l2: calc 500
l2 irequires l1
/* l9: calc 7
*/ l3: recv 10b from -1 tag -1
l3 requires l2
}
rank 1 {
l1: recv 100b from 0 tag 7
calc 20 cpu 3
l2: send 10b to 0
l2 requires l1
}
";

/// An operation: what it waits for, kind, peer, size, tag, CPU, NIC, and who waits for its end and start.
type Listed<'a> = (u32, u8, u32, u64, u32, u8, u8, &'a [u32], &'a [u32]);

fn part(operations: &[Listed<'_>]) -> Vec<u8> {
    let mut out = (operations.len() as u32).to_le_bytes().to_vec();
    let roots: Vec<u32> =
        (0..).zip(operations).filter(|(_, of)| of.0 == 0).map(|(number, _)| number).collect();
    out.extend((roots.len() as u32).to_le_bytes());
    out.extend(roots.iter().flat_map(|root| root.to_le_bytes()));
    let mut listed: Vec<u32> = Vec::new();
    for &(waits, kind, peer, size, tag, cpu, nic, end, start) in operations {
        out.extend(waits.to_le_bytes());
        out.push(kind);
        out.extend(peer.to_le_bytes());
        out.extend(size.to_le_bytes());
        out.extend(tag.to_le_bytes());
        out.extend([cpu, nic]);
        for waiting in [end, start] {
            out.extend((waiting.len() as u32).to_le_bytes());
            out.extend((listed.len() as u32).to_le_bytes());
            listed.extend(waiting);
        }
    }
    out.extend(listed.iter().flat_map(|number| number.to_le_bytes()));
    out
}

fn schedule() -> Vec<u8> {
    let any = u32::MAX;
    let parts = [
        part(&[
            (0, 1, 1, 100, 7, 1, 2, &[], &[1]),
            (1, 3, 0, 500, 0, 0, 0, &[2], &[]),
            (1, 2, any, 10, any, 0, 0, &[], &[]),
        ]),
        part(&[
            (0, 2, 0, 100, 7, 0, 0, &[2], &[]),
            (0, 3, 0, 20, 0, 3, 0, &[], &[]),
            (1, 1, 0, 10, 0, 0, 0, &[], &[]),
        ]),
    ];
    let mut out = 4223u64.to_le_bytes().to_vec();
    out.extend(2u32.to_le_bytes());
    out.extend([3, 2]);
    let mut at = 6 + 2 * 16u64;
    for part in &parts {
        out.extend(at.to_le_bytes());
        at += part.len() as u64;
        out.extend(at.to_le_bytes());
    }
    out.extend(parts.concat());
    out
}

#[test]
fn both_forms_are_the_same_schedule() {
    let (text, binary) = (goal(TEXT, "a.goal"), goal_binary(&schedule(), "a.bin"));
    let (text, binary) = (text.expect("it is GOAL"), binary.expect("it is GOAL, too"));
    assert_eq!(text.notes, binary.notes);
    assert_eq!(binary.notes.len(), 1);
    assert_eq!(binary.program.check(), Ok(()));
    for rank in 0..2 {
        let (text, binary) = (text.program.graph_of(rank), binary.program.graph_of(rank));
        let unnamed = |operations: &[floodway_programs::Operation]| {
            let plain = |of: &floodway_programs::Operation| {
                (of.kind, of.unit, of.requires.clone(), of.requires_start.clone())
            };
            operations.iter().map(plain).collect::<Vec<_>>()
        };
        assert_eq!(unnamed(&text.operations), unnamed(&binary.operations));
    }
    assert_eq!(text.program.ranks[1].peers, binary.program.ranks[1].peers);
}

#[test]
fn a_comment_without_end_is_told_as_the_end_of_the_file() {
    let error = goal("num_ranks 1\nrank 0 {\n/* calc 5\n}\n", "a.goal").expect_err("it is cut").to_string();
    assert_eq!(error, "a.goal, line 2: the file ends where an operation or \"}\" is expected");
}

#[test]
fn faults_of_the_binary_form_name_the_byte() {
    let refused = |bytes: &[u8]| goal_binary(bytes, "a.bin").expect_err("it has a mistake").to_string();
    let whole = schedule();
    assert_eq!(
        refused(b"num_ranks 2\n"),
        "a.bin, byte 0: a binary GOAL schedule begins with the number 4223, in 8 bytes"
    );
    assert_eq!(
        refused(&whole[..20]),
        "a.bin, byte 14: the file ends after 20 bytes, where the begin of rank 0 is expected"
    );
    assert!(refused(&whole[..whole.len() - 1]).contains("rank 1 is from byte "));
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        refused(&bytes)
    };
    // The first operation is behind the head, the table, and two counts with one root.
    let first = 8 + 6 + 32 + 12;
    assert_eq!(
        with(first + 4, 9),
        format!("a.bin, byte {first}: 9 is no kind of an operation; allowed: 1 (send), 2 (recv), 3 (calc)")
    );
    assert_eq!(
        with(first + 5, 2),
        format!(
            "a.bin, byte {first}: the peer of an operation of rank 0 is 2; allowed: another rank below 2"
        )
    );
    assert!(with(8, 0).contains("0 is not a number of ranks from 1 to"));
}

proptest! {
    #[test]
    fn schedules_with_any_change_are_read_or_refused(
        changes in prop::collection::vec((any::<usize>(), any::<u8>()), 0..6),
        cut in any::<usize>(),
    ) {
        let mut bytes = schedule();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(cut % (bytes.len() * 4));
        if let Ok(imported) = goal_binary(&bytes, "a.bin") {
            let _ = imported.program.check();
        }
    }
}

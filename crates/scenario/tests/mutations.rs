//! Scenarios with pieces of text swapped, cut and repeated: accepted or refused in one line, never a panic.

use floodway_scenario::{Scenario, check};
use proptest::prelude::*;

const READY: &[&str] = &[
    include_str!("../../../scenarios/demo.toml"),
    include_str!("../../../scenarios/incast.toml"),
    include_str!("../../../scenarios/ring-deadlock.toml"),
    include_str!("../../../scenarios/long-flow.toml"),
    include_str!("../../../scenarios/hot-spot.toml"),
    include_str!("../../../scenarios/micro-burst.toml"),
    include_str!("texts/sites.toml"),
];

/// What may stand in the place of another piece.
const PIECES: &[&str] = &[
    "",
    "0",
    "-1",
    "1e300",
    "nan",
    "inf",
    "\"\"",
    "\"auto\"",
    "\"0B\"",
    "\"1PB\"",
    "\"100000s\"",
    "\"100T\"",
    "\"0us\"",
    "[]",
    "{}",
    "[[]]",
    "{ a = 1 }",
    "true",
    "=",
    ".",
    "\"",
    "\n",
    "#",
    "\"*\"",
    "\"h1..h9\"",
    "pfc",
    "lossy",
    "static",
    "shared",
    "class-3",
    "faults",
    "pause",
    "jitter",
    "down",
    "error-rate",
    "18446744073709551615",
    "99999999999",
    "\"h1,h2\"",
    "name",
    "links",
    "switches",
    "hosts",
    "flows",
    "tag",
    "rate",
    "delay",
    "length",
];

/// Words, numbers, texts and single signs.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '"' | '*');
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

#[derive(Clone, Debug)]
enum Change {
    Replace(usize, usize),
    Swap(usize, usize),
    Cut(usize),
    Repeat(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>;
    prop_oneof![
        4 => (at(), at()).prop_map(|(at, piece)| Change::Replace(at, piece)),
        2 => (at(), at()).prop_map(|(one, other)| Change::Swap(one, other)),
        1 => at().prop_map(Change::Cut),
        1 => at().prop_map(Change::Repeat),
    ]
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut pieces = pieces(text);
    for change in changes {
        let length = pieces.len();
        match *change {
            Change::Replace(at, piece) => pieces[at % length] = PIECES[piece % PIECES.len()],
            Change::Swap(one, other) => pieces.swap(one % length, other % length),
            Change::Cut(at) => {
                pieces.remove(at % length);
            }
            Change::Repeat(at) => pieces.insert(at % length, pieces[at % length]),
        }
    }
    pieces.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_scenario_is_refused_in_single_lines_or_can_be_checked(
        which in 0..READY.len(),
        changes in prop::collection::vec(change(), 1..4),
        set in prop::option::of((0..8usize, 0..PIECES.len())),
    ) {
        let text = changed(READY[which], &changes);
        let paths = [
            "defaults.flow-control.pfc.xoff", "defaults.buffer", "workload.hadoop.poisson.load", "limit",
            "topology.two-dc.long-link.length", "long-haul.flow-control", "workload.1.until", "defaults.rate-control.1",
        ];
        let sets: Vec<_> = set.map(|(path, value)| (paths[path].to_owned(), PIECES[value].to_owned())).into_iter().collect();
        match Scenario::from_text("a.toml", &text, &sets) {
            Ok(scenario) => {
                let report = check(&scenario, true);
                prop_assert!(!report.text().is_empty());
                prop_assert!(!scenario.resolved_json().is_empty());
            }
            Err(errors) => {
                prop_assert!(!errors.0.is_empty());
                for error in errors.0 {
                    prop_assert!(!error.to_string().contains('\n'), "{error}");
                }
            }
        }
    }
}

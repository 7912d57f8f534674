//! Ready texts, and texts with pieces of them swapped, cut and repeated.

use std::path::Path;

use floodway_units::Turns;
use serde_json::Value;

use crate::fuzz::tape::Tape;

/// Every scenario that comes with the project and needs no files beside it, and every text of `tests/texts`:
/// a file that is put there is tried without further ado.
pub fn ready() -> Vec<String> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["../../scenarios", "../../scenarios/concepts", "tests/all/texts"];
    let mut files: Vec<_> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(crate_folder.join(folder)).into_iter().flatten())
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).expect("it can be read"));
    texts.filter(|text| !text.contains("${")).collect()
}

/// The same as values.
pub fn documents(texts: &[String]) -> Vec<Value> {
    texts.iter().map(|text| toml::from_str(text).expect("a ready text is TOML")).collect()
}

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
    "\"1ps\"",
    "\"h1\"",
    "[]",
    "{}",
    "[[]]",
    "{ a = 1 }",
    "true",
    "=",
    ".",
    ",",
    "\"",
    "\"\"\"",
    "'",
    "\n",
    "\r",
    "\t",
    "#",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    "\\",
    "\u{0}",
    "\u{feff}",
    "🦀",
    "\"\\u0000\"",
    "\"\\n\"",
    "1979-05-27T07:32:00Z",
    "0x10",
    "1_0",
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
    "99999999999999999999",
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
    "override",
    "workload",
    "defaults",
];

/// Words, numbers, texts and single signs.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '"' | '*');
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut turns = Turns::at_most(10_000_000);
    while turns.go()
        && let Some(first) = rest.chars().next()
    {
        let end =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

/// The text with a few pieces changed.
pub fn changed(text: &str, tape: &mut Tape<'_>) -> String {
    let mut pieces = pieces(text);
    for _ in 0..=tape.below(3) {
        if pieces.is_empty() {
            break;
        }
        let (at, other) = (tape.below(pieces.len()), tape.below(pieces.len()));
        match tape.below(8) {
            0..=3 => pieces[at] = tape.word(PIECES),
            4 | 5 => pieces.swap(at, other),
            6 => _ = pieces.remove(at),
            _ => pieces.insert(at, pieces[other]),
        }
    }
    pieces.concat()
}

/// A value for `--set`.
pub fn value(tape: &mut Tape<'_>) -> &'static str {
    tape.word(PIECES)
}

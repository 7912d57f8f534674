//! Files that scenarios name: lists of flows and distributions of sizes, right and wrong.

use crate::fuzz::pieces::WORDS;
use crate::fuzz::tape::Tape;

const COLUMNS: &[&str] = &[
    "source",
    "destination",
    "size_bytes",
    "start_us",
    "class",
    "start_ns",
    "source_port",
    "destination_port",
    "path",
    "ack_path",
    "StartTime",
    "FromNode",
    "ToNode",
    "Size",
    "Priority",
    "size",
    "",
    "Source",
    "🦀",
    "a\0b",
];
const CELLS: &[&str] = &[
    "h1",
    "h3",
    "1000",
    "0",
    "3",
    "h2",
    "1",
    "1.5",
    "1e6",
    "\"h1,s1,h3\"",
    "\"h1,s1,s2,h3\"",
    "h1>s1>s2>h3",
    "6",
    "7",
    "255",
    "256",
    "65535",
    "65536",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "1e30",
    "1e-30",
    "nan",
    "inf",
    "2000.0",
    "0.0000001",
    "\"",
    "\"\"",
    "\"\"\"\"",
    "'",
    "s1",
    "h999",
    "",
    " ",
    "\0",
    "🦀",
    "1KB",
    "1us",
    "1000000000s",
    "1e15",
    "h1#1",
    "h1,s1#2,h3",
    "\u{feff}",
    "#",
    "1_000",
    "+5",
    "0x10",
    "\u{2028}",
    "\u{85}",
];
const ENDS: &[&str] = &["\n", "\n", "\n", "\r\n", "\r", "\n\n", "", "\n#\n", "\u{b}"];

/// A list of flows between h1, h2, h3 and h4.
pub fn flows(tape: &mut Tape<'_>) -> String {
    let mut columns = vec!["source", "destination", "size_bytes", "start_us"];
    while tape.once_in(3) && columns.len() < 12 {
        columns.push(tape.word(COLUMNS));
    }
    if tape.once_in(8) {
        let at = tape.below(columns.len());
        columns[at] = tape.word(COLUMNS);
    }
    let mut text = String::from(if tape.once_in(10) { "\u{feff}" } else { "" });
    text.push_str(&columns.join(","));
    text.push_str(tape.word(ENDS));
    for _ in 0..tape.below(5) {
        let cells: Vec<String> = columns.iter().map(|column| cell(column, tape)).collect();
        text.push_str(&cells.join(if tape.once_in(20) { ";" } else { "," }));
        text.push_str(tape.word(ENDS));
    }
    text
}

/// A cell that suits its column, or any other.
fn cell(column: &str, tape: &mut Tape<'_>) -> String {
    if tape.once_in(300) {
        return "x".repeat(1 << 20);
    }
    if tape.once_in(8) {
        return tape.word(CELLS).to_owned();
    }
    let fitting: &[&str] = match column {
        "source" | "FromNode" => &["h1", "h2"],
        "destination" | "ToNode" => &["h3", "h4"],
        "size_bytes" | "Size" => &["1000", "1", "1e6", "2000.0", "1000000000000000"],
        "start_us" | "start_ns" | "StartTime" => &["0", "1.5", "1000", "1e12"],
        "class" => &["3", "4", "", "0"],
        "path" => &["", "\"h1,s1,s2,h3\"", "h1>s1>s2>h3"],
        "ack_path" => &["", "\"h3,s2,s1,h1\""],
        _ => &["", "1", "65535"],
    };
    tape.word(fitting).to_owned()
}

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "100",
    "1000",
    "50",
    "99.9",
    "1e6",
    "1e15",
    "1e16",
    "1e308",
    "1e309",
    "-1",
    "nan",
    "inf",
    "-0",
    "5e-324",
    "0.5",
    "100.0000001",
    "x",
    "",
    "\0",
    "🦀",
    "18446744073709551616",
    "#",
    "1,5",
];

/// A distribution of sizes.
pub fn sizes(tape: &mut Tape<'_>) -> String {
    let mut text = String::from(if tape.once_in(10) { "\u{feff}" } else { "" });
    let points = 1 + tape.below(5);
    for i in 0..=points {
        let mut columns = vec![format!("{}", i * 1000), format!("{}", 100.0 * i as f64 / points as f64)];
        if tape.once_in(6) {
            let at = tape.below(2);
            tape.word(NUMBERS).clone_into(&mut columns[at]);
        }
        if tape.once_in(30) {
            columns.push(tape.word(WORDS).to_owned());
        }
        text.push_str(&columns.join(if tape.once_in(10) { "\t" } else { " " }));
        text.push_str(if tape.once_in(12) { tape.word(ENDS) } else { "\n" });
    }
    text
}

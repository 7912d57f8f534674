//! Words, numbers and quantities at and around their limits, and values that fit nowhere.

use serde_json::{Value, json};

use crate::fuzz::tape::Tape;

/// Names that networks have, and texts that none has.
pub const WORDS: &[&str] = &[
    "*",
    "h1",
    "h2",
    "h3",
    "s1",
    "s2",
    "t1",
    "l1",
    "x1",
    "x1-x2",
    "h1-s1",
    "s1-s2",
    "h*",
    "?1",
    "h1..h4",
    "h4..h1",
    "h1..h9999999",
    "a",
    "b",
    "dc-a",
    "dc-b",
    "host",
    "switch",
    "dci",
    "long-haul",
    "bottleneck",
    "hosts",
    "web",
    "auto",
    "unbounded",
    "h1,s1,h2",
    "h1>s1>h2",
    "s1>s2",
    "",
    " ",
    "-",
    ".",
    "1",
    "#",
    "\"",
    "'",
    "\\",
    "a\nb",
    "\r\n",
    "\0",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "höst",
    "日本",
    "🦀",
    "e\u{301}",
    "\u{202e}",
    "${HOME}",
    "${",
    "${}",
    "/",
    "..",
    "/dev/null",
    "nothing.csv",
    "x.parquet",
    "1e999999999s",
    "nan",
    "-1us",
    "10 us",
    "١us",
];

/// Numbers of quantities.
const AMOUNTS: &[&str] = &[
    "1",
    "10",
    "100",
    "2",
    "3",
    "0",
    "0.5",
    "1.5",
    "40",
    "1000",
    "1e3",
    "99999",
    "100000",
    "100001",
    "1e15",
    "1000000000000001",
    "18446744073709551615",
    "18446744073709551616",
    "1e30",
    "1e-30",
    "1e999999999",
    "0.0001",
    "-1",
    "-0",
    "+1",
    "1_000",
    "_",
    "1.2.3",
    "",
    ".",
    "e",
    "1e",
    "0x10",
    "nan",
    "inf",
    "١",
];

/// Whole numbers; those between a few and far too many only make large networks.
const INTEGERS: &[i128] = &[
    1,
    2,
    3,
    4,
    0,
    5,
    6,
    7,
    8,
    9,
    10,
    12,
    13,
    14,
    15,
    16,
    -1,
    -128,
    (1 << 20) + 1,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    (1 << 53) + 1,
    (1 << 63) - 1,
    -(1 << 63),
    (1 << 64) - 1,
];

/// Numbers with a fraction.
const NUMBERS: &[f64] = &[
    0.5,
    0.1,
    0.9,
    1.0,
    0.0,
    2.0,
    0.25,
    -0.0,
    -1.0,
    1e-9,
    1e-300,
    5e-324,
    0.999_999_999_999_999_9,
    1.000_000_000_000_001,
    70.0,
    100.0,
    100.000_001,
    1e9,
    1e18,
    1e19,
    1e300,
    f64::MAX,
];

/// A quantity in one of the units that a pattern of the schema ends with, seldom in another.
pub fn quantity(pattern: &str, tape: &mut Tape<'_>) -> String {
    let units = pattern.rsplit_once('(').map_or("", |(_, units)| units.trim_end_matches([')', '$']));
    let units: Vec<&str> = units.split('|').collect();
    let amount = if tape.once_in(4) { tape.word(AMOUNTS) } else { tape.word(&AMOUNTS[..10]) };
    let unit = if tape.once_in(20) {
        tape.word(&["", "m", "km", "us", "US", "s", "B", "kb", "Gb", "Gbps", "G", "µs", "🦀"])
    } else {
        tape.word(&units)
    };
    let blank = if tape.once_in(20) { " " } else { "" };
    format!("{amount}{blank}{unit}")
}

/// A whole number, mostly between the limits of a form.
pub fn integer(form: &Value, tape: &mut Tape<'_>) -> Value {
    let bound = |key: &str| form.get(key).and_then(Value::as_i64).map(i128::from);
    let (least, most) = (bound("minimum"), bound("maximum"));
    let near: Vec<i128> =
        [least, most].into_iter().flatten().flat_map(|bound| [bound, bound + 1, bound - 1]).collect();
    let number = match tape.below(8) {
        0..=4 => *tape.pick(&INTEGERS[..16]),
        5 if !near.is_empty() => *tape.pick(&near),
        _ => *tape.pick(INTEGERS),
    };
    u64::try_from(number).map_or_else(|_| json!(number as i64), |number| json!(number))
}

/// A number, mostly between the limits of a form.
pub fn number(form: &Value, tape: &mut Tape<'_>) -> Value {
    if tape.once_in(10) {
        return integer(form, tape);
    }
    let ordinary = if tape.once_in(3) { NUMBERS } else { &NUMBERS[..5] };
    json!(tape.pick(ordinary))
}

/// What fits nowhere, or by chance.
pub fn junk(tape: &mut Tape<'_>) -> Value {
    let all = [
        json!(0),
        json!(""),
        json!("auto"),
        json!("10us"),
        json!("100G"),
        json!("1PB"),
        json!("100000s"),
        json!(true),
        json!([]),
        json!({}),
        json!([[]]),
        json!([[[1]]]),
        json!({ "a": {} }),
        json!({ "": "" }),
        json!({ "a\nb": 1, "🦀": 2 }),
        json!(-1),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!({ "name": "x", "links": "*" }),
        json!(["*", { "tag": "*" }]),
    ];
    tape.pick(&all).clone()
}

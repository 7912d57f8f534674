//! Any scenario, spelled in any way and with any files: it is read or refused, in
//! time, in single lines, and never with a panic. `PROPTEST_CASES` asks for more cases.

mod files;
mod grammar;
mod pieces;
mod tape;
mod texts;
mod verdict;

use std::sync::LazyLock;

use floodway_scenario::{Scenario, ScenarioErrors, Source, workload};
use proptest::prelude::*;
use serde_json::Value;

use grammar::Grammar;
use tape::{Tape, numbers};
use verdict::{NAME, judge, run, source};

/// Cases of `make test-long` of the properties that only read, unless `PROPTEST_CASES` says more.
const READ: u32 = 1_500;
/// The same of the property that runs.
const RUN: u32 = 150;

struct Ready {
    texts: Vec<String>,
    documents: Vec<Value>,
    grammar: Grammar,
}

static READY: LazyLock<Ready> = LazyLock::new(|| {
    let texts = texts::ready();
    let documents = texts::documents(&texts);
    let grammar = Grammar::new(&documents);
    Ready { texts, documents, grammar }
});

/// So many cases where `FLOODWAY_LONG` is set (`make test-long`), a quarter of them elsewhere.
fn cases(of_long: u32) -> ProptestConfig {
    let usual = if std::env::var_os("FLOODWAY_LONG").is_some() { of_long } else { of_long / 4 };
    let more = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = more.map_or(usual, |more: u32| more.max(usual));
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2_000, ..ProptestConfig::default() }
}

fn from_text(text: &str, sets: &[(String, String)]) -> Result<Scenario, ScenarioErrors> {
    Scenario::from_source(Source { text, sets, ..source() })
}

fn from_json(value: &Value) -> Result<Scenario, ScenarioErrors> {
    Scenario::from_json(Source { text: &value.to_string(), ..source() })
}

/// What `make` makes of at most `most` choices.
fn made<T: std::fmt::Debug>(most: usize, make: impl Fn(&mut Tape<'_>) -> T) -> impl Strategy<Value = T> {
    numbers(most).prop_map(move |numbers| make(&mut Tape::new(&numbers)))
}

/// A ready document with other values and keys.
fn like(tape: &mut Tape<'_>) -> Value {
    READY.grammar.like(tape.pick::<Value>(&READY.documents), tape)
}

/// A ready text, and what is set in it.
fn set(tape: &mut Tape<'_>) -> (usize, Vec<(String, String)>) {
    let which = tape.below(READY.texts.len());
    let mut set = || {
        let path = READY.grammar.path(&READY.documents[which], tape);
        let value =
            if tape.once_in(3) { pieces::junk(tape).to_string() } else { texts::value(tape).to_owned() };
        (path, value)
    };
    (which, vec![set(), set()])
}

/// The first part of a text, and the rest.
fn halves(text: &str, cut: prop::sample::Index) -> (&str, &str) {
    let at = (0..=cut.index(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.split_at(at)
}

fn write(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(path, text).expect("the folder of temporary files can be written");
}

proptest! {
    #![proptest_config(cases(READ))]

    #[test]
    fn documents_made_from_the_schema_are_read_or_refused(document in made(200, |tape| READY.grammar.document(tape))) {
        judge(|| from_json(&document))?;
        if let Ok(text) = toml::to_string(&document) {
            judge(|| from_text(&text, &[]))?;
        }
    }

    #[test]
    fn ready_documents_with_other_values_and_keys_are_read_or_refused(document in made(400, like)) {
        judge(|| from_json(&document))?;
    }

    #[test]
    fn texts_with_pieces_changed_are_read_or_refused(
        text in made(20, |tape| texts::changed(tape.pick::<String>(&READY.texts), tape))
    ) {
        judge(|| from_text(&text, &[]))?;
    }

    #[test]
    fn values_set_at_any_path_are_read_or_refused((which, sets) in made(60, set), count in 1..=2_usize) {
        judge(|| from_text(&READY.texts[which], &sets[..count]))?;
    }

    #[test]
    fn keys_replaced_and_malformed_json_are_read_or_refused(
        keys in made(150, |tape| READY.grammar.keys(tape).to_string()),
        cut in any::<prop::sample::Index>(),
    ) {
        let scenario = from_text(&READY.texts[0], &[]).expect("a ready text is right");
        judge(|| scenario.replaced(&keys, &[], None))?;
        let (first, rest) = halves(&keys, cut);
        judge(|| scenario.replaced(first, &[], None))?;
        judge(|| Scenario::from_json(Source { text: rest, ..source() }))?;
    }

    #[test]
    fn lists_of_flows_are_read_or_refused(list in made(80, files::flows)) {
        write("fuzz-flows.csv", &list);
        judge(|| from_text(&format!("{DUMBBELL}flow-list.file = \"fuzz-flows.csv\"\n"), &[]))?;
        if let Err((line, why)) = workload::csv::parse(&list) {
            prop_assert!(line >= 1 && !why.is_empty());
        }
    }

    #[test]
    fn distributions_of_sizes_are_read_or_refused(sizes in made(60, files::sizes)) {
        write("fuzz-sizes.cdf", &sizes);
        let poisson = "until = \"1ms\"\npoisson = { load = 0.5, sizes = { file = \"fuzz-sizes.cdf\" } }\n";
        judge(|| from_text(&format!("{DUMBBELL}{poisson}"), &[]))?;
    }
}

/// Two hosts left, two right, and the head of a workload.
const DUMBBELL: &str = "topology.dumbbell = { left = 2, right = 2, rate = \"100G\", delay = \"1us\" }\n\
                        [[workload]]\nname = \"w\"\n";

proptest! {
    #![proptest_config(cases(RUN))]

    #[test]
    fn what_is_accepted_runs_to_its_end_and_loses_no_byte(document in made(300, like)) {
        if let Some(scenario) = judge(|| from_json(&document))? {
            run(&scenario)?;
        }
    }
}

/// Enough of the cases are accepted for the properties to say something of accepted ones.
#[test]
fn many_documents_are_accepted() {
    let mut rng = floodway_units::stream(1, 0, "fuzz");
    let accepted = (0..200).filter(|_| {
        let numbers: Vec<u32> = (0..400).map(|_| rng.next_u64() as u32).collect();
        from_json(&like(&mut Tape::new(&numbers))).is_ok()
    });
    let accepted = accepted.count();
    assert!(accepted >= 50, "{accepted}");
}

#[test]
fn ready_texts_are_right() {
    assert!(READY.texts.len() >= 5);
    for text in &READY.texts {
        let scenario = judge(|| from_text(text, &[])).expect("it is judged");
        assert!(scenario.is_some(), "{NAME}: {:?}\n{text}", from_text(text, &[]).err());
    }
}

#[test]
fn values_deep_inside_each_other_are_refused() {
    let keys = "a.".repeat(79) + "b";
    let nested =
        |open: &str, close: &str, n: usize| format!("topology = {}1{}\n", open.repeat(n), close.repeat(n));
    let texts = [
        nested("[", "]", 70),
        nested("[", "]", 100_000),
        nested("{ a = ", " }", 70),
        nested("{ a = ", " }", 100_000),
        nested(&format!("{{ {keys} = "), " }", 79),
        format!("{keys} = 1\n"),
        format!("{} = 1\n", "a.".repeat(100_000) + "b"),
        format!("[{}]\n", "a.".repeat(100_000) + "b"),
        "[[a]]\n".repeat(10_000),
    ];
    for text in texts {
        let refused = judge(|| from_text(&text, &[])).expect("it is judged").is_none();
        assert!(refused, "{}", &text[..100]);
        let json =
            text.replace('=', ":").replace(" a ", " \"a\" ").replace("topology ", "{ \"topology\" ") + "}";
        judge(|| Scenario::from_json(Source { text: &json, ..source() })).expect("it is judged");
        let set = [("topology".to_owned(), text[11.min(text.len())..].to_owned())];
        judge(|| from_text(&READY.texts[0], &set)).expect("it is judged");
    }
    let path = "a.".repeat(100_000) + "b";
    let set = [(format!("topology.{path}"), "1".to_owned())];
    assert!(judge(|| from_text(&READY.texts[0], &set)).expect("it is judged").is_none());
}

#[test]
fn long_texts_are_read_in_time() {
    let flows = "{ from = \"h1\", to = \"h3\", size = \"1KB\" },\n".repeat(20_000);
    let many = format!("{DUMBBELL}flows = [\n{flows}]\n");
    assert!(judge(|| from_text(&many, &[])).expect("it is judged").is_some());
    let long = "x".repeat(1 << 20);
    for text in [
        many.replacen("h3", &long, 1),
        many.replacen("left", &long, 1),
        many.replacen("\"100G\"", &format!("\"{}G\"", "1".repeat(1 << 20)), 1),
        format!("{many}until = \"1ms\"\nburst = {{ to = \"{long}\", size = \"1KB\" }}\n")
            .replacen("flows", "tags", 0),
    ] {
        assert!(judge(|| from_text(&text, &[])).expect("it is judged").is_none());
    }
}

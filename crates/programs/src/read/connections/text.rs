//! The text of a connection matrix: its lines, one by one.

use std::collections::{BTreeMap, BTreeSet};

use floodway_units::cast::{self, narrow};
use floodway_units::{Bytes, Span};

use super::super::{ReadError, hint};

/// Nodes of a matrix.
const MOST_NODES: u64 = 1 << 20;
/// Words of a connection.
const WORDS: [&str; 8] =
    ["id", "start", "trigger", "size", "send_done_trigger", "recv_done_trigger", "prio", "addon"];
/// The word of the number of nodes.
const NODES: &str = "Nodes";
/// First words of lines.
const LINES: [&str; 5] = [NODES, "Connections", "Triggers", "Failures", "trigger"];

/// A matrix as it is written.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    pub nodes: u32,
    pub connections: Vec<Connection>,
    pub triggers: BTreeMap<u64, Trigger>,
    /// What is not used, and how often it is there.
    pub unused: BTreeMap<&'static str, u64>,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub line: usize,
    pub from: u32,
    pub to: u32,
    pub id: Option<u64>,
    pub start: Start,
    pub bytes: Bytes,
    pub send_done: Option<u64>,
    pub recv_done: Option<u64>,
}

impl Connection {
    pub fn name(&self) -> String {
        let id = self.id.map_or(String::new(), |id| format!(" id {id}"));
        format!("{}->{}{id}", self.from, self.to)
    }

    /// htsim's size 0.
    pub fn is_endless(&self) -> bool {
        self.bytes == Bytes::ZERO
    }
}

/// When a connection starts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    At(Span),
    Trigger(u64),
}

/// A trigger.
#[derive(Debug)]
pub(super) struct Trigger {
    pub line: usize,
    pub kind: TriggerKind,
}

/// What a trigger does.
#[derive(Clone, Copy, Debug)]
pub(super) enum TriggerKind {
    OneShot,
    MultiShot,
    Barrier(u64),
}

/// The words of a line.
struct Line<'a> {
    file: &'a str,
    number: usize,
    words: std::str::SplitWhitespace<'a>,
}

impl Line<'_> {
    fn error(&self, why: impl Into<String>) -> ReadError {
        ReadError::at_line(self.file, self.number, why)
    }

    /// The number behind a word.
    fn number(&mut self, word: &str, (from, to): (u64, u64)) -> Result<u64, ReadError> {
        let given = self.words.next().unwrap_or_default();
        let number = given.parse().ok().filter(|number| (from..=to).contains(number));
        number.ok_or_else(|| self.error(format!("{word} {given:?} is no number from {from} to {to}")))
    }

    fn unknown(&self, word: &str, allowed: &[&str]) -> ReadError {
        let hint = hint(word, allowed.iter().copied());
        self.error(format!("{word:?} is unknown; allowed: {}{hint}", allowed.join(", ")))
    }

    fn end(&mut self) -> Result<(), ReadError> {
        match self.words.next() {
            Some(word) => Err(self.error(format!("{word:?} after the end of the line's content"))),
            None => Ok(()),
        }
    }
}

/// The numbers at the top, by their words, with their lines.
#[derive(Default)]
struct Head(BTreeMap<&'static str, (u64, usize)>);

impl Head {
    fn get(&self, word: &str) -> Option<u64> {
        self.0.get(word).map(|(number, _)| *number)
    }

    /// Takes the number of a line; each word has one.
    fn set(&mut self, word: &'static str, line: &mut Line<'_>, allowed: (u64, u64)) -> Result<(), ReadError> {
        let number = line.number(word, allowed)?;
        match self.0.insert(word, (number, line.number)) {
            Some((_, earlier)) => {
                Err(line.error(format!("{word:?} is there twice, first in line {earlier}")))
            }
            None => Ok(()),
        }
    }
}

/// Reads the text.
///
/// # Errors
/// The first line that does not fit the format of a matrix.
pub(super) fn read(text: &str, file: &str) -> Result<Matrix, ReadError> {
    let (mut matrix, mut head, mut ids) = (Matrix::default(), Head::default(), BTreeSet::new());
    let mut failures = 0;
    for (number, content) in (1..).zip(text.lines()) {
        let mut line = Line { file, number, words: content.split_whitespace() };
        let Some(word) = line.words.next().filter(|word| !word.starts_with('#')) else { continue };
        match word {
            NODES => head.set(NODES, &mut line, (1, MOST_NODES))?,
            "Connections" => head.set("Connections", &mut line, (0, u64::MAX))?,
            "Triggers" => head.set("Triggers", &mut line, (0, u64::MAX))?,
            "Failures" => head.set("Failures", &mut line, (0, u64::MAX))?,
            "failure" => {
                failures += 1;
                *matrix
                    .unused
                    .entry("\"failure\", a link that fails (write faults.down of an [[override]] instead),")
                    .or_default() += 1;
                continue;
            }
            "trigger" => {
                let (id, trigger) = trigger(&mut line)?;
                if matrix.triggers.insert(id, trigger).is_some() {
                    return Err(line.error(format!("trigger {id} is there already")));
                }
            }
            _ if word.contains("->") => {
                let Some(nodes) = head.get(NODES) else {
                    return Err(line.error("a connection before the line \"Nodes\""));
                };
                let connection = connection(&mut line, word, nodes, &mut matrix.unused)?;
                if let Some(id) = connection.id.filter(|&id| !ids.insert(id)) {
                    return Err(line.error(format!("id {id} is that of an earlier connection")));
                }
                matrix.connections.push(connection);
            }
            _ => return Err(line.unknown(word, &LINES)),
        }
        line.end()?;
    }
    let last = text.lines().count().max(1);
    let Some(nodes) = head.get(NODES) else {
        return Err(ReadError::at_line(
            file,
            last,
            "the line \"Nodes\", with the number of nodes, is missing",
        ));
    };
    matrix.nodes = narrow(nodes);
    let found = [
        ("Connections", matrix.connections.len()),
        ("Triggers", matrix.triggers.len()),
        ("Failures", failures),
    ];
    for (word, found) in found {
        let stated = head.get(word).unwrap_or_default();
        if stated != found as u64 {
            let why = format!("{word} is {stated} at the top, and there are {found}");
            return Err(ReadError::at_line(file, last, why));
        }
    }
    Ok(matrix)
}

fn connection(
    line: &mut Line<'_>,
    ends: &str,
    nodes: u64,
    unused: &mut BTreeMap<&'static str, u64>,
) -> Result<Connection, ReadError> {
    let node = |text: &str| text.parse().ok().filter(|&node: &u32| u64::from(node) < nodes);
    let pair = ends.split_once("->").and_then(|(from, to)| Some((node(from)?, node(to)?)));
    let Some((from, to)) = pair else {
        let why = format!("{ends:?} is not FROM->TO, two nodes from 0 to {}", nodes - 1);
        return Err(line.error(why));
    };
    if from == to {
        return Err(line.error(format!("{ends:?} goes from a node to itself")));
    }
    let any = (1, u64::MAX);
    let (mut id, mut start, mut bytes, mut send_done, mut recv_done) = (None, None, None, None, None);
    let (mut priority, mut addon) = (None, None);
    while let Some(word) = line.words.next() {
        let twice = match word {
            "id" => id.replace(line.number(word, any)?).is_some(),
            "start" => start.replace(Start::At(time(line)?)).is_some(),
            "trigger" => start.replace(Start::Trigger(line.number(word, any)?)).is_some(),
            "size" => bytes.replace(size(line)?).is_some(),
            "send_done_trigger" => send_done.replace(line.number(word, any)?).is_some(),
            "recv_done_trigger" => recv_done.replace(line.number(word, any)?).is_some(),
            "prio" => {
                *unused.entry("\"prio\"").or_default() += 1;
                priority.replace(line.number(word, (0, u64::MAX))?).is_some()
            }
            "addon" => {
                *unused.entry("\"addon\"").or_default() += 1;
                addon.replace(()).is_some()
            }
            _ => return Err(line.unknown(word, &WORDS)),
        };
        if twice {
            return Err(line.error(match word {
                "start" | "trigger" => "a connection has one \"start\" or one \"trigger\"".to_owned(),
                _ => format!("{word:?} is there twice"),
            }));
        }
    }
    let Some(start) = start else {
        return Err(line.error("the connection has no \"start\" and no \"trigger\""));
    };
    let Some(bytes) = bytes else { return Err(line.error("the connection has no \"size\"")) };
    Ok(Connection { line: line.number, from, to, id, start, bytes, send_done, recv_done })
}

/// The payload of a connection; 0 is one without end.
fn size(line: &mut Line<'_>) -> Result<Bytes, ReadError> {
    line.number("size", (0, (1 << 50) - 1)).map(Bytes)
}

/// A time in picoseconds, with or without a fraction.
fn time(line: &mut Line<'_>) -> Result<Span, ReadError> {
    let given = line.words.next().unwrap_or_default();
    let whole = given.parse::<u64>().ok();
    let ps = || given.parse::<f64>().ok().filter(|ps| (0.0..u64::MAX as f64).contains(ps));
    let time = whole.or_else(|| ps().map(|ps| cast::whole(ps.round())));
    time.map(Span)
        .ok_or_else(|| line.error(format!("start {given:?} is not a time in picoseconds below 2^64")))
}

fn trigger(line: &mut Line<'_>) -> Result<(u64, Trigger), ReadError> {
    let (mut id, mut kind, mut count) = (None, None, None);
    while let Some(word) = line.words.next() {
        let twice = match word {
            "id" => id.replace(line.number(word, (1, u64::MAX))?).is_some(),
            "count" => count.replace(line.number(word, (1, u64::MAX))?).is_some(),
            "oneshot" | "multishot" | "barrier" if kind.is_none() => kind.replace(word).is_some(),
            "oneshot" | "multishot" | "barrier" => {
                return Err(line.error("a trigger is one of oneshot, multishot and barrier"));
            }
            _ => return Err(line.unknown(word, &["id", "oneshot", "multishot", "barrier", "count"])),
        };
        if twice {
            return Err(line.error(format!("{word:?} is there twice")));
        }
    }
    let Some(id) = id else { return Err(line.error("the trigger has no \"id\"")) };
    let kind = match (kind, count) {
        (Some("barrier"), Some(count)) => TriggerKind::Barrier(count),
        (Some("barrier"), None) => return Err(line.error("a barrier has a \"count\"")),
        (Some(_), Some(_)) => return Err(line.error("\"count\" belongs to a barrier")),
        (Some("oneshot"), None) => TriggerKind::OneShot,
        (Some(_), None) => TriggerKind::MultiShot,
        (None, _) => return Err(line.error("the trigger is none of oneshot, multishot and barrier")),
    };
    Ok((id, Trigger { line: line.number, kind }))
}

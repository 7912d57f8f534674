//! GOAL, the schedules of `LogGOPSim` and ATLAHS, as text and in binary form.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: send 1024b to 1 tag 7 cpu 0 nic 0
//! l2: calc 500                               nanoseconds
//! l2 requires l1
//! }
//! rank 1 {
//! l1: recv 1024b from 0 tag 7                -1: from any rank, with any tag
//! }
//! ```
//! A comment begins with `//`, or is between `/*` and `*/`.
//!
//! A send is complete when it is issued, as eager messages are. A send and a computation occupy their CPU,
//! which each rank has of its own, from start to end; a receive occupies none. A second operation of a label
//! is executed, but the label stays with the first one. Messages of a NIC leave one after another. Sizes of
//! sends and receives are not compared.
//!
//! The threshold for rendezvous (`S`) of these simulators has no counterpart: in both of its versions a
//! larger message travels as a smaller one does, and only what waits for the send waits until a receive is
//! matched.

mod binary;

pub use binary::goal_binary;

use std::borrow::Cow;
use std::collections::BTreeMap;

use floodway_units::cast::narrow;
use floodway_units::{Bytes, Span};

use super::{Imported, ReadError, hint};
use crate::{Graph, Kind, Message, Operation, Order, Program, Rank, SendCompletes};

/// Ranks of a schedule.
const MOST_RANKS: u64 = 1 << 20;
/// Numbers of CPUs and NICs.
const MOST_UNITS: u64 = 1 << 16;

/// Reads a schedule; `file` names it in errors.
///
/// # Errors
/// The first line that is no GOAL, with what is allowed there.
pub fn goal(text: &str, file: &str) -> Result<Imported, ReadError> {
    let mut reader = Reader { file, tokens: tokens(text), at: 0 };
    reader.word("num_ranks")?;
    let ranks = reader.number("the number of ranks", 1..=MOST_RANKS)?;
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    let mut graphs = Vec::new();
    for rank in 0..ranks {
        graphs.push(reader.rank(rank, ranks, &mut names)?);
    }
    if let Some(token) = reader.next() {
        return Err(reader.error(&token, format!("{:?} after the last of {ranks} ranks", token.text)));
    }
    let mut ordered: Vec<(String, u32)> = names.into_iter().collect();
    ordered.sort_by_key(|(_, number)| *number);
    Ok(imported(graphs, ordered.into_iter().map(|(name, _)| name).collect()))
}

/// The program of graphs with peers, one a rank; `names` count from 1.
fn imported(graphs: Vec<(Graph, Vec<u32>)>, names: Vec<String>) -> Imported {
    let mut program = Program {
        iterations: 1,
        send_completes: SendCompletes::Issued,
        order: Order::FirstReady,
        in_turn: true,
        names: vec![String::new()],
        ..Program::default()
    };
    program.names.extend(names);
    for (number, (graph, peers)) in (0..).zip(graphs) {
        program.graphs.push(graph);
        program.ranks.push(Rank { graph: number, peers: peers.into(), groups: Box::default() });
    }
    let sends = program.graphs.iter().flat_map(|graph| &graph.operations);
    let others = sends.filter(|of| matches!(of.kind, Kind::Send { channel, .. } if channel > 0)).count();
    let note =
        format!("{others} sends name a nic other than 0: all nics of a rank share its host's NIC here");
    Imported { program, notes: Vec::from_iter((others > 0).then_some(note)), within: 1 }
}

/// A word, a number or a sign, and its line.
#[derive(Clone, Debug)]
struct Token {
    text: String,
    line: usize,
}

/// The tokens of a text without its comments.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut commented = false;
    for (line, text) in (1..).zip(text.lines()) {
        let text = without_comments(text, &mut commented);
        let mut word = String::new();
        let end = |word: &mut String, tokens: &mut Vec<Token>| {
            if !word.is_empty() {
                tokens.push(Token { text: std::mem::take(word), line });
            }
        };
        for c in text.chars() {
            if c.is_whitespace() {
                end(&mut word, &mut tokens);
            } else if matches!(c, '{' | '}' | ':') {
                end(&mut word, &mut tokens);
                tokens.push(Token { text: c.to_string(), line });
            } else {
                word.push(c);
            }
        }
        end(&mut word, &mut tokens);
    }
    tokens
}

/// What of a line is no comment; `commented` is whether a comment goes on from line to line.
fn without_comments<'a>(mut line: &'a str, commented: &mut bool) -> Cow<'a, str> {
    if !*commented && !line.contains('/') {
        return Cow::Borrowed(line);
    }
    let mut rest = String::new();
    loop {
        if *commented {
            let Some((_, behind)) = line.split_once("*/") else { return Cow::Owned(rest) };
            (line, *commented) = (behind, false);
            rest.push(' ');
        }
        match (line.find("//"), line.find("/*")) {
            (Some(at), block) if block.is_none_or(|block| at < block) => {
                rest.push_str(&line[..at]);
                return Cow::Owned(rest);
            }
            (_, Some(at)) => {
                rest.push_str(&line[..at]);
                (line, *commented) = (&line[at + 2..], true);
            }
            _ => {
                rest.push_str(line);
                return Cow::Owned(rest);
            }
        }
    }
}

struct Reader<'a> {
    file: &'a str,
    tokens: Vec<Token>,
    at: usize,
}

/// The operations of a rank so far.
#[derive(Default)]
struct Schedule {
    operations: Vec<Operation>,
    labels: BTreeMap<String, u32>,
    peers: Vec<u32>,
    slots: BTreeMap<u32, u32>,
}

impl Schedule {
    /// The place of a peer among those of the rank.
    fn slot(&mut self, peer: u32) -> u32 {
        *self.slots.entry(peer).or_insert_with(|| {
            self.peers.push(peer);
            narrow::<u32>(self.peers.len()) - 1
        })
    }
}

impl Reader<'_> {
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn peek(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text.as_str())
    }

    fn error(&self, token: &Token, why: impl Into<String>) -> ReadError {
        ReadError::at_line(self.file, token.line, why)
    }

    /// The next token, which must be there.
    fn some(&mut self, what: &str) -> Result<Token, ReadError> {
        let line = self.tokens.last().map_or(1, |token| token.line);
        let end = Token { text: String::new(), line };
        self.next().ok_or_else(|| self.error(&end, format!("the file ends where {what} is expected")))
    }

    fn word(&mut self, word: &str) -> Result<Token, ReadError> {
        let token = self.some(&format!("{word:?}"))?;
        if token.text == word {
            return Ok(token);
        }
        let hint = hint(&token.text, [word]);
        Err(self.error(&token, format!("{:?} where {word:?} is expected{hint}", token.text)))
    }

    fn number(&mut self, what: &str, allowed: std::ops::RangeInclusive<u64>) -> Result<u64, ReadError> {
        let token = self.some(what)?;
        match token.text.parse() {
            Ok(number) if allowed.contains(&number) => Ok(number),
            _ => {
                let (from, to) = (allowed.start(), allowed.end());
                let why = format!("{:?} where {what}, from {from} to {to}, is expected", token.text);
                Err(self.error(&token, why))
            }
        }
    }

    /// A number, or none for -1.
    fn optional(
        &mut self,
        what: &str,
        allowed: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, ReadError> {
        if self.peek(0) == "-1" {
            self.at += 1;
            return Ok(None);
        }
        self.number(what, allowed).map(Some)
    }

    fn bytes(&mut self) -> Result<Bytes, ReadError> {
        let token = self.some("a size like 1024b")?;
        let size = token.text.strip_suffix('b').and_then(|number| number.parse::<u64>().ok());
        match size {
            Some(size) if size < 1 << 50 => Ok(Bytes(size)),
            _ => Err(self.error(&token, format!("{:?} where a size like 1024b is expected", token.text))),
        }
    }

    fn rank(
        &mut self,
        rank: u64,
        ranks: u64,
        names: &mut BTreeMap<String, u32>,
    ) -> Result<(Graph, Vec<u32>), ReadError> {
        self.word("rank")?;
        let token = self.some("the number of a rank")?;
        if token.text != rank.to_string() {
            let why = format!("rank {:?} where rank {rank} of {ranks} is expected", token.text);
            return Err(self.error(&token, why));
        }
        self.word("{")?;
        let mut schedule = Schedule::default();
        while self.peek(0) != "}" {
            let token = self.some("an operation or \"}\"")?;
            if matches!(self.peek(0), "requires" | "irequires") {
                self.dependency(&mut schedule, &token)?;
            } else {
                self.at -= 1;
                self.operation(&mut schedule, (rank, ranks), names)?;
            }
        }
        let end = self.word("}")?;
        if schedule.operations.len() as u64 > u64::from(Message::OPERATIONS) {
            let why = format!("rank {rank} has more than {} operations", Message::OPERATIONS);
            return Err(self.error(&end, why));
        }
        Ok((Graph::new(schedule.operations), schedule.peers))
    }

    /// `a requires b`, of which `label` is a.
    fn dependency(&mut self, schedule: &mut Schedule, label: &Token) -> Result<(), ReadError> {
        let kind = self.some("\"requires\"")?;
        let before = self.some("a label")?;
        let mut places = [0, 0];
        for (place, token) in places.iter_mut().zip([label, &before]) {
            let Some(&known) = schedule.labels.get(&token.text) else {
                let hint = hint(&token.text, schedule.labels.keys().map(String::as_str));
                let why = format!("no operation above has the label {:?}{hint}", token.text);
                return Err(self.error(token, why));
            };
            *place = known;
        }
        let operation = &mut schedule.operations[places[0] as usize];
        let list =
            if kind.text == "requires" { &mut operation.requires } else { &mut operation.requires_start };
        list.push(places[1]);
        Ok(())
    }

    fn operation(
        &mut self,
        schedule: &mut Schedule,
        (rank, ranks): (u64, u64),
        names: &mut BTreeMap<String, u32>,
    ) -> Result<(), ReadError> {
        let mut name = 0;
        if self.peek(1) == ":" {
            let label = self.some("a label")?.text;
            self.at += 1;
            schedule.labels.entry(label.clone()).or_insert(narrow(schedule.operations.len()));
            let next = narrow::<u32>(names.len()) + 1;
            name = *names.entry(label).or_insert(next);
        }
        let token = self.some("an operation")?;
        let (mut unit, mut kind) = (None, None);
        match token.text.as_str() {
            "calc" => {
                let ns = self.number("a time in nanoseconds", 0..=u64::MAX / 1_000_000)?;
                kind = Some(Kind::Compute { time: Span::ns(ns) });
            }
            "send" => {
                let bytes = self.bytes()?;
                self.word("to")?;
                let peer = self.peer(rank, ranks)?;
                let Some(tag) = self.tag()? else {
                    return Err(self.error(&token, "a send has a tag from 0; -1 is for receives"));
                };
                let peer = schedule.slot(peer);
                kind = Some(Kind::Send { peer, bytes, tag, channel: 0 });
            }
            "recv" => {
                self.bytes()?;
                self.word("from")?;
                let from = if self.peek(0) == "-1" { self.any() } else { Some(self.peer(rank, ranks)?) };
                let peer = from.map(|from| schedule.slot(from));
                kind = Some(Kind::Recv { peer, tag: self.tag()? });
            }
            _ => {}
        }
        let Some(mut kind) = kind else {
            // A label may be followed by a word that is nearly one of these.
            let slip = Some(self.peek(0)).filter(|_| schedule.labels.contains_key(&token.text));
            let (given, allowed) = match slip {
                Some(word) => (word, &["requires", "irequires"][..]),
                None => (token.text.as_str(), &["send", "recv", "calc"][..]),
            };
            let hint = hint(given, allowed.iter().copied());
            let why = format!(
                "{given:?} is no operation; allowed: send, recv, calc, or a label with requires or \
                 irequires{hint}"
            );
            return Err(self.error(&token, why));
        };
        let cpu = self.after("cpu", MOST_UNITS)?.unwrap_or_default();
        if !matches!(kind, Kind::Recv { .. }) {
            unit = Some(narrow(cpu));
        }
        if !matches!(kind, Kind::Compute { .. }) {
            let nic = self.after("nic", MOST_UNITS)?.unwrap_or_default();
            if let Kind::Send { channel, .. } = &mut kind {
                *channel = narrow(nic);
            }
        }
        let (requires, requires_start) = (Vec::new(), Vec::new());
        schedule.operations.push(Operation { kind, requires, requires_start, unit, name });
        Ok(())
    }

    fn any(&mut self) -> Option<u32> {
        self.at += 1;
        None
    }

    fn peer(&mut self, rank: u64, ranks: u64) -> Result<u32, ReadError> {
        let token = self.tokens.get(self.at).cloned();
        let peer = self.number("a rank", 0..=ranks - 1)?;
        match token {
            Some(token) if peer == rank => Err(self.error(&token, "a rank has no messages to itself")),
            _ => Ok(narrow(peer)),
        }
    }

    /// A tag, 0 by default; none for -1, which only a receive has.
    fn tag(&mut self) -> Result<Option<u64>, ReadError> {
        if self.peek(0) != "tag" {
            return Ok(Some(0));
        }
        self.at += 1;
        self.optional("a tag", 0..=u64::from(u32::MAX))
    }

    /// The number after a word, if that comes next.
    fn after(&mut self, word: &str, most: u64) -> Result<Option<u64>, ReadError> {
        if self.peek(0) != word {
            return Ok(None);
        }
        self.at += 1;
        self.number(&format!("the number of a {word}"), 0..=most - 1).map(Some)
    }
}

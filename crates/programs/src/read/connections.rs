//! Connection matrices of htsim (`.cm`), as text.
//!
//! ```text
//! Nodes 4
//! Connections 3
//! Triggers 1
//! 0->1 id 1 start 0 size 100000 recv_done_trigger 1         start: picoseconds
//! 1->2 id 2 trigger 1 size 100000
//! 2->3 start 5000000 size 4096
//! trigger id 1 oneshot                                      or multishot, or barrier count 2
//! ```
//! A node is a rank, and a connection a message on a queue pair of its own. It starts at a time, which
//! htsim's reader takes as picoseconds (`connection_matrix.cpp` of Broadcom/csg-htsim), or by a trigger: a
//! `oneshot` starts all of its connections when the one connection that activates it is done, a `barrier`
//! when `count` of them are, and each activation of a `multishot` starts the next of its connections.
//!
//! In htsim a trigger acts at once at any node. Here a rank learns of others by messages alone:
//!
//! | activated by | starts a connection | here |
//! |---|---|---|
//! | a send that is done at a node, a receive that is done there | of the same node | at once |
//! | a send that is done at another node | of that send's receiver | when all has arrived there: before the acknowledgement is back |
//! | anything else | of another node | when a message of a byte from there has arrived |
//!
//! The i-th connection of a multishot starts after the i-th one in the file that activates it, in htsim after
//! the i-th that is done.

mod text;

use std::collections::BTreeMap;

use floodway_units::cast::narrow;
use floodway_units::text::counted;
use floodway_units::{Bytes, Span};

use self::text::{Connection, Matrix, Start, Trigger, TriggerKind};
use super::{Imported, ReadError};
use crate::{Graph, Kind, Message, Operation, Program, Rank};

/// Payload of a message that tells a rank of a trigger.
const NOTIFICATION: Bytes = Bytes(1);

/// Reads a connection matrix; `file` names it in errors.
///
/// # Errors
/// The first line that is no connection matrix, or a connection that can never start.
pub fn connections(text: &str, file: &str) -> Result<Imported, ReadError> {
    let matrix = text::read(text, file)?;
    if let Some(connection) = matrix.connections.iter().find(|connection| connection.is_endless()) {
        let why = "size 0 is a connection without end, and a job ends: `floodway import htsim` writes such a matrix as \
                   flows, with size = \"unbounded\", or give a size from 1";
        return Err(ReadError::at_line(file, connection.line, why));
    }
    let mut builder = Builder::new(&matrix, file);
    builder.add_connections();
    builder.add_triggers()?;
    let (program, mut notes) = builder.program()?;
    notes.extend(
        matrix.unused.iter().map(|(what, count)| format!("{what} is not used ({})", counted(*count, "time"))),
    );
    Ok(Imported { program, notes, within: 1 })
}

/// A connection of a matrix of which some have no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endless {
    /// The nodes at its ends.
    pub ends: (u32, u32),
    /// When it starts.
    pub start: Span,
    /// Its payload; none without end.
    pub bytes: Option<Bytes>,
}

/// A matrix that has connections without end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndlessMatrix {
    /// The number of nodes.
    pub nodes: u32,
    /// All connections, in the order of the file.
    pub connections: Vec<Endless>,
    /// What is not used of the file.
    pub notes: Vec<String>,
}

/// The nodes and connections of a matrix that has connections without end (`size 0`), and what is not used of
/// it; none if it has none. They are flows: a job would never end.
///
/// # Errors
/// The first line that is no connection matrix, or a trigger, which acts when a connection ends.
pub fn endless(text: &str, file: &str) -> Result<Option<EndlessMatrix>, ReadError> {
    let matrix = text::read(text, file)?;
    let Some(first) = matrix.connections.iter().find(|connection| connection.is_endless()) else {
        return Ok(None);
    };
    let of = |connection: &Connection| match connection.start {
        Start::At(start) if connection.send_done.is_none() && connection.recv_done.is_none() => Ok(Endless {
            ends: (connection.from, connection.to),
            start,
            bytes: Some(connection.bytes).filter(|_| !connection.is_endless()),
        }),
        _ => {
            let why = format!(
                "it has a trigger, in a matrix with a connection without end (size 0) in line {}: such a matrix is read \
                 as flows, which have none; give that connection a size from 1",
                first.line
            );
            Err(ReadError::at_line(file, connection.line, why))
        }
    };
    let connections = matrix.connections.iter().map(of).collect::<Result<_, _>>()?;
    let notes =
        matrix.unused.iter().map(|(what, count)| format!("{what} is not used ({})", counted(*count, "time")));
    Ok(Some(EndlessMatrix { nodes: matrix.nodes, connections, notes: notes.collect() }))
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug)]
struct At {
    rank: u32,
    operation: u32,
}

/// A rank's operations so far, and its peers.
#[derive(Default)]
struct OfRank {
    operations: Vec<Operation>,
    peers: Vec<u32>,
    slots: BTreeMap<u32, u32>,
}

impl OfRank {
    fn slot(&mut self, peer: u32) -> u32 {
        *self.slots.entry(peer).or_insert_with(|| {
            self.peers.push(peer);
            narrow::<u32>(self.peers.len()) - 1
        })
    }
}

struct Builder<'a> {
    file: &'a str,
    matrix: &'a Matrix,
    ranks: Vec<OfRank>,
    names: Vec<String>,
    /// By connection: where it is sent, and where it arrives.
    sends: Vec<At>,
    receives: Vec<At>,
    /// By pair: queue pairs so far.
    channels: BTreeMap<(u32, u32), u32>,
    /// By trigger, connection of a multishot, and pair: where a notification arrives.
    notified: BTreeMap<(u64, usize, u32, u32), At>,
    /// Tags so far.
    tags: u64,
    /// Connections that start when a message has arrived, not when its acknowledgement has.
    early: u64,
    /// Connections of multishots beyond the first.
    in_file_order: u64,
}

impl<'a> Builder<'a> {
    fn new(matrix: &'a Matrix, file: &'a str) -> Self {
        Builder {
            file,
            matrix,
            ranks: (0..matrix.nodes).map(|_| OfRank::default()).collect(),
            names: vec![String::new()],
            sends: Vec::new(),
            receives: Vec::new(),
            channels: BTreeMap::new(),
            notified: BTreeMap::new(),
            tags: 0,
            early: 0,
            in_file_order: 0,
        }
    }

    fn add(&mut self, rank: u32, kind: Kind, requires: Vec<u32>, name: u32) -> At {
        let operations = &mut self.ranks[rank as usize].operations;
        operations.push(Operation { kind, requires, requires_start: Vec::new(), unit: None, name });
        At { rank, operation: narrow::<u32>(operations.len()) - 1 }
    }

    /// A message on a queue pair of its own: its send and its receive.
    fn message(&mut self, (from, to): (u32, u32), bytes: Bytes, requires: Vec<u32>, name: u32) -> (At, At) {
        let tag = self.tags;
        self.tags += 1;
        let next = self.channels.entry((from, to)).or_default();
        let channel = *next;
        *next += 1;
        let peer = self.ranks[from as usize].slot(to);
        let send = self.add(from, Kind::Send { peer, bytes, tag, channel }, requires, name);
        let peer = self.ranks[to as usize].slot(from);
        let receive = self.add(to, Kind::Recv { peer: Some(peer), tag: Some(tag) }, Vec::new(), name);
        (send, receive)
    }

    fn name(&mut self, name: String) -> u32 {
        self.names.push(name);
        narrow::<u32>(self.names.len()) - 1
    }

    fn add_connections(&mut self) {
        for connection in &self.matrix.connections {
            let name = self.name(connection.name());
            let mut requires = Vec::new();
            if let Start::At(time) = connection.start
                && time > Span::ZERO
            {
                let wait = self.name("start".to_owned());
                requires.push(self.add(connection.from, Kind::Compute { time }, Vec::new(), wait).operation);
            }
            let pair = (connection.from, connection.to);
            let (send, receive) = self.message(pair, connection.bytes, requires, name);
            self.sends.push(send);
            self.receives.push(receive);
        }
    }

    /// By trigger: the connections that activate it, and whether at their receivers, as the file lists them.
    fn activations(&self) -> Result<BTreeMap<u64, Vec<(usize, bool)>>, ReadError> {
        let mut of: BTreeMap<u64, Vec<(usize, bool)>> = BTreeMap::new();
        for (index, connection) in self.matrix.connections.iter().enumerate() {
            let named = [(connection.send_done, false), (connection.recv_done, true)];
            for (id, at_receiver) in named.into_iter().filter_map(|(id, at)| Some((id?, at))) {
                self.trigger(connection, id)?;
                of.entry(id).or_default().push((index, at_receiver));
            }
        }
        Ok(of)
    }

    fn trigger(&self, connection: &Connection, id: u64) -> Result<&Trigger, ReadError> {
        self.matrix.triggers.get(&id).ok_or_else(|| {
            let why = format!("there is no line \"trigger id {id}\"");
            ReadError::at_line(self.file, connection.line, why)
        })
    }

    fn add_triggers(&mut self) -> Result<(), ReadError> {
        let activations = self.activations()?;
        let mut started: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, connection) in self.matrix.connections.iter().enumerate() {
            if let Start::Trigger(id) = connection.start {
                self.trigger(connection, id)?;
                started.entry(id).or_default().push(index);
            }
        }
        for (&id, trigger) in &self.matrix.triggers {
            let by = activations.get(&id).map_or(&[][..], Vec::as_slice);
            let starts = started.get(&id).map_or(&[][..], Vec::as_slice);
            self.check(id, trigger, by, starts)?;
            for (place, &connection) in starts.iter().enumerate() {
                match trigger.kind {
                    TriggerKind::OneShot | TriggerKind::Barrier(_) => self.wait((id, 0), connection, by),
                    TriggerKind::MultiShot => {
                        self.in_file_order += u64::from(place > 0);
                        self.wait((id, place), connection, &by[place..=place]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Is a trigger activated as often as its connections need it?
    fn check(
        &self,
        id: u64,
        trigger: &Trigger,
        by: &[(usize, bool)],
        starts: &[usize],
    ) -> Result<(), ReadError> {
        let (by, starts) = (by.len(), starts.len());
        let why = match trigger.kind {
            TriggerKind::OneShot if by > 1 => {
                format!("trigger {id} is oneshot, and is activated {by} times; allowed is once")
            }
            TriggerKind::Barrier(count) if by as u64 > count || (starts > 0 && (by as u64) < count) => {
                format!("trigger {id} is a barrier of count {count}, and is activated {by} times")
            }
            TriggerKind::OneShot if by == 0 && starts > 0 => {
                format!("trigger {id} starts {starts} connections, and no connection activates it")
            }
            TriggerKind::MultiShot if starts > by => {
                format!("trigger {id} starts {starts} connections, and is activated {by} times")
            }
            _ => return Ok(()),
        };
        Err(ReadError::at_line(self.file, trigger.line, why))
    }

    /// A connection waits for all of these.
    fn wait(&mut self, trigger: (u64, usize), connection: usize, by: &[(usize, bool)]) {
        let send = self.sends[connection];
        let mut elsewhere: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &(activator, at_receiver) in by {
            let (sent, received) = (self.sends[activator], self.receives[activator]);
            let done = if at_receiver { received } else { sent };
            if done.rank == send.rank {
                self.require(send, done.operation);
            } else if received.rank == send.rank {
                self.early += 1;
                self.require(send, received.operation);
            } else {
                elsewhere.entry(done.rank).or_default().push(done.operation);
            }
        }
        for (from, operations) in elsewhere {
            let key = (trigger.0, trigger.1, from, send.rank);
            let arrival = if let Some(&known) = self.notified.get(&key) {
                known
            } else {
                let name = self.name(format!("trigger {}", trigger.0));
                let (_, arrival) = self.message((from, send.rank), NOTIFICATION, operations, name);
                self.notified.insert(key, arrival);
                arrival
            };
            self.require(send, arrival.operation);
        }
    }

    fn require(&mut self, at: At, before: u32) {
        self.ranks[at.rank as usize].operations[at.operation as usize].requires.push(before);
    }

    fn program(self) -> Result<(Program, Vec<String>), ReadError> {
        let notes = self.notes();
        let mut program = Program { iterations: 1, names: self.names, ..Program::default() };
        for (graph, of_rank) in (0..).zip(self.ranks) {
            if of_rank.operations.len() as u64 > u64::from(Message::OPERATIONS) {
                let why = format!("node {graph} has more than {} operations", Message::OPERATIONS);
                return Err(ReadError::at_line(self.file, 1, why));
            }
            program.graphs.push(Graph::new(of_rank.operations));
            program.ranks.push(Rank { graph, peers: of_rank.peers.into(), groups: Box::default() });
        }
        Ok((program, notes))
    }

    fn notes(&self) -> Vec<String> {
        let notifications = self.notified.len();
        let notes = [
            (
                notifications as u64,
                format!(
                    "triggers act at once at any node in htsim: here messages of a byte carry them from node to \
                     node ({notifications} of them)"
                ),
            ),
            (
                self.early,
                format!(
                    "after a send to their node, connections start when it has arrived there ({}); in htsim, when its \
                     sender has the acknowledgement",
                    counted(self.early, "connection")
                ),
            ),
            (
                self.in_file_order,
                format!(
                    "connections of multishot triggers start after the one that activates them by its place in the \
                     file ({}); in htsim, by the order in which those are done",
                    counted(self.in_file_order, "connection")
                ),
            ),
        ];
        notes.into_iter().filter(|(count, _)| *count > 0).map(|(_, note)| note).collect()
    }
}

//! GOAL, the schedules of `LogGOPSim` and ATLAHS, as text: rank by rank.
//!
//! | of a program | becomes |
//! |---|---|
//! | send, recv, compute | `send`, `recv`, `calc` |
//! | unit | `cpu` of sends and computations; operations without one get CPUs on which they wait for no other |
//! | collective | its sends and receives, step by step, each with a tag of its own; a reduction is a `calc` |
//! | iterations | one after another, each behind a `calc 0` that requires all of the one before |
//!
//! GOAL's semantics are those of a run with `send-completes = "issued"` whose ranks send one message at a
//! time; where a program has others, a note says so.

mod collectives;
mod cpus;

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;

use floodway_units::cast::narrow;
use floodway_units::text::counted;
use floodway_units::{Bytes, Span};

use super::WriteError;
use crate::program::{Kind, Order, Program, SendCompletes};
use crate::{Graph, Operation};
use collectives::Plans;
use cpus::Cpus;

/// Tags of GOAL are below this.
const MOST_TAGS: u64 = 1 << 32;
/// CPUs of a rank.
const MOST_CPUS: u32 = 1 << 16;

/// Writes a program; returns what GOAL cannot express of it.
///
/// # Errors
/// The program cannot be written as GOAL at all, or its text not be written.
pub fn goal(program: &Program, out: impl Write) -> Result<Vec<String>, WriteError> {
    let mut writer = Writer::new(program, out)?;
    writeln!(writer.out, "num_ranks {}", program.ranks.len())?;
    for rank in 0..narrow::<u32>(program.ranks.len()) {
        writer.rank(rank)?;
    }
    writer.out.flush()?;
    Ok(writer.notes())
}

struct Writer<'a, W> {
    program: &'a Program,
    out: W,
    plans: Plans<'a>,
    /// By sender, receiver and tag: the sizes of messages, for the receives that take them.
    sizes: BTreeMap<(u32, u32, u64), VecDeque<Bytes>>,
    /// Tags of an iteration.
    span: u64,
    /// Computations that are no whole nanoseconds.
    rounded: u64,
}

/// A rank in the course of being written.
pub(super) struct OfRank {
    pub rank: u32,
    pub iteration: u32,
    cpus: Cpus,
    /// Labels so far.
    labels: u32,
    /// What operations of a later iteration begin after.
    begin: Option<u32>,
}

/// The labels of an operation's first and last line.
#[derive(Clone, Copy, Debug)]
struct Labels {
    start: u32,
    end: u32,
}

impl<'a, W: Write> Writer<'a, W> {
    fn new(program: &'a Program, out: W) -> Result<Self, WriteError> {
        let (plans, span) = Plans::new(program);
        let repeats = program.iterations > 1;
        if (repeats || plans.has_collectives()) && has_open_receives(program) {
            let why = "a receive from any rank, or of any tag, cannot be told from collectives or later \
                       iterations in GOAL";
            return Err(WriteError::Inexpressible(why.into()));
        }
        let tags = span.saturating_mul(u64::from(program.iterations.max(1)));
        if tags > MOST_TAGS {
            let why = format!("its messages need {tags} tags; GOAL has {MOST_TAGS}");
            return Err(WriteError::Inexpressible(why));
        }
        let mut sizes: BTreeMap<(u32, u32, u64), VecDeque<Bytes>> = BTreeMap::new();
        for (from, rank) in (0..).zip(&program.ranks) {
            for operation in &program.graph_of(from).operations {
                if let Kind::Send { peer, bytes, tag, .. } = operation.kind {
                    sizes.entry((from, rank.peers[peer as usize], tag)).or_default().push_back(bytes);
                }
            }
        }
        Ok(Writer { program, out, plans, sizes, span, rounded: 0 })
    }

    fn rank(&mut self, rank: u32) -> Result<(), WriteError> {
        let graph = self.program.graph_of(rank);
        let mut of = OfRank { rank, iteration: 0, cpus: Cpus::new(graph), labels: 0, begin: None };
        writeln!(self.out, "rank {rank} {{")?;
        for iteration in 0..self.program.iterations.max(1) {
            of.iteration = iteration;
            self.iteration(graph, &mut of)?;
        }
        if of.cpus.count() > MOST_CPUS {
            let why =
                format!("rank {rank} computes so much at once that it needs more than {MOST_CPUS} CPUs");
            return Err(WriteError::Inexpressible(why));
        }
        writeln!(self.out, "}}")?;
        Ok(())
    }

    fn iteration(&mut self, graph: &Graph, of: &mut OfRank) -> Result<(), WriteError> {
        let mut labels: Vec<Labels> = Vec::with_capacity(graph.operations.len());
        // Operations may require later ones, which have no label yet.
        let mut pending = Vec::new();
        of.cpus.begin(graph.operations.len());
        for (index, operation) in (0..).zip(&graph.operations) {
            let written = self.operation(index, operation, of)?;
            labels.push(written);
            let both = [("requires", &operation.requires), ("irequires", &operation.requires_start)];
            for (word, before) in
                both.into_iter().flat_map(|(word, list)| list.iter().map(move |at| (word, *at)))
            {
                match labels.get(before as usize) {
                    Some(&known) => self.dependency(written.start, word, known)?,
                    None => pending.push((written.start, word, before)),
                }
            }
            let waits = !operation.requires.is_empty() || !operation.requires_start.is_empty();
            if let Some(begin) = of.begin.filter(|_| !waits) {
                self.require(written.start, begin)?;
            }
        }
        for (label, word, before) in pending {
            self.dependency(label, word, labels[before as usize])?;
        }
        if of.iteration + 1 < self.program.iterations {
            let barrier = self.node(of)?;
            for (labels, followers) in labels.iter().zip(&graph.followers) {
                if followers.of_end.is_empty() {
                    self.require(barrier, labels.end)?;
                }
            }
            of.begin = Some(barrier);
        }
        Ok(())
    }

    fn dependency(&mut self, label: u32, word: &str, before: Labels) -> Result<(), WriteError> {
        let before = if word == "requires" { before.end } else { before.start };
        Ok(writeln!(self.out, "l{label} {word} l{before}")?)
    }

    fn require(&mut self, label: u32, before: u32) -> Result<(), WriteError> {
        Ok(writeln!(self.out, "l{label} requires l{before}")?)
    }

    fn operation(
        &mut self,
        index: u32,
        operation: &Operation,
        of: &mut OfRank,
    ) -> Result<Labels, WriteError> {
        let peer_of = |peer: u32| self.program.ranks[of.rank as usize].peers[peer as usize];
        let label = match operation.kind {
            Kind::Send { peer, bytes, tag, channel } => {
                let cpu = of.cpus.of_send(index, operation);
                let nic = if self.program.in_turn { channel } else { 0 };
                self.send(of, (bytes, peer_of(peer), tag), (cpu, nic))?
            }
            Kind::Recv { peer, tag } => {
                of.cpus.pass(index, operation);
                let from = peer.map(peer_of);
                let size = from.zip(tag).and_then(|(from, tag)| {
                    let sizes = self.sizes.get_mut(&(from, of.rank, tag))?;
                    let size = sizes.pop_front()?;
                    // The same messages come in each iteration.
                    sizes.push_back(size);
                    Some(size)
                });
                self.recv(of, (size.unwrap_or(Bytes(1)), from, tag))?
            }
            Kind::Compute { time } => {
                let cpu = of.cpus.of_compute(index, operation, time);
                self.calc(of, time, cpu)?
            }
            Kind::Collective { plan, group, sequence } => {
                of.cpus.pass(index, operation);
                return self.collective(of, (plan, group, sequence));
            }
        };
        Ok(Labels { start: label, end: label })
    }

    fn send(
        &mut self,
        of: &mut OfRank,
        (bytes, to, tag): (Bytes, u32, u64),
        (cpu, nic): (u32, u32),
    ) -> Result<u32, WriteError> {
        let (label, tag) = (of.label(), self.tag(of, tag));
        write!(self.out, "l{label}: send {}b to {to} tag {tag}", bytes.0)?;
        self.unit("cpu", cpu)?;
        self.unit("nic", nic)?;
        writeln!(self.out)?;
        Ok(label)
    }

    fn recv(
        &mut self,
        of: &mut OfRank,
        (bytes, from, tag): (Bytes, Option<u32>, Option<u64>),
    ) -> Result<u32, WriteError> {
        let label = of.label();
        let from = from.map_or("-1".to_owned(), |from| from.to_string());
        let tag = tag.map_or("-1".to_owned(), |tag| self.tag(of, tag).to_string());
        writeln!(self.out, "l{label}: recv {}b from {from} tag {tag}", bytes.0)?;
        Ok(label)
    }

    fn calc(&mut self, of: &mut OfRank, time: Span, cpu: u32) -> Result<u32, WriteError> {
        let label = of.label();
        self.rounded += u64::from(!time.0.is_multiple_of(1000));
        let ns = time.0 / 1000 + u64::from(time.0 % 1000 >= 500);
        write!(self.out, "l{label}: calc {ns}")?;
        self.unit("cpu", cpu)?;
        writeln!(self.out)?;
        Ok(label)
    }

    /// A calc of no time, at which others meet.
    fn node(&mut self, of: &mut OfRank) -> Result<u32, WriteError> {
        let cpu = of.cpus.instant();
        self.calc(of, Span::ZERO, cpu)
    }

    fn unit(&mut self, word: &str, number: u32) -> Result<(), WriteError> {
        if number > 0 {
            write!(self.out, " {word} {number}")?;
        }
        Ok(())
    }

    /// The tag of a message in the current iteration.
    fn tag(&self, of: &OfRank, tag: u64) -> u64 {
        if self.program.iterations > 1 { u64::from(of.iteration) * self.span + tag } else { tag }
    }

    fn notes(&self) -> Vec<String> {
        let program = self.program;
        let operations = || program.graphs.iter().flat_map(|graph| &graph.operations);
        let mut notes = Vec::new();
        if program.send_completes != SendCompletes::Issued {
            notes.push(
                "in GOAL a send is complete when it is issued: what waits for the end of sends here does not wait \
                 there (compare with send-completes = \"issued\")"
                    .to_owned(),
            );
        }
        let ranks = 0..narrow::<u32>(program.ranks.len());
        let several = || ranks.clone().any(|rank| program.receivers_of(rank).len() > 1);
        if !program.in_turn && (self.plans.has_slices() || several()) {
            notes.push(
                "in GOAL the messages of a rank leave one after another: those that are posted together share the \
                 NIC here, each on its queue pair"
                    .to_owned(),
            );
        }
        if self.rounded > 0 {
            let count = self.rounded;
            let computations = counted(count, "computation");
            notes.push(format!("times of computations are rounded to whole nanoseconds ({computations})"));
        }
        let grouped =
            operations().filter(|of| of.unit.is_some() && matches!(of.kind, Kind::Collective { .. }));
        let grouped = grouped.count();
        if grouped > 0 {
            notes.push(format!(
                "collectives with a unit occupy it here, one at a time ({}); in GOAL they may overlap",
                counted(grouped, "collective")
            ));
        }
        if program.order == Order::Listed && operations().any(|of| of.unit.is_some()) {
            notes.push(
                "a free unit takes the first operation in the list here; in GOAL the one that was ready first"
                    .to_owned(),
            );
        }
        notes
    }
}

impl OfRank {
    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels - 1
    }
}

fn has_open_receives(program: &Program) -> bool {
    let mut kinds = program.graphs.iter().flat_map(|graph| &graph.operations).map(|of| of.kind);
    kinds.any(|kind| matches!(kind, Kind::Recv { peer, tag } if peer.is_none() || tag.is_none()))
}

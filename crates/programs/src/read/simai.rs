//! Workloads of `SimAI`, as AICB writes them: text, a row for each layer of a stage's micro-batches.
//!
//! ```text
//! HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8
//!     checkpoints: 0 checkpoint_initiates: 0                                    (one line)
//! 1
//! mlp -1 4000 ALLREDUCE 1048576 4000 ALLREDUCE 1048576 4000 ALLREDUCE 524288 100
//! ```
//! A row has a name, a dependency, and three times a computation (ns), a collective and its bytes: forward,
//! input gradient, weight gradient; last the time of the update. A rank executes what `SimAI` does
//! (`Workload.cc`): all rows forward, each with its computation and then its collective; then, from the last
//! row to the first, the input gradient, its collective, and the weight gradient, whose collective runs
//! beside all that follows, and behind it the update. The iteration ends when all of it has. Collectives of
//! weight gradients over the same ranks follow one another.
//!
//! | collective | of forward and input gradient | of weight gradient |
//! |---|---|---|
//! | without a suffix | tensor-parallel ranks | data-parallel ranks, all of them |
//! | `_EP` | ranks over which experts are spread | the same |
//! | `_DP_EP` | data-parallel ranks with the same experts | the same |
//!
//! Ranks are laid out tensor first, then expert, data, pipeline. Bytes are the whole buffer, as nccl-tests
//! count it.
//!
//! The rows are those of each stage. Where the header has `pp_comm`, a stage receives so many bytes from the
//! stage before it when a micro-batch begins, and sends them on when it ends; backwards likewise. `SimAI`'s
//! packet simulator leaves these messages out. Micro-batches are the `ga` repetitions of the rows.

mod text;

use std::collections::BTreeMap;

use floodway_units::cast::narrow;
use floodway_units::text::counted;
use floodway_units::{Bytes, Span};

use self::text::{Cell, Group, Header, Row, Workload};
use super::{Imported, Options, ReadError, Replaced};
use crate::collective::Request;
use crate::{Graph, Kind, Message, Operation, Program, Rank};

/// Slots of a rank's peers.
const BEFORE: u32 = 0;
const BEHIND: u32 = 1;

/// Reads a workload; `file` names it in errors.
///
/// # Errors
/// The first line that does not fit the format of a workload, or what of it cannot be.
pub fn simai(text: &str, file: &str, options: &Options) -> Result<Imported, ReadError> {
    let workload = text::read(text, file)?;
    let header = &workload.header;
    let mut program = Program { iterations: 1, ..Program::default() };
    let mut counts = Counts::default();
    let batches = Batches::of(&workload);
    // Stages differ in their neighbours alone.
    let piped = header.pipeline > 1 && header.activations > 0;
    let stages = if piped { header.pipeline } else { 1 };
    let kinds: Vec<u32> = (0..stages).filter(|&stage| stage < 2 || stage + 1 == stages).collect();
    for &stage in &kinds {
        counts = Counts::default();
        let neighbours = (piped && stage > 0, piped && stage + 1 < stages);
        let mut builder = Stage::new((file, options, &workload), neighbours, &mut program, &mut counts);
        builder.execute(&batches)?;
        let graph = builder.graph()?;
        program.graphs.push(graph);
    }
    add_ranks(header, &mut program, |stage| match stage {
        _ if !piped => 0,
        _ if stage + 1 == stages => narrow::<u32>(kinds.len()) - 1,
        _ => stage.min(1),
    });
    let within = if uses_tensor(&workload) { header.tensor } else { 1 };
    Ok(Imported { program, notes: notes(&workload, &batches, &counts), within })
}

/// Do tensor-parallel ranks exchange anything?
fn uses_tensor(workload: &Workload) -> bool {
    let cells = workload.rows.iter().flat_map(|row| [&row.forward, &row.input, &row.weight]);
    cells.filter(|cell| cell.bytes > 0).any(|cell| matches!(cell.collective, Some((_, Group::Tensor))))
}

/// Ranks, and the groups that they are in, by slot: tensor, data, expert, data with the same experts.
fn add_ranks(header: &Header, program: &mut Program, graph: impl Fn(u32) -> u32) {
    let Header { tensor, pipeline, data, expert, .. } = *header;
    let of_stage = tensor * data;
    let rank = |stage: u32, d: u32, t: u32| stage * of_stage + d * tensor + t;
    let replicas = data / expert;
    let groups = &mut program.groups;
    for stage in 0..pipeline {
        groups.extend((0..data).map(|d| (0..tensor).map(|t| rank(stage, d, t)).collect()));
        groups.extend((0..tensor).map(|t| (0..data).map(|d| rank(stage, d, t)).collect()));
        let experts = (0..replicas).flat_map(|replica| (0..tensor).map(move |t| (replica, t)));
        groups.extend(
            experts.map(|(replica, t)| {
                (0..expert).map(|place| rank(stage, replica * expert + place, t)).collect()
            }),
        );
        let same = (0..expert).flat_map(|place| (0..tensor).map(move |t| (place, t)));
        groups.extend(same.map(|(place, t)| {
            (0..replicas).map(|replica| rank(stage, replica * expert + place, t)).collect()
        }));
    }
    let per_stage = data + tensor + replicas * tensor + expert * tensor;
    for number in 0..pipeline * of_stage {
        let (stage, within) = (number / of_stage, number % of_stage);
        let (d, t) = (within / tensor, within % tensor);
        let first = stage * per_stage;
        let of_experts = first + data + tensor;
        let of_same = of_experts + replicas * tensor;
        let groups = [
            (first + d, t),
            (first + data + t, d),
            (of_experts + d / expert * tensor + t, d % expert),
            (of_same + d % expert * tensor + t, d / expert),
        ];
        let before = if stage > 0 { number - of_stage } else { number };
        let behind = if stage + 1 < pipeline { number + of_stage } else { number };
        program.ranks.push(Rank {
            graph: graph(stage),
            peers: Box::new([before, behind]),
            groups: Box::new(groups),
        });
    }
}

/// The rows of each micro-batch: they follow one another, and other rows are before and behind them.
struct Batches {
    first: usize,
    rows: usize,
    count: usize,
    /// Do the rows repeat as the header says?
    repeats: bool,
}

impl Batches {
    fn of(workload: &Workload) -> Self {
        let (rows, count) = (&workload.rows, workload.header.micro_batches as usize);
        let whole = Batches { first: 0, rows: rows.len(), count: 1, repeats: count == 1 };
        if count == 1 {
            return whole;
        }
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate() {
            places.entry(&row.name).or_default().push(at);
        }
        let repeated = places.values().filter(|places| {
            places.len() == count && {
                let rows = places[1] - places[0];
                places.windows(2).all(|two| two[1] - two[0] == rows)
            }
        });
        match repeated.min_by_key(|places| places[0]) {
            Some(places) if places[0] + (places[1] - places[0]) * count <= rows.len() => {
                Batches { first: places[0], rows: places[1] - places[0], count, repeats: true }
            }
            _ => whole,
        }
    }

    fn range(&self, batch: usize) -> std::ops::Range<usize> {
        let first = self.first + batch * self.rows;
        first..first + self.rows
    }

    fn end(&self) -> usize {
        self.range(self.count - 1).end
    }
}

/// What the reader changes, counted.
#[derive(Default)]
struct Counts {
    replaced: Replaced,
    /// Collectives of one rank.
    alone: u64,
    /// Collectives of fewer bytes than ranks.
    small: u64,
}

/// The graph of a stage in the making.
struct Stage<'a> {
    file: &'a str,
    options: &'a Options,
    workload: &'a Workload,
    /// Are there stages before and behind it, which exchange messages with it?
    neighbours: (bool, bool),
    program: &'a mut Program,
    counts: &'a mut Counts,
    /// Names of the program, by their text.
    names: BTreeMap<String, u32>,
    operations: Vec<Operation>,
    /// The last operation of the chain of computations.
    last: Option<u32>,
    /// By slot of a group: collectives so far, and the last one of a weight gradient.
    sequences: [u32; 4],
    gradients: [Option<u32>; 4],
}

impl<'a> Stage<'a> {
    fn new(
        (file, options, workload): (&'a str, &'a Options, &'a Workload),
        neighbours: (bool, bool),
        program: &'a mut Program,
        counts: &'a mut Counts,
    ) -> Self {
        let names = program.names.iter().cloned().zip(0..).collect();
        Stage {
            file,
            options,
            workload,
            neighbours,
            program,
            counts,
            names,
            operations: Vec::new(),
            last: None,
            sequences: [0; 4],
            gradients: [None; 4],
        }
    }

    fn execute(&mut self, batches: &Batches) -> Result<(), ReadError> {
        let rows = &self.workload.rows;
        let ((before, behind), tag) = (self.neighbours, |batch: usize| 2 * batch as u64);
        rows[..batches.first].iter().try_for_each(|row| self.forward(row))?;
        for batch in 0..batches.count {
            self.receive(before, BEFORE, tag(batch));
            rows[batches.range(batch)].iter().try_for_each(|row| self.forward(row))?;
            self.send(behind, BEHIND, tag(batch));
        }
        rows[batches.end()..].iter().try_for_each(|row| self.forward(row))?;
        rows[batches.end()..].iter().rev().try_for_each(|row| self.backward(row))?;
        for batch in (0..batches.count).rev() {
            self.receive(behind, BEHIND, tag(batch) + 1);
            rows[batches.range(batch)].iter().rev().try_for_each(|row| self.backward(row))?;
            self.send(before, BEFORE, tag(batch) + 1);
        }
        rows[..batches.first].iter().rev().try_for_each(|row| self.backward(row))
    }

    fn graph(self) -> Result<Graph, ReadError> {
        if self.operations.len() as u64 > u64::from(Message::OPERATIONS) {
            let why = format!("a rank has more than {} operations", Message::OPERATIONS);
            return Err(ReadError::at_line(self.file, 2, why));
        }
        Ok(Graph::new(self.operations))
    }

    fn forward(&mut self, row: &Row) -> Result<(), ReadError> {
        self.blocking(row, "forward", &row.forward)
    }

    fn backward(&mut self, row: &Row) -> Result<(), ReadError> {
        self.blocking(row, "input gradient", &row.input)?;
        let name = format!("{} weight gradient", row.name);
        self.compute(&name, row.weight.time);
        let slot = row.weight.collective.map(|(_, group)| group as usize);
        let before = self.last.into_iter().chain(slot.and_then(|slot| self.gradients[slot])).collect();
        let Some(collective) = self.collective(row, &name, &row.weight, before)? else { return Ok(()) };
        if let Some(slot) = slot {
            self.gradients[slot] = Some(collective);
        }
        if row.update > Span::ZERO {
            self.add(&format!("{} update", row.name), Kind::Compute { time: row.update }, vec![collective]);
        }
        Ok(())
    }

    /// A computation, and a collective that all that follows waits for.
    fn blocking(&mut self, row: &Row, pass: &str, cell: &Cell) -> Result<(), ReadError> {
        let name = format!("{} {pass}", row.name);
        self.compute(&name, cell.time);
        let before = self.last.into_iter().collect();
        self.last = self.collective(row, &name, cell, before)?.or(self.last);
        Ok(())
    }

    fn compute(&mut self, name: &str, time: Span) {
        if time > Span::ZERO {
            let before = self.last.into_iter().collect();
            self.last = Some(self.add(name, Kind::Compute { time }, before));
        }
    }

    /// The collective of a cell, if it has one of several ranks.
    fn collective(
        &mut self,
        row: &Row,
        name: &str,
        cell: &Cell,
        requires: Vec<u32>,
    ) -> Result<Option<u32>, ReadError> {
        let Some((purpose, group)) = cell.collective.filter(|_| cell.bytes > 0) else { return Ok(None) };
        let ranks = self.workload.header.ranks_of(group);
        if ranks == 1 {
            self.counts.alone += 1;
            return Ok(None);
        }
        self.counts.small += u64::from(cell.bytes < u64::from(ranks));
        let request = Request {
            algorithm: self.counts.replaced.algorithm(self.options.algorithm, purpose),
            channels: self.options.channels.max(1),
            cross_nic: self.options.cross_nic,
            // `AS_PXN_ENABLE` is 0 where it is not set.
            pxn: self.options.pxn.unwrap_or(false),
            ..Request::new(purpose, Bytes(cell.bytes.max(ranks.into())))
        };
        let plan = self.program.plan_for(&request, ranks);
        let plan = plan.map_err(|error| ReadError::at_line(self.file, row.line, error.to_string()))?;
        let sequence = self.sequences[group as usize];
        self.sequences[group as usize] += 1;
        let kind = Kind::Collective { plan, group: group as u32, sequence };
        Ok(Some(self.add(name, kind, requires)))
    }

    fn receive(&mut self, there: bool, peer: u32, tag: u64) {
        if there {
            let kind = Kind::Recv { peer: Some(peer), tag: Some(tag) };
            let receive = self.add("activations", kind, Vec::new());
            let requires = self.last.into_iter().chain([receive]).collect();
            self.last = Some(self.add("wait", Kind::Compute { time: Span::ZERO }, requires));
        }
    }

    fn send(&mut self, there: bool, peer: u32, tag: u64) {
        if there {
            let bytes = Bytes(self.workload.header.activations);
            let requires = self.last.into_iter().collect();
            self.add("activations", Kind::Send { peer, bytes, tag, channel: 0 }, requires);
        }
    }

    /// Adds an operation; its number.
    fn add(&mut self, name: &str, kind: Kind, requires: Vec<u32>) -> u32 {
        let names = &mut self.program.names;
        let name = *self.names.entry(name.to_owned()).or_insert_with(|| {
            names.push(name.to_owned());
            narrow::<u32>(names.len()) - 1
        });
        self.operations.push(Operation { kind, requires, requires_start: Vec::new(), unit: None, name });
        narrow::<u32>(self.operations.len()) - 1
    }
}

fn notes(workload: &Workload, batches: &Batches, counts: &Counts) -> Vec<String> {
    let header = &workload.header;
    let piped = header.pipeline > 1;
    let mut notes: Vec<String> = counts.replaced.notes().collect();
    let mut note = |applies: bool, text: String| notes.extend(applies.then_some(text));
    note(
        counts.alone > 0,
        format!(
            "over a group of one rank, and so without time: {} of a rank",
            counted(counts.alone, "collective")
        ),
    );
    note(
        counts.small > 0,
        format!(
            "of fewer bytes than ranks, and so with a byte for each rank here: {} of a rank",
            counted(counts.small, "collective")
        ),
    );
    note(
        piped && header.activations == 0,
        format!("pp is {}, and there is no pp_comm: the stages exchange no messages", header.pipeline),
    );
    note(!piped && header.activations > 0, "pp_comm is not used: pp is 1".into());
    note(
        piped && header.interleaved > 1,
        "vpp is not used: each stage executes its layers of a micro-batch one after another".into(),
    );
    note(
        piped && header.activations > 0 && !batches.repeats,
        format!(
            "no row is there {} times (ga) at equal distances: all rows are one micro-batch",
            header.micro_batches
        ),
    );
    note(header.checkpoints > 0, "checkpoints are not used: no forward pass is executed again".into());
    let dependent = workload.rows.iter().filter(|row| row.dependency != -1).count();
    note(
        dependent > 0,
        format!("the dependencies of {dependent} rows are not used: rows follow one another"),
    );
    notes
}

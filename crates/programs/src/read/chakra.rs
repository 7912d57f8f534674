//! Execution traces of Chakra (mlcommons/chakra, `et_def.proto`), a file for each rank.
//!
//! A file is a stream of messages, each behind its length as a varint: `GlobalMetadata`, then nodes. Both
//! kinds of dependencies bind. What ASTRA-sim does with a trace holds here: a rank computes one thing at a
//! time and has one send or collective at a time, of those that are ready the one with the lowest id;
//! receives occupy nothing; a send is complete when it has arrived, and matches the receive with its tag,
//! ends and size.
//!
//! | node | becomes |
//! |---|---|
//! | COMP | a computation of `duration_micros`; if that is 0, of `num_ops` at a given rate, or 1 ns without |
//! | `COMM_SEND`, `COMM_RECV` | `comm_size` bytes from `comm_src` to `comm_dst` (of a send and of a receive the rank itself, if missing) |
//! | `COMM_COLL` | a collective; of one rank, or of 0 bytes, no time; BARRIER has a byte a rank |
//! | these with `is_cpu_op` | `duration_micros` on the CPU: the kernel, a node of its own, sends |
//! | `MEM_LOAD`, `MEM_STORE` | `duration_micros`, or a latency and `tensor_size` at a rate, one at a time |
//! | METADATA | nothing, but the process groups of `## process_group:init ##` |
//!
//! `comm_size` of a collective is each rank's input, so that the output of an all-gather is n times that.
//!
//! A collective with `pg_name` is over the ranks that METADATA of the rank have for it, all of which must
//! call it; where there are none, over the ranks whose traces name it. Without it it is over all ranks, or
//! over those that differ in the dimensions of `involved_dim` alone: dimensions have given sizes, and the
//! first one counts ranks fastest, as in ASTRA-sim.

mod communication;
mod groups;
mod nodes;

use std::collections::BTreeMap;

use floodway_units::cast::{narrow, whole};
use floodway_units::text::counted;
use floodway_units::{Bytes, Span};

use self::communication::{available, purpose_of};
use self::groups::Groups;
use self::nodes::{Node, NodeKind, nodes};
use super::{Imported, Options, ReadError, Replaced, hint};
use crate::collective::{Purpose, Request, share};
use crate::{Graph, Kind, Message, Operation, Order, Program, Rank, SendCompletes};

/// The units of a rank.
const GPU: u32 = 0;
const NETWORK: u32 = 1;
const CPU: u32 = 2;
const MEMORY: u32 = 3;

/// Reads traces, in the order of ranks.
///
/// # Errors
/// The first file that is no trace, or does not fit the others, by its node.
pub fn chakra(files: &[(String, Vec<u8>)], options: &Options) -> Result<Imported, ReadError> {
    if files.is_empty() {
        let why = "there is no file; each rank has one".to_owned();
        return Err(ReadError { file: "Chakra's traces".into(), place: "rank 0".into(), why });
    }
    let mut traces = Vec::with_capacity(files.len());
    let mut unused: BTreeMap<String, u64> = BTreeMap::new();
    for (file, bytes) in files {
        traces.push(Trace { file, nodes: nodes(file, bytes, &mut unused)? });
    }
    let mut reader = Reader::new(&traces, options)?;
    for rank in 0..narrow::<u32>(traces.len()) {
        reader.rank(rank)?;
    }
    reader.check_groups()?;
    let mut notes = reader.notes();
    notes.extend(
        unused.into_iter().map(|(name, count)| format!("{name} is not used ({})", counted(count, "node"))),
    );
    Ok(Imported { program: reader.program, notes, within: 1 })
}

/// The trace of a rank.
struct Trace<'a> {
    file: &'a str,
    nodes: Vec<Node>,
}

impl Trace<'_> {
    fn error(&self, node: &Node, why: impl Into<String>) -> ReadError {
        let file = self.file.to_owned();
        ReadError { file, place: format!("node {} ({:?})", node.id, node.name), why: why.into() }
    }
}

struct Reader<'a> {
    traces: &'a [Trace<'a>],
    options: &'a Options,
    program: Program,
    groups: Groups,
    /// Tags of the program, by tag and size of the trace.
    tags: BTreeMap<(i64, u64), u64>,
    names: BTreeMap<String, u32>,
    /// By group: what each of its ranks calls, in order.
    calls: Vec<BTreeMap<u32, Vec<(Purpose, u64)>>>,
    replaced: Replaced,
    counts: Counts,
}

/// What means something else here, counted.
#[derive(Default)]
struct Counts {
    /// Collectives of one rank.
    alone: u64,
    empty: u64,
    barriers: u64,
    /// Collectives of fewer bytes than ranks.
    small: u64,
    /// Communication of the CPU.
    on_cpu: u64,
    /// Sends and collectives.
    sends: u64,
}

impl Counts {
    fn notes(&self) -> impl Iterator<Item = String> {
        let Counts { alone, empty, barriers, small, on_cpu, sends } = *self;
        let on_cpu_note = if sends == 0 {
            ("all communication has is_cpu_op and takes its duration on the CPU", ": nothing is sent")
        } else {
            ("communication with is_cpu_op takes its duration on the CPU, and the kernels send", "")
        };
        let notes = [
            (alone, ("collectives of a group of one rank take no time", "")),
            (empty, ("collectives of 0 bytes take no time, as in NCCL", "")),
            (barriers, ("barriers are all-reduces of the least bytes", "")),
            (small, ("collectives of fewer bytes than ranks have a byte for each rank here", "")),
            (on_cpu, on_cpu_note),
        ];
        let there = notes.into_iter().filter(|(count, _)| *count > 0);
        there.map(|(count, (note, more))| format!("{note} ({}){more}", counted(count, "node")))
    }
}

impl<'a> Reader<'a> {
    fn new(traces: &'a [Trace<'a>], options: &'a Options) -> Result<Self, ReadError> {
        let groups = Groups::of(traces, &options.dims)?;
        let program = Program {
            groups: groups.all.iter().map(|(_, ranks)| ranks.clone()).collect(),
            names: vec![String::new()],
            iterations: 1,
            send_completes: SendCompletes::Received,
            order: Order::Listed,
            ..Program::default()
        };
        let calls = vec![BTreeMap::new(); groups.all.len()];
        let (tags, names) = (BTreeMap::new(), BTreeMap::new());
        let (replaced, counts) = (Replaced::default(), Counts::default());
        Ok(Reader { traces, options, program, groups, tags, names, calls, replaced, counts })
    }

    fn notes(&self) -> Vec<String> {
        self.replaced.notes().chain(self.counts.notes()).chain(self.groups.notes()).collect()
    }

    fn error(&self, rank: u32, node: &Node, why: impl Into<String>) -> ReadError {
        self.traces[rank as usize].error(node, why)
    }

    fn rank(&mut self, rank: u32) -> Result<(), ReadError> {
        let nodes = &self.traces[rank as usize].nodes;
        let mut of_rank = OfRank::default();
        let mut operations: Vec<Operation> = Vec::new();
        // By id of a node: its last operation.
        let mut ends: BTreeMap<u64, u32> = BTreeMap::new();
        let mut firsts = Vec::new();
        for node in nodes {
            let first = operations.len();
            self.operations_of(rank, node, &mut of_rank, &mut operations)?;
            firsts.push(first);
            ends.insert(node.id, narrow::<u32>(operations.len()) - 1);
        }
        for (node, &first) in nodes.iter().zip(&firsts) {
            for before in &node.requires {
                let Some(&end) = ends.get(before) else {
                    return Err(self.error(
                        rank,
                        node,
                        format!("it depends on node {before}, which is not there"),
                    ));
                };
                operations[first].requires.push(end);
            }
        }
        if operations.len() as u64 > u64::from(Message::OPERATIONS) {
            let why = format!("more than {} operations", Message::OPERATIONS);
            return Err(ReadError {
                file: self.traces[rank as usize].file.to_owned(),
                place: format!("rank {rank}"),
                why,
            });
        }
        let graph = narrow::<u32>(self.program.graphs.len());
        self.program.graphs.push(Graph::new(operations));
        self.program.ranks.push(Rank { graph, peers: of_rank.peers.into(), groups: of_rank.groups.into() });
        Ok(())
    }

    /// The operations of a node, at least one.
    fn operations_of(
        &mut self,
        rank: u32,
        node: &Node,
        of_rank: &mut OfRank,
        operations: &mut Vec<Operation>,
    ) -> Result<(), ReadError> {
        let name = self.name(&node.name);
        let mut add = |kind, unit, requires| {
            operations.push(Operation { kind, requires, requires_start: Vec::new(), unit, name });
        };
        match node.kind {
            NodeKind::Nothing => add(Kind::Compute { time: Span::ZERO }, None, Vec::new()),
            NodeKind::Memory => {
                let time = self.memory_time(rank, node)?;
                add(Kind::Compute { time }, Some(MEMORY), Vec::new());
            }
            NodeKind::CpuHalf => {
                self.counts.on_cpu += 1;
                let time = self.duration(rank, node)?;
                add(Kind::Compute { time }, Some(CPU), Vec::new());
            }
            NodeKind::Compute => {
                let time = self.compute_time(rank, node)?;
                add(Kind::Compute { time }, Some(if node.on_cpu { CPU } else { GPU }), Vec::new());
            }
            NodeKind::Send | NodeKind::Recv => {
                let sends = node.kind == NodeKind::Send;
                let peer = self.peer(rank, node, sends)?;
                let tag = self.tag(node);
                let (peer, bytes) = (of_rank.slot(peer), Bytes(node.size.unwrap_or_default()));
                if sends {
                    self.counts.sends += 1;
                    add(Kind::Send { peer, bytes, tag, channel: 0 }, Some(NETWORK), Vec::new());
                } else {
                    add(Kind::Recv { peer: Some(peer), tag: Some(tag) }, None, Vec::new());
                }
            }
            NodeKind::Collective => {
                let (group, purpose) = self.group_of(rank, node)?;
                let ranks = self.groups.all[group as usize].1.len();
                let is_barrier = purpose == Purpose::Barrier;
                let is_empty = node.size == Some(0) && !is_barrier;
                if ranks == 1 || is_empty {
                    *(if ranks == 1 { &mut self.counts.alone } else { &mut self.counts.empty }) += 1;
                    add(Kind::Compute { time: Span::ZERO }, None, Vec::new());
                    return Ok(());
                }
                self.counts.sends += 1;
                let group_slot = of_rank.group(group, &self.groups.all[group as usize].1, rank);
                let splits = if is_barrier { 1 } else { self.options.splits.max(1) };
                for split in 0..splits {
                    let plan = self.plan(rank, node, (group, purpose), (split, splits))?;
                    let sequence = of_rank.next_sequence(group);
                    let before = narrow::<u32>(operations.len()).checked_sub(1).filter(|_| split > 0);
                    let kind = Kind::Collective { plan, group: group_slot, sequence };
                    operations.push(Operation {
                        kind,
                        requires: before.into_iter().collect(),
                        requires_start: Vec::new(),
                        unit: Some(NETWORK),
                        name,
                    });
                }
            }
        }
        Ok(())
    }

    /// Of a load or store: its duration, else latency and size over the rate.
    fn memory_time(&self, rank: u32, node: &Node) -> Result<Span, ReadError> {
        let size = node.tensor_size.filter(|_| node.micros == 0);
        let Some(size) = size else { return self.duration(rank, node) };
        let Some(rate) = self.options.memory_rate else {
            let why = format!(
                "it states tensor_size, {size}, and no duration_micros: give \"memory-rate\", like \"4096G\", and \
                 \"memory-latency\" if there is one"
            );
            return Err(self.error(rank, node, why));
        };
        Ok(Span(rate.time_to_send(Bytes(size)).0.saturating_add(self.options.memory_latency.0)))
    }

    fn compute_time(&self, rank: u32, node: &Node) -> Result<Span, ReadError> {
        match (node.micros, node.num_ops, self.options.flops) {
            (0, Some(ops), Some(flops)) => {
                let ps = ops as f64 / flops * 1e12;
                let fits = ps < u64::MAX as f64;
                fits.then_some(Span(whole(ps))).ok_or_else(|| {
                    let why = format!("its num_ops of {ops} take more than 2^64 ps at {flops} a second");
                    self.error(rank, node, why)
                })
            }
            (0, Some(ops), None) => {
                let why = format!(
                    "it states num_ops, {ops}, and no duration_micros: give \"flops\", the operations a second \
                     of a GPU, like 4e14"
                );
                Err(self.error(rank, node, why))
            }
            (0, None, _) => Ok(Span::ns(1)),
            _ => self.duration(rank, node),
        }
    }

    fn duration(&self, rank: u32, node: &Node) -> Result<Span, ReadError> {
        let time = node.micros.checked_mul(1_000_000).map(Span);
        time.ok_or_else(|| {
            let why = format!("duration_micros is {}, more than 2^64 ps", node.micros);
            self.error(rank, node, why)
        })
    }

    /// The tag of the program for a message: of tag and size, by which traces match messages.
    fn tag(&mut self, node: &Node) -> u64 {
        let (next, size) = (self.tags.len() as u64, node.size.unwrap_or_default());
        *self.tags.entry((node.tag, size)).or_insert_with(|| {
            self.program.tags.push(format!("tag {} and {}", node.tag, Bytes(size)));
            next
        })
    }

    fn name(&mut self, name: &str) -> u32 {
        let next = narrow::<u32>(self.program.names.len());
        *self.names.entry(name.to_owned()).or_insert_with(|| {
            self.program.names.push(name.to_owned());
            next
        })
    }

    /// The other end of a send or receive.
    fn peer(&self, rank: u32, node: &Node, sends: bool) -> Result<u32, ReadError> {
        let ranks = self.traces.len() as u64;
        let (other, own) = if sends { (node.to, node.from) } else { (node.from, node.to) };
        let (other_key, own_key) = if sends { ("comm_dst", "comm_src") } else { ("comm_src", "comm_dst") };
        if own.is_some_and(|own| own != u64::from(rank)) {
            let why = format!("{own_key} is {}, but the trace is of rank {rank}", own.unwrap_or_default());
            return Err(self.error(rank, node, why));
        }
        match other {
            Some(other) if other < ranks && other != u64::from(rank) => Ok(narrow(other)),
            Some(other) => {
                let count = format!("another rank from 0 to {} is expected", ranks - 1);
                let file = self.traces[rank as usize].file;
                let name = file.strip_suffix(&format!("{rank}.et")).filter(|_| other >= ranks);
                let missing = name.map_or(String::new(), |name| {
                    format!(
                        " (there are files of {ranks} ranks, and none of rank {other}, \"{name}{other}.et\")"
                    )
                });
                Err(self.error(rank, node, format!("{other_key} is {other}; {count}{missing}")))
            }
            None => Err(self.error(rank, node, format!("{other_key} is missing"))),
        }
    }

    /// The group of a collective, whose calls it counts, and what it does.
    fn group_of(&mut self, rank: u32, node: &Node) -> Result<(u32, Purpose), ReadError> {
        let Some(number) = node.comm_type else {
            let why = format!("comm_type is missing; one of {} is expected", available());
            return Err(self.error(rank, node, why));
        };
        let purpose = purpose_of(number).map_err(|why| self.error(rank, node, why))?;
        let key = self.groups.key(rank, node).map_err(|why| self.error(rank, node, why))?;
        let group = self.groups.all.iter().position(|(known, _)| *known == key).unwrap_or_default();
        let is_barrier = purpose == Purpose::Barrier;
        let bytes = if is_barrier { 0 } else { node.size.unwrap_or_default() };
        self.calls[group].entry(rank).or_default().push((purpose, bytes));
        self.counts.barriers += u64::from(is_barrier);
        Ok((narrow(group), purpose))
    }

    /// The plan of one of the splits of a collective.
    fn plan(
        &mut self,
        rank: u32,
        node: &Node,
        (group, purpose): (u32, Purpose),
        (split, splits): (u32, u32),
    ) -> Result<u32, ReadError> {
        let ranks = narrow::<u32>(self.groups.all[group as usize].1.len());
        let (begin, end) = share((0, node.size.unwrap_or_default()), split, splits);
        let size = match purpose {
            Purpose::Barrier => 0,
            Purpose::AllGather | Purpose::Gather => (end - begin).saturating_mul(u64::from(ranks)),
            _ => end - begin,
        };
        let request = Request {
            algorithm: self.replaced.algorithm(self.options.algorithm, purpose),
            channels: self.options.channels.max(1),
            cross_nic: self.options.cross_nic,
            pxn: self.options.pxn.unwrap_or(true),
            ..Request::new(purpose, Bytes(size))
        };
        let plan = self.program.plan_for(&request, ranks);
        let has_parts = !matches!(purpose, Purpose::Broadcast | Purpose::Reduce | Purpose::Barrier);
        self.counts.small += u64::from(split == 0 && has_parts && size < u64::from(ranks));
        plan.map_err(|error| self.error(rank, node, error.to_string()))
    }

    /// Do all ranks of each group call the same collectives in the same order?
    fn check_groups(&self) -> Result<(), ReadError> {
        for ((key, ranks), calls) in self.groups.all.iter().zip(&self.calls) {
            let of = |rank: &u32| calls.get(rank).map_or(&[][..], Vec::as_slice);
            let Some(first) = ranks.first() else { continue };
            let Some(other) = ranks.iter().find(|rank| of(rank) != of(first)) else { continue };
            let at = of(first).iter().zip(of(other)).take_while(|(a, b)| a == b).count();
            let call = |rank: &u32| {
                of(rank).get(at).map_or("no more".to_owned(), |(purpose, bytes)| {
                    format!("{} of {bytes} bytes", purpose.name())
                })
            };
            let group = key.shown();
            return Err(ReadError {
                file: self.traces[*other as usize].file.to_owned(),
                place: format!("collective {at} of {group}"),
                why: format!("rank {other} has {}, and rank {first} {}", call(other), call(first)),
            });
        }
        Ok(())
    }
}

/// What a rank's operations refer to.
#[derive(Default)]
struct OfRank {
    peers: Vec<u32>,
    /// Groups and places.
    groups: Vec<(u32, u32)>,
    sequences: BTreeMap<u32, u32>,
}

impl OfRank {
    fn slot(&mut self, peer: u32) -> u32 {
        let known = self.peers.iter().position(|&known| known == peer);
        narrow(known.unwrap_or_else(|| {
            self.peers.push(peer);
            self.peers.len() - 1
        }))
    }

    fn group(&mut self, group: u32, ranks: &[u32], rank: u32) -> u32 {
        let known = self.groups.iter().position(|&(known, _)| known == group);
        narrow(known.unwrap_or_else(|| {
            let place = ranks.iter().position(|&member| member == rank).unwrap_or_default();
            self.groups.push((group, narrow::<u32>(place)));
            self.groups.len() - 1
        }))
    }

    fn next_sequence(&mut self, group: u32) -> u32 {
        let next = self.sequences.entry(group).or_default();
        *next += 1;
        *next - 1
    }
}

//! Rounds: the part of a graph that repeats itself within an iteration, as a pipeline's schedule does with
//! each micro-batch.

use std::collections::BTreeMap;

use floodway_units::cast::narrow;

use crate::program::{Graph, Kind, Operation, Program};

/// Operations of a graph that repeat themselves: each of `count` rounds has those of the one before, with
/// larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The first operation of the first round.
    pub first: u32,
    /// Operations of a round.
    pub stride: u32,
    /// How many rounds there are.
    pub count: u32,
    /// By how much the tags of a round are larger than those of the one before.
    pub tags: u64,
}

impl Rounds {
    /// The operation behind the last round.
    pub fn end(self) -> u32 {
        self.first + self.count * self.stride
    }

    /// The round that an operation is of, from 1; 0 before the first, and the last one behind it.
    pub fn of(self, operation: u32) -> u32 {
        match operation.checked_sub(self.first) {
            Some(behind) => (behind / self.stride + 1).min(self.count),
            None => 0,
        }
    }
}

/// What a round adds to the numbers that an operation holds.
#[derive(Clone, Debug, Default)]
struct Added {
    operations: u32,
    tags: u64,
    /// By slot of a group: collectives.
    sequences: BTreeMap<u32, u32>,
}

impl Added {
    fn of(graph: &[Operation], rounds: Rounds) -> Self {
        let round = rounds.first as usize..(rounds.first + rounds.stride) as usize;
        let mut sequences = BTreeMap::new();
        for operation in &graph[round] {
            if let Kind::Collective { group, .. } = operation.kind {
                *sequences.entry(group).or_default() += 1;
            }
        }
        Added { operations: rounds.stride, tags: rounds.tags, sequences }
    }

    /// An operation as it is so many rounds earlier; what it requires from before `first` stays.
    fn earlier(&self, operation: &Operation, rounds: u32, first: u32) -> Option<Operation> {
        let earlier = |&before: &u32| {
            if before < first { Some(before) } else { before.checked_sub(self.operations * rounds) }
        };
        let tag = |tag: u64| tag.checked_sub(self.tags * u64::from(rounds));
        let kind = match operation.kind {
            Kind::Send { peer, bytes, tag: of, channel } => {
                Kind::Send { peer, bytes, tag: tag(of)?, channel }
            }
            Kind::Recv { peer, tag: Some(of) } => Kind::Recv { peer, tag: Some(tag(of)?) },
            Kind::Collective { plan, group, sequence } => {
                let of_round = self.sequences.get(&group).copied().unwrap_or_default();
                Kind::Collective { plan, group, sequence: sequence.checked_sub(of_round * rounds)? }
            }
            kind @ (Kind::Recv { tag: None, .. } | Kind::Compute { .. }) => kind,
        };
        Some(Operation {
            kind,
            requires: operation.requires.iter().map(earlier).collect::<Option<_>>()?,
            requires_start: operation.requires_start.iter().map(earlier).collect::<Option<_>>()?,
            ..*operation
        })
    }
}

impl Graph {
    /// Says that operations repeat themselves in `rounds`, as far as they do: the first one may wait for
    /// others, and those from the first that differs on are none.
    pub(crate) fn with_rounds(mut self, rounds: Rounds) -> Self {
        if rounds.stride == 0 || rounds.count < 3 {
            return self;
        }
        let rounds = Rounds { first: rounds.first + rounds.stride, count: rounds.count - 1, ..rounds };
        let added = Added::of(&self.operations, rounds);
        let repeats = |&round: &u32| {
            let from = rounds.first + round * rounds.stride;
            (from..from + rounds.stride).all(|at| {
                let earlier = added.earlier(&self.operations[at as usize], 1, 0);
                earlier.as_ref() == self.operations.get((at - rounds.stride) as usize)
            })
        };
        let count = 1 + narrow::<u32>((1..rounds.count).take_while(repeats).count());
        self.rounds = Some(Rounds { count, ..rounds });
        self
    }

    /// The graph without so many of its rounds; none if it has not as many, or what is behind them cannot do
    /// without.
    fn without_rounds(&self, count: u32) -> Option<Graph> {
        let rounds = self.rounds.filter(|rounds| count < rounds.count)?;
        let added = Added::of(&self.operations, rounds);
        let (kept, behind) = self.operations.split_at(rounds.end() as usize);
        let kept = &kept[..kept.len() - (count * rounds.stride) as usize];
        let mut operations = kept.to_vec();
        for operation in behind {
            operations.push(added.earlier(operation, count, rounds.first)?);
        }
        let rounds = Rounds { count: rounds.count - count, ..rounds };
        Some(Graph { rounds: Some(rounds), ..Graph::new(operations) })
    }
}

impl Program {
    /// The program without so many rounds at every rank; none if a graph has not as many.
    pub fn without_rounds(&self, count: u32) -> Option<Program> {
        let graphs = self.graphs.iter().map(|graph| graph.without_rounds(count)).collect::<Option<_>>()?;
        Some(Program { graphs, ..self.clone() })
    }

    /// The rounds of a rank's graph, if they are known.
    pub fn rounds_of(&self, rank: u32) -> Option<Rounds> {
        self.graph_of(rank).rounds
    }

    /// The fewest rounds that a rank has.
    pub fn rounds(&self) -> u32 {
        let counts = self.graphs.iter().map(|graph| graph.rounds.map_or(0, |rounds| rounds.count));
        counts.min().unwrap_or_default()
    }
}

/// A program, and the shorter one of an iteration of which rounds are skipped.
#[derive(Clone, Copy, Debug)]
pub struct Course<'p> {
    whole: &'p Program,
    shorter: Option<(u32, &'p Program)>,
}

impl<'p> Course<'p> {
    /// All ranks execute `shorter` in that iteration, and the whole program in all others.
    pub fn new(whole: &'p Program, shorter: Option<(u32, &'p Program)>) -> Self {
        Course { whole, shorter }
    }

    /// What they execute where nothing is skipped.
    pub fn whole(self) -> &'p Program {
        self.whole
    }

    /// What ranks execute in an iteration.
    #[inline]
    pub fn of(self, iteration: u32) -> &'p Program {
        match self.shorter {
            Some((of, program)) if of == iteration => program,
            _ => self.whole,
        }
    }
}

impl<'p> From<&'p Program> for Course<'p> {
    fn from(whole: &'p Program) -> Self {
        Course::new(whole, None)
    }
}

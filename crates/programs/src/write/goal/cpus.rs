//! CPUs of a rank: which one an operation occupies.
//!
//! The units of a program are CPUs of the same numbers. Operations that occupy none wait for no other here:
//! those that take no time share a CPU, and each computation has that of one before it which it requires, and
//! which no other computation has taken over since, or one of its own.

use floodway_units::Span;

use crate::{Graph, Operation};

/// The CPUs of a rank.
pub(super) struct Cpus {
    /// Of what takes no time.
    instant: u32,
    /// Of reductions, which follow one another.
    reducing: Option<u32>,
    /// The next one that nothing has occupied.
    next: u32,
    /// By CPU, from the one behind `instant`: the last computation there.
    last: Vec<Option<u32>>,
    /// By operation: a CPU, and the computation there that is complete when the operation is.
    tails: Vec<Option<(u32, u32)>>,
}

impl Cpus {
    pub fn new(graph: &Graph) -> Self {
        let instant = graph.units;
        Cpus { instant, reducing: None, next: instant + 1, last: Vec::new(), tails: Vec::new() }
    }

    /// All are free, at the beginning of an iteration of so many operations.
    pub fn begin(&mut self, operations: usize) {
        self.last.iter_mut().for_each(|last| *last = None);
        self.tails.clear();
        self.tails.resize(operations, None);
    }

    pub fn count(&self) -> u32 {
        self.next
    }

    pub fn instant(&self) -> u32 {
        self.instant
    }

    pub fn reducing(&mut self) -> u32 {
        let next = &mut self.next;
        *self.reducing.get_or_insert_with(|| {
            *next += 1;
            *next - 1
        })
    }

    /// An operation that occupies no CPU.
    pub fn pass(&mut self, index: u32, operation: &Operation) {
        self.tails[index as usize] = self.tail(operation);
    }

    pub fn of_send(&mut self, index: u32, operation: &Operation) -> u32 {
        self.pass(index, operation);
        operation.unit.unwrap_or(self.instant)
    }

    pub fn of_compute(&mut self, index: u32, operation: &Operation, time: Span) -> u32 {
        if operation.unit.is_some() || time == Span::ZERO {
            return self.of_send(index, operation);
        }
        let cpu = self.tail(operation).map(|(cpu, _)| cpu).or_else(|| self.free()).unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        let place = (cpu - self.instant - 1) as usize;
        self.last.resize(self.last.len().max(place + 1), None);
        self.last[place] = Some(index);
        self.tails[index as usize] = Some((cpu, index));
        cpu
    }

    /// A CPU whose last computation is complete when this operation starts.
    fn tail(&self, operation: &Operation) -> Option<(u32, u32)> {
        let mut tails = operation.requires.iter().filter_map(|&before| self.tails[before as usize]);
        tails.find(|&(cpu, of)| self.last[(cpu - self.instant - 1) as usize] == Some(of))
    }

    /// A CPU that no computation of the iteration has occupied.
    fn free(&self) -> Option<u32> {
        let mut free = self.last.iter().zip(self.instant + 1..).filter(|(last, _)| last.is_none());
        free.find(|(_, cpu)| Some(*cpu) != self.reducing).map(|(_, cpu)| cpu)
    }
}

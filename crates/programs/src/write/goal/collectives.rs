//! Collectives as sends and receives.
//!
//! ```text
//!   start ──► send, recv ──► calc (reduction) ──► step 0 is done ──► send, recv of steps that it opens ...
//! ```
//! A step's sends require the steps before it that must be done. A step is done when all that it receives is
//! there and reduced, and the step before it is done.

use std::collections::BTreeMap;
use std::io::Write;

use floodway_units::cast::narrow;
use floodway_units::{Bytes, Span};

use super::{Labels, OfRank, WriteError, Writer};
use crate::collective::{Plan, Step};
use crate::program::{Kind, Program};

/// By receiver in a group: the ranks that send to it.
type Senders = Vec<Vec<u32>>;
/// By slice and step: what arrives, by sender, bytes and tag.
type Arrivals = BTreeMap<(u32, u32), Vec<(u32, Bytes, u64)>>;

/// The plans of a program, and the tags of their messages.
pub(super) struct Plans<'a> {
    program: &'a Program,
    /// By group and plan, once it was needed.
    senders: BTreeMap<(u32, u32), Senders>,
    /// By group and number of the collective there: its first tag.
    first_tag: BTreeMap<(u32, u32), u64>,
}

impl<'a> Plans<'a> {
    /// The plans of a program, and the number of tags of an iteration.
    pub fn new(program: &'a Program) -> (Self, u64) {
        let operations = program.graphs.iter().flat_map(|graph| &graph.operations);
        let tag = |kind: Kind| match kind {
            Kind::Send { tag, .. } | Kind::Recv { tag: Some(tag), .. } => Some(tag),
            _ => None,
        };
        let own = operations.filter_map(|of| tag(of.kind)).max();
        let mut next = own.map_or(0, |tag| tag.saturating_add(1));
        let mut first_tag = BTreeMap::new();
        for rank in 0..narrow::<u32>(program.ranks.len()) {
            for operation in &program.graph_of(rank).operations {
                let Kind::Collective { plan, group, sequence } = operation.kind else { continue };
                let (group, _) = program.group_of(rank, group);
                first_tag.entry((group, sequence)).or_insert_with(|| {
                    let first = next;
                    next = next.saturating_add(program.plan(plan, group).most_messages());
                    first
                });
            }
        }
        (Plans { program, senders: BTreeMap::new(), first_tag }, next)
    }

    pub fn has_collectives(&self) -> bool {
        !self.first_tag.is_empty()
    }

    pub fn has_slices(&self) -> bool {
        self.program.plans.iter().any(|plan| plan.slices() > 1)
    }

    /// What arrives at a rank of a group.
    fn arrivals(&mut self, (plan, group): (u32, u32), me: u32, first_tag: u64) -> Arrivals {
        let of = self.program.plan(plan, group);
        let senders = self.senders.entry((group, plan)).or_insert_with(|| senders(of));
        let (mut arrivals, mut step) = (Arrivals::new(), Step::default());
        for &sender in &senders[me as usize] {
            for slice in 0..of.slices() {
                for at in 0..of.steps(sender, slice) {
                    of.step(sender, slice, at, &mut step);
                    for (place, transfer) in (0..).zip(&step.sends).filter(|(_, sent)| sent.to == me) {
                        let tag = first_tag + u64::from(of.number(slice, at, place));
                        let arrival = (sender, transfer.bytes, tag);
                        arrivals.entry(transfer.at).or_default().push(arrival);
                    }
                }
            }
        }
        arrivals
    }
}

fn senders(plan: &Plan) -> Senders {
    let mut senders = vec![Vec::new(); plan.ranks as usize];
    for from in 0..plan.ranks {
        plan.each_peer(from, |to, _, _| senders[to as usize].push(from));
    }
    senders.iter_mut().for_each(Vec::dedup);
    senders
}

/// A rank's part of a collective in the course of being written.
struct Call<'a> {
    plan: &'a Plan,
    members: &'a [u32],
    me: u32,
    first_tag: u64,
    start: u32,
    arrivals: Arrivals,
}

impl<W: Write> Writer<'_, W> {
    /// A rank's part of a collective.
    pub(super) fn collective(
        &mut self,
        of: &mut OfRank,
        (plan, slot, sequence): (u32, u32, u32),
    ) -> Result<Labels, WriteError> {
        let program = self.program;
        let (group, me) = program.group_of(of.rank, slot);
        let first_tag = self.plans.first_tag[&(group, sequence)];
        let start = self.node(of)?;
        let call = Call {
            plan: program.plan(plan, group),
            members: &program.groups[group as usize],
            me,
            first_tag,
            start,
            arrivals: self.plans.arrivals((plan, group), me, first_tag),
        };
        let mut ends = Vec::new();
        for slice in 0..call.plan.slices() {
            ends.push(self.slice(of, &call, slice)?);
        }
        ends.dedup();
        let end = self.joined(of, &ends)?.unwrap_or(start);
        Ok(Labels { start, end })
    }

    /// The steps of a slice; returns the label behind which it is done.
    fn slice(&mut self, of: &mut OfRank, call: &Call<'_>, slice: u32) -> Result<u32, WriteError> {
        let mut step = Step::default();
        // By number of steps that are done: the label behind which they are.
        let mut done = vec![call.start];
        for at in 0..call.plan.steps(call.me, slice) {
            call.plan.step(call.me, slice, at, &mut step);
            let open = done[call.plan.opens_after(call.me, slice, at) as usize];
            for (place, transfer) in (0..).zip(&step.sends) {
                let tag = call.first_tag + u64::from(call.plan.number(slice, at, place));
                let to = call.members[transfer.to as usize];
                let cpu = of.cpus.instant();
                let label = self.send(of, (transfer.bytes, to, tag), (cpu, 0))?;
                self.require(label, open)?;
            }
            let mut ends = Vec::new();
            for &(from, bytes, tag) in call.arrivals.get(&(slice, at)).map_or(&[][..], Vec::as_slice) {
                let arrival = (bytes, Some(call.members[from as usize]), Some(tag));
                ends.push(self.arrival(of, open, arrival, call.plan.reduce_time(step.reduce))?);
            }
            // What arrives requires `open`.
            let before = done[at as usize];
            ends.extend(Some(open).filter(|open| ends.is_empty() && *open != before));
            ends.extend(Some(before).filter(|before| ends.is_empty() || *before != open));
            let end = self.joined(of, &ends)?;
            done.extend(end);
        }
        Ok(done[done.len() - 1])
    }

    /// A receive, and the reduction of what it brings.
    fn arrival(
        &mut self,
        of: &mut OfRank,
        open: u32,
        what: (Bytes, Option<u32>, Option<u64>),
        reduction: Span,
    ) -> Result<u32, WriteError> {
        let receive = self.recv(of, what)?;
        self.require(receive, open)?;
        if reduction == Span::ZERO {
            return Ok(receive);
        }
        let cpu = of.cpus.reducing();
        let calc = self.calc(of, reduction, cpu)?;
        self.require(calc, receive)?;
        Ok(calc)
    }

    /// The label behind which all of these are done; none for none.
    fn joined(&mut self, of: &mut OfRank, labels: &[u32]) -> Result<Option<u32>, WriteError> {
        if labels.len() < 2 {
            return Ok(labels.first().copied());
        }
        let node = self.node(of)?;
        for &label in labels {
            self.require(node, label)?;
        }
        Ok(Some(node))
    }
}

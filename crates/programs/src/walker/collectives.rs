//! A rank's part of collectives: slices, and the steps of each that have begun and are not done.

use std::collections::VecDeque;
use std::fmt::Write as _;

use floodway_units::cast::narrow;
use floodway_units::{Bytes, Span};
use rustc_hash::FxHashMap;

use super::recurrence::Count;
use super::{Input, Output, Posting, Walker};
use crate::Message;
use crate::collective::{Plan, Step};
use crate::program::{Kind, Program, SendCompletes};

/// Collectives of a rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Collectives {
    open: Vec<Open>,
    /// Transfers that arrived before their step began: (iteration, operation, slice, step) of this rank.
    early: FxHashMap<(u32, u32, u32, u32), Early>,
    /// When what is being reduced is.
    reduced: u64,
    /// Memory of a step.
    step: Step,
}

/// Transfers of a step that has not begun.
#[derive(Clone, Copy, Debug, Default)]
struct Early {
    count: u32,
    last_from: u32,
}

/// A collective in progress.
#[derive(Clone, Debug)]
struct Open {
    operation: u32,
    plan: u32,
    group: u32,
    /// This rank's place in the group.
    me: u32,
    slices: Vec<SliceState>,
    /// Slices with steps that are not done.
    slices_left: u32,
    /// Transfers that are not complete at this rank.
    sends_left: u32,
    last_from: Option<u32>,
}

impl Collectives {
    /// Appends its state; `own` counts operations of the rank.
    pub(super) fn write_state(&self, count: Count<'_>, own: impl Fn(u32) -> i64, out: &mut String) {
        let Collectives { open, early, reduced, step: _ } = self;
        let mut early: Vec<_> = early.iter().collect();
        early.sort_unstable_by_key(|(key, _)| **key);
        let mut write = |what: std::fmt::Arguments<'_>| out.write_fmt(what).expect("a text takes all");
        for (&(iteration, operation, slice, step), early) in early {
            let key = (count.iteration(iteration), own(operation), slice, step);
            write(format_args!("{key:?} {early:?} "));
        }
        write(format_args!("{}", count.end(*reduced)));
        for &Open { operation, plan, group, me, ref slices, slices_left, sends_left, last_from } in open {
            let (operation, left) = (own(operation), (slices_left, sends_left));
            write(format_args!(" {operation} {:?} {slices:?} {left:?} {last_from:?}", (plan, group, me)));
        }
    }
}

impl Open {
    fn plan_in<'a>(&self, program: &'a Program) -> &'a Plan {
        program.plan(self.plan, self.group)
    }
}

/// A slice: its first `done` steps are done, and those before `opened` have begun.
#[derive(Clone, Debug, Default)]
struct SliceState {
    opened: u32,
    done: u32,
    steps: u32,
    /// Of the steps from `done` to `opened`: of the first, which mostly is the only one, and of the others.
    first: Left,
    others: VecDeque<Left>,
}

impl SliceState {
    /// Another step begins.
    fn open(&mut self, left: Left) {
        if self.opened == self.done {
            self.first = left;
        } else {
            self.others.push_back(left);
        }
        self.opened += 1;
    }

    /// What a step that has begun and is not done waits for.
    fn left(&mut self, step: u32) -> &mut Left {
        match step - self.done {
            0 => &mut self.first,
            behind => &mut self.others[behind as usize - 1],
        }
    }
}

/// What a step still waits for.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    receives: u32,
    sends: u32,
    reduce: Bytes,
}

impl Left {
    fn is_done(self) -> bool {
        self.receives == 0 && self.sends == 0
    }
}

impl Walker {
    /// The rank begins its part of a collective.
    pub(super) fn open_collective(
        &mut self,
        program: &Program,
        now: u64,
        (operation, plan, slot): (u32, u32, u32),
        out: &mut Output,
    ) {
        let (group, me) = program.group_of(self.rank, slot);
        let steps = program.plan(plan, group);
        let slice = |slice| SliceState { steps: steps.steps(me, slice), ..SliceState::default() };
        let slices: Vec<SliceState> = (0..steps.slices()).map(slice).collect();
        let slices_left = narrow::<u32>(slices.iter().filter(|slice| slice.steps > 0).count());
        let count = narrow::<u32>(slices.len());
        self.collectives.open.push(Open {
            operation,
            plan,
            group,
            me,
            slices,
            slices_left,
            sends_left: 0,
            last_from: None,
        });
        (0..count).for_each(|slice| self.open_steps(program, now, operation, slice, out));
        self.end_collective_if_over(program, now, operation, out);
    }

    /// Begins all steps of a slice that may.
    fn open_steps(&mut self, program: &Program, now: u64, operation: u32, slice: u32, out: &mut Output) {
        let Some(at) = self.index_of(operation) else { return };
        let plan = self.collectives.open[at].plan_in(program);
        loop {
            let open = &mut self.collectives.open[at];
            let state = &open.slices[slice as usize];
            let step = state.opened;
            if step >= state.steps || plan.opens_after(open.me, slice, step) > state.done {
                return;
            }
            self.open_step(program, plan, now, (at, slice, step), out);
        }
    }

    fn open_step(
        &mut self,
        program: &Program,
        plan: &Plan,
        now: u64,
        (at, slice, step): (usize, u32, u32),
        out: &mut Output,
    ) {
        let mut memory = std::mem::take(&mut self.collectives.step);
        let open = &mut self.collectives.open[at];
        plan.step(open.me, slice, step, &mut memory);
        let counts = program.send_completes != SendCompletes::Issued;
        let sends = if counts { narrow::<u32>(memory.sends.len()) } else { 0 };
        let state = &mut open.slices[slice as usize];
        state.open(Left {
            receives: memory.receives,
            sends: if plan.waits_for_sends(slice) { sends } else { 0 },
            reduce: memory.reduce,
        });
        open.sends_left += if program.send_completes == SendCompletes::Acknowledged { sends } else { 0 };
        let operation = open.operation;
        let members = &program.groups[open.group as usize];
        for (place, transfer) in (0..).zip(&memory.sends) {
            let number = plan.number(slice, step, place);
            let posting = Posting {
                to: members[transfer.to as usize],
                bytes: transfer.bytes,
                channel: plan.channel(slice),
                message: Message { iteration: self.iteration, operation, transfer: number },
                step: plan.cell(transfer.at),
            };
            self.post(program, posting, out);
        }
        self.collectives.step = memory;
        let key = (self.iteration, operation, slice, step);
        if let Some(early) = self.collectives.early.remove(&key) {
            self.collectives.open[at].last_from = Some(early.last_from);
            (0..early.count).for_each(|_| self.reduce(plan, now, (at, slice, step)));
        }
        self.finish_steps(at, slice);
    }

    /// A transfer has arrived in a step that has begun: what it brings is reduced, which takes its time.
    fn reduce(&mut self, plan: &Plan, now: u64, (at, slice, step): (usize, u32, u32)) {
        let open = &mut self.collectives.open[at];
        let time = plan.reduce_time(open.slices[slice as usize].left(step).reduce);
        let mut end = now;
        if let Some(log) = &mut self.predecessors {
            let key = (open.operation, slice, step);
            log.reduce(key, time > Span::ZERO, self.collectives.reduced > now);
        }
        if time > Span::ZERO {
            end = self.collectives.reduced.max(now).saturating_add(time.0);
            self.collectives.reduced = end;
        }
        let input = Input::Reduced { operation: open.operation, slice, step };
        self.inputs.push(std::cmp::Reverse((end, input)));
    }

    /// Takes what is done from the front of a slice.
    fn finish_steps(&mut self, at: usize, slice: u32) {
        let open = &mut self.collectives.open[at];
        let state = &mut open.slices[slice as usize];
        let before = state.done;
        while state.done < state.opened && state.first.is_done() {
            state.first = state.others.pop_front().unwrap_or_default();
            state.done += 1;
        }
        if state.done > before && state.done == state.steps {
            open.slices_left -= 1;
        }
    }

    /// What arrived in a step is there, and reduced.
    pub(super) fn step_received(
        &mut self,
        program: &Program,
        now: u64,
        (operation, slice, step): (u32, u32, u32),
        out: &mut Output,
    ) {
        let Some(at) = self.index_of(operation) else { return };
        let state = &mut self.collectives.open[at].slices[slice as usize];
        state.left(step).receives -= 1;
        self.progress_slice(program, now, (at, operation, slice), out);
    }

    fn progress_slice(
        &mut self,
        program: &Program,
        now: u64,
        (at, operation, slice): (usize, u32, u32),
        out: &mut Output,
    ) {
        self.finish_steps(at, slice);
        self.open_steps(program, now, operation, slice, out);
        self.end_collective_if_over(program, now, operation, out);
    }

    fn end_collective_if_over(&mut self, program: &Program, now: u64, operation: u32, out: &mut Output) {
        let Some(at) = self.index_of(operation) else { return };
        let open = &self.collectives.open[at];
        if open.slices_left == 0 && open.sends_left == 0 {
            let last_from = open.last_from;
            self.collectives.open.swap_remove(at);
            self.end(program, now, operation, last_from, out);
        }
    }

    /// A transfer of this rank is complete.
    pub(super) fn transfer_sent(&mut self, program: &Program, now: u64, message: Message, out: &mut Output) {
        let Some(at) = self.index_of(message.operation) else { return };
        let open = &mut self.collectives.open[at];
        open.sends_left -= u32::from(program.send_completes == SendCompletes::Acknowledged);
        let plan = open.plan_in(program);
        let (slice, step, _) = plan.place(message.transfer);
        if plan.waits_for_sends(slice) {
            open.slices[slice as usize].left(step).sends -= 1;
        }
        self.progress_slice(program, now, (at, message.operation, slice), out);
    }

    /// Counts a transfer of a collective as complete now, if nothing can follow from that: its steps do not
    /// wait for it, and others of the collective are on their way. If not, it is to be handled in its turn,
    /// after [`sent`](Self::sent).
    pub fn counts_as_sent(&mut self, program: &Program, message: Message) -> bool {
        if self.predecessors.is_some() || message.iteration != self.iteration {
            return false;
        }
        let Some(at) = self.index_of(message.operation) else { return false };
        let open = &mut self.collectives.open[at];
        let plan = open.plan_in(program);
        let (slice, ..) = plan.place(message.transfer);
        if plan.waits_for_sends(slice) {
            return false;
        }
        match program.send_completes {
            SendCompletes::Acknowledged if open.sends_left > 1 => open.sends_left -= 1,
            SendCompletes::Received => {}
            _ => return false,
        }
        true
    }

    /// A transfer of `from` has arrived, which belongs to a step of this rank.
    pub(super) fn transfer_received(
        &mut self,
        program: &Program,
        now: u64,
        from: u32,
        (message, cell): (Message, u32),
    ) {
        let Kind::Collective { plan, group, sequence } = program.operation_of(from, message.operation).kind
        else {
            return;
        };
        let (group, _) = program.group_of(from, group);
        let plan = program.plan(plan, group);
        let Some(operation) = program.call_of(self.rank, group, sequence) else { return };
        let (slice, step) = plan.of_cell(cell);
        let index = if message.iteration == self.iteration { self.index_of(operation) } else { None };
        match index {
            Some(at) if step < self.collectives.open[at].slices[slice as usize].opened => {
                self.collectives.open[at].last_from = Some(from);
                self.reduce(plan, now, (at, slice, step));
            }
            _ => {
                let key = (message.iteration, operation, slice, step);
                let early = self.collectives.early.entry(key).or_default();
                (early.count, early.last_from) = (early.count + 1, from);
            }
        }
    }

    fn index_of(&self, operation: u32) -> Option<usize> {
        self.collectives.open.iter().position(|open| open.operation == operation)
    }
}

//! A rank's part of collectives: lanes, and the steps of each that have begun and are not done.

use std::collections::VecDeque;

use floodway_units::Bytes;
use rustc_hash::FxHashMap;

use super::{Input, Output, Posting, Walker};
use crate::Message;
use crate::collective::{Plan, Step};
use crate::program::{Kind, Program, SendCompletes};

/// Collectives of a rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Collectives {
    open: Vec<Open>,
    /// Transfers that arrived before their step began: (iteration, operation, lane, step) of this rank.
    early: FxHashMap<(u32, u32, u32, u32), Early>,
    /// When what is being reduced is.
    reduced: u64,
    /// Memory of a step.
    step: Step,
    /// Memory of a step of another rank.
    peer_step: Step,
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
    lanes: Vec<Lane>,
    /// Lanes with steps that are not done.
    lanes_left: u32,
    /// Transfers that are not complete at this rank.
    sends_left: u32,
    last_from: Option<u32>,
}

/// A lane: its first `done` steps are done, and those before `opened` have begun.
#[derive(Clone, Debug, Default)]
struct Lane {
    opened: u32,
    done: u32,
    steps: u32,
    /// Of the steps from `done` to `opened`.
    left: VecDeque<Left>,
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
        let steps = &program.plans[plan as usize];
        let lane = |lane| Lane { steps: steps.steps(me, lane), ..Lane::default() };
        let lanes: Vec<Lane> = (0..steps.lanes()).map(lane).collect();
        let lanes_left = lanes.iter().filter(|lane| lane.steps > 0).count() as u32;
        let count = lanes.len() as u32;
        self.collectives.open.push(Open {
            operation,
            plan,
            group,
            me,
            lanes,
            lanes_left,
            sends_left: 0,
            last_from: None,
        });
        (0..count).for_each(|lane| self.open_steps(program, now, operation, lane, out));
        self.end_collective_if_over(program, now, operation, out);
    }

    /// Begins all steps of a lane that may.
    fn open_steps(&mut self, program: &Program, now: u64, operation: u32, lane: u32, out: &mut Output) {
        let Some(at) = self.index_of(operation) else { return };
        let plan = &program.plans[self.collectives.open[at].plan as usize];
        loop {
            let open = &mut self.collectives.open[at];
            let state = &open.lanes[lane as usize];
            let step = state.opened;
            if step >= state.steps || plan.opens_after(open.me, lane, step) > state.done {
                return;
            }
            self.open_step(program, plan, now, (at, lane, step), out);
        }
    }

    fn open_step(
        &mut self,
        program: &Program,
        plan: &Plan,
        now: u64,
        (at, lane, step): (usize, u32, u32),
        out: &mut Output,
    ) {
        let mut memory = std::mem::take(&mut self.collectives.step);
        let open = &mut self.collectives.open[at];
        plan.step(open.me, lane, step, &mut memory);
        let counts = program.send_completes != SendCompletes::Issued;
        let sends = if counts { memory.sends.len() as u32 } else { 0 };
        let state = &mut open.lanes[lane as usize];
        state.opened += 1;
        state.left.push_back(Left {
            receives: memory.receives,
            sends: if plan.waits_for_sends() { sends } else { 0 },
            reduce: memory.reduce,
        });
        open.sends_left += if program.send_completes == SendCompletes::Acknowledged { sends } else { 0 };
        let operation = open.operation;
        let members = &program.groups[open.group as usize];
        for (place, transfer) in (0..).zip(&memory.sends) {
            let number = plan.number(lane, step, place);
            let posting = Posting {
                to: members[transfer.to as usize],
                bytes: transfer.bytes,
                channel: plan.channel(lane),
                message: Message { iteration: self.iteration, operation, transfer: number },
            };
            self.post(program, posting, out);
        }
        self.collectives.step = memory;
        let key = (self.iteration, operation, lane, step);
        if let Some(early) = self.collectives.early.remove(&key) {
            self.collectives.open[at].last_from = Some(early.last_from);
            (0..early.count).for_each(|_| self.reduce(plan, now, (at, lane, step)));
        }
        self.finish_steps(at, lane);
    }

    /// A transfer has arrived in a step that has begun: what it brings is reduced, which takes its time.
    fn reduce(&mut self, plan: &Plan, now: u64, (at, lane, step): (usize, u32, u32)) {
        let open = &self.collectives.open[at];
        let state = &open.lanes[lane as usize];
        let time = plan.reduce_time(state.left[(step - state.done) as usize].reduce);
        let end = self.collectives.reduced.max(now) + time.0;
        if time.0 > 0 {
            self.collectives.reduced = end;
        }
        let end = if time.0 > 0 { end } else { now };
        let input = Input::Reduced { operation: open.operation, lane, step };
        self.inputs.push(std::cmp::Reverse((end, input)));
    }

    /// Takes what is done from the front of a lane.
    fn finish_steps(&mut self, at: usize, lane: u32) {
        let open = &mut self.collectives.open[at];
        let state = &mut open.lanes[lane as usize];
        let before = state.done;
        while state.left.front().is_some_and(|left| left.is_done()) {
            state.left.pop_front();
            state.done += 1;
        }
        if state.done > before && state.done == state.steps {
            open.lanes_left -= 1;
        }
    }

    /// What arrived in a step is there, and reduced.
    pub(super) fn step_received(
        &mut self,
        program: &Program,
        now: u64,
        (operation, lane, step): (u32, u32, u32),
        out: &mut Output,
    ) {
        let Some(at) = self.index_of(operation) else { return };
        let state = &mut self.collectives.open[at].lanes[lane as usize];
        state.left[(step - state.done) as usize].receives -= 1;
        self.progress_lane(program, now, (at, operation, lane), out);
    }

    fn progress_lane(
        &mut self,
        program: &Program,
        now: u64,
        (at, operation, lane): (usize, u32, u32),
        out: &mut Output,
    ) {
        self.finish_steps(at, lane);
        self.open_steps(program, now, operation, lane, out);
        self.end_collective_if_over(program, now, operation, out);
    }

    fn end_collective_if_over(&mut self, program: &Program, now: u64, operation: u32, out: &mut Output) {
        let Some(at) = self.index_of(operation) else { return };
        let open = &self.collectives.open[at];
        if open.lanes_left == 0 && open.sends_left == 0 {
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
        let plan = &program.plans[open.plan as usize];
        let (lane, step, _) = plan.place(message.transfer);
        if plan.waits_for_sends() {
            let state = &mut open.lanes[lane as usize];
            state.left[(step - state.done) as usize].sends -= 1;
        }
        self.progress_lane(program, now, (at, message.operation, lane), out);
    }

    /// A transfer of `from` has arrived.
    pub(super) fn transfer_received(&mut self, program: &Program, now: u64, from: u32, message: Message) {
        let Kind::Collective { plan, group, sequence } =
            program.graph_of(from).operations[message.operation as usize].kind
        else {
            return;
        };
        let plan = &program.plans[plan as usize];
        let (group, sender) = program.group_of(from, group);
        let Some(operation) = program.call_of(self.rank, group, sequence) else { return };
        let (lane, step, place) = plan.place(message.transfer);
        let mut memory = std::mem::take(&mut self.collectives.peer_step);
        plan.step(sender, lane, step, &mut memory);
        let step = memory.sends[place as usize].step;
        self.collectives.peer_step = memory;
        let index = if message.iteration == self.iteration { self.index_of(operation) } else { None };
        match index {
            Some(at) if step < self.collectives.open[at].lanes[lane as usize].opened => {
                self.collectives.open[at].last_from = Some(from);
                self.reduce(plan, now, (at, lane, step));
            }
            _ => {
                let key = (message.iteration, operation, lane, step);
                let early = self.collectives.early.entry(key).or_default();
                (early.count, early.last_from) = (early.count + 1, from);
            }
        }
    }

    fn index_of(&self, operation: u32) -> Option<usize> {
        self.collectives.open.iter().position(|open| open.operation == operation)
    }
}

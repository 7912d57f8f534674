//! Messages of ranks of jobs, and the events that advance ranks.
//!
//! A message's number says which transfer of its sender's program it is, and both ends compute the rest by
//! formula (`collective/` of the programs): no message of a collective exists before it is sent.

use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::traffic::begin::{Begin, Carrier};
use floodway_blueprint::traffic::hooks::{OF_PROGRAM, WITHOUT_ROW, rank_of};
use floodway_programs::walker::Ended;
use floodway_programs::{Message, Output, Posting, SendCompletes};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Time};

use super::{Programs, course, job};
use crate::run::events::{Events, NEVER};
use crate::traffic::ctx::TrafficCtx;
use crate::traffic::flows::Traffic;
use crate::traffic::triggers::{Completion, End};

impl Traffic {
    /// Makes the first event of each rank.
    pub fn arm_ranks(&mut self, facts: &Facts<'_>, events: &mut Events) {
        for id in 0..narrow::<u32>(self.programs.places.len()) {
            let state = &mut self.programs.ranks[id as usize];
            let Some(Time(start)) = state.next_time() else { continue };
            state.armed = start;
            events.is_at(facts.groups.of(self.programs.host(id)));
            events.add_start(self.rank_event(id), start);
        }
    }

    /// The event of a rank: it handles what has happened. A rank of a job: its workload, its number there,
    /// and what it sends, which [`Traffic::sent_by_rank`] takes back.
    pub fn wake_rank(&mut self, ctx: &mut TrafficCtx<'_, '_>, id: u32) -> Option<(u32, u32, Output)> {
        let (workload, rank) = self.programs.in_workload(id);
        let state = &mut self.programs.ranks[id as usize];
        if state.behind <= ctx.now {
            state.behind = NEVER;
        }
        if state.armed > ctx.now {
            // Another event was made for what this one was for.
            return None;
        }
        state.armed = NEVER;
        match ctx.facts.lists.of(workload) {
            Some(list) => {
                self.advance_list(ctx, list, (workload, rank), id);
                None
            }
            None => Some((workload, rank, self.wake_in_job(ctx, id, (workload, rank)))),
        }
    }

    fn wake_in_job(&mut self, ctx: &mut TrafficCtx<'_, '_>, id: u32, (workload, rank): (u32, u32)) -> Output {
        let spec = job(ctx.facts.blueprint, workload);
        self.take_scale_up(ctx, id);
        self.serve_scale_up(ctx, id);
        let mut out = std::mem::take(&mut self.programs.out);
        let Programs { ranks, shorter, .. } = &mut self.programs;
        let course = course(shorter, workload, &spec.program);
        ranks[id as usize].walker.advance(course, Time(ctx.now), &mut out);
        let computed = |ended: &&Ended| course.of(ended.iteration).computes(rank, ended.operation);
        let totals = &mut ctx.kept.records.totals[workload as usize];
        totals.operations += out.ended.len() as u64;
        totals.computed += out.ended.iter().filter(computed).count() as u64;
        self.arm_rank(ctx.events, id);
        if let Some((of, extent)) = &mut self.programs.logged
            && *of == workload
        {
            let ended = out.ended.iter().zip(out.events.drain(..));
            ended.for_each(|ended| extent.add(&spec.program, rank, ended));
        }
        if let Some(log) = &mut ctx.kept.operations {
            out.ended.drain(..).for_each(|ended| log.push(id, ended));
        }
        if std::mem::take(&mut out.finished) {
            self.triggers.no_longer_wait(workload, 1);
        }
        out
    }

    /// All that a rank of a job sends has begun.
    pub fn sent_by_rank(&mut self, mut out: Output) {
        out.postings.clear();
        self.programs.out = out;
    }

    /// Makes an event for what is next at a rank, unless there is one.
    pub(super) fn arm_rank(&mut self, events: &mut Events, id: u32) {
        let state = &mut self.programs.ranks[id as usize];
        let Some(Time(next)) = state.next_time() else { return };
        if next < state.armed {
            if next == state.behind {
                std::mem::swap(&mut state.armed, &mut state.behind);
                return;
            }
            if state.armed != NEVER {
                state.behind = state.armed;
            }
            state.armed = next;
            let event = self.rank_event(id);
            events.add_start(event, next);
        }
    }

    /// The flow of a message of a rank, unless its receiver is of the same scale-up domain.
    pub fn send_message(
        &mut self,
        ctx: &mut TrafficCtx<'_, '_>,
        (workload, from): (u32, u32),
        posting: Posting,
    ) -> Option<Begin> {
        let spec = job(ctx.facts.blueprint, workload);
        let Posting { to, bytes, channel, message, .. } = posting;
        let id = self.programs.id(workload, from);
        let receiver = self.programs.id(workload, to);
        if self.programs.common_domain(id, receiver).is_some() {
            self.send_in_domain(ctx, workload, (id, receiver), posting);
            return None;
        }
        let (source, number) = self.programs.flow_of(workload, from, message);
        let ranks = u64::from(from) << 32 | u64::from(to);
        let program = course(&self.programs.shorter, workload, &spec.program).of(message.iteration);
        let round = program.rounds_of(from).map_or(0, |rounds| rounds.of(message.operation));
        Some(Begin {
            workload,
            settings: ctx.facts.blueprint.workloads[workload as usize].settings,
            source,
            destination: spec.hosts[to as usize],
            size: Bytes(bytes.0.max(1)),
            number,
            // Those that follow one another differ in its lowest bits.
            round: narrow(round & u32::from(u16::MAX)),
            later: self.programs.later(id, message, program),
            entropy: floodway_units::fold(ranks, u64::from(channel)),
            ports: (None, None),
            pinned: (None, None),
            hook: OF_PROGRAM | id | if spec.rows { 0 } else { WITHOUT_ROW },
            carrier: Carrier::Ranks { from, to, channel },
            rank: None,
        })
    }

    /// A message of a rank is complete at one of its ends, or has left its NIC.
    pub fn program_message(&mut self, ctx: &mut TrafficCtx<'_, '_>, completion: Completion) {
        let Completion { hook, number, end, at } = completion;
        let sender = rank_of(hook);
        let (workload, from) = self.programs.in_workload(sender);
        let spec = job(ctx.facts.blueprint, workload);
        let message = Message::of(number);
        let completes = spec.program.send_completes;
        let program = course(&self.programs.shorter, workload, &spec.program).of(message.iteration);
        match end {
            End::Nic if spec.program.in_turn => {
                let channel = program.channel_of(from, message);
                self.programs.ranks[sender as usize].walker.left(Time(at), channel);
                self.arm_rank(ctx.events, sender);
            }
            End::Sender if completes == SendCompletes::Acknowledged => {
                self.rank_sent(ctx, sender, (message, at));
            }
            End::Receiver => {
                let arrival = program.arrival(from, message, &mut self.programs.step);
                let receiver = self.programs.id(workload, arrival.to);
                let state = &mut self.programs.ranks[receiver as usize];
                state.walker.received(Time(at), from, message, arrival.step);
                self.arm_rank(ctx.events, receiver);
                if completes == SendCompletes::Received {
                    self.rank_sent(ctx, sender, (message, at));
                }
            }
            End::Nic | End::Sender => {}
        }
    }

    pub(super) fn rank_sent(
        &mut self,
        ctx: &mut TrafficCtx<'_, '_>,
        sender: u32,
        (message, at): (Message, u64),
    ) {
        let (workload, _) = self.programs.in_workload(sender);
        let whole = &job(ctx.facts.blueprint, workload).program;
        let Programs { ranks, shorter, .. } = &mut self.programs;
        let program = course(shorter, workload, whole).of(message.iteration);
        let walker = &mut ranks[sender as usize].walker;
        // Of most messages of collectives nothing follows but a count.
        if at == ctx.now && walker.counts_as_sent(program, message) {
            return;
        }
        walker.sent(Time(at), message);
        self.arm_rank(ctx.events, sender);
    }
}

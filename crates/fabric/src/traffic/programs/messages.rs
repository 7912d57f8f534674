//! Messages of ranks of jobs, and the events that advance ranks.

use floodway_programs::walker::Ended;
use floodway_programs::{Message, Posting, Program, SendCompletes};
use floodway_units::cast::narrow;
use floodway_units::{Bytes, Time};

use super::job;
use crate::run::at_node::AtNode;
use crate::run::events::NEVER;
use crate::run::world::World;
use crate::traffic::flows::{Begin, Carrier};
use crate::traffic::hooks::{OF_PROGRAM, WITHOUT_ROW};
use crate::traffic::triggers::End;

impl AtNode<'_, '_> {
    /// The event of a rank: it handles what has happened, and sends what it may.
    pub fn wake_rank(&mut self, id: u32) {
        let (workload, rank) = self.ctx.run.traffic.programs.in_workload(id);
        let state = &mut self.ctx.run.traffic.programs.ranks[id as usize];
        if state.behind <= self.ctx.now {
            state.behind = NEVER;
        }
        if state.armed > self.ctx.now {
            // Another event was made for what this one was for.
            return;
        }
        state.armed = NEVER;
        match self.ctx.facts.lists.of(workload) {
            Some(list) => self.advance_list(list, (workload, rank), id),
            None => self.wake_in_job(id, workload, rank),
        }
    }

    fn wake_in_job(&mut self, id: u32, workload: u32, rank: u32) {
        let spec = job(self.ctx.facts.blueprint, workload);
        self.take_scale_up(id);
        self.serve_scale_up(id);
        let mut out = std::mem::take(&mut self.ctx.run.traffic.programs.out);
        let state = &mut self.ctx.run.traffic.programs.ranks[id as usize];
        state.walker.advance(&spec.program, Time(self.ctx.now), &mut out);
        self.arm_rank(id);
        let computed = |ended: &&Ended| spec.program.computes(rank, ended.operation);
        let totals = &mut self.ctx.run.kept.records.totals[workload as usize];
        totals.operations += out.ended.len() as u64;
        totals.computed += out.ended.iter().filter(computed).count() as u64;
        if let Some((of, extent)) = &mut self.ctx.run.traffic.programs.logged
            && *of == workload
        {
            let ended = out.ended.iter().zip(out.events.drain(..));
            ended.for_each(|ended| extent.add(&spec.program, rank, ended));
        }
        if let Some(log) = &mut self.ctx.run.kept.operations {
            out.ended.drain(..).for_each(|ended| log.push(id, ended));
        }
        if std::mem::take(&mut out.finished) {
            self.ctx.run.traffic.triggers.no_longer_wait(workload, 1);
        }
        for i in 0..out.postings.len() {
            self.send_message(workload, rank, out.postings[i]);
        }
        out.postings.clear();
        self.ctx.run.traffic.programs.out = out;
    }

    /// Makes an event for what is next at a rank, unless there is one.
    pub(super) fn arm_rank(&mut self, id: u32) {
        let state = &mut self.ctx.run.traffic.programs.ranks[id as usize];
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
            let event = self.ctx.run.traffic.rank_event(id);
            self.ctx.run.events.add_start(event, next);
        }
    }

    fn send_message(&mut self, workload: u32, from: u32, posting: Posting) {
        let spec = job(self.ctx.facts.blueprint, workload);
        let Posting { to, bytes, channel, message, .. } = posting;
        let id = self.ctx.run.traffic.programs.id(workload, from);
        let receiver = self.ctx.run.traffic.programs.id(workload, to);
        if self.ctx.run.traffic.programs.common_domain(id, receiver).is_some() {
            return self.send_in_domain(workload, id, receiver, posting);
        }
        let (source, number) = self.ctx.run.traffic.programs.flow_of(workload, from, message);
        let ranks = u64::from(from) << 32 | u64::from(to);
        let begin = Begin {
            workload,
            settings: self.ctx.facts.blueprint.workloads[workload as usize].settings,
            source,
            destination: spec.hosts[to as usize],
            size: Bytes(bytes.0.max(1)),
            number,
            entropy: floodway_units::fold(ranks, u64::from(channel)),
            ports: (None, None),
            pinned: (None, None),
            hook: OF_PROGRAM | id | if spec.rows { 0 } else { WITHOUT_ROW },
            carrier: Carrier::Ranks { from, to, channel },
            rank: None,
        };
        if let Some(port) = self.begin(begin) {
            self.try_transmit(port);
        }
    }

    /// A message of a rank is complete at one of its ends, or has left its NIC.
    pub fn program_message(&mut self, hook: u32, number: u64, end: End, at: u64) {
        let sender = hook & (WITHOUT_ROW - 1);
        let (workload, from) = self.ctx.run.traffic.programs.in_workload(sender);
        let spec = job(self.ctx.facts.blueprint, workload);
        let message = Message::of(number);
        let completes = spec.program.send_completes;
        match end {
            End::Nic if spec.program.in_turn => {
                let channel = spec.program.channel_of(from, message);
                self.ctx.run.traffic.programs.ranks[sender as usize].walker.left(Time(at), channel);
                self.arm_rank(sender);
            }
            End::Sender if completes == SendCompletes::Acknowledged => {
                self.rank_sent(&spec.program, sender, message, at);
            }
            End::Receiver => {
                let mut step = std::mem::take(&mut self.ctx.run.traffic.programs.step);
                let arrival = spec.program.arrival(from, message, &mut step);
                self.ctx.run.traffic.programs.step = step;
                let receiver = self.ctx.run.traffic.programs.id(workload, arrival.to);
                let state = &mut self.ctx.run.traffic.programs.ranks[receiver as usize];
                state.walker.received(Time(at), from, message, arrival.step);
                self.arm_rank(receiver);
                if completes == SendCompletes::Received {
                    self.rank_sent(&spec.program, sender, message, at);
                }
            }
            End::Nic | End::Sender => {}
        }
    }

    pub(super) fn rank_sent(&mut self, program: &Program, sender: u32, message: Message, at: u64) {
        let walker = &mut self.ctx.run.traffic.programs.ranks[sender as usize].walker;
        // Of most messages of collectives nothing follows but a count.
        if at == self.ctx.now && walker.counts_as_sent(program, message) {
            return;
        }
        walker.sent(Time(at), message);
        self.arm_rank(sender);
    }
}

impl World<'_> {
    /// Makes the first event of each rank.
    pub fn arm_ranks(&mut self) {
        for id in 0..narrow::<u32>(self.run.traffic.programs.places.len()) {
            let state = &mut self.run.traffic.programs.ranks[id as usize];
            let Some(Time(start)) = state.next_time() else { continue };
            state.armed = start;
            let host = self.run.traffic.programs.host(id);
            self.run.events.is_at(self.facts.groups.of(host));
            let event = self.run.traffic.rank_event(id);
            self.run.events.add_start(event, start);
        }
    }
}

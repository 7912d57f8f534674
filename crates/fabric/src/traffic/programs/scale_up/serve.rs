//! What happens at the ports of a scale-up domain.

use std::cmp::Reverse;

use floodway_programs::{Posting, SendCompletes};
use floodway_units::Time;

use super::super::{RankState, job};
use super::Coming;
use crate::run::at_node::AtNode;
use crate::run::events::NEVER;

impl AtNode<'_, '_> {
    /// A rank sends to another one of its domain.
    pub(in crate::traffic::programs) fn send_in_domain(
        &mut self,
        workload: u32,
        id: u32,
        receiver: u32,
        posting: Posting,
    ) {
        let totals = &mut self.ctx.run.kept.scale_up[workload as usize];
        *totals = (totals.0 + 1, totals.1 + posting.bytes.0);
        self.ctx.run.traffic.programs.ranks[id as usize].port.waiting.push_back((receiver, posting));
        self.serve_scale_up(id);
        self.arm_rank(id);
    }

    /// What has its turn at the port of a rank, or the next one, gets its times.
    pub(in crate::traffic::programs) fn serve_scale_up(&mut self, id: u32) {
        loop {
            let port = &mut self.ctx.run.traffic.programs.ranks[id as usize].port;
            if port.begins > self.ctx.now {
                return;
            }
            let Some((receiver, posting)) = port.waiting.pop_front() else { return };
            self.leave_in_domain(id, receiver, posting);
        }
    }

    fn leave_in_domain(&mut self, id: u32, receiver: u32, posting: Posting) {
        let programs = &mut self.ctx.run.traffic.programs;
        let (workload, from) = programs.in_workload(id);
        let domain = programs.places[id as usize].domain.expect("who sends within a domain is in it");
        let domain = &self.ctx.facts.blueprint.scale_up[domain as usize];
        let takes = domain.rate.time_to_send(posting.bytes);
        let port = &mut programs.ranks[id as usize].port;
        let start = port.sends_until.max(self.ctx.now);
        let left = start + takes.0;
        (port.begins, port.sends_until) = (start, left);
        let Posting { message, step, .. } = posting;
        let coming = Coming { first: start + domain.latency.0, from, message, step, takes };
        let port = &mut programs.ranks[receiver as usize].port;
        port.looks = port.looks.min(coming.soonest());
        port.incoming.push(Reverse(coming));
        self.arm_rank(receiver);
        let spec = job(self.ctx.facts.blueprint, workload);
        if spec.program.in_turn {
            self.ctx.run.traffic.programs.ranks[id as usize].walker.left(Time(left), posting.channel);
            self.arm_rank(id);
        }
        if spec.program.send_completes == SendCompletes::Acknowledged {
            self.rank_sent(&spec.program, id, message, left);
        }
    }

    /// Takes the messages whose first bytes are at the port of a rank, once one of them can be complete.
    pub(in crate::traffic::programs) fn take_scale_up(&mut self, id: u32) {
        let programs = &mut self.ctx.run.traffic.programs;
        if programs.ranks[id as usize].port.looks > self.ctx.now {
            return;
        }
        let (workload, _) = programs.in_workload(id);
        let program = &job(self.ctx.facts.blueprint, workload).program;
        loop {
            let RankState { walker, port, .. } = &mut self.ctx.run.traffic.programs.ranks[id as usize];
            let Some(&Reverse(coming)) = port.incoming.peek() else { break };
            if coming.first > self.ctx.now {
                break;
            }
            port.incoming.pop();
            let end = port.receives_until.max(coming.first) + coming.takes.0;
            port.receives_until = end;
            walker.received(Time(end), coming.from, coming.message, coming.step);
            if program.send_completes == SendCompletes::Received {
                let sender = self.ctx.run.traffic.programs.id(workload, coming.from);
                self.rank_sent(program, sender, coming.message, end);
            }
        }
        let port = &mut self.ctx.run.traffic.programs.ranks[id as usize].port;
        port.looks = port.incoming.iter().map(|Reverse(coming)| coming.soonest()).min().unwrap_or(NEVER);
    }
}

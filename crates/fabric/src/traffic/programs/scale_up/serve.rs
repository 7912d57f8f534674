//! What happens at the ports of a scale-up domain.

use std::cmp::Reverse;

use floodway_programs::{Posting, SendCompletes};
use floodway_units::Time;

use super::super::{RankState, job};
use super::Coming;
use crate::run::events::NEVER;
use crate::traffic::ctx::TrafficCtx;
use crate::traffic::flows::Traffic;

impl Traffic {
    /// A rank sends to another one of its domain.
    pub(in crate::traffic::programs) fn send_in_domain(
        &mut self,
        ctx: &mut TrafficCtx<'_, '_>,
        workload: u32,
        (id, receiver): (u32, u32),
        posting: Posting,
    ) {
        let totals = &mut ctx.kept.scale_up[workload as usize];
        *totals = (totals.0 + 1, totals.1 + posting.bytes.0);
        self.programs.ranks[id as usize].port.waiting.push_back((receiver, posting));
        self.serve_scale_up(ctx, id);
        self.arm_rank(ctx.events, id);
    }

    /// What has its turn at the port of a rank, or the next one, gets its times.
    pub(in crate::traffic::programs) fn serve_scale_up(&mut self, ctx: &mut TrafficCtx<'_, '_>, id: u32) {
        loop {
            let port = &mut self.programs.ranks[id as usize].port;
            if port.begins > ctx.now {
                return;
            }
            let Some((receiver, posting)) = port.waiting.pop_front() else { return };
            self.leave_in_domain(ctx, (id, receiver), posting);
        }
    }

    fn leave_in_domain(
        &mut self,
        ctx: &mut TrafficCtx<'_, '_>,
        (id, receiver): (u32, u32),
        posting: Posting,
    ) {
        let programs = &mut self.programs;
        let (workload, from) = programs.in_workload(id);
        let domain = programs.places[id as usize].domain.expect("who sends within a domain is in it");
        let domain = &ctx.facts.blueprint.scale_up[domain as usize];
        let takes = domain.rate.time_to_send(posting.bytes);
        let port = &mut programs.ranks[id as usize].port;
        let start = port.sends_until.max(ctx.now);
        let left = start + takes.0;
        (port.begins, port.sends_until) = (start, left);
        let Posting { message, step, .. } = posting;
        let coming = Coming { first: start + domain.latency.0, from, message, step, takes };
        let port = &mut programs.ranks[receiver as usize].port;
        port.looks = port.looks.min(coming.soonest());
        port.incoming.push(Reverse(coming));
        self.arm_rank(ctx.events, receiver);
        let spec = job(ctx.facts.blueprint, workload);
        if spec.program.in_turn {
            self.programs.ranks[id as usize].walker.left(Time(left), posting.channel);
            self.arm_rank(ctx.events, id);
        }
        if spec.program.send_completes == SendCompletes::Acknowledged {
            self.rank_sent(ctx, id, (message, left));
        }
    }

    /// Takes the messages whose first bytes are at the port of a rank, once one of them can be complete.
    pub(in crate::traffic::programs) fn take_scale_up(&mut self, ctx: &mut TrafficCtx<'_, '_>, id: u32) {
        if self.programs.ranks[id as usize].port.looks > ctx.now {
            return;
        }
        let (workload, _) = self.programs.in_workload(id);
        let program = &job(ctx.facts.blueprint, workload).program;
        loop {
            let RankState { walker, port, .. } = &mut self.programs.ranks[id as usize];
            let Some(&Reverse(coming)) = port.incoming.peek() else { break };
            if coming.first > ctx.now {
                break;
            }
            port.incoming.pop();
            let end = port.receives_until.max(coming.first) + coming.takes.0;
            port.receives_until = end;
            walker.received(Time(end), coming.from, coming.message, coming.step);
            if program.send_completes == SendCompletes::Received {
                let sender = self.programs.id(workload, coming.from);
                self.rank_sent(ctx, sender, (coming.message, end));
            }
        }
        let port = &mut self.programs.ranks[id as usize].port;
        port.looks = port.incoming.iter().map(|Reverse(coming)| coming.soonest()).min().unwrap_or(NEVER);
    }
}

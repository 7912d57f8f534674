//! Flows of lists that wait for others: completions go into the walkers of ranks, and flows come out.
//!
//! A completion is an event of the rank's host, so the walker handles it at once, and a flow that is issued
//! starts by an event of its own, of that instant or of a later one. So flows of one instant start in the
//! order of the list.

use floodway_units::Time;
use floodway_units::cast::narrow;

use crate::traffic::ctx::TrafficCtx;
use crate::traffic::flows::Traffic;
use crate::traffic::triggers::End;
use floodway_blueprint::traffic::lists::{Awaited, ListProgram};

impl Traffic {
    /// A flow for which others wait is complete at one of its ends, at `at`.
    pub fn awaited_flow(&mut self, ctx: &mut TrafficCtx<'_, '_>, hook: u32, end: End, at: u64) {
        let lists = &ctx.facts.lists;
        let Awaited { workload, from, to, message, at_sender, at_receiver } = lists.awaited(hook);
        let Some(list) = lists.of(workload) else { return };
        let rank = match end {
            End::Receiver if at_receiver => to,
            End::Sender if at_sender => from,
            _ => return,
        };
        let id = self.programs.id(workload, rank);
        let walker = &mut self.programs.ranks[id as usize].walker;
        match end {
            End::Receiver => walker.received(Time(at), from, message, 0),
            _ => walker.sent(Time(at), message),
        }
        self.advance_list(ctx, list, (workload, rank), id);
    }

    /// Advances a rank of a list: each flow that it issues gets the event at which it starts.
    pub(super) fn advance_list(
        &mut self,
        ctx: &mut TrafficCtx<'_, '_>,
        list: &ListProgram,
        (workload, rank): (u32, u32),
        id: u32,
    ) {
        let flows = ctx.facts.blueprint.flows_of(workload);
        let programs = &mut self.programs;
        programs.ranks[id as usize].walker.advance(&list.program, Time(ctx.now), &mut programs.out);
        for posting in programs.out.postings.drain(..) {
            let (flow, place) = list.flow_of(rank, posting.message);
            let start = ctx.events.simulated(flows[flow].start.0);
            let start = start.max(ctx.now.saturating_add(flows[flow].wait.0));
            let event = narrow::<u32>(self.sources.len()) + self.triggers.of_flow(workload, place);
            ctx.events.add_start(event, start);
        }
        programs.out.ended.clear();
        programs.out.finished = false;
        self.arm_rank(ctx.events, id);
    }
}

//! Flow starts that wait for completions.

use floodway_blueprint::network::blueprint::{LoopSpec, Next, UNBOUNDED};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::traffic::begin::{Begin, Carrier};
use floodway_blueprint::traffic::hooks::{AWAITED, NO_HOOK, OF_PROGRAM};
use floodway_units::cast::narrow;

use super::{Completion, Trigger, Triggers, loop_spec};
use crate::run::events::Events;
use crate::traffic::ctx::TrafficCtx;
use crate::traffic::flows::Traffic;

impl Triggers {
    /// The rank that a trigger wakes, if it is one's.
    pub fn rank(&self, id: u32) -> Option<u32> {
        match self.all[id as usize] {
            Trigger::Rank(rank) => Some(rank),
            Trigger::Flow { .. } | Trigger::Loop { .. } => None,
        }
    }
}

impl Traffic {
    /// Arms the first messages of loops.
    pub fn arm_loops(&self, facts: &Facts<'_>, events: &mut Events) {
        for id in 0..self.triggers.all.len() {
            if let Trigger::Loop { workload, index, .. } = self.triggers.all[id] {
                let spec = loop_spec(facts.blueprint, workload, index);
                let (depth, start) = (spec.depth.min(spec.messages), spec.start.0);
                events.is_at(facts.groups.of(spec.source));
                let event = narrow::<u32>(self.sources.len() + id);
                (0..depth).for_each(|_| events.add_start(event, start));
            }
        }
    }

    /// A message is complete at one of its ends, or has left its NIC: who waits for that starts then, or
    /// later.
    #[inline]
    pub fn completed(&mut self, ctx: &mut TrafficCtx<'_, '_>, completion: Completion) {
        let Completion { hook, end, at, .. } = completion;
        if hook != NO_HOOK {
            if hook >= OF_PROGRAM {
                self.program_message(ctx, completion);
                return;
            }
            if hook >= AWAITED {
                self.awaited_flow(ctx, hook, end, at);
                return;
            }
            if let Some(workload) = self.triggers.hooks[hook as usize].counted_at(end) {
                let outstanding = &mut self.triggers.outstanding[workload as usize];
                *outstanding = outstanding.wrapping_sub(1);
            }
            for &id in self.triggers.hooks[hook as usize].at(end) {
                self.fulfil(ctx, id, at);
            }
        }
    }

    fn fulfil(&self, ctx: &mut TrafficCtx<'_, '_>, id: u32, at: u64) {
        if let Trigger::Loop { left, .. } = self.triggers.all[id as usize]
            && left > 0
        {
            ctx.events.add_start(narrow::<u32>(self.sources.len()) + id, at);
        }
    }

    /// What a trigger waited for has come, and so has its time: the flow that begins, if one does.
    pub fn pull(&mut self, ctx: &TrafficCtx<'_, '_>, id: u32) -> Option<Begin> {
        let begin = match &mut self.triggers.all[id as usize] {
            Trigger::Rank(_) => return None,
            &mut Trigger::Flow { workload, flow } => {
                if ctx.run_time() >= ctx.facts.blueprint.workloads[workload as usize].until.0 {
                    return None;
                }
                self.listed(ctx.facts, workload, flow)
            }
            Trigger::Loop { workload, index, left, hook } => {
                let (workload, index, hook) = (*workload, *index, *hook);
                let spec = &ctx.facts.blueprint.workloads[workload as usize];
                if *left == 0 || ctx.run_time() >= spec.until.0 {
                    if spec.arrivals.is_back_to_back(index) {
                        // Its time is over; no flow waits for as many messages as the line rate would have
                        // allowed.
                        let left = std::mem::take(left);
                        self.triggers.no_longer_wait(workload, left);
                    }
                    return None;
                }
                *left -= 1;
                let left = *left;
                let outstanding = &mut self.triggers.outstanding[workload as usize];
                *outstanding = outstanding.wrapping_add(1);
                self.looped(ctx.facts, (workload, index), left, hook)
            }
        };
        let bounded = u64::from(begin.size < UNBOUNDED);
        self.triggers.no_longer_wait(begin.workload, bounded);
        Some(begin)
    }

    /// The message of a loop behind which `left` are to come.
    fn looped(&self, facts: &Facts<'_>, (workload, index): (u32, usize), left: u64, hook: u32) -> Begin {
        let LoopSpec { source, destination, size, messages, next, .. } =
            *loop_spec(facts.blueprint, workload, index);
        let label = self.labels[workload as usize][index];
        let number = label.number.saturating_add(messages - left - 1);
        let (carrier, entropy) = match next {
            Next::Left => (Carrier::AsSet, number),
            Next::Sent | Next::Arrived(_) => (Carrier::Loop(index), label.entropy),
        };
        Begin {
            workload,
            settings: facts.blueprint.workloads[workload as usize].settings,
            source,
            destination,
            size,
            number,
            round: 0,
            later: 0,
            entropy,
            ports: (None, None),
            pinned: (None, None),
            hook,
            carrier,
            rank: None,
        }
    }
}

//! Flow starts that wait for completions.

use super::{End, Trigger, loop_spec};
use crate::network::blueprint::{LoopSpec, Next, UNBOUNDED};
use crate::run::at_node::AtNode;
use crate::run::world::World;
use crate::traffic::flows::{Begin, Carrier};
use crate::traffic::hooks::{AWAITED, NO_HOOK, OF_PROGRAM};
use floodway_units::cast::narrow;

impl AtNode<'_, '_> {
    /// A message is complete at one of its ends, or has left its NIC: who waits for that starts at `at`, or
    /// later.
    #[inline]
    pub fn completed(&mut self, hook: u32, number: u64, end: End, at: u64) {
        if hook != NO_HOOK {
            if hook >= OF_PROGRAM {
                self.program_message(hook, number, end, at);
                return;
            }
            if hook >= AWAITED {
                self.awaited_flow(hook, end, at);
                return;
            }
            if let Some(workload) = self.ctx.run.traffic.triggers.hooks[hook as usize].counted_at(end) {
                let outstanding = &mut self.ctx.run.traffic.triggers.outstanding[workload as usize];
                *outstanding = outstanding.wrapping_sub(1);
            }
            let waits = self.ctx.run.traffic.triggers.hooks[hook as usize].at(end).len();
            (0..waits)
                .for_each(|i| self.fulfil(self.ctx.run.traffic.triggers.hooks[hook as usize].at(end)[i], at));
        }
    }

    fn fulfil(&mut self, id: u32, at: u64) {
        if let Trigger::Loop { left, .. } = self.ctx.run.traffic.triggers.all[id as usize]
            && left > 0
        {
            self.ctx.run.events.add_start(narrow::<u32>(self.ctx.run.traffic.sources.len()) + id, at);
        }
    }

    /// What a trigger waited for has come, and so has its time.
    pub fn pull(&mut self, id: u32) {
        let begin = match &mut self.ctx.run.traffic.triggers.all[id as usize] {
            &mut Trigger::Rank(rank) => {
                self.wake_rank(rank);
                return;
            }
            &mut Trigger::Flow { workload, flow } => {
                if self.ctx.now >= self.ctx.facts.blueprint.workloads[workload as usize].until.0 {
                    return;
                }
                self.listed(workload, flow)
            }
            Trigger::Loop { workload, index, left, hook } => {
                let (workload, index, hook) = (*workload, *index, *hook);
                let spec = &self.ctx.facts.blueprint.workloads[workload as usize];
                if *left == 0 || self.ctx.now >= spec.until.0 {
                    if spec.arrivals.is_back_to_back(index) {
                        // Its time is over; no flow waits for as many messages as the line rate would have
                        // allowed.
                        let left = std::mem::take(left);
                        self.ctx.run.traffic.triggers.no_longer_wait(workload, left);
                    }
                    return;
                }
                *left -= 1;
                let left = *left;
                let outstanding = &mut self.ctx.run.traffic.triggers.outstanding[workload as usize];
                *outstanding = outstanding.wrapping_add(1);
                self.looped(workload, index, left, hook)
            }
        };
        let bounded = u64::from(begin.size < UNBOUNDED);
        self.ctx.run.traffic.triggers.no_longer_wait(begin.workload, bounded);
        if let Some(port) = self.begin(begin) {
            self.try_transmit(port);
        }
    }

    /// The message of a loop behind which `left` are to come.
    fn looped(&self, workload: u32, index: usize, left: u64, hook: u32) -> Begin {
        let LoopSpec { source, destination, size, messages, next, .. } =
            *loop_spec(self.ctx.facts.blueprint, workload, index);
        let label = self.ctx.run.traffic.labels[workload as usize][index];
        let number = label.number.saturating_add(messages - left - 1);
        let (carrier, entropy) = match next {
            Next::Left => (Carrier::AsSet, number),
            Next::Sent | Next::Arrived(_) => (Carrier::Loop(index), label.entropy),
        };
        Begin {
            workload,
            settings: self.ctx.facts.blueprint.workloads[workload as usize].settings,
            source,
            destination,
            size,
            number,
            entropy,
            ports: (None, None),
            pinned: (None, None),
            hook,
            carrier,
            rank: None,
        }
    }
}

impl World<'_> {
    /// Arms the first messages of loops.
    pub fn arm_loops(&mut self) {
        for id in 0..self.run.traffic.triggers.all.len() {
            if let Trigger::Loop { workload, index, .. } = self.run.traffic.triggers.all[id] {
                let spec = loop_spec(self.facts.blueprint, workload, index);
                let (depth, start) = (spec.depth.min(spec.messages), spec.start.0);
                self.run.events.is_at(self.facts.groups.of(spec.source));
                let event = narrow::<u32>(self.run.traffic.sources.len() + id);
                (0..depth).for_each(|_| self.run.events.add_start(event, start));
            }
        }
    }
}

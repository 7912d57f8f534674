//! Starts of flows: what follows at the node where one begins.

use floodway_blueprint::network::blueprint::Turns;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::traffic::begin::Begin;
use floodway_units::cast::narrow;

use crate::run::at_node::AtHost;
use crate::traffic::flows::Traffic;
use crate::traffic::flows::start::message_of;

impl AtHost<'_, '_> {
    /// A source's next flow begins, or what a trigger waited for has come.
    pub fn start_flow(&mut self, source: u32) {
        if let Some(trigger) = source.checked_sub(narrow::<u32>(self.ctx.run.traffic.sources.len())) {
            self.pull(trigger);
            return;
        }
        let Some(begin) = self.ctx.run.traffic.next_flow(self.ctx.facts, source) else { return };
        if let Some(port) = self.begin(&begin) {
            self.ctx.run.out.started.push(self.node.links.id(port));
        }
        let next = self.ctx.run.traffic.next_start(self.ctx.facts.blueprint, source as usize);
        let next = next.map(|at| self.ctx.run.events.simulated(at));
        // By the list, NICs try to transmit when all flows of the instant have started: turns do not depend
        // on the order of the starts.
        let listed = self.ctx.facts.blueprint.semantics.turns == Turns::Listed;
        self.ctx.run.out.all_started = next != Some(self.ctx.now) || !listed;
        if let Some(at) = next {
            self.ctx.run.events.add_start(source, at);
        }
    }

    /// Tries to transmit at the NICs of this node where flows have just started, unless more start at this
    /// instant.
    pub fn try_transmit_started(&mut self) {
        if self.ctx.run.out.all_started {
            for i in 0..self.ctx.run.out.started.len() {
                self.try_transmit(self.ctx.facts.local(self.ctx.run.out.started[i]));
            }
            self.ctx.run.out.started.clear();
        }
    }

    /// What a trigger waited for has come, and so has its time: a flow begins, or a rank sends what it may.
    fn pull(&mut self, id: u32) {
        let (traffic, mut ctx) = Traffic::at(&mut self.ctx);
        let Some(rank) = traffic.triggers.rank(id) else {
            if let Some(begin) = traffic.pull(&ctx, id)
                && let Some(port) = self.begin(&begin)
            {
                self.try_transmit(port);
            }
            return;
        };
        let Some((workload, rank, out)) = traffic.wake_rank(&mut ctx, rank) else { return };
        for &posting in &out.postings {
            let (traffic, mut ctx) = Traffic::at(&mut self.ctx);
            if let Some(begin) = traffic.send_message(&mut ctx, (workload, rank), posting)
                && let Some(port) = self.begin(&begin)
            {
                self.try_transmit(port);
            }
        }
        self.ctx.run.traffic.sent_by_rank(out);
    }

    /// A flow starts, on a queue pair of its own or on one that is there; the port of the NIC that is to
    /// look.
    fn begin(&mut self, begin: &Begin) -> Option<Local> {
        let run_time = self.ctx.run.events.run_time(self.ctx.now);
        let message = message_of(begin, (self.ctx.now, run_time), self.ctx.facts, &mut self.ctx.run.ideals);
        let key = begin.pair_key(self.ctx.facts.blueprint);
        match key.as_ref().and_then(|key| self.device.pairs.by_key.get(key)) {
            Some(&slot) => self.post(slot, message),
            None => self.open(begin, message, key),
        }
    }
}

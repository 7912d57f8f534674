//! Messages within a scale-up domain: no packets, but bytes in turn at the ports of two ranks.
//!
//! A message leaves its sender's port behind those before it, its first byte is at the receiver's port after
//! the latency, and it occupies that port for as long, behind those whose first bytes came before. All hosts
//! of a domain are of one group, so that a rank may hand its messages to another one itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_programs::{Message, Posting, SendCompletes};
use floodway_units::{Span, Time};

use super::{Programs, RankState, job};
use crate::run::at_node::AtNode;

/// A rank's port to its scale-up domain.
#[derive(Debug, Default)]
pub(super) struct ScaleUpPort {
    /// When it has sent, and received, what it has so far.
    sends_until: u64,
    receives_until: u64,
    incoming: BinaryHeap<Reverse<Coming>>,
}

/// A message on its way: when its first byte arrives, its sender, and how long it takes at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Coming {
    first: u64,
    /// Among the ranks of its workload.
    from: u32,
    message: Message,
    step: u32,
    takes: Span,
}

impl ScaleUpPort {
    /// When the next message begins to arrive.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.incoming.peek().map(|Reverse(coming)| Time(coming.first))
    }
}

impl Programs {
    /// The scale-up domain of two ranks' hosts, if they share one.
    pub(super) fn common_domain(&self, from: u32, to: u32) -> Option<u32> {
        let [from, to] = [from, to].map(|rank| self.places[rank as usize].domain);
        from.filter(|_| from == to)
    }
}

impl AtNode<'_, '_> {
    /// A rank sends to another one of its domain.
    pub(super) fn send_in_domain(
        &mut self,
        domain: u32,
        (id, from): (u32, u32),
        receiver: u32,
        posting: Posting,
    ) {
        let domain = &self.facts.blueprint.scale_up[domain as usize];
        let (workload, _) = self.run.traffic.programs.in_workload(id);
        let takes = domain.rate.time_to_send(posting.bytes);
        let port = &mut self.run.traffic.programs.ranks[id as usize].port;
        let start = port.sends_until.max(self.now);
        port.sends_until = start + takes.0;
        let Posting { message, step, .. } = posting;
        let coming = Coming { first: start + domain.latency.0, from, message, step, takes };
        let totals = &mut self.run.kept.scale_up[workload as usize];
        *totals = (totals.0 + 1, totals.1 + posting.bytes.0);
        self.run.traffic.programs.ranks[receiver as usize].port.incoming.push(Reverse(coming));
        self.arm_rank(receiver);
        let spec = job(self.facts.blueprint, workload);
        if spec.program.in_turn {
            let left = Time(start + takes.0);
            self.run.traffic.programs.ranks[id as usize].walker.left(left, posting.channel);
            self.arm_rank(id);
        }
        if spec.program.send_completes == SendCompletes::Acknowledged {
            self.rank_sent(id, posting.message, start + takes.0);
        }
    }

    /// Takes the messages whose first bytes are at the port of a rank.
    pub(super) fn take_scale_up(&mut self, id: u32) {
        let (workload, _) = self.run.traffic.programs.in_workload(id);
        let completes = job(self.facts.blueprint, workload).program.send_completes;
        loop {
            let RankState { walker, port, .. } = &mut self.run.traffic.programs.ranks[id as usize];
            let Some(&Reverse(coming)) = port.incoming.peek() else { return };
            if coming.first > self.now {
                return;
            }
            port.incoming.pop();
            let end = port.receives_until.max(coming.first) + coming.takes.0;
            port.receives_until = end;
            walker.received(Time(end), coming.from, coming.message, coming.step);
            if completes == SendCompletes::Received {
                let sender = self.run.traffic.programs.id(workload, coming.from);
                self.rank_sent(sender, coming.message, end);
            }
        }
    }
}

//! Messages within a scale-up domain: no packets, but bytes in turn at the ports of two ranks.
//!
//! A message leaves its sender's port behind those before it, its first byte is at the receiver's port after
//! the latency, and it occupies that port for as long, behind those whose first bytes came before. All hosts
//! of a domain are of one group, so that a rank may hand its messages to another one itself.
//!
//! A port is a queue in closed form: when a message leaves follows from the one before it. So of those that
//! wait only the next one has its times, and what a receiver sorts is two messages of each sender. It looks
//! when the first of them can be complete, and no message before that one can still come.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use floodway_programs::{Message, Posting, SendCompletes};
use floodway_units::{Span, Time};

use super::{Programs, RankState, job};
use crate::run::at_node::AtNode;
use crate::run::events::NEVER;

/// A rank's port to its scale-up domain.
#[derive(Debug)]
pub(super) struct ScaleUpPort {
    /// When the last message that has its times begins to leave, and has left.
    begins: u64,
    sends_until: u64,
    /// Behind that one: receiver, and message.
    waiting: VecDeque<(u32, Posting)>,
    /// When it has received what it has taken so far.
    receives_until: u64,
    incoming: BinaryHeap<Reverse<Coming>>,
    /// When the first of those that come can be complete.
    looks: u64,
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

impl Coming {
    /// When it is complete if it does not wait.
    fn soonest(&self) -> u64 {
        self.first + self.takes.0
    }
}

impl Default for ScaleUpPort {
    fn default() -> Self {
        ScaleUpPort {
            begins: 0,
            sends_until: 0,
            waiting: VecDeque::new(),
            receives_until: 0,
            incoming: BinaryHeap::new(),
            looks: NEVER,
        }
    }
}

impl ScaleUpPort {
    /// When it next gives a message its times, or takes one.
    pub(super) fn next_time(&self) -> Option<Time> {
        let sends = if self.waiting.is_empty() { NEVER } else { self.begins };
        Some(sends.min(self.looks)).filter(|&next| next != NEVER).map(Time)
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
    pub(super) fn send_in_domain(&mut self, workload: u32, id: u32, receiver: u32, posting: Posting) {
        let totals = &mut self.run.kept.scale_up[workload as usize];
        *totals = (totals.0 + 1, totals.1 + posting.bytes.0);
        self.run.traffic.programs.ranks[id as usize].port.waiting.push_back((receiver, posting));
        self.serve_scale_up(id);
        self.arm_rank(id);
    }

    /// What has its turn at the port of a rank, or the next one, gets its times.
    pub(super) fn serve_scale_up(&mut self, id: u32) {
        loop {
            let port = &mut self.run.traffic.programs.ranks[id as usize].port;
            if port.begins > self.now {
                return;
            }
            let Some((receiver, posting)) = port.waiting.pop_front() else { return };
            self.leave_in_domain(id, receiver, posting);
        }
    }

    fn leave_in_domain(&mut self, id: u32, receiver: u32, posting: Posting) {
        let programs = &mut self.run.traffic.programs;
        let (workload, from) = programs.in_workload(id);
        let domain = programs.places[id as usize].domain.expect("who sends within a domain is in it");
        let domain = &self.facts.blueprint.scale_up[domain as usize];
        let takes = domain.rate.time_to_send(posting.bytes);
        let port = &mut programs.ranks[id as usize].port;
        let start = port.sends_until.max(self.now);
        let left = start + takes.0;
        (port.begins, port.sends_until) = (start, left);
        let Posting { message, step, .. } = posting;
        let coming = Coming { first: start + domain.latency.0, from, message, step, takes };
        let port = &mut programs.ranks[receiver as usize].port;
        port.looks = port.looks.min(coming.soonest());
        port.incoming.push(Reverse(coming));
        self.arm_rank(receiver);
        let spec = job(self.facts.blueprint, workload);
        if spec.program.in_turn {
            self.run.traffic.programs.ranks[id as usize].walker.left(Time(left), posting.channel);
            self.arm_rank(id);
        }
        if spec.program.send_completes == SendCompletes::Acknowledged {
            self.rank_sent(id, message, left);
        }
    }

    /// Takes the messages whose first bytes are at the port of a rank, once one of them can be complete.
    pub(super) fn take_scale_up(&mut self, id: u32) {
        let programs = &mut self.run.traffic.programs;
        if programs.ranks[id as usize].port.looks > self.now {
            return;
        }
        let (workload, _) = programs.in_workload(id);
        let completes = job(self.facts.blueprint, workload).program.send_completes;
        loop {
            let RankState { walker, port, .. } = &mut self.run.traffic.programs.ranks[id as usize];
            let Some(&Reverse(coming)) = port.incoming.peek() else { break };
            if coming.first > self.now {
                break;
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
        let port = &mut self.run.traffic.programs.ranks[id as usize].port;
        port.looks = port.incoming.iter().map(|Reverse(coming)| coming.soonest()).min().unwrap_or(NEVER);
    }
}

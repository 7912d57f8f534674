//! Starts on completion: flows that wait for others, and closed loops.
//!
//! A completion is known at one node, the receiver's or the sender's, and starts flows of that node only: so
//! no information travels faster than the network. It always goes through the queue of events, as a flow
//! start of that instant or of a later one, ordered among others by (workload, flow or loop).

mod pull;

use std::sync::Arc;

use floodway_units::NodeId;
use rustc_hash::FxHashMap;

use crate::host::messages::NO_HOOK;
use crate::network::blueprint::{Arrivals, Blueprint, FlowSpec, LoopSpec, Next, UNBOUNDED, WorkloadSpec};
use crate::pool::Pool;

/// The progress of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Complete at its receiver.
    Receiver,
    /// Complete at its sender.
    Sender,
    /// Its last byte has left the sender's NIC.
    Nic,
}

/// A start that waits for completions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trigger {
    /// Of a flow of a list.
    Flow {
        workload: u32,
        flow: usize,
        /// Flows that it still waits for.
        unmet: usize,
        /// When the last of those that are complete was.
        ready: u64,
    },
    /// Of the next message of a loop.
    Loop {
        workload: u32,
        index: usize,
        /// Messages not posted.
        left: u64,
        /// Who waits for each of them.
        hook: u32,
    },
}

/// Triggers that wait for a message.
#[derive(Clone, Debug, Default)]
struct Hook {
    receiver: Vec<u32>,
    sender: Vec<u32>,
    nic: Vec<u32>,
    /// Of a loop's messages: their workload, whose outstanding ones they are.
    counted: Option<u32>,
}

/// All that waits for completions.
#[derive(Debug, Default)]
pub(crate) struct Triggers {
    all: Pool<Trigger>,
    hooks: Arc<Vec<Hook>>,
    /// By (workload, flow of its list): its hook.
    hooked: Arc<FxHashMap<(u32, usize), u32>>,
    /// By workload: flows and messages with an end that wait. Threads count what they see, and counts wrap:
    /// only their sum means anything.
    pub waiting: Vec<u64>,
    /// By workload: messages of loops that are posted and not complete, counted in the same way.
    pub outstanding: Vec<u64>,
}

impl Triggers {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The host at which a trigger starts a flow.
    pub fn host(&self, blueprint: &Blueprint, id: u32) -> NodeId {
        match self.all[id as usize] {
            Trigger::Flow { workload, flow, .. } => flow_spec(blueprint, workload, flow).source,
            Trigger::Loop { workload, index, .. } => loop_spec(blueprint, workload, index).source,
        }
    }

    /// Those of a blueprint.
    pub fn new(blueprint: &Blueprint) -> Self {
        let mut triggers = Triggers::default();
        for (i, workload) in (0..).zip(&blueprint.workloads) {
            triggers.waiting.push(0);
            triggers.outstanding.push(0);
            match &workload.arrivals {
                Arrivals::List(flows) => triggers.add_flows(i, flows),
                Arrivals::ClosedLoop(loops) => triggers.add_loops(i, loops),
                // Of a job, the ranks that are not at its end.
                Arrivals::Program(spec) => triggers.waiting[i as usize] = spec.hosts.len() as u64,
                Arrivals::Poisson(_) => {}
            }
        }
        triggers
    }

    fn add_flows(&mut self, workload: u32, flows: &[FlowSpec]) {
        let hooks = Arc::make_mut(&mut self.hooks);
        for (i, flow) in flows.iter().enumerate().filter(|(_, flow)| !flow.after.is_empty()) {
            let id = self.all.add(Trigger::Flow { workload, flow: i, unmet: flow.after.len(), ready: 0 });
            self.waiting[workload as usize] += u64::from(flow.size < UNBOUNDED);
            for &before in &flow.after {
                let hook = *Arc::make_mut(&mut self.hooked).entry((workload, before)).or_insert_with(|| {
                    hooks.push(Hook::default());
                    hooks.len() as u32 - 1
                });
                let arrives = flows[before].destination == flow.source;
                hooks[hook as usize].add(if arrives { End::Receiver } else { End::Sender }, id);
            }
        }
    }

    fn add_loops(&mut self, workload: u32, loops: &[LoopSpec]) {
        let hooks = Arc::make_mut(&mut self.hooks);
        let first = (self.all.len() as u32, hooks.len() as u32);
        let hook = Hook { counted: Some(workload), ..Hook::default() };
        hooks.resize(hooks.len() + loops.len(), hook);
        for (index, spec) in loops.iter().enumerate() {
            let hook = first.1 + index as u32;
            self.all.add(Trigger::Loop { workload, index, left: spec.messages, hook });
            self.waiting[workload as usize] += spec.messages;
            let (of, end) = match spec.next {
                Next::Sent => (index, End::Sender),
                Next::Left => (index, End::Nic),
                Next::Arrived(other) => (other, End::Receiver),
            };
            hooks[first.1 as usize + of].add(end, first.0 + index as u32);
        }
    }

    /// The same, for another thread, which has counted nothing.
    pub fn share(&self) -> Self {
        let none = vec![0; self.waiting.len()];
        Triggers {
            all: self.all.clone(),
            hooks: Arc::clone(&self.hooks),
            hooked: Arc::clone(&self.hooked),
            waiting: none.clone(),
            outstanding: none,
        }
    }

    /// So many less wait.
    pub fn no_longer_wait(&mut self, workload: u32, flows: u64) {
        let waiting = &mut self.waiting[workload as usize];
        *waiting = waiting.wrapping_sub(flows);
    }

    /// Adds what another thread has counted.
    pub fn absorb(&mut self, other: &Triggers) {
        for (counts, more) in
            [(&mut self.waiting, &other.waiting), (&mut self.outstanding, &other.outstanding)]
        {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count = count.wrapping_add(*more));
        }
    }

    /// The hook of a flow of a list.
    pub fn hook_of(&self, workload: u32, flow: usize) -> u32 {
        self.hooked.get(&(workload, flow)).copied().unwrap_or(NO_HOOK)
    }
}

impl Hook {
    fn add(&mut self, end: End, trigger: u32) {
        match end {
            End::Receiver => self.receiver.push(trigger),
            End::Sender => self.sender.push(trigger),
            End::Nic => self.nic.push(trigger),
        }
    }

    fn at(&self, end: End) -> &[u32] {
        match end {
            End::Receiver => &self.receiver,
            End::Sender => &self.sender,
            End::Nic => &self.nic,
        }
    }

    /// The workload that has one outstanding message less: it counts at one end only, at the sender's if
    /// anything waits there.
    fn counted_at(&self, end: End) -> Option<u32> {
        let counts = if self.sender.is_empty() { End::Receiver } else { End::Sender };
        self.counted.filter(|_| end == counts)
    }
}

fn loop_spec(blueprint: &Blueprint, workload: u32, index: usize) -> &LoopSpec {
    match &blueprint.workloads[workload as usize].arrivals {
        Arrivals::ClosedLoop(loops) => &loops[index],
        _ => unreachable!("the trigger was made for a loop"),
    }
}

fn flow_spec(blueprint: &Blueprint, workload: u32, flow: usize) -> &FlowSpec {
    match &blueprint.workloads[workload as usize].arrivals {
        Arrivals::List(flows) => &flows[flow],
        _ => unreachable!("the trigger was made for a list"),
    }
}

/// May a workload's triggers, of which `waiting` wait, still start a measured flow at `now` or later? Or do
/// loops that are at their end still wait for a message to be complete, where that is at the sender?
pub(crate) fn may_measure(spec: &WorkloadSpec, waiting: u64, outstanding: u64, now: u64) -> bool {
    let (from, to) = spec.measure;
    if waiting == 0 || now >= spec.until.0 {
        return from < to && outstanding > 0;
    }
    now < to.0
}

//! Starts on completion: flows that wait for others, closed loops, and what ranks of jobs do.
//!
//! A completion is known at one node, the receiver's or the sender's, and starts flows of that node only: so
//! no information travels faster than the network. It always goes through the queue of events, as a flow
//! start of that instant or of a later one, ordered among others by (workload, flow or loop), with ranks of
//! jobs last.

mod pull;

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

use floodway_blueprint::network::blueprint::{
    Arrivals, Blueprint, FlowSpec, LoopSpec, Next, UNBOUNDED, WorkloadSpec,
};
use floodway_blueprint::traffic::lists::{ListProgram, Lists};
use floodway_units::NodeId;
use floodway_units::cast::narrow;

use crate::pool::Pool;
use crate::traffic::programs::Programs;

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

/// What has happened to a message that others may wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    /// Who waits for it.
    pub hook: u32,
    pub number: u64,
    pub end: End,
    /// When.
    pub at: u64,
}

/// A start that waits for completions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trigger {
    /// Of what a rank does next.
    Rank(u32),
    /// Of a flow of a list, which its rank has issued.
    Flow { workload: u32, flow: usize },
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

/// Triggers that wait for a loop's messages.
#[derive(Clone, Debug, Default)]
struct Hook {
    receiver: Vec<u32>,
    sender: Vec<u32>,
    nic: Vec<u32>,
    /// Whose outstanding messages they are.
    workload: u32,
}

/// All that waits for completions.
#[derive(Debug, Default)]
pub(crate) struct Triggers {
    all: Pool<Trigger>,
    hooks: Arc<Vec<Hook>>,
    /// By rank.
    of_rank: Arc<[u32]>,
    /// By workload: that of the first flow of its list that waits.
    of_list: Arc<[u32]>,
    /// By workload: flows and messages with an end that wait. Threads count what they see, and counts wrap:
    /// only their sum means anything.
    pub waiting: Vec<u64>,
    /// By workload: messages of loops that are posted and not complete, counted in the same way.
    pub outstanding: Vec<u64>,
}

impl Triggers {
    /// Appends their state.
    pub fn write_state(&self, out: &mut String) {
        for trigger in 0..self.all.len() {
            write!(out, "{:?} ", self.all[trigger]).expect("a text takes all");
        }
    }

    /// The trigger of a rank.
    pub fn of_rank(&self, rank: u32) -> u32 {
        self.of_rank[rank as usize]
    }

    /// The trigger of a flow of a list, by its place among those that wait.
    pub fn of_flow(&self, workload: u32, place: usize) -> u32 {
        self.of_list[workload as usize] + narrow::<u32>(place)
    }

    /// The host at which a trigger starts a flow.
    pub fn host(&self, blueprint: &Blueprint, programs: &Programs, id: u32) -> NodeId {
        match self.all[id as usize] {
            Trigger::Rank(rank) => programs.host(rank),
            Trigger::Flow { workload, flow } => blueprint.flows_of(workload)[flow].source,
            Trigger::Loop { workload, index, .. } => loop_spec(blueprint, workload, index).source,
        }
    }

    /// Those of a blueprint.
    pub fn new(blueprint: &Blueprint, lists: &Lists, programs: &Programs) -> Self {
        let mut triggers = Triggers { of_rank: vec![0; programs.count()].into(), ..Triggers::default() };
        let none = vec![0; blueprint.workloads.len()];
        (triggers.waiting, triggers.outstanding) = (none.clone(), none);
        let workloads = || (0..).zip(&blueprint.workloads);
        // What a rank of a list issues at an instant starts behind it.
        for (i, _) in workloads().filter(|&(i, _)| lists.of(i).is_some()) {
            triggers.add_ranks(programs.of_workload(i));
        }
        let mut of_list = Vec::new();
        for (i, workload) in workloads() {
            of_list.push(narrow(triggers.all.len()));
            match (&workload.arrivals, lists.of(i)) {
                (Arrivals::List(flows), Some(list)) => triggers.add_flows(i, flows, list),
                (Arrivals::ClosedLoop(loops), _) => triggers.add_loops(i, loops),
                (Arrivals::List(_) | Arrivals::Poisson(_) | Arrivals::Program(_), _) => {}
            }
        }
        triggers.of_list = of_list.into();
        for (i, workload) in workloads() {
            if let Arrivals::Program(spec) = &workload.arrivals {
                triggers.add_ranks(programs.of_workload(i));
                // The ranks that are not at its end.
                triggers.waiting[i as usize] = spec.hosts.len() as u64;
            }
        }
        triggers
    }

    fn add_flows(&mut self, workload: u32, flows: &[FlowSpec], list: &ListProgram) {
        for &flow in &list.waiting {
            self.all.add(Trigger::Flow { workload, flow });
            self.waiting[workload as usize] += u64::from(flows[flow].size < UNBOUNDED);
        }
    }

    fn add_ranks(&mut self, ranks: Range<u32>) {
        let of_rank = Arc::make_mut(&mut self.of_rank);
        for rank in ranks {
            of_rank[rank as usize] = self.all.add(Trigger::Rank(rank));
        }
    }

    fn add_loops(&mut self, workload: u32, loops: &[LoopSpec]) {
        let hooks = Arc::make_mut(&mut self.hooks);
        let first = (narrow::<u32>(self.all.len()), narrow::<u32>(hooks.len()));
        let hook = Hook { workload, ..Hook::default() };
        hooks.resize(hooks.len() + loops.len(), hook);
        for (index, spec) in loops.iter().enumerate() {
            let hook = first.1 + narrow::<u32>(index);
            self.all.add(Trigger::Loop { workload, index, left: spec.messages, hook });
            self.waiting[workload as usize] += spec.messages;
            let (of, end) = match spec.next {
                Next::Sent => (index, End::Sender),
                Next::Left => (index, End::Nic),
                Next::Arrived(other) => (other, End::Receiver),
            };
            hooks[first.1 as usize + of].add(end, first.0 + narrow::<u32>(index));
        }
    }

    /// The same, for another thread, which has counted nothing.
    ///
    /// # Safety
    /// As [`Pool::share`].
    #[allow(unsafe_code, reason = "threads share what nodes own")]
    pub unsafe fn share(&self) -> Self {
        let none = vec![0; self.waiting.len()];
        // SAFETY: by the caller.
        let all = unsafe { self.all.share() };
        Triggers {
            all,
            hooks: Arc::clone(&self.hooks),
            of_rank: Arc::clone(&self.of_rank),
            of_list: Arc::clone(&self.of_list),
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
        (end == counts).then_some(self.workload)
    }
}

fn loop_spec(blueprint: &Blueprint, workload: u32, index: usize) -> &LoopSpec {
    match &blueprint.workloads[workload as usize].arrivals {
        Arrivals::ClosedLoop(loops) => &loops[index],
        _ => unreachable!("the trigger was made for a loop"),
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

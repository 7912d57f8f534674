//! Ranks: walkers that execute programs. Ranks of jobs send messages; those of lists start flows that wait
//! for others.
//!
//! A rank belongs to its host: only events of that host change it. What happens there goes into the rank's
//! walker, with its time, and an event of the host advances the walker at that time. So a rank learns of
//! others only by messages that arrive at its host, and the order in which events of one instant are executed
//! does not matter to it.

mod messages;
mod recurrence;
mod scale_up;
mod waiting;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use floodway_blueprint::network::blueprint::job;
use floodway_blueprint::network::blueprint::{Arrivals, Blueprint};
use floodway_programs::collective::Step;
use floodway_programs::critical_path::Extent;
use floodway_programs::{Course, Message, Output, Program, Walker};
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Time};

use crate::pool::Pool;
use crate::run::events::NEVER;

use floodway_blueprint::traffic::lists::{ListProgram, Lists};
use scale_up::ScaleUpPort;

/// The ranks of all jobs and lists, numbered workload by workload.
#[derive(Default)]
pub(crate) struct Programs {
    ranks: Pool<RankState>,
    /// By rank.
    places: Arc<[Place]>,
    /// By workload: its first rank.
    first: Arc<[u32]>,
    out: Output,
    step: Step,
    /// By workload: the program of an iteration of which rounds are skipped.
    shorter: Vec<Option<Shorter>>,
    /// Workloads, iterations as ranks count them, and rounds of these that were skipped.
    rounds_skipped: Vec<(u32, u32, u32)>,
    /// Where a critical path is looked for: the workload, and from when to when its target is.
    logged: Option<(u32, Extent)>,
}

/// The program of an iteration of which rounds are skipped.
#[derive(Clone, Debug)]
struct Shorter {
    /// As ranks count it.
    iteration: u32,
    rounds: u32,
    program: Arc<Program>,
}

/// What ranks of a workload execute.
fn course<'p>(shorter: &'p [Option<Shorter>], workload: u32, whole: &'p Program) -> Course<'p> {
    let shorter = shorter.get(workload as usize).and_then(Option::as_ref);
    Course::new(whole, shorter.map(|shorter| (shorter.iteration, &*shorter.program)))
}

/// What never changes of a rank.
#[derive(Clone, Copy, Debug)]
struct Place {
    workload: u32,
    host: NodeId,
    /// Which of the ranks of its host it is.
    local: u8,
    /// The scale-up domain of its host, in the blueprint's list.
    domain: Option<u32>,
}

/// A rank of a job or of a list.
#[derive(Debug)]
struct RankState {
    walker: Walker,
    /// When the next event advances it.
    armed: u64,
    /// Behind that one, when another event comes that was made before; never, if none is known.
    behind: u64,
    port: ScaleUpPort,
}

impl Programs {
    /// The ranks of a blueprint.
    pub fn new(blueprint: &Blueprint, lists: &Lists) -> Self {
        let (mut places, mut first) = (Vec::new(), Vec::new());
        let mut ranks: Vec<RankState> = Vec::new();
        let mut of_host = vec![0u8; blueprint.nodes.len()];
        let domains = blueprint.domains();
        for (workload, spec) in (0..).zip(&blueprint.workloads) {
            first.push(narrow(places.len()));
            if let Some(list) = lists.of(workload) {
                let of_host = |&host| Place { workload, host, local: 0, domain: None };
                places.extend(list.hosts.iter().map(of_host));
                ranks.extend(RankState::of_list(list));
            }
            let Arrivals::Program(spec) = &spec.arrivals else { continue };
            for (rank, &host) in (0..).zip(&spec.hosts) {
                let local = &mut of_host[host.index()];
                places.push(Place { workload, host, local: *local, domain: domains.of(host) });
                *local = local.wrapping_add(1);
                ranks.push(RankState::new(Walker::new(&spec.program, rank, spec.start)));
            }
        }
        let ranks = ranks.into_iter().collect();
        Programs { ranks, places: places.into(), first: first.into(), ..Programs::default() }
    }

    /// The same, for another thread.
    ///
    /// # Safety
    /// As [`Pool::share`].
    #[allow(unsafe_code, reason = "threads share what nodes own")]
    pub unsafe fn share(&self) -> Self {
        // SAFETY: by the caller.
        let ranks = unsafe { self.ranks.share() };
        let (places, first) = (Arc::clone(&self.places), Arc::clone(&self.first));
        let shorter = self.shorter.clone();
        Programs { ranks, places, first, shorter, logged: self.logged, ..Programs::default() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// The ranks of a workload.
    pub fn of_workload(&self, workload: u32) -> Range<u32> {
        let next = self.first.get(workload as usize + 1).copied();
        self.first[workload as usize]..next.unwrap_or(narrow(self.places.len()))
    }

    /// The host of a rank.
    pub fn host(&self, rank: u32) -> NodeId {
        self.places[rank as usize].host
    }

    /// Number of a rank of a workload among all ranks.
    pub fn id(&self, workload: u32, rank: u32) -> u32 {
        self.first[workload as usize] + rank
    }

    /// Workload of a rank, and its number there.
    pub fn in_workload(&self, id: u32) -> (u32, u32) {
        let workload = self.places[id as usize].workload;
        (workload, id - self.first[workload as usize])
    }

    /// Host and number of the flow of a message, among the flows of its workload and host.
    pub fn flow_of(&self, workload: u32, from: u32, message: Message) -> (NodeId, u64) {
        let place = &self.places[self.id(workload, from) as usize];
        (place.host, message.number() | u64::from(place.local) << Message::BITS)
    }

    /// The scale-up domain of two ranks of a workload, if they share one.
    pub fn domain_of(&self, workload: u32, from: u32, to: u32) -> Option<u32> {
        self.common_domain(self.id(workload, from), self.id(workload, to))
    }

    /// Logs from which event what follows, from a time on, at all ranks of a workload, and from when to when
    /// the target of a path is.
    pub fn log_predecessors(&mut self, logged: (u32, Extent), from: Time, most: usize) {
        for id in 0..self.places.len() {
            if self.places[id].workload == logged.0 {
                self.ranks[id].walker.log_predecessors(from, most);
            }
        }
        self.logged = Some(logged);
    }

    /// From when to when the target of a path is, if one is looked for.
    pub fn extent(&self) -> Option<&Extent> {
        self.logged.as_ref().map(|(_, extent)| extent)
    }

    /// Is the target of a path complete?
    pub fn is_target_complete(&self) -> bool {
        self.extent().is_some_and(|extent| extent.complete().is_some())
    }

    /// The walkers of a workload's ranks, when the run is over.
    pub fn walkers(&self, workload: u32, ranks: usize) -> impl Iterator<Item = &Walker> {
        (0..ranks).map(move |rank| &self.ranks[self.first[workload as usize] as usize + rank].walker)
    }

    /// A rank, whether it is at its end, and which operations wait: iterations and operations.
    pub fn progress(&self, id: u32) -> (u32, bool, Vec<(u32, u32)>) {
        let walker = &self.ranks[id as usize].walker;
        (id, walker.is_finished(), walker.waiting().collect())
    }
}

impl RankState {
    fn new(walker: Walker) -> Self {
        RankState { walker, armed: NEVER, behind: NEVER, port: ScaleUpPort::default() }
    }

    /// The ranks of a list, which have begun: flows that wait for none are started by their sources.
    fn of_list(list: &ListProgram) -> impl Iterator<Item = Self> {
        (0..narrow::<u32>(list.hosts.len())).map(|rank| {
            let mut walker = Walker::new(&list.program, rank, Time::ZERO);
            walker.advance(&list.program, Time::ZERO, &mut Output::default());
            RankState::new(walker)
        })
    }

    /// When it has something to do.
    fn next_time(&self) -> Option<Time> {
        self.walker.next_time().into_iter().chain(self.port.next_time()).min()
    }
}

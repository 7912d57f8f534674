//! The number of threads of a run, and the reason why it is not larger.
//!
//! By default a run uses all cores if that is faster by the rule in `policy`. `floodway run` prints why it
//! uses fewer.

pub(crate) mod assignment;
mod policy;

use floodway_blueprint::network::blueprint::Blueprint;
use floodway_blueprint::network::groups::{Groups, SHORTEST, in_one_order};

use crate::run::threads::policy::FewerThreads;

/// The requested number of threads of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// As many as make the run faster.
    #[default]
    Paying,
    /// This number, but fewer where they would only wait for one another.
    AtMost(usize),
    /// This number wherever nodes are executed one by one, even if that is slower.
    Forced(usize),
}

/// Maximum number of threads: the thread of a node is one byte.
const MOST: usize = 250;

/// On how many threads a run is. Results do not depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadPlan {
    threads: usize,
    /// All of them execute every window, however few events it has.
    forced: bool,
    /// By node, the thread that owns it at first; none if that follows from the topology.
    owners: Option<Vec<u8>>,
    /// Why there are no more threads, where more were to be had.
    why: Option<String>,
}

impl ThreadPlan {
    /// One thread, for the reason `why`.
    pub(crate) fn one(why: Option<String>) -> Self {
        ThreadPlan { threads: 1, forced: false, owners: None, why }
    }

    /// Threads that own the nodes as `owners` says at first, if nodes are executed one by one; if `forced`,
    /// all execute every window, however few events it has.
    pub fn with_owners(blueprint: &Blueprint, owners: &[u8], forced: bool) -> Self {
        let threads = owners.iter().max().map_or(1, |&last| usize::from(last) + 1);
        let in_one_order = Groups::new(blueprint).window().is_none();
        if threads == 1 || in_one_order || owners.len() != blueprint.nodes.len() {
            return Self::one(in_one_order.then(|| why_one(blueprint)));
        }
        ThreadPlan { threads, forced, owners: Some(owners.to_vec()), why: None }
    }

    /// The plan of a run where `cores` are available.
    pub fn of_run(blueprint: &Blueprint, asked: Threads, cores: usize) -> Self {
        let (wanted, rule): (_, fn(&_, _, _) -> _) = match asked {
            Threads::Paying => (cores, policy::too_little),
            Threads::AtMost(wanted) | Threads::Forced(wanted) => (wanted, policy::too_short),
        };
        let groups = Groups::new(blueprint);
        let threads = wanted.clamp(1, MOST).min(groups.count());
        if wanted == 1 {
            return Self::one(None);
        }
        let Some(window) = groups.window() else { return Self::one(Some(why_one(blueprint))) };
        let forced = asked == Threads::Forced(wanted);
        match rule(blueprint, window, threads) {
            Some(FewerThreads { threads, why }) if !forced => {
                ThreadPlan { threads, forced, owners: None, why: Some(why) }
            }
            Some(FewerThreads { why, .. }) => {
                let why = Some(format!(
                    "{why}; fewer may be faster, and these may take several times the CPU time of one"
                ));
                ThreadPlan { threads, forced, owners: None, why }
            }
            None => {
                let few = || format!("more than {threads} are of no use to as many nodes");
                ThreadPlan { threads, forced, owners: None, why: (threads < wanted).then(few) }
            }
        }
    }

    /// On how many threads it is.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Do all of them execute every window, however few events it has?
    pub(crate) fn forced(&self) -> bool {
        self.forced
    }

    /// By node, the thread that owns it at first.
    /// Where there are other processes, `owned` says which nodes are of this one.
    pub(crate) fn owners(&self, blueprint: &Blueprint, owned: Option<&[bool]>) -> Vec<u8> {
        let owners = || match owned {
            None => assignment::initial(blueprint, self.threads),
            Some(owned) => assignment::within(blueprint, owned, self.threads),
        };
        self.owners.clone().unwrap_or_else(owners)
    }

    /// Why there are no more threads, where more were to be had.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }
}

/// Why the events of all nodes of a blueprint go in one order.
pub(crate) fn why_one(blueprint: &Blueprint) -> String {
    in_one_order(blueprint).unwrap_or_else(|| {
        format!("links of less than {SHORTEST} hold all nodes together, whose events have one order then")
    })
}

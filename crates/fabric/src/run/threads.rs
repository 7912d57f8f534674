//! On how many threads a run is, and why not on more.

pub(crate) mod deal;
mod pays;

use crate::network::blueprint::Blueprint;
use crate::run::groups::{Groups, SHORTEST, in_one_order};

/// On how many threads somebody wants a run to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// On so many as pay.
    #[default]
    Paying,
    /// On so many, but on one where they would only wait for one another.
    AtMost(usize),
    /// On so many wherever events go node by node, however much slower that is.
    Forced(usize),
}

/// At most so many threads: a node's is one byte.
const MOST: usize = 250;

/// On how many threads a run is. Results do not depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staffing {
    threads: usize,
    /// All of them take part however little happens.
    always: bool,
    /// By node, the thread that visits it at first; none where that follows from the network.
    homes: Option<Vec<u8>>,
    /// Why there are no more threads, where more were to be had.
    why: Option<String>,
}

impl Staffing {
    /// One thread; `why` says for what reason.
    fn one(why: Option<String>) -> Self {
        Staffing { threads: 1, always: false, homes: None, why }
    }

    /// So many threads, each of which visits at first the nodes that `homes` says, where events go node by node; if `always`,
    /// all take part however little happens.
    pub fn dealt(blueprint: &Blueprint, homes: &[u8], always: bool) -> Self {
        let threads = homes.iter().max().map_or(1, |&last| usize::from(last) + 1);
        let in_one_order = Groups::new(blueprint).window().is_none();
        if threads == 1 || in_one_order || homes.len() != blueprint.nodes.len() {
            return Self::one(in_one_order.then(|| why_one(blueprint)));
        }
        Staffing { threads, always, homes: Some(homes.to_vec()), why: None }
    }

    /// What a run does where `cores` are to be had.
    pub fn of_run(blueprint: &Blueprint, asked: Threads, cores: usize) -> Self {
        let (wanted, rule): (_, fn(&_, _, _) -> _) = match asked {
            Threads::Paying => (cores, pays::too_little),
            Threads::AtMost(wanted) | Threads::Forced(wanted) => (wanted, pays::too_short),
        };
        let groups = Groups::new(blueprint);
        let threads = wanted.clamp(1, MOST).min(groups.count());
        if wanted == 1 {
            return Self::one(None);
        }
        let Some(window) = groups.window() else { return Self::one(Some(why_one(blueprint))) };
        let slow = rule(blueprint, window, threads);
        let always = asked == Threads::Forced(wanted);
        match slow {
            Some(why) if !always => Self::one(Some(why)),
            Some(why) => {
                let why = Some(format!("{why}, and one may be faster"));
                Staffing { threads, always, homes: None, why }
            }
            None => {
                let few = || format!("more than {threads} are of no use to as many nodes");
                Staffing { threads, always, homes: None, why: (threads < wanted).then(few) }
            }
        }
    }

    /// On how many threads it is.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Do they all take part however little happens?
    pub(crate) fn always(&self) -> bool {
        self.always
    }

    /// By node, the thread that visits it at first.
    pub(crate) fn homes(&self, blueprint: &Blueprint) -> Vec<u8> {
        self.homes.clone().unwrap_or_else(|| deal::homes(blueprint, self.threads))
    }

    /// Why there are no more threads, where more were to be had.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }
}

/// Why the events of all nodes of a blueprint go in one order.
fn why_one(blueprint: &Blueprint) -> String {
    in_one_order(blueprint).map_or_else(
        || format!("links of less than {SHORTEST} hold all nodes together, whose events have one order then"),
        str::to_owned,
    )
}

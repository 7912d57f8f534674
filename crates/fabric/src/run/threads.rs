//! On how many threads a run is, and why not on more.

pub(crate) mod deal;
mod pays;

use crate::network::blueprint::{Blueprint, DirectionSpec, Draws, Ties};
use crate::run::by_node::SHORTEST;

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
        if threads == 1 || blueprint.window().is_none() || homes.len() != blueprint.nodes.len() {
            return Self::one(blueprint.window().is_none().then(|| in_one_order(blueprint)));
        }
        Staffing { threads, always, homes: Some(homes.to_vec()), why: None }
    }

    /// What a run does where `cores` are to be had.
    pub fn of_run(blueprint: &Blueprint, asked: Threads, cores: usize) -> Self {
        let (wanted, rule): (_, fn(&_, _, _) -> _) = match asked {
            Threads::Paying => (cores, pays::too_little),
            Threads::AtMost(wanted) | Threads::Forced(wanted) => (wanted, pays::too_short),
        };
        let threads = wanted.clamp(1, MOST).min(blueprint.nodes.len().max(1));
        if threads == 1 {
            return Self::one(None);
        }
        let Some(window) = blueprint.window() else { return Self::one(Some(in_one_order(blueprint))) };
        let slow = rule(blueprint, window, threads);
        let always = asked == Threads::Forced(wanted);
        match slow {
            Some(why) if !always => Self::one(Some(why)),
            Some(why) => {
                let why = Some(format!("{why}, and one may be faster"));
                Staffing { threads, always, homes: None, why }
            }
            None => {
                let few = || format!("more than {threads} are of no use to {} nodes", blueprint.nodes.len());
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

/// Why events of a blueprint do not go node by node.
fn in_one_order(blueprint: &Blueprint) -> String {
    if blueprint.semantics.ties == Ties::SchedulingOrder {
        "ties go by the order in which events are scheduled, which is one for the whole network".to_owned()
    } else if blueprint.semantics.draws == Draws::HpccNs3 {
        "all marks are drawn from one stream".to_owned()
    } else if blueprint.records.capture.is_some() {
        "frames are captured in one order".to_owned()
    } else {
        let delay =
            |directions: &[DirectionSpec; 2]| directions.iter().map(DirectionSpec::shortest_delay).min();
        let shortest = blueprint.links.iter().min_by_key(|link| delay(&link.directions));
        let shortest = shortest.map_or_else(String::new, |link| {
            let delay = delay(&link.directions).unwrap_or_default();
            format!(": that of {} is {delay}", link.name)
        });
        format!("some link's delay is below {SHORTEST}{shortest}")
    }
}

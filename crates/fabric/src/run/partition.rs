//! Which nodes are simulated together, and on how many threads.
//!
//! A network is cut where its links are long, for the delay of a cut is how far its two sides may run apart. Links
//! are taken away by falling delay until what is left hangs together in several parts with hosts: datacenters, then
//! what is below one switch. These are packed into as many groups as are wanted, neighbours together, with like
//! shares of the ports' rates; switches that have no hosts (aggregation, cores) follow most of their links, and
//! are dealt out where those lead everywhere.

mod auto;
mod pays;

use floodway_units::{NodeId, Span};

use crate::network::blueprint::{Blueprint, Draws, Ties};
use crate::run::cut::{Cut, MOST_PARTS, uncut};

/// On how many threads somebody wants a run to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// On so many as pay.
    #[default]
    Paying,
    /// On so many, but on one where the network cannot be cut so that they are of use.
    AtMost(usize),
    /// On so many wherever the network can be cut, however much slower that is.
    Forced(usize),
}

/// How a network is cut into partitions, and on how many threads they run. Results do not depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitioning {
    /// By node: its partition.
    owner: Vec<u8>,
    parts: usize,
    threads: usize,
    /// Why there are no more threads, where more were to be had.
    why: Option<String>,
}

impl Partitioning {
    /// All in one partition, on one thread; `why` says for what reason.
    fn whole(blueprint: &Blueprint, why: Option<String>) -> Self {
        Partitioning { owner: vec![0; blueprint.nodes.len()], parts: 1, threads: 1, why }
    }

    /// At most `parts` partitions where the network's own structure suggests them, each on a thread of its own.
    pub fn automatic(blueprint: &Blueprint, parts: usize) -> Self {
        if let Some(why) = indivisible(blueprint) {
            return Self::whole(blueprint, Some(why));
        }
        let wanted = parts.clamp(1, MOST_PARTS);
        let (owner, found) = auto::divide(blueprint, wanted);
        let why = (found < wanted).then(|| too_few(blueprint, found));
        Partitioning { owner, parts: found, threads: found, why }
    }

    /// Partitions of these nodes, each on a thread of its own; all other nodes follow their neighbours.
    ///
    /// # Errors
    /// A node in two groups, too many groups, or two of them with a link between them that cannot be cut.
    pub fn of_groups(blueprint: &Blueprint, groups: &[Vec<NodeId>]) -> Result<Self, String> {
        if let Some(why) = indivisible(blueprint) {
            return Ok(Self::whole(blueprint, Some(why)));
        }
        if groups.len() > MOST_PARTS {
            return Err(format!("{} partitions are too many; allowed: up to {MOST_PARTS}", groups.len()));
        }
        if groups.len() < 2 {
            return Ok(Self::whole(blueprint, None));
        }
        let owner = auto::follow(blueprint, groups)?;
        Ok(Partitioning { owner, parts: groups.len(), threads: groups.len(), why: None })
    }

    /// What a run does where `cores` are to be had, in the partitions `groups` or, where there are none, in those of
    /// [`Partitioning::automatic`]. Where threads would only wait for one another it has one, unless they are forced.
    ///
    /// # Errors
    /// As [`Partitioning::of_groups`].
    pub fn of_run(
        blueprint: &Blueprint,
        groups: &[Vec<NodeId>],
        asked: Threads,
        cores: usize,
    ) -> Result<Self, String> {
        let (Threads::AtMost(wanted) | Threads::Forced(wanted)) = asked else {
            return Self::paying(blueprint, groups, cores);
        };
        let mut parts = Self::wanted(blueprint, groups, wanted)?;
        match parts.unless(blueprint, pays::too_short) {
            Some(why) if asked == Threads::AtMost(wanted) => Ok(Self::whole(blueprint, Some(why))),
            slow => {
                parts.why = slow.map(|why| format!("{why}, and one may be faster")).or(parts.why);
                Ok(parts)
            }
        }
    }

    /// As many threads as there are cores, where that pays.
    fn paying(blueprint: &Blueprint, groups: &[Vec<NodeId>], cores: usize) -> Result<Self, String> {
        let parts = Self::wanted(blueprint, groups, cores)?;
        match parts.unless(blueprint, pays::too_little) {
            Some(why) => Ok(Self::whole(blueprint, Some(why))),
            None => Ok(parts),
        }
    }

    /// What speaks against its threads by a rule; nothing where there is one.
    fn unless(
        &self,
        blueprint: &Blueprint,
        rule: impl Fn(&Blueprint, Span, usize) -> Option<String>,
    ) -> Option<String> {
        if self.parts > 1 { rule(blueprint, self.shortest(blueprint), self.threads) } else { None }
    }

    /// So many threads, wherever the network can be cut.
    fn wanted(blueprint: &Blueprint, groups: &[Vec<NodeId>], wanted: usize) -> Result<Self, String> {
        let given = if groups.is_empty() { None } else { Some(Self::of_groups(blueprint, groups)?) };
        if wanted <= 1 {
            return Ok(Self::whole(blueprint, None));
        }
        Ok(given.unwrap_or_else(|| Self::automatic(blueprint, wanted)).on(wanted))
    }

    /// The same partitions on at most so many threads.
    #[must_use]
    pub fn on(mut self, threads: usize) -> Self {
        self.threads = threads.clamp(1, self.parts);
        self
    }

    /// How many partitions there are.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// On how many threads they run.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The partition of a node.
    pub fn of(&self, node: NodeId) -> usize {
        usize::from(self.owner[node.index()])
    }

    /// Why there are no more threads, where more were to be had.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    pub(crate) fn cut(&self, blueprint: &Blueprint) -> Cut {
        Cut::new(blueprint, self.parts, self.owner.clone())
    }

    /// The shortest of the links that are cut.
    fn shortest(&self, blueprint: &Blueprint) -> Span {
        self.cut(blueprint).lookahead(blueprint).1.unwrap_or(Span(u64::MAX))
    }
}

/// Why a network is cut into `found` partitions and no more.
fn too_few(blueprint: &Blueprint, found: usize) -> String {
    let uncut = blueprint.links.iter().find_map(|link| uncut(link).map(|why| (&link.name, why)));
    let reason = uncut.map_or_else(String::new, |(name, why)| format!(", since {name} is not cut: {why}"));
    match found {
        0 | 1 => format!("the network is not cut{reason}"),
        parts => format!("the network comes apart into {parts} by itself{reason}"),
    }
}

/// Why nodes of a blueprint cannot be simulated apart, if so.
fn indivisible(blueprint: &Blueprint) -> Option<String> {
    let why = if blueprint.semantics.ties == Ties::SchedulingOrder {
        "ties go by the order in which events are scheduled, which is one for the whole network"
    } else if blueprint.semantics.draws == Draws::HpccNs3 {
        "all marks are drawn from one stream"
    } else if blueprint.records.capture.is_some() {
        "frames are captured in one order"
    } else {
        return None;
    };
    Some(why.to_owned())
}

/// The nodes at a link's ends, and the shorter of its delays.
fn ends_of(link: &crate::network::blueprint::LinkSpec) -> ([usize; 2], Span) {
    let [a, b] = [0, 1].map(|end| link.ends[end].node.index());
    ([a, b], link.directions[0].shortest_delay().min(link.directions[1].shortest_delay()))
}

//! Ranks: processes that execute one run together.
//!
//! ```text
//!  round      |<------------------- lookahead ------------------->|
//!  rank 0      windows of its nodes, on its threads  ...           | exchange | ...
//!  rank 1      windows of its nodes, on its threads  ...           | exchange | ...
//! ```
//! Each rank owns groups of nodes. The shortest delay of the links between nodes of different ranks is the
//! lookahead: what happens at a node reaches none of another rank in less. So a rank executes windows of its
//! own nodes for as long, without a word from the others. Then all exchange packets on links, queue pairs
//! that have opened and messages posted on them, and agree when the next round begins.
//!
//! A queue pair has a slot in each rank, and its slot in the rank of its sender names it to others.
//!
//! Nodes are assigned to ranks as to threads: the topology is divided where delays are longest. Two
//! datacenters that are 80 km apart exchange something every 400 us of simulated time, while windows stay as
//! short as the shortest link.
//!
//! A rank builds only its nodes. Facts, routes, the state of links and the blueprint are in every rank. Each
//! rank applies faults to its nodes; sources and ranks of jobs advance where their hosts are. A run with one
//! order of all events is refused. A rank that ends unexpectedly ends the exchange of the others with an
//! error.
//!
//! A property over random networks, with every mechanism, random owners and several threads in each rank,
//! compares ranks with one thread (`tests/all/ranks.rs`).

use floodway_blueprint::network::blueprint::{Blueprint, LinkSpec};
use floodway_blueprint::network::groups::Groups;
use floodway_engine::Transport;
use floodway_units::cast::narrow;
use floodway_units::{FlowId, NodeId, PortId, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::link::wires::Wire;
use crate::run::threads::assignment;

mod agreement;
mod census;
pub(in crate::run) mod gather;
mod gathered;
mod locality;
mod mail;
mod rounds;
mod search;

pub(crate) use census::Census;
pub(crate) use gathered::Gathered;
pub(crate) use gathered::Progress;
pub(crate) use search::Share;

/// Maximum number of ranks: the rank of a node is one byte.
const MOST: usize = 250;

/// Which rank owns each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPlan {
    ranks: usize,
    /// By node.
    owners: Vec<u8>,
    lookahead: Span,
}

impl RankPlan {
    /// That of a run in so many processes: nodes are divided where delays are longest.
    ///
    /// # Errors
    /// Why the run needs one process.
    pub fn of_run(blueprint: &Blueprint, ranks: usize) -> Result<Self, String> {
        if ranks > MOST {
            return Err(format!("{ranks} processes are more than {MOST}"));
        }
        let plan = Self::with_owners(blueprint, ranks, assignment::initial(blueprint, ranks))?;
        let owns = |rank: &usize| plan.owners.iter().any(|&owner| usize::from(owner) == *rank);
        let parts = (0..ranks).filter(owns).count();
        if parts < ranks {
            return Err(format!("its network divides into {parts} parts; start at most {parts} processes"));
        }
        Ok(plan)
    }

    /// With these owners, by node. Nodes that have to be together go to the owner of the first of them.
    ///
    /// # Errors
    /// Why the run needs one process.
    pub fn with_owners(blueprint: &Blueprint, ranks: usize, owners: Vec<u8>) -> Result<Self, String> {
        let groups = Groups::new(blueprint);
        if groups.window().is_none() {
            return Err(crate::run::threads::why_one(blueprint));
        }
        let of_group = |node: NodeId| owners[groups.first(groups.of(node)).0.index()];
        let owners: Vec<u8> =
            (0..narrow::<u32>(blueprint.nodes.len())).map(|node| of_group(NodeId(node))).collect();
        let between = |link: &&LinkSpec| {
            let [a, b] = link.nodes();
            owners[a] != owners[b]
        };
        let lookahead = blueprint.links.iter().filter(between).map(LinkSpec::shortest_delay).min();
        Ok(RankPlan { ranks, owners, lookahead: lookahead.unwrap_or(Span(u64::MAX)) })
    }

    /// How many there are.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// The time in which nothing reaches another rank.
    pub fn lookahead(&self) -> Span {
        self.lookahead
    }
}

/// Names a queue pair: the rank of its sender, and its slot there.
type Name = (u8, u32);

/// What a rank has of the others.
pub(crate) struct Processes<'a> {
    transport: &'a dyn Transport,
    plan: RankPlan,
    own: u8,
    /// All events before this have been executed, by all ranks.
    reached: u64,
    /// All ranks stop: one of them was asked to.
    pub stopped: bool,
    /// Slots here of queue pairs whose senders are elsewhere: their names, and by rank, the slots there.
    names: FxHashMap<u32, Name>,
    slots: Vec<FxHashMap<u32, u32>>,
    /// Queue pairs of this rank that all know.
    common: FxHashSet<u32>,
    /// Of these, the ones that are closed, which have not been announced to the others.
    closed: Vec<u32>,
    /// By port elsewhere: what is on the wire from there, where a link between ranks changes.
    wires: FxHashMap<u32, Box<Wire>>,
    /// By the first switches at both ends: does every path between them stay in this rank?
    local: FxHashMap<(NodeId, NodeId), bool>,
    /// Packets of other ranks received over links, as they have been reported.
    reported: u64,
    outgoing: Vec<Vec<u8>>,
    incoming: Vec<Vec<u8>>,
}

impl<'a> Processes<'a> {
    pub fn new(plan: RankPlan, transport: &'a dyn Transport) -> Self {
        let ranks = plan.ranks;
        let buffers = || vec![Vec::new(); ranks];
        Processes {
            own: narrow(transport.rank()),
            transport,
            plan,
            reached: 0,
            stopped: false,
            names: FxHashMap::default(),
            slots: vec![FxHashMap::default(); ranks],
            common: FxHashSet::default(),
            closed: Vec::new(),
            wires: FxHashMap::default(),
            local: FxHashMap::default(),
            reported: 0,
            outgoing: buffers(),
            incoming: buffers(),
        }
    }

    /// Does this rank own a node?
    pub fn owns(&self, node: NodeId) -> bool {
        self.owner(node) == self.own
    }

    /// Is it the one that keeps the records?
    pub fn is_first(&self) -> bool {
        self.own == 0
    }

    /// By node: is it of this rank?
    pub fn owned(&self) -> Vec<bool> {
        self.plan.owners.iter().map(|&owner| owner == self.own).collect()
    }

    fn owner(&self, node: NodeId) -> u8 {
        self.plan.owners[node.index()]
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let own = usize::from(self.own);
        (0..self.plan.ranks).filter(move |&rank| rank != own)
    }

    /// What names a queue pair to others.
    fn name(&self, slot: u32) -> Name {
        self.names.get(&slot).copied().unwrap_or((self.own, slot))
    }

    /// The slot of a queue pair here.
    fn slot(&self, (rank, slot): Name) -> u32 {
        if rank == self.own {
            return slot;
        }
        let known = self.slots[usize::from(rank)].get(&slot);
        *known.unwrap_or_else(|| panic!("queue pair {slot} of rank {rank} has been announced"))
    }

    fn flow(&self, name: Name) -> FlowId {
        FlowId(self.slot(name))
    }

    /// What is on the wire from a port elsewhere.
    pub fn wire(&mut self, port: PortId) -> Option<&mut Wire> {
        self.wires.get_mut(&port.0).map(Box::as_mut)
    }

    /// Exchanges what is in `outgoing`; ends the run if a rank has ended.
    fn exchange(&mut self) {
        if let Err(lost) = self.transport.exchange(&self.outgoing, &mut self.incoming) {
            lost.end();
        }
    }
}

//! Seats: where the ranks of a group are, by which rings and trees go through nodes.
//!
//! NCCL builds rings and trees over all ranks that go through the GPUs of a node by its scale-up domain, and
//! leave it by a NIC: as many of them as a node has NICs, each through another one, so that all NICs carry in
//! both directions (NVIDIA/nccl #412, #530).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use floodway_units::cast::narrow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::relayed::Relays;

/// Where a rank is. Equal numbers are the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat {
    /// Its site.
    pub site: u32,
    /// Its node.
    pub node: u32,
    /// Its NIC, which it may share.
    pub nic: u32,
    /// Its number among the GPUs of its node, by which NCCL finds the NIC of the same rail in another one.
    pub gpu: u32,
    /// Its scale-up domain, if it has one.
    pub domain: Option<u32>,
}

/// What plans need of where the ranks of a group are.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Places {
    /// Its nodes, where rings and trees go through them.
    pub nodes: Option<Nodes>,
    /// GPUs of a node, nodes of a site, sites; none if they are not in this order, in equal numbers.
    pub levels: Option<Vec<u32>>,
    /// The GPUs that pass on messages of others, where there are any.
    pub relays: Option<Arc<Relays>>,
}

impl Places {
    /// Of ranks with these seats.
    pub fn new(seats: &[Seat]) -> Self {
        let relays = Relays::new(seats).map(Arc::new);
        Places { nodes: Nodes::new(seats), levels: Seat::levels(seats), relays }
    }
}

/// By which NIC a ring leaves a node.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CrossNic {
    /// By the one by which it came (`NCCL_CROSS_NIC=0`): it stays on its rail. Where a NIC has one GPU, the
    /// last GPU of the ring in the node hands its messages to that one (NCCL's PXN).
    Same,
    /// By the one next to it in one node, and back by the same two in the next one (NCCL since 2.20, with
    /// `NCCL_CROSS_NIC=2`): it stays on its rails, but between the last and the first of an odd number of
    /// nodes.
    #[default]
    Alternate,
    /// By the one next to it in each node (`NCCL_CROSS_NIC=1` without alternating rings): it changes rails
    /// from node to node, through the spine.
    Next,
}

impl CrossNic {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Alternate => "alternate",
            Self::Next => "next",
        }
    }

    /// The NICs by which a ring comes to a node and leaves it, of `rings`.
    fn ends(self, ring: u32, node: usize, rings: u32) -> (u32, u32) {
        let next = (ring + 1) % rings;
        match self {
            Self::Same => (ring, ring),
            Self::Alternate if node % 2 == 1 => (next, ring),
            Self::Alternate | Self::Next => (ring, next),
        }
    }
}

/// One of the numbers of a seat.
type Number = fn(&Seat) -> u32;

impl Seat {
    /// GPUs of a node, nodes of a site, sites, without those of one; none if the seats are not in this order,
    /// in equal numbers.
    pub fn levels(seats: &[Seat]) -> Option<Vec<u32>> {
        let count = |number: Number| seats.iter().map(number).collect::<BTreeSet<_>>().len().max(1);
        let (node, site): (Number, Number) = (|seat| seat.node, |seat| seat.site);
        let (nodes, sites) = (count(node), count(site));
        let in_order = |count: usize, number: Number| {
            seats.len().is_multiple_of(count)
                && seats
                    .chunks((seats.len() / count).max(1))
                    .all(|of| of.iter().all(|seat| number(seat) == number(&of[0])))
        };
        let levels = [seats.len() / nodes, nodes / sites, sites];
        let fits = in_order(nodes, node) && in_order(sites, site);
        fits.then(|| levels.into_iter().filter(|&level| level != 1).map(narrow).collect())
    }
}

/// The GPUs of a group by node: their places in the group, and their NICs, counted in each node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Nodes {
    of: Vec<Vec<(u32, u32)>>,
    nics: u32,
}

impl Nodes {
    /// The nodes of a group by its seats, where rings go by them: where there are several nodes and one of
    /// them has several ranks. A scale-up domain is a node here, and a rank without one is alone.
    pub fn new(seats: &[Seat]) -> Option<Self> {
        let mut of: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut known: BTreeMap<(u32, bool), usize> = BTreeMap::new();
        let mut nics: Vec<Vec<u32>> = Vec::new();
        for (place, seat) in (0..).zip(seats) {
            let key = seat.domain.map_or((place, false), |domain| (domain, true));
            let at = *known.entry(key).or_insert_with(|| {
                of.push(Vec::new());
                nics.push(Vec::new());
                of.len() - 1
            });
            let nics = &mut nics[at];
            let nic = nics.iter().position(|nic| *nic == seat.nic).unwrap_or_else(|| {
                nics.push(seat.nic);
                nics.len() - 1
            });
            of[at].push((place, narrow(nic)));
        }
        let several = of.len() > 1 && of.iter().any(|node| node.len() > 1);
        let nics = nics.iter().map(Vec::len).min().unwrap_or_default();
        several.then(|| Nodes { of, nics: narrow(nics) })
    }

    /// Rings, and pairs of trees, that are there at once: one for each NIC of the node that has fewest.
    pub fn rings(&self) -> u32 {
        self.nics
    }

    fn ranks(&self) -> usize {
        self.of.iter().map(Vec::len).sum()
    }

    /// The ranks of a node in the order of a ring that comes by one NIC and leaves by another, or the same;
    /// and the rank of the latter, if the last one is of another NIC.
    fn through(&self, node: usize, (comes, leaves): (u32, u32)) -> (Vec<u32>, Option<u32>) {
        let node = &self.of[node];
        let of_nic = |nic: u32| node.iter().filter(move |gpu| gpu.1 == nic).map(|gpu| gpu.0);
        let first = of_nic(comes).next().unwrap_or(node[0].0);
        let last = of_nic(leaves).find(|&rank| rank != first);
        let start = node.iter().position(|gpu| gpu.0 == first).unwrap_or_default();
        let around = node[start..].iter().chain(&node[..start]).map(|gpu| gpu.0);
        let mut order: Vec<u32> = around.filter(|&rank| Some(rank) != last).collect();
        order.extend(last);
        let relay = of_nic(leaves).next().filter(|_| last.is_none() && order.len() > 1);
        (order, relay)
    }

    /// The heads of the nodes, and the GPUs behind each, of the trees through a NIC.
    pub fn chains(&self, nic: u32) -> Vec<Vec<u32>> {
        (0..self.of.len()).map(|node| self.through(node, (nic, nic)).0).collect()
    }
}

/// A rank that is there for none.
const NONE: u32 = u32::MAX;

/// Rings of all ranks of a group.
#[derive(Clone, Debug)]
pub(crate) struct Rings {
    ranks: u32,
    rings: Vec<Ring>,
}

/// A ring through nodes.
#[derive(Clone, Debug)]
struct Ring {
    order: Vec<u32>,
    /// By rank: its place in the order.
    position: Vec<u32>,
    /// By rank: the one that passes on what it sends, or [`NONE`].
    relay: Vec<u32>,
    /// By rank: the one whose messages it passes on, or [`NONE`].
    relays: Vec<u32>,
}

impl Rings {
    /// A ring in the order of the ranks.
    pub fn plain(ranks: u32) -> Self {
        Rings { ranks, rings: Vec::new() }
    }

    /// A ring for each NIC of a node.
    pub fn through(nodes: &Nodes, cross: CrossNic) -> Self {
        let (ranks, count) = (nodes.ranks(), nodes.rings());
        let ring = |ring| {
            let mut of = Ring {
                order: Vec::with_capacity(ranks),
                position: vec![0; ranks],
                relay: vec![NONE; ranks],
                relays: vec![NONE; ranks],
            };
            for node in 0..nodes.of.len() {
                let (order, relay) = nodes.through(node, cross.ends(ring, node, count));
                if let (Some(&last), Some(relay)) = (order.last(), relay) {
                    of.relay[last as usize] = relay;
                    of.relays[relay as usize] = last;
                }
                of.order.extend(order);
            }
            (0..).zip(&of.order).for_each(|(place, &rank)| of.position[rank as usize] = place);
            of
        };
        Rings { ranks: narrow(ranks), rings: (0..count).map(ring).collect() }
    }

    /// Is it more than one ring in the order of the ranks?
    pub fn is_seated(&self) -> bool {
        !self.rings.is_empty()
    }

    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Number of rings.
    pub fn count(&self) -> u32 {
        narrow::<u32>(self.rings.len()).max(1)
    }

    /// Does any rank pass on messages of another one?
    pub fn have_relays(&self) -> bool {
        self.rings.iter().any(|ring| ring.relay.iter().any(|&relay| relay != NONE))
    }

    fn ring(&self, channel: u32) -> Option<&Ring> {
        self.rings.get((channel % self.count()) as usize)
    }

    /// The place of a rank in the ring of a channel.
    pub fn position(&self, channel: u32, rank: u32) -> u32 {
        self.ring(channel).map_or(rank, |ring| ring.position[rank as usize])
    }

    /// The rank at a place of the ring of a channel, which may be beyond its end.
    pub fn at(&self, channel: u32, place: u32) -> u32 {
        let place = place % self.ranks;
        self.ring(channel).map_or(place, |ring| ring.order[place as usize])
    }

    /// The rank that passes on what a rank sends, if one does.
    pub fn relay(&self, channel: u32, rank: u32) -> Option<u32> {
        self.ring(channel).map(|ring| ring.relay[rank as usize]).filter(|&relay| relay != NONE)
    }

    /// The rank whose messages a rank passes on, if it does.
    pub fn relays(&self, channel: u32, rank: u32) -> Option<u32> {
        self.ring(channel).map(|ring| ring.relays[rank as usize]).filter(|&from| from != NONE)
    }
}

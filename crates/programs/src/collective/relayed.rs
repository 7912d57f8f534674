//! Messages by relays: a GPU hands what it has for a GPU of another node to the GPU of its own node whose NIC
//! is on the receiver's rail, which sends it on (NCCL's PXN, since 2.12).
//!
//! NCCL takes the NIC of the local GPU that has the same number in its node as the receiver, and the first
//! GPU of that NIC sends (`ncclTopoGetNetDev`, with `NCCL_P2P_PXN_LEVEL=2`, the default): where each rail
//! connects the GPUs of one number, messages stay on their rail. A GPU sends by itself what leaves by its own
//! NIC. Where that number has no GPU in the group, or there is no scale-up domain, all of it does.
//!
//! The slices of what a rank sends by itself come first. Behind them each GPU of its node has as many again:
//! what it hands to this rank. In step s of these a rank takes message s, and sends the one before.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use floodway_units::cast::narrow;

use super::seats::Seat;
use super::{Algorithm, Step, Transfer};

/// No rank, no list.
const NONE: u32 = u32::MAX;

/// The GPUs of a group that pass on messages of others, by places in the group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Relays {
    ranks: Vec<RankIn>,
    nodes: Vec<Node>,
    /// Receivers, in their order, to which one rank of a node passes on messages: all with these numbers in
    /// their nodes, its own node's included.
    receivers: Vec<Vec<u32>>,
}

/// Where a rank is, by numbers of the group's own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RankIn {
    node: u32,
    /// Its place among the ranks of its node.
    place: u32,
    /// Its number in its node, as other nodes count, too.
    gpu: u32,
    nic: u32,
    /// Its scale-up domain, or [`NONE`].
    domain: u32,
    /// Its list of receivers, or [`NONE`].
    receivers: u32,
}

/// A node of GPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    ranks: Vec<u32>,
    /// By number of a GPU in its node: the first GPU of the same NIC.
    relay: BTreeMap<u32, u32>,
}

/// Numbers from 0 for values, in the order in which they appear.
struct Numbers<T>(BTreeMap<T, u32>);

impl<T: Ord> Numbers<T> {
    fn of(&mut self, value: T) -> u32 {
        let next = narrow(self.0.len());
        *self.0.entry(value).or_insert(next)
    }
}

impl Relays {
    /// The relays of a group by its seats, where there are any.
    pub fn new(seats: &[Seat]) -> Option<Self> {
        let (mut servers, mut nics) = (Numbers(BTreeMap::new()), Numbers(BTreeMap::new()));
        let mut domains = Numbers(BTreeMap::new());
        let mut of = Relays { ranks: Vec::new(), nodes: Vec::new(), receivers: Vec::new() };
        for (rank, seat) in (0..).zip(seats) {
            let node = servers.of(seat.node);
            if of.nodes.len() == node as usize {
                of.nodes.push(Node::default());
            }
            let at = &mut of.nodes[node as usize];
            let place = narrow(at.ranks.len());
            at.ranks.push(rank);
            let domain = seat.domain.map_or(NONE, |domain| domains.of(domain));
            let nic = nics.of(seat.nic);
            of.ranks.push(RankIn { node, place, gpu: seat.gpu, nic, domain, receivers: NONE });
        }
        of.find_relays();
        (0..narrow(seats.len())).any(|rank| of.hands_over(rank)).then_some(of)
    }

    fn find_relays(&mut self) {
        let mut of_gpu: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        (0..).zip(&self.ranks).for_each(|(rank, of)| of_gpu.entry(of.gpu).or_default().push(rank));
        let mut lists = Numbers(BTreeMap::new());
        for node in &mut self.nodes {
            let mut first: BTreeMap<u32, u32> = BTreeMap::new();
            let mut gpus: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for &rank in &node.ranks {
                let of = &self.ranks[rank as usize];
                let relay = *first.entry(of.nic).or_insert(rank);
                if let Entry::Vacant(entry) = node.relay.entry(of.gpu) {
                    gpus.entry(*entry.insert(relay)).or_default().push(of.gpu);
                }
            }
            for (relay, mut gpus) in gpus {
                gpus.sort_unstable();
                let mut receivers: Vec<u32> = gpus.iter().flat_map(|gpu| of_gpu[gpu].clone()).collect();
                let list = lists.of(gpus);
                if self.receivers.len() == list as usize {
                    receivers.sort_unstable();
                    self.receivers.push(receivers);
                }
                self.ranks[relay as usize].receivers = list;
            }
        }
    }

    /// Does a rank hand any message to a relay?
    fn hands_over(&self, rank: u32) -> bool {
        let relays = self.nodes[self.ranks[rank as usize].node as usize].relay.values();
        relays
            .copied()
            .any(|relay| self.receivers_of(relay).iter().any(|&to| self.relay(rank, to) == Some(relay)))
    }

    /// The rank that passes on what a rank has for another one; none if it sends that by itself.
    fn relay(&self, from: u32, to: u32) -> Option<u32> {
        let (from, to) = (&self.ranks[from as usize], &self.ranks[to as usize]);
        if from.domain == NONE || from.domain == to.domain {
            return None;
        }
        let relay = *self.nodes[from.node as usize].relay.get(&to.gpu)?;
        let by = &self.ranks[relay as usize];
        (by.nic != from.nic && by.domain == from.domain).then_some(relay)
    }

    /// The receivers of a relay.
    fn receivers_of(&self, relay: u32) -> &[u32] {
        let list = self.ranks[relay as usize].receivers;
        self.receivers.get(list as usize).map_or(&[], Vec::as_slice)
    }

    /// The ranks of the node of a rank.
    fn neighbours(&self, rank: u32) -> &[u32] {
        &self.nodes[self.ranks[rank as usize].node as usize].ranks
    }
}

/// The ranks to which a rank sends in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Targets {
    Nobody,
    One(u32),
    /// All others, in the order of ranks, from this one on and round.
    All {
        first: u32,
    },
}

/// Messages between ranks, each of which goes from its sender to its receiver as it is.
pub(crate) trait Exchange: Algorithm {
    /// The number of ranks.
    fn ranks(&self) -> u32;
    /// The ranks to which a rank sends.
    fn targets(&self, from: u32) -> Targets;
    /// What of the message of two ranks is in a slice; none without a byte.
    fn message(&self, from: u32, to: u32, slice: u32) -> Option<Transfer>;
    /// The bytes of the message of two ranks, in all slices.
    fn bytes(&self, from: u32, to: u32) -> u64;

    /// The number of messages of two ranks, and their bytes. Where there are fewer bytes than slices, as many
    /// slices have a byte.
    fn messages(&self, from: u32, to: u32) -> (u64, u64) {
        let bytes = self.bytes(from, to);
        (bytes.min(u64::from(self.slices())), bytes)
    }

    /// For each rank that has messages of a rank: their number and bytes.
    fn each_peer(&self, rank: u32, each: &mut impl FnMut(u32, u64, u64)) {
        let mut add = |to| {
            let (messages, bytes) = self.messages(rank, to);
            if bytes > 0 {
                each(to, messages, bytes);
            }
        };
        match self.targets(rank) {
            Targets::Nobody => {}
            Targets::One(to) => add(to),
            Targets::All { .. } => (0..self.ranks()).filter(|&to| to != rank).for_each(add),
        }
    }
}

/// An exchange whose messages relays pass on.
#[derive(Clone, Debug)]
pub(crate) struct Relayed<E> {
    pub of: E,
    relays: Arc<Relays>,
    /// Slices of the exchange, and the ranks of the largest node.
    slices: u32,
    neighbours: u32,
    /// The most steps of a slice.
    steps: u32,
}

impl<E: Exchange> Relayed<E> {
    pub fn new(of: E, relays: Arc<Relays>) -> Self {
        let longest = relays.receivers.iter().map(Vec::len).max().unwrap_or_default();
        let passed_on = (0..of.ranks()).map(|from| match of.targets(from) {
            Targets::Nobody => 0,
            Targets::One(_) => 2,
            Targets::All { .. } => narrow::<u32>(longest) + 1,
        });
        let steps = passed_on.max().unwrap_or_default().max(of.most_steps());
        let neighbours = relays.nodes.iter().map(|node| node.ranks.len()).max().unwrap_or_default();
        Relayed { slices: of.slices(), neighbours: narrow(neighbours), steps, of, relays }
    }

    /// Of a slice of messages that a rank passes on: the slice of the exchange, and whose they are.
    fn passed_on(&self, rank: u32, slice: u32) -> Option<(u32, u32)> {
        let place = (slice / self.slices).checked_sub(1)?;
        let from = *self.relays.neighbours(rank).get(place as usize)?;
        Some((slice % self.slices, from))
    }

    /// How many messages of a rank, of a byte or none, a relay passes on in a slice.
    fn count(&self, from: u32, relay: u32) -> u32 {
        let (one, other) = (&self.relays.ranks[from as usize], &self.relays.ranks[relay as usize]);
        match self.of.targets(from) {
            Targets::One(to) => u32::from(self.relays.relay(from, to) == Some(relay)),
            Targets::All { .. } if one.nic != other.nic => narrow(self.relays.receivers_of(relay).len()),
            Targets::All { .. } | Targets::Nobody => 0,
        }
    }

    /// Where the messages of a rank begin among a relay's receivers.
    fn first(&self, from: u32, receivers: &[u32]) -> usize {
        match self.of.targets(from) {
            Targets::All { first } => receivers.partition_point(|&to| to < first),
            Targets::One(_) | Targets::Nobody => 0,
        }
    }

    /// The receiver of the `number`-th message of a rank that a relay passes on.
    fn receiver(&self, from: u32, relay: u32, number: u32) -> Option<u32> {
        let to = if let Targets::One(to) = self.of.targets(from) {
            to
        } else {
            let receivers = self.relays.receivers_of(relay);
            receivers[(self.first(from, receivers) + number as usize) % receivers.len()]
        };
        (self.relays.relay(from, to) == Some(relay)).then_some(to)
    }

    /// The number of the message for a receiver among those of a rank that a relay passes on.
    fn number(&self, from: u32, relay: u32, to: u32) -> u32 {
        if let Targets::One(_) = self.of.targets(from) {
            return 0;
        }
        let receivers = self.relays.receivers_of(relay);
        let place = receivers.binary_search(&to).unwrap_or_default();
        narrow((place + receivers.len() - self.first(from, receivers)) % receivers.len())
    }

    fn message(&self, (from, relay): (u32, u32), number: u32, slice: u32) -> Option<Transfer> {
        self.receiver(from, relay, number).and_then(|to| self.of.message(from, to, slice))
    }

    /// For each rank that a rank sends to, for itself and for others: messages and bytes.
    pub fn each_peer(&self, rank: u32, each: &mut impl FnMut(u32, u64, u64)) {
        self.of.each_peer(rank, &mut |to, messages, bytes| {
            each(self.relays.relay(rank, to).unwrap_or(to), messages, bytes);
        });
        for &from in self.relays.neighbours(rank) {
            for to in (0..self.count(from, rank)).filter_map(|number| self.receiver(from, rank, number)) {
                let (messages, bytes) = self.of.messages(from, to);
                if bytes > 0 {
                    each(to, messages, bytes);
                }
            }
        }
    }
}

impl<E: Exchange> Algorithm for Relayed<E> {
    fn slices(&self) -> u32 {
        self.slices.saturating_mul(self.neighbours + 1)
    }

    fn channel(&self, slice: u32) -> u32 {
        self.of.channel(slice % self.slices)
    }

    fn steps(&self, rank: u32, slice: u32) -> u32 {
        if slice < self.slices {
            return self.of.steps(rank, slice);
        }
        let count = self.passed_on(rank, slice).map_or(0, |(_, from)| self.count(from, rank));
        if count > 0 { count + 1 } else { 0 }
    }

    fn most_steps(&self) -> u32 {
        self.steps
    }

    fn opens_after(&self, rank: u32, slice: u32, step: u32) -> u32 {
        if slice < self.slices { self.of.opens_after(rank, slice, step) } else { step }
    }

    fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step) {
        if let Some((slice, from)) = self.passed_on(rank, slice) {
            let last = step.checked_sub(1);
            out.sends.extend(last.and_then(|last| self.message((from, rank), last, slice)));
            let comes = step < self.count(from, rank) && self.message((from, rank), step, slice).is_some();
            out.receives = u32::from(comes);
            return;
        }
        self.of.step(rank, slice, step, out);
        for transfer in &mut out.sends {
            if let Some(relay) = self.relays.relay(rank, transfer.to) {
                let place = self.relays.ranks[rank as usize].place;
                let number = self.number(rank, relay, transfer.to);
                (transfer.to, transfer.at) = (relay, ((place + 1) * self.slices + slice, number));
            }
        }
    }

    fn waits_for_sends(&self, slice: u32) -> bool {
        slice < self.slices && self.of.waits_for_sends(slice)
    }

    fn most_sends(&self) -> u32 {
        self.of.most_sends()
    }
}

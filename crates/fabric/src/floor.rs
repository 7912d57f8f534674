//! What no flow can beat though links come and go while it is sent.
//!
//! While all links stay as they are, the packets of a flow take ways of one kind, and its ideal is a bound. When a link
//! goes down or comes up in between, packets on old ways and on new ones are in the network together. They do not wait for
//! one another, and together may be faster than all of them on the fastest way. Of that case only this is certain:
//!
//! - The packets leave the NIC one after another. The last one goes on for no less than a packet alone takes.
//! - Where the receiver has one link, they arrive by it one after another, the first not before a packet alone would.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_units::{Bytes, NodeId, PortId};

use crate::blueprint::{Arrivals, Role};
use crate::ideal::Packets;
use crate::records::{FlowRow, SentRow};
use crate::routing::peer;
use crate::world::{NEVER, World};

impl World<'_> {
    /// Was a flow that is complete faster than is possible?
    pub fn is_too_fast(&self, &(sent, received): &FlowRow<'_>) -> bool {
        let took = received.finish - received.key.start;
        let mixed = || self.any_change(received.key.start, received.finish) && !self.is_pinned(sent);
        took < sent.ideal && !(mixed() && took >= self.floor(ends(sent), Bytes(sent.size)))
    }

    /// Does a link go down or come up from `start` to `finish`, both included?
    fn any_change(&self, start: u64, finish: u64) -> bool {
        let mut times =
            self.blueprint.links.iter().flat_map(|link| &link.down).flat_map(|&(from, to)| [from, to]);
        times.any(|time| (start..=finish).contains(&time.0))
    }

    /// Do all flows of the workload between these ends name their ways?
    fn is_pinned(&self, sent: &SentRow) -> bool {
        match &self.blueprint.workloads[sent.key.workload as usize].arrivals {
            Arrivals::List(flows) => {
                let mut alike = flows.iter().filter(|flow| (flow.source, flow.destination) == ends(sent));
                alike.all(|flow| flow.path.is_some())
            }
            _ => false,
        }
    }

    /// Picoseconds that a flow takes at least, whichever links are up when.
    fn floor(&self, (source, destination): (NodeId, NodeId), size: Bytes) -> u64 {
        let packets = Packets::new(size, self.blueprint.mtu, self.format);
        let leave = self.through(source, (destination, 0), &packets, true);
        let mut last = self.blueprint.ports_of(destination).map(peer);
        match (last.next(), last.next()) {
            (Some(port), None) if self.ports[port.index()].node != source => {
                let after = self.passing(port, packets.on(&self.ports[port.index()].serial));
                let before = self.ports[port.index()].node;
                leave.max(self.through(source, (before, after), &packets, false))
            }
            _ => leave,
        }
    }

    /// The least time over the NICs of `source`, to a node from where it takes so long on: of all packets behind one
    /// another, or of the smallest alone.
    fn through(&self, source: NodeId, to: (NodeId, u64), packets: &Packets, all: bool) -> u64 {
        let from = self.least_from(to, packets.smallest().0);
        let times = self.blueprint.ports_of(source).map(|port| {
            let state = &self.ports[port.index()];
            let sends = if all { packets.on(&state.serial) } else { state.serial.time(packets.smallest().0) };
            let on = from[self.ports[peer(port).index()].node.index()];
            sends.saturating_add(state.delay).saturating_add(on)
        });
        times.min().unwrap_or_default()
    }

    /// By node: the least time of one packet from its arrival there, over any links, to `end` and on.
    fn least_from(&self, (end, after): (NodeId, u64), wire: u64) -> Vec<u64> {
        let mut least = vec![NEVER; self.blueprint.nodes.len()];
        let mut leading: Vec<Vec<PortId>> = vec![Vec::new(); least.len()];
        for port in (0..self.ports.len() as u32).map(PortId) {
            leading[self.ports[peer(port).index()].node.index()].push(port);
        }
        let mut next = BinaryHeap::from([(Reverse(after), end)]);
        while let Some((Reverse(time), node)) = next.pop() {
            if time >= least[node.index()] {
                continue;
            }
            least[node.index()] = time;
            for &port in &leading[node.index()] {
                let before = self.ports[port.index()].node;
                if matches!(self.blueprint.nodes[before.index()].role, Role::Switch(_)) {
                    let sends = self.ports[port.index()].serial.time(wire);
                    next.push((Reverse(time.saturating_add(self.passing(port, sends))), before));
                }
            }
        }
        least
    }

    /// From the arrival at a switch to that at the far end of one of its ports, which takes so long to send.
    fn passing(&self, port: PortId, sends: u64) -> u64 {
        let state = &self.ports[port.index()];
        let switch = self.nodes[state.node.index()].switch as usize;
        let pipeline = self.switches.get(switch).map_or(0, |switch| switch.pipeline);
        pipeline.saturating_add(sends).saturating_add(state.delay)
    }
}

fn ends(sent: &SentRow) -> (NodeId, NodeId) {
    (NodeId(sent.key.source), NodeId(sent.destination))
}

#[cfg(test)]
mod tests {
    use floodway_units::{Class, Rate, Span, Time};
    use floodway_wire::Format;

    use super::*;
    use crate::Fabric;
    use crate::blueprint::{
        Blueprint, DirectionSpec, End, EndSpec, ErrorRates, LinkSpec, NodeSpec, RecordSpec, Semantics,
        SwitchSpec,
    };
    use crate::outcome::Control;

    fn link(name: &str, ends: [u32; 2], gbps: u64) -> LinkSpec {
        let read = |json| serde_json::from_str(json).expect("it is a choice");
        let end = |node| EndSpec {
            node: NodeId(node),
            buffer: None,
            scheduler: serde_json::from_str(r#""strict""#).expect("it is a choice"),
            congestion_points: Vec::new(),
            pauses: Vec::new(),
        };
        let direction = DirectionSpec {
            rate: Rate::gbps(gbps),
            delay: Span::us(1),
            jitter: Span::ZERO,
            flow_control: vec![(Class::DATA, read(r#""lossy""#))],
            errors: ErrorRates::default(),
        };
        LinkSpec {
            name: name.into(),
            tags: Vec::new(),
            ends: ends.map(end),
            directions: [direction.clone(), direction],
            down: Vec::new(),
        }
    }

    fn node(name: &str, rank: u32) -> NodeSpec {
        let switch = || SwitchSpec {
            buffer: serde_json::from_str(r#"{"static": {"size": "1MB"}}"#).expect("it is a choice"),
            routing: serde_json::from_str(r#""ecmp""#).expect("it is a choice"),
            hash_seed: None,
            pipeline: Span::ns(100),
            relay: None,
        };
        let role = if rank < 2 { Role::Host { address: rank } } else { Role::Switch(switch()) };
        NodeSpec { name: name.into(), tags: Vec::new(), role, rank }
    }

    /// Switches take 100 ns, links 1 us.
    ///
    /// ```text
    ///  a --100G-- s --10G-- t --40G-- b        s --100G-- m --100G-- t
    /// ```
    fn network() -> Blueprint {
        let names = ["a", "b", "s", "t", "m"];
        Blueprint {
            seed: 1,
            wire: Format::Ethernet,
            mtu: Bytes(1000),
            semantics: Semantics::default(),
            nodes: names.iter().zip(0..).map(|(name, rank)| node(name, rank)).collect(),
            links: vec![
                link("a-s", [0, 2], 100),
                link("s-t", [2, 3], 10),
                link("s-m", [2, 4], 100),
                link("m-t", [4, 3], 100),
                link("t-b", [3, 1], 40),
            ],
            settings: Vec::new(),
            workloads: Vec::new(),
            end: End {
                limit: Time::ZERO + Span::ms(1),
                at_limit: false,
                acknowledged: false,
                stop_on_deadlock: false,
            },
            records: RecordSpec::default(),
        }
    }

    #[test]
    fn all_packets_pass_the_slower_end_and_one_the_rest_of_the_shortest_way() {
        let (blueprint, control) = (network(), Control::default());
        let fabric = Fabric::build(&blueprint, &control).expect("it is sound");
        let wire = |payload, first| Format::Ethernet.data(Bytes(payload), first).wire.0;
        let all = wire(1_000, true) + wire(1_000, false) + wire(500, false);
        // The last packet alone at 10G and 100G; a switch before each of two links, three links. Over m it is later.
        let alone = wire(500, false) * (800 + 80) + 2 * 100_000 + 3 * 1_000_000;
        let floor = |from, to| fabric.worlds[0].floor((NodeId(from), NodeId(to)), Bytes(2_500));
        assert_eq!(floor(0, 1), all * 200 + alone, "they arrive one after another at 40G");
        assert_eq!(floor(1, 0), all * 200 + alone, "they leave one after another at 40G");
    }
}

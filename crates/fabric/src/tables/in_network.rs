//! Packets in a network in which nothing moves, and the accounts that are charged for them.
//!
//! At the end of a run, the packets of each queue pair that are there are compared with the counters of its
//! two ends and of the nodes between.

use floodway_blueprint::column::LocalIndex as _;
use floodway_blueprint::network::layout::Local;
use floodway_records::outcome::Verdict;
use floodway_units::{NodeId, PortId};

use crate::host::queue_pairs::QueuePairs;
use crate::link::arena::{Arena, PacketRef};
use crate::link::packet::{ISOLATED, Packet};
use crate::run::network::Network;
use crate::run::node::Node;

/// Reads them between two events.
pub(crate) struct InNetwork<'w, 'a> {
    pub network: Network<'w, 'a>,
    pub packets: &'w Arena,
    /// Those on links, when the run is over.
    pub on_links: &'w [(PortId, PacketRef)],
}

impl<'w> InNetwork<'w, '_> {
    /// Packets on links, in pipelines, in queues and between them.
    pub fn all(&self) -> impl Iterator<Item = &'w Packet> {
        let (nodes, packets) = (self.network.nodes, self.packets);
        let queues = nodes.iter().flat_map(|node| node.links.queues.iter());
        let queued = queues.flat_map(|queue| queue.fifo.iter(packets));
        let piped = nodes.iter().filter_map(Node::switch).flat_map(|switch| &switch.pipe);
        let piped = piped.map(|&(_, _, packet_ref)| &packets[packet_ref]);
        let inputs = nodes.iter().filter_map(Node::inputs);
        let crossing =
            inputs.flat_map(|inputs| inputs.packet_refs(packets)).map(|packet_ref| &packets[packet_ref]);
        let flying = self.on_links.iter().map(|&(_, packet_ref)| &packets[packet_ref]);
        let machines = nodes.iter().flat_map(|node| &node.machines);
        let meters = machines.clone().filter_map(|machines| machines.queueing.meter.as_deref());
        let metered = meters.flat_map(|meter| meter.fifo.iter(packets));
        let leaving = machines.filter_map(|machines| machines.queueing.output.as_deref()?.leaving());
        let entry = nodes.iter().filter_map(Node::switch).flat_map(|switch| &switch.entry);
        let passing = entry.map(|&(_, packet_ref)| packet_ref);
        let between = leaving.chain(passing).map(|packet_ref| &packets[packet_ref]);
        let nics = nodes.iter().flat_map(Node::nics);
        let ports = nodes.iter().flat_map(|node| node.links.ports.iter());
        let retries = ports.filter_map(|port| port.impairment.retry.as_deref());
        let retried = retries.flat_map(|retry| retry.waiting.iter()).map(|&packet_ref| &packets[packet_ref]);
        let received = nics.flat_map(|nic| nic.receive_buffer.iter(packets));
        flying
            .chain(queued)
            .chain(received)
            .chain(metered)
            .chain(piped)
            .chain(between)
            .chain(crossing)
            .chain(retried)
            .filter(|packet| !packet.is_link_control())
    }

    /// When the run is over: of each queue pair as many packets are in the network as its ends and those
    /// between have counted.
    ///
    /// # Panics
    /// They are not.
    pub fn check(&self, pairs: &QueuePairs) {
        let mut packets = vec![0; pairs.paths.len()];
        for packet in self.all() {
            packets[packet.flow.index()] += 1;
        }
        for (slot, packets) in (0..).zip(packets) {
            assert_eq!(pairs.in_network(slot), packets, "packets of queue pair {slot} in the network");
        }
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        self.all().map(|packet| u64::from(packet.frame)).sum()
    }

    /// Every account holds what is queued behind it and on the wire of the packet that leaves; with what
    /// other processes say of theirs.
    pub fn buffers(&self, elsewhere: &[(NodeId, String)]) -> Verdict {
        let first = self.broken().chain(elsewhere.iter().cloned()).min();
        first.map_or(Verdict::Holds, |(_, how)| Verdict::Broken(how))
    }

    /// Nodes with accounts that do not, and how.
    pub fn broken(&self) -> impl Iterator<Item = (NodeId, String)> {
        self.network.nodes.iter().filter_map(|node| Some((node.id, self.broken_at(node)?)))
    }

    fn broken_at(&self, node: &Node) -> Option<String> {
        let (facts, packets) = (self.network.facts, self.packets);
        let mut held = vec![(0u64, 0u64); node.buffer.accounts.len()];
        let counted = |frame| (node.buffer.occupied_by(frame), facts.layout.wire(frame));
        let mut add = |packet: &Packet| {
            if packet.class != 0 {
                let account = facts.layout.port_class(packet.ingress, packet.class).index();
                let (occupied, wire) = counted(packet.frame);
                held[account] = (held[account].0 + occupied, held[account].1 + wire);
            }
        };
        let piped = node.switch().into_iter().flat_map(|switch| &switch.pipe);
        let piped = piped.map(|&(_, out, packet_ref)| (out, &packets[packet_ref]));
        let charged = |(out, packet): &(Local, &Packet)| !node.isolates(*out) || !packet.has(ISOLATED);
        piped.filter(charged).for_each(|(_, packet)| add(packet));
        node.nics().flat_map(|nic| nic.receive_buffer.iter(packets)).for_each(&mut add);
        if let Some(inputs) = node.inputs() {
            // What has crossed is charged to no account.
            inputs.packet_refs(packets).for_each(|packet_ref| add(&packets[packet_ref]));
        } else if !node.is_host() {
            for port in node.locals() {
                let charged = (1..facts.layout.queues_per_port)
                    .filter(|&q| !node.links.may_lose(&facts.layout, port, q));
                let queues = charged.map(|q| &node.links.queues[facts.layout.queues(port).nth(q)]);
                queues.flat_map(|queue| queue.fifo.iter(packets)).for_each(&mut add);
            }
        }
        for leaving in &node.buffer.releases {
            let (account, (occupied, wire)) = (leaving.port_class.unpack().index(), counted(leaving.frame));
            held[account] = (held[account].0 + occupied, held[account].1 + wire);
        }
        for (account, (held, wire)) in node.buffer.accounts.iter().zip(held) {
            let charged = account.held + account.headroom;
            let broken = if charged != held {
                format!("is charged {charged} B and holds {held} B")
            } else if node.buffer.has_cells() && account.wire != wire {
                format!("counts {} B on the wire and holds {wire} B", account.wire)
            } else {
                continue;
            };
            let port = facts.layout.port_class_of(account.id as usize).0;
            return Some(format!("{} {broken}", facts.blueprint.port_name(port)));
        }
        None
    }
}

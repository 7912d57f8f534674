//! Prefetching of the memory that pending events will need, while the events before them are executed.
//!
//! A packet-hop touches some twenty cache lines, of a state that is larger than the caches near the
//! processor. What an event needs is found in two steps: its packet, which names all the rest. The second is
//! taken some events later than the first, so that what it reads has arrived. Both are the same for all kinds
//! of events, but that where the path ends the end's half is fetched, too: of an event without a packet they
//! fetch what belongs to `PacketRef::dummy`. Nothing here changes any state.

use floodway_blueprint::column::LocalIndex as _;
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::routing::peer;
use floodway_engine::{AHEAD, Event, Item, fetch};
use floodway_units::NodeId;

use crate::link::arena::PacketRef;
use crate::link::packet::{ON_PATH, Packet};
use crate::run::events::EventKind;
use crate::run::node::{Node, NodeCore};
use crate::run::state::Run;

/// How many events before it an event's packet is fetched.
const PACKET: usize = AHEAD - 1;
/// And what the packet names.
const REST: usize = 5;

/// What is prefetched while the next event is executed.
pub(crate) struct Coming {
    /// The packet of an event, for the first step.
    packet: Item,
    /// An event, for the second.
    rest: Event,
}

impl Coming {
    /// Of the next events.
    #[inline]
    pub fn of(window: &[Event; AHEAD]) -> Self {
        Coming { packet: window[PACKET].item, rest: window[REST] }
    }
}

/// Takes the first step for the events of a visit that comes next.
#[inline]
pub(crate) fn fetch_packets(events: &[Event]) {
    for event in events {
        PacketRef::fetch(event.item);
    }
}

impl Run<'_> {
    /// The node of a packet's event; any node for other events.
    #[inline]
    fn node_of_event(&self, facts: &Facts<'_>, order: u64) -> NodeId {
        match self.events.moves(order) {
            Some((EventKind::Arrival, port)) => facts.node_of(peer(port)),
            Some((_, port)) => facts.node_of(port),
            None => NodeId(0),
        }
    }

    /// Takes one step for each of two events that come after the next one.
    #[inline]
    pub fn prefetch(&self, facts: &Facts<'_>, nodes: &[Node], coming: &Coming) {
        PacketRef::fetch(coming.packet);
        let node = self.node_of_event(facts, coming.rest.order);
        self.fetch_rest(facts, &nodes[node.index()], &coming.rest);
    }

    /// Takes the second step for an event of a node: its packet is there.
    #[inline]
    pub fn fetch_rest(&self, facts: &Facts<'_>, node: &NodeCore, event: &Event) {
        // SAFETY: items come from `Events`, which takes them from references; and a packet's event is pending
        // only where the packet is, or arrives. Where a departure has one, the thread has all nodes
        // (`Events::push_of`).
        #[allow(unsafe_code, reason = "an event's item is a packet's address")]
        let packet = &self.packets[unsafe { PacketRef::of(event.item) }];
        let (ingress, out, class) = (packet.ingress, packet.out, packet.class);
        // The class of a link control frame, or of memory without a packet, may be no index of the layout's:
        // nothing is read there.
        fetch(&node.buffer.accounts, ingress.index() * facts.layout.classes.len() + usize::from(class));
        self.pairs.paths.fetch(packet.flow.index(), 1);
        fetch(&node.links.ports, out.index());
        fetch(&node.links.queues, facts.layout.queues(out).control().index());
        fetch(&node.links.series, out.index());
        if out == ingress && packet.has(ON_PATH) {
            self.fetch_half(packet);
        }
    }

    /// Where the path ends, the end's half.
    #[inline]
    fn fetch_half(&self, packet: &Packet) {
        if packet.is_data() {
            self.pairs.receivers.fetch(packet.flow.index(), 4);
        } else {
            self.pairs.senders.fetch(packet.flow.index(), 4);
        }
    }
}

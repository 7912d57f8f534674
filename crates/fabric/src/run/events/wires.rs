//! Packets on links where ties go as htsim schedules events: of each link only the first has an event.

use std::collections::VecDeque;

use floodway_units::{PortId, Time};
use rustc_hash::FxHashMap;

use super::{EventKind, Events, Pending};
use crate::link::arena::PacketRef;

/// The packets on the link from each port, the first to arrive first: when, and which.
#[derive(Debug, Default)]
pub(super) struct Wires(FxHashMap<u32, VecDeque<(u64, PacketRef)>>);

impl Wires {
    /// A packet is on the link from a port: is another one ahead of it?
    #[inline(never)]
    pub fn is_behind(&mut self, port: u32, packet: (u64, PacketRef)) -> bool {
        let wire = self.0.entry(port).or_default();
        wire.push_back(packet);
        wire.len() > 1
    }

    /// All packets without an event, and the ports that sent them, in the order of these.
    pub fn behind(self) -> Vec<(PortId, PacketRef)> {
        let mut wires: Vec<_> = self.0.into_iter().collect();
        wires.sort_unstable_by_key(|(port, _)| *port);
        let behind = |(port, wire): (u32, VecDeque<(u64, PacketRef)>)| {
            wire.into_iter().skip(1).map(move |(_, packet_ref)| (PortId(port), packet_ref))
        };
        wires.into_iter().flat_map(behind).collect()
    }

    /// The first packet on the link from a port has arrived: the next one.
    fn next(&mut self, port: PortId) -> Option<(u64, PacketRef)> {
        let wire = self.0.get_mut(&port.0)?;
        wire.pop_front();
        wire.front().copied()
    }
}

impl Events {
    /// Do ties go as htsim schedules events?
    pub fn goes_by_wires(&self) -> bool {
        self.wires.is_some()
    }

    /// The first packet on the link from a port has arrived, and everything that this caused is scheduled:
    /// now the next one's arrival is.
    pub fn delivered(&mut self, port: PortId) {
        let Some((at, packet_ref)) = self.wires.as_mut().and_then(|wires| wires.next(port)) else { return };
        let order = Self::numbered(self.number(), EventKind::Arrival, port.0);
        if let Pending::InOneOrder(queue) = &mut self.pending {
            queue.push(Time(at), order, packet_ref.item());
        }
    }
}

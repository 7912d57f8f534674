//! What a partition says to the others, and hears of them: packets on links that are cut, and of queue pairs what
//! whoever their packets come to has to know.
//!
//! A packet that crosses leaves its arena and goes by value; it is an event where it arrives. A queue
//! pair has a slot in each partition that knows it, and crosses under the name that it was given where it was opened.
//! Whoever sends a packet on to a partition that may not know its queue pair tells of that first. What is told
//! is no event: it only has to be there before the first packet is.

pub(crate) mod across;

use crate::column::Column;
use crate::host::messages::Incoming;
use crate::host::receive::ReceiveHalf;
use crate::link::arena::Extra;
use crate::link::packet::Packet;
use crate::network::ways::Way;
use crate::run::cut::Cut;
use floodway_units::{NodeId, PortId};
use std::sync::Arc;

/// A queue pair that is not known here.
const UNKNOWN: u32 = u32::MAX;

/// A queue pair, to all partitions: where it was opened, and its slot there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    part: u8,
    slot: u32,
}

/// What one partition says to another.
#[derive(Default)]
pub(crate) struct Batch {
    told: Vec<Told>,
    posted: Vec<(Name, Incoming)>,
    packets: Vec<Crossing>,
    /// Of packets that are notices between neighbours, in their order: whose the flows are that they name.
    parts: Vec<[u8; 16]>,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.told.is_empty() && self.posted.is_empty() && self.packets.is_empty()
    }
}

/// A queue pair is open.
struct Told {
    name: Name,
    way: Way,
    /// For the receiver's partition.
    half: Option<ReceiveHalf>,
}

/// A packet on a link that is cut; its flow is a slot where its queue pair was opened.
struct Crossing {
    port: PortId,
    part: u8,
    packet: Packet,
    extra: Option<Box<Extra>>,
}

/// A partition's place among the others. Where there is one partition, all of its lists are empty.
pub(crate) struct Border {
    cut: Arc<Cut>,
    index: usize,
    /// By partition: what is to be said to it.
    out: Vec<Batch>,
    /// By slot.
    names: Vec<Name>,
    /// By slot: a bit for each partition that is known to know of it.
    knowing: Vec<u64>,
    /// By partition and slot there: the slot here.
    slots: Vec<Column<u32>>,
}

impl Border {
    /// Of the partition `index`.
    pub fn new(cut: &Arc<Cut>, index: usize) -> Self {
        let others = if cut.parts() > 1 { cut.parts() } else { 0 };
        Border {
            cut: Arc::clone(cut),
            index,
            out: (0..others).map(|_| Batch::default()).collect(),
            names: Vec::new(),
            knowing: Vec::new(),
            slots: (0..others).map(|_| Column::default()).collect(),
        }
    }

    /// How the network is cut.
    pub fn cut(&self) -> &Cut {
        &self.cut
    }

    /// Is this the only partition?
    #[inline]
    pub fn is_alone(&self) -> bool {
        self.out.is_empty()
    }

    /// Is the node simulated here?
    #[inline]
    pub fn owns(&self, node: NodeId) -> bool {
        self.is_alone() || self.cut.owner(node) == self.index
    }

    /// Does what the port sends go to another partition?
    #[inline]
    pub fn crosses(&self, port: PortId) -> bool {
        self.cut.beyond(port).is_some()
    }

    /// The slot here of a queue pair that was opened in partition `part`, if it is known.
    pub fn slot_of(&self, part: usize, slot: u32) -> Option<u32> {
        if part == self.index {
            return Some(slot);
        }
        self.slots[part].get(slot as usize).copied().filter(|&slot| slot != UNKNOWN)
    }

    /// A queue pair has a slot here, and these partitions know of it.
    fn enter(&mut self, slot: u32, name: Name, knowing: u64) {
        let at = slot as usize;
        if at == self.names.len() {
            self.names.push(name);
            self.knowing.push(knowing);
        } else {
            (self.names[at], self.knowing[at]) = (name, knowing);
        }
        if usize::from(name.part) != self.index {
            let slots = &mut self.slots[usize::from(name.part)];
            while slots.len() <= name.slot as usize {
                slots.push(UNKNOWN);
            }
            slots[name.slot as usize] = slot;
        }
    }

    /// A queue pair is closed.
    pub fn forget(&mut self, slot: u32) {
        if let Some(&Name { part, slot }) = self.names.get(slot as usize)
            && usize::from(part) != self.index
        {
            self.slots[usize::from(part)][slot as usize] = UNKNOWN;
        }
    }
}

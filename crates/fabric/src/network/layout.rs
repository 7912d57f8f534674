//! Numbering of port classes and queues.
//!
//! A node identifies its ports by local indices (`Local`). The network's ids (`PortId`, two per link) are
//! used in the order of events, in the mechanisms' inputs and in results; `Facts` converts between them.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::cast::narrow;
use floodway_units::{Class, PortId, QueueId};
use floodway_wire::Format;

/// A port among those of its node.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
)]
pub(crate) struct Local(u16);

impl Local {
    /// The first port.
    pub const FIRST: Local = Local(0);
    /// No port.
    pub const NONE: Local = Local(u16::MAX);
    /// Maximum number of ports of a node, with which a blueprint is validated.
    pub const MOST: usize = u16::MAX as usize;

    /// The port at this place.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a node has at most `MOST` ports")]
    pub fn at(index: usize) -> Local {
        debug_assert!(index < Self::MOST, "a node has a port {index}");
        Local(index as u16)
    }

    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The classes of a run, and where the port classes and queues of a port lie in their columns. A port class
/// is a pair of a port and a class.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Classes in use; the control class is the first.
    pub classes: Vec<Class>,
    /// Queues of a port: the control class, then each data class (several times where classes have
    /// sub-queues).
    pub queues_per_port: usize,
    pub subs: usize,
    /// Preamble and gap: wire bytes less frame bytes.
    pub gap: u64,
}

impl Layout {
    /// For `classes` with `subs` queues each; the control class has one.
    pub fn new(classes: Vec<Class>, subs: usize, format: Format) -> Self {
        let queues_per_port = 1 + (classes.len() - 1) * subs;
        Layout { classes, queues_per_port, subs, gap: format.ack().wire.0 - format.ack().frame.0 }
    }

    /// Index of a port class among those of its node.
    #[inline]
    pub fn port_class(&self, port: Local, class: u8) -> usize {
        port.index() * self.classes.len() + class as usize
    }

    /// The port of a port class.
    pub fn port_of(&self, port_class: usize) -> Local {
        Local::at(port_class / self.classes.len())
    }

    /// How many classes are in use.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "links have eight classes")]
    pub fn class_count(&self) -> u8 {
        self.classes.len() as u8
    }

    /// The class of a port class.
    #[expect(clippy::cast_possible_truncation, reason = "links have eight classes")]
    pub fn class_of(&self, port_class: usize) -> u8 {
        (port_class % self.classes.len()) as u8
    }

    /// Index of a port class among those of the network.
    pub fn port_class_id(&self, port: PortId, class: u8) -> usize {
        port.index() * self.classes.len() + class as usize
    }

    /// The port and the class of a port class of the network.
    pub fn port_class_of(&self, id: usize) -> (PortId, u8) {
        (PortId(narrow(id / self.classes.len())), self.class_of(id))
    }

    /// Index of the first queue of a port among those of its node: the one of its control class.
    #[inline]
    pub fn queue(&self, port: Local) -> usize {
        port.index() * self.queues_per_port
    }

    /// Class of the `q`-th queue of a port.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "links have eight classes")]
    pub fn class_of_queue(&self, q: usize) -> u8 {
        if self.subs == 1 || q == 0 { q as u8 } else { ((q - 1) / self.subs + 1) as u8 }
    }

    /// Index of the first of a port's queues of a class.
    #[inline]
    pub fn first_queue(&self, class: u8) -> usize {
        self.first_queue_of(class, 0)
    }

    /// Index of the `sub`-th of a port's queues of a class.
    #[inline]
    pub fn first_queue_of(&self, class: u8, sub: usize) -> usize {
        if class == 0 { 0 } else { (class as usize - 1) * self.subs + 1 + sub }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a machine asks for at most 255 queues of a class")]
    pub fn queue_id(&self, q: usize) -> QueueId {
        let class = self.classes[self.class_of_queue(q) as usize];
        let sub = if self.subs == 1 || q == 0 { 0 } else { ((q - 1) % self.subs) as u8 };
        QueueId { class, sub }
    }

    pub fn queue_index(&self, id: QueueId) -> usize {
        self.first_queue_of(self.dense(id.class), id.sub.into())
    }

    /// Index of a class among those in use.
    #[inline]
    pub fn dense(&self, class: Class) -> u8 {
        self.classes.iter().position(|&other| other == class).map_or(u8::MAX, narrow)
    }

    /// Bytes on the link for a frame.
    #[inline]
    pub fn wire(&self, frame: u16) -> u64 {
        u64::from(frame) + self.gap
    }
}

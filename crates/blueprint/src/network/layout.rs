//! Numbering of port classes and queues.
//!
//! A node identifies its ports, port classes and queues by local indices (`Local`, `LocalPortClass`,
//! `LocalQueue`), which only this file makes of numbers. The network's ids (`PortId`, two per link, and
//! numbers of port classes) are used in the order of events, in the mechanisms' inputs and in results;
//! `Facts` converts between them.

use std::ops::Range;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::cast::{low_u32, narrow};
use floodway_units::{Class, PortId, QueueId};
use floodway_wire::Format;

use crate::column::{LocalIndex, Part, Sealed};

/// A port among those of its node.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
)]
pub struct Local(u16);

impl Local {
    /// The first port.
    pub const FIRST: Local = Local(0);
    /// No port.
    pub const NONE: Local = Local(u16::MAX);
    /// Maximum number of ports of a node, with which a blueprint is validated.
    pub const MOST: usize = u16::MAX as usize;

    /// The port of this number: a node numbers its ports in the order of their links.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a node has at most `MOST` ports")]
    pub(super) fn numbered(index: usize) -> Local {
        debug_assert!(index < Self::MOST, "a node has a port {index}");
        Local(index as u16)
    }

    /// The port of this number, in a test that knows the node.
    #[cfg(any(test, feature = "testing"))]
    pub fn at(index: usize) -> Local {
        Local::numbered(index)
    }

    /// All ports of a node.
    pub fn all<T>(ports: &Part<T, Local>) -> impl Iterator<Item = Local> + use<T> {
        (0..ports.len()).map(Local::numbered)
    }

    /// The port of a number that one of these has.
    ///
    /// # Panics
    /// None of them has it.
    #[inline]
    pub fn among<T>(ports: &Part<T, Local>, number: usize) -> Local {
        assert!(number < ports.len(), "a node with {} ports has no port {number}", ports.len());
        Local::numbered(number)
    }

    /// Its number among the ports of its node.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl Sealed for Local {}

impl LocalIndex for Local {
    #[inline]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A port class among those of its node: a pair of a port and a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalPortClass(usize);

impl Sealed for LocalPortClass {}

impl LocalIndex for LocalPortClass {
    #[inline]
    fn index(self) -> usize {
        self.0
    }
}

impl LocalPortClass {
    /// The same in half the room, for lists of many.
    #[inline]
    pub fn pack(self) -> PackedPortClass {
        PackedPortClass(low_u32(self.0 as u64))
    }
}

/// A port class among those of its node, of which there are fewer than 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedPortClass(u32);

impl PackedPortClass {
    /// As it is used.
    #[inline]
    pub fn unpack(self) -> LocalPortClass {
        LocalPortClass(self.0 as usize)
    }
}

/// A queue among those of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalQueue(usize);

impl Sealed for LocalQueue {}

impl LocalIndex for LocalQueue {
    #[inline]
    fn index(self) -> usize {
        self.0
    }
}

/// The queues of a port: that of the control class, then those of data.
#[derive(Clone, Copy, Debug)]
pub struct PortQueues {
    first: usize,
    count: usize,
}

impl PortQueues {
    /// The queue of the control class.
    #[inline]
    pub fn control(self) -> LocalQueue {
        LocalQueue(self.first)
    }

    /// The queues of data, in their column.
    #[inline]
    pub fn data(self) -> Range<usize> {
        self.first + 1..self.first + self.count
    }

    /// The `q`-th queue of the port.
    #[inline]
    pub fn nth(self, q: usize) -> LocalQueue {
        debug_assert!(q < self.count, "a port with {} queues has a queue {q}", self.count);
        LocalQueue(self.first + q)
    }
}

/// The classes of a run, and where the port classes and queues of a port lie in their columns.
#[derive(Debug)]
pub struct Layout {
    /// Classes in use; the control class is the first.
    pub classes: Vec<Class>,
    /// Queues of a port: the control class, then each data class (several times where classes have
    /// sub-queues).
    pub queues_per_port: usize,
    /// Queues of a class of data at a port.
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

    /// The port class of a port and a class in use.
    #[inline]
    pub fn port_class(&self, port: Local, class: u8) -> LocalPortClass {
        debug_assert!((class as usize) < self.classes.len(), "a run has a class {class} in use");
        LocalPortClass(port.index() * self.classes.len() + class as usize)
    }

    /// The port of a port class.
    #[inline]
    pub fn port_of(&self, port_class: LocalPortClass) -> Local {
        Local::numbered(port_class.0 / self.classes.len())
    }

    /// How many classes are in use.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "links have eight classes")]
    pub fn class_count(&self) -> u8 {
        self.classes.len() as u8
    }

    /// The class of a port class.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "links have eight classes")]
    pub fn class_of(&self, port_class: LocalPortClass) -> u8 {
        (port_class.0 % self.classes.len()) as u8
    }

    /// Number of a port class among those of the network.
    #[inline]
    pub fn port_class_id(&self, port: PortId, class: u8) -> usize {
        port.index() * self.classes.len() + class as usize
    }

    /// The port and the class of a port class of the network.
    #[inline]
    pub fn port_class_of(&self, id: usize) -> (PortId, u8) {
        (PortId(narrow(id / self.classes.len())), narrow(id % self.classes.len()))
    }

    /// The queues of a port.
    #[inline]
    pub fn queues(&self, port: Local) -> PortQueues {
        PortQueues { first: port.index() * self.queues_per_port, count: self.queues_per_port }
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

    /// What mechanisms call the `q`-th queue of a port.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a machine asks for at most 255 queues of a class")]
    pub fn queue_id(&self, q: usize) -> QueueId {
        let class = self.classes[self.class_of_queue(q) as usize];
        let sub = if self.subs == 1 || q == 0 { 0 } else { ((q - 1) % self.subs) as u8 };
        QueueId { class, sub }
    }

    /// Index of a queue that a mechanism names, among those of its port.
    #[inline]
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

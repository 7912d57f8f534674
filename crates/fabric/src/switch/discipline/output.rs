//! Output queues with bounds of their own: what is kept of a port's.

use floodway_blueprint::network::blueprint::{Role, Ties};
use floodway_blueprint::network::layout::Layout;
use floodway_mechanisms::slots::OutputPlan;
use floodway_units::{Bytes, Class};

use crate::link::arena::PacketRef;

/// The queues of a port.
#[derive(Debug)]
pub(crate) struct OutputQueue {
    /// Bytes that the control class may hold, and those that it does.
    bound: u64,
    pub(super) control: u64,
    /// The class of packets whose payload was cut, where that is not the control class.
    pub(super) trim_class: Option<Class>,
    /// A packet without room loses its payload alone.
    pub(super) trims: bool,
    /// Bytes of such a packet, where they are not those of the run's headers.
    pub(super) trim_size: Option<Bytes>,
    /// Bytes that a queue of data may hold.
    pub room: u64,
    /// The queue whose first packet the transmitter sends, and how long that takes.
    pub(super) serving: Option<(usize, u64)>,
    /// Packets may pass it without an event when their last bit has left: nothing could happen to them until
    /// then but a mark.
    pub passes: bool,
    /// The packet that does so now, which is on its way to the next node.
    pub(super) passing: Option<PacketRef>,
    /// At a host: what its transmitter sends, and how long that takes.
    pub(super) sending: Option<(PacketRef, u64)>,
    /// At a host: turns in which both control packets and data waited.
    turns: u32,
}

/// uec.cpp: of so many turns of a NIC in which both wait, one is for data.
const TURNS: u32 = 11;

impl OutputQueue {
    /// That of a switch's port, if the switch has such queues, perhaps with a room of its `own`; of a host's,
    /// where ties go as htsim schedules events.
    pub fn at(role: &Role, own: Option<Bytes>, ties: Ties) -> Option<Box<Self>> {
        let plan = match role {
            Role::Switch(switch) => Some(switch.buffer.plan().output?),
            Role::Host { .. } if ties == Ties::Htsim => None,
            Role::Host { .. } => return None,
        };
        let plan: Option<OutputPlan> = plan.map(|plan| plan.with_room(own));
        Some(Box::new(OutputQueue {
            bound: plan.map_or(u64::MAX, |plan| plan.control.0),
            control: 0,
            trim_class: plan.and_then(|plan| plan.trim_class),
            trims: plan.is_some_and(|plan| plan.trims),
            trim_size: plan.and_then(|plan| plan.trim_size),
            room: plan.map_or(u64::MAX, |plan| plan.queue.0),
            serving: None,
            passes: false,
            passing: None,
            sending: None,
            turns: 0,
        }))
    }

    /// Both control packets and data wait at a host: do control packets go first?
    pub(super) fn prefers_control(&mut self) -> bool {
        self.turns = (self.turns + 1) % TURNS;
        self.turns != 0
    }

    /// Does the transmitter send a packet that counts for a queue, and is not in it any more?
    pub fn has_passing(&self) -> bool {
        self.passing.is_some()
    }

    /// The packet that the transmitter of a host sends, which waits in no queue any more.
    pub fn leaving(&self) -> Option<PacketRef> {
        self.sending.map(|(packet_ref, _)| packet_ref)
    }

    /// Has a packet of the control class room? If so it counts from now on.
    pub fn takes_control(&mut self, frame: u16) -> bool {
        let held = self.control + u64::from(frame);
        if held <= self.bound {
            self.control = held;
        }
        held <= self.bound
    }

    /// The queues of a class are emptied.
    pub fn flush(&mut self, layout: &Layout, class: u8) {
        if class == 0 {
            self.control = 0;
        }
        self.serving = self.serving.filter(|&(q, _)| layout.class_of_queue(q) != class);
    }
}

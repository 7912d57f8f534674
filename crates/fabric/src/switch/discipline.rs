//! How an egress port queues what it sends: its disciplines, and what the fabric keeps for them.
//!
//! One congestion point of a port may be its discipline. It states once how packets queue (`Queueing`): in
//! several queues per class, by flow (RCM, THEMIS) or by packet (BFC), or in two, of which the second may
//! lose packets (CASL). Another one may have a queue for metered messages (ExpressPass). A port without any
//! is asked nothing (`Port::has_discipline`).
//!
//! **Flows.** A flow stays in the queue where it has packets, so that its packets are never in two queues.
//! When the choice changes (`CpAction::Resort`), the discipline is queried again for all packets that wait
//! there, at inputs and outputs, and they move in their order. With `Queueing::Packets` it is responsible for
//! the order of a flow's packets, and no crossbar may precede its queues.
//!
//! **Isolation.** The second queue of each class loses packets (`Queueing::Isolating`). It is never paused,
//! and its packets are charged to no account: they count in the switch's total, and the discipline's `admit`
//! bounds them. So the queue determines the charge of a packet. `Resort` moves flows into such a queue, and
//! out of their accounts, and never back. A packet that left such a queue carries a bit (`ISOLATED`) to the
//! next switch. Where its account there is pausing, or would charge it to headroom, the packet was not
//! permitted by flow control. It then waits in the second queue there, whatever the discipline returns for
//! its flow, and all waiting packets of its flow move there; without a second queue it is dropped. A path
//! with such a port is not lossless: its flows have their timers. Crossbars have no such queues, and flow
//! controls must declare that they tolerate packets that no pause has held (`tolerates_unpaused`).

pub(in crate::switch) mod checks;
mod isolating;
pub(crate) mod meter;
mod metering;
pub(crate) mod output;
mod serving;
mod sorting;

use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{CongestionPoint as _, Discipline, Queueing};
use floodway_units::FlowId;
use rustc_hash::FxHashMap;

use self::meter::MeterQueue;
use self::output::OutputQueue;
use crate::link::packet::Packet;

/// The queueing of an egress port. By default a class has a FIFO, and metered messages wait with the control
/// class.
#[derive(Debug, Default)]
pub(crate) struct PortQueueing {
    /// The place of the discipline of data among the port's congestion points.
    owner: Option<usize>,
    /// How data wait.
    data: Queueing,
    /// Where metered messages wait, if they have a discipline.
    pub meter: Option<Box<MeterQueue>>,
    /// Where queues have bounds of their own, and what the transmitter sends waits in them until its last bit
    /// has left.
    pub output: Option<Box<OutputQueue>>,
    /// Where a class without a threshold may come in: bytes up to which each queue of data has room while the
    /// switch's pool is on the fast path.
    pub lossy_room: Option<u64>,
    /// Where a class has several queues: of each flow with packets here, its queue and how many.
    flows: FxHashMap<u32, (usize, u32)>,
    /// Where the discipline observes inputs and there is no crossbar: bytes that wait, by ingress port and
    /// class.
    inputs: FxHashMap<(Local, u8), u64>,
}

impl PortQueueing {
    /// That of a port with these congestion points, at which nothing waits.
    pub fn of(points: &[AnyCongestionPoint]) -> Self {
        let mut queueing = PortQueueing::default();
        for (place, point) in points.iter().enumerate() {
            match point.as_discipline().map(Discipline::queueing) {
                None => {}
                Some(Queueing::Metered(meter)) => queueing.meter = Some(Box::new(MeterQueue::new(meter))),
                Some(data) => (queueing.owner, queueing.data) = (Some(place), data),
            }
        }
        queueing
    }

    /// Bytes that a queue of data may hold.
    pub fn queue_room(&self) -> u64 {
        self.output.as_ref().map_or(u64::MAX, |output| output.room)
    }

    /// Bytes up to which a queue of data has room whenever the switch's pool is on the fast path.
    pub fn sure_room(&self) -> u64 {
        self.lossy_room.unwrap_or(u64::MAX).min(self.queue_room())
    }

    /// Is there a FIFO per class, and nothing else?
    pub fn is_plain(&self) -> bool {
        self.owner.is_none() && self.meter.is_none() && self.output.is_none()
    }

    /// The place of the discipline of data among the port's congestion points.
    pub fn owner(&self) -> Option<usize> {
        self.owner
    }

    /// Queues of each class that the discipline has asked for.
    pub fn class_queues(&self) -> usize {
        self.data.class_queues()
    }

    /// Has a class several queues here?
    pub fn sorts(&self) -> bool {
        self.class_queues() > 1
    }

    /// Is each packet classified by itself, whatever waits of its flow?
    pub fn sorts_each(&self) -> bool {
        matches!(self.data, Queueing::Packets { .. })
    }

    /// May the second queue of each class lose what waits there?
    pub fn isolates(&self) -> bool {
        self.data == Queueing::Isolating
    }

    /// Does the discipline observe the packets that come in by each port?
    pub fn observes_inputs(&self) -> bool {
        matches!(self.data, Queueing::Flows { inputs: true, .. })
    }

    /// The queue of the port in which a flow's packets wait, if it has some here and a class has several
    /// queues.
    pub fn queue_of(&self, flow: FlowId) -> Option<usize> {
        self.flows.get(&flow.0).map(|&(q, _)| q)
    }

    /// A packet waits for the `q`-th queue, or in it: where queues are chosen by flow, others of its flow
    /// follow.
    pub fn flow_waits(&mut self, q: usize, flow: FlowId) {
        if self.sorts() {
            self.flows.entry(flow.0).or_insert((q, 0)).1 += 1;
        }
    }

    /// A packet waits for another queue from now on: those of its flow that come later follow it.
    pub fn flow_moves(&mut self, q: usize, flow: FlowId) {
        if let Some(queue_of_flow) = self.flows.get_mut(&flow.0) {
            queue_of_flow.0 = q;
        }
    }

    /// A packet of the flow waits no longer.
    pub fn flow_leaves(&mut self, flow: FlowId) {
        if let Some((_, count)) = self.flows.get_mut(&flow.0) {
            *count -= 1;
            if *count == 0 {
                self.flows.remove(&flow.0);
            }
        }
    }

    /// All packets of the flow that wait here are dropped.
    pub fn flow_is_dropped(&mut self, flow: FlowId) {
        self.flows.remove(&flow.0);
    }

    /// Where the discipline observes inputs and there is no crossbar: a packet waits here, or no longer.
    pub fn count_input(&mut self, packet: &Packet, joins: bool) {
        if !self.observes_inputs() || packet.class == 0 {
            return;
        }
        let frame = u64::from(packet.frame);
        let held = self.inputs.entry((packet.ingress, packet.class)).or_default();
        // What waited before the machine came was not counted.
        *held = if joins { *held + frame } else { held.saturating_sub(frame) };
    }

    /// Bytes of a class that wait here and came in by `ingress`, where they are counted.
    pub fn input_bytes(&self, ingress: Local, class: u8) -> u64 {
        self.inputs.get(&(ingress, class)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;

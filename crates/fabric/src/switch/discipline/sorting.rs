//! Choice of a queue: for a packet that arrives, and again for those that wait.

use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::{CpAction, DropReason, PortEvent};
use floodway_units::{Bytes, Class};
use smallvec::SmallVec;

use crate::link::arena::{Fifo, Lists};
use crate::link::packet::Packet;
use crate::link::port::Queue;
use crate::run::at_node::{At, AtSwitch};
use crate::run::device::Device;
use crate::switch::discipline::checks::Asked;

impl<D: Device> At<'_, '_, D> {
    /// Asks again, for every packet of a class that waits at a port, for its queue.
    pub fn resort(&mut self, port: Local, class: Class) {
        let class = self.ctx.facts.layout.dense(class);
        let queueing = &self.node.machines[port.index()].queueing;
        if !queueing.sorts() || class == u8::MAX {
            return;
        }
        if queueing.isolates() {
            return D::isolates_waiting(self, port, class);
        }
        let (at, first) = (self.ctx.facts.layout.queues(port), self.ctx.facts.layout.first_queue(class));
        let own = first..first + queueing.class_queues();
        let lists: Lists = own.clone().map(|q| self.node.links.queues[at.nth(q)].fifo).collect();
        let sorted = self.sorted(port, class, &lists);
        let bytes: SmallVec<[Bytes; 2]> = sorted.iter().map(|queue| Bytes(queue.bytes)).collect();
        for (q, queue) in own.zip(sorted) {
            self.node.links.queues[at.nth(q)] = queue;
        }
        D::resorts_inputs(self, port, class);
        self.report_sorted(port, class, &bytes);
    }

    /// The packets of a class have been sorted again, and its queues are so long now. A machine that then
    /// asks for the same again would never end, and is ignored.
    pub fn report_sorted(&mut self, port: Local, class: u8, queues: &[Bytes]) {
        let class = self.ctx.facts.layout.classes[class as usize];
        self.call_points(port, PortEvent::Resorted { class, queues });
        self.ctx.run.out.actions.0.retain(|action| *action != CpAction::Resort(class));
        self.flush_actions(port);
        // What waits in another queue now may need a timer.
        self.ask_again(port);
    }

    /// The packets of some lists, one for each queue of a class, in the queues that they should wait in now,
    /// each flow's in its order.
    pub fn sorted(&mut self, port: Local, class: u8, lists: &[Fifo]) -> SmallVec<[Queue; 2]> {
        let mut sorted: SmallVec<[Queue; 2]> = lists.iter().map(|_| Queue::default()).collect();
        for &list in lists {
            let mut list = list;
            while let Some(packet_ref) = list.pop(&self.ctx.run.packets) {
                let packet = self.ctx.run.packets[packet_ref];
                let sub = self.sub_of(port, &packet);
                let q = self.ctx.facts.layout.first_queue_of(class, sub);
                self.node.machines[port.index()].queueing.flow_moves(q, packet.flow);
                let queue = &mut sorted[sub];
                queue.bytes += u64::from(packet.frame);
                queue.fifo.push(&mut self.ctx.run.packets, packet_ref);
            }
        }
        sorted
    }

    /// In which queue of its class a packet should wait at `port`.
    pub fn sub_of(&mut self, port: Local, packet: &Packet) -> usize {
        let view = self.node.links.packet_view(&self.ctx, packet);
        let machines = &mut self.node.machines[port.index()];
        let (now, queues) = (self.ctx.time(), machines.queueing.class_queues());
        let sub = machines.discipline_mut().map_or(0, |discipline| discipline.classify(now, &view).into());
        if sub >= queues {
            let (blueprint, owner) = (self.ctx.facts.blueprint, machines.queueing.owner());
            Asked { blueprint, port: self.node.links.id(port), owner, now }.refuse_queue(sub, queues);
        }
        sub
    }
}

impl AtSwitch<'_, '_> {
    /// The queue where the packet's flow waits already, or which the discipline chooses.
    pub fn preferred_queue(&mut self, out: Local, packet: &Packet) -> usize {
        let queueing = &self.node.machines[out.index()].queueing;
        if !self.node.links.ports.of(out).has_discipline || !queueing.sorts() {
            return self.ctx.facts.layout.first_queue(packet.class);
        }
        if let Some(q) = queueing.queue_of(packet.flow)
            && !queueing.sorts_each()
        {
            return q;
        }
        let sub = self.sub_of(out, packet);
        self.ctx.facts.layout.first_queue_of(packet.class, sub)
    }

    /// Does a failed link, a watchdog or the discipline drop the packet before it is charged?
    pub fn refused(&mut self, out: Local, q: usize, packet: &Packet) -> Option<DropReason> {
        let shut = self.node.links.shut(&self.ctx.facts.layout, out, q);
        if shut.is_some() || !self.node.links.ports.of(out).has_discipline {
            return shut;
        }
        // Views are made for a discipline of data alone.
        self.node.machines[out.index()].queueing.owner()?;
        let (view, queue) = (self.node.links.packet_view(&self.ctx, packet), self.queue_view(out, q, packet));
        let now = self.ctx.time();
        let rng = &mut self.node.streams.admission;
        self.node.machines[out.index()].discipline_mut()?.admit(now, rng, &view, &queue)
    }
}

//! Scheduler and congestion points of an egress port, the discipline among them.
//!
//! **Fast path.** The bound of a congestion point may depend on the packets that it has processed: it is
//! queried again after each call. One that needs the waiting packets (Mercury's flow table) is not called
//! while its queue is short. When a queue exceeds its bound, or a pause arrives, it is called for the packets
//! that wait. So its counts are exactly the same, at a lower cost.
//!
//! **Messages.** Machines of a switch's ports send messages to each other (`CpAction::ToPort`), at one
//! instant and within a node. A set of flows is sent one hop upstream as a bitmap whose bytes the link
//! carries (`FilterUpstream`), also to hosts: a host then skips queue pairs that the discipline of its port
//! blocks (`Discipline::holds`), and checks again after the machine has received an event. A congestion
//! notification (CN) goes one hop against the data, ahead of all other frames, and lists flows; hosts receive
//! none. A CNP that a switch creates is sent into the network like any packet: in the control class, by the
//! router's choice, with the addresses of the flow swapped, and included in the packet counters. A machine
//! that may name a flow long after its last packet states for how long (`Demands::naming`); the flow's slot
//! is not reused before.

mod callbacks;
mod packets;

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_mechanisms::registry::{AnyCongestionPoint, AnyScheduler};
use floodway_mechanisms::slots::{
    CongestionPoint, CpAction, Cx, Discipline, FastPath, FcSender as _, Gate, PortEvent, ReadyView,
    Scheduler as _, Turn, most_closed,
};
use floodway_units::{Bytes, PortId, Time};

use crate::link::links::Links;
use crate::run::ctx::Ctx;
use crate::run::events::{Armed, EventKind, Events};
use crate::switch::discipline::PortQueueing;
use crate::switch::discipline::checks::Asked;

/// Machines of an egress port that not every port has.
#[derive(Debug)]
pub(crate) struct PortMachines {
    pub scheduler: AnyScheduler,
    pub congestion_points: Vec<AnyCongestionPoint>,
    pub cp_timer: Armed,
    /// A machine needs a report of the packets that wait when its queue passes its bound.
    pub reports_waiting: bool,
    /// All congestion points only mark: what is kept of them never changes.
    pub only_marks: bool,
    /// A machine may clear marks.
    pub clears: bool,
    /// A machine is called for CNPs that pass the switch.
    pub observes_cnps: bool,
    pub queueing: PortQueueing,
}

impl PortMachines {
    /// The discipline of data, where the port has one.
    pub fn discipline(&self) -> Option<&dyn Discipline> {
        self.congestion_points[self.queueing.owner()?].as_discipline()
    }

    /// The same, to be called.
    pub fn discipline_mut(&mut self) -> Option<&mut dyn Discipline> {
        self.congestion_points[self.queueing.owner()?].as_discipline_mut()
    }

    /// Keeps of each class among whose queues the discipline chooses only the queue that goes next; where
    /// none does, the class is offered as one that is held back.
    fn offer_one_of_each_class(&mut self, ctx: &Ctx<'_, '_>, port: PortId, ready: &mut Vec<ReadyView>) {
        let (now, owner) = (ctx.time(), self.queueing.owner());
        let Some(discipline) = self.discipline_mut() else { return };
        let (mut kept, mut from) = (0, 0);
        while from < ready.len() {
            let first = ready[from];
            let same = ready[from..].iter().take_while(|view| view.queue.class == first.queue.class);
            let to = from + same.count();
            let of_class = from..to;
            match discipline.serve(now, &ready[of_class.clone()]) {
                Turn::Scheduler => {
                    ready.copy_within(of_class, kept);
                    kept += to - from;
                }
                Turn::Queue(sub) => {
                    let mut open = ready[of_class.clone()].iter().filter(|view| view.gate.is_open(now));
                    let Some(&next) = open.find(|view| view.queue.sub == sub) else {
                        let asked = Asked { blueprint: ctx.facts.blueprint, port, owner, now };
                        asked.refuse_turn(sub, &ready[of_class])
                    };
                    ready[kept] = next;
                    kept += 1;
                }
                Turn::Nothing => {
                    ready[kept] = ReadyView { gate: Gate::Closed, ..first };
                    kept += 1;
                }
            }
            from = to;
        }
        ready.truncate(kept);
    }

    /// The queue lengths up to which no congestion point is called for a packet that joins, which has room
    /// then, and for one that leaves.
    pub fn fast_path(&self) -> (u32, u32) {
        // Of each flow the queue is kept in which it waits.
        if self.queueing.sorts() {
            return (0, 0);
        }
        let (mut joining, mut leaving) = (self.queueing.sure_room(), u64::MAX);
        for point in &self.congestion_points {
            let FastPath { joining: joins, leaving: leaves } = point.fast_path().unwrap_or_default();
            (joining, leaving) = (joining.min(joins.0), leaving.min(leaves.0));
        }
        let bound = |bytes| u32::try_from(bytes).unwrap_or(u32::MAX);
        (bound(joining), bound(leaving))
    }

    /// Calls the congestion points with an event.
    pub fn call(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        for point in &mut self.congestion_points {
            point.on_event(cx, event);
        }
    }

    /// The instant has come for which the port waited to look at its metered messages.
    pub fn meter_wakes(&mut self, now: Time) {
        if let Some(meter) = self.queueing.meter.as_mut() {
            meter.wake = meter.wake.filter(|at| *at > now);
        }
    }

    /// May the `q`-th queue send a frame of `wire` bytes?
    #[inline]
    pub fn gate(
        &self,
        links: &Links,
        ctx: &Ctx<'_, '_>,
        port: Local,
        port_class: LocalPortClass,
        q: usize,
        wire: u64,
    ) -> Gate {
        let now = ctx.time();
        let of_flow_control = || links.egress.of(port_class).sender.gate(now, Bytes(wire));
        if !links.ports.of(port).has_discipline {
            return of_flow_control();
        }
        let gate = if links.may_lose(&ctx.facts.layout, port, q) { Gate::Open } else { of_flow_control() };
        let Some(discipline) = self.discipline() else { return gate };
        most_closed(gate, discipline.gate(now, ctx.facts.layout.queue_id(q)))
    }

    /// The queue that sends next: an index of the port's queues.
    pub fn pick_queue(&mut self, links: &Links, ctx: &mut Ctx<'_, '_>, port: Local) -> Option<usize> {
        let queues = ctx.facts.layout.queues(port);
        if ctx.facts.layout.queues_per_port == 2 {
            let queue = links.queues.of(queues.nth(1));
            let head = queue.fifo.front()?;
            let port_class = ctx.facts.layout.port_class(port, 1);
            let state = links.ports.of(port);
            if links.is_free(port, 1)
                && (!state.has_discipline || queue.bytes <= u64::from(state.leaves_up_to))
            {
                return Some(1);
            }
            let wire = ctx.facts.layout.wire(ctx.run.packets[head].frame);
            return self.gate(links, ctx, port, port_class, 1, wire).is_open(ctx.time()).then_some(1);
        }
        let mut ready = std::mem::take(&mut ctx.run.out.ready);
        ready.clear();
        for q in 1..ctx.facts.layout.queues_per_port {
            let Some(head) = links.queues.of(queues.nth(q)).fifo.front() else { continue };
            let wire = ctx.facts.layout.wire(ctx.run.packets[head].frame);
            let port_class = ctx.facts.layout.port_class(port, ctx.facts.layout.class_of_queue(q));
            let gate = self.gate(links, ctx, port, port_class, q, wire);
            let len = Bytes(links.queues.of(queues.nth(q)).bytes);
            ready.push(ReadyView { queue: ctx.facts.layout.queue_id(q), len, head: Bytes(wire), gate });
        }
        if self.queueing.sorts() {
            self.offer_one_of_each_class(ctx, links.id(port), &mut ready);
        }
        let picked = if ready.is_empty() { None } else { self.scheduler.pick(Time(ctx.now), &ready) };
        ctx.run.out.ready = ready;
        picked.map(|id| ctx.facts.layout.queue_index(id))
    }

    /// Arms the timer for the congestion point that wants to be called first.
    #[inline]
    pub fn sync(&mut self, events: &mut Events, port: PortId) {
        let points = self.congestion_points.iter().filter_map(CongestionPoint::next_timeout);
        let next = points.chain(self.queueing.meter.as_ref().and_then(|meter| meter.wake)).min();
        events.sync(&mut self.cp_timer, next, EventKind::CongestionPoint, port.0);
    }
}

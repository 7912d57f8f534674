//! Scheduler and congestion points of an egress port.
//!
//! **Fast path.** The bound of a congestion point may depend on the packets that it has processed: it is
//! queried again after each call. One that needs the waiting packets (Mercury's flow table) is not called
//! while its queue is short. When a queue exceeds its bound, or a pause arrives, it is called for the packets
//! that wait. So its counts are exactly the same, at a lower cost.
//!
//! **Queues.** A congestion point may choose in which queue of a class a flow waits. By default a flow stays
//! in the queue where it has packets, so that its packets are never in two queues. When the choice changes
//! (`CpAction::Resort`), the port queries it again for all packets that wait there, at inputs and outputs,
//! and moves them in their order. With `Demands::each_packet` the choice is made for each packet; the
//! congestion point is then responsible for the order of a flow's packets, and no crossbar may precede its
//! queues. It may also choose which queue of a class is served next (`Claim::Serve`); the scheduler then has
//! one queue per class to choose from.
//!
//! **Isolation.** A congestion point may declare that the second queue of its classes loses packets
//! (`Demands::isolation`, CASL). That queue is never paused, and its packets are charged to no account: they
//! count in the switch's total, and the machine's `admit` bounds them. So the queue determines the charge of
//! a packet. `Resort` moves flows into such a queue, and out of their accounts, and never back. A packet that
//! left such a queue carries a bit (`ISOLATED`) to the next switch. Where its account there is pausing, or
//! would charge it to headroom, the packet was not permitted by flow control. It then waits in the second
//! queue there, whatever the machine returns for its flow, and all waiting packets of its flow move there;
//! without a second queue it is dropped. A path with such a port is not lossless: its flows have their
//! timers. Crossbars have no such queues, and flow controls must declare that they tolerate packets that no
//! pause has held (`tolerates_unpaused`).
//!
//! **Messages.** Machines of a switch's ports send messages to each other (`CpAction::ToPort`), at one
//! instant and within a node, and have the links of all its ports (`on_port`). A set of flows is sent one hop
//! upstream as a bitmap whose bytes the link carries (`FilterUpstream`), also to hosts: a host then skips
//! queue pairs that a machine of its port blocks (`Demands::flows`), and checks again after the machine has
//! received an event. A congestion notification (CN) goes one hop against the data, ahead of all other
//! frames, and lists flows; hosts receive none. A CNP that a switch creates is sent into the network like any
//! packet: in the control class, by the router's choice, with the addresses of the flow swapped, and included
//! in the packet counters. A machine that may name a flow long after its last packet states for how long
//! (`Demands::naming`); the flow's slot is not reused before.

mod callbacks;
pub(crate) mod meter;
mod metering;

use floodway_mechanisms::registry::{AnyCongestionPoint, AnyScheduler};
use floodway_mechanisms::slots::{
    Claim, CongestionPoint, CpAction, Cx, FcSender as _, Gate, PacketView, PortEvent, ReadyView,
    Scheduler as _, most_closed,
};
use floodway_units::{Bytes, FlowId, PortId, Time};
use rustc_hash::FxHashMap;

use crate::link::links::Links;
use crate::link::packet::Packet;
use crate::network::layout::{Layout, Local};
use crate::run::ctx::Ctx;
use crate::run::events::{Armed, EventKind, Events};
use crate::switch::congestion::meter::MeterQueue;

/// Machines of an egress port that not every port has.
#[derive(Debug)]
pub(crate) struct PortMachines {
    pub scheduler: AnyScheduler,
    pub congestion_points: Vec<AnyCongestionPoint>,
    pub cp_timer: Armed,
    /// A machine needs a report of the packets that wait when its queue passes its bound.
    pub reports_waiting: bool,
    /// A machine is asked of each packet where it should wait.
    pub sorts_each: bool,
    /// A machine chooses among the queues of a class.
    pub serves: bool,
    /// A machine watches inputs.
    pub watches: bool,
    /// A machine may clear marks.
    pub clears: bool,
    /// A machine is called for CNPs that pass the switch.
    pub observes_cnps: bool,
    /// Where a machine watches inputs and there is no crossbar: bytes that wait, by ingress port and class.
    pub inputs: FxHashMap<(Local, u8), u64>,
    /// Where a machine classifies: of each flow with packets here, its queue and how many.
    pub queue_of_flow: FxHashMap<u32, (usize, u32)>,
    /// Where a machine limits metered messages.
    pub meter: Option<Box<MeterQueue>>,
}

impl PortMachines {
    /// Keeps of each class only the queue that the machine which chooses among them wants to go next; where
    /// it wants none, the class is offered as one that is held back.
    pub fn offer_one_of_each_class(&mut self, now: Time, ready: &mut Vec<ReadyView>) {
        let claims = |point: &&mut AnyCongestionPoint| point.demands().claims.contains(&Claim::Serve);
        let Some(point) = self.congestion_points.iter_mut().find(claims) else { return };
        let (mut classes, mut from) = (0, 0);
        while from < ready.len() {
            let first = ready[from];
            let same = ready[from..].iter().take_while(|view| view.queue.class == first.queue.class);
            let to = from + same.count();
            let next = point.serve(now, &ready[from..to]);
            let view = ready[from..to].iter().copied().find(|view| Some(view.queue) == next);
            ready[classes] = view.unwrap_or(ReadyView { gate: Gate::Closed, ..first });
            (classes, from) = (classes + 1, to);
        }
        ready.truncate(classes);
    }

    /// The queue length up to which no congestion point is called.
    pub fn fast_path_up_to(&self, layout: &Layout) -> u32 {
        // With several queues the queue of each flow is kept for them.
        if layout.queues_per_port > 2 && !self.congestion_points.is_empty() {
            return 0;
        }
        let points = self.congestion_points.iter();
        let up_to = points.map(|point| point.fast_path_up_to().unwrap_or_default().0).min();
        u32::try_from(up_to.unwrap_or(u64::MAX)).unwrap_or(u32::MAX)
    }

    /// Queues of each class that the machines which choose among them have asked for.
    pub fn own_queues(&self) -> usize {
        let points = self.congestion_points.iter();
        points.map(|point| point.demands().class_queues()).max().unwrap_or(2).max(2)
    }

    /// In which queue of its class a packet should wait.
    pub fn sub_of(&mut self, now: Time, view: &PacketView) -> usize {
        let points = &mut self.congestion_points;
        let owner = points.iter_mut().find(|point| point.demands().claims.contains(&Claim::Classify));
        owner.map_or(0, |point| {
            let sub = usize::from(point.classify(now, view).sub);
            debug_assert!(
                sub < point.demands().class_queues(),
                "a packet is sorted into queue {sub}, which it has not asked for"
            );
            sub
        })
    }

    /// A packet waits for the `q`-th queue, or in it: where queues may be chosen, others of its flow follow.
    pub fn note_queue_of_flow(&mut self, layout: &Layout, q: usize, flow: FlowId) {
        if !self.congestion_points.is_empty() && (layout.subs > 1 || layout.queues_per_port > 2) {
            self.queue_of_flow.entry(flow.0).or_insert((q, 0)).1 += 1;
        }
    }

    /// A packet waits for another queue from now on: those of its flow that come later follow it.
    pub fn replaced(&mut self, q: usize, flow: FlowId) {
        if let Some(queue_of_flow) = self.queue_of_flow.get_mut(&flow.0) {
            queue_of_flow.0 = q;
        }
    }

    /// A packet of the flow waits no longer.
    pub fn flow_left_queue(&mut self, flow: FlowId) {
        if let Some((_, count)) = self.queue_of_flow.get_mut(&flow.0) {
            *count -= 1;
            if *count == 0 {
                self.queue_of_flow.remove(&flow.0);
            }
        }
    }

    /// Where machines watch inputs and there is no crossbar: a packet waits here, or no longer.
    pub fn count_input(&mut self, packet: &Packet, joins: bool) {
        if !self.watches || packet.class == 0 {
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

    /// Calls the congestion points with an event.
    pub fn call(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        for point in &mut self.congestion_points {
            point.on_event(cx, event);
        }
    }

    /// The instant has come for which the port waited to look at its metered messages.
    pub fn meter_wakes(&mut self, now: Time) {
        if let Some(meter) = self.meter.as_mut() {
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
        port_class: usize,
        q: usize,
        wire: u64,
    ) -> Gate {
        let now = ctx.time();
        if !links.ports.known(port.index()).has_cp {
            return links.egress.known(port_class).sender.gate(now, Bytes(wire));
        }
        let is_paused_never = links.may_lose(&ctx.facts.layout, port, q);
        let gate = if is_paused_never {
            Gate::Open
        } else {
            links.egress.known(port_class).sender.gate(now, Bytes(wire))
        };
        let id = ctx.facts.layout.queue_id(q);
        let points = &self.congestion_points;
        points.iter().fold(gate, |gate, point| most_closed(gate, point.gate(now, id)))
    }

    /// The queue that sends next: an index of the port's queues.
    pub fn pick_queue(&mut self, links: &Links, ctx: &mut Ctx<'_, '_>, port: Local) -> Option<usize> {
        let first = ctx.facts.layout.queue(port);
        if ctx.facts.layout.queues_per_port == 2 {
            let queue = links.queues.known(first + 1);
            let head = queue.fifo.front()?;
            let port_class = ctx.facts.layout.port_class(port, 1);
            if links.is_free(port, 1)
                && queue.bytes <= u64::from(links.ports.known(port.index()).fast_path_up_to)
            {
                return Some(1);
            }
            let wire = ctx.facts.layout.wire(ctx.run.packets[head].frame);
            return self.gate(links, ctx, port, port_class, 1, wire).is_open(ctx.time()).then_some(1);
        }
        let mut ready = std::mem::take(&mut ctx.run.out.ready);
        ready.clear();
        for q in 1..ctx.facts.layout.queues_per_port {
            let Some(head) = links.queues.known(first + q).fifo.front() else { continue };
            let wire = ctx.facts.layout.wire(ctx.run.packets[head].frame);
            let port_class = ctx.facts.layout.port_class(port, ctx.facts.layout.class_of_queue(q));
            let gate = self.gate(links, ctx, port, port_class, q, wire);
            let len = Bytes(links.queues.known(first + q).bytes);
            ready.push(ReadyView { queue: ctx.facts.layout.queue_id(q), len, head: Bytes(wire), gate });
        }
        if self.serves {
            self.offer_one_of_each_class(Time(ctx.now), &mut ready);
        }
        let picked = if ready.is_empty() { None } else { self.scheduler.pick(Time(ctx.now), &ready) };
        ctx.run.out.ready = ready;
        picked.map(|id| ctx.facts.layout.queue_index(id))
    }

    /// Arms the timer for the congestion point that wants to be called first.
    #[inline]
    pub fn sync(&mut self, events: &mut Events, port: PortId) {
        let points = self.congestion_points.iter().filter_map(CongestionPoint::next_timeout);
        let next = points.chain(self.meter.as_ref().and_then(|meter| meter.wake)).min();
        events.sync(&mut self.cp_timer, next, EventKind::CongestionPoint, port.0);
    }
}

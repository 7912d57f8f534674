//! A switch: how a packet passes it, and the account of its buffer.

use floodway_mechanisms::slots::{
    Admission as _, Admit, CongestionPoint, DropReason, FcReceiver, IngressView, PacketView, PoolView,
    PortView, QueueView, Router as _, Signals,
};
use floodway_units::{Bytes, PortId};

use crate::agenda::What;
use crate::arena::Place;
use crate::packet::{ISOLATED, Kind, ON_PATH, Packet};
use crate::records::FirstDrop;
use crate::routing::in_force;
use crate::world::{NEVER, Port, Uncharge, World, bytes};

impl World<'_> {
    /// A packet has arrived whole at a switch; `lane` is its account there.
    #[inline]
    pub fn switch_receives(&mut self, switch: u32, ingress: PortId, lane: usize, place: Place) {
        let packet = &mut self.packets[place];
        packet.hop = packet.hop.saturating_add(1);
        let (class, frame) = (packet.class, packet.frame);
        let Some(out) = self.next_port(ingress, place) else {
            return self.refuse(lane, ingress, place, DropReason::NoRoute);
        };
        if class == 0 {
            if !self.control_goes_through(out, place) {
                self.take_in_control(switch as usize, out, place);
            }
            return;
        }
        self.settle(switch);
        if self.charge_unheard(lane, switch as usize, ingress, out, class, frame) {
            self.pass_on(out, lane, place);
        } else {
            self.take_in(ingress, lane, out, place);
        }
    }

    /// Takes in a packet of the control class that does not go straight through: charged to nobody, it passes the pipeline
    /// as data does.
    #[inline(never)]
    fn take_in_control(&mut self, switch: usize, out: PortId, place: Place) {
        if self.switches[switch].pipeline == 0 {
            self.queue_control(out, place);
        } else {
            self.enter_pipeline(switch, (out, 0), place);
        }
    }

    /// Asks everybody who may have a say in whether a packet of data is taken in, and how: `lane` is its account, and
    /// `out` where it leaves.
    #[inline(never)]
    fn take_in(&mut self, ingress: PortId, lane: usize, out: PortId, place: Place) {
        let packet = self.packets[place];
        let switch = self.ports[ingress.index()].owner as usize;
        let Some(q) = self.place(out, &packet) else {
            return self.refuse(lane, ingress, place, DropReason::IsolatedFull);
        };
        if let Some(reason) = self.refused(out, q, &packet) {
            self.refuse(lane, ingress, place, reason);
            return;
        }
        if self.ports[out.index()].isolates {
            if self.may_lose(out, q) {
                return self.isolate(ingress, lane, (out, q), place);
            }
            self.packets[place].flags &= !ISOLATED;
        }
        if let Some(reason) = self.charge(lane, switch, out, q, &packet) {
            self.refuse(lane, ingress, place, reason);
            return;
        }
        let view = self.account_view(lane, switch);
        let pipeline = self.switches[switch].pipeline;
        if pipeline == 0 {
            let crosses = self.has_crossbar(out);
            if crosses {
                self.wait_to_cross(out, q, place);
            } else {
                self.enqueue(out, q, place);
            }
            self.tell_receiver(lane, ingress, &view, FcReceiver::on_enqueue);
            if !crosses {
                self.kick(out);
            }
            return;
        }
        self.tell_receiver(lane, ingress, &view, FcReceiver::on_enqueue);
        self.enter_pipeline(switch, (out, q), place);
    }

    /// Takes in a packet for a queue that may lose it: no account is charged for it, and so it pauses nobody.
    fn isolate(&mut self, ingress: PortId, lane: usize, (out, q): (PortId, usize), place: Place) {
        let packet = &mut self.packets[place];
        packet.flags |= ISOLATED;
        let frame = u64::from(packet.frame);
        let switch = self.ports[ingress.index()].owner as usize;
        self.switches[switch].holds(frame, 0);
        if self.switches[switch].pipeline == 0 {
            self.enqueue(out, q, place);
        } else {
            self.enter_pipeline(switch, (out, q), place);
        }
        // For the account it is as if it had been discarded.
        self.with_receiver(lane, ingress, FcReceiver::on_refused);
        self.kick(out);
    }

    /// A packet that has been taken in passes the pipeline of a switch before it joins its queue.
    fn enter_pipeline(&mut self, switch: usize, (out, q): (PortId, usize), place: Place) {
        if q != 0 && self.ports[out.index()].isolates {
            // What is charged for it goes by its queue: which one that is is settled now.
            let packet = self.packets[place];
            self.note_placed(out, q, &packet);
        }
        let at = self.now + self.switches[switch].pipeline;
        let pipe = &mut self.switches[switch].pipe;
        pipe.push_back((at, out, place));
        if pipe.len() == 1 {
            self.events.add(What::Pipeline, switch as u32, at);
        }
    }

    /// Charges a packet where nobody has anything to decide or to say about it: the account and the pool are far from
    /// every threshold, and the egress queue is so short that no congestion point hears of the packet. Two packets of
    /// three are let through here with a tenth of the work of the calls that it spares; false if those are due.
    #[inline]
    fn charge_unheard(
        &mut self,
        lane: usize,
        switch: usize,
        ingress: PortId,
        out: PortId,
        class: u8,
        frame: u16,
    ) -> bool {
        let frame = u64::from(frame);
        let account = &self.ingress[lane];
        let port = &self.ports[out.index()];
        let pool = &self.switches[switch];
        let held = account.held + frame;
        let shared = held.saturating_sub(account.reserve);
        if shared >= u64::from(account.quiet)
            || account.headroom > 0
            || port.waiting + frame > u64::from(port.quiet) && self.joins_heard(out, class, frame)
            || pool.pool_used.saturating_add(frame) > pool.pool_quiet
            || port.discards != 0
            || !port.up
        {
            return false;
        }
        let account = &mut self.ingress[lane];
        let of_pool = if account.pooled { shared - account.shared() } else { 0 };
        account.held = held;
        if held > u64::from(account.told) || self.now >= account.told_until {
            self.tell_held(lane, ingress, held);
        }
        self.switches[switch].holds(frame, of_pool);
        true
    }

    /// An account holds `held` bytes: its peak and the port's series hear of it.
    #[inline(never)]
    fn tell_held(&mut self, lane: usize, ingress: PortId, held: u64) {
        let series = &mut self.series[ingress.index()];
        series.buffer(self.now, held);
        let account = &mut self.ingress[lane];
        account.peak = account.peak.max(held);
        if self.now >= account.told_until {
            (account.told, account.told_until) = (0, series.ends());
        }
        account.told = account.told.max(u32::try_from(held).unwrap_or(u32::MAX));
    }

    /// Do congestion points hear of a frame that joins the first queue of its class?
    #[inline(never)]
    fn joins_heard(&self, out: PortId, class: u8, frame: u64) -> bool {
        let queue = &self.queues[self.queue(out) + self.first_queue(class)];
        queue.bytes + frame > u64::from(self.ports[out.index()].quiet)
    }

    /// Sends a packet on that no congestion point hears of: straight through where the port has nothing else to do, else
    /// by its queue. `lane` is its account.
    #[inline]
    fn pass_on(&mut self, out: PortId, lane: usize, place: Place) {
        let Packet { class, frame, ingress, .. } = self.packets[place];
        if self.straight && self.is_free(out, class) && self.is_idle(out) {
            self.goes_through(out, frame);
            self.send_charged(out, place, (ingress, lane), frame);
        } else {
            self.join(out, self.first_queue(class), place);
        }
    }

    /// Puts a charged packet into its egress queue, and lets the port look.
    #[inline(never)]
    fn join(&mut self, out: PortId, q: usize, place: Place) {
        self.enqueue(out, q, place);
        self.kick(out);
    }

    /// The switch's accounts hear of releases, or no longer.
    pub fn awaiting_changed(&mut self, lane: usize, port: PortId) {
        self.set_quiet(lane, port);
        if self.ingress[lane].awaits {
            self.await_releases(lane, port);
        }
    }

    /// Up to where packets come in unheard: nowhere, while a release is awaited.
    pub fn set_quiet(&mut self, lane: usize, port: PortId) {
        let account = &self.ingress[lane];
        let switch = self.switches.get(self.ports[port.index()].owner as usize);
        let Some(switch) = switch.filter(|switch| switch.pipeline == 0 && !self.ports[port.index()].at_host)
        else {
            return;
        };
        let pooled = account.pooled;
        // Behind a crossbar nothing goes straight through.
        let plain = !account.awaits && account.admission.is_plain() && switch.inputs.is_none();
        let quiet = if !plain || pooled && switch.pool_size == 0 {
            0
        } else if pooled {
            account.receiver.quiet_below(bytes(switch.pool_size - switch.pool_quiet)).0
        } else {
            account.receiver.quiet_below(Bytes::ZERO).0.min(account.own.saturating_sub(account.headroom_size))
        };
        self.ingress[lane].quiet = u32::try_from(quiet).unwrap_or(u32::MAX);
    }

    /// Where a packet leaves that has just arrived.
    #[inline]
    fn next_port(&mut self, ingress: PortId, place: Place) -> Option<PortId> {
        let &Packet { out, .. } = &self.packets[place];
        if out != ingress {
            return self.ports[out.index()].up.then_some(out);
        }
        self.look_up(ingress, place)
    }

    /// Where a packet on the way to `ingress` will leave the node there: found beforehand, so that all that it needs
    /// there can be fetched at once.
    #[inline]
    pub fn out_of(&self, ingress: PortId, packet: &Packet) -> PortId {
        if !packet.has(ON_PATH) {
            return ingress;
        }
        let way = &self.ways[packet.flow.index()];
        way.port(packet.is_reply(), packet.hop as usize + 1).unwrap_or(ingress)
    }

    #[inline(never)]
    fn look_up(&mut self, ingress: PortId, place: Place) -> Option<PortId> {
        let packet = self.packets[place];
        // A fixed path that leads back where it comes from.
        let way = &self.ways[packet.flow.index()];
        let back = way.port(packet.is_reply(), packet.hop as usize).filter(|_| packet.has(ON_PATH));
        if let Some(out) = back {
            return self.ports[out.index()].up.then_some(out);
        }
        self.route(ingress, &packet)
    }

    /// A packet that has just arrived is discarded before it is charged; `lane` is its account.
    #[inline(never)]
    fn refuse(&mut self, lane: usize, ingress: PortId, place: Place, reason: DropReason) {
        self.discard(lane, place, reason);
        self.settle_port(ingress);
        self.with_receiver(lane, ingress, FcReceiver::on_refused);
    }

    /// A packet has passed the pipeline of a switch.
    pub fn leave_pipeline(&mut self, switch: u32) {
        let pipe = &mut self.switches[switch as usize].pipe;
        let Some((_, out, place)) = pipe.pop_front() else { return };
        if let Some(&(at, ..)) = pipe.front() {
            self.events.add(What::Pipeline, switch, at);
        }
        let packet = self.packets[place];
        if packet.class == 0 {
            return self.control_leaves_pipeline(out, place);
        }
        let q = if self.ports[out.index()].isolates {
            self.first_queue_of(packet.class, usize::from(packet.has(ISOLATED)))
        } else {
            self.wished_place(out, &packet)
        };
        // Its link may have failed meanwhile, or a watchdog have given its queue up.
        if let Some(reason) = self.shut(out, q) {
            let lane = self.lane(packet.ingress, packet.class);
            self.discard(lane, place, reason);
            self.settle(switch);
            if self.ports[out.index()].isolates {
                self.no_longer_placed(out, packet.flow);
            }
            if self.has_crossbar(out) {
                self.never_crosses(out, &packet);
            } else if self.may_lose(out, q) {
                self.switches[switch as usize].occupied -= u64::from(packet.frame);
            } else {
                self.uncharge(lane, packet.ingress, packet.frame);
            }
        } else if self.has_crossbar(out) {
            self.wait_to_cross(out, q, place);
        } else {
            self.join(out, q, place);
        }
    }

    /// A packet of the control class has passed the pipeline of a switch; its link may have failed meanwhile.
    fn control_leaves_pipeline(&mut self, out: PortId, place: Place) {
        if self.ports[out.index()].up {
            self.queue_control(out, place);
        } else {
            let lane = self.lane(self.packets[place].ingress, 0);
            self.discard(lane, place, DropReason::LinkDown);
        }
    }

    /// Where a packet leaves whose way is not fixed; `None` where no port leads to its destination.
    pub fn route(&mut self, ingress: PortId, packet: &Packet) -> Option<PortId> {
        let way = &self.ways[packet.flow.index()];
        let reply = packet.is_reply();
        if let Some(relay) = self.relay_at(ingress) {
            return Some(relay.ports.other(ingress));
        }
        let node = self.ports[ingress.index()].node;
        let (destination, tuple) =
            if reply { (way.source, way.tuple.reversed()) } else { (way.destination, way.tuple) };
        self.refresh_routes(destination);
        let candidates = self.candidates(node, destination);
        let switch = self.nodes[node.index()].switch as usize;
        match *candidates {
            [] => None,
            [only] => Some(only),
            _ => {
                if let Some(choice) = self.switches[switch].router.by_flow(&tuple, candidates.len()) {
                    return Some(candidates[choice]);
                }
                self.route_packet(switch, node, destination, packet, tuple.key())
            }
        }
    }

    /// Asks a router that looks at more than the flow.
    fn route_packet(
        &mut self,
        switch: usize,
        node: floodway_units::NodeId,
        destination: floodway_units::NodeId,
        packet: &Packet,
        flow_hash: u64,
    ) -> Option<PortId> {
        let view = PacketView { flow_hash, ..self.packet_view(packet) };
        let ports = in_force(&self.routes, self.changing.as_deref(), (node, destination));
        let usual = self.switches[switch].router.usual_way(&view, ports).map(|way| ports[way]);
        if let Some(port) = usual {
            let at = self.port_view(port, packet, true);
            if self.switches[switch].router.stays(&view, &at) {
                return usual;
            }
        }
        let mut views = std::mem::take(&mut self.out.candidates);
        views.clear();
        let reads = self.switches[switch].router.reads_ports();
        for &port in self.candidates(node, destination) {
            views.push(self.port_view(port, packet, reads));
        }
        let now = self.time();
        let rng = &mut self.nodes[node.index()].streams.routing;
        let choice = self.switches[switch].router.route(now, rng, &view, &views);
        let port = views.get(choice).map(|view| view.port);
        self.out.candidates = views;
        if let Some(left) = usual.filter(|_| port != usual) {
            let lane = self.lane(left, packet.class);
            self.egress[lane].rare.moves += 1;
        }
        port
    }

    fn port_view(&self, port: PortId, packet: &Packet, full: bool) -> PortView {
        let mut view = PortView {
            port,
            queued: Bytes::ZERO,
            rate: self.rate(port),
            up: self.ports[port.index()].up,
            signals: Signals::default(),
            culprit: false,
            holds_flow: false,
        };
        if full {
            view.holds_flow = self.machines[port.index()].placed.contains_key(&packet.flow.0);
            view.queued = bytes(self.ports[port.index()].waiting);
            for point in &self.machines[port.index()].congestion_points {
                let signals = point.signals(self.time());
                view.signals.degree = view.signals.degree.max(signals.degree);
                view.signals.local |= signals.local;
                view.signals.remote |= signals.remote;
                view.signals.severe |= signals.severe;
                view.culprit |= point.is_culprit(self.time(), packet.flow);
            }
        }
        view
    }

    /// The queue that the packet joins; none if it must be dropped.
    ///
    /// A packet that left a queue which nobody pauses was not asked for: where its ingress has nothing but headroom left it
    /// waits in a queue that may lose it, if there is one, whatever the flow is here; what waits of the flow moves there.
    fn place(&mut self, out: PortId, packet: &Packet) -> Option<usize> {
        let q = self.wished_place(out, packet);
        if !packet.has(ISOLATED) || self.may_lose(out, q) || !self.is_pressed(packet) {
            return Some(q);
        }
        if !self.ports[out.index()].isolates {
            return None;
        }
        if self.machines[out.index()].placed.contains_key(&packet.flow.0) {
            self.isolate_waiting(out, packet.class, Some(packet.flow));
        }
        Some(self.first_queue_of(packet.class, 1))
    }

    /// Would a packet that has just come in be charged to headroom, or be one too many for a paused account?
    fn is_pressed(&self, packet: &Packet) -> bool {
        let lane = self.lane(packet.ingress, packet.class);
        let account = &self.ingress[lane];
        if !account.lossless {
            return false;
        }
        let view = self.account_view(lane, account.owner as usize);
        let threshold = account.receiver.threshold(view.pool_free);
        let frame = bytes(u64::from(packet.frame));
        account.headroom > 0
            || account.receiver.is_pausing(self.time())
            || view.shared.saturating_add(frame) > threshold
            || frame > view.pool_free
    }

    /// Is the `q`-th queue of a port one that may lose what waits in it? Then it is paused by nobody, and its packets are
    /// charged to no account: its congestion point bounds it.
    #[inline]
    pub fn may_lose(&self, port: PortId, q: usize) -> bool {
        self.subs == 2 && self.ports[port.index()].isolates && q != 0 && q.is_multiple_of(2)
    }

    /// Where the packet's flow should wait, unless it still has packets elsewhere.
    fn wished_place(&mut self, out: PortId, packet: &Packet) -> usize {
        if !self.ports[out.index()].has_cp || self.subs == 1 && self.queues_per_port == 2 {
            return self.first_queue(packet.class);
        }
        if let Some(&(q, _)) = self.machines[out.index()].placed.get(&packet.flow.0) {
            return q;
        }
        let sub = self.sub_of(out, packet);
        self.first_queue_of(packet.class, sub)
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

    /// Does a queue take no packet at all, and why?
    pub fn shut(&self, out: PortId, q: usize) -> Option<DropReason> {
        if !self.ports[out.index()].up {
            return Some(DropReason::LinkDown);
        }
        let discards = self.ports[out.index()].discards >> self.class_of_queue(q) & 1 != 0;
        (discards && !self.may_lose(out, q)).then_some(DropReason::Watchdog)
    }

    /// Does a failed link, a watchdog or a congestion point drop the packet before it is charged?
    pub fn refused(&mut self, out: PortId, q: usize, packet: &Packet) -> Option<DropReason> {
        let shut = self.shut(out, q);
        if shut.is_some() || !self.ports[out.index()].has_cp {
            return shut;
        }
        let (view, queue) = (self.packet_view(packet), self.queue_view(out, q, packet));
        let now = self.time();
        let node = self.ports[out.index()].node.index();
        let rng = &mut self.nodes[node].streams.admission;
        let points = &mut self.machines[out.index()].congestion_points;
        points.iter_mut().find_map(|point| point.admit(now, rng, &view, &queue))
    }

    /// Charges the packet to its ingress, or says why it must be dropped.
    fn charge(
        &mut self,
        lane: usize,
        switch: usize,
        out: PortId,
        q: usize,
        packet: &Packet,
    ) -> Option<DropReason> {
        let frame = u64::from(packet.frame);
        let view = self.account_view(lane, switch);
        let account = &self.ingress[lane];
        let egress_used = account.admission.egress_reserve().map(|reserve| self.beyond(switch, reserve));
        let pool = PoolView {
            free: view.pool_free,
            threshold: account.receiver.threshold(view.pool_free),
            headroom: bytes(account.headroom_size),
            size: bytes(account.own),
            egress_used: egress_used.unwrap_or_default(),
        };
        let (packet_view, queue_view) = (self.packet_view(packet), self.queue_view(out, q, packet));
        let node = self.ports[out.index()].node.index();
        let now = self.time();
        let rng = &mut self.nodes[node].streams.admission;
        let account = &mut self.ingress[lane];
        let charged = account.admission.admit(now, rng, &packet_view, &view, &queue_view, &pool);
        let shared_before = account.shared();
        match charged {
            Admit::Reserved | Admit::Shared => account.held += frame,
            Admit::Headroom => account.headroom += frame,
            Admit::Drop(reason) => {
                if account.lossless && matches!(reason, DropReason::Buffer | DropReason::Egress) {
                    let (size, held) = (account.headroom_size, account.headroom);
                    let missing = if account.by_output {
                        (queue_view.voq.0 + frame).saturating_sub(account.own)
                    } else if reason == DropReason::Egress {
                        // Its queue's share changes with the others': the packet itself had no room.
                        frame
                    } else if account.pooled {
                        (held + frame).saturating_sub(size)
                    } else {
                        (account.held + held + frame).saturating_sub(account.own)
                    };
                    self.records.lossless_drop(FirstDrop {
                        lane,
                        time: self.now,
                        order: self.order,
                        missing,
                    });
                }
                return Some(reason);
            }
        }
        let grown = account.shared() - shared_before;
        let total = account.held + account.headroom;
        account.headroom_peak = account.headroom_peak.max(account.headroom);
        let of_pool = if account.pooled { grown } else { 0 };
        self.tell_held(lane, packet.ingress, total);
        self.switches[switch].holds(frame, of_pool);
        if self.has_crossbar(out) {
            self.charge_voq(packet.ingress, out, packet.class, packet.frame);
        }
        None
    }

    /// What the queues of data at a switch's ports hold beyond `reserve` each. They are gone through, so that
    /// nobody pays for it who does not ask.
    fn beyond(&self, switch: usize, reserve: Bytes) -> Bytes {
        let queues = self.switches[switch].ports.iter().flat_map(|&port| {
            let charged = (1..self.queues_per_port).filter(move |&q| !self.may_lose(port, q));
            charged.map(move |q| &self.queues[self.queue(port) + q])
        });
        bytes(queues.map(|queue| queue.bytes.saturating_sub(reserve.0)).sum())
    }

    /// Puts a charged packet into its egress queue.
    pub fn enqueue(&mut self, out: PortId, q: usize, place: Place) {
        let &Packet { class, frame, .. } = &self.packets[place];
        let lane = self.lane(out, class);
        if self.ports[out.index()].paused >> class & 1 != 0 && !self.may_lose(out, q) {
            let packet = &mut self.packets[place];
            packet.paused = packet.paused.wrapping_sub(self.egress[lane].paused(self.now));
        }
        let queue = &mut self.queues[out.index() * self.queues_per_port + q];
        queue.bytes += u64::from(frame);
        let queued = queue.bytes;
        queue.fifo.push(&mut self.packets, place);
        self.joins(out, frame);
        if queued <= u64::from(self.ports[out.index()].quiet) {
            return;
        }
        self.enqueued(out, q, lane, place);
    }

    /// Sends a packet of the control class that is made at this node: no pipeline is before it.
    #[inline(never)]
    pub fn send_control(&mut self, out: PortId, place: Place) {
        if !self.control_goes_through(out, place) {
            self.queue_control(out, place);
        }
    }

    /// Sends a packet of the control class straight through a switch where the port has nothing else to do, and no switch of
    /// the network has a pipeline; was it so?
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn control_goes_through(&mut self, out: PortId, place: Place) -> bool {
        let &Port { up, at_host, owner, .. } = &self.ports[out.index()];
        let through = up && self.straight_control && !at_host && !self.settle(owner) && self.is_idle(out);
        if through {
            self.goes_through(out, self.packets[place].frame);
            self.put_on_link(out, place);
        }
        through
    }

    /// Puts a packet into the queue of the control class, and lets the port look.
    #[inline(never)]
    fn queue_control(&mut self, out: PortId, place: Place) {
        if !self.ports[out.index()].up {
            let lane = self.lane(out, 0);
            self.discard(lane, place, DropReason::LinkDown);
            return;
        }
        let frame = self.packets[place].frame;
        let at = self.queue(out);
        self.queues[at].fifo.push(&mut self.packets, place);
        self.joins(out, frame);
        self.kick(out);
    }

    pub fn packet_view(&self, packet: &Packet) -> PacketView {
        let way = &self.ways[packet.flow.index()];
        let is_reply = packet.is_reply();
        let tuple = if is_reply { way.tuple.reversed() } else { way.tuple };
        PacketView {
            flow: packet.flow,
            class: self.classes[packet.class as usize],
            frame: bytes(u64::from(packet.frame)),
            wire: bytes(self.wire(packet.frame)),
            // In the HPCC simulator replies are drawn for, too.
            ecn_capable: packet.kind == Kind::Data || packet.class != 0 && self.shared_draws.is_some(),
            is_reply,
            isolated: packet.has(ISOLATED),
            mark: packet.mark(),
            flow_hash: way.hash,
            source: tuple.source,
            destination: tuple.destination,
            ingress: packet.ingress,
        }
    }

    pub fn queue_view(&self, port: PortId, q: usize, packet: &Packet) -> QueueView {
        let class = self.class_of_queue(q);
        let lane = self.lane(port, class);
        QueueView {
            port,
            class: self.classes[class as usize],
            sub: self.queue_id(q).sub,
            len: bytes(self.queues[self.queue(port) + q].bytes),
            first: bytes(self.queues[self.queue(port) + self.first_queue(class)].bytes),
            voq: bytes(self.voq_bytes(packet.ingress, port, class)),
            rate: self.rate(port),
            paused: self.egress[lane].paused_since != NEVER && !self.may_lose(port, q),
            base_rtt: self.ways[packet.flow.index()].base_rtt,
        }
    }

    /// What a receiver half may know of its account.
    pub fn ingress_view(&self, lane: usize, port: PortId) -> IngressView {
        let state = &self.ports[port.index()];
        let switch = if state.at_host { u32::MAX } else { state.owner };
        self.account_view(lane, switch as usize)
    }

    fn account_view(&self, lane: usize, switch: usize) -> IngressView {
        let account = &self.ingress[lane];
        let shared = if account.by_output { self.longest_voq_of(lane) } else { account.shared() };
        let free = if account.pooled {
            self.switches
                .get(switch)
                .map_or(NEVER, |switch| switch.pool_size.saturating_sub(switch.pool_used))
        } else {
            account.own.saturating_sub(account.headroom_size).saturating_sub(shared)
        };
        IngressView {
            queued: bytes(account.held + account.headroom),
            reserved: bytes(account.held - account.shared()),
            shared: bytes(shared),
            headroom: bytes(account.headroom),
            received: bytes(account.received.bytes + self.gap * account.received.packets),
            pool_free: bytes(free),
        }
    }

    /// `frame` bytes that are charged to no account have left the switch of `port`.
    pub fn uncounted(&mut self, port: PortId, frame: u16) {
        let switch = self.ports[port.index()].owner as usize;
        self.switches[switch].occupied -= u64::from(frame);
    }

    /// Takes `frame` bytes off an account, from headroom first, and tells its receiver half.
    pub fn uncharge(&mut self, lane: usize, ingress: PortId, frame: u16) {
        self.uncharge_at(self.ports[ingress.index()].owner as usize, lane, ingress, frame);
    }

    #[inline]
    fn uncharge_at(&mut self, switch: usize, lane: usize, ingress: PortId, frame: u16) {
        self.switches[switch].occupied -= u64::from(frame);
        self.uncharge_account(switch, lane, ingress, frame);
    }

    /// Takes `frame` bytes off an account that stay in the switch, or have left it.
    #[inline]
    pub fn uncharge_account(&mut self, switch: usize, lane: usize, ingress: PortId, frame: u16) {
        let frame = u64::from(frame);
        let account = &mut self.ingress[lane];
        let shared_before = account.shared();
        let from_headroom = account.headroom.min(frame);
        account.headroom -= from_headroom;
        account.held -= frame - from_headroom;
        let shrunk = shared_before - account.shared();
        let pooled = account.pooled;
        let switch = &mut self.switches[switch];
        if pooled {
            switch.pool_used -= shrunk;
        }
        if account.awaits {
            self.with_receiver(lane, ingress, FcReceiver::on_release);
        }
    }

    /// The packet just put on the wire by `port` is uncharged from account `lane` at its last bit.
    #[inline]
    pub fn release_later(&mut self, port: PortId, ingress: PortId, lane: usize, frame: u16) {
        let state = &self.ports[port.index()];
        let (at, index) = (state.free_at, state.owner);
        let switch = &mut self.switches[index as usize];
        switch.next_release = switch.next_release.min(at);
        let uncharge = Uncharge { at, port, ingress, lane: lane as u32, frame };
        // Nearly always the last: only a short packet or a faster port overtakes others.
        if switch.releases.back().is_none_or(|last| (last.at, last.port) <= (at, port)) {
            switch.releases.push_back(uncharge);
        } else {
            let after = switch.releases.partition_point(|other| (other.at, other.port) <= (at, port));
            switch.releases.insert(after, uncharge);
        }
        if self.ingress[lane].awaits {
            self.events.add(What::Release, index, at);
        }
    }

    /// Makes events of the releases that `lane` now waits for.
    pub fn await_releases(&mut self, lane: usize, port: PortId) {
        let state = &self.ports[port.index()];
        let index = state.owner;
        let Some(switch) = self.switches.get(index as usize).filter(|_| !state.at_host) else { return };
        for i in 0..switch.releases.len() {
            let leaving = self.switches[index as usize].releases[i];
            if leaving.lane as usize == lane {
                self.events.add(What::Release, index, leaving.at.max(self.now));
            }
        }
    }

    /// Settles the switch of a port.
    pub fn settle_port(&mut self, port: PortId) {
        self.settle(self.ports[port.index()].owner);
    }

    /// Uncharges all packets of a switch whose last bit has gone, in order of time, then of port; whether
    /// there were any.
    #[inline]
    pub fn settle(&mut self, switch: u32) -> bool {
        let any = self.switches[switch as usize].next_release <= self.now;
        if any {
            self.settle_due(switch);
        }
        any
    }

    #[inline(never)]
    fn settle_due(&mut self, switch: u32) {
        loop {
            let state = &mut self.switches[switch as usize];
            let Some(leaving) = state.releases.pop_front() else { return };
            let next = state.releases.front().map_or(NEVER, |first| first.at);
            state.next_release = next;
            self.uncharge_at(switch as usize, leaving.lane as usize, leaving.ingress, leaving.frame);
            // What was said of it may have led here, too.
            if next > self.now || self.switches[switch as usize].next_release > self.now {
                return;
            }
        }
    }

    /// Drops what waits in the queues of a class, since a watchdog has given it up.
    pub fn discard_queue(&mut self, port: PortId, lane: usize) {
        self.flush_queues(port, (lane % self.classes.len()) as u8, DropReason::Watchdog);
    }

    /// Drops what waits in the queues of a class.
    pub fn flush_queues(&mut self, port: PortId, class: u8, reason: DropReason) {
        if class != 0 && self.has_crossbar(port) {
            self.flush_inputs(port, class, reason);
        }
        let first = self.queue(port);
        for q in 0..self.queues_per_port {
            // Where a pause has lasted too long, what is not paused goes on.
            let stays = reason == DropReason::Watchdog && self.may_lose(port, q);
            if self.class_of_queue(q) != class || stays {
                continue;
            }
            let mut waiting = std::mem::take(&mut self.queues[first + q].fifo);
            self.queues[first + q].bytes = 0;
            while let Some(place) = waiting.pop(&self.packets) {
                let packet = self.packets.take(place);
                self.quits(port, packet.frame);
                if packet.is_link_control() {
                    self.forget_link_control(&packet);
                    continue;
                }
                self.machines[port.index()].placed.remove(&packet.flow.0);
                self.removed(port, &packet);
                if self.ports[port.index()].at_host {
                    let lane = self.lane(port, packet.class);
                    self.drop_packet(lane, &packet, reason);
                    continue;
                }
                let lane = self.lane(packet.ingress, packet.class);
                self.drop_packet(lane, &packet, reason);
                if packet.class != 0 && self.has_crossbar(port) {
                    self.left_output(port, packet.frame);
                } else if self.may_lose(port, q) {
                    self.uncounted(port, packet.frame);
                } else if packet.class != 0 {
                    self.settle_port(packet.ingress);
                    self.uncharge(lane, packet.ingress, packet.frame);
                }
            }
        }
    }
}

//! A port: what it sends next, and what the link then does with it.

use floodway_mechanisms::registry::AnyFcReceiver;
use floodway_mechanisms::slots::{
    CongestionPoint as _, Cx, Disposition, DropReason, FcFrame, FcReceiver as _, FcSender as _, Gate,
    IngressView, ReadyView, Scheduler as _, most_closed,
};
use floodway_units::{Class, PortId, QueueId, Rate, uniform};

use crate::agenda::What;
use crate::arena::Place;
use crate::blueprint::{Acks, LinkControl, Release};
use crate::packet::{INT, Kind, Packet};
use crate::routing::peer;
use crate::world::{NEVER, Port, Relay, World, bytes};

impl World<'_> {
    /// Something may be ready to be sent.
    #[inline]
    pub fn kick(&mut self, port: PortId) {
        if self.ports[port.index()].choosing {
            // It looks again itself.
        } else if self.is_busy(port) {
            self.arm(port);
        } else {
            self.transmit(port);
        }
    }

    /// The transmitter is free, and something waits.
    #[inline]
    pub fn depart(&mut self, port: PortId) {
        let state = &mut self.ports[port.index()];
        state.armed = false;
        let &mut Port { at_host, up, owner, .. } = state;
        if at_host || !up {
            return self.transmit(port);
        }
        // What is uncharged now may send word by this very port, and that then goes first.
        if self.settle(owner) && self.is_busy(port) {
            return;
        }
        if self.straight && !self.ports[port.index()].controls && self.sends_unheard(port) {
            if self.ports[port.index()].waiting > 0 {
                self.arm(port);
            }
        } else {
            self.transmit(port);
        }
    }

    /// Sends the packet that is next at a switch's port with one queue of data, where nobody has anything to decide or to
    /// say about it; false if somebody has. As [`World::transmit`], for what three of four departures are.
    #[inline]
    fn sends_unheard(&mut self, port: PortId) -> bool {
        let at = self.queue(port);
        let quiet = u64::from(self.ports[port.index()].quiet);
        let lane = self.lane(port, 1);
        let (q, place) = match (self.queues[at].fifo.front(), self.queues[at + 1].fifo.front()) {
            (Some(place), _) if self.packets[place].class == 0 => (0, place),
            (None, Some(place)) if self.is_free(port, 1) && self.queues[at + 1].bytes <= quiet => (1, place),
            _ => return false,
        };
        let packet = &mut self.packets[place];
        let (frame, ingress) = (packet.frame, packet.ingress);
        let account = self.lane(ingress, 1);
        // A release that somebody waits for may come back to this very port.
        if q == 1 && self.release == Release::Start && self.ingress[account].awaits {
            return false;
        }
        self.queues[at + q].fifo.pop(&self.packets);
        self.leaves(port, frame);
        if q == 0 {
            self.put_on_link(port, place);
        } else {
            self.queues[at + q].bytes -= u64::from(frame);
            if self.ports[port.index()].paused != 0 {
                let paused = self.egress[lane].paused(self.now);
                let packet = &mut self.packets[place];
                packet.paused = packet.paused.wrapping_add(paused);
            }
            self.send_charged(port, place, (ingress, account), frame);
        }
        true
    }

    /// Sets a packet on the wire that is charged to an account of the port `from`.
    #[inline]
    pub fn send_charged(&mut self, port: PortId, place: Place, (from, lane): (PortId, usize), frame: u16) {
        if self.release == Release::Start {
            self.uncharge(lane, from, frame);
            self.put_on_link(port, place);
        } else {
            self.put_on_link(port, place);
            self.release_later(port, from, lane, frame);
        }
    }

    /// The transmitter is free: sends what comes next, if anything may go.
    pub fn transmit(&mut self, port: PortId) {
        let state = &self.ports[port.index()];
        let (at_host, owner) = (state.at_host, state.owner);
        if !state.up {
            return;
        }
        // What is uncharged now may send word by this very port, and that then goes first.
        if !at_host && self.settle(owner) && self.is_busy(port) {
            return;
        }
        let state = &mut self.ports[port.index()];
        state.choosing = true;
        if let Some(place) = state.take_control(&self.packets) {
            let frame = self.packets[place];
            self.count_link_control(port, &frame);
            self.put_on_link(port, place);
        } else if let Some(place) = self.take_control(port) {
            self.leaves_control(port, place);
            self.put_on_link(port, place);
        } else if at_host {
            self.send_from_nic(port);
        } else {
            self.send_from_queue(port);
        }
        self.ports[port.index()].choosing = false;
        if self.has_waiting(port) && self.is_busy(port) {
            self.arm(port);
        }
    }

    /// Takes the next packet of the queue that goes before data: of the control class, or at a host a reply of
    /// a class of data, which a pause of its class may hold back.
    #[inline]
    fn take_control(&mut self, port: PortId) -> Option<Place> {
        let at = self.queue(port);
        let place = self.queues[at].fifo.front()?;
        let Packet { class, frame, .. } = self.packets[place];
        if class != 0 && self.blueprint.semantics.acks == Acks::Data && !self.packets[place].is_link_control()
        {
            let gate = self.egress[self.lane(port, class)].sender.gate(self.time(), bytes(self.wire(frame)));
            if !gate.is_open(self.time()) {
                return None;
            }
        }
        self.queues[at].fifo.pop(&self.packets)
    }

    /// A packet has left the queue that goes before data, in which link control frames may wait, too.
    #[inline]
    fn leaves_control(&mut self, port: PortId, place: Place) {
        let packet = self.packets[place];
        if packet.is_link_control() {
            return self.leaves_as_link_control(port, &packet);
        }
        self.leaves(port, packet.frame);
        if packet.class != 0 {
            let lane = self.lane(port, packet.class);
            self.sent(port, lane, self.wire(packet.frame));
        }
    }

    #[inline(never)]
    fn leaves_as_link_control(&mut self, port: PortId, packet: &Packet) {
        self.quits(port, packet.frame);
        let waiting = self.queues[self.queue(port)].fifo;
        let more = waiting.places(&self.packets).any(|place| self.packets[place].is_link_control());
        self.ports[port.index()].controls = more;
        self.count_link_control(port, packet);
    }

    /// A link control frame waits to be sent from here.
    pub fn queue_link_control(&mut self, port: PortId, place: Place) {
        let state = &mut self.ports[port.index()];
        state.controls = true;
        if self.blueprint.semantics.link_control == LinkControl::First {
            return state.control.push(&mut self.packets, place);
        }
        let at = self.queue(port);
        self.queues[at].fifo.push(&mut self.packets, place);
        self.joins(port, self.packets[place].frame);
    }

    /// The link control frame that came last, if nothing has come after it.
    fn last_link_control(&self, port: PortId) -> Option<Place> {
        match self.blueprint.semantics.link_control {
            LinkControl::First => self.ports[port.index()].control.back(),
            LinkControl::ControlClass => self.queues[self.queue(port)].fifo.back(),
        }
    }

    fn has_waiting(&self, port: PortId) -> bool {
        let state = &self.ports[port.index()];
        if state.controls || state.waiting > 0 {
            return true;
        }
        state.at_host && self.nics[state.owner as usize].has_waiting()
    }

    fn send_from_queue(&mut self, port: PortId) {
        let Some(q) = self.pick_queue(port) else { return };
        let at = self.queue(port) + q;
        let queue = &mut self.queues[at];
        let place = queue.fifo.pop(&self.packets).expect("a picked queue is not empty");
        let packet = &mut self.packets[place];
        let (ingress, class, frame) = (packet.ingress, packet.class, packet.frame);
        let heard = queue.bytes > u64::from(self.ports[port.index()].quiet);
        queue.bytes -= u64::from(frame);
        let lane = port.index() * self.classes.len() + class as usize;
        let isolated = self.may_lose(port, q);
        if !isolated {
            let paused = self.egress[lane].paused(self.now);
            let packet = &mut self.packets[place];
            packet.paused = packet.paused.wrapping_add(paused);
        }
        self.leaves(port, frame);
        if heard {
            let packet = self.packets[place];
            let mark = self.dequeued(port, q, &packet);
            self.mark(lane, place, mark);
        }
        if self.telemetry.on && self.packets[place].has(INT) && self.packets[place].is_data() {
            let left = self.ports[port.index()].waiting;
            self.telemetry.record(place, port, self.rate(port), self.now, left);
        }
        let lane = self.lane(port, self.class_of_queue(q));
        self.sent(port, lane, self.wire(frame));
        if self.queues_per_port > 2 {
            let id = self.queue_id(q);
            let (now, wire) = (self.time(), bytes(self.wire(frame)));
            self.machines[port.index()].scheduler.on_sent(now, id, wire);
        }
        if self.has_crossbar(port) {
            self.put_on_link(port, place);
            self.left_output(port, frame);
        } else if isolated {
            self.put_on_link(port, place);
            self.uncounted(port, frame);
        } else {
            self.send_charged(port, place, (ingress, self.lane(ingress, class)), frame);
        }
    }

    /// Tells the flow control's sender half that a frame of its class starts.
    #[inline]
    pub fn sent(&mut self, port: PortId, lane: usize, wire: u64) {
        if !self.egress[lane].counts_sent {
            return;
        }
        let node = self.ports[port.index()].node.index();
        let mut cx = Cx {
            now: self.time(),
            rng: &mut self.nodes[node].streams.flow_control,
            out: &mut self.out.frames,
        };
        self.egress[lane].sender.on_sent(&mut cx, bytes(wire));
        self.flush_frames(port);
        self.sender_changed(port, lane);
    }

    /// The queue that sends next: an index of the port's queues.
    fn pick_queue(&mut self, port: PortId) -> Option<usize> {
        let first = self.queue(port);
        if self.queues_per_port == 2 {
            let queue = &self.queues[first + 1];
            let head = queue.fifo.front()?;
            let lane = self.lane(port, 1);
            if self.is_free(port, 1) && queue.bytes <= u64::from(self.ports[port.index()].quiet) {
                return Some(1);
            }
            let wire = self.wire(self.packets[head].frame);
            return self.gate(port, lane, 1, wire).is_open(self.time()).then_some(1);
        }
        let mut ready = std::mem::take(&mut self.out.ready);
        ready.clear();
        for q in 1..self.queues_per_port {
            let Some(head) = self.queues[first + q].fifo.front() else { continue };
            let wire = self.wire(self.packets[head].frame);
            let lane = self.lane(port, self.class_of_queue(q));
            let gate = self.gate(port, lane, q, wire);
            let len = bytes(self.queues[first + q].bytes);
            ready.push(ReadyView { queue: self.queue_id(q), len, head: bytes(wire), gate });
        }
        let picked = if ready.is_empty() {
            None
        } else {
            self.machines[port.index()].scheduler.pick(floodway_units::Time(self.now), &ready)
        };
        self.out.ready = ready;
        picked.map(|id| self.queue_index(id))
    }

    /// May the `q`-th queue send a frame of `wire` bytes?
    #[inline]
    pub fn gate(&self, port: PortId, lane: usize, q: usize, wire: u64) -> Gate {
        let now = self.time();
        if !self.ports[port.index()].has_cp {
            return self.egress[lane].sender.gate(now, bytes(wire));
        }
        let is_paused_never = self.may_lose(port, q);
        let gate = if is_paused_never { Gate::Open } else { self.egress[lane].sender.gate(now, bytes(wire)) };
        let id = self.queue_id(q);
        let points = &self.machines[port.index()].congestion_points;
        points.iter().fold(gate, |gate, point| most_closed(gate, point.gate(now, id)))
    }

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
        self.classes.iter().position(|&other| other == class).map_or(u8::MAX, |at| at as u8)
    }

    /// Sets a packet on the wire now: the transmitter is taken, and its arrival is known.
    #[inline]
    pub fn put_on_link(&mut self, port: PortId, place: Place) {
        let state = &mut self.ports[port.index()];
        let packet = &self.packets[place];
        let serial = state.serial_time(u64::from(packet.frame) + self.gap);
        let arrival = self.now + serial + state.delay;
        state.free_at = self.now + serial;
        if !state.observed {
            self.take_off(port, place, arrival);
        } else if let Some(arrival) = self.observe(port, place, arrival, serial) {
            self.take_off_observed(port, place, arrival);
        }
    }

    #[inline(never)]
    fn take_off_observed(&mut self, port: PortId, place: Place, arrival: u64) {
        self.take_off(port, place, arrival);
    }

    /// A packet is on the link from here.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn take_off(&mut self, port: PortId, place: Place, arrival: u64) {
        let mut number = 0;
        if let Some(numbers) = self.events.two_numbers() {
            // The end of the transmission is scheduled first, then the arrival.
            (self.ports[port.index()].free_order, number) = numbers;
        }
        let out = self.out_of(peer(port), &self.packets[place]);
        let packet = &mut self.packets[place];
        packet.out = out;
        if packet.is_data() {
            packet.base += arrival - self.now;
        }
        let order = self.fly(port, place, arrival, number);
        self.events.push_arrival(self.ports[port.index()].far, place, arrival, order);
    }

    /// What looks at a packet that starts on the wire of an observed port; when the packet then arrives, if that is in
    /// this partition.
    #[inline(never)]
    fn observe(&mut self, port: PortId, place: Place, arrival: u64, serial: u64) -> Option<u64> {
        if self.ports[port.index()].noted {
            self.capture(port, place);
            self.note_share(port, place);
        }
        self.telemetry.sent(port, self.packets[place].frame);
        let state = &mut self.ports[port.index()];
        let mut arrival = arrival;
        if state.jitter > 0 || state.changes {
            let jitter =
                if state.jitter > 0 { (uniform(&mut state.rng) * state.jitter as f64) as u64 } else { 0 };
            // Order is kept: no frame arrives before the one ahead of it has been followed by its own bits.
            arrival = (arrival + jitter).max(state.latest + serial);
            state.latest = arrival;
        }
        if self.trace.is_some() {
            self.trace_start(port, place, (serial, arrival));
        }
        if self.ports[port.index()].changes && !self.is_carried(port, place, arrival) {
            return None;
        }
        if self.border.crosses(port) {
            self.send_across(port, place, arrival);
            return None;
        }
        Some(arrival)
    }

    /// A packet on the link from `port` reaches the far end.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn arrive(&mut self, port: PortId, place: Place) {
        let packet = &self.packets[place];
        if packet.is_link_control() {
            return self.link_control_arrives(port, place);
        }
        if !self.packets.lands(place) {
            return self.was_lost(What::Arrival);
        }
        let rx = peer(port);
        let packet = &self.packets[place];
        self.packet_hops += 1;
        let (class, frame) = (packet.class, packet.frame);
        let lane = self.lane(rx, class);
        if self.ingress[lane].impaired && self.is_lost(rx, place) {
            self.ingress[lane].rare.lost.add(frame);
            return self.discard(lane, place, DropReason::LinkError);
        }
        let account = &mut self.ingress[lane];
        account.received.add(frame);
        let owner = account.owner;
        if account.at_host {
            self.host_receives(rx, place);
        } else {
            self.switch_receives(owner, rx, lane, place);
        }
    }

    /// A link control frame on the link from `port` reaches the far end.
    #[inline(never)]
    pub fn link_control_arrives(&mut self, port: PortId, place: Place) {
        if !self.packets.lands(place) {
            let what = if self.events.is_numbered() { What::Arrival } else { What::LinkControl };
            return self.was_lost(what);
        }
        let rx = peer(port);
        let lost = self.is_lost(rx, place);
        let frame = self.packets.take(place);
        self.link_control(rx, frame, lost);
    }

    /// The event of an arrival is that of a packet that was lost when its link went down: nothing happens.
    #[cold]
    fn was_lost(&mut self, what: What) {
        self.counts[what as usize] -= 1;
    }

    /// Does the link that leads to `port` lose this packet?
    #[inline(never)]
    fn is_lost(&mut self, port: PortId, place: Place) -> bool {
        let state = &mut self.ports[port.index()];
        let rate = match &self.packets[place] {
            p if p.is_link_control() => state.errors.link_control,
            p if p.is_data() => state.errors.data,
            _ => state.errors.control,
        };
        rate > 0.0 && uniform(&mut state.losses) < rate
    }

    /// A link control frame has arrived at `port`: it speaks of what the port sends, or receives.
    fn link_control(&mut self, port: PortId, packet: Packet, lost: bool) {
        if self.trace.is_some() {
            self.trace_heard(port, &packet, lost);
        }
        if packet.kind == Kind::Region {
            self.region_notice(port, packet.psn as u32, lost);
            return;
        }
        if lost {
            return;
        }
        for frame in packet.frames() {
            let class = match frame {
                FcFrame::Pause { class, .. }
                | FcFrame::Credit { class, .. }
                | FcFrame::Sent { class, .. } => self.dense(class),
            };
            // A class that carries nothing in this run.
            if class == u8::MAX {
                continue;
            }
            let lane = self.lane(port, class);
            let node = self.ports[port.index()].node.index();
            if matches!(frame, FcFrame::Sent { .. }) {
                self.with_receiver(lane, port, |receiver, cx, view| receiver.on_frame(cx, frame, view));
                continue;
            }
            self.egress[lane].counters.pfc_rx += 1;
            if let (FcFrame::Pause { quanta, .. }, Some(log)) = (frame, &mut self.pauses) {
                log.heard((self.now, self.order), lane, quanta.0 > 0);
            }
            let onward = self.relays(port, class);
            if onward.is_some_and(|(disposition, _)| !disposition.obeys()) {
                self.hand_on(onward, frame);
                continue;
            }
            let mut cx = Cx {
                now: floodway_units::Time(self.now),
                rng: &mut self.nodes[node].streams.flow_control,
                out: &mut self.out.frames,
            };
            self.egress[lane].sender.on_frame(&mut cx, frame);
            self.flush_frames(port);
            self.sender_changed(port, lane);
            self.hand_on(onward, frame);
        }
    }

    /// Of a relay's port: what becomes of the pauses of a class, and the other port.
    pub fn relays(&self, port: PortId, class: u8) -> Option<(Disposition, PortId)> {
        let relay = self.relay_at(port)?;
        Some((relay.disposition(port, class), relay.ports.other(port)))
    }

    /// The relay whose port it is.
    pub fn relay_at(&self, port: PortId) -> Option<&Relay> {
        let &Port { at_host, owner, .. } = &self.ports[port.index()];
        self.switches.get(owner as usize).filter(|_| !at_host)?.relay.as_ref()
    }

    /// Sends a pause on out of a relay's other port.
    fn hand_on(&mut self, onward: Option<(Disposition, PortId)>, frame: FcFrame) {
        if let (Some((disposition, other)), FcFrame::Pause { .. }) = (onward, frame)
            && disposition.forwards()
        {
            if self.trace.is_some() {
                self.trace_handed_on(other, frame);
            }
            self.out.frames.0.push(frame);
            self.flush_frames(other);
        }
    }

    /// A timer of a sender half has come.
    pub fn fc_sender_timer(&mut self, lane: usize, order: u64) {
        let port = PortId((lane / self.classes.len()) as u32);
        let egress = &mut self.egress[lane];
        if !egress.timer.fires(floodway_units::Time(self.now), order) {
            return;
        }
        let next = egress.sender.next_timeout();
        if next.is_none_or(|at| at.0 > self.now) {
            // What it was armed for has been cancelled or put off since: nothing happens now.
            self.events.sync(&mut egress.timer, next, What::FcSender, lane as u32);
            return;
        }
        let node = self.ports[port.index()].node.index();
        let mut cx = Cx {
            now: floodway_units::Time(self.now),
            rng: &mut self.nodes[node].streams.flow_control,
            out: &mut self.out.frames,
        };
        self.egress[lane].sender.on_timeout(&mut cx);
        self.flush_frames(port);
        self.sender_changed(port, lane);
    }

    /// A sender half may have changed its mind: keeps the pause clock, tells the congestion points, and
    /// lets the port look again. A class is paused while its largest frame may not start, whether one waits
    /// or not.
    pub fn sender_changed(&mut self, port: PortId, lane: usize) {
        let egress = &mut self.egress[lane];
        self.events.renew(&mut egress.timer, egress.sender.next_timeout(), What::FcSender, lane as u32);
        let now = floodway_units::Time(self.now);
        let open = egress.sender.gate(now, bytes(self.largest_wire)).is_open(now);
        // A smaller frame may start all the same.
        let look = open || egress.counts_sent;
        let was_open = egress.paused_since == NEVER;
        let discards = egress.sender.discards(now);
        let (free, class) = (egress.sender.is_free(), lane % self.classes.len());
        let state = &mut self.ports[port.index()];
        state.free = state.free & !(1 << class) | u16::from(free) << class;
        state.discards = state.discards & !(1 << class) | u16::from(discards) << class;
        let egress = &mut self.egress[lane];
        if open != was_open {
            if open {
                egress.paused_total += self.now - egress.paused_since;
                self.series[port.index()].paused(egress.paused_since, self.now);
                egress.paused_since = NEVER;
            } else {
                egress.paused_since = self.now;
                self.ports[port.index()].paused |= 1 << class;
            }
            if self.trace.is_some() {
                self.trace_gate(port, lane, open);
            }
            if self.ports[port.index()].has_cp {
                self.pause_changed(port, lane, !open);
            }
        }
        if discards {
            self.discard_queue(port, lane);
        }
        if look {
            self.kick(port);
        }
    }

    #[inline]
    pub fn rate(&self, port: PortId) -> Rate {
        self.ports[port.index()].rate
    }

    /// Sends the frames that a flow control has just pushed out of `port`.
    pub fn flush_frames(&mut self, port: PortId) {
        if self.out.frames.0.is_empty() {
            return;
        }
        if !self.ports[port.index()].up {
            // Nobody hears them, and both halves start afresh with the link.
            self.out.frames.0.clear();
            return;
        }
        let size = self.format.link_control().frame;
        for i in 0..self.out.frames.0.len() {
            let frame = self.out.frames.0[i];
            let last = self.last_link_control(port);
            let merged = last.is_some_and(|last| self.packets[last].merge(frame, self.now));
            if !merged {
                if let Some(draws) = &mut self.shared_draws {
                    draws.skip();
                }
                let place = self.packets.add(Packet::link_control(frame, size, self.now));
                self.queue_link_control(port, place);
            }
        }
        self.out.frames.0.clear();
        self.kick(port);
    }

    fn count_link_control(&mut self, port: PortId, packet: &Packet) {
        for frame in packet.frames() {
            if let FcFrame::Pause { class, .. } | FcFrame::Credit { class, .. } = frame {
                let class = self.dense(class);
                if class != u8::MAX {
                    let lane = self.lane(port, class);
                    self.ingress[lane].rare.pfc_tx += 1;
                }
            }
        }
        let wire = self.wire(packet.frame);
        self.series[port.index()].sent(self.now, wire);
    }

    /// May frames of a class start until its sender half hears of something?
    #[inline]
    pub fn is_free(&self, port: PortId, class: u8) -> bool {
        self.ports[port.index()].free >> class & 1 != 0
    }

    /// A packet starts on the wire.
    #[inline]
    pub fn count_sent(&mut self, port: PortId, frame: u16) {
        let wire = self.wire(frame);
        self.series[port.index()].sent(self.now, wire);
    }

    /// A packet goes through a port at which nothing waits, and which is free: it joins its queues and leaves them at
    /// one instant.
    #[inline]
    pub fn goes_through(&mut self, port: PortId, frame: u16) {
        let wire = self.wire(frame);
        self.series[port.index()].passed(self.now, u64::from(frame), wire);
    }

    /// Is the port's transmitter free, and does nothing wait for it?
    #[inline]
    pub fn is_idle(&self, port: PortId) -> bool {
        let state = &self.ports[port.index()];
        state.waiting == 0 && !state.controls && !state.choosing && !self.is_busy(port)
    }

    /// A packet joins one of the port's queues.
    #[inline]
    pub fn joins(&mut self, port: PortId, frame: u16) {
        let waiting = &mut self.ports[port.index()].waiting;
        let before = *waiting;
        *waiting += u64::from(frame);
        self.series[port.index()].queue(self.now, before, *waiting);
        if !self.histograms.is_empty() {
            self.sample(port, before);
        }
    }

    /// A packet leaves its queue and starts on the wire.
    #[inline]
    fn leaves(&mut self, port: PortId, frame: u16) {
        self.quits(port, frame);
        self.count_sent(port, frame);
    }

    /// A packet leaves its queue.
    #[inline]
    pub fn quits(&mut self, port: PortId, frame: u16) {
        let waiting = &mut self.ports[port.index()].waiting;
        let before = *waiting;
        *waiting -= u64::from(frame);
        self.series[port.index()].queue(self.now, before, *waiting);
        if !self.histograms.is_empty() {
            self.sample(port, before);
        }
    }

    /// Calls a receiver half with a view of its account; then sends what it said and keeps its timer.
    pub fn with_receiver(
        &mut self,
        lane: usize,
        port: PortId,
        call: impl FnOnce(&mut AnyFcReceiver, &mut Cx<'_, FcFrame>, &IngressView),
    ) {
        let view = self.ingress_view(lane, port);
        self.tell_receiver(lane, port, &view, call);
    }

    /// As [`World::with_receiver`], with the view at hand.
    #[inline]
    pub fn tell_receiver(
        &mut self,
        lane: usize,
        port: PortId,
        view: &IngressView,
        call: impl FnOnce(&mut AnyFcReceiver, &mut Cx<'_, FcFrame>, &IngressView),
    ) {
        let node = self.ports[port.index()].node.index();
        let mut cx = Cx {
            now: floodway_units::Time(self.now),
            rng: &mut self.nodes[node].streams.flow_control,
            out: &mut self.out.frames,
        };
        let ingress = &mut self.ingress[lane];
        call(&mut ingress.receiver, &mut cx, view);
        self.events.sync(&mut ingress.timer, ingress.receiver.next_timeout(), What::FcReceiver, lane as u32);
        let awaits = ingress.receiver.awaits_release();
        if awaits != std::mem::replace(&mut ingress.awaits, awaits) {
            self.awaiting_changed(lane, port);
        }
        if !self.out.frames.0.is_empty() {
            self.pause_sent(port);
            if self.trace.is_some() {
                self.trace_pauses(port);
            }
            self.flush_frames(port);
        }
    }

    /// A timer of a receiver half has come.
    pub fn fc_receiver_timer(&mut self, lane: usize, order: u64) {
        let port = PortId((lane / self.classes.len()) as u32);
        let ingress = &mut self.ingress[lane];
        if !ingress.timer.fires(floodway_units::Time(self.now), order) {
            return;
        }
        let due = ingress.receiver.next_timeout().is_some_and(|at| at.0 <= self.now);
        if !self.ports[port.index()].at_host {
            self.settle_port(port);
        }
        self.with_receiver(lane, port, |receiver, cx, view| {
            if due {
                receiver.on_timeout(cx, view);
            }
        });
    }

    /// A packet that is in no list is lost; `lane` is the ingress account that it came by.
    #[inline(never)]
    pub fn discard(&mut self, lane: usize, place: Place, reason: DropReason) {
        let packet = self.packets.take(place);
        self.drop_packet(lane, &packet, reason);
    }

    /// A packet is lost; `lane` is the ingress account that it came by.
    pub fn drop_packet(&mut self, lane: usize, packet: &Packet, reason: DropReason) {
        let counters = &mut self.ingress[lane].rare;
        counters.drops[reason as usize] += 1;
        self.records.dropped(u64::from(packet.frame));
        match reason {
            DropReason::Buffer | DropReason::Egress => counters.buffer_drop_bytes += u64::from(packet.frame),
            _ if reason.is_failure() => counters.failure_drop_bytes += u64::from(packet.frame),
            _ => {}
        }
        if self.trace.is_some() {
            self.trace_lost(packet);
        }
        self.left_elsewhere(packet.flow);
    }
}

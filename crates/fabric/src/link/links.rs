//! The ends of links at a node: what each of its ports sends, and what waits there.

use floodway_blueprint::column::{LocalIndex as _, Part};
use floodway_blueprint::network::blueprint::{Acks, LinkControl};
use floodway_blueprint::network::layout::{Layout, Local, LocalPortClass, LocalQueue};
use floodway_mechanisms::slots::{DropReason, FcSender as _, IntHop, PacketView};
use floodway_records::histogram::Histogram;
use floodway_records::series::Series;
use floodway_records::shares::{Bucket, Key, Sent};
use floodway_records::transmission::Transmission;
use floodway_units::cast::whole;
use floodway_units::{Bytes, PortId, Rate, Time, uniform};

use crate::link::arena::{Fifo, PacketRef};
use crate::link::packet::{INT, ISOLATED, Kind, Packet};
use crate::link::port::{Egress, Port, Queue};
use crate::run::ctx::Ctx;
use crate::run::events::Arriving;

/// The ports of a node, in the order of their links.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Links {
    pub ports: Part<Port, Local>,
    /// Port classes of each port in a row.
    pub egress: Part<Egress, LocalPortClass>,
    /// Queues of each port in a row.
    pub queues: Part<Queue, LocalQueue>,
    pub series: Part<Series, Local>,
    /// By port, where they are kept; else empty.
    pub histograms: Vec<Histogram>,
    /// By port, of those whose flows are counted separately; else empty.
    pub buckets: Vec<Option<Bucket>>,
}

impl Links {
    /// The ports.
    pub fn locals(&self) -> impl Iterator<Item = Local> + use<> {
        Local::all(&self.ports)
    }

    /// The port of this number.
    ///
    /// # Panics
    /// The node has no such port.
    #[inline]
    pub fn local(&self, number: usize) -> Local {
        Local::among(&self.ports, number)
    }

    /// The ports, by what the network calls them.
    pub fn ids(&self) -> impl Iterator<Item = PortId> + '_ {
        self.ports.iter().map(|port| port.id)
    }

    /// What the network calls a port.
    #[inline]
    pub fn id(&self, port: Local) -> PortId {
        self.ports.of(port).id
    }

    /// Is the transmitter still busy, as seen by the current event?
    #[inline]
    pub fn is_busy(&self, ctx: &Ctx<'_, '_>, port: Local) -> bool {
        let free_at = self.ports.of(port).free_at;
        free_at > ctx.now || (free_at == ctx.now && self.departure_order(ctx, port) > ctx.order)
    }

    /// Order of the event at which `port`'s transmitter becomes free.
    #[inline]
    pub fn departure_order(&self, ctx: &Ctx<'_, '_>, port: Local) -> u64 {
        ctx.run.events.departure(self.id(port), self.ports.of(port).free_order)
    }

    /// Schedules an event for when the busy transmitter is free.
    #[inline]
    pub fn arm(&mut self, ctx: &mut Ctx<'_, '_>, port: Local) {
        let order = self.departure_order(ctx, port);
        let state = self.ports.of_mut(port);
        if !state.armed {
            state.armed = true;
            let at = state.free_at;
            let first = self.first_waiting(ctx, port);
            ctx.run.events.push_of(first, at, order);
        }
    }

    /// The packet that probably leaves next: what its departure has to have fetched.
    #[inline]
    pub fn first_waiting(&self, ctx: &Ctx<'_, '_>, port: Local) -> PacketRef {
        let first = ctx.facts.layout.queues(port).control();
        let data = self.queues.get(first.index() + 1).map_or(Fifo::default(), |queue| queue.fifo);
        self.queues.of(first).fifo.front_or(data)
    }

    /// May frames of a class start until the next call of its sender half?
    #[inline]
    pub fn is_free(&self, port: Local, class: u8) -> bool {
        self.ports.of(port).gates.free >> class & 1 != 0
    }

    /// Is the port's transmitter free, and does nothing wait for it?
    #[inline]
    pub fn is_idle(&self, ctx: &Ctx<'_, '_>, port: Local) -> bool {
        let state = self.ports.of(port);
        state.waiting == 0 && !state.controls && !state.choosing && !self.is_busy(ctx, port)
    }

    /// A packet joins one of the port's queues.
    #[inline]
    pub fn joins(&mut self, ctx: &Ctx<'_, '_>, port: Local, frame: u16) {
        self.set_waiting(ctx, port, self.ports.of(port).waiting + u64::from(frame));
    }

    /// A packet goes through a port at which nothing waits, and which is free: it joins its queues and leaves
    /// them at one instant.
    #[inline]
    pub fn goes_through(&mut self, ctx: &Ctx<'_, '_>, port: Local, frame: u16) {
        self.series.of_mut(port).passed(ctx.now, u64::from(frame));
    }

    /// A packet leaves its queue.
    #[inline]
    pub fn leaves(&mut self, ctx: &Ctx<'_, '_>, port: Local, frame: u16) {
        self.set_waiting(ctx, port, self.ports.of(port).waiting - u64::from(frame));
    }

    /// A packet left its queue at `at`, since when nothing has happened to the port; no histogram is kept.
    pub fn left(&mut self, port: Local, frame: u16, at: u64) {
        self.waits_since(at, port, self.ports.of(port).waiting - u64::from(frame));
    }

    /// So many bytes wait at the port since `at`; how many it was before.
    #[inline]
    fn waits_since(&mut self, at: u64, port: Local, waiting: u64) -> u64 {
        let before = std::mem::replace(&mut self.ports.of_mut(port).waiting, waiting);
        self.series.of_mut(port).queue(at, before, waiting);
        before
    }

    /// Sets the bytes that wait at the port from now on.
    #[inline]
    pub fn set_waiting(&mut self, ctx: &Ctx<'_, '_>, port: Local, waiting: u64) {
        let before = self.waits_since(ctx.now, port, waiting);
        if !self.histograms.is_empty() {
            self.sample(ctx, port, before);
        }
    }

    /// The queues of `port` have held `queued` bytes until now.
    #[inline(never)]
    pub fn sample(&mut self, ctx: &Ctx<'_, '_>, port: Local, queued: u64) {
        let until = ctx.run.kept.instants.until().unwrap_or(ctx.now);
        self.histograms[port.index()].stood(until, queued);
    }

    #[inline]
    pub fn rate(&self, ctx: &Ctx<'_, '_>, port: Local) -> Rate {
        ctx.facts.ports[self.id(port).index()].rate
    }

    /// Takes the next packet of the queue that goes before data: of the control class, or at a host a reply
    /// of a class of data, which a pause of its class may hold back.
    #[inline]
    pub fn take_control(&mut self, ctx: &mut Ctx<'_, '_>, port: Local) -> Option<PacketRef> {
        let at = ctx.facts.layout.queues(port).control();
        let packet_ref = self.queues.of(at).fifo.front()?;
        let Packet { class, frame, .. } = ctx.run.packets[packet_ref];
        if class != 0
            && ctx.facts.blueprint.semantics.acks == Acks::Data
            && !ctx.run.packets[packet_ref].is_link_control()
        {
            let gate = self
                .egress
                .of(ctx.facts.layout.port_class(port, class))
                .sender
                .gate(ctx.time(), Bytes(ctx.facts.layout.wire(frame)));
            if !gate.is_open(ctx.time()) {
                return None;
            }
        }
        self.queues.of_mut(at).fifo.pop(&ctx.run.packets)
    }

    /// Is the `q`-th queue of a port one that may lose what waits in it?
    #[inline]
    pub fn may_lose(&self, layout: &Layout, port: Local, q: usize) -> bool {
        self.queues.of(layout.queues(port).nth(q)).may_lose
    }

    /// Does a queue take no packet at all, and why?
    pub fn shut(&self, layout: &Layout, out: Local, q: usize) -> Option<DropReason> {
        if !self.ports.of(out).up {
            return Some(DropReason::LinkDown);
        }
        let discards = self.ports.of(out).gates.discards >> layout.class_of_queue(q) & 1 != 0;
        (discards && !self.may_lose(layout, out, q)).then_some(DropReason::Watchdog)
    }

    /// A link control frame waits to be sent from here.
    pub fn queue_link_control(&mut self, ctx: &mut Ctx<'_, '_>, port: Local, packet_ref: PacketRef) {
        let state = self.ports.of_mut(port);
        state.controls = true;
        if ctx.facts.blueprint.semantics.link_control == LinkControl::First {
            return state.control.push(&mut ctx.run.packets, packet_ref);
        }
        let at = ctx.facts.layout.queues(port).control();
        self.queues.of_mut(at).fifo.push(&mut ctx.run.packets, packet_ref);
        self.joins(ctx, port, ctx.run.packets[packet_ref].frame);
    }

    /// A link control frame leaves the queue of the control class.
    #[inline(never)]
    pub fn leaves_as_link_control(&mut self, ctx: &Ctx<'_, '_>, port: Local, packet: &Packet) {
        self.leaves(ctx, port, packet.frame);
        let waiting = self.queues.of(ctx.facts.layout.queues(port).control()).fifo;
        let more = waiting
            .packet_refs(&ctx.run.packets)
            .any(|packet_ref| ctx.run.packets[packet_ref].is_link_control());
        let state = self.ports.of_mut(port);
        state.controls = more || state.has_controls();
    }

    /// The link control frame that came last, if nothing has come after it.
    pub fn last_link_control(&self, ctx: &Ctx<'_, '_>, port: Local) -> Option<PacketRef> {
        match ctx.facts.blueprint.semantics.link_control {
            LinkControl::First => self.ports.of(port).control.back(),
            LinkControl::ControlClass => self.queues.of(ctx.facts.layout.queues(port).control()).fifo.back(),
        }
    }

    /// A packet is on the link from `port` until `at`; its arrival has this number where ties go by the
    /// order of scheduling. The order of its event.
    #[inline]
    pub fn fly(
        &mut self,
        ctx: &mut Ctx<'_, '_>,
        port: Local,
        packet_ref: PacketRef,
        at: u64,
        number: u64,
    ) -> u64 {
        let state = self.ports.of(port);
        ctx.run.packets.fly(packet_ref, state.link.far_end, at);
        let packet = &ctx.run.packets[packet_ref];
        let (link_control, turn) = (packet.is_link_control(), packet.turn());
        let arrival = Arriving { link_control, tie_key: state.link.tie_key, turn, number };
        ctx.run.events.arrival(state.id, arrival)
    }

    /// Does the link that leads to `port` lose this packet?
    #[inline(never)]
    pub fn is_lost(&mut self, ctx: &Ctx<'_, '_>, port: Local, packet_ref: PacketRef) -> bool {
        let state = self.ports.of_mut(port);
        let rate = match &ctx.run.packets[packet_ref] {
            p if p.is_link_control() => state.impairment.errors.link_control,
            p if p.is_data() => state.impairment.errors.data,
            _ => state.impairment.errors.control,
        };
        rate > 0.0 && uniform(&mut state.impairment.losses) < rate
    }

    /// Notes a packet that is on the wire of a port for `serial` from now on, if the port's flows are counted
    /// separately.
    pub fn note_share(&mut self, ctx: &mut Ctx<'_, '_>, port: Local, packet_ref: PacketRef, serial: u64) {
        let packet = &ctx.run.packets[packet_ref];
        let Some(log) = &mut ctx.run.kept.shares else { return };
        if !packet.is_data() {
            return;
        }
        let key = Key {
            port: self.ports[port.index()].id.0,
            flow: ctx.run.pairs.paths[packet.flow.index()].name(),
        };
        let class = ctx.facts.layout.classes[usize::from(packet.class)].0;
        let bytes = u64::from(packet.frame) + ctx.facts.layout.gap;
        if let Some(bucket) = self.buckets.get_mut(port.index()).and_then(Option::as_mut) {
            log.sent(
                bucket,
                Sent { key, class, frame: Transmission { begin: ctx.now, end: ctx.now + serial, bytes } },
            );
        }
    }

    /// Sets a packet on the wire now: the transmitter is taken. How long, and when the packet arrives.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn start(&mut self, ctx: &Ctx<'_, '_>, port: Local, packet_ref: PacketRef) -> (u64, u64) {
        let frame = u64::from(ctx.run.packets[packet_ref].frame);
        self.occupy(ctx, port, frame, frame + ctx.facts.layout.gap)
    }

    /// The same, of a frame that takes `wire` bytes there.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn occupy(&mut self, ctx: &Ctx<'_, '_>, port: Local, frame: u64, wire: u64) -> (u64, u64) {
        let state = self.ports.of_mut(port);
        let serial = state.serial_time(wire);
        state.free_at = ctx.now + serial;
        self.series.of_mut(port).sent(ctx.now, state.free_at, wire);
        if ctx.facts.telemetry {
            state.sent += frame;
        }
        (serial, state.free_at + state.link.delay)
    }

    /// A packet that has started is on the link from here.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn take_off(&mut self, ctx: &mut Ctx<'_, '_>, port: Local, packet_ref: PacketRef, arrival: u64) {
        let mut number = 0;
        let state = self.ports.of_mut(port);
        if let Some(numbers) = ctx.run.events.two_numbers() {
            // The end of the transmission is scheduled first, then the arrival.
            (state.free_order, number) = numbers;
        }
        let (far_end, far_group) = (state.link.far_end, state.link.far_group);
        let out = ctx.run.pairs.out_of(far_end, &ctx.run.packets[packet_ref]);
        let packet = &mut ctx.run.packets[packet_ref];
        packet.out = out;
        if packet.is_data() {
            packet.base += arrival - ctx.now;
        }
        let order = self.fly(ctx, port, packet_ref, arrival, number);
        ctx.run.events.push_arrival(far_group, packet_ref, arrival, order);
    }

    /// The last bit of a packet has left a host.
    pub fn is_on_link(&mut self, ctx: &mut Ctx<'_, '_>, port: Local, sent: Option<(PacketRef, u64)>) {
        let Some((packet_ref, took)) = sent else { return };
        let state = self.ports.of(port);
        let (free_order, arrival) = (state.free_order, ctx.now + state.link.delay);
        if ctx.run.packets[packet_ref].is_data() {
            ctx.run.packets[packet_ref].base += took;
        }
        self.take_off(ctx, port, packet_ref, arrival);
        self.ports.of_mut(port).free_order = free_order;
    }

    /// When a packet arrives that would at `arrival`, on a link with jitter or a delay that changes.
    pub fn jittered(&mut self, port: Local, serial: u64, arrival: u64) -> u64 {
        let impairment = &mut self.ports.of_mut(port).impairment;
        if impairment.jitter == 0 && !impairment.changes {
            return arrival;
        }
        let jitter = if impairment.jitter > 0 {
            whole(uniform(&mut impairment.rng) * impairment.jitter as f64)
        } else {
            0
        };
        // Order is kept: no frame arrives before the one ahead of it has been followed by its own bits.
        impairment.latest = (arrival + jitter).max(impairment.latest + serial);
        impairment.latest
    }

    /// Is the first queue of a class beyond the fast path once the frame has joined it, so that congestion
    /// points are called?
    #[inline(never)]
    pub fn joins_beyond_fast_path(&self, layout: &Layout, out: Local, class: u8, frame: u64) -> bool {
        let queue = self.queues.of(layout.queues(out).nth(layout.first_queue(class)));
        queue.bytes + frame > u64::from(self.ports.of(out).joins_up_to)
    }

    /// What the queues of data hold beyond `reserve` each. They are gone through, so that only admissions
    /// that need it pay for it.
    pub fn beyond(&self, layout: &Layout, reserve: Bytes) -> Bytes {
        let queues = self.locals().flat_map(|port| {
            let charged = (1..layout.queues_per_port).filter(move |&q| !self.may_lose(layout, port, q));
            charged.map(move |q| self.queues.of(layout.queues(port).nth(q)))
        });
        Bytes(queues.map(|queue| queue.bytes.saturating_sub(reserve.0)).sum())
    }

    pub fn packet_view(&self, ctx: &Ctx<'_, '_>, packet: &Packet) -> PacketView {
        let path = &ctx.run.pairs.paths[packet.flow.index()];
        let is_reply = packet.is_reply();
        let tuple = if is_reply { path.tuple.reversed() } else { path.tuple };
        PacketView {
            flow: packet.flow,
            class: ctx.facts.layout.classes[packet.class as usize],
            frame: Bytes(u64::from(packet.frame)),
            wire: Bytes(ctx.facts.layout.wire(packet.frame)),
            // In the HPCC simulator replies are drawn for, too.
            ecn_capable: packet.kind == Kind::Data || packet.class != 0 && ctx.run.shared_draws.is_some(),
            is_reply,
            isolated: packet.has(ISOLATED),
            mark: packet.mark(),
            flow_hash: path.hash,
            source: tuple.source,
            destination: tuple.destination,
            ingress: self.id(packet.ingress),
        }
    }

    /// A packet starts on the wire of a switch's port, and has left its queue: its record is written, if it
    /// has any.
    #[inline(never)]
    pub fn record_hop(&mut self, ctx: &mut Ctx<'_, '_>, port: Local, packet_ref: PacketRef) {
        let packet = &ctx.run.packets[packet_ref];
        if !packet.has(INT) || !packet.is_data() {
            return;
        }
        let (rate, state) = (self.rate(ctx, port), &self.ports[port.index()]);
        let (tx_bytes, queue) = (state.sent, Bytes(state.waiting));
        if let Some(hops) = ctx.run.packets.hops_mut(packet_ref) {
            hops.push(IntHop { rate, time: Time(ctx.now), tx_bytes, queue });
        }
    }
}

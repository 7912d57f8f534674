//! Charges and releases of ingress accounts.
//!
//! A packet does not store which parts of the buffer it is charged to: its bytes leave headroom first, then
//! the rest. Storing the charges would keep headroom in use until the last packet charged to it has left. By
//! then a FIFO queue is empty, and RESUME would be sent at zero and not at XON (IEEE 802.1Qbb; both ns-3
//! models do the same as here).
//!
//! An account updates its port's series with its bytes only where they exceed the maximum so far in the
//! current bucket.

use floodway_blueprint::network::layout::{Layout, Local, LocalPortClass};
use floodway_mechanisms::slots::{Admission as _, Admit, DropReason, FcReceiver, PacketView, PoolView};
use floodway_records::series::Series;
use floodway_records::tally::FirstDrop;
use floodway_units::Bytes;

use super::{Buffer, Charged, Refused, Uncharge};
use crate::link::links::Links;
use crate::link::packet::Packet;
use crate::run::at_node::{At, bytes};
use crate::run::device::Device;
use crate::run::events::{EventKind, Events, NEVER};
use crate::switch::forward::Switch;

impl Buffer {
    /// Charges a packet for which no callback runs: the account and the pool are far from every threshold,
    /// and the egress queue is shorter than any congestion point looks at. Two packets of three take this
    /// path, at a tenth of the cost of the calls that it saves; returns false if those calls are needed.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn charge_on_fast_path(
        &mut self,
        links: &mut Links,
        layout: &Layout,
        now: u64,
        packet: Charged,
    ) -> bool {
        let Charged { port_class, ingress, out, class, frame } = packet;
        let account = self.accounts.of(port_class);
        let port = links.ports.of(out);
        let (occupies, wire, frame) =
            (self.occupied_by(frame), self.counted_wire(layout, frame), u64::from(frame));
        let held = account.held + occupies;
        let shared = held.saturating_sub(account.reserve);
        if shared >= u64::from(account.fast_path_below)
            || account.headroom > 0
            || port.waiting + frame > u64::from(port.joins_up_to)
                && links.joins_beyond_fast_path(layout, out, class, frame)
            || self.pool_used.saturating_add(occupies) > self.pool_fast_path_up_to
            || port.gates.discards != 0
            || !port.up
        {
            return false;
        }
        let account = self.accounts.of_mut(port_class);
        let of_pool = if account.pooled { shared - account.shared() } else { 0 };
        account.held = held;
        account.wire += wire;
        if held > u64::from(account.recorded) || now >= account.recorded_until {
            self.record_held(port_class, links.series.of_mut(ingress), now, held);
        }
        self.holds(occupies, of_pool);
        true
    }

    /// Records in the account's peak, and in the series of its port, that it holds `held` bytes.
    #[inline(never)]
    fn record_held(&mut self, port_class: LocalPortClass, series: &mut Series, now: u64, held: u64) {
        series.buffer(now, held);
        let account = self.accounts.of_mut(port_class);
        account.peaks.held = account.peaks.held.max(held);
        if now >= account.recorded_until {
            (account.recorded, account.recorded_until) = (0, series.ends());
        }
        account.recorded = account.recorded.max(u32::try_from(held).unwrap_or(u32::MAX));
    }

    /// The account begins or stops to wait for releases.
    pub fn awaiting_changed(
        &mut self,
        switch: &Switch,
        events: &mut Events,
        now: u64,
        port_class: LocalPortClass,
    ) {
        self.set_fast_path(switch, port_class);
        if self.accounts.of(port_class).awaits {
            let own = self.releases.iter().filter(|leaving| leaving.port_class.unpack() == port_class);
            own.for_each(|leaving| events.add(EventKind::Release, switch.number, leaving.at.max(now)));
        }
    }

    /// Computes the bound of the fast path of an account.
    pub fn set_fast_path(&mut self, switch: &Switch, port_class: LocalPortClass) {
        if let Some(fast_path_below) = self.fast_path_of_account(switch, port_class) {
            self.accounts.of_mut(port_class).fast_path_below = fast_path_below;
        }
    }

    /// The bound below which packets are charged without a callback: 0 while a release is awaited. None where
    /// there is no fast path.
    pub fn fast_path_of_account(&self, switch: &Switch, port_class: LocalPortClass) -> Option<u32> {
        let account = self.accounts.of(port_class);
        if switch.pipeline != 0 {
            return None;
        }
        let pooled = account.pooled;
        // Behind a crossbar nothing goes straight through.
        let plain = !account.awaits && account.admission.is_plain() && !switch.has_crossbar();
        let fast_path_below = if !plain || pooled && self.pool_size == 0 {
            0
        } else if pooled {
            account.receiver.fast_path_below(bytes(self.pool_size - self.pool_fast_path_up_to)).0
        } else {
            let own = account.sizes.own.saturating_sub(account.sizes.headroom);
            account.receiver.fast_path_below(Bytes::ZERO).0.min(own)
        };
        Some(u32::try_from(fast_path_below).unwrap_or(u32::MAX))
    }

    /// Computes the room of queues that accounts without a threshold are sure of.
    pub fn set_lossy_room(&mut self) {
        let free = bytes(self.pool_size.saturating_sub(self.pool_fast_path_up_to));
        let lossy = self.accounts.iter().filter(|account| account.receiver.threshold(free) == Bytes::MAX);
        self.lossy_room = lossy.map(|account| account.admission.plain_up_to(free).0).min();
    }

    /// What accounts count of a frame's bytes on the wire: nothing where the buffer counts bytes.
    #[inline]
    fn counted_wire(&self, layout: &Layout, frame: u16) -> u64 {
        if self.has_cells() { layout.wire(frame) } else { 0 }
    }

    /// `frame` bytes that are charged to no account have left the switch.
    pub fn uncounted(&mut self, frame: u16) {
        self.occupied -= self.occupied_by(frame);
    }

    /// Takes `frame` bytes off an account that stay in the switch, or have left it: from headroom first. Does
    /// its receiver half wait for that?
    #[inline]
    pub fn uncharge_account(&mut self, layout: &Layout, port_class: LocalPortClass, frame: u16) -> bool {
        let wire = self.counted_wire(layout, frame);
        let frame = self.occupied_by(frame);
        let account = self.accounts.of_mut(port_class);
        account.wire -= wire;
        let shared_before = account.shared();
        let from_headroom = account.headroom.min(frame);
        account.headroom -= from_headroom;
        account.held -= frame - from_headroom;
        let shrunk = shared_before - account.shared();
        let awaits = account.awaits;
        if account.pooled {
            self.pool_used -= shrunk;
            self.headroom_used -= from_headroom;
        }
        awaits
    }

    /// A packet just put on the wire of the switch of this number is uncharged at its last bit.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn release_later(&mut self, switch: u32, events: &mut Events, leaves: Uncharge) {
        let Uncharge { at, port, port_class, .. } = leaves;
        self.next_release = self.next_release.min(at);
        // Nearly always the last: only a short packet or a faster port overtakes others.
        if self.releases.back().is_none_or(|last| (last.at, last.port) <= (at, port)) {
            self.releases.push_back(leaves);
        } else {
            let after = self.releases.partition_point(|other| (other.at, other.port) <= (at, port));
            self.releases.insert(after, leaves);
        }
        if self.accounts.of(port_class.unpack()).awaits {
            events.add(EventKind::Release, switch, at);
        }
    }

    /// Takes the first packet whose last bit has gone by `now`, in order of time, then of port.
    #[inline]
    pub fn next_gone(&mut self, now: u64) -> Option<Uncharge> {
        if self.next_release > now {
            return None;
        }
        let leaving = self.releases.pop_front();
        self.next_release = self.releases.front().map_or(NEVER, |first| first.at);
        leaving
    }
}

impl<D: Device> At<'_, '_, D> {
    /// Charges the packet to its ingress, or returns what becomes of it otherwise.
    pub fn charge(
        &mut self,
        port_class: LocalPortClass,
        out: Local,
        q: usize,
        packet: &Packet,
    ) -> Option<Refused> {
        let frame = self.node.buffer.occupied_by(packet.frame);
        let view = self.node.buffer.account_view(&self.ctx.facts.layout, self.device.inputs(), port_class);
        let headroom_free = self.node.buffer.headroom_size.saturating_sub(self.node.buffer.headroom_used);
        let account = self.node.buffer.accounts.of(port_class);
        let egress_used = account
            .admission
            .egress_reserve()
            .map(|reserve| self.node.links.beyond(&self.ctx.facts.layout, reserve));
        let queueing = &self.node.machines[out.index()].queueing;
        let pool = PoolView {
            free: view.pool_free,
            threshold: account.receiver.threshold(view.pool_free),
            headroom: bytes(account.sizes.headroom),
            headroom_free: bytes(headroom_free),
            size: bytes(account.sizes.own),
            egress_used: egress_used.unwrap_or_default(),
            queue_room: bytes(queueing.queue_room()),
        };
        let packet_view =
            PacketView { frame: bytes(frame), ..self.node.links.packet_view(&self.ctx, packet) };
        let queue_view = self.queue_view(out, q, packet);
        let (now, wire) =
            (self.ctx.time(), self.node.buffer.counted_wire(&self.ctx.facts.layout, packet.frame));
        let rng = &mut self.node.streams.admission;
        let account = self.node.buffer.accounts.of_mut(port_class);
        let charged = account.admission.admit(now, rng, &packet_view, &view, &queue_view, &pool);
        let shared_before = account.shared();
        match charged {
            Admit::Reserved | Admit::Shared | Admit::CutLast => account.held += frame,
            Admit::Headroom => account.headroom += frame,
            Admit::Cut => return Some(Refused::Cut),
            Admit::Drop(reason) => {
                if account.lossless && matches!(reason, DropReason::Buffer | DropReason::Egress) {
                    let (size, held) = (account.sizes.headroom, account.headroom);
                    let missing = if account.by_output {
                        (queue_view.voq.0 + frame).saturating_sub(account.sizes.own)
                    } else if reason == DropReason::Egress {
                        // Its queue's share changes with the others': the packet itself had no room.
                        frame
                    } else if account.pooled {
                        let own = (held + frame).saturating_sub(size);
                        own.max(frame.saturating_sub(headroom_free))
                    } else {
                        (account.held + held + frame).saturating_sub(account.sizes.own)
                    };
                    self.ctx.run.kept.records.lossless_drop(FirstDrop {
                        port_class: account.id as usize,
                        time: self.ctx.run.events.run_time(self.ctx.now),
                        order: self.ctx.order,
                        missing,
                    });
                }
                return Some(Refused::Drop(reason));
            }
        }
        account.wire += wire;
        let grown = account.shared() - shared_before;
        let total = account.held + account.headroom;
        account.peaks.headroom = account.peaks.headroom.max(account.headroom);
        let (of_pool, of_headroom) = match (account.pooled, charged) {
            (true, Admit::Headroom) => (grown, frame),
            (true, _) => (grown, 0),
            (false, _) => (0, 0),
        };
        let series = self.node.links.series.of_mut(packet.ingress);
        self.node.buffer.record_held(port_class, series, self.ctx.now, total);
        self.node.buffer.holds(frame, of_pool);
        self.node.buffer.headroom_used += of_headroom;
        self.device.charged(packet.ingress, out, packet.class, packet.frame);
        (charged == Admit::CutLast).then_some(Refused::CutLast)
    }

    /// Takes `frame` bytes off an account, from headroom first, and calls its receiver half.
    pub fn uncharge(&mut self, port_class: LocalPortClass, ingress: Local, frame: u16) {
        self.node.buffer.uncounted(frame);
        self.uncharge_account(port_class, ingress, frame);
    }

    /// The same, of bytes that stay in the switch.
    #[inline]
    pub fn uncharge_account(&mut self, port_class: LocalPortClass, ingress: Local, frame: u16) {
        if self.node.buffer.uncharge_account(&self.ctx.facts.layout, port_class, frame) {
            self.with_receiver(port_class, ingress, FcReceiver::on_release);
        }
    }

    /// Uncharges all packets whose last bit has gone, in order of time, then of port; whether
    /// there were any.
    #[inline]
    pub fn apply_releases(&mut self) -> bool {
        let any = self.node.buffer.next_release <= self.ctx.now;
        if any {
            self.apply_due_releases();
        }
        any
    }

    #[inline(never)]
    fn apply_due_releases(&mut self) {
        if self.device.holds_output() {
            return D::releases_in_order(self);
        }
        // A callback may lead here, too, and then finds the next one.
        while let Some(leaving) = self.node.buffer.next_gone(self.ctx.now) {
            self.uncharge(leaving.port_class.unpack(), leaving.ingress, leaving.frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{NodeId, Span};

    use super::*;
    use crate::run::world::World;
    use crate::testing::{at_busy, at_switch};

    /// The first switch of the busy network before anything is sent, with this at its first two ports.
    const SWITCH: NodeId = NodeId(4);
    const IN: Local = Local::FIRST;

    fn out() -> Local {
        Local::at(1)
    }

    /// Calls `test` before any packet has come.
    fn at_rest(test: impl FnOnce(&mut World<'_>, LocalPortClass)) {
        at_busy(Span::ZERO, |world| {
            let account = world.facts.layout.port_class(IN, 1);
            test(world, account);
        });
    }

    fn charges(world: &mut World<'_>, account: LocalPortClass) -> bool {
        let packet = Charged { port_class: account, ingress: IN, out: out(), class: 1, frame: 1_000 };
        let (node, _) = world.nodes[SWITCH.index()].split();
        node.buffer.charge_on_fast_path(&mut node.links, &world.facts.layout, world.now, packet)
    }

    #[test]
    fn the_fast_path_ends_at_the_threshold_and_the_pool_holds_what_is_beyond_the_reserve() {
        at_rest(|world, account| {
            let ingress = &mut world.nodes[SWITCH.index()].buffer.accounts[account];
            (ingress.reserve, ingress.fast_path_below) = (500, 5_000);
            // Shared: 500, 1500, ... 4500; 5500 is not below 5000.
            let charged: Vec<bool> = (0..6).map(|_| charges(world, account)).collect();
            assert_eq!(charged, [true, true, true, true, true, false]);
            let node = &world.nodes[SWITCH.index()];
            assert_eq!(
                (node.buffer.accounts[account].held, node.buffer.accounts[account].peaks.held),
                (5_000, 5_000)
            );
            assert_eq!(
                (node.buffer.pool_used, node.buffer.occupied, node.buffer.peak),
                (4_500, 5_000, 5_000)
            );
            // At the threshold itself a callback runs.
            world.nodes[SWITCH.index()].buffer.accounts[account].fast_path_below = 5_500;
            assert!(!charges(world, account));
            world.nodes[SWITCH.index()].buffer.accounts[account].fast_path_below = 5_501;
            assert!(charges(world, account));
        });
    }

    #[test]
    fn the_fast_path_is_left_for_each_of_its_reasons() {
        type Sets = fn(&mut World<'_>, LocalPortClass);
        fn switch<'w>(world: &'w mut World<'_>) -> &'w mut crate::run::node::Node {
            &mut world.nodes[SWITCH.index()]
        }
        /// Bytes that wait at the port, and in its queue of data.
        fn waits(world: &mut World<'_>, port: u64, queue: u64) {
            let at = world.facts.layout.queues(out()).nth(1);
            let node = switch(world);
            node.links.ports[1].joins_up_to = 3_000;
            (node.links.ports[1].waiting, node.links.queues[at].bytes) = (port, queue);
        }
        let cases: [(&str, bool, Sets); 10] = [
            ("as it is", true, |_, _| ()),
            ("headroom", false, |world, account| switch(world).buffer.accounts[account].headroom = 1),
            ("the port is short", true, |world, _| waits(world, 2_000, 9_000)),
            ("its queue is short", true, |world, _| waits(world, 2_001, 2_000)),
            ("both are long", false, |world, _| waits(world, 2_001, 2_001)),
            ("the pool has just room", true, |world, _| {
                let switch = &mut switch(world).buffer;
                (switch.pool_used, switch.pool_fast_path_up_to) = (6_000, 7_000);
            }),
            ("the pool has not", false, |world, _| {
                let switch = &mut switch(world).buffer;
                (switch.pool_used, switch.pool_fast_path_up_to) = (6_001, 7_000);
            }),
            ("a watchdog", false, |world, _| switch(world).links.ports[1].gates.discards = 2),
            ("the link", false, |world, _| switch(world).links.ports[1].up = false),
            ("an own buffer", true, |world, account| switch(world).buffer.accounts[account].pooled = false),
        ];
        for (reason, expected, sets) in cases {
            at_rest(|world, account| {
                sets(world, account);
                let before = world.nodes[SWITCH.index()].buffer.pool_used;
                let pooled = world.nodes[SWITCH.index()].buffer.accounts[account].pooled;
                assert_eq!(charges(world, account), expected, "{reason}");
                let node = &world.nodes[SWITCH.index()];
                let (held, of_pool) = (node.buffer.accounts[account].held, node.buffer.pool_used - before);
                let all = if expected { 1_000 } else { 0 };
                assert_eq!((held, of_pool), (all, if pooled { all } else { 0 }), "{reason}");
            });
        }
    }

    #[test]
    fn a_packet_is_taken_off_headroom_first() {
        at_rest(|world, account| {
            let node = &mut world.nodes[SWITCH.index()];
            let ingress = &mut node.buffer.accounts[account];
            (ingress.held, ingress.headroom, ingress.reserve) = (3_000, 600, 2_800);
            (node.buffer.occupied, node.buffer.pool_used, node.buffer.headroom_used) = (9_000, 200, 700);
            at_switch(world, SWITCH).uncharge(account, IN, 1_000);
            let node = &world.nodes[SWITCH.index()];
            assert_eq!(
                (node.buffer.accounts[account].held, node.buffer.accounts[account].headroom),
                (2_600, 0)
            );
            // Of the 400 B below headroom 200 B were in the pool, the others in the reserve.
            let switch = &node.buffer;
            assert_eq!((switch.occupied, switch.pool_used, switch.headroom_used), (8_000, 0, 100));
        });
    }

    #[test]
    fn releases_come_in_order_of_time_then_of_port() {
        at_rest(|world, account| {
            world.nodes[SWITCH.index()].buffer.accounts[account].held = 5_000;
            world.nodes[SWITCH.index()].buffer.occupied = 5_000;
            world.nodes[SWITCH.index()].buffer.pool_used = 5_000;
            for (port, at) in [(1, 30), (0, 50), (2, 40), (0, 30), (1, 40)] {
                let number = world.nodes[SWITCH.index()].switch().expect("it is one").number;
                let leaves = Uncharge {
                    at,
                    port: Local::at(port),
                    ingress: IN,
                    port_class: account.pack(),
                    frame: 1_000,
                };
                let buffer = &mut world.nodes[SWITCH.index()].buffer;
                buffer.release_later(number, &mut world.runs.own.events, leaves);
            }
            let buffer = &world.nodes[SWITCH.index()].buffer;
            let order: Vec<_> = buffer.releases.iter().map(|one| (one.at, one.port.index())).collect();
            assert_eq!(order, [(30, 0), (30, 1), (40, 1), (40, 2), (50, 0)]);
            assert_eq!(buffer.next_release, 30);
            for (now, any, held, next) in [
                (29, false, 5_000, 30),
                (30, true, 3_000, 40),
                (39, false, 3_000, 40),
                (50, true, 0, NEVER),
                (60, false, 0, NEVER),
            ] {
                world.now = now;
                assert_eq!(at_switch(world, SWITCH).apply_releases(), any, "at {now}");
                let node = &world.nodes[SWITCH.index()];
                let found =
                    (node.buffer.accounts[account].held, node.buffer.occupied, node.buffer.next_release);
                assert_eq!(found, (held, held, next), "at {now}");
            }
        });
    }

    #[test]
    fn queues_of_data_hold_what_is_beyond_the_reserve_of_each() {
        at_rest(|world, _| {
            for (port, control, data) in [(0, 900, 700), (1, 0, 400), (2, 800, 1_000)] {
                let at = world.facts.layout.queues(Local::at(port));
                let queues = &mut world.nodes[SWITCH.index()].links.queues;
                (queues[at.control()].bytes, queues[at.nth(1)].bytes) = (control, data);
            }
            assert_eq!(
                world.nodes[SWITCH.index()].links.beyond(&world.facts.layout, Bytes(500)),
                Bytes(200 + 500)
            );
            assert_eq!(
                world.nodes[SWITCH.index()].links.beyond(&world.facts.layout, Bytes::ZERO),
                Bytes(2_100)
            );
        });
    }

    #[test]
    fn a_lossless_drop_says_how_many_bytes_were_missing() {
        // (headroom held of the account and of the switch, both of 10 KB), the most that is missing.
        for (own, all, missing) in [(9_700, 9_700, 700), (9_700, 9_500, 700), (9_200, 9_900, 900)] {
            at_busy(Span::ns(500), |world| {
                let account = world.facts.layout.port_class(IN, 1);
                let node = &mut world.nodes[SWITCH.index()];
                let ingress = &mut node.buffer.accounts[account];
                (ingress.held, ingress.headroom, ingress.sizes.headroom) = (900_000, own, 10_000);
                (node.buffer.pool_used, node.buffer.occupied) = (900_000, 900_000 + own);
                (node.buffer.headroom_used, node.buffer.headroom_size) = (all, 10_000);
                let mut packet =
                    Packet::new(crate::link::packet::Kind::Data, floodway_units::FlowId(0), Bytes(1_000));
                (packet.class, packet.ingress) = (1, IN);
                let reason = at_switch(world, SWITCH).charge(account, out(), 1, &packet);
                assert_eq!(reason, Some(Refused::Drop(DropReason::Buffer)));
                let drop = world.runs.own.kept.records.first_drop.expect("it is lossless");
                assert_eq!(drop.missing, missing, "{own} of the account, {all} of the switch");
            });
        }
    }
}

//! Charges and releases of ingress accounts.

use floodway_mechanisms::slots::{Admission as _, Admit, DropReason, FcReceiver, PacketView, PoolView};
use floodway_units::Bytes;

use super::Uncharge;
use crate::link::packet::Packet;
use crate::network::layout::Local;
use crate::records::tally::FirstDrop;
use crate::run::at_node::{AtNode, bytes};
use crate::run::events::{EventKind, NEVER};

impl AtNode<'_, '_> {
    /// Charges a packet for which no callback runs: the account and the pool are far from every threshold,
    /// and the egress queue is shorter than any congestion point looks at. Two packets of three take this
    /// path, at a tenth of the cost of the calls that it saves; returns false if those calls are needed.
    #[inline]
    pub fn charge_on_fast_path(
        &mut self,
        port_class: usize,
        ingress: Local,
        out: Local,
        class: u8,
        frame: u16,
    ) -> bool {
        let account = self.node.ingress.known(port_class);
        let port = self.node.links.ports.known(out.index());
        let pool = &self.node.switch;
        let (occupies, wire, frame) = (pool.occupied_by(frame), self.counted_wire(frame), u64::from(frame));
        let held = account.held + occupies;
        let shared = held.saturating_sub(account.reserve);
        if shared >= u64::from(account.fast_path_below)
            || account.headroom > 0
            || port.waiting + frame > u64::from(port.fast_path_up_to)
                && self.joins_beyond_fast_path(out, class, frame)
            || pool.pool_used.saturating_add(occupies) > pool.pool_fast_path_up_to
            || port.gates.discards != 0
            || !port.up
        {
            return false;
        }
        let account = self.node.ingress.known_mut(port_class);
        let of_pool = if account.pooled { shared - account.shared() } else { 0 };
        account.held = held;
        account.wire += wire;
        if held > u64::from(account.recorded) || self.ctx.now >= account.recorded_until {
            self.record_held(port_class, ingress, held);
        }
        self.node.switch.holds(occupies, of_pool);
        true
    }

    /// Is the first queue of a class beyond the fast path once the frame has joined it, so that congestion
    /// points are called?
    #[inline(never)]
    fn joins_beyond_fast_path(&self, out: Local, class: u8, frame: u64) -> bool {
        let queue = self
            .node
            .links
            .queues
            .known(self.ctx.facts.layout.queue(out) + self.ctx.facts.layout.first_queue(class));
        queue.bytes + frame > u64::from(self.node.links.ports.known(out.index()).fast_path_up_to)
    }

    /// Charges the packet to its ingress, or returns why it must be dropped.
    pub fn charge(&mut self, port_class: usize, out: Local, q: usize, packet: &Packet) -> Option<DropReason> {
        let frame = self.node.switch.occupied_by(packet.frame);
        let view = self.account_view(port_class);
        let headroom_free = self.node.switch.headroom_size.saturating_sub(self.node.switch.headroom_used);
        let account = self.node.ingress.known(port_class);
        let egress_used = account.admission.egress_reserve().map(|reserve| self.beyond(reserve));
        let pool = PoolView {
            free: view.pool_free,
            threshold: account.receiver.threshold(view.pool_free),
            headroom: bytes(account.sizes.headroom),
            headroom_free: bytes(headroom_free),
            size: bytes(account.sizes.own),
            egress_used: egress_used.unwrap_or_default(),
        };
        let packet_view = PacketView { frame: bytes(frame), ..self.packet_view(packet) };
        let queue_view = self.queue_view(out, q, packet);
        let (now, wire) = (self.ctx.time(), self.counted_wire(packet.frame));
        let rng = &mut self.node.streams.admission;
        let account = self.node.ingress.known_mut(port_class);
        let charged = account.admission.admit(now, rng, &packet_view, &view, &queue_view, &pool);
        let shared_before = account.shared();
        match charged {
            Admit::Reserved | Admit::Shared => account.held += frame,
            Admit::Headroom => account.headroom += frame,
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
                        time: self.ctx.now,
                        order: self.ctx.order,
                        missing,
                    });
                }
                return Some(reason);
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
        self.record_held(port_class, packet.ingress, total);
        self.node.switch.holds(frame, of_pool);
        self.node.switch.headroom_used += of_headroom;
        if self.has_crossbar() {
            self.charge_voq(packet.ingress, out, packet.class, packet.frame);
        }
        None
    }

    /// What the queues of data at a switch's ports hold beyond `reserve` each. They are gone through, so that
    /// only admissions that need it pay for it.
    pub fn beyond(&self, reserve: Bytes) -> Bytes {
        let queues = self.node.locals().flat_map(|port| {
            let charged =
                (1..self.ctx.facts.layout.queues_per_port).filter(move |&q| !self.may_lose(port, q));
            charged.map(move |q| self.node.links.queues.known(self.ctx.facts.layout.queue(port) + q))
        });
        bytes(queues.map(|queue| queue.bytes.saturating_sub(reserve.0)).sum())
    }

    /// Records in the account's peak and the port's series that it holds `held` bytes.
    #[inline(never)]
    fn record_held(&mut self, port_class: usize, ingress: Local, held: u64) {
        let series = self.node.links.series.known_mut(ingress.index());
        series.buffer(self.ctx.now, held);
        let account = self.node.ingress.known_mut(port_class);
        account.peaks.held = account.peaks.held.max(held);
        if self.ctx.now >= account.recorded_until {
            (account.recorded, account.recorded_until) = (0, series.ends());
        }
        account.recorded = account.recorded.max(u32::try_from(held).unwrap_or(u32::MAX));
    }

    /// The account begins or stops to wait for releases.
    pub fn awaiting_changed(&mut self, port_class: usize) {
        self.set_fast_path(port_class);
        if self.node.ingress.known(port_class).awaits {
            self.await_releases(port_class);
        }
    }

    /// Computes the bound of the fast path of an account.
    pub fn set_fast_path(&mut self, port_class: usize) {
        if let Some(fast_path_below) = self.fast_path_of_account(port_class) {
            self.node.ingress.known_mut(port_class).fast_path_below = fast_path_below;
        }
    }

    /// The bound below which packets are charged without a callback: 0 while a release is awaited. None where
    /// there is no fast path.
    pub fn fast_path_of_account(&self, port_class: usize) -> Option<u32> {
        let (account, switch) = (self.node.ingress.known(port_class), &self.node.switch);
        if account.at_host || switch.pipeline != 0 {
            return None;
        }
        let pooled = account.pooled;
        // Behind a crossbar nothing goes straight through.
        let plain = !account.awaits && account.admission.is_plain() && switch.inputs.is_none();
        let fast_path_below = if !plain || pooled && switch.pool_size == 0 {
            0
        } else if pooled {
            account.receiver.fast_path_below(bytes(switch.pool_size - switch.pool_fast_path_up_to)).0
        } else {
            account
                .receiver
                .fast_path_below(Bytes::ZERO)
                .0
                .min(account.sizes.own.saturating_sub(account.sizes.headroom))
        };
        Some(u32::try_from(fast_path_below).unwrap_or(u32::MAX))
    }

    /// What accounts count of a frame's bytes on the wire: nothing where the buffer counts bytes.
    #[inline]
    fn counted_wire(&self, frame: u16) -> u64 {
        if self.node.switch.has_cells() { self.ctx.facts.layout.wire(frame) } else { 0 }
    }

    /// `frame` bytes that are charged to no account have left the switch.
    pub fn uncounted(&mut self, frame: u16) {
        self.node.switch.occupied -= self.node.switch.occupied_by(frame);
    }

    /// Takes `frame` bytes off an account, from headroom first, and calls its receiver half.
    pub fn uncharge(&mut self, port_class: usize, ingress: Local, frame: u16) {
        self.node.switch.occupied -= self.node.switch.occupied_by(frame);
        self.uncharge_account(port_class, ingress, frame);
    }

    /// Takes `frame` bytes off an account that stay in the switch, or have left it.
    #[inline]
    pub fn uncharge_account(&mut self, port_class: usize, ingress: Local, frame: u16) {
        let wire = self.counted_wire(frame);
        let frame = self.node.switch.occupied_by(frame);
        let account = self.node.ingress.known_mut(port_class);
        account.wire -= wire;
        let shared_before = account.shared();
        let from_headroom = account.headroom.min(frame);
        account.headroom -= from_headroom;
        account.held -= frame - from_headroom;
        let shrunk = shared_before - account.shared();
        let pooled = account.pooled;
        let switch = &mut self.node.switch;
        if pooled {
            switch.pool_used -= shrunk;
            switch.headroom_used -= from_headroom;
        }
        if account.awaits {
            self.with_receiver(port_class, ingress, FcReceiver::on_release);
        }
    }

    /// The packet just put on the wire by `port` is uncharged from account `port_class` at its last bit.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "classes of a switch with at most 2^16 ports")]
    pub fn release_later(&mut self, port: Local, ingress: Local, port_class: usize, frame: u16) {
        let at = self.node.links.ports.known(port.index()).free_at;
        let switch = &mut self.node.switch;
        switch.next_release = switch.next_release.min(at);
        let uncharge = Uncharge { at, port, ingress, port_class: port_class as u32, frame };
        // Nearly always the last: only a short packet or a faster port overtakes others.
        if switch.releases.back().is_none_or(|last| (last.at, last.port) <= (at, port)) {
            switch.releases.push_back(uncharge);
        } else {
            let after = switch.releases.partition_point(|other| (other.at, other.port) <= (at, port));
            switch.releases.insert(after, uncharge);
        }
        if self.node.ingress.known(port_class).awaits {
            self.ctx.run.events.add(EventKind::Release, self.node.switch.number, at);
        }
    }

    /// Makes events of the releases that `port_class` now waits for.
    pub fn await_releases(&mut self, port_class: usize) {
        let switch = &self.node.switch;
        for leaving in switch.releases.iter().filter(|leaving| leaving.port_class as usize == port_class) {
            self.ctx.run.events.add(EventKind::Release, switch.number, leaving.at.max(self.ctx.now));
        }
    }

    /// Uncharges all packets whose last bit has gone, in order of time, then of port; whether
    /// there were any.
    #[inline]
    pub fn apply_releases(&mut self) -> bool {
        let any = self.node.switch.next_release <= self.ctx.now;
        if any {
            self.apply_due_releases();
        }
        any
    }

    #[inline(never)]
    fn apply_due_releases(&mut self) {
        loop {
            let state = &mut self.node.switch;
            let Some(leaving) = state.releases.pop_front() else { return };
            let next = state.releases.front().map_or(NEVER, |first| first.at);
            state.next_release = next;
            self.uncharge(leaving.port_class as usize, leaving.ingress, leaving.frame);
            // A callback may have led here, too.
            if next > self.ctx.now || self.node.switch.next_release > self.ctx.now {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{NodeId, Span};

    use super::*;
    use crate::run::world::World;
    use crate::testing::at_busy;

    /// The first switch of the busy network before anything is sent, with this at its first two ports.
    const SWITCH: NodeId = NodeId(4);
    const IN: Local = Local::FIRST;

    fn out() -> Local {
        Local::at(1)
    }

    /// Calls `test` before any packet has come.
    fn at_rest(test: impl FnOnce(&mut World<'_>, usize)) {
        at_busy(Span::ZERO, |world| {
            let account = world.facts.layout.port_class(IN, 1);
            test(world, account);
        });
    }

    fn charges(world: &mut World<'_>, account: usize) -> bool {
        world.at(SWITCH).charge_on_fast_path(account, IN, out(), 1, 1_000)
    }

    #[test]
    fn the_fast_path_ends_at_the_threshold_and_the_pool_holds_what_is_beyond_the_reserve() {
        at_rest(|world, account| {
            let ingress = &mut world.nodes[SWITCH.index()].ingress[account];
            (ingress.reserve, ingress.fast_path_below) = (500, 5_000);
            // Shared: 500, 1500, ... 4500; 5500 is not below 5000.
            let charged: Vec<bool> = (0..6).map(|_| charges(world, account)).collect();
            assert_eq!(charged, [true, true, true, true, true, false]);
            let node = &world.nodes[SWITCH.index()];
            assert_eq!((node.ingress[account].held, node.ingress[account].peaks.held), (5_000, 5_000));
            assert_eq!(
                (node.switch.pool_used, node.switch.occupied, node.switch.peak),
                (4_500, 5_000, 5_000)
            );
            // At the threshold itself a callback runs.
            world.nodes[SWITCH.index()].ingress[account].fast_path_below = 5_500;
            assert!(!charges(world, account));
            world.nodes[SWITCH.index()].ingress[account].fast_path_below = 5_501;
            assert!(charges(world, account));
        });
    }

    #[test]
    fn the_fast_path_is_left_for_each_of_its_reasons() {
        type Sets = fn(&mut World<'_>, usize);
        fn switch<'w>(world: &'w mut World<'_>) -> &'w mut crate::run::node::Node {
            &mut world.nodes[SWITCH.index()]
        }
        /// Bytes that wait at the port, and in its queue of data.
        fn waits(world: &mut World<'_>, port: u64, queue: u64) {
            let at = world.facts.layout.queue(out()) + 1;
            let node = switch(world);
            node.links.ports[1].fast_path_up_to = 3_000;
            (node.links.ports[1].waiting, node.links.queues[at].bytes) = (port, queue);
        }
        let cases: [(&str, bool, Sets); 10] = [
            ("as it is", true, |_, _| ()),
            ("headroom", false, |world, account| switch(world).ingress[account].headroom = 1),
            ("the port is short", true, |world, _| waits(world, 2_000, 9_000)),
            ("its queue is short", true, |world, _| waits(world, 2_001, 2_000)),
            ("both are long", false, |world, _| waits(world, 2_001, 2_001)),
            ("the pool has just room", true, |world, _| {
                let switch = &mut switch(world).switch;
                (switch.pool_used, switch.pool_fast_path_up_to) = (6_000, 7_000);
            }),
            ("the pool has not", false, |world, _| {
                let switch = &mut switch(world).switch;
                (switch.pool_used, switch.pool_fast_path_up_to) = (6_001, 7_000);
            }),
            ("a watchdog", false, |world, _| switch(world).links.ports[1].gates.discards = 2),
            ("the link", false, |world, _| switch(world).links.ports[1].up = false),
            ("an own buffer", true, |world, account| switch(world).ingress[account].pooled = false),
        ];
        for (reason, expected, sets) in cases {
            at_rest(|world, account| {
                sets(world, account);
                let before = world.nodes[SWITCH.index()].switch.pool_used;
                let pooled = world.nodes[SWITCH.index()].ingress[account].pooled;
                assert_eq!(charges(world, account), expected, "{reason}");
                let node = &world.nodes[SWITCH.index()];
                let (held, of_pool) = (node.ingress[account].held, node.switch.pool_used - before);
                let all = if expected { 1_000 } else { 0 };
                assert_eq!((held, of_pool), (all, if pooled { all } else { 0 }), "{reason}");
            });
        }
    }

    #[test]
    fn a_packet_is_taken_off_headroom_first() {
        at_rest(|world, account| {
            let node = &mut world.nodes[SWITCH.index()];
            let ingress = &mut node.ingress[account];
            (ingress.held, ingress.headroom, ingress.reserve) = (3_000, 600, 2_800);
            (node.switch.occupied, node.switch.pool_used, node.switch.headroom_used) = (9_000, 200, 700);
            world.at(SWITCH).uncharge(account, IN, 1_000);
            let node = &world.nodes[SWITCH.index()];
            assert_eq!((node.ingress[account].held, node.ingress[account].headroom), (2_600, 0));
            // Of the 400 B below headroom 200 B were in the pool, the others in the reserve.
            let switch = &node.switch;
            assert_eq!((switch.occupied, switch.pool_used, switch.headroom_used), (8_000, 0, 100));
        });
    }

    #[test]
    fn releases_come_in_order_of_time_then_of_port() {
        at_rest(|world, account| {
            world.nodes[SWITCH.index()].ingress[account].held = 5_000;
            world.nodes[SWITCH.index()].switch.occupied = 5_000;
            world.nodes[SWITCH.index()].switch.pool_used = 5_000;
            for (port, at) in [(1, 30), (0, 50), (2, 40), (0, 30), (1, 40)] {
                world.nodes[SWITCH.index()].links.ports[port].free_at = at;
                world.at(SWITCH).release_later(Local::at(port), IN, account, 1_000);
            }
            let switch = &world.nodes[SWITCH.index()].switch;
            let order: Vec<_> = switch.releases.iter().map(|one| (one.at, one.port.index())).collect();
            assert_eq!(order, [(30, 0), (30, 1), (40, 1), (40, 2), (50, 0)]);
            assert_eq!(switch.next_release, 30);
            for (now, any, held, next) in [
                (29, false, 5_000, 30),
                (30, true, 3_000, 40),
                (39, false, 3_000, 40),
                (50, true, 0, NEVER),
                (60, false, 0, NEVER),
            ] {
                world.now = now;
                assert_eq!(world.at(SWITCH).apply_releases(), any, "at {now}");
                let node = &world.nodes[SWITCH.index()];
                let found = (node.ingress[account].held, node.switch.occupied, node.switch.next_release);
                assert_eq!(found, (held, held, next), "at {now}");
            }
        });
    }

    #[test]
    fn queues_of_data_hold_what_is_beyond_the_reserve_of_each() {
        at_rest(|world, _| {
            for (port, control, data) in [(0, 900, 700), (1, 0, 400), (2, 800, 1_000)] {
                let at = world.facts.layout.queue(Local::at(port));
                let queues = &mut world.nodes[SWITCH.index()].links.queues;
                (queues[at].bytes, queues[at + 1].bytes) = (control, data);
            }
            assert_eq!(world.at(SWITCH).beyond(Bytes(500)), Bytes(200 + 500));
            assert_eq!(world.at(SWITCH).beyond(Bytes::ZERO), Bytes(2_100));
        });
    }

    #[test]
    fn a_lossless_drop_says_how_many_bytes_were_missing() {
        // (headroom held of the account and of the switch, both of 10 KB), the most that is missing.
        for (own, all, missing) in [(9_700, 9_700, 700), (9_700, 9_500, 700), (9_200, 9_900, 900)] {
            at_busy(Span::ns(500), |world| {
                let account = world.facts.layout.port_class(IN, 1);
                let node = &mut world.nodes[SWITCH.index()];
                let ingress = &mut node.ingress[account];
                (ingress.held, ingress.headroom, ingress.sizes.headroom) = (900_000, own, 10_000);
                (node.switch.pool_used, node.switch.occupied) = (900_000, 900_000 + own);
                (node.switch.headroom_used, node.switch.headroom_size) = (all, 10_000);
                let mut packet =
                    Packet::new(crate::link::packet::Kind::Data, floodway_units::FlowId(0), Bytes(1_000));
                (packet.class, packet.ingress) = (1, IN);
                let reason = world.at(SWITCH).charge(account, out(), 1, &packet);
                assert_eq!(reason, Some(DropReason::Buffer));
                let drop = world.run.kept.records.first_drop.expect("it is lossless");
                assert_eq!(drop.missing, missing, "{own} of the account, {all} of the switch");
            });
        }
    }
}

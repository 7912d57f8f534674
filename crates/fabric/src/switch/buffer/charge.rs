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
        let port = self.node.ports.known(out.index());
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
        if held > u64::from(account.recorded) || self.now >= account.recorded_until {
            self.record_held(port_class, ingress, held);
        }
        self.node.switch.holds(occupies, of_pool);
        true
    }

    /// Is the first queue of a class beyond the fast path once the frame has joined it, so that congestion
    /// points are called?
    #[inline(never)]
    fn joins_beyond_fast_path(&self, out: Local, class: u8, frame: u64) -> bool {
        let queue =
            self.node.queues.known(self.facts.layout.queue(out) + self.facts.layout.first_queue(class));
        queue.bytes + frame > u64::from(self.node.ports.known(out.index()).fast_path_up_to)
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
        let (now, wire) = (self.time(), self.counted_wire(packet.frame));
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
                    self.run.kept.records.lossless_drop(FirstDrop {
                        port_class: account.id as usize,
                        time: self.now,
                        order: self.order,
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
            let charged = (1..self.facts.layout.queues_per_port).filter(move |&q| !self.may_lose(port, q));
            charged.map(move |q| self.node.queues.known(self.facts.layout.queue(port) + q))
        });
        bytes(queues.map(|queue| queue.bytes.saturating_sub(reserve.0)).sum())
    }

    /// Records in the account's peak and the port's series that it holds `held` bytes.
    #[inline(never)]
    fn record_held(&mut self, port_class: usize, ingress: Local, held: u64) {
        let series = self.node.series.known_mut(ingress.index());
        series.buffer(self.now, held);
        let account = self.node.ingress.known_mut(port_class);
        account.peaks.held = account.peaks.held.max(held);
        if self.now >= account.recorded_until {
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
        if self.node.switch.has_cells() { self.facts.layout.wire(frame) } else { 0 }
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
        let switch = &mut *self.node.switch;
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
        let at = self.node.ports.known(port.index()).free_at;
        let switch = &mut *self.node.switch;
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
            self.run.events.add(EventKind::Release, self.node.switch.number, at);
        }
    }

    /// Makes events of the releases that `port_class` now waits for.
    pub fn await_releases(&mut self, port_class: usize) {
        let switch = &self.node.switch;
        for leaving in switch.releases.iter().filter(|leaving| leaving.port_class as usize == port_class) {
            self.run.events.add(EventKind::Release, switch.number, leaving.at.max(self.now));
        }
    }

    /// Uncharges all packets whose last bit has gone, in order of time, then of port; whether
    /// there were any.
    #[inline]
    pub fn apply_releases(&mut self) -> bool {
        let any = self.node.switch.next_release <= self.now;
        if any {
            self.apply_due_releases();
        }
        any
    }

    #[inline(never)]
    fn apply_due_releases(&mut self) {
        loop {
            let state = &mut *self.node.switch;
            let Some(leaving) = state.releases.pop_front() else { return };
            let next = state.releases.front().map_or(NEVER, |first| first.at);
            state.next_release = next;
            self.uncharge(leaving.port_class as usize, leaving.ingress, leaving.frame);
            // A callback may have led here, too.
            if next > self.now || self.node.switch.next_release > self.now {
                return;
            }
        }
    }
}

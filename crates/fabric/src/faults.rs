//! Faults at known times: links that go down and up, ports that pause their upstream.

use std::sync::Arc;

use floodway_mechanisms::slots::{Cx, DropReason, FcFrame, FcReceiver, FcSender as _, PauseMode};
use floodway_units::{Class, PortId, Quanta, Time};

use crate::agenda::What;
use crate::blueprint::PauseFault;
use crate::packet::{Kind, Packet};
use crate::routing::{Routes, peer};
use crate::world::{Fault, NEVER, World};

impl World<'_> {
    /// The fault `index` strikes.
    pub fn fault(&mut self, index: u32) {
        match self.faults[index as usize] {
            Fault::Link { link, down } => self.link_changes(link, down),
            Fault::Pause { port, pause } => self.forced_pause(index, port, pause),
        }
    }

    fn link_changes(&mut self, link: u32, down: bool) {
        self.link_down[link as usize] = u32::from(down);
        let is_down = &self.link_down;
        self.routes = Arc::new(Routes::new(self.blueprint, |link| is_down[link] == 0));
        if !self.border.owns(self.ports[2 * link as usize].node) {
            // That the routes are others now is all that concerns this partition.
            self.counts[What::Fault as usize] -= 1;
            return;
        }
        for end in 0..2 {
            let port = PortId(2 * link + end);
            self.ports[port.index()].up = !down;
            if down {
                self.cut(port);
            } else {
                self.reset(port);
            }
        }
        if down {
            return;
        }
        for end in 0..2 {
            self.kick(PortId(2 * link + end));
        }
    }

    /// What is on the wire, and what waits for it, is lost.
    fn cut(&mut self, port: PortId) {
        let state = &mut self.ports[port.index()];
        (state.controls, state.latest) = (false, 0);
        let mut waiting = std::mem::take(&mut state.control);
        let flying = self.packets.flying_to(peer(port));
        let mut lost: Vec<Packet> = flying.into_iter().map(|place| self.packets.lose(place)).collect();
        while let Some(place) = waiting.pop(&self.packets) {
            lost.push(self.packets.take(place));
        }
        for packet in lost {
            if packet.is_link_control() {
                self.forget_link_control(&packet);
            } else {
                // What waits are link control frames: this was on the wire.
                let lane = self.lane(peer(port), packet.class);
                self.ingress[lane].rare.lost.add(packet.frame);
                self.drop_packet(lane, &packet, DropReason::LinkDown);
            }
        }
        for class in 0..self.classes.len() as u8 {
            self.flush_queues(port, class, DropReason::LinkDown);
        }
    }

    /// A link control frame was lost, or will not be sent.
    pub fn forget_link_control(&mut self, packet: &Packet) {
        if packet.kind == Kind::Region {
            self.free_regions.push(packet.psn as u32);
        }
    }

    /// Both halves of the link's flow controls start afresh.
    fn reset(&mut self, port: PortId) {
        for class in 1..self.classes.len() as u8 {
            let lane = self.lane(port, class);
            let node = self.ports[port.index()].node.index();
            let mut cx = Cx {
                now: Time(self.now),
                rng: &mut self.nodes[node].streams.flow_control,
                out: &mut self.out.frames,
            };
            self.egress[lane].sender.on_link_reset(&mut cx);
            self.flush_frames(port);
            self.sender_changed(port, lane);
            if !self.ports[port.index()].at_host {
                self.settle_port(port);
            }
            self.with_receiver(lane, port, FcReceiver::on_link_reset);
            self.repeat_relayed(port, class);
        }
    }

    /// A relay's far end starts open: it is told at once of a pause that lasts on the relay's other port.
    fn repeat_relayed(&mut self, port: PortId, class: u8) {
        let other = self.relay_at(port).map(|relay| relay.ports.other(port));
        let Some(other) = other else { return };
        let Some((disposition, _)) = self.relays(other, class) else { return };
        if disposition.forwards() && self.egress[self.lane(other, class)].paused_since != NEVER {
            let class = self.classes[class as usize];
            self.out.frames.0.push(FcFrame::Pause { class, quanta: Quanta::MAX });
            self.flush_frames(port);
        }
    }

    /// Sends a pause, and arranges for its refresh or its end.
    fn forced_pause(&mut self, index: u32, port: PortId, pause: PauseFault) {
        let ends = self.now >= pause.to.0;
        let class = self.dense(pause.class);
        let time = self.time();
        if ends && class != u8::MAX && self.ingress[self.lane(port, class)].receiver.is_pausing(time) {
            // The port's own flow control has paused as well, and will say itself when that is over.
            return;
        }
        let quanta = if ends { Quanta(0) } else { Quanta::MAX };
        if self.trace.is_some() && !ends && class != u8::MAX {
            self.trace_forced(port, class);
        }
        self.out.frames.0.push(FcFrame::Pause { class: pause.class, quanta });
        if self.ports[port.index()].up {
            self.flush_frames(port);
        } else {
            self.out.frames.0.clear();
        }
        if ends || class == u8::MAX {
            return;
        }
        let half = Quanta::MAX.span(self.rate(peer(port))).0 / 2;
        let refresh = match self.pause_mode_at(port, pause.class) {
            PauseMode::Timer => self.now + half,
            PauseMode::OnOff => u64::MAX,
        };
        let next = refresh.min(pause.to.0);
        if next != u64::MAX {
            self.events.add(What::Fault, index, next);
        }
    }

    /// How long pauses of `class` last that `port` sends.
    fn pause_mode_at(&self, port: PortId, class: Class) -> PauseMode {
        let data = &self.blueprint.links[port.index() / 2].directions[peer(port).index() % 2];
        let control = data.flow_control.iter().find(|(of, _)| *of == class);
        control.map_or(self.pause_mode, |(_, params)| params.pause_mode(self.pause_mode))
    }
}

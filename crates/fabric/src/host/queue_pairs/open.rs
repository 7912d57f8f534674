//! Opening and closing of queue pairs.

use floodway_mechanisms::slots::{FlowTuple, Need, QpInfo, TransportSender as _};
use floodway_units::cast::narrow;
use floodway_units::{FlowId, NodeId, PortId, Rate, fold};

use super::{Opening, Posted};
use crate::host::messages::{Incoming, Outgoing};
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::link::packet::frame_bytes;
use crate::network::blueprint::{Acks, Turns};
use crate::network::layout::Local;
use crate::network::path::{Laid, Path};
use crate::network::routing::peer;
use crate::run::at_node::AtNode;
use crate::run::events::QueuePairName;
use crate::run::world::World;
use crate::traffic::flows::{Begin, PairKey};

impl AtNode<'_, '_> {
    /// Opens a queue pair for its first message; its NIC's port, if it has a path.
    pub fn open(&mut self, begin: &Begin, head: Outgoing, key: Option<PairKey>) -> Option<Local> {
        let tuple = self.tuple(begin);
        self.refresh_routes(begin.source);
        self.refresh_routes(begin.destination);
        let ports = self.path(begin.source, begin.destination, &tuple, begin.pinned.0.as_deref());
        let reply = tuple.reversed();
        let settings = &self.ctx.facts.blueprint.settings[begin.settings];
        let ack_ports = if settings.needs(Need::Messages) && begin.pinned.1.is_none() {
            ports.iter().rev().map(|port| peer(*port)).collect()
        } else {
            self.path(begin.destination, begin.source, &reply, begin.pinned.1.as_deref())
        };
        let nic_port =
            ports.first().copied().or_else(|| self.nic_of(begin.source, begin.destination, &tuple));
        let nic = nic_port.map_or(Local::default(), |port| self.ctx.facts.local(port));
        let free_slot = self.ctx.run.pairs.slot();
        let slot = free_slot.number();
        let info = self.qp_info(begin, (slot, head.number), (&ports, &ack_ports), &tuple);
        let (transport, receiver) =
            settings.reliability.build(&info).expect("checked when the fabric was built");
        let laid = Laid {
            settings: begin.settings,
            ports: &ports,
            ack_ports: &ack_ports,
            tuple,
            nic,
            rank: begin.rank.unwrap_or_else(|| self.node.host.nics[nic.index()].ranks.next()),
        };
        let path = Path::new(self.ctx.facts, &info, &laid);
        if let Some(opened) = &mut self.ctx.run.pairs.opened {
            opened.push(Opening::new(&info, &laid, &head));
        }
        let full_frame = frame_bytes(self.ctx.facts.format.data_with(info.mtu, false, path.telemetry).frame);
        let reply_frame = frame_bytes(self.ctx.facts.format.ack_with(path.telemetry).frame);
        let mut half = SendHalf::new(settings, &path, &info, transport, (head, full_frame));
        half.state.shared = key.is_some();
        half.timers.timer_key =
            self.ctx.run.events.queue_pair_key(self.node.host.nics[nic.index()].number, path.rank, slot);
        half.timers.numbered = self.ctx.run.events.is_numbered() && half.transport.times_packets();
        if self.ctx.run.events.is_numbered() {
            half.tick_alone();
        }
        half.pacing.moves = half.is_moved(self.ctx.facts.blueprint.semantics.repacing);
        let notification = settings.notification.build(&info).expect("checked when the fabric was built");
        let mut other =
            ReceiveHalf::new(&path, (receiver, notification), reply_frame, Incoming::of(&head, 0));
        other.alive = !self.ctx.run.events.is_elsewhere(self.ctx.facts.groups.of(begin.destination));
        self.ctx.run.kept.records.started(begin.workload, &head);
        let has_timers = half.next_of_layers().is_some();
        self.enter(slot, key, &half);
        self.ctx.run.pairs.enter(free_slot, path, half, other);
        if self.ctx.run.trace.is_some() {
            self.each_trace(|at| at.trace_opened(slot, &head));
        }
        if begin.rank.is_some() {
            self.node.host.pairs.to_start -= 1;
        }
        let port = nic_port.map(|_| nic);
        if port.is_some() {
            // A layer may want to be called before anything has happened.
            if has_timers {
                self.stack_changed(slot);
            } else {
                self.allowance_changed(slot);
            }
        }
        port.map(|_| self.ctx.run.pairs.senders[slot as usize].nic)
    }

    /// A queue pair's sender takes its place.
    fn enter(&mut self, slot: u32, key: Option<PairKey>, half: &SendHalf) {
        if self.node.host.pairs.sprays {
            self.node.host.nics.iter_mut().for_each(|nic| nic.ranks.open(half.rank, slot));
        } else {
            self.node.host.nics[half.nic.index()].ranks.open(half.rank, slot);
        }
        let nic = &mut self.node.host.nics[half.nic.index()];
        match self.ctx.facts.blueprint.semantics.turns {
            Turns::Ring => {}
            Turns::Listed => nic.unfinished += 1,
            Turns::List | Turns::StandingList => nic.list.push(slot),
        }
        if let Some(key) = key {
            self.node.host.pairs.by_key.insert(key, slot);
        }
    }

    /// Posts another message on an open queue pair, and at its receiver: at once, or when threads meet at the
    /// barrier.
    pub fn posted(&mut self, posted: Posted) {
        let to = self.ctx.run.pairs.paths[posted.slot as usize].destination;
        if let Some(thread) = self.ctx.run.events.remote_owner(self.ctx.facts.groups.of(to)) {
            self.ctx.run.pairs.posted[thread].push(posted);
        } else {
            self.ctx.run.pairs.receivers[posted.slot as usize].post(posted.message);
        }
    }

    fn tuple(&self, begin: &Begin) -> FlowTuple {
        let name = self.ctx.run.kept.records.workload_key(begin.workload);
        let entropy = fold(fold(name, u64::from(begin.source.0)), begin.entropy);
        FlowTuple {
            source: self.address(begin.source),
            destination: self.address(begin.destination),
            source_port: begin.ports.0.unwrap_or(49_152 + (entropy & 0x3FFF) as u16),
            // The UDP port of RoCEv2.
            destination_port: begin.ports.1.unwrap_or(4791),
        }
    }

    /// The queue pair that a timer's event names, if it is open.
    pub fn queue_pair_of(&self, order: u64) -> Option<u32> {
        match self.ctx.run.events.queue_pair(order) {
            QueuePairName::Ranked { nic, rank } => {
                let first = self.node.host.nics[0].number;
                self.node.host.nics[(nic - first) as usize].ranks.get(rank)
            }
            QueuePairName::Slot(slot) => Some(slot),
        }
    }

    fn address(&self, node: NodeId) -> u32 {
        match self.ctx.facts.blueprint.nodes[node.index()].role {
            crate::network::blueprint::Role::Host { address, .. } => address,
            crate::network::blueprint::Role::Switch(_) => node.0,
        }
    }

    fn qp_info(
        &self,
        begin: &Begin,
        (slot, number): (u32, u64),
        (path, ack_path): (&[PortId], &[PortId]),
        tuple: &FlowTuple,
    ) -> QpInfo {
        let data = self.some_path(begin.source, begin.destination, path);
        let ack = self.some_path(begin.destination, begin.source, ack_path);
        let settings = &self.ctx.facts.blueprint.settings[begin.settings];
        let payload = self.ctx.facts.blueprint.payload_of(begin.settings);
        let rates = data.iter().map(|port| self.ctx.facts.ports[port.index()].rate);
        let nic = data.first().copied().or_else(|| self.nic_of(begin.source, begin.destination, tuple));
        let base_rtt = self.ctx.facts.base_rtt(&data, &ack, settings.telemetry());
        let queues = settings
            .needs(Need::Queues)
            .then(|| self.ctx.facts.queues(&data, self.ctx.facts.layout.dense(settings.class)));
        QpInfo {
            flow: FlowId(slot),
            workload: begin.workload,
            source: begin.source,
            destination: begin.destination,
            number,
            line_rate: nic.map_or(Rate::MAX, |port| self.ctx.facts.ports[port.index()].rate),
            path_rate: rates.min().unwrap_or(Rate::MAX),
            base_rtt,
            // Of its links the first leads to the first switch.
            hops: narrow(data.len().saturating_sub(1)),
            products: self.ctx.facts.blueprint.semantics.base_rtt.products(),
            largest_rtt: self.ctx.facts.largest.rtt,
            largest_bdp: self.ctx.facts.largest.bdp,
            full_rtt: base_rtt + queues.unwrap_or_default(),
            largest_full_rtt: self.ctx.facts.largest.full_rtt,
            mtu: payload,
            wire: self.ctx.facts.format.data_with(payload, false, settings.telemetry()).wire,
            steps_below: false,
            lossless: self.is_lossless(
                &self.ctx.facts.possible_ports(begin.source, begin.destination, path),
                &self.ctx.facts.possible_ports(begin.destination, begin.source, ack_path),
                settings.class,
            ),
            keeps_order: !path.is_empty(),
        }
    }

    /// Can no packet of the class be lost at the ports `data`, nor a reply at `ack`?
    fn is_lossless(&self, data: &[PortId], ack: &[PortId], class: floodway_units::Class) -> bool {
        let class = self.ctx.facts.layout.dense(class);
        let sound = |port: &PortId| {
            let link = &self.ctx.facts.blueprint.links[port.index() / 2];
            !link.directions[port.index() % 2].errors.any()
                && link.down.is_empty()
                && !self.ctx.facts.blueprint.is_by_bypass(*port)
        };
        let controlled = |port: &PortId| {
            let rx = &self.ctx.facts.ports[peer(*port).index()];
            rx.at_host && rx.drain.is_none() || rx.lossless >> class & 1 != 0
        };
        let replied = |port: &PortId| {
            sound(port)
                && match self.ctx.facts.blueprint.semantics.acks {
                    Acks::Control => true,
                    Acks::Data => controlled(port),
                    // Hosts send them through pauses.
                    Acks::DataUnpaused => false,
                }
        };
        let kept =
            |port: &PortId| sound(port) && controlled(port) && !self.ctx.facts.ports[port.index()].isolates;
        data.iter().all(kept) && ack.iter().all(replied)
    }
}

impl World<'_> {
    /// Nothing more can happen to a queue pair: what of it is here is written down, and its slot is free.
    pub fn close_queue_pair(&mut self, slot: u32) {
        let at = slot as usize;
        let (path, half, other) = (
            &mut self.run.pairs.paths[at],
            &mut self.run.pairs.senders[at],
            &mut self.run.pairs.receivers[at],
        );
        if half.state.alive {
            // Its NIC may be another one than it was opened on.
            let node = &mut self.nodes[path.source.index()];
            if node.host.pairs.sprays {
                node.host.nics.iter_mut().for_each(|nic| nic.ranks.close(half.rank));
            } else {
                node.host.nics[half.nic.index()].ranks.close(half.rank);
            }
            half.close(path, &mut self.run.kept.records);
        }
        if let Some((_, rank)) = other.timer_key {
            self.nodes[path.destination.index()].host.nics[0].receivers.close(rank);
        }
        if other.alive {
            other.close(path, &mut self.run.kept.records);
        }
        self.run.pairs.free_slots.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{Bytes, Class, Span, Time};

    use super::*;
    use crate::Fabric;
    use crate::network::blueprint::{Arrivals, Blueprint, FlowSpec};
    use crate::records::outcome::Control;
    use crate::testing::{busy, run_to};

    /// What the machines of the queue pairs from a, b and c to d are given. Packets of a and b use the links
    /// l0 or l1, l4 and l3; those of c use l2 and l3.
    fn infos(changes: impl FnOnce(&mut Blueprint)) -> Vec<(QpInfo, FlowTuple)> {
        let (mut blueprint, control) = (busy(), Control::default());
        changes(&mut blueprint);
        let mut fabric = Fabric::build(&blueprint, &control).expect("it is sound");
        fabric.world.run.pairs.opened = Some(Vec::new());
        run_to(&mut fabric.world, Span::ns(1));
        let pairs = &mut fabric.world.run.pairs;
        let opened = pairs.opened.take().expect("it was set");
        let tuple = |info: &QpInfo| pairs.paths[info.flow.index()].tuple;
        let mut infos: Vec<_> = opened.iter().map(|opening| (opening.info, tuple(&opening.info))).collect();
        infos.sort_by_key(|(info, _)| info.source);
        assert_eq!(infos.iter().map(|(info, _)| info.source.0).collect::<Vec<_>>(), [0, 1, 2]);
        infos
    }

    fn flows(blueprint: &mut Blueprint) -> &mut [FlowSpec] {
        match &mut blueprint.workloads[0].arrivals {
            Arrivals::List(flows) => flows,
            _ => panic!("it is a list"),
        }
    }

    #[test]
    fn a_machine_is_given_the_facts_of_its_path() {
        let infos = infos(|blueprint| {
            blueprint.links[4].directions[0].rate = Rate::gbps(40);
        });
        let facts = |at: usize| {
            let info = &infos[at].0;
            (info.hops, info.line_rate, info.path_rate, info.mtu)
        };
        assert_eq!(facts(0), (2, Rate::gbps(100), Rate::gbps(40), Bytes(1_000)));
        assert_eq!(facts(1), facts(0));
        assert_eq!(facts(2), (1, Rate::gbps(100), Rate::gbps(100), Bytes(1_000)));
        for ((info, _), delay) in infos.iter().zip([6, 6, 4]) {
            // Its links there and back, and a packet and an ACK at each of them.
            let sending = info.base_rtt - Span::us(delay);
            assert!(sending > Span::ns(150) && sending < Span::ns(600), "{}", info.base_rtt);
            assert_eq!(info.full_rtt, info.base_rtt, "no machine asks for queues");
            assert_eq!(info.destination, NodeId(3));
            assert!(info.keeps_order);
        }
    }

    #[test]
    fn ports_are_those_of_the_flow_or_drawn_from_the_dynamic_range() {
        let infos = infos(|blueprint| {
            (flows(blueprint)[1].source_port, flows(blueprint)[1].destination_port) = (Some(777), Some(888));
        });
        let ports: Vec<_> =
            infos.iter().map(|(_, tuple)| (tuple.source_port, tuple.destination_port)).collect();
        assert_eq!(ports[1], (777, 888));
        assert!(ports[0].0 >= 49_152 && ports[2].0 >= 49_152 && ports[0].0 != ports[2].0, "{ports:?}");
        assert_eq!((ports[0].1, ports[2].1), (4_791, 4_791));
    }

    #[test]
    fn a_path_is_lossless_where_no_link_loses_and_each_direction_of_data_has_a_flow_control() {
        type Changes = fn(&mut Blueprint);
        let cases: [(&str, Changes, [bool; 3]); 8] = [
            ("all links have PFC", |_| (), [true, true, true]),
            ("data are damaged", |it| it.links[4].directions[0].errors.data = 0.1, [false, false, true]),
            ("ACKs are damaged", |it| it.links[4].directions[1].errors.control = 0.1, [false, false, true]),
            ("a's link", |it| it.links[0].directions[0].errors.data = 0.1, [false, true, true]),
            (
                "it fails",
                |it| it.links[2].down.push((Time(500_000_000), Time(600_000_000))),
                [true, true, false],
            ),
            ("no PFC", |it| it.links[4].directions[0].flow_control.clear(), [false, false, true]),
            ("no PFC for ACKs", |it| it.links[4].directions[1].flow_control.clear(), [true, true, true]),
            (
                "nor for ACKs that are data",
                |it| {
                    it.semantics.acks = Acks::Data;
                    it.links[4].directions[1].flow_control.clear();
                },
                [false, false, true],
            ),
        ];
        for (case, changes, lossless) in cases {
            let found: Vec<bool> = infos(changes).iter().map(|(info, _)| info.lossless).collect();
            assert_eq!(found, lossless, "{case}");
        }
    }

    #[test]
    fn packets_in_the_network_are_the_sum_of_what_the_ends_and_the_path_have_counted() {
        crate::testing::at_busy(Span::us(2), |world| {
            let pairs = &mut world.run.pairs;
            (pairs.senders[0].in_network, pairs.receivers[0].in_network) = (i32::MAX, 5);
            let path = pairs.in_network(0).wrapping_sub(i32::MAX.wrapping_add(5));
            pairs.count_on_path(FlowId(0), 3);
            pairs.count_on_path(FlowId(0), -1);
            assert_eq!(pairs.in_network(0), i32::MAX.wrapping_add(5 + path + 2));
            assert!(!pairs.is_silent(0));
            pairs.senders[0].in_network = -(5 + path + 2);
            assert!(pairs.is_silent(0));
        });
    }

    #[test]
    fn classes_have_their_own_bits() {
        let infos = infos(|blueprint| {
            // The class of data is not the first of its links.
            let controls = blueprint.links.iter_mut().flat_map(|link| &mut link.directions);
            let class = Class(5);
            controls.for_each(|direction| direction.flow_control[0].0 = class);
            blueprint.settings[0].class = class;
        });
        assert!(infos.iter().all(|(info, _)| info.lossless));
    }
}

//! Opening and closing of queue pairs.
//!
//! A slot is reused once both ends are finished and none of the queue pair's packets is in the network, by
//! the sum of the counts of the halves and of the nodes between them, and once no machine may name it any
//! more. Slots are freed between epochs, and no result depends on them: timers are ordered by NIC and rank,
//! or by their numbers where ties are in scheduling order.

use floodway_blueprint::network::blueprint::Turns;
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::path::{Laid, Path};
use floodway_blueprint::network::routing::peer;
use floodway_blueprint::traffic::begin::{Begin, PairKey};
use floodway_mechanisms::slots::{Need, TransportSender as _};
use floodway_records::tally::Records;
use floodway_units::FlowId;

use super::{Opening, Posted, QueuePairs};
use crate::host::messages::{Incoming, Outgoing};
use crate::host::nics::Host;
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::link::packet::frame_bytes;
use crate::run::at_node::AtHost;
use crate::run::events::{Events, QueuePairName};
use crate::run::node::Node;

impl AtHost<'_, '_> {
    /// Opens a queue pair for its first message; its NIC's port, if it has a path.
    pub fn open(&mut self, begin: &Begin, head: Outgoing, key: Option<PairKey>) -> Option<Local> {
        let facts = self.ctx.facts;
        let tuple = facts.tuple(begin, self.ctx.run.kept.records.workload_key(begin.workload));
        self.ctx.refresh_routes(begin.source);
        self.ctx.refresh_routes(begin.destination);
        let changing = self.ctx.run.changing.as_deref();
        let ends = (begin.source, begin.destination);
        let settings = &self.ctx.facts.blueprint.settings[begin.settings];
        let spreads = settings.reliability.spreads();
        let ports = facts.path(changing, ends, &tuple, (begin.pinned.0.as_deref(), spreads));
        let reply = tuple.reversed();
        let ack_ports = if settings.needs(Need::Messages) && begin.pinned.1.is_none() {
            ports.iter().rev().map(|port| peer(*port)).collect()
        } else {
            facts.path(changing, (ends.1, ends.0), &reply, (begin.pinned.1.as_deref(), spreads))
        };
        let nic_of = || self.device.nic_of(&self.ctx, &self.node.links, ends, &tuple);
        let nic_port = ports.first().copied().or_else(nic_of);
        let nic = nic_port.map_or(Local::default(), |port| self.ctx.facts.local(port));
        let free_slot = self.ctx.run.pairs.slot();
        let slot = free_slot.number();
        let changing = self.ctx.run.changing.as_deref();
        let info =
            facts.qp_info(changing, begin, (slot, head.number + begin.later), (&ports, &ack_ports), nic_port);
        let (transport, receiver) =
            settings.reliability.build(&info).expect("checked when the fabric was built");
        let laid = Laid {
            settings: begin.settings,
            ports: &ports,
            ack_ports: &ack_ports,
            tuple,
            nic,
            rank: begin.rank.unwrap_or_else(|| self.device.nics[nic.index()].ranks.next()),
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
            self.ctx.run.events.queue_pair_key(self.device.nics[nic.index()].number, path.rank, slot);
        half.timers.numbered = self.ctx.run.events.is_numbered() && half.transport.times_packets();
        if self.ctx.run.events.is_numbered() {
            half.tick_alone();
        }
        half.pacing.moves = half.is_moved(self.ctx.facts.blueprint.semantics.repacing);
        let notification = settings.notification.build(&info).expect("checked when the fabric was built");
        let mut other =
            ReceiveHalf::new(&path, (receiver, notification), reply_frame, Incoming::of(&head, 0));
        other.alive = !self.ctx.run.events.is_elsewhere(self.ctx.facts.groups.of(begin.destination));
        let run_time = self.ctx.run.events.run_time(head.start);
        self.ctx.run.kept.records.started(begin.workload, (head.measured, head.size), run_time);
        let has_timers = half.next_of_layers().is_some();
        self.device.enter(facts.blueprint.semantics.turns, slot, key, &half);
        self.ctx.run.pairs.enter(free_slot, path, half, other);
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.opened(seen, slot, &head));
        }
        if begin.rank.is_some() {
            self.device.pairs.to_start -= 1;
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
}

impl Host {
    /// A queue pair's sender takes its place.
    fn enter(&mut self, turns: Turns, slot: u32, key: Option<PairKey>, half: &SendHalf) {
        if self.pairs.sprays {
            self.nics.iter_mut().for_each(|nic| nic.ranks.open(half.rank, slot));
        } else {
            self.nics[half.nic.index()].ranks.open(half.rank, slot);
        }
        let nic = &mut self.nics[half.nic.index()];
        match turns {
            Turns::Ring => {}
            Turns::Listed => nic.unfinished += 1,
            Turns::List | Turns::StandingList => nic.list.push(slot),
        }
        if let Some(key) = key {
            self.pairs.by_key.insert(key, slot);
        }
    }

    /// The queue pair that a timer's event names, if it is open.
    pub fn queue_pair_of(&self, events: &Events, order: u64) -> Option<u32> {
        match events.queue_pair(order) {
            QueuePairName::Ranked { nic, rank } => {
                let first = self.nics[0].number;
                self.nics[(nic - first) as usize].ranks.get(rank)
            }
            QueuePairName::Slot(slot) => Some(slot),
        }
    }
}

impl QueuePairs {
    /// Posts another message on an open queue pair, and at its receiver: at once, or when threads meet at the
    /// barrier.
    pub fn posted(&mut self, facts: &Facts<'_>, events: &Events, posted: Posted) {
        let to = self.paths[posted.slot as usize].destination;
        if let Some(thread) = events.remote_owner(facts.groups.of(to)) {
            self.posted[thread].push(posted);
        } else {
            self.receivers[posted.slot as usize].post(posted.message);
        }
    }

    /// Nothing more can happen to a queue pair: what of it is here is written down, and its slot is free.
    pub fn close(&mut self, slot: u32, nodes: &mut [Node], records: &mut Records) {
        let at = slot as usize;
        let (path, half, other) = (&mut self.paths[at], &mut self.senders[at], &mut self.receivers[at]);
        if half.state.alive {
            // Its NIC may be another one than it was opened on.
            let host = nodes[path.source.index()].host_mut().expect("hosts send");
            if host.pairs.sprays {
                host.nics.iter_mut().for_each(|nic| nic.ranks.close(half.rank));
            } else {
                host.nics[half.nic.index()].ranks.close(half.rank);
            }
            half.close(path, records);
        }
        let receiver = nodes[path.destination.index()].host_mut().expect("hosts receive");
        if let Some((_, rank)) = other.timer_key {
            receiver.nics[0].receivers.close(rank);
        }
        if let Some(granter) = receiver.granter.as_mut() {
            granter.on_close(FlowId(slot));
        }
        if other.alive {
            other.close(path, records);
        }
        self.free_slots.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use floodway_blueprint::network::blueprint::{Acks, Arrivals, Blueprint, FlowSpec};
    use floodway_mechanisms::slots::{FlowTuple, QpInfo};
    use floodway_records::outcome::Control;
    use floodway_units::{Bytes, Class, FlowId, NodeId, Rate, Span, Time};

    use crate::Fabric;
    use crate::testing::{busy, run_to};

    /// What the machines of the queue pairs from a, b and c to d are given. Packets of a and b use the links
    /// l0 or l1, l4 and l3; those of c use l2 and l3.
    fn infos(changes: impl FnOnce(&mut Blueprint)) -> Vec<(QpInfo, FlowTuple)> {
        let (mut blueprint, control) = (busy(), Control::default());
        changes(&mut blueprint);
        let mut fabric = Fabric::build(&blueprint, &control).expect("it is sound");
        fabric.world.runs.own.pairs.opened = Some(Vec::new());
        run_to(&mut fabric, Span::ns(1));
        let pairs = &mut fabric.world.runs.own.pairs;
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
            let pairs = &mut world.runs.own.pairs;
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

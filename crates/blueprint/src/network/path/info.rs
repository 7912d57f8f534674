//! What the machines of a queue pair are given about it when it opens.

use floodway_mechanisms::registry::ReactionParams;
use floodway_mechanisms::slots::{FlowTuple, Need, QpInfo};
use floodway_units::cast::narrow;
use floodway_units::{Class, FlowId, NodeId, PortId, Rate, fold, mix};

use crate::network::blueprint::{Acks, Role};
use crate::network::facts::Facts;
use crate::network::routing::{ChangingRoutes, peer};
use crate::traffic::begin::Begin;

impl Facts<'_> {
    /// Addresses and ports of a flow whose workload's name has the key `name`.
    pub fn tuple(&self, begin: &Begin, name: u64) -> FlowTuple {
        let entropy = fold(fold(name, u64::from(begin.source.0)), begin.entropy);
        FlowTuple {
            source: self.address(begin.source),
            destination: self.address(begin.destination),
            source_port: begin.ports.0.unwrap_or(49_152 + (entropy & 0x3FFF) as u16),
            // The UDP port of RoCEv2.
            destination_port: begin.ports.1.unwrap_or(4791),
        }
    }

    fn address(&self, node: NodeId) -> u32 {
        match self.blueprint.nodes[node.index()].role {
            Role::Host { address, .. } => address,
            Role::Switch(_) => node.0,
        }
    }

    /// Of a flow that begins on a queue pair of its own, whose data and replies take these paths, if they are
    /// known; else it leaves by `nic`.
    pub fn qp_info(
        &self,
        changing: Option<&ChangingRoutes>,
        begin: &Begin,
        (slot, number): (u32, u64),
        (path, ack_path): (&[PortId], &[PortId]),
        nic: Option<PortId>,
    ) -> QpInfo {
        let data = self.some_path(changing, (begin.source, begin.destination), path);
        let ack = self.some_path(changing, (begin.destination, begin.source), ack_path);
        let settings = &self.blueprint.settings[begin.settings];
        let payload = self.blueprint.payload_of(begin.settings);
        let rates = data.iter().map(|port| self.ports[port.index()].rate);
        let nic = data.first().copied().or(nic);
        let base_rtt = self.base_rtt(&data, &ack, settings.telemetry());
        let queues =
            settings.needs(Need::Queues).then(|| self.queues(&data, self.layout.dense(settings.class)));
        QpInfo {
            flow: FlowId(slot),
            workload: begin.workload,
            source: begin.source,
            destination: begin.destination,
            number,
            line_rate: nic.map_or(Rate::MAX, |port| self.ports[port.index()].rate),
            path_rate: rates.min().unwrap_or(Rate::MAX),
            base_rtt,
            // Of its links the first leads to the first switch.
            hops: narrow(data.len().saturating_sub(1)),
            products: self.blueprint.semantics.base_rtt.products(),
            largest_rtt: self.largest.rtt,
            largest_bdp: self.largest.bdp,
            full_rtt: base_rtt + queues.unwrap_or_default(),
            largest_full_rtt: self.largest.full_rtt,
            mtu: payload,
            wire: self.format.data_with(payload, false, settings.telemetry()).wire,
            steps_below: false,
            lossless: self.is_lossless(
                &self.possible_ports(begin.source, begin.destination, path),
                &self.possible_ports(begin.destination, begin.source, ack_path),
                settings.class,
            ),
            keeps_order: !path.is_empty(),
            trims: self.trims,
            output_queue: self.output_queue,
            has_credit: settings.rate_control.iter().any(ReactionParams::takes_credit),
            key: fold(
                fold(fold(mix(self.blueprint.seed), begin.workload.into()), begin.source.0.into()),
                number,
            ),
        }
    }

    /// Can no packet of the class be lost at the ports `data`, nor a reply at `ack`?
    fn is_lossless(&self, data: &[PortId], ack: &[PortId], class: Class) -> bool {
        let class = self.layout.dense(class);
        let sound = |port: &PortId| {
            let link = &self.blueprint.links[port.index() / 2];
            !link.directions[port.index() % 2].errors.any()
                && link.down.is_empty()
                && !self.blueprint.is_by_bypass(*port)
        };
        let controlled = |port: &PortId| {
            let rx = &self.ports[peer(*port).index()];
            rx.at_host && rx.drain.is_none() || rx.lossless >> class & 1 != 0
        };
        let replied = |port: &PortId| {
            sound(port)
                && match self.blueprint.semantics.acks {
                    Acks::Control => true,
                    Acks::Data => controlled(port),
                    // Hosts send them through pauses.
                    Acks::DataUnpaused => false,
                }
        };
        let kept = |port: &PortId| sound(port) && controlled(port) && !self.ports[port.index()].isolates;
        data.iter().all(kept) && ack.iter().all(replied)
    }
}

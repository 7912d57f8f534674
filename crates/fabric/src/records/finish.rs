//! The end of a run: its verdicts and its tables.

use floodway_engine::memory::{self, Exhausted};
use floodway_mechanisms::slots::DropReason;
use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId, Span, Time};

use crate::link::packet::{ISOLATED, Packet};
use crate::network::blueprint::NodeSpec;
use crate::network::footprint;
use crate::network::layout::Local;
use crate::network::routing::peer;
use crate::records::allowances::AllowanceLog;
use crate::records::counters::Traffic;
use crate::records::delays::COMPONENTS;
use crate::records::operations::OperationLog;
use crate::records::outcome::{
    CnpTotals, Conservation, DevicePeak, Invariants, Outcome, Stopped, Verdict, WorkloadTotals,
};
use crate::records::pauses::PauseLog;
use crate::records::shares::ShareLog;
use crate::records::signals::SignalLog;
use crate::records::table::{Column, Table, Values};
use crate::records::tally::{FlowKey, FlowRow, ReceivedRow, SentRow};
use crate::run::at_node::AtNode;
use crate::run::events::NEVER;
use crate::run::node::Node;
use crate::run::world::World;

impl AtNode<'_, '_> {
    /// Closes the node's books; its due releases have been applied.
    fn close(&mut self) {
        for port in self.node.locals() {
            for class in 0..self.ctx.facts.layout.class_count() {
                let egress = &mut self.node.links.egress[self.ctx.facts.layout.port_class(port, class)];
                if egress.paused_since != NEVER {
                    egress.paused_total += self.ctx.now - egress.paused_since;
                    self.node.links.series[port.index()].paused(egress.paused_since, self.ctx.now);
                    egress.paused_since = self.ctx.now;
                }
            }
            let waiting = self.node.links.ports[port.index()].waiting;
            let on_wire = Span(self.node.links.ports[port.index()].free_at.saturating_sub(self.ctx.now));
            let unsent = self.node.links.rate(&self.ctx, port).bytes_covering(on_wire).0;
            self.node.links.series[port.index()].finish(self.ctx.now, waiting, unsent);
            if !self.node.links.histograms.is_empty() {
                self.node.links.sample_last(&self.ctx, port, waiting);
            }
        }
    }
}

impl World<'_> {
    /// Closes the books at `now`.
    pub fn close(&mut self, now: Time) {
        self.now = now.0;
        let own: Vec<NodeId> =
            self.nodes.iter().map(|node| node.id).filter(|&node| self.owns(node)).collect();
        for &node in &own {
            self.at(node).apply_releases();
        }
        self.run.kept.blocked = self.blocked();
        for &node in &own {
            self.at(node).close();
        }
        self.close_rows();
    }

    /// What was sent onto wires that were down is counted where it would have arrived, as what was on them
    /// when they went down.
    pub fn count_dead(&mut self) {
        let changing = |port: &PortId| self.port(*port).impairment.wire.is_some();
        for port in self.port_ids().filter(changing).collect::<Vec<_>>() {
            for class in 0..self.facts.layout.class_count() {
                let lost = self.egress(self.facts.layout.port_class_id(port, class)).rare.lost;
                let (at, rx) = self.at_port(peer(port));
                let rare = &mut at.node.buffer.accounts[at.ctx.facts.layout.port_class(rx, class)].rare;
                rare.lost.add_all(lost);
                rare.drops[DropReason::LinkDown as usize] += lost.packets;
                rare.failure_drop_bytes += lost.bytes;
            }
        }
    }

    /// What is kept of a network whose books are closed.
    pub fn tables(mut self, stopped: Stopped) -> crate::records::outcome::Records {
        self.leave_room_for_tables();
        self.end_buckets();
        self.run.kept.records.sort_rows();
        self.compute_changed_ideals();
        self.close_logs();
        let outcome = self.outcome(stopped);
        crate::records::outcome::Records {
            flows: self.flow_table(),
            latency: self.latency_table(),
            series: self.series_table(),
            counters: self.counter_table(),
            pauses: self.pause_table(),
            signals: self.signal_table(),
            allowances: self.allowance_table(),
            shares: self.share_table(),
            operations: self.operation_table(),
            queue_histogram: self.queue_table(),
            capture: self.pcapng(),
            outcome,
        }
    }

    /// Ends the run where its tables do not fit beside it, before the system does.
    fn leave_room_for_tables(&self) {
        let rows = self.run.kept.records.sent_rows.len() as u64;
        let bytes = rows * footprint::TABLE_ROW;
        if rows >= footprint::MANY_ROWS && memory::left().is_some_and(|left| left.bytes < bytes) {
            Exhausted { bytes }.end();
        }
    }

    /// Puts what was written down as it came in order.
    fn close_logs(&mut self) {
        self.run.kept.pauses.iter_mut().for_each(PauseLog::close);
        self.run.kept.signals.iter_mut().for_each(SignalLog::close);
        self.run.kept.allowances.iter_mut().for_each(AllowanceLog::close);
        self.run.kept.shares.iter_mut().for_each(ShareLog::close);
        self.run.kept.operations.iter_mut().for_each(OperationLog::close);
    }

    /// Writes the rows of flows that are open.
    fn close_rows(&mut self) {
        let pairs = &mut self.run.pairs;
        for slot in 0..pairs.paths.len() {
            let (path, sender, receiver) =
                (&pairs.paths[slot], &mut pairs.senders[slot], &mut pairs.receivers[slot]);
            if sender.state.alive {
                sender.close(path, &mut self.run.kept.records);
            }
            if receiver.alive {
                receiver.close(path, &mut self.run.kept.records);
            }
        }
    }

    fn outcome(&self, stopped: Stopped) -> Outcome {
        let in_flight = self.in_flight();
        let bytes = Conservation { in_flight, ..self.run.kept.records.bytes };
        Outcome {
            stopped,
            simulated_us: Time(self.now).as_us(),
            invariants: Invariants {
                conservation: bytes.verdict(),
                buffers: self.buffers(),
                destinations: self.destinations(),
                slowdown: self.slowdown(),
            },
            lossless: self.lossless(),
            deadlocks: self.run.kept.deadlocks.clone(),
            blocked: self.run.kept.blocked.clone(),
            workloads: self.workload_totals(),
            bytes,
            packet_hops: self.run.kept.packet_hops,
            events: self.event_counts(),
            drops: DropReason::ALL
                .iter()
                .map(|&reason| {
                    let of =
                        |port_class: &crate::switch::buffer::Ingress| port_class.rare.drops[reason as usize];
                    (
                        reason.name(),
                        self.nodes.iter().flat_map(|node| node.buffer.accounts.iter()).map(of).sum(),
                    )
                })
                .collect(),
            cnps: self.cnps_made(),
            peak_in_network_bytes: self.run.kept.records.peak_in_network,
            devices: self.devices(),
            pauses: self.run.kept.pauses.as_ref().map(PauseLog::totals),
            signals: self.run.kept.signals.as_ref().map(SignalLog::totals),
            allowances: self.run.kept.allowances.as_ref().map(AllowanceLog::totals),
            shares: self.run.kept.shares.as_ref().map(ShareLog::totals),
            operations: self.run.kept.operations.as_ref().map(OperationLog::totals),
            jobs: self.job_totals(),
            queue_samples: self.queue_samples(),
            capture: self.capture_totals(),
        }
    }

    fn cnps_made(&self) -> CnpTotals {
        let mut made = CnpTotals::default();
        for port_class in self.nodes.iter().flat_map(|node| node.links.egress.iter()) {
            made.congestion_points += port_class.rare.cnps;
            made.receivers += port_class.rare.receiver_cnps;
            made.flags += port_class.rare.cnp_flags;
        }
        made
    }

    /// Packets on links, in pipelines, in queues and between them, when the run is over.
    pub fn packets_in_network(&self) -> impl Iterator<Item = &Packet> {
        let queues = self.nodes.iter().flat_map(|node| node.links.queues.iter());
        let queued = queues.flat_map(|queue| queue.fifo.iter(&self.run.packets));
        let piped = self.nodes.iter().flat_map(|node| &node.switch.pipe);
        let piped = piped.map(|&(_, _, packet_ref)| &self.run.packets[packet_ref]);
        let inputs = self.nodes.iter().filter_map(|node| node.switch.inputs.as_deref());
        let crossing = inputs
            .flat_map(|inputs| inputs.packet_refs(&self.run.packets))
            .map(|packet_ref| &self.run.packets[packet_ref]);
        let flying = self.on_links.iter().map(|&(_, packet_ref)| &self.run.packets[packet_ref]);
        let machines = self.nodes.iter().flat_map(|node| &node.machines);
        let meters = machines.filter_map(|machines| machines.meter.as_deref());
        let metered = meters.flat_map(|meter| meter.fifo.iter(&self.run.packets));
        let nics = self.nodes.iter().flat_map(|node| node.host.nics.iter());
        let received = nics.flat_map(|nic| nic.receive_buffer.iter(&self.run.packets));
        flying
            .chain(queued)
            .chain(received)
            .chain(metered)
            .chain(piped)
            .chain(crossing)
            .filter(|packet| !packet.is_link_control())
    }

    /// Their bytes.
    pub fn in_flight(&self) -> u64 {
        let own: u64 = self.packets_in_network().map(|packet| u64::from(packet.frame)).sum();
        own + self.gathered.in_flight
    }

    /// Every account holds what is queued behind it and on the wire of the packet that leaves.
    pub fn buffers(&self) -> Verdict {
        let own = self.nodes.iter().filter_map(|node| match self.buffers_of(node) {
            Verdict::Holds => None,
            Verdict::Broken(how) => Some((node.id, how)),
        });
        let first = own.chain(self.gathered.broken.iter().cloned()).min();
        first.map_or(Verdict::Holds, |(_, how)| Verdict::Broken(how))
    }

    pub fn buffers_of(&self, node: &Node) -> Verdict {
        let mut held = vec![(0u64, 0u64); node.buffer.accounts.len()];
        let (switch, buffer) = (&node.switch, &node.buffer);
        let counted = |frame| (buffer.occupied_by(frame), self.facts.layout.wire(frame));
        let mut add = |packet: &Packet| {
            if packet.class != 0 {
                let account = self.facts.layout.port_class(packet.ingress, packet.class);
                let (occupied, wire) = counted(packet.frame);
                held[account] = (held[account].0 + occupied, held[account].1 + wire);
            }
        };
        let piped = switch.pipe.iter().map(|&(_, out, packet_ref)| (out, &self.run.packets[packet_ref]));
        let charged = |(out, packet): &(Local, &Packet)| {
            !node.links.ports[out.index()].isolates || !packet.has(ISOLATED)
        };
        piped.filter(charged).for_each(|(_, packet)| add(packet));
        node.host.nics.iter().flat_map(|nic| nic.receive_buffer.iter(&self.run.packets)).for_each(&mut add);
        if let Some(inputs) = &switch.inputs {
            // What has crossed is charged to no account.
            inputs.packet_refs(&self.run.packets).for_each(|packet_ref| add(&self.run.packets[packet_ref]));
        } else if !node.is_host() {
            for port in node.locals() {
                let charged = (1..self.facts.layout.queues_per_port)
                    .filter(|&q| !node.links.ports[port.index()].may_lose(&self.facts.layout, q));
                let queues = charged.map(|q| &node.links.queues[self.facts.layout.queue(port) + q]);
                queues.flat_map(|queue| queue.fifo.iter(&self.run.packets)).for_each(&mut add);
            }
        }
        for leaving in &buffer.releases {
            let (account, (occupied, wire)) = (leaving.port_class as usize, counted(leaving.frame));
            held[account] = (held[account].0 + occupied, held[account].1 + wire);
        }
        for (account, (held, wire)) in node.buffer.accounts.iter().zip(held) {
            let charged = account.held + account.headroom;
            let broken = if charged != held {
                format!("is charged {charged} B and holds {held} B")
            } else if buffer.has_cells() && account.wire != wire {
                format!("counts {} B on the wire and holds {wire} B", account.wire)
            } else {
                continue;
            };
            let port = self.port_name(self.facts.layout.port_class_of(account.id as usize).0);
            return Verdict::Broken(format!("{port} {broken}"));
        }
        Verdict::Holds
    }

    fn slowdown(&self) -> Verdict {
        let took = |received: &ReceivedRow| received.finish - received.key.start;
        let too_fast = |(sent, received): &FlowRow| received.finish != NEVER && took(received) < sent.ideal;
        match self.run.kept.records.rows().find(too_fast) {
            None => Verdict::Holds,
            Some((sent, received)) => Verdict::Broken(format!(
                "flow {} took {} ps, less than its ideal {} ps",
                self.flow_name(&sent.key),
                took(received),
                sent.ideal
            )),
        }
    }

    fn flow_name(&self, key: &FlowKey) -> String {
        let workload = &self.facts.blueprint.workloads[key.workload as usize].name;
        format!("{workload}:{}:{}", self.facts.blueprint.nodes[key.source as usize].name, key.number)
    }

    fn workload_totals(&self) -> Vec<WorkloadTotals> {
        let specs = self.facts.blueprint.workloads.iter();
        specs
            .zip(&self.run.kept.records.totals)
            .enumerate()
            .map(|(i, (spec, totals))| WorkloadTotals {
                name: spec.name.clone(),
                flows: totals.flows,
                finished: totals.finished,
                measured: totals.measured,
                measured_finished: totals.measured_finished,
                offered_bytes: if totals.offered == 0 { totals.delivered } else { totals.offered },
                delivered_bytes: totals.delivered,
                never_started: self.never_started(i),
                span_us: self.run.kept.records.span(i),
            })
            .collect()
    }

    fn devices(&self) -> Vec<DevicePeak> {
        let nodes = self.facts.blueprint.nodes.iter().zip(&self.nodes);
        let switches = nodes.filter(|(_, node)| !node.is_host());
        let peak = |(spec, node): (&NodeSpec, &Node)| DevicePeak {
            node: spec.name.clone(),
            peak_bytes: node.buffer.peak,
        };
        switches.map(peak).collect()
    }

    pub fn names(&self) -> Vec<String> {
        self.facts.blueprint.nodes.iter().map(|node| node.name.clone()).collect()
    }

    pub fn link_names(&self) -> Vec<String> {
        self.facts.blueprint.links.iter().map(|link| link.name.clone()).collect()
    }

    /// The number of each port among those of its node, in the order of links.
    pub fn port_numbers(&self) -> Vec<u64> {
        self.port_ids().map(|port| self.facts.local(port).index() as u64).collect()
    }

    fn flow_table(&self) -> Table {
        let rows: Vec<FlowRow> = memory::collect(self.run.kept.records.rows());
        let us = |ps: u64| if ps == NEVER { f64::NAN } else { Time(ps).as_us() };
        let fct = |(_, received): &FlowRow| match received.finish {
            NEVER => f64::NAN,
            finish => Time(finish - received.key.start).as_us(),
        };
        let slowdown = |(sent, received): &FlowRow| match received.finish {
            NEVER => f64::NAN,
            finish => (finish - received.key.start) as f64 / sent.ideal.max(1) as f64,
        };
        let bounded = |sent: &SentRow| sent.size < crate::network::blueprint::UNBOUNDED.0;
        let text = |dictionary: Vec<String>, of: &dyn Fn(&SentRow) -> u32| Values::Text {
            codes: memory::collect(rows.iter().map(|(sent, _)| of(sent))),
            dictionary,
        };
        let column = |of: &dyn Fn(&FlowRow) -> u64| Values::U64(memory::collect(rows.iter().map(of)));
        let real = |of: &dyn Fn(&FlowRow) -> f64| Values::F64(memory::collect(rows.iter().map(of)));
        let truth = |of: &dyn Fn(&FlowRow) -> bool| {
            Values::Bool(memory::collect(rows.iter().map(|row| u8::from(of(row)))))
        };
        let workloads = self.facts.blueprint.workloads.iter().map(|workload| workload.name.clone()).collect();
        let classes = &self.facts.layout.classes;
        Table::new(vec![
            ("workload", text(workloads, &|sent| sent.key.workload)),
            ("source", text(self.names(), &|sent| sent.key.source)),
            ("number", column(&|(sent, _)| sent.key.number)),
            ("destination", text(self.names(), &|sent| sent.destination)),
            ("source_port", column(&|(sent, _)| u64::from(sent.ports.0))),
            ("destination_port", column(&|(sent, _)| u64::from(sent.ports.1))),
            ("class", column(&|(sent, _)| u64::from(classes[sent.class as usize].0))),
            // An unbounded flow has the size that it delivered.
            (
                "size_bytes",
                column(&|(sent, received)| if bounded(sent) { sent.size } else { received.delivered }),
            ),
            ("start_us", real(&|(sent, _)| us(sent.key.start))),
            ("finish_receiver_us", real(&|(_, received)| us(received.finish))),
            ("finish_sender_us", real(&|(sent, _)| us(sent.finish))),
            ("fct_us", real(&fct)),
            ("ideal_fct_us", real(&|(sent, _)| if bounded(sent) { us(sent.ideal) } else { f64::NAN })),
            ("slowdown", real(&slowdown)),
            ("delivered_bytes", column(&|(_, received)| received.delivered)),
            ("retransmitted_bytes", column(&|(sent, _)| sent.retransmitted)),
            ("packets", column(&|(_, received)| u64::from(received.packets))),
            ("out_of_order_packets", column(&|(_, received)| u64::from(received.overtaken))),
            ("timeouts", column(&|(sent, _)| u64::from(sent.timeouts))),
            ("cnps", column(&|(sent, _)| u64::from(sent.cnps))),
            ("path_class", self.path_classes(&rows)),
            ("measured", truth(&|(sent, _)| sent.measured)),
            ("finished", truth(&|(_, received)| received.finish != NEVER)),
        ])
    }

    /// Whether a flow stays in its datacenter, by the tags `dc-…` of its ends.
    fn path_classes(&self, rows: &[FlowRow]) -> Values {
        let dc: Vec<Option<&String>> = self
            .facts
            .blueprint
            .nodes
            .iter()
            .map(|node| node.tags.iter().find(|tag| tag.starts_with("dc-")))
            .collect();
        let code = |(sent, _): &FlowRow| match (dc[sent.key.source as usize], dc[sent.destination as usize]) {
            (Some(a), Some(b)) if a != b => 1,
            _ => 0,
        };
        Values::Text {
            codes: memory::collect(rows.iter().map(code)),
            dictionary: vec!["intra-dc".into(), "inter-dc".into()],
        }
    }

    fn latency_table(&self) -> Table {
        let (mut workload, mut component) = (Vec::new(), Vec::new());
        let (mut low, mut high, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        for (of, part, bounds, count) in self.run.kept.records.delays.rows() {
            workload.push(of);
            component.push(part);
            low.push(bounds.0);
            high.push(bounds.1);
            packets.push(count);
        }
        let workloads = self.facts.blueprint.workloads.iter().map(|workload| workload.name.clone()).collect();
        Table::new(vec![
            ("workload", Values::Text { codes: workload, dictionary: workloads }),
            (
                "component",
                Values::Text {
                    codes: component,
                    dictionary: COMPONENTS.iter().map(ToString::to_string).collect(),
                },
            ),
            ("bucket_low_ns", Values::U64(low)),
            ("bucket_high_ns", Values::U64(high)),
            ("packets", Values::U64(packets)),
        ])
    }

    /// What tables call the direction in which a port sends.
    pub fn direction(&self, port: PortId) -> String {
        // A link keeps the names of its ends, whether relays stand between or not.
        let node = |port: PortId| self.node_at(port);
        let behind = |port: PortId| match &node(port).switch.relay {
            Some(relay) if relay.remote == self.facts.local(port) => {
                peer(node(port).links.ports[relay.local.index()].id)
            }
            _ => port,
        };
        let name = |port: PortId| &self.facts.blueprint.nodes[self.facts.node_of(behind(port)).index()].name;
        let link = &self.facts.blueprint.links[port.index() / 2].name;
        format!("{link}: {}>{}", name(port), name(peer(port)))
    }

    /// By port class, what has started on the wire: it has arrived at the other end, was lost on the link or
    /// is there now.
    fn traffic_sent(&self) -> Vec<Traffic> {
        let far = |port_class: usize| {
            let (port, class) = self.facts.layout.port_class_of(port_class);
            self.facts.layout.port_class_id(peer(port), class)
        };
        let arrived = |port_class: usize| {
            let account = self.ingress(far(port_class));
            let mut received = account.received;
            received.add_all(account.rare.lost);
            received
        };
        let mut sent: Vec<Traffic> = (0..self.port_classes()).map(arrived).collect();
        for &(port, packet_ref) in &self.on_links {
            let packet = &self.run.packets[packet_ref];
            if !packet.is_link_control() {
                sent[self.facts.layout.port_class_id(port, packet.class)].add(packet.frame);
            }
        }
        for &(port, class, frame) in &self.gathered.on_links {
            sent[self.facts.layout.port_class_id(port, class)].add(frame);
        }
        sent
    }

    fn counter_table(&self) -> Table {
        let port_classes: Vec<usize> = (0..self.port_classes()).collect();
        let port_of = |port_class: usize| port_class / self.facts.layout.classes.len();
        let column = |of: &dyn Fn(usize) -> u64| {
            Values::U64(port_classes.iter().map(|&port_class| of(port_class)).collect())
        };
        let numbers = self.port_numbers();
        let (out, held) = (|port_class| self.egress(port_class), |port_class| self.ingress(port_class));
        let sent = self.traffic_sent();
        let mut columns = vec![
            (
                "node".to_owned(),
                Values::Text {
                    codes: port_classes
                        .iter()
                        .map(|&port_class| self.facts.ports[port_of(port_class)].node.0)
                        .collect(),
                    dictionary: self.names(),
                },
            ),
            ("port".to_owned(), column(&|port_class| numbers[port_of(port_class)])),
            (
                "link".to_owned(),
                Values::Text {
                    codes: port_classes
                        .iter()
                        .map(|&port_class| narrow::<u32>(port_of(port_class) / 2))
                        .collect(),
                    dictionary: self.link_names(),
                },
            ),
            (
                "class".to_owned(),
                column(&|port_class| {
                    u64::from(self.facts.layout.classes[port_class % self.facts.layout.classes.len()].0)
                }),
            ),
            ("tx_packets".to_owned(), column(&|port_class| sent[port_class].packets)),
            ("tx_bytes".to_owned(), column(&|port_class| sent[port_class].bytes)),
            ("rx_packets".to_owned(), column(&|port_class| held(port_class).received.packets)),
            ("rx_bytes".to_owned(), column(&|port_class| held(port_class).received.bytes)),
            ("pfc_tx".to_owned(), column(&|port_class| held(port_class).rare.pfc_tx)),
            ("pfc_rx".to_owned(), column(&|port_class| out(port_class).counters.pfc_rx)),
            (
                "paused_us".to_owned(),
                Values::F64(
                    port_classes
                        .iter()
                        .map(|&port_class| Time(out(port_class).paused(self.now)).as_us())
                        .collect(),
                ),
            ),
            ("ecn_marks".to_owned(), column(&|port_class| out(port_class).counters.ecn_marks)),
            ("ue_marks".to_owned(), column(&|port_class| out(port_class).rare.ue_marks)),
            ("cnps".to_owned(), column(&|port_class| out(port_class).rare.cnps)),
            ("receiver_cnps".to_owned(), column(&|port_class| out(port_class).rare.receiver_cnps)),
            ("cnp_flags".to_owned(), column(&|port_class| out(port_class).rare.cnp_flags)),
            ("cns".to_owned(), column(&|port_class| out(port_class).rare.cns)),
            ("moves".to_owned(), column(&|port_class| out(port_class).rare.moves)),
        ];
        for reason in DropReason::ALL {
            let drops = column(&|port_class| held(port_class).rare.drops[reason as usize]);
            columns.push((format!("drops_{}", reason.name()), drops));
        }
        columns.push(("peak_bytes".to_owned(), column(&|port_class| held(port_class).peaks.held)));
        columns
            .push(("headroom_peak_bytes".to_owned(), column(&|port_class| held(port_class).peaks.headroom)));
        let column = |(name, values)| Column { name, values };
        Table { columns: columns.into_iter().map(column).collect() }
    }
}

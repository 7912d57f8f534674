//! The state of a network as texts, one for each of its parts, equal where two moments of a run are equal but
//! for the time: then what follows is equal, too.
//!
//! A text is a sequence of words: `name=` before each field, and what it holds as `Debug` prints it. Instants
//! count from now, sequence numbers from the first packet of a queue pair's iteration or round, iterations
//! and rounds from those of the job's first rank. What comes at a fixed time of the run has that time, which
//! is the same until it has come. Counters and records are left out: no event depends on them. All structures
//! are taken apart field by field, so that none can be forgotten; machines print all that they have. What is
//! not known to recur (a total that a machine keeps, the state of a generator of random numbers that has
//! drawn) is printed as it is, and so never equal.

use std::fmt::Write as _;

use floodway_engine::Event;
use floodway_mechanisms::slots::IntHop;
use floodway_programs::walker::{Count, Position};
use floodway_units::cast::narrow;
use floodway_units::{FlowId, NodeId, Time, Until, relative_to};

use super::Moment;
use super::parts::Part;
use crate::host::nic::Nic;
use crate::host::nics::Host;
use crate::host::queue_pairs::HostPairs;
use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::link::arena::{Fifo, PacketRef};
use crate::link::extra::Extra;
use crate::link::links::Links;
use crate::link::packet::{Kind, Packet};
use crate::link::port::{Egress, Impairment, Port, Queue};
use crate::run::events::{EventKind, NEVER};
use crate::run::node::{Node, NodeCore};
use crate::switch::buffer::{Buffer, Ingress, Uncharge};
use crate::switch::congestion::PortMachines;
use crate::switch::forward::Switch;

/// Writes the state, part by part; iterations and rounds count by workload from `first`.
pub(crate) fn each_part(
    moment: &Moment<'_, '_>,
    first: &[Position],
    pending: &[(NodeId, Event)],
    mut visit: impl FnMut(Part, &str),
) {
    let mut writer = Writer { moment, now: moment.now.0, first, out: String::new() };
    relative_to(moment.now, || {
        for node in moment.nodes.iter() {
            writer.node(node);
            visit(Part::Node(node.id), &writer.out);
            for port in 0..node.links.ports.len() {
                writer.port(node, port);
                visit(Part::Port(node.links.ports[port].id), &writer.out);
            }
        }
        // Slots depend on threads.
        let paths = &moment.runs.own.pairs.paths;
        let mut slots: Vec<usize> =
            (0..paths.len()).filter(|&slot| moment.runs.own.pairs.is_open(slot)).collect();
        let ends = |slot: &usize| (paths[*slot].workload, paths[*slot].source, paths[*slot].destination);
        slots.sort_by_key(|slot| (ends(slot), paths[*slot].number));
        for among in slots.chunk_by(|one, other| ends(one) == ends(other)) {
            let (workload, source, destination) = ends(&among[0]);
            for (place, &slot) in (0..).zip(among) {
                writer.queue_pair(slot);
                visit(Part::QueuePair { workload, source, destination, place }, &writer.out);
            }
        }
        for rank in 0..narrow::<u32>(moment.runs.own.traffic.programs.count()) {
            writer.rank(rank);
            visit(Part::Rank(rank), &writer.out);
        }
        writer.sources();
        visit(Part::Sources, &writer.out);
        for events in pending.chunk_by(|a, b| a.0 == b.0) {
            writer.events(events);
            visit(Part::Events(events[0].0), &writer.out);
        }
    });
}

struct Writer<'w, 'a> {
    moment: &'w Moment<'w, 'a>,
    now: u64,
    /// By workload: from where iterations and rounds count.
    first: &'w [Position],
    out: String,
}

/// Writes fields under their names.
macro_rules! fields {
    ($writer:expr; $($field:ident),+ $(,)?) => {{
        $($writer.field(stringify!($field), &$field);)+
    }};
}

mod queue_pairs;

impl Writer<'_, '_> {
    fn field(&mut self, name: &str, value: &dyn std::fmt::Debug) {
        write!(self.out, "{name}= {value:?} ").expect("a text takes all");
    }

    /// An instant.
    fn at(&mut self, name: &str, at: u64) {
        self.field(name, &Time(at));
    }

    /// An instant that does not matter once it has come.
    fn until(&mut self, name: &str, at: u64) {
        self.field(name, &Until(Time(at)));
    }

    fn node(&mut self, node: &Node) {
        let NodeCore { links, buffer, machines: _, id: _, work: _, streams } = &**node;
        let Links { ports: _, egress: _, queues: _, series: _, histograms: _, buckets: _ } = links;
        self.out.clear();
        fields!(self; streams);
        if let Some(switch) = node.switch() {
            self.switch(switch);
        }
        self.buffer(buffer);
        if let Some(host) = node.host() {
            self.host(host);
        }
    }

    fn switch(&mut self, switch: &Switch) {
        // Ties of what is at the entry are hashed where anything recurs.
        let Switch {
            pipeline: _,
            router,
            number: _,
            pipe,
            entry: _,
            points: _,
            holds_output: _,
            relay,
            inputs,
        } = switch;
        fields!(self; router, relay, inputs);
        for &(at, port, packet_ref) in pipe {
            self.at("in_pipeline_until", at);
            fields!(self; port);
            self.packet(packet_ref, None);
        }
    }

    fn buffer(&mut self, buffer: &Buffer) {
        let Buffer {
            accounts: _,
            releases,
            next_release,
            pool_size: _,
            pool_used,
            headroom_used,
            headroom_size: _,
            cell: _,
            pool_fast_path_up_to: _,
            lossy_room: _,
            occupied,
            peak: _,
        } = buffer;
        fields!(self; pool_used, headroom_used, occupied);
        self.at("next_release", *next_release);
        for &Uncharge { at, port, ingress, port_class, frame } in releases {
            self.at("release", at);
            fields!(self; port, ingress, port_class, frame);
        }
    }

    fn host(&mut self, host: &Host) {
        let Host { nics, pairs, granter } = host;
        if granter.is_some() {
            // What it has granted is a total.
            self.field("granter", &self.now.clone());
        }
        let HostPairs { by_key, sprays: _, to_start } = pairs;
        let queue_pairs = by_key.len();
        fields!(self; queue_pairs, to_start);
        for nic in nics.iter() {
            self.nic(nic);
        }
    }

    fn nic(&mut self, nic: &Nic) {
        let Nic {
            number,
            ready,
            repeats,
            repeating,
            last,
            pacing,
            pacing_timer,
            grant_timer: _,
            failed,
            receive_buffer,
            ranks,
            receivers,
            order: _,
            list,
            unfinished,
        } = nic;
        let ready = ready.iter().flat_map(RoundRobinBitmap::members).collect::<Vec<_>>();
        let repeats = repeats.iter().flat_map(RoundRobinBitmap::members).collect::<Vec<_>>();
        fields!(self; number, ready, repeats, repeating, last, failed, list, unfinished);
        let mut paced: Vec<(Time, u32)> = pacing.iter().map(|paced| (Time(paced.0.0), paced.0.1)).collect();
        paced.sort_unstable();
        fields!(self; paced);
        self.at("pacing_timer", pacing_timer.at);
        self.packets("receive_buffer", *receive_buffer, None);
        let ranks = ranks.slots().map(|slot| self.name_of(slot)).collect::<Vec<_>>();
        let receivers = receivers.slots().map(|slot| self.name_of(slot)).collect::<Vec<_>>();
        fields!(self; ranks, receivers);
    }

    fn port(&mut self, node: &NodeCore, at: usize) {
        self.out.clear();
        let Port {
            free_at,
            waiting,
            link: _,
            id: _,
            joins_up_to: _,
            leaves_up_to: _,
            at_host: _,
            up,
            controls,
            armed,
            choosing,
            observed,
            gates,
            has_discipline,
            has_cp: _,
            noted: _,
            control,
            free_order: _,
            serial: _,
            sent: _,
            impairment,
        } = &node.links.ports[at];
        self.until("free_at", *free_at);
        fields!(self; waiting, up, controls, armed, choosing, observed, gates, has_discipline);
        self.packets("control", *control, None);
        // What is on the wire is pending.
        let Impairment { jitter, rng, latest, changes, wire, errors: _, losses, retry } = impairment;
        let is_dead = wire.as_ref().is_some_and(|wire| wire.is_dead);
        if retry.is_some() {
            // Numbers of frames are totals.
            self.field("retry", &self.now.clone());
        }
        fields!(self; jitter, rng, changes, is_dead, losses);
        self.until("latest", *latest);
        let PortMachines {
            scheduler,
            congestion_points,
            cp_timer,
            reports_waiting: _,
            only_marks: _,
            clears: _,
            observes_cnps: _,
            queueing,
        } = &node.machines[at];
        fields!(self; scheduler, congestion_points);
        if !queueing.is_plain() {
            // What a discipline keeps of flows is not known to recur.
            self.field("queueing", &self.now.clone());
        }
        self.at("cp_timer", cp_timer.at);
        let layout = &self.moment.facts.layout;
        let classes = layout.classes.len();
        for (class, port_class) in (at * classes..(at + 1) * classes).enumerate() {
            fields!(self; class);
            self.egress(&node.links.egress[port_class]);
            if let Some(account) = node.buffer.accounts.get(port_class) {
                self.ingress(account);
            }
        }
        let queues = layout.queues_per_port;
        for (q, index) in (at * queues..(at + 1) * queues).enumerate() {
            let Queue { fifo, bytes, may_lose: _ } = &node.links.queues[index];
            fields!(self; q, bytes);
            let egress = &node.links.egress[at * classes + usize::from(layout.class_of_queue(q))];
            self.packets("queue", *fifo, Some(egress.paused(self.now)));
        }
    }

    fn egress(&mut self, egress: &Egress) {
        let Egress { paused_since, id: _, paused_total: _, counters: _, counts_sent, sender, timer, rare: _ } =
            egress;
        let paused = *paused_since != NEVER;
        fields!(self; paused, counts_sent, sender);
        self.at("sender_timer", timer.at);
    }

    fn ingress(&mut self, account: &Ingress) {
        let Ingress {
            received: _,
            held,
            headroom,
            reserve: _,
            recorded_until: _,
            recorded: _,
            fast_path_below,
            id: _,
            at_host: _,
            drains: _,
            impaired: _,
            pooled: _,
            awaits: _,
            lossless: _,
            by_output: _,
            sizes: _,
            peaks: _,
            wire,
            admission,
            timer,
            receiver,
            rare: _,
        } = account;
        fields!(self; held, headroom, fast_path_below, wire, admission, receiver);
        self.at("receiver_timer", timer.at);
    }

    fn packets(&mut self, name: &str, fifo: Fifo, paused: Option<u64>) {
        write!(self.out, "{name}= ").expect("a text takes all");
        for packet_ref in fifo.packet_refs(&self.moment.runs.own.packets) {
            self.packet(packet_ref, paused);
        }
    }

    /// The queue pair of a slot, which depends on threads, by what does not; link control is of none.
    fn name_of(&self, slot: u32) -> String {
        if slot == u32::MAX {
            return "none".to_owned();
        }
        let path = &self.moment.runs.own.pairs.paths[slot as usize];
        format!("{}/{}/{}/{}", path.workload, path.source.0, path.destination.0, path.number)
    }

    /// A packet, in a queue whose paused time is `paused`.
    fn packet(&mut self, packet_ref: PacketRef, paused_time: Option<u64>) {
        let packets = &self.moment.runs.own.packets;
        let packet = &packets[packet_ref];
        let Packet {
            at: _,
            word,
            stamp,
            base,
            paused,
            flow,
            ingress,
            out,
            next: _,
            frame,
            payload,
            kind,
            flags,
            class,
            hop,
        } = *packet;
        self.field("packet", &kind);
        let of = self.name_of(flow.0);
        self.field("flow", &of);
        fields!(self; ingress, out, frame, payload, flags, class, hop, base);
        let waited_paused = paused.wrapping_add(paused_time.unwrap_or(0));
        let lost = packets.is_lost(packet_ref);
        fields!(self; waited_paused, lost);
        match kind {
            Kind::Data | Kind::Ack | Kind::Nak | Kind::Sack | Kind::One => {
                let from = self.moment.runs.own.pairs.senders[flow.index()].turns_from;
                let (turn, psn) = (packet.turn(), packet.psn().wrapping_sub(from));
                fields!(self; turn, psn);
                self.at("stamp", stamp);
            }
            _ => fields!(self; word, stamp),
        }
        match packets.extra(packet_ref) {
            Some(Extra::Hops(hops)) => self.hops(flow, hops),
            Some(extra) => fields!(self; extra),
            None => {}
        }
    }

    /// Records of telemetry: the bytes that ports have sent count from now.
    fn hops(&mut self, flow: FlowId, hops: &[IntHop]) {
        let sent = self.sent_on_path(flow.index()).unwrap_or_default();
        for (at, hop) in hops.iter().enumerate() {
            let from = sent.get(at).copied().unwrap_or(0);
            let hop = IntHop { tx_bytes: hop.tx_bytes.wrapping_sub(from), ..*hop };
            fields!(self; hop);
        }
    }

    fn rank(&mut self, rank: u32) {
        self.out.clear();
        let programs = &self.moment.runs.own.traffic.programs;
        let (workload, _) = programs.in_workload(rank);
        let mut out = std::mem::take(&mut self.out);
        programs.write_state(rank, (Time(self.now), self.count(workload)), &mut out);
        self.out = out;
    }

    /// How a workload's ranks and messages count.
    fn count(&self, workload: u32) -> Count<'_> {
        let programs = &self.moment.runs.own.traffic.programs;
        programs.count_from(self.moment.facts, workload, (Time(self.now), self.first[workload as usize]))
    }

    fn sources(&mut self) {
        self.out.clear();
        let run = &self.moment.runs.own;
        self.moment.runs.own.traffic.write_sources(&mut self.out);
        let complete = self.moment.runs.iter().map(|run| run.pairs.done.len()).sum::<usize>();
        let shared_draws = &run.shared_draws;
        fields!(self; complete, shared_draws);
    }

    fn events(&mut self, events: &[(NodeId, Event)]) {
        self.out.clear();
        let own = &self.moment.runs.own.events;
        for &(_, event) in events {
            let (kind, _) = own.decode(event.order);
            if self.moment.runs.own.is_fixed(&event) {
                // It is at the same time of the run until it has come.
                self.field(kind.name(), &own.run_time(event.time.0));
            } else {
                self.at(kind.name(), event.time.0);
            }
            let order = own.without_generation(event.order);
            fields!(self; order);
            if matches!(kind, EventKind::Arrival | EventKind::LinkControl) {
                // SAFETY: an arrival is pushed with its packet's reference, and no window is executed now.
                #[allow(unsafe_code, reason = "an event's item is a packet's address")]
                let packet_ref = unsafe { PacketRef::of(event.item) };
                self.packet(packet_ref, None);
            }
        }
    }
}

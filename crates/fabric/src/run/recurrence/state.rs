//! The state of a network as texts, one for each of its parts, equal where two moments of a run are equal but
//! for the time: then what follows is equal, too.
//!
//! Instants count from now, sequence numbers from the first packet of a queue pair's iteration, iterations
//! from that of the job's first rank. Counters and records are left out: no event depends on them. All
//! structures are taken apart field by field, so that none can be forgotten; machines print all that they
//! have. What is not known to recur (a total that a machine keeps, the state of a generator of random numbers
//! that has drawn) is printed as it is, and so never equal.

use std::fmt::Write as _;

use floodway_engine::Event;
use floodway_mechanisms::slots::{TransportReceiver as _, TransportSender as _};
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Time, relative_to};

use super::Moment;
use crate::host::messages::{Incoming, Outgoing};
use crate::host::nic::Nic;
use crate::host::nics::Host;
use crate::host::queue_pairs::HostPairs;
use crate::host::receive::ReceiveHalf;
use crate::host::send::{Pacing, SendHalf, State, Timers};
use crate::link::arena::{Fifo, PacketRef};
use crate::link::links::Links;
use crate::link::packet::{Kind, Packet};
use crate::link::port::{Egress, Impairment, Port, Queue};
use crate::run::events::{Armed, EventKind, NEVER};
use crate::run::node::{Node, Streams};
use crate::switch::buffer::{Buffer, Ingress, Uncharge};
use crate::switch::congestion::PortMachines;
use crate::switch::forward::Switch;
use crate::traffic::hooks::is_of_program;

/// A part of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A node without its ports.
    Node(NodeId),
    /// A port of a node, by its place there.
    Port(NodeId, usize),
    /// A queue pair, by its slot.
    QueuePair(u32),
    /// A rank of a job, among all ranks.
    Rank(u32),
    /// What starts flows.
    Sources,
    /// Events of a node that are pending.
    Events(NodeId),
}

/// Writes the state, part by part; iterations count by workload from `first`.
pub(crate) fn each_part(
    moment: &Moment<'_, '_>,
    first: &[u32],
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
                visit(Part::Port(node.id, port), &writer.out);
            }
        }
        let slots = moment.runs.own.pairs.paths.len();
        for slot in 0..slots {
            writer.queue_pair(slot);
            visit(Part::QueuePair(narrow(slot)), &writer.out);
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
    /// By workload: the iteration from which iterations count.
    first: &'w [u32],
    out: String,
}

macro_rules! put {
    ($writer:expr, $($what:tt)*) => { write!($writer.out, $($what)*).expect("a text takes all") };
}

impl Writer<'_, '_> {
    /// An instant.
    fn at(&mut self, at: u64) {
        if at == NEVER {
            put!(self, "never ");
        } else {
            put!(self, "{} ", i128::from(at) - i128::from(self.now));
        }
    }

    /// An instant that does not matter once it has come.
    fn until(&mut self, at: u64) {
        put!(self, "{} ", at.saturating_sub(self.now));
    }

    fn timer(&mut self, timer: &Armed) {
        self.at(timer.at);
    }

    fn node(&mut self, node: &Node) {
        let Node { links, buffer, machines: _, host, switch, id: _, work: _, streams } = node;
        let Links { ports: _, egress: _, queues: _, series: _, histograms: _, buckets: _ } = links;
        let Streams { flow_control, congestion_point, routing, admission, notification, reliability } =
            streams;
        self.out.clear();
        put!(
            self,
            "{flow_control:?} {congestion_point:?} {routing:?} {admission:?} {notification:?} {reliability:?} "
        );
        self.switch(switch);
        self.buffer(buffer);
        self.host(host);
    }

    fn switch(&mut self, switch: &Switch) {
        // Ties of what is at the entry are hashed where anything recurs.
        let Switch { pipeline: _, router, number: _, pipe, entry: _, points: _, relay, inputs } = switch;
        put!(self, "{router:?} {relay:?} {inputs:?} ");
        for &(at, port, packet_ref) in pipe {
            self.at(at);
            put!(self, "{port:?} ");
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
            occupied,
            peak: _,
        } = buffer;
        put!(self, "{pool_used} {headroom_used} {occupied} ");
        self.at(*next_release);
        for &Uncharge { at, port, ingress, port_class, frame } in releases {
            self.at(at);
            put!(self, "{port:?} {ingress:?} {port_class} {frame} ");
        }
    }

    fn host(&mut self, host: &Host) {
        let Host { nics, pairs, granter } = host;
        if granter.is_some() {
            // What it has granted is a total.
            put!(self, "{} ", self.now);
        }
        let HostPairs { by_key, sprays: _, to_start } = pairs;
        put!(self, "{} {to_start} ", by_key.len());
        for nic in nics.iter() {
            let Nic {
                number: _,
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
            for bitmap in ready.iter().chain(repeats) {
                put!(self, "{:?} ", bitmap.members().collect::<Vec<_>>());
            }
            put!(self, "{repeating} {last:?} {failed} {list:?} {unfinished} ");
            let mut paced: Vec<(u64, u32)> = pacing.iter().map(|paced| paced.0).collect();
            paced.sort_unstable();
            for (at, rank) in paced {
                self.at(at);
                put!(self, "{rank} ");
            }
            self.timer(pacing_timer);
            self.fifo(*receive_buffer, None);
            let slots: Vec<u32> = ranks.slots().collect();
            let receivers: Vec<u32> = receivers.slots().collect();
            put!(self, "{slots:?} {receivers:?} ");
        }
    }

    fn port(&mut self, node: &Node, at: usize) {
        self.out.clear();
        let Port {
            free_at,
            waiting,
            link: _,
            id: _,
            fast_path_up_to: _,
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
        self.until(*free_at);
        put!(self, "{waiting} {up} {controls} {armed} {choosing} {observed} {gates:?} {has_discipline} ");
        self.fifo(*control, None);
        let Impairment { jitter, rng, latest, changes, wire, errors: _, losses, retry } = impairment;
        if retry.is_some() {
            // Numbers of frames are totals.
            put!(self, "{} ", self.now);
        }
        put!(self, "{jitter} {rng:?} {changes} {wire:?} {losses:?} ");
        self.until(*latest);
        let PortMachines {
            scheduler,
            congestion_points,
            cp_timer,
            reports_waiting: _,
            clears: _,
            observes_cnps: _,
            queueing,
        } = &node.machines[at];
        put!(self, "{scheduler:?} {congestion_points:?} ");
        if !queueing.is_plain() {
            // What a discipline keeps of flows is not known to recur.
            put!(self, "{} ", self.now);
        }
        self.timer(cp_timer);
        let layout = &self.moment.facts.layout;
        let classes = layout.classes.len();
        for port_class in at * classes..(at + 1) * classes {
            self.egress(&node.links.egress[port_class]);
            if let Some(account) = node.buffer.accounts.get(port_class) {
                self.ingress(account);
            }
        }
        let queues = layout.queues_per_port;
        for (q, index) in (at * queues..(at + 1) * queues).enumerate() {
            let Queue { fifo, bytes, may_lose: _ } = &node.links.queues[index];
            put!(self, "{bytes} ");
            let egress = &node.links.egress[at * classes + usize::from(layout.class_of_queue(q))];
            self.fifo(*fifo, Some(egress.paused(self.now)));
        }
    }

    fn egress(&mut self, egress: &Egress) {
        let Egress { paused_since, id: _, paused_total: _, counters: _, counts_sent, sender, timer, rare: _ } =
            egress;
        put!(self, "{} {counts_sent} {sender:?} ", *paused_since != NEVER);
        self.timer(timer);
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
        put!(self, "{held} {headroom} {fast_path_below} {wire} {admission:?} {receiver:?} ");
        self.timer(timer);
    }

    fn fifo(&mut self, fifo: Fifo, paused: Option<u64>) {
        for packet_ref in fifo.packet_refs(&self.moment.runs.own.packets) {
            self.packet(packet_ref, paused);
        }
        put!(self, "; ");
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
        put!(self, "{kind:?} {flow:?} {ingress:?} {out:?} {frame} {payload} {flags} {class} {hop} {base} ");
        put!(self, "{} {} ", paused.wrapping_add(paused_time.unwrap_or(0)), packets.is_lost(packet_ref));
        match kind {
            Kind::Data | Kind::Ack | Kind::Nak | Kind::Sack | Kind::One => {
                let from = self.moment.runs.own.pairs.senders[flow.index()].turns_from;
                put!(self, "{} {} ", packet.turn(), packet.psn().wrapping_sub(from));
                self.at(stamp);
            }
            _ => put!(self, "{word} {stamp} "),
        }
        if let Some(extra) = packets.extra(packet_ref) {
            put!(self, "{extra:?} ");
        }
    }

    fn queue_pair(&mut self, slot: usize) {
        self.out.clear();
        let pairs = &self.moment.runs.own.pairs;
        let (half, other) = (&pairs.senders[slot], &pairs.receivers[slot]);
        let from = half.turns_from;
        put!(self, "{} ", pairs.in_network(narrow(slot)));
        let SendHalf {
            nic,
            rank,
            in_network: _,
            full_frame: _,
            full_payload: _,
            class: _,
            telemetry: _,
            on_path,
            state,
            turn,
            layers,
            pacing,
            has_acks: _,
            host: _,
            allowance,
            allowance_noted,
            timers,
            transport,
            stack,
            head,
            rest,
            end,
            turns_from: _,
        } = half;
        put!(self, "{nic:?} {rank} {on_path} {turn:?} {layers:?} {allowance:?} {allowance_noted:?} ");
        let State { alive, done, shared: shares } = state;
        put!(self, "{alive} {done} {shares} {} ", end.wrapping_sub(from));
        let Pacing { paced, moves, next_send, last_send, heap_at, gap, rates_set } = pacing;
        put!(self, "{paced} {moves} {gap:?} {rates_set} {} ", last_send.1);
        self.until(*next_send);
        self.at(last_send.0);
        self.at(*heap_at);
        let Timers { timer, ticks: _, timer_key: _, numbered } = timers;
        self.timer(timer);
        put!(self, "{numbered} ");
        match transport.counted_from(from) {
            Some(state) => put!(self, "{state} "),
            None => put!(self, "{transport:?} "),
        }
        put!(self, "{stack:?} ");
        std::iter::once(head).chain(rest).for_each(|message| self.outgoing(slot, message, from));
        let ReceiveHalf {
            workload: _,
            in_network: _,
            reply_port: _,
            reply_frame: _,
            class: _,
            sends_flags: _,
            observes: _,
            alive,
            host: _,
            newest,
            rest,
            head,
            receiver,
            notification,
            timer,
            timer_key: _,
            arrival_port,
        } = other;
        put!(self, "{alive} {notification:?} {arrival_port:?} ");
        self.timer(timer);
        self.at(*newest);
        match receiver.counted_from(from) {
            Some(state) => put!(self, "{state} "),
            None => put!(self, "{receiver:?} "),
        }
        std::iter::once(head).chain(rest).for_each(|message| self.incoming(slot, message, from));
    }

    /// The number of a message, from the iteration on from which iterations count.
    fn number(&self, slot: usize, hook: u32, number: u64) -> u64 {
        if !is_of_program(hook) {
            return number;
        }
        let workload = self.moment.runs.own.pairs.paths[slot].workload;
        number.wrapping_sub(floodway_programs::Message::iterations(self.first[workload as usize]))
    }

    fn outgoing(&mut self, slot: usize, message: &Outgoing, from: u64) {
        let &Outgoing {
            number,
            start,
            size,
            end,
            ideal,
            finish,
            retransmitted,
            timeouts,
            cnps,
            hook,
            measured,
            sent,
        } = message;
        let number = self.number(slot, hook, number);
        put!(
            self,
            "{number} {size} {} {ideal} {retransmitted} {timeouts} {cnps} {hook} {measured} {sent} ",
            end.wrapping_sub(from)
        );
        self.at(start);
        self.at(finish);
    }

    fn incoming(&mut self, slot: usize, message: &Incoming, from: u64) {
        let &Incoming {
            delivered,
            size,
            finish,
            first,
            end,
            number,
            start,
            packets,
            overtaken,
            hook,
            measured,
        } = message;
        let number = self.number(slot, hook, number);
        put!(self, "{number} {delivered} {size} {packets} {overtaken} {hook} {measured} ");
        put!(self, "{} {} ", first.wrapping_sub(from), end.wrapping_sub(from));
        self.at(start);
        self.at(finish);
    }

    fn rank(&mut self, rank: u32) {
        self.out.clear();
        let programs = &self.moment.runs.own.traffic.programs;
        let (workload, _) = programs.in_workload(rank);
        programs.write_state(rank, (Time(self.now), self.first[workload as usize]), &mut self.out);
    }

    fn sources(&mut self) {
        self.out.clear();
        let run = &self.moment.runs.own;
        self.moment.runs.own.traffic.write_sources(&mut self.out);
        put!(self, "{} {:?} ", run.pairs.done.len(), run.shared_draws);
    }

    fn events(&mut self, events: &[(NodeId, Event)]) {
        self.out.clear();
        let own = &self.moment.runs.own.events;
        for &(_, event) in events {
            self.at(event.time.0);
            let (kind, _) = own.decode(event.order);
            put!(self, "{} ", own.without_generation(event.order));
            if matches!(kind, EventKind::Arrival | EventKind::LinkControl) {
                // SAFETY: an arrival is pushed with its packet's reference, and no window is executed now.
                #[allow(unsafe_code, reason = "an event's item is a packet's address")]
                let packet_ref = unsafe { PacketRef::of(event.item) };
                self.packet(packet_ref, None);
            }
        }
    }
}

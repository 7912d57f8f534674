//! Queue pairs as texts.

use floodway_blueprint::network::routing::peer;
use floodway_blueprint::traffic::hooks::{is_of_program, rank_of};
use floodway_mechanisms::slots::{ReactionPoint, TransportReceiver as _, TransportSender as _};
use floodway_programs::Message;
use floodway_units::cast::narrow;
use floodway_wire::Telemetry;

use super::Writer;
use crate::host::messages::{Incoming, Outgoing};
use crate::host::receive::ReceiveHalf;
use crate::host::send::{Pacing, SendHalf, State, Timers};

impl Writer<'_, '_> {
    pub(super) fn queue_pair(&mut self, slot: usize) {
        self.out.clear();
        let pairs = &self.moment.runs.own.pairs;
        let (half, other) = (&pairs.senders[slot], &pairs.receivers[slot]);
        let from = half.turns_from;
        let in_network = pairs.in_network(narrow(slot));
        fields!(self; in_network);
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
        fields!(self; nic, rank, on_path, turn, layers, allowance, allowance_noted);
        let State { alive, done, shared } = state;
        let end = end.wrapping_sub(from);
        fields!(self; alive, done, shared, end);
        let Pacing { paced, moves, next_send, last_send, heap_at, gap, rates_set } = pacing;
        let last_bytes = last_send.1;
        let rates_noted = *rates_set == stack.iter().filter_map(ReactionPoint::rates_set).sum::<u64>();
        fields!(self; paced, moves, gap, rates_noted, last_bytes);
        self.until("next_send", *next_send);
        self.at("last_send", last_send.0);
        self.at("heap_at", *heap_at);
        let Timers { timer, ticks: _, timer_key: _, numbered } = timers;
        self.at("sender_timer", timer.at);
        fields!(self; numbered);
        match transport.counted_from(from) {
            Some(state) => self.field("transport", &format_args!("{state}")),
            None => fields!(self; transport),
        }
        let sent = self.sent_on_path(slot).unwrap_or_default();
        for layer in stack {
            match layer.counted_from(from, &sent) {
                Some(state) => self.field("rate_control", &format_args!("{state}")),
                None => self.field("rate_control", layer),
            }
        }
        std::iter::once(head).chain(rest).for_each(|message| self.outgoing(message, from));
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
        let open_at_receiver = alive;
        fields!(self; open_at_receiver, notification, arrival_port);
        self.at("receiver_timer", timer.at);
        self.at("newest", *newest);
        match receiver.counted_from(from) {
            Some(state) => self.field("receiver", &format_args!("{state}")),
            None => fields!(self; receiver),
        }
        std::iter::once(head).chain(rest).for_each(|message| self.incoming(message, from));
    }

    /// Of a queue pair with telemetry: bytes sent by the ports of its path that write it, in their order, if
    /// the path is known.
    pub(super) fn sent_on_path(&self, slot: usize) -> Option<Vec<u64>> {
        let path = &self.moment.runs.own.pairs.paths[slot];
        if path.telemetry != Telemetry::Int {
            return None;
        }
        let (mut node, mut sent) = (path.source, Vec::new());
        while let Some(port) = path.port(false, sent.len()) {
            let port = &self.moment.nodes[node.index()].links.ports[port.index()];
            sent.push(port.sent);
            node = self.moment.facts.node_of(peer(port.id));
        }
        // Hosts write no record.
        (node == path.destination).then(|| sent.split_off(1))
    }

    /// The number of a message; of a job's its iteration, operation and transfer, as those of ranks count.
    fn number(&self, hook: u32, number: u64) -> (i64, i64, u64) {
        if !is_of_program(hook) {
            return (0, 0, number);
        }
        let programs = &self.moment.runs.own.traffic.programs;
        let (workload, from) = programs.in_workload(rank_of(hook));
        let (iteration, operation, transfer) = self.count(workload).message(from, Message::of(number));
        (iteration, operation, u64::from(transfer))
    }

    fn outgoing(&mut self, message: &Outgoing, from: u64) {
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
            round: _,
            measured,
            sent,
        } = message;
        let outgoing = self.number(hook, number);
        let end = end.wrapping_sub(from);
        fields!(self; outgoing, size, end, ideal, retransmitted, timeouts, cnps, hook, measured, sent);
        self.at("start", start);
        self.at("finish", finish);
    }

    fn incoming(&mut self, message: &Incoming, from: u64) {
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
        let incoming = self.number(hook, number);
        let [first, end] = [first, end].map(|psn| psn.wrapping_sub(from));
        fields!(self; incoming, delivered, size, packets, overtaken, hook, measured, first, end);
        self.at("start", start);
        self.at("finish", finish);
    }
}
